#include "cache/base/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "cache/base/util.h"

_Atomic bool fault_wanted;

static const char *folder; /* set before main() */

__attribute__((constructor)) static void fault_begin(void)
{
        const char *given = getenv("SOLVERFS_FAULTS");

        if (given && given[0] == '/') {
                folder = copy_string(given);
                fault_wanted = true;
        }
}

/* The order in a place's file: do `what` (for errno or milliseconds `how`), at `times` visits after the first `after`. */
struct order {
        char what[16], how[32];
        unsigned long long after, times;
};

static bool read_order(const char *place, struct order *ret)
{
        cleanup_free char *path = format_string("%s/%s", folder, place);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[256], *rest, *word;
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

        if (n < 0)
                return false;
        text[n] = '\0';
        *ret = (struct order){.times = UINT64_MAX};
        for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
                unsigned long long *number = strcmp(word, "after") == 0   ? &ret->after
                                             : strcmp(word, "times") == 0 ? &ret->times
                                                                          : NULL;

                if (number && (word = strtok_r(NULL, " \n", &rest)))
                        *number = strtoull(word, NULL, 10);
                else if (word && ret->what[0] == '\0')
                        snprintf(ret->what, sizeof(ret->what), "%s", word);
                else if (word)
                        snprintf(ret->how, sizeof(ret->how), "%s", word);
        }
        return ret->what[0] != '\0';
}

/* Records one visit and returns how many there were before. An append is atomic across processes. */
static unsigned long long note(const char *place)
{
        cleanup_free char *path = format_string("%s/%s.met", folder, place);
        cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        off_t end = fd >= 0 && write(fd, ".", 1) == 1 ? lseek(fd, 0, SEEK_CUR) : 0; /* just behind our byte */

        return end > 0 ? (unsigned long long)end - 1 : 0;
}

static int errno_named(const char *name)
{
        for (int e = 1; e < 134; e++)
                if (strerrorname_np(e) && strcmp(strerrorname_np(e), name) == 0)
                        return e;
        log_error("%s: no such errno as '%s'", folder, name);
        return EINVAL;
}

static void wait_ms(unsigned long long ms)
{
        nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

int fault_meet(const char *place)
{
        unsigned long long before;
        struct order o;
        bool found = read_order(place, &o); /* before note(): a test that waits for the note may change the order right after it */

        before = note(place);
        if (!found || before < o.after || before - o.after >= o.times)
                return 0;
        if (strcmp(o.what, "fail") == 0) {
                int e = errno_named(o.how);

                return errorf(-e, "a test asked for %s at %s", strerror(e), place);
        }
        if (strcmp(o.what, "delay") == 0)
                wait_ms(strtoull(o.how, NULL, 10));
        else if (strcmp(o.what, "block") == 0)
                while (read_order(place, &o) && strcmp(o.what, "block") == 0)
                        wait_ms(5);
        else if (strcmp(o.what, "kill") == 0 || strcmp(o.what, "stop") == 0)
                raise(o.what[0] == 'k' ? SIGKILL : SIGSTOP);
        else
                log_error("%s/%s: '%s' is no fault", folder, place, o.what);
        return 0;
}
