/* solverfs: finds the subcommand and calls it. */
#include "command.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cache/base/lost.h"
#include "version.h"

/* A subcommand: its name as typed, one or two words. */
struct command {
        const char *name, *arguments, *summary;
        command_fn *run;
};

static const struct command commands[] = {
        {"init", "", "make a store", cmd_init},
        {"solver add", "NAME REPO", "add a solver from its git repository", cmd_solver_add},
        {"solver list", "", "list the solvers", cmd_solver_list},
        {"solver update", "[NAME...]", "fetch and index new commits", cmd_solver_update},
        {"solver try", "NAME [REV] [CASE]", "report all problems of a recipe", cmd_solver_try},
        {"solver remove", "NAME...", "remove solvers; measurements stay", cmd_solver_remove},
        {"recipe draft", "REPO [REV]", "draft a recipe for sources without one", cmd_recipe_draft},
        {"recipe list", "", "list the recipes known by name", cmd_recipe_list},
        {"recipe show", "NAME", "print and check a recipe", cmd_recipe_show},
        {"snapshot", "SOLVER DIR", "make a working tree a commit of the store", cmd_snapshot},
        {"case add", "FILE|DIR...", "add benchmark instances", cmd_case_add},
        {"case cut", "CASE#N", "cut a script down to one of its queries", cmd_case_cut},
        {"case list", "[CASE...]", "list the cases, id first", cmd_case_list},
        {"case remove", "CASE...", "remove cases from listings; measurements stay", cmd_case_remove},
        {"set add", "NAME CASE...", "put cases into a named set", cmd_set_add},
        {"set list", "[NAME...]", "list the sets, or the cases of some", cmd_set_list},
        {"set remove", "NAME [CASE...]", "remove a set, or cases from it", cmd_set_remove},
        {"mount", "DIR", "mount the store", cmd_mount},
        {"unmount", "DIR", "unmount it and wait for its end", cmd_unmount},
        {"build", "SOLVER REV...", "build commits", cmd_build},
        {"run", "SOLVER REV... CASE...", "measure commits on cases", cmd_run},
        {"history", "SOLVER CASE...", "measure cases along a history, coarse to fine", cmd_history},
        {"compare", "A B [CASE...]", "compare two versions on the same cases", cmd_compare},
        {"export", "[SOLVER [REV...]]", "write finished results for other tools", cmd_export},
        {"import", "STORE...", "import results of other stores and tools", cmd_import},
        {"watch", "SOLVER", "measure new commits and report regressions", cmd_watch},
        {"alarms", "SOLVER [N]", "list the alarms of watches", cmd_alarms},
        {"fuzz", "SOLVER", "look for performance regressions between versions", cmd_fuzz},
        {"generate", "[KIND]", "print generated formulas", cmd_generate},
        {"transform", "KIND [FILE]", "print a changed formula", cmd_transform},
        {"incompleteness", "SOLVER", "look for formulas that should not be unknown", cmd_incompleteness},
        {"findings", "SOLVER", "list the findings of campaigns", cmd_findings},
        {"noise", "SOLVER CASE...", "measure how much a version's times vary", cmd_noise},
        {"localize", "SOLVER CASE...", "find the commits that made cases slow", cmd_localize},
        {"options", "[SOLVER] CASE|FINDING", "find options that restore lost speed", cmd_options},
        {"diverge", "SOLVER CASE A B", "show where the runs of two versions part", cmd_diverge},
        {"reduce", "SOLVER FOUND|CASE", "find a smaller input that shows the same", cmd_reduce},
        {"steps", "SOLVER CASE...", "find where a history became slower or faster", cmd_steps},
        {"triage", "SOLVER...", "classify the changes that made a solver slow", cmd_triage},
        {"report", "SOLVER", "write a page with all results of a solver", cmd_report},
        {"status", "", "show running and waiting jobs", cmd_status},
        {"portfolio add", "NAME ARM...", "define a choice among solvers that learns", cmd_portfolio_add},
        {"portfolio list", "", "list the portfolios", cmd_portfolio_list},
        {"portfolio show", "NAME", "show a portfolio's arms and its score", cmd_portfolio_show},
        {"portfolio run", "NAME CASE...", "let a portfolio answer cases", cmd_portfolio_run},
        {"portfolio reset", "NAME...", "forget what portfolios have learned", cmd_portfolio_reset},
        {"portfolio remove", "NAME...", "remove portfolios from the config", cmd_portfolio_remove},
        {"portfolio features", "CASE...", "print the features that portfolios learn from", cmd_portfolio_features},
        {"fsck", "", "check the whole store and repair it", cmd_fsck},
        {"gc", "", "free disk space; never drops a measurement", cmd_gc},
        {"doctor", "", "say what this machine and this store can do", cmd_doctor},
        {"worker", "", "run programs for a store on another machine", cmd_worker},
        {"version", "", "print versions", cmd_version},
};

