/* What care_check.c and care_collect.c share. */
#pragma once

#include "care.h"

/* Takes a program's copy out of <store>/programs if nobody uses it; `ret_bytes` (may be NULL) gets its size on disk, of one in use, too.
 * True: it is gone. */
bool care_take_copy(const char *path, uint64_t *ret_bytes);
