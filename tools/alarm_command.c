/* The command of `watch --on-alarm`. */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "alarms.h"
#include "cache/base/spawn.h"

#define PATIENCE_MS (5 * 60 * 1000) /* that a command may take */

/* -- what it is given --------------------------------------------------------------------------------------------- */

struct environment {
        char **list; /* NULL-terminated; the first `n_own` are owned */
        size_t n_own;
};

static void environment_done(struct environment *e)
{
        for (size_t i = 0; i < e->n_own; i++)
                free(e->list[i]);
        free(e->list);
}

static int set(struct environment *e, const char *name, const char *value)
{
        int n = asprintf(&e->list[e->n_own], "%s=%s", name, value);

        if (n < 0) {
                e->list[e->n_own] = NULL;
                return -ENOMEM;
        }
        e->n_own++;
        return 0;
}

static bool is_set(const struct environment *e, const char *variable)
{
        size_t name = strcspn(variable, "=") + 1;

        for (size_t i = 0; i < e->n_own; i++)
                if (strncmp(e->list[i], variable, name) == 0)
                        return true;
        return false;
}

static int make_environment(struct workspace *w, const struct solver *s, const struct observation *a, const char *file,
                            struct environment *ret)
{
        cleanup_alarm_words struct alarm_words numbers = {0};
        int r = alarm_words(a, &numbers);
        const char *const words[][2] = {{"SOLVERFS_ALARM", file},
                                        {"SOLVERFS_STORE", workspace_dir(w)},
                                        {"SOLVER", s->recipe->name},
                                        {"KIND", observation_kind_name(a->kind)},
                                        {"BRANCH", a->origin},
                                        {"COMMIT", a->target},
                                        {"PARENT", *a->reference ? a->reference : "-"},
                                        {"SUBJECT", a->subject},
                                        {"NUMBER", numbers.number},
                                        {"CASE", numbers.id},
                                        {"CASES", numbers.n_cases},
                                        {"BEFORE", numbers.before.data},
                                        {"AFTER", numbers.after.data},
                                        {"FACTOR", numbers.factor.data}};
        size_t n = 0;

        while (environ[n])
                n++;
        ret->list = calloc(n + ARRAY_SIZE(words) + 1, sizeof(*ret->list));
        if (!ret->list)
                return -ENOMEM;
        for (size_t i = 0; i < ARRAY_SIZE(words) && r == 0; i++)
                r = set(ret, words[i][0], words[i][1]);
        for (size_t i = 0, at = ret->n_own; i < n; i++)
                if (!is_set(ret, environ[i]))
                        ret->list[at++] = environ[i];
        return r;
}

/* The alarm in a file of its own, as alarms/<n> of the mount has it. */
static int write_alarm(struct workspace *w, const struct solver *s, const struct observation *a, char path[PATH_SIZE])
{
        const char *folder = getenv("TMPDIR");
        cleanup_buffer struct buffer text = {0};
        cleanup_close int fd = -1;
        int r = alarm_print(w, s, a, &text);

        if (r == 0)
                r = path_join(path, folder && *folder ? folder : "/tmp", "solverfs-alarm-XXXXXX");
        if (r < 0)
                return r;
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0) {
                r = -errno;
                *path = '\0';
                return errorf(r, "cannot make a file for the alarm in %s: %s", folder && *folder ? folder : "/tmp", strerror(-r));
        }
        r = write_all(fd, text.data, text.size);
        return r < 0 ? errorf(r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

/* -- running it --------------------------------------------------------------------------------------------------- */

/* Its output goes to standard error, as ours is for results. */
static int start(const char *command, const char *input, char *const *environment, pid_t *ret)
{
        cleanup_close int in = open(input, O_RDONLY | O_CLOEXEC);
        cleanup_free char *script = NULL;
        int r;

        if (in < 0)
                return errorf(-errno, "cannot read %s: %s", input, strerror(errno));
        if (asprintf(&script, "umask %04o\n%s", common.umask, command) < 0) {
                script = NULL;
                return -ENOMEM;
        }
        r = spawn_shell(script, (const int[]){in, STDERR_FILENO, STDERR_FILENO}, environment, ret);
        return r < 0 ? errorf(r, "cannot start /bin/sh: %s", strerror(-r)) : 0;
}

static const char *why_failed(int status, char ret[64])
{
        if (WIFEXITED(status))
                snprintf(ret, 64, "it ended with status %d", WEXITSTATUS(status));
        else
                snprintf(ret, 64, "it was ended by signal %d", WTERMSIG(status));
        return ret;
}

/* 0, 1 or -EINTR, as alarm_command() has it. */
static int wait_for(pid_t pid, uint32_t number, int signals)
{
        cleanup_close int pidfd = pidfd_open(pid, 0);
        struct pollfd p[] = {{.fd = pidfd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        bool is_late = pidfd >= 0 && poll(p, ARRAY_SIZE(p), PATIENCE_MS) == 0, is_stopped = !is_late && p[1].revents != 0;
        char why[64];
        int status = 0;

        if (is_late || is_stopped)
                kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        if (is_stopped)
                return -EINTR;
        if (!is_late && WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        complain("the command of --on-alarm did not take alarm %" PRIu32 ": %s; the alarm is kept, and told again", number,
                 is_late ? "it took longer than five minutes and was ended" : why_failed(status, why));
        return 1;
}

int alarm_command(struct workspace *w, const struct solver *s, const struct observation *a, const char *command, int signals)
{
        cleanup(environment_done) struct environment e = {0};
        char path[PATH_SIZE] = "";
        pid_t pid;
        int r = write_alarm(w, s, a, path);

        if (r == 0)
                r = make_environment(w, s, a, path, &e);
        if (r == 0)
                r = start(command, path, e.list, &pid);
        if (r == 0)
                r = wait_for(pid, a->number, signals);
        if (*path)
                unlink(path);
        return r;
}
