#include "core/fuzz/enumerate.h"

#define ARGS_MOST 5
#define SIZE_MOST 32

/* An operator with the sorts of its arguments spelled out: the grammar's rules. */
struct production {
        enum op op;
        enum sort_kind result, args[ARGS_MOST];
        size_t n_args, n_index;
        uint32_t index[2];
};

/* Walks all applications of one result sort and size. */
struct cursor {
        enum sort_kind sort;
        unsigned size;
        size_t production;
        bool is_placed;            /* the fields below count */
        unsigned sizes[ARGS_MOST]; /* of the arguments; their sum is size - 1 */
        size_t at[ARGS_MOST];      /* in the lists of these sizes */
};

struct enumeration {
        struct enumerate_options options;
        struct bank *bank; /* a reference */
        struct production *productions;
        size_t n_productions;
        struct term_list terms[N_SORT_KINDS][SIZE_MOST + 1]; /* by size; those of size `ready` and below are whole */
        unsigned ready;
        struct cursor cursor;
        const struct term *variables[3]; /* x, y, i */
        uint64_t count;
};

/* Sorts of terms; RegLan has no variables. */
static const enum sort_kind sorts[] = {SORT_BOOL, SORT_INT, SORT_STRING, SORT_REGLAN};

/* -- the grammar -- */

static bool place_kind(enum place_sort place, enum sort_kind same, enum sort_kind *ret)
{
        switch ((int)place) {
        case PLACE_BOOL:
                *ret = SORT_BOOL;
                return true;
        case PLACE_INT:
                *ret = SORT_INT;
                return true;
        case PLACE_STRING:
                *ret = SORT_STRING;
                return true;
        case PLACE_REGLAN:
                *ret = SORT_REGLAN;
                return true;
        case PLACE_NUMBER:
                *ret = SORT_INT;
                return true;
        case PLACE_SAME:
                *ret = same;
                return true;
        default:
                return false;
        }
}

static bool is_wanted(const struct enumeration *e, enum op op)
{
        const struct operator_row *row = operator_row(op);

        if (row->theory != THEORY_CORE && row->theory != THEORY_STRINGS && row->theory != THEORY_ARITHMETIC)
                return false;
        if (row->flags & OPERATOR_EXTENSION && !e->options.extensions)
                return false;
        /* Each of these says what another one says with as many nodes, or is not linear. */
        switch ((int)op) {
        case OP_TRUE:
        case OP_FALSE:
        case OP_GE:
        case OP_GT:
        case OP_DISTINCT:
        case OP_IMPLIES:
        case OP_XOR:
        case OP_NEGATE:
        case OP_TIMES:
        case OP_INT_DIV:
        case OP_MOD:
        case OP_ABS:
        case OP_REM:
        case OP_POWER:
        case OP_DIVISIBLE:
        case OP_IAND:
        case OP_INT_POW2:
                return false;
        default:
                return true;
        }
}

static int add_production(struct enumeration *e, enum op op, enum sort_kind same, const uint32_t *index, size_t n_index)
{
        const struct operator_row *row = operator_row(op);
        struct production p = {.op = op, .n_args = operator_n_args(op), .n_index = n_index};

        if (row->shape != SHAPE_FIXED)
                p.n_args = 2;
        if (p.n_args > ARGS_MOST || !place_kind(row->result, same, &p.result))
                return 0;
        for (size_t i = 0; i < p.n_args; i++)
                if (!place_kind(row->args[MIN(i, operator_n_args(op) - 1)], same, &p.args[i]))
                        return 0;
        for (size_t i = 0; i < n_index; i++)
                p.index[i] = index[i];
        if (list_grow(e->productions, e->n_productions) < 0)
                return -ENOMEM;
        e->productions[e->n_productions++] = p;
        return 0;
}

