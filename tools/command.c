#include "command.h"

#include <dirent.h>
#include <fnmatch.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "cache/base/process.h"
#include "core/report/outfile.h"

struct common common = {.wait_ns = UINT64_MAX, .signals = -1};

static int write_file(const char *path, const struct buffer *text)
{
        int r = buffer_error(text);

        command_stoppable(); /* a temporary file is not left behind */
        if (r == 0 && strcmp(path, "-") == 0)
                output_write(text);
        else if (r == 0)
                r = outfile_write(path, text, 0666 & ~common.umask);
        return r < 0 ? errorf(-EIO, "cannot write %s: %s", path, strerror(-r)) : 0;
}

void command_write_file(const char *path, const struct buffer *text)
{
        command_must(write_file(path, text));
}

void command_write_result(const char **path, const struct buffer *text)
{
        int r = *path ? write_file(*path, text) : 0;

        if (r < 0) {
                command_worse(fail(r));
                *path = NULL;
        }
        if (!*path && common.json) {
                json_t *j = json_stringn(text->data ?: "", text->size);

                common.json = j != NULL;
                json_decref(j);
                if (!j)
                        command_worse(fail_as(STATUS_FAILED, errorf(-EILSEQ, "the text is not valid UTF-8, so JSON cannot hold it: here it is alone")));
        }
        if (!*path && !common.json)
                output_write(text);
}

/* -- a scratch folder -------------------------------------------------------------------------------------------- */

#define SCRATCH_NAMES "solverfs-@(try|reduce)-??????"
#define SCRATCH_S     3600 /* a younger folder may not be locked yet */

/* Removes the folders of killed commands: a folder is locked while its command runs. */
static void sweep_scratch(const char *parent)
{
        cleanup_dir DIR *d = opendir(parent);
        struct dirent *e;
        struct stat st;

        while (d && (e = readdir(d)))
                if (fnmatch(SCRATCH_NAMES, e->d_name, FNM_EXTMATCH) == 0 && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    st.st_uid == geteuid() && is_older_than(st.st_mtime, SCRATCH_S)) {
                        cleanup_free char *path = format_string("%s/%s", parent, e->d_name);
                        cleanup_close int lock = lock_if_idle(path);

                        if (lock >= 0)
                                remove_tree(path);
                }
}

int command_scratch(const char *purpose, char ret[PATH_SIZE])
{
        const char *parent = getenv("TMPDIR");

        if (!parent || *parent != '/')
                parent = "/tmp";
        sweep_scratch(parent);
        if (snprintf(ret, PATH_SIZE, "%s/solverfs-%s-XXXXXX", parent, purpose) >= PATH_SIZE)
                return errorf(-ENAMETOOLONG, "path too long: %.200s", parent);
        if (!mkdtemp(ret))
                return errorf(-errno, "cannot make a folder like %s: %s", ret, strerror(errno));
        flock(open(ret, O_RDONLY | O_DIRECTORY | O_CLOEXEC), LOCK_SH); /* until this process ends: see sweep_scratch() */
        common.scratch = ret;
        return 0;
}

int command_with_scratch_store(int (*fn)(void *user), void *user)
{
        const struct common outer = common;
        char dir[PATH_SIZE];
        int r = command_scratch("try", dir), status;

        if (r < 0)
                return fail_as(STATUS_SYSTEM, r);
        common.workspace = NULL;
        common.solver = NULL;
        common.engine = NULL;
        r = workspace_create(dir) ?: workspace_open(dir, 0, &common.workspace);
        if (r == 0)
                workspace_set_wait(common.workspace, common.wait_ns);
        status = r < 0 ? fail(r) : fn(user);
        command_close();
        common.workspace = outer.workspace;
        common.solver = outer.solver;
        common.engine = outer.engine;
        return status;
}

/* -- the end ---------------------------------------------------------------------------------------------------- */

void command_close(void)
{
        common.engine = engine_close(common.engine);
        common.solver = solver_unref(common.solver);
        strings_free(steal_pointer(common.names));
        common.workspace = workspace_close(common.workspace);
        if (common.scratch && remove_tree(common.scratch) < 0)
                complain("%s is left behind", common.scratch);
        common.scratch = NULL;
}

