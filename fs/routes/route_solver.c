#include "fs/routes/routes.h"

#include <inttypes.h>

/* -- <solver> -- */

MATCH(solver_match)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(tree_workspace(t), &l);

        (void)dir;
        if (r < 0)
                return r;
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->list[i]->recipe->name, name) == 0)
                        return tree_view(t, &(struct view){.solver = l->list[i]->number}, &ret->inode.view);
        return -ENOENT;
}

LIST(solver_entries)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(tree_workspace(t), &l);

        (void)dir;
        for (size_t i = from; r == 0 && i < l->n; i++) {
                struct inode inode = {.kind = KIND_SOLVER};

                r = tree_view(t, &(struct view){.solver = l->list[i]->number}, &inode.view);
                if (r == 0)
                        r = tree_emit(row, l->list[i]->recipe->name, inode, i, fn, user);
        }
        return r;
}

/* The config may have been changed by anybody: it is looked at for each listing. */
uint64_t solvers_listing(struct tree *, const struct node *)
{
        return 0;
}

CONTENT(solver_config)
{
        (void)t;
        return recipe_print(n->solver->recipe, ret);
}

/* A recipe is as new as the file it stands in. */
int config_mtime(struct tree *t, const struct node *, int64_t *ret)
{
        char path[PATH_SIZE];
        struct stat st;
        int r = path_join(path, workspace_dir(tree_workspace(t)), "config");

        if (r == 0 && stat(path, &st) < 0)
                r = -errno;
        if (r == 0)
                *ret = st.st_mtime;
        return r;
}

uint64_t history_listing(struct tree *, const struct node *n)
{
        return history_generation(n->solver->history) + 1;
}

static int add_sha(struct history *h, uint32_t commit, struct buffer *ret)
{
        struct commit c;
        int r = history_commit(h, commit, &c);

        if (r == 0)
                buffer_adds(ret, git_oid_tostr_s(&c.oid));
        return r;
}

EXISTS(head_exists)
{
        uint32_t commit;

        (void)t, (void)row;
        return history_head(dir->solver->history, &commit) == 0;
}

CONTENT(head_target)
{
        uint32_t commit;
        int r = history_head(n->solver->history, &commit);

        (void)t;
        buffer_adds(ret, "commits/");
        return r < 0 ? r : add_sha(n->solver->history, commit, ret);
}

/* -- tags/ and branches/: a name with slashes is in nested folders. A ref's number is that of "<solver>/t/<name>". -- */

static bool is_tag(enum kind k)
{
        return k == KIND_TAGS || k == KIND_TAG_FOLDER || k == KIND_TAG;
}

/* Name of the folder with a slash behind it, or nothing for the topmost; or the ref's own name. */
static int ref_path(struct tree *t, const struct node *n, char **ret)
{
        cleanup_free char *name = NULL;
        const char *path;
        int r;

        if (n->route->kind == KIND_TAGS || n->route->kind == KIND_BRANCHES)
                return (*ret = strdup("")) ? 0 : -ENOMEM;
        r = tree_name(t, NAMES_REF, inode_number(&n->inode), &name);
        if (r < 0)
                return r;
        path = strchr(name, '/');
        if (!path || strlen(path) < 4)
                return -EIO;
        return asprintf(ret, "%s%s", path + 3, node_type(n) == NODE_FOLDER ? "/" : "") < 0 ? -ENOMEM : 0;
}

static char *ref_name(const struct node *dir, const char *path, size_t size)
{
        char *name;

        return asprintf(&name, "%" PRIu32 "/%c/%.*s", dir->solver->number, is_tag(dir->route->kind) ? 't' : 'b', (int)size,
                        path) < 0
                       ? NULL
                       : name;
}

static int ref_number(struct tree *t, const struct node *dir, const char *path, size_t size, struct inode *ret)
{
        cleanup_free char *name = ref_name(dir, path, size);
        uint32_t number;
        int r;

        if (!name)
                return -ENOMEM;
        r = tree_number(t, NAMES_REF, name, &number);
        if (r == 0)
                inode_set_number(ret, number);
        return r;
}

