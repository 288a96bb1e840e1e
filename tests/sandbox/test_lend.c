#include "tests/support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "cache/base/process.h"
#include "core/sandbox/exec_stub.h"
#include "core/run/host.h"
#include "core/run/slot.h"

/* A build in its own thread: a shell, and a child of it, which say again and again on which cores they are. */
struct building {
        enum sandbox_kind sandbox;
        unsigned slot;
        char scratch[PATH_SIZE];
        const char *script;
        uint64_t wall_ns;
        struct core_loan loans[2];
        size_t n_loans;
        int cancel_fd, r;
        struct execute_result result;
        pthread_t thread;
        size_t heard;  /* atomic */
        bool has_ended; /* atomic */
        char last[256];
        pthread_mutex_t lock; /* of `last` */
};

#define SAYS "while :; do while read a b; do [ $a = Cpus_allowed_list: ] && echo $b; done </proc/self/status; /bin/sleep 0.002; done"
#define SCRIPT "(" SAYS ") & " SAYS

static char folder[PATH_SIZE];
static int cpus[64];

static void hear(void *user, struct slice text)
{
        struct building *b = user;
        const char *end = memrchr(text.data, '\n', text.size), *begin;

        if (end) {
                begin = memrchr(text.data, '\n', (size_t)(end - (const char *)text.data));
                begin = begin ? begin + 1 : text.data;
                pthread_mutex_lock(&b->lock);
                snprintf(b->last, sizeof(b->last), "%.*s", (int)(end - begin), begin);
                pthread_mutex_unlock(&b->lock);
        }
        __atomic_add_fetch(&b->heard, text.size, __ATOMIC_SEQ_CST);
}

static void *work(void *user)
{
        struct building *b = user;
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)b->script, NULL};
        const struct listener listener = {.hear = hear, .user = b};
        cpu_set_t set;

        CPU_ZERO(&set);
        for (size_t i = 0; i < b->n_loans; i++)
                CPU_SET((size_t)b->loans[i].cpu, &set);
        b->r = execute(&(struct execute_request){.argv = argv,
                                                 .scratch = b->scratch,
                                                 .sandbox = b->sandbox,
                                                 .wall_ns = b->wall_ns,
                                                 .cpus = &set,
                                                 .loans = b->loans,
                                                 .n_loans = b->n_loans,
                                                 .out = {.keep = 4096},
                                                 .merge = true,
                                                 .slot = b->slot,
                                                 .cancel_fd = b->cancel_fd,
                                                 .listener = &listener},
                       &b->result);
        __atomic_store_n(&b->has_ended, true, __ATOMIC_SEQ_CST);
        return NULL;
}

static void prepare(void)
{
        assert_ok(slot_folder(NULL, folder, NULL));
        host_cores(cpus, ARRAY_SIZE(cpus));
}

static void begin_as(struct building *b, enum slot_use use, enum sandbox_kind sandbox, size_t n)
{
        prepare();
        *b = (struct building){.sandbox = sandbox, .script = SCRIPT, .cancel_fd = eventfd(0, EFD_CLOEXEC), .lock = PTHREAD_MUTEX_INITIALIZER};
        b->slot = use == SLOT_GUEST ? 721 : 720;
        ck_assert_ptr_nonnull(getcwd(b->scratch, sizeof(b->scratch) - 10));
        sprintf(b->scratch + strlen(b->scratch), "/%u", b->slot);
        ck_assert(mkdir(b->scratch, 0700) == 0 || errno == EEXIST);
        for (; b->n_loans < n; b->n_loans++) {
                b->loans[b->n_loans].cpu = cpus[b->n_loans];
                assert_ok(slot_try(folder, cpus[b->n_loans], use, &b->loans[b->n_loans].lock));
        }
}

static void begin(struct building *b, enum sandbox_kind sandbox, size_t n)
{
        begin_as(b, SLOT_BUILD, sandbox, n);
}

static void go(struct building *b)
{
        ck_assert_int_eq(pthread_create(&b->thread, NULL, work, b), 0);
}

