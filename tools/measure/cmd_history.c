/* solverfs history, steps: cases measured along a history, coarse to fine; where they became slower and faster. */
#include "tools/ask.h"
#include "core/run/cell_file.h"
#include "core/study/judge/judge.h"
#include "core/study/steps/case_history.h"
#include "core/study/steps/history_plan.h"
#include "tools/words.h"

#define GRID   9 /* commits that --bisecting begins with */
#define SHAPES 5

/* A cell to be measured. */
struct want {
        size_t at, test; /* indexes of the line and of the cases */
        unsigned seed;   /* 0: the cell itself */
};

struct recording {
        /* options */
        const char *solver_name, *machine_name, *from, *to, *svg, *on;
        struct words words; /* CASE... */
        bool known; /* measure nothing */
        enum judge_measure measure;
        uint64_t step; /* 0: bisecting */
        uint64_t seeds;
        struct cell cell; /* seed, limit and machine of all */

        struct case_selection cases;
        struct revisions line;       /* oldest first */
        struct history_cell **cells; /* [cases][line] */
        bool *is_told;               /* [line] already reported as unbuildable, or not started */
        struct want *wants;          /* of this round */
        size_t n_wants;
        unsigned round;
};

static struct cell cell_of(const struct recording *o, size_t at, size_t test)
{
        struct cell cell = o->cell;

        cell.commit = o->line.list[at];
        cell.info = o->cases.list[test];
        return cell;
}

/* -- asking ------------------------------------------------------------------------------------------------------- */

static int make(void *user, size_t i, struct query **ret)
{
        struct recording *o = user;
        struct cell cell = cell_of(o, o->wants[i].at, o->wants[i].test);
        uint32_t sample = cell_draw(&cell, o->wants[i].seed);

        return query_sample(common.workspace, &cell, sample, ret);
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *)
{
        struct recording *o = user;
        const struct run_value *run = (const struct run_value *)v;
        struct want w = o->wants[i];
        struct cell cell = cell_of(o, w.at, w.test);
        struct history_cell *c = &o->cells[w.test][w.at];

        cell_draw(&cell, w.seed);
        if (r < 0) {
                complain("%s %.12s on case %u: %s", o->solver_name, full_sha(common.solver, cell.commit).s, cell.info->id, reason);
                command_worse(status_of_value(r));
                return;
        }
        if (w.seed == 0)
                c->seen = run->fact ? HISTORY_MEASURED : HISTORY_UNBUILDABLE;
        if (w.seed == 0 && run->fact)
                c->outcome = fact_outcome(&cell, run->fact, o->measure);
        if (!run->fact)
                command_tell_unbuildable(note, cell.solver, cell.commit, run->build, &o->is_told[w.at]);
        else if (run->fact->wrong)
                command_tell_wrong(&cell, run->fact);
        else
                command_tell_not_started(note, cell.solver, cell.commit, run->fact, &o->is_told[w.at]);
}

static void add_want(struct recording *o, size_t at, size_t test, unsigned seed)
{
        list_add(o->wants, o->n_wants, (struct want){at, test, seed});
}

static int compare_wants(const void *a, const void *b)
{
        const struct want *x = a, *y = b;

        return ORDER(x->at, y->at) ?: ORDER(x->test, y->test);
}

/* Wants, for each case, the commits in the middle between two that differ. */
static void plan_halves(struct recording *o)
{
        for (size_t test = 0; test < o->cases.n; test++) {
                cleanup_free size_t *middles = NULL;
                size_t n = 0;

                history_halve(o->cells[test], o->line.n, &middles, &n);
                for (size_t i = 0; i < n; i++)
                        add_want(o, middles[i], test, 0);
        }
        sort_list(o->wants, o->n_wants, sizeof(*o->wants), compare_wants);
}

