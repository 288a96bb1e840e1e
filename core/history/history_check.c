/* Compares a repository with the index: its origin, branches, tags and HEAD, but not its objects. */
#include "core/git/git.h"

#include <stdarg.h>

#include "cache/base/lock.h"
#include "core/history/history_internal.h"

struct ref_check {
        struct history *history;
        git_repository *git;
        bool look_only;
        history_say_fn say;
        void *user;
};

static void tell(struct ref_check *c, bool mended, const char *format, ...) printf_like(3, 4);
static void tell(struct ref_check *c, bool mended, const char *format, ...)
{
        char text[PATH_SIZE + 512];

        format_rest(text, format);
        c->say(c->user, mended, text);
}

/* -- its configuration ------------------------------------------------------------------------------------------ */

static bool has_origin(git_repository *git)
{
        cleanup_git_remote git_remote *remote = NULL;

        return git_remote_lookup(&remote, git, "origin") == 0 && git_remote_url(remote) && git_remote_refspec_count(remote) >= 2;
}

static bool config_is_readable(struct history *h)
{
        cleanup_git_config git_config *config = NULL;
        cleanup_free char *path = format_string("%s/config", h->path);

        return git_config_open_ondisk(&config, path) == 0;
}

/* Writes the config as history_clone() does. */
static int write_config(struct ref_check *c, const char *url)
{
        cleanup_git_repository git_repository *git = NULL;
        char path[PATH_SIZE];
        int r = path_join(path, c->history->path, "config");

        if (r == 0 && unlink(path) < 0 && errno != ENOENT)
                r = errorf(-errno, "cannot remove %s: %s", path, strerror(errno));
        return r < 0 ? r : history_make_bare(c->history->path, url, &git);
}

/* A truncated config may open, but lacks the address of the next update. */
static void check_config(struct ref_check *c, const char *url)
{
        int r = history_repository(c->history, &c->git);
        bool mended = false;

        if (r == 0 ? has_origin(c->git) : config_is_readable(c->history)) /* another fault is reported elsewhere */
                return;
        if (url && !c->look_only) {
                git_repository_free(steal_pointer(c->git));
                r = write_config(c, url) ?: history_repository(c->history, &c->git);
                mended = r == 0;
        }
        tell(c, mended, "%s/config does not say where the repository came from%s%s%s%s", c->history->path,
             mended ? ": it is written anew, for " : "; its remote is to be ", url ? url : "the solver's upstream",
             r < 0 ? ": " : "", r < 0 ? error_message(r) : "");
}

/* -- refs ------------------------------------------------------------------------------------------------------- */

