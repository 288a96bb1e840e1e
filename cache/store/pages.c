#include "cache/store/pages.h"

#include <endian.h>
#include <inttypes.h>
#include <sys/stat.h>

#define META_MAGIC   UINT32_C(0xBEEFC0DE)
#define META_VERSION 1
#define HEADER       16 /* of a page: number u64, pad u16, flags u16, then lower and upper u16, or a count of pages u32 */
#define NODE_HEADER  8  /* low and high half of the value's size or child's number u16, flags u16, key's size u16 */
#define NO_ROOT      UINT64_MAX
#define DEPTH_MOST   32
#define KEY_MOST     511
#define CLOCK_EVERY  64 /* pages */

enum {
        PAGE_BRANCH = 0x01,
        PAGE_LEAF = 0x02,
        PAGE_OVERFLOW = 0x04,
        PAGE_META = 0x08,
        PAGE_KINDS = 0x6f, /* these, and leaves of fixed-size keys and sub-pages, which we have none of */
};
enum {
        NODE_BIG = 0x01, /* the value is the number of its first overflow page */
        NODE_SUB = 0x02, /* the value is a tree */
};

/* The file's structures are little end first, like every machine LMDB's files are moved between. */
static uint16_t get16(const uint8_t *p)
{
        uint16_t n;

        memcpy(&n, p, sizeof(n));
        return le16toh(n);
}

static uint32_t get32(const uint8_t *p)
{
        uint32_t n;

        memcpy(&n, p, sizeof(n));
        return le32toh(n);
}

static uint64_t get64(const uint8_t *p)
{
        uint64_t n;

        memcpy(&n, p, sizeof(n));
        return le64toh(n);
}

struct tree {
        uint16_t flags, depth;
        uint64_t branches, leaves, overflows, entries, root;
};
#define TREE_SIZE 48

static void tree_read(const uint8_t *p, struct tree *ret)
{
        *ret = (struct tree){
                .flags = get16(p + 4),
                .depth = get16(p + 6),
                .branches = get64(p + 8),
                .leaves = get64(p + 16),
                .overflows = get64(p + 24),
                .entries = get64(p + 32),
                .root = get64(p + 40),
        };
}

struct check {
        int fd;
        const char *name;
        uint32_t page_size;
        uint64_t last; /* page number */
        uint64_t deadline;
        uint8_t *seen; /* a bit for each page */
        uint8_t *room; /* a byte for each of a page's: taken by a node */
        struct pages_report *report;
        struct tree free, main;
};

static void check_done(struct check *c)
{
        free(c->seen);
        free(c->room);
}

static int damaged(struct check *c, uint64_t page, const char *what)
{
        return errorf(-EIO, "%s is damaged: page %" PRIu64 ": %s", c->name, page, what);
}

/* -- meta pages ------------------------------------------------------------------------------------------------- */

struct found_meta {
        bool valid;
        uint32_t page_size;
        uint64_t last, txn;
        struct tree free, main;
};

static void meta_read(int fd, off_t offset, struct found_meta *ret)
{
        uint8_t p[HEADER + 24 + 2 * TREE_SIZE + 16];

        *ret = (struct found_meta){0};
        if (pread(fd, p, sizeof(p), offset) != sizeof(p))
                return;
        if (!(get16(p + 10) & PAGE_META) || get32(p + HEADER) != META_MAGIC || get32(p + HEADER + 4) != META_VERSION)
                return;
        tree_read(p + HEADER + 24, &ret->free);
        tree_read(p + HEADER + 24 + TREE_SIZE, &ret->main);
        ret->page_size = get32(p + HEADER + 24); /* the free list's first field */
        ret->last = get64(p + HEADER + 24 + 2 * TREE_SIZE);
        ret->txn = get64(p + HEADER + 24 + 2 * TREE_SIZE + 8);
        ret->valid = ret->page_size >= 256 && ret->page_size <= 65536 && (ret->page_size & (ret->page_size - 1)) == 0;
}

int pages_format(int fd, const char *name)
{
        uint32_t versions[2];

        for (unsigned i = 0; i < 2; i++) {
                uint8_t p[8];

                if (pread(fd, p, sizeof(p), (off_t)(i * (unsigned long)sysconf(_SC_PAGESIZE) + HEADER)) != sizeof(p) ||
                    get32(p) != META_MAGIC)
                        return 0;
                versions[i] = get32(p + 4);
        }
        if (versions[0] == META_VERSION || versions[0] != versions[1])
                return 0;
        return errorf(-EPROTONOSUPPORT,
                      "%s has LMDB's data format %" PRIu32 " and this solverfs knows format %d only; nothing was changed: "
                      "use one that is built with %s LMDB",
                      name, versions[0], META_VERSION, versions[0] > META_VERSION ? "a newer" : "an older");
}

