/* The output of a command, and its exit status. Results go to standard output, for cut and awk; notes, progress and complaints go to standard
 * error.
 *
 * Progress is a bar with an estimate when standard error is a terminal, and a plain line now and then when it is not.
 * Threads: the progress functions may be called from any thread; the rest is the main thread's. */
#pragma once

#include <inttypes.h>

#include "cache/base/json.h"

/* Exit statuses; documented in --help and in solverfs(1). */
enum status {
        STATUS_OK = 0,
        STATUS_FAILED = 1, /* a build failed, an answer was wrong, damage was found */
        STATUS_USAGE = 2,
        STATUS_ABSENT = 3, /* no store, or no such solver, case or revision in it */
        STATUS_SYSTEM = 4, /* the store, the disk or this machine failed */
        STATUS_FORMAT = 5, /* the store is of another version of solverfs */
        STATUS_ALARM = 6,  /* `watch --once` reported an alarm */
        STATUS_OTHER = 7,  /* a campaign cannot continue with inputs other than those it began with */
        STATUS_LOST = 8,   /* its memory was damaged after it had printed something (cache/base/lost.h) */
        STATUS_BUSY = 75,  /* no core, or no place in the queue, got free in time; try again later (EX_TEMPFAIL of sysexits.h) */
        STATUS_INTERRUPTED = 130,
        STATUS_PIPE = 141, /* standard output was closed */
};

void output_setup(void);                         /* call once, first */
void output_quiet(bool quiet, unsigned verbose); /* -q, -v */

void note(const char *format, ...) printf_like(1, 2);       /* not with -q */
void complain(const char *format, ...) printf_like(1, 2);   /* always, behind "solverfs: " */
__attribute__((format(printf, 1, 0))) void vcomplain(const char *format, va_list args);
void alarm_line(const char *format, ...) printf_like(1, 2); /* the same, red on a terminal: must not be overlooked */
const char *plural(uint64_t n);                             /* "" for one, else "s" */

enum status status_of(int r); /* for a -errno */
enum status status_of_value(int r); /* for a value that could not be computed */
int fail(int r);              /* complains with error_message(r); returns status_of(r) */
int fail_as(enum status status, int r);
int fail_usage(int r); /* the same for the user's request: -EINVAL, -EEXIST and -EXDEV are wrong usage */

/* -- results ---------------------------------------------------------------------------------------------------- */

/* Rows: tab-separated without a heading; on a terminal, aligned below one. There commits are shortened, the last column ends at the terminal's edge,
 * and a terminal too narrow for all columns shows the most important ones. A list of columns ends with {0}. */
struct column {
        const char *name;
        unsigned width; /* on a terminal; 0: as needed (the last) */
        bool right;
        unsigned rank; /* columns of the highest rank are left out first; 0: always shown */
        const char *key; /* of the cell in an object; NULL: the column's name in lower case, up to a blank */
};
/* Prints an object: with --json on a line, else as a row of texts, numbers, real numbers with six decimals, and "-" for null and missing keys. A key that
 * begins with a dot is only for the row, where ".time" precedes "time". Takes the reference. Unsigned 64-bit numbers may be packed by "I". */
void output_object(const struct column *columns, json_t *j);
void add_object(struct buffer *to, const struct column *columns, json_t *j); /* adds the same to a buffer, without a heading */
/* Prints a row from a format with tabs between the cells: "%u\t%s". A cell that may contain a tab must be printable() or the last, which takes the rest.
 * Prints the heading first if the columns differ from the previous row's. */
void output_rowf(const struct column *columns, const char *format, ...) printf_like(2, 3);
/* Prints the rows of a tab-separated text, each preceded by the cell `before` unless it is "". A line without a tab is a remark, printed alone. */
void output_rows(const struct column *columns, const char *before, const char *text);
/* The same for a text whose first line names the columns. A terminal gets the table's own heading instead of that line. */
void output_table(const struct column *columns, const char *text);
void table_heading(struct buffer *to, const struct column *columns); /* adds nothing unless standard output is a terminal */
void output_json(json_t *j);               /* an object on a line of its own; takes the reference */
void output_write(const struct buffer *b); /* to standard output; an error is kept for output_end() */
void output_bytes(const char *text);       /* the same for a text */
void output_text(const char *text);        /* and a newline; a terminal gets it wrapped, with further lines indented */
unsigned output_lines(void);               /* of the terminal; UINT_MAX: standard output is not a terminal */
bool output_broken(void);                  /* nothing more can be printed */
bool output_has_room(void);                /* PIPE_BUF bytes can be printed without waiting for the reader */
/* The exit status of the process: `status`, unless standard output could not be written. */
int output_end(int status);

/* -- progress --------------------------------------------------------------------------------------------------- */

/* Shows progress: `done` of `total` (0: unknown), `least` to `most` ns left (`most` 0: unknown). Cheap: call it as often as you like. */
void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t least, uint64_t most);
void progress_clear(void); /* removes the bar from the terminal; all output does so first, and the end of the process */
/* For core's functions (struct progress): estimates the rest from the rate so far. */
void output_tell(void *user, const char *what, uint64_t done, uint64_t total);
