#include "tests/support/test.h"

#include "core/run/cell_file.h"
#include "core/run/fact.h"

#define BLOB(s) ((struct blob){.data = (s), .size = sizeof(s) - 1})

static const struct recipe_limits limits = {.wall_ns = 20 * NSEC_PER_SEC,
                                            .cpu_ns = 30 * NSEC_PER_SEC,
                                            .memory = 4000,
                                            .output = 100,
                                            .processes = 64,
                                            .stack = 8 << 20};

static struct fact example(enum verdict v)
{
        return (struct fact){
                .refs = 1,
                .verdict = v,
                .wrong = true,
                .wall_ns = v == VERDICT_TIMEOUT ? limits.wall_ns : 5 * NSEC_PER_SEC,
                .cpu_ns = 6 * NSEC_PER_SEC,
                .memory = 1000,
                .limits = limits,
                .measured = 1700000000,
                .remeasured = 1800000000,
                .results = BLOB("sat\nunsat\n"),
                .out = BLOB("sat\nunsat\n\0x"),
                .err = BLOB("c said"),
                .json = BLOB("{}"),
                .waited_ns = NSEC_PER_SEC,
                .answers = BLOB("0123456789abcdef"),
                .not_started = (char *)"it has no interpreter",
        };
}

static bool blob_is(const struct blob *a, const struct blob *b)
{
        return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

START_TEST(test_round_trip)
{
        struct fact f = example(VERDICT_UNSAT);
        cleanup_buffer struct buffer b = {0};
        cleanup(fact_unrefp) struct fact *g = NULL, *brief = NULL;

        f.address_space = f.disturbed = true;
        assert_ok(fact_encode(&f, &b));
        assert_ok(fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g));
        assert_ok(fact_decode(SLICE(b.data, b.size), FACT_BRIEF, &brief));
        memset(b.data, 'x', b.size); /* it owns its bytes */
        ck_assert_int_eq(g->verdict, f.verdict);
        ck_assert(g->wrong && g->address_space && g->disturbed);
        ck_assert_uint_eq(g->wall_ns, f.wall_ns);
        ck_assert_uint_eq(g->cpu_ns, f.cpu_ns);
        ck_assert_uint_eq(g->waited_ns, f.waited_ns);
        ck_assert_uint_eq(g->memory, f.memory);
        ck_assert_int_eq(memcmp(&g->limits, &f.limits, sizeof(limits)), 0);
        ck_assert_int_eq(g->measured, f.measured);
        ck_assert_int_eq(g->remeasured, f.remeasured);
        ck_assert(blob_is(&g->results, &f.results) && blob_is(&g->out, &f.out) && blob_is(&g->err, &f.err) &&
                  blob_is(&g->json, &f.json) && blob_is(&g->answers, &f.answers) && blob_is(&brief->answers, &f.answers));
        ck_assert_str_eq(g->not_started, f.not_started);
        ck_assert_str_eq(brief->not_started, f.not_started);
        ck_assert(blob_is(&brief->results, &f.results));
        ck_assert_uint_eq(brief->out.size + brief->err.size + brief->json.size, 0);
        ck_assert_uint_eq(brief->wall_ns, f.wall_ns);
        f.not_started = NULL;
        b.size = 0;
        assert_ok(fact_encode(&f, &b));
        fact_unref(g);
        assert_ok(fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g));
        ck_assert_ptr_null(g->not_started);
        ck_assert_uint_eq(g->uncertain_from, 0); /* nothing says so in the record: older ones are read, too */
        f.uncertain_from = 2;
        b.size = 0;
        assert_ok(fact_encode(&f, &b));
        fact_unref(g);
        assert_ok(fact_decode(SLICE(b.data, b.size), FACT_BRIEF, &g));
        ck_assert_uint_eq(g->uncertain_from, 2);
}
END_TEST

