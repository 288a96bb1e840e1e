#include "autom.h"
#include "strand.h"

#define AUT_MAX_STATES  20000
#define AUT_MAX_CELLS   (8u << 20)
#define AUT_MAX_LENGTHS 4096
#define AUT_MAX_SETS    1000

struct draft {
        VEC(uint32_t) step; /* n * nclasses */
        VEC(uint8_t) accept;
        vec_u32 first;
        uint32_t n;
};

static void draft_free(struct draft *d)
{
        vec_free(&d->step);
        vec_free(&d->accept);
        vec_free(&d->first);
}

/* ---- from a draft: trim, minimise (Moore), drop superfluous classes, intern ---- */

static void trim(struct draft *d)
{
        uint32_t k = (uint32_t)d->first.n;
        uint8_t *live = util_alloc(d->n + 1);
        bool changed = true;

        memcpy(live, d->accept.d, d->n);
        while (changed) {
                changed = false;
                for (uint32_t q = d->n; q-- > 0;)
                        for (uint32_t c = 0; !live[q] && c < k; c++) {
                                uint32_t t = d->step.d[q * k + c];

                                if (t != AUT_DEAD && live[t])
                                        live[q] = 1, changed = true;
                        }
        }
        for (uint32_t i = 0; i < d->n * k; i++)
                if (d->step.d[i] != AUT_DEAD && !live[d->step.d[i]])
                        d->step.d[i] = AUT_DEAD;
        if (!live[0]) {
                d->n = 1;
                d->accept.d[0] = 0;
                for (uint32_t c = 0; c < k; c++)
                        d->step.d[c] = AUT_DEAD;
        }
        free(live);
}

/* Splits classes of states by their successors until nothing changes; numbers them by first visit. */
static void minimise(struct draft *d)
{
        uint32_t k = (uint32_t)d->first.n, nblocks = 0, old = 0, cap = 64;
        uint32_t *block = util_alloc(4 * (size_t)d->n), *fresh = util_alloc(4 * (size_t)d->n);
        uint32_t *order, *rep, *number, nn = 0;

        for (uint32_t q = 0; q < d->n; q++)
                block[q] = d->accept.d[q];
        while (cap < 2 * d->n)
                cap *= 2;
        for (;;) {
                uint32_t *table = util_alloc(4 * (size_t)cap);

                nblocks = 0;
                for (uint32_t q = 0; q < d->n; q++) {
                        uint64_t h = block[q];
                        uint32_t i;

                        for (uint32_t c = 0; c < k; c++) {
                                uint32_t t = d->step.d[q * k + c];

                                h = util_mix(h, t == AUT_DEAD ? AUT_DEAD : block[t]);
                        }
                        for (i = h & (cap - 1); table[i]; i = (i + 1) & (cap - 1)) {
                                uint32_t p = table[i] - 1;
                                bool same = block[p] == block[q];

                                for (uint32_t c = 0; same && c < k; c++) {
                                        uint32_t s = d->step.d[p * k + c], t = d->step.d[q * k + c];

                                        same = (s == AUT_DEAD ? AUT_DEAD : block[s]) == (t == AUT_DEAD ? AUT_DEAD : block[t]);
                                }
                                if (same)
                                        break;
                        }
                        if (!table[i]) {
                                table[i] = q + 1;
                                fresh[q] = nblocks++;
                        } else {
                                fresh[q] = fresh[table[i] - 1];
                        }
                }
                free(table);
                memcpy(block, fresh, 4 * (size_t)d->n);
                if (nblocks == old)
                        break;
                old = nblocks;
        }
        /* a canonical order: breadth first from the start */
        order = util_alloc(4 * (size_t)nblocks);
        rep = util_alloc(4 * (size_t)nblocks);
        number = util_alloc(4 * (size_t)nblocks);
        for (uint32_t q = d->n; q-- > 0;)
                rep[block[q]] = q;
        for (uint32_t i = 0; i < nblocks; i++)
                number[i] = AUT_DEAD;
        number[block[0]] = nn;
        order[nn++] = block[0];
        for (uint32_t i = 0; i < nn; i++)
                for (uint32_t c = 0; c < k; c++) {
                        uint32_t t = d->step.d[rep[order[i]] * k + c];

                        if (t != AUT_DEAD && number[block[t]] == AUT_DEAD) {
                                number[block[t]] = nn;
                                order[nn++] = block[t];
                        }
                }
        {
                uint32_t *step = util_alloc(4 * (size_t)nn * k);
                uint8_t *accept = util_alloc(nn);

                for (uint32_t i = 0; i < nn; i++) {
                        accept[i] = d->accept.d[rep[order[i]]];
                        for (uint32_t c = 0; c < k; c++) {
                                uint32_t t = d->step.d[rep[order[i]] * k + c];

                                step[i * k + c] = t == AUT_DEAD ? AUT_DEAD : number[block[t]];
                        }
                }
                memcpy(d->step.d, step, 4 * (size_t)nn * k);
                memcpy(d->accept.d, accept, nn);
                free(step);
                free(accept);
        }
        d->n = nn;
        free(order);
        free(rep);
        free(number);
        free(block);
        free(fresh);
}

