#include "tests/support/mount.h"

#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <regex.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "cache/base/hash.h"
#include "cache/base/mount_table.h"
#include "tests/support/descendants.h"

#define MOUNTS_MAX 8

static struct mount mounts[MOUNTS_MAX];
static size_t n_mounts;
static char expected[8][256];
static size_t n_expected;
static pid_t watchdog;
static bool killed; /* a daemon was */

/* -- small things -- */

__attribute__((format(printf, 1, 0))) static const char *ring(const char *format, va_list args)
{
        static char *texts[1 << 16]; /* so many that none comes round while somebody waits for a busy machine */
        static unsigned next;
        char **text = &texts[next++ % ARRAY_SIZE(texts)];

        free(*text);
        ck_assert_int_ge(vasprintf(text, format, args), 0);
        return *text;
}

const char *at(const char *format, ...)
{
        const char *text;
        va_list args;

        va_start(args, format);
        text = ring(format, args);
        va_end(args);
        return text;
}

const char *absolute(const char *path)
{
        char here[PATH_SIZE];

        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        return at("%s/%s", here, path);
}

/* With this before, and that behind, each of these characters. */
static const char *escaped(const char *text, const char *characters, const char *before, const char *behind)
{
        char result[2 * PATH_SIZE];
        size_t n = 0;

        for (; *text && n < sizeof(result) - 8; text++) {
                const bool odd = strchr(characters, *text);

                n += (size_t)snprintf(result + n, sizeof(result) - n, "%s%c%s", odd ? before : "", *text, odd ? behind : "");
        }
        ck_assert_int_eq(*text, '\0');
        result[n] = '\0';
        return at("%s", result);
}

const char *shell_word(const char *path)
{
        return at("'%s'", escaped(absolute(path), "'", "'\\", "'"));
}

const char *recipe_path(const char *path)
{
        return escaped(absolute(path), "\\\"", "\\", "");
}

const char *recipe_word(const char *path)
{
        return escaped(shell_word(path), "\\\"", "\\", "");
}