/* Older records have the whole time limit for a run that a smaller limit of CPU time ended; a longer time was measured. */
START_TEST(test_time_of_a_timeout)
{
        static const struct {
                unsigned wall, cpu, cpu_limit, time;
        } runs[] = {{20, 5, 5, 5}, {20, 30, 30, 20}, {20, 3, 5, 20}, {8, 5, 5, 8}, {20, 20, 20, 20}, {20, 5, 0, 20}};

        for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
                struct fact f = example(VERDICT_TIMEOUT);
                cleanup_buffer struct buffer b = {0};
                cleanup(fact_unrefp) struct fact *g = NULL;

                f.wall_ns = runs[i].wall * NSEC_PER_SEC;
                f.cpu_ns = runs[i].cpu * NSEC_PER_SEC;
                f.limits.cpu_ns = runs[i].cpu_limit * NSEC_PER_SEC;
                assert_ok(fact_encode(&f, &b));
                assert_ok(fact_decode(SLICE(b.data, b.size), FACT_BRIEF, &g));
                ck_assert_uint_eq(g->wall_ns, runs[i].time * NSEC_PER_SEC);
        }
}
END_TEST

START_TEST(test_what_is_no_fact)
{
        struct fact f = example(VERDICT_SAT);
        cleanup_buffer struct buffer b = {0};
        struct fact *g;

        assert_ok(fact_encode(&f, &b));
        for (size_t n = 0; n < b.size; n++)
                assert_error(fact_decode(SLICE(b.data, n), FACT_BRIEF, &g), EBADMSG);
        buffer_add(&b, "x", 1);
        assert_error(fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g), EBADMSG);
        b.size--;
        b.data[0]++; /* of a newer format */
        assert_error(fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g), EBADMSG);
        ck_assert_ptr_nonnull(strstr(error_message(-EBADMSG), "format 4"));
        b.data[0]--;
        b.data[1] = N_VERDICTS;
        assert_error(fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g), EBADMSG);
}
END_TEST

START_TEST(test_sizes_that_overflow)
{
        struct fact f = example(VERDICT_SAT);
        cleanup_buffer struct buffer b = {0};
        struct fact *g = NULL;

        assert_ok(fact_encode(&f, &b));
        for (size_t i = 8; i < 120; i++) { /* any byte of the head at its worst: refused, or read within bounds */
                char kept = b.data[i];

                b.data[i] = (char)0xff;
                if (fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &g) == 0)
                        g = fact_unref(g);
                b.data[i] = kept;
        }
}
END_TEST

static bool covers(const struct fact *f, uint64_t wall, uint64_t cpu, uint64_t memory)
{
        struct recipe_limits asked = limits;

        asked.wall_ns = wall * NSEC_PER_SEC;
        asked.cpu_ns = cpu * NSEC_PER_SEC;
        asked.memory = memory;
        return fact_covers(f, &asked);
}

START_TEST(test_covers_its_own_limits)
{
        for (enum verdict v = 0; v < N_VERDICTS; v++) {
                struct fact f = example(v);

                ck_assert(fact_covers(&f, &f.limits));
                f.address_space = true;
                ck_assert(fact_covers(&f, &f.limits));
        }
}
END_TEST

START_TEST(test_solved_covers)
{
        struct fact f = example(VERDICT_SAT); /* 5 s, 6 s of CPU, 1000 bytes */

        ck_assert(covers(&f, 5, 6, 1000));
        ck_assert(covers(&f, 1000, 1000, 9000));
        ck_assert(covers(&f, 0, 0, 0)); /* no limits */
        ck_assert(!covers(&f, 4, 6, 1000));
        ck_assert(!covers(&f, 5, 5, 1000));
        ck_assert(!covers(&f, 5, 6, 999));
        f.address_space = true; /* only for the 4000 it was run with */
        ck_assert(!covers(&f, 5, 6, 3999));
        ck_assert(covers(&f, 5, 6, 4000));
        f.limits.memory = 0;
        ck_assert(!covers(&f, 5, 6, 4000));
        ck_assert(covers(&f, 5, 6, 0));
}
END_TEST

START_TEST(test_timeout_covers)
{
        struct fact f = example(VERDICT_TIMEOUT); /* under 20 s, 30 s of CPU */

        ck_assert(covers(&f, 20, 30, 4000));
        ck_assert(covers(&f, 1, 1, 1000));
        ck_assert(!covers(&f, 1, 1, 999)); /* it may have run out of memory */
        ck_assert(!covers(&f, 21, 30, 4000));
        ck_assert(!covers(&f, 20, 31, 4000));
        ck_assert(!covers(&f, 0, 30, 4000));
        f.limits.wall_ns = 0; /* ended by its CPU limit */
        ck_assert(covers(&f, 0, 30, 4000));
        ck_assert(covers(&f, 21, 30, 4000));
}
END_TEST

