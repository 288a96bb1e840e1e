#include "generate.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct gen {
        uint64_t x;
        char *p, *end;
        struct fuzz_formula out; /* where the next letter of each goes */
        size_t size;
        int last; /* lastindexof so far */
        int flavour, strings, ints, bools, letters;
};

static unsigned rnd(struct gen *g, unsigned n)
{
        g->x = g->x * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)((g->x >> 33) % n);
}

__attribute__((format(printf, 2, 3))) static void put(struct gen *g, const char *fmt, ...)
{
        va_list ap;
        int n;

        va_start(ap, fmt);
        n = vsnprintf(g->p, (size_t)(g->end - g->p), fmt, ap);
        va_end(ap);
        if (n > 0)
                g->p += n < g->end - g->p ? n : g->end - g->p - 1;
}

static void str(struct gen *g, int depth);
static void integer(struct gen *g, int depth);
static void boolean(struct gen *g, int depth);

static void letter(struct gen *g)
{
        put(g, "%c", (g->letters == 10 ? '0' : 'a') + (int)rnd(g, (unsigned)g->letters));
}

static void literal(struct gen *g, unsigned max)
{
        unsigned n = rnd(g, max + 1);

        put(g, "\"");
        while (n--)
                letter(g);
        put(g, "\"");
}

static void language(struct gen *g, int depth)
{
        unsigned k = depth <= 0 ? rnd(g, 4) : rnd(g, 16), hi;

        switch (k) {
        case 0:
        case 1:
                put(g, "(str.to_re ");
                literal(g, 2);
                put(g, ")");
                break;
        case 2:
                put(g, "re.allchar");
                break;
        case 3:
                put(g, g->letters == 10 ? "(re.range \"0\" \"%c\")" : "(re.range \"a\" \"%c\")",
                    (g->letters == 10 ? '0' : 'a') + (int)rnd(g, (unsigned)g->letters));
                break;
        case 4:
        case 5:
        case 6:
                put(g, "(re.++ ");
                language(g, depth - 1);
                put(g, " ");
                language(g, depth - 1);
                put(g, ")");
                break;
        case 7:
        case 8:
                put(g, "(re.union ");
                language(g, depth - 1);
                put(g, " ");
                language(g, depth - 1);
                put(g, ")");
                break;
        case 9:
        case 10:
        case 11:
                put(g, "(re.* ");
                language(g, depth - 1);
                put(g, ")");
                break;
        case 12:
                put(g, rnd(g, 2) ? "(re.+ " : "(re.opt ");
                language(g, depth - 1);
                put(g, ")");
                break;
        case 13:
                put(g, "(re.comp ");
                language(g, depth - 1);
                put(g, ")");
                break;
        case 14:
                put(g, rnd(g, 2) ? "(re.inter " : "(re.diff ");
                language(g, depth - 1);
                put(g, " ");
                language(g, depth - 1);
                put(g, ")");
                break;
        default:
                if (rnd(g, 3) == 0) {
                        put(g, "((_ re.^ %u) ", 1 + rnd(g, 3));
                        language(g, depth - 1);
                        put(g, ")");
                        break;
                }
                k = rnd(g, 3);
                hi = rnd(g, 6) ? k + rnd(g, 3) : rnd(g, 3);
                /* not twice 0: cvc5 1.0.3 takes (_ re.loop 0 0) of a star for the star */
                put(g, "((_ re.loop %u %u) ", k, k || hi ? hi : 1);
                language(g, depth - 1);
                put(g, ")");
        }
}

static void str_var(struct gen *g)
{
        put(g, "s%u", rnd(g, (unsigned)g->strings));
}

