#include "core/study/localize/localized.h"

#include <math.h>

#include "cache/base/json.h"
#include "core/study/localize/localization.h"

static const char *const states[] = {
        [LOCALIZE_OPEN] = "open",           [LOCALIZE_FOUND] = "found",
        [LOCALIZE_NO_CULPRIT] = "no culprit", [LOCALIZE_REVERSED] = "reversed",
        [LOCALIZE_UNBUILDABLE_END] = "unbuildable end", [LOCALIZE_UNDECIDED] = "undecided",
};

const char *localize_state_name(enum localize_state s)
{
        return states[s];
}

/* -- in memory ---------------------------------------------------------------------------------------------------- */

struct localized *localized_new(void)
{
        struct localized *l = calloc(1, sizeof(*l));

        if (!l)
                return NULL;
        l->value = (struct value){.type = &query_localized_type, .refs = 1};
        l->value_reference = l->value_target = NAN;
        l->name = strdup("");
        l->reference = strdup("");
        l->target = strdup("");
        l->start = strdup("");
        l->machine = strdup("");
        return l->name && l->reference && l->target && l->start && l->machine ? l : localized_unref(l);
}

void localized_free(struct value *value)
{
        struct localized *l = (struct localized *)value;

        for (size_t i = 0; i < l->n; i++) {
                struct localized_culprit *c = &l->culprits[i];

                for (size_t k = 0; k < c->n; k++)
                        free(c->commits[k]);
                free(c->commits);
                free(c->commit);
                free(c->before);
                free(c->subject);
        }
        free(l->culprits);
        free(l->name);
        free(l->reference);
        free(l->target);
        free(l->start);
        free(l->machine);
        free(l);
}

int culprits_each(const struct localized *l, culprit_fn fn, void *user)
{
        int r = 0;

        for (size_t i = 0; i < l->n && r == 0; i++)
                if (l->culprits[i].is_slowdown)
                        r = fn(user, &l->culprits[i]);
        return r;
}

int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret)
{
        git_oid oid;

        if (strlen(c->commit) != GIT_OID_HEXSZ || git_oid_fromstr(&oid, c->commit) < 0)
                return -ENOENT;
        return history_number(s->history, &oid, ret);
}

/* -- as JSON ------------------------------------------------------------------------------------------------------ */

/* "seconds_before", "memory_reference". */
static const char *value_key(enum judge_measure m, const char *of, char ret[32])
{
        snprintf(ret, 32, "%s_%s", m == JUDGE_TIME ? "seconds" : judge_measure_name(m), of);
        return ret;
}

static void set_value(json_t *j, enum judge_measure m, const char *of, double x)
{
        char key[32];

        json_object_set_new(j, value_key(m, of, key), isfinite(x) ? json_real(x) : json_null());
}

static void set_real(json_t *j, const char *key, double x)
{
        if (isfinite(x))
                json_object_set_new(j, key, json_real(x));
}

static void set_true(json_t *j, const char *key, bool is_true)
{
        if (is_true)
                json_object_set_new(j, key, json_true());
}

static void set_text(json_t *j, const char *key, const char *text)
{
        if (*text)
                json_object_set_new(j, key, json_string(text));
}

static json_t *culprit_json(const struct localized_culprit *c)
{
        json_t *commits = json_array(), *j;

        for (size_t i = 0; i < c->n; i++)
                json_array_append_new(commits, json_string(c->commits[i]));
        j = json_pack("{ss so ss ss sb sb sI}", "commit", c->commit, "commits", commits, "before", c->before, "subject", c->subject, "slowdown",
                      (int)c->is_slowdown, "verified", (int)c->is_verified, "pairs", (json_int_t)c->pairs);
        if (!j)
                return NULL;
        set_value(j, c->measure, "before", c->value_before);
        set_value(j, c->measure, "after", c->value_after);
        set_true(j, "broken_before", c->is_broken_before);
        set_true(j, "broken_after", c->is_broken_after);
        set_true(j, "cut_off", c->is_cut_off);
        set_real(j, "confidence", c->confidence);
        set_real(j, "p", c->p);
        set_real(j, "ratio", c->ratio);
        return j;
}

json_t *localized_json(const struct localized *l)
{
        json_t *list = json_array(), *j;

        for (size_t i = 0; i < l->n; i++)
                json_array_append_new(list, culprit_json(&l->culprits[i]));
        j = json_pack("{sI ss ss ss ss ss so}", "case", (json_int_t)l->case_id, "name", l->name, "state", states[l->state], "method",
                      "default", "reference", l->reference, "target", l->target, "culprits", list);
        if (!j)
                return NULL;
        if (l->by_verdict) {
                json_object_set_new(j, "verdict_before", json_string(verdict_name(l->verdict_before)));
                json_object_set_new(j, "verdict_after", json_string(verdict_name(l->verdict_after)));
        } else {
                set_value(j, l->measure, "reference", l->value_reference);
                set_value(j, l->measure, "target", l->value_target);
        }
        set_text(j, "measure", l->measure != JUDGE_TIME ? judge_measure_name(l->measure) : "");
        set_text(j, "clock", l->is_cpu_time ? "cpu" : "");
        set_text(j, "start", l->start);
        set_text(j, "machine", l->machine);
        set_true(j, "unfinished", l->is_unfinished);
        set_true(j, "disturbed", l->is_disturbed);
        if (l->has_seed)
                json_object_set_new(j, "seed", json_integer((json_int_t)l->seed));
        return j;
}

