/* A tree is checked in one of two ways: whole, by walk_tree() (the free list, the tree of tables, a table in which something is deleted), or only the
 * pages on the way to one key, by check_path(). */
#include "cache/store/pages.h"

#include <inttypes.h>
#include <sys/stat.h>

#define META_MAGIC   UINT32_C(0xBEEFC0DE)
#define META_VERSION 1
#define PAGE_LEAST   256
#define PAGE_MOST    32768
#define HEADER       16 /* of a page: number u64, pad u16, flags u16, then lower and upper u16, or a count of pages u32 */
#define NODE_HEADER  8  /* low and high half of the value's size or child's number u16, flags u16, key's size u16 */
#define NO_ROOT      UINT64_MAX
#define DEPTH_MOST   32
#define KEY_MOST     511
#define FREE_FLAGS   0x08 /* the free list's tree: keys are numbers */

/* A page in the file has exactly one of these. With 0x10, for example, LMDB would take it for its own copy and write to it in the map. */
enum {
        PAGE_BRANCH = 0x01,
        PAGE_LEAF = 0x02,
        PAGE_OVERFLOW = 0x04,
        PAGE_META = 0x08,
};
enum {
        NODE_BIG = 0x01, /* the value is the number of its first overflow page */
        NODE_SUB = 0x02, /* the value is a tree */
};

/* Numbers have the machine's order of bytes, as LMDB writes them. */
static uint16_t get16(const uint8_t *p)
{
        uint16_t n;

        memcpy(&n, p, sizeof(n));
        return n;
}

/* As they stand in the file: a tree, and a meta page. */
struct tree {
        uint32_t page_size; /* set in the free list's tree only */
        uint16_t flags, depth;
        uint64_t branches, leaves, overflows, entries, root;
};
struct meta {
        uint8_t header[HEADER];
        uint32_t magic, version;
        uint64_t address, map_size;
        struct tree free, main;
        uint64_t last, txn; /* number of the last page; of the transaction */
};
_Static_assert(sizeof(struct tree) == 48 && sizeof(struct meta) == HEADER + 136, "without gaps");

#define TABLE_NAME_MOST 64

struct table {
        char name[TABLE_NAME_MOST + 1];
        struct tree tree;
        bool whole; /* all pages were checked */
};

#define KEPT_BRANCHES 16

/* One snapshot, and which of its pages were checked. */
struct pages {
        int fd;
        const char *name;
        struct meta meta;
        size_t page_size;
        uint8_t *seen;    /* a bit for each page in use or free, so that a second use is found */
        uint8_t *on_path; /* a bit for each page of a checked path, which other paths may share; in seen, too */
        uint8_t *room;    /* [page_size], scratch of nodes_fill_room(): 1 if a node takes the byte */
        struct kept {
                uint64_t number; /* 0: none */
                uint8_t *page;   /* malloc'd when needed */
        } kept[KEPT_BRANCHES + 1]; /* [number % KEPT_BRANCHES]: branch pages read last; [KEPT_BRANCHES]: the last leaf */
        struct table *tables; /* malloc'd */
        size_t n_tables;
        bool walks_tables; /* walking the tree of names also walks the tables */
};

static int damaged(struct pages *c, uint64_t page, const char *what)
{
        return errorf(-EIO, "%s is damaged: page %" PRIu64 ": %s", c->name, page, what);
}

/* -- meta pages ------------------------------------------------------------------------------------------------- */

static bool tree_is_possible(const struct tree *t, uint16_t flags, uint64_t last)
{
        if (t->flags != flags || (t->root == NO_ROOT) != (t->depth == 0))
                return false;
        return t->root == NO_ROOT ? t->entries == 0 : t->root >= 2 && t->root <= last && t->depth <= DEPTH_MOST;
}

/* False: not a meta page. */
static bool meta_read(int fd, off_t offset, struct meta *ret)
{
        const uint32_t *size = &ret->free.page_size;

        return pread(fd, ret, sizeof(*ret), offset) == sizeof(*ret) && get16(ret->header + 10) == PAGE_META && ret->magic == META_MAGIC &&
               ret->version == META_VERSION && *size >= PAGE_LEAST && *size <= PAGE_MOST && (*size & (*size - 1)) == 0 && ret->last >= 1 &&
               ret->last < UINT64_C(1) << 47 && tree_is_possible(&ret->free, FREE_FLAGS, ret->last) && tree_is_possible(&ret->main, 0, ret->last);
}

