/* A build's list of the files of the machine that it used, outside of its sources. It has each file that the build or its descendants executed,
 * opened or looked at, with the digest of its bytes, and each file that they looked for in vain. So the list changes with a header that appears in
 * front of another one, an upgraded assembler, or a tool that configure had not found and that is installed now. It does not change with a tool that
 * the build never asked for.
 *
 * It also has the names in the root of the sources that were asked for, without digests: those are in the build key. A folder is listed as present,
 * without its content. The scratch folder, the compile cache and a few files that change often and do not affect a build are left out. The
 * interpreter of each program is added, as the kernel opens it, and so is the assembler if a compiler ran: an object from the compile cache needed it
 * once. Where the kernel does not report files (exec_stub.h), the list is all compilers and build tools known by name, and the recipe's dependencies.
 *
 * Equal lists have equal bytes: many commits share one. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* True if the list names only what a sandbox with these dependencies shows. Ask this of another store's list first: a check opens what it names. */
bool used_list_is_bound(struct slice list, char *const *dependencies);
/* 0: all files are unchanged. 1: *ret_path is the first changed one, to be freed. -EBADMSG: the list is damaged. */
int used_list_check(struct slice list, char **ret_path);
/* Calls fn for each name in the root of the sources that the build asked for, in byte order. -ENOENT if the list has none recorded. -EBADMSG. */
int used_list_sources(struct slice list, void (*fn)(void *user, const char *name), void *user);
