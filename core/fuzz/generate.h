/* Random formulas: the generator of SPRFinder (section 4.1.3) and BanditFuzz, for any logic except those of datatypes and difference logic.
 *
 * Four parameters set the complexity of a formula. Every operator of the logic's theories can occur. Formulas are well-sorted by construction, and
 * keep to their logic. The depth of each argument is drawn; one argument of each operator has the full depth, so that a formula has the requested
 * depth.
 *
 * A formula has few sorts, so that its terms can be combined: at most two of bit-vectors, of floating-point numbers and of arrays. It has at most
 * three quantifiers.
 *
 * Threads: a generator belongs to one thread at a time, as its bank does. Equal seeds and options give equal formulas. */
#pragma once

#include "cache/base/random.h"
#include "cache/base/transfer.h"
#include "core/smtlib/script.h"

struct generate_options {
        unsigned literal_length; /* L: the maximal length of a string constant */
        unsigned variables;      /* V: the number of declared constants; with a `logic`, at least one of each sort */
        unsigned assertions;     /* S */
        unsigned depth;          /* D: levels of operators of an assertion, its predicate included; at least 1 */
        double literals;         /* the chance that a leaf is a literal and not a variable */
        unsigned alphabet;       /* number of different characters in the literals of one formula; 0: all letters and digits */
        enum dialect dialect;    /* operators without a name in it are left out */
        const double *weights;   /* of N_OPS operators, relative; 0: never; NULL: those of generate_weights_of() */
        const char *logic;       /* "QF_BV" (core/smtlib/logic.h); NULL: strings, integers and Booleans, in the logic of strings of the dialect */
        bool extensions;         /* with a logic: also operators and floating-point formats that only some solvers read */
};
/* L 60, V 6, S 6, D 3: the middle of the values that SPRFinder allows, where its ranges begin. */
extern const struct generate_options generate_defaults;
/* The default weights for a logic (NULL: as in generate_options). -EINVAL with a sentence if no formulas can be generated for it. */
int generate_weights_of(const char *logic, bool extensions, double ret[N_OPS]);

static inline bool op_is_among(enum op op, const enum op *list, size_t n)
{
        while (n > 0 && list[n - 1] != op)
                n--;
        return n > 0;
}
bool op_is_newer(enum op op, enum dialect d); /* unknown to solvers of dialect `d`: 2.0 and 2.5 have fewer */

struct generator;
/* Copies the data of `options`. -EINVAL if L, V, S or D is 0, a weight is negative or not finite, or no formulas can be generated for the logic. */
int generator_new(const struct generate_options *options, uint64_t seed, struct generator **ret);
struct generator *generator_free(struct generator *g);
DEFINE_CLEANUP(struct generator *, generator_free)
#define cleanup_generator cleanup(generator_freep)

struct random *generator_random(struct generator *g);
void generator_transfer(struct generator *g, struct transfer *t); /* its options and alphabet; the caller transfers the random numbers */
enum dialect generator_dialect(const struct generator *g);
int generator_configure(struct generator *g, const struct generate_options *options); /* replaces the options; errors as of generator_new() */

/* A whole formula in a bank of its own, with its logic and a check-sat. */
struct script *generate_formula(struct generator *g);

/* A chain of definitions: `size` constants of one sort, each equal to a term over the one before it and an earlier one. The terms of a
 * chain follow up to four patterns. A last assertion is over its first and last constant. Large and mostly easy: it shows what a solver's
 * preprocessing costs. -EINVAL for a `size` of 0. */
int generate_chain(struct generator *g, unsigned size, struct script **ret);

/* Shared by all generators. new_formula(): an empty formula of a logic, NULL: that of strings. numbered_constant(): "x0", "x1" … */
#define LOGIC_OF_STRINGS "QF_SLIA" /* in every dialect: QF_S has no integers */
struct script *new_formula(enum dialect d, const char *logic);
const struct function *numbered_constant(struct bank *b, char letter, unsigned number, const struct sort *sort);

/* The constants and functions that a script has declared before command `at`: generated terms are made of them. The script's bank must outlive it. */
struct vocabulary {
        struct bank *bank; /* borrowed */
        struct term_list constants, constants_of[N_SORT_KINDS]; /* all, and those of each kind, in the same order */
        const struct function **functions; /* owned list; functions with arguments */
        size_t n_functions;
        unsigned sorts; /* a bit for each sort_kind that terms may have: the sorts of the constants and functions, and those that their theory needs */
        bool is_nonlinear; /* the script's logic says so */
};
struct vocabulary vocabulary_at(const struct script *s, size_t at);
void vocabulary_add(struct vocabulary *v, const struct term *t); /* for example a bound variable */
void vocabulary_done(struct vocabulary *v);
#define cleanup_vocabulary cleanup(vocabulary_done)

/* The operators with a weight whose result can have this sort; `ret` has room for N_OPS. Returns their number. For a mutant, operators without a
 * weight get their usual one if the generator has a logic, or the vocabulary has sorts other than Bool, Int, String and RegLan. */
