/* Shared by the files of solverfs fuzz. */
#pragma once

#include "campaigns.h"

struct fuzzing {
        struct campaign_command command;             /* must be first */
        enum strategy_kind strategies[N_STRATEGIES]; /* as they were given */
        size_t n_strategies;
        unsigned repeat;      /* 0: one campaign */
        const char *pictures; /* beginning of the names of two files, or NULL */
};

/* A campaign_command's run(), of a struct fuzzing: campaigns of several strategies, repeated, side by side; prints what they found. */
int fuzz_compare(struct campaign_command *c, const struct campaign_watch *watch);
