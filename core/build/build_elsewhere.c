/* A build that is done elsewhere: its sources are found here, and the record made there is kept here. */
#include "core/build/attempt.h"

int build_sources_read(const struct build_sources *s, size_t i, struct blob *ret)
{
        return checkout_content(s->git, s->attributes, &s->files.list[i], ret);
}

static int digest_sources(struct build_sources *s, const struct progress *p)
{
        int r = 0;

        s->sizes = calloc(s->files.n + 1, sizeof(*s->sizes));
        if (!s->sizes)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < s->files.n; i++) {
                cleanup_blob struct blob b = {0};

                if (i % 256 == 0)
                        r = progress_step(p, "reading sources", i, s->files.n);
                if (r == 0)
                        r = build_sources_read(s, i, &b);
                if (r == 0) {
                        digest_of(b.data ?: "", b.size, &s->files.list[i].content);
                        s->sizes[i] = b.size;
                }
        }
        return r;
}

static int list_for_elsewhere(struct attempt *a, git_repository *git, const git_oid *commit, struct build_sources *ret)
{
        const struct recipe *recipe = a->request->recipe;
        int r = checkout_list(git, commit, recipe->paths, recipe->submodules, &ret->files, &a->log);

        ret->git = git;
        if (r == 0)
                r = attributes_open(git, commit, recipe->paths, &ret->attributes);
        return r == 0 ? digest_sources(ret, a->request->progress) : r;
}

static void sources_done(struct build_sources *s)
{
        manifest_done(&s->files);
        attributes_free(s->attributes);
        free(s->sizes);
}

/* The log of the sources comes before the builder's own. */
static int join_log(struct attempt *a, struct build_record *b)
{
        buffer_add(&a->log, b->log.data, b->log.size);
        blob_done(&b->log);
        b->log = (struct blob){0};
        return buffer_steal(&a->log, &b->log);
}

int build_elsewhere(struct attempt *a, git_repository *git, const git_oid *commit, struct build_record **ret)
{
        const struct build_request *q = a->request;
        cleanup(sources_done) struct build_sources sources = {0};
        cleanup(build_record_unrefp) struct build_record *b = NULL;
        int r = list_for_elsewhere(a, git, commit, &sources);

        if (r == -EBADMSG)
                return attempt_refuse(a, commit, ret);
        attempt_tell_log(a);
        if (r == 0)
                r = q->away->build(q->away, q, &sources, &b);
        if (r == 0)
                r = join_log(a, b);
        if (r < 0)
                return r;
        b->commit = *commit;
        *ret = steal_pointer(b);
        return 0;
}
