/* Random formulas over strings, integers and Booleans: the generator of SPRFinder (section 4.1.3) and BanditFuzz.
 *
 * Four parameters say how complex a formula is. Every operator of the theory of strings can occur. Formulas are well-sorted by construction. The
 * depth of each argument is drawn; one argument of each operator has the full depth, so that a formula has the depth that was asked for.
 *
 * Threads: a generator belongs to one thread at a time, as its bank does. Equal seeds and options give equal formulas. */
#pragma once

#include "cache/base/random.h"
#include "cache/base/transfer.h"
#include "core/smtlib/script.h"

struct generate_options {
        unsigned literal_length; /* L: the most characters of a string constant */
        unsigned variables;      /* V: constants declared, in all */
        unsigned assertions;     /* S */
        unsigned depth;          /* D: levels of operators of an assertion, its predicate included; at least 1 */
        double literals;         /* the chance that a leaf is a literal and no variable */
        unsigned alphabet;       /* different characters in the literals of one formula; 0: all letters and digits */
        enum dialect dialect;    /* operators that it has no name for are left out */
        const double *weights;   /* of N_OPS operators, relative; 0: never; NULL: generate_weights */
};
/* SPRFinder's ranges begin in the middle of what it allows: L 60, V 6, S 6, D 3. */
extern const struct generate_options generate_defaults;
extern const double generate_weights[N_OPS];

static inline bool op_is_among(enum op op, const enum op *list, size_t n)
{
        while (n > 0 && list[n - 1] != op)
                n--;
        return n > 0;
}

struct generator;
/* Copies what `options` points to. -EINVAL where a parameter is 0 or no operator with weight gives a Boolean. */
int generator_new(const struct generate_options *options, uint64_t seed, struct generator **ret);
struct generator *generator_free(struct generator *g);
DEFINE_CLEANUP(struct generator *, generator_free)
#define cleanup_generator cleanup(generator_freep)

struct random *generator_random(struct generator *g);
void generator_transfer(struct generator *g, struct transfer *t); /* its options and alphabet; the random numbers are the caller's */
enum dialect generator_dialect(const struct generator *g);
int generator_configure(struct generator *g, const struct generate_options *options);

/* A whole formula in a bank of its own, with its logic and a check-sat. 0 or -ENOMEM. */
int generate_formula(struct generator *g, struct script **ret);

/* The one kind of sort that a place takes; SORT_UNKNOWN: it takes several, or its sort follows from other places. */
enum sort_kind place_kind(enum place_sort place);
/* Can an operator give `sort` when its result is declared as `place`, for some arguments? */
bool place_can_hold(enum place_sort place, const struct sort *sort);

/* The operators with weight whose result can be this sort; `ret` has room for N_OPS. */
size_t generator_operators(struct generator *g, const struct sort *sort, enum op *ret);

/* Terms over the constants of a script; the script's bank must live as long as the vocabulary. */
struct vocabulary {
        struct bank *bank; /* borrowed */
        struct term_list constants;
        unsigned sorts; /* a bit for each sort_kind that terms may have: those of the constants, and what their theory needs */
};
int vocabulary_of(const struct script *s, struct vocabulary *ret);
void vocabulary_add(struct vocabulary *v, const struct term *t); /* a bound variable, say */
void vocabulary_done(struct vocabulary *v);
#define cleanup_vocabulary cleanup(vocabulary_done)
/* A term of a sort, at most `depth` levels of operators deep. Other sorts than of strings, integers, reals, bit-vectors and Booleans have only the
 * vocabulary's constants; NULL: there is none. NULL with bank_error(): no memory. */
const struct term *generate_term(struct generator *g, const struct vocabulary *v, const struct sort *sort, unsigned depth);
/* An application of `op` with the sort `result`. Arguments are taken from `given` where they fit, each at most once; the others are generated. NULL: there
 * is none (an index without a rule, an argument that nothing makes). */
const struct term *generate_application(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result,
                                        const struct term *const *given, size_t n_given, unsigned depth);
