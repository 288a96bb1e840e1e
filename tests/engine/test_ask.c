/* Asking for many, by threads and by queries that are made of asking. The values are in memory; nodes form graphs. */
#include "tests/engine/answers.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "core/engine/ask.h"
#include "core/workspace/workspace.h"

#define NODES 40000

/* Node n: a leaf, which computes, or a parent, which asks for `children` in its steps. */
struct node {
        unsigned first, n; /* children: first, first + 1, …; 0: a leaf */
        bool known;        /* its value is there */
        unsigned computed, order;
};

static struct control {
        pthread_mutex_t lock;
        struct node nodes[NODES];
        unsigned n_finished;
        _Atomic unsigned computed, running, most_running, cancelled, stepped, needing;
        _Atomic bool hold, hold_needs, fail;
        uint64_t estimate_ns; /* of a leaf; 0: none */
} control = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct workspace *w;
static struct engine *e;

struct node_query {
        struct query query;
        unsigned number;
        unsigned needs[2], n_needs;
};

static const struct query_type leaf_type, parent_type;

static struct query *node_new(unsigned number)
{
        struct node_query *q = calloc(1, sizeof(*q));

        ck_assert_uint_lt(number, NODES);
        q->query = (struct query){.type = control.nodes[number].n ? &parent_type : &leaf_type, .refs = 1};
        q->number = number;
        digest_of(&number, sizeof(number), &q->query.key);
        return &q->query;
}

static unsigned number_of(const struct query *q)
{
        return ((const struct node_query *)q)->number;
}

static struct node *node_of(const struct query *q)
{
        return &control.nodes[number_of(q)];
}

static struct value *value_new(const struct query *q)
{
        struct value *v = calloc(1, sizeof(*v));

        *v = (struct value){.type = q->type, .refs = 1};
        return v;
}

static int node_find(struct query *q, struct value **ret)
{
        bool known;

        pthread_mutex_lock(&control.lock);
        known = node_of(q)->known;
        pthread_mutex_unlock(&control.lock);
        if (!known)
                return -ENOENT;
        *ret = value_new(q);
        return 0;
}

static void node_keep(const struct query *q)
{
        pthread_mutex_lock(&control.lock);
        node_of(q)->known = true;
        node_of(q)->computed++;
        node_of(q)->order = ++control.n_finished;
        pthread_mutex_unlock(&control.lock);
}

static int leaf_need(struct query *q, struct query_list *ret)
{
        const struct node_query *n = (const struct node_query *)q;
        int r = 0;

        control.needing++;
        while (control.hold_needs)
                usleep(1000);
        for (unsigned i = 0; i < n->n_needs && r == 0; i++) {
                cleanup(query_unrefp) struct query *need = node_new(n->needs[i]);
                cleanup(value_unrefp) struct value *v = NULL;

                if (node_find(need, &v) < 0)
                        r = query_list_add(ret, steal_pointer(need));
        }
        return r;
}

static int leaf_work(struct query *q, struct job *j)
{
        struct pollfd fd = {.fd = job_cancel_fd(j), .events = POLLIN};

        while (control.hold)
                if (poll(&fd, 1, 2) > 0) {
                        control.cancelled++;
                        return errorf(-ECANCELED, "cancelled");
                }
        if (control.fail)
                return errorf(-EIO, "node %u is broken", number_of(q));
        node_keep(q);
        return 0;
}

static int leaf_compute(struct query *q, struct job *j, struct value **ret)
{
        unsigned running = ++control.running;
        int r;

        if (running > control.most_running)
                control.most_running = running;
        control.computed++;
        r = leaf_work(q, j);
        control.running--;
        *ret = r == 0 ? value_new(q) : NULL;
        return r;
}

static int parent_make(void *user, size_t i, struct query **ret)
{
        *ret = node_new((unsigned)(*(unsigned *)user + i));
        return 0;
}

static int parent_step(struct query *q, struct job *j, void **state, struct value **ret)
{
        struct node *n = node_of(q);

        control.stepped++;
        if (!*state) {
                unsigned *first = malloc(sizeof(*first));

                *first = n->first;
                *state = first;
                return job_ask_many(j, &(struct batch){.n = n->n, .make = parent_make, .user = first});
        }
        node_keep(q);
        *ret = value_new(q);
        return 0;
}

