/* <solver>/: links to its commits by the names that git gives them; commits/ and cached/, which have the same rows. A commit's inode has its number
 * (core/history) in `commit`. */
#include "fs/routes/routes.h"

#include <inttypes.h>

enum {
        KIND_TAGS = 15,
        KIND_TAG_FOLDER,
        KIND_TAG,
        KIND_BRANCHES,
        KIND_BRANCH_FOLDER,
        KIND_COMMITS = 21,
        KIND_CACHED,
        KIND_SNAPSHOTS = 58,
        KIND_SNAPSHOT,
};

/* -- <solver> -- */

static int solver_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        cleanup(solver_unrefp) struct solver *s = NULL;

        return workspace_solver(tree_workspace(t), name, &s)
            ?: tree_set_view(t, &(struct view){.solver = s->number}, &ret->inode);
}

/* The solver of the lowest number from `from` on; NULL: there is none. */
static const struct solver *next_solver(const struct solver_list *l, uint64_t from)
{
        const struct solver *next = NULL;

        for (size_t i = 0; i < l->n; i++)
                if (l->list[i]->number >= from && (!next || l->list[i]->number < next->number))
                        next = l->list[i];
        return next;
}

/* A listing goes on by the solver's number, which stays when another solver is removed meanwhile. */
static int solver_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        const struct solver *s = NULL;
        int r = workspace_solvers(tree_workspace(t), &l);

        for (; r == 0 && (s = next_solver(l, from)); from = s->number + 1ULL) {
                struct inode inode = {.kind = KIND_SOLVER};

                r = tree_set_view(t, &(struct view){.solver = s->number}, &inode)
                    ?: tree_emit(row, s->recipe->name, inode, s->number, fn, user);
        }
        return r;
}

static int solver_config(struct tree *t, const struct node *n, struct buffer *ret)
{
        return recipe_print(n->solver->recipe, ret);
}

/* A recipe's time is that of its file. */
static int config_mtime(struct tree *t, const struct node *, int64_t *ret)
{
        cleanup_free char *path = format_string("%s/config", workspace_dir(tree_workspace(t)));
        struct stat st;

        if (stat(path, &st) < 0)
                return -errno;
        *ret = st.st_mtime;
        return 0;
}

uint64_t history_listing(struct tree *, const struct node *n)
{
        return history_generation(n->solver->history) + 1;
}

int commit_name(const struct solver *s, uint32_t commit, struct buffer *ret)
{
        struct commit c;
        int r = history_commit(s->history, commit, &c);

        if (r == 0)
                buffer_adds(ret, oid_text(&c.oid));
        return r;
}

const char *commits_folder(const struct tree *t)
{
        return tree_is_finished(t) ? "cached/" : "commits/";
}

/* The set of links changes with the refs, and in a cached mount with every build. */
static uint64_t links_listing(struct tree *t, const struct node *n)
{
        return tree_is_finished(t) ? tree_generation(t) : history_listing(t, n);
}

/* A link to a commit is shown if its target exists. */
static int head_exists(struct tree *t, const struct node *dir, const struct route *row)
{
        uint32_t commit;
        int r = history_head(dir->solver->history, &commit);

        if (r == 0 && tree_is_finished(t))
                r = commit_finished(t, dir, commit);
        return node_existence(r);
}

static int head_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        uint32_t commit;
        int r = history_head(n->solver->history, &commit);

        buffer_adds(ret, commits_folder(t));
        return r < 0 ? r : commit_name(n->solver, commit, ret);
}

/* -- tags/, branches/ and snapshots/: a name with slashes is in nested folders. A ref's number is that of "<solver>/t/<name>". -- */

struct ref_group {
        enum ref_kind kind;
        char letter; /* in the names that have the numbers */
        const char *prefix; /* of the group's names in the list of refs; not shown */
};

static const struct ref_group *group_of(const struct node *n)
{
        static const struct ref_group tags = {REF_TAG, 't', ""}, branches = {REF_BRANCH, 'b', ""},
                                      snapshots = {REF_KEPT, 's', SNAPSHOTS_REF};

        switch (n->route->kind) {
        case KIND_TAGS:
        case KIND_TAG_FOLDER:
        case KIND_TAG:
                return &tags;
        case KIND_SNAPSHOTS:
        case KIND_SNAPSHOT:
                return &snapshots;
        default:
                return &branches;
        }
}

/* The refs of a group. */
struct group_refs {
        struct ref_list *list; /* a ref */
        struct path_list paths; /* owns its list; a number is the commit's */
};

