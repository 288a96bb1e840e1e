/* Indexes damaged at random: nothing that was kept is lost, nothing wrong is read, and no process ends by a signal.
 *
 *     soak_damage [--rounds N] [--first ROUND] [--seed SEED] [--beside [--between]]
 *
 * 10,000 rounds; another seed each time (seed.h), which is printed.
 *
 * Each round takes a good store, damages its index (bits, headers, pages of rubbish, lost, stale and misplaced pages, a cut file; sometimes lock.mdb), and then
 * opens, reads, writes, deletes and checks it. With --beside a second process has the store open all the while, reads and writes; it may find
 * that it is lost (lost.h) only where the damage hits it in the midst of an operation, which is counted, and never happens with
 * --between. In a folder of its own below the working directory. Under valgrind or with a sanitizer any invalid access ends it. */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cache/base/lost.h"
#include "cache/store/store.h"
#include "tests/support/seed.h"

enum {
        FACTS,
        NAMES,
        N
};
static const char *const tables[N] = {[FACTS] = "facts", [NAMES] = "names"};

#define DATA   "store/lmdb/data.mdb"
#define LOCK   "store/lmdb/lock.mdb"
#define PAGE   4096
#define VALUES 600 /* of the good store; every seventh was deleted */
#define MORE   40  /* put after the damage */
#define LOST   8   /* exit status of a process that was (lost.h) */

static struct {
        unsigned long long rounds, first, seed, round;
        bool beside, between;
        unsigned long long odd, rebuilt, lost, errors, stale; /* seen */
        const char *what;
        bool may_be_stale; /* the damage is a page as it once was */
} soak = {.rounds = 10000};

_Noreturn static void complain(const char *format, ...) printf_like(1, 2);

static void complain(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        fprintf(stderr, "round %llu of seed %llu (%s): ", soak.round, soak.seed, soak.what ?: "");
        vfprintf(stderr, format, args);
        va_end(args);
        fprintf(stderr, "\n");
        exit(1);
}

static void need(int r, const char *what)
{
        if (r < 0)
                complain("%s: %s", what, error_message(r));
}

/* -- what is stored --------------------------------------------------------------------------------------------- */

static size_t make_value(unsigned i, unsigned version, char ret[24000])
{
        struct random r;
        size_t size;

        random_seed_part(&r, version, i);
        size = i % 20 == 7 ? 3000 + random_below(&r, 20000) : 20 + random_below(&r, 300);
        for (size_t k = 0; k < size; k++)
                ret[k] = (char)(i % 3 ? random_bits(&r) : "ab"[random_bits(&r) & 1]);
        return size;
}

static struct slice make_key(unsigned i, char ret[64])
{
        return SLICE(ret, (size_t)snprintf(ret, 64, "%08x-%u", i * 2654435761u, i));
}

static int put_range(struct store *s, unsigned from, unsigned to, unsigned version)
{
        char key[64], value[24000];
        struct store_txn *t;
        int r = store_write(s, &t);

        for (unsigned i = from; r == 0 && i < to; i++) {
                size_t size = make_value(i, version, value);

                r = store_put(t, i % 5 == 0 ? NAMES : FACTS, make_key(i, key), SLICE(value, size));
        }
        if (r < 0)
                return store_end(t), r;
        return store_commit(t);
}

static int delete_one(void *user, struct store_txn *t)
{
        unsigned i = *(unsigned *)user;
        char key[64];
        int r = store_delete(t, i % 5 == 0 ? NAMES : FACTS, make_key(i, key));

        return r == -ENOENT ? 0 : r;
}

static bool was_deleted(unsigned i)
{
        return i < VALUES && i % 7 == 3;
}

static struct store *open_store(void)
{
        struct store *s;

        need(store_open("store", tables, N, STORE_CREATE, &s), "open");
        return s;
}

static void make_good_store(void)
{
        struct store *s = open_store();

        for (unsigned i = 0; i < VALUES; i += 60)
                need(put_range(s, i, i + 60, i % 120 ? 1 : 0), "put");
        for (unsigned i = 0; i < VALUES; i += 60)
                need(put_range(s, i, i + 60, 1), "put again");
        for (unsigned i = 0; i < VALUES; i++)
                if (was_deleted(i))
                        need(store_update(s, delete_one, &i), "delete");
        store_close(s);
        if (system("rm -rf good && cp -r store good") != 0)
                complain("cannot copy the store");
}

