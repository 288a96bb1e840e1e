/* Two more words of attacker.c: what one run can leave for the next, and everything that the next one can see. */
#pragma once

int leave_traces(char **argv); /* "leave" and any of: files ipc keys sockets network processes keeper; none: all */
int look_around(char **argv);  /* "look": the same text in every run that nothing was left for */
