/* Scrambles SMT-LIB on its text: a tree of tokens for each command. Terms would lose the lets of the source. */
#include "core/smtlib/scramble.h"

#include "cache/base/random.h"
#include "core/smtlib/logic.h"
#include "core/smtlib/smtlib_internal.h"

#define NOWHERE UINT32_MAX
#define BOUND   SIZE_MAX /* in place of a command: bound within a part of it only */

/* A token, or a list in parentheses. Lists are linked, as their order changes. */
struct node {
        struct slice text;           /* of a token, as in the input; empty for a list */
        const struct symbol *symbol; /* of a symbol */
        uint64_t hash;               /* of its text, without white space: equal nodes are scrambled alike */
        uint32_t parent, first, last, next;
        uint32_t n;           /* members of a list */
        enum token_kind kind; /* TOKEN_OPEN: a list */
        bool is_quoted;
};

struct tree {
        struct node *nodes; /* 0: the command */
        size_t n, size;
};

/* A symbol: how it is declared, and its new name. */
struct name {
        bool is_bound;         /* declared, defined, a parameter or a variable somewhere */
        bool is_kept;          /* also a name of the standard, or a command that is not understood mentions it */
        uint32_t number;       /* in its new name; 0: it keeps its own */
        uint32_t defined_by;   /* the last command that declares it, plus 1 */
        uint32_t mentioned_by; /* the last command that mentions it, plus 1 */
        int32_t applied;       /* how often it begins a list, without those that bind it */
};

/* Commands are ordered freely, but each comes after those that it mentions. */
struct scrambler {
        const char *base; /* of the input */
        struct script *script;
        struct random random;
        uint64_t seed;      /* for operands */
        struct tree tree;   /* of the current command */
        struct name *names; /* by the symbol's id */
        size_t n_names;
        size_t prefix;         /* length of x…x such that no symbol begins with it and a digit */
        bool keeps_arithmetic; /* by the logic: the shape of atoms is kept */
        size_t *segments;      /* by command: the first one of the segment within which it may move */
        uint32_t *needs;       /* commands that must come before, */
        size_t *needs_end;     /* by command: its end in that list */
        bool *names_itself;    /* by command: it uses a name that it gives, which must stay before its uses */
        size_t n_needs;
        size_t n_renamed, n_lists_changed, n_moved;
};

static void scrambler_done(struct scrambler *s)
{
        script_free(s->script);
        free(s->tree.nodes);
        free(s->names);
        free(s->segments);
        free(s->needs);
        free(s->needs_end);
        free(s->names_itself);
}

/* -- the tree -- */

static void add_node(struct scrambler *s, uint32_t parent, const struct token *token)
{
        struct tree *t = &s->tree;
        struct node made = {
                .parent = parent, .first = NOWHERE, .last = NOWHERE, .next = NOWHERE, .kind = token->kind, .is_quoted = token->is_quoted};
        uint32_t at = (uint32_t)t->n;

        assert(t->n < NOWHERE); /* an input of 4 GB has fewer tokens */
        grow(t->nodes, t->n, t->size);
        if (token->kind != TOKEN_OPEN) {
                made.text = SLICE(s->base + token->begin, token->end - token->begin);
                made.hash = hash_mix(1, text_hash(0, made.text));
        }
        if (token->kind == TOKEN_SYMBOL)
                made.symbol = symbol_of(s->script->bank, token->text);
        t->nodes[t->n++] = made;
        if (parent == NOWHERE)
                return;
        if (t->nodes[parent].last == NOWHERE)
                t->nodes[parent].first = at;
        else
                t->nodes[t->nodes[parent].last].next = at;
        t->nodes[parent].last = at;
        t->nodes[parent].n++;
}

/* The hashes of its members must be set. */
static void hash_list(struct tree *t, struct node *list)
{
        list->hash = hash_mix(2, list->n);
        for (uint32_t i = list->first; i != NOWHERE; i = t->nodes[i].next)
                list->hash = hash_mix(list->hash, t->nodes[i].hash);
}

