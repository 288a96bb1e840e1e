/* Passes over terms. None recurs: a term may be as deep as memory allows. */
#include "core/smtlib/smtlib_internal.h"

/* -- maps -- */

int term_map_init(struct term_map *m, const struct term *const *roots, size_t n)
{
        uint64_t reach = 0;
        size_t top = 0;

        *m = (struct term_map){0};
        for (size_t i = 0; i < n; i++) {
                reach += MIN(roots[i]->tree_size, (uint64_t)UINT32_MAX);
                top = MAX(top, (size_t)roots[i]->id + 1);
        }
        if (top > 1024 && top / 16 > reach)
                return 0; /* sparse */
        m->dense = calloc(top + 1, sizeof(*m->dense));
        m->n_dense = top;
        return m->dense ? 0 : -ENOMEM;
}

void term_map_done(struct term_map *m)
{
        free(m->dense);
        free(m->slots);
        *m = (struct term_map){0};
}

static uint32_t id_hash(uint32_t id_and_1)
{
        uint32_t h = id_and_1 * UINT32_C(0x9e3779b9);

        return h ^ h >> 15;
}

static size_t map_slot(const struct term_map *m, uint32_t id)
{
        size_t at = id_hash(id + 1) & m->mask;

        while (m->slots[at].id_and_1 != 0 && m->slots[at].id_and_1 != id + 1)
                at = (at + 1) & m->mask;
        return at;
}

uint32_t id_map_get(const struct term_map *m, uint32_t id)
{
        if (m->dense)
                return id < m->n_dense ? m->dense[id] : 0;
        return m->slots ? m->slots[map_slot(m, id)].value : 0;
}

static int map_grow(struct term_map *m)
{
        struct term_map grown = {.mask = m->slots ? m->mask * 2 + 1 : 63, .n = m->n};

        grown.slots = calloc(grown.mask + 1, sizeof(*grown.slots));
        if (!grown.slots)
                return -ENOMEM;
        for (size_t i = 0; m->slots && i <= m->mask; i++)
                if (m->slots[i].id_and_1 != 0)
                        grown.slots[map_slot(&grown, m->slots[i].id_and_1 - 1)] = m->slots[i];
        free(m->slots);
        *m = grown;
        return 0;
}

int id_map_set(struct term_map *m, uint32_t id, uint32_t value)
{
        size_t at;

        if (m->dense) {
                assert(id < m->n_dense);
                m->dense[id] = value;
                return 0;
        }
        if ((!m->slots || (m->n + 1) * 3 > (m->mask + 1) * 2) && map_grow(m) < 0)
                return -ENOMEM;
        at = map_slot(m, id);
        m->n += m->slots[at].id_and_1 == 0;
        m->slots[at].id_and_1 = id + 1;
        m->slots[at].value = value;
        return 0;
}

/* -- lists -- */

void term_list_done(struct term_list *l)
{
        free(l->list);
        *l = (struct term_list){0};
}

int term_list_add(struct term_list *l, const struct term *t)
{
        if (list_grow(l->list, l->n) < 0)
                return -ENOMEM;
        l->list[l->n++] = t;
        return 0;
}

/* -- subterms -- */

struct walk_frame {
        const struct term *term;
        uint32_t next; /* argument */
};
struct walk {
        struct walk_frame *stack;
        size_t n;
};

static void walk_done(struct walk *w)
{
        free(w->stack);
}

static int walk_push(struct walk *w, const struct term *t)
{
        if (list_grow(w->stack, w->n) < 0)
                return -ENOMEM;
        w->stack[w->n++] = (struct walk_frame){t, (uint32_t)term_first_arg(t)};
        return 0;
}

