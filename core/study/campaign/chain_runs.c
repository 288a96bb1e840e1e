/* The runs of a chain, and its part of the journal. Runs and finds that a cut-off session noted there are not repeated. */
#include "core/study/campaign/chain.h"

int chain_note(struct chain *ch, struct campaign_record *r)
{
        struct campaign *c = ch->campaign;
        int k;

        r->id = ch->id;
        r->step = ch->step;
        pthread_mutex_lock(&c->lock);
        k = campaign_note(c, r);
        if (k == 0)
                unknown_hunt_count(c, r);
        pthread_mutex_unlock(&c->lock);
        return k;
}

static int run_version(struct chain *ch, unsigned v)
{
        struct answer *a = &ch->trial.answers[v];
        struct campaign_record r = {.event = EVENT_STEP, .id = ch->id, .step = ch->step, .version = v};
        int k;

        if (campaign_recall(ch->campaign, &r)) {
                *a = (struct answer){.ran = true, .seconds = r.seconds, .verdict = r.verdict};
                return 0;
        }
        k = trial_run_text(&ch->trial, v, 0, ch->input.text, ch->campaign->settings->timeout, a, NULL);
        r.seconds = a->seconds;
        r.verdict = a->verdict;
        r.rule = ch->step > 0 ? (unsigned)ch->applied.rule : JOURNAL_NO_RULE;
        r.direction = ch->applied.direction;
        return k < 0 ? k : chain_note(ch, &r);
}

int chain_run_all(struct chain *ch)
{
        int r = 0;

        memset(ch->trial.answers, 0, ch->campaign->n_versions * sizeof(*ch->trial.answers));
        for (unsigned v = 0; r == 0 && v < ch->campaign->n_compared; v++)
                r = run_version(ch, v);
        return r;
}

bool chain_has_filed(const struct chain *ch, enum observation_kind kind, unsigned version)
{
        struct campaign_record r = {.event = EVENT_FOUND, .id = ch->id, .step = ch->step, .version = version, .kind = kind};

        return campaign_recall(ch->campaign, &r);
}
