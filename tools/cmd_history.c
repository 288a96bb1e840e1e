/* solverfs history: measures cases along a history, coarse to fine, and shows them. */
#include "ask.h"
#include "core/run/cell_file.h"
#include "core/study/judge/judge.h"
#include "core/study/steps/case_history.h"
#include "core/study/steps/history_plan.h"
#include "words.h"

#define GRID 9 /* commits that --bisecting begins with */

enum mode {
        MODE_BISECTING,
        MODE_STEP,
        MODE_ALL,
        MODE_KNOWN,
};

struct want {
        size_t place, test;
        unsigned seed; /* 0: the cell itself */
};

struct recording {
        /* options */
        const char *solver_name, *machine_name, *from, *to, *svg, *on;
        struct words words; /* CASE... */
        enum mode mode;
        enum judge_measure measure;
        uint64_t step, seeds;
        struct cell cell; /* seed, limit and machine of all */

        char *machine; /* owned; NULL: this one */
        struct case_selection cases;
        struct revisions line;       /* oldest first */
        struct history_cell **cells; /* [cases][line] */
        bool *unbuildable;           /* [line] said once for each */
        struct want *wants;          /* of this round */
        size_t n_wants;
        unsigned round;
};

static struct cell cell_of(const struct recording *o, size_t place, size_t test)
{
        struct cell cell = o->cell;

        cell.commit = o->line.list[place];
        cell.info = o->cases.list[test];
        return cell;
}

/* -- asking ------------------------------------------------------------------------------------------------------- */

static void see(struct recording *o, size_t place, size_t test, const struct fact *f)
{
        struct history_cell *c = &o->cells[test][place];

        c->seen = f ? HISTORY_MEASURED : HISTORY_UNBUILDABLE;
        if (f)
                c->outcome = fact_outcome(f, o->measure);
}

static int make(void *user, size_t i, struct query **ret)
{
        struct recording *o = user;
        const struct want *w = &o->wants[i];
        struct cell cell = cell_of(o, w->place, w->test);
        uint32_t sample = cell_draw(&cell, w->seed);

        return query_sample(common.workspace, &cell, sample, ret);
}

static void tell_unbuildable(struct recording *o, size_t place, const struct build_record *build)
{
        const struct commit_sha sha = full_sha(common.solver, o->line.list[place]);

        if (o->unbuildable[place])
                return;
        o->unbuildable[place] = true;
        note("%s %.12s cannot be built: %s; see 'solverfs build --log %s %.12s'", o->solver_name, sha.s,
             build && build->reason ? build->reason : "no reason is known", o->solver_name, sha.s);
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *)
{
        struct recording *o = user;
        const struct run_value *run = (const struct run_value *)v;
        struct want w = o->wants[i];
        struct cell cell = cell_of(o, w.place, w.test);

        cell_draw(&cell, w.seed);
        if (r < 0) {
                complain("%s %.12s on case %u: %s", o->solver_name, full_sha(common.solver, cell.commit).s, cell.info->id, reason);
                command_worse(status_of_value(r));
                return;
        }
        if (w.seed == 0)
                see(o, w.place, w.test, run->fact);
        if (!run->fact)
                tell_unbuildable(o, w.place, run->build);
        if (run->fact && run->fact->wrong) {
                cleanup_buffer struct buffer line = {0};

                wrong_line(&cell, run->fact, &line);
                command_worse(STATUS_FAILED);
                alarm_line("%s: %s", answer_alarm_name(ANSWER_WRONG), line.data ? line.data : "");
        }
}

static void add_want(struct recording *o, size_t place, size_t test, unsigned seed)
{
        list_grow(o->wants, o->n_wants);
        o->wants[o->n_wants++] = (struct want){place, test, seed};
}

/* All cases on a commit, one commit after the other, so that each build is used at once. */
static void plan_grid(struct recording *o)
{
        size_t step = o->mode == MODE_BISECTING ? history_step(o->line.n, GRID) : o->step, n = 0;
        cleanup_free size_t *grid = NULL;

        history_grid(o->line.n, step, &grid, &n);
        for (size_t i = 0; i < n; i++)
                for (size_t test = 0; test < o->cases.n; test++)
                        add_want(o, grid[i], test, 0);
}

static int compare_wants(const void *a, const void *b)
{
        const struct want *x = a, *y = b;

        return x->place != y->place ? (x->place > y->place) - (x->place < y->place) : (x->test > y->test) - (x->test < y->test);
}

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