static void end(struct building *b)
{
        eventfd_write(b->cancel_fd, 1);
        pthread_join(b->thread, NULL);
        assert_error(b->r, ECANCELED);
        close(b->cancel_fd);
        for (size_t i = 0; i < b->n_loans; i++) {
                ck_assert(!core_is_locked(b->loans[i].lock, CORE_MOVES));
                close(b->loans[i].lock);
        }
}

static size_t heard(struct building *b)
{
        return __atomic_load_n(&b->heard, __ATOMIC_SEQ_CST);
}

/* False: it has ended before. */
static bool hears_more(struct building *b)
{
        for (size_t before = heard(b); heard(b) <= before + 16; usleep(1000))
                if (__atomic_load_n(&b->has_ended, __ATOMIC_SEQ_CST))
                        return false;
        return true;
}

static void await_more(struct building *b)
{
        ck_assert(hears_more(b));
}

/* What was in the pipe has to be read first. */
static void await_stillness(struct building *b)
{
        size_t before;

        do {
                before = heard(b);
                usleep(200000);
        } while (heard(b) != before);
}

static void await_cores(struct building *b, const char *list)
{
        for (bool equal = false; !equal; usleep(1000)) {
                pthread_mutex_lock(&b->lock);
                equal = strcmp(b->last, list) == 0;
                pthread_mutex_unlock(&b->lock);
        }
}

static int own(int cpu)
{
        int lock;

        assert_ok(slot_try(folder, cpu, SLOT_RUN, &lock));
        assert_ok(slot_await(lock, -1));
        return lock;
}

START_TEST(test_a_build_leaves_cores_and_comes_back)
{
        NEEDS_TWO_CORES;
        for (enum sandbox_kind kind = SANDBOX_BWRAP; kind <= SANDBOX_NONE; kind++) {
                char both[32], second[32];
                struct building b;
                int runs[2];

                begin(&b, kind, 2);
                snprintf(both, sizeof(both), "%d%c%d", cpus[0], cpus[1] == cpus[0] + 1 ? '-' : ',', cpus[1]);
                snprintf(second, sizeof(second), "%d", cpus[1]);
                go(&b);
                await_cores(&b, both);
                for (int i = 0; i < 3; i++) {
                        runs[0] = own(cpus[0]);
                        await_more(&b);
                        await_cores(&b, second);
                        runs[1] = own(cpus[1]);
                        await_stillness(&b);
                        close(runs[0]);
                        await_more(&b);
                        close(runs[1]);
                        await_cores(&b, both);
                }
                end(&b);
        }
}
END_TEST

/* Two builds share a core, and both leave it to a run. The first to end takes nothing from the other. */
START_TEST(test_a_host_and_its_guest)
{
        for (enum sandbox_kind kind = SANDBOX_BWRAP; kind <= SANDBOX_NONE; kind++) {
                struct building host, guest;
                int run;

                begin(&host, kind, 1);
                begin_as(&guest, SLOT_GUEST, kind, 1);
                go(&host);
                go(&guest);
                for (int i = 0; i < 3; i++) {
                        await_more(&host);
                        await_more(&guest);
                        run = own(cpus[0]);
                        await_stillness(&host);
                        await_stillness(&guest);
                        close(run);
                }
                eventfd_write(host.cancel_fd, 1);
                pthread_join(host.thread, NULL);
                await_more(&guest);
                ck_assert(core_is_locked(host.loans[0].lock, CORE_MOVES)); /* the guest's */
                end(&guest);
                ck_assert(!core_is_locked(host.loans[0].lock, CORE_MOVES));
                close(host.cancel_fd);
                close(host.loans[0].lock);
        }
}
END_TEST

