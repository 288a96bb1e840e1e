/* The command of `watch --on-alarm`. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "alarms.h"
#include "cache/base/spawn.h"

#define PATIENCE_MS (5 * 60 * 1000) /* that a command may take */

/* A line that exports the alarm's variables, and the command. */
static void make_script(const struct observation *a, const char *file, const char *command, struct buffer *ret)
{
        cleanup_alarm_words struct alarm_words numbers = {0};

        alarm_words(a, &numbers);
        const char *const words[][2] = {{"SOLVERFS_ALARM", file},
                                        {"SOLVERFS_STORE", workspace_dir(common.workspace)},
                                        {"SOLVER", common.solver->recipe->name},
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

        buffer_addf(ret, "umask %04o; export", common.umask);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                buffer_addf(ret, " %s=", words[i][0]);
                buffer_add_shell_word(ret, words[i][1]);
        }
        buffer_addf(ret, "\n%s", command);
}

/* The alarm in a file of its own, as alarms/<n> of the mount has it. */
static int write_alarm(const struct observation *a, char path[PATH_SIZE])
{
        const char *folder = getenv("TMPDIR");
        cleanup_buffer struct buffer text = {0};
        cleanup_close int fd = -1;
        int r = alarm_print(common.workspace, common.solver, a, &text);

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

/* Its output goes to standard error: standard output is for results. */
static int start(const char *script, const char *input, pid_t *ret)
{
        cleanup_close int in = open(input, O_RDONLY | O_CLOEXEC);
        int r;

        if (in < 0)
                return errorf(-errno, "cannot read %s: %s", input, strerror(errno));
        r = spawn_shell(script, (const int[]){in, STDERR_FILENO, STDERR_FILENO}, environ, ret);
        return r < 0 ? errorf(r, "cannot start /bin/sh: %s", strerror(-r)) : 0;
}

/* 0, 1 or -EINTR, as alarm_command() has it. */
static int wait_for(pid_t pid, uint32_t number)
{
        cleanup_close int pidfd = pidfd_open(pid, 0);
        struct pollfd p[] = {{.fd = pidfd, .events = POLLIN}, {.fd = common.signals, .events = POLLIN}};
        bool is_late = pidfd >= 0 && poll(p, ARRAY_SIZE(p), PATIENCE_MS) == 0, is_stopped = !is_late && p[1].revents != 0;
        char why[64] = "it took longer than five minutes and was ended";
        int status = 0;

        if (is_late || is_stopped)
                kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        if (is_stopped)
                return -EINTR;
        if (!is_late && WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        if (!is_late && WIFEXITED(status))
                snprintf(why, sizeof(why), "it ended with status %d", WEXITSTATUS(status));
        else if (!is_late)
                snprintf(why, sizeof(why), "it was ended by signal %d", WTERMSIG(status));
        complain("the command of --on-alarm did not take alarm %" PRIu32 ": %s; the alarm is kept, and told again", number, why);
        return 1;
}

int alarm_command(const struct observation *a, const char *command)
{
        cleanup_buffer struct buffer script = {0};
        char path[PATH_SIZE] = "";
        pid_t pid;
        int r = write_alarm(a, path);

        if (r == 0) {
                make_script(a, path, command, &script);
                r = start(script.data, path, &pid);
        }
        if (r == 0)
                r = wait_for(pid, a->number);
        if (*path)
                unlink(path);
        return r;
}
