/* gc. It frees what nothing refers to, then copies, then what exceeds a bound. */
#include "core/care/care_internal.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "core/query/query_internal.h"
#include "core/query/scrambled.h"
#include "core/run/leftovers.h"

struct kept_program {
        struct digest id; /* first: lists are sorted by digest_compare() */
        uint64_t bytes;
        int64_t built;   /* last build; INT64_MIN: no build refers to it */
        int64_t touched; /* when it was last stored, or a build made it again */
};

struct collecting {
        struct workspace *workspace;
        const struct care_plan *plan;
        const struct care_watch *watch;
        struct care_freed *freed;

        struct kept_program *programs; /* malloc'd */
        size_t n_programs;
        struct digest_list wanted; /* files that recipes name */
};

/* Bytes on disk below a path; what cannot be read counts as 0. */
static uint64_t size_of(const char *path)
{
        cleanup_free char *root = copy_string(path);
        char *roots[] = {root, NULL};
        FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
        uint64_t bytes = 0;

        for (FTSENT *e; fts && (e = fts_read(fts));)
                if (e->fts_info != FTS_DP && e->fts_statp)
                        bytes += (uint64_t)e->fts_statp->st_blocks * 512;
        if (fts)
                fts_close(fts);
        return bytes;
}

/* Calls fn for each name in <store>/<folder>. */
static int each_in(struct collecting *c, const char *folder, int (*fn)(void *user, const char *dir, const char *name), void *user)
{
        cleanup_free char *path = format_string("%s/%s", workspace_dir(c->workspace), folder);

        return folder_each(path, fn, user);
}

static int drop_tree(struct collecting *c, const char *dir, const char *name, struct care_part *part, const char *why)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        uint64_t bytes = size_of(path);
        int r = c->plan->dry_run ? 0 : remove_tree(path);

        if (r == -ENOTEMPTY || r == -EBUSY) { /* being written to: left to the next gc */
                uint64_t left = size_of(path);

                part->bytes += bytes - MIN(bytes, left);
                part->left += left;
                return 0;
        }
        if (r < 0)
                return r;
        part->n++;
        part->bytes += bytes;
        if (*why)
                care_say(c->watch, "leftovers", CARE_NOTE, "%s: %s", path, why);
        return 0;
}

/* -- leftovers -------------------------------------------------------------------------------------------------- */

static bool is_repository(struct collecting *c, const char *name, size_t length)
{
        struct recipe **recipes;
        size_t n;
        bool found = false;

        /* Asks the config, not the open solvers: a repository that cannot be opened now must not be deleted, and none if the config is lost. */
        if (workspace_recipes(c->workspace, &recipes, &n) < 0)
                return true;
        for (size_t i = 0; i < n && !found; i++)
                found = !recipes[i]->base && strlen(recipes[i]->name) == length && strncmp(recipes[i]->name, name, length) == 0;
        recipe_list_free(recipes, n);
        return found;
}

/* Why something in a folder of the store is a leftover; NULL: it is not. "": without a message. */
typedef const char *(*leftover_fn)(struct collecting *c, const char *name);

/* With solvers.lock held, so that no clone is under way. */
static const char *why_repository(struct collecting *c, const char *name)
{
        if (fnmatch("?*.part", name, 0) == 0)
                return "a clone that was broken off";
        if (fnmatch("?*.git", name, 0) != 0 || strcmp(name, RECIPE_PROGRAMS ".git") == 0) /* a lock; a small one without a source */
                return NULL;
        return is_repository(c, name, strlen(name) - strlen(".git")) ? NULL : "the repository of no solver";
}

#define CCACHE_GONE ".ccache-gone" /* not a solver's: those do not begin with a dot */

static const char *why_worktrees(struct collecting *c, const char *name)
{
        return strcmp(name, "ccache") == 0 || is_repository(c, name, strlen(name)) ? NULL : "worktrees of no solver";
}

static const char *why_set_aside(struct collecting *, const char *name)
{
        return strncmp(name, "lmdb.damaged", 12) == 0 ? "a database set aside as damaged, and rebuilt since" : NULL;
}

static const char *why_scratch(struct collecting *c, const char *name)
{
        return scratch_is_left(workspace_dir(c->workspace), name) ? "" : NULL;
}

struct leftovers {
        struct collecting *collecting;
        leftover_fn why;
};

