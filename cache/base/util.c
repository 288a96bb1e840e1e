#include "cache/base/util.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include "cache/base/fault.h"
#include "cache/base/lost.h"

/* -- memory -- */

/* Small allocations never fail (util.h). */
static void *there(void *p)
{
        if (!p)
                process_give_up("no memory is left");
        return p;
}

void *allocate(size_t n, size_t size)
{
        return there(calloc(MAX(n, (size_t)1), size));
}

char *copy_string(const char *s)
{
        return there(strdup(s));
}

void set_string(char **at, const char *s)
{
        char *old = *at;

        *at = s ? copy_string(s) : NULL;
        free(old);
}

char *copy_prefix(const char *s, size_t most)
{
        return there(strndup(s, most));
}

char *format_string(const char *format, ...)
{
        char *text;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&text, format, args);
        va_end(args);
        return there(n < 0 ? NULL : text);
}

unsigned word_distance(const char *a, const char *b)
{
        unsigned row[40];
        size_t n = strlen(b);

        if (n >= ARRAY_SIZE(row))
                return 9;
        for (unsigned k = 0; k <= n; k++)
                row[k] = k;
        for (unsigned i = 0; a[i]; i++) {
                unsigned diagonal = row[0];

                row[0] = i + 1;
                for (size_t k = 1; k <= n; k++) {
                        unsigned above = row[k], best = diagonal + (a[i] != b[k - 1]);

                        best = MIN(best, MIN(above, row[k - 1]) + 1);
                        diagonal = above;
                        row[k] = best;
                }
        }
        return MIN(row[n], 9U);
}

/* -- lists -- */

