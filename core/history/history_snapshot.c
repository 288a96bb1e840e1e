/* Makes a commit of the store from a working tree. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "core/history/history_internal.h"
#include "core/git/object_reader.h"
#include "core/git/regular_files.h"

/* -- reading the working tree; neither the tree nor its index is written ----------------------------------------------- */

static int open_tree(const char *dir, git_repository **ret)
{
        int r = regular_files_check(dir);

        if (r < 0)
                return r;
        r = git_repository_open_ext(ret, dir, 0, NULL); /* a folder in the tree means the whole tree */
        if (r == GIT_ENOTFOUND)
                return access(dir, F_OK) < 0 ? errorf(-errno, "cannot find %s: %s", dir, strerror(errno))
                                             : errorf(-EINVAL, "%s is not in a git working tree", dir);
        if (r < 0)
                return errorf(git_errno(r), "cannot open the repository of %s: %s", dir, git_error_text());
        if (git_repository_is_bare(*ret))
                return errorf(-EINVAL, "%s is a bare repository: it has no working tree to take a snapshot of", dir);
        return object_reader_install(*ret);
}

static int add_link(git_repository *to, const char *path, git_oid *ret)
{
        char target[PATH_SIZE];
        ssize_t n = readlink(path, target, sizeof(target));

        if (n < 0)
                return errorf(-errno, "cannot read the link %s: %s", path, strerror(errno));
        return git_blob_create_from_buffer(ret, to, target, (size_t)n) < 0
                       ? errorf(-EIO, "cannot store %s: %s", path, git_error_text())
                       : 0;
}

static int copy_entry(git_repository *from, git_repository *to, git_index *tree, const git_index_entry *e)
{
        cleanup_git_blob git_blob *blob = NULL;
        git_index_entry entry = {.path = e->path, .mode = e->mode, .id = e->id};

        if ((e->mode != GIT_FILEMODE_COMMIT &&
             (git_blob_lookup(&blob, from, &e->id) < 0 ||
              git_blob_create_from_buffer(&entry.id, to, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)) < 0)) ||
            git_index_add(tree, &entry) < 0)
                return errorf(-EIO, "cannot store %s as it is in the index: %s", e->path, git_error_text());
        return 0;
}

/* Adds an entry from the index: a submodule, whose files belong to its own repository, or a file left out of a sparse checkout. Any other missing
 * file was deleted. */
static int add_indexed(git_repository *from, git_repository *to, git_index *tree, const char *name, bool is_folder)
{
        cleanup_git_index git_index *index = NULL;
        const git_index_entry *e = git_repository_index(&index, from) < 0 ? NULL : git_index_get_bypath(index, name, 0);
        bool is_module = e && e->mode == GIT_FILEMODE_COMMIT;

        if (is_folder && !is_module)
                log_info("%s is a repository of its own: left out of the snapshot", name);
        if (!e || (is_folder ? !is_module : !(e->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE)))
                return 0;
        return copy_entry(from, to, tree, e);
}

/* Stores a file as `git add` does: attributes and settings may say that a commit has other line ends. Neither git_blob_create_from_workdir(), which
 * writes to the tree's own repository, nor programs that attributes name are called. */
static int store_file(git_repository *from, git_repository *to, const char *name, const char *path, git_oid *ret)
{
        git_filter_list *filters = NULL;
        git_buf filtered = {0};
        int r = git_filter_list_load(&filters, from, NULL, name, GIT_FILTER_TO_ODB, GIT_FILTER_ALLOW_UNSAFE);

        if (r == 0 && !filters)
                r = git_blob_create_from_disk(ret, to, path);
        else if (r == 0 && (r = git_filter_list_apply_to_file(&filtered, filters, from, name)) == 0)
                r = git_blob_create_from_buffer(ret, to, filtered.ptr, filtered.size);
        git_buf_dispose(&filtered);
        git_filter_list_free(filters);
        return r < 0 ? errorf(git_errno(r) == -ENOSPC ? -ENOSPC : -EIO, "cannot store %s: %s", path, git_error_text()) : 0;
}

/* `mode`: by the status, which knows core.fileMode; 0: not known. */
static int add_file(git_repository *from, git_repository *to, git_index *tree, const char *name, uint16_t mode)
{
        git_index_entry e = {.path = name};
        char path[PATH_SIZE];
        struct stat st;
        int r = path_join(path, git_repository_workdir(from), name);

        if (r < 0)
                return r;
        if (lstat(path, &st) < 0)
                return errno == ENOENT || errno == ENOTDIR ? add_indexed(from, to, tree, name, false)
                                                           : errorf(-errno, "cannot read %s: %s", path, strerror(errno));
        if (S_ISDIR(st.st_mode))
                return add_indexed(from, to, tree, name, true);
        if (S_ISLNK(st.st_mode)) {
                e.mode = GIT_FILEMODE_LINK;
                r = add_link(to, path, &e.id);
        } else if (S_ISREG(st.st_mode)) {
                e.mode = (S_ISREG(mode) ? mode : st.st_mode) & 0100 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
                r = store_file(from, to, name, path, &e.id);
        } else {
                log_info("%s is neither file nor link: left out of the snapshot", name);
                return 0;
        }
        if (r == 0 && git_index_add(tree, &e) < 0)
                r = errorf(-EINVAL, "%s cannot be in a commit: %s", path, git_error_text());
        return r;
}

