/* Reading makes an item of each command, with the scope or the query that it is kept for. Writing counts the kept queries before each item: an item of a
 * scope is written if one of them comes later in the scope, and so are the push and the pop of that scope. */
#include "core/why/cut/cut.h"

#include "core/smtlib/script.h"

#define LEVELS_MOST 1000000 /* open at once */

/* The reason for keeping a command. */
enum part {
        PART_SCOPED, /* a later query of its scope */
        PART_NAMED,  /* the same; its names are kept for any later query up to (reset) */
        PART_PUSH,
        PART_POP,
        PART_RESET,
        PART_QUERY,
        PART_PRINTS /* its query, which it follows, or whose :status it is */
};
struct cut_item {
        size_t begin, end; /* bytes */
        enum part part;
        size_t of;     /* the scope; PART_PUSH: the first one that it opens; PART_QUERY, PART_PRINTS: the query's number, 0: never kept */
        size_t levels; /* of push and pop. PART_NAMED: the scope of its names */
};

/* The open scopes (reader.stack): one ended only by (reset), one ended by reset-assertions, the levels. */
enum {
        STACK_RESET,
        STACK_BASE,
        STACK_LEVELS
};
struct declared {
        size_t item, scope; /* scope: the one that reset-assertions ends */
        struct slice name;
};
struct reader {
        struct cut *cut;
        struct tokenizer t;
        size_t depth;          /* of parentheses, in the command at hand */
        size_t *stack, n;      /* owned */
        bool is_global;        /* :global-declarations */
        size_t answered;       /* the query to which printing commands belong now; 0: none */
        struct declared *base; /* owned: declarations outside of all levels; the first n_old precede the last reset-assertions */
        size_t n_base, n_old;
};

struct cut *cut_free(struct cut *c)
{
        if (!c)
                return NULL;
        free(c->items);
        free(c->ends);
        free(c);
        return NULL;
}

static void reader_done(struct reader *r)
{
        free(r->stack);
        free(r->base);
}

/* -- reading -- */

static size_t line_at(const struct cut *c, size_t offset)
{
        return text_position_of(c->text, offset).line;
}

static void open_scope(struct reader *r)
{
        struct cut *c = r->cut;

        list_grow(c->ends, c->n_scopes);
        c->ends[c->n_scopes] = SIZE_MAX;
        list_add(r->stack, r->n, c->n_scopes++);
}

static void close_scopes(struct reader *r, size_t to)
{
        while (r->n > to)
                r->cut->ends[r->stack[--r->n]] = r->cut->n_items;
}

static int read_levels(struct reader *r, struct cut_item *item, bool is_push)
{
        const size_t open = r->n - STACK_LEVELS;
        const struct slice w = token_word(&r->t, &r->depth);

        item->part = is_push ? PART_PUSH : PART_POP;
        item->of = r->cut->n_scopes;
        item->levels = w.size == 0;
        for (const char *p = w.data; p < (const char *)w.data + w.size; p++) {
                if (*p < '0' || *p > '9')
                        return errorf(-EINVAL, "line %zu: %s takes a number of levels, or nothing", line_at(r->cut, item->begin),
                                      is_push ? "push" : "pop");
                item->levels = MIN(item->levels * 10 + (size_t)(*p - '0'), LEVELS_MOST + 1);
        }
        if (!is_push && item->levels > open)
                return errorf(-EINVAL, "line %zu: pop of %zu level%s, and %zu open", line_at(r->cut, item->begin), item->levels,
                              item->levels == 1 ? "" : "s", open);
        if (is_push && item->levels + open > LEVELS_MOST)
                return errorf(-EINVAL, "line %zu: more than %d levels are open here", line_at(r->cut, item->begin), LEVELS_MOST);
        if (is_push && item->levels + r->cut->n_scopes > LEVELS_MOST + r->cut->text.size) /* a scope is kept for each, also a closed one */
                return errorf(-EINVAL, "line %zu: too many levels are pushed up to here", line_at(r->cut, item->begin));
        for (size_t i = 0; is_push && i < item->levels; i++)
                open_scope(r);
        close_scopes(r, r->n - (is_push ? 0 : item->levels));
        return 0;
}

static void read_reset(struct reader *r, struct cut_item *item, bool is_all)
{
        item->part = PART_RESET;
        close_scopes(r, is_all ? STACK_RESET : STACK_BASE);
        while (r->n < STACK_LEVELS)
                open_scope(r);
        r->n_old = r->n_base = is_all ? 0 : r->n_base;
        r->is_global &= !is_all;
}

