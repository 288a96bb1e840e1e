/* solverfs solver verify: may this recipe's builds go on from what others left? Found out by trying. */
#include "words.h"

#include "cache/base/random.h"
#include "core/query/incremental.h"
#include "core/query/query_verify.h"
#include "core/run/cell_file.h"

#define USUAL_PAIRS  20
#define USUAL_RECENT 500 /* commits of HEAD's line that are looked at when no range is given */
#define TRIES        200 /* of pairs drawn for one that an incremental build may take */
#define NEAR         16  /* most pairs are of commits at most so far apart, as most builds are of neighbours */

struct verifying {
        /* options */
        const char *name;
        struct words words;
        unsigned pairs;
        uint64_t seed;
        bool json, has_seed;

        struct workspace *workspace;
        struct solver *solver;
        struct revisions revisions;
        struct engine *engine;
        struct random random;
        unsigned same, different, skipped;
        char *what; /* owned; the first difference, for the store */
        int signals;
};

static const struct column columns[] = {{"FROM", 12, false}, {"TO", 12, false}, {"CLEAN", 9, true}, {"INCREMENTAL", 11, true},
                                        {"OUTCOME", 9, false}, {"REASON", 0, false}};

/* -- which pairs ------------------------------------------------------------------------------------------------ */

static int find_revisions(struct verifying *v)
{
        uint32_t *line;
        size_t n;
        int r;

        if (v->words.n > 0)
                return command_revisions(v->solver, v->words.list, v->words.n, &v->revisions);
        r = history_line(v->solver->history, COMMIT_NONE, &line, &n);
        if (r < 0)
                return fail(r);
        if (n > USUAL_RECENT) {
                memmove(line, line + n - USUAL_RECENT, USUAL_RECENT * sizeof(*line));
                n = USUAL_RECENT;
        }
        v->revisions = (struct revisions){.list = line, .n = n};
        return STATUS_OK;
}

/* Three in four of neighbours, in either direction; the others from anywhere. -ENOENT: none was found. */
static int draw_pair(struct verifying *v, uint32_t *ret_from, uint32_t *ret_to)
{
        size_t n = v->revisions.n;

        for (unsigned i = 0; i < TRIES && n > 1; i++) {
                size_t a = random_below(&v->random, n), b = random_below(&v->random, n);
                size_t low = a > NEAR ? a - NEAR : 0, high = MIN(n, a + NEAR + 1);
                bool is_edit = false;
                int r;

                if (random_below(&v->random, 4) > 0)
                        b = low + random_below(&v->random, high - low);
                r = build_is_edit(v->solver->history, v->solver->recipe, v->revisions.list[a], v->revisions.list[b], &is_edit);
                if (r < 0 && r != -EBADMSG)
                        return r;
                *ret_from = v->revisions.list[a];
                *ret_to = v->revisions.list[b];
                if (r == 0 && is_edit)
                        return 0;
        }
        return -ENOENT;
}

/* -- the comparing ---------------------------------------------------------------------------------------------- */

static void show(struct verifying *v, uint32_t from, uint32_t to, const struct verify_value *value)
{
        char a[GIT_OID_HEXSZ + 1], b[GIT_OID_HEXSZ + 1], clean[32], on_top[32];
        const char *outcome = !value->reproducible ? "differs" : !value->taken ? "skipped" : value->reason ? "differs" : "same";
        cleanup_free char *reason = printable(value->reason ?: "-");

        commit_hex(v->solver, from, a);
        commit_hex(v->solver, to, b);
        if (v->json) {
                output_json(json_pack("{s:s, s:s, s:f, s:f, s:s, s:s?}", "from", a, "to", b, "clean",
                                      (double)value->clean_ns / 1e9, "incremental", (double)value->incremental_ns / 1e9, "outcome",
                                      outcome, "reason", value->reason));
                return;
        }
        a[12] = b[12] = '\0';
        format_seconds(value->clean_ns, clean);
        format_seconds(value->incremental_ns, on_top);
        output_row(columns, ARRAY_SIZE(columns), (const char *[]){a, b, clean, on_top, outcome, reason});
}

static int note_difference(struct verifying *v, uint32_t to, const char *reason)
{
        char hex[GIT_OID_HEXSZ + 1];

        v->different++;
        if (v->what)
                return 0;
        commit_hex(v->solver, to, hex);
        return asprintf(&v->what, "%.12s: %s", hex, reason) < 0 ? -ENOMEM : 0;
}

