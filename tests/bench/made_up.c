#include "tests/bench/made_up.h"

#include <limits.h>
#include <math.h>

#include "cache/base/hash.h"
#include "core/smtlib/print.h"
#include "tests/support/adapt.h"

#define SAMPLES     2000
#define CAUSES_MOST 64
#define SHADOWS     2
#define HARD_MOST   3

/* -- what a formula has -- */

/* Counts of the whole: of each operator, and these. */
enum total {
        TOTAL_SIZE = N_OPS,
        TOTAL_DEPTH,
        TOTAL_VARIABLES,
        TOTAL_ASSERTIONS,
        TOTAL_LITERALS, /* bytes, all together */
        TOTAL_LONGEST,
        N_TOTALS
};
/* Of words: equal neighbours; digits alone; the same character first and last. */
enum word_kind {
        WORD_DOUBLED,
        WORD_DIGITS,
        WORD_CLOSED,
        N_WORD_KINDS
};
struct parts {
        uint64_t *paths; /* owned; ascending, each once: operators under operators, two or three levels, by the places of the arguments; links of variables */
        size_t n;
        uint32_t words[N_WORD_KINDS];
        uint32_t totals[N_TOTALS];
        uint64_t hash;
};
#define cleanup_parts cleanup(parts_done)

static void parts_done(struct parts *p)
{
        free(p->paths);
        *p = (struct parts){0};
}

static uint64_t path_down(uint64_t path, uint32_t argument, enum op op)
{
        return (path << 3 | MIN(argument, 7u)) << 9 | (uint64_t)op;
}

static int add_path(struct parts *p, uint64_t path)
{
        list_grow(p->paths, p->n);
        p->paths[p->n++] = path;
        return 0;
}

static int add_paths(struct parts *p, const struct term *t)
{
        int r = 0;

        for (uint32_t i = 0; i < t->n_args && r == 0; i++) {
                const struct term *a = t->args[i];
                uint64_t two = path_down((uint64_t)t->op, i, a->op);

                if (a->op == OP_NONE)
                        continue;
                r = add_path(p, two);
                for (uint32_t k = 0; k < a->n_args && r == 0; k++)
                        if (a->args[k]->op != OP_NONE)
                                r = add_path(p, path_down(two, k, a->args[k]->op));
        }
        return r;
}

