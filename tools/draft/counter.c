/* A solver's counter in its output, by the field's usual names. */
#include <ctype.h>

#include "core/recipe/pattern.h"
#include "tools/draft/draft.h"

/* The best first: conflicts are few and say most of the work. */
static const char *const labels[] = {"conflicts", "conflict", "rlimit-count", "resource", "decisions", "propagations"};
#define LINE_LOOKED 400

/* "conflicts ..: 123" at `at`, the label's place: the pattern for that line. False: nothing of that kind follows. */
static bool make_pattern(const char *label, const char *at, const char *end, struct buffer *ret)
{
        const char *p = at + strlen(label), *number;

        buffer_done(ret);
        *ret = (struct buffer){0};
        buffer_adds(ret, label);
        while (p < end && (*p == ' ' || *p == '\t' || *p == ':' || *p == '=' || *p == '|')) {
                const char *blank = p;
                bool tab = false;

                for (; p < end && (*p == ' ' || *p == '\t'); p++)
                        tab |= *p == '\t';
                if (p > blank)
                        buffer_adds(ret, tab ? "[[:space:]]+" : " +");
                else
                        buffer_addf(ret, *p == '|' ? "[%c]" : "%c", *p), p++;
        }
        if (p == at + strlen(label))
                return false;
        for (number = p; p < end && isdigit((unsigned char)*p);)
                p++;
        if (p == number || (p < end && (isalnum((unsigned char)*p) || *p == '.' || *p == ',' || *p == '%')))
                return false;
        buffer_adds(ret, "([0-9]+)");
        return buffer_error(ret) == 0;
}

static bool is_same_number(struct slice a, struct slice b)
{
        bool zero = true;

        for (size_t i = 0; i < a.size; i++)
                zero &= ((const char *)a.data)[i] == '0';
        return !zero && a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* The pattern is looked for as runs look for it: the last match counts. */
static bool matches_alike(const char *text, struct slice a, struct slice b, struct slice *ret)
{
        cleanup_pattern struct pattern *p = NULL;
        struct slice other;

        return pattern_new(text, &p) == 0 && pattern_last(p, a, ret) && pattern_last(p, b, &other) && is_same_number(*ret, other);
}

static bool find_label(const char *label, struct slice a, struct slice b, struct buffer *ret_pattern, struct slice *ret_number)
{
        const char *begin = a.data, *end = begin + a.size, *at = begin;

        while (at < end && (at = memmem(at, (size_t)(end - at), label, strlen(label)))) {
                const char *newline = memchr(at, '\n', (size_t)(end - at));
                bool whole = at == begin || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '-');

                if (whole && make_pattern(label, at, MIN(newline ?: end, at + LINE_LOOKED), ret_pattern) &&
                    matches_alike(ret_pattern->data, a, b, ret_number))
                        return true;
                at += strlen(label);
        }
        return false;
}

bool counter_find(struct slice a, struct slice b, struct buffer *ret_pattern, struct slice *ret_number)
{
        for (size_t i = 0; a.size > 0 && b.size > 0 && i < ARRAY_SIZE(labels); i++)
                if (find_label(labels[i], a, b, ret_pattern, ret_number))
                        return true;
        return false;
}
