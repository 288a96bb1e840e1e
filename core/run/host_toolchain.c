/* The compilers and build tools of this machine: which ones they are, for keys, and whether one of them has been exchanged. */
#include "core/run/toolchain_file.h"

#include <fcntl.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sys/stat.h>

#include "cache/base/hash.h"
#include "core/run/host.h"

static const char *const folders[] = {"/usr/local/bin", "/usr/bin"};
static const char *const tools[] = {"cc", "c++", "ld", "ar", "make", "cmake", "ninja", "python3"};
/* Asked for no version, which would take some of them long: known by size and time, which a package gives its files. */
static const char *const more_tools[] = {"as",    "gcc",   "g++",   "clang", "clang++",  "ld.lld",   "ld.gold",  "ranlib",
                                         "meson", "flex",  "bison", "m4",    "perl",     "autoconf", "automake", "libtool",
                                         "gperf", "rustc", "cargo", "go",    "ocamlopt", "ghc",      "java"};
/* Those of all that turn one preprocessed file into an object. */
static const char *const compilers[] = {"cc", "c++", "gcc", "g++", "clang", "clang++", "as"};
/* A compiler's own parts: its driver may stay as it is while they are exchanged. */
static const char *const parts[] = {"/usr/{local/,}lib{,exec}/gcc/*/*/{cc1,cc1plus,collect2,lto1,lto-wrapper,liblto_plugin.so}",
                                    "/usr/lib/llvm-*/lib/lib{clang-cpp,LLVM}*.so*"};

/* -- files -- */

#define HEAD 4096 /* of a file: holds a program's build id, or most of a script */

/* Another size, time or beginning: another tool. */
static void add_content(struct hasher *h, const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        char head[HEAD];
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        hasher_string(h, path);
        hasher_number(h, (uint64_t)st.st_size);
        hasher_number(h, (uint64_t)st.st_mtim.tv_sec);
        hasher_number(h, (uint64_t)st.st_mtim.tv_nsec);
        n = read(fd, head, sizeof(head));
        if (n > 0)
                hasher_add(h, head, (size_t)n);
}

/* Nobody can put another file in its place, or write to it, and have all of these again. */
static void add_moment(struct hasher *h, const char *path)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return;
        hasher_string(h, path);
        hasher_number(h, st.st_dev);
        hasher_number(h, st.st_ino);
        hasher_number(h, (uint64_t)st.st_size);
        hasher_number(h, (uint64_t)st.st_mtim.tv_sec);
        hasher_number(h, (uint64_t)st.st_mtim.tv_nsec);
        hasher_number(h, (uint64_t)st.st_ctim.tv_sec);
        hasher_number(h, (uint64_t)st.st_ctim.tv_nsec);
}

typedef void add_file(struct hasher *h, const char *path);

static void add_listed(struct hasher *h, const char *const *list, size_t n, add_file *add)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < ARRAY_SIZE(folders); k++) {
                        char path[64];

                        snprintf(path, sizeof(path), "%s/%s", folders[k], list[i]);
                        add(h, path);
                }
}

static void add_parts(struct hasher *h, add_file *add)
{
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                glob_t found = {0};

                if (glob(parts[i], GLOB_BRACE, NULL, &found) == 0)
                        for (size_t k = 0; k < found.gl_pathc; k++)
                                add(h, found.gl_pathv[k]);
                globfree(&found);
        }
}

/* Finer than host_toolchain(), which tells versions apart only. */
static void tools_moment(bool with_parts, struct digest *ret)
{
        struct hasher *h = hasher_new();

        add_listed(h, tools, ARRAY_SIZE(tools), add_moment);
        add_listed(h, more_tools, ARRAY_SIZE(more_tools), add_moment);
        if (with_parts)
                add_parts(h, add_moment);
        hasher_finish(h, ret);
}

void host_tools_moment(struct digest *ret)
{
        tools_moment(true, ret);
}

void host_compilers(struct digest *ret)
{
        struct hasher *h = hasher_new();

        add_listed(h, compilers, ARRAY_SIZE(compilers), add_content);
        add_parts(h, add_content);
        hasher_finish(h, ret);
}

/* -- the digest in build keys ----------------------------------------------------------------------------------- */

static void add_size_and_time(struct hasher *h, const char *path)
{
        struct stat st = {0};

        if (stat(path, &st) < 0)
                st = (struct stat){0};
        hasher_number(h, 0); /* where older versions had the inode; their builds stay known */
        hasher_number(h, (uint64_t)st.st_size);
        hasher_number(h, (uint64_t)st.st_mtim.tv_sec);
}

/* A compiler that somebody put before the system's is mostly a script that calls it, and tells the same version whatever it adds. */
static void add_scripts(struct hasher *h)
{
        static const char *const list[] = {"/usr/local/bin/cc", "/usr/local/bin/c++", "/usr/local/bin/gcc", "/usr/local/bin/g++",
                                           "/usr/local/bin/ld", "/usr/local/bin/ar"};

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                add_content(h, list[i]);
}

