/* Reading through the mount: opens, stats, listings, and a backup. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "bench.h"
#include "fixture.h"

#define FILES   2000 /* of a round */
#define READERS 4

/* -- the files of a round -- */

struct files {
        char (*paths)[256];
        size_t n;
        size_t readers;
};

static void files_done(struct files *f)
{
        free(f->paths);
}
#define cleanup_files cleanup(files_done)

/* The `time` of cells spread over all commits and cases, in no order, by paths relative to `top`/`sha`: an open by a relative path is an open,
 * and not a walk. */
static int files_of(const struct fixture *f, const char *top, size_t readers, struct files *ret)
{
        uint64_t state = 42;

        *ret = (struct files){.paths = calloc(FILES, sizeof(*ret->paths)), .n = FILES, .readers = readers};
        if (!ret->paths)
                return -ENOMEM;
        for (size_t i = 0; i < FILES; i++)
                if (snprintf(ret->paths[i], sizeof(*ret->paths), "%s/%s/cases/%u/time", top,
                             f->shas[bench_random(&state) % f->known],
                             1 + bench_random(&state) % f->cases) >= (int)sizeof(*ret->paths))
                        return errorf(-ENAMETOOLONG, "%s is too long a path: choose another --dir", top);
        return 0;
}

static int read_one(const char *path)
{
        char bytes[256];
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        n = read(fd, bytes, sizeof(bytes));
        close(fd);
        return n > 0 ? 0 : errorf(-EIO, "%s is empty", path);
}

struct reader {
        const struct files *files;
        size_t first, end;
        int r;
        pthread_t thread;
};

static void *reader_thread(void *user)
{
        struct reader *d = user;

        for (size_t i = d->first; d->r == 0 && i < d->end; i++)
                d->r = read_one(d->files->paths[i]);
        return NULL;
}

static int measure_read(void *user, double *ret)
{
        const struct files *f = user;
        struct reader readers[READERS] = {0};
        double began = bench_now();
        int r = 0;

        if (f->readers == 1) {
                readers[0] = (struct reader){.files = f, .end = f->n};
                reader_thread(&readers[0]);
                r = readers[0].r;
        } else
                for (size_t i = 0; i < f->readers; i++) {
                        readers[i] =
                                (struct reader){.files = f, .first = f->n / f->readers * i, .end = f->n / f->readers * (i + 1)};
                        pthread_create(&readers[i].thread, NULL, reader_thread, &readers[i]);
                }
        for (size_t i = 0; f->readers > 1 && i < f->readers; i++) {
                pthread_join(readers[i].thread, NULL);
                r = readers[i].r < 0 ? readers[i].r : r;
        }
        *ret = (bench_now() - began) / (double)f->n;
        return r;
}

static int measure_stat(void *user, double *ret)
{
        const struct files *f = user;
        double began = bench_now();
        struct stat st;

        for (size_t i = 0; i < f->n; i++)
                if (stat(f->paths[i], &st) < 0)
                        return errorf(-errno, "cannot stat %s: %s", f->paths[i], strerror(errno));
        *ret = (bench_now() - began) / (double)f->n;
        return 0;
}

/* -- rows -- */

static int warm_up(struct files *f)
{
        double ignored;
        int r = measure_read(f, &ignored);

        return r < 0 ? r : measure_read(f, &ignored);
}

static int row_read(const char *what, const char *against, double most, struct files *ours, struct files *theirs)
{
        int r = warm_up(ours);

        if (r == 0)
                r = warm_up(theirs);
        return r < 0 ? r
                     : bench_compare(&(struct row){.what = what, .against = against, .most = most}, measure_read, ours,
                                     measure_read, theirs);
}

