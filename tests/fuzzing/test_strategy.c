/* Strategies: what they decide follows from the seed and what they were told; candidates are slow on the target and answered elsewhere; versions that
 * cannot matter are spared. */
#include "tests/support/strategies.h"

#include <malloc.h>
#include <math.h>

#include "tests/support/planted.h"
#include "tests/support/test.h"

static struct strategy_options options_of(enum strategy_kind kind, unsigned seed)
{
        struct strategy_options o = strategy_defaults;

        o.type = strategy_type_of(kind);
        o.timeout = 20;
        o.threshold = 10;
        strategies_window = 60;
        o.seed = test_seed(seed);
        return o;
}

/* Another one in its place, which has its state. */
static void reload(const struct strategy_options *o, struct strategy **s)
{
        cleanup_buffer struct buffer state = {0}, again = {0};
        struct strategy *other = NULL;

        assert_ok(strategy_save(*s, &state));
        assert_ok(strategy_new(o, &other));
        assert_ok(strategy_load(other, SLICE(state.data, state.size)));
        assert_ok(strategy_save(other, &again));
        ck_assert_uint_eq(again.size, state.size);
        ck_assert_mem_eq(again.data, state.data, state.size);
        strategy_free(*s);
        *s = other;
}

static unsigned reload_every; /* inputs; 0: never */

/* A campaign over the planted solver; `log` receives every decision. Returns the causes found. */
static uint64_t play(const struct strategy_options *o, unsigned inputs, struct buffer *log, uint64_t *ret_runs)
{
        cleanup_strategy struct strategy *s = NULL;
        uint64_t found = 0, runs = 0;

        strategies_now = 0;
        assert_ok(strategy_new(o, &s));
        for (unsigned i = 0; i < inputs; i++) {
                cleanup_script struct script *script = NULL;
                struct strategy_input input;
                unsigned version;
                double seconds, score;

                assert_ok(strategy_next(s, &input));
                ck_assert_uint_eq(input.id, i + 1);
                assert_ok(script_read(input.text, &(struct script_options){.dialect = o->dialect, .is_strict = true}, &script));
                buffer_addf(log, "%s %.*s\n", input.source, (int)input.text.size, (const char *)input.text.data);
                while (strategy_step(s, input.id, &version, &seconds)) {
                        double t = planted_seconds(script, version + 1 == o->versions ? PLANTED_CAUSES : 0, o->timeout);
                        const struct outcome outcome = {fmin(t, seconds), t >= seconds ? VERDICT_TIMEOUT : VERDICT_SAT};

                        strategies_now += outcome.seconds;
                        runs++;
                        strategy_ran(s, input.id, version, &outcome);
                        buffer_addf(log, "  %u %g\n", version, seconds);
                        if (reload_every > 0 && input.id % reload_every == 0)
                                reload(o, &s);
                }
                if (strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score)) {
                        uint64_t causes = planted_causes(script);

                        ck_assert(score > o->threshold);
                        strategy_confirmed(s, input.id, causes != 0);
                        found |= causes;
                        buffer_adds(log, "  find\n");
                }
        }
        if (ret_runs)
                *ret_runs = runs;
        return found;
}

START_TEST(test_decisions_repeat)
{
        for (int k = 0; k < N_STRATEGIES; k++) {
                cleanup_buffer struct buffer a = {0}, b = {0}, c = {0};
                struct strategy_options o = options_of((enum strategy_kind)k, 5);

                play(&o, 40, &a, NULL);
                play(&o, 40, &b, NULL);
                ck_assert_str_eq(a.data, b.data);
                o.seed = 6;
                play(&o, 40, &c, NULL);
                if (k != STRATEGY_ENUMERATE)
                        ck_assert_str_ne(a.data, c.data);
        }
}
END_TEST

