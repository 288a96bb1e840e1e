#include "tests/support/test.h"

#include "core/run/verdict.h"

static struct execute_result printed(const char *out)
{
        return (struct execute_result){.end = END_EXIT, .out = {.data = out, .size = strlen(out)}, .out_size = strlen(out)};
}

/* The verdicts as text: the answers, a bar, the run's. */
static const char *read_of(enum format format, size_t questions, const struct execute_result *r)
{
        static char text[256];
        struct verdicts v;

        text[0] = '\0';
        verdict_read(format, questions, r, &v);
        for (size_t i = 0; i < v.n; i++)
                strcat(strcat(text, verdict_name(v.list[i])), " ");
        strcat(strcat(text, "| "), verdict_name(v.last));
        ck_assert(v.is_answer == (v.n > 0 && v.last == v.list[v.n - 1] && (questions == 0 || v.n == questions || r->out_cut > 0) &&
                                  (r->end == END_EXIT || r->guessed)));
        verdicts_done(&v);
        return text;
}

static const char *read_as(enum format format, const struct execute_result *r)
{
        return read_of(format, 0, r);
}

static const char *smt2(const char *out)
{
        struct execute_result r = printed(out);

        return read_as(FORMAT_SMT2, &r);
}

static const char *cnf(const char *out, int code)
{
        struct execute_result r = printed(out);

        r.code = code;
        return read_as(FORMAT_CNF, &r);
}

START_TEST(test_names)
{
        static const char *const names[N_VERDICTS] = {
                /* the words of `result` in docs/tree.md */
                [VERDICT_SAT] = "sat",         [VERDICT_UNSAT] = "unsat",
                [VERDICT_UNKNOWN] = "unknown", [VERDICT_TIMEOUT] = "timeout",
                [VERDICT_MEMOUT] = "memout",   [VERDICT_CRASH] = "crash",
                [VERDICT_ERROR] = "error",     [VERDICT_UNBUILDABLE] = "unbuildable",
        };

        for (enum verdict i = 0; i < N_VERDICTS; i++)
                ck_assert_str_eq(verdict_name(i), names[i]);
}
END_TEST

START_TEST(test_lines_before_the_first_answer)
{
        ck_assert_str_eq(smt2("sat\n"), "sat | sat");
        ck_assert_str_eq(smt2("unsat"), "unsat | unsat");
        ck_assert_str_eq(smt2("unknown\n"), "unknown | unknown");
        ck_assert_str_eq(smt2("\nsuccess\n; a remark: sat\n  \nunsat\r\n"), "unsat | unsat");
        ck_assert_str_eq(smt2("; ignoring unsupported logic QF_SLIA\nunsupported\nsat\n"), "sat | sat"); /* z3 4.8.8 */
        ck_assert_str_eq(smt2("(error \"line 1: no\")\nsat\n"), "| error");
        ck_assert_str_eq(smt2("Parse error\n"), "| error");
        ck_assert_str_eq(smt2("hello\nsat\n"), "sat | sat");
        ck_assert_str_eq(smt2("query 1\nsat\nquery 2\nunsat\n"), "sat unsat | unsat"); /* (echo "query 1") */
        ck_assert_str_eq(smt2("(:name \"Z3\")\n(:error-behavior immediate-exit)\n\"Z3\"\nsat\n"), "sat | sat");
        ck_assert_str_eq(smt2("(:error-behavior continued-execution)\nsat\n"), "sat | sat");
        ck_assert_str_eq(smt2("WARNING: 0 errors so far\nsat\n"), "| error");
        ck_assert_str_eq(smt2("query 1\n(error \"line 2: no\")\nsat\n"), "| error");
        ck_assert_str_eq(smt2("restarts 7\nerrors 0\nsat\n"), "sat | sat");
        ck_assert_str_eq(smt2("satisfiable\n"), "| unknown");
        ck_assert_str_eq(smt2("hello\nsatisfiable\n"), "| unknown");
        ck_assert_str_eq(smt2("unsat\n(error \"no model\")\n"), "unsat | unsat");
        ck_assert_str_eq(smt2(""), "| unknown");
}
END_TEST

START_TEST(test_several_answers)
{
        ck_assert_str_eq(smt2("sat\n(model\n)\nunsat\nsuccess\nunknown\nsat\n"), "sat unsat unknown sat | sat");
}
END_TEST

