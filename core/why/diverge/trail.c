#include "core/why/diverge/trail.h"

#include <inttypes.h>

#include "core/run/verdict.h"

#define NUMBERS_MOST  (1u << 24) /* of functions */
#define CANDIDATES    64
#define KINDS_OF_LOOP 3 /* the least number of different chunks among TRAIL_ALIKE; fewer are a loop's and prove nothing */

/* -- reading ------------------------------------------------------------------------------------------------------- */

char *trail_take_line(struct slice *text)
{
        struct slice line;

        if (!memchr(text->data, '\n', text->size))
                return NULL;
        slice_next_line(text, &line);
        return copy_prefix(line.data, line.size);
}

struct names {
        char **list;
        size_t n;
};

static void read_names(struct slice text, struct names *ret)
{
        for (char *line; (line = trail_take_line(&text)); free(line))
                if (strncmp(line, "N ", 2) == 0)
                        list_add(ret->list, ret->n, copy_string(line + 2));
}

void trail_skip(const struct slice text[2], struct buffer *ret)
{
        struct names names[2] = {0};
        size_t at[2] = {0};

        for (int side = 0; side < 2; side++) {
                read_names(text[side], &names[side]);
                sort_list(names[side].list, names[side].n, sizeof(char *), compare_strings);
        }
        while (at[0] < names[0].n || at[1] < names[1].n) {
                const char *a = at[0] < names[0].n ? names[0].list[at[0]] : NULL, *b = at[1] < names[1].n ? names[1].list[at[1]] : NULL;
                const int order = !b ? -1 : !a ? 1 : strcmp(a, b);
                const char *name = order <= 0 ? a : b;

                if (order != 0)
                        buffer_addf(ret, "%s\n", name);
                for (int side = 0; side < 2; side++)
                        while (at[side] < names[side].n && strcmp(names[side].list[at[side]], name) == 0)
                                at[side]++;
        }
        for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < names[side].n; i++)
                        free(names[side].list[i]);
                free(names[side].list);
        }
}

static void read_chunk(struct trail *t, const char *line)
{
        struct trail_chunk c;

        t->is_whole |= *line == 'X';
        t->has_threads |= *line == 'P';
        if (sscanf(line, "K %" SCNx64 " %" SCNx64, &c.steps, &c.hash) != 2)
                return;
        list_add(t->chunks, t->n, c);
        t->steps += c.steps;
}

void trail_read(struct slice text, struct trail *ret)
{
        *ret = (struct trail){0};
        for (char *line; (line = trail_take_line(&text)); free(line))
                read_chunk(ret, line);
}

void trail_done(struct trail *t)
{
        free(t->chunks);
        *t = (struct trail){0};
}

/* -- chunks -------------------------------------------------------------------------------------------------------- */

struct position {
        uint64_t hash;
        size_t at;
};

static int compare_positions(const void *a, const void *b)
{
        const struct position *x = a, *y = b;

        return ORDER(x->hash, y->hash) ?: ORDER(x->at, y->at);
}

static bool is_same(const struct trail_chunk *a, const struct trail_chunk *b)
{
        return a->hash == b->hash && a->steps == b->steps;
}

/* True if both are alike from i and j on, for long enough or up to their ends. */
static bool are_alike(const struct trail t[2], size_t i, size_t j)
{
        size_t n = 0, kinds = 0;

        while (n < TRAIL_ALIKE && i + n < t[0].n && j + n < t[1].n && is_same(&t[0].chunks[i + n], &t[1].chunks[j + n])) {
                bool is_new = true;

                for (size_t k = 0; k < n; k++)
                        is_new &= !is_same(&t[0].chunks[i + n], &t[0].chunks[i + k]);
                kinds += is_new;
                n++;
        }
        if (n > 0 && i + n == t[0].n && j + n == t[1].n && t[0].is_whole && t[1].is_whole)
                return true;
        return n == TRAIL_ALIKE && kinds >= KINDS_OF_LOOP;
}

