#include "cache/base/guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <ucontext.h>

#include "cache/base/lost.h"

/* Switches off false reports of the sanitizers. A jump out of LMDB abandons a mutex that LMDB held, together with the mutex's file, so nobody
 * uses it afterwards. And a sanitizer reads the bytes of a reply after the system call, when the reader may already have closed the file.
 * The switches are in this file because every program here links it. */
#ifdef __SANITIZE_THREAD__
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
        return "deadlock:liblmdb\nrace:writev\n";
}
#endif
#ifdef __SANITIZE_ADDRESS__
__attribute__((visibility("default"))) const char *__asan_default_suppressions(void);
const char *__asan_default_suppressions(void)
{
        return "interceptor_name:writev\n";
}
#endif

_Thread_local struct guard *guard_current;

static struct sigaction previous_bus, previous_segv;

static void jump_out(struct guard *g)
{
        guard_current = g->outer;
        siglongjmp(g->jump, 1);
}

/* Does what would happen without this handler. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
        const struct sigaction *old = signal_number == SIGBUS ? &previous_bus : &previous_segv;

        if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
                if (old->sa_flags & SA_SIGINFO) /* may be set together with SIG_DFL */
                        old->sa_sigaction(signal_number, info, context);
                else
                        old->sa_handler(signal_number);
        } else {
                signal(signal_number, SIG_DFL);
                if (info->si_code <= 0) /* sent by a process: returning does not raise it again */
                        raise(signal_number);
        }
}

#define NULL_PAGE 65536                /* nothing is ever mapped below */
#define BEYOND    (UINT64_C(4) << 30) /* how far a page's header can send LMDB: 2^31 nodes of two bytes */

/* A line of /proc/self/maps: "low-high perms offset device inode   path". */
static bool line_covers(const char *line, const char *file, uintptr_t address)
{
        uintptr_t bounds[2] = {0, 0};
        const char *p = line, *found;

        for (unsigned i = 0; i < 2; i++) {
                for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
                        bounds[i] = bounds[i] << 4 | (uintptr_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
                if (*p++ != "- "[i])
                        return false;
        }
        found = address >= bounds[0] && address < bounds[1] + BEYOND ? strstr(p, file) : NULL;
        return found && (found[strlen(file)] == '\0' || found[strlen(file)] == ' '); /* " (deleted)" */
}

/* Uses system calls only: it runs in a signal handler. */
static bool is_mapped_from(const char *file, uintptr_t address)
{
        int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        char line[PATH_SIZE + 128], block[512];
        size_t n = 0;
        ssize_t got;
        bool found = false;

        while (fd >= 0 && !found && (got = read(fd, block, sizeof(block))) > 0)
                for (ssize_t i = 0; i < got && !found; i++) {
                        if (block[i] == '\n') {
                                line[n] = '\0';
                                found = line_covers(line, file, address);
                                n = 0;
                        } else if (n < sizeof(line) - 1) {
                                line[n++] = block[i];
                        }
                }
        if (fd >= 0)
                close(fd);
        return found;
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
        struct guard *g = guard_current;
        const char *address = info->si_addr;
        const struct guard_range *range = g ? g->range : NULL;
        bool is_ours = range && (range->file ? (uintptr_t)address < NULL_PAGE || is_mapped_from(range->file, (uintptr_t)address)
                                             : address >= range->low && address < range->high);

        if (info->si_code > 0 && is_ours) {
                /* restores the mask: a sanitizer between us and the kernel blocks every signal meanwhile */
                pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
                jump_out(g);
        }
        pass_on(signal_number, info, context);
}

static int install_result;

static void install(void)
{
        /* SA_NODEFER: a fault in the handler comes here, too, and does not end the process at once */
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

        sigemptyset(&action.sa_mask);
        if (sigaction(SIGBUS, &action, &previous_bus) < 0 || sigaction(SIGSEGV, &action, &previous_segv) < 0)
                install_result = -errno;
}

int guard_install(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, install);
        return install_result;
}

void guard_fail(void)
{
        if (guard_current)
                jump_out(guard_current);
        process_lost("an assertion of LMDB failed");
}

void guard_block_signals(sigset_t *ret_before)
{
        static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
        sigset_t others;

        sigfillset(&others);
        for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
                sigdelset(&others, faults[i]);
        pthread_sigmask(SIG_SETMASK, &others, ret_before);
}
