#include "tests/support/test.h"

#include "core/workspace/worker_pool.h"

static char launch[] = "echo launched >>launched; exec {worker}";
static char name[] = "lab";

static struct worker_pool *open_place(unsigned workers, void (*look)(void *user))
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
        assert_ok(pool_open(NULL,
                             &(struct cluster_settings){.name = name,
                                                        .launch = launch,
                                                        .worker = worker.data,
                                                        .workers = workers,
                                                        .idle_ns = 60 * NSEC_PER_SEC,
                                                        .patience_ns = 60 * NSEC_PER_SEC},
                             &p));
        pool_attach(p, look, NULL);
        return p;
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
        pool_close(p);
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
        pool_close(p);
}
END_TEST

SUITE("worker_pool", test_a_lease_asks_for_no_worker_of_jobs_that_have_gone, test_a_lease_that_is_over)
