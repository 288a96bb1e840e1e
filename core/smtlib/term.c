/* Making terms. */
#include "core/smtlib/smtlib_internal.h"

static uint64_t head_hash(const struct bank *b, const struct term_head *h)
{
        uint64_t hash = hash_mix(b->seed, (uint64_t)h->kind << 48 | (uint64_t)h->is_qualified << 40 | h->op);

        hash = hash_mix(hash, h->sort->id);
        if (h->kind == TERM_OPERATOR || term_kind_is_quantifier(h->kind))
                hash = hash_mix(hash, h->extra);
        else if (h->kind == TERM_FUNCTION)
                hash = hash_mix(hash, h->function->id);
        else
                hash = hash_mix(hash, h->symbol->id + ((uint64_t)(h->value ? h->value->id + 1 : 0) << 32));
        return hash;
}

static bool is_same(const struct term *t, const struct term_head *h, const struct term *const *args, size_t n)
{
        uint64_t extra;

        memcpy(&extra, &t->index, sizeof(extra));
        return t->kind == h->kind && t->op == h->op && t->n_args == n && t->sort == h->sort && t->symbol == h->symbol &&
               extra == h->extra && t->is_qualified == h->is_qualified &&
               (n == 0 || memcmp(t->args, args, n * sizeof(*args)) == 0);
}

static void sum_up(struct term *t, const struct term_head *h)
{
        t->depth = 1;
        t->tree_size = 1;
        t->is_open = t->kind == TERM_VARIABLE;
        t->has_quantifier = term_is_quantifier(t);
        t->has_name = term_is_named(t);
        for (size_t i = 0; i < t->n_args; i++) {
                const struct term *x = t->args[i];

                t->depth = MAX(t->depth, x->depth == UINT32_MAX ? x->depth : x->depth + 1);
                t->tree_size = t->tree_size > UINT64_MAX - x->tree_size ? UINT64_MAX : t->tree_size + x->tree_size;
                t->is_open |= x->is_open;
                t->has_quantifier |= x->has_quantifier;
                t->has_name |= x->has_name;
        }
        if (term_is_quantifier(t))
                t->is_open = h->is_open;
}

/* Finding an existing term by lists of parents (without them, reading takes half as long again). A formula is read and built from the leaves up. So
 * the newest argument of a term was mostly made a moment ago and is in the processor's cache, unlike a slot of a hash table over millions of terms.
 * Each term lists the first few terms of which it is the newest argument; when there are more, these and all later ones go to the table instead. */
#define PARENTS_MOST 8
#define IN_TABLE     (PARENTS_MOST + 1) /* n_parents of a term whose parents are in the table */

static uint64_t bit_of(uint32_t hash)
{
        return UINT64_C(1) << (hash >> 26);
}

/* The place of the first literal of a text, and of the first constant of a function: they need no table, which makes reading a fifth faster. Later
 * ones (a text may be a literal of several sorts) are in the table. NULL for another term. */
static struct term **home_of(const struct term_head *h, size_t n)
{
        if (n > 0)
                return NULL;
        return h->kind == TERM_LITERAL    ? &((struct symbol *)h->symbol)->literal
               : h->kind == TERM_FUNCTION ? &((struct function *)h->function)->constant
                                          : NULL;
}

static const struct term *find(const struct bank *b, uint32_t hash, const struct term *newest, const struct term_head *h,
                               const struct term *const *args, size_t n)
{
        if (newest && newest->n_parents != IN_TABLE) {
                if (!(newest->parents & bit_of(hash)))
                        return NULL;
                for (const struct term *t = newest->first_parent; t; t = t->next_sibling)
                        if (t->hash == hash && is_same(t, h, args, n))
                                return t;
                return NULL;
        }
        for (struct table_slot *s = table_first(&b->terms, hash); s && s->item; s = table_next(&b->terms, s))
                if (s->hash == hash && is_same(s->item, h, args, n))
                        return s->item;
        return NULL;
}

