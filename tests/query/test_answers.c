#include "tests/support/test.h"

#include "core/query/query.h"

#define SHA "0123456789ab"

START_TEST(test_lines_about_a_solver)
{
        static const struct {
                const char *line, *solver;
                bool is_about;
        } table[] = {
                {"toy " SHA " says sat on case 1 (a.smt2), whose status is unsat", "toy", true},
                {"case 1 (a.smt2): toy " SHA " says sat, other " SHA " says unsat: one of them is wrong", "toy", true},
                {"case 1 (a.smt2): toy " SHA " says sat, other " SHA " says unsat: one of them is wrong", "other", true},
                {"case 1 (a.smt2): toy " SHA " says sat, other " SHA " says unsat: one of them is wrong", "case", false},
                {"case 1 (toy.smt2): other " SHA " says sat", "toy", false},
                {"case 1 (my toy 0123.smt2): other " SHA " says sat", "toy", false}, /* too few digits for a commit */
                {"mytoy " SHA " says sat", "toy", false},
                {"toys " SHA " says sat", "toy", false},
                {"toy", "toy", false},
                {"toy toy " SHA " says sat", "toy", true},
                {"", "toy", false},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++)
                ck_assert_msg(answer_line_is_about(table[i].line, table[i].solver) == table[i].is_about, "row %zu", i);
}
END_TEST

SUITE("answers", test_lines_about_a_solver)
