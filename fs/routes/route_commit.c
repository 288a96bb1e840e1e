/* commits/<sha>/ and its cells. A commit's inode has its number in `commit`; a cell's has the case in `item`, too; a query's has its place in the script,
 * from 1, in `more`. The setting (a seed, the scrambler's seed, a time limit) is the view's.
 *
 * cached/ has the same rows, but shows only what is finished: there `exists` and `has` look into the store. The cells of a commit that cannot be built
 * have a `result` and nothing else. */
#include "fs/routes/routes.h"

#include <inttypes.h>

#include "core/build/era.h"
#include "core/build/live_log.h"
#include "core/query/cell_answer.h"
#include "core/run/effort.h"
#include "core/query/scrambled.h"
#include "core/query/seeds_known.h"
#include "core/run/cell_file.h"
#include "core/run/fact_query.h"

enum {
        KIND_MESSAGE = 26,
        KIND_PARENTS = 30,
        KIND_BUILD = 32,
        KIND_BIN = 35,
        KIND_CELLS = 37,
        KIND_SEEDS = 46,
        KIND_SEED,
        KIND_TIMEOUTS,
        KIND_TIMEOUT,
        KIND_TIMEOUT_ALIAS = 55,
        KIND_SCRAMBLED = 214,
        KIND_SCRAMBLED_SEED,
        KIND_QUERIES = 357,
        KIND_QUERY,
};

/* -- of the commit -- */

static int commit_text_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        static const enum commit_text which[] = {COMMIT_MESSAGE, COMMIT_AUTHOR, COMMIT_DATE, COMMIT_CHANGES};

        return history_text(n->solver->history, n->inode.commit, which[n->route->kind - KIND_MESSAGE], ret);
}

static int find_build(struct tree *t, const struct node *n, struct build_record **ret)
{
        return build_find(tree_workspace(t), n->solver, n->inode.commit, WITHOUT_LOG, ret);
}

int commit_finished(struct tree *t, const struct node *n, uint32_t commit)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        return build_find(tree_workspace(t), n->solver, commit, WITHOUT_LOG, &record);
}

int commit_time(struct tree *, const struct node *n, int64_t *ret)
{
        struct commit c;
        int r = node_commit(n, &c);

        if (r == 0)
                *ret = commit_mtime(&c);
        return r;
}

/* In cached/ a parent is shown if the link's target exists. */
static int shown_parents(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        size_t n, shown = 0;
        int r = history_parents(dir->solver->history, dir->inode.commit, ret, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                if (!dir->view.cached || commit_finished(t, dir, (*ret)[i]) == 0)
                        (*ret)[shown++] = (uint32_t)i + 1;
        *ret_n = shown;
        return r;
}

static int parent_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_free uint32_t *parents = NULL;
        size_t count;
        int r = history_parents(n->solver->history, n->inode.commit, &parents, &count);

        if (r == 0 && (n->inode.item < 1 || n->inode.item > count))
                r = -ENOENT;
        if (r == 0)
                buffer_adds(ret, "../../");
        return r < 0 ? r : commit_name(n->solver, parents[n->inode.item - 1], ret);
}

/* -- build/ -- */

static int build_status(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_free char *reason = NULL, *changed = NULL;
        const char *status = "none";
        uint64_t job;
        int r = find_build(t, n, &record);

        if (r < 0 && r != -ENOENT)
                return r;
        if (record)
                status = record->ok ? "ok" : "failed";
        else if (tree_engine(t) && query_build(tree_workspace(t), n->solver, n->inode.commit, &q) == 0) {
                enum job_state state = engine_peek(tree_engine(t), q, &job, &reason);

                status = state == JOB_RUNNING ? "building" : state == JOB_QUEUED ? "queued" : "none";
        }
        buffer_addf(ret, "%s\n", status);
        if (!n->view.cached && record && record->ok && /* the kernel keeps a file in cached/ for good */
            commit_tools_changed(tree_workspace(t), n->solver, n->inode.commit, &changed))
                buffer_addf(ret, "toolchain changed: %s\n", changed);
        return 0;
}

static int build_log(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_find(tree_workspace(t), n->solver, n->inode.commit, WITH_LOG, &record);

        if (r == 0)
                buffer_add(ret, record->log.data, record->log.size);
        return r;
}

