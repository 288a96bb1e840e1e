/* Shared by the files of a campaign; each has a section below. The hunts are campaign_slowdown.c and campaign_unknown.c. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "core/run/ending.h"
#include "core/run/slot.h"
#include "core/study/base/version.h"
#include "core/study/campaign/campaign.h"
#include "core/study/campaign/campaign_journal.h"
#include "core/study/observation/observation.h"

/* -- campaign_corpus.c -- */

/* The inputs below a folder, read; what cannot be read is counted and named in the log. */
struct corpus {
        struct script **list; /* owned */
        char **names;         /* owned: paths, from the corpus' folder on */
        size_t n;
        uint64_t skipped;
        uint64_t hash; /* of their bytes, in their order */
};
int corpus_read(const char *dir, void (*say)(void *user, const char *line), void *user, struct corpus *ret);
void corpus_done(struct corpus *c);

/* A hunt chooses the inputs of a campaign and judges their results. The campaign knows no more of it. */
struct campaign;
struct bench_seat;
struct campaign_hunt {
        const char *table;                               /* of its files: what it learned, "operators.tsv" */
        int (*check)(const struct campaign_settings *s); /* -EINVAL with a sentence */
        int (*begin)(struct campaign *c);                /* versions are held and the corpus is read; sets c->state */
        void (*end)(struct campaign *c);
        /* Under the lock. -EAGAIN: it waits for what is under way; -ENOSPC with a sentence: there are no more. */
        int (*next)(struct campaign *c, struct strategy_input *ret);
        /* The journal told again, by one thread: the input of an EVENT_NEXT (id 0: -EAGAIN), and what came of inputs. */
        int (*next_again)(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret);
        int (*replay)(struct campaign *c, const struct campaign_record *r);
        /* One input from its runs to its findings. 0 or -errno that ends the campaign. */
        int (*try)(struct bench_seat *seat, const struct strategy_input *input);
        /* Takes the cause of a find, now or when the journal is told again; under the lock. NULL: it has no use for causes. */
        void (*learned)(struct campaign *c, uint64_t id, uint64_t cause);
        void (*print_table)(struct campaign *c, struct buffer *ret); /* under the lock */
        int (*record)(struct campaign *c); /* with the status, now and then; NULL: there is nothing to keep */
};
extern const struct campaign_hunt hunt_slowdowns, hunt_unknowns;

/* A find of this campaign whose commits may be looked for. */
struct campaign_found {
        uint64_t id; /* of the input */
        uint32_t finding;
        uint64_t cause; /* finding_cause(); 0: not known */
        bool is_tried;  /* it is localized, and no commit is responsible */
};

/* Who works beside the search for inputs; under the lock. */
enum beside {
        BESIDE_LOCALIZER,
        BESIDE_REDUCER,
        N_BESIDE
};
struct campaign_turns {
        bool is_taken;        /* the first worker is to make room */
        bool has_room;        /* it has left its core */
        enum beside last;     /* whose it is, or was */
        uint64_t began, most; /* and how long it may begin further work */
        uint64_t ended, took; /* of the one before; ended 0: there was none */
        uint64_t n_tried;     /* of the campaign's, when it ended */
        unsigned n_waiting[N_BESIDE];
};
struct reducer; /* campaign_reduce.c */

struct campaign {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        struct run_place *place; /* where all its runs are done; NULL: here */
        const struct campaign_settings *settings;
        const struct campaign_hunt *hunt;
        const struct campaign_watch *watch;
        int cancel_fd;
        char folder[PATH_SIZE];
        struct version **versions;     /* owned: the references, the target, the oracles */
        size_t n_versions, n_compared; /* compared: without the oracles */
        enum dialect dialect;
        struct held *programs; /* owned; of each version */
        struct corpus corpus;
        char *fingerprint;        /* owned; begun by the hunt's begin() (campaign_check_fingerprint()) */
        char *fingerprint_before; /* owned; of the campaign that is there */
        FILE *log;

