/* Lists of paths in git's notation (gitglossary(7), "pathspec"), without wildcards: `src` includes a file or a whole folder, `:!doc` excludes one. A list
 * without inclusions means the whole tree except its exclusions. Lists are NULL-terminated. Threads: any. */
#pragma once

#include <stdbool.h>

/* The path that the entry excludes; NULL: it includes one. */
const char *paths_left_out(const char *entry);
/* True if the list has inclusions; otherwise it means the whole tree. */
bool paths_have_inclusions(char *const *paths);
/* True if the list excludes exactly this path, and so all in it. */
bool paths_leave_out(char *const *paths, const char *path);
/* True if it excludes this folder or something in it. */
bool paths_leave_out_within(char *const *paths, const char *folder);
/* True if the list includes the path. */
bool paths_have(char *const *paths, const char *path);
