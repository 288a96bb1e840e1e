/* Facts about this machine, and what it can do. Thread-safe; computed once. */
#pragma once

#include <jansson.h>

#include "cache/base/hash.h"
#include "cache/base/util.h"

/* The machine's identity, part of every run key: "<hostname or $SOLVERFS_MACHINE>/<CPU model>/<cores>". The kernel, libc and the like
 * are recorded as facts (host_facts()), or every update would turn the store cold. */
const char *host_machine(void);
json_t *host_facts(void); /* new reference: host, cpu, cores, memory, kernel, distribution, libc, governor, swap, turbo */

/* Cores that timed runs may own: whole cores (one hyper-thread sibling of each), within our affinity mask. At least one. */
size_t host_cores(int *ret_cpus, size_t most);

/* The compilers and build tools that are known by name, there or not, and the compilers' own parts: what a build may have used, where that was not
 * watched (core/build/used.h). */
void host_tools_each(void (*fn)(void *user, const char *path), void *user);
/* A digest of them by content: a worker's, part of the keys of what it builds. */
void host_toolchain(char ret[65]);
/* The compilers, the assembler and what they are made of (cc1, collect2, LLVM's libraries): sizes, times, beginnings. While they are the same, a preprocessed
 * file gives the same object. */
void host_compilers(struct digest *ret);
/* Watches the machine for so long. The shares (0 to 1) of its CPU time that were used, and that a hypervisor took. -ENOTSUP. */
int host_busy(unsigned milliseconds, double *ret_busy, double *ret_stolen);

/* CPU time of a fixed piece of work (some milliseconds): the least of fifteen, so that what else the machine does hardly counts. What two machines
 * need for it can be compared. 0: memory is out. */
uint64_t host_probe(void);

/* Reads a file of the kernel: the rest of its first line that begins with `name`, without the newline; the number it begins with. False when there is none.
 * `root`: "", or the folder that stands for /. */
bool host_read_field(const char *root, const char *path, const char *name, char *ret, size_t size);
bool host_read_number(const char *root, const char *path, unsigned long long *ret);
#define HOST_GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
/* 1 when the clock may rise above its nominal rate, 0 when not, -1 when not known. */
int host_turbo(const char *root);
