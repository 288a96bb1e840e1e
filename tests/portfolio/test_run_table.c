/* Recorded tables: what is read, and that what is wrong is named with its file and line. */
#include "tests/bench/run_table.h"

#include <math.h>

#include "tests/support/test.h"

static struct run_table *parse(const char *text)
{
        struct run_table *t = NULL;

        assert_ok(run_table_parse("t.tsv", slice_string(text), &t));
        return t;
}

START_TEST(test_read)
{
        cleanup_run_table struct run_table *t = parse("query\tf1\tf2\tz3_result\tz3_seconds\tcvc5_result\tcvc5_seconds\n"
                                                      "a.smt2\t1.5\t-2\tsat\t0.25\ttimeout\t60\n"
                                                      "b.smt2\tnan\tinf\tunknown\t3\tunsat\t7\r\n");
        struct attempt a;

        ck_assert_uint_eq(t->queries, 2);
        ck_assert_uint_eq(t->features, 2);
        ck_assert_uint_eq(t->arms, 2);
        ck_assert_str_eq(t->arm[1], "cvc5");
        ck_assert_str_eq(t->feature[0], "f1");
        ck_assert_str_eq(t->query[1], "b.smt2");
        ck_assert_double_eq(t->values[0], 1.5);
        ck_assert_double_eq(t->values[1], -2);
        ck_assert(isnan(t->values[2]) && isnan(t->values[3]));
        ck_assert_uint_eq(t->alarms, 0);
        a = run_table_run(t, 0, 0, 60);
        ck_assert(a.ending == ENDING_SOLVED && a.seconds == .25);
        a = run_table_run(t, 0, 0, .25);
        ck_assert(a.ending == ENDING_SOLVED);
        a = run_table_run(t, 0, 0, .2);
        ck_assert(a.ending == ENDING_STOPPED && a.seconds == .2);
        a = run_table_run(t, 0, 1, 30);
        ck_assert(a.ending == ENDING_STOPPED && a.seconds == 30);
        a = run_table_run(t, 1, 0, 30);
        ck_assert(a.ending == ENDING_FAILED && a.seconds == 3);
}
END_TEST

START_TEST(test_disagreement)
{
        cleanup_run_table struct run_table *t = parse("query\ta_result\ta_seconds\tb_result\tb_seconds\n"
                                                      "q1\tsat\t1\tsat\t1\n"
                                                      "q2\tsat\t1\tunsat\t1\n"
                                                      "q3\tunsat\t1\tsat\t1\n");

        ck_assert_uint_eq(t->alarms, 2);
        ck_assert_uint_eq(t->first_alarm, 3);
}
END_TEST

/* One answer against the status is wrong; two solvers that agree put the status in doubt, and nobody is right or wrong there. */
START_TEST(test_status)
{
        static const struct {
                const char *rows;
                unsigned wrong, solved; /* bits of the arms a, b@1, b@2, liar on the first query */
        } tables[] = {
                {"q1\tsat\tsat\t1\tunsat\t1\tsat\t1\tunknown\t1\n", 2, 1 | 4},
                {"q1\tsat\tunsat\t1\tunsat\t1\tsat\t1\tunknown\t1\n", 0, 0},
                {"q1\tsat\tsat\t1\tunsat\t1\tunsat\t1\tunknown\t1\n", 2 | 4, 1}, /* two versions are one solver */
                {"q1\tsat\tunsat\t1\tsat\t1\tsat\t1\tunsat\t1\nq2\tsat\tsat\t1\tsat\t1\tsat\t1\tunsat\t1\n", 1 | 8, 2 | 4}, /* no witness */
        };

        for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
                cleanup_buffer struct buffer b = {0};
                cleanup_run_table struct run_table *t = NULL;

                buffer_adds(&b, "query\tstatus\ta_result\ta_seconds\tb@1_result\tb@1_seconds\tb@2_result\tb@2_seconds\tliar_result\tliar_seconds\n");
                buffer_adds(&b, tables[i].rows);
                t = parse(b.data);
                for (unsigned a = 0; a < 4; a++) {
                        ck_assert_msg(t->wrong[a] == ((tables[i].wrong >> a & 1) != 0), "table %zu, arm %u", i, a);
                        ck_assert_msg((t->runs[a].ending == ENDING_SOLVED) == ((tables[i].solved >> a & 1) != 0), "table %zu, arm %u", i, a);
                }
        }
}
END_TEST

START_TEST(test_refused)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                {"", "t.tsv: the table is empty"},
                {"query\ta_result\ta_seconds\n", "t.tsv: the table has a heading and no query"},
                {"name\ta_result\ta_seconds\nq\tsat\t1\n", "t.tsv:1: the heading must begin with 'query'"},
                {"query\tf1\nq\t1\n", "t.tsv:1: no arm"},
                {"query\ta_result\tb_seconds\nq\tsat\t1\n", "t.tsv:1: behind 'a_result' comes 'b_seconds'"},
                {"query\ta_result\nq\tsat\n", "t.tsv:1: behind 'a_result' comes ''"},
                {"query\ta_result\ta_seconds\tf1\nq\tsat\t1\t1\n", "t.tsv:1: 'f1' stands behind the arms"},
                {"query\ta_result\ta_seconds\ta_result\ta_seconds\nq\tsat\t1\tsat\t1\n", "t.tsv:1: the arm 'a' is there twice"},
                {"query\ta_result\ta_seconds\nq\tsat\t1\nq\tsat\n", "t.tsv:3: 2 columns, where the heading has 3"},
                {"query\ta_result\ta_seconds\n\nq\tsat\t1\n", "t.tsv:2: 1 columns"},
                {"query\ta_result\ta_seconds\nq\tmaybe\t1\n", "t.tsv:2: 'maybe' is no result (a_result)"},
                {"query\ta_result\ta_seconds\nq\tsat\tsoon\n", "t.tsv:2: 'soon' is no number of seconds (a_seconds)"},
                {"query\ta_result\ta_seconds\nq\tsat\t-1\n", "t.tsv:2: '-1' is no number of seconds"},
                {"query\ta_result\ta_seconds\nq\tsat\tnan\n", "t.tsv:2: 'nan' is no number of seconds"},
                {"query\ta_result\ta_seconds\nq\tsat\t\n", "t.tsv:2: '' is no number of seconds"},
                {"query\tf1\ta_result\ta_seconds\nq\tbig\tsat\t1\n", "t.tsv:2: 'big' is no number (f1)"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct run_table *t = NULL;

                ck_assert_int_eq(run_table_parse("t.tsv", slice_string(rows[i].text), &t), -EINVAL);
                ck_assert_ptr_null(t);
                ck_assert_msg(strncmp(error_message(-EINVAL), rows[i].says, strlen(rows[i].says)) == 0, "%s",
                              error_message(-EINVAL));
        }
}
END_TEST

START_TEST(test_no_text)
{
        struct run_table *t = NULL;

        ck_assert_int_eq(run_table_parse("t.tsv", SLICE("query\0", 6), &t), -EINVAL);
        ck_assert_int_eq(run_table_read("absent.tsv", &t), -ENOENT);
}
END_TEST

SUITE("run_table", test_read, test_disagreement, test_status, test_refused, test_no_text)
