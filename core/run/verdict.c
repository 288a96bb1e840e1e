#include "core/run/verdict.h"

static const char *const names[N_VERDICTS] = {
        [VERDICT_SAT] = "sat",         [VERDICT_UNSAT] = "unsat",
        [VERDICT_UNKNOWN] = "unknown", [VERDICT_TIMEOUT] = "timeout",
        [VERDICT_MEMOUT] = "memout",   [VERDICT_CRASH] = "crash",
        [VERDICT_ERROR] = "error",     [VERDICT_UNBUILDABLE] = "unbuildable",
};

const char *verdict_name(enum verdict v)
{
        assert(v < N_VERDICTS);
        return names[v];
}

/* -- lines -- */

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct slice trimmed(const char *begin, const char *end)
{
        while (begin < end && is_space(*begin))
                begin++;
        while (end > begin && is_space(end[-1]))
                end--;
        return SLICE(begin, (size_t)(end - begin));
}

static bool line_is(struct slice line, const char *text)
{
        return line.size == strlen(text) && memcmp(line.data, text, line.size) == 0;
}

static bool contains(struct slice s, const char *text)
{
        return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

static bool begins(struct slice s, const char *text)
{
        return s.size >= strlen(text) && memcmp(s.data, text, strlen(text)) == 0;
}

/* The lines of what was printed, but for the two that the cut in the middle may have maimed: "unsat" without its head is "sat". */
struct lines {
        const char *begin, *at, *end;
        const char *cut; /* the mark's newline before, or NULL */
};

static struct lines lines_of(const struct execute_result *r)
{
        const char *data = r->out.data;

        return (struct lines){
                .begin = data,
                .at = data,
                .end = data ? data + r->out.size : NULL,
                .cut = data && r->out_cut > 0 ? data + r->out_cut : NULL,
        };
}

static bool lines_next(struct lines *l, struct slice *ret)
{
        while (l->at && l->at < l->end) {
                const char *begin = l->at, *newline = memchr(begin, '\n', (size_t)(l->end - begin));
                const char *stop = newline ? newline : l->end;

                l->at = newline ? newline + 1 : l->end;
                if (l->cut && stop == l->cut) { /* this one's end is lost; then comes the mark, then what has lost its head */
                        for (int i = 0; i < 2 && l->at < l->end; i++) {
                                newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
                                l->at = newline ? newline + 1 : l->end;
                        }
                        continue;
                }
                *ret = trimmed(begin, stop);
                return true;
        }
        return false;
}

/* -- answers -- */

static int add(struct verdicts *v, enum verdict answer)
{
        if (list_grow(v->list, v->n) < 0)
                return -ENOMEM;
        v->list[v->n++] = answer;
        v->last = answer;
        return 0;
}

static bool parse_answer(struct slice line, enum verdict *ret)
{
        for (enum verdict v = VERDICT_SAT; v <= VERDICT_UNKNOWN; v++) {
                if (line_is(line, names[v])) {
                        *ret = v;
                        return true;
                }
        }
        return false;
}

/* Responses that any command may get (SMT-LIB 2.6, section 4.1.1). SMT-COMP skips only "success", as its solvers know their logics; an old
 * version that answers "unsupported" to (set-logic QF_SLIA) goes on and answers. */
static bool is_general(struct slice line)
{
        return line_is(line, "success") || line_is(line, "unsupported");
}

/* SMT-COMP's rule: the first line that says anything decides. *ret_error: it said "error", or a later command had an error for its response. */
static int read_smt2(const struct execute_result *r, struct verdicts *v, bool *ret_error)
{
        struct lines lines = lines_of(r);
        bool first = true;
        struct slice line;

        while (lines_next(&lines, &line)) {
                enum verdict answer;
                int k;

                if (line.size == 0 || is_general(line) || *(const char *)line.data == ';')
                        continue;
                if (parse_answer(line, &answer)) {
                        k = add(v, answer);
                        if (k < 0)
                                return k;
                } else if (first) {
                        *ret_error = contains(line, "error");
                        return 0;
                } else
                        *ret_error |= begins(line, "(error");
                first = false;
        }
        return 0;
}

static int read_cnf(const struct execute_result *r, struct verdicts *v, bool *ret_error)
{
        struct lines lines = lines_of(r);
        struct slice line;

        while (lines_next(&lines, &line)) {
                enum verdict answer;
                int k;

                if (line_is(line, "s SATISFIABLE"))
                        answer = VERDICT_SAT;
                else if (line_is(line, "s UNSATISFIABLE"))
                        answer = VERDICT_UNSAT;
                else if (line_is(line, "s UNKNOWN"))
                        answer = VERDICT_UNKNOWN;
                else
                        continue;
                if (v->n == 0) {
                        k = add(v, answer);
                        if (k < 0)
                                return k;
                } else if (v->list[0] != answer) { /* it says two things of one formula: neither can be believed */
                        v->n = 0;
                        *ret_error = true;
                        return 0;
                }
        }
        if (v->n == 0 && r->end == END_EXIT && (r->code == 10 || r->code == 20))
                return add(v, r->code == 10 ? VERDICT_SAT : VERDICT_UNSAT);
        return 0;
}

/* The words of solvers and of C++'s runtime for an allocation that failed. Under a limit on address space running out of memory looks
 * like this: the program is told, says so and gives up by itself. */
static bool says_out_of_memory(const struct execute_result *r)
{
        static const char *const texts[] = {"out of memory", "Out of memory",    "out-of-memory",
                                            "bad_alloc",     "memory exhausted", "Cannot allocate memory"};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                if ((r->out.size > 0 && contains(SLICE(r->out.data, r->out.size), texts[i])) ||
                    (r->err.size > 0 && contains(SLICE(r->err.data, r->err.size), texts[i])))
                        return true;
        }
        return false;
}

