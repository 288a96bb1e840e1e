/* The tree without a kernel: hand-made FUSE messages over a socket pair, answered by the session as it is in a mount. For the sanitizers, and
 * for what a kernel would never send. The world is made by the command; the store is opened here. */
#include "tests/support/mount.h"

#include <linux/fuse.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "core/query/query.h"
#include "core/workspace/meta.h"
#include "fs/kernel/session.h"
#include "fs/kernel/session_internal.h"

#define MESSAGE_SIZE (1 << 18)

struct tester {
        struct workspace *workspace;
        struct engine *engine;
        struct session *session;
        struct fuse_session *fuse;
        int server, client; /* ends of the socket pair */
        pthread_t thread;

        uint64_t last;           /* number of the newest request */
        pid_t pid;               /* who asks */
        uint64_t told;           /* inode that the kernel was last told to forget */
        size_t n_told, n_stored; /* how often it was, and was given pages unasked */
        size_t n_solver;         /* how often it was told to forget the solver tiny, with all below it */
        struct {                 /* the last answer */
                uint64_t unique;
                int error;
                size_t size;
                char *data; /* MESSAGE_SIZE bytes */
        } answer;
};

/* -- the server's side -- */

static ssize_t server_read(int fd, void *to, size_t size, void *user)
{
        ssize_t n = recv(fd, to, size, 0);

        (void)user;
        if (n == 0) {
                errno = ENODEV; /* as when it is unmounted */
                return -1;
        }
        return n;
}

static _Atomic uint64_t interrupted; /* number of a request that the kernel gives up before it is answered */

static ssize_t server_write(int fd, struct iovec *v, int n, void *user)
{
        (void)user;
        if (interrupted && ((const struct fuse_out_header *)v[0].iov_base)->unique == interrupted) {
                interrupted = 0;
                errno = ENOENT;
                return -1;
        }
        return sendmsg(fd, &(struct msghdr){.msg_iov = v, .msg_iovlen = (size_t)n}, MSG_NOSIGNAL);
}

static void *serve(void *user)
{
        struct tester *t = user;

        fuse_session_loop(t->fuse);
        return NULL;
}

static void wait_for(struct tester *t, uint64_t unique);
static uint64_t ask(struct tester *t, uint32_t opcode, uint64_t node, const void *head, size_t head_size, const void *data,
                    size_t size);

static void greet(struct tester *t)
{
        struct fuse_init_in in = {
                .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_readahead = 1 << 17, .flags = ~0u};

        in.flags &= ~(uint32_t)FUSE_INIT_EXT;
        wait_for(t, ask(t, FUSE_INIT, 0, &in, sizeof(in), NULL, 0));
        ck_assert_int_eq(t->answer.error, 0);
}

