/* solverfs compare: compares two versions on the same cases. */
#include "tools/ask.h"
#include "core/study/compare/comparison_report.h"
#include "core/study/observation/finding_compared.h"
#include "core/query/programs.h"
#include "tools/words.h"

#define MARKDOWN_ROWS 20

struct compare {
        /* options */
        const char *words[2];
        struct words case_words;
        const char *scatter, *cactus, *machine_name;
        const char *on; /* NULL: as the config says */
        bool markdown, has_pairs, known, keep;
        double fail_ratio; /* 0: not given */
        struct comparing_options options;

        struct case_selection cases;
        struct comparing *comparing;
};

/* -- the versions ------------------------------------------------------------------------------------------------- */

/* The solver of a word: SOLVER@REV, or SOLVER alone (its HEAD), borrowed; *ret_revision is the rest. NULL: the word is a revision. */
static struct solver *solver_of(const struct solver_list *l, const char *word, const char **ret_revision)
{
        size_t n = strcspn(word, "@");

        for (size_t i = 0; i < l->n; i++) {
                if (strlen(l->list[i]->recipe->name) != n || strncmp(l->list[i]->recipe->name, word, n) != 0)
                        continue;
                *ret_revision = word[n] == '@' && word[n + 1] ? word + n + 1 : "HEAD";
                return l->list[i];
        }
        *ret_revision = word;
        return NULL;
}

/* Replaces words like HOST@REV+LIBRARY@REV by SOLVER@SHA, where the solver holds one part at its REV, and SHA is the commit of the other. The library is
 * held if both words have the same commit of it, else the host; of a word with one REV the part that has it. */
static void combine_words(struct compare *o)
{
        struct combination c[2] = {0};
        enum combination_part preferred = HOST;
        bool is_combined[2];

        for (int i = 0; i < 2; i++)
                is_combined[i] = !program_is_text(o->words[i]) && command_must_usage(combination_parse(common.workspace, o->words[i], &c[i])) == 1;
        if (is_combined[0] && is_combined[1] && c[0].part[LIBRARY].solver == c[1].part[LIBRARY].solver &&
            c[0].part[LIBRARY].commit == c[1].part[LIBRARY].commit)
                preferred = LIBRARY;
        for (int i = 0; i < 2; i++) {
                const enum combination_part held = c[i].part[preferred].revision ? preferred : !preferred;
                cleanup_solver struct solver *s = NULL;
                cleanup_free char *word = NULL;

                if (is_combined[i]) {
                        command_combined(&c[i], held, NULL, &s);
                        word = format_string("%s@%s", s->recipe->name, c[i].part[!held].revision ? full_sha(s, c[i].part[!held].commit).s : "HEAD");
                        strings_add(&common.names, word);
                        o->words[i] = common.names[strings_count(common.names) - 1];
                }
                combination_done(&c[i]);
        }
}

/* A word without a solver is a revision of the other word's solver, or of the store's only one. */
static void find_versions(struct compare *o)
{
        cleanup_solver_list struct solver_list *l = NULL;
        struct comparing_version *v = o->options.version;
        struct solver *named[2], *only = NULL;
        const char *revisions[2];
        size_t n = 0; /* solvers with a history */

        combine_words(o);
        command_must(workspace_solvers(common.workspace, &l));
        for (size_t i = 0; i < l->n; i++)
                if (!l->list[i]->recipe->is_programs) {
                        only = l->list[i];
                        n++;
                }
        for (int i = 0; i < 2; i++)
                named[i] = solver_of(l, o->words[i], &revisions[i]);
        for (int i = 0; i < 2; i++) {
                struct solver *s = named[i] ? named[i] : named[!i] ? named[!i] : n == 1 ? only : NULL;

                if (program_is_text(o->words[i])) {
                        command_find_program(o->words[i], &v[i].solver, &v[i].commit);
                        continue;
                }
                if (!s)
                        command_refuse(STATUS_USAGE, "'%s' is no solver: with %zu solvers in the store, write SOLVER@%s", o->words[i], n, o->words[i]);
                v[i].solver = solver_ref(s);
                v[i].commit = command_commit(s, "compare", revisions[i]);
        }
        for (int i = 0; i < 2; i++)
                command_seed(v[i].solver, v[i].commit, o->options.has_seed);
}

