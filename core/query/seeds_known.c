#include "core/query/seeds_known.h"

#include "core/workspace/names.h"
#include "core/query/resolved_cell.h"
#include "core/query/scrambled.h"
#include "core/workspace/view.h"

struct known {
        struct workspace *workspace;
        struct cell cell;
        struct digest build; /* the key of the commit's build, which takes long to find */
        bool brief;
        seed_known_fn fn;
        void *user;
};

static int tell(const struct known *k, const struct cell *cell, bool is_scrambled, uint64_t seed)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = run_find_built(k->workspace, cell, &k->build, k->brief, &f);

        return r == -ENOENT ? 0 : r < 0 ? r : k->fn(k->user, is_scrambled, seed, f);
}

/* Tries all seeds under which anything of the solver was measured. */
static int tell_own(const struct known *k)
{
        const bool has_seeds = solver_recipe_at(k->cell.solver, k->cell.commit)->seed;
        cleanup_free uint64_t *seeds = NULL;
        size_t n = 0;
        int r = 0;

        for (uint32_t i = 0; has_seeds && r == 0; i++) {
                cleanup_free char *name = NULL;
                struct view v;

                r = names_name(workspace_store(k->workspace), NAMES_SETTING, i, &name);
                if (r < 0 || !view_parse(name, &v) || v.solver != k->cell.solver->number || v.setting != SETTING_SEED)
                        continue;
                list_add(seeds, n, v.n);
        }
        sort_list(seeds, n, sizeof(*seeds), compare_u64);
        r = r == -ENOENT ? 0 : r;
        for (size_t i = 0; i < n && r == 0; i++) {
                struct cell cell = k->cell;

                cell.has_seed = true;
                cell.seed = seeds[i];
                r = tell(k, &cell, false, seeds[i]);
        }
        return r;
}

static int tell_scrambled(const struct known *k)
{
        cleanup_free struct scrambled_input *list = NULL;
        size_t n = 0;
        int r = scrambled_list(k->workspace, &k->cell.info->sha256, &list, &n);

        for (size_t i = 0; i < n && r == 0; i++) {
                cleanup(case_info_unrefp) struct case_info *input = NULL;
                struct cell cell = k->cell;

                r = scrambled_find(k->workspace, k->cell.info, list[i].seed, &input);
                cell.info = input;
                if (r == 0)
                        r = tell(k, &cell, true, list[i].seed);
                if (r == -ENOENT) /* gc took it */
                        r = 0;
        }
        return r;
}

int seeds_known(struct workspace *w, const struct cell *cell, bool brief, seed_known_fn fn, void *user)
{
        struct known k = {.workspace = w, .cell = *cell, .brief = brief, .fn = fn, .user = user};
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &k.build);

        k.cell.has_seed = false;
        k.cell.seed = k.cell.scramble = 0;
        if (r == 0)
                r = tell_own(&k);
        return r == 0 ? tell_scrambled(&k) : r;
}

int draws_known(struct workspace *w, const struct cell *cell, const struct digest *build, uint32_t most, bool brief, sample_fn fn, void *user)
{
        const bool has_seeds = solver_recipe_at(cell->solver, cell->commit)->seed;
        int r = has_seeds ? 0 : samples_known(w, cell, brief, fn, user);

        for (uint32_t n = 0; has_seeds && r == 0 && n < most; n++) {
                cleanup(fact_unrefp) struct fact *f = NULL;
                struct cell under = *cell;

                cell_draw(&under, n);
                r = run_find_built(w, &under, build, brief, &f) ?: fn(user, n, f);
        }
        return r == -ENOENT ? 0 : r;
}
