/* solverfs triage: what kind of change made a solver slow, and what regresses in several solvers. */
#include "cmd_triage.h"

#include <math.h>

#include "core/study/finding/culprits.h"
#include "words.h"

enum {
        OPTION_SET = 256,
        OPTION_TABLE,
        OPTION_CROSS,
        OPTION_JSON,
};

struct triage {
        char **solvers; /* names */
        size_t n;
        const char *commit; /* --set: of the first solver */
        char **words;       /* what it is */
        size_t n_words;
        bool table, cross, json;
        struct workspace *workspace;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct triage *t = state->input;

        switch (key) {
        case OPTION_SET:
                t->commit = arg;
                return 0;
        case OPTION_TABLE:
                t->table = true;
                return 0;
        case OPTION_CROSS:
                t->cross = true;
                return 0;
        case OPTION_JSON:
                t->json = true;
                return 0;
        case ARGP_KEY_ARGS:
                t->solvers = state->argv + state->next;
                t->n = (size_t)(state->argc - state->next);
                if (t->commit && t->n > 0) {
                        t->words = t->solvers + 1;
                        t->n_words = t->n - 1;
                        t->n = 1;
                }
                return 0;
        case ARGP_KEY_END:
                if (t->n == 0)
                        argp_error(state, "expected SOLVER...");
                if (t->commit && t->n_words == 0)
                        argp_error(state, "what is it? fix, algorithm, theory, refactoring or unknown; compromise or bug");
                if (t->cross && t->n < 2)
                        argp_error(state, "--cross takes two solvers or more");
                if (t->cross + t->table + (t->commit != NULL) > 1)
                        argp_error(state, "--set, --table and --cross exclude each other");
                if (t->n > 1 && !t->cross && !t->table)
                        argp_error(state, "several solvers go with --table or --cross");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* -- one solver -- */

static int set_by_hand(const struct triage *t, struct solver *s)
{
        uint32_t commit;
        int r = command_commit(s, "--set", t->commit, &commit);

        for (size_t i = 0; r == STATUS_OK && i < t->n_words; i++) {
                enum culprit_class class = CLASS_UNKNOWN;
                enum culprit_intent intent = INTENT_UNKNOWN;
                bool is_class = false;
                int k = culprit_word_parse(t->words[i], &class, &is_class, &intent);

                if (k < 0)
                        return fail_as(STATUS_USAGE, k);
                k = culprit_set(t->workspace, s, commit, is_class ? &class : NULL, is_class ? NULL : &intent);
                if (k < 0)
                        r = fail(k);
        }
        return r;
}

static void seconds_text(double seconds, char ret[32])
{
        snprintf(ret, 32, isfinite(seconds) ? "%.6f" : "broken", seconds);
}

static void show_culprit(const struct triage *t, struct solver *s, const struct culprit *c)
{
        static const struct column columns[] = {{"COMMIT", 12, false},  {"CLASS", 11, false}, {"INTENT", 10, false}, {"BY", 5, false},
                                                {"FINDINGS", 8, true}, {"BEFORE (s)", 10, true, 1}, {"AFTER (s)", 10, true, 1},   {"SUBJECT", 0, false}};
        cleanup_buffer struct buffer subject = {0};
        char sha[GIT_OID_HEXSZ + 1], before[32], after[32], n[24];
        bool by_hand = c->is_class_set || c->is_intent_set;

        commit_hex(s, c->commit, sha);
        commit_subject(s, c->commit, &subject);
        if (t->json) {
                json_t *findings = json_array();

                for (size_t i = 0; i < c->n; i++)
                        json_array_append_new(findings, json_integer(c->findings[i]));
                output_json(json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:s}", "commit", sha, "class", culprit_class_name(c->class),
                                      "intent", culprit_intent_name(c->intent), "by-hand", (int)by_hand, "findings", findings,
                                      "before", isfinite(c->before) ? json_real(c->before) : json_null(), "after",
                                      isfinite(c->after) ? json_real(c->after) : json_null(), "subject",
                                      subject.data ? subject.data : ""));
                return;
        }
        seconds_text(c->before, before);
        seconds_text(c->after, after);
        snprintf(n, sizeof(n), "%zu", c->n);
        sha[12] = '\0';
        output_row(columns, ARRAY_SIZE(columns),
                   (const char *[]){sha, culprit_class_name(c->class), culprit_intent_name(c->intent), by_hand ? "hand" : "words", n,
                                    before, after, subject.data ? subject.data : ""});
}

static int list_culprits(const struct triage *t, struct solver *s)
{
        cleanup_culprits struct culprits all = {0};
        int r = culprits_read(t->workspace, s, &all);

        if (r < 0)
                return fail(r);
        for (size_t i = 0; i < all.n; i++)
                show_culprit(t, s, &all.list[i]);
        note("%zu commit%s responsible for %zu of %zu slowdown%s; %zu not localized yet, %zu without a single commit", all.n,
             all.n == 1 ? "" : "s", all.findings - all.open - all.unexplained, all.findings, all.findings == 1 ? "" : "s", all.open,
             all.unexplained);
        return STATUS_OK;
}