/* True if the words are SOLVER REV REV, as other commands take them. */
static bool are_solver_and_revisions(const struct compare *o)
{
        cleanup_case_selection struct case_selection s = {0};
        struct solver *solver = o->options.version[0].solver;
        uint32_t commit;

        return strcmp(o->words[0], solver->recipe->name) == 0 && history_resolve(solver->history, o->case_words.list[0], &commit) == 0 &&
               cases_select(common.workspace, o->case_words.list, 1, &s) < 0;
}

/* CASE..., else those of --set, else all; without the cases that one of the solvers does not take. */
static void find_cases(struct compare *o)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;

        if (o->case_words.n == 0) {
                if (o->options.set)
                        command_must(sets_get(workspace_sets(common.workspace), o->options.set, &set));
                command_must(comparing_cases(common.workspace, o->options.set, o->options.version, &o->cases));
        } else if (are_solver_and_revisions(o))
                command_refuse(STATUS_USAGE, "'%s' is no case but a revision: two versions of %s are 'solverfs compare %s@%s %s@%s'",
                               o->case_words.list[0], o->words[0], o->words[0], o->words[1], o->words[0], o->case_words.list[0]);
        else
                command_cases(o->case_words.list, o->case_words.n, &o->cases);
        for (int side = 0; side < 2; side++)
                command_keep_format(o->options.version[side].solver, o->case_words.list, o->case_words.n, &o->cases);
        if (o->cases.n == 0 && o->options.set)
                command_refuse(STATUS_ABSENT, "the set '%s' has no case that both solvers take: add some with 'solverfs set add %s CASE...'",
                               o->options.set, o->options.set);
        if (o->cases.n == 0)
                command_refuse(STATUS_ABSENT, "there are no cases that both solvers take: add some with 'solverfs case add FILE'");
}

/* -- measuring ---------------------------------------------------------------------------------------------------- */

static int show(void *user, const struct ask_progress *p)
{
        struct comparing_progress c;
        char what[160];

        comparing_progress(user, &c);
        if (c.repeating)
                snprintf(what, sizeof(what), "compare: %zu of %zu cases open, repeating", c.open_cases, c.cases);
        else
                snprintf(what, sizeof(what), "compare: first runs");
        ask_show(p, what, c.asked, 0);
        return 0;
}

static int measure(struct compare *o)
{
        struct batch batch;
        int r;

        command_engine();
        while ((r = comparing_next(o->comparing, &batch)) > 0 && (r = ask_round(&batch, show)) == 0)
                ;
        r = ask_end(r, "; what was measured is kept, and the same command goes on from there");
        return r < 0 ? fail(r) : STATUS_OK;
}

/* -- showing ------------------------------------------------------------------------------------------------------ */

/* The rows of a table, whose text begins with a heading. */
static void print_table(const struct column *columns, const char *word, const struct buffer *text)
{
        const char *rows = text->size > 0 ? strchr(text->data, '\n') : NULL;

        command_must(buffer_error(text));
        output_rows(columns, word, rows ? rows + 1 : "");
}

