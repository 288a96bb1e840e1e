#include "cache/base/random.h"

#include <assert.h>
#include <math.h>

#include "cache/base/util.h"

static uint64_t splitmix(uint64_t *x)
{
        uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
        return x << k | x >> (64 - k);
}

void random_seed(struct random *r, uint64_t seed)
{
        for (int i = 0; i < 4; i++)
                r->state[i] = splitmix(&seed);
}

void random_seed_part(struct random *r, uint64_t seed, uint64_t n)
{
        uint64_t part = splitmix(&seed) ^ n;

        random_seed(r, splitmix(&part));
}

uint64_t random_bits(struct random *r)
{
        uint64_t *s = r->state, bits = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;

        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = rotate(s[3], 45);
        return bits;
}

/* Lemire, "Fast random integer generation in an interval", TOMACS 2019. */
uint64_t random_below(struct random *r, uint64_t n)
{
        unsigned __int128 m = (unsigned __int128)random_bits(r) * n;

        assert(n > 0);
        if ((uint64_t)m < n)
                for (uint64_t least = -n % n; (uint64_t)m < least;)
                        m = (unsigned __int128)random_bits(r) * n;
        return (uint64_t)(m >> 64);
}

double random_uniform(struct random *r)
{
        return (double)(random_bits(r) >> 11) * 0x1p-53;
}

/* (0, 1]: its logarithm is finite. */
static double uniform_above_zero(struct random *r)
{
        return 1 - random_uniform(r);
}

/* Box and Muller. The second number is not kept, so the state is only the four words. */
double random_normal(struct random *r)
{
        double radius = sqrt(-2 * log(uniform_above_zero(r)));

        return radius * cos(2 * M_PI * random_uniform(r));
}

/* A gamma of shape 1 or more: Marsaglia and Tsang, "A simple method for generating gamma variables", TOMS 2000. */
static double gamma_from_one(struct random *r, double shape)
{
        double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

        for (;;) {
                double x = random_normal(r), v = 1 + c * x;

                v = v * v * v;
                if (v > 0 && log(uniform_above_zero(r)) < x * x / 2 + d - d * v + d * log(v))
                        return d * v;
        }
}

/* The logarithm of a gamma, which itself is often below the least double if the shape is small. The same paper has how to lower a shape by 1. */
static double log_gamma_variate(struct random *r, double shape)
{
        assert(shape > 0);
        if (shape >= 1)
                return log(gamma_from_one(r, shape));
        return log(gamma_from_one(r, shape + 1)) + log(uniform_above_zero(r)) / shape;
}

double random_beta(struct random *r, double a, double b)
{
        double x = log_gamma_variate(r, a), y = log_gamma_variate(r, b);

        return x > y ? 1 / (1 + exp(y - x)) : exp(x - y) / (1 + exp(x - y));
}

void random_shuffle(struct random *r, uint32_t *list, size_t n)
{
        for (size_t i = n; i > 1; i--) {
                size_t j = random_below(r, i);
                uint32_t t = list[i - 1];

                list[i - 1] = list[j];
                list[j] = t;
        }
}

uint32_t *random_permutation(struct random *r, uint32_t first, size_t n)
{
        uint32_t *list = allocate(n, sizeof(*list));

        for (size_t i = 0; i < n; i++)
                list[i] = first + (uint32_t)i;
        random_shuffle(r, list, n);
        return list;
}
