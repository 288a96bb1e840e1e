/* The effect of .gitattributes on a commit's files when they are checked out: line ends (text, eol, crlf) and $Id$ (ident), as git with its default
 * configuration does it. A person's own configuration (core.autocrlf, core.attributesFile) has no say: builds are everybody's.
 *
 * No filter driver (filter=lfs) is run: it is a command of the machine's owner, outside of every sandbox. Where git here would run one, the
 * checkout is refused; where none is configured the bytes stay as they were committed, and git does the same.
 * Not thread-safe. */
#pragma once

#include "core/git/git.h"

struct attributes {
        git_repository *git; /* borrowed */
        git_config *owner;   /* owned: what git on this machine is configured to; filters are looked for in it */
        git_oid commit;
};

/* The repository's handle is the caller's own: its configuration becomes git's default. */
int attributes_open(git_repository *git, const git_oid *commit, struct attributes *ret);
/* The bytes to write; ret->ptr stays NULL when they are those committed. git_buf_dispose(). -EBADMSG when the bytes cannot be made from the
 * sources alone (working-tree-encoding), -ENOTSUP when git on this machine would run a filter; each with a sentence. */
int attributes_apply(const struct attributes *a, const char *path, git_blob *blob, git_buf *ret);
