/* Printing terms, by a stack of frames: a term may be as deep as memory allows.
 *
 * Lets. A region is a command's term, or the body of a quantifier. An open subterm may be bound by a let at the beginning of a region in which no
 * quantifier binds its free variables; a closed one is bound at the command's. Lets of a region that do not depend on each other are one let, so that
 * lets are nested no deeper than necessary (solvers recur over them). */
#include <inttypes.h>

#include "core/smtlib/smtlib_internal.h"

#define LET_SIZE_LEAST 7 /* nodes of the smallest subterm that gets a let: a smaller one is shorter without */
#define NAMED_MOST 100000 /* nodes, without sharing, of the largest term below which names are not put inside lets */
#define DEEP_MOST 1000000 /* nodes looked at below quantifiers, again for each one around them; then regions are shallow */

/* A subterm that gets a let at the beginning of its region. It refers only to shared subterms of lower levels. */
struct shared {
        const struct term *term;
        uint32_t level, order;
};

struct region {
        struct shared *shared; /* by level */
        size_t n_shared;
        struct term_map names; /* by shared term: the number of its let */
        struct term_map inner; /* by term: 1 if a quantifier of the region binds a free variable of it */
        size_t outer;          /* index of the next region around it that has lets, plus 1 */
        bool is_command;
        bool names_only; /* only named terms get lets, where they occur twice: cvc5 takes no name inside a let */
        bool is_shallow; /* terms below its quantifiers are not looked at, and do not use its lets */
};

enum frame_kind {
        FRAME_ARGS,       /* arguments of an application, or terms of a pattern, from next on; closes it */
        FRAME_LETS,       /* values of a region's lets, from next on; then its root */
        FRAME_CLOSE,      /* closes `next` parentheses */
        FRAME_ATTRIBUTES  /* attributes of a chain of annotations, from next on */
};

struct print_frame {
        enum frame_kind kind;
        const struct term *term;
        size_t next;
        struct term_list chain; /* FRAME_ATTRIBUTES; outermost last */
};

struct printer {
        const struct print_options *options;
        struct buffer *out;
        size_t begin; /* length of `out` before it */
        struct print_frame *frames;
        size_t n_frames, frames_size;
        struct region *regions; /* innermost last */
        size_t n_regions, n_deep; /* n_deep: nodes looked at below quantifiers */
        uint32_t n_names;
        const char *prefix; /* of the lets' names */
        struct term_map renamed; /* by variable: the number in its name */
};

static void region_done(struct region *g)
{
        free(g->shared);
        term_map_done(&g->names);
        term_map_done(&g->inner);
}

static void printer_done(struct printer *p)
{
        for (size_t i = 0; i < p->n_regions; i++)
                region_done(&p->regions[i]);
        for (size_t i = 0; i < p->n_frames; i++)
                term_list_done(&p->frames[i].chain);
        free(p->regions);
        free(p->frames);
        term_map_done(&p->renamed);
}

static void adds(struct printer *p, const char *s)
{
        buffer_adds(p->out, s);
}

static void push(struct printer *p, struct print_frame f)
{
        grow(p->frames, p->n_frames, p->frames_size);
        p->frames[p->n_frames++] = f;
}

/* -- shared subterms -- */

/* The number of the let that replaces the term here; 0: none. */
static uint32_t let_of(const struct printer *p, const struct term *t)
{
        uint32_t let = 0;

        if (p->n_regions == 0 || t->n_args == 0)
                return 0;
        if (!t->is_open)
                return term_map_get(&p->regions[0].names, t);
        for (size_t i = p->n_regions; i > 0 && let == 0; i = p->regions[i - 1].outer)
                if (i == p->n_regions || !p->regions[i - 1].is_shallow)
                        let = term_map_get(&p->regions[i - 1].names, t);
        return let;
}

static bool may_have_let(const struct region *g, const struct term *t)
{
        return t->is_open != g->is_command && t->n_args > 0 && ((t->tree_size >= LET_SIZE_LEAST && !g->names_only) || term_is_named(t)) &&
               term_map_get(&g->inner, t) == 0;
}

/* Marks the terms in which a variable is free that a quantifier among them binds; `all` ends with the root. False: too many variables, or a variable is
 * free in the root as well. */
