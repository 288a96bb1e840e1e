/* A worker: runs and builds programs for a head that it talks to over two pipes (packet.h, message.h). Whatever starts it with its standard input and output
 * is the transport: srun, ssh, a shell.
 *
 * It keeps a folder, <folder>/{programs,scratch,engines,work}: files by their digest, bounded, the least recently used go first; several workers
 * of a machine may share one. Nothing in it is needed: what is missing is asked for.
 *
 * A run has a core of its own, leased as every run of this machine is (core/run/slot.h). The sandbox of the last run on a core is kept for the next
 * one of the same program.
 *
 * A build is a clean one, in a folder that is empty before and after; its sources come out of the folder of files. It waits for one core, and has those others
 * that are free when it begins.
 *
 * It ends when its input does, with all that it started; when it is killed, its sandboxes end with it. */
#pragma once

#include "cache/base/util.h"

struct worker_options {
        int in, out;        /* of packets alone; the caller's */
        const char *folder; /* made where it is missing */
        uint64_t bound;     /* bytes of files that it keeps */
        unsigned slots;     /* runs at a time; 0: as many as there are cores for timed runs */
        uint64_t left_ns;   /* until somebody ends it; UINT64_MAX: never */
};
/* 0 when its input has ended; -errno with a sentence: it could not begin, or what came was no protocol. */
int worker_serve(const struct worker_options *o);
