/* Status of a campaign: as JSON, and as people read them. */
#include "core/study/observation/observation_internal.h"

#include <inttypes.h>

const char *campaign_state_name(enum campaign_state s)
{
        static const char *const names[] = {
                [CAMPAIGN_STOPPED] = "stopped", [CAMPAIGN_RUNNING] = "running", [CAMPAIGN_FINISHED] = "finished"};

        return names[s];
}

json_t *campaign_status_json(const struct campaign_status *s)
{
        return json_pack("{si si sI sI sf sI sI sf sI sI sI sI sI sI sI sI sI}", "version", 1, "state", (int)s->state, "begun",
                         (json_int_t)s->begun, "changed", (json_int_t)s->changed, "worked", s->worked, "inputs",
                         (json_int_t)s->inputs, "runs", (json_int_t)s->runs, "solving", s->solving, "candidates",
                         (json_int_t)s->candidates, "finds", (json_int_t)s->finds, "soundness", (json_int_t)s->soundness,
                         "crashes", (json_int_t)s->crashes, "rejected", (json_int_t)s->rejected, "skipped",
                         (json_int_t)s->skipped, "implications", (json_int_t)s->implications, "duplicates",
                         (json_int_t)s->duplicates, "distinct", (json_int_t)s->distinct);
}

int campaign_status_from_json(json_t *j, const char *name, struct campaign_status *s)
{
        json_int_t begun, changed, inputs, runs, candidates, finds, soundness, crashes, rejected, skipped, distinct = 0, implications = 0,
                                                                                                           duplicates = 0;
        int version, state;

        if (json_unpack(j, "{si si sI sI sF sI sI sF sI sI sI sI sI sI s?I s?I s?I}", "version", &version, "state", &state, "begun",
                        &begun, "changed", &changed, "worked", &s->worked, "inputs", &inputs, "runs", &runs, "solving",
                        &s->solving, "candidates", &candidates, "finds", &finds, "soundness", &soundness, "crashes", &crashes,
                        "rejected", &rejected, "skipped", &skipped, "implications", &implications, "duplicates",
                        &duplicates, "distinct", &distinct) < 0 ||
            state < 0 || state >= N_CAMPAIGN_STATES)
                return errorf(-EIO, "the status of the campaign %s is damaged", name);
        s->state = (enum campaign_state)state;
        s->begun = begun;
        s->changed = changed;
        s->inputs = (uint64_t)inputs;
        s->runs = (uint64_t)runs;
        s->candidates = (uint64_t)candidates;
        s->finds = (uint64_t)finds;
        s->soundness = (uint64_t)soundness;
        s->crashes = (uint64_t)crashes;
        s->rejected = (uint64_t)rejected;
        s->skipped = (uint64_t)skipped;
        s->implications = (uint64_t)implications;
        s->duplicates = (uint64_t)duplicates;
        s->distinct = (uint64_t)distinct;
        return 0;
}

static void print_work(const struct campaign_status *s, const char *inputs, struct buffer *ret)
{
        buffer_addf(ret, "state %s\nworked %.0fs\n%s %" PRIu64 "\nruns %" PRIu64 "\n", campaign_state_name(s->state), s->worked,
                    inputs, s->inputs, s->runs);
        buffer_addf(ret, "mean-solving-time %.3fs\n", s->runs > 0 ? s->solving / (double)s->runs : 0);
}

/* Known once they are reduced. */
static void print_distinct(const struct campaign_status *s, struct buffer *ret)
{
        if (s->distinct > 0)
                buffer_addf(ret, "to-report %" PRIu64 "\n", s->distinct);
}

void campaign_print_status(enum campaign_kind kind, const struct campaign_status *s, struct buffer *ret)
{
        double hours = s->worked / 3600;

        if (kind == CAMPAIGN_UNKNOWNS) {
                buffer_addf(ret, "soundness %" PRIu64 "\ncrashes %" PRIu64 "\n", s->soundness, s->crashes);
                buffer_addf(ret, "regressions %" PRIu64 "\nimplications %" PRIu64 "\n", s->finds - s->implications,
                            s->implications);
                print_distinct(s, ret);
                buffer_addf(ret, "unknowns %" PRIu64 "\nduplicates %" PRIu64 "\nrejected %" PRIu64 "\n", s->candidates,
                            s->duplicates, s->rejected);
                print_work(s, "mutants", ret);
                buffer_addf(ret, "mutants-per-second %.1f\nskipped-seeds %" PRIu64 "\n",
                            s->worked > 0 ? (double)s->inputs / s->worked : 0, s->skipped);
                return;
        }
        print_work(s, "inputs", ret);
        buffer_addf(ret, "finds %" PRIu64 "\nfinds-per-hour %.2f\n", s->finds, hours > 0 ? (double)s->finds / hours : 0);
        print_distinct(s, ret);
        buffer_addf(ret,
                    "candidates %" PRIu64 "\nrejected %" PRIu64 "\nsoundness %" PRIu64 "\ncrashes %" PRIu64
                    "\nskipped-seeds %" PRIu64 "\n",
                    s->candidates, s->rejected, s->soundness, s->crashes, s->skipped);
}
