/* solverfs recipe draft: a recipe for sources that nobody has written one for. */
#include "scratch_store.h"
#include "tools/draft/draft.h"
#include "words.h"

struct draft_options {
        const char *repository, *revision, *output;
        bool eras, force;
        int signals;
};

/* -- the sources ------------------------------------------------------------------------------------------------ */

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

/* A solver of the store stands for its repository there; a folder of that name goes first. */
static int find_repository(const char *word, char ret[PATH_SIZE])
{
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        char dir[PATH_SIZE];

        if (realpath(word, ret))
                return STATUS_OK;
        if (snprintf(ret, PATH_SIZE, "%s", word) >= PATH_SIZE)
                return fail(errorf(-ENAMETOOLONG, "path too long: %.200s", word));
        if (strchr(word, '/') || strchr(word, ':'))
                return STATUS_OK;
        if (command_store_dir(dir) != STATUS_OK || workspace_find(dir) < 0) {
                complain("there is no folder '%s', and no store that could have a solver of that name", word);
                return STATUS_ABSENT;
        }
        if (workspace_open(dir, 0, &w) < 0 || workspace_solver(w, word, &s) < 0) {
                complain("'%s' is neither a folder here nor a solver of the store; 'solverfs solver list' names those", word);
                return STATUS_ABSENT;
        }
        return snprintf(ret, PATH_SIZE, "%s/repos/%s.git", dir, s->repository) >= PATH_SIZE ? fail(errorf(-ENAMETOOLONG, "path too long: %.200s", dir)) : STATUS_OK;
}

/* -- the draft -------------------------------------------------------------------------------------------------- */

static int add_source(struct workspace *w, const char *repository, struct solver **ret)
{
        static const char text[] = "[solver]\nbuild = true\noutput = program\nrun = {bin} {case}\n";
        struct recipe **list = NULL;
        size_t n = 0;
        int r = recipe_parse(text, "the draft", DRAFT_NAME, &list, &n);

        if (r == 0)
                r = workspace_add_solver(w, list, n, repository, &command_progress);
        recipe_list_free(list, n);
        progress_clear();
        return r == 0 ? workspace_solver(w, DRAFT_NAME, ret) : r;
}

/* Names in the root, as `paths` lines to be taken. */
static int list_tree(struct draft *d, const git_tree *tree)
{
        for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
                cleanup_buffer struct buffer line = {0};
                const char *name = git_tree_entry_name(git_tree_entry_byindex(tree, i));

                if (!draft_name_is_plain(name) || name[0] == '.')
                        continue;
                draft_line(&line, "paths", name);
                if (buffer_error(&line) == 0)
                        buffer_addf(&d->tree, "    # %s", line.data + strspn(line.data, " "));
        }
        return buffer_error(&d->tree);
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

/* In each way until one gives a program that answers. 1, 0 or -errno; *ret_way is the number of the way. */
static int try_ways(struct draft *d, const struct way *ways, size_t n, size_t *ret_way)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(made_list_done) struct made_list made = {0};
                struct draft_program program;
                char **submodules = steal_pointer(d->keys.submodules);

                draft_keys_done(&d->keys);
                d->keys.submodules = submodules;
                *ret_way = i;
                r = draft_build(d, d->commit, &ways[i], &d->keys, &made);
                if (r == 1)
                        r = draft_choose(d, &ways[i], &d->keys, &made, &program);
                if (r == 1) {
                        r = draft_options(&program, &d->keys);
                        r = r < 0 ? r : 1;
                }
        }
        return r;
}

static int draft_commit(struct draft *d)
{
        cleanup(git_tree_freep) git_tree *tree = NULL;
        struct way *ways = NULL;
        size_t n = 0, left = 0, taken = 0;
        int r = draft_commit_tree(d, d->commit, NULL, &tree);

        if (r == 0)
                r = list_tree(d, tree);
        if (r == 0)
                r = history_submodules(d->solver->history, d->repository, note_submodule, &(struct submodules){.draft = d, .tree = tree});
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
        if (r == 1) {
                r = draft_eras(d, &ways[taken]);
                r = r < 0 ? r : 1;
        }
        ways_free(ways, n);
        return r;
}

