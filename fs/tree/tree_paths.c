/* Names with slashes as nested folders: of cases, of refs. */
#include "fs/tree/tree_internal.h"

int path_number(struct tree *t, const struct path_list *p, const char *path, size_t size, struct inode *ret)
{
        cleanup_free char *name = format_string("%s%.*s", p->prefix, (int)size, path);
        uint32_t number;
        int r = tree_number(t, p->space, name, &number);

        if (r == 0)
                inode_set_number(ret, number);
        return r;
}

int path_of(struct tree *t, const struct path_list *p, const struct node *n, char **ret)
{
        cleanup_free char *name = NULL;
        size_t skip = strlen(p->prefix);
        int r;

        if (n->route->name) { /* the topmost folder */
                *ret = copy_string("");
                return 0;
        }
        r = tree_name(t, p->space, inode_number(&n->inode), &name);
        if (r < 0)
                return r;
        if (strncmp(name, p->prefix, skip) != 0)
                return -EIO;
        *ret = format_string("%s%s", name + skip, node_type(n) == NODE_FOLDER ? "/" : "");
        return 0;
}

const struct path_item *path_find(const struct path_list *p, const char *name)
{
        const struct path_item wanted = {.name = (char *)name};

        return find_in_list(&wanted, p->list, p->n, sizeof(wanted), compare_strings);
}

/* True if name `i` exists and is in the folder with this path. */
static bool is_below(const struct path_list *p, size_t i, const char *above)
{
        return i < p->n && strncmp(p->list[i].name, above, strlen(above)) == 0;
}

int path_match(struct tree *t, const struct path_list *p, const struct node *dir, const char *name, struct node *ret)
{
        bool folder = route_of(ret->inode.kind)->type == NODE_FOLDER;
        cleanup_free char *above = NULL, *path = NULL;
        const struct path_item *found;
        int r = path_of(t, p, dir, &above);

        if (r < 0)
                return r;
        path = format_string("%s%s%s", above, name, folder ? "/" : "");
        if (folder)
                return is_below(p, lower_bound(&path, p->list, p->n, sizeof(*p->list), compare_strings), path)
                               ? path_number(t, p, path, strlen(path) - 1, &ret->inode)
                               : -ENOENT;
        found = path_find(p, path);
        if (!found || (p->hides && p->hides(t, dir, found->number)))
                return -ENOENT;
        return path_number(t, p, path, strlen(path), &ret->inode);
}

/* Size of the entry of name `i` in a folder with a path of `n` bytes, whose names begin at `first`. 0: the entry is of the other row (a file's among
 * folders, or the other way round), or the same folder as that of the name before. */
static size_t entry_size(const struct path_list *p, size_t i, size_t first, size_t n, bool folders)
{
        const char *name = p->list[i].name, *slash = strchr(name + n, '/');
        size_t size = slash ? (size_t)(slash - name) - n : strlen(name + n);

        if (folders != (slash != NULL) || (slash && i > first && strncmp(p->list[i - 1].name, name, n + size + 1) == 0))
                return 0;
        return size;
}

/* Gives a row's entries their numbers in one transaction. */
static int number_entries(struct tree *t, const struct path_list *p, const char *above, size_t first, bool folders)
{
        size_t n = 0, skip = strlen(above);
        char **names = NULL;
        int r;

        for (size_t i = first; is_below(p, i, above); i++) {
                size_t size = entry_size(p, i, first, skip, folders);

                if (size == 0)
                        continue;
                list_add(names, n, format_string("%s%.*s", p->prefix, (int)(skip + size), p->list[i].name));
        }
        r = n > 0 ? tree_number_all(t, p->space, names, n) : 0;
        while (n > 0)
                free(names[--n]);
        free(names);
        return r;
}

/* The index at which a listing continues behind the entry of this number: a folder's entry stands for all names below it. A removed case keeps its
 * name. */
static int behind(struct tree *t, const struct path_list *p, uint32_t number, bool folders, size_t *ret)
{
        const bool is_item = !folders && p->has_items;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_free char *name = NULL, *next = NULL;
        int r = is_item ? cases_get(workspace_cases(t->workspace), number, &info) : tree_name(t, p->space, number, &name);

        if (r < 0)
                return r;
        next = format_string("%s%s", is_item ? info->name : name + strlen(p->prefix), folders ? "0" : "\1"); /* '0' follows '/' */
        *ret = lower_bound(&next, p->list, p->n, sizeof(*p->list), compare_strings);
        return 0;
}

int path_entries(struct tree *t, const struct path_list *p, const struct node *dir, const struct route *row, uint64_t from,
                 entry_fn fn, void *user)
{
        bool folders = row->type == NODE_FOLDER, has_number = folders || !p->has_items;
        cleanup_free char *above = NULL;
        size_t n, first, next = 0;
        int r = path_of(t, p, dir, &above);

        if (r < 0)
                return r;
        n = strlen(above);
        first = lower_bound(&above, p->list, p->n, sizeof(*p->list), compare_strings);
        if (has_number && from == 0)
                r = number_entries(t, p, above, first, folders);
        if (from > 0)
                r = behind(t, p, (uint32_t)(from - 1), folders, &next);
        for (size_t i = MAX(first, next); r == 0 && is_below(p, i, above); i++) {
                const struct path_item *item = &p->list[i];
                size_t size = entry_size(p, i, first, n, folders);
                struct inode inode = inode_below(dir, row);
                cleanup_free char *name = NULL;

                if (size == 0 || (!folders && p->hides && p->hides(t, dir, item->number)))
                        continue;
                name = copy_prefix(item->name + n, size);
                if (has_number)
                        r = path_number(t, p, item->name, n + size, &inode);
                else
                        inode = (struct inode){.kind = row->kind, .item = item->number};
                if (r == 0)
                        r = tree_emit(row, name, inode, inode_number(&inode), fn, user);
        }
        return r;
}
