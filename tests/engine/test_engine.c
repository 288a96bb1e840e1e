/* The engine with queries of our own: numbers that are "worked out" into the store, on command. */
#include "tests/engine/answers.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "cache/base/lock.h"
#include "core/engine/engine.h"
#include "core/workspace/workspace.h"
#include "core/run/host.h"
#include "core/run/leftovers.h"
#include "core/run/slot.h"

/* Shared by every process of a test. */
static struct control {
        _Atomic unsigned computed, cancelled, finished_order[512], n_finished;
        _Atomic bool hold; /* compute() waits while this is set */
        _Atomic bool hold_builds; /* and that of builds while this is */
        _Atomic bool fail;
        char how[32];            /* more of the sentence it fails with */
        _Atomic bool hold_find;  /* who looks for number 1 a second time waits while this is set … */
        _Atomic unsigned looked; /* … and is counted */
        _Atomic bool asked;
        _Atomic int lose;        /* so often what a number needs is gone when its turn comes */
        char phase[256];         /* what compute() says of itself; "": nothing */
        _Atomic bool damage;     /* compute() reads the store when its pages have gone */
        _Atomic bool is_greedy;  /* numbers 1 and 11 take another slot, and drop it for others; */
        _Atomic bool is_polite;  /* they give way; both while `hold` is set */
        _Atomic unsigned added, dropped, gave_way;
        _Atomic unsigned leaves; /* compute() takes what the job before has left, and leaves so many things */
        _Atomic unsigned left, taken, closed, closing;
        _Atomic bool hold_close; /* who closes what was left waits while this is set */
} * control;

struct number_query {
        struct query query;
        unsigned number;
        int need; /* another number, or -1 */
};

static struct value *number_value(void);
static const struct query_type number_type, number_build_type;
static struct workspace *w;
static struct engine *e;

static int number_find(struct query *q, struct value **ret)
{
        cleanup_blob struct blob b = {0};
        int r;

        if (((struct number_query *)q)->number == 1 && ++control->looked > 1)
                while (control->hold_find)
                        usleep(1000);
        r = store_fetch(workspace_store(w), TABLE_META, SLICE(q->key.bytes, DIGEST_SIZE), &b);
        if (r == 0)
                *ret = number_value();
        return r;
}

static struct query *number_new(unsigned number, int need, enum resource resource);

static int number_need(struct query *q, struct query_list *ret)
{
        struct number_query *n = (struct number_query *)q;
        cleanup(query_unrefp) struct query *need = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        if (n->need < 0)
                return 0;
        if (n->number == 20) /* whose need has two itself, 3 and then 1 */
                return query_list_add(ret, number_new(2, 3, RESOURCE_CORE));
        need = number_new((unsigned)n->need, -1, RESOURCE_DISK);
        if (n->number == 22) /* has three */
                return query_list_add(ret, steal_pointer(need)) + query_list_add(ret, number_new(1, -1, RESOURCE_DISK)) +
                       query_list_add(ret, number_new(4, -1, RESOURCE_DISK));
        if (n->number == 2 && n->need == 3)
                return query_list_add(ret, steal_pointer(need)) + query_list_add(ret, number_new(1, -1, RESOURCE_DISK));
        return number_find(need, &v) == -ENOENT ? query_list_add(ret, steal_pointer(need)) : 0;
}

static int forget_in(void *key, struct store_txn *t)
{
        return store_delete(t, TABLE_META, SLICE(((struct digest *)key)->bytes, DIGEST_SIZE));
}

static int work_on_many_cores(struct job *j)
{
        cpu_set_t cpus;
        unsigned slot;
        bool has_more = false;
        int r = 0;

        while (control->hold && r >= 0) {
                if (control->is_greedy && !has_more && job_add_slot(j, &slot, &cpus) == 0) {
                        ck_assert_int_eq(CPU_COUNT(&cpus), 1);
                        has_more = true;
                        control->added++;
                }
                if (has_more && job_is_pressed(j)) {
                        job_drop_slot(j, slot);
                        has_more = false;
                        control->dropped++;
                }
                if (control->is_polite)
                        r = job_give_way(j);
                control->gave_way += r == 1;
                ck_assert(r < 0 || job_n_slots(j) == 1);
                usleep(1000);
        }
        return MIN(r, 0);
}

static void count_closed(void *what)
{
        ck_assert_ptr_eq(what, control);
        control->closing++;
        while (control->hold_close)
                usleep(1000);
        control->closed++;
}

static bool fits(void *what, const void *with)
{
        return what == with;
}

static int number_compute(struct query *q, struct job *j, struct value **ret)
{
        struct number_query *n = (struct number_query *)q;
        struct pollfd fd = {.fd = job_cancel_fd(j), .events = POLLIN};
        int r;

        if (control->phase[0])
                job_progress(j)->tell(job_progress(j)->user, control->phase, 1, 2);
        control->computed++;
        if (control->leaves) {
                ck_assert_ptr_null(job_take_left(j, fits, NULL));
                control->taken += job_take_left(j, fits, control) != NULL;
                for (unsigned i = 0; i < control->leaves; i++, control->left++)
                        job_leave(j, control, count_closed);
        }
        if (n->number % 10 == 1 && (control->is_greedy || control->is_polite)) {
                r = work_on_many_cores(j);
                if (r < 0)
                        return r;
        }
        while (control->hold || (control->hold_builds && q->type == &number_build_type))
                if (poll(&fd, 1, 5) > 0) {
                        control->cancelled++;
                        return errorf(-ECANCELED, "cancelled");
                }
        if (control->damage) {
                cleanup_blob struct blob b = {0};

                ck_assert_int_eq(truncate("store/lmdb/data.mdb", 8192), 0);
                store_fetch(workspace_store(w), TABLE_META, SLICE("?", 1), &b);
                return errorf(-EIO, "number %u was damaged", n->number);
        }
        if (n->need >= 0 && control->lose > 0) {
                cleanup(query_unrefp) struct query *need = number_new((unsigned)n->need, -1, RESOURCE_DISK);

                control->lose--;
                assert_ok(store_update(workspace_store(w), forget_in, &need->key));
                return errorf(-ENOENT, "number %d is gone", n->need);
        }
        if (control->fail)
                return errorf(-EIO, "number %u is broken%s", n->number, control->how);
        r = store_set(workspace_store(w), TABLE_META, SLICE(q->key.bytes, DIGEST_SIZE), SLICE("x", 1));
        control->finished_order[control->n_finished++] = n->number;
        *ret = number_value();
        return r;
}

