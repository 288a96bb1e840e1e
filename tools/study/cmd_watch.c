/* solverfs watch: fetches, builds and measures new commits as they arrive, and reports what got worse. */
#include <poll.h>

#include "alarms.h"
#include "tools/ask.h"
#include "cache/base/lock.h"
#include "core/study/compare/comparing.h"
#include "core/study/watch/watching.h"
#include "tools/words.h"

#define EVERY (15 * 60 * NSEC_PER_SEC)

struct watch {
        /* options */
        const char *solver_name, *command;
        struct watched watched;
        struct words branches; /* its patterns */
        uint64_t every;
        bool once;

        unsigned told;   /* how many alarms this process reported */
        uint32_t *tried; /* numbers of the alarms reported in this turn, also of those whose command failed */
        size_t n_tried;
};

/* -- reporting alarms --------------------------------------------------------------------------------------------- */

/* 0: reported; or, as its command failed, to be reported again in the next turn. -EPIPE: standard output was closed. -EINTR; -errno of the store. */
static int tell(struct watch *o, const struct observation *a)
{
        cleanup_buffer struct buffer line = {0};
        int r;

        alarm_print_line(common.solver, a, &line);
        alarm_line("%s", line.data);
        alarm_show(a);
        o->told++;
        r = output_broken() ? -EPIPE : o->command ? alarm_command(a, o->command) : 0;
        return r == 0 ? observation_set_told(common.workspace, common.solver->number, a->number, now_seconds()) : r == 1 ? 0 : r;
}

static bool is_tried(const struct watch *o, uint32_t number)
{
        for (size_t i = 0; i < o->n_tried; i++)
                if (o->tried[i] == number)
                        return true;
        return false;
}

/* Reports the alarms of this turn, and those left unreported by a watch that was killed or whose command failed. */
static int tell_untold(struct watch *o)
{
        cleanup_observations struct observations all = {0};
        int r = observations_read(common.workspace, common.solver->number, "alarms", &all);

        for (size_t i = 0; r == 0 && i < all.n; i++) {
                if (all.list[i]->told != 0 || is_tried(o, all.list[i]->number))
                        continue;
                list_add(o->tried, o->n_tried, all.list[i]->number);
                r = tell(o, all.list[i]);
        }
        return r;
}

/* -- one branch --------------------------------------------------------------------------------------------------- */

static int show(void *, const struct ask_progress *p)
{
        ask_show(p, "watch", p->n, 0);
        return 0;
}

/* Measures the new commits of a branch and stores their alarms. *ret_base: the newest commit that was built and measured; COMMIT_NONE: none. */
static int watch_fresh(const struct watched_stretch *stretch, const struct case_selection *cases, uint32_t *ret_base)
{
        cleanup_watching struct watching *watching = watching_new(common.workspace, common.solver, stretch, cases->list, cases->n);
        const struct watching_result *found = watching_result(watching);
        struct batch batch;
        int r = workspace_engine(common.workspace, NULL, &common.engine);

        while (r == 0 && (r = watching_next(watching, &batch)) > 0)
                r = ask_round(&batch, show);
        common.engine = engine_close(common.engine);
        if (r == -ECANCELED && command_interrupted())
                r = -EINTR;
        for (size_t i = 0; r >= 0 && i < found->n_alarms; i++)
                r = observation_add(common.workspace, found->alarms[i]);
        if (r < 0)
                return r;
        if (found->notes.size > 0)
                note("%.*s", (int)found->notes.size - 1, found->notes.data);
        *ret_base = found->base;
        return 0;
}

/* 0, or -errno that ends the watch. A problem of this branch alone is reported, and the branch is tried again in the next turn. */
static int watch_branch(struct watch *o, const struct watched_stretch *stretch, const struct case_selection *cases)
{
        cleanup_free char *branch = printable(stretch->branch);
        const char *name = common.solver->recipe->name;
        uint32_t base = COMMIT_NONE;
        int r = 0;

        /* A stretch begins because the watch does (is_open), or because the branch has another history. */
        if (stretch->was_rewound)
                note("%s %s went back to an older commit: watched from there", name, branch);
        else if (stretch->begins)
                note("%s %s: %sthe watch begins with its last commit", name, branch,
                     stretch->state.is_open ? "" : "no commit in common with those seen; ");
        else if (stretch->n_fresh > 0)
                note("%s %s: %zu new commit%s", name, branch, stretch->n_fresh, plural(stretch->n_fresh));
        if (stretch->n_fresh > 0)
                r = watch_fresh(stretch, cases, &base);
        if (r == 0)
                r = watched_stretch_done(common.workspace, common.solver, &o->watched, stretch, base);
        if (r == -EINTR)
                return r;
        if (r < 0) {
                complain("%s %s: %s; tried again at the next turn", name, branch, error_message(r));
                command_worse(status_of(r) == STATUS_ABSENT ? STATUS_FAILED : status_of(r)); /* the user named nothing that is absent */
        }
        return tell_untold(o);
}

/* -- a turn ------------------------------------------------------------------------------------------------------- */

/* If nothing can be fetched, the commits already present are watched. */
static int fetch(void)
{
        uint32_t n_new;
        int r = history_update(common.solver->history, common.solver->recipe->repository, false, &command_progress, &n_new)
            ?: workspace_fetch_sources(common.workspace, common.solver, &command_progress);

        if (command_interrupted())
                return -EINTR;
        if (r < 0) {
                complain("cannot fetch %s: %s; tried again at the next turn", common.solver->recipe->name, error_message(r));
                command_worse(STATUS_FAILED);
        }
        return 0;
}

