#include "cache/store/programs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/fault.h"
#include "cache/base/lock.h"
#include "cache/store/delta.h"
#include "cache/store/program_folder.h"
#include "cache/store/store.h"

/* Each program is a file <store>/deltas/<digest>: a header and a zstd frame. It is written under another name, synced and renamed, so it is
 * whole or absent.
 *
 * The lock is held while a file takes its place, so that its base still exists, and while files are removed. Reading takes no lock: a reader
 * that finds a wrong link reads the chain again under the lock, as it may have changed; only a link that is wrong then is damaged. */

#define FOLDER       "deltas"
#define LOCK         ".lock"
#define MAGIC        "solvdlta"
#define VERSION      1
#define CHAIN_BYTES  (UINT64_C(128) << 20) /* a chain of more bytes gets no more links; decoding takes a second per gigabyte */
/* A delta against the chain's beginning pays while it is well below a keyframe's size. */
#define DELTA_PAYS_NUM 3
#define DELTA_PAYS_DEN 4

struct header {
        uint8_t magic[8], version, zero[7];
        uint8_t size[8];  /* of the program */
        uint8_t frame[8]; /* bytes behind the header */
        uint8_t id[DIGEST_SIZE];
        uint8_t base[DIGEST_SIZE]; /* zeros: a keyframe */
        uint8_t sum[8];            /* hash_quick() of all before */
};

struct programs {
        char *dir; /* of the store */
        char *folder;
        bool read_only;
        struct program_folder copies;
};

static int absent(const struct digest *id)
{
        return errorf(-ENOENT, "the program %.12s is not in the store; it has to be built again", digest_text(id).s);
}

static char *path_of(const struct programs *p, const struct digest *id)
{
        return format_string("%s/%s", p->folder, digest_text(id).s);
}

static int take_lock(const struct programs *p, int *ret_fd)
{
        return p->read_only ? errorf(-EROFS, "the store in %s is open read-only", p->dir) : lock_wait(p->folder, LOCK, LOCK_ALONE, ret_fd);
}

/* -- one file --------------------------------------------------------------------------------------------------- */

struct program {
        struct digest id, base;
        uint64_t size, stored;
        struct blob frame; /* when asked for */
};

static void header_make(struct header *h, const struct digest *id, uint64_t size, const struct digest *base, uint64_t frame)
{
        *h = (struct header){.magic = MAGIC, .version = VERSION};
        key_u64(h->size, size);
        key_u64(h->frame, frame);
        memcpy(h->id, id->bytes, DIGEST_SIZE);
        memcpy(h->base, base->bytes, DIGEST_SIZE);
        key_u64(h->sum, hash_quick(h, offsetof(struct header, sum)));
}

static bool header_is_sound(const struct header *h, const struct program *p)
{
        return memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0 && h->version == VERSION &&
               key_get_u64(h->sum) == hash_quick(h, offsetof(struct header, sum)) &&
               memcmp(h->id, p->id.bytes, DIGEST_SIZE) == 0 && key_get_u64(h->size) <= PROGRAM_MOST &&
               p->stored == sizeof(*h) + key_get_u64(h->frame);
}

static int load_from(int fd, bool with_frame, struct program *ret)
{
        struct header h;
        struct stat st;
        ssize_t n;
        int r = fstat(fd, &st) < 0 ? -errno : fault_at("programs.read");

        if (r < 0 || !S_ISREG(st.st_mode))
                return r < 0 ? r : -EBADMSG;
        ret->stored = (uint64_t)st.st_size;
        n = read(fd, &h, sizeof(h));
        if (n != sizeof(h) || !header_is_sound(&h, ret))
                return n < 0 ? -errno : -EBADMSG;
        ret->size = key_get_u64(h.size);
        memcpy(ret->base.bytes, h.base, DIGEST_SIZE);
        r = with_frame ? read_fd(fd, SIZE_MAX - 1, &ret->frame) : 0;
        return r == 0 && with_frame && ret->frame.size != ret->stored - sizeof(h) ? -EBADMSG : r;
}

