#include "core/build/worktree.h"

#include <ctype.h>
#include <jansson.h>
#include <sys/stat.h>

#include "core/build/build.h"
#include "cache/base/lock.h"

/* -- state ------------------------------------------------------------------------------------------------------ */

/* Programs by which the next one is not found near its own are no error. */
static void read_state(struct worktree *w)
{
        json_t *j = json_load_file(w->state, 0, NULL), *list = json_object_get(j, "programs");

        w->programs = allocate(json_array_size(list) + 1, sizeof(*w->programs));
        for (size_t i = 0; w->programs && i < json_array_size(list); i++) {
                const char *hex = json_string_value(json_array_get(list, i));

                if (!hex || digest_parse(hex, &w->programs[i]) < 0)
                        break;
                w->n_programs++;
        }
        json_decref(j);
}

static int write_state(struct worktree *w, const struct digest *programs, size_t n_programs)
{
        json_t *list = json_array(), *j = json_pack("{s:o}", "programs", list);
        cleanup_free char *text = NULL;
        char hex[DIGEST_HEX_SIZE];

        for (size_t i = 0; i < n_programs; i++) {
                digest_hex(&programs[i], hex);
                json_array_append_new(list, json_string(hex));
        }
        text = j ? json_dumps(j, JSON_INDENT(1)) : NULL;
        json_decref(j);
        return text ? write_file_atomic(w->state, text, strlen(text), 0600) : -ENOMEM;
}

/* -- life ------------------------------------------------------------------------------------------------------- */

static void worktree_drop(struct worktree *w)
{
        free(w->programs);
        /* A process that another thread is just about to start has a copy of the descriptor, and with it the lock, until its execve. */
        if (w->lock >= 0)
                lock_drop(w->lock);
        closep(&w->lock);
        *w = (struct worktree){.lock = -1};
}

/* -EAGAIN when it is in use. */
static int worktree_open(const char *work_dir, unsigned number, struct worktree *ret)
{
        char name[32];
        int r;

        *ret = (struct worktree){.lock = -1};
        snprintf(name, sizeof(name), "%u.lock", number);
        if (snprintf(ret->path, PATH_SIZE, "%s/%u", work_dir, number) >= PATH_SIZE - 16)
                return errorf(-ENAMETOOLONG, "path too long: %s", work_dir);
        snprintf(ret->scratch, PATH_SIZE, "%s/%u.scratch", work_dir, number);
        snprintf(ret->old, PATH_SIZE, "%s/%u.old", work_dir, number);
        snprintf(ret->state, PATH_SIZE, "%s/%u.state", work_dir, number);
        snprintf(ret->tools, PATH_SIZE, "%s/%u.tools", work_dir, number);
        r = lock_try(work_dir, name, false, &ret->lock);
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

/* Renamed first: a build whose solverfs was killed dies a moment later than its lock, and what it still writes goes there. */
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
                r = remove_tree(w->scratch); /* of a build that was killed */
        if (r == 0)
                r = make_folder(w->path);
        return r == 0 ? make_folder(w->scratch) : r;
}

int worktree_keep(struct worktree *w, const struct digest *programs, size_t n_programs)
{
        int r = remove_contents(w);

        return r == 0 && programs ? write_state(w, programs, n_programs) : r;
}

void worktree_release(struct worktree *w)
{
        if (w->lock < 0)
                return;
        if (remove_tree(w->scratch) < 0 || remove_tree(w->tools) < 0)
                log_warning("%s is left behind", w->scratch);
        worktree_drop(w);
}

/* What a killed build left, and the manifest that versions before kept. */
static int empty_idle(const char *work_dir, unsigned number)
{
        cleanup_worktree struct worktree w;
        char manifest[PATH_SIZE + 16];
        int r = worktree_open(work_dir, number, &w);

        if (r < 0)
                return r == -EAGAIN ? 0 : r;
        snprintf(manifest, sizeof(manifest), "%s.manifest", w.path);
        unlink(manifest);
        return remove_contents(&w);
}

int build_prune(const char *work_dir)
{
        cleanup_dir DIR *d = opendir(work_dir);
        struct dirent *e;
        int r = 0;

        if (!d)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot read %s: %s", work_dir, strerror(errno));
        while (r == 0 && (e = readdir(d))) {
                unsigned number;
                int n = 0;

                if (isdigit((unsigned char)e->d_name[0]) && sscanf(e->d_name, "%u.lock%n", &number, &n) == 1 && n > 0 && e->d_name[n] == '\0')
                        r = empty_idle(work_dir, number);
        }
        return r;
}
