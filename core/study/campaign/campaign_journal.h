/* A campaign's memory across crashes: everything that it reported to its strategy, for replay. The replay drops a truncated record and all that
 * follows it.
 *
 * To limit the journal's size, the caller makes a checkpoint now and then: the caller's state, which replaces all records so far, and the records of
 * inputs under way. It begins a new file, which replaces the journal once it is on disk. The numbers of findings are in records, not in the state, so
 * that an import can change them.
 *
 * Threads: one at a time. */
#pragma once

#include "core/fuzz/strategy.h"

enum campaign_event {
        EVENT_NEXT = 1,  /* an input was taken: id; 0: the strategy waited */
        EVENT_RAN,       /* id, version, seconds, verdict, amount */
        EVENT_FINISH,    /* id */
        EVENT_CONFIRMED, /* id, is_find; precedes the candidate's EVENT_FINISH */
        EVENT_SESSION,   /* a session began or ended; no field but the time */
        EVENT_STEP,      /* a step of a chain: id, step, version, seconds, verdict, rule, direction */
        EVENT_FOUND,     /* a step's find: id, step, version, kind; finding: 0: not confirmed; is_find: it was new */
        EVENT_AGAIN,     /* a run that confirms: id, step (the round; 0: of a crash or a contradiction), version, seconds, verdict, amount */
        EVENT_CHECKPOINT, /* state; always the first record */
        EVENT_COUNTED,    /* of a checkpoint: finding, and in id the number of finds that it represents */
        N_EVENTS
};

struct campaign_record {
        enum campaign_event event;
        uint64_t id;
        double now; /* seconds of work since the campaign began */
        unsigned version;
        double seconds;
        enum verdict verdict;
        double amount; /* of the campaign's measure; seconds if that is time */
        bool is_find;
        uint64_t finding; /* its number */
        uint64_t step;    /* 0: the seed */
        unsigned rule, direction;
        unsigned kind; /* enum observation_kind */
        bool is_known; /* from a checkpoint, whose state includes it unless it is an EVENT_COUNTED */
        struct slice state; /* of EVENT_CHECKPOINT; valid until `replay` returns */
};
#define JOURNAL_NO_RULE UINT16_MAX

typedef int (*campaign_replay_fn)(void *user, const struct campaign_record *r);
struct campaign_journal;
/* Opens or makes the file, and locks it. -EBUSY: another process has it. */
int campaign_journal_open(const char *path, struct campaign_journal **ret);
/* Calls `replay` (may be NULL) for each whole record, in order; once, before records are added. -EIO: its checkpoint is damaged. */
int campaign_journal_replay(struct campaign_journal *j, campaign_replay_fn replay, void *user);
/* Opens a journal and calls `replay` for its records, without a lock and without writing. */
int campaign_journal_read(const char *path, campaign_replay_fn replay, void *user);
void campaign_journal_close(struct campaign_journal *j);

/* Completes *r from the last record of an input under way with the same event, id, step, version and kind. False: there is none. */
bool campaign_journal_find(const struct campaign_journal *j, struct campaign_record *r);
/* Writes a record, which is on disk after the next sync. An error, such as -ENOSPC, leaves the file as it was. */
int campaign_journal_add(struct campaign_journal *j, const struct campaign_record *r);
int campaign_journal_sync(struct campaign_journal *j);
/* Makes a checkpoint. 0: it is on disk; an error changes nothing. `known`: the EVENT_COUNTED; the journal itself adds the records of inputs under way. */
int campaign_journal_checkpoint(struct campaign_journal *j, double now, struct slice state, const struct campaign_record *known, size_t n);
uint64_t campaign_journal_size(const struct campaign_journal *j); /* bytes, without the checkpoint */
