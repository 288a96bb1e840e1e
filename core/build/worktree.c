#include "core/build/worktree.h"

#include <ctype.h>
#include <sys/stat.h>

#include "core/build/build.h"
#include "cache/base/lock.h"

/* -- state: the digests of the programs, one per line ------------------------------------------------------------ */

/* Reads the state. Errors are ignored: without it the next program just has no similar one to be stored against. */
static void read_state(struct worktree *w)
{
        cleanup_blob struct blob text = {0};
        struct digest d;

        if (read_file(w->state, 1 << 16, &text) < 0)
                return;
        for (size_t at = 0; at + DIGEST_HEX_SIZE <= text.size; at += DIGEST_HEX_SIZE) {
                cleanup_free char *hex = copy_prefix((const char *)text.data + at, DIGEST_HEX_SIZE - 1);

                if (digest_parse(hex, &d) < 0)
                        break;
                digest_list_add(&w->programs, d.bytes);
        }
}

static int write_state(const struct worktree *w, const struct digest_list *programs)
{
        cleanup_buffer struct buffer text = {0};

        for (size_t i = 0; i < programs->n; i++)
                buffer_addf(&text, "%s\n", digest_text(&programs->list[i]).s);
        return write_file_atomic(w->state, text.data, text.size, 0600);
}

/* -- life ------------------------------------------------------------------------------------------------------- */

/* -EAGAIN if it is in use. */
static int worktree_open(const char *work_dir, unsigned number, struct worktree *ret)
{
        char name[32];
        int r;

        *ret = (struct worktree){.lock = -1};
        snprintf(name, sizeof(name), "%u.lock", number);
        if (snprintf(ret->path, PATH_SIZE, "%s/%u", work_dir, number) >= PATH_SIZE - 16) /* room for the suffixes */
                return errorf(-ENAMETOOLONG, "path too long: %s", work_dir);
        snprintf(ret->scratch, PATH_SIZE, "%s/%u.scratch", work_dir, number);
        snprintf(ret->old, PATH_SIZE, "%s/%u.old", work_dir, number);
        snprintf(ret->state, PATH_SIZE, "%s/%u.state", work_dir, number);
        snprintf(ret->tools, PATH_SIZE, "%s/%u.tools", work_dir, number);
        r = lock_try(work_dir, name, LOCK_ALONE, &ret->lock);
        return r == 0 || r == -EAGAIN ? r : errorf(r, "cannot lock the worktree %s: %s", ret->path, strerror(-r));
}

int worktree_take(const char *work_dir, struct worktree *ret)
{
        int r = -EAGAIN;

        for (unsigned i = 0; r == -EAGAIN; i++)
                r = worktree_open(work_dir, i, ret);
        if (r == 0)
                read_state(ret);
        return r;
}

static int make_folder(const char *path)
{
        return mkdir(path, 0700) < 0 && errno != EEXIST ? errorf(-errno, "cannot make folder %s: %s", path, strerror(errno)) : 0;
}

/* Renames the folder first: processes of a build whose solverfs was killed outlive its lock for a moment, and write on into the renamed one. */
static int remove_contents(struct worktree *w)
{
        int r = remove_tree(w->old);

        if (r < 0)
                return r;
        if (rename(w->path, w->old) < 0)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot rename %s: %s", w->path, strerror(errno));
        if (remove_tree(w->old) < 0)
                log_warning("%s is left behind until its next use", w->old);
        return 0;
}

int worktree_begin(struct worktree *w)
{
        int r = remove_contents(w);

        if (r == 0)
                r = remove_tree(w->scratch); /* left by a killed build */
        if (r == 0)
                r = make_folder(w->path);
        return r == 0 ? make_folder(w->scratch) : r;
}

int worktree_finish(struct worktree *w, const struct digest_list *programs)
{
        int r = remove_contents(w);

        return r == 0 && programs ? write_state(w, programs) : r;
}

void worktree_release(struct worktree *w)
{
        if (w->lock < 0)
                return;
        if (remove_tree(w->scratch) < 0)
                log_warning("%s is left behind", w->scratch);
        if (remove_tree(w->tools) < 0)
                log_warning("%s is left behind", w->tools);
        digest_list_done(&w->programs);
        lock_drop(w->lock); /* another thread's new process has a copy of the descriptor until its execve */
        closep(&w->lock);
}

/* Removes the files of a killed build, if the name is that of a worktree's lock. A worktree in use stays. */
static int empty_idle(void *, const char *work_dir, const char *name)
{
        cleanup_worktree struct worktree w = {.lock = -1};
        unsigned number;
        int n = 0, r;

        if (!isdigit((unsigned char)name[0]) || sscanf(name, "%u.lock%n", &number, &n) != 1 || n == 0 || name[n] != '\0')
                return 0;
        r = worktree_open(work_dir, number, &w);
        return r == -EAGAIN ? 0 : r < 0 ? r : remove_contents(&w);
}

int build_prune(const char *work_dir)
{
        return folder_each(work_dir, empty_idle, NULL);
}