static void enter(struct bank *b, struct term *newest, struct term *made)
{
        if (newest && newest->n_parents < PARENTS_MOST) {
                made->next_sibling = newest->first_parent;
                newest->first_parent = made;
                newest->parents |= bit_of(made->hash);
                newest->n_parents++;
                return;
        }
        if (newest && newest->n_parents == PARENTS_MOST) {
                for (struct term *t = newest->first_parent; t; t = t->next_sibling)
                        table_add(&b->terms, t->hash, t);
                newest->n_parents = IN_TABLE;
        }
        table_add(&b->terms, made->hash, made);
}

const struct term *term_intern(struct bank *b, const struct term_head *h, const struct term *const *args, size_t n)
{
        struct term *made, *newest = NULL, **home = home_of(h, n);
        bool has_home = home && !*home;
        const struct term *found;
        uint64_t mixed;

        _Static_assert(sizeof(h->extra) == sizeof(made->index) && sizeof(h->extra) >= sizeof(made->value), "extra is all of it");
        if (home && *home && is_same(*home, h, args, n))
                return *home;
        mixed = head_hash(b, h);
        for (size_t i = 0; i < n; i++) {
                mixed = hash_mix(mixed, args[i]->id);
                if (!newest || args[i]->id > newest->id)
                        newest = (struct term *)args[i];
        }
        found = has_home ? NULL : find(b, (uint32_t)mixed, newest, h, args, n);
        if (found)
                return found;
        assert(n < UINT32_MAX && b->n_terms < UINT32_MAX - 1); /* an input of 4 GB has fewer */
        made = arena_take(&b->arena, sizeof(*made) + n * sizeof(*args));
        *made = (struct term){
                .id = (uint32_t)b->n_terms++,
                .hash = (uint32_t)mixed,
                .kind = h->kind,
                .is_qualified = h->is_qualified,
                .op = h->op,
                .n_args = (uint32_t)n,
                .sort = h->sort,
                .symbol = h->symbol,
        };
        memcpy(&made->index, &h->extra, sizeof(h->extra));
        for (size_t i = 0; i < n; i++)
                made->args[i] = args[i];
        sum_up(made, h);
        if (has_home)
                *home = made;
        else
                enter(b, newest, made);
        return made;
}

/* -- literals -- */

const struct term *term_literal(struct bank *b, const struct sort *sort, struct slice text)
{
        return sort ? term_intern(b, &(struct term_head){.kind = TERM_LITERAL, .sort = sort, .symbol = symbol_of(b, text)}, NULL, 0) : NULL;
}

bool digits_only(struct slice s)
{
        const char *p = s.data;

        for (size_t i = 0; i < s.size; i++)
                if (p[i] < '0' || p[i] > '9')
                        return false;
        return s.size > 0;
}

struct slice digits_trimmed(struct slice digits)
{
        const char *p = digits.data, *end = p + digits.size;

        while (end - p > 1 && *p == '0')
                p++;
        return SLICE(p, (size_t)(end - p));
}

const struct term *term_true(struct bank *b)
{
        return b->bool_terms[1];
}

const struct term *term_false(struct bank *b)
{
        return b->bool_terms[0];
}

const struct term *term_int_digits(struct bank *b, struct slice digits)
{
        if (!digits_only(digits)) {
                bank_errorf(b, "an integer is written in digits");
                return NULL;
        }
        return term_literal(b, sort_simple(b, SORT_INT), digits_trimmed(digits));
}

const struct term *term_real_digits(struct bank *b, struct slice digits)
{
        const char *point = digits.size > 0 ? memchr(digits.data, '.', digits.size) : NULL;
        size_t whole = point ? (size_t)(point - (const char *)digits.data) : digits.size;
        struct slice left = SLICE(digits.data, whole), right = point ? SLICE(point + 1, digits.size - whole - 1) : SLICE("0", 1);
        cleanup_buffer struct buffer text = {0};

        if (!digits_only(left) || !digits_only(right)) {
                bank_errorf(b, "a real number is written in digits, a point and digits");
                return NULL;
        }
        left = digits_trimmed(left);
        while (right.size > 1 && ((const char *)right.data)[right.size - 1] == '0')
                right.size--;
        buffer_add(&text, left.data, left.size);
        buffer_adds(&text, ".");
        buffer_add(&text, right.data, right.size);
        return term_literal(b, sort_simple(b, SORT_REAL), SLICE(text.data, text.size));
}

