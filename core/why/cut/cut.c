#include "core/why/cut/cut.h"

#include "core/smtlib/script.h"

#define LEVELS_MOST 1000000 /* open at a time */

/* What a command is kept for. */
enum part {
        PART_SCOPED, /* the queries of its scope behind it */
        PART_NAMED,  /* the same, and its names those of the rest of the script */
        PART_PUSH,
        PART_POP,
        PART_RESET,
        PART_QUERY,
        PART_PRINTS, /* its query, as it follows it or is its :status */
        PART_NEVER
};

struct item {
        size_t begin, end; /* bytes */
        enum part part;
        size_t of;     /* the scope; of a push the first that it opens, of a reset the one that it ends. Of a query and what goes with it: its number */
        size_t levels; /* of push and pop. PART_NAMED: the scope of its names */
};

/* Items, from `begin` to before `end`, between which something that was said holds. */
struct scope {
        size_t begin, end;
};

struct cut {
        struct slice text;
        size_t query;
        struct item *items; /* owned */
        size_t n;
        struct scope *scopes; /* owned */
        size_t n_scopes;
        size_t n_queries; /* read */
};

/* The scopes that are open: what only (reset) ends, what reset-assertions ends, and the levels. */
enum {
        STACK_RESET,
        STACK_BASE,
        STACK_LEVELS
};
struct declared {
        size_t item, scope; /* scope: what the next reset-assertions ends */
        struct slice name;
};
struct reader {
        struct cut *cut;
        struct tokenizer t;
        size_t depth;     /* of parentheses, in the command at hand */
        size_t *stack, n; /* owned: scopes */
        bool is_global;   /* :global-declarations */
        size_t answered;  /* the query that what prints now belongs to; 0: none */
        struct declared *base; /* owned: declarations of the base scope; the first n_old were there before the last reset-assertions */
        size_t n_base, n_old;
};

struct cut *cut_free(struct cut *c)
{
        if (!c)
                return NULL;
        free(c->items);
        free(c->scopes);
        free(c);
        return NULL;
}

static void reader_done(struct reader *r)
{
        free(r->stack);
        free(r->base);
}

static size_t line_at(const struct cut *c, size_t offset)
{
        return place_of(c->text, offset).line;
}

/* -- reading -- */

/* The next word of the command at hand; empty for what is none, and at its end. */
static struct slice word(struct reader *r)
{
        struct token token;

        if (r->depth == 0)
                return SLICE("", 0);
        token_next(&r->t, &token);
        r->depth += token.kind == TOKEN_OPEN;
        r->depth -= token.kind == TOKEN_CLOSE;
        return token.kind >= TOKEN_SYMBOL && token.kind <= TOKEN_BINARY ? token.text : SLICE("", 0);
}

static void stack_push(struct reader *r)
{
        struct cut *c = r->cut;

        list_grow(c->scopes, c->n_scopes);
        c->scopes[c->n_scopes] = (struct scope){c->n, SIZE_MAX};
        list_grow(r->stack, r->n);
        r->stack[r->n++] = c->n_scopes++;
}

static void stack_pop(struct reader *r, size_t levels)
{
        while (levels-- > 0)
                r->cut->scopes[r->stack[--r->n]].end = r->cut->n;
}

static int read_levels(struct reader *r, struct item *item)
{
        const char *what = item->part == PART_PUSH ? "push" : "pop";
        struct slice w = word(r);
        size_t open = r->n - STACK_LEVELS;

        item->levels = w.size == 0 ? 1 : 0;
        for (size_t i = 0; i < w.size; i++) {
                const char digit = ((const char *)w.data)[i];

                if (digit < '0' || digit > '9')
                        return errorf(-EINVAL, "line %zu: %s takes a number of levels, or nothing", line_at(r->cut, item->begin), what);
                item->levels = MIN(item->levels * 10 + (size_t)(digit - '0'), LEVELS_MOST + 1);
        }
        if (item->part == PART_PUSH && item->levels + open > LEVELS_MOST)
                return errorf(-EINVAL, "line %zu: more than %d levels are open here", line_at(r->cut, item->begin), LEVELS_MOST);
        if (item->part == PART_POP && item->levels > open)
                return errorf(-EINVAL, "line %zu: pop of %zu level%s, and %zu open: no query behind it has a context", line_at(r->cut, item->begin),
                              item->levels, item->levels == 1 ? "" : "s", open);
        item->of = r->cut->n_scopes;
        if (item->part == PART_PUSH)
                for (size_t i = 0; i < item->levels; i++)
                        stack_push(r);
        else
                stack_pop(r, item->levels);
        return 0;
}

