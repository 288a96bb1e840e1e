/* Orders for cache/base/fault.h: a folder "faults" in the test's own, told to this process's children by faults_begin(). */
#pragma once

#include "tests/support/test.h"

#include <fcntl.h>

static inline void faults_begin(void)
{
        char path[PATH_SIZE];

        ck_assert(mkdir("faults", 0700) == 0 || errno == EEXIST);
        ck_assert_ptr_nonnull(realpath("faults", path));
        setenv("SOLVERFS_FAULTS", path, 1);
}

static inline void fault_set(const char *place, const char *order)
{
        char path[128];

        snprintf(path, sizeof(path), "faults/%s", place);
        assert_ok(write_file_atomic(path, order, strlen(order), 0600));
}

static inline void fault_clear(const char *place)
{
        char path[128];

        snprintf(path, sizeof(path), "faults/%s", place);
        ck_assert(unlink(path) == 0 || errno == ENOENT);
}

/* How many have come by. */
static inline unsigned fault_met(const char *place)
{
        char path[128];
        struct stat st;

        snprintf(path, sizeof(path), "faults/%s.met", place);
        return stat(path, &st) == 0 ? (unsigned)st.st_size : 0;
}
