/* The checks of `solverfs doctor` on the machine. Threads: any. */
#pragma once

enum check_state {
        CHECK_OK,
        CHECK_WARNING,
        CHECK_FAILED
};
/* One line. */
struct host_check {
        const char *name; /* "fuse", "bubblewrap", "cgroup", "cores", … */
        enum check_state state;
        char text[512]; /* what was found and, when not OK, what to do */
};
/* Looks at this machine. What is read from /proc, /sys, /etc, /dev and /usr is read below `root`: "", unless a test made a machine up; then what
 * is found out by doing is left out. */
void host_checks(const char *root, void (*fn)(void *user, const struct host_check *c), void *user);
