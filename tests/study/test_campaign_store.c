/* What campaigns keep: findings, numbered once and found once; and the journal, which a crash may cut anywhere. */
#include "core/study/base/version.h"
#include "core/study/campaign/campaign_journal.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/observation.h"

#include <fcntl.h>

#include "cache/base/record.h"
#include "tests/support/test.h"

DEFINE_CLEANUP(struct workspace *, workspace_close)
#define cleanup_workspace cleanup(workspace_closep)

static struct workspace *make_store(void)
{
        struct workspace *w = NULL;

        if (access("store", F_OK) < 0)
                assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        return w;
}

static int add_of(struct workspace *w, const char *target, enum observation_kind kind, const char *input, uint32_t *ret_number)
{
        cleanup_observation struct observation *f = observation_new();
        int r;

        ck_assert_ptr_nonnull(f);
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string(input), &f->case_id));
        f->kind = kind;
        f->solver = 3;
        f->timeout = 20;
        f->threshold = 7;
        set_string(&f->reference, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        set_string(&f->target, target);
        observation_add_runs(f, f->reference, VERDICT_SAT, (const double[]){0.5, 0.25, 0.75}, 3);
        observation_add_runs(f, f->target, VERDICT_TIMEOUT, (const double[]){20}, 1);
        r = observation_add(w, f);
        assert_ok(r);
        *ret_number = f->number;
        return r;
}

static int add(struct workspace *w, enum observation_kind kind, const char *input, uint32_t *ret_number)
{
        return add_of(w, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb:-x", kind, input, ret_number);
}

static uint32_t last_of(struct workspace *w, enum observation_series series, uint32_t solver)
{
        uint32_t n;

        assert_ok(observations_last(w, series, solver, &n));
        return n;
}

START_TEST(test_findings_are_kept)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observation struct observation *f = NULL;
        uint32_t number;

        ck_assert_int_eq(add(w, FINDING_SLOWDOWN, "(assert true)", &number), 0);
        ck_assert_uint_eq(number, 1);
        workspace_close(w);
        w = make_store();
        assert_ok(observation_get(w, OF_CAMPAIGNS, 3, 1, &f));
        ck_assert_str_eq(f->reference, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        ck_assert_uint_eq(f->n_runs, 2);
        ck_assert_double_eq(observation_amount(f, f->reference), 0.5);
        ck_assert_double_eq(observation_amount(f, f->target), 20);
        ck_assert_int_eq(f->runs[1].verdict, VERDICT_TIMEOUT);
        ck_assert_uint_eq(f->runs[1].case_id, f->case_id);
        ck_assert_double_eq(f->threshold, 7);
        ck_assert(version_is_commit(f->reference));
        ck_assert(!version_is_commit(f->target)); /* it has arguments */
        assert_error(observation_get(w, OF_CAMPAIGNS, 3, 2, &f), ENOENT);
        assert_error(observation_get(w, OF_CAMPAIGNS, 4, 1, &f), ENOENT);
}
END_TEST

START_TEST(test_an_implication_keeps_what_was_decided)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observation struct observation *f = observation_new(), *kept = NULL;

        assert_ok(cases_add_unlisted(workspace_cases(w), "decided.smt2", slice_string("(assert false)"), &f->decided_id));
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string("(assert true)"), &f->case_id));
        f->kind = FINDING_IMPLICATION;
        f->solver = 3;
        free(f->reason);
        f->reason = strdup("incomplete quantifiers");
        f->is_cpu_time = true;
        assert_ok(observation_add(w, f));
        assert_ok(observation_get(w, OF_CAMPAIGNS, 3, f->number, &kept));
        ck_assert_uint_eq(kept->decided_id, f->decided_id);
        ck_assert_str_eq(kept->reason, "incomplete quantifiers");
        ck_assert(kept->is_cpu_time);
}
END_TEST

START_TEST(test_a_finding_keeps_its_seed)
{
        cleanup_workspace struct workspace *w = make_store();

        for (uint64_t seed = 0; seed < 2; seed++) { /* a record without one ends where those of before did */
                cleanup_observation struct observation *f = observation_new(), *kept = NULL;

                assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string(seed ? "(assert true)" : "(assert false)"), &f->case_id));
                f->kind = FINDING_SOUNDNESS;
                f->solver = 3;
                f->seed = seed;
                assert_ok(observation_add(w, f));
                assert_ok(observation_get(w, OF_CAMPAIGNS, 3, f->number, &kept));
                ck_assert_uint_eq(kept->seed, seed);
        }
}
END_TEST