static void node_describe(const struct query *q, struct buffer *ret)
{
        buffer_addf(ret, "node %u", number_of(q));
}

static bool leaf_estimate(const struct query *q, struct cost *ret)
{
        *ret = (struct cost){.mean_ns = control.estimate_ns, .deviation_ns = control.estimate_ns / 10};
        return control.estimate_ns > 0;
}

static const struct query_type leaf_type = {.name = "leaf",
                                            .resource = RESOURCE_CORE,
                                            .find = node_find,
                                            .need = leaf_need,
                                            .compute = leaf_compute,
                                            .describe = node_describe,
                                            .estimate = leaf_estimate};
static const struct query_type disk_type = {.name = "leaf",
                                            .resource = RESOURCE_DISK,
                                            .find = node_find,
                                            .need = leaf_need,
                                            .compute = leaf_compute,
                                            .describe = node_describe};
static const struct query_type parent_type = {.name = "parent",
                                              .resource = RESOURCE_STEP,
                                              .find = node_find,
                                              .step = parent_step,
                                              .free_state = free,
                                              .describe = node_describe};

static void start(const struct engine_options *options)
{
        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_engine(w, options, &e));
}

static void stop(void)
{
        e = engine_close(e);
        w = workspace_close(w);
}

static void parent(unsigned number, unsigned first, unsigned n)
{
        control.nodes[number].first = first;
        control.nodes[number].n = n;
}

static unsigned order(unsigned number)
{
        unsigned n;

        pthread_mutex_lock(&control.lock);
        n = control.nodes[number].order;
        pthread_mutex_unlock(&control.lock);
        return n;
}

static void wait_idle(void)
{
        struct engine_counters c = {0};

        for (unsigned i = 0; i < 40000; i++) {
                engine_counters(e, &c);
                if (c.queued + c.running + c.waiters == 0)
                        return;
                usleep(1000);
        }
        ck_abort_msg("%llu are queued, %llu run", (unsigned long long)c.queued, (unsigned long long)c.running);
}

static void wait_queued(unsigned n)
{
        struct engine_counters c = {0};

        for (unsigned i = 0; i < 40000; i++) {
                engine_counters(e, &c);
                if (c.queued == n)
                        return;
                usleep(1000);
        }
        ck_abort_msg("%llu are queued, not %u", (unsigned long long)c.queued, n);
}

static struct ticket *ask(unsigned number, enum priority p, struct answers *a)
{
        cleanup(query_unrefp) struct query *q = node_new(number);
        struct ticket *t = NULL;

        assert_ok(engine_ask(e, q, p, COMPUTE_IF_UNKNOWN, count_answer, a, &t));
        return t;
}

/* -- threads that ask -- */

struct sweep {
        unsigned first;
        size_t n, enough; /* 0: never */
        size_t order[512];
        int cancel_fd;
        size_t cancel_at; /* answers; 0: never */
        struct ask_progress progress;
        unsigned n_progress;
        int last;
};

static int sweep_make(void *user, size_t i, struct query **ret)
{
        struct sweep *s = user;

        if (s->first + i == 13)
                return errorf(-ENOENT, "there is no 13");
        *ret = node_new((unsigned)(s->first + i));
        return 0;
}

static int sweep_answered(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct sweep *s = user;

        ck_assert((r == 0) == (v != NULL));
        ck_assert((r < 0) == (reason != NULL));
        if (r < 0)
                s->last = r;
        if (s->n < ARRAY_SIZE(s->order))
                s->order[s->n] = i;
        s->n++;
        if (s->n == s->cancel_at)
                eventfd_write(s->cancel_fd, 1);
        return s->n == s->enough;
}

