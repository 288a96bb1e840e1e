/* solverfs worker: runs programs for another machine, over standard input and output. */
#include "cache/base/lost.h"
#include "tools/command.h"
#include "core/remote/walltime.h"
#include "core/remote/worker.h"

#include <fcntl.h>
#include <termios.h>

static void parse_keep(void *to, const char *text)
{
        if (parse_size(text, to) < 0)
                command_usage("--keep '%s' is no size, like 8g", text);
}

/* Standard input and output carry only packets: we keep copies for these, other output goes to standard error, and programs that we start get neither. */
static int take_pipes(struct worker_options *o)
{
        struct termios terminal;
        cleanup_close int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

        o->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        o->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (nothing < 0 || o->in < 0 || o->out < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
                return errorf(-errno, "cannot take standard input and output: %s", strerror(errno));
        if (isatty(o->in)) /* first: a terminal that is also the output's must not be made raw */
                return errorf(-ENOTTY, "a worker talks to a program, not to a terminal: see docs/cluster.md");
        if (tcgetattr(o->out, &terminal) == 0) { /* unbuffered srun gives a terminal, which must not change bytes */
                cfmakeraw(&terminal);
                tcsetattr(o->out, TCSANOW, &terminal);
        }
        return 0;
}

void cmd_worker(int argc, char **argv)
{
        static const char doc[] =
                "Run programs for a store on another machine, over standard input and output. Started by the line 'launch' of a "
                "[cluster \"NAME\"] in a store's config, not by hand.";
        cleanup_free char *folder = NULL;
        struct worker_options o = {.bound = UINT64_C(8) << 30, .left_ns = UINT64_MAX};
        const char *given = NULL, *tmp = getenv("TMPDIR");
        bool is_unknown = false; /* when the job of Slurm ends */
        int r;
        const struct command_option options[] = {
                {"folder", 'f', "DIR", "Keep files there (default: $TMPDIR/solverfs-worker-UID)", .text = &given},
                {"keep", 'k', "SIZE", "Keep at most SIZE of files (default: 8g)", .parse = parse_keep, .to = &o.bound},
                {"slots", 'n', "N", "Run at most N programs at a time (default: one on each core)", .number = &o.slots, .least = 1, .most = 1024},
                {"for", 't', "TIME", "The worker will be ended after TIME (default: the end of the Slurm job, else never)", .ns = &o.left_ns},
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        lost_output(); /* do not restart: bytes already read would not come again */
        if (o.left_ns == UINT64_MAX)
                o.left_ns = walltime_left(&is_unknown);
        if (is_unknown)
                complain("squeue does not say on this node when the job of Slurm ends: a run may be cut off by its end and is done again; add --for");
        folder = given ? copy_string(given) : format_string("%s/solverfs-worker-%u", tmp && *tmp ? tmp : "/tmp", (unsigned)getuid());
        o.folder = folder;
        r = take_pipes(&o);
        command_must_as(STATUS_SYSTEM, r == 0 ? worker_serve(&o) : r);
}
