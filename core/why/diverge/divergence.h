/* Where two streams of lines part: the outputs of two versions of a program on one input, under one seed.
 *
 *     unsteady_learn(u, out of A, out of A again)      what changes by itself
 *     unsteady_learn(u, out of B, out of B again)
 *     unsteady_learn(u, out of A, out of B, both on an empty input)     what differs whatever the input: names, versions, formats
 *     divergence_find(u, out of A, out of B, &d)
 *
 * A line is a shape and values. Its shape is its text with every number made one character, and every run of blanks, too. Its values are the numbers.
 * Passed over are addresses, ids in hexadecimal digits, amounts of time and of memory and rates (by the unit behind them or the word before them), and
 * paths in the folder of a run's programs. What else is unsteady is learned: where two lines of one shape have different values, those places of the
 * shape are; where the lines have different shapes, the streams are laid against each other anew, within LOOK_AHEAD lines, and the shapes passed over
 * for that are left out from then on.
 *
 * So the first difference may be of a value alone. Then the search goes on to where the shapes part, and both places are told. Behind that the streams
 * are laid against each other anew, in the same way, and places and lines that differ are counted: one place in a million lines is another finding than
 * all of them.
 *
 * Streams may be of any length, and lines, too: of a line DIVERGENCE_LINE bytes are kept, and the rest must be the same. Bytes may be any; a carriage
 * return at the end of a line is none of its text. Memory is bounded: some megabytes for each call.
 *
 * Pure, but for the sources' reads. Threads: one for each `struct unsteady`. */
#pragma once

#include "cache/base/util.h"

#define DIVERGENCE_LINE    (16 << 10) /* bytes of a line */
#define DIVERGENCE_CONTEXT 5          /* lines before, and behind */
#define DIVERGENCE_PARTINGS 1000      /* that are counted; there the search ends */

struct line_source {
        ssize_t (*read)(void *user, void *to, size_t size); /* as read(2): 0 at the end; -errno */
        void *user;
        bool is_cut; /* more would have come: its end says nothing */
};

struct unsteady;
struct unsteady *unsteady_new(void);
struct unsteady *unsteady_free(struct unsteady *u); /* NULL */
DEFINE_CLEANUP(struct unsteady *, unsteady_free)
/* Reads both to their ends. 0 or a source's error. */
int unsteady_learn(struct unsteady *u, const struct line_source source[2]);

struct parting_line {
        uint64_t number; /* from 1 */
        char *text;      /* printable, cut to what can be shown; owned */
};
struct parting {
        bool is_found;
        uint64_t number[2]; /* where it is on each side; 0: that side has ended */
        struct parting_line *lines[2]; /* owned; with the lines around, DIVERGENCE_CONTEXT each way */
        size_t n[2];
};
struct divergence {
        struct parting value, shape; /* the first difference in values alone; the first in shape, or an end */
        uint64_t partings;           /* places where the shapes part, DIVERGENCE_PARTINGS at most */
        uint64_t values_differ;      /* lines that differ in values alone */
        uint64_t lines[2];           /* read */
        uint64_t passed_over;        /* lines left out of both, being unsteady */
        bool is_cut;                 /* it ended where one was cut off */
};
int divergence_find(struct unsteady *u, const struct line_source source[2], struct divergence *ret);
void divergence_done(struct divergence *d);
