/* solverfs fuzz --repeat: strategies side by side, each in campaigns of its own (SPRFinder's Table 2, Figs. 2 and 3).
 *
 * The campaigns take turns, a part of their time each, so that whatever else the machine does meets all of them alike. They are ordinary ones,
 * NAME-STRATEGY-NUMBER: they show up in the mount, and the same command goes on with those that are not at their end. */
#include "cmd_fuzz.h"

#include "core/study/campaign/campaign_compare.h"

#define PARTS       5
#define SEED_STRIDE 10 /* between repetitions: more than there are strategies */

static int name_of(const struct fuzzing *f, size_t strategy, unsigned k, char **ret)
{
        const char *name = f->command.settings.name ? f->command.settings.name : "compare";

        return asprintf(ret, "%s-%s-%u", name, strategy_name(f->strategies[strategy]), k + 1) < 0 ? -ENOMEM : 0;
}

/* Until `part` of PARTS of its time are used. */
static int run_one(const struct fuzzing *f, const struct campaign_watch *watch, size_t strategy, unsigned k, unsigned part)
{
        struct campaign_settings settings = f->command.settings; /* borrowed, but for the name */
        int r = name_of(f, strategy, k, &settings.name);

        if (r < 0)
                return r;
        settings.strategy = f->strategies[strategy];
        settings.seed = f->command.settings.seed + (uint64_t)SEED_STRIDE * k + strategy;
        settings.seconds = f->command.settings.seconds * part / PARTS;
        settings.reduce_seconds = 0; /* what is compared is what they find */
        r = campaign_run(common.workspace, common.engine, common.solver, &settings, watch, common.signals);
        free(settings.name);
        return r;
}

static int run_all(const struct fuzzing *f, const struct campaign_watch *watch)
{
        int r = 0;

        for (unsigned k = 0; r == 0 && k < f->repeat; k++)
                for (unsigned part = 1; r == 0 && part <= PARTS; part++)
                        for (size_t i = 0; r == 0 && i < f->n_strategies; i++)
                                r = run_one(f, watch, i, k, part);
        return r;
}

/* -- what they found -- */

struct outcome_of {
        struct campaign_curve *curves; /* owned; of each repetition that began */
        size_t n;
        double worked; /* seconds, together */
        bool has_history;
};

static int read_outcome(const struct fuzzing *f, size_t strategy, struct outcome_of *ret)
{
        ret->curves = calloc(f->repeat, sizeof(*ret->curves));
        if (!ret->curves)
                return -ENOMEM;
        for (unsigned k = 0; k < f->repeat; k++) {
                cleanup_free char *name = NULL;
                int r = name_of(f, strategy, k, &name);

                if (r == 0)
                        r = campaign_curve_read(common.workspace, common.solver, name, &ret->curves[ret->n]);
                if (r == -ENOENT)
                        continue;
                if (r < 0)
                        return r;
                ret->worked += ret->curves[ret->n].worked;
                ret->has_history |= ret->curves[ret->n++].has_history;
        }
        return 0;
}

static void outcome_done(struct outcome_of *o)
{
        for (size_t i = 0; i < o->n; i++)
                campaign_curve_done(&o->curves[i]);
        free(o->curves);
}

static const struct column columns[] = {
        {"STRATEGY", 18, false}, {"CAMPAIGNS", 9, true}, {"FINDS-MIN", 9, true},     {"FINDS-MAX", 9, true},     {"FINDS-AVG", 9, true},
        {"PER-HOUR", 8, true},   {"CULPRITS-MIN", 12, true}, {"CULPRITS-MAX", 12, true}, {"CULPRITS-AVG", 12, true}};

static void show_row(const struct fuzzing *f, size_t strategy, const struct outcome_of *o)
{
        struct campaign_spread finds = campaign_spread_finds(o->curves, o->n), culprits = campaign_spread_culprits(o->curves, o->n);
        double hourly = o->worked > 0 ? finds.mean * (double)o->n / o->worked * 3600 : 0;
        const char *name = strategy_name(f->strategies[strategy]);
        char of_culprits[96] = "-\t-\t-";

        if (f->command.json) {
                output_json(json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "strategy", name, "campaigns",
                                      (json_int_t)o->n, "seconds", o->worked, "finds-min", finds.least, "finds-max", finds.most,
                                      "finds-avg", finds.mean, "finds-per-hour", hourly, "culprits-min",
                                      o->has_history ? json_real(culprits.least) : json_null(), "culprits-max",
                                      o->has_history ? json_real(culprits.most) : json_null(), "culprits-avg",
                                      o->has_history ? json_real(culprits.mean) : json_null()));
                return;
        }
        if (o->has_history)
                snprintf(of_culprits, sizeof(of_culprits), "%.0f\t%.0f\t%.1f", culprits.least, culprits.most, culprits.mean);
        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%zu\t%.0f\t%.0f\t%.1f\t%.1f\t%s", name, o->n, finds.least, finds.most, finds.mean,
                    hourly, of_culprits);
}

static int write_picture(const struct fuzzing *f, const struct outcome_of *outcomes, bool culprits)
{
        cleanup_plot struct plot *plot = plot_new(culprits ? "Distinct culprits found" : "Slowdowns found", 0, 0);
        cleanup_buffer struct buffer svg = {0};
        char path[PATH_SIZE], note_text[80];
        int r;

        plot_axis_x(plot, f->command.settings.cpu_time ? "CPU time of the solvers" : "time", PLOT_DURATION);
        plot_axis_y(plot, culprits ? "distinct culprits (mean)" : "slowdowns (mean)", PLOT_LINEAR);
        for (size_t i = 0; i < f->n_strategies; i++)
                if (outcomes[i].n > 0)
                        campaign_curve_plot(outcomes[i].curves, outcomes[i].n, f->command.settings.seconds, culprits,
                                            plot_series(plot, PLOT_STEP, strategy_name(f->strategies[i])));
        snprintf(note_text, sizeof(note_text), "the mean of %u campaign%s of each strategy", f->repeat, f->repeat == 1 ? "" : "s");
        plot_note(plot, note_text);
        r = plot_write(plot, &svg);
        if (r == 0 && snprintf(path, sizeof(path), "%s-%s.svg", f->pictures, culprits ? "culprits" : "finds") >= PATH_SIZE)
                r = -ENAMETOOLONG;
        return command_write_file(r == -ENAMETOOLONG ? f->pictures : path, r, &svg);
}

static int show(const struct fuzzing *f)
{
        struct outcome_of outcomes[N_STRATEGIES] = {0};
        bool has_history = false;
        int r = 0;

        for (size_t i = 0; r == 0 && i < f->n_strategies; i++) {
                r = read_outcome(f, i, &outcomes[i]);
                has_history |= outcomes[i].has_history;
                if (r == 0 && outcomes[i].n > 0)
                        show_row(f, i, &outcomes[i]);
        }
        if (r == 0 && f->pictures)
                r = write_picture(f, outcomes, false);
        if (r == 0 && f->pictures && has_history)
                r = write_picture(f, outcomes, true);
        for (size_t i = 0; i < f->n_strategies; i++)
                outcome_done(&outcomes[i]);
        return r;
}

int fuzz_compare(struct campaign_command *c, const struct campaign_watch *watch)
{
        const struct fuzzing *f = (const struct fuzzing *)c;
        int r = run_all(f, watch), k;

        progress_clear();
        if (r < 0 && r != -ECANCELED)
                return r;
        k = show(f);
        return k < 0 ? k : r;
}
