#include "tests/study/halves.h"
#include "tests/support/test.h"

#include <math.h>

#include "core/study/judge/judge.h"
#include "tests/study/synthetic.h"

/* -- a history by hand -------------------------------------------------------------------------------------------- */

#define MOST 400

/* What each commit does to the only case; tests fill it in. */
static struct {
        struct localize_commit commits[MOST];
        size_t parents[MOST][2], n;
        struct localize_outcome outcomes[MOST];
        bool unbuildable[MOST];
        unsigned builds, runs, unbuilt_asked[MOST];
} by_hand;

static void one_line(size_t n)
{
        memset(&by_hand, 0, sizeof(by_hand));
        by_hand.n = n;
        for (size_t i = 0; i < n; i++) {
                by_hand.parents[i][0] = i - 1;
                by_hand.commits[i] = (struct localize_commit){.parents = by_hand.parents[i], .n_parents = i > 0};
        }
}

/* From this commit on; along the line. */
static void seconds_from(size_t from, double seconds)
{
        for (size_t i = from; i < by_hand.n; i++)
                by_hand.outcomes[i] = (struct localize_outcome){.answer = LOCALIZE_SOLVED, .value = seconds, .effort = NAN};
}

static struct localize *start(int method, size_t reference, size_t target)
{
        struct localize *l;

        assert_ok(localize_new(&(struct localize_options){.plan = localize_methods[method].plan}, by_hand.commits, by_hand.n, &l));
        assert_ok(localize_add_case(l, reference, target));
        return l;
}

static void search(struct localize *l)
{
        const struct localize_want *wants;
        size_t n;

        for (;;) {
                assert_ok(localize_plan(l, &wants, &n));
                if (n == 0)
                        return;
                for (size_t i = 0; i < n; i++) {
                        by_hand.unbuilt_asked[wants[i].commit]++;
                        if (by_hand.unbuildable[wants[i].commit]) {
                                localize_unbuildable(l, wants[i].commit);
                                continue;
                        }
                        by_hand.runs++;
                        by_hand.outcomes[wants[i].commit].seed = wants[i].seed;
                        localize_feed(l, wants[i].commit, wants[i].test, &by_hand.outcomes[wants[i].commit]);
                }
                ck_assert_uint_lt(by_hand.runs, 5000);
        }
}

static const struct localize_culprit *only_culprit(struct localize *l)
{
        const struct localize_culprit *found;

        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_FOUND);
        ck_assert_uint_eq(localize_culprits(l, 0, &found), 1);
        ck_assert(found->is_slowdown);
        return found;
}

START_TEST(test_every_place_is_found)
{
        for (int method = 0; method < 3; method++) {
                for (size_t culprit = 1; culprit < 64; culprit++) {
                        cleanup_localize struct localize *l = NULL;
                        const struct localize_culprit *found;

                        one_line(64);
                        seconds_from(0, 1);
                        seconds_from(culprit, 10);
                        l = start(method, 0, 63);
                        search(l);
                        found = only_culprit(l);
                        ck_assert_uint_eq(found->n, 1);
                        ck_assert_uint_eq(found->commits[0], culprit);
                        ck_assert_uint_eq(found->before, culprit - 1);
                        ck_assert_double_eq(found->value_before, 1);
                        ck_assert_double_eq(found->value_after, 10);
                        ck_assert(method != 0 || (found->verified && found->pairs >= 5 && found->p < 0.05));
                }
        }
}
END_TEST

START_TEST(test_two_steps_are_two_culprits)
{
        for (int method = 0; method < 2; method++) {
                cleanup_localize struct localize *l = NULL;
                const struct localize_culprit *found;

                one_line(100);
                seconds_from(0, 1);
                seconds_from(20, 5.5);
                seconds_from(71, 10);
                l = start(method, 0, 99);
                search(l);
                ck_assert_int_eq(localize_state(l, 0), LOCALIZE_FOUND);
                ck_assert_uint_eq(localize_culprits(l, 0, &found), 2);
                /* oldest first, the paper's as its stack has them */
                ck_assert_uint_eq(MIN(found[0].commits[0], found[1].commits[0]), 20);
                ck_assert_uint_eq(MAX(found[0].commits[0], found[1].commits[0]), 71);
                ck_assert(method != 0 || found[0].commits[0] == 20);
        }
}
END_TEST