static int rows_against_squash(struct fixture *f)
{
        static const char *const names[] = {"warm open+read+close of time, one reader",
                                            "warm open+read+close of time, four readers",
                                            "cold stat of time, its folders included"};
        char top[PATH_SIZE];
        int r = 0;

        if (!f->has_image || !bench_has("squashfuse_ll")) {
                for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                        bench_skip(names[i], "squashfuse_ll and mksquashfs are not both installed");
                return 0;
        }
        r = path_join(top, f->mount, "many/commits");
        if (r == 0)
                r = fixture_mount_squash(f);
        for (size_t i = 0; r == 0 && i < 2; i++) {
                cleanup_files struct files ours = {0}, theirs = {0};

                r = files_of(f, top, i ? READERS : 1, &ours);
                if (r == 0)
                        r = files_of(f, f->squash, i ? READERS : 1, &theirs);
                if (r == 0)
                        r = row_read(names[i], "squashfuse_ll", 1.0, &ours, &theirs);
        }
        fixture_unmount_squash(f);
        return r;
}

static int rows_against_disk(struct fixture *f)
{
        cleanup_files struct files ours = {0}, cached = {0}, finished = {0}, theirs = {0};
        char top[PATH_SIZE];
        int r = path_join(top, f->mount, "many/commits");

        if (r == 0)
                r = files_of(f, top, 1, &ours);
        if (r == 0)
                r = path_join(top, f->mount, "many/cached");
        if (r == 0)
                r = files_of(f, top, 1, &cached);
        if (r == 0)
                r = path_join(top, f->finished, "many/cached");
        if (r == 0)
                r = files_of(f, top, 1, &finished);
        if (r == 0)
                r = files_of(f, f->files, 1, &theirs);
        if (r == 0)
                r = row_read("warm open+read+close of time below cached/", "ext4", 1.5, &cached, &theirs);
        if (r == 0)
                r = row_read("the same in a mount of what is finished (-o cached)", "ext4", 1.5, &finished, &theirs);
        if (r == 0)
                r = bench_compare(&(struct row){.what = "warm stat of time", .against = "ext4", .most = 1.5}, measure_stat, &ours,
                                  measure_stat, &theirs);
        return r;
}

/* Each round is a new mount: nothing is known to the kernel. */
struct cold {
        struct fixture *fixture;
        struct files files;
        bool squash;
};

static int measure_cold_stat(void *user, double *ret)
{
        struct cold *c = user;
        int r;

        fixture_unmount(c->fixture);
        fixture_unmount_squash(c->fixture);
        r = c->squash ? fixture_mount_squash(c->fixture) : fixture_mount(c->fixture);
        return r < 0 ? r : measure_stat(&c->files, ret);
}

static int row_cold_stat(struct fixture *f)
{
        struct cold ours = {.fixture = f}, theirs = {.fixture = f, .squash = true};
        cleanup_files struct files a = {0}, b = {0};
        char top[PATH_SIZE];
        int r = path_join(top, f->mount, "many/commits");

        if (!f->has_image || !bench_has("squashfuse_ll"))
                return 0; /* said already */
        if (r == 0)
                r = files_of(f, top, 1, &a);
        if (r == 0)
                r = files_of(f, f->squash, 1, &b);
        ours.files = a;
        theirs.files = b;
        if (r == 0)
                r = bench_compare(&(struct row){.what = "cold stat of time, its folders included",
                                                .against = "squashfuse_ll",
                                                .most = 1.0,
                                                .rounds = MIN(bench.rounds, 11u)},
                                  measure_cold_stat, &ours, measure_cold_stat, &theirs);
        fixture_unmount(f);
        fixture_unmount_squash(f);
        return r < 0 ? r : fixture_mount(f);
}

/* -- listings -- */

struct listing {
        struct fixture *fixture;
        char command[2 * PATH_SIZE];
        bool remount, finished; /* before each: the mount, or that of what is finished */
        bool drop;              /* before each: nothing of any disk is in memory */
};

static int remount(struct fixture *f, bool finished)
{
        if (finished) {
                fixture_unmount_finished(f);
                return fixture_mount_finished(f);
        }
        fixture_unmount(f);
        return fixture_mount(f);
}

static int measure_command(void *user, double *ret)
{
        struct listing *l = user;
        double began;
        int r = 0;

        if (l->remount)
                r = remount(l->fixture, l->finished);
        if (r == 0 && l->drop)
                r = bench_shell(NULL, "sync; echo 3 >/proc/sys/vm/drop_caches");
        began = bench_now();
        if (r == 0)
                r = bench_shell(NULL, "%s", l->command);
        *ret = bench_now() - began;
        return r;
}

