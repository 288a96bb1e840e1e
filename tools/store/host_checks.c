/* The checks of `solverfs doctor`: each says what solverfs uses of the machine, what was found, and what to do. Checks read the kernel's files and
 * look for programs below `root`, so that a test can make up a machine. */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "core/run/host.h"
#include "core/run/slot.h"
#include "core/sandbox/sandbox.h"
#include "core/sandbox/surroundings.h"
#include "tools/store/host_checks.h"

/* A check under way. */
struct checking {
        const char *root; /* "" is this machine */
        struct host_check *c;
};

static printf_like(3, 4) void say(struct checking *l, enum check_state state, const char *format, ...)
{
        l->c->state = state;
        format_rest(l->c->text, format);
}

/* -- files of the machine ----------------------------------------------------------------------------------------- */

static FILE *open_file(const struct checking *l, const char *path)
{
        cleanup_free char *full = format_string("%s%s", l->root, path);

        return fopen(full, "re");
}

static bool has_program(const struct checking *l, const char *name)
{
        static const char *const folders[] = {"/usr/local/bin", "/usr/bin"};

        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                cleanup_free char *full = format_string("%s%s/%s", l->root, folders[i], name);

                if (access(full, X_OK) == 0)
                        return true;
        }
        return false;
}

/* A number of /proc/meminfo, in KiB. */
static bool read_memory(const struct checking *l, const char *name, unsigned long long *ret)
{
        char line[64];
        bool is_there = host_read_field(l->root, "/proc/meminfo", name, line, sizeof(line));

        *ret = is_there ? strtoull(line, NULL, 10) : 0;
        return is_there;
}

/* -- mounting ------------------------------------------------------------------------------------------------------ */

static void check_fuse(struct checking *l)
{
        cleanup_free char *full = format_string("%s/dev/fuse", l->root);
        cleanup_close int fd = open(full, O_RDWR | O_CLOEXEC);
        struct stat st;

        if (fd < 0 && errno == ENOENT)
                say(l, CHECK_FAILED, "/dev/fuse is missing; 'modprobe fuse' (in a container, start it with --device /dev/fuse)");
        else if (fd < 0)
                say(l, CHECK_FAILED, "/dev/fuse cannot be opened: %s", strerror(errno));
        else if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(10, 229))
                say(l, CHECK_FAILED, "/dev/fuse is not the device of FUSE (in a container, start it with --device /dev/fuse)");
        else if (prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0) /* nor does it fusermount3, which is setuid */
                say(l, CHECK_FAILED, "nobody may mount here; start this container with --cap-add SYS_ADMIN --device /dev/fuse");
        else if (geteuid() != 0 && !has_program(l, "fusermount3"))
                say(l, CHECK_FAILED, "only root can mount here, as there is no fusermount3; install the package 'fuse3'");
        else
                say(l, CHECK_OK, "/dev/fuse can be opened%s", geteuid() == 0 ? "" : ", fusermount3 is there");
}

const char *host_check_fuse(struct host_check *ret)
{
        struct checking l = {"", ret};

        check_fuse(&l);
        return ret->state == CHECK_OK ? NULL : ret->text;
}

static void check_request_timeout(struct checking *l)
{
        unsigned long long most = 0, standard = 0;

        host_read_number(l->root, "/proc/sys/fs/fuse/max_request_timeout", &most);
        host_read_number(l->root, "/proc/sys/fs/fuse/default_request_timeout", &standard);
        if (most == 0 && standard == 0)
                say(l, CHECK_OK, "an open() may wait as long as it takes");
        else
                say(l, CHECK_FAILED,
                    "the kernel ends the mount when an open() waits for more than %llu s; "
                    "'sysctl fs.fuse.max_request_timeout=0 fs.fuse.default_request_timeout=0'",
                    most != 0 ? most : standard);
}

/* -- the sandbox --------------------------------------------------------------------------------------------------- */

