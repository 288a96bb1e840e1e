/* Shared by the files of a campaign; each has a section below. Its types are in campaign_slowdown.c and campaign_unknown.c.
 *
 * A candidate is an input whose first runs show what the campaign looks for. More runs confirm it as a find, or reject it. A find is stored as a finding,
 * or counted by the stored finding that represents it. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "cache/base/transfer.h"
#include "core/run/ending.h"
#include "core/workspace/lease.h"
#include "core/study/base/version.h"
#include "core/study/campaign/campaign.h"
#include "core/study/campaign/campaign_journal.h"
#include "core/study/observation/observation.h"

struct campaign;
struct campaign_worker;
struct reducer; /* campaign_reduce.c */

/* -- campaign_corpus.c -- */

struct corpus {
        struct formula *list; /* owned */
        char **names;         /* owned: paths, from the corpus' folder on */
        size_t n;
        uint64_t hash; /* of their bytes, in order */
};
/* Reads the inputs below the folder of the settings. Unusable ones are counted in the status and named in the log. If the format is FORMAT_ANY, the first
 * usable input decides it. */
int corpus_read(struct campaign *c);
void corpus_done(struct corpus *c);

/* -- campaign_probe.c -- */

/* Sets the format that the solver reads. If it reads both, the corpus decides, else the target's answers. -EINVAL: DIMACS in a campaign for unknowns. */
int campaign_choose_format(struct campaign *c);

/* Sets the logics of generated formulas: those of the settings; else strings, if all versions decide a formula of them; else those of a list that all
 * decide. -ENODATA: there is no such logic, or a version answers nothing. A continued campaign keeps its logics. */
int logics_choose(struct campaign *c);

/* A type of campaign chooses the inputs and judges their results. */
struct campaign_type {
        const char *table;                               /* the name of its table: "operators.tsv" */
        int (*check)(const struct campaign_settings *s); /* -EINVAL with a sentence */
        int (*begin)(struct campaign *c);                /* after versions are held and the corpus is read; sets c->state and c->fingerprint */
        void (*end)(struct campaign *c);
        /* The next input, under the lock. -EAGAIN: wait for inputs under way; -ENOSPC with a sentence: no more inputs. */
        int (*next)(struct campaign *c, struct strategy_input *ret);
        /* transfer() writes the type's state for a checkpoint, under the lock, or reads it, after begin(). The state has no numbers of findings:
         * add_counted() (NULL: the type counts none) adds an EVENT_COUNTED to *known for each counted finding. */
        void (*transfer)(struct campaign *c, struct transfer *t);
        void (*add_counted)(struct campaign *c, struct campaign_record **known, size_t *n);
        /* Replay of the journal, by one thread. next_again() returns the input of an EVENT_NEXT, which the type's state may have already
         * (r->is_known); -EAGAIN: id 0. replay() takes the outcomes of inputs. */
        int (*next_again)(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret);
        int (*replay)(struct campaign *c, const struct campaign_record *r);
        /* Handles one input, from its runs to its findings. An error ends the campaign. */
        int (*try)(struct campaign_worker *worker, const struct strategy_input *input);
        void (*print_table)(struct campaign *c, struct buffer *ret); /* under the lock */
        int (*record)(struct campaign *c); /* stores more beside the status, now and then; may be NULL */
};
extern const struct campaign_type campaign_of_slowdowns, campaign_of_unknowns;

/* A find of this campaign that may be localized. */
struct campaign_found {
        uint32_t finding;
        uint64_t cause; /* a hash of the newest responsible commit; 0: not known */
        bool is_tried;  /* localized, and no commit is responsible */
};

/* The two threads that work beside the search for inputs, and their turns; under the lock. */
enum beside {
        BESIDE_LOCALIZER,
        BESIDE_REDUCER,
        N_BESIDE
};
struct campaign_turns {
        bool is_taken;        /* the first worker must make room */
        bool has_room;        /* the first worker has left its core */
        enum beside last;     /* the holder of this turn, or of the last one */
        uint64_t began, most; /* of the turn, ns; after `most` it begins no further work */
        uint64_t ended, took; /* of the last turn; ended 0: there was none */
        uint64_t n_tried;     /* the campaign's n_tried when the last turn ended */
        unsigned n_waiting[N_BESIDE];
};

