/* solverfs triage: the kinds of changes that made a solver slow. */
#include <math.h>

#include "core/study/observation/culprits.h"
#include "tools/words.h"

struct triage {
        struct words solvers; /* names */
        const char *commit;   /* --set: a commit of the first solver; NULL: not given */
        struct words words;   /* --set: its class and intent */
        bool table;
};

/* --set: each word is a class or an intent. */
static void set_by_hand(const struct triage *t)
{
        uint32_t commit = command_commit(common.solver, "--set", t->commit);

        for (size_t i = 0; i < t->words.n; i++) {
                enum culprit_class class = CLASS_UNKNOWN;
                enum culprit_intent intent = INTENT_UNKNOWN;
                bool is_class = false;

                command_must_as(STATUS_USAGE, culprit_word_parse(t->words.list[i], &class, &is_class, &intent));
                command_must(culprit_set(common.workspace, common.solver, commit, is_class ? &class : NULL, is_class ? NULL : &intent));
        }
}

static struct short_text amount_text(enum judge_measure m, double amount)
{
        struct short_text text = seconds_text(amount);

        if (m != JUDGE_TIME && isfinite(amount))
                memcpy(text.s, judge_amount_text(m, amount).s, sizeof(text.s));
        return text;
}

static void show_culprit(const struct culprit *c)
{
        static const struct column columns[] = {{"COMMIT", 12},         {"CLASS", 11},              {"INTENT", 10},            {"BY", 5},
                                                {"FINDINGS", 8, true},  {"BEFORE (s)", 10, true, 1}, {"AFTER (s)", 10, true, 1}, {"SUBJECT"}, {0}};
        cleanup_buffer struct buffer subject = {0};
        const struct commit_sha sha = full_sha(common.solver, c->commit);
        bool by_hand = c->is_class_set || c->is_intent_set;
        json_t *findings = json_array();

        history_subject(common.solver->history, c->commit, &subject);
        for (size_t i = 0; i < c->n; i++)
                json_array_append_new(findings, json_integer(c->findings[i]));
        output_object(columns, json_pack("{ss ss ss ss sb ss so sI so so ss ss ss ss*}", "commit", sha.s, ".commit", commit_brief(&sha).s, "class",
                                         culprit_class_name(c->class), "intent", culprit_intent_name(c->intent), "by-hand", (int)by_hand, ".by",
                                         by_hand ? "hand" : "words", "findings", findings, ".findings", (json_int_t)c->n, "before", json_number(c->before),
                                         "after", json_number(c->after), ".before", amount_text(c->measure, c->before).s, ".after",
                                         amount_text(c->measure, c->after).s, "subject", subject.data ?: "", "measure",
                                         c->measure == JUDGE_TIME ? NULL : judge_measure_name(c->measure)));
}

#define ROWS (N_CLASSES + 2) /* the classes, in an order of their own; then compromise and bug */

/* --table: for each class and intent how many culprits each solver has. */
static void show_table(const struct triage *t)
{
        static const enum culprit_class order[] = {CLASS_FIX, CLASS_ALGORITHM, CLASS_THEORY, CLASS_REFACTORING, CLASS_UNKNOWN};
        cleanup_free size_t(*counts)[ROWS] = allocate(t->solvers.n, sizeof(*counts));
        cleanup_buffer struct buffer b = {0};

        buffer_adds(&b, "class");
        for (size_t i = 0; i < t->solvers.n; i++) {
                cleanup_culprits struct culprits all = {0};
                cleanup_solver struct solver *s = NULL;

                command_solver(t->solvers.list[i], &s);
                command_must(culprits_read(common.workspace, s, &all));
                for (size_t k = 0; k < all.n; k++) {
                        counts[i][all.list[k].class]++;
                        if (all.list[k].intent != INTENT_UNKNOWN)
                                counts[i][N_CLASSES + all.list[k].intent - INTENT_COMPROMISE]++;
                }
                buffer_addf(&b, "\t%s", t->solvers.list[i]);
        }
        buffer_adds(&b, "\ttotal\n");
        for (size_t row = 0; row < ROWS; row++) {
                size_t k = row < N_CLASSES ? (size_t)order[row] : row, total = 0;

                buffer_adds(&b, row < N_CLASSES ? culprit_class_name(order[row])
                                                : culprit_intent_name((enum culprit_intent)(row - N_CLASSES + INTENT_COMPROMISE)));
                for (size_t i = 0; i < t->solvers.n; total += counts[i++][k])
                        buffer_addf(&b, "\t%zu", counts[i][k]);
                buffer_addf(&b, "\t%zu\n", total);
        }
        output_write(&b);
}

void cmd_triage(int argc, char **argv)
{
        static const char doc[] =
                "List the commits responsible for what campaigns found, by the kind of change: fix, algorithm, theory (another theory solver, or "
                "another default), refactoring, unknown. Prints for each: commit, class, compromise or bug (- where neither is known), words or hand "
                "(what says so), findings, seconds before and after it for the worst of them, subject.\v"
                "The class is read from the commit's message and the paths it changed; what is set by hand stands above it. A culprit is a bug when "
                "a finding of it is marked confirmed or fixed (solverfs findings --mark).\n"
                "\n"
                "  solverfs triage z3\n"
                "  solverfs triage z3 --set 78feac446 algorithm compromise\n"
                "  solverfs triage z3seq z3str3 cvc4 --table";
        cleanup_culprits struct culprits all = {0};
        struct triage t = {0};
        const struct command_option options[] = {
                {"set", 0, "COMMIT", "Classify a culprit: its class, and whether it is a compromise or a bug", .text = &t.commit, .excludes = "json",
                 .why = "nothing is listed with --set"},
                {"table", 0, NULL, "Print how many commits of each class made each solver slow", .on = &t.table, .excludes = "set"},
                {"json", 0, NULL, "Print a JSON object for each, a line each", .on = &common.json, .excludes = "table"},
                {0}};

        t.solvers = command_parse(argc, argv, "SOLVER...\nSOLVER --set COMMIT CLASS|compromise|bug...", doc, options);
        if (t.commit && t.solvers.n > 0) {
                t.words = (struct words){t.solvers.list + 1, t.solvers.n - 1};
                t.solvers.n = 1;
        }
        if (t.solvers.n == 0)
                command_usage("expected SOLVER...");
        if (t.commit && t.words.n == 0)
                command_usage("what is it? fix, algorithm, theory, refactoring or unknown; compromise or bug");
        if (t.solvers.n > 1 && !t.table)
                command_usage("several solvers go with --table");
        command_open(t.commit ? 0 : STORE_READ_ONLY);
        if (t.table) {
                show_table(&t);
                return;
        }
        command_solver(t.solvers.list[0], &common.solver);
        if (t.commit) {
                set_by_hand(&t);
                return;
        }
        command_must(culprits_read(common.workspace, common.solver, &all));
        for (size_t i = 0; i < all.n; i++)
                show_culprit(&all.list[i]);
        note("%zu commit%s responsible for %zu of %zu slowdown%s; %zu not localized yet, %zu without a single commit", all.n, plural(all.n),
             all.localizable - all.open - all.unexplained, all.localizable, plural(all.localizable), all.open, all.unexplained);
}
