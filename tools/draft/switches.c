/* Switches that the sources declare and that leave out what no solver needs: tests, examples, documents, bindings, downloads, shared libraries.
 * These parts fail to build more often than the solver: they need a missing tool or the network. */
#include <fnmatch.h>

#include "draft.h"

#define FILE_MOST    (UINT64_C(4) << 20) /* bytes; a larger file is not read */
#define SWITCHES_MAX 24                  /* further ones are left out */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define BLANKS  " \t\r\n\v\f"
#define SEPARATORS BLANKS ",:"

/* Parts of a switch's name: BUILD_TESTS, unit-testing. */
static const char *const unneeded[] = {
        "test", "tests", "testing", "unittest", "unittests", "gtest", "example", "examples", "sample", "samples", "doc", "docs", "documentation", "bench",
        "benchmark", "benchmarks", "python", "java", "julia", "ocaml", "binding", "bindings", "shared", "download", "fetch", "gui", "fuzz", "fuzzer"};

static bool is_unneeded(struct slice name)
{
        for (const char *p = name.data, *end = p + name.size; p < end; p++) {
                size_t n = strspn(p, LETTERS);

                for (size_t i = 0; i < ARRAY_SIZE(unneeded); i++)
                        if (strlen(unneeded[i]) == n && strncasecmp(p, unneeded[i], n) == 0)
                                return true;
                p += n;
        }
        return false;
}

/* Adds the word unless it is there already, or the list is full. */
static void add_switch(char ***list, const char *before, struct slice name, const char *behind)
{
        cleanup_free char *word = format_string("%s%.*s%s", before, (int)name.size, (const char *)name.data, behind);
        size_t n = *list ? strings_count(*list) : 0;

        for (size_t i = 0; i < n; i++)
                if (strcmp((*list)[i], word) == 0)
                        return;
        if (n < SWITCHES_MAX)
                strings_add(list, word);
}

/* -- words of a call: option(NAME "what it is for" ON) ------------------------------------------------------------ */

/* The next word or string of a call, without its quotes; `between` are the bytes between them. False: the call ends. */
static bool next_word(const char **at, const char *between, struct slice *ret)
{
        const char *p = *at + strspn(*at, between), *end;

        if (*p == '\0' || *p == ')')
                return false;
        if (*p != '"' && *p != '\'') {
                *ret = SLICE(p, MIN(strcspn(p, between), strcspn(p, ")\"'")));
                *at = p + ret->size;
                return true;
        }
        for (end = p + 1; *end && *end != *p; end++)
                end += *end == '\\' && end[1];
        *ret = SLICE(p + 1, (size_t)(end - p - 1));
        *at = end + (*end != '\0');
        return true;
}

static bool is_word(struct slice s, const char *word)
{
        return s.size == strlen(word) && strncasecmp(s.data, word, s.size) == 0;
}

/* The text behind the '(' of the next call whose name ends in "option"; NULL: there is none. */
static const char *next_option_call(const char *at)
{
        while ((at = strcasestr(at, "option"))) {
                at += strlen("option");
                if (at[strspn(at, " \t")] == '(')
                        return at + strspn(at, " \t") + 1;
        }
        return NULL;
}

/* CMake: the third argument is the default, also for cmake_dependent_option(). */
static void add_cmake(const char *at, char ***list)
{
        while ((at = next_option_call(at))) {
                struct slice name, help, value;

                if (!next_word(&at, SEPARATORS, &name) || !next_word(&at, SEPARATORS, &help) || !next_word(&at, SEPARATORS, &value) ||
                    is_word(name, "BUILD_SHARED_LIBS") || is_word(name, "BUILD_TESTING") || !is_unneeded(name)) /* the commands set those two */
                        continue;
                if (is_word(value, "ON") || is_word(value, "TRUE") || is_word(value, "YES") || is_word(value, "1"))
                        add_switch(list, "-D", name, "=OFF");
        }
}

/* Adds "NAME\tURL\tTAG" for each repository that FetchContent clones; HEAD if it has no tag. */
static void add_declared(const char *at, char ***list)
{
        static const char call[] = "FetchContent_Declare";

        while ((at = strcasestr(at, call))) {
                struct slice name, word, url = {0}, tag = slice_string("HEAD"), *value = NULL;

                at += strlen(call);
                at += strspn(at, BLANKS);
                if (*at != '(' || (at++, !next_word(&at, BLANKS, &name)))
                        continue;
                while (next_word(&at, BLANKS, &word)) {
                        if (value)
                                *value = word;
                        value = value ? NULL : is_word(word, "GIT_REPOSITORY") ? &url : is_word(word, "GIT_TAG") ? &tag : NULL;
                }
                if (url.size > 0 && name.size > 0 && strspn(name.data, LETTERS "_.-") >= name.size) {
                        cleanup_free char *line = format_string("%.*s\t%.*s\t%.*s", (int)name.size, (const char *)name.data, (int)url.size,
                                                                (const char *)url.data, (int)tag.size, (const char *)tag.data);

                        strings_add(list, line);
                }
        }
}

/* Meson: option(NAME, type : 'boolean', value : true). By default a Boolean is true and a feature is looked for. */
static void add_meson(const char *at, char ***list)
{
        while ((at = next_option_call(at))) {
                struct slice name, word;
                const char *off = NULL;
                bool is_off = !next_word(&at, SEPARATORS, &name);

                while (next_word(&at, SEPARATORS, &word)) {
                        off = is_word(word, "boolean") ? "=false" : is_word(word, "feature") ? "=disabled" : off;
                        is_off |= is_word(word, "false") || is_word(word, "disabled");
                }
                if (off && !is_off && is_unneeded(name))
                        add_switch(list, "-D", name, off);
        }
}

