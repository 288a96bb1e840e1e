/* Two solvers of the store in one program: a host, and a library whose sources are in a folder of the host. A word names such a solver:
 *
 *     HOST@REV+LIBRARY       the library's commits, each within the host at REV: a variant of LIBRARY, with the recipe's key `within`
 *     HOST+LIBRARY@REV       the host's commits, each with the library at REV: a variant of HOST, with a line `submodule`
 *     HOST@REV+LIBRARY@REV   a version of either
 *
 * The folder may be given before the library: HOST@REV+PATH=LIBRARY. Otherwise it is the folder of a `submodule` of the host's recipe, or else of a
 * .gitmodules in the host's branches and tags, that has the library's address or is named like it.
 *
 * From its first use on the variant is in the config, like any other. Its name is HOST-REV+LIBRARY, or HOST-REV+PATH+LIBRARY, with twelve digits for
 * a REV that is no tag, and dots for slashes. It records REV's commit. HOST@REV+LIBRARY also has the host's recipe of that time, so no later change
 * of a solver, revision or recipe affects it; HOST+LIBRARY@REV follows the recipe of HOST, as each variant does.
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
                char *revision;        /* NULL: any commit of its history */
                uint32_t commit;
        } part[2];
        char *path; /* the library's folder in the host, as typed; NULL: not given */
};
void combination_done(struct combination *c);
#define cleanup_combination cleanup(combination_done)

/* 1: the word is a combination. 0: it is none: no '+' with a solver before and after it. -ENOENT, -ENOTUNIQ: no such revision, or an ambiguous one.
 * -EINVAL: one of the two is a variant, or neither has a revision. *ret must be {0}; call combination_done() on it after each return. */
int combination_parse(struct workspace *w, const char *word, struct combination *ret);
/* Finds the solver that has the part `fixed` at its revision, and the other part's commits. It is called `name` (NULL: as above). If it is missing,
 * makes it, and fetches the fixed commit into the other part's repository. *ret_text (free()): a sentence if it was made now, or if its recipe is not
 * the one that it would get now. -ENOENT: the folder is not known, or a read-only store lacks the solver; -EEXIST: another solver has the name. */
int combination_solver(struct workspace *w, const struct combination *c, enum combination_part fixed, const char *name, const struct progress *p,
                       struct solver **ret, char **ret_text);
