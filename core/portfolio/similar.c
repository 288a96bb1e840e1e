#include "core/portfolio/similar.h"

#include <math.h>

#define COLUMN_NONE UINT32_MAX

/* Vectors of four floats, which every machine has. */
#define LANES 4
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

void similar_init(struct similar *s, size_t features)
{
        *s = (struct similar){.features = features};
        s->column = allocate(features, sizeof(*s->column));
        s->common = allocate(features, sizeof(*s->common));
        s->log_sum = allocate(features, sizeof(*s->log_sum));
        s->log_squares = allocate(features, sizeof(*s->log_squares));
        s->log_known = allocate(features, sizeof(*s->log_known));
        s->now = allocate(features, sizeof(*s->now));
        for (size_t j = 0; j < features; j++)
                s->column[j] = COLUMN_NONE;
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

static void set_size(struct similar *s, size_t capacity, size_t stride)
{
        float *rows = allocate(capacity, (2 * stride + 1) * sizeof(*rows)), *row = allocate(2 * stride + 1, sizeof(*row)),
              *scale = allocate(2 * stride + 1, sizeof(*scale));

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
}

/* The feature differs for the first time. It gets a column, in which all queries seen have the value that was common to them. */
static void add_column(struct similar *s, size_t feature)
{
        uint32_t c = (uint32_t)s->columns;

        if (s->columns == s->stride)
                set_size(s, s->capacity, s->stride + s->stride / 2 / LANES * LANES + LANES);
        for (size_t i = 0; i < s->n; i++) {
                s->rows[2 * i * s->stride + c] = log_of(s->common[feature]);
                s->rows[(2 * i + 1) * s->stride + c] = sign_of(s->common[feature]);
        }
        s->row[c] = log_of(s->now[feature]);
        s->row[s->stride + c] = sign_of(s->now[feature]);
        s->column[feature] = c;
        s->columns++;
}

void similar_add(struct similar *s)
{
        if (s->n == s->capacity)
                set_size(s, 2 * s->capacity + 64, s->stride);
        if (s->n == 0)
                memcpy(s->common, s->now, s->features * sizeof(*s->common));
        for (size_t j = 0; j < s->features; j++) {
                double now = s->now[j], common = s->common[j], log;

                if (s->column[j] == COLUMN_NONE && now != common && !(isnan(now) && isnan(common)))
                        add_column(s, j);
                if (isnan(now) || now == 0)
                        continue;
                log = (double)log_of(now);
                s->log_sum[j] += log;
                s->log_squares[j] += log * log;
                s->log_known[j]++;
        }
        if (s->stride > 0)
                memcpy(&s->rows[2 * s->n * s->stride], s->row, 2 * s->stride * sizeof(*s->row));
        s->n++;
}
