/* solverfs triage --cross: what is slow in one solver, run on others (SPRFinder, section 6.2, RQ5). */
#include "ask.h"
#include "cmd_triage.h"

#include "core/study/base/version.h"
#include "core/study/observation/observation.h"
#include "words.h"

/* Two versions of a solver that its findings tell apart. */
struct pair {
        uint32_t reference, target;
        uint64_t wall_ns;
        double threshold; /* seconds */
};

struct subject {
        struct solver *solver;    /* owns a ref */
        struct observations findings; /* slowdowns between commits */
        struct pair *pairs; /* owned; distinct */
        size_t n_pairs;
};

struct trial {
        size_t from, finding, to; /* a finding of one subject, on another */
        struct pair pair;
        struct case_info *info; /* owns a ref */
        double seconds[2];
        enum verdict verdict[2];
        bool answered[2];
};

struct crossing {
        struct workspace *workspace;
        struct subject *subjects; /* owned */
        size_t n;
        struct trial *trials; /* owned */
        size_t n_trials;
        bool json;
        int error;
};

/* -- what there is -- */

static int pair_of(const struct subject *s, const struct observation *f, struct pair *ret)
{
        int r = history_resolve(s->solver->history, f->reference, &ret->reference);

        if (r == 0)
                r = history_resolve(s->solver->history, f->target, &ret->target);
        ret->wall_ns = (uint64_t)(f->timeout * 1e9);
        ret->threshold = f->threshold;
        return r;
}

static bool is_between_commits(void *, const struct observation *f)
{
        return version_is_commit(f->reference) && version_is_commit(f->target);
}

static int add_pair(struct subject *s, const struct observation *f)
{
        struct pair p;
        int r = pair_of(s, f, &p);

        for (size_t i = 0; r == 0 && i < s->n_pairs; i++)
                if (s->pairs[i].reference == p.reference && s->pairs[i].target == p.target)
                        return 0;
        if (r == 0)
                r = list_grow(s->pairs, s->n_pairs);
        if (r == 0)
                s->pairs[s->n_pairs++] = p;
        return r;
}

static int read_subject(struct crossing *x, const char *name, struct subject *ret)
{
        int r = command_solver(x->workspace, name, &ret->solver), k;

        if (r != STATUS_OK)
                return r;
        k = observations_read(x->workspace, ret->solver->number, "spr", &ret->findings);
        observations_keep(&ret->findings, is_between_commits, NULL);
        for (size_t i = 0; k == 0 && i < ret->findings.n; i++)
                k = add_pair(ret, ret->findings.list[i]);
        return k < 0 ? fail(k) : STATUS_OK;
}

/* -- what is run -- */

static int add_trial(struct crossing *x, size_t from, size_t finding, size_t to, const struct pair *p)
{
        struct trial *t;

        if (list_grow(x->trials, x->n_trials) < 0)
                return -ENOMEM;
        t = &x->trials[x->n_trials];
        *t = (struct trial){.from = from, .finding = finding, .to = to, .pair = *p};
        t->pair.wall_ns = MAX(p->wall_ns, (uint64_t)(x->subjects[from].findings.list[finding]->timeout * 1e9));
        return cases_get(workspace_cases(x->workspace), x->subjects[from].findings.list[finding]->case_id, &t->info) < 0
                       ? 0
                       : (x->n_trials++, 0);
}

static int add_trials(struct crossing *x, size_t from, size_t to)
{
        struct subject *a = &x->subjects[from], *b = &x->subjects[to];
        bool is_same_history = strcmp(a->solver->repository, b->solver->repository) == 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < a->findings.n; i++) {
                struct pair own;

                for (size_t k = 0; r == 0 && k < b->n_pairs; k++)
                        r = add_trial(x, from, i, to, &b->pairs[k]);
                if (r < 0 || b->n_pairs > 0 || !is_same_history)
                        continue;
                r = pair_of(a, a->findings.list[i], &own);
                if (r == 0)
                        r = add_trial(x, from, i, to, &own);
        }
        if (r == 0 && a->findings.n > 0 && b->n_pairs == 0 && !is_same_history)
                note("%s has no findings between commits, and so no versions to compare; a campaign of it gives some",
                     b->solver->recipe->name);
        return r;
}

static int make(void *user, size_t i, struct query **ret)
{
        struct crossing *x = user;
        struct trial *t = &x->trials[i / 2];
        struct cell cell = {.solver = x->subjects[t->to].solver,
                            .commit = i % 2 ? t->pair.target : t->pair.reference,
                            .info = t->info,
                            .wall_ns = t->pair.wall_ns};

        return query_run(x->workspace, &cell, ret);
}

static bool regresses(const struct trial *t)
{
        return t->answered[0] && t->answered[1] && verdict_is_decided(t->verdict[0]) &&
               (t->verdict[1] == VERDICT_TIMEOUT || t->verdict[1] == t->verdict[0]) &&
               t->seconds[1] - t->seconds[0] > t->pair.threshold;
}

