/* Probes the versions before the search: the format that the target reads, the logics that all answer, the operators of the rules that they support. A
 * version that answers nothing ends the campaign, as it would find nothing. */
#include "core/study/campaign/campaign_unknown.h"

#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"

#define PROBE_SECONDS 10
#define PROBE_INPUTS  5 /* of a corpus */

/* Runs a version on a text. By verdict_believed(): a run without an answer counts as an error. `ret_ending` (may be NULL) is for people. */
static int run_probe(struct campaign_worker *worker, size_t version, struct slice text, enum verdict *ret, char ret_ending[ENDING_SIZE])
{
        struct recipe_limits limits = worker->campaign->versions[version]->solver->recipe->limits;
        cleanup(run_result_done) struct run_result result = {0};
        int r;

        limits.wall_ns = limits.cpu_ns = PROBE_SECONDS * NSEC_PER_SEC;
        r = worker_run(worker, version, 0, &limits, text, &result);
        *ret = verdict_believed(&result.verdicts);
        if (r == 0 && ret_ending)
                describe_error(&result, ret_ending);
        return r;
}

/* -- the format: the recipe's. The recipe of `programs` accepts both: then the corpus's (campaign_corpus.c), or what the target answers -- */

static const char *const trivial[] = {[FORMAT_SMT2] = "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n",
                                      [FORMAT_CNF] = "p cnf 1 1\n1 0\n"};

/* Sets the campaign's format to this one. *ret: the target answers a satisfiable formula of it. */
static int try_format(struct campaign *c, enum format format, bool *ret)
{
        struct campaign_worker worker = campaign_worker(c);
        enum verdict verdict;
        int r;

        c->format = format;
        r = lease_take(&worker.lease)
            ?: run_probe(&worker, c->n_compared - 1, slice_string(trivial[format]), &verdict, NULL);
        *ret = r == 0 && verdict == VERDICT_SAT;
        lease_leave(&worker.lease);
        return r;
}

/* Sets SMT-LIB, unless the target answers only DIMACS. */
static int ask_target(struct campaign *c)
{
        bool is_answered;
        int r = try_format(c, FORMAT_SMT2, &is_answered);

        if (r == 0 && !is_answered)
                r = try_format(c, FORMAT_CNF, &is_answered);
        if (r == 0 && !is_answered)
                c->format = FORMAT_SMT2;
        return r;
}

int campaign_choose_format(struct campaign *c)
{
        c->format = c->solver->recipe->format;
        if (c->settings->kind == CAMPAIGN_UNKNOWNS && c->format == FORMAT_CNF)
                return errorf(-EINVAL, "%s takes DIMACS; there are rules for SMT-LIB alone", c->solver->recipe->name);
        if (c->settings->kind == CAMPAIGN_UNKNOWNS)
                c->format = FORMAT_SMT2;
        return c->format == FORMAT_ANY && !c->settings->corpus ? ask_target(c) : 0;
}

/* -- formulas that all versions decide -- */

struct probe {
        struct campaign_worker worker;
        struct buffer *left_out; /* owned; of each compared version: the names it does not decide */
        char (*first_run)[ENDING_SIZE]; /* owned; likewise: how its first run ended, for people */
        bool *answers;               /* owned; likewise: it had a result other than an error */
};

/* Runs the formula on every version. If one does not decide it, sets *ret_unsupported and adds `name` to its left_out; `name` NULL: only notes which
 * versions answer. A timeout proves nothing. */
static int ask_all(struct probe *p, const struct buffer *text, const char *name, bool *ret_unsupported)
{
        for (unsigned v = 0; v < p->worker.campaign->n_compared; v++) {
                enum verdict verdict;
                int r = run_probe(&p->worker, v, SLICE(text->data, text->size), &verdict, p->first_run[v][0] ? NULL : p->first_run[v]);

                if (r < 0)
                        return r;
                p->answers[v] |= verdict != VERDICT_ERROR;
                if (!name || verdict_is_decided(verdict) || verdict == VERDICT_TIMEOUT)
                        continue;
                *ret_unsupported = true;
                buffer_addf(&p->left_out[v], "%s%s", p->left_out[v].size > 0 ? " " : "", name);
        }
        return 0;
}