START_TEST(test_a_damaged_finding_is_an_error)
{
        const uint8_t key[9] = {'f', 0, 0, 0, 3, 0, 0, 0, 1};
        static const struct slice records[] = {{"", 0}, {"{", 1}, {"\5", 1}, {"\6", 1}, {"\6\5", 2}};
        cleanup_workspace struct workspace *w = make_store();
        struct observation *f = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
                assert_ok(store_set(workspace_store(w), TABLE_FINDINGS, SLICE(key, sizeof(key)), records[i]));
                assert_error(observation_get(w, OF_CAMPAIGNS, 3, 1, &f), EIO);
                ck_assert_ptr_nonnull(strstr(error_message(-EIO), "finding 1"));
        }
}
END_TEST

START_TEST(test_the_same_bytes_are_found_once)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observations struct observations all = {0}, spr = {0};
        uint32_t first, again, other, third;

        ck_assert_int_eq(add(w, FINDING_SLOWDOWN, "(assert true)", &first), 0);
        ck_assert_int_eq(add(w, FINDING_SLOWDOWN, "(assert true)", &again), 1);
        ck_assert_uint_eq(first, again);
        ck_assert_int_eq(add(w, FINDING_CRASH, "(assert true)", &other), 0);
        ck_assert_int_eq(add(w, FINDING_SLOWDOWN, "(assert false)", &third), 0);
        ck_assert_uint_eq(other, 2);
        ck_assert_uint_eq(third, 3);
        ck_assert_uint_eq(last_of(w, OF_CAMPAIGNS, 3), 3);
        ck_assert_uint_eq(last_of(w, OF_CAMPAIGNS, 4), 0);
        assert_ok(observations_read(w, 3, NULL, &all));
        assert_ok(observations_read(w, 3, "spr", &spr));
        ck_assert_uint_eq(all.n, 3);
        ck_assert_uint_eq(spr.n, 2);
}
END_TEST

/* Campaigns begin with the same inputs, so an input that was a wrong answer of one release may be one of the next. */
START_TEST(test_other_versions_have_a_finding_of_their_own)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observation struct observation *found = NULL;
        char reference[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", target[] = "c";
        const struct observation like = {.solver = 3, .kind = FINDING_SOUNDNESS, .reference = reference, .target = target};
        uint32_t first, other, again;

        ck_assert_int_eq(add_of(w, "b", FINDING_SOUNDNESS, "(assert true)", &first), 0);
        assert_error(observation_find(w, &like, slice_string("(assert true)"), &found), ENOENT);
        ck_assert_int_eq(add_of(w, "c", FINDING_SOUNDNESS, "(assert true)", &other), 0);
        ck_assert_uint_ne(other, first);
        ck_assert_int_eq(add_of(w, "c", FINDING_SOUNDNESS, "(assert true)", &again), 1);
        ck_assert_uint_eq(again, other);
        ck_assert_int_eq(add_of(w, "b", FINDING_SOUNDNESS, "(assert true)", &again), 1);
        ck_assert_uint_eq(again, first);
        assert_ok(observation_find(w, &like, slice_string("(assert true)"), &found));
        ck_assert_uint_eq(found->number, other);
}
END_TEST

