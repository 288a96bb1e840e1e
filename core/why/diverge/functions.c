#include "core/why/diverge/functions.h"

#include <ctype.h>

#include "core/git/paths.h"
#include "core/history/history.h"
#include "core/smtlib/token.h"

#define HEADER_LINES 12  /* of parameters, up to the brace */
#define INDENTATIONS 100 /* of lines that are remembered */

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

/* The text behind the parenthesis that closes this one; empty if the line has none. */
static struct slice behind_parentheses(struct slice line, const char *p)
{
        const char *const end = (const char *)line.data + line.size;
        unsigned depth = 0;

        do
                depth += *p == '(' ? 1 : *p == ')' ? -1U : 0;
        while (++p < end && depth > 0);
        return SLICE(p, (size_t)(end - p));
}

static bool is_in(struct slice word, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (text_is(word, list[i]))
                        return true;
        return false;
}

/* The name before the first parenthesis of a line that may begin a function; empty: it does not. */
static struct slice header_name(struct slice line)
{
        static const char *const statements[] = {"if", "for", "while", "switch", "return", "catch", "sizeof", "defined", "assert"};
        static const char *const specifiers[] = {"__attribute__", "__declspec", "alignas"};
        struct slice text = trimmed(line), name = {0}, none = {0};
        const char *p = text.data, *parenthesis, *end;

        if (text.size == 0 || !(isalpha((unsigned char)*p) || *p == '_' || *p == '~'))
                return none;
        for (;; text = behind_parentheses(text, parenthesis)) {
                parenthesis = end = memchr(text.data, '(', text.size);
                if (!end || memchr(text.data, '=', (size_t)(end - (const char *)text.data)))
                        return none;
                while (end > (const char *)text.data && end[-1] == ' ')
                        end--;
                for (p = end; p > (const char *)text.data && (isalnum((unsigned char)p[-1]) || strchr("_~:", p[-1]));)
                        p--;
                name = SLICE(p, (size_t)(end - p));
                if (!is_in(name, specifiers, ARRAY_SIZE(specifiers)))
                        return is_in(name, statements, ARRAY_SIZE(statements)) ? none : name;
        }
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

/* The name that was found for the last line of each indentation. A walk from below that comes by it in the same state finds the same name. */
struct walked {
        const char *line;
        struct slice name;
};

/* The name of the function of a line, which begins at `first`; empty: none. `known` is of the same text. The walk goes up; only a line that is indented
 * less than all below it (`least`) may begin the function. */
static struct slice name_at(struct slice text, const char *first, struct walked known[INDENTATIONS])
{
        const char *const begin = text.data, *const end = begin + text.size, *p = first, *newline;
        size_t least = SIZE_MAX, own = SIZE_MAX;
        struct slice name = SLICE("", 0);

        for (;;) {
                const size_t here = indentation(p, end);

                if (here < least) { /* never of an empty line */
                        newline = memchr(p, '\n', (size_t)(end - p));
                        name = header_name(SLICE(p, (size_t)((newline ?: end) - p)));
                        if (name.size > 0 && has_body(p, end))
                                break;
                        name = SLICE("", 0);
                        /* labels and preprocessor lines may be at the margin anywhere, and a brace on the line below its function's name */
                        if (*p != '#' && !isalpha((unsigned char)*p) && p[here] != '{')
                                least = p == first && p[here] == '}' ? here + 1 : here; /* a closing brace ends what began at its column */
                        if (*p == '}' && p != first) /* after the end of a function */
                                break;
                }
                if (p == first)
                        own = least;
                else if (least < INDENTATIONS && known[least].line == p) {
                        name = known[least].name;
                        break;
                }
                if (p == begin)
                        break;
                for (p--; p > begin && p[-1] != '\n'; p--)
                        ;
        }
        if (own < INDENTATIONS)
                known[own] = (struct walked){first, name};
        return name;
}

/* Where the line after the n next ones begins, or the last one. */
static const char *go_down(struct slice text, const char *p, unsigned n)
{
        const char *const end = (const char *)text.data + text.size, *newline;

        for (; n > 0 && p < end && (newline = memchr(p, '\n', (size_t)(end - p))); n--)
                p = newline + 1;
        return p;
}

char *function_at(struct slice text, unsigned line)
{
        struct walked known[INDENTATIONS] = {0};
        const struct slice name = name_at(text, go_down(text, text.data, MAX(line, 1U) - 1), known);

        return copy_prefix(name.data, name.size);
}

/* -- what a commit changed ------------------------------------------------------------------------------------------ */

struct changing {
        struct changed_functions *to;
        char *const *paths;
        const char *path; /* of the last hunk */
        struct side {
                const char *line; /* reached in the text */
                unsigned number;
                struct walked known[INDENTATIONS];
        } sides[2];
};

static struct changed_function *find_or_add(struct changed_functions *to, const char *file, struct slice name)
{
        for (size_t i = to->n; i-- > 0;) /* most lines are of the last one */
                if (text_is(name, to->list[i].name) && strcmp(to->list[i].file, file) == 0)
                        return &to->list[i];
        return list_add(to->list, to->n, (struct changed_function){.file = copy_string(file), .name = copy_prefix(name.data, name.size)});
}

static int add_hunk(void *user, const struct commit_hunk *h)
{
        struct changing *c = user;
        cleanup_free char *file = printable(h->path);

        if (!paths_have(c->paths, h->path))
                return 0;
        for (int i = 0; i < 2; i++) {
                struct side *s = &c->sides[i];

                if (h->path != c->path) /* another file */
                        *s = (struct side){.line = h->text[i].data, .number = 1};
                for (unsigned k = 0; k < h->n[i]; k++) {
                        struct changed_function *f;

                        s->line = go_down(h->text[i], s->line, h->line[i] + k - s->number);
                        s->number = h->line[i] + k;
                        f = find_or_add(c->to, file, name_at(h->text[i], s->line, s->known));
                        f->removed += i == 0;
                        f->added += i == 1;
                }
        }
        c->path = h->path;
        return 0;
}

int changed_functions(struct history *h, uint32_t commit, char *const *paths, struct changed_functions *ret)
{
        return history_hunks(h, commit, add_hunk, &(struct changing){.to = ret, .paths = paths});
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