static void tester_start_with(struct tester *t, bool finished)
{
        static const struct fuse_custom_io io = {.read = server_read, .writev = server_write};
        char *const argv[] = {(char *)"test", NULL};
        struct fuse_args args = FUSE_ARGS_INIT(1, (char **)argv);
        int ends[2], size = 4 * MESSAGE_SIZE;

        *t = (struct tester){.pid = getppid()};
        t->answer.data = malloc(MESSAGE_SIZE);
        assert_ok(workspace_open(getenv("SOLVERFS_STORE"), 0, &t->workspace));
        assert_ok(workspace_engine(t->workspace, NULL, &t->engine));
        assert_ok(session_new(t->workspace, t->engine, finished, &t->session));
        t->fuse = fuse_session_new(&args, finished ? &session_finished_operations : &session_operations, sizeof(session_operations),
                                   t->session);
        ck_assert_ptr_nonnull(t->fuse);
        fuse_opt_free_args(&args);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        t->server = ends[0];
        t->client = ends[1];
        for (int i = 0; i < 2; i++)
                setsockopt(ends[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
        ck_assert_int_eq(fuse_session_custom_io(t->fuse, &io, t->server), 0);
        assert_ok(session_attach(t->session, t->fuse));
        ck_assert_int_eq(pthread_create(&t->thread, NULL, serve, t), 0);
        greet(t);
}

static void tester_start(struct tester *t)
{
        tester_start_with(t, false);
}

static void tester_stop(struct tester *t)
{
        waiters_interrupt(t->session->waiters);
        shutdown(t->client, SHUT_WR);
        pthread_join(t->thread, NULL);
        session_attach(t->session, NULL);
        session_drain(t->session);
        fuse_session_destroy(t->fuse);
        session_free(t->session);
        engine_close(t->engine);
        workspace_close(t->workspace);
        close(t->client);
        free(t->answer.data);
}

/* -- the kernel's side -- */

static uint64_t ask(struct tester *t, uint32_t opcode, uint64_t node, const void *head, size_t head_size, const void *data,
                    size_t size)
{
        struct fuse_in_header h = {.len = (uint32_t)(sizeof(h) + head_size + size),
                                   .opcode = opcode,
                                   .unique = ++t->last * 2,
                                   .nodeid = node,
                                   .uid = geteuid(),
                                   .gid = getegid(),
                                   .pid = (uint32_t)t->pid};
        struct iovec v[] = {{&h, sizeof(h)}, {(void *)head, head_size}, {(void *)data, size}};

        ck_assert_int_eq(sendmsg(t->client, &(struct msghdr){.msg_iov = v, .msg_iovlen = 3}, MSG_NOSIGNAL), h.len);
        return h.unique;
}

static void note_notification(struct tester *t, const struct fuse_out_header *h)
{
        if (h->error == FUSE_NOTIFY_INVAL_INODE && t->answer.size >= sizeof(struct fuse_notify_inval_inode_out)) {
                t->told = ((const struct fuse_notify_inval_inode_out *)t->answer.data)->ino;
                t->n_told++;
        } else if (h->error == FUSE_NOTIFY_INVAL_ENTRY && ((const struct fuse_notify_inval_entry_out *)t->answer.data)->parent == FUSE_ROOT_ID)
                t->n_solver += strcmp(t->answer.data + sizeof(struct fuse_notify_inval_entry_out), "tiny") == 0;
        else if (h->error == FUSE_NOTIFY_STORE)
                t->n_stored++;
}

/* The next answer, whosever it is; false: none within `ms` (-1: however long). */
static bool next_answer(struct tester *t, int ms)
{
        struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
        struct fuse_out_header h;
        struct iovec v[] = {{&h, sizeof(h)}, {t->answer.data, MESSAGE_SIZE}};
        ssize_t n;

        setsockopt(t->client, SOL_SOCKET, SO_RCVTIMEO, ms < 0 ? &(struct timeval){0} : &limit, sizeof(limit));
        for (;;) {
                n = recvmsg(t->client, &(struct msghdr){.msg_iov = v, .msg_iovlen = 2}, 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return false;
                ck_assert_msg(n >= (ssize_t)sizeof(h), "no answer: %s", strerror(errno));
                ck_assert_uint_eq(h.len, (size_t)n);
                t->answer.unique = h.unique;
                t->answer.error = -h.error;
                t->answer.size = (size_t)n - sizeof(h);
                if (h.unique == 0)
                        note_notification(t, &h);
                else if (!(h.unique & 1)) /* an interrupt that came too early or too late is answered EAGAIN */
                        return true;
        }
}

static void wait_for(struct tester *t, uint64_t unique)
{
        ck_assert(next_answer(t, -1));
        ck_assert_uint_eq(t->answer.unique, unique);
}

/* Asks and waits: errno of the answer, which is in t->answer. */
static int call(struct tester *t, uint32_t opcode, uint64_t node, const void *head, size_t head_size, const void *data,
                size_t size)
{
        wait_for(t, ask(t, opcode, node, head, head_size, data, size));
        return t->answer.error;
}

static int lookup(struct tester *t, uint64_t dir, const char *name, struct fuse_entry_out *ret)
{
        int r = call(t, FUSE_LOOKUP, dir, NULL, 0, name, strlen(name) + 1);

        if (r != 0)
                return r;
        ck_assert_uint_eq(t->answer.size, sizeof(*ret));
        memcpy(ret, t->answer.data, sizeof(*ret));
        return ret->nodeid == 0 ? ENOENT : 0; /* a negative entry that the kernel may keep */
}

static size_t read_link_target(struct tester *t, uint64_t node, char *ret, size_t size)
{
        ck_assert_int_eq(call(t, FUSE_READLINK, node, NULL, 0, NULL, 0), 0);
        ck_assert_uint_lt(t->answer.size, size);
        memcpy(ret, t->answer.data, t->answer.size);
        ret[t->answer.size] = '\0';
        return t->answer.size;
}

/* The node at a path below the root; links of one step (commits/HEAD) are followed. */
static uint64_t find(struct tester *t, const char *path)
{
        char copy[PATH_SIZE], target[PATH_SIZE], *rest = copy;
        struct fuse_entry_out e = {.nodeid = FUSE_ROOT_ID};
        uint64_t dir = FUSE_ROOT_ID;

        snprintf(copy, sizeof(copy), "%s", path);
        for (char *name; (name = strsep(&rest, "/"));) {
                ck_assert_msg(lookup(t, dir, name, &e) == 0, "%s: no %s", path, name);
                if (S_ISLNK(e.attr.mode)) {
                        read_link_target(t, e.nodeid, target, sizeof(target));
                        ck_assert_msg(lookup(t, dir, target, &e) == 0, "%s: no %s", path, target);
                }
                dir = e.nodeid;
        }
        return dir;
}

static int try_open(struct tester *t, uint64_t node, uint32_t flags, struct fuse_open_out *ret)
{
        struct fuse_open_in in = {.flags = flags};
        int r = call(t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);

        if (r == 0)
                memcpy(ret, t->answer.data, sizeof(*ret));
        return r;
}

static int read_at(struct tester *t, uint64_t node, uint64_t fh, uint64_t offset, uint32_t size)
{
        struct fuse_read_in in = {.fh = fh, .offset = offset, .size = size};

        return call(t, FUSE_READ, node, &in, sizeof(in), NULL, 0);
}

static void release(struct tester *t, uint64_t node, uint64_t fh, bool folder)
{
        struct fuse_release_in in = {.fh = fh};

        ck_assert_int_eq(call(t, folder ? FUSE_RELEASEDIR : FUSE_RELEASE, node, &in, sizeof(in), NULL, 0), 0);
}

static void assert_text(struct tester *t, uint64_t node, const char *text)
{
        struct fuse_open_out o;

        ck_assert_int_eq(try_open(t, node, O_RDONLY, &o), 0);
        ck_assert_int_eq(read_at(t, node, o.fh, 0, 1 << 16), 0);
        ck_assert_msg(t->answer.size == strlen(text) && memcmp(t->answer.data, text, strlen(text)) == 0, "'%.*s' instead of '%s'",
                      (int)t->answer.size, t->answer.data, text);
        release(t, node, o.fh, false);
}

static struct fuse_attr attributes(struct tester *t, uint64_t node)
{
        struct fuse_getattr_in in = {0};

        ck_assert_int_eq(call(t, FUSE_GETATTR, node, &in, sizeof(in), NULL, 0), 0);
        return ((const struct fuse_attr_out *)t->answer.data)->attr;
}

/* Creates, writes and flushes; errno of the flush. */
static int add(struct tester *t, const char *name, const char *text)
{
        struct fuse_create_in create = {.flags = O_WRONLY | O_CREAT, .mode = S_IFREG | 0644};
        struct fuse_write_in write = {.size = (uint32_t)strlen(text)};
        struct fuse_flush_in flush = {0};
        uint64_t cases = find(t, "cases"), node, fh;
        int r = call(t, FUSE_CREATE, cases, &create, sizeof(create), name, strlen(name) + 1);

        if (r != 0)
                return r;
        node = ((const struct fuse_entry_out *)t->answer.data)->nodeid;
        fh = ((const struct fuse_open_out *)(t->answer.data + sizeof(struct fuse_entry_out)))->fh;
        write.fh = flush.fh = fh;
        if (*text)
                ck_assert_int_eq(call(t, FUSE_WRITE, node, &write, sizeof(write), text, strlen(text)), 0);
        ck_assert_uint_eq(attributes(t, node).size, strlen(text));
        r = call(t, FUSE_FLUSH, node, &flush, sizeof(flush), NULL, 0);
        release(t, node, fh, false);
        return r;
}

static uint64_t asked(struct tester *t)
{
        struct engine_counters c;

        engine_counters(t->engine, &c);
        return c.asked;
}

/* -- the greeting -- */

/* Of a kernel that can do everything: whatever libfuse asks for by default. Parallel lookups in a folder would be one such. */
START_TEST(test_what_is_negotiated)
{
        static const uint32_t both = FUSE_ASYNC_READ | FUSE_ASYNC_DIO | FUSE_ATOMIC_O_TRUNC | FUSE_DO_READDIRPLUS | FUSE_BIG_WRITES |
                                     FUSE_MAX_PAGES,
                              wanted[] = {both | FUSE_READDIRPLUS_AUTO | FUSE_EXPLICIT_INVAL_DATA, both | FUSE_AUTO_INVAL_DATA};
        struct fuse_init_out out;
        struct tester t;

        world_make(NULL);
        for (unsigned finished = 0; finished < 2; finished++) {
                tester_start_with(&t, finished);
                ck_assert_uint_eq(t.answer.size, sizeof(out));
                memcpy(&out, t.answer.data, sizeof(out));
                tester_stop(&t);
                ck_assert_uint_eq(out.flags, wanted[finished]);
                ck_assert_uint_eq(out.flags2, 0);
                ck_assert_uint_eq(out.max_write, 256 * (unsigned)sysconf(_SC_PAGESIZE));
                ck_assert_uint_eq(out.max_pages, 256);
                ck_assert_uint_eq(out.time_gran, 1);
        }
        world_end();
}
END_TEST

/* -- walking -- */

struct walk {
        struct tester *t;
        FILE *to; /* a line for each node: its number and path */
        size_t n;
};

static void walk_folder(struct walk *w, uint64_t dir, const char *path, unsigned depth);

static void walk_entry(struct walk *w, uint64_t dir, const char *path, const struct fuse_dirent *d, unsigned depth)
{
        struct fuse_entry_out e;
        char name[256], target[PATH_SIZE];
        cleanup_free char *below = NULL;
        struct fuse_attr a;

        snprintf(name, sizeof(name), "%.*s", (int)d->namelen, d->name);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return;
        ck_assert_int_ge(asprintf(&below, "%s/%s", path, name), 0);
        ck_assert_msg(lookup(w->t, dir, name, &e) == 0, "%s is listed and not found", below);
        ck_assert_msg(e.nodeid == d->ino && e.attr.ino == d->ino, "%s: listed as %llx, found as %llx", below,
                      (unsigned long long)d->ino, (unsigned long long)e.nodeid);
        ck_assert_uint_eq(d->type, e.attr.mode >> 12);
        a = attributes(w->t, e.nodeid);
        ck_assert_uint_eq(a.ino, e.nodeid);
        ck_assert_uint_eq(a.mode, e.attr.mode);
        ck_assert_uint_gt(a.mtime, 0);
        w->n++;
        if (w->to)
                fprintf(w->to, "%llx %s\n", (unsigned long long)e.nodeid, below);
        if (S_ISLNK(a.mode))
                ck_assert_uint_eq(read_link_target(w->t, e.nodeid, target, sizeof(target)), a.size);
        else if (S_ISDIR(a.mode) && depth < 12)
                walk_folder(w, e.nodeid, below, depth + 1);
}

/* Reads it in answers of `size` bytes, and goes into each entry. */
static void walk_folder(struct walk *w, uint64_t dir, const char *path, unsigned depth)
{
        struct fuse_open_in open = {.flags = O_RDONLY | O_DIRECTORY};
        struct fuse_read_in in = {.size = depth % 2 ? 4096 : 400};
        cleanup_free char *copy = malloc(4096);
        uint64_t fh;

        ck_assert_int_eq(call(w->t, FUSE_OPENDIR, dir, &open, sizeof(open), NULL, 0), 0);
        in.fh = fh = ((const struct fuse_open_out *)w->t->answer.data)->fh;
        for (;;) {
                size_t size;

                ck_assert_int_eq(call(w->t, FUSE_READDIR, dir, &in, sizeof(in), NULL, 0), 0);
                size = w->t->answer.size;
                ck_assert_uint_le(size, in.size);
                if (size == 0)
                        break;
                memcpy(copy, w->t->answer.data, size);
                for (size_t at_byte = 0; at_byte < size;) {
                        const struct fuse_dirent *d = (const struct fuse_dirent *)(copy + at_byte);

                        in.offset = d->off;
                        walk_entry(w, dir, path, d, depth);
                        at_byte += FUSE_DIRENT_SIZE(d);
                }
        }
        release(w->t, dir, fh, true);
}

START_TEST(test_walk)
{
        struct tester t;
        struct walk w = {.t = &t};
        size_t n;

        world_make(NULL);
        assert_shell("mkdir set && echo '; do print sat' >set/a.smt2 && echo '; other' >set/b.smt2 && mkdir set/deep && "
                     "echo '; third' >set/deep/c.smt2 && solverfs case add set");
        assert_shell("solverfs set add small 1 3 && solverfs set add empty 1 && solverfs set remove empty 1");
        assert_shell(
                "solverfs run -q tiny HEAD 1 --seed=3 && solverfs run -q tiny HEAD 1 --timeout=90s"); /* listed from now on */
        tester_start(&t);
        find(&t, "tinier/cached");
        w.to = fopen("first", "we");
        walk_folder(&w, FUSE_ROOT_ID, "", 0);
        fclose(w.to);
        n = w.n;
        ck_assert_uint_gt(n, 1000);
        ck_assert_uint_eq(asked(&t), 0);
        tester_stop(&t);
        tester_start(&t); /* another life: the same numbers */
        w = (struct walk){.t = &t, .to = fopen("second", "we")};
        walk_folder(&w, FUSE_ROOT_ID, "", 0);
        fclose(w.to);
        assert_shell("cmp first second && cut -d ' ' -f 1 first | sort | uniq -d");
        ck_assert_str_eq(shell_output, ""); /* no two things with one number */
        tester_stop(&t);
        world_end();
}
END_TEST

/* A case whose id does not fit into an inode number is listed and found in each folder of cases. */
START_TEST(test_walk_to_a_large_case_id)
{
        static const uint8_t head[4]; /* of TABLE_CASES: the last id, and a generation */
        static const char *const folders[] = {"cases", "sets/large", "tiny/cases", "tiny/commits/HEAD/cases", "tiny/cached/HEAD/cases"};
        struct tester t;
        struct walk w = {.t = &t};
        uint8_t bytes[12];

        world_make(NULL);
        tester_start(&t);
        key_u32(bytes, (1 << 20) - 2);
        key_u64(bytes + 4, 1);
        assert_ok(store_set(workspace_store(t.workspace), TABLE_CASES, SLICE(head, sizeof(head)), SLICE(bytes, sizeof(bytes))));
        ck_assert_int_eq(add(&t, "fits.smt2", "; do print sat\n"), 0);
        ck_assert_int_eq(add(&t, "large.smt2", "; do print unsat\n"), 0);
        assert_shell("solverfs set add large 1048575 1048576 && solverfs run -q tiny HEAD large");
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                w.n = 0;
                walk_folder(&w, find(&t, folders[i]), folders[i], 11);
                ck_assert_uint_gt(w.n, 1);
        }
        assert_text(&t, find(&t, "cases/1048576/name"), "large.smt2\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/cases/1048576/result"), "unsat\n");
        tester_stop(&t);
        world_end();
}
END_TEST

/* -- listing -- */

static int one_entry(void *user, const struct tree_entry *e)
{
        struct buffer *names = ((void **)user)[0];
        uint64_t *next = ((void **)user)[1];

        buffer_addf(names, "%s ", e->name);
        *next = e->next;
        return 1;
}

/* As a reader with a small buffer does: entry by entry. What `between` does is done behind the first one. */
static void assert_listing(struct tree *tree, uint64_t ino, const char *between, const char *expected)
{
        cleanup_buffer struct buffer names = {0};
        uint64_t offset = 0, before;
        struct node dir;

        assert_ok(tree_node(tree, ino, &dir));
        do {
                before = offset;
                assert_ok(tree_list(tree, &dir, offset, one_entry, (void *[]){&names, &offset}));
                if (before == 0)
                        assert_shell("%s", between);
        } while (offset != before);
        ck_assert_str_eq(names.data ? names.data : "", expected);
        node_done(&dir);
}

/* A listing has all that was there when it began, each once, whatever comes meanwhile; the next one has that too. */
START_TEST(test_listing_in_steps)
{
        struct tester t;
        struct tree *tree;

        world_make(NULL);
        assert_shell("for i in 1 2 3; do echo \"; do print sat; $i\" >$i.smt2; done; solverfs case add 1.smt2 2.smt2");
        tester_start(&t);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, find(&t, "tiny/commits/HEAD/cases"), "solverfs case add 3.smt2", "1 2 ");
        assert_listing(tree, find(&t, "tiny/commits/HEAD/cases"), "solverfs case remove 2", "1 2 3 ");
        assert_listing(tree, find(&t, "tiny/commits/HEAD/cases"), "solverfs run tiny HEAD 1", "1 3 ");
        assert_listing(tree, find(&t, "tiny/cached/HEAD/cases"), "solverfs run tiny HEAD 3", "1 ");
        assert_listing(tree, find(&t, "tiny/cached/HEAD/cases"), "true", "1 3 ");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* Names that leave or come during a listing take no others with them. */
START_TEST(test_listing_of_names_in_steps)
{
        struct tester t;
        struct tree *tree;

        world_make(NULL);
        assert_shell("mkdir -p all/a all/b; for i in 1 2 3; do for f in 0 a/0 b/0; do echo \"; do print sat; $f$i\" >all/${f%%0}$i.smt2; done; done; "
                     "solverfs case add all && for i in x y z; do solverfs set add $i all; done");
        tester_start(&t);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, find(&t, "cases/by-name"), "true", "a b 1.smt2 2.smt2 3.smt2 ");
        assert_listing(tree, find(&t, "cases/by-name/a"), "solverfs case remove a/1.smt2", "1.smt2 2.smt2 3.smt2 ");
        assert_listing(tree, find(&t, "cases/by-name/a"), "solverfs case add all", "2.smt2 3.smt2 ");
        assert_listing(tree, find(&t, "cases/by-name"), "solverfs case remove a/1.smt2 a/2.smt2 a/3.smt2", "a b 1.smt2 2.smt2 3.smt2 ");
        assert_listing(tree, find(&t, "sets"), "solverfs set remove x", "x y z ");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* An index made from the journal may have a number that makes the store's generation smaller. */
START_TEST(test_listing_after_the_index_was_rebuilt)
{
        struct tester t;
        struct tree *tree;

        world_make(NULL);
        assert_shell("for i in 1 2 3; do echo \"; do print sat; $i\" >$i.smt2; done; solverfs case add 1.smt2 2.smt2");
        assert_shell("cp -r store/lmdb other && if [ $(stat -c %%i other/data.mdb) -lt $(stat -c %%i store/lmdb/data.mdb) ]; then mv other low; "
                     "else mv store/lmdb low && mv other store/lmdb; fi");
        tester_start(&t);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, find(&t, "cases"), "mv store/lmdb old && mv low store/lmdb && solverfs case add 3.smt2", "1 2 by-name ");
        assert_listing(tree, find(&t, "cases"), "true", "1 2 3 by-name ");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* -- names that are only possible -- */

static uint64_t names_entries(struct tester *t)
{
        struct store_stats s;

        assert_ok(store_stats(workspace_store(t->workspace), &s));
        for (size_t i = 0; i < s.n_tables; i++)
                if (strcmp(s.tables[i].name, workspace_tables[TABLE_NAMES]) == 0)
                        return s.tables[i].entries;
        ck_abort_msg("no table of names");
        return 0;
}

static void forget(struct tester *t, uint64_t node, uint64_t times)
{
        struct fuse_forget_in in = {.nlookup = times};

        ask(t, FUSE_FORGET, node, &in, sizeof(in), NULL, 0); /* is not answered */
}

static int look_at(struct tester *t, uint64_t node)
{
        struct fuse_getattr_in in = {0};

        return call(t, FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
}

/* Seeds and time limits, any of them, are there to be asked for. A look at them writes nothing and lists nothing, their numbers are the same in
 * another life, and what the kernel has forgotten is forgotten. */
START_TEST(test_possible_names)
{
        struct fuse_entry_out e, cells;
        struct tester t;
        struct tree *tree;
        uint64_t timeouts, seeds, before, first, cell;

        world_make(NULL);
        assert_shell("echo '; do print sat' >a.smt2 && solverfs case add a.smt2");
        tester_start(&t);
        timeouts = find(&t, "tiny/commits/HEAD/timeout");
        seeds = find(&t, "tiny/commits/HEAD/seeds");
        before = names_entries(&t);
        for (int i = 1; i <= (int)test_rounds(4000); i++) {
                ck_assert_int_eq(lookup(&t, i % 2 ? timeouts : seeds, at(i % 2 ? "%d250ms" : "%d", i + 10000), &e), 0);
                ck_assert_int_eq(lookup(&t, e.nodeid, "cases", &cells), 0);
        }
        ck_assert_uint_eq(names_entries(&t), before);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, timeouts, "true", "");
        assert_listing(tree, seeds, "true", "");
        tree_close(tree);
        first = find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1/time");
        cell = find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1");
        ck_assert_int_eq(look_at(&t, cell), 0);
        forget(&t, cell, 1); /* it was looked up twice */
        ck_assert_int_eq(look_at(&t, cell), 0);
        forget(&t, cell, 1);
        ck_assert_int_eq(look_at(&t, cell), ESTALE);
        ck_assert_uint_eq(find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1"), cell);
        assert_text(&t, find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1/result"), "sat\n");
        tester_stop(&t);
        tester_start(&t);
        ck_assert_uint_eq(find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1/time"), first);
        assert_text(&t, find(&t, "tiny/commits/HEAD/timeout/10001250ms/cases/1/result"), "sat\n");
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, find(&t, "tiny/commits/HEAD/timeout"), "true", "10001250ms ");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* The same of scrambled inputs: a look makes none, and what the kernel has forgotten is forgotten. */
START_TEST(test_possible_scrambles)
{
        struct fuse_entry_out e, cells;
        struct tester t;
        struct tree *tree;
        uint64_t folder, before, first, cell;

        world_make(NULL);
        assert_shell("printf '(set-info :do \"print sat\")\\n(declare-const a Bool)\\n(assert a)\\n(check-sat)\\n' >a.smt2 && solverfs case add a.smt2");
        tester_start(&t);
        folder = find(&t, "tiny/commits/HEAD/scrambled");
        before = names_entries(&t);
        ck_assert_int_eq(lookup(&t, folder, "0", &e), ENOENT);
        ck_assert_int_eq(lookup(&t, folder, "4294967296", &e), ENOENT);
        for (int i = 1; i <= (int)test_rounds(1000); i++) {
                ck_assert_int_eq(lookup(&t, folder, at("%d", i), &e), 0);
                ck_assert_int_eq(lookup(&t, e.nodeid, "cases", &cells), 0);
        }
        ck_assert_uint_eq(names_entries(&t), before);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, folder, "true", "");
        tree_close(tree);
        first = find(&t, "tiny/commits/HEAD/scrambled/7/cases/1/time");
        cell = find(&t, "tiny/commits/HEAD/scrambled/8/cases/1");
        ck_assert_int_eq(look_at(&t, cell), 0);
        forget(&t, cell, 1);
        ck_assert_int_eq(look_at(&t, cell), ESTALE);
        assert_text(&t, find(&t, "tiny/commits/HEAD/scrambled/7/cases/1/result"), "sat\n");
        tester_stop(&t);
        tester_start(&t);
        ck_assert_uint_eq(find(&t, "tiny/commits/HEAD/scrambled/7/cases/1/time"), first);
        tree = tree_open(t.workspace, t.engine, false);
        assert_listing(tree, find(&t, "tiny/commits/HEAD/scrambled"), "true", "7 ");
        assert_listing(tree, find(&t, "tiny/cached/HEAD/scrambled"), "true", "7 ");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* Asks for what is answered too late; the next request is not answered before this one was. */
static void ask_in_vain(struct tester *t, uint32_t opcode, uint64_t node, const void *head, size_t head_size, const char *name)
{
        struct fuse_getattr_in in = {0};

        interrupted = 2 * (t->last + 1);
        ask(t, opcode, node, head, head_size, name, name ? strlen(name) + 1 : 0);
        ck_assert_int_eq(call(t, FUSE_GETATTR, FUSE_ROOT_ID, &in, sizeof(in), NULL, 0), 0);
        ck_assert_uint_eq(interrupted, 0);
}

/* A name that the kernel was not told of is not held on its behalf. */
START_TEST(test_answers_that_come_too_late)
{
        const struct fuse_read_in whole = {.size = 1 << 16};
        struct fuse_entry_out cells, cell, file, other;
        struct fuse_open_out open[2];
        struct tester t;
        uint64_t dir;

        world_make(NULL);
        assert_shell("echo '; do print sat' >a.smt2 && solverfs case add a.smt2 && solverfs run tiny HEAD 1 --seed 123456");
        tester_start(&t);
        dir = find(&t, "tiny/cached/HEAD/seeds/123456");
        ck_assert_int_eq(lookup(&t, dir, "cases", &cells), 0);
        ck_assert_int_eq(lookup(&t, cells.nodeid, "1", &cell), 0);
        ck_assert_int_eq(lookup(&t, cell.nodeid, "run.json", &file), 0);
        forget(&t, file.nodeid, 1);
        ck_assert_int_eq(look_at(&t, file.nodeid), ESTALE);
        ask_in_vain(&t, FUSE_LOOKUP, cell.nodeid, NULL, 0, "run.json");
        ck_assert_int_eq(look_at(&t, file.nodeid), ESTALE);
        ck_assert_int_eq(call(&t, FUSE_READDIRPLUS, cell.nodeid, &whole, sizeof(whole), NULL, 0), 0); /* names with attributes are held */
        ck_assert_int_eq(look_at(&t, file.nodeid), 0);
        forget(&t, file.nodeid, 1);
        ask_in_vain(&t, FUSE_READDIRPLUS, cell.nodeid, &whole, sizeof(whole), NULL);
        ck_assert_int_eq(look_at(&t, file.nodeid), ESTALE);
        /* the same of a file that goes by another node, as its value changed while it was open */
        ck_assert_int_eq(lookup(&t, cell.nodeid, "run.json", &file), 0);
        ck_assert_int_eq(try_open(&t, file.nodeid, O_RDONLY, &open[0]), 0);
        assert_shell("run() { solverfs -q run tiny HEAD 1 --seed 123456 --print run.json $1; }; run >was && " /* until the median moves */
                     "for i in $(seq 100); do run --again >moved || exit 1; cmp -s was moved || exit 0; done; exit 1");
        ck_assert_int_eq(try_open(&t, file.nodeid, O_RDONLY, &open[1]), ESTALE); /* it is to be looked up again */
        ck_assert_int_eq(lookup(&t, cell.nodeid, "run.json", &other), 0);
        ck_assert_uint_ne(other.nodeid, file.nodeid);
        release(&t, file.nodeid, open[0].fh, false);
        forget(&t, file.nodeid, 1);
        forget(&t, other.nodeid, 1);
        ck_assert_int_eq(look_at(&t, other.nodeid), ESTALE);
        ask_in_vain(&t, FUSE_LOOKUP, cell.nodeid, NULL, 0, "run.json");
        ck_assert_int_eq(look_at(&t, other.nodeid), ESTALE);
        tester_stop(&t);
        world_end();
}
END_TEST

/* -- sets -- */

START_TEST(test_sets)
{
        struct fuse_entry_out e;
        struct tester t;
        struct tree *tree;
        char target[64];
        uint64_t small, link;

        world_make(NULL);
        assert_shell("for i in 1 2 3; do echo \"; do print sat; $i\" >$i.smt2; done; solverfs case add 1.smt2 2.smt2 3.smt2");
        tester_start(&t);
        tree = tree_open(t.workspace, t.engine, false);
        ck_assert_int_eq(lookup(&t, find(&t, "sets"), "small", &e), ENOENT);
        assert_shell("solverfs set add small 3 1 && solverfs set add big all");
        small = find(&t, "sets/small"); /* at once: that it is not there was not kept */
        assert_listing(tree, find(&t, "sets"), "true", "big small ");
        assert_listing(tree, small, "true", "1 3 ");
        ck_assert_int_eq(lookup(&t, small, "2", &e), ENOENT);
        ck_assert_int_eq(lookup(&t, small, "03", &e), ENOENT);
        ck_assert_int_eq(lookup(&t, small, "3", &e), 0);
        link = e.nodeid;
        read_link_target(&t, link, target, sizeof(target));
        ck_assert_str_eq(target, "../../cases/3");
        ck_assert_int_eq(lookup(&t, find(&t, "sets/big"), "3", &e), 0);
        ck_assert_uint_ne(e.nodeid, link);
        assert_shell("solverfs case remove 3");
        assert_listing(tree, small, "true", "1 ");
        assert_shell("solverfs case add 3.smt2 && solverfs set remove big && solverfs set add other 3");
        assert_listing(tree, small, "true", "1 3 ");
        ck_assert_int_eq(lookup(&t, find(&t, "sets"), "big", &e), ENOENT);
        ck_assert_uint_eq(find(&t, "sets/small"), small);
        assert_shell("echo '(check-sat)(check-sat)' >4.smt2 && solverfs case add 4.smt2 && solverfs set add asked '4.smt2#all'");
        assert_listing(tree, find(&t, "sets/asked"), "true", "5 6 ");
        ck_assert_int_eq(lookup(&t, find(&t, "sets/asked"), "6", &e), 0);
        assert_shell("solverfs case remove 4.smt2");
        assert_listing(tree, find(&t, "sets/asked"), "true", "");
        tree_close(tree);
        tester_stop(&t);
        world_end();
}
END_TEST

/* -- reading -- */

START_TEST(test_cold_open)
{
        struct tester t;
        struct fuse_open_out o;
        struct fuse_attr a;
        uint64_t node;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "; do bytes 9000\n"), 0);
        node = find(&t, "tiny/commits/HEAD/cases/1/stdout");
        a = attributes(&t, node);
        ck_assert_uint_gt(a.size, 0);
        ck_assert_uint_ne(a.size, 9000);
        ck_assert_uint_eq(((const struct fuse_attr_out *)t.answer.data)->attr_valid, 0); /* a placeholder is not kept */
        ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
        ck_assert_uint_eq(t.told, node); /* before the reply */
        ck_assert_uint_eq(attributes(&t, node).size, 9000);
        ck_assert_uint_gt(((const struct fuse_attr_out *)t.answer.data)->attr_valid, 1000000);
        ck_assert_int_eq(read_at(&t, node, o.fh, 0, 1 << 17), 0);
        ck_assert_uint_eq(t.answer.size, 9000);
        ck_assert_int_eq(read_at(&t, node, o.fh, 8990, 4096), 0);
        ck_assert_uint_eq(t.answer.size, 10);
        ck_assert_int_eq(t.answer.data[9], '\n');
        ck_assert_int_eq(read_at(&t, node, o.fh, 9000, 4096), 0);
        ck_assert_uint_eq(t.answer.size, 0);
        ck_assert_int_eq(read_at(&t, node, o.fh, UINT64_C(1) << 62, 4096), 0);
        ck_assert_uint_eq(t.answer.size, 0);
        release(&t, node, o.fh, false);
        node = find(&t, "tiny/commits/HEAD/bin/tiny");
        ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
        ck_assert_int_eq(read_at(&t, node, o.fh, 0, 4), 0);
        ck_assert(memcmp(t.answer.data, "\177ELF", 4) == 0);
        release(&t, node, o.fh, false);
        tester_stop(&t);
        world_end();
}
END_TEST

/* Many who waited for one file: the kernel is told once, before the first answer. Each further time it would throw away the size that
 * some other reader is asking for, who would then see zeros up to the placeholder's size. */
static void check_told_once(const char *bytes, size_t stored)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n"};
        struct fuse_open_in in = {.flags = O_RDONLY};
        struct fuse_open_out o;
        struct tester t;
        uint64_t node;
        size_t before;

        world_make(&w);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", at("; do wait %s\n; do bytes %s\n", absolute("gate"), bytes)), 0);
        node = find(&t, "tiny/commits/HEAD/cases/1/stdout");
        for (int i = 0; i < 50; i++)
                ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
        attributes(&t, find(&t, "cases")); /* all were looked at */
        before = t.n_told;
        write_whole("gate", "");
        for (int i = 0; i < 50; i++) {
                ck_assert(next_answer(&t, -1));
                ck_assert_int_eq(t.answer.error, 0);
                ck_assert_uint_eq(t.n_told, before + 1);
                ck_assert_uint_eq(t.n_stored, stored);
        }
        ck_assert_uint_eq(t.told, node);
        for (int i = 0; i < 10; i++) {
                ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
                release(&t, node, o.fh, false);
        }
        ck_assert_uint_eq(t.n_told, before + 1);
        ck_assert_uint_eq(t.n_stored, stored);
        tester_stop(&t); /* with 50 files open */
        world_end();
}

START_TEST(test_told_once_of_a_short_file)
{
        check_told_once("9", 0);
}
END_TEST

START_TEST(test_told_once_of_a_long_file)
{
        check_told_once("9000", 1);
}
END_TEST

/* The kernel that has forgotten a file is told again, so no memory of it is kept here; one that has it open is not. */
START_TEST(test_told_again_when_forgotten)
{
        struct fuse_open_out o;
        struct tester t;
        uint64_t node;
        size_t before;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "; do bytes 9000\n"), 0);
        node = find(&t, "tiny/commits/HEAD/cases/1/stdout");
        ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
        before = t.n_told;
        forget(&t, node, 1);
        node = find(&t, "tiny/commits/HEAD/cases/1/stdout");
        release(&t, node, o.fh, false);
        ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
        release(&t, node, o.fh, false);
        ck_assert_uint_eq(t.n_told, before);
        forget(&t, node, 1);
        node = find(&t, "tiny/commits/HEAD/cases/1/stdout");
        ck_assert_int_eq(try_open(&t, node, O_RDONLY, &o), 0);
        release(&t, node, o.fh, false);
        ck_assert_uint_eq(t.n_told, before + 1);
        tester_stop(&t);
        world_end();
}
END_TEST

