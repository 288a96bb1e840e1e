/* The compilers and build tools of this machine that are known by name. */
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include "core/run/file_digest.h"
#include "core/run/host.h"

static const char *const folders[] = {"/usr/local/bin", "/usr/bin"};
static const char *const tools[] = {"cc",    "c++",   "ld",     "ar",      "make",     "cmake",    "ninja",   "python3", "as",    "gcc",
                                    "g++",   "clang", "clang++", "ld.lld", "ld.gold",  "ranlib",   "meson",   "flex",    "bison", "m4",
                                    "perl",  "autoconf", "automake", "libtool", "gperf", "rustc", "cargo",   "go",      "ocamlopt", "ghc", "java"};
/* The programs that turn one preprocessed file into an object. */
static const char *const compilers[] = {"cc", "c++", "gcc", "g++", "clang", "clang++", "as"};
/* A compiler's own parts: these may change while its driver stays the same. */
static const char *const parts[] = {"/usr/{local/,}lib{,exec}/gcc/*/*/{cc1,cc1plus,collect2,lto1,lto-wrapper,liblto_plugin.so}",
                                    "/usr/lib/llvm-*/lib/lib{clang-cpp,LLVM}*.so*"};

static void each_listed(const char *const *list, size_t n, void (*fn)(void *user, const char *path), void *user)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < ARRAY_SIZE(folders); k++) {
                        char path[64];

                        snprintf(path, sizeof(path), "%s/%s", folders[k], list[i]);
                        fn(user, path);
                }
}

/* True for a further name of a library, which has several there; only the first is looked at. */
static bool is_again(const glob_t *found, size_t at)
{
        struct stat st, other;

        for (size_t i = 0; i < at && stat(found->gl_pathv[at], &st) == 0; i++)
                if (stat(found->gl_pathv[i], &other) == 0 && other.st_dev == st.st_dev && other.st_ino == st.st_ino)
                        return true;
        return false;
}

static void each_part(void (*fn)(void *user, const char *path), void *user)
{
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                glob_t found = {0};

                if (glob(parts[i], GLOB_BRACE, NULL, &found) == 0)
                        for (size_t k = 0; k < found.gl_pathc; k++)
                                if (!is_again(&found, k))
                                        fn(user, found.gl_pathv[k]);
                globfree(&found);
        }
}

void host_tools_each(void (*fn)(void *user, const char *path), void *user)
{
        each_listed(tools, ARRAY_SIZE(tools), fn, user);
        each_part(fn, user);
}

static void add_look(void *user, const char *path)
{
        struct hasher *h = user;
        struct file_look look;

        file_look(path, &look);
        if (look.kind == FILE_ABSENT)
                return;
        hasher_string(h, path);
        hasher_add(h, look.digest.bytes, DIGEST_SIZE);
}

void host_toolchain(char ret[65])
{
        struct hasher *h = hasher_new();
        struct digest d;

        host_tools_each(add_look, h);
        hasher_finish(h, &d);
        digest_hex(&d, ret);
}

#define HEAD 4096 /* of a file: holds a program's build id, or most of a script */

/* Another size, time or beginning means another tool. */
static void add_head(void *user, const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct hasher *h = user;
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

void host_compilers(struct digest *ret)
{
        struct hasher *h = hasher_new();

        each_listed(compilers, ARRAY_SIZE(compilers), add_head, h);
        each_part(add_head, h);
        hasher_finish(h, ret);
}
