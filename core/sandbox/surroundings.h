/* The things that a process inherits from its parent, besides its files: limits, scheduling, personality, signals, umask, environment. A result must
 * not depend on the shell that a mount was made from. So all of these are set here and written into run.json, and the program is refused where the
 * system forbids one (a hard limit below the wanted value).
 *
 *   stack             execute_request.stack; a program can raise it by itself up to stack_top
 *   address space     the memory limit; data and resident set the same, so that neither ends a program before it
 *   CPU, file size, processes      the limits of the request
 *   locked memory 64k, open files 1024 (the program may raise them to 4096), queued signals 1024, message queues 800k: the usual values of Linux
 *   core, file locks, nice, real-time priority and time        0
 *   scheduling        timed programs: SCHED_OTHER at nice 0. Builds keep ours, as their results do not depend on it.
 *   personality 0 (so addresses are random if the machine says so), no memory policy, no I/O priority, the default timer slack,
 *   huge pages as the machine has them, no signal ignored or blocked, umask 022 (002 with a shared bind)
 *   environment       PATH, HOME, TMPDIR, LANG=C.UTF-8 and the request's
 *
 * The first part is also read by the helper (exec_surroundings.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#define SURROUNDINGS_LIMITS 16 /* RLIM_NLIMITS on Linux; no other resource has been added since 2008 */

struct execute_request;
struct json_t;

struct surroundings {
        bool timed;
        uint32_t mask;                             /* umask */
        struct rlimit limits[SURROUNDINGS_LIMITS]; /* by resource number */
};

/* The part that could not be set: a resource's number, or one of these. */
enum surroundings_part {
        PART_NICE = SURROUNDINGS_LIMITS,
        PART_CLASS,
        PART_PERSONALITY,
        N_SURROUNDINGS_PARTS
};

/* -- in the helper (exec_surroundings.c); false sets errno -- */

bool surroundings_set_schedule(enum surroundings_part *ret_part); /* the helper's own; the program inherits it */
/* Sets all else for the calling process, which becomes the program. `tasks`: how many RLIMIT_NPROC counts already; the limit is raised by these. */
bool surroundings_set(const struct surroundings *s, uint64_t tasks, uint32_t *ret_part);

/* -- in the library (surroundings.c) -- */

void surroundings_of(const struct execute_request *q, struct surroundings *ret);
bool environment_has(char *const *environment, const char *variable); /* by the name of "NAME=VALUE"; a list of NULL has none */
const char *surroundings_variable(const struct execute_request *q, size_t i); /* the i-th NAME=VALUE; NULL after the last */
struct json_t *surroundings_json(const struct execute_request *q);            /* new reference; for run.json */
/* Checks that a program started by this process can have them, before any other preparation of a run. 0, or -EIO with a sentence. */
int surroundings_check(const struct execute_request *q);
void surroundings_are_launched(void); /* this process is a cluster's worker: from now on a refusal names the cluster's 'launch', not a shell */
/* Sets the sentence for a part that could not be set. Returns -EIO. */
int surroundings_refusal(const struct execute_request *q, uint32_t part, int error);