/* So many re-measurements between two looks. Their notes are of no cell: the oldest of them are gone all the same. */
static void remeasured_meanwhile(struct tester *t, uint64_t n)
{
        struct fuse_getxattr_in in = {0};
        struct store_update u = {.store = workspace_store(t->workspace)};

        while (store_update_begins(&u))
                u.r = meta_number_put(u.txn, "remeasured", meta_number_in(u.txn, "remeasured") + n);
        assert_ok(u.r);
        ck_assert_int_eq(call(t, FUSE_GETXATTR, FUSE_ROOT_ID, &in, sizeof(in), SETTLED_XATTR, sizeof(SETTLED_XATTR)), ENODATA);
}

/* When there were more than are recorded, the kernel is told to forget everything. */
START_TEST(test_more_measured_again_than_is_recorded)
{
        struct tester t;

        world_make(NULL);
        tester_start_with(&t, true);
        remeasured_meanwhile(&t, REMEASURED_KEPT);
        ck_assert_uint_eq(t.n_solver, 0);
        remeasured_meanwhile(&t, REMEASURED_KEPT + 1);
        ck_assert_uint_gt(t.n_solver, 0);
        tester_stop(&t);
        world_end();
}
END_TEST

START_TEST(test_files)
{
        struct tester t;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "(set-info :status sat)\n; do print sat\n"), 0);
        assert_text(&t, find(&t, "cases/1/name"), "a.smt2\n");
        assert_text(&t, find(&t, "cases/1/status"), "sat\n");
        assert_text(&t, find(&t, "cases/1/input.smt2"), "(set-info :status sat)\n; do print sat\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/message"), "Tenth\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/build/status"), "none\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/cases/1/result"), "sat\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/timeout/2m/cases/1/result"), "sat\n");
        assert_text(&t, find(&t, "tiny/cached/HEAD/cases/1/result"), "sat\n");
        assert_text(&t, find(&t, "tiny/commits/HEAD/build/status"), "ok\n");
        tester_stop(&t);
        world_end();
}
END_TEST

