#include "core/why/options/option_search.h"

#include "cache/base/hash.h"
#include "cache/base/random.h"

#define SEED        1 /* of random halves */
#define HALVES      4 /* random ones for each size of groups */
#define BROKEN_MOST 8 /* flips that a sweep drops, before the rest is left to groups */

struct flips {
        struct option_flip *list; /* owned */
        size_t n;
};

struct known {
        uint64_t set;
        enum option_outcome outcome;
};

struct search {
        const struct option_search_options *options;
        struct option_search_result *ret;
        bool **is_dropped, **is_tried; /* [candidate][value] */
        struct known *known;           /* sets that were tested */
        size_t n_known;
        struct random random;
        bool is_found;
};

void option_search_result_done(struct option_search_result *r)
{
        free(r->flips);
        free(r->broken);
        *r = (struct option_search_result){0};
}

static void flips_done(struct flips *f)
{
        free(f->list);
}

static void add_flip(struct flips *to, size_t candidate, size_t value)
{
        list_grow(to->list, to->n);
        to->list[to->n++] = (struct option_flip){candidate, value};
}

/* -- one test ----------------------------------------------------------------------------------------------------- */

/* Of a set, whatever its order. */
static uint64_t hash_of(const struct option_flip *list, size_t n)
{
        uint64_t ret = n;

        for (size_t i = 0; i < n; i++)
                ret += hash_quick(&list[i], sizeof(list[i]));
        return ret;
}

static struct known *find_known(struct search *s, const struct option_flip *list, size_t n)
{
        const uint64_t set = hash_of(list, n);

        for (size_t i = 0; i < s->n_known; i++)
                if (s->known[i].set == set)
                        return &s->known[i];
        list_grow(s->known, s->n_known);
        s->known[s->n_known++] = (struct known){.set = set};
        return NULL;
}

static int ask(struct search *s, const struct option_flip *list, size_t n, enum option_outcome *ret)
{
        const struct known *known = n == 0 ? NULL : find_known(s, list, n);
        int r;

        *ret = known ? known->outcome : OPTIONS_SLOW;
        if (known || n == 0)
                return 0;
        r = s->options->test(s->options->user, list, n, ret);
        if (r < 0)
                return r;
        s->known[s->n_known - 1].outcome = *ret;
        s->ret->tests++;
        for (size_t i = 0; i < n; i++) {
                s->ret->tried += !s->is_tried[list[i].candidate][list[i].value];
                s->is_tried[list[i].candidate][list[i].value] = true;
        }
        return 0;
}

/* The shortest prefix, longer than `low`, with this outcome; that of `high` is known to have it, and that of `low` not to. Other outcomes count as not. */
static int shortest(struct search *s, const struct option_flip *list, size_t low, size_t high, enum option_outcome wanted, size_t *ret)
{
        enum option_outcome outcome;
        int r = 0;

        while (r == 0 && high - low > 1) {
                const size_t middle = low + (high - low) / 2;

                r = ask(s, list, middle, &outcome);
                if (outcome == wanted)
                        high = middle;
                else
                        low = middle;
        }
        *ret = high;
        return r;
}

/* -- a set that restores ------------------------------------------------------------------------------------------- */

/* Leaves out each flip once. */
static int leave_out(struct search *s, struct flips *set)
{
        enum option_outcome outcome;
        int r = 0;

        for (size_t i = set->n; r == 0 && set->n > 1 && i-- > 0;) {
                const struct option_flip out = set->list[i];

                set->list[i] = set->list[set->n - 1];
                r = ask(s, set->list, set->n - 1, &outcome);
                if (r == 0 && outcome == OPTIONS_RESTORED) {
                        set->n--;
                } else {
                        set->list[set->n - 1] = set->list[i];
                        set->list[i] = out;
                }
        }
        return r;
}

