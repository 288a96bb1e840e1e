/* Scans a case in one pass. Reads only the beginnings of commands; an (assert …) of a hundred megabytes is skipped byte by byte. Bytes that are not
 * SMT-LIB never fail, and take no more memory than their own size. */
#include "core/cases/cases_internal.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/script.h"

#include <ctype.h>

#define LOGIC_MOST 64 /* bytes in a logic's name; a longer one is none */

struct scan {
        struct tokenizer t;
        size_t depth; /* open parentheses */
        struct slice logic; /* of the last set-logic, in the text; empty: none */
        enum verdict status; /* of the last :status */
        enum verdict next;   /* of the :status since the last question */
        enum verdict *expected;
        const char **asked; /* the place of each question in the text */
        size_t n;
        bool exits; /* commands after (exit) do not count */
        const char *open; /* the command that the text does not close; NULL: none */
};

static void scan_done(struct scan *s)
{
        free(s->expected);
        free(s->asked);
}

/* -- SMT-LIB ---------------------------------------------------------------------------------------------------- */

static void add_question(struct scan *s, const char *at)
{
        list_grow(s->expected, s->n);
        list_grow(s->asked, s->n);
        s->asked[s->n] = at;
        s->expected[s->n++] = s->next;
        s->next = VERDICT_UNKNOWN;
}

static void set_info(struct scan *s)
{
        const struct slice key = token_word(&s->t, &s->depth);
        struct slice w;

        if (text_is(key, ":smt-lib-version")) /* decides where a string ends */
                dialect_parse(token_word(&s->t, &s->depth), &s->t.dialect);
        if (!text_is(key, ":status"))
                return;
        w = token_word(&s->t, &s->depth);
        s->status = s->next = text_is(w, "sat") ? VERDICT_SAT : text_is(w, "unsat") ? VERDICT_UNSAT : VERDICT_UNKNOWN;
}

static void set_logic(struct scan *s)
{
        s->logic = token_word(&s->t, &s->depth);
        for (size_t i = 0; i < s->logic.size; i++)
                if (s->logic.size > LOGIC_MOST || !isgraph((unsigned char)((const char *)s->logic.data)[i]))
                        s->logic.size = 0;
}

/* Reads a command, after its opening parenthesis. */
static void command(struct scan *s)
{
        struct slice name = token_word(&s->t, &s->depth);

        if (text_is(name, "set-logic"))
                set_logic(s);
        else if (text_is(name, "set-info"))
                set_info(s);
        else if (command_name_asks(name))
                add_question(s, name.data);
        s->exits = text_is(name, "exit");
}

static void scan_smt2(struct scan *s, struct slice bytes)
{
        struct token token;

        tokenizer_init(&s->t, bytes, DIALECT_2_6);
        while (!s->exits && token_next(&s->t, &token) != TOKEN_END) {
                if (token.kind != TOKEN_OPEN)
                        continue;
                s->depth = 1;
                command(s);
                if (token_skip(&s->t, s->depth) > 0)
                        s->open = token.text.data;
        }
}

/* -- DIMACS: a comment before the clauses, "c status sat" ------------------------------------------------------- */

int case_status_parse(struct slice text, enum verdict *ret)
{
        static const struct {
                const char *word;
                enum verdict verdict;
        } words[] = {{"sat", VERDICT_SAT},
                     {"unsat", VERDICT_UNSAT},
                     {"unknown", VERDICT_UNKNOWN},
                     {"satisfiable", VERDICT_SAT},
                     {"unsatisfiable", VERDICT_UNSAT},
                     {"s satisfiable", VERDICT_SAT},
                     {"s unsatisfiable", VERDICT_UNSAT}};
        const char *at = text.data, *end = at + text.size;

        while (at < end && isspace((unsigned char)*at))
                at++;
        while (end > at && isspace((unsigned char)end[-1]))
                end--;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if ((size_t)(end - at) == strlen(words[i].word) && strncasecmp(at, words[i].word, (size_t)(end - at)) == 0) {
                        *ret = words[i].verdict;
                        return 0;
                }
        }
        return -EINVAL;
}

