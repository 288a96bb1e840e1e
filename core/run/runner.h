/* Runs a program on one input after another, in a sandbox that is kept between the runs: what campaigns, reductions and portfolios use for
 * runs that nobody asks for again, and what measure() is made of. No case id, no fact, no repetition.
 *
 *     cleanup(runner_closep) struct runner *r = NULL;
 *     r = runner_open(&(struct runner_options){.recipe = …, .programs = …, .limits = …, .scratch_parent = …});
 *     while (more) {
 *             struct run_result result = {0};
 *             k = runner_run(r, &(struct run_input){.bytes = SLICE(text, size)}, &result);
 *             …
 *             run_result_done(&result);
 *     }
 *
 * Kept and not kept. The view of the file system (bubblewrap's mounts), a network namespace and the helper that starts the
 * runs are kept. Each run has a PID, an IPC and a mount namespace of its own, a new scratch folder, a new /dev/shm and a new /proc, which
 * are gone behind it: no run sees anything of the one before, and the program is always process 2. What a program can leave in the network
 * namespace (counters, sockets) is looked for behind each run; where something is found, the next run gets a new sandbox. So it does when
 * the helper was lost. Where the system allows no namespaces inside a sandbox, each run gets a new one: slower, and just as true.
 * With SANDBOX_NONE the helper alone is kept; scratch folder and processes are each run's own.
 *
 * How many. One runner has one program (with the other outputs of its build) and one run at a time; it costs two small processes, three
 * from its third run on, and, as root, a user (core/sandbox/sandbox.h). A campaign that runs ten versions on each input opens ten runners for
 * each core and lets them take turns: all see their program as /solver/<name> and the input as /case/input.smt2, as in measure().
 *
 * The input is a file, /case/input.smt2 or /case/input.cnf, read-only; it stands where {case} stands in the recipe's `run`. A template without {case}, or
 * with <{case}, has it on standard input: the same file, opened inside, as a descriptor of the host's could be opened anew for writing.
 *
 * Remote. With `remote` a worker of a cluster runs the program (core/remote), on a core and in a sandbox of its own, by the same options and in one
 * piece: by runner_run(). Verdicts and effort are read here, from what comes back.
 *
 * Threads. A runner may be used by one thread at a time, any at all; many runners by many threads at once. Errors are -errno with a sentence.
 */
#pragma once

#include <jansson.h>

#include "core/recipe/recipe.h"
#include "core/run/effort.h"
#include "core/sandbox/execute.h"
#include "core/run/verdict.h"

struct runner;

struct run_program {
        const char *path; /* on the host */
        const char *name; /* inside it is /solver/<name>, beside the others, as in the mount's bin/ */
        struct digest id; /* of its bytes; zero: not known, and found out where it is needed */
};

/* Decides about a run that ended with `r` (runner_run()). After a fault of ours it is done again at once, two times; where its slot was lost, or did not
 * begin it, in another slot, which may be lost three times. */
enum run_again {
        RUN_IS_OVER,
        RUN_AGAIN_HERE,
        RUN_AGAIN_IN_ANOTHER_SLOT
};
struct run_tries { /* of one run; zeros before the first */
        unsigned failed, lost;
};
enum run_again run_again(struct run_tries *t, int r);

struct runner_options;
struct run_input;

/* A slot of a cluster, for one run at a time. */
struct run_remote {
        const char *machine;  /* in the place of host_machine(); borrowed */
        const json_t *facts; /* of host_facts(); borrowed */
        /* As runner_run(). -EREMOTEIO: it was lost on the way, with its machine or the way there; -ERESTART: it was not begun there. In both cases
         * another slot may do it. */
        int (*run)(struct run_remote *a, const struct runner_options *options, const struct run_input *input, int cancel_fd, struct execute_result *ret);
};

