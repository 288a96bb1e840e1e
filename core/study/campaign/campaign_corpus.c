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

/* 1: it cannot be used, which was said. */
static int read_seed(const char *path, void (*say)(void *user, const char *line), void *user, struct corpus *into, struct script **ret)
{
        cleanup_blob struct blob b = {0};
        char line[PATH_SIZE + 512];
        int r = read_file(path, SEED_SIZE_MAX, &b);

        if (r == 0)
                r = script_read(SLICE(b.data, b.size), &(struct script_options){.name = path, .dialect = DIALECT_2_6}, ret);
        if (r == -ENOMEM)
                return r;
        if (r == 0) {
                into->hash = into->hash * 31 + hash_quick(b.data, b.size);
                return 0;
        }
        snprintf(line, sizeof(line), "left out: %s", error_message(r));
        say(user, line);
        return 1;
}

static size_t root_length(const char *dir, const char *path)
{
        size_t n = strlen(dir);

        while (path[n] == '/')
                n++;
        return n;
}

int corpus_read(const char *dir, void (*say)(void *user, const char *line), void *user, struct corpus *ret)
{
        char *const roots[] = {(char *)dir, NULL};
        FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
        FTSENT *f;
        int r = 0;

        if (!walk)
                return errorf(-errno, "cannot read the corpus %s: %s", dir, strerror(errno));
        while (r >= 0 && (f = fts_read(walk))) {
                if (f->fts_info == FTS_ERR || f->fts_info == FTS_NS || f->fts_info == FTS_DNR) {
                        if (f->fts_level == 0)
                                r = errorf(-f->fts_errno, "cannot read the corpus %s: %s", dir, strerror(f->fts_errno));
                        continue;
                }
                if (f->fts_info != FTS_F || !is_smt(f->fts_name))
                        continue;
                if (list_grow(ret->list, ret->n) < 0 || list_grow(ret->names, ret->n) < 0) {
                        r = -ENOMEM;
                        break;
                }
                r = read_seed(f->fts_path, say, user, ret, &ret->list[ret->n]);
                if (r == 0) {
                        ret->names[ret->n] = strdup(f->fts_path + root_length(dir, f->fts_path));
                        r = ret->names[ret->n++] ? 0 : -ENOMEM;
                } else if (r == 1)
                        ret->skipped++;
        }
        fts_close(walk);
        if (r >= 0 && ret->n == 0)
                return errorf(-ENODATA, "the corpus %s has no input (*.smt2) that can be used", dir);
        return r < 0 ? r : 0;
}

void corpus_done(struct corpus *c)
{
        for (size_t i = 0; i < c->n; i++) {
                script_free(c->list[i]);
                free(c->names[i]);
        }
        free(c->list);
        free(c->names);
        *c = (struct corpus){0};
}