/* Runs have theirs in the store, so a folder of temporary files that cannot be used is no fault of the sandbox. NULL: none can be made. */
static char *make_scratch(void)
{
        const char *given = getenv("TMPDIR");
        const char *const folders[] = {given && *given ? given : "/tmp", "/tmp", "/var/tmp", "/dev/shm"};

        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                cleanup_free char *path = format_string("%s/solverfs-doctor-XXXXXX", folders[i]);

                if (mkdtemp(path))
                        return steal_pointer(path);
        }
        return NULL;
}

/* Runs /usr/bin/true in a sandbox. */
static void check_bubblewrap(struct checking *l)
{
        char *argv[] = {(char *)"/usr/bin/true", NULL};
        struct execute_result result;
        char *tail;
        cleanup_free char *scratch = make_scratch();
        int r;

        if (!scratch) {
                say(l, CHECK_WARNING, "not tried, as no folder can be made in $TMPDIR, /tmp, /var/tmp and /dev/shm: %s", strerror(errno));
                return;
        }
        r = execute(
                &(struct execute_request){
                        .argv = argv,
                        .scratch = scratch,
                        .wall_ns = 10 * NSEC_PER_SEC,
                        .slot = SANDBOX_UID_LAST - SANDBOX_UID_FIRST,
                        .cancel_fd = -1,
                },
                &result);
        remove_tree(scratch);
        if (r < 0) {
                say(l, CHECK_FAILED, "%s", error_message(r));
                if ((tail = strstr(l->c->text, "; 'solverfs doctor'"))) /* that is us */
                        *tail = '\0';
                return;
        }
        if (result.end == END_EXIT && result.code == 0)
                say(l, CHECK_OK, "programs run in a sandbox without network, homes and other processes");
        else
                say(l, CHECK_FAILED, "a program in the sandbox ended badly (%d, %d)", (int)result.end, result.code);
        execute_result_done(&result);
}

static void check_timed_runs(struct checking *l)
{
        int r = surroundings_check(&(struct execute_request){.timed = true});

        say(l, r < 0 ? CHECK_FAILED : CHECK_OK, "%s", r < 0 ? error_message(r) : "timed runs get niceness 0 and the usual class");
}

static void check_user_namespaces(struct checking *l)
{
        unsigned long long most = 0, allowed = 1, restricted = 0;

        if (sandbox_has_users()) {
                say(l, CHECK_OK, "not needed: as root every slot's programs run as a user of their own (%d to %d)",
                    SANDBOX_UID_FIRST, SANDBOX_UID_LAST);
                return;
        }
        host_read_number(l->root, "/proc/sys/user/max_user_namespaces", &most);
        host_read_number(l->root, "/proc/sys/kernel/unprivileged_userns_clone", &allowed);                /* Debian's own */
        host_read_number(l->root, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &restricted); /* Ubuntu's */
        if (most == 0)
                say(l, CHECK_FAILED, "none are allowed; 'sysctl user.max_user_namespaces=10000'");
        else if (allowed == 0)
                say(l, CHECK_FAILED, "only root may make them; 'sysctl kernel.unprivileged_userns_clone=1'");
        else if (restricted != 0)
                say(l, CHECK_WARNING,
                    "AppArmor restricts them; if bubblewrap fails, give it a profile or "
                    "'sysctl kernel.apparmor_restrict_unprivileged_userns=0'");
        else
                say(l, CHECK_OK, "programs run in a user namespace, where the limit on processes holds");
}

/* -- groups of processes -------------------------------------------------------------------------------------------- */

struct group_limits {
        double cores;    /* 0: no limit */
        uint64_t memory; /* bytes; 0: no limit */
};