static int write_draft(struct draft *d, const char *output)
{
        cleanup_buffer struct buffer text = {0};
        int r = draft_text(d, &text);

        if (r == 0 && output)
                r = command_write_file(output, 0, &text);
        else if (r == 0)
                output_write(&text);
        return r < 0 ? fail(r) : STATUS_OK;
}

static int end_draft(struct draft *d, const struct draft_options *o, int r)
{
        if (r < 0)
                return r == -ECANCELED ? STATUS_INTERRUPTED : fail(r);
        if (r == 0) {
                cleanup_free char *shown = printable(o->repository);

                complain("no recipe was found for %s%s", shown, o->force ? "; the draft has what was found, and is to be completed" : "");
                note("%.*s", (int)d->failed.size - (d->failed.size > 0), d->failed.data ?: "");
                note("%s", "write one by hand: docs/recipes.md, solverfs-recipe(5)");
        }
        if (r == 1 || o->force)
                r = write_draft(d, o->output) == STATUS_OK && r == 1 ? STATUS_OK : STATUS_FAILED;
        else
                r = STATUS_FAILED;
        return r;
}

static void draft_done(struct draft *d)
{
        engine_close(d->engine);
        solver_unref(d->solver);
        git_repository_free(d->git);
        draft_keys_done(&d->keys);
        buffer_done(&d->eras);
        buffer_done(&d->failed);
        buffer_done(&d->tree);
        buffer_done(&d->about_submodules);
}

struct job {
        const struct draft_options *options;
        const char *repository; /* path or URL */
};

static int make_draft(void *user, struct workspace *w)
{
        const struct job *j = user;
        const struct draft_options *o = j->options;
        cleanup_free char *name = name_of(o->repository);
        struct draft d = {.workspace = w, .signals = o->signals, .repository = j->repository, .name = name ?: "", .try_eras = o->eras};
        int status = STATUS_OK, r = add_source(w, j->repository, &d.solver);

        if (r < 0)
                status = r == -ECANCELED ? STATUS_INTERRUPTED : fail_as(r == -ENOENT ? STATUS_ABSENT : status_of(r), r);
        if (status == STATUS_OK)
                status = command_commit(d.solver, "REV", o->revision ?: "HEAD", &d.commit);
        if (status == STATUS_OK)
                status = command_engine(w, &d.engine);
        if (status == STATUS_OK) {
                r = history_repository(d.solver->history, &d.git);
                status = end_draft(&d, o, r == 0 ? draft_commit(&d) : r);
        }
        draft_done(&d);
        return status;
}

int cmd_recipe_draft(int argc, char **argv)
{
        static const char doc[] =
                "Write a recipe for sources that have none: build one commit (default: HEAD) in the ways that are usual for the files in it, run "
                "what was built on small formulas, and write down what was seen to work.\v"
                "REPO: a folder of this machine, a URL, or a solver of the store. Known are CMake, a committed configure, meson, autoconf and make, "
                "in the root or one folder down. Builds and runs are done in a sandbox and a store of their own, deleted behind it. Exit status 1 "
                "when no recipe was found, and why is said.\n\n"
                "    solverfs recipe draft ~/src/mine >mine.recipe\n"
                "    solverfs solver try --recipe mine.recipe ~/src/mine";
        struct draft_options o = {0};
        struct words words = {0};
        char repository[PATH_SIZE];
        int status;
        const struct command_option options[] = {
                {"output", 'o', "FILE", "Write the recipe to this file (default: standard output)", .text = &o.output},
                {"eras", 'e', NULL, "Also build the last commit of each older way to build", .on = &o.eras},
                {"force", 'f', NULL, "Write what was found also when no program was seen to answer", .on = &o.force},
                {0}};

        command_parse(argc, argv, "REPO [REV]", doc, options, &words);
        if (words.n > 2)
                command_usage("too many arguments: expected REPO [REV]");
        if (words.n == 0)
                command_usage("expected REPO");
        o.repository = word_next(&words);
        o.revision = word_next(&words);
        status = find_repository(o.repository, repository);
        if (status != STATUS_OK)
                return status;
        o.signals = command_signals();
        status = with_scratch_store(make_draft, &(struct job){.options = &o, .repository = repository});
        close(o.signals);
        return status;
}
