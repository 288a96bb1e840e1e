/* Interest tests by a command of the user's: exit status 0 means interesting, as for C-Reduce and ddSMT.
 *
 * The command is a shell's. It runs in an empty folder of its own that holds the text under the input's name; where {} stands in it, that
 * file's quoted path is put, else the path is its last argument. Its output is dropped. It is not in a sandbox: it may do what its caller may.
 * One that takes too long, and all it started in its process group, is killed; the text is then not interesting.
 *
 * Threads: open and close by one; the test as any other (reduce.h). */
#pragma once

#include "core/study/reduce/reduce.h"

struct reduce_command;

struct reduce_command_options {
        const char *command;
        const char *name;    /* of the file */
        const char *folder;  /* scratch; folders are made in it and taken away again */
        uint64_t timeout_ns; /* of one test; 0: ten times what the input takes, and a second */
        unsigned jobs;       /* at least 1 */
};

/* Runs it on the input. -EINVAL with a sentence: it is not interested in that. */
int reduce_command_open(const struct reduce_command_options *options, struct slice input, int cancel_fd,
                        struct reduce_command **ret);
struct reduce_command *reduce_command_close(struct reduce_command *c); /* NULL */
DEFINE_CLEANUP(struct reduce_command *, reduce_command_close)
struct reduce_test reduce_command_test(struct reduce_command *c);
