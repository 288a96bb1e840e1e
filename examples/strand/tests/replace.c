/* The words that a replacement takes into a language, by replace_preimage(), against the referee's value of the function for every
 * word of at most five letters; and languages read backward against the words themselves. Exits with the number of differences. */
#include "../src/eval.h"
#include "../src/search.h"
#include <stdio.h>

#define MAX_WORD 5

static struct bank bank;
static struct aut_store auts;
static struct search s = {.b = &bank, .auts = &auts};
static int failures, checks;

static tid text(const char *c)
{
        uint32_t buf[16], n = 0;

        for (; *c; c++)
                buf[n++] = (unsigned char)*c;
        return term_str(&bank, ustr_get(&bank.strings, &bank.arena, buf, n));
}

static tid re(enum op op, tid x, tid y)
{
        return term_app(&bank, op, SORT_RE, (tid[]){x, y}, x ? y ? 2 : 1 : 0);
}

static tid re_of(const char *c)
{
        return re(OP_TO_RE, text(c), 0);
}

static struct aut *automaton(tid r)
{
        rid id = 0;

        return re_from_term(&auts.re, &bank, r, &id) ? aut_from_re(&auts, id) : NULL;
}

static bool accepts(const struct aut *a, const struct ustr *w)
{
        uint32_t q = 0;

        for (uint32_t i = 0; i < w->len && q != AUT_DEAD; i++)
                q = aut_step(a, q, w->c[i]);
        return q != AUT_DEAD && a->accept[q];
}

/* The k-th word over a, b, c; false behind the last. */
static bool nth(uint32_t k, const struct ustr **out)
{
        uint32_t c[MAX_WORD], n = 0, power = 1;

        while (k >= power) {
                k -= power;
                power *= 3;
                n++;
        }
        if (n > MAX_WORD)
                return false;
        for (uint32_t i = 0; i < n; i++, k /= 3)
                c[i] = 'a' + k % 3;
        *out = ustr_get(&bank.strings, &bank.arena, c, n);
        return true;
}

static const struct ustr *value(enum op op, const struct ustr *w, tid what, tid by)
{
        tid app = term_app(&bank, op, SORT_STR, (tid[]){term_str(&bank, w), what, by}, 3);
        struct value *val = util_alloc((app + 1) * sizeof(*val));
        const struct ustr *r;
        vec_u32 order = {};

        term_reach(&bank, &app, 1, &order);
        eval_terms(&bank, order.d, order.n, val);
        r = val[app].s;
        vec_free(&order);
        free(val);
        return r;
}

static void preimage(enum op op, tid what, const char *by, tid language)
{
        tid x = term_var(&bank, SORT_STR, "x"), with = text(by);
        const struct ustr *u = term_get(&bank, with)->str, *w;
        struct link l = {.app = term_app(&bank, op, SORT_STR, (tid[]){x, what, with}, 3)};
        struct aut *out = automaton(language), *pre;

        l.arg[2] = word_chars(&s, u->c, u->len);
        if (op == OP_REPLACE_ALL)
                l.arg[1] = word_chars(&s, term_get(&bank, what)->str->c, term_get(&bank, what)->str->len);
        pre = out ? replace_preimage(&s, &l, out) : NULL;
        for (uint32_t k = 0; pre && nth(k, &w); k++) {
                checks++;
                if (accepts(pre, w) == accepts(out, value(op, w, what, with)))
                        continue;
                printf("FAIL replace: op %d by '%s': ", op, by);
                ustr_print(stdout, w);
                puts(" is misplaced");
                failures++;
        }
        if (!pre && op != OP_REPLACE_RE) /* which may match the empty word */
                printf("FAIL replace: op %d by '%s' has no preimage\n", op, by), failures++;
}

static void backward(tid language)
{
        struct aut *a = automaton(language), *r;
        uint64_t *target = util_alloc((a->n / 64 + 1) * 8);
        const struct ustr *w;

        for (uint32_t q = 0; q < a->n; q++)
                if (a->accept[q])
                        bit_set(target, q);
        if (a->accept[0])
                bit_set(target, a->n);
        r = aut_reverse(&auts, a, 0, target, false);
        for (uint32_t k = 0; nth(k, &w); k++) {
                uint32_t c[MAX_WORD];

                for (uint32_t i = 0; i < w->len; i++)
                        c[i] = w->c[w->len - 1 - i];
                checks++;
                if (accepts(r, w) != accepts(a, ustr_get(&bank.strings, &bank.arena, c, w->len)))
                        printf("FAIL replace: a language read backward\n"), failures++;
        }
        free(target);
}

int main(void)
{
        static const char *const by[] = {"", "a", "bab"};
        tid all, any, a, b, languages[8], outs[5];

        term_bank_init(&bank);
        aut_store_init(&auts, 0);
        s.no_reason = util_alloc(8);
        all = re(OP_RE_ALL, 0, 0);
        any = re(OP_RE_ALLCHAR, 0, 0);
        a = re_of("a");
        b = re_of("b");
        languages[0] = re(OP_RE_PLUS, a, 0);
        languages[1] = re(OP_RE_UNION, re_of("ab"), re_of("abba"));
        languages[2] = re(OP_RE_CONCAT, a, re(OP_RE_CONCAT, re(OP_RE_STAR, b, 0), re_of("c")));
        languages[3] = re(OP_RE_STAR, re_of("ab"), 0);
        languages[4] = re(OP_RE_INTER, re(OP_RE_STAR, any, 0), re(OP_RE_COMP, re(OP_RE_CONCAT, all, a), 0));
        languages[5] = re(OP_RE_NONE, 0, 0);
        languages[6] = re(OP_RE_CONCAT, any, re(OP_RE_CONCAT, all, b));
        languages[7] = re(OP_RE_COMP, re(OP_RE_STAR, a, 0), 0);
        outs[0] = re(OP_RE_CONCAT, all, re(OP_RE_CONCAT, re_of("ab"), all));
        outs[1] = re(OP_RE_STAR, re(OP_RE_UNION, re_of("a"), re_of("bc")), 0);
        outs[2] = re(OP_RE_COMP, re(OP_RE_CONCAT, all, re(OP_RE_CONCAT, b, all)), 0);
        outs[3] = re_of("abab");
        outs[4] = re(OP_RE_CONCAT, any, any);
        for (size_t o = 0; o < 5; o++)
                for (size_t u = 0; u < 3; u++) {
                        for (size_t k = 0; k < 8; k++) {
                                preimage(OP_REPLACE_RE_ALL, languages[k], by[u], outs[o]);
                                preimage(OP_REPLACE_RE, languages[k], by[u], outs[o]);
                        }
                        preimage(OP_REPLACE_ALL, text("a"), by[u], outs[o]);
                        preimage(OP_REPLACE_ALL, text("ab"), by[u], outs[o]);
                        preimage(OP_REPLACE_ALL, text("aba"), by[u], outs[o]);
                }
        for (size_t k = 0; k < 8; k++)
                backward(languages[k]);
        if (!checks)
                failures++;
        return failures > 100 ? 100 : failures;
}