/* All of a minute, not some of them: so a script may add a folder, and take a file away again. */
START_TEST(test_many_new_cases_can_be_removed)
{
        struct tester t;
        char name[32], text[32];
        uint64_t cases;

        world_make(NULL);
        tester_start(&t);
        cases = find(&t, "cases");
        for (int i = 0; i < 130; i++) {
                snprintf(name, sizeof(name), "%d.smt2", i);
                snprintf(text, sizeof(text), "; %d\n", i);
                ck_assert_int_eq(add(&t, name, text), 0);
        }
        for (int i = 0; i < 130; i++) {
                snprintf(name, sizeof(name), "%d.smt2", i);
                ck_assert_int_eq(call(&t, FUSE_UNLINK, cases, NULL, 0, name, strlen(name) + 1), 0);
                ck_assert_int_eq(call(&t, FUSE_UNLINK, cases, NULL, 0, name, strlen(name) + 1), EROFS);
        }
        tester_stop(&t);
        world_end();
}
END_TEST

START_TEST(test_a_status_set_later_has_its_time)
{
        static const uint8_t key[] = {0, 0, 0, 1};
        cleanup_blob struct blob b = {0};
        struct tester t;
        uint64_t status;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "(check-sat)\n"), 0);
        assert_ok(store_fetch(workspace_store(t.workspace), TABLE_CASES, SLICE(key, 4), &b));
        memset((char *)b.data + 24, 0, 8); /* it was added in 1970 */
        assert_ok(store_set(workspace_store(t.workspace), TABLE_CASES, SLICE(key, 4), SLICE(b.data, b.size)));
        status = find(&t, "cases/1/status");
        ck_assert_uint_eq(attributes(&t, status).mtime, 0);
        ck_assert_int_eq(cases_set_status(workspace_cases(t.workspace), 1, VERDICT_SAT), 1);
        ck_assert_uint_gt(attributes(&t, status).mtime, 0);
        ck_assert_uint_eq(attributes(&t, find(&t, "cases/1/input.smt2")).mtime, 0);
        tester_stop(&t);
        world_end();
}
END_TEST

