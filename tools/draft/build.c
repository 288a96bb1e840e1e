/* A build of the draft: a recipe for the attempt, the usual query for builds, and programs_command to collect what it made. */
#include "draft.h"

#include <sys/stat.h>

#include "core/query/held.h"
#include "tools/ask.h"
#include "tools/recipe/build_failure.h"

/* Messages of compilers, linkers and the sources' own scripts, and what helps. */
struct remedy {
        const char *words; /* in the log */
        enum remedy_kind kind;
        const char *flag, *why; /* flag: of the compiler, or the compiler to call */
};
static const struct remedy remedies[] = {
        {"[-fpermissive]", REMEDY_CXX, "-fpermissive", "The compiler takes these sources with -fpermissive only"},
        {"ISO C++17 does not allow", REMEDY_CXX, "-std=gnu++14", "These sources are older than C++17, the compiler's default"},
        {"[-Wnarrowing]", REMEDY_CXX, "-Wno-narrowing", "The compiler takes these sources with -Wno-narrowing only"},
        {"multiple definition of", REMEDY_C, "-fcommon", "These sources define a variable in several files, which GCC since 10 wants -fcommon for"},
        {"[-Wincompatible-pointer-types]", REMEDY_C, "-Wno-incompatible-pointer-types",
         "GCC since 14 takes these sources with -Wno-incompatible-pointer-types only"},
        {"[-Wimplicit-function-declaration]", REMEDY_C, "-Wno-implicit-function-declaration",
         "GCC since 14 takes these sources with -Wno-implicit-function-declaration only"},
        {"attempted static link of dynamic object", REMEDY_SHARED, "shared libraries",
         "Without shared libraries of its own it wants static ones of the system, which are not there"},
        {"is not a valid build type", REMEDY_OWN_TYPE, "its own build type", "Its CMake has build types of its own and no Release; this is its default"},
        {"No targets specified and no makefile found", REMEDY_IN_FOLDER, "make in the folder build", "configure leaves the Makefile in the folder build"},
        {"undefined replacement ${", REMEDY_OLD_BASH, "Bash as before 5.2",
         "Bash since 5.2 puts what it found in the place of & in ${name//from/to}, which scripts of these sources do not expect"},
};

static void build_remedies_done(struct build_remedies *f)
{
        buffer_done(&f->c);
        buffer_done(&f->cxx);
        buffer_done(&f->cmake);
}

/* True if the words are on a line with an error: the same words may be a warning. */
static bool is_error(struct slice log, const char *words)
{
        const char *at = log.data, *end = at + log.size, *hit;

        while (at < end && (hit = memmem(at, (size_t)(end - at), words, strlen(words)))) {
                const char *begin = memrchr(log.data, '\n', (size_t)(hit - (const char *)log.data)), *newline = memchr(hit, '\n', (size_t)(end - hit));

                begin = begin ? begin + 1 : log.data;
                if (!strstr(words, "[-W") || memmem(begin, (size_t)((newline ?: end) - begin), "error:", strlen("error:")))
                        return true;
                at = newline ?: end;
        }
        return false;
}

/* Adds the remedy that a failed build's log points to. Returns the reason, for a comment. NULL: no new one. */
static const char *build_remedies_learn(struct build_remedies *f, struct slice log)
{
        for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
                const struct remedy *m = &remedies[i];
                struct buffer *b = m->kind == REMEDY_CXX ? &f->cxx : &f->c;

                if (f->taken & (1U << i) || log.size == 0 || !is_error(log, m->words))
                        continue;
                f->taken |= 1U << i;
                f->kinds |= 1U << m->kind;
                f->last = m->flag;
                if (m->kind == REMEDY_C || m->kind == REMEDY_CXX)
                        buffer_addf(b, "%s %s", b->size > 0 ? "" : m->kind == REMEDY_CXX ? "g++" : "gcc", m->flag);
                return m->why;
        }
        return NULL;
}

git_tree *draft_commit_tree(struct draft *d, uint32_t commit)
{
        cleanup(git_commit_freep) git_commit *c = NULL;
        git_tree *tree = NULL;
        struct commit known;
        int r;

        command_must(history_commit(common.solver->history, commit, &known));
        r = git_commit_lookup(&c, d->git, &known.oid) ?: git_commit_tree(&tree, c);
        command_must(r < 0 ? errorf(git_errno(r), "cannot read the tree of %s: %s", oid_text(&known.oid), git_error_text()) : 0);
        return tree;
}

/* The recipe of an attempt: its output is the archive, which is unpacked and never run. */
static void attempt_text(char *const *commands, char *const *submodules, struct buffer *ret)
{
        buffer_adds(ret, "[solver]\n");
        draft_lines(ret, "submodule", submodules);
        draft_lines(ret, "build", commands);
        draft_line(ret, "build", programs_command);
        draft_line(ret, "output", programs_archive);
        draft_line(ret, "run", "{bin} {case}");
}

