#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/run/host.h"
#include "tools/store/host_checks.h"

/* A machine made up in the folder "root", of which a check sees the files given. */
static void put(const char *path, const char *text)
{
        char full[PATH_SIZE];
        FILE *f;

        ck_assert(snprintf(full, sizeof(full), "root%s", path) < (int)sizeof(full));
        for (char *slash = full; (slash = strchr(slash, '/')); slash++) {
                *slash = '\0';
                mkdir(full, 0755);
                *slash = '/';
        }
        f = fopen(full, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
        chmod(full, 0755);
}

struct expected {
        const char *name, *words;
        enum check_state state;
        bool found;
};

static void see(void *user, const struct host_check *c)
{
        struct expected *x = user;

        if (strcmp(c->name, x->name) != 0)
                return;
        x->found = true;
        ck_assert_msg(strstr(c->text, x->words) && c->state == x->state, "%s: %d, %s", c->name, (int)c->state, c->text);
}

/* The line of the check `name` on the machine below `root` is in `state`, and has `words`. */
static void expect_on(const char *root, const char *name, enum check_state state, const char *words)
{
        struct expected x = {.name = name, .words = words, .state = state};

        host_checks(root, see, &x);
        ck_assert_msg(x.found, "there is no check '%s'", name);
}

/* The same on the machine made up. */
static void expect(const char *name, enum check_state state, const char *words)
{
        mkdir("root", 0755);
        expect_on("root", name, state, words);
}

START_TEST(test_mounting)
{
        expect("fuse", CHECK_FAILED, "/dev/fuse is missing");
        put("/dev/fuse", "");
        expect("fuse", CHECK_FAILED, "/dev/fuse is not the device");
        expect("request-timeout", CHECK_OK, "as long as it takes");
        put("/proc/sys/fs/fuse/default_request_timeout", "30\n");
        expect("request-timeout", CHECK_FAILED, "more than 30 s");
}
END_TEST

START_TEST(test_cgroup)
{
        expect("cgroup", CHECK_OK, "no limit");
        put("/proc/self/cgroup", "0::/a/b\n");
        put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        put("/sys/fs/cgroup/a/b/memory.max", "max\n");
        expect("cgroup", CHECK_OK, "no limit");
        put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* a group above ours */
        put("/sys/fs/cgroup/a/b/memory.max", "2147483648\n");
        expect("cgroup", CHECK_WARNING, "1.5 cores' worth of time and 2 GiB of memory");
}
END_TEST

START_TEST(test_cgroup_of_the_first_version)
{
        put("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/d\n3:memory:/d\n0::/\n");
        put("/sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "-1\n");
        put("/sys/fs/cgroup/memory/d/memory.limit_in_bytes", "9223372036854771712\n");
        expect("cgroup", CHECK_OK, "no limit");
        put("/sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "50000\n");
        put("/sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000\n");
        expect("cgroup", CHECK_WARNING, "0.5 cores' worth of time:");
}
END_TEST

START_TEST(test_tools)
{
        expect("compilers", CHECK_WARNING, "apt-get install gcc g++ make cmake ninja-build");
        expect("ccache", CHECK_WARNING, "install the package 'ccache'");
        expect("downloads", CHECK_WARNING, "no curl");
        put("/usr/bin/cc", "");
        put("/usr/bin/make", "");
        put("/usr/local/bin/c++", "");
        expect("compilers", CHECK_OK, "not found: cmake ninja");
        put("/usr/bin/cmake", "");
        put("/usr/bin/ninja", "");
        put("/usr/bin/ccache", "");
        put("/usr/bin/curl", "");
        expect("compilers", CHECK_OK, "are there");
        expect("ccache", CHECK_OK, "found");
        expect("downloads", CHECK_OK, "curl is there");
}
END_TEST

START_TEST(test_clocks)
{
        expect("frequency", CHECK_OK, "unknown");
        put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        expect("frequency", CHECK_WARNING, "the governor is 'powersave'");
        put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
        expect("frequency", CHECK_WARNING, "turbo is on");
        put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
        expect("frequency", CHECK_OK, "governor performance, turbo off");
        put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        expect("clock", CHECK_OK, "'tsc'");
        put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
        expect("clock", CHECK_WARNING, "'hpet', slow to read");
        expect("heat", CHECK_OK, "no core");
        for (unsigned i = 0; i < 1024; i++) { /* whichever are ours */
                char path[128];

                snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", i);
                put(path, "12\n");
        }
        expect("heat", CHECK_WARNING, "slowed down 12 times");
}
END_TEST

START_TEST(test_date)
{
        const int64_t now = now_seconds();

        put("/usr/bin/cc", "");
        expect("date", CHECK_OK, "after");
        for (int hours = 1; hours >= -1; hours -= 2) {
                const struct timespec times[2] = {{.tv_sec = now}, {.tv_sec = now + 3600 * hours}};

                ck_assert_int_eq(utimensat(AT_FDCWD, "root/usr/bin", times, 0), 0);
                expect("date", hours > 0 ? CHECK_WARNING : CHECK_OK, hours > 0 ? "/usr/bin is of 2" : "after");
        }
}
END_TEST

START_TEST(test_cores_of_two_kinds)
{
        int cpus[2];

        SKIP_UNLESS(host_cores(cpus, 2) == 2, "two cores");
        for (size_t i = 0; i < 2; i++) {
                char path[128];

                snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpus[i]);
                put(path, i ? "2400000\n" : "4800000\n");
        }
        expect("cores", CHECK_WARNING, "up to 2.4 and 4.8 GHz");
}
END_TEST

START_TEST(test_memory)
{
        expect("memory", CHECK_WARNING, "cannot be read");
        put("/proc/meminfo", "MemTotal:        2097152 kB\nSwapTotal:       1048576 kB\n");
        expect("memory", CHECK_WARNING, "2.0 GiB");
        expect("swap", CHECK_WARNING, "1024 MB are on");
        put("/proc/meminfo", "MemTotal:     99999999999 kB\nSwapTotal:             0 kB\n");
        expect("memory", CHECK_OK, "GiB");
        expect("swap", CHECK_OK, "off");
}
END_TEST

START_TEST(test_limits)
{
        expect("limits", CHECK_OK, "files may be open");
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* which reserve terabytes themselves */
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){UINT64_C(64) << 30, RLIM_INFINITY}), 0);
        expect("limits", CHECK_WARNING, "at most 65536 MiB");
