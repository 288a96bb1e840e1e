#include "build_failure.h"

#include <ctype.h>

#define LINES_BEFORE 2 /* "In file included from", "In function" */
#define LINES_BEHIND 8
#define LINES_AT_END 20
#define BYTES_MOST   16384 /* of each of the two */

static bool has_any(struct slice text, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (text.size > 0 && memmem(text.data, text.size, words[i], strlen(words[i])))
                        return true;
        return false;
}

/* The words of compilers, linkers, assemblers, CMake, meson, ninja, Python and the shell. Lines "+ COMMAND" are our own. */
static bool tells_error(struct slice line)
{
        static const char *const words[] = {"error: ",          "Error: ",        "ERROR: ",        "FAILED: ",    "CMake Error", "undefined reference to ",
                                            "multiple definition of ", "cannot find -l", ": not found"};

        if (line.size >= 2 && memcmp(line.data, "+ ", 2) == 0)
                return false;
        return has_any(line, words, ARRAY_SIZE(words));
}

static const char *next_line(const char *at, const char *end)
{
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        return newline ? newline + 1 : end;
}

/* The first line with an error, or `end`. */
static const char *find_error(const char *at, const char *end)
{
        while (at < end) {
                const char *next = next_line(at, end);

                if (tells_error(SLICE(at, (size_t)(next - at))))
                        return at;
                at = next;
        }
        return end;
}

static struct slice with_neighbours(const char *begin, const char *error, const char *end)
{
        struct slice before = slice_last_lines(SLICE(begin, (size_t)(error - begin)), LINES_BEFORE, BYTES_MOST / 2);
        const char *from = before.data, *to = error;

        for (unsigned i = 0; i <= LINES_BEHIND; i++)
                to = next_line(to, end);
        return SLICE(from, MIN((size_t)(to - from), BYTES_MOST));
}

struct build_failure build_failure_of(struct slice log)
{
        struct build_failure f = {.end = slice_last_lines(log, LINES_AT_END, BYTES_MOST)};
        const char *begin = log.data, *end = f.end.data, *error = find_error(begin, end);

        if (error < end)
                f.error = with_neighbours(begin, error, end);
        f.whole = (error < end ? f.error.data : f.end.data) == log.data;
        return f;
}

bool build_failure_says(const struct build_failure *f, const char *words)
{
        return has_any(f->error, &words, 1) || has_any(f->end, &words, 1);
}

void build_failure_text(const struct build_failure *f, struct buffer *ret)
{
        const char *error = f->error.data, *end = f->end.data;
        bool meets = f->error.size > 0 && error + f->error.size == end;

        buffer_addf(ret, "%s%.*s%s%.*s", f->whole ? "" : "...\n", (int)f->error.size, error, f->error.size == 0 || meets ? "" : "...\n", (int)f->end.size, end);
}

void build_failure_show(const struct build_failure *f)
{
        cleanup_buffer struct buffer text = {0};

        build_failure_text(f, &text);
        note("%s", text.data);
}

/* -- names of files --------------------------------------------------------------------------------------------- */

/* Does the line say that a file is missing? */
static bool tells_absence(struct slice line)
{
        static const char *const words[] = {"No such file", "not exist", "not an existing", "not found", "annot find", "annot open"};

        return has_any(line, words, ARRAY_SIZE(words));
}

static size_t name_length(const char *at, const char *end)
{
        const char *p = at;

        while (p < end && (isalnum((unsigned char)*p) || strchr("._/+-", *p)))
                p++;
        return (size_t)(p - at);
}

/* A name as a recipe has it: relative to the root of the checkout, without the dot or slash at its end. */
static bool take_name(const char *at, size_t length, char ret[PATH_SIZE])
{
        static const char root[] = "/build/";
        size_t skip = length > strlen(root) && memcmp(at, root, strlen(root)) == 0 ? strlen(root) : length > 2 && memcmp(at, "./", 2) == 0 ? 2 : 0;

        at += skip;
        length -= skip;
        while (length > 0 && strchr("./", at[length - 1]))
                length--;
        return length > 0 && at[0] != '/' && snprintf(ret, PATH_SIZE, "%.*s", (int)MIN(length, PATH_SIZE), at) < PATH_SIZE;
}

static bool names_of_line(const char *at, const char *end, bool (*fn)(void *user, const char *name), void *user)
{
        char name[PATH_SIZE];

        while (at < end) {
                size_t length = name_length(at, end);

                if (length > 0 && take_name(at, length, name) && fn(user, name))
                        return true;
                at += length + 1;
        }
        return false;
}

static bool names_of(struct slice text, bool (*fn)(void *user, const char *name), void *user)
{
        const char *at = text.data, *end = at + text.size;
        bool found = false;

        while (!found && at < end) {
                const char *next = next_line(at, end);

                found = tells_absence(SLICE(at, (size_t)(next - at))) && names_of_line(at, next, fn, user);
                at = next;
        }
        return found;
}

bool build_failure_absent(const struct build_failure *f, bool (*fn)(void *user, const char *name), void *user)
{
        return names_of(f->error, fn, user) || names_of(f->end, fn, user);
}
