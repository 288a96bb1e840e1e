#include "fs/tree/inode.h"

#include "cache/base/hash.h"
#include "fs/tree/route.h"

#define VIEW_SHIFT   40 /* of all forms without a hash */
#define FIRST_KINDS  64u
#define FIRST_SHIFT  56
#define FIRST_VIEWS  0xffffu
#define FORM_SHIFT   62 /* from here on the second form */
#define FORM_WIDE    UINT64_C(1)
#define KIND_SHIFT   52
#define VIEW_MAX     0xfffu
#define FORM_SETTING (UINT64_C(1) << 63) /* the third */
#define PLACE_SHIFT  59
#define KIND_HASH    INODE_KINDS /* the fourth: the second with this kind */
#define HASH_MASK    ((UINT64_C(1) << KIND_SHIFT) - 1)

/* -- settings that fit into a number -- */

#define SEEDS    8192u
#define MANTISSA 2048u /* a time limit is its unit's index times MANTISSA, plus the count of units */

static const uint64_t units[] = {NSEC_PER_SEC / 10, NSEC_PER_SEC, 60 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC};
_Static_assert(SEEDS + ARRAY_SIZE(units) * MANTISSA <= INODE_SETTING_MAX + 1, "as many settings as there are bits for");

/* False: it does not fit, as no scrambler's seed does. */
static bool setting_encode(uint64_t setting, uint32_t *ret)
{
        if (setting & INODE_SETTING_SEED) {
                *ret = (uint32_t)(setting & ~INODE_SETTING_SEED);
                return (setting & ~INODE_SETTING_SEED) < SEEDS;
        }
        for (uint32_t u = ARRAY_SIZE(units); u-- > 0;)
                if (setting % units[u] == 0 && setting / units[u] < MANTISSA) {
                        *ret = SEEDS + u * MANTISSA + (uint32_t)(setting / units[u]);
                        return true;
                }
        return false;
}

/* -- numbers -- */

static uint64_t hash_of(const struct inode *i)
{
        const uint64_t parts[] = {i->kind, i->view, i->setting, i->commit, i->item, i->more};
        struct digest d;
        uint64_t n;

        digest_of(parts, sizeof(parts), &d);
        memcpy(&n, d.bytes, sizeof(n));
        return FORM_WIDE << FORM_SHIFT | (uint64_t)KIND_HASH << KIND_SHIFT | (n & HASH_MASK);
}

uint64_t inode_pack(struct inode i)
{
        uint64_t rest = (uint64_t)i.commit << INODE_ITEM_BITS | i.item;
        bool fits = i.commit <= INODE_COMMIT_MAX && i.item <= INODE_ITEM_MAX && i.more == 0;
        const struct route *row = i.setting != 0 ? route_of(i.kind) : NULL;
        uint32_t setting;

        if (i.kind == 0)
                return 1;
        if (fits && i.setting == 0 && i.kind < FIRST_KINDS && i.view <= FIRST_VIEWS)
                return (uint64_t)i.kind << FIRST_SHIFT | (uint64_t)i.view << VIEW_SHIFT | rest;
        if (fits && i.setting == 0 && i.kind >= FIRST_KINDS && i.view <= VIEW_MAX)
                return FORM_WIDE << FORM_SHIFT | (uint64_t)i.kind << KIND_SHIFT | (uint64_t)i.view << VIEW_SHIFT | rest;
        if (fits && row && row->place > 0 && i.view <= INODE_BASE_MAX && setting_encode(i.setting, &setting))
                return FORM_SETTING | (uint64_t)(row->place - 1u) << PLACE_SHIFT |
                       (uint64_t)(i.view << INODE_SETTING_BITS | setting) << VIEW_SHIFT | rest;
        return hash_of(&i);
}

static bool unpack_setting(uint64_t n, struct inode *ret)
{
        const struct route *row = route_at_place((unsigned)(n >> PLACE_SHIFT & 15) + 1);

        const uint32_t setting = (uint32_t)(n >> VIEW_SHIFT) & INODE_SETTING_MAX, of_time = setting - SEEDS;

        if (!row)
                return false;
        ret->kind = row->kind;
        ret->view = (uint32_t)(n >> (VIEW_SHIFT + INODE_SETTING_BITS)) & INODE_BASE_MAX;
        ret->setting = setting < SEEDS ? INODE_SETTING_SEED | setting : units[of_time / MANTISSA] * (of_time % MANTISSA);
        return ret->setting != 0; /* 0 is not a limit */
}

bool inode_unpack(uint64_t n, struct inode *ret)
{
        *ret = (struct inode){.commit = (uint32_t)(n >> INODE_ITEM_BITS) & INODE_COMMIT_MAX,
                              .item = (uint32_t)n & INODE_ITEM_MAX};
        if (n == 1) {
                ret->item = 0;
                return true;
        }
        if (n & FORM_SETTING)
                return unpack_setting(n, ret);
        if (n >> FORM_SHIFT == FORM_WIDE) {
                ret->kind = (uint16_t)(n >> KIND_SHIFT & 0x3ff);
                ret->view = (uint32_t)(n >> VIEW_SHIFT) & VIEW_MAX;
                return ret->kind >= FIRST_KINDS && ret->kind < INODE_KINDS;
        }
        ret->kind = (uint16_t)(n >> FIRST_SHIFT);
        ret->view = (uint32_t)(n >> VIEW_SHIFT) & FIRST_VIEWS;
        return ret->kind > 0; /* the root has only the number 1 */
}

bool inode_is_hash(uint64_t n)
{
        return n >> KIND_SHIFT == (FORM_WIDE << (FORM_SHIFT - KIND_SHIFT) | KIND_HASH);
}

bool inode_equal(const struct inode *a, const struct inode *b)
{
        return a->kind == b->kind && a->view == b->view && a->setting == b->setting && a->commit == b->commit &&
               a->item == b->item && a->more == b->more;
}
