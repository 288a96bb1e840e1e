/* The steps of DIMACS: clauses left out, variables given a value or left out, literals left out, fewer numbers. The header always fits. */
#include "core/smtlib/cnf.h"
#include "core/study/reduce/reduce_internal.h"

enum part {
        PART_CLAUSES,
        PART_TRUE, /* variables that are true: their clauses go, and their complements */
        PART_FALSE,
        PART_VARIABLES, /* all their literals; a clause without others goes, too */
        PART_LITERALS,
        N_PARTS
};
static const char *const stages[] = {
        [PART_CLAUSES] = "clauses", [PART_TRUE] = "values", [PART_FALSE] = "values", [PART_VARIABLES] = "variables", [PART_LITERALS] = "literals"};

struct state {
        struct cnf *cnf; /* owned */
        enum part part;
};

static size_t count_items(const struct state *s)
{
        return s->part == PART_CLAUSES ? s->cnf->n_clauses : s->part == PART_LITERALS ? s->cnf->n_literals : s->cnf->variables;
}

/* Adds what is left of a clause, by is_out[] of its variables or of its literals, the first of which is item `place`. -ENOENT: an empty clause would be
 * left, which decides the formula. */
static int add_rest(const struct state *s, const int32_t *clause, size_t n, size_t place, const bool *is_out, struct cnf *to)
{
        size_t before = to->n_literals;

        for (size_t i = 0; i < n; i++)
                if (s->part == (clause[i] > 0 ? PART_TRUE : PART_FALSE) && is_out[abs(clause[i]) - 1])
                        return 0;
        for (size_t i = 0; i < n; i++)
                if (!is_out[s->part == PART_LITERALS ? place + i : (size_t)abs(clause[i]) - 1])
                        cnf_add(to, clause[i]);
        if (n > 0 && to->n_literals == before)
                return s->part == PART_VARIABLES ? 0 : -ENOENT;
        cnf_add(to, 0);
        return 0;
}

static int make(void *user, const bool *is_out, struct buffer *ret)
{
        const struct state *s = user;
        cleanup_cnf struct cnf *to = cnf_new();
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->cnf->n_clauses; i++) {
                size_t n;
                const int32_t *clause = cnf_clause(s->cnf, i, &n);

                if (s->part != PART_CLAUSES)
                        r = add_rest(s, clause, n, (size_t)(clause - s->cnf->literals), is_out, to);
                else if (!is_out[i])
                        cnf_add_clause(to, clause, n);
        }
        return r < 0 ? r : cnf_print(to, ret);
}

/* Offers the formula with its variables numbered from 1 without gaps, a header that fits, and no comments. Errors only. */
static int offer_dense(struct reducer *r)
{
        cleanup_cnf struct cnf *c = NULL;
        cleanup_free int32_t *numbers = NULL; /* by variable: its new number; 0: it occurs nowhere */
        cleanup_buffer struct buffer text = {0};
        int32_t last = 0;
        int k = cnf_parse(reduce_text(r), &c);

        if (k < 0)
                return k;
        numbers = allocate((size_t)c->variables + 1, sizeof(*numbers));
        for (size_t i = 0; i < c->n_literals; i++)
                numbers[abs(c->literals[i])] = 1;
        for (uint32_t v = 1; v <= c->variables; v++)
                numbers[v] = numbers[v] ? ++last : 0;
        for (size_t i = 0; i < c->n_literals; i++)
                c->literals[i] = c->literals[i] > 0 ? numbers[c->literals[i]] : -numbers[-c->literals[i]];
        c->variables = (uint32_t)last;
        k = cnf_print(c, &text);
        return k < 0 || text.size > reduce_text(r).size ? k : reduce_offer(r, SLICE(text.data, text.size));
}

static int sweep(struct reducer *r, enum part part)
{
        struct state s = {.part = part};
        int k = cnf_parse(reduce_text(r), &s.cnf);

        reduce_set_stage(r, stages[part]);
        if (k == 0)
                k = reduce_sweep(r, count_items(&s), 0, make, &s);
        cnf_free(s.cnf);
        return k;
}

int reduce_cnf(struct reducer *r, bool *ret_is_cnf)
{
        cleanup_cnf struct cnf *c = NULL;
        bool any = false, more;
        int k;

        *ret_is_cnf = cnf_parse(reduce_text(r), &c) == 0;
        if (!*ret_is_cnf)
                return 0;
        do {
                more = false;
                k = offer_dense(r);
                for (enum part part = 0; k >= 0 && part < N_PARTS; part++) {
                        k = sweep(r, part);
                        more |= k > 0;
                        if (k > 0)
                                k = offer_dense(r);
                }
                any |= more;
        } while (k >= 0 && more);
        return k < 0 ? k : any;
}
