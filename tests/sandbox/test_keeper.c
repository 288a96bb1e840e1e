/* All of test_execute.c over a sandbox that is kept: before and after each execution, the hostile ones above all, another run of the same
 * sandbox looks around (attacker_traces.c). It has to see the same, from the third run on in a process that was made ahead. */
#include "core/sandbox/execute.h"

static int over_keeper(const struct execute_request *q, struct execute_result *ret);

#define EXECUTE_TESTED over_keeper
static bool looks_around = true;
#include "tests/sandbox/test_execute.c"

#include "core/sandbox/keeper.h"

/* One run, as the runner does it. */
static int run_in(struct keeper *k, const struct execute_request *q, const char *runs, struct execute_result *ret)
{
        cleanup(execution_done) struct execution x;
        struct execute_request mine = *q;
        char folder[PATH_SIZE];
        int r;

        assert_ok(path_join(folder, runs, "scratch"));
        assert_ok(mkdir(folder, 0700));
        mine.scratch = folder;
        r = execution_init(&x, &mine);
        x.runs_scratch = "scratch";
        if (r == 0)
                r = keeper_begin(k, &x);
        if (r == 0) {
                execution_watch(&x);
                r = keeper_finish(k, &x, ret);
        }
        assert_ok(remove_tree(folder));
        return r;
}

static struct execute_request looking(const struct execute_request *q)
{
        static char *look_words[] = {(char *)"/test/attacker", (char *)"look", NULL}, *exit_words[] = {(char *)"/test/attacker", (char *)"exit", (char *)"0", NULL};
        struct execute_request look = usual;

        look.argv = q->sandbox == SANDBOX_BWRAP ? look_words : exit_words; /* without a sandbox the whole machine is there, which others change */
        look.binds = q->binds;
        look.n_binds = q->n_binds;
        look.sandbox = q->sandbox;
        look.slot = q->slot;
        look.start_ns = q->start_ns;
        return look;
}

struct tried {
        unsigned keepers; /* that were needed */
        bool differs;
};

/* A sandbox that is good for another run: the same if it may be. */
static int need_keeper(struct keeper **k, const struct execute_request *q, const char *runs, struct tried *t)
{
        if (*k && keeper_state(*k) == KEEPER_CLEAN)
                return 0;
        *k = keeper_close(*k);
        t->keepers++;
        return keeper_open(q, runs, k);
}

static int look_in(struct keeper **k, const struct execute_request *q, const char *runs, struct tried *t, struct blob *ret)
{
        struct execute_request look = looking(q);
        struct execute_result result = {0};
        int r = need_keeper(k, q, runs, t);

        if (r == 0)
                r = run_in(*k, &look, runs, &result);
        if (r < 0)
                return r;
        ck_assert_int_eq(result.end, END_EXIT);
        ck_assert_int_eq(result.code, 0);
        *ret = result.out;
        blob_done(&result.err);
        return 0;
}