/* Plans the other seeds of the cells that were measured. */
static void plan_seeds(struct recording *o)
{
        for (size_t place = 0; place < o->line.n; place++)
                for (size_t test = 0; test < o->cases.n; test++)
                        for (unsigned seed = 1; seed < o->seeds && o->cells[test][place].seen == HISTORY_MEASURED; seed++)
                                add_want(o, place, test, seed);
}

static int measure_round(struct recording *o)
{
        char title[64];

        snprintf(title, sizeof(title), o->n_wants > 0 && o->wants[0].seed > 0 ? "history, under seeds"
                                       : o->round == 0                        ? "history"
                                                                              : "history, between what differs (%u)", o->round);
        return command_ask_all(&(struct command_asking){.n = o->n_wants, .title = title, .make = make, .answered = answered, .user = o});
}

static int measure_missing(struct recording *o)
{
        int status = STATUS_OK;

        plan_grid(o);
        while (status == STATUS_OK && o->n_wants > 0) {
                status = measure_round(o);
                o->n_wants = 0;
                o->round++;
                if (status == STATUS_OK && o->mode == MODE_BISECTING && common.status < STATUS_ABSENT)
                        plan_halves(o);
        }
        if (status == STATUS_OK)
                plan_seeds(o);
        if (status == STATUS_OK && o->n_wants > 0)
                status = measure_round(o);
        if (status == STATUS_INTERRUPTED)
                note("what was measured is kept; the same command goes on from there");
        return status;
}

/* -- cases -------------------------------------------------------------------------------------------------- */

static void keep_format(struct recording *o)
{
        const enum format format = common.solver->recipe->format;
        size_t n = case_selection_keep(&o->cases, format);

        if (n > 0)
                note("%zu %s passed over: %s takes %s", n, n == 1 ? "case" : "cases", o->solver_name, format_notation(format));
        if (o->cases.n == 0)
                command_end(STATUS_ABSENT);
}

static void make_room(struct recording *o)
{
        o->unbuildable = allocate(o->line.n + 1, sizeof(*o->unbuildable));
        o->cells = allocate(o->cases.n + 1, sizeof(*o->cells));
        for (size_t i = 0; i < o->cases.n; i++)
                o->cells[i] = allocate(o->line.n + 1, sizeof(**o->cells));
}

/* -- showing ------------------------------------------------------------------------------------------------------ */

static const char *step_at(const struct case_history *h, const struct steps *steps, const size_t *points, size_t i)
{
        for (size_t k = 0; k < steps->n; k++)
                if (points[steps->list[k].at] == i)
                        return judge_change_name(steps->list[k].is_slower ? JUDGE_MORE : JUDGE_LESS, h->measure);
        for (size_t k = 0; k < steps->n_apart; k++)
                if (points[steps->apart[k]] == i)
                        return "differs"; /* at this seed; no step over seeds is proven */
        return "-";
}

/* Prints the rows of history.tsv, with the case in front and the step at the end. */
static void print_rows(const struct case_history *h, const struct steps *steps, const size_t *points)
{
        static const struct column columns[] = {{"CASE", 6, true},             {"COMMIT", 12, false},    {"DATE", 20, false, 2},
                                                {"RESULT", 8, false},          {"TIME (s)", 11, true},   {"CPUTIME (s)", 11, true, 3},
                                                {"MEMORY (B)", 11, true, 4}, {"CHECK", 8, false, 1}, {"STEP", 0, false}};

        for (size_t i = 0; i < h->n; i++) {
                cleanup_buffer struct buffer row = {0};

                command_must(case_history_row(h, i, &row));
                output_rowf(columns, ARRAY_SIZE(columns), "%u\t%.*s\t%s", h->info->id, (int)strcspn(row.data, "\n"), row.data,
                            step_at(h, steps, points, i));
        }
}

static json_t *point_json(const struct case_history *h, size_t i, const char *step)
{
        const struct fact *f = h->list[i].fact;
        char date[32];
        struct commit c = {0};
        json_t *j;

        history_commit(h->solver->history, h->list[i].commit, &c);
        format_date(c.committed, date);
        j = json_pack("{ss ss ss ss}", "commit", full_sha(h->solver, h->list[i].commit).s, "date", date, "result",
                      verdict_name(f ? f->verdict : VERDICT_UNBUILDABLE), "step", step);
        if (f)
                cell_numbers(f, j);
        return j;
}

static void print_json(const struct case_history *h, const struct steps *steps, const size_t *points)
{
        cleanup_free char *name = printable(h->info->name);
        json_t *list = json_array();

        for (size_t i = 0; i < h->n; i++)
                json_array_append_new(list, point_json(h, i, step_at(h, steps, points, i)));
        output_json(json_pack("{sI ss ss so}", "case", (json_int_t)h->info->id, "name", name, "shape",
                              step_shape_name(steps->shape), "history", list));
}

