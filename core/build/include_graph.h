/* The translation units that a change makes a build compile again, found by reading #include lines and building nothing.
 *
 * A unit is a file that ends in .c, .cc, .cpp, .cxx or .C; where a tree has none, every file counts as one. An #include names each file whose path
 * ends in its name, so the folders that the build searches need not be known; where several files end alike, all are meant. Files that the build
 * generates, and conditions around an #include, are not looked at: the count is an expectation for planning, never a reason to build less.
 *
 * Reading a tree costs about its files' size in memory traffic (a second for 30 MB, inflated), a count some hundred microseconds.
 * Threads: any, once it is made. */
#pragma once

#include "core/build/manifest.h"

struct include_graph;
/* Reads the graph of a manifest's files (checkout_list()) from their blobs in `git`. A blob that is not there is taken as empty. 0 or -ENOMEM. */
int include_graph_new(git_repository *git, const struct manifest *files, struct include_graph **ret);
struct include_graph *include_graph_free(struct include_graph *g); /* NULL */
DEFINE_CLEANUP(struct include_graph *, include_graph_free)

size_t include_graph_units(const struct include_graph *g);
/* The units that differ between the two manifests, or that include, over any number of steps, a file that does. -ENOMEM. */
int include_graph_changed(const struct include_graph *g, const struct manifest *from, const struct manifest *to, size_t *ret);
