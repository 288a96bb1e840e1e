/* Features of DIMACS CNF. */
#include "core/smtlib/cnf.h"
#include "core/smtlib/feature_internal.h"

struct scan {
        double *v;
        uint32_t *occurrences; /* by variable */
        size_t n_occurrences;
        size_t length, positive; /* of the clause at hand */
};

static void end_clause(struct scan *s)
{
        static const enum cnf_feature by_length[] = {C_EMPTY, C_UNIT, C_BINARY, C_TERNARY};
        double n = (double)s->length;

        s->v[s->length < 4 ? by_length[s->length] : s->length <= 8 ? C_LENGTH_4_TO_8 : C_LENGTH_9_UP]++;
        s->v[C_LENGTH_MIN] = s->v[C_CLAUSES] == 0 ? n : MIN(s->v[C_LENGTH_MIN], n);
        s->v[C_LENGTH_MAX] = MAX(s->v[C_LENGTH_MAX], n);
        s->v[C_CLAUSES]++;
        s->v[C_LITERALS] += n;
        s->v[C_POSITIVE] += (double)s->positive;
        s->v[C_HORN] += s->positive <= 1;
        s->length = s->positive = 0;
}

/* Room follows the variables that occur, never what the header says. */
static void count_occurrence(struct scan *s, uint32_t variable)
{
        while (variable >= s->n_occurrences) {
                list_grow(s->occurrences, s->n_occurrences);
                s->occurrences[s->n_occurrences++] = 0;
        }
        s->v[C_VARIABLES_USED] += s->occurrences[variable]++ == 0;
        s->v[C_OCCURRENCES_MAX] = MAX(s->v[C_OCCURRENCES_MAX], (double)s->occurrences[variable]);
        s->v[C_VARIABLES] = MAX(s->v[C_VARIABLES], (double)variable);
}

static void count_literal(struct scan *s, int32_t literal)
{
        if (literal == 0) {
                end_clause(s);
                return;
        }
        s->length++;
        s->positive += literal > 0;
        count_occurrence(s, (uint32_t)(literal < 0 ? -literal : literal));
}

int features_of_cnf(struct slice bytes, struct features *ret)
{
        cleanup_features struct features f = {.n = N_CNF_FEATURES};
        struct scan s = {0};
        struct cnf_reader reader;
        int32_t literal;
        int r;

        s.v = f.values = allocate(f.n, sizeof(*f.values));
        cnf_reader_init(&reader, bytes);
        while ((r = cnf_next(&reader, &literal)) > 0)
                count_literal(&s, literal);
        free(s.occurrences);
        if (r < 0)
                return r;
        s.v[C_VARIABLES] = MAX(s.v[C_VARIABLES], (double)reader.variables);
        s.v[C_LENGTH_MEAN] = s.v[C_CLAUSES] > 0 ? s.v[C_LITERALS] / s.v[C_CLAUSES] : 0;
        s.v[C_RATIO] = s.v[C_VARIABLES_USED] > 0 ? s.v[C_CLAUSES] / s.v[C_VARIABLES_USED] : 0;
        *ret = f;
        f = (struct features){0};
        return 0;
}