static void add_row(const struct crossing *x, const struct trial *t, struct buffer *to)
{
        static const struct column columns[] = {{"SOLVER", 12, false},    {"FINDING", 7, true}, {"ALSO-IN", 12, false}, {"REFERENCE", 12, false},
                                                {"TARGET", 12, false}, {"BEFORE", 10, true}, {"AFTER", 10, true}};
        const struct subject *from = &x->subjects[t->from], *other = &x->subjects[t->to];
        char reference[GIT_OID_HEXSZ + 1], target[GIT_OID_HEXSZ + 1];

        commit_hex(other->solver, t->pair.reference, reference);
        commit_hex(other->solver, t->pair.target, target);
        if (x->json)
                return json_row(to, json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:f}", "solver", from->solver->recipe->name, "finding",
                                              (int)from->findings.list[t->finding]->number, "also-in", other->solver->recipe->name,
                                              "reference", reference, "target", target, "before", t->seconds[0], "after",
                                              t->seconds[1]));
        table_rowf(to, columns, ARRAY_SIZE(columns), "%s\t%u\t%s\t%.12s\t%.12s\t%.6f\t%.6f", from->solver->recipe->name,
                   from->findings.list[t->finding]->number, other->solver->recipe->name, reference, target, t->seconds[0], t->seconds[1]);
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct crossing *x = user;
        struct trial *t = &x->trials[i / 2];
        const struct fact *f = r == 0 ? ((struct run_value *)v)->fact : NULL;

        if (r < 0 && r != -ECANCELED) {
                progress_clear();
                complain("%s", reason);
                x->error = r;
        }
        if (!f) /* not asked to its end, or that version cannot be built: nothing to compare */
                return;
        t->answered[i % 2] = true;
        t->verdict[i % 2] = f->verdict;
        t->seconds[i % 2] = (double)f->wall_ns / 1e9;
        if (regresses(t))
                add_row(x, t, to);
}

static void show_counts(const struct crossing *x)
{
        for (size_t a = 0; a < x->n; a++)
                for (size_t b = 0; b < x->n; b++) {
                        size_t tried = 0, slow = 0;

                        for (size_t i = 0; i < x->subjects[a].findings.n; i++) {
                                bool was_tried = false, is_slow = false;

                                for (size_t k = 0; k < x->n_trials; k++) {
                                        const struct trial *t = &x->trials[k];

                                        if (t->from != a || t->to != b || t->finding != i)
                                                continue;
                                        was_tried |= t->answered[0] && t->answered[1];
                                        is_slow |= regresses(t);
                                }
                                tried += was_tried;
                                slow += is_slow;
                        }
                        if (tried > 0)
                                note("%zu of %zu findings of %s regress in %s, too", slow, tried,
                                     x->subjects[a].solver->recipe->name, x->subjects[b].solver->recipe->name);
                }
}

static void crossing_done(struct crossing *x)
{
        for (size_t i = 0; i < x->n_trials; i++)
                case_info_unref(x->trials[i].info);
        free(x->trials);
        for (size_t i = 0; x->subjects && i < x->n; i++) {
                observations_done(&x->subjects[i].findings);
                free(x->subjects[i].pairs);
                solver_unref(x->subjects[i].solver);
        }
        free(x->subjects);
}

int triage_cross(struct workspace *w, char *const *solvers, size_t n, bool json, int signals)
{
        cleanup(crossing_done) struct crossing x = {.workspace = w, .n = n, .json = json};
        cleanup_engine struct engine *e = NULL;
        int status, r = 0;

        x.subjects = calloc(n, sizeof(*x.subjects));
        status = x.subjects ? command_engine(w, &e) : fail(-ENOMEM);
        for (size_t i = 0; status == STATUS_OK && i < n; i++)
                status = read_subject(&x, solvers[i], &x.subjects[i]);
        for (size_t a = 0; status == STATUS_OK && r == 0 && a < n; a++)
                for (size_t b = 0; r == 0 && b < n; b++)
                        if (a != b)
                                r = add_trials(&x, a, b);
        if (status != STATUS_OK)
                return status;
        if (r == 0 && x.n_trials == 0) {
                note("nothing to compare: no findings between commits");
                return STATUS_OK;
        }
        if (r == 0)
                r = command_ask(&(struct command_asking){.engine = e,
                                                         .n = 2 * x.n_trials,
                                                         .title = "cross",
                                                         .signals = signals,
                                                         .make = make,
                                                         .answered = answered,
                                                         .user = &x});
        if (r == -EINTR)
                return STATUS_INTERRUPTED;
        if (r < 0 && r != -EPIPE)
                return fail(r);
        show_counts(&x);
        return x.error < 0 ? STATUS_FAILED : STATUS_OK;
}
