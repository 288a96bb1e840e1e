/* An interest test for reducers, by CPU time, so that a busy machine changes no answer:
 *
 *     slow FLOOR RATIO REFERENCE TARGET FILE
 *
 * Ends with 0 when the reference answers sat or unsat within FLOOR / RATIO seconds, and the target has no other answer after FLOOR seconds, at which
 * it is ended. REFERENCE and TARGET are commands without quotes; the file is their last argument. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MOST 32
#define LOOK_MS    2

struct run {
        char answer[16]; /* the first line; "" while there is none */
        double seconds;
};

static void start(char *command, char *file, int out)
{
        char *argv[WORDS_MOST + 2];
        size_t n = 0;

        for (char *word = strtok(command, " "); word && n < WORDS_MOST; word = strtok(NULL, " "))
                argv[n++] = word;
        argv[n++] = file;
        argv[n] = NULL;
        dup2(out, 1);
        dup2(open("/dev/null", O_WRONLY), 2);
        execv(argv[0], argv);
        _exit(127);
}

static double cpu_seconds(clockid_t clock)
{
        struct timespec t;

        return clock_gettime(clock, &t) < 0 ? 0 : (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_ended(pid_t pid)
{
        siginfo_t info = {0};

        return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

/* Until it ends by itself or has computed so long. */
static struct run run(const char *command, char *file, double most)
{
        struct run r = {.answer = ""};
        struct rusage usage;
        clockid_t clock;
        int out[2], status;
        ssize_t n = 0;
        pid_t pid;

        if (pipe(out) < 0 || (pid = fork()) < 0)
                exit(2);
        if (pid == 0)
                start(strdup(command), file, out[1]);
        close(out[1]);
        if (clock_getcpuclockid(pid, &clock) != 0)
                exit(2);
        while (!has_ended(pid) && cpu_seconds(clock) <= most)
                poll(NULL, 0, LOOK_MS);
        kill(pid, SIGKILL);
        if (wait4(pid, &status, 0, &usage) != pid)
                exit(2);
        n = read(out[0], r.answer, sizeof(r.answer) - 1);
        close(out[0]);
        r.answer[n > 0 ? n : 0] = '\0';
        r.answer[strcspn(r.answer, "\n")] = '\0';
        r.seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec +
                    (double)usage.ru_stime.tv_usec / 1e6;
        return r;
}

int main(int argc, char **argv)
{
        double floor, ratio;
        struct run reference, target;

        if (argc != 6 || (floor = strtod(argv[1], NULL)) <= 0 || (ratio = strtod(argv[2], NULL)) < 1) {
                fprintf(stderr, "usage: slow FLOOR RATIO REFERENCE TARGET FILE\n");
                return 2;
        }
        reference = run(argv[3], argv[5], floor / ratio);
        if ((strcmp(reference.answer, "sat") != 0 && strcmp(reference.answer, "unsat") != 0) || reference.seconds > floor / ratio)
                return 1;
        target = run(argv[4], argv[5], floor);
        if (target.seconds < floor || (target.answer[0] && strcmp(target.answer, reference.answer) != 0))
                return 1;
        return 0;
}
