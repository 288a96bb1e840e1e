#include "core/why/diverge/functions.h"

#include <ctype.h>

#include "core/git/paths.h"
#include "core/history/history.h"

#define HEADER_LINES 12 /* of parameters, up to the brace */

/* -- the function of a line ---------------------------------------------------------------------------------------- */

static struct slice trimmed(struct slice line)
{
        const char *p = line.data;

        while (line.size > 0 && isspace((unsigned char)*p)) {
                p++;
                line.size--;
        }
        while (line.size > 0 && isspace((unsigned char)p[line.size - 1]))
                line.size--;
        return SLICE(p, line.size);
}

/* The name before the first parenthesis of a line that may begin a function; empty: it does not. */
static struct slice header_name(struct slice line)
{
        static const char *const others[] = {"if", "for", "while", "switch", "return", "catch", "sizeof", "defined", "assert"};
        struct slice text = trimmed(line), none = {0};
        const char *p = text.data, *parenthesis, *end;

        while (text.size > 13 && memcmp(p, "__attribute__", 13) == 0 && (end = memmem(p, text.size, "))", 2))) {
                text = trimmed(SLICE(end + 2, text.size - (size_t)(end + 2 - p)));
                p = text.data;
        }
        parenthesis = end = memchr(p, '(', text.size);
        if (!parenthesis || !(isalpha((unsigned char)*p) || *p == '_' || *p == '~') || memchr(p, '=', (size_t)(end - p)))
                return none;
        while (end > p && end[-1] == ' ')
                end--;
        for (p = end; p > (const char *)text.data && (isalnum((unsigned char)p[-1]) || strchr("_~:", p[-1]));)
                p--;
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if ((size_t)(end - p) == strlen(others[i]) && memcmp(p, others[i], strlen(others[i])) == 0)
                        return none;
        return SLICE(p, (size_t)(end - p));
}

/* True if a brace comes before the next semicolon. `p`: the beginning of the line. */
static bool has_body(const char *p, const char *end)
{
        for (unsigned i = 0; i < HEADER_LINES && p < end; i++) {
                const char *newline = memchr(p, '\n', (size_t)(end - p));
                struct slice line = trimmed(SLICE(p, (size_t)((newline ?: end) - p)));
                const char *last = (const char *)line.data + line.size - 1;

                if (line.size > 0 && (*last == '{' || *last == ';' || *last == '}'))
                        return *last == '{';
                if (!newline)
                        break;
                p = newline + 1;
        }
        return false;
}

static size_t indentation(const char *p, const char *end)
{
        const char *from = p;

        while (p < end && (*p == ' ' || *p == '\t'))
                p++;
        return p == end || *p == '\n' || *p == '\r' ? SIZE_MAX : (size_t)(p - from); /* empty lines have no indentation */
}

char *function_at(struct slice text, unsigned line)
{
        const char *const begin = text.data, *const end = begin + text.size, *p = begin, *newline;
        size_t least = SIZE_MAX;
        const char *first;

        for (unsigned i = 1; i < line && p < end && (newline = memchr(p, '\n', (size_t)(end - p))); i++)
                p = newline + 1;
        for (first = p;;) {
                const size_t here = indentation(p, end);

                if (here < least) { /* never of an empty line */
                        struct slice name;

                        newline = memchr(p, '\n', (size_t)(end - p));
                        name = header_name(SLICE(p, (size_t)((newline ?: end) - p)));
                        if (name.size > 0 && has_body(p, end))
                                return copy_prefix(name.data, name.size);
                        /* labels and preprocessor lines may be at the margin anywhere, and a brace on the line below its function's name */
                        if (*p != '#' && !isalpha((unsigned char)*p) && p[here] != '{')
                                least = p == first && p[here] == '}' ? here + 1 : here; /* a closing brace ends what began at its column */
                        if (*p == '}' && p != first) /* after the end of a function */
                                return copy_string("");
                }
                if (p == begin)
                        return copy_string("");
                for (p--; p > begin && p[-1] != '\n'; p--)
                        ;
        }
}

/* -- what a commit changed ------------------------------------------------------------------------------------------ */

struct changing {
        struct changed_functions *to;
        char *const *paths;
};

static struct changed_function *put(struct changed_functions *to, const char *file, const char *name)
{
        for (size_t i = 0; i < to->n; i++)
                if (strcmp(to->list[i].file, file) == 0 && strcmp(to->list[i].name, name) == 0)
                        return &to->list[i];
        list_grow(to->list, to->n);
        to->list[to->n] = (struct changed_function){.file = copy_string(file), .name = copy_string(name)};
        return &to->list[to->n++];
}

static int add_hunk(void *user, const struct commit_hunk *h)
{
        struct changing *c = user;

        if (!paths_have(c->paths, h->path))
                return 0;
        for (int side = 0; side < 2; side++)
                for (unsigned i = 0; i < h->n[side]; i++) {
                        cleanup_free char *name = function_at(h->text[side], h->line[side] + i);
                        struct changed_function *f = put(c->to, h->path, name);

                        f->removed += side == 0;
                        f->added += side == 1;
                }
        return 0;
}

int changed_functions(struct history *h, uint32_t commit, char *const *paths, struct changed_functions *ret)
{
        return history_hunks(h, commit, add_hunk, &(struct changing){ret, paths});
}

void changed_functions_done(struct changed_functions *c)
{
        for (size_t i = 0; i < c->n; i++) {
                free(c->list[i].file);
                free(c->list[i].name);
        }
        free(c->list);
        *c = (struct changed_functions){0};
}
