/* Alarms of common.solver as `watch` and `alarms` print them, and the command of `watch --on-alarm`. */
#pragma once

#include "tools/command.h"
#include "core/study/watch/alarm.h"

/* Its numbers as text, and its first case; "-" where it has none. */
struct alarm_words {
        char number[16], id[16], n_cases[24];
        struct buffer before, after, factor;
};
void alarm_words(const struct observation *a, struct alarm_words *ret);
void alarm_words_done(struct alarm_words *w);
#define cleanup_alarm_words cleanup(alarm_words_done)

/* A row; with --json an object on a line. */
void alarm_show(const struct observation *a);

/* Runs `command` by the shell, with the alarm as its standard input and in its environment (the help in cmd_watch.c has the names). 0: the command
 * succeeded. 1: it failed, and why was said. -EINTR: a signal came first, and the command was ended. -errno. */
int alarm_command(const struct observation *a, const char *command);
