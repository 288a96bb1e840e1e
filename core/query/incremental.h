/* May a recipe's builds go on from what others left? Declared by the recipe (`incremental = true`), proved by comparing (`solver verify`), kept
 * in the store for the recipe as it is: other commands, other proof. Compared now and then ever after: for each incremental build a share
 * of its time is put by, and when there is enough for a clean build, the last one is built clean and compared. The first difference ends it,
 * and every program that was built incrementally and never confirmed is struck.
 *
 * Threads: any. */
#pragma once

#include "core/query/workspace.h"

enum incremental_state {
        INCREMENTAL_OFF,      /* the recipe does not say so */
        INCREMENTAL_UNPROVED, /* it does; builds are clean until it is verified */
        INCREMENTAL_ON,
        INCREMENTAL_REVOKED, /* a difference was found; builds are clean until it is verified again */
};
enum incremental_state incremental_state(struct workspace *w, const struct solver *s);

/* `pairs` were compared and are the same. */
int incremental_accept(struct workspace *w, const struct solver *s, unsigned pairs);
/* A difference: says so in the log, and strikes what was built. `what` is a sentence with the commit: "1a2b3c4d5e6f: output z3 differs ...". */
int incremental_revoke(struct workspace *w, struct solver *s, const char *what);
/* Every revoked recipe, a line each: "z3: 1a2b3c4d5e6f: output z3 differs ...". */
int incremental_each_revoked(struct workspace *w, int (*fn)(void *user, const char *line), void *user);

/* In the transaction that keeps an incremental build: puts its share by. -ESTALE when it was revoked meanwhile: nothing is to be kept. */
int incremental_note(struct workspace *w, struct store_txn *t, const struct solver *s, uint32_t commit, uint64_t duration_ns);
/* The commit whose build is to be compared now; -ENOENT when none is due. */
int incremental_due(struct workspace *w, const struct solver *s, uint32_t *ret);
/* In the transaction that keeps a clean build: how long it took. `checked`: it was built to compare. */
void incremental_settled(struct store_txn *t, const struct solver *s, bool checked, uint64_t clean_ns);
