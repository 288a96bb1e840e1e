/* The files of a commit in a folder: which they are, what differs from what lies there, and the writing.
 *
 * Not libgit2's checkout: that leaves a tracked file which a build modified as it is, follows the repository's attributes (a filter
 * would change the bytes that were committed), and trusts the folder. Here nothing does: a build may have put a link to anywhere in the
 * place of a folder, and this runs as the store's owner. Every component is opened without following links.
 *
 * A file that is the same and untouched keeps its mtime, so that make sees no reason to rebuild; one that is written gets the present
 * time, also when its content is older. */
#pragma once

#include "core/build/manifest.h"
#include "cache/base/progress.h"

/* The files of `paths` (empty: all) at a commit; sizes, inodes and mtimes are zero yet. What is left out (submodules) is said in `notes`.
 * -EBADMSG when they cannot be files: too many, too large, names no folder may hold; -ESTALE when the repository lacks some. */
int checkout_list(git_repository *git, const git_oid *commit, char *const *paths, struct manifest *ret, struct buffer *notes);
/* Makes `folder` (empty or as `old` and a build left it) hold `files`. -ECANCELED when it was told to stop. */
int checkout(git_repository *git, const char *folder, const struct manifest *old, struct manifest *files,
             const struct progress *p);

/* Opens a file below the folder without following links: -ENOENT, -ELOOP, -EISDIR, -EINVAL when it is no regular file. */
int checkout_open(const char *folder, const char *path, int *ret_fd);
/* Deletes a file or link, or nothing; empty folders above it go too. */
int checkout_delete(const char *folder, const char *path);