/* The reader has read the command, so its parentheses match. -EINVAL: not in the dialect that a later :smt-lib-version names. */
static int make_tree(struct scrambler *s, const struct command *c)
{
        struct tokenizer tokens;
        struct token token;
        uint32_t list = NOWHERE;

        s->tree.n = 0;
        tokenizer_init(&tokens, SLICE(s->base, c->span.end), s->script->dialect);
        tokens.p += c->span.begin;
        while (token_next(&tokens, &token) != TOKEN_END) {
                if (token.kind == TOKEN_CLOSE && list == NOWHERE)
                        return errorf(-EINVAL, "a closing parenthesis without an open one");
                if (token.kind == TOKEN_CLOSE) {
                        hash_list(&s->tree, &s->tree.nodes[list]);
                        list = s->tree.nodes[list].parent;
                        continue;
                }
                add_node(s, list, &token);
                if (token.kind == TOKEN_OPEN)
                        list = (uint32_t)s->tree.n - 1;
        }
        return 0;
}

static const struct node *node_at(const struct scrambler *s, uint32_t at)
{
        return at == NOWHERE ? NULL : &s->tree.nodes[at];
}

static const struct node *first_of(const struct scrambler *s, const struct node *list)
{
        return list && list->kind == TOKEN_OPEN ? node_at(s, list->first) : NULL;
}

static const struct node *behind(const struct scrambler *s, const struct node *n)
{
        return n ? node_at(s, n->next) : NULL;
}

static bool is_word(const struct node *n, const char *word)
{
        return n && n->kind == TOKEN_SYMBOL && !n->is_quoted && text_is(n->text, word);
}

/* -- names -- */

static struct name *name_of(struct scrambler *s, const struct symbol *symbol)
{
        while (symbol->id >= s->n_names)
                list_add(s->names, s->n_names, (struct name){0});
        return &s->names[symbol->id];
}

static bool is_bound(const struct scrambler *s, const struct symbol *symbol)
{
        return symbol->id < s->n_names && s->names[symbol->id].is_bound;
}

/* Operators, names of commands, reserved words, and words of solvers and sorts that these tables lack. A name that is spelled like one of them stays. */
static bool is_predefined(const struct symbol *symbol)
{
        static const char *const words[] = {"Bool",    "Int",     "Real",  "String",    "RegLan", "RegEx",   "RoundingMode",
                                            "BitVec",  "Array",   "Set",   "Bag",       "Seq",    "Tuple",   "FloatingPoint",
                                            "Float16", "Float32", "const", "UnitTuple", "Char",   "Unicode", "Relation",
                                            "Float64", "List",    "Pair",  "Float128",  "Unit",   "lambda",  "FiniteField",
                                            "choice",  "witness", "set.comprehension"};

        if (symbol->op != OP_NONE || symbol->is_reserved || command_kind_of(symbol->name) != COMMAND_OPAQUE)
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (text_is(symbol->name, words[i]))
                        return true;
        return false;
}

/* (f x), (x Int) */
static bool begins_list(const struct scrambler *s, const struct node *n)
{
        const struct node *list = node_at(s, n->parent);

        return list && list->n > 1 && first_of(s, list) == n;
}

/* The constructor cons for is-cons, its tester before 2.6; else NULL. */
static const struct symbol *tested_by(const struct scrambler *s, const struct symbol *symbol)
{
        const char *name = symbol->name.data;
        const struct symbol *constructor;

        if (is_bound(s, symbol) || symbol->name.size < 4 || memcmp(name, "is-", 3) != 0)
                return NULL;
        constructor = symbol_find(s->script->bank, SLICE(name + 3, symbol->name.size - 3));
        return constructor && is_bound(s, constructor) ? constructor : NULL;
}

/* Records a name of command `at`, which later commands know, too. If an earlier command mentioned it, the order is not free: within one segment a
 * name has one meaning. BOUND: a parameter or a variable. */
static void define(struct scrambler *s, const struct node *n, size_t at)
{
        struct name *name;

        if (!n || n->kind != TOKEN_SYMBOL)
                return;
        name = name_of(s, n->symbol);
        name->is_bound = true;
        name->is_kept |= is_predefined(n->symbol);
        if (at == BOUND) {
                name->applied -= begins_list(s, n);
                return;
        }
        if (name->mentioned_by > s->segments[at])
                s->segments[at] = at;
        name->defined_by = (uint32_t)at + 1;
}

/* Records the names at a path from `n`: ( is the first member of a list, > the next in the same list, * each from there to the end. */
static void define_at(struct scrambler *s, const struct node *n, const char *path, size_t at)
{
        for (; n && (*path == '(' || *path == '>'); path++)
                n = *path == '(' ? first_of(s, n) : behind(s, n);
        if (n && *path == '\0')
                define(s, n, at);
        for (; n && *path == '*'; n = behind(s, n))
                define_at(s, n, path + 1, at);
}

