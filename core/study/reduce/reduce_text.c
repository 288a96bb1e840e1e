/* The steps of a text that is no script, and of what is none in a script: trees of parentheses, lines. */
#include "core/study/reduce/reduce_internal.h"

/* The nodes that a sweep may leave out. */
struct level {
        const struct text_tree *tree;
        size_t *list; /* owned */
        size_t n;
        bool *is_out; /* owned: of each node of the tree */
};

static void level_done(struct level *l)
{
        free(l->list);
        free(l->is_out);
}

void text_tree_done(struct text_tree *t)
{
        buffer_done(&t->text);
        free(t->list);
}

static void add_node(struct text_tree *t, size_t begin, size_t end, size_t parent)
{
        list_grow(t->list, t->n);
        t->list[t->n] = (struct text_node){.begin = begin, .end = end, .parent = parent, .root = t->n};
        if (parent != SIZE_MAX) {
                t->list[t->n].root = t->list[parent].root;
                t->list[t->n].depth = t->list[parent].depth + 1;
        }
        t->depth = MAX(t->depth, t->list[t->n].depth + 1);
        t->n++;
}

int text_tree_read(struct reducer *r, struct text_tree *ret)
{
        struct tokenizer t;
        struct token token;
        size_t parent = SIZE_MAX;
        int k = reduce_set_text(&ret->text, reduce_text(r));

        tokenizer_init(&t, SLICE(ret->text.data, ret->text.size), reduce_dialect(r));
        while (k == 0 && token_next(&t, &token) != TOKEN_END) {
                if (token.kind != TOKEN_CLOSE) {
                        add_node(ret, token.begin, token.end, parent);
                        parent = token.kind == TOKEN_OPEN ? ret->n - 1 : parent;
                } else if (parent == SIZE_MAX) {
                        return -EINVAL;
                } else {
                        ret->list[parent].end = token.end;
                        parent = ret->list[parent].parent;
                }
        }
        return k < 0 ? k : parent != SIZE_MAX ? -EINVAL : 0;
}

bool reduce_is_tree(struct reducer *r)
{
        cleanup(text_tree_done) struct text_tree t = {0};
        bool is_tree = text_tree_read(r, &t) == 0 && t.n > 0;

        for (size_t i = 0; i < t.n; i++)
                is_tree &= t.list[i].depth > 0 || t.text.data[t.list[i].begin] == '(';
        return is_tree;
}

static int lines_read(struct reducer *r, struct text_tree *ret)
{
        int k = reduce_set_text(&ret->text, reduce_text(r));

        ret->has_lines = true;
        for (size_t begin = 0, end; k == 0 && begin < ret->text.size; begin = end) {
                const char *newline = memchr(ret->text.data + begin, '\n', ret->text.size - begin);

                end = newline ? (size_t)(newline + 1 - ret->text.data) : ret->text.size;
                add_node(ret, begin, end, SIZE_MAX);
        }
        return k;
}

/* A part that is left out takes the white space before it along, and behind it where nothing else is before it; but for a line. */
void text_tree_write_without(const struct text_tree *t, const bool *is_out, struct buffer *ret)
{
        const char *text = t->text.data;
        size_t at = 0;

        for (size_t i = 0; i < t->n; i++) {
                const struct text_node *node = &t->list[i];
                size_t begin = node->begin;
                bool is_first;

                if (!is_out[i] || begin < at)
                        continue;
                while (!t->has_lines && begin > at && strchr(" \t\n\r", text[begin - 1]))
                        begin--;
                buffer_add(ret, text + at, begin - at);
                at = node->end;
                is_first = ret->size > 0 && ret->data[ret->size - 1] == '(';
                while (!t->has_lines && is_first && at < t->text.size && strchr(" \t\n\r", text[at]))
                        at++;
                if (!t->has_lines && at < t->text.size && !strchr("() \t\n\r", text[at]) && ret->size > 0 && !is_first)
                        buffer_adds(ret, " ");
        }
        buffer_add(ret, text + at, t->text.size - at);
}

static int without_nodes(void *user, const bool *is_out, struct buffer *ret)
{
        struct level *l = user;

        for (size_t i = 0; i < l->n; i++)
                l->is_out[l->list[i]] = is_out[i];
        text_tree_write_without(l->tree, l->is_out, ret);
        return 0;
}

/* A script changes here only within commands that core/smtlib does not know; reduce_script() reduces the others. */
static bool may_change(struct reducer *r, const struct text_tree *t, size_t i)
{
        const struct text_node *node = &t->list[i], *word = &t->list[node->root + 1];

        if (!reduce_requires_script(r))
                return true;
        return node->depth > 0 && node != word && command_kind_of(SLICE(t->text.data + word->begin, word->end - word->begin)) == COMMAND_OPAQUE;
}

