/* The effect of .gitattributes on a commit's files at checkout: line ends (text, eol, crlf) and $Id$ (ident), as in git with its default
 * configuration. A person's own configuration (core.autocrlf, core.attributesFile) is ignored: builds are everybody's.
 *
 * No filter driver (filter=lfs) is run: it is a command of the machine's owner, outside of every sandbox. If git here would run one, the checkout is
 * refused; if none is configured, the bytes stay as committed, as with git.
 *
 * Not thread-safe. */
#pragma once

#include "core/build/manifest.h"
#include "core/git/git.h"

struct attributes {
        git_repository *git; /* borrowed */
        git_config *machine; /* owned: git's configuration on this machine, searched for filters */
};

/* The repository's handle must be the caller's own: its configuration becomes git's default. */
int attributes_open(git_repository *git, struct attributes *ret);
/* The bytes to write, by the attributes of the commit that the file is of; ret->ptr stays NULL if they are the committed ones. Free with
 * git_buf_dispose(). -EBADMSG if the bytes cannot be made from the sources alone (working-tree-encoding), -ENOTSUP if git on this machine would run a
 * filter; each with a sentence. */
int attributes_apply(const struct attributes *a, const struct tracked *t, git_blob *blob, git_buf *ret);
