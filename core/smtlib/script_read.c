/* Reading a script: commands, declarations and their scopes. */
#include "core/smtlib/read_internal.h"

/* -- errors -- */

static int fail_with(struct reader *r, size_t offset, const char *sentence)
{
        struct place place = place_of(r->bytes, offset);

        if (r->options->name)
                return errorf(-EINVAL, "%s:%zu:%zu: %s", r->options->name, place.line, place.column, sentence);
        return errorf(-EINVAL, "line %zu, column %zu: %s", place.line, place.column, sentence);
}

int reader_fail(struct reader *r, size_t offset, const char *format, ...)
{
        char sentence[512];
        va_list args;

        va_start(args, format);
        vsnprintf(sentence, sizeof(sentence), format, args);
        va_end(args);
        return fail_with(r, offset, sentence);
}

int reader_fail_bank(struct reader *r, size_t offset)
{
        char sentence[512];

        if (r->bank->error != -EINVAL)
                return r->bank->error ? r->bank->error : -ENOMEM;
        snprintf(sentence, sizeof(sentence), "%s", error_message(-EINVAL));
        return fail_with(r, offset, sentence);
}

/* -- tokens -- */

int reader_fail_token(struct reader *r)
{
        return reader_fail(r, r->token.begin, "%s", r->t.problem);
}

int reader_expect(struct reader *r, enum token_kind kind, const char *what)
{
        int x = reader_next(r);

        if (x < 0)
                return x;
        if (r->token.kind == kind)
                return 0;
        if (r->token.kind == TOKEN_END)
                return reader_fail(r, r->token.begin, "the input ends where %s is expected", what);
        return reader_fail(r, r->token.begin, "%s is expected here", what);
}

int reader_symbol(struct reader *r, const char *what, const struct symbol **ret)
{
        int x = reader_expect(r, TOKEN_SYMBOL, what);

        if (x < 0)
                return x;
        *ret = symbol_of(r->bank, r->token.text);
        return *ret ? 0 : -ENOMEM;
}

int numeral_value(struct slice digits, uint32_t *ret)
{
        struct slice d = digits_trimmed(digits);
        uint64_t value = 0;

        if (d.size > 10)
                return -ERANGE;
        for (size_t i = 0; i < d.size; i++)
                value = value * 10 + (uint64_t)(((const char *)d.data)[i] - '0');
        if (value >= UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t)value;
        return 0;
}

int read_text(struct reader *r, struct slice *ret)
{
        size_t begin = r->token.begin;

        if (r->token.kind == TOKEN_CLOSE || r->token.kind == TOKEN_END)
                return reader_fail(r, begin, "a value is expected here");
        if (r->token.kind == TOKEN_OPEN && token_skip(&r->t, 1) > 0)
                return reader_fail(r, begin, "the input ends within this");
        r->token.end = (size_t)(r->t.p - r->t.base);
        *ret = SLICE(r->t.base + begin, r->token.end - begin);
        return 0;
}

int reader_grow(void *list, size_t *size, size_t each)
{
        size_t more = *size ? *size * 2 : 64;
        void *grown;

        memcpy(&grown, list, sizeof(grown)); /* a pointer of any type */
        grown = more <= SIZE_MAX / 2 / each ? realloc(grown, more * each) : NULL;
        if (!grown)
                return -ENOMEM;
        memcpy(list, &grown, sizeof(grown));
        *size = more;
        return 0;
}

/* -- bindings -- */

static int remember(struct reader *r, struct symbol *s, void *binding, bool is_sort)
{
        if (!grow(r->trail, r->n_trail, r->trail_size))
                return -ENOMEM;
        r->trail[r->n_trail++] = (struct trail_entry){s, is_sort ? s->sort_binding : s->binding, is_sort};
        if (is_sort)
                s->sort_binding = binding;
        else
                s->binding = binding;
        return 0;
}

int reader_bind(struct reader *r, const struct symbol *s, struct binding b)
{
        struct binding *kept = arena_take(&r->arena, sizeof(*kept));

        if (!kept)
                return -ENOMEM;
        *kept = b;
        return remember(r, (struct symbol *)s, kept, false);
}

