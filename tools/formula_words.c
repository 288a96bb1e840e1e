#include "formula_words.h"

#include <inttypes.h>
#include <sys/stat.h>

void formula_output_begin(struct formula_output *o, const char *stem, uint64_t seed, const char *ending)
{
        o->stem = stem;
        o->seed = seed;
        o->ending = ending;
        if (o->n > 1 && !o->folder)
                command_usage("-n %u needs a folder for the formulas: --output DIR", o->n);
        if (o->folder && mkdir(o->folder, 0777 & ~common.umask) < 0 && errno != EEXIST)
                command_must_usage(errorf(-errno, "cannot make the folder %s: %s", o->folder, strerror(errno)));
}

bool formula_output_wants(const struct formula_output *o)
{
        return o->done < o->n && !output_broken();
}

void formula_output_add(struct formula_output *o, const struct buffer *text)
{
        char name[100], path[PATH_SIZE];

        o->done++;
        if (!o->folder) {
                output_write(text);
                return;
        }
        snprintf(name, sizeof(name), "%s-%" PRIu64 "-%u.%s", o->stem, o->seed, o->done, o->ending);
        command_must(path_join(path, o->folder, name));
        command_write_file(path, 0, text);
}

void formula_list_row(const char *name, const char *what)
{
        static const struct column columns[] = {{"kind", 14}, {"what it is"}};

        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s", name, what);
}
