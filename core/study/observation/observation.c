/* An observation in memory: its kinds, its marks, its runs. */
#include "core/study/observation/observation_internal.h"

#include <math.h>

#include "core/study/base/stat.h"

static const struct {
        const char *name, *folder;
} kinds[N_OBSERVATION_KINDS] = {
        [FINDING_SLOWDOWN] = {"spr", "spr"},
        [FINDING_SOUNDNESS] = {"soundness", "soundness"},
        [FINDING_CRASH] = {"crash", "soundness"},
        [FINDING_REGRESSION] = {"regression", "incompleteness"},
        [FINDING_IMPLICATION] = {"implication", "incompleteness"},
        [ALARM_SLOWER] = {"slower", "alarms"},
        [ALARM_LOST] = {"lost", "alarms"},
        [ALARM_WRONG] = {"wrong", "alarms"},
        [ALARM_CONTRADICTION] = {"contradiction", "alarms"},
        [ALARM_UNBUILDABLE] = {"unbuildable", "alarms"},
        [ALARM_MEMORY] = {"memory", "alarms"},
};

const char *observation_kind_name(enum observation_kind k)
{
        return kinds[k].name;
}

const char *observation_folder(enum observation_kind k)
{
        return kinds[k].folder;
}

enum observation_series observation_series(const struct observation *o)
{
        return o->kind < N_FINDING_KINDS ? OF_CAMPAIGNS : OF_WATCHES;
}

static const char *const marks[N_MARKS] = {
        [MARK_NONE] = "",       [MARK_REPORTED] = "reported", [MARK_CONFIRMED] = "confirmed",
        [MARK_FIXED] = "fixed", [MARK_REJECTED] = "rejected",
};

const char *observation_mark_name(enum observation_mark m)
{
        return marks[m];
}

int observation_mark_parse(const char *what, const char *name, enum observation_mark *ret)
{
        for (int i = MARK_NONE + 1; i < N_MARKS; i++)
                if (strcmp(name, marks[i]) == 0) {
                        *ret = (enum observation_mark)i;
                        return 0;
                }
        return errorf(-EINVAL, "%s is marked reported, confirmed, fixed or rejected, not '%s'", what, name);
}

/* -- life -- */

char **observation_text(struct observation *o, size_t i)
{
        char **const texts[N_OBSERVATION_TEXTS] = {&o->origin, &o->reference, &o->target, &o->chain, &o->url, &o->reason, &o->signature, &o->subject};

        return texts[i];
}

struct observation *observation_new(void)
{
        struct observation *o = allocate(1, sizeof(*o));

        o->refs = 1;
        for (size_t i = 0; i < N_OBSERVATION_TEXTS; i++)
                *observation_text(o, i) = copy_string("");
        return o;
}

static void observation_free(struct observation *o)
{
        for (size_t i = 0; i < o->n_runs; i++) {
                free(o->runs[i].version);
                free(o->runs[i].amounts);
        }
        free(o->runs);
        for (size_t i = 0; i < N_OBSERVATION_TEXTS; i++)
                free(*observation_text(o, i));
        free(o);
}
DEFINE_REFS(observation, observation_free)

/* -- evidence -- */

void observation_add_case_runs(struct observation *o, uint32_t case_id, const char *version, enum verdict verdict, const double *amounts, uint32_t n)
{
        double *copy = allocate(n + 1, sizeof(*copy));

        if (n > 0)
                memcpy(copy, amounts, n * sizeof(*copy));
        list_add(o->runs, o->n_runs,
                 (struct observed_runs){.case_id = case_id, .version = copy_string(version), .verdict = verdict, .amounts = copy, .n = n});
}

void observation_add_runs(struct observation *o, const char *version, enum verdict verdict, const double *amounts, uint32_t n)
{
        observation_add_case_runs(o, o->case_id, version, verdict, amounts, n);
}

const struct observed_runs *observation_runs_of(const struct observation *o, const char *version)
{
        for (size_t i = 0; i < o->n_runs; i++)
                if (strcmp(o->runs[i].version, version) == 0)
                        return &o->runs[i];
        return NULL;
}

double observation_no_answer_amount(enum judge_measure m)
{
        return m == JUDGE_MEMORY ? 0x1p40 : 1e18;
}

double observation_amount(const struct observation *o, const char *version)
{
        const struct observed_runs *runs = observation_runs_of(o, version);

        return runs && runs->n > 0 ? stat_lower_median(runs->amounts, runs->n) : 0;
}

bool observation_is_limited(const struct observation *o, const char *version)
{
        const struct observed_runs *runs = observation_runs_of(o, version);

        if (o->measure == JUDGE_TIME)
                return o->timeout > 0 && observation_amount(o, version) >= o->timeout;
        return runs && runs->verdict == VERDICT_MEMOUT;
}

unsigned observation_pairs_shown(const struct observation *o, unsigned *ret_pairs)
{
        const struct observed_runs *reference = observation_runs_of(o, o->reference), *target = observation_runs_of(o, o->target);
        unsigned shown = 0;

        *ret_pairs = o->kind == FINDING_SLOWDOWN && reference && target ? MIN(reference->n, target->n) : 0;
        for (unsigned i = 0; i < *ret_pairs; i++)
                shown += (o->measure != JUDGE_MEMORY || reference->amounts[i] > 0) && /* older findings have 0 for a reference without an answer */
                        judge_is_above(o->measure, reference->amounts[i], target->amounts[i], o->threshold);
        return shown;
}

const struct observed_runs *alarm_case(const struct observation *a, size_t i)
{
        return i < a->n_runs / 2 ? &a->runs[2 * i] : NULL;
}

bool alarm_is_growth(enum observation_kind k)
{
        return k == ALARM_SLOWER || k == ALARM_MEMORY;
}

double alarm_factor(const struct observed_runs c[2])
{
        bool divides = verdict_is_decided(c[0].verdict) && verdict_is_decided(c[1].verdict) && c[0].n > 0 && c[1].n > 0 &&
                       c[0].amounts[0] > 0 && c[1].amounts[0] > 0;

        return divides ? c[1].amounts[0] / c[0].amounts[0] : NAN;
}

const char *observation_target(const struct observation *o)
{
        const char *dots = strstr(o->target, "..");

        return dots && observation_series(o) == OF_WATCHES ? dots + 2 : o->target;
}

bool alarm_is_localized(const struct observation *a)
{
        return *a->reference && !strstr(a->target, "..");
}