int reader_bind_function(struct reader *r, const struct symbol *s, const struct function *f)
{
        return f ? reader_bind(r, s, (struct binding){.kind = BINDING_FUNCTION, .level = UINT32_MAX, .function = f}) : -ENOMEM;
}

int reader_bind_sort(struct reader *r, const struct symbol *s, struct sort_binding b)
{
        struct sort_binding *kept = arena_take(&r->arena, sizeof(*kept));

        if (!kept)
                return -ENOMEM;
        *kept = b;
        return remember(r, (struct symbol *)s, kept, true);
}

void reader_unbind(struct reader *r, size_t trail)
{
        while (r->n_trail > trail) {
                struct trail_entry *e = &r->trail[--r->n_trail];

                if (e->is_sort)
                        e->symbol->sort_binding = e->binding;
                else
                        e->symbol->binding = e->binding;
        }
}

/* -- commands -- */

static int keep_text(struct reader *r, size_t begin, struct command *c)
{
        return bank_keep_text(r->bank, SLICE(r->t.base + begin, r->token.end - begin), &c->text);
}

/* To the parenthesis that closes a command. */
static int skip_command(struct reader *r, size_t begin)
{
        if (token_skip(&r->t, 1) > 0)
                return reader_fail(r, begin, "the input ends within this command");
        r->token.end = (size_t)(r->t.p - r->t.base);
        return 0;
}

static int read_end(struct reader *r)
{
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes the command");
}

/* The values from there on, which are taken. */
static const struct term *const *keep_values(struct reader *r, size_t from)
{
        size_t n = r->n_values - from;
        const struct term **kept = arena_take(&r->bank->arena, (n + 1) * sizeof(*kept));

        if (kept && n > 0)
                memcpy(kept, r->values + from, n * sizeof(*kept));
        r->n_values = from;
        return kept;
}

static bool has_reals_only(struct slice logic)
{
        static const char *const reals[] = {"LRA", "NRA", "RDL"}, *const others[] = {"IRA", "IA", "IDL"};
        bool ret = false;

        for (size_t i = 0; i < ARRAY_SIZE(reals); i++)
                ret |= memmem(logic.data, logic.size, reals[i], 3) != NULL;
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                ret &= memmem(logic.data, logic.size, others[i], strlen(others[i])) == NULL;
        return ret;
}

static int read_set_logic(struct reader *r, size_t begin, struct command *c)
{
        int x = reader_symbol(r, "a symbol", &c->symbol);

        if (x < 0)
                return x;
        if (!r->script->logic)
                r->script->logic = c->symbol;
        r->numerals_are_real = has_reals_only(c->symbol->name);
        if ((x = read_end(r)) < 0)
                return x;
        return keep_text(r, begin, c);
}

static int read_set_info(struct reader *r, size_t begin, struct command *c)
{
        int x = reader_expect(r, TOKEN_KEYWORD, "a keyword such as :status");
        enum dialect d;

        if (x < 0)
                return x;
        if (!(c->symbol = symbol_of(r->bank, r->token.text)))
                return -ENOMEM;
        if (c->kind == COMMAND_SET_INFO && token_is(&r->token, ":smt-lib-version") && !r->options->is_dialect_fixed) {
                if ((x = reader_next(r)) < 0)
                        return x;
                if (r->token.kind == TOKEN_CLOSE)
                        return reader_fail(r, r->token.begin, "a version such as 2.6 is expected here");
                if (r->token.kind == TOKEN_DECIMAL && dialect_parse(r->token.text, &d) == 0)
                        r->script->dialect = r->t.dialect = d;
        }
        if (c->kind == COMMAND_SET_OPTION && token_is(&r->token, ":global-declarations")) {
                struct tokenizer before = r->t;

                if ((x = reader_next(r)) < 0)
                        return x;
                r->is_global = token_is(&r->token, "true");
                r->t = before;
        }
        if ((x = skip_command(r, begin)) < 0)
                return x;
        return keep_text(r, begin, c);
}

