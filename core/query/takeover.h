/* A store written before results stood under their program's digest. Its builds say which program each has made; measurements that are not
 * older than their build are that program's, and are taken over. The others were made with a program that a later build took the place of:
 * nobody knows its digest, so they are measured anew. Nothing is mixed. It is said once, as a warning. May be killed at any moment, and is
 * gone on with at the next opening. */
#pragma once

#include "core/query/workspace.h"

int runs_take_over(struct workspace *w); /* nothing when it was done before */
