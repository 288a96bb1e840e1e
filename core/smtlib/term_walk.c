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
        bool is_region; /* of open ones, none below a quantifier */
};

static void walk_done(struct walk *w)
{
        free(w->stack);
}

static int walk_push(struct walk *w, const struct term *t)
{
        if (list_grow(w->stack, w->n) < 0)
                return -ENOMEM;
        w->stack[w->n++] =
                (struct walk_frame){t, (uint32_t)(w->is_region && term_is_quantifier(t) ? t->n_args : term_first_arg(t))};
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
                if (term_map_get(seen, x) != 0 || (w->is_region && !x->is_open))
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

int term_open_subterms(const struct term *root, struct term_list *ret)
{
        cleanup_term_map struct term_map seen = {0};
        cleanup(walk_done) struct walk w = {.is_region = true};

        return add_subterms(&w, &seen, root, ret);
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

/* The subterms of a term, and which of 64 variables are free in each. */
struct free_sets {
        struct term_list all, variables;
        struct term_map at; /* of a subterm: its index in `all`, and 1; of a variable: in `variables` */
        uint64_t *sets;     /* beside `all` */
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
        uint32_t x = (*(const struct term *const *)a)->id, y = (*(const struct term *const *)b)->id;

        return x < y ? -1 : x > y;
}

static int free_sets_init(struct free_sets *s, const struct term *t)
{
        int r = term_subterms(&t, 1, &s->all);

        if (r == 0)
                r = term_map_init(&s->at, &t, 1);
        for (size_t i = 0; r == 0 && i < s->all.n; i++) {
                r = term_map_set(&s->at, s->all.list[i], (uint32_t)i + 1);
                if (r == 0 && s->all.list[i]->kind == TERM_VARIABLE)
                        r = term_list_add(&s->variables, s->all.list[i]);
        }
        sort_list(s->variables.list, s->variables.n, sizeof(*s->variables.list), by_id);
        for (size_t i = 0; r == 0 && i < s->variables.n; i++)
                r = term_map_set(&s->at, s->variables.list[i], (uint32_t)i + 1);
        s->sets = calloc(s->all.n + 1, sizeof(*s->sets));
        return s->sets ? r : -ENOMEM;
}

/* Of the 64 variables from there on, as far as it is one of them. */
static uint64_t bit_of(const struct free_sets *s, const struct term *variable, size_t first)
{
        size_t at = term_map_get(&s->at, variable); /* 0: it does not occur */

        return at > first && at <= first + 64 ? UINT64_C(1) << (at - 1 - first) : 0;
}

/* Those of the 64 that are free in the whole term. */
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

int term_free_variables(const struct term *t, struct term_list *ret)
{
        cleanup(free_sets_done) struct free_sets s = {0};
        cleanup_term_list struct term_list found = {0};
        int r = t->is_open ? free_sets_init(&s, t) : 0;

        for (size_t first = 0; r == 0 && first < s.variables.n; first += 64)
                for (uint64_t set = find_free(&s, first); r == 0 && set != 0; set &= set - 1)
                        r = term_list_add(&found, s.variables.list[first + (size_t)__builtin_ctzll(set)]);
        if (r < 0)
                return r;
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