/* Takes the status from a line "c status sat" or "c status: sat"; any other text is a comment. */
static void comment(struct scan *s, const char *at, const char *end)
{
        static const char key[] = "status";
        enum verdict v;

        at++;
        while (at < end && isblank((unsigned char)*at))
                at++;
        if ((size_t)(end - at) <= strlen(key) || strncasecmp(at, key, strlen(key)) != 0)
                return;
        at += strlen(key);
        if (*at != ':' && *at != '=' && !isblank((unsigned char)*at))
                return;
        at += *at == ':' || *at == '=';
        if (case_status_parse(SLICE(at, (size_t)(end - at)), &v) == 0)
                s->status = s->next = v;
}

/* Reads the comments before the first clause. The formula counts as a question only if they state its answer. */
static void scan_cnf(struct scan *s, struct slice bytes)
{
        const char *at = bytes.data, *end = at + bytes.size;

        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;

                if (*at == 'c')
                        comment(s, at, stop);
                else if (*at != 'p' && *at != '\r' && stop > at)
                        break;
                at = stop + 1;
        }
        if (s->status != VERDICT_UNKNOWN)
                add_question(s, bytes.data);
}

/* -- both ------------------------------------------------------------------------------------------------------- */

static struct scan scan_of(enum format format, struct slice bytes)
{
        struct scan s = {.status = VERDICT_UNKNOWN, .next = VERDICT_UNKNOWN};

        if (format == FORMAT_SMT2)
                scan_smt2(&s, bytes);
        else
                scan_cnf(&s, bytes);
        return s;
}

size_t case_open_line(enum format format, struct slice bytes)
{
        cleanup(scan_done) struct scan s = scan_of(format, bytes);

        return s.open ? text_position_of(bytes, (size_t)(s.open - (const char *)bytes.data)).line : 0;
}

size_t case_questions(enum format format, struct slice bytes)
{
        cleanup(scan_done) struct scan s = scan_of(format, bytes);

        return s.n;
}

void case_question_lines(enum format format, struct slice bytes, uint32_t **ret, size_t *ret_n)
{
        cleanup(scan_done) struct scan s = scan_of(format, bytes);
        const char *at = bytes.data;
        uint32_t line = 1;

        *ret = allocate(s.n + 1, sizeof(**ret));
        *ret_n = s.n;
        for (size_t i = 0; i < s.n; i++) {
                for (; at < s.asked[i]; at++)
                        line += *at == '\n';
                (*ret)[i] = line;
        }
}

static enum verdict status_of(const struct scan *s)
{
        return s->n > 0 ? s->expected[s->n - 1] : s->status;
}

enum verdict case_status(enum format format, struct slice bytes)
{
        cleanup(scan_done) struct scan s = scan_of(format, bytes);

        return status_of(&s);
}

void case_scan(enum format format, struct slice bytes, char **ret_logic, enum verdict *ret_status, enum verdict **ret_expected,
              size_t *ret_n)
{
        cleanup(scan_done) struct scan s = scan_of(format, bytes);

        *ret_logic = s.logic.size > 0 ? copy_prefix(s.logic.data, s.logic.size) : copy_string(format == FORMAT_CNF ? "cnf" : "none");
        *ret_status = status_of(&s);
        *ret_expected = steal_pointer(s.expected);
        *ret_n = s.n;
}

/* -- the format ------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *suffix)
{
        size_t n = strlen(name), m = strlen(suffix);

        return n > m && strcasecmp(name + n - m, suffix) == 0;
}

enum format case_format(const char *name, struct slice head)
{
        if (ends_with(name, ".smt2") || ends_with(name, ".smt"))
                return FORMAT_SMT2;
        if (ends_with(name, ".cnf") || ends_with(name, ".dimacs"))
                return FORMAT_CNF;
        return cnf_begins(head, head.size < CASE_HEAD_MOST) ? FORMAT_CNF : FORMAT_SMT2;
}
