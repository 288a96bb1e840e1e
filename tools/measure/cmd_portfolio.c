/* solverfs portfolio: add, list, show, run, reset, remove, features. */
#include "tools/ask.h"
#include "core/portfolio/portfolio.h"
#include "core/smtlib/feature.h"
#include "tools/words.h"

/* Replaces programs of the machine by their commits of `programs`. */
static void name_arms(char **arms, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const char *name = arms[i];

                command_program(&name);
                if (name != arms[i])
                        arms[i] = format_string(RECIPE_PROGRAMS "@%s", name);
        }
}

static void tell_problems(const struct portfolio *p)
{
        for (size_t i = 0; i < p->n_arms; i++)
                if (p->arms[i].problem)
                        complain("%s", p->arms[i].problem);
}

/* -- add, remove, reset ------------------------------------------------------------------------------------------ */

void cmd_portfolio_add(int argc, char **argv)
{
        static const char doc[] =
                "Define a portfolio: arms, of which an online learner chooses for each case which one runs, and for how long.\v"
                "An ARM is a solver or variant of the store, perhaps at a revision and with a seed: z3, z3@z3-4.8.9, 'cvc5@HEAD seed=3'; a "
                "program of this machine: 'exec:/usr/bin/cvc5 --strings-exp'; or a name and a command, whose program may change: "
                "'cvc5: /usr/bin/cvc5 --strings-exp {case}'. It is written into the store's config as [portfolio \"NAME\"].\n\n"
                "Example: solverfs portfolio add p z3@z3-4.8.9 z3@HEAD 'cvc5: cvc5 {case}'";
        const char *timeout = NULL, *memory = NULL, *seed = NULL, *settings[7];
        cleanup_portfolio struct portfolio *p = NULL;
        size_t n = 0;
        const struct command_option options[] = {
                {"timeout", 't', "T", "Time for all arms of a case together; default 20s", .text = &timeout},
                {"memory", 'm', "SIZE", "Memory for all arms of a case together; default 4g", .text = &memory},
                {"seed", 'S', "N", "Seed of the learner; default 1", .text = &seed},
                {0}};
        struct words words = command_parse(argc, argv, "NAME ARM...", doc, options);

        command_open(0);
        name_arms(words.list + 1, words.n - 1);
        for (const struct command_option *o = options; o->name; o++)
                if (*o->text) {
                        settings[n++] = o->name;
                        settings[n++] = *o->text;
                }
        settings[n] = NULL;
        command_must_usage(portfolio_add(common.workspace, words.list[0], words.list + 1, settings));
        if (portfolio_open(common.workspace, words.list[0], &p) == 0)
                tell_problems(p);
}

/* A command that changes each portfolio named; after a failure it goes on with the next. */
static void each_name(int argc, char **argv, const char *doc, int (*change)(struct workspace *w, const char *name))
{
        struct words names = command_parse(argc, argv, "NAME...", doc, NULL);

        command_open(0);
        for (size_t i = 0; i < names.n; i++) {
                int r = change(common.workspace, names.list[i]);

                if (r < 0)
                        command_worse(fail_usage(r));
        }
}

void cmd_portfolio_reset(int argc, char **argv)
{
        each_name(argc, argv,
                  "Forget what portfolios have learned, and their answers: the next case is the first again. What their "
                  "arms did alone is kept.",
                  portfolio_reset);
}

void cmd_portfolio_remove(int argc, char **argv)
{
        each_name(argc, argv, "Take portfolios out of the config. One that is added again as it was has learned what it had.", portfolio_remove);
}

/* -- list, show -------------------------------------------------------------------------------------------------- */

static void list_one(const char *name)
{
        static const struct column columns[] = {{"PORTFOLIO", 20}, {"ARMS", 5, true}, {"TIMEOUT", 8, true}, {"LEARNED", 8, true}, {0}};
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_trial_list struct trial_list trials = {0};
        int r = portfolio_open(common.workspace, name, &p) ?: trials_read(common.workspace, p, 0, &trials);

        if (r < 0) {
                command_worse(fail_usage(r));
                return;
        }
        output_object(columns, json_pack("{ss sI so ss sI}", "portfolio", name, "arms", (json_int_t)p->n_arms, "timeout",
                                         json_seconds(p->wall_ns), ".timeout", format_duration(p->wall_ns).s, "learned", (json_int_t)trials.n));
}

