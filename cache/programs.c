#include "programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "fault.h"
#include "lock.h"

/* In the table: "m" id → struct meta, "d" id → a zstd frame (which the store's codec leaves alone). */

#define META_VERSION 1
/* A delta is small work at any level; a keyframe at a high one would take a minute. Measured on a 29 MB program, see below. */
#define LEVEL_DELTA    12
#define LEVEL_KEYFRAME 9
#define WINDOW_LEAST   10
#define WINDOW_MOST    31
#define PROGRAM_MOST   (UINT64_C(1) << 30)
#define CHAIN_BYTES    (UINT64_C(128) << 20) /* decoded at about a gigabyte a second; a chain that has more gets no more links */
/* A delta against the chain's beginning is taken while it is well below a keyframe; then it is time for a new one. */
#define DELTA_PAYS_NUM 3
#define DELTA_PAYS_DEN 4
/* A materialized file's mtime; another says that somebody wrote to it. Its nanoseconds say which boot it is of: it was not synced. */
#define MATERIALIZED_MTIME 1000000000
#define TEMPORARY_STALE    60 /* seconds */

struct meta {
        uint8_t version, zero[7];
        uint8_t size[8];
        uint8_t base[DIGEST_SIZE]; /* zeros: a keyframe */
};

struct programs {
        struct store *store; /* borrowed */
        size_t table;
        uint64_t bound;
        struct timespec mtime; /* of what was materialized since this boot */
        char dir[PATH_SIZE];
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

/* -- frames ----------------------------------------------------------------------------------------------------- */

static int window_log(uint64_t size)
{
        int log = WINDOW_LEAST;

        while (log < WINDOW_MOST && UINT64_C(1) << log < size)
                log++;
        return log;
}

static void free_compressor(ZSTD_CCtx **c)
{
        ZSTD_freeCCtx(*c);
}

static void free_decompressor(ZSTD_DCtx **d)
{
        ZSTD_freeDCtx(*d);
}

/* Compresses into at most `most` bytes; -E2BIG when that is not enough. */
static int compress(struct slice content, struct slice base, size_t most, struct blob *ret)
{
        cleanup(free_compressor) ZSTD_CCtx *c = ZSTD_createCCtx();
        bool delta = base.size > 0;
        cleanup_free void *out = malloc(MAX(most, (size_t)1));
        size_t n;

        if (!c || !out)
                return -ENOMEM;
        ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, delta ? LEVEL_DELTA : LEVEL_KEYFRAME);
        ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log(content.size + base.size));
        ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, 1);
        if (delta)
                ZSTD_CCtx_refPrefix(c, base.data, base.size);
        n = ZSTD_compress2(c, out, most, content.data, content.size);
        if (ZSTD_isError(n))
                return ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall ? -E2BIG : -ENOMEM;
        *ret = (struct blob){.data = out, .size = n, .owned = out};
        out = NULL;
        return 0;
}

