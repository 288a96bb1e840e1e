/* solverfs-shim: replaces compilers and `date` inside a build. A static program; it acts by its name (build_tools.c makes the links).
 *
 * A compiler's name: runs `ccache COMPILER ...` if the cache sees everything that the object depends on, else the compiler itself. If
 * $SOLVERFS_BUILD_TRAIL names trail_runtime.c's archive, the objects report their calls and comparisons, and programs are linked with it.
 *
 * "cpp.solverfs": ccache's CCACHE_PREFIX_CPP. ccache recognizes a source by its preprocessed text, and the compiler sees more than that text: columns, for
 * debug information and sanitizers; comments, for -Wimplicit-fallthrough; files that the assembler includes. So the text is replaced by a digest of
 * itself and of the bytes of every file that it names. If it includes files by the assembler's directives, a unique number follows. ccache hashes
 * that line and throws it away; the compiler reads the source.
 *
 * With those bytes the text needs to show only which files were included, and in which order. So GCC is asked to follow directives without expanding
 * macros (-fdirectives-only), which takes less than half as long. The whole text is made if an expansion could show more, or change the effect of a
 * directive (says_all).
 *
 * "date": prints SOURCE_DATE_EPOCH, unless a date is asked for. Programs that show their build time then show the same each time. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CCACHE "/usr/bin/ccache"

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "solverfs-shim: %s: %s\n", what, strerror(errno));
        exit(127);
}

static bool begins(const char *s, const char *with)
{
        return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with)
{
        size_t n = strlen(s), k = strlen(with);

        return n > k && strcmp(s + n - k, with) == 0;
}

/* True if `s` matches any string of the list. */
static bool any(const char *s, const char *const *list, bool (*matches)(const char *s, const char *with))
{
        while (*list && !matches(s, *list))
                list++;
        return *list != NULL;
}

/* The arguments after the first, preceded by these two. */
static char **with_two_first(int argc, char **argv, const char *first, const char *second)
{
        char **list = calloc((size_t)argc + 2, sizeof(*list));

        if (!list)
                die(first);
        list[0] = (char *)first;
        list[1] = (char *)second;
        memcpy(list + 2, argv + 1, (size_t)argc * sizeof(*list)); /* with the NULL */
        return list;
}

/* -- date ------------------------------------------------------------------------------------------------------- */

/* True if the argument says which time to show (or to set). A letter after -I is a precision. */
static bool names_time(const char *argument)
{
        static const char *const options[] = {"--date", "--file", "--reference", "--resolution", "--set", "--help", "--version", NULL};

        if (any(argument, options, begins))
                return true;
        if (argument[0] != '-' || argument[1] == '-')
                return false;
        for (const char *p = argument + 1; *p && *p != 'I'; p++)
                if (strchr("dfrs", *p))
                        return true;
        return false;
}

/* Runs date(1), with SOURCE_DATE_EPOCH as the time to show, or left alone: with the arguments as they are. */
static int show_date(int argc, char **argv)
{
        const char *epoch = getenv("SOURCE_DATE_EPOCH");
        bool is_left_alone = !epoch || !*epoch || epoch[strspn(epoch, "0123456789")] != '\0' || strlen(epoch) > 18;
        char at[64];

        for (int i = 1; i < argc; i++)
                is_left_alone |= names_time(argv[i]);
        snprintf(at, sizeof(at), "--date=@%s", is_left_alone ? "" : epoch);
        if (!is_left_alone) /* before the format, and before a "--" */
                argv = with_two_first(argc, argv, argv[0], at);
        execv("/usr/bin/date", argv);
        execv("/bin/date", argv);
        die("date");
        return 127;
}

/* -- the preprocessor ------------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
        return strcmp(a, b);
}

/* True if the path was seen before; adds it. `seen` is a tree. */
static bool seen_before(void **seen, const char *path)
{
        char *copy;

        if (tfind(path, seen, compare_paths))
                return true;
        copy = strdup(path);
        if (!copy || !tsearch(copy, seen, compare_paths))
                die("headers");
        return false;
}

struct text {
        char *bytes; /* mapped; NULL if empty */
        size_t size;
        int fd;
};

/* False if there is no such file: <built-in>, a folder. */
static bool text_open(const char *path, int flags, struct text *ret)
{
        struct stat st;
        bool ok;

        *ret = (struct text){.fd = open(path, flags | O_CLOEXEC)};
        ok = ret->fd >= 0 && fstat(ret->fd, &st) == 0 && S_ISREG(st.st_mode);
        if (ok && st.st_size > 0) {
                ret->size = (size_t)st.st_size;
                ret->bytes = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
                ok = ret->bytes != MAP_FAILED;
        }
        if (!ok && ret->fd >= 0)
                close(ret->fd);
        return ok;
}

