#include "core/build/attributes.h"

#include <git2/sys/filter.h>
#include <git2/sys/repository.h>

/* Only the repository's own configuration, which clones do not copy. */
static int use_default_configuration(git_repository *git)
{
        cleanup_git_config git_config *config = NULL;
        cleanup_free char *path = format_string("%s/config", git_repository_path(git));

        if (git_config_new(&config) < 0 || git_config_add_file_ondisk(config, path, GIT_CONFIG_LEVEL_LOCAL, git, 0) < 0 ||
            git_repository_set_config(git, config) < 0)
                return errorf(-EIO, "cannot read %s: %s", path, git_error_text());
        return 0;
}

int attributes_open(git_repository *git, struct attributes *ret)
{
        *ret = (struct attributes){.git = git};
        if (git_repository_config(&ret->machine, git) < 0)
                return errorf(-EIO, "cannot read git's configuration: %s", git_error_text());
        return use_default_configuration(git);
}

/* -- applying --------------------------------------------------------------------------------------------------- */

static int attribute(const struct attributes *a, const struct tracked *t, const char *name, const char **ret)
{
        git_attr_options o = GIT_ATTR_OPTIONS_INIT;

        o.flags = GIT_ATTR_CHECK_INDEX_ONLY | GIT_ATTR_CHECK_NO_SYSTEM | GIT_ATTR_CHECK_INCLUDE_COMMIT;
        o.attr_commit_id = t->owner;
        if (git_attr_get_ext(ret, a->git, &o, t->path + t->prefix_size, name) < 0)
                return errorf(git_errno(-1), "cannot read the attributes of %s: %s", t->path, git_error_text());
        return 0;
}

/* True if git here has a command for `what` ("smudge", "process") of the filter driver. */
static bool is_configured(const struct attributes *a, const char *driver, const char *what)
{
        cleanup_git_config git_config *snapshot = NULL;
        const char *command = NULL;
        char name[256];

        snprintf(name, sizeof(name), "filter.%s.%s", driver, what);
        return git_config_snapshot(&snapshot, a->machine) == 0 && git_config_get_string(&command, snapshot, name) == 0 && *command;
}

static int check_driver(const struct attributes *a, const struct tracked *t)
{
        const char *driver = NULL;
        int r = attribute(a, t, "filter", &driver);

        if (r < 0 || git_attr_value(driver) != GIT_ATTR_VALUE_STRING)
                return r;
        if (!is_configured(a, driver, "smudge") && !is_configured(a, driver, "process"))
                return 0;
        return errorf(-ENOTSUP,
                      "cannot check out %s: its attributes ask for filter=%s, which git on this machine runs as a command of yours, and "
                      "a build cannot; leave such files out of the recipe's 'paths', or remove filter.%s from git's configuration "
                      "to build with the bytes as they were committed",
                      t->path, driver, driver);
}

static int check_encoding(const struct attributes *a, const struct tracked *t)
{
        const char *encoding = NULL;
        int r = attribute(a, t, "working-tree-encoding", &encoding);

        if (r < 0 || git_attr_value(encoding) != GIT_ATTR_VALUE_STRING || strcasecmp(encoding, "UTF-8") == 0)
                return r;
        return errorf(-EBADMSG, "the sources want %s in the encoding %s (working-tree-encoding), which is not supported", t->path,
                      encoding);
}

int attributes_apply(const struct attributes *a, const struct tracked *t, git_blob *blob, git_buf *ret)
{
        git_filter_options o = GIT_FILTER_OPTIONS_INIT;
        git_filter_list *filters = NULL;
        int r = check_driver(a, t) ?: check_encoding(a, t);

        if (r < 0)
                return r;
        o.flags = GIT_FILTER_ATTRIBUTES_FROM_COMMIT | GIT_FILTER_NO_SYSTEM_ATTRIBUTES;
        o.attr_commit_id = t->owner;
        if (git_filter_list_load_ext(&filters, a->git, blob, t->path + t->prefix_size, GIT_FILTER_TO_WORKTREE, &o) < 0 ||
            (filters && git_filter_list_apply_to_blob(ret, filters, blob) < 0))
                r = errorf(-EIO, "cannot apply the attributes of %s: %s", t->path, git_error_text());
        git_filter_list_free(filters);
        return r;
}
