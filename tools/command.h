/* Shared by the subcommands: opening the store, signals. A subcommand is a file cmd_*.c with a function that takes its own words (options.h) and
 * returns an exit status (output.h). */
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

/* The command under way. A process runs one, on one store; what is open here main() gives back behind it. */
struct common {
        const char *store; /* --store; NULL: not given */
        bool quiet;
        unsigned verbose;
        bool gives_up;      /* --wait: where no core is free */
        uint64_t wait_ns;   /* for so long */
        unsigned umask; /* as it was when we began; for what is the user's and no store's */

        struct workspace *workspace; /* command_open() */
        struct solver *solver;       /* the one that the command is about: command_open_solver() */
        struct engine *engine;       /* command_engine() */
        int signals;                 /* command_signals(); -1: none of them are looked for */
        char **names;                /* owned; of programs: command_program() */
        int status;                  /* the worst of command_worse() */
};
extern struct common common;

/* Writes a file that the user named, with the mode of their umask; making its text ended with `r`. -EIO with a sentence where it could not be made or
 * written. */
int command_write_file(const char *path, int r, const struct buffer *text);

int cmd_compare(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_solver_add(int argc, char **argv);
int cmd_solver_list(int argc, char **argv);
int cmd_solver_update(int argc, char **argv);
int cmd_solver_try(int argc, char **argv);
int cmd_recipe_draft(int argc, char **argv);
int cmd_recipe_list(int argc, char **argv);
int cmd_recipe_show(int argc, char **argv);
int cmd_solver_remove(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_case_add(int argc, char **argv);
int cmd_case_list(int argc, char **argv);
int cmd_case_remove(int argc, char **argv);
int cmd_set_add(int argc, char **argv);
int cmd_set_list(int argc, char **argv);
int cmd_set_remove(int argc, char **argv);
int cmd_mount(int argc, char **argv);
int cmd_unmount(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_reduce(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_fuzz(int argc, char **argv);
int cmd_incompleteness(int argc, char **argv);
int cmd_findings(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_alarms(int argc, char **argv);
int cmd_noise(int argc, char **argv);
int cmd_localize(int argc, char **argv);
int cmd_steps(int argc, char **argv);
int cmd_triage(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_portfolio_add(int argc, char **argv);
int cmd_portfolio_list(int argc, char **argv);
int cmd_portfolio_show(int argc, char **argv);
int cmd_portfolio_run(int argc, char **argv);
int cmd_portfolio_reset(int argc, char **argv);
int cmd_portfolio_remove(int argc, char **argv);
int cmd_portfolio_features(int argc, char **argv);
int cmd_fsck(int argc, char **argv);
int cmd_gc(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_worker(int argc, char **argv);

/* -- the store -------------------------------------------------------------------------------------------------- */

int command_store_dir(char ret[PATH_SIZE]); /* absolute; a status */
/* 0 when a store is at `dir`, else a status, and why is said. */
int command_need_store(const char *dir);
/* Opens the store; a status, and why is said. */
int command_open(int store_flags);

/* Of an option --on, before a solver is looked up: runs of this process are done at `place`, 'local' or a cluster of the config; NULL: as the config
 * says. A status, and why is said. */
int command_run_on(const char *place);

/* An engine with the settings of the store's config, where there is none yet; a status, and why is said. */
int command_engine(void);

/* Closes the engine, the solver and the store, as far as they are open. */
void command_close(void);

/* Something went wrong, and the command goes on: common.status is at least this one. */
void command_worse(int status);

/* For work that can be cancelled at any moment: SIGINT, SIGTERM and SIGHUP from now on come through common.signals and end nothing by
 * themselves. Before any thread is made. Ends the process where there is no descriptor for them. */
void command_signals(void);
bool command_interrupted(void); /* has one come? */
/* For work that can only end between two steps: it asks for the first signal; the second one ends the process. */
void command_stoppable(void);
bool command_stopped(void); /* so does a signal that command_signals() waits for */
extern const struct progress command_progress; /* shows how far it is; ends when command_stopped() */