/* The nearest places, from *i and *j on, from which both are alike. */
static bool lay_anew(const struct trail t[2], const struct position *index, size_t *i, size_t *j)
{
        size_t best = SIZE_MAX, a = *i, b = *j;

        for (size_t x = 0; x <= MIN(best, TRAIL_AHEAD) && a + x < t[0].n; x++) {
                const uint64_t hash = t[0].chunks[a + x].hash;
                const size_t low = lower_bound(&(struct position){hash, b}, index, t[1].n, sizeof(*index), compare_positions);

                for (size_t k = low; k < MIN(t[1].n, low + CANDIDATES) && index[k].hash == hash && index[k].at - b <= TRAIL_AHEAD; k++)
                        if (x + index[k].at - b < best && are_alike(t, a + x, index[k].at)) {
                                best = x + index[k].at - b;
                                *i = a + x;
                                *j = index[k].at;
                        }
        }
        return best != SIZE_MAX;
}

struct found {
        size_t at[2];
        uint64_t from[2], common; /* steps before it; steps of the first trail before it that the other has, too */
        uint64_t passed;          /* steps of the longer side until both are alike again; UINT64_MAX: they never are */
};

static void note_parting(const struct trail t[2], const struct found *f, struct trail_parting *ret)
{
        ret->is_found = true;
        ret->size = 0;
        for (int side = 0; side < 2; side++) {
                ret->from[side] = f->from[side];
                if (f->at[side] < t[side].n)
                        ret->size = MAX(ret->size, t[side].chunks[f->at[side]].steps);
        }
}

