/* The localizer against the history that tests/study/synthetic.h makes up: what it finds, and what it costs beside the baselines.
 *
 *     localize [--rounds N]       (meson test --benchmark localize)
 *     localize --svg FILE         draws cases localized over hours of building, by method
 *
 * Every figure is the mean over N histories (5 unless given); the seeds are 1 … N. */
#include <getopt.h>
#include <math.h>

#include "core/report/plot.h"
#include "tests/study/halves.h"
#include "tests/study/synthetic.h"

enum {
        DEFAULT, /* in localize_methods */
        PAPER,
        GIT_BISECT
};

static unsigned rounds = 5;

static void add(struct synthetic_score *sum, const struct synthetic_score *s)
{
        sum->builds += s->builds;
        sum->failed_builds += s->failed_builds;
        sum->searched_builds += s->searched_builds;
        sum->build_seconds += s->build_seconds;
        sum->runs += s->runs;
        sum->verify_runs += s->verify_runs;
        sum->case_builds += s->case_builds;
        sum->case_build_seconds += s->case_build_seconds;
        sum->plans += s->plans;
        sum->reported += s->reported;
        sum->right += s->right;
        sum->true_culprits += s->true_culprits;
        sum->found += s->found;
        sum->cases += s->cases;
        sum->exact += s->exact;
        sum->noise_only += s->noise_only;
        sum->noise_said += s->noise_said;
        sum->sets += s->sets;
        sum->set_commits += s->set_commits;
        sum->wrong_sets += s->wrong_sets;
        sum->open += s->open;
        sum->undecided += s->undecided;
        free(s->done);
}

static struct synthetic_score measure(struct synthetic_options options, int method, unsigned seeds)
{
        struct synthetic_score sum = {0};

        for (unsigned i = 0; i < seeds; i++) {
                struct synthetic s;
                struct synthetic_score score;

                options.seed = i + 1;
                synthetic_make(&s, &options);
                synthetic_search(&s, &(struct localize_options){.plan = localize_methods[method].plan}, &score);
                add(&sum, &score);
                synthetic_done(&s);
        }
        return sum;
}