/* To print a case's features takes long, so only an open does it, as a job. The second case ends within an assertion, which its reader is told. */
START_TEST(test_features_are_read_at_an_open)
{
        struct fuse_getxattr_in xattr = {.size = 200};
        struct fuse_entry_out e;
        struct fuse_open_out open;
        struct tester t;
        uint64_t features;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "(assert true)\n"), 0);
        ck_assert_int_eq(add(&t, "b.smt2", "(assert (and true\n"), 0);
        features = find(&t, "cases/1/features.tsv");
        ck_assert_uint_eq(attributes(&t, features).size, PLACEHOLDER_SIZE);
        ck_assert_int_eq(try_open(&t, features, O_RDONLY, &open), 0);
        ck_assert_uint_lt(attributes(&t, features).size, PLACEHOLDER_SIZE);
        ck_assert_uint_eq(attributes(&t, features).mtime, attributes(&t, find(&t, "cases/1/input.smt2")).mtime);
        release(&t, features, open.fh, false);
        ck_assert_uint_eq(attributes(&t, find(&t, "cases/2/features.tsv")).size, PLACEHOLDER_SIZE);
        ck_assert_int_eq(try_open(&t, find(&t, "cases/2/features.tsv"), O_RDONLY, &open), EOPNOTSUPP);
        ck_assert_int_eq(call(&t, FUSE_GETXATTR, find(&t, "cases/2/features.tsv"), &xattr, sizeof(xattr), "user.solverfs.reason", 21), 0);
        ck_assert_ptr_nonnull(memmem(t.answer.data, t.answer.size, "case 2 cannot be parsed: ", 25));
        tester_stop(&t);
        tester_start_with(&t, true); /* where a stat must say the size */
        ck_assert_int_eq(lookup(&t, find(&t, "cases/1"), "features.tsv", &e), ENOENT);
        tester_stop(&t);
        world_end();
}
END_TEST

