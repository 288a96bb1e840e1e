/* solverfs steps: where along the measured history cases got slower and faster. */
#include <math.h>

#include "core/study/steps/case_history.h"
#include "words.h"

#define SHAPES 5

struct stepping {
        /* options */
        const char *solver_name, *from, *to;
        struct words words; /* CASE... */
        bool has_seed;
        uint64_t seed, timeout;

        struct revisions line; /* measured commits, oldest first */
        size_t shapes[SHAPES], measured;
        size_t *slowdowns; /* [n_slowdowns] how many cases have so many; owned */
        size_t n_slowdowns;
};

/* -- one case ----------------------------------------------------------------------------------------------------- */

/* The commit when it follows the one measured before it, else the range between them. */
static void name_step(const struct case_history *h, const size_t *points, size_t at, char ret[2 * GIT_OID_HEXSZ + 3])
{
        const struct commit_sha before = full_sha(common.solver, h->list[points[at - 1]].commit);
        const struct commit_sha after = full_sha(common.solver, h->list[points[at]].commit);
        struct commit c;

        if (history_commit(common.solver->history, h->list[points[at]].commit, &c) == 0 &&
            c.first_parent == h->list[points[at - 1]].commit)
                snprintf(ret, 2 * GIT_OID_HEXSZ + 3, "%s", after.s);
        else
                snprintf(ret, 2 * GIT_OID_HEXSZ + 3, "%s..%s", before.s, after.s);
}

static void print_rows(const struct case_history *h, const size_t *points, const struct steps *steps)
{
        static const struct column columns[] = {{"CASE", 6, true},    {"COMMIT", 12, false}, {"STEP", 7, false},
                                                {"BEFORE (s)", 11, true}, {"AFTER (s)", 11, true},   {"SUBJECT", 0, false}};

        for (size_t i = 0; i < steps->n; i++) {
                char before[32], after[32], commit[2 * GIT_OID_HEXSZ + 3];
                cleanup_buffer struct buffer subject = {0};

                seconds_text(steps->list[i].before, before);
                seconds_text(steps->list[i].after, after);
                name_step(h, points, steps->list[i].at, commit);
                history_subject(common.solver->history, h->list[points[steps->list[i].at]].commit, &subject);
                output_rowf(columns, ARRAY_SIZE(columns), "%u\t%s\t%s\t%s\t%s\t%s", h->info->id, commit, steps->list[i].is_slower ? "slower" : "faster",
                            before, after, subject.data ? subject.data : "");
        }
}

static json_t *seconds_json(double seconds)
{
        return isnan(seconds) ? json_null() : json_real(seconds);
}

static void print_json(const struct case_history *h, const size_t *points, size_t measured, const struct steps *steps)
{
        cleanup_free char *name = printable(h->info->name);
        json_t *list = json_array();

        for (size_t i = 0; i < steps->n; i++) {
                const struct step *s = &steps->list[i];
                char commit[2 * GIT_OID_HEXSZ + 3];

                name_step(h, points, s->at, commit);
                json_array_append_new(list, json_pack("{ss sb so so sf}", "commit", commit, "slower", (int)s->is_slower,
                                                      "seconds_before", seconds_json(s->before), "seconds_after",
                                                      seconds_json(s->after), "p", s->p));
        }
        output_json(json_pack("{sI ss sI ss sI sI so}", "case", (json_int_t)h->info->id, "name", name, "measured",
                              (json_int_t)measured, "shape", step_shape_name(steps->shape), "slower", (json_int_t)steps->slower,
                              "faster", (json_int_t)steps->faster, "steps", list));
}

static void count_slowdowns(struct stepping *o, size_t slower)
{
        while (o->n_slowdowns <= slower) {
                list_grow(o->slowdowns, o->n_slowdowns);
                o->slowdowns[o->n_slowdowns++] = 0;
        }
        o->slowdowns[slower]++;
}

static void show_case(struct stepping *o, struct case_info *info)
{
        cleanup_case_history struct case_history h = {0};
        cleanup_steps struct steps steps = {0};
        cleanup_free size_t *points = NULL;
        struct cell cell = {.solver = common.solver, .info = info, .has_seed = o->has_seed, .seed = o->seed, .wall_ns = o->timeout};
        size_t measured = 0;

        command_must(case_history_read(common.workspace, &cell, o->line.list, o->line.n, NULL, 0, JUDGE_TIME, &h));
        case_history_steps(&h, &steps, &points);
        for (size_t i = 0; i < h.n; i++)
                measured += h.list[i].fact != NULL;
        o->measured += measured >= 2;
        o->shapes[steps.shape] += measured >= 2;
        if (measured >= 2)
                count_slowdowns(o, steps.slower);
        if (common.json)
                print_json(&h, points, measured, &steps);
        else
                print_rows(&h, points, &steps);
}

/* The paper's Figs. 5 and 7. */
static void show_counts(const struct stepping *o)
{
        if (o->measured == 0)
                note("nothing is measured at two commits of this line; see 'solverfs run'");
        for (int shape = 0; shape < SHAPES; shape++)
                if (o->shapes[shape] > 0)
                        note("%zu %s: %s", o->shapes[shape], o->shapes[shape] == 1 ? "case" : "cases", step_shape_name(shape));
        for (size_t i = 0; i < o->n_slowdowns; i++)
                if (o->slowdowns[i] > 0)
                        note("%zu %s got slower %zu %s", o->slowdowns[i], o->slowdowns[i] == 1 ? "case" : "cases", i,
                             i == 1 ? "time" : "times");
}

void cmd_steps(int argc, char **argv)
{
        static const char doc[] =
                "Find every step along the measured history at which cases got slower or faster. Prints a line for each: case, commit, slower or "
                "faster, seconds before, seconds after, subject. Where not every commit is measured, commit is the range that holds the step. Starts "
                "no work: 'solverfs run SOLVER A..B CASE...' measures.\v"
                "A single outlier is no step. 'broken' stands for runs that end without an answer. The shapes are the paper's: monotonic or not, by "
                "one dominant slowdown or by several.\n\n"
                "  solverfs run z3 z3-4.8.8..z3-4.8.9 17 && solverfs steps z3 17";
        cleanup_revisions struct revisions line = {0};
        cleanup_case_selection struct case_selection cases = {0};
        static struct stepping o;
        const struct command_option options[] = {
                {"from", 'f', "REV", "Begin here; the first commit unless given", .text = &o.from},
                {"to", 'o', "REV", "End here; HEAD unless given", .text = &o.to},
                {"seed", 's', "N", "What was measured with the random seed fixed to N",
                 .big_number = &o.seed, .most = UINT32_MAX, .is_given = &o.has_seed},
                {"timeout", 't', "T", "What was measured under this time limit", .ns = &o.timeout},
                {"json", 'j', NULL, "Print a JSON object for each case: its steps, how many of each kind, its shape", .on = &common.json},
                {0}};

        o.words = command_parse(argc, argv, "SOLVER CASE...", doc, options);
        o.solver_name = word_next(&o.words);
        command_open_solver(0, NULL, o.solver_name);
        command_need_history();
        command_line(o.from, o.to, &line);
        command_known(NULL, &line, &o.line);
        command_cases(o.words.list, o.words.n, &cases);
        for (size_t i = 0; i < cases.n; i++)
                show_case(&o, cases.list[i]);
        show_counts(&o);
}
