#include "core/report/xml.h"

/* A sequence of utf8_length() n. */
static bool is_allowed(const unsigned char *p, size_t n)
{
        if (n == 0 || (n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe)) /* U+FFFE and U+FFFF */
                return false;
        return *p == '\t' || *p == '\n' || !utf8_is_control(p, n);
}

void xml_add_allowed(struct buffer *to, const char *text)
{
        for (size_t left = strlen(text), n; left > 0; text += n, left -= n) {
                n = utf8_length(text, left);
                if (is_allowed((const unsigned char *)text, n))
                        buffer_add(to, text, n);
                else
                        buffer_adds(to, "\xef\xbf\xbd");
                n = MAX(n, (size_t)1);
        }
}

void xml_add_escaped(struct buffer *out, const char *text, size_t most)
{
        size_t n = 0;

        for (const char *p = text; *p; p++) {
                if ((*p & 0xc0) != 0x80 && n++ == most) {
                        buffer_adds(out, "\xe2\x80\xa6"); /* an ellipsis */
                        return;
                }
                if (*p == '&')
                        buffer_adds(out, "&amp;");
                else if (*p == '<')
                        buffer_adds(out, "&lt;");
                else if (*p == '>')
                        buffer_adds(out, "&gt;");
                else if (*p == '"')
                        buffer_adds(out, "&quot;");
                else
                        buffer_add(out, p, 1);
        }
}
