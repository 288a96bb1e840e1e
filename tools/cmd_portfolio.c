/* solverfs portfolio: replay. */
#include "core/portfolio/portfolio.h"
#include "core/portfolio/replay.h"
#include "words.h"

/* The words of "a,b"; strings_free(). */
static int split(const char *text, char ***ret)
{
        cleanup_free char *copy = strdup(text);
        int r = copy ? 0 : -ENOMEM;

        for (char *next = copy; next && r == 0;)
                r = strings_add(ret, strsep(&next, ","));
        return r;
}

/* -- options ----------------------------------------------------------------------------------------------------- */

struct options {
        const char *selectors;
        struct replay replay;
        bool json;
        const char *arms; /* of the store's facts, instead of tables, on these cases: */
        struct words sets, files;
};

/* -- tables ------------------------------------------------------------------------------------------------------ */

struct tables {
        struct run_table **list;
        size_t n;
};

static void tables_done(struct tables *t)
{
        for (size_t i = 0; i < t->n; i++)
                run_table_free(t->list[i]);
        free(t->list);
}
#define cleanup_tables cleanup(tables_done)

static int read_tables(const struct options *o, struct tables *ret)
{
        for (size_t i = 0; i < o->files.n; i++) {
                int r = list_grow(ret->list, ret->n);

                if (r == 0)
                        r = run_table_read(o->files.list[i], &ret->list[ret->n]);
                if (r < 0)
                        return r;
                if (ret->list[ret->n]->alarms > 0)
                        alarm_line("%s:%u: one arm says sat and another one unsat (on %zu queries of this table)", o->files.list[i],
                                   ret->list[ret->n]->first_alarm, ret->list[ret->n]->alarms);
                ret->n++;
        }
        return 0;
}

/* The facts of a store: of the solvers --arms, on the cases of --set (all, when none is given). A status. */
static int read_facts(const struct options *o, struct tables *ret)
{
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_case_selection struct case_selection cases = {0};
        char **arms = NULL;
        char all[] = "all", *everything[] = {all};
        size_t left_out;
        int r = command_open(STORE_READ_ONLY);

        if (r != STATUS_OK)
                return r;
        r = split(o->arms, &arms);
        if (r == 0)
                r = portfolio_of_arms(common.workspace, "--arms", (const char *const *)arms, strings_count(arms),
                                      (uint64_t)(o->replay.learner.limit * NSEC_PER_SEC), &p);
        strings_free(arms);
        if (r < 0)
                return r == -EINVAL ? fail_as(STATUS_USAGE, r) : fail(r);
        r = command_cases(o->sets.n > 0 ? o->sets.list : everything, MAX(o->sets.n, (size_t)1), &cases);
        if (r != STATUS_OK)
                return r;
        r = list_grow(ret->list, 0);
        if (r == 0)
                r = portfolio_table(common.workspace, p, cases.list, cases.n, &ret->list[0], &left_out);
        if (r < 0)
                return fail(r);
        ret->n = 1;
        if (left_out > 0)
                note("%zu of %zu cases left out: not every arm was measured on them for %g s", left_out, cases.n,
                     o->replay.learner.limit);
        return STATUS_OK;
}

/* -- output ------------------------------------------------------------------------------------------------------ */

static const struct column columns[] = {
        {"SELECTOR", 16, false}, {"ALLOCATION", 10, false}, {"PAR-2", 10, true}, {"±", 8, true}, {"SOLVED", 8, true},
        {"±", 6, true},          {"FIRST BEST", 10, true},  {"TURNS", 6, true},
};

static void show_row(const char *selector, const char *allocation, const struct replay_value *score,
                     const struct replay_value *solved, const struct replay_score *of)
{
        char of_turns[64] = "-\t-";

        if (of)
                snprintf(of_turns, sizeof(of_turns), "%.1f%%\t%.1f", 100 * of->first_best.mean, of->turns.mean);
        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s", selector, allocation, score->mean, score->deviation,
                    solved->mean, solved->deviation, of_turns);
}

static void show_json(const struct options *o, const struct method *m, const struct replay_score *s)
{
        output_json(json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:I, s:f, s:I, s:I, s:f}",
                              "selector", m->name, "allocation", m->allocation_name, "queries", (json_int_t)s->queries, "seeds",
                              (json_int_t)o->replay.seeds, "limit", o->replay.learner.limit, "par2", s->par2.mean,
                              "par2_deviation", s->par2.deviation, "solved", s->solved.mean, "solved_deviation",
                              s->solved.deviation, "first_best", s->first_best.mean, "turns", s->turns.mean, "best_arm",
                              s->best_arm_name, "best_arm_par2", s->best_arm_par2, "best_arm_solved",
                              (json_int_t)s->best_arm_solved, "virtual_best_par2", s->virtual_best_par2, "virtual_best_solved",
                              (json_int_t)s->virtual_best_solved, "alarms", (json_int_t)s->alarms, "seconds", s->seconds));
}

