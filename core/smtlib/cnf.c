#include "core/smtlib/cnf.h"

#include "core/smtlib/token.h"

void cnf_reader_init(struct cnf_reader *r, struct slice bytes)
{
        const char *base = bytes.size > 0 ? bytes.data : "";

        *r = (struct cnf_reader){.base = base, .p = base, .end = base + bytes.size, .variables = -1, .clauses = -1};
}

static int fail(const struct cnf_reader *r, const char *why)
{
        struct text_position place = text_position_of(SLICE(r->base, (size_t)(r->end - r->base)), (size_t)(r->p - r->base));

        return errorf(-EINVAL, "line %zu, column %zu: %s", place.line, place.column, why);
}

static bool begins_with(const struct cnf_reader *r, const char *text)
{
        size_t n = strlen(text);

        return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

static void pass_comment(struct cnf_reader *r)
{
        const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));

        r->names_variables |= begins_with(r, "c ind ") || begins_with(r, "c p ");
        r->p = newline ? newline + 1 : r->end;
}

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static void pass_blanks(struct cnf_reader *r)
{
        while (r->p < r->end && is_space(*r->p))
                r->p++;
}

bool cnf_begins(struct slice head, bool needs_header)
{
        struct cnf_reader r;
        bool has_comment = false;

        cnf_reader_init(&r, head);
        for (pass_blanks(&r); r.p < r.end && *r.p == 'c'; pass_blanks(&r)) {
                pass_comment(&r);
                has_comment = true;
        }
        return r.p == r.end ? has_comment && !needs_header : r.end - r.p >= 6 && begins_with(&r, "p cnf") && is_space(r.p[5]);
}

static int read_number(struct cnf_reader *r, int64_t *ret)
{
        bool is_negative;
        const char *begin;
        int64_t value = 0;

        pass_blanks(r);
        is_negative = r->p < r->end && *r->p == '-';
        begin = r->p += is_negative;
        for (; r->p < r->end && *r->p >= '0' && *r->p <= '9' && value <= INT32_MAX; r->p++)
                value = value * 10 + (*r->p - '0');
        if (r->p == begin)
                return fail(r, "a number is expected here");
        if (value > INT32_MAX)
                return fail(r, "this number is larger than 2147483647");
        *ret = is_negative ? -value : value;
        return 0;
}

static int read_header(struct cnf_reader *r)
{
        int64_t variables, clauses;

        if (r->variables >= 0)
                return fail(r, "a second header");
        r->p++;
        pass_blanks(r);
        if (!begins_with(r, "cnf"))
                return fail(r, "the header is written p cnf VARIABLES CLAUSES");
        r->p += 3;
        if (read_number(r, &variables) < 0 || read_number(r, &clauses) < 0)
                return -EINVAL;
        if (variables < 0 || clauses < 0)
                return fail(r, "the header announces less than nothing");
        r->variables = variables;
        r->clauses = clauses;
        return 0;
}

static int read_literal(struct cnf_reader *r, int32_t *ret)
{
        size_t size = (size_t)(r->end - r->base);
        int64_t literal, variable;

        if (r->variables < 0)
                return fail(r, "the header, p cnf VARIABLES CLAUSES, is missing");
        if (read_number(r, &literal) < 0)
                return -EINVAL;
        if (r->p < r->end && !is_space(*r->p))
                return fail(r, "a literal is followed by something that is no space");
        variable = literal < 0 ? -literal : literal;
        if ((size_t)variable / 64 > size + 1024)
                return errorf(-EINVAL, "variable %lld in a file of %zu bytes: number the variables from 1 without gaps",
                              (long long)variable, size);
        r->is_in_clause = literal != 0;
        *ret = (int32_t)literal;
        return 1;
}

static int end_clauses(struct cnf_reader *r, int32_t *ret)
{
        bool is_open = r->is_in_clause; /* its final 0 is missing */

        if (r->variables < 0)
                return fail(r, "the header, p cnf VARIABLES CLAUSES, is missing");
        r->p = r->end;
        r->is_in_clause = false;
        *ret = 0;
        return is_open;
}