static bool is_same(const struct blob *a, const struct blob *b)
{
        return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void show(const char *what, const struct blob *b)
{
        fprintf(stderr, "--- %s\n%.*s\n", what, (int)b->size, (const char *)b->data);
}

/* Twice: the process of the next run is made ahead then. */
static int look_before(struct keeper **k, const struct execute_request *q, const char *runs, struct tried *t, struct blob *ret)
{
        cleanup_blob struct blob first = {0};
        int r = look_in(k, q, runs, t, &first);

        return r < 0 ? r : look_in(k, q, runs, t, ret);
}

static int try_over_keeper(const struct execute_request *q, struct execute_result *ret, struct tried *t)
{
        cleanup(keeper_closep) struct keeper *k = NULL;
        cleanup_blob struct blob before = {0}, after = {0};
        char runs[PATH_SIZE + 32];
        char sentence[1024] = "";
        bool looks;
        int r;

        *t = (struct tried){0};
        snprintf(runs, sizeof(runs), "%s-runs-XXXXXX", scratch);
        ck_assert_ptr_nonnull(mkdtemp(runs));
        looks = looks_around && look_before(&k, q, runs, t, &before) == 0;
        r = -EPIPE;
        for (int i = 0; r == -EPIPE && i < 2; i++) { /* it may be killed after the look at its state, too */
                r = need_keeper(&k, q, runs, t);
                if (r == 0)
                        r = run_in(k, q, runs, ret);
        }
        if (r == -EPIPE)
                r = errorf(-EIO, "lost twice");
        snprintf(sentence, sizeof(sentence), "%s", error_message(r));
        if (looks && look_in(&k, q, runs, t, &after) == 0 && q->sandbox == SANDBOX_BWRAP && !is_same(&before, &after)) {
                show("before", &before);
                show("after", &after);
                t->differs = true;
        }
        k = keeper_close(k);
        assert_ok(remove_tree(runs));
        return r < 0 ? errorf(r, "%s", sentence) : 0;
}

static int over_keeper(const struct execute_request *q, struct execute_result *ret)
{
        struct tried t;
        int r = try_over_keeper(q, ret, &t);

        ck_assert(!t.differs);
        return r;
}

/* -- what it leaves -- */

static struct tried leave(const char *words, enum sandbox_kind kind)
{
        const struct bind bind = {.source = attacker, .target = "/test/attacker"};
        char text[200], *argv[16], *save = NULL;
        struct execute_request q = usual;
        struct execute_result result = {0};
        struct tried t;
        size_t n = 0;

        find_attacker();
        snprintf(text, sizeof(text), "/test/attacker leave %s", words);
        for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
                argv[n++] = word;
        argv[n] = NULL;
        q.argv = argv;
        q.binds = &bind;
        q.n_binds = 1;
        q.sandbox = kind;
        assert_ok(try_over_keeper(&q, &result, &t));
        ck_assert_msg(result.end == END_EXIT && result.code == 0, "%s: end %d code %d", words, (int)result.end, result.code);
        ck_assert_msg(strstr(text_of(&result.out), "sat\n"), "%s: %s", words, text_of(&result.out));
        execute_result_done(&result);
        return t;
}

START_TEST(test_traces)
{
        static const char *const words[] = {"files", "ipc", "keys", "sockets", "network", "processes", "keeper", ""};

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                ck_assert_msg(!leave(words[i], SANDBOX_BWRAP).differs, "left by: %s", words[i]);
}
END_TEST

/* What can be taken away without a new sandbox is. */
START_TEST(test_sandbox_stays)
{
        static const char *const words[] = {"files", "ipc", "keys", "processes", "keeper"};

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                ck_assert_msg(leave(words[i], SANDBOX_BWRAP).keepers == 1, "lost by: %s", words[i]);
}
END_TEST

START_TEST(test_network_costs_the_sandbox)
{
        ck_assert_uint_eq(leave("network", SANDBOX_BWRAP).keepers, 2);
}
END_TEST

/* Killed as it begins, and closed before it got a run: bubblewrap's inner half would wait for the outer one for ever. */
START_TEST(test_killed_at_its_beginning)
{
        char runs[PATH_SIZE + 32];

        find_attacker();
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        srand(test_seed_fresh());
        snprintf(runs, sizeof(runs), "%s-runs-XXXXXX", scratch);
        ck_assert_ptr_nonnull(mkdtemp(runs));
        for (int i = 0; i < 40; i++) {
                struct keeper *k = NULL;
                pid_t victim;

                assert_ok(keeper_open(&usual, runs, &k));
                usleep((useconds_t)(rand() % 3000));
                victim = any_descendant();
                if (victim > 0)
                        kill(victim, SIGKILL);
                k = keeper_close(k);
                assert_no_descendant();
        }
        assert_ok(remove_tree(runs));
}
END_TEST

/* Ctrl-C goes to the caller, which ends the run: the helper may not be in reach of it, from its first moment on. */
START_TEST(test_out_of_reach_of_the_terminal)
{
        static const enum sandbox_kind kinds[] = {SANDBOX_BWRAP, SANDBOX_NONE};

        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                cleanup(keeper_closep) struct keeper *k = NULL;
                struct execute_request like = usual;
                pid_t helper;

                like.sandbox = kinds[i];
                assert_ok(keeper_open(&like, NULL, &k));
                helper = any_descendant();
                ck_assert_int_gt(helper, 0);
                ck_assert_int_ne(getsid(helper), getsid(0));
                k = keeper_close(k);
        }
}
END_TEST

SUITE("keeper", test_traces, test_sandbox_stays, test_network_costs_the_sandbox, test_killed_at_its_beginning, test_out_of_reach_of_the_terminal, EXECUTE_TESTS)
