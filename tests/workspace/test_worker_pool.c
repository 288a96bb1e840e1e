#include "tests/support/test.h"

#include "core/query/programs.h"
#include "core/workspace/workspace.h"
#include "tests/support/hello.h"

static char launch[] = "echo launched >>launched; exec {worker}";
static char says_hello[] = "cat hello; cat >/dev/null; exit 0";
static char name[] = "lab";
static struct workspace *workspace;

static void open_store(void)
{
        if (access("store", F_OK) != 0)
                assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &workspace));
}

static struct worker_pool *open_with(char *command, unsigned workers, void (*retry)(void *user))
{
        const char *solverfs = getenv("SOLVERFS_COMMAND");
        cleanup_buffer struct buffer worker = {0};
        char here[PATH_SIZE];
        struct worker_pool *p;

        ck_assert_ptr_nonnull(solverfs);
        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        buffer_add_shell_word(&worker, solverfs);
        buffer_adds(&worker, " worker --slots 1 --folder ");
        buffer_add_shell_word(&worker, here);
        buffer_adds(&worker, "/node");
        open_store();
        assert_ok(pool_open(workspace,
                             &(struct cluster_settings){.name = name,
                                                        .launch = command,
                                                        .worker = worker.data,
                                                        .workers = workers,
                                                        .idle_ns = 60 * NSEC_PER_SEC,
                                                        .patience_ns = 60 * NSEC_PER_SEC},
                             &p));
        pool_attach(p, retry, NULL);
        return p;
}

static struct worker_pool *open_place(unsigned workers, void (*retry)(void *user))
{
        return open_with(launch, workers, retry);
}

static void close_place(struct worker_pool *p)
{
        pool_close(p);
        workspace = workspace_close(workspace);
}

static void no_look(void *)
{
}

static bool never(void *)
{
        return false;
}

static bool at_once(void *)
{
        return true;
}

static size_t n_launched(void)
{
        cleanup_blob struct blob b = {0};
        size_t n = 0;

        assert_ok(read_file("launched", 4096, &b));
        for (size_t i = 0; i < b.size; i++)
                n += ((const char *)b.data)[i] == '\n';
        return n;
}

/* A reader of one cell was interrupted; what is leased then is one slot, for which its worker does. */
START_TEST(test_a_lease_asks_for_no_worker_of_jobs_that_have_gone)
{
        struct worker_pool *p = open_place(2, no_look);
        struct cluster_slot *slot;
        void *job_slot;

        assert_error(p->remote.take(&p->remote, 0, 1, &job_slot), EAGAIN);
        assert_ok(pool_lease(p, 0, never, NULL, &slot));
        ck_assert_uint_eq(n_launched(), 1);
        pool_release(p, slot);
        close_place(p);
}
END_TEST

static unsigned looks; /* atomic */

static void count_looks(void *)
{
        __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
}

START_TEST(test_a_lease_that_is_over)
{
        struct worker_pool *p = open_place(1, count_looks);
        struct cluster_slot *slot, *second;

        assert_error(pool_lease(p, 0, at_once, NULL, &slot), ECANCELED);
        assert_ok(pool_lease(p, 0, never, NULL, &slot));
        assert_error(pool_try(p, 0, &second), EAGAIN);
        assert_error(pool_lease(p, 0, at_once, NULL, &second), ECANCELED);
        __atomic_store_n(&looks, 0, __ATOMIC_RELAXED);
        pool_release(p, slot);
        ck_assert_uint_gt(__atomic_load_n(&looks, __ATOMIC_RELAXED), 0);
        assert_ok(pool_try(p, 0, &second));
        pool_release(p, second);
        close_place(p);
}
END_TEST

/* -- nodes of different speed -- */

static void copy_uneven(void *user, const struct remote_view *v)
{
        snprintf(user, 256, "%s", v->uneven);
}

/* As a command does whose worker comes from this node; says of its cluster what status says. */
static const char *uneven_in_a_command(const char *host, uint64_t ns)
{
        static char text[256];
        struct worker_pool *p;
        struct cluster_slot *slot;

        write_probe(host, ns);
        p = open_with(says_hello, 1, no_look);
        assert_ok(pool_lease(p, 0, never, NULL, &slot));
        pool_release(p, slot);
        pool_attach(p, NULL, NULL);
        pool_store_probes(p);
        p->remote.look(&p->remote, copy_uneven, text);
        close_place(p);
        return text;
}

START_TEST(test_nodes_of_separate_commands_are_compared)
{
        ck_assert_str_eq(uneven_in_a_command("n3", 10000000), "");
        ck_assert_str_eq(uneven_in_a_command("n5", 10400000), "");
        ck_assert_str_eq(uneven_in_a_command("n7", 20000000), "n7 takes 2.00 times as long as n3 for the same probe");
        ck_assert_str_eq(uneven_in_a_command("n5", 10400000), "n7 takes 2.00 times as long as n3 for the same probe");
        ck_assert_str_eq(uneven_in_a_command("n7", 10300000), ""); /* another machine of that name */
}
END_TEST

