#include "core/query/incremental.h"

#include "core/query/query_internal.h"

#define PREFIX  "incremental/"
#define REVOKED "revoked/"

/* "incremental/<repository>/<digest of the build's recipe>/<what>" */
static void make_key(const struct solver *s, const char *what, char ret[256])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        recipe_builds_digest(s->recipe, &d);
        digest_hex(&d, hex);
        snprintf(ret, 256, PREFIX "%s/%.16s/%s", s->repository, hex, what);
}

static uint64_t number(struct workspace *w, const struct solver *s, const char *what)
{
        char key[256];

        make_key(s, what, key);
        return meta_number(w, key);
}

static int number_put(struct store_txn *t, const struct solver *s, const char *what, uint64_t n)
{
        char key[256];

        make_key(s, what, key);
        return meta_number_put(t, key, n);
}

/* Read by people: by the name of the solver, whatever its recipe is by then. */
static void revoked_key(const struct solver *s, char ret[256])
{
        snprintf(ret, 256, PREFIX REVOKED "%s", s->repository);
}

enum { PROOF_NONE, PROOF_GOOD, PROOF_BAD };

enum incremental_state incremental_state(struct workspace *w, const struct solver *s)
{
        if (!s->recipe->incremental)
                return INCREMENTAL_OFF;
        switch (number(w, s, "proof")) {
        case PROOF_GOOD:
                return INCREMENTAL_ON;
        case PROOF_BAD:
                return INCREMENTAL_REVOKED;
        default:
                return INCREMENTAL_UNPROVED;
        }
}

/* -- proofs ----------------------------------------------------------------------------------------------------- */

struct proof {
        const struct solver *solver;
        uint64_t proof, pairs;
        const char *what; /* NULL: takes the line away */
};

static int proof_put(void *user, struct store_txn *t)
{
        struct proof *p = user;
        char key[256];
        int r = number_put(t, p->solver, "proof", p->proof);

        if (r == 0)
                r = number_put(t, p->solver, "pairs", p->pairs);
        revoked_key(p->solver, key);
        if (r == 0 && p->what)
                r = store_put(t, TABLE_META, slice_string(key), SLICE(p->what, strlen(p->what) + 1));
        else if (r == 0 && store_has(t, TABLE_META, slice_string(key)))
                r = store_delete(t, TABLE_META, slice_string(key));
        return r;
}

int incremental_accept(struct workspace *w, const struct solver *s, unsigned pairs)
{
        return store_update(workspace_store(w), proof_put,
                            &(struct proof){.solver = s, .proof = PROOF_GOOD, .pairs = pairs});
}

struct striking {
        const struct solver *solver;
        struct digest *keys;
        uint32_t n;
};

static int strike_one(struct store_txn *t, const struct solver *s, const struct digest *key)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_buffer struct buffer encoded = {0};
        cleanup_blob struct blob b = {0};
        bool struck = false;
        int r = store_get(t, TABLE_BUILDS, SLICE(key->bytes, DIGEST_SIZE), &b);

        if (r == 0)
                r = build_record_decode(SLICE(b.data, b.size), true, &record);
        if (r == -ENOENT || r == -EBADMSG)
                return 0;
        for (size_t i = 0; r == 0 && i < record->n_programs; i++)
                if (!record->programs[i].clean && !record->programs[i].struck)
                        struck = record->programs[i].struck = true;
        if (r < 0 || !struck)
                return r;
        r = build_record_encode(record, &encoded);
        if (r == 0)
                r = store_put(t, TABLE_BUILDS, SLICE(key->bytes, DIGEST_SIZE), SLICE(encoded.data, encoded.size));
        if (r == 0)
                r = build_program_put(t, key, record);
        if (r == 0)
                replaced_note(t, s);
        return r;
}

