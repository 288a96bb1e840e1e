/* A process that cannot go on: its memory may be damaged (a fault that no guard expected, an abort of the C library), or it waits for a lock
 * that is rubbish. Nothing of it is believed any more, so nothing is repaired: it ends, by calls that are safe in a signal handler, and
 * if it can it begins anew by executing itself, under the same process id.
 *
 *   a command   begins anew, once, unless it has printed something: then it ends with a sentence and the status for that
 *   a daemon    begins anew with the arguments it gave lost_daemon(); one that is lost again within LOST_AGAIN_S seconds ends
 *
 * Every descriptor here is close-on-exec, and locks go with their descriptors. A sanitizer's handlers stay in force.
 * Only a program that called lost_begin() is treated so; in others a fault does what it always does. */
#pragma once

#include <time.h>

#include "cache/base/util.h"

#define LOST_AGAIN_S 2

/* First thing in main(): the arguments, the environment and the signal mask are those of now. `status`: to end with where it cannot begin anew. */
void lost_begin(char **argv, int status);
void lost_output(void);       /* from here on somebody may have seen output. Called before each write to standard output or error; cheap */
void lost_daemon(char *const argv[]); /* copied */

/* Makes a file of this name in the folder when the process is lost: what was open then is not to be trusted. */
void lost_mark(int folder, const char *name); /* `name` borrowed */
void lost_unmark(int folder);

/* Begins anew when nothing was printed yet, and does not return; else, and in a daemon, returns. Not for a handler. */
void lost_before_output(void);

_Noreturn void process_lost(const char *why); /* async-signal-safe */
/* The same of one that cannot go on, though what it has is sound: nothing is marked. One without lost_begin() aborts. */
_Noreturn void process_end(const char *why);

/* The process is lost if lost_watch_end() does not come within some seconds. */
struct lost_watch {
        timer_t timer;
        bool set;
};
void lost_watch_begin(struct lost_watch *w, const char *why);
void lost_watch_end(struct lost_watch *w);
