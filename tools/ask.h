/* Asks for many values (core/engine/ask.h), shows a progress bar with an estimate, and prints results in the order asked for. */
#pragma once

#include "command.h"
#include "core/engine/ask.h"

struct command_batch {
        size_t n;
        bool again;
        const char *title; /* "run" */
        const struct column *columns; /* of a table, whose heading comes before all answers without --json; NULL: no table */
        /* The query of item i; 0 or -errno, which becomes its answer. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* Called in the main thread, once for each item, in any order. The text that it adds to `to` is printed in the items' order. */
        void (*answered)(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to);
        void (*meanwhile)(void *user); /* called about five times a second while waiting, in the main thread; may be NULL */
        void *user;
};
/* Asks common.engine, which it opens if need be, and watches common.signals. STATUS_OK when every item was answered. Else the other items were taken
 * back: STATUS_INTERRUPTED after a signal, STATUS_PIPE when standard output was closed (output_end() says so), or another status, and why was said. One
 * item is asked for as a person, several as a batch. */
int command_ask_all(const struct command_batch *a);
/* The same; ends the command unless every item was answered. */
void command_ask(const struct command_batch *a);

/* Builds a commit of common.solver, by the open engine, as a person asks for it; -errno. */
int command_build(uint32_t commit, bool again, struct build_record **ret);

/* For work that asks round after round, where each batch follows from the answers before (a comparison, a localization): asks one round, as a batch.
 * 0 or -errno. */
int ask_round(struct batch *a, int (*progress)(void *user, const struct ask_progress *p));
/* Behind the last round. `r` is what the rounds came to; -EINTR where a signal ended them, and a note says so: `kept` is the rest of it. */
int ask_end(int r, const char *kept);

/* Shows progress in the caller's own words and counts: `what`, and the build that runs, if any. When nothing runs it says what is waited for, and shows
 * no time left, since nobody knows how long others keep the cores. `ahead`: nanoseconds of work besides what is asked. */
void ask_show(const struct ask_progress *p, const char *what, uint64_t total, uint64_t ahead);
