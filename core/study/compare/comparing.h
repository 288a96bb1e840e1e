/* Comparisons of two versions on the cases of a store: what is known is read and judged (judge.h), and what is missing is asked of the engine.
 *
 *     comparing_new(&options, &c)
 *     while ((r = comparing_next(c, &batch)) > 0)
 *             r = ask_many(engine, &batch, PRIORITY_BATCH, signals);
 *     comparison_write_...(c's table)
 *
 * comparing_read() instead of the loop starts no work. Runs that are there are used.
 *
 * A pair is a run of each version, one right after the other; they take turns at being the first. A version that was measured on another day is measured
 * again beside the other (query_sample()), since its old time says nothing of now. The first pair is the cell itself. The next pairs are under seeds 1,
 * 2, 3, … on both sides: seeds of the solvers, if both recipes have one; else of scrambled inputs (scrambled.h), if these are asked for. Else the pairs
 * are repetitions, which show the machine's noise and not the solver's. An interrupted comparison goes on where it was.
 *
 * Both versions are of one machine: that of the solvers' runs, or one that is named, of which what is known is read.
 *
 * Not for several threads at a time. */
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
        COMPARING_SCRAMBLE_KNOWN, /* of cases that have pairs of scrambled inputs: those; of others repetitions. For comparing_read(), once. */
};
struct comparing_options {
        struct workspace *workspace;
        struct comparing_version version[2]; /* before and after */
        struct case_info *const *cases;      /* that both solvers take */
        size_t n;
        const char *set; /* the name of what they are, for titles; NULL: all */
        bool has_seed;   /* the first pair is under this seed, and the next ones under those that follow it */
        uint64_t seed;
        enum comparing_scramble scramble; /* inputs, where the solvers have no seeds */
        uint64_t wall_ns;    /* 0: the recipes' limits */
        const char *machine; /* NULL: where runs are done; else as in struct cell: read with comparing_read() */
        enum judge_measure measure;
        size_t most_pairs;  /* of a case, at most JUDGE_PAIRS; 1: one seed, which proves nothing */
        size_t most_wanted; /* pairs that are run, where they are fewer; 0: most_pairs */
};

enum comparing_chance { /* what the pairs behind the first differ by */
        COMPARING_SEEDS,
        COMPARING_SCRAMBLED,
        COMPARING_REPETITIONS,
};

/* The two cells of a case. */
struct comparing_value {
        double seconds[2]; /* their values; NaN: unknown */
        bool is_shown;     /* the case's pairs are repetitions of these cells, so the values stand for them */
};

/* Its outcome; all of it is owned by the comparing. */
struct comparing_table {
        const struct comparing_options *options;
        struct judge_case *cases; /* [options->n] */
        struct judgement judgement;
        char **families;     /* [judgement.options.n_families] names; none where all cases are of one */
        size_t *order;       /* of cases, worst first; then as given */
        struct comparing_value *values; /* [options->n] */
        enum comparing_chance chance;
        size_t repeated;     /* cases that cannot be scrambled; their pairs are repetitions */
        char *why;           /* a sentence for one of them */
        bool idle_seed[2];   /* the version's effort is the same under all seeds, on each case */
        bool unbuildable[2]; /* the version cannot be built */
        int64_t newest;      /* seconds; of what is known; 0: nothing */
        char sha[2][GIT_OID_HEXSZ + 1];
        char *label[2]; /* "toy v1.2", or "toy 1a2b3c4d5e6f" where no tag names the commit */
};

/* Keeps references. -EXDEV with a sentence: the runs of the two solvers are done on two machines. Else history.h's errors. */
int comparing_new(const struct comparing_options *options, struct comparing **ret);
void comparing_free(struct comparing *c);
DEFINE_CLEANUP(struct comparing *, comparing_free)
#define cleanup_comparing cleanup(comparing_freep)

/* Reads what is known and judges it. */
int comparing_read(struct comparing *c);
/* 1: *ret is to be asked to its end, then this again. 0: finished, and judged. -errno: the store failed, or a run could not be made. */
int comparing_next(struct comparing *c, struct batch *ret);
/* After comparing_read(), or whenever; as of the last judgement. */
const struct comparing_table *comparing_table(const struct comparing *c);
/* Seconds of a case's version as they are shown: where its pairs are under seeds, the median over them, if there is one and its answer is not wrong;
 * else the cell's value, as every page has it. */
double comparing_seconds(const struct comparing_table *t, size_t i, int side);

/* The cases that both solvers take: of a set, by its name, or all (NULL). There may be none. */
int comparing_cases(struct workspace *w, const char *set, const struct comparing_version version[2], struct case_selection *ret);

/* -- which comparisons there are, for listings: those that the command has made ---------------------------------------- */

struct comparing_noted {
        char *set;          /* ""; owned */
        uint32_t solver[2]; /* numbers */
        git_oid commit[2];
};
void comparing_noted_done(struct comparing_noted *n);
#define cleanup_comparing_noted cleanup(comparing_noted_done)
/* Keeps that it was made; the same again changes nothing. */
int comparing_note(const struct comparing_table *t);
/* The one of a number, from 0; -ENOENT behind the last. */
int comparing_noted_at(struct workspace *w, uint32_t number, struct comparing_noted *ret);

struct comparing_progress {
        size_t asked;      /* runs of this batch */
        bool repeating;    /* they are pairs, else first runs */
        size_t open_cases; /* that are not decided */
        size_t cases;
};
void comparing_progress(const struct comparing *c, struct comparing_progress *ret);