START_TEST(test_no_difference_is_no_culprit)
{
        cleanup_localize struct localize *l = NULL;

        one_line(100);
        seconds_from(0, 1);
        by_hand.outcomes[99].value = 1.05;
        l = start(0, 0, 99);
        search(l);
        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_NO_CULPRIT);
        ck_assert_uint_lt(by_hand.runs, 40);
        for (size_t i = 1; i < 99; i++)
                ck_assert_uint_eq(by_hand.unbuilt_asked[i], 0); /* nothing between was built */
}
END_TEST

START_TEST(test_the_wrong_way_round)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;

        one_line(50);
        seconds_from(0, 10);
        seconds_from(30, 1);
        l = start(0, 0, 49);
        search(l);
        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_REVERSED);
        ck_assert_uint_eq(localize_culprits(l, 0, &found), 1);
        ck_assert(!found->is_slowdown);
        ck_assert_uint_eq(found->commits[0], 30);
}
END_TEST

START_TEST(test_bad_ranges)
{
        cleanup_localize struct localize *l = NULL;

        one_line(10);
        by_hand.commits[5].build = by_hand.commits[6].build = 77; /* only a document between them */
        by_hand.commits[9].build = 77;                            /* two changes and their reverts */
        by_hand.commits[3].n_parents = 0;                         /* two roots */
        assert_ok(localize_new(&(struct localize_options){0}, by_hand.commits, 10, &l));
        assert_error(localize_add_case(l, 4, 4), EINVAL);
        assert_error(localize_add_case(l, 9, 4), EINVAL);
        assert_error(localize_add_case(l, 1, 8), EINVAL);
        assert_error(localize_add_case(l, 5, 6), EINVAL);
        assert_error(localize_add_case(l, 5, 9), EINVAL);
        assert_error(localize_add_case(l, 5, 66), EINVAL);
        by_hand.parents[5][0] = 7;
        localize_free(steal_pointer(l));
        assert_error(localize_new(&(struct localize_options){0}, by_hand.commits, 10, &l), EINVAL);
}
END_TEST

START_TEST(test_an_end_that_cannot_be_built)
{
        for (int method = 0; method < 3; method++) {
                for (int end = 0; end < 2; end++) {
                        cleanup_localize struct localize *l = NULL;

                        one_line(50);
                        seconds_from(0, 1);
                        seconds_from(30, 9);
                        by_hand.unbuildable[end ? 49 : 0] = true;
                        l = start(method, 0, 49);
                        search(l);
                        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_UNBUILDABLE_END);
                        for (size_t i = 1; i < 49; i++)
                                ck_assert_uint_eq(by_hand.unbuilt_asked[i], 0);
                }
        }
}
END_TEST

/* The set is what cannot be told apart, and no more; a long stretch is not built from end to end. */
START_TEST(test_a_stretch_that_cannot_be_built_is_a_set)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;
        unsigned failed = 0;

        one_line(300);
        seconds_from(0, 1);
        seconds_from(140, 9);
        for (size_t i = 110; i < 190; i++)
                by_hand.unbuildable[i] = true;
        l = start(0, 0, 299);
        search(l);
        found = only_culprit(l);
        ck_assert_uint_eq(found->before, 109);
        ck_assert_uint_eq(found->n, 81);
        ck_assert_uint_eq(found->commits[0], 110);
        ck_assert_uint_eq(found->commits[80], 190);
        for (size_t i = 110; i < 190; i++)
                failed += by_hand.unbuilt_asked[i] > 0;
        ck_assert_msg(failed <= 26, "%u of the 80 that cannot be built were tried", failed);
}
END_TEST

START_TEST(test_beside_a_stretch_the_culprit_is_one)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;

        one_line(300);
        seconds_from(0, 1);
        seconds_from(191, 9); /* 190 builds and is fast */
        for (size_t i = 110; i < 190; i++)
                by_hand.unbuildable[i] = true;
        l = start(0, 0, 299);
        search(l);
        found = only_culprit(l);
        ck_assert_uint_eq(found->n, 1);
        ck_assert_uint_eq(found->commits[0], 191);
}
END_TEST

