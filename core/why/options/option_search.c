#include "core/why/options/option_search.h"

#include "cache/base/hash.h"

#define DROPPED_MOST 8 /* flips dropped by a sweep before the rest is left to groups */

struct flips {
        struct option_flip *list; /* owned */
        size_t n;
};

struct known {
        uint64_t set; /* its hash */
        bool is_tested;
        bool is_refused; /* not confirmed, which counts more than any test */
        enum option_outcome outcome;
};

struct search {
        const struct option_search_options *options;
        struct option_search_result *ret;
        bool **is_dropped;   /* [candidate][value] */
        struct known *known; /* sets that were tested */
        size_t n_known;
        bool is_found;
};

void option_search_result_done(struct option_search_result *r)
{
        free(r->flips);
        free(r->dropped);
        *r = (struct option_search_result){0};
}

static void flips_done(struct flips *f)
{
        free(f->list);
}

/* -- one test ----------------------------------------------------------------------------------------------------- */

/* The results of a set so far, whatever its order. Valid until the next call. */
static struct known *find_known(struct search *s, const struct option_flip *list, size_t n)
{
        uint64_t set = n;

        for (size_t i = 0; i < n; i++)
                set += hash_quick(&list[i], sizeof(list[i]));
        for (size_t i = 0; i < s->n_known; i++)
                if (s->known[i].set == set)
                        return &s->known[i];
        return list_add(s->known, s->n_known, (struct known){.set = set});
}

static int ask(struct search *s, const struct option_flip *list, size_t n, enum option_care care, enum option_outcome *ret)
{
        struct known *known = find_known(s, list, n);
        int r = 0;

        if (n > 0 && !known->is_tested) {
                r = s->options->test(s->options->user, list, n, care, &known->outcome);
                known->is_tested = r == 0;
                s->ret->tests += r == 0;
        }
        *ret = known->outcome;
        return r;
}

/* Tests again, with more care, unless the set was refused. */
static int ask_carefully(struct search *s, const struct option_flip *list, size_t n, enum option_outcome *ret)
{
        int r = 0;

        *ret = OPTIONS_SLOW;
        if (!find_known(s, list, n)->is_refused) {
                r = s->options->test(s->options->user, list, n, OPTIONS_CAREFUL, ret);
                s->ret->tests += r == 0;
        }
        return r;
}

/* The shortest prefix with this outcome. The prefix of `high` is known to have it, that of `low` not to. */
static int shortest(struct search *s, const struct option_flip *list, size_t low, size_t high, enum option_outcome wanted, size_t *ret)
{
        enum option_outcome outcome;
        int r = 0;

        while (r == 0 && high - low > 1) {
                const size_t middle = low + (high - low) / 2;

                r = ask(s, list, middle, wanted == OPTIONS_BROKEN ? OPTIONS_SWEEP : OPTIONS_PROBE, &outcome);
                if (outcome == wanted)
                        high = middle;
                else
                        low = middle;
        }
        *ret = high;
        return r;
}

static void swap(struct option_flip *a, struct option_flip *b)
{
        const struct option_flip c = *a;

        *a = *b;
        *b = c;
}

/* -- a set that restores ------------------------------------------------------------------------------------------- */

/* list[0..n) restores. Finds its smallest part that does, confirms it, and makes it the result. set[0..n) always restores; set[0..needed) has no flip that
 * can go. */
static int minimize(struct search *s, const struct option_flip *list, size_t n)
{
        struct option_flip *set = allocate(n, sizeof(*set));
        enum option_outcome outcome;
        size_t needed = 0, end;
        int r;

        memcpy(set, list, n * sizeof(*set));
        while ((r = ask(s, set, needed, OPTIONS_PROBE, &outcome)) == 0 && outcome != OPTIONS_RESTORED && needed < n) {
                r = shortest(s, set, needed, n, OPTIONS_RESTORED, &end);
                if (r < 0)
                        break;
                swap(&set[needed++], &set[end - 1]);
                n = end;
        }
        n = r == 0 ? needed : n;
        for (size_t i = 0; r == 0 && n > 1 && i < n;) { /* without each */
                swap(&set[i], &set[n - 1]);
                r = ask_carefully(s, set, n - 1, &outcome);
                if (r == 0 && outcome == OPTIONS_RESTORED)
                        n--;
                else
                        swap(&set[i++], &set[n - 1]);
        }
        s->ret->is_cut_off |= r == -EXFULL; /* it restores, though it could be smaller */
        if (r == 0 || r == -EXFULL)
                r = s->options->confirm(s->options->user, set, n, &outcome);
        if (r < 0 || outcome != OPTIONS_RESTORED) {
                struct known *known = find_known(s, set, n);

                known->outcome = OPTIONS_SLOW;
                known->is_tested = known->is_refused = true;
                free(set);
                return r;
        }
        s->is_found = true;
        s->ret->flips = set;
        s->ret->n = n;
        return 0;
}

