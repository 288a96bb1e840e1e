/* How soon each strategy of a campaign comes upon distinct causes of slowness, on made-up solvers (made_up.h).
 *
 *     search [--hours 3] [--repeat 3] [--number 1] [--kind NAME] [--strategy NAME] [--threads N] [--svg FILE]
 *
 * A campaign has so many hours of simulated solver time: each run counts, those of confirmations, too. Repetition i is of solver and strategy number + i, so that
 * another number is another set of solvers. Candidates are confirmed as a campaign does it: pairs under further seeds, judged by core/study/judge. A find counts for
 * the newest cause that its formula has, as localizing it would say.
 *
 * No strategy is told of causes: localizing takes builds, and a campaign may end before.
 *
 * Columns: seconds and runs until half and three quarters of the causes, medians of the repetitions (>: not within the hours, which count then); causes at the end;
 * finds; candidates that did not hold; CPU time of the strategy's own. Below: geometric means over the kinds, against the default. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "core/report/plot.h"
#include "core/study/base/stat.h"
#include "tests/bench/confirm.h"
#include "tests/bench/made_up.h"
#include "tests/support/strategies.h"

#define THRESHOLD   10.0
#define WINDOW      60.0
#define REPEAT_MOST 32
#define CURVE       100 /* points */

struct result {
        double solving;        /* simulated seconds */
        double deciding;       /* CPU seconds of ours */
        uint64_t runs, found;  /* found: a bit for each cause */
        unsigned finds, vain;  /* vain: candidates that did not hold */
        double seconds[2];     /* until half and three quarters of the causes; infinite: not */
        double runs_until[2];
        unsigned curve[CURVE]; /* causes after so many parts of the time */
        bool failed;
};

struct campaign {
        const struct made_up *solver;
        unsigned n_causes;
        struct strategy *strategy;
        struct result *result;
};

static double cpu_now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct outcome run(struct campaign *c, const struct made_up_look *look, bool target, uint64_t seed, double cap)
{
        double t = made_up_seconds(c->solver, look, target, seed);
        struct outcome o = {.seconds = fmin(t, cap), .verdict = t >= cap ? VERDICT_TIMEOUT : VERDICT_SAT};

        c->result->solving += o.seconds;
        c->result->runs++;
        return o;
}

/* -- confirming -- */

struct confirming {
        struct campaign *campaign;
        const struct made_up_look *look;
};

static struct outcome run_whole(void *user, bool target, uint64_t seed)
{
        struct confirming *x = user;

        return run(x->campaign, x->look, target, seed, MADE_UP_TIMEOUT);
}

/* -- the campaign -- */

static void note_cause(struct campaign *c, unsigned cause)
{
        struct result *r = c->result;
        unsigned has;

        r->found |= UINT64_C(1) << cause;
        has = (unsigned)__builtin_popcountll(r->found);
        for (int i = 0; i < 2; i++)
                if (isinf(r->seconds[i]) && has * 4 >= c->n_causes * (i == 0 ? 2 : 3)) {
                        r->seconds[i] = r->solving;
                        r->runs_until[i] = (double)r->runs;
                }
}

/* A find that holds and has no cause is luck that held: it counts as a find, and for nothing. */
static void confirm(struct campaign *c, uint64_t id, const struct made_up_look *look)
{
        bool is_find = confirm_holds(run_whole, &(struct confirming){c, look}, MADE_UP_TIMEOUT, THRESHOLD);
        unsigned cause = is_find ? made_up_cause(look) : UINT_MAX;
        double begin = cpu_now();

        strategy_confirmed(c->strategy, id, is_find);
        c->result->deciding += cpu_now() - begin;
        c->result->finds += is_find;
        c->result->vain += !is_find;
        if (cause != UINT_MAX)
                note_cause(c, cause);
}

static int step(struct campaign *c)
{
        cleanup_script struct script *script = NULL;
        struct strategy_input input;
        struct made_up_look look;
        unsigned version;
        double cap, score, begin = cpu_now();
        bool is_candidate;
        int r;

        strategies_now = c->result->solving;
        r = strategy_next(c->strategy, &input);

        c->result->deciding += cpu_now() - begin;
        if (r == 0)
                r = script_read(input.text, NULL, &script);
        if (r == 0)
                r = made_up_look(c->solver, script, &look);
        if (r < 0)
                return r;
        while (strategy_step(c->strategy, input.id, &version, &cap)) {
                struct outcome o = run(c, &look, version == 1, 0, cap);

                strategy_ran(c->strategy, input.id, version, &o);
        }
        begin = cpu_now();
        is_candidate = strategy_finish(c->strategy, input.id, strategy_wants(c->strategy, input.id, NULL), &score);
        c->result->deciding += cpu_now() - begin;
        if (is_candidate)
                confirm(c, input.id, &look);
        return 0;
}

static int campaign(const struct made_up *solver, unsigned n_causes, enum strategy_kind kind, uint64_t number, double most,
                    struct result *ret)
{
        cleanup_strategy struct strategy *s = NULL;
        struct strategy_options o = strategy_defaults;
        struct campaign c = {.solver = solver, .n_causes = n_causes, .result = ret};
        int r, point = 0;

