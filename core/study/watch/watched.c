/* Finds the branches of a solver that moved since a watch looked at them. The store has the commit at which a watch saw each branch; a stretch is the
 * commits from there, or from where a new branch left a line that was seen, to the head. */
#include "core/study/watch/watching.h"

#include <fnmatch.h>
#include <jansson.h>

#include "cache/base/record.h"
#include "core/workspace/select.h"

void watched_stretches_done(struct watched_stretches *s)
{
        for (size_t i = 0; i < s->n; i++) {
                free(s->list[i].branch);
                free(s->list[i].fresh);
        }
        free(s->list);
        *s = (struct watched_stretches){0};
}

/* -- branches -- */

static bool has_patterns(const struct watched *of)
{
        return of->patterns && *of->patterns;
}

/* In TABLE_ALARMS, of a watch of all cases and branches: 'b' solver(4) digest of the branch's name; of another watch 'w' solver(4) digest of its set and
 * patterns, digest of the branch's name. Its value is a struct watched_branch as JSON. `name` NULL: the prefix of all branches. */
static void branch_key(const struct watched *of, uint32_t solver, const char *name, struct buffer *key)
{
        struct digest digest;
        bool is_whole = !of->set && !has_patterns(of);

        record_put_u8(key, is_whole ? 'b' : 'w');
        record_put_u32(key, solver);
        if (!is_whole) {
                struct hasher *h = hasher_new();

                hasher_string(h, of->set);
                for (char *const *p = of->patterns; p && *p; p++)
                        hasher_string(h, *p);
                hasher_finish(h, &digest);
                buffer_add(key, digest.bytes, DIGEST_SIZE);
        }
        if (!name)
                return;
        digest_of(name, strlen(name), &digest);
        buffer_add(key, digest.bytes, DIGEST_SIZE);
}

/* 1: there is a branch of such a watch; 0: none. */
static int watched_before(struct workspace *w, const struct watched *of, uint32_t solver)
{
        cleanup_buffer struct buffer prefix = {0};
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_ALARMS, .keys_only = true};

        branch_key(of, solver, NULL, &prefix);
        each.prefix = SLICE(prefix.data, prefix.size);
        return store_walk(&each);
}

/* `name`, for the error's sentence, may be NULL. */
static int parse_branch(struct slice text, const char *name, struct watched_branch *ret)
{
        const char *seen = NULL, *base = "";
        json_t *j = json_loadb(text.data, text.size, 0, NULL);
        int is_open = 0, r = 0;

        *ret = (struct watched_branch){0};
        if (json_unpack(j, "{ss s?s s?b}", "seen", &seen, "base", &base, "open", &is_open) < 0 ||
            oid_parse(seen, &ret->seen) < 0 || (*base && oid_parse(base, &ret->base) < 0))
                r = errorf(-EIO, "what a watch has seen of %s%s is damaged", name ? "the branch " : "a branch", name ?: "");
        ret->is_open = is_open;
        json_decref(j);
        return r;
}

static int get_branch(struct workspace *w, const struct watched *of, uint32_t solver, const char *name, struct watched_branch *ret)
{
        cleanup_buffer struct buffer key = {0};
        cleanup_blob struct blob b = {0};

        branch_key(of, solver, name, &key);
        return store_fetch(workspace_store(w), TABLE_ALARMS, SLICE(key.data, key.size), &b)
            ?: parse_branch(SLICE(b.data, b.size), name, ret);
}

static int put_branch(struct store_txn *t, const struct watched *of, uint32_t solver, const char *name, const struct watched_branch *b)
{
        cleanup_buffer struct buffer key = {0};
        cleanup_free char *text = NULL;
        char seen[GIT_OID_HEXSZ + 1], base[GIT_OID_HEXSZ + 1] = "";
        json_t *j;

        oid_print(seen, sizeof(seen), &b->seen);
        if (!oid_is_zero(&b->base))
                oid_print(base, sizeof(base), &b->base);
        branch_key(of, solver, name, &key);
        j = json_pack("{ss ss sb}", "seen", seen, "base", base, "open", (int)b->is_open);
        text = json_dumps(j, JSON_COMPACT);
        json_decref(j);
        return store_put(t, TABLE_ALARMS, SLICE(key.data, key.size), slice_string(text));
}

/* -- finding the branches that moved ------------------------------------------------------------------------------------------------------- */

struct branch_search {
        struct workspace *workspace;
        struct solver *solver;
        const struct watched *of;
        struct ref_list *refs;
        struct watched_stretches *found;
        bool *seen; /* [commits] on a line that was seen; NULL until a branch is new */
        uint32_t n_seen;
};