void trail_compare(const struct trail t[2], struct trail_parting *ret)
{
        struct position *index = allocate(t[1].n + 1, sizeof(*index));
        struct found f = {0}, *list = NULL;
        size_t n = 0;

        *ret = (struct trail_parting){0};
        for (size_t j = 0; j < t[1].n; j++)
                index[j] = (struct position){t[1].chunks[j].hash, j};
        sort_list(index, t[1].n, sizeof(*index), compare_positions);
        for (;;) {
                size_t to[2];
                bool is_over = false;

                for (; f.at[0] < t[0].n && f.at[1] < t[1].n && is_same(&t[0].chunks[f.at[0]], &t[1].chunks[f.at[1]]); f.at[0]++, f.at[1]++) {
                        f.common += t[0].chunks[f.at[0]].steps;
                        for (int side = 0; side < 2; side++)
                                f.from[side] += t[side].chunks[f.at[side]].steps;
                }
                for (int side = 0; side < 2; side++)
                        is_over |= f.at[side] == t[side].n && (!t[side].is_whole || f.at[!side] == t[!side].n);
                if (is_over)
                        break;
                list_add(list, n, f);
                memcpy(to, f.at, sizeof(to));
                list[n - 1].passed = UINT64_MAX;
                if (!lay_anew(t, index, &to[0], &to[1]))
                        break;
                for (int side = 0; side < 2; side++)
                        for (; f.at[side] < to[side]; f.at[side]++)
                                f.from[side] += t[side].chunks[f.at[side]].steps;
                list[n - 1].passed = MAX(f.from[0] - list[n - 1].from[0], f.from[1] - list[n - 1].from[1]);
        }
        ret->common = f.common;
        for (size_t i = 0; i < n; i++) {
                const uint64_t left = MAX(t[0].steps - list[i].from[0], t[1].steps - list[i].from[1]);
                bool is_alike, is_last;

                if (left * TRAIL_END < MAX(t[0].steps, t[1].steps))
                        continue;
                ret->others += ret->is_found;
                is_alike = list[i].passed <= ((i + 1 < n ? list[i + 1].common : f.common) - list[i].common) / TRAIL_STRETCH;
                is_last = !is_alike && (f.common - list[i].common) * 2 < left;
                if (ret->is_last || (ret->is_found && !is_last))
                        continue;
                ret->is_last = is_last;
                note_parting(t, &list[i], ret);
        }
        free(list);
        free(index);
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static void read_function(struct trail_window *w, const char *line)
{
        struct trail_function f = {0};
        unsigned number;
        int name = 0;

        if (sscanf(line, "F %x %x %" SCNx64 " %n", &number, &f.file, &f.address, &name) != 3 || name == 0 || number >= NUMBERS_MOST)
                return;
        while (w->n_functions <= number)
                list_add(w->functions, w->n_functions, (struct trail_function){0});
        f.name = copy_string(line + name);
        free(w->functions[number].name);
        w->functions[number] = f;
}

static void read_step(struct trail_window *w, const char *line)
{
        struct trail_step s = {.kind = *line};
        int path = 0;

        if (sscanf(line, "M %*x %n", &path) == 0 && path > 0) {
                list_add(w->files, w->n_files, copy_string(line + path));
        } else if (*line == 'F')
                read_function(w, line);
        else if (sscanf(line, "%*c %x %x %x %" SCNx64, &s.function, &s.outcome, &s.file, &s.address) < 1 || s.function >= w->n_functions ||
                 !w->functions[s.function].name)
                return;
        else if (*line == 'S') {
                list_add(w->stack, w->n_stack, s.function);
        } else if (strchr("CRTcr", *line)) {
                list_add(w->steps, w->n_steps, s);
        }
}

void trail_window_read(struct slice text, struct trail_window *ret)
{
        *ret = (struct trail_window){0};
        for (char *line; (line = trail_take_line(&text)); free(line))
                read_step(ret, line);
}

void trail_window_done(struct trail_window *w)
{
        for (size_t i = 0; i < w->n_files; i++)
                free(w->files[i]);
        for (size_t i = 0; i < w->n_functions; i++)
                free(w->functions[i].name);
        free(w->files);
        free(w->functions);
        free(w->stack);
        free(w->steps);
        *w = (struct trail_window){0};
}

/* The open functions of a side during a pass over its steps. */
struct open {
        const struct trail_window *window;
        unsigned *list; /* owned */
        size_t n, at;
};

static void take(struct open *o)
{
        const struct trail_step *s = &o->window->steps[o->at++];
        size_t n = o->n;

        if (s->kind == 'C' || s->kind == 'c')
                list_add(o->list, o->n, s->function);
        if (s->kind != 'R' && s->kind != 'r')
                return;
        while (n > 0 && o->list[n - 1] != s->function)
                n--;
        o->n = n > 0 ? n - 1 : o->n;
}

/* The next step that the other side could take, too; NULL: the end. */
static const struct trail_step *look(struct open *o)
{
        while (o->at < o->window->n_steps && strchr("cr", o->window->steps[o->at].kind))
                take(o);
        return o->at < o->window->n_steps ? &o->window->steps[o->at] : NULL;
}

static const char *name_of(const struct open *o, unsigned function)
{
        return o->window->functions[function].name;
}

static bool is_same_step(const struct open o[2], const struct trail_step *a, const struct trail_step *b)
{
        return a->kind == b->kind && a->outcome == b->outcome && strcmp(name_of(&o[0], a->function), name_of(&o[1], b->function)) == 0;
}

void trail_find_place(const struct trail_window w[2], struct trail_place *ret)
{
        struct open o[2] = {{.window = &w[0]}, {.window = &w[1]}};
        const struct trail_step *a, *b;

        *ret = (struct trail_place){0};
        for (int side = 0; side < 2; side++)
                for (size_t i = 0; i < w[side].n_stack; i++)
                        list_add(o[side].list, o[side].n, w[side].stack[i]);
        while ((a = look(&o[0])), (b = look(&o[1])), a && b && is_same_step(o, a, b)) {
                ret->entered = a->kind == 'C' ? ret->entered + 1 : 0;
                take(&o[0]);
                take(&o[1]);
                ret->steps++;
        }
        ret->is_found = a || b;
        if (!a || !b || a->kind != 'T' || b->kind != 'T' || strcmp(name_of(&o[0], a->function), name_of(&o[1], b->function)) != 0)
                ret->entered = 0;
        for (size_t i = 0, j = 0; i < o[0].n && j < o[1].n; i++) { /* functions of only one side are left out */
                size_t k = j;

                while (k < o[1].n && strcmp(name_of(&o[0], o[0].list[i]), name_of(&o[1], o[1].list[k])) != 0)
                        k++;
                if (k == o[1].n)
                        continue;
                o[0].list[ret->n] = o[0].list[i];
                o[1].list[ret->n++] = o[1].list[k];
                j = k + 1;
        }
        for (int side = 0; side < 2; side++) {
                ret->next[side] = o[side].at;
                ret->stack[side] = o[side].list;
        }
}

void trail_place_done(struct trail_place *p)
{
        free(p->stack[0]);
        free(p->stack[1]);
        *p = (struct trail_place){0};
}
