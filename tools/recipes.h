/* Where recipes are found by name: in the folders of $SOLVERFS_RECIPES, in this source tree when we run from its build folder, and
 * where they were installed. A recipe is a file NAME.recipe. */
#pragma once

#include "cache/base/util.h"

/* The meaning of --recipe: a path when it has a slash or ends in ".recipe", else a name. The path of the file; -ENOENT with the names
 * there are. */
int recipes_find(const char *word, char ret[PATH_SIZE]);
/* Calls fn with each name that --recipe takes, and its file. */
void recipes_each(void (*fn)(void *user, const char *name, const char *path), void *user);
