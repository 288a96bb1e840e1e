/* Parses one SMT-LIB script and keeps its state: declarations, assertion stack.
 *
 * parser_next() runs declarations and definitions by itself and returns at each command that wants an
 * answer. It is iterative: nesting depth costs heap, not stack. */
#pragma once
#include "lexer.h"
#include "term.h"

enum parser_event {
        PARSER_EOF,
        PARSER_EXIT,
        PARSER_ERROR,     /* message with line and column in parser->error */
        PARSER_CHECK_SAT, /* under parser->terms too, if not empty (check-sat-assuming) */
        PARSER_GET_MODEL,
        PARSER_GET_VALUE, /* of parser->terms */
        PARSER_ECHO,      /* of parser->texts */
        PARSER_NO_ANSWER, /* to a get- command that is not supported */
};

struct symbol;

struct parser_level {
        uint32_t asserts, declared, trail;
        const char *unsupported;
};

struct parser {
        struct lexer lex;
        struct bank *bank;
        vec_u32 asserts;  /* all that hold now */
        vec_u32 declared; /* the variables that exist now, in order */
        vec_u32 terms;    /* of the current event */
        vec_u32 texts;    /* source offsets (begin, end) of these terms, or of the string to echo */
        VEC(struct parser_level) levels;
        struct symbol **table; /* open hash of names; owned */
        size_t ntable, nsymbols;
        VEC(struct symbol *) trail; /* definitions to undo, latest last */
        bool asserting;             /* the term being read is an assertion */
        bool is_global;             /* declarations outlive their level, by the option :global-declarations */
        bool is_changed;            /* the assertions, since the caller last set this to false */
        const char *unsupported;    /* why the assertions, or the terms of the current event, are outside the solver's logics; NULL if they are not */
        bool is_passing;            /* it is only the terms */
        char error[512];
        const char *source;
};

void parser_init(struct parser *p, struct bank *b, const char *text, size_t len);
void parser_free(struct parser *p);
enum parser_event parser_next(struct parser *p);
