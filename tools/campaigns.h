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

/* Keys of the options that every campaign has. A command describes those that CAMPAIGN_OPTIONS leaves out; -j is 'j'. */
enum {
        OPTION_REFERENCE = 256,
        OPTION_ORACLE,
        OPTION_FOR,
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

/* Rows of the options that all campaigns describe in the same words. */
#define CAMPAIGN_OPTIONS \
        {"clock", OPTION_CLOCK, "wall|cpu", 0,                                                                                  \
         "what all times count, --for too: with cpu the CPU time of the solvers, on a machine that has other work; default "    \
         "wall",                                                                                                                \
         0},                                                                                                                    \
        {"seed", OPTION_SEED, "N", 0, "what all choices follow from; default 1", 0},                                            \
        {"name", OPTION_NAME, "NAME", 0, "what the campaign is called; one of that name goes on", 0},                           \
        {"max-finds", OPTION_MAX_FINDS, "N", 0, "stop after so many findings of this call, of any kind", 0},                    \
        {"on", OPTION_ON, "NAME", 0, "run there: 'local', or a cluster of the store's config", 0},                              \
        {"localize-for", OPTION_LOCALIZE_FOR, "TIME", 0,                                                                        \
         "at the end, go on looking for the commits responsible for so long at most (wall time); default as long as --for", 0}, \
        {"no-localize", OPTION_NO_LOCALIZE, NULL, 0, "do not look for the commits responsible", 0},                             \
        {"reduce-for", OPTION_REDUCE_FOR, "TIME", 0,                                                                            \
         "at the end, make the findings smaller for so long in all (wall time); default a quarter of --for", 0},                \
        {"json", OPTION_JSON, NULL, 0, "print the end as JSON", 0}

/* Takes one of these options, or says ARGP_ERR_UNKNOWN; a wrong value ends the command with a sentence. */
error_t campaign_option(struct campaign_command *c, int key, char *arg, struct argp_state *state);
double campaign_seconds(struct argp_state *state, const char *what, const char *text);
void campaign_copy_text(char **ret, const char *text);

/* Runs the campaign, or goes on with it, and frees the command. Returns the exit status. */
int campaign_command_run(struct campaign_command *c);