START_TEST(test_memout_covers)
{
        struct fact f = example(VERDICT_MEMOUT); /* of 4000 bytes after 5 s */

        ck_assert(covers(&f, 5, 6, 10));
        ck_assert(!covers(&f, 4, 6, 10)); /* it may have timed out before */
        ck_assert(!covers(&f, 5, 6, 4001));
        ck_assert(!covers(&f, 5, 6, 0));
}
END_TEST

START_TEST(test_output_and_process_limits)
{
        struct fact f = example(VERDICT_UNSAT), e = example(VERDICT_ERROR);
        struct recipe_limits asked = limits;

        asked.output++;
        ck_assert(fact_covers(&f, &asked));
        ck_assert(!fact_covers(&e, &asked));
        asked.output = limits.output - 1;
        ck_assert(!fact_covers(&f, &asked));
        asked.output = limits.output;
        asked.processes = 0;
        ck_assert(fact_covers(&f, &asked));
        ck_assert(!fact_covers(&e, &asked));
}
END_TEST

START_TEST(test_stack)
{
        struct fact f = example(VERDICT_SAT);
        struct recipe_limits asked = limits;

        asked.stack = 2 * limits.stack; /* what did not overflow does not overflow a larger one */
        ck_assert(fact_covers(&f, &asked));
        f.verdict = VERDICT_CRASH; /* which it may have cured */
        ck_assert(!fact_covers(&f, &asked));
        f.verdict = VERDICT_MEMOUT;
        asked.memory = limits.memory;
        ck_assert(!fact_covers(&f, &asked));
        asked.stack = limits.stack / 2;
        ck_assert(fact_covers(&f, &asked));
        f.verdict = VERDICT_UNSAT;
        ck_assert(!fact_covers(&f, &asked));
}
END_TEST

/* Under a limit on address space, an allocation fails in the program, which ends as it likes. */
START_TEST(test_memory_of_a_failed_run)
{
        static const enum verdict failed[] = {VERDICT_ERROR, VERDICT_CRASH};

        for (size_t i = 0; i < ARRAY_SIZE(failed); i++) {
                struct fact f = example(failed[i]);

                ck_assert(covers(&f, 20, 30, 9000));
                f.address_space = true;
                ck_assert(covers(&f, 20, 30, 4000));
                ck_assert(!covers(&f, 20, 30, 4001));
                ck_assert(!covers(&f, 20, 30, 0));
                ck_assert(!covers(&f, 20, 30, 3999));
        }
}
END_TEST

/* A program that sleeps has little CPU time; one with many threads waits longer than it runs. */
START_TEST(test_seconds_by_itself)
{
        static const struct {
                unsigned wall, cpu, waited;
                bool disturbed;
                double seconds;
        } runs[] = {{10, 2, 1, false, 10}, {10, 2, 1, true, 9}, {10, 9, 4, true, 9}, {10, 30, 12, true, 10}, {10, 2, 0, true, 2}};

        for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
                struct fact f = example(VERDICT_SAT);

                f.wall_ns = runs[i].wall * NSEC_PER_SEC;
                f.cpu_ns = runs[i].cpu * NSEC_PER_SEC;
                f.waited_ns = runs[i].waited * NSEC_PER_SEC;
                f.disturbed = runs[i].disturbed;
                ck_assert_double_eq_tol(fact_seconds(&f), runs[i].seconds, 1e-9);
                f.verdict = VERDICT_TIMEOUT;
                ck_assert_double_eq_tol(fact_seconds(&f), runs[i].wall, 1e-9);
        }
}
END_TEST

/* A table may print a stored time, or the same time as a number of seconds. */
START_TEST(test_times_are_rounded)
{
        static const uint64_t times[] = {0, 21011624, 22701790, 29200799, 999999999, 1500, 2500, UINT64_C(3600) * NSEC_PER_SEC + 499};
        char number[32];

        for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
                snprintf(number, sizeof(number), "%.6f", (double)times[i] / 1e9);
                ck_assert_str_eq(format_seconds(times[i]).s, number);
        }
        ck_assert_str_eq(format_seconds(999999999).s, "1.000000");
}
END_TEST

SUITE("fact", test_times_are_rounded, test_seconds_by_itself, test_round_trip, test_time_of_a_timeout, test_what_is_no_fact,
      test_sizes_that_overflow, test_covers_its_own_limits, test_solved_covers, test_timeout_covers, test_memout_covers,
      test_output_and_process_limits, test_stack, test_memory_of_a_failed_run)