/* -ENODATA with a sentence: some version had nothing but errors. */
static int find_mute(const struct probe *p)
{
        const struct campaign *c = p->worker.campaign;

        for (size_t v = 0; v < c->n_compared; v++)
                if (!p->answers[v])
                        return errorf(-ENODATA, "%s answers no %s that it is given; its first run: %s", c->versions[v]->name, format_notation(c->format),
                                      p->first_run[v]);
        return 0;
}

/* The answer of `ask`, kept in a file, as a continued campaign must have the answer of its first session. Reports what each version does not decide. */
static int ask_once(struct campaign *c, const char *name, int (*ask)(struct probe *p, struct buffer *ret), struct buffer *ret)
{
        cleanup_free char *path = format_string("%s/%s", c->folder, name);
        cleanup_blob struct blob kept = {0};
        struct probe p = {.worker = campaign_worker(c)};
        int r = read_file(path, SIZE_MAX, &kept);

        if (r == 0)
                buffer_add(ret, kept.data, kept.size);
        if (r != -ENOENT)
                return r;
        p.left_out = allocate(c->n_compared, sizeof(*p.left_out));
        p.first_run = allocate(c->n_compared, sizeof(*p.first_run));
        p.answers = allocate(c->n_compared, sizeof(*p.answers));
        r = lease_take(&p.worker.lease)
            ?: ask(&p, ret)
            ?: find_mute(&p)
            ?: write_file_atomic(path, ret->data, ret->size, 0600);
        for (size_t v = 0; v < c->n_compared; v++) {
                if (r == 0 && p.left_out[v].size > 0)
                        campaign_say(c, "left out, as %s does not decide them: %s", c->versions[v]->name, p.left_out[v].data);
                buffer_done(&p.left_out[v]);
        }
        lease_leave(&p.worker.lease);
        free(p.left_out);
        free(p.first_run);
        free(p.answers);
        return r;
}

/* -- operators and quantifiers of the rules -- */

/* Prints a line for each operator that some version does not decide: its name and number of arguments, not its number, which another solverfs may give to
 * another operator. The line "quantifiers" is for those. */
static int ask_operators(struct probe *p, struct buffer *ret)
{
        const enum dialect dialect = p->worker.campaign->dialect;
        bool written[N_OPS], no_quantifiers = false;
        int r = 0;

        weaken_operators(unknowns_of(p->worker.campaign)->weaken, written);
        for (enum op op = OP_NONE + 1; r == 0 && op < N_OPS; op++) {
                cleanup_buffer struct buffer text = {0};
                bool is_left_out = false;

                if (!written[op] || (r = weaken_probe(op, dialect, &text)) == -ENOENT) {
                        r = 0; /* the operator depends on widths, so rules write it only into formulas with such sorts */
                        continue;
                }
                if (r == 0)
                        r = ask_all(p, &text, operator_name(op, dialect), &is_left_out);
                if (is_left_out)
                        buffer_addf(ret, "%s %zu\n", operator_row(op)->name, operator_n_args(op));
        }
        for (unsigned i = 0; r == 0 && i < 2; i++) {
                cleanup_buffer struct buffer text = {0};

                r = weaken_probe_quantifier(i ? TERM_EXISTS : TERM_FORALL, dialect, &text)
                    ?: ask_all(p, &text, i ? "exists" : "forall", &no_quantifiers);
        }
        if (no_quantifiers)
                buffer_adds(ret, "quantifiers\n");
        return r;
}

int operators_probe(struct campaign *c)
{
        cleanup_buffer struct buffer text = {0};
        int r = ask_once(c, "unsupported", ask_operators, &text);
        char *rest = text.data;

        for (char *line; r == 0 && (line = strsep(&rest, "\n")) && *line;) {
                const char *n_args = strchrnul(line, ' ');
                enum op op = operator_find((struct slice){line, (size_t)(n_args - line)});

                while (op != OP_NONE && operator_n_args(op) != strtoul(n_args, NULL, 10))
                        op = operator_next(op);
                if (op == OP_NONE && strcmp(line, "quantifiers") != 0)
                        return errorf(-EIO, "%s/unsupported is damaged; take the file away", c->folder);
                unknowns_of(c)->unsupported[op] = true;
        }
        return r;
}

/* -- logics -- */

