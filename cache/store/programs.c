#include "cache/store/programs.h"

#include <sys/stat.h>

#include "cache/store/delta.h"
#include "cache/base/fault.h"
#include "cache/store/program_folder.h"

/* In the table: "m" id → struct meta, "d" id → a zstd frame (which the store's codec leaves alone). */

#define META_VERSION 1
#define PROGRAM_MOST (UINT64_C(1) << 30)
#define CHAIN_BYTES  (UINT64_C(128) << 20) /* decoded at about a gigabyte a second; a chain that has more gets no more links */
/* A delta against the chain's beginning is taken while it is well below a keyframe; then it is time for a new one. */
#define DELTA_PAYS_NUM 3
#define DELTA_PAYS_DEN 4

struct meta {
        uint8_t version, zero[7];
        uint8_t size[8];
        uint8_t base[DIGEST_SIZE]; /* zeros: a keyframe */
};

struct programs {
        struct store *store; /* borrowed */
        size_t table;
        struct program_folder folder;
};

struct program {
        uint64_t size;
        struct digest base;
        struct blob frame; /* when asked for */
};

static void program_done(struct program *p)
{
        blob_done(&p->frame);
}

struct key {
        uint8_t bytes[1 + DIGEST_SIZE];
};

static struct slice make_key(struct key *k, char kind, const struct digest *id)
{
        k->bytes[0] = (uint8_t)kind;
        memcpy(k->bytes + 1, id->bytes, DIGEST_SIZE);
        return SLICE(k->bytes, sizeof(k->bytes));
}

static int absent(const struct digest *id)
{
        char hex[DIGEST_HEX_SIZE];

        digest_hex(id, hex);
        return errorf(-ENOENT, "the program %.12s is not in the store; it has to be built again", hex);
}

/* -- in the store ----------------------------------------------------------------------------------------------- */

static int meta_decode(struct slice bytes, uint64_t *ret_size, struct digest *ret_base)
{
        const struct meta *m = bytes.data;

        if (bytes.size != sizeof(*m) || m->version != META_VERSION)
                return -ENOENT;
        *ret_size = key_get_u64(m->size);
        memcpy(ret_base->bytes, m->base, DIGEST_SIZE);
        return *ret_size <= PROGRAM_MOST ? 0 : -ENOENT;
}

static int load(struct programs *p, struct store_txn *t, const struct digest *id, bool with_frame, struct program *ret)
{
        cleanup_blob struct blob meta = {0};
        struct blob frame = {0};
        struct key key;
        int r = store_get(t, p->table, make_key(&key, 'm', id), &meta);

        *ret = (struct program){0};
        if (r == 0)
                r = meta_decode(SLICE(meta.data, meta.size), &ret->size, &ret->base);
        if (r == 0 && with_frame)
                r = store_get(t, p->table, make_key(&key, 'd', id), &frame);
        if (r == -ENOENT)
                return absent(id);
        if (r == 0 && with_frame && !frame.owned) { /* a tiny one lies in the transaction */
                frame.owned = malloc(frame.size + 1);
                if (!frame.owned)
                        return -ENOMEM;
                frame.data = memcpy(frame.owned, frame.data, frame.size);
        }
        ret->frame = frame;
        return r;
}

static int save(struct programs *p, struct store_txn *t, const struct digest *id, uint64_t size, const struct digest *base,
                struct slice frame)
{
        struct meta meta = {.version = META_VERSION};
        struct key key;
        int r;

        key_u64(meta.size, size);
        memcpy(meta.base, base->bytes, DIGEST_SIZE);
        r = store_put(t, p->table, make_key(&key, 'd', id), frame);
        return r < 0 ? r : store_put(t, p->table, make_key(&key, 'm', id), SLICE(&meta, sizeof(meta)));
}

static int forget(struct programs *p, struct store_txn *t, const struct digest *id)
{
        struct key key;
        int r = store_delete(t, p->table, make_key(&key, 'm', id));

        if (r == 0 || r == -ENOENT)
                r = store_delete(t, p->table, make_key(&key, 'd', id));
        return r == -ENOENT ? 0 : r;
}

