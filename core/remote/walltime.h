/* The time left to the queue system's job (Slurm's) that this process runs in. Threads: any; environment variables are read. */
#pragma once

#include "cache/base/util.h"

/* Nanoseconds, from $SLURM_JOB_END_TIME, which Slurm sets since 23.02, else from squeue by $SLURM_JOB_ID. UINT64_MAX if there is no job, it has no
 * end, or its end is not known; in the last case *ret_unknown is true. */
uint64_t walltime_left(bool *ret_unknown);

/* Reads a time as squeue prints it: "1-02:03:04", "5:00", "UNLIMITED" (UINT64_MAX). -EINVAL for anything else. */
int walltime_parse(const char *text, uint64_t *ret_ns);
