/* The commands that run campaigns share this: the values of their options, progress, and the end. */
#pragma once

#include "command.h"
#include "core/study/campaign/campaign.h"

struct campaign_command {
        const char *solver_name;
        struct campaign_settings settings; /* campaign_settings_new() */
        struct buffer references, oracles; /* NUL-terminated words, one behind the other */
        const char *on;                    /* NULL: as the config says */
        bool json;
        /* Runs in place of one campaign, and shows what came of it; -errno as campaign_run(). NULL: one campaign. */
        int (*run)(struct campaign_command *c, struct workspace *w, struct engine *e, struct solver *s,
                   const struct campaign_watch *watch, int signals);
};

/* Keys of the options that every campaign has; each command documents them. -j is 'j'. */
enum {
        OPTION_REFERENCE = 256,
        OPTION_ORACLE,
        OPTION_FOR,
        OPTION_TIMEOUT,
        OPTION_CLOCK,
        OPTION_SEED,
        OPTION_NAME,
        OPTION_MAX_FINDS,
        OPTION_LOCALIZE_FOR,
        OPTION_NO_LOCALIZE,
        OPTION_REDUCE_FOR,
        OPTION_NO_REDUCE,
        OPTION_JSON,
        OPTION_ON,
        OPTION_OWN, /* the first of a command's own */
};

/* Takes one of these options, or says ARGP_ERR_UNKNOWN; a wrong value ends the command with a sentence. */
error_t campaign_option(struct campaign_command *c, int key, char *arg, struct argp_state *state);
double campaign_seconds(struct argp_state *state, const char *what, const char *text);
void campaign_copy_text(char **ret, const char *text);

/* Runs the campaign, or goes on with it, and frees the command. Returns the exit status. */
int campaign_command_run(struct campaign_command *c);