static void read_reset(struct reader *r, struct item *item, bool is_all)
{
        item->of = r->stack[is_all ? STACK_RESET : STACK_BASE];
        stack_pop(r, r->n - (is_all ? STACK_RESET : STACK_BASE));
        if (is_all)
                stack_push(r);
        stack_push(r);
        r->n_base = is_all ? 0 : r->n_base;
        r->n_old = r->n_base;
        r->is_global = r->is_global && !is_all;
}

static void read_setting(struct reader *r, struct item *item, bool is_info)
{
        struct slice key = word(r), value;
        enum dialect d;

        item->of = r->stack[STACK_RESET];
        if (!is_info && (text_is(key, ":global-declarations") || text_is(key, ":global-decls")))
                r->is_global = text_is(word(r), "true");
        if (is_info && text_is(key, ":status")) {
                item->part = PART_PRINTS;
                item->of = r->cut->n_queries + 1;
        }
        if (is_info && text_is(key, ":smt-lib-version")) {
                value = word(r);
                if (dialect_parse(value, &d) == 0)
                        r->t.dialect = d;
        }
}

/* A name that is declared a second time, after reset-assertions: so the solver has not known the first one since. */
static void forget_old(struct reader *r, struct slice name)
{
        size_t i = 0;

        while (i < r->n_old && !(r->base[i].name.size == name.size && memcmp(r->base[i].name.data, name.data, name.size) == 0))
                i++;
        if (i == r->n_old)
                return;
        r->cut->items[r->base[i].item].of = r->base[i].scope;
        r->n_old--;
        r->n_base--;
        memmove(r->base + i, r->base + i + 1, (r->n_base - i) * sizeof(*r->base));
}

static void read_declaration(struct reader *r, struct item *item)
{
        struct slice name;

        if (r->is_global) {
                item->of = r->stack[STACK_RESET];
                return;
        }
        if (r->n_old == 0 && r->n > STACK_LEVELS)
                return;
        do
                name = word(r);
        while (name.size == 0 && r->depth > 0 && r->t.p < r->t.end);
        forget_old(r, name);
        if (r->n > STACK_LEVELS)
                return;
        item->of = r->stack[STACK_RESET];
        list_grow(r->base, r->n_base);
        r->base[r->n_base++] = (struct declared){r->cut->n, r->stack[STACK_BASE], name};
}

static bool begins(struct slice name, const char *with)
{
        return name.size >= strlen(with) && memcmp(name.data, with, strlen(with)) == 0;
}

/* Commands of Z3 and cvc5 that print, and change nothing. */
static bool only_prints(struct slice name)
{
        static const char *const names[] = {"eval", "simplify", "display", "help", "help-tactic", "apply", "labels"};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (text_is(name, names[i]))
                        return true;
        return begins(name, "get-");
}

