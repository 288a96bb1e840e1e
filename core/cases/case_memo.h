/* A bounded cache of cases, for a caller that needs the same cases again and again. An entry does not show later changes of its case. Threads: one at
 * a time. */
#pragma once

#include "core/cases/cases.h"

struct case_memo;
struct case_memo *case_memo_new(struct cases *c); /* `c` is borrowed */
struct case_memo *case_memo_free(struct case_memo *m); /* returns NULL; `m` may be NULL */
DEFINE_CLEANUP(struct case_memo *, case_memo_free)
int case_memo_find(struct case_memo *m, const struct digest *sha256, struct case_info **ret); /* a ref; as cases_find_digest() */