static int compare_paths(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

static void look_at_word(struct parts *p, struct slice word)
{
        const char *text = word.data;
        size_t digits = 0, doubled = 0;

        for (size_t i = 0; i < word.size; i++) {
                digits += text[i] >= '0' && text[i] <= '9';
                doubled += i > 0 && text[i] == text[i - 1];
        }
        p->words[WORD_DOUBLED] += doubled > 0;
        p->words[WORD_DIGITS] += word.size > 0 && digits == word.size;
        p->words[WORD_CLOSED] += word.size > 1 && text[0] == text[word.size - 1];
}

/* -- links: a variable below two operators -- */

struct link {
        const struct term *variable;
        uint32_t place; /* an operator and which argument of it */
};
struct links {
        struct link *list; /* owned */
        size_t n;
};

static void links_done(struct links *l)
{
        free(l->list);
}

static int compare_links(const void *a, const void *b)
{
        const struct link *x = a, *y = b;

        return x->variable != y->variable ? (x->variable->id < y->variable->id ? -1 : 1) : x->place < y->place ? -1 : x->place > y->place;
}

static int note_links(struct links *l, const struct term *t)
{
        int r = 0;

        for (uint32_t i = 0; i < t->n_args && r == 0 && t->op != OP_NONE; i++) {
                const struct term *a = t->args[i];

                if (a->kind != TERM_FUNCTION || a->n_args > 0)
                        continue;
                list_grow(l->list, l->n);
                l->list[l->n++] = (struct link){a, (uint32_t)t->op << 3 | MIN(i, 7u)};
        }
        return r;
}

#define LINK (UINT64_C(1) << 63) /* no path has this bit */

static int add_links(struct parts *p, struct links *l)
{
        int r = 0;

        if (l->n > 0)
                qsort(l->list, l->n, sizeof(*l->list), compare_links);
        for (size_t i = 0; i < l->n; i++)
                for (size_t k = i + 1; k < l->n && l->list[k].variable == l->list[i].variable && r == 0; k++)
                        if (l->list[k].place != l->list[i].place)
                                r = add_path(p, LINK | (uint64_t)l->list[i].place << 20 | l->list[k].place);
        return r;
}

static int look_at_term(struct parts *p, const struct term *t)
{
        uint32_t *n = p->totals;

        n[TOTAL_SIZE]++;
        n[TOTAL_DEPTH] = MAX(n[TOTAL_DEPTH], t->depth);
        n[TOTAL_VARIABLES] += t->kind == TERM_FUNCTION && t->n_args == 0;
        if (t->kind == TERM_LITERAL) {
                uint32_t size = (uint32_t)t->symbol->name.size;

                n[TOTAL_LITERALS] += size;
                n[TOTAL_LONGEST] = MAX(n[TOTAL_LONGEST], size);
                look_at_word(p, t->symbol->name);
        }
        if (t->op == OP_NONE)
                return 0;
        n[t->op]++;
        return add_paths(p, t);
}

static int parts_of(const struct script *s, struct parts *ret)
{
        cleanup_parts struct parts p = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup(links_done) struct links links = {0};
        size_t kept = 0;
        int r = 0;

        for (size_t i = 0; i < s->n_commands && r == 0; i++) {
                cleanup_term_list struct term_list all = {0};

                if (s->commands[i].kind != COMMAND_ASSERT)
                        continue;
                p.totals[TOTAL_ASSERTIONS]++;
                term_subterms(&s->commands[i].term, 1, &all);
                for (size_t k = 0; k < all.n && r == 0; k++) {
                        r = look_at_term(&p, all.list[k]);
                        if (r == 0)
                                r = note_links(&links, all.list[k]);
                }
        }
        if (r == 0)
                r = add_links(&p, &links);
        script_print(s, NULL, &text);
        if (r == 0)
                r = buffer_error(&text);
        if (r < 0)
                return r;
        if (p.n > 0)
                qsort(p.paths, p.n, sizeof(*p.paths), compare_paths);
        for (size_t i = 0; i < p.n; i++)
                if (kept == 0 || p.paths[kept - 1] != p.paths[i])
                        p.paths[kept++] = p.paths[i];
        p.n = kept;
        p.hash = hash_quick(text.data, text.size);
        *ret = p;
        p = (struct parts){0};
        return 0;
}

static bool has_path(const struct parts *p, uint64_t path)
{
        return p->n > 0 && bsearch(&path, p->paths, p->n, sizeof(path), compare_paths);
}

/* -- the solver -- */

enum cause_kind {
        CAUSE_PATH,   /* or a link */
        CAUSE_COUNTS, /* so many of two things */
        CAUSE_RATIO,  /* more than `least` times as many of the first as of the second, which occurs */
        CAUSE_WORDS,  /* the first operator, and so many words of the kind `word` */
};
struct cause {
        enum cause_kind kind;
        uint64_t path;
        struct {
                unsigned total;
                uint32_t least;
        } counts[2];
        enum word_kind word;
        enum op shadows[SHADOWS]; /* OP_NONE: none */
        double adds, times;       /* seconds; a factor */
};
struct made_up {
        enum made_up_kind kind;
        struct cause causes[CAUSES_MOST];
        unsigned n;
        enum op hard[HARD_MOST]; /* make a formula hard for both versions */
        unsigned n_hard;
        struct random random;
};

static const struct {
        const char *name;
        unsigned causes;
        double rarest, commonest; /* share of the generator's formulas that have a cause */
} kinds[N_MADE_UP] = {
        [MADE_UP_LOCAL] = {"local", 40, 0.001, 0.1},      [MADE_UP_GLOBAL] = {"global", 24, 0.001, 0.1},
        [MADE_UP_DEAR] = {"dear", 30, 0.001, 0.1},        [MADE_UP_CHAOTIC] = {"chaotic", 30, 0.003, 0.1},
        [MADE_UP_DOMINANT] = {"dominant", 25, 0.001, 0.03}, [MADE_UP_SHADOWED] = {"shadowed", 30, 0.003, 0.15},
        [MADE_UP_HIDDEN] = {"hidden", 24, 0.001, 0.1},
};

const char *made_up_name(enum made_up_kind k)
{
        return kinds[k].name;
}

unsigned made_up_n_causes(enum made_up_kind k)
{
        return kinds[k].causes;
}

static bool is_shadowed(const struct cause *c, const struct parts *p)
{
        for (size_t i = 0; i < SHADOWS; i++)
                if (c->shadows[i] != OP_NONE && p->totals[c->shadows[i]] > 0)
                        return true;
        return false;
}

static bool has_cause(const struct cause *c, const struct parts *p)
{
        uint32_t a = p->totals[c->counts[0].total], b = p->totals[c->counts[1].total];

        switch (c->kind) {
        case CAUSE_PATH:
                return has_path(p, c->path) && !is_shadowed(c, p);
        case CAUSE_COUNTS:
                return a >= c->counts[0].least && b >= c->counts[1].least;
        case CAUSE_RATIO:
                return b > 0 && a >= c->counts[0].least * b;
        case CAUSE_WORDS:
                return a > 0 && p->words[c->word] >= c->counts[1].least;
        }
        return false;
}

static double base_seconds(const struct made_up *m, const struct parts *p)
{
        double size = p->totals[TOTAL_SIZE], chance = (double)(p->hash >> 40 & 0xffff) / 65536;

        if (m->kind == MADE_UP_DEAR)
                return 0.01 * exp(size / 40);
        if (m->kind == MADE_UP_CHAOTIC)
                return 0.02 + 0.012 * size;
        for (unsigned i = 0; i < m->n_hard; i++)
                if (p->totals[m->hard[i]] > 0 && chance < 0.5)
                        return MADE_UP_TIMEOUT * 2 * chance + 0.02;
        /* some large formulas are hard for every version */
        return 0.02 + 0.002 * size + (chance < size / 2000 ? MADE_UP_TIMEOUT * (double)(p->hash & 0xffff) / 32768 : 0);
}

int made_up_look(const struct made_up *m, const struct script *s, struct made_up_look *ret)
{
        cleanup_parts struct parts p = {0};
        int r = parts_of(s, &p);

        if (r < 0)
                return r;
        *ret = (struct made_up_look){.base = base_seconds(m, &p), .hash = p.hash};
        for (unsigned i = 0; i < m->n; i++)
                ret->causes |= (uint64_t)has_cause(&m->causes[i], &p) << i;
        return 0;
}

double made_up_seconds(const struct made_up *m, const struct made_up_look *look, bool target, uint64_t seed)
{
        double seconds = look->base, times = 1, adds = 0;
        struct random random;

        random_seed_part(&random, look->hash, seed * 2 + target);
        for (uint64_t left = target ? look->causes : 0; left != 0; left &= left - 1) {
                const struct cause *c = &m->causes[__builtin_ctzll(left)];

                times *= c->times;
                adds += c->adds;
        }
        seconds = seconds * times + adds;
        if (m->kind == MADE_UP_CHAOTIC)
                seconds *= exp(random_normal(&random));
        return fmin(MADE_UP_TIMEOUT, seconds * (0.97 + 0.06 * random_uniform(&random)));
}

unsigned made_up_cause(const struct made_up_look *look)
{
        return look->causes ? 63 - (unsigned)__builtin_clzll(look->causes) : UINT_MAX;
}

/* -- drawing it -- */

struct sample {
        struct parts list[SAMPLES];
};

/* Small formulas, and those of the whole range that the papers' campaigns draw from. */
static int sample_new(struct random *random, struct sample **ret)
{
        cleanup_generator struct generator *g = NULL;
        struct sample *s = calloc(1, sizeof(*s));
        int r = s ? generator_new(&generate_defaults, random_bits(random), &g) : -ENOMEM;

        for (size_t i = 0; i < SAMPLES && r == 0; i++) {
                struct generate_options o = generate_defaults;
                cleanup_script struct script *script = NULL;

                if (i % 2 == 0)
                        adapt_draw(random, &o);
                else
                        o = (struct generate_options){.literal_length = 20, .variables = 1 + (unsigned)random_below(random, 4),
                                                      .assertions = 1 + (unsigned)random_below(random, 4), .depth = 1 + (unsigned)random_below(random, 4),
                                                      .literals = o.literals, .alphabet = o.alphabet, .dialect = o.dialect};
                r = generator_configure(g, &o);
                if (r < 0)
                        break;
                script = generate_formula(g);
                r = parts_of(script, &s->list[i]);
        }
        *ret = s;
        return r;
}

static struct sample *sample_free(struct sample *s)
{
        for (size_t i = 0; s && i < SAMPLES; i++)
                parts_done(&s->list[i]);
        free(s);
        return NULL;
}
DEFINE_CLEANUP(struct sample *, sample_free)

static double share_of_path(const struct sample *s, uint64_t path)
{
        unsigned n = 0;

        for (size_t i = 0; i < SAMPLES; i++)
                n += has_path(&s->list[i], path);
        return (double)n / SAMPLES;
}

static double share_of_operator(const struct sample *s, enum op op)
{
        unsigned n = 0;

        for (size_t i = 0; i < SAMPLES; i++)
                n += s->list[i].totals[op] > 0;
        return (double)n / SAMPLES;
}

static double share_of(const struct sample *s, const struct cause *c)
{
        unsigned n = 0;

        for (size_t i = 0; i < SAMPLES; i++)
                n += has_cause(c, &s->list[i]);
        return (double)n / SAMPLES;
}

static const struct parts *any_of(struct made_up *m, const struct sample *s)
{
        return &s->list[random_below(&m->random, SAMPLES)];
}

/* A path whose share is about `share`; the nearest of many. */
static uint64_t draw_path(struct made_up *m, const struct sample *s, double share)
{
        double best = INFINITY;
        uint64_t path = 0;

        for (int i = 0; i < 100; i++) {
                const struct parts *p = any_of(m, s);
                uint64_t drawn = p->n > 0 ? p->paths[random_below(&m->random, p->n)] : 0;
                bool is_taken = drawn == 0 || (m->kind == MADE_UP_HIDDEN) != ((drawn & LINK) != 0);
                double has;

                for (unsigned k = 0; k < m->n && !is_taken; k++)
                        is_taken = m->causes[k].path == drawn;
                if (is_taken)
                        continue;
                has = share_of_path(s, drawn);
                if (fabs(log(has / share)) < best) {
                        best = fabs(log(has / share));
                        path = drawn;
                }
        }
        return path;
}

static unsigned total_of(struct made_up *m, const struct parts *p, unsigned below)
{
        unsigned total;

        do
                total = (unsigned)random_below(&m->random, below);
        while (p->totals[total] == 0);
        return total;
}

/* As some formula has it; false: that one has none of this kind. */
static bool draw_as(struct made_up *m, const struct parts *p, struct cause *c)
{
        unsigned below = c->kind == CAUSE_COUNTS ? N_TOTALS : N_OPS;

        if (below == N_OPS && p->n == 0)
                return false; /* it might have no operator */
        for (int k = 0; k < 2; k++) {
                c->counts[k].total = total_of(m, p, below);
                c->counts[k].least = p->totals[c->counts[k].total];
        }
        if (c->kind == CAUSE_RATIO)
                c->counts[0].least /= c->counts[1].least;
        if (c->kind == CAUSE_WORDS) {
                c->word = (enum word_kind)random_below(&m->random, N_WORD_KINDS);
                c->counts[1].least = p->words[c->word];
        }
        return c->counts[0].least > (c->kind == CAUSE_RATIO) && c->counts[1].least > 0 && c->counts[0].total != c->counts[1].total;
}

/* One whose share is about `share`; the nearest of many. */
static void draw_numbers(struct made_up *m, const struct sample *s, double share, struct cause *c)
{
        double best = INFINITY;

        for (int i = 0; i < 100; i++) {
                struct cause drawn = *c;
                double has;

                if (!draw_as(m, any_of(m, s), &drawn))
                        continue;
                has = share_of(s, &drawn);
                if (fabs(log(has / share)) < best) {
                        best = fabs(log(has / share));
                        *c = drawn;
                }
        }
}

static enum op draw_operator(struct made_up *m, const struct sample *s, double least, double most)
{
        for (int i = 0; i < 1000; i++) {
                enum op op = (enum op)(OP_NONE + 1 + random_below(&m->random, N_OPS - OP_NONE - 1));
                double share = share_of_operator(s, op);

                if (share >= least && share <= most)
                        return op;
        }
        return OP_NONE;
}

static void draw_cause(struct made_up *m, const struct sample *s)
{
        double share = exp(log(kinds[m->kind].rarest) + random_uniform(&m->random) * log(kinds[m->kind].commonest / kinds[m->kind].rarest));
        struct cause c = {.times = 1, .adds = MADE_UP_TIMEOUT * (0.55 + 0.1 * (double)random_below(&m->random, 7))};

        if (m->kind == MADE_UP_GLOBAL)
                c.kind = CAUSE_COUNTS;
        else if (m->kind == MADE_UP_HIDDEN)
                c.kind = (const enum cause_kind[]){CAUSE_PATH, CAUSE_RATIO, CAUSE_WORDS}[m->n % 3];
        if (c.kind == CAUSE_PATH)
                c.path = draw_path(m, s, share);
        else
                draw_numbers(m, s, share, &c);
        if (m->kind == MADE_UP_CHAOTIC || (m->kind == MADE_UP_DEAR && random_below(&m->random, 2) == 0)) {
                c.adds = 0;
                c.times = m->kind == MADE_UP_CHAOTIC ? 30 : 100;
        }
        for (size_t i = 0; i < SHADOWS && m->kind == MADE_UP_SHADOWED; i++)
                c.shadows[i] = draw_operator(m, s, 0.2, 0.6);
        m->causes[m->n++] = c;
}

int made_up_new(enum made_up_kind k, uint64_t number, struct made_up **ret)
{
        cleanup(sample_freep) struct sample *s = NULL;
        struct made_up *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        m->kind = k;
        random_seed_part(&m->random, number, 1000 + k);
        r = sample_new(&m->random, &s);
        if (r < 0) {
                made_up_free(m);
                return r;
        }
        while (m->n < kinds[k].causes)
                draw_cause(m, s);
        if (k == MADE_UP_DOMINANT)
                m->causes[m->n - 1].path = draw_path(m, s, 0.3);
        for (; k == MADE_UP_SHADOWED && m->n_hard < HARD_MOST; m->n_hard++)
                m->hard[m->n_hard] = draw_operator(m, s, 0.1, 0.3);
        *ret = m;
        return 0;
}

struct made_up *made_up_free(struct made_up *m)
{
        free(m);
        return NULL;
}
