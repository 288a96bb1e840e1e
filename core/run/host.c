#include "core/run/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "cache/base/hash.h"
#include "core/run/execute.h"
#include "core/run/sandbox.h"
#include "core/run/slot.h"

/* -- small files of the kernel -- */

/* The first line of a file, without its newline; false when there is none. */
static bool read_line(const char *path, char *ret, size_t size)
{
        cleanup_file FILE *f = fopen(path, "re");

        if (!f || !fgets(ret, (int)size, f))
                return false;
        ret[strcspn(ret, "\n")] = '\0';
        return true;
}

static bool read_number(const char *path, unsigned long long *ret)
{
        char line[64], *end;

        if (!read_line(path, line, sizeof(line)))
                return false;
        *ret = strtoull(line, &end, 10);
        return end != line;
}

/* -- who it is -- */

static char cpu_model[128], host_name[256] = "localhost", machine[512];

static void find_cpu_model(void)
{
        cleanup_file FILE *f = fopen("/proc/cpuinfo", "re");
        struct utsname u;
        char line[512];

        while (f && fgets(line, sizeof(line), f)) {
                const char *colon = strchr(line, ':');

                if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model", 5) != 0))
                        continue; /* x86; many others */
                snprintf(cpu_model, sizeof(cpu_model), "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
                return;
        }
        uname(&u);
        snprintf(cpu_model, sizeof(cpu_model), "%.100s", u.machine);
}

static void find_machine(void)
{
        const char *given = getenv("SOLVERFS_MACHINE");

        find_cpu_model();
        if (given && given[0])
                snprintf(host_name, sizeof(host_name), "%s", given);
        else
                gethostname(host_name, sizeof(host_name) - 1);
        snprintf(machine, sizeof(machine), "%s/%s/%ld", host_name, cpu_model, sysconf(_SC_NPROCESSORS_CONF));
}

const char *host_machine(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, find_machine);
        return machine;
}

static json_t *governor(void)
{
        char line[64];

        return read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof(line)) ? json_string(line)
                                                                                                      : json_null();
}

/* 1 when the clock may rise above its nominal rate, 0 when not, -1 when not known. */
static int turbo(void)
{
        unsigned long long n;

        if (read_number("/sys/devices/system/cpu/intel_pstate/no_turbo", &n))
                return n == 0;
        if (read_number("/sys/devices/system/cpu/cpufreq/boost", &n))
                return n != 0;
        return -1;
}

json_t *host_facts(void)
{
        struct sysinfo memory = {0};
        json_t *facts = json_object();
        struct utsname u = {0};
        int t = turbo();

        host_machine(); /* finds the names */
        sysinfo(&memory);
        uname(&u);
        json_object_set_new(facts, "host", json_string(host_name));
        json_object_set_new(facts, "cpu", json_string(cpu_model));
        json_object_set_new(facts, "cores", json_integer(sysconf(_SC_NPROCESSORS_CONF)));
        json_object_set_new(facts, "memory", json_integer((json_int_t)memory.totalram * memory.mem_unit));
        json_object_set_new(facts, "swap", json_integer((json_int_t)memory.totalswap * memory.mem_unit));
        json_object_set_new(facts, "kernel", json_sprintf("%s %s", u.sysname, u.release));
        json_object_set_new(facts, "libc", json_sprintf("glibc %s", gnu_get_libc_version()));
        json_object_set_new(facts, "governor", governor());
        json_object_set_new(facts, "turbo", t < 0 ? json_null() : json_boolean(t));
        return facts;
}

/* -- cores -- */

/* "0,4" or "0-1,8-9" as the kernel writes lists of CPUs. */
static void parse_cpus(const char *text, cpu_set_t *ret)
{
        CPU_ZERO(ret);
        while (*text) {
                char *end;
                long first = strtol(text, &end, 10), last = first;

                if (end == text)
                        return;
                if (*end == '-')
                        last = strtol(end + 1, &end, 10);
                for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
                        CPU_SET((size_t)cpu, ret);
                text = *end == ',' ? end + 1 : end;
        }
}

static void siblings_of(int cpu, cpu_set_t *ret)
{
        char path[128], line[1024];

        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        CPU_ZERO(ret);
        if (read_line(path, line, sizeof(line)))
                parse_cpus(line, ret);
        CPU_SET((size_t)cpu, ret);
}

