/* Reading a script: commands, declarations and their scopes. */
#include "core/smtlib/logic.h"
#include "core/smtlib/read_internal.h"

/* -- errors -- */

void reader_fail(struct reader *r, size_t offset, const char *format, ...)
{
        struct text_position place = text_position_of(r->bytes, offset);
        char sentence[512];

        format_rest(sentence, format);
        if (r->options->name)
                errorf(-EINVAL, "%s:%zu:%zu: %s", r->options->name, place.line, place.column, sentence);
        else
                errorf(-EINVAL, "line %zu, column %zu: %s", place.line, place.column, sentence);
        longjmp(r->failed, 1);
}

void reader_fail_bank(struct reader *r, size_t offset)
{
        reader_fail(r, offset, "%s", error_message(-EINVAL));
}

/* -- tokens -- */

bool reader_peeks(struct reader *r, enum token_kind kind, const char *word)
{
        struct tokenizer before = r->t;
        struct token token = r->token;
        bool ret;

        reader_next(r);
        ret = r->token.kind == kind && (!word || reader_at_word(r, word));
        r->t = before;
        r->token = token;
        return ret;
}

void reader_expect(struct reader *r, enum token_kind kind, const char *what)
{
        reader_next(r);
        if (r->token.kind != kind)
                reader_fail(r, r->token.begin, r->token.kind == TOKEN_END ? "the input ends where %s is expected" : "%s is expected here", what);
}

const struct symbol *reader_symbol(struct reader *r, const char *what)
{
        reader_expect(r, TOKEN_SYMBOL, what);
        return symbol_of(r->bank, r->token.text);
}

bool numeral_value(struct slice digits, uint32_t *ret)
{
        struct slice d = digits_trimmed(digits);
        uint64_t value = 0;

        for (size_t i = 0; i < d.size && d.size <= 10; i++)
                value = value * 10 + (uint64_t)(((const char *)d.data)[i] - '0');
        *ret = (uint32_t)value;
        return d.size <= 10 && value < UINT32_MAX;
}

uint32_t reader_number(struct reader *r, const char *problem)
{
        uint32_t value;

        if (!numeral_value(r->token.text, &value))
                reader_fail(r, r->token.begin, "%s", problem);
        return value;
}

struct slice read_text(struct reader *r)
{
        size_t begin = r->token.begin;

        if (r->token.kind == TOKEN_CLOSE || r->token.kind == TOKEN_END)
                reader_fail(r, begin, "a value is expected here");
        if (r->token.kind == TOKEN_OPEN && token_skip(&r->t, 1) > 0)
                reader_fail(r, begin, "the input ends within this");
        r->token.end = (size_t)(r->t.p - r->t.base);
        return SLICE(r->t.base + begin, r->token.end - begin);
}

/* -- bindings -- */

static void remember(struct reader *r, const struct symbol *symbol, void *binding, bool is_sort)
{
        struct symbol *s = (struct symbol *)symbol;
        void **place = is_sort ? &s->sort_binding : &s->binding;

        grow(r->trail, r->n_trail, r->trail_size);
        r->trail[r->n_trail++] = (struct trail_entry){s, *place, is_sort};
        *place = binding;
}

void reader_bind(struct reader *r, const struct symbol *s, struct binding b)
{
        struct binding *kept = arena_take(&r->arena, sizeof(*kept));

        *kept = b;
        remember(r, s, kept, false);
}

void reader_bind_function(struct reader *r, const struct symbol *s, const struct function *f)
{
        ((struct symbol *)s)->is_declared = true;
        reader_bind(r, s, (struct binding){.kind = BINDING_FUNCTION, .level = UINT32_MAX, .function = f});
}

void reader_bind_sort(struct reader *r, const struct symbol *s, struct sort_binding b)
{
        struct sort_binding *kept = arena_take(&r->arena, sizeof(*kept));

        *kept = b;
        remember(r, s, kept, true);
}

void reader_miss(struct reader *r, size_t at, const struct symbol *s)
{
        const struct symbol *before = r->options->original_bank ? symbol_find(r->options->original_bank, s->name) : NULL;

        ((struct symbol *)s)->is_missed = true;
        if (before && before->is_declared && !before->is_missed)
                reader_fail(r, at, "unknown symbol %s: it is not declared any more", (const char *)s->name.data);
}

void reader_declare_sort(struct reader *r, const struct symbol *s, size_t arity)
{
        ((struct symbol *)s)->is_declared = true;
        reader_bind_sort(r, s, (struct sort_binding){.sort = arity == 0 ? sort_named(r->bank, s, NULL, 0) : NULL, .arity = arity});
}