static void merge_classes(struct draft *d)
{
        uint32_t k = (uint32_t)d->first.n, m = 0;
        uint32_t *keep = util_alloc(4 * (size_t)k);

        for (uint32_t c = 0; c < k; c++) {
                bool same = m > 0;

                for (uint32_t q = 0; same && q < d->n; q++)
                        same = d->step.d[q * k + c] == d->step.d[q * k + keep[m - 1]];
                if (!same)
                        keep[m++] = c;
        }
        for (uint32_t q = 0; q < d->n; q++)
                for (uint32_t c = 0; c < m; c++)
                        d->step.d[q * m + c] = d->step.d[q * k + keep[c]];
        for (uint32_t c = 0; c < m; c++)
                d->first.d[c] = d->first.d[keep[c]];
        d->first.n = m;
        free(keep);
}

static struct aut *finish(struct aut_store *s, struct draft *d)
{
        struct aut *a;
        uint64_t h;
        uint32_t k;

        trim(d);
        minimise(d);
        merge_classes(d);
        k = (uint32_t)d->first.n;
        h = util_mix(d->n, k);
        for (uint32_t i = 0; i < d->n * k; i++)
                h = util_mix(h, d->step.d[i]);
        for (uint32_t i = 0; i < d->n; i++)
                h = util_mix(h, d->accept.d[i]);
        for (uint32_t i = 0; i < k; i++)
                h = util_mix(h, d->first.d[i]);
        if (s->n >= s->nbuckets) {
                size_t m = s->nbuckets ? 2 * s->nbuckets : 64;
                struct aut **b = util_alloc(m * sizeof(*b));

                for (size_t i = 0; i < s->nbuckets; i++)
                        for (struct aut *p = s->bucket[i], *next; p; p = next) {
                                next = p->next;
                                p->next = b[p->hash & (m - 1)];
                                b[p->hash & (m - 1)] = p;
                        }
                free(s->bucket);
                s->bucket = b;
                s->nbuckets = m;
        }
        for (a = s->bucket[h & (s->nbuckets - 1)]; a; a = a->next)
                if (a->hash == h && a->n == d->n && a->nclasses == k && !memcmp(a->first, d->first.d, 4 * (size_t)k) &&
                    !memcmp(a->step, d->step.d, 4 * (size_t)d->n * k) && !memcmp(a->accept, d->accept.d, d->n))
                        break;
        if (!a) {
                a = arena_alloc(&s->arena, sizeof(*a));
                *a = (struct aut){.n = d->n, .nclasses = k, .hash = h, .id = (uint32_t)s->autos.n};
                a->first = arena_dup(&s->arena, d->first.d, 4 * (size_t)k);
                a->step = arena_dup(&s->arena, d->step.d, 4 * (size_t)d->n * k);
                a->accept = arena_dup(&s->arena, d->accept.d, d->n);
                a->next = s->bucket[h & (s->nbuckets - 1)];
                s->bucket[h & (s->nbuckets - 1)] = a;
                s->n++;
                vec_push(&s->autos, a);
        }
        draft_free(d);
        return a;
}

/* ---- constructions ---- */

/* No time or memory is left for a large automaton; small ones are built all the same. */
static bool is_exhausted(const struct aut_store *s)
{
        return s->arena.total + s->re.arena.total > RE_MAX_BYTES || (s->deadline > 0 && strand_now() > s->deadline);
}

