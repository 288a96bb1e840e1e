#include "core/git/gitconfig.h"

#include <ctype.h>

/* -- mistakes --------------------------------------------------------------------------------------------------- */

#define MISTAKES_TOLD 12

void mistakes_done(struct mistakes *m)
{
        buffer_done(&m->lines);
}

void mistakes_note(struct mistakes *m, int r)
{
        if (r < 0 && m->n++ < MISTAKES_TOLD)
                buffer_addf(&m->lines, "%s%s", m->n > 1 ? "\n" : "", error_message(r));
}

int mistakes_end(const struct mistakes *m)
{
        if (m->n == 0)
                return 0;
        if (m->n > MISTAKES_TOLD)
                return errorf(-EINVAL, "%s\nand %u more", m->lines.data, m->n - MISTAKES_TOLD);
        return errorf(-EINVAL, "%s", m->lines.data);
}

/* -- walking the text ------------------------------------------------------------------------------------------- */

struct config_reader {
        const char *label;
        const char *text;
        size_t size, at;
        unsigned line;
        bool (*wanted)(const char *section);
        struct gitconfig *g;
        struct mistakes mistakes;
};

static int peek(const struct config_reader *w)
{
        return w->at < w->size ? (unsigned char)w->text[w->at] : EOF;
}

/* The next character, without the '\r' of a line's end; counts lines. */
static int next(struct config_reader *w)
{
        int c = peek(w);

        if (c == EOF)
                return EOF;
        w->at++;
        if (c == '\r' && peek(w) == '\n')
                return next(w);
        if (c == '\n')
                w->line++;
        return c;
}

static void skip_blanks(struct config_reader *w)
{
        while (peek(w) == ' ' || peek(w) == '\t')
                w->at++;
}

static void skip_line(struct config_reader *w)
{
        while (peek(w) != EOF && peek(w) != '\n')
                w->at++;
}

static char *read_word(struct config_reader *w)
{
        size_t from = w->at;
        char *word;

        while (isalnum(peek(w)) || peek(w) == '-')
                w->at++;
        word = copy_prefix(w->text + from, w->at - from);
        for (char *p = word; *p; p++)
                *p = (char)tolower((unsigned char)*p);
        return word;
}

static int read_subsection(struct config_reader *w, struct gitconfig_section *s)
{
        cleanup_buffer struct buffer b = {0};

        buffer_add(&b, "", 0);
        w->at++; /* the quote */
        for (;;) {
                int c = next(w);

                if (c == '\\')
                        c = next(w);
                else if (c == '"')
                        break;
                if (c == EOF || c == '\n')
                        return errorf(-EINVAL, "%s:%u: the quotes of this section's name are not closed", w->label, s->line);
                buffer_add(&b, &(char){(char)c}, 1);
        }
        s->subsection = steal_pointer(b.data);
        return 0;
}

static int read_header(struct config_reader *w)
{
        struct gitconfig *g = w->g;
        struct gitconfig_section *s = list_add(g->sections, g->n_sections, (struct gitconfig_section){.line = w->line, .begin = w->at});
        bool has_blanks;

        while (s->begin > 0 && (w->text[s->begin - 1] == ' ' || w->text[s->begin - 1] == '\t'))
                s->begin--;
        w->at++; /* the bracket */
        s->name = read_word(w);
        has_blanks = isblank(peek(w));
        skip_blanks(w);
        if (peek(w) == '"' && read_subsection(w, s) < 0)
                return -EINVAL;
        if (s->name[0] == '\0' || next(w) != ']' || (has_blanks && !s->subsection))
                return errorf(-EINVAL, "%s:%u: not a section header; it is [section] or [section \"name\"]", w->label, s->line);
        if (strcmp(s->name, "include") == 0 || strcmp(s->name, "includeif") == 0)
                return errorf(-EINVAL, "%s:%u: [%s] is not supported here; put the text in this file", w->label, s->line,
                              s->name);
        s->end = s->body = w->at;
        return 0;
}

/* A backslash and a character of the first mean the one in the same place of the second. */
static const char escapes[] = "nt\"\\", escaped_as[] = "\n\t\"\\";

