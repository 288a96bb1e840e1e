/* The counts of a hunt for unknowns: steps and finds, from the workers or from the journal. */
#include "core/study/campaign/campaign_unknown.h"

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

static void count_number(struct unknown_hunt *h, uint32_t number)
{
        struct known_finding *k = signature_of(h, number);

        if (k)
                k->is_counted = true;
        for (size_t i = 0; i < h->n_counts; i++)
                if (h->counts[i].number == number) {
                        h->counts[i].n++;
                        return;
                }
        list_grow(h->counts, h->n_counts);
        h->counts[h->n_counts++] = (struct finding_count){.number = number, .n = 1};
}

static void count_found(struct campaign *c, const struct campaign_record *r)
{
        c->status.candidates += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
        if (r->cause == 0) {
                c->status.rejected++;
                return;
        }
        count_number(unknown_hunt_of(c), (uint32_t)r->cause);
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
        if (r->event == EVENT_STEP)
                count_step(c, r);
        else
                count_found(c, r);
}
