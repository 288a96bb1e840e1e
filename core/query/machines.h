/* Machines by name: this one, those of clusters (worker_pool.h), and those whose measurements were imported. A machine's name is part of each run's
 * key (core/run/host.h), so results of two machines never mix. A cell names the machine whose results it asks for (struct cell).
 *
 * A build's record leads to one program. The programs that other machines ran are noted apart, by the digests of the machine's name and of the
 * commit's source (machine_source_digest()). In TABLE_META:
 *
 *     machine/name/<name>                     the store has something from this machine
 *     machine/programs/<machine>/<source>     digests of programs, the last imported one at the end
 *
 * Threads: any. Errors are store.h's. */
#pragma once

#include "core/query/query.h"

#define MACHINE_NAME_MOST 300

/* Finds a machine by its name, or by the part before the first '/' (host or cluster) if that is unique. *ret: free(). -ENOENT, -ENOTUNIQ: with a
 * sentence that names the known machines. */
int machine_find(struct workspace *w, const char *word, char **ret);

/* The digest of everything a build of the commit depends on, except for what it used of a machine. */
int machine_source_digest(struct solver *s, uint32_t commit, struct digest *ret);
/* A placeholder for the digest of the program that a machine ran, if its bytes are unknown. */
void machine_unknown_program(const char *machine, const struct digest *source, struct digest *ret);
/* Notes a program of a machine; call it in the transaction that puts the program's facts. */
int machine_note(struct store_txn *t, const char *machine, const struct digest *source, const struct digest *program);

/* The programs of a cell of a named machine: imported ones, newest first, then the one built here; free(). None is no error. */
int machine_programs(struct workspace *w, const struct cell *cell, struct digest **ret, size_t *ret_n);