/* A crash is not "fast": where it begins is found, and where it ends in slowness. */
START_TEST(test_broken_is_a_level_of_its_own)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;

        one_line(120);
        seconds_from(0, 1);
        seconds_from(40, 0.1);
        for (size_t i = 40; i < 80; i++)
                by_hand.outcomes[i].answer = LOCALIZE_BROKEN;
        seconds_from(80, 10);
        l = start(0, 0, 119);
        search(l);
        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_FOUND);
        ck_assert_uint_eq(localize_culprits(l, 0, &found), 2);
        ck_assert_uint_eq(found[0].commits[0], 40);
        ck_assert(!found[0].broken_before && found[0].broken_after);
        ck_assert_uint_eq(found[1].commits[0], 80);
        ck_assert(found[1].broken_before && !found[1].broken_after);
}
END_TEST

START_TEST(test_a_timeout_is_slow)
{
        cleanup_localize struct localize *l = NULL;

        one_line(60);
        seconds_from(0, 1);
        seconds_from(33, 20);
        for (size_t i = 33; i < 60; i++)
                by_hand.outcomes[i].answer = LOCALIZE_TIMEOUT;
        l = start(0, 0, 59);
        search(l);
        ck_assert_uint_eq(only_culprit(l)->commits[0], 33);
}
END_TEST

/* Times that say nothing, with a count that does. */
START_TEST(test_effort_comes_first)
{
        cleanup_localize struct localize *l = NULL;
        struct random random;

        random_seed(&random, test_seed(4));
        one_line(200);
        for (size_t i = 0; i < 200; i++)
                by_hand.outcomes[i] = (struct localize_outcome){
                        .answer = LOCALIZE_SOLVED, .value = exp(2 * random_normal(&random)), .effort = i < 123 ? 1000 : 9000};
        by_hand.outcomes[0].value = by_hand.outcomes[122].value = 1;
        by_hand.outcomes[199].value = by_hand.outcomes[123].value = 5;
        l = start(0, 0, 199);
        search(l);
        ck_assert_uint_eq(only_culprit(l)->commits[0], 123);
}
END_TEST

/* A count that changes where times do not: times decide then. */
START_TEST(test_effort_misleads)
{
        for (size_t place = 1; place < 200; place += 22) {
                cleanup_localize struct localize *l = NULL;
                size_t counted = (place + 77) % 199 + 1;

                one_line(200);
                seconds_from(0, 0.3);
                seconds_from(place, 4);
                for (size_t i = 0; i < 200; i++)
                        by_hand.outcomes[i].effort = i < counted ? 1000 : 9000;
                l = start(0, 0, 199);
                search(l);
                ck_assert_uint_eq(only_culprit(l)->commits[0], place);
                ck_assert(only_culprit(l)->verified);
        }
}
END_TEST

/* Commits that change nothing that is built are no culprits, and cost no build. */
START_TEST(test_commits_with_one_build_are_one)
{
        cleanup_localize struct localize *l = NULL;

        one_line(90);
        for (size_t i = 0; i < 90; i++)
                by_hand.commits[i].build = 1 + i / 3;
        seconds_from(0, 1);
        seconds_from(45, 9);
        l = start(0, 0, 89);
        search(l);
        ck_assert_uint_eq(only_culprit(l)->commits[0], 45);
        ck_assert_uint_eq(only_culprit(l)->n, 1);
}
END_TEST

/* A revert brings an old program back: the culprit is named by the commit that did, not by the program's first one. */
START_TEST(test_a_revert_is_a_commit_of_its_own)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;

        one_line(100);
        seconds_from(0, 1);
        seconds_from(10, 9);
        seconds_from(11, 1);
        by_hand.commits[10].build = by_hand.commits[60].build = 42; /* 60 has the program of 10 again, */
        by_hand.commits[9].build = by_hand.commits[11].build = 43;
        for (size_t i = 60; i < 100; i++) { /* and nothing changes behind it */
                by_hand.commits[i].build = 42;
                by_hand.outcomes[i] = by_hand.outcomes[10];
        }
        l = start(0, 0, 99);
        search(l);
        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_FOUND);
        ck_assert_uint_ge(localize_culprits(l, 0, &found), 1);
        found += localize_culprits(l, 0, &found) - 1;
        ck_assert_uint_eq(found->commits[0], 60);
        ck_assert_uint_eq(found->before, 59);
}
END_TEST