static double percent(size_t part, size_t whole)
{
        return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

static void print_row(const char *what, int method, const struct synthetic_score *s)
{
        bool alone = method == GIT_BISECT;

        printf("%-34s %-10s %6.1f %6.1f %6.1f %8.0f %8.1f %6.1f %6.1f", what, localize_methods[method].name, percent(s->right, s->reported),
               percent(s->found, s->true_culprits), percent(s->noise_said, s->noise_only),
               (double)(alone ? s->case_builds : s->builds) / rounds,
               (alone ? s->case_build_seconds : s->build_seconds) / rounds / 3600, (double)s->runs / (double)s->cases,
               (double)s->verify_runs / (double)s->cases);
        printf(" %5zu/%-5.1f %3zu %3zu\n", s->sets / rounds, s->sets > 0 ? (double)s->set_commits / (double)s->sets : 0,
               s->wrong_sets, s->open + s->undecided);
        fflush(stdout);
}

static void print_head(void)
{
        printf("%-34s %-10s %6s %6s %6s %8s %8s %6s %6s %11s %3s %3s\n", "history", "method", "prec%", "rec%", "none%", "builds",
               "hours", "runs", "verify", "sets/size", "bad", "und");
}

static void accuracy(void)
{
        printf("\n1000 commits x 200 cases, merges, unbuildable stretches, several and undone culprits, 20 cases of noise "
               "alone\n");
        print_head();
        for (size_t k = 0; k < 3; k++) {
                for (size_t n = 0; n < 3; n++) {
                        const size_t culprits = (const size_t[]){10, 20, 50}[k];
                        const double lies = (const double[]){0, 0.05, 0.2}[n];
                        char name[64];

                        snprintf(name, sizeof(name), "%zu culprits, %.0f %% lies", culprits, 100 * lies);
                        for (int method = 0; method < 3; method++) {
                                struct synthetic_score s = measure((struct synthetic_options){.commits = 1000,
                                                                                              .cases = 200,
                                                                                              .culprits = culprits,
                                                                                              .lies = lies,
                                                                                              .spread = 0.05,
                                                                                              .noise_only = 20,
                                                                                              .merges = true,
                                                                                              .unbuildable = true,
                                                                                              .shapes = true},
                                                                   method, rounds);
                                print_row(name, method, &s);
                        }
                }
        }
}

static void builds(void)
{
        printf("\n1000 commits x 200 cases in one line, one culprit each: builds against shared midpoints (paper), runs against "
               "bisection\n");
        print_head();
        for (size_t anchors = 0; anchors <= 30; anchors += 30) {
                for (size_t k = 0; k < 3; k++) {
                        for (size_t n = 0; n < 3; n++) {
                                const size_t culprits = (const size_t[]){10, 20, 50}[k];
                                const double lies = (const double[]){0, 0.05, 0.2}[n];
                                struct synthetic_options options = {
                                        .commits = 1000, .cases = 200, .culprits = culprits, .spread = 0.05, .anchors = anchors};
                                struct synthetic_score paper = measure(options, PAPER, rounds), bisect, ours;
                                char name[64];

                                snprintf(name, sizeof(name), "%s, %zu culprits, %.0f %% lies",
                                         anchors ? "30 anchors" : "one pair", culprits, 100 * lies);
                                bisect = measure(options, GIT_BISECT, rounds);
                                options.lies = lies;
                                ours = measure(options, DEFAULT, rounds);
                                if (n == 0)
                                        print_row(name, PAPER, &paper);
                                if (n == 0)
                                        print_row(name, GIT_BISECT, &bisect);
                                print_row(name, DEFAULT, &ours);
                                printf("%-34s builds %.2f x shared midpoints (their hours: %.2f x), 1/%.1f of bisection alone; "
                                       "runs %.2f x bisection\n",
                                       "", (double)ours.builds / (double)paper.builds, ours.build_seconds / paper.build_seconds,
                                       (double)bisect.case_builds / (double)ours.builds, (double)ours.runs / (double)bisect.runs);
                        }
                }
        }
}

/* One case, 128 commits, as git-bayesect was measured: runs, distinct builds and how often the culprit is the one. */
static void single(void)
{
        const unsigned seeds = 40 * rounds;

        printf("\n128 commits, one case, %u histories\n%-10s %8s %8s %8s %14s %14s\n", seeds, "lies", "runs", "verify", "builds",
               "with the ends", "accuracy %");
        for (size_t k = 0; k < 4; k++) {
                const double lies = (const double[]){0, 0.01, 0.1, 0.2}[k];
                struct synthetic_score s = measure(
                        (struct synthetic_options){.commits = 128, .cases = 1, .culprits = 1, .lies = lies, .spread = 0.05},
                        DEFAULT, seeds);

                printf("%-10.0f %8.1f %8.1f %8.2f %14.2f %14.1f\n", 100 * lies, (double)s.runs / seeds,
                       (double)s.verify_runs / seeds, (double)s.searched_builds / seeds, (double)s.builds / seeds,
                       percent(s.exact, s.cases));
                fflush(stdout);
        }
}

/* Times that vary over commits and seeds by a factor of e and more: a chaotic solver's. */
static void chaos(void)
{
        printf("\n1000 commits x 200 cases in one line, 20 culprits, 20 cases without one; sigma: deviation of the logarithm of a time over commits and seeds\n");
        print_head();
        for (size_t k = 0; k < 3; k++) {
                const double sigma = (const double[]){0.05, 0.5, 1}[k];

                for (int method = 0; method < 3; method++) {
                        struct synthetic_score s = measure(
                                (struct synthetic_options){.commits = 1000, .cases = 200, .culprits = 20, .spread = sigma, .noise_only = 20}, method, rounds);
                        char name[64];

                        snprintf(name, sizeof(name), "sigma %.2g", sigma);
                        print_row(name, method, &s);
                }
        }
}

/* Cases localized over build time, the paper's Fig. 6. */
static int graph(const char *path)
{
        cleanup_plot struct plot *p = plot_new("Cases localized over build time", 0, 0);
        cleanup_buffer struct buffer out = {0};
        struct synthetic s;

        synthetic_make(&s, &(struct synthetic_options){.commits = 1000,
                                                       .cases = 200,
                                                       .culprits = 20,
                                                       .lies = 0.05,
                                                       .spread = 0.05,
                                                       .merges = true,
                                                       .unbuildable = true,
                                                       .shapes = true,
                                                       .seed = 1});
        plot_axis_x(p, "hours of building", PLOT_LOG);
        plot_axis_y(p, "cases localized", PLOT_LINEAR);
        plot_note(p, "synthetic history: 1000 commits, 200 cases, 20 culprits, 5 % of the runs show the wrong end");
        for (int method = 0; method < 3; method++) {
                struct plot_series *series;
                struct synthetic_score score;
                char name[64];

                synthetic_search(&s, &(struct localize_options){.plan = localize_methods[method].plan}, &score);
                snprintf(name, sizeof(name), "%s (%.0f %% right)", localize_methods[method].name, percent(score.exact, score.cases));
                series = plot_series(p, PLOT_STEP, name);
                for (size_t i = 0; i < score.n_done; i++)
                        if (score.done[i][0] > 0)
                                plot_point(series, score.done[i][0] / 3600, score.done[i][1], NULL);
                free(score.done);
        }
        synthetic_done(&s);
        plot_write(p, &out);
        return write_file_atomic(path, out.data, out.size, 0644);
}

static void measure_all(void)
{
        single();
        chaos();
        builds();
        accuracy();
}

int main(int argc, char *argv[])
{
        static const struct option options[] = {
                {"rounds", required_argument, NULL, 'r'}, {"svg", required_argument, NULL, 's'}, {0}};
        const char *svg = NULL;
        int c, r = 0;

        while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
                if (c == 'r' && atoi(optarg) > 0) {
                        rounds = (unsigned)atoi(optarg);
                } else if (c == 's') {
                        svg = optarg;
                } else {
                        fprintf(stderr, "usage: localize [--rounds N | --svg FILE]\n");
                        return 2;
                }
        }
        if (svg)
                r = graph(svg);
        else
                measure_all();
        if (r < 0)
                fprintf(stderr, "%s: %s\n", svg, error_message(r));
        return r < 0;
}