void reader_unbind(struct reader *r, size_t trail)
{
        while (r->n_trail > trail) {
                struct trail_entry *e = &r->trail[--r->n_trail];

                *(e->is_sort ? &e->symbol->sort_binding : &e->symbol->binding) = e->binding;
        }
}

void reader_rebind(struct reader *r, size_t from, size_t to)
{
        while (to-- > from) {
                struct trail_entry e = r->trail[to];

                remember(r, e.symbol, e.binding, e.is_sort);
        }
}

/* -- commands -- */

/* Skips to the parenthesis that closes a command. */
static void skip_command(struct reader *r, size_t begin, struct command *)
{
        if (token_skip(&r->t, 1) > 0)
                reader_fail(r, begin, "the input ends within this command");
        r->token.end = (size_t)(r->t.p - r->t.base);
}

/* The names in a command that is kept as text, up to the end of its last token. Its own variables are not told from others. */
static void read_names(struct reader *r, size_t begin)
{
        const struct sort *unknown = sort_simple(r->bank, SORT_UNKNOWN);
        struct tokenizer t = r->t;
        struct token token;
        bool is_given = false; /* by :named */

        t.p = r->t.base + begin;
        t.end = r->t.base + r->token.end;
        while (token_next(&t, &token) != TOKEN_END) {
                const struct symbol *s = token.kind == TOKEN_SYMBOL ? symbol_of(r->bank, token.text) : NULL;

                if (s && is_given)
                        reader_bind_function(r, s, function_of(r->bank, FUNCTION_NAMED, s, NULL, 0, unknown));
                else if (s && !s->binding && !s->sort_binding)
                        reader_miss(r, token.begin, s);
                is_given = token.kind == TOKEN_KEYWORD && token_is(&token, ":named");
        }
}

static void read_end(struct reader *r)
{
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes the command");
}

/* Moves the values from `from` on into the bank. */
static void keep_values(struct reader *r, size_t from, struct command *c)
{
        const struct term **kept;

        c->n_terms = r->n_values - from;
        c->terms = kept = arena_take(&r->bank->arena, (c->n_terms + 1) * sizeof(*kept));
        if (c->n_terms > 0)
                memcpy(kept, r->values + from, c->n_terms * sizeof(*kept));
        r->n_values = from;
}

static void read_set_logic(struct reader *r, size_t begin, struct command *c)
{
        c->symbol = reader_symbol(r, "a symbol");
        if (!r->script->logic)
                r->script->logic = c->symbol;
        r->numerals_are_real = logic_of(c->symbol->name.data).no_int;
        read_end(r);
}

static void read_set_info(struct reader *r, size_t begin, struct command *c)
{
        enum dialect d;

        reader_expect(r, TOKEN_KEYWORD, "a keyword such as :status");
        c->symbol = symbol_of(r->bank, r->token.text);
        if (c->kind == COMMAND_SET_INFO && token_is(&r->token, ":smt-lib-version") && !r->options->is_dialect_fixed) {
                reader_next(r);
                if (r->token.kind == TOKEN_CLOSE)
                        reader_fail(r, r->token.begin, "a version such as 2.6 is expected here");
                if (r->token.kind == TOKEN_DECIMAL && dialect_parse(r->token.text, &d) == 0)
                        r->script->dialect = r->t.dialect = d;
        }
        if (c->kind == COMMAND_SET_OPTION && token_is(&r->token, ":global-declarations"))
                r->is_global = reader_peeks(r, TOKEN_SYMBOL, "true");
        skip_command(r, begin, c);
}

static void read_declare_sort(struct reader *r, size_t begin, struct command *c)
{
        uint32_t arity = 0;

        c->symbol = reader_symbol(r, "a symbol");
        reader_next(r);
        if (r->token.kind == TOKEN_NUMERAL) { /* Z3 reads a missing one as 0 */
                arity = reader_number(r, "no sort takes as many arguments");
                reader_next(r);
        }
        if (r->token.kind != TOKEN_CLOSE)
                reader_fail(r, r->token.begin, "a sort is declared (declare-sort Name arity)");
        reader_declare_sort(r, c->symbol, arity);
}

static void read_define_sort(struct reader *r, size_t begin, struct command *c)
{
        struct sort_binding b = {0};
        size_t trail = r->n_trail;

        c->symbol = reader_symbol(r, "a symbol");
        reader_expect(r, TOKEN_OPEN, "the parameters of the sort, (T …) or ()");
        read_parameters(r);
        b.arity = r->n_sorts;
        b.sort = read_next_sort(r);
        read_end(r);
        reader_unbind(r, trail);
        if (b.arity > 0) {
                b.parameters = arena_take(&r->arena, b.arity * sizeof(*b.parameters));
                memcpy(b.parameters, r->sorts, b.arity * sizeof(*b.parameters));
        }
        reader_bind_sort(r, c->symbol, b);
}

