/* Campaigns for unknowns: begin and end, order of chains, counts, replay of the journal. */
#include "core/study/campaign/campaign_unknown.h"

#include <inttypes.h>

#include "cache/base/hash.h"

/* Chains come in rounds of one for each seed. A seed's odd rounds are in ALL, if it runs in that, too. The last round has the steps that are left. */
struct chain_place chain_place_of(struct campaign *c, uint64_t id)
{
        const struct unknowns *u = unknowns_of(c);
        struct seed_formula *seed = &u->seeds[(id - 1) % u->n_seeds];
        unsigned round = (unsigned)((id - 1) / u->n_seeds);

        return (struct chain_place){.seed = seed,
                                    .mode = seed->text[LOGIC_ALL].size > 0 && round % 2 ? LOGIC_ALL : LOGIC_STATED,
                                    .steps = MIN(c->settings->chain, c->settings->iterations - round * c->settings->chain)};
}

static int next(struct campaign *c, struct strategy_input *ret)
{
        struct unknowns *u = unknowns_of(c);

        /* Two rounds have each seed in both modes. If all of these are out, so are the rest, which may be billions. */
        for (size_t i = 0; i < 2 * u->n_seeds && u->last < u->n_seeds * (uint64_t)u->chains; i++) {
                struct chain_place place = chain_place_of(c, ++u->last);

                if (place.seed->is_out[place.mode])
                        continue;
                *ret = (struct strategy_input){.id = u->last, .source = "chain"};
                return 0;
        }
        return errorf(-ENOSPC, "every seed had its %u iterations", c->settings->iterations);
}

static int next_again(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret)
{
        struct unknowns *u = unknowns_of(c);

        if (r->id == 0 || r->id > u->n_seeds * (uint64_t)u->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        u->last = MAX(u->last, r->id);
        *ret = (struct strategy_input){.id = r->id, .source = "chain"};
        return 0;
}

/* -- counts: of steps and finds, from the workers or from the journal -- */

static void count_step(struct campaign *c, const struct campaign_record *r)
{
        struct unknowns *u = unknowns_of(c);
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
        if (is_target && r->rule < weaken_n_rules(u->weaken))
                u->uses[r->rule].ends[verdict_is_decided(r->verdict)  ? RULE_DECIDED
                                      : r->verdict == VERDICT_UNKNOWN ? RULE_UNKNOWN
                                      : r->verdict == VERDICT_TIMEOUT ? RULE_TIMEOUT
                                                                      : RULE_OTHER]++;
}

/* Counts finds that a finding represents. */
static void count_finds(struct unknowns *u, uint32_t number, uint64_t n_finds)
{
        for (size_t i = 0; i < u->n_known; i++)
                u->known[i].is_counted |= u->known[i].number == number;
        for (size_t i = 0; i < u->n_counts; i++)
                if (u->counts[i].number == number) {
                        u->counts[i].n += n_finds;
                        return;
                }
        list_add(u->counts, u->n_counts, (struct finding_count){.number = number, .n = n_finds});
}

static void count_found(struct campaign *c, const struct campaign_record *r)
{
        c->status.candidates += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
        if (r->finding == 0) {
                c->status.rejected++;
                return;
        }
        count_finds(unknowns_of(c), (uint32_t)r->finding, 1);
        if (!r->is_find) {
                c->status.duplicates++;
                return;
        }
        c->status.implications += r->kind == FINDING_IMPLICATION;
        c->status.finds += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
}

void unknowns_count(struct campaign *c, const struct campaign_record *r)
{
        (r->event == EVENT_STEP ? count_step : count_found)(c, r);
}

/* -- its state, and replay of the journal -- */

static void transfer_verdict(struct transfer *t, enum verdict *v)
{
        *v = (enum verdict)transfer_choice(t, *v, N_VERDICTS);
}

static void transfer_seed(struct campaign *c, struct transfer *t, struct seed_formula *s)
{
        transfer_verdict(t, &s->implied);
        for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                transfer_u32(t, &s->n_base[m]);
                s->n_base[m] = MIN(s->n_base[m], (unsigned)c->n_compared);
                for (size_t v = 0; v < c->n_compared; v++)
                        transfer_verdict(t, &s->base[m][v]);
                transfer_bool(t, &s->is_judged[m]);
                transfer_bool(t, &s->is_out[m]);
        }
}

