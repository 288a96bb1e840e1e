#include "core/why/diverge/trail.h"

#include <inttypes.h>

#include "core/run/verdict.h"

#define NUMBERS_MOST (1u << 24) /* of functions */
#define TRIES_MOST   64         /* places with the same hash that are tried */
#define KINDS_LEAST  3          /* different chunks among TRAIL_ALIKE; fewer are a loop's and prove nothing */

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

void trail_skip_list(const struct slice text[2], struct buffer *ret)
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

/* True if both have the same chunks from i and j on: TRAIL_ALIKE of them, or all up to both programs' ends. */
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
        return n == TRAIL_ALIKE && kinds >= KINDS_LEAST;
}

/* Moves *i and *j on to the nearest places (the fewest chunks skipped, on both sides together) from which both are alike. False: there are none. */
static bool realign(const struct trail t[2], const struct position *index, size_t *i, size_t *j)
{
        size_t best = SIZE_MAX, a = *i, b = *j;

        for (size_t x = 0; x <= MIN(best, TRAIL_AHEAD) && a + x < t[0].n; x++) {
                const uint64_t hash = t[0].chunks[a + x].hash;
                const size_t low = lower_bound(&(struct position){hash, b}, index, t[1].n, sizeof(*index), compare_positions);

                for (size_t k = low; k < MIN(t[1].n, low + TRIES_MOST) && index[k].hash == hash && index[k].at - b <= TRAIL_AHEAD; k++)
                        if (x + index[k].at - b < best && are_alike(t, a + x, index[k].at)) {
                                best = x + index[k].at - b;
                                *i = a + x;
                                *j = index[k].at;
                        }
        }
        return best != SIZE_MAX;
}

/* A parting, and the steps from it to where both are alike again. */
struct gap {
        size_t at[2];     /* its first chunks */
        uint64_t from[2]; /* steps before it */
        uint64_t common;  /* of those of the first trail, the steps that the other has, too */
        uint64_t passed;  /* its steps, on the longer side; UINT64_MAX: both are never alike again */
};

/* Finds all gaps, *ret_n. One more follows them: the end of what could be compared. */
static struct gap *find_gaps(const struct trail t[2], size_t *ret_n)
{
        cleanup_free struct position *index = allocate(t[1].n + 1, sizeof(*index));
        struct gap g = {.passed = UINT64_MAX}, *list = NULL;
        size_t n = 0;

        for (size_t j = 0; j < t[1].n; j++)
                index[j] = (struct position){t[1].chunks[j].hash, j};
        sort_list(index, t[1].n, sizeof(*index), compare_positions);
        for (;;) {
                size_t to[2];
                bool is_over = false; /* both have ended, or one was cut off here */

                for (; g.at[0] < t[0].n && g.at[1] < t[1].n && is_same(&t[0].chunks[g.at[0]], &t[1].chunks[g.at[1]]); g.at[0]++, g.at[1]++) {
                        g.common += t[0].chunks[g.at[0]].steps;
                        for (int side = 0; side < 2; side++)
                                g.from[side] += t[side].chunks[g.at[side]].steps;
                }
                for (int side = 0; side < 2; side++)
                        is_over |= g.at[side] == t[side].n && (!t[side].is_whole || g.at[!side] == t[!side].n);
                if (is_over)
                        break;
                list_add(list, n, g);
                memcpy(to, g.at, sizeof(to));
                if (!realign(t, index, &to[0], &to[1]))
                        break;
                for (int side = 0; side < 2; side++)
                        for (; g.at[side] < to[side]; g.at[side]++)
                                g.from[side] += t[side].chunks[g.at[side]].steps;
                list[n - 1].passed = MAX(g.from[0] - list[n - 1].from[0], g.from[1] - list[n - 1].from[1]);
        }
        *ret_n = n;
        list_add(list, n, g);
        return list;
}

static void note_parting(const struct trail t[2], const struct gap *g, struct trail_parting *ret)
{
        ret->is_found = true;
        ret->size = 0;
        for (int side = 0; side < 2; side++) {
                ret->from[side] = g->from[side];
                if (g->at[side] < t[side].n)
                        ret->size = MAX(ret->size, t[side].chunks[g->at[side]].steps);
        }
}

