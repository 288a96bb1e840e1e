/* Inode numbers without a table.
 *
 * A number says all there is to know of a node: what kind it is (a row of the route table), under which view it is seen (a solver, and the
 * setting of its cells: cached or not, a seed, a timeout), of which commit, and which item of it (mostly a case). The parts are numbers that
 * the store gave out once and never gives again (core/names.h, core/history.h, core/cases.h), so inode numbers survive a remount and are
 * never reused; there is nothing to look up, to count or to forget. The root is 1, as FUSE has it.
 *
 *     63      56 55           40 39            20 19             0
 *     [  kind   ][    view      ][    commit     ][     item     ]
 */
#pragma once

#include <stdint.h>

#define INODE_ITEM_BITS   20
#define INODE_COMMIT_BITS 20
#define INODE_VIEW_BITS   16
#define INODE_ITEM_MAX    ((1u << INODE_ITEM_BITS) - 1)
#define INODE_COMMIT_MAX  ((1u << INODE_COMMIT_BITS) - 1)
#define INODE_VIEW_MAX    ((1u << INODE_VIEW_BITS) - 1)

struct inode {
        uint8_t kind;
        uint16_t view;
        uint32_t commit, item;
};

static inline uint64_t inode_pack(struct inode i)
{
        return (uint64_t)i.kind << 56 | (uint64_t)i.view << 40 | (uint64_t)i.commit << 20 | i.item;
}

static inline struct inode inode_unpack(uint64_t n)
{
        return (struct inode){
                .kind = (uint8_t)(n >> 56),
                .view = (uint16_t)(n >> 40),
                .commit = (uint32_t)(n >> 20) & INODE_COMMIT_MAX,
                .item = (uint32_t)n & INODE_ITEM_MAX,
        };
}
