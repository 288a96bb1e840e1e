/* The cases: benchmark instances shared by every solver. A case is its bytes: the same bytes twice are one case. Ids are small integers from 1, given
 * once, never reused. The bytes are plain read-only files, <store>/cases/<first two hex>/<sha256>, so that a run can bind them and the mount can hand
 * out their descriptor; the index is in the store. A name of several components is shown as nested folders.
 *
 * Threads: any. Errors: -ENOENT: no such case; -EEXIST: the name is taken by other bytes (the sentence names the holder); -EINVAL: a name that no
 * file system could show (longer than 4096, or with a component that is "", "." or ".." or longer than 255), no bytes, or compressed bytes; -EILSEQ:
 * damaged bytes; -EFBIG; those of store.h. */
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
        /* Set if the case is one question of a script: the id of the whole script, and the question's number from 1; else 0. Bytes, sha256 and runs
         * are the whole's; the question's facts are derived from them (core/run/fact_query.h). */
        uint32_t whole, query;
        bool whole_is_removed; /* of a question; `removed` is always set for one */
        enum format format;
        bool removed; /* taken out of listings; facts stay */
        bool derived; /* only with `removed`: nobody added it; it was made from another case, and can be made again (cases_add_derived()) */
        bool unnamed; /* only with `removed`: nobody chose its name; cases_add() gives it another */
        struct digest sha256;
        uint64_t size;
        int64_t added;       /* seconds */
        int64_t status_set;  /* seconds; the last cases_set_status(); 0: never */
        char *name;          /* as given; relative, '/' allowed inside; any bytes but NUL */
        char *logic;         /* of (set-logic …), "none" if there is none; "cnf" for DIMACS */
        enum verdict status; /* the answer expected to the last question, which decides a run's verdict; without questions, the last status stated */
        enum verdict *expected; /* the answer expected to each question, from a :status since the question before, a comment "c status sat", or
                                   cases_set_status(); else VERDICT_UNKNOWN */
        size_t n_expected;
};
DECLARE_REFS(case_info)
/* True if a person can name the case. A question of a listed case is in no listing, but can be named. */
static inline bool case_is_there(const struct case_info *c)
{
        return c->query > 0 ? !c->whole_is_removed : !c->removed;
}
/* A copy with that status, set at that time, of a case with at most one question. */
struct case_info *case_info_with_status(const struct case_info *old, enum verdict status, int64_t set);

/* The digest by which the case is found, and which stands for it in keys: its sha256, or a digest of its own if it is a question of a script. */
struct digest case_identity(const struct case_info *c);
/* The whole's question `query`, at most n_expected, as a case that has the whole's id instead of its own. */
struct case_info *case_info_query(const struct case_info *whole, uint32_t query);

struct cases_tables {
        size_t cases, names, digests; /* numbers of the store's tables */
};
int cases_open(struct store *s, const struct cases_tables *tables, struct cases **ret);
struct cases *cases_close(struct cases *c);

/* Adds the file's whole content. After 0 the bytes and the index are on disk. *ret_id: the new id, or that of the case with these bytes (*ret_new
 * false; its first name stays; a removed case comes back). */
int cases_add(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new);
/* Adds a case that no listing shows, like a removed one: the input of a finding. It can be measured by its id; its name stays free for others. If the
 * bytes are a case already, *ret_id is that case's. */
int cases_add_unlisted(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id);
/* The same for bytes that were made from another case, and can be made again. cases_sweep_derived() may drop them until they are added in another way,
 * listed or not. */
int cases_add_derived(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id);
/* cases_add() for files given by people. A file compressed by gzip, xz, bzip2 or zstd is kept unpacked, under its name without .gz and the like.
 * -EINVAL: the file begins like neither SMT-LIB nor DIMACS. */
int cases_add_given(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new);
/* The same in two steps, for a writer that streams (cp into the mount): the temporary file is in the store's folder. *ret_shown: the case is newly
 * listed, being new or a removed one that came back. The caller unlinks the path unless cases_commit_given() returned 0. */
int cases_stage(struct cases *c, int *ret_fd, char ret_path[PATH_SIZE]);
int cases_commit_given(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, bool *ret_shown);
/* The length of the unpacked case's name: all but .gz, .xz, .bz2 or .zst. */
size_t case_unpacked_name(const char *name);
/* Sets or replaces the status of a case whose bytes state none; VERDICT_UNKNOWN takes it away. 1: the status has changed; 0: the case had it already.
 * -EEXIST with a sentence: the case's bytes state another one. -EINVAL: the case has several questions. */
