/* Benchmark sets: named lists of cases. A case may be in any number of sets. A removed case (cases_remove()) stays in its sets, and is not shown there
 * until it comes back.
 *
 * A set is one record, its cases' ids in order: designed for thousands of cases and rare changes.
 *
 * Threads: any. Errors, all with a sentence: -ENOENT: no such set; -EINVAL: not a valid name; those of store.h. */
#pragma once

#include "cache/store/store.h"

struct case_set {
        unsigned refs;
        char *name;
        int64_t changed; /* seconds */
        uint32_t *ids;   /* ascending, each once */
        size_t n;
};
DECLARE_REFS(case_set)

/* `table`: the sets' table, as a number in the store's array. */
struct sets;
int sets_open(struct store *s, size_t table, struct sets **ret);
struct sets *sets_close(struct sets *s);

/* A set's name: at most 100 letters, digits and ._+-, beginning with a letter; not `all`. So it is no id, range, pattern or folder of cases. */
int set_name_check(const char *name);
/* Puts cases into a set, which is made if need be. *ret_added: the number of new ones. */
int sets_add(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_added);
/* Takes cases out of a set; an empty set stays. *ret_taken: the number of those that were in it. */
int sets_take(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_taken);
int sets_remove(struct sets *s, const char *name);
int sets_get(struct sets *s, const char *name, struct case_set **ret);
/* The names of all sets, sorted and NULL-terminated: strings_free(). */
int sets_names(struct sets *s, char ***ret, size_t *ret_n);
