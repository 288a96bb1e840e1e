/* A build's list of what it used of the machine, outside of its sources: each file that it or anything it started executed, opened or looked at, with the
 * digest of its bytes, and each that it looked for in vain. So a header that appears in front of another one, an upgraded assembler, and a tool that
 * configure had not found and that is installed now change what is said here. A tool that it never asked for does not.
 *
 * It also has the names in the root of the sources that were asked for, without digests: those are in the build key. A folder counts as being there, not
 * by what it holds. Paths of the scratch folder and the compile cache are left out, and a few files that change often and say nothing of what is
 * built. Added are the interpreter of each program, which the kernel opens, and the assembler wherever a compiler ran, as an object out of the
 * compile cache needed it once. Where the kernel does not tell (exec_watch.h), the list is all compilers and build tools known by name, and the
 * recipe's dependencies.
 *
 * Equal lists have equal bytes: many commits share one. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* 0: all are what they were. 1 and the first that is not, to be freed. -EBADMSG. */
int used_list_check(struct slice list, char **ret_path);
/* Calls fn for each name in the root of the sources that the build asked for, in byte order. -ENOENT: the list does not say. -EBADMSG. */
int used_list_sources(struct slice list, void (*fn)(void *user, const char *name), void *user);
