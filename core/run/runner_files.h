/* A runner's folder on the host: what becomes /scratch and /case of each run; part of runner.c. */
#pragma once

#include "core/run/runner.h"

struct runner_files {
        char base[PATH_SIZE]; /* "" while there is none */
        unsigned generation;  /* of the names, which change only when something could not be taken away */
        char scratch_name[32], case_name[32];
        char scratch[PATH_SIZE], folder[PATH_SIZE], input[PATH_SIZE]; /* of this run; "" when there is none */
        int input_fd;                                                 /* for standard input, or -1 */
};

/* Makes the scratch folder and, as `as` says, the file or the standard input of a run. `name`: of the file. */
enum input_as {
        INPUT_FILE,  /* in the folder that becomes /case: linked, copied or written */
        INPUT_THERE, /* a path may stay where it is: `input` says where that is */
        INPUT_STDIN,
};
int runner_files_make(struct runner_files *f, const char *parent, const struct run_input *input, enum input_as as,
                      const char *name);
void runner_files_clear(struct runner_files *f); /* behind a run */
void runner_files_done(struct runner_files *f);  /* takes the base away */