struct runner_options {
        const struct recipe *recipe;        /* command line, environment, format and effort; a reference is kept */
        const struct run_program *programs; /* all outputs of the build; the first is {bin}. Not needed after runner_open() */
        size_t n_programs;
        struct recipe_limits limits; /* see runner_set_limits() */
        uint64_t scratch;            /* bytes the scratch folder may hold; 0: RUN_SCRATCH */
        bool has_seed;
        uint64_t seed;              /* see runner_set_seed() */
        const char *scratch_parent; /* host folder for the runner's own, which is taken away by runner_close() */
        enum sandbox_kind sandbox;
        const cpu_set_t *cpus; /* the leased slot's core (core/run/slot.h); NULL: any */
        unsigned slot;         /* where to begin looking for a free user, when root: the slot's core */
        bool fresh;            /* a new sandbox for each run; for comparison */
        struct run_remote *remote; /* run it there; NULL: on this machine. Borrowed */
        /* Two, who hear all that is printed on standard output and on standard error, of a run on this machine. There is no limit of output then, and of each
         * RUN_HEARD bytes are kept. NULL: nobody. Borrowed. */
        const struct listener *listeners;
};

#define RUN_SCRATCH (UINT64_C(4) << 30)
#define RUN_HEARD   (UINT64_C(4) << 20)

/* Costs nothing yet: the sandbox is made by the first run. */
struct runner *runner_open(const struct runner_options *options);
/* Ends a run that is still there. NULL. */
struct runner *runner_close(struct runner *r);
DEFINE_CLEANUP(struct runner *, runner_close)

/* From the next run on. */
void runner_set_limits(struct runner *r, const struct recipe_limits *limits);
void runner_set_seed(struct runner *r, bool has_seed, uint64_t seed);

struct run_input {
        struct slice bytes; /* what the input holds; copied before runner_start() returns */
        const char *path;   /* instead: a file on the host, which is bound or linked and not copied where that can be */
        struct digest id;   /* of its bytes; zero: not known */
        size_t questions;   /* its check-sat; 0: not known (verdict.h) */
};

struct run_result {
        enum verdict verdict;         /* = verdicts.last */
        struct verdicts verdicts;     /* one for each check-sat */
        struct execute_result run;    /* end, code, doubt; wall and CPU time; peak memory; stdout, stderr */
        struct effort_values efforts; /* one for each of the recipe's patterns; labels are the runner's */
};
void run_result_done(struct run_result *r);

/* One run from its beginning to its end. 0: it was run, however it ended; -ECANCELED; or -errno: it could not be tried, which says nothing of
 * the program. When the sandbox was lost on the way (-EIO) the next run has a new one. `cancel_fd` readable or hung up ends it; -1: none. */
int runner_run(struct runner *r, const struct run_input *input, int cancel_fd, struct run_result *ret);

/* The same in steps, for who shares a core among several programs: runner_start() makes all ready and holds the program back,
 * runner_step() lets it go on for `share_ns` of wall time (0: until its end). Between two steps all its processes are stopped (SIGSTOP):
 * time does not count towards its limits then, its memory does. 1: it has ended, *ret is filled; 0: its share is used up and it stands
 * still; -ECANCELED and other errors: the run is over without a result. */
int runner_start(struct runner *r, const struct run_input *input);
int runner_step(struct runner *r, uint64_t share_ns, int cancel_fd, struct run_result *ret);
/* Ends a run that stands still between two steps. Nothing to do when there is none. */
void runner_abandon(struct runner *r);

/* The request of the last run, if any: limits, environment, arguments as the program sees them in a sandbox. Valid until the next
 * runner_start(). */
const struct execute_request *runner_request(const struct runner *r);

struct run_progress {
        uint64_t wall_ns, cpu_ns; /* so far, while it went on */
        uint64_t memory;          /* peak so far */
        uint64_t memory_now;      /* what it holds while it stands still */
};
/* The progress of a run that stands still. */
struct run_progress runner_progress(const struct runner *r);

struct runner_counters {
        uint64_t runs;      /* that were begun */
        uint64_t sandboxes; /* made */
        uint64_t lost;      /* helpers that were lost: killed, or stuck */
        uint64_t dirty;     /* sandboxes given up as a program had left something in them */
};
struct runner_counters runner_counters(const struct runner *r);
