/* Views: the setting under which cells are shown. Their names are kept in the store (NAMES_VIEW, NAMES_SETTING), so a name once printed must be
 * parsed for ever. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A view has one of these. */
enum setting {
        SETTING_NONE,
        SETTING_SEED,
        SETTING_SCRAMBLED, /* by a seed, from 1 */
        SETTING_TIMEOUT,   /* ns */
        N_SETTINGS
};

struct view {
        uint32_t solver; /* number */
        bool cached;     /* only what is finished */
        enum setting setting;
        uint64_t n; /* the setting's seed or ns */
};
static inline bool view_equal(const struct view *a, const struct view *b)
{
        return a->solver == b->solver && a->cached == b->cached && a->setting == b->setting && a->n == b->n;
}

#define VIEW_NAME_SIZE 96
/* "3/commits", "3/cached/seed/7", "3/commits/timeout/60000000000", "3/commits/scrambled/7" */
void view_print(const struct view *v, char ret[VIEW_NAME_SIZE]);
bool view_parse(const char *name, struct view *ret); /* false: not a view */
