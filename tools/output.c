#include "output.h"

#include "cache/base/lost.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>

/* How often the bar is drawn, and how often a plain line tells how far it is. */
#define BAR_EVERY   (100 * NSEC_PER_MSEC)
#define LINE_EVERY  (10 * NSEC_PER_SEC)
#define PHASE_EVERY NSEC_PER_SEC

/* Tables on a terminal. */
#define COLUMNS_MOST 20
#define GAP           2
#define LAST_LEAST    8 /* of a last column that has no width of its own */
#define COMMIT_DIGITS 40
#define COMMIT_SHOWN  12

static struct {
        bool quiet, terminal;
        int output_error; /* errno of the first failed write to standard output */
        bool output_terminal, colour;

        pthread_mutex_t lock;
        bool drawn;          /* under lock: a bar stands on the terminal */
        uint64_t told;       /* under lock: when a bar or line was last written */
        char what[256];      /* under lock: of the last bar or line */
        uint64_t begun;      /* under lock: when output_progress first said `beginning` */
        char beginning[256]; /* under lock */
} out = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- standard error --------------------------------------------------------------------------------------------- */

static void erase_locked(void)
{
        if (out.drawn)
                (void)!write(STDERR_FILENO, "\r\033[K", 4);
        out.drawn = false;
}

/* All that goes to stderr (ours, of the log, of argp) goes through this: it takes the bar away first, and no name in it is an order to a terminal. */
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
        static char help[32 << 10]; /* a whole help: an error of a write before the last one leaves no errno behind */
        static char line[16 << 10]; /* so that no character of it is cut in two */
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
                               : LOG_LEVEL_DEBUG,
                NULL);
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

/* Beside the stream, which would show it as bytes. */
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

enum status status_of(int r)
{
        switch (-r) {
        case ENOENT:
        case ENOTUNIQ:
                return STATUS_ABSENT;
        case EPROTONOSUPPORT:
                return STATUS_FORMAT;
        case EAGAIN:
                return STATUS_BUSY;
        case EINTR:
        case ECANCELED:
                return STATUS_INTERRUPTED;
        case EPIPE:
                return STATUS_PIPE;
        case EKEYREJECTED:
                return STATUS_OTHER;
        case EACCES:
        case EBADMSG:
        case EIO:
        case EMFILE:
        case ENFILE:
        case ENODEV:
        case ENOMEM:
        case ENOSPC:
        case EPERM:
        case EROFS:
        case ESTALE:
        case ETIMEDOUT:
                return STATUS_SYSTEM;
        default:
                return STATUS_FAILED;
        }
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
        if (out.output_terminal)
                progress_clear();
        lost_output();
        r = b->failed ? -ENOMEM : write_all(STDOUT_FILENO, b->data, b->size);
        if (r < 0)
                out.output_error = -r;
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
                out.output_error = EPIPE; /* who has nothing to write would not be told */
        return ready && !output_broken();
}

/* Columns a string takes on a terminal, near enough: code points. */
static unsigned columns_of(const char *s)
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
                unsigned width = columns_of(word);
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

static unsigned width_of(const struct column *columns, size_t n, const bool *left_out)
{
        unsigned width = 0;

        for (size_t i = 0; i < n; i++)
                if (!left_out[i])
                        width += (i > 0 ? GAP : 0) + (columns[i].width > 0 ? columns[i].width : LAST_LEAST);
        return width;
}

/* Leaves out columns, all those of the highest rank first, until the others fit. */
static void choose_columns(const struct column *columns, size_t n, unsigned width, bool *left_out)
{
        while (width_of(columns, n, left_out) > width) {
                unsigned highest = 0;

                for (size_t i = 0; i < n; i++)
                        highest = left_out[i] ? highest : MAX(highest, columns[i].rank);
                if (highest == 0)
                        return;
                for (size_t i = 0; i < n; i++)
                        left_out[i] |= columns[i].rank == highest;
        }
}

/* The text as a terminal may have it, with each whole name of a commit cut to COMMIT_SHOWN digits; free(). */
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

