#include "core/report/xml.h"

/* True if XML may have this sequence, of utf8_length() `n`. */
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

void xml_add_escaped(struct buffer *to, const char *text)
{
        static const char special[] = "&<>\"", *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
        cleanup_buffer struct buffer allowed = {0};

        xml_add_allowed(&allowed, text);
        for (const char *p = allowed.data, *end = p + allowed.size, *found; p < end; p++)
                if ((found = strchr(special, *p)))
                        buffer_adds(to, references[found - special]);
                else
                        buffer_add(to, p, 1);
        to->failed |= allowed.failed;
}

void xml_addf(struct buffer *to, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        for (size_t n; *format; format += n) {
                n = strcspn(format, "%");
                buffer_add(to, format, n);
                if (strncmp(format + n, "%s", 2) == 0) {
                        xml_add_escaped(to, va_arg(args, const char *));
                        n += 2;
                } else if (format[n]) {
                        buffer_addf(to, "%zu", va_arg(args, size_t));
                        n += 3;
                }
        }
        va_end(args);
}