static const char top_end[] =
        "Every command explains itself with --help; --store, -q and -v may precede or follow it.\n\n"
        "SOLVER is a name from 'solverfs solver list'. REV is whatever git rev-parse takes: a commit, a prefix of four digits or more, a tag, a "
        "branch, HEAD~3; A..B stands for a range, 'v1.*' for the tags it matches. CASE is an id, a name, a prefix of a sha256, a set, 'all', and "
        "more: see 'solverfs run --help'.\n\n"
        "Exit status:\n"
        "    0  done\n"
        "    1  failed: a build failed, an answer was wrong, damage was found\n"
        "    2  wrong usage\n"
        "    3  no store, or no such solver, case or revision\n"
        "    4  the store, the disk or this machine failed\n"
        "    5  the store is of another version of solverfs\n"
        "    6  'solverfs watch --once' reported an alarm\n"
        "    7  a campaign began with other inputs, or another solverfs\n"
        "    8  its memory was damaged after it had printed something: run it again\n"
        "   75  with --wait: no core got free in time; or the queue is full\n"
        "  130  interrupted\n"
        "  141  standard output was closed\n\n"
        "The store is the folder given with --store, else $SOLVERFS_STORE, else $XDG_DATA_HOME/solverfs, else ~/.local/share/solverfs.";

/* The commands whose names begin with `prefix` ("", "solver "), a line each. */
static void list_commands(const char *prefix, struct buffer *to)
{
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
                char usage[80];

                if (strncmp(commands[i].name, prefix, strlen(prefix)) != 0)
                        continue;
                snprintf(usage, sizeof(usage), "%s %s", commands[i].name, commands[i].arguments);
                buffer_addf(to, "  %-26s %s\n", usage, commands[i].summary);
        }
}

static bool ends_in_word(const char *name, const char *word)
{
        const char *last = strchr(name, ' ');

        return last && strcmp(last + 1, word) == 0;
}

/* Names the commands that may have been meant: those of groups that end in this word, or the one spelled most alike. */
static _Noreturn void refuse_command(const char *name, const char *prefix)
{
        cleanup_buffer struct buffer meant = {0};
        const char *nearest = NULL;
        size_t least = MIN(strlen(name) - strlen(prefix), (size_t)3); /* all of a word changed is another word */

        for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
                const unsigned n = word_distance(name, commands[i].name);

                if (ends_in_word(commands[i].name, name))
                        buffer_addf(&meant, "%s'%s'", meant.size > 0 ? ", " : "", commands[i].name);
                if (n < least && strncmp(prefix, commands[i].name, strlen(prefix)) == 0)
                        least = n, nearest = commands[i].name;
        }
        if (meant.size == 0 && nearest)
                buffer_addf(&meant, "'%s'", nearest);
        if (meant.size > 0)
                command_refuse(STATUS_USAGE, "no command '%s'; did you mean %s?", name, meant.data);
        command_refuse(STATUS_USAGE, "no command '%s'; 'solverfs %s--help' lists them", name, prefix);
}

