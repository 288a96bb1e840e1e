#include "fs/routes/routes.h"

#include <inttypes.h>

#include "core/run/cell_file.h"

/* -- of the commit -- */

CONTENT(commit_text_content)
{
        enum commit_text which = n->route->kind == KIND_MESSAGE  ? COMMIT_MESSAGE
                                 : n->route->kind == KIND_AUTHOR ? COMMIT_AUTHOR
                                 : n->route->kind == KIND_DATE   ? COMMIT_DATE
                                                                 : COMMIT_CHANGES;

        (void)t;
        return history_text(n->solver->history, n->inode.commit, which, ret);
}

static bool build_is_known(struct tree *t, const struct node *n, uint32_t commit, struct build_record **ret)
{
        return build_find(tree_workspace(t), n->solver, commit, false, ret) == 0;
}

/* In cached/ a parent is shown when there is something to follow the link to. */
static bool parent_visible(struct tree *t, const struct node *dir, uint32_t parent)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        return !dir->view.cached || build_is_known(t, dir, parent, &record);
}

MATCH(parent_match)
{
        cleanup_free uint32_t *parents = NULL;
        uint64_t i;
        size_t n;
        int r;

        if (!parse_name_number(name, INODE_ITEM_MAX, &i))
                return -ENOENT;
        r = history_parents(dir->solver->history, dir->inode.commit, &parents, &n);
        if (r < 0)
                return r;
        if (i < 1 || i > n || !parent_visible(t, dir, parents[i - 1]))
                return -ENOENT;
        ret->inode.item = (uint32_t)i;
        return 0;
}

LIST(parent_entries)
{
        cleanup_free uint32_t *parents = NULL;
        struct inode inode = dir->inode;
        size_t n;
        int r = history_parents(dir->solver->history, dir->inode.commit, &parents, &n);

        inode.kind = KIND_PARENT;
        for (size_t i = from; r == 0 && i < n; i++) {
                char name[24];

                if (!parent_visible(t, dir, parents[i]))
                        continue;
                inode.item = (uint32_t)i + 1;
                snprintf(name, sizeof(name), "%zu", i + 1);
                r = tree_emit(row, name, inode, i, fn, user);
        }
        return r;
}

CONTENT(parent_target)
{
        cleanup_free uint32_t *parents = NULL;
        struct commit c;
        size_t count;
        int r = history_parents(n->solver->history, n->inode.commit, &parents, &count);

        (void)t;
        if (r == 0 && (n->inode.item < 1 || n->inode.item > count))
                r = -ENOENT;
        if (r == 0)
                r = history_commit(n->solver->history, parents[n->inode.item - 1], &c);
        if (r == 0)
                buffer_addf(ret, "../../%s", git_oid_tostr_s(&c.oid));
        return r;
}

/* -- build/ -- */

CONTENT(build_status)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_free char *reason = NULL;
        const char *status = "none";
        uint64_t job;
        int r = build_find(tree_workspace(t), n->solver, n->inode.commit, false, &record);

        if (r < 0 && r != -ENOENT)
                return r;
        if (record)
                status = record->ok ? "ok" : "failed";
        else if (tree_engine(t) && query_build(tree_workspace(t), n->solver, n->inode.commit, &q) == 0) {
                enum job_state state = engine_peek(tree_engine(t), q, &job, &reason);

                status = state == JOB_RUNNING ? "building" : state == JOB_QUEUED ? "queued" : "none";
        }
        buffer_addf(ret, "%s\n", status);
        return 0;
}

CONTENT(build_log)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_find(tree_workspace(t), n->solver, n->inode.commit, true, &record);

        if (r == 0)
                buffer_add(ret, record->log.data, record->log.size);
        return r;
}

int build_log_query(struct tree *t, const struct node *n, struct query **ret)
{
        return query_build(tree_workspace(t), n->solver, n->inode.commit, ret);
}

/* -- bin/. An output's number is that of its name: the recipe may be edited, and its outputs change places. -- */

