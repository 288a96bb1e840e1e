/* Terms. One loop with a stack of its own reads any nesting: a frame for each parenthesis that is open, and the values read so far. */
#include "core/smtlib/read_internal.h"

enum frame_kind {
        FRAME_APPLY,      /* values: its arguments */
        FRAME_LET,        /* its bindings; in the term of one of them */
        FRAME_LET_BODY,   /* value: the body */
        FRAME_QUANTIFIER, /* values: the variables, then the body */
        FRAME_ANNOTATION, /* value: what is annotated, so far */
        FRAME_PATTERN     /* values: the terms of a pattern; below it an annotation */
};

/* The head of an application. */
struct head {
        enum {
                HEAD_OPERATOR,
                HEAD_FUNCTION,
                HEAD_OPAQUE,
        } kind : 8;
        bool is_qualified; /* it was ascribed */
        uint8_t n_index;
        enum op op;
        uint32_t index[2];
        union {
                const struct function *function;
                const struct symbol *text; /* opaque */
        };
        const struct sort *sort; /* that is known, or NULL */
};

/* There are as many as an input is deep: small, and never copied. */
struct term_frame {
        enum frame_kind kind : 8;
        enum term_kind quantifier : 8;
        size_t begin;
        size_t values, trail, lets;
        union {
                struct head head;     /* FRAME_APPLY */
                size_t n_bound;       /* FRAME_QUANTIFIER */
                struct slice keyword; /* FRAME_PATTERN */
        };
};

struct let_binding {
        const struct symbol *symbol;
        const struct term *term;
        uint32_t level;
        size_t at; /* of its name, in the input */
};

static bool is_reserved(struct slice s)
{
        switch (s.size) {
        case 1:
                return *(const char *)s.data == '!' || *(const char *)s.data == '_';
        case 2:
                return memcmp(s.data, "as", 2) == 0;
        case 3:
                return memcmp(s.data, "let", 3) == 0 || memcmp(s.data, "par", 3) == 0;
        case 5:
                return memcmp(s.data, "match", 5) == 0;
        case 6:
                return memcmp(s.data, "forall", 6) == 0 || memcmp(s.data, "exists", 6) == 0;
        default:
                return false;
        }
}

static bool is_printable(struct slice s)
{
        const uint8_t *p = s.data;

        for (size_t i = 0; i < s.size; i++)
                if (p[i] < 0x20 || p[i] == 0x7f)
                        return false;
        return true;
}

/* -- values and frames -- */

static int push_value(struct reader *r, const struct term *t, uint32_t level)
{
        if (r->n_values == r->values_size) {
                size_t size = r->values_size;

                if (reader_grow(&r->values, &size, sizeof(*r->values)) < 0 ||
                    reader_grow(&r->value_levels, &r->values_size, sizeof(*r->value_levels)) < 0)
                        return -ENOMEM;
        }
        r->values[r->n_values] = t;
        r->value_levels[r->n_values++] = level;
        return 0;
}

/* The rest of the frame is the caller's to fill. NULL: no memory. */
static struct term_frame *push_frame(struct reader *r, enum frame_kind kind, size_t begin)
{
        struct term_frame *f;

        if (!grow(r->frames, r->n_frames, r->frames_size))
                return NULL;
        f = &r->frames[r->n_frames++];
        f->kind = kind;
        f->begin = begin;
        f->values = r->n_values;
        f->trail = r->n_trail;
        f->lets = r->n_lets;
        return f;
}

/* -- symbols that are no declaration -- */

/* Names of theories that are not modelled, without those that have a point in them. */
static const char *const foreign_names[] = {
        "map", "as-array", "union", "intersection", "setminus", "subset", "member", "insert", "singleton",
        "complement", "card", "emptyset", "univset", "sep", "wand", "pto", "mkTuple", "tuple", "update", "choose",
        "transpose", "tclosure", "join", "product", "@", "witness", "fmf", "pbeq", "pble", "pbge", "at-most",
        "at-least", "is", "bvcomp", "eqrange", "partial-order", "linear-order", "tree-order",
        "piecewise-linear-order", "default", "bvredxor", "bvite", "euler", "pi", "char.<=", "ff", "xnor", "sbv2int",
        "implied",
};

