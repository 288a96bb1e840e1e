/* Seeded random numbers: the same seed gives the same sequence on every machine (up to the last bit of libm's log and exp). Not for secrets.
 *
 * The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", TOMS 2021); splitmix64 spreads the
 * seed over its 256 bits, so that 0, 1, 2, … are unrelated streams. Threads: two that share a generator need a lock.
 * Nothing here allocates or fails. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random {
        uint64_t state[4];
};

void random_seed(struct random *r, uint64_t seed);
/* A generator for part `n` of the work under `seed`: numbers drawn for one part do not change those of another. */
void random_seed_part(struct random *r, uint64_t seed, uint64_t n);

uint64_t random_bits(struct random *r);
uint64_t random_below(struct random *r, uint64_t n); /* 0 … n-1, each equally likely; n > 0 */
double random_uniform(struct random *r);             /* [0, 1), a multiple of 2^-53 */
double random_normal(struct random *r);              /* mean 0, deviation 1 */
/* By two gammas; a, b > 0. In [0, 1], also for shapes so small that both gammas round to 0. */
double random_beta(struct random *r, double a, double b);
/* Shuffles: every order is equally likely. */
void random_shuffle(struct random *r, uint32_t *list, size_t n);
/* The n numbers from `first` on, shuffled; free(). */
uint32_t *random_permutation(struct random *r, uint32_t first, size_t n);
