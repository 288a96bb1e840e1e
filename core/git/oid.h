/* Texts of object ids, and their comparison. libgit2 has the same functions; these do not load it, which takes 7 ms of a command (tools/delayed.h).
 * For any thread. */
#pragma once

#include <git2.h>
#include <string.h>

#include "cache/base/util.h"

/* The 40 hex digits, in a buffer of the thread: valid until its next call. */
const char *oid_text(const git_oid *oid);
/* Writes the 40 digits, or as many as fit, and a NUL into `ret` of `size` bytes. Returns `ret`. */
char *oid_print(char *ret, size_t size, const git_oid *oid);
/* Reads `n` hex digits, at most 40; the rest of *ret is zero. What follows is not looked at. -EINVAL: they are not all hex digits. */
int oid_parse_prefix(const char *hex, size_t n, git_oid *ret);
static inline int oid_parse(const char *hex, git_oid *ret)
{
        return oid_parse_prefix(hex, GIT_OID_HEXSZ, ret);
}
static inline bool oid_equal(const git_oid *a, const git_oid *b)
{
        return memcmp(a->id, b->id, GIT_OID_RAWSZ) == 0;
}
static inline bool oid_is_zero(const git_oid *oid)
{
        return oid_equal(oid, &(git_oid){0});
}

/* A set. */
struct oid_set {
        git_oid *list; /* a hash table; a zero id: no entry */
        size_t n, room;
};
bool oid_set_add(struct oid_set *s, const git_oid *oid); /* false: it was there */
void oid_set_done(struct oid_set *s);
