/* A recipe: how a solver is built and run. git-config text (core/git/gitconfig.h); docs/recipes.md is its manual.
 *
 * The same keys stand in a recipe file under [solver] and [variant "NAME"], and in the store's `config` under
 * [solver "NAME"] (a variant there is a [solver "NAME"] of its own with `variant = BASE` and what it changes).
 *
 * recipe_keys[] (recipe_keys.h) has the keys. [era "A..B"] gives other build keys to the commits from A on and up to B (core/build/era.h says which those
 * are), [binary "TAG"] a released program to one commit. In the store's config their names begin with the solver's: [era "z3 A..B"].
 *
 * Times are nanoseconds, sizes bytes. Immutable after parsing; shared freely between threads.
 */
#pragma once

#include "cache/base/hash.h"
#include "cache/base/util.h"

enum format {
        FORMAT_SMT2,
        FORMAT_CNF,
        FORMAT_ANY /* of a recipe; never of a case */
};
static inline const char *format_notation(enum format f)
{
        return f == FORMAT_CNF ? "DIMACS" : f == FORMAT_SMT2 ? "SMT-LIB" : "SMT-LIB and DIMACS";
}
const char *format_name(enum format f); /* "smt2", as a recipe says it */

struct recipe_limits {
        uint64_t wall_ns, cpu_ns, memory, output, processes, stack;
};
/* The same as a list, in an order that keys have for good. */
#define N_LIMITS (sizeof(struct recipe_limits) / sizeof(uint64_t))
static inline const uint64_t *limit_list(const struct recipe_limits *l)
{
        return &l->wall_ns;
}

#define RECIPE_OUTPUTS_MAX 16
#define RECIPE_STACK       (UINT64_C(8) << 20) /* the default of `stack` */

/* Where builds are done that are not done here. */
struct recipe_builder {
        int (*toolchain)(struct recipe_builder *b, char ret[65]); /* the one there: part of the key of each build */
};

struct recipe {
        unsigned refs;
        char *name;       /* solver or variant */
        char *base;       /* the solver whose repository a variant shares, and whose builds, unless it has `submodule` or `within`; else NULL */
        char *repository; /* NULL in a recipe file */
        char *runs;       /* where it runs: "local" or the name of a cluster; NULL: as the store says */
        char *builds;     /* where it is built, in the same words */
        struct recipe_builder *builder; /* of that place, which outlives it; NULL: here. A workspace sets it before anybody else has the recipe */
        enum format format;
        char **paths, **build, **outputs, **effort, **environment, **dependencies, **submodules, **downloads; /* NULL-terminated, never NULL themselves */
        char **sources; /* all a build depends on: `paths`, and the .gitattributes of the folders above them; empty, also with `within`: everything */
        char *within; /* PATH=REPO COMMIT: builds are of that commit, with this repository's files at PATH; else NULL */
        char *run, *arguments, *seed, *trace, *dialect;                     /* arguments, seed, trace: NULL when absent */
        char *options; /* arguments with which the program prints a list of its options; NULL: not said */
        struct recipe_limits limits, build_limits;
        uint64_t samples;
        /* A solver's and its variants': [binary] before [era], each kind in the order of the text; none in an era itself. Each is a whole recipe with
         * the solver's keys where it has none of its own. */
        struct recipe **eras;
        size_t n_eras;
        char *range;                /* of an era: "A..B"; of a binary: its revision; else NULL */
        char *file, *sha256;        /* of a binary, else NULL */
        bool is_archive;            /* of a binary: `outputs` are in the archive `file`; else it is the program itself */
        bool is_programs;           /* of a config: [solver "programs"], whose binaries are programs without a repository (core/query/programs.h) */
        bool has_calls;             /* binaries among the eras have a `run` or `seed` of their own; never of a variant */
        char *text; /* its section of a recipe file as it was written, comments included, without the header; NULL: read from a config */
};

/* Reads a recipe file (or text: `path` only names it in messages). ret_list: the solver, then its variants; *ret_n of them; each
 * is named: the solver `name`, a variant as it says. Errors name file, line and key: "kissat.recipe:7: unknown key 'biuld' …"; all mistakes are
 * told, a line each.
 * A `;` or `#` inside an unquoted value is caught and explained (git-config would silently cut it off). */
#define RECIPE_PROGRAMS "programs"
int recipe_check_name(const char *name); /* -EINVAL when no solver can be called that */
int recipe_read(const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n);
int recipe_parse(const char *text, const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n);
/* Every [solver "…"] of a store's config; other sections are left alone. `path` only names it. */
#define CONFIG_SIZE_MAX (16 << 20)
int recipe_parse_config(struct slice text, const char *path, struct recipe ***ret_list, size_t *ret_n);
/* Writes (or replaces) [solver "NAME"] sections in a store's config, atomically and keeping the rest of the file. One that was read from a recipe
 * file is written as it stands there. */
