/* Reading terms. One loop with its own stack reads any nesting: a frame for each open parenthesis, and the values read so far. step() takes a token: it
 * opens a frame, closes the innermost one, or is a term of its own. deliver() hands each complete term to the frame around it. */
#include "core/smtlib/read_internal.h"

enum frame_kind {
        FRAME_APPLY,      /* values: its arguments */
        FRAME_LET,        /* reader.lets: its bindings; the last one may wait for its term */
        FRAME_LET_BODY,   /* value: the body */
        FRAME_QUANTIFIER, /* values: the variables, then the body */
        FRAME_ANNOTATION, /* value: the annotated term so far */
        FRAME_PATTERN,    /* values: the terms of a pattern; below it an annotation */
        FRAME_NO_PATTERN  /* the next term is its value; below it an annotation */
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
        const struct sort *sort; /* if known; else NULL */
};

/* As many as the input is deep: small, and never copied. */
struct term_frame {
        enum frame_kind kind : 8;
        enum term_kind quantifier : 8;
        size_t begin;
        size_t values, trail, lets;
        union {
                struct head head;     /* FRAME_APPLY */
                size_t n_bound;       /* FRAME_QUANTIFIER */
        };
};

struct let_binding {
        const struct symbol *symbol;
        const struct term *term; /* NULL: not read yet */
        uint32_t level;
        size_t at; /* offset of its name in the input */
};

/* -- values and frames -- */

static void push_value(struct reader *r, const struct term *t, uint32_t level)
{
        if (r->n_values == r->values_size) {
                size_t size = r->values_size;

                grow_sized(&r->values, &size, sizeof(*r->values));
                grow_sized(&r->value_levels, &r->values_size, sizeof(*r->value_levels));
        }
        r->values[r->n_values] = t;
        r->value_levels[r->n_values++] = level;
}

/* The caller fills the rest of the frame. */
static struct term_frame *push_frame(struct reader *r, enum frame_kind kind, size_t begin)
{
        struct term_frame *f;

        grow(r->frames, r->n_frames, r->frames_size);
        f = &r->frames[r->n_frames++];
        f->kind = kind;
        f->begin = begin;
        f->values = r->n_values;
        f->trail = r->n_trail;
        f->lets = r->n_lets;
        return f;
}

/* The term that the bank made of the text at `at`. NULL: fails with the bank's sentence. */
static const struct term *checked(struct reader *r, size_t at, const struct term *t)
{
        if (!t)
                reader_fail_bank(r, at);
        return t;
}

/* -- undeclared symbols -- */

/* Names of unmodelled theories, without those that contain a point. */
static const char *const unmodelled_names[] = {
        "map", "as-array", "union", "intersection", "setminus", "subset", "member", "insert", "singleton",
        "complement", "card", "emptyset", "univset", "sep", "wand", "pto", "mkTuple", "tuple", "update", "choose",
        "transpose", "tclosure", "join", "product", "@", "witness", "fmf", "pbeq", "pble", "pbge", "at-most",
        "at-least", "is", "bvcomp", "eqrange", "partial-order", "linear-order", "tree-order",
        "piecewise-linear-order", "default", "bvredxor", "bvite", "euler", "pi", "char.<=", "ff", "xnor", "sbv2int",
        "implied",
};

/* True if an unknown symbol may belong to an unmodelled theory: its name contains a point, or is in the list above. */
static bool is_unmodelled(struct slice name)
{
        if (memchr(name.data, '.', name.size) && *(const char *)name.data != '.')
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(unmodelled_names); i++)
                if (text_is(name, unmodelled_names[i]))
                        return true;
        return false;
}

/* A symbol whose name is the other one's as written: |a b|. */
static const struct symbol *as_written(struct reader *r, const struct symbol *s)
{
        cleanup_buffer struct buffer text = {0};

        token_add_symbol(&text, s->name);
        return symbol_of(r->bank, SLICE(text.data, text.size));
}

