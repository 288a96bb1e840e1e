/* Substitution, rewriting, copying: each with its own stack. */
#include "core/smtlib/smtlib_internal.h"

/* -- replacing in one place -- */

const struct term *term_replace_at(struct bank *b, const struct term_places *p, size_t at, const struct term *with)
{
        const struct term *is = p->list[at].term;

        if (with && !sort_takes(is->sort, with->sort)) {
                bank_errorf(b, "a term of another sort cannot stand there");
                return NULL;
        }
        for (; with && at != p->list[at].parent; at = p->list[at].parent) {
                const struct term *t = p->list[p->list[at].parent].term;
                cleanup_free const struct term **args = allocate(t->n_args, sizeof(*args));

                memcpy(args, t->args, t->n_args * sizeof(*args));
                args[p->list[at].arg] = with;
                with = term_with_args(b, t, args);
        }
        return with;
}

/* -- substitution -- */

/* The replacements in force in a scope. A quantifier that adds or removes a replacement begins a new scope. */
struct scope {
        struct term_map pairs; /* by term: index of its replacement in `to`, plus 1 */
        struct term_map done;  /* by term: index of its result in `results`, plus 1 */
};

struct frame {
        const struct term *term;
        uint32_t next;
        size_t values; /* where its arguments' results begin */
        size_t scope;  /* of the term itself */
        size_t inner;  /* of its arguments */
};

struct substitution {
        struct bank *bank;
        struct term_list to, results, values;
        struct term_list from;          /* the terms replaced in the outermost scope */
        struct term_map variables_to;   /* free in a replacement: 1 */
        struct term_map variables_from; /* free in a replaced term: 1 */
        struct scope *scopes;
        size_t n_scopes;
        struct frame *frames;
        size_t n_frames;
};

static void scope_done(struct scope *s)
{
        term_map_done(&s->pairs);
        term_map_done(&s->done);
}

static void substitution_done(struct substitution *s)
{
        for (size_t i = 0; i < s->n_scopes; i++)
                scope_done(&s->scopes[i]);
        free(s->scopes);
        free(s->frames);
        term_list_done(&s->to);
        term_list_done(&s->from);
        term_list_done(&s->results);
        term_list_done(&s->values);
        term_map_done(&s->variables_to);
        term_map_done(&s->variables_from);
}

static void add_scope(struct substitution *s)
{
        list_add(s->scopes, s->n_scopes, (struct scope){0});
}

static void add_pair(struct substitution *s, struct scope *scope, const struct term *from, const struct term *to)
{
        term_list_add(&s->to, to);
        term_map_set(&scope->pairs, from, (uint32_t)s->to.n);
}

static void mark_variables(struct term_map *m, const struct term *t)
{
        cleanup_term_list struct term_list list = {0};

        term_free_variables(t, &list);
        for (size_t i = 0; i < list.n; i++)
                term_map_set(m, list.list[i], 1);
}

/* True if a replaced term of the scope occurs in the body. Only asked if a variable could be captured. */
static bool occurs_in(const struct scope *scope, const struct term *body)
{
        cleanup_term_list struct term_list all = {0};

        term_subterms(&body, 1, &all);
        for (size_t i = 0; i < all.n; i++)
                if (term_map_get(&scope->pairs, all.list[i]) != 0)
                        return true;
        return false;
}

/* Makes the scope of a quantifier's body, and pushes its variables onto the values. */
static size_t enter_quantifier(struct substitution *s, const struct term *q, size_t outer)
{
        bool drops = false;    /* it binds a variable of a replaced term, which is another term below it */
        bool captures = false; /* it binds a variable of a replacement: that one is renamed here */
        struct scope *inner = NULL;

        for (size_t i = 0; i < q->n_bound; i++) {
                drops |= term_map_get(&s->variables_from, q->args[i]) != 0 ||
                         term_map_get(&s->scopes[outer].pairs, q->args[i]) != 0;
                captures |= term_map_get(&s->variables_to, q->args[i]) != 0;
        }
        if (drops || captures) {
                add_scope(s);
                inner = &s->scopes[s->n_scopes - 1];
        }
        for (size_t i = 0; inner && i < s->from.n; i++) { /* replacements that stay in force */
                uint32_t at = term_map_get(&s->scopes[outer].pairs, s->from.list[i]);

                if (at != 0 && !term_has_free(s->from.list[i], q->args, q->n_bound))
                        term_map_set(&inner->pairs, s->from.list[i], at);
        }
        captures = captures && occurs_in(inner, term_body(q));
        for (size_t i = 0; i < q->n_bound; i++) {
                const struct term *v = q->args[i];

                if (captures && term_map_get(&s->variables_to, v) != 0) {
                        const struct term *fresh = term_variable(s->bank, symbol_fresh(s->bank, v->symbol->name), v->sort);

                        add_pair(s, inner, v, fresh);
                        term_list_add(&s->from, v);
                        v = fresh;
                }
                term_list_add(&s->values, v);
        }
        return inner ? s->n_scopes - 1 : outer;
}

