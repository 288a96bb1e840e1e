/* solverfs noise: how much versions vary on cases, and the threshold to give a campaign. */
#include "tools/ask.h"

#include <math.h>

#include "core/report/plot.h"
#include "core/study/base/noise.h"
#include "tools/words.h"

struct noisy {
        /* options */
        const char *svg, *on;
        unsigned runs;
        uint64_t timeout;

        struct revisions revisions;
        struct case_selection cases;
        double *seconds; /* [revisions][cases][runs] */
        bool *decided;   /* the same; the run gave sat or unsat */
        bool *answered;  /* the same; the run was done */
        int *builds;     /* [revisions] 0; -ENODATA: cannot be built; another -errno: was not built */
        bool *has_told;  /* [revisions][cases] a wrong answer was reported */
        bool has_failed; /* an error was complained about: the first alone is */
};

/* -- measuring -- */

/* Item i is the build of version i. If runs are done elsewhere, the last item is the machine under which samples are kept. */
static int make_before(void *user, size_t i, struct query **ret)
{
        struct noisy *o = user;

        return i == o->revisions.n ? query_machine(common.solver->pool, ret) : query_build(common.workspace, common.solver, o->revisions.list[i], ret);
}

/* Complains of the first error. That a version cannot be built (-ENODATA) is said by show_all(). */
static void note_error(struct noisy *o, int r, const char *reason)
{
        if (r == -ECANCELED || r == -ENODATA)
                return;
        command_worse(status_of_value(r));
        if (o->has_failed)
                return;
        complain("%s", reason);
        o->has_failed = true;
}

static void before_answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct noisy *o = user;

        if (i < o->revisions.n)
                o->builds[i] = r < 0 ? r : ((struct build_value *)v)->record->ok ? 0 : -ENODATA;
        if (r < 0)
                note_error(o, r, reason);
}

static struct cell cell_of(const struct noisy *o, size_t i)
{
        return (struct cell){.solver = common.solver, .commit = o->revisions.list[i / (o->cases.n * o->runs)],
                             .info = o->cases.list[i / o->runs % o->cases.n], .wall_ns = o->timeout};
}

static int make_sample(void *user, size_t i, struct query **ret)
{
        struct noisy *o = user;
        size_t revision = i / (o->cases.n * o->runs);
        struct cell cell = cell_of(o, i);

        return o->builds[revision] < 0 ? -ENODATA : query_sample(common.workspace, &cell, (uint32_t)(i % o->runs) + 1, ret);
}

static void sample_answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct noisy *o = user;
        const struct fact *f = r == 0 ? ((struct run_value *)v)->fact : NULL;

        if (r < 0)
                note_error(o, r, reason);
        if (!f)
                return;
        o->seconds[i] = (double)f->wall_ns / 1e9;
        o->decided[i] = verdict_is_decided(f->verdict);
        o->answered[i] = true;
        if (f->wrong && !o->has_told[i / o->runs]) {
                struct cell cell = cell_of(o, i);

                command_tell_wrong(&cell, f);
                o->has_told[i / o->runs] = true;
        }
}

static void measure(struct noisy *o)
{
        const size_t n = o->revisions.n * o->cases.n * o->runs, n_before = o->revisions.n + (common.solver->pool != NULL);

        o->seconds = allocate(n, sizeof(*o->seconds));
        o->decided = allocate(n, sizeof(*o->decided));
        o->answered = allocate(n, sizeof(*o->answered));
        o->has_told = allocate(o->revisions.n * o->cases.n, sizeof(*o->has_told));
        o->builds = allocate(o->revisions.n, sizeof(*o->builds));
        command_ask(&(struct command_batch){.n = n_before, .title = "build", .make = make_before, .answered = before_answered, .user = o});
        command_ask(&(struct command_batch){.n = n, .title = "noise", .make = make_sample, .answered = sample_answered, .user = o});
}

/* -- showing -- */