static int read_declare_sort(struct reader *r, size_t begin, struct command *c)
{
        uint32_t arity = 0;
        int x = reader_symbol(r, "a symbol", &c->symbol);

        if (x < 0 || (x = reader_next(r)) < 0)
                return x;
        if (r->token.kind == TOKEN_NUMERAL) { /* Z3 takes none for 0 */
                if (numeral_value(r->token.text, &arity) < 0)
                        return reader_fail(r, r->token.begin, "no sort takes as many arguments");
                if ((x = reader_next(r)) < 0)
                        return x;
        }
        if (r->token.kind != TOKEN_CLOSE)
                return reader_fail(r, r->token.begin, "a sort is declared (declare-sort Name arity)");
        x = reader_bind_sort(
                r, c->symbol,
                (struct sort_binding){.sort = arity == 0 ? sort_named(r->bank, c->symbol, NULL, 0) : NULL, .arity = arity});
        return x < 0 ? x : keep_text(r, begin, c);
}

static int read_define_sort(struct reader *r, size_t begin, struct command *c)
{
        cleanup_free const struct sort **parameters = NULL;
        struct sort_binding b = {0};
        size_t trail = r->n_trail;
        int x;

        if ((x = reader_symbol(r, "a symbol", &c->symbol)) < 0 ||
            (x = reader_expect(r, TOKEN_OPEN, "the parameters of the sort, (T …) or ()")) < 0)
                return x;
        if ((x = read_parameters(r, &parameters, &b.arity)) < 0 || (x = read_next_sort(r, &b.sort)) < 0 || (x = read_end(r)) < 0)
                return x;
        reader_unbind(r, trail);
        if (b.arity > 0) {
                b.parameters = arena_take(&r->arena, b.arity * sizeof(*parameters));
                if (!b.parameters)
                        return -ENOMEM;
                memcpy(b.parameters, parameters, b.arity * sizeof(*parameters));
        }
        if ((x = reader_bind_sort(r, c->symbol, b)) < 0)
                return x;
        return keep_text(r, begin, c);
}

static int read_declare_fun(struct reader *r, size_t begin, struct command *c)
{
        cleanup_free const struct sort **args = NULL;
        const struct sort *sort;
        size_t n = 0;
        int x = reader_symbol(r, "a symbol", &c->symbol);

        if (x < 0)
                return x;
        if (c->kind == COMMAND_DECLARE_FUN) {
                if ((x = reader_expect(r, TOKEN_OPEN, "the sorts of the arguments, (Sort …) or ()")) < 0)
                        return x;
                for (; (x = reader_more(r)) > 0; n++) {
                        if (list_grow(args, n) < 0)
                                return -ENOMEM;
                        if ((x = read_sort(r, &args[n])) < 0)
                                return x;
                }
                if (x < 0)
                        return x;
        }
        if ((x = read_next_sort(r, &sort)) < 0 || (x = read_end(r)) < 0)
                return x;
        c->function = function_of(r->bank, FUNCTION_DECLARED, c->symbol, args, n, sort);
        return reader_bind_function(r, c->symbol, c->function);
}

/* Does a body go with the sort that was said? */
static bool fits_result(const struct sort *said, const struct sort *is)
{
        return sort_agrees(said, is) || (said->kind == SORT_REAL && is->kind == SORT_INT);
}

/* (define-fun f ((x S) …) S body), or define-const without the parameters. */
static int read_definition(struct reader *r, size_t begin, struct command *c)
{
        size_t trail = r->n_trail, values = r->n_values, at;
        bool has_parameters = !token_is(&r->token, "define-const");
        const struct sort *result, **args;
        int x = reader_symbol(r, "a symbol", &c->symbol);

        if (x == 0 && has_parameters && (x = reader_expect(r, TOKEN_OPEN, "the parameters, ((x Sort) …) or ()")) == 0)
                x = read_variables(r, r->level, &c->n_terms);
        if (x < 0)
                return x;
        if (!(c->terms = keep_values(r, values)) || !(args = arena_take(&r->arena, (c->n_terms + 1) * sizeof(*args))))
                return -ENOMEM;
        for (size_t i = 0; i < c->n_terms; i++)
                args[i] = c->terms[i]->sort;
        if ((x = read_next_sort(r, &result)) < 0)
                return x;
        c->function = function_of(r->bank, FUNCTION_DEFINED, c->symbol, args, c->n_terms, result);
        if (c->kind == COMMAND_DEFINE_FUN_REC && (x = reader_bind_function(r, c->symbol, c->function)) < 0)
                return x;
        r->level++;
        if ((x = reader_next(r)) < 0)
                return x;
        at = r->token.begin;
        if ((x = read_term(r, &c->term)) < 0)
                return x;
        r->level--;
        if (!fits_result(result, c->term->sort))
                return reader_fail(r, at, "the body of %s is not of the sort that is said", (const char *)c->symbol->name.data);
        if ((x = read_end(r)) < 0)
                return x;
        reader_unbind(r, trail);
        return reader_bind_function(r, c->symbol, c->function);
}

