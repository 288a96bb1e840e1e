/* A solver's options, from the list that it prints of them. These forms are read, line by line, and may stand mixed:
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
 * Names of files, and flags that cannot be taken back, have no other value and are passed over. Pure: any thread. */
#pragma once

#include "cache/base/util.h"

#define OPTION_LIST_MOST 10000 /* of a longer list the rest is passed over */

struct option {
        enum {
                OPTION_BOOL,
                OPTION_INT,
                OPTION_REAL,
                OPTION_ENUM
        } type;
        char *name;        /* "smt.arith.solver", "elimrounds": without dashes */
        char *set;         /* what comes before a value: "smt.arith.solver=", "--elimrounds="; of a bool with `off` all: "--block" */
        char *off;         /* "--no-block"; NULL: "=true", "=false" */
        char *value;       /* the default, in the list's words; NULL: not known */
        double low, high;  /* NaN: not known */
        char **values;     /* of an enum, or of a number each value of which has a meaning; NULL-terminated, never NULL */
        bool asks_modes;   /* its values are in what `set` with "help" prints: option_read_modes() */
        bool is_of_search; /* false by its name: "seed", "timeout", "dump_models", "verbosity" */
};
struct option_list {
        struct option *list;
        size_t n;
        size_t passed_over; /* options without another value, or named twice */
        size_t unread;      /* lines that begin like an option and cannot be read */
};
void option_list_done(struct option_list *l);

/* Any bytes are a list, perhaps an empty one. */
void option_list_read(struct slice text, struct option_list *ret);
/* The modes of an enum, as cvc5 prints them: "+ name" at the beginning of a line, "(default)" behind one of them. */
void option_read_modes(struct option *o, struct slice text);
/* By name; NULL: there is none. */
const struct option *option_list_find(const struct option_list *l, const char *name);

/* Do two versions have different defaults? False where one is not known. */
bool option_differs(const struct option *a, const struct option *b);
/* The values other than its default that are worth a try, most plausible first, NULL-terminated, strings_free(): the default of `reference` (another
 * version's, or NULL); then the other value of a bool, each other value of an enum; of a number 0, half, twice, 1, least and greatest. */
char **option_values(const struct option *o, const struct option *reference);
/* Appends the word of a command line that sets it, quoted for a shell: "smt.arith.solver=2", "--no-block". */
void option_add_argument(const struct option *o, const char *value, struct buffer *to);

/* Is it named by a line of a patch, with or without its module, or does its name begin with that of a changed file? "nl-ext-tplanes", "nlExtTplanes" and
 * "nl_ext_tplanes" are one name. `patch`: by option_read_patch(). */
bool option_belongs(const struct option *o, const char *patch);
void option_read_patch(struct slice patch, struct buffer *ret);
