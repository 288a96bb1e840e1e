/* The hunt for unknowns: its life, chains in their order, the journal told again. */
#include "core/study/campaign/campaign_unknown.h"

#include <inttypes.h>
#include <xxhash.h>

/* -- chains -- */

static bool has_all(const struct seed *seed)
{
        return seed->text[LOGIC_ALL].size > 0;
}

void chain_place_of(struct campaign *c, uint64_t id, struct chain_place *ret)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);
        unsigned done;

        *ret = (struct chain_place){.seed = &h->seeds[(id - 1) % h->n_seeds], .number = (unsigned)((id - 1) / h->n_seeds)};
        ret->mode = has_all(ret->seed) && ret->number % 2 ? LOGIC_ALL : LOGIC_STATED;
        done = ret->number * c->settings->chain;
        ret->steps = MIN(c->settings->chain, c->settings->iterations - done);
}

static int next(struct campaign *c, struct strategy_input *ret)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        struct chain_place place;

        while (h->last < h->n_seeds * (uint64_t)h->chains) {
                h->last++;
                chain_place_of(c, h->last, &place);
                if (place.seed->is_out[place.mode])
                        continue;
                *ret = (struct strategy_input){.id = h->last, .source = "chain"};
                return 0;
        }
        return errorf(-ENOSPC, "every seed had its %u iterations", c->settings->iterations);
}

static int next_again(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        if (r->id == 0 || r->id > h->n_seeds * (uint64_t)h->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        h->last = MAX(h->last, r->id);
        *ret = (struct strategy_input){.id = r->id, .source = "chain"};
        return 0;
}

/* -- the journal told again -- */

static int replay(struct campaign *c, const struct campaign_record *r)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        struct chain_place place;

        if (r->event == EVENT_FINISH)
                return 0;
        if ((r->event != EVENT_STEP && r->event != EVENT_FOUND) || r->id == 0 || r->id > h->n_seeds * (uint64_t)h->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        unknown_hunt_count(c, r);
        if (r->event == EVENT_STEP && r->step == 0) {
                chain_place_of(c, r->id, &place);
                seed_judge(c, place.seed, place.mode);
        }
        return 0;
}

/* The commits responsible change nothing of what comes next. */
static void learned(struct campaign *c, uint64_t id, uint64_t cause)
{
        (void)c, (void)id, (void)cause;
}

/* -- life -- */

static int check(const struct campaign_settings *s)
{
        if (!s->corpus)
                return errorf(-EINVAL, "a campaign for unknowns needs --seeds, a folder of formulas to begin with");
        if (s->iterations == 0 || s->chain == 0)
                return errorf(-EINVAL, "--iterations and --chain must be greater than zero");
        return 0;
}

/* Chains follow from these. */
static int take_fingerprint(struct campaign *c, const struct unknown_hunt *h)
{
        XXH3_state_t *state = XXH3_createState();

        if (!state)
                return -ENOMEM;
        XXH3_64bits_reset(state);
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                const struct rule_row *row = weaken_rule(h->weaken, i);

                XXH3_64bits_update(state, row->name, strlen(row->name) + 1);
                XXH3_64bits_update(state, row->left, strlen(row->left) + 1);
                XXH3_64bits_update(state, row->right, strlen(row->right) + 1);
        }
        for (size_t i = 0; i < h->n_seeds; i++)
                XXH3_64bits_update(state, h->seeds[i].text[LOGIC_STATED].data, h->seeds[i].text[LOGIC_STATED].size);
        if (asprintf(&c->fingerprint, "seeds:%016" PRIx64, (uint64_t)XXH3_64bits_digest(state)) < 0)
                c->fingerprint = NULL;
        XXH3_freeState(state);
        return c->fingerprint ? 0 : -ENOMEM;
}

static int begin(struct campaign *c)
{
        struct unknown_hunt *h = calloc(1, sizeof(*h));
        int r = h ? weaken_new(NULL, 0, &h->weaken) : -ENOMEM;

        c->state = h;
        if (r < 0)
                return r;
        h->chains = (c->settings->iterations + c->settings->chain - 1) / c->settings->chain;
        h->uses = calloc(weaken_n_rules(h->weaken), sizeof(*h->uses));
        r = h->uses ? seeds_read(c, h) : -ENOMEM;
        if (r == 0)
                r = take_fingerprint(c, h);
        if (r == 0)
                r = signatures_load(c);
        return r < 0 ? r : operators_probe(c);
}

static void end(struct campaign *c)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        for (size_t i = 0; i < h->n_seeds; i++)
                for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                        buffer_done(&h->seeds[i].text[m]);
                        free(h->seeds[i].base[m]);
                }
        for (size_t i = 0; i < h->n_known; i++)
                free(h->known[i].signature);
        weaken_free(h->weaken);
        free(h->seeds);
        free(h->known);
        free(h->counts);
        free(h->uses);
        free(h);
}

static void print_table(struct campaign *c, struct buffer *ret)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);

        buffer_adds(ret, "rule\tused\tdecided\tunknown\ttimeout\tother\n");
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                const struct rule_use *u = &h->uses[i];

                buffer_addf(ret, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                            weaken_rule(h->weaken, i)->name, u->used, u->decided, u->unknown, u->timeout, u->other);
        }
}

const struct campaign_hunt hunt_unknowns = {
        .table = "rules.tsv",
        .check = check,
        .begin = begin,
        .end = end,
        .next = next,
        .next_again = next_again,
        .replay = replay,
        .try = chain_try,
        .learned = learned,
        .print_table = print_table,
        .record = signatures_keep,
};
