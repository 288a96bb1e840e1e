/* Known results of runs: facts by their keys, and the cases with facts. */
#include "core/run/fact_query.h"
#include "core/query/answers.h"
#include "core/query/machines.h"
#include "core/query/query_internal.h"
#include "core/query/same_program.h"

static int find_programs(struct workspace *w, const struct digest *build, const struct cell *cell, struct resolved_cell *ret)
{
        int r = 0;

        if (cell->machine)
                return machine_programs(w, cell, &ret->programs, &ret->n_programs);
        if (build)
                ret->build = *build;
        else
                r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &ret->build);
        ret->programs = r == 0 ? allocate(1, sizeof(*ret->programs)) : NULL;
        if (r == 0)
                r = build_program_find(w, &ret->build, ret->programs);
        ret->n_programs = r == 0;
        return r == -ENOENT ? 0 : r;
}

int cell_resolve(struct workspace *w, const struct cell *cell, const struct digest *build, struct resolved_cell *ret)
{
        char machine[PATH_SIZE];

        *ret = (struct resolved_cell){.knows_machine = cell_machine(cell, machine)};
        run_setting_digest(cell, &ret->setting);
        cell_limits(cell, &ret->limits);
        if (cell->machine) { /* results count whatever the memory limit there */
                ret->limits.memory = 0;
                ret->any_limits = cell->wall_ns == 0 && cell->cpu_ns == 0;
        }
        return find_programs(w, build, cell, ret);
}

void resolved_done(struct resolved_cell *r)
{
        free(r->programs);
        *r = (struct resolved_cell){0};
}

void resolved_run_key(const struct resolved_cell *r, const struct case_info *info, uint8_t ret[RUN_KEY_SIZE])
{
        join_run_key(&r->programs[0], &info->sha256, &r->setting, ret);
}

int run_key(struct workspace *w, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        cleanup_resolved struct resolved_cell resolved = {0};
        int r = cell_resolve(w, cell, NULL, &resolved);

        if (r == 0 && resolved.n_programs == 0)
                r = -ENOENT;
        if (r == 0)
                resolved_run_key(&resolved, cell->info, ret);
        return r;
}

/* -- facts: of one run, or of all runs of a program ---------------------------------------------------------------- */

struct reading {
        const struct digest *setting;
        const struct recipe_limits *asked; /* NULL: any; a case's last fact is then its answer */
        bool brief, keys_only; /* keys_only: calls fn for each fact, with NULL for it */
        program_run_fn fn;
        void *user;
        struct digest sha256; /* of the case at hand */
        struct fact *found;   /* a ref; the case's answer so far */
};

static struct reading reading_of(const struct resolved_cell *r, bool brief, program_run_fn fn, void *user)
{
        return (struct reading){.setting = &r->setting, .asked = r->any_limits ? NULL : &r->limits, .brief = brief, .fn = fn, .user = user};
}

/* Calls fn with the answer of the case at hand, if one was found. */
static int give_found(struct reading *r)
{
        cleanup(fact_unrefp) struct fact *f = steal_pointer(r->found);

        if (f && r->asked)
                fact_clamp(f, r->asked);
        return f ? r->fn(r->user, &r->sha256, f) : 0;
}

/* A case's answer is the fact of exactly the limits, else the first one that covers them; if any limits will do, the last one. */
static bool may_replace_found(const struct reading *r, struct slice key)
{
        uint8_t exact[FACT_KEY_SIZE];

        if (!r->found || !r->asked)
                return true;
        fact_key(key.data, r->asked, exact);
        return key.size == FACT_KEY_SIZE && memcmp(key.data, exact, FACT_KEY_SIZE) == 0;
}

static bool covers(const struct reading *r, const struct fact *f)
{
        struct recipe_limits asked = *r->asked;

        if (asked.memory == 0 && f->verdict == VERDICT_MEMOUT) /* a named machine, where a memout counts under any limit */
                asked.memory = f->limits.memory;
        return fact_covers(f, &asked);
}

/* Takes the facts in the order of keys: those of a case together, by limits. The answer of a case is given when the next case begins, that of the last
 * one by the caller. */
static int read_row(struct reading *r, struct slice key, struct slice value)
{
        const uint8_t *bytes = key.data;
        struct fact *f;
        int e = 0;

        if (key.size < RUN_KEY_SIZE || memcmp(bytes + 2 * DIGEST_SIZE, r->setting->bytes, DIGEST_SIZE) != 0)
                return 0;
        if (r->keys_only) {
                memcpy(r->sha256.bytes, bytes + DIGEST_SIZE, DIGEST_SIZE);
                return r->fn(r->user, &r->sha256, NULL);
        }
        if (r->found && memcmp(bytes + DIGEST_SIZE, r->sha256.bytes, DIGEST_SIZE) != 0)
                e = give_found(r);
        if (e != 0 || !may_replace_found(r, key) || fact_decode(value, r->brief, &f) < 0) /* an unreadable fact is measured again */
                return e;
        if (r->asked && !covers(r, f)) {
                fact_unref(f);
                return 0;
        }
        fact_unref(r->found);
        r->found = f;
        memcpy(r->sha256.bytes, bytes + DIGEST_SIZE, DIGEST_SIZE);
        return 0;
}