/* `configure` names its switches in its help; configure.ac in calls. */
static void add_configure(const char *text, char ***list)
{
        static const char *const marks[] = {"--enable-", "AC_ARG_ENABLE("};

        for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
                for (const char *p = text; (p = strstr(p, marks[i]));) {
                        struct slice name;

                        p += strlen(marks[i]);
                        p += strspn(p, "[ ");
                        name = SLICE(p, strspn(p, LETTERS "_-"));
                        if (is_unneeded(name))
                                add_switch(list, "--disable-", name, "");
                }
        if (strstr(text, "LT_INIT") || strstr(text, "AC_PROG_LIBTOOL"))
                add_switch(list, "--disable-", slice_string("shared"), "");
}

/* -- files ------------------------------------------------------------------------------------------------------ */

/* The text of a file of the tree; free(). NULL: not a file, or too large. */
static char *read_text(git_repository *git, const git_tree_entry *e)
{
        cleanup(git_blob_freep) git_blob *blob = NULL;

        if (!e || git_tree_entry_type(e) != GIT_OBJECT_BLOB || git_blob_lookup(&blob, git, git_tree_entry_id(e)) < 0 ||
            (uint64_t)git_blob_rawsize(blob) > FILE_MOST)
                return NULL;
        return copy_prefix(git_blob_rawcontent(blob) ?: "", (size_t)git_blob_rawsize(blob)); /* git's bytes have no NUL at the end */
}

static void read_switches(git_repository *git, const git_tree_entry *e, void (*fn)(const char *text, char ***list), char ***list)
{
        cleanup_free char *text = read_text(git, e);

        if (text)
                fn(text, list);
}

/* Reads the folder's files and, with `below`, those of its folders. */
static void read_cmake_files(git_repository *git, const git_tree *tree, bool below, void (*fn)(const char *text, char ***list), char ***list)
{
        for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);
                cleanup(git_tree_freep) git_tree *folder = NULL;

                if (fnmatch("@(CMakeLists.txt|?*.cmake)", git_tree_entry_name(e), FNM_EXTMATCH) == 0)
                        read_switches(git, e, fn, list);
                else if (below && git_tree_entry_type(e) == GIT_OBJECT_TREE && git_tree_lookup(&folder, git, git_tree_entry_id(e)) == 0)
                        read_cmake_files(git, folder, false, fn, list);
        }
}

void switches_find(git_repository *git, const git_tree *tree, enum build_system system, const git_tree_entry *file, char ***ret)
{
        if (system == SYSTEM_CMAKE)
                read_cmake_files(git, tree, true, add_cmake, ret);
        else if (system == SYSTEM_MESON) {
                read_switches(git, git_tree_entry_byname(tree, "meson_options.txt"), add_meson, ret);
                read_switches(git, git_tree_entry_byname(tree, "meson.options"), add_meson, ret);
        } else if (system != SYSTEM_MAKE)
                read_switches(git, file, add_configure, ret);
}

void cmake_declared(git_repository *git, const git_tree *tree, char ***ret)
{
        read_cmake_files(git, tree, true, add_declared, ret);
}

/* -- variables of a Makefile ------------------------------------------------------------------------------------ */

/* True if a line of the Makefile sets the variable. */
static bool is_set(const char *text, struct slice name)
{
        for (const char *line = text; line; line = strchr(line, '\n')) {
                line += strspn(line, "\n \t");
                line += strncmp(line, "export ", 7) == 0 ? 7 : 0;
                if (strncmp(line, name.data, name.size) == 0 && line[name.size] && strchr(" \t:?+=", line[name.size]))
                        return true;
        }
        return false;
}

static bool has_path(const git_tree *tree, const char *path)
{
        cleanup(git_tree_entry_freep) git_tree_entry *e = NULL;

        return *path && git_tree_entry_bypath(&e, tree, path) == 0;
}

void makefile_variables(git_repository *git, const git_tree *root, const git_tree *tree, const char *folder, const git_tree_entry *file, char ***ret)
{
        cleanup_free char *text = read_text(git, file);

        /* "include $(ROOT)/rest.mk" with ROOT unset: ROOT is the root of the sources, or the Makefile's own folder if rest.mk is there. */
        for (const char *line = text, *next; line && *line; line = next) {
                const char *p = line + strspn(line, " -s"), *open;
                cleanup_free char *path = NULL;
                struct slice name;

                next = strchrnul(line, '\n');
                next += *next == '\n';
                open = strncmp(p, "include", 7) == 0 && (p[7] == ' ' || p[7] == '\t') ? memmem(p, (size_t)(next - p), "$(", 2) : NULL;
                if (!open)
                        continue;
                name = SLICE(open + 2, strspn(open + 2, LETTERS "_-"));
                p = open + 2 + name.size;
                if (name.size == 0 || strncmp(p, ")/", 2) != 0 || is_set(text, name))
                        continue;
                path = copy_prefix(p + 2, strcspn(p + 2, " \t\r\n#"));
                if (has_path(root, path))
                        add_switch(ret, "", name, *folder ? "=.." : "=.");
                else if (has_path(tree, path))
                        add_switch(ret, "", name, "=.");
        }
}
