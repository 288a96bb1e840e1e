/* A solver's counter in its output, by the field's usual names. */
#include <ctype.h>

#include "core/recipe/pattern.h"
#include "draft.h"

/* The best first: conflicts are few and say most of the work. */
static const char *const labels[] = {"conflicts", "conflict", "rlimit-count", "resource", "decisions", "propagations"};

/* "conflicts ..: 123" at `at`, the label's place: the pattern for that line. False: nothing of that kind follows. */
static bool make_pattern(const char *label, const char *at, struct buffer *ret)
{
        const char *begin = at + strlen(label), *p = begin;
        size_t n;

        buffer_done(ret);
        *ret = (struct buffer){0};
        buffer_adds(ret, label);
        for (; *p && strchr(" \t:=|", *p); p += MAX(n, 1)) {
                n = strspn(p, " \t");
                if (n > 0)
                        buffer_adds(ret, memchr(p, '\t', n) ? "[[:space:]]+" : " +");
                else
                        buffer_addf(ret, *p == '|' ? "[%c]" : "%c", *p);
        }
        n = strspn(p, "0123456789");
        buffer_adds(ret, "([0-9]+)");
        return p > begin && n > 0 && !isalnum((unsigned char)p[n]) && (p[n] == '\0' || !strchr(".,%", p[n]));
}

static bool is_same_number(struct slice a, struct slice b)
{
        bool zero = true;

        for (size_t i = 0; i < a.size; i++)
                zero &= ((const char *)a.data)[i] == '0';
        return !zero && a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* The pattern is looked for as runs look for it: the last match counts. */
static bool matches_alike(const char *text, struct slice a, struct slice b, struct slice *ret)
{
        cleanup_pattern struct pattern *p = NULL;
        struct slice other;

        return pattern_new(text, &p) == 0 && pattern_last(p, a, ret) && pattern_last(p, b, &other) && is_same_number(*ret, other);
}

bool counter_find(struct slice a, struct slice b, struct buffer *ret_pattern, struct slice *ret_number)
{
        cleanup_free char *text = a.size > 0 && b.size > 0 ? copy_prefix(a.data, a.size) : copy_string("");

        for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
                for (const char *at = text; (at = strstr(at, labels[i])); at += strlen(labels[i])) {
                        bool is_whole = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '-');

                        if (is_whole && make_pattern(labels[i], at, ret_pattern) && matches_alike(ret_pattern->data, a, b, ret_number))
                                return true;
                }
        return false;
}