static void number_describe(const struct query *q, struct buffer *ret)
{
        buffer_addf(ret, "number %u", ((const struct number_query *)q)->number);
}

#define NUMBER_TYPE(r)                                                                                                \
        {                                                                                                             \
                .name = "number", .resource = r, .find = number_find, .need = number_need, .compute = number_compute, \
                .describe = number_describe               \
        }
static const struct query_type number_type = NUMBER_TYPE(RESOURCE_CORE);
static const struct query_type number_disk_type = NUMBER_TYPE(RESOURCE_DISK);
static const struct query_type number_build_type = NUMBER_TYPE(RESOURCE_BUILD);

static struct value *number_value(void)
{
        struct value *v = calloc(1, sizeof(*v));

        *v = (struct value){.type = &number_type, .refs = 1};
        return v;
}

static struct query *number_new(unsigned number, int need, enum resource resource)
{
        struct number_query *n = calloc(1, sizeof(*n));

        n->query = (struct query){.type = resource == RESOURCE_CORE    ? &number_type
                                          : resource == RESOURCE_BUILD ? &number_build_type
                                                                       : &number_disk_type,
                                  .refs = 1};
        n->number = number;
        n->need = need;
        digest_of(&number, sizeof(number), &n->query.key);
        return &n->query;
}

static void open_engine(const struct engine_options *options)
{
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_engine(w, options, &e));
}

static void close_engine(void)
{
        e = engine_close(e);
        w = workspace_close(w);
}

