/* A recipe for sources that nobody has written one for. One commit is built in the ways that are usual for what lies in it, the programs that come
 * of it are run on small formulas whose answer is known, and what was seen to work is written down.
 *
 * Nothing here knows a solver. What is known: build systems and their usual commands (ways.c), what compilers of today refuse and the option with
 * which they do not (build.c), and how options and statistics are usually called (options.c).
 *
 * Where something fails that is not the sources' own doing (the disk, git, a signal), the command ends there (command_must()). */
#pragma once

#include "core/git/git.h"
#include "core/run/runner.h"
#include "tools/command.h"

#define DRAFT_NAME "draft" /* of the solver in the scratch store */

/* What may stand in a name that a recipe has: no control bytes, and no placeholder of ours. */
bool draft_name_is_plain(const char *name);

/* -- draft.c: all of it -- */
struct draft_request {
        const char *repository; /* a path or a URL */
        const char *shown;      /* as the user wrote it */
        const char *revision;   /* NULL: HEAD */
        bool eras;              /* also builds the last commit of each older way to build */
        bool force;             /* what was found is written also when no program was seen to answer */
};
/* Drafts a recipe in a store of its own. A status; when it is not STATUS_OK, why is said, and *ret has what was found where `force` asks for it. */
int recipe_draft(const struct draft_request *q, struct buffer *ret);

/* -- ways.c: how a tree is usually built -- */
enum build_system {
        SYSTEM_CMAKE,
        SYSTEM_CONFIGURE, /* a committed `configure`, by autoconf or by hand */
        SYSTEM_MESON,
        SYSTEM_AUTOCONF, /* configure.ac: `configure` is to be made */
        SYSTEM_MAKE
};
struct way {
        enum build_system system;
        char *folder;      /* one down from the root; "" in the root */
        char *name;        /* the file by which it was seen: "src/CMakeLists.txt" */
        char *first;       /* what makes or calls `configure`: "autoconf", "sh ./configure"; or NULL */
        const char *out;   /* CMake, meson: the folder that it builds in, which the tree does not have; static */
        char **switches;   /* that the sources declare and that leave out what no solver needs: "-DBUILD_TESTS=OFF"; NULL: none */
        char **variables;  /* that the Makefile includes by and does not set: "ROOT=.."; NULL: none */
};
struct way_list {
        struct way *list;
        size_t n;
        size_t left; /* folders that were not looked at, as there are too many */
};
/* The ways of a tree, the most usual first: those of its root; of its folders where the root has none. `names_only`: what their commands need is not read. */
struct way_list ways_find(git_repository *git, const git_tree *tree, bool names_only);
void ways_done(struct way_list *l);
#define cleanup_ways cleanup(ways_done)
/* The commands, a recipe's `build` lines, with the switches or without. */
enum remedy_kind {
        REMEDY_C, /* an option of the compiler */
        REMEDY_CXX,
        REMEDY_SHARED,    /* the project's own libraries are shared ones */
        REMEDY_OWN_TYPE,  /* CMake: the project's default build type */
        REMEDY_IN_FOLDER, /* configure makes the Makefile of the folder build */
        REMEDY_OLD_BASH   /* scripts are read as Bash before 5.2 reads them */
};
struct compiler_flags {
        unsigned taken, kinds; /* bits: which of the table, and of which kinds these are */
        struct buffer c, cxx;  /* "gcc -fcommon"; empty: the usual compiler */
        struct buffer cmake;   /* " -DFETCHCONTENT_SOURCE_DIR_LIB=$PWD/fetched/lib": words for a shell */
        const char *last;      /* what came last, for people; static; NULL: nothing */
};
static inline bool has_remedy(const struct compiler_flags *f, enum remedy_kind k)
{
        return f->kinds & 1U << k;
}
char **way_commands(const struct way *w, const struct compiler_flags *flags, bool with_switches);
/* Where a program of that name usually lies when it was built so; free(). */
char *way_usual_output(const struct way *w, const char *program);
/* The name of `way` where the tree can be built in it, else of the tree's first way; "" when it has none; free(). */
char *way_kept(git_repository *git, const git_tree *tree, const struct way *way);
const struct way *way_named(const struct way_list *l, const char *name); /* NULL: none is called so */

/* -- switches.c -- */
/* Adds the switches for the build system whose file is `file` in the folder `tree`. */
void switches_find(git_repository *git, const git_tree *tree, enum build_system system, const git_tree_entry *file, char ***ret);
/* Adds "NAME\tURL\tTAG" for each repository that the CMake files of `tree` clone. */
void cmake_declared(git_repository *git, const git_tree *tree, char ***ret);
/* Adds values of variables for the Makefile `file` of `folder`, "" for the root. */
void makefile_variables(git_repository *git, const git_tree *root, const git_tree *tree, const char *folder, const git_tree_entry *file, char ***ret);