/* Reads the facts under each digest of the program. `sha256`: of one case; NULL: of all cases. */
static int read_program(struct store_txn *t, const struct digest *program, const struct digest *sha256, struct reading *reading)
{
        const struct digest none = {{0}};
        cleanup_free struct digest *others = NULL;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i <= n; i++) {
                uint8_t run[RUN_KEY_SIZE];
                cleanup_walk struct store_walk w = {
                        .txn = t, .table = TABLE_FACTS, .prefix = SLICE(run, sha256 ? RUN_KEY_SIZE : DIGEST_SIZE), .keys_only = reading->keys_only};

                join_run_key(i == 0 ? program : &others[i - 1], sha256 ?: &none, reading->setting, run);
                while (r == 0 && (r = store_walk(&w)) > 0)
                        r = read_row(reading, w.key, w.value);
                if (r == 0)
                        r = give_found(reading);
                if (r == 0 && i == 0)
                        r = program_others(t, program, &others, &n);
        }
        reading->found = fact_unref(reading->found);
        return r;
}

int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        struct recipe_limits limits;
        struct digest setting;
        int r = store_read(workspace_store(w), &t);

        run_setting_digest(cell, &setting);
        cell_limits(cell, &limits);
        return r < 0 ? r : read_program(t, program, NULL, &(struct reading){.setting = &setting, .asked = &limits, .brief = true, .fn = fn, .user = user});
}

int fact_for_case(struct fact **f, const struct case_info *info)
{
        cleanup(fact_unrefp) struct fact *whole = *f;

        *f = NULL;
        if (info->query > 0)
                return fact_of_query(whole, info->query, f);
        *f = steal_pointer(whole);
        return 0;
}

static int take_fact(void *user, const struct digest *, struct fact *f)
{
        *(struct fact **)user = fact_ref(f);
        return 1;
}

int resolved_find_in(struct store_txn *t, const struct resolved_cell *resolved, const struct case_info *info, bool brief, struct fact **ret)
{
        struct reading reading = reading_of(resolved, brief, take_fact, ret);
        int r = 0;

        for (size_t i = 0; i < resolved->n_programs && r == 0; i++)
                r = read_program(t, &resolved->programs[i], &info->sha256, &reading);
        if (r == 1)
                r = fact_for_case(ret, info);
        else if (r == 0)
                r = -ENOENT;
        if (r == 0)
                answers_judge(*ret, info);
        return r;
}

int resolved_find(struct workspace *w, const struct resolved_cell *resolved, const struct case_info *info, bool brief, struct fact **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = resolved->n_programs > 0 ? store_read(workspace_store(w), &t) : -ENOENT;

        return r < 0 ? r : resolved_find_in(t, resolved, info, brief, ret);
}

int run_find_built(struct workspace *w, const struct cell *cell, const struct digest *build, bool brief, struct fact **ret)
{
        cleanup_resolved struct resolved_cell resolved = {0};

        return cell_resolve(w, cell, build, &resolved) ?: resolved_find(w, &resolved, cell->info, brief, ret);
}

int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret)
{
        return run_find_built(w, cell, NULL, brief, ret);
}

/* -- cases with facts ---------------------------------------------------------------------------------------------- */

static int add_case(void *user, const struct digest *sha256, struct fact *)
{
        digest_list_add(user, sha256->bytes);
        return 0;
}

static int compare_cases(const void *a, const void *b)
{
        const struct case_info *const *x = a, *const *y = b;

        return compare_u32(&(*x)->id, &(*y)->id);
}

int resolved_digests(struct workspace *w, const struct resolved_cell *resolved, bool any, struct digest_list *ret)
{
        struct reading reading = reading_of(resolved, true, add_case, ret);
        cleanup_txn struct store_txn *t = NULL;
        int r = resolved->n_programs > 0 ? store_read(workspace_store(w), &t) : 0;

        reading.keys_only = any;
        for (size_t i = 0; i < resolved->n_programs && r == 0; i++)
                r = read_program(t, &resolved->programs[i], NULL, &reading);
        digest_list_sort(ret);
        return r;
}

int resolved_cases(struct workspace *w, const struct resolved_cell *resolved, bool any, struct case_memo *memo, struct case_selection *ret)
{
        cleanup_digests struct digest_list found = {0};
        int r = resolved_digests(w, resolved, any, &found);

        ret->list = allocate(found.n + 1, sizeof(*ret->list));
        for (size_t i = 0; r == 0 && i < found.n; i++) {
                const struct digest *d = &found.list[i];
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (i > 0 && digest_equal(d, d - 1)) /* the same case, with another fact or under another digest of the program */
                        continue;
                if ((memo ? case_memo_find(memo, d, &info) : cases_find_digest(workspace_cases(w), d, &info)) == 0 && !info->removed)
                        ret->list[ret->n++] = steal_pointer(info);
        }
        sort_list(ret->list, ret->n, sizeof(*ret->list), compare_cases);
        return r;
}

int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup_case_selection struct case_selection known = {0};
        cleanup_resolved struct resolved_cell resolved = {0};
        int r = cell_resolve(w, cell, NULL, &resolved) ?: resolved_cases(w, &resolved, false, NULL, &known);

        *ret_ids = allocate(known.n + 1, sizeof(**ret_ids));
        for (*ret_n = 0; r == 0 && *ret_n < known.n; ++*ret_n)
                (*ret_ids)[*ret_n] = known.list[*ret_n]->id;
        return r;
}