static void share_control(void)
{
        control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void start(const struct engine_options *options)
{
        share_control();
        assert_ok(workspace_create("store"));
        open_engine(options);
}

static struct ticket *ask(unsigned number, enum priority p, struct answers *a)
{
        struct query *q = number_new(number, -1, RESOURCE_CORE);
        struct ticket *t = NULL;

        assert_ok(engine_ask(e, q, p, COMPUTE_IF_UNKNOWN, count_answer, a, &t));
        query_unref(q);
        return t;
}

static void ask_build(unsigned number, enum priority p, struct answers *a)
{
        struct query *q = number_new(number, -1, RESOURCE_BUILD);
        struct ticket *t = NULL;

        assert_ok(engine_ask(e, q, p, COMPUTE_IF_UNKNOWN, count_answer, a, &t));
        query_unref(q);
}

START_TEST(test_a_stored_value_is_answered_at_once)
{
        struct answers a = ANSWERS;
        struct engine_counters c;

        start(NULL);
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_ptr_null(ask(1, PRIORITY_PERSON, &a)); /* answered before it returns: no ticket */
        ck_assert_uint_eq(a.ok, 2);
        ck_assert_uint_eq(control->computed, 1);
        engine_counters(e, &c);
        ck_assert_uint_eq(c.hits, 1);
        close_engine();
}
END_TEST

START_TEST(test_a_thousand_askers_one_computation)
{
        struct answers a = ANSWERS;

        start(NULL);
        control->hold = true;
        for (int i = 0; i < 1000; i++)
                ask(7, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        ck_assert_uint_eq(a.n, 0);
        control->hold = false;
        wait_for(&a.n, 1000);
        ck_assert_uint_eq(a.ok, 1000);
        ck_assert_uint_eq(control->computed, 1);
        close_engine();
}
END_TEST

START_TEST(test_what_is_needed_comes_first)
{
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        struct query *q;

        start(NULL);
        q = number_new(2, 1, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        ck_assert_uint_eq(control->n_finished, 2);
        ck_assert_uint_eq(control->finished_order[0], 1);
        ck_assert_uint_eq(control->finished_order[1], 2);
        query_unref(q);
        close_engine();
}
END_TEST

START_TEST(test_who_waits_for_the_same_need_goes_on_in_order)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        control->hold = true;
        for (unsigned i = 10; i < 20; i++) {
                struct query *q = number_new(i, 1, RESOURCE_CORE);
                struct ticket *t = NULL;

                assert_ok(engine_ask(e, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
                query_unref(q);
        }
        control->hold = false;
        wait_for(&a.n, 10);
        for (unsigned i = 0; i < 10; i++)
                ck_assert_uint_eq(control->finished_order[i + 1], 10 + i);
        close_engine();
}
END_TEST

START_TEST(test_a_failed_need_fails_with_its_reason)
{
        cleanup_free char *reason = NULL;
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        struct query *q;
        uint64_t job;

        start(NULL);
        control->fail = true;
        q = number_new(2, 1, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EIO);
        ck_assert_str_eq(a.reason, "number 1 is broken");
        ck_assert_uint_eq(control->computed, 1); /* 2 was never tried */
        ck_assert_int_eq(engine_peek(e, q, &job, &reason), JOB_FAILED);
        ck_assert_str_eq(reason, "number 1 is broken");
        free(reason);
        strcpy(control->how, " in another way");
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 2);
        ck_assert_int_eq(engine_peek(e, q, &job, &reason), JOB_FAILED);
        ck_assert_str_eq(reason, "number 1 is broken in another way"); /* the last sentence, not the first */
        control->fail = false;                                         /* a failure is not remembered as an answer */
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 3);
        ck_assert_uint_eq(a.ok, 1);
        query_unref(q);
        close_engine();
}
END_TEST

/* As when gc takes a program while a run of it waits in the queue. */
START_TEST(test_what_is_needed_is_gone_when_its_turn_comes)
{
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        struct query *q;

        start(&(struct engine_options){.cores = 1});
        control->lose = 1;
        q = number_new(2, 1, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 1);
        ck_assert_msg(a.last == 0, "%s", a.reason);
        ck_assert_uint_eq(control->computed, 4); /* 1, 2, 1 again, 2 again */
        query_unref(q);
        control->lose = 2; /* not for ever */
        q = number_new(4, 3, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        wait_for(&a.n, 2);
        ck_assert_int_eq(a.last, -ENOENT);
        ck_assert_str_eq(a.reason, "number 3 is gone");
        query_unref(q);
        ask(5, PRIORITY_PERSON, &a); /* its slot is free */
        wait_for(&a.n, 3);
        ck_assert_int_eq(a.last, 0);
        close_engine();
}
END_TEST

START_TEST(test_the_last_to_leave_cancels_after_the_grace)
{
        struct answers a = ANSWERS;
        struct ticket *t[2];

        start(&(struct engine_options){.grace_ns = 50 * NSEC_PER_MSEC});
        control->hold = true;
        t[0] = ask(1, PRIORITY_PERSON, &a);
        t[1] = ask(1, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        ck_assert(engine_leave(e, &t[0]));
        usleep(200 * 1000);
        ck_assert_uint_eq(control->cancelled, 0); /* somebody still waits */
        ck_assert(engine_leave(e, &t[1]));
        wait_for(&control->cancelled, 1);
        ck_assert_uint_eq(a.n, 0);
        close_engine();
}
END_TEST

START_TEST(test_who_comes_back_in_time_joins)
{
        struct answers a = ANSWERS;
        struct ticket *t;

        start(&(struct engine_options){.grace_ns = 20 * NSEC_PER_SEC});
        control->hold = true;
        t = ask(1, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        ck_assert(engine_leave(e, &t));
        ask(1, PRIORITY_PERSON, &a);
        control->hold = false;
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        ck_assert_uint_eq(control->computed, 1);
        close_engine();
}
END_TEST

START_TEST(test_who_asks_for_a_cancelled_one_gets_a_new_one)
{
        struct answers a = ANSWERS;
        struct ticket *t;

        start(&(struct engine_options){.grace_ns = 1});
        control->hold = true;
        t = ask(1, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        ck_assert(engine_leave(e, &t));
        wait_for(&control->cancelled, 1);
        control->hold = false;
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        close_engine();
}
END_TEST

START_TEST(test_people_come_before_batches)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        control->hold = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 1);
        ask(2, PRIORITY_BATCH, &a);
        ask(3, PRIORITY_BATCH, &a);
        ask(4, PRIORITY_PERSON, &a);
        ask(3, PRIORITY_PERSON, &a); /* a person joins a batch's job, which moves up */
        control->hold = false;
        wait_for(&a.n, 5);
        ck_assert_uint_eq(control->finished_order[0], 1);
        ck_assert_uint_eq(control->finished_order[3], 2);
        ck_assert_uint_eq(control->n_finished, 4);
        close_engine();
}
END_TEST

/* Of any cores, so many at a time: the limit says how many, and others may have the first ones. */
START_TEST(test_fewer_cores_than_the_machine_has)
{
        struct answers a = ANSWERS, builds = ANSWERS;
        struct engine_counters c;
        int lock, cpus[64];

        NEEDS_TWO_CORES;
        host_cores(cpus, ARRAY_SIZE(cpus));
        start(&(struct engine_options){.cores = 1});
        engine_counters(e, &c);
        ck_assert_uint_eq(c.slots, 1);
        assert_ok(slot_try(getenv("SOLVERFS_SLOTS"), cpus[0], SLOT_RUN, &lock));
        control->hold = true;
        ask(1, PRIORITY_BATCH, &a);
        ask(2, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        close(lock);
        usleep(100000);
        ck_assert_uint_eq(control->computed, 1);
        control->hold = false;
        wait_for(&a.ok, 2);
        control->hold_builds = true;
        ask_build(3, PRIORITY_BATCH, &builds);
        ask_build(4, PRIORITY_BATCH, &builds);
        wait_for(&control->computed, 3);
        usleep(100000);
        ck_assert_uint_eq(control->computed, 3);
        control->hold_builds = false;
        wait_for(&builds.ok, 2);
        close_engine();
}
END_TEST

START_TEST(test_a_job_takes_more_slots_and_drops_them)
{
        struct answers a = ANSWERS;

        NEEDS_TWO_CORES;
        start(&(struct engine_options){.cores = 2});
        control->hold = control->is_greedy = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control->added, 1);
        control->is_greedy = false; /* no more of them */
        ask(2, PRIORITY_BATCH, &a);
        wait_for(&control->dropped, 1);
        wait_for(&control->computed, 2);
        control->hold = false;
        wait_for(&a.ok, 2);
        control->hold = control->is_greedy = true;
        ask(11, PRIORITY_BATCH, &a);
        wait_for(&control->added, 2);
        control->hold = false; /* it ends with two */
        wait_for(&a.ok, 3);
        control->hold = true;
        ask(3, PRIORITY_BATCH, &a);
        ask(4, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 5); /* side by side */
        control->hold = false;
        wait_for(&a.ok, 5);
        close_engine();
}
END_TEST

START_TEST(test_what_a_job_leaves_is_taken_or_closed)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        control->leaves = 1;
        for (unsigned i = 1; i <= 20; i++) {
                ask(i, PRIORITY_PERSON, &a);
                wait_for(&a.ok, i);
        }
        ck_assert_uint_gt(control->taken, 0);
        wait_for(&control->closed, control->left - control->taken); /* after a while, without another job */
        control->leaves = LEFT_MOST + 2;
        ask(21, PRIORITY_PERSON, &a);
        wait_for(&a.ok, 21);
        ck_assert_uint_ge(control->taken + control->closed, 22); /* more than are kept */
        close_engine();
        ck_assert_uint_eq(control->left, 20 + LEFT_MOST + 2);
        ck_assert_uint_eq(control->taken + control->closed, control->left);
}
END_TEST

/* Such as a sandbox whose helper hangs in the kernel. */
START_TEST(test_what_cannot_be_closed_stops_no_other_job)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        control->leaves = 1;
        control->hold_close = true;
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&control->closing, 1);
        control->leaves = 0;
        ask(2, PRIORITY_PERSON, &a);
        wait_for(&a.ok, 2);
        ck_assert_uint_eq(control->closed, 0);
        control->hold_close = false;
        close_engine();
        ck_assert_uint_eq(control->closed, 1);
}
END_TEST

START_TEST(test_a_batch_gives_way_to_a_person)
{
        struct answers a = {.lock = PTHREAD_MUTEX_INITIALIZER}, person = {.lock = PTHREAD_MUTEX_INITIALIZER};

        start(&(struct engine_options){.cores = 1});
        control->hold = control->is_polite = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 1);
        ask(3, PRIORITY_BATCH, &a);
        ask(2, PRIORITY_PERSON, &person);
        wait_for(&control->computed, 2); /* beside the first, which has no slot now */
        control->is_polite = false;
        control->hold = false;
        wait_for(&person.ok, 1);
        wait_for(&a.ok, 2);
        ck_assert_uint_eq(control->gave_way, 1);
        ck_assert_uint_eq(control->finished_order[0], 2);
        ck_assert_uint_eq(control->finished_order[1], 1); /* its turn comes before those who have not begun */
        close_engine();
}
END_TEST

