/* Reads the two sides of a rule (rules.h has the language) as trees of nodes. A function begins at the current token, and ends at the last one of what it
 * reads. */
#include <setjmp.h>

#include "core/weaken/weaken_internal.h"

struct reader {
        jmp_buf failed; /* where fail() goes; rule_parse() returns -EINVAL with its sentence */
        struct rule *rule;
        struct tokenizer tokens;
        struct token token; /* the current one */
};

_Noreturn static void fail(struct reader *r, const char *what)
{
        errorf(-EINVAL, "rule %s: %s before '%s'", r->rule->row->name, what, r->tokens.base + r->token.begin);
        longjmp(r->failed, 1);
}

static struct node *node_new(struct reader *r, enum node_kind kind)
{
        struct node *n = allocate(1, sizeof(*n));

        n->kind = kind;
        n->next = r->rule->nodes;
        return r->rule->nodes = n;
}

static enum token_kind next(struct reader *r)
{
        return token_next(&r->tokens, &r->token);
}

static void expect(struct reader *r, enum token_kind kind, const char *what)
{
        if (next(r) != kind)
                fail(r, what);
}

static bool is_word(const struct reader *r, const char *word)
{
        return r->token.kind == TOKEN_SYMBOL && token_is(&r->token, word);
}

/* Copies the text without its first `skip` bytes. */
static void copy_word(struct reader *r, struct slice text, size_t skip, char ret[16])
{
        if (text.size <= skip || text.size - skip >= 16)
                fail(r, "a word is missing or too long");
        snprintf(ret, 16, "%.*s", (int)(text.size - skip), (const char *)text.data + skip);
}

const struct variable_kind variable_kinds[N_VARIABLE_SORTS] = {
        [OF_BOOL] = {"Bool", SORT_BOOL},       [OF_INT] = {"Int", SORT_INT},          [OF_REAL] = {"Real", SORT_REAL},
        [OF_STRING] = {"String", SORT_STRING}, [OF_REGLAN] = {"RegLan", SORT_REGLAN}, [OF_CHARACTER] = {"Char", SORT_STRING},
        [OF_NUMBER] = {"Num", SORT_UNKNOWN},   [OF_ANY] = {"Any", SORT_UNKNOWN},      [OF_FREE] = {"Free", SORT_UNKNOWN},
};

static enum variable_sort find_sort(struct reader *r, struct slice name)
{
        for (enum variable_sort i = OF_NONE + 1; i < N_VARIABLE_SORTS; i++)
                if (text_is(name, variable_kinds[i].name))
                        return i;
        fail(r, "there is no such sort");
}

/* The number of the rule's variable of this name, a new one if need be. */
static uint32_t find_variable(struct reader *r, struct slice text)
{
        struct rule *rule = r->rule;
        char name[16] = "";

        copy_word(r, text, 0, name);
        for (size_t i = 0; i < rule->n_variables; i++)
                if (strcmp(rule->variables[i].name, name) == 0)
                        return (uint32_t)i;
        if (rule->n_variables == VARIABLES_MOST)
                fail(r, "too many variables");
        memcpy(rule->variables[rule->n_variables].name, name, sizeof(name));
        return (uint32_t)rule->n_variables++;
}

/* True if the text ended in `end`. */
static bool drop_end(struct slice *text, const char *end)
{
        size_t n = strlen(end);
        bool has = text->size > n && memcmp((const char *)text->data + text->size - n, end, n) == 0;

        text->size -= has ? n : 0;
        return has;
}

/* ?x, ?x:Sort, ?x:Sort+; followed by dots if a run */
static struct node *read_variable(struct reader *r)
{
        struct slice text = SLICE((const char *)r->token.text.data + 1, r->token.text.size - 1), sort;
        struct node *n = node_new(r, drop_end(&text, "...") ? NODE_RUN : NODE_VARIABLE);
        const char *colon = memchr(text.data, ':', text.size);
        struct rule_variable *v;

        sort = colon ? SLICE(colon + 1, text.size - (size_t)(colon + 1 - (const char *)text.data)) : SLICE("", 0);
        n->number = find_variable(r, colon ? SLICE(text.data, text.size - sort.size - 1) : text);
        v = &r->rule->variables[n->number];
        v->is_run |= n->kind == NODE_RUN;
        if (colon) {
                v->is_literal |= drop_end(&sort, "+");
                v->sort = find_sort(r, sort);
        }
        return n;
}

static struct node *read_node(struct reader *r);

/* Reads arguments up to the closing parenthesis. Dots make the argument before them a NODE_EACH. */
static void read_args(struct reader *r, struct node *n)
{
        while (next(r) != TOKEN_CLOSE) {
                bool is_each = is_word(r, "...") && n->n_args > 0;
                struct node *x = is_each ? node_new(r, NODE_EACH) : read_node(r);

                if (is_each)
                        list_add(x->args, x->n_args, n->args[--n->n_args]);
                list_add(n->args, n->n_args, x);
        }
}

static enum op current_operator(struct reader *r)
{
        enum op op = r->token.kind == TOKEN_SYMBOL ? operator_find(r->token.text) : OP_NONE;

        if (op == OP_NONE)
                fail(r, "there is no such operator");
        return op;
}