static int measure_round(struct recording *o)
{
        char title[64];

        snprintf(title, sizeof(title), o->n_wants > 0 && o->wants[0].seed > 0 ? "history, under seeds"
                                       : o->round == 0                        ? "history"
                                                                              : "history, between what differs (%u)", o->round);
        return command_ask_all(&(struct command_batch){.n = o->n_wants, .title = title, .make = make, .answered = answered, .user = o});
}

/* Three phases: a grid of commits; without --step, halves of the gaps between commits that differ, until there are none; the other seeds of what was
 * measured. */
static int measure_missing(struct recording *o)
{
        cleanup_free size_t *grid = NULL;
        size_t n = 0;
        int status = STATUS_OK;

        history_grid(o->line.n, o->step > 0 ? o->step : history_step(o->line.n, GRID), &grid, &n);
        for (size_t i = 0; i < n; i++) /* commit by commit, so that each build is used at once */
                for (size_t test = 0; test < o->cases.n; test++)
                        add_want(o, grid[i], test, 0);
        while (status == STATUS_OK && o->n_wants > 0) {
                status = measure_round(o);
                o->n_wants = 0;
                o->round++;
                if (status == STATUS_OK && o->step == 0 && common.status < STATUS_ABSENT)
                        plan_halves(o);
        }
        for (size_t at = 0; status == STATUS_OK && at < o->line.n; at++) /* other seeds of the measured cells */
                for (size_t test = 0; test < o->cases.n; test++)
                        for (unsigned seed = 1; seed < o->seeds && o->cells[test][at].seen == HISTORY_MEASURED; seed++)
                                add_want(o, at, test, seed);
        if (status == STATUS_OK && o->n_wants > 0)
                status = measure_round(o);
        if (status == STATUS_INTERRUPTED)
                note("what was measured is kept; the same command goes on from there");
        return status;
}

/* -- showing ------------------------------------------------------------------------------------------------------ */

/* The cell STEP of the history's point i. `points`: the history's indexes of those that have a result, which the steps count. */
static const char *step_at(const struct case_history *h, const struct steps *steps, const size_t *points, size_t i)
{
        for (size_t k = 0; k < steps->n; k++)
                if (points[steps->list[k].at] == i)
                        return judge_change_name(steps->list[k].is_slower ? JUDGE_MORE : JUDGE_LESS, h->measure);
        for (size_t k = 0; k < steps->n_apart; k++)
                if (points[steps->apart[k]] == i)
                        return "differs"; /* at this seed; not a proven step over seeds */
        return "-";
}

static json_t *point_json(const struct case_history *h, size_t i, bool disputed, const char *step)
{
        const struct fact *f = h->list[i].fact;
        cleanup_buffer struct buffer results = {0};
        struct commit c = {0};
        json_t *j;

        history_commit(h->solver->history, h->list[i].commit, &c);
        cell_results(f, &results);
        j = json_pack("{ss sI ss sb ss}", "commit", full_sha(h->solver, h->list[i].commit).s, "date", (json_int_t)c.committed, "result", results.data,
                      "disputed", (int)disputed, "step", step);
        if (f)
                cell_numbers(f, j);
        return j;
}

/* The rows of history.tsv, with the case in front and the step at the end. */
static void print(const struct case_history *h, const struct steps *steps, const size_t *points)
{
        static const struct column columns[] = {{"CASE", 6, true},      {"COMMIT", 12},               {"DATE", 20, false, 2},     {"RESULT", 8},
                                                {"TIME (s)", 11, true}, {"CPUTIME (s)", 11, true, 3}, {"MEMORY (B)", 11, true, 4}, {"CHECK", 8, false, 1},
                                                {"STEP"}, {0}};
        json_t *list = json_array();
        bool told = false;

        for (size_t i = 0; i < h->n; i++) {
                cleanup_buffer struct buffer row = {0};
                const char *step = step_at(h, steps, points, i);
                bool disputed = command_tell_disputed(h->info, h->list[i].fact, &told);

                if (common.json) {
                        json_array_append_new(list, point_json(h, i, disputed, step));
                        continue;
                }
                command_must(case_history_row(h, i, disputed, &row));
                output_rowf(columns, "%u\t%.*s\t%s", h->info->id, (int)strcspn(row.data, "\n"), row.data, step);
        }
        if (common.json)
                output_json(json_pack("{si so ss sO}", "case", (int)h->info->id, "name", json_printable(h->info->name), "shape",
                                      step_shape_name(steps->shape), "history", list));
        json_decref(list);
}

