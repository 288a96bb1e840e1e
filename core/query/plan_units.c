/* The units that a build compiles: those that differ from a neighbour that is built, and those that include what differs. */
#include "core/query/plan_internal.h"

/* *ret is the plan's, until three others were listed. */
static int list_files(struct plan *p, uint32_t commit, const struct manifest **ret)
{
        cleanup_buffer struct buffer notes = {0};
        struct listed *slot = &p->listed[0];
        struct commit c;
        int r;

        for (size_t i = 0; i < LISTED; i++) {
                if (p->listed[i].used > 0 && p->listed[i].commit == commit) {
                        p->listed[i].used = ++p->uses;
                        *ret = &p->listed[i].files;
                        return 0;
                }
                if (p->listed[i].used < slot->used)
                        slot = &p->listed[i];
        }
        manifest_done(&slot->files);
        *slot = (struct listed){.commit = commit};
        r = history_commit(p->solver->history, commit, &c);
        if (r == 0)
                r = checkout_list(p->git, &c.oid, p->solver->recipe->sources, p->solver->recipe->submodules, &slot->files,
                                  &notes);
        if (r < 0) {
                manifest_done(&slot->files);
                return r;
        }
        slot->used = ++p->uses;
        *ret = &slot->files;
        return 0;
}

int plan_open_graph(struct plan *p, uint32_t commit)
{
        const struct manifest *files;
        int r = p->git ? 0 : history_repository(p->solver->history, &p->git);

        if (r < 0 || p->graph)
                return r;
        p->counted = calloc(2 * ((size_t)p->order->n + 1), sizeof(*p->counted));
        if (!p->counted)
                return -ENOMEM;
        r = list_files(p, commit, &files);
        return r < 0 ? r : include_graph_new(p->git, files, &p->graph);
}

int plan_count_units(struct plan *p, uint32_t from, uint32_t to, size_t *ret)
{
        const struct manifest *a, *b;
        int r = list_files(p, from, &a);

        if (r == 0)
                r = list_files(p, to, &b);
        return r < 0 ? r : include_graph_changed(p->graph, a, b, ret);
}

static int units_beside(struct plan *p, uint32_t step, uint32_t from, struct counted *c, size_t *ret)
{
        int r = 0;

        if (from == NO_STEP)
                return 0;
        if (!c->is_known || c->from != from)
                r = plan_count_units(p, p->of_step[from], p->of_step[step], &c->units);
        if (r < 0)
                return r;
        *c = (struct counted){.from = from, .is_known = true, .units = c->units};
        *ret = MIN(*ret, c->units);
        return 0;
}

int plan_units_of(struct plan *p, uint32_t step, size_t *ret)
{
        uint32_t before, behind;
        int r;

        *ret = include_graph_units(p->graph);
        plan_neighbours(p, step, &before, &behind);
        r = units_beside(p, step, before, &p->counted[2 * (size_t)step], ret);
        return r < 0 ? r : units_beside(p, step, behind, &p->counted[2 * (size_t)step + 1], ret);
}
