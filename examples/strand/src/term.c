#include "term.h"

static tid add(struct bank *b, const struct term *proto, const tid *args)
{
        uint64_t h = util_mix(proto->op, proto->sort);
        struct term *t;

        h = util_mix(h, (uint64_t)proto->a);
        h = util_mix(h, (uint64_t)proto->b);
        if (proto->op == OP_STR)
                h = util_mix(h, (uintptr_t)proto->str);
        for (size_t i = 0; i < proto->nargs; i++)
                h = util_mix(h, args[i]);
        if (b->terms.n >= b->nbuckets) {
                b->nbuckets = b->nbuckets ? 2 * b->nbuckets : 256;
                free(b->bucket);
                b->bucket = util_alloc(b->nbuckets * sizeof(*b->bucket));
                for (size_t i = 1; i < b->terms.n; i++) {
                        struct term *p = b->terms.d[i];

                        p->next = b->bucket[p->hash & (b->nbuckets - 1)];
                        b->bucket[p->hash & (b->nbuckets - 1)] = (tid)i;
                }
        }
        for (tid i = b->bucket[(uint32_t)h & (b->nbuckets - 1)]; i; i = b->terms.d[i]->next) {
                t = b->terms.d[i];
                if (t->hash == (uint32_t)h && t->op == proto->op && t->sort == proto->sort && t->nargs == proto->nargs &&
                    t->a == proto->a && t->b == proto->b && (t->op != OP_STR || t->str == proto->str) &&
                    (!t->nargs || !memcmp(t->args, args, t->nargs * sizeof(*args))))
                        return i;
        }
        t = arena_dup(&b->arena, proto, sizeof(*proto));
        t->hash = h;
        t->args = arena_dup(&b->arena, args, t->nargs * sizeof(*args));
        t->next = b->bucket[t->hash & (b->nbuckets - 1)];
        b->bucket[t->hash & (b->nbuckets - 1)] = (tid)b->terms.n;
        vec_push(&b->terms, t);
        return (tid)b->terms.n - 1;
}

void term_bank_init(struct bank *b)
{
        memset(b, 0, sizeof(*b));
        vec_push(&b->terms, NULL);
        b->t_true = add(b, &(struct term){.op = OP_TRUE, .sort = SORT_BOOL}, NULL);
        b->t_false = add(b, &(struct term){.op = OP_FALSE, .sort = SORT_BOOL}, NULL);
}

void term_bank_free(struct bank *b)
{
        ustr_table_free(&b->strings);
        vec_free(&b->terms);
        free(b->bucket);
        arena_free(&b->arena);
}

tid term_app(struct bank *b, enum op op, enum sort sort, const tid *args, size_t n)
{
        return add(b, &(struct term){.op = op, .sort = sort, .nargs = (uint32_t)n}, args);
}

tid term_num(struct bank *b, int64_t v)
{
        return add(b, &(struct term){.op = OP_NUM, .sort = SORT_INT, .a = v}, NULL);
}

tid term_str(struct bank *b, const struct ustr *s)
{
        return add(b, &(struct term){.op = OP_STR, .sort = SORT_STR, .str = s}, NULL);
}

tid term_loop(struct bank *b, tid re, int64_t lo, int64_t hi)
{
        return add(b, &(struct term){.op = OP_RE_LOOP, .sort = SORT_RE, .nargs = 1, .a = lo, .b = hi}, &re);
}

tid term_var(struct bank *b, enum sort sort, const char *name)
{
        struct term p = {.op = OP_VAR, .sort = sort, .a = ++b->nvars};

        p.name = arena_dup(&b->arena, name, strlen(name) + 1);
        return add(b, &p, NULL);
}

const char *term_sort_name(enum sort s)
{
        static const char *const name[] = {"Bool", "Int", "String", "RegLan"};

        return name[s];
}

void term_reach(const struct bank *b, const tid *roots, size_t n, vec_u32 *out)
{
        tid max = 0;
        uint8_t *seen;

        for (size_t i = 0; i < n; i++)
                if (roots[i] > max)
                        max = roots[i];
        seen = util_alloc(max + 1);
        for (size_t i = 0; i < n; i++)
                seen[roots[i]] = 1;
        for (tid i = max; i > 0; i--)
                if (seen[i])
                        for (uint32_t j = 0; j < b->terms.d[i]->nargs; j++)
                                seen[b->terms.d[i]->args[j]] = 1;
        for (tid i = 1; i <= max; i++)
                if (seen[i])
                        vec_push(out, i);
        free(seen);
}

tid term_rebuild(struct bank *b, tid like, const tid *args)
{
        const struct term *t = b->terms.d[like];

        if (!t->nargs)
                return like;
        return add(b, &(struct term){.op = t->op, .sort = t->sort, .nargs = t->nargs, .a = t->a, .b = t->b}, args);
}

tid term_subst(struct bank *b, tid root, const tid *from, const tid *to, size_t n)
{
        vec_u32 order = {};
        tid *image = util_alloc((root + 1) * sizeof(*image)), r;
        VEC(tid) args = {};

        term_reach(b, &root, 1, &order);
        for (size_t i = 0; i < order.n; i++) {
                tid t = order.d[i];
                size_t k;

                for (k = 0; k < n && from[k] != t; k++)
                        ;
                if (k < n) {
                        image[t] = to[k];
                        continue;
                }
                args.n = 0;
                for (uint32_t j = 0; j < b->terms.d[t]->nargs; j++)
                        vec_push(&args, image[b->terms.d[t]->args[j]]);
                image[t] = term_rebuild(b, t, args.d);
        }
        r = image[root];
        free(image);
        vec_free(&order);
        vec_free(&args);
        return r;
}