static bool find_inner(const struct term_list *all, struct term_map *ret)
{
        cleanup_term_map struct term_map bits = {0}, at = {0};
        cleanup_free uint64_t *sets = allocate(all->n, sizeof(*sets));
        uint32_t n = 0;

        for (size_t i = 0; i < all->n; i++)
                for (size_t k = 0; k < term_first_arg(all->list[i]); k++)
                        if (term_map_get(&bits, all->list[i]->args[k]) == 0)
                                term_map_set(&bits, all->list[i]->args[k], ++n);
        if (n > 64)
                return false;
        for (size_t i = 0; i < all->n; i++) {
                const struct term *t = all->list[i];
                size_t first = term_first_arg(t);
                uint32_t bit = t->kind == TERM_VARIABLE ? term_map_get(&bits, t) : 0;

                if (bit > 0)
                        sets[i] = UINT64_C(1) << (bit - 1);
                for (size_t k = first; k < t->n_args; k++)
                        sets[i] |= sets[term_map_get(&at, t->args[k])];
                for (size_t k = 0; k < first; k++)
                        sets[i] &= ~(UINT64_C(1) << (term_map_get(&bits, t->args[k]) - 1));
                term_map_set(&at, t, (uint32_t)i);
        }
        for (size_t i = 0; i < all->n && sets[all->n - 1] == 0; i++)
                if (sets[i] != 0)
                        term_map_set(ret, all->list[i], 1);
        return sets[all->n - 1] == 0;
}

/* Counts in `refs` how often each candidate is an argument, up to 2. */
static void count_references(const struct printer *p, const struct region *g, const struct term_list *all, struct term_map *refs)
{
        for (size_t i = 0; i < all->n; i++) {
                const struct term *t = all->list[i];

                if (g->is_shallow && term_is_quantifier(t))
                        continue;
                for (size_t k = term_first_arg(t); k < t->n_args; k++)
                        if (may_have_let(g, t->args[k]) && let_of(p, t->args[k]) == 0)
                                term_map_set(refs, t->args[k], MIN(term_map_get(refs, t->args[k]) + 1, 2U));
        }
}

/* Finds the shared subterms and their levels, each after those that it contains. */
static void find_shared(struct region *g, const struct term_list *all, const struct term_map *refs, const struct term *root)
{
        cleanup_term_map struct term_map above = {0}; /* by term: the highest level of a shared subterm in it, itself included */

        if (g->is_command)
                term_map_init(&above, &root, 1);
        for (size_t i = 0; i < all->n; i++) {
                const struct term *t = all->list[i];
                uint32_t level = 0;

                if (!g->is_shallow || !term_is_quantifier(t))
                        for (size_t k = term_first_arg(t); k < t->n_args; k++)
                                level = MAX(level, term_map_get(&above, t->args[k]));
                if (t != root && term_map_get(refs, t) > 1)
                        list_add(g->shared, g->n_shared, (struct shared){t, ++level, (uint32_t)g->n_shared});
                if (level > 0)
                        term_map_set(&above, t, level);
        }
}

static int compare_levels(const void *a, const void *b)
{
        const struct shared *x = a, *y = b;

        return ORDER(x->level, y->level) ?: ORDER(x->order, y->order);
}

/* Enters a region, and finds the subterms that get a let at its beginning. */
static void find_region(struct printer *p, const struct term *root, bool is_command)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_term_map struct term_map refs = {0};
        struct region *g;
        size_t outer = p->n_regions == 0 || p->regions[p->n_regions - 1].n_shared > 0 ? p->n_regions : p->regions[p->n_regions - 1].outer;

        g = list_add(p->regions, p->n_regions,
                     (struct region){.is_command = is_command, .outer = outer, .names_only = root->has_name && root->tree_size <= NAMED_MOST});
        if (root->tree_size < 2 * LET_SIZE_LEAST + 1 && !root->has_quantifier && !root->has_name) /* no room for a subterm twice */
                return;
        if (p->options->no_lets || (!is_command && !root->is_open))
                return;
        if (is_command || p->n_deep < DEEP_MOST)
                term_subterms(&root, 1, &all);
        if (is_command) {
                term_map_init(&refs, &root, 1);
        } else {
                p->n_deep += all.n;
                g->is_shallow = all.n == 0 || !find_inner(&all, &g->inner);
        }
        if (g->is_shallow) {
                term_list_done(&all);
                term_open_subterms(root, &all);
        }
        count_references(p, g, &all, &refs);
        find_shared(g, &all, &refs, root);
        sort_list(g->shared, g->n_shared, sizeof(*g->shared), compare_levels);
        for (size_t i = 0; i < g->n_shared; i++)
                term_map_set(&g->names, g->shared[i].term, ++p->n_names);
}

