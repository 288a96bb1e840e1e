#include "core/study/base/stat.h"

#include <math.h>

#include "cache/base/util.h"

/* -- order statistics --------------------------------------------------------------------------------------------- */

void stat_sort(double *x, size_t n)
{
        sort_list(x, n, sizeof(*x), compare_doubles);
}

/* The k-th smallest, from 0. */
static double order_statistic(const double *x, size_t n, size_t k)
{
        cleanup_free double *sorted = allocate(n, sizeof(*sorted));

        memcpy(sorted, x, n * sizeof(*sorted));
        stat_sort(sorted, n);
        return sorted[k];
}

double stat_median(const double *x, size_t n)
{
        return n == 0 ? NAN : (order_statistic(x, n, (n - 1) / 2) + order_statistic(x, n, n / 2)) / 2;
}

double stat_lower_median(const double *x, size_t n)
{
        return n == 0 ? NAN : order_statistic(x, n, (n - 1) / 2);
}

/* -- distributions ------------------------------------------------------------------------------------------------ */

double stat_normal_cdf(double z)
{
        return 0.5 * erfc(-z / M_SQRT2);
}

/* Where a distribution function is p, by halving, from a first interval that is widened to both sides. */
static double quantile(double (*cdf)(double x, double df), double p, double df)
{
        double low = -1, high = 1;

        while (cdf(low, df) > p)
                low *= 2;
        while (cdf(high, df) < p)
                high *= 2;
        for (int i = 0; i < 200 && high - low > 1e-15 * (1 + fabs(low)); i++) {
                double middle = (low + high) / 2;

                if (cdf(middle, df) < p)
                        low = middle;
                else
                        high = middle;
        }
        return (low + high) / 2;
}

static double normal_cdf(double z, double)
{
        return stat_normal_cdf(z);
}

double stat_normal_quantile(double p)
{
        return p > 0.5 ? -stat_normal_quantile(1 - p) : quantile(normal_cdf, p, 0);
}

/* The regularized incomplete beta function by its continued fraction (Lentz's method; DLMF 8.17.22). */
static double incomplete_beta(double a, double b, double x)
{
        const double tiny = 1e-300;
        double front, c = 1, d, f;
        int sign; /* lgamma() itself writes a global one */

        if (x <= 0 || x >= 1)
                return x <= 0 ? 0 : 1;
        if (x > (a + 1) / (a + b + 2))
                return 1 - incomplete_beta(b, a, 1 - x);
        front = exp(a * log(x) + b * log1p(-x) + lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign)) / a;
        d = 1 - (a + b) * x / (a + 1);
        d = 1 / (fabs(d) < tiny ? tiny : d);
        f = d;
        for (int k = 2; k < 1000; k++) {
                int m = k / 2;
                double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
                double coefficient = k % 2 == 0 ? even : odd;

                d = 1 + coefficient * d;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = 1 + coefficient / c;
                c = fabs(c) < tiny ? tiny : c;
                f *= d * c;
                if (k % 2 == 1 && fabs(d * c - 1) < 1e-15)
                        break;
        }
        return front * f;
}

static double t_cdf(double t, double df)
{
        double tail = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2;

        return t > 0 ? 1 - tail : tail;
}

