#include "core/build/era.h"

/* A range with its revisions looked up. */
struct span {
        uint32_t from, to; /* COMMIT_NONE: unbounded; for a binary both are its commit */
        bool is_commit;
};

static int find_end(struct history *h, const struct recipe *era, const char *revision, uint32_t *ret)
{
        int r = history_resolve(h, revision, ret);

        if (r == -ENOENT || r == -EINVAL || r == -ENOTUNIQ)
                return errorf(-EIO, "[%s \"%s\"] of the recipe of %s: %s", era->file ? "binary" : "era", era->range, era->name,
                              error_message(r));
        return r;
}

static int span_find(struct history *h, const struct recipe *era, struct span *ret)
{
        char from[RECIPE_REVISION_SIZE], to[RECIPE_REVISION_SIZE];
        int r;

        *ret = (struct span){.from = COMMIT_NONE, .to = COMMIT_NONE, .is_commit = era->file != NULL};
        if (ret->is_commit)
                return find_end(h, era, era->range, &ret->from);
        r = recipe_range(era->range, from, to);
        if (r == 0 && *from)
                r = find_end(h, era, from, &ret->from);
        return r == 0 && *to ? find_end(h, era, to, &ret->to) : r;
}

/* COMMIT_NONE is in no era. */
static int span_holds(struct history *h, const struct span *s, uint32_t commit, bool *ret)
{
        bool is_after = false;
        int r = 0;

        *ret = commit != COMMIT_NONE && (!s->is_commit || commit == s->from);
        if (s->is_commit || !*ret)
                return 0;
        if (s->from != COMMIT_NONE)
                r = history_descends(h, commit, s->from, ret);
        if (r == 0 && *ret && s->to != COMMIT_NONE && commit != s->to)
                r = history_descends(h, commit, s->to, &is_after);
        *ret = *ret && !is_after;
        return r;
}

int era_of(struct history *h, const struct recipe *r, uint32_t commit, const struct recipe **ret)
{
        *ret = r;
        for (size_t i = 0; i < r->n_eras && *ret == r; i++) {
                struct span s;
                bool holds;
                int e = span_find(h, r->eras[i], &s);

                if (e == 0)
                        e = span_holds(h, &s, commit, &holds);
                if (e < 0)
                        return e;
                if (holds)
                        *ret = r->eras[i];
        }
        return 0;
}

const struct recipe *era_or_solver(struct history *h, const struct recipe *r, uint32_t commit)
{
        const struct recipe *era;

        return era_of(h, r, commit, &era) < 0 ? r : era;
}

/* Notes the era's number for each commit that it holds and no earlier era does. */
static int mark(struct history *h, const struct span *s, uint32_t era, uint32_t n, uint32_t *list)
{
        int r = 0;

        for (uint32_t i = 0; r == 0 && i < n; i++) {
                bool holds = false;

                if (list[i] == 0)
                        r = span_holds(h, s, i, &holds);
                if (holds)
                        list[i] = era;
        }
        return r;
}

int eras_of_all(struct history *h, const struct recipe *r, uint32_t n, uint32_t **ret)
{
        cleanup_free uint32_t *list = allocate((size_t)n + 1, sizeof(*list));
        int e = 0;

        for (size_t i = 0; e == 0 && i < r->n_eras; i++) {
                struct span s;

                e = span_find(h, r->eras[i], &s);
                if (e == 0)
                        e = mark(h, &s, (uint32_t)i + 1, n, list);
        }
        if (e == 0)
                *ret = steal_pointer(list);
        return e;
}