/* Prints a line on the whole set, then its numbers, the families and the cases. */
static void print_tables(const struct comparing_table *t)
{
        static const struct column summary[] = {{"MEASURE", 16},        {"A", 13, true},         {"B", 13, true}, {"RATIO", 8, true, 1},
                                                {"LOW", 8, true, 2}, {"HIGH", 8, true, 2}, {0}};
        static const struct column families[] = {
                {"KIND", 11, false, 6},   {"FAMILY", 20},           {"CASES", 5, true},        {"COMPARED", 8, true, 7}, {"SOLVED-A", 8, true, 2},
                {"SOLVED-B", 8, true, 2}, {"LOST", 5, true, 5},     {"GAINED", 6, true, 5},    {"PAR2-A", 10, true, 3},  {"PAR2-B", 10, true, 3},
                {"CHANGE", 9},            {"RATIO", 8, true},       {"LOW", 8, true, 4},       {"HIGH", 8, true, 4},     {"CASES-LOW", 9, true, 7},
                {"CASES-HIGH", 10, true, 7}, {"P", 8, true, 5},     {"WORSE", 5, true, 1},     {"BETTER", 6, true, 1},   {0}};
        static const struct column changes[] = {
                {"KIND", 11, false, 6},    {"CASE", 5, true},           {"CHANGE", 9},           {"RESULT-A", 8, false, 2}, {"TIME-A (s)", 10, true, 1},
                {"RESULT-B", 8, false, 2}, {"TIME-B (s)", 10, true, 1}, {"RATIO", 8, true},      {"LOW", 8, true, 4},       {"HIGH", 8, true, 4},
                {"P", 8, true, 5},         {"PAIRS", 5, true, 3},       {"SOLVED-A", 8, true, 7}, {"SOLVED-B", 8, true, 7}, {"EFFORT", 8, true, 7},
                {"MEMORY", 8, true, 7},    {"BY", 6, false, 3},         {"NAME"},                {0}};
        static const char *const kinds[] = {"regression", "improvement", "differs"};
        cleanup_buffer struct buffer line = {0}, numbers = {0}, rows = {0};

        comparison_write_line(t, &line);
        comparison_write_summary(t, &numbers);
        output_text(line.data);
        print_table(summary, "", &numbers);
        if (t->judgement.options.n_families > 0)
                comparison_write_families(t, &rows);
        print_table(families, "family", &rows);
        for (enum comparison_list list = 0; list < N_COMPARISON_LISTS; list++) {
                cleanup_buffer struct buffer some = {0};

                comparison_write_changes(t, list, &some);
                print_table(changes, kinds[list], &some);
        }
}

static void print(const struct compare *o, const struct comparing_table *t)
{
        cleanup_buffer struct buffer text = {0}, scatter = {0}, cactus = {0};

        if (common.json)
                output_json(comparison_json(t));
        else if (o->markdown)
                comparison_write_markdown(t, MARKDOWN_ROWS, &text);
        else
                print_tables(t);
        output_write(&text);
        if (o->scatter) {
                comparison_plot_scatter(t, false, COMPARISON_SCATTER_WIDTH, &scatter);
                command_write_file(o->scatter, &scatter);
        }
        if (o->cactus) {
                comparison_plot_cactus(t, &cactus);
                command_write_file(o->cactus, &cactus);
        }
}

/* -- the verdict -------------------------------------------------------------------------------------------------- */

static void tell_unbuildable(struct compare *o, const struct comparing_table *t)
{
        for (int side = 0; side < 2; side++) {
                const struct comparing_version *v = &o->options.version[side];
                cleanup(build_record_unrefp) struct build_record *record = NULL;

                if (t->unbuildable[side] && build_find(common.workspace, v->solver, v->commit, WITHOUT_LOG, &record) >= 0)
                        command_tell_unbuildable(complain, v->solver, v->commit, record, NULL);
        }
}

static void tell_not_started(const struct compare *o, const struct comparing_table *t)
{
        for (int side = 0; side < 2; side++)
                if (t->not_started[side])
                        command_tell_not_started(complain, o->options.version[side].solver, o->options.version[side].commit, t->not_started[side], NULL);
}

/* Notes what the pairs do not show. */
static void tell_chance(const struct compare *o, const struct comparing_table *t)
{
        const struct comparing_version *v = o->options.version;
        const bool has_program = v[0].solver->recipe->is_programs || v[1].solver->recipe->is_programs;

        for (int side = 0; side < 2; side++)
                if (t->idle_seed[side])
                        note("the seed of %s changes nothing: its effort is the same under all of them", v[side].solver->recipe->name);
        if (t->repeated > 0)
                note("%zu of %zu cases cannot be scrambled, and their pairs are repetitions: %s", t->repeated, t->options->n, t->why_not_scrambled);
        if (t->chance == COMPARING_REPETITIONS && t->judgement.set.pairs > t->judgement.set.compared)
                note("%s, so pairs are repetitions, which do not show how far the solvers go by chance; '--scramble' runs scrambled inputs",
                     has_program ? "not both programs are told a seed (as in 'exec:PATH --seed={n}')" : "not both recipes have a 'seed'");
}

