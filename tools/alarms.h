/* Alarms of common.solver on standard output, as `watch` and `alarms` print them, and the command that a person wants to be told by. */
#pragma once

#include "command.h"
#include "core/study/watch/alarm.h"

/* Its numbers in words, and its first case; "-" where it has none. */
struct alarm_words {
        char number[16], id[16], n_cases[24];
        struct buffer before, after, factor;
};
int alarm_words(const struct observation *a, struct alarm_words *ret); /* -ENOMEM */
void alarm_words_done(struct alarm_words *w);
#define cleanup_alarm_words cleanup(alarm_words_done)

/* A row, or an object on a line; -ENOMEM. */
int alarm_show(const struct observation *a, bool json);

/* Runs `command` by the shell, with the alarm as its standard input and in its environment (cmd_watch.c's help has the names). 0: it took the alarm
 * (status 0). 1: it did not, and why was said. -EINTR: a signal came first, and it was ended. -errno. */
int alarm_command(const struct observation *a, const char *command);
