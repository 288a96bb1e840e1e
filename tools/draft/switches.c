/* Switches of a build system, as the sources declare them, that leave out what no solver needs: tests, examples, documents, bindings, downloads,
 * shared libraries. They fail more often than the solver does: for a tool that is not there, or for the network. */
#include <ctype.h>

#include "tools/draft/draft.h"

#define FILE_LOOKED (UINT64_C(4) << 20)
#define SWITCHES_MAX 24

/* Parts of a switch's name: BUILD_TESTS, unit-testing. */
static const char *const unneeded[] = {"test",      "tests",      "testing",  "unittest",  "unittests", "gtest", "example", "examples", "sample", "samples",
                                       "doc",       "docs",       "documentation", "bench", "benchmark", "benchmarks", "python", "java", "julia", "ocaml",
                                       "binding",   "bindings",   "shared",   "download",  "fetch",     "gui",   "fuzz",    "fuzzer"};

static bool is_unneeded(const char *name, size_t n)
{
        for (size_t at = 0; at < n;) {
                size_t end = at;

                while (end < n && isalnum((unsigned char)name[end]))
                        end++;
                for (size_t i = 0; i < ARRAY_SIZE(unneeded); i++)
                        if (strlen(unneeded[i]) == end - at && strncasecmp(name + at, unneeded[i], end - at) == 0)
                                return true;
                at = end + 1;
        }
        return false;
}

static int add_switch(char ***list, const char *before, const char *name, size_t n, const char *behind)
{
        cleanup_buffer struct buffer word = {0};
        size_t many = *list ? strings_count(*list) : 0;

        buffer_addf(&word, "%s%.*s%s", before, (int)n, name, behind);
        for (size_t i = 0; i < many; i++)
                if (strcmp((*list)[i], word.data) == 0)
                        return 0;
        return many < SWITCHES_MAX ? strings_add(list, word.data) : 0;
}

/* -- words of a call: option(NAME "what it is for" ON) ------------------------------------------------------------ */

static bool is_name(char c)
{
        return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The next word or string of a call, without its quotes. False: the call ends. */
static bool next_word(const char **at, const char *end, struct slice *ret)
{
        const char *p = *at, *begin;

        while (p < end && (isspace((unsigned char)*p) || *p == ',' || *p == ':'))
                p++;
        if (p == end || *p == ')')
                return false;
        begin = p;
        if (*p == '"' || *p == '\'') {
                for (p++; p < end && *p != *begin; p++)
                        p += *p == '\\' && p + 1 < end;
                *ret = SLICE(begin + 1, p - begin - 1);
                *at = p < end ? p + 1 : end;
                return true;
        }
        while (p < end && !isspace((unsigned char)*p) && !strchr(",:)\"'", *p))
                p++;
        *ret = SLICE(begin, p - begin);
        *at = p > begin ? p : p + 1;
        return true;
}

static bool is_word(struct slice s, const char *word)
{
        return s.size == strlen(word) && strncasecmp(s.data, word, s.size) == 0;
}

/* Behind the '(' of the next call whose name ends in "option"; NULL: there is none. */
static const char *next_option_call(const char *at, const char *end)
{
        for (const char *p = at; p + 6 < end; p++) {
                const char *q = p + 6;

                if (strncasecmp(p, "option", 6) != 0)
                        continue;
                while (q < end && (*q == ' ' || *q == '\t'))
                        q++;
                if (q < end && *q == '(')
                        return q + 1;
        }
        return NULL;
}

/* CMake: the third argument is the default; also of cmake_dependent_option(). */
static int add_cmake(const char *at, const char *end, char ***list)
{
        int r = 0;

        while (r == 0 && (at = next_option_call(at, end))) {
                struct slice name, help, value;

                if (!next_word(&at, end, &name) || !next_word(&at, end, &help) || !next_word(&at, end, &value))
                        continue;
                if (!is_word(name, "BUILD_SHARED_LIBS") && !is_word(name, "BUILD_TESTING") && is_unneeded(name.data, name.size) && (is_word(value, "ON") || is_word(value, "TRUE") || is_word(value, "YES") || is_word(value, "1")))
                        r = add_switch(list, "-D", name.data, name.size, "=OFF");
        }
        return r;
}

/* Meson: a Boolean is true, and a feature is looked for, unless its call says otherwise. */
static int add_meson(const char *at, const char *end, char ***list)
{
        int r = 0;

        while (r == 0 && (at = next_option_call(at, end))) {
                struct slice name, word;
                const char *off = NULL;
                bool is_off = false;

                if (!next_word(&at, end, &name))
                        continue;
                while (next_word(&at, end, &word)) {
                        off = is_word(word, "boolean") ? "=false" : is_word(word, "feature") ? "=disabled" : off;
                        is_off |= is_word(word, "false") || is_word(word, "disabled");
                }
                if (off && !is_off && is_unneeded(name.data, name.size))
                        r = add_switch(list, "-D", name.data, name.size, off);
        }
        return r;
}

/* `configure` names its switches in its help; configure.ac in calls. */
static int add_configure(const char *at, const char *end, char ***list)
{
        static const char *const marks[] = {"--enable-", "AC_ARG_ENABLE("};
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
                for (const char *p = at; r == 0 && (p = memmem(p, (size_t)(end - p), marks[i], strlen(marks[i])));) {
                        const char *begin = p += strlen(marks[i]);

                        while (begin < end && (*begin == '[' || *begin == ' '))
                                begin++;
                        for (p = begin; p < end && is_name(*p);)
                                p++;
                        if (is_unneeded(begin, (size_t)(p - begin)))
                                r = add_switch(list, "--disable-", begin, (size_t)(p - begin), "");
                }
        if (r == 0 && (memmem(at, (size_t)(end - at), "LT_INIT", 7) || memmem(at, (size_t)(end - at), "AC_PROG_LIBTOOL", 15)))
                r = add_switch(list, "--disable-", "shared", 6, "");
        return r;
}

/* -- files ------------------------------------------------------------------------------------------------------ */

typedef int (*switches_fn)(const char *at, const char *end, char ***list);

static int read_blob(git_repository *git, const git_tree_entry *e, switches_fn fn, char ***list)
{
        cleanup(git_blob_freep) git_blob *blob = NULL;
        const char *text;

        if (!e || git_tree_entry_type(e) != GIT_OBJECT_BLOB || git_blob_lookup(&blob, git, git_tree_entry_id(e)) < 0 || git_blob_rawsize(blob) <= 0 ||
            (uint64_t)git_blob_rawsize(blob) > FILE_LOOKED)
                return 0;
        text = git_blob_rawcontent(blob);
        return fn(text, text + git_blob_rawsize(blob), list);
}

static bool is_cmake_file(const char *name)
{
        size_t n = strlen(name);

        return strcmp(name, "CMakeLists.txt") == 0 || (n > 6 && strcmp(name + n - 6, ".cmake") == 0);
}

/* The folder's files and, where `below`, those of its folders. */
static int read_cmake_files(git_repository *git, const git_tree *tree, bool below, char ***list)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < git_tree_entrycount(tree); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);
                cleanup(git_tree_freep) git_tree *folder = NULL;

                if (is_cmake_file(git_tree_entry_name(e)))
                        r = read_blob(git, e, add_cmake, list);
                else if (below && git_tree_entry_type(e) == GIT_OBJECT_TREE && git_tree_lookup(&folder, git, git_tree_entry_id(e)) == 0)
                        r = read_cmake_files(git, folder, false, list);
        }
        return r;
}