static void group_refs_done(struct group_refs *r)
{
        ref_list_unref(r->list);
        free((void *)r->paths.list);
}
#define cleanup_group_refs cleanup(group_refs_done)

/* A path_list's `hides`: in a mount of finished values a link is shown if its target exists. */
static bool ref_is_hidden(struct tree *t, const struct node *dir, uint32_t commit)
{
        return tree_is_finished(t) && commit_finished(t, dir, commit) < 0;
}

static int read_refs(const struct node *n, struct group_refs *ret)
{
        const struct ref_group *group = group_of(n);
        const size_t prefix_size = strlen(group->prefix);
        struct path_item *items = NULL;
        int r = history_refs(n->solver->history, &ret->list);

        ret->paths = (struct path_list){.space = NAMES_REF, .hides = ref_is_hidden};
        snprintf(ret->paths.prefix, sizeof(ret->paths.prefix), "%" PRIu32 "/%c/", n->solver->number, group->letter);
        for (size_t i = r == 0 ? ref_list_from(ret->list, group->kind, group->prefix) : 0; r == 0 && i < ret->list->n; i++) {
                const struct ref *ref = &ret->list->list[i];

                if (ref->kind != group->kind || strncmp(ref->name, group->prefix, prefix_size) != 0)
                        break;
                list_add(items, ret->paths.n, (struct path_item){ref->name + prefix_size, ref->commit});
        }
        ret->paths.list = items;
        return r;
}

static int ref_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        cleanup_group_refs struct group_refs refs = {0};

        return read_refs(dir, &refs) ?: path_match(t, &refs.paths, dir, name, ret);
}

static int ref_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup_group_refs struct group_refs refs = {0};

        return read_refs(dir, &refs) ?: path_entries(t, &refs.paths, dir, row, from, fn, user);
}

static int ref_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_group_refs struct group_refs refs = {0};
        cleanup_free char *name = NULL;
        const struct path_item *found;
        int r = read_refs(n, &refs) ?: path_of(t, &refs.paths, n, &name);

        if (r < 0)
                return r;
        found = path_find(&refs.paths, name);
        if (!found)
                return -ENOENT;
        for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/'))
                buffer_adds(ret, "../");
        buffer_addf(ret, "../%s", commits_folder(t));
        return commit_name(n->solver, found->number, ret);
}

/* -- commits/ and cached/ -- */

static int cached_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        struct view v = dir->view;

        v.cached = true;
        return tree_set_view(t, &v, &ret->inode);
}

static bool is_full_sha(const char *name)
{
        return strlen(name) == GIT_OID_HEXSZ && strspn(name, "0123456789abcdef") == GIT_OID_HEXSZ;
}

/* In cached/ a commit appears once anything of it is finished. */
static int commit_visible(struct tree *t, const struct node *dir, uint32_t commit)
{
        if (commit > INODE_COMMIT_MAX)
                return errorf(-EOVERFLOW, "commit %" PRIu32 " is more than the mount can number (%u)", commit, INODE_COMMIT_MAX);
        return dir->view.cached ? commit_finished(t, dir, commit) : 0;
}

static int commit_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        git_oid oid;

        if (!is_full_sha(name) || oid_parse(name, &oid) < 0)
                return -ENOENT;
        return history_number(dir->solver->history, &oid, &ret->inode.commit)
            ?: commit_visible(t, dir, ret->inode.commit);
}

static int emit_commit(const struct node *dir, const struct route *row, const git_oid *oid, uint32_t commit, entry_fn fn,
                       void *user)
{
        struct inode inode = inode_below(dir, row);
        char name[GIT_OID_HEXSZ + 1];

        inode.commit = commit;
        oid_print(name, sizeof(name), oid);
        return tree_emit(row, name, inode, commit, fn, user);
}

int emit_commits(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, numbers_fn find, entry_fn fn,
                 void *user)
{
        cleanup_numbers struct numbers commits = {0};
        int r = tree_numbers(t, dir, from, find, &commits);

        for (size_t i = r == 0 ? numbers_from(&commits, from) : 0; r == 0 && i < commits.n; i++) {
                struct commit c;

                if (history_commit(dir->solver->history, commits.list[i], &c) == 0)
                        r = emit_commit(dir, row, &c.oid, commits.list[i], fn, user);
        }
        return r;
}

static int commit_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        git_oid oids[256];
        int r = 0;

        if (dir->view.cached)
                return emit_commits(t, dir, row, from, known_commits, fn, user);
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

