/* Facts about this machine. Thread-safe. Only host_machine() is computed once; host_cores() follows our affinity mask. */
#pragma once

#include <jansson.h>

#include "cache/base/hash.h"
#include "cache/base/util.h"

/* The machine's identity, part of every run key: "<hostname or $SOLVERFS_MACHINE>/<CPU model>/<cores>". The kernel, libc and the like are only
 * recorded (host_facts()), or every update would turn the store cold. */
const char *host_machine(void);
/* "" if memory has pages of 4 KiB, else ", pages of 65536". Times depend on it, and so may what a build makes: it is part of the CPU model and of
 * build keys. */
struct short_text host_pages(void);
json_t *host_facts(void); /* new reference: host, cpu, arch, cores, memory, kernel, distribution, libc, governor, swap, turbo */

/* True if the file is an ELF program for another processor. Only an emulator could run it, and binfmt_misc may have one. */
bool host_is_foreign(int fd);

/* Cores that timed runs may own: whole cores (one hyper-thread sibling of each), within our affinity mask. At least one. */
size_t host_cores(int *ret_cpus, size_t most);

/* Calls fn for the compilers and build tools known by name, present or not, and for the compilers' own parts: the tools that a build may have used if
 * it was not watched (core/build/used.h). */
void host_tools_each(void (*fn)(void *user, const char *path), void *user);
/* A digest of those tools by content: the worker's part of the keys of its builds. */
void host_toolchain(char ret[65]);
/* A digest of the compilers, the assembler and their parts (cc1, collect2, LLVM's libraries): sizes, times, beginnings. While it is the same, a
 * preprocessed file gives the same object. */
void host_compilers(struct digest *ret);
/* Watches the machine for so long. Sets the shares (0 to 1) of its CPU time that were used, and that a hypervisor took. -ENOTSUP: not known. */
int host_busy(unsigned milliseconds, double *ret_busy, double *ret_stolen);

/* CPU time in ns of a fixed piece of work (some milliseconds): the least of up to fifteen, so that other load hardly counts. It compares machines. 0
 * if memory is out. */
uint64_t host_probe(void);

/* Reads a file of the kernel: the rest of its first line that begins with `name`, without the newline. host_read_number() reads the number at the
 * beginning of the file. False if there is none. `root`: "", or the folder that replaces /. */
bool host_read_field(const char *root, const char *path, const char *name, char *ret, size_t size);
bool host_read_number(const char *root, const char *path, unsigned long long *ret);
#define HOST_GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
/* 1 if the clock may rise above its nominal rate, 0 if not, -1 if not known. */
int host_turbo(const char *root);