START_TEST(test_new_cases)
{
        struct fuse_create_in create = {.flags = O_WRONLY | O_CREAT, .mode = S_IFREG | 0644};
        struct fuse_entry_out e;
        struct tester t;

        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "; one\n"), 0);
        ck_assert_int_eq(add(&t, "b.smt2", "; one\n"), 0);
        ck_assert_int_eq(lookup(&t, find(&t, "cases"), "2", &e), ENOENT);
        ck_assert_int_eq(add(&t, "a.smt2", "; two\n"), EEXIST);
        ck_assert_int_eq(add(&t, "empty.smt2", ""), EINVAL);
        ck_assert_int_eq(add(&t, "c.smt2", "; two\n"), 0);
        assert_text(&t, find(&t, "cases/2/input.smt2"), "; two\n");
        ck_assert_int_eq(call(&t, FUSE_CREATE, find(&t, "tiny"), &create, sizeof(create), "x", 2), EROFS);
        ck_assert_int_eq(call(&t, FUSE_CREATE, find(&t, "cases"), &create, sizeof(create), "left-open.smt2", 15), 0);
        tester_stop(&t); /* with a file still open, as after umount -f */
        assert_shell("test $(find store/cases -type f | wc -l) = 2");
        world_end();
}
END_TEST

/* -- interrupts -- */

