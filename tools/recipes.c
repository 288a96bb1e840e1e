#include "recipes.h"

#include <dirent.h>

#include "config.h"

#define SUFFIX ".recipe"

static bool has_suffix(const char *name)
{
        size_t n = strlen(name);

        return n > strlen(SUFFIX) && strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

/* Calls fn for each folder until it returns other than 0, which is returned. */
static int each_folder(int (*fn)(void *user, const char *dir), void *user)
{
        cleanup_free char *given = NULL;
        const char *env = getenv("SOLVERFS_RECIPES");
        char self[PATH_SIZE];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        int r = 0;

        if (env) {
                char *rest;

                given = rest = strdup(env);
                if (!given)
                        return -ENOMEM;
                for (char *dir; r == 0 && (dir = strsep(&rest, ":"));)
                        if (*dir)
                                r = fn(user, dir);
        }
        self[MAX(n, (ssize_t)0)] = '\0';
        if (r == 0 && strncmp(self, SOLVERFS_BUILD_ROOT "/", strlen(SOLVERFS_BUILD_ROOT "/")) == 0)
                return fn(user, SOLVERFS_SOURCE_RECIPES);
        return r == 0 ? fn(user, SOLVERFS_RECIPES) : r;
}

struct looking {
        const char *name;
        char *ret;
        struct buffer there; /* names seen, for the complaint */
        struct buffer where;
};

static int look_in(void *user, const char *dir)
{
        struct looking *f = user;
        char name[256], path[PATH_SIZE];

        if (snprintf(name, sizeof(name), "%s" SUFFIX, f->name) >= (int)sizeof(name) || path_join(path, dir, name) < 0)
                return 0;
        buffer_addf(&f->where, "%s%s", f->where.size > 0 ? ", " : "", dir);
        if (access(path, F_OK) < 0)
                return 0;
        memcpy(f->ret, path, PATH_SIZE);
        return 1;
}

static int is_recipe(const struct dirent *e)
{
        return has_suffix(e->d_name);
}

struct visiting {
        void (*fn)(void *user, const char *name, const char *path);
        void *user;
};

static int visit(void *user, const char *dir)
{
        struct visiting *v = user;
        struct dirent **entries;
        int n = scandir(dir, &entries, is_recipe, alphasort);

        for (int i = 0; i < n; i++) {
                char *name = entries[i]->d_name, path[PATH_SIZE];

                if (path_join(path, dir, name) == 0) {
                        name[strlen(name) - strlen(SUFFIX)] = '\0';
                        v->fn(v->user, name, path);
                }
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
        return 0;
}

void recipes_each(void (*fn)(void *user, const char *name, const char *path), void *user)
{
        each_folder(visit, &(struct visiting){fn, user});
}

static void list_name(void *user, const char *name, const char *path)
{
        struct buffer *b = user;

        buffer_addf(b, "%s%s", b->size > 0 ? ", " : "", name);
}

int recipes_find(const char *word, char ret[PATH_SIZE])
{
        struct looking f = {.name = word, .ret = ret};
        int r;

        if (strchr(word, '/') || has_suffix(word)) {
                if (access(word, R_OK) < 0)
                        return errorf(-errno, "cannot read the recipe %s: %s", word, strerror(errno));
                if (snprintf(ret, PATH_SIZE, "%s", word) >= PATH_SIZE)
                        return errorf(-ENAMETOOLONG, "path too long: %.200s", word);
                return 0;
        }
        r = each_folder(look_in, &f);
        if (r == 0) {
                recipes_each(list_name, &f.there);
                r = f.there.size > 0
                            ? errorf(-ENOENT, "no recipe '%s' in %s; there are %s: give one of these or a file with --recipe; 'solverfs recipe draft REPO' "
                                     "writes one",
                                     word, f.where.data, f.there.data)
                            : errorf(-ENOENT,
                                     "no recipe '%s', nor any other, in %s: give a file with --recipe FILE ('solverfs recipe draft REPO' writes one), or the "
                                     "folder of your recipes in $SOLVERFS_RECIPES",
                                     word, f.where.data ? f.where.data : "any folder");
        }
        buffer_done(&f.there);
        buffer_done(&f.where);
        return r < 0 ? r : 0;
}