struct campaign {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        struct worker_pool *cluster; /* for all runs; NULL: here */
        const struct campaign_settings *settings;
        const struct campaign_type *type;
        const struct campaign_watch *watch;
        int cancel_fd;
        char folder[PATH_SIZE];
        char what[128]; /* shown to others who wait for its cores */
        struct version **versions;     /* owned: the references, the target, the oracles */
        size_t n_versions, n_compared; /* compared: without the oracles */
        enum dialect dialect;
        enum format format; /* of the inputs: FORMAT_SMT2 or _CNF, once chosen */
        struct held *programs; /* owned; of each version */
        struct corpus corpus;
        char **logics;            /* owned: of generated formulas; NULL: strings */
        char *fingerprint;        /* owned; the type's part (campaign_check_fingerprint()) */
        char *fingerprint_before; /* owned; in full, of the continued campaign; NULL: none */
        FILE *log;

        pthread_mutex_t lock;
        pthread_cond_t changed; /* signalled five times a second during the search, and at every event */
        /* under lock */
        void *state; /* the type's: struct strategy, or struct unknowns */
        struct campaign_journal *journal;
        struct campaign_status status;
        double worked_before;  /* in earlier sessions */
        double solved_before;  /* status.solving when this session began */
        uint64_t found_before; /* likewise, of all kinds */
        uint64_t began_ns, ended_ns; /* of this session's search; ended_ns 0: not ended */
        int error; /* the first error that ended it */
        char *why; /* the error's sentence, owned */
        bool is_over;
        bool is_exhausted;            /* no more inputs; those under way go on */
        unsigned n_begun, n_ended;    /* workers */
        struct campaign_turns turns;
        bool has_asked;   /* the localizer has asked for work in this turn */
        uint64_t n_tried; /* inputs that the first worker has tried */
        struct campaign_found *found; /* owned */
        size_t n_found;
        char **signatures; /* owned: of the kept crashes; NULL: none */
        struct strategy_input *left; /* owned; inputs under way in an interrupted session */
        size_t n_left;
        bool is_resumed; /* the journal was replayed */

        pthread_t beside[N_BESIDE];
        bool has_beside[N_BESIDE];
        struct reducer *reducer; /* owned; NULL: no reductions */
        _Atomic uint64_t localize_until; /* now_ns(); the end of the time for localizing; 0: not begun */
};

/* -- campaign.c -- */

double campaign_now(struct campaign *c);  /* seconds of work; under the lock */
bool campaign_is_over(struct campaign *c); /* takes and leaves the lock, as campaign_end() */
void campaign_end(struct campaign *c);     /* ends the search for all threads */
uint64_t campaign_count_findings(const struct campaign_status *s); /* of all kinds */
/* Adds a record to the journal, under the lock. */
int campaign_note(struct campaign *c, const struct campaign_record *r);

/* -- campaign_versions.c -- */

/* Reads, checks and builds the versions of the settings, and holds their programs. */
int campaign_hold_versions(struct campaign *c);
int campaign_note_conditions(struct campaign *c); /* once: the machine, and each version's answer to --version */

/* -- campaign_resume.c -- */

/* Checks that the settings are those of the known campaign, as its decisions follow from them. -EEXIST with a sentence: one differs. */
int campaign_check_settings(const struct campaign_settings *there, const struct campaign_settings *s);
/* The journal names inputs by number only. Its outcomes hold as long as the campaign makes the same inputs from the same corpus, seed and rules, and
 * the programs are the same. Sets full->fingerprint: a word "PART:HASH" for each of these. -EKEYREJECTED with a sentence: one of them differs from
 * the known campaign's. */
int campaign_check_fingerprint(struct campaign *c, struct campaign_settings *full);
/* Replays the journal, and begins a session. */
int campaign_resume(struct campaign *c);
/* Makes a checkpoint, under the lock: the journal so far is not needed any more. */
int campaign_checkpoint(struct campaign *c);
/* Completes *r from an interrupted session's record of an unfinished input, with the same event, id, step, version and kind. Takes and leaves the lock. */
bool campaign_recall(struct campaign *c, struct campaign_record *r);

/* -- campaign_search.c -- */

/* Searches until the time is over, there are no more inputs, or it is cancelled. c->error has an error that ended a worker. */
int campaign_search(struct campaign *c);

/* -- campaign_progress.c -- */

void campaign_say(struct campaign *c, const char *format, ...) printf_like(2, 3); /* to the log and the watch */
/* Reports that n findings were not `done` to the end within the time of the `option`, and what to do `next`. Nothing for n = 0. */
void campaign_say_open(struct campaign *c, size_t n, const char *done, double seconds, const char *option, const char *next);
/* Syncs the journal, or makes a checkpoint if it is long; then writes the status to the store and to the tables beside the journal. */
int campaign_record_status(struct campaign *c, enum campaign_state state);

/* -- campaign_worker.c -- */