START_TEST(test_a_loaded_strategy_goes_on_alike)
{
        static const enum dialect dialects[] = {DIALECT_2_6, DIALECT_2_0};

        for (size_t i = 0; i < ARRAY_SIZE(dialects); i++) {
                cleanup_buffer struct buffer whole = {0}, cut = {0};
                struct strategy_options o = options_of(STRATEGY_SOLVERFS, 8);

                o.dialect = dialects[i];
                play(&o, 150, &whole, NULL);
                reload_every = 7;
                play(&o, 150, &cut, NULL);
                reload_every = 0;
                ck_assert_str_eq(whole.data, cut.data);
        }
}
END_TEST

/* No strings; one input in five is slow. */
static void play_others(const struct strategy_options *o, bool is_reloaded, struct buffer *log)
{
        cleanup_strategy struct strategy *s = NULL;

        assert_ok(strategy_new(o, &s));
        for (unsigned i = 0; i < 45; i++) {
                struct strategy_input input;
                double score;

                assert_ok(strategy_next(s, &input));
                buffer_addf(log, "%s %.*s\n", input.source, (int)input.text.size, (const char *)input.text.data);
                strategy_ran(s, input.id, 1, &(struct outcome){input.text.size % 5 ? 0.1 * (double)(input.text.size % 7) : 15, VERDICT_SAT});
                strategy_ran(s, input.id, 0, &(struct outcome){0.1, VERDICT_SAT});
                if (is_reloaded && i % 7 == 0)
                        reload(o, &s);
                if (strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score))
                        strategy_confirmed(s, input.id, true);
        }
}

START_TEST(test_a_loaded_strategy_of_others_goes_on_alike)
{
        static char bv[] = "QF_BV", nra[] = "QF_NRA", uflia[] = "UFLIA", *const logics[] = {bv, nra, uflia};

        for (int is_cnf = 0; is_cnf < 2; is_cnf++) {
                cleanup_buffer struct buffer whole = {0}, cut = {0};
                struct strategy_options o = options_of(STRATEGY_SOLVERFS, 10);

                o.is_cnf = is_cnf;
                o.logics = logics;
                o.n_logics = is_cnf ? 0 : ARRAY_SIZE(logics);
                play_others(&o, false, &whole);
                play_others(&o, true, &cut);
                ck_assert_str_eq(whole.data, cut.data);
        }
}
END_TEST

/* Whoever keeps it knows whether its bytes are the same; here only what is missing is found. */
START_TEST(test_half_a_state)
{
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 3);
        cleanup_strategy struct strategy *s = NULL;
        cleanup_buffer struct buffer state = {0};
        struct strategy_input input;
        struct random random;
        double score;

        random_seed(&random, test_seed(4));
        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 40; i++) {
                assert_ok(strategy_next(s, &input));
                strategy_ran(s, input.id, 1, &(struct outcome){i % 2 ? 20 : 5, i % 2 ? VERDICT_TIMEOUT : VERDICT_SAT});
                strategy_ran(s, input.id, 0, &(struct outcome){0.1, VERDICT_SAT});
                if (i < 38 && strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score))
                        strategy_confirmed(s, input.id, true);
        }
        assert_ok(strategy_again(s, 39, &input));
        assert_error(strategy_again(s, 1, &input), ENOENT);
        assert_ok(strategy_save(s, &state));
        for (unsigned i = 0; i < 200; i++) {
                cleanup_strategy struct strategy *other = NULL;

                assert_ok(strategy_new(&o, &other));
                assert_error(strategy_load(other, SLICE(state.data, random_below(&random, state.size))), EBADMSG);
        }
}
END_TEST

/* Mutants of one formula: what was tried leaves nothing behind. */
START_TEST(test_memory_does_not_grow_with_what_is_tried)
{
        cleanup_script struct script *script = NULL;
        cleanup_strategy struct strategy *s = NULL;
        struct strategy_options o = options_of(STRATEGY_SOLVERFS, 9);
        struct formula corpus = {0};
        size_t before = 0;

        assert_ok(script_read(slice_string("(declare-fun s () String)(assert (= (str.len s) (str.indexof (str.++ s \"ab\") \"b\" 1)))(check-sat)"),
                              NULL, &script));
        corpus.script = script;
        o.corpus = &corpus;
        o.n_corpus = 1;
        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 3000; i++) {
                struct strategy_input input;
                double score;

                assert_ok(strategy_next(s, &input));
                strategy_ran(s, input.id, 1, &(struct outcome){0.001, VERDICT_SAT});
                strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score);
                if (i == 1000)
                        before = mallinfo2().uordblks;
        }
        ck_assert_uint_lt(mallinfo2().uordblks, before + (before + 200000) / 4);
}
END_TEST

