/* Substitution, rewriting, copying: all by a stack of their own. */
#include "core/smtlib/smtlib_internal.h"

/* -- replacing in one place -- */

static const struct term *with_arg(struct bank *b, const struct term *t, size_t at, const struct term *x)
{
        cleanup_free const struct term **args = malloc(t->n_args * sizeof(*args));

        if (!args) {
                bank_failed(b, -ENOMEM);
                return NULL;
        }
        memcpy(args, t->args, t->n_args * sizeof(*args));
        args[at] = x;
        return term_with_args(b, t, args);
}

const struct term *term_replace_at(struct bank *b, const struct term_places *p, size_t at, const struct term *with)
{
        const struct term *is = p->list[at].term;

        if (with && !sort_agrees(is->sort, with->sort) && !(is->sort->kind == SORT_REAL && with->sort->kind == SORT_INT)) {
                bank_errorf(b, -EINVAL, "a term of another sort cannot stand there");
                return NULL;
        }
        for (; with && at != p->list[at].parent; at = p->list[at].parent)
                with = with_arg(b, p->list[p->list[at].parent].term, p->list[at].arg, with);
        return with;
}

/* -- substitution -- */

/* The replacements in force here. A quantifier that takes something from them or adds to them has another set below it. */
struct scope {
        struct term_map pairs; /* a term: index of its replacement in `to`, and 1 */
        struct term_map done;  /* a term: index of its result in `results`, and 1 */
};

struct frame {
        const struct term *term;
        uint32_t next;
        size_t values; /* of its arguments begin there */
        size_t scope;  /* it is in, */
        size_t inner;  /* its arguments are in */
};