/* The amounts of a finding by memory are bytes, and the same input may be a finding by time. */
START_TEST(test_a_finding_by_another_measure)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observation struct observation *f = observation_new(), *kept = NULL, *found = NULL;
        uint32_t by_time;
        unsigned pairs;

        ck_assert_int_eq(add(w, FINDING_SLOWDOWN, "(assert true)", &by_time), 0);
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string("(assert true)"), &f->case_id));
        f->kind = FINDING_SLOWDOWN;
        f->solver = 3;
        f->measure = JUDGE_MEMORY;
        f->threshold = 2;
        set_string(&f->reference, "a");
        set_string(&f->target, "b");
        observation_add_runs(f, "a", VERDICT_SAT, (const double[]){1e6, 20e6, 100e6}, 3);
        observation_add_runs(f, "b", VERDICT_SAT, (const double[]){30e6, 50e6, 250e6}, 3);
        ck_assert_int_eq(observation_add(w, f), 0);
        ck_assert_uint_ne(f->number, by_time);
        assert_ok(observation_get(w, OF_CAMPAIGNS, 3, f->number, &kept));
        ck_assert_int_eq(kept->measure, JUDGE_MEMORY);
        ck_assert(!kept->is_cpu_time);
        ck_assert_uint_eq(observation_pairs_shown(kept, &pairs), 2); /* a process of a megabyte is as good as one of sixteen */
        ck_assert_uint_eq(pairs, 3);
        assert_ok(observation_find(w, f, slice_string("(assert true)"), &found));
        ck_assert_uint_eq(found->number, f->number);
        f->measure = JUDGE_EFFORT;
        assert_error(observation_find(w, f, slice_string("(assert true)"), &found), ENOENT);
}
END_TEST

START_TEST(test_marks)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup_observation struct observation *f = NULL;
        enum observation_mark mark;
        uint32_t number;

        add(w, FINDING_SLOWDOWN, "(assert true)", &number);
        assert_ok(observation_mark_parse("a finding", "confirmed", &mark));
        assert_ok(observation_set_mark(w, OF_CAMPAIGNS, 3, number, mark, "https://example.org"));
        assert_ok(observation_get(w, OF_CAMPAIGNS, 3, number, &f));
        ck_assert_str_eq(observation_mark_name(f->mark), "confirmed");
        ck_assert_str_eq(f->url, "https://example.org");
        assert_error(observation_set_mark(w, OF_CAMPAIGNS, 3, 9, mark, NULL), ENOENT);
        assert_error(observation_mark_parse("a finding", "", &mark), EINVAL);
        assert_error(observation_mark_parse("a finding", "lost", &mark), EINVAL);
}
END_TEST

START_TEST(test_an_unlisted_case_is_no_listed_one)
{
        cleanup_workspace struct workspace *w = make_store();
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cases *c = workspace_cases(w);
        cleanup_free uint32_t *ids = NULL;
        uint32_t id, again;
        bool is_new;
        size_t n;
        int fd;

        assert_ok(cases_add_unlisted(c, "a.smt2", slice_string("(check-sat)"), &id));
        assert_ok(cases_add_unlisted(c, "b.smt2", slice_string("(check-sat)"), &again));
        ck_assert_uint_eq(id, again);
        assert_ok(cases_list(c, &ids, &n));
        ck_assert_uint_eq(n, 0);
        assert_error(cases_find(c, "a.smt2", &info), ENOENT);
        assert_ok(cases_get(c, id, &info));
        ck_assert(info->removed);
        /* Its name is free, and adding its bytes shows it. */
        fd = open("x", O_RDWR | O_CREAT, 0600);
        assert_ok(write_all(fd, "(check-sat)", 11));
        lseek(fd, 0, SEEK_SET);
        assert_ok(cases_add(c, "c.smt2", fd, &again, &is_new));
        close(fd);
        ck_assert_uint_eq(id, again);
        free(ids);
        ids = NULL;
        assert_ok(cases_list(c, &ids, &n));
        ck_assert_uint_eq(n, 1);
}
END_TEST

/* -- the journal -- */

struct seen {
        struct campaign_record list[64];
        size_t n;
};

static int see(void *user, const struct campaign_record *r)
{
        struct seen *s = user;

        ck_assert_uint_lt(s->n, ARRAY_SIZE(s->list));
        s->list[s->n++] = *r;
        return 0;
}

static int open_journal(const char *path, campaign_replay_fn replay, void *user, struct campaign_journal **ret)
{
        int r = campaign_journal_open(path, ret);

        if (r == 0 && (r = campaign_journal_replay(*ret, replay, user)) < 0)
                campaign_journal_close(*ret);
        return r;
}