static void read_declare_fun(struct reader *r, size_t begin, struct command *c)
{
        const struct sort *sort;

        c->symbol = reader_symbol(r, "a symbol");
        if (c->kind == COMMAND_DECLARE_FUN) {
                reader_expect(r, TOKEN_OPEN, "the sorts of the arguments, (Sort …) or ()");
                while (reader_more(r))
                        reader_push_sort(r, read_sort(r));
        }
        sort = read_next_sort(r);
        read_end(r);
        c->function = function_of(r->bank, FUNCTION_DECLARED, c->symbol, r->sorts, r->n_sorts, sort);
        reader_bind_function(r, c->symbol, c->function);
}

/* The function of a definition; its variables are the values from `from` on, and its result is read next. */
static const struct function *read_defined(struct reader *r, const struct symbol *s, size_t from)
{
        size_t args = r->n_sorts, n = r->n_values - from;
        const struct sort *result;

        for (size_t i = from; i < r->n_values; i++)
                reader_push_sort(r, r->values[i]->sort);
        result = read_next_sort(r);
        r->n_sorts = args;
        return function_of(r->bank, FUNCTION_DEFINED, s, r->sorts + args, n, result);
}

/* Reads (define-fun f ((x S) …) S body), or define-const without the parameters. */
static void read_definition(struct reader *r, size_t begin, struct command *c)
{
        size_t trail = r->n_trail, values = r->n_values, at;
        bool has_parameters = !token_is(&r->token, "define-const");

        c->symbol = reader_symbol(r, "a symbol");
        if (has_parameters) {
                reader_expect(r, TOKEN_OPEN, "the parameters, ((x Sort) …) or ()");
                read_variables(r);
        }
        c->function = read_defined(r, c->symbol, values);
        keep_values(r, values, c);
        if (c->kind == COMMAND_DEFINE_FUN_REC)
                reader_bind_function(r, c->symbol, c->function);
        r->level++;
        reader_next(r);
        at = r->token.begin;
        c->term = read_term(r);
        r->level--;
        if (!sort_takes(c->function->result, c->term->sort))
                reader_fail(r, at, "the body of %s is not of the declared sort", (const char *)c->symbol->name.data);
        read_end(r);
        reader_unbind(r, trail);
        reader_bind_function(r, c->symbol, c->function);
}

/* Reads ((f ((x S)) S) …) (body …): declares the functions, keeps the command as text. */
static void read_define_funs_rec(struct reader *r, size_t begin, struct command *c)
{
        reader_expect(r, TOKEN_OPEN, "the functions, ((f ((x Sort) …) Sort) …)");
        while (reader_more(r)) {
                size_t values = r->n_values, trail = r->n_trail;
                const struct function *f;
                const struct symbol *s;

                if (r->token.kind != TOKEN_OPEN)
                        reader_fail(r, r->token.begin, "a function, (f ((x Sort) …) Sort), is expected here");
                s = reader_symbol(r, "a symbol");
                reader_expect(r, TOKEN_OPEN, "the parameters, ((x Sort) …)");
                read_variables(r);
                f = read_defined(r, s, values);
                read_end(r);
                reader_unbind(r, trail);
                r->n_values = values;
                reader_bind_function(r, s, f);
        }
        skip_command(r, begin, c);
        read_names(r, begin);
}

static void read_assert(struct reader *r, size_t begin, struct command *c)
{
        size_t at;

        reader_next(r);
        at = r->token.begin;
        c->term = read_term(r);
        if (c->term->sort->kind != SORT_BOOL && c->term->sort->kind != SORT_UNKNOWN)
                reader_fail(r, at, "an assertion must be of sort Bool");
        read_end(r);
}

/* (check-sat-assuming (a …)), (get-value (t …)) */
static void read_terms(struct reader *r, size_t begin, struct command *c)
{
        size_t values = r->n_values;

        reader_expect(r, TOKEN_OPEN, "a list of terms, (t …)");
        while (reader_more(r)) {
                const struct term *t = read_term(r);

                r->values[r->n_values++] = t; /* read_term() took it from there: there is room */
        }
        keep_values(r, values, c);
        read_end(r);
}