/* -- and back ----------------------------------------------------------------------------------------------------- */

static int get_text(const json_t *j, const char *key, char **ret)
{
        char *text = strdup(json_text(j, key, ""));

        free(*ret);
        *ret = text;
        return text ? 0 : -ENOMEM;
}

static double get_real(const json_t *j, const char *key, double otherwise)
{
        const json_t *x = json_object_get(j, key);

        return json_is_number(x) ? json_number_value(x) : otherwise;
}

static bool is_true(const json_t *j, const char *key)
{
        return json_is_true(json_object_get(j, key));
}

/* The number of a name; `otherwise`: it is none. */
static unsigned get_name(const json_t *j, const char *key, const char *const *names, unsigned n, unsigned otherwise)
{
        const char *name = json_text(j, key, "");

        for (unsigned i = 0; i < n; i++)
                if (names[i] && strcmp(name, names[i]) == 0)
                        return i;
        return otherwise;
}

static enum verdict get_verdict(const json_t *j, const char *key)
{
        const char *name = json_text(j, key, "");

        for (enum verdict v = 0; v < N_VERDICTS; v++)
                if (strcmp(name, verdict_name(v)) == 0)
                        return v;
        return VERDICT_UNKNOWN;
}

static int get_culprit(const json_t *j, enum judge_measure m, struct localized_culprit *c)
{
        const json_t *commits = json_object_get(j, "commits");
        char key[32];
        int r = get_text(j, "commit", &c->commit);

        if (r == 0)
                r = get_text(j, "before", &c->before);
        if (r == 0)
                r = get_text(j, "subject", &c->subject);
        c->commits = calloc(json_array_size(commits) + 1, sizeof(*c->commits));
        if (!c->commits)
                return -ENOMEM;
        for (; r == 0 && c->n < json_array_size(commits); c->n++) {
                const char *commit = json_string_value(json_array_get(commits, c->n));

                c->commits[c->n] = strdup(commit ? commit : "");
                r = c->commits[c->n] ? 0 : -ENOMEM;
        }
        c->measure = m;
        c->value_before = get_real(j, value_key(m, "before", key), INFINITY);
        c->value_after = get_real(j, value_key(m, "after", key), INFINITY);
        c->is_broken_before = is_true(j, "broken_before");
        c->is_broken_after = is_true(j, "broken_after");
        c->is_slowdown = is_true(j, "slowdown");
        c->is_verified = is_true(j, "verified");
        c->is_cut_off = is_true(j, "cut_off");
        c->pairs = (unsigned)json_integer_value(json_object_get(j, "pairs"));
        c->p = get_real(j, "p", NAN);
        c->ratio = get_real(j, "ratio", NAN);
        c->confidence = get_real(j, "confidence", NAN);
        return r;
}

static int get_localized(const json_t *j, struct localized *l)
{
        static const char *const measures[] = {[JUDGE_TIME] = "time", [JUDGE_MEMORY] = "memory", [JUDGE_EFFORT] = "effort"};
        const json_t *culprits = json_object_get(j, "culprits"), *seed = json_object_get(j, "seed");
        char key[32];
        int r = get_text(j, "name", &l->name);

        r = r < 0 ? r : get_text(j, "reference", &l->reference);
        r = r < 0 ? r : get_text(j, "target", &l->target);
        r = r < 0 ? r : get_text(j, "start", &l->start);
        r = r < 0 ? r : get_text(j, "machine", &l->machine);
        l->case_id = (uint32_t)json_integer_value(json_object_get(j, "case"));
        l->state = get_name(j, "state", states, ARRAY_SIZE(states), LOCALIZE_UNDECIDED);
        l->measure = get_name(j, "measure", measures, ARRAY_SIZE(measures), JUDGE_TIME);
        l->is_cpu_time = strcmp(json_text(j, "clock", ""), "cpu") == 0;
        l->has_seed = json_is_integer(seed);
        l->seed = (uint64_t)json_integer_value(seed);
        l->value_reference = get_real(j, value_key(l->measure, "reference", key), NAN);
        l->value_target = get_real(j, value_key(l->measure, "target", key), NAN);
        l->by_verdict = json_object_get(j, "verdict_before");
        l->verdict_before = get_verdict(j, "verdict_before");
        l->verdict_after = get_verdict(j, "verdict_after");
        l->is_unfinished = is_true(j, "unfinished");
        l->is_disturbed = is_true(j, "disturbed");
        l->culprits = calloc(json_array_size(culprits) + 1, sizeof(*l->culprits));
        if (!l->culprits)
                return -ENOMEM;
        for (; r == 0 && l->n < json_array_size(culprits); l->n++)
                r = get_culprit(json_array_get(culprits, l->n), l->measure, &l->culprits[l->n]);
        return r;
}

