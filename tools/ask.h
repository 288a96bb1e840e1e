/* Asks for many values (core/engine/ask.h) and shows how far it is: a bar over the whole with an estimate, results in the order asked for. */
#pragma once

#include "command.h"

struct ask_progress;

struct command_asking {
        size_t n;
        bool again;
        const char *title; /* "run" */
        const struct column *columns; /* of a table whose heading stands before all answers; NULL: none */
        size_t n_columns;
        /* The query of item i; 0 or -errno, which becomes its answer. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* An answer; in the main thread, once for each item, in any order. The text that it adds to `to` goes to standard output in the items' order. */
        void (*answered)(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to);
        void (*meanwhile)(void *user); /* about five times a second while it waits, in the main thread; may be NULL */
        void *user;
};
/* By common.engine, which it opens where there is none, with an eye to common.signals. STATUS_OK when every item was answered; else the rest was taken
 * back: STATUS_INTERRUPTED when a signal came first, STATUS_PIPE when standard output broke (output_end() says how), or a status, and why is said. One
 * item is asked for as a person, several as a batch. */
int command_ask(const struct command_asking *a);

/* One build of common.solver, by the engine that is open, as a person asks for it; -errno. */
int command_build(uint32_t commit, bool again, struct build_record **ret);

/* Shows the progress of an asking that has its own words and counts: `what`, and behind it the build that goes on, if any. When nothing runs it says what
 * is waited for, and leaves out what is left (`least` and `most`, as for progress_show_range()): nobody knows how long others keep the cores. */
void ask_show(const struct ask_progress *p, const char *what, uint64_t total, uint64_t least, uint64_t most);
