/* All terms of each sort and size are kept, up to a size (fill()). The formulas of the next size are the applications of operators to these: a cursor
 * goes through the operators, for each through the sizes of its arguments, and for these through the terms. */
#include "core/fuzz/generate.h"

#define ARGS_MOST 5
#define SIZE_MOST 32

/* A rule of the grammar: an operator with the sorts of its arguments. */
struct production {
        enum op op;
        enum sort_kind result, args[ARGS_MOST];
        size_t n_args, n_index;
        uint32_t index[2];
};

/* Walks over all applications with one result sort and size. */
struct cursor {
        enum sort_kind sort;
        unsigned size;
        size_t production;
        bool is_placed;            /* the fields below are set */
        unsigned sizes[ARGS_MOST]; /* of the arguments; their sum is size - 1 */
        size_t at[ARGS_MOST];      /* indices in the lists of these sizes */
};

struct enumeration {
        struct enumerate_options options;
        struct bank *bank; /* a reference */
        struct production *productions;
        size_t n_productions;
        struct term_list terms[N_SORT_KINDS][SIZE_MOST + 1]; /* by size; complete up to the size `ready` */
        unsigned ready;
        struct cursor cursor;
        uint64_t position;
        const struct term *variables[3]; /* x, y, i */
};

/* Sorts of terms; RegLan has no variables. */
static const enum sort_kind sorts[] = {SORT_BOOL, SORT_INT, SORT_STRING, SORT_REGLAN};

/* -- the grammar -- */

/* The sort kind of a place; the grammar has one sort of numbers. */
static enum sort_kind kind_at(enum place_sort place, enum sort_kind same)
{
        return place == PLACE_NUMBER ? SORT_INT : place == PLACE_SAME ? same : place_kind(place);
}

static bool is_wanted(enum op op)
{
        /* Each of these is expressible by another one with as many nodes, or is not linear. */
        static const enum op left_out[] = {
                OP_TRUE,    OP_FALSE, OP_GE,  OP_GT,  OP_DISTINCT, OP_IMPLIES,   OP_XOR,  OP_NEGATE,   OP_TIMES,
                OP_INT_DIV, OP_MOD,   OP_ABS, OP_REM, OP_POWER,    OP_DIVISIBLE, OP_IAND, OP_INT_POW2,
        };
        const struct operator_row *row = operator_row(op);

        return (row->theory == THEORY_CORE || row->theory == THEORY_STRINGS || row->theory == THEORY_ARITHMETIC) &&
               !(row->flags & OPERATOR_EXTENSION) && !op_is_among(op, left_out, ARRAY_SIZE(left_out));
}

static void add_production(struct enumeration *e, enum op op, enum sort_kind same, const uint32_t *index, size_t n_index)
{
        const struct operator_row *row = operator_row(op);
        struct production p = {.op = op, .n_args = row->shape == SHAPE_FIXED ? operator_n_args(op) : 2, .n_index = n_index};

        p.result = kind_at(row->result, same);
        if (p.n_args > ARGS_MOST || p.result == SORT_UNKNOWN)
                return;
        for (size_t i = 0; i < p.n_args; i++)
                if (!(p.args[i] = kind_at(row->args[MIN(i, operator_n_args(op) - 1)], same)))
                        return;
        for (size_t i = 0; i < n_index; i++)
                p.index[i] = index[i];
        list_add(e->productions, e->n_productions, p);
}

/* One rule; where a place can have any sort, one for strings and one for integers. The only indexed operators are powers and loops, with fixed indices. */
static void add_operator(struct enumeration *e, enum op op)
{
        const struct operator_row *row = operator_row(op);
        bool is_generic = row->result == PLACE_SAME;

        if (!is_wanted(op) || !*operator_name(op, e->options.dialect) || op_is_newer(op, e->options.dialect))
                return;
        for (size_t i = 0; i < OPERATOR_ARGS_MOST; i++)
                is_generic |= row->args[i] == PLACE_SAME;
        if (op == OP_RE_POWER)
                add_production(e, op, SORT_REGLAN, (const uint32_t[]){2}, 1);
        else if (op == OP_RE_LOOP)
                add_production(e, op, SORT_REGLAN, (const uint32_t[]){1, 2}, 2);
        if (op == OP_RE_POWER || op == OP_RE_LOOP || row->indices_least > 0)
                return;
        if (is_generic)
                add_production(e, op, SORT_STRING, NULL, 0);
        add_production(e, op, SORT_INT, NULL, 0);
}

