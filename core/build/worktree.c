#include "core/build/worktree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <time.h>

#include "core/build/build.h"
#include "cache/base/lock.h"

#define STATE_MAX (1 << 20)
#define TICK_NS   (20 * (int64_t)NSEC_PER_MSEC) /* the kernel's clock for mtimes goes in steps of up to 10 ms */

static int64_t wall_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * (int64_t)NSEC_PER_SEC + t.tv_nsec;
}

static const char *boot_id(char ret[64])
{
        cleanup_close int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, ret, 63);

        ret[MAX(n, 0)] = '\0';
        ret[strcspn(ret, "\n")] = '\0';
        return ret;
}

/* -- state ------------------------------------------------------------------------------------------------------ */

static bool read_digest(json_t *j, struct digest *ret)
{
        return json_is_string(j) && digest_parse(json_string_value(j), ret) == 0;
}

static int read_programs(json_t *list, struct worktree *w)
{
        w->programs = calloc(json_array_size(list) + 1, sizeof(*w->programs));
        if (!w->programs)
                return -ENOMEM;
        for (size_t i = 0; i < json_array_size(list); i++)
                if (!read_digest(json_array_get(list, i), &w->programs[w->n_programs++]))
                        return -EBADMSG;
        return 0;
}

static bool may_go_on(json_t *state, const struct worktree *w, const struct digest *key)
{
        struct digest built_by;
        char boot[64];

        return json_is_true(json_object_get(state, "tree")) && read_digest(json_object_get(state, "key"), &built_by) &&
               digest_equal(&built_by, key) && json_is_string(json_object_get(state, "boot")) &&
               strcmp(json_string_value(json_object_get(state, "boot")), boot_id(boot)) == 0 && w->built_ns <= wall_ns();
}

/* Leaves w->usable false when there is nothing to go on from, for whatever reason. */
static void read_state(struct worktree *w, const struct digest *key)
{
        cleanup_blob struct blob b = {0};
        json_t *j;

        if (access(w->state, F_OK) < 0 || read_file(w->state, STATE_MAX, &b) < 0)
                return;
        j = json_loadb(b.data, b.size, 0, NULL);
        w->built_ns = json_integer_value(json_object_get(j, "built"));
        w->usable = read_programs(json_object_get(j, "programs"), w) == 0 && manifest_read(w->files, &w->manifest) == 0 &&
                    may_go_on(j, w, key);
        json_decref(j);
}

static int write_state(struct worktree *w, const struct digest *key, const struct digest *programs, size_t n_programs, bool tree)
{
        char boot[64], hex[DIGEST_HEX_SIZE];
        json_t *list = json_array(), *j;
        cleanup_free char *text = NULL;

        for (size_t i = 0; i < n_programs; i++) {
                digest_hex(&programs[i], hex);
                json_array_append_new(list, json_string(hex));
        }
        digest_hex(key, hex);
        j = json_pack("{s:s, s:s, s:I, s:b, s:o}", "boot", boot_id(boot), "key", hex, "built", (json_int_t)wall_ns(), "tree",
                      tree, "programs", list);
        text = j ? json_dumps(j, JSON_INDENT(1)) : NULL;
        json_decref(j);
        return text ? write_file_atomic(w->state, text, strlen(text), 0600) : -ENOMEM;
}

/* -- life ------------------------------------------------------------------------------------------------------- */

static void worktree_drop(struct worktree *w)
{
        manifest_done(&w->manifest);
        free(w->programs);
        /* A process that another thread is just about to start has a copy of the descriptor, and with it the lock, until its execve. */
        if (w->lock >= 0)
                lock_drop(w->lock);
        closep(&w->lock);
        *w = (struct worktree){.lock = -1};
}

/* -EAGAIN when it is in use. */
static int worktree_open(const char *work_dir, unsigned number, const struct digest *key, struct worktree *ret)
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
        snprintf(ret->files, PATH_SIZE, "%s/%u.manifest", work_dir, number);
        snprintf(ret->tools, PATH_SIZE, "%s/%u.tools", work_dir, number);
        r = lock_try(work_dir, name, false, &ret->lock);
        if (r < 0)
                return r == -EAGAIN ? r : errorf(r, "cannot lock the worktree %s: %s", ret->path, strerror(-r));
        read_state(ret, key);
        return 0;
}

/* How many worktrees there are, by their locks: numbers are given from 0 on. */
static int count_worktrees(const char *work_dir, unsigned *ret)
{
        DIR *d = opendir(work_dir);
        struct dirent *e;

        *ret = 0;
        if (!d)
                return errorf(-errno, "cannot read %s: %s", work_dir, strerror(errno));
        while ((e = readdir(d))) {
                unsigned number;
                int n = 0;

                if (isdigit((unsigned char)e->d_name[0]) && sscanf(e->d_name, "%u.lock%n", &number, &n) == 1 && n > 0 &&
                    e->d_name[n] == '\0')
                        *ret = MAX(*ret, MIN(number, 99999U) + 1);
        }
        closedir(d);
        return 0;
}

/* One at a time looks at them: who looks at one holds it, and another would take it for one in use and make a new one. */
static int lock_pool(const char *work_dir, int *ret_fd)
{
        int r = lock_wait(work_dir, "lock", false, ret_fd);

        return r < 0 ? errorf(r, "cannot lock the worktrees in %s: %s", work_dir, strerror(-r)) : 0;
}

