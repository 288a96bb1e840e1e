/* Distinct causes found by each strategy for so many solver runs, on a solver with planted causes (tests/support/planted.h).
 *
 *     strategies [--runs 1000] [--repeat 5] [--svg FILE]
 *
 * A run is one version on one input. Every run of the search counts; those of a confirmation and of a localization are the same for all, and do
 * not. A find's cause is that of the newest of the commits that make it slow, as a localization would say, and is told to the strategy. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "core/report/plot.h"
#include "core/study/base/stat.h"
#include "tests/support/planted.h"
#include "tests/support/strategies.h"

#define THRESHOLD 10.0
#define TIMEOUT   20.0

struct result {
        unsigned causes, finds;
        uint64_t runs;
        double solving;  /* simulated seconds */
        double deciding; /* CPU seconds of ours */
        unsigned *curve; /* causes after so many runs */
};

static double cpu_now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_versions(struct strategy *s, uint64_t id, struct script *script, uint64_t runs, struct result *ret)
{
        unsigned version;
        double seconds;

        while (ret->runs < runs && strategy_step(s, id, &version, &seconds)) {
                double t = planted_seconds(script, version == 0 ? 0 : PLANTED_CAUSES, TIMEOUT);
                struct outcome outcome = {.seconds = fmin(t, seconds), .verdict = t >= seconds ? VERDICT_TIMEOUT : VERDICT_SAT};

                ret->solving += outcome.seconds;
                ret->runs++;
                strategy_ran(s, id, version, &outcome);
        }
}

/* Is the candidate a find? `found` has a bit for each cause. */
static void confirm(struct strategy *s, uint64_t id, struct script *script, struct result *ret, uint64_t *found)
{
        uint64_t of = planted_causes(script);
        unsigned cause = of ? 63 - (unsigned)__builtin_clzll(of) : 0;
        bool is_find = of && planted_seconds(script, PLANTED_CAUSES, TIMEOUT) - planted_seconds(script, 0, TIMEOUT) > THRESHOLD;

        ret->finds += is_find;
        if (is_find)
                *found |= UINT64_C(1) << cause;
        strategy_confirmed(s, id, is_find, is_find ? cause + 1 : 0);
}

static int campaign(enum strategy_kind kind, uint64_t seed, uint64_t runs, struct result *ret)
{
        cleanup_strategy struct strategy *s = NULL;
        struct strategy_options o = strategy_defaults;
        uint64_t found = 0;
        double begin;
        int r;

        o.rows = strategy_rows_of(kind);
        o.timeout = TIMEOUT;
        o.threshold = THRESHOLD;
        o.seed = seed;
        strategies_window = 60;
        *ret = (struct result){.curve = calloc(runs + 1, sizeof(unsigned))};
        r = strategy_new(&o, &s);
        while (r == 0 && ret->runs < runs) {
                struct strategy_input input;
                struct script *script = NULL;
                double score;
                uint64_t before = ret->runs;

                begin = cpu_now();
                strategies_now = ret->solving;
                r = strategy_next(s, &input);
                ret->deciding += cpu_now() - begin;
                if (r < 0)
                        break;
                r = script_read(input.text, NULL, &script);
                if (r < 0)
                        break;
                run_versions(s, input.id, script, runs, ret);
                begin = cpu_now();
                strategies_now = ret->solving;
                if (strategy_finish(s, input.id, &score))
                        confirm(s, input.id, script, ret, &found);
                ret->deciding += cpu_now() - begin;
                for (uint64_t i = before; i <= ret->runs; i++)
                        ret->curve[i] = (unsigned)__builtin_popcountll(found);
                script_free(script);
        }
        ret->causes = (unsigned)__builtin_popcountll(found);
        if (r < 0)
                fprintf(stderr, "%s: %s\n", strategy_name(kind), error_message(r));
        return r;
}

static void compare(enum strategy_kind kind, uint64_t runs, unsigned repeat, struct plot *plot, double *ret_mean)
{
        double causes = 0, finds = 0, solving = 0, deciding = 0, least = INFINITY, most = 0;
        struct plot_series *series = plot_series(plot, PLOT_STEP, strategy_name(kind));
        double *mean = calloc(runs + 1, sizeof(double));

        for (unsigned i = 0; i < repeat; i++) {
                struct result result;

                campaign(kind, 100 + i, runs, &result);
                causes += result.causes;
                finds += result.finds;
                solving += result.solving;
                deciding += result.deciding;
                least = fmin(least, result.causes);
                most = fmax(most, result.causes);
                for (uint64_t k = 0; mean && k <= runs; k++)
                        mean[k] += (double)result.curve[k] / repeat;
                free(result.curve);
        }
        for (uint64_t k = 0; mean && k <= runs; k += 10)
                plot_point(series, (double)k, mean[k], NULL);
        free(mean);
        printf("%-18s %8.1f %6.0f %6.0f %8.1f %12.0f %10.3f%%\n", strategy_name(kind), causes / repeat, least, most,
               finds / repeat, solving / repeat, 100 * deciding / solving);
        *ret_mean = causes / repeat;
}

int main(int argc, char **argv)
{
        static const struct option options[] = {{"runs", required_argument, NULL, 'n'},
                                                {"repeat", required_argument, NULL, 'r'},
                                                {"svg", required_argument, NULL, 's'},
                                                {0}};
        cleanup_plot struct plot *plot = plot_new("Distinct causes found", 0, 0);
        const char *svg = NULL;
        uint64_t runs = 1000;
        unsigned repeat = 5;
        double means[N_STRATEGIES];

        for (int c; (c = getopt_long(argc, argv, "n:r:s:", options, NULL)) != -1;) {
                if (c == 'n')
                        runs = strtoull(optarg, NULL, 10);
                else if (c == 'r')
                        repeat = (unsigned)atoi(optarg);
                else if (c == 's')
                        svg = optarg;
                else
                        return 2;
        }
        plot_axis_x(plot, "solver runs", PLOT_LINEAR);
        plot_axis_y(plot, "distinct causes (mean)", PLOT_LINEAR);
        printf("%d planted causes, %" PRIu64 " runs, %u repetitions\n", PLANTED_CAUSES, runs, repeat);
        printf("%-18s %8s %6s %6s %8s %12s %11s\n", "strategy", "causes", "least", "most", "finds", "solving (s)", "deciding");
        for (int k = 0; k < N_STRATEGIES; k++)
                compare((enum strategy_kind)k, runs, repeat, plot, &means[k]);
        printf("solverfs / sprfinder: %.2f\n", means[STRATEGY_SOLVERFS] / means[STRATEGY_SPRFINDER]);
        if (svg) {
                cleanup_buffer struct buffer out = {0};

                if (plot_write(plot, &out) < 0 || write_file_atomic(svg, out.data, out.size, 0644) < 0)
                        return 1;
        }
        return 0;
}
