#include "core/study/import/import_log.h"

#include "core/study/observation/observation.h"

/* The bytes of the date and the blank behind it. Older logs have it without a zone. */
static size_t skip_date(const char *line)
{
        const size_t n = strlen(line), date = n > 10 && line[10] == 'T' ? sizeof("2026-01-01T00:00:00Z") : sizeof("2026-01-01 00:00:00");

        return MIN(n, date);
}

/* The place of the number; NULL: it names no finding. */
static const char *find_number(const char *line)
{
        static const char *const verbs[] = {"found ",   "localized ",       "localized so far ", "not localized: ",
                                            "reduced ", "reduced so far ", "not reduced: "};
        static const enum observation_kind kinds[] = {FINDING_SLOWDOWN, FINDING_SOUNDNESS, FINDING_REGRESSION}; /* one of each folder */
        const char *at = line + skip_date(line);

        for (size_t v = 0; v < ARRAY_SIZE(verbs); v++)
                for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                        const char *folder = observation_folder(kinds[k]);
                        size_t n = strlen(verbs[v]), m = strlen(folder);

                        if (strncmp(at, verbs[v], n) == 0 && strncmp(at + n, folder, m) == 0 && at[n + m] == '/')
                                return at + n + m + 1;
                }
        return NULL;
}

void log_line_import(const char *line, const uint32_t *numbers, uint32_t last, struct buffer *to)
{
        const char *at = find_number(line);
        char *end = NULL;
        uint64_t there = at ? strtoull(at, &end, 10) : 0; /* more than there are: ULLONG_MAX */
        uint32_t here = there <= last ? numbers[there] : 0;

        if (here == 0)
                buffer_addf(to, "%s\n", line);
        else
                buffer_addf(to, "%.*s%u%s\n", (int)(at - line), line, here, end);
}