/* A quick solver has one candidate for each input, and no slow input: the corpus is the only source. */
START_TEST(test_a_corpus_with_a_formula_that_cannot_be_changed)
{
        static const char *const texts[] = {"(declare-const x Int)(assert (> (+ x 1) 2))(check-sat)", "(check-sat)"};
        struct strategy_options o = options_of(STRATEGY_SOLVERFS, 11);
        struct formula corpus[2] = {0};
        cleanup_strategy struct strategy *s = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                assert_ok(script_read(slice_string(texts[i]), NULL, &corpus[i].script));
        o.corpus = corpus;
        o.n_corpus = ARRAY_SIZE(corpus);
        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 200; i++) {
                struct strategy_input input;
                double score;

                assert_ok(strategy_next(s, &input));
                for (unsigned v = 0; v < o.versions; v++)
                        strategy_ran(s, input.id, v, &(struct outcome){0, VERDICT_SAT});
                strategy_finish(s, input.id, false, &score);
        }
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                script_free(corpus[i].script);
}
END_TEST

/* Four draws: one alone may need twice the mean for a cause, or find half as many. SPRFinder needs 240 simulated seconds a cause here, BanditFuzz 420. */
START_TEST(test_causes_are_found)
{
        double seconds = 0, causes = 0;

        for (unsigned draw = 0; draw < 4; draw++) {
                cleanup_buffer struct buffer log = {0};
                struct strategy_options o = options_of(STRATEGY_SOLVERFS, 6 + 100 * draw);
                uint64_t runs, found = play(&o, 1600, &log, &runs);

                /* Inputs that the target solves at once are run on nothing else. */
                ck_assert_uint_lt(runs, 2 * 1600);
                seconds += strategies_now;
                causes += __builtin_popcountll(found);
        }
        ck_assert_double_gt(causes, 4 * 16);
        /* Cheap inputs come first. */
        ck_assert_double_lt(seconds / causes, 120);
}
END_TEST

/* Inputs are of the logics that were given, and of each. Chains take the place of templates, which know only strings. */
START_TEST(test_logics_are_drawn)
{
        char bv[] = "QF_BV", uflia[] = "UFLIA", wrong[] = "QF_IDL", *logics[] = {bv, uflia}, *none[] = {wrong};
        struct strategy_options o = options_of(STRATEGY_SOLVERFS, 1);
        cleanup_strategy struct strategy *s = NULL;
        unsigned seen[2] = {0}, mutants = 0, chains = 0;
        uint64_t a, b;

        o.logics = none;
        o.n_logics = 1;
        assert_error(strategy_new(&o, &s), EINVAL);
        o.logics = logics;
        o.n_logics = 2;
        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 300; i++) {
                struct strategy_input input;
                unsigned version;
                double seconds, score;

                assert_ok(strategy_next(s, &input));
                chains += strcmp(input.source, "template") == 0;
                ck_assert_str_ne(input.source, "enumerated");
                mutants += strcmp(input.source, "mutated") == 0;
                for (size_t k = 0; k < 2; k++)
                        seen[k] += memmem(input.text.data, input.text.size, logics[k], strlen(logics[k])) != NULL;
                while (strategy_step(s, input.id, &version, &seconds))
                        strategy_ran(s, input.id, version, &(struct outcome){.seconds = 0.1 * (1 + i % 5), .verdict = VERDICT_SAT});
                strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score);
        }
        ck_assert_uint_eq(seen[0] + seen[1], 300);
        ck_assert(seen[0] > 50 && seen[1] > 50 && mutants > 0 && chains > 0);
        assert_ok(strategy_fingerprint(&o, &a));
        assert_ok(strategy_fingerprint(&o, &b));
        ck_assert_uint_eq(a, b);
        o.n_logics = 0;
        assert_ok(strategy_fingerprint(&o, &b));
        ck_assert_uint_ne(a, b);
}
END_TEST

