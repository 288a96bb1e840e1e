/* A portfolio's tables: its arms, the order of a trial, the score against each arm and the virtual best. */
#include "core/portfolio/portfolio_internal.h"

#include <math.h>

#include "core/report/plot.h"

static void print_problem(struct workspace *w, const struct portfolio *p, size_t arm, struct buffer *ret)
{
        cleanup_free char *why = NULL;

        if (p->arms[arm].problem) {
                buffer_add_printable(ret, p->arms[arm].problem);
        } else if (arm_was_wrong(w, p, arm, &why) == 0) {
                buffer_adds(ret, "asked no more until the portfolio is reset: wrong on ");
                buffer_add_printable(ret, why);
        } else {
                buffer_adds(ret, "-");
        }
        buffer_adds(ret, "\n");
}

int portfolio_print_arms(struct workspace *w, const struct portfolio *p, struct buffer *ret)
{
        buffer_adds(ret, "arm\tkind\twhat\tseed\tproblem\n");
        for (size_t i = 0; i < p->n_arms; i++) {
                const struct arm *a = &p->arms[i];

                buffer_add_printable(ret, a->name);
                buffer_adds(ret, a->solver ? "\tsolver\t" : "\tcommand\t");
                if (a->solver && !a->problem)
                        buffer_addf(ret, "%s %s", a->solver->recipe->name, full_sha(a->solver, a->commit).s);
                else
                        buffer_add_printable(ret, a->text);
                if (a->has_seed)
                        buffer_addf(ret, "\t%llu\t", (unsigned long long)a->seed);
                else
                        buffer_adds(ret, "\t-\t");
                print_problem(w, p, i, ret);
        }
        return buffer_error(ret);
}

static const char *ending_name(const struct trial_run *run)
{
        switch (run->attempt.ending) {
        case ENDING_NONE:
                return "-";
        case ENDING_STOPPED:
                return "stopped";
        case ENDING_SOLVED:
        case ENDING_FAILED:
                return verdict_name(run->verdict);
        }
        return "-";
}

/* A row for each turn. An arm's earlier turns were stopped at their ends; its time and result stand at its last one. */
static void print_order(const struct portfolio *p, const struct trial *t, struct buffer *ret)
{
        buffer_adds(ret, "turn\tarm\tuntil\tran\tresult\n");
        for (size_t i = 0; i < t->n_turns; i++) {
                const struct step *turn = &t->turns[i];
                const struct trial_run *run = &t->runs[turn->arm];
                bool last = true;

                for (size_t k = i + 1; k < t->n_turns; k++)
                        last &= t->turns[k].arm != turn->arm;
                buffer_addf(ret, "%zu\t", i + 1);
                buffer_add_printable(ret, turn->arm < p->n_arms ? p->arms[turn->arm].name : "?");
                buffer_addf(ret, "\t%.6f\t%.6f\t%s%s%s\n", turn->until, last ? run->attempt.seconds : turn->until,
                            last ? ending_name(run) : "stopped", last && run->known ? " (known)" : "",
                            last && run->attempt.ending == ENDING_FAILED && verdict_is_decided(run->verdict) ? " (not taken)" : "");
        }
}

void trial_print(const struct portfolio *p, const struct trial *t, enum trial_file file, struct buffer *ret)
{
        switch (file) {
        case TRIAL_RESULT:
                buffer_addf(ret, "%s\n", verdict_name(t->verdict));
                return;
        case TRIAL_TIME:
                buffer_addf(ret, "%.6f\n", t->seconds);
                return;
        case TRIAL_SOLVER:
                buffer_add_printable(ret, t->winner < p->n_arms ? p->arms[t->winner].name : "none");
                buffer_adds(ret, "\n");
                return;
        case TRIAL_ORDER:
                print_order(p, t, ret);
                return;
        }
}

/* -- the score --------------------------------------------------------------------------------------------------- */

struct scored { /* a case that the portfolio answered */
        double *par2; /* owned: of each arm (NaN: not known), then of the virtual best and of the portfolio */
        char *alarm;  /* owned; NULL: nothing contradicts its answer, or that of an arm whose answer was not taken */
        bool first_was_best, comparable; /* comparable: every arm is known */
        bool is_taken_back;
};

struct score {
        double limit;
        size_t best, own; /* columns of `par2` after those of the arms */
        struct trial_list trials;
        struct scored *cases;
};