static int make_old(void *, struct store_txn *t)
{
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_META, .prefix = slice_string("cluster/lab/probe/")};
        uint8_t value[16];
        int r;

        while ((r = store_walk(&each)) > 0) {
                ck_assert_uint_eq(each.value.size, sizeof(value));
                memcpy(value, each.value.data, sizeof(value));
                key_u64(value + 8, key_get_u64(value + 8) - 15 * 24 * 3600);
                assert_ok(store_put(t, TABLE_META, each.key, SLICE(value, sizeof(value))));
        }
        return r;
}

START_TEST(test_a_node_that_no_longer_comes_is_forgotten)
{
        uneven_in_a_command("n7", 20000000);
        open_store();
        assert_ok(store_update(workspace_store(workspace), make_old, NULL));
        workspace = workspace_close(workspace);
        ck_assert_str_eq(uneven_in_a_command("n3", 10000000), "");
}
END_TEST

static int read_probes(void *user, struct store_txn *t)
{
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_META, .prefix = slice_string("cluster/lab/probe/")};
        int64_t *ret = user;
        int r;

        *ret = 0;
        while ((r = store_walk(&each)) > 0)
                *ret = *ret == 0 ? (int64_t)key_get_u64((const uint8_t *)each.value.data + 8) : -1;
        return r;
}

/* The time in the store's one row; -1: there are more. */
static int64_t time_of_the_probe(void)
{
        int64_t at;

        assert_ok(store_update(workspace_store(workspace), read_probes, &at));
        return at;
}

static int put_old(void *, struct store_txn *t)
{
        uint8_t value[16] = {0};

        return store_put(t, TABLE_META, slice_string("cluster/lab/probe/0.0.9/n5"), SLICE(value, sizeof(value)));
}

START_TEST(test_a_probe_of_an_older_version_is_forgotten)
{
        open_store();
        assert_ok(store_update(workspace_store(workspace), put_old, NULL));
        workspace = workspace_close(workspace);
        uneven_in_a_command("n7", 20000000);
        open_store();
        ck_assert_int_gt(time_of_the_probe(), 0);
        workspace = workspace_close(workspace);
}
END_TEST

START_TEST(test_a_probe_is_as_old_as_the_hello_that_brought_it)
{
        struct worker_pool *p;
        struct cluster_slot *slot;
        int64_t came;

        write_probe("n3", 10000000);
        p = open_with(says_hello, 1, no_look);
        assert_ok(pool_lease(p, 0, never, NULL, &slot));
        came = now_seconds();
        while (now_seconds() <= came + 1)
                usleep(100000);
        pool_release(p, slot);
        pool_attach(p, NULL, NULL);
        pool_store_probes(p);
        ck_assert_int_le(time_of_the_probe(), came);
        ck_assert_int_gt(time_of_the_probe(), 0);
        close_place(p);
}
END_TEST

/* Its campaigns, jobs and readers end when a solver is removed, not at a mistake in its section. */
START_TEST(test_a_place_that_is_not_there_does_not_remove_its_solver)
{
        static const char *const lines[] = {"\truns = nosuch\n", "\tbuilds = nosuch\n"};
        cleanup(solver_unrefp) struct solver *s = NULL;
        cleanup_blob struct blob text = {0};
        uint32_t commit;

        open_store();
        assert_ok(program_commit(workspace, "exec:/bin/true", -1, NULL, &s, &commit));
        assert_ok(read_file("store/config", 4096, &text));
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                cleanup_buffer struct buffer b = {0}, mistakes = {0};

                buffer_add(&b, text.data, text.size);
                buffer_addf(&b, "[solver \"%s\"]\n%s", s->recipe->name, lines[i]);
                assert_ok(write_file_atomic("store/config", b.data, b.size, 0600));
                workspace_look_again(workspace);
                workspace_mistakes(workspace, &mistakes);
                ck_assert_ptr_nonnull(strstr(mistakes.data ?: "", "stays as it was: there was no [cluster \"nosuch\"]"));
                ck_assert(!solver_is_gone(workspace, s));
        }
        assert_ok(write_file_atomic("store/config", "[solverfs]\n\tversion = 1\n", 24, 0600));
        workspace_look_again(workspace);
        ck_assert(solver_is_gone(workspace, s));
        workspace = workspace_close(workspace);
}
END_TEST

SUITE("worker_pool", test_a_lease_asks_for_no_worker_of_jobs_that_have_gone, test_a_lease_that_is_over,
      test_nodes_of_separate_commands_are_compared, test_a_node_that_no_longer_comes_is_forgotten,
      test_a_probe_of_an_older_version_is_forgotten, test_a_probe_is_as_old_as_the_hello_that_brought_it,
      test_a_place_that_is_not_there_does_not_remove_its_solver)
