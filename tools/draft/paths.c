/* The paths of the tree that a build reads, according to its list of files used. */
#include "core/git/paths.h"
#include "core/query/query.h"
#include "draft.h"

static void note_name(void *user, const char *name)
{
        strings_add(user, name);
}

/* The unused entries of the root, except git's own files: attributes control how others are checked out. */
static void leave_out(const git_tree *tree, char *const *used, char ***ret)
{
        for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);
                const char *name = git_tree_entry_name(e);
                cleanup_free char *line = format_string(":!%s", name);
                bool stays = git_tree_entry_type(e) == GIT_OBJECT_COMMIT || strncmp(name, ".git", strlen(".git")) == 0 || !draft_name_is_plain(name);

                for (char *const *p = used; p && *p; p++)
                        stays |= strcmp(*p, name) == 0;
                if (!stays)
                        strings_add(ret, line);
        }
}

void draft_paths(struct draft *d, uint32_t commit, struct draft_keys *k)
{
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, commit);
        char **used = NULL;
        bool is_built;

        note("building again, to see what of the tree it reads");
        is_built = draft_build_keys(d, commit, k);
        if (is_built && commit_sources_used(common.workspace, common.solver, commit, note_name, &used) == 0) {
                leave_out(tree, used, &k->paths);
                if (k->paths)
                        is_built = draft_build_keys(d, commit, k);
        }
        strings_free(used);
        if (!is_built)
                strings_free(steal_pointer(k->paths));
        buffer_adds(&k->about_paths,
                    k->paths ? "The build does not read these: commits that differ in them alone share a build."
                             : "Builds see the whole tree, so that every commit is a build of its own: 'paths = :!doc' leaves a folder out.");
}