/* May an unknown symbol be one of a theory that is not modelled? Those have a point in their names, or stand above. */
static bool is_foreign(struct slice name)
{
        if (memchr(name.data, '.', name.size) && *(const char *)name.data != '.')
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(foreign_names); i++)
                if (name.size == strlen(foreign_names[i]) && memcmp(name.data, foreign_names[i], name.size) == 0)
                        return true;
        return false;
}

/* A symbol whose name is the other's as it is written: |a b|. NULL: no memory. */
static const struct symbol *as_written(struct reader *r, const struct symbol *s)
{
        cleanup_buffer struct buffer text = {0};

        token_add_symbol(&text, s->name);
        return buffer_error(&text) < 0 ? NULL : symbol_of(r->bank, SLICE(text.data, text.size));
}

static int opaque_head(struct reader *r, size_t at, const struct symbol *s, struct head *ret)
{
        if (r->options->is_strict || !(r->may_be_undeclared || is_foreign(s->name)))
                return reader_fail(r, at, "unknown symbol %s: it is neither declared nor an operator that is known here",
                                   (const char *)s->name.data);
        *ret = (struct head){.kind = HEAD_OPAQUE, .text = as_written(r, s)};
        r->script->n_opaque_terms++;
        return ret->text ? id_map_set(&r->undeclared, s->id, 1) : -ENOMEM;
}

/* The head of (f …), or a symbol that stands alone. -EOPNOTSUPP when it is not a function. */
static int symbol_head(struct reader *r, size_t at, const struct symbol *s, struct head *ret)
{
        const struct binding *b = binding_of(s);

        if (b && b->kind != BINDING_FUNCTION)
                return -EOPNOTSUPP; /* an array applied, as some solvers allow */
        if (b)
                *ret = (struct head){.kind = HEAD_FUNCTION, .function = b->function};
        else if (s->op != OP_NONE)
                *ret = (struct head){.kind = HEAD_OPERATOR, .op = s->op};
        else
                return opaque_head(r, at, s, ret);
        return 0;
}

/* -- applications -- */

static uint32_t least_level(const struct reader *r, size_t from)
{
        uint32_t level = UINT32_MAX;

        for (size_t i = from; i < r->n_values; i++)
                level = MIN(level, r->value_levels[i]);
        return level;
}

/* re.loop and re.^ as they were before 2.6: the numbers are arguments. */
static bool has_old_indices(const struct head *h, const struct term *const *args, size_t n, uint32_t index[2], size_t *ret_n)
{
        if (h->n_index > 0 || n < 2 || n > 3 || (h->op != OP_RE_LOOP && !(h->op == OP_RE_POWER && n == 2)))
                return false;
        for (size_t i = 1; i < n; i++) {
                const struct term *t = args[i];

                if (t->kind != TERM_LITERAL || t->sort->kind != SORT_INT || numeral_value(t->symbol->name, &index[i - 1]) < 0)
                        return false;
        }
        *ret_n = n - 1;
        return true;
}

/* Several operators may share a name: the first whose number of arguments fits. */
static enum op op_for(const struct head *h, size_t n_index, size_t n)
{
        if (operator_next(h->op) == OP_NONE)
                return h->op;
        for (enum op op = h->op; op != OP_NONE; op = operator_next(op))
                if (operator_takes(op, n) && n_index >= operator_row(op)->indices_least &&
                    n_index <= operator_row(op)->indices_most)
                        return op;
        return h->op;
}

static int build_operator(struct reader *r, const struct head *h, const struct term *const *args, size_t n,
                          const struct term **ret)
{
        uint32_t index[2] = {h->index[0], h->index[1]};
        size_t n_index = h->n_index;

        if (h->op == OP_ARRAY_CONST && n == 1 && h->sort) {
                *ret = term_array_constant(r->bank, h->sort, args[0]);
                return *ret ? 0 : r->bank->error;
        }
        if (has_old_indices(h, args, n, index, &n_index))
                n = 1;
        return term_apply(r->bank, op_for(h, n_index, n), index, n_index, args, n, ret);
}