void cmd_portfolio_list(int argc, char **argv)
{
        char **names = NULL;
        size_t n = 0;

        command_parse(argc, argv, "", "List the portfolios: name, arms, time limit, cases learned from.", options_json);
        command_open(STORE_READ_ONLY);
        command_must_usage(portfolio_names(common.workspace, &names, &n));
        for (size_t i = 0; i < n; i++)
                list_one(names[i]);
        strings_free(names);
}

void cmd_portfolio_show(int argc, char **argv)
{
        static const struct column arm_columns[] = {{"arm", 16}, {"kind", 7}, {"what", 30}, {"seed", 4, true}, {"problem"}, {0}};
        static const struct column score_columns[] = {{"what", 24}, {"cases", 5, true}, {"par2", 10, true}, {"solved", 6, true},
                                                      {"share-of-virtual-best"}, {0}};
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_buffer struct buffer arms = {0}, score = {0};
        static const char doc[] =
                "Show a portfolio: its arms, and how it stands against each of them and the virtual best (arms.tsv and score.tsv of the mount).";
        struct words names = command_parse(argc, argv, "NAME", doc, NULL);

        command_open(STORE_READ_ONLY);
        command_must_usage(portfolio_open(common.workspace, names.list[0], &p));
        command_must_usage(portfolio_print_arms(common.workspace, p, &arms));
        command_must_usage(portfolio_print_score(common.workspace, p, &score));
        output_table(arm_columns, arms.data);
        output_bytes("\n");
        output_table(score_columns, score.data);
}

/* -- run --------------------------------------------------------------------------------------------------------- */

struct portfolio_run {
        struct portfolio *portfolio;
        struct case_selection cases;
        bool alone; /* item i is a trial of one arm, else of the whole portfolio */
};

static int make(void *user, size_t i, struct query **ret)
{
        struct portfolio_run *a = user;

        if (a->alone) /* all arms on a case before the next case, so that the machine's noise affects them alike */
                return query_arm(common.workspace, a->portfolio, i % a->portfolio->n_arms, a->cases.list[i / a->portfolio->n_arms], ret);
        return query_trial(common.workspace, a->portfolio, a->cases.list[i], ret);
}

static const struct column run_columns[] = {{"CASE", 6, true}, {"RESULT", 8}, {"TIME", 12, true}, {"SOLVER", 20}, {"NAME"}, {0}};

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct portfolio_run *a = user;
        const struct portfolio *p = a->portfolio;
        const struct case_info *info = a->cases.list[a->alone ? i / p->n_arms : i];
        cleanup_free char *name = printable(info->name);
        const struct trial *t;
        const char *solver;
        size_t arm;

        if (r < 0) {
                complain("portfolio %s on case %u: %s", p->name, info->id, reason);
                command_worse(status_of_value(r));
                return;
        }
        t = ((const struct trial_value *)v)->trial;
        arm = a->alone ? i % p->n_arms : t->winner;
        solver = arm < p->n_arms ? p->arms[arm].name : "-";
        add_object(to, run_columns, json_pack("{ss si ss ss sf so ss}", "portfolio", p->name, "case", (int)info->id, "name", name, "result",
                                              verdict_name(t->verdict), "time", t->seconds, "solver", json_printable(solver), "alarm",
                                              t->alarm && common.json ? t->alarm : ""));
        if (!a->alone && t->winner >= p->n_arms && t->seconds == 0) { /* a run takes some time */
                if (t->n_turns == 0)
                        complain("portfolio %s on case %u: no arm is left, as every arm was wrong before; see 'solverfs portfolio show %s'", p->name,
                                 info->id, p->name);
                else
                        complain("portfolio %s on case %u: no arm could be run on this %s; see 'solverfs portfolio show %s'", p->name, info->id,
                                 format_notation(info->format), p->name);
                command_worse(STATUS_FAILED);
        }
        if (t->alarm && *t->alarm && (a->alone || t->n_turns > 0)) { /* older versions called it an alarm that no arm was left */
                alarm_line("SOUNDNESS: case %u (%s): %s", info->id, name, t->alarm);
                command_worse(STATUS_FAILED);
        }
}

