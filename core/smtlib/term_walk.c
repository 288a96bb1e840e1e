/* Passes over terms. None is recursive: a term may be as deep as memory allows. */
#include "core/smtlib/smtlib_internal.h"

/* -- maps -- */

void term_map_init(struct term_map *m, const struct term *const *roots, size_t n)
{
        uint64_t reach = 0;
        size_t top = 0;

        *m = (struct term_map){0};
        for (size_t i = 0; i < n; i++) {
                reach += MIN(roots[i]->tree_size, (uint64_t)UINT32_MAX);
                top = MAX(top, (size_t)roots[i]->id + 1);
        }
        if (top > 1024 && top / 16 > reach)
                return; /* sparse */
        m->dense = allocate(top, sizeof(*m->dense));
        m->n_dense = top;
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

static void map_grow(struct term_map *m)
{
        struct term_map grown = {.mask = m->slots ? m->mask * 2 + 1 : 63, .n = m->n};

        grown.slots = allocate(grown.mask + 1, sizeof(*grown.slots));
        for (size_t i = 0; m->slots && i <= m->mask; i++)
                if (m->slots[i].id_and_1 != 0)
                        grown.slots[map_slot(&grown, m->slots[i].id_and_1 - 1)] = m->slots[i];
        free(m->slots);
        *m = grown;
}

void id_map_set(struct term_map *m, uint32_t id, uint32_t value)
{
        size_t at;

        if (m->dense) {
                assert(id < m->n_dense);
                m->dense[id] = value;
                return;
        }
        if (!m->slots || (m->n + 1) * 3 > (m->mask + 1) * 2)
                map_grow(m);
        at = map_slot(m, id);
        m->n += m->slots[at].id_and_1 == 0;
        m->slots[at] = (struct term_map_slot){id + 1, value};
}

/* -- lists -- */

void term_list_done(struct term_list *l)
{
        free(l->list);
        *l = (struct term_list){0};
}

/* Room of a list from its first term on: most do not get longer. */
#define LIST_LEAST 15

void term_list_add(struct term_list *l, const struct term *t)
{
        if (l->n == 0 || l->n >= LIST_LEAST)
                list_grow(l->list, MAX(l->n, (size_t)LIST_LEAST / 2)); /* behind 7 it makes room for 15 */
        l->list[l->n++] = t;
}

void term_list_reverse(struct term_list *l)
{
        for (size_t i = 0; i < l->n / 2; i++) {
                const struct term *t = l->list[i];

                l->list[i] = l->list[l->n - 1 - i];
                l->list[l->n - 1 - i] = t;
        }
}

/* -- subterms -- */

struct walk_frame {
        const struct term *term;
        uint32_t next; /* argument */
};

/* Lists the subterms of the roots, each once. With `is_region` only open ones, and none below a quantifier. */
static void walk(const struct term *const *roots, size_t n, bool is_region, struct term_list *ret)
{
        cleanup_term_map struct term_map seen = {0};
        cleanup_free struct walk_frame *stack = NULL;
        size_t depth = 0, size = 0;

        if (!is_region)
                term_map_init(&seen, roots, n);
        for (size_t i = 0; i < n; i++)
                for (const struct term *x = roots[i]; x || depth > 0;) {
                        struct walk_frame *f;

                        if (x && term_map_get(&seen, x) == 0 && (x->is_open || !is_region || depth == 0)) {
                                bool is_leaf = is_region && term_is_quantifier(x);

                                term_map_set(&seen, x, 1);
                                grow(stack, depth, size);
                                stack[depth++] = (struct walk_frame){x, (uint32_t)(is_leaf ? x->n_args : term_first_arg(x))};
                        }
                        x = NULL;
                        f = depth > 0 ? &stack[depth - 1] : NULL;
                        if (f && f->next < f->term->n_args)
                                x = f->term->args[f->next++];
                        else if (f)
                                term_list_add(ret, stack[--depth].term);
                }
}

void term_subterms(const struct term *const *roots, size_t n, struct term_list *ret)
{
        *ret = (struct term_list){0};
        walk(roots, n, false, ret);
}

void term_open_subterms(const struct term *root, struct term_list *ret)
{
        walk(&root, 1, true, ret);
}

size_t term_dag_size(const struct term *t)
{
        cleanup_term_list struct term_list all = {0};

        term_subterms(&t, 1, &all);
        return all.n;
}

void term_functions(const struct term *const *roots, size_t n, const struct function ***ret, size_t *ret_n)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_term_map struct term_map seen = {0}; /* by function */
        const struct function **list = NULL;

        *ret_n = 0;
        term_subterms(roots, n, &all);
        for (size_t i = 0; i < all.n; i++) {
                const struct function *f = all.list[i]->kind == TERM_FUNCTION ? all.list[i]->function : NULL;

                if (!f || id_map_get(&seen, f->id) != 0)
                        continue;
                id_map_set(&seen, f->id, 1);
                list_add(list, *ret_n, f);
        }
        *ret = list;
}

/* -- free variables -- */

/* The subterms of a term, with the free ones of 64 variables for each. */
struct free_sets {
        struct term_list all, variables;
        struct term_map at; /* of a subterm: its index in `all` plus 1; of a variable: in `variables` */
        uint64_t *sets;     /* parallel to `all` */
};