static void read_setting(struct reader *r, struct cut_item *item)
{
        const struct slice key = token_word(&r->t, &r->depth);
        enum dialect d;

        item->of = r->stack[STACK_RESET];
        if (text_is(key, ":global-declarations") || text_is(key, ":global-decls"))
                r->is_global = text_is(token_word(&r->t, &r->depth), "true");
        else if (text_is(key, ":smt-lib-version") && dialect_parse(token_word(&r->t, &r->depth), &d) == 0)
                r->t.dialect = d;
        else if (text_is(key, ":status"))
                *item = (struct cut_item){.begin = item->begin, .part = PART_PRINTS, .of = r->cut->n_queries + 1};
}

/* A name declared again after reset-assertions: so the solver has forgotten the first declaration. */
static void forget_old(struct reader *r, struct slice name)
{
        for (size_t i = 0; i < r->n_old; i++) {
                if (r->base[i].name.size != name.size || memcmp(r->base[i].name.data, name.data, name.size) != 0)
                        continue;
                r->cut->items[r->base[i].item].of = r->base[i].scope;
                r->n_old--;
                memmove(r->base + i, r->base + i + 1, (--r->n_base - i) * sizeof(*r->base));
                return;
        }
}

/* Outside of all levels a declaration stays until (reset), and is noted: after reset-assertions it may be declared again. */
static void read_declaration(struct reader *r, struct cut_item *item)
{
        const bool is_base = r->n == STACK_LEVELS;
        struct slice name = {0};

        if (is_base || r->is_global)
                item->of = r->stack[STACK_RESET];
        if (r->is_global || (!is_base && r->n_old == 0))
                return;
        while (name.size == 0 && r->depth > 0 && r->t.p < r->t.end)
                name = token_word(&r->t, &r->depth);
        forget_old(r, name);
        if (!is_base)
                return;
        list_add(r->base, r->n_base, (struct declared){r->cut->n_items, r->stack[STACK_BASE], name});
}

static bool begins(struct slice name, const char *with)
{
        return name.size >= strlen(with) && memcmp(name.data, with, strlen(with)) == 0;
}

/* Finds the part of a command; the new item is PART_SCOPED, of the innermost scope. 1: (exit). */
static int read_known(struct reader *r, struct cut_item *item)
{
        const struct slice name = token_word(&r->t, &r->depth);
        const enum command_kind kind = command_kind_of(name);
        const size_t answered = r->answered;

        r->answered = 0;
        if (kind == COMMAND_PUSH || kind == COMMAND_POP)
                return read_levels(r, item, kind == COMMAND_PUSH);
        if (kind == COMMAND_SET_LOGIC || kind == COMMAND_SET_OPTION || kind == COMMAND_SET_INFO) {
                r->answered = answered;
                read_setting(r, item);
        } else if (kind == COMMAND_RESET || kind == COMMAND_RESET_ASSERTIONS) {
                read_reset(r, item, kind == COMMAND_RESET);
        } else if (command_name_asks(name)) {
                item->part = PART_QUERY;
                item->of = r->answered = ++r->cut->n_queries;
        } else if (kind == COMMAND_GET || begins(name, "get-") || begins(name, "check-")) {
                r->answered = begins(name, "check-") ? 0 : answered;
                item->part = PART_PRINTS;
                item->of = r->answered;
        } else if (begins(name, "declare-") || begins(name, "define-")) {
                read_declaration(r, item);
        }
        return kind == COMMAND_EXIT;
}

/* Reads a command, after its opening parenthesis. */
static int read_command(struct reader *r, size_t begin)
{
        struct cut *c = r->cut;
        struct cut_item item = {.begin = begin, .of = r->stack[r->n - 1]};
        const size_t before = c->n_queries;
        int k;

        r->depth = 1;
        k = read_known(r, &item);
        if (k >= 0 && token_skip(&r->t, r->depth) > 0)
                return errorf(-EINVAL, "line %zu: this command has no closing parenthesis", line_at(c, begin));
        if (k == 1)
                k = errorf(-ENOENT, "query %zu is never asked: the script ends by (exit) in line %zu", c->query, line_at(c, begin));
        if (k < 0)
                return k;
        item.end = (size_t)(r->t.p - r->t.base);
        if (r->is_global && item.part == PART_SCOPED && item.of != r->stack[STACK_RESET] &&
            memmem((const char *)c->text.data + begin, item.end - begin, ":named", strlen(":named"))) {
                item.part = PART_NAMED;
                item.levels = r->stack[STACK_RESET];
        }
        if (c->n_queries == c->query && before < c->query)
                c->line = line_at(c, begin);
        list_add(c->items, c->n_items, item);
        return 0;
}

