/* The files of a commit in a folder: which they are, and the writing.
 *
 * The files are those that `git worktree` would write: executable bits, links, line ends and identities as .gitattributes say (attributes.h).
 * Not libgit2's checkout: that trusts the folder, and here nothing does. A build may have put a link to anywhere in the place of a folder, and
 * this runs as the store's owner. Every component is opened without following links. */
#pragma once

#include "cache/base/progress.h"
#include "core/build/attributes.h"
#include "core/build/manifest.h"

/* The files of `paths` (empty: all) at a commit; their `content` is zero yet. `submodules` are a recipe's
 * (PATH=REPO): their files are among them; others are empty folders, as `notes` says.
 * -EBADMSG when they cannot be files: too many, too large, names no folder may hold; -ESTALE when the repository lacks some. */
int checkout_list(git_repository *git, const git_oid *commit, char *const *paths, char *const *submodules, struct manifest *ret,
                  struct buffer *notes);
/* Writes the files into the empty folder, all as of `when` (seconds): git leaves it to chance which of two files is the newer one, and make
 * would follow. -ECANCELED when it was told to stop; attributes_apply()'s errors. */
int checkout(git_repository *git, struct attributes *attributes, const char *folder, struct manifest *files, int64_t when, const struct progress *p);
/* The content of one, as checkout() writes it. *ret is owned; checkout()'s errors. */
int checkout_content(git_repository *git, struct attributes *attributes, const struct tracked *t, struct blob *ret);
/* As checkout() into an empty folder, with bytes from elsewhere: `content` gives those of file i, by the digest that stands in `files`. */
typedef int (*checkout_content_fn)(void *user, size_t i, struct blob *ret);
int checkout_given(const char *folder, struct manifest *files, int64_t when, checkout_content_fn content, void *user, const struct progress *p);
/* Opens a file below the folder without following links: -ENOENT, -ELOOP, -EISDIR, -EINVAL when it is no regular file. */
int checkout_open(const char *folder, const char *path, int *ret_fd);