/* The record's entry for an output; NULL while it is not built, or gone from the store. */
static const struct build_output *output_built(struct tree *t, const struct node *n, const char *name, struct build_record **ret)
{
        if (!build_is_known(t, n, n->inode.commit, ret) || !(*ret)->ok)
                return NULL;
        for (size_t i = 0; i < (*ret)->n_outputs; i++)
                if (strcmp((*ret)->outputs[i].name, name) == 0)
                        return &(*ret)->outputs[i];
        return NULL;
}

/* Built, and not taken away by gc since. */
static bool output_is_kept(struct tree *t, const struct node *n, const char *name)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o = output_built(t, n, name, &record);

        return o && programs_has(workspace_programs(tree_workspace(t)), &o->id);
}

/* cached/ never starts work: what would have to be built again is not shown there. */
static bool output_visible(struct tree *t, const struct node *dir, const char *name)
{
        return !dir->view.cached || output_is_kept(t, dir, name);
}

static int output_number(struct tree *t, const char *name, struct inode *ret)
{
        uint32_t number;
        int r = tree_number(t, NAMES_OUTPUT, name, &number);

        if (r == 0 && number > INODE_ITEM_MAX)
                r = errorf(-EOVERFLOW, "the store has more names of built files than it can number (%u)", INODE_ITEM_MAX);
        if (r == 0)
                ret->item = number;
        return r;
}

/* The name of a file in bin/: -ESTALE when the recipe no longer makes it. */
static int program_name(struct tree *t, const struct node *n, char **ret)
{
        int r = tree_name(t, NAMES_OUTPUT, n->inode.item, ret);

        for (char **o = n->solver->recipe->outputs; r == 0 && *o; o++)
                if (strcmp(basename(*o), *ret) == 0)
                        return 0;
        return r == 0 || r == -ENOENT ? -ESTALE : r;
}

EXISTS(bin_exists)
{
        (void)row;
        for (char **o = dir->solver->recipe->outputs; *o; o++)
                if (output_visible(t, dir, basename(*o)))
                        return true;
        return false;
}

MATCH(program_match)
{
        for (char **o = dir->solver->recipe->outputs; *o; o++)
                if (strcmp(basename(*o), name) == 0)
                        return output_visible(t, dir, name) ? output_number(t, name, &ret->inode) : -ENOENT;
        return -ENOENT;
}

LIST(program_entries)
{
        struct inode inode = dir->inode;
        int r = 0;

        inode.kind = KIND_PROGRAM;
        for (size_t i = 0; r == 0 && dir->solver->recipe->outputs[i]; i++) {
                const char *name = basename(dir->solver->recipe->outputs[i]);

                if (i < from || !output_visible(t, dir, name))
                        continue;
                r = output_number(t, name, &inode);
                if (r == 0)
                        r = tree_emit(row, name, inode, i, fn, user);
        }
        return r;
}

int program_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o = NULL;
        cleanup_free char *name = NULL;
        int r = program_name(t, n, &name);

        if (r < 0)
                return r;
        o = output_built(t, n, name, &record);
        if (!o)
                return -ENOENT;
        *ret = o->size;
        return 0;
}

int program_kept(struct tree *t, const struct node *n)
{
        cleanup_free char *name = NULL;
        int r = program_name(t, n, &name);

        return r < 0 ? r : output_is_kept(t, n, name);
}

int program_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup_free char *name = NULL;
        int r = program_name(t, n, &name);

        return r < 0 ? r : query_program(tree_workspace(t), n->solver, n->inode.commit, name, n->view.cached, ret);
}

/* -- cases/<case>: the cells -- */

/* That a commit cannot be built is the result of all its cells, and nothing else is known of them. */
static bool commit_failed(struct tree *t, const struct node *n)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        return build_is_known(t, n, n->inode.commit, &record) && !record->ok;
}

EXISTS(cell_file_exists)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell;

        (void)row;
        return !dir->view.cached || (tree_cell(t, dir, &cell, &info) == 0 && tree_fact(t, dir, &cell, true, &f) == 0);
}

