#include "core/run/host.h"

#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "cache/base/json.h"

/* -- small files of the kernel -- */

bool host_read_field(const char *root, const char *path, const char *name, char *ret, size_t size)
{
        cleanup_file FILE *f = NULL;
        char full[PATH_SIZE], line[512];

        f = path_join(full, root, path) == 0 ? fopen(full, "re") : NULL;
        while (f && fgets(line, sizeof(line), f)) {
                if (strncmp(line, name, strlen(name)) != 0)
                        continue;
                line[strcspn(line, "\n")] = '\0';
                snprintf(ret, size, "%s", line + strlen(name));
                return true;
        }
        return false;
}

bool host_read_number(const char *root, const char *path, unsigned long long *ret)
{
        char line[64], *end;

        if (!host_read_field(root, path, "", line, sizeof(line)))
                return false;
        *ret = strtoull(line, &end, 10);
        return end != line;
}

/* -- identity -- */

static char cpu_model[128], host_name[256] = "localhost", machine[512];

struct short_text host_pages(void)
{
        const long size = sysconf(_SC_PAGESIZE);
        struct short_text t = {""};

        if (size != 4096)
                snprintf(t.s, sizeof(t.s), ", pages of %ld", size);
        return t;
}

/* What /proc/cpuinfo calls the model. ARM's kernels give its number only: maker, part and revision. */
static void find_cpu_model(void)
{
        static const char *const names[] = {"model name" /* x86 */, "Model", "cpu\t" /* POWER */, "uarch" /* RISC-V */};
        bool is_found = false;
        struct utsname u;
        char line[512];

        uname(&u);
        snprintf(cpu_model, sizeof(cpu_model), "%.100s", u.machine);
        for (size_t i = 0; i < ARRAY_SIZE(names) && !is_found; i++) {
                is_found = host_read_field("", "/proc/cpuinfo", names[i], line, sizeof(line)) && strstr(line, ": ");
                if (is_found)
                        snprintf(cpu_model, sizeof(cpu_model), "%.100s", strstr(line, ": ") + 2);
        }
        if (!is_found && host_read_field("", "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "", line, sizeof(line)))
                snprintf(cpu_model, sizeof(cpu_model), "%.60s %.40s", u.machine, line);
        strcat(cpu_model, host_pages().s);
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

int host_turbo(const char *root)
{
        unsigned long long n;

        if (host_read_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", &n))
                return n == 0;
        return host_read_number(root, "/sys/devices/system/cpu/cpufreq/boost", &n) ? n != 0 : -1;
}

/* "Debian GNU/Linux 12 (bookworm)"; null if not known. */
static json_t *distribution(void)
{
        char line[512], *name = line;

        if (!host_read_field("", "/etc/os-release", "PRETTY_NAME=", line, sizeof(line)))
                return json_null();
        name += *name == '"';
        return json_stringn(name, strcspn(name, "\""));
}

json_t *host_facts(void)
{
        struct sysinfo memory = {0};
        struct utsname u = {0};
        char governor[64];
        const bool known = host_read_field("", HOST_GOVERNOR, "", governor, sizeof(governor));
        const int turbo = host_turbo("");

        host_machine(); /* sets the names */
        sysinfo(&memory);
        uname(&u);
        return json_pack("{so* so* so* sI sI sI so* so* so so* so}", "host", json_legible(host_name), "cpu", json_string(cpu_model), "arch",
                         json_string(u.machine), "cores", (json_int_t)sysconf(_SC_NPROCESSORS_CONF), "memory",
                         (json_int_t)memory.totalram * memory.mem_unit, "swap", (json_int_t)memory.totalswap * memory.mem_unit, "kernel",
                         json_sprintf("%s %s", u.sysname, u.release), "distribution", distribution(), "libc",
                         json_sprintf("glibc %s", gnu_get_libc_version()), "governor", known ? json_string(governor) : json_null(), "turbo",
                         turbo < 0 ? json_null() : json_boolean(turbo));
}

#define ELF_HEAD 20 /* bytes: as much as all processors' files have alike */

static uint16_t elf_machine(const uint8_t head[ELF_HEAD])
{
        uint16_t n;

        memcpy(&n, head + 18, sizeof(n));
        return n;
}

bool host_is_foreign(int fd)
{
        uint8_t head[ELF_HEAD], ours[ELF_HEAD];
        cleanup_close int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        if (pread(fd, head, ELF_HEAD, 0) != ELF_HEAD || memcmp(head, ELFMAG, SELFMAG) != 0 || self < 0 ||
            pread(self, ours, ELF_HEAD, 0) != ELF_HEAD)
                return false;
        if (head[EI_DATA] != ours[EI_DATA])
                return true;
        switch (elf_machine(ours)) { /* with its programs of 32 bits */
        case EM_X86_64:
                return elf_machine(head) != EM_X86_64 && elf_machine(head) != EM_386;
        case EM_AARCH64:
                return elf_machine(head) != EM_AARCH64 && elf_machine(head) != EM_ARM;
        default:
                return elf_machine(head) != elf_machine(ours);
        }
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
        if (host_read_field("", path, "", line, sizeof(line)))
                parse_cpus(line, ret);
        CPU_SET((size_t)cpu, ret);
}

size_t host_cores(int *ret_cpus, size_t most)
{
        cpu_set_t ours, taken;
        size_t n = 0;

        CPU_ZERO(&taken);
        if (sched_getaffinity(getpid(), sizeof(ours), &ours) < 0) { /* more than 1024 CPUs: uses the first */
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

/* -- load ---------------------------------------------------------------------------------------------------------- */

/* ns of CPU time since the machine started: in total, used, taken by a hypervisor. */
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
