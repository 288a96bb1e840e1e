/* Benchmark sets: cases under a name of their own. A case may be in any number of them. A case that is taken out of listings (cases_remove()) stays in
 * its sets, and is not shown there until it comes back.
 *
 * A set is one record, its cases' ids in order: made for thousands of cases and rare changes.
 *
 * Threads: any. Errors: -ENOENT no such set; -EINVAL not a name for one; store.h's. All with a sentence. */
#pragma once

#include "cache/store/store.h"

struct case_set {
        unsigned refs;
        char *name;
        int64_t changed; /* seconds */
        uint32_t *ids;   /* ascending, each once */
        size_t n;
};
struct case_set *case_set_unref(struct case_set *s); /* NULL */
DEFINE_CLEANUP(struct case_set *, case_set_unref)

/* The table (of the store's array) that the sets are in. */
struct sets;
int sets_open(struct store *s, size_t table, struct sets **ret);
struct sets *sets_close(struct sets *s);

/* A name of a set: letters, digits and ._+-, the first one a letter, at most 100; not `all`. So it is no id, range, pattern or folder of cases. */
int set_name_check(const char *name);
/* Puts cases into a set, which is made if need be. *ret_added: how many were not in it. */
int sets_add(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_added);
/* Takes cases out of it; an empty set stays. *ret_taken: how many were in it. */
int sets_take(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_taken);
int sets_remove(struct sets *s, const char *name);
int sets_get(struct sets *s, const char *name, struct case_set **ret);
/* Every set's name, sorted, NULL behind the last: strings_free(). */
int sets_names(struct sets *s, char ***ret, size_t *ret_n);