/* -- leaves and heads -- */

static void add_variable(struct printer *p, const struct term *v)
{
        uint32_t number = term_map_get(&p->renamed, v);
        cleanup_buffer struct buffer name = {0};

        if (number == 0) {
                token_add_symbol(p->out, v->symbol->name);
                return;
        }
        buffer_add(&name, v->symbol->name.data, v->symbol->name.size);
        buffer_addf(&name, "%s%u", p->prefix, number);
        token_add_symbol(p->out, SLICE(name.data, name.size));
}

static void add_bitvec(struct printer *p, const struct term *t)
{
        const char *text = t->symbol->name.data;
        uint32_t width = t->sort->index[0];
        char decimal[64] = "";
        uint64_t value;
        bool is_short = term_to_bitvec(t, &value); /* up to 64 bits */

        if (p->options->decimal_bits && is_short)
                snprintf(decimal, sizeof(decimal), "(_ bv%" PRIu64 " %u)", value, width);
        if (decimal[0] && strlen(decimal) < (width % 4 == 0 ? 2 + width / 4 : 2 + width))
                buffer_adds(p->out, decimal);
        else if (*text == 'b')
                buffer_addf(p->out, "(_ %s %u)", text, width);
        else if (is_short && width % 4 == 0)
                buffer_addf(p->out, "#x%0*" PRIx64, (int)width / 4, value);
        else
                buffer_adds(p->out, text);
}

static void add_literal(struct printer *p, const struct term *t)
{
        if (t->sort->kind == SORT_STRING)
                dialect_encode_string(p->options->dialect, t->symbol->name, p->out);
        else if (t->sort->kind == SORT_BITVEC)
                add_bitvec(p, t);
        else
                buffer_add(p->out, t->symbol->name.data, t->symbol->name.size);
}

static void add_operator(struct printer *p, const struct term *t)
{
        const bool is_power = t->op == OP_RE_POWER && p->options->dialect != DIALECT_2_6; /* re.^ is younger than re.loop */
        size_t n = term_n_index(t);

        if (n > 0)
                adds(p, "(_ ");
        else if (t->is_qualified)
                adds(p, "(as ");
        adds(p, operator_name(is_power ? OP_RE_LOOP : t->op, p->options->dialect));
        for (size_t i = 0; i < n + is_power; i++)
                buffer_addf(p->out, " %u", t->index[is_power ? 0 : i]);
        if (n == 0 && t->is_qualified) {
                adds(p, " ");
                sort_print(t->sort, p->out);
        }
        if (n > 0 || t->is_qualified)
                adds(p, ")");
}

/* The head of an application, or a constant. */
static void add_head(struct printer *p, const struct term *t)
{
        if (t->kind == TERM_OPERATOR) {
                add_operator(p, t);
                return;
        }
        if (t->is_qualified)
                adds(p, "(as ");
        if (t->kind == TERM_OPAQUE)
                buffer_add(p->out, t->symbol->name.data, t->symbol->name.size);
        else
                token_add_symbol(p->out, t->function->symbol->name);
        if (t->is_qualified) {
                adds(p, " ");
                sort_print(t->sort, p->out);
                adds(p, ")");
        }
}

/* -- terms -- */

static void begin_region(struct printer *p, const struct term *root, bool is_command);

static void begin_quantifier(struct printer *p, const struct term *t)
{
        adds(p, t->kind == TERM_FORALL ? "(forall (" : t->kind == TERM_EXISTS ? "(exists (" : "(lambda (");
        for (size_t i = 0; i < t->n_bound; i++) {
                adds(p, i == 0 ? "(" : " (");
                add_variable(p, t->args[i]);
                adds(p, " ");
                sort_print(t->args[i]->sort, p->out);
                adds(p, ")");
        }
        adds(p, ") ");
        push(p, (struct print_frame){.kind = FRAME_ATTRIBUTES}); /* closes it */
        begin_region(p, term_body(t), false);
}

/* True for an annotation that no let replaces. An open one's let may be of a shallow region around the quantifier, where it means another variable. */
static bool is_annotation(const struct printer *p, const struct term *t)
{
        return t->kind == TERM_ANNOTATED && (t->is_open || let_of(p, t) == 0);
}