size_t generator_operators(struct generator *g, const struct vocabulary *v, const struct sort *sort, enum op *ret);
/* A term of a sort, at most `depth` levels of operators deep. Arrays and declared sorts have no literals; NULL if there is no constant either. */
const struct term *generate_term(struct generator *g, const struct vocabulary *v, const struct sort *sort, unsigned depth);
/* An application of `op` with the sort `result`. Arguments are taken from `given` where they fit, each at most once; the others are generated. NULL
 * if that fails: no index is known for `op`, or no term for an argument. */
const struct term *generate_application(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result,
                                        const struct term *const *given, size_t n_given, unsigned depth);

/* -- template.c: formulas of one shape each: the generators of StringFuzz (Blotsky et al., CAV 2018, section 4). Each scales one parameter, to show
 * how a solver's behaviour depends on it. */

enum template {
        TEMPLATE_CONCATS,  /* a tree of concatenations equal to a word; `size` levels, or a list of that length */
        TEMPLATE_LENGTHS,  /* `size` variables of given lengths, related by their lengths and equalities */
        TEMPLATE_OVERLAPS, /* s·x₁ = x₁·s and so on: `size` variables around one word */
        TEMPLATE_EQUALITY, /* `size` concatenations with shared prefixes, suffixes and infixes are equal */
        TEMPLATE_REGEX,    /* memberships in expressions of `size` operators */
        TEMPLATE_WORDS,    /* equalities and disequalities with long words of random printable text */
        TEMPLATE_TREE,     /* a random term graph of `size` levels with every operator equally likely */
        N_TEMPLATES
};

/* -EINVAL for a `size` of 0. */
int template_formula(struct generator *g, enum template t, unsigned size, struct script **ret);

/* -- enumerate.c: every small formula, smallest first (ET: "Grammar-based exhaustive testing of SMT solvers", OOPSLA 2024), so that a finding needs
 * no reduction.
 *
 * A formula is one assertion over two strings, an integer and a few literals; its size is the number of its nodes. Of formulas that differ only in
 * the names of their variables, or in the order of the arguments of a commutative operator, one is made.
 *
 * Threads: an enumeration belongs to one thread at a time. The same position is the same formula in every run. */

struct enumerate_options {
        enum dialect dialect;
        size_t memory_most; /* bytes of the terms kept for building larger ones; 0: 1 GB */
};

struct enumeration;
struct enumeration *enumeration_new(const struct enumerate_options *options);
struct enumeration *enumeration_free(struct enumeration *e);
DEFINE_CLEANUP(struct enumeration *, enumeration_free)
#define cleanup_enumeration cleanup(enumeration_freep)

/* The next formula, in the enumeration's own bank: print or copy it while the enumeration exists. -ENOSPC if larger formulas would take more memory
 * than allowed, or are not enumerated at all (above 32 nodes). */
int enumeration_next(struct enumeration *e, struct script **ret);
uint64_t enumeration_position(const struct enumeration *e); /* formulas so far */
int enumeration_skip(struct enumeration *e, uint64_t n);     /* skips n formulas without making them; errors as above */

/* -- mutate.c: changes one formula into another: by replacing an operator (BanditFuzz, section 3.2; here the caller chooses the new one), or
 * by the transformers of StringFuzz (Blotsky et al., CAV 2018, section 4).
 *
 * The result is always well-sorted and differs from the script; -ENOENT if there is nothing to change. The new script shares the old one's bank; the
 * old script stays as it was. Any script will do. A mutant has no operators of theories that the script does not use, no arithmetic that its logic does
 * not allow (core/smtlib/logic.h), and no :status: its answer may be another. */

/* Replaces one operator by `action`, at a random place with another operator where `action` gives the same sort. Its arguments stay where they fit. */
int mutate_operator(struct generator *g, const struct script *s, enum op action, struct script **ret);
/* The operators that mutate_operator() can bring into this script, given its sorts. `ret` has room for N_OPS. Returns their number. */
size_t mutate_actions(struct generator *g, const struct script *s, enum op *ret);

enum transform {
        TRANSFORM_FUZZ,        /* some literals change slightly, some operators become others of the same signature */
        TRANSFORM_GRAFT,       /* a subterm and a literal of its sort are exchanged */
        TRANSFORM_MULTIPLY,    /* every literal is repeated n times */
        TRANSFORM_REVERSE,     /* every word and concatenation is reversed */
        TRANSFORM_ROTATE,      /* the arguments of one sort of an operator are rotated by one */
        TRANSFORM_TRANSLATE,   /* the alphabet changes */
        TRANSFORM_UNPRINTABLE, /* some characters become unprintable ones */
        TRANSFORM_SWAP,        /* two subterms of one sort are exchanged */
        N_TRANSFORMS
};
int mutate_transform(struct generator *g, const struct script *s, enum transform t, struct script **ret);