static struct head opaque_head(struct reader *r, const struct symbol *text)
{
        r->script->n_opaque_terms++;
        return (struct head){.kind = HEAD_OPAQUE, .text = text};
}

/* The head of (f …), or a symbol by itself. */
static struct head symbol_head(struct reader *r, size_t at, const struct symbol *s)
{
        const struct binding *b = binding_of(s);

        if (b && b->kind != BINDING_FUNCTION)
                reader_give_up(r); /* an array used as a function, which some solvers allow */
        if (b)
                return (struct head){.kind = HEAD_FUNCTION, .function = b->function};
        if (r->n_names > 0 && id_map_get(&r->named, s->id) != 0)
                reader_give_up(r); /* its meaning depends on the order, which terms lose: printing and rewriting move them */
        if (s->op != OP_NONE)
                return (struct head){.kind = HEAD_OPERATOR, .op = s->op};
        if (r->options->is_strict || !(r->may_be_undeclared || is_unmodelled(s->name)))
                reader_fail(r, at, "unknown symbol %s: it is neither declared nor an operator that is known here",
                            (const char *)s->name.data);
        reader_miss(r, at, s);
        id_map_set(&r->undeclared, s->id, 1);
        return opaque_head(r, as_written(r, s));
}

/* -- applications -- */

/* re.loop and re.^ of some files from before 2.6: the numbers are arguments. */
static bool has_old_indices(const struct head *h, const struct term *const *args, size_t n, uint32_t index[2], size_t *ret_n)
{
        if (h->n_index > 0 || n < 2 || n > 3 || (h->op != OP_RE_LOOP && !(h->op == OP_RE_POWER && n == 2)))
                return false;
        for (size_t i = 1; i < n; i++) {
                const struct term *t = args[i];

                if (t->kind != TERM_LITERAL || t->sort->kind != SORT_INT || !numeral_value(t->symbol->name, &index[i - 1]))
                        return false;
        }
        *ret_n = n - 1;
        return true;
}

/* Several operators may share a name: takes the first whose number of arguments fits. */
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

static const struct term *build_operator(struct reader *r, const struct head *h, const struct term *const *args, size_t n)
{
        uint32_t index[2] = {h->index[0], h->index[1]};
        size_t n_index = h->n_index;
        const struct term *t;

        if (h->op == OP_ARRAY_CONST && n == 1 && h->sort)
                return term_array_constant(r->bank, h->sort, args[0]);
        if (has_old_indices(h, args, n, index, &n_index))
                n = 1;
        return term_apply(r->bank, op_for(h, n_index, n), index, n_index, args, n, &t) < 0 ? NULL : t;
}

/* Applies the head to the values from `from` on. `at`: the offset of the head. */
static const struct term *build(struct reader *r, size_t at, const struct head *h, size_t from)
{
        const struct term *const *args = r->values + from, *t = NULL;
        size_t n = r->n_values - from;

        switch (h->kind) {
        case HEAD_OPERATOR:
                t = build_operator(r, h, args, n);
                break;
        case HEAD_FUNCTION:
                t = term_call_as(r->bank, h->function, h->sort, args, n);
                break;
        case HEAD_OPAQUE:
                t = term_opaque(r->bank, h->text->name, h->sort ? h->sort : sort_simple(r->bank, SORT_UNKNOWN), h->is_qualified, args, n);
                break;
        }
        return checked(r, at, t);
}

/* -- identifiers: (_ f 1 2), (as f S), also nested -- */