static bool has_meta(struct programs *p, const struct digest *id)
{
        cleanup_txn struct store_txn *t = NULL;
        struct program program;

        return store_read(p->store, &t) == 0 && load(p, t, id, false, &program) == 0;
}

static bool has_frame(struct programs *p, const struct digest *id)
{
        cleanup_txn struct store_txn *t = NULL;
        struct key key;

        return store_read(p->store, &t) == 0 && store_has(t, p->table, make_key(&key, 'd', id));
}

/* A frame that was found to be damaged is gone from the table by itself. */
bool programs_has(struct programs *p, const struct digest *id)
{
        return has_meta(p, id) && has_frame(p, id);
}

struct each {
        programs_each_fn fn;
        void *user;
};

static int each_meta(void *user, struct slice key, struct slice)
{
        struct each *e = user;
        struct digest id;

        if (key.size != 1 + DIGEST_SIZE)
                return 0;
        memcpy(id.bytes, (const uint8_t *)key.data + 1, DIGEST_SIZE);
        return e->fn(e->user, &id);
}

int programs_each(struct programs *p, programs_each_fn fn, void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(p->store, &t);

        return r < 0 ? r : store_each(t, p->table, slice_string("m"), SLICE(NULL, 0), false, each_meta, &(struct each){fn, user});
}

/* A chain: the program itself, its base, that one's base … When one could not be had, its id stands behind the last. */
struct chain {
        struct digest ids[PROGRAMS_CHAIN + 1];
        struct program links[PROGRAMS_CHAIN + 1];
        size_t n;
};

static void chain_done(struct chain *c)
{
        for (size_t i = 0; i < c->n; i++)
                program_done(&c->links[i]);
}

static int load_chain(struct programs *p, const struct digest *id, bool with_frames, struct chain *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        struct digest next = *id;
        int r = store_read(p->store, &t);

        while (r == 0) {
                struct program *link = &ret->links[ret->n];

                ret->ids[ret->n] = next;
                r = load(p, t, &next, with_frames, link);
                if (r < 0)
                        return r;
                ret->n++;
                next = link->base;
                if (digest_is_zero(&next))
                        return 0;
                if (ret->n > PROGRAMS_CHAIN) /* damaged: perhaps a ring */
                        return absent(id);
        }
        return r;
}

int programs_info(struct programs *p, const struct digest *id, uint64_t *ret_stored, unsigned *ret_depth, struct digest *ret_base)
{
        cleanup(chain_done) struct chain c = {0};
        cleanup_txn struct store_txn *t = NULL;
        cleanup(program_done) struct program program = {0};
        int r = load_chain(p, id, false, &c);

        if (r == 0)
                r = store_read(p->store, &t);
        if (r == 0)
                r = load(p, t, id, true, &program);
        if (r < 0)
                return r;
        *ret_stored = program.frame.size;
        *ret_depth = (unsigned)c.n - 1;
        *ret_base = program.base;
        return 0;
}

/* -- reading ---------------------------------------------------------------------------------------------------- */

static bool content_is(struct slice content, const struct digest *id)
{
        struct digest d;

        digest_of(content.data, content.size, &d);
        return digest_equal(&d, id);
}

/* From the keyframe to the program, to and fro between two buffers. With `each`, every link is verified; *ret_bad is then the
 * first that is wrong. */
