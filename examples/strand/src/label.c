#include "label.h"

/* An occurrence: its left label is in the set at boundary `from`, its right label at `to`. */
struct occurrence {
        int32_t symbol;
        uint32_t from, to;
        uint32_t depth; /* 0: of the equation itself; else inside a variable that was replaced */
};

/* A side in pieces; boundary i is before piece i. */
struct side {
        vec_i32 piece;
        VEC(struct occurrence) occ;
};

struct arrangement {
        struct side left, right;
        const struct word **def; /* by variable: what replaced it */
        uint32_t front, back;    /* pieces that both sides begin, end with: these boundaries are merged */
};

static void write_out(struct arrangement *a, struct side *o, int32_t symbol, uint32_t depth)
{
        const struct word *by = SYM_IS_VAR(symbol) ? a->def[SYM_VAR(symbol)] : NULL;
        size_t me = o->occ.n;

        if (SYM_IS_VAR(symbol) || depth == 0)
                vec_push(&o->occ, (struct occurrence){symbol, (uint32_t)o->piece.n, 0, depth});
        for (uint32_t i = 0; by && i < by->n; i++)
                write_out(a, o, by->s[i], depth + 1);
        if (!by)
                vec_push(&o->piece, symbol);
        if (me < o->occ.n)
                o->occ.d[me].to = (uint32_t)o->piece.n;
}

static void mirror(struct side *o)
{
        uint32_t n = (uint32_t)o->piece.n;

        for (uint32_t i = 0; i < n / 2; i++) {
                int32_t p = o->piece.d[i];

                o->piece.d[i] = o->piece.d[n - 1 - i];
                o->piece.d[n - 1 - i] = p;
        }
        for (size_t i = 0; i < o->occ.n; i++) {
                struct occurrence *c = &o->occ.d[i];
                uint32_t from = n - c->to;

                c->to = n - c->from;
                c->from = from;
        }
}

static void arrangement_make(struct arrangement *a, struct search *s, const struct state *st, const struct generalized *g,
                             bool back, uint32_t v, const struct word *by)
{
        uint32_t n, m;

        memset(a, 0, sizeof(*a));
        a->def = util_alloc(s->vars.n * sizeof(*a->def));
        for (size_t i = 0; i < st->solved.n; i++)
                a->def[st->solved.d[i].var] = st->solved.d[i].w;
        if (by)
                a->def[v] = by;
        for (uint32_t i = 0; i < g->l->n; i++)
                write_out(a, &a->left, g->l->s[i], 0);
        for (uint32_t i = 0; i < g->r->n; i++)
                write_out(a, &a->right, g->r->s[i], 0);
        if (back) {
                mirror(&a->left);
                mirror(&a->right);
        }
        n = (uint32_t)a->left.piece.n;
        m = (uint32_t)a->right.piece.n;
        while (a->front < n && a->front < m && a->left.piece.d[a->front] == a->right.piece.d[a->front])
                a->front++;
        while (a->front + a->back < n && a->front + a->back < m &&
               a->left.piece.d[n - 1 - a->back] == a->right.piece.d[m - 1 - a->back])
                a->back++;
}

static void arrangement_free(struct arrangement *a)
{
        vec_free(&a->left.piece);
        vec_free(&a->left.occ);
        vec_free(&a->right.piece);
        vec_free(&a->right.occ);
        free(a->def);
}

/* One way round: an occurrence of y begins strictly inside one of x, as far as both sides are merged. */
static bool begins_inside(const struct side *x, const struct side *y, uint32_t front)
{
        for (size_t i = 0; i < x->occ.n; i++) {
                const struct occurrence *a = &x->occ.d[i];

                if (!SYM_IS_VAR(a->symbol) || a->from >= front || a->to <= front)
                        continue;
                for (size_t j = 0; j < y->occ.n; j++) {
                        const struct occurrence *b = &y->occ.d[j];

                        if (b->symbol == a->symbol && a->from < b->from && b->from <= front)
                                return true;
                }
        }
        return false;
}

bool label_overlaps(struct search *s, const struct state *st, const struct generalized *g, bool back, uint32_t v,
                    const struct word *by)
{
        struct arrangement a;
        bool r;

        arrangement_make(&a, s, st, g, back, v, by);
        r = begins_inside(&a.left, &a.right, a.front) || begins_inside(&a.right, &a.left, a.front);
        arrangement_free(&a);
        return r;
}

/* ---- printing ---- */

