/* A runner's folder on the host: what becomes /scratch and /case of each run; part of runner.c. */
#pragma once

#include <sys/stat.h>

#include "core/run/runner.h"

struct runner_files {
        char base[PATH_SIZE];   /* "" while there is none */
        char folder[PATH_SIZE]; /* its `case` */
        unsigned generation;    /* of the scratch folder's name, which changes only when one could not be taken away */
        char scratch_name[32];
        char scratch[PATH_SIZE], input[PATH_SIZE]; /* of this run */
        bool has_scratch, has_input;               /* of ours, to be taken away */
        int written;                               /* the file in the folder that bytes are written to, which stays; or -1 */
        int watch;                                 /* inotify, or -1 */
        int watched;                               /* the scratch folder there, or -1: it is not, or was touched */
        struct statx untouched;                    /* the scratch folder, as it was made */
};
#define RUNNER_FILES_NONE                                 \
        {                                                 \
                .written = -1, .watch = -1, .watched = -1 \
        }

/* Makes the scratch folder and the input: in the folder that becomes /case, as `name` (linked, copied or written), or, unless `in_folder`, where its path
 * is. `owner`: whose the scratch folder is going to be, -1: not known yet. */
int runner_files_make(struct runner_files *f, const char *parent, const struct run_input *input, bool in_folder, const char *name, uid_t owner);
/* Is the scratch folder its user's, and the input everybody's to read? */
bool runner_files_are_handed(const struct runner_files *f);
/* Call after a run. A scratch folder that the run has neither changed nor listed is as good as new, and stays. */
void runner_files_clear(struct runner_files *f);
void runner_files_done(struct runner_files *f); /* takes the base away */