static enum ref_kind ref_kind_of(const struct node *n)
{
        return is_tag(n->route->kind) ? REF_TAG : REF_BRANCH;
}

static bool ref_is_below(const struct ref_list *l, size_t i, enum ref_kind kind, const char *above)
{
        return i < l->n && l->list[i].kind == kind && strncmp(l->list[i].name, above, strlen(above)) == 0;
}

static int ref_find(struct tree *t, const struct node *dir, const char *name, bool folder, struct node *ret)
{
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        cleanup_free char *above = NULL, *path = NULL;
        enum ref_kind kind = ref_kind_of(dir);
        int r = ref_path(t, dir, &above);

        if (r == 0 && asprintf(&path, "%s%s%s", above, name, folder ? "/" : "") < 0)
                r = -ENOMEM;
        if (r == 0)
                r = history_refs(dir->solver->history, &l);
        if (r < 0)
                return r;
        if (folder ? !ref_is_below(l, ref_list_from(l, kind, path), kind, path) : !ref_list_find(l, kind, path))
                return -ENOENT;
        return ref_number(t, dir, path, strlen(path) - folder, &ret->inode);
}

MATCH(ref_folder_match)
{
        return ref_find(t, dir, name, true, ret);
}

MATCH(ref_match)
{
        return ref_find(t, dir, name, false, ret);
}

/* Gives what is directly in a folder its numbers: one by one, each would be a commit of its own. */
static int number_refs(struct tree *t, const struct node *dir, const struct ref_list *l, const char *above)
{
        char **names = calloc(l->n + 1, sizeof(*names)); /* NULL-terminated */
        enum ref_kind kind = ref_kind_of(dir);
        size_t n = 0, skip = strlen(above);
        int r = names ? 0 : -ENOMEM;

        for (size_t i = ref_list_from(l, kind, above); r == 0 && ref_is_below(l, i, kind, above); i++) {
                const char *name = l->list[i].name;

                names[n] = ref_name(dir, name, skip + strcspn(name + skip, "/"));
                if (!names[n++])
                        r = -ENOMEM;
        }
        if (r == 0)
                r = tree_number_all(t, NAMES_REF, names, n);
        strings_free(names);
        return r;
}

/* Both rows walk the refs below the folder; the offset is the place in the list. A folder shows up once: at its first ref. */
static int ref_entries_of(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        bool folders = row->type == NODE_FOLDER;
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        enum ref_kind kind = ref_kind_of(dir);
        cleanup_free char *above = NULL;
        size_t n, first;
        int r = ref_path(t, dir, &above);

        if (r == 0)
                r = history_refs(dir->solver->history, &l);
        if (r == 0 && from == 0)
                r = number_refs(t, dir, l, above);
        if (r < 0)
                return r;
        n = strlen(above);
        first = ref_list_from(l, kind, above);
        for (size_t i = MAX(first, from); r == 0 && ref_is_below(l, i, kind, above); i++) {
                const char *rest = l->list[i].name + n, *slash = strchr(rest, '/');
                size_t size = slash ? (size_t)(slash - rest) : strlen(rest);
                struct inode inode = dir->inode;
                cleanup_free char *name = NULL;

                if (folders != (slash != NULL) || (slash && i > first && strncmp(l->list[i - 1].name + n, rest, size + 1) == 0))
                        continue;
                name = strndup(rest, size);
                inode.kind = (uint8_t)row->kind;
                r = name ? ref_number(t, dir, l->list[i].name, n + size, &inode) : -ENOMEM;
                if (r == 0)
                        r = tree_emit(row, name, inode, i, fn, user);
        }
        return r;
}

LIST(ref_folder_entries)
{
        return ref_entries_of(t, dir, row, from, fn, user);
}

LIST(ref_entries)
{
        return ref_entries_of(t, dir, row, from, fn, user);
}

CONTENT(ref_target)
{
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        cleanup_free char *name = NULL;
        const struct ref *found;
        int r = ref_path(t, n, &name);

        if (r == 0)
                r = history_refs(n->solver->history, &l);
        if (r < 0)
                return r;
        found = ref_list_find(l, ref_kind_of(n), name);
        if (!found)
                return -ENOENT;
        for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/'))
                buffer_adds(ret, "../");
        buffer_adds(ret, "../commits/");
        return add_sha(n->solver->history, found->commit, ret);
}