static int build_so_far(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_blob struct blob text = {0};
        cleanup_close int fd = -1;
        int r = build_open_live_log(tree_workspace(t), n->solver, n->inode.commit, &fd);

        if (r == 0)
                r = read_fd(fd, LIVE_LOG_MOST << 1, &text); /* a line may follow the most */
        else if (r == -ENOENT)
                r = build_log(t, n, ret);
        if (r == 0)
                buffer_add(ret, text.data, text.size);
        return r == -ENOENT ? 0 : r;
}

/* Not in cached/: no build is under way there, and a search should not meet each log twice. */
static int so_far_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        return !dir->view.cached;
}

static int commit_build_query(struct tree *t, const struct node *n, struct query **ret)
{
        return query_build(tree_workspace(t), n->solver, n->inode.commit, ret);
}

static int build_log_answer(struct tree *t, const struct node *n, struct value *v, struct buffer *ret)
{
        struct build_record *record = ((struct build_value *)v)->record;

        if (record->log.size == 0) /* the record found has no log */
                return build_log(t, n, ret);
        buffer_add(ret, record->log.data, record->log.size);
        return 0;
}

/* -- bin/. An output's number is that of its name, as an edit of the recipe may reorder outputs. -- */

/* An output as it was built; `record` owns it. -ENOENT: not built. */
static int output_built(struct tree *t, const struct node *n, const char *name, struct build_record **record, const struct build_output **ret)
{
        int r = find_build(t, n, record);

        for (size_t i = 0; r == 0 && (*record)->ok && i < (*record)->n_outputs; i++)
                if (strcmp((*record)->outputs[i].name, name) == 0) {
                        *ret = &(*record)->outputs[i];
                        return 0;
                }
        return r < 0 ? r : -ENOENT;
}

/* 1 if the output was built and not removed by gc since. 0, -errno. */
static int output_is_kept(struct tree *t, const struct node *n, const char *name)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o = NULL;
        int r = output_built(t, n, name, &record, &o);

        return r == 0 ? programs_has(workspace_programs(tree_workspace(t)), &o->id) : r == -ENOENT ? 0 : r;
}

/* The files that the recipe makes of this commit. */
static char *const *outputs_of(const struct node *n)
{
        return era_or_solver(n->solver->history, n->solver->recipe, n->inode.commit)->outputs;
}

/* The name of a file in bin/. -ESTALE: the recipe no longer makes it. */
static int program_name(struct tree *t, const struct node *n, char **ret)
{
        int r = tree_name(t, NAMES_OUTPUT, n->inode.item, ret);

        for (char *const *o = outputs_of(n); r == 0 && *o; o++)
                if (strcmp(basename(*o), *ret) == 0)
                        return 0;
        return r == 0 || r == -ENOENT ? -ESTALE : r;
}

/* cached/ never starts work, so it does not show programs that must be built again. */
static int program_names(struct tree *t, const struct node *dir, char ***ret, size_t *ret_n)
{
        int r = 0;

        *ret = allocate(1, sizeof(**ret));
        for (char *const *o = outputs_of(dir); r >= 0 && *o; o++)
                if (!dir->view.cached || (r = output_is_kept(t, dir, basename(*o))) > 0)
                        strings_add(ret, basename(*o));
        *ret_n = strings_count(*ret);
        return MIN(r, 0);
}

static int bin_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        char **names;
        size_t n;
        int r = program_names(t, dir, &names, &n);

        strings_free(names);
        return r < 0 ? r : n > 0;
}

static int program_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o = NULL;
        cleanup_free char *name = NULL;
        int r = program_name(t, n, &name) ?: output_built(t, n, name, &record, &o);

        if (r == 0)
                *ret = o->size;
        return r;
}

static int program_kept(struct tree *t, const struct node *n)
{
        cleanup_free char *name = NULL;

        return program_name(t, n, &name) ?: output_is_kept(t, n, name);
}

static int program_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup_free char *name = NULL;

        return program_name(t, n, &name)
            ?: query_program(tree_workspace(t), n->solver, n->inode.commit, name, n->view.cached, ret);
}

/* -- cases/<case>: the cells -- */