static int strike_all(void *user, struct store_txn *t)
{
        struct striking *s = user;
        int r = 0;

        for (uint32_t i = 0; r == 0 && i < s->n; i++)
                if (!digest_is_zero(&s->keys[i]))
                        r = strike_one(t, s->solver, &s->keys[i]);
        return r;
}

int incremental_revoke(struct workspace *w, struct solver *s, const char *what)
{
        cleanup_free struct digest *keys = NULL;
        struct striking striking = {.solver = s};
        int r;

        log_error("AN INCREMENTAL BUILD WAS WRONG: %s %s; from now on its builds are clean, and what was built incrementally and not "
                  "compared is built again",
                  s->repository, what);
        r = store_update(workspace_store(w), proof_put, &(struct proof){.solver = s, .proof = PROOF_BAD, .what = what});
        if (r == 0)
                r = build_keys(s->history, s->recipe, &keys, &striking.n);
        striking.keys = keys;
        return r == 0 ? store_update(workspace_store(w), strike_all, &striking) : r;
}

struct revoked_each {
        int (*fn)(void *user, const char *line);
        void *user;
};

static int revoked_look(void *user, struct slice key, struct slice value)
{
        struct revoked_each *e = user;
        const size_t prefix = strlen(PREFIX REVOKED);
        cleanup_buffer struct buffer line = {0};

        if (key.size <= prefix || value.size == 0 || ((const char *)value.data)[value.size - 1] != '\0')
                return 0;
        buffer_add(&line, (const char *)key.data + prefix, key.size - prefix);
        buffer_addf(&line, ": %s", (const char *)value.data);
        return buffer_error(&line) < 0 ? -ENOMEM : e->fn(e->user, line.data);
}

int incremental_each_revoked(struct workspace *w, int (*fn)(void *user, const char *line), void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r
                     : store_each(t, TABLE_META, slice_string(PREFIX REVOKED), SLICE("", 0), true, revoked_look,
                                  &(struct revoked_each){.fn = fn, .user = user});
}

/* -- when to compare -------------------------------------------------------------------------------------------- */

/* Nanoseconds put by; and what a clean build took, as a moving average, 0: not known. */
#define PUT_BY "put-by"
#define CLEAN  "clean-ns"
#define DUE    "due" /* the number of a commit, and one */

static uint64_t number_in(struct store_txn *t, const struct solver *s, const char *what)
{
        char key[256];

        make_key(s, what, key);
        return meta_number_in(t, key);
}

int incremental_note(struct workspace *w, struct store_txn *t, const struct solver *s, uint32_t commit, uint64_t duration_ns)
{
        uint64_t put_by = number_in(t, s, PUT_BY) + duration_ns / 100 * workspace_settings(w)->incremental_check;

        if (number_in(t, s, "proof") != PROOF_GOOD)
                return errorf(-ESTALE, "incremental builds of %s were revoked meanwhile", s->repository);

        number_put(t, s, PUT_BY, put_by);
        if (workspace_settings(w)->incremental_check > 0 && put_by >= number_in(t, s, CLEAN))
                number_put(t, s, DUE, (uint64_t)commit + 1);
        return 0;
}

int incremental_due(struct workspace *w, const struct solver *s, uint32_t *ret)
{
        uint64_t due = incremental_state(w, s) == INCREMENTAL_ON ? number(w, s, DUE) : 0;

        if (due == 0 || due > history_count(s->history))
                return -ENOENT;
        *ret = (uint32_t)(due - 1);
        return 0;
}

void incremental_settled(struct store_txn *t, const struct solver *s, bool checked, uint64_t clean_ns)
{
        uint64_t before = number_in(t, s, CLEAN), put_by = number_in(t, s, PUT_BY);

        number_put(t, s, CLEAN, before > 0 ? (before * 3 + clean_ns) / 4 : clean_ns);
        if (!checked)
                return;
        number_put(t, s, PUT_BY, put_by > clean_ns ? put_by - clean_ns : 0);
        number_put(t, s, DUE, 0);
}
