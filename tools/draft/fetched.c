/* Repositories that CMake's FetchContent would clone while configuring. A build has no network, so the recipe gets a `submodule` line with the commit
 * of the tag today, and CMake gets the folder. */
#include <ctype.h>

#include "draft.h"

/* A line of cmake_declared(), NAME\tURL\tTAG, cut into its parts; they point into it. */
struct declared {
        char *name, *url, *tag;
};

/* Cuts the line in place. */
static struct declared split(char *line)
{
        struct declared ret = {.name = strsep(&line, "\t")};

        ret.url = strsep(&line, "\t");
        ret.tag = line;
        return ret;
}

/* Fetches the declared repository as the submodule at `path`. *ret: the tree of the tag's commit, owned. -errno with a sentence: it could not be fetched.
 * Ends the command after a signal. */
static int fetch_declared(struct draft *d, const struct declared *part, const char *path, git_oid *ret_commit, git_tree **ret)
{
        cleanup(git_commit_freep) git_commit *c = NULL;
        int r;

        if (!history_is_remote(part->url)) /* the sources are not trusted, and this machine has repositories that are not theirs */
                return errorf(-EINVAL, "FetchContent_Declare(%s) names %s, which is no address of another machine; to have it nevertheless, write "
                                      "'submodule = %s=%s COMMIT' into a recipe", part->name, part->url, path, part->url);
        r = history_fetch_submodule(common.solver->history, path, part->url, &command_progress);
        if (r == -ECANCELED || r == -EINTR)
                command_must(r);
        if (r == 0)
                r = history_submodule_commit(common.solver->history, path, part->tag, ret_commit);
        if (r == 0 && (git_commit_lookup(&c, d->git, ret_commit) < 0 || git_commit_tree(ret, c) < 0))
                r = errorf(-ESTALE, "%s lacks the files of %s", part->url, part->tag);
        return r;
}

/* Tells the recipe and CMake where the repository is. */
static void add_lines(const struct declared *part, const char *path, const git_oid *commit, struct draft_keys *keys, struct buffer *cmake)
{
        cleanup_free char *line = format_string("%s=%s %s", path, part->url, oid_text(commit));

        strings_add(&keys->submodules, line);
        buffer_adds(cmake, " -DFETCHCONTENT_SOURCE_DIR_");
        for (const char *p = part->name; *p; p++)
                buffer_addf(cmake, "%c", toupper((unsigned char)*p));
        buffer_addf(cmake, "=$PWD/%s", path);
}

/* The lines of add_lines() name a commit; those of git's own submodules do not. */
void draft_forget_declared(struct draft_keys *keys)
{
        size_t n = 0;

        for (char **p = keys->submodules; p && *p; p++)
                if (recipe_submodule(*p).commit)
                        free(*p);
                else
                        keys->submodules[n++] = *p;
        if (keys->submodules)
                keys->submodules[n] = NULL;
}

bool draft_fetch_declared(struct draft *d, uint32_t commit, struct draft_keys *keys, struct buffer *cmake)
{
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, commit);
        char **lines = NULL;
        bool is_any_new = false;

        cmake_declared(d->git, tree, &lines);
        for (size_t i = 0; lines && lines[i]; i++) { /* the list grows: a fetched repository may declare more */
                const struct declared part = split(lines[i]);
                cleanup_free char *path = format_string("fetched/%s", part.name);
                cleanup(git_tree_freep) git_tree *files = NULL;
                git_oid oid;
                int r;

                if (recipe_find_submodule(keys->submodules, slice_string(path)))
                        continue;
                r = fetch_declared(d, &part, path, &oid, &files);
                if (r < 0) {
                        note("cannot fetch what CMake clones as %s, so the build is tried without: %s", part.name, error_message(r));
                        continue;
                }
                add_lines(&part, path, &oid, keys, cmake);
                cmake_declared(d->git, files, &lines);
                is_any_new = true;
        }
        strings_free(lines);
        return is_any_new;
}
