/* Lists of paths as git writes them (gitglossary(7), "pathspec"), without wildcards: `src` is that file or folder with all in it, `:!doc` leaves that
 * out. A list that only leaves out, or is empty, means the whole tree otherwise. Lists are NULL-terminated. Threads: any. */
#pragma once

#include <stdbool.h>

/* The path that the entry leaves out; NULL: it takes one in. */
const char *paths_left_out(const char *entry);
/* Does the list name what it takes in? Else it means the whole tree. */
bool paths_are_chosen(char *const *paths);
/* Does the list leave out just this path? What is in it goes with it. */
bool paths_leave_out(char *const *paths, const char *path);
/* Does it leave out this folder, or something in it? */
bool paths_leave_out_within(char *const *paths, const char *folder);
/* Is the path part of what the list means? */
bool paths_have(char *const *paths, const char *path);