static int watch_branches(struct watch *o)
{
        /* comparing_cases() has the cases that both versions take: here those of one solver. */
        const struct comparing_version twice[2] = {{common.solver, COMMIT_NONE}, {common.solver, COMMIT_NONE}};
        cleanup_watched struct watched_stretches stretches = {0};
        cleanup_case_selection struct case_selection cases = {0};
        const char *set = o->watched.set;
        int r = comparing_cases(common.workspace, set, twice, &cases);

        if (r == 0 && cases.n == 0)
                r = errorf(-ENOENT, "there are no cases to measure%s%s; see 'solverfs case add'", set ? " in the set " : "", set ? set : "");
        if (r == 0)
                r = watched_stretches(common.workspace, common.solver, &o->watched, &stretches);
        if (r == 0 && stretches.n_matching == 0)
                note("%s has no branch that --branch matches; nothing is measured until there is one", common.solver->recipe->name);
        for (size_t i = 0; r == 0 && i < stretches.n; i++)
                r = watch_branch(o, &stretches.list[i], &cases);
        return r;
}

static int turn(struct watch *o)
{
        o->n_tried = 0;
        common.solver = solver_unref(common.solver); /* its recipe may have changed */
        return workspace_solver(common.workspace, o->solver_name, &common.solver)
            ?: tell_untold(o)
            ?: fetch()
            ?: watch_branches(o);
}

/* False: a signal arrived first. */
static bool wait_until(uint64_t when)
{
        for (uint64_t now; (now = now_ns()) < when;) {
                struct pollfd p = {.fd = common.signals, .events = POLLIN};
                uint64_t ms = (when - now) / NSEC_PER_MSEC + 1;

                if (poll(&p, 1, (int)MIN(ms, (uint64_t)60 * 1000)) > 0)
                        return false;
        }
        return true;
}

static int watch(struct watch *o)
{
        for (;;) {
                uint64_t begun = now_ns();
                int r = turn(o);

                if (r == -EINTR || r == -EPIPE)
                        return r == -EINTR ? STATUS_INTERRUPTED : STATUS_PIPE;
                if (r < 0) {
                        complain("%s%s", error_message(r), o->once ? "" : "; tried again at the next turn");
                        command_worse(status_of(r));
                }
                if (o->once)
                        return o->told > 0 ? STATUS_ALARM : common.status;
                progress_clear();
                if (!wait_until(begun + o->every))
                        return STATUS_INTERRUPTED;
        }
}

/* One watch of a solver at a time: two would report everything twice. */
static int watch_alone(struct watch *o)
{
        char name[48];
        int lock, r;

        snprintf(name, sizeof(name), "watch-%" PRIu32 ".lock", common.solver->number);
        r = lock_try(workspace_dir(common.workspace), name, LOCK_ALONE, &lock);
        if (r == -EAGAIN)
                command_refuse(STATUS_FAILED, "%s is being watched by another process", o->solver_name);
        command_must(r);
        r = watch(o);
        lock_release_unlink(workspace_dir(common.workspace), name, lock);
        return r;
}

static const char help[] =
        "Watch a solver: fetch new commits of its branches, build and measure them, newest first, and tell what got worse and by which commit.\v"
        "An alarm is a commit that made cases slower (by a fifth, by 10 ms, and significantly) or larger (by a fifth and 10 MB of memory), that lost "
        "or contradicted answers, that answers "
        "wrongly, or that cannot be built while its parent can. It is told once: by a row on standard output, a line on standard error, and the "
        "command of --on-alarm. It stays in <solver>/alarms/<n> of the mount and in 'solverfs alarms'.\n\n"
        "A watch begins with the last commit of the default branch (or of the branches chosen with --branch), and nothing older. Another --set or "
        "--branch is another watch. Of more than nine new commits nine are measured; where they differ the gap is bisected.\n\n"
        "The command is run by /bin/sh, with the alarm's text as its standard input and in the file $SOLVERFS_ALARM. Its environment has SOLVER, "
        "NUMBER, KIND, BRANCH, COMMIT, PARENT, SUBJECT, CASE (the worst), CASES (how many), BEFORE, AFTER, FACTOR and SOLVERFS_STORE; '-' stands for "
        "what does not apply. When it ends with a status other than 0, or takes longer than five minutes, the alarm is told again at the next turn "
        "or start.\n\n"
        "The exit status of --once is 6 after an alarm, 1 if the solver could not be fetched.\n\n"
        "  solverfs watch z3 --set smoke --on-alarm 'mail -s \"$KIND $COMMIT\" me'\n"
        "  solverfs watch z3 --once --branch master --branch 'release/*'";

void cmd_watch(int argc, char **argv)
{
        struct watch o = {0};
        const struct command_option options[] = {
                {"set", 0, "NAME", "Measure the cases of this set; all cases unless given", .text = &o.watched.set},
                {"branch", 0, "PATTERN", "Watch the branches that match (* ? [); may be repeated; all unless given", .each = &o.branches},
                {"every", 0, "T", "Time from the beginning of a turn to the next: 90s, 15m (default), 2h", .ns = &o.every},
                {"once", 0, NULL, "One turn, for cron and CI: see the exit status below", .on = &o.once, .excludes = "every"},
                {"on-alarm", 0, "COMMAND", "Run this for each alarm", .text = &o.command},
                OPTION_JSON("Print a JSON object for each alarm, a line each"),
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER", help, options);

        o.solver_name = words.list[0];
        o.watched.patterns = o.branches.list;
        if (o.every == 0)
                o.every = EVERY;
        command_signals();
        command_open_solver(0, NULL, o.solver_name);
        command_need_history();
        command_worse(watch_alone(&o));
        free(o.tried);
        free(o.branches.list);
}
