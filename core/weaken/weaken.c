/* Applies rules at places: a side is matched against the term there, the other one is built and put in its place (apply_at()). weaken_step() draws
 * assertion, rule and place until one fits; weaken_each() tries each place of a rule; weaken_apply() repeats a step. */
#include <ctype.h>

#include "core/weaken/parity.h"
#include "core/weaken/weaken_internal.h"

#define PLACES_MOST    20000 /* of an assertion; later ones are left unchanged */
#define PARAMETER_MOST 40    /* nodes of a term taken as a parameter */

/* -- the rules -- */

int weaken_new(const struct rule_row *rows, size_t n, struct weaken **ret)
{
        cleanup_weaken struct weaken *w = allocate(1, sizeof(*w));

        if (!rows) {
                rows = rule_table;
                n = rule_table_n;
        }
        w->rules = allocate(n, sizeof(*w->rules));
        for (; w->n_rules < n; w->n_rules++) {
                int r = rule_parse(&rows[w->n_rules], &w->rules[w->n_rules]);

                if (r < 0)
                        return r;
        }
        *ret = steal_pointer(w);
        return 0;
}

struct weaken *weaken_free(struct weaken *w)
{
        if (!w)
                return NULL;
        for (size_t i = 0; i < w->n_rules; i++)
                rule_done(&w->rules[i]);
        free(w->rules);
        free(w);
        return NULL;
}

size_t weaken_n_rules(const struct weaken *w)
{
        return w->n_rules;
}

const struct rule_row *weaken_rule(const struct weaken *w, size_t rule)
{
        return w->rules[rule].row;
}

int weaken_find(const struct weaken *w, struct slice name, size_t *ret)
{
        for (size_t i = 0; i < w->n_rules; i++)
                if (text_is(name, w->rules[i].row->name)) {
                        *ret = i;
                        return 0;
                }
        return errorf(-ENOENT, "there is no rule '%.*s'", (int)MIN(name.size, 100u), (const char *)name.data);
}

/* -- one assertion and its places -- */

struct subject {
        const struct script *script;
        const struct weaken_options *options;
        size_t command;
        struct term_places places;
        signed char *parity;
        bool names_are_used;
};

static void subject_done(struct subject *s)
{
        term_places_done(&s->places);
        free(s->parity);
}
#define cleanup_subject cleanup(subject_done)

/* True if names given by :named are used as terms in the script, or perhaps in a command that is kept as text. */
static bool are_names_used(const struct script *s)
{
        cleanup_term_list struct term_list roots = {0};
        cleanup_free const struct function **functions = NULL;
        bool ret = false;
        size_t n;

        for (size_t i = 0; i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];

                ret |= c->kind == COMMAND_OPAQUE || c->kind == COMMAND_DEFINE_FUNS_REC;
                if (c->term)
                        term_list_add(&roots, c->term);
                for (size_t k = 0; c->kind == COMMAND_CHECK_SAT_ASSUMING && k < c->n_terms; k++)
                        term_list_add(&roots, c->terms[k]);
        }
        term_functions(roots.list, roots.n, &functions, &n);
        for (size_t i = 0; i < n; i++)
                ret |= functions[i]->kind == FUNCTION_NAMED;
        return ret;
}

static void subject_open(const struct script *s, size_t command, const struct weaken_options *options, struct subject *ret)
{
        static const struct weaken_options defaults;

        *ret = (struct subject){.script = s, .options = options ? options : &defaults, .command = command};
        term_places(s->commands[command].term, PLACES_MOST, &ret->places);
        ret->names_are_used = s->commands[command].term->has_name && are_names_used(s);
        ret->parity = parity_of(&ret->places, ret->names_are_used);
}

/* -- parameters: terms of the file -- */

struct position {
        const struct subject *subject;
        const struct term_list *bound; /* variables bound around it */
};

/* A term of this assertion, or a constant declared before it; else a literal. */
static const struct term *draw_parameter(struct application *a, const struct sort *sort)
{
        const struct position *p = a->user;
        const struct term_places *places = &p->subject->places;
        cleanup_free const struct function **functions = NULL;
        size_t n = 0, start;

        script_functions_at(p->subject->script, p->subject->command, &functions, &n);
        start = random_below(a->random, places->n + n);
        for (size_t i = 0; i < places->n + n; i++) {
                size_t at = (start + i) % (places->n + n);
                const struct term *t;

                if (at < places->n)
                        t = places->list[at].term;
                else if (functions[at - places->n]->n_args == 0 && functions[at - places->n]->kind == FUNCTION_DECLARED &&
                         functions[at - places->n]->result == sort)
                        t = term_constant(a->bank, functions[at - places->n]);
                else
                        continue;
                if (t && t->sort == sort && t->kind != TERM_ANNOTATED && t->tree_size <= PARAMETER_MOST &&
                    term_is_closed_by(t, p->bound->list, p->bound->n))
                        return t;
        }
        return literal_draw(a->bank, sort, a->random, false);
}