/* Asks for one equality of constants, of the logic's sorts; `logic` NULL: of strings. `name` as in ask_all(). */
static int ask_logic(struct probe *p, const char *logic, const char *name, bool *ret_unsupported)
{
        static const double weights[N_OPS] = {[OP_EQUAL] = 1};
        struct generate_options o = generate_defaults;
        cleanup_generator struct generator *g = NULL;
        cleanup_script struct script *s = NULL;
        cleanup_buffer struct buffer text = {0};
        int r;

        o.assertions = o.depth = 1;
        o.literal_length = 3;
        o.weights = weights;
        o.logic = logic;
        o.dialect = p->worker.campaign->dialect;
        r = generator_new(&o, 1, &g);
        if (r < 0)
                return r;
        s = generate_formula(g);
        return script_print(s, NULL, &text) ?: ask_all(p, &text, name, ret_unsupported);
}

/* Strings if every version decides them, and then prints nothing. Else a line for each logic that every version decides. */
static int ask_logics(struct probe *p, struct buffer *ret)
{
        static const char *const logics[] = {"QF_UF",   "QF_AX",   "QF_BV",    "QF_ABV",     "QF_UFBV", "QF_AUFBV", "QF_LIA", "QF_NIA", "QF_LRA", "QF_NRA",
                                             "QF_LIRA", "QF_UFLIA", "QF_UFLRA", "QF_AUFLIA", "QF_FP",   "QF_BVFP",  "QF_ABVFP", "BV",   "LIA",    "UFLIA"};
        bool no_strings = false;
        int r = ask_logic(p, NULL, "strings", &no_strings);

        for (size_t i = 0; r == 0 && no_strings && i < ARRAY_SIZE(logics); i++) {
                bool is_left_out = false;

                r = ask_logic(p, logics[i], logics[i], &is_left_out);
                if (r == 0 && !is_left_out)
                        buffer_addf(ret, "%s\n", logics[i]);
        }
        if (r == 0 && no_strings && ret->size == 0 && (r = find_mute(p)) == 0)
                r = errorf(-ENODATA, "no formulas can be generated that all versions decide; give some that they do with --logic or --corpus");
        return r;
}

/* Inputs as the search will run: the first ones of the corpus, a formula of each logic given, or DIMACS. */
static int ask_inputs(struct probe *p, struct buffer *)
{
        const struct campaign *c = p->worker.campaign;
        bool ignored;
        int r = 0;

        for (size_t i = 0; r == 0 && i < MIN(c->corpus.n, (size_t)PROBE_INPUTS); i++) {
                cleanup_buffer struct buffer text = {0};

                r = formula_print(&c->corpus.list[i], c->dialect, &text) ?: ask_all(p, &text, NULL, &ignored);
        }
        for (size_t i = 0; r == 0 && c->logics && c->logics[i]; i++)
                r = ask_logic(p, c->logics[i], NULL, &ignored);
        if (r == 0 && c->corpus.n == 0 && !c->logics) {
                cleanup_buffer struct buffer text = {0};

                buffer_adds(&text, trivial[FORMAT_CNF]);
                r = ask_all(p, &text, NULL, &ignored);
        }
        return r;
}

static void add_logics(struct campaign *c, const char *text, const char *separators)
{
        for (const char *p = text + strspn(text, separators); *p; p += strspn(p, separators)) {
                size_t n = strcspn(p, separators);
                cleanup_free char *name = copy_prefix(p, n);

                strings_add(&c->logics, name);
                p += n;
        }
}

int logics_choose(struct campaign *c)
{
        cleanup_buffer struct buffer text = {0};
        int r;

        if (c->format == FORMAT_CNF && c->settings->logic)
                return errorf(-EINVAL, "the solver takes DIMACS, which has no logics");
        if (c->settings->logic)
                add_logics(c, c->settings->logic, ", ");
        if (c->settings->logic && !c->logics)
                return errorf(-EINVAL, "no logic is named");
        if (c->logics || c->corpus.n > 0 || c->format == FORMAT_CNF)
                return ask_once(c, "answered", ask_inputs, &text);
        r = ask_once(c, "logics", ask_logics, &text);
        if (r < 0)
                return r;
        if (text.size > 0)
                add_logics(c, text.data, "\n");
        for (char *p = text.data; p && *p; p++)
                if (*p == '\n')
                        *p = p[1] ? ' ' : '\0';
        campaign_say(c, "generated are formulas of %s", text.size > 0 ? text.data : "strings");
        return 0;
}
