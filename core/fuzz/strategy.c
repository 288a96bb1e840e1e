/* The inputs under way, their outcomes and scores, which all strategies share. The strategy's type chooses the inputs and their versions. */
#include "core/fuzz/strategy_internal.h"

#include <math.h>

#include "cache/base/hash.h"

const struct strategy_options strategy_defaults = {
        .versions = 2,
        .timeout = 20,
        .threshold = 10,
        .dialect = DIALECT_2_6,
};

/* -- inputs -- */

struct input *input_free(struct input *i)
{
        if (!i)
                return NULL;
        formula_done(&i->formula);
        buffer_done(&i->text);
        shape_done(&i->shape);
        free(i->outcomes);
        free(i->ran);
        free(i);
        return NULL;
}

struct input *input_new(const struct strategy *s, struct formula f, const char *source)
{
        struct input *i = allocate(1, sizeof(*i));

        *i = (struct input){.formula = f, .source = source, .arm = SIZE_MAX, .parent = SIZE_MAX};
        i->outcomes = allocate(s->options.versions, sizeof(*i->outcomes));
        i->ran = allocate(s->options.versions, sizeof(*i->ran));
        return i;
}

static struct input *find_input(const struct strategy *s, uint64_t id)
{
        for (size_t i = 0; i < s->n_under_way; i++)
                if (s->under_way[i]->id == id)
                        return s->under_way[i];
        return NULL;
}

static void forget_input(struct strategy *s, struct input *input)
{
        for (size_t i = 0; i < s->n_under_way; i++)
                if (s->under_way[i] == input) {
                        s->under_way[i] = s->under_way[--s->n_under_way];
                        break;
                }
        if (!s->type->keeps || !s->type->keeps(s, input))
                input_free(input);
}

double solved_after(const struct strategy *s, const struct outcome *o)
{
        return verdict_is_decided(o->verdict) ? o->seconds : s->options.timeout;
}

const struct formula *corpus_draw(struct strategy *s)
{
        return s->options.n_corpus > 0 ? &s->corpus[random_below(&s->random, s->options.n_corpus)] : NULL;
}

bool step_every_version(struct strategy *s, struct input *i, unsigned *ret_version, double *ret_seconds)
{
        for (unsigned v = 0; v < s->options.versions; v++)
                if (!i->ran[v]) {
                        *ret_version = v;
                        *ret_seconds = s->options.timeout;
                        return true;
                }
        return false;
}

/* -- called by campaigns -- */

int strategy_again(const struct strategy *s, uint64_t id, struct strategy_input *ret)
{
        const struct input *i = find_input(s, id);

        if (!i)
                return -ENOENT;
        *ret = (struct strategy_input){.id = i->id, .text = SLICE(i->text.data, i->text.size), .source = i->source};
        return 0;
}

int strategy_next(struct strategy *s, struct strategy_input *ret)
{
        struct input *i = NULL;
        int r;

        r = s->type->next(s, &i);
        if (r == 0 && i->text.size == 0)
                r = formula_print(&i->formula, s->options.dialect, &i->text);
        if (r < 0 && i)
                forget_input(s, i);
        if (r < 0)
                return r;
        i->id = ++s->last_id;
        i->is_out = true;
        list_add(s->under_way, s->n_under_way, i);
        return strategy_again(s, i->id, ret);
}

bool strategy_step(struct strategy *s, uint64_t id, unsigned *ret_version, double *ret_seconds)
{
        struct input *i = find_input(s, id);

        return i && (s->options.every_version ? step_every_version : s->type->step)(s, i, ret_version, ret_seconds);
}

void strategy_ran(struct strategy *s, uint64_t id, unsigned version, const struct outcome *o)
{
        struct input *i = find_input(s, id);

        if (!i || version >= s->options.versions)
                return;
        i->outcomes[version] = *o;
        i->ran[version] = true;
}

/* The excess of the target (with every_version, the largest of any version) over the fastest one before it. The time of the version itself counts even if
 * it gave no answer: a quick unknown is not slow. A version that did not run counts as 0 s. */
static void score(const struct strategy *s, struct input *i)
{
        const unsigned target = s->options.versions - 1;

        i->score = -INFINITY;
        for (unsigned later = s->options.every_version ? 1 : target; later <= target; later++) {
                double least = s->options.timeout, slower;
                unsigned reference = 0;

                for (unsigned v = 0; v < later; v++)
                        if (i->ran[v] && solved_after(s, &i->outcomes[v]) < least) {
                                least = solved_after(s, &i->outcomes[v]);
                                reference = v;
                        }
                slower = (i->ran[later] ? i->outcomes[later].seconds : 0) - least;
                if (slower > i->score) {
                        i->score = slower;
                        i->pair[0] = reference;
                        i->pair[1] = later;
                }
        }
        i->is_candidate = i->score > s->options.threshold;
}