static int cells_known(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        struct cell cell = {.solver = dir->solver,
                            .commit = dir->inode.commit,
                            .has_seed = dir->view.has_seed,
                            .seed = dir->view.seed,
                            .wall_ns = dir->view.timeout_ns};

        return runs_known(tree_workspace(t), &cell, ret, ret_n);
}

EXISTS(cells_exist)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n;

        (void)row;
        return !dir->view.cached || commit_failed(t, dir) || (cells_known(t, dir, &ids, &n) == 0 && n > 0);
}

MATCH(cell_match)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct node n = *dir;
        struct cell cell;
        uint64_t id;
        int r;

        if (!parse_name_number(name, INODE_ITEM_MAX, &id))
                return -ENOENT;
        n.inode.item = (uint32_t)id;
        r = tree_cell(t, &n, &cell, &info);
        if (r == 0 && info->format != dir->solver->recipe->format)
                r = -ENOENT; /* a SAT solver has no SMT-LIB cells */
        if (r == 0 && dir->view.cached)
                r = tree_fact(t, &n, &cell, true, &f);
        if (r == -ENOENT && info && info->format == dir->solver->recipe->format && dir->view.cached && commit_failed(t, dir))
                r = 0;
        if (r == 0)
                ret->inode.item = (uint32_t)id;
        return r;
}

/* Ids of the cases that this solver takes. */
static int cells_all(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        struct cases *cases = workspace_cases(tree_workspace(t));
        size_t n, kept = 0;
        int r = cases_list(cases, ret, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(cases, (*ret)[i], &info) == 0 && info->format == dir->solver->recipe->format)
                        (*ret)[kept++] = (*ret)[i];
        }
        *ret_n = kept;
        return r;
}

static int cells_shown(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        return dir->view.cached && !commit_failed(t, dir) ? cells_known(t, dir, ret, ret_n) : cells_all(t, dir, ret, ret_n);
}

LIST(cell_entries)
{
        return tree_emit_cases(t, dir, row, from, cells_shown, fn, user);
}

uint64_t cells_listing(struct tree *t, const struct node *)
{
        return cases_generation(workspace_cases(tree_workspace(t))) + 1;
}

/* A commit that cannot be built has a result, and nothing else. */
CONTENT(cell_content)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        enum cell_file file;
        struct cell cell;
        int r = cell_file_find(n->route->name, &file) ? tree_cell(t, n, &cell, &info) : -ENOENT;

        if (r == 0)
                r = tree_fact(t, n, &cell, cell_file_is_brief(file), &f);
        if (r == -ENOENT) {
                if (!build_is_known(t, n, n->inode.commit, &record) || record->ok)
                        return -ENOENT;
                if (file != CELL_RESULT)
                        return errorf(-ENODATA, "the commit cannot be built: %s", record->reason);
                r = 0;
        }
        if (r == 0)
                cell_file_print(f, file, ret);
        return r;
}

/* The later of the commit's and the case's, so that it does not change when the value comes to be; a deliberate re-measurement moves it. */
int cell_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct commit c;
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info);

        if (r == 0)
                r = node_commit(n, &c);
        if (r < 0)
                return r;
        *ret = MAX(commit_mtime(&c), info->added);
        if (tree_fact(t, n, &cell, true, &f) == 0 && f->remeasured > 0)
                *ret = f->remeasured;
        return 0;
}

int cell_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info);

        return r < 0 ? r : query_run(tree_workspace(t), &cell, ret);
}

/* -- seeds/<n> and timeout/<t>: the cells under another setting -- */

EXISTS(seeds_exist)
{
        (void)t, (void)row;
        return dir->solver->recipe->seed != NULL;
}

