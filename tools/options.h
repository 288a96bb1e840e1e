/* The options of a command, a row each: how it is written, what --help says of it, and what it sets. */
#pragma once

#include <argp.h>

#include "cache/base/util.h"

/* The words of a command line that are no options, and no option's argument. */
struct words {
        char **list; /* NULL behind the last */
        size_t n;
};

struct command_option {
        const char *name;     /* "json": --json; NULL: it has a letter alone */
        char letter;          /* 'j': -j; 0: it has a name alone */
        const char *argument; /* as --help names it; NULL: it takes none */
        const char *help;

        /* The variable that it sets, one of these. A wrong argument ends the process with a sentence. */
        bool *on, *off;       /* true; false */
        const char **text;    /* the argument */
        struct words *each;   /* all arguments, as it may be repeated; free() its list */
        unsigned *number;     /* in [least, most] */
        uint64_t *big_number; /* the same */
        uint64_t least, most;
        uint64_t *ns;         /* a duration that is greater than zero */
        double *seconds;      /* the same */
        double *ratio;        /* from 1 to a million */
        unsigned *choice;     /* which one of the words in `argument`, "wall|cpu", beginning from 0 */
        void (*parse)(void *to, const char *text); /* what no other says; it calls command_usage() */
        void *to;

        bool *is_given; /* set to true, beside one of the others; may be NULL */
        bool is_alias;  /* another name of the row before */
        bool is_other_use; /* with it the command takes other words than its `arguments` say */
};

/* Rows that many commands have in the same words. */
#define OPTION_JSON(help)       {"json", 'j', NULL, help, .on = &common.json}
#define OPTION_ON(text_)        {"on", 0, "NAME", "Run there: 'local', or a cluster of the store's config", .text = &(text_)}
#define OPTION_TIMEOUT(ns_)     {"timeout", 't', "T", "Another time limit than the recipe's: 500ms, 20s, 10m", .ns = &(ns_)}
#define OPTION_FROM(text_)      {"from", 'f', "REV", "Begin here; the first commit unless given", .text = &(text_)}
#define OPTION_TO(text_)        {"to", 'o', "REV", "End here; HEAD unless given", .text = &(text_)}
#define OPTION_SEED(n, given, help) {"seed", 's', "N", help, .big_number = &(n), .most = UINT32_MAX, .is_given = &(given)}

/* The options of a command that has --json alone. */
extern const struct command_option options_json[];

/* Parses a command's words, with --store, --wait, -q and -v among them; ends the process on --help and on wrong usage (status 2). `arguments` and
 * `doc` are argp's args_doc and doc; `options` ends with {0} and may be NULL. Returns the words; none are taken where `arguments` is NULL or "". Where it
 * is one line of words, such as "NAME [CASE...]", it also says how many there must be: brackets hold those that may be missing, "..." means any number
 * more. */
struct words command_parse(int argc, char **argv, const char *arguments, const char *doc, const struct command_option *options);
/* The same for a level that only looks for the next word: options behind it are not its own. Returns the word's index; argc: there is none. */
int command_parse_level(int argc, char **argv, const char *doc);
/* Says what is wrong with the words, and where help is; ends the process. */
_Noreturn void command_usage(const char *format, ...) printf_like(1, 2);

/* Takes the first word off; NULL when there is none. */
char *word_next(struct words *w);
/* Adds one to a list that is free()d. */
void words_add(struct words *w, char *word);

/* For rows that parse by themselves; `what` as the user typed it, "--pairs". */
uint64_t command_number(const char *what, const char *text, uint64_t least, uint64_t most);
uint64_t command_duration(const char *what, const char *text); /* greater than zero, in nanoseconds */