/* Into `out`, which has room for `size` bytes. -ENOENT when the frame does not decode to just that. */
static int decompress(struct slice frame, struct slice base, void *out, uint64_t size)
{
        cleanup(free_decompressor) ZSTD_DCtx *d = ZSTD_createDCtx();
        size_t n;

        if (!d)
                return -ENOMEM;
        ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_MOST);
        if (base.size > 0)
                ZSTD_DCtx_refPrefix(d, base.data, base.size);
        n = ZSTD_decompressDCtx(d, out, size, frame.data, frame.size);
        return ZSTD_isError(n) || n != size ? -ENOENT : 0;
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
                int r = decompress(SLICE(link->frame.data, link->frame.size), content, to, link->size);

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
        struct digest base, *grown;
        uint64_t size;

        if (key.size != 1 + DIGEST_SIZE || meta_decode(value, &size, &base) < 0 || !digest_equal(&base, c->of))
                return 0;
        grown = reallocarray(c->list, c->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        c->list = grown;
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

/* What a program is to be stored as. */
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
        size_t most = ZSTD_compressBound(content.size);
        int r = digest_is_zero(base) ? -ENOENT : read_content(p, base, &near);

        if (r == 0)
                r = compress(content, SLICE(near.data, near.size), most, &delta);
        if (r < 0 && r != -ENOENT)
                return r;
        blob_done(&near);
        *ret = (struct form){0};
        /* A whole one need not be tried further than it could win. */
        r = compress(content, SLICE(NULL, 0), delta.owned ? delta.size / DELTA_PAYS_NUM * DELTA_PAYS_DEN : most, &whole);
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

/* -- the folder ------------------------------------------------------------------------------------------------- */

static struct timespec mtime_of_this_boot(void)
{
        cleanup_blob struct blob id = {0};
        struct digest d = {0};

        if (read_file("/proc/sys/kernel/random/boot_id", 4096, &id) == 0)
                digest_of(id.data, id.size, &d);
        return (struct timespec){.tv_sec = MATERIALIZED_MTIME, .tv_nsec = key_get_u32(d.bytes) % NSEC_PER_SEC};
}

int programs_open(struct store *s, size_t table, uint64_t bound, struct programs **ret)
{
        struct programs *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->store = s;
        p->table = table;
        p->bound = bound;
        p->mtime = mtime_of_this_boot();
        r = path_join(p->dir, store_dir(s), "programs");
        if (r == 0 && !store_read_only(s))
                r = make_dirs(p->dir, 0700);
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

/* The materialized program of that path, held by a shared lock; -ENOENT when there is none, or not one to be trusted. */
static int open_materialized(struct programs *p, const char *path, uint64_t size, int *ret_fd)
{
        for (;;) {
                cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
                struct stat st;
                int r;

                if (fd < 0)
                        return errno == ENOENT || errno == ELOOP ? -ENOENT
                                                                 : errorf(-errno, "cannot open %s: %s", path, strerror(errno));
                do
                        r = flock(fd, LOCK_SH);
                while (r < 0 && errno == EINTR);
                if (r < 0 || fstat(fd, &st) < 0)
                        return errorf(-errno, "cannot hold %s: %s", path, strerror(errno));
                if (st.st_nlink == 0)
                        continue; /* evicted between our open and our lock */
                if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != size || st.st_mtim.tv_sec != p->mtime.tv_sec ||
                    st.st_mtim.tv_nsec != p->mtime.tv_nsec || (st.st_mode & 07777) != 0555)
                        return -ENOENT;
                futimens(fd, (const struct timespec[2]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}}); /* last used now */
                *ret_fd = steal_fd(&fd);
                return 0;
        }
}

/* While anybody has a file open for writing it cannot be executed (ETXTBSY), and a child that another thread of ours forks may hold our
 * descriptor for a moment, until it executes. A read lease is refused for just as long. */
static void wait_for_no_writer(int fd)
{
        for (unsigned i = 0; i < 1000; i++) {
                if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
                        fcntl(fd, F_SETLEASE, F_UNLCK);
                        return;
                }
                if (errno != EAGAIN)
                        return; /* no leases here */
                usleep(1000);
        }
}

static int write_program(struct programs *p, const char *temporary, int fd, const struct blob *content)
{
        struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, p->mtime};
        int r = flock(fd, LOCK_SH | LOCK_NB) < 0 ? -errno : write_all(fd, content->data, content->size);

        if (r == 0 && (fchmod(fd, 0555) < 0 || futimens(fd, times) < 0))
                r = -errno;
        return r < 0 ? errorf(r, "cannot write %s: %s", temporary, strerror(-r)) : 0;
}

/* Not synced: what a power cut leaves is of an earlier boot, and made anew. */
static int write_materialized(struct programs *p, const char *path, const struct blob *content, int *ret_fd)
{
        cleanup_close int fd = -1;
        char temporary[PATH_SIZE];
        int r = path_join(temporary, p->dir, ".new.XXXXXX");

        if (r < 0)
                return r;
        fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot make %s: %s", temporary, strerror(errno));
        r = write_program(p, temporary, fd, content);
        if (r == 0) {
                close(steal_fd(&fd));
                r = open_materialized(p, temporary, content->size, &fd);
        }
        if (r == 0) {
                wait_for_no_writer(fd);
                if (rename(temporary, path) < 0)
                        r = errorf(-errno, "cannot move %s to %s: %s", temporary, path, strerror(errno));
        }
        if (r < 0) {
                unlink(temporary);
                return r;
        }
        *ret_fd = steal_fd(&fd);
        return 0;
}

struct entry {
        char name[DIGEST_HEX_SIZE];
        uint64_t size;
        struct timespec used;
};

struct entries {
        struct entry *list; /* malloc'd */
        size_t n, capacity;
        uint64_t bytes;
};

