/* Random formulas: the generator of SPRFinder (section 4.1.3) and BanditFuzz, for any logic but those of datatypes and difference logic.
 *
 * Four parameters say how complex a formula is. Every operator of the logic's theories can occur. Formulas are well-sorted by construction, and keep to
 * their logic. The depth of each argument is drawn; one argument of each operator has the full depth, so that a formula has the depth that was asked for.
 *
 * A formula has few sorts, so that its terms meet: two of bit-vectors, of floating-point numbers and of arrays at most. Nor has it more than three
 * quantifiers.
 *
 * Threads: a generator belongs to one thread at a time, as its bank does. Equal seeds and options give equal formulas. */
#pragma once

#include "cache/base/random.h"
#include "cache/base/transfer.h"
#include "core/smtlib/script.h"

struct generate_options {
        unsigned literal_length; /* L: the most characters of a string constant */
        unsigned variables;      /* V: constants declared, in all; of a `logic`, one of each sort at least */
        unsigned assertions;     /* S */
        unsigned depth;          /* D: levels of operators of an assertion, its predicate included; at least 1 */
        double literals;         /* the chance that a leaf is a literal and no variable */
        unsigned alphabet;       /* different characters in the literals of one formula; 0: all letters and digits */
        enum dialect dialect;    /* operators that it has no name for are left out */
        const double *weights;   /* of N_OPS operators, relative; 0: never; NULL: those of generate_weights_of() */
        const char *logic;       /* "QF_BV" (core/smtlib/logic.h); NULL: strings, integers and Booleans, in the logic of strings of the dialect */
        bool extensions;         /* with a logic: also operators and floating-point formats that not every solver reads */
};
/* SPRFinder's ranges begin in the middle of what it allows: L 60, V 6, S 6, D 3. */
extern const struct generate_options generate_defaults;
/* Those of strings: equal seeds give equal formulas only while they stay. */
extern const double generate_weights[N_OPS];
/* The weights that options have by default. -EINVAL: not a logic that formulas are generated of. */
int generate_weights_of(const char *logic, bool extensions, double ret[N_OPS]);

static inline bool op_is_among(enum op op, const enum op *list, size_t n)
{
        while (n > 0 && list[n - 1] != op)
                n--;
        return n > 0;
}

struct generator;
/* Copies what `options` points to. -EINVAL where a parameter is 0, a weight is no number from 0 on, or formulas of the logic are not generated. */
int generator_new(const struct generate_options *options, uint64_t seed, struct generator **ret);
struct generator *generator_free(struct generator *g);
DEFINE_CLEANUP(struct generator *, generator_free)
#define cleanup_generator cleanup(generator_freep)

struct random *generator_random(struct generator *g);
void generator_transfer(struct generator *g, struct transfer *t); /* its options and alphabet; the random numbers are the caller's */
enum dialect generator_dialect(const struct generator *g);
int generator_configure(struct generator *g, const struct generate_options *options);

/* A whole formula in a bank of its own, with its logic and a check-sat. */
struct script *generate_formula(struct generator *g);

/* What those that make formulas share: one with its logic (NULL: that of strings), and a constant "x0". */
static inline const char *logic_of_strings(enum dialect d)
{
        return d == DIALECT_2_6 ? "QF_SLIA" : "QF_S";
}
struct script *new_formula(enum dialect d, const char *logic);
const struct function *numbered_constant(struct bank *b, char letter, unsigned number, const struct sort *sort);

/* The one kind of sort that a place takes; SORT_UNKNOWN: it takes several, or its sort follows from other places. */
enum sort_kind place_kind(enum place_sort place);

/* Terms over the constants and functions of a script; the script's bank must live as long as the vocabulary. */
struct vocabulary {
        struct bank *bank; /* borrowed */
        struct term_list constants;
        const struct function **functions; /* owned list; with arguments */
        size_t n_functions;
        unsigned sorts; /* a bit for each sort_kind that terms may have: those of the constants and functions, and what their theory needs */
        bool is_nonlinear; /* the script's logic says so */
};
struct vocabulary vocabulary_of(const struct script *s);
void vocabulary_add(struct vocabulary *v, const struct term *t); /* a bound variable, say */
void vocabulary_done(struct vocabulary *v);
#define cleanup_vocabulary cleanup(vocabulary_done)

/* The operators with weight whose result can be this sort; `ret` has room for N_OPS. Where the vocabulary has other sorts than strings, integers and
 * Booleans, an operator without weight has its usual one. */
size_t generator_operators(struct generator *g, const struct vocabulary *v, const struct sort *sort, enum op *ret);
/* A term of a sort, at most `depth` levels of operators deep. Arrays and declared sorts have no literals; NULL: there is no constant either. */
const struct term *generate_term(struct generator *g, const struct vocabulary *v, const struct sort *sort, unsigned depth);
/* An application of `op` with the sort `result`. Arguments are taken from `given` where they fit, each at most once; the others are generated. NULL: there
 * is none (an index without a rule, an argument that nothing makes). */
const struct term *generate_application(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result,
                                        const struct term *const *given, size_t n_given, unsigned depth);
