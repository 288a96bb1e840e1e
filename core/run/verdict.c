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

bool verdict_find(struct slice name, enum verdict *ret)
{
        for (enum verdict v = 0; v < N_VERDICTS; v++)
                if (strlen(names[v]) == name.size && memcmp(names[v], name.data, name.size) == 0) {
                        *ret = v;
                        return true;
                }
        return false;
}

/* -- lines -- */

static struct slice trimmed(struct slice s)
{
        static const char spaces[] = " \t\r\v\f";
        const char *begin = s.data, *end = begin + s.size;

        while (begin < end && memchr(spaces, *begin, sizeof(spaces) - 1))
                begin++;
        while (end > begin && memchr(spaces, end[-1], sizeof(spaces) - 1))
                end--;
        return SLICE(begin, (size_t)(end - begin));
}

static bool begins(struct slice s, const char *text)
{
        return s.size >= strlen(text) && memcmp(s.data, text, strlen(text)) == 0;
}

static bool line_is(struct slice line, const char *text)
{
        return line.size == strlen(text) && begins(line, text);
}

static bool contains(struct slice s, const char *text)
{
        return s.size > 0 && memmem(s.data, s.size, text, strlen(text)) != NULL;
}

struct lines {
        struct slice rest;
        const char *cut; /* the newline before the mark, or NULL */
        const struct execute_result *run;
};

static struct lines lines_of(const struct execute_result *r)
{
        return (struct lines){.rest = SLICE(r->out.data, r->out.size), .cut = r->out_cut > 0 ? (const char *)r->out.data + r->out_cut : NULL, .run = r};
}

static bool is_behind_cut(const struct lines *l)
{
        return l->cut && (const char *)l->rest.data > l->cut;
}

/* How much had been printed up to here; after the cut this is the total less the rest. */
static uint64_t printed(const struct lines *l)
{
        return (is_behind_cut(l) ? l->run->out_size : l->run->out.size) - l->rest.size;
}

/* The next line of the output, except the two that the cut in the middle may have maimed: "unsat" without its head is "sat". */
static bool lines_next(struct lines *l, struct slice *ret)
{
        struct slice line;

        while (slice_next_line(&l->rest, &line)) {
                if (l->cut && (const char *)line.data + line.size == l->cut) { /* its end is lost; the mark and a line without its head follow */
                        slice_next_line(&l->rest, &line);
                        slice_next_line(&l->rest, &line);
                        continue;
                }
                *ret = trimmed(line);
                return true;
        }
        return false;
}

/* -- answers -- */

/* One answer too many is kept, no more: an output may have millions. */
static bool is_too_many(const struct verdicts *v, size_t questions)
{
        return questions > 0 && v->n > questions;
}

static void add(struct verdicts *v, enum verdict answer, uint64_t end)
{
        list_grow(v->list, v->n);
        list_grow(v->ends, v->n);
        v->ends[v->n] = end;
        v->list[v->n++] = answer;
        v->last = answer;
}

static bool parse_answer(const char *const texts[VERDICT_UNKNOWN + 1], struct slice line, enum verdict *ret)
{
        for (*ret = VERDICT_SAT; *ret <= VERDICT_UNKNOWN; ++*ret)
                if (line_is(line, texts[*ret]))
                        return true;
        return false;
}

/* Responses that any command may get (SMT-LIB 2.6, section 4.1.1). SMT-COMP skips only "success", as its solvers know their logics; an old version
 * answers "unsupported" to (set-logic QF_SLIA), goes on and answers. */
static bool is_general(struct slice line)
{
        return line_is(line, "success") || line_is(line, "unsupported");
}

/* The response to (get-info :error-behavior), which a script asks before its first question. */
static bool is_error_behavior(struct slice line)
{
        return begins(line, "(:error-behavior");
}

struct answers_before { /* how many answers came before the first of these; SIZE_MAX: there is none */
        size_t error, unsupported, cut;
};

/* SMT-COMP has no script that prints before its first question, so there the first line that says anything decides. Here it does only if it says
 * "error"; other lines, such as those of echo, get-info and warnings, are passed over. No answer follows an error that comes before the first. */
static struct answers_before read_smt2(const struct execute_result *r, size_t questions, struct verdicts *v)
{
        struct answers_before before = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
        struct lines lines = lines_of(r);
        bool first = true;
        enum verdict answer;
        struct slice line;

        while (!is_too_many(v, questions) && lines_next(&lines, &line)) {
                if (is_behind_cut(&lines))
                        before.cut = MIN(before.cut, v->n);
                if (line_is(line, "unsupported"))
                        before.unsupported = MIN(before.unsupported, v->n);
                if (line.size == 0 || is_general(line) || *(const char *)line.data == ';')
                        continue;
                if (parse_answer(names, line, &answer)) {
                        add(v, answer, printed(&lines));
                } else if (begins(line, "(error") || (first && contains(line, "error") && !is_error_behavior(line))) {
                        before.error = MIN(before.error, v->n);
                        if (v->n == 0)
                                break;
                }
                first = false;
        }
        return before;
}