/* Ends the last `levels` levels, whether one push opened them or several. */
static void pop(struct reader *r, size_t begin, uint32_t levels)
{
        if (levels > r->n_levels)
                reader_fail(r, begin, "pop of %u level%s, and %zu pushed", levels, levels == 1 ? "" : "s", r->n_levels);
        r->n_levels -= levels;
        while (levels > 0) {
                struct push *last = &r->pushes[r->n_pushes - 1];
                uint32_t n = MIN(levels, last->levels);

                if (n > 0 && !r->is_global)
                        reader_unbind(r, last->trail);
                levels -= n;
                last->levels -= n;
                r->n_pushes -= last->levels == 0;
        }
}

static void read_levels(struct reader *r, size_t begin, struct command *c)
{
        reader_next(r);
        c->levels = 1;
        if (r->token.kind == TOKEN_NUMERAL) {
                c->levels = reader_number(r, "no script has as many levels");
                reader_next(r);
        }
        if (r->token.kind != TOKEN_CLOSE)
                reader_fail(r, r->token.begin, "a number of levels, or nothing, is expected here");
        if (c->kind == COMMAND_POP) {
                pop(r, begin, c->levels);
                return;
        }
        list_add(r->pushes, r->n_pushes, (struct push){r->n_trail, c->levels});
        r->n_levels += c->levels;
}

static void read_reset(struct reader *r, size_t begin, struct command *c)
{
        read_end(r);
        r->n_levels = r->n_pushes = 0;
        if (c->kind == COMMAND_RESET) { /* after reset-assertions some solvers keep the declarations, and some do not */
                reader_unbind(r, 0);
                r->numerals_are_real = r->is_global = false;
        }
}

static void read_plain(struct reader *r, size_t begin, struct command *c)
{
        read_end(r);
}

struct command_row {
        const char *name;
        enum command_kind kind;
        void (*read)(struct reader *r, size_t begin, struct command *c); /* after the name */
};

