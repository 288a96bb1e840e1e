/* The daemon's memory, and what blocked readers cost. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"
#include "fixture.h"

#define MANY_BLOCKED 10000
#define SOME_BLOCKED 1000
#define STATS        5000    /* of a round */
#define MOST_STATS   1000000 /* while cases are written */

/* -- readers that block: threads of a process of their own, each in the open() of another cold cell -- */

struct blocker {
        const struct fixture *fixture;
        uint32_t number;
};

static void *block(void *user)
{
        struct blocker *b = user;
        char path[PATH_SIZE + 128];

        snprintf(path, sizeof(path), "%s/stuck/commits/%s/cases/%u/time", b->fixture->mount,
                 b->fixture->stuck[b->number / b->fixture->cases], b->number % b->fixture->cases + 1);
        close(open(path, O_RDONLY | O_CLOEXEC));
        return NULL;
}

static void __attribute__((noreturn)) blockers_main(const struct fixture *f, uint32_t n)
{
        struct blocker *list = calloc(n, sizeof(*list));
        pthread_attr_t attributes;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 << 10);
        for (uint32_t i = 0; list && i < n; i++) {
                pthread_t thread;

                list[i] = (struct blocker){f, i};
                if (pthread_create(&thread, &attributes, block, &list[i]) != 0)
                        _exit(1);
        }
        for (;;)
                pause();
}

/* How many readers wait, as the daemon says. */
static double waiting(const struct fixture *f)
{
        cleanup_file FILE *stats = NULL;
        char path[PATH_SIZE], line[256];
        double n = 0;

        if (path_join(path, f->mount, ".solverfs/stats") == 0)
                stats = fopen(path, "re");
        while (stats && fgets(line, sizeof(line), stats))
                if (sscanf(line, "solverfs_waiters %lf", &n) == 1)
                        break;
        return n;
}

static int wait_for(const struct fixture *f, double least, double most)
{
        for (unsigned i = 0; i < 600; i++) {
                double n = waiting(f);

                if (n >= least && n <= most)
                        return 0;
                usleep(50000);
        }
        return errorf(-EIO, "%.0f readers wait, not %.0f to %.0f", waiting(f), least, most);
}

/* -EAGAIN: the machine does not let us have so many threads. */
static int blockers_start(const struct fixture *f, uint32_t n, pid_t *ret)
{
        pid_t pid = fork();
        int r;

        if (pid == 0)
                blockers_main(f, n);
        *ret = pid;
        r = pid < 0 ? -errno : wait_for(f, n, INFINITY);
        if (r < 0 && pid > 0 && waitpid(pid, NULL, WNOHANG) == pid)
                return -EAGAIN;
        return r;
}

static int blockers_stop(const struct fixture *f, pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return wait_for(f, 0, 0);
}

/* -- memory -- */

/* What a person does in a long history, before the daemon's memory is looked at. */
static int look_around(const struct fixture *f)
{
        return bench_shell(f->mount,
                           "ls -U many/commits | wc -l; ls -U many/cached | wc -l; ls -lR many/cached/%s; "
                           "find many/commits/%s | wc -l; cat many/cached/*/cases/1/time",
                           f->shas[0], f->shas[0]);
}

static int rows_memory(struct fixture *f)
{
        double before, after;
        char what[96];
        pid_t pid = 0;
        int r = look_around(f);

        if (r < 0)
                return r;
        before = fixture_memory(f);
        snprintf(what, sizeof(what), "daemon's RssAnon, history of %u commits", f->commits);
        bench_print(&(struct row){.what = what, .judge = JUDGE_ALONE, .unit = UNIT_BYTES, .most = 64e6}, before, NAN, NAN);
        r = blockers_start(f, MANY_BLOCKED, &pid);
        if (r == -EAGAIN) {
                bench_skip("RssAnon with 10000 blocked opens", "no room for so many threads: ulimit -u, pids.max");
                return 0;
        }
        if (r < 0)
                return r;
        sleep(2); /* the view of the jobs is published meanwhile */
        after = fixture_memory(f);
        bench_print(&(struct row){.what = "RssAnon with 10000 blocked opens",
                                  .against = "without",
                                  .judge = JUDGE_DIFFERENCE,
                                  .unit = UNIT_BYTES,
                                  .most = 16e6},
                    after, before, NAN);
        return blockers_stop(f, pid);
}

/* -- the mount's answers while others wait -- */

