#include "regex.h"
#include "ustr.h"

/* Derivatives recurse on the height. */
#define RE_MAX_HEIGHT 20000

static struct re *node(const struct re_bank *b, rid r)
{
        return b->nodes.d[r];
}

static rid intern(struct re_bank *b, struct re proto)
{
        size_t bytes = proto.kind == RE_CHARS ? proto.n * sizeof(struct re_range) : proto.n * sizeof(rid);
        uint64_t h = util_mix(proto.kind, proto.n);
        struct re *p;

        h = util_mix(util_mix(h, (uint64_t)proto.lo), (uint64_t)proto.hi);
        if (proto.kind == RE_CHARS)
                for (uint32_t i = 0; i < proto.n; i++)
                        h = util_mix(util_mix(h, proto.range[i].lo), proto.range[i].hi);
        else
                for (uint32_t i = 0; i < proto.n; i++)
                        h = util_mix(h, proto.kid[i]);
        proto.hash = (uint32_t)h;
        if (b->nodes.n >= b->nbuckets) {
                b->nbuckets = b->nbuckets ? 2 * b->nbuckets : 256;
                free(b->bucket);
                b->bucket = util_alloc(b->nbuckets * sizeof(*b->bucket));
                for (rid i = 1; i < b->nodes.n; i++) {
                        p = node(b, i);
                        p->next = b->bucket[p->hash & (b->nbuckets - 1)];
                        b->bucket[p->hash & (b->nbuckets - 1)] = i;
                }
        }
        for (rid i = b->bucket[proto.hash & (b->nbuckets - 1)]; i; i = node(b, i)->next) {
                p = node(b, i);
                if (p->hash == proto.hash && p->kind == proto.kind && p->n == proto.n && p->lo == proto.lo && p->hi == proto.hi &&
                    (!bytes || !memcmp(p->kid, proto.kid, bytes)))
                        return i;
        }
        proto.height = 0;
        if (proto.kind != RE_CHARS)
                for (uint32_t i = 0; i < proto.n; i++)
                        if (node(b, proto.kid[i])->height >= proto.height)
                                proto.height = node(b, proto.kid[i])->height + 1;
        p = arena_dup(&b->arena, &proto, sizeof(proto));
        p->kid = arena_dup(&b->arena, proto.kid, bytes);
        p->next = b->bucket[p->hash & (b->nbuckets - 1)];
        b->bucket[p->hash & (b->nbuckets - 1)] = (rid)b->nodes.n;
        vec_push(&b->nodes, p);
        return (rid)b->nodes.n - 1;
}

void re_bank_init(struct re_bank *b)
{
        memset(b, 0, sizeof(*b));
        vec_push(&b->nodes, NULL);
        b->none = intern(b, (struct re){.kind = RE_NONE});
        b->eps = intern(b, (struct re){.kind = RE_EPS, .nullable = true});
        b->any = re_chars(b, 0, USTR_MAX_CHAR);
        b->all = re_star(b, b->any);
}

void re_bank_free(struct re_bank *b)
{
        vec_free(&b->nodes);
        free(b->bucket);
        free(b->memo_key);
        free(b->memo_val);
        arena_free(&b->arena);
}

static rid chars(struct re_bank *b, const struct re_range *r, size_t n)
{
        if (!n)
                return b->none;
        return intern(b, (struct re){.kind = RE_CHARS, .n = (uint32_t)n, .range = r});
}

rid re_chars(struct re_bank *b, uint32_t lo, uint32_t hi)
{
        return lo > hi ? b->none : chars(b, &(struct re_range){lo, hi}, 1);
}

rid re_word(struct re_bank *b, const uint32_t *c, size_t n)
{
        rid r = b->eps;

        while (n-- > 0)
                r = re_concat(b, re_chars(b, c[n], c[n]), r);
        return r;
}

