/* What the commands that run campaigns share: values of options, progress, and the result. */
#pragma once

#include "command.h"
#include "core/study/campaign/campaign.h"

struct campaign_command {
        const char *solver_name;
        struct campaign_settings settings; /* campaign_settings_new() */
        const char *on;                    /* NULL: as the config says */
        unsigned clock;                    /* --clock; 1: CPU time */
};

/* The options that all campaigns have in the same words; `c` is a struct campaign_command. */
#define CAMPAIGN_OPTIONS(c)                                                                                                                  \
        {"clock", 0, "wall|cpu",                                                                                                             \
         "what all times count, --for too: with cpu the CPU time of the solvers, on a machine that has other work; default wall",            \
         .choice = &(c).clock},                                                                                                              \
        {"seed", 0, "N", "what all choices follow from; default 1", .big_number = &(c).settings.seed, .most = INT64_MAX},                    \
        {"name", 0, "NAME", "what the campaign is called; one of that name goes on", .parse = campaign_copy_text, .to = &(c).settings.name}, \
        {"max-finds", 0, "N", "stop after so many findings of this call, of any kind",                                                       \
         .big_number = &(c).settings.most_finds, .least = 1, .most = INT64_MAX},                                                             \
        {"on", 0, "NAME", "run there: 'local', or a cluster of the store's config", .text = &(c).on},                                        \
        {"localize-for", 0, "TIME",                                                                                                          \
         "at the end, go on looking for the commits responsible for so long at most (wall time); default as long as --for",                  \
         .seconds = &(c).settings.localize_seconds},                                                                                         \
        {"no-localize", 0, NULL, "do not look for the commits responsible", .off = &(c).settings.localize},                                  \
        {"reduce-for", 0, "TIME", "make the findings smaller for so long in all, while it runs and at the end (wall time); default half of --for", \
         .seconds = &(c).settings.reduce_seconds},                                                                                           \
        {"json", 0, NULL, "print the end as JSON", .on = &common.json}

/* For rows: --reference and --oracle add a word to a list; a text of the settings; --no-reduce. */
void campaign_add_word(void *to, const char *text);
void campaign_copy_text(void *to, const char *text);
void campaign_reduce_nothing(void *to, const char *text);

/* The solver's name as given; `programs` where it was left out and all versions are programs; else NULL. */
const char *campaign_solver(const struct campaign_settings *s, const char *word);
/* Runs the campaign, or goes on with it, and frees the command. */
void campaign_command_run(struct campaign_command *c);