struct aut *aut_from_re(struct aut_store *s, rid r)
{
        struct draft d = {};
        vec_u32 states = {}, number = {};
        struct aut *a = NULL;

        while (s->of_re.n <= r)
                vec_push(&s->of_re, NULL);
        if (s->of_re.d[r])
                return s->of_re.d[r];
        re_classes(&s->re, r, &d.first);
        vec_push(&states, r);
        while (number.n <= r)
                vec_push(&number, 0);
        number.d[r] = 1;
        for (size_t i = 0; i < states.n; i++) {
                vec_push(&d.accept, s->re.nodes.d[states.d[i]]->nullable);
                if (states.n > AUT_MAX_STATES || states.n * d.first.n > AUT_MAX_CELLS || ((i & 63) == 63 && is_exhausted(s)))
                        goto out;
                for (size_t c = 0; c < d.first.n; c++) {
                        rid t = re_derive(&s->re, states.d[i], d.first.d[c]);

                        if (t == s->re.none) {
                                vec_push(&d.step, AUT_DEAD);
                                continue;
                        }
                        while (number.n <= t)
                                vec_push(&number, 0);
                        if (!number.d[t]) {
                                vec_push(&states, t);
                                number.d[t] = (uint32_t)states.n;
                        }
                        vec_push(&d.step, number.d[t] - 1);
                }
        }
        d.n = (uint32_t)states.n;
        a = finish(s, &d);
        s->of_re.d[r] = a;
out:
        draft_free(&d);
        vec_free(&states);
        vec_free(&number);
        return a;
}

static size_t memo_slot(const struct aut_store *s, uint64_t key)
{
        size_t i = util_mix(7, key) & (s->memo_cap - 1);

        while (s->memo_key[i] && s->memo_key[i] != key)
                i = (i + 1) & (s->memo_cap - 1);
        return i;
}

static struct aut *memo_get(const struct aut_store *s, uint64_t key)
{
        return s->memo_cap ? s->memo_val[memo_slot(s, key)] : NULL;
}

static void memo_put(struct aut_store *s, uint64_t key, struct aut *val)
{
        size_t i;

        if (2 * s->memo_n >= s->memo_cap) {
                uint64_t *keys = s->memo_key;
                struct aut **vals = s->memo_val;
                size_t cap = s->memo_cap;

                s->memo_cap = cap ? 2 * cap : 256;
                s->memo_key = util_alloc(s->memo_cap * sizeof(*keys));
                s->memo_val = util_alloc(s->memo_cap * sizeof(*vals));
                for (i = 0; i < cap; i++)
                        if (keys[i]) {
                                size_t j = memo_slot(s, keys[i]);

                                s->memo_key[j] = keys[i];
                                s->memo_val[j] = vals[i];
                        }
                free(keys);
                free(vals);
        }
        i = memo_slot(s, key);
        s->memo_n += !s->memo_key[i];
        s->memo_key[i] = key;
        s->memo_val[i] = val;
}

static void merged_classes(const struct aut *a, const struct aut *b, vec_u32 *first, vec_u32 *ca, vec_u32 *cb)
{
        for (uint32_t i = 0, j = 0; i < a->nclasses || j < b->nclasses;) {
                uint32_t x = i < a->nclasses ? a->first[i] : UINT32_MAX, y = j < b->nclasses ? b->first[j] : UINT32_MAX;

                vec_push(first, x < y ? x : y);
                i += x <= y;
                j += y <= x;
                vec_push(ca, i - 1);
                vec_push(cb, j - 1);
        }
}

struct aut *aut_inter(struct aut_store *s, struct aut *a, struct aut *b)
{
        struct draft d = {};
        vec_u32 ca = {}, cb = {};
        VEC(uint64_t) states = {};
        uint64_t *keys = NULL, memo;
        uint32_t *vals = NULL;
        size_t cap = 256;
        struct aut *r;