/* -- rows --------------------------------------------------------------------------------------------------------- */

static void add_value(struct buffer *to, enum judge_measure m, double value)
{
        if (isfinite(value))
                buffer_addf(to, m == JUDGE_TIME ? "%.6f" : "%.0f", value);
        else
                buffer_adds(to, "-");
}

/* A run without an answer has no time worth telling. */
static void add_end(struct buffer *to, const struct localized *l, bool is_broken, double value, enum verdict verdict)
{
        if (is_broken)
                buffer_adds(to, "broken");
        else if (l->by_verdict)
                buffer_adds(to, verdict_name(verdict));
        else
                add_value(to, l->measure, value);
}

static const char *why_not(const struct localized *l)
{
        bool elsewhere = *l->start;

        if (l->state == LOCALIZE_NO_CULPRIT)
                return elsewhere ? "(no culprit: the target and the commit where the lines part do not differ)"
                                 : "(no culprit: reference and target do not differ)";
        if (l->state == LOCALIZE_REVERSED)
                return l->measure != JUDGE_TIME ? "(the target is the lesser one)"
                       : elsewhere               ? "(the target is faster than the commit where the lines part)"
                                                 : "(the target is the faster one)";
        if (l->state == LOCALIZE_UNBUILDABLE_END)
                return elsewhere ? "(the target, or the commit where the lines part, cannot be built)"
                                 : "(reference or target cannot be built)";
        if (l->state == LOCALIZE_OPEN || l->is_unfinished)
                return "(not finished: the runs so far do not decide it)";
        return "(undecided: too noisy, or it changed little by little)";
}

struct row_writing {
        const struct localized *localized;
        struct buffer *to;
        size_t n;
};

static int add_row(void *user, const struct localized_culprit *c)
{
        struct row_writing *w = user;
        const struct localized *l = w->localized;

        buffer_addf(w->to, "%u\t%s\t", l->case_id, c->commit);
        add_end(w->to, l, c->is_broken_before, c->value_before, l->verdict_before);
        buffer_adds(w->to, "\t");
        add_end(w->to, l, c->is_broken_after, c->value_after, l->verdict_after);
        buffer_adds(w->to, "\t");
        if (c->n > 1)
                buffer_addf(w->to, "(one of %zu: %s) ", c->n,
                            !c->is_cut_off     ? "those between cannot be built"
                            : l->is_unfinished ? "not finished"
                                               : "too noisy to tell them apart");
        buffer_addf(w->to, "%s\n", c->subject);
        w->n++;
        return 0;
}

int localized_rows(const struct localized *l, struct buffer *to)
{
        struct row_writing w = {.localized = l, .to = to};

        culprits_each(l, add_row, &w);
        if (w.n == 0) {
                buffer_addf(to, "%u\t-\t", l->case_id);
                add_value(to, l->measure, l->value_reference);
                buffer_adds(to, "\t");
                add_value(to, l->measure, l->value_target);
                buffer_addf(to, "\t%s\n", why_not(l));
        }
        return buffer_error(to);
}

/* -- in the store ------------------------------------------------------------------------------------------------- */

int localized_read(struct store_txn *t, const struct digest *key, struct localized **ret)
{
        cleanup_localized struct localized *l = localized_new();
        cleanup_blob struct blob b = {0};
        json_t *j;
        int r = l ? store_get(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), &b) : -ENOMEM;

        if (r < 0)
                return r;
        j = json_loadb(b.data, b.size, 0, NULL);
        r = j ? get_localized(j, l) : -ENOENT;
        json_decref(j);
        if (r == 0)
                *ret = steal_pointer(l);
        return r;
}

int localized_get(struct workspace *w, const struct digest *key, struct localized **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : localized_read(t, key, ret);
}

int localized_write(struct store_txn *t, const struct digest *key, const struct localized *l)
{
        json_t *j = localized_json(l);
        cleanup_free char *text = j ? json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

        json_decref(j);
        return text ? store_put(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), slice_string(text)) : -ENOMEM;
}

struct putting {
        const struct digest *key;
        const struct localized *localized;
};

static int put_in(void *user, struct store_txn *t)
{
        const struct putting *p = user;

        return localized_write(t, p->key, p->localized);
}

int localized_put(struct workspace *w, const struct digest *key, const struct localized *l)
{
        return store_update(workspace_store(w), put_in, &(struct putting){.key = key, .localized = l});
}