static int read_escape(struct config_reader *w, const char *key, struct buffer *value)
{
        unsigned line = w->line;
        int c = next(w);
        const char *p;

        if (c == '\n' || c == EOF) /* the value continues in the next line */
                return 0;
        p = strchr(escapes, c);
        if (c == '\0' || !p)
                return errorf(-EINVAL,
                              "%s:%u: key '%s': a backslash before '%c' means nothing in a git-config value; write \\\\ for a "
                              "backslash, or [0-9] for a digit in a pattern",
                              w->label, line, key, isprint(c) ? c : '?');
        buffer_add(value, &escaped_as[p - escapes], 1);
        return 0;
}

/* libgit2 1.5 takes a quote behind an escaped backslash for escaped, and then sees comments where there are none, and vice versa. It also continues a
 * value behind an empty line. */
static int fail_disputed(const struct config_reader *w, unsigned line, const char *key)
{
        return errorf(-EINVAL,
                      "%s:%u: key '%s': programs that read git-config disagree on this value; write it in one pair of double quotes, and "
                      "a comment on a line of its own",
                      w->label, line, key);
}

/* Reads a value as git does: removes quotes, surrounding blanks and a comment, and replaces escapes. In a `wanted` section refuses what is cut off or read
 * in different ways. */
static int read_value(struct config_reader *w, bool wanted, const char *key, char **ret, bool *ret_lost_quotes)
{
        cleanup_buffer struct buffer b = {0};
        unsigned line = w->line;
        bool quoted = false, closed = false; /* in quotes; quotes were closed before */
        bool odd_quote = false; /* one came right behind a backslash */
        bool continued = false; /* only blanks since a continued line's end */
        size_t solid = 0; /* the value's end without trailing blanks */
        int previous = ' ';

        buffer_add(&b, "", 0);
        skip_blanks(w);
        while (peek(w) != EOF && (peek(w) != '\n' || quoted)) {
                int c = next(w);

                if (c == '\n')
                        break;
                if (wanted && odd_quote && (c == ';' || c == '#'))
                        return fail_disputed(w, line, key);
                if (!quoted && (c == ';' || c == '#')) {
                        if (wanted && (c == ';' || !isblank(previous)))
                                return errorf(-EINVAL,
                                              "%s:%u: key '%s': git-config takes '%c' outside quotes for the start of a comment and cuts the "
                                              "value off there; put the value in double quotes%s",
                                              w->label, w->line, key, c,
                                              c == ';' ? ", or each command on a 'build' line of its own" : ", or a blank before a comment");
                        skip_line(w);
                        break;
                }
                if (!quoted && !isblank(c))
                        *ret_lost_quotes |= closed || (c == '"' && b.size > 0);
                odd_quote |= c == '"' && w->text[w->at - 2] == '\\';
                continued &= isblank(c);
                previous = c;
                if (c == '"') {
                        closed |= quoted;
                        quoted = !quoted;
                        solid = b.size;
                } else if (c == '\\') {
                        size_t before = b.size;

                        if (read_escape(w, key, &b) < 0)
                                return -EINVAL;
                        continued = b.size == before;
                        solid = b.size;
                } else {
                        buffer_add(&b, &(char){(char)c}, 1);
                        if (quoted || !isblank(c))
                                solid = b.size;
                }
        }
        if (quoted)
                return errorf(-EINVAL, "%s:%u: key '%s': the quotes are not closed", w->label, line, key);
        if (wanted && continued)
                return fail_disputed(w, line, key);
        b.data[solid] = '\0';
        *ret = steal_pointer(b.data);
        return 0;
}

