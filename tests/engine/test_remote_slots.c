/* Slots that are not this machine's, of a place that is made up here. */
#include "tests/engine/answers.h"

#include <poll.h>
#include <pthread.h>

#include "core/engine/ask.h"
#include "core/workspace/workspace.h"

static struct place {
        struct engine_remote remote; /* first */
        _Atomic unsigned n_free, taken, given_back, asked_most;
        _Atomic bool refuse;
} place;

static struct control {
        _Atomic unsigned computed, at_work, most_at_work, cancelled;
        _Atomic int fail_with, fails_left;
        _Atomic bool hold;
} control;

static struct workspace *w;
static struct engine *e;

/* -- the place -- */

static int take(struct engine_remote *a, uint64_t most_ns, size_t waiting, void **ret)
{
        struct place *p = (struct place *)a;

        ck_assert_uint_eq(most_ns, 7);
        p->asked_most = MAX(p->asked_most, (unsigned)waiting);
        if (p->refuse)
                return errorf(-EIO, "no worker can be had: the partition is closed");
        if (p->n_free == 0)
                return -EAGAIN;
        p->n_free--;
        p->taken++;
        *ret = p;
        return 0;
}

static void give_back(struct engine_remote *a, void *slot)
{
        ck_assert_ptr_eq(slot, a);
        place.n_free++;
        place.given_back++;
}

/* -- a query whose work is done there -- */

static int none_find(struct query *, struct value **)
{
        return -ENOENT;
}

static const struct query_type errand_type;

static int work(struct job *j)
{
        struct pollfd fd = {.fd = job_cancel_fd(j), .events = POLLIN};

        ck_assert_ptr_eq(job_remote(j), &place);
        control.computed++;
        while (control.hold)
                if (poll(&fd, 1, 5) > 0) {
                        control.cancelled++;
                        return errorf(-ECANCELED, "cancelled");
                }
        if (control.fails_left > 0) {
                control.fails_left--;
                return errorf(control.fail_with, "the worker was lost");
        }
        return 0;
}

static int errand_compute(struct query *, struct job *j, struct value **ret)
{
        int r;

        control.at_work++;
        control.most_at_work = MAX(control.most_at_work, control.at_work);
        r = work(j);
        control.at_work--;
        if (r < 0)
                return r;
        *ret = calloc(1, sizeof(**ret));
        **ret = (struct value){.type = &errand_type, .refs = 1};
        return 0;
}

static struct engine_remote *errand_remote(const struct query *, uint64_t *ret_most_ns)
{
        *ret_most_ns = 7;
        return &place.remote;
}

static void errand_describe(const struct query *, struct buffer *ret)
{
        buffer_adds(ret, "errand");
}

static const struct query_type errand_type = {.name = "errand",
                                              .resource = RESOURCE_REMOTE,
                                              .find = none_find,
                                              .compute = errand_compute,
                                              .remote = errand_remote,
                                              .describe = errand_describe};

/* -- asking -- */

static int make_errand(void *, size_t number, struct query **ret)
{
        struct query *q = calloc(1, sizeof(*q));

        *q = (struct query){.type = &errand_type, .refs = 1};
        digest_of(&number, sizeof(number), &q->key);
        *ret = q;
        return 0;
}

static struct ticket *ask(unsigned number, struct answers *a)
{
        struct query *q;
        struct ticket *t = NULL;

        assert_ok(make_errand(NULL, number, &q));
        assert_ok(engine_ask(e, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, count_answer, a, &t));
        query_unref(q);
        return t;
}

static void start(unsigned slots)
{
        place.remote = (struct engine_remote){.take = take, .give_back = give_back};
        place.n_free = slots;
        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_engine(w, &(struct engine_options){.grace_ns = 1}, &e));
}

static void end(void)
{
        e = engine_close(e);
        w = workspace_close(w);
        ck_assert_uint_eq(place.taken, place.given_back);
}

/* -- tests -- */

START_TEST(test_no_more_at_once_than_slots)
{
        struct answers a = ANSWERS;

        start(2);
        control.hold = true;
        for (unsigned i = 0; i < 6; i++)
                ask(i, &a);
        wait_for(&control.at_work, 2);
        control.hold = false;
        wait_for(&a.n, 6);
        ck_assert_uint_eq(a.ok, 6);
        ck_assert_uint_eq(control.computed, 6);
        ck_assert_uint_eq(control.most_at_work, 2);
        ck_assert_uint_ge(place.asked_most, 4); /* the place is told how many wait */
        end();
}
END_TEST

/* All slots are at work, or that will not come about any more. */
static int let_go(void *user, const struct ask_progress *)
{
        unsigned *looks = user;

        if (control.at_work == 300 || ++*looks == 50)
                control.hold = false;
        return 0;
}

START_TEST(test_a_batch_keeps_all_slots_busy)
{
        unsigned looks = 0;

        start(300);
        control.hold = true;
        assert_ok(ask_many(e, &(struct batch){.n = 400, .make = make_errand, .progress = let_go, .user = &looks}, PRIORITY_BATCH, -1));
        ck_assert_uint_eq(control.computed, 400);
        ck_assert_uint_eq(control.most_at_work, 300);
        end();
}
END_TEST