/* Takes the tighter of the limits so far and those of one group's files. */
static void read_group(const struct checking *l, const char *folder, bool second, struct group_limits *ret)
{
        unsigned long long n, period = 0;
        char path[PATH_SIZE + 96], line[64];
        double cores = 0;

        snprintf(path, sizeof(path), "%s/%s", folder, second ? "cpu.max" : "cpu.cfs_quota_us");
        if (host_read_field(l->root, path, "", line, sizeof(line)) && line[0] >= '0' && line[0] <= '9') { /* else "max", or -1 */
                char *end;
                const double quota = strtod(line, &end);

                if (second)
                        period = strtoull(end, NULL, 10);
                else {
                        snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
                        host_read_number(l->root, path, &period);
                }
                cores = period ? quota / (double)period : 0;
        }
        if (cores > 0 && (ret->cores == 0 || cores < ret->cores))
                ret->cores = cores;
        snprintf(path, sizeof(path), "%s/%s", folder, second ? "memory.max" : "memory.limit_in_bytes");
        if (host_read_number(l->root, path, &n) && n < UINT64_C(1) << 60 && (ret->memory == 0 || n < ret->memory)) /* cgroup 1: huge means none */
                ret->memory = n;
}

/* Reads our group and those above it: the limits of all of them apply. */
static void read_groups(const struct checking *l, const char *controller, const char *own, struct group_limits *ret)
{
        char path[PATH_SIZE];

        snprintf(path, sizeof(path), "%s", own);
        for (;;) {
                char folder[PATH_SIZE + 64];
                char *slash = strrchr(path, '/');

                snprintf(folder, sizeof(folder), "/sys/fs/cgroup%s%s%s", *controller ? "/" : "", controller, path);
                read_group(l, folder, *controller == '\0', ret);
                if (!slash)
                        return;
                *slash = '\0';
        }
}

static void check_group(struct checking *l)
{
        cleanup_file FILE *f = open_file(l, "/proc/self/cgroup");
        struct group_limits limits = {0};
        char line[PATH_SIZE], memory[64] = "", cores[64] = "";

        while (f && fgets(line, sizeof(line), f)) { /* "4:cpu,cpuacct:/a/b", or "0::/a/b" */
                char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

                if (!path)
                        continue;
                *path++ = '\0';
                path[strcspn(path, "\n")] = '\0';
                names++;
                if (*names == '\0')
                        read_groups(l, "", path, &limits);
                else if (strstr(names, "memory"))
                        read_groups(l, "memory", path, &limits);
                else if (strncmp(names, "cpu", 3) == 0 && !strstr(names, "cpuset"))
                        read_groups(l, "cpu", path, &limits);
        }
        if (limits.cores > 0)
                snprintf(cores, sizeof(cores), "%.3g cores' worth of time", limits.cores);
        if (limits.memory > 0)
                snprintf(memory, sizeof(memory), "%s%.3g GiB of memory", *cores ? " and " : "", (double)limits.memory / (1 << 30));
        if (limits.cores > 0 || limits.memory > 0)
                say(l, CHECK_WARNING,
                    "this process's cgroup allows %s%s: more runs at once than that are held up, or killed; set 'cores' in the store's "
                    "config and 'memory' in the recipes below it",
                    cores, memory);
        else
                say(l, CHECK_OK, "no limit from outside; none is used by solverfs, which measures and limits by rusage and polling (\"rusage\")");
}

/* -- tools ---------------------------------------------------------------------------------------------------------- */

static void check_compilers(struct checking *l)
{
        static const struct {
                const char *name, *package;
        } tools[] = {{"cc", "gcc"}, {"c++", "g++"}, {"make", "make"}, {"cmake", "cmake"}, {"ninja", "ninja-build"}};
        char missing[128] = "", packages[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
                if (!has_program(l, tools[i].name)) {
                        snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), " %s", tools[i].name);
                        snprintf(packages + strlen(packages), sizeof(packages) - strlen(packages), " %s", tools[i].package);
                }
        if (*missing == '\0')
                say(l, CHECK_OK, "cc, c++, make, cmake and ninja are there");
        else if (!has_program(l, "cc") || !has_program(l, "make"))
                say(l, CHECK_WARNING, "not found in /usr/bin:%s; most solvers cannot be built without; 'apt-get install%s'", missing, packages);
        else
                say(l, CHECK_OK, "cc and make are there; not found:%s, which some solvers' builds need ('apt-get install%s')", missing,
                    packages);
}

