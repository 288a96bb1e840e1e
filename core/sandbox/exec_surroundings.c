#include "core/sandbox/surroundings.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMER_SLACK_NS 50000 /* the kernel's default */

bool surroundings_set_schedule(enum surroundings_part *ret_part)
{
        const struct sched_param none = {0};

        *ret_part = PART_CLASS;
        if (sched_getscheduler(0) != SCHED_OTHER && sched_setscheduler(0, SCHED_OTHER, &none) < 0)
                return false;
        *ret_part = PART_NICE;
        errno = 0;
        return (getpriority(PRIO_PROCESS, 0) == 0 && errno == 0) || setpriority(PRIO_PROCESS, 0, 0) == 0;
}

/* Resets settings of memory, disk and clock that numactl, ionice and prctl hand down. A setting that cannot be changed here cannot have been changed
 * before, either: the same filter of system calls forbids both. */
static void forget_habits(void)
{
        prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
        syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
        syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0));
}

/* By the system call: the C library keeps two signals to itself, which our starter may have been told to ignore. */
static void reset_signals(void)
{
        const struct {
                void *handler;
                unsigned long flags;
                void *restorer;
                uint64_t mask;
        } standard = {0};

        for (int i = 1; i <= 64; i++)
                syscall(SYS_rt_sigaction, i, &standard, NULL, sizeof(standard.mask)); /* fails for SIGKILL and SIGSTOP */
}

/* The kernel counts all tasks of a user. No system leaves them unlimited: where we set no limit, the system's stays. */
static bool count_tasks(uint64_t tasks, struct rlimit *l)
{
        if (l->rlim_cur == RLIM_INFINITY) {
                if (getrlimit(RLIMIT_NPROC, l) < 0)
                        return false;
                l->rlim_cur = l->rlim_max;
        } else {
                l->rlim_cur = l->rlim_max = l->rlim_cur + tasks;
        }
        return true;
}

bool surroundings_set(const struct surroundings *s, uint64_t tasks, uint32_t *ret_part)
{
        umask((mode_t)s->mask);
        reset_signals();
        forget_habits();
        *ret_part = PART_PERSONALITY;
        if (personality(PER_LINUX) == -1)
                return false;
        for (int i = 0; i < SURROUNDINGS_LIMITS; i++) {
                struct rlimit l = s->limits[i];

                *ret_part = (uint32_t)i;
                if (i == RLIMIT_NPROC && !count_tasks(tasks, &l))
                        return false;
                if (setrlimit((__rlimit_resource_t)i, &l) < 0)
                        return false;
        }
        return true;
}