static const struct campaign_record records[] = {
        {.event = EVENT_SESSION},
        {.event = EVENT_NEXT, .id = 1, .now = 0.5},
        {.event = EVENT_RAN, .id = 1, .now = 1.5, .version = 1, .seconds = 0.125, .amount = 0.125, .verdict = VERDICT_SAT},
        {.event = EVENT_RAN, .id = 1, .now = 21.5, .version = 300, .seconds = 20, .amount = 0, .verdict = VERDICT_TIMEOUT},
        {.event = EVENT_FINISH, .id = 1, .now = 22},
        {.event = EVENT_CONFIRMED, .id = 1, .now = 99, .is_find = true},
        {.event = EVENT_FOUND, .id = 1, .now = 120, .step = 7, .version = 1, .kind = FINDING_CRASH, .is_find = true, .finding = UINT32_MAX},
        {.event = EVENT_AGAIN,
         .id = 2,
         .now = 130,
         .step = 3,
         .version = 2,
         .seconds = 0.5,
         .amount = 1e9,
         .verdict = VERDICT_UNSAT},
};

#define HEAD 28 /* bytes: the format, and the size of the checkpoint */

static void write_journal(void)
{
        struct seen none = {0};
        struct campaign_journal *j = NULL;

        unlink("journal");
        assert_ok(open_journal("journal", see, &none, &j));
        ck_assert_uint_eq(none.n, 0);
        for (size_t i = 0; i < ARRAY_SIZE(records); i++)
                assert_ok(campaign_journal_add(j, &records[i]));
        campaign_journal_close(j);
}

static void assert_record(const struct campaign_record *a, const struct campaign_record *b)
{
        ck_assert_int_eq(a->event, b->event);
        ck_assert_uint_eq(a->id, b->id);
        ck_assert_double_eq(a->now, b->now);
        ck_assert_uint_eq(a->version, b->version);
        ck_assert_double_eq(a->seconds, b->seconds);
        ck_assert_double_eq(a->amount, b->amount);
        ck_assert_int_eq(a->verdict, b->verdict);
        ck_assert_int_eq(a->is_find, b->is_find);
        ck_assert_uint_eq(a->finding, b->finding);
        ck_assert_uint_eq(a->step, b->step);
}

START_TEST(test_the_journal_is_told_again)
{
        struct seen seen = {0};

        write_journal();
        assert_ok(campaign_journal_read("journal", see, &seen));
        ck_assert_uint_eq(seen.n, ARRAY_SIZE(records));
        for (size_t i = 0; i < seen.n; i++)
                assert_record(&seen.list[i], &records[i]);
}
END_TEST

/* Cut at each byte: what was whole is there, in order, and what is added then stands behind it. */
START_TEST(test_the_journal_cut_anywhere)
{
        cleanup_blob struct blob whole = {0};
        size_t last = 0;

        write_journal();
        assert_ok(read_file("journal", SIZE_MAX, &whole));
        for (size_t cut = 0; cut <= whole.size; cut++) {
                struct seen seen = {0}, again = {0};
                struct campaign_journal *j = NULL;

                assert_ok(write_file_atomic("cut", whole.data, cut, 0600));
                assert_ok(open_journal("cut", see, &seen, &j));
                ck_assert_uint_ge(seen.n, last);
                last = seen.n;
                assert_ok(campaign_journal_add(j, &records[2]));
                campaign_journal_close(j);
                assert_ok(campaign_journal_read("cut", see, &again));
                ck_assert_uint_eq(again.n, seen.n + 1);
                for (size_t i = 0; i < seen.n; i++)
                        assert_record(&again.list[i], &records[i]);
                assert_record(&again.list[seen.n], &records[2]);
        }
        ck_assert_uint_eq(last, ARRAY_SIZE(records));
}
END_TEST

START_TEST(test_the_journal_damaged)
{
        cleanup_blob struct blob whole = {0};

        write_journal();
        assert_ok(read_file("journal", SIZE_MAX, &whole));
        for (size_t at = HEAD; at < whole.size; at++) {
                cleanup_free char *bytes = malloc(whole.size);
                struct seen seen = {0};

                memcpy(bytes, whole.data, whole.size);
                bytes[at] ^= 0x20;
                assert_ok(write_file_atomic("bad", bytes, whole.size, 0600));
                assert_ok(campaign_journal_read("bad", see, &seen));
                ck_assert_uint_lt(seen.n, ARRAY_SIZE(records));
                for (size_t i = 0; i < seen.n; i++)
                        assert_record(&seen.list[i], &records[i]);
        }
        assert_ok(write_file_atomic("other", "not a journal at all, but long enough", 37, 0600));
        assert_error(campaign_journal_read("other", see, &(struct seen){0}), EKEYREJECTED);
}
END_TEST

