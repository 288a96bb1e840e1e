/* The cases: benchmark instances shared by every solver. A case is its bytes: the same bytes twice are one case. Ids are small
 * integers from 1, given once, never reused. The bytes are plain read-only files, <store>/cases/<first two hex>/<sha256>, so that a run
 * can bind them and the mount can hand out their descriptor; the index is in the store.
 *
 * Threads: any. Errors: -ENOENT no such case; -EEXIST the name is taken by other bytes (the sentence names the holder); -EINVAL a name
 * that no file system could show ("", ".", "..", with NUL or longer than 4096; names of several components are kept and shown as nested
 * folders), no bytes at all, or compressed ones; -EILSEQ damaged bytes; -EFBIG; store.h's. */
#pragma once

#include "cache/base/hash.h"
#include "cache/store/store.h"
#include "core/recipe/recipe.h"
#include "core/run/verdict.h"

#define CASE_SIZE_MAX (UINT64_C(1) << 32)

struct cases;

struct case_info {
        unsigned refs;
        uint32_t id;
        /* One question of a script: the whole's id, and its number from 1. Bytes, sha256 and runs are the whole's, of which its facts are worked out
         * (core/run/fact_query.h). 0: it is no question of another case. */
        uint32_t whole, query;
        enum format format;
        bool removed; /* taken out of listings; facts stay */
        bool derived; /* and nobody ever added it: it was made of another case, and can be made again (cases_add_derived()) */
        struct digest sha256;
        uint64_t size;
        int64_t added;       /* seconds */
        char *name;          /* as given; relative, '/' allowed inside; any bytes but NUL */
        char *logic;         /* of (set-logic …), "none" when there is none; "cnf" for DIMACS */
        enum verdict status; /* of the last (set-info :status …), of a comment "c status sat", or as cases_set_status() says; else
                                   VERDICT_UNKNOWN */
        enum verdict *expected; /* one for each check-sat, as the :status before it says */
        size_t n_expected;
};
struct case_info *case_info_unref(struct case_info *c); /* NULL */
struct case_info *case_info_ref(struct case_info *c);
DEFINE_CLEANUP(struct case_info *, case_info_unref)
/* Can somebody name it? A question of a case is in no listing, and can. */
static inline bool case_is_there(const struct case_info *c)
{
        return !c->removed || c->query > 0;
}
/* A copy with that answer, of one that has one question, or none that was counted. */
struct case_info *case_info_with_status(const struct case_info *old, enum verdict status);

/* The digest by which it is found, and what a key has that depends on it: its sha256; of a question of another case one of its own. */
struct digest case_identity(const struct case_info *c);
/* Its question `query`, at most n_expected, as a case without an id of its own: it has the whole's. */
struct case_info *case_info_query(const struct case_info *whole, uint32_t query);

struct cases_tables {
        size_t cases, names, digests;
};
int cases_open(struct store *s, const struct cases_tables *tables, struct cases **ret);
struct cases *cases_close(struct cases *c);

/* Takes the file's whole content. When it returns 0 the bytes and the index are on disk. *ret_id is the new id, or the one that these
 * bytes have (*ret_new false; its first name stays; a removed case comes back). */
int cases_add(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new);
/* Adds a case that no listing shows, as one that was removed: the input of a finding. It can be measured by its id, and takes no name. Bytes that
 * are a case already stay as they are. */
int cases_add_unlisted(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id);
/* The same of bytes that are made of another case, and can be made again. They may be taken away by cases_sweep_derived() until somebody adds them,
 * listed or not. */
int cases_add_derived(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id);
/* cases_add() for what people give: compressed by gzip, xz, bzip2 or zstd it is kept unpacked, under its name without .gz and the like; and
 * what is neither SMT-LIB nor DIMACS, by how it begins, is -EINVAL. */
int cases_add_given(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new);
/* The same in two steps, for a writer that streams (cp into the mount): the temporary file lies in the store's own folder. *ret_shown: it is listed
 * since now, being new or a removed one that came back. The caller unlinks the path unless cases_commit_given() was 0. */