/* Is it what the value once was? */
static bool is_older(unsigned i, const struct blob *b)
{
        char value[24000];

        for (unsigned version = 0; version < 2; version++)
                if (make_value(i, version, value) == b->size && memcmp(b->data, value, b->size) == 0)
                        return true;
        return false;
}

/* How many there are; none may be wrong, and none of those that were deleted may be back: but before the check on a page that once was right, as
 * nothing in LMDB's pages says of when they are. An error ends the reading when `all`. */
static unsigned count(struct store *s, unsigned to, bool all)
{
        unsigned there = 0;

        for (unsigned i = 0; i < to; i++) {
                cleanup_blob struct blob b = {0};
                char key[64], value[24000];
                size_t size = make_value(i, 1, value);
                int r = store_fetch(s, i % 5 == 0 ? NAMES : FACTS, make_key(i, key), &b);

                if (r < 0 && r != -ENOENT) {
                        soak.errors++;
                        if (all)
                                need(r, "read");
                }
                if (r < 0)
                        continue;
                if (b.size == size && memcmp(b.data, value, size) == 0 && !was_deleted(i))
                        there++;
                else if (!all && soak.may_be_stale && is_older(i, &b))
                        soak.stale++;
                else
                        complain("value %u is %s", i, was_deleted(i) ? "back" : "wrong");
        }
        return there;
}

static unsigned expected(unsigned to)
{
        unsigned n = 0;

        for (unsigned i = 0; i < to; i++)
                n += !was_deleted(i);
        return n;
}

/* -- damage ----------------------------------------------------------------------------------------------------- */

static void write_at(const char *path, uint64_t at, const void *bytes, size_t size)
{
        cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || pwrite(fd, bytes, size, (off_t)at) != (ssize_t)size)
                complain("cannot write %s", path);
}

static void read_at(const char *path, uint64_t at, void *bytes, size_t size)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || pread(fd, bytes, size, (off_t)at) != (ssize_t)size)
                complain("cannot read %s", path);
}

static void flip(const char *path, uint64_t at, struct random *r)
{
        uint8_t byte;

        read_at(path, at, &byte, 1);
        byte ^= (uint8_t)(1 << random_below(r, 8));
        write_at(path, at, &byte, 1);
}

static void fill(uint8_t page[PAGE], struct random *r)
{
        for (size_t i = 0; i < PAGE; i += 8)
                memcpy(page + i, &(uint64_t){random_bits(r)}, 8);
}