/* -- checkpoints -- */

static const struct campaign_record known[] = {{.event = EVENT_COUNTED, .id = 9, .finding = 3},
                                               {.event = EVENT_COUNTED, .id = 12, .finding = 4}};

/* Input 1 is finished; 2 is under way, with a run. */
static struct campaign_journal *journal_under_way(void)
{
        struct campaign_journal *j = NULL;

        unlink("journal");
        assert_ok(open_journal("journal", NULL, NULL, &j));
        assert_ok(campaign_journal_add(j, &(struct campaign_record){.event = EVENT_NEXT, .id = 2}));
        for (size_t i = 0; i < ARRAY_SIZE(records); i++)
                assert_ok(campaign_journal_add(j, &records[i]));
        return j;
}

/* The state, what was known, and the records of input 2. */
static void assert_checkpoint(const struct seen *seen, const char *state)
{
        ck_assert_uint_ge(seen->n, 5);
        ck_assert_int_eq(seen->list[0].event, EVENT_CHECKPOINT);
        ck_assert_double_eq(seen->list[0].now, 140);
        ck_assert_uint_eq(seen->list[0].state.size, strlen(state));
        assert_record(&seen->list[1], &known[0]);
        assert_record(&seen->list[2], &known[1]);
        ck_assert_int_eq(seen->list[3].event, EVENT_NEXT);
        assert_record(&seen->list[4], &records[7]);
        for (size_t i = 1; i < 5; i++)
                ck_assert(seen->list[i].is_known);
        for (size_t i = 5; i < seen->n; i++)
                ck_assert(!seen->list[i].is_known);
}

START_TEST(test_a_checkpoint_stands_for_what_was_before)
{
        struct campaign_journal *j = journal_under_way();
        uint64_t size = campaign_journal_size(j);

        assert_ok(campaign_journal_checkpoint(j, 140, slice_string("all of it"), known, ARRAY_SIZE(known)));
        ck_assert_uint_lt(campaign_journal_size(j), size);
        assert_ok(campaign_journal_add(j, &records[5]));
        for (unsigned i = 0; i < 3; i++) { /* opened anew, with checkpoints between */
                struct seen seen = {0}, again = {0};

                assert_ok(campaign_journal_read("journal", see, &seen));
                ck_assert_uint_eq(seen.n, 6);
                assert_checkpoint(&seen, "all of it");
                assert_record(&seen.list[5], &records[5]);
                campaign_journal_close(j);
                assert_ok(open_journal("journal", see, &again, &j));
                ck_assert_uint_eq(again.n, 6);
                assert_ok(campaign_journal_checkpoint(j, 140, slice_string("all of it"), known, ARRAY_SIZE(known)));
                assert_ok(campaign_journal_add(j, &records[5]));
        }
        assert_ok(campaign_journal_add(j, &(struct campaign_record){.event = EVENT_FINISH, .id = 2}));
        assert_ok(campaign_journal_checkpoint(j, 150, slice_string("more"), NULL, 0));
        campaign_journal_close(j);
        {
                struct seen seen = {0};

                assert_ok(campaign_journal_read("journal", see, &seen));
                ck_assert_uint_eq(seen.n, 1);
                ck_assert_double_eq(seen.list[0].now, 150);
        }
}
END_TEST

/* The journal behind a checkpoint, cut at each byte: nothing is told twice, and nothing is lost. The checkpoint itself is there as a whole, or not at all. */
START_TEST(test_a_checkpoint_cut_anywhere)
{
        struct campaign_journal *j = journal_under_way();
        cleanup_blob struct blob checkpoint = {0}, after = {0};

        assert_ok(campaign_journal_checkpoint(j, 140, slice_string("all of it"), known, ARRAY_SIZE(known)));
        assert_ok(read_file("journal", SIZE_MAX, &checkpoint));
        assert_ok(campaign_journal_add(j, &records[5]));
        campaign_journal_close(j);
        assert_ok(read_file("journal", SIZE_MAX, &after));
        for (size_t cut = checkpoint.size; cut <= after.size; cut++) {
                struct seen seen = {0}, again = {0};

                assert_ok(write_file_atomic("journal", after.data, cut, 0600));
                assert_ok(open_journal("journal", see, &seen, &j));
                ck_assert_uint_eq(seen.n, cut == after.size ? 6 : 5);
                assert_checkpoint(&seen, "all of it");
                assert_ok(campaign_journal_add(j, &records[6]));
                campaign_journal_close(j);
                assert_ok(campaign_journal_read("journal", see, &again));
                ck_assert_uint_eq(again.n, seen.n + 1);
                assert_record(&again.list[seen.n], &records[6]);
        }
}
END_TEST