static const struct term *character_literal(struct reader *r)
{
        struct slice text = r->token.text;
        uint32_t code;

        if (r->token.kind != TOKEN_HEXADECIMAL || text.size > 7)
                reader_give_up(r);
        dialect_digits((const char *)text.data + 2, text.size - 2, SIZE_MAX, 16, &code);
        if (code > CHARACTER_MOST)
                reader_fail(r, r->token.begin, "no character has this code; the last is #x2FFFF");
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (_ char");
        return term_string_of(r->bank, &code, 1);
}

/* Reads (_ bvN width); its name is current. */
static const struct term *bitvec_literal(struct reader *r)
{
        struct slice digits = SLICE((const char *)r->token.text.data + 2, r->token.text.size - 2);
        size_t at = r->token.begin;
        const struct term *t;

        reader_expect(r, TOKEN_NUMERAL, "the width of a bit-vector");
        t = checked(r, at, term_bitvec_digits(r->bank, digits, reader_number(r, "no bit-vector is as wide as that")));
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (_ bv");
        return t;
}

static bool is_bitvec_name(struct slice s)
{
        return s.size > 2 && memcmp(s.data, "bv", 2) == 0 && digits_only(SLICE((const char *)s.data + 2, s.size - 2));
}

/* (_ is cons), (_ update head) */
static bool names_part(struct slice name)
{
        return text_is(name, "is") || text_is(name, "update") || text_is(name, "update-field");
}

/* Reads the head or literal after "(_". Returns a literal; NULL: *ret is a head. */
static const struct term *indexed_identifier(struct reader *r, size_t begin, struct head *ret)
{
        const struct symbol *s, *second = NULL;
        bool is_numeric = true;

        reader_expect(r, TOKEN_SYMBOL, "a name behind (_");
        if (is_bitvec_name(r->token.text))
                return bitvec_literal(r);
        s = symbol_of(r->bank, r->token.text);
        *ret = (struct head){.kind = HEAD_OPERATOR, .op = binding_of(s) ? OP_NONE : s->op};
        for (size_t n = 0;; n++) {
                reader_next(r);
                if (n == 0 && text_is(s->name, "char"))
                        return character_literal(r);
                if (r->token.kind == TOKEN_CLOSE)
                        break;
                if (r->token.kind == TOKEN_OPEN || r->token.kind == TOKEN_END)
                        reader_give_up(r);
                if (n == 0 && r->token.kind == TOKEN_SYMBOL)
                        second = symbol_of(r->bank, r->token.text);
                if (n < 2 && r->token.kind == TOKEN_NUMERAL && numeral_value(r->token.text, &ret->index[n]))
                        ret->n_index = (uint8_t)(n + 1);
                else
                        is_numeric = false;
        }
        if (ret->op != OP_NONE && is_numeric)
                return NULL;
        if (second && !binding_of(second)) {
                if (names_part(s->name) && !r->may_be_undeclared)
                        reader_fail(r, begin, "%s is no %s: no datatype has it", (const char *)second->name.data,
                                    text_is(s->name, "is") ? "constructor" : "selector");
                reader_miss(r, begin, second);
        }
        *ret = opaque_head(r, symbol_of(r->bank, SLICE(r->t.base + begin, r->token.end - begin)));
        if (text_is(s->name, "is")) /* a tester of a datatype */
                ret->sort = sort_simple(r->bank, SORT_BOOL);
        return NULL;
}

/* Reads the head after "(as". */
static void qualified_identifier(struct reader *r, struct head *ret)
{
        const struct symbol *s;
        size_t begin;

        reader_next(r);
        begin = r->token.begin;
        if (r->token.kind == TOKEN_OPEN) {
                reader_expect(r, TOKEN_SYMBOL, "_ behind (as (");
                if (!token_is(&r->token, "_") || indexed_identifier(r, begin, ret))
                        reader_give_up(r);
        } else if (r->token.kind == TOKEN_SYMBOL) {
                s = symbol_of(r->bank, r->token.text);
                if (!binding_of(s) && s->op == OP_NONE && !r->options->is_strict) {
                        reader_miss(r, begin, s);
                        *ret = opaque_head(r, as_written(r, s));
                } else {
                        *ret = symbol_head(r, begin, s);
                }
        } else {
                reader_fail(r, begin, "a name is expected after (as");
        }
        ret->sort = read_next_sort(r);
        if (ret->kind == HEAD_OPERATOR && ret->op != OP_ARRAY_CONST)
                ret->sort = NULL; /* the ascription adds nothing */
        ret->is_qualified = ret->sort != NULL;
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (as");
}

/* -- a complete term: the enclosing frame takes it -- */

/* Gives the term of the innermost frame, an annotation, one more attribute. */
static void annotate(struct reader *r, struct slice keyword, struct slice value, const struct term *const *patterns, size_t n)
{
        const struct term **t = &r->values[r->frames[r->n_frames - 1].values];

        *t = term_annotate(r->bank, *t, keyword, value, patterns, n);
}

/* Hands a term to the innermost frame; without a frame it is the whole. `level`: as binding.level. */
static void deliver(struct reader *r, const struct term *t, uint32_t level)
{
        struct term_frame *f = r->n_frames > 0 ? &r->frames[r->n_frames - 1] : NULL;

        if (f && f->kind == FRAME_LET) {
                r->lets[r->n_lets - 1].term = t;
                r->lets[r->n_lets - 1].level = level;
                reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes a binding of this let");
                return;
        }
        if (f && f->kind == FRAME_NO_PATTERN) {
                r->n_frames--;
                annotate(r, slice_string(":no-pattern"), SLICE(NULL, 0), &t, 1);
                return;
        }
        if (f && (f->kind == FRAME_LET_BODY || f->kind == FRAME_ANNOTATION) && r->n_values > f->values)
                reader_fail(r, r->token.begin, "one term is enough here; close the parenthesis");
        if (f && f->kind == FRAME_QUANTIFIER && r->n_values > f->values + f->n_bound)
                reader_fail(r, r->token.begin, "a quantifier has one body; close the parenthesis");
        push_value(r, t, level);
}

static const struct term *string_literal(struct reader *r, struct slice text)
{
        cleanup_buffer struct buffer canonical = {0};

        buffer_adds(&canonical, "");
        dialect_decode_string(r->t.dialect, text, &canonical);
        return term_string_canonical(r->bank, SLICE(canonical.data, canonical.size));
}

static const struct term *bits_literal(struct reader *r, struct slice text, bool is_binary)
{
        uint64_t width = (text.size - 2) * (is_binary ? 1 : 4), value = 0;

        if (width > UINT32_MAX)
                reader_fail(r, r->token.begin, "no bit-vector is as wide as that");
        if (width > 64 || is_binary)
                return term_literal(r->bank, sort_bitvec(r->bank, (uint32_t)width), text);
        for (size_t i = 2; i < text.size; i++) {
                char c = ((const char *)text.data)[i];

                value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        }
        return term_bitvec(r->bank, value, (uint32_t)width);
}

static const struct term *literal(struct reader *r)
{
        struct slice text = r->token.text;

        switch ((int)r->token.kind) {
        case TOKEN_NUMERAL:
                return r->numerals_are_real ? term_real_digits(r->bank, text) : term_int_digits(r->bank, text);
        case TOKEN_DECIMAL:
                return term_real_digits(r->bank, text);
        case TOKEN_STRING:
                return string_literal(r, text);
        case TOKEN_BINARY:
        case TOKEN_HEXADECIMAL:
                return bits_literal(r, text, r->token.kind == TOKEN_BINARY);
        default:
                reader_fail(r, r->token.begin, "a term is expected here");
        }
}

static void atom(struct reader *r)
{
        uint32_t level = UINT32_MAX;
        const struct binding *b;
        const struct symbol *s;
        const struct term *t;
        struct head head;

        if (r->token.kind != TOKEN_SYMBOL) {
                deliver(r, literal(r), level);
                return;
        }
        s = symbol_of(r->bank, r->token.text);
        b = binding_of(s);
        if (b && b->kind != BINDING_FUNCTION) {
                t = b->term;
                level = b->level;
        } else if (b && (t = known_constant(b->function))) {
                /* the usual case */
        } else if (!b && !r->token.is_quoted && s->is_reserved) {
                reader_fail(r, r->token.begin, "%s is a reserved word, and begins no term without a parenthesis", (const char *)s->name.data);
        } else {
                head = symbol_head(r, r->token.begin, s);
                if (head.kind == HEAD_FUNCTION && head.function->n_args > 0)
                        reader_give_up(r); /* a function as an argument: higher order */
                t = build(r, r->token.begin, &head, r->n_values);
        }
        deliver(r, t, level);
}

/* -- let -- */

/* After "(let (", or after a binding: the next binding, or the body. */
static void continue_let(struct reader *r)
{
        struct term_frame *f = &r->frames[r->n_frames - 1];
        const struct symbol *s;

        if (r->token.kind == TOKEN_OPEN) {
                s = reader_symbol(r, "the name of a let's variable");
                grow(r->lets, r->n_lets, r->lets_size);
                r->lets[r->n_lets++] = (struct let_binding){.symbol = s, .at = r->token.begin};
                return;
        }
        if (r->token.kind != TOKEN_CLOSE)
                reader_fail(r, r->token.begin, "a let's bindings are written ((x term) …)");
        f->trail = r->n_trail;
        for (size_t i = f->lets; i < r->n_lets; i++) {
                const struct let_binding *l = &r->lets[i];
                const struct binding *b = binding_of(l->symbol);

                if (b && b->kind == BINDING_LET && b->trail >= f->trail)
                        reader_fail(r, l->at, "this let binds %s twice", (const char *)l->symbol->name.data);
                reader_bind(r, l->symbol, (struct binding){.kind = BINDING_LET, .level = l->level, .term = l->term, .trail = r->n_trail});
        }
        r->n_lets = f->lets;
        f->kind = FRAME_LET_BODY;
}

/* -- quantifiers -- */

/* True if the symbol has a meaning here, or had one in a term that a let may insert here. */
static bool is_taken(const struct reader *r, const struct symbol *s)
{
        return binding_of(s) || s->op != OP_NONE || (r->undeclared.n > 0 && id_map_get(&r->undeclared, s->id) != 0);
}

/* The first of the symbol, x!1, x!2, … that is not taken. */
static const struct symbol *free_name(struct reader *r, const struct symbol *s)
{
        const struct symbol *as = s;

        /* in leaps first: a file that declares x!1, x!2, … would make each x walk over all of them */
        for (uint64_t i = 0; is_taken(r, as); i++) {
                uint64_t n = r->level + (i < 40 ? UINT64_C(1) << i : i);
                cleanup_buffer struct buffer name = {0};

                buffer_add(&name, s->name.data, s->name.size);
                buffer_addf(&name, "!%llu", (unsigned long long)n);
                as = symbol_of(r->bank, SLICE(name.data, name.size));
        }
        return as;
}

/* A variable whose name already has a meaning is renamed, so that a name means one thing in the whole term. A let's name counts, too: a variable of
 * the same name may follow the let, and another value of the let may refer to it. */
static void add_variable(struct reader *r, const struct symbol *s, const struct sort *sort)
{
        const struct symbol *as = free_name(r, s);
        struct binding b = {.kind = BINDING_VARIABLE, .level = r->level, .term = term_variable(r->bank, as, sort)};

        if (as != s) /* its new name is taken, too */
                reader_bind(r, as, b);
        reader_bind(r, s, b);
        push_value(r, b.term, r->level);
}

size_t read_variables(struct reader *r)
{
        const struct symbol *s;
        size_t n = 0;

        for (; reader_more(r); n++) {
                if (r->token.kind != TOKEN_OPEN)
                        reader_fail(r, r->token.begin, "variables are written ((x Sort) …)");
                s = reader_symbol(r, "the name of a variable");
                add_variable(r, s, read_next_sort(r));
                reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the variable's sort");
        }
        return n;
}

static void begin_quantifier(struct reader *r, enum term_kind kind, size_t begin)
{
        struct term_frame *f = push_frame(r, FRAME_QUANTIFIER, begin);

        f->quantifier = kind;
        reader_expect(r, TOKEN_OPEN, "the list of variables, ((x Sort) …)");
        f->n_bound = read_variables(r);
        if (f->n_bound == 0)
                reader_fail(r, begin, "this quantifier has no variables");
        r->level++;
}

static const struct term *end_quantifier(struct reader *r, const struct term_frame *f, uint32_t *ret_level)
{
        struct term_head h = {.kind = f->quantifier, .n_bound = (uint32_t)f->n_bound};
        const struct term *body;
        uint32_t level;

        if (r->n_values != f->values + f->n_bound + 1)
                reader_fail(r, r->token.begin, "this quantifier has no body");
        body = r->values[r->n_values - 1];
        level = r->value_levels[r->n_values - 1];
        if (f->quantifier != TERM_LAMBDA && body->sort->kind != SORT_BOOL && body->sort->kind != SORT_UNKNOWN)
                reader_fail(r, f->begin, "the body of a quantifier is of sort Bool");
        r->level--; /* now the level of these variables: a smaller one is of a binder around */
        *ret_level = level < r->level ? level : UINT32_MAX;
        h.is_open = level < r->level;
        h.sort = quantifier_sort(r->bank, f->quantifier, r->values + f->values, f->n_bound, body);
        if (!h.sort)
                reader_fail_bank(r, f->begin);
        return term_intern(r->bank, &h, r->values + f->values, f->n_bound + 1);
}

/* -- annotations -- */

static void name_term(struct reader *r, const struct term *t)
{
        const struct symbol *s = symbol_of(r->bank, r->token.text);

        list_add(r->names, r->n_names, function_of(r->bank, FUNCTION_NAMED, s, NULL, 0, t->sort));
        id_map_set(&r->named, s->id, 1);
        annotate(r, slice_string(":named"), as_written(r, s)->name, NULL, 0);
}

/* After an attribute, or the annotated term: the next attribute. False if a parenthesis closed it, or a term begins. */
static bool continue_annotation(struct reader *r)
{
        struct tokenizer before = r->t;
        struct token token = r->token;

        if (token.kind == TOKEN_CLOSE)
                return false;
        if (token.kind != TOKEN_KEYWORD)
                reader_fail(r, token.begin, "an attribute (:keyword value) or a closing parenthesis is expected here");
        reader_next(r);
        if (r->token.kind == TOKEN_OPEN && token_is(&token, ":pattern")) {
                push_frame(r, FRAME_PATTERN, token.begin);
        } else if ((r->token.kind == TOKEN_OPEN || r->token.kind == TOKEN_SYMBOL) && token_is(&token, ":no-pattern")) {
                push_frame(r, FRAME_NO_PATTERN, token.begin);
                return false;
        } else if (token_is(&token, ":named") && r->token.kind == TOKEN_SYMBOL) {
                name_term(r, r->values[r->frames[r->n_frames - 1].values]);
        } else if (r->token.kind == TOKEN_CLOSE || r->token.kind == TOKEN_KEYWORD) {
                r->t = before; /* no value */
                r->token = token;
                annotate(r, token.text, SLICE(NULL, 0), NULL, 0);
        } else {
                annotate(r, token.text, read_text(r), NULL, 0);
        }
        return true;
}

/* -- the loop -- */

/* ((_ f 1) …), ((as f S) …): after the second parenthesis. */
static void open_compound(struct reader *r, size_t begin)
{
        struct term_frame *f = push_frame(r, FRAME_APPLY, begin);
        size_t inner = r->token.begin;

        reader_expect(r, TOKEN_SYMBOL, "_ or as");
        if (reader_at_word(r, "as"))
                qualified_identifier(r, &f->head);
        else if (!reader_at_word(r, "_"))
                reader_give_up(r); /* a term used as a function: higher order */
        else if (indexed_identifier(r, inner, &f->head))
                reader_fail(r, inner, "a literal takes no arguments");
}

/* (_ f 1), (as f S): a complete term. */
static void whole_identifier(struct reader *r, size_t begin)
{
        const struct term *t = NULL;
        struct head head;

        if (token_is(&r->token, "_"))
                t = indexed_identifier(r, begin, &head);
        else
                qualified_identifier(r, &head);
        deliver(r, t ? t : build(r, begin, &head, r->n_values), UINT32_MAX);
}

static void open_reserved(struct reader *r, size_t begin)
{
        if (token_is(&r->token, "let")) {
                push_frame(r, FRAME_LET, begin);
                reader_expect(r, TOKEN_OPEN, "the bindings of let, ((x term) …)");
        } else if (token_is(&r->token, "forall") || token_is(&r->token, "exists")) {
                begin_quantifier(r, token_is(&r->token, "forall") ? TERM_FORALL : TERM_EXISTS, begin);
        } else if (token_is(&r->token, "!")) {
                push_frame(r, FRAME_ANNOTATION, begin);
        } else if (token_is(&r->token, "_") || token_is(&r->token, "as")) {
                whole_identifier(r, begin);
        } else {
                reader_give_up(r); /* match, par */
        }
}

static void open_parenthesis(struct reader *r)
{
        size_t begin = r->token.begin;
        const struct symbol *s;
        struct term_frame *f;

        reader_next(r);
        if (r->token.kind == TOKEN_OPEN) {
                open_compound(r, begin);
                return;
        }
        if (r->token.kind != TOKEN_SYMBOL)
                reader_fail(r, r->token.begin, "a term begins with the name of a function or operator");
        s = symbol_of(r->bank, r->token.text);
        if (!r->token.is_quoted && s->is_reserved) {
                open_reserved(r, begin);
                return;
        }
        if (!binding_of(s) && token_is(&r->token, "lambda")) {
                begin_quantifier(r, TERM_LAMBDA, begin);
                return;
        }
        f = push_frame(r, FRAME_APPLY, begin);
        f->head = symbol_head(r, r->token.begin, s);
}

static void close_parenthesis(struct reader *r)
{
        struct term_frame *f = r->n_frames > 0 ? &r->frames[r->n_frames - 1] : NULL;
        const struct term *t = NULL;
        uint32_t level = UINT32_MAX;

        if (!f || f->kind == FRAME_LET || ((f->kind == FRAME_LET_BODY || f->kind == FRAME_ANNOTATION) && r->n_values == f->values))
                reader_fail(r, r->token.begin, "a term is expected here");
        if (f->kind == FRAME_PATTERN) {
                r->n_frames--;
                annotate(r, slice_string(":pattern"), SLICE(NULL, 0), r->values + f->values, r->n_values - f->values);
                r->n_values = f->values;
                return;
        }
        if (f->kind == FRAME_QUANTIFIER) {
                t = end_quantifier(r, f, &level);
        } else if (f->kind == FRAME_APPLY) {
                if (r->n_values == f->values)
                        reader_fail(r, r->token.begin, "a parenthesis around a constant: write it without, or give it arguments");
                for (size_t i = f->values; i < r->n_values; i++)
                        level = MIN(level, r->value_levels[i]);
                t = build(r, f->begin, &f->head, f->values);
        } else {
                t = r->values[f->values];
                level = r->value_levels[f->values];
        }
        reader_unbind(r, f->trail);
        r->n_values = f->values;
        r->n_frames--;
        deliver(r, t, level);
}

/* Handles the current token within the open frames. */
static void step(struct reader *r)
{
        const struct term_frame *f = r->n_frames > 0 ? &r->frames[r->n_frames - 1] : NULL;

        if (f && f->kind == FRAME_LET && (r->n_lets == f->lets || r->lets[r->n_lets - 1].term)) /* no binding waits for its term */
                continue_let(r);
        else if (f && f->kind == FRAME_ANNOTATION && r->n_values > f->values && continue_annotation(r))
                return;
        else if (r->token.kind == TOKEN_OPEN)
                open_parenthesis(r);
        else if (r->token.kind == TOKEN_CLOSE)
                close_parenthesis(r);
        else if (r->token.kind == TOKEN_END)
                reader_fail(r, f ? f->begin : r->token.begin, "the input ends within this term; %zu parentheses are open", r->n_frames);
        else
                atom(r);
}

const struct term *read_term(struct reader *r)
{
        for (step(r); r->n_frames > 0; step(r))
                reader_next(r);
        return r->values[--r->n_values];
}