/* Those below root that the map has not seen, and root. */
static int add_subterms(struct walk *w, struct term_map *seen, const struct term *root, struct term_list *ret)
{
        if (term_map_get(seen, root) != 0)
                return 0;
        if (term_map_set(seen, root, 1) < 0 || walk_push(w, root) < 0)
                return -ENOMEM;
        while (w->n > 0) {
                struct walk_frame *f = &w->stack[w->n - 1];
                const struct term *x;

                if (f->next == f->term->n_args) {
                        if (term_list_add(ret, f->term) < 0)
                                return -ENOMEM;
                        w->n--;
                        continue;
                }
                x = f->term->args[f->next++];
                if (term_map_get(seen, x) != 0)
                        continue;
                if (term_map_set(seen, x, 1) < 0 || (x->n_args > 0 ? walk_push(w, x) : term_list_add(ret, x)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int term_subterms(const struct term *const *roots, size_t n, struct term_list *ret)
{
        cleanup_term_map struct term_map seen = {0};
        cleanup(walk_done) struct walk w = {0};
        cleanup_term_list struct term_list list = {0};
        int r = term_map_init(&seen, roots, n);

        for (size_t i = 0; r == 0 && i < n; i++)
                r = add_subterms(&w, &seen, roots[i], &list);
        if (r < 0)
                return r;
        *ret = list;
        list = (struct term_list){0};
        return 0;
}

size_t term_dag_size(const struct term *t)
{
        cleanup_term_list struct term_list all = {0};

        return term_subterms(&t, 1, &all) < 0 ? 0 : all.n;
}

int term_functions(const struct term *const *roots, size_t n, const struct function ***ret, size_t *ret_n)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_free const struct function **list = NULL;
        cleanup_free uint8_t *seen = NULL;
        size_t n_seen = 0, n_list = 0;
        int r = term_subterms(roots, n, &all);

        if (r < 0)
                return r;
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION)
                        n_seen = MAX(n_seen, (size_t)all.list[i]->function->id + 1);
        seen = calloc(n_seen + 1, 1);
        if (!seen)
                return -ENOMEM;
        for (size_t i = 0; i < all.n; i++) {
                const struct function *f = all.list[i]->kind == TERM_FUNCTION ? all.list[i]->function : NULL;

                if (!f || seen[f->id])
                        continue;
                seen[f->id] = 1;
                if (list_grow(list, n_list) < 0)
                        return -ENOMEM;
                list[n_list++] = f;
        }
        *ret = steal_pointer(list);
        *ret_n = n_list;
        return 0;
}

/* -- free variables -- */

/* Quantifiers with free variables are worked out once each, inner ones first, so that shared ones do not cost again. */
struct free_sets {
        struct term_map visited;  /* the number of the region that came by last */
        struct term_map set;      /* of a quantifier: index of its list, and 1 */
        struct term_map is_bound; /* of a variable: the number of the region that binds it */
        struct term_list *lists;
        size_t n;
        uint32_t region;
        struct walk walk;
};

static void free_sets_done(struct free_sets *s)
{
        for (size_t i = 0; i < s->n; i++)
                term_list_done(&s->lists[i]);
        free(s->lists);
        term_map_done(&s->visited);
        term_map_done(&s->set);
        term_map_done(&s->is_bound);
        walk_done(&s->walk);
}

static int visit_variable(struct free_sets *s, const struct term *v, struct term_list *ret)
{
        if (term_map_get(&s->is_bound, v) == s->region)
                return 0;
        if (term_map_set(&s->is_bound, v, s->region) < 0) /* once is enough */
                return -ENOMEM;
        return term_list_add(ret, v);
}

static int visit(struct free_sets *s, const struct term *t, struct term_list *ret)
{
        const struct term_list *inner;

        if (!t->is_open || term_map_get(&s->visited, t) == s->region)
                return 0;
        if (term_map_set(&s->visited, t, s->region) < 0)
                return -ENOMEM;
        if (t->kind == TERM_VARIABLE)
                return visit_variable(s, t, ret);
        if (!term_is_quantifier(t))
                return walk_push(&s->walk, t);
        inner = &s->lists[term_map_get(&s->set, t) - 1];
        for (size_t i = 0; i < inner->n; i++)
                if (visit_variable(s, inner->list[i], ret) < 0)
                        return -ENOMEM;
        return 0;
}

/* The free variables of `body` without the first `n_bound` arguments of the quantifier. */
static int region(struct free_sets *s, const struct term *const *bound, size_t n_bound, const struct term *body,
                  struct term_list *ret)
{
        s->region++;
        for (size_t i = 0; i < n_bound; i++)
                if (term_map_set(&s->is_bound, bound[i], s->region) < 0)
                        return -ENOMEM;
        if (visit(s, body, ret) < 0)
                return -ENOMEM;
        while (s->walk.n > 0) {
                struct walk_frame *f = &s->walk.stack[s->walk.n - 1];

                if (f->next == f->term->n_args)
                        s->walk.n--;
                else if (visit(s, f->term->args[f->next++], ret) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int by_id(const void *a, const void *b)
{
        uint32_t x = (*(const struct term *const *)a)->id, y = (*(const struct term *const *)b)->id;

        return x < y ? -1 : x > y;
}

int term_free_variables(const struct term *t, struct term_list *ret)
{
        cleanup(free_sets_done) struct free_sets s = {0};
        cleanup_term_list struct term_list all = {0}, found = {0};
        int r;

        if (!t->is_open) {
                *ret = found;
                return 0;
        }
        if (t->has_quantifier && (r = term_subterms(&t, 1, &all)) < 0)
                return r;
        for (size_t i = 0; i < all.n; i++) {
                const struct term *q = all.list[i];

                if (!q->is_open || !term_is_quantifier(q))
                        continue;
                if (list_grow(s.lists, s.n) < 0)
                        return -ENOMEM;
                s.lists[s.n++] = (struct term_list){0};
                if (region(&s, q->args, q->n_bound, term_body(q), &s.lists[s.n - 1]) < 0 ||
                    term_map_set(&s.set, q, (uint32_t)s.n) < 0)
                        return -ENOMEM;
        }
        if (region(&s, NULL, 0, t, &found) < 0)
                return -ENOMEM;
        sort_list(found.list, found.n, sizeof(*found.list), by_id);
        *ret = found;
        found = (struct term_list){0};
        return 0;
}

static bool is_among(const struct term *t, const struct term *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (list[i] == t)
                        return true;
        return false;
}

/* How many of its free variables are among these; *ret_n: of how many. */
static int count_free(const struct term *t, const struct term *const *variables, size_t n, size_t *ret, size_t *ret_n)
{
        cleanup_term_list struct term_list list = {0};
        int r = term_free_variables(t, &list);

        *ret = 0;
        *ret_n = list.n;
        for (size_t i = 0; i < list.n; i++)
                *ret += is_among(list.list[i], variables, n);
        return r;
}

int term_is_closed_by(const struct term *t, const struct term *const *variables, size_t n)
{
        size_t found, all;
        int r = count_free(t, variables, n, &found, &all);

        return r < 0 ? r : found == all;
}

int term_has_free(const struct term *t, const struct term *const *variables, size_t n)
{
        size_t found, all;
        int r = count_free(t, variables, n, &found, &all);

        return r < 0 ? r : found > 0;
}

/* -- places -- */

void term_places_done(struct term_places *p)
{
        free(p->list);
        *p = (struct term_places){0};
}

/* Patterns of annotations have no places: what stands there changes how a solver searches, not what is meant. */
static size_t last_arg(const struct term *t)
{
        return t->kind == TERM_ANNOTATED ? 1 : t->n_args;
}

int term_places(const struct term *root, size_t most, struct term_places *ret)
{
        cleanup_term_places struct term_places p = {.is_whole = true};
        cleanup_free struct place_frame {
                uint32_t place, next;
        } *stack = NULL;
        size_t depth = 0;

        most = MIN(most, (size_t)UINT32_MAX - 1);
        if (most == 0 || list_grow(p.list, p.n) < 0 || list_grow(stack, depth) < 0)
                return -ENOMEM;
        p.list[p.n++] = (struct term_place){.term = root};
        stack[depth++] = (struct place_frame){0, (uint32_t)term_first_arg(root)};
        while (depth > 0) {
                struct place_frame *f = &stack[depth - 1];
                const struct term *t = p.list[f->place].term, *x;

                if (f->next == last_arg(t)) {
                        depth--;
                        continue;
                }
                if (p.n == most) {
                        p.is_whole = false;
                        break;
                }
                if (list_grow(p.list, p.n) < 0 || list_grow(stack, depth) < 0)
                        return -ENOMEM;
                f = &stack[depth - 1];
                x = t->args[f->next];
                p.list[p.n] = (struct term_place){x, f->place, f->next++, p.list[f->place].depth + 1};
                if (x->n_args > 0)
                        stack[depth++] = (struct place_frame){(uint32_t)p.n, (uint32_t)term_first_arg(x)};
                p.n++;
        }
        *ret = p;
        p = (struct term_places){0};
        return 0;
}

int term_variables_at(const struct term_places *p, size_t at, struct term_list *ret)
{
        cleanup_term_list struct term_list list = {0};

        for (size_t i = at; i != p->list[i].parent;) {
                const struct term *t;

                i = p->list[i].parent;
                t = p->list[i].term;
                for (size_t k = term_first_arg(t); k > 0; k--)
                        if (term_list_add(&list, t->args[k - 1]) < 0)
                                return -ENOMEM;
        }
        for (size_t i = 0; i < list.n / 2; i++) {
                const struct term *t = list.list[i];

                list.list[i] = list.list[list.n - 1 - i];
                list.list[list.n - 1 - i] = t;
        }
        *ret = list;
        list = (struct term_list){0};
        return 0;
}