START_TEST(test_every_version_runs_when_asked)
{
        cleanup_buffer struct buffer log = {0};
        struct strategy_options o = options_of(STRATEGY_SOLVERFS, 1);
        uint64_t runs;

        o.every_version = true;
        o.versions = 3;
        play(&o, 50, &log, &runs);
        ck_assert_uint_eq(runs, 150);
}
END_TEST

/* One input whose outcomes are given; is it a candidate? */
static bool is_candidate(const struct outcome *outcomes)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_RANDOM, 1);
        struct strategy_input input;
        double score;

        assert_ok(strategy_new(&o, &s));
        assert_ok(strategy_next(s, &input));
        strategy_ran(s, input.id, 0, &outcomes[0]);
        strategy_ran(s, input.id, 1, &outcomes[1]);
        return strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score);
}

/* Every input with a replacement is slow. What is asked changes nothing; what is passed over has its score all the same. */
START_TEST(test_what_was_found_often_is_passed_over)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 12);
        unsigned wanted[2] = {0}, candidates[2] = {0};

        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 1500; i++) {
                struct strategy_input input;
                bool is_slow, is_wanted;
                double score;

                assert_ok(strategy_next(s, &input));
                is_slow = memmem(input.text.data, input.text.size, "(str.replace ", 13);
                strategy_ran(s, input.id, 1, &(struct outcome){is_slow ? 15 : 0.1, VERDICT_SAT});
                strategy_ran(s, input.id, 0, &(struct outcome){0.1, VERDICT_SAT});
                is_wanted = strategy_wants(s, input.id, NULL);
                ck_assert_int_eq(is_wanted, strategy_wants(s, input.id, NULL));
                candidates[i >= 500] += is_slow;
                wanted[i >= 500] += is_wanted;
                ck_assert_int_eq(strategy_finish(s, input.id, is_wanted, &score), is_wanted);
                ck_assert_int_eq(score > o.threshold, is_slow);
                if (is_wanted)
                        strategy_confirmed(s, input.id, true);
        }
        ck_assert_uint_gt(wanted[0], 0);
        ck_assert_uint_gt(candidates[1], 0);
        ck_assert_msg(3 * wanted[1] < candidates[1], "%u of %u candidates are wanted", wanted[1], candidates[1]);
}
END_TEST

/* Runs the versions on an input that they need so many seconds for, each at most up to its cap. True if it is a candidate, which holds or not. */
static bool run_input(struct strategy *s, uint64_t id, double reference, double target, bool holds)
{
        unsigned version;
        double cap, score;

        while (strategy_step(s, id, &version, &cap)) {
                double needs = version == 0 ? reference : target;
                strategy_ran(s, id, version, &(struct outcome){fmin(needs, cap), needs > cap ? VERDICT_TIMEOUT : VERDICT_SAT});
        }
        if (!strategy_finish(s, id, true, &score))
                return false;
        strategy_confirmed(s, id, holds);
        return true;
}

/* Inputs with a replacement are hard for both versions, those with a conversion of numbers nearly finds. Mutated are the latter. */
START_TEST(test_what_is_hard_for_all_is_no_step_towards_a_find)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 15);
        unsigned hard = 0, near = 0;

        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 1500; i++) {
                struct strategy_input input;
                bool is_hard, is_near;

                assert_ok(strategy_next(s, &input));
                is_hard = memmem(input.text.data, input.text.size, "(str.replace ", 13);
                is_near = !is_hard && memmem(input.text.data, input.text.size, "(str.from", 9);
                if (i >= 500 && strcmp(input.source, "mutated") == 0) {
                        hard += is_hard;
                        near += is_near;
                }
                ck_assert(!run_input(s, input.id, is_hard ? 100 : 0.1, is_hard ? 100 : is_near ? 8 : 0.1, false));
        }
        ck_assert_msg(near > 2 * hard, "%u mutants are nearly finds, %u are hard for both versions", near, hard);
}
END_TEST

