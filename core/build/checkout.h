/* The files of a commit in a folder: their list, and writing them.
 *
 * The files are those that `git worktree` would write: executable bits, links, line ends and identities as .gitattributes say (attributes.h).
 * libgit2's checkout cannot be used: a worker has the files and no repository, submodules come from other commits of the same one, and a file's time
 * must be the same in each build. The kernel follows no link out of the folder, and none where it writes (openat2): a build may have put any link there,
 * and this runs as the store's owner. */
#pragma once

#include "cache/base/progress.h"
#include "core/build/attributes.h"
#include "core/build/manifest.h"

/* The files of a commit, and the repository with their bytes. */
struct sources {
        struct manifest files; /* owned; `content` is zero until a caller computes it */
        git_repository *git;   /* borrowed */
        struct attributes attributes;
};
void sources_done(struct sources *s);
/* The files of `paths` (empty: all) at a commit. `submodules` are lines of a recipe: the files of these submodules are included; other submodules are
 * empty folders, as `notes` reports. -EBADMSG if they cannot be files: too many, too large, forbidden names; -ESTALE if the repository lacks some.
 * Call sources_done() on *ret in any case. */
int sources_list(git_repository *git, const git_oid *commit, char *const *paths, char *const *submodules, struct sources *ret,
                 struct buffer *notes);
/* The bytes of a file as they are to be written, owned; attributes_apply()'s errors. Empty for a submodule. A checkout_content_fn. */
int sources_content(void *sources, const struct tracked *t, struct blob *ret);

typedef int (*checkout_content_fn)(void *user, const struct tracked *t, struct blob *ret);
/* Writes the files into the empty folder, all with the time `when` (seconds): with git it is chance which of two files is newer, and make would act
 * on it. -EIO: bytes do not match a known digest. -EBADMSG: two files have one name. -ECANCELED: `p` says stop. */
int checkout(const char *folder, const struct manifest *files, int64_t when, checkout_content_fn content, void *user, const struct progress *p);
/* Opens a file below the folder; a link may lead to another file below it. -ENOENT, -ELOOP, -EXDEV if the link leads out, -EISDIR, or
 * -EINVAL if it is not a regular file. */
int checkout_open(const char *folder, const char *path, int *ret_fd);
