#include "core/run/ending.h"

#include <ctype.h>

#define LINE_MOST 150 /* of the last line */

/* The length of the address at the beginning of the text; 0 if there is none. */
static size_t address_length(const char *p, size_t n)
{
        size_t i = 2;

        if (n < 3 || p[0] != '0' || p[1] != 'x' || !isxdigit((unsigned char)p[2]))
                return 0;
        while (i < n && isxdigit((unsigned char)p[i]))
                i++;
        return i;
}

void ending_describe(const struct execute_result *r, char ret[ENDING_SIZE])
{
        struct slice last = slice_last_lines(SLICE(r->err.data, r->err.size), 1, LINE_MOST);
        const char *p = last.data;
        size_t n = (size_t)snprintf(ret, ENDING_SIZE, "%s %d ", r->end == END_SIGNAL ? "signal" : "exit", r->code);

        for (size_t i = 0, address; i < last.size && p[i] != '\n' && n + 1 < ENDING_SIZE; i += MAX(address, (size_t)1)) {
                address = address_length(p + i, last.size - i);
                ret[n++] = address > 0 ? '@' : p[i];
        }
        ret[n] = '\0';
}