void command_end(int status)
{
        command_close();
        exit(output_end(status));
}

void command_ok(int status)
{
        if (status != STATUS_OK)
                command_end(status);
}

int command_must(int r)
{
        command_ok(r < 0 ? fail(r) : STATUS_OK);
        return r;
}

int command_must_as(enum status status, int r)
{
        command_ok(r < 0 ? fail_as(status, r) : STATUS_OK);
        return r;
}

int command_must_usage(int r)
{
        command_ok(r < 0 ? fail_usage(r) : STATUS_OK);
        return r;
}

void command_refuse(enum status status, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vcomplain(format, args);
        va_end(args);
        command_end(status);
}

void command_worse(int status)
{
        common.status = MAX(common.status, status);
}

/* -- the store -------------------------------------------------------------------------------------------------- */

void command_store_dir(char ret[PATH_SIZE])
{
        char dir[PATH_SIZE], here[PATH_SIZE];

        command_must(workspace_default_dir(common.store, dir));
        if (dir[0] == '/')
                memcpy(ret, dir, sizeof(dir));
        else if (!getcwd(here, sizeof(here)))
                command_must(errorf(-errno, "cannot find the current folder: %s", strerror(errno)));
        else
                command_must(path_join(ret, here, dir));
}

void command_need_store(const char *dir)
{
        int r = workspace_find(dir);

        if (r == -ENOENT)
                command_refuse(STATUS_ABSENT, "no store at %s: make one with 'solverfs %s%s%sinit'", dir, common.store ? "--store " : "",
                               common.store ?: "", common.store ? " " : "");
        command_must(r);
}

void command_need_own_store(const char *dir)
{
        const struct passwd *owner;
        struct stat st;

        command_need_store(dir);
        if (stat(dir, &st) < 0 || st.st_uid == geteuid() || access(dir, W_OK) < 0) /* others that cannot write open it read-only */
                return;
        owner = getpwuid(st.st_uid);
        command_refuse(STATUS_SYSTEM, "the store %s belongs to %s (uid %u), who could not use what we write there: run this as that user", dir,
                       owner ? owner->pw_name : "another user", (unsigned)st.st_uid);
}

void command_open(int store_flags)
{
        char dir[PATH_SIZE];
        int r;

        if (common.workspace)
                return;
        command_store_dir(dir);
        (store_flags & STORE_READ_ONLY ? command_need_store : command_need_own_store)(dir);
        r = workspace_open(dir, store_flags, &common.workspace);
        command_must_as(r == -EPROTONOSUPPORT ? STATUS_FORMAT : r == -ENOENT ? STATUS_ABSENT : STATUS_SYSTEM, r);
        workspace_set_wait(common.workspace, common.wait_ns);
}

void command_run_on(const char *cluster)
{
        if (cluster)
                command_must_as(STATUS_USAGE, workspace_run_on(common.workspace, cluster));
}

void command_engine(void)
{
        if (!common.engine)
                command_must_as(STATUS_SYSTEM, workspace_engine(common.workspace, NULL, &common.engine));
}

/* -- signals ----------------------------------------------------------------------------------------------------- */

void command_signals(void)
{
        sigset_t set;

        process_ending_signals(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
        common.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        command_must(common.signals < 0 ? errorf(-errno, "cannot watch for signals: %s", strerror(errno)) : 0);
}

bool command_interrupted(void)
{
        return fd_is_readable(common.signals);
}

static volatile sig_atomic_t stoppable, stopped;

static void on_stop(int signal)
{
        if (!stoppable || stopped)
                _exit(STATUS_INTERRUPTED);
        stopped = 1;
}

void command_stoppable(void)
{
        stoppable = 1;
}

void command_take_signals(void)
{
        const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
        sigset_t set;

        process_ending_signals(&set);
        for (int signal = 1; signal < NSIG; signal++)
                if (sigismember(&set, signal) == 1)
                        sigaction(signal, &stop, NULL);
}

bool command_stopped(void)
{
        return stopped || command_interrupted();
}

static bool is_stopped(void *user)
{
        return command_stopped();
}

const struct progress command_progress = {.tell = output_tell, .stop = is_stopped};