/* 1 if the commit cannot be built: its cells then have a result, unbuildable, and no other values. 0, -errno. */
static int commit_failed(struct tree *t, const struct node *n)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = find_build(t, n, &record);

        return r == 0 ? !record->ok : r == -ENOENT ? 0 : r;
}

/* 0: the cell has a result. -ENOENT: it has none, or its scrambled input was not made yet. */
static int cell_known(struct tree *t, const struct node *n)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell;

        return tree_cell(t, n, &cell, &info) ?: tree_fact(t, n, &cell, true, &f);
}

static int cell_file_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        return dir->view.cached ? node_existence(cell_known(t, dir)) : 1;
}

/* A row's `exists`: if the recipe says how to find the effort. */
static int effort_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        return dir->solver->recipe->effort && dir->solver->recipe->effort[0] ? cell_file_exists(t, dir, row) : 0;
}

/* The cases that have a result under the folder's commit and setting. */
static int cells_known(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        struct cell cell = tree_bare_cell(dir);

        return cell.scramble > 0 ? scrambled_runs_known(tree_workspace(t), &cell, ret, ret_n) : runs_known(tree_workspace(t), &cell, ret, ret_n);
}

/* In cached/: if the commit cannot be built, or any cell is finished. */
static int cells_exist(struct tree *t, const struct node *dir, const struct route *row)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n;
        int r = dir->view.cached ? commit_failed(t, dir) : 1;

        if (r != 0)
                return r;
        r = cells_known(t, dir, &ids, &n);
        return r < 0 ? node_existence(r) : n > 0;
}

/* Every case that the solver takes has a cell; in cached/ if it has a result, or the commit cannot be built. */
static int cell_has(struct tree *t, const struct node *dir, uint32_t id)
{
        struct node n = *dir;
        int r = case_has(t, dir, id);

        if (r < 0 || !dir->view.cached)
                return r;
        n.inode.item = id;
        r = cell_known(t, &n);
        if (r != -ENOENT)
                return r;
        r = commit_failed(t, dir);
        return r == 0 ? -ENOENT : MIN(r, 0);
}

/* The cases of all such cells. */
static int cells_shown(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        int r = dir->view.cached ? commit_failed(t, dir) : 1;

        return r < 0 ? r : r == 0 ? cells_known(t, dir, ret, ret_n) : case_ids(t, dir, ret, ret_n);
}

#define NOT_BUILT "the commit cannot be built: "

/* For a commit that cannot be built, prints only the result. */
static int print_cell(struct tree *t, const struct node *n, const struct case_info *info, const struct fact *f, const struct build_record *record,
                      struct buffer *ret)
{
        enum cell_file file;

        if (!cell_file_find(n->route->name, &file))
                return -ENOENT;
        if (!f && file != CELL_RESULT)
                return errorf(-ENODATA, NOT_BUILT "%s", record->reason);
        return cell_print(tree_workspace(t), n->solver->recipe, info, f, file, ret);
}

static int cell_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        enum cell_file file;
        struct cell cell;
        int r = cell_file_find(n->route->name, &file) ? tree_cell(t, n, &cell, &info) : -ENOENT;

        if (r == 0)
                r = tree_fact(t, n, &cell, cell_file_is_brief(file), &f);
        if (r == -ENOENT && find_build(t, n, &record) == 0 && !record->ok)
                r = 0;
        return r < 0 ? r : print_cell(t, n, info, f, record, ret);
}

static int cell_answer(struct tree *t, const struct node *n, struct value *v, struct buffer *ret)
{
        const struct run_value *run = (const struct run_value *)v;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cell cell;

        return tree_cell(t, n, &cell, &info) ?: print_cell(t, n, info, run->fact, run->build, ret);
}

static void cell_reason(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info) ?: tree_fact(t, n, &cell, true, &f);

        if (r == 0)
                not_started_line(n->solver, cell.commit, f, ret);
        else if (r == -ENOENT && find_build(t, n, &record) == 0 && !record->ok)
                buffer_addf(ret, NOT_BUILT "%s", record->reason);
}