/* A change, its revert, and the culprit: the gap between the change and the culprit has the program of the commit before it. Built or not. */
START_TEST(test_a_gap_whose_only_program_is_older)
{
        for (size_t others = 0; others <= 9; others += 9) {
                cleanup_localize struct localize *l = NULL;

                one_line(34);
                seconds_from(0, 1);
                seconds_from(33, 9);
                by_hand.commits[30].build = by_hand.commits[32].build = 42;
                l = start(0, 0, 33);
                localize_feed(l, 31, 0, &by_hand.outcomes[31]);
                for (size_t i = 1; i <= others; i++) { /* they have the program's runs: it is built, and the culprit is hardly in doubt */
                        ck_assert_int_eq(localize_add_case(l, 0, 33), (int)i);
                        localize_feed(l, 32, i, &by_hand.outcomes[32]);
                }
                search(l);
                ck_assert_uint_eq(only_culprit(l)->commits[0], 33);
                ck_assert_uint_eq(only_culprit(l)->before, 32);
        }
}
END_TEST

/* 0 … 39, then a side 40 … 47 from 29, merged by 48, then on to 99. */
static void with_side(void)
{
        one_line(100);
        by_hand.parents[40][0] = 29;
        by_hand.parents[48][0] = 39;
        by_hand.parents[48][1] = 47;
        by_hand.commits[48].n_parents = 2;
        seconds_from(0, 1);
}

START_TEST(test_into_a_merge)
{
        for (int method = 0; method < 3; method++) {
                cleanup_localize struct localize *l = NULL;

                with_side();
                seconds_from(44, 9); /* 44 … 47 on the side, 48 … after the merge; 39 stays fast */
                l = start(method, 0, 99);
                search(l);
                ck_assert_uint_eq(only_culprit(l)->commits[0], 44);
                ck_assert_uint_eq(only_culprit(l)->before, 43);
        }
}
END_TEST

START_TEST(test_the_merge_itself)
{
        for (int method = 0; method < 3; method++) {
                cleanup_localize struct localize *l = NULL;

                with_side();
                seconds_from(48, 9); /* both sides are fast */
                l = start(method, 0, 99);
                search(l);
                ck_assert_uint_eq(only_culprit(l)->commits[0], 48);
                ck_assert_uint_eq(only_culprit(l)->n, 1);
                ck_assert_uint_eq(only_culprit(l)->before, 39);
        }
}
END_TEST

/* The side's base cannot be built: what lies below the first commit that can is blamed with the merge, and nothing above it. */
START_TEST(test_a_side_whose_base_cannot_be_built)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;
        bool holds = false;

        with_side();
        seconds_from(41, 9);
        for (size_t i = 29; i < 40;
             i++) /* the main line is not slow; and 29, where the side begins, does not build, nor does 40 */
                by_hand.outcomes[i].value = 1;
        by_hand.unbuildable[29] = by_hand.unbuildable[40] = true;
        l = start(0, 0, 99);
        search(l);
        found = only_culprit(l);
        for (size_t i = 0; i < found->n; i++) {
                holds |= found->commits[i] == 41;
                ck_assert(found->commits[i] == 40 || found->commits[i] == 41 || found->commits[i] == 48);
        }
        ck_assert(holds);
}
END_TEST

START_TEST(test_a_side_whose_tip_cannot_be_built)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_culprit *found;

        with_side();
        seconds_from(47, 9);
        by_hand.unbuildable[47] = true;
        l = start(0, 0, 99);
        search(l);
        found = only_culprit(l);
        ck_assert_uint_eq(found->n, 2);
        ck_assert_uint_eq(found->commits[0], 47);
        ck_assert_uint_eq(found->commits[1], 48);
}
END_TEST

