/* The bodies of packets. Each has a function that writes it and one that reads it; reading takes bytes of an enemy: -EBADMSG with a sentence for
 * whatever is too long, too large or makes no sense. What was read is freed by its _done(), also after an error. Threads: any. */
#pragma once

#include "core/remote/packet.h"
#include "core/build/build.h"
#include "core/run/execute.h"
#include "core/recipe/recipe.h"

#define REMOTE_PROTOCOL 4
#define REMOTE_PART     (1u << 20) /* bytes of a blob or of an output in one packet, before they are compressed */
#define REMOTE_WANTS    60000       /* digests that a worker asks for at once; further ones the next time */
#define REMOTE_SAID     (16u << 20) /* bytes that a worker tells of a build while it goes on, each packet counted as REMOTE_SAID_LEAST at least */
#define REMOTE_SAID_LEAST 256

/* The head's has the version alone. */
struct remote_hello {
        uint32_t protocol;
        char *version; /* of solverfs; equal on both sides */
        char *host;    /* the node's name, for people */
        char *cpu;     /* its model */
        char *kernel, *libc;
        char *toolchain; /* host_toolchain() */
        char *facts;     /* host_facts() as JSON: for run.json */
        uint32_t cores;  /* of the node */
        uint32_t slots;  /* runs at a time */
        uint64_t probe_ns; /* host_probe() */
        uint64_t left_ns; /* until the worker is ended by whoever gave it its time; UINT64_MAX: never */
};
int remote_hello_write(const struct remote_hello *h, struct buffer *ret);
int remote_hello_read(struct slice body, struct remote_hello *ret);
void remote_hello_done(struct remote_hello *h);

/* A run, whole: the worker keeps nothing between two requests that an answer depends on. */
struct remote_file {
        char *name; /* a program's, inside /solver */
        struct digest id;
        uint64_t size;
};
struct remote_run {
        char *recipe, *recipe_name; /* recipe_print() */
        struct remote_file programs[RECIPE_OUTPUTS_MAX];
        size_t n_programs;
        struct remote_file input;
        struct recipe_limits limits;
        uint64_t scratch;
        bool has_seed;
        uint64_t seed;
        enum sandbox_kind sandbox;
};
int remote_run_write(const struct remote_run *r, struct buffer *ret);
int remote_run_read(struct slice body, struct remote_run *ret);
void remote_run_done(struct remote_run *r);

/* A build. Its sources are one more file: remote_tree_write(). */
struct remote_build {
        char *recipe, *recipe_name; /* the era's */
        char *toolchain;            /* under which it is asked for */
        struct remote_file tree;
        enum sandbox_kind sandbox;
};
int remote_build_write(const struct remote_build *b, struct buffer *ret);
int remote_build_read(struct slice body, struct remote_build *ret);
void remote_build_done(struct remote_build *b);

/* Sources by digest and size, and downloads. Paths that are read lead to no other folder. */
struct remote_tree {
        struct manifest files; /* owned; their git_oid is zero */
        uint64_t *sizes;       /* owned; of each */
        struct remote_file *downloads; /* owned; without names */
        size_t n_downloads;
};
int remote_tree_write(const struct remote_tree *t, struct buffer *ret);
int remote_tree_read(struct slice bytes, struct remote_tree *ret);
void remote_tree_done(struct remote_tree *t);

/* Without its log, which came before: it is moved into *ret. */
int remote_built_write(const struct build_record *b, struct buffer *ret);
int remote_built_read(struct slice body, struct buffer *log, struct build_record **ret);

struct remote_progress {
        char *what; /* owned once read */
        uint64_t done, total;
};
int remote_progress_write(const struct remote_progress *p, struct buffer *ret);
int remote_progress_read(struct slice body, struct remote_progress *ret); /* free(ret->what) */

int remote_fetch_write(const struct remote_file *f, struct buffer *ret);
int remote_fetch_read(struct slice body, struct remote_file *ret);

/* A part of bytes, compressed where that saves. */
struct remote_part {
        struct digest id; /* of the whole; of an output: zero */
        uint64_t size;    /* of the whole; of an output: 0 stdout, 1 stderr */
        uint64_t offset;
        struct blob bytes;
};
int remote_part_write(const struct digest *id, uint64_t size, uint64_t offset, struct slice bytes, struct buffer *ret);
int remote_part_read(struct slice body, struct remote_part *ret);

int remote_result_write(const struct execute_result *r, struct buffer *ret);
/* Its outputs are the ones that came before, of which it says the sizes; `out` and `err` are moved into *ret. */
int remote_result_read(struct slice body, struct buffer *out, struct buffer *err, struct execute_result *ret);

int remote_want_write(const struct digest *list, size_t n, struct buffer *ret);
int remote_want_read(struct slice body, struct digest **ret, size_t *ret_n); /* free(*ret) */

int remote_failure_write(int r, const char *sentence, struct buffer *ret);
/* The -errno, its sentence kept by errorf() behind `who`. */
int remote_failure_read(struct slice body, const char *who);