static int build(struct reader *r, const struct head *h, const struct term *const *args, size_t n, const struct term **ret)
{
        r->bank->error = 0;
        switch (h->kind) {
        case HEAD_OPERATOR:
                return build_operator(r, h, args, n, ret);
        case HEAD_FUNCTION:
                *ret = term_call_as(r->bank, h->function, h->sort, args, n);
                break;
        case HEAD_OPAQUE:
                *ret = term_opaque(r->bank, h->text->name, h->sort ? h->sort : sort_simple(r->bank, SORT_UNKNOWN),
                                   h->is_qualified, args, n);
                break;
        }
        return *ret ? 0 : r->bank->error;
}

/* -- identifiers: (_ f 1 2), (as f S), also one in the other -- */

static int character_literal(struct reader *r, const struct term **ret)
{
        cleanup_buffer struct buffer text = {0};
        uint32_t code;

        if (r->token.kind != TOKEN_HEXADECIMAL || r->token.text.size > 7)
                return -EOPNOTSUPP;
        dialect_digits((const char *)r->token.text.data + 2, r->token.text.size - 2, SIZE_MAX, 16, &code);
        if (code > CHARACTER_MOST)
                return reader_fail(r, r->token.begin, "no character has this code; the last is #x2FFFF");
        dialect_add_character(&text, code);
        if (buffer_error(&text) < 0 || !(*ret = term_string_canonical(r->bank, SLICE(text.data, text.size))))
                return -ENOMEM;
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (_ char");
}

/* (_ bvN width), of which the name is at hand. */
static int bitvec_literal(struct reader *r, const struct term **ret)
{
        struct slice digits = SLICE((const char *)r->token.text.data + 2, r->token.text.size - 2);
        size_t at = r->token.begin;
        uint32_t width;
        int x;

        if ((x = reader_expect(r, TOKEN_NUMERAL, "the width of a bit-vector")) < 0)
                return x;
        if (numeral_value(r->token.text, &width) < 0)
                return reader_fail(r, r->token.begin, "no bit-vector is as wide as that");
        *ret = term_bitvec_digits(r->bank, digits, width);
        if (!*ret)
                return reader_fail_bank(r, at);
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (_ bv");
}

static bool is_bitvec_name(struct slice s)
{
        return s.size > 2 && memcmp(s.data, "bv", 2) == 0 && digits_only(SLICE((const char *)s.data + 2, s.size - 2));
}

/* Reads the head or literal that begins with "(_", which has been taken. */
static int indexed_identifier(struct reader *r, size_t begin, struct head *ret, const struct term **ret_literal)
{
        const struct symbol *s;
        bool is_numeric = true;
        int x;

        *ret_literal = NULL;
        if ((x = reader_expect(r, TOKEN_SYMBOL, "a name behind (_")) < 0)
                return x;
        if (is_bitvec_name(r->token.text))
                return bitvec_literal(r, ret_literal);
        if (!(s = symbol_of(r->bank, r->token.text)))
                return -ENOMEM;
        *ret = (struct head){.kind = HEAD_OPERATOR, .op = binding_of(s) ? OP_NONE : s->op};
        for (size_t n = 0;; n++) {
                if ((x = reader_next(r)) < 0)
                        return x;
                if (n == 0 && token_is(&(struct token){.text = s->name}, "char"))
                        return character_literal(r, ret_literal);
                if (r->token.kind == TOKEN_CLOSE)
                        break;
                if (r->token.kind == TOKEN_OPEN || r->token.kind == TOKEN_END)
                        return -EOPNOTSUPP;
                if (n < 2 && r->token.kind == TOKEN_NUMERAL && numeral_value(r->token.text, &ret->index[n]) == 0)
                        ret->n_index = n + 1;
                else
                        is_numeric = false;
        }
        if (ret->op != OP_NONE && is_numeric)
                return 0;
        r->script->n_opaque_terms++;
        *ret = (struct head){.kind = HEAD_OPAQUE, .text = symbol_of(r->bank, SLICE(r->t.base + begin, r->token.end - begin))};
        if (token_is(&(struct token){.text = s->name}, "is")) /* a tester of a datatype */
                ret->sort = sort_simple(r->bank, SORT_BOOL);
        return ret->text ? 0 : -ENOMEM;
}

/* Reads the head that begins with "(as", which has been taken. */
static int qualified_identifier(struct reader *r, struct head *ret)
{
        const struct term *literal;
        const struct symbol *s;
        size_t begin;
        int x;

        if ((x = reader_next(r)) < 0)
                return x;
        begin = r->token.begin;
        if (r->token.kind == TOKEN_OPEN) {
                if ((x = reader_expect(r, TOKEN_SYMBOL, "_ behind (as (")) < 0)
                        return x;
                if (!token_is(&r->token, "_"))
                        return -EOPNOTSUPP;
                if ((x = indexed_identifier(r, begin, ret, &literal)) < 0)
                        return x;
                if (literal)
                        return -EOPNOTSUPP;
        } else if (r->token.kind == TOKEN_SYMBOL) {
                if (!(s = symbol_of(r->bank, r->token.text)))
                        return -ENOMEM;
                if (!binding_of(s) && s->op == OP_NONE && !r->options->is_strict) {
                        *ret = (struct head){.kind = HEAD_OPAQUE, .text = as_written(r, s)};
                        r->script->n_opaque_terms++;
                        if (!ret->text)
                                return -ENOMEM;
                } else if ((x = symbol_head(r, begin, s, ret)) < 0) {
                        return x;
                }
        } else {
                return reader_fail(r, begin, "a name is expected behind (as");
        }
        if ((x = read_next_sort(r, &ret->sort)) < 0)
                return x;
        if (ret->kind == HEAD_OPERATOR && ret->op != OP_ARRAY_CONST)
                ret->sort = NULL; /* it says what the operator says already */
        ret->is_qualified = ret->sort != NULL;
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (as");
}

/* -- a whole term: what is around it takes it -- */

static int deliver(struct reader *r, const struct term *t, uint32_t level)
{
        struct term_frame *f = r->n_frames > 0 ? &r->frames[r->n_frames - 1] : NULL;

        if (!f || f->kind == FRAME_APPLY)
                return push_value(r, t, level);
        if (f->kind == FRAME_LET) {
                r->lets[r->n_lets - 1].term = t;
                r->lets[r->n_lets - 1].level = level;
                return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes a binding of this let");
        }
        if ((f->kind == FRAME_LET_BODY || f->kind == FRAME_ANNOTATION) && r->n_values > f->values)
                return reader_fail(r, r->token.begin, "one term is enough here; close the parenthesis");
        if (f->kind == FRAME_QUANTIFIER && r->n_values > f->values + f->n_bound)
                return reader_fail(r, r->token.begin, "a quantifier has one body; close the parenthesis");
        return push_value(r, t, level);
}

static int literal(struct reader *r, const struct term **ret)
{
        struct slice text = r->token.text;
        cleanup_buffer struct buffer canonical = {0};
        uint64_t value = 0;

        r->bank->error = 0;
        switch (r->token.kind) {
        case TOKEN_NUMERAL:
                *ret = r->numerals_are_real ? term_real_digits(r->bank, text) : term_int_digits(r->bank, text);
                break;
        case TOKEN_DECIMAL:
                *ret = term_real_digits(r->bank, text);
                break;
        case TOKEN_STRING:
                if (!memchr(text.data, '\\', text.size) && !memchr(text.data, '"', text.size) && is_printable(text)) {
                        *ret = term_string_canonical(r->bank, text);
                        break;
                }
                dialect_decode_string(r->t.dialect, text, &canonical);
                *ret = buffer_error(&canonical) < 0 ? NULL
                                                    : term_string_canonical(r->bank, SLICE(canonical.data, canonical.size));
                break;
        case TOKEN_BINARY:
        case TOKEN_HEXADECIMAL: {
                uint64_t digits = text.size - 2, width = r->token.kind == TOKEN_BINARY ? digits : digits * 4;

                if (width > UINT32_MAX)
                        return reader_fail(r, r->token.begin, "no bit-vector is as wide as that");
                if (width > 64 || r->token.kind == TOKEN_BINARY) {
                        *ret = term_literal(r->bank, sort_bitvec(r->bank, (uint32_t)width), text);
                        break;
                }
                for (size_t i = 2; i < text.size; i++) {
                        char c = ((const char *)text.data)[i];

                        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
                }
                *ret = term_bitvec(r->bank, value, (uint32_t)width);
                break;
        }
        case TOKEN_END:
        case TOKEN_OPEN:
        case TOKEN_CLOSE:
        case TOKEN_SYMBOL:
        case TOKEN_KEYWORD:
        case TOKEN_BAD:
                return reader_fail(r, r->token.begin, "a term is expected here");
        }
        return *ret ? 0 : r->bank->error ? r->bank->error : -ENOMEM;
}

static int atom(struct reader *r)
{
        uint32_t level = UINT32_MAX;
        const struct binding *b = NULL;
        const struct symbol *s;
        const struct term *t = NULL;
        struct head head;
        int x;

        if (r->token.kind != TOKEN_SYMBOL) {
                if ((x = literal(r, &t)) < 0)
                        return x;
        } else {
                if (!(s = symbol_of(r->bank, r->token.text)))
                        return -ENOMEM;
                b = binding_of(s);
                if (b && b->kind != BINDING_FUNCTION) {
                        t = b->term;
                        level = b->level;
                } else if (b && (t = known_constant(b->function))) {
                        /* as often as not */
                } else if (!b && !r->token.is_quoted && is_reserved(r->token.text)) {
                        return reader_fail(r, r->token.begin, "%s is a reserved word, and begins no term without a parenthesis",
                                           (const char *)s->name.data);
                } else if ((x = symbol_head(r, r->token.begin, s, &head)) < 0) {
                        return x;
                } else if ((x = build(r, &head, NULL, 0, &t)) < 0) {
                        return x == -EINVAL ? reader_fail_bank(r, r->token.begin) : x;
                }
        }
        return deliver(r, t, level);
}

/* -- let -- */

/* Behind "(let (", or behind a binding: the next binding, or the body. */
static int continue_let(struct reader *r)
{
        struct term_frame *f = &r->frames[r->n_frames - 1];
        const struct symbol *s;
        int x;

        if (r->token.kind == TOKEN_OPEN) {
                if ((x = reader_symbol(r, "the name of a let's variable", &s)) < 0)
                        return x;
                if (!grow(r->lets, r->n_lets, r->lets_size))
                        return -ENOMEM;
                r->lets[r->n_lets++] = (struct let_binding){.symbol = s, .at = r->token.begin};
                return 0;
        }
        if (r->token.kind != TOKEN_CLOSE)
                return reader_fail(r, r->token.begin, "a let's bindings are written ((x term) …)");
        f->trail = r->n_trail;
        for (size_t i = f->lets; i < r->n_lets; i++) {
                const struct let_binding *l = &r->lets[i];
                const struct binding *b = binding_of(l->symbol);

                if (b && b->kind == BINDING_LET && b->trail >= f->trail)
                        return reader_fail(r, l->at, "this let binds %s twice", (const char *)l->symbol->name.data);
                x = reader_bind(r, l->symbol,
                                (struct binding){.kind = BINDING_LET, .level = l->level, .term = l->term, .trail = r->n_trail});
                if (x < 0)
                        return x;
        }
        r->n_lets = f->lets;
        f->kind = FRAME_LET_BODY;
        return 0;
}

/* -- quantifiers -- */

/* Stands for something around here, or stood for something in a term that a let may bring here. */
static bool is_taken(const struct reader *r, const struct symbol *s)
{
        return binding_of(s) || (r->undeclared.n > 0 && id_map_get(&r->undeclared, s->id) != 0);
}

static int rename_variable(struct reader *r, const struct symbol **s)
{
        const struct symbol *as = *s;

        /* in leaps first, lest a file that declares x!1, x!2, … makes each x cost a walk over them */
        for (uint64_t i = 0; is_taken(r, as); i++) {
                uint64_t n = r->level + (i < 40 ? UINT64_C(1) << i : i);
                cleanup_buffer struct buffer name = {0};

                buffer_add(&name, (*s)->name.data, (*s)->name.size);
                buffer_addf(&name, "!%llu", (unsigned long long)n);
                as = buffer_error(&name) < 0 ? NULL : symbol_of(r->bank, SLICE(name.data, name.size));
                if (!as)
                        return -ENOMEM;
        }
        *s = as;
        return 0;
}

/* A name that stands for something already gives way, so that a name means one thing all over a term; of a let's, too, since behind it may
 * stand a variable of the same name, to which another of its values refers. */
static int add_variable(struct reader *r, const struct symbol *s, const struct sort *sort, uint32_t level)
{
        bool is_renamed = is_taken(r, s);
        const struct symbol *as = s;
        const struct term *v;
        int x;

        if (is_renamed && (x = rename_variable(r, &as)) < 0)
                return x;
        if (!(v = term_variable(r->bank, as, sort)))
                return -ENOMEM;
        if (is_renamed) { /* the name it has now is taken, too */
                x = reader_bind(r, as, (struct binding){.kind = BINDING_VARIABLE, .level = level, .term = v});
                if (x < 0)
                        return x;
        }
        x = reader_bind(r, s, (struct binding){.kind = BINDING_VARIABLE, .level = level, .term = v});
        return x < 0 ? x : push_value(r, v, level);
}

int read_variables(struct reader *r, uint32_t level, size_t *ret_n)
{
        const struct sort *sort;
        const struct symbol *s;
        size_t n = 0;
        int x;

        for (; (x = reader_more(r)) > 0; n++) {
                if (r->token.kind != TOKEN_OPEN)
                        return reader_fail(r, r->token.begin, "variables are written ((x Sort) …)");
                if ((x = reader_symbol(r, "the name of a variable", &s)) < 0 || (x = read_next_sort(r, &sort)) < 0 ||
                    (x = add_variable(r, s, sort, level)) < 0 ||
                    (x = reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the variable's sort")) < 0)
                        return x;
        }
        *ret_n = n;
        return x;
}

static int begin_quantifier(struct reader *r, enum term_kind kind, size_t begin)
{
        struct term_frame *f = push_frame(r, FRAME_QUANTIFIER, begin);
        int x;

        if (!f)
                return -ENOMEM;
        f->quantifier = kind;
        if ((x = reader_expect(r, TOKEN_OPEN, "the list of variables, ((x Sort) …)")) < 0 ||
            (x = read_variables(r, r->level, &f->n_bound)) < 0)
                return x;
        if (f->n_bound == 0)
                return reader_fail(r, begin, "this quantifier has no variables");
        r->level++;
        return 0;
}

static int end_quantifier(struct reader *r, const struct term_frame *f, const struct term **ret, uint32_t *ret_level)
{
        struct term_head h = {.kind = f->quantifier, .n_bound = (uint32_t)f->n_bound};
        const struct term *body;
        uint32_t level;

        if (r->n_values != f->values + f->n_bound + 1)
                return reader_fail(r, r->token.begin, "this quantifier has no body");
        body = r->values[r->n_values - 1];
        level = r->value_levels[r->n_values - 1];
        if (f->quantifier != TERM_LAMBDA && body->sort->kind != SORT_BOOL && body->sort->kind != SORT_UNKNOWN)
                return reader_fail(r, f->begin, "the body of a quantifier is of sort Bool");
        r->level--;
        *ret_level = level < r->level ? level : UINT32_MAX;
        h.is_open = level < r->level;
        h.sort = quantifier_sort(r->bank, f->quantifier, r->values + f->values, f->n_bound, body);
        *ret = h.sort ? term_intern(r->bank, &h, r->values + f->values, f->n_bound + 1) : NULL;
        return *ret ? 0 : reader_fail_bank(r, f->begin);
}

/* -- annotations -- */

static int annotate(struct reader *r, struct slice keyword, struct slice value, const struct term *const *patterns, size_t n)
{
        size_t at = r->frames[r->n_frames - 1].values;
        const struct term *t = term_annotate(r->bank, r->values[at], keyword, value, patterns, n);

        if (!t)
                return -ENOMEM;
        r->values[at] = t;
        return 0;
}

static int name_term(struct reader *r, const struct term *t)
{
        const struct symbol *s = symbol_of(r->bank, r->token.text);
        const struct function *f = s ? function_of(r->bank, FUNCTION_NAMED, s, NULL, 0, t->sort) : NULL;
        const struct symbol *text = f ? as_written(r, s) : NULL;

        if (!text || list_grow(r->names, r->n_names) < 0)
                return -ENOMEM;
        r->names[r->n_names++] = f;
        return annotate(r, slice_string(":named"), text->name, NULL, 0);
}

/* Behind an attribute, or what is annotated: the next attribute, or the end. 1: a parenthesis closed it. */
static int continue_annotation(struct reader *r)
{
        struct term_frame *f = &r->frames[r->n_frames - 1];
        struct slice keyword, value;
        struct tokenizer before;
        struct token token;
        int x;

        if (r->token.kind == TOKEN_CLOSE)
                return 1;
        if (r->token.kind != TOKEN_KEYWORD)
                return reader_fail(r, r->token.begin, "an attribute (:keyword value) or a closing parenthesis is expected here");
        keyword = r->token.text;
        before = r->t;
        token = r->token;
        if ((x = reader_next(r)) < 0)
                return x;
        if (r->token.kind == TOKEN_OPEN && (token_is(&token, ":pattern") || token_is(&token, ":no-pattern"))) {
                if (!(f = push_frame(r, FRAME_PATTERN, token.begin)))
                        return -ENOMEM;
                f->keyword = keyword;
                return 0;
        }
        if (token_is(&token, ":named") && r->token.kind == TOKEN_SYMBOL) {
                if ((x = name_term(r, r->values[f->values])) < 0)
                        return x;
        } else if (r->token.kind == TOKEN_CLOSE || r->token.kind == TOKEN_KEYWORD) {
                r->t = before; /* no value */
                r->token = token;
                if ((x = annotate(r, keyword, SLICE(NULL, 0), NULL, 0)) < 0)
                        return x;
        } else if ((x = read_text(r, &value)) < 0 || (x = annotate(r, keyword, value, NULL, 0)) < 0) {
                return x;
        }
        return 0;
}

/* -- the loop -- */

/* ((_ f 1) …), ((as f S) …): behind the second parenthesis. */
static int open_compound(struct reader *r, size_t begin)
{
        const struct term *literal = NULL;
        struct term_frame *f = push_frame(r, FRAME_APPLY, begin);
        size_t inner = r->token.begin;
        int x = f ? reader_expect(r, TOKEN_SYMBOL, "_ or as") : -ENOMEM;

        if (x < 0)
                return x;
        if (!r->token.is_quoted && token_is(&r->token, "_"))
                x = indexed_identifier(r, inner, &f->head, &literal);
        else if (!r->token.is_quoted && token_is(&r->token, "as"))
                x = qualified_identifier(r, &f->head);
        else
                return -EOPNOTSUPP; /* a term applied: higher order */
        if (x == 0 && literal)
                return reader_fail(r, inner, "a literal takes no arguments");
        return x;
}

/* (_ f 1), (as f S): a whole term. */
static int whole_identifier(struct reader *r, size_t begin)
{
        const struct term *t = NULL;
        struct head head;
        int x = token_is(&r->token, "_") ? indexed_identifier(r, begin, &head, &t) : qualified_identifier(r, &head);

        if (x == 0 && !t && (x = build(r, &head, NULL, 0, &t)) == -EINVAL)
                x = reader_fail_bank(r, begin);
        if (x < 0)
                return x;
        return deliver(r, t, UINT32_MAX);
}

static int open_reserved(struct reader *r, size_t begin)
{
        if (token_is(&r->token, "let")) {
                if (!push_frame(r, FRAME_LET, begin))
                        return -ENOMEM;
                return reader_expect(r, TOKEN_OPEN, "the bindings of let, ((x term) …)");
        }
        if (token_is(&r->token, "forall") || token_is(&r->token, "exists"))
                return begin_quantifier(r, token_is(&r->token, "forall") ? TERM_FORALL : TERM_EXISTS, begin);
        if (token_is(&r->token, "!"))
                return push_frame(r, FRAME_ANNOTATION, begin) ? 0 : -ENOMEM;
        if (token_is(&r->token, "_") || token_is(&r->token, "as"))
                return whole_identifier(r, begin);
        return -EOPNOTSUPP; /* match, par */
}

static int open_parenthesis(struct reader *r)
{
        size_t begin = r->token.begin;
        const struct symbol *s;
        struct term_frame *f;
        int x;

        if ((x = reader_next(r)) < 0)
                return x;
        if (r->token.kind == TOKEN_OPEN)
                return open_compound(r, begin);
        if (r->token.kind != TOKEN_SYMBOL)
                return reader_fail(r, r->token.begin, "a term begins with the name of a function or operator");
        if (!r->token.is_quoted && is_reserved(r->token.text))
                return open_reserved(r, begin);
        if (!(s = symbol_of(r->bank, r->token.text)))
                return -ENOMEM;
        if (!binding_of(s) && token_is(&r->token, "lambda"))
                return begin_quantifier(r, TERM_LAMBDA, begin);
        f = push_frame(r, FRAME_APPLY, begin);
        return f ? symbol_head(r, r->token.begin, s, &f->head) : -ENOMEM;
}

static int close_apply(struct reader *r, const struct term_frame *f, const struct term **ret, uint32_t *ret_level)
{
        size_t n = r->n_values - f->values;
        int x;

        if (n == 0)
                return reader_fail(r, r->token.begin, "a parenthesis around a constant: write it without, or give it arguments");
        *ret_level = least_level(r, f->values);
        x = build(r, &f->head, r->values + f->values, n, ret);
        return x == -EINVAL ? reader_fail_bank(r, f->begin) : x;
}

static int close_parenthesis(struct reader *r)
{
        struct term_frame *f;
        const struct term *t = NULL;
        uint32_t level = UINT32_MAX;
        int x = 0;

        if (r->n_frames == 0)
                return reader_fail(r, r->token.begin, "a term is expected here");
        f = &r->frames[r->n_frames - 1];
        switch (f->kind) {
        case FRAME_APPLY:
                x = close_apply(r, f, &t, &level);
                break;
        case FRAME_QUANTIFIER:
                x = end_quantifier(r, f, &t, &level);
                break;
        case FRAME_LET_BODY:
        case FRAME_ANNOTATION:
                if (r->n_values == f->values)
                        return reader_fail(r, r->token.begin, "a term is expected here");
                t = r->values[f->values];
                level = r->value_levels[f->values];
                break;
        case FRAME_PATTERN:
                r->n_frames--;
                x = annotate(r, f->keyword, SLICE(NULL, 0), r->values + f->values, r->n_values - f->values);
                r->n_values = f->values;
                return x;
        case FRAME_LET:
                return reader_fail(r, r->token.begin, "a term is expected here");
        }
        if (x < 0)
                return x;
        reader_unbind(r, f->trail);
        r->n_values = f->values;
        r->n_frames--;
        return deliver(r, t, level);
}

/* The token at hand, within what is open. */
static int step(struct reader *r)
{
        const struct term_frame *f = r->n_frames > 0 ? &r->frames[r->n_frames - 1] : NULL;
        int x;

        if (f && f->kind == FRAME_LET && (r->n_lets == f->lets || r->lets[r->n_lets - 1].term))
                return continue_let(r);
        if (f && f->kind == FRAME_ANNOTATION && r->n_values > f->values) {
                x = continue_annotation(r);
                return x == 1 ? close_parenthesis(r) : x;
        }
        if (r->token.kind == TOKEN_OPEN)
                return open_parenthesis(r);
        if (r->token.kind == TOKEN_CLOSE)
                return close_parenthesis(r);
        if (r->token.kind == TOKEN_END)
                return reader_fail(r, f ? f->begin : r->token.begin, "the input ends within this term; %zu parentheses are open",
                                   r->n_frames);
        return atom(r);
}

int read_term(struct reader *r, const struct term **ret)
{
        size_t values = r->n_values;
        int x = step(r);

        assert(r->n_frames <= 1 || x < 0);
        while (x == 0 && r->n_frames > 0) {
                if ((x = reader_next(r)) == 0)
                        x = step(r);
        }
        if (x < 0)
                return x;
        *ret = r->values[values];
        r->n_values = values;
        return 0;
}
