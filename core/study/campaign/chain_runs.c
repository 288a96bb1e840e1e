/* The runs of a chain, and its part of the journal: what a session that was cut off had run or found already is not done again. */
#include "core/study/campaign/chain.h"

/* Reads a chain that was cut off from the journal. */
static const struct campaign_record *recall(const struct chain *ch, enum campaign_event event, unsigned version, unsigned kind)
{
        const struct unknown_hunt *h = ch->hunt;

        for (size_t i = 0; i < h->n_left; i++) {
                const struct campaign_record *r = &h->left[i];

                if (r->event == event && r->id == ch->id && r->step == ch->step && r->version == version &&
                    (event != EVENT_FOUND || r->kind == kind))
                        return r;
        }
        return NULL;
}

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
        struct campaign_record known = {0};
        const struct campaign_record *r;
        int k;

        pthread_mutex_lock(&ch->campaign->lock);
        r = recall(ch, EVENT_STEP, v, 0);
        if (r)
                known = *r;
        pthread_mutex_unlock(&ch->campaign->lock);
        if (r) {
                *a = (struct answer){.ran = true, .seconds = known.seconds, .verdict = known.verdict};
                return 0;
        }
        k = trial_run_text(&ch->trial, v, ch->input.text, ch->campaign->settings->timeout, a, NULL);
        return k < 0 ? k
                     : chain_note(ch,
                                  &(struct campaign_record){.event = EVENT_STEP,
                                                            .version = v,
                                                            .seconds = a->seconds,
                                                            .verdict = a->verdict,
                                                            .rule = ch->step > 0 ? (unsigned)ch->applied.rule : JOURNAL_NO_RULE,
                                                            .direction = ch->applied.direction});
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
        bool is_there;

        pthread_mutex_lock(&ch->campaign->lock);
        is_there = recall(ch, EVENT_FOUND, version, kind) != NULL;
        pthread_mutex_unlock(&ch->campaign->lock);
        return is_there;
}