static int compare_pair(struct verifying *v, uint32_t from, uint32_t to, bool twice)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *value = NULL;
        const struct verify_value *found;
        int r = query_verify(v->workspace, v->solver, from, to, twice, &q);

        if (r == 0)
                r = engine_get(v->engine, q, PRIORITY_BATCH, true, v->signals, &value);
        if (r < 0)
                return r;
        found = (const struct verify_value *)value;
        show(v, from, to, found);
        if (!found->reproducible)
                return errorf(-EILSEQ, "%s cannot be verified: two clean builds of the same sources differ (%s)",
                              v->solver->recipe->name, found->reason);
        if (!found->taken)
                v->skipped++;
        else if (found->reason)
                r = note_difference(v, to, found->reason);
        else
                v->same++;
        return r;
}

static int compare_all(struct verifying *v)
{
        unsigned compared = 0;
        int r = 0;

        while (r == 0 && (compared = v->same + v->different) < v->pairs && v->skipped < v->pairs + 10) {
                uint32_t from = 0, to = 0;

                r = draw_pair(v, &from, &to);
                if (r == 0)
                        r = compare_pair(v, from, to, compared + v->skipped == 0);
        }
        if (r == -ENOENT)
                return errorf(-ENOENT, "%s has no two commits there of which one edits files of the other and does nothing else",
                              v->solver->recipe->name);
        return r;
}

static int conclude(struct verifying *v)
{
        const char *name = v->solver->recipe->name;
        int r;

        if (v->different > 0) {
                alarm_line("%s: %u of %u incremental builds differ from clean ones: its builds stay clean", name, v->different,
                           v->different + v->same);
                r = incremental_revoke(v->workspace, v->solver, v->what);
                return r < 0 ? fail(r) : STATUS_FAILED;
        }
        if (v->same < v->pairs) {
                complain("%s: only %u of %u pairs could be compared, so nothing is proved; give a range of commits that can be built",
                         name, v->same, v->pairs);
                return STATUS_FAILED;
        }
        r = incremental_accept(v->workspace, v->solver, v->same);
        if (r < 0)
                return fail(r);
        note("%s: %u incremental builds gave what clean ones give%s", name, v->same,
             v->solver->recipe->incremental ? "; from now on they are taken where a commit only edits files"
                                            : "; with 'incremental = true' in the recipe they will be taken");
        return STATUS_OK;
}

static int verify(struct verifying *v)
{
        cleanup_engine struct engine *e = NULL;
        int r = command_engine(v->workspace, &e);

        if (r != STATUS_OK)
                return r;
        v->engine = e;
        r = compare_all(v);
        return r < 0 ? fail_as(r == -EILSEQ || r == -ENOENT ? STATUS_FAILED : status_of(r), r) : conclude(v);
}

int cmd_solver_verify(int argc, char **argv)
{
        static const char doc[] =
                "Find out whether builds of a solver may go on from what the build of another commit left. Draws pairs of commits of which one edits "
                "files of the other, builds the second both on what the first left and in a clean tree, and compares the programs byte by byte.\v"
                "A..B: of these commits (default: the last 500 of HEAD's line). When all are the same, a recipe that says 'incremental = true' is "
                "built incrementally from then on. Exit status 1 when one differs.";
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        struct verifying v = {.pairs = USUAL_PAIRS};
        int r;
        const struct command_option options[] = {
                {NULL, 'n', "N", "How many pairs of commits to compare (20)", .number = &v.pairs, .least = 1, .most = 100000},
                {"seed", 's', "N", "Of the order in which they are drawn, to draw them again",
                 .big_number = &v.seed, .most = UINT64_MAX, .is_given = &v.has_seed},
                {"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &v.json},
                {0}};

        command_parse(argc, argv, "NAME [A..B]", doc, options, &v.words);
        v.name = word_next(&v.words);
        if (!v.name)
                command_usage("expected NAME [A..B]");
        v.signals = command_signals();
        r = command_open_solver(0, NULL, v.name, &w, &s);
        v.workspace = w;
        v.solver = s;
        if (r == STATUS_OK)
                r = find_revisions(&v);
        random_seed(&v.random, v.has_seed ? v.seed : (uint64_t)now_ns());
        if (r == STATUS_OK)
                r = verify(&v);
        revisions_done(&v.revisions);
        free(v.what);
        close(v.signals);
        return r;
}
