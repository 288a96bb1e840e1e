/* Trees that take git long to write, or that it would never write. */
#pragma once

#include "core/git/git.h"
#include "tests/support/test.h"

static inline git_odb *open_objects(const char *repository)
{
        git_repository *git;
        git_odb *odb;

        git_libgit2_init();
        ck_assert_int_eq(git_repository_open(&git, repository), 0);
        ck_assert_int_eq(git_repository_odb(&odb, git), 0);
        git_repository_free(git);
        return odb;
}

/* Writes a tree of n entries that all lead to `oid`, called `name` with a number of `digits` behind it, if any: also one that git would never write. */
static inline git_oid write_tree(git_odb *odb, const char *mode, const char *name, int digits, unsigned n, const git_oid *oid)
{
        cleanup_buffer struct buffer b = {0};
        git_oid ret;

        for (unsigned i = 0; i < n; i++) {
                buffer_addf(&b, "%s %s", mode, name);
                if (digits > 0)
                        buffer_addf(&b, "%0*u", digits, i);
                buffer_add(&b, "", 1);
                buffer_add(&b, oid->id, GIT_OID_RAWSZ);
        }
        ck_assert_int_eq(git_odb_write(&ret, odb, b.data ?: "", b.size, GIT_OBJECT_TREE), 0);
        return ret;
}

/* The tree below `depth` folders, each with n folders. */
static inline git_oid nest(git_odb *odb, int digits, unsigned n, unsigned depth, git_oid tree)
{
        for (unsigned i = 0; i < depth; i++)
                tree = write_tree(odb, "40000", "d", digits, n, &tree);
        return tree;
}
