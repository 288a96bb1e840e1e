#include "core/study/campaign/campaign_internal.h"

#include <fts.h>

#include "cache/base/hash.h"

#define SEED_SIZE_MAX (64u << 20)

static int compare_names(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_smt(const char *name)
{
        size_t n = strlen(name);

        return (n > 5 && strcmp(name + n - 5, ".smt2") == 0) || (n > 4 && strcmp(name + n - 4, ".smt") == 0);
}

/* Adds a file, or says why it cannot be used. */
static int read_seed(struct campaign *c, const char *path, const char *name)
{
        struct corpus *to = &c->corpus;
        cleanup_blob struct blob b = {0};
        int r;

        list_grow(to->list, to->n);
        list_grow(to->names, to->n);
        to->list[to->n] = (struct formula){0};
        r = read_file(path, SEED_SIZE_MAX, &b);
        if (r == 0)
                r = script_read(SLICE(b.data, b.size), &(struct script_options){.name = path, .dialect = DIALECT_2_6}, &to->list[to->n].script);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                campaign_say(c, "left out: %s", error_message(r));
                c->status.skipped++;
                return 0;
        }
        to->hash = to->hash * 31 + hash_quick(b.data, b.size);
        to->names[to->n++] = copy_string(name + strspn(name, "/"));
        return 0;
}

int corpus_read(struct campaign *c)
{
        const char *dir = c->settings->corpus;
        char *const roots[] = {(char *)dir, NULL};
        FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
        FTSENT *f;
        int r = 0;

        if (!walk)
                return errorf(-errno, "cannot read the corpus %s: %s", dir, strerror(errno));
        while (r == 0 && (f = fts_read(walk))) {
                bool is_error = f->fts_info == FTS_ERR || f->fts_info == FTS_NS || f->fts_info == FTS_DNR;

                if (is_error && f->fts_level == 0)
                        r = errorf(-f->fts_errno, "cannot read the corpus %s: %s", dir, strerror(f->fts_errno));
                else if (f->fts_info == FTS_F && is_smt(f->fts_name))
                        r = read_seed(c, f->fts_path, f->fts_path + strlen(dir));
        }
        fts_close(walk);
        return r == 0 && c->corpus.n == 0 ? errorf(-ENODATA, "the corpus %s has no input (*.smt2) that can be used", dir) : r;
}

void corpus_done(struct corpus *c)
{
        for (size_t i = 0; i < c->n; i++) {
                formula_done(&c->list[i]);
                free(c->names[i]);
        }
        free(c->list);
        free(c->names);
}
