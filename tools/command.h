/* Shared by the subcommands: opening the store, signals. A subcommand is a file cmd_*.c with a function that parses its words (options.h). */
#pragma once

#include "core/query/query.h"
#include "options.h"
#include "output.h"

DEFINE_CLEANUP(struct workspace *, workspace_close)
DEFINE_CLEANUP(struct engine *, engine_close)
#define cleanup_workspace   cleanup(workspace_closep)
#define cleanup_engine      cleanup(engine_closep)
#define cleanup_solver      cleanup(solver_unrefp)
#define cleanup_solver_list cleanup(solver_list_unrefp)

/* The command of this process, on one store. command_end() closes what is open here. A command need not free what its static variables hold. */
struct common {
        const char *store; /* --store; NULL: not given */
        bool quiet;
        unsigned verbose;
        uint64_t wait_ns;   /* --wait: give up if no core gets free for so long; UINT64_MAX: never */
        unsigned umask;     /* the caller's; for the user's files */
        bool json;          /* --json */

        struct workspace *workspace; /* command_open() */
        const char *scratch;         /* a folder that command_close() deletes: command_scratch(); NULL: none */
        struct solver *solver;       /* the command's solver: command_open_solver() */
        struct engine *engine;       /* command_engine() */
        int signals;                 /* a signalfd: command_signals(); -1: none */
        char **names;                /* owned; names of programs: command_program() */
        int status;                  /* the worst one given to command_worse() */
};
extern struct common common;

/* Writes a file that the user named, with the mode of their umask; "-": standard output. Ends the command if that fails. */
void command_write_file(const char *path, const struct buffer *text);
/* Writes to *path a result that nothing else keeps. If that fails, complains and sets *path to NULL. With *path NULL prints the text, except with
 * --json: then the caller adds it to its object. A text that JSON cannot hold is printed all the same, and common.json becomes false. */
void command_write_result(const char **path, const struct buffer *text);

/* A subcommand. Its exit status is common.status, unless it ends by command_end(). */
typedef void command_fn(int argc, char **argv);
command_fn cmd_compare, cmd_diverge, cmd_export, cmd_history, cmd_import, cmd_init, cmd_solver_add, cmd_solver_list, cmd_solver_update,
        cmd_solver_try, cmd_recipe_draft, cmd_recipe_list, cmd_recipe_show, cmd_solver_remove, cmd_snapshot, cmd_case_add, cmd_case_cut,
        cmd_case_list, cmd_case_remove, cmd_set_add, cmd_set_list, cmd_set_remove, cmd_mount, cmd_unmount, cmd_build,
        cmd_reduce, cmd_report, cmd_run, cmd_fuzz, cmd_generate, cmd_transform, cmd_incompleteness, cmd_findings, cmd_watch, cmd_alarms, cmd_noise,
        cmd_localize, cmd_options, cmd_steps, cmd_triage, cmd_status, cmd_portfolio_add, cmd_portfolio_list, cmd_portfolio_show,
        cmd_portfolio_run, cmd_portfolio_reset, cmd_portfolio_remove, cmd_portfolio_features, cmd_fsck, cmd_gc, cmd_doctor, cmd_version, cmd_worker;

/* -- the end ----------------------------------------------------------------------------------------------------
 *
 * A command that cannot go on ends at that place. Work that must clean up first (release a lock, delete a folder) returns its error instead of
 * calling these. */

/* Closes what is open and ends the process with this status. */
_Noreturn void command_end(int status);
/* Returns `r` unless it is a -errno; then reports it (fail()) and ends the command. */
int command_must(int r);
int command_must_as(enum status status, int r); /* the same by fail_as() */
int command_must_usage(int r);                  /* the same by fail_usage() */
void command_ok(int status);   /* ends the command unless this is STATUS_OK */
/* Complains and ends the command. */
_Noreturn void command_refuse(enum status status, const char *format, ...) printf_like(2, 3);
/* Raises common.status to at least this one; the command goes on. */
void command_worse(int status);
/* Makes a temporary folder, solverfs-<purpose>-…, below $TMPDIR or /tmp. common.scratch points to `ret` until command_close() deletes the folder.
 * -errno with a sentence. */
int command_scratch(const char *purpose, char ret[PATH_SIZE]);
/* Calls fn with a temporary store (command_scratch()) in place of the command's, and returns fn's status. If the store cannot be made, returns
 * another status after a message. The store is deleted afterwards, even if fn ends the command (command_end()). Call it before command_program(),
 * whose names it frees. */
int command_with_scratch_store(int (*fn)(void *user), void *user);
/* Closes the engine, the solver and the store if they are open. */
void command_close(void);

/* -- the store: these end the command if they fail ---------------------------------------------------------------- */

void command_store_dir(char ret[PATH_SIZE]);  /* absolute */
void command_need_store(const char *dir);     /* checks that `dir` has a store */
void command_need_own_store(const char *dir); /* and that it is not another user's, who could not use files that this user writes there */
void command_open(int store_flags);           /* opens common.workspace, unless it is open */
/* For --on: runs of this process go to `cluster`, a name of the config or 'local'; NULL: as the config says. Call it before a solver is looked up. */
void command_run_on(const char *cluster);
/* Opens common.engine with the settings of the store's config, unless it is open. */
void command_engine(void);

/* -- signals ----------------------------------------------------------------------------------------------------- */

/* Call once, first. SIGINT, SIGTERM and SIGHUP then end the process at once, with status 130, until command_signals() or command_stoppable(). */
void command_take_signals(void);
/* For work that can be cancelled at any moment: from now on SIGINT, SIGTERM and SIGHUP arrive at common.signals and do not end the process.
 * Call it before any thread is made. */
void command_signals(void);
bool command_interrupted(void); /* true if one has arrived */
/* For work that can only end between two steps: from now on the first signal makes command_stopped() true, and the second ends the process. */
void command_stoppable(void);
bool command_stopped(void); /* also true after a signal that command_signals() watches for */
extern const struct progress command_progress; /* shows progress; stops when command_stopped() */