/* Records the names that a list binds as a term of command `at`. */
static void bind_in_term(struct scrambler *s, const struct node *list, size_t at)
{
        static const char *const binders[] = {"let", "forall", "exists", "lambda", "choice", "witness", "set.comprehension"};
        const struct node *head = first_of(s, list);

        for (size_t i = 0; i < ARRAY_SIZE(binders); i++)
                if (is_word(head, binders[i])) /* (let ((x t) (y u)) …) */
                        define_at(s, head, ">(*(", BOUND);
        if (is_word(head, "par")) /* (par (x y) …) */
                define_at(s, head, ">(*", BOUND);
        if (is_word(head, "match")) { /* (match t ((nil …) ((cons h t) …))) */
                define_at(s, head, ">>(*(", BOUND);
                define_at(s, head, ">>(*((*", BOUND);
        }
        for (const struct node *n = is_word(head, "!") ? head : NULL; n; n = behind(s, n))
                if (n->kind == TOKEN_KEYWORD && text_is(n->text, ":named"))
                        define_at(s, n, ">", at);
}

/* Records constructors from there to the end of the list: nil or (cons (head T) (tail L)), each. */
static void define_constructors(struct scrambler *s, const struct node *n, size_t at)
{
        define_at(s, n, "*", at);
        define_at(s, n, "*(", at);
        define_at(s, n, "*(>*(", at);
}

/* ((nil) …) or (par (T) ((nil) …)) */
static void define_datatype(struct scrambler *s, const struct node *body, size_t at)
{
        const struct node *first = first_of(s, body);

        define_constructors(s, is_word(first, "par") ? first_of(s, behind(s, behind(s, first))) : first, at);
}

static void define_datatypes(struct scrambler *s, const struct node *head, size_t at)
{
        const struct node *name = behind(s, head);
        bool is_old = !first_of(s, first_of(s, name)); /* (declare-datatypes (T) ((L nil …))), or ((L 1)) (…) of 2.6 */

        if (is_word(head, "declare-datatype")) {
                define(s, name, at);
                define_datatype(s, behind(s, name), at);
                return;
        }
        define_at(s, name, is_old ? "(*" : "(*(", is_old ? BOUND : at);
        for (const struct node *n = first_of(s, behind(s, name)); n; n = behind(s, n)) {
                if (is_old) {
                        define_at(s, n, "(", at);
                        define_constructors(s, behind(s, first_of(s, n)), at);
                } else {
                        define_datatype(s, n, at);
                }
        }
}

/* The names that a command declares. */
static void define_in_command(struct scrambler *s, enum command_kind kind, size_t at)
{
        const struct node *head = first_of(s, node_at(s, 0)), *name = behind(s, head);

        switch ((int)kind) {
        case COMMAND_DEFINE_SORT: /* (define-sort S (T U) …) */
                define_at(s, name, ">(*", BOUND);
                define(s, name, at);
                break;
        case COMMAND_DEFINE_FUN:
        case COMMAND_DEFINE_FUN_REC: /* (define-fun f ((x S)) S …) */
                if (!is_word(head, "define-const"))
                        define_at(s, name, ">(*(", BOUND);
                define(s, name, at);
                break;
        case COMMAND_DECLARE_SORT:
        case COMMAND_DECLARE_FUN:
        case COMMAND_DECLARE_CONST:
                define(s, name, at);
                break;
        case COMMAND_DEFINE_FUNS_REC: /* (define-funs-rec ((f ((x S)) S)) …) */
                define_at(s, name, "(*(", at);
                define_at(s, name, "(*(>(*(", BOUND);
                break;
        case COMMAND_DECLARE_DATATYPES:
                define_datatypes(s, head, at);
                break;
        }
}

/* -- the order of commands -- */

static bool may_move(enum command_kind kind)
{
        return kind >= COMMAND_DECLARE_SORT &&
               kind <= COMMAND_ASSERT; /* declarations, definitions and assertions are neighbours */
}

/* True if its names are the script's. Other commands hold keywords, values of options and text. */
static bool has_terms(enum command_kind kind)
{
        return may_move(kind) || kind == COMMAND_CHECK_SAT_ASSUMING || kind == COMMAND_GET_VALUE;
}

/* The length of x…x at the beginning, if a digit follows. */
static size_t prefix_of(struct slice name)
{
        const char *p = name.data;
        size_t n = 0;

        while (n < name.size && p[n] == 'x')
                n++;
        return n < name.size && p[n] >= '0' && p[n] <= '9' ? n : 0;
}