size_t host_cores(int *ret_cpus, size_t most)
{
        cpu_set_t ours, taken;
        size_t n = 0;

        CPU_ZERO(&taken);
        if (sched_getaffinity(getpid(), sizeof(ours), &ours) < 0) { /* more than 1024 CPUs: then the first */
                CPU_ZERO(&ours);
                CPU_SET(0, &ours);
        }
        for (int cpu = 0; cpu < CPU_SETSIZE && n < most; cpu++) {
                cpu_set_t siblings;

                if (!CPU_ISSET((size_t)cpu, &ours) || CPU_ISSET((size_t)cpu, &taken))
                        continue;
                siblings_of(cpu, &siblings);
                CPU_OR(&taken, &taken, &siblings);
                ret_cpus[n++] = cpu;
        }
        return n;
}

/* -- headers -- */

struct folder {
        char *path;              /* owned */
        struct timespec changed; /* 0: it is not there */
};

struct folders {
        struct folder *list;
        size_t n;
};

static void folders_done(struct folders *f)
{
        for (size_t i = 0; i < f->n; i++)
                free(f->list[i].path);
        free(f->list);
        *f = (struct folders){0};
}

static struct timespec changed(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? (struct timespec){0} : st.st_mtim;
}

static int add_folder(struct folders *f, const char *path)
{
        if (list_grow(f->list, f->n) < 0)
                return -ENOMEM;
        f->list[f->n] = (struct folder){strdup(path), changed(path)};
        return f->list[f->n].path ? (f->n++, 0) : -ENOMEM;
}

static int find_header_folders(struct folders *ret)
{
        char *const roots[] = {(char *)"/usr/include", (char *)"/usr/local/include", NULL};
        FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
        int r = 0;

        if (!fts)
                return -errno;
        for (FTSENT *e; r == 0 && (e = fts_read(fts));)
                if (e->fts_info == FTS_D || (e->fts_info == FTS_NS && e->fts_level == FTS_ROOTLEVEL))
                        r = add_folder(ret, e->fts_path);
        fts_close(fts);
        return r;
}

/* Another folder among them is another time of the one that it is in. */
static bool are_unchanged(const struct folders *f)
{
        for (size_t i = 0; i < f->n; i++) {
                struct timespec now = changed(f->list[i].path);

                if (now.tv_sec != f->list[i].changed.tv_sec || now.tv_nsec != f->list[i].changed.tv_nsec)
                        return false;
        }
        return f->n > 0;
}

static void digest_folders(const struct folders *f, char ret[DIGEST_HEX_SIZE])
{
        struct hasher *h = hasher_new();
        struct digest d;

        for (size_t i = 0; i < f->n; i++) {
                hasher_string(h, f->list[i].path);
                hasher_number(h, (uint64_t)f->list[i].changed.tv_sec);
                hasher_number(h, (uint64_t)f->list[i].changed.tv_nsec);
        }
        hasher_finish(h, &d);
        digest_hex(&d, ret);
}

int host_headers(char ret[65])
{
        static struct {
                pthread_mutex_t lock;
                struct folders folders; /* under lock, as the digest of them */
                char hex[DIGEST_HEX_SIZE];
        } seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
        int r = 0;

        pthread_mutex_lock(&seen.lock);
        if (!are_unchanged(&seen.folders)) {
                folders_done(&seen.folders);
                r = find_header_folders(&seen.folders);
                if (r < 0)
                        folders_done(&seen.folders);
                else
                        digest_folders(&seen.folders, seen.hex);
        }
        if (r == 0)
                memcpy(ret, seen.hex, DIGEST_HEX_SIZE);
        pthread_mutex_unlock(&seen.lock);
        return r;
}

/* -- doctor -- */

static void say(struct host_check *c, enum check_state state, const char *format, ...) printf_like(3, 4);
static void say(struct host_check *c, enum check_state state, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        c->state = state;
        vsnprintf(c->text, sizeof(c->text), format, args);
        va_end(args);
}

static void check_fuse(struct host_check *c)
{
        cleanup_close int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

        if (fd < 0 && errno == ENOENT)
                say(c, CHECK_FAILED, "/dev/fuse is missing; 'modprobe fuse' (in a container, start it with --device /dev/fuse)");
        else if (fd < 0)
                say(c, CHECK_FAILED, "/dev/fuse cannot be opened: %s", strerror(errno));
        else if (geteuid() != 0 && access("/usr/bin/fusermount3", X_OK) != 0)
                say(c, CHECK_FAILED, "only root can mount here, as there is no fusermount3; install the package 'fuse3'");
        else
                say(c, CHECK_OK, "/dev/fuse can be opened%s", geteuid() == 0 ? "" : ", fusermount3 is there");
}

