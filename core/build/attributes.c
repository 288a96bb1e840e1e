#include "core/build/attributes.h"

#include <git2/sys/filter.h>
#include <git2/sys/repository.h>

#include "core/git/paths.h"

struct attributes {
        git_repository *git; /* borrowed */
        git_config *owner;   /* owned: what git on this machine is configured to; filters are looked for in it */
        git_oid commit;
};

void attributes_free(struct attributes *a)
{
        if (!a)
                return;
        git_config_free(a->owner);
        free(a);
}

/* -- are there any? --------------------------------------------------------------------------------------------- */

static int find_file(const char *root, const git_tree_entry *e, void *user)
{
        bool *found = user;

        *found |= strcmp(git_tree_entry_name(e), ".gitattributes") == 0;
        return *found ? -1 : 0;
}

static bool tree_has_any(const git_tree *tree)
{
        bool found = false;

        git_tree_walk(tree, GIT_TREEWALK_PRE, find_file, &found);
        return found;
}

/* In the path, or in a folder above it. */
static bool path_has_any(git_repository *git, const git_tree *root, const char *path)
{
        cleanup_git_tree_entry git_tree_entry *e = NULL;
        cleanup_git_tree git_tree *inside = NULL;
        char name[PATH_SIZE];

        for (const char *slash = path - 1; slash; slash = strchr(slash + 1, '/')) {
                cleanup_git_tree_entry git_tree_entry *there = NULL;

                snprintf(name, sizeof(name), "%.*s.gitattributes", (int)(slash + 1 - path), path);
                if (git_tree_entry_bypath(&there, root, name) == 0)
                        return true;
        }
        return git_tree_entry_bypath(&e, root, path) == 0 && git_tree_entry_type(e) == GIT_OBJECT_TREE &&
               git_tree_lookup(&inside, git, git_tree_entry_id(e)) == 0 && tree_has_any(inside);
}

static int any_apply(git_repository *git, const git_oid *commit, char *const *paths, bool *ret)
{
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;

        if (git_commit_lookup(&c, git, commit) < 0 || git_commit_tree(&tree, c) < 0)
                return errorf(-ESTALE, "the repository %s lacks %s: %s", git_repository_path(git), git_oid_tostr_s(commit),
                              git_error_text());
        *ret = !paths_are_chosen(paths) && tree_has_any(tree);
        for (size_t i = 0; !*ret && paths[i]; i++)
                *ret = !paths_left_out(paths[i]) && path_has_any(git, tree, paths[i]);
        return 0;
}

/* -- opening ---------------------------------------------------------------------------------------------------- */

/* The repository's own configuration alone, which a clone does not bring along. */
static int use_default_configuration(git_repository *git)
{
        cleanup_git_config git_config *config = NULL;
        char path[PATH_SIZE];
        int r = path_join(path, git_repository_path(git), "config");

        if (r < 0)
                return r;
        if (git_config_new(&config) < 0 || git_config_add_file_ondisk(config, path, GIT_CONFIG_LEVEL_LOCAL, git, 0) < 0 ||
            git_repository_set_config(git, config) < 0)
                return errorf(-EIO, "cannot read %s: %s", path, git_error_text());
        return 0;
}

int attributes_open(git_repository *git, const git_oid *commit, char *const *paths, struct attributes **ret)
{
        struct attributes *a;
        bool any = false;
        int r = any_apply(git, commit, paths, &any);

        *ret = NULL;
        if (r < 0 || !any)
                return r;
        a = allocate(1, sizeof(*a));
        *a = (struct attributes){.git = git, .commit = *commit};
        if (git_repository_config(&a->owner, git) < 0)
                r = errorf(-EIO, "cannot read git's configuration: %s", git_error_text());
        if (r == 0)
                r = use_default_configuration(git);
        if (r < 0)
                attributes_free(a);
        else
                *ret = a;
        return r;
}

/* -- applying --------------------------------------------------------------------------------------------------- */

static int attribute(struct attributes *a, const char *path, const char *name, const char **ret)
{
        git_attr_options o = GIT_ATTR_OPTIONS_INIT;

        o.flags = GIT_ATTR_CHECK_INDEX_ONLY | GIT_ATTR_CHECK_NO_SYSTEM | GIT_ATTR_CHECK_INCLUDE_COMMIT;
        o.attr_commit_id = a->commit;
        if (git_attr_get_ext(ret, a->git, &o, path, name) < 0)
                return errorf(git_errno(-1), "cannot read the attributes of %s: %s", path, git_error_text());
        return 0;
}

static bool is_configured(struct attributes *a, const char *driver, const char *what)
{
        cleanup_git_config git_config *snapshot = NULL;
        const char *command = NULL;
        char name[256];

        snprintf(name, sizeof(name), "filter.%s.%s", driver, what);
        return git_config_snapshot(&snapshot, a->owner) == 0 && git_config_get_string(&command, snapshot, name) == 0 && *command;
}

static int check_driver(struct attributes *a, const char *path)
{
        const char *driver = NULL;
        int r = attribute(a, path, "filter", &driver);

        if (r < 0 || git_attr_value(driver) != GIT_ATTR_VALUE_STRING)
                return r;
        if (!is_configured(a, driver, "smudge") && !is_configured(a, driver, "process"))
                return 0;
        return errorf(-ENOTSUP,
                      "cannot check out %s: its attributes ask for filter=%s, which git on this machine runs as a command of yours, and "
                      "a build cannot; leave such files out of the recipe's 'paths', or remove filter.%s from git's configuration "
                      "to build with the bytes as they were committed",
                      path, driver, driver);
}

static int check_encoding(struct attributes *a, const char *path)
{
        const char *encoding = NULL;
        int r = attribute(a, path, "working-tree-encoding", &encoding);

        if (r < 0 || git_attr_value(encoding) != GIT_ATTR_VALUE_STRING || strcasecmp(encoding, "UTF-8") == 0)
                return r;
        return errorf(-EBADMSG, "the sources want %s in the encoding %s (working-tree-encoding), which is not supported", path,
                      encoding);
}

int attributes_apply(struct attributes *a, const char *path, git_blob *blob, git_buf *ret)
{
        git_filter_options o = GIT_FILTER_OPTIONS_INIT;
        git_filter_list *filters = NULL;
        int r = check_driver(a, path);

        if (r == 0)
                r = check_encoding(a, path);
        if (r < 0)
                return r;
        o.flags = GIT_FILTER_ATTRIBUTES_FROM_COMMIT | GIT_FILTER_NO_SYSTEM_ATTRIBUTES;
        o.attr_commit_id = a->commit;
        if (git_filter_list_load_ext(&filters, a->git, blob, path, GIT_FILTER_TO_WORKTREE, &o) < 0 ||
            (filters && git_filter_list_apply_to_blob(ret, filters, blob) < 0))
                r = errorf(-EIO, "cannot apply the attributes of %s: %s", path, git_error_text());
        git_filter_list_free(filters);
        return r;
}