rid re_concat(struct re_bank *b, rid x, rid y)
{
        VEC(rid) heads = {};

        if (x == b->none || y == b->none)
                return b->none;
        if (x == b->eps)
                return y;
        if (y == b->eps)
                return x;
        /* to the right: x is not itself a concatenation */
        while (node(b, x)->kind == RE_CONCAT) {
                vec_push(&heads, node(b, x)->kid[0]);
                x = node(b, x)->kid[1];
        }
        vec_push(&heads, x);
        while (heads.n) {
                x = vec_pop(&heads);
                if (node(b, x)->kind == RE_STAR && (x == y || (node(b, y)->kind == RE_CONCAT && node(b, y)->kid[0] == x)))
                        continue; /* r* r* = r* */
                if (node(b, x)->kind == RE_CONCAT)
                        y = re_concat(b, x, y);
                else
                        y = intern(b, (struct re){.kind = RE_CONCAT,
                                                  .n = 2,
                                                  .kid = (rid[]){x, y},
                                                  .nullable = node(b, x)->nullable && node(b, y)->nullable});
        }
        vec_free(&heads);
        return y;
}

static int by_id(const void *a, const void *b)
{
        rid x = *(const rid *)a, y = *(const rid *)b;

        return x < y ? -1 : x > y;
}

static int by_lo(const void *a, const void *b)
{
        uint32_t x = ((const struct re_range *)a)->lo, y = ((const struct re_range *)b)->lo;

        return x < y ? -1 : x > y;
}

static rid inter_chars(struct re_bank *b, rid x, rid y)
{
        const struct re *p = node(b, x), *q = node(b, y);
        VEC(struct re_range) out = {};
        rid r;

        for (uint32_t i = 0, j = 0; i < p->n && j < q->n;) {
                uint32_t lo = p->range[i].lo > q->range[j].lo ? p->range[i].lo : q->range[j].lo;
                uint32_t hi = p->range[i].hi < q->range[j].hi ? p->range[i].hi : q->range[j].hi;

                if (lo <= hi)
                        vec_push(&out, (struct re_range){lo, hi});
                if (p->range[i].hi < q->range[j].hi)
                        i++;
                else
                        j++;
        }
        r = chars(b, out.d, out.n);
        vec_free(&out);
        return r;
}

static rid union_chars(struct re_bank *b, const rid *set, size_t n)
{
        VEC(struct re_range) all = {};
        size_t k = 0;
        rid r;

        for (size_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < node(b, set[i])->n; j++)
                        vec_push(&all, node(b, set[i])->range[j]);
        qsort(all.d, all.n, sizeof(*all.d), by_lo);
        for (size_t i = 1; i < all.n; i++) {
                if (all.d[i].lo > all.d[k].hi + 1)
                        all.d[++k] = all.d[i];
                else if (all.d[i].hi > all.d[k].hi)
                        all.d[k].hi = all.d[i].hi;
        }
        r = chars(b, all.d, k + 1);
        vec_free(&all);
        return r;
}