/* -ENOENT: absent. -EBADMSG: not a program's file. Both without a sentence. */
static int load(const struct programs *p, const struct digest *id, bool with_frame, struct program *ret)
{
        cleanup_free char *path = path_of(p, id);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        int r = fd >= 0 ? 0 : errno == ELOOP ? -EBADMSG : -errno;

        *ret = (struct program){.id = *id};
        if (r == 0)
                r = load_from(fd, with_frame, ret);
        else if (r == -ENOENT)
                return r;
        return r == 0 || r == -EBADMSG || r == -ENOMEM ? r : errorf(r, "cannot read %s: %s", path, strerror(-r));
}

/* -- chains ----------------------------------------------------------------------------------------------------- */

/* The program, its base, the base's base … */
struct chain {
        struct program links[PROGRAMS_CHAIN + 1];
        size_t n;
        size_t bad; /* the first missing or wrong link */
};

static void chain_done(struct chain *c)
{
        for (size_t i = 0; i < ARRAY_SIZE(c->links); i++)
                blob_done(&c->links[i].frame);
}

/* -ENOENT: the program is absent. -EBADMSG: a link is missing or wrong. Both without a sentence. */
static int load_chain(const struct programs *p, const struct digest *id, bool with_frames, struct chain *ret)
{
        struct digest next = *id;

        while (ret->n < ARRAY_SIZE(ret->links)) {
                struct program *link = &ret->links[ret->n];
                int r = load(p, &next, with_frames, link);

                ret->bad = ret->n;
                if (r < 0)
                        return r == -ENOENT && ret->n > 0 ? -EBADMSG : r;
                ret->n++;
                next = link->base;
                if (digest_is_zero(&next))
                        return 0;
        }
        ret->bad = 0; /* perhaps a ring */
        return -EBADMSG;
}

static int check_chain(struct programs *p, const struct digest *id)
{
        cleanup(chain_done) struct chain c = {0};

        return load_chain(p, id, false, &c);
}

bool programs_has(struct programs *p, const struct digest *id)
{
        int r = check_chain(p, id);

        return r != -ENOENT && r != -EBADMSG;
}

int programs_info(struct programs *p, const struct digest *id, uint64_t *ret_stored, unsigned *ret_depth, struct digest *ret_base)
{
        cleanup(chain_done) struct chain c = {0};
        int r = load_chain(p, id, false, &c);

        if (r < 0)
                return r == -ENOENT || r == -EBADMSG ? absent(id) : r;
        *ret_stored = c.links[0].stored;
        *ret_depth = (unsigned)c.n - 1;
        *ret_base = c.links[0].base;
        return 0;
}

/* -- the folder ------------------------------------------------------------------------------------------------- */

struct each {
        programs_each_fn fn;
        void *user;
};

static int each_file(void *user, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);
        const struct each *e = user;
        struct digest id;
        struct stat st;

        if (strcmp(name, LOCK) == 0 || lstat(path, &st) < 0)
                return 0;
        return e->fn(e->user, name, digest_parse(name, &id) == 0 ? &id : NULL, &st);
}

int programs_each(struct programs *p, programs_each_fn fn, void *user)
{
        return folder_each(p->folder, each_file, &(struct each){fn, user});
}

/* A name of write_file_atomic() that a killed process left. */
static bool is_unfinished(const char *name)
{
        return strspn(name, "0123456789abcdef") == DIGEST_HEX_SIZE - 1 && name[DIGEST_HEX_SIZE - 1] == '.';
}

/* The programs and their bases, without content. */
struct links {
        const struct programs *programs;
        struct program *list; /* malloc'd */
        size_t n;
};

static void links_done(struct links *l)
{
        free(l->list);
}

static int add_link(void *user, const char *name, const struct digest *id, const struct stat *)
{
        struct links *l = user;
        cleanup_free char *path = format_string("%s/%s", l->programs->folder, name);
        struct program link;
        int r = id ? load(l->programs, id, false, &link) : 0;

        if (!id && is_unfinished(name))
                unlink(path); /* we hold the lock, so nobody is writing it */
        if (!id || r == -ENOENT || r == -EBADMSG || r == -EIO) /* no known base */
                return 0;
        list_grow(l->list, l->n);
        if (r == 0)
                l->list[l->n++] = link;
        return r;
}

/* Under the lock. */
static int list_links(struct programs *p, struct links *ret)
{
        ret->programs = p;
        return programs_each(p, add_link, ret);
}

