/* Recipes by name: in the folders of $SOLVERFS_RECIPES, in this source tree if run from its build folder, and where they are
 * installed. A recipe is a file NAME.recipe. */
#pragma once

#include "core/workspace/workspace.h"

/* Finds the file of --recipe; free(*ret). `word` is a path if it has a slash or ends in ".recipe", else a name. -ENOENT: no such recipe, with a
 * sentence that lists the known names. */
int recipes_find(const char *word, char **ret);
/* Calls fn with each name that --recipe takes, and its file. */
void recipes_each(void (*fn)(void *user, const char *name, const char *path), void *user);

/* Warns if the solver's recipe has an era whose revision the repository lacks. */
void recipe_warn_of_eras(struct solver *s);