/* -- applying a rule at a place -- */

static const struct term *drop_name(void *, struct bank *, const struct term *t)
{
        return term_is_named(t) ? t->args[0] : t;
}

/* Removes names from a term that a rule writes twice or takes as a parameter, as a name must be given once. NULL: a name that is used would be lost. */
static const struct term *without_names(const struct subject *s, struct bank *b, const struct term *old, const struct term *t)
{
        if (!t || (s->names_are_used && old->has_name))
                return NULL;
        return t->has_name ? term_rewrite(b, t, drop_name, NULL) : t;
}

/* True if the head of the term can be that of a rule's side. */
static bool head_fits(const struct rule *r, const struct node *side, const struct term *t)
{
        switch ((int)side->kind) {
        case NODE_OPERATOR:
                return t->op == side->op;
        case NODE_QUANTIFIER:
        case NODE_KEPT: /* (forall @ …) */
                return t->kind == side->quantifier;
        default: /* a variable */
                return (r->variables[side->number].sort == OF_REGLAN) == (t->sort->kind == SORT_REGLAN);
        }
}

/* True if the rule may apply there, judged by the parity and the head of the term alone. Most places fail this test. */
static bool may_match(const struct weaken *w, const struct subject *s, size_t rule, size_t at)
{
        const struct rule *r = &w->rules[rule];
        const struct term *t = s->places.list[at].term;

        if (t->sort->kind != SORT_BOOL && t->sort->kind != SORT_REGLAN)
                return false;
        if (s->parity[at] == PARITY_BOTH && r->row->relation == RULE_IMPLIES)
                return false;
        for (size_t i = 0; i < 2; i++)
                if (r->matches[i] && head_fits(r, r->side[i], t))
                        return true;
        return false;
}

/* The new assertion; NULL if the rule cannot be applied there. *ret_with (may be NULL): its new part. */
static const struct term *apply_at(const struct weaken *w, const struct subject *s, size_t rule, enum weaken_direction direction,
                                   size_t at, uint32_t seed, const struct term **ret_with)
{
        const struct term *run_store[VARIABLES_MOST][RUN_MOST];
        struct bank *b = s->script->bank;
        struct random random;
        cleanup_term_list struct term_list bound = {0};
        struct position position = {.subject = s, .bound = &bound};
        struct application a = {.bank = b,
                                .rule = &w->rules[rule],
                                .random = &random,
                                .draw = draw_parameter,
                                .user = &position,
                                .seed = seed,
                                .run_store = run_store};
        const struct term *old = s->places.list[at].term, *with, *root;
        bool is_equivalent = a.rule->row->relation == RULE_EQUIVALENT;
        size_t from;

        if (!may_match(w, s, rule, at))
                return NULL;
        random_seed(&random, seed);
        /* Side 0 implies side 1: to put side 1 in place of side 0 makes the place weaker, and the whole, too, if the parity is positive. */
        from = is_equivalent ? random_below(&random, 2) : (direction == WEAKEN) != (s->parity[at] == PARITY_POSITIVE);
        if (is_equivalent && !a.rule->matches[from])
                from = 1 - from;
        if (!a.rule->matches[from] || !rule_match(&a, a.rule->side[from], old))
                return NULL;
        term_variables_at(&s->places, at, &bound);
        with = without_names(s, b, old, rule_build(&a, a.rule->side[1 - from]));
        if (!with || with == old || with->sort != old->sort || (s->options->keeps && !s->options->keeps(s->options->user, with)))
                return NULL;
        root = term_replace_at(b, &s->places, at, with);
        if (!root || root == s->places.list[0].term || (s->options->size_most && root->tree_size > s->options->size_most))
                return NULL;
        if (ret_with)
                *ret_with = with;
        return root;
}

/* A copy of the script with that assertion. */
static void replace_assertion(const struct subject *s, const struct term *root, struct script **ret)
{
        script_clone(s->script, ret);
        (*ret)->commands[s->command].term = root;
}

static struct weaken_step step_of(const struct subject *s, size_t rule, enum weaken_direction direction, size_t at, uint32_t seed)
{
        size_t n = s->places.list[at].depth;
        uint32_t *path = allocate(n, sizeof(*path));

        for (size_t i = at, k = n; k > 0; i = s->places.list[i].parent)
                path[--k] = s->places.list[i].arg;
        return (struct weaken_step){.rule = rule, .direction = direction, .command = s->command, .path = path, .n_path = n, .seed = seed};
}

