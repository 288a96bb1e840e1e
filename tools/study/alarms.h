/* Alarms of common.solver as `watch` and `alarms` print them, and the command of `watch --on-alarm`. */
#pragma once

#include "core/study/watch/alarm.h"
#include "tools/words.h"

/* Prints the alarm as a row; with --json as an object on a line. */
void alarm_show(const struct observation *a);

/* Runs `command` by the shell, with the alarm as its standard input and in its environment (the help in cmd_watch.c has the names). 0: the command
 * succeeded. 1: it failed or could not be started, after a message. -EINTR: a signal came first; the command was killed. */
int alarm_command(const struct observation *a, const char *command);