        if (a == b || b == s->all || a == s->empty)
                return a;
        if (a == s->all || b == s->empty)
                return b;
        if (a->id > b->id) {
                r = a;
                a = b;
                b = r;
        }
        memo = ((uint64_t)a->id << 32 | b->id) + 1;
        r = memo_get(s, memo);
        if (r)
                return r;
        merged_classes(a, b, &d.first, &ca, &cb);
        keys = util_alloc(cap * sizeof(*keys));
        vals = util_alloc(cap * sizeof(*vals));
        vec_push(&states, 0);
        keys[util_mix(3, 1) & (cap - 1)] = 1;
        vals[util_mix(3, 1) & (cap - 1)] = 0;
        for (size_t i = 0; i < states.n; i++) {
                uint32_t p = (uint32_t)(states.d[i] >> 32), q = (uint32_t)states.d[i];

                vec_push(&d.accept, a->accept[p] && b->accept[q]);
                if (states.n > AUT_MAX_STATES || states.n * d.first.n > AUT_MAX_CELLS || ((i & 255) == 255 && is_exhausted(s)))
                        goto out;
                for (size_t c = 0; c < d.first.n; c++) {
                        uint32_t x = a->step[p * a->nclasses + ca.d[c]], y = b->step[q * b->nclasses + cb.d[c]];
                        uint64_t key = ((uint64_t)x << 32 | y) + 1;
                        size_t k;

                        if (x == AUT_DEAD || y == AUT_DEAD) {
                                vec_push(&d.step, AUT_DEAD);
                                continue;
                        }
                        for (k = util_mix(3, key) & (cap - 1); keys[k] && keys[k] != key; k = (k + 1) & (cap - 1))
                                ;
                        if (!keys[k]) {
                                keys[k] = key;
                                vals[k] = (uint32_t)states.n;
                                vec_push(&states, key - 1);
                        }
                        vec_push(&d.step, vals[k]);
                        if (2 * states.n >= cap) {
                                size_t m = 2 * cap;
                                uint64_t *nk = util_alloc(m * sizeof(*nk));
                                uint32_t *nv = util_alloc(m * sizeof(*nv));

                                for (size_t j = 0; j < states.n; j++) {
                                        size_t h = util_mix(3, states.d[j] + 1) & (m - 1);

                                        while (nk[h])
                                                h = (h + 1) & (m - 1);
                                        nk[h] = states.d[j] + 1;
                                        nv[h] = (uint32_t)j;
                                }
                                free(keys);
                                free(vals);
                                keys = nk;
                                vals = nv;
                                cap = m;
                        }
                }
        }
        d.n = (uint32_t)states.n;
        r = finish(s, &d);
        memo_put(s, memo, r);
out:
        draft_free(&d);
        vec_free(&ca);
        vec_free(&cb);
        vec_free(&states);
        free(keys);
        free(vals);
        return r;
}

/* A draft copy of a, begun at q; one more state is the sink if asked for. */
static void copy(const struct aut *a, uint32_t q, bool sink, struct draft *d)
{
        uint32_t n = a->n + sink, k = a->nclasses;

        for (uint32_t c = 0; c < k; c++)
                vec_push(&d->first, a->first[c]);
        for (uint32_t i = 0; i < n; i++) {
                uint32_t p = i == 0 ? q : i == q ? 0 : i; /* q and 0 change places */

                vec_push(&d->accept, p < a->n ? a->accept[p] : 0);
                for (uint32_t c = 0; c < k; c++) {
                        uint32_t t = p < a->n ? a->step[p * k + c] : AUT_DEAD;

                        if (t == AUT_DEAD)
                                t = sink ? a->n : AUT_DEAD;
                        else
                                t = t == q ? 0 : t == 0 ? q : t;
                        vec_push(&d->step, t);
                }
        }
        d->n = n;
}

struct aut *aut_comp(struct aut_store *s, struct aut *a)
{
        struct draft d = {};

        copy(a, 0, true, &d);
        for (uint32_t i = 0; i < d.n; i++)
                d.accept.d[i] = !d.accept.d[i];
        return finish(s, &d);
}

struct aut *aut_between(struct aut_store *s, struct aut *a, uint32_t q, const uint64_t *target)
{
        struct draft d = {};

        if (q == 0 && !target)
                return a;
        copy(a, q, false, &d);
        if (target)
                for (uint32_t i = 0; i < d.n; i++)
                        d.accept.d[i] = bit_get(target, i == 0 ? q : i == q ? 0 : i);
        return finish(s, &d);
}

