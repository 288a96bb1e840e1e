/* Views: under which setting cells are seen. Their names are kept in the store (NAMES_VIEW, NAMES_SETTING), so that what is printed here once is
 * parsed for good. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct view {
        uint32_t solver; /* number */
        bool cached;     /* only what is finished */
        bool has_seed, has_timeout;
        uint64_t seed, timeout_ns;
        uint64_t scramble; /* 0: none; the seed by which inputs are scrambled */
};

#define VIEW_NAME_SIZE 96
void view_print(const struct view *v,
                char ret[VIEW_NAME_SIZE]);           /* "3/commits", "3/cached/seed/7", "3/commits/timeout/60000000000", "3/commits/scrambled/7" */
bool view_parse(const char *name, struct view *ret); /* false: it is none */
