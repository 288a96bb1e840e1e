/* Shared by campaign.c (life and threads), campaign_input.c (one input: runs and confirmation), campaign_corpus.c and campaign_record.c. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "core/run/slot.h"
#include "core/study/campaign.h"
#include "core/study/campaign_journal.h"

int campaign_check_name(const char *name);
int campaign_put_settings(struct workspace *w, uint32_t solver, const struct campaign_settings *s);
int campaign_put_status(struct workspace *w, uint32_t solver, const char *name, const struct campaign_status *s);

/* The inputs below a folder, read; what cannot be read is counted and named in the log. */
struct corpus {
        struct script **list; /* owned */
        size_t n;
        uint64_t skipped;
};
int corpus_read(const char *dir, void (*say)(void *user, const char *line), void *user, struct corpus *ret);
void corpus_done(struct corpus *c);

struct campaign {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        const struct campaign_settings *settings;
        const struct campaign_watch *watch;
        int cancel_fd;
        char folder[PATH_SIZE];
        struct version **versions;         /* owned: the references, the target, the oracles */
        size_t n_versions, n_compared;     /* compared: without the oracles */
        struct held *programs; /* owned; of each version */
        struct corpus corpus;
        FILE *log;

        pthread_mutex_t lock;
        pthread_cond_t changed;
        /* under lock */
        struct strategy *strategy;
        struct campaign_journal *journal;
        struct campaign_status status;
        double worked_before;  /* in earlier sessions */
        uint64_t found_before; /* likewise, of all kinds */
        uint64_t began_ns;
        int error; /* the first that ended it */
        bool is_over;
        unsigned n_waiting; /* workers that wait for others' outcomes */
        char *signatures;   /* owned: of crashes and contradictions that were recorded, one a line */
        /* Inputs that a killed session had under way. */
        struct strategy_input *left;
        size_t n_left;
};

double campaign_now(struct campaign *c);                                          /* seconds of work; under lock or not */
void campaign_say(struct campaign *c, const char *format, ...) printf_like(2, 3); /* to the log and the watch */
/* Under the lock: to the journal. */
int campaign_note(struct campaign *c, const struct campaign_record *r);

/* A worker's runners, one for each version, on one slot. */
struct bench_seat {
        struct campaign *campaign;
        struct slot slot;
        struct runner **runners; /* owned */
};
/* One input from its runs to its finding. 0 or -errno that ends the campaign. */
int campaign_try(struct bench_seat *seat, const struct strategy_input *input);
