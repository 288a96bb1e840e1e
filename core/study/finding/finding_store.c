/* Findings in the store, and how many inputs each stands for. */
#include "core/study/finding/finding_internal.h"

#include "cache/base/record.h"

/* In TABLE_FINDINGS:
 *     'f' solver(4) number(4)        → record
 *     'o' solver(4) kind(1) sha256   → number(4): the input of which finding these bytes are
 *     'v' solver(4) kind(1) sha256 digest of the versions → number(4): the same of a further finding of these bytes
 *     'n' solver(4)                  → the last number(4)
 *     'c' solver(4) number(4) campaign → how many it stands for(8) */

#define KEY_SIZE    9
#define ORIGIN_SIZE (6 + DIGEST_SIZE)

static struct slice finding_key(uint8_t key[KEY_SIZE], uint32_t solver, uint32_t number)
{
        key[0] = 'f';
        key_u32(key + 1, solver);
        key_u32(key + 5, number);
        return SLICE(key, KEY_SIZE);
}

static struct slice last_key(uint8_t key[5], uint32_t solver)
{
        key[0] = 'n';
        key_u32(key + 1, solver);
        return SLICE(key, 5);
}

static struct slice origin_key(uint8_t key[ORIGIN_SIZE], const struct finding *f, const struct digest *input)
{
        key[0] = 'o';
        key_u32(key + 1, f->solver);
        key[5] = (uint8_t)f->kind;
        memcpy(key + 6, input->bytes, DIGEST_SIZE);
        return SLICE(key, ORIGIN_SIZE);
}

#define VERSIONS_SIZE (ORIGIN_SIZE + DIGEST_SIZE)

static struct slice versions_key(uint8_t key[VERSIONS_SIZE], const struct finding *f, const struct digest *input)
{
        struct hasher *h = hasher_new();
        struct digest versions;

        hasher_string(h, f->reference);
        hasher_string(h, f->target);
        hasher_finish(h, &versions);
        origin_key(key, f, input);
        key[0] = 'v';
        memcpy(key + ORIGIN_SIZE, versions.bytes, DIGEST_SIZE);
        return SLICE(key, VERSIONS_SIZE);
}

/* 0 where there is none. */
static int get_number(struct store_txn *t, struct slice key, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, TABLE_FINDINGS, key, &b);

        *ret = r == 0 && b.size == 4 ? key_get_u32(b.data) : 0;
        return r == -ENOENT ? 0 : r;
}

static int put_number(struct store_txn *t, struct slice key, uint32_t n)
{
        uint8_t bytes[4];

        key_u32(bytes, n);
        return store_put(t, TABLE_FINDINGS, key, SLICE(bytes, sizeof(bytes)));
}

static int put_finding(struct store_txn *t, const struct finding *f)
{
        cleanup_buffer struct buffer b = {0};
        uint8_t key[KEY_SIZE];
        int r = finding_encode(f, &b);

        return r < 0 ? r : store_put(t, TABLE_FINDINGS, finding_key(key, f->solver, f->number), SLICE(b.data, b.size));
}

static int get_in(struct store_txn *t, uint32_t solver, uint32_t number, struct finding **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[KEY_SIZE];
        int r = store_get(t, TABLE_FINDINGS, finding_key(key, solver, number), &b);

        if (r == -ENOENT)
                return errorf(r, "there is no finding %u; see 'solverfs findings'", number);
        return r < 0 ? r : finding_decode(solver, number, SLICE(b.data, b.size), ret);
}

struct adding {
        struct finding *finding;
        struct digest input;
        bool by_versions; /* other versions make it another finding */
        bool is_known;
};

/* The key by which it is known again, and its number; 0: it is new. */
static int find_origin(struct store_txn *t, const struct adding *a, uint8_t key[VERSIONS_SIZE], struct slice *ret_key, uint32_t *ret)
{
        cleanup_finding struct finding *known = NULL;
        int r;

        *ret_key = origin_key(key, a->finding, &a->input);
        r = get_number(t, *ret_key, ret);
        if (r < 0 || *ret == 0 || !a->by_versions)
                return r;
        r = get_in(t, a->finding->solver, *ret, &known);
        if (r < 0 || (strcmp(known->reference, a->finding->reference) == 0 && strcmp(known->target, a->finding->target) == 0))
                return r;
        *ret_key = versions_key(key, a->finding, &a->input);
        return get_number(t, *ret_key, ret);
}

static int add_in(void *user, struct store_txn *t)
{
        struct adding *a = user;
        uint8_t origin[VERSIONS_SIZE], last[5];
        struct slice key;
        uint32_t number;
        int r = find_origin(t, a, origin, &key, &number);

        a->is_known = r == 0 && number != 0;
        if (a->is_known)
                a->finding->number = number;
        if (r < 0 || a->is_known)
                return r;
        r = get_number(t, last_key(last, a->finding->solver), &number);
        if (r == 0 && number == UINT32_MAX)
                return errorf(-ENOSPC, "there are no numbers left for findings");
        a->finding->number = number + 1;
        if (r == 0)
                r = put_finding(t, a->finding);
        if (r == 0)
                r = put_number(t, key, a->finding->number);
        return r < 0 ? r : put_number(t, SLICE(last, sizeof(last)), a->finding->number);
}

static int add(struct workspace *w, struct finding *f, bool by_versions)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct adding a = {.finding = f, .by_versions = by_versions};
        int r = cases_get(workspace_cases(w), f->case_id, &info);

        if (r < 0)
                return r;
        a.input = info->sha256;
        r = store_update(workspace_store(w), add_in, &a);
        return r < 0 ? r : a.is_known;
}

