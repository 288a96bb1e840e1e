/* A build: of a commit, here or on a cluster, of a released program, of sources that are given. */
#include "core/build/attempt.h"

#include "core/build/binary.h"
#include "core/build/era.h"

/* A released program: nothing is checked out and nothing is run. */
static int build_released(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        const struct recipe *era = a->request->recipe;
        int r;

        a->started = now_seconds();
        buffer_addf(&a->log, "(released binary: %s, sha256 %s)\n", era->file, era->sha256);
        r = binary_take(a->request, era, &a->outputs, &a->n_outputs, &a->reason);
        return r < 0 ? r : attempt_record(a, commit, ret);
}

int build_given(const struct build_request *request, struct build_given *given, struct build_record **ret)
{
        static const git_oid none;
        cleanup_worktree struct worktree worktree = {.lock = -1};
        cleanup_attempt struct attempt a = {.request = request, .given = given, .worktree = &worktree, .sources = {.files = given->files}};
        int r = make_dirs(request->work_dir, 0700);

        given->files = (struct manifest){0};
        buffer_add(&a.log, "", 0);
        if (r == 0)
                r = attempt_prepare_tools(&a);
        if (r == 0)
                r = worktree_take(request->work_dir, &worktree);
        return r < 0 ? r : attempt_build(&a, &none, ret);
}

static int build_era(const struct build_request *request, struct build_record **ret)
{
        cleanup(git_repository_freep) git_repository *git = NULL;
        cleanup_worktree struct worktree worktree = {.lock = -1};
        cleanup_attempt struct attempt a = {.request = request, .worktree = &worktree};
        struct commit c;
        int r = history_commit(request->history, request->commit, &c);

        buffer_add(&a.log, "", 0);
        if (r == 0)
                r = progress_step(request->progress, "checkout", 0, 0);
        if (r == 0)
                r = make_dirs(request->work_dir, 0700);
        if (r == 0 && request->recipe->file)
                return build_released(&a, &c.oid, ret);
        if (r == 0)
                r = history_repository(request->history, &git);
        if (r == 0 && !request->remote)
                r = attempt_prepare_tools(&a);
        if (r == 0)
                r = sources_list(git, &c.oid, request->recipe->paths, request->recipe->submodules, &a.sources, &a.log);
        if (r == -EBADMSG)
                return attempt_refuse(&a, &c.oid, ret);
        if (r == 0 && request->remote)
                return build_remote(&a, &c.oid, ret);
        if (r == 0)
                r = worktree_take(request->work_dir, &worktree);
        return r < 0 ? r : attempt_build(&a, &c.oid, ret);
}

int build(const struct build_request *request, struct build_record **ret)
{
        struct build_request q = *request;
        int r = era_of(q.history, request->recipe, q.commit, &q.recipe);

        return r < 0 ? r : build_era(&q, ret);
}