int compare_u32(const void *a, const void *b)
{
        return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

int compare_u64(const void *a, const void *b)
{
        return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t lower_bound(const void *key, const void *list, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
        size_t low = 0, high = n;

        while (low < high) {
                const size_t middle = low + (high - low) / 2;

                if (compare((const char *)list + middle * size, key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

size_t sort_numbers(uint32_t *list, size_t n)
{
        size_t kept = 0;

        sort_list(list, n, sizeof(*list), compare_u32);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || list[i] != list[i - 1])
                        list[kept++] = list[i];
        return kept;
}

int compare_doubles(const void *a, const void *b)
{
        return ORDER(*(const double *)a, *(const double *)b);
}

void list_grow_sized(void *list, size_t n, size_t size)
{
        void *grown;

        if ((n & (n + 1)) != 0)
                return;
        memcpy(&grown, list, sizeof(grown)); /* a pointer of any type */
        grown = there(reallocarray(grown, 2 * n + 2, size));
        memcpy(list, &grown, sizeof(grown));
}

/* -- bytes -- */

bool slice_next_line(struct slice *rest, struct slice *ret)
{
        const char *begin = rest->data, *newline;
        size_t n;

        if (rest->size == 0)
                return false;
        newline = memchr(begin, '\n', rest->size);
        n = newline ? (size_t)(newline - begin) : rest->size;
        *ret = SLICE(begin, n);
        n += newline != NULL;
        *rest = SLICE(begin + n, rest->size - n);
        return true;
}

struct slice slice_last_lines(struct slice text, unsigned lines, size_t most)
{
        const char *end = (const char *)text.data + text.size, *begin = end - MIN(text.size, most), *at = end;

        if (at > begin)
                at--; /* the end of the last line, or a part of it */
        while (at > begin && (at[-1] != '\n' || --lines > 0))
                at--;
        return SLICE(at, (size_t)(end - at));
}

void buffer_done(struct buffer *b)
{
        free(b->data);
        *b = (struct buffer){0};
}

static bool buffer_reserve(struct buffer *b, size_t more)
{
        if (b->failed)
                return false;
        if (more >= b->capacity - b->size) { /* keeps room for the NUL */
                size_t capacity = MAX(b->capacity * 2, b->size + more + 64);
                char *data = realloc(b->data, capacity);

                if (!data && capacity <= BUFFER_LARGE)
                        process_give_up("no memory is left");
                if (!data) {
                        b->failed = true;
                        return false;
                }
                b->data = data;
                b->capacity = capacity;
        }
        return true;
}

void buffer_add(struct buffer *b, const void *data, size_t size)
{
        if (!buffer_reserve(b, size))
                return;
        if (size > 0)
                memcpy(b->data + b->size, data, size);
        b->size += size;
        b->data[b->size] = '\0';
}

void buffer_adds(struct buffer *b, const char *s)
{
        buffer_add(b, s, strlen(s));
}

void buffer_addf(struct buffer *b, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(NULL, 0, format, args);
        va_end(args);
        if (n < 0 || !buffer_reserve(b, (size_t)n)) {
                b->failed = true;
                return;
        }
        va_start(args, format);
        vsnprintf(b->data + b->size, (size_t)n + 1, format, args);
        va_end(args);
        b->size += (size_t)n;
}

int buffer_error(const struct buffer *b)
{
        return b->failed ? -ENOMEM : 0;
}

int buffer_steal(struct buffer *b, struct blob *ret)
{
        if (b->failed)
                return -ENOMEM;
        *ret = (struct blob){.data = b->data ? b->data : "", .size = b->size, .owned = b->data};
        *b = (struct buffer){0};
        return 0;
}

/* -- text -- */

size_t utf8_length(const void *text, size_t left)
{
        const unsigned char *p = text;
        size_t n = p[0] < 0x80                   ? 1
                   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                   : (p[0] & 0xf0) == 0xe0       ? 3
                   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                 : 0;

        if (n == 0 || n > left)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
        if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
            (p[0] == 0xf4 && p[1] > 0x8f))
                return 0;
        return n;
}

void buffer_add_shell_word(struct buffer *b, const char *word)
{
        buffer_adds(b, "'");
        for (; *word; word++)
                if (*word == '\'')
                        buffer_adds(b, "'\\''");
                else
                        buffer_add(b, word, 1);
        buffer_adds(b, "'");
}

void buffer_add_plain_word(struct buffer *b, const char *word, const char *also)
{
        const char *p = word;

        while (*p && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("._+/=-", *p) || strchr(also, *p)))
                p++;
        if (*word && !*p)
                buffer_adds(b, word);
        else
                buffer_add_shell_word(b, word);
}

bool utf8_is_control(const void *text, size_t n)
{
        static const struct {
                uint32_t first, last;
        } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200b},  {0x200e, 0x200f},
                      {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
        const unsigned char *p = text;
        uint32_t c = n < 2 ? p[0] : p[0] & (0xffU >> (n + 1));

        for (size_t i = 1; i < n; i++)
                c = c << 6 | (p[i] & 0x3f);
        for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
                if (c >= ranges[i].first && c <= ranges[i].last)
                        return true;
        return false;
}

static void add_escaped(struct buffer *b, const char *text, size_t size, bool is_name)
{
        const unsigned char *p = (const unsigned char *)text;

        buffer_adds(b, "");
        for (size_t left = size, n; left > 0; p += n, left -= n) {
                bool valid = (n = utf8_length(p, left)) > 0;

                n = MAX(n, (size_t)1);
                if (is_name && (*p == '\\' || *p == '\t' || *p == '\n'))
                        buffer_addf(b, "\\%c", *p == '\\' ? '\\' : *p == '\t' ? 't' : 'n');
                else if (!valid || (*p != '\t' && *p != '\n' && utf8_is_control(p, n)))
                        for (size_t i = 0; i < n; i++)
                                buffer_addf(b, "\\x%02x", p[i]);
                else
                        buffer_add(b, p, n);
        }
}

void buffer_add_printable(struct buffer *b, const char *text)
{
        add_escaped(b, text, strlen(text), true);
}

char *printable(const char *text)
{
        struct buffer b = {0};

        buffer_add_printable(&b, text);
        return b.data;
}

void buffer_add_safe(struct buffer *b, const char *text, size_t size)
{
        add_escaped(b, text, size, false);
}

void buffer_add_markdown(struct buffer *b, const char *text)
{
        cleanup_free char *shown = printable(text);

        for (const char *p = shown; *p; p++)
                buffer_addf(b, strchr("|<`*_[]", *p) ? "\\%c" : "%c", *p);
}

void buffer_add_markdown_code(struct buffer *b, const char *text)
{
        cleanup_free char *shown = printable(text);

        if (!*shown || strpbrk(shown, "|`"))
                buffer_add_markdown(b, text);
        else
                buffer_addf(b, "`%s`", shown);
}

void buffer_add_url_path(struct buffer *b, const char *path)
{
        buffer_adds(b, "");
        for (const char *at = path; *at; at++) {
                bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || strchr("-._~/", *at);

                if (plain)
                        buffer_add(b, at, 1);
                else
                        buffer_addf(b, "%%%02X", (unsigned char)*at);
        }
}

void url_decode(char *text)
{
        char *to = text;

        for (const char *at = text; *at; at++) {
                unsigned byte = 0;

                if (*at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]))
                        sscanf(at + 1, "%2x", &byte);
                *to++ = byte ? (char)byte : *at;
                at += byte ? 2 : 0;
        }
        *to = '\0';
}

/* -- errors and log -- */

static _Thread_local char error_text[4096];
static _Thread_local int error_number;

int errorf(int r, const char *format, ...)
{
        char text[sizeof(error_text)]; /* an argument may point to the sentence kept so far */

        assert(r < 0);
        format_rest(text, format);
        memcpy(error_text, text, sizeof(text));
        error_number = r;
        return r;
}

int thread_start(pthread_t *ret, void *(*run)(void *user), void *user)
{
        int r = pthread_create(ret, NULL, run, user);

        return r == 0 ? 0 : errorf(r == EAGAIN ? -ENOMEM : -r, "cannot start a thread: %s", strerror(r));
}

const char *error_message(int r)
{
        static _Thread_local char text[256];

        if (error_number == r && r != 0)
                return error_text;
        return strerror_r(-r, text, sizeof(text));
}

void error_clear(void)
{
        error_number = 0;
}

static struct {
        pthread_mutex_t lock;
        enum log_level most;
        FILE *to;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = LOG_LEVEL_WARNING};

void log_set(enum log_level most, FILE *to)
{
        cleanup_unlock pthread_mutex_t *held = hold(&logger.lock);

        logger.most = most;
        logger.to = to;
}

void log_line(enum log_level level, const char *format, ...)
{
        static const char *const names[] = {"error", "warning", "info", "debug"};
        int saved = errno;
        va_list args;

        pthread_mutex_lock(&logger.lock);
        if (level <= logger.most) {
                FILE *to = logger.to ? logger.to : stderr;

                if (logger.to) /* a file needs the time */
                        fprintf(to, "%s [%d] ", format_date(now_seconds()).s, (int)getpid());
                fprintf(to, "solverfs: %s: ", names[level]);
                va_start(args, format);
                vfprintf(to, format, args);
                va_end(args);
                fputc('\n', to);
                fflush(to);
        }
        pthread_mutex_unlock(&logger.lock);
        errno = saved;
}

/* -- files -- */

bool path_is_in(const char *path, const char *folder)
{
        size_t n = folder ? strlen(folder) : 0;

        return n > 0 && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0' || folder[n - 1] == '/');
}

int path_join(char ret[PATH_SIZE], const char *dir, const char *name)
{
        int n = snprintf(ret, PATH_SIZE, "%s/%s", dir, name);

        return n < 0 || n >= PATH_SIZE ? errorf(-ENAMETOOLONG, "path too long: %.200s…/%.200s", dir, name) : 0;
}

int read_fd(int fd, size_t most, struct blob *ret)
{
        cleanup_free char *data = NULL;
        size_t size = 0, capacity = 0;
        struct stat st;

        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
                capacity = MIN((size_t)st.st_size, most) + 1; /* one more, so that the first read sees the end */
        for (;;) {
                ssize_t n;

                if (!data || size == capacity) {
                        char *grown;

                        if (data || capacity == 0)
                                capacity = MAX(capacity * 2, (size_t)4096);
                        grown = realloc(data, capacity);
                        if (!grown)
                                return -ENOMEM;
                        data = grown;
                }
                n = TEMP_FAILURE_RETRY(read(fd, data + size, capacity - size));
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += (size_t)n;
                if (size > most)
                        return -EFBIG;
        }
        *ret = (struct blob){.data = data, .size = size, .owned = data};
        data = NULL;
        return 0;
}

int read_file(const char *path, size_t most, struct blob *ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        r = read_fd(fd, most, ret);
        if (r == -EFBIG)
                return errorf(r, "%s is larger than the %zu bytes allowed here", path, most);
        return r < 0 ? errorf(r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

int write_all(int fd, const void *data, size_t size)
{
        const char *p = data;

        while (size > 0) {
                ssize_t n = TEMP_FAILURE_RETRY(write(fd, p, size));

                if (n < 0)
                        return -errno;
                p += n;
                size -= (size_t)n;
        }
        return 0;
}

int folder_each(const char *folder, int (*fn)(void *user, const char *folder, const char *name), void *user)
{
        cleanup_dir DIR *d = opendir(folder);
        struct dirent *e;
        int r = 0;

        if (!d)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot list %s: %s", folder, strerror(errno));
        while (r == 0 && (errno = 0, e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        r = fn(user, folder, e->d_name);
        return r == 0 && errno != 0 ? errorf(-errno, "cannot list %s: %s", folder, strerror(errno)) : r;
}

int sync_folder(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 || fsync(fd) < 0 ? errorf(-errno, "cannot sync %s: %s", path, strerror(errno)) : 0;
}

int sync_folder_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        cleanup_free char *dir = slash ? copy_prefix(path, (size_t)(slash - path) + 1) : copy_string(".");

        return sync_folder(dir);
}

int write_file_atomic(const char *path, const void *data, size_t size, mode_t mode)
{
        cleanup_free char *temporary = format_string("%s.XXXXXX", path);
        cleanup_close int fd = mkostemp(temporary, O_CLOEXEC);
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot write %s: %s", temporary, strerror(errno));
        r = write_all(fd, data, size);
        if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(temporary, path) < 0))
                r = -errno;
        if (r == 0)
                return sync_folder_of(path);
        unlink(temporary);
        return errorf(r, "cannot write %s: %s", path, strerror(-r));
}

int copy_fd(int from, int to)
{
        for (;;) {
                ssize_t n = TEMP_FAILURE_RETRY(copy_file_range(from, NULL, to, NULL, 1 << 30, 0));

                if (n == 0)
                        return 0;
                if (n < 0)
                        break; /* not supported between these files: copy below */
        }
        for (;;) {
                char block[1 << 16];
                ssize_t n = TEMP_FAILURE_RETRY(read(from, block, sizeof(block)));
                int r;

                if (n <= 0)
                        return n < 0 ? -errno : 0;
                r = write_all(to, block, (size_t)n);
                if (r < 0)
                        return r;
        }
}

int make_private_folder(const char *path)
{
        if (mkdir(path, 0700) < 0)
                return errno == EEXIST ? 0 : errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        return chmod(path, 0700) < 0 ? errorf(-errno, "cannot make %s private: %s", path, strerror(errno)) : 1;
}

int make_dirs(const char *path, mode_t mode)
{
        cleanup_free char *partial = copy_string(path);

        if (!*path)
                return errorf(-ENOENT, "cannot make a folder without a name");
        for (char *p = partial + 1;; p++) {
                char c = *p;

                if (c != '/' && c != '\0')
                        continue;
                *p = '\0';
                if (mkdir(partial, mode) == 0 ? chmod(partial, mode) < 0 : errno != EEXIST) /* whatever the umask */
                        return errorf(-errno, "cannot make folder %s: %s", partial, strerror(errno));
                *p = c;
                if (c == '\0')
                        break;
        }
        return 0;
}

/* -- removing a tree -- */

/* Depth of recursion; deeper folders are first moved to the top. A hostile program may make folders deeper than our stack or our table of
 * descriptors. */
#define REMOVE_DEPTH 128

struct removal {
        dev_t device;
        int top; /* the tree's root folder; -1: not opened yet */
        unsigned names;
        bool lifted; /* a folder was moved to the top since the top was last read */
};

/* Gives us all permissions of a folder. Never follows a symlink that has replaced it. */
static int open_up(int dirfd, const char *name)
{
        cleanup_close int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char path[64];

        if (fd < 0)
                return -errno;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return chmod(path, 0700) < 0 ? -errno : 0;
}

/* Moves a folder that is too deep to the top, under a new name. */
static int lift(struct removal *m, int dirfd, const char *name)
{
        char to[32];
        int r;

        open_up(dirfd, name); /* moving it changes its "..", which needs write permission */
        do {
                snprintf(to, sizeof(to), "deep-%u", m->names++);
                r = renameat2(dirfd, name, m->top, to, RENAME_NOREPLACE);
        } while (r < 0 && errno == EEXIST);
        m->lifted |= r == 0;
        return r < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_at(struct removal *m, int dirfd, const char *name, unsigned depth);

static int remove_entries(struct removal *m, DIR *d, unsigned depth)
{
        struct dirent *e;
        int first = 0;

        while ((e = readdir(d))) {
                int r;

                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                r = remove_at(m, dirfd(d), e->d_name, depth + 1);
                if (r < 0 && first == 0)
                        first = r;
        }
        return first;
}

static int open_to_remove(const struct removal *m, int dirfd, const char *name)
{
        cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 && errno == EACCES && open_up(dirfd, name) == 0)
                fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0 || st.st_dev != m->device)
                return -EXDEV;
        if ((st.st_mode & 0700) != 0700)
                fchmod(fd, 0700);
        return steal_fd(&fd);
}

/* Empties and removes dirfd/name by descriptors, so that a symlink swapped in while we walk is unlinked and never followed. */
static int remove_at(struct removal *m, int dirfd, const char *name, unsigned depth)
{
        int fd, first;
        DIR *d;

        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        if (depth > REMOVE_DEPTH)
                return lift(m, dirfd, name);
        fd = open_to_remove(m, dirfd, name);
        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        d = fdopendir(fd);
        if (!d) {
                close(fd);
                return -ENOMEM;
        }
        if (depth == 0)
                m->top = fd;
        do {
                m->lifted = depth > 0 && m->lifted;
                first = remove_entries(m, d, depth);
                rewinddir(d);
        } while (depth == 0 && m->lifted && first == 0);
        closedir(d);
        if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT && first == 0)
                first = -errno;
        return first;
}