/* -- asking ------------------------------------------------------------------------------------------------------- */

/* An outcome that depends on commit, case and seed alone: whoever asks in whatever order. */
static struct localize_outcome outcome_under(const struct localize_want *w, unsigned seed)
{
        struct random r;

        random_seed_part(&r, w->commit * 1000 + w->test, seed);
        return (struct localize_outcome){.answer = LOCALIZE_SOLVED,
                                         .value = ((w->commit >= 70 + 9 * w->test) != (random_uniform(&r) < 0.1) ? 10 : 1) *
                                                    exp(0.05 * random_normal(&r)),
                                         .effort = NAN,
                                         .seed = seed};
}

static size_t search_in_order(struct localize *l, bool backwards, struct buffer *asked)
{
        const struct localize_want *wants;
        size_t n, total = 0;

        for (;;) {
                assert_ok(localize_plan(l, &wants, &n));
                if (n == 0)
                        return total;
                total += n;
                for (size_t i = 0; i < n; i++) {
                        const struct localize_want *w = &wants[backwards ? n - 1 - i : i];
                        struct localize_outcome outcome = outcome_under(w, w->seed);

                        buffer_addf(asked, "%zu %zu %u %d\n", wants[i].commit, wants[i].test, wants[i].seed, wants[i].verify);
                        localize_feed(l, w->commit, w->test, &outcome);
                }
        }
}

static struct localize *five_cases(void)
{
        struct localize *l;

        one_line(200);
        assert_ok(localize_new(&(struct localize_options){0}, by_hand.commits, by_hand.n, &l));
        for (size_t i = 0; i < 5; i++)
                ck_assert_int_eq(localize_add_case(l, 0, 199), (int)i);
        return l;
}

START_TEST(test_the_order_of_answers_changes_nothing)
{
        cleanup_localize struct localize *a = five_cases(), *b = five_cases();
        cleanup_buffer struct buffer asked_a = {0}, asked_b = {0};

        search_in_order(a, false, &asked_a);
        search_in_order(b, true, &asked_b);
        ck_assert_str_eq(asked_a.data, asked_b.data);
        for (size_t i = 0; i < 5; i++) {
                const struct localize_culprit *found;

                ck_assert_uint_eq(localize_culprits(a, i, &found), 1);
                ck_assert_uint_eq(found->commits[0], 70 + 9 * i);
        }
}
END_TEST

/* Stopped anywhere, and begun again with what a store remembers: the same questions, the same end. */
START_TEST(test_facts_are_all_there_is_to_remember)
{
        cleanup_localize struct localize *whole = five_cases(), *again = five_cases();
        cleanup_buffer struct buffer asked = {0}, rest = {0};
        size_t total = search_in_order(whole, false, &asked), fed = 0;

        /* all but the last plans' */
        for (const char *line = asked.data; fed < total - 60; fed++, line = strchr(line, '\n') + 1) {
                struct localize_want w = {0};
                struct localize_outcome outcome;

                ck_assert_int_eq(sscanf(line, "%zu %zu %u", &w.commit, &w.test, &w.seed), 3);
                outcome = outcome_under(&w, w.seed);
                localize_feed(again, w.commit, w.test, &outcome);
        }
        ck_assert_uint_lt(search_in_order(again, false, &rest), total);
        for (size_t i = 0; i < 5; i++) {
                const struct localize_culprit *a, *b;

                ck_assert_uint_eq(localize_culprits(whole, i, &a), 1);
                ck_assert_uint_eq(localize_culprits(again, i, &b), 1);
                ck_assert_uint_eq(a->commits[0], b->commits[0]);
        }
}
END_TEST

START_TEST(test_a_plan_waits_for_its_answers)
{
        cleanup_localize struct localize *l = five_cases();
        const struct localize_want *wants;
        struct localize_outcome outcome;
        size_t n;

        assert_ok(localize_plan(l, &wants, &n));
        ck_assert_uint_eq(n, 10);
        outcome = outcome_under(&wants[0], 0);
        localize_feed(l, wants[0].commit, wants[0].test, &outcome);
        assert_error(localize_plan(l, &wants, &n), EBUSY);
        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_OPEN);
}
END_TEST

