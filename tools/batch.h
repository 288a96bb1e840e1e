/* Asks the engine for many values at once: a bounded number of open tickets, a bar over the whole, results in the order asked for. */
#pragma once

#include "command.h"

struct batch {
        struct engine *engine;
        size_t n;
        bool again;
        const char *title; /* "run" */
        int signals;       /* command_signals() */
        /* The query of item i; 0 or -errno, which becomes its answer. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* An answer; in the main thread, once for each item, in any order. What it adds to `to` goes to standard output in the items' order. */
        void (*answered)(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to);
        void *user;
};
/* 0 when every item was answered; -EINTR when a signal came first, -EPIPE when standard output broke (output_end() says how): the rest was
 * taken back. */
int batch_run(const struct batch *b);