/* Makes the text the recipe of common.solver. */
static void use_recipe(const struct buffer *text)
{
        struct recipe **list = NULL;
        size_t n = 0;

        command_must(recipe_parse(text->data, "the draft", DRAFT_NAME, &list, &n));
        command_must(workspace_replace_recipe(common.workspace, list, n, NULL, NULL));
        recipe_list_free(list, n);
        workspace_look_again(common.workspace);
        common.solver = solver_unref(common.solver);
        command_must(workspace_solver(common.workspace, DRAFT_NAME, &common.solver));
}

/* history_submodule_check() for each. */
static int check_submodules(const struct draft *d)
{
        int r = 0;

        for (char *const *l = d->keys.submodules; r == 0 && *l; l++) {
                const struct recipe_submodule line = recipe_submodule(*l);
                cleanup_free char *path = copy_prefix(line.path.data, line.path.size), *url = copy_prefix(line.repository.data, line.repository.size);

                r = history_submodule_check(d->base, path, url);
        }
        return r;
}

void draft_fetch_submodules(struct draft *d)
{
        cleanup_buffer struct buffer text = {0};
        int r;

        if (!d->keys.submodules)
                return;
        attempt_text(NULL, d->keys.submodules, &text);
        use_recipe(&text);
        r = check_submodules(d) ?: workspace_fetch_sources(common.workspace, common.solver, &command_progress);
        if (r == -ECANCELED || r == -EINTR)
                command_must(r);
        if (r == 0)
                return;
        buffer_addf(&d->about_submodules, "Its submodules are not built with it, as one could not be fetched: %s\n", error_message(r));
        note("a submodule could not be fetched, so the build is tried without: %s", error_message(r));
        strings_free(steal_pointer(d->keys.submodules));
}

/* Copies the built files out of the store's programs. */
static void take_made(const git_tree *tree, const struct build_record *record, struct made_list *ret)
{
        cleanup_held struct held held = {0};
        cleanup_free char *folder = format_string("%s/draft", workspace_dir(common.workspace));

        command_must(held_build(common.workspace, record, &held));
        command_must(remove_tree(folder));
        command_must(make_dirs(folder, 0755));
        made_list_read(held.list[0].path, tree, folder, ret);
}

static struct build_record *build_commit(uint32_t commit)
{
        struct build_record *record = NULL;

        command_must(command_build(commit, false, &record));
        return record;
}

bool draft_build_keys(struct draft *d, uint32_t commit, const struct draft_keys *keys)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_buffer struct buffer text = {0};

        draft_section(d, keys, &text);
        use_recipe(&text);
        record = build_commit(commit);
        return record->ok;
}

bool draft_build(struct draft *d, uint32_t commit, const struct way *way, struct draft_keys *keys, struct made_list *ret)
{
        cleanup(build_remedies_done) struct build_remedies taken = {0};
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, commit);
        bool with_switches = true;

        draft_forget_declared(keys);
        for (;;) { /* after a failure with the first of these that is new: what the log points to, what CMake clones, no switches */
                cleanup(build_record_unrefp) struct build_record *record = NULL, *whole = NULL;
                cleanup_buffer struct buffer text = {0};
                const char *why; /* the remedy for the next attempt, according to the log */

                strings_free(keys->build);
                keys->build = way_commands(way, &taken, with_switches);
                attempt_text(keys->build, keys->submodules, &text);
                use_recipe(&text);
                note("building by %s%s%s", way->name, taken.last ? " with " : "", taken.last ?: "");
                record = build_commit(commit);
                if (record->ok) {
                        take_made(tree, record, ret);
                        return true;
                }
                command_must(build_find(common.workspace, common.solver, commit, WITH_LOG, &whole));
                why = build_remedies_learn(&taken, SLICE(whole->log.data, whole->log.size));
                if (!why) {
                        const struct build_failure f = build_failure_of(SLICE(whole->log.data, whole->log.size));

                        buffer_addf(&d->failed, "by %s it could not be built: %s\n", way->name, whole->reason);
                        build_failure_text(&f, &d->failed);
                        buffer_adds(&d->failed, d->failed.data[d->failed.size - 1] == '\n' ? "" : "\n");
                }
                if (!why && way->system == SYSTEM_CMAKE && draft_fetch_declared(d, commit, keys, &taken.cmake)) {
                        taken.last = "what it clones";
                        why = "Its CMake clones the folders in fetched/, each at the commit that the name there stood for";
                }
                if (!why && with_switches && way->switches) {
                        why = "It is not built without its tests, examples and the like, as that failed";
                        with_switches = false;
                }
                if (!why)
                        return false;
                buffer_addf(&keys->about_build, "%s.\n", why);
        }
}
