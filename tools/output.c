#include "output.h"

#include <ctype.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "cache/base/lost.h"
#include "command.h"

/* How often the bar is drawn, and how often a plain line shows progress. */
#define BAR_EVERY   (100 * NSEC_PER_MSEC)
#define LINE_EVERY  (30 * NSEC_PER_SEC)

/* Tables on a terminal. */
#define COLUMNS_MOST 20
#define RANKS         8
#define GAP           2
#define LAST_LEAST    8 /* least width of a last column without a width */
#define COMMIT_DIGITS 40
#define COMMIT_SHOWN  12

static struct {
        bool quiet, terminal;
        int output_error; /* errno of the first failed write to standard output */
        bool output_terminal, colour;

        pthread_mutex_t lock;
        bool drawn;          /* under lock: a bar is on the terminal */
        uint64_t told;       /* under lock: when a bar or line was last written */
        char work[256];      /* under lock: what output_tell() was last told of, */
        uint64_t begun;      /* since when: for the rate */
} out = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- standard error --------------------------------------------------------------------------------------------- */

static void erase_locked(void)
{
        if (out.drawn)
                (void)!write(STDERR_FILENO, "\r\033[K", 4);
        out.drawn = false;
}

/* All output to stderr (ours, the log's, argp's) passes through here: it removes the bar first, and makes control characters in names harmless. */
static ssize_t write_safely(void *cookie, const char *data, size_t size)
{
        cleanup_buffer struct buffer b = {0};

        pthread_mutex_lock(&out.lock);
        erase_locked();
        pthread_mutex_unlock(&out.lock);
        lost_output();
        buffer_add_safe(&b, data, size);
        return buffer_error(&b) < 0 || write_all(STDERR_FILENO, b.data, b.size) < 0 ? 0 : (ssize_t)size;
}

static enum status broken_output(int error)
{
        if (error == EPIPE)
                return STATUS_PIPE;
        complain("cannot write to standard output: %s", strerror(error));
        return STATUS_SYSTEM;
}

/* argp prints --help and --version by stdio, and ends the process. */
static void end_of_help(void)
{
        if (fflush(stdout) != 0)
                _exit(broken_output(errno));
        if (ferror(stdout))
                _exit(broken_output(EIO));
}

void output_setup(void)
{
        static char help[32 << 10]; /* a whole help: errno is known only for the last write */
        static char line[16 << 10]; /* a whole line, so that no character is cut in two */
        const char *term = getenv("TERM");
        FILE *safe;

        setvbuf(stdout, help, _IOFBF, sizeof(help));
        atexit(end_of_help);
        out.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
        out.output_terminal = isatty(STDOUT_FILENO);
        out.colour = out.terminal && !*(getenv("NO_COLOR") ?: ""); /* https://no-color.org */
        safe = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_safely});
        if (safe) {
                setvbuf(safe, line, _IOLBF, sizeof(line));
                stderr = safe;
        }
}

void output_quiet(bool quiet, unsigned verbose)
{
        out.quiet = quiet;
        log_set(quiet          ? LOG_LEVEL_ERROR
                : verbose == 0 ? LOG_LEVEL_WARNING
                : verbose == 1 ? LOG_LEVEL_INFO
                               : LOG_LEVEL_DEBUG, NULL);
}

__attribute__((format(printf, 2, 0))) static void say(const char *before, const char *format, va_list args, const char *after)
{
        fputs(before, stderr);
        vfprintf(stderr, format, args);
        fputs(after, stderr);
        fflush(stderr);
}

void note(const char *format, ...)
{
        va_list args;

        if (out.quiet)
                return;
        va_start(args, format);
        say("", format, args, "\n");
        va_end(args);
}

void vcomplain(const char *format, va_list args)
{
        say("solverfs: ", format, args, "\n");
}

void complain(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vcomplain(format, args);
        va_end(args);
}

/* Not by the stream, which would show the sequence as text. */
static void colour(const char *sequence)
{
        if (!out.colour)
                return;
        progress_clear();
        (void)!write(STDERR_FILENO, sequence, strlen(sequence));
}

