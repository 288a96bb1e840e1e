/* Fetching from a repository on this machine, object by object.
 *
 * libgit2's own local transport is not used: it fails as a whole on a tag that is on no commit and on a ref whose file has a bad name (git leaves such
 * refs out), and it repacks objects that could be copied. So we read the other repository's refs, copy (the first time) or pack (later) the objects
 * that are missing here, and set the refs. */
#include <sys/stat.h>

#include "core/git/tree_walk.h"
#include "core/history/history_internal.h"

struct wanted {
        char *name;
        git_oid target; /* the ref's object: a commit, or an annotated tag */
};

struct wants {
        struct wanted *list; /* by name */
        size_t n;
        char *head;       /* the branch that HEAD names, or NULL … */
        git_oid head_oid; /* … and the commit that it is on */
        bool has_head_oid;
        bool with_kept; /* also the other refs of a store: snapshots and rewritten commits */
};

static void wants_done(struct wants *w)
{
        for (size_t i = 0; i < w->n; i++)
                free(w->list[i].name);
        free(w->list);
        free(w->head);
}
#define cleanup_wants cleanup(wants_done)

static bool is_branch_or_tag(const char *name)
{
        return strncmp(name, "refs/heads/", 11) == 0 || strncmp(name, "refs/tags/", 10) == 0;
}

/* Leaves out refs that are broken, oddly named (both as git does) or on no commit. A ref with unreadable objects is an error: left out, it would make
 * a damaged history look like a shorter one. */
static int add_wanted(struct wants *w, git_repository *from, const char *name)
{
        cleanup_git_reference git_reference *ref = NULL, *direct = NULL;
        cleanup_git_object git_object *object = NULL, *commit = NULL;
        int r;

        if (!is_branch_or_tag(name) && !(w->with_kept && strncmp(name, "refs/solverfs/", 14) == 0))
                return 0;
        if (!git_reference_is_valid_name(name) || git_reference_lookup(&ref, from, name) < 0 ||
            git_reference_resolve(&direct, ref) < 0) {
                log_info("'%s' of %s is left out: it is broken", name, git_repository_path(from));
                return 0;
        }
        r = git_object_lookup(&object, from, git_reference_target(direct), GIT_OBJECT_ANY)
            ?: git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
        if (r == GIT_EPEEL || r == GIT_EINVALIDSPEC) {
                log_info("'%s' of %s is left out: it is on no commit", name, git_repository_path(from));
                return 0;
        }
        if (r < 0)
                return errorf(-EIO, "what %s of %s is on cannot be read: %s; 'git -C %s fsck' says more", name,
                              git_repository_path(from), git_error_text(), git_repository_path(from));
        list_add(w->list, w->n, (struct wanted){.target = *git_reference_target(direct), .name = copy_string(name)});
        return 0;
}

static bool is_wanted(const struct wants *w, const char *name)
{
        struct wanted like = {.name = (char *)name};

        return find_in_list(&like, w->list, w->n, sizeof(*w->list), compare_strings);
}

static void collect_head(git_repository *from, struct wants *ret)
{
        cleanup_git_reference git_reference *head = NULL;

        if (git_reference_lookup(&head, from, "HEAD") < 0)
                return;
        ret->has_head_oid = git_reference_type(head) == GIT_REFERENCE_DIRECT;
        if (ret->has_head_oid)
                ret->head_oid = *git_reference_target(head);
        else if (is_wanted(ret, git_reference_symbolic_target(head))) /* else the branch is unborn */
                ret->head = copy_string(git_reference_symbolic_target(head));
}

static int collect_wants(git_repository *from, struct wants *ret)
{
        cleanup_git_references git_reference_iterator *it = NULL;
        const char *name;
        int e, r = 0;

        e = git_reference_iterator_new(&it, from);
        while (r == 0 && e == 0 && (e = git_reference_next_name(&name, it)) == 0)
                r = add_wanted(ret, from, name);
        if (r == 0 && e != GIT_ITEROVER)
                return errorf(-EIO, "cannot read the refs of %s: %s", git_repository_path(from), git_error_text());
        sort_list(ret->list, ret->n, sizeof(*ret->list), compare_strings);
        if (r == 0)
                collect_head(from, ret);
        return r;
}

/* -- objects ---------------------------------------------------------------------------------------------------- */

struct objects {
        git_repository *from;
        git_odb *there, *here;
        git_packbuilder *pack;
        git_revwalk *walk;
        bool walk_failed; /* libgit2 does not say at which commit */
        bool is_partial;  /* may lack files and folders */
        struct tree_walk trees;
        const git_oid *commit;
        uint64_t n_lacking;
        git_oid first; /* the first commit with something lacking */
};