int cases_stage(struct cases *c, int *ret_fd, char ret_path[PATH_SIZE]);
int cases_commit_given(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, bool *ret_shown);
/* How much of a name is that of the unpacked case: all but .gz, .xz, .bz2 or .zst. */
size_t case_unpacked_name(const char *name);
/* Says what the answer to a case is, where it does not say so itself: DIMACS, or SMT-LIB with one check-sat. 1: it is known since now; 0: it
 * was, or nothing is said (VERDICT_UNKNOWN). -EEXIST with a sentence: another one is known. -EINVAL: several check-sat. */
int cases_set_status(struct cases *c, uint32_t id, enum verdict status);
int cases_remove(struct cases *c, uint32_t id);
/* Renames a case, which may change its format. For a writer that wrote it under a temporary name. */
int cases_rename(struct cases *c, uint32_t id, const char *name);

/* The same with an id of its own, for what is kept by ids; found, or added unlisted. -ENOENT with a sentence: it has less questions. */
int cases_query(struct cases *c, const struct case_info *whole, uint32_t query, struct case_info **ret);

int cases_get(struct cases *c, uint32_t id, struct case_info **ret);       /* of a removed one too */
int cases_find(struct cases *c, const char *name, struct case_info **ret); /* by name; not removed ones */
int cases_find_digest(struct cases *c, const struct digest *d, struct case_info **ret);
/* The case here that is this one of another store: of the same bytes, and the same question of them. */
int cases_find_same(struct cases *c, const struct case_info *there, struct case_info **ret);
/* Ids in order, without removed ones; free(). */
int cases_list(struct cases *c, uint32_t **ret_ids, size_t *ret_n);
uint64_t cases_generation(struct cases *c);
/* O_RDONLY descriptor and path of the bytes. Size is checked always, the digest by fsck and before the first run in this process. */
int cases_open_bytes(struct cases *c, const struct case_info *info, int *ret_fd, char ret_path[PATH_SIZE]);
/* The bytes of one of at most `most`; blob_done(). Errors of read_fd(), too. */
int cases_read_bytes(struct cases *c, const struct case_info *info, size_t most, struct blob *ret);
/* Checks every case's bytes against its digest; says each that is wrong. Returns how many were. */
int cases_check(struct cases *c, void (*say)(void *user, const char *line), void *user);

/* Deletes case files that no case owns, left by a crash before they were indexed. *ret_n: how many (with `dry_run`: would be). */
int cases_sweep(struct cases *c, bool dry_run, uint64_t *ret_n, uint64_t *ret_bytes);

/* Derived cases that nobody has a use for, and that were added, or added again, before `before` (seconds). Each is told to `forget` first, whose error ends
 * it; then the case is gone, and its id is never given again. Counts as cases_sweep() does. */
struct derived_sweep {
        bool dry_run;
        int64_t before;
        bool (*is_wanted)(void *user, const struct case_info *info);
        int (*forget)(void *user, const struct case_info *info);
        void *user;
};
int cases_sweep_derived(struct cases *c, const struct derived_sweep *sweep, uint64_t *ret_n, uint64_t *ret_bytes);

/* sat, unsat or unknown, as people write it ("SATISFIABLE", "s UNSATISFIABLE"). -EINVAL. */
int case_status_parse(struct slice text, enum verdict *ret);
/* The logic, the status and the expected answers that a case states. The lexer knows strings, comments and |symbols|. Bytes that are not
 * SMT-LIB have no logic. */
void case_scan(enum format format, struct slice bytes, char **ret_logic, enum verdict *ret_status, enum verdict **ret_expected,
              size_t *ret_n);
/* The lines, from 1, of its questions; *ret is to be freed. */
void case_question_lines(enum format format, struct slice bytes, uint32_t **ret, size_t *ret_n);
/* The number of questions in it: check-sat and check-sat-assuming up to (exit). 0: not known. */
size_t case_questions(enum format format, struct slice bytes);
/* The command that unpacks what is compressed (by its first bytes), or NULL: for what cases_add_given() does not. */
const char *case_unpacker(struct slice head);
/* By name (.smt2, .smt, .cnf, .dimacs) and else by content ("p cnf" line). */
enum format case_format(const char *name, struct slice head);

/* -EINVAL with a sentence: bytes that begin so are neither SMT-LIB nor DIMACS, packed or not. */
int case_check_head(const char *name, struct slice head);