double stat_t_p(double t, double df)
{
        return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double stat_t_quantile(double p, double df)
{
        return quantile(t_cdf, p, df);
}

/* -- ranks -------------------------------------------------------------------------------------------------------- */

struct ranked {
        double value;
        size_t index;
        unsigned rank2; /* twice the mid-rank, a whole number */
};

static int compare_ranked(const void *a, const void *b)
{
        return compare_doubles(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Sorts, gives mid-ranks, and returns the sum of t³ - t over the ties. */
static double rank_values(struct ranked *r, size_t n)
{
        double ties = 0;

        sort_list(r, n, sizeof(*r), compare_ranked);
        for (size_t i = 0, end; i < n; i = end) {
                double t;

                for (end = i + 1; end < n && r[end].value == r[i].value; end++)
                        ;
                for (size_t k = i; k < end; k++)
                        r[k].rank2 = (unsigned)(i + 1 + end);
                t = (double)(end - i);
                ties += t * t * t - t;
        }
        return ties;
}

/* Sets p by less and greater. */
static void two_sided(struct stat_test *t)
{
        t->less = MIN(t->less, 1);
        t->greater = MIN(t->greater, 1);
        t->p = MIN(1, 2 * MIN(t->less, t->greater));
}

/* The statistic is about normal: less, greater and p, with the correction for continuity. */
static void normal_tails(struct stat_test *t, double mean, double variance)
{
        double sd = sqrt(variance);

        if (!(variance > 0)) {
                t->less = t->greater = 1;
        } else {
                t->less = stat_normal_cdf((t->statistic - mean + 0.5) / sd);
                t->greater = stat_normal_cdf(-(t->statistic - mean - 0.5) / sd);
        }
        two_sided(t);
}

/* Without ties the distribution is symmetric: `statistic` or more is as likely as most - statistic or less. */
static void by_tails(const double *tails, size_t statistic, size_t most, struct stat_test *ret)
{
        ret->less = tails[statistic];
        ret->greater = tails[most - statistic];
        ret->exact = true;
        two_sided(ret);
}

/* -- signed ranks ------------------------------------------------------------------------------------------------- */

/* Another rank is in the sum or not, with probability one half each: the distribution of the sum, which was `*top` at most, by convolution. */
static void add_rank(double *chance, size_t *top, size_t rank)
{
        *top += rank;
        for (size_t s = *top + 1; s-- > 0;)
                chance[s] = 0.5 * chance[s] + (s >= rank ? 0.5 * chance[s - rank] : 0);
}

/* Each sum's chance, given the ranks from `first` on. `sum2` is twice the statistic. */
static void signed_rank_exact(const struct ranked *r, size_t first, size_t n, uint64_t sum2, struct stat_test *ret)
{
        cleanup_free double *chance = NULL; /* of twice the sum */
        size_t most = 0, top = 0;

        for (size_t i = first; i < n; i++)
                most += r[i].rank2;
        chance = allocate(most + 1, sizeof(*chance));
        chance[0] = 1;
        for (size_t i = first; i < n; i++)
                add_rank(chance, &top, r[i].rank2);
        for (size_t s = 0; s <= top; s++) {
                ret->less += s <= sum2 ? chance[s] : 0;
                ret->greater += s >= sum2 ? chance[s] : 0;
        }
        ret->exact = true;
        two_sided(ret);
}

void stat_signed_rank(const double *x, const double *y, size_t n, struct stat_test *ret)
{
        cleanup_free struct ranked *r = allocate(n, sizeof(*r));
        size_t zeros = 0;
        uint64_t sum2 = 0;
        double mean = 0, variance = 0, ties;

        *ret = (struct stat_test){.p = 1, .less = 1, .greater = 1, .exact = true};
        for (size_t i = 0; i < n; i++) {
                r[i] = (struct ranked){.value = x[i] == y[i] ? 0 : fabs(x[i] - y[i]), .index = i};
                zeros += r[i].value == 0;
        }
        ties = rank_values(r, n);
        if (zeros == n)
                return;
        for (size_t i = zeros; i < n; i++) {
                double rank = r[i].rank2 / 2.0;

                if (x[r[i].index] > y[r[i].index])
                        sum2 += r[i].rank2;
                mean += rank / 2;
                variance += rank * rank / 4; /* of the mid-ranks themselves: ties are in it */
        }
        *ret = (struct stat_test){.statistic = (double)sum2 / 2, .n = n - zeros};
        if (n <= STAT_EXACT && zeros == 0 && ties == 0)
                by_tails(stat_tails(n, true), sum2 / 2, n * (n + 1) / 2, ret);
        else if (n - zeros <= STAT_EXACT)
                signed_rank_exact(r, zeros, n, sum2, ret);
        else
                normal_tails(ret, mean, variance);
}

double *stat_signed_rank_tails(size_t n)
{
        size_t m = n * (n + 1) / 2, top = 0;
        double *chance = allocate(m + 1, sizeof(*chance));

        chance[0] = 1;
        for (size_t rank = 1; rank <= n; rank++)
                add_rank(chance, &top, rank);
        for (size_t s = 1; s <= m; s++)
                chance[s] += chance[s - 1];
        return chance;
}

/* -- shifts ------------------------------------------------------------------------------------------------------- */

/* All differences of two sorted samples, or all means of two elements of one sample (an element with itself, too). The list is never written down. */
struct all_of_two {
        const double *x, *y; /* y NULL: means */
        size_t nx, ny;
};

/* How many are at most v. */
static size_t count_to(const struct all_of_two *a, double v)
{
        size_t count = 0;

        if (a->y) {
                for (size_t i = 0, k = 0; i < a->nx; i++) { /* y[k] is the first with x[i] - y[k] <= v */
                        while (k < a->ny && a->x[i] - a->y[k] > v)
                                k++;
                        count += a->ny - k;
                }
                return count;
        }
        for (size_t i = 0, k = a->nx; i < a->nx; i++) { /* x[k] is the first above */
                while (k > 0 && (a->x[i] + a->x[k - 1]) / 2 > v)
                        k--;
                if (k <= i)
                        break;
                count += k - i;
        }
        return count;
}

/* The k-th smallest, from 0, exact to 2^-60 of the largest. */
static double select_of_two(const struct all_of_two *a, size_t k)
{
        double low, high, step;

        low = a->y ? a->x[0] - a->y[a->ny - 1] : a->x[0];
        high = a->y ? a->x[a->nx - 1] - a->y[0] : a->x[a->nx - 1];
        step = ldexp(fabs(low) + fabs(high), -60);
        if (count_to(a, low) > k)
                return low;
        for (;;) {
                double middle = low + (high - low) / 2;

                if (!(low < middle && middle < high && high - low > step))
                        return high;
                if (count_to(a, middle) > k)
                        high = middle;
                else
                        low = middle;
        }
}

/* The median of the m values, and the interval: at each end as many are left out as the test's distribution allows. `tails`: of the statistic without
 * ties, over 0 … m; NULL: it is about normal, with this deviation. */
static struct stat_shift shift_of(const struct all_of_two *a, size_t m, double confidence, const double *tails, double sd)
{
        double tail = (1 - confidence) / 2, middle = select_of_two(a, m / 2);
        struct stat_shift ret = {middle, -INFINITY, INFINITY};
        size_t outside = 0; /* left out at each end: the largest k with P(statistic < k) <= tail */

        if (m % 2 == 0)
                ret.shift = (select_of_two(a, m / 2 - 1) + middle) / 2;
        if (!tails)
                outside = (size_t)fmax(0, floor((double)m / 2 + stat_normal_quantile(tail) * sd));
        else
                while (outside < m && tails[outside] <= tail)
                        outside++;
        if (outside > 0) {
                ret.low = select_of_two(a, outside - 1);
                ret.high = select_of_two(a, m - outside);
        }
        return ret;
}

struct stat_shift stat_shift_sorted(const double *differences, size_t n, double confidence, const double *tails)
{
        double size = (double)n;

        if (n == 0)
                return (struct stat_shift){NAN, -INFINITY, INFINITY};
        return shift_of(&(struct all_of_two){.x = differences, .nx = n}, n * (n + 1) / 2, confidence, tails,
                        sqrt(size * (size + 1) * (2 * size + 1) / 24));
}

struct stat_shift stat_shift_sorted_unpaired(const double *x, size_t nx, const double *y, size_t ny, double confidence, const double *tails)
{
        double a = (double)nx, b = (double)ny;

        if (nx == 0 || ny == 0)
                return (struct stat_shift){NAN, -INFINITY, INFINITY};
        return shift_of(&(struct all_of_two){.x = x, .nx = nx, .y = y, .ny = ny}, nx * ny, confidence, tails, sqrt(a * b * (a + b + 1) / 12));
}

/* -- two samples -------------------------------------------------------------------------------------------------- */

/* The number of partitions of u into at most nx parts, none above ny, is the coefficient of q^u in the product of (1 - q^(ny + i)) / (1 - q^i) for
 * i = 1 … nx. Each of these quotients is a polynomial; by its symmetry the lower half is enough, where the numbers that are small are exact. */
double *stat_mann_whitney_tails(size_t nx, size_t ny)
{
        size_t m = nx * ny;
        double *ways = allocate(m + 1, sizeof(*ways));

        ways[0] = 1;
        for (size_t i = 1; i <= nx; i++) {
                for (size_t u = m / 2 + 1; u-- > ny + i;)
                        ways[u] -= ways[u - ny - i];
                for (size_t u = i; u <= m / 2; u++)
                        ways[u] += ways[u - i];
        }
        for (size_t u = m / 2 + 1; u <= m; u++)
                ways[u] = ways[m - u];
        for (size_t u = 1; u <= m; u++)
                ways[u] += ways[u - 1];
        for (size_t u = 0; u <= m; u++)
                ways[u] /= ways[m];
        return ways;
}

const double *stat_tails(size_t n, bool paired)
{
        static double *kept[STAT_EXACT + 1][2];
        double *there = __atomic_load_n(&kept[n][paired], __ATOMIC_ACQUIRE), *made;

        if (there)
                return there;
        made = paired ? stat_signed_rank_tails(n) : stat_mann_whitney_tails(n, n);
        if (__atomic_compare_exchange_n(&kept[n][paired], &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return made;
        free(made); /* another thread was quicker */
        return there;
}

static void mann_whitney_untied(size_t nx, size_t ny, size_t u, struct stat_test *ret)
{
        cleanup_free double *tails = nx == ny && nx <= STAT_EXACT ? NULL : stat_mann_whitney_tails(nx, ny);

        by_tails(tails ?: stat_tails(nx, false), u, nx * ny, ret);
}

/* Every choice of nx of the ranks is equally likely: how many choices give each doubled sum. */
static void mann_whitney_exact(const struct ranked *r, size_t nx, size_t n, uint64_t sum2, struct stat_test *ret)
{
        size_t top = n * (n + 1), so_far = 0; /* twice the sum of all ranks, and of those that were looked at */
        cleanup_free double *ways = allocate((nx + 1) * (top + 1), sizeof(*ways));
        double all = 0;

        ways[0] = 1;
        for (size_t i = 0; i < n; i++) {
                so_far += r[i].rank2;
                for (size_t k = MIN(i + 1, nx); k > 0; k--)
                        for (size_t s = so_far + 1; s-- > r[i].rank2;)
                                ways[k * (top + 1) + s] += ways[(k - 1) * (top + 1) + s - r[i].rank2];
        }
        for (size_t s = 0; s <= top; s++) {
                double w = ways[nx * (top + 1) + s];

                all += w;
                ret->less += s <= sum2 ? w : 0;
                ret->greater += s >= sum2 ? w : 0;
        }
        ret->less /= all;
        ret->greater /= all;
        ret->exact = true;
        two_sided(ret);
}

void stat_mann_whitney(const double *x, size_t nx, const double *y, size_t ny, struct stat_test *ret)
{
        size_t n = nx + ny;
        cleanup_free struct ranked *r = allocate(n, sizeof(*r));
        uint64_t sum2 = 0;
        double ties, pairs = (double)nx * (double)ny;

        *ret = (struct stat_test){.p = 1, .less = 1, .greater = 1, .n = n, .exact = true};
        if (nx == 0 || ny == 0)
                return;
        for (size_t i = 0; i < n; i++)
                r[i] = (struct ranked){.value = i < nx ? x[i] : y[i - nx], .index = i};
        ties = rank_values(r, n);
        for (size_t i = 0; i < n; i++)
                if (r[i].index < nx)
                        sum2 += r[i].rank2;
        *ret = (struct stat_test){.statistic = ((double)sum2 - (double)nx * (double)(nx + 1)) / 2, .n = n};
        if (ties == 0 && n <= STAT_UNTIED)
                mann_whitney_untied(nx, ny, (size_t)ret->statistic, ret);
        else if (n <= STAT_TIED)
                mann_whitney_exact(r, nx, n, sum2, ret);
        else
                normal_tails(ret, pairs / 2, pairs / 12 * ((double)n + 1 - ties / ((double)n * ((double)n - 1))));
}

/* -- signs; many tests at once ------------------------------------------------------------------------------------- */

double stat_sign_test(size_t up, size_t down)
{
        double n = (double)(up + down), least = (double)MIN(up, down);

        if (up == down)
                return 1;
        return MIN(1, 2 * incomplete_beta(n - least, least + 1, 0.5)); /* P(at most `least` of n) of the binomial distribution */
}

void stat_discoveries(const double *p, size_t n, double q, double *ret_largest)
{
        cleanup_free double *sorted = allocate(n, sizeof(*sorted));

        for (size_t i = 0; i < n; i++)
                sorted[i] = p[i];
        stat_sort(sorted, n);
        *ret_largest = -1;
        for (size_t i = 0; i < n; i++)
                if (sorted[i] <= q * (double)(i + 1) / (double)n)
                        *ret_largest = sorted[i];
}
