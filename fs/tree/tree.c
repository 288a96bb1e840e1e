/* Nodes, lookups, listings, attributes and contents, by the rows. A lookup asks the rows of the folder in their order, until one has the name; a listing
 * has the entries of one row after the other. */
#include "fs/tree/tree_internal.h"

#include <inttypes.h>

#include "core/query/scrambled.h"

struct tree *tree_open(struct workspace *w, struct engine *e, bool finished)
{
        struct tree *t = allocate(1, sizeof(*t));
        struct stat st;

        t->workspace = w;
        t->engine = e;
        t->finished = finished;
        t->uid = geteuid();
        t->gid = getegid();
        t->store_mtime = stat(workspace_dir(w), &st) == 0 ? st.st_mtime : now_seconds();
        pthread_mutex_init(&t->lock, NULL);
        t->lookup_cache = lookup_cache_new();
        t->held = held_nodes_new();
        return t;
}

struct tree *tree_close(struct tree *t)
{
        if (!t)
                return NULL;
        lookup_cache_free(t->lookup_cache);
        held_nodes_free(t->held);
        tree_names_done(t);
        case_names_unref(t->case_names);
        pthread_mutex_destroy(&t->lock);
        free(t);
        return NULL;
}

struct workspace *tree_workspace(struct tree *t)
{
        return t->workspace;
}

struct engine *tree_engine(struct tree *t)
{
        return t->engine;
}

bool tree_is_finished(const struct tree *t)
{
        return t->finished;
}

bool parse_name_number(const char *name, uint64_t most, uint64_t *ret)
{
        uint64_t n = 0;

        if (name[0] == '\0' || (name[0] == '0' && name[1] != '\0'))
                return false;
        for (const char *p = name; *p; p++) {
                if (*p < '0' || *p > '9' || n > (UINT64_MAX - 9) / 10)
                        return false;
                n = n * 10 + (uint64_t)(*p - '0');
        }
        *ret = n;
        return n <= most;
}

/* -- nodes -- */

void node_done(struct node *n)
{
        n->solver = solver_unref(n->solver);
}

enum node_type node_type(const struct node *n)
{
        return n->route->type == NODE_LIVE && n->view.cached ? NODE_FILE : n->route->type;
}

int tree_node_of(struct tree *t, const struct inode *inode, struct node *ret)
{
        int r;

        *ret = (struct node){.inode = *inode, .route = route_of(inode->kind)};
        if (!ret->route)
                return -ESTALE;
        if (!route_has_view(inode->kind))
                return 0;
        r = tree_inode_view(t, inode, &ret->view)
            ?: workspace_solver_by_number(t->workspace, ret->view.solver, &ret->solver);
        return r == -ENOENT ? -ESTALE : r;
}

int tree_node(struct tree *t, uint64_t ino, struct node *ret)
{
        struct inode inode;

        if (!inode_unpack(ino, &inode)) {
                *ret = (struct node){0};
                if (held_nodes_find(t->held, ino, &inode) < 0)
                        return -ESTALE;
        }
        return tree_node_of(t, &inode, ret);
}

struct inode inode_below(const struct node *dir, const struct route *row)
{
        struct inode i = dir->inode;

        i.kind = row->kind;
        if (row->below_item)
                i.commit = dir->inode.item;
        return i;
}