/* Another LMDB's format if both meta pages say so; if only one does, it is damaged. The second one is behind the first, whatever the size of a page. */
static int check_format(int fd, const char *name)
{
        uint32_t versions[2] = {META_VERSION, META_VERSION};
        unsigned n = 0;

        for (off_t at = 0; at <= 1 << 16 && n < 2; at = at == 0 ? PAGE_LEAST : 2 * at) {
                uint8_t p[8];

                if (pread(fd, p, sizeof(p), at + HEADER) == sizeof(p) && load_4(p) == META_MAGIC)
                        versions[n++] = load_4(p + 4);
                else if (at == 0)
                        return 0;
        }
        if (versions[0] == META_VERSION || versions[0] != versions[1])
                return 0;
        return errorf(-EPROTONOSUPPORT,
                      "%s has LMDB's data format %" PRIu32 " and this solverfs knows format %d only; nothing was changed: "
                      "use one that is built with %s LMDB",
                      name, versions[0], META_VERSION, versions[0] > META_VERSION ? "a newer" : "an older");
}

/* Both must be sound: LMDB chooses by number alone, so it may take the bad one. -EAGAIN: neither is of the transaction `txn`. */
static int choose_meta(int fd, const char *name, uint64_t txn, struct meta *ret)
{
        struct meta metas[2], *newest;
        struct stat st;

        if (!meta_read(fd, 0, &metas[0]))
                return errorf(-EIO, "%s is damaged: its first meta page is not one", name);
        if (!meta_read(fd, metas[0].free.page_size, &metas[1]) || metas[1].free.page_size != metas[0].free.page_size)
                return errorf(-EIO, "%s is damaged: its second meta page is not one", name);
        newest = &metas[metas[1].txn > metas[0].txn];
        if (fstat(fd, &st) < 0) /* after the meta pages were read: a writer lengthens the file before it writes one */
                return errorf(-errno, "cannot look at %s: %s", name, strerror(errno));
        if ((newest->last + 1) * newest->free.page_size > (uint64_t)st.st_size)
                return errorf(-EIO, "%s is damaged: it has %" PRIu64 " bytes where its meta page claims %" PRIu64, name,
                              (uint64_t)st.st_size, (newest->last + 1) * newest->free.page_size);
        /* An even transaction writes meta page 0, an odd one page 1, and the file never shrinks. */
        if ((metas[0].txn & 1) != 0 || ((metas[1].txn & 1) != 1 && metas[1].txn != 0) || metas[newest == metas].last > newest->last)
                return errorf(-EIO, "%s is damaged: its meta pages contradict each other", name);
        *ret = txn == 0 ? *newest : metas[metas[1].txn == txn];
        return txn != 0 && ret->txn != txn ? -EAGAIN : 0;
}

int pages_check_meta(int fd, const char *name)
{
        struct meta meta;
        struct stat st;
        int r = check_format(fd, name);

        if (r < 0 || (fstat(fd, &st) == 0 && st.st_size == 0))
                return r;
        return choose_meta(fd, name, 0, &meta);
}

/* -- pages ------------------------------------------------------------------------------------------------------ */

static bool bit(const uint8_t *bits, uint64_t page)
{
        return bits[page / 8] >> page % 8 & 1;
}

static void set_bit(uint8_t *bits, uint64_t page)
{
        bits[page / 8] |= (uint8_t)(1 << page % 8);
}

/* Notes the one use of a page: by a tree, by a value, or as free. */
static int see(struct pages *c, uint64_t page)
{
        if (page < 2 || page > c->meta.last)
                return damaged(c, page, "there is no such page");
        if (bit(c->seen, page))
                return damaged(c, page, "it is used twice");
        set_bit(c->seen, page);
        return 0;
}

static int read_at(struct pages *c, uint64_t page, uint64_t offset, void *to, size_t size)
{
        ssize_t n = pread(c->fd, to, size, (off_t)(page * c->page_size + offset));

        if (n < 0)
                return errorf(-EIO, "cannot read %s: %s", c->name, strerror(errno));
        return (size_t)n == size ? 0 : damaged(c, page, "it is cut short");
}