/* Other processes leave it the next core, too, as it has none. */
START_TEST(test_a_batch_that_gave_way_waits_in_view_of_all)
{
        struct answers a = ANSWERS;
        const char *folder;
        int locks[64], cpus[64], mark;
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        start(NULL);
        folder = getenv("SOLVERFS_SLOTS");
        for (size_t i = 1; i < n; i++)
                assert_ok(slot_try(folder, cpus[i], SLOT_RUN, &locks[i]));
        control->hold = control->is_polite = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 1);
        assert_ok(slot_mark(folder, SLOT_PERSON_WAITS, &mark));
        while (slot_try(folder, cpus[0], SLOT_PERSON, &locks[0]) == -EAGAIN)
                usleep(1000);
        close(mark);
        while (!slot_is_marked(folder, SLOT_BATCH_HAS_NONE))
                usleep(1000);
        ask(1, PRIORITY_PERSON, &a);
        while (!slot_is_marked(folder, SLOT_PERSON_HAS_NONE))
                usleep(1000);
        control->hold = false;
        close(locks[0]);
        wait_for(&a.ok, 2);
        while (slot_is_marked(folder, SLOT_PERSON_WAITS))
                usleep(1000);
        close_engine();
}
END_TEST

static void *ask_two_as_batch(void *answers)
{
        struct query *q = number_new(2, 1, RESOURCE_CORE);
        struct ticket *t = NULL;

        assert_ok(engine_ask(e, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, count_answer, answers, &t));
        query_unref(q);
        return NULL;
}

static void see_priority_of_one(void *user, const struct job_view *j)
{
        if (strcmp(j->what, "number 1") == 0)
                *(enum priority *)user = j->priority;
}

/* Of this process and of another. */
START_TEST(test_runs_do_not_wait_for_builds)
{
        struct answers builds = ANSWERS, runs = ANSWERS;
        struct engine_counters c;
        int status;
        pid_t pid;

        share_control();
        control->hold_builds = true;
        pid = fork();
        if (pid == 0) { /* before this process has threads: ThreadSanitizer wants it so */
                struct workspace *second;
                struct engine *also;
                struct query *q = number_new(50, -1, RESOURCE_CORE);
                struct value *v = NULL;

                wait_for(&control->computed, 1); /* of a build */
                if (workspace_create("second") < 0 || workspace_open("second", 0, &second) < 0 ||
                    workspace_engine(second, NULL, &also) < 0)
                        _exit(1);
                w = second;
                _exit(engine_get(also, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, -1, &v) == 0 ? 0 : 2);
        }
        assert_ok(workspace_create("store"));
        open_engine(NULL);
        engine_counters(e, &c);
        for (unsigned i = 0; i < c.slots + 2; i++)
                ask_build(100 + i, i % 2, &builds);
        wait_for(&control->computed, 1);
        for (unsigned i = 0; i < 20; i++)
                ask(i, i % 2, &runs);
        wait_for(&runs.n, 20);
        ck_assert_uint_eq(runs.ok, 20);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        ck_assert_uint_eq(builds.n, 0);
        control->hold_builds = false;
        wait_for(&builds.n, c.slots + 2);
        ck_assert_uint_eq(builds.ok, c.slots + 2);
        close_engine();
}
END_TEST