/* -- a random step -- */

/* The assertions in random order; the first is drawn in proportion to its size, which counts up to PLACES_MOST. free() */
static uint32_t *assertion_order(const struct script *s, struct random *random, size_t *ret_n)
{
        uint32_t *list = allocate(s->n_commands, sizeof(*list));
        double sum = 0, x;
        size_t n = 0;

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT) {
                        list[n++] = (uint32_t)i;
                        sum += (double)MIN(s->commands[i].term->tree_size, PLACES_MOST);
                }
        random_shuffle(random, list, n);
        x = random_uniform(random) * sum;
        for (size_t i = 0; i < n; i++) {
                uint32_t here = list[i];

                x -= (double)MIN(s->commands[here].term->tree_size, PLACES_MOST);
                if (x < 0) {
                        list[i] = list[0];
                        list[0] = here;
                        break;
                }
        }
        *ret_n = n;
        return list;
}

/* True for a term with a pattern, or another attribute that only the body of a quantifier may have. */
static bool is_of_quantifier(const struct term *t)
{
        return t->kind == TERM_ANNOTATED && (t->n_args > 1 || text_is(t->symbol->name, ":qid") || text_is(t->symbol->name, ":weight") ||
                                             text_is(t->symbol->name, ":skolemid"));
}

/* Z3 refuses a pattern, or another attribute of a quantifier, that is not at its body. Only the new part can have brought one, and only that is
 * searched: to search the whole assertion for each rule and place would take seconds where many are refused. */
static bool has_loose_attribute(const struct term *with, const struct subject *s, size_t place)
{
        cleanup_term_places struct term_places p = {0};
        bool ret = false;

        term_places(with, PLACES_MOST, &p);
        for (size_t i = 0; i < p.n && !ret; i++) {
                size_t at = i, outer = place;
                const struct term *holder; /* of the attributes: in the new part or, if they are at its top, around it in the assertion */

                if (!is_of_quantifier(p.list[i].term))
                        continue;
                while (at > 0 && p.list[at].term->kind == TERM_ANNOTATED)
                        at = p.list[at].parent;
                holder = p.list[at].term;
                while (holder->kind == TERM_ANNOTATED && s->places.list[outer].parent != outer) {
                        outer = s->places.list[outer].parent;
                        holder = s->places.list[outer].term;
                }
                ret = !term_is_quantifier(holder);
        }
        return ret;
}

static bool step_in(const struct weaken *w, const struct subject *s, enum weaken_direction direction, struct random *random,
                   struct script **ret, struct weaken_step *step)
{
        cleanup_free uint32_t *order = allocate(w->n_rules, sizeof(*order));
        size_t n = 0;

        for (size_t i = 0; i < w->n_rules; i++)
                if (!s->options->rules || s->options->rules[i])
                        order[n++] = (uint32_t)i;
        random_shuffle(random, order, n);
        for (size_t i = 0; i < n; i++) {
                size_t start = random_below(random, s->places.n);

                for (size_t k = 0; k < s->places.n; k++) {
                        size_t at = (start + k) % s->places.n;
                        uint32_t seed;
                        const struct term *root, *with;

                        if (!may_match(w, s, order[i], at))
                                continue;
                        seed = (uint32_t)random_bits(random);
                        root = apply_at(w, s, order[i], direction, at, seed, &with);
                        if (!root || has_loose_attribute(with, s, at)) /* not in apply_at(): a recorded step that left such an attribute can be repeated */
                                continue;
                        if (step)
                                *step = step_of(s, order[i], direction, at, seed);
                        replace_assertion(s, root, ret);
                        return true;
                }
        }
        return false;
}

int weaken_step(const struct weaken *w, const struct script *s, enum weaken_direction direction, struct random *random,
                const struct weaken_options *options, struct script **ret, struct weaken_step *step)
{
        size_t n = 0;
        cleanup_free uint32_t *order = assertion_order(s, random, &n);

        for (size_t i = 0; i < n; i++) {
                cleanup_subject struct subject subject = {0};

                subject_open(s, order[i], options, &subject);
                if (step_in(w, &subject, direction, random, ret, step))
                        return 0;
        }
        return errorf(-ENOENT, "no rule can be applied to this formula");
}

/* -- repeating steps -- */

void weaken_step_done(struct weaken_step *s)
{
        free(s->path);
        *s = (struct weaken_step){0};
}

/* Follows the path; a place stands behind its parent in the list. */
static bool find_place(const struct term_places *p, const struct weaken_step *step, size_t *ret)
{
        size_t at = 0;

        for (size_t i = 0; i < step->n_path; i++) {
                size_t k = at + 1;

                while (k < p->n && !(p->list[k].parent == at && p->list[k].arg == step->path[i]))
                        k++;
                if (k == p->n)
                        return false;
                at = k;
        }
        *ret = at;
        return true;
}

