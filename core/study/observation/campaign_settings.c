/* Settings of a campaign: their defaults, as JSON, and as people read them. */
#include "core/study/observation/observation_internal.h"

#include <inttypes.h>

#include "cache/base/json.h"

void campaign_settings_new(struct campaign_settings *s)
{
        *s = (struct campaign_settings){.seed = 1,
                                        .timeout = strategy_defaults.timeout,
                                        .threshold = strategy_defaults.threshold,
                                        .localize = true,
                                        .localize_seconds = -1,
                                        .reduce_seconds = -1,
                                        .label = VERDICT_UNKNOWN,
                                        .iterations = 300,
                                        .chain = 25};
}

void campaign_settings_done(struct campaign_settings *s)
{
        free(s->name);
        free(s->target);
        free(s->corpus);
        free(s->logic);
        free(s->fingerprint);
        strings_free(s->references);
        strings_free(s->oracles);
        *s = (struct campaign_settings){0};
}

static char **strings_from_json(json_t *a)
{
        char **list = allocate(1, sizeof(*list));

        for (size_t i = 0; i < json_array_size(a); i++)
                strings_add(&list, json_string_value(json_array_get(a, i)) ?: "");
        return list;
}

json_t *campaign_settings_json(const struct campaign_settings *s)
{
        return json_pack("{si so ss so sI sf sf sf si ss* sb sb sf sb sf sb ss si si ss* ss* ss*}", "version", 1, "references",
                         json_strings(s->references), "target", s->target, "oracles", json_strings(s->oracles), "seed", (json_int_t)s->seed,
                         "timeout", s->timeout, "threshold", s->threshold, "seconds", s->seconds, "jobs", (int)s->jobs, "corpus", s->corpus,
                         "any-pair", s->any_pair, "localize", s->localize, "localize-seconds", s->localize_seconds, "cpu-time",
                         s->cpu_time, "reduce-seconds", s->reduce_seconds, "unknowns", s->kind == CAMPAIGN_UNKNOWNS, "label",
                         verdict_name(s->label), "iterations", (int)s->iterations, "chain", (int)s->chain, "fingerprint",
                         s->fingerprint, "measure", s->measure == JUDGE_TIME ? NULL : judge_measure_name(s->measure),
                         "logic", s->logic);
}

char *campaign_decisions(const struct campaign_settings *s)
{
        static const char *const without[] = {"seconds", "jobs", "localize", "localize-seconds", "reduce-seconds", "fingerprint"};
        json_t *j = campaign_settings_json(s);
        char *text;

        for (size_t i = 0; i < ARRAY_SIZE(without); i++)
                json_object_del(j, without[i]);
        text = json_dumps(j, JSON_SORT_KEYS);
        json_decref(j);
        return text ?: copy_string("");
}

int campaign_settings_from_json(json_t *j, const char *name, struct campaign_settings *ret)
{
        struct campaign_settings s = {0};
        const char *target, *corpus = NULL, *label, *fingerprint = NULL, *measure = "time", *logic = NULL;
        json_t *references, *oracles;
        int version, jobs, any_pair, localize, cpu_time, unknowns, iterations, chain;
        json_int_t seed;

        if (json_unpack(j, "{si so ss so sI sF sF sF si s?s sb sb sF sb sF sb ss si si s?s s?s s?s}", "version", &version, "references",
                        &references, "target", &target, "oracles", &oracles, "seed", &seed, "timeout", &s.timeout, "threshold", &s.threshold,
                        "seconds", &s.seconds, "jobs", &jobs, "corpus", &corpus, "any-pair", &any_pair, "localize", &localize,
                        "localize-seconds", &s.localize_seconds, "cpu-time", &cpu_time, "reduce-seconds", &s.reduce_seconds,
                        "unknowns", &unknowns, "label", &label, "iterations", &iterations, "chain", &chain, "fingerprint",
                        &fingerprint, "measure", &measure, "logic", &logic) < 0)
                return errorf(-EIO, "the settings of the campaign %s are damaged", name);
        s.name = copy_string(name);
        s.target = copy_string(target);
        s.corpus = corpus ? copy_string(corpus) : NULL;
        s.logic = logic ? copy_string(logic) : NULL;
        s.seed = (uint64_t)seed;
        s.jobs = (unsigned)jobs;
        s.any_pair = any_pair;
        s.localize = localize;
        s.cpu_time = cpu_time;
        s.kind = unknowns ? CAMPAIGN_UNKNOWNS : CAMPAIGN_SLOWDOWNS;
        s.label = strcmp(label, "sat") == 0 ? VERDICT_SAT : strcmp(label, "unsat") == 0 ? VERDICT_UNSAT : VERDICT_UNKNOWN;
        s.iterations = (unsigned)iterations;
        s.chain = (unsigned)chain;
        s.fingerprint = fingerprint ? copy_string(fingerprint) : NULL;
        s.measure = strcmp(measure, "memory") == 0 ? JUDGE_MEMORY : strcmp(measure, "effort") == 0 ? JUDGE_EFFORT : JUDGE_TIME;
        s.references = strings_from_json(references);
        s.oracles = strings_from_json(oracles);
        *ret = s;
        return 0;
}

void campaign_print_settings(const struct campaign_settings *s, struct buffer *ret)
{
        for (char *const *p = s->references; p && *p; p++)
                buffer_addf(ret, "reference = %s\n", *p);
        buffer_addf(ret, "target = %s\n", s->target);
        for (char *const *p = s->oracles; p && *p; p++)
                buffer_addf(ret, "oracle = %s\n", *p);
        if (s->kind == CAMPAIGN_UNKNOWNS) {
                buffer_addf(ret, "seeds = %s\noracle = %s\niterations = %u\nchain = %u\n", s->corpus ? s->corpus : "",
                            s->label == VERDICT_UNKNOWN ? "auto" : verdict_name(s->label), s->iterations, s->chain);
                buffer_addf(ret, "pairs = %s\nseed = %" PRIu64 "\ntimeout = %gs\nclock = %s\nfor = %gs\n", s->any_pair ? "any" : "target", s->seed,
                            s->timeout, s->cpu_time ? "cpu" : "wall", s->seconds);
        } else {
                if (s->measure != JUDGE_TIME)
                        buffer_addf(ret, "measure = %s\n", judge_measure_name(s->measure));
                buffer_addf(ret, "seed = %" PRIu64 "\ntimeout = %gs\nthreshold = %g%s\nfor = %gs\n", s->seed, s->timeout, s->threshold,
                            s->measure == JUDGE_TIME ? "s" : "", s->seconds);
                if (s->corpus)
                        buffer_addf(ret, "corpus = %s\n", s->corpus);
                if (s->logic)
                        buffer_addf(ret, "logic = %s\n", s->logic);
                buffer_addf(ret, "pairs = %s\nclock = %s\n", s->any_pair ? "any" : "target", s->cpu_time ? "cpu" : "wall");
        }
        buffer_addf(ret, "localize = %s\n", s->localize ? "true" : "false");
        if (s->localize && s->localize_seconds >= 0)
                buffer_addf(ret, "localize-for = %gs\n", s->localize_seconds);
        buffer_addf(ret, "reduce-for = %gs\n", s->reduce_seconds);
}
