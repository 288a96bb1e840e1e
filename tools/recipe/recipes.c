#include "recipes.h"

#include <dirent.h>

#include "cache/base/helper.h"
#include "config.h"
#include "core/build/era.h"

#define SUFFIX ".recipe"

static bool has_suffix(const char *name)
{
        size_t n = strlen(name);

        return n > strlen(SUFFIX) && strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

/* The folders of recipes; strings_free(). */
static char **folders(void)
{
        /* an installation that was moved; the link of a build folder */
        static const char *const beside[] = {"../share/solverfs/recipes", "solverfs-recipes"};
        cleanup_free char *given = copy_string(getenv("SOLVERFS_RECIPES") ?: ""), *own = NULL;
        char self[PATH_SIZE], path[PATH_SIZE], *rest = given, **list = NULL;

        for (char *dir; (dir = strsep(&rest, ":"));)
                if (*dir)
                        strings_add(&list, dir);
        if (own_folder(self) == 0)
                for (size_t i = 0; !own && i < ARRAY_SIZE(beside); i++)
                        if (path_join(path, self, beside[i]) == 0)
                                own = realpath(path, NULL);
        strings_add(&list, own ?: SOLVERFS_RECIPES);
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
                        char *name = entries[i]->d_name;
                        cleanup_free char *path = format_string("%s/%s", *dir, name);

                        name[strlen(name) - strlen(SUFFIX)] = '\0';
                        fn(user, name, path);
                        free(entries[i]);
                }
                free(entries);
        }
        strings_free(list);
}

struct search {
        const char *name;
        char *found; /* the file in the first folder that has it */
        struct buffer names;
};

static void take_name(void *user, const char *name, const char *path)
{
        struct search *s = user;

        if (!s->found && strcmp(name, s->name) == 0)
                s->found = copy_string(path);
        buffer_addf(&s->names, "%s%s", s->names.size > 0 ? ", " : "", name);
}

int recipes_find(const char *word, char **ret)
{
        struct search s = {.name = word};
        cleanup_buffer struct buffer where = {0};
        cleanup_free char *names = NULL;
        char **list;

        if (strchr(word, '/') || has_suffix(word)) {
                if (access(word, R_OK) < 0)
                        return errorf(-errno, "cannot read the recipe %s: %s", word, strerror(errno));
                s.found = copy_string(word);
        } else
                recipes_each(take_name, &s);
        names = s.names.data;
        *ret = s.found;
        if (s.found)
                return 0;
        list = folders();
        for (char **dir = list; *dir; dir++)
                buffer_addf(&where, "%s%s", where.size > 0 ? ", " : "", *dir);
        strings_free(list);
        if (access(word, R_OK) == 0)
                return errorf(-ENOENT, "no recipe '%s' in %s; for the file of that name, give ./%s", word, where.data, word);
        if (names)
                return errorf(-ENOENT,
                              "no recipe '%s' in %s; there are %s: give one of these or a file with --recipe; 'solverfs recipe draft REPO' writes one",
                              word, where.data, names);
        return errorf(-ENOENT,
                      "no recipe '%s', nor any other, in %s: give a file with --recipe FILE ('solverfs recipe draft REPO' writes one), or the "
                      "folder of your recipes in $SOLVERFS_RECIPES",
                      word, where.data);
}

void recipe_warn_of_eras(struct solver *s)
{
        const struct recipe *era;

        if (s->recipe->n_eras > 0 && era_of(s->history, s->recipe, COMMIT_NONE, &era) == -EIO)
                log_warning("%s; until it is there, no commit can be built", error_message(-EIO));
}