#endif
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){1024, 1024}), 0);
        expect("limits", CHECK_WARNING, "at most 1024 files");
}
END_TEST

START_TEST(test_slots)
{
        char here[PATH_SIZE];

        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        setenv("SOLVERFS_SLOTS", here, 1);
        expect_on("", "slots", CHECK_OK, "shared by all who name it so");
        setenv("SOLVERFS_SLOTS", "slots", 1);
        expect_on("", "slots", CHECK_FAILED, "$SOLVERFS_SLOTS is 'slots', which is not the absolute path of a writable folder");
        setenv("SOLVERFS_SLOTS", "/dev/null", 1);
        expect_on("", "slots", CHECK_FAILED, "Not a directory");
}
END_TEST

static void see_some(void *user, const struct host_check *c)
{
        (*(unsigned *)user)++;
        ck_assert_uint_gt(strlen(c->text), 0);
        if (strcmp(c->name, "bubblewrap") == 0)
                ck_assert_msg(c->state == CHECK_OK, "%s", c->text);
}

START_TEST(test_this_machine)
{
        unsigned n = 0;

        host_checks("", see_some, &n);
        ck_assert_uint_gt(n, 0);
}
END_TEST

SUITE("host_checks", test_mounting, test_cgroup, test_cgroup_of_the_first_version, test_tools, test_clocks, test_date, test_cores_of_two_kinds,
      test_memory, test_limits, test_slots, test_this_machine)