START_TEST(test_nul_bytes_are_no_answer)
{
        struct execute_result r = printed("");

        r.out = (struct blob){.data = "sat\0\n", .size = 5};
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| unknown");
        r.out = (struct blob){.data = "\0", .size = 1};
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| unknown");
        r.out = (struct blob){0};
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| unknown");
}
END_TEST

START_TEST(test_cut_lines_are_no_answer)
{
        struct execute_result r = printed("sat\nun\n[... 99 bytes cut ...]\nsat\nunsat\n");

        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "sat sat unsat | unsat"); /* a program that prints such a line is not cut */
        r.out_cut = strlen("sat\nun");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "sat | unsat");
        r = printed("sat\n\n[... 99 bytes cut ...]\nsat");
        r.out_cut = strlen("sat\n");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "sat | sat");
}
END_TEST

START_TEST(test_dimacs)
{
        ck_assert_str_eq(cnf("c hello\ns SATISFIABLE\nv 1 0\n", 10), "sat | sat");
        ck_assert_str_eq(cnf("s UNSATISFIABLE\n", 0), "unsat | unsat");
        ck_assert_str_eq(cnf("s UNKNOWN\n", 0), "unknown | unknown");
        ck_assert_str_eq(cnf("SATISFIABLE\n", 10), "sat | sat");
        ck_assert_str_eq(cnf("", 20), "unsat | unsat");
        ck_assert_str_eq(cnf("sat\n", 0), "| unknown");
        ck_assert_str_eq(cnf("", 1), "| error");
        ck_assert_str_eq(cnf("s SATISFIABLE\ns SATISFIABLE\n", 10), "sat | sat");
        ck_assert_str_eq(cnf("s SATISFIABLE\ns UNSATISFIABLE\n", 10), "| error");
        ck_assert_str_eq(cnf("s SATISFIABLE\n", 20), "| error");
        ck_assert_str_eq(cnf("s UNSATISFIABLE\n", 10), "| error");
}
END_TEST

START_TEST(test_ends)
{
        static const struct {
                enum execute_end end;
                int code;
                const char *answer;
                const char *no_answer;
        } rows[] = {
                {END_EXIT, 0, "sat | sat", "| unknown"},        {END_EXIT, 1, "sat | sat", "| error"},
                {END_TIMEOUT, 0, "sat | timeout", "| timeout"}, {END_MEMORY, 0, "sat | memout", "| memout"},
                {END_SIGNAL, 11, "sat | crash", "| crash"},     {END_OUTPUT, 0, "sat | error", "| error"},
                {END_PROCESSES, 1, "sat | error", "| error"},   {END_NOEXEC, ENOEXEC, "sat | error", "| error"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct execute_result r = printed("sat\n");

                r.end = rows[i].end;
                r.code = rows[i].code;
                ck_assert_str_eq(read_as(FORMAT_SMT2, &r), rows[i].answer);
                r.out = (struct blob){0};
                ck_assert_str_eq(read_as(FORMAT_SMT2, &r), rows[i].no_answer);
        }
}
END_TEST

/* DIMACS has a status other than 0 for success, and some solvers fail after the answer. */
START_TEST(test_an_answer_counts_more_than_a_guess)
{
        struct execute_result r = printed("sat\n");

        r.guessed = true;
        r.end = END_MEMORY;
        r.code = 1;
        ck_assert_str_eq(read_of(FORMAT_SMT2, 1, &r), "sat | sat");
        ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), "sat | memout");
        r.end = END_PROCESSES;
        ck_assert_str_eq(read_of(FORMAT_SMT2, 1, &r), "sat | sat");
        ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), "sat | error");
        r.code = 10;
        ck_assert_str_eq(read_as(FORMAT_CNF, &r), "sat | sat"); /* by the status alone */
        r = printed("s UNSATISFIABLE\n");
        r.guessed = true;
        r.end = END_MEMORY;
        r.code = 20;
        ck_assert_str_eq(read_as(FORMAT_CNF, &r), "unsat | unsat");
        r.guessed = false; /* it was over the limit */
        ck_assert_str_eq(read_as(FORMAT_CNF, &r), "unsat | memout");
}
END_TEST

static struct blob blob_of(const char *text)
{
        return (struct blob){.data = (char *)text, .size = strlen(text)};
}

