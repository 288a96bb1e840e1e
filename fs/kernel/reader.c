#include "fs/kernel/reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache/base/process.h"
#include "cache/base/util.h"
#include "core/sandbox/sandbox.h"

#define COMM_SIZE 16

/* A thread's name, the process it belongs to, and the parent of that. False: it is gone, or in a PID namespace that we do not see. */
static bool process_look(pid_t pid, char name[64], pid_t *ret_parent, pid_t *ret_process)
{
        char text[8192];
        const char *process, *parent;

        name[0] = '\0';
        if (process_text(pid, "status", text, sizeof(text)) < 0)
                return false;
        sscanf(text, "Name: %63[^\n]", name);
        process = strstr(text, "\nTgid:");
        parent = strstr(text, "\nPPid:");
        *ret_process = process ? atoi(process + strlen("\nTgid:")) : 0;
        *ret_parent = parent ? atoi(parent + strlen("\nPPid:")) : 0;
        return true;
}

bool reader_is_job(pid_t reader)
{
        pid_t parent, process;
        char name[64];

        for (unsigned depth = 0; reader > 1 && depth < 256 && process_look(reader, name, &parent, &process); depth++) {
                /* the helper's file is hidden in a sandbox: its name begins with a dot there */
                if (process == getpid() || strcmp(name + (name[0] == '.'), SANDBOX_HELPER_NAME) == 0)
                        return true;
                reader = parent;
        }
        return false;
}

bool reader_is_named(pid_t reader, char *const *names)
{
        char thread[64], leader[64] = "";
        pid_t parent, process, ignored;

        if (reader <= 0 || !process_look(reader, thread, &parent, &process))
                return false;
        if (process != reader) /* a thread may have its own name */
                process_look(process, leader, &ignored, &ignored);
        for (; *names; names++)
                if (strncmp(thread, *names, COMM_SIZE - 1) == 0 || (leader[0] && strncmp(leader, *names, COMM_SIZE - 1) == 0))
                        return true;
        return false;
}
