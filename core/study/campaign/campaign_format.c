/* A campaign is of SMT-LIB or of DIMACS. The recipe says which, but a recipe of programs takes both. */
#include "core/study/campaign/campaign_internal.h"

#define ASKED_SECONDS 10

/* Does the target answer a formula of this format, which is satisfiable? */
static int answers(struct campaign *c, enum format format, bool *ret)
{
        static const char *const formulas[] = {[FORMAT_SMT2] = "(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n",
                                               [FORMAT_CNF] = "p cnf 1 1\n1 0\n"};
        struct recipe_limits limits = c->versions[c->n_compared - 1]->solver->recipe->limits;
        struct bench_seat seat = BENCH_SEAT(c);
        struct run_result result = {0};
        int r;

        c->format = format;
        limits.wall_ns = limits.cpu_ns = ASKED_SECONDS * NSEC_PER_SEC;
        r = seat_take(&seat);
        if (r == 0)
                r = seat_run(&seat, c->n_compared - 1, 0, &limits, slice_string(formulas[format]), &result);
        *ret = r == 0 && result.verdict == VERDICT_SAT;
        run_result_done(&result);
        seat_leave(&seat);
        return r;
}

/* SMT-LIB, unless the target answers nothing but DIMACS. */
static int ask_target(struct campaign *c)
{
        bool is_answered;
        int r = answers(c, FORMAT_SMT2, &is_answered);

        if (r == 0 && !is_answered)
                r = answers(c, FORMAT_CNF, &is_answered);
        if (r == 0 && !is_answered)
                c->format = FORMAT_SMT2;
        return r;
}

int campaign_choose_format(struct campaign *c)
{
        c->format = c->solver->recipe->format;
        if (c->settings->kind == CAMPAIGN_UNKNOWNS && c->format == FORMAT_CNF)
                return errorf(-EINVAL, "%s takes DIMACS; there are rules for SMT-LIB alone", c->solver->recipe->name);
        if (c->settings->kind == CAMPAIGN_UNKNOWNS)
                c->format = FORMAT_SMT2;
        return c->format == FORMAT_ANY && !c->settings->corpus ? ask_target(c) : 0;
}