int recipe_write_config(const char *path, struct recipe *const *list, size_t n);
/* Puts sections behind all that a config has; -EINVAL when it could not be read then. */
int recipe_append_config(const char *path, const char *text);
/* Takes out [KIND "NAME"] sections ("solver": eras and binaries, too), the rest stays. -EINVAL when a variant would be left without its solver. */
int recipe_remove_config(const char *path, const char *kind, const char *const *names, size_t n);
void recipe_list_free(struct recipe **list, size_t n);

struct recipe *recipe_ref(struct recipe *r);
struct recipe *recipe_unref(struct recipe *r); /* NULL */
DEFINE_CLEANUP(struct recipe *, recipe_unref)

/* The text that recipe_parse() takes back: the tree's <solver>/config. */
int recipe_print(const struct recipe *r, struct buffer *ret);
/* Digest of what a build depends on beside the sources: commands, outputs, environment, paths. Of one era, or of the commits in none: what
 * another era says is not in it. */
void recipe_build_digest(const struct recipe *r, struct digest *ret);
/* The same of all commits: the eras are in it. */
void recipe_builds_digest(const struct recipe *r, struct digest *ret);
/* The revisions that an era's range names, "" where it has no such end; -EINVAL with a sentence when it is no range. */
#define RECIPE_REVISION_SIZE 256
int recipe_range(const char *range, char ret_from[RECIPE_REVISION_SIZE], char ret_to[RECIPE_REVISION_SIZE]);
/* Calls fn with each file that builds want in the store: the downloads of all eras, and binaries. Stops when fn returns other than 0. */
struct recipe_file {
        const char *url;  /* or an absolute path */
        size_t n_url;
        struct digest digest;
        struct slice name; /* its last component, in url */
};
typedef int (*recipe_file_fn)(void *user, const struct recipe_file *f);
int recipe_each_file(const struct recipe *r, recipe_file_fn fn, void *user);
/* Digest of what a run depends on beside program, case and machine: template, arguments, seed number (has_seed), and a limit that
 * the template mentions as {timeout} or {memory}; the environment, when there is one. */
void recipe_run_digest(const struct recipe *r, bool has_seed, uint64_t seed, const struct recipe_limits *limits,
                       struct digest *ret);
#define RECIPE_COMMIT_DIGITS 40
/* The parts of a line of `submodule` or `within`, PATH=REPO[ COMMIT], in it. */
struct recipe_submodule {
        struct slice path, repository;
        const char *commit; /* its hex digits, or NULL: the solver's own commit names it */
};
struct recipe_submodule recipe_submodule(const char *line);
/* The line for the submodule at this path, or NULL. */
const char *recipe_find_submodule(char *const *lines, struct slice path);
/* Those of `lines` that are at other paths than `ours`, then these; strings_free(). */
char **recipe_merge_submodules(char *const *lines, char *const *ours);
/* The recipe of all that is built of a commit of a solver with `within`: of the commit of REPO, with this one as a submodule. A reference. */
struct recipe *recipe_whole(const struct recipe *r, const char *commit);
/* Returns the length of URL in a line of `download`; *ret_digest is its digest, *ret_name the file's name (in URL). */
size_t recipe_download(const char *line, struct digest *ret_digest, struct slice *ret_name);
/* Adds a `submodule` line, to the text of the recipe, too. */
int recipe_add_submodule(struct recipe *r, const char *path, const char *repository);
/* The solver reads the case from its standard input: `run` has this word. */
#define RECIPE_INPUT "<{case}"
bool recipe_reads_input(const struct recipe *r);
/* Does the solver take such cases? */
static inline bool recipe_takes(const struct recipe *r, enum format of_case)
{
        return r->format == FORMAT_ANY || r->format == of_case;
}
/* For runs on such cases: a reference to it, or a copy that takes these alone where it takes any. */
struct recipe *recipe_for_format(const struct recipe *r, enum format of_case);
/* Further arguments, behind those that it has. */
void recipe_add_arguments(struct recipe *r, const char *more);
/* A copy that asks the program about itself, by these arguments, for so long at most; its case is empty, and on standard input. */
struct recipe *recipe_for_question(const struct recipe *r, const char *arguments, uint64_t most_ns);
/* The command line without RECIPE_INPUT; NULL-terminated, free with strings_free(). */
int recipe_command(const struct recipe *r, const char *bin, const char *case_path, bool has_seed, uint64_t seed,
                   const struct recipe_limits *limits, char ***ret_argv);
int strings_add(char ***list, const char *s); /* a copy; 0 */
char **strings_copy(char *const *list);
void strings_free(char **list);
size_t strings_count(char *const *list);
bool strings_have(char *const *list, const char *s);

/* "20s", "1.5h", "500ms" and "4g", "512m"; a bare number is seconds or bytes. -EINVAL with a sentence. */
int parse_duration(const char *text, uint64_t *ret_ns);
int parse_size(const char *text, uint64_t *ret_bytes);
struct short_text format_duration(uint64_t ns); /* shortest exact: "20s", "1500ms" */
struct short_text format_size(uint64_t bytes);