static void add_leaf(struct enumeration *e, const struct term *t)
{
        term_list_add(&e->terms[t->sort->kind][1], t);
}

static const struct term *declare(struct enumeration *e, const char *name, enum sort_kind kind)
{
        const struct symbol *s = symbol_of(e->bank, slice_string(name));

        return term_constant(e->bank, function_of(e->bank, FUNCTION_DECLARED, s, NULL, 0, sort_simple(e->bank, kind)));
}

/* Operators without arguments become leaves, the others rules. */
static void add_grammar(struct enumeration *e)
{
        const struct term *leaves[] = {
                e->variables[0] = declare(e, "x", SORT_STRING),
                e->variables[1] = declare(e, "y", SORT_STRING),
                e->variables[2] = declare(e, "i", SORT_INT),
                term_string(e->bank, ""),
                term_string(e->bank, "a"),
                term_string(e->bank, "0"),
                term_int(e->bank, 0),
                term_int(e->bank, 1),
        };

        for (size_t i = 0; i < ARRAY_SIZE(leaves); i++)
                add_leaf(e, leaves[i]);
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                if (operator_n_args(op) > 0)
                        add_operator(e, op);
                else if (is_wanted(op) && operator_row(op)->result == PLACE_REGLAN)
                        add_leaf(e, term_op(e->bank, op, NULL, 0));
        }
}

/* -- walking -- */

static const struct term_list *list_of(const struct enumeration *e, const struct production *p, const struct cursor *c, size_t arg)
{
        return &e->terms[p->args[arg]][c->sizes[arg]];
}

/* The next distribution of sizes over the arguments, lexicographic; `first` begins. The last argument takes the rest. */
static bool next_sizes(const struct production *p, struct cursor *c, bool first)
{
        const size_t last = p->n_args - 1;
        unsigned left = c->size - 1;

        if (first) {
                for (size_t k = 0; k < last; k++)
                        c->sizes[k] = 1;
                c->sizes[last] = left - (unsigned)last;
                return left > last;
        }
        for (size_t i = last; i-- > 0;) {
                unsigned sum = 0;

                c->sizes[i]++;
                for (size_t k = i + 1; k < last; k++)
                        c->sizes[k] = 1;
                for (size_t k = 0; k < last; k++)
                        sum += c->sizes[k];
                c->sizes[last] = left - sum;
                if (sum < left)
                        return true;
        }
        return false;
}

/* Goes to the first combination of arguments of these sizes; false if there is none. */
static bool begin_lists(const struct enumeration *e, const struct production *p, struct cursor *c)
{
        for (size_t i = 0; i < p->n_args; i++) {
                c->at[i] = 0;
                if (list_of(e, p, c, i)->n == 0)
                        return false;
        }
        return true;
}

/* Goes to the next one; false after the last. */
static bool next_in_lists(const struct enumeration *e, const struct production *p, struct cursor *c)
{
        for (size_t i = p->n_args; i-- > 0;) {
                if (++c->at[i] < list_of(e, p, c, i)->n)
                        return true;
                c->at[i] = 0;
        }
        return false;
}

/* Moves to the next combination of arguments; false after the last. */
static bool cursor_next(const struct enumeration *e, struct cursor *c)
{
        while (c->production < e->n_productions) {
                const struct production *p = &e->productions[c->production];

                if (p->result == c->sort) {
                        bool more = c->is_placed && next_in_lists(e, p, c), placed = c->is_placed;

                        while (!more && next_sizes(p, c, !placed)) {
                                placed = true;
                                more = begin_lists(e, p, c);
                        }
                        if (more) {
                                c->is_placed = true;
                                return true;
                        }
                }
                c->production++;
                c->is_placed = false;
        }
        return false;
}

