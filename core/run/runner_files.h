/* A runner's folder on the host: the folders that become /scratch and /case of each run; part of runner.c. */
#pragma once

#include <sys/stat.h>

#include "core/run/runner.h"

struct runner_files {
        char base[PATH_SIZE];   /* "" if not made yet */
        char folder[PATH_SIZE]; /* its `case` */
        unsigned generation;    /* in the scratch folder's name; changes only when one could not be removed */
        char scratch_name[32];
        char scratch[PATH_SIZE], input[PATH_SIZE]; /* of this run */
        bool has_scratch, has_input;               /* made by us, to be removed */
        int written;                               /* the file in the folder that bytes are written to; kept between runs; or -1 */
        int watch;                                 /* inotify, or -1 */
        int watched;                               /* the watch on the scratch folder, or -1: not watched, or touched */
        struct statx untouched;                    /* the scratch folder as made */
};
#define RUNNER_FILES_NONE                                 \
        {                                                 \
                .written = -1, .watch = -1, .watched = -1 \
        }

/* Makes the scratch folder and the input. The input is in the folder that becomes /case, as `name` (linked, copied or written); without `in_folder`,
 * a file stays at its own path. `owner`: the future owner of the scratch folder; -1: not known yet. */
int runner_files_make(struct runner_files *f, const char *parent, const struct run_input *input, bool in_folder, const char *name, uid_t owner);
/* True if the scratch folder belongs to its user, and everybody may read the input. */
bool runner_files_are_handed(const struct runner_files *f);
/* Call after a run. A scratch folder that the run has neither changed nor listed is kept as new. */
void runner_files_clear(struct runner_files *f);
void runner_files_done(struct runner_files *f); /* removes the base */
