/* The checks of `solverfs doctor` on the machine. Threads: any. */
#pragma once

enum check_state {
        CHECK_OK,
        CHECK_WARNING,
        CHECK_FAILED
};
/* One line of the output. */
struct host_check {
        const char *name; /* "fuse", "bubblewrap", "cgroup", "cores", … */
        enum check_state state;
        char text[512]; /* what was found and, unless OK, what to do */
};
/* The reason why this machine cannot mount, in ret->text, or NULL if none is known. */
const char *host_check_fuse(struct host_check *ret);
/* The newest of a file's times, in seconds, if it is more than a minute in the future; else 0. */
int64_t host_future(const char *path);
/* Checks this machine. Files of /proc, /sys, /etc, /dev and /usr are read below `root`, which is "" except in tests with a made-up machine; there
 * checks that try something out are skipped. */
void host_checks(const char *root, void (*fn)(void *user, const struct host_check *c), void *user);