void alarm_line(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        colour("\033[1;31m");
        say("solverfs: ", format, args, "");
        colour("\033[0m");
        fputs("\n", stderr);
        va_end(args);
}

const char *plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}

enum status status_of(int r)
{
        static const struct {
                int error;
                enum status status;
        } known[] = {{ENOENT, STATUS_ABSENT},    {ENOTUNIQ, STATUS_ABSENT},       {EPROTONOSUPPORT, STATUS_FORMAT}, {EAGAIN, STATUS_BUSY},
                     {EINTR, STATUS_INTERRUPTED}, {ECANCELED, STATUS_INTERRUPTED}, {EPIPE, STATUS_PIPE},             {EKEYREJECTED, STATUS_OTHER},
                     {EACCES, STATUS_SYSTEM},    {EBADMSG, STATUS_SYSTEM},        {EIO, STATUS_SYSTEM},             {EMFILE, STATUS_SYSTEM},
                     {ENFILE, STATUS_SYSTEM},    {ENODEV, STATUS_SYSTEM},         {ENOMEM, STATUS_SYSTEM},          {ENOSPC, STATUS_SYSTEM},
                     {EDQUOT, STATUS_SYSTEM},    {EPERM, STATUS_SYSTEM},        {EROFS, STATUS_SYSTEM},             {ESTALE, STATUS_SYSTEM},
                     {ETIMEDOUT, STATUS_SYSTEM}, {EUCLEAN, STATUS_SYSTEM}};

        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (known[i].error == -r)
                        return known[i].status;
        return STATUS_FAILED;
}

enum status status_of_value(int r)
{
        enum status s = status_of(r);

        return s == STATUS_ABSENT || s == STATUS_BUSY ? s : STATUS_SYSTEM;
}

int fail_as(enum status status, int r)
{
        complain("%s", error_message(r));
        return status;
}

int fail(int r)
{
        enum status status = status_of(r);

        /* An interrupt needs no message, and output_end() reports errors of standard output. */
        return status == STATUS_INTERRUPTED || (status == STATUS_PIPE && output_broken()) ? (int)status : fail_as(status, r);
}

int fail_usage(int r)
{
        return r == -EINVAL || r == -EEXIST || r == -EXDEV ? fail_as(STATUS_USAGE, r) : fail(r);
}

/* -- standard output -------------------------------------------------------------------------------------------- */

void output_write(const struct buffer *b)
{
        int r;

        if (out.output_error != 0 || (b->size == 0 && !b->failed))
                return;
        progress_clear();
        lost_output();
        r = b->failed ? -ENOMEM : write_all(STDOUT_FILENO, b->data, b->size);
        if (r < 0)
                out.output_error = -r;
}

void output_bytes(const char *text)
{
        output_write(&(struct buffer){.data = (char *)text, .size = strlen(text)});
}

bool output_broken(void)
{
        return out.output_error != 0;
}

bool output_has_room(void)
{
        struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
        bool ready = poll(&p, 1, 0) > 0;

        if (ready && p.revents & POLLERR && out.output_error == 0)
                out.output_error = EPIPE; /* no write would report it if there is nothing to write */
        return ready && !output_broken();
}

/* Approximate width of a string on a terminal: its code points. */
static unsigned width_of(const char *s)
{
        unsigned n = 0;

        for (; *s; s++)
                n += ((unsigned char)*s & 0xc0) != 0x80;
        return n;
}

static struct winsize terminal_size(int fd)
{
        struct winsize size;

        if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
                size = (struct winsize){.ws_col = 80, .ws_row = 24};
        return size;
}