/* Pushes a term's result onto the values, or a frame that will. */
static void enter(struct substitution *s, const struct term *t, size_t scope)
{
        uint32_t to = term_map_get(&s->scopes[scope].pairs, t), done = to ? 0 : term_map_get(&s->scopes[scope].done, t);
        struct frame f = {.term = t, .values = s->values.n, .scope = scope, .inner = scope};

        if (to != 0 || done != 0 || t->n_args == 0) {
                term_list_add(&s->values, to ? s->to.list[to - 1] : done ? s->results.list[done - 1] : t);
                return;
        }
        if (term_is_quantifier(t))
                f.inner = enter_quantifier(s, t, scope);
        f.next = (uint32_t)term_first_arg(t);
        list_add(s->frames, s->n_frames, f);
}

/* Replaces the results of a term's arguments by its own. False on the bank's error. */
static bool leave(struct substitution *s, const struct frame *f)
{
        const struct term *made = term_with_args(s->bank, f->term, s->values.list + f->values);

        if (!made)
                return false;
        s->values.n = f->values;
        if (f->inner != f->scope)
                scope_done(&s->scopes[--s->n_scopes]);
        term_list_add(&s->results, made);
        term_map_set(&s->scopes[f->scope].done, f->term, (uint32_t)s->results.n);
        term_list_add(&s->values, made);
        return true;
}

static const struct term *run(struct substitution *s, const struct term *t)
{
        for (enter(s, t, 0); s->n_frames > 0;) {
                struct frame *f = &s->frames[s->n_frames - 1];

                if (f->next < f->term->n_args)
                        enter(s, f->term->args[f->next++], f->inner);
                else if (!leave(s, &s->frames[--s->n_frames]))
                        return NULL;
        }
        return s->values.list[0];
}

const struct term *term_substitute(struct bank *b, const struct term *t, const struct term *const *from,
                                   const struct term *const *to, size_t n)
{
        cleanup(substitution_done) struct substitution s = {.bank = b};

        if (!t)
                return NULL;
        add_scope(&s);
        for (size_t i = 0; i < n; i++) {
                if (!from[i] || !to[i])
                        return NULL;
                if (!sort_takes(from[i]->sort, to[i]->sort)) {
                        bank_errorf(b, "a term is replaced by one of its own sort only");
                        return NULL;
                }
                mark_variables(&s.variables_from, from[i]);
                mark_variables(&s.variables_to, to[i]);
                term_list_add(&s.from, from[i]);
                add_pair(&s, &s.scopes[0], from[i], to[i]);
        }
        return run(&s, t);
}

const struct term *term_instantiate(struct bank *b, const struct term *quantifier, const struct term *const *with, size_t n)
{
        const struct term *body;

        assert(term_is_quantifier(quantifier) && n <= quantifier->n_bound);
        body = term_quantifier(b, quantifier->kind, quantifier->args + n, quantifier->n_bound - n, term_body(quantifier));
        return term_substitute(b, body, quantifier->args, with, n);
}

/* -- rewriting -- */

const struct term *term_rebuild(struct bank *b, const struct term *t,
                                const struct term *(*make)(void *user, const struct term *t, const struct term **args), void *user)
{
        cleanup_term_list struct term_list all = {0}, results = {0}, args = {0};
        cleanup_term_map struct term_map map = {0};

        if (!t)
                return NULL;
        term_subterms(&t, 1, &all);
        term_map_init(&map, &t, 1);
        for (size_t i = 0; i < all.n; i++) {
                const struct term *x = all.list[i];

                args.n = 0;
                for (size_t k = 0; k < x->n_args; k++)
                        term_list_add(&args, k < term_first_arg(x) ? x->args[k] : results.list[term_map_get(&map, x->args[k]) - 1]);
                term_list_add(&results, make(user, x, args.list));
                term_map_set(&map, x, (uint32_t)results.n);
        }
        return results.list[results.n - 1];
}

struct rewriting {
        struct bank *bank;
        const struct term *(*rewrite)(void *user, struct bank *b, const struct term *t);
        void *user;
};

static const struct term *rewritten(void *user, const struct term *t, const struct term **args)
{
        const struct rewriting *r = user;

        t = term_with_args(r->bank, t, args);
        return t ? r->rewrite(r->user, r->bank, t) : NULL;
}

const struct term *term_rewrite(struct bank *b, const struct term *t,
                                const struct term *(*rewrite)(void *user, struct bank *b, const struct term *t), void *user)
{
        return term_rebuild(b, t, rewritten, &(struct rewriting){b, rewrite, user});
}

/* -- copying -- */

static const struct term *copied(void *user, const struct term *t, const struct term **args)
{
        struct bank *to = user;
        struct term_head h = {.kind = t->kind, .op = t->op, .is_qualified = t->is_qualified, .is_open = t->is_open};

        for (size_t i = 0; i < term_first_arg(t); i++)
                args[i] = term_variable(to, symbol_of(to, t->args[i]->symbol->name), sort_copy(to, t->args[i]->sort));
        h.sort = sort_copy(to, t->sort);
        if (t->kind == TERM_ANNOTATED)
                h.value = t->value ? symbol_of(to, t->value->name) : NULL;
        else
                memcpy(h.index, t->index, sizeof(h.index));
        if (t->kind == TERM_FUNCTION)
                h.function = function_copy(to, t->function);
        else if (t->symbol)
                h.symbol = symbol_of(to, t->symbol->name);
        return term_intern(to, &h, args, t->n_args);
}

const struct term *term_copy(struct bank *to, const struct term *t)
{
        return term_rebuild(to, t, copied, to);
}
