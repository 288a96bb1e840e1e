/* How a tree is usually built, according to the files in its root or one level below. */
#include "draft.h"

#define FOLDERS_MAX 16 /* most folders searched if the root has no way */

struct sign {
        enum build_system system;
        const char *file;
};
/* In the order of trying. A project with several usually maintains the first ones for its users. */
static const struct sign signs[] = {
        {SYSTEM_CMAKE, "CMakeLists.txt"},    {SYSTEM_CONFIGURE, "configure"},    {SYSTEM_MESON, "meson.build"},
        {SYSTEM_CONFIGURE, "configure.sh"},  {SYSTEM_AUTOCONF, "configure.ac"},  {SYSTEM_AUTOCONF, "configure.in"},
        {SYSTEM_MAKE, "GNUmakefile"},        {SYSTEM_MAKE, "makefile"},          {SYSTEM_MAKE, "Makefile"},
};

static const git_tree_entry *find_file(const git_tree *tree, const char *name)
{
        const git_tree_entry *e = git_tree_entry_byname(tree, name);

        return e && git_tree_entry_type(e) == GIT_OBJECT_BLOB ? e : NULL;
}

/* "./configure", or "sh ./configure" if it is not executable; free(). */
static char *call_of(const git_tree_entry *e, const char *before, const char *name)
{
        bool is_executable = git_tree_entry_filemode(e) == GIT_FILEMODE_BLOB_EXECUTABLE;

        return format_string("%s%s./%s", before, is_executable ? "" : "sh ", name);
}

/* The command that makes `configure`; free(). */
static char *configure_maker(const git_tree *tree)
{
        static const char *const scripts[] = {"autogen.sh", "bootstrap", "bootstrap.sh"};

        for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
                const git_tree_entry *e = find_file(tree, scripts[i]);

                if (e)
                        return call_of(e, "NOCONFIGURE=1 ", scripts[i]);
        }
        return copy_string(find_file(tree, "Makefile.am") ? "autoreconf -fi" : "autoconf");
}

void ways_done(struct way_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->list[i].folder);
                free(l->list[i].name);
                free(l->list[i].configure_command);
                strings_free(l->list[i].switches);
                strings_free(l->list[i].variables);
        }
        free(l->list);
}

struct way_search {
        git_repository *git;
        const git_tree *root;
        bool names_only; /* their commands are not needed */
        const char *out; /* a name that the root lacks */
        struct way_list ways;
};

static void add_way(struct way_search *f, const git_tree *tree, const char *folder, const struct sign *s, const git_tree_entry *e)
{
        struct way w = {.system = s->system, .folder = copy_string(folder), .out = f->out};

        w.name = format_string("%s%s%s", folder, *folder ? "/" : "", s->file);
        if (!f->names_only && s->system == SYSTEM_CONFIGURE)
                w.configure_command = call_of(e, "", s->file);
        if (!f->names_only && s->system == SYSTEM_AUTOCONF)
                w.configure_command = configure_maker(tree);
        if (!f->names_only && s->system == SYSTEM_MAKE)
                makefile_variables(f->git, f->root, tree, folder, e, &w.variables);
        if (!f->names_only)
                switches_find(f->git, tree, s->system, e, &w.switches);
        list_add(f->ways.list, f->ways.n, w);
}

static bool has_system(const struct way_list *l, size_t from, enum build_system system)
{
        for (size_t i = from; i < l->n; i++)
                if (l->list[i].system == system)
                        return true;
        return false;
}

/* Adds a way for each build system of the folder, by the first of its signs; none for a configure.ac beside a committed `configure`. */
static void look_into(struct way_search *f, const git_tree *tree, const char *folder)
{
        size_t from = f->ways.n;

        for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
                const git_tree_entry *e = find_file(tree, signs[i].file);
                bool has_configure = signs[i].system == SYSTEM_AUTOCONF && has_system(&f->ways, from, SYSTEM_CONFIGURE);

                if (e && !has_configure && !has_system(&f->ways, from, signs[i].system))
                        add_way(f, tree, folder, &signs[i], e);
        }
}

/* "src" comes first, as sources are usually there: the first round takes it alone, the second all others. */
static void look_into_folders(struct way_search *f)
{
        size_t n = git_tree_entrycount(f->root), looked = 0;

        for (size_t i = 0; i < 2 * n; i++) {
                const git_tree_entry *e = git_tree_entry_byindex(f->root, i % n);
                cleanup(git_tree_freep) git_tree *tree = NULL;
                const char *name = git_tree_entry_name(e);

                if (git_tree_entry_type(e) != GIT_OBJECT_TREE || (strcmp(name, "src") == 0) != (i < n) || !draft_name_is_plain(name) ||
                    git_tree_lookup(&tree, f->git, git_tree_entry_id(e)) < 0)
                        continue;
                if (looked++ < FOLDERS_MAX)
                        look_into(f, tree, name);
                else
                        f->ways.left++;
        }
}

struct way_list ways_find(git_repository *git, const git_tree *tree, bool names_only)
{
        static const char *const names[] = {"build", "_build", "build-release", "solverfs-build"};
        struct way_search f = {.git = git, .root = tree, .names_only = names_only};
        size_t i = 0;

        while (i + 1 < ARRAY_SIZE(names) && git_tree_entry_byname(tree, names[i]))
                i++;
        f.out = names[i];
        look_into(&f, tree, "");
        if (f.ways.n == 0)
                look_into_folders(&f);
        return f.ways;
}

