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

/* -- pigeons ---------------------------------------------------------------------------------------------------- */

static unsigned variable(unsigned holes, unsigned pigeon, unsigned hole)
{
        return pigeon * holes + hole + 1;
}

static void pigeons_cnf(unsigned holes, struct buffer *ret)
{
        const unsigned pigeons = holes + 1;

        buffer_addf(ret, "p cnf %u %u\n", pigeons * holes, pigeons + holes * (pigeons * (pigeons - 1) / 2));
        for (unsigned p = 0; p < pigeons; p++) {
                for (unsigned h = 0; h < holes; h++)
                        buffer_addf(ret, "%u ", variable(holes, p, h));
                buffer_adds(ret, "0\n");
        }
        for (unsigned h = 0; h < holes; h++)
                for (unsigned p = 0; p < pigeons; p++)
                        for (unsigned q = p + 1; q < pigeons; q++)
                                buffer_addf(ret, "-%u -%u 0\n", variable(holes, p, h), variable(holes, q, h));
}

static void pigeons_smt2(unsigned holes, const char *logic, struct buffer *ret)
{
        const unsigned pigeons = holes + 1;

        buffer_addf(ret, "(set-logic %s)\n", logic);
        for (unsigned v = 1; v <= pigeons * holes; v++)
                buffer_addf(ret, "(declare-fun p%u () Bool)\n", v);
        for (unsigned p = 0; p < pigeons; p++) {
                buffer_adds(ret, "(assert (or");
                for (unsigned h = 0; h < holes; h++)
                        buffer_addf(ret, " p%u", variable(holes, p, h));
                buffer_adds(ret, "))\n");
        }
        for (unsigned h = 0; h < holes; h++)
                for (unsigned p = 0; p < pigeons; p++)
                        for (unsigned q = p + 1; q < pigeons; q++)
                                buffer_addf(ret, "(assert (or (not p%u) (not p%u)))\n", variable(holes, p, h), variable(holes, q, h));
        buffer_adds(ret, "(check-sat)\n");
}

void formula_pigeons(unsigned holes, const char *logic, struct buffer *ret)
{
        if (logic)
                pigeons_smt2(holes, logic, ret);
        else
                pigeons_cnf(holes, ret);
}