void cmd_portfolio_run(int argc, char **argv)
{
        static const char doc[] =
                "Let a portfolio answer cases, unless it has already. Prints for each: case, result, seconds of all arms together, the arm that "
                "answered, name.\v"
                "CASE is as for 'solverfs run', but no query of a script. What is known of an arm's run is taken as it is and not run again. Two arms "
                "that contradict each other, or an arm and the case's own :status, are reported on standard error, and the exit status is 1.\n\n"
                "Example: solverfs portfolio run p QF_S/";
        struct portfolio_run a = {0};
        const char *on = NULL;
        const struct command_option options[] = {
                {"alone", 'A', NULL, "Run each arm alone on each case instead, for comparison; nothing is learned from that", .on = &a.alone},
                OPTION_ON(on),
                OPTION_JSON("Print a JSON object for each, a line each"),
                {0}};
        struct words words = command_parse(argc, argv, "NAME CASE...", doc, options);

        command_signals();
        command_open(0);
        command_run_on(on);
        command_must_usage(portfolio_open(common.workspace, words.list[0], &a.portfolio));
        command_whole_cases(words.list + 1, words.n - 1, &a.cases);
        tell_problems(a.portfolio);
        command_ask(&(struct command_batch){.n = a.cases.n * (a.alone ? a.portfolio->n_arms : 1), .title = "portfolio", .columns = run_columns,
                                             .make = make, .answered = answered, .user = &a});
        case_selection_done(&a.cases);
        portfolio_unref(a.portfolio);
}

/* -- features ---------------------------------------------------------------------------------------------------- */

/* For several cases the first column is CASE. */
static void print_cases(const struct words *words)
{
        static const struct column columns[] = {{"CASE", 6, true}, {"FEATURE", 28}, {"VALUE"}, {0}};
        cleanup_case_selection struct case_selection cases = {0};

        command_whole_cases(words->list, words->n, &cases);
        for (size_t i = 0; i < cases.n; i++) {
                cleanup_buffer struct buffer text = {0};
                int k = case_features_print(common.workspace, cases.list[i], &text);
                char id[16];

                if (k < 0) {
                        complain("case %u (%s): %s", cases.list[i]->id, cases.list[i]->name, error_message(k));
                        command_worse(k == -EINVAL ? STATUS_FAILED : STATUS_SYSTEM);
                        continue;
                }
                snprintf(id, sizeof(id), "%u", cases.list[i]->id);
                output_rows(cases.n > 1 ? columns : columns + 1, cases.n > 1 ? id : "", text.data);
        }
}

void cmd_portfolio_features(int argc, char **argv)
{
        static const char doc[] =
                "Print the features of cases: the numbers that portfolios learn from (features.tsv in the mount).\v"
                "Example: solverfs portfolio features QF_S/";
        static const struct column columns[] = {{"FORMAT", 8}, {"FEATURE", 28}, {"MEANING"}, {0}};
        bool list = false;
        const struct command_option options[] = {{"list", 'l', NULL, "Print the meaning of each feature", .on = &list}, {0}};
        struct words words = command_parse(argc, argv, "[CASE...]", doc, options);

        if (words.n == 0 && !list)
                command_usage("no case given");
        for (int cnf = 0; list && cnf < 2; cnf++) {
                size_t n;
                const struct feature *table = cnf ? cnf_features(&n) : smt_features(&n);

                for (size_t i = 0; i < n; i++)
                        output_rowf(columns, "%s\t%s\t%s", cnf ? "cnf" : "smt2", table[i].name, table[i].meaning);
        }
        if (words.n == 0)
                return;
        command_open(STORE_READ_ONLY);
        print_cases(&words);
}
