/* Shared by all users of libgit2: initialization, errors as sentences, cleanup attributes.
 *
 * Ownership. libgit2 refuses repositories of other users, because git runs commands of a repository's configuration (hooks, filters, an ssh
 * command). libgit2 runs no hook, no filter as we never check out through one, and an ssh command, if built so, only of the repository that
 * fetches, which is the store's own. So the refusal is switched off, and a repository needs only to be readable. Nothing from a
 * repository runs outside the sandbox. */
#pragma once

#include <git2.h>
#if __has_include(<git2/sys/errors.h>) /* since libgit2 1.8 */
#include <git2/sys/errors.h>
#endif

#include "core/git/oid.h"

/* Call before using libgit2 in any function that may be the first to use it; cheap afterwards. Thread-safe. */
void git_begin(void);
/* Never called: a program that defines it loads and initializes libgit2 at its first call of libgit2 (tools/delayed.h), which may never come. */
bool git_begins_by_itself(void) __attribute__((weak));
void git_begin_unless_delayed(void); /* for what may need libgit2 later: git_begin(), or nothing in such a program */
/* libgit2's last error message on this thread. */
const char *git_error_text(void);
/* Our -errno for an error of libgit2, by its code, class and message; 0 stays 0. */
int git_errno(int r);

DEFINE_CLEANUP(git_repository *, git_repository_free)
DEFINE_CLEANUP(git_commit *, git_commit_free)
DEFINE_CLEANUP(git_tree *, git_tree_free)
DEFINE_CLEANUP(git_tree_entry *, git_tree_entry_free)
DEFINE_CLEANUP(git_blob *, git_blob_free)
DEFINE_CLEANUP(git_object *, git_object_free)
DEFINE_CLEANUP(git_reference *, git_reference_free)
DEFINE_CLEANUP(git_reference_iterator *, git_reference_iterator_free)
DEFINE_CLEANUP(git_remote *, git_remote_free)
DEFINE_CLEANUP(git_revwalk *, git_revwalk_free)
DEFINE_CLEANUP(git_odb *, git_odb_free)
DEFINE_CLEANUP(git_diff *, git_diff_free)
DEFINE_CLEANUP(git_patch *, git_patch_free)
DEFINE_CLEANUP(git_index *, git_index_free)
DEFINE_CLEANUP(git_signature *, git_signature_free)
DEFINE_CLEANUP(git_status_list *, git_status_list_free)
DEFINE_CLEANUP(git_submodule *, git_submodule_free)
DEFINE_CLEANUP(git_config *, git_config_free)

#define cleanup_git_repository  cleanup(git_repository_freep)
#define cleanup_git_commit      cleanup(git_commit_freep)
#define cleanup_git_tree        cleanup(git_tree_freep)
#define cleanup_git_tree_entry  cleanup(git_tree_entry_freep)
#define cleanup_git_blob        cleanup(git_blob_freep)
#define cleanup_git_object      cleanup(git_object_freep)
#define cleanup_git_reference   cleanup(git_reference_freep)
#define cleanup_git_references  cleanup(git_reference_iterator_freep)
#define cleanup_git_remote      cleanup(git_remote_freep)
#define cleanup_git_revwalk     cleanup(git_revwalk_freep)
#define cleanup_git_odb         cleanup(git_odb_freep)
#define cleanup_git_diff        cleanup(git_diff_freep)
#define cleanup_git_patch       cleanup(git_patch_freep)
#define cleanup_git_index       cleanup(git_index_freep)
#define cleanup_git_signature   cleanup(git_signature_freep)
#define cleanup_git_status      cleanup(git_status_list_freep)
#define cleanup_git_submodule   cleanup(git_submodule_freep)
#define cleanup_git_config      cleanup(git_config_freep)
