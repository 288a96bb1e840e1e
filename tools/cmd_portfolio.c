/* solverfs portfolio: replay. */
#include "core/portfolio/portfolio.h"
#include "core/portfolio/replay.h"
#include "words.h"

/* A comma-separated list that is taken apart; the words point into `text`. */
struct word_list {
        char *text;
        const char **list;
        size_t n;
};

static void word_list_done(struct word_list *w)
{
        free(w->list);
        free(w->text);
}
#define cleanup_word_list cleanup(word_list_done)

static int word_list_split(const char *text, struct word_list *ret)
{
        ret->text = strdup(text);
        if (!ret->text)
                return -ENOMEM;
        for (char *next = ret->text; next;) {
                if (list_grow(ret->list, ret->n) < 0)
                        return -ENOMEM;
                ret->list[ret->n++] = strsep(&next, ",");
        }
        return 0;
}

/* -- options ----------------------------------------------------------------------------------------------------- */

struct options {
        const char *selectors, *allocations;
        struct replay replay;
        bool json;
        const char *arms; /* of the store's facts, instead of tables, on these cases: */
        struct words sets, files;
};

static const struct choice parts[] = {
        {"features", "weigh every earlier query the same"},
        {"hardness", "no model of runtimes, a flat prior instead"},
        {"curves", "the model of runtimes alone"},
        {"pausing", "each arm gets one turn"},
        {"guard", "go on however far it is behind its best arm"},
        {0},
};
static const unsigned part_flags[] = {WITHOUT_FEATURES, WITHOUT_HARDNESS, WITHOUT_CURVES, WITHOUT_PAUSING, WITHOUT_GUARD};

static void parse_without(void *to, const char *text)
{
        unsigned *without = to;
        cleanup_word_list struct word_list words = {0};

        if (word_list_split(text, &words) < 0)
                exit(fail(-ENOMEM));
        for (size_t i = 0; i < words.n; i++) {
                int part = 0;

                while (parts[part].name && strcmp(parts[part].name, words.list[i]) != 0)
                        part++;
                if (!parts[part].name)
                        command_usage("--without takes features, hardness, curves, pausing and guard, and not '%s'", words.list[i]);
                *without |= part_flags[part];
        }
}

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
        cleanup_workspace struct workspace *w = NULL;
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_case_selection struct case_selection cases = {0};
        cleanup_word_list struct word_list arms = {0};
        char all[] = "all", *everything[] = {all};
        size_t left_out;
        int r = command_open(STORE_READ_ONLY, &w);

        if (r != STATUS_OK)
                return r;
        r = word_list_split(o->arms, &arms);
        if (r == 0)
                r = portfolio_of_arms(w, "--arms", arms.list, arms.n, (uint64_t)(o->replay.learner.limit * NSEC_PER_SEC), &p);
        if (r < 0)
                return r == -EINVAL ? fail_as(STATUS_USAGE, r) : fail(r);
        r = command_cases(w, o->sets.n > 0 ? o->sets.list : everything, MAX(o->sets.n, (size_t)1), &cases);
        if (r != STATUS_OK)
                return r;
        r = list_grow(ret->list, 0);
        if (r == 0)
                r = portfolio_table(w, p, cases.list, cases.n, &ret->list[0], &left_out);
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