static void check_request_timeout(struct host_check *c)
{
        unsigned long long most = 0, standard = 0;

        read_number("/proc/sys/fs/fuse/max_request_timeout", &most);
        read_number("/proc/sys/fs/fuse/default_request_timeout", &standard);
        if (most == 0 && standard == 0)
                say(c, CHECK_OK, "an open() may wait as long as it takes");
        else
                say(c, CHECK_FAILED,
                    "the kernel ends the mount when an open() waits for more than %llu s; "
                    "'sysctl fs.fuse.max_request_timeout=0 fs.fuse.default_request_timeout=0'",
                    most != 0 ? most : standard);
}

/* By doing it. */
static void check_bubblewrap(struct host_check *c)
{
        const char *tmp = getenv("TMPDIR");
        char *argv[] = {(char *)"/usr/bin/true", NULL};
        struct execute_result result;
        char scratch[PATH_SIZE];
        int r;

        if (snprintf(scratch, sizeof(scratch), "%s/solverfs-doctor-XXXXXX", tmp ? tmp : "/tmp") >= (int)sizeof(scratch) ||
            !mkdtemp(scratch)) {
                say(c, CHECK_FAILED, "cannot make a scratch folder in %s: %s", tmp ? tmp : "/tmp", strerror(errno));
                return;
        }
        r = execute(
                &(struct execute_request){
                        .argv = argv,
                        .scratch = scratch,
                        .wall_ns = 10 * NSEC_PER_SEC,
                        .slot = SANDBOX_UID_LAST - SANDBOX_UID_FIRST,
                        .cancel_fd = -1,
                        .input_fd = -1,
                },
                &result);
        remove_tree(scratch);
        if (r < 0) {
                say(c, CHECK_FAILED, "%s", error_message(r));
                return;
        }
        if (result.end == END_EXIT && result.code == 0)
                say(c, CHECK_OK, "programs run in a sandbox without network, homes and other processes");
        else
                say(c, CHECK_FAILED, "a program in the sandbox ended badly (%d, %d)", (int)result.end, result.code);
        execute_result_done(&result);
}

static void check_user_namespaces(struct host_check *c)
{
        unsigned long long most = 0, allowed = 1, restricted = 0;

        if (sandbox_has_users()) {
                say(c, CHECK_OK, "not needed: as root every slot's programs run as a user of their own (%d to %d)",
                    SANDBOX_UID_FIRST, SANDBOX_UID_LAST);
                return;
        }
        read_number("/proc/sys/user/max_user_namespaces", &most);
        read_number("/proc/sys/kernel/unprivileged_userns_clone", &allowed);                /* Debian's own */
        read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &restricted); /* Ubuntu's */
        if (most == 0)
                say(c, CHECK_FAILED, "none are allowed; 'sysctl user.max_user_namespaces=10000'");
        else if (allowed == 0)
                say(c, CHECK_FAILED, "only root may make them; 'sysctl kernel.unprivileged_userns_clone=1'");
        else if (restricted != 0)
                say(c, CHECK_WARNING,
                    "AppArmor restricts them; if bubblewrap fails, give it a profile or "
                    "'sysctl kernel.apparmor_restrict_unprivileged_userns=0'");
        else
                say(c, CHECK_OK, "programs run in a user namespace, where the limit on processes holds");
}

static void check_method(struct host_check *c)
{
        say(c, CHECK_OK, "not used: memory is measured and limited by rusage and polling (method \"rusage\")");
}

static void check_ccache(struct host_check *c)
{
        if (access("/usr/bin/ccache", X_OK) == 0)
                say(c, CHECK_OK, "found; builds of similar commits share their compilations");
        else
                say(c, CHECK_WARNING, "not found, so builds take longer; install the package 'ccache'");
}

static void check_swap(struct host_check *c)
{
        struct sysinfo info = {0};

        sysinfo(&info);
        if (info.totalswap == 0)
                say(c, CHECK_OK, "off");
        else
                say(c, CHECK_WARNING, "%" PRIu64 " MB are on; a run that swaps is measured slower than it is ('swapoff -a')",
                    (uint64_t)info.totalswap * info.mem_unit >> 20);
}

