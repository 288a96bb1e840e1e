/* Query verify: a pair of commits, the second built on what the build of the first left, and in a clean tree. Nothing is kept of it. */
#pragma once

#include "core/query/query.h"

struct verify_value {
        struct value value;
        bool taken;      /* the second was built incrementally; else nothing is known */
        bool reproducible; /* two clean builds gave the same; true when it was not looked at */
        char *reason;    /* owned; why it was not taken, or how the builds differ; NULL: they are the same */
        uint64_t incremental_ns, clean_ns;
};

/* `twice`: it is also seen whether two clean builds, the other without the compile cache, give the same. */
int query_verify(struct workspace *w, struct solver *s, uint32_t from, uint32_t to, bool twice, struct query **ret);