static int decode_chain(const struct chain *c, bool each, struct blob *ret, size_t *ret_bad)
{
        cleanup_free void *to = NULL, *from = NULL;
        struct slice content = {0};
        uint64_t largest = 1;

        for (size_t i = 0; i < c->n; i++)
                largest = MAX(largest, c->links[i].size);
        to = malloc(largest);
        from = c->n > 1 ? malloc(largest) : NULL;
        if (!to || (c->n > 1 && !from))
                return -ENOMEM;
        for (size_t i = c->n; i-- > 0;) {
                const struct program *link = &c->links[i];
                void *swap = to;
                int r = delta_decode(SLICE(link->frame.data, link->frame.size), content, to, link->size);

                content = SLICE(to, link->size);
                if (r == 0 && (each || i == 0) && !content_is(content, &c->ids[i]))
                        r = -ENOENT;
                if (r < 0) {
                        *ret_bad = i;
                        return r;
                }
                to = from;
                from = swap;
        }
        *ret = (struct blob){.data = from, .size = content.size, .owned = from};
        from = NULL;
        return 0;
}

struct children {
        const struct digest *of;
        struct digest *list; /* malloc'd */
        size_t n;
};

static void children_done(struct children *c)
{
        free(c->list);
}

static int find_child(void *user, struct slice key, struct slice value)
{
        struct children *c = user;
        struct digest base;
        uint64_t size;

        if (key.size != 1 + DIGEST_SIZE || meta_decode(value, &size, &base) < 0 || !digest_equal(&base, c->of))
                return 0;
        if (list_grow(c->list, c->n) < 0)
                return -ENOMEM;
        memcpy(c->list[c->n++].bytes, (const uint8_t *)key.data + 1, DIGEST_SIZE);
        return 0;
}

static int children_of(struct programs *p, struct store_txn *t, const struct digest *id, struct children *ret)
{
        ret->of = id;
        return store_each(t, p->table, slice_string("m"), SLICE(NULL, 0), true, find_child, ret);
}

/* With all that builds on it. */
static int forget_all(struct programs *p, struct store_txn *t, const struct digest *id, unsigned depth)
{
        cleanup(children_done) struct children c = {0};
        int r = depth > PROGRAMS_CHAIN + 1 ? 0 : children_of(p, t, id, &c);

        for (size_t i = 0; r == 0 && i < c.n; i++)
                r = forget_all(p, t, &c.list[i], depth + 1);
        return r < 0 ? r : forget(p, t, id);
}

/* A program that does not come out right is dropped from the link that is wrong. */
static int drop(struct programs *p, const struct chain *c, size_t bad)
{
        char hex[DIGEST_HEX_SIZE];
        struct store_txn *t;
        int r;

        digest_hex(&c->ids[bad], hex);
        log_error("the program %s in %s does not check out; it and what builds on it is dropped, to be built again", hex,
                  store_dir(p->store));
        if (store_read_only(p->store))
                return absent(&c->ids[0]);
        r = store_write(p->store, &t);
        if (r < 0)
                return r;
        r = forget_all(p, t, &c->ids[bad], 0);
        if (r < 0)
                store_end(t);
        else
                r = store_commit(t);
        return r < 0 ? r : absent(&c->ids[0]);
}

static int read_content(struct programs *p, const struct digest *id, struct blob *ret)
{
        cleanup(chain_done) struct chain c = {0};
        size_t bad = 0;
        int r = load_chain(p, id, true, &c);

        if (r == -ENOENT && (c.n > 0 || has_meta(p, id))) /* without its frame, or its base */
                return drop(p, &c, c.n <= PROGRAMS_CHAIN ? c.n : 0);
        if (r < 0)
                return r;
        r = decode_chain(&c, false, ret, &bad);
        if (r != -ENOENT)
                return r;
        r = decode_chain(&c, true, ret, &bad);
        return r == -ENOENT ? drop(p, &c, bad) : r;
}

/* -- storing ---------------------------------------------------------------------------------------------------- */

/* The form in which a program is stored: a delta against `base`, or whole. */
struct form {
        struct digest base;
        struct blob frame;
};

static void form_done(struct form *f)
{
        blob_done(&f->frame);
}

/* Is there room behind this chain? Each link costs its whole length when it is decoded. */
static bool has_room(const struct chain *c)
{
        uint64_t bytes = 0;

        for (size_t i = 0; i < c->n; i++)
                bytes += c->links[i].size;
        return c->n == 1 || (c->n <= PROGRAMS_CHAIN && bytes < CHAIN_BYTES);
}

