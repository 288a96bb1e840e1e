/* The rules are made anew at each find: as long as one explains enough of the finds that no rule explains yet, the one of most worth is added. Rules of
 * two parts are looked for if there is none of one part. */
#include "core/fuzz/strategy_internal.h"

#include <math.h>

#include "cache/base/hash.h"

#define FINDS_MOST  512  /* the newest; their shapes are kept */
#define MISSES_MOST 1024 /* a sample of them */
#define FAMILY      2    /* finds with a part that it needs to explain them; one more for a part that only a rule of two has */
#define PRECISION   0.3  /* the least share of finds among a rule's inputs */
#define SEEDS       12   /* parts that are tried as the first part of a rule of two */

struct rule {
        uint16_t parts[2]; /* equal: a rule of one part */
};
struct families {
        struct shape_counts ran, hit; /* inputs; finds, including assumed ones */
        double n_ran, n_hit;
        struct shape *found, *missed; /* owned */
        size_t n_found, n_missed;
        struct rule *rules; /* owned */
        size_t n_rules;
};

struct families *families_new(void)
{
        return allocate(1, sizeof(struct families));
}

struct families *families_free(struct families *f)
{
        if (!f)
                return NULL;
        for (size_t i = 0; i < f->n_found; i++)
                shape_done(&f->found[i]);
        for (size_t i = 0; i < f->n_missed; i++)
                shape_done(&f->missed[i]);
        free(f->found);
        free(f->missed);
        free(f->rules);
        free(f);
        return NULL;
}

static bool has_rule(const struct shape *s, const struct rule *r)
{
        return shape_has(s, r->parts[0]) && shape_has(s, r->parts[1]);
}

bool families_know(const struct families *f, const struct shape *s)
{
        for (size_t i = 0; i < f->n_rules; i++)
                if (has_rule(s, &f->rules[i]))
                        return true;
        return false;
}

/* -- finding rules -- */

struct tally { /* of the shapes that have a part */
        unsigned n[SHAPE_BUCKETS];
        uint64_t some[SHAPE_BUCKETS / 64]; /* a bit for each part that a shape has: few of all */
};
struct search {
        struct families *families;
        bool *is_explained;          /* one for each find; owned, like: */
        struct tally *hits, *misses;
        double least;                /* precision of a rule */
};

/* The first part from `part` on that a shape has; SHAPE_BUCKETS if there is none. */
static uint32_t tally_next(const struct tally *t, uint32_t part)
{
        for (; part < SHAPE_BUCKETS; part = (part / 64 + 1) * 64) {
                uint64_t some = t->some[part / 64] >> part % 64;

                if (some)
                        return part + (uint32_t)__builtin_ctzll(some);
        }
        return SHAPE_BUCKETS;
}

#define TALLY_FOR_EACH(t, part) for (uint32_t part = 0; (part = tally_next(t, part)) < SHAPE_BUCKETS; part++)

/* How many of the shapes have each part. Left out are those to skip, and those without part `with`, unless it is NULL. */
static void count(const struct shape *list, size_t n, const bool *skip, const uint16_t *with, struct tally *ret)
{
        TALLY_FOR_EACH(ret, b)
                ret->n[b] = 0;
        memset(ret->some, 0, sizeof(ret->some));
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; !(skip && skip[i]) && k < list[i].n && (k > 0 || !with || shape_has(&list[i], *with)); k++) {
                        const uint16_t part = list[i].parts[k];

                        ret->n[part]++;
                        ret->some[part / 64] |= UINT64_C(1) << part % 64;
                }
}

static double worth(double finds, double precision)
{
        return finds * precision * precision;
}

/* The share of finds among the inputs with a part. The 2 makes that of few inputs small. */
static double precision_of(const struct families *f, uint32_t part)
{
        return f->hit.seen[part] / (f->ran.seen[part] + 2);
}

/* Finds the best part, and the candidates for the first of two. Returns the best part's worth; 0 if no part explains enough. */
static double search_one(struct search *s, struct rule *ret, uint16_t seeds[SEEDS])
{
        struct families *f = s->families;
        double most = 0, worths[SEEDS] = {0};

        count(f->found, f->n_found, s->is_explained, NULL, s->hits);
        TALLY_FOR_EACH(s->hits, b) {
                double p = s->hits->n[b] >= FAMILY ? precision_of(f, b) : 0, w = worth(s->hits->n[b], p);
                size_t at = SEEDS;

                if (p >= s->least && w > most) {
                        most = w;
                        ret->parts[0] = ret->parts[1] = (uint16_t)b;
                }
                if (s->hits->n[b] <= FAMILY)
                        continue;
                /* Insert it among the candidates, the best first. */
                for (; at > 0 && worths[at - 1] < w; at--)
                        if (at < SEEDS) {
                                worths[at] = worths[at - 1];
                                seeds[at] = seeds[at - 1];
                        }
                if (at < SEEDS) {
                        worths[at] = w;
                        seeds[at] = (uint16_t)b;
                }
        }
        for (size_t i = 0; i < SEEDS; i++)
                if (worths[i] == 0)
                        seeds[i] = UINT16_MAX;
        return most;
}

