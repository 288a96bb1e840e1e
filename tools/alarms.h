/* Alarms on standard output, as `watch` and `alarms` print them, and the command that a person wants to be told by. */
#pragma once

#include "command.h"
#include "core/study/watch/alarm.h"

/* A row, or an object on a line; -ENOMEM. */
int alarm_show(struct workspace *w, const struct solver *s, const struct alarm *a, bool json);

/* Runs `command` by the shell, with the alarm as its standard input and in its environment (cmd_watch.c's help has the names). 0: it took the alarm
 * (status 0). 1: it did not, and why was said. -EINTR: a signal came first, and it was ended. -errno. */
int alarm_command(struct workspace *w, const struct solver *s, const struct alarm *a, const char *command, int signals);