int weaken_apply(const struct weaken *w, const struct script *s, const struct weaken_step *step,
                 const struct weaken_options *options, struct script **ret)
{
        cleanup_subject struct subject subject = {0};
        const struct term *root;
        size_t at;

        if (step->rule >= w->n_rules || step->command >= s->n_commands || s->commands[step->command].kind != COMMAND_ASSERT)
                return errorf(-ENOENT, "command %zu of the formula is no assertion", step->command);
        subject_open(s, step->command, options, &subject);
        if (!find_place(&subject.places, step, &at))
                return errorf(-ENOENT, "the place of rule %s is not in this formula", w->rules[step->rule].row->name);
        root = apply_at(w, &subject, step->rule, step->direction, at, step->seed, NULL);
        if (!root)
                return errorf(-ENOENT, "rule %s cannot be applied there", w->rules[step->rule].row->name);
        replace_assertion(&subject, root, ret);
        return 0;
}

int weaken_each(const struct weaken *w, const struct script *s, size_t rule, enum weaken_direction direction,
                struct random *random, const struct weaken_options *options,
                int (*found)(void *user, struct script *with, const struct weaken_step *step), void *user)
{
        int r = 0;

        for (size_t c = 0; r == 0 && c < s->n_commands; c++) {
                cleanup_subject struct subject subject = {0};

                if (s->commands[c].kind != COMMAND_ASSERT)
                        continue;
                subject_open(s, c, options, &subject);
                for (size_t at = 0; r == 0 && at < subject.places.n; at++) {
                        cleanup_weaken_step struct weaken_step step = {0};
                        uint32_t seed = (uint32_t)random_bits(random);
                        const struct term *root = apply_at(w, &subject, rule, direction, at, seed, NULL);
                        struct script *with = NULL;

                        if (!root)
                                continue;
                        step = step_of(&subject, rule, direction, at, seed);
                        replace_assertion(&subject, root, &with);
                        r = found(user, with, &step);
                }
        }
        return r;
}

/* -- steps as text -- */

void weaken_step_print(const struct weaken *w, const struct weaken_step *s, struct buffer *ret)
{
        buffer_addf(ret, "%s\t%s\t%zu", w->rules[s->rule].row->name, s->direction == WEAKEN ? "weaken" : "strengthen", s->command);
        for (size_t i = 0; i < s->n_path; i++)
                buffer_addf(ret, "/%u", s->path[i]);
        buffer_addf(ret, "@%08x\n", s->seed);
}

/* False unless the whole text is a number. */
static bool read_number(const char *text, int base, uint32_t *ret)
{
        char *end;
        unsigned long long n = strtoull(text, &end, base);

        *ret = (uint32_t)n;
        return isxdigit((unsigned char)*text) && *end == '\0' && n <= UINT32_MAX;
}

/* COMMAND/ARGUMENT/…; changes the text. */
static int read_place(char *place, struct weaken_step *ret)
{
        uint32_t n;

        if (!read_number(strsep(&place, "/"), 10, &n))
                return -EINVAL;
        for (ret->command = n; place; ret->path[ret->n_path++] = n) {
                if (!read_number(strsep(&place, "/"), 10, &n))
                        return -EINVAL;
                list_grow(ret->path, ret->n_path);
        }
        return 0;
}

int weaken_step_parse(const struct weaken *w, struct slice line, struct weaken_step *ret)
{
        cleanup_free char *text = copy_prefix(line.data, line.size);
        cleanup_weaken_step struct weaken_step step = {0};
        char *rest = text, *rule, *direction, *place;
        int r;

        text[strcspn(text, "\n")] = '\0';
        rule = strsep(&rest, "\t");
        direction = strsep(&rest, "\t");
        place = strsep(&rest, "@");
        if (!place)
                return errorf(-EINVAL, "a step is a rule, a direction and a place, separated by tabs");
        r = weaken_find(w, slice_string(rule), &step.rule);
        if (r < 0)
                return r;
        step.direction = strcmp(direction, "weaken") == 0 ? WEAKEN : STRENGTHEN;
        if (step.direction == STRENGTHEN && strcmp(direction, "strengthen") != 0)
                return errorf(-EINVAL, "the direction of a step is 'weaken' or 'strengthen'");
        if (!rest || !read_number(rest, 16, &step.seed) || read_place(place, &step) < 0)
                return errorf(-EINVAL, "the place of a step is COMMAND/ARGUMENT/…@SEED");
        *ret = step;
        step.path = NULL;
        return 0;
}
