/* Files whose value became another one while somebody held them open.
 *
 * Who holds a file open goes on reading what it opened, to the end, as with a file that was replaced by another of its name: what it reads
 * is in its handle, but the kernel keeps pages and a size for each node, and those can be of one value only. So the name gets another node:
 * the number the kernel knows it by (not st_ino, which stays). Only such files are in here, for as long as the mount lives. Threads: any. */
#pragma once

#include "fs/tree/inode.h"

struct node_map;

int node_map_new(struct node_map **ret);
struct node_map *node_map_free(struct node_map *m);

/* The node that a name with this inode number has now. */
uint64_t node_map_node(struct node_map *m, uint64_t ino);
/* The inode number of a node. */
uint64_t node_map_ino(struct node_map *m, uint64_t node);
/* The name is to have another node than this one, unless it has already. */
int node_map_on(struct node_map *m, uint64_t node);
