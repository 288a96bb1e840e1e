#include "core/weaken/weaken_internal.h"

#include <ctype.h>

struct reader {
        struct rule *rule;
        const char *at;
        int error;
};

static struct node *failed(struct reader *r, const char *what)
{
        if (r->error == 0)
                r->error = errorf(-EINVAL, "rule %s: %s before '%s'", r->rule->row->name, what, r->at);
        return NULL;
}

static void node_free(struct node *n)
{
        if (!n)
                return;
        for (size_t i = 0; i < n->n_args; i++)
                node_free(n->args[i]);
        free(n->args);
        free(n);
}
DEFINE_CLEANUP(struct node *, node_free)

static struct node *node_new(struct reader *r, enum node_kind kind)
{
        struct node *n = calloc(1, sizeof(*n));

        if (n)
                n->kind = kind;
        else
                r->error = -ENOMEM;
        return n;
}

static void skip(struct reader *r)
{
        while (*r->at == ' ')
                r->at++;
}

static bool accept(struct reader *r, const char *what)
{
        skip(r);
        if (strncmp(r->at, what, strlen(what)) != 0)
                return false;
        r->at += strlen(what);
        return true;
}

static size_t word_length(const char *s)
{
        return strcspn(s, " ():");
}

static void word(struct reader *r, char *ret, size_t size)
{
        size_t n;

        skip(r);
        n = word_length(r->at);
        if (n > 3 && memcmp(r->at + n - 3, "...", 3) == 0)
                n -= 3;
        if (n == 0 || n >= size) {
                (void)failed(r, "a word is missing or too long");
                n = 0;
        }
        memcpy(ret, r->at, n);
        ret[n] = '\0';
        r->at += n;
}

static enum variable_sort sort_named_so(struct reader *r)
{
        static const char *const names[] = {
                [OF_BOOL] = "Bool",     [OF_INT] = "Int", [OF_REAL] = "Real", [OF_NUMBER] = "Num",    [OF_STRING] = "String",
                [OF_REGLAN] = "RegLan", [OF_ANY] = "Any", [OF_FREE] = "Free", [OF_CHARACTER] = "Char"};

        for (size_t i = OF_BOOL; i < ARRAY_SIZE(names); i++)
                if (accept(r, names[i]))
                        return (enum variable_sort)i;
        (void)failed(r, "there is no such sort");
        return OF_NONE;
}

static uint32_t variable_named(struct reader *r, const char *name)
{
        struct rule *rule = r->rule;

        for (size_t i = 0; i < rule->n_variables; i++)
                if (strcmp(rule->variables[i].name, name) == 0)
                        return (uint32_t)i;
        if (rule->n_variables == VARIABLES_MOST) {
                (void)failed(r, "too many variables");
                return 0;
        }
        snprintf(rule->variables[rule->n_variables].name, sizeof(rule->variables[0].name), "%s", name);
        return (uint32_t)rule->n_variables++;
}

static struct node *read_variable(struct reader *r)
{
        char name[16];
        struct rule_variable *v;
        struct node *n = node_new(r, NODE_VARIABLE);

        if (!n)
                return NULL;
        word(r, name, sizeof(name));
        n->number = variable_named(r, name);
        v = &r->rule->variables[n->number];
        if (*r->at == ':') {
                r->at++;
                v->sort = sort_named_so(r);
                if (*r->at == '+') {
                        v->is_literal = true;
                        r->at++;
                }
        }
        if (strncmp(r->at, "...", 3) == 0) {
                r->at += 3;
                v->is_run = true;
                n->kind = NODE_RUN;
        }
        return n;
}

static struct node *read_node(struct reader *r);

static void read_args(struct reader *r, struct node *n)
{
        while (r->error == 0 && !accept(r, ")")) {
                struct node **list = realloc(n->args, (n->n_args + 1) * sizeof(*list)), *x;

                if (!list) {
                        r->error = -ENOMEM;
                        return;
                }
                n->args = list;
                if (!(x = read_node(r)))
                        return;
                n->args[n->n_args++] = x;
                if (strncmp(r->at, "...", 3) == 0) {
                        struct node *each = node_new(r, NODE_EACH);

                        r->at += 3;
                        if (!each || !(each->args = malloc(sizeof(*each->args)))) {
                                r->error = -ENOMEM;
                                free(each);
                                return;
                        }
                        each->args[0] = x;
                        each->n_args = 1;
                        n->args[n->n_args - 1] = each;
                }
        }
}

static void read_operator(struct reader *r, struct node *n)
{
        char name[32];

        word(r, name, sizeof(name));
        n->op = operator_find(slice_string(name));
        if (n->op == OP_NONE)
                (void)failed(r, "there is no such operator");
}