static int dispatch(const char *prefix, int argc, char **argv)
{
        cleanup_buffer struct buffer doc = {0};
        char name[80], called[96], help[] = "--help";
        const bool top = *prefix == '\0';
        int next;

        buffer_addf(&doc, "%s.\vCommands:\n", top ? "Browse the history of a solver as files, and measure any commit on any case"
                    : "One of the commands below");
        list_commands(prefix, &doc);
        if (top)
                buffer_addf(&doc, "\n%s", top_end);
        next = command_parse_level(argc, argv, doc.data);
        if (next == argc)
                command_refuse(STATUS_USAGE, "no command given; 'solverfs %s--help' lists them", prefix);
        snprintf(name, sizeof(name), "%s%s", prefix, argv[next]);
        snprintf(called, sizeof(called), "solverfs %s", name);
        if (top && strcmp(name, "help") == 0) { /* `help run` is `run --help`, as in git */
                char *words[5] = {argv[0]};
                int n = 1;

                for (; n < 3 && argv[next + n]; n++)
                        words[n] = argv[next + n];
                words[n] = help;
                return dispatch("", n + 1, words);
        }
        argv[next] = called;
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                if (strcmp(commands[i].name, name) == 0) {
                        commands[i].run(argc - next, argv + next);
                        return common.status;
                }
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                if (top && strncmp(commands[i].name, name, strlen(name)) == 0 && commands[i].name[strlen(name)] == ' ') {
                        strncat(name, " ", sizeof(name) - strlen(name) - 1);
                        return dispatch(name, argc - next, argv + next);
                }
        refuse_command(name, prefix);
}

/* A caller may have closed standard input, output or error. The next file opened, a lock or the database, would get that number, and our
 * messages would go into it. So a descriptor that can be neither read nor written takes the number: using it remains an error. */
static bool take_standard_descriptors(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
                        return false;
        return true;
}

/* Many waiting readers and workers need more descriptors than the thousand a shell allows. We may take all, as nothing here calls select();
 * programs that we run have their own limits (core/sandbox/surroundings.h). */
static void take_open_files(void)
{
        struct rlimit files;

        if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
                files.rlim_cur = files.rlim_max;
                setrlimit(RLIMIT_NOFILE, &files);
        }
}

#define STACK_USUAL (UINT64_C(8) << 20)
#define STACK_LEAST (UINT64_C(256) << 10)

/* Main stack and threads have at least what is usual, whatever soft limit the shell gives. Where the hard limit is tiny we would end by SIGSEGV. */
static void take_stack(void)
{
        pthread_attr_t attributes;
        struct rlimit stack;

        if (getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur >= STACK_USUAL)
                return;
        stack.rlim_cur = MIN(stack.rlim_max, STACK_USUAL);
        if (stack.rlim_cur < STACK_LEAST)
                command_refuse(STATUS_SYSTEM, "a stack may have %llu KiB here, and solverfs needs %llu: raise the hard limit ('ulimit -Hs' shows it)",
                               (unsigned long long)stack.rlim_cur >> 10, (unsigned long long)STACK_LEAST >> 10);
        setrlimit(RLIMIT_STACK, &stack);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, stack.rlim_cur & ~UINT64_C(0xffff)); /* whole pages; the C library read the limit at its start */
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
        char called[] = "solverfs";

        if (!take_standard_descriptors())
                return STATUS_SYSTEM;
        lost_begin(argv, STATUS_LOST);

        argp_program_version = "solverfs " SOLVERFS_VERSION;
        argp_err_exit_status = STATUS_USAGE;
        take_open_files();
        signal(SIGPIPE, SIG_IGN);  /* if our reader goes away, write() fails and we end in order */
        signal(SIGXFSZ, SIG_IGN);  /* so it does at 'ulimit -f' */
        signal(SIGCHLD, SIG_DFL);  /* if our parent ignored it, our children's ends would be lost */
        common.umask = umask(077); /* files that libgit2 and others write into a store are private, too */
        if (argc > 0)
                argv[0] = called;
        output_setup();
        command_take_signals();
        take_stack();
        command_end(dispatch("", argc, argv));
}
