/* Known results of runs: facts by their keys, and the cases that have some. */
#include "core/query/run_finder.h"

#include "core/query/answers.h"
#include "core/query/query_internal.h"
#include "core/query/same_program.h"

struct run_finder {
        struct workspace *workspace;
        struct resolved_cell resolved;
};

int run_finder_open(struct workspace *w, const struct cell *cell, struct run_finder **ret)
{
        struct run_finder *f = allocate(1, sizeof(*f));
        int r = cell_resolve(w, cell, NULL, &f->resolved);

        f->workspace = w;
        if (r < 0)
                run_finder_close(f);
        else
                *ret = f;
        return r;
}

struct run_finder *run_finder_close(struct run_finder *f)
{
        if (f)
                resolved_done(&f->resolved);
        free(f);
        return NULL;
}

/* -- the fact that answers a case -- */

struct fact_search {
        const struct recipe_limits *asked; /* NULL: any */
        bool brief;
        struct fact *found; /* a ref */
};

static int fact_look(void *user, struct slice, struct slice value)
{
        struct fact_search *s = user;
        struct fact *f;

        if (fact_decode(value, s->brief, &f) < 0)
                return 0; /* it will be worked out again */
        if (s->asked && !fact_covers(f, s->asked)) {
                fact_unref(f);
                return 0;
        }
        fact_unref(s->found);
        s->found = f;
        return s->asked != NULL;
}

/* The fact measured under just these limits, else the first one that covers them. */
static int find_under(struct store_txn *t, const uint8_t run[RUN_KEY_SIZE], struct fact_search *search)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[FACT_KEY_SIZE];
        int r = -ENOENT;

        if (search->asked) {
                fact_key(run, search->asked, key);
                r = store_get(t, TABLE_FACTS, SLICE(key, sizeof(key)), &b);
        }
        if (r == 0)
                fact_look(search, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
        if (!search->found && (r == 0 || r == -ENOENT))
                r = store_each(t, TABLE_FACTS, SLICE(run, RUN_KEY_SIZE), SLICE("", 0), true, fact_look, search);
        return r < 0 ? r : 0;
}

/* The same under the digests that a program with several had before, too. */
static int find_under_class(struct store_txn *t, const struct digest *program, uint8_t run[RUN_KEY_SIZE], struct fact_search *search)
{
        cleanup_free struct digest *others = NULL;
        size_t n = 0;
        int r;

        memcpy(run, program->bytes, DIGEST_SIZE);
        r = find_under(t, run, search);
        if (r == 0 && !search->found)
                r = program_others(t, program, &others, &n);
        for (size_t i = 0; r == 0 && !search->found && i < n; i++) {
                memcpy(run, others[i].bytes, DIGEST_SIZE);
                r = find_under(t, run, search);
        }
        return r;
}

int resolved_find_in(struct store_txn *t, const struct resolved_cell *resolved, const struct case_info *info, bool brief, struct fact **ret)
{
        struct fact_search search = {.asked = resolved->any_limits ? NULL : &resolved->limits, .brief = brief};
        uint8_t run[RUN_KEY_SIZE];
        int r = resolved->n_programs > 0 ? 0 : -ENOENT;

        if (r == 0)
                resolved_run_key(resolved, info, run);
        for (size_t i = 0; i < resolved->n_programs && r == 0 && !search.found; i++)
                r = find_under_class(t, &resolved->programs[i], run, &search);
        if (r == 0 && !search.found)
                r = -ENOENT;
        if (r < 0) {
                fact_unref(search.found);
                return r;
        }
        if (search.asked)
                fact_clamp(search.found, search.asked);
        search.found->wrong |= answers_contradict(search.found, info); /* its status may have become known since */
        *ret = search.found;
        return 0;
}

int resolved_find(struct workspace *w, const struct resolved_cell *resolved, const struct case_info *info, bool brief, struct fact **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = resolved->n_programs > 0 ? store_read(workspace_store(w), &t) : -ENOENT;

        return r < 0 ? r : resolved_find_in(t, resolved, info, brief, ret);
}

int run_finder_get(struct run_finder *f, const struct case_info *info, bool brief, struct fact **ret)
{
        return resolved_find(f->workspace, &f->resolved, info, brief, ret);
}

int run_find_built(struct workspace *w, const struct cell *cell, const struct digest *build, bool brief, struct fact **ret)
{
        cleanup_resolved struct resolved_cell resolved = {0};
        int r = cell_resolve(w, cell, build, &resolved);

        return r < 0 ? r : resolved_find(w, &resolved, cell->info, brief, ret);
}