/* ((f ((x S) …) S) …) (body …): the functions become known, the command stays text. */
static int read_define_funs_rec(struct reader *r, size_t begin, struct command *c)
{
        int x = reader_expect(r, TOKEN_OPEN, "the functions, ((f ((x Sort) …) Sort) …)");

        if (x < 0)
                return x;
        while ((x = reader_more(r)) > 0) {
                size_t values = r->n_values, trail = r->n_trail, n;
                const struct sort *result, **args;
                const struct symbol *s;

                if (r->token.kind != TOKEN_OPEN)
                        return reader_fail(r, r->token.begin, "a function, (f ((x Sort) …) Sort), is expected here");
                if ((x = reader_symbol(r, "a symbol", &s)) < 0 ||
                    (x = reader_expect(r, TOKEN_OPEN, "the parameters, ((x Sort) …)")) < 0 ||
                    (x = read_variables(r, r->level, &n)) < 0 || (x = read_next_sort(r, &result)) < 0 || (x = read_end(r)) < 0)
                        return x;
                reader_unbind(r, trail);
                if (!(args = arena_take(&r->arena, (n + 1) * sizeof(*args))))
                        return -ENOMEM;
                for (size_t i = 0; i < n; i++)
                        args[i] = r->values[values + i]->sort;
                r->n_values = values;
                if ((x = reader_bind_function(r, s, function_of(r->bank, FUNCTION_DEFINED, s, args, n, result))) < 0)
                        return x;
        }
        if (x < 0 || (x = skip_command(r, begin)) < 0)
                return x;
        return keep_text(r, begin, c);
}

static int read_assert(struct reader *r, size_t begin, struct command *c)
{
        size_t at;
        int x = reader_next(r);

        if (x < 0)
                return x;
        at = r->token.begin;
        if ((x = read_term(r, &c->term)) < 0)
                return x;
        if (c->term->sort->kind != SORT_BOOL && c->term->sort->kind != SORT_UNKNOWN)
                return reader_fail(r, at, "what is asserted is of sort Bool");
        return read_end(r);
}

/* (check-sat-assuming (a …)), (get-value (t …)) */
static int read_terms(struct reader *r, size_t begin, struct command *c)
{
        size_t values = r->n_values;
        int x = reader_expect(r, TOKEN_OPEN, "a list of terms, (t …)");

        if (x < 0)
                return x;
        for (; (x = reader_more(r)) > 0; c->n_terms++) {
                const struct term *t;

                if ((x = read_term(r, &t)) < 0)
                        return x;
                r->values[r->n_values++] = t; /* it stood there */
        }
        if (x < 0)
                return x;
        c->terms = keep_values(r, values);
        return c->terms ? read_end(r) : -ENOMEM;
}

static int push(struct reader *r, uint32_t levels)
{
        if (list_grow(r->pushes, r->n_pushes) < 0)
                return -ENOMEM;
        r->pushes[r->n_pushes++] = (struct push){r->n_trail, levels};
        r->n_levels += levels;
        return 0;
}

static int pop(struct reader *r, size_t begin, uint32_t levels)
{
        if (levels > r->n_levels)
                return reader_fail(r, begin, "pop of %u level%s, and %zu pushed", levels, levels == 1 ? "" : "s", r->n_levels);
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
        return 0;
}