        *ret = (struct result){.seconds = {INFINITY, INFINITY}, .runs_until = {INFINITY, INFINITY}};
        o.type = strategy_type_of(kind);
        o.versions = 2;
        o.timeout = MADE_UP_TIMEOUT;
        o.threshold = THRESHOLD;
        o.seed = number;
        strategies_window = WINDOW;
        r = strategy_new(&o, &s);
        c.strategy = s;
        while (r == 0 && ret->solving < most) {
                r = step(&c);
                for (; point < CURVE && ret->solving >= most * (point + 1) / CURVE; point++)
                        ret->curve[point] = (unsigned)__builtin_popcountll(ret->found);
        }
        if (r == -ENOSPC) /* an enumeration's end */
                r = 0;
        if (r < 0)
                fprintf(stderr, "%s: %s\n", strategy_name(kind), error_message(r));
        return r;
}

/* -- all of them, on some threads -- */

struct job {
        enum made_up_kind kind;
        enum strategy_kind strategy;
        uint64_t number;
        struct result result;
};
struct jobs {
        struct job *list;
        size_t n, next;
        double most;
        pthread_mutex_t lock;
};

static struct job *take_job(struct jobs *j)
{
        struct job *taken = NULL;

        pthread_mutex_lock(&j->lock);
        if (j->next < j->n)
                taken = &j->list[j->next++];
        pthread_mutex_unlock(&j->lock);
        return taken;
}

static void *work(void *arg)
{
        struct jobs *jobs = arg;

        for (struct job *j; (j = take_job(jobs));) {
                cleanup_made_up struct made_up *solver = NULL;
                int r = made_up_new(j->kind, j->number, &solver);

                if (r == 0)
                        r = campaign(solver, made_up_n_causes(j->kind), j->strategy, j->number, jobs->most, &j->result);
                j->result.failed = r < 0;
        }
        return NULL;
}

/* -- the table -- */

struct row {
        double seconds[2], runs[2], causes, finds, vain, deciding;
        bool is_over[2]; /* the median was not reached */
        unsigned n_causes;
};

static struct row row_of(const struct job *jobs, unsigned repeat, double most, unsigned n_causes)
{
        double x[4][REPEAT_MOST];
        struct row row = {.n_causes = n_causes};

        for (unsigned i = 0; i < repeat; i++) {
                const struct result *r = &jobs[i].result;

                for (int k = 0; k < 2; k++) {
                        x[k][i] = fmin(r->seconds[k], most);
                        x[2 + k][i] = fmin(r->runs_until[k], (double)r->runs);
                }
                row.causes += (double)__builtin_popcountll(r->found) / repeat;
                row.finds += (double)r->finds / repeat;
                row.vain += (double)r->vain / repeat;
                row.deciding += r->deciding / r->solving / repeat;
        }
        for (int k = 0; k < 2; k++) {
                row.seconds[k] = stat_median(x[k], repeat);
                row.runs[k] = stat_median(x[2 + k], repeat);
                row.is_over[k] = row.seconds[k] >= most;
        }
        return row;
}

static void print_row(const char *kind, const char *strategy, const struct row *r)
{
        printf("%-9s %-18s", kind, strategy);
        for (int k = 0; k < 2; k++)
                printf(" %1s%8.0f %8.0f", r->is_over[k] ? ">" : "", r->seconds[k], r->runs[k]);
        printf(" %6.1f/%-3u %7.1f %7.1f %8.3f%%\n", r->causes, r->n_causes, r->finds, r->vain, 100 * r->deciding);
        fflush(stdout);
}

static size_t strategies_named(const char *only, enum strategy_kind ret[N_STRATEGIES])
{
        size_t n = 0;

        for (enum strategy_kind k = 0; k < N_STRATEGIES; k++)
                if (!only || strcmp(only, strategy_name(k)) == 0)
                        ret[n++] = k;
        return n;
}

/* Geometric means over the kinds of the default's seconds by another one's. */
static void print_ratios(const enum strategy_kind *strategies, size_t n, const struct row *rows, size_t n_kinds)
{
        size_t own = n;

        for (size_t i = 0; i < n; i++)
                if (strategies[i] == STRATEGY_SOLVERFS)
                        own = i;
        if (own == n)
                return;
        printf("\nthe default's seconds by another one's, geometric means over the kinds: to half of the causes, to three quarters\n");
        for (size_t i = 0; i < n; i++) {
                double sum[2] = {0};

                for (size_t k = 0; k < n_kinds; k++)
                        for (int q = 0; q < 2; q++)
                                sum[q] += log(rows[k * n + own].seconds[q] / rows[k * n + i].seconds[q]);
                printf("%-18s %6.2f %6.2f\n", strategy_name(strategies[i]), exp(sum[0] / (double)n_kinds), exp(sum[1] / (double)n_kinds));
        }
}