/* -- cores and clocks ----------------------------------------------------------------------------------------------- */

#define SPREAD 1.1 /* cores are of different kinds if their fastest clocks differ by more */

/* The least (0: no file has one) and greatest of the numbers in a file of each of our cores. Returns the number of cores. */
static size_t read_cores(const struct checking *l, const char *file, unsigned long long *ret_least, unsigned long long *ret_most)
{
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        *ret_least = *ret_most = 0;
        for (size_t i = 0; i < n; i++) {
                unsigned long long number;
                char path[128];

                snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpus[i], file);
                if (!host_read_number(l->root, path, &number))
                        continue;
                *ret_least = *ret_least == 0 || number < *ret_least ? number : *ret_least;
                *ret_most = MAX(number, *ret_most);
        }
        return n;
}

static void check_cores(struct checking *l)
{
        unsigned long long least, most, weakest, strongest;
        const size_t n = read_cores(l, "cpufreq/cpuinfo_max_freq", &least, &most);
        const long all = sysconf(_SC_NPROCESSORS_CONF);
        char kinds[64] = "";

        read_cores(l, "cpu_capacity", &weakest, &strongest); /* ARM and RISC-V */
        if ((double)strongest > SPREAD * (double)weakest)
                snprintf(kinds, sizeof(kinds), "of capacity %llu and %llu", weakest, strongest);
        else if ((double)most > SPREAD * (double)least)
                snprintf(kinds, sizeof(kinds), "up to %.1f and %.1f GHz", (double)least / 1e6, (double)most / 1e6);
        if (*kinds)
                say(l, CHECK_WARNING,
                    "%zu cores of different kinds (%s): a time depends on which one a run gets; start solverfs by 'taskset -c' with those of "
                    "one kind",
                    n, kinds);
        else
                say(l, CHECK_OK, "%zu whole core%s for timed runs, of %ld processors%s", n, n == 1 ? "" : "s", all,
                    (long)n < all ? "; the others are their hyper-threads, or not ours to use" : "");
}

/* The folder whose locks give each core to one run at a time (core/run/slot.h). */
static void check_slots(struct checking *l)
{
        char folder[PATH_SIZE];
        const char *why = NULL;
        const bool is_given = getenv("SOLVERFS_SLOTS");
        int r = slot_folder(NULL, folder, &why);

        if (r < 0 && is_given) /* nothing can be measured */
                say(l, CHECK_FAILED, "%s", error_message(r));
        else if (r < 0)
                say(l, CHECK_WARNING, "two stores may time on one core at once: %s", error_message(r));
        else
                say(l, strncmp(folder, "/run/lock/", 10) == 0 || is_given ? CHECK_OK : CHECK_WARNING, "%s, %s", folder, why);
}

static void check_quiet(struct checking *l)
{
        double busy, stolen;

        if (host_busy(300, &busy, &stolen) < 0)
                say(l, CHECK_WARNING, "how busy the machine is cannot be read from /proc/stat");
        else if (stolen > 0.01)
                say(l, CHECK_WARNING,
                    "the hypervisor took %.0f %% of the CPU time just now: timed runs are disturbed, and flagged", stolen * 100);
        else if (busy > 0.25)
                say(l, CHECK_WARNING,
                    "%.0f %% of the CPU time was used just now: timed runs may have to wait for others; those that do are measured "
                    "again, and flagged if it stays so",
                    busy * 100);
        else
                say(l, CHECK_OK, "%.0f %% of the CPU time was used just now", busy * 100);
}

