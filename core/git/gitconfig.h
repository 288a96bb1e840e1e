/* git-config text, with what libgit2 does not tell: on which line an entry stands, and where in the text.
 *
 * The reading here also catches what git-config silently does to shell text: an unquoted `;` or `#` cuts the value off (`build = ./configure; make`
 * is `./configure`). In sections the caller wants, a `;` outside quotes is refused, and `#` is a comment only after a blank. Values that libgit2
 * reads in another way are refused, too (the test compares both over random texts): the comment in `"a\\" # b` is none for libgit2 1.5.
 *
 * Owned by the caller; not shared between threads while being made. */
#pragma once

#include "cache/base/util.h"

struct gitconfig_entry {
        char *key;   /* lower case */
        char *value; /* NULL: the key stands alone, without '=' */
        unsigned line;
        bool lost_quotes; /* double quotes that are not around the whole value: the value lacks them */
};

struct gitconfig_section {
        char *name;       /* lower case */
        char *subsection; /* NULL when there is none */
        unsigned line;
        size_t begin, end; /* in the text: from the start of the header's line to behind the last entry's */
        size_t body;       /* behind the header's bracket */
        struct gitconfig_entry *entries;
        size_t n_entries;
};

struct gitconfig {
        struct gitconfig_section *sections; /* as they stand; one name may come again */
        size_t n_sections;
};

/* `label` names the text in messages ("kissat.recipe:7: …"). `wanted` NULL: no section is. Includes are not followed: an [include] is refused, wanted or
 * not. -EINVAL, with every mistake. */
int gitconfig_parse(const char *label, struct slice text, bool (*wanted)(const char *section), struct gitconfig *ret);
void gitconfig_done(struct gitconfig *g);
#define cleanup_gitconfig cleanup(gitconfig_done)

/* Mistakes in a text, of which all are to be told: the sentences, a line each. */
struct mistakes {
        struct buffer lines;
        unsigned n;
};
void mistakes_done(struct mistakes *m);
/* Takes the sentence of an error `r`; 0 is none. */
void mistakes_note(struct mistakes *m, int r);
/* 0 when there were none, else -EINVAL with all of them; the last of very many are only counted. */
int mistakes_end(const struct mistakes *m);

/* Appends a value so that git, libgit2 and gitconfig_parse() read back the same bytes: quoted when it has to be. */
void gitconfig_quote(struct buffer *b, const char *value);
/* A line with such a value, behind `indent`. */
void gitconfig_line(struct buffer *b, const char *indent, const char *key, const char *value);