/* How much the runs of a case differ. False: one of them failed, so that the case is left out. */
static bool case_noise(const struct noisy *o, size_t revision, size_t c, struct noise_case *ret)
{
        size_t at = (revision * o->cases.n + c) * o->runs;

        if (memchr(o->answered + at, false, o->runs))
                return false;
        *ret = noise_of(o->seconds + at, o->decided + at, o->runs);
        return true;
}

/* The noise of all cases together. */
static struct noise version_noise(const struct noisy *o, size_t revision)
{
        struct noise sum = {0};
        struct noise_case one;

        for (size_t c = 0; c < o->cases.n; c++)
                if (case_noise(o, revision, c, &one))
                        noise_add(&sum, &one);
        return sum;
}

static json_t *samples_json(const struct noisy *o, size_t revision)
{
        json_t *cases = json_array();

        for (size_t c = 0; c < o->cases.n; c++) {
                json_t *seconds = json_array();

                for (size_t i = (revision * o->cases.n + c) * o->runs, k = 0; k < o->runs; k++)
                        json_array_append_new(seconds, json_number(o->answered[i + k] ? o->seconds[i + k] : NAN));
                json_array_append_new(cases, json_pack("{si so}", "case", (int)o->cases.list[c]->id, "seconds", seconds));
        }
        return cases;
}

static void show(const struct noisy *o, size_t revision)
{
        static const struct column columns[] = {{"COMMIT", 12},              {"CASES", 6, true},         {"RUNS", 4, true},
                                                {"AVG-TIME (s)", 12, true},  {"AVG-DIFF (s)", 12, true, 1}, {"MAX-DIFF (s)", 12, true},
                                                {"THRESHOLD (s)", 13, true}, {"UNDECIDED", 9, true, 2},  {"MIXED", 5, true, 3}, {0}};
        const struct noise sum = version_noise(o, revision);
        const uint32_t commit = o->revisions.list[revision];
        const double threshold = noise_threshold(&sum);
        const size_t left_out = o->cases.n - sum.cases - sum.undecided;
        cleanup_free char *more_than = isnan(threshold) ? NULL : format_string("%.6g", threshold);

        output_object(columns, json_pack("{ss ss sI sI sf sf sf so ss* sI sI so}", "commit", full_sha(common.solver, commit).s, ".commit",
                                         commit_label(common.solver, commit).s, "cases", (json_int_t)sum.cases, "runs", (json_int_t)o->runs, "avg-time",
                                         sum.mean, "avg-diff", sum.mean_difference, "max-diff", sum.most_difference, "threshold", json_number(threshold),
                                         ".threshold", more_than, "undecided", (json_int_t)sum.undecided, "mixed", (json_int_t)sum.mixed, "samples",
                                         common.json ? samples_json(o, revision) : json_null()));
        if (left_out > 0)
                note("%s: %zu case%s left out, as a run failed", commit_label(common.solver, commit).s, left_out, plural(left_out));
        if (!isnan(threshold) && o->revisions.n == 1 && !common.json)
                note("a slowdown of more than %gs is no noise here: --threshold %gs", threshold, threshold);
}

static void plot_version(const struct noisy *o, size_t revision, struct plot *p)
{
        const struct commit_label name = commit_label(common.solver, o->revisions.list[revision]);
        struct plot_series *s;

        s = plot_series(p, PLOT_SCATTER, name.s);
        for (size_t c = 0; c < o->cases.n; c++) {
                cleanup_buffer struct buffer tooltip = {0};
                struct noise_case one;

                if (!case_noise(o, revision, c, &one) || !one.is_decided)
                        continue;
                buffer_add_printable(&tooltip, o->cases.list[c]->name);
                buffer_addf(&tooltip, " at %s: %.3g s, runs differ by %.3g s%s", name.s, one.mean, one.difference,
                            one.is_mixed ? "; not all of them decided it" : "");
                plot_point(s, one.mean, one.difference, tooltip.data);
        }
}

