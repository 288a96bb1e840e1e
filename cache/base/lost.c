#include "cache/base/lost.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define VARIABLE   "SOLVERFS_LOST" /* set by a process that executes itself; removed at once, so no child inherits it */
#define MARKS_MOST 16
#define WATCH_S    5

static struct {
        bool begun, again; /* again: this is already the restart */
        int status;
        char **argv; /* a copy: parsing changes the original */
        mode_t umask;
        char **environment; /* the original, with room for VARIABLE in front */
        sigset_t mask;
        _Atomic bool output, is_daemon;
        uint64_t started; /* now_ns() */
        pthread_mutex_t lock;
        struct {
                _Atomic int folder; /* its descriptor + 1; 0: free */
                const char *_Atomic name;
        } marks[MARKS_MOST];
} lost = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- ending ----------------------------------------------------------------------------------------------------- */

static void say(const char *text)
{
        (void)!write(STDERR_FILENO, text, strlen(text));
}

static void make_marks(void)
{
        for (size_t i = 0; i < MARKS_MOST; i++) {
                int folder = atomic_load(&lost.marks[i].folder) - 1;
                int fd = folder < 0 ? -1 : openat(folder, lost.marks[i].name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

                if (fd >= 0)
                        close(fd);
        }
}

/* The kernel ends all other threads. */
static void execute_again(void)
{
        static char variable[] = VARIABLE "=1";

        lost.environment[0] = variable;
        umask(lost.umask);
        sigprocmask(SIG_SETMASK, &lost.mask, NULL);
        execve("/proc/self/exe", lost.argv, lost.environment);
}

static bool can_begin_again(void)
{
        if (!lost.begun)
                return false;
        if (lost.is_daemon)
                return !lost.again || now_ns() - lost.started >= LOST_AGAIN_S * NSEC_PER_SEC;
        return !lost.again && !lost.output;
}

static void be_the_only_one(void)
{
        static atomic_flag once = ATOMIC_FLAG_INIT;

        while (atomic_flag_test_and_set(&once)) /* another thread is ending the process */
                pause();
}

static _Noreturn void end(const char *why)
{
        if (!lost.begun)
                abort();
        if (can_begin_again()) {
                if (lost.is_daemon) {
                        say("solverfs: error: ");
                        say(why);
                        say("; the daemon begins anew\n");
                }
                execute_again();
        }
        say("solverfs: ");
        say(why);
        say(lost.is_daemon ? "; mount again: nothing that was kept is lost\n"
                           : "; run the command again: nothing that was kept is lost\n");
        _exit(lost.status);
}

void process_lost(const char *why)
{
        be_the_only_one();
        make_marks();
        end(why);
}

void process_give_up(const char *why)
{
        be_the_only_one();
        end(why);
}

void lost_start_over_if_unseen(void)
{
        if (can_begin_again() && !lost.is_daemon)
                execute_again();
}

/* -- signals ---------------------------------------------------------------------------------------------------- */

static const struct {
        int number;
        const char *why;
} signals[] = {{SIGSEGV, "a memory fault: perhaps a damaged file"},
               {SIGBUS, "a memory fault: perhaps a damaged disk"},
               {SIGABRT, "memory was found damaged, or a wait had no end"},
               {SIGFPE, "a division by zero: perhaps a damaged file"},
               {SIGILL, "an impossible instruction"}};

static void on_signal(int number, siginfo_t *info, void *context)
{
        if (info->si_code == SI_TIMER && info->si_value.sival_ptr)
                process_lost(info->si_value.sival_ptr);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                if (signals[i].number == number)
                        process_lost(signals[i].why);
        process_lost("a signal");
}

static char **copy_list(char *const list[], size_t room, size_t *ret_n)
{
        char **copy;
        size_t n = 0;

        while (list[n])
                n++;
        copy = allocate(room + n + 1, sizeof(*copy));
        memcpy(copy + room, list, n * sizeof(*list));
        if (ret_n)
                *ret_n = n;
        return copy;
}

void lost_begin(char **argv, int status)
{
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;

        lost.status = status;
        lost.again = getenv(VARIABLE);
        unsetenv(VARIABLE);
        lost.environment = copy_list(environ, 1, NULL);
        lost.argv = copy_list(argv, 0, NULL);
        lost.started = now_ns();
        lost.umask = umask(077);
        umask(lost.umask);
        pthread_sigmask(SIG_SETMASK, NULL, &lost.mask);
        sigfillset(&action.sa_mask);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                if (sigaction(signals[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
                        sigaction(signals[i].number, &action, NULL);
        lost.begun = true;
}

void lost_output(void)
{
        atomic_store_explicit(&lost.output, true, memory_order_relaxed);
}

void lost_daemon(char *const argv[])
{
        size_t n;
        char **copy = copy_list(argv, 0, &n);

        for (size_t i = 0; i < n; i++)
                copy[i] = copy_string(argv[i]);
        free(lost.argv);
        lost.argv = copy;
        lost.is_daemon = true;
}

void lost_mark(int folder, const char *name)
{
        cleanup_unlock pthread_mutex_t *held = hold(&lost.lock);

        for (size_t i = 0; i < MARKS_MOST; i++)
                if (lost.marks[i].folder == 0) {
                        lost.marks[i].name = name;
                        lost.marks[i].folder = folder + 1;
                        break;
                }
}

void lost_unmark(int folder)
{
        cleanup_unlock pthread_mutex_t *held = hold(&lost.lock);

        for (size_t i = 0; folder >= 0 && i < MARKS_MOST; i++)
                if (lost.marks[i].folder == folder + 1)
                        lost.marks[i].folder = 0;
}

/* -- waits that must end ---------------------------------------------------------------------------------------- */

void lost_watch_begin(struct lost_watch *w, const char *why)
{
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGABRT, .sigev_value.sival_ptr = (void *)why};
        struct itimerspec in = {.it_value.tv_sec = WATCH_S};

        w->set = lost.begun && timer_create(CLOCK_MONOTONIC, &event, &w->timer) == 0;
        if (w->set && timer_settime(w->timer, 0, &in, NULL) < 0)
                lost_watch_end(w);
}

void lost_watch_end(struct lost_watch *w)
{
        if (w->set)
                timer_delete(w->timer);
        w->set = false;
}
