/* A process that cannot go on: its memory may be damaged (a fault that no guard expected, an abort of the C library), or it waits for a
 * damaged lock. No memory is trusted, so nothing is repaired. The process ends, by calls that are safe in a signal handler, or starts over by
 * executing itself under the same process id.
 *
 *   a command   starts over, once; if it has printed something, it ends with a message and a status of its own
 *   a daemon    starts over with the arguments it gave lost_daemon(), but ends if it is lost again within LOST_AGAIN_S seconds
 *
 * All our descriptors are close-on-exec, and locks end with their descriptors. A sanitizer's handlers stay in force.
 * In a program that did not call lost_begin(), a fault does what it always does. */
#pragma once

#include <time.h>

#include "cache/base/util.h"

#define LOST_AGAIN_S 2

/* Call first in main(): a restart has the arguments, environment and signal mask of this moment. `status`: the exit status if it cannot restart. */
void lost_begin(char **argv, int status);
void lost_output(void);       /* call before each write to standard output or error: output may have been seen. Cheap */
void lost_daemon(char *const argv[]); /* copied */

/* Asks for a mark: if the process is lost, it makes a file `name` in the folder, so that others do not trust what was open there. At most 16 at once;
 * further ones are ignored. `folder`: a descriptor; it and `name` are borrowed until lost_unmark(). */
void lost_mark(int folder, const char *name);
void lost_unmark(int folder);

/* Call when damage was found that the next start repairs. In a command that has printed nothing and has not started over yet, it starts the command
 * over and does not return. Otherwise it returns, and the caller reports the damage. Makes no marks. Not for a signal handler. */
void lost_start_over_if_unseen(void);

/* The process is lost: it ends or starts over. Async-signal-safe. Aborts in a program that did not call lost_begin(). */
_Noreturn void process_lost(const char *why);
/* The same, without marks: for a process whose data is sound. */
_Noreturn void process_give_up(const char *why);

/* For waits that damage may make endless: the process is lost unless lost_watch_end() is called within some seconds. `why`: borrowed. */
struct lost_watch {
        timer_t timer;
        bool set;
};
void lost_watch_begin(struct lost_watch *w, const char *why);
void lost_watch_end(struct lost_watch *w);