struct substitution {
        struct bank *bank;
        struct term_list to, results, values;
        struct term_list from;          /* all that is looked for at the outermost */
        struct term_map variables_to;   /* free in a replacement: 1 */
        struct term_map variables_from; /* free in what is looked for: 1 */
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

static int add_scope(struct substitution *s)
{
        if (list_grow(s->scopes, s->n_scopes) < 0)
                return -ENOMEM;
        s->scopes[s->n_scopes++] = (struct scope){0};
        return 0;
}

static int add_pair(struct substitution *s, struct scope *scope, const struct term *from, const struct term *to)
{
        if (term_list_add(&s->to, to) < 0)
                return -ENOMEM;
        return term_map_set(&scope->pairs, from, (uint32_t)s->to.n);
}

static int mark_variables(struct term_map *m, const struct term *t)
{
        cleanup_term_list struct term_list list = {0};
        int r = term_free_variables(t, &list);

        for (size_t i = 0; r == 0 && i < list.n; i++)
                r = term_map_set(m, list.list[i], 1);
        return r;
}

/* Does anything that is replaced in the scope occur in the body? Only asked where a variable could be captured. */
static int has_work(const struct scope *scope, const struct term *body)
{
        cleanup_term_list struct term_list all = {0};
        int r = term_subterms(&body, 1, &all);

        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (term_map_get(&scope->pairs, all.list[i]) != 0)
                        return 1;
        return r;
}

/* The scope of a quantifier's body, and its variables onto the values. */
static int enter_quantifier(struct substitution *s, const struct term *q, size_t outer, size_t *ret)
{
        bool drops = false, captures = false;
        struct scope *inner;
        int r;

        for (size_t i = 0; i < q->n_bound; i++) {
                drops |= term_map_get(&s->variables_from, q->args[i]) != 0 ||
                         term_map_get(&s->scopes[outer].pairs, q->args[i]) != 0;
                captures |= term_map_get(&s->variables_to, q->args[i]) != 0;
        }
        *ret = outer;
        if (!drops && !captures) {
                for (size_t i = 0; i < q->n_bound; i++)
                        if (term_list_add(&s->values, q->args[i]) < 0)
                                return -ENOMEM;
                return 0;
        }
        if (add_scope(s) < 0)
                return -ENOMEM;
        *ret = s->n_scopes - 1;
        inner = &s->scopes[*ret];
        for (size_t i = 0; i < s->from.n; i++) {
                uint32_t at = term_map_get(&s->scopes[outer].pairs, s->from.list[i]);

                if (at == 0 || (r = term_has_free(s->from.list[i], q->args, q->n_bound)) > 0)
                        continue;
                if (r < 0 || term_map_set(&inner->pairs, s->from.list[i], at) < 0)
                        return -ENOMEM;
        }
        if (captures && (r = has_work(inner, term_body(q))) <= 0)
                captures = false;
        for (size_t i = 0; i < q->n_bound; i++) {
                const struct term *v = q->args[i];

                if (captures && term_map_get(&s->variables_to, v) != 0) {
                        const struct term *fresh = term_variable(s->bank, symbol_fresh(s->bank, v->symbol->name), v->sort);

                        if (!fresh || add_pair(s, inner, v, fresh) < 0 || term_list_add(&s->from, v) < 0)
                                return -ENOMEM;
                        v = fresh;
                }
                if (term_list_add(&s->values, v) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int enter(struct substitution *s, const struct term *t, size_t scope)
{
        uint32_t at = term_map_get(&s->scopes[scope].pairs, t);
        struct frame f = {.term = t, .values = s->values.n, .scope = scope, .inner = scope};

        if (at != 0)
                return term_list_add(&s->values, s->to.list[at - 1]);
        at = term_map_get(&s->scopes[scope].done, t);
        if (at != 0)
                return term_list_add(&s->values, s->results.list[at - 1]);
        if (t->n_args == 0)
                return term_list_add(&s->values, t);
        if (term_is_quantifier(t)) {
                if (enter_quantifier(s, t, scope, &f.inner) < 0)
                        return -ENOMEM;
                f.next = t->n_bound;
        }
        if (list_grow(s->frames, s->n_frames) < 0)
                return -ENOMEM;
        s->frames[s->n_frames++] = f;
        return 0;
}

static int leave(struct substitution *s, const struct frame *f)
{
        const struct term *made = term_with_args(s->bank, f->term, s->values.list + f->values);

        if (!made)
                return s->bank->error;
        s->values.n = f->values;
        if (f->inner != f->scope) {
                scope_done(&s->scopes[f->inner]);
                s->n_scopes--;
        }
        if (term_list_add(&s->results, made) < 0 || term_map_set(&s->scopes[f->scope].done, f->term, (uint32_t)s->results.n) < 0)
                return -ENOMEM;
        return term_list_add(&s->values, made);
}

static int run(struct substitution *s, const struct term *t)
{
        int r = enter(s, t, 0);

        while (r == 0 && s->n_frames > 0) {
                struct frame *f = &s->frames[s->n_frames - 1];

                if (f->next < f->term->n_args) {
                        const struct term *x = f->term->args[f->next++];

                        r = enter(s, x, f->inner);
                } else {
                        struct frame done = *f;

                        s->n_frames--;
                        r = leave(s, &done);
                }
        }
        return r;
}

const struct term *term_substitute(struct bank *b, const struct term *t, const struct term *const *from,
                                   const struct term *const *to, size_t n)
{
        cleanup(substitution_done) struct substitution s = {.bank = b};
        int r = 0;

        if (!t || add_scope(&s) < 0)
                return NULL;
        for (size_t i = 0; i < n && r == 0; i++) {
                if (!from[i] || !to[i])
                        return NULL;
                if (!sort_agrees(from[i]->sort, to[i]->sort) &&
                    !(from[i]->sort->kind == SORT_REAL && to[i]->sort->kind == SORT_INT)) {
                        bank_errorf(b, -EINVAL, "a term is replaced by one of its own sort only");
                        return NULL;
                }
                r = mark_variables(&s.variables_from, from[i]);
                if (r == 0)
                        r = mark_variables(&s.variables_to, to[i]);
                if (r == 0 && term_list_add(&s.from, from[i]) < 0)
                        r = -ENOMEM;
                if (r == 0)
                        r = add_pair(&s, &s.scopes[0], from[i], to[i]);
        }
        if (r == 0)
                r = run(&s, t);
        if (r < 0) {
                bank_failed(b, r);
                return NULL;
        }
        return s.values.list[0];
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
        int r = t ? term_subterms(&t, 1, &all) : -ENOMEM;

        if (r == 0)
                r = term_map_init(&map, &t, 1);
        for (size_t i = 0; r == 0 && i < all.n; i++) {
                const struct term *x = all.list[i];

                args.n = 0;
                for (size_t k = 0; r == 0 && k < x->n_args; k++)
                        r = term_list_add(&args, k < term_first_arg(x) ? x->args[k] : results.list[term_map_get(&map, x->args[k]) - 1]);
                if (r == 0)
                        r = term_list_add(&results, make(user, x, args.list));
                if (r == 0)
                        r = term_map_set(&map, x, (uint32_t)results.n);
        }
        if (r < 0)
                bank_failed(b, r);
        return r < 0 ? NULL : results.list[results.n - 1];
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

        for (size_t i = 0; i < t->n_args; i++) {
                if (i < term_first_arg(t))
                        args[i] = term_variable(to, symbol_of(to, t->args[i]->symbol->name), sort_copy(to, t->args[i]->sort));
                if (!args[i])
                        return NULL;
        }
        h.sort = sort_copy(to, t->sort);
        if (t->kind == TERM_ANNOTATED)
                h.value = t->value ? symbol_of(to, t->value->name) : NULL;
        else
                memcpy(h.index, t->index, sizeof(h.index));
        if (t->kind == TERM_FUNCTION)
                h.function = function_copy(to, t->function);
        else if (t->symbol)
                h.symbol = symbol_of(to, t->symbol->name);
        if (!h.sort || (t->symbol && !h.symbol) || (t->kind == TERM_ANNOTATED && t->value && !h.value))
                return NULL;
        return term_intern(to, &h, args, t->n_args);
}

const struct term *term_copy(struct bank *to, const struct term *t)
{
        return term_rebuild(to, t, copied, to);
}