int switches_find(git_repository *git, const git_tree *tree, enum build_system system, const git_tree_entry *file, char ***ret)
{
        static const char *const meson_files[] = {"meson_options.txt", "meson.options"};
        int r = 0;

        switch (system) {
        case SYSTEM_CMAKE:
                return read_cmake_files(git, tree, true, ret);
        case SYSTEM_MESON:
                for (size_t i = 0; r == 0 && i < ARRAY_SIZE(meson_files); i++)
                        r = read_blob(git, git_tree_entry_byname(tree, meson_files[i]), add_meson, ret);
                return r;
        case SYSTEM_CONFIGURE:
        case SYSTEM_AUTOCONF:
                return read_blob(git, file, add_configure, ret);
        case SYSTEM_MAKE:
                break;
        }
        return 0;
}

/* -- variables of a Makefile ------------------------------------------------------------------------------------ */

static bool is_set(const char *at, const char *end, const char *name, size_t n)
{
        for (const char *line = at; line && line < end;) {
                const char *newline = memchr(line, '\n', (size_t)(end - line)), *p = line + strspn(line, " \t");

                if (strncmp(p, "export ", 7) == 0)
                        p += 7;
                if ((size_t)(end - p) > n && strncmp(p, name, n) == 0 && strchr(" \t:?+=", p[n]))
                        return true;
                line = newline ? newline + 1 : NULL;
        }
        return false;
}

static bool has_path(const git_tree *tree, const char *path)
{
        cleanup(git_tree_entry_freep) git_tree_entry *e = NULL;

        return *path && git_tree_entry_bypath(&e, tree, path) == 0;
}

/* "include $(ROOT)/rest.mk", where ROOT is set nowhere: the root of the sources, or the Makefile's own folder, when rest.mk lies there. */
static int add_variable(const char *line, const char *end, const char *text, const char *text_end, const git_tree *root, const git_tree *tree,
                        const char *up, char ***list)
{
        const char *open = memmem(line, (size_t)(end - line), "$(", 2), *name, *close;
        cleanup_free char *rest = NULL;

        if (!open)
                return 0;
        name = open + 2;
        close = memchr(name, ')', (size_t)(end - name));
        if (!close || close == name || close + 1 >= end || close[1] != '/')
                return 0;
        for (const char *p = name; p < close; p++)
                if (!is_name(*p))
                        return 0;
        if (is_set(text, text_end, name, (size_t)(close - name)))
                return 0;
        rest = strndup(close + 2, strcspn(close + 2, " \t\r\n#"));
        if (has_path(root, rest))
                return add_switch(list, "", name, (size_t)(close - name), *up ? "=.." : "=.");
        return has_path(tree, rest) ? add_switch(list, "", name, (size_t)(close - name), "=.") : 0;
}

int makefile_variables(git_repository *git, const git_tree *root, const git_tree *tree, const char *folder, const git_tree_entry *file, char ***ret)
{
        cleanup(git_blob_freep) git_blob *blob = NULL;
        cleanup_free char *text = NULL;
        const char *end;
        int r = 0;

        if (git_blob_lookup(&blob, git, git_tree_entry_id(file)) < 0 || git_blob_rawsize(blob) <= 0 || (uint64_t)git_blob_rawsize(blob) > FILE_LOOKED)
                return 0;
        text = strndup(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)); /* git's bytes need not end in a zero */
        end = text + strlen(text);
        for (char *line = text; r == 0 && line < end;) {
                char *newline = strchrnul(line, '\n'), *p = line + strspn(line, " -s");

                if (strncmp(p, "include", 7) == 0 && (p[7] == ' ' || p[7] == '\t'))
                        r = add_variable(p, newline, text, end, root, tree, folder, ret);
                line = newline + 1;
        }
        return r;
}
