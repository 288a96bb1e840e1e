/* PCRE2 over the lines of an output, the last one first. */
#include "core/recipe/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "cache/base/lost.h"

/* Matches bytes: a solver's output need not be UTF-8. */
#define OPTIONS   (PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT)
#define LINE_MOST ((size_t)1 << 20)
/* They take seconds; sixteen megabytes of lines need less, even with a pattern that scans each line from each of its places. */
uint64_t pattern_steps_most = UINT64_C(4000000000);

struct pattern {
        pcre2_code *code;
        pcre2_match_data *match;
        pcre2_match_context *context;
        uint64_t steps; /* of this search: bytes scanned, and four for each item tried */
        size_t at;      /* where the last item was tried */
};

/* Called before each item of the pattern. PCRE2's own bound is for one starting place, and a line has many. */
static int count_step(pcre2_callout_block *b, void *user)
{
        struct pattern *p = user;

        p->steps += 4 + (b->current_position > p->at ? b->current_position - p->at : 0);
        p->at = b->current_position;
        return p->steps > pattern_steps_most ? PCRE2_ERROR_CALLOUT : 0;
}

static int refuse(const char *text, int code, size_t at)
{
        PCRE2_UCHAR why[200];

        pcre2_get_error_message(code, why, sizeof(why));
        return errorf(-EINVAL, "'%s' is not a regular expression: %s, at character %zu", text, (const char *)why, at + 1);
}

int pattern_new(const char *text, struct pattern **ret)
{
        cleanup_pattern struct pattern *p = allocate(1, sizeof(*p));
        uint32_t groups;
        PCRE2_SIZE at;
        int code;

        p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS, &code, &at, NULL);
        if (!p->code)
                return refuse(text, code, at);
        pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
        if (groups != 1)
                return errorf(-EINVAL, "'%s' has %u groups; it needs exactly one, around the number", text, groups);
        p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
        p->context = pcre2_match_context_create(NULL);
        if (!p->match || !p->context)
                process_give_up("no memory is left");
        pcre2_set_callout(p->context, count_step, p);
        *ret = steal_pointer(p);
        return 0;
}

void pattern_free(struct pattern *p)
{
        pcre2_match_context_free(p->context);
        pcre2_match_data_free(p->match);
        pcre2_code_free(p->code);
        free(p);
}

/* 1: found. 0: not found. -1: it would take too long. */
static int last_in_line(struct pattern *p, const char *line, size_t size, struct slice *ret)
{
        const PCRE2_SIZE *found = pcre2_get_ovector_pointer(p->match);
        int any = 0;

        for (size_t at = 0; at <= size; at = MAX(found[1], at + 1)) {
                int n = pcre2_match(p->code, (PCRE2_SPTR)line, size, at, 0, p->match, p->context);

                if (n == PCRE2_ERROR_NOMATCH)
                        break;
                if (n < 0)
                        return -1;
                if (n == 2) { /* the group matched */
                        *ret = SLICE(line + found[2], found[3] - found[2]);
                        any = 1;
                }
        }
        return any;
}

bool pattern_last(struct pattern *p, struct slice output, struct slice *ret)
{
        const char *text = output.data;
        size_t end = output.size;

        p->steps = 0;
        while (end > 0) {
                const char *newline = memrchr(text, '\n', end);
                size_t begin = newline ? (size_t)(newline + 1 - text) : 0;
                int found = end - begin <= LINE_MOST ? last_in_line(p, text + begin, end - begin, ret) : 0;

                if (found != 0)
                        return found > 0;
                end = newline ? (size_t)(newline - text) : 0;
        }
        return false;
}
