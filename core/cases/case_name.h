/* The names of cases, which are paths: a name is taken once, and none is another's folder. Part of cases.c; all but the check is in the
 * caller's transaction. */
#pragma once

#include "cache/store/store.h"

int case_name_check(const char *name); /* -EINVAL: no file system could show it */
int case_name_find(struct store_txn *t, size_t table, const char *name, uint32_t *ret); /* -ENOENT without a sentence */
/* 0: free. -EEXIST: taken, as a case or as a folder, or a folder on its way is a case. */
int case_name_is_free(struct store_txn *t, size_t table, const char *name);
int case_name_take(struct store_txn *t, size_t table, const char *name, uint32_t id);
int case_name_release(struct store_txn *t, size_t table, const char *name);
