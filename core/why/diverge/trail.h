/* Where the trails of two runs part. A trail is the sequence of a run's steps: calls, returns, and comparisons with how they came out, each by the name of
 * its function (core/build/trail_runtime.c writes them, and has the form of its text).
 *
 * Two runs of deterministic programs take the same steps until control goes another way. The function it stands in then is where the change acts, or
 * where a value that was changed before is first decided by. That is relative debugging (Abramson, Foster, Michalakes, Sosic 1996) of control in place
 * of data; points of the two runs belong together by their order, and not by an index of each (Xin, Sumner, Zhang, "Efficient program execution
 * indexing", 2008). Values are not followed back, as dual slicing does (Weeratunge, Zhang, Sumner, Jagannathan 2010): it would need every store and
 * load.
 *
 * Steps come in chunks with a digest each, whose ends go by contents: behind a place where one side has steps more the chunks are the same again (as in
 * LBFS, Muthitacharoen, Chen, Mazieres 2001; by a gear hash, as in FastCDC, Xia et al. 2016). The trails are laid against each other anew at TRAIL_ALIKE
 * equal chunks in a row. So partings that do no more than that (a table that is longer, a message) are told from the one behind which the two go on in
 * different ways. The steps of that one's chunk are then compared one by one.
 *
 * Pure; threads: one for each of the structures. */
#pragma once

#include "cache/base/util.h"

#define TRAIL_ALIKE   6    /* chunks */
#define TRAIL_AHEAD   4096 /* chunks that are looked through for those, on each side */
#define TRAIL_STRETCH 4    /* what is alike again is so much longer at least than what was passed over, or it is chance */
#define TRAIL_END     100  /* in the last hundredth statistics and times are printed: what parts there is no parting */

/* Names of "names": those of the one program that the other does not have, a line each, sorted. */
void trail_skip(const struct slice text[2], struct buffer *ret);

struct trail_chunk {
        uint64_t steps, hash;
};
struct trail {
        struct trail_chunk *chunks; /* owned */
        size_t n;
        uint64_t steps;
        bool is_whole;    /* it goes to the program's end */
        bool has_threads; /* whose steps are not in it */
};
/* Of the text of "chunks"; a last line that was cut off is none. */
void trail_read(struct slice text, struct trail *ret);
void trail_done(struct trail *t);

struct trail_parting {
        bool is_found;
        bool is_last;      /* behind it the two are not alike again, and have less than half in common */
        uint64_t from[2];  /* the steps before the chunk it is in, and how many those of it take at most */
        uint64_t size;
        uint64_t others;   /* more partings, behind which the two go on alike */
        uint64_t common;   /* steps of the first trail that the other has, too */
};
/* The first that is the last in that sense; where there is none, the first. */
void trail_compare(const struct trail t[2], struct trail_parting *ret);

struct trail_function {
        char *name; /* owned; NULL: no such number */
        unsigned file;
        uint64_t address; /* in the file */
};
struct trail_step {
        char kind; /* as in the text */
        unsigned function, outcome;
        unsigned file; /* of a comparison, with its address */
        uint64_t address;
};
struct trail_window {
        char **files;                     /* owned */
        struct trail_function *functions; /* owned; by number */
        unsigned *stack;                  /* owned; the functions that are open before the first step, the outermost first */
        struct trail_step *steps;         /* owned */
        size_t n_files, n_functions, n_stack, n_steps;
};
void trail_window_read(struct slice text, struct trail_window *ret);
void trail_window_done(struct trail_window *w);

struct trail_place {
        bool is_found;
        uint64_t steps;  /* of the windows, that both take */
        size_t next[2];  /* the first that differs, in .steps; n_steps: the run has ended */
        unsigned *stack[2]; /* owned; the functions open then that both have, the outermost first; the last one is the place */
        size_t n;
        /* How many of those were entered by the last steps, one after the other, where both sides then compare in the same function: what is compared
         * first was given to them, or read from memory. */
        size_t entered;
};
/* Calls and returns in small letters, of functions that one side alone has, are no steps. */
void trail_find_place(const struct trail_window w[2], struct trail_place *ret);
void trail_place_done(struct trail_place *p);