/* One build of a process is the guest of those of others; its second one waits for the first. */
START_TEST(test_one_build_does_not_wait_for_builds_of_others)
{
        struct answers a = ANSWERS;
        int locks[64], cpus[64];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        start(&(struct engine_options){.gives_up = true});
        for (size_t i = 0; i < n; i++)
                assert_ok(slot_try(getenv("SOLVERFS_SLOTS"), cpus[i], SLOT_BUILD, &locks[i]));
        control->hold_builds = true;
        ask_build(1, PRIORITY_BATCH, &a);
        ask_build(2, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        usleep(100000);
        ck_assert_uint_eq(control->computed, 1);
        control->hold_builds = false;
        wait_for(&a.n, 2);
        ck_assert_uint_eq(a.ok, 2);
        for (size_t i = 0; i < n; i++)
                close(locks[i]);
        close_engine();
}
END_TEST

/* One who has cores leaves the next one to one who has none, of the same rank. */
START_TEST(test_those_who_have_none_come_first)
{
        struct answers a = ANSWERS, people = ANSWERS;
        struct engine_counters c;
        int mark;

        NEEDS_TWO_CORES;
        start(NULL);
        engine_counters(e, &c);
        control->hold = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 1);
        assert_ok(slot_mark(getenv("SOLVERFS_SLOTS"), SLOT_BATCH_HAS_NONE, &mark));
        ask(2, PRIORITY_BATCH, &a);
        usleep(100000);
        ck_assert_uint_eq(control->computed, 1);
        ask(3, PRIORITY_PERSON, &people);
        wait_for(&control->computed, 2);
        close(mark);
        control->hold = false;
        wait_for(&a.n, 2);
        wait_for(&people.n, 1);
        ck_assert_uint_eq(a.ok + people.ok, 3);
        close_engine();
}
END_TEST

/* A process that waits looks every 10 ms, and gets the core that this one gives back between two jobs. */
START_TEST(test_a_last_core_is_passed_on)
{
        struct answers a = ANSWERS;
        const char *folder;
        int locks[64], cpus[64], mark, got = -1;
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        struct ticket *t[20];

        start(&(struct engine_options){.grace_ns = 1});
        folder = getenv("SOLVERFS_SLOTS");
        for (size_t i = 1; i < n; i++)
                assert_ok(slot_try(folder, cpus[i], SLOT_RUN, &locks[i]));
        control->hold = true;
        for (unsigned i = 0; i < ARRAY_SIZE(t); i++)
                t[i] = ask(i, PRIORITY_BATCH, &a);
        wait_for(&control->computed, 1);
        assert_ok(slot_mark(folder, SLOT_BATCH_HAS_NONE, &mark));
        for (unsigned i = 0; i < ARRAY_SIZE(t) - 1 && got < 0; i++) { /* the machine may be busy */
                ck_assert(engine_leave(e, &t[i]));
                wait_for(&control->cancelled, i + 1);
                usleep(5000);
                for (unsigned k = 0; k < 50 && slot_try(folder, cpus[0], SLOT_RUN, &got) == -EAGAIN; k++)
                        usleep(200);
                if (got < 0)
                        wait_for(&control->computed, i + 2);
        }
        ck_assert_int_ge(got, 0);
        close(mark);
        close(got);
        control->hold = false;
        close_engine();
}
END_TEST

/* As each mount of a container is process 1. */
START_TEST(test_scratch_of_a_dead_process_with_our_number)
{
        cleanup_free char *left = format_string("store/scratch/run-%d-abcdef", (int)getpid());
        cleanup_close int again = -1;

        start(&(struct engine_options){0});
        close_engine();
        ck_assert_int_eq(mkdir(left, 0700), 0);
        open_engine(&(struct engine_options){0});
        ck_assert_int_ne(access(left, F_OK), 0);
        ck_assert_int_eq(mkdir(left, 0700), 0);
        assert_ok(leftovers_own("store", &again)); /* beside the engine: it may be the engine's */
        ck_assert_int_eq(access(left, F_OK), 0);
        close_engine();
}
END_TEST

/* Its lock's name was deleted, as by what cleans /tmp after ten days. */
START_TEST(test_scratch_of_a_process_that_lives)
{
        pid_t child = fork();
        cleanup_free char *lock = format_string("store/engines/%d", (int)child), *scratch = format_string("store/scratch/run-%d-abcdef", (int)child);
        cleanup_free char *view = format_string("%s.json", lock);

        if (child == 0)
                for (;;)
                        pause();
        start(&(struct engine_options){0});
        ck_assert_int_eq(mkdir(scratch, 0700), 0);
        assert_ok(write_file_atomic(view, "", 0, 0600));
        leftovers_sweep("store");
        ck_assert(!scratch_is_left("store", strrchr(scratch, '/') + 1));
        ck_assert(access(scratch, F_OK) == 0 && access(view, F_OK) == 0);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        leftovers_sweep("store");
        ck_assert(access(scratch, F_OK) != 0 && access(view, F_OK) != 0);
        close_engine();
}
END_TEST