static void text_close(struct text *t)
{
        if (t->bytes)
                munmap(t->bytes, t->size);
        if (close(t->fd) < 0)
                die("the preprocessed text");
}

static struct text output_open(const char *path)
{
        struct text t;

        if (!path || !text_open(path, O_RDWR | O_APPEND, &t))
                die(path ? path : "the preprocessed text");
        return t;
}

/* The name in a line `# 12 "dir/a.h" 1` or `#line 12 "dir/a.h"`, its escapes undone. False for any other line. */
static bool name_of_line(const char *line, const char *end, char name[PATH_MAX])
{
        const char *p = line + 1;
        size_t n = 0;

        while (p < end && *p == ' ')
                p++;
        if (end - p > 4 && memcmp(p, "line", 4) == 0)
                p += 4;
        while (p < end && *p == ' ')
                p++;
        if (p == end || *p < '0' || *p > '9')
                return false;
        while (p < end && *p != '"')
                p++;
        for (p++; p < end && *p != '"' && n + 1 < PATH_MAX; p++) {
                if (*p == '\\' && p + 1 < end)
                        p++;
                if (*p >= '0' && *p <= '7' && p[-1] == '\\' && p + 2 < end) { /* \ooo */
                        name[n++] = (char)((p[0] - '0') * 64 + (p[1] - '0') * 8 + (p[2] - '0'));
                        p += 2;
                } else {
                        name[n++] = *p;
                }
        }
        name[n] = '\0';
        return n > 0;
}

/* Adds the name and the digest of each file that the text names, once. */
static void add_digests(XXH3_state_t *state, const char *text, size_t size)
{
        const char *end = text + size, *next;
        void *seen = NULL;
        char name[PATH_MAX];
        XXH128_hash_t d;
        struct text file;

        for (const char *line = text; line < end; line = next) {
                const char *newline = memchr(line, '\n', (size_t)(end - line));

                next = newline ? newline + 1 : end;
                if (*line != '#' || !name_of_line(line, newline ? newline : end, name) || seen_before(&seen, name) ||
                    !text_open(name, O_RDONLY, &file))
                        continue;
                d = XXH3_128bits(file.bytes, file.size);
                text_close(&file);
                XXH3_128bits_update(state, name, strlen(name) + 1);
                XXH3_128bits_update(state, &d, sizeof(d));
        }
        tdestroy(seen, free);
}

static bool includes_by_assembler(const char *text, size_t size)
{
        return memmem(text, size, ".include", 8) || memmem(text, size, ".incbin", 7);
}

/* The line that replaces the preprocessed text. */
static void make_line(const char *text, size_t size, char ret[256])
{
        XXH3_state_t *state = XXH3_createState();
        struct timespec now;
        XXH128_hash_t d;
        int n;

        if (!state)
                die("digest");
        XXH3_128bits_reset(state);
        XXH3_128bits_update(state, &size, sizeof(size));
        XXH3_128bits_update(state, text, size);
        add_digests(state, text, size);
        d = XXH3_128bits_digest(state);
        XXH3_freeState(state);
        n = snprintf(ret, 256, "\nsolverfs %016" PRIx64 "%016" PRIx64, (uint64_t)d.high64, (uint64_t)d.low64);
        clock_gettime(CLOCK_REALTIME, &now);
        if (includes_by_assembler(text, size))
                n += snprintf(ret + n, 256 - (size_t)n, " %lld.%09ld.%d", (long long)now.tv_sec, now.tv_nsec, (int)getpid());
        snprintf(ret + n, 256 - (size_t)n, "\n");
}

static bool has(const struct text *t, const char *word)
{
        return t->bytes && memmem(t->bytes, t->size, word, strlen(word));
}

/* The digest does not cover a precompiled header's bytes. ccache hashes them if it finds the header's name in the text, so the text stays then. */
static void text_replace(struct text *t)
{
        char line[256];

        make_line(t->bytes ? t->bytes : "", t->size, line);
        if (!has(t, "pch_preprocess") && ftruncate(t->fd, 0) < 0)
                die("the preprocessed text");
        if (write(t->fd, line, strlen(line)) != (ssize_t)strlen(line))
                die("the preprocessed text");
}

