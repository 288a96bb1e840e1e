/* Durations and sizes as people write them. */
#include "core/recipe/recipe.h"

#include <ctype.h>

struct unit {
        const char *name;
        uint64_t factor;
};

/* Largest first, as the printers want them. */
static const struct unit durations[] = {
        {"h", 3600 * NSEC_PER_SEC}, {"m", 60 * NSEC_PER_SEC}, {"s", NSEC_PER_SEC}, {"ms", NSEC_PER_MSEC}};
static const struct unit sizes[] = {
        {"t", UINT64_C(1) << 40}, {"g", UINT64_C(1) << 30}, {"m", UINT64_C(1) << 20}, {"k", UINT64_C(1) << 10}, {"", 1}};

/* Digits, perhaps a point and more digits, times the unit; rounded down to a whole number. */
static int parse_quantity(const char *text, const struct unit *units, size_t n_units, uint64_t bare, uint64_t *ret)
{
        unsigned __int128 whole = 0, fraction = 0, scale = 1;
        uint64_t factor = bare;
        const char *p = text;

        if (!isdigit((unsigned char)*p))
                return -EINVAL;
        for (; isdigit((unsigned char)*p); p++) {
                whole = whole * 10 + (unsigned)(*p - '0');
                if (whole > UINT64_MAX)
                        return -ERANGE;
        }
        if (*p == '.') {
                if (!isdigit((unsigned char)*++p))
                        return -EINVAL;
                for (; isdigit((unsigned char)*p); p++)
                        if (scale < UINT64_C(1000000000000000)) {
                                fraction = fraction * 10 + (unsigned)(*p - '0');
                                scale *= 10;
                        }
        }
        if (*p != '\0') {
                size_t i = 0;

                while (i < n_units && strcasecmp(units[i].name, p) != 0)
                        i++;
                if (i == n_units)
                        return -EINVAL;
                factor = units[i].factor;
        }
        whole = whole * factor + fraction * factor / scale;
        if (whole > UINT64_MAX)
                return -ERANGE;
        *ret = (uint64_t)whole;
        return 0;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
        int r = parse_quantity(text, durations, ARRAY_SIZE(durations), NSEC_PER_SEC, ret_ns);

        return r == -ERANGE ? errorf(-EINVAL, "'%.40s' is longer than can be counted", text)
               : r < 0      ? errorf(-EINVAL, "'%.40s' is not a duration; write a number and ms, s, m or h, like 20s or 1.5h", text)
                            : 0;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
        int r = parse_quantity(text, sizes, ARRAY_SIZE(sizes), 1, ret_bytes);

        return r == -ERANGE ? errorf(-EINVAL, "'%.40s' is more than can be counted", text)
               : r < 0      ? errorf(-EINVAL, "'%.40s' is not a size; write a number and k, m, g or t, like 512m or 4g", text)
                            : 0;
}

struct short_text format_duration(uint64_t ns)
{
        struct short_text ret = {"0s"};
        size_t i = 0;

        if (ns == 0)
                return ret;
        while (i < ARRAY_SIZE(durations) && ns % durations[i].factor != 0)
                i++;
        if (i < ARRAY_SIZE(durations)) {
                snprintf(ret.s, sizeof(ret.s), "%llu%s", (unsigned long long)(ns / durations[i].factor), durations[i].name);
                return ret;
        }
        snprintf(ret.s, sizeof(ret.s), "%llu.%06llu", (unsigned long long)(ns / NSEC_PER_MSEC), (unsigned long long)(ns % NSEC_PER_MSEC));
        for (i = strlen(ret.s); ret.s[i - 1] == '0';)
                i--;
        memcpy(ret.s + i, "ms", 3);
        return ret;
}

struct short_text format_size(uint64_t bytes)
{
        struct short_text ret;
        size_t i = 0;

        while (bytes % sizes[i].factor != 0 || (bytes == 0 && sizes[i].factor > 1))
                i++;
        snprintf(ret.s, sizeof(ret.s), "%llu%s", (unsigned long long)(bytes / sizes[i].factor), sizes[i].name);
        return ret;
}
