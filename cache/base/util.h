/* Used by every room: cleanup attributes, owned byte strings, errors with a sentence, the log.
 *
 * Errors. A function that can fail returns 0 (or a count) or -errno. If a person needs more than the errno, it
 * returns `errorf(-ENOENT, "no case %s; see 'solverfs case list'", id)`. The sentence is kept per thread until the next
 * errorf(). error_message() reads it: the command prints it, the engine keeps it as the job's reason. A sentence says
 * what, where, and what to do.
 *
 * Log. log_error/log_info/... write one line each to standard error (or to the mount's log file); they never change
 * errno and may be called from any thread. They are for the operator; they do not replace errorf().
 */
#pragma once

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define ARRAY_SIZE(a)     (sizeof(a) / sizeof(*(a)))
#define MIN(a, b)         ((a) < (b) ? (a) : (b))
#define MAX(a, b)         ((a) > (b) ? (a) : (b))
#define ORDER(a, b)       (((a) > (b)) - ((a) < (b))) /* -1, 0 or 1, as of strcmp(). By x, then by y: ORDER(a.x, b.x) ?: ORDER(a.y, b.y) */
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define NSEC_PER_SEC      UINT64_C(1000000000)
#define NSEC_PER_MSEC     UINT64_C(1000000)

/* Bytes of the longest path, with its NUL; longer ones are refused with -ENAMETOOLONG. */
#define PATH_SIZE 4096

/* -- cleanup ---------------------------------------------------------------------------------------------------- */

#define cleanup(f) __attribute__((cleanup(f)))
#define DEFINE_CLEANUP(type, f)          \
        static inline void f##p(type *p) \
        {                                \
                if (*p)                  \
                        f(*p);           \
        }

/* A shared structure counts its users in a field `refs`, 1 when it is made. NAME_ref() adds a user, and returns its argument. NAME_unref() takes one
 * away, calls `done` after the last, and returns NULL; its argument may be NULL. Both may be called from any thread. */
#define DECLARE_REFS(name)                              \
        struct name *name##_ref(struct name *shared);   \
        struct name *name##_unref(struct name *shared); \
        DEFINE_CLEANUP(struct name *, name##_unref)
#define DEFINE_REFS(name, done)                                                            \
        struct name *name##_ref(struct name *shared)                                       \
        {                                                                                  \
                __atomic_add_fetch(&shared->refs, 1, __ATOMIC_RELAXED);                    \
                return shared;                                                             \
        }                                                                                  \
        struct name *name##_unref(struct name *shared)                                     \
        {                                                                                  \
                if (shared && __atomic_sub_fetch(&shared->refs, 1, __ATOMIC_ACQ_REL) == 0) \
                        done(shared);                                                      \
                return NULL;                                                               \
        }

static inline void freep(void *p)
{
        free(*(void **)p);
}
static inline void closep(int *fd)
{
        if (*fd >= 0) {
                int saved = errno;
                close(*fd);
                *fd = -1; /* may run again at the end of the scope */
                errno = saved;
        }
}
DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)

#define cleanup_free  cleanup(freep)
#define cleanup_close cleanup(closep)
#define cleanup_file  cleanup(fclosep)
#define cleanup_dir   cleanup(closedirp)

/* Holds a mutex until the end of the scope: `cleanup_unlock pthread_mutex_t *held = hold(&x->lock);` */
static inline pthread_mutex_t *hold(pthread_mutex_t *m)
{
        pthread_mutex_lock(m);
        return m;
}
static inline void unlockp(pthread_mutex_t **m)
{
        if (*m)
                pthread_mutex_unlock(*m);
}
#define cleanup_unlock cleanup(unlockp)

#define steal_pointer(p)                          \
        ({                                        \
                __typeof__(p) *steal_p = &(p);    \
                __typeof__(p) steal_v = *steal_p; \
                *steal_p = NULL;                  \
                steal_v;                          \
        })
static inline int steal_fd(int *fd)
{
        int v = *fd;
        *fd = -1;
        return v;
}

/* -- memory, and text in it ----------------------------------------------------------------------------------------
 *
 * Small allocations (a structure, a name, a list: a few megabytes at most) never fail: without memory the process ends and may start over
 * (lost.h), and nothing stored is lost. Larger ones use malloc() and may fail. */

void *allocate(size_t n, size_t size); /* zeros; free() */
char *copy_string(const char *s);
void set_string(char **at, const char *s); /* frees *at, and sets it to a copy of `s`; NULL if `s` is */
char *copy_prefix(const char *s, size_t most); /* at most the first `most` bytes */
char *format_string(const char *format, ...) printf_like(1, 2);
/* In a function whose last parameters are `const char *format, ...`: writes the text into the array, cut off if too long. */
#define format_rest(array, format)                                       \
        do {                                                             \
                va_list format_args;                                     \
                va_start(format_args, format);                           \
                vsnprintf(array, sizeof(array), (format), format_args);  \
                va_end(format_args);                                     \
        } while (0)