        pthread_mutex_t lock;
        pthread_cond_t changed;
        /* under lock */
        void *state; /* the hunt's; of a hunt for slowdowns the struct strategy */
        struct campaign_journal *journal;
        struct campaign_status status;
        double worked_before;  /* in earlier sessions */
        double solved_before;  /* status.solving when this session began */
        uint64_t found_before; /* likewise, of all kinds */
        uint64_t began_ns, ended_ns; /* of this session's search; ended_ns 0: it goes on */
        int error; /* the first that ended it */
        char *why; /* its sentence, owned; NULL: memory was out */
        bool is_over;
        bool is_exhausted;            /* there are no more inputs; those under way go on */
        unsigned n_begun, n_ended;    /* workers */
        struct campaign_turns turns;
        bool has_item;    /* the localizer has asked for something in this search */
        uint64_t n_tried; /* inputs of the first worker */
        struct campaign_found *found; /* owned */
        size_t n_found;
        char **signatures; /* owned: of the crashes that were kept */
        size_t n_signatures;
        /* Inputs that a killed session had under way. */
        struct strategy_input *left;
        size_t n_left;
        struct campaign_record *open; /* owned: what the journal has of inputs that are not finished, but for an EVENT_NEXT */
        size_t n_open;

        pthread_t localizer;
        bool has_localizer;
        struct reducer *reducer; /* owned; NULL: it shall not reduce */
        int localize_timer, localize_end; /* owned; readable when the time for localizing is over; then, or when it is cancelled. -1: none */
};

/* -- campaign.c -- */

double campaign_now(struct campaign *c);  /* seconds of work; under the lock */
bool campaign_is_over(struct campaign *c); /* takes and leaves the lock, as campaign_end() */
void campaign_end(struct campaign *c);     /* its search, for all threads */
uint64_t campaign_count_findings(const struct campaign_status *s); /* of all kinds */
/* Under the lock: to the journal. */
int campaign_note(struct campaign *c, const struct campaign_record *r);

/* -- campaign_versions.c -- */

/* Reads, checks and builds the versions of the settings, and holds their programs. */
int campaign_hold_versions(struct campaign *c);

/* -- campaign_resume.c -- */

/* Is it the campaign that is there? Its decisions follow from these settings, so none may change: -EEXIST with a sentence. */
int campaign_check_settings(const struct campaign_settings *there, const struct campaign_settings *s);
/* The journal's outcomes are those of the inputs that the hunt made of its corpus, seed and rules, on these programs; numbers alone tell which input is
 * meant. Where one of these is another, every outcome would be taken for another input's: -EKEYREJECTED with a sentence, and nothing is changed. The
 * fingerprint is of these, a word "PART:HASH" each. One that an earlier solverfs wrote has fewer, or is a hash of seeds and rules alone. */
int campaign_check_fingerprint(struct campaign *c, struct campaign_settings *full);
/* Opens the journal and tells it to the hunt again; a session begins. */
int campaign_resume(struct campaign *c);
bool campaign_is_under_way(const struct campaign *c, uint64_t id); /* while the journal is told again */
/* Finds what a session that was cut off noted of an unfinished input: by event, id, step, version and kind. Takes and leaves the lock. */
bool campaign_recall(struct campaign *c, const struct campaign_record *like, struct campaign_record *ret);
/* Under the lock: the input is finished, and what the journal had of it is done with. */
void campaign_drop_open(struct campaign *c, uint64_t id);

/* -- campaign_search.c -- */

/* Until the time is over, the inputs are, or somebody cancels. An error that ended a worker is in c->error. */
int campaign_search(struct campaign *c);

/* -- campaign_progress.c -- */

void campaign_say(struct campaign *c, const char *format, ...) printf_like(2, 3); /* to the log and the watch */
void campaign_say_line(void *user, const char *line);                             /* the campaign is the user */
/* Says how many findings were left when their time was over: what is not `done`, the option of that time, what to do `next`. Nothing for n = 0. */
void campaign_say_open(struct campaign *c, size_t n, const char *done, double seconds, const char *option, const char *next);
/* To the store and to the tables beside the journal, which is on disk then. */
int campaign_record_status(struct campaign *c, enum campaign_state state);

/* -- campaign_seat.c -- */

/* A worker's runners, one for each version, on one slot: of this machine, or of the place where the runs are done. */
struct bench_seat {
        struct campaign *campaign;
        bool is_first;
        struct slot slot;
        struct cluster_slot *away; /* instead; NULL: none */
        struct runner **runners; /* owned */
};
#define BENCH_SEAT(c) ((struct bench_seat){.campaign = (c), .slot.lock = -1})