static int read_levels(struct reader *r, size_t begin, struct command *c)
{
        int x = reader_next(r);

        if (x < 0)
                return x;
        c->levels = 1;
        if (r->token.kind == TOKEN_NUMERAL) {
                if (numeral_value(r->token.text, &c->levels) < 0)
                        return reader_fail(r, r->token.begin, "no script has as many levels");
                if ((x = reader_next(r)) < 0)
                        return x;
        }
        if (r->token.kind != TOKEN_CLOSE)
                return reader_fail(r, r->token.begin, "a number of levels, or nothing, is expected here");
        return c->kind == COMMAND_POP ? pop(r, begin, c->levels) : push(r, c->levels);
}

static int read_reset(struct reader *r, size_t begin, struct command *c)
{
        int x = read_end(r);

        r->n_levels = r->n_pushes = 0;
        if (c->kind == COMMAND_RESET) { /* after reset-assertions some solvers know what was declared, and some do not */
                reader_unbind(r, 0);
                r->numerals_are_real = r->is_global = false;
        }
        return x;
}

static int read_plain(struct reader *r, size_t begin, struct command *c)
{
        return read_end(r);
}

static int read_as_text(struct reader *r, size_t begin, struct command *c)
{
        int x = skip_command(r, begin);

        return x < 0 ? x : keep_text(r, begin, c);
}

static int read_declare_datatypes(struct reader *r, size_t begin, struct command *c)
{
        int x = read_datatypes(r, token_is(&r->token, "declare-datatype"));

        if (x < 0 || (x = read_end(r)) < 0)
                return x;
        return keep_text(r, begin, c);
}

struct command_row {
        const char *name;
        size_t size;
        enum command_kind kind;
        int (*read)(struct reader *r, size_t begin, struct command *c); /* behind the name */
};

#define COMMAND(name) name, sizeof(name) - 1

