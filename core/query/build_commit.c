/* Builds a commit, here or on the cluster where its solver is built. */
#include "cache/base/lock.h"
#include "core/build/era.h"
#include "core/build/live_log.h"
#include "core/query/query_internal.h"

struct remote_build {
        struct build_remote remote; /* first */
        const struct solver *solver;
        struct cluster_slot *slot;
        const struct digest *key;
};

/* Builds on the worker if it has the toolchain that the build's key was made with. The key is made again with the worker's toolchain, which the store
 * learns if need be. If it is another one, whoever asks again gets that. (The request's recipe does not do: it is of the commit's era and host.) */
static int build_remotely(struct build_remote *b, const struct build_request *q, struct sources *sources, struct build_record **ret)
{
        struct remote_build *p = (struct remote_build *)b;
        struct worker_pool *pool = p->solver->builder;
        const char *now = cluster_slot_toolchain(p->slot);
        struct digest key;
        char known[65];
        int r;

        pool_toolchain(pool, known);
        r = (strcmp(known, now) == 0 ? 0 : pool_note_toolchain(pool, now)) ?: build_key(q->history, q->commit, p->solver->recipe, &key);
        if (r == 0 && digest_equal(&key, p->key))
                return cluster_build(p->slot, q, sources, ret);
        return r < 0 ? r
                     : errorf(-EIO, "the compilers or build tools of the workers of %s were changed since this build was asked for: ask again",
                              pool->name);
}

int build_commit(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *key, bool again, struct job *j,
                 struct build_record **ret)
{
        const struct settings *settings = workspace_settings(w);
        cleanup_free char *work = format_string("%s/work/%s", workspace_dir(w), s->repository);
        /* one for each repository, or a hostile one could leave objects there for another's sources */
        cleanup_free char *ccache = format_string("%s/work/ccache/%s", workspace_dir(w), s->repository);
        cleanup_free char *downloads = format_string("%s/downloads", workspace_dir(w));
        cleanup_live_log struct live_log live = {.fd = -1};
        struct core_loan loans[ENGINE_SLOTS_MAX];
        cleanup_close int held = -1;
        /* a released binary is taken from the store here, wherever the solver is built */
        struct worker_pool *builder = era_or_solver(s->history, s->recipe, commit)->file ? NULL : s->builder;
        struct remote_build remote = {.remote = {.build = build_remotely}, .solver = s, .slot = job_remote(j), .key = key};
        struct build_request request;
        int r;

        if (builder && !remote.slot)
                return errorf(-ENOTSUP, "builds of %s are done at %s, and this needs one here: say builds = local in the store's config", s->recipe->name,
                              builder->name);
        r = make_dirs(work, 0700);
        if (r == 0 && settings->ccache) {
                r = lock_wait(workspace_dir(w), "ccache.lock", LOCK_SHARED, &held); /* gc leaves the cache alone meanwhile */
                if (r == 0)
                        r = make_dirs(ccache, 0700);
        }
        if (r < 0)
                return r;
        live_log_begin(&live, workspace_dir(w), key);
        request = (struct build_request){
                .programs = workspace_programs(w),
                .history = s->history,
                .commit = commit,
                .recipe = s->recipe,
                .work_dir = work,
                .downloads_dir = downloads,
                .ccache_dir = settings->ccache ? ccache : NULL,
                .sandbox = settings->sandbox,
                .jobs = job_n_slots(j),
                .cpus = job_cpus(j),
                .loans = loans,
                .n_loans = builder ? 0 : job_loans(j, loans),
                .slot = job_slot(j),
                .again = again,
                .cancel_fd = job_cancel_fd(j),
                .progress = job_progress(j),
                .listener = &live.listener,
                .remote = builder ? &remote.remote : NULL,
        };
        r = build(&request, ret);
        if (r < 0)
                live_log_say_lost(&live, error_message(r));
        return r;
}