static void objects_done(struct objects *o)
{
        git_odb_free(o->there);
        git_odb_free(o->here);
        git_packbuilder_free(o->pack);
        git_revwalk_free(o->walk);
        tree_walk_done(&o->trees);
}
#define cleanup_objects cleanup(objects_done)

static int name_unreadable(git_repository *from, const struct wants *w)
{
        cleanup_free git_oid *tips = allocate(w->n + 1, sizeof(*tips));

        for (size_t i = 0; i < w->n; i++)
                tips[i] = w->list[i].target;
        tips[w->n] = w->head_oid;
        return history_name_unreadable(from, tips, w->n + w->has_head_oid);
}

static int pack_error(int r, const struct objects *o, const struct wants *w)
{
        cleanup_free char *reason = copy_string(git_error_text());
        int e = git_errno(r), unreadable = o->walk_failed ? name_unreadable(o->from, w) : 0;

        if (e == -ECANCELED)
                return errorf(e, "interrupted");
        if (unreadable < 0)
                return unreadable;
        return errorf(e == -ENOENT ? -EIO : e, "cannot get the objects of %s: %s%s", git_repository_path(o->from), reason,
                      r == GIT_ENOTFOUND ? "; it is damaged, or a shallow or partial clone" : "");
}

static int on_pack(int stage, uint32_t current, uint32_t total, void *user)
{
        const char *what = stage == GIT_PACKBUILDER_ADDING_OBJECTS ? "counting objects" : "packing objects";

        return progress_step(user, what, current, total) < 0 ? GIT_EUSER : 0;
}

/* Pushes the commit on the walk, and packs the tag objects on the way to it. */
static int want_object(git_repository *from, git_odb *here, const git_oid *oid, git_packbuilder *pack, git_revwalk *walk)
{
        cleanup_git_object git_object *o = NULL;
        int r;

        if (git_odb_exists(here, oid))
                return 0;
        r = git_object_lookup(&o, from, oid, GIT_OBJECT_ANY);
        while (r == 0 && git_object_type(o) == GIT_OBJECT_TAG) {
                git_object *inner = NULL;

                r = git_packbuilder_insert(pack, git_object_id(o), NULL) ?: git_tag_target(&inner, (git_tag *)o);
                git_object_free(o);
                o = inner;
        }
        return r == 0 ? git_revwalk_push(walk, git_object_id(o)) : r;
}

/* Hiding fails for a commit that the other side does not have; such a commit does not matter. */
static int hide_ours(git_repository *to, git_revwalk *walk)
{
        cleanup_git_references git_reference_iterator *it = NULL;
        git_reference *ref;
        int r = git_reference_iterator_new(&it, to);

        while (r == 0 && git_reference_next(&ref, it) == 0) {
                cleanup_git_object git_object *commit = NULL;

                if (git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) == 0)
                        git_revwalk_hide(walk, git_object_id(commit));
                git_reference_free(ref);
        }
        return r;
}

/* Sets up the walk over the commits whose objects are to be packed: pushes those missing here, hides those on both sides. */
static int begin_walk(struct objects *o, git_repository *to, const struct wants *w)
{
        int r = git_repository_odb(&o->here, to);

        for (size_t i = 0; r == 0 && i < w->n; i++)
                r = want_object(o->from, o->here, &w->list[i].target, o->pack, o->walk);
        if (r == 0 && w->has_head_oid)
                r = want_object(o->from, o->here, &w->head_oid, o->pack, o->walk);
        return r == 0 ? hide_ours(to, o->walk) : r;
}

/* Packs a file or folder that is missing here. A folder that is here has all its content here, and is not walked. */
static int pack_object(void *user, const git_oid *oid, const char *path, git_tree **ret_tree)
{
        struct objects *o = user;
        int r;

        if (git_odb_exists_ext(o->here, oid, GIT_ODB_LOOKUP_NO_REFRESH))
                return 0;
        if (o->is_partial && !git_odb_exists_ext(o->there, oid, GIT_ODB_LOOKUP_NO_REFRESH)) {
                if (o->n_lacking++ == 0)
                        o->first = *o->commit;
                return 0;
        }
        r = git_packbuilder_insert(o->pack, oid, path);
        return r == 0 && ret_tree ? git_tree_lookup(ret_tree, o->from, oid) : r;
}

static int pack_commit(struct objects *o, const git_oid *oid)
{
        cleanup_git_commit git_commit *commit = NULL;
        int r = git_commit_lookup(&commit, o->from, oid);

        o->commit = oid;
        if (r == 0)
                r = git_packbuilder_insert(o->pack, oid, NULL);
        return r < 0 ? r : tree_walk(&o->trees, git_commit_tree_id(commit));
}