/* True if -fdirectives-only can be used: for GCC by its usual names, and sources in C and C++. An assembler's text is lexed in another way. */
static bool may_follow_directives_only(char **argv)
{
        static const char *const excluding[] = {"-P", "-traditional", "-fpreprocessed", "-fdirectives-only", "-C", NULL};
        static const char *const names[] = {"cc", "c++", "gcc", "g++"};
        const char *name = strrchr(argv[1], '/');
        size_t n;

        name = name ? name + 1 : argv[1];
        n = strcspn(name, "0123456789");
        n -= n > 0 && name[n] != '\0' && name[n - 1] == '-'; /* gcc-12 */
        for (char **p = argv + 2; *p; p++)
                if (ends(*p, ".S") || any(*p, excluding, begins))
                        return false;
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                if (strlen(names[i]) == n && memcmp(name, names[i], n) == 0)
                        return true;
        return false;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\\';
}

/* True if the word stands alone between brackets, commas or quotes, as in _Pragma("once") or PRAGMA(once). In prose and in names it hardly ever does. */
static bool has_argument(const struct text *t, const char *word)
{
        const char *end = t->bytes + t->size, *p = t->bytes;

        while (p && (p = memmem(p, (size_t)(end - p), word, strlen(word)))) {
                const char *before = p - 1;

                p += strlen(word);
                while (before > t->bytes && is_blank(*before))
                        before--;
                while (p < end && is_blank(*p))
                        p++;
                if (before >= t->bytes && strchr("(\",", *before) && p < end && strchr(")\",", *p))
                        return true;
        }
        return false;
}

/* True if the operator _Pragma may change a later directive: it can change macros and say `once`, and -fdirectives-only does not look at it. Lines of
 * #pragma are followed. */
static bool pragmas_change_directives(const struct text *t)
{
        return has(t, "_Pragma") && (has(t, "push_macro") || has(t, "pop_macro") || has_argument(t, "once"));
}

/* GCC before 11 reads directives inside raw strings. (With -fdirectives-only the text has the predefined macros.) */
static bool is_by_gcc_11_or_later(const struct text *t)
{
        static const char version[] = "\n#define __GNUC__ ";
        const char *found = t->bytes ? memmem(t->bytes, t->size, version, strlen(version)) : NULL;

        return found && !has(t, "__clang__") && atoi(found + strlen(version)) >= 11;
}

/* True if the text from -fdirectives-only and the bytes of its files determine the compiler's input. An expansion to a time does not. Such words are
 * found in definitions, too, as the text holds all of them. */
static bool says_all(const struct text *t)
{
        return !has(t, "__DATE__") && !has(t, "__TIME__") && !has(t, "__TIMESTAMP__") && !has(t, "pch_preprocess") && is_by_gcc_11_or_later(t) &&
               !pragmas_change_directives(t);
}

/* Returns the preprocessor's exit status. A try prints nothing on standard error. */
static int run_preprocessor(char **argv, bool is_try)
{
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                int null = is_try ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

                if (is_try && (null < 0 || dup2(null, STDERR_FILENO) < 0))
                        _exit(127);
                execvp(argv[0], argv);
                die(argv[0]);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                die("fork");
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* True if the text was made and replaced. */
static bool follow_directives_only(int argc, char **argv, const char *output)
{
        struct text t;
        bool ok;

        if (run_preprocessor(with_two_first(argc - 1, argv + 1, argv[1], "-fdirectives-only"), true) != 0)
                return false;
        t = output_open(output);
        ok = says_all(&t);
        if (ok)
                text_replace(&t);
        text_close(&t);
        return ok;
}

/* Our failures count as the preprocessor's: ccache then calls the compiler and keeps nothing. */
static int preprocess(int argc, char **argv)
{
        const char *output = NULL;
        struct text t;
        int status;

        for (char **p = argv + 1; *p; p++)
                if (strcmp(*p, "-o") == 0 && p[1])
                        output = p[1];
        if (output && may_follow_directives_only(argv) && follow_directives_only(argc, argv, output))
                return 0;
        status = run_preprocessor(argv + 1, false);
        if (status == 0) {
                t = output_open(output);
                text_replace(&t);
                text_close(&t);
        }
        return status;
}

/* -- compilers -------------------------------------------------------------------------------------------------- */

/* True if ccache and the preprocessed text cover everything that the object depends on. Otherwise the compiler runs without ccache. */
static bool may_be_cached(char **argv)
{
        static const char *const unseen[] = {
                /* the effects of these, or the files that they name, are not in the text */
                "-B", "-specs", "--specs", "-wrapper", "-fplugin", "-Wa,@", "-Wa,-I", "-Xassembler", "--sysroot", "-fprofile-use",
                "-fauto-prof", "-Xclang", "-fprofile-dir", "-x", "-fbranch-prob", "-fmodules", "-fmodule", "--config", "@",
                /* these leave a file beside the object that ccache does not keep */
                "-fcallgraph-info", "-fopt-info", "-ftime-trace", "-fsave-optimization-record", "-aux-info", NULL};
        static const char *const unread[] = {".s", ".i", ".ii", ".sx", ".bc", ".ll", NULL}; /* not preprocessed */
        bool compiles = false;

        for (char **p = argv + 1; *p; p++) {
                compiles |= strcmp(*p, "-c") == 0;
                if (any(*p, unseen, begins) || any(*p, unread, ends))
                        return false;
        }
        return compiles;
}

static bool find_compiler(const char *name, char ret[PATH_MAX])
{
        static const char *const folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};

        for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
                if (snprintf(ret, PATH_MAX, "%s/%s", folders[i], name) < PATH_MAX && access(ret, X_OK) == 0)
                        return true;
        return false;
}