static void score_done(struct score *s)
{
        for (size_t i = 0; s->cases && i < s->trials.n; i++) {
                free(s->cases[i].par2);
                free(s->cases[i].alarm);
        }
        free(s->cases);
        trial_list_done(&s->trials);
}

struct standing { /* of a column, over the cases where it is known */
        double par2;
        size_t solved, cases;
};

static struct standing stand(const struct score *s, size_t column, bool only_comparable)
{
        struct standing ret = {0};

        for (size_t i = 0; i < s->trials.n; i++) {
                double par2 = s->cases[i].par2[column];

                if (isnan(par2) || (only_comparable && !s->cases[i].comparable))
                        continue;
                ret.par2 += par2;
                ret.solved += par2 < 2 * s->limit;
                ret.cases++;
        }
        return ret;
}

/* True if the arm cannot run on the case. Then it fails at once. */
static bool fails_at_once(const struct arm *a, const struct case_info *info)
{
        return a->problem || (info && a->recipe && !recipe_takes(a->recipe, info->format));
}

/* PAR-2 of each arm; a wrong or contradicted answer solves nothing. NaN: the arm's run alone is not known to its end. `info`: NULL if the case is gone. */
static void score_arms(struct workspace *w, const struct portfolio *p, const struct trial *t, const struct case_info *info, double limit, struct scored *c)
{
        cleanup_free struct trial_run *answers = info ? answers_known(w, p, info, t) : NULL;

        for (size_t a = 0; a < p->n_arms; a++) {
                struct trial_run fact = {0};
                const struct attempt *run;
                cleanup_free char *why = NULL;
                bool is_solved;

                if (info)
                        arm_known(w, p, &p->arms[a], info, &fact);
                run = fact.attempt.ending != ENDING_NONE ? &fact.attempt : &t->runs[a].attempt; /* the trial's run if it came to its end */
                is_solved = run->ending == ENDING_SOLVED && !fails_at_once(&p->arms[a], info);
                if (is_solved && info)
                        is_solved = answer_judge(w, p, info, a, answers, a == t->winner ? &c->alarm : &why) == JUDGED_STANDS;
                c->par2[a] = is_solved ? run->seconds : 2 * limit;
                if (!fails_at_once(&p->arms[a], info) &&
                    (run->ending == ENDING_NONE || (run->ending == ENDING_STOPPED && run->seconds < limit * (1 - 1e-9)) ||
                     (!fact.known && t->runs[a].verdict == VERDICT_MEMOUT))) /* the other arms may have held the memory */
                        c->par2[a] = NAN;
        }
}

static void score_case(struct workspace *w, const struct portfolio *p, const struct score *s, const struct trial *t, struct scored *c)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        uint32_t first = t->n_turns > 0 ? t->turns[0].arm : 0;
        double best = 2 * s->limit;

        c->par2 = allocate(s->own + 1, sizeof(*c->par2));
        c->alarm = *t->alarm && t->n_turns > 0 ? copy_string(t->alarm) : NULL; /* without a turn: no arm was left, which older versions called an alarm */
        cases_get(workspace_cases(w), t->case_id, &info);
        score_arms(w, p, t, info, s->limit, c);
        c->is_taken_back = info && t->winner < p->n_arms && !trial_stands(w, p, info, t);
        c->comparable = true;
        for (size_t a = 0; a < p->n_arms; a++) {
                c->comparable &= !isnan(c->par2[a]);
                best = fmin(best, c->par2[a]); /* ignores NaN */
        }
        c->first_was_best = first < p->n_arms && c->par2[first] <= best && best < 2 * s->limit;
        c->par2[s->best] = best;
        c->par2[s->own] = t->winner < t->n_arms && !c->is_taken_back ? t->seconds : 2 * s->limit;
}

static int score_all(struct workspace *w, const struct portfolio *p, struct score *s)
{
        size_t n = 0;
        int r = trials_read(w, p, 0, &s->trials);

        if (r < 0)
                return r;
        for (size_t i = 0; i < s->trials.n; i++) /* another number of arms would be another epoch */
                if (s->trials.list[i]->n_arms == p->n_arms)
                        s->trials.list[n++] = s->trials.list[i];
                else
                        trial_free(s->trials.list[i]);
        s->trials.n = n;
        s->limit = (double)p->wall_ns / NSEC_PER_SEC;
        s->best = p->n_arms;
        s->own = p->n_arms + 1;
        s->cases = allocate(n, sizeof(*s->cases));
        for (size_t i = 0; i < n; i++)
                score_case(w, p, s, s->trials.list[i], &s->cases[i]);
        return 0;
}

