/* What is looked at before LMDB writes is all that it reads: pages that were not looked at cannot be read at all here. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>

#include "cache/base/random.h"
#include "cache/store/pages.h"

#define DATA  "i/data.mdb"
#define TABLE "table"
#define KEYS  2500
#define PAGE  4096

static struct {
        MDB_env *env;
        MDB_dbi dbi;
        int fd;
        char *map;               /* LMDB's, of the file */
        size_t key_size;         /* the longer, the deeper the tree */
        unsigned versions[KEYS]; /* of each key's value; 0: it is not there */
        struct random random;
} world;

static char *find_map(void)
{
        FILE *f = fopen("/proc/self/maps", "re");
        void *found = NULL;
        char line[4096];

        ck_assert_ptr_nonnull(f);
        while (!found && fgets(line, sizeof(line), f))
                if (strstr(line, "/" DATA))
                        ck_assert_int_eq(sscanf(line, "%p", &found), 1);
        fclose(f);
        ck_assert_ptr_nonnull(found);
        return found;
}

static void world_open(size_t key_size)
{
        MDB_txn *txn;

        world.key_size = key_size;
        random_seed_part(&world.random, test_seed((unsigned)key_size), 0);
        ck_assert_int_eq(mkdir("i", 0700), 0);
        ck_assert_int_eq(mdb_env_create(&world.env), 0);
        ck_assert_int_eq(mdb_env_set_mapsize(world.env, (size_t)256 << 20), 0);
        ck_assert_int_eq(mdb_env_set_maxdbs(world.env, 4), 0);
        ck_assert_int_eq(mdb_env_open(world.env, "i", MDB_NOSYNC, 0600), 0);
        ck_assert_int_eq(mdb_txn_begin(world.env, NULL, 0, &txn), 0);
        ck_assert_int_eq(mdb_dbi_open(txn, TABLE, MDB_CREATE, &world.dbi), 0);
        ck_assert_int_eq(mdb_txn_commit(txn), 0);
        world.fd = open(DATA, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(world.fd, 0);
        world.map = find_map();
}

static MDB_val key_of(unsigned i, char key[512])
{
        memset(key, 'k', world.key_size);
        snprintf(key, 16, "%08u", i);
        key[8] = 'k';
        return (MDB_val){world.key_size, key};
}

static MDB_val value_of(unsigned i, unsigned version, char value[16384])
{
        struct random r;
        size_t size;

        random_seed_part(&r, i, version);
        size = random_below(&r, 20) == 0 ? 1500 + random_below(&r, 12000) : random_below(&r, 900);
        memset(value, 'a' + (int)random_below(&r, 26), size);
        return (MDB_val){size, value};
}

/* -- a transaction ---------------------------------------------------------------------------------------------- */

static uint64_t pages_in_file(void)
{
        struct stat st;

        ck_assert_int_eq(fstat(world.fd, &st), 0);
        return (uint64_t)st.st_size / PAGE;
}

static void protect(uint64_t page, uint64_t n, int how)
{
        ck_assert_int_eq(mprotect(world.map + page * PAGE, n * PAGE, how), 0);
}

/* Those that were looked at since. */
static void let_read(const struct pages *p, bool *readable, uint64_t n)
{
        for (uint64_t page = 2, first; page < n; page++) {
                for (first = page; page < n && !readable[page] && pages_was_checked(p, page); page++)
                        readable[page] = true;
                if (page > first)
                        protect(first, page - first, PROT_READ);
        }
}

static void change(MDB_txn *txn, unsigned i, bool deletes)
{
        char key[512], value[16384];
        MDB_val k = key_of(i, key), v;

        if (deletes) {
                ck_assert_int_eq(mdb_del(txn, world.dbi, &k, NULL), world.versions[i] > 0 ? 0 : MDB_NOTFOUND);
                world.versions[i] = 0;
                return;
        }
        v = value_of(i, ++world.versions[i], value);
        ck_assert_int_eq(mdb_put(txn, world.dbi, &k, &v, 0), 0);
}

/* `n` changes, to keys at random or to those behind `from`, so many of ten of them deletions. */
static void transaction(unsigned n, unsigned from, unsigned deletions)
{
        uint64_t n_pages = pages_in_file();
        cleanup_free bool *readable = calloc(n_pages, sizeof(*readable));
        struct pages *p;
        MDB_txn *txn;

        assert_ok(pages_begin(world.fd, DATA, &p));
        ck_assert_int_eq(mdb_txn_begin(world.env, NULL, 0, &txn), 0);
        if (n_pages > 2)
                protect(2, n_pages - 2, PROT_NONE);
        for (unsigned k = 0; k < n; k++) {
                unsigned i = from < KEYS ? (from + k) % KEYS : (unsigned)random_below(&world.random, KEYS);
                bool deletes = random_below(&world.random, 10) < deletions;
                char key[512];
                MDB_val name = key_of(i, key);

                assert_ok(pages_path(p, TABLE, SLICE(name.mv_data, name.mv_size), deletes));
                let_read(p, readable, n_pages);
                change(txn, i, deletes);
        }
        assert_ok(pages_check_free_list(p));
        ck_assert_int_eq(mdb_txn_commit(txn), 0);
        if (n_pages > 2)
                protect(2, n_pages - 2, PROT_READ);
        pages_free(p);
}

static void assert_content(void)
{
        MDB_txn *txn;

        assert_ok(pages_check(world.fd, DATA, 0));
        ck_assert_int_eq(mdb_txn_begin(world.env, NULL, MDB_RDONLY, &txn), 0);
        for (unsigned i = 0; i < KEYS; i++) {
                char key[512], value[16384];
                MDB_val k = key_of(i, key), v, right = value_of(i, world.versions[i], value);

                ck_assert_int_eq(mdb_get(txn, world.dbi, &k, &v), world.versions[i] > 0 ? 0 : MDB_NOTFOUND);
                ck_assert(world.versions[i] == 0 || (v.mv_size == right.mv_size && memcmp(v.mv_data, right.mv_data, v.mv_size) == 0));
        }
        mdb_txn_abort(txn);
}

static void changes(size_t key_size)
{
        SKIP_UNLESS(sysconf(_SC_PAGESIZE) == PAGE, "pages of 4 KiB");
        world_open(key_size);
        for (unsigned i = 0; i < KEYS; i += 100)
                transaction(100, i, 0);
        /* Each of the three kinds of changes comes twice: what the first time has left is what the second begins with. */
        for (unsigned round = 0, at = 0; round < 300; round++) {
                struct random *r = &world.random;
                unsigned few = 1 + (unsigned)random_below(r, 8), many = 1 + (unsigned)random_below(r, 200);

                if (round / 50 % 3 == 0) { /* along the keys, so that branches are emptied, too */
                        transaction(few, at, 8 + (unsigned)random_below(r, 3));
                        at = (at + few) % KEYS;
                } else if (round / 50 % 3 == 1) {
                        transaction(few, KEYS, (unsigned)random_below(r, 11));
                } else {
                        transaction(many, random_below(r, 2) ? (unsigned)random_below(r, KEYS) : KEYS, (unsigned)random_below(r, 4));
                }
                if (round % 50 == 49)
                        assert_content();
        }
        mdb_env_close(world.env);
        close(world.fd);
}

START_TEST(test_short_keys)
{
        changes(20);
}
END_TEST

START_TEST(test_long_keys)
{
        changes(200);
}
END_TEST

START_TEST(test_the_longest_keys)
{
        changes(480);
}
END_TEST

/* -- damage to the lists of free pages -------------------------------------------------------------------------- */

static uint64_t number_at(uint64_t at)
{
        uint64_t number;

        memcpy(&number, world.map + at, sizeof(number));
        return number;
}

static uint16_t short_at(uint64_t at)
{
        uint16_t number;

        memcpy(&number, world.map + at, sizeof(number));
        return number;
}

/* In bytes, where the newest snapshot's tree of free pages has its root: MDB_meta's mm_txnid and mm_dbs[0].md_root. */
static uint64_t find_root(void)
{
        unsigned newest = number_at(PAGE + 144) > number_at(144);

        return number_at(newest * PAGE + 80) * PAGE;
}

/* Where the longest list is, which pages of its own hold, in a tree of one page: MDB_page, MDB_node. */
static uint64_t find_longest(void)
{
        uint64_t root = find_root(), longest = 0;

        for (unsigned i = 0; i < (short_at(root + 12) - 16) / 2; i++) {
                uint64_t node = root + short_at(root + 16 + 2 * i);

                if (short_at(node + 4) & 1) { /* F_BIGDATA */
                        uint64_t list = number_at(node + 16) * PAGE + 16;

                        longest = longest == 0 || number_at(list) > number_at(longest) ? list : longest;
                }
        }
        ck_assert_uint_ne(longest, 0);
        return longest;
}

static uint64_t overwrite(uint64_t at, uint64_t number)
{
        cleanup_close int fd = open(DATA, O_WRONLY | O_CLOEXEC);
        uint64_t before = number_at(at);

        ck_assert_int_eq(pwrite(fd, &number, sizeof(number), (off_t)at), sizeof(number));
        return before;
}

/* Before a transaction, and within it. */
static void assert_noticed(uint64_t at, uint64_t number)
{
        struct pages *p, *damaged;
        uint64_t before;

        assert_ok(pages_begin(world.fd, DATA, &p));
        before = overwrite(at, number);
        assert_error(pages_check_free_list(p), EIO);
        assert_error(pages_begin(world.fd, DATA, &damaged), EIO);
        overwrite(at, before);
        assert_ok(pages_check_free_list(p));
        pages_free(p);
}

START_TEST(test_damaged_free_lists)
{
        uint64_t list, n;

        SKIP_UNLESS(sysconf(_SC_PAGESIZE) == PAGE, "pages of 4 KiB");
        world_open(20);
        for (unsigned i = 0; i < KEYS; i += 100)
                transaction(100, i, 0);
        transaction(KEYS, 0, 10);
        list = find_longest();
        n = number_at(list);
        ck_assert_uint_gt(n, 500);
        assert_noticed(find_root(), 0);
        assert_noticed(list, UINT64_MAX / 8);
        assert_noticed(list + 8, pages_in_file());
        for (uint64_t i = 2; i <= n; i++)
                assert_noticed(list + 8 * i, number_at(list + 8 * (i - 1)));
        mdb_env_close(world.env);
        close(world.fd);
}
END_TEST

SUITE("pages", test_short_keys, test_long_keys, test_the_longest_keys, test_damaged_free_lists)
