#include "tests/support/test.h"

#include "core/query/cell_value.h"
#include "core/query/noted_cell.h"
#include "core/query/query.h"

struct row {
        uint32_t number;
        const char *result;
        double seconds;
        bool disturbed, wrong, same_second; /* as the row before */
};

#define MOST 8

static size_t choose(const struct row *rows, size_t n, bool *ret_wrong)
{
        struct measurement list[MOST];
        struct fact facts[MOST];
        int64_t measured = 0;
        size_t at;

        for (size_t i = 0; i < n; i++) {
                const char *s = rows[i].result;

                facts[i] = (struct fact){.refs = 1,
                                         .verdict = strcmp(s, "sat") == 0       ? VERDICT_SAT
                                                    : strcmp(s, "unsat") == 0   ? VERDICT_UNSAT
                                                    : strcmp(s, "timeout") == 0 ? VERDICT_TIMEOUT
                                                                                : VERDICT_CRASH,
                                         .wall_ns = (uint64_t)(rows[i].seconds * 1e9),
                                         .disturbed = rows[i].disturbed,
                                         .wrong = rows[i].wrong,
                                         .measured = rows[i].same_second ? measured : ++measured,
                                         .results = {.data = (void *)s, .size = strlen(s)}};
                list[i] = (struct measurement){rows[i].number, &facts[i]};
        }
        at = cell_value_choose(list, n);
        if (ret_wrong)
                *ret_wrong = cell_value_is_wrong(list, n);
        return at;
}

#define CHOSEN(...) choose((const struct row[]){__VA_ARGS__}, ARRAY_SIZE(((const struct row[]){__VA_ARGS__})), NULL)
#define AGAIN       MEASUREMENT_AGAIN

START_TEST(test_limits_in_seconds_lose_no_nanosecond)
{
        ck_assert_uint_eq(seconds_ns(4.1), UINT64_C(4100000000));
        ck_assert_uint_eq(seconds_ns(64.1), UINT64_C(64100000000));
        ck_assert_uint_eq(seconds_ns(1e-9), 1);
        ck_assert_uint_eq(seconds_ns(0), 0);
}
END_TEST

START_TEST(test_lower_median)
{
        ck_assert_uint_eq(CHOSEN({0, "sat", 2.199}), 0);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2.199}, {1, "sat", 1.7}), 1);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2.199}, {1, "sat", 1.7}, {2, "sat", 1.9}), 2);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2}, {1, "sat", 2}, {2, "sat", 2}), 1); /* of equal ones the place decides */
        ck_assert_uint_eq(CHOSEN({0, "sat", 2.199}, {1, "sat", 1.7}, {AGAIN, "sat", 1.9}), 2);
}
END_TEST

START_TEST(test_disturbed)
{
        ck_assert_uint_eq(CHOSEN({0, "sat", 2, true}, {1, "sat", 3}), 1);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2}, {1, "sat", 1, true}), 0);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2, true}, {1, "sat", 1, true}), 0);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2, true}, {AGAIN, "sat", 3, true}), 1);
}
END_TEST

/* The first result stays, until --again finds another; a timeout is a longer time. */
START_TEST(test_result)
{
        ck_assert_uint_eq(CHOSEN({0, "sat", 2}, {1, "unsat", 1}, {2, "unsat", 1}), 0);
        ck_assert_uint_eq(CHOSEN({0, "sat", 2}, {1, "timeout", 1}), 0); /* by its limit of CPU time, while the other one slept */
        ck_assert_uint_eq(CHOSEN({0, "sat", 2}, {1, "crash", 1}), 0);
        ck_assert_uint_eq(CHOSEN({0, "crash", 1}, {1, "sat", 2}), 0);
        ck_assert_uint_eq(CHOSEN({0, "crash", 1}, {AGAIN, "sat", 2}), 1);
        ck_assert_uint_eq(CHOSEN({0, "timeout", 10}, {1, "sat", 9}), 1);
        ck_assert_uint_eq(CHOSEN({0, "sat", 9}, {1, "timeout", 10}, {2, "timeout", 10}), 1);
}
END_TEST

START_TEST(test_wrong)
{
        bool wrong;

        choose((const struct row[]){{0, "sat", 2, .wrong = true}, {1, "sat", 1}}, 2, &wrong);
        ck_assert(wrong); /* no unlucky sample is forgotten by being no median */
        choose((const struct row[]){{0, "sat", 2}, {1, "unsat", 1, .wrong = true}}, 2, &wrong);
        ck_assert(wrong); /* nor is one that differs from the first */
        choose((const struct row[]){{0, "unsat", 2, .wrong = true}, {AGAIN, "sat", 1}}, 2, &wrong);
        ck_assert(!wrong);
        choose((const struct row[]){{0, "sat", 2, .wrong = true}, {AGAIN, "sat", 1}}, 2, &wrong);
        ck_assert(!wrong); /* a new measurement settles it */
        choose((const struct row[]){{0, "unsat", 2, .wrong = true}, {AGAIN, "sat", 1, .same_second = true}}, 2, &wrong);
        ck_assert(!wrong);
        choose((const struct row[]){{0, "sat", 2}, {1, "unsat", 1, .wrong = true, .same_second = true}}, 2, &wrong);
        ck_assert(wrong);
}
END_TEST

/* -- notes of cells -- */

static void put_row(struct workspace *w, const char *key, const char *machine)
{
        struct solver solver = {.number = 7};
        struct case_info info = {.id = 3};
        struct cell cell = {.solver = &solver, .info = &info, .machine = machine};
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u))
                u.r = note_set(u.txn, "said/", &(struct noted_fact){.cell = &cell, .key = slice_string(key)}, true, slice_string("su?"));
        assert_ok(u.r);
}

/* Programs of before read version 3, and take all behind the cell for the letters. */
START_TEST(test_a_row_of_another_machine_has_a_version_of_its_own)
{
        struct workspace *w;
        cleanup_notes struct notes notes = {0};
        unsigned n_named = 0;

        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        put_row(w, "ours", NULL);
        put_row(w, "theirs", "depot");
        assert_ok(notes_read(w, "said/", &notes));
        ck_assert_uint_eq(notes.n, 2);
        for (size_t i = 0; i < notes.n; i++) {
                struct note *row = &notes.list[i];
                const bool is_named = note_machine(row);

                for (char version = is_named ? 4 : 3; version >= 3; version--) { /* 3: of before */
                        struct transfer t;
                        struct remeasured cell;

                        ck_assert(version == 3 || row->value.data[0] == version);
                        row->value.data[0] = version;
                        t = (struct transfer){.from = record_of(SLICE(row->value.data, row->value.size))};
                        transfer_numbers(&t, &cell);
                        ck_assert_int_eq(t.from.error, 0);
                        ck_assert_uint_eq(cell.solver, 7);
                        ck_assert_uint_eq(note_rest(row).size, 3);
                        ck_assert(!is_named || strcmp(note_machine(row), "depot") == 0);
                }
                n_named += is_named;
        }
        ck_assert_uint_eq(n_named, 1);
        workspace_close(w);
}
END_TEST

SUITE("cell_value", test_limits_in_seconds_lose_no_nanosecond, test_lower_median, test_disturbed, test_result, test_wrong,
      test_a_row_of_another_machine_has_a_version_of_its_own)