/* Prints the case's history, and the alarms and notes of results that were not measured just now. */
static void show_case(struct recording *o, size_t test, const struct revisions *known)
{
        cleanup_case_history struct case_history h = {0};
        cleanup_steps struct steps steps = {0};
        cleanup_free size_t *points = NULL;
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_buffer struct buffer svg = {0};
        struct cell cell = cell_of(o, 0, test);

        command_must(case_history_read(common.workspace, &cell, known->list, known->n, NULL, 0, o->measure, &h));
        for (size_t i = 0, at = 0; i < h.n; i++) {
                while (o->line.list[at] != h.list[i].commit)
                        at++;
                cell = cell_of(o, at, test);
                if (h.list[i].fact && h.list[i].fact->wrong && o->cells[test][at].seen != HISTORY_MEASURED)
                        command_tell_wrong(&cell, h.list[i].fact);
                if (h.list[i].fact)
                        command_tell_not_started(note, common.solver, o->line.list[at], h.list[i].fact, &o->is_told[at]);
        }
        case_history_steps(&h, &steps, &points);
        if (o->svg) {
                command_must(history_order(common.solver->history, &order));
                command_must(case_history_plot(&h, order->place, &svg));
                command_write_file(o->svg, &svg);
        }
        if (h.n == 0)
                note("nothing is measured of case %u on this line", h.info->id);
        print(&h, &steps, points);
}

static int record(struct recording *o)
{
        cleanup_revisions struct revisions known = {0};
        int r = STATUS_OK;

        o->cell.machine = command_machine(o->machine_name);
        o->cell.solver = common.solver;
        command_seed(common.solver, COMMIT_NONE, o->cell.has_seed);
        command_first_parents(o->from, o->to, &o->line);
        command_cases(o->words.list, o->words.n, &o->cases);
        command_keep_format(common.solver, o->words.list, o->words.n, &o->cases);
        if (o->cases.n == 0)
                return STATUS_ABSENT;
        if (o->svg && o->cases.n != 1)
                command_refuse(STATUS_USAGE, "--svg takes exactly one case; %zu given", o->cases.n);
        o->is_told = allocate(o->line.n + 1, sizeof(*o->is_told));
        o->cells = allocate(o->cases.n + 1, sizeof(*o->cells));
        for (size_t i = 0; i < o->cases.n; i++)
                o->cells[i] = allocate(o->line.n + 1, sizeof(**o->cells));
        if (!o->known)
                r = measure_missing(o);
        command_known(o->cell.machine, &o->line, &known);
        for (size_t i = 0; i < o->cases.n; i++) /* also after an interruption */
                show_case(o, i, &known);
        if (!o->cell.machine)
                command_note_tools(common.solver, known.list, known.n);
        return MAX(r, common.status);
}

