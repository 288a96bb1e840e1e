/* The files of a checkout: their mode and content. */
#pragma once

#include "cache/base/hash.h"
#include "core/git/git.h"

#define MODE_SUBMODULE 0160000

struct tracked {
        char *path;
        uint32_t mode; /* git's: 0100644, 0100755, 0120000, MODE_SUBMODULE */
        git_oid oid;
        git_oid owner;      /* set by sources_list(): the commit that has the file and its .gitattributes, the solver's or a submodule's */
        size_t prefix_size; /* path + prefix_size is the path within `owner` */
        struct digest content; /* of the bytes as written: line ends may differ from the committed ones; zero: not known */
        uint64_t size;         /* of `content` */
};
struct manifest {
        struct tracked *list; /* by path, in byte order */
        size_t n;
};
void manifest_done(struct manifest *m);
void manifest_add(struct manifest *m, const struct tracked *t); /* copies the path */
/* Call when all are added. Drops duplicates, which come from a recipe's path inside another one. */
void manifest_sort(struct manifest *m);
/* True for names that libgit2 reads out of trees, and that git would never have written. */
bool manifest_name_is_bad(const char *name);
