/* Finds where the trails of two runs part. A trail is the sequence of a run's steps: calls, returns, and comparisons with their outcomes, each with the
 * name of its function. core/build/trail_runtime.c writes it, and defines the texts "names", "chunks" and "window".
 *
 * Two runs of deterministic programs take the same steps until control takes different ways. The change acts in the function of that place, or an earlier
 * changed value first decides something there. This is relative debugging (Abramson, Foster, Michalakes, Sosic 1996) of control instead of data; points of
 * the two runs are matched by order, not by an index (Xin, Sumner, Zhang, "Efficient program execution indexing", 2008). Values are not traced back, as
 * dual slicing does (Weeratunge, Zhang, Sumner, Jagannathan 2010): that would need every store and load.
 *
 * Steps come in chunks with a digest each. Chunk boundaries depend on content: after extra steps on one side the chunks are the same again (as in LBFS,
 * Muthitacharoen, Chen, Mazieres 2001; by a gear hash, as in FastCDC, Xia et al. 2016). The trails are aligned again at TRAIL_ALIKE equal chunks in a row.
 * So a parting with only extra steps (a longer table, a message) is told from one after which the two runs go different ways. The steps in the chunk
 * of the parting found are then compared one by one.
 *
 * Pure; threads: one for each of the structures. */
#pragma once

#include "cache/base/util.h"

#define TRAIL_ALIKE   6    /* chunks */
#define TRAIL_AHEAD   4096 /* chunks searched for those, on each side */
#define TRAIL_STRETCH 4    /* an equal stretch counts only if it is this many times as long as the skipped one; else it is chance */
#define TRAIL_END     100  /* the last hundredth prints statistics and times: no partings there */

/* Takes the next line off the text: NUL-terminated, free(). NULL at the end. A last line without a newline is truncated, and skipped. */
char *trail_take_line(struct slice *text);
/* The list for $SOLVERFS_TRAIL_SKIP, from both programs' "names": the names that only one of them has, a line each, sorted. */
void trail_skip_list(const struct slice text[2], struct buffer *ret);

struct trail_chunk {
        uint64_t steps, hash;
};
struct trail {
        struct trail_chunk *chunks; /* owned */
        size_t n;
        uint64_t steps;
        bool is_whole;    /* it reaches the program's end */
        bool has_threads; /* further threads' steps are missing */
};
/* Reads the text of "chunks"; ignores a truncated last line. */
void trail_read(struct slice text, struct trail *ret);
void trail_done(struct trail *t);

struct trail_parting {
        bool is_found;
        bool is_last;     /* after it the two are not alike again for long, and have less than half of their steps in common */
        uint64_t from[2]; /* steps before its chunk */
        uint64_t size;    /* steps of its chunk, on the side that has more */
        uint64_t further; /* partings besides this one */
};
/* The first parting with is_last; if there is none, the first parting. */
void trail_compare(const struct trail t[2], struct trail_parting *ret);

struct trail_function {
        char *name; /* owned; NULL: no such number */
        unsigned file;
        uint64_t address; /* in the file */
};
struct trail_step {
        char kind; /* as in the text */
        unsigned function, outcome;
        unsigned file; /* for a comparison: the file that has it, and the address there */
        uint64_t address;
};
struct trail_window { /* the steps of a part of a run */
        char **files;                     /* owned */
        struct trail_function *functions; /* owned; by number */
        unsigned *stack;                  /* owned; the functions open before the first step, the outermost first */
        struct trail_step *steps;         /* owned */
        size_t n_files, n_functions, n_stack, n_steps;
};
void trail_window_read(struct slice text, struct trail_window *ret);
void trail_window_done(struct trail_window *w);

struct trail_place {
        bool is_found;
        uint64_t steps;  /* common to both windows */
        size_t next[2];  /* index of the first step that differs in each window's `steps`; n_steps: the run has ended */
        unsigned *stack[2]; /* owned; the functions open on both sides then, the outermost first; the last one is the place */
        size_t n;
        /* If both sides next compare in the same function: how many of the innermost functions were entered by the steps just before, with no other
         * step between; else 0. The value compared was passed to them, or read from memory. */
        size_t entered;
};
/* Finds the first step that differs. Kinds in small letters, calls and returns of functions that only one side has, are no steps. */
void trail_find_place(const struct trail_window w[2], struct trail_place *ret);
void trail_place_done(struct trail_place *p);
