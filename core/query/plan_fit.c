/* The times of builds: notes of them, and the line through these. */
#include <math.h>

#include "core/query/plan_internal.h"

/* -- notes -- */

void plan_series_key(const struct solver *s, char ret[160])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        recipe_builds_digest(s->recipe, &d);
        digest_hex(&d, hex);
        snprintf(ret, 160, "build-costs/%.100s/%.16s", s->repository, hex);
}

int plan_note_put(struct store_txn *t, const struct plan_note *n, const struct build_record *record)
{
        cleanup_blob struct blob b = {0};
        cleanup_buffer struct buffer all = {0};
        uint8_t ns[8];
        size_t skip;
        int r;

        if (!n->wanted || !record->ok) /* where a failed one stopped says nothing of the others */
                return 0;
        r = store_get(t, TABLE_META, slice_string(n->key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        skip = b.size >= SAMPLES * SAMPLE_SIZE ? b.size - (SAMPLES - 1) * SAMPLE_SIZE : 0;
        if (b.size > 0)
                buffer_add(&all, (const uint8_t *)b.data + skip, b.size - skip);
        key_u64(ns, record->duration_ns);
        buffer_add(&all, n->commit.id, GIT_OID_RAWSZ);
        buffer_add(&all, n->before.id, GIT_OID_RAWSZ);
        buffer_add(&all, n->behind.id, GIT_OID_RAWSZ);
        buffer_add(&all, ns, sizeof(ns));
        r = buffer_error(&all);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(n->key), SLICE(all.data, all.size));
}

/* The samples as they are in the store; what is known of one that was there before is kept. */
static int read_samples(struct plan *p)
{
        cleanup_blob struct blob b = {0};
        struct past_build before[SAMPLES];
        size_t n_before = p->n_samples;
        char key[160];
        int r;

        memcpy(before, p->samples, sizeof(before));
        plan_series_key(p->solver, key);
        r = store_fetch(workspace_store(p->workspace), TABLE_META, slice_string(key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        p->n_samples = MIN(b.size / SAMPLE_SIZE, (size_t)SAMPLES);
        for (size_t i = 0; i < p->n_samples; i++) {
                struct past_build *s = &p->samples[i];

                *s = (struct past_build){0};
                memcpy(s->bytes, (const uint8_t *)b.data + i * SAMPLE_SIZE, SAMPLE_SIZE);
                for (size_t k = 0; k < n_before; k++)
                        if (memcmp(before[k].bytes, s->bytes, SAMPLE_SIZE) == 0)
                                *s = before[k];
        }
        return 0;
}

/* -- the fit -- */

/* -ENOENT: a commit of it is not there any more. */
static int count_sample(struct plan *p, struct past_build *s)
{
        uint32_t commit, from;
        int r = history_number(p->solver->history, (const git_oid *)(const void *)s->bytes, &commit);

        s->units = include_graph_units(p->graph);
        for (unsigned i = 1; r == 0 && i <= 2; i++) {
                git_oid oid;
                size_t n;

                git_oid_fromraw(&oid, s->bytes + i * GIT_OID_RAWSZ);
                if (git_oid_is_zero(&oid))
                        continue;
                r = history_number(p->solver->history, &oid, &from);
                if (r == 0)
                        r = plan_count_units(p, from, commit, &n);
                if (r == 0)
                        s->units = MIN(s->units, n);
        }
        s->is_known = r == 0;
        return r;
}

struct sums {
        double n, x, y, xx, xy; /* each weighed by 1 / seconds² */
};

static double seconds_of(const struct past_build *s)
{
        return fmax((double)key_get_u64(s->bytes + 3 * GIT_OID_RAWSZ) / 1e9, 1e-3);
}

/* Least squares over relative errors; neither part below zero. */
static void fit_line(struct plan *p)
{
        struct sums s = {0};
        double determinant;

        for (size_t i = 0; i < p->n_samples; i++) {
                double x = (double)p->samples[i].units, y = seconds_of(&p->samples[i]), weight = 1 / (y * y);

                if (!p->samples[i].is_known)
                        continue;
                s.n += weight;
                s.x += weight * x;
                s.y += weight * y;
                s.xx += weight * x * x;
                s.xy += weight * x * y;
                p->n_fitted++;
        }
        determinant = s.n * s.xx - s.x * s.x;
        p->per_unit = p->n_fitted > 1 && determinant > 1e-9 * s.n * s.xx ? (s.n * s.xy - s.x * s.y) / determinant : 0;
        p->fixed = s.n > 0 ? (s.y - p->per_unit * s.x) / s.n : 0;
        if (p->per_unit < 0) {
                p->per_unit = 0;
                p->fixed = s.y / s.n;
        }
        if (s.xx > 0 && (p->fixed < 0 || p->n_fitted == 1)) {
                p->fixed = 0;
                p->per_unit = s.xy / s.xx;
        }
}

double plan_expected(const struct plan *p, size_t units)
{
        return p->fixed + p->per_unit * (double)units;
}

int plan_fit(struct plan *p)
{
        double errors = 0;
        int r = p->is_fitted ? 0 : read_samples(p);

        if (r < 0 || p->is_fitted)
                return r;
        p->n_fitted = 0;
        for (size_t i = 0; r == 0 && i < p->n_samples; i++)
                if (!p->samples[i].is_known && (r = count_sample(p, &p->samples[i])) != -ENOMEM)
                        r = 0; /* the other samples will do */
        fit_line(p);
        for (size_t i = 0; i < p->n_samples; i++)
                if (p->samples[i].is_known) {
                        double y = seconds_of(&p->samples[i]), error = y / fmax(plan_expected(p, p->samples[i].units), 1e-3) - 1;

                        errors += error * error;
                }
        p->spread = p->n_fitted >= MEASURED_MIN ? sqrt(errors / (p->n_fitted - 1)) : 1;
        p->is_fitted = r == 0;
        return r;
}
