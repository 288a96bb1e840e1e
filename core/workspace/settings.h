/* The sections [solverfs] and [cluster "NAME"] of a store's config: tables of keys, read as recipes are (gitconfig.h). */
#pragma once

#include "core/remote/cluster.h"

struct settings {
        unsigned cores, queue;
        enum sandbox_kind sandbox;
        uint64_t programs_bound, grace_ns, reduce_ns, fetch_timeout_ns;
        bool ccache;
        unsigned remeasure;         /* percent of the machine that others may use while disturbed results are measured again; 0: never are */
        char **crawlers; /* NULL-terminated; never NULL once read */
        char *runs;      /* where solvers run that say nothing of it: the name of a cluster; NULL: here */
        char *builds;    /* where they are built that say nothing of it, in the same words */
        struct cluster_settings *clusters;
        size_t n_clusters;
};

/* A missing setting has its default. Errors name file (`path`), line and key. *ret needs no settings_done() after one. */
int settings_parse(struct slice text, const char *path, struct settings *ret);
void settings_done(struct settings *s);
