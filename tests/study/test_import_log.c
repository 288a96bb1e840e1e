#include "tests/support/test.h"

#include "core/study/import/import_log.h"

#define STAMP "2026-01-01T00:00:00Z "
#define OLDER "2026-01-01 00:00:00 " /* of logs before */

START_TEST(test_lines)
{
        static const uint32_t numbers[] = {0, 7, 0, 12}; /* of findings 1 to 3; the second is not here */
        static const struct {
                const char *line, *imported;
        } table[] = {
                {"", ""},
                {"short", "short"},
                {STAMP, STAMP},
                {STAMP "found spr/1: slow", STAMP "found spr/7: slow"},
                {OLDER "found spr/1: slow", OLDER "found spr/7: slow"},
                {STAMP "found soundness/3: a crash", STAMP "found soundness/12: a crash"},
                {STAMP "localized incompleteness/1: 1 abc", STAMP "localized incompleteness/7: 1 abc"},
                {STAMP "reduced spr/3: 10 of 20 bytes", STAMP "reduced spr/12: 10 of 20 bytes"},
                {STAMP "not reduced: spr/1: no", STAMP "not reduced: spr/7: no"},
                {STAMP "localized so far spr/1: 1 abc", STAMP "localized so far spr/7: 1 abc"},
                {STAMP "reduced so far spr/3: 10 of 20 bytes", STAMP "reduced so far spr/12: 10 of 20 bytes"},
                {STAMP "not localized: soundness/3: no", STAMP "not localized: soundness/12: no"},
                {STAMP "found spr/2: not here", STAMP "found spr/2: not here"},
                {STAMP "found spr/4: beyond the last", STAMP "found spr/4: beyond the last"},
                {STAMP "found spr/99999999999999999999: no number", STAMP "found spr/99999999999999999999: no number"},
                {STAMP "found spr/x", STAMP "found spr/x"},
                {STAMP "found sprint/1", STAMP "found sprint/1"},
                {STAMP "lost spr/1", STAMP "lost spr/1"},
                {STAMP "left out: found spr/1", STAMP "left out: found spr/1"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                cleanup_buffer struct buffer b = {0};

                log_line_import(table[i].line, numbers, 3, &b);
                ck_assert_msg(strncmp(b.data, table[i].imported, b.size - 1) == 0 && b.size == strlen(table[i].imported) + 1 && b.data[b.size - 1] == '\n',
                              "row %zu: '%s'", i, b.data);
        }
}
END_TEST

SUITE("import_log", test_lines)
