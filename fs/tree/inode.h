/* Inode numbers without a table.
 *
 * A number holds everything that identifies a node: its kind (the number of its row), its view (a solver; all or only what is finished; the setting of
 * its cells: a solver's seed, a scrambler's seed, or a time limit), and two numbers whose meaning depends on the row: mostly a commit and an item of
 * it (a case), or the number of a name. The store gives each of these numbers once and never again (core/workspace/names.h, core/history/history.h,
 * core/cases/cases.h). So inode numbers survive a remount and are never reused, and there is nothing to look up. The root is 1, as FUSE has it. There
 * are five forms:
 *
 *     63 62 61    56 55           40 39            20 19             0
 *     [0  0][ kind  ][    view      ][    commit     ][     item     ]    kinds below 64
 *
 *     63 62 61        52 51     40 39            20 19             0
 *     [0  1][   kind    ][  view  ][    commit     ][     item     ]      kinds from 64 on
 *
 *     63 62      59 58     54 53     40 39            20 19             0
 *     [1][place-1 ][  base  ][setting  ][    commit     ][     item     ]  below a seed or a time limit that fits
 *
 *     63 62 61        52 51                                          0
 *     [0  1][   1023    ][                  hash                     ]     parts that fit no other form
 *
 *     63      56 55                                                  0
 *     [  >=248  ][              counted by this mount                ]     nodes without a row: a case being written, a file of node_map.h
 *
 * The third form: any setting can be looked up by name, and a lookup must leave no trace in the store. There are few kinds of nodes below a setting
 * (their rows have a `place`), which leaves bits for the setting itself: `base` is the number of the view without it. A
 * setting fits if it is a seed below 8192, or a time limit of at most 2047 tenths of a second, seconds, minutes or hours; a scrambler's seed never does.
 *
 * The fourth form is a hash of all parts, so that it is the same in every mount. The node of such a number is remembered for as long as the kernel
 * knows it (tree_hold()). It serves settings that do not fit (a seed of six digits, 1.25s, all of scrambled/), and rows with wider numbers.
 *
 * Older versions of solverfs used the first and the third form, with the same meaning, and never set the bits of the others. They gave a number
 * to each view with a setting that did not fit; such a view keeps its number, but no further numbers are given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INODE_ITEM_BITS   20
#define INODE_COMMIT_BITS 20
#define INODE_ITEM_MAX    ((1u << INODE_ITEM_BITS) - 1)
#define INODE_COMMIT_MAX  ((1u << INODE_COMMIT_BITS) - 1)

#define INODE_KINDS 1023 /* all kinds are below */

#define INODE_SETTING_BITS 14
#define INODE_BASE_BITS    5
#define INODE_SETTING_MAX  ((1u << INODE_SETTING_BITS) - 1)
#define INODE_BASE_MAX     ((1u << INODE_BASE_BITS) - 1)
#define INODE_PLACES       15 /* the greatest place; the least is 1. place - 1 is at most 14, so no number of the third form begins with 248 or more */

#define INODE_SETTING_SEED      (UINT64_C(1) << 63)
#define INODE_SETTING_SCRAMBLED (UINT64_C(1) << 62)
#define INODE_TIMEOUT_MOST      (INODE_SETTING_SCRAMBLED - 1) /* ns: 146 years */

struct inode {
        uint16_t kind;
        uint32_t view;    /* its number; if `setting` is not 0, the number of the view without the setting */
        uint64_t setting; /* 0: none, or part of the view's number; a time limit in ns; or a seed, with one of the bits below */
        uint32_t commit, item;
        uint32_t more; /* a row's third number; usually 0 */
};

uint64_t inode_pack(struct inode i);
/* False if the number belongs to no row, or is a hash, which cannot be decoded (inode_is_hash()). */
bool inode_unpack(uint64_t n, struct inode *ret);
bool inode_is_hash(uint64_t n);
bool inode_equal(const struct inode *a, const struct inode *b);

/* Numbers that belong to no row, counted by `n`. */
enum inode_other {
        INODE_MOVED = 254,    /* a file whose value changed while it was open: the kernel's node, st_ino stays (fs/kernel/node_map.h) */
        INODE_NEW_CASE = 255, /* a case being written */
};
static inline uint64_t inode_other(enum inode_other what, uint64_t n)
{
        return (uint64_t)what << 56 | n;
}
static inline bool inode_is_other(uint64_t ino, enum inode_other what)
{
        return ino >> 56 == (uint64_t)what;
}

/* Stores one number in `commit` and `item` together. */
static inline void inode_set_number(struct inode *i, uint32_t n)
{
        i->commit = n >> INODE_ITEM_BITS;
        i->item = n & INODE_ITEM_MAX;
}
static inline uint32_t inode_number(const struct inode *i)
{
        return i->commit << INODE_ITEM_BITS | i->item;
}
