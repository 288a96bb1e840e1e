/* The log of a build, printed while it grows (core/build/live_log.h), and then as it is kept.
 *
 * Standard output is the log: what was printed early is its beginning. Where the log goes on differently (the build was begun again, its output was too
 * long to be kept whole), it is printed from the line that differs, and a note says so. */
#pragma once

#include "tools/command.h"
#include "core/query/query.h"

struct follower {
        uint32_t commit; /* of common.solver */

        int fd; /* of the build that goes on; -1: none */
        bool told;
        struct buffer printed;
        size_t at; /* up to here `printed` equals the log that is read now */
};

void follower_look(struct follower *f);                     /* prints what has come */
void follower_end(struct follower *f, struct slice whole);  /* and the rest of the whole log */
