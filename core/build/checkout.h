/* The files of a commit in a folder: which they are, and the writing.
 *
 * The files are those that `git worktree` would write: executable bits, links, line ends and identities as .gitattributes say (attributes.h).
 * Not libgit2's checkout: a worker has the files and no repository, submodules come from other commits of the same one, and a file's time is the same in
 * each build. The kernel follows no link below the folder and nothing out of it (openat2): a build may have put a link to anywhere there, and this
 * runs as the store's owner. */
#pragma once

#include "cache/base/progress.h"
#include "core/build/attributes.h"
#include "core/build/manifest.h"

/* The files of a commit, and where their bytes are found. */
struct sources {
        struct manifest files; /* owned; their `content` is zero, unless somebody worked it out */
        git_repository *git;   /* borrowed */
        struct attributes attributes;
};
void sources_done(struct sources *s);
/* The files of `paths` (empty: all) at a commit. `submodules` are a recipe's lines: their files are among them; others are empty folders, as
 * `notes` says. -EBADMSG when they cannot be files: too many, too large, names no folder may hold; -ESTALE when the repository lacks some.
 * *ret is to be given to sources_done() in any case. */
int sources_list(git_repository *git, const git_oid *commit, char *const *paths, char *const *submodules, struct sources *ret,
                 struct buffer *notes);
/* The bytes of a file as they are to be written, owned; attributes_apply()'s errors. Of a submodule: none. A checkout_content_fn. */
int sources_content(void *sources, const struct tracked *t, struct blob *ret);

typedef int (*checkout_content_fn)(void *user, const struct tracked *t, struct blob *ret);
/* Writes the files into the empty folder, all as of `when` (seconds): git leaves it to chance which of two files is the newer one, and make
 * would follow. Bytes that do not fit a known digest are an error. -ECANCELED when it was told to stop. */
int checkout(const char *folder, const struct manifest *files, int64_t when, checkout_content_fn content, void *user, const struct progress *p);
/* Opens a file below the folder without following links: -ENOENT, -ELOOP, -EISDIR, -EINVAL when it is no regular file. */
int checkout_open(const char *folder, const char *path, int *ret_fd);