static bool ended_by_itself(const struct execute_result *r)
{
        return r->end == END_EXIT || r->guessed;
}

/* True if there are two different answers for one formula, perhaps one by the exit status: neither can be believed. */
static bool read_cnf(const struct execute_result *r, struct verdicts *v)
{
        static const char *const texts[] = {[VERDICT_SAT] = "s SATISFIABLE", [VERDICT_UNSAT] = "s UNSATISFIABLE", [VERDICT_UNKNOWN] = "s UNKNOWN"};
        struct lines lines = lines_of(r);
        enum verdict answer;
        struct slice line;

        while (lines_next(&lines, &line)) {
                if (!parse_answer(texts, line, &answer))
                        continue;
                if (v->n == 0) {
                        add(v, answer, printed(&lines));
                } else if (v->list[0] != answer) {
                        v->n = 0;
                        return true;
                }
        }
        if (!ended_by_itself(r) || (r->code != 10 && r->code != 20))
                return false;
        answer = r->code == 10 ? VERDICT_SAT : VERDICT_UNSAT;
        if (v->n == 0) {
                add(v, answer, r->out_size);
        } else if (verdict_is_decided(v->last) && v->last != answer) {
                v->n = 0;
                return true;
        }
        return false;
}

struct slice verdict_missing_library(const struct execute_result *r)
{
        static const char words[] = "error while loading shared libraries: ";
        const struct slice err = SLICE(r->err.data, r->err.size);
        const char *at = contains(err, "cannot open shared object file") ? memmem(err.data, err.size, words, strlen(words)) : NULL;
        size_t n;

        if (!at)
                return SLICE(NULL, 0);
        at += strlen(words);
        for (n = 0; at + n < (const char *)err.data + err.size && at[n] != ':' && at[n] != '\n';)
                n++;
        return SLICE(at, n);
}

static bool prints(const struct execute_result *r, const char *text)
{
        return contains(SLICE(r->out.data, r->out.size), text) || contains(SLICE(r->err.data, r->err.size), text);
}

/* True if the output has a text that solvers, C++'s runtime and the loader print when an allocation fails. Under a limit on address space, a program that
 * runs out of memory is told so, prints such a text and ends by itself. */
static bool says_out_of_memory(const struct execute_result *r)
{
        static const char *const texts[] = {"out of memory",    "Out of memory",          "out-of-memory",        "bad_alloc",
                                            "memory exhausted", "Cannot allocate memory", "failed to map segment"};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (prints(r, texts[i]))
                        return true;
        return false;
}

static enum verdict verdict_of_end(const struct execute_result *r, size_t questions, const struct verdicts *v, bool error)
{
        bool is_short = v->n < questions && r->out_cut == 0, is_long = is_too_many(v, questions);

        if (ended_by_itself(r) && v->n > 0 && !is_short && !is_long)
                return v->last;
        if (r->end == END_TIMEOUT)
                return VERDICT_TIMEOUT;
        /* Java's runtime says of a thread that it cannot make: "possibly out of memory or process/resource limits reached". */
        if (r->end == END_MEMORY || (r->end == END_PROCESSES && says_out_of_memory(r) && !prints(r, "resource limits")))
                return VERDICT_MEMOUT;
        if (r->end == END_SIGNAL)
                return says_out_of_memory(r) ? VERDICT_MEMOUT : VERDICT_CRASH;
        if (r->end != END_EXIT || is_long)
                return VERDICT_ERROR;
        if (r->code != 0 && says_out_of_memory(r))
                return VERDICT_MEMOUT;
        return error || r->code != 0 ? VERDICT_ERROR : VERDICT_UNKNOWN;
}

void verdict_read(enum format format, size_t questions, const struct execute_result *r, struct verdicts *ret)
{
        struct verdicts v = {0};
        struct answers_before before = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
        enum verdict end;

        if (format == FORMAT_SMT2)
                before = read_smt2(r, questions, &v);
        else if (read_cnf(r, &v))
                before.error = 0;
        end = verdict_of_end(r, questions, &v, before.error != SIZE_MAX);
        v.is_answer = v.n > 0 && end == v.last && (v.n >= questions || r->out_cut > 0);
        v.n_certain = is_too_many(&v, questions) ? 0 : MIN(v.n, before.error);
        if (v.n < questions)
                v.n_certain = MIN(v.n_certain, before.unsupported);
        if (v.n > before.cut && v.n != questions) { /* nobody knows of which questions the later ones are */
                v.is_answer = false;
                v.n = before.cut;
                v.n_certain = MIN(v.n_certain, v.n);
        }
        v.last = end;
        *ret = v;
}

void verdicts_done(struct verdicts *v)
{
        free(v->list);
        free(v->ends);
        *v = (struct verdicts){0};
}

bool verdict_is_wrong(const struct verdicts *v, const enum verdict *expected, size_t n_expected)
{
        for (size_t i = 0; i < MIN(v->n_certain, n_expected); i++)
                if ((v->list[i] == VERDICT_SAT && expected[i] == VERDICT_UNSAT) ||
                    (v->list[i] == VERDICT_UNSAT && expected[i] == VERDICT_SAT))
                        return true;
        return false;
}