const struct way *way_named(const struct way_list *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->list[i].name, name) == 0)
                        return &l->list[i];
        return NULL;
}

char *way_kept(git_repository *git, const git_tree *tree, const struct way *way)
{
        cleanup_ways struct way_list ways = ways_find(git, tree, true);

        return copy_string(ways.n > 0 ? (way_named(&ways, way->name) ?: ways.list)->name : "");
}

/* -- commands --------------------------------------------------------------------------------------------------- */

/* Quoted if need be. A folder whose name begins with '-' must not become an option. */
static void add_folder(struct buffer *b, const char *name)
{
        buffer_adds(b, name[0] == '-' ? "./" : "");
        buffer_add_plain_word(b, name, "");
}

/* Adds CC='…' and CXX='…', each between `before` and `behind`: in front of a command as its environment, after `make` as its arguments, as a Makefile's
 * own variables override the environment's. */
static void add_compilers(struct buffer *b, const struct build_remedies *remedies, const char *before, const char *behind)
{
        if (remedies->c.size > 0)
                buffer_addf(b, "%sCC='%s'%s", before, remedies->c.data, behind);
        if (remedies->cxx.size > 0)
                buffer_addf(b, "%sCXX='%s'%s", before, remedies->cxx.data, behind);
}

/* Adds "cd FOLDER && " unless the way is that of the root. */
static void enter(struct buffer *b, const struct way *w)
{
        if (!*w->folder)
                return;
        buffer_adds(b, "cd ");
        add_folder(b, w->folder);
        buffer_adds(b, " && ");
}

/* Quoted if need be: the sources chose these names, so a shell must not interpret them. */
static void add_words(struct buffer *b, char *const *words)
{
        for (; words && *words; words++) {
                buffer_adds(b, " ");
                buffer_add_plain_word(b, *words, "");
        }
}

/* Each of these adds the build's commands, a line each. */
static void commands_configure(const struct way *w, const struct build_remedies *remedies, char *const *switches, struct buffer *b)
{
        if (w->system == SYSTEM_AUTOCONF) {
                enter(b, w);
                buffer_addf(b, "%s\n", w->configure_command);
        }
        enter(b, w);
        add_compilers(b, remedies, "", " ");
        buffer_adds(b, w->system == SYSTEM_AUTOCONF ? "./configure" : w->configure_command);
        add_words(b, switches);
        buffer_adds(b, "\n");
        enter(b, w);
        buffer_adds(b, has_remedy(remedies, REMEDY_IN_FOLDER) ? "make -C build -j{jobs}\n" : "make -j{jobs}\n");
}

static void commands_make(const struct way *w, const struct build_remedies *remedies, char *const *, struct buffer *b)
{
        enter(b, w);
        buffer_adds(b, "make -j{jobs}");
        add_words(b, w->variables);
        add_compilers(b, remedies, " ", "");
        buffer_adds(b, "\n");
}

static void commands_out_of_tree(const struct way *w, const struct build_remedies *remedies, char *const *switches, struct buffer *b)
{
        const bool cmake = w->system == SYSTEM_CMAKE;

        add_compilers(b, remedies, "", " ");
        buffer_addf(b, cmake ? "cmake -B %s -S " : "meson setup %s ", w->out);
        add_folder(b, *w->folder ? w->folder : ".");
        if (cmake)
                buffer_addf(b, "%s -DBUILD_SHARED_LIBS=%s -DBUILD_TESTING=OFF", has_remedy(remedies, REMEDY_OWN_TYPE) ? "" : " -DCMAKE_BUILD_TYPE=Release",
                            has_remedy(remedies, REMEDY_SHARED) ? "ON" : "OFF");
        else
                buffer_addf(b, " --buildtype=release -Ddefault_library=%s", has_remedy(remedies, REMEDY_SHARED) ? "shared" : "static");
        add_words(b, switches);
        buffer_adds(b, remedies->cmake.data ?: "");
        buffer_adds(b, "\n");
        buffer_addf(b, cmake ? "cmake --build %s -j{jobs}\n" : "ninja -C %s -j{jobs}\n", w->out);
}

char **way_commands(const struct way *w, const struct build_remedies *remedies, bool with_switches)
{
        static void (*const commands[])(const struct way *w, const struct build_remedies *remedies, char *const *switches, struct buffer *b) = {
                [SYSTEM_CMAKE] = commands_out_of_tree, [SYSTEM_MESON] = commands_out_of_tree, [SYSTEM_CONFIGURE] = commands_configure,
                [SYSTEM_AUTOCONF] = commands_configure, [SYSTEM_MAKE] = commands_make, };
        const bool old_bash = has_remedy(remedies, REMEDY_OLD_BASH);
        cleanup_buffer struct buffer lines = {0};
        char **list = NULL;

        commands[w->system](w, remedies, with_switches ? w->switches : NULL, &lines);
        if (old_bash)
                strings_add(&list, "echo shopt -u patsub_replacement >bash-env");
        for (char *rest = lines.data; *rest;) {
                cleanup_free char *line = format_string("%s%s", old_bash ? "export BASH_ENV=$PWD/bash-env && " : "", strsep(&rest, "\n"));

                strings_add(&list, line);
        }
        return list;
}

char *way_usual_output(const struct way *w, const char *program)
{
        const char *folder = w->system == SYSTEM_CMAKE || w->system == SYSTEM_MESON ? w->out : w->folder;

        return format_string("%s%s%s", folder, *folder ? "/" : "", program);
}