static void show_json(const struct options *o, const char *selector, const char *allocation, const struct replay_score *s)
{
        output_json(json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:I, s:f, s:I, s:I, s:f}",
                              "selector", selector, "allocation", allocation, "queries", (json_int_t)s->queries, "seeds",
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

static int replay_one(const struct options *o, const char *selector, const char *allocation, struct replay_score *ret)
{
        cleanup_word_list struct word_list fixed = {0};
        struct replay replay = o->replay;
        int r = 0;

        replay.learner.selector = selector;
        replay.learner.allocation = allocation;
        if (strncmp(selector, "fixed:", 6) == 0) {
                r = word_list_split(selector + 6, &fixed);
                replay.learner.selector = "fixed";
                replay.fixed = fixed.list;
                replay.n_fixed = fixed.n;
        }
        if (r == 0)
                r = replay_run(&replay, ret);
        if (r < 0)
                return r;
        if (o->json)
                show_json(o, selector, allocation, ret);
        else
                show_row(selector, allocation, &ret->par2, &ret->solved, ret);
        return 0;
}

/* A list's names: all there are, those given, or the one that is the default. */
static int choices(const char *given, const struct choice *all, const char *fallback, struct word_list *ret)
{
        if (!given || strcmp(given, "all") != 0)
                return word_list_split(given ? given : fallback, ret);
        for (const struct choice *c = all; c->name; c++) {
                if (list_grow(ret->list, ret->n) < 0)
                        return -ENOMEM;
                ret->list[ret->n++] = c->name;
        }
        return 0;
}

/* "fixed:Z3,CVC4" is one selector, commas and all. */
static int split_selectors(const char *given, struct word_list *ret)
{
        if (given && strncmp(given, "fixed:", 6) == 0) {
                ret->list = calloc(1, sizeof(*ret->list));
                if (!ret->list)
                        return -ENOMEM;
                ret->list[ret->n++] = given;
                return 0;
        }
        return choices(given, learner_selectors, learner_selectors[0].name, ret);
}

static int replay_all(const struct options *o)
{
        cleanup_word_list struct word_list selectors = {0}, allocations = {0};
        const bool every = o->allocations && strcmp(o->allocations, "all") == 0;
        struct replay_score score = {0};
        int r = split_selectors(o->selectors, &selectors);

        if (r == 0)
                r = choices(o->allocations, learner_allocations, "", &allocations);
        for (size_t i = 0; i < selectors.n && r == 0; i++)
                for (size_t j = 0; j < allocations.n && r == 0; j++) {
                        const char *s = selectors.list[i], *a = allocations.list[j];

                        if (!o->allocations)
                                a = learner_suits(s, "schedule") ? "schedule" : "expo";
                        if (every && !learner_suits(strncmp(s, "fixed:", 6) == 0 ? "fixed" : s, a))
                                continue;
                        r = replay_one(o, s, a, &score);
                }
        if (r == 0 && !o->json)
                show_references(&score);
        return r;
}

int cmd_portfolio_replay(int argc, char **argv)
{
        cleanup_buffer struct buffer doc = {0};
        cleanup_tables struct tables tables = {0};
        struct options o = {.replay = {.seeds = 10, .learner = {.limit = 60, .seed = 1}}};
        unsigned order = 1;
        bool has_confidence = false;
        int r;

        buffer_adds(&doc,
                    "Measure a portfolio on recorded runs, without running a solver: how it would have done, learning online. Prints PAR-2 (seconds "
                    "of the solved, twice the limit for the others), queries solved, how often the first arm was the fastest, and turns a query: "
                    "means and deviations over the seeds. The best single arm and the virtual best come last.\v"
                    "A TABLE is tab-separated, with a heading: query, features, and ARM_result and ARM_seconds for each arm. Several tables are one "
                    "stream.\n\n"
                    "Selectors:\n");
        for (const struct choice *c = learner_selectors; c->name; c++)
                buffer_addf(&doc, "  %-12s %s\n", c->name, c->summary);
        buffer_adds(&doc, "  fixed:A,B    these arms first\n\nAllocations:\n");
        for (const struct choice *c = learner_allocations; c->name; c++)
                buffer_addf(&doc, "  %-12s %s\n", c->name, c->summary);
        buffer_adds(&doc, "\nExample:\n  solverfs portfolio replay BV.tsv Sage2.tsv --selector survival,10nn");
        if (buffer_error(&doc) < 0)
                return fail(-ENOMEM);
        const struct command_option options[] = {
                {"selector", 's', "NAME[,NAME...]", "Who is tried first: see below; 'all' is each of them", .text = &o.selectors},
                {"allocation", 'a', "NAME[,NAME...]", "For how long: see below; 'all' is each that fits the selector", .text = &o.allocations},
                {"seeds", 'n', "N", "Replay N times, each with a seed of its own; 10 unless told",
                 .number = &o.replay.seeds, .least = 1, .most = 1000000},
                {"seed", 0, "S", "The first of these seeds; 1 unless told", .big_number = &o.replay.learner.seed, .most = UINT64_MAX},
                {"split", 0, NULL, "Begin anew with each table, and sum up", .on = &o.replay.split},
                {"order", 0, "file|shuffled", "Take the queries as they come, or shuffled by the seed (the default)", .choice = &order},
                {"train", 0, "PART", "Run this part of the queries first, and score the rest", .real = &o.replay.train},
                {"limit", 0, "SECONDS", "Time for all arms of a query together; 60 unless told", .real = &o.replay.learner.limit},
                {"reward", 0, "binary|exponential", "1 for a solved query, or (1 - t/T)^4", .choice = &o.replay.learner.reward},
                {"confidence", 0, "DELTA", "Of the allocations expo and nearest; 0.05 unless told",
                 .real = &o.replay.learner.confidence, .is_given = &has_confidence},
                {"without", 0, "PART[,PART...]", "Leave parts of the selector survival out: features, hardness, curves, pausing, guard",
                 .parse = parse_without, .to = &o.replay.learner.without},
                {"arms", 0, "ARM[,ARM...]", "Instead of tables, what the store knows of these (as for 'portfolio add'), at --limit", .text = &o.arms},
                {"set", 0, "CASES", "With --arms: on these cases (a set, a folder, 3-17, as for 'run'); all unless told", .each = &o.sets},
                {"json", 'j', NULL, "Print a JSON object for each combination, a line each", .on = &o.json},
                {0}};

        command_parse(argc, argv, "[TABLE...]", doc.data, options, &o.files);
        o.replay.keep_order = order == 0;
        if (!(o.replay.train >= 0 && o.replay.train < 1))
                command_usage("--train must be at least 0 and less than 1");
        if (!(o.replay.learner.limit > 0))
                command_usage("--limit must be greater than zero");
        if (has_confidence && !(o.replay.learner.confidence > 0 && o.replay.learner.confidence < 1))
                command_usage("--confidence must lie between 0 and 1");
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