/* Behind its name. A new item's part is PART_SCOPED, and its scope the innermost. 1: (exit). */
static int read_known(struct reader *r, struct slice name, struct item *item)
{
        enum command_kind kind = command_kind_of(name);

        const bool is_setting = kind == COMMAND_SET_LOGIC || kind == COMMAND_SET_OPTION || kind == COMMAND_SET_INFO;
        const bool prints = kind == COMMAND_GET || kind == COMMAND_GET_VALUE || only_prints(name);

        if (!is_setting && !prints)
                r->answered = 0;
        if (kind == COMMAND_PUSH || kind == COMMAND_POP) {
                item->part = kind == COMMAND_PUSH ? PART_PUSH : PART_POP;
                return read_levels(r, item);
        }
        if (kind == COMMAND_RESET || kind == COMMAND_RESET_ASSERTIONS) {
                item->part = PART_RESET;
                read_reset(r, item, kind == COMMAND_RESET);
        } else if (is_setting) {
                read_setting(r, item, kind == COMMAND_SET_INFO);
        } else if (kind == COMMAND_CHECK_SAT || kind == COMMAND_CHECK_SAT_ASSUMING) {
                item->part = PART_QUERY;
                item->of = r->answered = ++r->cut->n_queries;
        } else if (prints) {
                item->part = r->answered > 0 ? PART_PRINTS : PART_NEVER;
                item->of = r->answered;
        } else if (begins(name, "check-")) {
                item->part = PART_NEVER;
        } else if (begins(name, "declare-") || begins(name, "define-")) {
                read_declaration(r, item);
        }
        return kind == COMMAND_EXIT;
}

/* Behind the parenthesis that opens a command. 1: (exit). */
static int read_command(struct reader *r, size_t begin)
{
        struct cut *c = r->cut;
        struct item item = {.begin = begin, .part = PART_SCOPED, .of = r->stack[r->n - 1]};
        int k;

        r->depth = 1;
        k = read_known(r, word(r), &item);
        if (k < 0)
                return k;
        if (token_skip(&r->t, r->depth) > 0)
                return errorf(-EINVAL, "line %zu: this command has no closing parenthesis", line_at(c, begin));
        item.end = (size_t)(r->t.p - r->t.base);
        if (item.part == PART_SCOPED && r->is_global && item.of != r->stack[STACK_RESET] &&
            memmem((const char *)c->text.data + begin, item.end - begin, ":named", strlen(":named"))) {
                item.part = PART_NAMED;
                item.levels = r->stack[STACK_RESET];
        }
        list_grow(c->items, c->n);
        c->items[c->n++] = item;
        return k;
}

static int not_there(const struct reader *r, const struct token *at, bool is_exit)
{
        const struct cut *c = r->cut;
        const char *s = c->n_queries == 1 ? "y" : "ies";

        if (is_exit)
                return errorf(-ENOENT, "query %zu is never asked: the script ends by (exit) in line %zu, after %zu quer%s", c->query,
                              line_at(c, at->begin), c->n_queries, s);
        return errorf(-ENOENT, "there is no query %zu: the script asks %zu quer%s", c->query, c->n_queries, s);
}

/* Until the query and what prints behind it, of which errors do not matter any more. */
static int read_all(struct reader *r)
{
        struct cut *c = r->cut;
        struct token token;
        int k = 0;

        while (k == 0 && (c->n_queries < c->query || r->answered == c->query)) {
                token_next(&r->t, &token);
                if (token.kind == TOKEN_OPEN)
                        k = read_command(r, token.begin);
                else if (token.kind == TOKEN_END)
                        k = not_there(r, &token, false);
                else if (token.kind == TOKEN_CLOSE)
                        k = errorf(-EINVAL, "line %zu: a closing parenthesis, and none is open", line_at(c, token.begin));
                else
                        k = errorf(-EINVAL, "line %zu: a command is expected here, which begins with a parenthesis", line_at(c, token.begin));
        }
        return c->n_queries == c->query ? 0 : k == 1 ? not_there(r, &token, true) : k;
}

int cut_read(struct slice text, size_t query, struct cut **ret)
{
        cleanup_cut struct cut *c = allocate(1, sizeof(*c));
        cleanup(reader_done) struct reader r = {.cut = c};
        int k;

        *c = (struct cut){.text = text, .query = query};
        if (query == 0)
                return errorf(-ENOENT, "queries are numbered from 1");
        tokenizer_init(&r.t, text, DIALECT_2_6);
        stack_push(&r);
        stack_push(&r);
        k = read_all(&r);
        if (k == 0)
                *ret = steal_pointer(c);
        return k;
}

size_t cut_query(const struct cut *c)
{
        return c->query;
}

size_t cut_line(const struct cut *c, size_t query)
{
        for (size_t i = 0; i < c->n; i++)
                if (c->items[i].part == PART_QUERY && c->items[i].of == query)
                        return line_at(c, c->items[i].begin);
        return 0;
}

