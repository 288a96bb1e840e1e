/* Operators by number and by name. */
#include "core/smtlib/smtlib_internal.h"

#include <pthread.h>

/* Short names that keep a row on one line. */
#define B     PLACE_BOOL
#define I     PLACE_INT
#define R     PLACE_REAL
#define N     PLACE_NUMBER
#define S     PLACE_STRING
#define L     PLACE_REGLAN
#define M     PLACE_ROUNDING_MODE
#define T     PLACE_SAME
#define V     PLACE_BITVEC
#define V2    PLACE_BITVEC_2
#define V3    PLACE_BITVEC_3
#define F     PLACE_FLOAT
#define A     PLACE_ARRAY
#define CORE  THEORY_CORE
#define ARITH THEORY_ARITHMETIC
#define BV    THEORY_BITVECTORS
#define FP    THEORY_FLOATS
#define ARR   THEORY_ARRAYS
#define STR   THEORY_STRINGS
#define FIXED SHAPE_FIXED
#define LEFT  SHAPE_LEFT
#define RIGHT SHAPE_RIGHT
#define CHAIN SHAPE_CHAIN
#define PAIRS SHAPE_PAIRWISE
#define COMM  OPERATOR_COMMUTATIVE
#define IDEM  OPERATOR_IDEMPOTENT
#define ASSOC OPERATOR_ASSOCIATIVE
#define EXT   OPERATOR_EXTENSION
#define OPT   OPERATOR_OPTIONAL
#define RARE  OPERATOR_RARE
#define PAIR  OPERATOR_IN_PAIRS

#define OPERATOR(op, ...) [op] = {__VA_ARGS__},
static const struct operator_row rows[N_OPS] = {
#include "core/smtlib/operator_list.h"
};
#undef OPERATOR

const struct operator_row *operator_row(enum op op)
{
        assert(op > OP_NONE && op < N_OPS);
        return &rows[op];
}

const char *operator_name(enum op op, enum dialect d)
{
        const struct operator_row *row = operator_row(op);

        return d != DIALECT_2_6 && row->old_name ? row->old_name : row->name;
}

size_t operator_n_args(enum op op)
{
        size_t n = 0;

        while (n < OPERATOR_ARGS_MOST && operator_row(op)->args[n] != PLACE_NONE)
                n++;
        return n;
}

bool operator_takes(enum op op, size_t n)
{
        const struct operator_row *row = operator_row(op);
        size_t places = operator_n_args(op);

        if (row->shape == SHAPE_FIXED)
                return n == places || ((row->flags & OPERATOR_OPTIONAL) && n + 1 == places);
        /* The standard has no application to one argument, but solvers read (and x) as x. (- x) is another operator. */
        return n >= (row->shape == SHAPE_LEFT && op != OP_MINUS ? 1 : 2);
}

/* -- names -- */

#define NAMES_SIZE 1024 /* slots, a power of two; there are some 250 names */

static struct name_slot {
        const char *name;
        uint16_t size;
        uint16_t op; /* the first with this name; 0: empty */
} by_name[NAMES_SIZE];
static uint16_t next_of_name[N_OPS];

/* The slot with this name, or the empty one where it belongs. */
static struct name_slot *name_slot(struct slice name)
{
        size_t at = text_hash(0, name) & (NAMES_SIZE - 1);

        while (by_name[at].op != 0 && (by_name[at].size != name.size || memcmp(by_name[at].name, name.data, name.size) != 0))
                at = (at + 1) & (NAMES_SIZE - 1);
        return &by_name[at];
}

/* Adds the operator behind those that have the name already. */
static void add_name(enum op op, const char *name, size_t size)
{
        struct name_slot *slot = name_slot(SLICE(name, size));
        uint16_t *last = &slot->op;

        slot->name = name;
        slot->size = (uint16_t)size;
        while (*last != 0 && *last != op)
                last = &next_of_name[*last];
        *last = (uint16_t)op;
}

static void add_names(void)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const struct operator_row *row = &rows[op];

                add_name(op, row->name, strlen(row->name));
                if (row->old_name)
                        add_name(op, row->old_name, strlen(row->old_name));
                for (const char *p = row->aliases; p && *p; p += strspn(p, " ")) {
                        add_name(op, p, strcspn(p, " "));
                        p += strcspn(p, " ");
                }
        }
}

enum op operator_find(struct slice name)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, add_names);
        return (enum op)name_slot(name)->op;
}

enum op operator_next(enum op op)
{
        return (enum op)next_of_name[op];
}