unsigned campaign_count_seats(const struct campaign *c);
/* Waits for a slot. -ECANCELED: the campaign is over. */
int seat_take(struct bench_seat *seat);
void seat_leave(struct bench_seat *seat); /* nothing where it has none */
/* Does somebody else wait for its slot? */
bool seat_is_wanted(const struct bench_seat *seat);
/* One run, however often its slot is lost on the way. `seed`: the solver's own; 0: as it is by default. */
int seat_run(struct bench_seat *seat, size_t version, uint64_t seed, const struct recipe_limits *limits, struct slice text,
             struct run_result *ret);
/* Waits for the machine of its runs, where that is not this one, and sees that it is the one it ran on before: -EEXIST with a sentence. */
int campaign_check_machine(struct campaign *c);

/* -- campaign_turns.c: under the lock -- */

/* Waits until the search and the other side have had theirs. When the search is over, there are no turns: all go on. */
void campaign_begin_turn(struct campaign *c, enum beside who);
void campaign_end_turn(struct campaign *c, enum beside who); /* nothing where it has none */
bool campaign_turn_is_long(const struct campaign *c);        /* it shall begin no further work */
void campaign_await_change(struct campaign *c);              /* a moment, or until something happened */

/* -- campaign_conditions.c -- */

int campaign_note_conditions(struct campaign *c);

/* -- campaign_localize.c -- */

int campaign_start_localizer(struct campaign *c); /* nothing where it shall not localize */
void campaign_close_localizer(struct campaign *c);   /* nothing where it has ended */
/* The search for inputs is over: from now on the time for localizing runs. */
void campaign_limit_localizer(struct campaign *c);
void campaign_end_localizer(struct campaign *c);  /* waits for its search, when the campaign is over */
/* All that is not localized yet, once, within the time for it; says what is left. */
int campaign_localize_all(struct campaign *c);
/* Under the lock. */
int campaign_add_found(struct campaign *c, uint64_t id, uint32_t finding);
void campaign_learn(struct campaign *c, uint64_t id, uint64_t cause);
uint64_t campaign_count_causes(const struct campaign *c); /* distinct ones */

/* -- campaign_reduce.c -- */

/* Beside the search, within the time of its settings; nothing where it shall not reduce. */
int campaign_start_reducer(struct campaign *c);
void campaign_end_reducer(struct campaign *c); /* waits for what it has begun, when the search is over */
void campaign_close_reducer(struct campaign *c);
/* What is left, within the time that is left; then how many there are to report. -ECANCELED: it goes on with the same call. */
int campaign_reduce_all(struct campaign *c);

/* -- campaign_trial.c: one input -- */

/* One version's runs on the input. */
struct answer {
        bool ran;
        double seconds;
        double amount; /* of the campaign's measure; of memory and effort 0 where the run has none: it was not solved, nor short of memory */
        enum verdict verdict;
        char ending[ENDING_SIZE]; /* core/run/ending.h */
};

struct trial {
        struct bench_seat *seat;
        const struct strategy_input *input;
        struct answer *answers; /* owned; of each version, oracles too */
};

int trial_run(struct trial *t, unsigned version, double seconds, struct answer *ret);
/* The most of the measure that a run may take: the timeout, the memory limit of the target's recipe; of effort more than there is. */
double trial_most(const struct campaign *c);
/* With the whole timeout, to confirm what other runs showed; journaled. The run of a round (from 1 on) of this input that a session which was cut off
 * had done is not done again: its ending is not known then. `seed` as seat_run() has it. */
int trial_run_again(struct trial *t, unsigned round, unsigned version, uint64_t seed, struct answer *ret);
/* The same on another text; `ret_output` gets what the program printed. */
int trial_run_text(struct trial *t, unsigned version, struct slice text, double seconds, struct answer *ret,
                   struct buffer *ret_output);
/* Stores a finding of the trial's input, a slowdown by the campaign's measure, and says so. 1: the same bytes were found before. */
int trial_keep(struct trial *t, struct observation *f, const char *what);
/* The finding that a session which was cut off made of this very input, before it could note it. -ENOENT. */
int trial_find_kept(struct trial *t, enum observation_kind kind, struct observation **ret);
int trial_set_versions(struct observation *f, const struct version *reference, const struct version *target); /* reference: or NULL */
int trial_add_answers(struct trial *t, struct observation *f);
/* Under the lock: a crash of this signature is kept. 0: one is already; 1: it is the first. */
int campaign_sign(struct campaign *c, const char *signature);
/* Crashes and contradictions among the answers are findings. 1: two versions contradict each other: whatever they took, it is no regression. */
int trial_look_for_errors(struct trial *t);
