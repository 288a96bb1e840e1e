#include "command.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "core/report/outfile.h"

struct common common;

/* -- options ---------------------------------------------------------------------------------------------------- */

enum {
        KEY_STORE = 0x1000,
        KEY_WAIT,
}; /* long only */

static const struct argp_option common_argp_options[] = {
        {"store", KEY_STORE, "DIR", 0, "The store (default: $SOLVERFS_STORE, else ~/.local/share/solverfs)", -2},
        {"wait", KEY_WAIT, "TIME", 0, "Give up (status 75) where no core has been free for TIME, 0: at once (default: wait)", -2},
        {"quiet", 'q', NULL, 0, "No notes and no progress, only results and errors", -2},
        {"verbose", 'v', NULL, 0, "Say more; twice: everything", -2},
        {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
        {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
        switch (key) {
        case KEY_STORE:
                if (*arg == '\0')
                        argp_error(state, "--store needs the name of a folder");
                common.store = arg;
                return 0;
        case 'h': /* argp's own is -?, which nobody types */
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
                return 0;
        case KEY_WAIT:
                common.gives_up = true;
                common.wait_ns = strcmp(arg, "0") == 0 ? 0 : command_duration(state, "--wait", arg);
                return 0;
        case 'q':
                common.quiet = true;
                return 0;
        case 'v':
                common.verbose++;
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct argp common_argp = {.options = common_argp_options, .parser = parse_common};
static const struct argp_child common_options[] = {{&common_argp, 0, NULL, 0}, {0}};

static void parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *input)
{
        struct argp with_common = *argp;
        int e;

        with_common.children = common_options;
        e = argp_parse(&with_common, argc, argv, flags, NULL, input);
        if (e != 0) {
                complain("cannot read the command line: %s", strerror(e));
                exit(STATUS_SYSTEM);
        }
        output_quiet(common.quiet, common.verbose);
}

void command_parse(const struct argp *argp, int argc, char **argv, void *input)
{
        parse(argp, 0, argc, argv, input);
}

void command_parse_level(const struct argp *argp, int argc, char **argv, void *input)
{
        parse(argp, ARGP_IN_ORDER, argc, argv, input);
}

uint64_t command_number(struct argp_state *state, const char *what, const char *text, uint64_t least, uint64_t most)
{
        char *end;
        unsigned long long n;

        errno = 0;
        n = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end || errno != 0 || n < least || n > most)
                argp_error(state, "%s takes a number from %llu to %llu, not '%s'", what, (unsigned long long)least,
                           (unsigned long long)most, text);
        return n;
}

uint64_t command_duration(struct argp_state *state, const char *what, const char *text)
{
        uint64_t ns = 0;
        int r = parse_duration(text, &ns);

        if (r < 0)
                argp_error(state, "%s: %s", what, error_message(r));
        if (ns == 0)
                argp_error(state, "%s must be greater than zero", what);
        return ns;
}

bool command_is_cpu(struct argp_state *state, const char *text)
{
        if (strcmp(text, "wall") != 0 && strcmp(text, "cpu") != 0)
                argp_error(state, "--clock is 'wall' or 'cpu', not '%s'", text);
        return strcmp(text, "cpu") == 0;
}

error_t command_run_option(int key, const char *arg, struct argp_state *state, bool *has_seed, uint64_t *seed, uint64_t *timeout_ns)
{
        switch (key) {
        case 's':
                *has_seed = true;
                *seed = command_number(state, "--seed", arg, 0, UINT32_MAX);
                return 0;
        case 't':
                *timeout_ns = command_duration(state, "--timeout", arg);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

void command_words(const struct argp_state *state, const char **ret_solver, char ***ret_words, size_t *ret_n)
{
        *ret_solver = state->argv[state->next];
        *ret_words = state->argv + state->next + 1;
        *ret_n = (size_t)(state->argc - state->next - 1);
}

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

int command_open(int store_flags, struct workspace **ret)
{
        char dir[PATH_SIZE];
        int r = command_store_dir(dir);

        if (r == STATUS_OK)
                r = command_need_store(dir);
        if (r != STATUS_OK)
                return r;
        r = workspace_open(dir, store_flags, ret);
        return r < 0 ? fail_as(r == -EPROTONOSUPPORT ? STATUS_FORMAT
                               : r == -ENOENT        ? STATUS_ABSENT
                                                     : STATUS_SYSTEM,
                               r)
                     : STATUS_OK;
}

int command_run_on(struct workspace *w, const char *place)
{
        int r = place ? workspace_run_on(w, place) : 0;

        return r < 0 ? fail_as(STATUS_USAGE, r) : STATUS_OK;
}

int command_engine(struct workspace *w, struct engine **ret)
{
        int r = workspace_engine(w, &(struct engine_options){.gives_up = common.gives_up, .wait_ns = common.wait_ns}, ret);

        return r < 0 ? fail_as(STATUS_SYSTEM, r) : STATUS_OK;
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal that our caller ignores (nohup; a script's background job) stays ignored. */
static bool is_ignored(int signal)
{
        struct sigaction was;

        return sigaction(signal, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
}

int command_signals(void)
{
        sigset_t set;
        int fd;

        sigemptyset(&set);
        for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
                if (!is_ignored(ending_signals[i]))
                        sigaddset(&set, ending_signals[i]);
        sigprocmask(SIG_BLOCK, &set, NULL);
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? errorf(-errno, "cannot watch for signals: %s", strerror(errno)) : fd;
}

bool command_interrupted(int signals)
{
        return fd_is_readable(signals);
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
        return stopped;
}

static bool is_stopped(void *user)
{
        return command_stopped();
}

const struct progress command_progress = {.tell = output_tell, .stop = is_stopped};
