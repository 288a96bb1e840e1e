#include "build_failure.h"

#define LINES_BEFORE 2 /* "In file included from", "In function" */
#define LINES_BEHIND 8
#define LINES_AT_END 20
#define BYTES_MOST   16384 /* of each of the two */

static bool has_any(struct slice text, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (memmem(text.data, text.size, words[i], strlen(words[i])))
                        return true;
        return false;
}

/* True if the line reports an error of a compiler, linker, assembler, CMake, meson, ninja, Python or the shell. Lines "+ COMMAND" are our own. */
static bool tells_error(struct slice line)
{
        static const char *const words[] = {"error: ", "Error: ", "ERROR: ", "FAILED: ", "CMake Error", "undefined reference to ",
                                            "multiple definition of ", "cannot find -l", ": not found"};

        return (line.size < 2 || memcmp(line.data, "+ ", 2) != 0) && has_any(line, words, ARRAY_SIZE(words));
}

static const char *next_line(const char *at, const char *end)
{
        const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

        return newline ? newline + 1 : end;
}

/* `error` begins LINES_BEFORE the first line that tells_error() and ends LINES_BEHIND it; it is looked for before `end` only. */
struct build_failure build_failure_of(struct slice log)
{
        struct build_failure f = {.end = slice_last_lines(log, LINES_AT_END, BYTES_MOST)};
        const char *begin = log.data, *end = f.end.data, *next;

        for (const char *at = begin; at < end && f.error.size == 0; at = next) {
                next = next_line(at, end);
                if (!tells_error(SLICE(at, (size_t)(next - at))))
                        continue;
                f.error = slice_last_lines(SLICE(begin, (size_t)(at - begin)), LINES_BEFORE, BYTES_MOST / 2);
                for (unsigned i = 0; i < LINES_BEHIND; i++)
                        next = next_line(next, end);
                f.error.size = MIN((size_t)(next - (const char *)f.error.data), BYTES_MOST);
        }
        f.whole = (f.error.size > 0 ? f.error.data : f.end.data) == log.data;
        return f;
}

void build_failure_text(const struct build_failure *f, struct buffer *ret)
{
        const char *error = f->error.data, *end = f->end.data;
        bool meets = f->error.size > 0 && error + f->error.size == end;

        buffer_addf(ret, "%s%.*s%s%.*s", f->whole ? "" : "...\n", (int)f->error.size, error, f->error.size == 0 || meets ? "" : "...\n",
                    (int)f->end.size, end);
}

void build_failure_show(uint32_t commit)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_buffer struct buffer text = {0};
        struct build_failure f;

        if (build_find(common.workspace, common.solver, commit, WITH_LOG, &record) < 0)
                return;
        f = build_failure_of(SLICE(record->log.data, record->log.size));
        build_failure_text(&f, &text);
        note("%s", text.data);
}

/* Makes a path of a log the name that a recipe would have: relative to the root of the sources, which is /build in the sandbox, and without a dot or
 * slash at its end. False: it is outside of the sources, or too long. */
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

bool build_failure_absent(const char *text, bool (*fn)(void *user, const char *name), void *user)
{
        static const char *const absent[] = {"No such file", "not exist", "not an existing", "not found", "annot find", "annot open"};
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";
        cleanup_free char *copy = copy_string(text);
        char *rest = copy, name[PATH_SIZE];

        for (char *line; (line = strsep(&rest, "\n"));) {
                bool is_wanted = has_any(slice_string(line), absent, ARRAY_SIZE(absent)); /* the line reports a missing file */

                for (size_t n; is_wanted && *line; line += n + (line[n] != '\0')) {
                        n = strspn(line, letters);
                        if (n > 0 && take_name(line, n, name) && fn(user, name))
                                return true;
                }
        }
        return false;
}