static int read_page(struct pages *c, uint64_t page, uint8_t *to)
{
        int r = read_at(c, page, 0, to, c->page_size);

        return r == 0 && load_8(to) != page ? damaged(c, page, "it has another number") : r;
}

/* Checks the run of overflow pages that holds `size` bytes. *ret_pages: its length, which is more than needed if the value was larger earlier in
 * the same transaction. `on_path`: a page that was met on another path is no error. */
static int see_overflow(struct pages *c, uint64_t page, uint64_t size, bool on_path, uint64_t *ret_pages)
{
        uint64_t n = (HEADER - 1 + size) / c->page_size + 1;
        uint8_t header[HEADER];
        int r;

        if (page < 2 || page > c->meta.last || n > c->meta.last - page + 1)
                return damaged(c, page, "a value's pages reach out of the file");
        r = read_at(c, page, 0, header, sizeof(header));
        if (r == 0 && (load_8(header) != page || get16(header + 10) != PAGE_OVERFLOW || load_4(header + 12) < n ||
                       load_4(header + 12) > c->meta.last - page + 1))
                r = damaged(c, page, "it is not the value's that points to it");
        if (r < 0)
                return r;
        *ret_pages = n = load_4(header + 12);
        if (on_path && bit(c->on_path, page))
                return 0;
        for (uint64_t i = 0; r == 0 && i < n; i++) {
                r = see(c, page + i);
                if (r == 0 && on_path)
                        set_bit(c->on_path, page + i);
        }
        return r;
}

/* -- trees ------------------------------------------------------------------------------------------------------ */

enum tree_kind {
        TREE_FREE,  /* transaction number → pages it freed */
        TREE_MAIN,  /* name → tree */
        TREE_TABLE, /* ours */
};

/* A walk through one tree, in the order of its keys. */
struct tree_reader {
        struct pages *pages;
        enum tree_kind kind;
        const struct tree *tree;
        struct tree counted;
        uint8_t *levels; /* malloc'd: a page for each level */
        uint8_t key[KEY_MOST];
        size_t key_size;
        bool has_key;
        bool is_last_separator; /* the last key was in a branch: the next may be equal */
};

struct node {
        const uint8_t *key, *value;
        size_t key_size, size; /* size: of the whole node in its page */
        uint64_t value_size;   /* in a leaf */
        uint64_t child;        /* in a branch */
        uint16_t flags;
};

static int node_read(struct tree_reader *w, const uint8_t *page, unsigned index, bool branch, struct node *ret)
{
        struct pages *c = w->pages;
        uint16_t lower = get16(page + 12), at = get16(page + HEADER + 2 * index);
        const uint8_t *p = page + at;
        uint64_t size;

        if (at < lower || at + NODE_HEADER > c->page_size)
                return damaged(c, load_8(page), "a node lies outside of it");
        *ret = (struct node){
                .key = p + NODE_HEADER,
                .key_size = get16(p + 6),
                .flags = get16(p + 4),
                .value_size = load_4(p), /* LMDB orders its halves as the machine does */
        };
        size = NODE_HEADER + ret->key_size;
        if (branch) {
                ret->child = ret->value_size | (uint64_t)ret->flags << 32;
        } else {
                size += ret->flags & NODE_BIG ? sizeof(uint64_t) : ret->value_size;
                ret->value = ret->key + ret->key_size;
        }
        if (at + size > c->page_size)
                return damaged(c, load_8(page), "a node reaches out of it");
        ret->size = size;
        if (ret->key_size > KEY_MOST || (ret->key_size == 0 && !(branch && index == 0)))
                return damaged(c, load_8(page), "a key has no possible size");
        return 0;
}

static unsigned nodes_of(const uint8_t *page)
{
        return (get16(page + 12) - HEADER) / 2u;
}

/* LMDB moves nodes by their sizes: they must fill the page's end without gaps or overlaps. */
static int node_takes_room(struct pages *c, const uint8_t *page, const struct node *n)
{
        size_t at = (size_t)(n->key - NODE_HEADER - page), size = (n->size + 1) & ~(size_t)1;

        if (at < get16(page + 14) || at + size > c->page_size || memchr(c->room + at, 1, size))
                return damaged(c, load_8(page), "its nodes lie over each other");
        memset(c->room + at, 1, size);
        return 0;
}