/* Smaller is better; NO_USE: rather a new one. */
#define NO_USE     SIZE_MAX
#define ANOTHERS   (SIZE_MAX / 2)     /* gives up a tree that another commit could go on from */
#define WITHOUT    (SIZE_MAX / 4)     /* has none */

static size_t rate(const struct worktree *w, const struct manifest *files, bool incremental)
{
        size_t distance = manifest_distance(&w->manifest, files);

        if (!w->usable)
                return incremental ? WITHOUT + distance : distance;
        if (!incremental)
                return NO_USE;
        return manifest_is_edit(&w->manifest, files) ? distance : ANOTHERS + distance;
}

int worktree_take(const char *work_dir, const struct digest *key, const struct manifest *files, bool incremental,
                  struct worktree *ret)
{
        cleanup_close int choosing = -1;
        struct worktree best = {.lock = -1};
        size_t least = NO_USE;
        unsigned n = 0;
        int r = lock_pool(work_dir, &choosing);

        if (r == 0)
                r = count_worktrees(work_dir, &n);
        /* Beyond the last: a new one, if by then there is none. */
        for (unsigned i = 0; r == 0 && (i < n || best.lock < 0); i++) {
                struct worktree w;
                size_t rating;

                r = worktree_open(work_dir, i, key, &w);
                if (r < 0) {
                        r = r == -EAGAIN ? 0 : r;
                        continue;
                }
                rating = rate(&w, files, incremental);
                if (rating < least) {
                        worktree_drop(&best);
                        best = w;
                        least = rating;
                } else {
                        worktree_drop(&w);
                }
        }
        if (r < 0) {
                worktree_drop(&best);
                return r;
        }
        best.usable = best.usable && least < WITHOUT;
        *ret = best;
        return 0;
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

int worktree_begin(struct worktree *w, bool empty)
{
        int64_t age = wall_ns() - w->built_ns;
        int r;

        if (unlink(w->state) < 0 && errno != ENOENT)
                return errorf(-errno, "cannot delete %s: %s", w->state, strerror(errno));
        r = empty ? remove_contents(w) : 0;
        if (r == 0)
                r = remove_tree(w->scratch); /* of a build that was killed */
        if (r == 0)
                r = make_folder(w->path);
        if (r == 0)
                r = make_folder(w->scratch);
        if (!empty && age < TICK_NS)
                nanosleep(&(struct timespec){.tv_nsec = TICK_NS - MAX(age, 0)}, NULL);
        return r;
}

int worktree_keep(struct worktree *w, const struct digest *key, const struct manifest *files, const struct digest *programs,
                  size_t n_programs, bool tree)
{
        int r = tree ? 0 : remove_contents(w);

        if (r == 0)
                r = manifest_write(w->files, files);
        return r == 0 ? write_state(w, key, programs, n_programs, tree) : r;
}

void worktree_release(struct worktree *w)
{
        if (w->lock < 0)
                return;
        if (remove_tree(w->scratch) < 0 || remove_tree(w->tools) < 0)
                log_warning("%s is left behind", w->scratch);
        worktree_drop(w);
}

/* -- taking down ------------------------------------------------------------------------------------------------ */

struct candidate {
        unsigned number;
        int64_t used; /* when its state was written; 0: it has none */
};

static int compare_candidates(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;

        return x->used < y->used ? -1 : x->used > y->used;
}

/* 1 when it was deleted, 0 when it is in use. */
static int take_down(const char *work_dir, unsigned number)
{
        static const struct digest none;
        struct worktree w;
        char name[32];
        int r = worktree_open(work_dir, number, &none, &w);

        if (r < 0)
                return r == -EAGAIN ? 0 : r;
        if (unlink(w.state) < 0 && errno != ENOENT)
                r = -errno;
        if (r == 0)
                r = remove_contents(&w);
        if (r == 0)
                r = remove_tree(w.scratch);
        if (r == 0)
                r = remove_tree(w.tools);
        unlink(w.files);
        if (r == 0) {
                snprintf(name, sizeof(name), "%u.lock", number);
                lock_release_unlink(work_dir, name, steal_fd(&w.lock));
        }
        worktree_drop(&w);
        return r < 0 ? r : 1;
}

int build_prune(const char *work_dir, unsigned keep)
{
        cleanup_free struct candidate *list = NULL;
        cleanup_close int choosing = -1;
        unsigned n = 0, there = 0;
        int r;

        if (access(work_dir, F_OK) < 0)
                return errno == ENOENT ? 0 : -errno;
        r = lock_pool(work_dir, &choosing);
        if (r == 0)
                r = count_worktrees(work_dir, &n);
        if (r == 0 && !(list = calloc(n + 1, sizeof(*list))))
                r = -ENOMEM;
        for (unsigned i = 0; r == 0 && i < n; i++) {
                char path[PATH_SIZE];
                struct stat st;

                if (snprintf(path, sizeof(path), "%s/%u.state", work_dir, i) >= (int)sizeof(path))
                        return -ENAMETOOLONG;
                list[there] = (struct candidate){.number = i, .used = stat(path, &st) == 0 ? st.st_mtime : 0};
                path[strlen(path) - strlen(".state")] = '\0';
                there += list[there].used > 0 || access(path, F_OK) == 0;
        }
        if (r < 0)
                return r;
        sort_list(list, there, sizeof(*list), compare_candidates);
        for (unsigned i = 0, left = there; r >= 0 && i < there && left > keep; i++) {
                r = take_down(work_dir, list[i].number);
                left -= r > 0;
        }
        return r < 0 ? r : 0;
}
