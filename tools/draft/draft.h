/* Drafts a recipe for sources without one. It builds one commit in the ways that are usual for its files, runs the resulting programs on small
 * formulas whose answer is known, and writes down what worked.
 *
 * Nothing here is specific to a solver. It knows build systems and their usual commands (ways.c), code that today's compilers refuse and the option
 * that makes them accept it (build.c), and usual names of options and statistics (options.c).
 *
 * A failure that the sources do not cause (the disk, git, a signal) ends the command (command_must()). */
#pragma once

#include "core/git/git.h"
#include "core/run/runner.h"
#include "tools/command.h"

#define DRAFT_NAME "draft" /* the solver's name in the scratch store */

/* True if a recipe may contain the name: no control bytes, none of our placeholders. */
bool draft_name_is_plain(const char *name);

/* -- draft.c: all of it -- */
struct draft_request {
        const char *repository; /* a path or a URL */
        const char *shown;      /* as the user wrote it */
        const char *revision;   /* NULL: HEAD */
        bool eras;              /* also build the last commit of each older way to build */
        bool force;             /* write the findings even if no program answered */
};
/* Drafts a recipe in a temporary store. Returns a status. If it is not STATUS_OK, a message was printed, and with `force` *ret has what was found. */
int recipe_draft(const struct draft_request *q, struct buffer *ret);

/* -- ways.c: how a tree is usually built -- */
enum build_system {
        SYSTEM_CMAKE,
        SYSTEM_CONFIGURE, /* a committed `configure`, of autoconf or handwritten */
        SYSTEM_MESON,
        SYSTEM_AUTOCONF, /* configure.ac: `configure` must be made */
        SYSTEM_MAKE
};
struct way {
        enum build_system system;
        char *folder;      /* one level below the root; "": the root */
        char *name;        /* the file that shows it: "src/CMakeLists.txt" */
        char *configure;   /* SYSTEM_AUTOCONF: the command that makes `configure`, "autoconf"; SYSTEM_CONFIGURE: the one that calls it; else NULL */
        const char *out;   /* CMake, meson: the build folder, which the tree does not have; static */
        char **switches;   /* of the sources; they leave out parts no solver needs: "-DBUILD_TESTS=OFF"; NULL: none */
        char **variables;  /* unset ones that the Makefile's includes use: "ROOT=.."; NULL: none */
};
struct way_list {
        struct way *list;
        size_t n;
        size_t left; /* number of folders not searched, as there are too many */
};
/* The ways of a tree, the most usual first: those of its root, or if it has none, of its folders. `names_only`: skips what only the commands need. */
struct way_list ways_find(git_repository *git, const git_tree *tree, bool names_only);
void ways_done(struct way_list *l);
#define cleanup_ways cleanup(ways_done)
enum remedy_kind {
        REMEDY_C, /* an option of the compiler */
        REMEDY_CXX,
        REMEDY_SHARED,    /* the project's own libraries are shared ones */
        REMEDY_OWN_TYPE,  /* CMake: the project's default build type */
        REMEDY_IN_FOLDER, /* configure makes the Makefile of the folder build */
        REMEDY_OLD_BASH   /* scripts are read as Bash before 5.2 reads them */
};
struct compiler_flags {
        unsigned taken, kinds; /* bits: the remedies taken, by place in the table and by kind */
        struct buffer c, cxx;  /* "gcc -fcommon"; empty: the usual compiler */
        struct buffer cmake;   /* " -DFETCHCONTENT_SOURCE_DIR_LIB=$PWD/fetched/lib": words for a shell */
        const char *last;      /* the newest one, for people; static; NULL: none */
};
static inline bool has_remedy(const struct compiler_flags *f, enum remedy_kind k)
{
        return f->kinds & 1U << k;
}
/* The commands, as a recipe's `build` lines, with or without the switches. */
char **way_commands(const struct way *w, const struct compiler_flags *flags, bool with_switches);
/* The usual path of a program of this name in a build of this way; free(). */
char *way_usual_output(const struct way *w, const char *program);
/* The name of `way` if the tree can be built that way, else of the tree's first way; "": it has none. free(). */
char *way_kept(git_repository *git, const git_tree *tree, const struct way *way);
const struct way *way_named(const struct way_list *l, const char *name); /* NULL: there is none */

/* -- switches.c -- */
/* Adds the switches of the sources for the build system; `file`, in the folder `tree`, shows the system (way.name). */
void switches_find(git_repository *git, const git_tree *tree, enum build_system system, const git_tree_entry *file, char ***ret);
/* Adds "NAME\tURL\tTAG" for each repository that the CMake files of `tree` clone. */
void cmake_declared(git_repository *git, const git_tree *tree, char ***ret);
/* Adds values of variables for the Makefile `file` of `folder`, "" for the root. */
void makefile_variables(git_repository *git, const git_tree *root, const git_tree *tree, const char *folder, const git_tree_entry *file, char ***ret);

