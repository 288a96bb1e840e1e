#include "core/why/diverge/statistics.h"

#include <ctype.h>
#include <math.h>

#include "core/run/verdict.h"

#define NAME_MOST 80
#define LIST_MOST 4096
#define STEM_LEAST 4

/* -- reading ------------------------------------------------------------------------------------------------------- */

static bool is_name(char c)
{
        return isalnum((unsigned char)c) || strchr("_-.:<>+/", c);
}

/* Parses one line, NUL-terminated. False: not a statistic. */
static bool parse_line(char *p, struct statistic *ret)
{
        const char *name;
        char *end, *number;
        size_t words = 1;
        bool has_sign;

        p += strspn(p, " \t(");
        if (p[0] == 'c' && (p[1] == ' ' || p[1] == '\t'))
                p += 1 + strspn(p + 1, " \t");
        has_sign = *p == ':';
        p += has_sign;
        if (!isalpha((unsigned char)*p))
                return false;
        name = p;
        for (;;) { /* words of the name, with one blank between two */
                while (*p && is_name(*p))
                        p++;
                if (p[0] != ' ' || !isalpha((unsigned char)p[1]))
                        break;
                words++;
                p++;
        }
        end = p;
        p += strspn(p, " \t");
        has_sign |= *p == '=' || *p == ':' || end[-1] == ':';
        if (*p == '=' || *p == ':')
                p++;
        else if (p == end)
                return false;
        number = p + strspn(p, " \t");
        if (!isdigit((unsigned char)*number) && !(*number == '-' && isdigit((unsigned char)number[1])))
                return false;
        while (end > name && end[-1] == ':')
                end--;
        if ((words > 1 && !has_sign) || end == name || end - name > NAME_MOST)
                return false;
        ret->value = strtod(number, &p);
        if (!has_sign && *p && *p != ')')
                return false;
        if (*p == ',' && isdigit((unsigned char)p[1])) /* 1,234 */
                return false;
        /* a unit of memory or time may follow at once: 12.5MB, 3s */
        if (*p && (isalpha((unsigned char)*p) ? strspn(p, "kKmMgGsubinB") != strlen(p) : !strchr(" \t)%,", *p)))
                return false;
        *end = '\0';
        ret->name = copy_string(name);
        return isfinite(ret->value);
}

/* Takes over the name. The last number of a name counts; beyond LIST_MOST names, no further ones. */
static void add_statistic(struct statistics *to, const struct statistic *s)
{
        const size_t from = lower_bound(s, to->list, to->n, sizeof(*s), compare_strings);
        const bool is_there = from < to->n && strcmp(to->list[from].name, s->name) == 0;

        if (is_there)
                to->list[from].value = s->value;
        if (is_there || to->n >= LIST_MOST) {
                free(s->name);
                return;
        }
        list_grow(to->list, to->n);
        memmove(&to->list[from + 1], &to->list[from], (to->n - from) * sizeof(*to->list));
        to->list[from] = *s;
        to->n++;
}

void statistics_read(struct slice text, struct statistics *to)
{
        struct slice bytes;

        while (slice_next_line(&text, &bytes)) {
                struct statistic s = {0};
                char line[4 * NAME_MOST];

                snprintf(line, sizeof(line), "%.*s", (int)MIN(bytes.size, sizeof(line) - 1), (const char *)bytes.data);
                line[strcspn(line, "\r")] = '\0';
                if (bytes.size < sizeof(line) && parse_line(line, &s))
                        add_statistic(to, &s);
                else
                        free(s.name);
        }
}

void statistics_done(struct statistics *s)
{
        for (size_t i = 0; i < s->n; i++)
                free(s->list[i].name);
        free(s->list);
        *s = (struct statistics){0};
}

/* -- comparing ----------------------------------------------------------------------------------------------------- */

static const struct statistic *find(const struct statistics *s, const char *name)
{
        return find_in_list(&(struct statistic){.name = (char *)name}, s->list, s->n, sizeof(*s->list), compare_strings);
}

/* The logarithm of the ratio of b's amount to a's, one added to both. */
static double log_ratio(double a, double b)
{
        return log1p(fabs(b)) - log1p(fabs(a));
}

/* A statistic's difference between a run and its repetition. */
static double own_change(const struct statistics *again, const struct statistic *s)
{
        const struct statistic *other = again ? find(again, s->name) : NULL;

        return other ? fabs(log_ratio(s->value, other->value)) : 0;
}

static int compare_changes(const void *a, const void *b)
{
        const struct statistic_change *x = a, *y = b;

        return ORDER(fabs(log(y->ratio)), fabs(log(x->ratio))) ?: strcmp(x->name, y->name);
}

struct statistic_change *statistics_compare(const struct statistics run[2], const struct statistics again[2], size_t *ret_n)
{
        struct statistic_change *list = allocate(run[0].n + 1, sizeof(*list));
        size_t n = 0;

        for (size_t i = 0; i < run[0].n; i++) {
                const struct statistic *a = &run[0].list[i], *b = find(&run[1], a->name);
                double change = b ? log_ratio(a->value, b->value) : 0;

                if (!b || change == 0 || MAX(fabs(a->value), fabs(b->value)) < STATISTIC_SMALL)
                        continue;
                if (fabs(change) > 2 * MAX(own_change(again ? &again[0] : NULL, a), own_change(again ? &again[1] : NULL, b)))
                        list[n++] = (struct statistic_change){a->name, {a->value, b->value}, exp(change)};
        }
        sort_list(list, n, sizeof(*list), compare_changes);
        *ret_n = n;
        return list;
}

/* -- files --------------------------------------------------------------------------------------------------------- */

/* The part of a name's word that the stem covers: "reduce" has 5 of the 10 letters of "reductions". The word begins as the stem does, perhaps without the
 * stem's last letter. 0: less than half. */
static double word_share(const char *name, const char *stem, size_t n)
{
        for (const char *p = name; *p; p++) {
                size_t word = 0, same = 0;

                if (!isalpha((unsigned char)*p) || (p > name && isalpha((unsigned char)p[-1])))
                        continue;
                while (isalpha((unsigned char)p[word]))
                        word++;
                while (same < MIN(word, n) && tolower((unsigned char)p[same]) == tolower((unsigned char)stem[same]))
                        same++;
                if (same + 1 >= n && same * 2 >= word)
                        return (double)same / (double)word;
        }
        return 0;
}

double statistic_file_fit(const char *name, const char *path, const struct statistics *all)
{
        const char *stem = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        const size_t n = strcspn(stem, ".");
        const double share = n >= STEM_LEAST ? word_share(name, stem, n) : 0;
        size_t others = 0;

        for (size_t i = 0; i < all->n && share > 0; i++)
                others += word_share(all->list[i].name, stem, n) > 0;
        return share / (double)MAX(others, 1u);
}
