/* Two solvers of the store in one program: a host, and a library whose sources stand in a folder of the host's. A word names such a solver:
 *
 *     HOST@REV+LIBRARY       the library's commits, each within the host as it is at REV: a variant of LIBRARY, with the recipe's key `within`
 *     HOST+LIBRARY@REV       the host's commits, each with the library as it is at REV: a variant of HOST, with a line `submodule`
 *     HOST@REV+LIBRARY@REV   a version of either
 *
 * The folder may stand before the library: HOST@REV+PATH=LIBRARY. Otherwise it is the one where a line `submodule` of the host's recipe, or else a
 * .gitmodules of its branches and tags, has a repository of the library's name.
 *
 * The variant is in the config from the first use on, like every other one, and is called HOST-REV+LIBRARY or HOST+LIBRARY-REV, where REV is the commit's tag,
 * else twelve digits, with dots for slashes, and PATH+ before the library if it was said. It names repositories and commits, and has what the host's recipe said then: neither solver, revision nor recipe can change it.
 *
 * Threads: any. Errors have sentences. */
#pragma once

#include "core/workspace/workspace.h"

struct combination {
        struct solver *host, *library;         /* refs */
        uint32_t host_commit, library_commit;  /* COMMIT_NONE: its history is free */
        char *path;                            /* of the library in the host, as it was said; or NULL */
};
void combination_done(struct combination *c);
#define cleanup_combination cleanup(combination_done)

/* 1: the word is one. 0: it is none, as it has no '+' with a solver before it and one behind. -ENOENT, -ENOTUNIQ: a revision is not there; -EINVAL: one of
 * them is a variant, or both are free. */
int combination_parse(struct workspace *w, const char *word, struct combination *ret);
enum combination_held {
        HOST_HELD,
        LIBRARY_HELD
};
/* The solver with that one held, which has a commit. `name`: how it is to be called; NULL: as above. Makes it if need be, and gets the commits that it
 * needs, into the repository of the one that is free. *ret_text: a sentence about it where it was made now, or where it has another recipe than it would
 * be made with now; free(). -ENOENT: the folder is not known; -EEXIST: another solver has its name; -EROFS. */
int combination_solver(struct workspace *w, const struct combination *c, enum combination_held held, const char *name, const struct progress *p,
                       struct solver **ret, char **ret_text);