static const struct term *number(struct bank *b, int64_t value, const struct term *(*make)(struct bank *b, struct slice digits))
{
        char digits[24];
        const struct term *t;

        snprintf(digits, sizeof(digits), "%llu", value < 0 ? -(unsigned long long)value : (unsigned long long)value);
        t = make(b, slice_string(digits));
        return value < 0 ? term_op1(b, OP_NEGATE, t) : t;
}

const struct term *term_int(struct bank *b, int64_t value)
{
        return number(b, value, term_int_digits);
}

const struct term *term_real(struct bank *b, int64_t value)
{
        return number(b, value, term_real_digits);
}

const struct term *term_string_canonical(struct bank *b, struct slice text)
{
        return term_literal(b, sort_simple(b, SORT_STRING), text);
}

const struct term *term_string_of(struct bank *b, const uint32_t *characters, size_t n)
{
        cleanup_buffer struct buffer text = {0};

        buffer_adds(&text, "");
        for (size_t i = 0; i < n; i++) {
                if (characters[i] > CHARACTER_MOST) {
                        bank_errorf(b, "no character has the code %u; the last is %u", characters[i], CHARACTER_MOST);
                        return NULL;
                }
                dialect_add_character(&text, characters[i]);
        }
        return term_string_canonical(b, SLICE(text.data, text.size));
}

const struct term *term_string(struct bank *b, const char *ascii)
{
        size_t n = strlen(ascii);
        cleanup_free uint32_t *characters = allocate(n, sizeof(*characters));

        for (size_t i = 0; i < n; i++)
                characters[i] = (uint8_t)ascii[i];
        return term_string_of(b, characters, n);
}

const struct term *term_bitvec(struct bank *b, uint64_t value, uint32_t width)
{
        char text[2 + 64 + 1] = "#b";

        if (width > 64) {
                snprintf(text, sizeof(text), "bv%llu", (unsigned long long)value);
                return term_literal(b, sort_bitvec(b, width), slice_string(text));
        }
        for (uint32_t i = 0; i < width; i++)
                text[2 + i] = (value >> (width - 1 - i)) & 1 ? '1' : '0';
        return term_literal(b, sort_bitvec(b, width), SLICE(text, 2 + width));
}

const struct term *term_bitvec_digits(struct bank *b, struct slice decimal, uint32_t width)
{
        struct slice digits = digits_trimmed(decimal);
        cleanup_buffer struct buffer text = {0};
        uint64_t value = 0;

        if (!digits_only(decimal)) {
                bank_errorf(b, "the value of a bit-vector is written in digits");
                return NULL;
        }
        if (width <= 64) {
                for (size_t i = 0; i < digits.size; i++)
                        value = value * 10 + (uint64_t)(((const char *)digits.data)[i] - '0'); /* modulo 2^64 */
                return term_bitvec(b, value, width);
        }
        buffer_adds(&text, "bv");
        buffer_add(&text, digits.data, digits.size);
        return term_literal(b, sort_bitvec(b, width), SLICE(text.data, text.size));
}

/* -- variables and constants -- */

const struct term *term_variable(struct bank *b, const struct symbol *s, const struct sort *sort)
{
        return s && sort ? term_intern(b, &(struct term_head){.kind = TERM_VARIABLE, .sort = sort, .symbol = s}, NULL, 0) : NULL;
}

const struct term *term_fresh_variable(struct bank *b, const char *stem, const struct sort *sort)
{
        return term_variable(b, symbol_fresh(b, slice_string(stem)), sort);
}

const struct term *term_fresh_constant(struct bank *b, const char *stem, const struct sort *sort)
{
        return term_constant(b, function_of(b, FUNCTION_DECLARED, symbol_fresh(b, slice_string(stem)), NULL, 0, sort));
}

/* -- applications -- */

static bool has_null(const struct term *const *args, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!args[i])
                        return true;
        return false;
}

