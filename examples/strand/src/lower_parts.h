/* What the files of lower.h share: builders (lower_build.c), functions of strings (lower_function.c), the pass (lower.c). */
#pragma once
#include "lower.h"

struct monomial {
        tid leaf;
        int64_t k;
};

struct sum {
        VEC(struct monomial) m; /* leaves ascending */
        int64_t c;
};

/* lower_build.c */
void lower_fail(struct lower *l, const char *why);
void lower_sum_add(struct lower *l, struct sum *s, int64_t k, tid t);
tid lower_sum_term(struct lower *l, struct sum *s);
void lower_define(struct lower *l, tid var, tid formula);
bool lower_is(const struct lower *l, tid t, enum op op);
bool lower_is_const(const struct lower *l, tid t);
tid lower_pure(struct lower *l, tid t);
tid lower_ite(struct lower *l, tid c, tid a, tid b);
tid lower_implies(struct lower *l, tid a, tid b);
tid lower_both(struct lower *l, tid a, tid b);
tid lower_iff(struct lower *l, tid a, tid b);
tid lower_lt(struct lower *l, tid a, tid b);
const tid *lower_parts(const struct lower *l, const tid *t, size_t *n);
tid lower_string(struct lower *l, const uint32_t *c, size_t n);
tid lower_slice(struct lower *l, tid s, size_t from, size_t n);

/* lower_function.c */
tid lower_num(struct lower *l, int64_t v);
tid lower_in_re(struct lower *l, tid s, tid re);
tid lower_contains(struct lower *l, tid s, tid t);
tid lower_substr(struct lower *l, tid s, tid i, tid n);
tid lower_indexof(struct lower *l, tid s, tid t, tid i);
tid lower_lastindexof(struct lower *l, tid s, tid t);
tid lower_replace(struct lower *l, tid s, tid t, tid u);
tid lower_replace_all(struct lower *l, enum op op, tid s, tid t, tid u);
tid lower_re_range(struct lower *l, uint32_t lo, uint32_t hi);
tid lower_to_code(struct lower *l, tid s);
tid lower_to_int(struct lower *l, tid s);
tid lower_from_code(struct lower *l, tid i);
tid lower_from_int(struct lower *l, tid i);
tid lower_str_lt(struct lower *l, tid s, tid t);