static int write_picture(const char *file, const enum strategy_kind *strategies, size_t n, const struct job *list, size_t n_kinds, unsigned repeat, double most)
{
        cleanup_plot struct plot *plot = plot_new("Share of the causes found", 0, 0);
        cleanup_buffer struct buffer out = {0};

        plot_axis_x(plot, "hours of simulated solver time", PLOT_LINEAR);
        plot_axis_y(plot, "share of the causes, mean over the kinds of solver", PLOT_LINEAR);
        for (size_t i = 0; i < n; i++) {
                struct plot_series *series = plot_series(plot, PLOT_STEP, strategy_name(strategies[i]));

                plot_point(series, 0, 0, NULL);
                for (int p = 0; p < CURVE; p++) {
                        double share = 0;

                        for (size_t k = 0; k < n_kinds; k++)
                                for (unsigned r = 0; r < repeat; r++) {
                                        const struct job *j = &list[(k * n + i) * repeat + r];

                                        share += j->result.curve[p] / (double)made_up_n_causes(j->kind);
                                }
                        plot_point(series, most / 3600 * (p + 1) / CURVE, share / (double)(n_kinds * repeat), NULL);
                }
        }
        plot_write(plot, &out);
        return write_file_atomic(file, out.data, out.size, 0644) < 0 ? 1 : 0;
}

struct options {
        double hours;
        unsigned repeat, threads;
        uint64_t number;
        const char *kind, *strategy, *svg;
};

static int search(const struct options *o)
{
        enum strategy_kind strategies[N_STRATEGIES];
        struct row rows[N_MADE_UP * N_STRATEGIES];
        size_t n = strategies_named(o->strategy, strategies), n_kinds = 0;
        struct jobs jobs = {.most = o->hours * 3600, .lock = PTHREAD_MUTEX_INITIALIZER};
        enum made_up_kind kinds[N_MADE_UP];
        pthread_t threads[64];
        int status = 0;

        for (int k = 0; k < N_MADE_UP; k++)
                if (!o->kind || strcmp(o->kind, made_up_name((enum made_up_kind)k)) == 0)
                        kinds[n_kinds++] = (enum made_up_kind)k;
        jobs.list = calloc(n_kinds * n * o->repeat + 1, sizeof(*jobs.list));
        for (size_t k = 0; k < n_kinds; k++)
                for (size_t i = 0; i < n; i++)
                        for (unsigned r = 0; r < o->repeat; r++)
                                jobs.list[jobs.n++] = (struct job){kinds[k], strategies[i], o->number + r, {0}};
        for (unsigned i = 0; i < o->threads; i++)
                pthread_create(&threads[i], NULL, work, &jobs);
        for (unsigned i = 0; i < o->threads; i++)
                pthread_join(threads[i], NULL);
        printf("%g hours of simulated solver time, %u repetitions from number %" PRIu64 " on\n", o->hours, o->repeat, o->number);
        printf("%-9s %-18s %9s %8s %9s %8s %10s %7s %7s %9s\n", "solver", "strategy", "half (s)", "runs", "3/4 (s)", "runs", "causes", "finds", "vain",
               "deciding");
        for (size_t k = 0; k < n_kinds; k++)
                for (size_t i = 0; i < n; i++) {
                        const struct job *first = &jobs.list[(k * n + i) * o->repeat];

                        for (unsigned r = 0; r < o->repeat; r++)
                                status |= first[r].result.failed;
                        rows[k * n + i] = row_of(first, o->repeat, jobs.most, made_up_n_causes(kinds[k]));
                        print_row(made_up_name(kinds[k]), strategy_name(strategies[i]), &rows[k * n + i]);
                }
        print_ratios(strategies, n, rows, n_kinds);
        if (o->svg)
                status |= write_picture(o->svg, strategies, n, jobs.list, n_kinds, o->repeat, jobs.most);
        free(jobs.list);
        return status;
}

int main(int argc, char **argv)
{
        static const struct option long_options[] = {{"hours", required_argument, NULL, 'h'},    {"repeat", required_argument, NULL, 'r'},
                                                     {"number", required_argument, NULL, 'n'},   {"kind", required_argument, NULL, 'k'},
                                                     {"strategy", required_argument, NULL, 's'},
                                                     {"threads", required_argument, NULL, 'j'},  {"svg", required_argument, NULL, 'p'},
                                                     {0}};
        struct options o = {.hours = 3, .repeat = 3, .threads = 2, .number = 1};

        for (int c; (c = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
                if (c == 'h')
                        o.hours = strtod(optarg, NULL);
                else if (c == 'r')
                        o.repeat = (unsigned)atoi(optarg);
                else if (c == 'n')
                        o.number = strtoull(optarg, NULL, 10);
                else if (c == 'k')
                        o.kind = optarg;
                else if (c == 's')
                        o.strategy = optarg;
                else if (c == 'j')
                        o.threads = (unsigned)atoi(optarg);
                else if (c == 'p')
                        o.svg = optarg;
                else
                        return 2;
        }
        if (!(o.hours > 0) || o.repeat < 1 || o.repeat > REPEAT_MOST || o.threads < 1 || o.threads > 64)
                return 2;
        return search(&o);
}