/* How many of one depth were left out; -ERANGE: there is nothing as deep. */
static int leave_out_at(struct reducer *r, int (*read)(struct reducer *r, struct text_tree *ret), uint32_t depth)
{
        cleanup(text_tree_done) struct text_tree t = {0};
        cleanup(level_done) struct level l = {.tree = &t};
        int k = read(r, &t);

        if (k < 0 || depth >= t.depth)
                return k < 0 ? k : -ERANGE;
        l.list = allocate(t.n, sizeof(*l.list));
        l.is_out = allocate(t.n, sizeof(*l.is_out));
        for (size_t i = 0; i < t.n; i++)
                if (t.list[i].depth == depth && may_change(r, &t, i))
                        l.list[l.n++] = i;
        return reduce_sweep(r, l.n, 0, without_nodes, &l);
}

/* -- parentheses with one thing in them -- */

static void add_paren(const struct text_tree *t, size_t at, const bool *is_gone, struct buffer *ret)
{
        char before = ret->size > 0 ? ret->data[ret->size - 1] : '(', behind = at + 1 < t->text.size ? t->text.data[at + 1] : ')';

        if (!is_gone[at])
                buffer_add(ret, t->text.data + at, 1);
        else if (!strchr("() \t\n\r", before) && !strchr("() \t\n\r", behind))
                buffer_adds(ret, " ");
}

static int without_parens(void *user, const bool *is_out, struct buffer *ret)
{
        const struct level *l = user;
        const struct text_tree *t = l->tree;
        cleanup_free bool *is_gone = allocate(t->text.size, sizeof(*is_gone));

        for (size_t i = 0; i < l->n; i++)
                is_gone[t->list[l->list[i]].begin] = is_gone[t->list[l->list[i]].end - 1] = is_out[i];
        for (size_t at = 0; at < t->text.size; at++)
                add_paren(t, at, is_gone, ret);
        return 0;
}

/* Leaves out parentheses around a single node, many at once: one by one, thousands around a word would take as many passes over the text. */
static int unwrap(struct reducer *r)
{
        cleanup(text_tree_done) struct text_tree t = {0};
        cleanup(level_done) struct level l = {.tree = &t};
        cleanup_free size_t *children = NULL;
        int k = text_tree_read(r, &t);

        if (k < 0)
                return k;
        children = allocate(t.n, sizeof(*children));
        l.list = allocate(t.n, sizeof(*l.list));
        for (size_t i = 0; i < t.n; i++)
                if (t.list[i].parent != SIZE_MAX)
                        children[t.list[i].parent]++;
        for (size_t i = 0; i < t.n; i++)
                if (children[i] == 1 && may_change(r, &t, i))
                        l.list[l.n++] = i;
        return reduce_sweep(r, l.n, 0, without_parens, &l);
}

struct lifting {
        struct reducer *reducer;
        const struct text_tree *tree;
};

/* Each node with children in turn gives way to each of them: candidates are numbered by the child. */
static int make_child(void *user, size_t at, struct buffer *ret)
{
        const struct lifting *l = user;
        const struct text_tree *t = l->tree;
        const struct text_node *child = &t->list[at], *parent;

        if (child->parent == SIZE_MAX || !may_change(l->reducer, t, child->parent))
                return -ENOENT;
        parent = &t->list[child->parent];
        buffer_add(ret, t->text.data, parent->begin);
        buffer_add(ret, t->text.data + child->begin, child->end - child->begin);
        buffer_add(ret, t->text.data + parent->end, t->text.size - parent->end);
        return 0;
}

static int lift(struct reducer *r, bool *ret_any)
{
        size_t at = 0;
        int taken;

        do {
                cleanup(text_tree_done) struct text_tree t = {0};
                int k = text_tree_read(r, &t);

                taken = k < 0 ? k : reduce_first(r, at, t.n, make_child, &(struct lifting){r, &t}, &at);
                *ret_any |= taken > 0;
        } while (taken > 0);
        return taken;
}

int reduce_trees(struct reducer *r)
{
        bool any = false, more;
        int k;

        do {
                reduce_set_stage(r, "trees");
                k = unwrap(r);
                more = k > 0;
                for (uint32_t depth = 0; k >= 0; depth++) { /* ends by -ERANGE */
                        k = leave_out_at(r, text_tree_read, depth);
                        more |= k > 0;
                }
                k = k == -ERANGE ? lift(r, &more) : k;
                any |= more;
        } while (k == 0 && more);
        return k < 0 ? k : any;
}

int reduce_lines(struct reducer *r)
{
        int any = 0, k;

        reduce_set_stage(r, "lines");
        do {
                k = leave_out_at(r, lines_read, 0);
                any |= k > 0;
        } while (k > 0);
        return k < 0 && k != -ERANGE ? k : any;
}