static int nodes_fill_room(struct tree_reader *w, const uint8_t *page, unsigned n, bool branch)
{
        struct pages *c = w->pages;
        uint16_t upper = get16(page + 14);
        struct node node = {0};
        int r = 0;

        memset(c->room, 0, c->page_size);
        for (unsigned i = 0; r == 0 && i < n; i++)
                r = node_read(w, page, i, branch, &node) ?: node_takes_room(c, page, &node);
        if (r == 0 && memchr(c->room + upper, 0, c->page_size - upper))
                r = damaged(c, load_8(page), "there are gaps between its nodes");
        return r;
}

static int compare(enum tree_kind kind, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
        if (kind == TREE_FREE && a_size == sizeof(uint64_t) && b_size == sizeof(uint64_t))
                return ORDER(load_8(a), load_8(b));
        return memcmp(a, b, MIN(a_size, b_size)) ?: ORDER(a_size, b_size);
}

/* Keys ascend; a key of a branch is above all keys to its left and not above any to its right. */
static int next_key(struct tree_reader *w, uint64_t page, const struct node *n, bool is_separator)
{
        if (w->kind == TREE_FREE && n->key_size != sizeof(uint64_t))
                return damaged(w->pages, page, "a transaction's number has another size");
        if (w->has_key) {
                int c = compare(w->kind, w->key, w->key_size, n->key, n->key_size);

                if (c > 0 || (c == 0 && !w->is_last_separator))
                        return damaged(w->pages, page, "its keys are out of order");
        }
        memcpy(w->key, n->key, n->key_size);
        w->key_size = n->key_size;
        w->has_key = true;
        w->is_last_separator = is_separator;
        return 0;
}

static int walk_tree(struct pages *c, enum tree_kind kind, const struct tree *t);