/* The base to try: `near` itself while its chain has room, else where the chain begins. */
static int choose_base(struct programs *p, const struct digest *near, struct digest *ret)
{
        cleanup(chain_done) struct chain c = {0};
        int r = load_chain(p, near, false, &c);

        if (r < 0)
                return r;
        *ret = has_room(&c) ? c.ids[0] : c.ids[c.n - 1];
        return 0;
}

/* The smaller of a delta against `base` (zero: none) and a keyframe. */
static int make_form(struct programs *p, struct slice content, const struct digest *base, struct form *ret)
{
        cleanup_blob struct blob near = {0}, delta = {0}, whole = {0};
        size_t most = delta_bound(content.size);
        int r = digest_is_zero(base) ? -ENOENT : read_content(p, base, &near);

        if (r == 0)
                r = delta_encode(content, SLICE(near.data, near.size), most, &delta);
        if (r < 0 && r != -ENOENT)
                return r;
        blob_done(&near);
        *ret = (struct form){0};
        /* A whole one need not be tried further than it could win. */
        r = delta_encode(content, SLICE(NULL, 0), delta.owned ? delta.size / DELTA_PAYS_NUM * DELTA_PAYS_DEN : most, &whole);
        if (r < 0 && !(r == -E2BIG && delta.owned))
                return r;
        if (r == -E2BIG) {
                ret->base = *base;
                ret->frame = delta;
                delta = (struct blob){0};
        } else {
                ret->frame = whole;
                whole = (struct blob){0};
        }
        return 0;
}

/* Is a delta against `base` still one that can be decoded? Somebody may have removed the base or lengthened its chain since. */
static bool base_is_good(struct programs *p, const struct digest *base)
{
        cleanup(chain_done) struct chain c = {0};

        return digest_is_zero(base) || (load_chain(p, base, false, &c) == 0 && c.n <= PROGRAMS_CHAIN);
}

struct form_to_put {
        struct programs *programs;
        const struct digest *id;
        uint64_t size;
        const struct form *form;
};

static int put_form(void *user, struct store_txn *t)
{
        struct form_to_put *p = user;
        const struct form *f = p->form;

        /* Under the write lock what a reader sees is what there is. */
        return base_is_good(p->programs, &f->base)
                       ? save(p->programs, t, p->id, p->size, &f->base, SLICE(f->frame.data, f->frame.size))
                       : -EAGAIN;
}

static int store_form(struct programs *p, const struct digest *id, struct slice content, const struct form *f)
{
        return store_update(p->store, put_form, &(struct form_to_put){p, id, content.size, f});
}