START_TEST(test_answers_come_once_each)
{
        struct sweep s = {.first = 0};
        bool seen[100] = {false};

        start(NULL);
        assert_ok(ask_many(e, &(struct batch){.n = 100, .open = 8, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        ck_assert_uint_eq(s.n, 100);
        for (size_t i = 0; i < 100; i++) {
                ck_assert(!seen[s.order[i]]);
                seen[s.order[i]] = true;
        }
        ck_assert_uint_eq(control.computed, 99);
        ck_assert_int_eq(s.last, -ENOENT); /* of 13, which could not even be made */
        assert_ok(ask_many(e, &(struct batch){.n = 0, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        stop();
}
END_TEST

START_TEST(test_enough_takes_the_others_back)
{
        struct sweep s = {.first = 100, .enough = 3};

        start(&(struct engine_options){.cores = 1});
        assert_ok(ask_many(e, &(struct batch){.n = 500, .open = 2, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        ck_assert_uint_eq(s.n, 3);
        ck_assert_uint_le(control.computed, 6);
        stop();
}
END_TEST

START_TEST(test_without_answered_the_first_failure_ends_it)
{
        struct sweep s = {.first = 100};
        struct batch a = {.n = 500, .open = 4, .make = sweep_make, .user = &s};

        start(NULL);
        control.fail = true;
        assert_error(ask_many(e, &a, PRIORITY_BATCH, -1), EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "is broken"));
        ck_assert_uint_le(control.computed, 8);
        wait_idle(); /* or we would join one that is failing */
        control.fail = false;
        assert_ok(ask_many(e, &a, PRIORITY_BATCH, -1));
        stop();
}
END_TEST

START_TEST(test_a_thread_is_interrupted)
{
        struct sweep s = {.first = 100, .cancel_fd = eventfd(0, EFD_CLOEXEC), .cancel_at = 5};

        start(&(struct engine_options){.cores = 1, .grace_ns = 20 * NSEC_PER_SEC});
        assert_error(ask_many(e,
                              &(struct batch){.n = 500, .open = 2, .make = sweep_make, .answered = sweep_answered, .user = &s},
                              PRIORITY_BATCH, s.cancel_fd),
                     ECANCELED);
        ck_assert_uint_le(s.n, 8);
        wait_queued(0); /* at once, and not behind the grace period */
        ck_assert_uint_le(control.computed, 9);
        stop();
}
END_TEST

START_TEST(test_more_than_the_queue_takes)
{
        struct sweep s = {.first = 100};

        start(&(struct engine_options){.cores = 1, .queue = 3});
        assert_ok(ask_many(e, &(struct batch){.n = 200, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        ck_assert_uint_eq(s.n, 200);
        ck_assert_int_eq(s.last, 0);
        ck_assert_uint_eq(control.computed, 200);
        stop();
}
END_TEST

static int see_progress(void *user, const struct ask_progress *p)
{
        struct sweep *s = user;

        if (!control.hold)
                return 0; /* what is seen while all are open */
        s->progress = *p;
        if (++s->n_progress == 2)
                control.hold = false;
        return 0;
}

START_TEST(test_an_estimate_is_a_range_or_none)
{
        struct sweep s = {.first = 100};
        struct batch a = {
                .n = 100, .open = 10, .make = sweep_make, .answered = sweep_answered, .progress = see_progress, .user = &s};

        start(&(struct engine_options){.cores = 1});
        control.hold = true; /* nothing was measured, nothing is done: nothing is known */
        assert_ok(ask_many(e, &a, PRIORITY_BATCH, -1));
        ck_assert_uint_ge(s.n_progress, 2);
        ck_assert(!s.progress.estimated);
        s = (struct sweep){.first = 300};
        a.n = 10;
        control.estimate_ns = 100 * NSEC_PER_SEC; /* measured: ten of 100 s each */
        control.hold = true;
        assert_ok(ask_many(e, &a, PRIORITY_BATCH, -1));
        ck_assert(s.progress.estimated);
        ck_assert_uint_eq(s.progress.open, 10);
        ck_assert_uint_lt(s.progress.least_ns, 1000 * NSEC_PER_SEC);
        ck_assert_uint_gt(s.progress.least_ns, 800 * NSEC_PER_SEC);
        ck_assert_uint_gt(s.progress.most_ns, 1000 * NSEC_PER_SEC);
        ck_assert_uint_lt(s.progress.most_ns, 1200 * NSEC_PER_SEC);
        s = (struct sweep){.first = 400};
        control.estimate_ns = 1; /* ... and this one takes far longer than any before */
        control.hold = true;
        assert_ok(ask_many(e, &a, PRIORITY_BATCH, -1));
        ck_assert(!s.progress.estimated);
        stop();
}
END_TEST

/* -- queries that ask -- */

START_TEST(test_ten_thousand_nested_on_one_slot)
{
        enum {
                PARENTS = 64,
                EACH = 157
        }; /* 64 parents ask for 157 each, that ask for a leaf each: 10,048 of either */
        struct sweep s = {.first = 100};
        struct engine_counters c;

        start(&(struct engine_options){.cores = 1});
        for (unsigned i = 0; i < PARENTS; i++) {
                parent(100 + i, 1000 + i * EACH, EACH);
                for (unsigned k = 0; k < EACH; k++)
                        parent(1000 + i * EACH + k, 20000 + i * EACH + k, 1);
        }
        assert_ok(ask_many(e, &(struct batch){.n = PARENTS, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        ck_assert_uint_eq(s.n, PARENTS);
        ck_assert_int_eq(s.last, 0);
        ck_assert_uint_eq(control.computed, PARENTS * EACH);
        ck_assert_uint_eq(control.most_running, 1);
        for (unsigned i = 0; i < PARENTS * EACH; i++)
                ck_assert_uint_eq(control.nodes[1000 + i].computed, 1);
        engine_counters(e, &c);
        ck_assert_uint_eq(c.failed + c.cancelled + c.refused, 0);
        stop();
}
END_TEST

START_TEST(test_parents_share_their_children)
{
        struct sweep s = {.first = 100};

        start(&(struct engine_options){.cores = 1});
        for (unsigned i = 0; i < 64; i++)
                parent(100 + i, 1000 + i, 200); /* of 263 in all */
        assert_ok(ask_many(e, &(struct batch){.n = 64, .make = sweep_make, .answered = sweep_answered, .user = &s},
                           PRIORITY_BATCH, -1));
        ck_assert_int_eq(s.last, 0);
        ck_assert_uint_eq(control.computed, 263);
        stop();
}
END_TEST

START_TEST(test_a_person_joining_a_parent_overtakes)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        parent(10, 11, 2);
        parent(11, 20, 3);
        parent(12, 30, 3);
        control.hold = true;
        ask(1, PRIORITY_BATCH, &a);
        wait_for(&control.computed, 1);
        for (unsigned i = 2; i < 9; i++)
                ask(i, PRIORITY_BATCH, &a);
        ask(10, PRIORITY_BATCH, &a);
        wait_queued(7 + 6);
        ask(10, PRIORITY_PERSON, &a);
        control.hold = false;
        wait_for(&a.n, 10);
        ck_assert_uint_eq(a.ok, 10);
        ck_assert_uint_eq(order(1), 1);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert_uint_lt(order(20 + i), order(2));
                ck_assert_uint_lt(order(30 + i), order(2));
        }
        stop();
}
END_TEST

/* Who joins between two steps moves what the later ones ask for, too. */
START_TEST(test_what_is_asked_later_has_the_priority_of_now)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        parent(10, 100, 200); /* of which 64 are open at a time */
        control.hold = true;
        ask(10, PRIORITY_BATCH, &a);
        wait_for(&control.computed, 1);
        wait_queued(63);
        for (unsigned i = 2; i < 9; i++)
                ask(i, PRIORITY_BATCH, &a);
        ask(10, PRIORITY_PERSON, &a);
        control.hold = false;
        wait_for(&a.n, 9);
        for (unsigned i = 100; i < 163; i++) /* the slot may be free for a moment while more is asked for */
                ck_assert_uint_lt(order(i), order(2));
        ck_assert_uint_eq(order(10) != 0, 1);
        stop();
}
END_TEST

START_TEST(test_cancelling_a_parent_ends_its_children)
{
        struct answers a = {.lock = PTHREAD_MUTEX_INITIALIZER}, b = {.lock = PTHREAD_MUTEX_INITIALIZER};
        struct engine_counters c;
        struct ticket *t;

        start(&(struct engine_options){.cores = 1, .grace_ns = 200 * NSEC_PER_MSEC});
        parent(10, 11, 2);
        parent(11, 20, 3);
        parent(12, 30, 3);
        control.hold = true;
        t = ask(10, PRIORITY_BATCH, &a);
        wait_for(&control.computed, 1);
        wait_queued(5);
        ask(31, PRIORITY_BATCH, &b); /* somebody else wants this one */
        ck_assert(engine_leave(e, &t));
        wait_for(&control.computed, 2);
        ck_assert_uint_eq(control.cancelled, 1);
        control.hold = false;
        wait_for(&b.n, 1);
        ck_assert_uint_eq(b.ok, 1);
        ck_assert_uint_eq(control.computed, 2);
        ck_assert_uint_eq(a.n, 0);
        engine_counters(e, &c);
        ck_assert_uint_eq(c.cancelled, 1 + 2 + 5); /* 10; 11 and 12; 20 to 22, 30 and 32 */
        stop();
}
END_TEST

START_TEST(test_a_cycle_is_refused_with_both_names)
{
        struct answers a = ANSWERS;

        start(NULL);
        parent(10, 11, 1);
        parent(11, 12, 2); /* 12, which is a leaf, and 13 */
        parent(13, 10, 1);
        ask(10, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EDEADLK);
        ck_assert_str_eq(a.reason, "'node 13' asks for 'node 10', which waits for it already: both would wait for ever");
        parent(14, 14, 1);
        ask(14, PRIORITY_PERSON, &a);
        wait_for(&a.n, 2);
        ck_assert_int_eq(a.last, -EDEADLK);
        ck_assert_str_eq(a.reason, "'node 14' asks for itself: it would wait for ever");
        parent(13, 20, 1); /* once it is none, it ends */
        ask(10, PRIORITY_PERSON, &a);
        wait_for(&a.n, 3);
        ck_assert_int_eq(a.last, 0);
        stop();
}
END_TEST

START_TEST(test_a_failed_child_fails_its_parents)
{
        struct answers a = ANSWERS;

        start(NULL);
        parent(10, 11, 2);
        parent(11, 20, 3);
        parent(12, 30, 3);
        control.fail = true;
        ask(10, PRIORITY_PERSON, &a);
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EIO);
        ck_assert_ptr_nonnull(strstr(a.reason, "is broken"));
        wait_idle();
        control.fail = false;
        ask(10, PRIORITY_PERSON, &a);
        wait_for(&a.n, 2);
        ck_assert_int_eq(a.last, 0);
        stop();
}
END_TEST

START_TEST(test_needs_are_asked_for_at_once)
{
        struct answers a = ANSWERS;
        struct query *q;
        struct ticket *t = NULL;

        start(NULL);
        q = node_new(1);
        q->type = &disk_type;
        ((struct node_query *)q)->needs[0] = 2;
        ((struct node_query *)q)->needs[1] = 3;
        ((struct node_query *)q)->n_needs = 2;
        control.hold = true;
        assert_ok(engine_ask(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a, &t));
        for (unsigned i = 0; i < 40000; i++) { /* one may run and the other be queued, where there is one core */
                struct engine_counters c;

                engine_counters(e, &c);
                if (c.queued + c.running == 2)
                        break;
                ck_assert_uint_lt(i, 39999);
                usleep(1000);
        }
        control.hold = false;
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, 0);
        ck_assert_uint_eq(order(1), 3);
        query_unref(q);
        stop();
}
END_TEST

struct asking {
        struct query *query;
        struct answers answers;
        struct ticket *ticket;
};

static void *ask_in_thread(void *user)
{
        struct asking *a = user;

        assert_ok(engine_ask(e, a->query, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, count_answer, &a->answers, &a->ticket));
        return NULL;
}

START_TEST(test_a_job_that_has_ended_asks_for_nothing)
{
        struct node_query *q = (struct node_query *)node_new(1);
        struct asking a = {.query = &q->query, .answers = ANSWERS};
        struct engine_counters c = {0};
        pthread_t thread;

        start(&(struct engine_options){.grace_ns = 1});
        q->needs[0] = 2;
        q->n_needs = 1;
        control.hold_needs = true;
        pthread_create(&thread, NULL, ask_in_thread, &a);
        wait_for(&control.needing, 1);
        ck_assert(engine_leave(e, &a.ticket));
        while (c.cancelled == 0) {
                engine_counters(e, &c);
                usleep(1000);
        }
        control.hold_needs = false;
        pthread_join(thread, NULL);
        wait_idle();
        ck_assert_uint_eq(control.computed, 0);
        query_unref(&q->query);
        stop();
}
END_TEST

/* Another process has the value while this one's parent waits: its next step is not needed. */
START_TEST(test_a_parent_is_found_between_two_steps)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        parent(10, 20, 3);
        control.hold = true;
        ask(10, PRIORITY_PERSON, &a);
        wait_for(&control.computed, 1);
        pthread_mutex_lock(&control.lock);
        control.nodes[10].known = true;
        pthread_mutex_unlock(&control.lock);
        control.hold = false;
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, 0);
        ck_assert_uint_eq(control.stepped, 1);
        stop();
}
END_TEST

START_TEST(test_closing_ends_parents)
{
        struct answers a = ANSWERS;

        start(&(struct engine_options){.cores = 1});
        parent(10, 11, 2);
        parent(11, 20, 100);
        parent(12, 30, 100);
        control.hold = true;
        for (unsigned i = 0; i < 5; i++)
                ask(10, PRIORITY_PERSON, &a);
        wait_for(&control.computed, 1);
        stop();
        ck_assert_uint_eq(a.n, 5);
        ck_assert_int_eq(a.last, -ECANCELED);
}
END_TEST

static void see_job(void *, const struct job_view *j)
{
        ck_assert(j->total == 0 || j->done <= j->total);
}

static void *storm(void *user)
{
        unsigned random = (unsigned)(uintptr_t)user;

        for (unsigned i = 0; i < 40; i++) {
                struct sweep s = {.first = 100 + (random >> 16) % 40, .cancel_fd = eventfd(0, EFD_CLOEXEC)};
                int r;

                random = random * 1103515245 + 12345;
                if (random >> 20 & 1)
                        s.cancel_at = 1 + (random >> 16) % 7;
                if (random >> 21 & 1)
                        s.enough = 1 + (random >> 12) % 5;
                r = ask_many(e,
                             &(struct batch){.n = 20,
                                              .open = 1 + (random >> 8) % 12,
                                              .again = random >> 23 & 1,
                                              .make = sweep_make,
                                              .answered = sweep_answered,
                                              .user = &s},
                             random >> 24 & 1 ? PRIORITY_PERSON : PRIORITY_BATCH, s.cancel_fd);
                ck_assert(r == 0 || r == -ECANCELED);
                if (r == 0 && s.enough == 0)
                        ck_assert_uint_eq(s.n, 20);
                ck_assert_int_eq(s.last, 0);
                close(s.cancel_fd);
                assert_ok(engine_each_job(e, see_job, NULL));
        }
        return NULL;
}

START_TEST(test_storm)
{
        pthread_t threads[6];

        start(&(struct engine_options){.grace_ns = 1});
        for (unsigned i = 0; i < 60; i++) /* 60 parents, of leaves and of other parents */
                if (i % 3 == 0)
                        parent(100 + i, 100 + i + 1, 2);
                else
                        parent(100 + i, 1000 + i * 5, 20);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, storm, (void *)(uintptr_t)(i * 7919 + 1));
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        wait_idle(); /* what was taken back ends */
        stop();
}
END_TEST

SUITE_TIMEOUT("ask", 600, test_answers_come_once_each, test_enough_takes_the_others_back,
              test_without_answered_the_first_failure_ends_it, test_a_thread_is_interrupted, test_more_than_the_queue_takes,
              test_an_estimate_is_a_range_or_none, test_ten_thousand_nested_on_one_slot, test_parents_share_their_children,
              test_a_person_joining_a_parent_overtakes, test_what_is_asked_later_has_the_priority_of_now,
              test_cancelling_a_parent_ends_its_children, test_a_cycle_is_refused_with_both_names,
              test_a_failed_child_fails_its_parents, test_needs_are_asked_for_at_once, test_a_job_that_has_ended_asks_for_nothing,
              test_a_parent_is_found_between_two_steps, test_closing_ends_parents, test_storm)