/* As the kernel does it: the number is the request's with its last bit set. */
static void interrupt(struct tester *t, uint64_t unique)
{
        struct fuse_interrupt_in in = {.unique = unique};
        struct fuse_in_header h = {.len = sizeof(h) + sizeof(in), .opcode = FUSE_INTERRUPT, .unique = unique | 1};
        struct iovec v[] = {{&h, sizeof(h)}, {&in, sizeof(in)}};

        ck_assert_int_eq(sendmsg(t->client, &(struct msghdr){.msg_iov = v, .msg_iovlen = 2}, MSG_NOSIGNAL), h.len);
}

START_TEST(test_interrupts)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n"};
        struct fuse_open_in in = {.flags = O_RDONLY};
        uint64_t node, ours, theirs;
        struct tester t;

        world_make(&w);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", at("; do wait %s\n; do print sat\n", absolute("gate"))), 0);
        node = find(&t, "tiny/commits/HEAD/cases/1/result");
        ours = ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
        t.pid = 0; /* somebody in a namespace we cannot look into: taken at his word */
        theirs = ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
        t.pid = getppid(); /* no signal is pending here: a stray interrupt */
        for (int i = 0; i < 20; i++)
                interrupt(&t, ours);
        ck_assert(!next_answer(&t, 700));
        interrupt(&t, theirs);
        wait_for(&t, theirs);
        ck_assert_int_eq(t.answer.error, EINTR);
        ck_assert(!next_answer(&t, 300));
        write_whole("gate", "");
        wait_for(&t, ours);
        ck_assert_int_eq(t.answer.error, 0);
        release(&t, node, ((const struct fuse_open_out *)t.answer.data)->fh, false);
        interrupt(&t, ours);      /* too late */
        interrupt(&t, 123456788); /* of nothing */
        assert_text(&t, node, "sat\n");
        tester_stop(&t);
        world_end();
}
END_TEST

/* The interrupt may come before the open was looked at, and at each moment behind it; each open is answered just once. */
START_TEST(test_interrupts_race)
{
        struct fuse_open_in in = {.flags = O_RDONLY};
        struct tester t;

        world_make(NULL);
        tester_start(&t);
        for (int i = 0; i < 40; i++)
                ck_assert_int_eq(add(&t, at("%d.smt2", i), at("; do print sat\n; %d\n", i)), 0);
        assert_text(&t, find(&t, "tiny/commits/HEAD/cases/1/result"), "sat\n");
        t.pid = 0;
        for (int i = 1; i <= 40; i++) {
                uint64_t node = find(&t, at("tiny/commits/HEAD/cases/%d/time", i)), unique;

                unique = ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
                interrupt(&t, unique);
                wait_for(&t, unique);
                ck_assert(t.answer.error == 0 || t.answer.error == EINTR);
                if (t.answer.error == 0)
                        release(&t, node, ((const struct fuse_open_out *)t.answer.data)->fh, false);
                ck_assert(!next_answer(&t, 2));
        }
        tester_stop(&t);
        world_end();
}
END_TEST

/* The mount goes away: everybody who waits gets EINTR, once. */
START_TEST(test_end_under_load)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n"};
        struct fuse_open_in in = {.flags = O_RDONLY};
        uint64_t node;
        struct tester t;

        world_make(&w);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", at("; do wait %s\n", absolute("gate"))), 0);
        node = find(&t, "tiny/commits/HEAD/cases/1/result");
        for (int i = 0; i < 100; i++)
                ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
        find(&t, "cases"); /* all were looked at */
        waiters_interrupt(t.session->waiters);
        for (int i = 0; i < 100; i++) {
                ck_assert(next_answer(&t, -1));
                ck_assert_int_eq(t.answer.error, EINTR);
        }
        wait_for(&t, ask(&t, FUSE_OPEN, node, &in, sizeof(in), NULL, 0));
        ck_assert_int_eq(t.answer.error, EINTR);
        tester_stop(&t);
        world_end();
}
END_TEST

/* -- what a kernel would never send -- */

static struct random numbers;

static uint64_t random_number(void)
{
        return random_bits(&numbers);
}