static int drop_leftover(void *user, const char *dir, const char *name)
{
        const struct leftovers *l = user;
        struct collecting *c = l->collecting;
        const char *why = l->why(c, name);

        return why ? drop_tree(c, dir, name, &c->freed->leftovers, why) : 0;
}

static int drop_leftovers_in(struct collecting *c, const char *folder, leftover_fn why)
{
        return each_in(c, folder, drop_leftover, &(struct leftovers){c, why});
}

/* Deletes files that never became a case, or whose case's entry is lost; then the file is all that is left of the case. */
static int drop_cases(struct collecting *c)
{
        uint64_t n, bytes;
        int r = cases_sweep(workspace_cases(c->workspace), c->plan->dry_run || !c->plan->lost_cases, &n, &bytes);

        if (r < 0 || n == 0)
                return r;
        if (c->plan->lost_cases) {
                c->freed->leftovers.n += n;
                c->freed->leftovers.bytes += bytes;
        } else {
                care_say(c->watch, "cases", CARE_NOTE, CARE_LOST_CASES, (unsigned long long)n, (unsigned long long)bytes);
        }
        return 0;
}

#define SCRAMBLED_STALE 86400 /* seconds; a younger input's run may still be going on */

static int drop_scrambled(struct collecting *c)
{
        uint64_t n, bytes;
        int r = scrambled_sweep(c->workspace, c->plan->dry_run, SCRAMBLED_STALE, &n, &bytes);

        c->freed->leftovers.n += n;
        c->freed->leftovers.bytes += bytes;
        return r;
}

static int drop_leftovers(struct collecting *c)
{
        cleanup_close int lock = -1;
        /* `solver add` holds this lock: the repository exists before the config names it. */
        int r = lock_try(workspace_dir(c->workspace), "solvers.lock", LOCK_ALONE, &lock);

        if (r == 0)
                r = drop_leftovers_in(c, "repos", why_repository) ?: drop_leftovers_in(c, "work", why_worktrees);
        if (r == 0 || r == -EAGAIN)
                r = drop_leftovers_in(c, ".", why_set_aside);
        if (r == 0)
                r = drop_leftovers_in(c, "scratch", why_scratch) ?: drop_scrambled(c) ?: drop_cases(c);
        if (r == 0 && !c->plan->dry_run)
                leftovers_sweep(workspace_dir(c->workspace));
        return r;
}

/* -- copies of programs ----------------------------------------------------------------------------------------- */

/* Deletes a copy, or a download, unless it is in use. */
static void drop_idle(struct collecting *c, const char *path, struct care_part *part)
{
        const uint64_t bytes = size_of(path);
        cleanup_close int fd = lock_if_idle(path);
        bool gone = fd >= 0 && (c->plan->dry_run || unlink(path) == 0);

        part->n += gone;
        *(gone ? &part->bytes : &part->left) += bytes;
}

static int drop_copy(void *user, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        struct collecting *c = user;
        struct digest d;

        if (digest_parse(name, &d) == 0)
                drop_idle(c, path, &c->freed->copies);
        return 0;
}

/* -- worktrees and ccache --------------------------------------------------------------------------------------- */

struct worktrees {
        size_t n;
        uint64_t bytes;
};

/* The worktrees of one repository: the numbered folders in <store>/work/<repository>. */
static int look_at_worktree(void *user, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        struct worktrees *w = user;

        if (name[strspn(name, "0123456789")] == '\0') {
                w->bytes += size_of(path);
                w->n++;
        }
        return 0;
}

static int prune(void *user, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        struct collecting *c = user;
        struct worktrees before = {0}, after = {0};
        int r = 0;

        if (strcmp(name, "ccache") == 0)
                return 0;
        folder_each(path, look_at_worktree, &before);
        if (!c->plan->dry_run) { /* a dry run assumes that none is in use */
                r = build_prune(path);
                folder_each(path, look_at_worktree, &after);
        }
        c->freed->worktrees.n += before.n - MIN(before.n, after.n);
        c->freed->worktrees.bytes += before.bytes - MIN(before.bytes, after.bytes);
        c->freed->worktrees.left += after.bytes;
        return r;
}