/* Several annotations of one term are written as one, as solvers look for a quantifier's patterns in the first only. Returns the term. */
static const struct term *begin_annotations(struct printer *p, const struct term *t)
{
        struct print_frame f = {.kind = FRAME_ATTRIBUTES};

        adds(p, "(! ");
        do {
                term_list_add(&f.chain, t);
                t = t->args[0];
        } while (is_annotation(p, t));
        f.next = f.chain.n;
        push(p, f);
        return t;
}

static void begin_term(struct printer *p, const struct term *t, bool is_definition)
{
        uint32_t let = is_definition ? 0 : let_of(p, t);

        if (let != 0) {
                buffer_addf(p->out, "%s%u", p->prefix, let);
        } else if (t->kind == TERM_LITERAL) {
                add_literal(p, t);
        } else if (t->kind == TERM_VARIABLE) {
                add_variable(p, t);
        } else if (term_is_quantifier(t)) {
                begin_quantifier(p, t);
        } else if (t->kind == TERM_ANNOTATED) {
                begin_term(p, begin_annotations(p, t), false);
        } else if (t->n_args == 0) {
                add_head(p, t);
        } else {
                adds(p, "(");
                add_head(p, t);
                push(p, (struct print_frame){.kind = FRAME_ARGS, .term = t});
        }
}

/* Attributes of the root stand outside its lets: solvers refuse patterns and names inside. */
static void begin_region(struct printer *p, const struct term *root, bool is_command)
{
        const struct region *g;

        if (is_annotation(p, root))
                root = begin_annotations(p, root);
        find_region(p, root, is_command);
        g = &p->regions[p->n_regions - 1];
        push(p, (struct print_frame){.kind = FRAME_CLOSE, .next = g->n_shared > 0 ? g->shared[g->n_shared - 1].level : 0});
        push(p, (struct print_frame){.kind = FRAME_LETS, .term = root});
}

/* -- a step of the frame on top -- */

static void step_args(struct printer *p, struct print_frame *f)
{
        const struct term *t = f->term;

        if (f->next < t->n_args) {
                if (t->kind != TERM_ANNOTATED || f->next > 1) /* a pattern has no head */
                        adds(p, " ");
                if (t->kind == TERM_ANNOTATED)
                        begin_region(p, t->args[f->next++], p->n_regions == 0);
                else
                        begin_term(p, t->args[f->next++], false);
                return;
        }
        adds(p, ")");
        p->n_frames--;
}

static void step_lets(struct printer *p, struct print_frame *f)
{
        const struct region *g = &p->regions[p->n_regions - 1];
        const struct term *root = f->term;
        size_t i = f->next;

        if (i > 0)
                adds(p, ")");
        if (i < g->n_shared) {
                if (i == 0 || g->shared[i].level != g->shared[i - 1].level)
                        adds(p, i == 0 ? "(let (" : ") (let (");
                else
                        adds(p, " ");
                buffer_addf(p->out, "(%s%u ", p->prefix, term_map_get(&g->names, g->shared[i].term));
                f->next++;
                begin_term(p, g->shared[i].term, true);
                return;
        }
        if (i > 0)
                adds(p, ") ");
        p->n_frames--;
        if (g->is_command && root->is_open) /* parameters of a definition: terms that depend on them come second */
                begin_region(p, root, false);
        else
                begin_term(p, root, false);
}

static void step_attributes(struct printer *p, struct print_frame *f)
{
        const struct term *t;

        if (f->next == 0) {
                adds(p, ")");
                term_list_done(&f->chain);
                p->n_frames--;
                return;
        }
        t = f->chain.list[--f->next];
        adds(p, " ");
        buffer_add(p->out, t->symbol->name.data, t->symbol->name.size);
        if (text_is(t->symbol->name, ":no-pattern") && t->n_args == 2) { /* one term, not a list */
                adds(p, " ");
                begin_region(p, t->args[1], p->n_regions == 0);
        } else if (t->n_args > 1) {
                adds(p, " (");
                push(p, (struct print_frame){.kind = FRAME_ARGS, .term = t, .next = 1});
        } else if (t->value) {
                adds(p, " ");
                buffer_add(p->out, t->value->name.data, t->value->name.size);
        }
}

