/* Scripts: the commands of a file with their terms. Reading, making and changing them, printing them. */
#pragma once

#include "core/smtlib/term.h"

/* A comment such as `function` names a member of struct command that the kind uses. */
enum command_kind {
        COMMAND_OPAQUE, /* not understood, or of an unmodelled theory; kept as text */
        COMMAND_SET_LOGIC,
        COMMAND_SET_OPTION,
        COMMAND_SET_INFO,
        COMMAND_DECLARE_SORT, /* kinds from here to COMMAND_ASSERT only declare, define or assert */
        COMMAND_DEFINE_SORT,
        COMMAND_DECLARE_DATATYPES, /* also declare-datatype */
        COMMAND_DECLARE_FUN,       /* function */
        COMMAND_DECLARE_CONST,     /* function; printed as declare-fun in 2.0, which has no declare-const */
        COMMAND_DEFINE_FUN,        /* function, terms (its parameters), term; also define-const */
        COMMAND_DEFINE_FUN_REC,    /* likewise */
        COMMAND_DEFINE_FUNS_REC,   /* kept as text; later commands may use its functions */
        COMMAND_ASSERT,            /* term */
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
        size_t begin, end; /* offsets in the input; both 0 if the command was not read */
};

struct command {
        enum command_kind kind;
        struct span span; /* with its parentheses */
        struct slice text; /* the whole command, for kinds that are printed as text */
        /* set-logic: the logic; set-info, set-option: the keyword; declarations, definitions: the name; script_add_text(): the first word; or NULL */
        const struct symbol *symbol;
        const struct function *function;
        const struct term *term;
        const struct term *const *terms; /* owned by the bank; of check-sat-assuming and get-value; a definition's parameters */
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
        enum dialect dialect;           /* unless the input names another; 0 is DIALECT_2_0, so set it */
        bool is_dialect_fixed;          /* ignore the input's :smt-lib-version */
        struct bank *bank;              /* to read into; NULL: a new one */
        bool is_strict;                 /* an unknown symbol or command is an error; else its command becomes opaque */
        struct bank *original_bank;     /* NULL, or that of the script before a change: a name that only this bank declares is an error */
};

/* Reads a whole input. -EINVAL with a sentence (place, problem, remedy), -ENOMEM. `options` NULL: 2.6, not strict. Any depth is read, in time linear
 * in the size. The bytes are not needed afterwards. */
int script_read(struct slice bytes, const struct script_options *options, struct script **ret);
void script_new(struct bank *b, enum dialect d, struct script **ret); /* empty; takes a reference to the bank (NULL: makes one) */
void script_free(struct script *s);
DEFINE_CLEANUP(struct script *, script_free)
#define cleanup_script cleanup(script_freep)

/* -- making and changing ----------------------------------------------------------------------------------- */

void script_add(struct script *s, const struct command *c);                       /* copies *c; what it points to must belong to the bank */
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
bool command_asks(const struct command *c); /* true if sat, unsat or unknown answers it, even if it is opaque */
static inline bool command_is_status(const struct command *c) /* (set-info :status …) */
{
        return c->kind == COMMAND_SET_INFO && c->symbol && text_is(c->symbol->name, ":status");
}
void script_insert(struct script *s, size_t at, const struct command *c);
/* Declares the constants and functions that the terms use and the script does not declare, just before the first assert or definition. */
void script_declare_missing(struct script *s);
void script_end(struct script *s); /* the same, and adds a final check-sat */

/* The constants and functions that earlier commands declare or define, and that no pop or reset has ended before command `at`. Those of datatypes, of
 * :named and of commands kept as text are left out. free(*ret). */
void script_functions_at(const struct script *s, size_t at, const struct function ***ret, size_t *ret_n);
