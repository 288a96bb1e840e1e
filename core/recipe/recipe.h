/* A recipe: how a solver is built and run. git-config text (core/git/gitconfig.h); docs/recipes.md is its manual.
 *
 * The same keys are in a recipe file under [solver] and [variant "NAME"], and in the store's `config` under
 * [solver "NAME"] (a variant there is a separate [solver "NAME"] with `variant = BASE` and the keys that differ).
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
const char *format_name(enum format f); /* "smt2", as in a recipe */

struct recipe_limits {
        uint64_t wall_ns, cpu_ns, memory, output, processes, stack;
};
/* The same as a list. It is part of keys: its order never changes, and a further limit is a new format of the store. */
#define N_LIMITS (sizeof(struct recipe_limits) / sizeof(uint64_t))
static inline const uint64_t *limit_list(const struct recipe_limits *l)
{
        return &l->wall_ns;
}

#define RECIPE_OUTPUTS_MAX 16
/* The defaults of a run's limits. */
#define RECIPE_MEMORY      (UINT64_C(4) << 30)
#define RECIPE_OUTPUT      (UINT64_C(16) << 20)
#define RECIPE_PROCESSES   UINT64_C(64)
#define RECIPE_STACK       (UINT64_C(8) << 20)

/* Where remote builds are done. */
struct recipe_builder {
        int (*toolchain)(struct recipe_builder *b, char ret[65]); /* the digest of its toolchain, in hex: part of the key of each build */
};

struct recipe {
        unsigned refs;
        char *name;       /* solver or variant */
        char *base;       /* the solver whose repository a variant shares, and whose builds, unless it has `submodule` or `within`; else NULL */
        char *repository; /* NULL in a recipe file */
        char *runs;       /* where it runs: "local" or the name of a cluster; NULL: the store's setting */
        char *builds;     /* where it is built, likewise */
        struct recipe_builder *builder; /* borrowed; NULL: this machine. A workspace sets it before it gives the recipe to others */
        enum format format;
        char **paths, **build, **outputs, **effort, **environment, **dependencies, **submodules, **downloads; /* NULL-terminated, never NULL themselves */
        char **sources; /* what a build depends on: `paths`, and the .gitattributes of folders above them; empty (also with `within`): everything */
        char *within; /* PATH=REPO COMMIT: builds are of that commit, with this repository's files at PATH; else NULL */
        char *run, *arguments, *seed, *trace, *dialect;                     /* arguments, seed, trace: NULL when absent */
        char *options; /* arguments with which the program lists its options; NULL: not given */
        struct recipe_limits limits, build_limits;
        uint64_t samples;
        /* The eras of a solver or variant: [binary] before [era], each kind in the order of the text. Each is a whole recipe with the solver's keys
         * for those it lacks; an era itself has none. */
        struct recipe **eras;
        size_t n_eras;
        char *range;                /* of an era: "A..B"; of a binary: its revision; else NULL */
        char *file, *sha256;        /* of a binary, else NULL */
        bool is_archive;            /* of a binary: `outputs` are in the archive `file`; else it is the program itself */
        bool is_programs;           /* of a config: [solver "programs"], whose binaries are programs without a repository (core/query/programs.h) */
        bool binary_has_own_run;    /* some binary among the eras has its own `run` or `seed`; never for a variant */
        char *text; /* its section of the recipe file as written, with comments, without the header; NULL: read from a config */
};

#define RECIPE_PROGRAMS "programs"
int recipe_check_name(const char *name); /* -EINVAL: not possible as a solver's name */
/* Reads a recipe file (or text: `path` only names it in messages). *ret_list: the solver, named `name`, then its variants, *ret_n in all. Errors name
 * file, line and key: "kissat.recipe:7: key 'solver.biuld' is not known …"; all mistakes are reported, a line each.
 * A `;` or `#` inside an unquoted value is refused with an explanation (git-config would silently cut the value off). */
int recipe_read(const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n);
int recipe_parse(const char *text, const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n);
/* Every [solver "…"] of a store's config; ignores other sections. `path` is for messages. */
#define CONFIG_SIZE_MAX (16 << 20)
int recipe_parse_config(struct slice text, const char *path, struct recipe ***ret_list, size_t *ret_n);
/* Writes or replaces [solver "NAME"] sections in a store's config, atomically, keeping the rest of the file. A recipe read from a file is written with
 * that file's text. */
int recipe_write_config(const char *path, struct recipe *const *list, size_t n);
/* Appends sections to a config. -EINVAL: the result could not be read. */
int recipe_append_config(const char *path, const char *text);
/* Removes [KIND "NAME"] sections ("solver": with eras and binaries), keeping the rest. -EINVAL: a variant would lose its solver. */
int recipe_remove_config(const char *path, const char *kind, const char *const *names, size_t n);
void recipe_list_free(struct recipe **list, size_t n);

DECLARE_REFS(recipe)