/* Puts the commit that is checked out in a submodule in the place of the index's, as `git add` does. */
static int add_submodule(git_repository *from, git_index *tree, const char *name, bool force)
{
        git_index_entry e = {.path = name, .mode = GIT_FILEMODE_COMMIT};
        cleanup_git_submodule git_submodule *module = NULL;
        const git_oid *id = git_submodule_lookup(&module, from, name) < 0 ? NULL : git_submodule_wd_id(module);
        unsigned status;

        if (!id)
                return 0;
        if (git_submodule_status(&status, from, name, GIT_SUBMODULE_IGNORE_UNTRACKED) == 0 && GIT_SUBMODULE_STATUS_IS_WD_DIRTY(status)) {
                if (!force)
                        return errorf(-EINVAL, "the submodule %s has changes that are in no commit: commit them there; with --force they are left out",
                                      name);
                log_warning("the changes of the submodule %s that are in no commit are left out", name);
        }
        e.id = *id;
        return git_index_add(tree, &e) < 0 ? errorf(-EIO, "cannot store %s: %s", name, git_error_text()) : 0;
}

static int write_tree(git_repository *from, git_repository *to, bool force, git_oid *ret)
{
        git_status_options options = GIT_STATUS_OPTIONS_INIT;
        cleanup_git_status git_status_list *list = NULL;
        cleanup_git_index git_index *tree = NULL, *index = NULL;
        int r;

        options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
        options.flags =
                GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS | GIT_STATUS_OPT_INCLUDE_UNMODIFIED;
        if (git_index_new(&tree) < 0 || git_repository_index(&index, from) < 0 || git_status_list_new(&list, from, &options) < 0)
                return errorf(-EIO, "cannot list the files of %s: %s", git_repository_workdir(from), git_error_text());
        for (size_t i = 0; i < git_status_list_entrycount(list); i++) {
                const git_status_entry *e = git_status_byindex(list, i);
                const git_diff_delta *d = e->index_to_workdir ?: e->head_to_index;
                const bool is_removed = !e->index_to_workdir && e->status & GIT_STATUS_INDEX_DELETED; /* taken out of the index, or gone */
                cleanup_free char *name = copy_string(d->new_file.path);
                /* The working tree may have other bytes and another mode of a clean file than the commit: by a filter, by core.fileMode. */
                const git_index_entry *indexed = git_index_get_bypath(index, name, 0);
                bool is_clean = indexed && e->status == GIT_STATUS_CURRENT;
                size_t n = strlen(name);

                if (is_removed)
                        continue;
                if (n > 0 && name[n - 1] == '/')
                        name[n - 1] = '\0'; /* a repository of its own */
                r = is_clean ? copy_entry(from, to, tree, indexed) : add_file(from, to, tree, name, d->new_file.mode);
                /* A submodule may be listed as clean because .gitmodules has its changes ignored. */
                if (r == 0 && indexed && indexed->mode == GIT_FILEMODE_COMMIT)
                        r = add_submodule(from, tree, name, force);
                if (r < 0)
                        return r;
        }
        return git_index_write_tree_to(ret, tree, to) < 0 ? errorf(-EIO, "cannot store the tree: %s", git_error_text()) : 0;
}

/* -- the commit ------------------------------------------------------------------------------------------------- */

static int write_commit(git_repository *to, const git_oid *tree_id, git_commit *parent, const char *dir, git_oid *ret)
{
        cleanup_git_signature git_signature *who = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        cleanup_buffer struct buffer message = {0};
        const git_commit *parents[] = {parent};
        int r;

        buffer_addf(&message, "Snapshot of %s\n", dir);
        r = git_signature_now(&who, "solverfs snapshot", "snapshot@solverfs.invalid")
            ?: git_tree_lookup(&tree, to, tree_id)
            ?: git_commit_create(ret, to, NULL, who, who, NULL, message.data, tree, parent ? 1 : 0, parents);
        return r < 0 ? errorf(git_errno(r), "cannot store the snapshot: %s", git_error_text()) : 0;
}

static int check_name(const char *name)
{
        char ref[256];
        int valid = 0;

        if (snprintf(ref, sizeof(ref), SNAPSHOTS_REF "%s", name) < (int)sizeof(ref) && !strchr(name, '/') &&
            git_reference_name_is_valid(&valid, ref) == 0 && valid)
                return 0;
        return errorf(-EINVAL, "'%.100s' cannot be a snapshot's name: it takes what a branch's name does, without a slash", name);
}