static void str(struct gen *g, int depth)
{
        unsigned k = rnd(g, depth <= 0 ? 5 : g->flavour == 1 || g->flavour == 2 ? 11 : g->flavour == 4 ? 24 : 20);

        switch (k) {
        case 0:
        case 1:
        case 2:
        case 3:
                str_var(g);
                break;
        case 4:
                literal(g, 3);
                break;
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
                put(g, "(str.++ ");
                str(g, depth - 1);
                put(g, " ");
                str(g, depth - 1);
                if (rnd(g, 3) == 0) {
                        put(g, " ");
                        str(g, depth - 1);
                }
                put(g, ")");
                break;
        case 10:
                put(g, "(ite ");
                boolean(g, depth - 1);
                put(g, " ");
                str(g, depth - 1);
                put(g, " ");
                str(g, depth - 1);
                put(g, ")");
                break;
        case 11:
        case 12:
                put(g, "(str.substr ");
                str(g, depth - 1);
                put(g, " ");
                integer(g, depth - 2);
                put(g, " ");
                integer(g, depth - 2);
                put(g, ")");
                break;
        case 13:
        case 14:
                put(g, "(str.at ");
                str(g, depth - 1);
                put(g, " ");
                integer(g, depth - 2);
                put(g, ")");
                break;
        case 15:
        case 16:
        case 17:
                put(g, k == 17 ? "(str.replace_all " : "(str.replace ");
                str(g, depth - 1);
                put(g, " ");
                rnd(g, 2) ? literal(g, 2) : str(g, depth - 2);
                put(g, " ");
                str(g, depth - 2);
                put(g, ")");
                break;
        case 18:
                put(g, "(str.from_int ");
                integer(g, depth - 1);
                put(g, ")");
                break;
        case 20:
        case 21:
        case 22:
                put(g, k == 22 ? "(str.replace_re_all " : "(str.replace_re ");
                str(g, depth - 1);
                put(g, " ");
                language(g, 2);
                put(g, " ");
                str(g, depth - 2);
                put(g, ")");
                break;
        default:
                put(g, "(str.from_code ");
                integer(g, depth - 1);
                put(g, ")");
        }
}

/* One formula's text goes on in another buffer. */
static void turn(struct gen *g, char **from, char **to, char *begin)
{
        *from = g->p;
        g->p = *to;
        g->end = begin + g->size;
}

/* str.lastindexof is strand's; the others get its definition. */
static void last_index(struct gen *g, const struct fuzz_formula *f)
{
        char s[300], t[300], *at = g->out.text;
        const char *forms[] = {"(str.++ s%u s%u)", "s%u", "(str.substr s%u 0 3)", "(str.++ s%u \"ab\" s%u)"};
        int k = g->last++;

        snprintf(s, sizeof(s), forms[rnd(g, 4)], rnd(g, (unsigned)g->strings), rnd(g, (unsigned)g->strings));
        if (rnd(g, 2))
                snprintf(t, sizeof(t), forms[rnd(g, 3)], rnd(g, (unsigned)g->strings), rnd(g, (unsigned)g->strings));
        else
                snprintf(t, sizeof(t), "\"%.*s\"", (int)rnd(g, 3), g->letters == 10 ? "01" : "ab");
        turn(g, &at, &g->out.mine, f->mine);
        put(g, "(assert (= last%d (str.lastindexof %s %s)))\n", k, s, t);
        turn(g, &g->out.mine, &g->out.theirs, f->theirs);
        put(g,
            "(assert (ite (str.contains %s %s) (and (<= 0 last%d) (<= (+ last%d (str.len %s)) (str.len %s)) "
            "(= (str.substr %s last%d (str.len %s)) %s) (or (= last%d (str.len %s)) (not (str.contains (str.substr %s "
            "(+ last%d 1) (str.len %s)) %s)))) (= last%d (- 1))))\n",
            s, t, k, k, t, s, s, k, t, t, k, s, s, k, s, t, k);
        turn(g, &g->out.theirs, &at, f->text);
}

static void integer(struct gen *g, int depth)
{
        unsigned k = rnd(g, depth <= 0 ? 4 : g->flavour == 1 || g->flavour == 2 ? 8 : 12);

        if (g->last && rnd(g, 3) == 0) {
                put(g, "last%u", rnd(g, (unsigned)g->last));
                return;
        }
        if (g->flavour == 4 && k > 7)
                k = 11;

        switch (k) {
        case 0:
                put(g, "i%u", rnd(g, (unsigned)g->ints));
                break;
        case 1:
                put(g, "%u", rnd(g, 5));
                break;
        case 2:
        case 4:
        case 5:
                put(g, "(str.len ");
                str(g, depth - 1);
                put(g, ")");
                break;
        case 3:
                put(g, rnd(g, 2) ? "(- 1)" : rnd(g, 10) ? "%u" : "9223372036854775806", rnd(g, 60));
                break;
        case 6:
                put(g, "(+ ");
                integer(g, depth - 1);
                put(g, " ");
                integer(g, depth - 1);
                put(g, ")");
                break;
        case 7:
                put(g, "(- ");
                integer(g, depth - 1);
                put(g, " ");
                integer(g, depth - 1);
                put(g, ")");
                break;
        case 8:
        case 9:
                put(g, "(str.indexof ");
                str(g, depth - 1);
                put(g, " ");
                rnd(g, 2) ? literal(g, 2) : str(g, depth - 2);
                put(g, " ");
                integer(g, depth - 2);
                put(g, ")");
                break;
        case 10:
                put(g, "(str.to_int ");
                str(g, depth - 1);
                put(g, ")");
                break;
        default:
                put(g, "(str.to_code ");
                str(g, depth - 1);
                put(g, ")");
        }
}

