/* A worker: runs and builds programs for a head, over two pipes (packet.h, message.h). A transport (srun, ssh, a shell) starts it and connects its
 * standard input and output.
 *
 * It keeps a folder, which several workers of a machine may share, and which may be lost: programs/ has files by their digest, up to a bound, the least
 * recently used deleted first (a missing one is asked for); toolchain the digests of this machine's compilers; scratch/ and work/ the runs' and builds'
 * folders; engines/ locks by which those of killed workers are found (leftovers.h).
 *
 * A run has a core of its own, leased like every run of this machine (core/run/slot.h). The sandbox of the last run on a core is kept for the next
 * run of the same program.
 *
 * A build is clean, in a folder that is empty before and after. Its sources come from the folder of files. It waits for one core, and takes the
 * others that are free when it begins.
 *
 * A worker ends when its input ends, and ends all that it started. When it is killed, its sandboxes end with it. */
#pragma once

#include "cache/base/util.h"

struct worker_options {
        int in, out;        /* for packets only; the caller's */
        const char *folder; /* made if missing */
        uint64_t bound;     /* limit on the bytes of its files */
        unsigned slots;     /* runs at a time; 0: the number of cores for timed runs */
        uint64_t left_ns;   /* until its job ends; UINT64_MAX: never */
};
/* 0 when its input has ended; -errno with a sentence if it could not begin, or the head violates the protocol. */
int worker_serve(const struct worker_options *o);