/* Returns how many answers are wrong or contradict each other. */
static size_t tell_answers(const struct comparing_table *t)
{
        const struct judged_set *s = &t->judgement.set;
        const size_t wrong = s->wrong[0] + s->wrong[1], disputed = s->changes[JUDGE_CONTRADICTION];

        if (wrong > 0)
                alarm_line("%s: %zu of the first version, %zu of the second; 'solverfs status' names them", answer_alarm_name(ANSWER_WRONG), s->wrong[0],
                           s->wrong[1]);
        if (disputed > 0)
                alarm_line("%s: on %zu case%s the two contradict each other, or one itself", answer_alarm_name(ANSWER_CONTRADICTION), disputed,
                           plural(disputed));
        return wrong + disputed;
}

/* Says what is wrong with the result. A status. */
static int tell_judgement(struct compare *o, const struct comparing_table *t)
{
        const struct judge_set_shift *set = &t->judgement.set.by[o->options.measure];
        size_t failing = 0, open = 0, bad;
        bool is_set_worse = o->fail_ratio > 0 && set->cases > 1 && set->change == JUDGE_MORE && set->ratio.mean >= o->fail_ratio;

        if (t->unbuildable[0] || t->unbuildable[1]) {
                tell_unbuildable(o, t);
                return STATUS_FAILED;
        }
        tell_not_started(o, t);
        tell_chance(o, t);
        bad = tell_answers(t);
        for (size_t i = 0; i < o->cases.n && o->fail_ratio > 0; i++) {
                const struct judged_case *c = &t->judgement.cases[i];

                /* a ratio does not excuse a wrong or missing answer */
                open += c->wanted > 0 || c->change == JUDGE_UNKNOWN;
                failing += judge_is_regression(c->change) && (c->change != JUDGE_MORE || c->by[o->options.measure].ratio >= o->fail_ratio);
        }
        if (o->fail_ratio > 0 && t->judgement.set.compared == 0) {
                complain("nothing was compared: no case has results of both versions");
                return STATUS_FAILED;
        }
        if (open > 0)
                note("%zu case%s open: more pairs of runs might show a regression", open, open == 1 ? " is" : "s are");
        if (failing > 0)
                complain("%zu regression%s: a wrong or missing answer, or worse by %g or more", failing, plural(failing), o->fail_ratio);
        else if (is_set_worse)
                complain("all cases together are worse by %g or more", o->fail_ratio);
        return failing + bad > 0 || is_set_worse ? STATUS_FAILED : STATUS_OK;
}

/* -- the command -------------------------------------------------------------------------------------------------- */

/* A set as the only word is --set, unless a case has its name. */
static void take_set(struct compare *o)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        if (o->case_words.n != 1 || cases_find(workspace_cases(common.workspace), o->case_words.list[0], &info) == 0 ||
            sets_get(workspace_sets(common.workspace), o->case_words.list[0], &set) < 0)
                return;
        o->options.set = o->case_words.list[0];
        o->case_words.n = 0;
}

/* Refuses comparisons that cannot be kept, before anything is measured. */
static void check_keep(const struct compare *o)
{
        const struct comparing_version *v = o->options.version;

        if (!o->keep)
                return;
        if (o->options.most_pairs == 1)
                command_usage("one pair of runs proves nothing that could be kept: --keep and --pairs 1 exclude each other");
        if (o->options.has_seed && o->options.seed == 0)
                command_usage("the seed of a finding is 1 or more: --keep and --seed 0 exclude each other");
        if (o->options.measure == JUDGE_PACE)
                command_usage("--keep is for --measure time, cpu, memory and effort");
        if (v[0].solver->number != v[1].solver->number)
                command_refuse(STATUS_USAGE, "--keep is for two versions of one solver: %s and %s are two", v[0].solver->recipe->name,
                               v[1].solver->recipe->name);
}