int cut_read(struct slice text, size_t query, struct cut **ret)
{
        cleanup_cut struct cut *c = allocate(1, sizeof(*c));
        cleanup(reader_done) struct reader r = {.cut = c};
        struct token token = {0};
        int k = 0;

        c->text = text;
        c->query = query;
        tokenizer_init(&r.t, text, DIALECT_2_6);
        open_scope(&r);
        open_scope(&r);
        while (k == 0 && (c->line == 0 || r.answered == query)) { /* errors after the query do not matter */
                if (token_next(&r.t, &token) == TOKEN_OPEN)
                        k = read_command(&r, token.begin);
                else if (token.kind == TOKEN_END)
                        k = errorf(-ENOENT, "there is no query %zu: the script asks %zu", query, c->n_queries);
                else
                        k = errorf(-EINVAL, "line %zu: a command is expected here, which begins with a parenthesis", line_at(c, token.begin));
        }
        if (c->line == 0)
                return k;
        *ret = steal_pointer(c);
        return 0;
}

/* -- writing -- */

struct writer {
        const struct cut *cut;
        enum cut_form form;
        const bool *is_kept;
        size_t *asked; /* owned: by item: the number of queries kept before it */
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
        return query == w->cut->query || (w->is_kept && query > 0 && query < w->cut->query && w->is_kept[query - 1]);
}

/* True if a query is kept after item i, before the scope ends; for CUT_WHOLE anywhere after it. */
static bool is_needed(const struct writer *w, size_t i, size_t scope)
{
        return w->asked[w->form == CUT_WHOLE ? w->cut->n_items : MIN(w->cut->ends[scope], w->cut->n_items)] > w->asked[i];
}

/* The number of levels of a push or a pop that are written. */
static size_t count_levels(struct writer *w, size_t i)
{
        const struct cut_item *item = &w->cut->items[i];
        size_t n = 0;

        for (size_t k = 0; k < item->levels; k++) {
                if (item->part == PART_PUSH) {
                        list_add(w->open, w->n_open, w->form != CUT_ALONE && is_needed(w, i, item->of + k));
                        n += w->open[w->n_open - 1];
                } else {
                        n += w->open[--w->n_open];
                }
        }
        return n;
}

static bool is_written(struct writer *w, size_t i)
{
        const struct cut_item *item = &w->cut->items[i];

        if (item->part == PART_QUERY || item->part == PART_PRINTS)
                return is_asked(w, item->of);
        if (item->part == PART_SCOPED || item->part == PART_NAMED)
                return is_needed(w, i, item->of);
        return w->asked[i] > 0 || w->form == CUT_WHOLE;
}

static void add_text(const struct writer *w, const struct cut_item *item, const char *before, const char *after)
{
        buffer_adds(w->to, before);
        buffer_add(w->to, (const char *)w->cut->text.data + item->begin, item->end - item->begin);
        buffer_adds(w->to, after);
}

static void write_item(struct writer *w, size_t i)
{
        const struct cut_item *item = &w->cut->items[i];
        const bool has_levels = item->part == PART_PUSH || item->part == PART_POP;
        const size_t n = has_levels ? count_levels(w, i) : 0;

        if (item->part == PART_RESET) /* it closes all levels */
                w->n_open = 0;
        if (has_levels && n > 0 && n < item->levels)
                buffer_addf(w->to, "(%s %zu)\n", item->part == PART_PUSH ? "push" : "pop", n);
        else if (has_levels ? n > 0 || (w->form == CUT_WHOLE && item->levels == 0) : is_written(w, i))
                add_text(w, item, "", "\n");
        else if (item->part == PART_NAMED && is_needed(w, i, item->levels)) /* its names are in force, but not its assertion */
                add_text(w, item, "(push 1)\n", "\n(pop 1)\n");
}

int cut_write(const struct cut *c, enum cut_form form, const bool *is_kept, struct buffer *ret)
{
        cleanup(writer_done) struct writer w = {.cut = c, .form = form, .is_kept = form == CUT_ALONE ? NULL : is_kept, .to = ret};
        size_t n = c->n_items;

        w.asked = allocate(n + 1, sizeof(*w.asked));
        for (size_t i = 0; i < n; i++)
                w.asked[i + 1] = w.asked[i] + (c->items[i].part == PART_QUERY && is_asked(&w, c->items[i].of));
        for (size_t i = 0; i < n; i++)
                if (w.asked[i] < w.asked[n] || c->items[i].part == PART_PRINTS) /* else it follows the last query */
                        write_item(&w, i);
        return buffer_error(ret);
}
