/* Single numbers in TABLE_META; 0: there is none. Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

uint64_t meta_number(struct workspace *w, const char *key);
uint64_t meta_number_in(struct store_txn *t, const char *key);
int meta_number_put(struct store_txn *t, const char *key, uint64_t n);