static int full_name(const struct ref *ref, char ret[PATH_SIZE])
{
        const char *folder = ref->kind == REF_BRANCH ? "refs/heads/" : ref->kind == REF_TAG ? "refs/tags/" : "";

        return snprintf(ret, PATH_SIZE, "%s%s", folder, ref->name) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

/* Removes the ref's file first: libgit2 would read its content before writing over it. */
static int put_back(struct ref_check *c, const char *name, const git_oid *oid)
{
        cleanup_git_reference git_reference *ref = NULL;
        char path[PATH_SIZE];
        int r = path_join(path, c->history->path, name);

        if (r == 0 && unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
                r = errorf(-errno, "cannot remove %s: %s", path, strerror(errno));
        if (r == 0 && git_reference_create(&ref, c->git, name, oid, 1, NULL) < 0)
                r = errorf(-EIO, "%s", git_error_text());
        return r;
}

/* `r`: the result of restoring the ref, or what it would be. */
static void tell_lost(struct ref_check *c, const char *name, const char *what, int r, const char *was)
{
        tell(c, r == 0 && !c->look_only, "%s%s%s is %s%s%s", c->history->path, *name == '/' ? "" : ": ", name, what,
             r < 0          ? ", and cannot be put back: "
             : c->look_only ? ", and can be put back: it was "
                            : ": put back ",
             r < 0 ? error_message(r) : was);
}

/* True if an update is under way, or has ended since the list was read: it deletes refs before it lists them. Only a look takes no lock against that. */
static bool is_updated(const struct ref_check *c, const struct ref_list *l)
{
        cleanup_free char *lock = format_string("%s.lock", c->history->name);

        return c->look_only && (lock_is_held(c->history->repos_dir, lock) || history_generation(c->history) != l->generation);
}

static void check_ref(struct ref_check *c, const struct ref_list *l, const struct ref *listed)
{
        char name[PATH_SIZE], was[GIT_OID_HEXSZ + 4];
        struct commit commit = {0};
        git_oid oid;
        int r = full_name(listed, name);

        if (r < 0 || git_reference_name_to_id(&oid, c->git, name) == 0 || is_updated(c, l))
                return;
        r = history_commit(c->history, listed->commit, &commit);
        if (r == 0 && !c->look_only)
                r = put_back(c, name, &commit.oid);
        snprintf(was, sizeof(was), "at %s", oid_text(&commit.oid));
        tell_lost(c, name, "lost or damaged", r, was);
}

/* A branch at the index's HEAD; of several, one whose name begins with `target`, what a damaged HEAD still says. NULL: there is none. */
static const struct ref *head_branch(const struct ref_list *l, const char *target)
{
        const struct ref *found = NULL;

        for (size_t i = 0; i < l->n; i++) {
                char name[PATH_SIZE];

                if (l->list[i].kind != REF_BRANCH || l->list[i].commit != l->head || full_name(&l->list[i], name) < 0)
                        continue;
                if (!found || (target && strncmp(name, target, strlen(target)) == 0))
                        found = &l->list[i];
        }
        return found;
}

/* True if HEAD is damaged. If it names a missing branch it may be whole, and the branch unborn: it is cut off if head_branch() goes on from there.
 * *ret_target: the branch that it names; "": none. */
static bool head_is_cut(struct ref_check *c, const struct ref_list *l, char ret_target[PATH_SIZE])
{
        cleanup_git_reference git_reference *head = NULL;
        const struct ref *branch;
        const char *target;
        char name[PATH_SIZE];
        int valid = 0;
        git_oid oid;

        ret_target[0] = '\0';
        if (git_reference_lookup(&head, c->git, "HEAD") < 0)
                return true;
        if (git_reference_name_to_id(&oid, c->git, "HEAD") == 0)
                return false;
        target = git_reference_symbolic_target(head);
        if (!target || git_reference_name_is_valid(&valid, target) < 0 || !valid || strncmp(target, "refs/heads/", 11) != 0)
                return true;
        snprintf(ret_target, PATH_SIZE, "%s", target);
        branch = head_branch(l, target);
        return branch && full_name(branch, name) == 0 && strncmp(name, target, strlen(target)) == 0;
}

/* *ret: the branch that HEAD is to name, or the commit. */
static int put_back_head(struct ref_check *c, const struct ref_list *l, const char *target, char ret[PATH_SIZE])
{
        const struct ref *branch = head_branch(l, target);
        struct commit commit;
        char text[PATH_SIZE], path[PATH_SIZE];
        int r = path_join(path, c->history->path, "HEAD");

        if (r == 0 && branch)
                r = full_name(branch, ret);
        else if (r == 0 && (r = history_commit(c->history, l->head, &commit)) == 0)
                oid_print(ret, PATH_SIZE, &commit.oid);
        if (r == 0 && !c->look_only) {
                int n = snprintf(text, sizeof(text), "%s%s\n", branch ? "ref: " : "", ret);

                r = n < (int)sizeof(text) ? write_file_atomic(path, text, (size_t)n, 0600) : -ENAMETOOLONG;
        }
        return r;
}

static void check_head(struct ref_check *c, const struct ref_list *l)
{
        char target[PATH_SIZE], name[PATH_SIZE] = "";
        cleanup_free char *was = NULL;
        int r;

        if (l->head == COMMIT_NONE || !head_is_cut(c, l, target) || is_updated(c, l))
                return;
        r = put_back_head(c, l, target, name);
        was = format_string("%s%s", c->look_only ? "" : "as ", name);
        tell_lost(c, "/HEAD", "damaged", r, was);
}

int history_check(struct history *h, const char *url, bool look_only, history_say_fn say, void *user)
{
        struct ref_check c = {.history = h, .look_only = look_only, .say = say, .user = user};
        cleanup_refs struct ref_list *l = NULL;
        cleanup_close int lock = -1;
        int r = look_only ? 0 : history_lock(h->repos_dir, h->name, NULL, &lock);

        if (r == 0)
                r = history_refs(h, &l);
        if (r < 0)
                return r;
        check_config(&c, url);
        for (size_t i = 0; c.git && i < l->n; i++)
                check_ref(&c, l, &l->list[i]);
        if (c.git)
                check_head(&c, l);
        git_repository_free(c.git);
        return 0;
}