void trail_compare(const struct trail t[2], struct trail_parting *ret)
{
        size_t n;
        cleanup_free struct gap *gaps = find_gaps(t, &n);

        *ret = (struct trail_parting){0};
        for (size_t i = 0; i < n; i++) {
                const uint64_t left = MAX(t[0].steps - gaps[i].from[0], t[1].steps - gaps[i].from[1]);
                const uint64_t alike = gaps[i + 1].common - gaps[i].common; /* steps of the equal stretch after it */
                /* that stretch is chance, and of all that follows less than half is common */
                const bool is_last = gaps[i].passed > alike / TRAIL_STRETCH && (gaps[n].common - gaps[i].common) * 2 < left;

                if (left * TRAIL_END < MAX(t[0].steps, t[1].steps)) /* in the last hundredth */
                        break;
                ret->further += ret->is_found;
                if (ret->is_last || (ret->is_found && !is_last))
                        continue;
                ret->is_last = is_last;
                note_parting(t, &gaps[i], ret);
        }
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

/* A side during a pass over its steps, with its open functions. */
struct pass {
        const struct trail_window *window;
        size_t at;       /* the next step */
        unsigned *stack; /* owned */
        size_t n;        /* of the stack */
};

/* A return also ends the calls within that longjmp() left. One of a function that is not open ends none. */
static void pass_step(struct pass *p)
{
        const struct trail_step *s = &p->window->steps[p->at++];
        size_t n = p->n;

        if (s->kind == 'C' || s->kind == 'c')
                list_add(p->stack, p->n, s->function);
        if (s->kind != 'R' && s->kind != 'r')
                return;
        while (n > 0 && p->stack[n - 1] != s->function)
                n--;
        p->n = n > 0 ? n - 1 : p->n;
}

/* The next step, after calls and returns that are none; NULL: the end. */
static const struct trail_step *next_step(struct pass *p)
{
        while (p->at < p->window->n_steps && strchr("cr", p->window->steps[p->at].kind))
                pass_step(p);
        return p->at < p->window->n_steps ? &p->window->steps[p->at] : NULL;
}

static const char *name_of(const struct pass *p, unsigned function)
{
        return p->window->functions[function].name;
}

static bool is_same_step(const struct pass p[2], const struct trail_step *a, const struct trail_step *b)
{
        return a->kind == b->kind && a->outcome == b->outcome && strcmp(name_of(&p[0], a->function), name_of(&p[1], b->function)) == 0;
}

void trail_find_place(const struct trail_window w[2], struct trail_place *ret)
{
        struct pass p[2] = {{.window = &w[0]}, {.window = &w[1]}};
        const struct trail_step *a, *b;

        *ret = (struct trail_place){0};
        for (int side = 0; side < 2; side++)
                for (size_t i = 0; i < w[side].n_stack; i++)
                        list_add(p[side].stack, p[side].n, w[side].stack[i]);
        while ((a = next_step(&p[0])), (b = next_step(&p[1])), a && b && is_same_step(p, a, b)) {
                ret->entered = a->kind == 'C' ? ret->entered + 1 : 0;
                pass_step(&p[0]);
                pass_step(&p[1]);
                ret->steps++;
        }
        ret->is_found = a || b;
        if (!a || !b || a->kind != 'T' || b->kind != 'T' || strcmp(name_of(&p[0], a->function), name_of(&p[1], b->function)) != 0)
                ret->entered = 0;
        for (size_t i = 0, j = 0; i < p[0].n && j < p[1].n; i++) { /* functions of only one side are left out */
                size_t k = j;

                while (k < p[1].n && strcmp(name_of(&p[0], p[0].stack[i]), name_of(&p[1], p[1].stack[k])) != 0)
                        k++;
                if (k == p[1].n)
                        continue;
                p[0].stack[ret->n] = p[0].stack[i];
                p[1].stack[ret->n++] = p[1].stack[k];
                j = k + 1;
        }
        for (int side = 0; side < 2; side++) {
                ret->next[side] = p[side].at;
                ret->stack[side] = p[side].stack;
        }
}

void trail_place_done(struct trail_place *p)
{
        free(p->stack[0]);
        free(p->stack[1]);
        *p = (struct trail_place){0};
}
