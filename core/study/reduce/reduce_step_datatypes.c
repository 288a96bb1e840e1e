/* The step that leaves out datatypes, their constructors, and fields. What is used elsewhere stays, as a candidate without it is no script; and so does
 * each datatype's way to a value: without one, no solver takes the declaration. */
#include "core/study/reduce/reduce_steps.h"

#define NONE SIZE_MAX

struct constructor {
        size_t node, name, type; /* nodes: nil or (cons (head T) …), the word; its datatype's index */
};

struct datatype {
        size_t command, name;
        size_t arity; /* the node (Name 1) of the form of 2.6; NONE: another form */
        size_t body; /* ((nil) …), (par (T) ((nil) …)), or (Name nil …) of the old form */
        size_t same;               /* another datatype of this name; NONE */
        size_t n_left;             /* its constructors in the candidate */
        bool had_value, has_value; /* before, and in the candidate */
};

struct datatypes {
        const struct script_state *state;
        struct term_map mentions;
        bool has_text; /* commands that are only text, and have terms */
        struct text_tree tree;
        struct datatype *types; /* owned */
        size_t n_types;
        struct constructor *constructors; /* owned */
        size_t n_constructors;
        struct datatype_item {
                size_t node, also; /* also: a node that goes with it; NONE */
        } *items;                  /* owned */
        size_t n_items;
        size_t *named; /* owned: of each node the first datatype that has this word for its name; NONE */
        bool *is_gone; /* owned: of each node */
};

static void datatypes_done(struct datatypes *d)
{
        term_map_done(&d->mentions);
        text_tree_done(&d->tree);
        free(d->types);
        free(d->constructors);
        free(d->items);
        free(d->named);
        free(d->is_gone);
}

/* The child after `child`, or the first for the parent itself. */
static size_t next_child(const struct text_tree *t, size_t parent, size_t child)
{
        for (size_t i = child + 1; i < t->n && t->list[i].begin < t->list[parent].end; i++)
                if (t->list[i].parent == parent)
                        return i;
        return NONE;
}

static size_t first_child(const struct text_tree *t, size_t parent)
{
        return parent == NONE ? NONE : next_child(t, parent, parent);
}

static bool is_list(const struct text_tree *t, size_t i)
{
        return i != NONE && t->text.data[t->list[i].begin] == '(';
}

static struct slice node_word(const struct text_tree *t, size_t i)
{
        const char *text = t->text.data + t->list[i].begin;
        size_t size = t->list[i].end - t->list[i].begin;

        return size >= 2 && *text == '|' ? SLICE(text + 1, size - 2) : SLICE(text, size);
}

static bool is_word(const struct text_tree *t, size_t i, const char *word)
{
        return i != NONE && text_is(node_word(t, i), word);
}

/* A command that is only text may give a variable to each field. */
static bool keeps_fields(const struct datatypes *d, size_t constructor)
{
        const struct symbol *s = symbol_find(d->state->script->bank, node_word(&d->tree, constructor));

        return d->has_text && s && id_map_get(&d->mentions, s->id) > 1;
}

static void add_item(struct datatypes *d, size_t node, size_t also)
{
        list_add(d->items, d->n_items, (struct datatype_item){node, also});
}

/* `at`: the child before the first constructor. */
static void add_type(struct datatypes *d, struct datatype type, size_t parent, size_t at)
{
        const struct text_tree *t = &d->tree;

        while ((at = next_child(t, parent, at)) != NONE) {
                size_t name = is_list(t, at) ? first_child(t, at) : at;

                list_add(d->constructors, d->n_constructors, (struct constructor){at, name == NONE ? at : name, d->n_types});
        }
        list_add(d->types, d->n_types, type);
}

/* With or without (par (T) …). */
static void add_body(struct datatypes *d, struct datatype type)
{
        const struct text_tree *t = &d->tree;
        size_t parent = type.body, first = first_child(t, parent);

        if (is_word(t, first, "par")) {
                parent = next_child(t, parent, next_child(t, parent, first));
                if (parent == NONE)
                        return;
        }
        add_type(d, type, parent, parent);
}

static void add_declaration(struct datatypes *d, size_t command)
{
        const struct text_tree *t = &d->tree;
        size_t word = first_child(t, command), names = next_child(t, command, word), bodies = next_child(t, command, names);
        size_t name = first_child(t, names), body = first_child(t, bodies);

        if (is_word(t, word, "declare-datatype")) {
                add_body(d, (struct datatype){.command = command, .name = names, .arity = NONE, .body = bodies});
        } else if (is_list(t, name)) {
                for (; name != NONE && body != NONE; name = next_child(t, names, name), body = next_child(t, bodies, body))
                        add_body(d, (struct datatype){.command = command, .name = first_child(t, name), .arity = name, .body = body});
        } else {
                for (; body != NONE; body = next_child(t, bodies, body)) {
                        name = first_child(t, body);
                        add_type(d, (struct datatype){.command = command, .name = name, .arity = NONE, .body = body}, body, name);
                }
        }
}

/* Whole datatypes first, then constructors, then fields. */
static void list_items(struct datatypes *d)
{
        const struct text_tree *t = &d->tree;

        for (size_t i = 0; i < d->n_types; i++)
                add_item(d, d->types[i].body, d->types[i].arity);
        for (size_t k = 0; k < d->n_constructors; k++)
                add_item(d, d->constructors[k].node, NONE);
        for (size_t k = 0; k < d->n_constructors; k++) {
                size_t node = d->constructors[k].node, field = d->constructors[k].name;

                while (is_list(t, node) && !keeps_fields(d, d->constructors[k].name) && (field = next_child(t, node, field)) != NONE)
                        if (is_list(t, field))
                                add_item(d, field, NONE);
        }
}