static int apply(struct bank *b, enum op op, const uint32_t *index, size_t n_index, const struct term *const *args, size_t n,
                 const struct sort *ascribed, const struct term **ret)
{
        struct term_head h = {.kind = TERM_OPERATOR, .op = op, .is_qualified = ascribed != NULL};
        int r;

        if (has_null(args, n))
                return b->error ? b->error : bank_errorf(b, "an argument of %s is missing", operator_row(op)->name);
        for (size_t i = 0; i < n_index && i < 2; i++)
                h.index[i] = index[i];
        if (op == OP_RE_LOOP && n_index == 1)
                h.index[1] = UINT32_MAX;
        if ((r = operator_check(b, op, h.index, n_index, args, n, ascribed, &h.sort)) < 0)
                return r;
        *ret = term_intern(b, &h, args, n);
        return 0;
}

int term_apply(struct bank *b, enum op op, const uint32_t *index, size_t n_index, const struct term *const *args, size_t n,
               const struct term **ret)
{
        return apply(b, op, index, n_index, args, n, NULL, ret);
}

const struct term *term_op(struct bank *b, enum op op, const struct term *const *args, size_t n)
{
        const struct term *t = NULL;

        return apply(b, op, NULL, 0, args, n, NULL, &t) < 0 ? NULL : t;
}

const struct term *term_op1(struct bank *b, enum op op, const struct term *x)
{
        return term_op(b, op, &x, 1);
}

const struct term *term_op2(struct bank *b, enum op op, const struct term *x, const struct term *y)
{
        return term_op(b, op, (const struct term *[]){x, y}, 2);
}

const struct term *term_and(struct bank *b, const struct term *const *args, size_t n)
{
        return n == 0 ? term_true(b) : n == 1 ? args[0] : term_op(b, OP_AND, args, n);
}

const struct term *term_not(struct bank *b, const struct term *x)
{
        return x && x->op == OP_NOT ? x->args[0] : term_op1(b, OP_NOT, x);
}

const struct term *term_array_constant(struct bank *b, const struct sort *array, const struct term *element)
{
        const struct term *t;

        return array && apply(b, OP_ARRAY_CONST, NULL, 0, &element, 1, array, &t) == 0 ? t : NULL;
}

/* The sorts of one call for the parameters of a datatype: T is Int in (cons 1 l). */
struct fitting {
        const struct sort **parameters, **with; /* owned */
        size_t n;
};

static void fitting_done(struct fitting *f)
{
        free(f->parameters);
        free(f->with);
}

static bool sort_fits(struct fitting *f, const struct sort *wanted, const struct sort *is)
{
        size_t i = 0;

        if (!wanted->has_parameter || is->kind == SORT_UNKNOWN)
                return sort_takes(wanted, is);
        if (wanted->kind == SORT_PARAMETER) {
                while (i < f->n && f->parameters[i] != wanted)
                        i++;
                if (i == f->n) {
                        list_grow(f->parameters, f->n);
                        list_grow(f->with, f->n);
                        f->parameters[f->n] = wanted;
                        f->with[f->n++] = is;
                }
                if (sort_takes(is, f->with[i])) /* Real after Int */
                        f->with[i] = is;
                return sort_takes(f->with[i], is);
        }
        if (wanted->kind != is->kind || wanted->symbol != is->symbol || wanted->n_args != is->n_args)
                return false;
        while (i < wanted->n_args && sort_fits(f, wanted->args[i], is->args[i]))
                i++;
        return i == wanted->n_args;
}

static int check_call(struct bank *b, const struct function *f, struct fitting *fitting, const struct term *const *args, size_t n)
{
        if (n != f->n_args)
                return bank_errorf(b, "%s takes %u argument%s; %zu given", (const char *)f->symbol->name.data, f->n_args,
                                   f->n_args == 1 ? "" : "s", n);
        for (size_t i = 0; i < n; i++) {
                const struct sort *is = args[i]->sort, *wanted = f->args[i];
                cleanup_buffer struct buffer first = {0}, second = {0};

                if (sort_fits(fitting, wanted, is))
                        continue;
                sort_print(is, &first);
                sort_print(wanted, &second);
                return bank_errorf(b, "argument %zu of %s is %s, and should be %s", i + 1,
                                   (const char *)f->symbol->name.data, first.data, second.data);
        }
        return 0;
}

