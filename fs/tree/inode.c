#include "fs/tree/inode.h"

#include "fs/tree/tree.h"

#define SELF_SHIFT  63
#define WHICH_SHIFT 59
#define VIEW_SHIFT  40
#define WHICH_NONE  15u /* kinds from 248 on have these bits, too */

/* What stands below a setting. The places are part of inode numbers: append, never reorder. */
static const uint8_t below[] = {KIND_SEED,    KIND_TIMEOUT, KIND_TIMEOUT_ALIAS, KIND_CELLS,  KIND_CELL,   KIND_TIME,
                                KIND_CPUTIME, KIND_MEMORY,  KIND_RESULT,        KIND_STDOUT, KIND_STDERR, KIND_RUN_JSON};
_Static_assert(sizeof(below) <= WHICH_NONE, "four bits");

uint64_t inode_pack(struct inode i)
{
        uint64_t which = 0, rest = (uint64_t)i.commit << 20 | i.item;

        if (!inode_view_says_itself(i.view))
                return (uint64_t)i.kind << 56 | (uint64_t)i.view << VIEW_SHIFT | rest;
        while (which < sizeof(below) && below[which] != i.kind)
                which++;
        return UINT64_C(1) << SELF_SHIFT | which << WHICH_SHIFT | (uint64_t)(i.view & ~INODE_SAYS_ITSELF) << VIEW_SHIFT | rest;
}

struct inode inode_unpack(uint64_t n)
{
        struct inode i = {
                .kind = (uint8_t)(n >> 56),
                .view = (uint16_t)(n >> VIEW_SHIFT),
                .commit = (uint32_t)(n >> 20) & INODE_COMMIT_MAX,
                .item = (uint32_t)n & INODE_ITEM_MAX,
        };
        unsigned which = (unsigned)(n >> WHICH_SHIFT) & 15;

        if (n >> SELF_SHIFT && which < sizeof(below)) {
                i.kind = below[which];
                i.view = INODE_SAYS_ITSELF | ((uint32_t)(n >> VIEW_SHIFT) & ((1u << (INODE_BASE_BITS + INODE_SETTING_BITS)) - 1));
        }
        return i;
}
