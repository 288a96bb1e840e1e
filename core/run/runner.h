/* Runs a program on one input after another, in a sandbox that is kept between the runs. Campaigns, reductions and portfolios use it for runs that
 * nobody asks for again, and measure() is built on it; a job leaves its runner to the next one. No case id, no fact, no repetition.
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
 * Kept and not kept. The view of the file system (bubblewrap's mounts), a network namespace and the helper that starts the runs are kept. Each run
 * has a new PID, IPC and mount namespace (unless we are root, also a user namespace), /dev/shm and /proc, which are gone after it, and a scratch folder
 * that is new or was left untouched. So no run sees anything of the one before, and the program is always process 2. After each run the network
 * namespace is checked for traces (counters, sockets); if there are any, or the helper was lost, the next run gets a new sandbox. Where the system
 * allows no namespaces inside a sandbox, every run gets a new sandbox: slower, and just as isolated. With SANDBOX_NONE the helper alone is kept;
 * scratch folder and processes are each run's own.
 *
 * How many. One runner has one program (with the other outputs of its build) and one run at a time. It costs two small processes, from its third run on
 * a third one (made ahead for the next run), and, if we are root, a user id of its own (core/sandbox/sandbox.h). A campaign that runs ten versions on
 * each input opens ten runners for each core and lets them take turns: all see their program as /solver/<name> and the input as /case/input.smt2, as in
 * measure().
 *
 * The input is a file, /case/input.smt2 or /case/input.cnf, read-only, which replaces {case} in the recipe's `run`. A template without {case}, or
 * with <{case}, gets it on standard input: the same file, opened inside, as a descriptor of the host's could be opened anew for writing.
 *
 * Remote. With `remote` a worker of a cluster runs the program (core/remote), on a core and in a sandbox of its own, by the same options and in one
 * piece: only by runner_run(). Verdicts and effort are read here, from its reply.
 *
 * Threads. A runner may be used by one thread at a time, any at all; many runners by many threads at once. Errors are -errno with a sentence. */
#pragma once

#include <jansson.h>

#include "core/recipe/recipe.h"
#include "core/run/effort.h"
#include "core/sandbox/execute.h"
#include "core/run/verdict.h"

struct runner;

struct run_program {
        const char *path; /* on the host */
        const char *name; /* inside it is /solver/<name>, beside the other programs, as in the mount's bin/ */
        struct digest id; /* of its bytes; zero: not known, computed if needed */
};

/* Decides what to do after a run that returned `r` (runner_run()). -EIO, a fault of ours: the run is repeated at once, up to two times.
 * -EREMOTEIO, its slot was lost: in another slot, up to three times. -ERESTART, its slot did not begin it: in another slot, any number of times. */
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
        const char *machine;  /* replaces host_machine(); borrowed */
        const json_t *facts;  /* what is known of the machine: its host_facts(); borrowed */
        /* Like runner_run(). -EREMOTEIO: the run was lost, with its machine or the connection; -ERESTART: it was not begun there. In both cases
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
        const char *scratch_parent; /* host folder for the runner's own, which runner_close() removes */
        enum sandbox_kind sandbox;
        const cpu_set_t *cpus; /* the leased slot's core (core/run/slot.h); NULL: any */
        unsigned slot;         /* where the search for a free user begins, when root: the slot's core */
        bool fresh;            /* a new sandbox for each run, for benchmarks */
        struct run_remote *remote; /* where to run it; NULL: on this machine. Borrowed */
        /* Two listeners, for standard output and standard error of a run on this machine. There is no limit of output then, and RUN_HEARD bytes of
         * each are kept. NULL: none. Borrowed. */
        const struct listener *listeners;
};

#define RUN_SCRATCH (UINT64_C(4) << 30)
#define RUN_HEARD   (UINT64_C(4) << 20)

/* Cheap: the sandbox is made by the first run. */
struct runner *runner_open(const struct runner_options *options);
/* Ends a run in progress, too. Returns NULL. */
struct runner *runner_close(struct runner *r);
DEFINE_CLEANUP(struct runner *, runner_close)

/* Makes `r`, which must have no run in progress, as if it were opened with `o`; it keeps its sandbox. False, and `r` is as before, unless its last
 * run succeeded without a doubt (execute.h), the programs are the same files, unchanged, and the options differ in cores, slot, recipe (of the same
 * format), seed and limits alone. Always false for remote runs and for listeners. */
bool runner_reuse(struct runner *r, const struct runner_options *o);

/* From the next run on. */
void runner_set_limits(struct runner *r, const struct recipe_limits *limits);
void runner_set_seed(struct runner *r, bool has_seed, uint64_t seed);

struct run_input {
        struct slice bytes; /* the content of the input; copied before runner_start() returns */
        const char *path;   /* instead: a file on the host, bound or linked where possible, else copied */
        struct digest id;   /* of its bytes; zero: not known */
        size_t questions;   /* number of its check-sat; 0: not known (verdict.h) */
};

struct run_result {
        enum verdict verdict;         /* = verdicts.last */
        struct verdicts verdicts;     /* one for each check-sat */
        struct execute_result run;    /* end, code, doubt; wall and CPU time; peak memory; stdout, stderr */
        struct effort_values efforts; /* one for each of the recipe's patterns; labels are the runner's */
        char *not_started;            /* why the program did not begin, in a sentence; NULL: it did */
};
void run_result_done(struct run_result *r);

/* Judges if a run of `program` counts. 0: it does. 1: something outside may have ended or delayed it (doubt); its result is freed, and it should be
 * done again. `again`: this is the second run, and counts in spite of a doubt (BenchExec, too, records "killed by signal 9"). -EIO with a
 * sentence, and the result is freed: the machine had no memory left again, which says nothing about the program however often it happens. */
int run_check_doubt(struct run_result *r, const char *program, bool again);

/* One complete run. 0: it was run, however it ended; -ECANCELED; or -errno: it could not be tried, which says nothing about the program. If the
 * sandbox was lost (-EIO), the next run has a new one. A readable or hung-up `cancel_fd` ends the run; -1: none. */
int runner_run(struct runner *r, const struct run_input *input, int cancel_fd, struct run_result *ret);

/* The same in steps, to share a core among several programs: runner_start() makes all ready and holds the program back, runner_step() lets it go on
 * for `share_ns` of wall time (0: until its end). Between two steps all its processes are stopped (SIGSTOP): that time does not count towards its
 * limits, its memory does. 1: it has ended, *ret is filled; 0: it is stopped at the end of its share; -ECANCELED and other errors: the run is over
 * without a result. */
int runner_start(struct runner *r, const struct run_input *input);
int runner_step(struct runner *r, uint64_t share_ns, int cancel_fd, struct run_result *ret);
/* Ends a run that is stopped between two steps. Does nothing if there is none. */
void runner_abandon(struct runner *r);

/* The request of the last run, if any: limits, environment, arguments as the program sees them in a sandbox. Valid until the next runner_start(). */
const struct execute_request *runner_request(const struct runner *r);

struct run_progress {
        uint64_t wall_ns, cpu_ns; /* so far */
        uint64_t memory;          /* peak so far */
        uint64_t memory_now;      /* present memory while it is stopped */
};
/* The progress of a stopped run. */
struct run_progress runner_progress(const struct runner *r);

struct runner_counters {
        uint64_t runs;      /* runs begun */
        uint64_t sandboxes; /* made */
        uint64_t lost;      /* helpers lost: killed, or stuck */
        uint64_t dirty;     /* sandboxes given up because a program had left something in them */
};
struct runner_counters runner_counters(const struct runner *r);