/* Finds the best rule of two parts. Returns its worth; 0 if none explains enough. */
static double search_two(struct search *s, struct rule *ret, const uint16_t seeds[SEEDS])
{
        struct families *f = s->families;
        const double scale = f->n_missed > 0 ? (f->n_ran - f->n_hit) / (double)f->n_missed : 1; /* the number of misses for each one in the sample */
        double most = 0;

        for (size_t i = 0; i < SEEDS && seeds[i] != UINT16_MAX; i++) {
                count(f->found, f->n_found, s->is_explained, &seeds[i], s->hits);
                count(f->missed, f->n_missed, NULL, &seeds[i], s->misses);
                TALLY_FOR_EACH(s->hits, b) {
                        double p = s->hits->n[b] > FAMILY ? s->hits->n[b] / (s->hits->n[b] + s->misses->n[b] * scale + 2) : 0;

                        if (p >= s->least && worth(s->hits->n[b], p) > most) {
                                most = worth(s->hits->n[b], p);
                                *ret = (struct rule){{seeds[i], (uint16_t)b}};
                        }
                }
        }
        return most;
}

static void make_rules(struct families *f)
{
        cleanup_free bool *is_explained = allocate(f->n_found, sizeof(*is_explained));
        cleanup_free struct tally *hits = allocate(1, sizeof(*hits)), *misses = allocate(1, sizeof(*misses));
        struct search s = {.families = f,
                           .is_explained = is_explained,
                           .hits = hits,
                           .misses = misses,
                           .least = fmax(PRECISION, fmin(0.9, 3 * f->n_hit / (f->n_ran + 1)))};
        uint16_t seeds[SEEDS];
        struct rule rule;

        f->n_rules = 0;
        while (search_one(&s, &rule, seeds) > 0 || search_two(&s, &rule, seeds) > 0) {
                list_add(f->rules, f->n_rules, rule);
                for (size_t i = 0; i < f->n_found; i++)
                        is_explained[i] |= has_rule(&f->found[i], &rule);
        }
}

/* -- inputs that ran -- */

static void note(struct families *f, const struct shape *s, bool is_find)
{
        shape_counts_see(&f->ran, s);
        f->n_ran++;
        if (is_find)
                shape_counts_see(&f->hit, s);
        f->n_hit += is_find;
}

void families_assumed(struct families *f, const struct shape *s)
{
        note(f, s, true);
}

void families_found(struct families *f, const struct shape *s)
{
        note(f, s, true);
        if (f->n_found == FINDS_MOST) {
                shape_done(&f->found[0]);
                memmove(f->found, f->found + 1, --f->n_found * sizeof(*f->found));
        }
        list_add(f->found, f->n_found, shape_copy(s));
        make_rules(f);
}

/* The sample is a reservoir (Vitter, "Random sampling with a reservoir", ACM TOMS 1985); the draws depend on the number of misses only. */
void families_missed(struct families *f, const struct shape *s)
{
        uint64_t number = (uint64_t)(f->n_ran - f->n_hit), at;

        note(f, s, false);
        if (f->n_missed < MISSES_MOST) {
                list_add(f->missed, f->n_missed, shape_copy(s));
                return;
        }
        at = hash_quick(&number, sizeof(number)) % (number + 1);
        if (at < MISSES_MOST) {
                shape_done(&f->missed[at]);
                f->missed[at] = shape_copy(s);
        }
}

void families_transfer(struct transfer *t, struct families *f)
{
        transfer_counts(t, &f->ran);
        transfer_counts(t, &f->hit);
        transfer_real(t, &f->n_ran);
        transfer_real(t, &f->n_hit);
        transfer_shapes(t, &f->found, &f->n_found);
        transfer_shapes(t, &f->missed, &f->n_missed);
        transfer_count(t, &f->n_rules, 2 * sizeof(uint16_t));
        for (size_t i = 0; i < f->n_rules; i++) {
                if (transfer_reads(t))
                        list_grow(f->rules, i);
                for (size_t k = 0; k < 2; k++)
                        transfer_u16(t, &f->rules[i].parts[k]);
        }
}