/* Draws a point for each case and version: its mean time and the spread of its runs. */
static void write_picture(const struct noisy *o)
{
        cleanup_buffer struct buffer svg = {0};
        cleanup_plot struct plot *p = NULL;
        double threshold = NAN; /* for all versions */
        char text[PATH_SIZE];

        snprintf(text, sizeof(text), "%s: how much runs of the same version differ", common.solver->recipe->name);
        p = plot_new(text, 0, 0);
        plot_axis_x(p, "a case's mean time, seconds", PLOT_LOG);
        plot_axis_y(p, "slowest run less the fastest, seconds", PLOT_LOG);
        for (size_t i = 0; i < o->revisions.n; i++) {
                struct noise sum = version_noise(o, i);

                threshold = fmax(threshold, noise_threshold(&sum)); /* fmax() ignores NaN */
                plot_version(o, i, p);
        }
        if (!isnan(threshold)) {
                snprintf(text, sizeof(text), "threshold %gs", threshold);
                plot_rule_y(p, threshold, text, "a slowdown above this is no noise");
        }
        snprintf(text, sizeof(text), "%zu case%s, %u runs of each", o->cases.n, plural(o->cases.n), o->runs);
        plot_note(p, text);
        plot_write(p, &svg);
        command_write_file(o->svg, &svg);
}

static void show_all(struct noisy *o)
{
        const char *name = common.solver->recipe->name;

        for (size_t i = 0; i < o->revisions.n; i++) {
                const struct commit_label label = commit_label(common.solver, o->revisions.list[i]);

                if (o->builds[i] == 0)
                        show(o, i);
                if (o->builds[i] != -ENODATA)
                        continue;
                complain("%s cannot be built at %s; 'solverfs build %s %s' shows why", name, label.s, name, label.s);
                command_worse(STATUS_FAILED);
        }
        if (o->svg)
                write_picture(o);
}

void cmd_noise(int argc, char **argv)
{
        static const char doc[] =
                "Run the same version (HEAD, unless one is named) on the same cases ten times, and print how much the times differ. Prints for "
                "each commit: commit, cases that "
                "were decided, runs of each, mean time, mean difference between a case's slowest run and its fastest, the largest such difference, "
                "the threshold that follows for campaigns (twice that, 0.1 s at least), cases that no run decided, cases that some runs decided and "
                "others did not.\v"
                "Samples are kept: repeat the command to continue after an interruption, or to print the results again. "
                "The exit status is 1 when an answer is wrong.\n\n"
                "  solverfs noise z3 z3-4.8.7 z3-4.8.9 --set strings --timeout 20s";
        static struct noisy o = {.runs = 10};
        static char head[] = "HEAD";
        struct words words, sets = {0}, all = {0};
        size_t n_revisions;
        const struct command_option options[] = {
                {"set", 'S', "SET", "Also the cases of this set", .each = &sets},
                {"runs", 'n', "N", "Run each case N times; default 10", .number = &o.runs, .least = 2, .most = 1000},
                OPTION_TIMEOUT(o.timeout),
                OPTION_ON(o.on),
                OPTION_JSON("Print a JSON object for each commit, with all samples"),
                {"svg", 0, "FILE", "Write a picture: each case's mean time and the spread of its runs", .file = &o.svg},
                {0}};

        words = command_parse(argc, argv, "SOLVER [REV...] CASE...\n'exec:PATH ARG...'... CASE...", doc, options);
        if (words.n == 0 || words.n + sets.n < 2)
                command_usage("expected SOLVER [REV...] CASE..., or SOLVER [REV...] --set SET");
        command_signals();
        command_open_versions(o.on, &words);
        if (words.n == 0 || words.n + sets.n == 1 || command_begins_with_case(words.list, words.n)) /* no revision: HEAD */
                words_add(&all, head);
        while (words.n > 0)
                words_add(&all, word_next(&words));
        for (size_t i = 0; i < sets.n; i++) /* the last words name cases, and so does a set */
                words_add(&all, sets.list[i]);
        n_revisions = command_revisions_and_cases(all.list, all.n, &o.revisions, &o.cases);
        command_keep_format(common.solver, all.list + n_revisions, all.n - n_revisions, &o.cases);
        free(all.list);
        free(sets.list);
        measure(&o);
        show_all(&o);
}