START_TEST(test_giving_up)
{
        struct answers a = ANSWERS;
        int locks[64], cpus[64];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        char *reason = NULL;
        struct query *q = number_new(3, -1, RESOURCE_CORE);
        uint64_t job;

        start(&(struct engine_options){.gives_up = true});
        for (size_t i = 0; i < n; i++) {
                assert_ok(slot_try(getenv("SOLVERFS_SLOTS"), cpus[i], SLOT_RUN, &locks[i]));
                slot_note(locks[i], SLOT_RUN, 0, "run other 1234 case 5");
        }
        ask(1, PRIORITY_PERSON, &a);
        ask(2, PRIORITY_BATCH, &a);
        wait_for(&a.n, 2);
        ck_assert_int_eq(a.last, -EAGAIN);
        ck_assert_msg(strstr(a.reason, "waits for a core: run other 1234 case 5 ("), "%s", a.reason);
        ask_build(4, PRIORITY_PERSON, &a); /* which borrows it */
        wait_for(&a.n, 3);
        ck_assert_uint_eq(a.ok, 1);
        close_engine();
        open_engine(NULL);
        ask(3, PRIORITY_PERSON, &a);
        while (engine_peek(e, q, &job, &reason) == JOB_QUEUED && !reason)
                usleep(1000);
        ck_assert_ptr_nonnull(strstr(reason, "run other 1234 case 5"));
        free(reason);
        for (size_t i = 0; i < n; i++)
                close(locks[i]);
        wait_for(&a.n, 4);
        ck_assert_uint_eq(a.ok, 2);
        query_unref(q);
        close_engine();
}
END_TEST

START_TEST(test_a_person_joins_while_a_need_is_asked_for)
{
        struct answers a = ANSWERS;
        enum priority seen = PRIORITY_BATCH;
        struct ticket *t = NULL;
        pthread_t thread;
        struct query *q;

        start(NULL);
        control->hold = true;
        control->hold_find = true;
        ck_assert_int_eq(pthread_create(&thread, NULL, ask_two_as_batch, &a), 0);
        wait_for(&control->looked, 2); /* for number 1, as a batch's */
        q = number_new(2, 1, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        query_unref(q);
        control->hold_find = false;
        pthread_join(thread, NULL);
        wait_for(&control->computed, 1);
        assert_ok(engine_each_job(e, see_priority_of_one, &seen));
        ck_assert_int_eq(seen, PRIORITY_PERSON);
        control->hold = false;
        wait_for(&a.n, 2);
        ck_assert_uint_eq(a.ok, 2);
        close_engine();
}
END_TEST

static void let_asker_through(void *user, int r, struct value *v, const char *reason)
{
        control->hold_find = false;
        while (!control->asked)
                usleep(1000);
        count_answer(user, r, v, reason);
}

/* The asker of 20 is still asking for the second need of its need when the first fails, and is through before that answer has been handed on. */
START_TEST(test_a_need_fails_while_its_asker_is_asking)
{
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        struct query *q;

        start(NULL);
        control->fail = control->hold_find = true;
        control->looked = 1;
        q = number_new(20, 2, RESOURCE_CORE);
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, let_asker_through, &a, &t));
        query_unref(q);
        control->asked = true;
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EIO);
        ck_assert_ptr_nonnull(strstr(a.reason, "number 3 is broken"));
        close_engine();
}
END_TEST

/* The first need of 22 fails while it is asking for its second. */
START_TEST(test_nothing_is_asked_for_by_a_job_that_is_over)
{
        struct query *q = number_new(22, 3, RESOURCE_CORE), *third = number_new(4, -1, RESOURCE_DISK);
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        uint64_t job;
        char *reason;

        start(NULL);
        control->fail = control->hold_find = true;
        control->looked = 1;
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, let_asker_through, &a, &t));
        ck_assert_int_eq(engine_peek(e, third, &job, &reason), JOB_COLD);
        free(reason);
        control->asked = true;
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EIO);
        query_unref(q);
        query_unref(third);
        close_engine();
}
END_TEST

START_TEST(test_the_queue_is_bounded)
{
        struct answers a = ANSWERS;
        struct ticket *t = NULL;
        struct query *q;

        start(&(struct engine_options){.cores = 1, .queue = 2});
        control->hold = true;
        ask(1, PRIORITY_PERSON, &a);
        ask(2, PRIORITY_PERSON, &a);
        q = number_new(3, -1, RESOURCE_CORE);
        assert_error(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t), EAGAIN);
        ck_assert_ptr_nonnull(strstr(error_message(-EAGAIN), "queue is full"));
        ask(2, PRIORITY_PERSON, &a); /* joining is always possible */
        control->hold = false;
        wait_for(&a.n, 3);
        query_unref(q);
        close_engine();
}
END_TEST

START_TEST(test_again_computes_what_is_there)
{
        struct query *q = number_new(1, -1, RESOURCE_CORE);
        struct value *v = NULL;

        start(NULL);
        for (int i = 0; i < 3; i++) {
                assert_ok(engine_get(e, q, PRIORITY_PERSON, i == 2, -1, &v));
                v = value_unref(v);
        }
        ck_assert_uint_eq(control->computed, 2);
        query_unref(q);
        close_engine();
}
END_TEST

START_TEST(test_get_can_be_interrupted)
{
        struct query *q = number_new(1, -1, RESOURCE_CORE);
        struct value *v = NULL;
        int fds[2];

        start(&(struct engine_options){.grace_ns = 1});
        control->hold = true;
        ck_assert_int_eq(pipe(fds), 0);
        close(fds[1]); /* hung up: readable */
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, fds[0], &v), ECANCELED);
        query_unref(q);
        close_engine();
}
END_TEST

static void *hang_up(void *user)
{
        const int *fds = user;

        usleep((unsigned)fds[1] * 7919 % 400);
        close(fds[1]);
        return NULL;
}

