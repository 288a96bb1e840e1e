#include "tests/support/diversity.h"

#include <math.h>

double warping_distance(const double *a, size_t n, const double *b, size_t m)
{
        cleanup_free double *row = NULL;

        if (n == 0 || m == 0)
                return INFINITY;
        row = malloc((m + 1) * sizeof(*row));
        if (!row)
                return -1;
        row[0] = 0;
        for (size_t j = 1; j <= m; j++)
                row[j] = INFINITY;
        for (size_t i = 0; i < n; i++) {
                double corner = row[0]; /* of the row above, one to the left */

                row[0] = INFINITY;
                for (size_t j = 1; j <= m; j++) {
                        double above = row[j];

                        row[j] = fabs(a[i] - b[j - 1]) + fmin(corner, fmin(above, row[j - 1]));
                        corner = above;
                }
        }
        return row[m];
}

void sequences_done(struct sequences *s)
{
        free(s->values);
        s->values = NULL;
        s->n = 0;
}

int sequences_add(struct sequences *s, const double *sequence)
{
        double *values = reallocarray(s->values, s->n + 1, s->length * sizeof(double));

        if (!values)
                return -ENOMEM;
        s->values = values;
        memcpy(s->values + s->n++ * s->length, sequence, s->length * sizeof(double));
        return 0;
}

double sequences_distance(const struct sequences *s, const double *sequence)
{
        double least = INFINITY;

        for (size_t i = 0; i < s->n; i++)
                least = fmin(least, warping_distance(s->values + i * s->length, s->length, sequence, s->length));
        return least;
}
