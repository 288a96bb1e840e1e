/* Shared by tests of runs. */
#pragma once

#include <dirent.h>

#include "core/recipe/recipe.h"

/* A recipe by hand; `run` is the command line. */
static inline struct recipe toy_recipe(const char *run, unsigned samples)
{
        static char *none[] = {NULL};

        return (struct recipe){
                .refs = 1,
                .name = (char *)"toy",
                .format = FORMAT_SMT2,
                .paths = none,
                .build = none,
                .outputs = none,
                .effort = none,
                .environment = none,
                .run = (char *)run,
                .samples = samples,
        };
}

static inline unsigned count_descriptors(void)
{
        DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        while (readdir(d))
                n++;
        closedir(d);
        return n;
}
