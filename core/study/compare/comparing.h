/* Comparisons of two versions on the cases of a store: reads and judges known runs (judge.h), and asks the engine for missing ones.
 *
 *     comparing_new(&options, &c)
 *     while ((r = comparing_next(c, &batch)) > 0)
 *             r = ask_many(engine, &batch, PRIORITY_BATCH, signals);
 *     comparison_write_...(c's table)
 *
 * comparing_read() instead of the loop starts no work: it judges the known runs alone. The loop uses known runs, too.
 *
 * A pair is a run of each version, one right after the other; the versions take turns at running first. A version measured on another day is measured
 * again beside the other (query_sample()), since its old time says nothing about today. The first pair is the cell itself. The next pairs are under seeds
 * 1, 2, 3, … on both sides: seeds of the solvers, if both recipes have one; else of scrambled inputs (scrambled.h), if these are asked for. Else the pairs
 * are repetitions, which show the machine's noise and not the solver's. An interrupted comparison continues where it was.
 *
 * Both versions are of one machine: that of the solvers' runs, or a named one, whose stored results are read.
 *
 * Threads: one at a time. */
#pragma once

#include "core/engine/ask.h"
#include "core/query/query.h"
#include "core/workspace/select.h"
#include "core/study/judge/judge.h"

struct comparing;

struct comparing_version {
        struct solver *solver;
        uint32_t commit;
};
enum comparing_scramble {
        COMPARING_SCRAMBLE_NEVER,
        COMPARING_SCRAMBLE,
        COMPARING_SCRAMBLE_KNOWN, /* scrambled inputs for cases that have such pairs, repetitions for the others. For a single comparing_read() */
};
struct comparing_options {
        struct workspace *workspace;
        struct comparing_version version[2]; /* before and after */
        struct case_info *const *cases;      /* accepted by both solvers */
        size_t n;
        const char *set; /* the cases' name, for titles; NULL: all */
        bool has_seed;   /* the first pair is under this seed, the next ones under the following seeds */
        uint64_t seed;
        enum comparing_scramble scramble; /* inputs, if the solvers have no seeds */
        uint64_t wall_ns;    /* 0: the recipes' limits */
        const char *machine; /* NULL: the machine of the runs; else as in struct cell, for comparing_read() */
        enum judge_measure measure;
        size_t most_pairs;  /* per case, at most JUDGE_PAIRS; 1: one seed, which proves nothing */
        size_t most_wanted; /* pairs to run per case, if fewer than most_pairs; 0: most_pairs */
};

enum comparing_chance { /* what varies between the pairs after the first */
        COMPARING_SEEDS,
        COMPARING_SCRAMBLED,
        COMPARING_REPETITIONS,
};

/* The two cells of a case. */
struct comparing_value {
        double seconds[2]; /* their values; NaN: unknown */
        bool is_shown;     /* the case's pairs are repetitions of these cells: `seconds` is shown, and not the pairs' medians */
};

/* The outcome of a comparison, owned by the comparing. */
struct comparing_table {
        const struct comparing_options *options;
        struct judge_case *cases; /* [options->n] */
        struct judgement judgement;
        char **families;     /* [judgement.options.n_families] names: folders of the cases' names. None if all cases are in one folder */
        size_t *order;       /* of cases, worst first; then as given */
        struct comparing_value *values; /* [options->n] */
        enum comparing_chance chance;
        size_t repeated;         /* cases that cannot be scrambled; their pairs are repetitions */
        char *why_not_scrambled; /* of one of these: its name and a sentence; NULL: there is none */
        bool idle_seed[2];       /* the version's effort is the same under all seeds, on each case */
        bool unbuildable[2];     /* the version cannot be built */
        struct fact *not_started[2]; /* one of the version's runs whose program did not begin; owns a ref; NULL: none */
        int64_t newest;      /* seconds; the newest known result; 0: none */
        char sha[2][GIT_OID_HEXSZ + 1];
        char *label[2]; /* "toy v1.2", or "toy 1a2b3c4d5e6f" if no tag names the commit */
};

/* Keeps references. -EXDEV with a sentence: the two solvers run on different machines. Other errors: those of history.h. */
int comparing_new(const struct comparing_options *options, struct comparing **ret);
void comparing_free(struct comparing *c);
DEFINE_CLEANUP(struct comparing *, comparing_free)
#define cleanup_comparing cleanup(comparing_freep)

/* Reads the known runs and judges them. */
int comparing_read(struct comparing *c);
/* 1: ask *ret to its end, then call this again. 0: finished, and judged. -errno: the store or a run failed. */
int comparing_next(struct comparing *c, struct batch *ret);
struct comparing_progress {
        size_t asked;      /* runs of this batch */
        bool repeating;    /* the runs are of further pairs, else first runs */
        size_t open_cases; /* not decided */
        size_t cases;
};
void comparing_progress(const struct comparing *c, struct comparing_progress *ret);
/* The table as of the last judgement. */
const struct comparing_table *comparing_table(const struct comparing *c);
/* The seconds shown for version `side` on case i: the median of its pairs if these are under seeds or scrambled inputs, if there is a median, and if
 * the first answer is not wrong; else the cell's value, as on every page. */
double comparing_seconds(const struct comparing_table *t, size_t i, int side);

/* The cases that both solvers accept, of a set or of all cases (`set` NULL). There may be none. */
int comparing_cases(struct workspace *w, const char *set, const struct comparing_version version[2], struct case_selection *ret);

/* -- the comparisons made by the command, for listings ------------------------------------------------------------------ */

struct comparing_noted {
        char *set;          /* owned; "": all cases */
        uint32_t solver[2]; /* numbers */
        git_oid commit[2];
};
void comparing_noted_done(struct comparing_noted *n);
#define cleanup_comparing_noted cleanup(comparing_noted_done)
/* Notes a comparison; noting it again changes nothing. */
int comparing_note(const struct comparing_table *t);
/* The noted comparison of this number; they are numbered from 0. -ENOENT: past the last. */
int comparing_noted_at(struct workspace *w, uint32_t number, struct comparing_noted *ret);