static bool is_wanted(const struct branch_search *l, const char *branch)
{
        for (char *const *p = l->of->patterns; p && *p; p++)
                if (fnmatch(*p, branch, 0) == 0)
                        return true;
        return !has_patterns(l->of);
}

/* Marks the commits of every line that was seen, also of branches that are gone or renamed; once. */
static int mark_seen(struct branch_search *l)
{
        cleanup_buffer struct buffer prefix = {0};
        cleanup_walk struct store_walk each = {.store = workspace_store(l->workspace), .table = TABLE_ALARMS};
        struct history *h = l->solver->history;
        int r;

        if (l->seen)
                return 0;
        l->n_seen = history_count(h);
        l->seen = allocate(l->n_seen, sizeof(*l->seen));
        branch_key(l->of, l->solver->number, NULL, &prefix);
        each.prefix = SLICE(prefix.data, prefix.size);
        while ((r = store_walk(&each)) > 0) {
                cleanup_free uint32_t *line = NULL;
                struct watched_branch b;
                uint32_t commit;
                size_t n = 0;

                r = parse_branch(each.value, NULL, &b) ?: history_number(h, &b.seen, &commit);
                if (r == 0 && commit < l->n_seen && !l->seen[commit])
                        r = history_line(h, commit, &line, &n);
                if (r < 0 && r != -ENOENT)
                        return r;
                for (size_t k = 0; k < n; k++)
                        if (line[k] < l->n_seen)
                                l->seen[line[k]] = true;
        }
        return r;
}

/* The stretch of a new branch: its commits since it left a line that was seen. */
static int stretch_of_new(struct branch_search *l, struct watched_stretch *s)
{
        size_t n, from;
        int r = mark_seen(l) ?: history_line(l->solver->history, s->head, &s->fresh, &n);

        if (r < 0)
                return r;
        for (from = n; from > 0 && (s->fresh[from - 1] >= l->n_seen || !l->seen[s->fresh[from - 1]]); from--)
                ;
        if (from > 0)
                s->known[s->n_known++] = s->fresh[from - 1];
        memmove(s->fresh, s->fresh + from, (n - from) * sizeof(*s->fresh));
        s->n_fresh = n - from;
        return 0;
}

/* After a forced push the head does not descend from the commit that was seen: then it is compared with the commit at which the two lines part. */
static int set_known(struct branch_search *l, struct watched_stretch *s, uint32_t base, uint32_t seen)
{
        struct commit first;
        int r = history_commit(l->solver->history, s->fresh[0], &first);

        if (r < 0)
                return r;
        if (first.first_parent != seen) {
                if (first.first_parent != COMMIT_NONE)
                        s->known[s->n_known++] = first.first_parent;
                return 0;
        }
        if (base != COMMIT_NONE)
                s->known[s->n_known++] = base;
        if (seen != base)
                s->known[s->n_known++] = seen;
        return 0;
}

/* The stretch of a branch seen before: the commits since then on the head's line; none if the branch is now at an older commit. */
static int stretch_of_moved(struct branch_search *l, struct watched_stretch *s)
{
        cleanup_revisions struct revisions range = {0};
        struct history *h = l->solver->history;
        uint32_t seen, base = COMMIT_NONE;
        int r = history_number(h, &s->state.seen, &seen);

        if (r == 0 && !oid_is_zero(&s->state.base))
                r = history_number(h, &s->state.base, &base);
        if (r == -ENOENT)
                return stretch_of_new(l, s); /* the index was rebuilt without the commit */
        if (r == 0)
                r = revision_range(l->solver, seen, s->head, &range);
        if (r < 0)
                return r;
        s->fresh = steal_pointer(range.list);
        s->n_fresh = range.n;
        s->was_rewound = range.n == 0;
        return s->was_rewound ? 0 : set_known(l, s, base, seen);
}

/* The stretch is the head alone where the watch begins: with the branch (is_open), or with another history, of which all commits down to one without
 * parents are fresh. */
static int set_begins(const struct branch_search *l, struct watched_stretch *s)
{
        struct commit oldest;
        int r = history_commit(l->solver->history, s->fresh[0], &oldest);

        s->begins = s->state.is_open || (r == 0 && oldest.first_parent == COMMIT_NONE);
        if (!s->begins)
                return r;
        s->fresh[0] = s->head;
        s->n_fresh = 1;
        s->state.base = (git_oid){0};
        return 0;
}

