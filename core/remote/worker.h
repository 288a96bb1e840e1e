/* A worker: runs and builds programs for a head, over two pipes (packet.h, message.h). The transport is what starts it and connects its standard
 * input and output: srun, ssh, a shell.
 *
 * It keeps a folder, <folder>/{programs,scratch,engines,work}: files by their digest, up to a bound, of which the least recently used go first;
 * and <folder>/toolchain, the digests of this machine's compilers. Several workers of a machine may share one. The folder may be lost: what is missing is asked for.
 *
 * A run has a core of its own, leased like every run of this machine (core/run/slot.h). The sandbox of the last run on a core is kept for the
 * next run of the same program.
 *
 * A build is clean, in a folder that is empty before and after. Its sources come from the folder of files. It waits for one core, and takes the
 * others that are free when it begins.
 *
 * A worker ends with its input, and ends all that it started. When it is killed, its sandboxes end with it. */
#pragma once

#include "cache/base/util.h"

struct worker_options {
        int in, out;        /* of packets alone; the caller's */
        const char *folder; /* made where it is missing */
        uint64_t bound;     /* bytes of files that it keeps */
        unsigned slots;     /* runs at a time; 0: as many as there are cores for timed runs */
        uint64_t left_ns;   /* until its job ends; UINT64_MAX: never */
};
/* 0 when its input has ended; -errno with a sentence: it could not begin, or the head does not keep to the protocol. */
int worker_serve(const struct worker_options *o);