static void transfer(struct campaign *c, struct transfer *t)
{
        struct unknowns *u = unknowns_of(c);

        transfer_u64(t, &u->last);
        transfer_same(t, u->n_seeds);
        for (size_t i = 0; i < u->n_seeds; i++) {
                transfer_seed(c, t, &u->seeds[i]);
                c->status.skipped += transfer_reads(t) && u->seeds[i].is_out[LOGIC_STATED];
        }
        transfer_same(t, weaken_n_rules(u->weaken));
        for (size_t i = 0; i < weaken_n_rules(u->weaken); i++)
                for (enum rule_end k = 0; k < N_RULE_ENDS; k++)
                        transfer_u64(t, &u->uses[i].ends[k]);
}

static void add_counted(struct campaign *c, struct campaign_record **known, size_t *n)
{
        const struct unknowns *u = unknowns_of(c);

        for (size_t i = 0; i < u->n_counts; i++)
                list_add(*known, *n, (struct campaign_record){.event = EVENT_COUNTED, .id = u->counts[i].n, .finding = u->counts[i].number});
}

static int replay(struct campaign *c, const struct campaign_record *r)
{
        struct unknowns *u = unknowns_of(c);

        if (r->event == EVENT_FINISH)
                return 0;
        if (r->event == EVENT_COUNTED) {
                count_finds(u, (uint32_t)r->finding, r->id);
                return 0;
        }
        if ((r->event != EVENT_STEP && r->event != EVENT_FOUND) || r->id == 0 || r->id > u->n_seeds * (uint64_t)u->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        unknowns_count(c, r);
        if (r->event == EVENT_STEP && r->step == 0)
                seed_judge(c, chain_place_of(c, r->id), NULL);
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

/* Sets the fingerprint of the rules, the seeds and their labels, which determine the chains. */
static void set_fingerprint(struct campaign *c, const struct unknowns *u)
{
        uint64_t hash, labels = 0;
        cleanup_buffer struct buffer all = {0};

        for (size_t i = 0; i < weaken_n_rules(u->weaken); i++) {
                const struct rule_row *row = weaken_rule(u->weaken, i);

                buffer_addf(&all, "%s\n%s\n%s\n", row->name, row->left, row->right);
        }
        hash = hash_quick(all.data, all.size);
        for (size_t i = 0; i < u->n_seeds; i++) {
                hash = hash * 31 + hash_quick(u->seeds[i].text[LOGIC_STATED].data, u->seeds[i].text[LOGIC_STATED].size);
                labels = labels * 31 + u->seeds[i].label;
        }
        c->fingerprint = format_string("seeds:%016" PRIx64 " labels:%016" PRIx64, hash, labels);
}

static int begin(struct campaign *c)
{
        struct unknowns *u = c->state = allocate(1, sizeof(*u));
        int r = weaken_new(NULL, 0, &u->weaken);

        if (r < 0)
                return r;
        u->chains = (c->settings->iterations + c->settings->chain - 1) / c->settings->chain;
        u->uses = allocate(weaken_n_rules(u->weaken), sizeof(*u->uses));
        r = seeds_read(c, u);
        set_fingerprint(c, u);
        if (r == 0)
                r = signatures_load(c);
        return r < 0 ? r : operators_probe(c);
}

static void end(struct campaign *c)
{
        struct unknowns *u = unknowns_of(c);

        for (size_t i = 0; i < u->n_seeds; i++)
                for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                        buffer_done(&u->seeds[i].text[m]);
                        free(u->seeds[i].base[m]);
                }
        for (size_t i = 0; i < u->n_known; i++)
                free(u->known[i].signature);
        weaken_free(u->weaken);
        free(u->seeds);
        free(u->known);
        free(u->counts);
        free(u->uses);
        free(u);
}

static void print_table(struct campaign *c, struct buffer *ret)
{
        const struct unknowns *u = unknowns_of(c);

        buffer_adds(ret, "rule\tused\tdecided\tunknown\ttimeout\tother\n");
        for (size_t i = 0; i < weaken_n_rules(u->weaken); i++) {
                const uint64_t *n = u->uses[i].ends;

                buffer_addf(ret, "%s\t%" PRIu64, weaken_rule(u->weaken, i)->name, n[RULE_DECIDED] + n[RULE_UNKNOWN] + n[RULE_TIMEOUT] + n[RULE_OTHER]);
                for (enum rule_end k = 0; k < N_RULE_ENDS; k++)
                        buffer_addf(ret, "\t%" PRIu64 "%s", n[k], k + 1 == N_RULE_ENDS ? "\n" : "");
        }
}

const struct campaign_type campaign_of_unknowns = {
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