static void check_clock(struct host_check *c)
{
        char line[64] = "unknown";
        int t = turbo();
        bool known = read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof(line));

        if (known && strcmp(line, "performance") != 0)
                say(c, CHECK_WARNING,
                    "the governor is '%s', which changes the clock while programs run; 'cpupower frequency-set -g performance'",
                    line);
        else if (t == 1)
                say(c, CHECK_WARNING, "turbo is on: times depend on what the other cores do and on the temperature");
        else if (!known && t < 0)
                say(c, CHECK_OK, "CPU governor and turbo state unknown");
        else
                say(c, CHECK_OK, "governor %s, turbo %s", line, t == 0 ? "off" : "unknown");
}

static void check_cores(struct host_check *c)
{
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        say(c, CHECK_OK, "%zu whole core%s for timed runs, of %ld processors", n, n == 1 ? "" : "s",
            sysconf(_SC_NPROCESSORS_CONF));
}

static void check_slots(struct host_check *c)
{
        char folder[PATH_SIZE];
        const char *why = NULL;

        if (slot_folder(NULL, folder, &why) < 0)
                say(c, CHECK_WARNING, "two stores may time on one core at once: %s", error_message(-ENOENT));
        else
                say(c, strncmp(folder, "/run/lock/", 10) == 0 || getenv("SOLVERFS_SLOTS") ? CHECK_OK : CHECK_WARNING, "%s, %s",
                    folder, why);
}

/* ns of CPU time since the machine started: all that passed, what was used, what a hypervisor took. */
static bool read_cpu(uint64_t ret[3])
{
        cleanup_file FILE *f = fopen("/proc/stat", "re");
        unsigned long long n[8];
        char line[512];

        if (!f || !fgets(line, sizeof(line), f) ||
            sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]) !=
                    8)
                return false;
        ret[1] = n[0] + n[1] + n[2] + n[5] + n[6];
        ret[2] = n[7];
        ret[0] = ret[1] + ret[2] + n[3] + n[4];
        return true;
}

int host_busy(unsigned milliseconds, double *ret_busy, double *ret_stolen)
{
        uint64_t before[3], after[3];

        if (!read_cpu(before))
                return -ENOTSUP;
        usleep(milliseconds * 1000);
        if (!read_cpu(after) || after[0] <= before[0])
                return -ENOTSUP;
        *ret_busy = (double)(after[1] - before[1]) / (double)(after[0] - before[0]);
        *ret_stolen = (double)(after[2] - before[2]) / (double)(after[0] - before[0]);
        return 0;
}

static void check_quiet(struct host_check *c)
{
        double busy, stolen;

        if (host_busy(300, &busy, &stolen) < 0)
                say(c, CHECK_WARNING, "how busy the machine is cannot be read from /proc/stat");
        else if (stolen > 0.01)
                say(c, CHECK_WARNING,
                    "the hypervisor took %.0f %% of the CPU time just now: timed runs are disturbed, and flagged", stolen * 100);
        else if (busy > 0.25)
                say(c, CHECK_WARNING,
                    "%.0f %% of the CPU time was used just now: timed runs may have to wait for others; those that do are "
                    "measured again, "
                    "and flagged if it stays so",
                    busy * 100);
        else
                say(c, CHECK_OK, "%.0f %% of the CPU time was used just now", busy * 100);
}

static void check_descriptors(struct host_check *c)
{
        struct rlimit l = {0};

        getrlimit(RLIMIT_NOFILE, &l);
        if (l.rlim_max < 4096)
                say(c, CHECK_WARNING, "at most %llu files may be open, which many waiting readers may exceed; 'ulimit -Hn 65536'",
                    (unsigned long long)l.rlim_max);
        else
                say(c, CHECK_OK, "%llu files may be open", (unsigned long long)l.rlim_max);
}

int host_checks(struct host_check **ret, size_t *ret_n)
{
        static const struct {
                const char *name;
                void (*check)(struct host_check *c);
        } rows[] = {
                {"fuse", check_fuse},
                {"request-timeout", check_request_timeout},
                {"bubblewrap", check_bubblewrap},
                {"user-namespaces", check_user_namespaces},
                {"cgroup", check_method},
                {"ccache", check_ccache},
                {"cores", check_cores},
                {"slots", check_slots},
                {"quiet", check_quiet},
                {"clock", check_clock},
                {"swap", check_swap},
                {"descriptors", check_descriptors},
        };
        struct host_check *list = calloc(ARRAY_SIZE(rows), sizeof(*list));

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                list[i].name = rows[i].name;
                rows[i].check(&list[i]);
        }
        *ret = list;
        *ret_n = ARRAY_SIZE(rows);
        return 0;
}