static int remove_file(const struct programs *p, const struct digest *id)
{
        cleanup_free char *path = path_of(p, id);

        return unlink(path) < 0 && errno != ENOENT ? errorf(-errno, "cannot remove %s: %s", path, strerror(errno)) : 0;
}

/* Removes a missing or wrong file and all that build on it. Under the lock. */
static int drop(struct programs *p, const struct digest *id)
{
        cleanup(links_done) struct links all = {0};
        cleanup_digests struct digest_list gone = {0};
        int r = list_links(p, &all);

        log_error("the program %s in %s is damaged; it and all that build on it are dropped, to be built again", digest_text(id).s, p->dir);
        digest_list_add(&gone, id->bytes);
        for (size_t k = 0; r == 0 && k < gone.n; k++) {
                for (size_t i = 0; i < all.n; i++)
                        if (digest_equal(&all.list[i].base, &gone.list[k])) {
                                digest_list_add(&gone, all.list[i].id.bytes);
                                all.list[i].base = (struct digest){0}; /* once, also in a ring */
                        }
                r = remove_file(p, &gone.list[k]);
        }
        return r;
}

/* -- reading ---------------------------------------------------------------------------------------------------- */

static bool content_is(struct slice content, const struct digest *id)
{
        struct digest d;

        digest_of(content.data, content.size, &d);
        return digest_equal(&d, id);
}

/* Decodes from the keyframe to the program, alternating between two buffers. `each`: verifies every link. */
static int decode_chain(struct chain *c, bool each, struct blob *ret)
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
                if (r == 0 && (each || i == 0) && !content_is(content, &link->id))
                        r = -ENOENT;
                if (r < 0) {
                        c->bad = i;
                        return r == -ENOENT ? -EBADMSG : r;
                }
                to = from;
                from = swap;
        }
        *ret = (struct blob){.data = from, .size = content.size, .owned = from};
        from = NULL;
        return 0;
}

/* *ret_bad: the wrong link after -EBADMSG or -EIO. */
static int try_content(const struct programs *p, const struct digest *id, bool each, struct blob *ret, struct digest *ret_bad)
{
        cleanup(chain_done) struct chain c = {0};
        int r = load_chain(p, id, true, &c) ?: decode_chain(&c, each, ret);

        *ret_bad = c.links[c.bad].id;
        return r;
}

/* An unreadable program (-EIO) is kept, as the disk may recover; `strict` drops it. -ENOENT and -EBADMSG without a sentence. */
static int content_or_drop(struct programs *p, const struct digest *id, bool strict, struct blob *ret)
{
        cleanup_close int lock = -1;
        struct digest bad;
        int r = try_content(p, id, false, ret, &bad), dropped = 0;

        if (p->read_only || (r != -EBADMSG && (r != -EIO || !strict)))
                return r;
        r = take_lock(p, &lock) ?: try_content(p, id, true, ret, &bad);
        if (r == -EBADMSG || (r == -EIO && strict))
                dropped = drop(p, &bad);
        return dropped < 0 ? dropped : r;
}

static int read_content(struct programs *p, const struct digest *id, struct blob *ret)
{
        int r = content_or_drop(p, id, false, ret);

        return r == -ENOENT || r == -EBADMSG ? absent(id) : r;
}

int programs_verify(struct programs *p, const struct digest *id, bool look_only)
{
        cleanup_blob struct blob content = {0};
        struct digest bad;

        return look_only ? try_content(p, id, false, &content, &bad) : content_or_drop(p, id, true, &content);
}

/* -- storing ---------------------------------------------------------------------------------------------------- */

/* True if the chain may get another link. Decoding a link costs its whole length. */
static bool has_room(const struct chain *c)
{
        uint64_t bytes = 0;

        for (size_t i = 0; i < c->n; i++)
                bytes += c->links[i].size;
        return c->n == 1 || (c->n <= PROGRAMS_CHAIN && bytes < CHAIN_BYTES);
}

/* The base to try: `near` while its chain has room, else the chain's beginning; none if the chain cannot be read. */
static int choose_base(struct programs *p, const struct digest *near, struct digest *ret)
{
        cleanup(chain_done) struct chain c = {0};
        int r = load_chain(p, near, false, &c);

        if (r == 0)
                *ret = has_room(&c) ? c.links[0].id : c.links[c.n - 1].id;
        return r == -ENOENT || r == -EBADMSG || r == -EIO ? 0 : r;
}