static void keep(const struct compare *o, const struct comparing_table *t)
{
        struct findings_compared kept;

        command_must(findings_add_compared(common.workspace, t, &kept));
        note("%zu regression%s kept, %zu known already; 'solverfs findings %s' lists them", kept.added, plural(kept.added), kept.known,
             o->options.version[0].solver->recipe->name);
        if (kept.queries > 0)
                note("%zu %s of scripts, and not kept: 'solverfs case cut' writes a script that asks one of them", kept.queries,
                     kept.queries == 1 ? "is a query" : "are queries");
}

/* A status. */
static int compare(struct compare *o)
{
        const struct comparing_version *v = o->options.version;
        const struct comparing_table *t;
        uint32_t commits[2];
        bool is_whole = o->case_words.n == 0 && !o->options.has_seed && o->options.wall_ns == 0 && !o->known;
        int r;

        find_versions(o);
        commits[0] = v[0].commit;
        commits[1] = v[1].commit;
        check_keep(o);
        find_cases(o);
        o->options.machine = command_machine(o->machine_name);
        o->options.cases = o->cases.list;
        o->options.n = o->cases.n;
        o->options.most_wanted = o->has_pairs ? 0 : judge_usual_pairs(o->cases.n);
        command_must_usage(comparing_new(&o->options, &o->comparing));
        r = o->known ? command_must(comparing_read(o->comparing)) : measure(o);
        t = comparing_table(o->comparing);
        if (r == STATUS_OK && is_whole)
                command_must(comparing_note(t)); /* so that the mount lists it */
        if (r == STATUS_INTERRUPTED)
                tell_answers(t);
        if (r != STATUS_OK && (r != STATUS_INTERRUPTED || t->judgement.set.compared == 0))
                return r;
        print(o, t); /* also after an interruption */
        for (int side = 0; side < 2 && !o->options.machine; side++)
                if (side == 0 || v[0].solver->number != v[1].solver->number)
                        command_note_tools(v[side].solver, &commits[side], v[0].solver->number == v[1].solver->number ? 2 : 1);
        if (r == STATUS_OK && o->keep)
                keep(o, t);
        return r != STATUS_OK ? r : tell_judgement(o, t);
}