bool strategy_wants(struct strategy *s, uint64_t id, unsigned ret_pair[2])
{
        struct input *i = find_input(s, id);

        if (!i)
                return false;
        score(s, i);
        if (ret_pair)
                memcpy(ret_pair, i->pair, sizeof(i->pair));
        return i->is_candidate && (!s->type->wants || s->type->wants(s, i));
}

bool strategy_finish(struct strategy *s, uint64_t id, bool is_wanted, double *ret_score)
{
        struct input *i = find_input(s, id);

        if (!i)
                return false;
        score(s, i);
        i->is_passed_over = i->is_candidate && !is_wanted;
        i->is_candidate &= is_wanted;
        i->is_out = false;
        *ret_score = i->score;
        if (s->type->finish)
                s->type->finish(s, i);
        is_wanted = i->is_candidate;
        if (!is_wanted)
                forget_input(s, i);
        return is_wanted;
}

void strategy_confirmed(struct strategy *s, uint64_t id, bool is_find)
{
        struct input *i = find_input(s, id);

        if (!i)
                return;
        if (s->type->confirmed)
                s->type->confirmed(s, i, is_find);
        forget_input(s, i);
}

size_t strategy_arms(const struct strategy *s, struct strategy_arm *ret, size_t most)
{
        return s->type->arms ? s->type->arms(s, ret, most) : 0;
}

static int check_options(const struct strategy_options *o)
{
        if (o->versions < 2)
                return errorf(-EINVAL, "a campaign compares at least two versions");
        if (!(o->timeout > 0) || !(o->threshold > 0))
                return errorf(-EINVAL, "the timeout and the threshold must be greater than zero");
        if (o->threshold >= o->timeout)
                return errorf(-EINVAL,
                              "the threshold (%g s) must be below the timeout (%g s), or nothing could be slower by as much",
                              o->threshold, o->timeout);
        for (size_t i = 0; i < o->n_logics; i++) {
                double weights[N_OPS];
                int r = generate_weights_of(o->logics[i], false, weights);

                if (r < 0)
                        return r;
        }
        return 0;
}

int strategy_new(const struct strategy_options *options, struct strategy **ret)
{
        cleanup_strategy struct strategy *s = NULL;
        int r = check_options(options);

        if (r < 0)
                return r;
        s = allocate(1, sizeof(*s));
        s->options = *options;
        s->type = options->type ?: &strategy_novelty;
        s->generate = generate_defaults;
        s->generate.dialect = options->dialect;
        random_seed_part(&s->random, options->seed, 1);
        s->corpus = allocate(options->n_corpus, sizeof(*s->corpus));
        s->options.corpus = NULL;
        for (size_t i = 0; i < options->n_corpus; i++)
                s->corpus[i] = formula_copy(&options->corpus[i]);
        r = generator_new(&s->generate, options->seed, &s->generator);
        if (r < 0)
                return r;
        s->type->begin(s);
        *ret = steal_pointer(s);
        return 0;
}

struct strategy *strategy_free(struct strategy *s)
{
        if (!s)
                return NULL;
        while (s->n_under_way > 0)
                forget_input(s, s->under_way[0]);
        if (s->state)
                s->type->end(s);
        for (size_t i = 0; i < s->options.n_corpus; i++)
                formula_done(&s->corpus[i]);
        free(s->corpus);
        free(s->under_way);
        generator_free(s->generator);
        free(s);
        return NULL;
}

/* -- fingerprint -- */

#define FINGERPRINT_INPUTS 40

/* One input. Every fourth is slow on the last version, and a find. */
static int probe(struct strategy *s, uint64_t *hash)
{
        struct strategy_input input;
        unsigned version;
        double seconds, score;
        int r = strategy_next(s, &input);

        if (r < 0)
                return r;
        *hash = *hash * 31 + hash_quick(input.text.data, input.text.size);
        while (strategy_step(s, input.id, &version, &seconds)) {
                bool is_slow = input.id % 4 == 0 && version + 1 == s->options.versions;

                strategy_ran(s, input.id, version, &(struct outcome){is_slow ? seconds : 0, is_slow ? VERDICT_TIMEOUT : VERDICT_SAT});
        }
        if (strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score))
                strategy_confirmed(s, input.id, true);
        return 0;
}

int strategy_fingerprint(const struct strategy_options *options, uint64_t *ret)
{
        cleanup_strategy struct strategy *s = NULL;
        int r = strategy_new(options, &s);

        *ret = 0;
        for (unsigned i = 0; r == 0 && i < FINGERPRINT_INPUTS; i++)
                r = probe(s, ret);
        return r == -ENOSPC ? 0 : r;
}
