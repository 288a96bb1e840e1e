/* Inside the recipe module: the table of keys, which reading, checking and writing share. */
#pragma once

#include "core/git/gitconfig.h"
#include "core/recipe/recipe.h"

enum recipe_kind {
        KIND_RETIRED, /* once meant something; taken and passed over, so that older stores open */
        KIND_FORMAT,
        KIND_DURATION,
        KIND_SIZE,
        KIND_COUNT,
        /* a string, char * */
        KIND_TEXT,
        KIND_DIALECT,
        KIND_FILE,   /* an absolute path or a URL */
        KIND_DIGEST, /* sha256 in hex */
        KIND_WITHIN,
        /* repeated ones, char ** */
        KIND_LINES,
        KIND_PATHS,
        KIND_OUTPUTS,
        KIND_PATTERNS,
        KIND_VARIABLES,
        KIND_FOLDERS,
        KIND_SUBMODULES,
        KIND_DOWNLOADS,
};

enum recipe_place {
        PLACE_SOLVER = 1 << 0,  /* [solver] of a recipe file, [solver "NAME"] of a config */
        PLACE_VARIANT = 1 << 1, /* [variant "NAME"], [solver "NAME"] with `variant` */
        PLACE_CONFIG = 1 << 2,  /* only in a config */
        PLACE_ERA = 1 << 3,     /* [era "A..B"], in a config [era "NAME A..B"] */
        PLACE_BINARY = 1 << 4,  /* [binary "TAG"], in a config [binary "NAME TAG"] */
};

struct recipe_key {
        const char *name;
        enum recipe_kind kind;
        unsigned places;
        size_t offset;        /* of the field in struct recipe */
        uint64_t least, most; /* of a quantity */
};

#define N_RECIPE_KEYS 34
extern const struct recipe_key recipe_keys[N_RECIPE_KEYS];

static inline void *recipe_field(const struct recipe *r, const struct recipe_key *k)
{
        return (char *)r + k->offset;
}
static inline bool recipe_key_repeats(const struct recipe_key *k)
{
        return k->kind >= KIND_LINES;
}
static inline bool recipe_key_is_string(const struct recipe_key *k)
{
        return k->kind >= KIND_TEXT && k->kind < KIND_LINES;
}

/* A recipe with the defaults and nothing else; a deep copy, but for the eras and the text, which it is without. */
struct recipe *recipe_new(void);
struct recipe *recipe_copy(const struct recipe *r);
/* Takes the reference to `era`; behind the others of its kind. */
void recipe_add_era(struct recipe *r, struct recipe *era);
/* The eras of its solver for a variant. */
void recipe_share_eras(struct recipe *r, const struct recipe *base);

/* Is it [solver], [variant], [era] or [binary]? */
bool recipe_has_section(const char *name);
/* By name; NULL: none is called so, or `name` is NULL. */
struct recipe *recipe_find(struct recipe *const *list, size_t n, const char *name);

/* Puts a value where its key says; a repeated key's is added. -EINVAL with a sentence that names file, line and key. */
int recipe_set_value(const char *label, const struct recipe_key *k, unsigned line, const char *value, struct recipe *r);

/* Appends section i of a recipe file without its header: the comment that stands right before it, its entries, and the comments up to the one
 * that belongs to the next section. Ends with a newline. */
void recipe_keep_text(struct slice text, const struct gitconfig *g, size_t i, struct buffer *ret);

/* A command line: split as a shell splits words, no shell. -EINVAL with a sentence that has no place in it yet. */
int recipe_split(const char *text, char ***ret_words);
/* Checks that a word's {placeholders} are among `known` (NULL-terminated), and counts them: uses[i] for known[i]. */
int recipe_check_placeholders(const char *word, const char *const *known, unsigned *uses);