static void print_symbol(FILE *f, struct search *s, int32_t symbol)
{
        if (SYM_IS_VAR(symbol))
                fputs(term_get(s->b, s->vars.d[SYM_VAR(symbol)].var)->name, f);
        else
                fprintf(f, symbol > 32 && symbol < 127 ? "%c" : "\\u{%x}", (unsigned)symbol);
}

/* Which occurrence of its symbol in the equation, counted from 1, the left side first. */
static uint32_t ordinal(const struct arrangement *a, const struct side *o, size_t k)
{
        int32_t symbol = o->occ.d[k].symbol;
        uint32_t n = 0;

        for (int i = 0; i < 2; i++) {
                const struct side *p = i ? &a->right : &a->left;

                for (size_t j = 0; j < p->occ.n; j++) {
                        n += p->occ.d[j].depth == 0 && p->occ.d[j].symbol == symbol;
                        if (p == o && j == k)
                                return n;
                }
        }
        return n;
}

/* The labels of one side at a boundary, right ones first. Returns how many were printed so far in the set. */
static int print_labels(FILE *f, struct search *s, const struct arrangement *a, const struct side *o, uint32_t at, int printed)
{
        for (int left = 0; left < 2; left++)
                for (size_t k = 0; k < o->occ.n; k++) {
                        const struct occurrence *c = &o->occ.d[k];

                        if (c->depth || (left ? c->from : c->to) != at)
                                continue;
                        fputs(printed++ ? ", " : "{", f);
                        fputs(left ? "▷" : "◁", f);
                        print_symbol(f, s, c->symbol);
                        fprintf(f, "%u", ordinal(a, o, k));
                }
        return printed;
}

/* A label set of the left side, of the right side, or of both, merged; nothing where there are no labels. */
static void print_set(FILE *f, struct search *s, const struct arrangement *a, int64_t left, int64_t right, bool *first)
{
        char *text = NULL;
        size_t n = 0;
        FILE *m = open_memstream(&text, &n);
        int printed = 0;

        if (!m)
                return;
        if (left >= 0)
                printed = print_labels(m, s, a, &a->left, (uint32_t)left, printed);
        if (right >= 0)
                printed = print_labels(m, s, a, &a->right, (uint32_t)right, printed);
        fclose(m);
        if (printed) {
                fprintf(f, "%s%s}", *first ? "" : " · ", text);
                *first = false;
        }
        free(text);
}

void label_print_equation(FILE *f, struct search *s, const struct generalized *g)
{
        struct state none = {};
        struct arrangement a;

        arrangement_make(&a, s, &none, g, false, 0, NULL);
        for (int i = 0; i < 2; i++) {
                const struct side *o = i ? &a.right : &a.left;

                for (uint32_t k = 0; k <= o->piece.n; k++) {
                        bool first = true;

                        print_set(f, s, &a, i ? -1 : (int64_t)k, i ? (int64_t)k : -1, &first);
                        if (k < o->piece.n) {
                                putc(' ', f);
                                print_symbol(f, s, o->piece.d[k]);
                                putc(' ', f);
                        }
                }
                fputs(i ? "\n" : " = ", f);
        }
        arrangement_free(&a);
}

/* Are there labels between two boundaries of a side? */
static bool labelled(const struct side *o, uint32_t from, uint32_t to)
{
        for (size_t k = 0; k < o->occ.n; k++)
                if (!o->occ.d[k].depth &&
                    ((o->occ.d[k].from > from && o->occ.d[k].from < to) || (o->occ.d[k].to > from && o->occ.d[k].to < to)))
                        return true;
        return false;
}

void label_print_arrangement(FILE *f, struct search *s, const struct state *st, const struct generalized *g, uint32_t v,
                             const struct word *by)
{
        struct arrangement a;
        uint32_t n, m;
        bool first = true, open;

        arrangement_make(&a, s, st, g, false, v, by);
        n = (uint32_t)a.left.piece.n - a.back;
        m = (uint32_t)a.right.piece.n - a.back;
        for (uint32_t i = 0; i <= a.front; i++)
                print_set(f, s, &a, i, i, &first);
        open = labelled(&a.left, a.front, n) && labelled(&a.right, a.front, m);
        if (open)
                fputs(" · [", f), first = true;
        for (uint32_t i = a.front + 1; i < n; i++)
                print_set(f, s, &a, i, -1, &first);
        if (open)
                fputs(" | ", f), first = true;
        for (uint32_t i = a.front + 1; i < m; i++)
                print_set(f, s, &a, -1, i, &first);
        if (open)
                fputs("]", f), first = false;
        for (uint32_t i = n == a.front && m == a.front; i <= a.back; i++)
                print_set(f, s, &a, n + i, m + i, &first);
        putc('\n', f);
        arrangement_free(&a);
}