/* -- noise without an end ----------------------------------------------------------------------------------------- */

struct noisy {
        double before, after; /* how often a run is slow before and from the culprit on */
        uint64_t seed;
        unsigned most_runs;
};
#define NOISY_CULPRIT 120

static struct localize_outcome noisy_outcome(const struct noisy *n, const struct localize_want *w)
{
        struct random r;
        bool is_slow;

        random_seed_part(&r, w->commit * 1000 + n->seed, w->seed);
        is_slow = random_uniform(&r) < (w->commit >= NOISY_CULPRIT ? n->after : n->before);
        return (struct localize_outcome){
                .answer = LOCALIZE_SOLVED, .value = (is_slow ? 10 : 1) * exp(0.05 * random_normal(&r)), .effort = NAN, .seed = w->seed};
}

/* How many runs it took; with `stop_after` it is stopped behind so many. */
static size_t search_noisy(const struct noisy *noisy, size_t stop_after, struct localize **ret)
{
        const struct localize_want *wants;
        size_t n, runs = 0;

        one_line(200);
        assert_ok(localize_new(&(struct localize_options){.most_runs = noisy->most_runs}, by_hand.commits, by_hand.n, ret));
        assert_ok(localize_add_case(*ret, 0, 199));
        for (;;) {
                if (runs >= stop_after)
                        localize_stop(*ret);
                assert_ok(localize_plan(*ret, &wants, &n));
                if (n == 0)
                        return runs;
                ck_assert_uint_lt(runs, stop_after);
                for (size_t i = 0; i < n; i++, runs++) {
                        struct localize_outcome o = noisy_outcome(noisy, &wants[i]);

                        localize_feed(*ret, wants[i].commit, 0, &o);
                }
        }
}

/* What is verified, or a set because the runs ended: whether it holds the culprit. */
struct tally {
        size_t n, wrong;
};

static void count_wrong(const struct localize *l, struct tally *to)
{
        const struct localize_culprit *found;
        size_t n = localize_culprits(l, 0, &found);

        for (size_t i = 0; i < n; i++) {
                if (!found[i].verified && !found[i].is_cut_off)
                        continue;
                to->n++;
                to->wrong += found[i].commits[0] > NOISY_CULPRIT || found[i].commits[found[i].n - 1] < NOISY_CULPRIT;
        }
}

#define ENDS_MOST  (2 * JUDGE_PAIRS) /* runs that show whether the two ends differ */
#define ROUND_MOST 120               /* runs of the last plan: the pairs of a verification */

START_TEST(test_noise_has_an_end)
{
        static const double shares[][2] = {{0.5, 0.5}, {0.4, 0.6}, {0.1, 0.5}, {0.5, 1}, {0.3, 0.7}};
        struct tally tally = {0}, without = {0};

        for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
                for (unsigned seed = 0; seed < 12; seed++) {
                        cleanup_localize struct localize *l = NULL;
                        struct noisy noisy = {.before = shares[i][0], .after = shares[i][1], .seed = test_seed(seed)};
                        const struct localize_culprit *found;
                        size_t runs = search_noisy(&noisy, SIZE_MAX, &l), n = localize_culprits(l, 0, &found);

                        ck_assert_uint_le(runs, 300 * MAX(n, (size_t)1) + ENDS_MOST + ROUND_MOST);
                        ck_assert_int_ne(localize_state(l, 0), LOCALIZE_OPEN);
                        count_wrong(l, i > 0 ? &tally : &without);
                }
        ck_assert_uint_le(without.n, 1);
        ck_assert_uint_ge(tally.n, 6);
        ck_assert_msg(tally.wrong * 10 <= tally.n, "%zu of %zu are wrong", tally.wrong, tally.n);
}
END_TEST

