/* How a tree is usually built: by the files in its root, or one folder down. */
#include "tools/draft/draft.h"

#define FOLDERS_MAX 16 /* that are looked at where the root has nothing */

struct sign {
        enum build_system system;
        const char *file;
};
/* In the order in which they are tried. A project that has several mostly keeps the first ones for its users. */
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

static bool is_executable(const git_tree_entry *e)
{
        return git_tree_entry_filemode(e) == GIT_FILEMODE_BLOB_EXECUTABLE;
}

static int call_of(const git_tree_entry *e, const char *before, const char *name, char **ret)
{
        return asprintf(ret, "%s%s./%s", before, is_executable(e) ? "" : "sh ", name) < 0 ? -ENOMEM : 0;
}

/* What makes `configure`. */
static int configure_maker(const git_tree *tree, char **ret)
{
        static const char *const scripts[] = {"autogen.sh", "bootstrap", "bootstrap.sh"};

        for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
                const git_tree_entry *e = find_file(tree, scripts[i]);

                if (e)
                        return call_of(e, "NOCONFIGURE=1 ", scripts[i], ret);
        }
        *ret = strdup(find_file(tree, "Makefile.am") ? "autoreconf -fi" : "autoconf");
        return *ret ? 0 : -ENOMEM;
}

static const char *free_name(const git_tree *root)
{
        static const char *const names[] = {"build", "_build", "build-release", "solverfs-build"};

        for (size_t i = 0; i + 1 < ARRAY_SIZE(names); i++)
                if (!git_tree_entry_byname(root, names[i]))
                        return names[i];
        return names[ARRAY_SIZE(names) - 1];
}

void ways_free(struct way *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                free(list[i].folder);
                free(list[i].file);
                free(list[i].first);
                strings_free(list[i].switches);
                strings_free(list[i].variables);
        }
        free(list);
}

struct looking {
        git_repository *git;
        const git_tree *root;
        bool names_only; /* their commands are not asked for */
        struct way *list;
        size_t n;
};

static int add_way(struct looking *f, const git_tree *tree, const char *folder, const struct sign *s, const git_tree_entry *e)
{
        struct way *w;
        int r = list_grow(f->list, f->n);

        if (r < 0)
                return r;
        w = &f->list[f->n];
        *w = (struct way){.system = s->system, .folder = strdup(folder), .file = strdup(s->file), .out = free_name(f->root)};
        f->n++;
        if (!w->folder || !w->file)
                return -ENOMEM;
        if (f->names_only)
                return 0;
        if (s->system == SYSTEM_CONFIGURE)
                r = call_of(e, "", s->file, &w->first);
        else if (s->system == SYSTEM_AUTOCONF)
                r = configure_maker(tree, &w->first);
        if (r == 0 && s->system == SYSTEM_MAKE)
                r = makefile_variables(f->git, f->root, tree, folder, e, &w->variables);
        return r == 0 ? switches_find(f->git, tree, s->system, e, &w->switches) : r;
}

static bool has_system(const struct looking *f, size_t from, enum build_system system)
{
        for (size_t i = from; i < f->n; i++)
                if (f->list[i].system == system)
                        return true;
        return false;
}

static int look_into(struct looking *f, const git_tree *tree, const char *folder)
{
        size_t from = f->n;
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(signs); i++) {
                const git_tree_entry *e = find_file(tree, signs[i].file);

                if (e && !has_system(f, from, signs[i].system) && !(signs[i].system == SYSTEM_AUTOCONF && has_system(f, from, SYSTEM_CONFIGURE)))
                        r = add_way(f, tree, folder, &signs[i], e);
        }
        return r;
}

/* "src" is where sources usually are, so its turn is the first. */
static int look_into_folders(struct looking *f, size_t *ret_left)
{
        size_t n = git_tree_entrycount(f->root), looked = 0;
        int r = 0;

        for (int turn = 0; turn < 2; turn++)
                for (size_t i = 0; r == 0 && i < n; i++) {
                        const git_tree_entry *e = git_tree_entry_byindex(f->root, i);
                        cleanup(git_tree_freep) git_tree *tree = NULL;
                        const char *name = git_tree_entry_name(e);

                        if (git_tree_entry_type(e) != GIT_OBJECT_TREE || (strcmp(name, "src") == 0) != (turn == 0) || !draft_name_is_plain(name) ||
                            git_tree_lookup(&tree, f->git, git_tree_entry_id(e)) < 0)
                                continue;
                        if (looked++ < FOLDERS_MAX)
                                r = look_into(f, tree, name);
                        else
                                ++*ret_left;
                }
        return r;
}

/* Those of the root; of its folders where the root has none. */
static int look_at_all(struct looking *f, size_t *ret_left)
{
        int r = look_into(f, f->root, "");

        *ret_left = 0;
        return r == 0 && f->n == 0 ? look_into_folders(f, ret_left) : r;
}

int ways_find(git_repository *git, const git_tree *tree, struct way **ret, size_t *ret_n, size_t *ret_left)
{
        struct looking f = {.git = git, .root = tree};
        int r = look_at_all(&f, ret_left);

        if (r < 0) {
                ways_free(f.list, f.n);
                return r;
        }
        *ret = f.list;
        *ret_n = f.n;
        return 0;
}