/* The later of the commit's and the case's time, so that it does not change when the value becomes ready; a deliberate re-measurement changes it. */
static int cell_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL, *input = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct commit c;
        struct cell cell;
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info) ?: node_commit(n, &c);

        if (r < 0)
                return r;
        *ret = cell_first_mtime(&c, info);
        if (tree_cell(t, n, &cell, &input) == 0 && tree_fact(t, n, &cell, true, &f) == 0 && f->remeasured > 0)
                *ret = MAX(*ret + 1, f->remeasured);
        return 0;
}

static int cell_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cell cell = tree_bare_cell(n);
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info) ?: node_select_query(n, &info);

        cell.info = info;
        if (r < 0)
                return r;
        return cell.scramble > 0 ? query_scrambled_run(tree_workspace(t), &cell, ret) : query_run(tree_workspace(t), &cell, ret);
}

/* -- the input of a cell in scrambled/ -- */

static int cell_input_named(struct tree *t, const struct node *dir, const char **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = dir->view.setting == SETTING_SCRAMBLED ? cases_get(workspace_cases(tree_workspace(t)), dir->inode.item, &info) : -ENOENT;

        if (r < 0)
                return node_existence(r);
        *ret = case_input_name(info->format);
        return cell_file_exists(t, dir, NULL);
}

static int cell_input_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info);

        if (r == 0)
                *ret = info->size;
        return r;
}

static int cell_input_kept(struct tree *t, const struct node *n)
{
        uint64_t size;
        int r = cell_input_size(t, n, &size);

        return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int cell_input_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info)
            ?: query_scrambled(tree_workspace(t), info, n->view.n, ret);
}

/* -- the queries of a script -- */

static int query_count(struct tree *t, const struct node *dir, size_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), dir->inode.item, &info);

        *ret = r == 0 ? info->n_expected : 0;
        return r;
}

/* A script of two queries or more has them; in cached/ only once the first is answered. Outside cached/ the kernel keeps the answer, so it must not
 * depend on an input that is still to be scrambled. */
static int queries_exist(struct tree *t, const struct node *dir, const struct route *row)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct query_answer first;
        struct cell cell;
        size_t n;
        int r = query_count(t, dir, &n);

        if (r < 0 || n < 2 || !dir->view.cached)
                return r < 0 ? node_existence(r) : n >= 2;
        r = tree_cell(t, dir, &cell, &info) ?: tree_fact(t, dir, &cell, true, &f);
        return r < 0 ? node_existence(r) : fact_query_answer(f, 1, &first) == 0;
}

static int query_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        size_t count;
        uint64_t n;
        int r = query_count(t, dir, &count);

        if (r < 0 || !parse_name_number(name, count, &n) || n == 0)
                return r < 0 ? r : -ENOENT;
        ret->inode.more = (uint32_t)n;
        return 0;
}

static int query_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        struct inode inode = inode_below(dir, row);
        size_t n;
        int r = query_count(t, dir, &n);

        for (uint64_t i = from; r == 0 && i < n; i++) {
                char name[32];

                snprintf(name, sizeof(name), "%" PRIu64, i + 1);
                inode.more = (uint32_t)i + 1;
                r = tree_emit(row, name, inode, i, fn, user);
        }
        return r;
}

/* -- by-seed.tsv -- */

struct by_seed {
        const struct recipe *recipe;
        struct buffer *to;
        int64_t newest;
};

static int by_seed_row(void *user, bool is_scrambled, uint64_t seed, const struct fact *f)
{
        struct by_seed *b = user;

        buffer_addf(b->to, "%s\t%" PRIu64 "\t", is_scrambled ? "scrambled" : "seed", seed);
        cell_results(f, b->to);
        buffer_addf(b->to, "\t%s\t%s\t%s\t", format_seconds(f->wall_ns).s, format_seconds(f->cpu_ns).s, format_memory(f->memory).s);
        effort_print_first(f, b->recipe, b->to);
        buffer_adds(b->to, "\n");
        b->newest = MAX(b->newest, fact_moment(f));
        return 0;
}

/* The time is that of the newest fact, or the cell's if there is none. */
static int print_by_seed(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct by_seed b = {.to = ret, .recipe = n->solver->recipe};
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info);

        buffer_adds(ret, "kind\tseed\tresult\ttime\tcputime\tmemory\teffort\n");
        if (r == 0)
                r = seeds_known(tree_workspace(t), &cell, false, by_seed_row, &b) ?: cell_mtime(t, n, ret_mtime);
        *ret_mtime = MAX(*ret_mtime, b.newest);
        return r;
}

