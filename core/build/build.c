/* A build: of a commit (here or on a cluster), of a released program, or of given sources. */
#include "core/build/attempt.h"

#include "core/build/binary.h"
#include "core/build/era.h"

/* A released program needs no checkout and no command. */
static int build_released(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        const struct recipe *era = a->request->recipe;
        int r;

        a->made.started = now_seconds();
        buffer_addf(&a->log, "(released binary: %s, sha256 %s)\n", era->file, era->sha256);
        r = binary_take(a->request, era, &a->made.outputs, &a->made.n_outputs, &a->made.reason);
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
                r = attempt_prepare_tools(&a) ?: worktree_take(request->work_dir, &worktree);
        return r < 0 ? r : attempt_build(&a, &none, ret);
}

/* -- on a cluster: the sources are found here, and the record made there is kept here -- */

static int digest_sources(struct sources *s, const struct progress *p)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->files.n; i++) {
                struct tracked *t = &s->files.list[i];
                cleanup_blob struct blob b = {0};

                if (i % 256 == 0)
                        r = progress_step(p, "reading sources", i, s->files.n);
                if (r == 0)
                        r = sources_content(s, t, &b);
                if (r == 0) {
                        digest_of(b.data ?: "", b.size, &t->content);
                        t->size = b.size;
                }
        }
        return r;
}

static int build_remote(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        const struct build_request *q = a->request;
        cleanup(build_record_unrefp) struct build_record *b = NULL;
        int r = digest_sources(&a->sources, q->progress);

        if (r == -EBADMSG)
                return attempt_refuse(a, commit, ret);
        attempt_tell_log(a);
        if (r == 0)
                r = q->remote->build(q->remote, q, &a->sources, &b);
        if (r < 0)
                return r;
        buffer_add(&a->log, b->log.data, b->log.size); /* the log of the sources precedes the builder's own */
        blob_done(&b->log);
        r = buffer_steal(&a->log, &b->log);
        if (r < 0)
                return r;
        b->commit = *commit;
        *ret = steal_pointer(b);
        return 0;
}

/* `root`: the commit that is checked out, with submodules. */
static int build_era(const struct build_request *request, const git_oid *commit, const git_oid *root, struct build_record **ret)
{
        cleanup(git_repository_freep) git_repository *git = NULL;
        cleanup_worktree struct worktree worktree = {.lock = -1};
        cleanup_attempt struct attempt a = {.request = request, .worktree = &worktree};
        int r = progress_step(request->progress, "checkout", 0, 0);

        buffer_add(&a.log, "", 0);
        if (r == 0)
                r = make_dirs(request->work_dir, 0700);
        if (r == 0 && request->recipe->file)
                return build_released(&a, commit, ret);
        if (r == 0)
                r = history_repository(request->history, &git);
        if (r == 0 && !request->remote)
                r = attempt_prepare_tools(&a);
        if (r == 0)
                r = sources_list(git, root, request->recipe->paths, request->recipe->submodules, &a.sources, &a.log);
        if (r == -EBADMSG)
                return attempt_refuse(&a, commit, ret);
        if (r == 0 && request->remote)
                return build_remote(&a, commit, ret);
        if (r == 0)
                r = worktree_take(request->work_dir, &worktree);
        return r < 0 ? r : attempt_build(&a, commit, ret);
}

int build(const struct build_request *request, struct build_record **ret)
{
        struct build_request q = *request;
        cleanup(recipe_unrefp) struct recipe *whole = NULL;
        char sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        git_oid root;
        int r = history_commit(q.history, q.commit, &c) ?: era_of(q.history, request->recipe, q.commit, &q.recipe);

        if (r < 0)
                return r;
        root = c.oid;
        if (q.recipe->within && !q.recipe->file) {
                const char *host = recipe_submodule(q.recipe->within).commit;

                if (!history_holds(q.history, host))
                        return errorf(-EIO, "commit %s, which %s is built within, is not in the store: 'solverfs solver update %s' gets it", host,
                                      request->recipe->name, request->recipe->name);
                oid_parse(host, &root);
                q.recipe = whole = recipe_within_host(q.recipe, oid_print(sha, sizeof(sha), &c.oid));
        }
        return build_era(&q, &c.oid, &root, ret);
}
