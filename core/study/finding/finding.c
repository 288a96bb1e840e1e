/* A finding in memory: its kinds, its marks, its runs. */
#include "core/study/finding/finding.h"

#include "core/study/base/stat.h"

static const struct {
        const char *name, *folder;
} kinds[N_FINDING_KINDS] = {
        [FINDING_SPR] = {"spr", "spr"},
        [FINDING_SOUNDNESS] = {"soundness", "soundness"},
        [FINDING_CRASH] = {"crash", "soundness"},
        [FINDING_REGRESSION] = {"regression", "incompleteness"},
        [FINDING_IMPLICATION] = {"implication", "incompleteness"},
};

const char *finding_kind_name(enum finding_kind k)
{
        return kinds[k].name;
}

const char *finding_folder(enum finding_kind k)
{
        return kinds[k].folder;
}

static const char *const marks[N_MARKS] = {
        [MARK_NONE] = "",       [MARK_REPORTED] = "reported", [MARK_CONFIRMED] = "confirmed",
        [MARK_FIXED] = "fixed", [MARK_REJECTED] = "rejected",
};

const char *finding_mark_name(enum finding_mark m)
{
        return marks[m];
}

int finding_mark_parse(const char *name, enum finding_mark *ret)
{
        for (int i = MARK_NONE + 1; i < N_MARKS; i++)
                if (strcmp(name, marks[i]) == 0) {
                        *ret = (enum finding_mark)i;
                        return 0;
                }
        return errorf(-EINVAL, "a finding is marked reported, confirmed, fixed or rejected, not '%s'", name);
}

struct finding *finding_new(void)
{
        struct finding *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        f->refs = 1;
        f->campaign = strdup("");
        f->reference = strdup("");
        f->target = strdup("");
        f->chain = strdup("");
        f->url = strdup("");
        f->reason = strdup("");
        f->signature = strdup("");
        return f->campaign && f->reference && f->target && f->chain && f->url && f->reason && f->signature ? f : finding_unref(f);
}

struct finding *finding_ref(struct finding *f)
{
        __atomic_add_fetch(&f->refs, 1, __ATOMIC_RELAXED);
        return f;
}

struct finding *finding_unref(struct finding *f)
{
        if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        for (size_t i = 0; i < f->n_runs; i++) {
                free(f->runs[i].version);
                free(f->runs[i].seconds);
        }
        free(f->runs);
        free(f->campaign);
        free(f->reference);
        free(f->target);
        free(f->chain);
        free(f->url);
        free(f->reason);
        free(f->signature);
        free(f);
        return NULL;
}

int finding_add_runs(struct finding *f, const char *version, enum verdict verdict, const double *seconds, uint32_t n)
{
        struct finding_runs *runs;

        if (list_grow(f->runs, f->n_runs) < 0)
                return -ENOMEM;
        runs = &f->runs[f->n_runs];
        *runs = (struct finding_runs){
                .version = strdup(version), .verdict = verdict, .seconds = malloc((n + 1) * sizeof(double)), .n = n};
        if (!runs->version || !runs->seconds) {
                free(runs->version);
                free(runs->seconds);
                return -ENOMEM;
        }
        if (n > 0)
                memcpy(runs->seconds, seconds, n * sizeof(double));
        f->n_runs++;
        return 0;
}

const struct finding_runs *finding_runs_of(const struct finding *f, const char *version)
{
        for (size_t i = 0; i < f->n_runs; i++)
                if (strcmp(f->runs[i].version, version) == 0)
                        return &f->runs[i];
        return NULL;
}

double finding_seconds(const struct finding *f, const char *version)
{
        const struct finding_runs *runs = finding_runs_of(f, version);

        return runs && runs->n > 0 ? stat_lower_median(runs->seconds, runs->n) : 0;
}

unsigned finding_held(const struct finding *f, double threshold, unsigned *ret_pairs)
{
        const struct finding_runs *reference = finding_runs_of(f, f->reference), *target = finding_runs_of(f, f->target);
        unsigned held = 0;

        *ret_pairs = f->kind == FINDING_SPR && reference && target ? MIN(reference->n, target->n) : 0;
        for (unsigned i = 0; i < *ret_pairs; i++)
                held += target->seconds[i] - reference->seconds[i] > threshold;
        return held;
}