static int revision_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        int r;

        if (is_full_sha(name))
                return -ENOENT;
        r = history_resolve(dir->solver->history, name, &ret->inode.commit);
        if (r == -EINVAL) /* not a revision: no such file */
                r = -ENOENT;
        return r < 0 ? r : commit_visible(t, dir, ret->inode.commit);
}

static int revision_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        return commit_name(n->solver, n->inode.commit, ret);
}

static int cachedir_tag(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_adds(ret, "Signature: 8a477f597d28d172789f06886806bc55\n"
                         "# Opening files below this folder builds and runs solvers; what is finished is in ../cached.\n"
                         "# This file marks the folder as one that backups leave out; see https://bford.info/cachedir/\n");
        return 0;
}

static const struct route rows[] = {
        {KIND_SOLVER, IN(KIND_ROOT), .shown = "<solver>", .type = NODE_FOLDER, .has_view = true, .moves = true,
         .match = solver_match, .list = solver_entries, .generation = links_listing, .about = "one per configured solver or variant"},
        {13, IN(KIND_SOLVER), .name = "config", .type = NODE_LIVE, .moves = true, .rewritten = true, .content = solver_config, .mtime = config_mtime,
         .about = "the recipe in force, as 'solverfs solver add' takes it"},
        {14, IN(KIND_SOLVER), .name = "head", .type = NODE_LINK, .moves = true, .exists = head_exists,
         .content = head_target, .about = "link to the newest commit of the default branch"},
        {KIND_TAGS, IN(KIND_SOLVER), .name = "tags", .type = NODE_FOLDER, .generation = links_listing,
         .about = "links to the commits that tags name"},
        {KIND_TAG_FOLDER, IN(KIND_TAGS, KIND_TAG_FOLDER), .shown = "<folder>", .type = NODE_FOLDER, .moves = true,
         .match = ref_match, .list = ref_entries, .generation = links_listing},
        {KIND_TAG, IN(KIND_TAGS, KIND_TAG_FOLDER), .shown = "<tag>", .type = NODE_LINK, .moves = true, .match = ref_match,
         .list = ref_entries, .content = ref_target},
        {KIND_BRANCHES, IN(KIND_SOLVER), .name = "branches", .type = NODE_FOLDER, .generation = links_listing,
         .about = "links to the commits that branches name"},
        {KIND_BRANCH_FOLDER, IN(KIND_BRANCHES, KIND_BRANCH_FOLDER), .shown = "<folder>", .type = NODE_FOLDER, .moves = true,
         .match = ref_match, .list = ref_entries, .generation = links_listing},
        {20, IN(KIND_BRANCHES, KIND_BRANCH_FOLDER), .shown = "<branch>", .type = NODE_LINK, .moves = true,
         .match = ref_match, .list = ref_entries, .content = ref_target},
        {KIND_SNAPSHOTS, IN(KIND_SOLVER), .name = "snapshots", .type = NODE_FOLDER, .generation = links_listing,
         .about = "links to the commits that 'solverfs snapshot' made"},
        {KIND_SNAPSHOT, IN(KIND_SNAPSHOTS), .shown = "<snapshot>", .type = NODE_LINK, .moves = true, .match = ref_match,
         .list = ref_entries, .content = ref_target},
        {KIND_COMMITS, IN(KIND_SOLVER), .name = "commits", .starts = true, .type = NODE_FOLDER, .generation = history_listing,
         .about = "every commit that branches and tags reach or have reached"},
        {KIND_CACHED, IN(KIND_SOLVER), .name = "cached", .type = NODE_FOLDER, .match = cached_match,
         .about = "the same, only what is finished; never starts work"},
        {23, IN(KIND_COMMITS), .name = "CACHEDIR.TAG", .type = NODE_FILE, .content = cachedir_tag,
         .about = "tells tar, restic and borg to leave the folder out"},
        {KIND_COMMIT, IN(KIND_COMMITS, KIND_CACHED), .shown = "<sha>", .type = NODE_FOLDER, .absent = ABSENT_FOREVER,
         .match = commit_match, .list = commit_entries, .mtime = commit_time, .about = "a commit"},
        {25, IN(KIND_COMMITS, KIND_CACHED), .shown = "<revision>", .type = NODE_LINK, .moves = true,
         .match = revision_match, .list = no_entries, .content = revision_target, .mtime = commit_time,
         .about = "link to the commit that git rev-parse would find; not listed"},
};

const struct subtree solver_subtree = {rows, ARRAY_SIZE(rows)};