START_TEST(test_own_words_of_running_out_of_memory)
{
        struct execute_result r = printed("(error \"out of memory\")\n");

        r.code = 101;
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| memout");
        r = printed("");
        r.end = END_SIGNAL;
        r.code = 6;
        r.err = blob_of("terminate called after throwing an instance of 'std::bad_alloc'\n");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| memout");
        r.end = END_PROCESSES;
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| memout");
        r.err = blob_of("unable to create native thread: possibly out of memory or process/resource limits reached\n");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| error");
        r = printed("");
        r.code = 127; /* of the loader */
        r.err = blob_of("toy: error while loading shared libraries: libc.so.6: failed to map segment from shared object\n");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| memout");
        r.err = blob_of("toy: error while loading shared libraries: libc.so.6: cannot open shared object file: No such file or directory\n");
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "| error");
        r = printed("unsat\nc out of memory\n"); /* it found the answer all the same */
        r.code = 1;
        ck_assert_str_eq(read_as(FORMAT_SMT2, &r), "unsat | unsat");
}
END_TEST

START_TEST(test_wrong)
{
        enum verdict said[] = {VERDICT_SAT, VERDICT_UNKNOWN, VERDICT_UNSAT};
        struct verdicts v = {.list = said, .n = 3, .n_certain = 3, .last = VERDICT_TIMEOUT};
        enum verdict expected[] = {VERDICT_SAT, VERDICT_SAT, VERDICT_UNKNOWN, VERDICT_SAT};

        ck_assert(!verdict_is_wrong(&v, expected, 4));
        ck_assert(!verdict_is_wrong(&v, NULL, 0));
        expected[2] = VERDICT_SAT;
        ck_assert(verdict_is_wrong(&v, expected, 3)); /* also when it timed out later */
        ck_assert(!verdict_is_wrong(&v, expected, 2));
        v.n_certain = 2;
        ck_assert(!verdict_is_wrong(&v, expected, 3));
}
END_TEST

/* An answer is judged if it can be of no other question, and of no other formula. */
START_TEST(test_certain_answers)
{
        static const struct {
                const char *out;
                size_t questions;
                enum execute_end end;
                size_t certain;
        } rows[] = {
                {"sat\nunsat\nsat\n", 3, END_EXIT, 3},
                {"sat\n(error \"unknown command\")\nsat\n", 3, END_EXIT, 1}, /* which of the questions is not answered? */
                {"sat\n(error \"unknown function\")\nsat\n", 2, END_EXIT, 1}, /* of a formula without an assertion */
                {"sat\nunsat\n(error \"there is no model\")\n", 2, END_EXIT, 2},
                {"sat\nunsat\n(error \"there is no model\")\nsat\n", 4, END_TIMEOUT, 2},
                {"sat\nunsupported\nsat\n", 3, END_EXIT, 1},
                {"unsupported\nsat\n", 2, END_EXIT, 0},
                {"unsupported\nsat\nunsupported\nunsat\n", 2, END_EXIT, 2}, /* none is missing */
                {"sat\nunsat\n", 3, END_EXIT, 2},
                {"sat\nunsat\n", 3, END_TIMEOUT, 2},
                {"sat\nunsat\n", 1, END_EXIT, 0}, /* which of them is the answer? */
                {"sat\nunsat\n", 0, END_EXIT, 2},
                {"(error \"no logic\")\nsat\n", 1, END_EXIT, 0},
        };
        struct execute_result cnf = printed("s SATISFIABLE\n");
        struct verdicts v;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct execute_result r = printed(rows[i].out);

                r.end = rows[i].end;
                verdict_read(FORMAT_SMT2, rows[i].questions, &r, &v);
                ck_assert_msg(v.n_certain == rows[i].certain, "row %zu: %zu", i, v.n_certain);
                verdicts_done(&v);
        }
        verdict_read(FORMAT_CNF, 1, &cnf, &v);
        ck_assert_uint_eq(v.n_certain, 1);
        verdicts_done(&v);
}
END_TEST

START_TEST(test_more_answers_than_questions)
{
        struct execute_result r = printed("sat\nunsat\n");

        ck_assert_str_eq(read_of(FORMAT_SMT2, 0, &r), "sat unsat | unsat"); /* the case does not tell */
        ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), "sat unsat | unsat");
        ck_assert_str_eq(read_of(FORMAT_SMT2, 1, &r), "sat unsat | error");
        r.end = END_TIMEOUT;
        ck_assert_str_eq(read_of(FORMAT_SMT2, 1, &r), "sat unsat | timeout");
        r = printed("sat\nunsat\nunsat\nsat\n"); /* one too many says it */
        ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), "sat unsat unsat | error");
        ck_assert_str_eq(read_of(FORMAT_SMT2, 4, &r), "sat unsat unsat sat | sat");
}
END_TEST