/* A number of any form and kind, and of parts that are small, at their limits or nonsense. */
static uint64_t random_node(const uint64_t *known, size_t n)
{
        static const uint32_t parts[] = {0, 1, 2, 3, 7, 255, 0xffff, 0xfffff};
        uint64_t kind = random_number() % 4 ? random_number() % 60 : random_number() % 256;

        if (random_number() % 4 == 0)
                return known[random_number() % n];
        if (random_number() % 8 == 0)
                return random_number();
        return kind << 56 | (uint64_t)(parts[random_number() % 8] & 0xffff) << 40 | (uint64_t)parts[random_number() % 8] << 20 |
               parts[random_number() % 8];
}

static const char *random_name(void)
{
        static const char *const names[] = {
                "",     ".",    "..",    "README",      "cases",   "tiny",   "commits",    "HEAD",
                "1",    "0",    "-1",    "99999999999", "time",    "v1",     "HEAD~1",     "HEAD^{",
                "60s",  "1m",   "0s",    "999999999h",  "by-name", "seeds",  "timeout",    "\xff",
                "scrambled", "by-seed.tsv", "2000000h", "3000000h",
                "a\nb", "%s%n", "build", "log",         "tinier",  "cached", "4294967295", "18446744073709551616"};
        static char text[300];
        size_t n = random_number() % 40 == 0 ? 255 : random_number() % 12;

        if (random_number() % 3)
                return names[random_number() % ARRAY_SIZE(names)];
        for (size_t i = 0; i < n; i++)
                text[i] = (char)(1 + random_number() % 255);
        text[n] = '\0';
        return text;
}

static bool takes_cases(uint64_t node)
{
        struct inode i;

        return inode_unpack(node, &i) && route_of(i.kind)->takes;
}

static void random_request(struct tester *t, uint64_t node)
{
        const char *name = random_name();
        struct fuse_getattr_in getattr = {0};
        struct fuse_getxattr_in xattr = {.size = (uint32_t)(random_number() % 3 * 40)};
        struct fuse_open_in open = {.flags = O_RDONLY};
        struct fuse_open_in write = {.flags = random_number() % 2 ? O_WRONLY : O_RDWR | O_TRUNC};
        uint32_t type;
        struct fuse_read_in read = {.offset = random_number() % 3 ? random_number() : random_number() % 100, .size = 4096};
        struct fuse_setattr_in setattr = {.valid = (uint32_t)random_number() & 0x1ff & ~(uint32_t)FATTR_FH,
                                          .size = random_number()};
        struct fuse_mkdir_in mkdir = {.mode = 0755};
        struct fuse_mknod_in mknod = {.mode = S_IFREG};
        struct fuse_rename_in rename = {.newdir = node};

        switch (random_number() % 14) {
        case 0:
        case 1:
        case 2:
                call(t, FUSE_LOOKUP, node, NULL, 0, name, strlen(name) + 1);
                break;
        case 3:
                call(t, FUSE_GETATTR, node, &getattr, sizeof(getattr), NULL, 0);
                break;
        case 4:
                call(t, FUSE_READLINK, node, NULL, 0, NULL, 0);
                break;
        case 5:
                if (call(t, FUSE_OPENDIR, node, &open, sizeof(open), NULL, 0) == 0) {
                        read.fh = ((const struct fuse_open_out *)t->answer.data)->fh;
                        call(t, FUSE_READDIR, node, &read, sizeof(read), NULL, 0);
                        release(t, node, read.fh, true);
                }
                break;
        case 6:
                call(t, FUSE_GETXATTR, node, &xattr, sizeof(xattr), "user.solverfs.state", 20);
                break;
        case 7:
                call(t, FUSE_LISTXATTR, node, &xattr, sizeof(xattr), NULL, 0);
                break;
        case 8:
                if (call(t, FUSE_GETATTR, node, &getattr, sizeof(getattr), NULL, 0) != 0)
                        break;
                type = ((const struct fuse_attr_out *)t->answer.data)->attr.mode & S_IFMT;
                if (type != S_IFREG) /* a file might be worth hours of work */
                        ck_assert_int_ne(call(t, FUSE_OPEN, node, &open, sizeof(open), NULL, 0), 0);
                ck_assert_int_ne(call(t, FUSE_OPEN, node, &write, sizeof(write), NULL, 0), 0);
                break;
        case 9:
                if (call(t, FUSE_SETATTR, node, &setattr, sizeof(setattr), NULL, 0) == 0) /* rsync -a sets times of the folder */
                        ck_assert(takes_cases(node) && !(setattr.valid & FATTR_SIZE));
                break;
        case 10:
                ck_assert_int_ne(call(t, FUSE_MKDIR, node, &mkdir, sizeof(mkdir), name, strlen(name) + 1), 0);
                break;
        case 11:
                ck_assert_int_ne(call(t, FUSE_MKNOD, node, &mknod, sizeof(mknod), name, strlen(name) + 1), 0);
                break;
        case 12:
                ck_assert_int_ne(call(t, FUSE_RENAME, node, &rename, sizeof(rename), "a\0b", 4), 0);
                break;
        default:
                ck_assert_int_ne(call(t, FUSE_UNLINK, node, NULL, 0, name, strlen(name) + 1), 0);
        }
}

START_TEST(test_nonsense)
{
        static const char *const paths[] = {"cases",
                                            "cases/1",
                                            "cases/1/name",
                                            "tiny",
                                            "tiny/commits",
                                            "tiny/commits/HEAD",
                                            "tiny/commits/HEAD/cases/1",
                                            "tiny/commits/HEAD/cases/1/time",
                                            "tiny/commits/HEAD/bin/tiny",
                                            "tiny/cached",
                                            ".solverfs/stats",
                                            "tiny/tags",
                                            "cases/by-name",
                                            "README"};
        uint64_t known[ARRAY_SIZE(paths)];
        struct tester t;

        random_seed(&numbers, test_seed(20220101));
        world_make(NULL);
        tester_start(&t);
        ck_assert_int_eq(add(&t, "a.smt2", "; do print sat\n"), 0);
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                known[i] = find(&t, paths[i]);
        for (unsigned i = 0; i < test_rounds(4000); i++)
                random_request(&t, random_node(known, ARRAY_SIZE(known)));
        ck_assert_uint_eq(asked(&t), 0);
        assert_text(&t, find(&t, "cases/1/name"), "a.smt2\n");
        tester_stop(&t);
        world_end();
}
END_TEST

int main(void)
{
        const TTest *const tests[] = {test_what_is_negotiated,
                                      test_walk, test_walk_to_a_large_case_id,
                                      test_listing_in_steps, test_listing_of_names_in_steps, test_listing_after_the_index_was_rebuilt,
                                      test_possible_names, test_possible_scrambles,
                                      test_answers_that_come_too_late,
                                      test_sets,
                                      test_cold_open,
                                      test_told_once_of_a_short_file,
                                      test_told_once_of_a_long_file,
                                      test_told_again_when_forgotten,
                                      test_more_measured_again_than_is_recorded,
                                      test_files,
                                      test_new_cases, test_many_new_cases_can_be_removed, test_a_status_set_later_has_its_time, test_features_are_read_at_an_open,
                                      test_interrupts,
                                      test_interrupts_race,
                                      test_end_under_load,
                                      test_nonsense};

        test_folder = "solverfs tree";
        test_after = suite_after;
        suite_adopt();
        return test_main("tree", tests, ARRAY_SIZE(tests), TEST_SECONDS);
}
