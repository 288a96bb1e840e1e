/* Interest tests by a user's command: exit status 0 means interesting, as for C-Reduce and ddSMT.
 *
 * The command is a shell command. It runs in a folder of its own that holds only the text, under the input's name, or as `input` and its extension if
 * that name needs quotes. {} in the command stands for that file's path; without it the path is the last argument. Its output is dropped. It is not
 * in a sandbox: it has its caller's rights. A command that takes too long is killed with its process group; its text is not interesting.
 *
 * Threads: one for open and close; the test as any other (reduce.h). */
#pragma once

#include "core/study/reduce/reduce.h"

struct reduce_command;

struct reduce_command_options {
        const char *command;
        const char *name;    /* of the file */
        const char *folder;  /* scratch; folders are made and removed in it */
        uint64_t timeout_ns; /* of one test; 0: ten times what the input takes, plus a second */
        unsigned jobs;       /* tests at a time; at least 1 */
};

/* Runs the command on the input. -EINVAL with a sentence: the input is not interesting. The strings of `options` must live until the close. */
int reduce_command_open(const struct reduce_command_options *options, struct slice input, int cancel_fd,
                        struct reduce_command **ret);
struct reduce_command *reduce_command_close(struct reduce_command *c); /* returns NULL */
DEFINE_CLEANUP(struct reduce_command *, reduce_command_close)
struct reduce_test reduce_command_test(struct reduce_command *c);