static void mention(struct scrambler *s, const struct symbol *symbol, bool is_kept, size_t at)
{
        const struct symbol *constructor = tested_by(s, symbol);
        struct name *name = name_of(s, constructor ? constructor : symbol);

        s->prefix = MAX(s->prefix, prefix_of(symbol->name) + 1);
        name->is_kept |= is_kept;
        if (name->mentioned_by == at + 1) {
                s->names_itself[at] |= name->defined_by == at + 1;
                return;
        }
        name->mentioned_by = (uint32_t)at + 1;
        if (name->defined_by <= s->segments[at] || name->defined_by == at + 1) /* by no command, an earlier segment's, or this one */
                return;
        list_add(s->needs, s->n_needs, name->defined_by - 1);
}

/* Records the names that the current command binds, declares and mentions. */
static void survey(struct scrambler *s, const struct command *c, size_t at)
{
        bool is_known = has_terms(c->kind);

        if (is_known)
                define_in_command(s, c->kind, at);
        for (size_t i = 0; is_known && i < s->tree.n; i++)
                if (s->tree.nodes[i].kind == TOKEN_OPEN)
                        bind_in_term(s, &s->tree.nodes[i], at);
        for (size_t i = 0; i < s->tree.n; i++)
                if (s->tree.nodes[i].symbol) {
                        mention(s, s->tree.nodes[i].symbol, !is_known, at);
                        name_of(s, s->tree.nodes[i].symbol)->applied += begins_list(s, &s->tree.nodes[i]);
                }
}

/* Recognizes a command that the reader keeps as text, such as (assert (match …)): names and operators are enough here. */
static int recognize(const struct scrambler *s, struct command *c)
{
        const struct node *head = first_of(s, node_at(s, 0));

        if (is_word(head, "include"))
                return errorf(-ENOTSUP, "cannot scramble this: it includes another file, whose names are not known");
        c->kind = command_kind_of(head->text);
        return 0;
}

static int survey_all(struct scrambler *s)
{
        size_t n = s->script->n_commands, segment = 0;

        s->segments = allocate(n, sizeof(*s->segments));
        s->needs_end = allocate(n, sizeof(*s->needs_end));
        s->names_itself = allocate(n, sizeof(*s->names_itself));
        for (size_t i = 0; i < n; i++) {
                struct command *c = &s->script->commands[i];
                bool is_opaque = c->kind == COMMAND_OPAQUE;
                int r = is_opaque || has_terms(c->kind) ? make_tree(s, c) : 0;

                if (r == 0 && is_opaque)
                        r = recognize(s, c);
                if (r < 0)
                        return r;
                if (!may_move(c->kind) || (i > 0 && !may_move(c[-1].kind)))
                        segment = i;
                s->segments[i] = segment;
                if (has_terms(c->kind) || c->kind == COMMAND_OPAQUE)
                        survey(s, c, i);
                segment = s->segments[i];
                s->needs_end[i] = s->n_needs;
        }
        return 0;
}

/* Appends a command to the order, after those that it needs. */
static void place_command(struct scrambler *s, size_t at, bool *is_placed, size_t *order, size_t *n)
{
        cleanup_free struct visit {
                size_t command, need;
        } *stack = NULL;
        size_t depth = 0;

        for (;;) {
                if (!is_placed[at]) {
                        is_placed[at] = true;
                        list_add(stack, depth, (struct visit){at, at == 0 ? 0 : s->needs_end[at - 1]});
                }
                for (; depth > 0 && stack[depth - 1].need == s->needs_end[stack[depth - 1].command]; depth--)
                        order[(*n)++] = stack[depth - 1].command;
                if (depth == 0)
                        return;
                at = s->needs[stack[depth - 1].need++];
        }
}

/* A random order of the commands. */
static void order_commands(struct scrambler *s, size_t *ret)
{
        size_t n_commands = s->script->n_commands, n = 0;
        cleanup_free uint32_t *wish = allocate(n_commands, sizeof(*wish));
        cleanup_free bool *is_placed = allocate(n_commands, sizeof(*is_placed));

        for (size_t begin = 0, end; begin < n_commands; begin = end) {
                for (end = begin; end < n_commands && s->segments[end] == begin; end++)
                        wish[end] = (uint32_t)end;
                random_shuffle(&s->random, wish + begin, end - begin);
                for (size_t i = begin; i < end; i++)
                        place_command(s, wish[i], is_placed, ret, &n);
                s->n_moved += end - begin > 1;
        }
}

