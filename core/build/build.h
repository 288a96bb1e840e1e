/* Builds: from a recipe and a commit to programs in the store.
 *
 * Each build begins from a clean tree: the recipe's paths alone, all of one time, at one path inside the sandbox. A content-based compile cache makes
 * it fast (shim.c): an object is reused only if the preprocessor gives the same text from the same files. So no other build can influence the result.
 *
 * A failed build is an answer (ok false, with its log), kept like any other. A full disk, a missing sandbox or a cancel is an error, and leaves
 * nothing behind. If a tool is replaced meanwhile, the build is repeated: its programs would hold objects of two compilers.
 *
 * Build key = recipe_build_digest() of the commit's era (era.h) + the kind of processor + history_source(): commits that differ only in documentation
 * are one build. Compilers, headers and libraries are not in the key, but are recorded (used.h). On a cluster the key includes the workers'
 * toolchain; for a released binary it is recipe_build_digest() alone.
 *
 * Threads: any. */
#pragma once

#include "cache/store/programs.h"
#include "core/build/checkout.h"
#include "core/sandbox/execute.h"
#include "core/history/history.h"
#include "core/recipe/recipe.h"

struct build_output {
        char *name;       /* the file's own name: "z3" for build/z3 */
        struct digest id; /* in programs.h */
        uint64_t size;
        bool executable;
};

struct build_record {
        unsigned refs;
        bool ok;
        char *reason;   /* why it failed, one line: "command 2 (ninja -C build shell) exited with status 1"; NULL when ok */
        git_oid commit; /* the commit that was really built: all commits with the same key share this record */
        int64_t started;
        uint64_t duration_ns, cpu_ns, memory;
        struct build_output *outputs;
        size_t n_outputs;
        /* The programs that builds of this key have made, the first one first; `outputs` is one of them. A program is all outputs of a build
         * together, names and bytes; results are kept under its digest. If there are several, the build is not reproducible. Empty unless ok. */
        struct digest *programs;
        size_t n_programs;
        char *differs;   /* where builds differed, one line: "output kissat differs in 19 of 912344 bytes, ..."; or NULL */
        struct blob used; /* for a build just made here: the files of the machine that it used (used.h). Not in the stored record */
        struct blob log; /* the whole output of every command, each announced by a line "+ command" */
};
DECLARE_REFS(build_record)
/* The digest under which this build's results are kept, whichever of its programs is in the store: the first one's. NULL unless ok. */
const struct digest *build_record_program(const struct build_record *b);
/* True if one of the build's programs has this digest. */
bool build_record_has_program(const struct build_record *b, const struct digest *id);
void build_record_note_program(struct build_record *b); /* adds the program of `outputs` */
void build_outputs_digest(const struct build_output *list, size_t n, struct digest *ret);
/* Where the outputs of two builds differ, one line: "output kissat differs in 19 of 912344 bytes, first at 0x1f3a ("...")". *ret is malloc'd; NULL if
 * they are equal. A program that is missing in the store counts as different. */
int build_differences(struct programs *programs, const struct build_record *a, const struct build_record *b, char **ret);
/* True if the reason of a failed build is a limit that was lower than this one. Limits are not in build keys. */
bool build_limit_is_raised(const char *reason, const struct recipe_limits *now);
#define BUILD_RECORD_VERSION 2 /* its first byte in the store */
int build_record_encode(const struct build_record *b, struct buffer *ret);
enum { WITHOUT_LOG = false, WITH_LOG = true }; /* of `with_log`, here and in the queries */
/* -EBADMSG: damaged. -ENOENT: a successful incremental build, as older versions made them. In either case the commit is to be built
 * again. */
int build_record_decode(struct slice bytes, bool with_log, struct build_record **ret);

/* The errors are those of era_of(), history_source() and recipe_builder.toolchain(). */
int build_key(struct history *h, uint32_t commit, const struct recipe *r, struct digest *ret);
/* The keys of all commits, (*ret)[number]; free(). Zero for a commit that the repository has lost. See history_sources(). */
int build_keys(struct history *h, const struct recipe *r, struct digest **ret, uint32_t *ret_n);
/* A digest for each commit, (*ret)[number]; free(). `of_era` gives those of all commits under one era's recipe; each commit takes its own era's. */
typedef int (*era_digests_fn)(struct history *h, const struct recipe *era, struct digest **ret, uint32_t *ret_n);
int era_digests(struct history *h, const struct recipe *r, era_digests_fn of_era, struct digest **ret, uint32_t *ret_n);

struct build_request;
/* A cluster that builds. build() returns the record made there, with `commit` zero, or an error with the reason. The request has the era's recipe,
 * the sources have digests and sizes. */
struct build_remote {
        int (*build)(struct build_remote *b, const struct build_request *q, struct sources *s, struct build_record **ret);
};

struct build_request {
        struct programs *programs;
        struct history *history;
        uint32_t commit;
        const struct recipe *recipe; /* the solver's */
        const char *work_dir;   /* <store>/work/<repository> */
        const char *downloads_dir; /* <store>/downloads: files by their digest; NULL: none */
        const char *ccache_dir; /* bound if ccache is installed; NULL: not used */
        enum sandbox_kind sandbox;
        unsigned jobs; /* {jobs} */
        const cpu_set_t *cpus;         /* this and the next three: execute.h */
        const struct core_loan *loans;
        size_t n_loans;
        unsigned slot;
        bool again;                      /* reads nothing from the compile cache, and overwrites its entries */
        int cancel_fd;                   /* ends the running command */
        const struct progress *progress; /* "checkout", then the running command */
        const struct listener *listener; /* hears the log as it grows; another attempt's log follows. NULL: none */
        struct build_remote *remote;     /* builds there; NULL: here */
};
int build(const struct build_request *request, struct build_record **ret);

/* A build of given sources, without a history and a store: a worker's. In the request, `recipe` is an era's whole recipe; programs, history, commit
 * and remote are not read. -ESTALE with a sentence: the toolchain here is another one. */
struct build_given {
        struct manifest files; /* with their digests and sizes; build_given() takes it over */
        const char *toolchain; /* the one that the build was requested with: host_toolchain() */
        checkout_content_fn content;
        int (*output)(void *user, int fd, struct digest *ret_id, uint64_t *ret_size); /* keeps a program */
        void *user;
};
int build_given(const struct build_request *request, struct build_given *given, struct build_record **ret);

/* Empties the worktrees not in use; for gc. */
int build_prune(const char *work_dir);
