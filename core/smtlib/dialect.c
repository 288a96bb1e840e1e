#include "core/smtlib/dialect.h"

static const char *const names[N_DIALECTS] = {"2.0", "2.5", "2.6"};

int dialect_parse(struct slice text, enum dialect *ret)
{
        const char *p = text.data;

        if (text.size < 3 || (text.size > 3 && p[3] != '.') || memcmp(p, "2.", 2) != 0)
                return -EINVAL;
        if (p[2] != '0' && p[2] != '5' && p[2] != '6' && p[2] != '7')
                return -EINVAL;
        *ret = p[2] == '0' ? DIALECT_2_0 : p[2] == '5' ? DIALECT_2_5 : DIALECT_2_6;
        return 0;
}

const char *dialect_name(enum dialect d)
{
        return names[d];
}

enum dialect dialect_named(const char *name)
{
        enum dialect ret = DIALECT_2_6;

        if (name)
                dialect_parse(slice_string(name), &ret);
        return ret;
}

/* -- escapes -- */

static int digit(char c, unsigned base)
{
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

        return d < (int)base ? d : -1;
}

size_t dialect_digits(const char *p, size_t left, size_t most, unsigned base, uint32_t *ret)
{
        size_t n = 0;

        for (*ret = 0; n < most && n < left && digit(p[n], base) >= 0; n++)
                *ret = *ret * base + (uint32_t)digit(p[n], base);
        return n;
}

/* The length of the 2.6 escape at p, which is a backslash; 0 if there is none. */
static size_t unicode_escape(const char *p, size_t left, uint32_t *ret)
{
        size_t n;

        if (left < 3 || p[1] != 'u')
                return 0;
        if (p[2] != '{')
                return dialect_digits(p + 2, left - 2, 4, 16, ret) == 4 ? 6 : 0;
        n = dialect_digits(p + 3, left - 3, 5, 16, ret);
        return n > 0 && n + 3 < left && p[n + 3] == '}' && *ret <= CHARACTER_MOST ? n + 4 : 0;
}

/* The same for 2.0 and 2.5, as CVC4 1.4 and Z3 4.8.7 read them. */
static size_t old_escape(enum dialect d, const char *p, size_t left, uint32_t *ret)
{
        static const char letters[] = "abefnrtv\\", values[] = "\a\b\033\f\n\r\t\v\\";
        const char *letter;
        size_t n;

        if (left < 2)
                return 0;
        if (d == DIALECT_2_0 && p[1] == '"') {
                *ret = '"';
                return 2;
        }
        letter = p[1] ? strchr(letters, p[1]) : NULL;
        if (letter) {
                *ret = (uint8_t)values[letter - letters];
                return 2;
        }
        if (p[1] == 'x')
                return dialect_digits(p + 2, left - 2, 2, 16, ret) == 2 ? 4 : 0;
        n = dialect_digits(p + 1, left - 1, 3, 8, ret);
        if (n > 0 && *ret <= 0xff)
                return n + 1;
        return unicode_escape(p, left, ret);
}

/* Escapes a lone backslash at the end of `ret`: with a following u it would look like an escape. */
static void escape_last_backslash(struct buffer *ret)
{
        if (ret->size > 0 && ret->data[ret->size - 1] == '\\') {
                ret->size--;
                buffer_adds(ret, "\\u{5c}");
        }
}

void dialect_add_character(struct buffer *ret, uint32_t character)
{
        char c = (char)character;

        if (character == 'u')
                escape_last_backslash(ret);
        if (character >= 0x20 && character < 0x7f)
                buffer_add(ret, &c, 1);
        else
                buffer_addf(ret, "\\u{%x}", character);
}

static bool is_plain(char c)
{
        return ((uint8_t)c >= 0x20 && c < 0x7f && c != '\\' && c != '"') || (uint8_t)c >= 0x80;
}

void dialect_decode_string(enum dialect d, struct slice literal, struct buffer *ret)
{
        const char *p = literal.data, *end = p + literal.size;

        while (p < end) {
                const char *begin = p;
                uint32_t character;
                size_t n;

                while (p < end && is_plain(*p))
                        p++;
                if (p > begin) {
                        if (*begin == 'u')
                                escape_last_backslash(ret);
                        buffer_add(ret, begin, (size_t)(p - begin));
                }
                if (p == end)
                        break;
                if (*p == '"') {
                        buffer_add(ret, "\"", 1);
                        p += p + 1 < end && p[1] == '"' ? 2 : 1;
                } else if (*p != '\\') {
                        dialect_add_character(ret, (uint8_t)*p++);
                } else {
                        n = d == DIALECT_2_6 ? unicode_escape(p, (size_t)(end - p), &character)
                                             : old_escape(d, p, (size_t)(end - p), &character);
                        dialect_add_character(ret, n > 0 ? character : '\\');
                        p += MAX(n, (size_t)1);
                }
        }
}

bool dialect_next_character(struct slice canonical, size_t *at, uint32_t *ret)
{
        const char *p = (const char *)canonical.data + *at;
        size_t left = canonical.size - *at, n = 0;

        if (left == 0)
                return false;
        *ret = (uint8_t)*p;
        if (*p == '\\')
                n = unicode_escape(p, left, ret);
        if (n == 0)
                *ret = (uint8_t)*p;
        *at += MAX(n, (size_t)1);
        return true;
}

void dialect_encode_string(enum dialect d, struct slice canonical, struct buffer *ret)
{
        uint32_t character;

        buffer_adds(ret, "\"");
        for (size_t at = 0, begin = 0; dialect_next_character(canonical, &at, &character); begin = at) {
                if (character == '"')
                        buffer_adds(ret, d == DIALECT_2_0 ? "\\\"" : "\"\"");
                else if (d == DIALECT_2_6 || (at - begin == 1 && character >= 0x80))
                        buffer_add(ret, (const char *)canonical.data + begin, at - begin);
                else if (character == '\\')
                        buffer_adds(ret, "\\\\");
                else if (character >= 0x20 && character < 0x7f)
                        buffer_add(ret, &(char){(char)character}, 1);
                else
                        buffer_addf(ret, character <= 0xff ? "\\x%02x" : "\\u{%x}", character);
        }
        buffer_adds(ret, "\"");
}