/* Builds share ccache.lock. The folder is renamed first, so that no build waits for its deletion. */
static int drop_ccache(struct collecting *c, bool all)
{
        cleanup_free char *work = format_string("%s/work", workspace_dir(c->workspace)), *path = format_string("%s/ccache", work),
                          *gone = format_string("%s/" CCACHE_GONE, work);
        cleanup_close int lock = -1;
        int r;

        if (access(path, F_OK) < 0)
                return 0;
        c->freed->ccache.left = size_of(path);
        if (!all)
                return 0;
        r = lock_try(workspace_dir(c->workspace), "ccache.lock", LOCK_ALONE, &lock);
        if (r < 0)
                return r == -EAGAIN ? 0 : r;
        c->freed->ccache.left = 0;
        if (c->plan->dry_run)
                return drop_tree(c, work, "ccache", &c->freed->ccache, "");
        r = remove_tree(gone);
        if (r == 0 && rename(path, gone) < 0)
                r = errorf(-errno, "cannot rename %s: %s", path, strerror(errno));
        closep(&lock);
        return r < 0 ? r : drop_tree(c, work, CCACHE_GONE, &c->freed->ccache, "");
}

/* -- programs in the store -------------------------------------------------------------------------------------- */

#define UNWANTED_STALE 3600 /* seconds; a build's programs are stored a moment before its record */

static int note_program(void *user, const char *, const struct digest *id, const struct stat *st)
{
        struct collecting *c = user;

        if (!id)
                return 0;
        list_add(c->programs, c->n_programs, (struct kept_program){*id, (uint64_t)st->st_size, INT64_MIN, st->st_mtime});
        c->freed->programs.left += (uint64_t)st->st_size;
        return 0;
}

static void note_build(const struct collecting *c, struct slice value)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        if (build_record_decode(value, WITHOUT_LOG, &record) < 0)
                return; /* fsck reports records that cannot be read */
        for (size_t i = 0; record->ok && i < record->n_outputs; i++) {
                struct kept_program *p = find_in_list(&record->outputs[i].id, c->programs, c->n_programs, sizeof(*p), digest_compare);

                if (p)
                        p->built = MAX(p->built, record->started);
        }
}

/* Programs of no build go first: their build failed or was killed after storing them, or was repeated. */
static int by_age(const void *a, const void *b)
{
        const struct kept_program *x = a, *y = b;

        return ORDER(x->built, y->built) ?: ORDER(x->touched, y->touched);
}

/* Lists all programs in the order of deletion. Reads programs before builds, so that every listed program's record is seen. */
static int list_programs(struct collecting *c)
{
        cleanup_walk struct store_walk builds = {.store = workspace_store(c->workspace), .table = TABLE_BUILDS};
        int r;

        c->n_programs = 0;
        free(steal_pointer(c->programs));
        c->freed->programs.left = 0;
        r = programs_each(workspace_programs(c->workspace), note_program, c);
        sort_list(c->programs, c->n_programs, sizeof(*c->programs), digest_compare);
        if (r == 0)
                while ((r = store_walk(&builds)) > 0)
                        note_build(c, builds.value);
        sort_list(c->programs, c->n_programs, sizeof(*c->programs), by_age);
        return r;
}

/* Removes the first `n` of the list, all at once. A program that stays and is a delta against one of them is stored again, and may become larger. */
static int drop_first(struct collecting *c, size_t n)
{
        cleanup_digests struct digest_list ids = {0};
        int r;

        c->freed->programs.n += n;
        for (size_t i = 0; i < n; i++) {
                digest_list_add(&ids, c->programs[i].id.bytes);
                c->freed->programs.bytes += c->programs[i].bytes;
                c->freed->programs.left -= c->programs[i].bytes;
        }
        if (c->plan->dry_run) {
                c->n_programs -= n;
                if (n > 0)
                        memmove(c->programs, c->programs + n, c->n_programs * sizeof(*c->programs));
                return 0;
        }
        digest_list_sort(&ids);
        r = programs_remove(workspace_programs(c->workspace), ids.list, n, c->watch->progress);
        return r < 0 ? r : list_programs(c);
}

static uint64_t all_left(const struct care_freed *f)
{
        return f->copies.left + f->worktrees.left + f->ccache.left + f->programs.left;
}

static int drop_to_bound(struct collecting *c)
{
        int r = 0;

        while (r == 0 && c->n_programs > 0 && all_left(c->freed) > c->plan->keep) {
                uint64_t excess = all_left(c->freed) - c->plan->keep, bytes = 0;
                size_t n = 0;

                while (n < c->n_programs && bytes < excess)
                        bytes += c->programs[n++].bytes;
                r = drop_first(c, n);
        }
        return r;
}

