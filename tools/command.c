#include "command.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "core/report/outfile.h"

struct common common = {.signals = -1};

int command_write_file(const char *path, int r, const struct buffer *text)
{
        if (r == 0)
                r = buffer_error(text);
        if (r == 0)
                r = outfile_write(path, text, 0666 & ~common.umask);
        return r < 0 ? errorf(-EIO, "cannot write %s: %s", path, strerror(-r)) : 0;
}

/* -- the store -------------------------------------------------------------------------------------------------- */

int command_store_dir(char ret[PATH_SIZE])
{
        char dir[PATH_SIZE], here[PATH_SIZE];
        int r = workspace_default_dir(common.store, dir);

        if (r < 0)
                return fail(r);
        if (dir[0] == '/') {
                memcpy(ret, dir, sizeof(dir));
                return STATUS_OK;
        }
        if (!getcwd(here, sizeof(here)))
                return fail(errorf(-errno, "cannot find the current folder: %s", strerror(errno)));
        r = path_join(ret, here, dir);
        return r < 0 ? fail(r) : STATUS_OK;
}

int command_need_store(const char *dir)
{
        int r = workspace_find(dir);

        if (r == 0)
                return STATUS_OK;
        if (r != -ENOENT)
                return fail(r);
        complain("no store at %s: make one with 'solverfs %s%s%sinit'", dir, common.store ? "--store " : "",
                 common.store ? common.store : "", common.store ? " " : "");
        return STATUS_ABSENT;
}

int command_open(int store_flags)
{
        char dir[PATH_SIZE];
        int r;

        if (common.workspace)
                return STATUS_OK;
        r = command_store_dir(dir);

        if (r == STATUS_OK)
                r = command_need_store(dir);
        if (r != STATUS_OK)
                return r;
        r = workspace_open(dir, store_flags, &common.workspace);
        return r < 0 ? fail_as(r == -EPROTONOSUPPORT ? STATUS_FORMAT
                               : r == -ENOENT        ? STATUS_ABSENT
                                                     : STATUS_SYSTEM,
                               r)
                     : STATUS_OK;
}

int command_run_on(const char *place)
{
        int r = place ? workspace_run_on(common.workspace, place) : 0;

        return r < 0 ? fail_as(STATUS_USAGE, r) : STATUS_OK;
}

int command_engine(void)
{
        const struct engine_options options = {.gives_up = common.gives_up, .wait_ns = common.wait_ns};
        int r = common.engine ? 0 : workspace_engine(common.workspace, &options, &common.engine);

        return r < 0 ? fail_as(STATUS_SYSTEM, r) : STATUS_OK;
}

void command_close(void)
{
        common.engine = engine_close(common.engine);
        common.solver = solver_unref(common.solver);
        strings_free(steal_pointer(common.names));
        common.workspace = workspace_close(common.workspace);
}

void command_worse(int status)
{
        common.status = MAX(common.status, status);
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal that our caller ignores (nohup; a script's background job) stays ignored. */
static bool is_ignored(int signal)
{
        struct sigaction was;

        return sigaction(signal, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
}

void command_signals(void)
{
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
                if (!is_ignored(ending_signals[i]))
                        sigaddset(&set, ending_signals[i]);
        sigprocmask(SIG_BLOCK, &set, NULL);
        common.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (common.signals < 0)
                exit(fail(errorf(-errno, "cannot watch for signals: %s", strerror(errno))));
}

bool command_interrupted(void)
{
        return fd_is_readable(common.signals);
}

static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
        stopped = 1;
}

void command_stoppable(void)
{
        const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

        for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
                if (!is_ignored(ending_signals[i]))
                        sigaction(ending_signals[i], &stop, NULL);
}

bool command_stopped(void)
{
        return stopped || (common.signals >= 0 && command_interrupted());
}

static bool is_stopped(void *user)
{
        return command_stopped();
}

const struct progress command_progress = {.tell = output_tell, .stop = is_stopped};