/* Not below another setting, where the table would be the same. */
static int by_seed_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        return dir->view.setting == SETTING_NONE ? cell_file_exists(t, dir, row) : 0;
}

/* -- names of cases -- */

int case_name_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_find(workspace_cases(tree_workspace(t)), name, &info);

        if (r == 0 && dir->solver && !recipe_takes(dir->solver->recipe, info->format))
                r = -ENOENT;
        if (r == 0)
                ret->inode.item = info->id;
        return r;
}

int case_name_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_addf(ret, "%" PRIu32, n->inode.item);
        return 0;
}

/* In cached/ a link is shown if its target exists. */
static int cell_name_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        int r = case_name_match(t, dir, name, ret);

        return r == 0 && dir->view.cached ? cell_has(t, dir, ret->inode.item) : r;
}

/* -- seeds/<n>, scrambled/<n> and timeout/<t>: the cells under another setting -- */

static int seeds_exist(struct tree *t, const struct node *dir, const struct route *row)
{
        return solver_recipe_at(dir->solver, dir->inode.commit)->seed != NULL;
}

/* Finds the folder of a setting; in cached/ only if a cell in it is finished. */
static int setting_match(struct tree *t, const struct node *dir, const struct view *setting, struct node *ret)
{
        struct node n = *dir;
        int r = setting->setting == SETTING_TIMEOUT && setting->n > INODE_TIMEOUT_MOST ? -ENOENT : tree_set_view(t, setting, &ret->inode);

        if (r < 0 || !dir->view.cached)
                return r;
        n.view = *setting;
        r = cells_exist(t, &n, NULL);
        return r == 0 ? -ENOENT : MIN(r, 0);
}

static enum setting setting_of(unsigned kind)
{
        return kind == KIND_SEED ? SETTING_SEED : kind == KIND_SCRAMBLED_SEED ? SETTING_SCRAMBLED : SETTING_TIMEOUT;
}

/* A limit is a folder under its shortest name; every other spelling (60s for 1m) is a link to it. */
static bool timeout_parse(const char *name, bool is_alias, uint64_t *ret_ns)
{
        if (name[0] < '0' || name[0] > '9' || name[strlen(name) - 1] < 'a' || parse_duration(name, ret_ns) < 0 || *ret_ns == 0)
                return false;
        return (strcmp(name, format_duration(*ret_ns).s) != 0) == is_alias;
}

static int named_setting_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        struct view v = dir->view;
        bool is_one;

        v.setting = setting_of(ret->inode.kind);
        if (v.setting == SETTING_TIMEOUT)
                is_one = timeout_parse(name, ret->inode.kind == KIND_TIMEOUT_ALIAS, &v.n);
        else /* 0 would leave the input unscrambled */
                is_one = parse_name_number(name, UINT32_MAX, &v.n) && (v.setting == SETTING_SEED || v.n > 0);
        return is_one ? setting_match(t, dir, &v, ret) : -ENOENT;
}

static int timeout_alias_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_adds(ret, format_duration(n->view.n).s);
        return 0;
}

/* The settings under which anything was measured; in cached/ those with something finished. */
static int setting_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn,
                           void *user)
{
        struct view v;
        int r = 0;

        for (uint64_t i = from; r == 0 && tree_setting_at(t, (uint32_t)i, &v) == 0; i++) {
                struct inode inode = inode_below(dir, row);
                struct node found = {0};
                struct short_text name = format_duration(v.n);

                if (v.solver != dir->solver->number || v.cached || v.setting != setting_of(row->kind))
                        continue;
                v.cached = dir->view.cached;
                r = setting_match(t, dir, &v, &found);
                if (r == -ENOENT) {
                        r = 0;
                        continue;
                }
                if (r < 0)
                        break;
                inode.view = found.inode.view;
                inode.setting = found.inode.setting;
                if (v.setting != SETTING_TIMEOUT)
                        snprintf(name.s, sizeof(name.s), "%" PRIu64, v.n);
                r = tree_emit(row, name.s, inode, i, fn, user);
        }
        return r;
}

