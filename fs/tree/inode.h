/* Inode numbers without a table.
 *
 * A number says all there is to know of a node: what kind it is (a row of the route table), under which view it is seen (a solver, and the
 * setting of its cells: cached or not, a seed, a timeout), of which commit, and which item of it (mostly a case). The parts are numbers that
 * the store gave out once and never gives again (core/query/names.h, core/history/history.h, core/cases/cases.h), so inode numbers survive a remount and are
 * never reused; there is nothing to look up, to count or to forget. The root is 1, as FUSE has it.
 *
 *     63      56 55           40 39            20 19             0
 *     [  kind   ][    view      ][    commit     ][     item     ]
 *
 * A view that the store has given a number is that number. But whoever looks at seeds/1, seeds/2, … does not make the store give numbers,
 * which would be written down for good and come to an end: nearly all settings say themselves what they are. There are few kinds of nodes
 * below a setting, which leaves the bits for it:
 *
 *     63 62      59 58     54 53     40 39            20 19             0
 *     [1][ which  ][  base  ][setting  ][    commit     ][     item     ]       the base: the number of the view without the setting
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define INODE_ITEM_BITS   20
#define INODE_COMMIT_BITS 20
#define INODE_VIEW_BITS   16
#define INODE_ITEM_MAX    ((1u << INODE_ITEM_BITS) - 1)
#define INODE_COMMIT_MAX  ((1u << INODE_COMMIT_BITS) - 1)
#define INODE_VIEW_MAX    ((1u << INODE_VIEW_BITS) - 1)

#define INODE_SETTING_BITS 14
#define INODE_BASE_BITS    5
#define INODE_SETTING_MAX  ((1u << INODE_SETTING_BITS) - 1)
#define INODE_BASE_MAX     ((1u << INODE_BASE_BITS) - 1)

/* A view's number, or a setting that says itself what it is. */
#define INODE_SAYS_ITSELF UINT32_C(0x80000000)

struct inode {
        uint8_t kind;
        uint32_t view;
        uint32_t commit, item;
};

uint64_t inode_pack(struct inode i);
struct inode inode_unpack(uint64_t n);

/* The view of a setting (at most INODE_SETTING_MAX) of a base (at most INODE_BASE_MAX), and back. */
static inline uint32_t inode_view(uint32_t base, uint32_t setting)
{
        return INODE_SAYS_ITSELF | base << INODE_SETTING_BITS | setting;
}
static inline bool inode_view_says_itself(uint32_t view)
{
        return (view & INODE_SAYS_ITSELF) != 0;
}
static inline uint32_t inode_view_base(uint32_t view)
{
        return view >> INODE_SETTING_BITS & INODE_BASE_MAX;
}
static inline uint32_t inode_view_setting(uint32_t view)
{
        return view & INODE_SETTING_MAX;
}
