/* Shared by the files of campaigns for unknowns.
 *
 * A chain begins at a seed (a formula of the corpus) that all versions decide, and makes it weaker (sat) or stronger (unsat) step by step. The next
 * step begins at the last mutant that the target decided. The target runs first; if it gives the implied answer, no reference runs (without
 * any_pair). A mutant that comes back unknown is a regression if a reference decides it, else an implication. The steps of a chain follow from the
 * campaign's seed, the chain's number and the answers, so an interrupted chain continues where it was. */
#pragma once

#include "core/smtlib/logic.h"
#include "core/study/campaign/campaign_internal.h"
#include "core/weaken/weaken.h"

/* A seed runs as it is and, if it states a logic other than ALL, by turns in ALL as well, which forbids no operator that rules add. */
enum logic_mode {
        LOGIC_STATED,
        LOGIC_ALL,
        N_LOGIC_MODES
};

struct seed_formula {
        const char *name;                  /* in the corpus */
        struct buffer text[N_LOGIC_MODES]; /* owned; empty for a missing mode */
        char logic[32];                    /* as stated; "" */
        enum verdict label;                /* the expected answer; VERDICT_UNKNOWN: the versions' answers count */
        /* under the campaign's lock: */
        enum verdict *base[N_LOGIC_MODES]; /* owned; of each compared version on the seed itself */
        unsigned n_base[N_LOGIC_MODES];    /* how many of them are known */
        bool is_judged[N_LOGIC_MODES], is_out[N_LOGIC_MODES]; /* seed_judge() has decided; no chain begins here */
        enum verdict implied; /* of the seed and all its mutants */
};

enum rule_end {
        RULE_DECIDED,
        RULE_UNKNOWN,
        RULE_TIMEOUT,
        RULE_OTHER,
        N_RULE_ENDS
};
struct rule_use {
        uint64_t ends[N_RULE_ENDS]; /* number of the target's runs with each end, on the rule's mutants */
};

struct known_finding {
        char *signature; /* owned */
        uint32_t number; /* 0: claimed, not stored yet */
        uint64_t size;   /* bytes of the smallest stored one */
        bool is_own;     /* of this campaign */
        bool is_counted; /* its EVENT_FOUND is in the journal, or will be at once */
};

struct unknowns {
        struct weaken *weaken;      /* owned */
        struct seed_formula *seeds; /* owned */
        size_t n_seeds;
        unsigned chains;              /* per seed */
        bool unsupported[N_OPS];      /* by some version; OP_NONE: quantifiers. Read-only once the workers run */
        uint64_t last;                /* the last chain given out; this and the following fields: under the campaign's lock */
        struct known_finding *known; /* owned */
        size_t n_known;
        struct finding_count *counts; /* owned; the number of this campaign's finds that each finding represents */
        size_t n_counts;
        struct rule_use *uses; /* owned; by rule */
};

static inline struct unknowns *unknowns_of(struct campaign *c)
{
        return c->state;
}

/* -- chains -- */

struct chain_place {
        struct seed_formula *seed;
        enum logic_mode mode;
        unsigned steps;
};
struct chain_place chain_place_of(struct campaign *c, uint64_t id);
int chain_try(struct campaign_worker *worker, const struct strategy_input *input);
/* Counts a step or a find, from a worker or the journal. Under the lock. */
void unknowns_count(struct campaign *c, const struct campaign_record *r);

/* -- unknown_seed.c -- */

/* Takes the scripts of the corpus. */
int seeds_read(struct campaign *c, struct unknowns *u);
/* Decides whether chains can begin at a seed, once all versions' answers on the seed itself are known. `runs` (may be NULL): these runs, whose
 * endings the log shows. Under the lock. */
void seed_judge(struct campaign *c, struct chain_place at, const struct answer *runs);

/* -- signatures -- */

/* Reads the signatures of the findings in the store. */
int signatures_load(struct campaign *c);
/* True: the caller stores the find, then calls signature_stored(). False: it is a duplicate of the finding *ret_number, and not much smaller. Waits
 * while another worker's claim of the same new signature is open. Takes and leaves the lock. */
bool signature_claim(struct campaign *c, const char *signature, uint64_t size, uint32_t *ret_number);
/* Ends a claim; `number`: of the stored find; 0: it did not show again. True: it is new to this campaign. Takes and leaves the lock. */
bool signature_stored(struct campaign *c, const char *signature, uint32_t number, uint64_t size);
/* Stores the number of finds that each finding represents. */
int signatures_keep(struct campaign *c);

/* -- operators -- */

/* Tests every version on every operator that rules write. An operator is not used if some version does not decide its plainest formula. */
int operators_probe(struct campaign *c);

/* -- one chain, of one worker: chain.c (from the seed, step by step) and chain_judge.c (judges the answers, and makes a step's findings) -- */

struct chain {
        struct campaign *campaign;
        struct unknowns *unknowns;
        struct chain_place place;
        uint64_t id;
        unsigned step, target;
        enum verdict implied;         /* of every formula of the chain */
        struct logic logic;           /* as stated */
        uint64_t size_most;           /* most nodes of an assertion made by a step */
        struct script *now, *next; /* owned; the last formula that the target decided, and the mutant of this step */
        struct buffer text, lines; /* owned; of the formula to run; of the steps so far, as in struct observation.chain */
        struct weaken_step applied;
        struct strategy_input input;
        struct trial trial;
};

/* Adds a record with the chain's id and step to the journal. Takes and leaves the lock. */
int chain_note(struct chain *ch, struct campaign_record *r);
/* True if an interrupted session has already dealt with this kind of find of this version at this step. */
bool chain_has_filed(const struct chain *ch, enum observation_kind kind, unsigned version);
/* Stores or counts the finds that the answers show. 1: an answer contradicts the implied one, so the chain cannot go on. */
int chain_judge(struct chain *ch);