/* -- values -- */

static size_t type_named(const struct datatypes *d, size_t node, size_t from)
{
        const struct slice word = node_word(&d->tree, node);

        for (size_t i = from; i < d->n_types; i++) {
                const struct slice name = node_word(&d->tree, d->types[i].name);

                if (same_bytes(name, word))
                        return i;
        }
        return NONE;
}

/* Once, as each candidate asks for it. */
static void find_names(struct datatypes *d)
{
        d->named = allocate(d->tree.n, sizeof(*d->named));
        for (size_t i = 0; i < d->tree.n; i++)
                d->named[i] = is_list(&d->tree, i) ? NONE : type_named(d, i, 0);
        for (size_t i = 0; i < d->n_types; i++)
                d->types[i].same = type_named(d, d->types[i].name, i + 1);
}

static bool is_without_value(const struct datatypes *d, size_t node)
{
        for (size_t i = d->named[node]; i != NONE; i = d->types[i].same)
                if (!d->types[i].has_value)
                        return true;
        return false;
}

/* All that its fields' sorts name has a value. */
static bool makes_value(const struct datatypes *d, const struct constructor *c)
{
        const struct text_tree *t = &d->tree;

        if (d->is_gone[c->node] || d->is_gone[d->types[c->type].body])
                return false;
        for (size_t field = is_list(t, c->node) ? next_child(t, c->node, c->name) : NONE; field != NONE; field = next_child(t, c->node, field))
                for (size_t i = first_child(t, field); !d->is_gone[field] && i < t->n && t->list[i].begin < t->list[field].end; i++)
                        if (i != first_child(t, field) && is_without_value(d, i)) /* the first is the selector's name */
                                return false;
        return true;
}

/* A datatype has a value if a constructor makes one of values that are there, until no more is found. */
static void find_values(struct datatypes *d)
{
        bool more = true;

        for (size_t i = 0; i < d->n_types; i++)
                d->types[i].has_value = false;
        while (more) {
                more = false;
                for (size_t i = 0; i < d->n_constructors; i++) {
                        struct datatype *type = &d->types[d->constructors[i].type];

                        if (!type->has_value && makes_value(d, &d->constructors[i]))
                                type->has_value = more = true;
                }
        }
}

/* -- candidates -- */

/* Marks what goes with these items, and counts the constructors that stay. */
static void mark(struct datatypes *d, const bool *is_out)
{
        memset(d->is_gone, 0, d->tree.n * sizeof(*d->is_gone));
        for (size_t i = 0; i < d->n_items; i++) {
                if (!is_out[i])
                        continue;
                d->is_gone[d->items[i].node] = true;
                if (d->items[i].also != NONE)
                        d->is_gone[d->items[i].also] = true;
        }
        for (size_t i = 0; i < d->n_types; i++) {
                d->is_gone[d->types[i].command] = true;
                d->types[i].n_left = 0;
        }
        for (size_t i = 0; i < d->n_types; i++) /* a command goes with its last datatype */
                if (!d->is_gone[d->types[i].body])
                        d->is_gone[d->types[i].command] = false;
        for (size_t i = 0; i < d->n_constructors; i++)
                d->types[d->constructors[i].type].n_left += !d->is_gone[d->constructors[i].node];
}

static int text_with_datatypes(void *user, const bool *is_out, struct buffer *ret)
{
        struct datatypes *d = user;

        mark(d, is_out);
        find_values(d);
        for (size_t i = 0; i < d->n_types; i++)
                if (!d->is_gone[d->types[i].body] && (d->types[i].n_left == 0 || (d->types[i].had_value && !d->types[i].has_value)))
                        return -ENOENT;
        text_tree_write_without(&d->tree, d->is_gone, ret);
        return 0;
}

int step_datatypes(struct reduce_steps *steps, const struct reduce_step *, struct script_state *s)
{
        cleanup(datatypes_done) struct datatypes d = {.state = s};
        size_t at = 0, n = 0;
        int k;

        for (size_t i = 0; i < s->script->n_commands; i++) {
                enum command_kind kind = s->script->commands[i].kind;

                n += kind == COMMAND_DECLARE_DATATYPES;
                d.has_text |= kind == COMMAND_OPAQUE || kind == COMMAND_DEFINE_FUNS_REC;
        }
        k = n > 0 ? text_tree_read(steps->reducer, &d.tree) : 0;
        if (k < 0 || n == 0)
                return k;
        state_count_mentions(s, &d.mentions);
        d.is_gone = allocate(d.tree.n, sizeof(*d.is_gone));
        for (size_t i = 0; i < d.tree.n && at < s->script->n_commands; i++) {
                if (d.tree.list[i].depth > 0)
                        continue;
                if (s->script->commands[at++].kind == COMMAND_DECLARE_DATATYPES)
                        add_declaration(&d, i);
        }
        list_items(&d);
        find_names(&d);
        find_values(&d);
        for (size_t i = 0; i < d.n_types; i++)
                d.types[i].had_value = d.types[i].has_value;
        return d.n_items > 0 ? reduce_sweep(steps->reducer, d.n_items, 0, text_with_datatypes, &d) : 0;
}