static int pack_commits(struct objects *o, const struct progress *p)
{
        uint64_t n = 0;
        git_oid oid;
        int k = 0, r = git_revwalk_sorting(o->walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME | GIT_SORT_REVERSE);

        o->trees.take = pack_object;
        o->trees.user = o;
        while (r == 0 && (k = git_revwalk_next(&oid, o->walk)) == 0)
                r = progress_step(p, "looking at the files of commits", n++, 0) < 0 ? GIT_EUSER : pack_commit(o, &oid);
        o->walk_failed = k < 0 && k != GIT_ITEROVER;
        return o->walk_failed ? k : r;
}

static void tell_lacking(const struct objects *o, const char *from)
{
        if (o->n_lacking > 0)
                log_warning("%s is a partial clone, and lacks files of its commits (%" PRIu64 "), first of %s: what needs them cannot be built", from,
                            o->n_lacking, oid_text(&o->first));
}

/* fsck tells by it what came from a partial clone. */
static int mark_pack(const struct objects *o, const char *folder)
{
        cleanup_free char *mark = format_string("%s/pack-%s.promisor", folder, git_packbuilder_name(o->pack));

        return o->n_lacking > 0 ? write_file_atomic(mark, "", 0, 0400) : 0;
}

static int pack_missing(git_repository *from, git_repository *to, const struct wants *w, const struct progress *p)
{
        cleanup_objects struct objects o = {.from = from, .is_partial = history_is_partial(from)};
        char folder[PATH_SIZE];
        int r = path_join(folder, git_repository_commondir(to), "objects/pack") ?: make_dirs(folder, 0700);

        if (r < 0)
                return r;
        r = git_repository_odb(&o.there, from)
            ?: git_packbuilder_new(&o.pack, from)
            ?: git_packbuilder_set_callbacks(o.pack, on_pack, (void *)p)
            ?: git_revwalk_new(&o.walk, from)
            ?: begin_walk(&o, to, w)
            ?: pack_commits(&o, p);
        if (r == 0 && git_packbuilder_object_count(o.pack) > 0)
                r = git_packbuilder_write(o.pack, folder, 0400, NULL, NULL);
        if (r < 0)
                return pack_error(r, &o, w);
        tell_lacking(&o, git_repository_path(from));
        return mark_pack(&o, folder);
}

/* -- refs ------------------------------------------------------------------------------------------------------- */

/* The other side's name of our ref; NULL: the ref is not fetched. */
static const char *their_name(const char *name, const char *under, char ret[PATH_SIZE])
{
        if (!under)
                return is_branch_or_tag(name) ? name : NULL;
        if (strncmp(name, under, strlen(under)) != 0 || snprintf(ret, PATH_SIZE, "refs/%s", name + strlen(under)) >= PATH_SIZE)
                return NULL;
        return ret;
}

static int delete_gone(git_repository *to, const struct wants *w, const char *under)
{
        git_strarray names = {0};
        int r = git_reference_list(&names, to);

        for (size_t i = 0; r == 0 && i < names.count; i++) {
                char buffer[PATH_SIZE];
                const char *theirs = their_name(names.strings[i], under, buffer);

                if (theirs && !is_wanted(w, theirs))
                        r = git_reference_remove(to, names.strings[i]);
        }
        git_strarray_dispose(&names);
        return r;
}

static int set_wanted(git_repository *to, const struct wants *w, const char *under)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < w->n; i++) {
                cleanup_git_reference git_reference *ref = NULL;
                const char *theirs = w->list[i].name;
                char name[PATH_SIZE];
                git_oid now;

                if (snprintf(name, PATH_SIZE, "%s%s", under ?: "", under ? theirs + strlen("refs/") : theirs) >= PATH_SIZE)
                        r = GIT_EINVALIDSPEC;
                if (r < 0 || (git_reference_name_to_id(&now, to, name) == 0 && oid_equal(&now, &w->list[i].target)))
                        continue;
                r = git_reference_create(&ref, to, name, &w->list[i].target, 1, NULL);
        }
        return r;
}

/* Deletes first, so that a branch `a` can give way to `a/b`. Sets HEAD as on the other side: a branch, or a commit. Ours stays if their branch is
 * unborn. */
static int set_refs(git_repository *to, const struct wants *w, const char *under)
{
        int r = delete_gone(to, w, under) ?: set_wanted(to, w, under);

        if (r == 0 && !under && w->head)
                r = git_repository_set_head(to, w->head);
        else if (r == 0 && !under && w->has_head_oid)
                r = git_repository_set_head_detached(to, &w->head_oid);
        return r < 0 ? errorf(git_errno(r), "cannot set the refs of %s: %s", git_repository_path(to), git_error_text()) : 0;
}

int history_fetch_local(git_repository *from, git_repository *to, const char *under, const struct progress *p)
{
        cleanup_wants struct wants w = {.with_kept = under};

        return collect_wants(from, &w) ?: pack_missing(from, to, &w, p) ?: set_refs(to, &w, under);
}