/* list[0..n) restores. Its smallest part that does is confirmed, and becomes the result. */
static int take(struct search *s, const struct option_flip *list, size_t n)
{
        struct flips set = {allocate(n, sizeof(*list)), n};
        enum option_outcome outcome;
        size_t needed = 0, end;
        int r;

        memcpy(set.list, list, n * sizeof(*list));
        while ((r = ask(s, set.list, needed, &outcome)) == 0 && outcome != OPTIONS_RESTORED && needed < set.n) {
                struct option_flip last;

                r = shortest(s, set.list, needed, set.n, OPTIONS_RESTORED, &end);
                if (r < 0)
                        break;
                last = set.list[end - 1];
                memmove(set.list + needed + 1, set.list + needed, (end - 1 - needed) * sizeof(*list));
                set.list[needed++] = last;
                set.n = end;
        }
        if (r == 0) {
                set.n = needed;
                r = leave_out(s, &set);
        }
        if (r == 0 && s->options->confirm)
                r = s->options->confirm(s->options->user, set.list, set.n, &outcome);
        else if (r == 0)
                outcome = OPTIONS_RESTORED;
        if (r == 0 && outcome == OPTIONS_RESTORED) {
                s->is_found = true;
                s->ret->flips = steal_pointer(set.list);
                s->ret->n = set.n;
        } else if (r == 0) {
                find_known(s, set.list, set.n)->outcome = outcome;
                s->ret->unconfirmed++;
        }
        free(set.list);
        return r;
}

/* A test of a set whose only interest is that it may restore. */
static int try_set(struct search *s, const struct option_flip *list, size_t n, enum option_outcome *ret)
{
        int r = ask(s, list, n, ret);

        return r == 0 && *ret == OPTIONS_RESTORED ? take(s, list, n) : r;
}

static void drop(struct search *s, struct option_flip f)
{
        if (s->is_dropped[f.candidate][f.value])
                return;
        s->is_dropped[f.candidate][f.value] = true;
        list_grow(s->ret->broken, s->ret->n_broken);
        s->ret->broken[s->ret->n_broken++] = f;
}

/* -- a round ------------------------------------------------------------------------------------------------------ */

/* Puts a flip of each candidate of this round and those before it on the list: of this round at `level`, as far as it has so many values; of all others at
 * the first value that is not dropped. Those of this round and level come first: *ret_own of them. */
static void list_flips(struct search *s, unsigned round, size_t level, struct flips *ret, size_t *ret_own)
{
        const struct option_search_options *o = s->options;

        *ret = (struct flips){0};
        for (int is_own = 1; is_own >= 0; is_own--) {
                for (size_t i = 0; i < o->n; i++) {
                        const struct option_candidate *c = &o->candidates[i];
                        const bool has_level = c->round == round && level < c->n_values && !s->is_dropped[i][level];
                        size_t value = is_own ? level : 0;

                        if (c->round > round || has_level != is_own)
                                continue;
                        while (value < c->n_values && s->is_dropped[i][value])
                                value++;
                        if (value < c->n_values)
                                add_flip(ret, i, value);
                }
                if (is_own)
                        *ret_own = ret->n;
        }
}

/* All of a list at once; what breaks it is dropped. Where much does, the rest is left to groups. */
static int sweep(struct search *s, struct flips *flips)
{
        const size_t broken_most = s->ret->n_broken + BROKEN_MOST;
        size_t clean = 0, gap = flips->n;
        enum option_outcome outcome;
        int r = 0;

        while (r == 0 && !s->is_found && clean < flips->n && s->ret->n_broken < broken_most) {
                size_t next = MIN(flips->n, clean + gap);

                r = try_set(s, flips->list, next, &outcome);
                if (r < 0 || s->is_found || outcome != OPTIONS_BROKEN) {
                        clean = next;
                        gap *= 2;
                        continue;
                }
                r = shortest(s, flips->list, clean, next, OPTIONS_BROKEN, &next);
                if (r < 0)
                        break;
                drop(s, flips->list[next - 1]);
                memmove(flips->list + next - 1, flips->list + next, (flips->n - next) * sizeof(*flips->list));
                flips->n--;
                gap = s->ret->n_broken < 2 ? flips->n : 2 * (next - clean); /* one does not say that there are more */
                clean = next - 1;
                if (clean > 0) /* it may have restored while it was looked for breakage alone */
                        r = try_set(s, flips->list, clean, &outcome);
        }
        return r;
}