int numbers_have(struct tree *t, const struct node *dir, numbers_fn find, uint32_t number)
{
        cleanup_free uint32_t *list = NULL;
        size_t n = 0;
        int r = find(t, dir, &list, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                if (list[i] == number)
                        return 0;
        return r < 0 ? r : -ENOENT;
}

static int match_number(struct tree *t, const struct node *dir, const struct route *row, const char *name, struct node *ret)
{
        uint64_t number;

        if (!parse_name_number(name, UINT32_MAX, &number))
                return -ENOENT;
        ret->inode.item = (uint32_t)number;
        return row->has ? row->has(t, dir, ret->inode.item) : numbers_have(t, dir, row->numbers, ret->inode.item);
}

/* -- names of a row with a list of them -- */

static int name_number(struct tree *t, const struct node *dir, const struct route *row, const char *name, struct inode *ret)
{
        cleanup_free char *whole = row->of_solver ? format_string("%u/%s", dir->solver->number, name) : copy_string(name);
        int r = tree_number(t, row->space, whole, &ret->item);

        if (r == 0 && ret->item > INODE_ITEM_MAX)
                r = errorf(-EOVERFLOW, "the store has had more names like %s than it can number (%u)", name, INODE_ITEM_MAX);
        return r;
}

int tree_entry_name(struct tree *t, const struct route *row, uint32_t number, char **ret)
{
        cleanup_free char *whole = NULL;
        int r = tree_name(t, row->space, number, &whole);
        const char *slash = r == 0 && row->of_solver ? strchr(whole, '/') : NULL;

        if (r == 0)
                *ret = slash ? copy_string(slash + 1) : steal_pointer(whole);
        return r;
}

static int match_name(struct tree *t, const struct node *dir, const struct route *row, const char *name, struct node *ret)
{
        char **names = NULL;
        bool found = false;
        size_t n = 0;
        int r = row->names(t, dir, &names, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                found |= strcmp(names[i], name) == 0;
        strings_free(names);
        return r < 0 ? r : found ? name_number(t, dir, row, name, &ret->inode) : -ENOENT;
}

static int list_names(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        struct inode inode = inode_below(dir, row);
        char **names = NULL;
        cleanup_free char *last = NULL;
        size_t n = 0;
        int r = row->names(t, dir, &names, &n);

        sort_list(names, n, sizeof(*names), compare_strings);
        if (r == 0 && from > 0)
                r = tree_entry_name(t, row, (uint32_t)(from - 1), &last);
        for (size_t i = last ? lower_bound(&last, names, n, sizeof(*names), compare_strings) : 0; r == 0 && i < n; i++) {
                if (last && strcmp(names[i], last) == 0)
                        continue;
                r = name_number(t, dir, row, names[i], &inode)
                    ?: tree_emit(row, names[i], inode, inode.item, fn, user);
        }
        strings_free(names);
        return r;
}

/* False for work in a mount of finished values. */
static bool row_is_shown(const struct tree *t, const struct route *row)
{
        return !(t->finished && row->starts);
}

int node_existence(int r)
{
        return r == -ENOENT || r == -ENODATA || r == -ESTALE || r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

/* True if a computed file can be read without work. */
static bool has_value(struct tree *t, const struct inode *inode)
{
        cleanup_node struct node n = {0};
        cleanup_buffer struct buffer b = {0};

        return tree_node_of(t, inode, &n) == 0 && n.route->content(t, &n, &b) == 0;
}

/* The one entry of a row with a fixed name, or one that varies: 0, -ENOENT, … */
static int fixed_entry(struct tree *t, const struct node *dir, const struct route *row, const char **name, struct inode *ret)
{
        struct node found = {.inode = inode_below(dir, row)};
        int r = 1;

        *name = row->name;
        if (row->named)
                r = row->named(t, dir, name);
        else if (row->match)
                r = node_existence(row->match(t, dir, row->name, &found));
        else if (row->exists)
                r = row->exists(t, dir, row);
        *ret = found.inode;
        if (r > 0 && t->finished && row->type == NODE_COMPUTED && !dir->view.cached) /* in cached/ the row knows */
                r = has_value(t, ret);
        return r == 0 ? -ENOENT : MIN(r, 0);
}

int tree_lookup(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        int r = -ENOENT;

        for (const struct route *const *p = routes_in(dir->route->kind); *p && r == -ENOENT; p++) {
                const struct route *row = *p;
                struct node found = {.inode = inode_below(dir, row)};
                const char *own;

                if (!row_is_shown(t, row) || (row->name && strcmp(row->name, name) != 0))
                        continue;
                if (row->numbers)
                        r = match_number(t, dir, row, name, &found);
                else if (row->names)
                        r = match_name(t, dir, row, name, &found);
                else if (!row->name && !row->named)
                        r = row->match(t, dir, name, &found);
                else {
                        r = fixed_entry(t, dir, row, &own, &found.inode);
                        if (r == 0 && strcmp(own, name) != 0)
                                r = -ENOENT;
                }
                if (r == 0)
                        r = tree_node_of(t, &found.inode, ret);
                else if (row->name)
                        break; /* a row's fixed name is nothing else's */
        }
        return r;
}

/* -- listings -- */

#define ROW_SHIFT 48 /* an offset is the row's kind + 1 and the entry's number + 1 */

static mode_t route_mode(const struct route *row)
{
        return row->type == NODE_FOLDER ? S_IFDIR : row->type == NODE_LINK ? S_IFLNK : S_IFREG;
}

int tree_emit(const struct route *row, const char *name, struct inode inode, uint64_t index, entry_fn fn, void *user)
{
        return fn(user, &(struct tree_entry){
                                .name = name,
                                .ino = inode_pack(inode),
                                .type = route_mode(row),
                                .next = ((uint64_t)row->kind + 1) << ROW_SHIFT | (index + 1),
                                .inode = &inode,
                        });
}

static int list_fixed(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        struct inode inode;
        const char *name;
        int r = from > 0 ? -ENOENT : fixed_entry(t, dir, row, &name, &inode);

        return r == -ENOENT ? 0 : r < 0 ? r : tree_emit(row, name, inode, 0, fn, user);
}

static int list_numbers(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup_numbers struct numbers numbers = {0};
        struct inode inode = inode_below(dir, row);
        int r = tree_numbers(t, dir, from, row->numbers, &numbers);

        for (size_t i = r == 0 ? numbers_from(&numbers, from) : 0; r == 0 && i < numbers.n; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%" PRIu32, numbers.list[i]);
                inode.item = numbers.list[i];
                r = tree_emit(row, name, inode, inode.item, fn, user);
        }
        return r;
}

int tree_list(struct tree *t, const struct node *dir, uint64_t offset, entry_fn fn, void *user)
{
        const struct route *const *p = routes_in(dir->route->kind);
        uint64_t from = offset & ((UINT64_C(1) << ROW_SHIFT) - 1);
        int r = 0;

        if (offset >> ROW_SHIFT)
                while (*p && (*p)->kind + UINT64_C(1) != offset >> ROW_SHIFT)
                        p++;
        for (; *p && r == 0; p++, from = 0) {
                if (!row_is_shown(t, *p))
                        continue;
                if ((*p)->name || (*p)->named)
                        r = list_fixed(t, dir, *p, from, fn, user);
                else if ((*p)->numbers || (*p)->names)
                        r = ((*p)->numbers ? list_numbers : list_names)(t, dir, *p, from, fn, user);
                else
                        r = (*p)->list(t, dir, *p, from, fn, user);
        }
        return MIN(r, 0);
}

uint64_t tree_list_generation(struct tree *t, const struct node *dir)
{
        if (dir->route->whole_at_once && dir->view.cached)
                return LISTING_FIXED;
        if (dir->view.cached)
                return tree_generation(t);
        return dir->route->generation ? dir->route->generation(t, dir) : LISTING_FIXED;
}

/* -- attributes and content -- */

int node_commit(const struct node *n, struct commit *ret)
{
        return history_commit(n->solver->history, n->inode.commit, ret);
}

static int node_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup_buffer struct buffer b = {0};
        int r;

        if (n->route->size)
                return n->route->size(t, n, ret);
        r = n->route->content(t, n, &b) ?: buffer_error(&b);
        *ret = b.size;
        return r;
}

int tree_stat(struct tree *t, const struct node *n, struct stat *ret, bool *ready)
{
        enum node_type type = node_type(n);
        mode_t mode = type == NODE_LINK ? 0777 : n->route->takes ? 0755 : type == NODE_FOLDER || n->route->executable ? 0555 : 0444;
        int64_t mtime = t->store_mtime;
        uint64_t size = 0;
        int r = 0;

        *ready = true;
        *ret = (struct stat){.st_ino = inode_pack(n->inode),
                             .st_mode = route_mode(n->route) | mode,
                             .st_nlink = 1,
                             .st_uid = t->uid,
                             .st_gid = t->gid,
                             .st_blksize = 4096};
        if (n->route->derive && !t->finished && !n->view.cached) {
                r = tree_derived_peek(t, n, &size, &mtime);
                *ready = r == 1;
        } else if (n->route->derive)
                r = tree_derived_stat(t, n, &size, &mtime);
        else if (type != NODE_FOLDER)
                r = node_size(t, n, &size);
        if (type == NODE_COMPUTED && (r == -ENOENT || r == -ENODATA || r == -ESTALE)) {
                size = PLACEHOLDER_SIZE;
                *ready = false;
                r = 0;
        }
        if (type == NODE_LIVE)
                *ready = false;
        if (r < 0)
                return r;
        ret->st_size = (off_t)size;
        ret->st_blocks = (blkcnt_t)((size + 511) / 512);
        if (n->route->mtime && n->route->mtime(t, n, &mtime) < 0)
                mtime = t->store_mtime;
        ret->st_mtime = ret->st_atime = ret->st_ctime = mtime;
        return 0;
}

int tree_content(struct tree *t, const struct node *n, struct blob *ret)
{
        cleanup_buffer struct buffer b = {0};

        return n->route->content(t, n, &b) ?: buffer_steal(&b, ret);
}

bool tree_values_move(struct tree *t)
{
        return workspace_recipes_changed(t->workspace) > 0 ||
               runs_remeasured(t->workspace) > 0;
}

int tree_answer(struct tree *t, const struct node *n, struct value *v, struct blob *ret)
{
        cleanup_buffer struct buffer b = {0};

        return n->route->answer(t, n, v, &b) ?: buffer_steal(&b, ret);
}

struct cell tree_bare_cell(const struct node *n)
{
        const struct view *v = &n->view;

        return (struct cell){.solver = n->solver,
                             .commit = n->inode.commit,
                             .has_seed = v->setting == SETTING_SEED,
                             .seed = v->setting == SETTING_SEED ? v->n : 0,
                             .scramble = v->setting == SETTING_SCRAMBLED ? v->n : 0,
                             .wall_ns = v->setting == SETTING_TIMEOUT ? v->n : 0};
}

int node_select_query(const struct node *n, struct case_info **info)
{
        cleanup(case_info_unrefp) struct case_info *whole = NULL;

        if (n->inode.more == 0)
                return 0;
        if (n->inode.more > (*info)->n_expected)
                return -ENOENT;
        whole = *info;
        *info = case_info_query(whole, n->inode.more);
        return 0;
}

int tree_cell(struct tree *t, const struct node *n, struct cell *ret, struct case_info **ret_info)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(t->workspace), n->inode.item, &info);

        if (r == 0 && n->view.setting == SETTING_SCRAMBLED)
                r = scrambled_find(t->workspace, info, n->view.n, ret_info);
        else if (r == 0)
                *ret_info = steal_pointer(info);
        if (r == 0)
                r = node_select_query(n, ret_info);
        if (r < 0)
                return r;
        *ret = tree_bare_cell(n);
        ret->info = *ret_info;
        return 0;
}