/* Makes a delta against *base (zeros: none) or a keyframe, whichever pays, or a keyframe if *base cannot be read. For a keyframe *base becomes zeros. */
static int make_frame(struct programs *p, struct slice content, struct digest *base, struct blob *ret)
{
        cleanup_blob struct blob near = {0}, delta = {0};
        size_t most = delta_bound(content.size);
        int r = digest_is_zero(base) ? -ENOENT : read_content(p, base, &near);

        if (r == 0)
                r = delta_encode(content, SLICE(near.data, near.size), most, &delta);
        if (r < 0 && r != -ENOENT && r != -EIO)
                return r;
        blob_done(&near);
        /* The keyframe must be small enough to win. */
        r = delta_encode(content, SLICE(NULL, 0), delta.owned ? delta.size / DELTA_PAYS_NUM * DELTA_PAYS_DEN : most, ret);
        if (r == -E2BIG && delta.owned) {
                *ret = delta;
                delta = (struct blob){0};
                return 0;
        }
        *base = (struct digest){0};
        return r;
}

/* True if a delta against `base` can still be decoded. Meanwhile another process may have removed the base, lengthened its chain, or stored the base
 * as a delta against this very program. */
static bool base_is_good(const struct programs *p, const struct digest *base, const struct digest *id)
{
        cleanup(chain_done) struct chain c = {0};

        if (digest_is_zero(base))
                return true;
        if (load_chain(p, base, false, &c) < 0 || c.n > PROGRAMS_CHAIN)
                return false;
        for (size_t i = 0; i < c.n; i++)
                if (digest_equal(&c.links[i].id, id))
                        return false;
        return true;
}

/* Without `anew` an existing file stays, as others may build on it; with `anew` it is replaced. -EAGAIN: the base is gone. */
static int place(struct programs *p, const struct digest *id, uint64_t size, const struct digest *base, const struct blob *frame, bool anew)
{
        cleanup_free char *path = path_of(p, id);
        cleanup_buffer struct buffer b = {0};
        cleanup_close int lock = -1;
        struct header h;
        int r;

        header_make(&h, id, size, base, frame->size);
        buffer_add(&b, &h, sizeof(h));
        buffer_add(&b, frame->data, frame->size);
        r = buffer_error(&b) ?: fault_at("programs.place") ?: take_lock(p, &lock);
        if (r < 0 || (!anew && check_chain(p, id) == 0))
                return r;
        if (!base_is_good(p, base, id))
                return -EAGAIN;
        r = write_file_atomic(path, b.data, b.size, 0600);
        return r == -ENOSPC || r == -EDQUOT ? errorf(-ENOSPC, "cannot store a program: no space left for %s", p->folder) : r;
}

static int read_program(int fd, struct blob *ret)
{
        int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : read_fd(fd, PROGRAM_MOST, ret);

        if (r == -EFBIG)
                return errorf(r, "a built program " PROGRAM_TOO_LARGE);
        return r < 0 ? errorf(r, "cannot read a built program: %s", strerror(-r)) : 0;
}

int programs_put(struct programs *p, int fd, const struct digest *near, struct digest *ret_id, uint64_t *ret_size)
{
        cleanup_blob struct blob content = {0};
        struct digest base = {0};
        int r = fault_at("programs.put") ?: read_program(fd, &content);

        if (r < 0)
                return r;
        digest_of(content.data, content.size, ret_id);
        *ret_size = content.size;
        if (check_chain(p, ret_id) == 0) {
                cleanup_free char *path = path_of(p, ret_id);

                utimensat(AT_FDCWD, path, NULL, 0); /* gc spares it for the build that will refer to it */
                return 0;
        }
        if (near)
                r = choose_base(p, near, &base);
        while (r == 0) {
                cleanup_blob struct blob frame = {0};

                r = make_frame(p, SLICE(content.data, content.size), &base, &frame)
                    ?: place(p, ret_id, content.size, &base, &frame, false);
                if (r != -EAGAIN)
                        return r;
                base = (struct digest){0}; /* the base was removed meanwhile */
                r = 0;
        }
        return r;
}

