/* The learner of portfolios beside those that it was chosen from, and without its parts, on recorded runs (the tables of docs/evidence/portfolios.md):
 *
 *     bench_selectors [--selector NAME|all] [--allocation NAME|all] [--without PART,...] [--seeds 10] [--limit 60] [--order file] [--json] TABLE...
 *
 * Prints for each: selector, allocation, PAR-2 and its deviation over the seeds, queries solved and their deviation, how often the first arm was the
 * fastest, turns a query; behind them the best arm alone and the virtual best. Without --selector and --allocation it is the default that is measured;
 * with one selector and no allocation, the first that it goes with. */
#include <getopt.h>

#include "tests/bench/replay.h"
#include "tests/bench/baselines.h"

#define TABLES_MOST 16

struct options {
        const char *selector, *allocation;
        struct replay replay;
        bool json;
};

static int parse_without(char *text, unsigned *ret)
{
        static const char *const names[] = {"features", "hardness", "curves", "pausing", "guard"};
        static const unsigned flags[] = {WITHOUT_FEATURES, WITHOUT_HARDNESS, WITHOUT_CURVES, WITHOUT_PAUSING, WITHOUT_GUARD};

        for (char *word; (word = strsep(&text, ","));) {
                size_t i = 0;

                while (i < ARRAY_SIZE(names) && strcmp(names[i], word) != 0)
                        i++;
                if (i == ARRAY_SIZE(names))
                        return errorf(-EINVAL, "no part '%s'; there are features, hardness, curves, pausing and guard", word);
                *ret |= flags[i];
        }
        return 0;
}

static int measure(const struct options *o, const struct method *m, struct replay_score *s)
{
        struct replay replay = o->replay;
        int r;

        replay.learner.method = m;
        r = replay_run(&replay, s);
        if (r < 0)
                return r;
        if (o->json)
                printf("{\"selector\": \"%s\", \"allocation\": \"%s\", \"par2\": %.17g, \"solved\": %.17g, \"best_arm_par2\": %.17g, \"best_arm_solved\": %zu, "
                       "\"virtual_best_par2\": %.17g}\n",
                       m->name, baseline_allocation_of(m), s->par2.mean, s->solved.mean, s->best_arm_par2, s->best_arm_solved, s->virtual_best_par2);
        else
                printf("%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f%%\t%.1f\n", m->name, baseline_allocation_of(m), s->par2.mean, s->par2.deviation, s->solved.mean,
                       s->solved.deviation, 100 * s->first_best.mean, s->turns.mean);
        return 0;
}

static int measure_all(const struct options *o)
{
        const bool all = strcmp(o->selector, "all") == 0, all_allocations = o->allocation && strcmp(o->allocation, "all") == 0;
        struct replay_score score = {0};
        struct method m;
        bool found = false;
        int r = 0;

        for (const struct baseline_selector *s = baseline_selectors; s->name && r == 0; s++) {
                if (!all && strcmp(s->name, o->selector) != 0)
                        continue;
                for (const struct baseline_allocation *a = baseline_allocations; a->name && r == 0; a++) {
                        if (!baseline_method(s->name, all_allocations ? a->name : o->allocation, &m))
                                continue;
                        found = true;
                        r = measure(o, &m, &score);
                        if (!all_allocations)
                                break;
                }
        }
        if (r == 0 && !found)
                return errorf(-EINVAL, "no selector '%s' that goes with the allocation '%s'", o->selector, o->allocation ? o->allocation : "of its own");
        if (r == 0 && !o->json)
                printf("only %s\t-\t%.1f\t0.0\t%zu.0\t0.0\t-\t-\nvirtual best\t-\t%.1f\t0.0\t%zu.0\t0.0\t-\t-\n", score.best_arm_name, score.best_arm_par2,
                       score.best_arm_solved, score.virtual_best_par2, score.virtual_best_solved);
        return r;
}

int main(int argc, char **argv)
{
        static const struct option options[] = {{"selector", required_argument, NULL, 's'}, {"allocation", required_argument, NULL, 'a'},
                                                {"without", required_argument, NULL, 'w'},  {"seeds", required_argument, NULL, 'n'},
                                                {"limit", required_argument, NULL, 'l'},    {"order", required_argument, NULL, 'o'},
                                                {"json", no_argument, NULL, 'j'},           {0}};
        struct options o = {.selector = "survival", .replay = {.seeds = 10, .learner = {.limit = 60, .seed = 1}}};
        struct run_table *tables[TABLES_MOST];
        int r = 0;

        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1 && r == 0;) {
                if (c == 's')
                        o.selector = optarg;
                else if (c == 'a')
                        o.allocation = optarg;
                else if (c == 'w')
                        r = parse_without(optarg, &o.replay.learner.without);
                else if (c == 'n')
                        o.replay.seeds = (unsigned)atoi(optarg);
                else if (c == 'l')
                        o.replay.learner.limit = strtod(optarg, NULL);
                else if (c == 'o')
                        o.replay.keep_order = strcmp(optarg, "file") == 0;
                else if (c == 'j')
                        o.json = true;
                else
                        return 2;
        }
        for (; optind < argc && o.replay.n < TABLES_MOST && r == 0; optind++) {
                r = run_table_read(argv[optind], &tables[o.replay.n]);
                if (r == 0 && tables[o.replay.n]->alarms > 0)
                        fprintf(stderr, "%s:%u: one arm says sat and another one unsat (on %zu queries of this table)\n", argv[optind],
                                tables[o.replay.n]->first_alarm, tables[o.replay.n]->alarms);
                o.replay.n += r == 0;
        }
        o.replay.tables = (const struct run_table *const *)tables;
        if (r == 0)
                r = measure_all(&o);
        for (size_t i = 0; i < o.replay.n; i++)
                run_table_free(tables[i]);
        if (r < 0)
                fprintf(stderr, "bench_selectors: %s\n", error_message(r));
        return r < 0;
}