static void boolean(struct gen *g, int depth)
{
        unsigned k = rnd(g, depth <= 0 ? 9 : 14);

        if (g->flavour == 1 && (k == 4 || k == 5))
                k = 0;
        if (g->flavour == 2 && k < 2)
                k = 4;
        switch (k) {
        case 0:
        case 1:
        case 2:
                put(g, "(= ");
                str(g, depth);
                put(g, " ");
                str(g, depth);
                put(g, ")");
                break;
        case 3:
                put(g, rnd(g, 2) ? "(= " : "(< ");
                integer(g, depth);
                put(g, " ");
                integer(g, depth);
                put(g, ")");
                break;
        case 4:
        case 5:
                put(g, "(str.in_re ");
                str(g, depth);
                put(g, " ");
                language(g, 3);
                put(g, ")");
                break;
        case 6:
                put(g, "(str.contains ");
                str(g, depth);
                put(g, " ");
                rnd(g, 2) ? literal(g, 2) : str(g, depth - 1);
                put(g, ")");
                break;
        case 7:
                put(g, rnd(g, 2) ? "(str.prefixof " : "(str.suffixof ");
                str(g, depth - 1);
                put(g, " ");
                str(g, depth);
                put(g, ")");
                break;
        case 8:
                if (g->flavour == 4) {
                        put(g, "(str.is_digit ");
                        str(g, depth);
                        put(g, ")");
                } else if (g->flavour == 0 || g->flavour == 3) {
                        put(g, rnd(g, 2) ? "(str.< " : "(str.<= ");
                        str(g, depth - 1);
                        put(g, " ");
                        str(g, depth - 1);
                        put(g, ")");
                } else {
                        put(g, "b%u", rnd(g, (unsigned)g->bools));
                }
                break;
        case 9:
        case 10:
                put(g, "(not ");
                boolean(g, depth - 1);
                put(g, ")");
                break;
        case 11:
                put(g, "(or ");
                boolean(g, depth - 1);
                put(g, " ");
                boolean(g, depth - 1);
                put(g, ")");
                break;
        case 12:
                put(g, "(and ");
                boolean(g, depth - 1);
                put(g, " ");
                boolean(g, depth - 1);
                put(g, ")");
                break;
        default:
                put(g, "(ite ");
                boolean(g, depth - 1);
                put(g, " ");
                boolean(g, depth - 1);
                put(g, " ");
                boolean(g, depth - 1);
                put(g, ")");
        }
}

void fuzz_generate(uint64_t seed, int flavour, const struct fuzz_formula *f, size_t size)
{
        struct gen g = {.x = seed * 0x9e3779b97f4a7c15ull + 12345,
                        .p = f->text,
                        .end = f->text + size,
                        .out = *f,
                        .size = size,
                        .flavour = flavour};
        unsigned n, lasts;
        bool large;

        f->mine[0] = f->theirs[0] = f->terms[0] = 0;
        for (int i = 0; i < 4; i++)
                rnd(&g, 2);
        g.strings = 1 + (int)rnd(&g, 4);
        g.ints = 1 + (int)rnd(&g, 2);
        g.bools = 2;
        g.letters = rnd(&g, 5) == 0 ? 10 : 2 + (int)rnd(&g, 2);
        for (int i = 0; i < g.strings; i++)
                put(&g, "(declare-fun s%d () String)\n", i);
        for (int i = 0; i < g.ints; i++)
                put(&g, "(declare-fun i%d () Int)\n", i);
        for (int i = 0; i < g.bools; i++)
                put(&g, "(declare-fun b%d () Bool)\n", i);
        lasts = flavour == 1 || flavour == 2 || rnd(&g, 3) ? 0 : 1 + rnd(&g, 2);
        for (unsigned i = 0; i < lasts; i++) {
                put(&g, "(declare-fun last%u () Int)\n", i);
                last_index(&g, f);
        }
        /* most are small: many different ones find more than few large ones */
        large = rnd(&g, 6) == 0;
        n = 1 + rnd(&g, large ? 5 : 3);
        while (n--) {
                put(&g, "(assert ");
                boolean(&g, (large ? 1 : 0) + (int)rnd(&g, large ? 3 : 2));
                put(&g, ")\n");
        }
        g.p = f->terms;
        g.end = f->terms + size;
        str(&g, 2);
        put(&g, "\n");
        integer(&g, 2);
        put(&g, "\n");
        boolean(&g, 1);
        put(&g, "\n");
}
