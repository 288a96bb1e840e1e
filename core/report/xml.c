#include "core/report/xml.h"

void xml_add_allowed(struct buffer *to, const char *text)
{
        for (const char *at = text, *end = text + strlen(text); at < end;) {
                size_t n = utf8_length(at, (size_t)(end - at));
                bool allowed = n > 1 || (n == 1 && ((unsigned char)*at >= 0x20 || *at == '\t' || *at == '\n'));

                if (n == 3 && at[0] == '\xef' && at[1] == '\xbf' && (unsigned char)at[2] >= 0xbe)
                        allowed = false; /* U+FFFE and U+FFFF */
                if (allowed)
                        buffer_add(to, at, n);
                else
                        buffer_adds(to, "\xef\xbf\xbd");
                at += n > 0 ? n : 1;
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