/* Both must be sound, or LMDB may take the bad one: it chooses by number alone. */
static int choose_meta(struct check *c, uint64_t txn, uint64_t size)
{
        struct found_meta metas[2], *chosen;

        meta_read(c->fd, 0, &metas[0]);
        if (!metas[0].valid)
                return errorf(-EIO, "%s is damaged: its first meta page is not one", c->name);
        meta_read(c->fd, metas[0].page_size, &metas[1]);
        if (!metas[1].valid || metas[1].page_size != metas[0].page_size)
                return errorf(-EIO, "%s is damaged: its second meta page is not one", c->name);
        chosen = &metas[metas[1].txn > metas[0].txn];
        if (txn != 0)
                chosen = &metas[metas[1].txn == txn];
        if (txn != 0 && chosen->txn != txn)
                return -EAGAIN;
        c->page_size = chosen->page_size;
        c->last = chosen->last;
        c->free = chosen->free;
        c->main = chosen->main;
        if (c->last < 1 || c->last >= UINT64_C(1) << 47)
                return errorf(-EIO, "%s is damaged: its meta page claims %" PRIu64 " pages", c->name, c->last);
        if ((c->last + 1) * c->page_size > size)
                return errorf(-EIO, "%s is damaged: it has %" PRIu64 " bytes where its meta page claims %" PRIu64, c->name, size,
                              (c->last + 1) * c->page_size);
        return 0;
}

/* -- pages ------------------------------------------------------------------------------------------------------ */

static int see(struct check *c, uint64_t page)
{
        if (page < 2 || page > c->last)
                return damaged(c, page, "there is no such page");
        if (c->seen[page / 8] >> page % 8 & 1)
                return damaged(c, page, "it is used twice");
        c->seen[page / 8] |= (uint8_t)(1 << page % 8);
        return 0;
}

static int read_at(struct check *c, uint64_t page, uint64_t offset, void *to, size_t size)
{
        ssize_t n = pread(c->fd, to, size, (off_t)(page * c->page_size + offset));

        if (n < 0)
                return errorf(-EIO, "cannot read %s: %s", c->name, strerror(errno));
        return (size_t)n == size ? 0 : damaged(c, page, "it is cut short");
}

static int out_of_time(struct check *c)
{
        if (c->report->pages++ % CLOCK_EVERY == 0 && c->deadline != 0 && now_ns() > c->deadline)
                return -ETIME;
        return 0;
}

static int read_page(struct check *c, uint64_t page, uint8_t *to)
{
        int r = see(c, page);

        if (r == 0)
                r = out_of_time(c);
        if (r == 0)
                r = read_at(c, page, 0, to, c->page_size);
        if (r == 0 && get64(to) != page)
                r = damaged(c, page, "it has another number");
        return r;
}

/* The run of overflow pages that holds `size` bytes; *ret_pages how many. */
static int see_overflow(struct check *c, uint64_t page, uint64_t size, uint64_t *ret_pages)
{
        uint64_t wanted = (HEADER - 1 + size) / c->page_size + 1;
        uint8_t header[HEADER];
        int r;

        if (page < 2 || page > c->last || wanted > c->last - page + 1)
                return damaged(c, page, "a value's pages reach out of the file");
        r = read_at(c, page, 0, header, sizeof(header));
        if (r == 0 &&
            (get64(header) != page || (get16(header + 10) & PAGE_KINDS) != PAGE_OVERFLOW || get32(header + 12) != wanted))
                r = damaged(c, page, "it is not the value's that points to it");
        for (uint64_t i = 0; r == 0 && i < wanted; i++)
                r = see(c, page + i);
        *ret_pages = wanted;
        return r;
}

/* -- trees ------------------------------------------------------------------------------------------------------ */

enum tree_kind {
        TREE_FREE,  /* transaction number → pages it freed */
        TREE_MAIN,  /* name → tree */
        TREE_TABLE, /* ours */
};

/* A walk through one tree, in the order of its keys. */
struct walk {
        struct check *check;
        enum tree_kind kind;
        const struct tree *tree;
        struct tree counted;
        uint8_t *pages; /* malloc'd: one for each level */
        uint8_t key[KEY_MOST];
        size_t key_size;
        bool has_key;
        bool separator; /* the last key was a branch's: the next may be equal */
};

struct node {
        const uint8_t *key, *value;
        size_t key_size, size;
        uint64_t value_size; /* of a leaf's */
        uint64_t child;      /* of a branch's */
        uint16_t flags;
};