unsigned word_distance(const char *a, const char *b); /* Levenshtein's, at most 9; 9 also if `b` has 40 bytes or more */

/* A number, a date or the like as text, by value: printf("%s", format_size(n).s). */
struct short_text {
        char s[32];
};

/* -- lists ------------------------------------------------------------------------------------------------------ */

int compare_u32(const void *a, const void *b);
int compare_u64(const void *a, const void *b);
int compare_strings(const void *a, const void *b); /* of strings, or structures that begin with one */
size_t sort_numbers(uint32_t *list, size_t n); /* and removes duplicates. Returns how many are left */
int compare_doubles(const void *a, const void *b);
/* qsort() and bsearch() for lists that may be NULL while empty. */
static inline void sort_list(void *list, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
        if (n > 0)
                qsort(list, n, size, compare);
}
static inline void *find_in_list(const void *key, const void *list, size_t n, size_t size,
                                 int (*compare)(const void *a, const void *b))
{
        return n > 0 ? bsearch(key, list, n, size, compare) : NULL;
}
/* The index of the first element that is not less than the key; n: there is none. */
size_t lower_bound(const void *key, const void *list, size_t n, size_t size, int (*compare)(const void *a, const void *b));

/* Makes room for one more element behind the `n` of a list (NULL while empty). The list grows when n is 0, 1, 3, 7, …, so no capacity need be kept;
 * each element must be added after a list_grow(). */
#define list_grow(list, n) list_grow_sized(&(list), (n), sizeof(*(list)))
/* Adds an element, and gives its address. */
#define list_add(list, n, ...)             \
        ({                                 \
                list_grow(list, n);        \
                (list)[n] = (__VA_ARGS__); \
                &(list)[(n)++];            \
        })
void list_grow_sized(void *list, size_t n, size_t size);

/* -- bytes ------------------------------------------------------------------------------------------------------ */

/* Bytes owned elsewhere. */
struct slice {
        const void *data;
        size_t size;
};

#define SLICE(d, n) ((struct slice){.data = (d), .size = (n)})
static inline struct slice slice_string(const char *s)
{
        return SLICE(s, strlen(s));
}
/* True if two slices, blobs or buffers have the same bytes. Evaluates its arguments more than once; `data` may be NULL if there are none. */
#define same_bytes(a, b) ((a).size == (b).size && ((a).size == 0 || memcmp((a).data, (b).data, (a).size) == 0))
/* Numbers as this machine has them, from any address. */
static inline uint32_t load_4(const void *p)
{
        uint32_t n;

        memcpy(&n, p, sizeof(n));
        return n;
}
static inline uint64_t load_8(const void *p)
{
        uint64_t n;

        memcpy(&n, p, sizeof(n));
        return n;
}
/* Takes the next line, without its newline, from `rest`. False at the end. */
bool slice_next_line(struct slice *rest, struct slice *ret);
/* The last `lines` lines of a text, at most `most` bytes. */
struct slice slice_last_lines(struct slice text, unsigned lines, size_t most);

/* Bytes with their owner: freeing `owned` frees `data`. If `owned` is NULL, the bytes live elsewhere. */
struct blob {
        const void *data;
        size_t size;
        void *owned; /* malloc'd, or NULL */
};

static inline void blob_done(struct blob *b)
{
        free(b->owned);
        *b = (struct blob){0};
}
#define cleanup_blob cleanup(blob_done)

/* A growing byte buffer; NUL-terminated behind `size` once anything was added. If it cannot grow beyond BUFFER_LARGE, it sets `failed`, so that a
 * run of appends is checked once, by buffer_error(). If a smaller one cannot grow, the process ends. */
#define BUFFER_LARGE ((size_t)1 << 20)
struct buffer {
        char *data; /* malloc'd */
        size_t size, capacity;
        bool failed;
};

void buffer_done(struct buffer *b);
void buffer_add(struct buffer *b, const void *data, size_t size);
void buffer_adds(struct buffer *b, const char *s);
void buffer_addf(struct buffer *b, const char *format, ...) printf_like(2, 3);
int buffer_error(const struct buffer *b);             /* 0 or -ENOMEM */
int buffer_steal(struct buffer *b, struct blob *ret); /* moves the bytes into a blob; 0 or -ENOMEM */
#define cleanup_buffer cleanup(buffer_done)