static void print_standing(const char *what, struct standing s, double best, struct buffer *ret)
{
        buffer_add_printable(ret, what);
        buffer_addf(ret, "\t%zu\t%.3f\t%zu\t", s.cases, s.par2, s.solved);
        if (s.cases > 0 && s.par2 > 0)
                buffer_addf(ret, "%.4f\n", best / s.par2);
        else
                buffer_adds(ret, "-\n");
}

/* All lines cover the cases where every arm is known. The parallel portfolio (MedleySolver, section 6.2) runs all arms at once on a core each, so it
 * costs the virtual best's time for each arm. */
int portfolio_print_score(struct workspace *w, const struct portfolio *p, struct buffer *ret)
{
        cleanup(score_done) struct score s = {0};
        struct standing best, all;
        size_t first_best = 0, alarms = 0;
        double parallel = 0;
        int r = score_all(w, p, &s);

        if (r < 0)
                return r;
        for (size_t i = 0; i < s.trials.n; i++) {
                const struct scored *c = &s.cases[i];

                parallel += c->comparable ? c->par2[s.best] * (double)p->n_arms : 0;
                first_best += c->comparable && c->first_was_best;
                alarms += c->alarm != NULL;
        }
        best = stand(&s, s.best, true);
        all = stand(&s, s.own, false);
        buffer_adds(ret, "what\tcases\tpar2\tsolved\tshare-of-virtual-best\n");
        print_standing("portfolio", stand(&s, s.own, true), best.par2, ret);
        print_standing("virtual best", best, best.par2, ret);
        for (size_t a = 0; a < p->n_arms; a++) {
                cleanup_free char *name = format_string("only %s", p->arms[a].name);

                print_standing(name, stand(&s, a, true), best.par2, ret);
        }
        buffer_addf(ret, "parallel portfolio\t%zu\t%.3f\t%zu\t-\n", best.cases, parallel, best.solved);
        buffer_addf(ret, "# first arm was the best one on %zu of %zu\n", first_best, best.solved);
        buffer_addf(ret, "# answered in all: %zu cases, par2 %.3f, solved %zu; alone, arms are known on:", all.cases, all.par2, all.solved);
        for (size_t a = 0; a < p->n_arms; a++)
                buffer_addf(ret, " %zu", stand(&s, a, false).cases);
        buffer_addf(ret, "\n# limit %g s; soundness alarms: %zu\n# par2: seconds, the sum over the cases\n", s.limit, alarms);
        buffer_adds(ret, "# parallel portfolio: CPU seconds of all arms at once: the virtual best's par2 times the number of arms\n");
        for (size_t i = 0; i < s.trials.n; i++)
                if (s.cases[i].alarm)
                        buffer_addf(ret, "# alarm: case %u: %s\n", s.trials.list[i]->case_id, s.cases[i].alarm);
        for (size_t i = 0; i < s.trials.n; i++)
                if (s.cases[i].is_taken_back)
                        buffer_addf(ret, "# taken back: case %u: %s said %s; it is asked anew\n", s.trials.list[i]->case_id,
                                    p->arms[s.trials.list[i]->winner].name, verdict_name(s.trials.list[i]->verdict));
        return buffer_error(ret);
}

/* MedleySolver, figure 5: the cumulative PAR-2 over the queries in order. */
int portfolio_plot_score(struct workspace *w, const struct portfolio *p, struct buffer *ret)
{
        cleanup(score_done) struct score s = {0};
        cleanup_plot struct plot *plot = NULL;
        size_t comparable = 0;
        int r = score_all(w, p, &s);

        if (r < 0)
                return r;
        plot = plot_new(p->name, 0, 0);
        plot_axis_x(plot, "cases seen", PLOT_COUNT);
        plot_axis_y(plot, "PAR-2 so far, seconds", PLOT_LINEAR);
        for (size_t column = 0; column <= s.own; column++) {
                const char *name = column == s.own ? "portfolio" : column == s.best ? "virtual best" : p->arms[column].name;
                struct plot_series *series = plot_series(plot, PLOT_LINE, name);
                double sum = 0;

                comparable = 0;
                for (size_t i = 0; i < s.trials.n; i++)
                        if (s.cases[i].comparable)
                                plot_point(series, (double)++comparable, sum += s.cases[i].par2[column], NULL);
        }
        if (comparable < s.trials.n)
                plot_note(plot, "cases on which an arm is not known alone are left out");
        plot_write(plot, ret);
        return 0;
}
