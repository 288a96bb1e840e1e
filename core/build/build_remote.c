/* A build that a cluster does: its sources are found here, and the record made there is kept here. */
#include "core/build/attempt.h"

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

int build_remote(struct attempt *a, const git_oid *commit, struct build_record **ret)
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
        buffer_add(&a->log, b->log.data, b->log.size); /* the log of the sources comes before the builder's own */
        blob_done(&b->log);
        r = buffer_steal(&a->log, &b->log);
        if (r < 0)
                return r;
        b->commit = *commit;
        *ret = steal_pointer(b);
        return 0;
}