/* -- writing -- */

struct writer {
        const struct cut *cut;
        enum cut_form form;
        const bool *is_kept;
        size_t *asked; /* owned: so many queries are asked by the items before each */
        bool *open;    /* owned: levels; is it written? */
        size_t n_open;
        struct buffer *to;
};

static void writer_done(struct writer *w)
{
        free(w->asked);
        free(w->open);
}

static bool is_asked(const struct writer *w, size_t query)
{
        return query == w->cut->query || (w->is_kept && query < w->cut->query && w->is_kept[query - 1]);
}

/* Is a query asked behind item i, and before the scope ends? */
static bool is_needed(const struct writer *w, size_t i, size_t scope)
{
        size_t end = w->form == CUT_WHOLE ? w->cut->n : MIN(w->cut->scopes[scope].end, w->cut->n);

        return w->asked[end] > w->asked[i];
}

static void add_text(const struct writer *w, const struct item *item, const char *before, const char *after)
{
        buffer_adds(w->to, before);
        buffer_add(w->to, (const char *)w->cut->text.data + item->begin, item->end - item->begin);
        buffer_adds(w->to, after);
}

/* push or pop: as many of its levels as are written. */
static void add_levels(const struct writer *w, const struct item *item, size_t n)
{
        if (n == item->levels && (n > 0 || w->form == CUT_WHOLE))
                add_text(w, item, "", "\n");
        else if (n > 0)
                buffer_addf(w->to, "(%s %zu)\n", item->part == PART_PUSH ? "push" : "pop", n);
}

static void add_push(struct writer *w, size_t i)
{
        const struct item *item = &w->cut->items[i];
        size_t n = 0;

        for (size_t k = 0; k < item->levels; k++) {
                bool is_written = w->form != CUT_ALONE && is_needed(w, i, item->of + k);

                list_grow(w->open, w->n_open);
                w->open[w->n_open++] = is_written;
                n += is_written;
        }
        add_levels(w, item, n);
}

static void add_pop(struct writer *w, const struct item *item)
{
        size_t n = 0;

        for (size_t k = 0; k < item->levels; k++)
                n += w->open[--w->n_open];
        if (w->asked[item - w->cut->items] < w->asked[w->cut->n])
                add_levels(w, item, n);
}

static void add_reset(struct writer *w, size_t i)
{
        const struct item *item = &w->cut->items[i];

        w->n_open = 0;
        if (w->asked[i] < w->asked[w->cut->n] && (w->form == CUT_WHOLE || w->asked[i] > w->asked[w->cut->scopes[item->of].begin]))
                add_text(w, item, "", "\n");
}

static void add_item(struct writer *w, size_t i)
{
        const struct item *item = &w->cut->items[i];

        switch (item->part) {
        case PART_SCOPED:
        case PART_NAMED:
                if (is_needed(w, i, item->of))
                        add_text(w, item, "", "\n");
                else if (item->part == PART_NAMED && is_needed(w, i, item->levels))
                        add_text(w, item, "(push 1)\n", "\n(pop 1)\n");
                break;
        case PART_PUSH:
                add_push(w, i);
                break;
        case PART_POP:
                add_pop(w, item);
                break;
        case PART_RESET:
                add_reset(w, i);
                break;
        case PART_QUERY:
        case PART_PRINTS:
                if (is_asked(w, item->of))
                        add_text(w, item, "", "\n");
                break;
        case PART_NEVER:
                break;
        }
}

int cut_write(const struct cut *c, enum cut_form form, const bool *is_kept, struct buffer *ret)
{
        cleanup(writer_done) struct writer w = {.cut = c, .form = form, .is_kept = form == CUT_ALONE ? NULL : is_kept, .to = ret};

        w.asked = allocate(c->n + 1, sizeof(*w.asked));
        for (size_t i = 0; i < c->n; i++)
                w.asked[i + 1] = w.asked[i] + (c->items[i].part == PART_QUERY && is_asked(&w, c->items[i].of));
        for (size_t i = 0; i < c->n; i++)
                add_item(&w, i);
        return buffer_error(ret);
}