/* All of arg together, interned as one: no union of some of them. */
static rid boolean(struct re_bank *b, enum re_kind kind, const rid *arg, size_t nargs)
{
        rid unit = kind == RE_UNION ? b->none : b->all, zero = kind == RE_UNION ? b->all : b->none;
        vec_u32 parts = {}, sets = {};
        rid set = 0, r = unit;
        bool nullable = kind == RE_INTER, single = true;
        size_t n = 0;

        for (size_t i = 0; i < nargs; i++) {
                if (arg[i] == zero)
                        return zero;
                if (arg[i] == unit || arg[i] == r)
                        continue;
                single &= r == unit;
                r = arg[i];
        }
        if (single)
                return r;
        for (size_t i = 0; i < nargs; i++) {
                const struct re *p = node(b, arg[i]);

                if (p->kind == kind)
                        for (uint32_t j = 0; j < p->n; j++)
                                vec_push(&parts, p->kid[j]);
                else if (arg[i] != unit)
                        vec_push(&parts, arg[i]);
        }
        for (size_t i = 0; i < parts.n; i++) { /* character sets become one */
                if (node(b, parts.d[i])->kind == RE_CHARS)
                        vec_push(&sets, parts.d[i]);
                else
                        parts.d[n++] = parts.d[i];
        }
        parts.n = n;
        if (sets.n)
                set = kind == RE_UNION && sets.n > 1 ? union_chars(b, sets.d, sets.n) : sets.d[0];
        for (size_t i = 1; i < sets.n && kind == RE_INTER && set != b->none; i++)
                set = inter_chars(b, set, sets.d[i]);
        vec_free(&sets);
        if (set == b->none && kind == RE_INTER) {
                vec_free(&parts);
                return b->none;
        }
        if (set)
                vec_push(&parts, set);
        qsort(parts.d, parts.n, sizeof(rid), by_id);
        n = 0;
        for (size_t i = 0; i < parts.n; i++)
                if (!n || parts.d[n - 1] != parts.d[i])
                        parts.d[n++] = parts.d[i];
        parts.n = n;
        for (size_t i = 0; i < n; i++) {
                const struct re *p = node(b, parts.d[i]);

                if (kind == RE_UNION)
                        nullable |= p->nullable;
                else
                        nullable &= p->nullable;
        }
        if (kind == RE_INTER) /* with the empty word, only that is left */
                for (size_t i = 0; i < n; i++)
                        if (parts.d[i] == b->eps) {
                                vec_free(&parts);
                                return nullable ? b->eps : b->none;
                        }
        for (size_t i = 0; i < n; i++) { /* r and its complement */
                const struct re *p = node(b, parts.d[i]);

                if (p->kind == RE_COMP && bsearch(&p->kid[0], parts.d, n, sizeof(rid), by_id)) {
                        vec_free(&parts);
                        return zero;
                }
        }
        r = n == 1 ? parts.d[0] : intern(b, (struct re){.kind = kind, .n = (uint32_t)n, .kid = parts.d, .nullable = nullable});
        vec_free(&parts);
        return r;
}

rid re_union(struct re_bank *b, rid x, rid y)
{
        return boolean(b, RE_UNION, (rid[]){x, y}, 2);
}

rid re_inter(struct re_bank *b, rid x, rid y)
{
        return boolean(b, RE_INTER, (rid[]){x, y}, 2);
}

rid re_star(struct re_bank *b, rid x)
{
        if (x == b->none || x == b->eps)
                return b->eps;
        if (node(b, x)->kind == RE_STAR)
                return x;
        return intern(b, (struct re){.kind = RE_STAR, .n = 1, .kid = &x, .nullable = true});
}

rid re_comp(struct re_bank *b, rid x)
{
        if (x == b->none)
                return b->all;
        if (x == b->all)
                return b->none;
        if (node(b, x)->kind == RE_COMP)
                return node(b, x)->kid[0];
        return intern(b, (struct re){.kind = RE_COMP, .n = 1, .kid = &x, .nullable = !node(b, x)->nullable});
}

static rid loop(struct re_bank *b, rid x, int64_t lo, int64_t hi)
{
        bool nullable = node(b, x)->nullable;

        if (hi >= 0 && lo > hi)
                return b->none;
        if (nullable)
                lo = 0; /* shorter powers are among the longer */
        if (hi == 0 || x == b->eps || (x == b->none && lo == 0))
                return b->eps;
        if (x == b->none)
                return b->none;
        if (hi < 0)
                return lo == 0 ? re_star(b, x) : re_concat(b, loop(b, x, lo, lo), re_star(b, x));
        if (lo == 1 && hi == 1)
                return x;
        if (node(b, x)->kind == RE_STAR)
                return x;
        return intern(b, (struct re){.kind = RE_LOOP, .n = 1, .kid = &x, .lo = lo, .hi = hi, .nullable = lo == 0});
}

static uint64_t memo_hash(uint64_t key)
{
        return util_mix(0x51ed27, key);
}

static void memo_put(struct re_bank *b, uint64_t key, rid val)
{
        size_t i;

        if (2 * b->memo_n >= b->memo_cap) {
                uint64_t *old = b->memo_key;
                rid *oldv = b->memo_val;
                size_t cap = b->memo_cap;

                b->memo_cap = cap ? 2 * cap : 1024;
                b->memo_key = util_alloc(b->memo_cap * sizeof(*old));
                b->memo_val = util_alloc(b->memo_cap * sizeof(*oldv));
                b->memo_n = 0;
                for (i = 0; i < cap; i++)
                        if (old[i])
                                memo_put(b, old[i], oldv[i]);
                free(old);
                free(oldv);
        }
        for (i = memo_hash(key) & (b->memo_cap - 1); b->memo_key[i]; i = (i + 1) & (b->memo_cap - 1))
                ;
        b->memo_key[i] = key;
        b->memo_val[i] = val;
        b->memo_n++;
}