/* -- programs.c: files that a build made -- */
struct made {
        char *path; /* in the build's tree */
        char *host; /* a copy of it */
        bool is_library;
};
struct made_list {
        struct made *list;
        size_t n;
};
void made_list_done(struct made_list *m);
/* A build's command that packs the programs and libraries that it made, and the archive's name. */
extern const char programs_command[], programs_archive[];
/* Copies the ELF files of the archive into `folder`, except files of the commit itself. */
void made_list_read(const char *archive, const git_tree *tree, const char *folder, struct made_list *ret);
/* Sorts the programs for trying: those called `name` first, then those whose name is like it, then the least deep, then short names. */
void made_list_sort(struct made_list *m, const char *name);
const struct made *made_list_library(const struct made_list *m, const char *name); /* NULL: not built */

/* -- the keys -- */
struct draft_keys {
        char **paths, **build, **outputs, **environment, **submodules; /* NULL-terminated */
        enum format format;
        char *run, *seed, *effort;              /* seed, effort: NULL if none worked */
        struct buffer about_paths, about_build, about_run, about_seed, about_effort; /* comments */
};
void draft_keys_done(struct draft_keys *k);

/* A draft for common.solver, in a scratch store, whose recipe is that of the last attempt. */
struct draft {
        git_repository *git;
        const char *repository, *name; /* as the user wrote it; its last part: programs of that name are preferred */
        uint32_t commit;
        bool try_eras;

        struct draft_keys keys;
        struct buffer eras;   /* the text of their sections */
        struct buffer failed; /* attempts that failed, for people */
        struct buffer about_submodules;
};
git_tree *draft_commit_tree(struct draft *d, uint32_t commit);

/* -- build.c -- */
/* Fetches the submodules in d->keys.submodules. One that cannot be fetched is removed there, with a comment in the draft. */
void draft_fetch_submodules(struct draft *d);
/* Builds a commit in this way, with more flags if the log asks for them. True: *ret has what was made, and the keys say how. False: d->failed says
 * why. */
bool draft_build(struct draft *d, uint32_t commit, const struct way *way, struct draft_keys *keys, struct made_list *ret);

/* Builds a commit by the recipe of these keys. */
bool draft_build_keys(struct draft *d, uint32_t commit, const struct draft_keys *keys);

/* -- fetched.c -- */
/* Fetches the repositories that the commit's CMake files clone. Adds a `submodule` line to the keys for each, and shell words to `cmake`. False: nothing
 * new. */
bool draft_fetch_declared(struct draft *d, uint32_t commit, struct draft_keys *keys, struct buffer *cmake);
/* Removes those lines: another way, or another commit, has its own. */
void draft_forget_declared(struct draft_keys *keys);

/* -- paths.c -- */
/* Fills the keys' `paths`: leaves out entries of the root that the build did not read, if the commit also builds without them. */
void draft_paths(struct draft *d, uint32_t commit, struct draft_keys *k);

/* -- runs.c -- */
/* The program being tried. */
struct draft_program {
        const struct made_list *made;
        struct run_program list[RECIPE_OUTPUTS_MAX]; /* the program, then the libraries it was seen to need */
        const struct made *from[RECIPE_OUTPUTS_MAX]; /* the same files in `made` */
        size_t n;
        const struct formula_pair *pair; /* the pair it answers, or is being tried with */
        enum verdict lie;                /* a false sat or unsat in the last try; VERDICT_UNKNOWN: none */
};
/* Runs the program once by these keys. If the loader misses a library that the build made, adds the library and runs again. */
void draft_run(struct draft_program *p, const struct draft_keys *keys, const char *text, bool has_seed, uint64_t seed, struct run_result *ret);
/* True if it answers both formulas of its pair correctly. */
bool draft_answers(struct draft_program *p, const struct draft_keys *keys, bool has_seed, uint64_t seed);
/* Finds a program that answers and how to run it; fills outputs, environment, format and run. */
bool draft_choose(struct draft *d, const struct way *way, struct draft_keys *keys, struct made_list *made, struct draft_program *ret);

/* -- options.c -- */
/* Looks for `seed` and `effort` in the program's help and output; puts stdbuf before a program that buffers its answers. */
void draft_options(struct draft_program *p, struct draft_keys *keys);

/* -- eras.c -- */
/* Writes d->eras: where along the first parents the tree was built in another way. */
void draft_eras(struct draft *d, const struct way *way);

/* -- text.c -- */
void draft_line(struct buffer *b, const char *key, const char *value); /* "    key = value"; nothing where the value is NULL */
void draft_lines(struct buffer *b, const char *key, char *const *values);
void draft_comment(struct buffer *b, const char *indent, const char *text); /* wrapped; no text ends the comment early; NULL: nothing */
/* The [solver] section without comments, for a trial. */
void draft_trial_text(const struct draft_keys *k, struct buffer *ret);
/* The [solver] section. */
void draft_section(const struct draft *d, const struct draft_keys *k, struct buffer *ret);
/* The whole draft. */
void draft_text(struct draft *d, struct buffer *ret);
