/* Features of a case: the numbers that a portfolio learns from (MedleySolver, section 4.2). One pass over the graph of the terms, linear in
 * its size. smt_features() and cnf_features() describe each; feature_list.h defines them. */
#pragma once

#include "core/smtlib/script.h"

struct feature {
        const char *name;    /* lower case, words joined by -; stable: people and scripts read it */
        const char *meaning; /* one sentence */
};

struct features {
        size_t n;
        double *values; /* owned; one for each row of smt_features() or cnf_features(), in order */
};
void features_done(struct features *f);
#define cleanup_features cleanup(features_done)

/* The tables: of SMT-LIB and of DIMACS. */
const struct feature *smt_features(size_t *ret_n);
const struct feature *cnf_features(size_t *ret_n);

void features_of_script(const struct script *s, struct features *ret);
/* Features of SMT-LIB text. Errors as of script_read(). */
int features_of_smt(struct slice bytes, struct features *ret);
/* Features of DIMACS text. -EINVAL with a sentence if it does not parse. */
int features_of_cnf(struct slice bytes, struct features *ret);

/* "name\tvalue\n" lines, the content of features.tsv. */
void features_print(const struct feature *table, const struct features *f, struct buffer *ret);