/* -- commits/ and cached/ -- */

MATCH(cached_match)
{
        struct view v = dir->view;

        (void)name;
        v.cached = true;
        return tree_view(t, &v, &ret->inode.view);
}

static bool is_full_sha(const char *name)
{
        return strlen(name) == GIT_OID_HEXSZ && strspn(name, "0123456789abcdef") == GIT_OID_HEXSZ;
}

/* In cached/ a commit is there once anything of it is finished. */
static int commit_visible(struct tree *t, const struct node *dir, uint32_t commit)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        if (commit > INODE_COMMIT_MAX)
                return errorf(-EOVERFLOW, "commit %" PRIu32 " is more than the mount can number (%u)", commit, INODE_COMMIT_MAX);
        return dir->view.cached ? build_find(tree_workspace(t), dir->solver, commit, false, &record) : 0;
}

MATCH(commit_match)
{
        git_oid oid;
        int r;

        if (!is_full_sha(name) || git_oid_fromstr(&oid, name) < 0)
                return -ENOENT;
        r = history_number(dir->solver->history, &oid, &ret->inode.commit);
        return r < 0 ? r : commit_visible(t, dir, ret->inode.commit);
}

static int emit_commit(const struct node *dir, const struct route *row, const git_oid *oid, uint32_t commit, entry_fn fn,
                       void *user)
{
        struct inode inode = {.kind = KIND_COMMIT, .view = dir->inode.view, .commit = commit};
        char name[GIT_OID_HEXSZ + 1];

        git_oid_tostr(name, sizeof(name), oid);
        return tree_emit(row, name, inode, commit, fn, user);
}

static int known_numbers(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        return commits_known(tree_workspace(t), dir->solver, ret, ret_n);
}

static int emit_known(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup(numbers_unrefp) struct numbers *commits = NULL;
        int r = tree_numbers(t, dir, from, known_numbers, &commits);

        for (size_t i = r == 0 ? numbers_from(commits, from) : 0; r == 0 && i < commits->n; i++) {
                struct commit c;

                if (history_commit(dir->solver->history, commits->list[i], &c) == 0)
                        r = emit_commit(dir, row, &c.oid, commits->list[i], fn, user);
        }
        return r;
}

LIST(commit_entries)
{
        git_oid oids[256];
        int r = 0;

        if (dir->view.cached)
                return emit_known(t, dir, row, from, fn, user);
        for (uint32_t at = (uint32_t)from; r == 0;) {
                int n = history_oids(dir->solver->history, at, ARRAY_SIZE(oids), oids);

                if (n <= 0)
                        return n;
                for (int i = 0; i < n && r == 0; i++)
                        r = emit_commit(dir, row, &oids[i], at + (uint32_t)i, fn, user);
                at += (uint32_t)n;
        }
        return r;
}

MATCH(revision_match)
{
        int r;

        if (is_full_sha(name))
                return -ENOENT;
        r = history_resolve(dir->solver->history, name, &ret->inode.commit);
        if (r == -EINVAL) /* not a revision is no such file */
                r = -ENOENT;
        return r < 0 ? r : commit_visible(t, dir, ret->inode.commit);
}

/* Revisions are found, not listed: there is no end of them. */
LIST(no_entries)
{
        (void)t, (void)dir, (void)row, (void)from, (void)fn, (void)user;
        return 0;
}

CONTENT(revision_target)
{
        (void)t;
        return add_sha(n->solver->history, n->inode.commit, ret);
}

CONTENT(cachedir_tag)
{
        (void)t, (void)n;
        buffer_adds(ret, "Signature: 8a477f597d28d172789f06886806bc55\n"
                         "# Opening files below this folder builds and runs solvers; what is finished is in ../cached.\n"
                         "# This file marks the folder as one that backups leave out; see https://bford.info/cachedir/\n");
        return 0;
}