static int add_operator(struct enumeration *e, enum op op)
{
        const struct operator_row *row = operator_row(op);
        bool is_generic = row->result == PLACE_SAME;
        int r = 0;

        if (!is_wanted(e, op) || !*operator_name(op, e->options.dialect))
                return 0;
        for (size_t i = 0; i < OPERATOR_ARGS_MOST; i++)
                is_generic |= row->args[i] == PLACE_SAME;
        if (op == OP_RE_POWER)
                return e->options.dialect == DIALECT_2_6 ? add_production(e, op, SORT_REGLAN, (const uint32_t[]){2}, 1) : 0;
        if (op == OP_RE_LOOP)
                return add_production(e, op, SORT_REGLAN, (const uint32_t[]){1, 2}, 2);
        if (row->indices_least > 0)
                return 0;
        if (!is_generic)
                return add_production(e, op, SORT_INT, NULL, 0);
        r = add_production(e, op, SORT_STRING, NULL, 0);
        return r < 0 ? r : add_production(e, op, SORT_INT, NULL, 0);
}

static int add_leaf(struct enumeration *e, const struct term *t)
{
        return t ? term_list_add(&e->terms[t->sort->kind][1], t) : -ENOMEM;
}

static const struct term *declare(struct enumeration *e, const char *name, enum sort_kind kind)
{
        const struct symbol *s = symbol_of(e->bank, SLICE(name, strlen(name)));

        return term_constant(e->bank, s ? function_of(e->bank, FUNCTION_DECLARED, s, NULL, 0, sort_simple(e->bank, kind)) : NULL);
}

static int add_leaves(struct enumeration *e)
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
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(leaves); i++)
                r = add_leaf(e, leaves[i]);
        return r;
}

/* Operators without arguments are leaves, the others rules. */
static int add_grammar(struct enumeration *e)
{
        int r = add_leaves(e);

        for (int i = OP_NONE + 1; r == 0 && i < N_OPS; i++) {
                if (operator_n_args((enum op)i) > 0)
                        r = add_operator(e, (enum op)i);
                else if (is_wanted(e, (enum op)i) && operator_row((enum op)i)->result == PLACE_REGLAN)
                        r = add_leaf(e, term_op(e->bank, (enum op)i, NULL, 0));
        }
        return r;
}

/* -- walking -- */

static const struct term_list *list_of(const struct enumeration *e, const struct production *p, const struct cursor *c,
                                       size_t arg)
{
        return &e->terms[p->args[arg]][c->sizes[arg]];
}

/* The next way to give the arguments their sizes, lexicographic; `first` begins. */
static bool next_sizes(const struct production *p, struct cursor *c, bool first)
{
        unsigned left = c->size - 1, sum = 0;
        size_t i = p->n_args;

        if (first) {
                for (size_t k = 0; k + 1 < p->n_args; k++)
                        c->sizes[k] = 1;
                if (left < p->n_args)
                        return false;
                c->sizes[p->n_args - 1] = left - (unsigned)p->n_args + 1;
                return true;
        }
        /* The last takes what the others leave. */
        for (i = p->n_args - 1; i-- > 0;) {
                c->sizes[i]++;
                sum = 0;
                for (size_t k = 0; k <= i; k++)
                        sum += c->sizes[k];
                if (sum + (p->n_args - 1 - i) <= left) {
                        for (size_t k = i + 1; k + 1 < p->n_args; k++) {
                                c->sizes[k] = 1;
                                sum++;
                        }
                        c->sizes[p->n_args - 1] = left - sum;
                        return true;
                }
        }
        return false;
}

static bool begin_lists(const struct enumeration *e, const struct production *p, struct cursor *c)
{
        for (size_t i = 0; i < p->n_args; i++) {
                c->at[i] = 0;
                if (list_of(e, p, c, i)->n == 0)
                        return false;
        }
        return true;
}

static bool next_in_lists(const struct enumeration *e, const struct production *p, struct cursor *c)
{
        for (size_t i = p->n_args; i-- > 0;) {
                if (++c->at[i] < list_of(e, p, c, i)->n)
                        return true;
                c->at[i] = 0;
        }
        return false;
}

/* Moves to the next combination of arguments; false when all have come. */
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