static void check_frequency(struct checking *l)
{
        char line[64] = "unknown";
        const bool known = host_read_field(l->root, HOST_GOVERNOR, "", line, sizeof(line));
        const int turbo = host_turbo(l->root);

        if (known && strcmp(line, "performance") != 0)
                say(l, CHECK_WARNING,
                    "the governor is '%s', which changes the clock while programs run; 'cpupower frequency-set -g performance'",
                    line);
        else if (turbo > 0)
                say(l, CHECK_WARNING,
                    "turbo is on: times depend on what the other cores do and on the temperature; "
                    "'echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo', or 'echo 0 >/sys/devices/system/cpu/cpufreq/boost'");
        else if (!known && turbo < 0)
                say(l, CHECK_OK, "CPU governor and turbo state unknown");
        else
                say(l, CHECK_OK, "governor %s, turbo %s", line, turbo == 0 ? "off" : "unknown");
}

static void check_throttling(struct checking *l)
{
        unsigned long long least, most;

        read_cores(l, "thermal_throttle/core_throttle_count", &least, &most);
        if (most > 0)
                say(l, CHECK_WARNING,
                    "a core was slowed down %llu times since the start because it was too hot: times of those moments are too long; let "
                    "fewer 'cores' (the store's config) run at once, or cool it",
                    most);
        else
                say(l, CHECK_OK, "no core is known to have been slowed down by heat");
}

static void check_clock_source(struct checking *l)
{
        char name[64] = "";

        if (!host_read_field(l->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "", name, sizeof(name)))
                say(l, CHECK_OK, "the kernel does not say what its clock is made of");
        else if (strcmp(name, "hpet") == 0 || strcmp(name, "acpi_pm") == 0 || strcmp(name, "jiffies") == 0)
                say(l, CHECK_WARNING,
                    "the kernel's clock is '%s', slow to read: solvers that look at the time often are measured slower than elsewhere; "
                    "boot with 'tsc=reliable' if the processor's counter is to be trusted",
                    name);
        else
                say(l, CHECK_OK, "the kernel's clock is '%s'", name);
}

#define FIRST_RELEASE 1767225600 /* 2026: an earlier date is wrong */
#define AHEAD         60         /* seconds; a file server's clock may be a little ahead */

int64_t host_future(const char *path)
{
        struct stat st;
        const int64_t newest = lstat(path, &st) == 0 ? MAX(st.st_mtime, st.st_ctime) : 0;

        return newest > now_seconds() + AHEAD ? newest : 0;
}

/* The times of these folders say when the last package was installed. */
static int64_t find_future(const struct checking *l, const char **ret_folder)
{
        static const char *const folders[] = {"/usr/bin", "/usr/lib", "/usr/local/bin", "/usr/local/lib"};
        int64_t future = 0;

        for (size_t i = 0; i < ARRAY_SIZE(folders) && future == 0; i++) {
                cleanup_free char *full = format_string("%s%s", l->root, *ret_folder = folders[i]);

                future = host_future(full);
        }
        return future;
}

static void check_date(struct checking *l)
{
        const char *folder;
        const int64_t future = find_future(l, &folder);

        if (future)
                say(l, CHECK_WARNING, "the date is wrong, or was: %s is of %s, in the future; measurements are dated by it; set it, or let NTP do so",
                    folder, format_date(future).s);
        else if (now_seconds() < FIRST_RELEASE)
                say(l, CHECK_WARNING, "the date is wrong (before 2026): measurements are dated by it; set it, or let NTP do so");
        else
                say(l, CHECK_OK, "after solverfs was made");
}

/* -- memory and limits ----------------------------------------------------------------------------------------------- */

static void check_memory(struct checking *l)
{
        unsigned long long all;
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        if (!read_memory(l, "MemTotal:", &all))
                say(l, CHECK_WARNING, "how much memory there is cannot be read from /proc/meminfo");
        else if (all >> 20 < 4 * n)
                say(l, CHECK_WARNING,
                    "%.1f GiB for %zu core%s: fewer than the 4 GiB that a recipe gives each run unless it says otherwise; set 'cores' in the "
                    "store's config or 'memory' in the recipe to less, or the kernel may kill runs",
                    (double)all / (1 << 20), n, n == 1 ? "" : "s");
        else
                say(l, CHECK_OK, "%.1f GiB for %zu core%s", (double)all / (1 << 20), n, n == 1 ? "" : "s");
}