int finding_add(struct workspace *w, struct finding *f)
{
        return add(w, f, false);
}

int finding_take(struct workspace *w, struct finding *f)
{
        return add(w, f, true);
}

int finding_get(struct workspace *w, uint32_t solver, uint32_t number, struct finding **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : get_in(t, solver, number, ret);
}

int finding_find(struct workspace *w, uint32_t solver, enum finding_kind kind, struct slice input, struct finding **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t origin[ORIGIN_SIZE];
        struct digest digest;
        uint32_t number = 0;
        int r = store_read(workspace_store(w), &t);

        digest_of(input.data, input.size, &digest);
        if (r == 0)
                r = get_number(t, origin_key(origin, &(struct finding){.solver = solver, .kind = kind}, &digest), &number);
        if (r < 0)
                return r;
        return number == 0 ? -ENOENT : get_in(t, solver, number, ret);
}

struct marking {
        uint32_t solver, number;
        enum finding_mark mark;
        const char *url;
};

static int mark_in(void *user, struct store_txn *t)
{
        const struct marking *m = user;
        cleanup_finding struct finding *f = NULL;
        char *url = strdup(m->url);
        int r = url ? get_in(t, m->solver, m->number, &f) : -ENOMEM;

        if (r < 0) {
                free(url);
                return r;
        }
        f->mark = m->mark;
        free(f->url);
        f->url = url;
        return put_finding(t, f);
}

int finding_set_mark(struct workspace *w, uint32_t solver, uint32_t number, enum finding_mark mark, const char *url)
{
        return store_update(workspace_store(w), mark_in,
                            &(struct marking){.solver = solver, .number = number, .mark = mark, .url = url ? url : ""});
}

struct listing {
        uint32_t solver;
        const char *folder;
        int (*fn)(void *user, struct finding *f);
        void *user;
};

static int each_record(void *user, struct slice key, struct slice value)
{
        const struct listing *l = user;
        cleanup_finding struct finding *f = NULL;
        int r;

        if (key.size != KEY_SIZE)
                return 0;
        r = finding_decode(l->solver, key_get_u32((const uint8_t *)key.data + 5), value, &f);
        if (r < 0)
                return r;
        return l->folder && strcmp(l->folder, finding_folder(f->kind)) != 0 ? 0 : l->fn(l->user, f);
}

int findings_each(struct workspace *w, uint32_t solver, const char *folder, int (*fn)(void *user, struct finding *f), void *user)
{
        struct listing l = {.solver = solver, .folder = folder, .fn = fn, .user = user};
        cleanup_txn struct store_txn *t = NULL;
        uint8_t prefix[KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        finding_key(prefix, solver, 0);
        return r < 0 ? r : store_each(t, TABLE_FINDINGS, SLICE(prefix, 5), SLICE("", 0), true, each_record, &l);
}

uint32_t findings_last(struct workspace *w, uint32_t solver)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t key[5];
        uint32_t n = 0;

        if (store_read(workspace_store(w), &t) == 0)
                get_number(t, last_key(key, solver), &n);
        return n;
}

/* -- counts -- */

struct counting {
        uint32_t solver;
        const char *campaign;
        const struct finding_count *list;
        size_t n;
};

static int put_counts_in(void *user, struct store_txn *t)
{
        const struct counting *c = user;
        int r = 0;

        for (size_t i = 0; r == 0 && i < c->n; i++) {
                cleanup_buffer struct buffer key = {0}, value = {0};

                record_put_u8(&key, 'c');
                record_put_u32(&key, c->solver);
                record_put_u32(&key, c->list[i].number);
                buffer_adds(&key, c->campaign);
                record_put_u64(&value, c->list[i].n);
                r = buffer_error(&key) < 0 || buffer_error(&value) < 0
                            ? -ENOMEM
                            : store_put(t, TABLE_FINDINGS, SLICE(key.data, key.size), SLICE(value.data, value.size));
        }
        return r;
}

int finding_put_counts(struct workspace *w, uint32_t solver, const char *campaign, const struct finding_count *list, size_t n)
{
        struct counting c = {.solver = solver, .campaign = campaign, .list = list, .n = n};

        return store_update(workspace_store(w), put_counts_in, &c);
}

struct counts {
        int (*fn)(void *user, const char *campaign, uint64_t n);
        void *user;
};

/* Classes of commits (culprits.c) begin with the same letter; their values have another size. */
static int tell_count(void *user, struct slice key, struct slice value)
{
        const struct counts *c = user;
        cleanup_free char *campaign = value.size == 8 ? strndup((const char *)key.data + KEY_SIZE, key.size - KEY_SIZE) : NULL;

        if (value.size != 8)
                return 0;
        return campaign ? c->fn(c->user, campaign, key_get_u64(value.data)) : -ENOMEM;
}

int finding_each_count(struct workspace *w, uint32_t solver, uint32_t number, int (*fn)(void *user, const char *campaign, uint64_t n),
                       void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        struct counts c = {fn, user};
        uint8_t prefix[KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        finding_key(prefix, solver, number);
        prefix[0] = 'c';
        return r < 0 ? r : store_each(t, TABLE_FINDINGS, SLICE(prefix, sizeof(prefix)), SLICE("", 0), true, tell_count, &c);
}

static int add_count(void *user, const char *, uint64_t n)
{
        *(uint64_t *)user += n;
        return 0;
}

int finding_get_count(struct workspace *w, uint32_t solver, uint32_t number, uint64_t *ret)
{
        uint64_t sum = 0;
        int r = finding_each_count(w, solver, number, add_count, &sum);

        *ret = sum > 0 ? sum : 1;
        return r;
}