static int read_program(int fd, struct blob *ret)
{
        struct stat st;
        cleanup_free char *data = NULL;
        size_t done = 0, size;

        if (fstat(fd, &st) < 0)
                return errorf(-errno, "cannot look at a built program: %s", strerror(errno));
        if ((uint64_t)st.st_size > PROGRAM_MOST)
                return errorf(-EFBIG, "a built program of %lld bytes is more than the store takes", (long long)st.st_size);
        size = (size_t)st.st_size;
        data = malloc(MAX(size, (size_t)1));
        if (!data)
                return -ENOMEM;
        while (done < size) {
                ssize_t n = pread(fd, data + done, size - done, (off_t)done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return errorf(n < 0 ? -errno : -EIO, "cannot read a built program: %s",
                                      n < 0 ? strerror(errno) : "it became shorter");
                done += (size_t)n;
        }
        *ret = (struct blob){.data = data, .size = size, .owned = data};
        data = NULL;
        return 0;
}

int programs_put(struct programs *p, int fd, const struct digest *near, struct digest *ret_id, uint64_t *ret_size)
{
        cleanup_blob struct blob content = {0};
        struct digest base = {0}, id;
        int r = fault_at("programs.put");

        if (r == 0)
                r = read_program(fd, &content);
        if (r < 0)
                return r;
        digest_of(content.data, content.size, &id);
        *ret_id = id;
        *ret_size = content.size;
        if (programs_has(p, &id))
                return 0;
        if (near) {
                r = choose_base(p, near, &base);
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        for (;;) {
                cleanup(form_done) struct form f = {0};

                r = make_form(p, SLICE(content.data, content.size), &base, &f);
                if (r == 0)
                        r = store_form(p, &id, SLICE(content.data, content.size), &f);
                if (r != -EAGAIN)
                        return r;
                base = (struct digest){0}; /* the near one was taken away meanwhile */
        }
}

/* Stores a delta against `gone` anew, against that one's own base. */
static int restore_child(struct programs *p, const struct digest *child, const struct digest *base)
{
        cleanup_blob struct blob content = {0};
        cleanup(form_done) struct form f = {0};
        int r = read_content(p, child, &content);

        if (r == -ENOENT)
                return 0; /* dropped, or removed by another */
        if (r == 0)
                r = make_form(p, SLICE(content.data, content.size), base, &f);
        if (r == 0)
                r = store_form(p, child, SLICE(content.data, content.size), &f);
        return r;
}

/* Removes it if nothing builds on it; else -EAGAIN and those that do. */
static int remove_alone(struct programs *p, const struct digest *id, struct children *ret)
{
        struct program program;
        struct store_txn *t;
        int r = store_write(p->store, &t);

        if (r < 0)
                return r;
        r = load(p, t, id, false, &program);
        if (r == 0)
                r = children_of(p, t, id, ret);
        if (r == 0 && ret->n > 0)
                r = -EAGAIN;
        if (r == 0)
                r = forget(p, t, id);
        if (r == 0)
                return store_commit(t);
        store_end(t);
        return r;
}

int programs_remove(struct programs *p, const struct digest *id)
{
        struct digest first = {0}; /* of those that were stored anew, or dropped, in the last round */

        for (;;) {
                cleanup(children_done) struct children children = {0};
                cleanup(chain_done) struct chain c = {0};
                int r = load_chain(p, id, false, &c);

                if (r == 0)
                        r = remove_alone(p, id, &children);
                if (r == 0) {
                        program_folder_remove(&p->folder, id);
                        return 0;
                }
                if (r != -EAGAIN)
                        return r;
                if (digest_equal(&children.list[0], &first))
                        return errorf(-EIO,
                                      "a program cannot be removed: what builds on it in %s cannot be stored anew; see "
                                      "'solverfs fsck'",
                                      store_dir(p->store));
                r = 0;
                for (size_t i = 0; r == 0 && i < children.n; i++)
                        r = restore_child(p, &children.list[i], &c.links[0].base);
                if (r < 0 && r != -EAGAIN)
                        return r;
                first = r == 0 ? children.list[0] : (struct digest){0};
        }
}

/* -- life ------------------------------------------------------------------------------------------------------- */

int programs_open(struct store *s, size_t table, uint64_t bound, struct programs **ret)
{
        struct programs *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->store = s;
        p->table = table;
        r = program_folder_open(&p->folder, store_dir(s), store_read_only(s), bound);
        if (r < 0) {
                free(p);
                return r;
        }
        *ret = p;
        return 0;
}

struct programs *programs_close(struct programs *p)
{
        free(p);
        return NULL;
}

/* -- to be executed --------------------------------------------------------------------------------------------- */

static int size_of(struct programs *p, const struct digest *id, uint64_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        struct program program;
        int r = store_read(p->store, &t);

        if (r == 0)
                r = load(p, t, id, false, &program);
        if (r == 0)
                *ret = program.size;
        return r;
}

static int content_for_folder(void *user, const struct digest *id, struct blob *ret)
{
        int r = fault_at("programs.get");

        return r < 0 ? r : read_content(user, id, ret);
}

int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE])
{
        uint64_t size = 0;
        int r = size_of(p, id, &size);

        return r < 0 ? r : program_folder_get(&p->folder, id, size, content_for_folder, p, ret_fd, ret_path);
}
