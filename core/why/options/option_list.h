/* Reads a solver's options from the list that it prints. These forms are read, line by line, and may be mixed:
 *
 *     arith.solver (unsigned int) arithmetic solver: 0 - no … (default: 6)     z3 -pd; [module] smt, description: … gives the prefix smt.
 *     --elimrounds=1..512        usual number of rounds [2]                    cadical --help, kissat --help
 *     eliminateint 10 500 1000000000                                           kissat --range
 *     -rnd-freq     = <double> [   0 ..    1] (default: 0)                     minisat --help
 *     -luby, -no-luby                         (default: on)
 *     --nl-ext=MODE              … (default is "full", see --nl-ext=help)      cvc5 --help; [*] marks what has a --no-…
 *     --bv-solver <M>   [bitblast]   … {bitblast, prop, preprop}               bitwuzla --help
 *     --[no-]block, -b {a,b,c}, --x=a|b|c                                      and what most other libraries print
 *
 * An option without another value to try is skipped: a file name, or a flag that cannot be switched off. Pure: any thread. */
#pragma once

#include "cache/base/util.h"

#define OPTION_LIST_MOST 10000 /* the rest of a longer list is skipped */

struct option {
        enum {
                OPTION_BOOL,
                OPTION_INT,
                OPTION_REAL,
                OPTION_ENUM
        } type;
        char *name;        /* "smt.arith.solver", "elimrounds": without dashes */
        char *set;         /* the text before a value: "smt.arith.solver=", "--elimrounds="; with `off`, the word that switches on: "--block" */
        char *off;         /* the word that switches a bool off: "--no-block"; NULL: a value follows `set` */
        char *value;       /* the default, in the list's words; NULL: not known */
        double low, high;  /* the range of a number; NaN: not known */
        char **values;     /* of an enum, or of a number with listed values; NULL-terminated, never NULL */
        bool asks_modes;   /* the solver prints the values if it is run with `set` and "help": option_read_modes() */
        bool is_of_search; /* it may change the search; false by a name like "seed", "timeout", "dump_models", "verbosity" */
};
struct option_list {
        struct option *list;
        size_t n;
        size_t passed_over; /* options without another value, or named twice */
        size_t unread;      /* lines that begin like an option and cannot be read */
};
void option_list_done(struct option_list *l);

/* Reads any bytes; without an option in them the list is empty. */
void option_list_read(struct slice text, struct option_list *ret);
/* Reads the modes of an enum, as cvc5 prints them: "+ name" at the beginning of a line, "(default)" after one of them. */
void option_read_modes(struct option *o, struct slice text);
/* By name; NULL: there is none. */
const struct option *option_list_find(const struct option_list *l, const char *name);

/* True if two versions have different defaults; false if one is not known. */
bool option_differs(const struct option *a, const struct option *b);
/* The values worth trying besides the option's default, most plausible first; NULL-terminated, strings_free(). First the default of `reference`, the
 * other version's option (or NULL). Then each other value; for a number without listed values 0, half, twice, 1, least, greatest. */
char **option_values(const struct option *o, const struct option *reference);
/* Appends the command-line word that sets an option, quoted for a shell: "smt.arith.solver=2", "--no-block". */
void option_add_argument(const struct option *o, const char *value, struct buffer *to);

/* True if a changed line of a patch names the option, with or without its module, or if the option's name begins with that of a changed file.
 * "nl-ext-tplanes", "nlExtTplanes" and "nl_ext_tplanes" are one name. `patch`: from option_read_patch(). */
bool option_is_in_patch(const struct option *o, const char *patch);
void option_read_patch(struct slice patch, struct buffer *ret); /* appends the text for option_is_in_patch() */
