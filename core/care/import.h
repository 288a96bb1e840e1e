/* Results of other machines taken into the store: what another tool wrote, and what another store knows. They are facts of the machine that ran
 * them (core/query/machines.h), and never mix with ours.
 *
 * A document is taken whole, in one transaction, or not at all. A store is taken in many, and the same call goes on where it was interrupted. The same
 * twice changes nothing. Threads: an import is one thread's. */
#pragma once

#include "core/query/query.h"

/* -- BenchExec's results as XML ------------------------------------------------------------------------------------- */

struct benchexec_run {
        unsigned long line; /* where it begins in the document */
        char *name;
        bool has_sha256, has_seconds; /* has_seconds: cpu_ns is said */
        struct digest sha256; /* of the case, where the document says it, as our own exports do */
        enum verdict verdict;
        char *status, *category, *answers; /* as they stand there; answers: ours, "sat,unsat"; NULL: not said */
        uint64_t wall_ns, cpu_ns, memory, wall_limit_ns;
        int64_t measured; /* 0: not said */
        bool disturbed;   /* our own exports say so */
};
struct benchexec_results {
        char *tool, *version;        /* NULL: not said */
        char *host, *cpu, *os; /* of the first machine */
        long cores;            /* 0: not said */
        uint64_t ram;          /* bytes; 0: not said */
        bool several_hosts;
        uint64_t cpu_limit_ns, memory_limit; /* 0: none */
        int64_t started;                     /* 0: not said */
        struct benchexec_run *runs;          /* that came to an end */
        size_t n_runs;
        uint64_t unfinished; /* that did not */
};
/* Reads a document, plain or compressed by gzip, bzip2, xz or zstd; from its beginning. Declarations of entities are refused, and nothing outside of it is
 * read. `name` is for messages, `progress` may be NULL. -EINVAL with file, line and what is wrong: no XML, cut off, not BenchExec's, a unit or a status or
 * a category that is not known, machines of several kinds; -EFBIG: more of something than a document of BenchExec has; -ECANCELED. */
int benchexec_read(int fd, const char *name, const struct progress *progress, struct benchexec_results *ret);
void benchexec_done(struct benchexec_results *r);
#define cleanup_benchexec cleanup(benchexec_done)

struct import_request {
        const char *file;    /* its name, for messages and for run.json */
        const char *machine; /* takes the host's place in the machine's name; NULL: as the document says */
        struct solver *solver;
        uint32_t commit;
        bool has_seed;
        uint64_t seed;
        const struct progress *progress; /* may be NULL */
};
struct import_report {
        uint64_t imported, known; /* known: the same result was there */
        uint64_t wrong;           /* of both: answers that contradict their case's status */
        uint64_t absent;          /* runs of cases that the store does not have */
        char *first_absent;       /* owned; the name of one */
        char *machine;            /* owned; whose facts they are */
};
/* A run is matched with the case of its sha256; else by name: the case's name is the run's, or a tail of its path, or the other way round.
 * -EEXIST: it is this machine; -ENOTUNIQ: a name that fits several cases, or two runs of one case; -EINVAL: the document does not say which machine
 * it was. */
int import_benchexec(struct workspace *w, const struct benchexec_results *results, const struct import_request *request,
                     struct import_report *ret);
void import_report_done(struct import_report *r);
#define cleanup_import_report cleanup(import_report_done)

/* -- another store --------------------------------------------------------------------------------------------------- */

/* The store that something is taken from. The caller sets here, say, user and progress; source_done() in any case. */
struct store_source {
        struct workspace *here, *there; /* there: owned, read only */
        void (*say)(void *user, const char *line); /* gets a line for each thing that people should know; may be NULL */
        void *user;
        const struct progress *progress;
        char **missing; /* owned, NULL-terminated; solvers that were told to be missing */
};
/* -EINVAL: it is this very store. */
int source_open(struct store_source *s, const char *dir);
void source_done(struct store_source *s);
void source_say(const struct store_source *s, const char *format, ...) printf_like(2, 3);
/* Says once of each solver that something of it is passed over. */
int source_note_missing(struct store_source *s, const char *solver);

struct store_import {
        uint64_t cases, known_cases; /* taken in; here already, under whatever id and name */
        uint64_t sets, known_sets;   /* taken in, or grown; here as they are there, or with other cases */
        uint64_t facts, known_facts; /* results and further samples */
        uint64_t absent;             /* results of solvers or commits that are not here */
        uint64_t builds, known_builds;
};
/* Takes what another store knows: its cases and sets of them, with what was scrambled of them; its results and their samples, each as a fact of its
 * machine, and its builds (what they came to, without programs). Keys are of content, so that results of this same machine become ours. What is
 * known here stays as it is, and so do ids: a case is known by its bytes, and one whose name other bytes have here is taken in under another name.
 * A set of a name that is here grows when it has all cases of ours; else ours stays, which is said. Results come behind the cases that they are of,
 * as run.json has a case's id. What campaigns found: core/study/import/import_study.h. */
int import_cases(struct store_source *s, struct store_import *ret);
int import_results(struct store_source *s, struct store_import *ret);