/* What fits into so many columns; a text that does not ends with an ellipsis. */
static void add_within(struct buffer *to, const char *text, unsigned width)
{
        unsigned used = 0;

        if (columns_of(text) <= width) {
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

static void table_row_aligned(struct buffer *to, const struct column *columns, size_t n, const char *const *cells)
{
        const unsigned width = terminal_size(STDOUT_FILENO).ws_col;
        bool left_out[COLUMNS_MOST] = {0};
        unsigned at = 0;

        assert(n <= COLUMNS_MOST);
        choose_columns(columns, n, width, left_out);
        for (size_t i = 0; i < n; i++) {
                cleanup_free char *shown = shown_text(cells[i]);
                unsigned used, pad;

                if (left_out[i])
                        continue;
                if (at > 0)
                        buffer_addf(to, "%*s", GAP, "");
                at += at > 0 ? GAP : 0;
                used = columns_of(shown);
                pad = used < columns[i].width ? columns[i].width - used : 0;
                if (columns[i].right)
                        buffer_addf(to, "%*s", (int)pad, "");
                if (i + 1 == n && columns[i].width == 0 && at + LAST_LEAST <= width)
                        add_within(to, shown, width - at);
                else
                        buffer_adds(to, shown);
                if (!columns[i].right && i + 1 < n)
                        buffer_addf(to, "%*s", (int)pad, "");
                at += used + pad;
        }
        buffer_adds(to, "\n");
}

void table_row(struct buffer *to, const struct column *columns, size_t n, const char *const *cells)
{
        if (out.output_terminal) {
                table_row_aligned(to, columns, n, cells);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                buffer_adds(to, i > 0 ? "\t" : "");
                buffer_add_safe(to, cells[i], strlen(cells[i]));
        }
        buffer_adds(to, "\n");
}

void table_heading(struct buffer *to, const struct column *columns, size_t n)
{
        const char *names[COLUMNS_MOST];

        assert(n <= COLUMNS_MOST);
        if (!out.output_terminal)
                return;
        for (size_t i = 0; i < n; i++)
                names[i] = columns[i].name;
        table_row(to, columns, n, names);
}

void output_rowf(const struct column *columns, size_t n, const char *format, ...)
{
        static const struct column *headed;
        cleanup_buffer struct buffer b = {0};
        cleanup_free char *line = NULL;
        const char *cells[COLUMNS_MOST];
        va_list args;
        char *rest;

        if (headed != columns && *columns[0].name)
                table_heading(&b, columns, n);
        headed = columns;
        va_start(args, format);
        if (vasprintf(&line, format, args) < 0)
                line = copy_string("");
        va_end(args);
        rest = line;
        for (size_t i = 0; i < n; i++)
                cells[i] = (i + 1 < n ? strsep(&rest, "\t") : rest) ?: "";
        table_row(&b, columns, n, cells);
        output_write(&b);
}

/* -- whole tables ------------------------------------------------------------------------------------------------ */

/* Takes the next line off *text, which is cut up, and its tab-separated cells; how many there are. */
static size_t table_cells(char **text, const char **cells, size_t most)
{
        char *line = strsep(text, "\n");
        size_t n = 0;

        while (line && n < most)
                cells[n++] = strsep(&line, "\t");
        return n;
}

static bool is_number(const char *text)
{
        return text[strspn(text, "0123456789.-+e")] == '\0';
}

/* A column is as wide as its widest cell, and at the right where all below the heading are numbers. A line of one cell is a remark. */
static void measure_columns(const char *text, struct column columns[COLUMNS_MOST])
{
        cleanup_free char *copy = copy_string(text);
        const char *cells[COLUMNS_MOST];
        char *rest = copy;

        for (size_t line = 0; rest && *rest; line++) {
                size_t n = table_cells(&rest, cells, COLUMNS_MOST);

                for (size_t i = 0; n > 1 && i < n; i++) {
                        cleanup_free char *shown = shown_text(cells[i]);

                        columns[i].name = "";
                        columns[i].width = MAX(columns[i].width, columns_of(shown));
                        columns[i].right = line == 0 || (columns[i].right && is_number(cells[i]));
                }
        }
}

void output_table(const char *text)
{
        struct column columns[COLUMNS_MOST] = {0};
        cleanup_buffer struct buffer b = {0};
        cleanup_free char *copy = NULL;
        char *rest;

        buffer_add_safe(&b, text, strlen(text));
        if (!out.output_terminal || b.failed) {
                output_write(&b);
                return;
        }
        measure_columns(b.data, columns);
        rest = copy = steal_pointer(b.data);
        b = (struct buffer){0};
        while (rest && *rest) {
                const char *cells[COLUMNS_MOST];
                size_t n = table_cells(&rest, cells, COLUMNS_MOST);

                if (n > 1)
                        table_row(&b, columns, n, cells);
                else
                        buffer_addf(&b, "%s\n", cells[0]);
        }
        output_write(&b);
}

void json_row(struct buffer *to, json_t *j)
{
        cleanup_free char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

        json_decref(j);
        if (text)
                buffer_addf(to, "%s\n", text);
        else
                to->failed = true;
}

void output_json(json_t *j)
{
        cleanup_buffer struct buffer b = {0};

        json_row(&b, j);
        output_write(&b);
}

int output_end(int status)
{
        progress_clear();
        return out.output_error == 0 ? status : broken_output(out.output_error);
}

char *printable(const char *name)
{
        struct buffer b = {0};

        buffer_add_printable(&b, name);
        return b.data;
}

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

/* -- progress --------------------------------------------------------------------------------------------------- */

/* "[######......] 12/240  " before and "about 3m 20s left" behind; `what` takes the room between. */
static void draw_locked(const char *what, uint64_t done, uint64_t total, const char *left)
{
        cleanup_buffer struct buffer b = {0};
        unsigned width = terminal_size(STDERR_FILENO).ws_col, used = 0;
        const unsigned cells = width >= 100 ? 24 : 12;

        buffer_adds(&b, "\r\033[K");
        if (total > 0) {
                unsigned full = (unsigned)(MIN(done, total) * cells / total);
                char counts[64];

                buffer_adds(&b, "[");
                for (unsigned i = 0; i < cells; i++)
                        buffer_adds(&b, i < full ? "#" : ".");
                snprintf(counts, sizeof(counts), "] %llu/%llu  ", (unsigned long long)done, (unsigned long long)total);
                buffer_adds(&b, counts);
                used = 1 + cells + (unsigned)strlen(counts);
        }
        used += (unsigned)strlen(left) + 2;
        for (const char *p = what; *p && used + 1 < width; p++) {
                buffer_add(&b, p, 1);
                used += ((unsigned char)p[1] & 0xc0) != 0x80;
        }
        if (*left && used < width)
                buffer_addf(&b, "  %s", left);
        lost_output();
        if (!b.failed)
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

/* Counts that move are no other phase. */
static bool same_but_for_numbers(const char *a, const char *b)
{
        static const char digits[] = "0123456789";

        for (;; a++, b++) {
                a += strspn(a, digits);
                b += strspn(b, digits);
                if (*a != *b)
                        return false;
                if (*a == '\0')
                        return true;
        }
}

void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t least, uint64_t most)
{
        cleanup_free char *shown = NULL;
        char text[80], counts[64] = "", phase[sizeof(out.what)];
        uint64_t now = now_ns();
        bool is_new, is_due = false;

        if (out.quiet)
                return;
        format_left(least, most, text);
        shown = printable(what);
        snprintf(phase, sizeof(phase), "%s", shown);
        pthread_mutex_lock(&out.lock);
        is_new = !same_but_for_numbers(out.what, phase);
        if (out.told == 0) {
                out.told = now; /* what is over at once shows nothing */
        } else if (out.terminal && now - out.told >= BAR_EVERY) {
                draw_locked(shown, done, total, text);
                out.told = now;
        } else if (!out.terminal && now - out.told >= (is_new ? PHASE_EVERY : LINE_EVERY)) {
                is_due = true;
                out.told = now;
                strcpy(out.what, phase);
        }
        pthread_mutex_unlock(&out.lock);
        if (total > 0)
                snprintf(counts, sizeof(counts), ": %llu of %llu", (unsigned long long)done, (unsigned long long)total);
        if (is_due) /* without the lock: the stream takes it */
                fprintf(stderr, "%s%s%s%s\n", shown, counts, *text ? ", " : "", text);
}

void progress_clear(void)
{
        pthread_mutex_lock(&out.lock);
        erase_locked();
        pthread_mutex_unlock(&out.lock);
}

void output_tell(void *user, const char *what, uint64_t done, uint64_t total)
{
        uint64_t now = now_ns(), left = 0;

        pthread_mutex_lock(&out.lock);
        if (strncmp(out.beginning, what, sizeof(out.beginning) - 1) != 0) {
                snprintf(out.beginning, sizeof(out.beginning), "%s", what);
                out.begun = now;
        }
        if (done > 0 && done < total && now - out.begun > NSEC_PER_SEC)
                left = (uint64_t)((double)(now - out.begun) / (double)done * (double)(total - done));
        pthread_mutex_unlock(&out.lock);
        progress_show(what, done, total, left, left);
}
