/* Imports observations of another store: findings, with their inputs, marks, counts, localizations and reductions; the classes of responsible commits
 * that were set by hand; the campaigns that made the findings; and alarms, with their marks.
 *
 * A finding is recognized by its kind, its input and its versions, an alarm by its cause (observation.h); a new one gets a number of this store. An
 * alarm counts as told: the command of a watch here is not run for it, nor for its cause when a watch here meets it. A campaign is recognized by its
 * settings, its machine and its begin, whatever its name. If another campaign has its name here, it is imported as NAME~XXXXXXXX, the same name at every
 * import. Numbers of findings in a campaign's journal and log become those here. A campaign that went on there is updated; one that went on here stays.
 *
 * Works in small transactions; after an interruption the same call continues. Import the other store's cases before, and its results after
 * (core/care/import.h). Threads: one. */
#pragma once

#include "core/care/import.h"

struct study_import {
        uint64_t findings, known_findings;
        uint64_t campaigns, known_campaigns;
        uint64_t alarms, known_alarms;
        uint64_t absent;  /* whose solver, commit or case is not here */
        uint64_t damaged; /* unreadable there, and left out */
};
int import_study(struct store_source *source, struct study_import *ret);