/* A list of pages that a transaction freed: a count, then their numbers, descending. */
static int free_list(struct pages *c, uint64_t page, const uint8_t *list, uint64_t size)
{
        uint64_t n = size >= sizeof(uint64_t) ? load_8(list) : UINT64_MAX, before = UINT64_MAX;

        if (n > size / sizeof(uint64_t) - 1 || size < sizeof(uint64_t))
                return damaged(c, page, "a list of free pages is longer than its room");
        for (uint64_t i = 1; i <= n; i++) {
                uint64_t number = load_8(list + i * sizeof(uint64_t));
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

static int big_free_list(struct pages *c, uint64_t first, uint64_t size)
{
        cleanup_free uint8_t *list = malloc(size);
        int r = list ? read_at(c, first, HEADER, list, size) : -ENOMEM;

        return r < 0 ? r : free_list(c, first, list, size);
}

/* Notes a table and, if `walks_tables`, walks it. */
static int subtree(struct pages *c, uint64_t page, const struct node *n)
{
        struct table *t;

        if (n->value_size != sizeof(t->tree) || n->flags != NODE_SUB || n->key_size > TABLE_NAME_MOST)
                return damaged(c, page, "a table is not described as one");
        t = list_add(c->tables, c->n_tables, (struct table){0});
        memcpy(t->name, n->key, n->key_size);
        memcpy(&t->tree, n->value, sizeof(t->tree));
        if (!tree_is_possible(&t->tree, 0, c->meta.last))
                return damaged(c, page, "a table is described as none can be");
        return c->walks_tables ? walk_tree(c, TREE_TABLE, &t->tree) : 0;
}

static int leaf_node(struct tree_reader *w, uint64_t page, const struct node *n)
{
        struct pages *c = w->pages;
        uint64_t pages = 0, first = 0;
        int r = next_key(w, page, n, false);

        if (r < 0)
                return r;
        w->counted.entries++;
        if (n->flags & ~(w->kind == TREE_MAIN ? NODE_BIG | NODE_SUB : NODE_BIG))
                return damaged(c, page, "a node has flags that no node has");
        if (n->flags & NODE_BIG) {
                first = load_8(n->value);
                r = see_overflow(c, first, n->value_size, false, &pages);
                w->counted.overflows += pages;
        }
        if (r < 0 || w->kind == TREE_TABLE)
                return r;
        if (w->kind == TREE_FREE && (load_8(n->key) == 0 || load_8(n->key) > c->meta.txn))
                return damaged(c, page, "it is of a transaction that has not been");
        if (w->kind == TREE_MAIN)
                return subtree(c, page, n);
        return n->flags & NODE_BIG ? big_free_list(c, first, n->value_size) : free_list(c, page, n->value, n->value_size);
}

/* Checks a page's content for its place in the tree, except the pages it refers to and the order of its keys. */
static int check_page(struct tree_reader *w, const uint8_t *page, bool branch)
{
        struct pages *c = w->pages;
        uint16_t lower = get16(page + 12), upper = get16(page + 14);

        if (get16(page + 10) != (branch ? PAGE_BRANCH : PAGE_LEAF))
                return damaged(c, load_8(page), "it is of another kind than its place");
        if (lower < HEADER || lower % 2 != 0 || lower > upper || upper > c->page_size)
                return damaged(c, load_8(page), "its bounds are impossible");
        if (lower < HEADER + (branch ? 2 * 2 : 2))
                return damaged(c, load_8(page), "it has too few nodes");
        return nodes_fill_room(w, page, nodes_of(page), branch);
}

static int walk_page(struct tree_reader *w, uint64_t number, unsigned depth)
{
        struct pages *c = w->pages;
        uint8_t *page = w->levels + (size_t)depth * c->page_size;
        bool branch = depth + 1 < w->tree->depth;
        int r = see(c, number) ?: read_page(c, number, page) ?: check_page(w, page, branch);

        if (r < 0)
                return r;
        *(branch ? &w->counted.branches : &w->counted.leaves) += 1;
        for (unsigned i = 0; r == 0 && i < nodes_of(page); i++) {
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

static void walk_done(struct tree_reader *w)
{
        free(w->levels);
}

static int walk_tree(struct pages *c, enum tree_kind kind, const struct tree *t)
{
        struct tree tree = *t; /* the list of tables may move */
        cleanup(walk_done) struct tree_reader w = {.pages = c, .kind = kind, .tree = &tree};
        int r;

        if (tree.root == NO_ROOT)
                return 0;
        w.levels = allocate(tree.depth, c->page_size);
        r = walk_page(&w, tree.root, 0);
        if (r < 0)
                return r;
        if (w.counted.entries != tree.entries || w.counted.branches != tree.branches || w.counted.leaves != tree.leaves ||
            w.counted.overflows != tree.overflows)
                return errorf(-EIO, "%s is damaged: a table has not as many entries or pages as it says", c->name);
        return 0;
}

/* -- paths ------------------------------------------------------------------------------------------------------ */

/* Checks keys and flags of a page that is met for the first time. */
static int check_nodes(struct tree_reader *w, const uint8_t *page, bool branch)
{
        int r = see(w->pages, load_8(page));

        for (unsigned i = branch; r == 0 && i < nodes_of(page); i++) {
                struct node n;

                r = node_read(w, page, i, branch, &n) ?: next_key(w, load_8(page), &n, false);
                if (r == 0 && !branch && n.flags & ~NODE_BIG)
                        r = damaged(w->pages, load_8(page), "a node has flags that no node has");
        }
        return r;
}

/* Reads and checks a page; the order and flags of its nodes only if no path has met it yet. *ret is valid until the next call. */
static int path_page(struct tree_reader *w, uint64_t number, bool branch, const uint8_t **ret)
{
        struct pages *p = w->pages;
        struct kept *k = &p->kept[branch ? number % KEPT_BRANCHES : KEPT_BRANCHES];
        int r = 0;

        if (k->number != number) {
                if (number < 2 || number > p->meta.last)
                        return damaged(p, number, "there is no such page");
                k->number = 0;
                k->page = k->page ?: allocate(1, p->page_size);
                r = read_page(p, number, k->page) ?: check_page(w, k->page, branch);
                if (r == 0 && !bit(p->on_path, number))
                        r = check_nodes(w, k->page, branch);
        }
        if (r < 0)
                return r;
        set_bit(p->on_path, number);
        k->number = number;
        *ret = k->page;
        return 0;
}

/* The last node whose key is not above `key`; the first node of a branch has no key. False: all are above. */
static bool find_node(struct tree_reader *w, const uint8_t *page, bool branch, struct slice key, struct node *ret)
{
        unsigned low = branch, high = nodes_of(page);

        while (low < high) {
                unsigned middle = (low + high) / 2;

                if (node_read(w, page, middle, branch, ret) < 0)
                        return false; /* cannot happen: the page was checked */
                if (compare(w->kind, ret->key, ret->key_size, key.data, key.size) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > 0 && node_read(w, page, low - 1, branch, ret) == 0;
}

/* Checks the pages from the root to the leaf where the key is or would be. */
static int check_path(struct pages *p, const struct tree *t, struct slice key)
{
        struct tree_reader w = {.pages = p, .kind = TREE_TABLE};
        uint64_t number = t->root, pages;
        int r = 0;

        for (unsigned level = 1; r == 0 && level <= t->depth; level++) {
                bool branch = level < t->depth;
                const uint8_t *page = NULL;
                struct node n = {0};

                w.has_key = false;
                r = path_page(&w, number, branch, &page);
                if (r == 0 && find_node(&w, page, branch, key, &n) && !branch && n.flags & NODE_BIG)
                        r = see_overflow(p, load_8(n.value), n.value_size, true, &pages);
                number = n.child;
        }
        return r;
}

static struct table *find_table(struct pages *p, const char *name)
{
        for (size_t i = 0; i < p->n_tables; i++)
                if (strcmp(p->tables[i].name, name) == 0)
                        return &p->tables[i];
        return NULL;
}

static int check_table(struct pages *p, struct table *t)
{
        int r;

        /* Forget the pages of all paths: the walk of this table meets those in it again. */
        for (uint64_t page = 0; page <= p->meta.last / 8; page++)
                p->seen[page] &= (uint8_t)~p->on_path[page];
        r = walk_tree(p, TREE_TABLE, &t->tree);
        t->whole = r == 0;
        return r;
}

int pages_path(struct pages *p, const char *table, struct slice key, bool deletes)
{
        struct table *t = find_table(p, table);

        if (!t || t->whole || t->tree.root == NO_ROOT)
                return 0;
        return deletes ? check_table(p, t) : check_path(p, &t->tree, key);
}

bool pages_was_checked(const struct pages *p, uint64_t page)
{
        return page <= p->meta.last && (bit(p->on_path, page) || bit(p->seen, page));
}

/* -- snapshots -------------------------------------------------------------------------------------------------- */

struct pages *pages_free(struct pages *p)
{
        if (!p)
                return NULL;
        free(p->seen);
        free(p->on_path);
        free(p->room);
        for (size_t i = 0; i < ARRAY_SIZE(p->kept); i++)
                free(p->kept[i].page);
        free(p->tables);
        free(p);
        return NULL;
}

DEFINE_CLEANUP(struct pages *, pages_free)

static int begin(int fd, const char *name, uint64_t txn, bool walks_tables, struct pages **ret)
{
        cleanup(pages_freep) struct pages *p = allocate(1, sizeof(*p));
        size_t bits;
        int r;

        p->fd = fd;
        p->name = name;
        p->walks_tables = walks_tables;
        r = choose_meta(fd, name, txn, &p->meta);
        if (r < 0)
                return r;
        p->page_size = p->meta.free.page_size;
        bits = p->meta.last / 8 + 1;
        p->seen = allocate(1, bits);
        p->on_path = allocate(1, bits);
        p->room = allocate(1, p->page_size);
        /* The free list first: writing into a page in use would be the worst damage. */
        r = walk_tree(p, TREE_FREE, &p->meta.free) ?: walk_tree(p, TREE_MAIN, &p->meta.main);
        if (r == 0)
                *ret = steal_pointer(p);
        return r;
}

int pages_begin(int fd, const char *name, struct pages **ret)
{
        return begin(fd, name, 0, false, ret);
}

uint64_t pages_txn(const struct pages *p)
{
        return p->meta.txn;
}

int pages_check_free_list(struct pages *p)
{
        memset(p->seen, 0, p->meta.last / 8 + 1);
        return walk_tree(p, TREE_FREE, &p->meta.free);
}

int pages_check(int fd, const char *name, uint64_t txn)
{
        cleanup(pages_freep) struct pages *p = NULL;
        struct stat st;
        int r = check_format(fd, name);

        if (r == 0 && fstat(fd, &st) < 0)
                r = errorf(-errno, "cannot look at %s: %s", name, strerror(errno));
        return r < 0 || st.st_size == 0 ? r : begin(fd, name, txn, true, &p);
}
