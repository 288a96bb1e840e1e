/* The steps of a text that is no script: trees of parentheses, lines. */
#include "core/study/reduce/reduce_internal.h"

/* -- trees -- */

/* A word, or parentheses with what is between them. */
struct node {
        size_t begin, end; /* bytes */
        size_t parent;     /* SIZE_MAX: none */
        uint32_t depth;
        uint32_t n_children;
};

struct tree {
        struct buffer text;
        struct node *list; /* owned; in the order in which they begin */
        size_t n;
        uint32_t depth; /* of the deepest, and 1 */
};

static void tree_done(struct tree *t)
{
        buffer_done(&t->text);
        free(t->list);
}

static int add_node(struct tree *t, const struct token *token, size_t parent)
{
        if (list_grow(t->list, t->n) < 0)
                return -ENOMEM;
        t->list[t->n] = (struct node){.begin = token->begin,
                                      .end = token->end,
                                      .parent = parent,
                                      .depth = parent == SIZE_MAX ? 0 : t->list[parent].depth + 1};
        t->depth = MAX(t->depth, t->list[t->n].depth + 1);
        if (parent != SIZE_MAX)
                t->list[parent].n_children++;
        t->n++;
        return 0;
}

static int tree_read(struct reducer *r, struct tree *ret)
{
        struct slice text = reduce_text(r);
        struct tokenizer t;
        struct token token;
        size_t parent = SIZE_MAX;
        int k = 0;

        buffer_adds(&ret->text, "");
        buffer_add(&ret->text, text.data, text.size);
        if (buffer_error(&ret->text) < 0)
                return -ENOMEM;
        tokenizer_init(&t, SLICE(ret->text.data, ret->text.size), DIALECT_2_6);
        while (k == 0 && token_next(&t, &token) != TOKEN_END) {
                if (token.kind == TOKEN_CLOSE) {
                        if (parent == SIZE_MAX)
                                return -EINVAL;
                        ret->list[parent].end = token.end;
                        parent = ret->list[parent].parent;
                        continue;
                }
                k = add_node(ret, &token, parent);
                if (token.kind == TOKEN_OPEN)
                        parent = ret->n - 1;
        }
        return k < 0 ? k : parent != SIZE_MAX ? -EINVAL : 0;
}

struct nodes {
        struct tree *tree;
        size_t *list; /* owned: of one depth */
        size_t n;
};

static void nodes_done(struct nodes *nodes)
{
        free(nodes->list);
}

static int nodes_of_depth(struct tree *t, uint32_t depth, struct nodes *ret)
{
        *ret = (struct nodes){.tree = t, .list = calloc(t->n + 1, sizeof(*ret->list))};
        if (!ret->list)
                return -ENOMEM;
        for (size_t i = 0; i < t->n; i++)
                if (t->list[i].depth == depth)
                        ret->list[ret->n++] = i;
        return 0;
}

/* A part that is left out takes the white space before it along. */
static int without_nodes(void *user, const bool *is_out, struct buffer *ret)
{
        const struct nodes *nodes = user;
        const char *text = nodes->tree->text.data;
        size_t at = 0;

        for (size_t i = 0; i < nodes->n; i++) {
                const struct node *node = &nodes->tree->list[nodes->list[i]];
                size_t begin = node->begin;

                if (!is_out[i])
                        continue;
                while (begin > at && strchr(" \t\n\r", text[begin - 1]))
                        begin--;
                buffer_add(ret, text + at, begin - at);
                at = node->end;
                if (at < nodes->tree->text.size && !strchr("() \t\n\r", text[at]) && ret->size > 0)
                        buffer_adds(ret, " ");
        }
        buffer_add(ret, text + at, nodes->tree->text.size - at);
        return 0;
}

static int leave_out(struct reducer *r, bool *ret_any)
{
        reduce_stage(r, "trees");
        for (uint32_t depth = 0;; depth++) {
                cleanup(tree_done) struct tree t = {0};
                cleanup(nodes_done) struct nodes nodes = {0};
                int k = tree_read(r, &t);

                if (k < 0 || depth >= t.depth)
                        return k;
                k = nodes_of_depth(&t, depth, &nodes);
                if (k == 0)
                        k = reduce_sweep(r, nodes.n, 0, without_nodes, &nodes);
                if (k < 0)
                        return k;
                *ret_any |= k > 0;
        }
}

/* Each node with children in turn gives way to each of them: candidates are numbered by the child. */
static int make_child(void *user, size_t at, struct buffer *ret)
{
        const struct tree *t = user;
        const struct node *child = &t->list[at], *parent;

        if (child->parent == SIZE_MAX)
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
                cleanup(tree_done) struct tree t = {0};
                int k = tree_read(r, &t);

                taken = k < 0 ? k : reduce_first(r, at, t.n, make_child, &t, &at);
                *ret_any |= taken > 0;
        } while (taken > 0);
        return taken;
}

int reduce_trees(struct reducer *r)
{
        bool any = false, more;
        int k;

        do {
                more = false;
                k = leave_out(r, &more);
                if (k == 0)
                        k = lift(r, &more);
                any |= more;
        } while (k == 0 && more);
        return k < 0 ? k : any;
}

/* -- lines -- */

struct lines {
        struct buffer text;
        size_t *begin; /* owned: of each line; n + 1 of them */
        size_t n;
};

static void lines_done(struct lines *l)
{
        buffer_done(&l->text);
        free(l->begin);
}

static int lines_read(struct reducer *r, struct lines *ret)
{
        struct slice text = reduce_text(r);

        buffer_adds(&ret->text, "");
        buffer_add(&ret->text, text.data, text.size);
        if (buffer_error(&ret->text) < 0)
                return -ENOMEM;
        for (size_t at = 0;; at++) {
                if (at != 0 && at < text.size && ret->text.data[at - 1] != '\n')
                        continue;
                if (list_grow(ret->begin, ret->n) < 0)
                        return -ENOMEM;
                ret->begin[ret->n] = at;
                if (at >= text.size)
                        return 0;
                ret->n++;
        }
}

static int without_lines(void *user, const bool *is_out, struct buffer *ret)
{
        const struct lines *l = user;

        for (size_t i = 0; i < l->n; i++)
                if (!is_out[i])
                        buffer_add(ret, l->text.data + l->begin[i], l->begin[i + 1] - l->begin[i]);
        return 0;
}

int reduce_lines(struct reducer *r)
{
        int any = 0, k;

        reduce_stage(r, "lines");
        do {
                cleanup(lines_done) struct lines l = {0};

                k = lines_read(r, &l);
                if (k == 0)
                        k = reduce_sweep(r, l.n, 0, without_lines, &l);
                any |= k > 0;
        } while (k > 0);
        return k < 0 ? k : any;
}
