/* What care_check.c and care_collect.c share. */
#pragma once

#include "care.h"

#define CARE_LOST_CASES                                                                                                       \
        "%llu files in cases/ (%llu bytes) are of no case: an adding was broken off, or the index lost them; 'solverfs case " \
        "add "                                                                                                                \
        "FILE' makes one a case again, 'solverfs gc --lost-cases' frees them"

/* Takes a program's copy out of <store>/programs if nobody uses it; `ret_bytes` (may be NULL) gets its size on disk, of one in use, too.
 * True: it is gone. */
bool care_take_copy(const char *path, uint64_t *ret_bytes);