static void read_indices(struct reader *r, struct node *n)
{
        char text[16];

        read_operator(r, n);
        while (r->error == 0 && !accept(r, ")")) {
                struct index_pattern *x = &n->index[n->n_index];

                if (n->n_index == 2) {
                        (void)failed(r, "too many indices");
                        return;
                }
                n->n_index++;
                if (accept(r, "#") || *r->at == '?') {
                        x->kind = *r->at == '?' ? INDEX_DRAWN : INDEX_COUNT;
                        r->at += *r->at == '?';
                        word(r, text, sizeof(text));
                        x->value = variable_named(r, text);
                } else {
                        word(r, text, sizeof(text));
                        x->value = (uint32_t)atoi(text);
                }
        }
}

/* Behind (forall or (exists. */
static void read_quantifier(struct reader *r, struct node *n)
{
        n->kind = NODE_QUANTIFIER;
        if (accept(r, "@")) {
                n->kind = NODE_KEPT;
                return;
        }
        if (!accept(r, "("))
                (void)failed(r, "a list of variables is missing");
        while (r->error == 0 && accept(r, "(!")) {
                if (r->rule->n_new == NEW_MOST) {
                        (void)failed(r, "too many new variables");
                        return;
                }
                word(r, r->rule->new_names[r->rule->n_new], sizeof(r->rule->new_names[0]));
                skip(r);
                r->rule->new_sorts[r->rule->n_new++] = sort_named_so(r);
                if (!accept(r, ")"))
                        (void)failed(r, "a parenthesis is missing");
        }
        if (!accept(r, ")"))
                (void)failed(r, "a parenthesis is missing");
}

static struct node *read_application(struct reader *r)
{
        static const struct {
                const char *name;
                enum node_kind kind;
        } own[] = {{"instance @ ", NODE_INSTANCE}, {"pairs ", NODE_PAIRS}, {"wider ", NODE_WIDER}, {"narrower ", NODE_NARROWER}};
        cleanup(node_freep) struct node *n = node_new(r, NODE_OPERATOR);
        char name[16];

        if (!n)
                return NULL;
        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                if (accept(r, own[i].name)) {
                        n->kind = own[i].kind;
                        read_args(r, n);
                        return r->error ? NULL : steal_pointer(n);
                }
        n->quantifier = accept(r, "forall ") ? TERM_FORALL : accept(r, "exists ") ? TERM_EXISTS : TERM_LITERAL;
        if (n->quantifier != TERM_LITERAL) {
                read_quantifier(r, n);
        } else if (accept(r, "generalize ")) {
                n->kind = NODE_GENERALIZE;
                n->quantifier = accept(r, "forall ") ? TERM_FORALL : TERM_EXISTS;
                if (n->quantifier == TERM_EXISTS && !accept(r, "exists "))
                        (void)failed(r, "a quantifier is missing");
        } else if (accept(r, "(_ ")) {
                read_indices(r, n);
        } else if (accept(r, "?")) {
                word(r, name, sizeof(name));
                n->kind = NODE_CALL;
        } else {
                read_operator(r, n);
        }
        if (r->error == 0)
                read_args(r, n);
        return r->error ? NULL : steal_pointer(n);
}

static struct node *read_node(struct reader *r)
{
        struct node *n;
        char name[32];

        skip(r);
        if (accept(r, "("))
                return read_application(r);
        if (accept(r, "?"))
                return read_variable(r);
        if (accept(r, "\"\""))
                return node_new(r, NODE_EMPTY);
        if (accept(r, "!")) {
                word(r, name, sizeof(name));
                if (!(n = node_new(r, NODE_NEW)))
                        return NULL;
                for (; n->number < r->rule->n_new && strcmp(r->rule->new_names[n->number], name) != 0;)
                        n->number++;
                if (n->number == r->rule->n_new) {
                        free(n);
                        return failed(r, "no quantifier has this variable");
                }
                return n;
        }
        if (isdigit((unsigned char)*r->at)) {
                word(r, name, sizeof(name));
                if ((n = node_new(r, NODE_NUMBER)))
                        n->number = (uint32_t)atoi(name);
                return n;
        }
        if (!(n = node_new(r, NODE_OPERATOR)))
                return NULL;
        read_operator(r, n);
        if (r->error) {
                free(n);
                return NULL;
        }
        return n;
}

static bool can_match(const struct node *n)
{
        if (n->kind >= NODE_INSTANCE)
                return false;
        for (size_t i = 0; i < n->n_index; i++)
                if (n->index[i].kind == INDEX_COUNT)
                        return false;
        for (size_t i = 0; i < n->n_args; i++)
                if (!can_match(n->args[i]))
                        return false;
        return true;
}

void rule_done(struct rule *r)
{
        node_free(r->side[0]);
        node_free(r->side[1]);
        *r = (struct rule){0};
}

int rule_parse(const struct rule_row *row, struct rule *ret)
{
        struct reader r = {.rule = ret};

        *ret = (struct rule){.row = row};
        for (size_t i = 0; i < 2 && r.error == 0; i++) {
                r.at = i == 0 ? row->left : row->right;
                ret->side[i] = read_node(&r);
                skip(&r);
                if (r.error == 0 && *r.at != '\0')
                        (void)failed(&r, "something is left over");
                if (r.error == 0)
                        ret->matches[i] = can_match(ret->side[i]);
        }
        if (r.error)
                rule_done(ret);
        return r.error;
}