/* One input is nearly a find, all others are hard for both versions. The third of its mutants is a find; from then on none but that is mutated. */
START_TEST(test_a_lineage_ends_with_its_find)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 16);
        unsigned mutated = 0, of_find = 0;

        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 1000; i++) {
                struct strategy_input input;
                bool is_mutant, is_mutant_of_find;

                assert_ok(strategy_next(s, &input));
                is_mutant = strcmp(input.source, "mutated") == 0;
                is_mutant_of_find = strcmp(input.source, "find") == 0;
                mutated += is_mutant;
                of_find += is_mutant_of_find;
                if (i == 0)
                        run_input(s, input.id, 9, 9, true);
                else
                        run_input(s, input.id, is_mutant || is_mutant_of_find ? 0 : 20,
                                  is_mutant_of_find || (is_mutant && mutated != 3) ? 0 : 20, true);
        }
        ck_assert_uint_eq(mutated, 3);
        ck_assert_uint_gt(of_find, 0);
}
END_TEST

/* The first input is a find, and so are its mutants; all others are hard for both versions. Four of its mutants make five finds of one lineage;
 * a large one, which is not mutated, does not count. */
START_TEST(test_a_lineage_ends_with_its_fifth_find)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 18);
        unsigned of_find = 0;

        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 1500; i++) {
                struct strategy_input input;
                bool is_mutant_of_find;

                assert_ok(strategy_next(s, &input));
                is_mutant_of_find = strcmp(input.source, "find") == 0;
                of_find += is_mutant_of_find;
                run_input(s, input.id, i == 0 || is_mutant_of_find ? 0 : 20, 20, true);
        }
        ck_assert_msg(of_find >= 4 && of_find <= 8, "%u mutants of finds", of_find);
}
END_TEST

/* All inputs are nearly finds, but for one in ten, a candidate that does not hold. */
START_TEST(test_luck_is_no_success)
{
        cleanup_strategy struct strategy *s = NULL;
        const struct strategy_options o = options_of(STRATEGY_SOLVERFS, 17);
        struct strategy_arm arms[N_OPS];
        unsigned often = 0;
        size_t n;

        assert_ok(strategy_new(&o, &s));
        for (unsigned i = 0; i < 3000; i++) {
                struct strategy_input input;

                assert_ok(strategy_next(s, &input));
                run_input(s, input.id, 0.1, i % 10 == 0 ? 20 : 9, false);
        }
        n = strategy_arms(s, arms, ARRAY_SIZE(arms));
        for (size_t i = 0; i < n; i++) {
                often += arms[i].used > 200;
                ck_assert_msg(arms[i].used <= 200 || arms[i].mean < 0.25, "%s: %f", arms[i].name, arms[i].mean);
        }
        ck_assert_uint_gt(often, 0);
}
END_TEST