/* Few runs: a set that holds it, in the place of a commit that is a guess; and never more runs than allowed. */
START_TEST(test_used_up_runs_leave_a_set)
{
        struct tally tally = {0};
        size_t sets = 0;

        for (unsigned seed = 0; seed < 30; seed++) {
                cleanup_localize struct localize *l = NULL;
                const struct localize_culprit *found;
                struct noisy noisy = {.before = 0.2, .after = 0.8, .seed = test_seed(seed), .most_runs = 40};

                ck_assert_uint_le(search_noisy(&noisy, SIZE_MAX, &l), 40 + ENDS_MOST + ROUND_MOST);
                count_wrong(l, &tally);
                if (localize_culprits(l, 0, &found) == 0) {
                        ck_assert(localize_state(l, 0) == LOCALIZE_UNDECIDED || localize_state(l, 0) == LOCALIZE_NO_CULPRIT);
                        continue;
                }
                sets += found->is_cut_off && found->n > 1;
                ck_assert(!found->is_cut_off || (!found->verified && localize_is_cut_off(l, 0)));
        }
        ck_assert_uint_ge(sets, 5);
        ck_assert_uint_le(tally.wrong, 1);
}
END_TEST

START_TEST(test_stopped_anywhere_it_tells_what_is_known)
{
        struct tally tally = {0};
        size_t untold = 0;

        for (size_t after = 0; after < 50; after++) {
                cleanup_localize struct localize *l = NULL;
                const struct localize_culprit *found;
                struct noisy noisy = {.before = 0, .after = 1};

                search_noisy(&noisy, after, &l);
                if (localize_culprits(l, 0, &found) == 0) {
                        untold += after > 16; /* runs at the ends */
                        ck_assert_int_eq(localize_state(l, 0), LOCALIZE_UNDECIDED);
                        ck_assert(localize_is_cut_off(l, 0));
                        continue;
                }
                count_wrong(l, &tally);
                ck_assert_int_eq(localize_state(l, 0), LOCALIZE_FOUND);
                ck_assert(localize_is_cut_off(l, 0) || found->verified);
        }
        ck_assert_uint_eq(tally.wrong, 0);
        ck_assert_uint_le(untold, 2);
}
END_TEST

/* Between two neighbours as well, where what is likely is not yet sure. */
START_TEST(test_stopped_before_it_is_sure_it_is_not_finished)
{
        one_line(2);
        seconds_from(0, 1);
        seconds_from(1, 10);
        for (unsigned runs = 0; runs < 12; runs++) {
                cleanup_localize struct localize *l = start(0, 0, 1);
                const struct localize_want *wants;
                size_t n;

                for (unsigned i = 0; i < 2 * runs; i++)
                        localize_feed(l, i % 2, 0, &by_hand.outcomes[i % 2]);
                localize_stop(l);
                assert_ok(localize_plan(l, &wants, &n));
                ck_assert_uint_eq(n, 0);
                ck_assert(localize_is_cut_off(l, 0));
        }
}
END_TEST

START_TEST(test_what_is_finished_is_not_cut_off)
{
        cleanup_localize struct localize *l = NULL;
        const struct localize_want *wants;
        size_t n;

        one_line(64);
        seconds_from(0, 1);
        seconds_from(20, 10);
        l = start(0, 0, 63);
        search(l);
        localize_stop(l);
        assert_ok(localize_plan(l, &wants, &n));
        ck_assert_uint_eq(n, 0);
        ck_assert(!localize_is_cut_off(l, 0) && only_culprit(l)->verified);
}
END_TEST

/* -- histories made up: what bench/localize.c measures, smaller ----------------------------------------------------- */

static struct synthetic_score score_of(struct synthetic_options options, void (*plan)(struct localize *l))
{
        struct synthetic s;
        struct synthetic_score score;

        synthetic_make(&s, &options);
        synthetic_search(&s, &(struct localize_options){.plan = plan}, &score);
        synthetic_done(&s);
        free(score.done);
        return score;
}

