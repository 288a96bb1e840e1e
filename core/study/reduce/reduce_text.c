/* The steps of a text that is no script: trees of parentheses, lines. */
#include "core/study/reduce/reduce_internal.h"

/* A word, or parentheses with what is between them; or a line. */
struct node {
        size_t begin, end; /* bytes */
        size_t parent;     /* SIZE_MAX: none */
        uint32_t depth;
};

struct tree {
        struct buffer text;
        struct node *list; /* owned; in the order in which they begin */
        size_t n;
        uint32_t depth; /* of the deepest, and 1 */
        bool has_lines; /* they are lines */
        size_t *level;  /* owned: those of one depth */
        size_t n_level;
};

static void tree_done(struct tree *t)
{
        buffer_done(&t->text);
        free(t->list);
        free(t->level);
}

static void add_node(struct tree *t, size_t begin, size_t end, size_t parent)
{
        list_grow(t->list, t->n);
        t->list[t->n] = (struct node){
                .begin = begin, .end = end, .parent = parent, .depth = parent == SIZE_MAX ? 0 : t->list[parent].depth + 1};
        t->depth = MAX(t->depth, t->list[t->n].depth + 1);
        t->n++;
}

static int tree_read(struct reducer *r, struct tree *ret)
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
        cleanup(tree_done) struct tree t = {0};
        bool is_tree = tree_read(r, &t) == 0 && t.n > 0;

        for (size_t i = 0; i < t.n; i++)
                is_tree &= t.list[i].depth > 0 || t.text.data[t.list[i].begin] == '(';
        return is_tree;
}

static int lines_read(struct reducer *r, struct tree *ret)
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

/* A part that is left out takes the white space before it along, but for a line. */
static int without_nodes(void *user, const bool *is_out, struct buffer *ret)
{
        const struct tree *t = user;
        const char *text = t->text.data;
        size_t at = 0;

        for (size_t i = 0; i < t->n_level; i++) {
                const struct node *node = &t->list[t->level[i]];
                size_t begin = node->begin;

                if (!is_out[i])
                        continue;
                while (!t->has_lines && begin > at && strchr(" \t\n\r", text[begin - 1]))
                        begin--;
                buffer_add(ret, text + at, begin - at);
                at = node->end;
                if (!t->has_lines && at < t->text.size && !strchr("() \t\n\r", text[at]) && ret->size > 0)
                        buffer_adds(ret, " ");
        }
        buffer_add(ret, text + at, t->text.size - at);
        return 0;
}

/* How many of one depth were left out; -ERANGE: there is nothing as deep. */
static int leave_out_at(struct reducer *r, int (*read)(struct reducer *r, struct tree *ret), uint32_t depth)
{
        cleanup(tree_done) struct tree t = {0};
        int k = read(r, &t);

        if (k < 0 || depth >= t.depth)
                return k < 0 ? k : -ERANGE;
        t.level = allocate(t.n, sizeof(*t.level));
        for (size_t i = 0; i < t.n; i++)
                if (t.list[i].depth == depth)
                        t.level[t.n_level++] = i;
        return reduce_sweep(r, t.n_level, 0, without_nodes, &t);
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
                k = 0;
                reduce_stage(r, "trees");
                for (uint32_t depth = 0; k >= 0; depth++) {
                        k = leave_out_at(r, tree_read, depth);
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

        reduce_stage(r, "lines");
        do {
                k = leave_out_at(r, lines_read, 0);
                any |= k > 0;
        } while (k > 0);
        return k < 0 && k != -ERANGE ? k : any;
}