void output_text(const char *text)
{
        const unsigned most = out.output_terminal ? terminal_size(STDOUT_FILENO).ws_col : UINT_MAX;
        cleanup_free char *words = copy_string(text);
        cleanup_buffer struct buffer b = {0};
        unsigned at = 0;

        for (char *rest = words, *word; (word = strsep(&rest, " "));) {
                unsigned width = width_of(word);
                bool fits = at == 0 || at + 1 + width <= most;

                buffer_addf(&b, "%s%s", at == 0 ? "" : fits ? " " : "\n  ", word);
                at = fits ? at + (at > 0) + width : 2 + width;
        }
        buffer_adds(&b, "\n");
        output_write(&b);
}

unsigned output_lines(void)
{
        return out.output_terminal ? terminal_size(STDOUT_FILENO).ws_row : UINT_MAX;
}

/* The highest rank shown: columns of higher ranks are left out until the others fit. */
static unsigned highest_rank(const struct column *columns, unsigned width)
{
        unsigned rank = RANKS, used;

        do {
                used = 0;
                rank--;
                for (size_t i = 0; columns[i].name; i++)
                        if (columns[i].rank <= rank)
                                used += (i > 0 ? GAP : 0) + (columns[i].width > 0 ? columns[i].width : LAST_LEAST);
        } while (used > width && rank > 0);
        return rank;
}

/* The text made safe for a terminal, with each full commit sha cut to COMMIT_SHOWN digits; free(). */
static char *shown_text(const char *cell)
{
        struct buffer b = {0};
        char *shown, *to;

        buffer_add_safe(&b, cell, strlen(cell));
        shown = to = b.data;
        for (const char *text = shown; *text;) {
                size_t n = strspn(text, "0123456789abcdef"), kept = n == COMMIT_DIGITS ? COMMIT_SHOWN : MAX(n, 1);

                memmove(to, text, kept);
                to += kept;
                text += MAX(n, 1);
        }
        *to = '\0';
        return shown;
}

/* Adds the text; one wider than `width` columns is cut and ends with an ellipsis. */
static void add_within(struct buffer *to, const char *text, unsigned width)
{
        unsigned used = 0;

        if (width_of(text) <= width) {
                buffer_adds(to, text);
                return;
        }
        for (; *text; text++) {
                used += ((unsigned char)*text & 0xc0) != 0x80;
                if (used >= width)
                        break;
                buffer_add(to, text, 1);
        }
        buffer_adds(to, "…");
}

static void add_aligned(struct buffer *to, const struct column *columns, const char *const *cells)
{
        const unsigned width = terminal_size(STDOUT_FILENO).ws_col, rank = highest_rank(columns, width);
        unsigned at = 0;

        for (size_t i = 0; columns[i].name; i++) {
                const bool is_last = !columns[i + 1].name;
                cleanup_free char *shown = shown_text(cells[i]);
                unsigned used = width_of(shown), pad = used < columns[i].width ? columns[i].width - used : 0;

                if (columns[i].rank > rank)
                        continue;
                buffer_addf(to, "%*s", (at > 0 ? GAP : 0) + (columns[i].right ? (int)pad : 0), "");
                at += at > 0 ? GAP : 0;
                if (is_last && columns[i].width == 0 && at + LAST_LEAST <= width)
                        add_within(to, shown, width - at);
                else
                        buffer_adds(to, shown);
                buffer_addf(to, "%*s", columns[i].right || is_last ? 0 : (int)pad, "");
                at += used + pad;
        }
        buffer_adds(to, "\n");
}

static void add_row(struct buffer *to, const struct column *columns, const char *const *cells)
{
        if (out.output_terminal) {
                add_aligned(to, columns, cells);
                return;
        }
        for (size_t i = 0; columns[i].name; i++) {
                buffer_adds(to, i > 0 ? "\t" : "");
                buffer_add_safe(to, cells[i], strlen(cells[i]));
        }
        buffer_adds(to, "\n");
}

void table_heading(struct buffer *to, const struct column *columns)
{
        const char *names[COLUMNS_MOST];
        size_t n = 0;

        for (; columns[n].name; n++) {
                assert(n < COLUMNS_MOST);
                names[n] = columns[n].name;
        }
        if (out.output_terminal && *columns[0].name)
                add_row(to, columns, names);
}

