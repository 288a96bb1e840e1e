#include "core/run/file_digest.h"

#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <sys/stat.h>

#include "cache/base/record.h"

#define FORMAT       1
#define FILE_BYTES   ((size_t)64 << 20)
#define SETTLED      (50 * (int64_t)NSEC_PER_MSEC) /* within a tick of its last change a file may change and show the same times */
#define AHEAD        (300 * (int64_t)NSEC_PER_SEC) /* the most that a file server's clock is ahead of ours while both go rightly */
#define MOMENT_WORDS 5

struct known {
        char *path; /* owned */
        uint64_t moment[MOMENT_WORDS];
        struct digest digest;
};

static struct {
        pthread_mutex_t lock;
        char *file;  /* NULL: no file is kept */
        void *known; /* by tsearch() */
        bool has_news;
} digests = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Nobody can replace the file or write to it and restore all of these. */
static void moment_of(const struct stat *st, uint64_t ret[MOMENT_WORDS])
{
        ret[0] = st->st_dev;
        ret[1] = st->st_ino;
        ret[2] = (uint64_t)st->st_size;
        ret[3] = (uint64_t)timespec_ns(&st->st_mtim);
        ret[4] = (uint64_t)timespec_ns(&st->st_ctim);
}

/* -- the table; lock held -- */

static struct known *find(const char *path)
{
        struct known **found = tfind(&(struct known){.path = (char *)path}, &digests.known, compare_strings);

        return found ? *found : NULL;
}

static void remember(const char *path, const uint64_t moment[MOMENT_WORDS], const struct digest *digest)
{
        struct known *k = find(path);

        if (!k) {
                k = allocate(1, sizeof(*k));
                k->path = copy_string(path);
                tsearch(k, &digests.known, compare_strings);
        }
        memcpy(k->moment, moment, sizeof(k->moment));
        k->digest = *digest;
}

/* -- a look -- */

bool file_time_is_future(int64_t ns)
{
        return ns > (int64_t)clock_ns(CLOCK_REALTIME) + AHEAD;
}

/* True if a further change would show another time. */
static bool is_settled(int64_t changed_ns)
{
        return (int64_t)clock_ns(CLOCK_REALTIME) - changed_ns > SETTLED || file_time_is_future(changed_ns);
}

/* False if the file cannot be read. */
static bool hash_file(const char *path, struct digest *ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat before, after;
        uint64_t moment[MOMENT_WORDS];

        if (fd < 0 || fstat(fd, &before) < 0 || digest_of_fd(fd, ret, NULL) < 0 || fstat(fd, &after) < 0)
                return false;
        moment_of(&before, moment);
        if (is_settled(timespec_ns(&before.st_ctim)) && timespec_ns(&before.st_ctim) == timespec_ns(&after.st_ctim)) {
                pthread_mutex_lock(&digests.lock);
                remember(path, moment, ret);
                digests.has_news = true;
                pthread_mutex_unlock(&digests.lock);
        }
        return true;
}

void file_look(const char *path, struct file_look *ret)
{
        uint64_t moment[MOMENT_WORDS];
        const struct known *k;
        struct stat st;
        bool is_known;

        *ret = (struct file_look){.kind = FILE_ABSENT};
        if (stat(path, &st) < 0) {
                ret->kind = errno == ENOENT || errno == ENOTDIR ? FILE_ABSENT : FILE_OTHER;
                return;
        }
        ret->changed_ns = timespec_ns(&st.st_ctim);
        ret->kind = S_ISDIR(st.st_mode) ? FILE_FOLDER : S_ISREG(st.st_mode) ? FILE_CONTENT : FILE_OTHER;
        if (ret->kind != FILE_CONTENT)
                return;
        moment_of(&st, moment);
        pthread_mutex_lock(&digests.lock);
        k = find(path);
        is_known = k && memcmp(k->moment, moment, sizeof(moment)) == 0;
        if (is_known)
                ret->digest = k->digest;
        pthread_mutex_unlock(&digests.lock);
        if (!is_known && !hash_file(path, &ret->digest))
                *ret = (struct file_look){.kind = FILE_OTHER, .changed_ns = ret->changed_ns};
}

/* -- the file -- */

static void read_kept(struct slice bytes)
{
        struct record r = record_of(bytes);

        record_version(&r, FORMAT);
        while (r.error == 0 && record_left(&r) > 0) {
                uint64_t moment[MOMENT_WORDS];
                struct digest digest = {0};
                cleanup_free char *path = NULL;

                for (size_t i = 0; i < MOMENT_WORDS; i++)
                        moment[i] = record_u64(&r);
                record_raw(&r, digest.bytes, DIGEST_SIZE);
                path = record_string(&r, record_u32(&r));
                if (r.error == 0 && path)
                        remember(path, moment, &digest);
        }
}

void file_digests_keep(const char *path)
{
        cleanup_blob struct blob b = {0};
        cleanup_unlock pthread_mutex_t *held = hold(&digests.lock);

        if (!digests.file) {
                digests.file = copy_string(path);
                if (read_file(path, FILE_BYTES, &b) == 0)
                        read_kept(SLICE(b.data, b.size));
        }
}

static void print_known(const void *node, VISIT visit, void *to)
{
        const struct known *k = *(struct known *const *)node;

        if (visit != postorder && visit != leaf)
                return;
        for (size_t i = 0; i < MOMENT_WORDS; i++)
                record_put_u64(to, k->moment[i]);
        buffer_add(to, k->digest.bytes, DIGEST_SIZE);
        record_put_u32(to, (uint32_t)strlen(k->path));
        buffer_adds(to, k->path);
}

void file_digests_save(void)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_unlock pthread_mutex_t *held = hold(&digests.lock);

        if (digests.file && digests.has_news) {
                record_put_u8(&b, FORMAT);
                twalk_r(digests.known, print_known, &b);
                if (b.size > FILE_BYTES || write_file_atomic(digests.file, b.data, b.size, 0600) < 0)
                        log_debug("%s is not written: files are hashed again next time", digests.file);
                digests.has_news = false;
        }
}
