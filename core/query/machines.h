/* Machines by name: this one, those of clusters (worker_pool.h), and others, whose measurements were imported. A machine's name is a part of each run's key
 * (core/run/host.h), so that results of two never mix: whoever wants to see those of one asks for them by name (struct cell).
 *
 * A build's record is of the program that this machine made last. The program that a commit has on another machine is kept
 * apart, under the recipe's build part and the sources. In TABLE_META:
 *
 *     machine/name/<name>                     there is something of this machine
 *     machine/programs/<machine>/<source>     digests of programs, the one imported last at the end
 *
 * Threads: any. Errors are store.h's. */
#pragma once

#include "core/query/query.h"

#define MACHINE_NAME_MOST 300

/* A machine by its name, or by the part before the first '/', the host or cluster, where only one has it. *ret: free(). -ENOENT and -ENOTUNIQ, with a
 * sentence that names those there are. */
int machine_find(struct workspace *w, const char *word, char **ret);

/* A digest of all that a build of the commit depends on, what it used of a machine apart. */
int machine_source(struct solver *s, uint32_t commit, struct digest *ret);
/* The program that stands for whatever somebody ran there, where nobody knows its bytes. */
void machine_unknown_program(const char *machine, const struct digest *source, struct digest *ret);
/* In the transaction that puts the program's facts. */
int machine_note(struct store_txn *t, const char *machine, const struct digest *source, const struct digest *program);

/* The programs of a cell of a named machine, the one imported last first, the one that was built here last; free(). None is no error. */
int machine_programs(struct workspace *w, const struct cell *cell, struct digest **ret, size_t *ret_n);
