/* Shared by the files of core/weaken: rules as trees, and one application of a rule. */
#pragma once

#include "cache/base/random.h"
#include "core/weaken/rules.h"
#include "core/weaken/weaken.h"

#define VARIABLES_MOST 8  /* of a rule */
#define RUN_MOST       64 /* arguments that (f ?x)... matches one by one; longer applications are left unchanged */
#define NEW_MOST       2  /* new variables (!b) of a rule */
#define INDEX_MOST     9  /* the largest index drawn for ?n */

enum node_kind {
        NODE_VARIABLE,
        NODE_RUN,        /* ?x... */
        NODE_EACH,       /* (f ?x)... */
        NODE_OPERATOR,   /* the first operator with this name (operator_next()) */
        NODE_CALL,       /* (?f …) */
        NODE_NUMBER,     /* an Int */
        NODE_EMPTY,      /* "" */
        NODE_QUANTIFIER, /* with new variables */
        NODE_NEW,        /* one of those variables */
        NODE_KEPT,       /* (forall @ …) */
        /* only built: */
        NODE_INSTANCE,
        NODE_GENERALIZE,
        NODE_PAIRS,
        NODE_WIDER,
        NODE_NARROWER
};

enum variable_sort {
        OF_NONE,
        OF_BOOL,
        OF_INT,
        OF_REAL,
        OF_NUMBER,
        OF_STRING,
        OF_REGLAN,
        OF_ANY,
        OF_FREE,
        OF_CHARACTER,
        N_VARIABLE_SORTS
};
struct variable_kind {
        const char *name;    /* in a rule */
        enum sort_kind kind; /* SORT_UNKNOWN: several kinds */
};
extern const struct variable_kind variable_kinds[N_VARIABLE_SORTS];

struct index_pattern {
        enum {
                INDEX_FIXED,
                INDEX_DRAWN, /* ?n */
                INDEX_COUNT  /* #x */
        } kind;
        uint32_t value; /* the index if fixed; else the number of the variable, n or x */
};

struct node {
        enum node_kind kind;
        enum op op;
        enum term_kind quantifier;
        uint32_t number; /* number of the variable or new variable; NODE_NUMBER: the value */
        size_t n_index;
        struct index_pattern index[2];
        size_t n_args;
        struct node **args;
        struct node *next; /* in rule.nodes */
};

struct rule_variable {
        char name[16];
        enum variable_sort sort;
        bool is_run, is_literal;
};

struct rule {
        const struct rule_row *row;
        struct node *side[2]; /* left, right */
        struct node *nodes;   /* owned: all nodes of both sides */
        struct rule_variable variables[VARIABLES_MOST];
        size_t n_variables;
        char new_names[NEW_MOST][16];
        enum variable_sort new_sorts[NEW_MOST];
        size_t n_new;
        bool matches[2]; /* false: the side can only be built */
};

int rule_parse(const struct rule_row *row, struct rule *ret);
void rule_done(struct rule *r);

struct weaken {
        struct rule *rules;
        size_t n_rules;
};

/* -- one application -- */

struct binding {
        bool is_set;
        const struct term *one;         /* unless a run */
        const struct term *const *list; /* for a run */
        size_t n;
        uint32_t index; /* for ?n */
};

struct application {
        struct bank *bank;
        const struct rule *rule;
        struct random *random;
        struct binding bindings[VARIABLES_MOST];
        const struct term *new_variables[NEW_MOST];
        const struct sort *number, *any; /* the sorts of Num and Any */
        const struct term *kept;         /* the quantifier that (forall @ …) matched */
        const struct term *call;         /* the application that (?f …) matched */
        size_t each; /* below a NODE_EACH: the index of the current argument in the run; else SIZE_MAX */
        const struct term *(*run_store)[RUN_MOST]; /* by variable: room for a run that a NODE_EACH matches */
        /* Draws a term of the sort as a parameter; NULL if there is none. */
        const struct term *(*draw)(struct application *a, const struct sort *sort);
        void *user;
        uint32_t seed; /* for the names of new variables */
};

bool rule_match(struct application *a, const struct node *side, const struct term *t); /* sets the bindings */
/* Builds a side from the bindings, and draws what they lack. NULL if it cannot be built. */
const struct term *rule_build(struct application *a, const struct node *side);
/* `is_positive`: a number above 0, or a string that is not empty. NULL for a sort such as an array's. */
const struct term *literal_draw(struct bank *b, const struct sort *sort, struct random *random, bool is_positive);
bool character_of(const struct term *t, uint32_t *ret); /* of a string literal with one character */
