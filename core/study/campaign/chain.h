/* One chain of a campaign for unknowns, shared by its files: chain.c (from the seed, step by step) and chain_judge.c (what the answers mean, and the
 * findings of a step).
 *
 * Threads: a chain belongs to one worker. */
#pragma once

#include "core/smtlib/logic.h"
#include "core/study/campaign/campaign_unknown.h"

struct chain {
        struct campaign *campaign;
        struct unknowns *unknowns;
        struct chain_place place;
        uint64_t id;
        unsigned step, target;
        enum verdict implied;         /* of every formula of the chain */
        struct logic logic;           /* as stated */
        uint64_t size_most;           /* nodes of an assertion that a step may make */
        struct script *now, *next; /* owned; the last formula that the target decided, and the mutant of this step */
        struct buffer text, lines;
        struct weaken_step applied;
        struct strategy_input input;
        struct trial trial;
};

/* To the journal; the record gets the chain's id and step. Takes and leaves the lock. */
int chain_note(struct chain *ch, struct campaign_record *r);
/* Did a cut-off session come to an end with this kind of find of this version at this step? */
bool chain_has_filed(const struct chain *ch, enum observation_kind kind, unsigned version);
/* Stores or counts what the answers show. 1: an answer contradicts what is implied, so that the chain cannot go on. */
int chain_judge(struct chain *ch);