/* Reads the indices after (_. */
static void read_indices(struct reader *r, struct node *n)
{
        next(r);
        n->op = current_operator(r);
        while (next(r) != TOKEN_CLOSE) {
                const char *text = r->token.text.data;
                struct index_pattern *x = &n->index[n->n_index];

                if (r->token.kind == TOKEN_END || n->n_index++ == 2)
                        fail(r, "too many indices");
                x->kind = *text == '?' ? INDEX_DRAWN : *text == '#' ? INDEX_COUNT : INDEX_FIXED;
                x->value = x->kind == INDEX_FIXED ? (uint32_t)atoi(text) : find_variable(r, SLICE(text + 1, r->token.text.size - 1));
        }
}

/* Reads the variables after (forall or (exists: new ones, or @. */
static void read_quantifier(struct reader *r, struct node *n)
{
        n->kind = next(r) == TOKEN_SYMBOL && is_word(r, "@") ? NODE_KEPT : NODE_QUANTIFIER;
        if (n->kind == NODE_QUANTIFIER && r->token.kind != TOKEN_OPEN)
                fail(r, "a list of variables is missing");
        while (n->kind == NODE_QUANTIFIER && next(r) == TOKEN_OPEN) {
                if (r->rule->n_new == NEW_MOST)
                        fail(r, "too many new variables");
                expect(r, TOKEN_SYMBOL, "a variable is missing");
                copy_word(r, r->token.text, 1, r->rule->new_names[r->rule->n_new]);
                expect(r, TOKEN_SYMBOL, "a sort is missing");
                r->rule->new_sorts[r->rule->n_new++] = find_sort(r, r->token.text);
                expect(r, TOKEN_CLOSE, "a parenthesis is missing");
        }
}

/* TERM_LITERAL: it is no quantifier. */
static enum term_kind current_quantifier(const struct reader *r)
{
        return is_word(r, "forall") ? TERM_FORALL : is_word(r, "exists") ? TERM_EXISTS : TERM_LITERAL;
}

static struct node *read_application(struct reader *r)
{
        static const struct {
                const char *name;
                enum node_kind kind;
        } builders[] = {{"instance", NODE_INSTANCE},
                        {"generalize", NODE_GENERALIZE},
                        {"pairs", NODE_PAIRS},
                        {"wider", NODE_WIDER},
                        {"narrower", NODE_NARROWER}};
        struct node *n = node_new(r, NODE_OPERATOR);

        next(r);
        for (size_t i = 0; i < ARRAY_SIZE(builders); i++)
                if (is_word(r, builders[i].name))
                        n->kind = builders[i].kind;
        n->quantifier = current_quantifier(r);
        if (n->kind == NODE_INSTANCE) {
                expect(r, TOKEN_SYMBOL, "@ is missing");
        } else if (n->kind == NODE_GENERALIZE) {
                next(r);
                n->quantifier = current_quantifier(r);
                if (n->quantifier == TERM_LITERAL)
                        fail(r, "a quantifier is missing");
        } else if (n->quantifier != TERM_LITERAL) {
                read_quantifier(r, n);
        } else if (r->token.kind == TOKEN_OPEN) {
                expect(r, TOKEN_SYMBOL, "_ is missing");
                read_indices(r, n);
        } else if (r->token.kind == TOKEN_SYMBOL && *(const char *)r->token.text.data == '?') {
                n->kind = NODE_CALL;
        } else if (n->kind == NODE_OPERATOR) {
                n->op = current_operator(r);
        }
        read_args(r, n);
        return n;
}

/* !b */
static struct node *read_new(struct reader *r)
{
        struct node *n = node_new(r, NODE_NEW);
        char name[16] = "";

        copy_word(r, r->token.text, 1, name);
        for (; n->number < r->rule->n_new; n->number++)
                if (strcmp(r->rule->new_names[n->number], name) == 0)
                        return n;
        fail(r, "no quantifier has this variable");
}

static struct node *read_node(struct reader *r)
{
        const char first = r->token.kind == TOKEN_SYMBOL ? *(const char *)r->token.text.data : '\0';
        struct node *n;

        if (r->token.kind == TOKEN_OPEN)
                return read_application(r);
        if (r->token.kind == TOKEN_STRING)
                return node_new(r, NODE_EMPTY); /* rules have no other literal */
        if (first == '?')
                return read_variable(r);
        if (first == '!')
                return read_new(r);
        n = node_new(r, r->token.kind == TOKEN_NUMERAL ? NODE_NUMBER : NODE_OPERATOR);
        if (n->kind == NODE_NUMBER)
                n->number = (uint32_t)atoi(r->token.text.data);
        else
                n->op = current_operator(r);
        return n;
}

/* False if a part of it can only be built. */
static bool can_match(const struct node *n)
{
        bool ret = n->kind < NODE_INSTANCE;

        for (size_t i = 0; i < n->n_index; i++)
                ret &= n->index[i].kind != INDEX_COUNT;
        for (size_t i = 0; i < n->n_args; i++)
                ret &= can_match(n->args[i]);
        return ret;
}

void rule_done(struct rule *r)
{
        for (struct node *n = r->nodes, *after; n; n = after) {
                after = n->next;
                free(n->args);
                free(n);
        }
        *r = (struct rule){0};
}

int rule_parse(const struct rule_row *row, struct rule *ret)
{
        struct reader r = {.rule = ret};

        *ret = (struct rule){.row = row};
        if (setjmp(r.failed) != 0) {
                rule_done(ret);
                return -EINVAL;
        }
        for (size_t i = 0; i < 2; i++) {
                tokenizer_init(&r.tokens, slice_string(i == 0 ? row->left : row->right), DIALECT_2_6);
                next(&r);
                ret->side[i] = read_node(&r);
                if (next(&r) != TOKEN_END)
                        fail(&r, "something is left over");
                ret->matches[i] = can_match(ret->side[i]);
        }
        return 0;
}
