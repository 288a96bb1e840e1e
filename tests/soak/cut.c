/* Prints the script that asks query N of FILE, alone, or behind the queries of a list such as 3,7: for cut.py. */
#include <stdio.h>
#include <stdlib.h>

#include "core/why/cut/cut.h"

int main(int argc, char **argv)
{
        cleanup_blob struct blob script = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup_cut struct cut *c = NULL;
        size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
        cleanup_free bool *is_kept = allocate(n + 1, sizeof(*is_kept));
        int r = argc < 3 ? errorf(-EINVAL, "usage: soak_cut FILE N [LIST]") : read_file(argv[1], 1 << 30, &script);

        for (char *p = argc > 3 ? strtok(argv[3], ",") : NULL; p; p = strtok(NULL, ","))
                is_kept[MIN(strtoul(p, NULL, 10), n) - 1] = true;
        if (r == 0)
                r = cut_read(SLICE(script.data, script.size), n, &c);
        if (r == 0)
                r = cut_write(c, argc > 3 ? CUT_SCOPES : CUT_ALONE, is_kept, &text);
        if (r < 0)
                return fprintf(stderr, "%s\n", error_message(r)), 1;
        return fwrite(text.data, 1, text.size, stdout) != text.size;
}