static int setting_match(struct tree *t, const struct node *dir, const struct view *setting, struct node *ret)
{
        struct node n = *dir;
        int r = tree_view(t, setting, &ret->inode.view);

        if (r < 0 || !dir->view.cached)
                return r;
        n.view = *setting;
        return cells_exist(t, &n, NULL) ? 0 : -ENOENT;
}

MATCH(seed_match)
{
        struct view v = dir->view;

        if (!parse_name_number(name, UINT32_MAX, &v.seed))
                return -ENOENT;
        v.has_seed = true;
        return setting_match(t, dir, &v, ret);
}

/* A limit is one folder, under its shortest name; every other way to write it (60s for 1m) is a link to that. */
static bool timeout_parse(const char *name, uint64_t *ret_ns, char ret_shortest[32])
{
        if (name[0] < '0' || name[0] > '9' || name[strlen(name) - 1] < 'a' || parse_duration(name, ret_ns) < 0 || *ret_ns == 0)
                return false;
        format_duration(*ret_ns, ret_shortest);
        return true;
}

MATCH(timeout_match)
{
        struct view v = dir->view;
        char shortest[32];

        if (!timeout_parse(name, &v.timeout_ns, shortest) || strcmp(name, shortest) != 0)
                return -ENOENT;
        v.has_timeout = true;
        return setting_match(t, dir, &v, ret);
}

MATCH(timeout_alias_match)
{
        struct view v = dir->view;
        char shortest[32];

        if (!timeout_parse(name, &v.timeout_ns, shortest) || strcmp(name, shortest) == 0)
                return -ENOENT;
        v.has_timeout = true;
        return setting_match(t, dir, &v, ret);
}

CONTENT(timeout_alias_target)
{
        char shortest[32];

        (void)t;
        format_duration(n->view.timeout_ns, shortest);
        buffer_adds(ret, shortest);
        return 0;
}

struct settings_listing {
        struct tree *tree;
        const struct node *dir;
        const struct route *row;
        entry_fn fn;
        void *user;
};

/* `v` is a setting of commits/ of some solver. */
static int setting_emit(const struct settings_listing *l, struct view v, uint64_t index)
{
        struct inode inode = l->dir->inode;
        struct node found = {0};
        char name[32];

        if (v.solver != l->dir->solver->number || v.cached || (l->row->kind == KIND_SEED ? !v.has_seed : !v.has_timeout))
                return 0;
        v.cached = l->dir->view.cached;
        if (setting_match(l->tree, l->dir, &v, &found) < 0)
                return 0;
        inode.kind = (uint8_t)l->row->kind;
        inode.view = found.inode.view;
        if (v.has_seed)
                snprintf(name, sizeof(name), "%" PRIu64, v.seed);
        else
                format_duration(v.timeout_ns, name);
        return tree_emit(l->row, name, inode, index, l->fn, l->user);
}

#define SETTINGS_FROM (UINT64_C(1) << 32) /* index of the first that is no view with a number */

/* The settings that have numbers, then those that something was measured under; in cached/ those with something finished. */
static int setting_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn,
                           void *user)
{
        struct settings_listing l = {.tree = t, .dir = dir, .row = row, .fn = fn, .user = user};
        struct view v;
        int r = 0;

        for (uint64_t i = from; r == 0 && i < SETTINGS_FROM && tree_view_at(t, i, &v) == 0; i++)
                r = setting_emit(&l, v, i);
        for (uint64_t i = MAX(from, SETTINGS_FROM); r == 0 && tree_setting_at(t, (uint32_t)(i - SETTINGS_FROM), &v) == 0; i++) {
                uint32_t number;

                if (tree_view(t, &v, &number) == 0 && inode_view_says_itself(number))
                        r = setting_emit(&l, v, i);
        }
        return r;
}

LIST(seed_entries)
{
        return setting_entries(t, dir, row, from, fn, user);
}

LIST(timeout_entries)
{
        return setting_entries(t, dir, row, from, fn, user);
}

/* Settings come with what is measured, by this process and others: the listing may change at any time. */
uint64_t views_listing(struct tree *, const struct node *)
{
        return 0;
}