static void check_swap(struct checking *l)
{
        unsigned long long total;

        read_memory(l, "SwapTotal:", &total);
        if (total == 0)
                say(l, CHECK_OK, "off");
        else
                say(l, CHECK_WARNING, "%llu MB are on; a run that swaps is measured slower than it is ('swapoff -a')", total >> 10);
}

static void check_limits(struct checking *l)
{
        struct rlimit files = {0}, space = {0}, processes = {0}, file = {0};

        getrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_AS, &space);
        getrlimit(RLIMIT_NPROC, &processes);
        getrlimit(RLIMIT_FSIZE, &file);
        if (files.rlim_max < 4096)
                say(l, CHECK_WARNING, "at most %llu files may be open, which many waiting readers may exceed; 'ulimit -Hn 65536'",
                    (unsigned long long)files.rlim_max);
        else if (space.rlim_cur != RLIM_INFINITY)
                say(l, CHECK_WARNING,
                    "an address space may have at most %llu MiB, which the store's database may not fit into; 'ulimit -v unlimited'",
                    (unsigned long long)space.rlim_cur >> 20);
        else if (file.rlim_cur != RLIM_INFINITY)
                say(l, CHECK_WARNING, "a file may have at most %llu KiB, which the store's files may exceed; 'ulimit -f unlimited'",
                    (unsigned long long)file.rlim_cur >> 10);
        else if (geteuid() != 0 && processes.rlim_cur < 1024)
                say(l, CHECK_WARNING, "this user may have at most %llu processes, which builds may exceed; 'ulimit -u 4096'",
                    (unsigned long long)processes.rlim_cur);
        else
                say(l, CHECK_OK, "%llu files may be open; address space and processes are enough", (unsigned long long)files.rlim_max);
}

/* -- all of them ----------------------------------------------------------------------------------------------------- */

static const struct row {
        const char *name;
        void (*check)(struct checking *l);
        bool acts;                            /* tries something out: not on a made-up machine */
        const char *program, *there, *absent; /* without a `check`: looks for the program; its absence is a warning */
} rows[] = {
        {"fuse", check_fuse},
        {"request-timeout", check_request_timeout},
        {"bubblewrap", check_bubblewrap, .acts = true},
        {"timed-runs", check_timed_runs, .acts = true},
        {"user-namespaces", check_user_namespaces},
        {"cgroup", check_group},
        {"compilers", check_compilers},
        {"ccache", .program = "ccache", .there = "found; builds of similar commits share their compilations",
         .absent = "not found, so builds take longer; install the package 'ccache'"},
        {"downloads", .program = "curl", .there = "curl is there, for recipes with 'download'",
         .absent = "no curl, so recipes with 'download' cannot be added; install the package 'curl'"},
        {"cores", check_cores},
        {"slots", check_slots, .acts = true},
        {"quiet", check_quiet, .acts = true},
        {"frequency", check_frequency},
        {"heat", check_throttling},
        {"clock", check_clock_source},
        {"date", check_date},
        {"memory", check_memory},
        {"swap", check_swap},
        {"limits", check_limits},
};

void host_checks(const char *root, void (*fn)(void *user, const struct host_check *c), void *user)
{
        for (const struct row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
                struct host_check c = {.name = row->name};
                struct checking l = {root, &c};

                if (row->acts && *root)
                        continue;
                if (row->check)
                        row->check(&l);
                else if (has_program(&l, row->program))
                        say(&l, CHECK_OK, "%s", row->there);
                else
                        say(&l, CHECK_WARNING, "%s", row->absent);
                fn(user, &c);
        }
}