/* Tests a set, and if it restores goes on to its smallest part. */
static int try_set(struct search *s, const struct option_flip *list, size_t n, enum option_care care, enum option_outcome *ret)
{
        int r = ask(s, list, n, care, ret);

        return r == 0 && *ret == OPTIONS_RESTORED ? minimize(s, list, n) : r;
}

static void drop(struct search *s, struct option_flip f)
{
        if (s->is_dropped[f.candidate][f.value])
                return;
        s->is_dropped[f.candidate][f.value] = true;
        list_add(s->ret->dropped, s->ret->n_dropped, f);
}

/* -- a round ------------------------------------------------------------------------------------------------------ */

/* A flip of each candidate of this round and earlier ones. First come the *ret_own candidates of this round that have a value number `level`, with that;
 * then all others, with their first value that is not dropped. `all`: own values that were dropped, too. */
static void list_flips(struct search *s, unsigned round, size_t level, bool all, struct flips *ret, size_t *ret_own)
{
        const struct option_search_options *o = s->options;

        *ret = (struct flips){0};
        for (int is_own = 1; is_own >= 0; is_own--) {
                for (size_t i = 0; i < o->n; i++) {
                        const struct option_candidate *c = &o->candidates[i];
                        const bool has_level = c->round == round && level < c->n_values && (all || !s->is_dropped[i][level]);
                        size_t value = is_own ? level : 0;

                        if (c->round > round || has_level != is_own)
                                continue;
                        while (!is_own && value < c->n_values && s->is_dropped[i][value])
                                value++;
                        if (value < c->n_values)
                                list_add(ret->list, ret->n, (struct option_flip){i, value});
                }
                if (is_own)
                        *ret_own = ret->n;
        }
}

/* Tests a whole list at once, and drops flips that break it. If there are many, the rest is left to groups. `clean`: the length of the prefix that is
 * known not to break; `gap`: how many more flips the next test has. */
static int sweep(struct search *s, struct flips *flips)
{
        const size_t dropped_most = s->ret->n_dropped + DROPPED_MOST;
        size_t clean = 0, gap = flips->n;
        enum option_outcome outcome;
        int r = 0;

        while (r == 0 && !s->is_found && clean < flips->n && s->ret->n_dropped < dropped_most) {
                size_t next = MIN(flips->n, clean + gap);

                r = try_set(s, flips->list, next, OPTIONS_SWEEP, &outcome);
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
                gap = s->ret->n_dropped < 2 ? flips->n : 2 * (next - clean); /* one broken flip does not suggest more */
                clean = next - 1;
                if (clean > 0) /* it was tested only for breakage, and may restore */
                        r = try_set(s, flips->list, clean, OPTIONS_SWEEP, &outcome);
        }
        return r;
}

static int sweep_round(struct search *s, unsigned round)
{
        size_t own = 1;
        int r = 0;

        for (size_t k = 0; r == 0 && !s->is_found && own > 0; k++) {
                cleanup(flips_done) struct flips flips;

                list_flips(s, round, k, false, &flips, &own);
                if (own > 0)
                        r = sweep(s, &flips);
        }
        return r;
}

/* Tests groups of `size` neighbours. */
static int try_groups(struct search *s, unsigned round, size_t level, size_t size, size_t *ret_own)
{
        cleanup(flips_done) struct flips flips;
        enum option_outcome outcome;
        int r = 0;

        list_flips(s, round, level, size == 1, &flips, ret_own);
        for (size_t i = 0; r == 0 && !s->is_found && i < *ret_own; i += size) {
                r = try_set(s, flips.list + i, MIN(size, *ret_own - i), OPTIONS_PROBE, &outcome);
                if (r == 0 && size == 1 && outcome == OPTIONS_BROKEN)
                        drop(s, flips.list[i]);
        }
        return r;
}

/* Tests groups, half as large each time, down to single flips. */
static int group_round(struct search *s, unsigned round)
{
        int r = 0;

        for (size_t size = (s->options->n + 1) / 2; r == 0 && !s->is_found && size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
                size_t own = 1;

                for (size_t k = 0; r == 0 && !s->is_found && own > 0; k++)
                        r = try_groups(s, round, k, size, &own);
        }
        return r;
}

int option_search(const struct option_search_options *options, struct option_search_result *ret)
{
        struct search s = {.options = options, .ret = ret, .is_dropped = allocate(options->n + 1, sizeof(bool *))};
        int r = 0;

        *ret = (struct option_search_result){0};
        for (size_t i = 0; i < options->n; i++)
                s.is_dropped[i] = allocate(options->candidates[i].n_values, sizeof(bool));
        for (unsigned round = 0; r == 0 && !s.is_found && round < options->rounds; round++) {
                r = sweep_round(&s, round);
                if (r == 0 && !s.is_found && round == 0) /* plausible by themselves */
                        r = group_round(&s, round);
        }
        for (unsigned round = 1; r == 0 && !s.is_found && round < options->rounds; round++)
                r = group_round(&s, round);
        ret->is_cut_off |= r == -EXFULL;
        for (size_t i = 0; i < options->n; i++)
                free(s.is_dropped[i]);
        free(s.is_dropped);
        free(s.known);
        return r == -EXFULL ? 0 : r;
}
