/* Checks files given as cases, and unpacks those that are compressed, as benchmark libraries are. Part of cases.c. */
#pragma once

#include "core/cases/cases.h"

/* gzip, xz, bzip2 or zstd, by the first bytes. */
bool case_is_packed(struct slice head);
/* -EINVAL: damaged; -EFBIG: more than a case may have, of which nothing is kept. */
int case_unpack(const char *name, int from, int to);
/* -EINVAL: neither SMT-LIB nor DIMACS, by how it begins. */
int case_check_text(const char *name, int fd);
