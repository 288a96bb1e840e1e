/* Shared by the files of the steps of a script. A step reads the current text (script_state), makes candidates of it, and drops it again: what is tested
 * is what is reduced further. A command that a step leaves alone keeps its bytes. Steps return 0 or -errno, among them REDUCE_WITHDRAWN and -ETIME
 * (reduce_internal.h). */
#pragma once

#include "core/study/reduce/reduce_internal.h"

struct script_state {
        struct buffer text; /* the current one, which the spans point into */
        struct script *script;
        struct term_list constants; /* declared before the first term, outside of any push */
        struct term_list fresh;     /* one for each sort, not declared */
        size_t first_term;          /* the first command with terms */
};
void script_state_done(struct script_state *s);
#define cleanup_state cleanup(script_state_done)

/* All steps take the dialect that the first text had: what says so may be reduced away. */
struct steps {
        struct reducer *reducer;
        enum dialect dialect;
        bool has_dialect;
        bool any; /* this pass took something */
        unsigned pass;
        size_t at; /* the place that the present step has come to */
};
/* The current text; script_state_done(), also after an error. */
int script_state_load(struct steps *steps, struct script_state *ret);

/* -- what a state says -- */

bool command_has_terms(const struct command *c);
bool command_declares(const struct command *c);                             /* a function, without a body */
void state_list_terms(const struct script_state *s, struct term_list *ret); /* all distinct subterms, those around others first */

/* -- writing candidates -- */

void state_add_bytes(const struct script_state *s, size_t i, struct buffer *ret); /* command i, as it is written */
int state_add_printed(const struct script_state *s, struct command c, struct buffer *ret);

/* Terms for others, everywhere in the script. */
struct script_changes {
        const struct script_state *state;
        struct replacement *list; /* owned */
        size_t n;
        bool drops; /* the declarations and definitions of functions that are replaced go, too */
};
void script_changes_done(struct script_changes *c);
#define cleanup_changes cleanup(script_changes_done)
void script_changes_add(struct script_changes *c, const struct term *from, const struct term *to); /* nothing where `to` is NULL or the same */
int text_with_all(const struct script_changes *c, struct buffer *ret);
int steps_sweep_changes(struct steps *steps, struct script_changes *c, size_t chunk); /* reduce_sweep() */

/* -- steps -- */

struct command_items;

/* One step, by one of the functions below, on the current text: how many changes were taken, or -errno. */
struct step {
        const char *stage;
        int (*run)(struct steps *steps, const struct step *step, struct script_state *s);
        bool again;   /* until it takes nothing */
        bool is_fine; /* many candidates for few bytes: only where the pass has taken nothing so far */
        /* sweep_commands() */
        bool (*chooses)(struct command_items *items, size_t i); /* command i is an item of the sweep; false: it is none, or belongs to another item */
        int (*write)(const struct script_state *s, struct command c, struct buffer *ret); /* in its place; NULL: it is left out */
        reduce_without text;                                                            /* with another text than by `write`; NULL */
        /* sweep_changes(), try_changes(): of all distinct terms, those around others first; NULL: of the commands */
        void (*list)(struct script_state *s, const struct term_list *all, struct script_changes *c);
        reduce_make make; /* try_changes(): a candidate */
        size_t n;         /* without `list`: candidates for each command */
        bool goes_on;     /* behind what was taken; else from the start */
};
int step_terms(struct steps *steps, const struct step *step, struct script_state *s);
int step_parts(struct steps *steps, const struct step *step, struct script_state *s);
