/* Strings of code points 0 .. 0x2FFFF, interned: equal strings have equal addresses. */
#pragma once
#include "util.h"
#include <stdio.h>

#define USTR_MAX_CHAR 0x2FFFF

struct ustr {
        uint32_t len, hash;
        const struct ustr *next;
        uint32_t c[];
};

struct ustr_table {
        const struct ustr **bucket; /* owned; entries are in the arena */
        size_t n, nbuckets;
};

const struct ustr *ustr_get(struct ustr_table *t, struct arena *a, const uint32_t *c, size_t len);
/* The first place at or after `from` where s contains t, or -1; from < 0: -1. */
int64_t ustr_find(const struct ustr *s, const struct ustr *t, int64_t from);
void ustr_table_free(struct ustr_table *t);

/* Prints an SMT-LIB 2.6 string literal; everything that is not plain is escaped. */
void ustr_print(FILE *f, const struct ustr *s);
