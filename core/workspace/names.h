/* Dense numbers for names: given once, in order from 0, never reused. They make inode numbers that outlive a mount. Threads: any. Errors: those of
 * store.h. */
#pragma once

#include "cache/store/store.h"

enum name_space {
        NAMES_REPOSITORY,
        NAMES_SOLVER,
        NAMES_REF,      /* "<solver number>/b/feature/x" and each folder on its path */
        NAMES_VIEW,     /* a cell's setting: "<solver number>/seed/7", "<solver number>/timeout/60000000000" */
        NAMES_PATH,     /* a folder of cases/by-name */
        NAMES_OUTPUT,   /* a file in bin/ */
        NAMES_SETTING,  /* a setting with measurements, written as a view of commits/ */
        NAMES_SET,      /* of cases */
        NAMES_CAMPAIGN, /* "<solver number>/<name>" */
        NAMES_PORTFOLIO,
        NAMES_COMPARISON, /* "<set>/<solver number>@<sha>..<solver number>@<sha>"; the set may be empty */
};

/* names_number() finds a name's number; -ENOENT: it has none. names_intern() gives it one if need be, in a write transaction. */
int names_number(struct store *s, enum name_space space, const char *name, uint32_t *ret);
int names_intern(struct store *s, enum name_space space, const char *name, uint32_t *ret);
/* The same in the caller's transaction. */
int names_intern_in(struct store_txn *t, enum name_space space, const char *name, uint32_t *ret);
/* The same for many names in one transaction, or in none if all have numbers. */
int names_intern_all(struct store *s, enum name_space space, char *const *names, size_t n);
int names_name(struct store *s, enum name_space space, uint32_t number, char **ret); /* free() */