static void write_svg(const struct recording *o, const struct case_history *h)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_buffer struct buffer b = {0};
        int r = history_order(common.solver->history, &order);

        if (r == 0)
                r = case_history_plot(h, order->place, &b);
        command_write_file(o->svg, r, &b);
}

static void show_case(const struct recording *o, size_t test, const struct revisions *known)
{
        cleanup_case_history struct case_history h = {0};
        cleanup_steps struct steps steps = {0};
        cleanup_free size_t *points = NULL;
        struct cell cell = cell_of(o, 0, test);

        command_must(case_history_read(common.workspace, &cell, known->list, known->n, NULL, 0, o->measure, &h));
        case_history_steps(&h, &steps, &points);
        if (o->svg)
                write_svg(o, &h);
        if (h.n == 0)
                note("nothing is measured of case %u on this line", h.info->id);
        if (common.json)
                print_json(&h, &steps, points);
        else
                print_rows(&h, &steps, points);
}

static int record(struct recording *o)
{
        cleanup_revisions struct revisions known = {0};
        int r = STATUS_OK;

        o->machine = command_machine(o->machine_name);
        command_seed(common.solver, o->cell.has_seed);
        command_line(o->from, o->to, &o->line);
        command_cases(o->words.list, o->words.n, &o->cases);
        keep_format(o);
        if (o->svg && o->cases.n != 1)
                command_refuse(STATUS_USAGE, "--svg takes exactly one case; %zu given", o->cases.n);
        make_room(o);
        o->cell.solver = common.solver;
        o->cell.machine = o->machine;
        if (o->mode != MODE_KNOWN)
                r = measure_missing(o);
        command_known(o->machine, &o->line, &known);
        for (size_t i = 0; i < o->cases.n; i++) /* also after an interruption */
                show_case(o, i, &known);
        if (!o->machine)
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
        bool bisecting = false, all = false, known = false;
        const struct command_option options[] = {
                {"from", 'f', "REV", "Begin here; the first commit unless given", .text = &o.from},
                {"to", 'o', "REV", "End here; HEAD unless given", .text = &o.to},
                {"bisecting", 0, NULL, "Measure nine commits evenly, then halve every gap between two that differ, down to the commit (default)",
                 .on = &bisecting},
                {"step", 0, "N", "Measure every N-th commit, and the first", .big_number = &o.step, .least = 1, .most = UINT32_MAX},
                {"all", 0, NULL, "Measure every commit", .on = &all},
                {"known", 0, NULL, "Measure nothing; show what is known", .on = &known},
                {"measure", 0, "NAME", "Find steps by this, and draw it: time (default), memory, or effort, the solver's own count",
                 .parse = parse_measure, .to = &o.measure},
                {"seed", 's', "N", "Fix the solver's random seed to N", .big_number = &o.cell.seed, .most = UINT32_MAX, .is_given = &o.cell.has_seed},
                {"seeds", 0, "N", "Measure each of these commits under N seeds, 5 to 10 as a rule: so few commits show a step",
                 .big_number = &o.seeds, .least = 1, .most = JUDGE_PAIRS},
                {"timeout", 't', "T", "Another time limit than the recipe's: 500ms, 20s, 10m", .ns = &o.cell.wall_ns},
                {"machine", 0, "NAME", "What is known of this machine; measures nothing", .text = &o.machine_name, .is_given = &known},
                {"on", 0, "NAME", "Run there: 'local', or a cluster of the store's config", .text = &o.on},
                {"svg", 0, "FILE", "Write the picture, as history.svg of the mount has it; one case", .text = &o.svg},
                {"json", 'j', NULL, "Print a JSON object for each case: its history, a step at each commit that has one", .on = &common.json},
                {0}};

        o.words = command_parse(argc, argv, "SOLVER CASE...", doc, options);
        o.solver_name = word_next(&o.words);
        if ((o.step > 0) + all + bisecting + known > 1)
                command_usage("--step, --all, --bisecting and --known exclude each other");
        if (known && o.seeds > 1)
                command_usage("nothing is measured with --known and --machine: no --seeds");
        if (o.machine_name && o.on)
                command_usage("nothing is run with --machine: --on and --machine exclude each other");
        o.mode = known ? MODE_KNOWN : all ? MODE_ALL : o.step > 0 ? MODE_STEP : MODE_BISECTING;
        o.step = all ? 1 : o.step;
        command_signals();
        command_open_solver(0, o.on, o.solver_name);
        command_need_history();
        command_worse(record(&o));
}