struct aut *aut_determinise(struct aut_store *s, const vec_u32 *first, uint32_t n, const uint64_t *start, const uint64_t *accept,
                            void (*step)(void *data, uint32_t q, uint32_t c, uint64_t *to), void *data)
{
        size_t words = ((size_t)n + 63) / 64;
        struct draft d = {};
        VEC(uint64_t) sets = {};
        struct aut *r = NULL;

        for (size_t c = 0; c < first->n; c++)
                vec_push(&d.first, first->d[c]);
        for (size_t i = 0; i < words; i++)
                vec_push(&sets, start[i]);
        for (uint32_t i = 0; i < sets.n / words; i++) {
                bool any = false;

                for (size_t w = 0; w < words; w++)
                        any |= (sets.d[i * words + w] & accept[w]) != 0;
                vec_push(&d.accept, any);
                if (i == AUT_MAX_SETS || ((i & 15) == 15 && is_exhausted(s)))
                        goto out;
                for (size_t c = 0; c < first->n; c++) {
                        size_t at = sets.n, j = 0;

                        for (size_t w = 0; w < words; w++)
                                vec_push(&sets, 0);
                        for (uint32_t q = 0; q < n; q++)
                                if (bit_get(sets.d + i * words, q))
                                        step(data, q, first->d[c], sets.d + at);
                        while (memcmp(sets.d + j * words, sets.d + at, words * 8))
                                j++;
                        vec_push(&d.step, (uint32_t)j);
                        if (j * words != at)
                                sets.n = at; /* seen before */
                }
        }
        d.n = (uint32_t)(sets.n / words);
        r = finish(s, &d);
out:
        draft_free(&d);
        vec_free(&sets);
        return r;
}

void aut_classes(const struct aut *a, vec_u32 *first)
{
        for (uint32_t c = 0; c < a->nclasses; c++) {
                size_t i = 0;

                while (i < first->n && first->d[i] < a->first[c])
                        i++;
                if (i < first->n && first->d[i] == a->first[c])
                        continue;
                vec_push(first, 0);
                memmove(first->d + i + 1, first->d + i, 4 * (first->n - 1 - i));
                first->d[i] = a->first[c];
        }
}

/* Backward: state a->n is q as the one begun at. */
struct backward {
        const struct aut *a;
        uint32_t q;
        bool avoid;
};

static void step_back(void *data, uint32_t t, uint32_t c, uint64_t *to)
{
        const struct backward *b = data;

        if (t == b->a->n || (b->avoid && b->a->accept[t]))
                return;
        for (uint32_t p = 0; p <= b->a->n; p++)
                if (aut_step(b->a, p < b->a->n ? p : b->q, c) == t)
                        bit_set(to, p);
}

struct aut *aut_reverse(struct aut_store *s, const struct aut *a, uint32_t q, const uint64_t *target, bool avoid)
{
        struct backward b = {a, q, avoid};
        uint64_t *accept = util_alloc(((size_t)a->n / 64 + 1) * 8);
        vec_u32 first = {};
        struct aut *r;

        bit_set(accept, a->n);
        aut_classes(a, &first);
        r = aut_determinise(s, &first, a->n + 1, target, accept, step_back, &b);
        vec_free(&first);
        free(accept);
        return r;
}

void aut_store_init(struct aut_store *s, double deadline)
{
        memset(s, 0, sizeof(*s));
        s->deadline = deadline;
        re_bank_init(&s->re);
        s->empty = aut_from_re(s, s->re.none);
        s->all = aut_from_re(s, s->re.all);
}

void aut_store_free(struct aut_store *s)
{
        re_bank_free(&s->re);
        free(s->bucket);
        vec_free(&s->of_re);
        vec_free(&s->autos);
        vec_free(&s->images);
        free(s->memo_key);
        free(s->memo_val);
        arena_free(&s->arena);
}

/* ---- reading ---- */

uint32_t aut_class(const struct aut *a, uint32_t c)
{
        uint32_t lo = 0, hi = a->nclasses;

        while (hi - lo > 1) {
                uint32_t mid = (lo + hi) / 2;

                if (a->first[mid] <= c)
                        lo = mid;
                else
                        hi = mid;
        }
        return lo;
}

