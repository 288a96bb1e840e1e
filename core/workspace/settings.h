/* The sections [solverfs] and [cluster "NAME"] of a store's config: tables of keys, read as recipes are (gitconfig.h). */
#pragma once

#include "core/remote/cluster.h"

struct settings {
        unsigned cores, queue; /* 0: not set */
        enum sandbox_kind sandbox;
        uint64_t programs_bound, grace_ns, reduce_ns, fetch_timeout_ns; /* of programs_open(), engine_options, a reduction, a server's silence */
        bool ccache;
        unsigned remeasure; /* percent of the machine that others may use during re-measurements of disturbed results; 0: none are done */
        char **crawlers; /* names of processes whose reads start no work, such as updatedb; NULL-terminated; never NULL once read */
        char *runs;      /* the place where solvers without `runs` run: the name of a cluster; "local" or NULL: here */
        char *builds;    /* where solvers without `builds` are built; likewise */
        struct cluster_settings *clusters;
        size_t n_clusters;
};

/* A missing setting has its default. Errors name file (`path`), line and key, or (without a line) the cluster that is missing or lacks `launch`. After
 * an error *ret needs no settings_done(). */
int settings_parse(struct slice text, const char *path, struct settings *ret);
void settings_done(struct settings *s);
