/* Takes alarms of another store into this one, with what became of them. An alarm is known again by its cause (alarm.h); what is new gets a number of this
 * store's, and counts as told: the command of a watch here is not run for it, nor for its cause when a watch here meets it.
 *
 * In small transactions, of which each may be the last: the same call goes on from there. The cases of the other store are to be imported before
 * (core/care/import.h). Threads: one. */
#pragma once

#include "core/care/import.h"

struct alarm_import {
        uint64_t alarms, known_alarms;
        uint64_t absent;  /* of solvers, commits or cases that are not here */
        uint64_t damaged; /* what cannot be read there, and is left out */
};
int import_alarms(struct store_source *source, struct alarm_import *ret);
