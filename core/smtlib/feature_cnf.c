/* Features of DIMACS CNF, by one pass over its bytes. Clauses may go over lines; "%" ends the clauses, as in SATLIB's files. */
#include "core/smtlib/feature_internal.h"
#include "core/smtlib/token.h"

struct scan {
        const char *base, *p, *end;
        double *v;
        uint32_t *occurrences; /* by variable */
        size_t n_occurrences;
        size_t length, positive; /* of the clause at hand */
        double announced;        /* clauses; below 0: there was no header */
};

static int fail(const struct scan *s, const char *why)
{
        struct place place = place_of(SLICE(s->base, (size_t)(s->end - s->base)), (size_t)(s->p - s->base));

        return errorf(-EINVAL, "line %zu, column %zu: %s", place.line, place.column, why);
}

static void pass_line(struct scan *s)
{
        const char *newline = memchr(s->p, '\n', (size_t)(s->end - s->p));

        s->p = newline ? newline + 1 : s->end;
}

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static void pass_blanks(struct scan *s)
{
        while (s->p < s->end && is_space(*s->p))
                s->p++;
}

static int read_number(struct scan *s, int64_t *ret)
{
        bool is_negative = s->p < s->end && *s->p == '-';
        const char *begin = s->p += is_negative;
        int64_t value = 0;

        for (; s->p < s->end && *s->p >= '0' && *s->p <= '9' && value <= INT32_MAX; s->p++)
                value = value * 10 + (*s->p - '0');
        if (s->p == begin)
                return fail(s, "a number is expected here");
        if (value > INT32_MAX)
                return fail(s, "this number is larger than 2147483647");
        *ret = is_negative ? -value : value;
        return 0;
}

static int read_header(struct scan *s)
{
        int64_t variables, clauses;
        int r;

        s->p++;
        pass_blanks(s);
        if (s->end - s->p < 3 || memcmp(s->p, "cnf", 3) != 0)
                return fail(s, "the header is written p cnf VARIABLES CLAUSES");
        s->p += 3;
        pass_blanks(s);
        if ((r = read_number(s, &variables)) < 0)
                return r;
        pass_blanks(s);
        if ((r = read_number(s, &clauses)) < 0)
                return r;
        if (variables < 0 || clauses < 0)
                return fail(s, "the header announces less than nothing");
        s->v[C_VARIABLES] = (double)variables;
        s->announced = (double)clauses;
        return 0;
}

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
static int count_occurrence(struct scan *s, uint32_t variable)
{
        if (variable >= s->n_occurrences) {
                size_t size = MAX(s->n_occurrences * 2, (size_t)1024);
                uint32_t *grown;

                while (size <= variable)
                        size *= 2;
                if (size / 64 > (size_t)(s->end - s->base) + 1024)
                        return errorf(-EINVAL, "variable %u in a file of %zu bytes: number the variables from 1 without gaps",
                                      variable, (size_t)(s->end - s->base));
                grown = realloc(s->occurrences, size * sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                memset(grown + s->n_occurrences, 0, (size - s->n_occurrences) * sizeof(*grown));
                s->occurrences = grown;
                s->n_occurrences = size;
        }
        s->v[C_VARIABLES_USED] += s->occurrences[variable]++ == 0;
        s->v[C_OCCURRENCES_MAX] = MAX(s->v[C_OCCURRENCES_MAX], (double)s->occurrences[variable]);
        s->v[C_VARIABLES] = MAX(s->v[C_VARIABLES], (double)variable);
        return 0;
}

static int read_literal(struct scan *s)
{
        int64_t literal;
        int r = read_number(s, &literal);

        if (r < 0)
                return r;
        if (s->p < s->end && !is_space(*s->p))
                return fail(s, "a literal is followed by something that is no space");
        if (literal == 0) {
                end_clause(s);
                return 0;
        }
        s->length++;
        s->positive += literal > 0;
        return count_occurrence(s, (uint32_t)(literal < 0 ? -literal : literal));
}

/* Takes the line or number that begins at p, which is not a space. 1: the clauses end here. */
static int step(struct scan *s)
{
        switch (*s->p) {
        case 'c':
                pass_line(s);
                return 0;
        case '%':
                return 1;
        case 'p':
                if (s->announced >= 0)
                        return fail(s, "a second header");
                return read_header(s);
        default:
                if (s->announced < 0)
                        return fail(s, "the header, p cnf VARIABLES CLAUSES, is missing");
                return read_literal(s);
        }
}

int features_of_cnf(struct slice bytes, struct features *ret)
{
        const char *base = bytes.size > 0 ? bytes.data : "";
        struct scan s = {.base = base, .p = base, .end = base + bytes.size, .announced = -1};
        cleanup_features struct features f = {.n = N_CNF_FEATURES};
        int r = 0;

        s.v = f.values = calloc(f.n, sizeof(*f.values));
        if (!f.values)
                return -ENOMEM;
        for (pass_blanks(&s); r == 0 && s.p < s.end; pass_blanks(&s))
                r = step(&s);
        if (r >= 0 && s.announced < 0)
                r = fail(&s, "the header, p cnf VARIABLES CLAUSES, is missing");
        free(s.occurrences);
        if (r < 0)
                return r;
        if (s.length > 0)
                end_clause(&s); /* its 0 is missing */
        s.v[C_LENGTH_MEAN] = s.v[C_CLAUSES] > 0 ? s.v[C_LITERALS] / s.v[C_CLAUSES] : 0;
        s.v[C_RATIO] = s.v[C_VARIABLES_USED] > 0 ? s.v[C_CLAUSES] / s.v[C_VARIABLES_USED] : 0;
        *ret = f;
        f = (struct features){0};
        return 0;
}