void way_name(const struct way *w, struct buffer *ret)
{
        buffer_addf(ret, "%s%s%s", w->folder, *w->folder ? "/" : "", w->file);
}

const struct way *way_named(const struct way *list, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++) {
                cleanup_buffer struct buffer b = {0};

                way_name(&list[i], &b);
                if (buffer_error(&b) == 0 && strcmp(b.data, name) == 0)
                        return &list[i];
        }
        return NULL;
}

int way_kept(git_repository *git, const git_tree *tree, const struct way *way, struct buffer *ret)
{
        struct looking f = {.git = git, .root = tree, .names_only = true};
        cleanup_buffer struct buffer wanted = {0};
        size_t left;
        int r = look_at_all(&f, &left);

        way_name(way, &wanted);
        if (r == 0)
                r = buffer_error(&wanted);
        if (r == 0 && f.n > 0)
                way_name(way_named(f.list, f.n, wanted.data) ?: f.list, ret);
        ways_free(f.list, f.n);
        return r;
}

/* -- commands --------------------------------------------------------------------------------------------------- */

/* CC='…' CXX='…', in front of a command; behind `make`, as a Makefile's own variables win over those of the environment. */
static void add_compilers(struct buffer *b, const struct compiler_flags *flags, const char *before, const char *behind)
{
        if (flags->c.size > 0)
                buffer_addf(b, "%sCC='%s'%s", before, flags->c.data, behind);
        if (flags->cxx.size > 0)
                buffer_addf(b, "%sCXX='%s'%s", before, flags->cxx.data, behind);
}

static void add_folder(struct buffer *b, const char *name)
{
        if (name[0] == '-')
                buffer_add_shell_word(b, name);
        else
                buffer_add_plain_word(b, name, "");
}

static void enter(struct buffer *b, const struct way *w)
{
        if (!*w->folder)
                return;
        buffer_adds(b, *w->folder == '-' ? "cd ./" : "cd ");
        add_folder(b, w->folder);
        buffer_adds(b, " && ");
}

/* The names are the sources' own, so a shell must not read them. */
static void add_words(struct buffer *b, char *const *words)
{
        for (; words && *words; words++) {
                buffer_adds(b, " ");
                buffer_add_plain_word(b, *words, "");
        }
}

/* Each of these adds a line for a command. */
static void commands_configure(const struct way *w, const struct compiler_flags *flags, char *const *switches, struct buffer *b)
{
        if (w->system == SYSTEM_AUTOCONF) {
                enter(b, w);
                buffer_addf(b, "%s\n", w->first);
        }
        enter(b, w);
        add_compilers(b, flags, "", " ");
        buffer_adds(b, w->system == SYSTEM_AUTOCONF ? "./configure" : w->first);
        add_words(b, switches);
        buffer_adds(b, "\n");
        enter(b, w);
        buffer_adds(b, "make -j{jobs}\n");
}

static void commands_make(const struct way *w, const struct compiler_flags *flags, char *const *, struct buffer *b)
{
        enter(b, w);
        buffer_adds(b, "make -j{jobs}");
        add_words(b, w->variables);
        add_compilers(b, flags, " ", "");
        buffer_adds(b, "\n");
}

static void commands_out_of_tree(const struct way *w, const struct compiler_flags *flags, char *const *switches, struct buffer *b)
{
        const bool cmake = w->system == SYSTEM_CMAKE;

        add_compilers(b, flags, "", " ");
        buffer_addf(b, cmake ? "cmake -B %s -S " : "meson setup %s ", w->out);
        add_folder(b, *w->folder ? w->folder : ".");
        if (cmake)
                buffer_addf(b, " -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=%s -DBUILD_TESTING=OFF", flags->shared ? "ON" : "OFF");
        else
                buffer_addf(b, " --buildtype=release -Ddefault_library=%s", flags->shared ? "shared" : "static");
        add_words(b, switches);
        buffer_adds(b, "\n");
        buffer_addf(b, cmake ? "cmake --build %s -j{jobs}\n" : "ninja -C %s -j{jobs}\n", w->out);
}

int way_commands(const struct way *w, const struct compiler_flags *flags, bool with_switches, char ***ret)
{
        static void (*const commands[])(const struct way *w, const struct compiler_flags *flags, char *const *switches, struct buffer *b) = {
                [SYSTEM_CMAKE] = commands_out_of_tree, [SYSTEM_MESON] = commands_out_of_tree, [SYSTEM_CONFIGURE] = commands_configure,
                [SYSTEM_AUTOCONF] = commands_configure, [SYSTEM_MAKE] = commands_make,
        };
        cleanup_buffer struct buffer lines = {0};
        int r;

        commands[w->system](w, flags, with_switches ? w->switches : NULL, &lines);
        r = buffer_error(&lines);
        for (char *rest = lines.data; r == 0 && *rest;)
                r = strings_add(ret, strsep(&rest, "\n"));
        return r;
}

void way_usual_output(const struct way *w, const char *program, struct buffer *ret)
{
        const char *folder = w->system == SYSTEM_CMAKE || w->system == SYSTEM_MESON ? w->out : w->folder;

        buffer_addf(ret, "%s%s%s", folder, *folder ? "/" : "", program);
}