/* The term at the cursor; NULL when it is a twin of another one, or useless. */
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
        if ((p->op == OP_RE_FROM_STR || p->op == OP_RE_RANGE) !=
            (is_ground && p->result == SORT_REGLAN && p->args[0] == SORT_STRING))
                return NULL;
        if (is_ground && p->result != SORT_REGLAN)
                return NULL; /* a constant in other words */
        if (p->op == OP_RE_RANGE && (term_string_length(args[0]) != 1 || term_string_length(args[1]) != 1))
                return NULL;
        if (term_apply(e->bank, p->op, p->n_index > 0 ? p->index : NULL, p->n_index, args, p->n_args, &t) < 0)
                return NULL;
        return t;
}

/* All terms of one size, of all sorts. */
static int fill(struct enumeration *e, unsigned size)
{
        for (size_t i = 0; i < ARRAY_SIZE(sorts); i++) {
                struct cursor c = {.sort = sorts[i], .size = size};

                while (cursor_next(e, &c)) {
                        const struct term *t = cursor_term(e, &c);
                        int r = t ? term_list_add(&e->terms[sorts[i]][size], t) : 0;

                        if (r < 0)
                                return r;
                        if (bank_memory(e->bank) > e->options.memory_most)
                                return errorf(-ENOSPC, "formulas larger than %u nodes take more than %zu MB to enumerate", size,
                                              e->options.memory_most >> 20);
                }
        }
        e->ready = size;
        return 0;
}

/* True if its variables come in order: x before y. Of two formulas that differ in their names this holds of one, or of both if it has one. */
static int names_in_order(const struct enumeration *e, const struct term *t, bool *ret)
{
        cleanup(term_places_done) struct term_places places = {0};
        bool seen = false;
        int r = term_places(t, 1000, &places);

        *ret = true;
        for (size_t i = 0; r == 0 && i < places.n; i++) {
                if (places.list[i].term == e->variables[0])
                        seen = true;
                else if (places.list[i].term == e->variables[1] && !seen) {
                        *ret = false;
                        break;
                }
        }
        return r;
}

static int to_script(struct enumeration *e, const struct term *t, struct script **ret)
{
        cleanup_script struct script *s = NULL;
        int r = script_new(e->bank, e->options.dialect, &s);

        if (r == 0)
                r = script_add_logic(s, e->options.dialect == DIALECT_2_6 ? "QF_SLIA" : "QF_S");
        if (r == 0)
                r = script_add_assert(s, t);
        if (r == 0)
                r = script_end(s);
        if (r < 0)
                return r;
        *ret = steal_pointer(s);
        return 0;
}

/* The next Boolean term that is a formula of its own. */
static int next_term(struct enumeration *e, const struct term **ret)
{
        for (;;) {
                const struct term *t;
                bool good;
                int r;

                if (!cursor_next(e, &e->cursor)) {
                        unsigned size = e->cursor.size;

                        if (size == SIZE_MOST)
                                return errorf(-ENOSPC, "formulas larger than %u nodes are not enumerated", SIZE_MOST);
                        r = size > e->ready ? fill(e, size) : 0;
                        if (r < 0)
                                return r;
                        e->cursor = (struct cursor){.sort = SORT_BOOL, .size = size + 1};
                        continue;
                }
                t = cursor_term(e, &e->cursor);
                if (!t)
                        continue;
                r = names_in_order(e, t, &good);
                if (r < 0)
                        return r;
                if (good) {
                        *ret = t;
                        e->count++;
                        return 0;
                }
        }
}

int enumeration_next(struct enumeration *e, struct script **ret)
{
        const struct term *t = NULL;
        int r = next_term(e, &t);

        return r < 0 ? r : to_script(e, t, ret);
}

unsigned enumeration_size(const struct enumeration *e)
{
        return e->cursor.size;
}

uint64_t enumeration_count(const struct enumeration *e)
{
        return e->count;
}

int enumeration_new(const struct enumerate_options *options, struct enumeration **ret)
{
        cleanup_enumeration struct enumeration *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return -ENOMEM;
        e->options = *options;
        e->options.memory_most = options->memory_most > 0 ? options->memory_most : (size_t)1 << 30;
        e->bank = bank_new();
        if (!e->bank)
                return -ENOMEM;
        r = add_grammar(e);
        if (r < 0)
                return r;
        e->ready = 1;
        e->cursor = (struct cursor){.sort = SORT_BOOL, .size = 2};
        *ret = steal_pointer(e);
        return 0;
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