rid re_derive(struct re_bank *b, rid r, uint32_t c)
{
        uint64_t key = ((uint64_t)r << 32 | c) + 1;
        const struct re *p = node(b, r);
        vec_u32 parts = {};
        rid d;

        if (p->kind == RE_NONE || p->kind == RE_EPS)
                return b->none;
        if (p->kind == RE_CHARS) {
                for (uint32_t i = 0; i < p->n; i++)
                        if (c >= p->range[i].lo && c <= p->range[i].hi)
                                return b->eps;
                return b->none;
        }
        if (b->memo_cap)
                for (size_t i = memo_hash(key) & (b->memo_cap - 1); b->memo_key[i]; i = (i + 1) & (b->memo_cap - 1))
                        if (b->memo_key[i] == key)
                                return b->memo_val[i];
        switch ((enum re_kind)p->kind) {
        case RE_CONCAT:
                d = re_concat(b, re_derive(b, p->kid[0], c), p->kid[1]);
                if (node(b, p->kid[0])->nullable)
                        d = re_union(b, d, re_derive(b, p->kid[1], c));
                break;
        case RE_UNION:
        case RE_INTER:
                for (uint32_t i = 0; i < p->n; i++)
                        vec_push(&parts, re_derive(b, p->kid[i], c));
                d = boolean(b, (enum re_kind)p->kind, parts.d, parts.n);
                vec_free(&parts);
                break;
        case RE_STAR:
                d = re_concat(b, re_derive(b, p->kid[0], c), r);
                break;
        case RE_COMP:
                d = re_comp(b, re_derive(b, p->kid[0], c));
                break;
        default: /* RE_LOOP, whose body is not nullable unless lo = 0 */
                d = re_concat(b, re_derive(b, p->kid[0], c), loop(b, p->kid[0], p->lo ? p->lo - 1 : 0, p->hi - 1));
        }
        memo_put(b, key, d);
        return d;
}

static int by_u32(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x < y ? -1 : x > y;
}

void re_classes(const struct re_bank *b, rid r, vec_u32 *out)
{
        uint8_t *seen = util_alloc(b->nodes.n);
        vec_u32 todo = {};
        size_t n = 0;

        vec_push(out, 0);
        vec_push(&todo, r);
        seen[r] = 1;
        while (todo.n) {
                const struct re *p = node(b, vec_pop(&todo));

                for (uint32_t i = 0; i < p->n; i++) {
                        if (p->kind == RE_CHARS) {
                                vec_push(out, p->range[i].lo);
                                if (p->range[i].hi < USTR_MAX_CHAR)
                                        vec_push(out, p->range[i].hi + 1);
                        } else if (!seen[p->kid[i]]) {
                                seen[p->kid[i]] = 1;
                                vec_push(&todo, p->kid[i]);
                        }
                }
        }
        qsort(out->d, out->n, sizeof(uint32_t), by_u32);
        for (size_t i = 0; i < out->n; i++)
                if (!n || out->d[n - 1] != out->d[i])
                        out->d[n++] = out->d[i];
        out->n = n;
        vec_free(&todo);
        free(seen);
}

static bool is_associative(enum op op)
{
        return op == OP_RE_CONCAT || op == OP_RE_UNION || op == OP_RE_INTER;
}

/* The images of t's arguments, with those of the same operation inside it in their place: what is nested to the left would be built
 * anew at each level. False: too many. */