/* Adds the heading before the first row of a table. */
static void add_heading_once(struct buffer *to, const struct column *columns)
{
        static const struct column *headed;

        if (headed != columns)
                table_heading(to, columns);
        headed = columns;
}

void output_rowf(const struct column *columns, const char *format, ...)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_free char *line = NULL;
        const char *cells[COLUMNS_MOST];
        va_list args;
        char *rest;

        add_heading_once(&b, columns);
        va_start(args, format);
        if (vasprintf(&line, format, args) < 0)
                line = copy_string("");
        va_end(args);
        rest = line;
        for (size_t i = 0; columns[i].name; i++)
                cells[i] = (columns[i + 1].name ? strsep(&rest, "\t") : rest) ?: "";
        add_row(&b, columns, cells);
        output_write(&b);
}

static const struct column remark[] = {{"", 1}, {0}};

void output_rows(const struct column *columns, const char *before, const char *text)
{
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                if (memchr(text, '\t', n) || !columns[1].name)
                        output_rowf(columns, "%s%s%.*s", before, *before ? "\t" : "", (int)n, text);
                else /* a remark */
                        output_rowf(remark, "%.*s", (int)n, text);
        }
}

void output_table(const struct column *columns, const char *text)
{
        const char *rows = strchr(text, '\n');

        output_rows(columns, "", out.output_terminal && rows ? rows + 1 : text);
}

/* -- objects ----------------------------------------------------------------------------------------------------- */

/* The text for a column: of the key with a dot before it, else of the key; free(). */
static char *cell_of(const struct column *c, const json_t *j)
{
        char key[40] = ".";
        const json_t *v;

        snprintf(key + 1, sizeof(key) - 1, "%.*s", (int)strcspn(c->key ?: c->name, " "), c->key ?: c->name);
        for (char *p = key; *p; p++)
                *p = (char)tolower((unsigned char)*p);
        v = json_object_get(j, key) ?: json_object_get(j, key + 1);
        if (json_is_integer(v))
                return format_string("%" JSON_INTEGER_FORMAT, json_integer_value(v));
        if (json_is_real(v))
                return format_string("%.6f", json_real_value(v));
        return copy_string(json_string_value(v) ?: "-");
}

/* Adds the object without the keys that are for rows alone. */
static void add_json(struct buffer *to, json_t *j)
{
        cleanup_free char *text = NULL;
        const char *key;
        json_t *v;
        void *next;

        json_object_foreach_safe(j, next, key, v)
                if (*key == '.')
                        json_object_del(j, key);
        text = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15)) : NULL;
        json_decref(j);
        if (text)
                buffer_addf(to, "%s\n", text);
        else
                to->failed = true;
}

void add_object(struct buffer *to, const struct column *columns, json_t *j)
{
        char *cells[COLUMNS_MOST];

        if (common.json || !j) {
                add_json(to, j);
                return;
        }
        for (size_t i = 0; columns[i].name; i++)
                cells[i] = cell_of(&columns[i], j);
        add_row(to, columns, (const char *const *)cells);
        for (size_t i = 0; columns[i].name; i++)
                free(cells[i]);
        json_decref(j);
}

void output_object(const struct column *columns, json_t *j)
{
        cleanup_buffer struct buffer b = {0};

        if (!common.json)
                add_heading_once(&b, columns);
        add_object(&b, columns, j);
        output_write(&b);
}

void output_json(json_t *j)
{
        cleanup_buffer struct buffer b = {0};

        add_json(&b, j);
        output_write(&b);
}

int output_end(int status)
{
        progress_clear();
        return out.output_error == 0 ? status : broken_output(out.output_error);
}

/* -- progress --------------------------------------------------------------------------------------------------- */

