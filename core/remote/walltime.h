/* How long the job of a batch system has in which this process is. Threads: any; environment variables are read. */
#pragma once

#include "cache/base/util.h"

/* Nanoseconds by $SLURM_JOB_END_TIME, which Slurm sets from 23.02 on, else by asking squeue once for $SLURM_JOB_ID. UINT64_MAX: in no job, in one without
 * an end, or in one of which nobody says it: then *ret_unknown is true. */
uint64_t walltime_left(bool *ret_unknown);

/* Reads a time as squeue prints it: "1-02:03:04", "5:00", "UNLIMITED" (UINT64_MAX). -EINVAL: anything else. */
int walltime_parse(const char *text, uint64_t *ret_ns);