START_TEST(test_a_damaged_checkpoint)
{
        struct campaign_journal *j = journal_under_way();
        cleanup_blob struct blob whole = {0};

        assert_ok(campaign_journal_checkpoint(j, 140, slice_string("all of it"), known, ARRAY_SIZE(known)));
        campaign_journal_close(j);
        assert_ok(read_file("journal", SIZE_MAX, &whole));
        for (size_t at = 0; at < whole.size; at++) {
                cleanup_free char *bytes = allocate(whole.size, 1);
                struct seen seen = {0};

                memcpy(bytes, whole.data, whole.size);
                bytes[at] ^= 0x20;
                assert_ok(write_file_atomic("bad", bytes, whole.size, 0600));
                ck_assert_int_lt(campaign_journal_read("bad", see, &seen), 0);
                assert_ok(write_file_atomic("bad", whole.data, at, 0600));
                ck_assert_msg((campaign_journal_read("bad", see, &seen) < 0) == (at >= HEAD), "cut at %zu", at);
                ck_assert_uint_eq(seen.n, 0);
        }
}
END_TEST

/* What a checkpoint that failed has left is in nobody's way. */
START_TEST(test_a_checkpoint_that_fails)
{
        struct campaign_journal *j = journal_under_way();
        struct seen seen = {0};

        assert_ok(mkdir("journal.new", 0700));
        ck_assert_int_lt(campaign_journal_checkpoint(j, 140, slice_string("all of it"), known, ARRAY_SIZE(known)), 0);
        assert_ok(rmdir("journal.new"));
        assert_ok(campaign_journal_add(j, &records[5]));
        campaign_journal_close(j);
        assert_ok(campaign_journal_read("journal", see, &seen));
        ck_assert_uint_eq(seen.n, ARRAY_SIZE(records) + 2);
        assert_record(&seen.list[seen.n - 1], &records[5]);
}
END_TEST

/* A journal of an earlier solverfs stays as it is. */
START_TEST(test_a_journal_of_another_format)
{
        cleanup_blob struct blob bytes = {0};
        struct campaign_journal *j = NULL;

        assert_ok(write_file_atomic("old", "solverfs campaign 1\n", 20, 0600));
        assert_error(open_journal("old", see, &(struct seen){0}, &j), EKEYREJECTED);
        assert_ok(read_file("old", SIZE_MAX, &bytes));
        ck_assert_mem_eq(bytes.data, "solverfs campaign 1\n", 20);
}
END_TEST

START_TEST(test_one_writer)
{
        struct campaign_journal *one = NULL, *other = NULL;
        struct seen seen = {0};

        assert_ok(open_journal("journal", see, &seen, &one));
        assert_error(open_journal("journal", see, &seen, &other), EBUSY);
        assert_ok(campaign_journal_checkpoint(one, 1, slice_string("state"), NULL, 0)); /* of the file that takes its place, too */
        assert_error(open_journal("journal", see, &seen, &other), EBUSY);
        campaign_journal_close(one);
        assert_ok(open_journal("journal", see, &seen, &other));
        campaign_journal_close(other);
}
END_TEST

SUITE("campaign_store", test_findings_are_kept, test_an_implication_keeps_what_was_decided,
      test_a_finding_keeps_its_seed, test_a_damaged_finding_is_an_error,
      test_the_same_bytes_are_found_once, test_other_versions_have_a_finding_of_their_own,
      test_a_finding_by_another_measure, test_marks, test_an_unlisted_case_is_no_listed_one, test_the_journal_is_told_again,
      test_the_journal_cut_anywhere, test_the_journal_damaged, test_a_checkpoint_stands_for_what_was_before, test_a_checkpoint_cut_anywhere,
      test_a_damaged_checkpoint, test_a_checkpoint_that_fails, test_a_journal_of_another_format, test_one_writer)