/* -EINTR: the shell or a tool was killed. Half an answer must not count, or everything built would be looked for under another key. */
static int ask_tools_once(char ret[DIGEST_HEX_SIZE])
{
        cleanup_buffer struct buffer command = {0};
        struct hasher *h;
        struct digest d;
        char block[4096];
        size_t n, size = 0;
        bool whole;
        FILE *f;

        buffer_adds(&command, "PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C; export PATH LC_ALL; for t in");
        for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
                buffer_addf(&command, " %s", tools[i]);
        buffer_adds(&command, "; do echo \"== $t\"; \"$t\" --version; [ $? -le 128 ] || exit 1; done 2>/dev/null </dev/null");
        if (buffer_error(&command) < 0)
                return -ENOMEM;
        f = popen(command.data, "re");
        if (!f)
                return errorf(-EIO, "cannot ask the compilers for their versions: %s", strerror(errno));
        h = hasher_new();
        while ((n = fread(block, 1, sizeof(block), f)) > 0) {
                hasher_add(h, block, n);
                size += n;
        }
        whole = pclose(f) == 0;
        hasher_string(h, gnu_get_libc_version());
        add_listed(h, more_tools, ARRAY_SIZE(more_tools), add_size_and_time);
        add_scripts(h);
        hasher_finish(h, &d);
        if (!whole)
                return errorf(-EINTR, "cannot ask the compilers for their versions: one of them was killed");
        if (size == 0)
                return errorf(-EIO, "cannot ask the compilers for their versions: there is no working /bin/sh");
        digest_hex(&d, ret);
        return 0;
}

static int ask_tools(char ret[DIGEST_HEX_SIZE])
{
        int r = -EINTR;

        for (unsigned i = 0; r == -EINTR && i < 5; i++)
                r = ask_tools_once(ret);
        return r == -EINTR ? -EIO : r;
}

#define LOOK_AGAIN (100 * NSEC_PER_MSEC) /* every key has the toolchain in it: a reader of many files asks each few µs */

static struct {
        pthread_mutex_t lock;
        char *file;           /* under lock, as the rest; NULL: nothing is kept */
        bool known;
        bool asked;           /* by this process */
        uint64_t looked;      /* ns */
        struct digest moment; /* of the tools: an upgrade under a running daemon is noticed at the price of a few stat() */
        char hex[DIGEST_HEX_SIZE];
} toolchain = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- the file: two digests, of what it holds for and the toolchain's -- */

#define KEPT_SIZE ((size_t)2 * DIGEST_HEX_SIZE) /* with a blank and a newline */

void host_toolchain_keep(const char *path)
{
        pthread_mutex_lock(&toolchain.lock);
        if (!toolchain.file)
                toolchain.file = strdup(path);
        pthread_mutex_unlock(&toolchain.lock);
}

static void kept_for(const struct digest *moment, char ret[DIGEST_HEX_SIZE])
{
        struct hasher *h = hasher_new();
        struct digest d;

        hasher_add(h, moment->bytes, DIGEST_SIZE);
        hasher_string(h, gnu_get_libc_version());
        hasher_finish(h, &d);
        digest_hex(&d, ret);
}

static bool is_script(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        char head[2];

        return fd >= 0 && read(fd, head, 2) == 2 && memcmp(head, "#!", 2) == 0;
}

static bool may_be_kept(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
                for (size_t k = 0; k < ARRAY_SIZE(folders); k++) {
                        char path[64];

                        snprintf(path, sizeof(path), "%s/%s", folders[k], tools[i]);
                        if (is_script(path))
                                return false;
                }
        return toolchain.file;
}

static void keep(const struct digest *moment)
{
        char text[KEPT_SIZE + 1], key[DIGEST_HEX_SIZE];

        if (!may_be_kept())
                return;
        kept_for(moment, key);
        snprintf(text, sizeof(text), "%s %s\n", key, toolchain.hex);
        if (write_file_atomic(toolchain.file, text, KEPT_SIZE, 0600) < 0)
                log_debug("%s is not written: the compilers are asked again next time", toolchain.file);
}

static bool read_kept(const struct digest *moment, char ret[DIGEST_HEX_SIZE])
{
        cleanup_blob struct blob b = {0};
        char key[DIGEST_HEX_SIZE];
        struct digest d;

        kept_for(moment, key);
        if (!toolchain.file || read_file(toolchain.file, KEPT_SIZE, &b) < 0 || b.size != KEPT_SIZE ||
            memcmp(b.data, key, DIGEST_HEX_SIZE - 1) != 0)
                return false;
        snprintf(ret, DIGEST_HEX_SIZE, "%.*s", DIGEST_HEX_SIZE - 1, (const char *)b.data + DIGEST_HEX_SIZE); /* a line's end is behind it, and no 0 */
        return digest_parse(ret, &d) == 0;
}

/* Lock held. */
static int find_out(const struct digest *moment, bool may_be_old)
{
        int r;

        if (may_be_old && !toolchain.known && read_kept(moment, toolchain.hex))
                return 0;
        r = ask_tools(toolchain.hex);
        toolchain.asked = r == 0;
        if (r == 0)
                keep(moment);
        return r;
}

static int look_within(uint64_t age_ns, char ret[DIGEST_HEX_SIZE])
{
        struct digest now;
        int r = 0;

        pthread_mutex_lock(&toolchain.lock);
        if (!toolchain.known || now_ns() - toolchain.looked >= age_ns) {
                bool may_be_old = age_ns > 0;

                tools_moment(false, &now);
                toolchain.looked = now_ns();
                if (!toolchain.known || !digest_equal(&toolchain.moment, &now) || (!may_be_old && !toolchain.asked)) {
                        r = find_out(&now, may_be_old);
                        toolchain.known = r == 0;
                        toolchain.moment = now;
                }
        }
        if (r == 0)
                memcpy(ret, toolchain.hex, DIGEST_HEX_SIZE);
        pthread_mutex_unlock(&toolchain.lock);
        return r;
}

int host_toolchain(char ret[65])
{
        return look_within(LOOK_AGAIN, ret);
}

int host_toolchain_now(char ret[65])
{
        return look_within(0, ret);
}