/* Prints the text that recipe_parse() reads back: <solver>/config of the mount. */
int recipe_print(const struct recipe *r, struct buffer *ret);
/* Digest of what a build depends on besides the sources: commands, outputs, environment, paths. For one era, or for the commits in none; other eras
 * do not affect it. */
void recipe_build_digest(const struct recipe *r, struct digest *ret);
/* The same for all commits: it includes all eras, and how binaries are run if some binary has its own `run` or `seed`. */
void recipe_eras_digest(const struct recipe *r, struct digest *ret);
/* The revisions of an era's range; "": no such end. -EINVAL with a sentence: not a range. */
#define RECIPE_REVISION_SIZE 256
int recipe_range(const char *range, char ret_from[RECIPE_REVISION_SIZE], char ret_to[RECIPE_REVISION_SIZE]);
/* Calls fn with each file that builds need in the store: the downloads of all eras, and binaries. Stops at fn's first non-zero value. */
struct recipe_file {
        const char *url;  /* or an absolute path; its first n_url bytes */
        size_t n_url;
        struct digest digest;
        struct slice name; /* the last component of url */
};
typedef int (*recipe_file_fn)(void *user, const struct recipe_file *f);
int recipe_each_file(const struct recipe *r, recipe_file_fn fn, void *user);
/* Digest of what a run depends on besides program, case and machine: template, arguments, seed number (has_seed), limits that the template mentions
 * as {timeout} or {memory}, and the environment, if any. */
void recipe_run_digest(const struct recipe *r, bool has_seed, uint64_t seed, const struct recipe_limits *limits,
                       struct digest *ret);
/* Adds a limit to a key. The default (`usual`) is left out: so keys with defaults stay the same when a limit becomes part of keys. */
void recipe_add_limit(struct hasher *h, const char *name, uint64_t limit, uint64_t usual);
/* Adds those of output, processes and stack. */
void recipe_add_limits(struct hasher *h, const struct recipe_limits *limits);
#define RECIPE_COMMIT_DIGITS 40
/* The parts of a line of `submodule` or `within`, PATH=REPO[ COMMIT]; they point into the line. */
struct recipe_submodule {
        struct slice path, repository;
        const char *commit; /* hex digits; NULL: the solver's commit determines it */
};
struct recipe_submodule recipe_submodule(const char *line);
/* The line for the submodule at this path, or NULL. */
const char *recipe_find_submodule(char *const *lines, struct slice path);
/* `lines` without those whose paths are in `ours`, then `ours`; strings_free(). */
char **recipe_merge_submodules(char *const *lines, char *const *ours);
/* For a solver with `within`: a new recipe, which builds the host's commit with the solver's `commit` as a submodule. */
struct recipe *recipe_within_host(const struct recipe *r, const char *commit);
/* Returns the length of URL in a line of `download`; *ret_digest is its digest, *ret_name the file's name (in URL). */
size_t recipe_download(const char *line, struct digest *ret_digest, struct slice *ret_name);
/* Adds a `submodule` line, also to the recipe's text. */
int recipe_add_submodule(struct recipe *r, const char *path, const char *repository);
/* This word in `run` means that the solver reads the case from its standard input. */
#define RECIPE_INPUT "<{case}"
bool recipe_reads_input(const struct recipe *r);
/* True if the solver takes cases of this format. */
static inline bool recipe_takes(const struct recipe *r, enum format of_case)
{
        return r->format == FORMAT_ANY || r->format == of_case;
}
/* The recipe for runs on cases of this format: a reference to `r` or, if that takes any format, a copy that takes only this one. */
struct recipe *recipe_for_format(const struct recipe *r, enum format of_case);
/* Appends further arguments. */
void recipe_add_arguments(struct recipe *r, const char *more);
/* A copy that runs the program with these arguments alone, for at most `most_ns`, with the case on standard input: give it an empty one. */
struct recipe *recipe_asking(const struct recipe *r, const char *arguments, uint64_t most_ns);
/* The command line without RECIPE_INPUT; NULL-terminated, free with strings_free(). The recipe's `arguments` precede the first word
 * with {case}; without one, they come last. {timeout} is in seconds, rounded up, {memory} in megabytes, rounded down. */
int recipe_command(const struct recipe *r, const char *bin, const char *case_path, bool has_seed, uint64_t seed,
                   const struct recipe_limits *limits, char ***ret_argv);
int strings_add(char ***list, const char *s); /* a copy; 0 */
char **strings_copy(char *const *list);
void strings_free(char **list);
DEFINE_CLEANUP(char **, strings_free)
size_t strings_count(char *const *list);
bool strings_have(char *const *list, const char *s);

/* "20s", "1.5h", "500ms" and "4g", "512m"; a bare number is seconds or bytes. -EINVAL with a sentence. */
int parse_duration(const char *text, uint64_t *ret_ns);
int parse_size(const char *text, uint64_t *ret_bytes);
struct short_text format_duration(uint64_t ns); /* the shortest exact text: "20s", "1500ms" */
struct short_text format_size(uint64_t bytes);