/* Length of the UTF-8 sequence at the start of `text`, which has `left` bytes; 0: it is not valid (RFC 3629: no overlong forms, no surrogates). */
size_t utf8_length(const void *text, size_t left);
/* True if the sequence of `n` bytes is a control character, or one that reorders, joins or hides text: soft hyphens, directions, zero widths, tags. */
bool utf8_is_control(const void *text, size_t n);
/* Quoted, so that a shell and recipe_split() read it back. */
void buffer_add_shell_word(struct buffer *b, const char *word);
/* Without quotes if every character is a letter, a digit, one of "._+/=-" or of `also`. */
void buffer_add_plain_word(struct buffer *b, const char *word, const char *also);
/* Tabs, newlines, backslashes, the bytes of other controls (utf8_is_control()) and bytes that are not valid UTF-8 as \t \n \\ \xNN. */
void buffer_add_printable(struct buffer *b, const char *text);
char *printable(const char *text); /* the same; free(). For names that may hold a tab or a newline. */
/* The same, but tabs, newlines and backslashes stay: for lines whose names may be printable already. */
void buffer_add_safe(struct buffer *b, const char *text, size_t size);
/* Printable, with a backslash before each character that has a meaning in Markdown or ends a cell of its tables. */
void buffer_add_markdown(struct buffer *b, const char *text);
void buffer_add_markdown_code(struct buffer *b, const char *text); /* as code, or as above if code cannot hold the text */
/* A path in a URL, with reserved characters as %XX (RFC 3986, 2.1), and back. */
void buffer_add_url_path(struct buffer *b, const char *path);
void url_decode(char *text); /* in place; a % that two digits do not follow, and %00, stay */

/* -- errors and log --------------------------------------------------------------------------------------------- */

int errorf(int r, const char *format, ...) printf_like(2, 3); /* keeps the sentence; returns r (a -errno) */
const char *error_message(int r);                             /* the sentence kept for this r, else strerror(-r) */
void error_clear(void);

/* pthread_create(), with a sentence. Too many threads are -ENOMEM: -EAGAIN would mean "later" to callers. */
int thread_start(pthread_t *ret, void *(*run)(void *user), void *user);

enum log_level {
        LOG_LEVEL_ERROR,
        LOG_LEVEL_WARNING,
        LOG_LEVEL_INFO,
        LOG_LEVEL_DEBUG
};
void log_set(enum log_level most, FILE *to); /* `to` NULL: standard error */
void log_line(enum log_level level, const char *format, ...) printf_like(2, 3);
#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* -- files: 0 or -errno, unless noted ----------------------------------------------------------------------------- */

bool path_is_in(const char *path, const char *folder); /* or is the folder itself; false if `folder` is NULL or "" */
int path_join(char ret[PATH_SIZE], const char *dir, const char *name); /* 0 or -ENAMETOOLONG */
int read_file(const char *path, size_t most, struct blob *ret);        /* -EFBIG when larger than `most` */
int read_fd(int fd, size_t most, struct blob *ret);                    /* from the current offset to the end */
int write_all(int fd, const void *data, size_t size);
/* Writes a temporary file, syncs it, renames it and syncs the folder: a power cut leaves the old content or the new, and after 0 the new. */
int write_file_atomic(const char *path, const void *data, size_t size, mode_t mode);
int copy_fd(int from, int to);                /* from the current offsets to the end; reflinked or in-kernel when possible */
int make_dirs(const char *path, mode_t mode); /* mkdir -p */
int make_private_folder(const char *path);    /* 0700 whatever the umask; 1: made, 0: it existed */
/* Calls fn with each name in a folder. Stops at, and returns, fn's first non-zero value. 0 if there is no such folder. */
int folder_each(const char *folder, int (*fn)(void *user, const char *folder, const char *name), void *user);
int sync_folder(const char *path);
int sync_folder_of(const char *path); /* the folder that the path is in */
int remove_tree(const char *path); /* rm -rf; never follows a symlink, never leaves the file system; 0 when absent */
/* True if something can be read now, or the other end is closed. Does not wait. False for -1. */
bool fd_is_readable(int fd);
/* Waits that long. -ECANCELED, with a message, as soon as `cancel_fd` (-1: none) is readable. */
int pause_unless_cancelled(int cancel_fd, int ms);

/* -- time ------------------------------------------------------------------------------------------------------- */

uint64_t clock_ns(clockid_t clock);
uint64_t now_ns(void);                /* CLOCK_MONOTONIC */
int64_t now_seconds(void);            /* CLOCK_REALTIME */
/* "2020-01-31T23:59:59Z"; "@<seconds>" of a time outside the calendar, which a commit may have. */
struct short_text format_date(int64_t seconds);
/* True if a file's time is `seconds` ago or more, or more than a day in the future: a wrong clock set it, and it would not get old. */
bool is_older_than(int64_t time, int64_t seconds);
void condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t ns); /* until signalled, or now_ns() is `ns` */
static inline int64_t timespec_ns(const struct timespec *t)
{
        return (int64_t)t->tv_sec * (int64_t)NSEC_PER_SEC + t->tv_nsec;
}