/* "3m 20s", for people. */
static void format_span(uint64_t ns, char ret[32])
{
        unsigned long long s = (ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;

        if (s < 60)
                snprintf(ret, 32, "%llus", s);
        else if (s < 3600)
                snprintf(ret, 32, "%llum %02llus", s / 60, s % 60);
        else if (s < 48 * 3600)
                snprintf(ret, 32, "%lluh %02llum", s / 3600, s % 3600 / 60);
        else
                snprintf(ret, 32, "%llu days", s / 86400);
}

/* "[######......] 12/240  " before and "about 3m 20s left" behind; `what` takes the room between. */
static void draw_locked(const char *what, uint64_t done, uint64_t total, const char *left)
{
        static const char full[] = "########################", empty[] = "........................", begin[] = "\r\033[K";
        cleanup_buffer struct buffer b = {0};
        const unsigned width = terminal_size(STDERR_FILENO).ws_col;
        const int cells = width >= 100 ? 24 : 12, filled = total > 0 ? (int)(MIN(done, total) * (unsigned)cells / total) : 0;
        unsigned used;

        buffer_adds(&b, begin);
        if (total > 0)
                buffer_addf(&b, "[%.*s%.*s] %" PRIu64 "/%" PRIu64 "  ", filled, full, cells - filled, empty, done, total);
        used = (unsigned)(b.size - strlen(begin) + strlen(left) + 2);
        for (const char *p = what; *p && used + 1 < width; p++) {
                buffer_add(&b, p, 1);
                used += ((unsigned char)p[1] & 0xc0) != 0x80;
        }
        if (*left && used < width)
                buffer_addf(&b, "  %s", left);
        lost_output();
        (void)!write(STDERR_FILENO, b.data, b.size);
        out.drawn = true;
}

/* "about 3m 20s left" when the two are close, "2m 10s to 5m 00s left", "at most 20s left", or "" when nothing is known; for people. */
static void format_left(uint64_t least, uint64_t most, char ret[80])
{
        char from[32], to[32];

        ret[0] = '\0';
        if (most == 0)
                return;
        most = MAX(most, NSEC_PER_SEC);
        format_span(least, from);
        format_span(most, to);
        if (least < NSEC_PER_SEC)
                snprintf(ret, 80, "at most %s left", to);
        else if (most - least <= most / 5) {
                format_span((least + most) / 2, to);
                snprintf(ret, 80, "about %s left", to);
        } else
                snprintf(ret, 80, "%s to %s left", from, to);
}

void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t least, uint64_t most)
{
        cleanup_free char *shown = NULL;
        char left[80], counts[64] = "";
        uint64_t now = now_ns();
        bool is_due;

        if (out.quiet)
                return;
        format_left(least, most, left);
        shown = printable(what);
        pthread_mutex_lock(&out.lock);
        is_due = out.told > 0 && now - out.told >= (out.terminal ? BAR_EVERY : LINE_EVERY);
        if (is_due && out.terminal)
                draw_locked(shown, done, total, left);
        if (is_due || out.told == 0) /* short work shows nothing */
                out.told = now;
        pthread_mutex_unlock(&out.lock);
        if (total > 0)
                snprintf(counts, sizeof(counts), ": %" PRIu64 " of %" PRIu64, done, total);
        if (is_due && !out.terminal) /* not under the lock, which the stream takes */
                fprintf(stderr, "%s%s%s%s\n", shown, counts, *left ? ", " : "", left);
}

void progress_clear(void)
{
        cleanup_unlock pthread_mutex_t *held = hold(&out.lock);

        erase_locked();
}

void output_tell(void *user, const char *what, uint64_t done, uint64_t total)
{
        uint64_t now = now_ns(), left = 0;

        pthread_mutex_lock(&out.lock);
        if (strncmp(out.work, what, sizeof(out.work) - 1) != 0) {
                snprintf(out.work, sizeof(out.work), "%s", what);
                out.begun = now;
        }
        if (done > 0 && done < total && now - out.begun > NSEC_PER_SEC)
                left = (uint64_t)((double)(now - out.begun) / (double)done * (double)(total - done));
        pthread_mutex_unlock(&out.lock);
        progress_show(what, done, total, left, left);
}