static void step(struct printer *p)
{
        struct print_frame *f = &p->frames[p->n_frames - 1];

        switch (f->kind) {
        case FRAME_ARGS:
                step_args(p, f);
                break;
        case FRAME_LETS:
                step_lets(p, f);
                break;
        case FRAME_ATTRIBUTES:
                step_attributes(p, f);
                break;
        case FRAME_CLOSE:
                for (size_t i = 0; i < f->next; i++)
                        adds(p, ")");
                region_done(&p->regions[--p->n_regions]);
                p->n_frames--;
                break;
        }
}

/* -- ambiguous names: never in a script that was read, only in one that was made -- */

static bool has_name_like(const struct term *t, const char *prefix)
{
        const struct symbol *s = t->kind == TERM_FUNCTION                                ? t->function->symbol
                                 : t->kind == TERM_VARIABLE || t->kind == TERM_OPAQUE ? t->symbol
                                                                                         : NULL;

        return s && strncmp(s->name.data, prefix, strlen(prefix)) == 0;
}

/* Chooses a prefix that begins no name: "_let_", with more underscores in front where necessary. */
static void choose_prefix(struct printer *p, const struct term_list *all)
{
        const char *longest = "__________________________________________________let_";
        size_t at = strlen(longest) - strlen("_let_");

        for (size_t i = 0; i < all->n && at > 0; i++)
                if (has_name_like(all->list[i], longest + at)) {
                        at--;
                        i = SIZE_MAX; /* start again */
                }
        p->prefix = longest + at;
}

static void rename_variable(struct printer *p, const struct term *v)
{
        if (term_map_get(&p->renamed, v) == 0)
                term_map_set(&p->renamed, v, ++p->n_names);
}

/* Renames a variable that is bound where another one of the same name and another sort is free. */
static void rename_within(struct printer *p, const struct term *q)
{
        cleanup_term_list struct term_list list = {0};

        term_free_variables(q, &list);
        for (size_t i = 0; i < list.n; i++)
                for (size_t k = 0; k < q->n_bound; k++)
                        if (q->args[k]->symbol == list.list[i]->symbol && q->args[k] != list.list[i])
                                rename_variable(p, q->args[k]);
}

static bool binds_one_of_two(const struct term *q, const struct term_map *symbols)
{
        for (size_t i = 0; i < q->n_bound; i++)
                if (id_map_get(symbols, q->args[i]->symbol->id) == 4)
                        return true;
        return false;
}

/* Adds the variables that do not occur below their quantifier. */
static void add_unused(struct term_list *all)
{
        cleanup_term_map struct term_map seen = {0};
        size_t n = all->n;

        for (size_t i = 0; i < n; i++)
                if (all->list[i]->kind == TERM_VARIABLE)
                        term_map_set(&seen, all->list[i], 1);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < term_first_arg(all->list[i]); k++) {
                        const struct term *v = all->list[i]->args[k];

                        if (term_map_get(&seen, v) == 0)
                                term_list_add(all, v);
                        term_map_set(&seen, v, 1);
                }
}

static void choose_names(struct printer *p, const struct term *root)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_term_map struct term_map symbols = {0}; /* 1: a function's; 2: a variable's; 4: of two variables */

        term_subterms(&root, 1, &all);
        if (root->has_quantifier)
                add_unused(&all);
        choose_prefix(p, &all);
        if (!root->has_quantifier)
                return;
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION)
                        id_map_set(&symbols, all.list[i]->function->symbol->id, 1);
        for (size_t i = 0; i < all.n; i++) {
                const struct term *t = all.list[i];
                uint32_t is;

                if (t->kind != TERM_VARIABLE)
                        continue;
                is = id_map_get(&symbols, t->symbol->id);
                if (is == 1)
                        rename_variable(p, t);
                else
                        id_map_set(&symbols, t->symbol->id, is == 0 ? 2 : 4);
        }
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->is_open && term_is_quantifier(all.list[i]) && binds_one_of_two(all.list[i], &symbols))
                        rename_within(p, all.list[i]);
}

int term_print(const struct term *t, const struct print_options *o, struct buffer *ret)
{
        static const struct print_options usual = {.dialect = DIALECT_2_6};
        cleanup(printer_done) struct printer p = {.options = o ? o : &usual, .out = ret, .begin = ret->size};

        choose_names(&p, t);
        for (begin_region(&p, t, true); p.n_frames > 0;) {
                step(&p);
                if (p.options->term_bytes_most > 0 && ret->size - p.begin > p.options->term_bytes_most)
                        return errorf(-EFBIG, "the text would be longer than %zu bytes", p.options->term_bytes_most);
        }
        return buffer_error(ret);
}