void cmd_compare(int argc, char **argv)
{
        static const char doc[] =
                "Measure what is missing of two versions on the same cases, under seeds 1, 2, 3, … on both sides, and say what changed: of all cases "
                "together, of each folder of cases, and of each case that is significantly worse or better, wrong answers first. A and B are "
                "SOLVER@REV, SOLVER (its HEAD), REV (of the other one's solver), or 'exec:PATH ARG...' (a program of this machine).\v"
                "The first line is of all cases: the geometric mean of the ratios, over other seeds of these cases and over other cases like these; "
                "how many are solved; PAR-2. Then lines of a summary: measure, a, b, ratio, low, high. Then a line for each folder: family, its "
                "name, cases, compared, solved a, solved b, lost, gained, PAR-2 a, PAR-2 b, change, ratio, low, high, low and high over cases, p, "
                "worse, better. Then for each change: regression or improvement, case, change, result a, time a, result b, time b, ratio, low, high, "
                "p, pairs, solved a, solved b, ratios of effort and memory, what decided it, name.\n"
                "A change is at least 5 % (of times 1 ms, too), and a shift over seeds: at least five pairs of runs in turn. When the two do not "
                "differ, one comparison in a hundred reports any. How: docs/comparing.md.\n"
                "The exit status is 1 when an answer is wrong, when the two contradict each other or one itself, when a version cannot be "
                "built, and as --fail-on-regression says.\n\n"
                "  solverfs compare z3@z3-4.8.8 z3@z3-4.8.9\n"
                "  solverfs compare main HEAD --set ci --fail-on-regression 1.2 --markdown\n"
                "  solverfs compare z3@HEAD cvc5@HEAD QF_S/ --scatter z3-cvc5.svg\n"
                "  solverfs compare exec:/usr/bin/z3 'exec:/usr/bin/z3 smt.arith.solver=2'";
        static struct compare o = {.options.most_pairs = JUDGE_PAIRS};
        bool scramble = false, one_seed = false;
        const struct command_option options[] = {
                {"set", 0, "SET", "Compare on the cases of this set; all cases unless given", .text = &o.options.set},
                {"pairs", 0, "N", "At most N pairs of runs of a case (60; of 20 cases or fewer 24)", .big_number = &o.options.most_pairs, .least = 1,
                 .most = JUDGE_PAIRS, .is_given = &o.has_pairs, .excludes = "one-seed"},
                {"one-seed", 0, NULL, "One pair of runs for each case: shows quickly what differs at this seed, but proves nothing",
                 .on = &one_seed, .excludes = "keep", .why = "--one-seed proves nothing that could be kept"},
                {"measure", 0, "WHAT", "The measure to compare: time (default), cpu, memory, effort, or seconds-per-effort",
                 .parse = parse_any_measure, .to = &o.options.measure},
                {"scramble", 0, NULL, "Scramble the inputs if the solvers have no seeds", .on = &scramble},
                {"fail-on-regression", 0, "RATIO",
                 "Exit status 1 if a case, or all together, is worse by RATIO or more, lost its answer, or is now wrong; needs 5 pairs of runs or "
                 "more, better 8",
                 .ratio = &o.fail_ratio},
                {"known", 0, NULL, "Measure nothing; compare stored results", .on = &o.known},
                {"machine", 0, "NAME", "Compare results of this machine; measures nothing", .text = &o.machine_name, .is_given = &o.known},
                OPTION_ON(o.on),
                {"keep", 0, NULL, "Keep each case that became slower or is no longer solved as a finding", .on = &o.keep, .excludes = "machine",
                 .why = "findings are made of results of this machine"},
                {"markdown", 0, NULL, "Print a summary for a pull request", .on = &o.markdown, .excludes = "json"},
                {"scatter", 0, "FILE", "Write the scatter plot, as SVG", .file = &o.scatter},
                {"cactus", 0, "FILE", "Write the cactus plot, as SVG", .file = &o.cactus},
                OPTION_SEED(o.options.seed, o.options.has_seed, "The first pair is under the solvers' seed N, the next ones under N + 1, N + 2, …"),
                {"timeout", 't', "T", "Another time limit than the recipes': 500ms, 20s, 10m", .ns = &o.options.wall_ns},
                OPTION_JSON("Print one JSON object with everything"),
                {0}};

        o.case_words = command_parse(argc, argv, "A B [CASE...]", doc, options);
        for (int i = 0; i < 2; i++)
                o.words[i] = word_next(&o.case_words);
        if (o.options.set && o.case_words.n > 0)
                command_usage("--set and CASE... exclude each other");
        if (scramble)
                o.options.scramble = COMPARING_SCRAMBLE;
        if (one_seed)
                o.options.most_pairs = 1;
        if (o.fail_ratio > 0 && o.options.most_pairs < JUDGE_FIRST_PAIRS)
                command_usage("--fail-on-regression needs %d pairs of runs or more: fewer show no regression", JUDGE_FIRST_PAIRS);
        if (o.has_pairs && o.options.most_pairs < JUDGE_FIRST_PAIRS)
                note("fewer than %d pairs of runs show no change, however large it is", JUDGE_FIRST_PAIRS);
        if (o.fail_ratio > 0 && o.options.most_pairs < JUDGE_CASE_PAIRS)
                note("with fewer than %d pairs a case fails only if its change is constant, or that of all cases", JUDGE_CASE_PAIRS);
        command_signals();
        command_open(0);
        take_set(&o);
        o.options.workspace = common.workspace;
        command_run_on(o.on);
        command_worse(compare(&o));
}
