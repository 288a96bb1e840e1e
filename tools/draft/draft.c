/* A draft from beginning to end, in a store of its own. */
#include "scratch_store.h"
#include "tools/draft/draft.h"
#include "words.h"

/* "mine" of ~/src/mine/, https://example.org/mine.git */
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
        return strndup(begin, n - (size_t)(begin - repository));
}

static int add_source(const char *repository)
{
        static const char text[] = "[solver]\nbuild = true\noutput = program\nrun = {bin} {case}\n";
        struct recipe **list = NULL;
        size_t n = 0;
        int r = recipe_parse(text, "the draft", DRAFT_NAME, &list, &n);

        if (r == 0)
                r = workspace_add_solver(common.workspace, list, n, repository, &command_progress);
        recipe_list_free(list, n);
        progress_clear();
        return r == 0 ? workspace_solver(common.workspace, DRAFT_NAME, &common.solver) : r;
}

struct submodules {
        struct draft *draft;
        const git_tree *tree;
};

/* Those of the commit itself. */
static int note_submodule(void *user, const char *path, const char *url)
{
        struct submodules *s = user;
        cleanup(git_tree_entry_freep) git_tree_entry *e = NULL;
        cleanup_buffer struct buffer line = {0};

        if (git_tree_entry_bypath(&e, s->tree, path) < 0 || git_tree_entry_type(e) != GIT_OBJECT_COMMIT)
                return 0;
        for (char **p = s->draft->keys.submodules; p && *p; p++)
                if (recipe_submodule(*p, NULL) == strlen(path) && strncmp(*p, path, strlen(path)) == 0)
                        return 0;
        buffer_addf(&line, "%s=%s", path, url);
        return buffer_error(&line) < 0 ? -ENOMEM : strings_add(&s->draft->keys.submodules, line.data);
}

/* 1: it gives a program that answers. *ret_reached: how far it came, 0: it was not built, 1: it made no program, 2: none that answers. */
static int try_way(struct draft *d, const struct way *way, struct draft_keys *keys, unsigned *ret_reached)
{
        cleanup(made_list_done) struct made_list made = {0};
        struct draft_program program;
        int r = draft_build(d, d->commit, way, keys, &made);

        *ret_reached = r == 1 ? 1 + (made.n > 0) : 0;
        if (r == 1)
                r = draft_choose(d, way, keys, &made, &program);
        if (r == 1) {
                r = draft_options(&program, keys);
                r = r < 0 ? r : 1;
        }
        return r;
}

/* In each way until one gives a program that answers. 1, 0 or -errno; *ret_way is the number of the way. The draft has the keys of the one that
 * came farthest. */
static int try_ways(struct draft *d, const struct way *ways, size_t n, size_t *ret_way)
{
        char **submodules = steal_pointer(d->keys.submodules);
        unsigned farthest = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(draft_keys_done) struct draft_keys keys = {.submodules = submodules};
                unsigned reached = 0;

                r = try_way(d, &ways[i], &keys, &reached);
                keys.submodules = NULL;
                if (r == 1 || i == 0 || reached > farthest) {
                        const struct draft_keys kept = keys;

                        keys = d->keys;
                        d->keys = kept;
                        farthest = reached;
                        *ret_way = i;
                }
        }
        d->keys.submodules = submodules;
        return r;
}

static int draft_commit(struct draft *d)
{
        cleanup(git_tree_freep) git_tree *tree = NULL;
        struct way *ways = NULL;
        size_t n = 0, left = 0, taken = 0;
        int r = draft_commit_tree(d, d->commit, &tree);

        if (r == 0)
                r = history_submodules(common.solver->history, d->repository, note_submodule, &(struct submodules){.draft = d, .tree = tree});
        if (r == 0)
                r = draft_fetch_submodules(d);
        if (r == 0)
                r = ways_find(d->git, tree, &ways, &n, &left);
        if (r == 0 && n == 0)
                buffer_adds(&d->failed, "neither the root nor a folder in it has a CMakeLists.txt, configure, meson.build, configure.ac or Makefile\n");
        if (r == 0)
                r = try_ways(d, ways, n, &taken);
        if (r == 0 && left > 0)
                buffer_addf(&d->failed, "%zu more folders were not looked into\n", left);
        if (r == 1 && (r = draft_paths(d, d->commit, &d->keys)) == 0) {
                r = draft_eras(d, &ways[taken]);
                r = r < 0 ? r : 1;
        }
        ways_free(ways, n);
        return r;
}

/* Does a log speak of something that the machine lacks? */
static bool misses_something(const struct buffer *failed)
{
        static const char *const words[] = {"not found", "ould NOT find", "ould not find", "o such file", "cannot find", "is missing", "not installed", "is required"};

        for (size_t i = 0; failed->size > 0 && i < ARRAY_SIZE(words); i++)
                if (strstr(failed->data, words[i]))
                        return true;
        return false;
}

/* Says why there is none. */
static int end_draft(struct draft *d, const struct draft_request *q, int r, struct buffer *ret)
{
        if (r < 0)
                return r == -ECANCELED ? STATUS_INTERRUPTED : fail(r);
        if (r == 0) {
                cleanup_free char *shown = printable(q->shown);

                complain("no recipe was found for %s%s", shown, q->force ? "; the draft has what was found, and is to be completed" : "");
                note("%.*s", (int)d->failed.size - (d->failed.size > 0), d->failed.data ?: "");
                if (misses_something(&d->failed))
                        note("%s", "install what is not found (a header or library is in a package that ends in -dev) and give the command again; builds have no "
                                   "network");
                note("%s", "write one by hand: docs/recipes.md, solverfs-recipe(5)");
        }
        if (r == 1 || q->force) {
                int written = draft_text(d, ret);

                if (written < 0)
                        return fail(written);
        }
        return r == 1 ? STATUS_OK : STATUS_FAILED;
}

static void draft_done(struct draft *d)
{
        git_repository_free(d->git);
        draft_keys_done(&d->keys);
        buffer_done(&d->eras);
        buffer_done(&d->failed);
        buffer_done(&d->about_submodules);
}

struct job {
        const struct draft_request *request;
        struct buffer *text;
};

static int make_draft(void *user)
{
        const struct job *j = user;
        const struct draft_request *q = j->request;
        cleanup_free char *name = name_of(q->shown);
        struct draft d = {.repository = q->repository, .name = name ?: "", .try_eras = q->eras};
        int status = STATUS_OK, r = add_source(q->repository);

        if (r < 0)
                status = r == -ECANCELED ? STATUS_INTERRUPTED : fail_as(r == -ENOENT ? STATUS_ABSENT : status_of(r), r);
        if (status == STATUS_OK) {
                d.commit = command_commit(common.solver, "REV", q->revision ?: "HEAD");
                command_engine();
                r = history_repository(common.solver->history, &d.git);
                status = end_draft(&d, q, r == 0 ? draft_commit(&d) : r, j->text);
        }
        draft_done(&d);
        return status;
}

int recipe_draft(const struct draft_request *q, struct buffer *ret)
{
        return with_scratch_store(make_draft, &(struct job){.request = q, .text = ret});
}