/* -- removing --------------------------------------------------------------------------------------------------- */

/* Removes the programs if no other builds on them; else -EAGAIN, and *ret has those that do. */
static int remove_alone(struct programs *p, const struct digest_list *go, struct links *ret)
{
        cleanup_close int lock = -1;
        size_t n = 0;
        int r = take_lock(p, &lock) ?: list_links(p, ret);

        for (size_t i = 0; i < ret->n; i++)
                if (digest_list_find(go, &ret->list[i].base) && !digest_list_find(go, &ret->list[i].id))
                        ret->list[n++] = ret->list[i];
        ret->n = n;
        if (r == 0 && n > 0)
                return -EAGAIN;
        for (size_t i = 0; r == 0 && i < go->n; i++) {
                r = remove_file(p, &go->list[i]);
                program_folder_remove(&p->copies, &go->list[i]);
        }
        return r;
}

/* Stores a program that builds on a removed one again, against the next in its chain that stays. */
static int store_again(struct programs *p, const struct digest *id, const struct digest_list *go)
{
        cleanup(chain_done) struct chain c = {0};
        cleanup_blob struct blob content = {0}, frame = {0};
        struct digest base = {0};
        int r = read_content(p, id, &content) ?: load_chain(p, id, false, &c);

        if (r == -ENOENT || r == -EBADMSG)
                return 0; /* dropped, or removed by another */
        for (size_t i = c.n; r == 0 && i-- > 1;)
                if (!digest_list_find(go, &c.links[i].id))
                        base = c.links[i].id;
        if (r == 0)
                r = make_frame(p, SLICE(content.data, content.size), &base, &frame);
        return r < 0 ? r : place(p, id, content.size, &base, &frame, true);
}

int programs_remove(struct programs *p, const struct digest *ids, size_t n, const struct progress *progress)
{
        const struct digest_list go = {(struct digest *)ids, n};
        struct digest first = {0}; /* the first program stored again in the last round */

        for (;;) {
                cleanup(links_done) struct links builds_on = {0};
                int r = remove_alone(p, &go, &builds_on);

                if (r != -EAGAIN)
                        return r;
                if (digest_equal(&builds_on.list[0].id, &first))
                        return errorf(-EIO,
                                      "cannot remove a program: those that build on it in %s cannot be stored again; see "
                                      "'solverfs fsck'",
                                      p->dir);
                r = 0;
                for (size_t i = 0; r == 0 && i < builds_on.n; i++)
                        r = progress_step(progress, "programs", i, builds_on.n)
                            ?: store_again(p, &builds_on.list[i].id, &go);
                if (r < 0 && r != -EAGAIN)
                        return r;
                first = r == 0 ? builds_on.list[0].id : (struct digest){0};
        }
}

/* -- to be executed --------------------------------------------------------------------------------------------- */

static int content_for_folder(void *user, const struct digest *id, struct blob *ret)
{
        return fault_at("programs.get") ?: read_content(user, id, ret);
}

int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE])
{
        cleanup_blob struct blob content = {0};
        struct program program;
        int r = load(p, id, false, &program);

        if (r == -EBADMSG && (r = read_content(p, id, &content)) == 0) /* drops it unless it is whole now */
                r = load(p, id, false, &program);
        if (r == -ENOENT || r == -EBADMSG)
                return absent(id);
        return r < 0 ? r : program_folder_get(&p->copies, id, program.size, content_for_folder, p, ret_fd, ret_path);
}

/* -- life ------------------------------------------------------------------------------------------------------- */

int programs_open(const char *dir, bool read_only, uint64_t bound, struct programs **ret)
{
        struct programs *p = allocate(1, sizeof(*p));
        int r = 0;

        p->read_only = read_only;
        p->dir = copy_string(dir);
        p->folder = format_string("%s/" FOLDER, dir);
        if (!read_only)
                r = make_dirs(p->folder, 0700);
        if (r == 0)
                r = program_folder_open(&p->copies, dir, read_only, bound);
        *ret = r < 0 ? programs_close(p) : p;
        return r;
}

struct programs *programs_close(struct programs *p)
{
        if (!p)
                return NULL;
        free(p->dir);
        free(p->folder);
        free(p);
        return NULL;
}
