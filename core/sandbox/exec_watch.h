/* The helper: which files a program and all that it starts ask for, by name. Of a build: what it used of the machine.
 *
 * A seccomp filter has the kernel tell of each call that opens, executes or looks at a file, before the call goes on; a thread of the helper
 * reads the name and lets it go on. The name is what the program said: whoever judges by it looks for himself what is there. Files that the
 * kernel opens by itself (a program's interpreter) and calls by io_uring are not seen. Needs Linux 5.9; no privileges. */
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "core/sandbox/exec_stub.h"

struct watch;

/* Begins the thread. NULL: it cannot be had, or is not asked for. */
struct watch *watch_begin(const struct order *order);
/* In the new process, before its execve; it may share the helper's memory. Where the kernel refuses the filter nothing is watched, and that is
 * told at the end. False: it must not go on. */
bool watch_enter(const struct watch *w);
void watch_entered(struct watch *w);                     /* in the helper, once the process has begun */
void watch_bind(struct watch *w, const cpu_set_t *cpus); /* the thread's cores */
/* All processes have gone: writes what was seen into the request. */
void watch_end(struct watch *w);
