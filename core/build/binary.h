/* Released programs: what a [binary "TAG"] of a recipe stands for, taken from its file in the store instead of being built. Threads: any. */
#pragma once

#include "core/build/build.h"

/* Takes the outputs out of the file: the file itself, or the files of the archive that `era->outputs` name. *ret_list (of *ret_n, the caller's
 * also after an error) are in request->programs then. *ret_reason is malloc'd when that cannot be done with these bytes, whoever tries: no
 * archive, no such file in it. -EIO with a sentence when the store has no such file, or other bytes. */
int binary_take(const struct build_request *request, const struct recipe *era, struct build_output **ret_list, size_t *ret_n,
                char **ret_reason);
