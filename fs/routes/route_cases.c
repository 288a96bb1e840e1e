/* cases/: the benchmark instances, by id and by name. A case's inode has its id in `item`. */
#include "fs/routes/routes.h"

#include <inttypes.h>

#include "core/portfolio/portfolio.h"

enum {
        KIND_CASES = 2,
        KIND_CASE_NAME = 5,
        KIND_CASE_SHA256,
        KIND_CASE_LOGIC,
        KIND_CASE_STATUS,
        KIND_BY_NAME = 9,
        KIND_BY_NAME_FOLDER,
        KIND_BY_NAME_LINK,
};

uint64_t cases_listing(struct tree *t, const struct node *)
{
        return cases_generation(workspace_cases(tree_workspace(t))) + 1;
}

/* -- cases/<case> -- */

int case_has(struct tree *t, const struct node *dir, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), id, &info);

        return r == 0 && dir->solver && !recipe_takes(dir->solver->recipe, info->format) ? -ENOENT : r;
}

int case_ids(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        size_t n, kept = 0;
        int r = cases_list(workspace_cases(tree_workspace(t)), ret, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                if (!dir->solver || case_has(t, dir, (*ret)[i]) == 0)
                        (*ret)[kept++] = (*ret)[i];
        *ret_n = kept;
        return r;
}

bool case_is_listed(struct tree *t, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return cases_get(workspace_cases(tree_workspace(t)), id, &info) == 0 && case_is_there(info);
}

int case_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info);

        if (r == 0)
                *ret = n->inode.kind == KIND_CASE_STATUS ? MAX(info->added, info->status_set) : info->added;
        return r;
}

static int case_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info);

        if (r < 0)
                return r;
        buffer_addf(ret, "%s\n",
                    n->route->kind == KIND_CASE_NAME     ? info->name
                    : n->route->kind == KIND_CASE_SHA256 ? digest_text(&info->sha256).s
                    : n->route->kind == KIND_CASE_LOGIC  ? info->logic
                                                         : verdict_name(info->status));
        return 0;
}

/* -- cases/<case>/input.* -- */

const char *case_input_name(enum format f)
{
        return f == FORMAT_CNF ? "input.cnf" : "input.smt2";
}

static int case_input_named(struct tree *t, const struct node *dir, const char **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), dir->inode.item, &info);

        if (r == 0)
                *ret = case_input_name(info->format);
        return node_existence(r);
}

int case_size(struct tree *t, uint32_t id, uint64_t *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), id, &info);

        if (r == 0)
                *ret = info->size;
        return r;
}

int case_open(struct tree *t, uint32_t id, int *ret_fd)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cases *cases = workspace_cases(tree_workspace(t));
        char path[PATH_SIZE];

        return cases_get(cases, id, &info) ?: cases_open_bytes(cases, info, ret_fd, path);
}

static int case_input_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        return case_size(t, n->inode.item, ret);
}

static int case_input_open(struct tree *t, const struct node *n, int *ret_fd)
{
        return case_open(t, n->inode.item, ret_fd);
}

/* -- cases/by-name: a name with slashes is in nested folders, whose numbers are those of their paths -- */

static int by_name_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        static const struct path_list paths = {.space = NAMES_PATH};
        struct cases *cases = workspace_cases(tree_workspace(t));
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_free char *above = NULL, *path = NULL;
        int r = path_of(t, &paths, dir, &above);

        if (r < 0)
                return r;
        path = format_string("%s%s", above, name);
        if (ret->inode.kind == KIND_BY_NAME_FOLDER)
                return cases_find_folder(cases, path) ?: path_number(t, &paths, path, strlen(path), &ret->inode);
        r = cases_find(cases, path, &info);
        if (r == 0)
                ret->inode = (struct inode){.kind = KIND_BY_NAME_LINK, .item = info->id};
        return r;
}

static int by_name_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn,
                           void *user)
{
        cleanup(case_names_unrefp) struct case_names *c = NULL;
        int r = tree_case_names(t, &c);

        if (r < 0)
                return r;
        return path_entries(t, &(struct path_list){.space = NAMES_PATH, .has_items = true, .list = c->list, .n = c->n}, dir, row, from, fn, user);
}

static int by_name_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info);

        if (r < 0)
                return r;
        for (const char *p = strchr(info->name, '/'); p; p = strchr(p + 1, '/'))
                buffer_adds(ret, "../");
        buffer_addf(ret, "../%" PRIu32, info->id);
        return 0;
}

/* Not kept: each open parses the case. */
static int features_content(struct tree *, const struct node *, struct buffer *)
{
        return -ENOENT;
}

static int features_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info);

        if (r == 0)
                *ret = query_features(tree_workspace(t), info);
        return r;
}

static int features_answer(struct tree *, const struct node *, struct value *v, struct buffer *ret)
{
        const struct features_value *f = (const struct features_value *)v;

        buffer_add(ret, f->text.data, f->text.size);
        return 0;
}

static const struct route rows[] = {
        {KIND_CASES, IN(KIND_ROOT), .name = "cases", .type = NODE_FOLDER, .takes = true, .absent = ABSENT_NOT,
         .generation = cases_listing, .about = "the benchmark instances, shared by every solver; cp a file here to add it"},
        {KIND_CASE, IN(KIND_CASES), .shown = "<case>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_FOREVER,
         .has = case_has, .numbers = case_ids, .mtime = case_mtime, .about = "a case, by its id"},
        {4, IN(KIND_CASE), .shown = "input.smt2", .type = NODE_FILE, .named = case_input_named,
         .size = case_input_size, .open = case_input_open, .mtime = case_mtime,
         .about = "the case, byte for byte (input.cnf for DIMACS)"},
        {KIND_CASE_NAME, IN(KIND_CASE), .name = "name", .type = NODE_FILE, .moves = true, .rewritten = true, .content = case_text,
         .mtime = case_mtime, .about = "under which it was added"},
        {KIND_CASE_SHA256, IN(KIND_CASE), .name = "sha256", .type = NODE_FILE, .content = case_text, .mtime = case_mtime,
         .about = "of its bytes"},
        {KIND_CASE_LOGIC, IN(KIND_CASE), .name = "logic", .type = NODE_FILE, .content = case_text, .mtime = case_mtime,
         .about = "of its (set-logic …), 'none' without one; 'cnf'"},
        {KIND_CASE_STATUS, IN(KIND_CASE), .name = "status", .type = NODE_FILE, .moves = true, .rewritten = true, .content = case_text, .mtime = case_mtime,
         .about = "its :status, or the one given by case add --status; else 'unknown'"},
        {188, IN(KIND_CASE), .name = "features.tsv", .type = NODE_COMPUTED, .moves = true, .rewritten = true, .starts = true,
         .content = features_content, .query = features_query, .answer = features_answer, .mtime = case_mtime,
         .about = "numbers that portfolios learn from: solverfs portfolio features"},
        {KIND_BY_NAME, IN(KIND_CASES), .name = "by-name", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = cases_listing,
         .about = "links to the cases, by name"},
        {KIND_BY_NAME_FOLDER, IN(KIND_BY_NAME, KIND_BY_NAME_FOLDER), .shown = "<folder>", .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_NOT, .match = by_name_match, .list = by_name_entries, .generation = cases_listing},
        {KIND_BY_NAME_LINK, IN(KIND_BY_NAME, KIND_BY_NAME_FOLDER), .shown = "<name>", .type = NODE_LINK, .moves = true,
         .match = by_name_match, .list = by_name_entries, .content = by_name_target, .mtime = case_mtime},
};

const struct subtree cases_subtree = {rows, ARRAY_SIZE(rows)};
