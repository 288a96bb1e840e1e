/* One chain of the hunt for unknowns, shared by its files: chain.c (from the seed, step by step), chain_logic.c (what a step may bring in), chain_runs.c
 * (runs, and the chain's part of the journal), chain_judge.c (what the answers mean), chain_finding.c (the findings of a step).
 *
 * Threads: a chain belongs to one worker. */
#pragma once

#include "core/study/campaign/campaign_unknown.h"

struct chain {
        struct campaign *campaign;
        struct unknown_hunt *hunt;
        struct chain_place place;
        uint64_t id;
        unsigned step, target;
        enum verdict implied;         /* of every formula of the chain */
        bool linear, quantifier_free; /* the stated logic */
        uint64_t size_most;           /* nodes of an assertion that a step may make */
        struct script *now, *next; /* owned; the last formula that the target decided, and the mutant of this step */
        struct buffer now_text, text, lines;
        struct weaken_step applied;
        struct strategy_input input;
        struct trial trial;
};

/* -- chain_logic.c -- */

/* Bounds by the seed's logic and its size; once `now` is read. */
void chain_set_bounds(struct chain *ch);
/* Is the term one that the versions support, and the seed's logic allows? The chain is the user. */
bool chain_allows(void *user, const struct term *t);

/* -- chain_runs.c -- */

/* Runs every compared version on the chain's text, and notes the answers. */
int chain_run_all(struct chain *ch);
/* To the journal; the record gets the chain's id and step. Takes and leaves the lock. */
int chain_note(struct chain *ch, struct campaign_record *r);
/* Did a cut-off session come to an end with this kind of find of this version at this step? */
bool chain_has_filed(const struct chain *ch, enum observation_kind kind, unsigned version);

/* -- chain_judge.c -- */

/* Files what the answers show. 1: an answer contradicts what is implied, so that the chain cannot go on. */
int chain_judge(struct chain *ch);

/* -- chain_finding.c -- */

struct chain_find {
        enum observation_kind kind;
        int reference; /* a version that is right; -1: none */
        unsigned version;
        const char *reason; /* why it is unknown, how it crashed, what it says */
};
/* Stores or counts it. */
int chain_file(struct chain *ch, const struct chain_find *find);
