/* Internal to the room: the table of keys, shared by reading, checking and writing. */
#pragma once

#include "core/git/gitconfig.h"
#include "core/recipe/recipe.h"

enum recipe_kind {
        KIND_RETIRED, /* no longer used; accepted and ignored, so that older stores open */
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
        PLACE_CONFIG = 1 << 2,  /* added to one of these two: in a config only, not in a recipe file */
        PLACE_ERA = 1 << 3,     /* [era "A..B"], in a config [era "NAME A..B"] */
        PLACE_BINARY = 1 << 4,  /* [binary "TAG"], in a config [binary "NAME TAG"] */
};

struct recipe_key {
        const char *name;
        enum recipe_kind kind;
        unsigned places;
        size_t offset;        /* of the field in struct recipe */
        uint64_t least, most; /* of a duration, a size or a count */
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

/* A recipe with only the defaults; a deep copy without the eras and the text. */
struct recipe *recipe_new(void);
struct recipe *recipe_copy(const struct recipe *r);
/* Adds an era behind the others of its kind; takes the reference. */
void recipe_add_era(struct recipe *r, struct recipe *era);
/* Gives a variant the eras of its solver. */
void recipe_share_eras(struct recipe *r, const struct recipe *base);

/* True for [solver], [variant], [era] and [binary]. */
bool recipe_has_section(const char *name);
/* Finds a recipe by name. NULL: there is none, or `name` is NULL. */
struct recipe *recipe_find(struct recipe *const *list, size_t n, const char *name);

struct short_text recipe_quantity(const struct recipe_key *k, uint64_t n); /* as text, for a duration, a size or a count */
/* Sets the field of a key that is not retired; for a repeated key, adds the value. -EINVAL with a sentence that names file, line and key. */
int recipe_set_value(const char *label, const struct recipe_key *k, unsigned line, const char *value, struct recipe *r);

/* Appends section i of a recipe file without its header: the comment right before it (of the first section: all text before it), its entries, and the
 * comments up to the one that belongs to the next section. The text appended ends with a newline. */
void recipe_keep_text(struct slice text, const struct gitconfig *g, size_t i, struct buffer *ret);

/* Splits a command line into words as a shell does, without a shell's other features. -EINVAL with a sentence that does not name the place. */
int recipe_split(const char *text, char ***ret_words);
/* Checks that a word's {placeholders} are among `known` (NULL-terminated), and counts them: uses[i] for known[i]. */
int recipe_check_placeholders(const char *word, const char *const *known, unsigned *uses);

