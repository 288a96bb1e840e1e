/* Baselines that the localizer is compared with. `paper` is Algorithm 2 of "Demystifying Performance Regressions in String Solvers" (one run each;
 * nearer than a third of the range's own difference to an end is like that end; near neither goes into both halves), `git-bisect` is one bisection a
 * case that calls a run bad from half way between the ends on. Both step aside to the nearest commit that builds, and do not verify. */
#pragma once

#include "core/study/localize/localize.h"

void plan_paper(struct localize *l);
void plan_git_bisect(struct localize *l);

/* As the tables name them; for the option `plan`. */
static const struct {
        const char *name;
        void (*plan)(struct localize *l);
} localize_methods[] = {{"default", NULL}, {"paper", plan_paper}, {"git-bisect", plan_git_bisect}};
