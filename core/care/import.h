/* Imports results of other tools and other stores. They are facts of the machine that ran them (core/query/machines.h), and never mix with
 * ours.
 *
 * A document is imported in one transaction, whole or not at all. A store takes many transactions; after an interruption the same call
 * continues. A repeated import changes nothing. Threads: an import is for one thread. */
#pragma once

#include "core/query/query.h"

/* -- BenchExec's results as XML ------------------------------------------------------------------------------------- */

struct benchexec_run {
        unsigned long line; /* where it begins in the document */
        char *name;
        bool has_sha256, has_cpu_ns;
        struct digest sha256; /* of the case, if the document has it, as our own exports do */
        enum verdict verdict;
        char *status, *category, *answers; /* as in the document; answers: of our exports, "sat,unsat"; NULL: not given */
        uint64_t wall_ns, cpu_ns, memory, wall_limit_ns;
        int64_t measured; /* 0: not given */
        bool disturbed;   /* of our exports */
};
struct benchexec_results {
        char *tool, *version;        /* NULL: not given */
        char *host, *cpu, *os; /* of the first machine */
        long cores;            /* 0: not given */
        uint64_t ram;          /* bytes; 0: not given */
        bool several_hosts;
        uint64_t cpu_limit_ns, memory_limit; /* 0: none */
        int64_t started;                     /* 0: not given */
        bool has_seed;                       /* of our exports */
        uint64_t seed;
        struct benchexec_run *runs;          /* finished ones */
        size_t n_runs;
        uint64_t unfinished; /* number of unfinished runs */
};
/* Reads a document from its beginning, plain or compressed by gzip, bzip2, xz or zstd. Refuses declarations of entities, and reads no other file. `name`
 * is for messages; `progress` may be NULL. -EINVAL, with file, line and reason: not XML, cut off, not BenchExec's, an unknown unit, status or category,
 * machines of several kinds. -EFBIG: larger in some respect than any document of BenchExec. -ECANCELED. */
int benchexec_read(int fd, const char *name, const struct progress *progress, struct benchexec_results *ret);
void benchexec_done(struct benchexec_results *r);
#define cleanup_benchexec cleanup(benchexec_done)

struct import_request {
        const char *file;    /* its name, for messages and for run.json */
        const char *machine; /* replaces the host in the machine's name; NULL: as in the document */
        struct solver *solver;
        uint32_t commit; /* its number in the solver's history */
        bool has_seed;
        uint64_t seed;
        const struct progress *progress; /* may be NULL */
};
struct import_report {
        uint64_t imported, known; /* known: the store had the same result, or a newer one */
        uint64_t wrong;           /* imported or known ones whose answers contradict their case's status */
        uint64_t absent;          /* runs whose case the store lacks */
        char *first_absent;       /* owned; the name of one */
        char *machine;            /* owned; the facts' machine */
};
/* A run belongs to the case of its sha256. Without one, names must match: they are the same, or one is the last components of the other.
 * -EEXIST: the document's machine is this one. -ENOTUNIQ: a name fits several cases, or a case has two runs. -EINVAL: the document does not name the
 * machine. */
int import_benchexec(struct workspace *w, const struct benchexec_results *results, const struct import_request *request,
                     struct import_report *ret);
void import_report_done(struct import_report *r);
#define cleanup_import_report cleanup(import_report_done)

/* -- another store --------------------------------------------------------------------------------------------------- */

/* The store to import from. The caller sets here, say, user and progress before source_open(), and calls source_done() in any case. */
struct store_source {
        struct workspace *here, *there; /* there: owned, read only */
        void (*say)(void *user, const char *line); /* gets notes for people, a line each; may be NULL */
        void *user;
        const struct progress *progress;
        char **missing; /* owned, NULL-terminated; solvers already reported as missing */
};
/* -EINVAL: it is this very store. */
int source_open(struct store_source *s, const char *dir);
void source_done(struct store_source *s);
void source_say(const struct store_source *s, const char *format, ...) printf_like(2, 3);
/* Reports, once for each solver, that its results are skipped. */
int source_note_missing(struct store_source *s, const char *solver);

struct store_import {
        uint64_t cases, known_cases; /* imported; already here, under any id and name */
        uint64_t sets, known_sets;   /* imported or enlarged; already here, or here with other cases */
        uint64_t facts, known_facts; /* results and further samples */
        uint64_t absent;             /* results whose solver or commit is not here */
        uint64_t builds, known_builds;
        uint64_t damaged; /* cases and scrambled inputs that could not be read there, and are left out; their results are imported */
};
/* Imports another store: its cases, their scrambled inputs and sets; its results and samples, each as a fact of its machine; and the records of its
 * builds, without programs. Keys are digests of content, so results of this machine become ours. Results and ids stored here do not change. A
 * case is identified by its bytes; if other bytes have its name here, it gets another name. A case that has no status here takes theirs. A set of the
 * same name is enlarged if theirs has all of its cases; otherwise ours stays, with a note. Call import_cases() first: a result's run.json has the id
 * of its case. For findings see core/study/import/import_study.h. */
int import_cases(struct store_source *s, struct store_import *ret);
int import_results(struct store_source *s, struct store_import *ret);