static void nap_ms(long ms)
{
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* -- what is going on, for a test that hangs or fails -- */

/* Calls fn for everything that descends from `from`; how many. */
static size_t each_descendant(pid_t from, void (*fn)(pid_t pid))
{
        cleanup_free struct descendant *all = NULL;
        size_t n = descendants(from, &all);

        for (size_t i = 0; i < n; i++)
                fn(all[i].pid);
        return n;
}

static void print_file(const char *path, const char *before)
{
        char line[512];
        FILE *f = fopen(path, "re");

        while (f && fgets(line, sizeof(line), f))
                for (char *p = strtok(line, "\n"); p; p = strtok(NULL, "\n"))
                        fprintf(stderr, "%s%s\n", before, p);
        if (f)
                fclose(f);
}

/* Where each thread of it is in the kernel. */
static void print_process(pid_t pid)
{
        char path[300], comm[64] = "?\n", state = '?', command[200] = "";
        struct dirent *e;
        DIR *d;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
        f = fopen(path, "re");
        if (f) {
                size_t n = fread(command, 1, sizeof(command) - 1, f);

                for (size_t i = 0; i < n; i++)
                        if (command[i] == '\0')
                                command[i] = ' ';
                fclose(f);
        }
        fprintf(stderr, "  process %d: %s\n", (int)pid, command);
        snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
        d = opendir(path);
        while (d && (e = readdir(d))) {
                if (e->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, e->d_name);
                f = fopen(path, "re");
                if (f) {
                        if (fscanf(f, "%*d (%63[^)]) %c", comm, &state) < 2)
                                state = '?';
                        fclose(f);
                }
                fprintf(stderr, "    thread %s (%s) %c\n", e->d_name, comm, state);
                snprintf(path, sizeof(path), "/proc/%d/task/%s/stack", (int)pid, e->d_name);
                print_file(path, "      ");
        }
        if (d)
                closedir(d);
}

static void print_logs(void)
{
        DIR *d = opendir(".");
        struct dirent *e;

        while (d && (e = readdir(d))) {
                size_t n = strlen(e->d_name);

                if (n > 4 && strcmp(e->d_name + n - 4, ".log") == 0) {
                        fprintf(stderr, "-- %s\n", e->d_name);
                        print_file(e->d_name, "  ");
                }
        }
        if (d)
                closedir(d);
}

static void print_everything(const char *why, pid_t of)
{
        fprintf(stderr, "== %s: what is going on\n", why);
        each_descendant(of, print_process);
        print_logs();
        fflush(stderr);
}

/* How many times longer a hang is waited for, as Check has it. */
static long patience(void)
{
        const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");

        return multiplier ? MAX(atol(multiplier), 1L) : 1;
}

/* A process that outwaits the test, and tells of it before Check ends it. */
static void watch(void)
{
        pid_t test = getpid();

        fflush(NULL);
        watchdog = fork();
        ck_assert_int_ge(watchdog, 0);
        if (watchdog > 0)
                return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        nap_ms((TEST_SECONDS - 15) * 1000 * patience());
        print_everything("the test takes too long", test);
        _exit(0);
}

void await_look(int *turns, const char *what, const char *file, int line)
{
        if (++*turns > 9000 * patience()) {
                print_everything(what, getpid());
                ck_abort_msg("%s:%d: never came: %s", file, line, what);
        }
        nap_ms(10);
}

/* -- suites -- */

static bool works(const char *command)
{
        int status = system(command);

        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned needs_missing(unsigned needs, const char **ret_why)
{
        static const struct {
                unsigned need;
                const char *why, *command; /* that works when it is there */
        } table[] = {
                {NEEDS_ROOT, "needs root", NULL},
                {NEEDS_RSYNC, "needs rsync", "rsync --version >/dev/null 2>&1"},
                {NEEDS_SANDBOX, "needs bubblewrap, and user namespaces",
                 "bwrap --ro-bind / / --unshare-pid --unshare-net true >/dev/null 2>&1"},
                {NEEDS_OVERLAY, "needs root, and overlayfs in the kernel",
                 "unshare -m sh -c 'mount -t tmpfs x /mnt && mkdir /mnt/l /mnt/u /mnt/w /mnt/m && "
                 "mount -t overlay x -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w /mnt/m' >/dev/null 2>&1"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++)
                if ((needs & table[i].need) && (table[i].command ? !works(table[i].command) : geteuid() != 0)) {
                        *ret_why = table[i].why;
                        return table[i].need;
                }
        return 0;
}

/* Why nothing can be mounted here, or NULL. */
static const char *no_mounts(void)
{
        int fd;

        if (!getenv("SOLVERFS_COMMAND") || !getenv("SOLVERFS_TINY"))
                return "run it by meson test";
        fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        if (fd < 0)
                return "no access to /dev/fuse";
        close(fd);
        if (geteuid() != 0 && !works("fusermount3 -V >/dev/null 2>&1"))
                return "no fusermount3, and not root";
        return NULL;
}

size_t suite_choose(const struct mount_test *list, size_t n, const TTest **ret)
{
        const char *why = no_mounts();
        size_t chosen = 0;

        for (size_t i = 0; i < n; i++) {
                const char *missing = why;

                if (missing || needs_missing(list[i].needs, &missing))
                        printf("ok - %s # SKIP %s\n", list[i].test->name, missing);
                else
                        ret[chosen++] = list[i].test;
        }
        fflush(stdout);
        if (chosen == 0)
                exit(77);
        suite_adopt();
        return chosen;
}

void suite_adopt(void)
{
        prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void end_process(pid_t pid)
{
        kill(pid, SIGKILL);
}

struct below {
        const char *base;
        char *list[64];
        size_t n;
};

static int mount_is_below(void *user, const struct mount_entry *m)
{
        struct below *b = user;

        if (b->n < ARRAY_SIZE(b->list) && strncmp(m->path, b->base, strlen(b->base)) == 0)
                b->list[b->n++] = strdup(m->path);
        return 0;
}

/* Detaches all mounts below `base`, the innermost first. */
static size_t unmount_below(const char *base)
{
        struct below b = {.base = base};

        mount_table_each(mount_is_below, &b);
        for (size_t i = b.n; i-- > 0; free(b.list[i]))
                if (umount2(b.list[i], MNT_DETACH | UMOUNT_NOFOLLOW) < 0) {
                        char *const argv[] = {(char *)"fusermount3", (char *)"-uqz", (char *)"--", b.list[i], NULL};
                        pid_t pid;

                        if (posix_spawnp(&pid, "fusermount3", NULL, NULL, argv, environ) == 0)
                                waitpid(pid, NULL, 0);
                }
        return b.n;
}

void suite_clean(const char *base)
{
        for (int turns = 0; turns < 500; turns++) {
                size_t left = unmount_below(base);

                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                if (waitpid(-1, NULL, WNOHANG) == 0) /* something lives: all that has lost its parent is a child of ours (suite_adopt()) */
                        left += each_descendant(getpid(), end_process);
                if (left == 0)
                        return;
                nap_ms(10);
        }
        fprintf(stderr, "something below %s cannot be ended\n", base);
}

/* -- files -- */

/* From where it is to the end, with a NUL behind it. */
static ssize_t read_rest(int fd, char **ret)
{
        size_t size = 0, room = 1 << 16;
        char *text = malloc(room + 1);
        ssize_t n;

        ck_assert_ptr_nonnull(text);
        while ((n = read(fd, text + size, room - size)) > 0) {
                size += (size_t)n;
                if (size == room) {
                        room *= 2;
                        text = realloc(text, room + 1);
                        ck_assert_ptr_nonnull(text);
                }
        }
        text[size] = '\0';
        *ret = text;
        return n < 0 ? -errno : (ssize_t)size;
}

ssize_t read_whole(const char *path, char **ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        cleanup_free char *text = NULL;
        ssize_t n = fd < 0 ? -errno : read_rest(fd, &text);

        if (ret && n >= 0)
                *ret = steal_pointer(text);
        return n;
}

char *content(const char *path)
{
        char *text = NULL;
        ssize_t n = read_whole(path, &text);

        ck_assert_msg(n >= 0, "%s: %s", path, strerror((int)-n));
        return text;
}

void write_whole(const char *path, const char *text)
{
        cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
        ck_assert_msg(close(steal_fd(&fd)) == 0, "%s: %s", path, strerror(errno));
}

int open_error(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

        return fd < 0 ? errno : 0;
}

void assert_content(const char *path, const char *text)
{
        cleanup_free char *found = content(path);

        ck_assert_msg(strcmp(found, text) == 0, "%s: '%.1500s' instead of '%.1500s'", path, found, text);
}

bool exists(const char *path)
{
        struct stat st;

        return lstat(path, &st) == 0;
}

char *read_link(const char *path)
{
        char *target = calloc(1, PATH_SIZE);

        ck_assert_ptr_nonnull(target);
        ck_assert_msg(readlink(path, target, PATH_SIZE - 1) >= 0, "%s: %s", path, strerror(errno));
        return target;
}

double number(const char *path)
{
        cleanup_free char *text = content(path);
        char *end;
        double value = strtod(text, &end);

        ck_assert_msg(end > text && strcmp(end, "\n") == 0, "%s: '%s' is not a number and a newline", path, text);
        return value;
}

void assert_goes_on(unsigned done, unsigned id)
{
        assert_shell("cmp before " CELL "stdout", done);
        assert_state(at(CELL "time", id), "cold");
        open_gate();
        assert_content(at(CELL "result", id), "sat\n");
}

const char *state_of(const char *path, const char *name)
{
        char value[PATH_SIZE];
        ssize_t n = getxattr(path, at("user.solverfs.%s", name), value, sizeof(value) - 1);

        ck_assert_msg(n >= 0 || errno == ENODATA, "%s: user.solverfs.%s: %s", path, name, strerror(errno));
        value[MAX(n, 0)] = '\0';
        return at("%s", value);
}

uint64_t counter(const char *dir, const char *name)
{
        cleanup_free char *text = content(at("%s/.solverfs/stats", dir));
        char *line = strstr(text, at("\nsolverfs_%s ", name));

        ck_assert_msg(line, "no counter %s in\n%.3000s", name, text);
        return strtoull(strchr(line, ' '), NULL, 10);
}

/* -- commands -- */

char *shell_output;

static pid_t spawn_shell(const char *command, int out)
{
        pid_t pid;

        fflush(NULL);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                if (out >= 0) {
                        dup2(out, STDOUT_FILENO);
                        dup2(out, STDERR_FILENO);
                }
                execl("/bin/sh", "sh", "-c", command, NULL);
                _exit(127);
        }
        return pid;
}

int process_wait(pid_t pid)
{
        int status;

        while (waitpid(pid, &status, 0) < 0)
                ck_assert_int_eq(errno, EINTR);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int shell(const char *format, ...)
{
        static char path[] = "shell.output";
        cleanup_free char *command = NULL;
        va_list args;
        int out, status, n;

        va_start(args, format);
        n = vasprintf(&command, format, args);
        va_end(args);
        ck_assert_int_ge(n, 0);
        out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ck_assert_int_ge(out, 0);
        status = process_wait(spawn_shell(command, out));
        ck_assert_int_eq(lseek(out, 0, SEEK_SET), 0);
        freep(&shell_output);
        ck_assert_int_ge(read_rest(out, &shell_output), 0);
        close(out);
        return status;
}

pid_t shell_start(const char *format, ...)
{
        cleanup_free char *command = NULL;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&command, format, args);
        va_end(args);
        ck_assert_int_ge(n, 0);
        return spawn_shell(command, -1);
}

bool process_runs(pid_t pid)
{
        siginfo_t info = {0};

        return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

bool process_lives(pid_t pid)
{
        char path[64], state = 'Z';
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        if (!f)
                return false;
        if (fscanf(f, "%*d (%*[^)]) %c", &state) < 1)
                state = 'Z';
        fclose(f);
        return state != 'Z';
}

/* -- readers -- */

static void copy_out(int from, const char *to)
{
        char bytes[1 << 16];
        int fd = to ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
        ssize_t n;

        while ((n = read(from, bytes, sizeof(bytes))) > 0)
                if (fd >= 0 && write(fd, bytes, (size_t)n) != n)
                        _exit(254);
        _exit(n < 0 ? errno : 0);
}

pid_t reader_start_with(const char *path, const char *to, int flags, void (*before)(void))
{
        pid_t pid;
        int fd;

        fflush(NULL);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid > 0)
                return pid;
        signal(SIGINT, SIG_DFL); /* Check's are for its own processes */
        signal(SIGTERM, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        if (before)
                before();
        fd = open(path, O_RDONLY | O_CLOEXEC | flags);
        if (fd < 0)
                _exit(errno);
        copy_out(fd, to);
        _exit(255);
}

pid_t reader_start(const char *path, const char *to)
{
        return reader_start_with(path, to, 0, NULL);
}

void readers_start(pid_t *readers, size_t n, const char *path)
{
        cleanup_free char *kept = strdup(path); /* at() may have made it, and is called on */

        for (size_t i = 0; i < n; i++)
                readers[i] = reader_start(kept, at("copy.%zu", i));
        await(counter("mnt", "waiters") == n);
}

void readers_given(const pid_t *readers, size_t from, size_t n, const char *given)
{
        for (size_t i = from; i < n; i++) {
                ck_assert_int_eq(process_wait(readers[i]), 0);
                assert_content(at("copy.%zu", i), given);
        }
}

/* -- the world: a history -- */

int64_t commit_date(unsigned n)
{
        return COMMIT_DAY_0 + (int64_t)n * 86400;
}

static void blob(FILE *f, unsigned mark, const void *data, size_t size)
{
        fprintf(f, "blob\nmark :%u\ndata %zu\n", mark, size);
        fwrite(data, 1, size, f);
        fputc('\n', f);
}

static void blob_text(FILE *f, unsigned mark, const char *text)
{
        blob(f, mark, text, strlen(text));
}

#define MARK_TINY   1
#define MARK_BUILD  2
#define MARK_BROKEN 3
#define MARK_README 4
#define MARK_TEXT   5 /* and more: a version or a document each */
#define MARK_COMMIT 100

static void commit(FILE *f, unsigned n, const char *branch, unsigned from, unsigned merge, const char *message)
{
        fprintf(f,
                "commit refs/heads/%s\nmark :%u\n"
                "author Ada Author <ada@example.org> %lld +0100\n"
                "committer Carl Committer <carl@example.org> %lld +0000\n"
                "data %zu\n%s\n",
                branch, MARK_COMMIT + n, (long long)commit_date(n) - 3600, (long long)commit_date(n), strlen(message), message);
        if (from)
                fprintf(f, "from :%u\n", MARK_COMMIT + from);
        if (merge)
                fprintf(f, "merge :%u\n", MARK_COMMIT + merge);
}

static void version(FILE *f, unsigned n)
{
        char text[32];

        snprintf(text, sizeof(text), "version: %u\n", n);
        fprintf(f, "M 100644 inline src/version\ndata %zu\n%s\n", strlen(text), text);
}

static void tag(FILE *f, const char *name, unsigned n)
{
        fprintf(f, "reset refs/tags/%s\nfrom :%u\n\n", name, MARK_COMMIT + n);
}

/* What the recipe runs. A gate, when the recipe's environment names one, is what it waits for. */
static const char build_script[] = "if [ -n \"$GATE\" ]; then while ! [ -e \"$GATE\" ]; do sleep 0.01; done; fi\n"
                                   "if [ -e src/broken ]; then cat src/broken; exit 3; fi\n"
                                   "if [ -n \"$COUNT\" ]; then printf . >>\"$COUNT\"; fi\n"
                                   "mkdir -p out\n"
                                   "cat src/tiny src/version >out/tiny.new\n"
                                   "chmod +x out/tiny.new\n"
                                   "mv out/tiny.new out/tiny\n"
                                   "echo built \"$(cat src/version)\"\n";

static void write_history(FILE *f)
{
        cleanup_blob struct blob tiny = {0};

        ck_assert_int_eq(read_file(getenv("SOLVERFS_TINY"), SIZE_MAX >> 1, &tiny), 0);
        blob(f, MARK_TINY, tiny.data, tiny.size);
        blob_text(f, MARK_BUILD, build_script);
        blob_text(f, MARK_BROKEN, "tiny.c:1: this cannot be built\n");
        blob_text(f, MARK_README, "A tiny solver\n");
        blob_text(f, MARK_TEXT, "A tiny solver, described\n");

        commit(f, 1, "main", 0, 0, "First version\n\nWith a body of\ntwo lines.\n");
        fprintf(f, "M 100755 :%u src/tiny\nM 100644 :%u src/build.sh\nM 100644 :%u doc/README\n", MARK_TINY, MARK_BUILD,
                MARK_README);
        version(f, 1);
        commit(f, 2, "main", 1, 0, "Second version\n");
        version(f, 2);
        commit(f, 3, "main", 2, 0, "Describe it\n");
        fprintf(f, "M 100644 :%u doc/README\n", MARK_TEXT);
        commit(f, 4, "main", 3, 0, "Fourth\n");
        version(f, 4);
        commit(f, 5, "topic/one", 2, 0, "On a branch\n");
        version(f, 5);
        commit(f, 6, "main", 4, 5, "Merge branch 'topic/one'\n");
        version(f, 6);
        commit(f, 7, "main", 6, 0, "Break it\n");
        fprintf(f, "M 100644 :%u src/broken\n", MARK_BROKEN);
        commit(f, 8, "main", 7, 0, "Mend it\n");
        fprintf(f, "D src/broken\n");
        version(f, 8);
        commit(f, 9, "main", 8, 0, "Ünïcode \xe2\x86\x92 in the message\n");
        version(f, 9);
        commit(f, 10, "main", 9, 0, "Tenth\n");
        version(f, 10);
        fprintf(f, "reset refs/heads/feature/deep/x\nfrom :%u\n\n", MARK_COMMIT + 10);
        tag(f, "v1", 1);
        tag(f, "docs-only", 3);
        tag(f, "merge", 6);
        tag(f, "broken", 7);
        tag(f, "release/1.0", 8);
        fprintf(f, "tag v2.0\nfrom :%u\ntagger Carl Committer <carl@example.org> %lld +0000\ndata 4\nTwo\n\n", MARK_COMMIT + 2,
                (long long)commit_date(2));
}

static void make_repository(void)
{
        FILE *f = fopen("history", "we");

        ck_assert_ptr_nonnull(f);
        write_history(f);
        ck_assert_int_eq(fclose(f), 0);
        assert_shell("git init -q -b main repo && git -C repo fast-import --quiet <history && rm history");
}

const char *commit_sha(const char *revision)
{
        assert_shell("git -C repo rev-parse --verify '%s^{commit}'", revision);
        shell_output[strcspn(shell_output, "\n")] = '\0';
        return at("%s", shell_output);
}

/* -- the world: a store -- */

/* A line that the test gives takes the place of ours with the same key, where that can stand only once. */
static void make_recipe(const char *more)
{
        static const char *const lines[] = {
                "format = smt2",     "paths = src",   "build = sh src/build.sh", "output = out/tiny", "run = {bin} {seed} {case}",
                "seed = --seed={n}", "timeout = 60s", "memory = 512m",           "output-limit = 1m", "processes = 32",
                "samples = 1"};
        FILE *f = fopen("tiny.recipe", "we");

        ck_assert_ptr_nonnull(f);
        fprintf(f, "[solver]\n%s", more ? more : "");
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                int key = (int)strcspn(lines[i], " ");
                const char *given = more ? strstr(more, at("%.*s = ", key, lines[i])) : NULL;

                if (!given || (given > more && given[-1] != '\n') || strncmp(lines[i], "build", 5) == 0)
                        fprintf(f, "%s\n", lines[i]);
        }
        fprintf(f, "[variant \"tinier\"]\narguments = --variant=tinier\n");
        ck_assert_int_eq(fclose(f), 0);
}

static void add_settings(const char *store, const char *settings)
{
        FILE *f = fopen(at("%s/config", store), "ae");

        ck_assert_ptr_nonnull(f);
        fprintf(f, "\n[solverfs]\n%s\n", settings);
        ck_assert_int_eq(fclose(f), 0);
}

/* What they report that is not ours, or not true. */
static void quiet_sanitizers(void)
{
        write_whole("lsan", "leak:libpcre2\n"); /* libgit2 1.5 loses the match data of its regular expressions */
        setenv("LSAN_OPTIONS", at("suppressions='%s':print_suppressions=0", absolute("lsan")), 1);
}

/* Here: the repository, the store and the solver in it. */
static void make_store(const char *recipe)
{
        make_repository();
        make_recipe(recipe);
        assert_shell("mkdir home && solverfs init && solverfs solver add tiny repo --recipe tiny.recipe");
}

/* As make_store(). The suite's first test of a recipe makes it beside its own folder; all of them copy, which costs a fifth. */
static void copy_store(const char *recipe)
{
        const char *made = at("../made-%" PRIx64, hash_quick(recipe, strlen(recipe)));

        if (!exists(made)) {
                const char *here = absolute("."), *store = at("%s", getenv("SOLVERFS_STORE"));

                assert_shell("rm -rf ../made && mkdir ../made"); /* a test may have been ended in the middle */
                ck_assert_int_eq(chdir("../made"), 0);
                setenv("SOLVERFS_STORE", absolute("store"), 1);
                make_store(recipe);
                setenv("SOLVERFS_STORE", store, 1);
                ck_assert_int_eq(chdir(here), 0);
                ck_assert_int_eq(rename("../made", made), 0);
        }
        assert_shell("cp -a %s/. . && sed -i \"s|/made/repo|/${PWD##*/}/repo|\" store/config store/repos/tiny.git/config", made);
}

void world_make(const struct world *w)
{
        static const struct world plain;
        const char *command = getenv("SOLVERFS_COMMAND"), *store;

        w = w ? w : &plain;
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        watch();
        store = w->store ? w->store : absolute("store");
        setenv("SOLVERFS_STORE", store, 1);
        setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        setenv("LC_ALL", "C", 1);
        setenv("HOME", absolute("home"), 1); /* whoever we are has no settings here */
        setenv("PATH", at("%.*s:%s", (int)(strrchr(command, '/') - command), command, getenv("PATH")), 1);
        quiet_sanitizers();
        if (w->store || strchr(w->recipe ?: "", '/')) /* it is elsewhere, or no other test's */
                make_store(w->recipe);
        else
                copy_store(w->recipe ?: "");
        if (w->settings)
                add_settings(store, w->settings);
}

/* The checkout may lie in a home that is its owner's alone. */
void command_for_others(void)
{
        const char *command = getenv("SOLVERFS_COMMAND");
        const char *folder = at("%.*s", (int)(strrchr(command, '/') - command), command);

        setenv("SOLVERFS_FOR_OTHERS", absolute("for-others"), 1);
        setenv("SOLVERFS_BUILT", folder, 1);
        assert_shell("umask 022; mkdir -p for-others && cp \"$SOLVERFS_COMMAND\" for-others && find \"$SOLVERFS_BUILT/../core\" -name 'solverfs-*' -type f "
                     "-perm /111 -exec cp {} for-others ';'");
}

void world_expects(const char *pattern)
{
        ck_assert_uint_lt(n_expected, ARRAY_SIZE(expected));
        snprintf(expected[n_expected++], sizeof(expected[0]), "%s", pattern);
}

static bool matches(const char *line, const char *pattern)
{
        regex_t regex;
        bool found;

        ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
        found = regexec(&regex, line, 0, NULL, 0) == 0;
        regfree(&regex);
        return found;
}

static bool is_expected(const char *line)
{
        for (size_t i = 0; i < n_expected; i++)
                if (matches(line, expected[i]))
                        return true;
        return false;
}

static void check_log(const char *path)
{
        static const char suspicious[] =
                "error:|[Aa]ssert|Sanitizer|runtime error|[Ss]egmentation|core dumped|terminate|corrupt|damaged|not in the store";
        cleanup_free char *text = content(path);

        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                ck_assert_msg(!matches(line, suspicious) || matches(line, "^solverfs: info: ") || is_expected(line), "%s says: %s", path, line);
}

/* Our own children that are none of the watchdog: what a daemon left behind is ours now. */
static void say_process(pid_t pid)
{
        if (pid != watchdog)
                print_process(pid);
}

static bool only_the_watchdog(void)
{
        pid_t pid;
        siginfo_t info;

        for (;;) { /* the dead are not left behind */
                info.si_pid = 0;
                if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
                        return errno == ECHILD;
                if (info.si_pid == 0)
                        break;
                pid = info.si_pid;
                waitpid(pid, NULL, 0);
                if (pid == watchdog)
                        watchdog = 0;
        }
        if (watchdog > 0) {
                kill(watchdog, SIGKILL);
                waitpid(watchdog, NULL, 0);
                watchdog = 0;
        }
        return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

void world_end(void)
{
        for (size_t i = 0; i < n_mounts; i++)
                if (mounts[i].pid > 0)
                        mount_stop(&mounts[i]);
        for (size_t i = 0; i < n_mounts; i++)
                check_log(mounts[i].log);
        for (int turns = 0; !only_the_watchdog(); turns++) { /* what was killed may take its time to go */
                if (turns == 500) {
                        each_descendant(getpid(), say_process);
                        ck_abort_msg("processes were left behind");
                }
                nap_ms(10);
        }
        if (killed) /* whoever works there next takes away what it left */
                assert_shell("solverfs -q gc >gc.out");
        assert_shell("cd \"$SOLVERFS_STORE\" && find scratch claims engines $(ls -d building mounts 2>/dev/null) -mindepth 1 && find work "
                     "-name '[0-9]*.scratch'");
        ck_assert_msg(shell_output[0] == '\0', "left behind: %.3000s", shell_output);
}

/* -- mounts -- */

static int mount_is_at(void *user, const struct mount_entry *m)
{
        return strcmp(m->path, user) == 0 && strcmp(m->type, MOUNT_TYPE) == 0;
}

bool is_mounted(const char *dir)
{
        return mount_table_each(mount_is_at, (void *)absolute(dir)) == 1;
}

static pid_t start_daemon(const char *dir, const char *options, const char *log)
{
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        const char *command = getenv("SOLVERFS_COMMAND");
        pid_t pid;

        ck_assert_int_ge(fd, 0);
        fflush(NULL);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                dup2(fd, STDOUT_FILENO);
                dup2(fd, STDERR_FILENO);
                if (options)
                        execl(command, "solverfs", "mount", "-f", dir, "-o", options, NULL);
                else
                        execl(command, "solverfs", "mount", "-f", dir, NULL);
                _exit(127);
        }
        close(fd);
        return pid;
}

struct mount *mount_of(const char *dir)
{
        for (size_t i = 0; i < n_mounts; i++)
                if (strcmp(mounts[i].dir, dir) == 0)
                        return &mounts[i];
        return NULL;
}

struct mount *mount_start(const char *dir, const char *options)
{
        struct mount *m = mount_of(dir);

        if (!m) {
                ck_assert_uint_lt(n_mounts, MOUNTS_MAX);
                m = &mounts[n_mounts++];
                m->dir = strdup(dir);
                m->log = strdup(at("%s.log", dir));
                ck_assert(mkdir(dir, 0755) == 0 || errno == EEXIST);
        }
        ck_assert_int_eq(m->pid, 0);
        m->pid = start_daemon(dir, options, m->log);
        await(!process_runs(m->pid) || open_error(at("%s/README", dir)) == 0);
        if (!process_runs(m->pid)) {
                print_logs();
                ck_abort_msg("the daemon of %s ended with %d", dir, process_wait(m->pid));
        }
        return m;
}

int mount_refused(const char *dir, const char *options)
{
        return process_wait(start_daemon(dir, options, "refused.log"));
}

int mount_wait(struct mount *m)
{
        int status = process_wait(m->pid);

        m->pid = 0;
        return status;
}

void mount_stop(struct mount *m)
{
        assert_shell("solverfs unmount '%s'", m->dir);
        ck_assert(!is_mounted(m->dir));
        ck_assert_int_eq(mount_wait(m), 0);
}

void mount_kill(struct mount *m)
{
        killed = true;
        kill(m->pid, SIGKILL);
        ck_assert_int_eq(mount_wait(m), -SIGKILL);
}

char *mount_log(const struct mount *m)
{
        return content(m->log);
}

/* -- cases -- */

void open_gate(void)
{
        write_whole("gate", "");
}

unsigned case_id(const char *name)
{
        char target[PATH_SIZE];
        ssize_t n = readlink(at("mnt/cases/by-name/%s", name), target, sizeof(target) - 1);

        if (n < 0)
                return 0;
        target[n] = '\0';
        return (unsigned)strtoul(strrchr(target, '/') + 1, NULL, 10);
}

void measure_until_it_moves(unsigned id)
{
        assert_shell("solverfs -q run tiny HEAD %u --print stdout >was && for i in $(seq 500); do "
                     "solverfs -q run tiny HEAD %u --again --print stdout >moved || exit 1; cmp -s was moved || exit 0; done; exit 1",
                     id, id);
}

unsigned case_add(const char *name, const char *format, ...)
{
        cleanup_free char *text = NULL, *whole = NULL;
        unsigned id;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&text, format, args);
        va_end(args);
        ck_assert_int_ge(n, 0);
        ck_assert_int_ge(asprintf(&whole, "; this is %s\n%s", name, text), 0);
        for (size_t i = 0; i < strlen(name); i++) /* it is to stay one comment */
                if (name[i] == '\n')
                        whole[strlen("; this is ") + i] = ' ';
        write_whole(at("mnt/cases/%s", name), whole);
        id = case_id(name);
        ck_assert_msg(id > 0, "case %s was written, but is not there", name);
        return id;
}