START_TEST(test_a_build_begins_when_it_may)
{
        for (enum sandbox_kind kind = SANDBOX_BWRAP; kind <= SANDBOX_NONE; kind++) {
                struct building b;
                int run;

                begin(&b, kind, 1);
                run = own(cpus[0]);
                go(&b);
                await_stillness(&b);
                ck_assert_uint_eq(heard(&b), 0);
                close(run);
                await_more(&b);
                end(&b);

                begin(&b, kind, 1); /* cancelled before it began */
                run = own(cpus[0]);
                go(&b);
                usleep(100000);
                end(&b);
                close(run);
        }
}
END_TEST

START_TEST(test_what_stands_still_can_be_cancelled)
{
        for (enum sandbox_kind kind = SANDBOX_BWRAP; kind <= SANDBOX_NONE; kind++) {
                struct building b;
                int run;

                begin(&b, kind, 1);
                go(&b);
                await_more(&b);
                run = own(cpus[0]);
                end(&b);
                close(run);
        }
}
END_TEST

/* Its limit of wall time, and the time that is reported, know nothing of it. */
START_TEST(test_time_that_it_stands_still_is_not_its_own)
{
        bool has_begun = false;

        for (uint64_t wall = 500 * NSEC_PER_MSEC; !has_begun; wall *= 2) { /* in which a busy machine may not let it say anything */
                const useconds_t stands = (useconds_t)(wall * 3 / 2 / 1000);
                struct building b;
                uint64_t begun;
                int run;

                begin(&b, SANDBOX_BWRAP, 1);
                b.wall_ns = wall;
                run = own(cpus[0]);
                begun = now_ns();
                go(&b);
                usleep(stands); /* before it begins */
                close(run);
                has_begun = hears_more(&b);
                if (has_begun) {
                        run = own(cpus[0]);
                        usleep(stands); /* and in the middle */
                        close(run);
                }
                pthread_join(b.thread, NULL);
                assert_ok(b.r);
                ck_assert_int_eq(b.result.end, END_TIMEOUT);
                ck_assert_uint_ge(b.result.wall_ns, wall);
                ck_assert_uint_ge(now_ns() - begun, b.result.wall_ns + (1 + has_begun) * wall);
                execute_result_done(&b.result);
                close(b.cancel_fd);
                close(b.loans[0].lock);
        }
}
END_TEST

static bool is_there(void *user, pid_t pid)
{
        char path[64], text[256];
        bool *found = user;
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, text, sizeof(text));
        *found |= n > 0 && memmem(text, (size_t)n, "31.07080920", 11);
        if (fd >= 0)
                close(fd);
        return true;
}

/* kill -9 of the process whose build stands still: nothing is left, and the core is free for other builds. */
START_TEST(test_the_builder_is_killed)
{
        for (enum sandbox_kind kind = SANDBOX_BWRAP; kind <= SANDBOX_NONE; kind++) {
                struct building b;
                bool found = true;
                int run, lock;
                pid_t pid;

                prepare();
                pid = fork();
                if (pid == 0) {
                        begin(&b, kind, 1);
                        b.script = "/bin/sleep 31.07080920 & /bin/sleep 31.07080920";
                        work(&b);
                        _exit(0);
                }
                for (found = false; !found; usleep(1000))
                        process_each(is_there, &found);
                run = own(cpus[0]);
                ck_assert_int_eq(kill(pid, SIGKILL), 0);
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
                while (found) {
                        found = false;
                        process_each(is_there, &found);
                        usleep(1000);
                }
                close(run);
                while (slot_try(folder, cpus[0], SLOT_BUILD, &lock) == -EAGAIN)
                        usleep(1000);
                ck_assert(!core_is_locked(lock, CORE_MOVES));
                close(lock);
        }
}
END_TEST

