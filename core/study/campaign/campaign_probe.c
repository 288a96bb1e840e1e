/* Probes the versions before the search: the format that the target reads, the logics that all answer, the operators of the rules that they support. */
#include "core/study/campaign/campaign_unknown.h"

#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"

#define PROBE_SECONDS 10

/* Runs a version on a text. */
static int run_probe(struct campaign_worker *worker, size_t version, struct slice text, enum verdict *ret)
{
        struct recipe_limits limits = worker->campaign->versions[version]->solver->recipe->limits;
        struct run_result result = {0};
        int r;

        limits.wall_ns = limits.cpu_ns = PROBE_SECONDS * NSEC_PER_SEC;
        r = worker_run(worker, version, 0, &limits, text, &result);
        *ret = result.verdict;
        run_result_done(&result);
        return r;
}

/* -- the format: the recipe's, but the recipe of `programs` accepts both -- */

/* *ret: the target answers a satisfiable formula of this format. */
static int answers(struct campaign *c, enum format format, bool *ret)
{
        static const char *const formulas[] = {[FORMAT_SMT2] = "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n",
                                               [FORMAT_CNF] = "p cnf 1 1\n1 0\n"};
        struct campaign_worker worker = campaign_worker(c);
        enum verdict verdict;
        int r;

        c->format = format;
        r = lease_take(&worker.lease);
        if (r == 0)
                r = run_probe(&worker, c->n_compared - 1, slice_string(formulas[format]), &verdict);
        *ret = r == 0 && verdict == VERDICT_SAT;
        lease_leave(&worker.lease);
        return r;
}

/* Chooses SMT-LIB, unless the target answers only DIMACS. */
static int ask_target(struct campaign *c)
{
        bool is_answered;
        int r = answers(c, FORMAT_SMT2, &is_answered);

        if (r == 0 && !is_answered)
                r = answers(c, FORMAT_CNF, &is_answered);
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
        struct buffer *left; /* owned; of each compared version: the names it does not decide */
};

/* Asks every version. A timeout proves nothing about the operator. */
static int ask_all(struct probe *p, const struct buffer *text, const char *name, bool *ret_unsupported)
{
        for (unsigned v = 0; v < p->worker.campaign->n_compared; v++) {
                enum verdict verdict;
                int r = run_probe(&p->worker, v, SLICE(text->data, text->size), &verdict);

                if (r < 0)
                        return r;
                if (verdict_is_decided(verdict) || verdict == VERDICT_TIMEOUT)
                        continue;
                *ret_unsupported = true;
                buffer_addf(&p->left[v], "%s%s", p->left[v].size > 0 ? " " : "", name);
        }
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
        p.left = allocate(c->n_compared, sizeof(*p.left));
        r = lease_take(&p.worker.lease);
        if (r == 0)
                r = ask(&p, ret);
        if (r == 0)
                r = write_file_atomic(path, ret->data, ret->size, 0600);
        for (size_t v = 0; v < c->n_compared; v++) {
                if (r == 0 && p.left[v].size > 0)
                        campaign_say(c, "left out, as %s does not decide them: %s", c->versions[v]->name, p.left[v].data);
                buffer_done(&p.left[v]);
        }
        lease_leave(&p.worker.lease);
        free(p.left);
        return r;
}

/* -- operators and quantifiers of the rules -- */

/* The number of each operator that some version does not decide, a line each; OP_NONE for quantifiers. */
static int ask_operators(struct probe *p, struct buffer *ret)
{
        const enum dialect dialect = p->worker.campaign->dialect;
        bool written[N_OPS], is_left_out = false;
        int r = 0;

        weaken_operators(unknowns_of(p->worker.campaign)->weaken, written);
        for (enum op op = OP_NONE + 1; r == 0 && op < N_OPS; op++, is_left_out = false) {
                cleanup_buffer struct buffer text = {0};

                if (!written[op] || (r = weaken_probe(op, dialect, &text)) == -ENOENT) {
                        r = 0; /* the operator depends on widths, so rules write it only into formulas with such sorts */
                        continue;
                }
                if (r == 0)
                        r = ask_all(p, &text, operator_name(op, dialect), &is_left_out);
                if (is_left_out)
                        buffer_addf(ret, "%d\n", (int)op);
        }
        for (unsigned i = 0; r == 0 && i < 2; i++) {
                cleanup_buffer struct buffer text = {0};

                r = weaken_probe_quantifier(i ? TERM_EXISTS : TERM_FORALL, dialect, &text);
                if (r == 0)
                        r = ask_all(p, &text, i ? "exists" : "forall", &is_left_out);
        }
        if (is_left_out)
                buffer_addf(ret, "%d\n", (int)OP_NONE);
        return r;
}

int operators_probe(struct campaign *c)
{
        cleanup_buffer struct buffer text = {0};
        int r = ask_once(c, "left-out", ask_operators, &text);

        for (char *at = text.data, *end; r == 0 && at && *at; at = end + 1) {
                long op = strtol(at, &end, 10);

                if (*end != '\n' || op < 0 || op >= N_OPS)
                        return errorf(-EIO, "%s/left-out is damaged; take the file away", c->folder);
                unknowns_of(c)->unsupported[op] = true;
        }
        return r;
}

/* -- logics -- */

/* Constants of the logic's sorts, and an equality; NULL: of strings. */
static int ask_logic(struct probe *p, const char *logic, bool *ret_unsupported)
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
        r = script_print(s, NULL, &text);
        return r < 0 ? r : ask_all(p, &text, logic ? logic : "strings", ret_unsupported);
}

/* One name per line; empty: strings. */
static int ask_logics(struct probe *p, struct buffer *ret)
{
        static const char *const logics[] = {"QF_UF",   "QF_AX",   "QF_BV",    "QF_ABV",     "QF_UFBV", "QF_AUFBV", "QF_LIA", "QF_NIA", "QF_LRA", "QF_NRA",
                                             "QF_LIRA", "QF_UFLIA", "QF_UFLRA", "QF_AUFLIA", "QF_FP",   "QF_BVFP",  "QF_ABVFP", "BV",   "LIA",    "UFLIA"};
        bool no_strings = false;
        int r = ask_logic(p, NULL, &no_strings);

        for (size_t i = 0; r == 0 && no_strings && i < ARRAY_SIZE(logics); i++) {
                bool is_left_out = false;

                r = ask_logic(p, logics[i], &is_left_out);
                if (r == 0 && !is_left_out)
                        buffer_addf(ret, "%s\n", logics[i]);
        }
        return r;
}

static void take_logics(struct campaign *c, const char *text, const char *separators)
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

        if (c->format == FORMAT_CNF)
                return c->settings->logic ? errorf(-EINVAL, "the solver takes DIMACS, which has no logics") : 0;
        if (c->settings->logic) {
                take_logics(c, c->settings->logic, ", ");
                return c->logics ? 0 : errorf(-EINVAL, "no logic is named");
        }
        if (c->corpus.n > 0)
                return 0;
        r = ask_once(c, "logics", ask_logics, &text);
        if (r < 0)
                return r;
        if (text.size > 0)
                take_logics(c, text.data, "\n");
        for (char *p = text.data; p && *p; p++)
                if (*p == '\n')
                        *p = ' ';
        campaign_say(c, "generated are formulas of %s", text.size > 0 ? text.data : "strings");
        return 0;
}
