/* Benchmarks: what we do, measured side by side with what users have today.
 *
 * Both sides of a row take turns, round by round, so that whatever else the machine does falls on both alike. A row shows the median of
 * each side and the median of the rounds' ratios (or differences). Rows go to standard output, a line each, fields separated by tabs:
 * what, ours, theirs, against what, result, the most that it should be, "ok" or "OVER" or, of a row that could not be, "skipped".
 * run.sh makes the table of them. What goes on meanwhile is said on standard error. */
#pragma once

#include "cache/base/util.h"

struct bench_options {
        const char *dir;        /* a scratch folder on the disk to measure; everything below it is ours */
        unsigned scale;         /* how many times as many commits, cells, facts */
        unsigned rounds;        /* of short measurements */
        const char *repository; /* a real C repository for the group `build`, with its recipe; NULL: a synthetic one */
        const char *recipe;
        unsigned builds;
};
extern struct bench_options bench;

enum judge {
        JUDGE_RATIO,      /* ours / theirs */
        JUDGE_DIFFERENCE, /* ours − theirs */
        JUDGE_ALONE,      /* ours; there is nothing to compare with */
};
enum unit {
        UNIT_SECONDS,
        UNIT_BYTES,
        UNIT_COUNT
};

struct row {
        const char *what, *against;
        enum judge judge;
        enum unit unit;
        double most;     /* in the unit, or as a factor; 0: nobody said */
        unsigned rounds; /* 0: bench.rounds */
};

/* One measurement: seconds (or bytes) per operation. */
typedef int (*measure_fn)(void *user, double *ret);

/* Measures both in turn and prints the row; `theirs` NULL for JUDGE_ALONE. */
int bench_compare(const struct row *row, measure_fn ours, void *ours_user, measure_fn theirs, void *theirs_user);
/* Prints a row of numbers that were got in another way; result NAN: what the judge makes of the two. */
void bench_print(const struct row *row, double ours, double theirs, double result);
void bench_skip(const char *what, const char *why);

double bench_now(void);                                    /* seconds */
double bench_cpu(int who);                                 /* seconds of CPU time; RUSAGE_SELF or RUSAGE_CHILDREN */
double bench_median(double *values, size_t n);             /* sorts them */
double bench_quantile(double *values, size_t n, double q); /* the same */
void bench_say(const char *format, ...) printf_like(1, 2);
bool bench_has(const char *program); /* in $PATH */
/* Runs a shell command in `dir` (NULL: here); its output goes nowhere, what it says of errors to ours. 0, or -EIO with a sentence. */
int bench_shell(const char *dir, const char *format, ...) printf_like(2, 3);
/* A deterministic stream of numbers. */
uint32_t bench_random(uint64_t *state);

/* The groups. 0 or -errno; a row that is over what it should be is no error. */
int bench_tree(void);  /* reading through the mount */
int bench_wait(void);  /* memory, and blocked readers */
int bench_run(void);   /* the runner */
int bench_runner(void); /* over a kept sandbox; part of it */
int bench_build(void); /* builds and programs */
int bench_store(void); /* facts */
int bench_report(void); /* report.html */
int bench_export(void); /* solverfs export */
int bench_remote(void); /* workers */
int bench_command(void); /* the command, from execve to exit */
