/* A draft from beginning to end, in a temporary store. */
#include "draft.h"
#include "tools/words.h"

/* "mine" for ~/src/mine/ and https://example.org/mine.git */
static char *name_of(const char *repository)
{
        size_t n = strlen(repository);
        const char *begin;

        while (n > 1 && repository[n - 1] == '/')
                n--;
        if (n > 4 && strncmp(repository + n - 4, ".git", 4) == 0)
                n -= 4;
        while (n > 1 && repository[n - 1] == '/') /* mine/.git */
                n--;
        for (begin = repository + n; begin > repository && begin[-1] != '/' && begin[-1] != ':';)
                begin--;
        return copy_prefix(begin, n - (size_t)(begin - repository));
}

/* Adds the repository to the store, with a recipe that each attempt replaces. */
static void add_source(const char *repository)
{
        static const char text[] = "[solver]\nbuild = true\noutput = program\nrun = {bin} {case}\n";
        struct recipe **list = NULL;
        size_t n = 0;

        command_must(recipe_parse(text, "the draft", DRAFT_NAME, &list, &n));
        command_must(workspace_add_solver(common.workspace, list, n, repository, &command_progress));
        recipe_list_free(list, n);
        command_must(workspace_solver(common.workspace, DRAFT_NAME, &common.solver));
}

struct submodules {
        struct draft *draft;
        const git_tree *tree;
};

/* Notes a submodule of the commit. */
static int note_submodule(void *user, const char *path, const char *url)
{
        struct submodules *s = user;
        cleanup(git_tree_entry_freep) git_tree_entry *e = NULL;
        cleanup_free char *line = format_string("%s=%s", path, url);

        if (git_tree_entry_bypath(&e, s->tree, path) < 0 || git_tree_entry_type(e) != GIT_OBJECT_COMMIT ||
            recipe_find_submodule(s->draft->keys.submodules, slice_string(path)))
                return 0;
        return strings_add(&s->draft->keys.submodules, line);
}

/* Tries each way until one gives a program that answers; returns its number, or -1. The draft keeps the keys of the way that came farthest: a build, then
 * a program. */
static int try_ways(struct draft *d, const struct way_list *ways)
{
        char **submodules = steal_pointer(d->keys.submodules);
        unsigned farthest = 0;
        int taken = -1;

        for (size_t i = 0; taken < 0 && i < ways->n; i++) {
                const struct way *way = &ways->list[i];
                cleanup(draft_keys_done) struct draft_keys keys = {.submodules = submodules};
                cleanup(made_list_done) struct made_list made = {0};
                struct draft_program program;
                unsigned reached = draft_build(d, d->commit, way, &keys, &made);

                submodules = keys.submodules; /* the attempt may have added some */
                reached += made.n > 0;
                if (reached > 0 && draft_choose(d, way, &keys, &made, &program)) {
                        draft_options(&program, &keys);
                        taken = (int)i;
                }
                keys.submodules = NULL;
                if (taken >= 0 || i == 0 || reached > farthest) {
                        const struct draft_keys kept = keys;

                        keys = d->keys;
                        d->keys = kept;
                        farthest = reached;
                }
        }
        d->keys.submodules = submodules;
        return taken;
}

/* True: a program answers. */
static bool draft_commit(struct draft *d)
{
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, d->commit);
        cleanup_ways struct way_list ways = {0};
        int taken;

        command_must(history_submodules(common.solver->history, d->base, note_submodule, &(struct submodules){.draft = d, .tree = tree}));
        draft_fetch_submodules(d);
        ways = ways_find(d->git, tree, false);
        if (ways.n == 0)
                buffer_adds(&d->failed, "neither the root nor a folder in it has a CMakeLists.txt, configure, meson.build, configure.ac or Makefile\n");
        taken = try_ways(d, &ways);
        if (taken < 0 && ways.left > 0)
                buffer_addf(&d->failed, "%zu more folders were not looked into\n", ways.left);
        if (taken < 0)
                return false;
        draft_paths(d, d->commit, &d->keys);
        draft_eras(d, &ways.list[taken]);
        return true;
}

/* Says that no recipe was found, and what the attempts failed for. */
static void say_none(const struct draft *d, const struct draft_request *q)
{
        static const char *const lacks[] = {"not found", "ould NOT find", "ould not find", "o such file", "cannot find",
                                            "is missing", "not installed", "is required"};
        cleanup_free char *shown = printable(q->shown);
        const char *log = d->failed.data ?: "";
        bool lacks_something = false;

        complain("no recipe was found for %s%s", shown, q->force ? "; the draft has what was found, and is to be completed" : "");
        note("%.*s", (int)d->failed.size - (d->failed.size > 0), log);
        for (size_t i = 0; i < ARRAY_SIZE(lacks); i++)
                lacks_something |= strstr(log, lacks[i]) != NULL;
        if (lacks_something)
                note("install what is not found (a header or library is in a package that ends in -dev) and give the command again; builds have no "
                     "network");
        note("write one by hand: docs/recipes.md, solverfs-recipe(5)");
}

struct drafting {
        const struct draft_request *request;
        struct buffer *text;
};

static int make_draft(void *user)
{
        const struct drafting *j = user;
        const struct draft_request *q = j->request;
        cleanup_free char *name = name_of(q->shown);
        struct draft d = {.base = q->base ?: q->repository, .name = name, .try_eras = q->eras};
        bool is_found;

        add_source(q->repository);
        d.commit = command_commit(common.solver, "REV", q->revision ?: "HEAD");
        command_engine();
        command_must(history_repository(common.solver->history, &d.git));
        is_found = draft_commit(&d);
        if (!is_found)
                say_none(&d, q);
        if (is_found || q->force)
                draft_text(&d, j->text);
        git_repository_free(d.git);
        draft_keys_done(&d.keys);
        buffer_done(&d.eras);
        buffer_done(&d.failed);
        buffer_done(&d.about_submodules);
        return is_found ? STATUS_OK : STATUS_FAILED;
}

int recipe_draft(const struct draft_request *q, struct buffer *ret)
{
        return command_with_scratch_store(make_draft, &(struct drafting){.request = q, .text = ret});
}