/* -- new names -- */

/* Numbers each name that may change. One that is applied and that no command declares is also an operator that these tables lack: it stays. */
static void number_names(struct scrambler *s)
{
        cleanup_free uint32_t *ids = allocate(s->n_names, sizeof(*ids));

        for (size_t id = 0; id < s->n_names; id++)
                if (s->names[id].is_bound && !s->names[id].is_kept && (s->names[id].defined_by > 0 || s->names[id].applied <= 0))
                        ids[s->n_renamed++] = (uint32_t)id;
        random_shuffle(&s->random, ids, s->n_renamed);
        for (size_t i = 0; i < s->n_renamed; i++)
                s->names[ids[i]].number = (uint32_t)i + 1;
}

/* (_ bv5 8); not (_ t), the case of a match for any value. */
static bool is_identifier(const struct scrambler *s, const struct node *list)
{
        const struct node *cases = node_at(s, list->parent), *match = cases ? first_of(s, node_at(s, cases->parent)) : NULL;

        return is_word(first_of(s, list), "_") && !(is_word(match, "match") && behind(s, behind(s, match)) == cases);
}

/* True before an operator or literal with indices: bv5 of (_ bv5 8). */
static bool has_indices(const struct scrambler *s, const struct node *n)
{
        const struct node *list = node_at(s, n->parent);

        return list && is_identifier(s, list) && behind(s, first_of(s, list)) == n;
}

static void print_symbol(const struct scrambler *s, const struct node *n, struct buffer *ret)
{
        const struct symbol *constructor = tested_by(s, n->symbol);
        uint32_t number = s->names[constructor ? constructor->id : n->symbol->id].number;

        if (number == 0 || has_indices(s, n)) {
                buffer_add(ret, n->text.data, n->text.size);
                return;
        }
        if (constructor)
                buffer_adds(ret, "is-");
        for (size_t i = 0; i < s->prefix; i++)
                buffer_add(ret, "x", 1);
        buffer_addf(ret, "%u", number);
}

/* -- operands -- */

/* (_ map and): indices follow the name, so it is not an application. */
static bool is_index(const struct scrambler *s, const struct node *list)
{
        const struct node *parent = node_at(s, list->parent);

        return is_identifier(s, list) || (parent && is_identifier(s, parent));
}

/* The operator with the same meaning for swapped operands. OP_NONE if there is none, or the script redefines its name. */
static enum op mirror_of(const struct scrambler *s, enum op op)
{
        static const enum op pairs[][2] = {{OP_LT, OP_GT},         {OP_LE, OP_GE},         {OP_BV_ULT, OP_BV_UGT},
                                           {OP_BV_ULE, OP_BV_UGE}, {OP_BV_SLT, OP_BV_SGT}, {OP_BV_SLE, OP_BV_SGE},
                                           {OP_FP_LT, OP_FP_GT},   {OP_FP_LEQ, OP_FP_GEQ}};
        enum op mirror = OP_NONE;
        const struct symbol *name;

        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                for (size_t k = 0; k < 2; k++)
                        if (pairs[i][k] == op)
                                mirror = pairs[i][!k];
        name = mirror == OP_NONE ? NULL : symbol_find(s->script->bank, slice_string(operator_row(mirror)->name));
        return name && is_bound(s, name) ? OP_NONE : mirror;
}

/* The number of members of a list before those that may be reordered; 0: all stay. */
static size_t fixed_before_operands(enum op op, size_t n)
{
        const struct operator_row *row = operator_row(op);

        if (row->shape == SHAPE_FIXED && n != operator_n_args(op))
                return 0;
        if (op == OP_FP_ADD || op == OP_FP_MUL) /* after the rounding mode */
                return 2;
        return row->flags & OPERATOR_COMMUTATIVE ? 1 : 0;
}

/* `random` NULL: reverses them. */
static void change_order(struct scrambler *s, struct node *parent, size_t fixed, struct random *random)
{
        cleanup_free uint32_t *list = allocate(parent->n, sizeof(*list));
        uint32_t from = parent->first;
        size_t n = 0;

        for (size_t i = 1; i < fixed; i++)
                from = s->tree.nodes[from].next;
        for (uint32_t i = s->tree.nodes[from].next; i != NOWHERE; i = s->tree.nodes[i].next)
                list[n++] = i;
        if (random)
                random_shuffle(random, list, n);
        if (n < 2)
                return;
        for (size_t i = 0; i < n; from = parent->last, i++)
                s->tree.nodes[from].next = parent->last = list[random ? i : n - 1 - i];
        s->tree.nodes[from].next = NOWHERE;
        s->n_lists_changed++;
}

