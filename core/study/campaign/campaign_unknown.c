/* The hunt for unknowns: its life, chains in their order, what it counts, replay of the journal. */
#include "core/study/campaign/campaign_unknown.h"

#include <inttypes.h>
#include <xxhash.h>

struct chain_place chain_place_of(struct campaign *c, uint64_t id)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);
        struct seed *seed = &h->seeds[(id - 1) % h->n_seeds];
        unsigned number = (unsigned)((id - 1) / h->n_seeds);

        return (struct chain_place){.seed = seed,
                                    .mode = seed->text[LOGIC_ALL].size > 0 && number % 2 ? LOGIC_ALL : LOGIC_STATED,
                                    .steps = MIN(c->settings->chain, c->settings->iterations - number * c->settings->chain)};
}

static int next(struct campaign *c, struct strategy_input *ret)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        while (h->last < h->n_seeds * (uint64_t)h->chains) {
                struct chain_place place = chain_place_of(c, ++h->last);

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

/* -- counts: of steps and finds, from the workers or from the journal -- */

static void count_step(struct campaign *c, const struct campaign_record *r)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        bool is_target = r->version + 1 == c->n_compared;

        c->status.runs++;
        c->status.solving += r->seconds;
        if (r->step == 0) {
                struct chain_place place = chain_place_of(c, r->id);

                if (r->version < c->n_compared && !place.seed->is_judged[place.mode]) {
                        place.seed->base[place.mode][r->version] = r->verdict;
                        place.seed->n_base[place.mode] = MAX(place.seed->n_base[place.mode], r->version + 1);
                }
                return;
        }
        c->status.inputs += is_target;
        if (is_target && r->rule < weaken_n_rules(h->weaken)) {
                struct rule_use *u = &h->uses[r->rule];

                u->used++;
                *(verdict_is_decided(r->verdict)  ? &u->decided
                  : r->verdict == VERDICT_UNKNOWN ? &u->unknown
                  : r->verdict == VERDICT_TIMEOUT ? &u->timeout
                                                  : &u->other) += 1;
        }
}

static void count_number(struct unknown_hunt *h, uint32_t number, uint64_t times)
{
        for (size_t i = 0; i < h->n_known; i++)
                h->known[i].is_counted |= h->known[i].number == number;
        for (size_t i = 0; i < h->n_counts; i++)
                if (h->counts[i].number == number) {
                        h->counts[i].n += times;
                        return;
                }
        list_grow(h->counts, h->n_counts);
        h->counts[h->n_counts++] = (struct finding_count){.number = number, .n = times};
}

static void count_found(struct campaign *c, const struct campaign_record *r)
{
        c->status.candidates += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
        if (r->cause == 0) {
                c->status.rejected++;
                return;
        }
        count_number(unknown_hunt_of(c), (uint32_t)r->cause, 1);
        if (!r->is_find) {
                c->status.duplicates++;
                return;
        }
        if (r->kind == FINDING_REGRESSION)
                campaign_add_found(c, r->cause, (uint32_t)r->cause);
        c->status.soundness += r->kind == FINDING_SOUNDNESS;
        c->status.crashes += r->kind == FINDING_CRASH;
        c->status.implications += r->kind == FINDING_IMPLICATION;
        c->status.finds += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
}

void unknown_hunt_count(struct campaign *c, const struct campaign_record *r)
{
        (r->event == EVENT_STEP ? count_step : count_found)(c, r);
}

/* -- its state, and replay of the journal -- */

static void transfer_verdict(struct transfer *t, enum verdict *v)
{
        uint64_t n = (uint64_t)*v;

        transfer_u64(t, &n);
        if (n >= N_VERDICTS)
                record_fail(&t->from);
        *v = n < N_VERDICTS ? (enum verdict)n : VERDICT_UNKNOWN;
}

static void transfer_seed(struct campaign *c, struct transfer *t, struct seed *s)
{
        transfer_verdict(t, &s->implied);
        for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                uint64_t n = s->n_base[m];

                transfer_u64(t, &n);
                s->n_base[m] = (unsigned)MIN(n, (uint64_t)c->n_compared);
                for (size_t v = 0; v < c->n_compared; v++)
                        transfer_verdict(t, &s->base[m][v]);
                transfer_bool(t, &s->is_judged[m]);
                transfer_bool(t, &s->is_out[m]);
        }
}

static void transfer(struct campaign *c, struct transfer *t)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        transfer_u64(t, &h->last);
        transfer_u64(t, &c->status.soundness);
        transfer_u64(t, &c->status.crashes);
        transfer_same(t, h->n_seeds);
        for (size_t i = 0; i < h->n_seeds; i++) {
                transfer_seed(c, t, &h->seeds[i]);
                c->status.skipped += transfer_reads(t) && h->seeds[i].is_out[LOGIC_STATED];
        }
        transfer_same(t, weaken_n_rules(h->weaken));
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                struct rule_use *u = &h->uses[i];
                uint64_t *const counts[] = {&u->used, &u->decided, &u->unknown, &u->timeout, &u->other};

                for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
                        transfer_u64(t, counts[k]);
        }
}

static void add_counted(struct campaign *c, struct campaign_record **known, size_t *n)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);

        for (size_t i = 0; i < h->n_counts; i++) {
                list_grow(*known, *n);
                (*known)[(*n)++] = (struct campaign_record){.event = EVENT_COUNTED, .id = h->counts[i].n, .finding = h->counts[i].number};
        }
}

static int replay(struct campaign *c, const struct campaign_record *r)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        if (r->event == EVENT_FINISH)
                return 0;
        if (r->event == EVENT_COUNTED) {
                count_number(h, r->finding, r->id);
                return 0;
        }
        if ((r->event != EVENT_STEP && r->event != EVENT_FOUND) || r->id == 0 || r->id > h->n_seeds * (uint64_t)h->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        unknown_hunt_count(c, r);
        if (r->event == EVENT_STEP && r->step == 0)
                seed_judge(c, chain_place_of(c, r->id));
        return 0;
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

/* Of the rules and the seeds, which decide the chains. */
static int take_fingerprint(struct campaign *c, const struct unknown_hunt *h)
{
        XXH3_state_t *state = XXH3_createState();

        if (!state)
                return -ENOMEM;
        XXH3_64bits_reset(state);
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                const struct rule_row *row = weaken_rule(h->weaken, i);
                const char *const parts[] = {row->name, row->left, row->right};

                for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
                        XXH3_64bits_update(state, parts[k], strlen(parts[k]) + 1);
        }
        for (size_t i = 0; i < h->n_seeds; i++)
                XXH3_64bits_update(state, h->seeds[i].text[LOGIC_STATED].data, h->seeds[i].text[LOGIC_STATED].size);
        c->fingerprint = format_string("seeds:%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
        XXH3_freeState(state);
        return 0;
}

static int begin(struct campaign *c)
{
        struct unknown_hunt *h = c->state = allocate(1, sizeof(*h));
        int r = weaken_new(NULL, 0, &h->weaken);

        if (r < 0)
                return r;
        h->chains = (c->settings->iterations + c->settings->chain - 1) / c->settings->chain;
        h->uses = allocate(weaken_n_rules(h->weaken), sizeof(*h->uses));
        r = seeds_read(c, h);
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
        .transfer = transfer,
        .add_counted = add_counted,
        .next_again = next_again,
        .replay = replay,
        .try = chain_try,
        .print_table = print_table,
        .record = signatures_keep,
};