/* Runs the versions on its own lease, each by the runner of its number. */
struct campaign_worker {
        struct campaign *campaign;
        bool is_first;
        struct lease lease;
};
struct campaign_worker campaign_worker(struct campaign *c);

unsigned campaign_count_workers(const struct campaign *c);
/* One run. If its slot is lost, the run is repeated on another one. `seed`: the solver's seed; 0: its default. */
int worker_run(struct campaign_worker *worker, size_t version, uint64_t seed, const struct recipe_limits *limits, struct slice text,
             struct run_result *ret);
/* Records the machine of the campaign's runs; waits for a worker if that is a cluster's. -EEXIST with a sentence: it ran on another one before. */
int campaign_check_machine(struct campaign *c);

/* -- campaign_turns.c -- */

/* Starts a thread beside the search; campaign_run() joins it. */
int campaign_start_beside(struct campaign *c, enum beside who, void *(*run)(void *user), void *user);
/* Under the lock. */
/* Waits until the search and the other thread have had their turns. After the search there are no turns: both go on. */
void campaign_begin_turn(struct campaign *c, enum beside who);
void campaign_end_turn(struct campaign *c, enum beside who); /* nothing if it has no turn */

/* -- campaign_localize.c -- */

int campaign_start_localizer(struct campaign *c); /* nothing without the setting `localize` */
/* Localizes all findings that are not localized yet, once, within the time for it; reports the number left. */
int campaign_localize_all(struct campaign *c);
/* Reads the finds of earlier sessions, and their causes; before other threads start. */
int campaign_read_found(struct campaign *c);
/* Under the lock. */
void campaign_add_found(struct campaign *c, const struct observation *f); /* counts a find, which is then localized */
uint64_t campaign_count_causes(const struct campaign *c); /* distinct ones */

/* -- campaign_reduce.c -- */

/* Reduces beside the search, within the time of the settings; does nothing if that is 0. */
int campaign_start_reducer(struct campaign *c);
void campaign_close_reducer(struct campaign *c);
/* Reduces the other findings within the time left, then reports the number of distinct ones. -ECANCELED: the same call continues. */
int campaign_reduce_all(struct campaign *c);

/* -- campaign_trial.c: one input -- */

/* One version's runs on the input. */
struct answer {
        bool ran;
        double seconds;
        double amount; /* of the campaign's measure. Memory and effort: 0 without an answer, but by memory a memout has the limit */
        enum verdict verdict;
        char ending[ENDING_SIZE]; /* core/run/ending.h; of an error the first line of its output */
};

struct trial {
        struct campaign_worker *worker;
        const struct strategy_input *input;
        struct answer *answers; /* owned; of each version, oracles included */
        uint64_t seed;          /* of the solver, in all runs; 0: its default */
};

struct answer recorded_answer(const struct campaign_record *r); /* without its ending */
/* A run with an error, for people: why the program did not begin, else the first line of the output, else how the run ended. */
void describe_error(const struct run_result *result, char ret[ENDING_SIZE]);
/* Runs a text. `seed` as in worker_run(); `ret_output` (may be NULL) gets the program's output. */
int trial_run_text(struct trial *t, unsigned version, uint64_t seed, struct slice text, double seconds, struct answer *ret,
                   struct buffer *ret_output);
/* Runs the input, and counts the run in the status. */
int trial_run(struct trial *t, unsigned version, uint64_t seed, double seconds, struct answer *ret);
/* The same with the whole timeout and a record in the journal, to confirm earlier runs. A run of a round (from 1 on) that an interrupted session has done
 * is taken from the journal, without its ending. */
int trial_run_again(struct trial *t, unsigned round, unsigned version, uint64_t seed, struct answer *ret);
/* A run's limit of the measure: the timeout, or the memory limit of the target's recipe; unlimited for effort. */
double trial_most(const struct campaign *c);
/* Stores a finding of the trial's input, and reports it to the log as `what`. 1: these versions had this finding before; nothing is reported. */
int trial_keep(struct trial *t, struct observation *f, const char *what);
/* 1: an interrupted session stored a slowdown of this input between these versions, but did not note it. */
int trial_is_kept(struct trial *t, const struct version *reference, const struct version *target);
void trial_set_versions(struct observation *f, const struct version *reference, const struct version *target); /* reference: or NULL */
void trial_add_answers(struct trial *t, struct observation *f);
/* Notes the signature of a kept crash, under the lock. True: it is the first such crash. */
bool campaign_add_signature(struct campaign *c, const char *signature);
/* Keeps crashes and contradictions among the answers as findings. 1: two versions contradict each other, so the input is no slowdown. */
int trial_keep_errors(struct trial *t);