/* Of a file that is not ready the kernel keeps no attributes: each stat asks the daemon. (None of these is waited for: the blocked readers
 * are at the first commits.) Of STATS of them; or, as long as process `beside` runs, of all: -EIO when it fails. */
static int stat_p99(const struct fixture *f, pid_t beside, double *ret)
{
        static double took[MOST_STATS];
        int status = 0;
        size_t i;

        for (i = 0; beside > 0 ? i < MOST_STATS && waitpid(beside, &status, WNOHANG) == 0 : i < STATS; i++) {
                char path[PATH_SIZE + 128];
                double began;
                struct stat st;

                snprintf(path, sizeof(path), "%s/stuck/commits/%s/cases/%zu/time", f->mount,
                         f->stuck[FIXTURE_STUCK / 2 + i % (FIXTURE_STUCK / 2)], i % f->cases + 1);
                began = bench_now();
                if (stat(path, &st) < 0)
                        return errorf(-errno, "cannot stat %s: %s", path, strerror(errno));
                took[i] = bench_now() - began;
        }
        if (i == MOST_STATS)
                waitpid(beside, &status, 0);
        *ret = bench_quantile(took, i, 0.99); /* it sorts them */
        if (beside > 0)
                bench_say("%zu stats, the slowest in %.3f s", i, i > 0 ? took[i - 1] : 0);
        return status == 0 ? 0 : errorf(-EIO, "a case could not be copied into %s/cases", f->mount);
}

static int row_p99(struct fixture *f)
{
        unsigned rounds = MIN(bench.rounds, 9u);
        double with[9], without[9], ratio[9], ignored;
        int r = stat_p99(f, 0, &ignored);

        for (unsigned i = 0; r == 0 && i < rounds; i++) {
                pid_t pid = 0;

                r = stat_p99(f, 0, &without[i]);
                if (r == 0)
                        r = blockers_start(f, SOME_BLOCKED, &pid);
                if (r < 0)
                        return r;
                usleep(500000);
                r = stat_p99(f, 0, &with[i]);
                ratio[i] = with[i] / without[i];
                if (r == 0)
                        r = blockers_stop(f, pid);
                sleep(4); /* the abandoned jobs go after their grace */
        }
        if (r == 0)
                bench_print(&(struct row){.what = "p99 of stat with 1000 blocked opens", .against = "without", .most = 1.1},
                            bench_median(with, rounds), bench_median(without, rounds), bench_median(ratio, rounds));
        return r;
}

/* -- while cases are written -- */

#define COPIES    8
#define COPY_SIZE "50M"

static pid_t copies_start(const struct fixture *f, unsigned round)
{
        pid_t pid = fork();

        if (pid == 0)
                _exit(bench_shell(f->dir, "for i in $(seq %d); do cp copy-$i '%s'/cases/bench-%d-%u-$i.smt2 & pids=\"$pids $!\"; done; "
                                          "for pid in $pids; do wait $pid || exit 1; done", COPIES, f->mount, getppid(), round) == 0 ? 0 : 1);
        return pid;
}

static int row_writers(struct fixture *f)
{
        unsigned rounds = MIN(bench.rounds, 3u);
        double with[3], without[3], ratio[3];
        int r = 0;

        for (unsigned i = 0; r == 0 && i < rounds; i++) {
                pid_t pid;

                r = bench_shell(f->dir, "for i in $(seq %d); do { echo '; %d %u '$i; yes '(check-sat)' | head -c " COPY_SIZE "; } >copy-$i; done; sync", COPIES, getpid(), i);
                if (r == 0)
                        r = stat_p99(f, 0, &without[i]);
                if (r < 0)
                        break;
                pid = copies_start(f, i);
                r = pid < 0 ? -errno : stat_p99(f, pid, &with[i]);
                ratio[i] = with[i] / without[i];
                if (r == 0)
                        r = bench_shell(f->dir, "rm -f copy-*");
        }
        if (r == 0)
                bench_print(&(struct row){.what = "p99 of stat while 8 cases of 50 MB are written", .against = "without"},
                            bench_median(with, rounds), bench_median(without, rounds), bench_median(ratio, rounds));
        return r;
}

int bench_wait(void)
{
        cleanup_fixture struct fixture f = {0};
        int r = fixture_open(&f);

        if (r == 0)
                r = fixture_mount(&f);
        if (r == 0)
                r = rows_memory(&f);
        fixture_unmount(&f);
        if (r == 0)
                r = fixture_mount(&f);
        if (r == 0)
                r = row_p99(&f);
        if (r == 0)
                r = row_writers(&f);
        return r;
}
