/* Queries of a script: from when their answers came to what each took. */
#include "tests/support/test.h"

#include "core/run/cell_file.h"
#include "core/run/fact_query.h"

#define MS NSEC_PER_MSEC

/* A run that printed these lines, each of them at so many milliseconds. */
static struct fact *fact_of(const char *out, const unsigned *ms, size_t n, enum execute_end end, uint64_t wall_ms, size_t questions, const char *results)
{
        struct run_result run = {.run = {.end = end, .out = {.data = out, .size = strlen(out)}, .out_size = strlen(out), .memory = 900}};
        struct fact *f = allocate(1, sizeof(*f));
        const char *at = out;

        for (size_t i = 0; i < n; i++) {
                at = strchr(at, '\n') + 1;
                timeline_add(&run.run.printed, ms[i] * MS, (uint64_t)(at - out));
                timeline_add(&run.run.grown, ms[i] * MS, 100 * (i + 1));
        }
        verdict_read(FORMAT_SMT2, questions, &run.run, &run.verdicts);
        *f = (struct fact){.refs = 1, .verdict = run.verdicts.last, .wall_ns = wall_ms * MS, .cpu_ns = wall_ms * MS / 2, .memory = 900,
                           .results = {.data = results, .size = strlen(results)}};
        fact_take_answers(f, &run);
        timeline_done(&run.run.printed);
        timeline_done(&run.run.grown);
        verdicts_done(&run.verdicts);
        return f;
}

static const char *table(const struct fact *f, size_t n)
{
        static char text[512];
        static const uint32_t lines[] = {3, 5, 9, 12, 40};
        cleanup_buffer struct buffer b = {0};

        fact_print_queries(f, lines, n, &b);
        snprintf(text, sizeof(text), "%s", strchr(b.data, '\n') + 1);
        return text;
}

START_TEST(test_answered)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("sat\n(model)\nunsat\nsat\n", (unsigned[]){10, 11, 250, 260}, 4, END_EXIT, 300, 3, "sat\nunsat\nsat\n");
        cleanup(fact_unrefp) struct fact *q = NULL;

        ck_assert_str_eq(table(f, 3), "1\t3\tsat\t0.010000\t100\n2\t5\tunsat\t0.240000\t300\n3\t9\tsat\t0.010000\t900\n");
        f->wrong = true;
        assert_ok(fact_of_query(f, 2, &q));
        ck_assert(q->verdict == VERDICT_UNSAT && q->wall_ns == 240 * MS && q->cpu_ns == 120 * MS && q->memory == 300 && !q->wrong);
        ck_assert(q->results.size == 6 && memcmp(q->results.data, "unsat\n", 6) == 0 && q->json.size == 0);
}
END_TEST

/* An answer that is uncertain in a script is so as a query's. */
START_TEST(test_uncertain)
{
        struct fact f = {.verdict = VERDICT_SAT, .answers = {.data = (char[48]){0}, .size = 48}, .results = {.data = "sat\nunsat\nsat\n", .size = 14}};

        for (uint64_t from = 0; from <= 3; from++)
                for (uint32_t query = 1; query <= 3; query++) {
                        cleanup(fact_unrefp) struct fact *q = NULL;

                        f.uncertain_from = from;
                        assert_ok(fact_of_query(&f, query, &q));
                        ck_assert_uint_eq(q->uncertain_from, from > 0 && query >= from);
                }
}
END_TEST

/* The second is not answered within the limit, and the third is never asked. */
START_TEST(test_ended_before)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("sat\n", (unsigned[]){10}, 1, END_TIMEOUT, 500, 3, "sat\ntimeout\n");
        cleanup(fact_unrefp) struct fact *second = NULL, *third = NULL;

        ck_assert_str_eq(table(f, 3), "1\t3\tsat\t0.010000\t100\n2\t5\ttimeout\t0.490000\t900\n3\t9\t-\t-\t-\n");
        assert_ok(fact_of_query(f, 2, &second));
        assert_ok(fact_of_query(f, 3, &third));
        ck_assert(second->verdict == VERDICT_TIMEOUT && second->wall_ns == 500 * MS); /* the limit, as of every timeout */
        ck_assert(third->verdict == VERDICT_TIMEOUT);
}
END_TEST

