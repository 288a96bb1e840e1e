#include "core/portfolio/similar.h"

#include <math.h>

#define COLUMN_NONE UINT32_MAX

/* Four at once, as every machine has them. */
#define LANES 4
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

int similar_init(struct similar *s, size_t features)
{
        *s = (struct similar){.features = features};
        s->column = calloc(features + 1, sizeof(*s->column));
        s->common = calloc(features + 1, sizeof(*s->common));
        s->log_sum = calloc(features + 1, sizeof(*s->log_sum));
        s->log_squares = calloc(features + 1, sizeof(*s->log_squares));
        s->log_known = calloc(features + 1, sizeof(*s->log_known));
        s->now = calloc(features + 1, sizeof(*s->now));
        if (!s->column || !s->common || !s->log_sum || !s->log_squares || !s->log_known || !s->now)
                return -ENOMEM;
        for (size_t j = 0; j < features; j++)
                s->column[j] = COLUMN_NONE;
        return 0;
}

void similar_done(struct similar *s)
{
        free(s->column);
        free(s->common);
        free(s->rows);
        free(s->log_sum);
        free(s->log_squares);
        free(s->log_known);
        free(s->now);
        free(s->row);
        free(s->scale);
        *s = (struct similar){0};
}

/* -- looking ----------------------------------------------------------------------------------------------------- */

static float log_of(double value)
{
        return isnan(value) ? NAN : value == 0 ? 0 : (float)log(fabs(value));
}

static float sign_of(double value)
{
        return (float)((value > 0) - (value < 0));
}

static float inverse_variance(const struct similar *s, size_t feature)
{
        double n = (double)s->log_known[feature], mean, variance;

        if (n == 0)
                return 0;
        mean = s->log_sum[feature] / n;
        variance = s->log_squares[feature] / n - mean * mean;
        return variance > 1e-6 ? (float)(1 / variance) : 0;
}

void similar_look(struct similar *s, const double *features)
{
        s->apart = 0;
        for (size_t j = 0; j < s->features; j++) {
                const double value = isfinite(features[j]) ? features[j] : NAN;
                uint32_t c = s->column[j];
                bool known = !isnan(value);

                s->now[j] = value;
                if (c == COLUMN_NONE) {
                        s->apart += known && !isnan(s->common[j]) && sign_of(value) != sign_of(s->common[j]);
                        continue;
                }
                s->row[c] = log_of(value);
                s->row[s->stride + c] = sign_of(value);
                s->scale[c] = known ? inverse_variance(s, j) : 0;
                s->scale[s->stride + c] = known;
        }
}

/* The squared distance by the features that have a column. */
static float squared_distance(const struct similar *s, size_t i)
{
        const size_t n = s->stride;
        const float *row = &s->rows[i * 2 * n];
        lanes sum = {0};

        for (size_t c = 0; c < n; c += LANES) {
                lanes d = *(const lanes *)&row[c] - *(const lanes *)&s->row[c];
                lane_bits known = (lane_bits)(d == d),
                          differ = (lane_bits)(*(const lanes *)&row[n + c] != *(const lanes *)&s->row[n + c]),
                          near = (lane_bits)(d * d * *(const lanes *)&s->scale[c]);

                sum += (lanes)(known & ((differ & *(const lane_bits *)&s->scale[n + c]) | (~differ & near)));
        }
        return sum[0] + sum[1] + sum[2] + sum[3];
}

size_t similar_nearest(const struct similar *s, size_t most, struct neighbour *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n; i++)
                n = neighbour_insert(ret, n, most, (struct neighbour){i, (double)squared_distance(s, i)});
        for (size_t i = 0; i < n; i++)
                ret[i].distance = sqrt(ret[i].distance + s->apart);
        return n;
}

/* -- adding ------------------------------------------------------------------------------------------------------ */

static int set_size(struct similar *s, size_t capacity, size_t stride)
{
        float *rows = calloc(capacity, (2 * stride + 1) * sizeof(*rows)), *row = calloc(2 * stride + 1, sizeof(*row)),
              *scale = calloc(2 * stride + 1, sizeof(*scale));

        if (!rows || !row || !scale) {
                free(rows);
                free(row);
                free(scale);
                return -ENOMEM;
        }
        for (size_t i = 0; i < 2 * s->n && s->stride > 0; i++) /* halves of rows */
                memcpy(&rows[i * stride], &s->rows[i * s->stride], s->stride * sizeof(*rows));
        for (size_t i = 0; i < 2 && s->stride > 0; i++) {
                memcpy(&row[i * stride], &s->row[i * s->stride], s->stride * sizeof(*row));
                memcpy(&scale[i * stride], &s->scale[i * s->stride], s->stride * sizeof(*scale));
        }
        free(s->rows);
        free(s->row);
        free(s->scale);
        s->rows = rows;
        s->row = row;
        s->scale = scale;
        s->capacity = capacity;
        s->stride = stride;
        return 0;
}

/* The feature differs for the first time: it gets a column, in which all queries seen have what was common to them. */
static int add_column(struct similar *s, size_t feature)
{
        uint32_t c = (uint32_t)s->columns;

        if (s->columns == s->stride) {
                int r = set_size(s, s->capacity, s->stride + s->stride / 2 / LANES * LANES + LANES);

                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < s->n; i++) {
                s->rows[2 * i * s->stride + c] = log_of(s->common[feature]);
                s->rows[(2 * i + 1) * s->stride + c] = sign_of(s->common[feature]);
        }
        s->row[c] = log_of(s->now[feature]);
        s->row[s->stride + c] = sign_of(s->now[feature]);
        s->column[feature] = c;
        s->columns++;
        return 0;
}

static bool values_are_equal(double a, double b)
{
        return a == b || (isnan(a) && isnan(b));
}

static int add_columns(struct similar *s)
{
        int r = 0;

        if (s->n == 0)
                memcpy(s->common, s->now, s->features * sizeof(*s->common));
        for (size_t j = 0; j < s->features && r == 0; j++)
                if (s->column[j] == COLUMN_NONE && !values_are_equal(s->now[j], s->common[j]))
                        r = add_column(s, j);
        return r;
}

static void add_logs(struct similar *s)
{
        for (size_t j = 0; j < s->features; j++)
                if (!isnan(s->now[j]) && s->now[j] != 0) {
                        double log = (double)log_of(s->now[j]);

                        s->log_sum[j] += log;
                        s->log_squares[j] += log * log;
                        s->log_known[j]++;
                }
}

int similar_add(struct similar *s)
{
        int r = s->n == s->capacity ? set_size(s, 2 * s->capacity + 64, s->stride) : 0;

        if (r == 0)
                r = add_columns(s);
        if (r < 0)
                return r;
        if (s->stride > 0)
                memcpy(&s->rows[2 * s->n * s->stride], s->row, 2 * s->stride * sizeof(*s->row));
        add_logs(s);
        s->n++;
        return 0;
}
