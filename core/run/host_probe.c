#include "core/run/host.h"

#include <time.h>

#include "core/run/simulated_clock.h"

#define REPEATS 15
#define IDLE    4 /* it ends when so many repeats in a row were no quicker */
#define STEPS   400000u
#define WORDS   (1u << 17) /* 1 MiB: beyond most second-level caches, within every third-level one */

/* Arithmetic, unpredictable branches, and dependent loads, as in solvers. */
static uint64_t work(uint64_t *words)
{
        uint64_t x = 1, sum = 0;

        for (uint32_t i = 0; i < STEPS; i++) {
                uint64_t *w = &words[x % WORDS];

                x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) + (*w & 1);
                if (x >> 63)
                        sum += *w;
                else
                        *w ^= x >> 17;
        }
        return sum;
}

uint64_t host_probe(void)
{
        cleanup_free uint64_t *words = calloc(WORDS, sizeof(*words));
        volatile uint64_t kept = 0; /* lest the compiler drop the work */
        uint64_t least = UINT64_MAX;
        unsigned repeats = simulated_clock_is_wanted() ? 1 : REPEATS; /* a test that simulates times has no use for this one */

        for (unsigned i = 0, idle = 0; words && i < repeats && idle < IDLE; i++) {
                uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

                kept = work(words);
                took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
                idle = took < least - least / 128 ? 0 : idle + 1;
                least = MIN(least, took);
        }
        (void)kept;
        return words ? least : 0;
}