START_TEST(test_crashed_at_the_first)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("", NULL, 0, END_SIGNAL, 20, 2, "crash\n");

        ck_assert_str_eq(table(f, 2), "1\t3\tcrash\t0.020000\t900\n2\t5\t-\t-\t-\n");
}
END_TEST

/* stdio kept all of it back until the end. */
START_TEST(test_all_together)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("sat\nsat\nsat\n", (unsigned[]){70, 70, 70}, 3, END_EXIT, 70, 3, "sat\nsat\nsat\n");

        ck_assert_str_eq(table(f, 3), "1\t3\tsat\t0.070000\t300\n2\t5\tsat\t0.000000\t300\n3\t9\tsat\t0.000000\t900\n");
}
END_TEST

/* Runs that were measured before anybody looked, and answers behind the last point that is kept. */
START_TEST(test_not_known)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("sat\nsat\n", (unsigned[]){10}, 1, END_EXIT, 70, 2, "sat\nsat\n");
        struct query_answer a;

        ck_assert_uint_eq(f->answers.size, 0);
        ck_assert_int_eq(fact_query_answer(f, 1, &a), -ENOENT);
        ck_assert_str_eq(table(f, 2), "1\t3\t-\t-\t-\n2\t5\t-\t-\t-\n");
}
END_TEST

/* An imported run of a script: how it ended says nothing of a single question. */
START_TEST(test_no_answers)
{
        const struct fact f = {.verdict = VERDICT_SAT, .wall_ns = 70 * MS};
        struct query_answer a;

        ck_assert_int_eq(fact_query_answer(&f, 1, &a), -ENOENT);
        ck_assert_int_eq(fact_query_answer(&f, 2, &a), -ENOENT);
}
END_TEST

/* Of one question the whole run is its query. */
START_TEST(test_one_question)
{
        cleanup(fact_unrefp) struct fact *f = fact_of("sat\n", (unsigned[]){10}, 1, END_EXIT, 15, 1, "sat\n");

        ck_assert_uint_eq(f->answers.size, 0);
        ck_assert_str_eq(table(f, 1), "1\t3\tsat\t0.015000\t900\n");
}
END_TEST

/* The middle of the output is cut out: offsets behind the cut count from the end. */
START_TEST(test_cut_output)
{
        const char out[] = "sat\n\n[... 1000 bytes cut ...]\nx\nunsat\n";
        struct execute_result r = {.end = END_EXIT, .out = {.data = out, .size = sizeof(out) - 1}, .out_size = 1012, .out_cut = 4};
        struct verdicts v;

        verdict_read(FORMAT_SMT2, 2, &r, &v);
        ck_assert_uint_eq(v.n, 2);
        ck_assert(v.ends[0] == 4 && v.ends[1] == 1012);
        verdicts_done(&v);
}
END_TEST

/* The first answer came before the first look at the memory. */
START_TEST(test_memory_not_known)
{
        const struct fact f = {.verdict = VERDICT_SAT};
        cleanup_buffer struct buffer b = {0};
        json_t *j = json_object();

        cell_file_print(&f, CELL_MEMORY, &b);
        ck_assert_str_eq(b.data, "-\n");
        cell_numbers(&f, j);
        ck_assert(json_is_null(json_object_get(j, "memory")));
        json_decref(j);
}
END_TEST

SUITE("fact_query", test_memory_not_known, test_answered, test_uncertain, test_ended_before, test_crashed_at_the_first, test_all_together, test_not_known, test_no_answers, test_one_question, test_cut_output)