int cases_set_status(struct cases *c, uint32_t id, enum verdict status);
int cases_remove(struct cases *c, uint32_t id);
/* Renames a case. -EINVAL also if the name's ending is of another format than the bytes. For writers that use a temporary name first. */
int cases_rename(struct cases *c, uint32_t id, const char *name);

/* Finds a question of a case, or adds it unlisted: it then has an id of its own, for results kept by id. -ENOENT with a sentence: there is no such
 * question. */
int cases_query(struct cases *c, const struct case_info *whole, uint32_t query, struct case_info **ret);

int cases_get(struct cases *c, uint32_t id, struct case_info **ret);       /* removed ones, too */
int cases_find(struct cases *c, const char *name, struct case_info **ret); /* by name; not removed ones */
int cases_find_folder(struct cases *c, const char *path);                  /* 0: listed cases have names below this path; -ENOENT */
int cases_find_digest(struct cases *c, const struct digest *d, struct case_info **ret);
/* The case here that equals a case of another store: the same bytes, and the same question of them. */
int cases_find_same(struct cases *c, const struct case_info *there, struct case_info **ret);
/* Ids in order, without removed ones; free(). */
int cases_list(struct cases *c, uint32_t **ret_ids, size_t *ret_n);
uint64_t cases_generation(struct cases *c); /* changes with each change that listings show */
/* An O_RDONLY descriptor and, unless ret_path is NULL, the path of the bytes. Always checks the size; checks the digest when this process first opens
 * the case. */
int cases_open_bytes(struct cases *c, const struct case_info *info, int *ret_fd, char ret_path[PATH_SIZE]);
/* Checks the bytes of a derived case that is about to be used, and has them kept for as long as those of one that is added now. */
int cases_renew(struct cases *c, const struct case_info *info);
/* The bytes of a case; blob_done(). -EFBIG: more than `most`. */
int cases_read_bytes(struct cases *c, const struct case_info *info, size_t most, struct blob *ret);
/* Checks every case's bytes against its digest; `say` (may be NULL) gets a line for each wrong one. Returns the number of wrong ones, or -errno. */
int cases_check(struct cases *c, void (*say)(void *user, const char *line), void *user);

/* Deletes case files that no case owns, left by a crash before they were indexed. *ret_n: their number; with `dry_run` nothing is deleted. */
int cases_sweep(struct cases *c, bool dry_run, uint64_t *ret_n, uint64_t *ret_bytes);

/* Drops derived cases that are not wanted and were last added or renewed `seconds` ago or more. `forget` is called for each first; its error ends the
 * sweep. The id of a dropped case is never given again. Counts as cases_sweep() does. */
struct derived_sweep {
        bool dry_run;
        int64_t seconds;
        bool (*is_wanted)(void *user, const struct case_info *info);
        int (*forget)(void *user, const struct case_info *info);
        void *user;
};
int cases_sweep_derived(struct cases *c, const struct derived_sweep *sweep, uint64_t *ret_n, uint64_t *ret_bytes);

/* Parses sat, unsat or unknown as people write it ("SATISFIABLE", "s UNSATISFIABLE"). -EINVAL: anything else. */
int case_status_parse(struct slice text, enum verdict *ret);
/* The logic, the status and the expected answers that a case states. The lexer knows strings, comments and |symbols|. Bytes that are not
 * SMT-LIB have no logic. */
void case_scan(enum format format, struct slice bytes, char **ret_logic, enum verdict *ret_status, enum verdict **ret_expected,
              size_t *ret_n);
enum verdict case_status(enum format format, struct slice bytes); /* the status alone, as of struct case_info */
/* The lines, from 1, of a case's questions; free(*ret). */
void case_question_lines(enum format format, struct slice bytes, uint32_t **ret, size_t *ret_n);
/* The line, from 1, of a command that the text does not close: it hides the questions behind it. 0: there is none. */
size_t case_open_line(enum format format, struct slice bytes);
/* The number of a case's questions: commands up to (exit) that ask (command_name_asks()). DIMACS: 1 if a comment states the answer. 0: not known. */
size_t case_questions(enum format format, struct slice bytes);
/* The command that unpacks a file of this beginning, also for forms that cases_add_given() does not unpack; NULL: not compressed. */
const char *case_unpacker(struct slice head);
#define CASE_HEAD_MOST ((size_t)1 << 20) /* bytes of a file that decide which format it has */
/* The format by name (.smt2, .smt, .cnf, .dimacs), else by content (a "p cnf" line); `head`: so many bytes, or the whole file. */
enum format case_format(const char *name, struct slice head);

/* -EINVAL with a sentence: the file begins like neither SMT-LIB nor DIMACS. 0 also if it is empty or compressed. */
int case_check_head(const char *name, struct slice head);
