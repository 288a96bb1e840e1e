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

/* True if a recipe may contain the name: valid UTF-8 without control bytes and without the braces of our placeholders. */
bool draft_name_is_plain(const char *name);

/* -- draft.c: all of it -- */
struct draft_request {
        const char *repository; /* a path or a URL */
        const char *base;       /* the address of the sources, by which those of submodules are read, if `repository` is a copy; else NULL */
        const char *shown;      /* as the user wrote it */
        const char *revision;   /* NULL: HEAD */
        bool eras;              /* find eras by building older commits, not only by their files */
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
        char *folder;            /* one level below the root; "": the root */
        char *name;              /* the file that shows the build system: "src/CMakeLists.txt" */
        char *configure_command; /* SYSTEM_AUTOCONF: the command that makes `configure`, "autoconf"; SYSTEM_CONFIGURE: the one that calls it; else NULL */
        const char *out;         /* CMake, meson: a name for the build folder, which the tree's root does not have; static */
        char **switches;         /* the sources' own, that leave out parts no solver needs: "-DBUILD_TESTS=OFF"; NULL: none */
        char **variables;        /* values for unset ones that the Makefile's includes use: "ROOT=.."; NULL: none */
};
struct way_list {
        struct way *list;
        size_t n;
        size_t left; /* number of folders not searched, as there are too many */
};
/* The ways of a tree, the most usual first: those of its root, or if it has none, of its folders. `names_only`: without what way_commands() needs. */
struct way_list ways_find(git_repository *git, const git_tree *tree, bool names_only);
void ways_done(struct way_list *l);
#define cleanup_ways cleanup(ways_done)
enum remedy_kind { /* what the next attempt changes after a failed build */
        REMEDY_C, /* an option of the compiler */
        REMEDY_CXX,
        REMEDY_SHARED,    /* builds the project's own libraries as shared ones */
        REMEDY_OWN_TYPE,  /* CMake: uses the project's default build type */
        REMEDY_IN_FOLDER, /* runs make in the folder build, where configure leaves the Makefile */
        REMEDY_OLD_BASH   /* has Bash read scripts as it did before 5.2 */
};
struct build_remedies {
        unsigned taken, kinds; /* bits of the remedies taken: by index in build.c's table, and by enum remedy_kind */
        struct buffer c, cxx;  /* the compilers' commands, "gcc -fcommon"; empty: the usual compiler */
        struct buffer cmake;   /* " -DFETCHCONTENT_SOURCE_DIR_LIB=$PWD/fetched/lib": words for a shell */
        const char *last;      /* the remedy taken last, for people; static; NULL: none */
};
static inline bool has_remedy(const struct build_remedies *f, enum remedy_kind k)
{
        return f->kinds & 1U << k;
}
/* The commands of a build this way, as a recipe's `build` lines, with or without the switches; strings_free(). */
char **way_commands(const struct way *w, const struct build_remedies *remedies, bool with_switches);
/* The usual path of a program of this name in a build of this way; free(). */
char *way_usual_output(const struct way *w, const char *program);
/* The name of `way` if the tree can be built that way, else of the tree's first way; "": it has none. free(). */
char *way_kept(git_repository *git, const git_tree *tree, const struct way *way);
const struct way *way_named(const struct way_list *l, const char *name); /* NULL: there is none */

/* -- switches.c -- */
/* Adds the sources' switches (way.switches) to *ret; `file`, in the folder `tree`, shows the build system (way.name). */
void switches_find(git_repository *git, const git_tree *tree, enum build_system system, const git_tree_entry *file, char ***ret);
/* Adds "NAME\tURL\tTAG" for each repository that the CMake files of `tree` clone. */
void cmake_declared(git_repository *git, const git_tree *tree, char ***ret);
/* Adds values of variables (way.variables) for the Makefile `file` in `tree`, which is the folder named `folder`, "" for the root. */
void makefile_variables(git_repository *git, const git_tree *root, const git_tree *tree, const char *folder, const git_tree_entry *file, char ***ret);

/* -- programs.c: files that a build made -- */
struct made {
        char *path; /* in the build's tree */
        char *host; /* path of a copy on this machine */
        bool is_library;
};
struct made_list {
        struct made *list;
        size_t n;
};
void made_list_done(struct made_list *m);
/* A command, the last of a build, that packs the programs and libraries it made; and the archive's name. */
extern const char programs_command[], programs_archive[];
/* Copies the ELF files of the archive into `folder`, except files that the commit's tree has. */
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

/* A draft under way. common.solver is in a scratch store, and its recipe is that of the last attempt. */
struct draft {
        git_repository *git;
        const char *base, *name; /* the address of the sources; the last part of what the user wrote: programs called so are preferred */
        uint32_t commit;
        bool try_eras;

        struct draft_keys keys;
        struct buffer eras;   /* the text of their sections */
        struct buffer failed; /* attempts that failed, for people */
        struct buffer about_submodules;
};
git_tree *draft_commit_tree(struct draft *d, uint32_t commit); /* git_tree_free() */

/* -- build.c -- */
/* Fetches the submodules in d->keys.submodules. If one cannot be fetched, removes all of them there, with a comment in the draft. */
void draft_fetch_submodules(struct draft *d);
/* Builds a commit in this way; after a failure again, as long as build.c knows a further change to try. True: *ret has the files made, and the keys
 * say how. False: d->failed says why. */
bool draft_build(struct draft *d, uint32_t commit, const struct way *way, struct draft_keys *keys, struct made_list *ret);

/* Builds a commit by the recipe of these keys. True: it was built. */
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
/* A [solver] section with the keys of a run, for a trial; its build is never used. */
void draft_trial_text(const struct draft_keys *k, struct buffer *ret);
/* The [solver] section. */
void draft_section(const struct draft *d, const struct draft_keys *k, struct buffer *ret);
/* The whole draft. */
void draft_text(struct draft *d, struct buffer *ret);