static void entries_done(struct entries *e)
{
        free(e->list);
}

static int compare_used(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;

        if (x->used.tv_sec != y->used.tv_sec)
                return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
        return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static int add_entry(struct entries *e, const char *name, const struct stat *st)
{
        if (e->n == e->capacity) {
                size_t capacity = MAX(e->capacity * 2, (size_t)64);
                struct entry *grown = reallocarray(e->list, capacity, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                e->list = grown;
                e->capacity = capacity;
        }
        memcpy(e->list[e->n].name, name, DIGEST_HEX_SIZE);
        e->list[e->n].size = (uint64_t)st->st_size;
        e->list[e->n].used = st->st_atim;
        e->n++;
        e->bytes += (uint64_t)st->st_size;
        return 0;
}

/* Takes the file away if nobody holds it. */
static bool take_away(int dir_fd, const char *name)
{
        cleanup_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dir_fd, name, 0) == 0;
}

static int list_materialized(DIR *d, struct entries *ret)
{
        struct dirent *e;
        int r = 0;

        while (r == 0 && (e = readdir(d))) {
                struct digest digest;
                struct stat st;

                if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
                        continue;
                if (digest_parse(e->d_name, &digest) == 0)
                        r = add_entry(ret, e->d_name, &st);
                else if (strncmp(e->d_name, ".new.", 5) == 0 && st.st_ctime < now_seconds() - TEMPORARY_STALE)
                        take_away(dirfd(d), e->d_name); /* left by a crash */
        }
        return r;
}

/* Least recently used first, down to the bound, but for what is in use. */
static int evict(struct programs *p)
{
        cleanup(entries_done) struct entries all = {0};
        DIR *d = opendir(p->dir);
        int r;

        if (!d)
                return errorf(-errno, "cannot list %s: %s", p->dir, strerror(errno));
        r = list_materialized(d, &all);
        if (r == 0 && all.bytes > p->bound) {
                qsort(all.list, all.n, sizeof(*all.list), compare_used);
                for (size_t i = 0; i < all.n && all.bytes > p->bound; i++)
                        if (take_away(dirfd(d), all.list[i].name))
                                all.bytes -= all.list[i].size;
        }
        closedir(d);
        return r;
}

static int materialize(struct programs *p, const struct digest *id, const char *path, int *ret_fd)
{
        cleanup_blob struct blob content = {0};
        int evicted, r = fault_at("programs.get");

        if (r == 0)
                r = read_content(p, id, &content);
        if (r == 0)
                r = write_materialized(p, path, &content, ret_fd);
        if (r < 0)
                return r;
        evicted = evict(p);
        if (evicted < 0) /* a full folder is no reason not to run what is there */
                log_warning("%s", error_message(evicted));
        return 0;
}

/* One process materializes, the others wait for it. */
static int materialize_once(struct programs *p, const struct digest *id, const char *hex, uint64_t size, const char *path,
                            int *ret_fd)
{
        char name[DIGEST_HEX_SIZE + 8];
        int lock, r;

        snprintf(name, sizeof(name), ".%s.lock", hex);
        r = lock_wait(p->dir, name, false, &lock);
        if (r < 0)
                return r;
        r = open_materialized(p, path, size, ret_fd);
        if (r == -ENOENT)
                r = materialize(p, id, path, ret_fd);
        lock_release_unlink(p->dir, name, lock);
        return r;
}

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

int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE])
{
        char hex[DIGEST_HEX_SIZE], path[PATH_SIZE];
        uint64_t size = 0;
        int r = size_of(p, id, &size);

        if (r < 0)
                return r;
        digest_hex(id, hex);
        r = path_join(path, p->dir, hex);
        if (r == 0)
                r = open_materialized(p, path, size, ret_fd);
        if (r == -ENOENT)
                r = materialize_once(p, id, hex, size, path, ret_fd);
        if (r == 0 && ret_path)
                memcpy(ret_path, path, sizeof(path));
        return r;
}

/* Of a program that is not in the store any more; one in use goes with a later eviction. */
static int remove_materialized(struct programs *p, const struct digest *id)
{
        cleanup_close int dir_fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char hex[DIGEST_HEX_SIZE];

        digest_hex(id, hex);
        if (dir_fd >= 0)
                take_away(dir_fd, hex);
        return 0;
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
                if (r == 0)
                        return remove_materialized(p, id);
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
