/* What was checked out in a folder: the files with their mode and content, and with size, inode and mtime to tell by whether one was
 * touched since. */
#pragma once

#include "core/git/git.h"

struct tracked {
        char *path;
        uint32_t mode; /* git's: 0100644, 0100755, 0120000 */
        git_oid oid;
        uint64_t size, inode;
        int64_t mtime_ns;
};
struct manifest {
        struct tracked *list; /* by path, in byte order */
        size_t n;
};
void manifest_done(struct manifest *m);
int manifest_add(struct manifest *m, const struct tracked *t); /* copies the path */
/* Once all are added; drops what came twice because one of the recipe's paths is inside another. */
void manifest_sort(struct manifest *m);
/* Names that libgit2 reads out of trees, which git would never have written. */
bool manifest_name_is_bad(const char *name);
bool tracked_is_same(const struct tracked *a, const struct tracked *b); /* in mode and content */
#define cleanup_manifest cleanup(manifest_done)
int manifest_read(const char *path, struct manifest *ret); /* -EBADMSG when it is none */
int manifest_write(const char *path, const struct manifest *m);
/* Is it one of `paths` (files, or folders with all that is in them)? And does one of these differ? */
bool manifest_is_among(const char *path, char *const *paths);
bool manifest_differs(const struct manifest *a, const struct manifest *b, char *const *paths);
/* How many files are to be written or deleted to come from one to the other. */
size_t manifest_distance(const struct manifest *from, const struct manifest *to);
