/* Stores of older versions, taken over when they are first opened for writing. It is said once, as a warning. May be killed at any moment, and is
 * gone on with at the next opening. */
#pragma once

#include "core/query/workspace.h"

/* A store written before results stood under their program's digest. Its builds say which program each has made; measurements that are not
 * older than their build are that program's, and are taken over. The others were made with a program that a later build took the place of:
 * nobody knows its digest, so they are measured anew. Nothing is mixed. Nothing when it was done before. */
int runs_take_over(struct workspace *w);

/* A store whose programs are in its database: they become files, as they are. On a full disk those that are not files yet are not found, and
 * taken over later. Nothing when it was done before. */
int programs_take_over(struct workspace *w);