static const struct command_row *command_row(struct slice name)
{
        static const struct command_row rows[] = {
                {COMMAND("assert"), COMMAND_ASSERT, read_assert},
                {COMMAND("declare-fun"), COMMAND_DECLARE_FUN, read_declare_fun},
                {COMMAND("declare-const"), COMMAND_DECLARE_CONST, read_declare_fun},
                {COMMAND("define-fun"), COMMAND_DEFINE_FUN, read_definition},
                {COMMAND("check-sat"), COMMAND_CHECK_SAT, read_plain},
                {COMMAND("set-info"), COMMAND_SET_INFO, read_set_info},
                {COMMAND("set-option"), COMMAND_SET_OPTION, read_set_info},
                {COMMAND("set-logic"), COMMAND_SET_LOGIC, read_set_logic},
                {COMMAND("push"), COMMAND_PUSH, read_levels},
                {COMMAND("pop"), COMMAND_POP, read_levels},
                {COMMAND("check-sat-assuming"), COMMAND_CHECK_SAT_ASSUMING, read_terms},
                {COMMAND("exit"), COMMAND_EXIT, read_plain},
                {COMMAND("declare-sort"), COMMAND_DECLARE_SORT, read_declare_sort},
                {COMMAND("define-sort"), COMMAND_DEFINE_SORT, read_define_sort},
                {COMMAND("define-const"), COMMAND_DEFINE_FUN, read_definition},
                {COMMAND("define-fun-rec"), COMMAND_DEFINE_FUN_REC, read_definition},
                {COMMAND("define-funs-rec"), COMMAND_DEFINE_FUNS_REC, read_define_funs_rec},
                {COMMAND("declare-datatypes"), COMMAND_DECLARE_DATATYPES, read_declare_datatypes},
                {COMMAND("declare-datatype"), COMMAND_DECLARE_DATATYPES, read_declare_datatypes},
                {COMMAND("get-value"), COMMAND_GET_VALUE, read_terms},
                {COMMAND("reset"), COMMAND_RESET, read_reset},
                {COMMAND("reset-assertions"), COMMAND_RESET_ASSERTIONS, read_reset},
                {COMMAND("get-model"), COMMAND_GET, read_as_text},
                {COMMAND("get-info"), COMMAND_GET, read_as_text},
                {COMMAND("get-option"), COMMAND_GET, read_as_text},
                {COMMAND("get-unsat-core"), COMMAND_GET, read_as_text},
                {COMMAND("get-unsat-assumptions"), COMMAND_GET, read_as_text},
                {COMMAND("get-proof"), COMMAND_GET, read_as_text},
                {COMMAND("get-assertions"), COMMAND_GET, read_as_text},
                {COMMAND("get-assignment"), COMMAND_GET, read_as_text},
                {COMMAND("echo"), COMMAND_GET, read_as_text},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (name.size == rows[i].size && text_is_same(name.data, rows[i].name, name.size))
                        return &rows[i];
        return NULL;
}

enum command_kind command_kind_of(struct slice name)
{
        const struct command_row *row = command_row(name);

        return row ? row->kind : COMMAND_OPAQUE;
}

/* Keeps as text a command that the reader does not understand. Undoes everything the reader did since it began the command. */
static int read_opaque(struct reader *r, size_t begin, size_t trail, uint32_t level, struct command *c)
{
        int x;

        reader_unbind(r, trail);
        r->n_frames = r->n_values = r->n_lets = r->n_names = 0;
        r->level = level;
        if (r->options->is_strict)
                return reader_fail(r, begin,
                                   "this command uses what is not supported here; without strictness it would be kept as text");
        *c = (struct command){.kind = COMMAND_OPAQUE};
        r->t.p = r->t.base + begin + 1;
        if ((x = skip_command(r, begin)) < 0)
                return x;
        r->script->n_opaque_commands++;
        return keep_text(r, begin, c);
}

static int bind_names(struct reader *r)
{
        int x = 0;

        for (size_t i = 0; i < r->n_names && x == 0; i++)
                x = reader_bind_function(r, r->names[i]->symbol, r->names[i]);
        r->n_names = 0;
        return x;
}

static int read_command(struct reader *r)
{
        size_t begin = r->token.begin, trail = r->n_trail;
        struct script *s = r->script;
        const struct command_row *row;
        struct command c = {0};
        int x;

        if (r->undeclared.n > 0)
                term_map_done(&r->undeclared);
        if (r->token.kind == TOKEN_CLOSE)
                return reader_fail(r, begin, "a closing parenthesis, and none is open");
        if (r->token.kind != TOKEN_OPEN)
                return reader_fail(r, begin, "a command, which begins with a parenthesis, is expected here");
        if ((x = reader_expect(r, TOKEN_SYMBOL, "the name of a command")) < 0)
                return x;
        row = command_row(r->token.text);
        if (row) {
                c.kind = row->kind;
                x = row->read(r, begin, &c);
        } else {
                x = -EOPNOTSUPP;
        }
        if (x == -EOPNOTSUPP) {
                x = read_opaque(r, begin, trail, 0, &c);
                r->may_be_undeclared |= c.kind == COMMAND_OPAQUE && (!row || row->kind != COMMAND_ASSERT);
        }
        if (x == 0)
                x = bind_names(r);
        if (x < 0)
                return x;
        c.span = (struct span){begin, r->token.end};
        if (!grow(s->commands, s->n_commands, s->commands_size))
                return -ENOMEM;
        s->commands[s->n_commands++] = c;
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
        free(r->names);
        term_map_done(&r->undeclared);
}

int script_read(struct slice bytes, const struct script_options *options, struct script **ret)
{
        static const struct script_options usual = {.dialect = DIALECT_2_6};
        cleanup_script struct script *s = NULL;
        cleanup(reader_done) struct reader r = {.options = options ? options : &usual, .bytes = bytes};
        int x = script_new(r.options->bank, r.options->dialect, &s);

        if (x < 0)
                return x;
        r.script = s;
        r.bank = s->bank;
        tokenizer_init(&r.t, bytes, r.options->dialect);
        while ((x = reader_next(&r)) == 0 && r.token.kind != TOKEN_END)
                if ((x = read_command(&r)) < 0)
                        break;
        if (x < 0)
                return x;
        *ret = steal_pointer(s);
        return 0;
}
