#include "formulas.h"

static const struct formula_pair smt2_pairs[] = {
        {"QF_UF", "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n",
         "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(assert (not p))\n(check-sat)\n"},
        {"QF_BV", "(set-logic QF_BV)\n(declare-fun x () (_ BitVec 8))\n(assert (= x #x01))\n(check-sat)\n",
         "(set-logic QF_BV)\n(declare-fun x () (_ BitVec 8))\n(assert (= x #x01))\n(assert (= x #x02))\n(check-sat)\n"},
        {"QF_LRA", "(set-logic QF_LRA)\n(declare-fun x () Real)\n(assert (> x 1.0))\n(check-sat)\n",
         "(set-logic QF_LRA)\n(declare-fun x () Real)\n(assert (> x 1.0))\n(assert (< x 0.0))\n(check-sat)\n"},
        {"QF_S", "(set-logic QF_S)\n(declare-fun s () String)\n(assert (= s \"a\"))\n(check-sat)\n",
         "(set-logic QF_S)\n(declare-fun s () String)\n(assert (= s \"a\"))\n(assert (= s \"b\"))\n(check-sat)\n"},
};
static const struct formula_pair cnf_pairs[] = {{NULL, "p cnf 1 1\n1 0\n", "p cnf 1 2\n1 0\n-1 0\n"}};

const struct formula_pair *formula_pairs(enum format format, size_t *ret_n)
{
        *ret_n = format == FORMAT_CNF ? ARRAY_SIZE(cnf_pairs) : ARRAY_SIZE(smt2_pairs);
        return format == FORMAT_CNF ? cnf_pairs : smt2_pairs;
}

int formula_pair_try(const struct formula_pair *pair, formula_run run, void *user, enum verdict *ret_truth, struct run_result *ret)
{
        const char *const texts[] = {pair->sat, pair->unsat};
        bool is_right = true;

        for (size_t i = 0; is_right && i < ARRAY_SIZE(texts); i++) {
                int r;

                run_result_done(ret);
                *ret = (struct run_result){0};
                *ret_truth = i == 0 ? VERDICT_SAT : VERDICT_UNSAT;
                r = run(user, texts[i], ret);
                if (r < 0)
                        return r;
                is_right = ret->verdict == *ret_truth;
        }
        return is_right;
}

static unsigned variable(unsigned holes, unsigned pigeon, unsigned hole)
{
        return pigeon * holes + hole + 1;
}

struct notation {
        const char *clause, *end;
        const char *positive[2], *negative[2]; /* the text before and behind a variable's number */
};

static void add_literal(const char *const sign[2], unsigned v, struct buffer *ret)
{
        buffer_addf(ret, "%s%u%s", sign[0], v, sign[1]);
}

/* Each pigeon is in a hole, and no two are in the same. */
static void add_clauses(unsigned holes, const struct notation *n, struct buffer *ret)
{
        for (unsigned p = 0; p <= holes; p++) {
                buffer_adds(ret, n->clause);
                for (unsigned h = 0; h < holes; h++)
                        add_literal(n->positive, variable(holes, p, h), ret);
                buffer_adds(ret, n->end);
        }
        for (unsigned h = 0; h < holes; h++)
                for (unsigned p = 0; p <= holes; p++)
                        for (unsigned q = p + 1; q <= holes; q++) {
                                buffer_adds(ret, n->clause);
                                add_literal(n->negative, variable(holes, p, h), ret);
                                add_literal(n->negative, variable(holes, q, h), ret);
                                buffer_adds(ret, n->end);
                        }
}

void formula_pigeons(unsigned holes, const char *logic, struct buffer *ret)
{
        static const struct notation cnf = {"", "0\n", {"", " "}, {"-", " "}}, smt2 = {"(assert (or", "))\n", {" p", ""}, {" (not p", ")"}};
        const unsigned pigeons = holes + 1, variables = pigeons * holes;

        if (!logic) {
                buffer_addf(ret, "p cnf %u %u\n", variables, pigeons + holes * (pigeons * (pigeons - 1) / 2));
                add_clauses(holes, &cnf, ret);
                return;
        }
        buffer_addf(ret, "(set-logic %s)\n", logic);
        for (unsigned v = 1; v <= variables; v++)
                buffer_addf(ret, "(declare-fun p%u () Bool)\n", v);
        add_clauses(holes, &smt2, ret);
        buffer_adds(ret, "(check-sat)\n");
}