#define COMMIT_TEXT IN(KIND_COMMIT), .type = NODE_FILE, .content = commit_text_content, .mtime = commit_time
#define CELL_VALUE .type = NODE_COMPUTED, .content = cell_content, .query = cell_query, .answer = cell_answer, .reason = cell_reason, .mtime = cell_mtime
#define CELL_FILE  IN(KIND_CELL), CELL_VALUE
#define QUERY_FILE IN(KIND_QUERY), CELL_VALUE

static const struct route rows[] = {
        {KIND_MESSAGE, COMMIT_TEXT, .name = "message", .about = "the commit's message"},
        {27, COMMIT_TEXT, .name = "author", .about = "name and address of its author"},
        {28, COMMIT_TEXT, .name = "date", .about = "the committer's date"},
        {29, COMMIT_TEXT, .name = "changes", .about = "paths it changed against its first parent"},
        {KIND_PARENTS, IN(KIND_COMMIT), .name = "parents", .type = NODE_FOLDER, .mtime = commit_time,
         .about = "links to its parents, from 1"},
        {31, IN(KIND_PARENTS), .shown = "<n>", .type = NODE_LINK, .numbers = shown_parents, .content = parent_target,
         .mtime = commit_time},

        {KIND_BUILD, IN(KIND_COMMIT), .name = "build", .type = NODE_FOLDER, .absent = ABSENT_FOREVER, .mtime = commit_time,
         .about = "how it was built"},
        {33, IN(KIND_BUILD), .name = "status", .type = NODE_LIVE, .content = build_status, .mtime = commit_time,
         .about = "none, queued, building, ok or failed; never builds"},
        {34, IN(KIND_BUILD), .name = "log", .type = NODE_COMPUTED, .content = build_log, .query = commit_build_query,
         .answer = build_log_answer, .mtime = commit_time, .about = "the build's full output, of a failed build too"},
        {213, IN(KIND_BUILD), .name = "so-far", .type = NODE_LIVE, .exists = so_far_exists, .content = build_so_far,
         .mtime = commit_time, .about = "what a build that goes on has printed so far, later its log; never builds"},
        {KIND_BIN, IN(KIND_COMMIT), .name = "bin", .type = NODE_FOLDER, .exists = bin_exists, .generation = any_listing,
         .mtime = commit_time, .about = "what it builds"},
        {36, IN(KIND_BIN), .shown = "<name>", .type = NODE_COMPUTED, .executable = true, .names = program_names,
         .space = NAMES_OUTPUT, .size = program_size, .query = program_query, .kept = program_kept,
         .answer_fd = file_value_fd, .waits_for = commit_build_query, .mtime = commit_time,
         .about = "the built program; it can be run from here"},

        {KIND_CELLS, .place = 4, IN(KIND_COMMIT, KIND_SEED, KIND_SCRAMBLED_SEED, KIND_TIMEOUT), .name = "cases",
         .type = NODE_FOLDER, .absent = ABSENT_NOT, .listed = LISTED_WHOLE_FINISHED, .exists = cells_exist,
         .generation = cases_listing, .mtime = commit_time, .about = "this commit on every case"},
        {KIND_CELL, .place = 5, IN(KIND_CELLS), .shown = "<case>", .type = NODE_FOLDER, .absent = ABSENT_FOREVER,
         .listed = LISTED_WHOLE, .whole_at_once = true, .has = cell_has, .numbers = cells_shown, .mtime = cell_mtime,
         .about = "this commit on this case"},
        {56, .place = 13, IN(KIND_CELLS), .shown = "<name>", .type = NODE_LINK, .moves = true,
         .match = cell_name_match, .list = no_entries, .content = case_name_target, .mtime = commit_time,
         .about = "link to the case of that name (without a slash); not listed"},
        {39, .place = 6, CELL_FILE, .name = "time", .exists = cell_file_exists,
         .about = "wall-clock seconds of the solver process"},
        {40, .place = 7, CELL_FILE, .name = "cputime", .exists = cell_file_exists,
         .about = "user and system seconds of it and all it started"},
        {41, .place = 8, CELL_FILE, .name = "memory", .exists = cell_file_exists, .about = "peak resident bytes"},
        {42, .place = 9, CELL_FILE, .name = "result",
         .about = "sat, unsat, unknown, timeout, memout, crash, error or unbuildable"},
        {57, .place = 14, CELL_FILE, .name = "effort", .exists = effort_exists,
         .about = "what the solver counted itself, by the recipe's patterns: number, label"},
        {43, .place = 10, CELL_FILE, .name = "stdout", .exists = cell_file_exists, .about = "what the solver printed"},
        {44, .place = 11, CELL_FILE, .name = "stderr", .exists = cell_file_exists, .about = "its diagnostics"},
        {45, .place = 12, CELL_FILE, .name = "run.json", .exists = cell_file_exists,
         .about = "everything known of the run"},
        {356, CELL_FILE, .name = "queries.tsv", .exists = queries_exist,
         .about = "of a script with several check-sat: query, its line, result, seconds, memory so far"},
        {KIND_QUERIES, IN(KIND_CELL), .name = "queries", .type = NODE_FOLDER, .exists = queries_exist, .mtime = cell_mtime,
         .about = "each of them"},
        {KIND_QUERY, IN(KIND_QUERIES), .shown = "<n>", .type = NODE_FOLDER, .match = query_match, .list = query_entries, .mtime = cell_mtime,
         .about = "a query, from 1: CASE#<n> of the command"},
        {359, QUERY_FILE, .name = "time", .about = "seconds from the answer before to its own"},
        {360, QUERY_FILE, .name = "memory", .about = "peak resident bytes of the run until then"},
        {361, QUERY_FILE, .name = "result", .about = "its answer, or how the run ended before it"},
        {217, IN(KIND_CELL), .name = "by-seed.tsv", .exists = by_seed_exists, DERIVED(print_by_seed),
         .about = "what is known of it under each seed, of seeds/ and of scrambled/; never starts work"},
        {216, IN(KIND_CELL), .shown = "input.smt2", .type = NODE_COMPUTED, .named = cell_input_named,
         .size = cell_input_size, .query = cell_input_query, .kept = cell_input_kept, .answer_fd = file_value_fd,
         .mtime = cell_mtime, .about = "below scrambled/<n>: what the solver was given (input.cnf for DIMACS)"},

        {KIND_SEEDS, IN(KIND_COMMIT), .name = "seeds", .type = NODE_FOLDER, .exists = seeds_exist, .generation = any_listing,
         .mtime = commit_time, .about = "the same cells with the solver's random seed fixed"},
        {KIND_SEED, .place = 1, IN(KIND_SEEDS), .shown = "<n>", .type = NODE_FOLDER, .match = named_setting_match,
         .list = setting_entries, .mtime = commit_time, .about = "to this number; listed once something was measured with it"},
        {KIND_SCRAMBLED, IN(KIND_COMMIT), .name = "scrambled", .type = NODE_FOLDER, .generation = any_listing,
         .mtime = commit_time,
         .about = "the same cells on inputs that are scrambled: the same problem with other names, in another order"},
        {KIND_SCRAMBLED_SEED, IN(KIND_SCRAMBLED), .shown = "<n>", .type = NODE_FOLDER, .match = named_setting_match,
         .list = setting_entries, .mtime = commit_time,
         .about = "by this seed, from 1; listed once something was measured with it"},
        {KIND_TIMEOUTS, IN(KIND_COMMIT), .name = "timeout", .type = NODE_FOLDER, .generation = any_listing, .mtime = commit_time,
         .about = "the same cells under another time limit"},
        {KIND_TIMEOUT, .place = 2, IN(KIND_TIMEOUTS), .shown = "<t>", .type = NODE_FOLDER, .match = named_setting_match,
         .list = setting_entries, .mtime = commit_time, .about = "60s, 20m, 1500ms; listed once something was measured under it"},
        {KIND_TIMEOUT_ALIAS, .place = 3, IN(KIND_TIMEOUTS), .shown = "<t>", .type = NODE_LINK, .match = named_setting_match,
         .list = no_entries, .content = timeout_alias_target, .mtime = commit_time},
};

const struct subtree commit_subtree = {rows, ARRAY_SIZE(rows)};
