/* Two solvers of the store in one program: a host, and a library whose sources stand in a folder of the host's. A word names such a solver:
 *
 *     HOST@REV+LIBRARY       the library's commits, each within the host as it is at REV: a variant of LIBRARY, with the recipe's key `within`
 *     HOST+LIBRARY@REV       the host's commits, each with the library as it is at REV: a variant of HOST, with a line `submodule`
 *     HOST@REV+LIBRARY@REV   a version of either
 *
 * The folder may stand before the library: HOST@REV+PATH=LIBRARY. Otherwise it is that of a `submodule` of the host's recipe, or else of a .gitmodules of
 * its branches and tags, which has the library's address, or whose folder has its name.
 *
 * The variant is in the config from the first use on, like any other. It is called HOST-REV+LIBRARY, or HOST-REV+PATH+LIBRARY, with twelve digits for
 * a REV that is no tag, and dots for slashes. It has a commit, and what the host's recipe said then: neither solver, revision nor recipe can change it.
 *
 * Threads: any. Errors have sentences. */
#pragma once

#include "core/workspace/workspace.h"

enum combination_part {
        HOST,
        LIBRARY
};
struct combination {
        struct {
                struct solver *solver; /* a ref */
                char *revision;        /* NULL: its history is free */
                uint32_t commit;
        } part[2];
        char *path; /* of the library in the host, as it was said; or NULL */
};
void combination_done(struct combination *c);
#define cleanup_combination cleanup(combination_done)

/* 1: the word is one. 0: it is none, as it has no '+' with a solver before it and one behind. -ENOENT, -ENOTUNIQ: a revision is not there; -EINVAL: one of
 * them is a variant, or both are free. */
int combination_parse(struct workspace *w, const char *word, struct combination *ret);
/* The solver with one part held, which has a revision. `name`: how it is to be called; NULL: as above. Makes it if need be, and gets the held commit into
 * the other one's repository. *ret_text: a sentence about it where it was made now, or where it has another recipe than it would be made with now; free().
 * -ENOENT: the folder is not known, or the store is only read; -EEXIST: another solver has its name. */
int combination_solver(struct workspace *w, const struct combination *c, enum combination_part held, const char *name, const struct progress *p,
                       struct solver **ret, char **ret_text);