static enum verdict verdict_of_end(const struct execute_result *r, size_t questions, const struct verdicts *v, bool error)
{
        bool is_short = v->n < questions && r->out_cut == 0;

        switch (r->end) {
        case END_TIMEOUT:
                return VERDICT_TIMEOUT;
        case END_MEMORY:
                return VERDICT_MEMOUT;
        case END_SIGNAL:
                return says_out_of_memory(r) ? VERDICT_MEMOUT : VERDICT_CRASH;
        case END_EXIT:
                if (questions > 0 && v->n > questions)
                        return VERDICT_ERROR;
                if (v->n > 0 && !is_short)
                        return v->last;
                if (r->code != 0 && says_out_of_memory(r))
                        return VERDICT_MEMOUT;
                return error || r->code != 0 ? VERDICT_ERROR : VERDICT_UNKNOWN;
        case END_OUTPUT:
        case END_PROCESSES:
        case END_CANCELLED:
        case END_NOEXEC:
                return VERDICT_ERROR;
        }
        return VERDICT_ERROR;
}

int verdict_read(enum format format, size_t questions, const struct execute_result *r, struct verdicts *ret)
{
        struct verdicts v = {0};
        enum verdict end;
        bool error = false;
        int k;

        k = format == FORMAT_CNF ? read_cnf(r, &v, &error) : read_smt2(r, &v, &error);
        if (k < 0) {
                verdicts_done(&v);
                return k;
        }
        end = verdict_of_end(r, questions, &v, error);
        v.is_answer = v.n > 0 && end == v.last && (v.n >= questions || r->out_cut > 0);
        v.last = end;
        *ret = v;
        return 0;
}

void verdicts_done(struct verdicts *v)
{
        free(v->list);
        *v = (struct verdicts){0};
}

bool verdict_is_wrong(const struct verdicts *v, const enum verdict *expected, size_t n_expected)
{
        for (size_t i = 0; i < MIN(v->n, n_expected); i++) {
                if ((v->list[i] == VERDICT_SAT && expected[i] == VERDICT_UNSAT) ||
                    (v->list[i] == VERDICT_UNSAT && expected[i] == VERDICT_SAT))
                        return true;
        }
        return false;
}