/* What is missing is how the run ended. */
START_TEST(test_fewer_answers_than_questions)
{
        static const struct {
                const char *out;
                enum execute_end end;
                int code;
                const char *verdicts;
        } rows[] = {
                {"sat\n", END_EXIT, 0, "sat | unknown"},
                {"sat\n", END_EXIT, 1, "sat | error"},
                {"unknown\n", END_EXIT, 0, "unknown | unknown"},
                {"sat\n(error \"one question at a time\")\n", END_EXIT, 0, "sat | error"},
                {"sat\n(:reason-unknown \"an error\")\n", END_EXIT, 0, "sat | unknown"},
                {"sat\n(error \"out of memory\")\n", END_EXIT, 1, "sat | memout"},
                {"sat\n", END_SIGNAL, 11, "sat | crash"},
                {"sat\nterminate: std::bad_alloc\n", END_SIGNAL, 6, "sat | memout"},
                {"sat\n", END_TIMEOUT, 0, "sat | timeout"},
                {"sat\n", END_MEMORY, 0, "sat | memout"},
                {"sat\n", END_OUTPUT, 0, "sat | error"},
                {"sat\n(error \"no model\")\nunsat\n", END_EXIT, 1, "sat unsat | unsat"}, /* all are answered */
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct execute_result r = printed(rows[i].out);

                r.end = rows[i].end;
                r.code = rows[i].code;
                ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), rows[i].verdicts);
        }
}
END_TEST

/* The run's verdict stays; a campaign, which would claim a fault from it, does not believe it. */
START_TEST(test_an_answer_after_an_error_is_marked)
{
        static const struct {
                const char *out;
                int is_after_error;
        } rows[] = {
                {"sat\nsat\n", 0},
                {"sat\n(error \"line 7: not a difference\")\nsat\n", 1},
                {"sat\nunsat\n(error \"there is no model\")\n", 0},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct execute_result r = printed(rows[i].out);
                struct verdicts v;

                verdict_read(FORMAT_SMT2, 2, &r, &v);
                ck_assert_msg((v.n_certain < v.n) == rows[i].is_after_error && v.is_answer, "%s", rows[i].out);
                verdicts_done(&v);
        }
}
END_TEST

START_TEST(test_answers_that_were_cut_away_are_not_missing)
{
        struct execute_result r = printed("sat\nun\n[... 99 bytes cut ...]\nsat\nunsat\n");

        r.out_cut = strlen("sat\nun");
        ck_assert_str_eq(read_of(FORMAT_SMT2, 20, &r), "sat | unsat");
}
END_TEST

START_TEST(test_answers_behind_the_cut_have_no_place)
{
        struct execute_result r = printed("sat\nsat\ns\n[... 9 bytes cut ...]\nnsat\nunsat\n");
        const enum verdict expected[] = {VERDICT_SAT, VERDICT_SAT, VERDICT_SAT, VERDICT_UNSAT, VERDICT_UNSAT};
        struct verdicts v;

        r.out_cut = strlen("sat\nsat\ns");
        verdict_read(FORMAT_SMT2, 5, &r, &v);
        ck_assert(v.n == 2 && v.last == VERDICT_UNSAT && !v.is_answer);
        ck_assert(!verdict_is_wrong(&v, expected, 5));
        verdicts_done(&v);
        ck_assert_str_eq(read_of(FORMAT_SMT2, 3, &r), "sat sat unsat | unsat"); /* none is missing */
        ck_assert_str_eq(read_of(FORMAT_SMT2, 2, &r), "sat sat | error");
        r.end = END_TIMEOUT;
        ck_assert_str_eq(read_of(FORMAT_SMT2, 5, &r), "sat sat | timeout");
}
END_TEST

SUITE("verdict", test_names, test_lines_before_the_first_answer, test_several_answers, test_nul_bytes_are_no_answer,
      test_cut_lines_are_no_answer, test_dimacs, test_ends,
      test_an_answer_counts_more_than_a_guess, test_own_words_of_running_out_of_memory, test_wrong, test_certain_answers,
      test_more_answers_than_questions, test_fewer_answers_than_questions, test_an_answer_after_an_error_is_marked,
      test_answers_that_were_cut_away_are_not_missing, test_answers_behind_the_cut_have_no_place)
