/* Shared by the files of the hunt for unknowns: campaign_unknown.c (its life, chains in their order, the journal told again), unknown_seed.c (seeds and
 * what they should be), unknown_count.c, chain.h (one chain), campaign_signature.c (what stands for what) and campaign_probe.c (operators that a version
 * does not support).
 *
 * A chain begins at a seed that the target decides, and makes it weaker (sat) or stronger (unsat) step by step; what the target decides is where
 * the next step begins. A mutant that comes back unknown is a regression where a reference decides it, else an implication. The steps of a chain
 * follow from the campaign's seed, the chain's number and the answers, so that a chain which was cut off goes on where it was. */
#pragma once

#include "core/study/campaign/campaign_internal.h"
#include "core/weaken/weaken.h"

/* A seed is run as it is and, where it states a logic that forbids what rules bring in, in ALL as well, by turns. */
enum logic_mode {
        LOGIC_STATED,
        LOGIC_ALL,
        N_LOGIC_MODES
};

struct seed {
        const char *name;                  /* the corpus' */
        struct buffer text[N_LOGIC_MODES]; /* owned; empty where there is no such mode */
        char logic[32];                    /* as stated; "" */
        enum verdict label;                /* what it should be; VERDICT_UNKNOWN: the versions say */
        /* under the campaign's lock: */
        enum verdict *base[N_LOGIC_MODES]; /* owned; of each compared version on the seed itself */
        unsigned n_base[N_LOGIC_MODES];    /* how many of them are known */
        bool is_out[N_LOGIC_MODES], is_judged[N_LOGIC_MODES];
        enum verdict implied; /* of the seed and all its mutants */
};

struct rule_use {
        uint64_t used, decided, unknown, timeout, other;
};

/* The parts of a signature. */
struct known_finding {
        char *signature; /* owned */
        uint32_t number; /* 0: somebody is about to store it */
        uint64_t size;   /* bytes of the smallest that is stored */
        bool is_own;     /* of this campaign */
        bool is_counted; /* its EVENT_FOUND is in the journal */
};

struct unknown_hunt {
        struct weaken *weaken; /* owned */
        struct seed *seeds;    /* owned */
        size_t n_seeds;
        unsigned chains;              /* of a seed */
        bool unsupported[N_OPS];      /* by a version; read only once the workers run */
        bool no_quantifier;           /* likewise */
        uint64_t last;                /* chain given out; under the campaign's lock, as all that follows */
        struct known_finding *known; /* owned */
        size_t n_known;
        struct finding_count *counts; /* owned; what each finding stands for in this campaign */
        size_t n_counts;
        struct rule_use *uses; /* owned; by rule */
};

static inline struct unknown_hunt *unknown_hunt_of(struct campaign *c)
{
        return c->state;
}

/* -- chains -- */

struct chain_place {
        struct seed *seed;
        enum logic_mode mode;
        unsigned number, steps;
};
void chain_place_of(struct campaign *c, uint64_t id, struct chain_place *ret);
int chain_try(struct bench_seat *seat, const struct strategy_input *input);

/* -- unknown_seed.c -- */

/* Those of the corpus, which gives them up. */
int seeds_read(struct campaign *c, struct unknown_hunt *h);
/* Under the lock, when the answers of all versions on the seed itself are known: whether chains can begin there. */
void seed_judge(struct campaign *c, struct seed *seed, enum logic_mode mode);

/* -- unknown_count.c -- */

/* Under the lock: counts a step or a find, from a worker or the journal. */
void unknown_hunt_count(struct campaign *c, const struct campaign_record *r);

/* -- signatures -- */

enum claim {
        CLAIM_DUPLICATE, /* counted: *ret_number stands for it */
        CLAIM_STORE      /* the caller stores it, then calls signature_stored() */
};
/* Those that are in the store already. */
int signatures_load(struct campaign *c);
/* Takes and leaves the lock. Another one that is much smaller is stored, too. */
enum claim signature_claim(struct campaign *c, const char *signature, uint64_t size, uint32_t *ret_number);
/* number 0: it was none. True: it is new to this campaign. Takes and leaves the lock. */
bool signature_stored(struct campaign *c, const char *signature, uint32_t number, uint64_t size);
struct known_finding *signature_of(struct unknown_hunt *h, uint32_t number);
/* Keeps how many each finding stands for. */
int signatures_keep(struct campaign *c);

/* -- operators -- */

/* Asks every version about every operator that rules write. What one does not know, or does not decide the plainest formula of, is left out. */
int operators_probe(struct campaign *c);