const struct term *term_call_as(struct bank *b, const struct function *f, const struct sort *sort, const struct term *const *args,
                                size_t n)
{
        struct term_head h = {.kind = TERM_FUNCTION, .is_qualified = sort != NULL, .function = f, .sort = sort};
        cleanup(fitting_done) struct fitting fitting = {0};

        if (n == 0 && !sort && f && known_constant(f))
                return known_constant(f);
        if (f && sort)
                sort_fits(&fitting, f->result, sort);
        if (!f || has_null(args, n) || check_call(b, f, &fitting, args, n) < 0)
                return NULL;
        if (!sort && !(h.sort = sort_instantiate(b, f->result, fitting.parameters, fitting.with, fitting.n)))
                return NULL;
        if (h.sort->has_parameter) /* nil, of any sort */
                h.sort = sort_simple(b, SORT_UNKNOWN);
        return term_intern(b, &h, args, n);
}

const struct term *term_constant(struct bank *b, const struct function *f)
{
        return term_call_as(b, f, NULL, NULL, 0);
}

const struct term *term_opaque(struct bank *b, struct slice head, const struct sort *sort, bool is_qualified,
                               const struct term *const *args, size_t n)
{
        struct term_head h = {.kind = TERM_OPAQUE, .is_qualified = is_qualified, .sort = sort};

        if (!sort || has_null(args, n))
                return NULL;
        h.symbol = symbol_of(b, head);
        return term_intern(b, &h, args, n);
}

/* -- quantifiers and annotations -- */

const struct term *term_quantifier(struct bank *b, enum term_kind kind, const struct term *const *variables, size_t n,
                                   const struct term *body)
{
        struct term_head h = {.kind = kind};
        cleanup_free const struct term **args = NULL;

        assert(term_kind_is_quantifier(kind));
        if (!body || has_null(variables, n) || n == 0)
                return body;
        for (size_t i = 0; i < n; i++)
                if (variables[i]->kind != TERM_VARIABLE) {
                        bank_errorf(b, "a quantifier binds variables only");
                        return NULL;
                }
        if (kind != TERM_LAMBDA && body->sort->kind != SORT_BOOL && body->sort->kind != SORT_UNKNOWN) {
                bank_errorf(b, "the body of a quantifier is of sort Bool");
                return NULL;
        }
        args = allocate(n + 1, sizeof(*args));
        memcpy(args, variables, n * sizeof(*args));
        args[n] = body;
        h.n_bound = (uint32_t)n;
        h.is_open = !term_is_closed_by(body, variables, n);
        h.sort = quantifier_sort(b, kind, variables, n, body);
        return h.sort ? term_intern(b, &h, args, n + 1) : NULL;
}

const struct sort *quantifier_sort(struct bank *b, enum term_kind kind, const struct term *const *variables, size_t n,
                                   const struct term *body)
{
        if (kind != TERM_LAMBDA)
                return sort_simple(b, SORT_BOOL);
        return n == 1 ? sort_array(b, variables[0]->sort, body->sort) : sort_simple(b, SORT_UNKNOWN);
}

const struct term *term_annotate(struct bank *b, const struct term *t, struct slice keyword, struct slice value,
                                 const struct term *const *patterns, size_t n)
{
        struct term_head h = {.kind = TERM_ANNOTATED};
        cleanup_free const struct term **args = allocate(n + 1, sizeof(*args));

        if (!t || has_null(patterns, n))
                return NULL;
        h.symbol = symbol_of(b, keyword);
        h.value = value.data ? symbol_of(b, value) : NULL;
        h.sort = t->sort;
        args[0] = t;
        if (n > 0)
                memcpy(args + 1, patterns, n * sizeof(*args));
        return term_intern(b, &h, args, n + 1);
}