static bool flatten(const struct bank *terms, tid t, const rid *image, tid *seen, vec_u32 *out)
{
        const enum op op = (enum op)term_get(terms, t)->op;
        vec_u32 todo = {};

        out->n = 0;
        vec_push(&todo, t);
        while (todo.n && (op != OP_RE_CONCAT || out->n <= RE_MAX_HEIGHT)) {
                const tid i = vec_pop(&todo);
                const struct term *x = term_get(terms, i);

                if (x->op != op) {
                        vec_push(out, image[i]);
                } else if (op == OP_RE_CONCAT || seen[i] != t) {
                        seen[i] = t;
                        for (uint32_t k = x->nargs; k-- > 0;)
                                vec_push(&todo, x->args[k]);
                }
        }
        vec_free(&todo);
        return op != OP_RE_CONCAT || out->n <= RE_MAX_HEIGHT;
}

bool re_from_term(struct re_bank *b, const struct bank *terms, tid t, rid *out)
{
        vec_u32 order = {}, parts = {};
        rid *image = util_alloc((t + 1) * sizeof(*image));
        tid *seen = util_alloc((t + 1) * sizeof(*seen));
        bool *wanted = util_alloc(t + 1), ok = true;

        term_reach(terms, &t, 1, &order);
        wanted[t] = true;
        for (size_t k = 0; k < order.n; k++) {
                const struct term *x = term_get(terms, order.d[k]);

                for (uint32_t i = 0; i < x->nargs; i++)
                        wanted[x->args[i]] |= x->op != term_get(terms, x->args[i])->op || !is_associative((enum op)x->op);
        }
        for (size_t k = 0; k < order.n && ok; k++) {
                const struct term *x = term_get(terms, order.d[k]);
                const tid *a = x->args;
                const struct term *s = x->nargs ? term_get(terms, a[0]) : NULL;
                const struct term *u = x->nargs > 1 ? term_get(terms, a[1]) : NULL;
                rid r = b->none;

                if (x->sort != SORT_RE || !wanted[order.d[k]])
                        continue;
                if (is_associative((enum op)x->op) && !(ok = flatten(terms, order.d[k], image, seen, &parts)))
                        break;
                switch ((enum op)x->op) {
                case OP_RE_NONE:
                        break;
                case OP_RE_ALL:
                        r = b->all;
                        break;
                case OP_RE_ALLCHAR:
                        r = b->any;
                        break;
                case OP_TO_RE:
                        ok = s->op == OP_STR;
                        if (ok)
                                r = re_word(b, s->str->c, s->str->len);
                        break;
                case OP_RE_RANGE:
                        ok = s->op == OP_STR && u->op == OP_STR;
                        if (ok && s->str->len == 1 && u->str->len == 1)
                                r = re_chars(b, s->str->c[0], u->str->c[0]);
                        break;
                case OP_RE_CONCAT:
                        r = b->eps;
                        while (parts.n)
                                r = re_concat(b, vec_pop(&parts), r);
                        break;
                case OP_RE_UNION:
                        r = boolean(b, RE_UNION, parts.d, parts.n);
                        break;
                case OP_RE_INTER:
                        r = boolean(b, RE_INTER, parts.d, parts.n);
                        break;
                case OP_RE_DIFF:
                        parts.n = 0;
                        for (uint32_t i = 0; i < x->nargs; i++)
                                vec_push(&parts, i ? re_comp(b, image[a[i]]) : image[a[i]]);
                        r = boolean(b, RE_INTER, parts.d, parts.n);
                        break;
                case OP_RE_STAR:
                        r = re_star(b, image[a[0]]);
                        break;
                case OP_RE_PLUS:
                        r = re_concat(b, image[a[0]], re_star(b, image[a[0]]));
                        break;
                case OP_RE_OPT:
                        r = re_union(b, b->eps, image[a[0]]);
                        break;
                case OP_RE_COMP:
                        r = re_comp(b, image[a[0]]);
                        break;
                case OP_RE_LOOP:
                        r = loop(b, image[a[0]], x->a, x->b);
                        break;
                default:
                        ok = false;
                }
                if (node(b, r)->height > RE_MAX_HEIGHT || b->arena.total > RE_MAX_BYTES)
                        ok = false;
                image[order.d[k]] = r;
        }
        *out = image[t];
        free(image);
        free(seen);
        free(wanted);
        vec_free(&order);
        vec_free(&parts);
        return ok;
}