/* -- Table 4 -- */

#define ROWS (N_CLASSES + 2)

static void count(const struct culprits *all, size_t counts[ROWS])
{
        for (size_t i = 0; i < all->n; i++) {
                counts[all->list[i].class]++;
                if (all->list[i].intent != INTENT_UNKNOWN)
                        counts[N_CLASSES + all->list[i].intent - INTENT_COMPROMISE]++;
        }
}

static int show_table(const struct triage *t)
{
        static const enum culprit_class order[] = {CLASS_FIX, CLASS_ALGORITHM, CLASS_THEORY, CLASS_REFACTORING, CLASS_UNKNOWN};
        cleanup_free size_t(*counts)[ROWS] = calloc(t->n, sizeof(*counts));
        cleanup_buffer struct buffer b = {0};
        int r = counts ? STATUS_OK : fail(-ENOMEM);

        for (size_t i = 0; r == STATUS_OK && i < t->n; i++) {
                cleanup_culprits struct culprits all = {0};
                cleanup_solver struct solver *s = NULL;
                int k;

                r = command_solver(t->workspace, t->solvers[i], &s);
                if (r != STATUS_OK)
                        break;
                k = culprits_read(t->workspace, s, &all);
                r = k < 0 ? fail(k) : STATUS_OK;
                count(&all, counts[i]);
        }
        if (r != STATUS_OK)
                return r;
        buffer_adds(&b, "class");
        for (size_t i = 0; i < t->n; i++)
                buffer_addf(&b, "\t%s", t->solvers[i]);
        buffer_adds(&b, "\ttotal\n");
        for (size_t row = 0; row < ROWS; row++) {
                size_t k = row < N_CLASSES ? (size_t)order[row] : row, total = 0;

                buffer_addf(&b, "%s",
                            row < N_CLASSES ? culprit_class_name(order[row])
                                            : culprit_intent_name((enum culprit_intent)(row - N_CLASSES + INTENT_COMPROMISE)));
                for (size_t i = 0; i < t->n; i++) {
                        buffer_addf(&b, "\t%zu", counts[i][k]);
                        total += counts[i][k];
                }
                buffer_addf(&b, "\t%zu\n", total);
        }
        output_write(&b);
        return STATUS_OK;
}

static int triage(const struct triage *t, int signals)
{
        cleanup_solver struct solver *s = NULL;
        int r;

        if (t->cross)
                return triage_cross(t->workspace, t->solvers, t->n, t->json, signals);
        if (t->table)
                return show_table(t);
        r = command_solver(t->workspace, t->solvers[0], &s);
        return r != STATUS_OK ? r : t->commit ? set_by_hand(t, s) : list_culprits(t, s);
}

int cmd_triage(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"set", OPTION_SET, "COMMIT", 0, "Say what a culprit is: a class, and whether it is a compromise or a bug", 0},
                {"table", OPTION_TABLE, NULL, 0, "Print how many commits of each class made each solver slow", 0},
                {"cross", OPTION_CROSS, NULL, 0, "Run the findings of each solver on the versions of the others", 0},
                {"json", OPTION_JSON, NULL, 0, "Print a JSON object a line", 0},
                {0}};
        static const char doc[] =
                "List the commits responsible for what campaigns found, by the kind of change: fix, algorithm, theory (another "
                "theory solver, or another default), refactoring, unknown. Prints for each: commit, class, compromise or bug (- "
                "where neither is known), words or hand (what says so), findings, seconds before and after it for the worst of "
                "them, subject.\v"
                "The class is read from the commit's message and the paths it changed; what is set by hand stands above it. A "
                "culprit is a bug when a finding of it is marked confirmed or fixed (solverfs findings --mark).\n"
                "--cross runs: it prints a line for each finding that regresses in another solver, too: finding, other solver, its "
                "reference and target, seconds on both. The other solver's versions are those of its own findings; where it has "
                "none and its history is the same one, the finding's.\n"
                "\n"
                "  solverfs triage z3\n"
                "  solverfs triage z3 --set 78feac446 algorithm compromise\n"
                "  solverfs triage z3seq z3str3 cvc4 --table\n"
                "  solverfs triage z3seq z3str3 --cross";
        cleanup_workspace struct workspace *w = NULL;
        struct triage t = {0};
        int signals = -1, r;

        command_parse(&(struct argp){options, parse, "SOLVER...\nSOLVER --set COMMIT CLASS|compromise|bug...", doc}, argc, argv, &t);
        if (t.cross)
                signals = command_signals();
        r = command_open(t.cross || t.commit ? 0 : STORE_READ_ONLY, &w);
        t.workspace = w;
        return output_end(r == STATUS_OK ? triage(&t, signals) : r);
}
