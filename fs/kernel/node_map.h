/* Files whose value changed while they were open.
 *
 * A reader that has such a file open reads the value it opened to the end, as with a file that was replaced by rename. The value is in its
 * handle, but the kernel keeps pages and a size for each node, and those can belong to one value only. So the name gets another node: another
 * number by which the kernel knows it (st_ino stays). Only such files are in the map; the number of a node that the kernel has forgotten is used
 * again. Threads: any. */
#pragma once

#include "fs/tree/inode.h"

struct node_map;

struct node_map *node_map_new(void);
void node_map_free(struct node_map *m);

/* The current node of a name with this inode number. */
uint64_t node_map_node(struct node_map *m, uint64_t ino);
/* The inode number of a node. */
uint64_t node_map_ino(struct node_map *m, uint64_t node);
/* The same for a lookup by the kernel, which knows the node until node_map_forget() was called as often. */
uint64_t node_map_hold(struct node_map *m, uint64_t ino);
void node_map_forget(struct node_map *m, uint64_t node, uint64_t times);
/* Gives the name of this node another node, unless the name already has another, or the kernel does not know this one. */
void node_map_move(struct node_map *m, uint64_t node);
