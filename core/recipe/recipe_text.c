/* The text of a recipe file's sections, comments included, for the store's config. */
#include <ctype.h>

#include "core/recipe/recipe_keys.h"

/* The beginning of the comment right before a section, without an empty line between; `header` if there is none. `from`: where the section before ends,
 * within its last line; the rest of that line belongs to it. */
static size_t lead_begins(struct slice text, size_t from, size_t header)
{
        const char *p = text.data;
        size_t at = header;

        while (at > from) {
                size_t line = at - 1; /* the newline before */

                while (line > from && p[line - 1] != '\n')
                        line--;
                if (line == at - 1 || (line == at - 2 && p[line] == '\r') || line == from)
                        break;
                at = line;
        }
        return at;
}

static void add_lines(struct buffer *b, const char *p, size_t begin, size_t end)
{
        while (begin < end && isspace((unsigned char)p[end - 1]))
                end--;
        while (begin < end && memchr("\r\n", p[begin], 2))
                begin++;
        if (begin == end)
                return;
        buffer_add(b, p + begin, end - begin);
        buffer_adds(b, "\n");
}

void recipe_keep_text(struct slice text, const struct gitconfig *g, size_t i, struct buffer *ret)
{
        const struct gitconfig_section *s = &g->sections[i];
        size_t mark = text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of the byte order */
        size_t lead = i == 0 ? mark : lead_begins(text, g->sections[i - 1].end, s->begin);
        size_t end = i + 1 < g->n_sections ? lead_begins(text, s->end, g->sections[i + 1].begin) : text.size;

        add_lines(ret, text.data, lead, s->begin);
        add_lines(ret, text.data, s->body, end); /* from behind the header on */
}
