/* Judges the end of a command: the record's reason, and whether the failure may have come from outside of the commit. */
#include "core/build/attempt.h"

#include <signal.h>

#define COMMAND_MAX 160 /* of a command shown in a reason */

/* -- by the words of its output -- */

static bool says(const struct execute_result *x, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (x->out.size > 0 && memmem(x->out.data, x->out.size, words[i], strlen(words[i])))
                        return true;
        return false;
}

/* True if it failed for lack of the network, by the words of curl, git, pip, cargo, Go, wget and the C library. */
static bool wants_network(const struct execute_result *x)
{
        static const char *const words[] = {"Could not resolve host",         "Temporary failure in name resolution",
                                            "Network is unreachable",         "ENETUNREACH",
                                            "unable to resolve host address", "dial tcp: lookup",
                                            "Name or service not known"};

        return says(x, words, ARRAY_SIZE(words));
}

/* True if no process could be started any more, by the words of make, gcc and bash, of ninja, and of dash. A build's own limit ends as END_PROCESSES;
 * this one was the machine's. */
static bool wants_processes(const struct execute_result *x)
{
        static const char *const words[] = {"fork: Resource temporarily unavailable",
                                            "posix_spawn: Resource temporarily unavailable", ": Cannot fork"};

        return x->end == END_EXIT && x->code != 0 && says(x, words, ARRAY_SIZE(words));
}

/* A signal that people and services end processes with may have come from anywhere. Mostly it hits not the shell but a process that the shell has
 * started. Then only a status shows it, or a word of the shell, make, a compiler's driver, cargo, go or Python. */
static bool may_be_killed(const struct execute_result *x)
{
        static const char *const words[] = {"Killed\n", " Killed  ", "Killed signal terminated program", "terminated with signal 9", "Killed (program ",
                                            "signal: 9, SIGKILL", "signal: killed", "Signals.SIGKILL", "Terminated\n", " Terminated  ",
                                            "Terminated signal terminated program", "terminated with signal 15", "signal: 15, SIGTERM",
                                            "signal: terminated", "Signals.SIGTERM"};
        static const int signals[] = {SIGHUP, SIGINT, SIGKILL, SIGTERM};

        const bool has_exited = x->end == END_EXIT || x->guessed;

        for (size_t i = 0; has_exited && i < ARRAY_SIZE(signals); i++)
                if (x->code == 128 + signals[i])
                        return true;
        return x->doubt == DOUBT_SIGNAL || (has_exited && says(x, words, ARRAY_SIZE(words)));
}

/* -- judging -- */

/* A build that ran into its time limit with less than a quarter of one core, because others had them, says nothing about the commit. A build that
 * sleeps or hangs waits for no core. */
static bool is_starved(const struct attempt *a, const struct execute_result *x)
{
        return x->end == END_TIMEOUT && a->made.cpu_ns < a->made.duration_ns / 4 && a->waited_ns > a->made.duration_ns / 2;
}

/* True if the end of the command may not be the commit's fault. */
static bool is_doubted(const struct attempt *a, const struct execute_result *x)
{
        return x->doubt == DOUBT_MEMORY || (x->doubt == DOUBT_PAUSE && x->end == END_TIMEOUT) || is_starved(a, x) ||
               may_be_killed(x) || wants_processes(x);
}

/* Another explanation to add after a failed command's status. */
static const char *hint(const struct attempt *a, const struct execute_result *x)
{
        if (a->sources.files.n == 0 && a->request->recipe->paths[0])
                return " (this commit has none of the recipe's 'paths', so the folder is empty)";
        return wants_network(x) ? " (a build has no network, and it seems to want one)" : "";
}

static int name_reason(struct attempt *a, size_t number, const char *text, const struct execute_result *x)
{
        const struct recipe_limits *limits = &a->request->recipe->build_limits;
        char command[COMMAND_MAX + 64];

        snprintf(command, sizeof(command), "command %zu (%.*s%s)", number + 1, COMMAND_MAX, text,
                 strlen(text) > COMMAND_MAX ? "…" : "");
        switch (x->end) {
        case END_EXIT:
                return x->code == 0 ? 0 : attempt_fail(a, "%s exited with status %d%s", command, x->code, hint(a, x));
        case END_SIGNAL:
                return attempt_fail(a, "%s was killed by signal %d (%s)", command, x->code, strsignal(x->code));
        case END_TIMEOUT:
                return attempt_fail(a, "timed out after %s, in %s", format_duration(limits->wall_ns).s, command);
        case END_MEMORY:
                return attempt_fail(a, "%s needs more than the %s of memory it may use (build-memory)", command, format_size(limits->memory).s);
        case END_PROCESSES:
                return attempt_fail(a, "%s needs more than the %llu processes it may have (build-processes)", command,
                                    (unsigned long long)limits->processes);
        case END_OUTPUT:
                return attempt_fail(a, "%s wrote more than %s of temporary files", command, format_size(FILE_MAX).s);
        case END_CANCELLED:
                return errorf(-ECANCELED, "the build was cancelled");
        case END_NOEXEC:
                return errorf(-EIO, "cannot run /bin/sh for a build: %s", strerror(x->code));
        }
        return errorf(-EIO, "a build command ended in an unknown way: %d", x->end);
}

bool build_limit_is_raised(const char *reason, const struct recipe_limits *now)
{
        char was[32];
        uint64_t limit;
        int whole = 0;

        if (sscanf(reason, "timed out after %31[^,]", was) == 1)
                return parse_duration(was, &limit) == 0 && now->wall_ns > limit;
        for (const char *p; (p = strstr(reason, " needs more than the ")); reason = p + 1) /* the last one: the command may have these words, too */
                ;
        if (sscanf(reason, "needs more than the %31s of memory it may use (build-memory)%n", was, &whole) == 1 && !reason[whole])
                return parse_size(was, &limit) == 0 && now->memory > limit;
        if (sscanf(reason, "needs more than the %31s processes it may have (build-processes)%n", was, &whole) == 1 && !reason[whole])
                return parse_size(was, &limit) == 0 && now->processes > limit;
        return false;
}

int attempt_judge(struct attempt *a, size_t number, const char *text, const struct execute_result *x)
{
        int r = name_reason(a, number, text, x);

        a->doubted = a->made.reason && is_doubted(a, x);
        return r;
}
