/* A build of the draft: by the query that every build goes by, with one more command that collects what it made. */
#include "tools/draft/draft.h"

#include <sys/stat.h>

#include "core/query/held.h"
#include "tools/ask.h"
#include "tools/build_failure.h"

int draft_commit_tree(struct draft *d, uint32_t commit, git_tree **ret)
{
        cleanup(git_commit_freep) git_commit *c = NULL;
        struct commit known;
        int r = history_commit(common.solver->history, commit, &known);

        if (r < 0)
                return r;
        r = git_commit_lookup(&c, d->git, &known.oid);
        if (r == 0)
                r = git_commit_tree(ret, c);
        return r < 0 ? errorf(git_errno(r), "cannot read the tree of %s: %s", git_oid_tostr_s(&known.oid), git_error_text()) : 0;
}

/* -- the recipe of an attempt ----------------------------------------------------------------------------------- */

static void attempt_text(char *const *commands, char *const *submodules, struct buffer *ret)
{
        buffer_adds(ret, "[solver]\n");
        for (size_t i = 0; submodules && submodules[i]; i++)
                draft_line(ret, "submodule", submodules[i]);
        for (size_t i = 0; commands && commands[i]; i++)
                draft_line(ret, "build", commands[i]);
        draft_line(ret, "build", programs_command);
        draft_line(ret, "output", programs_archive);
        draft_line(ret, "run", "{bin} {case}");
}

static int use_recipe(struct draft *d, const char *text)
{
        struct recipe **list = NULL;
        size_t n = 0;
        int r = recipe_parse(text, "the draft", DRAFT_NAME, &list, &n);

        if (r == 0)
                r = workspace_replace_recipe(common.workspace, list, n);
        recipe_list_free(list, n);
        if (r == 0) {
                workspace_look_again(common.workspace);
                common.solver = solver_unref(common.solver);
                r = workspace_solver(common.workspace, DRAFT_NAME, &common.solver);
        }
        return r;
}

int draft_fetch_submodules(struct draft *d)
{
        cleanup_buffer struct buffer text = {0};
        int r;

        if (!d->keys.submodules)
                return 0;
        attempt_text(NULL, d->keys.submodules, &text);
        r = buffer_error(&text);
        if (r == 0)
                r = use_recipe(d, text.data);
        if (r == 0)
                r = workspace_fetch_elsewhere(common.workspace, common.solver, &command_progress);
        progress_clear();
        if (r == 0 || r == -ECANCELED || r == -EINTR)
                return r;
        buffer_addf(&d->about_submodules, "Its submodules are not built with it, as one could not be fetched: %s\n", error_message(r));
        note("a submodule could not be fetched, so the build is tried without: %s", error_message(r));
        strings_free(steal_pointer(d->keys.submodules));
        return buffer_error(&d->about_submodules);
}

/* -- the build -------------------------------------------------------------------------------------------------- */

/* What was made, copied out of the store's programs. */
static int take_made(struct draft *d, const git_tree *tree, const struct build_record *record, struct made_list *ret)
{
        cleanup_held struct held held = {0};
        char folder[PATH_SIZE];
        int r = held_build(common.workspace, record, &held);

        if (r == 0)
                r = path_join(folder, workspace_dir(common.workspace), "draft");
        if (r == 0)
                r = remove_tree(folder);
        if (r == 0)
                r = make_dirs(folder, 0755);
        return r == 0 ? made_list_read(held.list[0].path, tree, folder, ret) : r;
}

static void note_failure(struct draft *d, const char *by, const struct build_record *record)
{
        const struct build_failure f = build_failure_of(SLICE(record->log.data, record->log.size));

        buffer_addf(&d->failed, "by %s it could not be built: %s\n", by, record->reason);
        build_failure_text(&f, &d->failed);
        if (d->failed.size > 0 && d->failed.data[d->failed.size - 1] != '\n')
                buffer_adds(&d->failed, "\n");
}

/* 1: it was built. 0: not, and *ret_why is what the compiler asks for, or NULL. */
static int build_once(struct draft *d, uint32_t commit, const char *by, char *const *commands, char *const *submodules,
                      struct compiler_flags *flags, const char **ret_why, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *whole = NULL;
        cleanup_buffer struct buffer text = {0};
        int r;

        attempt_text(commands, submodules, &text);
        r = buffer_error(&text);
        if (r == 0)
                r = use_recipe(d, text.data);
        note("building by %s%s%s", by, flags->taken ? " with " : "", flags->cxx.size > 0 ? flags->cxx.data : flags->c.data ?: flags->shared ? "shared libraries" : "");
        if (r == 0)
                r = command_build(commit, false, ret);
        progress_clear();
        if (r < 0 || (*ret)->ok)
                return r < 0 ? r : 1;
        r = build_find(common.workspace, common.solver, commit, true, &whole);
        if (r < 0)
                return r;
        *ret_why = compiler_flags_learn(flags, SLICE(whole->log.data, whole->log.size));
        if (!*ret_why)
                note_failure(d, by, whole);
        return 0;
}

int draft_build_keys(struct draft *d, uint32_t commit, const struct draft_keys *keys)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_buffer struct buffer text = {0};
        int r;

        draft_section(d, keys, &text);
        r = use_recipe(d, text.data);
        if (r == 0)
                r = command_build(commit, false, &record);
        progress_clear();
        return r < 0 ? r : record->ok;
}

int draft_build(struct draft *d, uint32_t commit, const struct way *way, struct draft_keys *keys, struct made_list *ret)
{
        cleanup(compiler_flags_done) struct compiler_flags flags = {0};
        cleanup(git_tree_freep) git_tree *tree = NULL;
        cleanup_buffer struct buffer by = {0};
        bool with_switches = true;
        const char *why;
        int r = draft_commit_tree(d, commit, &tree);

        way_name(way, &by);
        if (r == 0)
                r = buffer_error(&by);
        if (r < 0)
                return r;
        do {
                cleanup(build_record_unrefp) struct build_record *record = NULL;

                why = NULL;
                strings_free(steal_pointer(keys->build));
                r = way_commands(way, &flags, with_switches, &keys->build);
                if (r == 0)
                        r = build_once(d, commit, by.data, keys->build, keys->submodules, &flags, &why, &record);
                if (r == 1) {
                        r = take_made(d, tree, record, ret);
                        return r < 0 ? r : 1;
                }
                if (r == 0 && !why && with_switches && way->switches) {
                        why = "It is not built without its tests, examples and the like, as that failed";
                        with_switches = false;
                }
                if (why)
                        buffer_addf(&keys->about_build, "%s.\n", why);
        } while (r == 0 && why);
        return r;
}