int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret)
{
        return run_find_built(w, cell, NULL, brief, ret);
}

/* -- the cases that have some -- */

struct known {
        const struct run_finder *finder;
        bool answered;        /* by a fact that covers the limits; else whatever is there */
        struct digest_list cases; /* in byte order for each digest of the program, as the table is */
};

static bool is_answer(const struct known *k, struct slice value)
{
        cleanup(fact_unrefp) struct fact *f = NULL;

        return fact_decode(value, true, &f) == 0 && (k->finder->resolved.any_limits || fact_covers(f, &k->finder->resolved.limits));
}

static int known_look(void *user, struct slice key, struct slice value)
{
        struct known *k = user;
        const uint8_t *sha256 = (const uint8_t *)key.data + DIGEST_SIZE;

        if (key.size < RUN_KEY_SIZE ||
            memcmp((const uint8_t *)key.data + 2 * DIGEST_SIZE, k->finder->resolved.setting.bytes, DIGEST_SIZE) != 0)
                return 0;
        if (k->cases.n > 0 && memcmp(k->cases.list[k->cases.n - 1].bytes, sha256, DIGEST_SIZE) == 0) /* another fact of the same cell */
                return 0;
        if (!k->answered || is_answer(k, value))
                digest_list_add(&k->cases, sha256);
        return 0;
}

static int known_under(struct store_txn *t, const struct digest *program, struct known *k)
{
        return store_each(t, TABLE_FACTS, SLICE(program->bytes, DIGEST_SIZE), SLICE("", 0), k->answered, known_look, k);
}

static int known_of_class(struct store_txn *t, const struct digest *program, struct known *k)
{
        cleanup_free struct digest *others = NULL;
        size_t n;
        int r = program_others(t, program, &others, &n);

        if (r == 0)
                r = known_under(t, program, k);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = known_under(t, &others[i], k);
        return r;
}

static int compare_known(const void *a, const void *b)
{
        uint32_t x = ((const struct known_case *)a)->id, y = ((const struct known_case *)b)->id;

        return (x > y) - (x < y);
}

/* In the order of ids, without removed ones and without those known under two digests twice. */
static int known_list(const struct known *k, struct case_memo *memo, struct known_case **ret, size_t *ret_n)
{
        struct cases *cases = workspace_cases(k->finder->workspace);
        struct known_case *list = allocate(k->cases.n + 1, sizeof(*list));
        size_t n = 0;

        for (size_t i = 0; i < k->cases.n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;
                int r = memo ? case_memo_find(memo, &k->cases.list[i], &info) : cases_find_digest(cases, &k->cases.list[i], &info);

                if (r == 0 && !info->removed)
                        list[n++] = (struct known_case){info->id, k->cases.list[i]};
        }
        sort_list(list, n, sizeof(*list), compare_known);
        *ret = list;
        *ret_n = 0;
        for (size_t i = 0; i < n; i++)
                if (i == 0 || list[i].id != list[i - 1].id)
                        list[(*ret_n)++] = list[i];
        return 0;
}

static int find_known(struct run_finder *f, bool answered, struct case_memo *memo, struct known_case **ret, size_t *ret_n)
{
        struct known k = {.finder = f, .answered = answered};
        struct store_txn *t;
        int r;

        *ret = NULL;
        *ret_n = 0;
        if (f->resolved.n_programs == 0)
                return 0;
        r = store_read(workspace_store(f->workspace), &t);
        for (size_t i = 0; i < f->resolved.n_programs && r == 0; i++)
                r = known_of_class(t, &f->resolved.programs[i], &k);
        store_end(t); /* before other tables are asked: transactions do not nest */
        if (r == 0)
                r = known_list(&k, memo, ret, ret_n);
        digest_list_done(&k.cases);
        return r;
}

int run_finder_cases(struct run_finder *f, struct case_memo *memo, struct known_case **ret, size_t *ret_n)
{
        return find_known(f, false, memo, ret, ret_n);
}

int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup(run_finder_closep) struct run_finder *f = NULL;
        cleanup_free struct known_case *list = NULL;
        int r = run_finder_open(w, cell, &f);

        *ret_ids = NULL;
        *ret_n = 0;
        if (r == 0)
                r = find_known(f, true, NULL, &list, ret_n);
        if (r < 0 || *ret_n == 0)
                return r;
        *ret_ids = allocate(*ret_n, sizeof(**ret_ids));
        for (size_t i = 0; i < *ret_n; i++)
                (*ret_ids)[i] = list[i].id;
        return 0;
}