START_TEST(test_candidates)
{
        static const struct {
                struct outcome outcomes[2];
                bool is_candidate;
        } rows[] = {
                {{{0.1, VERDICT_SAT}, {15, VERDICT_SAT}}, true},          {{{0.1, VERDICT_SAT}, {20, VERDICT_TIMEOUT}}, true},
                {{{0.1, VERDICT_UNSAT}, {9, VERDICT_UNSAT}}, false},      /* below the threshold */
                {{{0.1, VERDICT_UNKNOWN}, {20, VERDICT_TIMEOUT}}, false}, /* fast, as it gave up */
                {{{0.1, VERDICT_ERROR}, {20, VERDICT_TIMEOUT}}, false},   {{{0.1, VERDICT_CRASH}, {20, VERDICT_TIMEOUT}}, false},
                {{{15, VERDICT_SAT}, {0.1, VERDICT_SAT}}, false}, /* an improvement */
                {{{20, VERDICT_TIMEOUT}, {20, VERDICT_TIMEOUT}}, false},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                ck_assert_msg(is_candidate(rows[i].outcomes) == rows[i].is_candidate, "row %zu", i);
}
END_TEST

START_TEST(test_several_under_way)
{
        for (int k = 0; k < N_STRATEGIES; k++) {
                cleanup_strategy struct strategy *s = NULL;
                struct strategy_options o = options_of((enum strategy_kind)k, 3);
                uint64_t open[3] = {0};
                unsigned done = 0;
                struct random random;

                random_seed(&random, test_seed(1));
                assert_ok(strategy_new(&o, &s));
                for (unsigned round = 0; done < 100; round++) {
                        size_t at = random_below(&random, 3);
                        struct strategy_input input;
                        double score, seconds;
                        unsigned version;
                        int r;

                        ck_assert_uint_lt(round, 10000);
                        strategies_now = round;
                        if (open[at] == 0) {
                                r = strategy_next(s, &input);
                                if (r == -EAGAIN) { /* only while others are under way */
                                        ck_assert(open[0] || open[1] || open[2]);
                                        continue;
                                }
                                assert_ok(r);
                                open[at] = input.id;
                                continue;
                        }
                        while (strategy_step(s, open[at], &version, &seconds)) {
                                double t = 21 * random_uniform(&random);

                                strategy_ran(s, open[at], version,
                                             &(struct outcome){fmin(t, seconds), t > seconds ? VERDICT_TIMEOUT : VERDICT_SAT});
                        }
                        if (strategy_finish(s, open[at], strategy_wants(s, open[at], NULL), &score))
                                strategy_confirmed(s, open[at], random_below(&random, 2) == 0);
                        open[at] = 0;
                        done++;
                }
        }
}
END_TEST

START_TEST(test_corpus_of_another_theory)
{
        cleanup_formula struct formula seed = {0};
        const char *text = "(set-logic QF_BV)(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))"
                           "(assert (bvult (bvadd a b) (bvmul a #x03)))(assert (not (= a b)))(check-sat)";

        assert_ok(script_read(slice_string(text), NULL, &seed.script));
        for (int k = 0; k < N_STRATEGIES; k++) {
                cleanup_strategy struct strategy *s = NULL;
                struct strategy_options o = options_of((enum strategy_kind)k, 3);

                if (k == STRATEGY_ENUMERATE)
                        continue;
                o.corpus = &seed;
                o.n_corpus = 1;
                        assert_ok(strategy_new(&o, &s));
                for (int i = 0; i < 50; i++) {
                        cleanup_script struct script *again = NULL;
                        struct strategy_input input;
                        double score, seconds;
                        unsigned version;

                        assert_ok(strategy_next(s, &input));
                        assert_ok(script_read(input.text, &(struct script_options){.dialect = DIALECT_2_6, .is_strict = true},
                                              &again));
                        ck_assert(!strstr(input.text.data, "str."));
                        while (strategy_step(s, input.id, &version, &seconds))
                                strategy_ran(s, input.id, version, &(struct outcome){0.1, VERDICT_SAT});
                        ck_assert(!strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score));
                }
        }
}
END_TEST

START_TEST(test_refuses)
{
        struct strategy_options o = options_of(STRATEGY_SOLVERFS, 1);
        struct strategy *s = NULL;

        o.versions = 1;
        assert_error(strategy_new(&o, &s), EINVAL);
        o = options_of(STRATEGY_SOLVERFS, 1);
        o.threshold = 20;
        assert_error(strategy_new(&o, &s), EINVAL);
        o.threshold = 0;
        assert_error(strategy_new(&o, &s), EINVAL);
        ck_assert_ptr_null(s);
}
END_TEST

SUITE_TIMEOUT("strategy", 600, test_decisions_repeat, test_a_loaded_strategy_goes_on_alike,
              test_a_loaded_strategy_of_others_goes_on_alike, test_half_a_state, test_memory_does_not_grow_with_what_is_tried,
              test_a_corpus_with_a_formula_that_cannot_be_changed, test_causes_are_found,
              test_logics_are_drawn, test_every_version_runs_when_asked,
              test_what_was_found_often_is_passed_over, test_what_is_hard_for_all_is_no_step_towards_a_find,
              test_a_lineage_ends_with_its_find, test_a_lineage_ends_with_its_fifth_find, test_luck_is_no_success, test_candidates,
              test_several_under_way, test_corpus_of_another_theory, test_refuses)
