#include "recipes.h"

#include <dirent.h>

#include "config.h"
#include "core/recipe/recipe.h"

#define SUFFIX ".recipe"

static bool has_suffix(const char *name)
{
        size_t n = strlen(name);

        return n > strlen(SUFFIX) && strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

/* The folders that have recipes; strings_free(). */
static char **folders(void)
{
        cleanup_free char *given = copy_string(getenv("SOLVERFS_RECIPES") ?: "");
        char self[PATH_SIZE], *rest = given, **list = NULL;
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        for (char *dir; (dir = strsep(&rest, ":"));)
                if (*dir)
                        strings_add(&list, dir);
        self[MAX(n, (ssize_t)0)] = '\0';
        strings_add(&list, strncmp(self, SOLVERFS_BUILD_ROOT "/", strlen(SOLVERFS_BUILD_ROOT "/")) == 0 ? SOLVERFS_SOURCE_RECIPES : SOLVERFS_RECIPES);
        return list;
}

static int is_recipe(const struct dirent *e)
{
        return has_suffix(e->d_name);
}

void recipes_each(void (*fn)(void *user, const char *name, const char *path), void *user)
{
        char **list = folders();

        for (char **dir = list; *dir; dir++) {
                struct dirent **entries = NULL;
                int n = scandir(*dir, &entries, is_recipe, alphasort);

                for (int i = 0; i < n; i++) {
                        char *name = entries[i]->d_name, path[PATH_SIZE];

                        if (path_join(path, *dir, name) == 0) {
                                name[strlen(name) - strlen(SUFFIX)] = '\0';
                                fn(user, name, path);
                        }
                        free(entries[i]);
                }
                free(entries);
        }
        strings_free(list);
}

static void list_name(void *user, const char *name, const char *path)
{
        struct buffer *b = user;

        buffer_addf(b, "%s%s", b->size > 0 ? ", " : "", name);
}

/* The file of that name in one of the folders: 0, or -ENOENT. *ret_where: the folders that were looked into. */
static int look_for(const char *name, char ret[PATH_SIZE], struct buffer *ret_where)
{
        char **list = folders(), file[256];
        bool found = false;

        for (char **dir = list; *dir && !found; dir++) {
                if (snprintf(file, sizeof(file), "%s" SUFFIX, name) >= (int)sizeof(file) || path_join(ret, *dir, file) < 0)
                        continue;
                buffer_addf(ret_where, "%s%s", ret_where->size > 0 ? ", " : "", *dir);
                found = access(ret, F_OK) == 0;
        }
        strings_free(list);
        return found ? 0 : -ENOENT;
}

int recipes_find(const char *word, char ret[PATH_SIZE])
{
        cleanup_buffer struct buffer there = {0}, where = {0};

        if (strchr(word, '/') || has_suffix(word)) {
                if (access(word, R_OK) < 0)
                        return errorf(-errno, "cannot read the recipe %s: %s", word, strerror(errno));
                if (snprintf(ret, PATH_SIZE, "%s", word) >= PATH_SIZE)
                        return errorf(-ENAMETOOLONG, "path too long: %.200s", word);
                return 0;
        }
        if (look_for(word, ret, &where) == 0)
                return 0;
        recipes_each(list_name, &there);
        if (there.size > 0)
                return errorf(-ENOENT, "no recipe '%s' in %s; there are %s: give one of these or a file with --recipe; 'solverfs recipe draft REPO' "
                                       "writes one",
                              word, where.data, there.data);
        return errorf(-ENOENT,
                      "no recipe '%s', nor any other, in %s: give a file with --recipe FILE ('solverfs recipe draft REPO' writes one), or the "
                      "folder of your recipes in $SOLVERFS_RECIPES",
                      word, where.data ? where.data : "any folder");
}