static void damage(struct random *r)
{
        static const char *const names[] = {"bits",       "header",         "pointers of a page", "page of rubbish",
                                            "page lost",  "page misplaced", "page stale",         "meta page",
                                            "file cut",   "free list",      "bits of lock.mdb"};
        unsigned kind = (unsigned)random_below(r, ARRAY_SIZE(names) * 8);
        uint8_t page[PAGE];
        struct stat st;
        uint64_t pages, at;

        if (stat(DATA, &st) < 0)
                complain("no index");
        pages = (uint64_t)st.st_size / PAGE;
        kind = kind < ARRAY_SIZE(names) * 8 - 1 ? kind % (ARRAY_SIZE(names) - 1) : ARRAY_SIZE(names) - 1; /* a rare one */
        soak.what = names[kind];
        soak.may_be_stale = kind == 5 || kind == 6;
        for (uint64_t n = 1 + random_below(r, 4); n > 0; n--) {
                at = random_below(r, pages) * PAGE;
                fill(page, r);
                switch (kind) {
                case 0:
                        flip(DATA, at + random_below(r, PAGE), r);
                        break;
                case 1:
                        flip(DATA, at + random_below(r, 16), r);
                        break;
                case 2: /* the nodes' places, and the first nodes' headers */
                        flip(DATA, at + 16 + random_below(r, 200), r);
                        break;
                case 3: /* a part of it, or all */
                        write_at(DATA, at, page, random_below(r, 2) ? PAGE : random_below(r, PAGE) + 1);
                        break;
                case 4:
                        memset(page, random_below(r, 2) ? 0 : 0xff, PAGE);
                        write_at(DATA, at, page, PAGE);
                        break;
                case 5: /* with its own number, or that of the page it came from */
                        read_at(DATA, random_below(r, pages) * PAGE, page, PAGE);
                        if (random_below(r, 2))
                                memcpy(page, &(uint64_t){at / PAGE}, 8);
                        write_at(DATA, at, page, PAGE);
                        break;
                case 6: /* as a disk does that lost a write */
                        read_at("good/lmdb/data.mdb", MIN(at, pages * PAGE - PAGE), page, PAGE);
                        flip(DATA, at + 12 + random_below(r, 4), r);
                        write_at(DATA, at, page, random_below(r, PAGE / 512) * 512);
                        break;
                case 7:
                        flip(DATA, random_below(r, 2) * PAGE + random_below(r, 16 + 24 + 2 * 48 + 16), r);
                        break;
                case 8:
                        if (truncate(DATA, (off_t)random_below(r, (uint64_t)st.st_size)) < 0)
                                complain("cannot cut the index");
                        return;
                case 9: { /* the root of the free list and what follows, as the meta pages say */
                        uint64_t root;

                        read_at(DATA, random_below(r, 2) * PAGE + 16 + 24 + 40, &root, 8);
                        flip(DATA, (root < pages ? root : 2) * PAGE + random_below(r, random_below(r, 2) ? 24 : PAGE), r);
                        break;
                }
                default:
                        if (stat(LOCK, &st) == 0 && st.st_size > 0)
                                flip(LOCK, random_below(r, MIN((uint64_t)st.st_size, UINT64_C(512))), r);
                }
        }
}

/* -- a second process ------------------------------------------------------------------------------------------- */

/* Reads, writes and answers a byte for a byte: `w`, one turn; `e`, the end. */
_Noreturn static void serve(int in, int out)
{
        unsigned version = 0;
        struct store *s;
        char command;

        soak.may_be_stale = true; /* we are not told what comes */
        s = open_store();
        while (write(out, "k", 1) == 1 && read(in, &command, 1) == 1 && command == 'w') {
                count(s, VALUES, false);
                for (unsigned k = 0; k < 3; k++, version++)
                        soak.errors += put_range(s, VALUES + MORE + version % 8, VALUES + MORE + version % 8 + 2, 1) < 0;
        }
        store_close(s);
        _exit(0);
}

struct second {
        pid_t pid;
        int to, from;
};

static void second_start(struct second *p)
{
        int to[2], from[2];
        char c;

        if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
                complain("no pipe");
        p->pid = fork();
        if (p->pid == 0) {
                close(to[1]);
                close(from[0]);
                serve(to[0], from[1]);
        }
        close(to[0]);
        close(from[1]);
        p->to = to[1];
        p->from = from[0];
        if (read(p->from, &c, 1) != 1)
                complain("the second process did not begin");
}

static void second_order(struct second *p, char command)
{
        (void)!write(p->to, &command, 1);
}

static void second_await(struct second *p)
{
        char c;

        (void)!read(p->from, &c, 1);
}

/* `in_the_midst`: it may be lost. */
static void second_end(struct second *p, bool in_the_midst)
{
        int status;

        second_order(p, 'e');
        close(p->to);
        close(p->from);
        waitpid(p->pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == LOST && in_the_midst)
                soak.lost++;
        else if (status != 0)
                complain("the second process ended with status %x", (unsigned)status);
}

/* -- rounds ----------------------------------------------------------------------------------------------------- */

static void check(struct store *s, unsigned to)
{
        struct store_report report;
        unsigned there;

        need(store_check(s, false, &report, NULL, NULL), "check");
        soak.rebuilt += report.rebuilt;
        soak.odd += report.damaged > 0 || report.rebuilt;
        there = count(s, to, true);
        if (there != expected(to))
                complain("%u of %u values after the check", there, expected(to));
        need(store_check(s, true, &report, NULL, NULL), "look again");
        if (report.damaged + report.journal_damaged > 0)
                complain("still damaged after the check: %" PRIu64 " values, %" PRIu64 " places of the journal", report.damaged,
                         report.journal_damaged);
}