static int rows_listing(struct fixture *f)
{
        struct listing ours = {.fixture = f}, theirs = {.fixture = f};
        double ignored;
        int r;

        /* The status of `ls | wc` is that of wc: the number says whether all was there. */
        snprintf(ours.command, sizeof(ours.command), "[ \"$(ls '%s/many/commits' | wc -l)\" -ge %u ]", f->mount, f->commits);
        snprintf(theirs.command, sizeof(theirs.command), "[ \"$(git -C '%s/repos/many.git' rev-list --all | wc -l)\" -ge %u ]", f->store, f->commits);
        r = measure_command(&ours, &ignored);
        if (r == 0)
                r = bench_compare(&(struct row){.what = "ls commits | wc -l, warm",
                                                .against = "git rev-list --all | wc -l",
                                                .most = 1.0,
                                                .rounds = MIN(bench.rounds, 15u)},
                                  measure_command, &ours, measure_command, &theirs);
        ours.remount = true;
        if (r == 0)
                r = bench_compare(&(struct row){.what = "ls commits | wc -l, first after mount",
                                                .against = "git rev-list --all | wc -l",
                                                .most = 3.0,
                                                .rounds = MIN(bench.rounds, 7u)},
                                  measure_command, &ours, measure_command, &theirs);
        return r;
}

/* -- a backup -- */

/* A tar into a pipe, as it does not read what it writes to /dev/null; with its own status. */
static void tar_into_pipe(char command[2 * PATH_SIZE], const char *top, const char *folder)
{
        snprintf(command, 2 * PATH_SIZE, "[ -z \"$({ { tar -C '%s' -cf - %s || echo failed >&3; } | cat >/dev/null; } 3>&1)\" ]", top, folder);
}

/* A tar of cached/ against one of the copy. */
static int row_tar(struct fixture *f, const char *how, struct listing ours, struct listing theirs)
{
        char what[128], path[PATH_SIZE];
        struct row row = {.what = what, .against = "tar of the same files on ext4", .most = 3.0, .rounds = MIN(bench.rounds, 3u)};
        int r;

        snprintf(what, sizeof(what), "tar of cached/, %u cells%s%s", f->known * f->cases,
                 ours.finished ? ", mount -o cached" : "", how);
        ours.fixture = theirs.fixture = f;
        r = path_join(path, ours.finished ? f->finished : f->mount, "many");
        if (r < 0)
                return r;
        tar_into_pipe(ours.command, path, "cached");
        tar_into_pipe(theirs.command, f->dir, "files");
        return bench_compare(&row, measure_command, &ours, measure_command, &theirs);
}

static int rows_tar(struct fixture *f, bool finished)
{
        const struct listing warm = {.finished = finished}, first = {.finished = finished, .remount = true},
                             cold = {.finished = finished, .remount = true, .drop = true};
        int r = row_tar(f, "", warm, (struct listing){0});

        if (r == 0)
                r = row_tar(f, ", first after mount", first, (struct listing){0});
        if (r == 0 && geteuid() == 0)
                r = row_tar(f, ", both from the disk", cold, (struct listing){.drop = true});
        else if (r == 0)
                bench_skip("tar of cached/, both from the disk", "only root can empty the disk's cache");
        return r;
}

int bench_tree(void)
{
        cleanup_fixture struct fixture f = {0};
        int r = fixture_open(&f);

        if (r == 0)
                r = fixture_mount(&f);
        if (r == 0)
                r = rows_against_squash(&f);
        if (r == 0)
                r = fixture_mount_finished(&f);
        if (r == 0)
                r = rows_against_disk(&f);
        if (r == 0)
                r = row_cold_stat(&f);
        if (r == 0)
                r = rows_listing(&f);
        if (r == 0)
                r = rows_tar(&f, false);
        if (r == 0)
                r = rows_tar(&f, true);
        return r;
}