/* -- programs.c: what a build made -- */
struct made {
        char *path; /* in the tree of the build */
        char *host; /* a copy of it */
        bool is_library;
};
struct made_list {
        struct made *list;
        size_t n;
};
void made_list_done(struct made_list *m);
/* The built files among the archive that programs_command makes, which is at `archive`; copies go into `folder`. Files of the commit itself are
 * left out. */
extern const char programs_command[], programs_archive[];
void made_list_read(const char *archive, const git_tree *tree, const char *folder, struct made_list *ret);
/* The programs in the order in which they are tried: that called `name` first, then short paths. */
void made_list_sort(struct made_list *m, const char *name);
const struct made *made_list_library(const struct made_list *m, const char *name); /* NULL: it was not built */

/* -- the keys -- */
struct draft_keys {
        char **paths, **build, **outputs, **environment, **submodules; /* NULL-terminated */
        enum format format;
        char *run, *seed, *effort;              /* seed, effort: NULL when nothing was seen to work */
        struct buffer about_paths, about_build, about_run, about_seed, about_effort; /* comments: what was seen */
};
void draft_keys_done(struct draft_keys *k);

/* Of common.solver, in a scratch store: its recipe is that of the last attempt. */
struct draft {
        git_repository *git;
        const char *repository, *name; /* as the user wrote it; its last part, by which programs are preferred */
        uint32_t commit;
        bool try_eras;

        struct draft_keys keys;
        struct buffer eras;   /* their sections, written */
        struct buffer failed; /* what was tried and did not work, for people */
        struct buffer about_submodules;
};
git_tree *draft_commit_tree(struct draft *d, uint32_t commit);

/* -- build.c -- */
/* Gets what d->keys.submodules name; where that cannot be, they are taken out, and the draft says so. */
void draft_fetch_submodules(struct draft *d);
/* Builds a commit in this way, with more flags where the compiler asks for them. True: it was built, *ret has what was made, and the keys have how.
 * False: it was not, and d->failed has why. */
bool draft_build(struct draft *d, uint32_t commit, const struct way *way, struct draft_keys *keys, struct made_list *ret);

/* Builds a commit by the recipe that these keys are. */
bool draft_build_keys(struct draft *d, uint32_t commit, const struct draft_keys *keys);

/* -- fetched.c -- */
/* Gets what the CMake files of the commit clone: a `submodule` line of the keys each, and in `cmake` words for a shell. False: there is nothing new. */
bool draft_fetch_declared(struct draft *d, uint32_t commit, struct draft_keys *keys, struct buffer *cmake);
/* Takes those lines out: another way, or another commit, has its own. */
void draft_forget_declared(struct draft_keys *keys);

/* -- paths.c -- */
/* Fills `paths` of the keys, by which the commit is built: leaves out what lies in its root and the build did not ask for, when it is built
 * without. */
void draft_paths(struct draft *d, uint32_t commit, struct draft_keys *k);

/* -- runs.c -- */
/* The program that is being looked at, with the libraries it was seen to need. */
struct draft_program {
        const struct made_list *made;
        struct run_program list[RECIPE_OUTPUTS_MAX];
        const struct made *from[RECIPE_OUTPUTS_MAX];
        size_t n;
        const struct formula_pair *pair; /* that it answers */
};
/* One run of it by these keys; a library that the build made and the loader misses is added, and it is run again. */
void draft_run(struct draft_program *p, const struct draft_keys *keys, const char *text, bool has_seed, uint64_t seed, struct run_result *ret);
/* Are both formulas of its pair answered right? */
bool draft_answers(struct draft_program *p, const struct draft_keys *keys, bool has_seed, uint64_t seed);
/* Finds the program that answers, and how it is run: fills outputs, environment, format and run. */
bool draft_choose(struct draft *d, const struct way *way, struct draft_keys *keys, struct made_list *made, struct draft_program *ret);

/* -- options.c -- */
/* Looks for `seed` and `effort` in the program's help; puts stdbuf before a program that keeps its answers back. */
void draft_options(struct draft_program *p, struct draft_keys *keys);

/* -- eras.c -- */
/* Writes d->eras: where along the first parents the tree was built in another way. */
void draft_eras(struct draft *d, const struct way *way);

/* -- text.c -- */
void draft_line(struct buffer *b, const char *key, const char *value); /* "    key = value"; nothing where the value is NULL */
void draft_lines(struct buffer *b, const char *key, char *const *values);
void draft_comment(struct buffer *b, const char *indent, const char *text); /* wrapped; nothing in it ends the comment; nothing of NULL */
/* The [solver] section without comments, with these limits, for a trial. */
void draft_trial_text(const struct draft_keys *k, struct buffer *ret);
/* The [solver] section. */
void draft_section(const struct draft *d, const struct draft_keys *k, struct buffer *ret);
/* All of it. */
void draft_text(struct draft *d, struct buffer *ret);