/* A caller that is stopped, as by Ctrl-Z, does not keep the core. */
START_TEST(test_the_builder_is_stopped)
{
        struct building b;
        bool found;
        pid_t pid;

        prepare();
        pid = fork();
        if (pid == 0) {
                begin(&b, SANDBOX_BWRAP, 1);
                b.script = "/bin/sleep 31.07080920";
                work(&b);
                _exit(0);
        }
        for (found = false; !found; usleep(1000))
                process_each(is_there, &found);
        ck_assert_int_eq(kill(pid, SIGSTOP), 0);
        close(own(cpus[0]));
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* By times that are told: a core that was lent for a minute is the build's for as long. */
START_TEST(test_a_builds_turn)
{
        const uint64_t second = NSEC_PER_SEC;
        struct exec_request request = {.n_loans = 1};
        struct lender l = {.n = 0};
        uint64_t now = 1000 * second;
        int build, run, other;
        cpu_set_t set;

        prepare();
        request.loans[0] = (uint16_t)cpus[0];
        assert_ok(slot_try(folder, cpus[0], SLOT_BUILD, &build));
        ck_assert(build == EXEC_FDS || dup3(build, EXEC_FDS, O_CLOEXEC) == EXEC_FDS);
        lender_begin(&l, &request);
        ck_assert(lender_look(&l, now, &set));
        ck_assert(CPU_ISSET((size_t)cpus[0], &set));
        ck_assert(!lender_look(&l, now += second, &set));
        assert_ok(slot_try(folder, cpus[0], SLOT_RUN, &run));
        ck_assert(core_is_locked(run, CORE_MOVES));
        ck_assert(lender_look(&l, now += second, &set));
        ck_assert_int_eq(CPU_COUNT(&set), 0);
        ck_assert(core_is_locked(run, CORE_MOVES)); /* until it has left */
        lender_leave(&l, now);
        ck_assert(!core_is_locked(run, CORE_MOVES));
        ck_assert(!lender_look(&l, now += 59 * second, &set));
        ck_assert(!core_is_locked(run, CORE_TURN));
        ck_assert(!lender_look(&l, now += second, &set));
        ck_assert(core_is_locked(run, CORE_TURN));
        close(run);
        assert_error(slot_try(folder, cpus[0], SLOT_RUN, &run), EAGAIN);
        ck_assert(!lender_look(&l, now += second, &set)); /* the next run of a series may come */
        ck_assert(lender_look(&l, now += second, &set));
        ck_assert(!lender_look(&l, now += 61 * second, &set));
        assert_error(slot_try(folder, cpus[0], SLOT_RUN, &run), EAGAIN);
        ck_assert(!lender_look(&l, now += second, &set));
        assert_ok(slot_try(folder, cpus[0], SLOT_RUN, &run));
        lender_end(&l);
        ck_assert(!core_is_locked(run, CORE_MOVES));
        assert_error(slot_try(folder, cpus[0], SLOT_BUILD, &other), EAGAIN);
        close(run);
        close(build);
}
END_TEST

/* Who may not signal a build of ours. */
START_TEST(test_another_users_run)
{
        char up[PATH_SIZE];
        struct building b;
        int status;
        pid_t pid;

        if (geteuid() != 0)
                return;
        ck_assert_ptr_nonnull(getcwd(up, sizeof(up)));
        for (int i = 0; i < 2; i++) { /* the folders above, which belong to the test alone */
                ck_assert_int_eq(chmod(up, 0755), 0);
                *strrchr(up, '/') = '\0';
        }
        begin(&b, SANDBOX_BWRAP, 1);
        go(&b);
        await_more(&b);
        pid = fork();
        if (pid == 0) {
                if (setresgid(65533, 65533, 65533) < 0 || setresuid(65533, 65533, 65533) < 0)
                        _exit(99);
                own(cpus[0]);
                pause();
        }
        while (!core_is_locked(b.loans[0].lock, CORE_RUN))
                usleep(1000);
        await_stillness(&b);
        ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        await_more(&b); /* a run that is killed has the core no more */
        end(&b);
}
END_TEST

SUITE("lend", test_a_builds_turn, test_another_users_run, test_a_build_leaves_cores_and_comes_back, test_a_host_and_its_guest, test_a_build_begins_when_it_may, test_what_stands_still_can_be_cancelled,
      test_time_that_it_stands_still_is_not_its_own, test_the_builder_is_killed, test_the_builder_is_stopped)
