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
        STATUS_FAILED = 1, /* what was asked for failed: a build, a wrong answer, damage found */
        STATUS_USAGE = 2,
        STATUS_ABSENT = 3, /* no store, or no such solver, case or revision in it */
        STATUS_SYSTEM = 4, /* the store, the disk or this machine failed */
        STATUS_FORMAT = 5, /* the store is of another version of solverfs */
        STATUS_ALARM = 6,  /* `watch --once` told of an alarm */
        STATUS_OTHER = 7,  /* a campaign cannot go on with other inputs than it began with */
        STATUS_LOST = 8,   /* its memory was damaged when it had printed something (cache/base/lost.h) */
        STATUS_BUSY = 75,  /* no core, or no room in the queue, was free in time; it may be another time (EX_TEMPFAIL of sysexits.h) */
        STATUS_INTERRUPTED = 130,
        STATUS_PIPE = 141, /* standard output was closed */
};

void output_setup(void);                         /* once, first */
void output_quiet(bool quiet, unsigned verbose); /* as the options say */

void note(const char *format, ...) printf_like(1, 2);       /* not with -q */
void complain(const char *format, ...) printf_like(1, 2);   /* always, behind "solverfs: " */
__attribute__((format(printf, 1, 0))) void vcomplain(const char *format, va_list args);
void alarm_line(const char *format, ...) printf_like(1, 2); /* the same, red on a terminal: for what must not be overlooked */
const char *plural(uint64_t n);                             /* "" for one, else "s" */

enum status status_of(int r); /* of a -errno */
enum status status_of_value(int r); /* of a value that could not be computed */
int fail(int r);              /* complains with error_message(r); status_of(r) */
int fail_as(enum status status, int r);
int fail_usage(int r); /* fail(); of what the user asked for, so that -EINVAL, -EEXIST and -EXDEV are wrong usage */

/* -- results ---------------------------------------------------------------------------------------------------- */

/* Rows: tab-separated and bare, or aligned below a heading when standard output is a terminal. There a commit is shortened to what names it,
 * the last column ends at the terminal's edge, and a terminal too narrow for all columns shows those that matter most. A list of columns ends with {0}. */
struct column {
        const char *name;
        unsigned width; /* on a terminal; 0: as it comes (the last) */
        bool right;
        unsigned rank; /* columns of the highest rank are left out first; 0: always shown */
        const char *key; /* of the object that has its cells; NULL: its name in lower case, up to a blank */
};
/* An object, on a line of its own with --json, else as a row: a text, a number, a real number with six decimals, "-" for null and for what is not there. A
 * key that begins with a dot is for the row alone: ".time" comes before "time" there. Takes the reference. Numbers of 64 bits may be packed by "I" as they
 * are. */
void output_object(const struct column *columns, json_t *j);
void add_object(struct buffer *to, const struct column *columns, json_t *j); /* without a heading */
/* Prints a row of cells that a format makes, a tab between two of them: "%u\t%s". What could have a tab in it is printable(), or the last, which has
 * all that is left. A heading precedes it when the columns are others than before. */
void output_rowf(const struct column *columns, const char *format, ...) printf_like(2, 3);
/* The rows of a tab-separated text, with `before` as a cell in front of each where it is not ""; a line without a tab is a remark. */
void output_rows(const struct column *columns, const char *before, const char *text);
/* The same of a text whose first line names the columns; it is printed but on a terminal, where the table has a heading of its own. */
void output_table(const struct column *columns, const char *text);
void table_heading(struct buffer *to, const struct column *columns); /* nothing unless on a terminal */
void output_json(json_t *j);               /* an object on a line of its own; takes the reference */
void output_write(const struct buffer *b); /* to standard output; an error is kept for output_end() */
void output_bytes(const char *text);       /* the same of a text as it is */
void output_text(const char *text);        /* and a new line; on a terminal broken between words, the next lines indented */
unsigned output_lines(void);               /* of the terminal that standard output is; UINT_MAX where it is none */
bool output_broken(void);                  /* nothing more can be printed */
bool output_has_room(void);                /* PIPE_BUF bytes can be printed without waiting for whoever reads */
/* The status a process ends with: `status`, unless standard output could not be written. */
int output_end(int status);

/* -- progress --------------------------------------------------------------------------------------------------- */

/* Shows progress: `done` of `total` (0: unknown), `least` to `most` ns still (`most` 0: unknown). Cheap: call it as often as you like. */
void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t least, uint64_t most);
void progress_clear(void); /* takes the bar off the terminal */
/* For core's functions (struct progress): estimates from how far it came in how long. */
void output_tell(void *user, const char *what, uint64_t done, uint64_t total);