static void free_sets_done(struct free_sets *s)
{
        term_list_done(&s->all);
        term_list_done(&s->variables);
        term_map_done(&s->at);
        free(s->sets);
}

static int by_id(const void *a, const void *b)
{
        const struct term *const *x = a, *const *y = b;

        return ORDER((*x)->id, (*y)->id);
}

static void free_sets_init(struct free_sets *s, const struct term *t)
{
        term_subterms(&t, 1, &s->all);
        term_map_init(&s->at, &t, 1);
        for (size_t i = 0; i < s->all.n; i++) {
                term_map_set(&s->at, s->all.list[i], (uint32_t)i + 1);
                if (s->all.list[i]->kind == TERM_VARIABLE)
                        term_list_add(&s->variables, s->all.list[i]);
        }
        sort_list(s->variables.list, s->variables.n, sizeof(*s->variables.list), by_id);
        for (size_t i = 0; i < s->variables.n; i++)
                term_map_set(&s->at, s->variables.list[i], (uint32_t)i + 1);
        s->sets = allocate(s->all.n, sizeof(*s->sets));
}

/* The bit of a variable among the 64 from `first` on; 0 for others. */
static uint64_t bit_of(const struct free_sets *s, const struct term *variable, size_t first)
{
        size_t at = term_map_get(&s->at, variable); /* 0: the variable does not occur */

        return at > first && at <= first + 64 ? UINT64_C(1) << (at - 1 - first) : 0;
}

/* Returns the variables, a bit for each of the 64, that are free in the whole term. */
static uint64_t find_free(struct free_sets *s, size_t first)
{
        for (size_t i = 0; i < s->all.n; i++) {
                const struct term *t = s->all.list[i];
                uint64_t set = t->kind == TERM_VARIABLE ? bit_of(s, t, first) : 0;

                for (size_t k = term_first_arg(t); t->is_open && k < t->n_args; k++)
                        set |= t->args[k]->kind == TERM_VARIABLE ? bit_of(s, t->args[k], first)
                                                                 : s->sets[term_map_get(&s->at, t->args[k]) - 1];
                for (size_t k = 0; k < term_first_arg(t); k++)
                        set &= ~bit_of(s, t->args[k], first);
                s->sets[i] = set;
        }
        return s->sets[s->all.n - 1];
}

void term_free_variables(const struct term *t, struct term_list *ret)
{
        cleanup(free_sets_done) struct free_sets s = {0};

        *ret = (struct term_list){0};
        if (t->is_open)
                free_sets_init(&s, t);
        for (size_t first = 0; first < s.variables.n; first += 64)
                for (uint64_t set = find_free(&s, first); set != 0; set &= set - 1)
                        term_list_add(ret, s.variables.list[first + (size_t)__builtin_ctzll(set)]);
}

/* The number of its free variables that are among these; *ret_n: the number of all. */
static size_t count_free(const struct term *t, const struct term *const *variables, size_t n, size_t *ret_n)
{
        cleanup_term_list struct term_list list = {0};
        size_t found = 0;

        term_free_variables(t, &list);
        for (size_t i = 0; i < list.n; i++)
                for (size_t k = 0; k < n; k++)
                        if (variables[k] == list.list[i]) {
                                found++;
                                break;
                        }
        *ret_n = list.n;
        return found;
}

bool term_is_closed_by(const struct term *t, const struct term *const *variables, size_t n)
{
        size_t all;

        return count_free(t, variables, n, &all) == all;
}

bool term_has_free(const struct term *t, const struct term *const *variables, size_t n)
{
        size_t all;

        return count_free(t, variables, n, &all) > 0;
}

/* -- places -- */

void term_places_done(struct term_places *p)
{
        free(p->list);
        *p = (struct term_places){0};
}

/* Patterns of annotations have no places: they guide a solver's search, and do not change the meaning. */
static size_t last_arg(const struct term *t)
{
        return t->kind == TERM_ANNOTATED ? 1 : t->n_args;
}

void term_places(const struct term *root, size_t most, struct term_places *ret)
{
        struct term_places p = {0};
        cleanup_free struct place_frame {
                uint32_t place, next;
        } *stack = NULL;
        size_t depth = 0;

        most = MIN(most, (size_t)UINT32_MAX - 1);
        assert(most > 0);
        list_add(p.list, p.n, (struct term_place){.term = root});
        list_add(stack, depth, (struct place_frame){0, (uint32_t)term_first_arg(root)});
        while (depth > 0) {
                struct place_frame *f = &stack[depth - 1];
                const struct term *t = p.list[f->place].term, *x;

                if (f->next == last_arg(t)) {
                        depth--;
                        continue;
                }
                if (p.n == most)
                        break;
                x = t->args[f->next];
                list_add(p.list, p.n, (struct term_place){x, f->place, f->next++, p.list[f->place].depth + 1});
                if (x->n_args > 0)
                        list_add(stack, depth, (struct place_frame){(uint32_t)p.n - 1, (uint32_t)term_first_arg(x)});
        }
        *ret = p;
}

void term_variables_at(const struct term_places *p, size_t at, struct term_list *ret)
{
        *ret = (struct term_list){0};
        while (at != p->list[at].parent) {
                const struct term *t = p->list[at = p->list[at].parent].term;

                for (size_t k = term_first_arg(t); k > 0; k--)
                        term_list_add(ret, t->args[k - 1]);
        }
        term_list_reverse(ret);
}
