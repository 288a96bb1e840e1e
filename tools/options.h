/* The options of a command. Each is a row: its name, its line in --help, and the variable it sets. */
#pragma once

#include <argp.h>

#include "cache/base/util.h"

/* The words of a command line other than options and their arguments. */
struct words {
        char **list; /* NULL-terminated */
        size_t n;
};

struct command_option {
        const char *name;     /* "json": --json; NULL: only a letter */
        char letter;          /* 'j': -j; 0: only a name */
        const char *argument; /* as --help names it; NULL: none */
        const char *help;

        /* One of these is the variable it sets. A wrong argument ends the process with a message. */
        bool *on, *off;       /* set to true; to false */
        const char **text;    /* the argument */
        const char **file;    /* the same, for command_write_file() in the end: refused at once if it cannot be written */
        struct words *each;   /* the arguments of an option that may be repeated; free() the list */
        unsigned *number;     /* in [least, most] */
        uint64_t *big_number; /* the same */
        uint64_t least, most;
        uint64_t *ns;         /* a duration that is greater than zero */
        double *seconds;      /* the same */
        double *ratio;        /* from 1 to a million */
        unsigned *choice;     /* index of the word in `argument`, "wall|cpu", from 0 */
        void (*parse)(void *to, const char *text); /* for other arguments; it calls command_usage() for wrong ones */
        void *to;

        bool *is_given; /* also set to true; may be NULL */
        bool is_alias;  /* another name of the row before */
        bool is_other_use; /* if this option is given, words of `arguments` may be missing */
        const char *excludes; /* the name of an option that may not be given with this one */
        const char *why;      /* begins the message about the two; may be NULL */
};

/* Rows shared by many commands. */
#define OPTION_JSON(help)       {"json", 'j', NULL, help, .on = &common.json}
#define OPTION_ON(text_)        {"on", 0, "NAME", "Run there: 'local', or a cluster of the store's config", .text = &(text_), \
                                 .excludes = "machine", .why = "nothing is run with --machine"}
#define OPTION_TIMEOUT(ns_)     {"timeout", 't', "T", "Another time limit than the recipe's: 500ms, 20s, 10m", .ns = &(ns_)}
#define OPTION_FROM(text_)      {"from", 'f', "REV", "Begin here; the first commit unless given", .text = &(text_)}
#define OPTION_TO(text_)        {"to", 'o', "REV", "End here; HEAD unless given", .text = &(text_)}
#define OPTION_SEED(n, given, help) {"seed", 's', "N", help, .big_number = &(n), .most = UINT32_MAX, .is_given = &(given)}

/* The options of a command whose only one is --json. */
extern const struct command_option options_json[];

/* Parses a command's words, including --store, --wait, -q and -v. Ends the process on --help and on wrong usage (status 2). `arguments` and `doc` are
 * argp's args_doc and doc; `options` ends with {0} and may be NULL. Returns the words; a command whose `arguments` is NULL or "" takes none. If
 * `arguments` is one line without options, "NAME [CASE...]", the number of words is checked: those in brackets may be missing, "..." allows more. */
struct words command_parse(int argc, char **argv, const char *arguments, const char *doc, const struct command_option *options);
/* The same for a command of subcommands: parses up to the name of one; options behind it are its own. Returns the name's index; argc: none. */
int command_parse_level(int argc, char **argv, const char *doc);
/* Prints what is wrong with the words and where help is; ends the process. */
_Noreturn void command_usage(const char *format, ...) printf_like(1, 2);

/* Removes and returns the first word; NULL: there is none. */
char *word_next(struct words *w);
/* Adds a word to a list; free() the list. */
void words_add(struct words *w, char *word);

/* For rows with their own parser; `what`: the option as typed, "--pairs". */
uint64_t command_number(const char *what, const char *text, uint64_t least, uint64_t most);
uint64_t command_duration(const char *what, const char *text); /* greater than zero, in nanoseconds */