void cmd_history(int argc, char **argv)
{
        static const char doc[] =
                "Measure cases along the line of first parents, and show how their times moved. Prints a line for each case and commit, oldest "
                "first: case, commit, date, result, time, cputime (seconds), memory (bytes), correct or WRONG, and slower or faster (--measure: more or "
                "less) where a step is.\v"
                "Work goes from coarse to fine: stop it at any moment, and what is measured is spread over the whole line. What is known is not "
                "measured again, and the same command goes on where it was. Two commits differ when one solves the case and the other does not, or "
                "when their times differ by a fifth and 10 ms. Commits that cannot be built are stepped around.\n"
                "The exit status is 1 when an answer is wrong.\n\n"
                "  solverfs history z3 17\n"
                "  solverfs history z3 --from z3-4.8.8 --to z3-4.8.9 --step 20 QF_S/\n"
                "  solverfs history z3 17 --known --svg 17.svg";
        static struct recording o;
        bool bisecting = false, all = false;
        const struct command_option options[] = {
                OPTION_FROM(o.from),
                OPTION_TO(o.to),
                {"bisecting", 0, NULL, "Measure nine commits evenly, then halve every gap between two that differ, down to the commit (default)",
                 .on = &bisecting},
                {"step", 0, "N", "Measure every N-th commit, and the first", .big_number = &o.step, .least = 1, .most = UINT32_MAX},
                {"all", 0, NULL, "Measure every commit", .on = &all},
                {"known", 0, NULL, "Measure nothing; show stored results", .on = &o.known},
                {"measure", 0, "NAME", "The measure for steps and the picture: time (default), memory, or effort, the solver's own count",
                 .parse = parse_measure, .to = &o.measure},
                OPTION_SEED(o.cell.seed, o.cell.has_seed, "Fix the solver's random seed to N"),
                {"seeds", 0, "N", "Measure each of these commits under N seeds, usually 5 to 10, so that few commits suffice to show a step",
                 .big_number = &o.seeds, .least = 1, .most = JUDGE_PAIRS},
                OPTION_TIMEOUT(o.cell.wall_ns),
                {"machine", 0, "NAME", "Show results of this machine; measures nothing", .text = &o.machine_name, .is_given = &o.known},
                OPTION_ON(o.on),
                {"svg", 0, "FILE", "Write the picture of one case, like history.svg in the mount", .file = &o.svg},
                OPTION_JSON("Print a JSON object for each case: its history, a step at each commit that has one"),
                {0}};

        o.words = command_parse(argc, argv, "SOLVER CASE...", doc, options);
        o.solver_name = word_next(&o.words);
        if ((o.step > 0) + all + bisecting + o.known > 1)
                command_usage("--step, --all, --bisecting and --known exclude each other");
        if (o.known && o.seeds > 1)
                command_usage("nothing is measured with --known and --machine: no --seeds");
        o.step = all ? 1 : o.step;
        command_signals();
        command_open_solver(0, o.on, o.solver_name);
        command_need_history();
        command_worse(record(&o));
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

struct stepping {
        /* options */
        const char *from, *to;
        struct cell cell; /* seed and limit of all */

        struct revisions line; /* measured commits, oldest first */
        size_t shapes[SHAPES], measured;
        size_t *slowdowns; /* [n_slowdowns] number of cases with so many slowdowns; owned */
        size_t n_slowdowns;
};

/* The commit of a step, if it directly follows the one measured before it, else the range between them; free(). */
static char *name_step(const struct case_history *h, const size_t *points, size_t at)
{
        const uint32_t before = h->list[points[at - 1]].commit, after = h->list[points[at]].commit;
        struct commit c;

        if (history_commit(common.solver->history, after, &c) == 0 && c.first_parent == before)
                return copy_string(full_sha(common.solver, after).s);
        return format_string("%s..%s", full_sha(common.solver, before).s, full_sha(common.solver, after).s);
}

static void print_step(const struct case_history *h, size_t at, const struct step *s, const char *commit)
{
        static const struct column columns[] = {{"CASE", 6, true}, {"COMMIT", 12}, {"STEP", 7}, {"BEFORE (s)", 11, true}, {"AFTER (s)", 11, true},
                                                {"SUBJECT"}, {0}};
        cleanup_buffer struct buffer subject = {0};

        history_subject(common.solver->history, h->list[at].commit, &subject);
        output_rowf(columns, "%u\t%s\t%s\t%s\t%s\t%s", h->info->id, commit, s->is_slower ? "slower" : "faster",
                    seconds_text(s->before).s, seconds_text(s->after).s, subject.data ?: "");
}

static void print_steps(const struct case_history *h, const size_t *points, size_t measured, const struct steps *steps)
{
        json_t *list = json_array();

        for (size_t i = 0; i < steps->n; i++) {
                const struct step *s = &steps->list[i];
                cleanup_free char *commit = name_step(h, points, s->at);

                if (!common.json)
                        print_step(h, points[s->at], s, commit);
                json_array_append_new(list, json_pack("{ss sb so so sf}", "commit", commit, "slower", (int)s->is_slower, "seconds_before",
                                                      json_number(s->before), "seconds_after", json_number(s->after), "p", s->p));
        }
        if (common.json)
                output_json(json_pack("{si so sI ss sI sI sO}", "case", (int)h->info->id, "name", json_printable(h->info->name), "measured",
                                      (json_int_t)measured, "shape", step_shape_name(steps->shape), "slower", (json_int_t)steps->slower, "faster",
                                      (json_int_t)steps->faster, "steps", list));
        json_decref(list);
}

/* Prints the case's steps, and counts it for the notes at the end. */
static void count_case(struct stepping *o, struct case_info *info)
{
        cleanup_case_history struct case_history h = {0};
        cleanup_steps struct steps steps = {0};
        cleanup_free size_t *points = NULL;
        size_t measured = 0;

        o->cell.solver = common.solver;
        o->cell.info = info;
        command_must(case_history_read(common.workspace, &o->cell, o->line.list, o->line.n, NULL, 0, JUDGE_TIME, &h));
        case_history_steps(&h, &steps, &points);
        for (size_t i = 0; i < h.n; i++)
                measured += h.list[i].fact != NULL;
        if (measured >= 2) {
                o->measured++;
                o->shapes[steps.shape]++;
                for (; o->n_slowdowns <= steps.slower; o->slowdowns[o->n_slowdowns++] = 0)
                        list_grow(o->slowdowns, o->n_slowdowns);
                o->slowdowns[steps.slower]++;
        }
        print_steps(&h, points, measured, &steps);
}

void cmd_steps(int argc, char **argv)
{
        static const char doc[] =
                "Find every step along the measured history at which cases got slower or faster. Prints a line for each: case, commit, slower or "
                "faster, seconds before, seconds after, subject. Where not every commit is measured, commit is the range that holds the step. Starts "
                "no work: 'solverfs run SOLVER A..B CASE...' measures.\v"
                "A single outlier is no step. The seconds are geometric means over the commits between two steps, under all their seeds; 'broken' "
                "stands for runs that end without an answer. A history's shape is monotonic or not, by "
                "one dominant slowdown or by several.\n\n"
                "  solverfs run z3 z3-4.8.8..z3-4.8.9 17 && solverfs steps z3 17";
        cleanup_revisions struct revisions line = {0};
        cleanup_case_selection struct case_selection cases = {0};
        static struct stepping o;
        const struct command_option options[] = {
                OPTION_FROM(o.from),
                OPTION_TO(o.to),
                OPTION_SEED(o.cell.seed, o.cell.has_seed, "Results with the random seed fixed to N"),
                {"timeout", 't', "T", "Results under this time limit", .ns = &o.cell.wall_ns},
                OPTION_JSON("Print a JSON object for each case: its steps, how many of each kind, its shape"),
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER CASE...", doc, options);

        command_open_solver(0, NULL, word_next(&words));
        command_need_history();
        command_first_parents(o.from, o.to, &line);
        command_known(NULL, &line, &o.line);
        command_cases(words.list, words.n, &cases);
        for (size_t i = 0; i < cases.n; i++)
                count_case(&o, cases.list[i]);
        if (o.measured == 0)
                note("nothing is measured at two commits of this line; see 'solverfs run'");
        for (int shape = 0; shape < SHAPES; shape++)
                if (o.shapes[shape] > 0)
                        note("%zu case%s: %s", o.shapes[shape], plural(o.shapes[shape]), step_shape_name(shape));
        for (size_t i = 0; i < o.n_slowdowns; i++)
                if (o.slowdowns[i] > 0)
                        note("%zu case%s got slower %zu time%s", o.slowdowns[i], plural(o.slowdowns[i]), i, plural(i));
}