/* The answer and the interruption come at about the same time. */
START_TEST(test_get_is_interrupted_beside_answers)
{
        start(NULL);
        for (unsigned i = 0; i < 200; i++) {
                struct query *q = number_new(i, -1, RESOURCE_DISK);
                struct value *v = NULL;
                pthread_t thread;
                int fds[2], r;

                ck_assert_int_eq(pipe(fds), 0);
                ck_assert_int_eq(pthread_create(&thread, NULL, hang_up, fds), 0);
                r = engine_get(e, q, PRIORITY_PERSON, COMPUTE_AGAIN, fds[0], &v);
                ck_assert_int_eq(r, v ? 0 : -ECANCELED);
                value_unref(v);
                pthread_join(thread, NULL);
                close(fds[0]);
                query_unref(q);
        }
        close_engine();
}
END_TEST

/* The engine's threads take no signals of the process, and survive a store that faults under them all the same. */
START_TEST(test_a_damaged_store_is_read)
{
        struct answers a = ANSWERS;

        start(NULL);
        control->damage = true;
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_str_eq(a.reason, "number 1 was damaged");
        close_engine();
}
END_TEST

/* Nobody holds a lock that cannot be taken: who asks is told why, and does not wait. */
START_TEST(test_locks_cannot_be_taken)
{
        static const char *const folders[] = {"store/claims", "slots"}; /* $SOLVERFS_SLOTS of test.h */
        struct answers a = ANSWERS;

        start(NULL);
        for (unsigned i = 0; i < ARRAY_SIZE(folders); i++) {
                ck_assert_int_eq(rename(folders[i], "aside"), 0);
                ask(2 * i + 1, PRIORITY_PERSON, &a);
                ask(2 * i + 2, PRIORITY_BATCH, &a);
                wait_for(&a.n, 3 * i + 2);
                ck_assert_uint_eq(a.ok, i);
                ck_assert_int_eq(a.last, -EIO);
                ck_assert_ptr_nonnull(strstr(a.reason, "cannot lock"));
                ck_assert_ptr_nonnull(strstr(a.reason, folders[i]));
                ck_assert_int_eq(rename("aside", folders[i]), 0);
                ask(2 * i + 1, PRIORITY_PERSON, &a);
                wait_for(&a.n, 3 * i + 3);
                ck_assert_uint_eq(a.ok, i + 1);
        }
        close_engine();
}
END_TEST

/* An engine opened on a full disk has no lock to show that it lives. It computes nothing before it has. */
START_TEST(test_the_disk_was_full)
{
        struct answers a = ANSWERS;
        char pid[16];

        NEEDS_OWN_MOUNTS;
        share_control();
        assert_ok(workspace_create("store"));
        ck_assert(mkdir("store/engines", 0700) == 0 || errno == EEXIST);
        ck_assert_int_eq(mount("tmpfs", "store/engines", "tmpfs", 0, "nr_inodes=1"), 0);
        open_engine(NULL);
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -ENOSPC);
        ck_assert_int_eq(mount("tmpfs", "store/engines", "tmpfs", MS_REMOUNT, "nr_inodes=100"), 0);
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&a.n, 2);
        ck_assert_uint_eq(a.ok, 1);
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        ck_assert(lock_is_held("store/engines", pid));
        close_engine();
        ck_assert(!lock_is_held("store/engines", pid));
        ck_assert_int_eq(umount("store/engines"), 0);
}
END_TEST

START_TEST(test_closing_answers_everybody)
{
        struct answers a = ANSWERS;

        start(NULL);
        control->hold = true;
        for (unsigned i = 0; i < 20; i++)
                ask(i, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        close_engine();
        ck_assert_uint_eq(a.n, 20);
        ck_assert_uint_eq(a.ok, 0);
        ck_assert_int_eq(a.last, -ECANCELED);
}
END_TEST

/* Another process: asks for `number` and exits with 0 when it got it. */
static pid_t asker(unsigned number)
{
        pid_t pid = fork();

        if (pid == 0) {
                struct query *q = number_new(number, -1, RESOURCE_CORE);
                struct value *v = NULL;
                int r;

                open_engine(NULL);
                r = engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v);
                close_engine();
                _exit(r < 0);
        }
        return pid;
}

static void see_elsewhere(void *user, const struct job_view *j)
{
        *(unsigned *)user += strcmp(j->phase, "another process is at it") == 0;
}

/* Until so many jobs of other processes have found that their claim is held. */
static void wait_elsewhere(unsigned least)
{
        unsigned seen = 0;

        for (unsigned i = 0; i < 40000 && seen < least; i++) {
                seen = 0;
                assert_ok(engine_each_job_of_store("store", see_elsewhere, &seen));
                usleep(1000);
        }
        ck_assert_uint_ge(seen, least);
}

START_TEST(test_one_computation_in_all_processes)
{
        pid_t pids[4];

        NEEDS_TWO_CORES;
        share_control();
        assert_ok(workspace_create("store"));
        control->hold = true;
        for (int i = 0; i < 4; i++)
                pids[i] = asker(5);
        wait_for(&control->computed, 1);
        wait_elsewhere(3);
        control->hold = false;
        for (int i = 0; i < 4; i++) {
                int status;

                waitpid(pids[i], &status, 0);
                ck_assert_int_eq(status, 0);
        }
        ck_assert_uint_eq(control->computed, 1);
}
END_TEST