static int node_read(struct walk *w, const uint8_t *page, unsigned index, bool branch, struct node *ret)
{
        struct check *c = w->check;
        uint16_t lower = get16(page + 12), at = get16(page + HEADER + 2 * index);
        const uint8_t *p = page + at;
        uint64_t size;

        if (at < lower || at + NODE_HEADER > c->page_size)
                return damaged(c, get64(page), "a node lies outside of it");
        *ret = (struct node){
                .key = p + NODE_HEADER,
                .key_size = get16(p + 6),
                .flags = get16(p + 4),
                .value_size = get16(p) | (uint64_t)get16(p + 2) << 16,
        };
        size = NODE_HEADER + ret->key_size;
        if (branch) {
                ret->child = ret->value_size | (uint64_t)ret->flags << 32;
        } else {
                size += ret->flags & NODE_BIG ? sizeof(uint64_t) : ret->value_size;
                ret->value = ret->key + ret->key_size;
        }
        if (at + size > c->page_size)
                return damaged(c, get64(page), "a node reaches out of it");
        ret->size = size;
        if (ret->key_size > KEY_MOST || (ret->key_size == 0 && !(branch && index == 0)))
                return damaged(c, get64(page), "a key has no possible size");
        return 0;
}

/* LMDB moves nodes about by their sizes: they must fill the page's end, without gaps and without lying over each other. */
static int node_takes_room(struct check *c, const uint8_t *page, const struct node *n)
{
        size_t at = (size_t)(n->key - NODE_HEADER - page), size = (n->size + 1) & ~(size_t)1;

        if (at < get16(page + 14) || at + size > c->page_size || memchr(c->room + at, 1, size))
                return damaged(c, get64(page), "its nodes lie over each other");
        memset(c->room + at, 1, size);
        return 0;
}

static int nodes_fill_room(struct walk *w, const uint8_t *page, unsigned n, bool branch)
{
        struct check *c = w->check;
        uint16_t upper = get16(page + 14);
        struct node node;
        int r = 0;

        memset(c->room, 0, c->page_size);
        for (unsigned i = 0; r == 0 && i < n; i++) {
                r = node_read(w, page, i, branch, &node);
                if (r == 0)
                        r = node_takes_room(c, page, &node);
        }
        if (r == 0 && memchr(c->room + upper, 0, c->page_size - upper))
                r = damaged(c, get64(page), "there are gaps between its nodes");
        return r;
}

static int compare(enum tree_kind kind, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
        int c;

        if (kind == TREE_FREE && a_size == sizeof(uint64_t) && b_size == sizeof(uint64_t))
                return (get64(a) > get64(b)) - (get64(a) < get64(b));
        c = memcmp(a, b, MIN(a_size, b_size));
        return c != 0 ? c : (a_size > b_size) - (a_size < b_size);
}

/* Keys ascend; a branch's is above all to its left and not above any to its right. */
static int next_key(struct walk *w, uint64_t page, const struct node *n, bool separator)
{
        if (w->kind == TREE_FREE && n->key_size != sizeof(uint64_t))
                return damaged(w->check, page, "a transaction's number has another size");
        if (w->has_key) {
                int c = compare(w->kind, w->key, w->key_size, n->key, n->key_size);

                if (c > 0 || (c == 0 && !w->separator))
                        return damaged(w->check, page, "its keys are out of order");
        }
        memcpy(w->key, n->key, n->key_size);
        w->key_size = n->key_size;
        w->has_key = true;
        w->separator = separator;
        return 0;
}

static int walk_tree(struct check *c, enum tree_kind kind, const struct tree *t);