START_TEST(test_noise_does_not_mislead)
{
        static const double lies[] = {0, 0.05, 0.2};

        for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
                struct synthetic_score s = score_of((struct synthetic_options){.commits = 400,
                                                                               .cases = 80,
                                                                               .culprits = 12,
                                                                               .lies = lies[i],
                                                                               .spread = 0.05,
                                                                               .noise_only = 20,
                                                                               .merges = true,
                                                                               .unbuildable = true,
                                                                               .shapes = true,
                                                                               .seed = test_seed(11)},
                                                    NULL);
                /* Of some 75: far below what bench/localize.c counts over many histories, so that no seed fails by bad luck. */
                double floor = lies[i] > 0.1 ? 0.92 : 0.94;

                ck_assert_uint_eq(s.open, 0);
                ck_assert_msg(s.right >= floor * s.reported, "%zu of %zu reported are right", s.right, s.reported);
                ck_assert_msg(s.found >= floor * s.true_culprits, "%zu of %zu culprits found", s.found, s.true_culprits);
                ck_assert_msg(s.noise_said >= 0.9 * s.noise_only, "%zu of %zu without a culprit", s.noise_said, s.noise_only);
                ck_assert_uint_le(s.wrong_sets, 2); /* of 80 cases */
        }
}
END_TEST

/* Every run has its own luck: by a factor of e, and the culprits' is three and a half at the least. */
START_TEST(test_chaos_does_not_mislead)
{
        size_t found = 0, reported = 0, right = 0, none = 0;

        for (uint64_t seed = 1; seed <= 30; seed++) {
                struct synthetic_options options = {.commits = 128, .cases = 1, .culprits = 1, .spread = 1, .seed = seed};
                struct synthetic_score s = score_of(options, NULL);

                reported += s.reported;
                right += s.right;
                found += s.found;
                options.noise_only = 1;
                s = score_of(options, NULL);
                none += s.noise_said;
                ck_assert_uint_le(s.searched_builds, 20);
        }
        ck_assert_msg(found >= 29 && reported - right <= 1, "%zu of 30 found, %zu of %zu reported are right", found, right, reported);
        ck_assert_msg(none >= 28, "%zu of 30 without a culprit", none);
}
END_TEST

START_TEST(test_builds_are_shared)
{
        struct synthetic_options options = {.commits = 500, .cases = 80, .culprits = 15, .spread = 0.05, .seed = test_seed(5)};
        struct synthetic_score ours = score_of(options, NULL), paper = score_of(options, plan_paper),
                               bisect = score_of(options, plan_git_bisect);

        ck_assert_uint_eq(ours.exact, 80);
        ck_assert_msg(ours.builds <= 1.15 * paper.builds, "%zu builds, %zu by shared midpoints", ours.builds, paper.builds);
        ck_assert_msg(ours.runs <= 1.2 * bisect.runs + 16 * 80, "%zu runs, %zu by bisection", ours.runs, bisect.runs);
        ck_assert_msg(9 * ours.builds <= bisect.case_builds, "%zu builds, %zu by bisection alone", ours.builds,
                      bisect.case_builds);
        options.anchors = 30;
        ours = score_of(options, NULL);
        paper = score_of(options, plan_paper);
        ck_assert_uint_eq(ours.exact, 80);
        ck_assert_msg(ours.builds <= 0.6 * paper.builds, "%zu builds, %zu by midpoints", ours.builds, paper.builds);
}
END_TEST

SUITE("localize", test_every_place_is_found, test_two_steps_are_two_culprits, test_no_difference_is_no_culprit,
      test_the_wrong_way_round, test_bad_ranges, test_an_end_that_cannot_be_built, test_a_stretch_that_cannot_be_built_is_a_set,
      test_beside_a_stretch_the_culprit_is_one, test_broken_is_a_level_of_its_own, test_a_timeout_is_slow,
      test_effort_comes_first, test_effort_misleads, test_commits_with_one_build_are_one, test_a_revert_is_a_commit_of_its_own,
      test_a_gap_whose_only_program_is_older, test_into_a_merge,
      test_the_merge_itself, test_a_side_whose_base_cannot_be_built, test_a_side_whose_tip_cannot_be_built,
      test_the_order_of_answers_changes_nothing, test_facts_are_all_there_is_to_remember, test_a_plan_waits_for_its_answers,
      test_noise_has_an_end, test_used_up_runs_leave_a_set, test_stopped_anywhere_it_tells_what_is_known, test_stopped_before_it_is_sure_it_is_not_finished,
      test_what_is_finished_is_not_cut_off,
      test_noise_does_not_mislead, test_chaos_does_not_mislead, test_builds_are_shared)
