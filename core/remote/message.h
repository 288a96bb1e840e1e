/* The bodies of packets. Read bytes are not trusted: -EBADMSG with a sentence if a body is too long, too large or makes no sense. Threads: any. */
#pragma once

#include "core/remote/packet.h"
#include "core/build/build.h"
#include "core/sandbox/execute.h"
#include "core/recipe/recipe.h"

#define REMOTE_PROTOCOL 10
#define REMOTE_PART     (1u << 20) /* uncompressed bytes of a blob or of an output in one packet */
#define REMOTE_WANTS    60000       /* digests that a worker asks for at once; the rest follow in the next packet */
#define REMOTE_SAID     (16u << 20) /* limit on the output that a worker sends during a build; each packet counts as at least REMOTE_SAID_LEAST */
#define REMOTE_SAID_LEAST 256

/* Messages with fields only: PACKET_HELLO is a struct remote_hello, PACKET_RUN a remote_run, PACKET_BUILD a remote_build, PACKET_FETCH a remote_file
 * without a name, PACKET_WANT a digest_list (its first REMOTE_WANTS; the caller owns one that was read), PACKET_PROGRESS a remote_progress,
 * PACKET_RESULT an execute_result without its bytes. */
void message_write(enum packet_type type, void *message, struct buffer *ret); /* leaves the message unchanged */
int message_read(enum packet_type type, struct slice body, void *ret);
void message_done(enum packet_type type, void *message); /* frees a message that was read, also after an error */

/* The head's hello has the protocol and the version only. */
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
        uint64_t left_ns; /* until the scheduler ends the worker's job; UINT64_MAX: never */
        uint64_t memory;  /* bytes that a run may have at most, as srun --mem sets it; 0: any number */
};

/* A file that a request names. Each run is complete in itself: no answer depends on earlier requests. */
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
        uint64_t scratch; /* bytes that the scratch folder may hold; 0: RUN_SCRATCH */
        bool has_seed;
        uint64_t seed;
        enum sandbox_kind sandbox;
};

/* A build. Its sources are sent as one more file: remote_tree_write(). */
struct remote_build {
        char *recipe, *recipe_name; /* the era's */
        char *toolchain;            /* that the build is asked for with */
        struct remote_file tree;
        enum sandbox_kind sandbox;
};

/* Sources by digest and size, and downloads. Paths are checked at reading: none leads out of its folder. */
struct remote_tree {
        struct manifest files; /* owned; their git_oid is zero */
        struct remote_file *downloads; /* owned; without names */
        size_t n_downloads;
};
int remote_tree_write(struct remote_tree *t, struct buffer *ret); /* leaves it unchanged */
int remote_tree_read(struct slice bytes, struct remote_tree *ret);
void remote_tree_done(struct remote_tree *t);

/* The record without its log, which was sent before. remote_built_read() moves `log` into *ret. */
int remote_built_write(const struct build_record *b, struct buffer *ret);
int remote_built_read(struct slice body, struct buffer *log, struct build_record **ret);

struct remote_progress {
        char *what;
        uint64_t done, total;
};

/* A part of a file or of an output, compressed if that saves bytes. */
struct remote_part {
        struct digest id; /* of the whole; for an output zero */
        uint64_t size;    /* of the whole; for an output 0 stdout, 1 stderr */
        uint64_t offset;
        struct blob bytes;
};
int remote_part_write(const struct digest *id, uint64_t size, uint64_t offset, struct slice bytes, struct buffer *ret);
int remote_part_read(struct slice body, struct remote_part *ret);

/* Reads a PACKET_RESULT. It has the sizes of the outputs, which were sent before; `out` and `err` are moved into *ret. */
int remote_result_read(struct slice body, struct buffer *out, struct buffer *err, struct execute_result *ret);

void remote_failure_write(int r, const char *sentence, struct buffer *ret);
/* Returns the -errno; the error's sentence is `who` and the read one. */
int remote_failure_read(struct slice body, const char *who);