START_TEST(test_a_slot_that_comes_later)
{
        struct answers a = ANSWERS;

        start(0);
        ask(1, &a);
        wait_for(&place.asked_most, 1);
        ck_assert_uint_eq(control.computed, 0);
        place.n_free = 1;
        engine_look_again(e);
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        end();
}
END_TEST

START_TEST(test_what_is_lost_is_done_again)
{
        struct answers a = ANSWERS;

        start(1);
        control.fail_with = -EREMOTEIO;
        control.fails_left = ENGINE_LOST_MOST;
        ask(1, &a);
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        ck_assert_uint_eq(control.computed, ENGINE_LOST_MOST + 1);
        control.fails_left = ENGINE_LOST_MOST + 1;
        ask(2, &a);
        wait_for(&a.n, 2);
        ck_assert_int_eq(a.last, -EREMOTEIO);
        ck_assert_str_eq(a.reason, "the worker was lost");
        ck_assert_uint_eq(control.computed, 2 * (ENGINE_LOST_MOST + 1));
        end();
}
END_TEST

/* Two clusters, one of which has a worker that said bytes that no JSON can hold. */
static void look_at_bad(struct engine_remote *a, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        fn(user, &(struct remote_view){.name = "bad", .machine = "", .why = "\xff", .uneven = ""});
}

static void look_at_good(struct engine_remote *a, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        fn(user, &(struct remote_view){.name = "good", .machine = "", .why = "", .uneven = ""});
}

static void each_of_two(void *, void (*fn)(void *look_user, struct engine_remote *a), void *look_user)
{
        fn(look_user, &(struct engine_remote){.look = look_at_bad});
        fn(look_user, &(struct engine_remote){.look = look_at_good});
}

static void note_name(void *user, const struct remote_view *v)
{
        ck_assert_str_eq(v->name, "good");
        *(bool *)user = true;
}

START_TEST(test_words_that_cannot_be_shown_hide_nothing_else)
{
        struct answers a = ANSWERS;
        bool is_shown = false;

        start(1);
        e = engine_close(e);
        assert_ok(engine_open(&(struct engine_home){.dir = "store", .store = workspace_store(w), .each_remote = each_of_two},
                              &(struct engine_options){.grace_ns = 1}, &e));
        control.hold = true;
        ask(1, &a);
        for (unsigned i = 0; i < 10000 && !is_shown; i++) {
                assert_ok(engine_each_remote_of_store("store", note_name, &is_shown));
                poll(NULL, 0, 1);
        }
        ck_assert(is_shown);
        control.hold = false;
        wait_for(&a.n, 1);
        end();
}
END_TEST

START_TEST(test_what_was_not_begun_does_not_count)
{
        struct answers a = ANSWERS;

        start(1);
        control.fail_with = -ERESTART;
        control.fails_left = 5 * ENGINE_LOST_MOST;
        ask(1, &a);
        wait_for(&a.n, 1);
        ck_assert_uint_eq(a.ok, 1);
        ck_assert_uint_eq(control.computed, 5 * ENGINE_LOST_MOST + 1);
        end();
}
END_TEST

START_TEST(test_a_place_that_refuses)
{
        struct answers a = ANSWERS;

        start(1);
        place.refuse = true;
        ask(1, &a);
        wait_for(&a.n, 1);
        ck_assert_int_eq(a.last, -EIO);
        ck_assert_str_eq(a.reason, "no worker can be had: the partition is closed");
        ck_assert_uint_eq(control.computed, 0);
        end();
}
END_TEST

START_TEST(test_the_last_to_leave_frees_the_slot)
{
        struct answers a = ANSWERS;
        struct ticket *t;

        start(1);
        control.hold = true;
        t = ask(1, &a);
        wait_for(&control.at_work, 1);
        ck_assert(engine_leave(e, &t));
        wait_for(&control.cancelled, 1);
        wait_for(&place.given_back, 1);
        ck_assert_uint_eq(a.n, 0);
        end();
}
END_TEST

START_TEST(test_a_grace_of_none)
{
        static const char config[] = "[solverfs]\n\tversion = 1\n\tgrace = 0\n";
        struct answers a = ANSWERS;
        struct ticket *t;
        uint64_t left;

        start(1);
        e = engine_close(e);
        w = workspace_close(w);
        assert_ok(write_file_atomic("store/config", config, strlen(config), 0600));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_engine(w, NULL, &e));
        control.hold = true;
        t = ask(1, &a);
        wait_for(&control.at_work, 1);
        left = now_ns();
        ck_assert(engine_leave(e, &t));
        wait_for(&control.cancelled, 1);
        ck_assert_uint_lt(now_ns() - left, 3 * NSEC_PER_SEC);
        wait_for(&place.given_back, 1);
        end();
}
END_TEST

SUITE("remote_slots", test_no_more_at_once_than_slots, test_a_batch_keeps_all_slots_busy, test_a_slot_that_comes_later, test_what_is_lost_is_done_again,
      test_words_that_cannot_be_shown_hide_nothing_else, test_what_was_not_begun_does_not_count, test_a_place_that_refuses,
      test_the_last_to_leave_frees_the_slot, test_a_grace_of_none)
