/* Takes observations of another store into this one: findings, with their inputs, marks, counts, localizations and reductions; the classes of responsible
 * commits that were set by hand; the campaigns that made them; and alarms, with what became of them.
 *
 * A finding is known again by its kind, its input and its versions, an alarm by its cause (observation.h); what is new gets a number of this store's. An
 * alarm counts as told: the command of a watch here is not run for it, nor for its cause when a watch here meets it. A campaign is known again by its
 * settings, its machine and when it began, whatever its name; where another campaign has its name here, it is taken under NAME~XXXXXXXX, which
 * is the same at the next import. Numbers of findings in a campaign's journal and log become those that the findings have here. One that went on there is
 * brought up to date; one that went on here stays.
 *
 * In small transactions, of which each may be the last: the same call goes on from there. The cases of the other store are to be imported before,
 * its results behind (core/care/import.h). Threads: one. */
#pragma once

#include "core/care/import.h"

struct study_import {
        uint64_t findings, known_findings;
        uint64_t campaigns, known_campaigns;
        uint64_t alarms, known_alarms;
        uint64_t absent;  /* of solvers, commits or cases that are not here */
        uint64_t damaged; /* what cannot be read there, and is left out */
};
int import_study(struct store_source *source, struct study_import *ret);
