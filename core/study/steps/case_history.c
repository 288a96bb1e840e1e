/* A case's points along the history read from the store, the rows of history.tsv, and the series in which steps are found. */
#include "core/study/steps/case_history.h"

#include <inttypes.h>
#include <math.h>

#include "core/query/cell_answer.h"
#include "core/query/resolved_cell.h"
#include "core/query/seeds_known.h"
#include "core/study/judge/judge.h"

void case_history_done(struct case_history *h)
{
        for (size_t i = 0; i < h->n; i++) {
                fact_unref(h->list[i].fact);
                free(h->list[i].by_seed);
        }
        free(h->list);
        solver_unref(h->solver);
        case_info_unref(h->info);
        *h = (struct case_history){0};
}

/* A brief fact has no output, from which the effort is read. */
static bool is_brief(enum judge_measure m)
{
        return m != JUDGE_EFFORT;
}

struct outcome_list {
        const struct cell *cell;
        enum judge_measure measure;
        struct localize_outcome *list;
        size_t n;
};

static int add_outcome(void *user, uint32_t number, const struct fact *f)
{
        struct outcome_list *l = user;

        list_add(l->list, l->n, fact_outcome(l->cell, f, l->measure));
        return 0;
}

int case_outcomes(struct workspace *w, const struct cell *cell, const struct digest *build, const struct fact *value, enum judge_measure m,
                  struct localize_outcome **ret, size_t *ret_n)
{
        struct outcome_list l = {.cell = cell, .measure = m};
        int r = cell->machine ? 0 : draws_known(w, cell, build, JUDGE_PAIRS, is_brief(m), add_outcome, &l);

        if (r < 0) {
                free(l.list);
                return r;
        }
        if (l.n == 0) /* of a named machine only this fact is known */
                add_outcome(&l, 0, value);
        *ret = l.list;
        *ret_n = l.n;
        return 0;
}

/* Reads a commit's point: its result, or that it cannot be built. 1: it is in *ret, and the time of the result or build in *ret_found. 0: nothing is known
 * of the commit; on a named machine, whose builds are not known, it has no result. */
static int read_point(struct workspace *w, const struct cell *cell, enum judge_measure m, struct case_point *ret, int64_t *ret_found)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest build = {0}; /* of a named machine not needed: its facts are found without builds */
        int r = cell->machine ? 0 : build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);

        if (r == 0)
                r = run_find_built(w, cell, &build, is_brief(m), &f);
        if (r < 0 && r != -ENOENT)
                return r;
        if (r == -ENOENT && (cell->machine || build_find(w, cell->solver, cell->commit, WITHOUT_LOG, &record) < 0 || record->ok))
                return 0;
        *ret_found = f ? fact_moment(f) : record->started;
        *ret = (struct case_point){.commit = cell->commit};
        if (f) {
                r = case_outcomes(w, cell, &build, f, m, &ret->by_seed, &ret->n_seeds);
                if (r < 0)
                        return r;
                ret->fact = steal_pointer(f);
        }
        return 1;
}

int case_history_read(struct workspace *w, const struct cell *cell, const uint32_t *commits, size_t n, const uint32_t *line,
                      size_t n_line, enum judge_measure m, struct case_history *ret)
{
        uint32_t n_commits = history_count(cell->solver->history);
        cleanup_free bool *on_line = allocate(n_commits, sizeof(*on_line));
        struct cell at = *cell;
        int r = 0;

        for (size_t i = 0; i < n_line; i++)
                if (line[i] < n_commits)
                        on_line[line[i]] = true;
        *ret = (struct case_history){.measure = m,
                                     .cpu_ns = cell->cpu_ns,
                                     .solver = solver_ref(cell->solver),
                                     .info = case_info_ref(cell->info),
                                     .newest = cell->info->added};
        for (size_t i = 0; i < n && r >= 0; i++) {
                int64_t found = 0;

                list_grow(ret->list, ret->n);
                at.commit = commits[i];
                r = read_point(w, &at, m, &ret->list[ret->n], &found);
                if (r <= 0)
                        continue;
                ret->list[ret->n++].on_line = !line || (commits[i] < n_commits && on_line[commits[i]]);
                ret->newest = MAX(ret->newest, found);
        }
        return MIN(r, 0);
}

void case_history_heading(struct buffer *ret)
{
        buffer_adds(ret, "commit\tdate\tresult\ttime\tcputime\tmemory\tanswer\n");
}

int case_history_row(const struct case_history *h, size_t i, bool is_disputed, struct buffer *ret)
{
        const struct fact *f = h->list[i].fact;
        char sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        int r = history_commit(h->solver->history, h->list[i].commit, &c);

        if (r < 0)
                return r;
        buffer_addf(ret, "%s\t%s\t", oid_print(sha, sizeof(sha), &c.oid), format_date(c.committed).s);
        cell_results(f, ret);
        buffer_addf(ret, "\t%s\t%s\t%s\t%s\n", f ? format_seconds(f->wall_ns).s : "-", f ? format_seconds(f->cpu_ns).s : "-",
                    f ? format_memory(f->memory).s : "-", f ? cell_check(&(struct cell){.info = h->info}, f, is_disputed) : "-");
        return 0;
}

void case_history_steps(const struct case_history *h, struct steps *ret, size_t **ret_points)
{
        cleanup_free struct step_point *points = allocate(h->n, sizeof(*points));
        size_t n = 0;

        *ret_points = allocate(h->n, sizeof(**ret_points));
        for (size_t i = 0; i < h->n; i++) {
                const struct fact *f = h->list[i].fact;

                /* a solved run of unknown memory is no point of memory */
                if (!f || !h->list[i].on_line || (h->measure == JUDGE_MEMORY && f->memory == 0 && verdict_is_decided(f->verdict)))
                        continue;
                (*ret_points)[n] = i;
                points[n++] = (struct step_point){h->list[i].by_seed, h->list[i].n_seeds};
        }
        steps_find(points, n, ret);
}
