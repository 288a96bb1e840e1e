/* Status of a campaign: as JSON, and as people read them. */
#include "core/study/observation/observation_internal.h"

#include <inttypes.h>

const char *campaign_state_name(enum campaign_state s)
{
        static const char *const names[] = {
                [CAMPAIGN_STOPPED] = "stopped", [CAMPAIGN_RUNNING] = "running", [CAMPAIGN_FINISHED] = "finished"};

        return names[s];
}

/* The counts of a record. Older ones lack those that are optional. */
static const struct {
        const char *name;
        size_t at;
        bool is_optional;
} counts[] = {
        {"inputs", offsetof(struct campaign_status, inputs), false},
        {"runs", offsetof(struct campaign_status, runs), false},
        {"candidates", offsetof(struct campaign_status, candidates), false},
        {"finds", offsetof(struct campaign_status, finds), false},
        {"soundness", offsetof(struct campaign_status, soundness), false},
        {"crashes", offsetof(struct campaign_status, crashes), false},
        {"rejected", offsetof(struct campaign_status, rejected), false},
        {"skipped", offsetof(struct campaign_status, skipped), false},
        {"implications", offsetof(struct campaign_status, implications), true},
        {"duplicates", offsetof(struct campaign_status, duplicates), true},
        {"distinct", offsetof(struct campaign_status, distinct), true},
        {"passed-over", offsetof(struct campaign_status, passed_over), true},
};

json_t *campaign_status_json(const struct campaign_status *s)
{
        json_t *j = json_pack("{si si sI sI sf sf}", "version", 1, "state", (int)s->state, "begun", (json_int_t)s->begun, "changed",
                              (json_int_t)s->changed, "worked", s->worked, "solving", s->solving);

        for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
                json_object_set_new(j, counts[i].name, json_integer((json_int_t) * (const uint64_t *)((const char *)s + counts[i].at)));
        return j;
}

int campaign_status_from_json(json_t *j, const char *name, struct campaign_status *s)
{
        json_int_t begun, changed;
        int version, state;
        bool is_damaged = json_unpack(j, "{si si sI sI sF sF}", "version", &version, "state", &state, "begun", &begun, "changed", &changed,
                                      "worked", &s->worked, "solving", &s->solving) < 0 ||
                          state < 0 || state >= N_CAMPAIGN_STATES;

        for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
                const json_t *n = json_object_get(j, counts[i].name);

                is_damaged |= n ? !json_is_integer(n) : !counts[i].is_optional;
                *(uint64_t *)((char *)s + counts[i].at) = (uint64_t)json_integer_value(n);
        }
        if (is_damaged)
                return errorf(-EIO, "the status of the campaign %s is damaged", name);
        s->state = (enum campaign_state)state;
        s->begun = begun;
        s->changed = changed;
        return 0;
}

static void print_work(const struct campaign_settings *of, const struct campaign_status *s, const char *inputs, struct buffer *ret)
{
        buffer_addf(ret, "state %s\nworked %.0fs%s\n%s %" PRIu64 "\nruns %" PRIu64 "\n", campaign_state_name(s->state), s->worked,
                    of->cpu_time ? " of CPU time" : "", inputs, s->inputs, s->runs);
        buffer_addf(ret, "mean-solving-time %.3fs\n", s->runs > 0 ? s->solving / (double)s->runs : 0);
}

/* Known once the findings are reduced; 0 until then. */
static void print_distinct(const struct campaign_status *s, struct buffer *ret)
{
        if (s->distinct > 0)
                buffer_addf(ret, "to-report %" PRIu64 "\n", s->distinct);
}

void campaign_print_status(const struct campaign_settings *of, const struct campaign_status *s, struct buffer *ret)
{
        const char *cpu = of->cpu_time ? "cpu-" : "";
        double hours = s->worked / 3600;

        if (of->kind == CAMPAIGN_UNKNOWNS) {
                buffer_addf(ret, "soundness %" PRIu64 "\ncrashes %" PRIu64 "\n", s->soundness, s->crashes);
                buffer_addf(ret, "regressions %" PRIu64 "\nimplications %" PRIu64 "\n", s->finds - s->implications,
                            s->implications);
                print_distinct(s, ret);
                buffer_addf(ret, "unknowns %" PRIu64 "\nduplicates %" PRIu64 "\nrejected %" PRIu64 "\n", s->candidates,
                            s->duplicates, s->rejected);
                print_work(of, s, "mutants", ret);
                buffer_addf(ret, "mutants-per-%ssecond %.1f\nskipped-seeds %" PRIu64 "\n", cpu,
                            s->worked > 0 ? (double)s->inputs / s->worked : 0, s->skipped);
                return;
        }
        print_work(of, s, "inputs", ret);
        buffer_addf(ret, "finds %" PRIu64 "\nfinds-per-%shour %.2f\n", s->finds, cpu, hours > 0 ? (double)s->finds / hours : 0);
        print_distinct(s, ret);
        buffer_addf(ret,
                    "candidates %" PRIu64 "\nrejected %" PRIu64 "\npassed-over %" PRIu64 "\nsoundness %" PRIu64 "\ncrashes %" PRIu64
                    "\nskipped-seeds %" PRIu64 "\n",
                    s->candidates, s->rejected, s->passed_over, s->soundness, s->crashes, s->skipped);
}