/* The term at the cursor; NULL if an equivalent term exists, or it is trivial. */
static const struct term *cursor_term(struct enumeration *e, const struct cursor *c)
{
        const struct production *p = &e->productions[c->production];
        const struct operator_row *row = operator_row(p->op);
        const struct term *args[ARGS_MOST], *t = NULL;
        bool is_ground = true;

        for (size_t i = 0; i < p->n_args; i++) {
                args[i] = list_of(e, p, c, i)->list[c->at[i]];
                is_ground &= args[i]->kind == TERM_LITERAL;
        }
        if (p->n_args >= 2 && row->flags & OPERATOR_COMMUTATIVE && args[0]->id > args[1]->id)
                return NULL;
        if (p->n_args >= 2 && args[0] == args[1] && (row->flags & OPERATOR_IDEMPOTENT || p->op == OP_EQUAL || p->op == OP_ITE))
                return NULL;
        if (p->op == OP_NOT && term_is(args[0], OP_NOT))
                return NULL;
        /* These two get literals, and literals only make these two. */
        if ((p->op == OP_RE_FROM_STR || p->op == OP_RE_RANGE) != (is_ground && p->result == SORT_REGLAN && p->args[0] == SORT_STRING))
                return NULL;
        if (is_ground && p->result != SORT_REGLAN) /* a value */
                return NULL;
        if (p->op == OP_RE_RANGE && (term_string_length(args[0]) != 1 || term_string_length(args[1]) != 1))
                return NULL;
        if (term_apply(e->bank, p->op, p->n_index > 0 ? p->index : NULL, p->n_index, args, p->n_args, &t) < 0)
                return NULL;
        return t;
}

/* Adds all terms of one size, of all sorts. -ENOSPC: they take too much memory. */
static int fill(struct enumeration *e, unsigned size)
{
        for (size_t i = 0; i < ARRAY_SIZE(sorts); i++) {
                struct cursor c = {.sort = sorts[i], .size = size};

                while (cursor_next(e, &c)) {
                        const struct term *t = cursor_term(e, &c);

                        if (t)
                                term_list_add(&e->terms[sorts[i]][size], t);
                        if (bank_memory(e->bank) > e->options.memory_most)
                                return errorf(-ENOSPC, "formulas larger than %u nodes take more than %zu MB to enumerate", size,
                                              e->options.memory_most >> 20);
                }
        }
        e->ready = size;
        return 0;
}

/* True if x comes before y, or only one of them occurs. So of two formulas that differ only in these names one is made. */
static bool names_in_order(const struct enumeration *e, const struct term *t)
{
        cleanup_term_places struct term_places places = {0};

        term_places(t, 1000, &places);
        for (size_t i = 0; i < places.n; i++)
                if (places.list[i].term == e->variables[0] || places.list[i].term == e->variables[1])
                        return places.list[i].term == e->variables[0];
        return true;
}

/* The next Boolean term that is a formula of its own. */
static int next_term(struct enumeration *e, const struct term **ret)
{
        for (;;) {
                const struct term *t;

                if (!cursor_next(e, &e->cursor)) {
                        unsigned size = e->cursor.size;
                        int r;

                        if (size == SIZE_MOST)
                                return errorf(-ENOSPC, "formulas larger than %u nodes are not enumerated", SIZE_MOST);
                        r = size > e->ready ? fill(e, size) : 0;
                        if (r < 0)
                                return r;
                        e->cursor = (struct cursor){.sort = SORT_BOOL, .size = size + 1};
                        continue;
                }
                t = cursor_term(e, &e->cursor);
                if (t && names_in_order(e, t)) {
                        e->position++;
                        *ret = t;
                        return 0;
                }
        }
}

int enumeration_next(struct enumeration *e, struct script **ret)
{
        const struct term *t = NULL;
        int r = next_term(e, &t);

        if (r < 0)
                return r;
        script_new(e->bank, e->options.dialect, ret);
        script_add_logic(*ret, LOGIC_OF_STRINGS);
        script_add_assert(*ret, t);
        script_end(*ret);
        return 0;
}

uint64_t enumeration_position(const struct enumeration *e)
{
        return e->position;
}

int enumeration_skip(struct enumeration *e, uint64_t n)
{
        const struct term *t;
        int r = 0;

        while (n-- > 0 && r == 0)
                r = next_term(e, &t);
        return r;
}

struct enumeration *enumeration_new(const struct enumerate_options *options)
{
        struct enumeration *e = allocate(1, sizeof(*e));

        e->options = *options;
        e->options.memory_most = options->memory_most > 0 ? options->memory_most : (size_t)1 << 30;
        e->bank = bank_new();
        e->ready = 1;
        e->cursor = (struct cursor){.sort = SORT_BOOL, .size = 2};
        add_grammar(e);
        return e;
}

struct enumeration *enumeration_free(struct enumeration *e)
{
        if (!e)
                return NULL;
        for (size_t i = 0; i < N_SORT_KINDS; i++)
                for (size_t k = 0; k <= SIZE_MOST; k++)
                        term_list_done(&e->terms[i][k]);
        free(e->productions);
        bank_unref(e->bank);
        free(e);
        return NULL;
}