/* A snapshot without a name is named after the time. A name never moves to another commit: results were quoted under it. */
static int write_ref(git_repository *to, const git_oid *commit, const char *name)
{
        cleanup_git_reference git_reference *ref = NULL;
        time_t now = (time_t)now_seconds();
        char stamp[32], full[256];
        struct tm tm;
        git_oid there;
        int r;

        strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
        if (name)
                snprintf(full, sizeof(full), SNAPSHOTS_REF "%s", name);
        else
                snprintf(full, sizeof(full), SNAPSHOTS_REF "%s-%.12s", stamp, oid_text(commit));
        if (git_reference_name_to_id(&there, to, full) == 0) {
                if (oid_equal(&there, commit))
                        return 0;
                return errorf(-EEXIST, "there is a snapshot '%s' already, of commit %.12s; choose another name", name,
                              oid_text(&there));
        }
        r = git_reference_create(&ref, to, full, commit, 1, NULL);
        return r < 0 ? errorf(git_errno(r), "cannot store the ref %s: %s", full, git_error_text()) : 0;
}

/* The tree's HEAD, or its nearest ancestor in the index: HEAD may be newer than the last update. The repository has submodules' commits, too. */
static void find_parent(struct history *h, git_repository *from, git_repository *to, git_commit **ret)
{
        cleanup_git_revwalk git_revwalk *walk = NULL;
        uint32_t number;
        git_oid id;

        if (git_revwalk_new(&walk, from) == 0 && git_revwalk_push_head(walk) == 0)
                while (git_revwalk_next(&id, walk) == 0 && (history_number(h, &id, &number) < 0 || git_commit_lookup(ret, to, &id) < 0))
                        ;
}

/* True if a snapshot of this name has the same tree and parent. */
static bool was_taken(git_repository *to, const char *name, const git_oid *tree, const git_commit *parent, git_oid *ret)
{
        cleanup_git_commit git_commit *c = NULL;
        char full[256];

        snprintf(full, sizeof(full), SNAPSHOTS_REF "%s", name);
        return git_reference_name_to_id(ret, to, full) == 0 && git_commit_lookup(&c, to, ret) == 0 &&
               oid_equal(git_commit_tree_id(c), tree) && git_commit_parentcount(c) == (parent != NULL) &&
               (!parent || oid_equal(git_commit_parent_id(c, 0), git_commit_id(parent)));
}

/* Any other revision of this name would be lost behind the snapshot. */
static int check_name_is_free(struct history *h, git_repository *to, const char *name)
{
        char ref[256];
        uint32_t number;
        git_oid there;

        snprintf(ref, sizeof(ref), SNAPSHOTS_REF "%s", name);
        if (git_reference_name_to_id(&there, to, ref) == 0 || history_resolve(h, name, &number) < 0)
                return 0;
        return errorf(-EEXIST, "'%s' names a commit of %s already; choose another name", name, h->name);
}

static int take_snapshot(struct history *h, git_repository *from, git_repository *to, const struct snapshot_request *request,
                         git_oid *ret)
{
        cleanup_git_commit git_commit *parent = NULL;
        git_oid tree;
        int r;

        find_parent(h, from, to, &parent);
        if (!parent && !request->force)
                return errorf(-EINVAL,
                              "%s has no commit in common with %s: is it another repository? 'solverfs solver update %s' fetches "
                              "new commits; with --force it is taken as it is",
                              request->dir, h->name, h->name);
        r = write_tree(from, to, request->force, &tree);
        if (r < 0)
                return r;
        if (parent && oid_equal(git_commit_tree_id(parent), &tree)) {
                *ret = *git_commit_id(parent); /* nothing is uncommitted */
                return request->name ? write_ref(to, ret, request->name) : 0;
        }
        if (request->name && was_taken(to, request->name, &tree, parent, ret))
                return 0;
        return write_commit(to, &tree, parent, git_repository_workdir(from), ret)
            ?: write_ref(to, ret, request->name);
}

int history_snapshot(struct history *h, const struct snapshot_request *request, uint32_t *ret_number)
{
        cleanup_git_repository git_repository *from = NULL, *to = NULL;
        cleanup_close int lock = -1;
        git_oid commit;
        uint32_t n_new;
        int r = request->name ? check_name(request->name) : 0;

        if (r == 0)
                r = history_lock(h->repos_dir, h->name, NULL, &lock) ?: history_repository(h, &to);
        if (r == 0 && request->name)
                r = check_name_is_free(h, to, request->name);
        if (r == 0)
                r = open_tree(request->dir, &from)
                    ?: take_snapshot(h, from, to, request, &commit)
                    ?: history_index(h, to, NULL, &n_new);
        return r < 0 ? r : history_number(h, &commit, ret_number);
}
