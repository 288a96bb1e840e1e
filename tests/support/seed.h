/* Where the random numbers of tests begin. seed.py is the same for scripts. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/base/random.h"
#include "cache/base/util.h"

/* For the generator that is `usual` by default: that number, or another one where $SOLVERFS_TEST_SEED is set (test_main() prints it on failure). */
static inline unsigned test_seed(unsigned usual)
{
        const char *set = getenv("SOLVERFS_TEST_SEED");
        struct random r;

        if (!set)
                return usual;
        random_seed_part(&r, strtoull(set, NULL, 10), usual);
        return (unsigned)random_bits(&r);
}

/* How often; $SOLVERFS_SOAK is how many times more than that. */
static inline unsigned test_rounds(unsigned few)
{
        const char *soak = getenv("SOLVERFS_SOAK");

        return few * MAX(soak ? (unsigned)atoi(soak) : 1, 1U);
}

/* Another number each time, which is printed; or $SOLVERFS_TEST_SEED. */
static inline unsigned test_seed_fresh(void)
{
        const char *set = getenv("SOLVERFS_TEST_SEED");
        unsigned seed = set ? (unsigned)strtoull(set, NULL, 10) : (unsigned)(now_ns() ^ (uint64_t)getpid());

        fprintf(stderr, "SOLVERFS_TEST_SEED=%u\n", seed);
        return seed;
}
