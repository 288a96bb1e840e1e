/* Parser of git-config text. Unlike libgit2's, it gives each entry's line and place in the text.
 *
 * It also catches what git-config silently does to shell text: an unquoted `;` or `#` cuts the value off (`build = ./configure; make` becomes
 * `./configure`). In wanted sections, a `;` outside quotes is refused, and `#` begins a comment only after a blank. Values that libgit2 reads
 * differently are refused, too (a test compares both on random texts): for libgit2 1.5 the comment in `"a\\" # b` is not one.
 *
 * Owned by the caller; not shared between threads while being made. */
#pragma once

#include "cache/base/util.h"

struct gitconfig_entry {
        char *key;   /* lower case */
        char *value; /* NULL: a key without '=' */
        unsigned line;
        bool lost_quotes; /* the text had double quotes inside the value, which parsing removed */
};

struct gitconfig_section {
        char *name;       /* lower case */
        char *subsection; /* NULL: none */
        unsigned line;
        size_t begin, end; /* in the text: from the start of the header's line to the end of the last entry's */
        size_t body;       /* behind the header's bracket */
        struct gitconfig_entry *entries;
        size_t n_entries;
};

struct gitconfig {
        struct gitconfig_section *sections; /* in the text's order; names may repeat */
        size_t n_sections;
};

/* `label` names the text in messages ("kissat.recipe:7: …"). `wanted` may be NULL: no section is wanted. An [include] is always refused. -EINVAL with
 * every mistake. */
int gitconfig_parse(const char *label, struct slice text, bool (*wanted)(const char *section), struct gitconfig *ret);
void gitconfig_done(struct gitconfig *g);
#define cleanup_gitconfig cleanup(gitconfig_done)

/* Collects the mistakes in a text, to report them all: sentences, a line each. */
struct mistakes {
        struct buffer lines;
        unsigned n;
};
void mistakes_done(struct mistakes *m);
/* Adds the sentence of an error `r`; 0 adds nothing. */
void mistakes_note(struct mistakes *m, int r);
/* 0 if there were none, else -EINVAL with all of them; of very many, the last are only counted. */
int mistakes_end(const struct mistakes *m);

/* Appends a value, quoted if necessary, so that git, libgit2 and gitconfig_parse() read back the same bytes. */
void gitconfig_quote(struct buffer *b, const char *value);
/* Appends a line with `indent`, the key and such a value. */
void gitconfig_line(struct buffer *b, const char *indent, const char *key, const char *value);
