/* Every small formula, smallest first (ET: "Grammar-based exhaustive testing of SMT solvers", OOPSLA 2024), so that a finding needs no reduction.
 *
 * A formula is one assertion over two strings, an integer and a few literals; its size is the number of its nodes. Of formulas that differ in
 * the names of their variables, or in the order of the arguments of a commutative operator, only one comes.
 *
 * Threads: an enumeration belongs to one thread at a time. The same position is the same formula in every run. */
#pragma once

#include "core/smtlib/script.h"

struct enumerate_options {
        enum dialect dialect;
        size_t memory_most; /* bytes of the terms that are kept to build larger ones of; 0: 1 GB */
};

struct enumeration;
struct enumeration *enumeration_new(const struct enumerate_options *options);
struct enumeration *enumeration_free(struct enumeration *e);
DEFINE_CLEANUP(struct enumeration *, enumeration_free)
#define cleanup_enumeration cleanup(enumeration_freep)

/* The next formula, in the enumeration's own bank: print or copy it before the enumeration goes. -ENOSPC: the next size would take more memory
 * than allowed. */
int enumeration_next(struct enumeration *e, struct script **ret);
uint64_t enumeration_position(const struct enumeration *e); /* formulas so far */
int enumeration_skip(struct enumeration *e, uint64_t n);     /* n formulas, which are not made; errors as above */
unsigned enumeration_size(const struct enumeration *e); /* of the last formula */
