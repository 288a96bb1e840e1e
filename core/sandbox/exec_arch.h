/* The machine's instruction sets as seccomp names them: a new one is added here. The helper only. */
#pragma once

#include <linux/audit.h>

/* NATIVE: the machine's own. OTHER: that of its 32-bit programs, or NATIVE again if it has none. OTHER_KEYS: the number of add_key() in OTHER,
 * followed by those of request_key() and keyctl(): exec_world.c forbids all three. */
#if defined(__x86_64__)
enum { NATIVE = AUDIT_ARCH_X86_64, OTHER = AUDIT_ARCH_I386, OTHER_KEYS = 286 };
#elif defined(__aarch64__)
enum { NATIVE = AUDIT_ARCH_AARCH64, OTHER = AUDIT_ARCH_ARM, OTHER_KEYS = 309 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { NATIVE = AUDIT_ARCH_RISCV64, OTHER = AUDIT_ARCH_RISCV32, OTHER_KEYS = 217 };
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
enum { NATIVE = AUDIT_ARCH_PPC64LE, OTHER = NATIVE, OTHER_KEYS = 0 };
#elif defined(__loongarch_lp64)
enum { NATIVE = AUDIT_ARCH_LOONGARCH64, OTHER = NATIVE, OTHER_KEYS = 0 };
#elif defined(__s390x__)
enum { NATIVE = AUDIT_ARCH_S390X, OTHER = AUDIT_ARCH_S390, OTHER_KEYS = 278 };
#else
#error "name this machine's instruction sets here"
#endif