/* Adds the stretch of a branch, if it moved or is still to be measured. */
static int add_stretch(struct branch_search *l, const struct ref *ref)
{
        struct watched_stretch s = {.head = ref->commit};
        struct commit c;
        int r = history_commit(l->solver->history, ref->commit, &c), state;

        if (r < 0)
                return r;
        state = get_branch(l->workspace, l->of, l->solver->number, ref->name, &s.state);
        if (state < 0 && state != -ENOENT)
                return state;
        if (state == 0 && oid_equal(&s.state.seen, &c.oid) && !s.state.is_open)
                return 0;
        if (is_wanted(l, ref->name) && state == 0 && s.state.is_open) {
                s.fresh = allocate(1, sizeof(*s.fresh));
                s.fresh[s.n_fresh++] = s.head;
        } else if (is_wanted(l, ref->name)) {
                r = state == -ENOENT ? stretch_of_new(l, &s) : stretch_of_moved(l, &s);
        }
        if (r == 0 && s.n_fresh > 0)
                r = set_begins(l, &s);
        if (r < 0) {
                free(s.fresh);
                return r;
        }
        s.branch = copy_string(ref->name);
        list_add(l->found->list, l->found->n, s);
        return 0;
}

/* The watch begins with the head of the default branch, or with the heads of the branches that were asked for; the heads of the others are noted as seen.
 * All in one transaction: a killed watch has either begun or not. */
static int begin(const struct branch_search *l)
{
        cleanup_free struct watched_branch *list = allocate(l->refs->n, sizeof(*list)); /* of each ref */
        struct store_update u = {.store = workspace_store(l->workspace)};
        bool has_default = false;

        for (size_t i = 0; u.r == 0 && i < l->refs->n; i++) {
                const struct ref *ref = &l->refs->list[i];
                bool is_default = ref->commit == l->refs->head && !has_default;
                struct commit c;

                if (ref->kind != REF_BRANCH)
                        continue;
                u.r = history_commit(l->solver->history, ref->commit, &c);
                has_default |= is_default;
                list[i] = (struct watched_branch){.seen = c.oid, .is_open = has_patterns(l->of) ? is_wanted(l, ref->name) : is_default};
        }
        while (store_update_begins(&u))
                for (size_t i = 0; u.r == 0 && i < l->refs->n; i++)
                        if (l->refs->list[i].kind == REF_BRANCH)
                                u.r = put_branch(u.txn, l->of, l->solver->number, l->refs->list[i].name, &list[i]);
        return u.r;
}

struct heads {
        struct history *history;
        uint32_t of_default;
};

/* An alarm is told as the first branch's, so one that was seen before precedes a new one that begins on it, and the default branch precedes others. */
static int compare_heads(const void *a, const void *b, void *user)
{
        const struct watched_stretch *x = a, *y = b;
        const struct heads *h = user;
        const bool is_new[2] = {oid_is_zero(&x->state.seen), oid_is_zero(&y->state.seen)};
        const bool is_default[2] = {x->head == h->of_default, y->head == h->of_default};
        struct commit of[2] = {0};

        history_commit(h->history, x->head, &of[0]);
        history_commit(h->history, y->head, &of[1]);
        return ORDER(is_new[0], is_new[1])
            ?: ORDER(is_default[1], is_default[0])
            ?: ORDER(of[1].committed, of[0].committed)
            ?: strcmp(x->branch, y->branch);
}

int watched_stretches(struct workspace *w, struct solver *s, const struct watched *of, struct watched_stretches *ret)
{
        cleanup(ref_list_unrefp) struct ref_list *refs = NULL;
        struct branch_search l = {.workspace = w, .solver = s, .of = of, .found = ret};
        int r = history_refs(s->history, &refs);

        *ret = (struct watched_stretches){0};
        l.refs = refs;
        if (r == 0)
                r = watched_before(w, of, s->number);
        r = r == 0 ? begin(&l) : MIN(r, 0);
        for (size_t i = 0; r == 0 && i < refs->n; i++) {
                if (refs->list[i].kind != REF_BRANCH)
                        continue;
                ret->n_matching += is_wanted(&l, refs->list[i].name);
                r = add_stretch(&l, &refs->list[i]);
        }
        free(l.seen);
        if (r == 0 && ret->n > 0)
                qsort_r(ret->list, ret->n, sizeof(*ret->list), compare_heads, &(struct heads){s->history, refs->head});
        return r;
}

int watched_stretch_done(struct workspace *w, struct solver *s, const struct watched *of, const struct watched_stretch *stretch, uint32_t base)
{
        struct store_update u = {.store = workspace_store(w)};
        struct watched_branch b = {0};
        struct commit c = {0};

        u.r = history_commit(s->history, stretch->head, &c);
        b.seen = c.oid;
        if (!stretch->was_rewound)
                b.base = stretch->state.base;
        if (u.r == 0 && base != COMMIT_NONE) {
                u.r = history_commit(s->history, base, &c);
                b.base = c.oid;
        }
        while (store_update_begins(&u))
                u.r = put_branch(u.txn, of, s->number, stretch->branch, &b);
        return u.r;
}