static const struct command_row *command_row(struct slice name)
{
        static const struct command_row rows[] = {
                {"assert", COMMAND_ASSERT, read_assert},
                {"declare-fun", COMMAND_DECLARE_FUN, read_declare_fun},
                {"declare-const", COMMAND_DECLARE_CONST, read_declare_fun},
                {"define-fun", COMMAND_DEFINE_FUN, read_definition},
                {"check-sat", COMMAND_CHECK_SAT, read_plain},
                {"set-info", COMMAND_SET_INFO, read_set_info},
                {"set-option", COMMAND_SET_OPTION, read_set_info},
                {"set-logic", COMMAND_SET_LOGIC, read_set_logic},
                {"push", COMMAND_PUSH, read_levels},
                {"pop", COMMAND_POP, read_levels},
                {"check-sat-assuming", COMMAND_CHECK_SAT_ASSUMING, read_terms},
                {"exit", COMMAND_EXIT, read_plain},
                {"declare-sort", COMMAND_DECLARE_SORT, read_declare_sort},
                {"define-sort", COMMAND_DEFINE_SORT, read_define_sort},
                {"define-const", COMMAND_DEFINE_FUN, read_definition},
                {"define-fun-rec", COMMAND_DEFINE_FUN_REC, read_definition},
                {"define-funs-rec", COMMAND_DEFINE_FUNS_REC, read_define_funs_rec},
                {"declare-datatypes", COMMAND_DECLARE_DATATYPES, read_datatypes},
                {"declare-datatype", COMMAND_DECLARE_DATATYPES, read_datatypes},
                {"get-value", COMMAND_GET_VALUE, read_terms},
                {"reset", COMMAND_RESET, read_reset},
                {"reset-assertions", COMMAND_RESET_ASSERTIONS, read_reset},
                {"get-model", COMMAND_GET, skip_command},
                {"get-info", COMMAND_GET, skip_command},
                {"get-option", COMMAND_GET, skip_command},
                {"get-unsat-core", COMMAND_GET, skip_command},
                {"get-unsat-assumptions", COMMAND_GET, skip_command},
                {"get-proof", COMMAND_GET, skip_command},
                {"get-assertions", COMMAND_GET, skip_command},
                {"get-assignment", COMMAND_GET, skip_command},
                {"echo", COMMAND_GET, skip_command},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (text_is(name, rows[i].name))
                        return &rows[i];
        return NULL;
}

enum command_kind command_kind_of(struct slice name)
{
        const struct command_row *row = command_row(name);

        return row ? row->kind : COMMAND_OPAQUE;
}

bool command_name_asks(struct slice name)
{
        static const char family[] = "check-sat"; /* also -assuming, Z3's -using, Yices' -assuming-model */

        return (name.size >= strlen(family) && memcmp(name.data, family, strlen(family)) == 0) || text_is(name, "query") ||
               text_is(name, "get-consequences");
}

bool command_asks(const struct command *c)
{
        struct tokenizer t;
        size_t depth = 1;

        if (c->kind != COMMAND_OPAQUE)
                return c->kind == COMMAND_CHECK_SAT || c->kind == COMMAND_CHECK_SAT_ASSUMING;
        tokenizer_init(&t, c->text, DIALECT_2_6);
        token_word(&t, &depth); /* the parenthesis */
        return command_name_asks(token_word(&t, &depth));
}

/* False if it uses something that is not understood here. */
static bool read_understood(struct reader *r, const struct command_row *row, size_t begin, struct command *c)
{
        if (!row || setjmp(r->not_understood) != 0)
                return false;
        c->kind = row->kind;
        row->read(r, begin, c);
        return true;
}

/* Keeps as text a command that the reader does not understand. Undoes everything that the reader did for it. */
static void read_opaque(struct reader *r, const struct command_row *row, size_t begin, size_t trail, struct command *c)
{
        const struct function *defined = row && row->read == read_definition ? c->function : NULL; /* its body was not understood */

        reader_unbind(r, trail);
        r->n_frames = r->n_values = r->n_lets = r->n_names = r->n_sort_frames = 0;
        r->level = 0;
        if (r->options->is_strict)
                reader_fail(r, begin, "this command uses a feature that is not supported here; without strictness it would be kept as text");
        *c = (struct command){.kind = COMMAND_OPAQUE};
        r->t.p = r->t.base + begin + 1;
        skip_command(r, begin, c);
        r->script->n_opaque_commands++;
        if (defined)
                reader_bind_function(r, defined->symbol, defined);
        r->may_be_undeclared |= !defined && (!row || row->kind != COMMAND_ASSERT);
        read_names(r, begin);
}

static void read_command(struct reader *r)
{
        size_t begin = r->token.begin, trail = r->n_trail;
        const struct command_row *row;
        struct command c = {0};

        term_map_done(&r->undeclared);
        term_map_done(&r->named);
        r->n_sorts = 0;
        if (r->token.kind == TOKEN_CLOSE)
                reader_fail(r, begin, "a closing parenthesis without an open one");
        if (r->token.kind != TOKEN_OPEN)
                reader_fail(r, begin, "a command, which begins with a parenthesis, is expected here");
        reader_expect(r, TOKEN_SYMBOL, "the name of a command");
        row = command_row(r->token.text);
        if (!read_understood(r, row, begin, &c))
                read_opaque(r, row, begin, trail, &c);
        for (size_t i = 0; i < r->n_names; i++)
                reader_bind_function(r, r->names[i]->symbol, r->names[i]);
        r->n_names = 0;
        c.span = (struct span){begin, r->token.end};
        if (command_is_text(c.kind))
                c.text = bank_keep_text(r->bank, SLICE(r->t.base + begin, r->token.end - begin));
        script_add(r->script, &c);
}

static int read_commands(struct reader *r)
{
        if (setjmp(r->failed) != 0)
                return -EINVAL;
        for (reader_next(r); r->token.kind != TOKEN_END; reader_next(r))
                read_command(r);
        return 0;
}

static void reader_done(struct reader *r)
{
        reader_unbind(r, 0);
        arena_done(&r->arena);
        free(r->trail);
        free(r->pushes);
        free(r->frames);
        free(r->values);
        free(r->value_levels);
        free(r->lets);
        free(r->sort_frames);
        free(r->sorts);
        free(r->names);
        term_map_done(&r->undeclared);
        term_map_done(&r->named);
}

/* Bytes of terms for each byte of a large formula, about. This much is requested at once; after that memory is not refused. */
#define MEMORY_FOR_A_BYTE 12

int script_read(struct slice bytes, const struct script_options *options, struct script **ret)
{
        static const struct script_options usual = {.dialect = DIALECT_2_6};
        cleanup_script struct script *s = NULL;
        cleanup(reader_done) struct reader r = {.options = options ? options : &usual, .bytes = bytes};
        int x;

        if (bytes.size > BUFFER_LARGE) {
                void *volatile enough = malloc(bytes.size * MEMORY_FOR_A_BYTE);

                if (!enough)
                        return -ENOMEM;
                free(enough);
        }
        script_new(r.options->bank, r.options->dialect, &s);
        r.script = s;
        r.bank = s->bank;
        tokenizer_init(&r.t, bytes, r.options->dialect);
        x = read_commands(&r);
        if (x == 0)
                *ret = steal_pointer(s);
        return x;
}
