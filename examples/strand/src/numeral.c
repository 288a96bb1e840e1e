#include "numeral.h"

static tid range(struct bank *b, uint32_t from, uint32_t to)
{
        const struct ustr *low = ustr_get(&b->strings, &b->arena, &from, 1), *high = ustr_get(&b->strings, &b->arena, &to, 1);

        return term_app(b, OP_RE_RANGE, SORT_RE, (tid[]){term_str(b, low), term_str(b, high)}, 2);
}

static tid constant(struct bank *b, const uint32_t *c, size_t len)
{
        tid s = term_str(b, ustr_get(&b->strings, &b->arena, c, len));

        return term_app(b, OP_TO_RE, SORT_RE, &s, 1);
}

/* "", 0, and numbers without zeros in front. */
static tid all_numerals(struct bank *b)
{
        const uint32_t zero = '0';
        tid digit = range(b, '0', '9'), digits = term_app(b, OP_RE_STAR, SORT_RE, &digit, 1);
        tid large = term_app(b, OP_RE_CONCAT, SORT_RE, (tid[]){range(b, '1', '9'), digits}, 2);

        return term_app(b, OP_RE_UNION, SORT_RE, (tid[]){constant(b, NULL, 0), constant(b, &zero, 1), large}, 3);
}

void numeral_find(struct bank *b, const tid *asserts, size_t n, struct numerals *ret)
{
        vec_u32 order = {}, uses = {}, elsewhere = {};

        term_reach(b, asserts, n, &order);
        for (size_t i = 0; i < order.n; i++) {
                const struct term *x = term_get(b, order.d[i]);

                for (uint32_t k = 0; k < x->nargs; k++)
                        map_set(x->op == OP_FROM_INT ? &uses : &elsewhere, x->args[k], order.d[i]);
        }
        for (size_t i = 0; i < order.n; i++) {
                tid t = order.d[i];

                if (term_get(b, t)->op != OP_VAR || map_get(&uses, t) == 0 || map_get(&elsewhere, t) != 0)
                        continue;
                vec_push(&ret->numbers, t);
                vec_push(&ret->apps, map_get(&uses, t));
                vec_push(&ret->words, term_var(b, SORT_STR, term_get(b, t)->name));
        }
        for (size_t i = 0; ret->numbers.n > 0 && i < n; i++)
                vec_push(&ret->asserts, term_subst(b, asserts[i], ret->apps.d, ret->words.d, ret->apps.n));
        for (size_t i = 0; i < ret->words.n; i++)
                vec_push(&ret->asserts, term_app(b, OP_IN_RE, SORT_BOOL, (tid[]){ret->words.d[i], all_numerals(b)}, 2));
        vec_free(&order);
        vec_free(&uses);
        vec_free(&elsewhere);
}

void numeral_free(struct numerals *r)
{
        vec_free(&r->numbers);
        vec_free(&r->apps);
        vec_free(&r->words);
        vec_free(&r->asserts);
}

void numeral_values(const struct numerals *r, struct value *val)
{
        for (size_t i = 0; i < r->numbers.n; i++) {
                const struct value *word = &val[r->words.d[i]];
                struct value v = {.sort = SORT_INT, .s = word->s};

                if (!word->set)
                        continue;
                v.set = word->s->len <= 18;
                for (uint32_t k = 0; v.set && k < word->s->len; k++)
                        v.i = 10 * v.i + (int64_t)(word->s->c[k] - '0');
                if (word->s->len == 0)
                        v.i = -1;
                val[r->numbers.d[i]] = v;
        }
}
