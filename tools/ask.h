/* Asks for many values (core/engine/ask.h), shows a progress bar with an estimate, and prints the results in order. */
#pragma once

#include "command.h"
#include "core/engine/ask.h"

struct command_batch {
        size_t n;
        bool again;        /* also compute stored values anew */
        const char *title; /* "run": for the progress bar */
        const struct column *columns; /* of a table, whose heading is printed first (not with --json); NULL: no table */
        /* Makes the query of item i. 0, or -errno, which becomes the item's answer. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* Called by the main thread, once for each item, in any order. The texts added to `to` are printed in the items' order. */
        void (*answered)(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to);
        void (*meanwhile)(void *user); /* called by the main thread about five times a second while waiting; may be NULL */
        void *user;
};
/* Asks common.engine, opening it if necessary, and watches common.signals. One item is asked for as a person, several as a batch. STATUS_OK: all items
 * were answered. Otherwise the rest are withdrawn. STATUS_INTERRUPTED: a signal; STATUS_PIPE: standard output was closed (output_end() reports it);
 * other statuses: after a message. */
int command_ask_all(const struct command_batch *a);
/* The same; ends the command unless every item was answered. */
void command_ask(const struct command_batch *a);

/* Asks for one value, with a person's priority; common.engine must be open. *ret: a reference. -ECANCELED: a signal, or the query was cancelled.
 * Other -errno: the reason is its sentence. */
int command_get(struct query *q, const char *title, bool again, struct value **ret);
/* The same for the build of a commit of common.solver. */
int command_build(uint32_t commit, bool again, struct build_record **ret);

/* For work in rounds, where each batch depends on earlier answers (a comparison, a localization): asks one, at a batch's priority. 0 or -errno. */
int ask_round(struct batch *a, int (*progress)(void *user, const struct ask_progress *p));
/* Call after the last round, with its result `r`. If a signal ended the round, notes "stopping" and `kept`, and returns -EINTR; else returns `r`. */
int ask_end(int r, const char *kept);

/* Shows progress: `what`, p->answered of `total`, the running build, if any, and the time left. If nothing runs, it shows what is waited for and no
 * time left, as it is unknown how long others keep the cores. `ahead`: nanoseconds of further work, not asked for yet. */
void ask_show(const struct ask_progress *p, const char *what, uint64_t total, uint64_t ahead);