int remove_tree(const char *path)
{
        struct removal m = {.top = -1};
        struct stat st;
        int r;

        if (lstat(path, &st) < 0)
                return errno == ENOENT ? 0 : -errno;
        m.device = st.st_dev;
        r = remove_at(&m, AT_FDCWD, path, 0);
        return r < 0 ? errorf(r, "cannot remove %s: %s", path, strerror(-r)) : 0;
}

/* -- time, and waiting -- */

uint64_t clock_ns(clockid_t clock)
{
        struct timespec t = {0};

        clock_gettime(clock, &t);
        if ((clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && fault_at("clock.back") < 0)
                t.tv_sec -= 3600;
        return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
        return clock_ns(CLOCK_MONOTONIC);
}

void condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t ns)
{
        const struct timespec t = {.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};

        pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &t);
}

bool fd_is_readable(int fd)
{
        struct pollfd p = {.fd = fd, .events = POLLIN};

        return fd >= 0 && poll(&p, 1, 0) > 0;
}

int pause_unless_cancelled(int cancel_fd, int ms)
{
        struct pollfd p = {.fd = cancel_fd, .events = POLLIN};

        return poll(&p, 1, ms) > 0 ? errorf(-ECANCELED, "cancelled") : 0;
}

int64_t now_seconds(void)
{
        return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
}

struct short_text format_date(int64_t seconds)
{
        time_t time = (time_t)seconds;
        struct short_text ret;
        struct tm tm;

        if (!gmtime_r(&time, &tm) || strftime(ret.s, sizeof(ret.s), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                snprintf(ret.s, sizeof(ret.s), "@%" PRId64, seconds); /* outside the calendar */
        return ret;
}

#define FUTURE 86400

bool is_older_than(int64_t time, int64_t seconds)
{
        const int64_t age = now_seconds() - time;

        return age >= seconds || age < -FUTURE;
}
