/* Each worker of the pool has a folder, and makes it anew for each text. */
#include "core/study/reduce/reduce_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cache/base/spawn.h"
#include "core/study/reduce/reduce_pool.h"

#define INPUT_TIMEOUT (3600 * NSEC_PER_SEC) /* of the input, where no other was asked for */

struct reduce_command {
        struct reduce_command_options options;
        char (*folders)[PATH_SIZE]; /* owned; of each worker */
        struct reduce_pool *pool;
};

/* True if a shell takes the word as it is, also within quotes. */
static bool is_plain(const char *word)
{
        cleanup_buffer struct buffer b = {0};

        buffer_add_plain_word(&b, word, "");
        return strcmp(b.data, word) == 0;
}

/* Starts the command in the folder. {} is replaced by the path without quotes: it may stand within the user's own, or in a shell that the command starts.
 * A path that would need quotes (of an odd temporary folder) is ./NAME instead. */
static int start(const char *command, const char *folder, const char *path, pid_t *ret)
{
        cleanup_close int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        cleanup_buffer struct buffer script = {0};
        cleanup_free char *word = is_plain(path) ? copy_string(path) : format_string("./%s", basename(path));
        const bool has_hole = strstr(command, "{}");
        const char *hole;
        int r;

        buffer_adds(&script, "cd ");
        buffer_add_shell_word(&script, folder);
        buffer_adds(&script, " || exit\n");
        for (; (hole = strstr(command, "{}")); command = hole + 2)
                buffer_addf(&script, "%.*s%s", (int)(hole - command), command, word);
        buffer_addf(&script, "%s%s%s", command, has_hole ? "" : " ", has_hole ? "" : word);
        r = spawn_shell(script.data, (const int[]){nothing, nothing, nothing}, environ, ret);
        return r < 0 ? errorf(r, "cannot start /bin/sh: %s", strerror(-r)) : 0;
}

/* The input's name if it is plain, else input.EXTENSION. */
static void name_file(const char *input, char ret[NAME_MAX + 1])
{
        const char *suffix = strrchr(input, '.');

        if (is_plain(input))
                snprintf(ret, NAME_MAX + 1, "%s", input);
        else
                snprintf(ret, NAME_MAX + 1, "input%s", suffix && is_plain(suffix) ? suffix : "");
}

/* Makes the folder anew, with the text as its only file. */
static int prepare(const struct reduce_command *c, const char *folder, struct slice text, char ret_path[PATH_SIZE])
{
        cleanup_close int fd = -1;
        char name[NAME_MAX + 1];
        int r = remove_tree(folder);

        name_file(c->options.name, name);
        if (r == 0)
                r = make_dirs(folder, 0700) ?: path_join(ret_path, folder, name);
        if (r < 0)
                return errorf(r, "cannot make the folder %s: %s", folder, strerror(-r));
        fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        r = fd < 0 ? -errno : write_all(fd, text.data, text.size);
        return r < 0 ? errorf(r, "cannot write %s: %s", ret_path, strerror(-r)) : 0;
}

static int run_command(const struct reduce_command *c, unsigned worker, struct slice text, int cancel_fd, int *ret_status)
{
        char path[PATH_SIZE];
        int r = prepare(c, c->folders[worker], text, path);
        pid_t pid;

        if (r == 0)
                r = start(c->options.command, c->folders[worker], path, &pid)
                    ?: spawn_wait(pid, c->options.timeout_ns, true, cancel_fd, ret_status);
        return r;
}

static int run_test(void *user, unsigned worker, struct slice text, int cancel_fd)
{
        int status = 0, r = run_command(user, worker, text, cancel_fd, &status);

        if (r == -ETIME)
                return 0;
        return r < 0 ? r : status == 0;
}

/* Runs the command on the input. -EINVAL with a sentence: it is not interesting. */
static int check_input(const struct reduce_command *c, struct slice input, int cancel_fd)
{
        int status = 0, code, r = run_command(c, 0, input, cancel_fd, &status);
        cleanup_free char *end = NULL;

        if ((r < 0 && r != -ETIME) || (r == 0 && status == 0))
                return r;
        code = r == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        if (code == 126 || code == 127) /* the shell's */
                return errorf(-EINVAL, "cannot run '%s', status %d: it runs in a folder of its own; write its whole path", c->options.command, code);
        end = r == -ETIME           ? format_string("had not ended after %g s", (double)c->options.timeout_ns / NSEC_PER_SEC)
              : WIFSIGNALED(status) ? format_string("was ended by signal %d", WTERMSIG(status))
                                    : format_string("ended with status %d", code);
        return errorf(-EINVAL, "the command is not interested in the input: '%s' %s on %s", c->options.command, end, c->options.name);
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
        r = check_input(c, input, cancel_fd);
        if (r < 0)
                return r;
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
                                    .checks_late = true,
                                    .knows_input = true};
}
