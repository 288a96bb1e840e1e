/* An attempt at a build. Functions return 0 for a failed build, too: that is an answer, and `reason` says why. */
#pragma once

#include "core/build/attributes.h"
#include "core/build/build.h"
#include "core/build/worktree.h"

#define FILE_MAX (UINT64_C(16) << 30) /* the largest file that a build may write, and the limit on its whole scratch folder */

/* The state of a build; becomes its record. */
struct attempt {
        const struct build_request *request;
        const struct build_given *given; /* NULL: the sources are a commit's, and programs go into the store */
        struct worktree *worktree;
        struct sources sources; /* with `given`: only its `files` */
        struct buffer log;
        size_t heard; /* bytes of the log that the request's listener has */
        bool doubted; /* the failure may have come from outside */
        bool ccache; /* the compile cache is used */
        char shim[PATH_SIZE]; /* of this machine: build_tools.h */
        struct buffer watched; /* the files that its commands asked for: execute.h */
        bool is_watched;       /* the list is complete */
        int64_t began_ns;      /* since 1970 */
        char namespace[sizeof("CCACHE_NAMESPACE=") + DIGEST_HEX_SIZE];
        uint64_t waited_ns; /* for a core that others had */
        struct build_record made; /* reason NULL: no failure so far; its log is `log` */
};
void attempt_done(struct attempt *a);
#define cleanup_attempt cleanup(attempt_done)
/* Notes that the build has failed, with this reason. Returns 0. */
int attempt_fail(struct attempt *a, const char *format, ...) printf_like(2, 3);

/* -- attempt.c -- */

/* Builds in the attempt's worktree, with as many attempts as needed. */
int attempt_build(struct attempt *a, const git_oid *commit, struct build_record **ret);
/* Makes the record of an attempt that has ended; takes its log and outputs. */
int attempt_record(struct attempt *a, const git_oid *commit, struct build_record **ret);
/* Finds the shim. -ESTALE: given sources, and another toolchain than theirs. Call before the first attempt. */
int attempt_prepare_tools(struct attempt *a);
/* Makes the record of a build that failed by -EBADMSG, with the error's sentence as the reason: no machine could build that commit. */
int attempt_refuse(struct attempt *a, const git_oid *commit, struct build_record **ret);

/* -- attempt_command.c -- */

int attempt_run_command(struct attempt *a, size_t number);
/* Sends the request's listener the part of the log that it has not heard. */
void attempt_tell_log(struct attempt *a);

/* -- attempt_judge.c -- */

/* Judges the end of command `number`: sets reason and doubted if it failed. */
int attempt_judge(struct attempt *a, size_t number, const char *text, const struct execute_result *x);

/* -- attempt_output.c -- */

int attempt_put_outputs(struct attempt *a);
void build_outputs_free(struct build_output *list, size_t n);

/* -- used.c -- */

/* Makes the list of the files that it used (used.h), as they are now. Returns the path of one that was changed since the attempt began (to be freed),
 * or NULL. */
char *attempt_list_used(struct attempt *a);