static void show_references(const struct replay_score *s)
{
        char name[80];

        snprintf(name, sizeof(name), "only %s", s->best_arm_name);
        show_row(name, "-", &(struct replay_value){s->best_arm_par2, 0}, &(struct replay_value){(double)s->best_arm_solved, 0},
                 NULL);
        show_row("virtual best", "-", &(struct replay_value){s->virtual_best_par2, 0},
                 &(struct replay_value){(double)s->virtual_best_solved, 0}, NULL);
}

/* -- replay ------------------------------------------------------------------------------------------------------ */

static int replay_one(const struct options *o, const struct method *m, struct replay_score *ret)
{
        struct replay replay = o->replay;
        int r;

        replay.learner.method = m;
        r = replay_run(&replay, ret);
        if (r == 0 && o->json)
                show_json(o, m, ret);
        else if (r == 0)
                show_row(m->name, m->allocation_name, &ret->par2, &ret->solved, ret);
        return r;
}

static int replay_named(const struct options *o, struct replay_score *ret)
{
        char **names = NULL;
        int r = split(o->selectors, &names);

        for (char **name = names; name && *name && r == 0; name++) {
                const struct method *m;

                r = learner_method(*name, &m);
                if (r == 0)
                        r = replay_one(o, m, ret);
        }
        strings_free(names);
        return r;
}

static int replay_all(const struct options *o)
{
        struct replay_score score = {0};
        int r = 0;

        if (strcmp(o->selectors, "all") != 0)
                r = replay_named(o, &score);
        else
                for (const struct method *m = learner_methods; m->name && r == 0; m++)
                        r = replay_one(o, m, &score);
        if (r == 0 && !o->json)
                show_references(&score);
        return r;
}

int cmd_portfolio_replay(int argc, char **argv)
{
        cleanup_buffer struct buffer doc = {0};
        cleanup_tables struct tables tables = {0};
        struct options o = {.selectors = learner_methods[0].name, .replay = {.seeds = 10, .learner = {.limit = 60, .seed = 1}}};
        unsigned order = 1;
        int r;

        buffer_adds(&doc,
                    "Measure a portfolio on recorded runs, without running a solver: how it would have done, learning online. Prints PAR-2 (seconds "
                    "of the solved, twice the limit for the others), queries solved, how often the first arm was the fastest, and turns a query: "
                    "means and deviations over the seeds. The best single arm and the virtual best come last.\v"
                    "A TABLE is tab-separated, with a heading: query, features, and ARM_result and ARM_seconds for each arm. Several tables are one "
                    "stream.\n\n"
                    "Selectors:\n");
        for (const struct method *m = learner_methods; m->name; m++)
                buffer_addf(&doc, "  %-12s %s\n", m->name, m->summary);
        buffer_adds(&doc, "\nExample:\n  solverfs portfolio replay BV.tsv Sage2.tsv --selector survival,10nn");
        if (buffer_error(&doc) < 0)
                return fail(-ENOMEM);
        const struct command_option options[] = {
                {"selector", 's', "NAME[,NAME...]", "Who chooses: see below; survival unless told; 'all' is each of them", .text = &o.selectors},
                {"seeds", 'n', "N", "Replay N times, each with a seed of its own; 10 unless told",
                 .number = &o.replay.seeds, .least = 1, .most = 1000000},
                {"seed", 0, "S", "The first of these seeds; 1 unless told", .big_number = &o.replay.learner.seed, .most = UINT64_MAX},
                {"split", 0, NULL, "Begin anew with each table, and sum up", .on = &o.replay.split},
                {"order", 0, "file|shuffled", "Take the queries as they come, or shuffled by the seed (the default)", .choice = &order},
                {"limit", 0, "SECONDS", "Time for all arms of a query together; 60 unless told", .real = &o.replay.learner.limit},
                {"arms", 0, "ARM[,ARM...]", "Instead of tables, what the store knows of these (as for 'portfolio add'), at --limit", .text = &o.arms},
                {"set", 0, "CASES", "With --arms: on these cases (a set, a folder, 3-17, as for 'run'); all unless told", .each = &o.sets},
                {"json", 'j', NULL, "Print a JSON object for each selector, a line each", .on = &o.json},
                {0}};

        command_parse(argc, argv, "[TABLE...]", doc.data, options, &o.files);
        o.replay.keep_order = order == 0;
        if (!(o.replay.learner.limit > 0))
                command_usage("--limit must be greater than zero");
        if (o.files.n == 0 && !o.arms)
                command_usage("no table given");
        if (o.sets.n > 0 && !o.arms)
                command_usage("--set goes with --arms");
        if (o.files.n > 0 && o.arms)
                command_usage("give tables, or --arms");
        if (o.arms && (r = read_facts(&o, &tables)) != STATUS_OK) {
                free(o.sets.list);
                return r;
        }
        free(o.sets.list);
        r = o.arms ? 0 : read_tables(&o, &tables);
        o.replay.tables = (const struct run_table *const *)tables.list;
        o.replay.n = tables.n;
        if (r == 0)
                r = replay_all(&o);
        return r == 0 ? STATUS_OK : r == -EINVAL ? fail_as(STATUS_USAGE, r) : fail(r);
}
