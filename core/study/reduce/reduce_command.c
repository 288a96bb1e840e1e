#include "core/study/reduce/reduce_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cache/base/spawn.h"
#include "core/study/reduce/reduce_pool.h"

#define INPUT_TIMEOUT (3600 * NSEC_PER_SEC) /* of the input, where no other was asked for */

struct reduce_command {
        struct reduce_command_options options;
        char (*folders)[PATH_SIZE]; /* owned; of each worker */
        struct reduce_pool *pool;
};

/* The shell's $1 is the file and $2 the folder. */
static int start(const char *command, char *folder, char *path, pid_t *ret)
{
        cleanup_close int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        cleanup_buffer struct buffer script = {0};
        char shell[] = "/bin/sh", option[] = "-c";
        const char *hole;
        int r;

        buffer_adds(&script, "cd \"$2\" || exit\n");
        if (!strstr(command, "{}"))
                buffer_addf(&script, "%s \"$1\"", command);
        for (; (hole = strstr(command, "{}")); command = hole + 2)
                buffer_addf(&script, "%.*s\"$1\"%s", (int)(hole - command), command, strstr(hole + 2, "{}") ? "" : hole + 2);
        r = spawn(&(struct spawn_request){.fds = (const int[]){nothing, nothing, nothing},
                                          .n_fds = 3,
                                          .arguments = (char *[]){shell, option, script.data, shell, path, folder, NULL},
                                          .environment = environ,
                                          .own_group = true},
                  ret);
        return r < 0 ? errorf(r, "cannot start /bin/sh: %s", strerror(-r)) : 0;
}

/* 0: it ended by itself, *ret_status says how. -ETIME, -ECANCELED: it was ended. */
static int wait_for(pid_t pid, uint64_t timeout_ns, int cancel_fd, int *ret_status)
{
        cleanup_close int process = (int)syscall(SYS_pidfd_open, pid, 0);
        struct pollfd fds[] = {{.fd = process, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
        uint64_t end = now_ns() + timeout_ns;
        int r = process < 0 ? errorf(-errno, "cannot watch a process: %s", strerror(errno)) : 1;

        while (r == 1) {
                uint64_t now = now_ns();

                if (now >= end)
                        r = -ETIME;
                else if (poll(fds, 2, (int)MIN((end - now) / NSEC_PER_MSEC + 1, (uint64_t)INT32_MAX)) < 0)
                        r = errno == EINTR ? 1 : -errno;
                else if (fds[0].revents != 0)
                        r = 0;
                else if (fds[1].revents != 0)
                        r = -ECANCELED;
        }
        kill(-pid, SIGKILL); /* and whatever it left behind */
        while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
                ;
        return r;
}

/* Empty but for the text. */
static int prepare(const struct reduce_command *c, const char *folder, struct slice text, char ret_path[PATH_SIZE])
{
        cleanup_close int fd = -1;
        int r = remove_tree(folder);

        if (r == 0)
                r = make_dirs(folder, 0700);
        if (r == 0)
                r = path_join(ret_path, folder, c->options.name);
        if (r < 0)
                return errorf(r, "cannot make the folder %s: %s", folder, strerror(-r));
        fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        r = fd < 0 ? -errno : write_all(fd, text.data, text.size);
        return r < 0 ? errorf(r, "cannot write %s: %s", ret_path, strerror(-r)) : 0;
}

static int run_test(void *user, unsigned worker, struct slice text, int cancel_fd)
{
        const struct reduce_command *c = user;
        char path[PATH_SIZE];
        int status = 0, r = prepare(c, c->folders[worker], text, path);
        pid_t pid;

        if (r == 0)
                r = start(c->options.command, c->folders[worker], path, &pid);
        if (r == 0)
                r = wait_for(pid, c->options.timeout_ns, cancel_fd, &status);
        if (r == -ETIME)
                return 0;
        return r < 0 ? r : WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct reduce_command *reduce_command_close(struct reduce_command *c)
{
        if (!c)
                return NULL;
        reduce_pool_close(c->pool);
        for (unsigned i = 0; i < c->options.jobs; i++)
                remove_tree(c->folders[i]);
        free(c->folders);
        free(c);
        return NULL;
}

int reduce_command_open(const struct reduce_command_options *options, struct slice input, int cancel_fd,
                        struct reduce_command **ret)
{
        cleanup(reduce_command_closep) struct reduce_command *c = allocate(1, sizeof(*c));
        uint64_t began = now_ns();
        int r;

        *c = (struct reduce_command){.options = *options, .folders = allocate(options->jobs, sizeof(*c->folders))};
        for (unsigned i = 0; i < options->jobs; i++)
                if (snprintf(c->folders[i], PATH_SIZE, "%s/%u", options->folder, i) >= PATH_SIZE)
                        return -ENAMETOOLONG;
        if (options->timeout_ns == 0)
                c->options.timeout_ns = INPUT_TIMEOUT;
        r = run_test(c, 0, input, cancel_fd);
        if (r < 0)
                return r;
        if (r == 0)
                return errorf(-EINVAL, "the command is not interested in the input: '%s' did not end with status 0 on %s",
                              options->command, options->name);
        if (options->timeout_ns == 0)
                c->options.timeout_ns = 10 * (now_ns() - began) + NSEC_PER_SEC;
        r = reduce_pool_open(options->jobs, run_test, NULL, c, cancel_fd, &c->pool);
        if (r == 0)
                *ret = steal_pointer(c);
        return r;
}

struct reduce_test reduce_command_test(struct reduce_command *c)
{
        return (struct reduce_test){.try = reduce_pool_try,
                                    .user = c->pool,
                                    .width = 2 * (size_t)c->options.jobs,
                                    .trust = REDUCE_LAST_TWICE,
                                    .knows_input = true};
}