static int read_entry(struct config_reader *w)
{
        struct gitconfig_section *s = w->g->n_sections > 0 ? &w->g->sections[w->g->n_sections - 1] : NULL;
        struct gitconfig_entry *e;

        if (!s)
                return errorf(-EINVAL, "%s:%u: this line precedes the first [section]", w->label, w->line);
        e = list_add(s->entries, s->n_entries, (struct gitconfig_entry){.line = w->line});
        e->key = read_word(w);
        skip_blanks(w);
        if (e->key[0] == '\0' || !(peek(w) == '=' || peek(w) == '\n' || peek(w) == '\r' || peek(w) == EOF || peek(w) == '#'))
                return errorf(-EINVAL, "%s:%u: not a line of the form 'key = value'", w->label, w->line);
        if (peek(w) == '=') {
                w->at++;
                if (read_value(w, w->wanted && w->wanted(s->name), e->key, &e->value, &e->lost_quotes) < 0)
                        return -EINVAL;
        } else {
                skip_line(w);
        }
        s->end = w->at;
        return 0;
}

/* After a mistake, continues at the next line, so that all are reported. */
static int walk_text(struct config_reader *w)
{
        if (w->size >= 3 && memcmp(w->text, "\xef\xbb\xbf", 3) == 0)
                w->at = 3; /* git skips a byte order mark too */
        for (int c; (c = peek(w)) != EOF;) {
                int r = 0;

                if (isspace(c))
                        next(w);
                else if (c == '#' || c == ';')
                        skip_line(w);
                else
                        r = c == '[' ? read_header(w) : read_entry(w);
                mistakes_note(&w->mistakes, r);
                if (r < 0)
                        skip_line(w);
        }
        return mistakes_end(&w->mistakes);
}

/* -- characters ------------------------------------------------------------------------------------------------- */

/* Accepts UTF-8, and of the control characters only line ends, tabs and the like: readers of git-config disagree on the others. */
static int check_characters(const char *label, struct slice text)
{
        const unsigned char *p = text.data;
        unsigned line = 1;

        for (size_t i = 0, n; i < text.size; i += n) {
                bool is_layout = p[i] == '\t' || p[i] == '\n' || (p[i] == '\r' && i + 1 < text.size && p[i + 1] == '\n');

                n = utf8_length(p + i, text.size - i);
                if (n == 0)
                        return errorf(-EINVAL, "%s:%u: byte 0x%02x is not UTF-8 text", label, line, p[i]);
                if ((p[i] < 0x20 && !is_layout) || p[i] == 0x7f)
                        return errorf(-EINVAL, "%s:%u: control character 0x%02x", label, line, p[i]);
                line += p[i] == '\n';
        }
        return 0;
}

int gitconfig_parse(const char *label, struct slice text, bool (*wanted)(const char *section), struct gitconfig *ret)
{
        cleanup_gitconfig struct gitconfig g = {0};
        struct config_reader w = {.label = label, .text = text.data, .size = text.size, .line = 1, .wanted = wanted, .g = &g};
        int r = check_characters(label, text) ?: walk_text(&w);

        mistakes_done(&w.mistakes);
        if (r < 0)
                return r;
        *ret = g;
        g = (struct gitconfig){0};
        return 0;
}

void gitconfig_done(struct gitconfig *g)
{
        for (size_t i = 0; i < g->n_sections; i++) {
                struct gitconfig_section *s = &g->sections[i];

                for (size_t k = 0; k < s->n_entries; k++) {
                        free(s->entries[k].key);
                        free(s->entries[k].value);
                }
                free(s->entries);
                free(s->name);
                free(s->subsection);
        }
        free(g->sections);
        *g = (struct gitconfig){0};
}

void gitconfig_quote(struct buffer *b, const char *value)
{
        bool plain =
                value[0] != '\0' && !isblank(value[0]) && !isblank(value[strlen(value) - 1]) && !strpbrk(value, "\"\\;#\n\t");

        if (plain) {
                buffer_adds(b, value);
                return;
        }
        buffer_adds(b, "\"");
        for (const char *p = value; *p; p++) {
                const char *escaped = strchr(escaped_as, *p);

                if (escaped)
                        buffer_adds(b, "\\");
                buffer_add(b, escaped ? &escapes[escaped - escaped_as] : p, 1);
        }
        buffer_adds(b, "\"");
}

void gitconfig_line(struct buffer *b, const char *indent, const char *key, const char *value)
{
        buffer_addf(b, "%s%s = ", indent, key);
        gitconfig_quote(b, value);
        buffer_adds(b, "\n");
}