int cnf_next(struct cnf_reader *r, int32_t *ret)
{
        for (pass_blanks(r); r->p < r->end && *r->p != '%'; pass_blanks(r)) {
                int x;

                if (*r->p == 'c')
                        pass_comment(r);
                else if (*r->p != 'p')
                        return read_literal(r, ret);
                else if ((x = read_header(r)) < 0)
                        return x;
        }
        return end_clauses(r, ret);
}

/* -- in memory -- */

struct cnf *cnf_new(void)
{
        return allocate(1, sizeof(struct cnf));
}

struct cnf *cnf_free(struct cnf *c)
{
        if (!c)
                return NULL;
        free(c->literals);
        free(c->ends);
        free(c);
        return NULL;
}

void cnf_add(struct cnf *c, int32_t literal)
{
        if (literal == 0) {
                list_add(c->ends, c->n_clauses, c->n_literals);
                return;
        }
        list_add(c->literals, c->n_literals, literal);
        c->variables = MAX(c->variables, (uint32_t)abs(literal));
}

void cnf_add_clause(struct cnf *c, const int32_t *literals, size_t n)
{
        for (size_t i = 0; i < n; i++)
                cnf_add(c, literals[i]);
        cnf_add(c, 0);
}

int32_t *cnf_clause(const struct cnf *c, size_t at, size_t *ret_n)
{
        size_t begin = at == 0 ? 0 : c->ends[at - 1];

        *ret_n = c->ends[at] - begin;
        return c->literals + begin;
}

void cnf_append(struct cnf *c, const struct cnf *other, uint32_t shift)
{
        for (size_t i = 0; i < other->n_clauses; i++) {
                size_t n;
                const int32_t *clause = cnf_clause(other, i, &n);

                for (size_t k = 0; k < n; k++)
                        cnf_add(c, clause[k] > 0 ? clause[k] + (int32_t)shift : clause[k] - (int32_t)shift);
                cnf_add(c, 0);
        }
}

struct cnf *cnf_copy(const struct cnf *c)
{
        struct cnf *ret = cnf_new();

        cnf_append(ret, c, 0);
        return ret;
}

int cnf_read(struct cnf_reader *r, struct cnf **ret)
{
        cleanup_cnf struct cnf *c = cnf_new();
        int32_t literal;
        int k;

        while ((k = cnf_next(r, &literal)) > 0)
                cnf_add(c, literal);
        if (k < 0)
                return k;
        if (c->variables > r->variables)
                return errorf(-EINVAL, "variable %u, and the header announces %lld: write p cnf %u %lld", c->variables,
                              (long long)r->variables, c->variables, (long long)r->clauses);
        if (c->n_clauses > UINT32_MAX)
                return -EFBIG;
        *ret = steal_pointer(c);
        return 0;
}

int cnf_parse(struct slice text, struct cnf **ret)
{
        struct cnf_reader reader;

        cnf_reader_init(&reader, text);
        return cnf_read(&reader, ret);
}

/* printf() would take most of the time of a campaign's larger inputs. */
static void print_literal(int32_t literal, struct buffer *ret)
{
        char text[16], *at = text + sizeof(text);
        uint32_t left = (uint32_t)abs(literal);

        *--at = ' ';
        do
                *--at = (char)('0' + left % 10);
        while ((left /= 10) > 0);
        if (literal < 0)
                *--at = '-';
        buffer_add(ret, at, (size_t)(text + sizeof(text) - at));
}

int cnf_print(const struct cnf *c, struct buffer *ret)
{
        buffer_addf(ret, "p cnf %u %zu\n", c->variables, c->n_clauses);
        for (size_t i = 0; i < c->n_clauses; i++) {
                size_t n;
                const int32_t *clause = cnf_clause(c, i, &n);

                for (size_t k = 0; k < n; k++)
                        print_literal(clause[k], ret);
                buffer_adds(ret, "0\n");
        }
        return buffer_error(ret);
}