uint32_t aut_step(const struct aut *a, uint32_t q, uint32_t c)
{
        return a->step[q * a->nclasses + aut_class(a, c)];
}

bool aut_image(struct aut_store *s, const struct aut *a, const uint64_t *from, const struct aut *d, uint64_t *to)
{
        vec_u32 first = {}, ca = {}, cd = {};
        VEC(uint64_t) todo = {};
        uint64_t *seen;
        bool ok = (uint64_t)a->n * d->n < AUT_MAX_CELLS * 8ull;

        if (!ok)
                return false;
        if (d == s->all) { /* everything that can be reached */
                seen = util_alloc(((size_t)a->n + 63) / 64 * 8);
                for (uint32_t q = 0; q < a->n; q++)
                        if (bit_get(from, q)) {
                                bit_set(seen, q);
                                vec_push(&todo, q);
                        }
                while (todo.n) {
                        uint32_t q = (uint32_t)vec_pop(&todo);

                        bit_set(to, q);
                        for (uint32_t c = 0; c < a->nclasses; c++) {
                                uint32_t t = a->step[q * a->nclasses + c];

                                if (t != AUT_DEAD && !bit_get(seen, t)) {
                                        bit_set(seen, t);
                                        vec_push(&todo, t);
                                }
                        }
                }
                free(seen);
                vec_free(&todo);
                return true;
        }
        merged_classes(a, d, &first, &ca, &cd);
        seen = util_alloc(((size_t)a->n * d->n + 63) / 64 * 8);
        for (uint32_t q = 0; q < a->n; q++)
                if (bit_get(from, q)) {
                        vec_push(&todo, (uint64_t)q * d->n);
                        seen[(uint64_t)q * d->n >> 6] |= 1ull << ((uint64_t)q * d->n & 63);
                }
        for (size_t steps = 0; todo.n; steps++) {
                uint64_t pair = vec_pop(&todo);
                uint32_t q = (uint32_t)(pair / d->n), p = (uint32_t)(pair % d->n);

                if (d->accept[p])
                        bit_set(to, q);
                if ((steps & 1023) == 1023 && is_exhausted(s)) {
                        ok = false;
                        break;
                }
                for (size_t c = 0; c < first.n; c++) {
                        uint32_t x = a->step[q * a->nclasses + ca.d[c]], y = d->step[p * d->nclasses + cd.d[c]];
                        uint64_t k = (uint64_t)x * d->n + y;

                        if (x == AUT_DEAD || y == AUT_DEAD || (seen[k >> 6] >> (k & 63) & 1))
                                continue;
                        seen[k >> 6] |= 1ull << (k & 63);
                        vec_push(&todo, k);
                }
        }
        free(seen);
        vec_free(&first);
        vec_free(&ca);
        vec_free(&cd);
        vec_free(&todo);
        return ok;
}

/* ---- lengths: the unary automaton by sets of states, until a set comes back ---- */

static bool step_set(const struct aut *a, const uint64_t *from, uint64_t *to, size_t words)
{
        bool any = false;

        memset(to, 0, words * 8);
        for (uint32_t q = 0; q < a->n; q++)
                if (bit_get(from, q))
                        for (uint32_t c = 0; c < a->nclasses; c++) {
                                uint32_t t = a->step[q * a->nclasses + c];

                                if (t != AUT_DEAD) {
                                        bit_set(to, t);
                                        any = true;
                                }
                        }
        return any;
}

