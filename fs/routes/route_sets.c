/* sets/: named sets of cases. A set's inode has the number of its name in `item`; a link to a case has that number in `commit` and the case in
 * `item`. */
#include "fs/routes/routes.h"

#include <inttypes.h>

enum {
        KIND_SETS = 64,
        KIND_SET_CASE = 66,
};

static struct sets *sets_of(struct tree *t)
{
        return workspace_sets(tree_workspace(t));
}

static int set_get(struct tree *t, uint32_t number, struct case_set **ret)
{
        cleanup_free char *name = NULL;

        return tree_name(t, NAMES_SET, number, &name) ?: sets_get(sets_of(t), name, ret);
}

/* -- sets/<set> -- */

static int set_names(struct tree *t, const struct node *, char ***ret, size_t *ret_n)
{
        return sets_names(sets_of(t), ret, ret_n);
}

static int set_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        int r = set_get(t, n->inode.item, &set);

        if (r == 0)
                *ret = set->changed;
        return r;
}

/* -- sets/<set>/<case> -- */

static int set_ids(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        int r = set_get(t, n->inode.item, &set);

        if (r < 0)
                return r;
        *ret = steal_pointer(set->ids);
        *ret_n = set->n;
        return 0;
}

static int shown_in_set(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        size_t n = 0;
        int r = set_ids(t, dir, ret, ret_n);

        for (size_t i = 0; i < *ret_n; i++)
                if (case_is_listed(t, (*ret)[i]))
                        (*ret)[n++] = (*ret)[i];
        *ret_n = n;
        return r;
}

/* A node of its own keeps the ids, so that they are read once until the next write: the numbers kept under the folder are its listing. */
static int set_has_case(struct tree *t, const struct node *dir, uint32_t id)
{
        struct node of = {.inode = {.kind = KIND_SET_CASE, .item = dir->inode.item}};
        cleanup_numbers struct numbers ids = {0};
        int r = tree_numbers(t, &of, 0, set_ids, &ids);

        if (r < 0)
                return r;
        return find_in_list(&id, ids.list, ids.n, sizeof(id), compare_u32) && case_is_listed(t, id) ? 0 : -ENOENT;
}

static int set_case_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_addf(ret, "../../cases/%" PRIu32, n->inode.item);
        return 0;
}

static const struct route rows[] = {
        {KIND_SETS, IN(KIND_ROOT), .name = "sets", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "named sets of cases: solverfs set add NAME CASE..."},
        {KIND_SET, IN(KIND_SETS), .shown = "<set>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_NOT, .names = set_names,
         .space = NAMES_SET, .generation = any_listing, .mtime = set_mtime, .about = "links to its cases"},
        {KIND_SET_CASE, IN(KIND_SET), .shown = "<case>", .type = NODE_LINK, .moves = true, .below_item = true,
         .has = set_has_case, .numbers = shown_in_set, .content = set_case_target, .mtime = case_mtime, .about = "by id"},
};

const struct subtree sets_subtree = {rows, ARRAY_SIZE(rows)};