const struct term *term_with_args(struct bank *b, const struct term *t, const struct term *const *args)
{
        const struct term *made;
        struct term_head h;

        if (has_null(args, t->n_args))
                return NULL;
        if (t->n_args == 0 || memcmp(args, t->args, t->n_args * sizeof(*args)) == 0)
                return t;
        switch ((int)t->kind) {
        case TERM_FUNCTION:
                return term_call_as(b, t->function, t->is_qualified ? t->sort : NULL, args, t->n_args);
        case TERM_OPERATOR:
                return apply(b, t->op, t->index, term_n_index(t), args, t->n_args, t->is_qualified ? t->sort : NULL, &made) < 0
                               ? NULL
                               : made;
        case TERM_OPAQUE:
                return term_opaque(b, t->symbol->name, t->sort, t->is_qualified, args, t->n_args);
        case TERM_FORALL:
        case TERM_EXISTS:
        case TERM_LAMBDA:
                return term_quantifier(b, t->kind, args, t->n_bound, args[t->n_bound]);
        case TERM_ANNOTATED:
                h = (struct term_head){.kind = TERM_ANNOTATED, .sort = args[0]->sort, .symbol = t->symbol, .value = t->value};
                return term_intern(b, &h, args, t->n_args);
        }
        return t;
}

/* -- values -- */

bool term_to_int(const struct term *t, int64_t *ret)
{
        const struct term *x = t->op == OP_NEGATE ? t->args[0] : t;
        int64_t value;
        char *end;

        if (x->kind != TERM_LITERAL || !sort_is_number(x->sort))
                return false;
        errno = 0;
        value = strtoll(x->symbol->name.data, &end, 10);
        *ret = x == t ? value : -value;
        return errno == 0 && (*end == '\0' || strcmp(end, ".0") == 0);
}

static bool literal_to_real(const struct term *t, double *ret)
{
        bool is_negative = t->op == OP_NEGATE;
        const struct term *x = is_negative ? t->args[0] : t;
        double value = 0, unit = 1;
        bool is_fraction = false;

        if (x->kind != TERM_LITERAL || !sort_is_number(x->sort))
                return false;
        for (const char *p = x->symbol->name.data; *p; p++) { /* strtod() depends on the locale */
                if (*p == '.') {
                        is_fraction = true;
                } else if (is_fraction) {
                        unit /= 10;
                        value += unit * (*p - '0');
                } else {
                        value = value * 10 + (*p - '0');
                }
        }
        *ret = is_negative ? -value : value;
        return true;
}

bool term_to_real(const struct term *t, double *ret)
{
        bool is_negative = t->op == OP_NEGATE;
        const struct term *x = is_negative ? t->args[0] : t;
        double over, under;

        if (x->op != OP_DIVIDE)
                return literal_to_real(t, ret);
        if (x->n_args != 2 || !literal_to_real(x->args[0], &over) || !literal_to_real(x->args[1], &under) || under == 0)
                return false;
        *ret = (is_negative ? -over : over) / under;
        return true;
}

bool term_to_bitvec(const struct term *t, uint64_t *ret)
{
        const char *p;
        uint64_t value = 0;

        if (t->kind != TERM_LITERAL || t->sort->kind != SORT_BITVEC || t->sort->index[0] > 64)
                return false;
        for (p = (const char *)t->symbol->name.data + 2; *p; p++)
                value = value << 1 | (uint64_t)(*p == '1');
        *ret = value;
        return true;
}

int term_to_string(const struct term *t, uint32_t **ret, size_t *ret_n)
{
        size_t at = 0;

        if (t->kind != TERM_LITERAL || t->sort->kind != SORT_STRING)
                return -EINVAL;
        *ret = allocate(t->symbol->name.size + 1, sizeof(**ret));
        for (*ret_n = 0; dialect_next_character(t->symbol->name, &at, *ret + *ret_n); ++*ret_n)
                ;
        return 0;
}

size_t term_string_length(const struct term *literal)
{
        uint32_t character;
        size_t at = 0, n = 0;

        while (dialect_next_character(literal->symbol->name, &at, &character))
                n++;
        return n;
}
