/* Finds where two streams of lines part: the outputs of two versions of a program on one input, under one seed.
 *
 *     unsteady_learn(u, out of A, out of A again)      what varies by itself
 *     unsteady_learn(u, out of B, out of B again)
 *     unsteady_learn(u, out of A, out of B, both on an empty input)     what differs for any input: names, versions, formats
 *     divergence_find(u, out of A, out of B, &d)
 *
 * A line is a shape and values. Its shape is its text with every number, and every run of blanks, replaced by one character. Its values are the numbers.
 * Addresses, ids in hexadecimal digits, amounts of time and of memory, rates (by the unit after them or the word before them), and paths in the folder of
 * a run's programs are ignored. What else is unsteady is learned: if two lines of one shape have different values, those places of the shape are unsteady;
 * if the lines have different shapes, the streams are aligned again within LOOK_AHEAD lines, and the shapes skipped for that are ignored from then on.
 *
 * So the first difference may be in a value alone. The search then continues to the place where the shapes part, and both places are reported. After that
 * the streams are aligned again in the same way, and places and lines that differ are counted: a difference in one of a million lines means less than one
 * in all of them.
 *
 * Streams and lines may have any length: DIVERGENCE_LINE bytes of a line are kept, and the rest must be the same. Bytes may be any; a carriage return at
 * the end of a line does not belong to its text. Memory is bounded: some megabytes per call.
 *
 * Pure, except for the sources' reads. Threads: one for each `struct unsteady`. */
#pragma once

#include "cache/base/util.h"

#define DIVERGENCE_LINE    (16 << 10) /* bytes of a line */
#define DIVERGENCE_CONTEXT 5          /* lines before and after */
#define DIVERGENCE_PARTINGS 1000      /* counted at most; the search ends there */

struct line_source {
        ssize_t (*read)(void *user, void *to, size_t size); /* as read(2): 0 at the end; -errno */
        void *user;
        bool is_cut; /* truncated: its end proves nothing */
};

struct unsteady;
struct unsteady *unsteady_new(void);
struct unsteady *unsteady_free(struct unsteady *u); /* returns NULL */
DEFINE_CLEANUP(struct unsteady *, unsteady_free)
/* Reads both sources to their ends. 0 or a source's error. */
int unsteady_learn(struct unsteady *u, const struct line_source source[2]);

struct parting_line {
        uint64_t number; /* from 1 */
        char *text;      /* printable, cut for display; owned */
};
struct parting {
        bool is_found;
        uint64_t number[2]; /* its line on each side; 0: that side has ended */
        struct parting_line *lines[2]; /* owned; with DIVERGENCE_CONTEXT lines before and after */
        size_t n[2];
};
struct divergence {
        struct parting value, shape; /* the first difference in values alone; the first in shape, or an end */
        uint64_t partings;           /* places where the shapes part, DIVERGENCE_PARTINGS at most */
        uint64_t values_differ;      /* lines that differ in values alone */
        uint64_t lines[2];           /* read */
        uint64_t passed_over;        /* ignored lines, of both sides together */
        bool is_cut;                 /* the search ended where a stream was cut off */
};
int divergence_find(struct unsteady *u, const struct line_source source[2], struct divergence *ret);
void divergence_done(struct divergence *d);
