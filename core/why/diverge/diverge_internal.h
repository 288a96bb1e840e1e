/* Shared by diverge.c, profiling.c and trailing.c. */
#pragma once

#include "core/why/diverge/diverge.h"
#include "core/workspace/lease.h"

enum { /* the traced runs of each side */
        RUN_FIRST,
        RUN_AGAIN,
        RUN_EMPTY, /* on an empty input */
        N_RUNS
};

/* A stream of a run, as far as it is kept. */
struct spool {
        int fd; /* an unnamed file */
        struct gzFile_s *file;
        uint64_t left; /* bytes that still fit */
        bool is_cut;
        int error;
};

struct diverging {
        const struct diverge_options *options;
        struct held programs[2];
        struct lease lease;
        char scratch[PATH_SIZE], case_path[PATH_SIZE];
        struct spool spools[2][N_RUNS][N_DIVERGE_STREAMS];
};

void diverge_say(const struct diverging *d, const char *doing, int side); /* tells the caller what is being done */
/* A side's recipe, for the case's format; `arguments`: further ones, or NULL. */
struct recipe *diverge_recipe(const struct diverging *d, int side, const char *arguments);
struct recipe_limits diverge_limits(const struct diverging *d, int side);
/* One run. `listeners`: as in runner.h. 0 however it ended. */
int diverge_run(struct diverging *d, const struct recipe *recipe, const struct recipe_limits *limits, const struct held *programs,
                const struct listener *listeners, const struct run_input *input, struct run_result *ret);
/* Samples both and fills in ret->profile. If that is not possible, 0 and the reason in ret->no_profile. */
int diverge_profile(struct diverging *d, struct diverge_result *ret);
/* Runs both up to where their calls part and fills in ret->calls. If that is not possible, 0 and the reason in ret->no_calls. */
int diverge_calls(struct diverging *d, struct diverge_result *ret);

/* A file with code. */
struct code {
        char path[PATH_SIZE];
        bool is_program; /* of the version; else a library of the system */
};
/* Finds the host's file for `inside`, a path that a run reports. False: it is neither a program of the version nor a library of the system, and must
 * not be opened, as the run may report any path. */
bool code_find(const struct held *programs, const char *inside, struct code *ret);
/* Runs addr2line -a -f -i -C in the sandbox; `addresses`: a line for each. Returns its exit status (127: there is no addr2line), or -errno. */
int ask_addr2line(const struct diverging *d, const struct code *code, struct slice addresses, struct blob *ret);
/* Sets the function and "FILE:LINE" of the first address: printable, owned by the caller. An unknown one is left as it is. */
void addr2line_first(const struct blob *text, char **ret_name, char **ret_file);