/* A list of pages that a transaction freed: a count, then their numbers, descending. */
static int free_list(struct check *c, uint64_t page, const uint8_t *list, uint64_t size)
{
        uint64_t n = size >= sizeof(uint64_t) ? get64(list) : UINT64_MAX, before = UINT64_MAX;

        if (n > size / sizeof(uint64_t) - 1 || size < sizeof(uint64_t))
                return damaged(c, page, "a list of free pages is longer than its room");
        for (uint64_t i = 1; i <= n; i++) {
                uint64_t number = get64(list + i * sizeof(uint64_t));
                int r;

                if (number >= before)
                        return damaged(c, page, "a list of free pages is out of order");
                before = number;
                r = see(c, number);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int big_free_list(struct check *c, uint64_t first, uint64_t size)
{
        cleanup_free uint8_t *list = malloc(size);
        int r = list ? read_at(c, first, HEADER, list, size) : -ENOMEM;

        return r < 0 ? r : free_list(c, first, list, size);
}

static int subtree(struct check *c, uint64_t page, const struct node *n)
{
        struct tree t;

        if (n->value_size != TREE_SIZE || n->flags != NODE_SUB)
                return damaged(c, page, "a table is not described as one");
        tree_read(n->value, &t);
        if (t.flags != 0)
                return damaged(c, page, "a table has flags that no table has");
        return walk_tree(c, TREE_TABLE, &t);
}

static int leaf_node(struct walk *w, uint64_t page, const struct node *n)
{
        struct check *c = w->check;
        uint64_t pages = 0, first = 0;
        int r = next_key(w, page, n, false);

        if (r < 0)
                return r;
        w->counted.entries++;
        c->report->entries++;
        if (n->flags & ~(w->kind == TREE_MAIN ? NODE_BIG | NODE_SUB : NODE_BIG))
                return damaged(c, page, "a node has flags that no node has");
        if (n->flags & NODE_BIG) {
                first = get64(n->value);
                r = see_overflow(c, first, n->value_size, &pages);
                w->counted.overflows += pages;
        }
        if (r < 0 || w->kind == TREE_TABLE)
                return r;
        if (w->kind == TREE_MAIN)
                return subtree(c, page, n);
        return n->flags & NODE_BIG ? big_free_list(c, first, n->value_size) : free_list(c, page, n->value, n->value_size);
}

static int walk_page(struct walk *w, uint64_t number, unsigned depth)
{
        struct check *c = w->check;
        uint8_t *page = w->pages + (size_t)depth * c->page_size;
        bool branch = depth + 1 < w->tree->depth;
        uint16_t lower, upper;
        int r = read_page(c, number, page);

        if (r < 0)
                return r;
        lower = get16(page + 12);
        upper = get16(page + 14);
        if ((get16(page + 10) & PAGE_KINDS) != (branch ? PAGE_BRANCH : PAGE_LEAF))
                return damaged(c, number, "it is of another kind than its place");
        if (lower < HEADER || lower % 2 != 0 || lower > upper || upper > c->page_size)
                return damaged(c, number, "its bounds are impossible");
        if (branch && lower < HEADER + 2 * 2)
                return damaged(c, number, "a branch with fewer than two children");
        *(branch ? &w->counted.branches : &w->counted.leaves) += 1;
        r = nodes_fill_room(w, page, (lower - HEADER) / 2u, branch);
        for (unsigned i = 0; r == 0 && i < (lower - HEADER) / 2u; i++) {
                struct node n;

                r = node_read(w, page, i, branch, &n);
                if (r == 0 && !branch)
                        r = leaf_node(w, number, &n);
                if (r == 0 && branch && i > 0)
                        r = next_key(w, number, &n, true);
                if (r == 0 && branch)
                        r = walk_page(w, n.child, depth + 1);
        }
        return r;
}

static void walk_done(struct walk *w)
{
        free(w->pages);
}

static int walk_tree(struct check *c, enum tree_kind kind, const struct tree *t)
{
        cleanup(walk_done) struct walk w = {.check = c, .kind = kind, .tree = t};
        int r;

        if (t->root == NO_ROOT)
                return t->entries == 0 && t->depth == 0 ? 0
                                                        : errorf(-EIO, "%s is damaged: a table has entries and no root", c->name);
        if (t->depth < 1 || t->depth > DEPTH_MOST)
                return errorf(-EIO, "%s is damaged: a table is %u pages deep", c->name, t->depth);
        w.pages = malloc((size_t)t->depth * c->page_size);
        r = w.pages ? walk_page(&w, t->root, 0) : -ENOMEM;
        if (r < 0)
                return r;
        if (w.counted.entries != t->entries || w.counted.branches != t->branches || w.counted.leaves != t->leaves ||
            w.counted.overflows != t->overflows)
                return errorf(-EIO, "%s is damaged: a table has not as many entries or pages as it says", c->name);
        return 0;
}

int pages_check(int fd, const char *name, uint64_t txn, uint64_t deadline, struct pages_report *ret)
{
        cleanup(check_done) struct check c = {.fd = fd, .name = name, .deadline = deadline, .report = ret};
        struct stat st;
        int r;

        *ret = (struct pages_report){.complete = true};
        if (fstat(fd, &st) < 0)
                return errorf(-errno, "cannot look at %s: %s", name, strerror(errno));
        if (st.st_size == 0)
                return 0;
        r = pages_format(fd, name);
        if (r == 0)
                r = choose_meta(&c, txn, (uint64_t)st.st_size);
        if (r < 0)
                return r;
        c.seen = calloc(1, c.last / 8 + 1);
        c.room = malloc(c.page_size);
        if (!c.seen || !c.room)
                return -ENOMEM;
        /* The free list first: writing into a page that is in use is the worst that can happen. */
        r = walk_tree(&c, TREE_FREE, &c.free);
        if (r == 0)
                r = walk_tree(&c, TREE_MAIN, &c.main);
        if (r == -ETIME) {
                ret->complete = false;
                return 0;
        }
        return r;
}
