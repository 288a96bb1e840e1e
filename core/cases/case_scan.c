/* Scans a case in one pass. Reads only the beginnings of commands; an (assert …) of a hundred megabytes is skipped byte by byte. Bytes that are not
 * SMT-LIB never fail, and take no more memory than their own size. */
#include "core/cases/cases_internal.h"
#include "core/smtlib/script.h"

#include <ctype.h>

#define LOGIC_MOST 64 /* bytes in a logic's name; a longer one is ignored */

struct scan {
        struct tokenizer t;
        size_t depth; /* open parentheses */
        char logic[LOGIC_MOST + 1];
        enum verdict status; /* of the last :status */
        enum verdict next;   /* of the :status since the last question */
        enum verdict *expected;
        const char **asked; /* the place of each question in the text */
        size_t n;
        bool exits; /* commands after (exit) do not count */
        const char *open; /* the command that the text does not close; NULL: none */
};

static void add_expected(struct scan *s, const char *at)
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
        struct slice w = token_word(&s->t, &s->depth);

        s->logic[0] = '\0';
        if (w.size > LOGIC_MOST)
                return;
        for (size_t i = 0; i < w.size; i++)
                if (!isgraph((unsigned char)((const char *)w.data)[i]))
                        return;
        memcpy(s->logic, w.data, w.size);
        s->logic[w.size] = '\0';
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
                add_expected(s, name.data);
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
                add_expected(s, bytes.data);
}

static struct scan scan_of(enum format format, struct slice bytes)
{
        struct scan s = {.status = VERDICT_UNKNOWN, .next = VERDICT_UNKNOWN};

        if (format == FORMAT_SMT2 && bytes.size > 0)
                scan_smt2(&s, bytes);
        else if (bytes.size > 0)
                scan_cnf(&s, bytes);
        return s;
}

size_t case_open_line(enum format format, struct slice bytes)
{
        struct scan s = scan_of(format, bytes);

        free(s.expected);
        free(s.asked);
        return s.open ? place_of(bytes, (size_t)(s.open - (const char *)bytes.data)).line : 0;
}

size_t case_questions(enum format format, struct slice bytes)
{
        struct scan s = scan_of(format, bytes);

        free(s.expected);
        free(s.asked);
        return s.n;
}

void case_question_lines(enum format format, struct slice bytes, uint32_t **ret, size_t *ret_n)
{
        struct scan s = scan_of(format, bytes);
        const char *at = bytes.data;
        uint32_t line = 1;

        *ret = allocate(s.n + 1, sizeof(**ret));
        *ret_n = s.n;
        for (size_t i = 0; i < s.n; i++) {
                for (; at < s.asked[i]; at++)
                        line += *at == '\n';
                (*ret)[i] = line;
        }
        free(s.expected);
        free(s.asked);
}

void case_scan(enum format format, struct slice bytes, char **ret_logic, enum verdict *ret_status, enum verdict **ret_expected,
              size_t *ret_n)
{
        struct scan s = scan_of(format, bytes);

        *ret_logic = copy_string(format == FORMAT_CNF ? "cnf" : s.logic[0] ? s.logic : "none");
        *ret_status = s.n > 0 ? s.expected[s.n - 1] : s.status;
        *ret_expected = s.expected;
        *ret_n = s.n;
        free(s.asked);
}

static bool ends_with(const char *name, const char *suffix)
{
        size_t n = strlen(name), m = strlen(suffix);

        return n > m && strcasecmp(name + n - m, suffix) == 0;
}

/* True if the first line that is no comment is a "p cnf" line. */
static bool has_cnf_header(struct slice head)
{
        const char *p = head.data, *end = p + head.size;

        while (p < end) {
                const char *newline = memchr(p, '\n', (size_t)(end - p)), *next = newline ? newline + 1 : end;

                if (end - p >= 6 && memcmp(p, "p cnf", 5) == 0 && isspace((unsigned char)p[5]))
                        return true;
                while (p < next && isspace((unsigned char)*p))
                        p++;
                if (p < next && !(*p == 'c' && (p + 1 == next || isspace((unsigned char)p[1]))))
                        return false;
                p = next;
        }
        return head.size == HEAD_MOST; /* only comments as far as anybody looks */
}

/* The known compressed forms. */
static const struct packing {
        const char *magic, *command;
        size_t size;
        bool is_ours; /* case_unpack() takes it */
} packings[] = {
        {"\x1f\x8b\x08", "gzip -d", 3, true},     {"\xfd\x37zXZ\0", "xz -d", 6, true}, {"BZh", "bzip2 -d", 3, true},
        {"\x28\xb5\x2f\xfd", "zstd -d", 4, true}, {"\x5d\0\0", "xz -d", 3},           {"PK\x03\x04", "unzip", 4},
        {"7z\xbc\xaf\x27\x1c", "7z x", 6},        {"\x04\x22\x4d\x18", "lz4 -d", 4},
};

static const struct packing *find_packing(struct slice head)
{
        for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
                if (head.size >= packings[i].size && memcmp(head.data, packings[i].magic, packings[i].size) == 0)
                        return &packings[i];
        return NULL;
}

const char *case_unpacker(struct slice head)
{
        const struct packing *p = find_packing(head);

        return p ? p->command : NULL;
}

bool case_is_packed(struct slice head)
{
        const struct packing *p = find_packing(head);

        return p && p->is_ours;
}

enum format case_format(const char *name, struct slice head)
{
        if (ends_with(name, ".smt2") || ends_with(name, ".smt"))
                return FORMAT_SMT2;
        if (ends_with(name, ".cnf") || ends_with(name, ".dimacs"))
                return FORMAT_CNF;
        return head.size > 0 && has_cnf_header(head) ? FORMAT_CNF : FORMAT_SMT2;
}