/* The operator of an application that may change: it has operands, and the script does not redefine its name. */
static enum op operator_in(const struct scrambler *s, const struct node *list)
{
        const struct node *head = first_of(s, list);
        enum op op;

        if (!head || !head->symbol || list->n < 3 || is_bound(s, head->symbol) || is_index(s, list))
                return OP_NONE;
        op = head->symbol->op;
        if (s->keeps_arithmetic && op != OP_NONE && (op == OP_EQUAL || operator_row(op)->theory == THEORY_ARITHMETIC))
                return OP_NONE;
        return op;
}

static void scramble_list(struct scrambler *s, struct node *list)
{
        enum op op = operator_in(s, list), mirror = mirror_of(s, op);
        struct random random;
        size_t fixed;

        if (op == OP_NONE)
                return;
        random_seed_part(&random, s->seed, list->hash);
        if (mirror == OP_NONE) {
                fixed = fixed_before_operands(op, list->n - 1);
                if (fixed > 0)
                        change_order(s, list, fixed, &random);
        } else if (random_bits(&random) >> 63) {
                s->tree.nodes[list->first].text = slice_string(operator_row(mirror)->name);
                change_order(s, list, 1, NULL);
        } else {
                s->n_lists_changed++; /* another seed may change it */
        }
}

/* -- the text -- */

static void print_tree(const struct scrambler *s, struct buffer *ret)
{
        uint32_t at = 0;

        for (;;) {
                const struct node *n = &s->tree.nodes[at];

                if (n->kind == TOKEN_OPEN) {
                        buffer_adds(ret, "(");
                        if (n->first != NOWHERE) {
                                at = n->first;
                                continue;
                        }
                        buffer_adds(ret, ")");
                } else if (n->symbol) {
                        print_symbol(s, n, ret);
                } else {
                        buffer_add(ret, n->text.data, n->text.size);
                }
                while (s->tree.nodes[at].next == NOWHERE) {
                        at = s->tree.nodes[at].parent;
                        if (at == NOWHERE)
                                return;
                        buffer_adds(ret, ")");
                        if (at == 0)
                                return;
                }
                buffer_adds(ret, " ");
                at = s->tree.nodes[at].next;
        }
}

static int print_command(struct scrambler *s, const struct command *c, struct buffer *ret)
{
        bool is_ordered = c->kind == COMMAND_GET_VALUE || (c->kind == COMMAND_ASSERT && s->names_itself[c - s->script->commands]);
        int r;

        if (!has_terms(c->kind)) {
                buffer_add(ret, s->base + c->span.begin, c->span.end - c->span.begin);
                return 0;
        }
        if ((r = make_tree(s, c)) < 0)
                return r;
        for (size_t i = 0; !is_ordered && i < s->tree.n; i++)
                if (s->tree.nodes[i].kind == TOKEN_OPEN)
                        scramble_list(s, &s->tree.nodes[i]);
        print_tree(s, ret);
        return 0;
}

static int scramble(struct scrambler *s, struct buffer *ret)
{
        cleanup_free size_t *order = allocate(s->script->n_commands, sizeof(*order));
        int r = survey_all(s);

        if (r < 0)
                return r;
        number_names(s);
        order_commands(s, order);
        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                r = print_command(s, &s->script->commands[order[i]], ret);
                buffer_adds(ret, "\n");
        }
        if (r == 0 && s->n_renamed + s->n_lists_changed + s->n_moved == 0)
                return errorf(-ENOTSUP, "cannot scramble this: it has no names, no operands and no order that may change");
        return r;
}

int scramble_smt(struct slice bytes, uint64_t seed, struct buffer *ret)
{
        cleanup(scrambler_done) struct scrambler s = {.base = bytes.size > 0 ? bytes.data : "", .prefix = 1};
        int r;

        if (seed == 0) {
                buffer_add(ret, bytes.data, bytes.size);
                return buffer_error(ret);
        }
        if ((r = script_read(bytes, NULL, &s.script)) < 0)
                return r;
        s.keeps_arithmetic = logic_of(s.script->logic ? s.script->logic->name.data : NULL).is_difference;
        random_seed(&s.random, seed);
        s.seed = random_bits(&s.random);
        r = scramble(&s, ret);
        return r < 0 ? r : buffer_error(ret);
}