static bool is_clang(const char *compiler)
{
        char path[PATH_MAX];

        return realpath(compiler, path) && strstr(path, "clang");
}

/* True if a program or a library is linked: there are files, and no option stops before linking. */
static bool links(char **argv)
{
        static const char *const ends_before[] = {"-c", "-S", "-E", "-M", "-MM", "-r", "-fsyntax-only", NULL};
        bool has_file = false;

        for (char **p = argv + 1; *p; p++) {
                for (const char *const *e = ends_before; *e; e++)
                        if (strcmp(*p, *e) == 0)
                                return false;
                has_file |= (**p != '-' && strchr(*p, '.')) || strcmp(*p, "-") == 0;
        }
        return has_file;
}

/* Adds the trail's options. Inlined or not, a function reports its calls under its own name; a comparison reports its outcome. At -O1, so that a
 * function's comparisons depend on its own code, and not on where it was expanded. */
static char **with_trail(const char *compiler, const char *archive, int *argc, char **argv)
{
        static const char *const always[] = {"-finstrument-functions", "-fsanitize-coverage=trace-cmp", "-O1", "-g1", "-fno-lto", "-Wno-error", NULL};
        static const char *const of_gcc[] = {"-finstrument-functions-exclude-file-list=/usr/include,/usr/lib", "-fno-inline-functions-called-once", NULL};
        char **list = calloc((size_t)*argc + 16, sizeof(*list));
        const bool has_link = links(argv);
        bool is_shared = false;
        int n = *argc;

        if (!list)
                die("memory");
        memcpy(list, argv, (size_t)n * sizeof(*list));
        for (const char *const *p = always; *p; p++)
                list[n++] = (char *)*p;
        for (const char *const *p = of_gcc; !is_clang(compiler) && *p; p++)
                list[n++] = (char *)*p;
        for (char **a = argv; *a; a++)
                is_shared |= strcmp(*a, "-shared") == 0;
        if (has_link && is_shared) /* the program has the runtime, once */
                list[n++] = (char *)"-Wl,-z,undefs";
        else if (has_link) {
                list[n++] = (char *)"-x";
                list[n++] = (char *)"none";
                list[n++] = (char *)archive;
        }
        *argc = n;
        return list;
}

static int compile(const char *name, int argc, char **argv)
{
        const char *archive = getenv("SOLVERFS_BUILD_TRAIL");
        char compiler[PATH_MAX];

        if (!find_compiler(name, compiler)) {
                errno = ENOENT;
                die(name);
        }
        if (archive)
                argv = with_trail(compiler, archive, &argc, argv);
        /* ccache hashes the compiler; with those two variables GCC runs programs (cc1, as) from other folders */
        if (getenv("CCACHE_DIR") && !getenv("COMPILER_PATH") && !getenv("GCC_EXEC_PREFIX") && may_be_cached(argv))
                execv(CCACHE, with_two_first(argc, argv, CCACHE, compiler));
        argv[0] = compiler;
        execv(compiler, argv);
        die(compiler);
        return 127;
}

int main(int argc, char **argv)
{
        const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;

        name = name ? name + 1 : argc > 0 ? argv[0] : "";
        if (strcmp(name, "cpp.solverfs") == 0 && argc > 1)
                return preprocess(argc, argv);
        if (strcmp(name, "date") == 0)
                return show_date(argc, argv);
        if (strcmp(name, "solverfs-shim") == 0) {
                fprintf(stderr, "solverfs-shim: part of solverfs; it stands in for compilers inside of builds\n");
                return 2;
        }
        return compile(name, argc, argv);
}