const struct aut_lengths *aut_lengths(struct aut_store *s, struct aut *a)
{
        size_t words = ((size_t)a->n + 63) / 64;
        struct aut_lengths *l;
        VEC(uint64_t) sets = {};
        VEC(uint8_t) has = {};
        bool any = true, found = false;

        if (a->lengths)
                return a->lengths;
        l = arena_alloc(&s->arena, sizeof(*l));
        memset(l, 0, sizeof(*l));
        for (size_t i = 0; i < words; i++)
                vec_push(&sets, i == 0);
        for (uint32_t n = 0;; n++) {
                uint64_t *cur = sets.d + n * words;
                uint8_t acc = 0;
                uint32_t back;

                for (uint32_t q = 0; q < a->n && !acc; q++)
                        acc = bit_get(cur, q) && a->accept[q];
                if (acc && !found) {
                        found = true;
                        l->min = n;
                }
                for (back = 0; back < n; back++)
                        if (!memcmp(sets.d + back * words, cur, words * 8))
                                break;
                if (back < n || !any) { /* the set of n is that of `back`, or empty */
                        l->exact = true;
                        l->finite = !any;
                        l->pre = any ? back : n;
                        l->period = any ? n - back : 1;
                        if (!any)
                                vec_push(&has, 0);
                        break;
                }
                vec_push(&has, acc);
                if (n >= AUT_MAX_LENGTHS || (uint64_t)n * words > 4u << 20 || ((n & 15) == 15 && is_exhausted(s)))
                        break;
                for (size_t i = 0; i < words; i++)
                        vec_push(&sets, 0);
                any = step_set(a, sets.d + n * words, sets.d + (n + 1) * words, words);
        }
        l->has = arena_dup(&s->arena, has.d, has.n);
        if (!l->exact && !found)
                l->min = (uint32_t)has.n;
        vec_free(&sets);
        vec_free(&has);
        a->lengths = l;
        return l;
}

bool aut_has_length(const struct aut_lengths *l, uint64_t n)
{
        if (!l->exact)
                return n >= l->min;
        if (n >= l->pre + l->period)
                n = l->pre + (n - l->pre) % l->period;
        return l->has[n];
}

/* ---- words ---- */

static uint64_t next_random(uint64_t *x)
{
        *x = *x * 6364136223846793005ull + 1442695040888963407ull;
        return *x >> 33;
}

/* A character of class c; one that prints, if the class has any. */
static uint32_t pick(const struct aut *a, uint32_t c, uint64_t *random)
{
        static const struct re_range nice[] = {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {' ', '~'}};
        uint32_t lo = a->first[c], hi = c + 1 < a->nclasses ? a->first[c + 1] - 1 : USTR_MAX_CHAR;

        for (size_t i = 0; i < sizeof(nice) / sizeof(*nice); i++) {
                uint32_t l = lo > nice[i].lo ? lo : nice[i].lo, h = hi < nice[i].hi ? hi : nice[i].hi;

                if (l <= h)
                        return l + (uint32_t)(next_random(random) % (h - l + 1));
        }
        return lo + (uint32_t)(next_random(random) % (hi - lo + 1));
}

bool aut_sample(struct aut_store *s, struct aut *a, uint32_t len, uint64_t *random, vec_u32 *out)
{
        size_t words = ((size_t)a->n + 63) / 64;
        uint64_t *can;
        vec_u32 options = {};
        uint32_t q = 0;
        bool ok;

        (void)s;
        if (a == s->all) {
                for (uint32_t i = 0; i < len; i++)
                        vec_push(out, 'a' + (uint32_t)(next_random(random) % 26));
                return true;
        }
        if ((uint64_t)len * words > 32u << 20)
                return false;
        /* can[k]: the states from which k more characters lead to acceptance */
        can = util_alloc(((size_t)len + 1) * words * 8);
        for (uint32_t p = 0; p < a->n; p++)
                if (a->accept[p])
                        bit_set(can, p);
        for (uint32_t k = 1; k <= len; k++)
                for (uint32_t p = 0; p < a->n; p++)
                        for (uint32_t c = 0; c < a->nclasses; c++) {
                                uint32_t t = a->step[p * a->nclasses + c];

                                if (t != AUT_DEAD && bit_get(can + (k - 1) * words, t)) {
                                        bit_set(can + k * words, p);
                                        break;
                                }
                        }
        ok = bit_get(can + (size_t)len * words, 0);
        for (uint32_t k = len; ok && k-- > 0;) {
                uint32_t c;

                options.n = 0;
                for (c = 0; c < a->nclasses; c++) {
                        uint32_t t = a->step[q * a->nclasses + c];

                        if (t != AUT_DEAD && bit_get(can + k * words, t))
                                vec_push(&options, c);
                }
                c = options.d[next_random(random) % options.n];
                vec_push(out, pick(a, c, random));
                q = a->step[q * a->nclasses + c];
        }
        vec_free(&options);
        free(can);
        return ok;
}
