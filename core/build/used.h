/* A build's list of what it used of the machine, outside of its sources: each file that it or anything it started executed, opened or looked at, with the
 * digest of its bytes, and each that it looked for in vain. A header that appears in front of another one, an assembler that is upgraded, a
 * tool that configure did not find and that is installed now: all of them change what is said here, and a tool that it never asked for does not.
 *
 * It has the names in the root of the sources that were asked for, without digests, which are the build key's. Paths of the scratch folder and the
 * compile cache are not in it, nor a few files that say nothing of what is built and change often (/etc/ld.so.cache: the libraries that it led to
 * are in the list themselves). A folder counts as being there, not by what it holds. What the kernel
 * opens for a program, its interpreter, is added; and the assembler wherever a compiler ran, as an object out of the compile cache needed it
 * once. Where the kernel does not tell (exec_watch.h), the list is all compilers and build tools that are known by name, and the recipe's
 * dependencies.
 *
 * Equal lists have equal bytes: many commits share one. Threads: any. */
#pragma once

#include "core/build/build.h"

struct used_request {
        const struct build_request *build;
        const struct manifest *sources;
        struct slice watched; /* paths, each with its NUL */
        bool is_watched;      /* these are all */
        int64_t since_ns;     /* when the build began, since 1970 */
};
/* As the files are now. *ret_moved: one of them was changed since the build began. */
void used_list_make(const struct used_request *q, struct blob *ret, bool *ret_moved);
/* 0: all are what they were. 1 and the first that is not, to be freed. -EBADMSG. */
int used_list_check(struct slice list, char **ret_path);
/* Calls fn for each name in the root of the sources that the build asked for, in byte order. -ENOENT: the list does not say. -EBADMSG. */
int used_list_sources(struct slice list, void (*fn)(void *user, const char *name), void *user);
