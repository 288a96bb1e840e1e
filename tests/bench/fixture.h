/* What the benchmarks of the mount read: a store with a long history and many finished cells, the same files on the disk and in a squashfs
 * image, and a daemon. All of it lies in a folder; one that is there (and of the same size) is used again.
 *
 *     <dir>/store     solver `many`: a history of 37,000 commits, some of which have every case measured; solver `stuck`, which never builds
 *          /mount     where it is mounted
 *          /finished  where only what is finished of it is (mount -o cached)
 *          /files     a copy of many/cached: <sha>/cases/<case>/time …
 *          /image     the same as a squashfs image; mounted at /squash */
#pragma once

#include "core/query/query.h"

#define FIXTURE_SERVE "serve" /* argv[1] of the daemon: serve STORE MOUNTPOINT whole|finished */
#define FIXTURE_STUCK 100     /* commits of `stuck` */

struct fixture {
        char dir[PATH_SIZE], store[PATH_SIZE], mount[PATH_SIZE], finished[PATH_SIZE], files[PATH_SIZE], image[PATH_SIZE],
                squash[PATH_SIZE];
        uint32_t commits; /* of `many` */
        uint32_t known;   /* of those, commits with every case measured */
        uint32_t cases;
        char (*shas)[GIT_OID_HEXSZ + 1];           /* of the known ones; owned */
        char (*stuck)[GIT_OID_HEXSZ + 1];          /* of all of `stuck`; owned */
        pid_t daemon, finished_daemon, squashfuse; /* 0: not running */
        bool has_image;
};

int fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);
#define cleanup_fixture cleanup(fixture_close)

int fixture_mount(struct fixture *f);
void fixture_unmount(struct fixture *f);
int fixture_mount_finished(struct fixture *f);
void fixture_unmount_finished(struct fixture *f);
int fixture_mount_squash(struct fixture *f);
void fixture_unmount_squash(struct fixture *f);
/* RssAnon of the daemon, in bytes. */
double fixture_memory(const struct fixture *f);

/* The daemon itself: mounts, says "ready" on standard output, serves. */
int fixture_serve(const char *store, const char *mount, bool finished);
/* Starts it for another store; waits until it answers. Ended by fixture_stop(). */
int fixture_start(const char *store, const char *mount, bool finished, pid_t *ret);
void fixture_stop(const char *mount, pid_t pid);

/* -- making stores -- */

/* A bare repository at `path` of `commits` commits, each changing one of 100 files below src/. */
int fixture_history(const char *path, uint32_t commits);
/* Makes a store (when there is none) and adds a solver to it; `recipe` is a recipe file's text. */
int fixture_add_solver(const char *store, const char *name, const char *recipe, const char *repository);
/* Adds `n` cases of SMT-LIB to the store. */
int fixture_add_cases(const char *store, uint32_t n);
/* Makes the cells of `known` commits, every so many of a solver's, with the first `cases` cases finished: sat, in the nanoseconds that `time` says. */
typedef uint64_t (*fixture_time_fn)(uint32_t commit, uint32_t case_id);
int fixture_put_cells(const char *store, const char *solver, uint32_t known, uint32_t every, uint32_t cases, fixture_time_fn time);
