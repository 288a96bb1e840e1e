/* Asks the versions before the search: which format the target takes, which logics all answer, which operators of the rules they support. */
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

/* -- the format: a recipe says which it is, but one of programs takes both -- */

/* Does the target answer a formula of this format, which is satisfiable? */
static int answers(struct campaign *c, enum format format, bool *ret)
{
        static const char *const formulas[] = {[FORMAT_SMT2] = "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n",
                                               [FORMAT_CNF] = "p cnf 1 1\n1 0\n"};
        struct campaign_worker worker = CAMPAIGN_WORKER(c);
        enum verdict verdict;
        int r;

        c->format = format;
        r = worker_take_slot(&worker);
        if (r == 0)
                r = run_probe(&worker, c->n_compared - 1, slice_string(formulas[format]), &verdict);
        *ret = r == 0 && verdict == VERDICT_SAT;
        worker_leave_slot(&worker);
        return r;
}

/* SMT-LIB, unless the target answers nothing but DIMACS. */
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

/* -- what all versions decide -- */

struct probe {
        struct campaign *campaign;
        struct campaign_worker worker;
        struct buffer *left; /* owned; of each compared version: the operators that it does not decide */
};

static int probe_begin(struct probe *p, struct campaign *c)
{
        *p = (struct probe){.campaign = c, .worker = CAMPAIGN_WORKER(c), .left = allocate(c->n_compared, sizeof(*p->left))};
        return worker_take_slot(&p->worker);
}

/* Says what each version does not decide, where all went well. */
static void probe_done(struct probe *p, int r)
{
        for (size_t v = 0; v < p->campaign->n_compared; v++) {
                if (r == 0 && p->left[v].size > 0)
                        campaign_say(p->campaign, "left out, as %s does not decide them: %s", p->campaign->versions[v]->name, p->left[v].data);
                buffer_done(&p->left[v]);
        }
        worker_leave_slot(&p->worker);
        free(p->left);
}

/* Asks every version. A timeout says nothing of the operator. */
static int ask_all(struct probe *p, const struct buffer *text, const char *name, bool *ret_unsupported)
{
        for (unsigned v = 0; v < p->campaign->n_compared; v++) {
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

/* -- operators and quantifiers of the rules -- */

static int probe_operators(struct probe *p, struct unknowns *u, enum dialect dialect)
{
        bool written[N_OPS];
        int r = 0;

        weaken_operators(u->weaken, written);
        for (enum op op = OP_NONE + 1; r == 0 && op < N_OPS; op++) {
                cleanup_buffer struct buffer text = {0};

                if (!written[op])
                        continue;
                r = weaken_probe(op, dialect, &text);
                if (r == -ENOENT) { /* it depends on widths, so rules write it only into formulas that have such sorts */
                        r = 0;
                        continue;
                }
                if (r == 0)
                        r = ask_all(p, &text, operator_name(op, dialect), &u->unsupported[op]);
        }
        for (unsigned i = 0; r == 0 && i < 2; i++) {
                cleanup_buffer struct buffer text = {0};

                r = weaken_probe_quantifier(i ? TERM_EXISTS : TERM_FORALL, dialect, &text);
                if (r == 0)
                        r = ask_all(p, &text, i ? "exists" : "forall", &u->unsupported[OP_NONE]);
        }
        return r;
}

static int probe_all(struct campaign *c, struct unknowns *u)
{
        struct probe p;
        int r = probe_begin(&p, c);

        if (r == 0)
                r = probe_operators(&p, u, c->dialect);
        probe_done(&p, r);
        return r;
}

static int take_up(const char *path, struct unknowns *u)
{
        cleanup_blob struct blob b = {0};
        cleanup_free char *text = NULL;
        int r = read_file(path, SIZE_MAX, &b);

        if (r < 0)
                return r;
        text = copy_prefix(b.data, b.size);
        for (char *at = text, *end; *at; at = end + 1) {
                long op = strtol(at, &end, 10);

                if (*end != '\n' || op < 0 || op >= N_OPS)
                        return errorf(-EIO, "%s is damaged; take the file away", path);
                u->unsupported[op] = true;
        }
        return 0;
}

/* A chain that goes on must have the operators that it began with, so the answers are kept: the number of each that is left out, a line each. */
int operators_probe(struct campaign *c)
{
        struct unknowns *u = unknowns_of(c);
        cleanup_buffer struct buffer left_out = {0};
        cleanup_free char *path = format_string("%s/left-out", c->folder);
        int r = take_up(path, u);

        if (r != -ENOENT)
                return r;
        r = probe_all(c, u);
        for (int op = 0; op < N_OPS; op++)
                if (u->unsupported[op])
                        buffer_addf(&left_out, "%d\n", op);
        return r < 0 ? r : write_file_atomic(path, left_out.data, left_out.size, 0600);
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
        o.dialect = p->campaign->dialect;
        r = generator_new(&o, 1, &g);
        if (r < 0)
                return r;
        s = generate_formula(g);
        r = script_print(s, NULL, &text);
        return r < 0 ? r : ask_all(p, &text, logic ? logic : "strings", ret_unsupported);
}

/* Into `text`, a name a line; nothing: strings. */
static int ask_logics(struct campaign *c, struct buffer *text)
{
        static const char *const logics[] = {"QF_UF",   "QF_AX",   "QF_BV",    "QF_ABV",     "QF_UFBV", "QF_AUFBV", "QF_LIA", "QF_NIA", "QF_LRA", "QF_NRA",
                                             "QF_LIRA", "QF_UFLIA", "QF_UFLRA", "QF_AUFLIA", "QF_FP",   "QF_BVFP",  "QF_ABVFP", "BV",   "LIA",    "UFLIA"};
        struct probe p;
        int r = probe_begin(&p, c);
        bool no_strings = false;

        if (r == 0)
                r = ask_logic(&p, NULL, &no_strings);
        for (size_t i = 0; r == 0 && no_strings && i < ARRAY_SIZE(logics); i++) {
                bool is_left_out = false;

                r = ask_logic(&p, logics[i], &is_left_out);
                if (r == 0 && !is_left_out)
                        buffer_addf(text, "%s\n", logics[i]);
        }
        probe_done(&p, r);
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
        cleanup_free char *path = format_string("%s/logics", c->folder);
        cleanup_blob struct blob kept = {0};
        int r;

        if (c->format == FORMAT_CNF)
                return c->settings->logic ? errorf(-EINVAL, "the solver takes DIMACS, which has no logics") : 0;
        if (c->settings->logic) {
                take_logics(c, c->settings->logic, ", ");
                return c->logics ? 0 : errorf(-EINVAL, "no logic is named");
        }
        if (c->corpus.n > 0)
                return 0;
        r = read_file(path, SIZE_MAX, &kept);
        if (r == 0)
                buffer_add(&text, kept.data, kept.size);
        if (r == -ENOENT) {
                r = ask_logics(c, &text);
                if (r == 0)
                        r = write_file_atomic(path, text.data, text.size, 0600);
        }
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
