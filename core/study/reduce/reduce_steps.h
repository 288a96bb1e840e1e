/* Shared by the files of the steps of a script. Each step parses the current text anew (script_state) and makes candidates from it: what is reduced
 * further is the very text that was tested. A command that a step leaves alone keeps its bytes. Errors of all steps include REDUCE_WITHDRAWN and
 * -ETIME (reduce_internal.h). */
#pragma once

#include "core/study/reduce/reduce_internal.h"

struct script_state {
        struct buffer text; /* the current text; the spans point into it */
        struct script *script;
        struct term_list constants; /* declared before the first term, outside of any push */
        struct term_list fresh;     /* new constants, not declared, one for each sort: only in step_terms() */
        size_t first_term;          /* the first command with terms */
};
void script_state_done(struct script_state *s);
#define cleanup_state cleanup(script_state_done)

/* All steps use the first text's dialect: the command that declares it may be reduced away. */
struct reduce_steps {
        struct reducer *reducer;
        enum dialect dialect;
        bool has_dialect; /* `dialect` is the first text's; false: it is the one for a text that names none */
        bool any; /* this pass took something */
        unsigned pass;
        size_t at; /* how far the present step has come: the index of a candidate or term */
};
/* Parses the current text. Call script_state_done() on *ret after an error, too. -EINVAL: it is no script. */
int script_state_load(struct reduce_steps *steps, struct script_state *ret);

/* -- properties of a state -- */

bool command_has_terms(const struct command *c);
bool command_declares(const struct command *c);                             /* a function, without a body */
void state_list_terms(const struct script_state *s, struct term_list *ret); /* all distinct subterms, each before its own subterms */

void state_count_mentions(const struct script_state *s, struct term_map *ret); /* *ret: a symbol's id -> the number of commands it stands in */

/* -- writing candidates -- */

void state_add_bytes(const struct script_state *s, size_t i, struct buffer *ret); /* command i, unchanged */
int state_add_printed(const struct script_state *s, struct command c, struct buffer *ret);

/* Replacements of terms, everywhere in the script. */
struct script_changes {
        const struct script_state *state;
        struct replacement *list; /* owned */
        size_t n;
        bool drops; /* drops the declarations and definitions of replaced functions, too */
};
void script_changes_done(struct script_changes *c);
#define cleanup_changes cleanup(script_changes_done)
void script_changes_add(struct script_changes *c, const struct term *from, const struct term *to); /* does nothing if `to` is NULL or the same */
int text_with_all(const struct script_changes *c, struct buffer *ret); /* the script with all of them; -ENOENT: it would be ill-typed */
int steps_sweep_changes(struct reduce_steps *steps, struct script_changes *c, size_t chunk); /* reduce_sweep() */

/* -- steps -- */

struct command_items;

/* One step on the current text, by one of the functions below. Returns the number of changes taken, or -errno. */
struct reduce_step {
        const char *stage;
        int (*run)(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s);
        bool again;   /* repeats until it takes nothing */
        bool is_fine; /* many candidates for few bytes: runs only if the pass has taken nothing so far */
        /* For sweep_commands() (reduce_script.c): */
        /* True if command i begins an item of the sweep; false if it stays, or belongs to an earlier item. NULL: each command is an item. */
        bool (*chooses)(struct command_items *items, size_t i);
        int (*write)(const struct script_state *s, struct command c, struct buffer *ret); /* writes the replacement; NULL: the command is left out */
        reduce_without text;                                                            /* makes the text instead of `write`; may be NULL */
        /* For sweep_changes() and try_changes(): lists changes of `all` distinct terms, outer ones first. May be NULL for try_changes() */
        void (*list)(struct script_state *s, const struct term_list *all, struct script_changes *c);
        reduce_make make; /* for try_changes(): makes a candidate; its user is the script_changes */
        size_t n;         /* without `list`: candidates for each command */
        bool goes_on;     /* with `again`: goes on at the index of the taken candidate; else from the first */
};
int step_terms(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s);
int step_datatypes(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s);
int step_parts(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s);
