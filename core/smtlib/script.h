/* Scripts: the commands of a file with their terms. Reading, making and changing them, printing them. */
#pragma once

#include "core/smtlib/term.h"

enum command_kind {
        COMMAND_OPAQUE, /* not understood, or of an unmodelled theory; kept as text */
        COMMAND_SET_LOGIC,
        COMMAND_SET_OPTION,
        COMMAND_SET_INFO,
        COMMAND_DECLARE_SORT, /* from here to COMMAND_ASSERT: these have names and terms, and no other effect */
        COMMAND_DEFINE_SORT,
        COMMAND_DECLARE_DATATYPES, /* also declare-datatype */
        COMMAND_DECLARE_FUN, /* function; also declare-const. A constant read so is printed so in 2.5 and 2.6 */
        COMMAND_DECLARE_CONST,
        COMMAND_DEFINE_FUN, /* function, parameters, term; also define-const */
        COMMAND_DEFINE_FUN_REC,
        COMMAND_DEFINE_FUNS_REC, /* kept as text; its functions are declared */
        COMMAND_ASSERT,          /* term */
        COMMAND_CHECK_SAT,
        COMMAND_CHECK_SAT_ASSUMING, /* terms */
        COMMAND_PUSH,               /* levels */
        COMMAND_POP,
        COMMAND_RESET,
        COMMAND_RESET_ASSERTIONS,
        COMMAND_GET_VALUE, /* terms */
        COMMAND_GET,       /* get-model, get-info, get-unsat-core, echo …: text */
        COMMAND_EXIT,
        N_COMMAND_KINDS
};
/* By the command's name; COMMAND_OPAQUE if it is unknown. */
enum command_kind command_kind_of(struct slice name);
/* True if commands of this name are answered by sat, unsat or unknown: check-sat, check-sat-assuming, and those of Z3 and Yices. */
bool command_name_asks(struct slice name);

struct span {
        size_t begin, end; /* bytes of the input; both 0 if it was not read */
};

struct command {
        enum command_kind kind;
        struct span span; /* with its parentheses */
        /* The input's text, for kinds that are printed as text; `symbol` is then the first word after the command's name. */
        struct slice text;
        const struct symbol *symbol; /* set-logic: the logic; set-info and set-option: the keyword */
        const struct function *function;
        const struct term *term;
        const struct term *const *terms; /* in the bank, as the other lists; check-sat-assuming, get-value, parameters of a definition */
        size_t n_terms;
        uint32_t levels;
};

struct script {
        struct bank *bank;          /* a reference */
        enum dialect dialect;       /* of the input, as :smt-lib-version says, else options.dialect */
        const struct symbol *logic; /* of the first set-logic, or NULL */
        struct command *commands;   /* owned */
        size_t n_commands;
        size_t n_opaque_commands, n_opaque_terms;
        /* private */
        size_t commands_size;
};

struct script_options {
        const char *name;               /* of the input, for messages: "name:3:14: …"; NULL: "line 3, column 14: …" */
        enum dialect dialect;           /* unless the input names another; usually 2.6, so set it */
        bool is_dialect_fixed;          /* ignore the input's :smt-lib-version */
        struct bank *bank;              /* to read into; NULL: a new one */
        bool is_strict;                 /* an unknown symbol or command is an error; else its command becomes opaque */
        struct bank *before;            /* of a script that this one was made of: a name that it declares and this one does not is unknown, also in text */
};

/* Reads a whole input. -EINVAL with a sentence (place, problem, remedy), -ENOMEM. `options` NULL: 2.6, not strict. Any depth is read, in time linear
 * in the size. The bytes are not needed afterwards. */
int script_read(struct slice bytes, const struct script_options *options, struct script **ret);
void script_new(struct bank *b, enum dialect d, struct script **ret); /* empty; takes a reference to the bank (NULL: makes one) */
void script_free(struct script *s);
DEFINE_CLEANUP(struct script *, script_free)
#define cleanup_script cleanup(script_freep)

/* -- making and changing ----------------------------------------------------------------------------------- */

void script_add(struct script *s, const struct command *c);                       /* adds a copy; its pointers belong to the bank */
void script_add_text(struct script *s, enum command_kind kind, const char *text); /* "(set-info :status sat)" */
void script_add_logic(struct script *s, const char *logic);
void script_add_function(struct script *s, const struct function *f);
int script_add_assert(struct script *s, const struct term *t); /* -EINVAL for NULL, with the bank's sentence */
void script_add_check(struct script *s);
/* A copy that shares the bank: map each assert's term as you like, then print. */
void script_clone(const struct script *s, struct script **ret);
/* A copy in another bank, or in the same. */
void script_copy(const struct script *s, struct bank *to, struct script **ret);
void script_remove(struct script *s, size_t at);
bool command_asks(const struct command *c); /* by its name, also if it is opaque */
static inline bool command_is_status(const struct command *c) /* (set-info :status …) */
{
        return c->kind == COMMAND_SET_INFO && c->symbol && text_is(c->symbol->name, ":status");
}
void script_insert(struct script *s, size_t at, const struct command *c);
/* Adds declarations, just before the first assert, for constants and functions that the terms use and the script does not declare. */
void script_declare_missing(struct script *s);
void script_end(struct script *s); /* the same, and adds a final check-sat */

/* The constants and functions that are declared at command `at`, with regard to push and pop. free(*ret). */
void script_functions_at(const struct script *s, size_t at, const struct function ***ret, size_t *ret_n);