START_TEST(test_a_killed_process_frees_its_claim)
{
        pid_t first, second;
        int status;

        NEEDS_TWO_CORES;
        share_control();
        assert_ok(workspace_create("store"));
        control->hold = true;
        first = asker(5);
        wait_for(&control->computed, 1);
        second = asker(5);
        wait_elsewhere(1);
        ck_assert_uint_eq(control->computed, 1);
        kill(first, SIGKILL);
        waitpid(first, &status, 0);
        wait_for(&control->computed, 2);
        control->hold = false;
        waitpid(second, &status, 0);
        ck_assert_int_eq(status, 0);
}
END_TEST

static void see_job(void *user, const struct job_view *j)
{
        unsigned *seen = user;

        ck_assert_str_eq(j->query, "number");
        ck_assert_int_eq(strncmp(j->what, "number ", 7), 0);
        seen[j->state]++;
}

START_TEST(test_jobs_can_be_seen_from_everywhere)
{
        unsigned here[8] = {0}, there[8] = {0};
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        control->hold = true;
        for (unsigned i = 0; i < 3; i++)
                ask(i, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        assert_ok(engine_each_job(e, see_job, here));
        ck_assert_uint_eq(here[JOB_RUNNING], 1);
        ck_assert_uint_eq(here[JOB_QUEUED], 2);
        for (int i = 0; i < 60000 && there[JOB_RUNNING] == 0; i++) { /* it is published now and then */
                memset(there, 0, sizeof(there));
                assert_ok(engine_each_job_of_store("store", see_job, there));
                usleep(1000);
        }
        ck_assert_uint_eq(there[JOB_RUNNING], 1);
        control->hold = false;
        wait_for(&a.n, 3);
        close_engine();
        memset(there, 0, sizeof(there));
        assert_ok(engine_each_job_of_store("store", see_job, there));
        ck_assert_uint_eq(there[JOB_RUNNING] + there[JOB_QUEUED], 0);
}
END_TEST

static void see_phase(void *user, const struct job_view *j)
{
        snprintf(user, 256, "%s", j->phase);
}

/* A build system's words, whatever they are, become a line of UTF-8, or the job could not be shown. */
START_TEST(test_phases_are_text)
{
        struct answers a = ANSWERS;
        char seen[256] = "";

        start(NULL);
        control->hold = true;
        strcpy(control->phase, "a\tb\xff ");
        for (unsigned i = 0; i < 100; i++)
                strcat(control->phase, "\u00e9");
        ask(1, PRIORITY_PERSON, &a);
        wait_for(&control->computed, 1);
        assert_ok(engine_each_job(e, see_phase, seen));
        ck_assert_int_eq(strncmp(seen, "a?b? \u00e9", 7), 0);
        ck_assert_uint_eq(strlen(seen), 127);              /* it ends with a whole character */
        for (int i = 0; i < 60000 && seen[0] != 'x'; i++) { /* published now and then */
                strcpy(seen, "");
                assert_ok(engine_each_job_of_store("store", see_phase, seen));
                if (seen[0] == 'a')
                        seen[0] = 'x';
                usleep(1000);
        }
        ck_assert_int_eq(seen[0], 'x');
        control->hold = false;
        wait_for(&a.n, 1);
        close_engine();
}
END_TEST

static void *storm(void *user)
{
        struct answers *a = user;
        unsigned random = (unsigned)(uintptr_t)pthread_self() | 1;

        for (int i = 0; i < 400; i++) {
                struct ticket *t;

                random = random * 1103515245 + 12345;
                t = ask(random >> 16 & 31, random & 1 ? PRIORITY_PERSON : PRIORITY_BATCH, a);
                if (t && random >> 8 & 1)
                        usleep(random >> 10 & 255);
        }
        return NULL;
}

START_TEST(test_storm)
{
        struct answers a = ANSWERS;
        pthread_t threads[8];

        start(NULL);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, storm, &a);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        wait_for(&a.n, 400 * ARRAY_SIZE(threads));
        ck_assert_uint_eq(a.ok, a.n);
        ck_assert_uint_eq(control->computed, 32);
        close_engine();
}
END_TEST

SUITE("engine", test_a_stored_value_is_answered_at_once, test_a_thousand_askers_one_computation, test_what_is_needed_comes_first,
      test_who_waits_for_the_same_need_goes_on_in_order, test_a_failed_need_fails_with_its_reason,
      test_what_is_needed_is_gone_when_its_turn_comes, test_the_last_to_leave_cancels_after_the_grace,
      test_who_comes_back_in_time_joins, test_who_asks_for_a_cancelled_one_gets_a_new_one, test_people_come_before_batches,
      test_fewer_cores_than_the_machine_has, test_a_job_takes_more_slots_and_drops_them, test_a_batch_gives_way_to_a_person,
      test_a_batch_that_gave_way_waits_in_view_of_all,
      test_runs_do_not_wait_for_builds, test_one_build_does_not_wait_for_builds_of_others, test_those_who_have_none_come_first,
      test_a_last_core_is_passed_on, test_scratch_of_a_dead_process_with_our_number, test_scratch_of_a_process_that_lives,
      test_giving_up,
      test_a_person_joins_while_a_need_is_asked_for, test_a_need_fails_while_its_asker_is_asking,
      test_nothing_is_asked_for_by_a_job_that_is_over, test_the_queue_is_bounded, test_again_computes_what_is_there,
      test_get_can_be_interrupted, test_get_is_interrupted_beside_answers, test_a_damaged_store_is_read,
      test_locks_cannot_be_taken, test_the_disk_was_full, test_closing_answers_everybody, test_one_computation_in_all_processes,
      test_a_killed_process_frees_its_claim, test_jobs_can_be_seen_from_everywhere, test_phases_are_text,
      test_what_a_job_leaves_is_taken_or_closed, test_what_cannot_be_closed_stops_no_other_job, test_storm)