/* The most values of a candidate of the round; *ret_n candidates. */
static size_t levels_of(const struct search *s, unsigned round, size_t *ret_n)
{
        size_t levels = 0;

        *ret_n = 0;
        for (size_t i = 0; i < s->options->n; i++)
                if (s->options->candidates[i].round == round) {
                        levels = MAX(levels, s->options->candidates[i].n_values);
                        *ret_n += 1;
                }
        return levels;
}

static int sweep_round(struct search *s, unsigned round)
{
        size_t n, own;
        const size_t levels = levels_of(s, round, &n);
        int r = 0;

        for (size_t k = 0; r == 0 && !s->is_found && k < levels; k++) {
                cleanup(flips_done) struct flips flips;

                list_flips(s, round, k, &flips, &own);
                r = sweep(s, &flips);
        }
        return r;
}

/* Groups of so many neighbours. */
static int try_groups(struct search *s, unsigned round, size_t level, size_t size)
{
        cleanup(flips_done) struct flips flips;
        enum option_outcome outcome;
        size_t own;
        int r = 0;

        list_flips(s, round, level, &flips, &own);
        for (size_t i = 0; r == 0 && !s->is_found && i < own; i += size) {
                r = try_set(s, flips.list + i, MIN(size, own - i), &outcome);
                if (r == 0 && size == 1 && outcome == OPTIONS_BROKEN)
                        drop(s, flips.list[i]);
        }
        return r;
}

static int try_random_halves(struct search *s, unsigned round)
{
        enum option_outcome outcome;
        int r = 0;

        for (int k = 0; r == 0 && !s->is_found && k < HALVES; k++) {
                cleanup(flips_done) struct flips half = {0};

                for (size_t i = 0; i < s->options->n; i++) {
                        const struct option_candidate *c = &s->options->candidates[i];
                        const size_t value = (size_t)random_below(&s->random, c->n_values);

                        if (c->round <= round && !s->is_dropped[i][value] && random_below(&s->random, 2) == 0)
                                add_flip(&half, i, value);
                }
                if (half.n > 0)
                        r = try_set(s, half.list, half.n, &outcome);
        }
        return r;
}

static int group_round(struct search *s, unsigned round)
{
        size_t n;
        const size_t levels = levels_of(s, round, &n);
        int r = 0;

        for (size_t size = (n + 1) / 2; r == 0 && !s->is_found && size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
                for (size_t k = 0; r == 0 && !s->is_found && k < levels; k++)
                        r = try_groups(s, round, k, size);
                if (r == 0 && !s->is_found && n > 1)
                        r = try_random_halves(s, round);
        }
        return r;
}

int option_search(const struct option_search_options *options, struct option_search_result *ret)
{
        struct search s = {.options = options, .ret = ret, .is_dropped = allocate(options->n + 1, sizeof(bool *)),
                           .is_tried = allocate(options->n + 1, sizeof(bool *))};
        int r = 0;

        *ret = (struct option_search_result){0};
        random_seed(&s.random, SEED);
        for (size_t i = 0; i < options->n; i++) {
                s.is_dropped[i] = allocate(options->candidates[i].n_values, sizeof(bool));
                s.is_tried[i] = allocate(options->candidates[i].n_values, sizeof(bool));
        }
        for (unsigned round = 0; r == 0 && !s.is_found && round < options->rounds; round++) {
                r = sweep_round(&s, round);
                if (r == 0 && !s.is_found && round == 0) /* plausible by themselves */
                        r = group_round(&s, round);
        }
        for (unsigned round = 1; r == 0 && !s.is_found && round < options->rounds; round++)
                r = group_round(&s, round);
        ret->is_cut_off = r == -EDQUOT;
        for (size_t i = 0; i < options->n; i++) {
                free(s.is_dropped[i]);
                free(s.is_tried[i]);
        }
        free(s.is_dropped);
        free(s.is_tried);
        free(s.known);
        return r == -EDQUOT ? 0 : r;
}