static void round_alone(struct random *r)
{
        unsigned to = VALUES;
        struct store *s;

        damage(r);
        s = open_store();
        if (random_below(r, 2))
                count(s, VALUES, false);
        if (random_below(r, 2)) {
                need(store_update(s, delete_one, &(unsigned){VALUES + MORE + 1}), "delete");
                if (put_range(s, VALUES, VALUES + MORE, 1) < 0)
                        need(put_range(s, VALUES, VALUES + MORE, 1), "put the second time");
                to += MORE;
        }
        if (random_below(r, 8) == 0)
                need(store_compact(s), "compact");
        check(s, to);
        store_close(s);
}

/* Every other time it is the first to meet the damage, or meets it in the midst of what it does. */
static void round_beside(struct random *r)
{
        bool in_the_midst = random_below(r, 2) && !soak.between, is_lock;
        struct second p;
        struct store *s;

        second_start(&p);
        if (in_the_midst) {
                second_order(&p, 'w');
                usleep((unsigned)random_below(r, 8000));
        }
        damage(r);
        is_lock = strcmp(soak.what, "bits of lock.mdb") == 0;
        if (in_the_midst)
                second_await(&p);
        if (random_below(r, 2)) {
                second_order(&p, 'w');
                second_await(&p);
        }
        if (is_lock) { /* it goes first: we share its lock */
                second_end(&p, true);
                s = open_store();
                check(s, VALUES);
                store_close(s);
                return;
        }
        s = open_store();
        if (put_range(s, VALUES, VALUES + MORE, 1) < 0)
                need(put_range(s, VALUES, VALUES + MORE, 1), "put the second time");
        second_order(&p, 'w');
        second_await(&p);
        check(s, VALUES + MORE);
        second_end(&p, in_the_midst);
        store_close(s);
}

int main(int argc, char **argv)
{
        static const struct option options[] = {
                {"rounds", required_argument, NULL, 'r'}, {"seed", required_argument, NULL, 's'},
                {"first", required_argument, NULL, 'f'},  {"beside", no_argument, NULL, 'b'},
                {"between", no_argument, NULL, 'w'},      {0}};
        char folder[] = "soak-damage-XXXXXX";
        FILE *nowhere = fopen("/dev/null", "we");

        lost_begin(argv, LOST);
        lost_output();
        soak.seed = test_seed_fresh();
        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                if (c == 'r')
                        soak.rounds = strtoull(optarg, NULL, 10);
                else if (c == 's')
                        soak.seed = strtoull(optarg, NULL, 10);
                else if (c == 'f')
                        soak.first = strtoull(optarg, NULL, 10);
                else if (c == 'b')
                        soak.beside = true;
                else if (c == 'w')
                        soak.between = true;
                else
                        return 2;
        }
        if (!mkdtemp(folder) || chdir(folder) < 0 || !nowhere)
                return 2;
        setenv("SOLVERFS_MAP_SIZE", "67108864", 0);
        signal(SIGPIPE, SIG_IGN);
        log_set(LOG_LEVEL_ERROR, nowhere);
        fprintf(stderr, "seed %llu\n", soak.seed);
        make_good_store();
        for (soak.round = soak.first; soak.round < soak.first + soak.rounds; soak.round++) {
                struct random r;

                random_seed_part(&r, soak.seed, soak.round);
                need(remove_tree("store"), "remove the store");
                if (system("cp -r good store") != 0)
                        complain("cannot copy the store");
                if (soak.beside)
                        round_beside(&r);
                else
                        round_alone(&r);
        }
        printf("%llu rounds: %llu indexes were odd, %llu of them made anew; %llu errors of readers and writers on the way, %llu older "
               "values read before the check, %llu processes lost; no value wrong or gone\n",
               soak.rounds, soak.odd, soak.rebuilt, soak.errors, soak.stale, soak.lost);
        if (chdir("..") < 0 || remove_tree(folder) < 0)
                return 2;
        return 0;
}