/* -- downloads -------------------------------------------------------------------------------------------------- */

/* Drops a whole file, or a part, which is locked while it is being fetched. */
static int drop_download(void *user, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        struct collecting *c = user;
        struct digest d;
        bool whole = digest_parse(name, &d) == 0;

        if (!whole && *name != '.')
                return 0;
        if (whole && digest_list_find(&c->wanted, &d))
                c->freed->downloads.left += size_of(path);
        else
                drop_idle(c, path, &c->freed->downloads);
        return 0;
}

/* Drops none if the config cannot be read. Holds the lock of `solver add`, which may be writing the recipe that names one. */
static int drop_downloads(struct collecting *c)
{
        cleanup_close int lock = -1;

        if (lock_try(workspace_dir(c->workspace), "solvers.lock", LOCK_ALONE, &lock) < 0 ||
            care_wanted_files(c->workspace, &c->wanted) < 0)
                return 0;
        digest_list_sort(&c->wanted);
        return each_in(c, "downloads", drop_download, c);
}

/* -- the journal ------------------------------------------------------------------------------------------------ */

#define JOURNAL_WORTH (UINT64_C(16) << 20) /* least gain in bytes that is worth rewriting it */

/* The journal has every value ever stored, the tables only the live ones. */
static int compact_journal(struct collecting *c)
{
        struct store_stats before, after;
        uint64_t alive = 0;
        int r = store_stats(workspace_store(c->workspace), &before);

        if (r < 0)
                return r;
        for (size_t i = 0; i < before.n_tables; i++)
                alive += before.tables[i].bytes;
        after = before;
        if (before.journal_bytes > 2 * alive + JOURNAL_WORTH) {
                if (c->plan->dry_run)
                        after.journal_bytes = alive;
                else if ((r = store_compact(workspace_store(c->workspace))) == 0)
                        r = store_stats(workspace_store(c->workspace), &after);
                c->freed->journal.n = 1;
        }
        c->freed->journal.bytes = before.journal_bytes - MIN(before.journal_bytes, after.journal_bytes);
        c->freed->journal.left = after.journal_bytes;
        return r;
}

/* The lists are small: the journal shrinks by them. */
static int drop_used_lists(struct collecting *c)
{
        return c->plan->dry_run ? 0 : build_used_sweep(c->workspace);
}

static int measure_ccache(struct collecting *c)
{
        return drop_ccache(c, false);
}

/* Frees programs of no build, whatever the bound; then what exceeds it. The compiler cache makes the programs again quickly: it goes only where
 * dropping every program would not be enough. */
static int drop_programs(struct collecting *c)
{
        size_t n = 0;
        int r = list_programs(c);

        while (n < c->n_programs && c->programs[n].built == INT64_MIN && is_older_than(c->programs[n].touched, UNWANTED_STALE))
                n++;
        if (r == 0)
                r = drop_first(c, n);
        if (r == 0 && c->plan->bounded && all_left(c->freed) - c->freed->programs.left > c->plan->keep)
                r = drop_ccache(c, true);
        if (r == 0 && c->plan->bounded)
                r = drop_to_bound(c);
        return r;
}

int care_collect(struct workspace *w, const struct care_plan *plan, const struct care_watch *watch, struct care_freed *ret)
{
        static const struct {
                const char *what;
                int (*drop)(struct collecting *c);
                const char *folder; /* or: drop_name is called for each name in it */
                int (*drop_name)(void *user, const char *dir, const char *name);
        } areas[] = {{"leftovers", drop_leftovers},      {"copies of programs", NULL, "programs", drop_copy},
                     {"worktrees", NULL, "work", prune}, {"ccache", measure_ccache},
                     {"downloads", drop_downloads},      {"lists of what builds used", drop_used_lists},
                     {"journal", compact_journal},       {"programs", drop_programs}};
        struct collecting c = {.workspace = w, .plan = plan, .watch = watch, .freed = ret};
        int r = 0;

        *ret = (struct care_freed){0};
        for (size_t i = 0; i < ARRAY_SIZE(areas) && r == 0; i++) {
                r = progress_step(watch->progress, areas[i].what, 0, 0);
                if (r == 0)
                        r = areas[i].drop ? areas[i].drop(&c) : each_in(&c, areas[i].folder, areas[i].drop_name, &c);
        }
        digest_list_done(&c.wanted);
        free(c.programs);
        return r;
}
