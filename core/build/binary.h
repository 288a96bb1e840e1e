/* Released programs: the [binary "TAG"] of a recipe is taken from its file in the store instead of being built. Threads: any. */
#pragma once

#include "core/build/build.h"

#define DOWNLOAD_DAMAGED "%s of the store was damaged; 'solverfs fsck' takes it away, and 'solverfs solver update' gets it again"

/* Takes the outputs from the file: the file itself, or the archive's files that era->outputs name, and puts their bytes into request->programs.
 * *ret_list, of *ret_n, is the caller's, even after an error. 0 with *ret_reason (malloc'd) set: impossible with these bytes, whoever tries (no
 * archive, no such file in it). With a sentence: -EIO: the store has no such file, or other bytes; -ENOEXEC: it is for another processor. */
int binary_take(const struct build_request *request, const struct recipe *era, struct build_output **ret_list, size_t *ret_n,
                char **ret_reason);
