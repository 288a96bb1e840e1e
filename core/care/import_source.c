/* The store to import from. */
#include "core/care/import.h"

#include <sys/stat.h>

int source_open(struct store_source *s, const char *dir)
{
        struct stat a, b;

        if (stat(workspace_dir(s->here), &a) == 0 && stat(dir, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
                return errorf(-EINVAL, "%s is this very store", dir);
        return workspace_open(dir, STORE_READ_ONLY, &s->there);
}

void source_done(struct store_source *s)
{
        if (s->missing)
                strings_free(s->missing);
        workspace_close(s->there);
}

void source_say(const struct store_source *s, const char *format, ...)
{
        char line[PATH_SIZE + 256];

        format_rest(line, format);
        if (s->say)
                s->say(s->user, line);
}

int source_note_missing(struct store_source *s, const char *solver)
{
        for (char *const *p = s->missing; p && *p; p++)
                if (strcmp(*p, solver) == 0)
                        return 0;
        strings_add(&s->missing, solver);
        if (strcmp(solver, RECIPE_PROGRAMS) == 0)
                source_say(s, "this store does not know some programs: their results are passed over; 'solverfs run exec:PROGRAM CASE' with each, and the "
                              "same import takes them in");
        else
                source_say(s, "%s is no solver of this store, or has other commits: its results are passed over; 'solverfs solver add', and the same "
                              "import takes them in", solver);
        return 0;
}
