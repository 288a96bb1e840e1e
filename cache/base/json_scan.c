#include "cache/base/json_scan.h"

#include <ctype.h>

#define MOST_DEPTH  64
#define MOST_DIGITS 15 /* a double gives that many back as they were */

/* Reads what our own json_dumps() prints, white space aside, and refuses every other form of the same values, which jansson reads instead. */
struct scan {
        const char *at, *end;
        const char *from;  /* not copied yet */
        struct buffer *to; /* NULL: nothing is copied */
        unsigned depth;

        const char *key; /* NULL: none is looked for */
        struct slice found;
};

static char peek(const struct scan *s)
{
        return s->at < s->end ? *s->at : '\0';
}

static bool take(struct scan *s, char c)
{
        if (s->at >= s->end || *s->at != c)
                return false;
        s->at++;
        return true;
}

static void flush(struct scan *s)
{
        if (s->to)
                buffer_add(s->to, s->from, (size_t)(s->at - s->from));
}

static bool is_space(char c)
{
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void skip_space(struct scan *s)
{
        if (!is_space(peek(s)))
                return;
        flush(s);
        while (is_space(peek(s)))
                s->at++;
        s->from = s->at;
}

/* -- values ------------------------------------------------------------------------------------------------------- */

static bool skip_string(struct scan *s)
{
        if (!take(s, '"'))
                return false;
        while (s->at < s->end && *s->at != '"') {
                unsigned char c = (unsigned char)*s->at;
                size_t n = c < 0x80 ? 1 : utf8_length(s->at, (size_t)(s->end - s->at));

                if (c == '\\') {
                        s->at++;
                        if (!peek(s) || !strchr("\"\\bfnrt", peek(s)))
                                return false;
                }
                if (c < 0x20 || n == 0)
                        return false;
                s->at += n;
        }
        return take(s, '"');
}

static size_t skip_digits(struct scan *s)
{
        const char *first = s->at;

        while (isdigit((unsigned char)peek(s)))
                s->at++;
        return (size_t)(s->at - first);
}

/* Integers, and reals without an exponent that have no more digits than need be. */
static bool skip_number(struct scan *s)
{
        const bool is_negative = take(s, '-');
        const char *whole = s->at, *fraction;
        size_t n_whole = skip_digits(s), n_fraction, zeros;

        if (n_whole == 0 || (n_whole > 1 && *whole == '0') || n_whole > MOST_DIGITS)
                return false;
        if (!take(s, '.'))
                return !(is_negative && *whole == '0') && peek(s) != 'e' && peek(s) != 'E';
        fraction = s->at;
        n_fraction = skip_digits(s);
        if (n_fraction == 0 || peek(s) == 'e' || peek(s) == 'E')
                return false;
        if (n_fraction == 1 && *fraction == '0')
                return n_whole < MOST_DIGITS;
        zeros = *whole == '0' ? strspn(fraction, "0") : 0;
        return fraction[n_fraction - 1] != '0' && zeros < 4 && (*whole == '0' ? 0 : n_whole) + n_fraction - zeros <= MOST_DIGITS;
}

static bool skip_word(struct scan *s)
{
        static const char *const words[] = {"true", "false", "null"};

        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                size_t n = strlen(words[i]);

                if ((size_t)(s->end - s->at) >= n && memcmp(s->at, words[i], n) == 0) {
                        s->at += n;
                        return true;
                }
        }
        return false;
}

static bool skip_value(struct scan *s);

static bool skip_member(struct scan *s)
{
        const bool is_top = s->depth == 1;
        const char *key = s->at + 1, *value;
        bool is_it;

        if (!skip_string(s))
                return false;
        is_it = is_top && s->key && (size_t)(s->at - 1 - key) == strlen(s->key) && memcmp(key, s->key, strlen(s->key)) == 0;
        skip_space(s);
        if (!take(s, ':'))
                return false;
        skip_space(s);
        value = s->at;
        if (!skip_value(s))
                return false;
        if (is_it)
                s->found = SLICE(value, (size_t)(s->at - value));
        return true;
}

/* An object or an array. */
static bool skip_list(struct scan *s, char open, char close, bool (*skip)(struct scan *))
{
        if (!take(s, open) || ++s->depth > MOST_DEPTH)
                return false;
        skip_space(s);
        if (peek(s) != close) {
                do {
                        skip_space(s);
                        if (!skip(s))
                                return false;
                        skip_space(s);
                } while (take(s, ','));
        }
        s->depth--;
        return take(s, close);
}

static bool skip_value(struct scan *s)
{
        switch (peek(s)) {
        case '{':
                return skip_list(s, '{', '}', skip_member);
        case '[':
                return skip_list(s, '[', ']', skip_value);
        case '"':
                return skip_string(s);
        case 't':
        case 'f':
        case 'n':
                return skip_word(s);
        default:
                return skip_number(s);
        }
}

static bool skip_object(struct scan *s)
{
        skip_space(s);
        if (!skip_list(s, '{', '}', skip_member))
                return false;
        skip_space(s);
        flush(s);
        return s->at == s->end;
}

static struct scan scan_of(struct slice text)
{
        const char *data = text.data ? text.data : "";

        return (struct scan){.at = data, .from = data, .end = data + text.size};
}

/* -- what is asked ------------------------------------------------------------------------------------------------ */

static json_t *load(struct slice text)
{
        json_t *j = json_loadb(text.data ? text.data : "", text.size, 0, NULL);

        if (json_is_object(j))
                return j;
        json_decref(j);
        return NULL;
}

int json_add_compact(struct buffer *to, struct slice text)
{
        cleanup_free char *dumped = NULL;
        struct scan s = scan_of(text);
        size_t before = to->size;
        json_t *j;

        s.to = to;
        if (skip_object(&s))
                return 0;
        to->size = before;
        if (to->data)
                to->data[before] = '\0';
        j = load(text);
        dumped = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
        json_decref(j);
        if (dumped)
                buffer_adds(to, dumped);
        return dumped ? 0 : -EINVAL;
}

json_t *json_load_member(struct slice text, const char *key)
{
        struct scan s = scan_of(text);
        json_t *j, *member;

        s.key = key;
        if (skip_object(&s))
                return s.found.size > 0 ? json_loadb(s.found.data, s.found.size, JSON_DECODE_ANY, NULL) : NULL;
        j = load(text);
        member = json_incref(json_object_get(j, key));
        json_decref(j);
        return member;
}
