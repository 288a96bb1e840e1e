/* The result of a search: written as JSON and read back by one list of fields, printed as rows, stored as JSON. */
#include "core/study/localize/localized.h"

#include <math.h>

#include "cache/base/json.h"
#include "core/study/localize/localization.h"

static const char *const states[] = {"open", "found", "no culprit", "reversed", "unbuildable end", "undecided"};

const char *localize_state_name(enum localize_state s)
{
        return states[s];
}

/* -- members ------------------------------------------------------------------------------------------------------ */

/* A member of a struct, and its form in JSON. */
struct field {
        const char *key;
        size_t offset;
        enum {
                FIELD_TEXT, /* owned, never NULL; absent if "" */
                FIELD_BOOL, /* absent if false */
                FIELD_REAL  /* absent if NaN */
        } kind;
        bool is_always; /* never absent */
};

#define CULPRIT(member)   offsetof(struct localized_culprit, member)
#define LOCALIZED(member) offsetof(struct localized, member)
static const struct field culprit_fields[] = {{"commit", CULPRIT(commit), FIELD_TEXT, true},
                                              {"before", CULPRIT(before), FIELD_TEXT, true},
                                              {"subject", CULPRIT(subject), FIELD_TEXT, true},
                                              {"slowdown", CULPRIT(is_slowdown), FIELD_BOOL, true},
                                              {"verified", CULPRIT(is_verified), FIELD_BOOL, true},
                                              {"broken_before", CULPRIT(is_broken_before), FIELD_BOOL},
                                              {"broken_after", CULPRIT(is_broken_after), FIELD_BOOL},
                                              {"cut_off", CULPRIT(is_cut_off), FIELD_BOOL},
                                              {"confidence", CULPRIT(confidence), FIELD_REAL},
                                              {"p", CULPRIT(p), FIELD_REAL},
                                              {"ratio", CULPRIT(ratio), FIELD_REAL}};
static const struct field localized_fields[] = {{"name", LOCALIZED(name), FIELD_TEXT, true},
                                                {"reference", LOCALIZED(reference), FIELD_TEXT, true},
                                                {"target", LOCALIZED(target), FIELD_TEXT, true},
                                                {"start", LOCALIZED(start), FIELD_TEXT},
                                                {"machine", LOCALIZED(machine), FIELD_TEXT},
                                                {"answer_reference", LOCALIZED(answer_reference), FIELD_TEXT},
                                                {"answer_target", LOCALIZED(answer_target), FIELD_TEXT},
                                                {"unfinished", LOCALIZED(is_unfinished), FIELD_BOOL},
                                                {"disturbed", LOCALIZED(is_disturbed), FIELD_BOOL}};

static void put_fields(json_t *j, const void *from, const struct field *list, size_t n)
{
        for (const struct field *f = list; f < list + n; f++) {
                const void *at = (const char *)from + f->offset;

                if (f->kind == FIELD_TEXT && (f->is_always || **(char *const *)at))
                        json_object_set_new(j, f->key, json_string(*(char *const *)at));
                else if (f->kind == FIELD_BOOL && (f->is_always || *(const bool *)at))
                        json_object_set_new(j, f->key, json_boolean(*(const bool *)at));
                else if (f->kind == FIELD_REAL && isfinite(*(const double *)at))
                        json_object_set_new(j, f->key, json_real(*(const double *)at));
        }
}

static double get_real(const json_t *j, const char *key, double otherwise)
{
        const json_t *x = json_object_get(j, key);

        return json_is_number(x) ? json_number_value(x) : otherwise;
}

/* `j` NULL counts as empty. */
static void get_fields(const json_t *j, void *to, const struct field *list, size_t n)
{
        for (const struct field *f = list; f < list + n; f++) {
                void *at = (char *)to + f->offset;

                if (f->kind == FIELD_TEXT) {
                        free(*(char **)at);
                        *(char **)at = copy_string(json_text(j, f->key, ""));
                } else if (f->kind == FIELD_BOOL) {
                        *(bool *)at = json_is_true(json_object_get(j, f->key));
                } else {
                        *(double *)at = get_real(j, f->key, NAN);
                }
        }
}

static void free_fields(void *of, const struct field *list, size_t n)
{
        for (const struct field *f = list; f < list + n; f++)
                if (f->kind == FIELD_TEXT)
                        free(*(char **)((char *)of + f->offset));
}

/* -- in memory ---------------------------------------------------------------------------------------------------- */

struct localized *localized_new(void)
{
        struct localized *l = allocate(1, sizeof(*l));

        l->value = (struct value){.type = &query_localized_type, .refs = 1};
        l->value_reference = l->value_target = NAN;
        get_fields(NULL, l, localized_fields, ARRAY_SIZE(localized_fields));
        return l;
}

void localized_done(struct value *value)
{
        struct localized *l = (struct localized *)value;

        for (size_t i = 0; i < l->n; i++) {
                struct localized_culprit *c = &l->culprits[i];

                for (size_t k = 0; k < c->n; k++)
                        free(c->commits[k]);
                free(c->commits);
                free_fields(c, culprit_fields, ARRAY_SIZE(culprit_fields));
        }
        free(l->culprits);
        free_fields(l, localized_fields, ARRAY_SIZE(localized_fields));
}

const struct localized_culprit *localized_slowdown(const struct localized *l, size_t *at)
{
        while (*at < l->n)
                if (l->culprits[(*at)++].is_slowdown)
                        return &l->culprits[*at - 1];
        return NULL;
}

int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret)
{
        git_oid oid;

        if (strlen(c->commit) != GIT_OID_HEXSZ || oid_parse(c->commit, &oid) < 0)
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

/* Members are shown in the order in which they were first set. */
static json_t *culprit_json(const struct localized_culprit *c)
{
        json_t *commits = json_array(), *j;

        for (size_t i = 0; i < c->n; i++)
                json_array_append_new(commits, json_string(c->commits[i]));
        j = json_pack("{ss so sn sn sn sn sI}", "commit", "", "commits", commits, "before", "subject", "slowdown", "verified", "pairs",
                      (json_int_t)c->pairs);
        set_value(j, c->measure, "before", c->value_before);
        set_value(j, c->measure, "after", c->value_after);
        put_fields(j, c, culprit_fields, ARRAY_SIZE(culprit_fields));
        return j;
}

json_t *localized_json(const struct localized *l)
{
        json_t *list = json_array(), *j;

        for (size_t i = 0; i < l->n; i++)
                json_array_append_new(list, culprit_json(&l->culprits[i]));
        j = json_pack("{sI sn ss ss sn sn so}", "case", (json_int_t)l->case_id, "name", "state", states[l->state], "method", "default", "reference",
                      "target", "culprits", list);
        if (l->by_verdict) {
                json_object_set_new(j, "verdict_before", json_string(verdict_name(l->verdict_before)));
                json_object_set_new(j, "verdict_after", json_string(verdict_name(l->verdict_after)));
        } else {
                set_value(j, l->measure, "reference", l->value_reference);
                set_value(j, l->measure, "target", l->value_target);
        }
        if (l->runs > 0) {
                json_object_set_new(j, "reference_solved", json_integer(l->solved));
                json_object_set_new(j, "reference_runs", json_integer(l->runs));
        }
        if (l->measure != JUDGE_TIME)
                json_object_set_new(j, "measure", json_string(judge_measure_name(l->measure)));
        if (l->is_cpu_time)
                json_object_set_new(j, "clock", json_string("cpu"));
        put_fields(j, l, localized_fields, ARRAY_SIZE(localized_fields));
        if (l->has_seed)
                json_object_set_new(j, "seed", json_integer((json_int_t)l->seed));
        return j;
}

/* -- and back ----------------------------------------------------------------------------------------------------- */

/* The number of a name, or `otherwise` for an unknown name. */
static unsigned get_name(const json_t *j, const char *key, const char *(*name_of)(unsigned i), unsigned n, unsigned otherwise)
{
        for (unsigned i = 0; i < n; i++)
                if (strcmp(json_text(j, key, ""), name_of(i)) == 0)
                        return i;
        return otherwise;
}

static void get_culprit(const json_t *j, enum judge_measure m, struct localized_culprit *c)
{
        const json_t *commits = json_object_get(j, "commits");
        char key[32];

        get_fields(j, c, culprit_fields, ARRAY_SIZE(culprit_fields));
        c->commits = allocate(json_array_size(commits), sizeof(*c->commits));
        for (; c->n < json_array_size(commits); c->n++)
                c->commits[c->n] = copy_string(json_string_value(json_array_get(commits, c->n)) ?: "");
        c->measure = m;
        c->value_before = get_real(j, value_key(m, "before", key), INFINITY);
        c->value_after = get_real(j, value_key(m, "after", key), INFINITY);
        c->pairs = (unsigned)json_integer_value(json_object_get(j, "pairs"));
}

static void get_localized(const json_t *j, struct localized *l)
{
        const json_t *culprits = json_object_get(j, "culprits"), *seed = json_object_get(j, "seed");
        char key[32];

        get_fields(j, l, localized_fields, ARRAY_SIZE(localized_fields));
        l->case_id = (uint32_t)json_integer_value(json_object_get(j, "case"));
        l->state = get_name(j, "state", localize_state_name, ARRAY_SIZE(states), LOCALIZE_UNDECIDED);
        l->measure = get_name(j, "measure", judge_measure_name, N_JUDGE_MEASURES, JUDGE_TIME);
        l->is_cpu_time = strcmp(json_text(j, "clock", ""), "cpu") == 0;
        l->has_seed = json_is_integer(seed);
        l->seed = (uint64_t)json_integer_value(seed);
        l->value_reference = get_real(j, value_key(l->measure, "reference", key), NAN);
        l->value_target = get_real(j, value_key(l->measure, "target", key), NAN);
        l->solved = (unsigned)json_integer_value(json_object_get(j, "reference_solved"));
        l->runs = (unsigned)json_integer_value(json_object_get(j, "reference_runs"));
        l->by_verdict = json_object_get(j, "verdict_before");
        l->verdict_before = get_name(j, "verdict_before", verdict_name, N_VERDICTS, VERDICT_UNKNOWN);
        l->verdict_after = get_name(j, "verdict_after", verdict_name, N_VERDICTS, VERDICT_UNKNOWN);
        l->culprits = allocate(json_array_size(culprits), sizeof(*l->culprits));
        for (; l->n < json_array_size(culprits); l->n++)
                get_culprit(json_array_get(culprits, l->n), l->measure, &l->culprits[l->n]);
}

/* -- rows --------------------------------------------------------------------------------------------------------- */

static void add_value(struct buffer *to, enum judge_measure m, double value)
{
        if (isfinite(value))
                buffer_addf(to, m == JUDGE_TIME ? "%.6f" : "%.0f", value);
        else
                buffer_adds(to, "-");
}

/* The time of a run without an answer is not shown. */
static void add_end(struct buffer *to, const struct localized *l, bool is_broken, double value, enum verdict verdict)
{
        if (is_broken)
                buffer_adds(to, "broken");
        else if (l->by_verdict)
                buffer_adds(to, verdict_name(verdict));
        else
                add_value(to, l->measure, value);
}

/* The answer is lost as it is, but not over seeds. */
static bool is_lost_once(const struct localized *l)
{
        return (l->state == LOCALIZE_NO_CULPRIT || l->state == LOCALIZE_REVERSED) && *l->answer_reference;
}

/* The reference has no answer in half of its runs or more, so nothing can be lost. */
static bool is_unsolved(const struct localized *l)
{
        return (l->state == LOCALIZE_NO_CULPRIT || l->state == LOCALIZE_REVERSED) && isnan(l->value_reference) && !l->by_verdict;
}

/* Why no culprit is named, in parentheses. */
static const char *why_not(const struct localized *l)
{
        bool elsewhere = *l->start;

        if (is_unsolved(l))
                return elsewhere ? "(the commit where the lines part does not solve it)" : "(the reference does not solve it)";
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

static void add_row(const struct localized *l, const struct localized_culprit *c, struct buffer *to)
{
        buffer_addf(to, "%u\t%s\t", l->case_id, c->commit);
        add_end(to, l, c->is_broken_before, c->value_before, l->verdict_before);
        buffer_adds(to, "\t");
        add_end(to, l, c->is_broken_after, c->value_after, l->verdict_after);
        buffer_adds(to, "\t");
        if (c->n > 1)
                buffer_addf(to, "(one of %zu: %s) ", c->n,
                            !c->is_cut_off     ? "those between cannot be built"
                            : l->is_unfinished ? "not finished"
                                               : "too noisy to tell them apart");
        else if (!c->is_verified)
                buffer_adds(to, "(not verified) "); /* its runs were used up */
        buffer_addf(to, "%s\n", c->subject);
}

void localized_rows(const struct localized *l, struct buffer *to)
{
        const struct localized_culprit *c;
        bool any = false;

        for (size_t at = 0; (c = localized_slowdown(l, &at)); any = true)
                add_row(l, c, to);
        if (!any) {
                buffer_addf(to, "%u\t-\t", l->case_id);
                add_end(to, l, false, l->value_reference, l->verdict_before);
                buffer_adds(to, "\t");
                add_end(to, l, false, l->value_target, l->verdict_after);
                if (is_lost_once(l))
                        buffer_addf(to, "\t(%s and %s as it is, but not over seeds: --measure answer)\n", l->answer_reference, l->answer_target);
                else if (is_unsolved(l) && l->solved > 0)
                        buffer_addf(to, "\t(%s solves it in %u of %u runs)\n", *l->start ? "the commit where the lines part" : "the reference", l->solved,
                                    l->runs);
                else
                        buffer_addf(to, "\t%s\n", why_not(l));
        }
}

/* -- in the store ------------------------------------------------------------------------------------------------- */

static int read_in(struct store_txn *t, const struct digest *key, struct localized **ret)
{
        cleanup_blob struct blob b = {0};
        json_t *j;
        int r = store_get(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), &b);

        if (r < 0)
                return r;
        j = json_loadb(b.data, b.size, 0, NULL);
        if (!j)
                return -ENOENT;
        *ret = localized_new();
        get_localized(j, *ret);
        (*ret)->failed = json_integer_value(json_object_get(j, "failed"));
        json_decref(j);
        return 0;
}

/* The number of commits in sets whose builds have failed here and still count: after an upgrade, or under a raised limit, they do not. */
static json_int_t count_failed(struct workspace *w, struct solver *s, const struct localized *l)
{
        json_int_t n = 0;
        uint32_t commit;

        for (size_t i = 0; i < l->n; i++)
                for (size_t k = 0; k < l->culprits[i].n && l->culprits[i].n > 1; k++) {
                        cleanup(build_record_unrefp) struct build_record *record = NULL;

                        n += history_resolve(s->history, l->culprits[i].commits[k], &commit) == 0 &&
                             build_find(w, s, commit, WITHOUT_LOG, &record) == 0 && !record->ok;
                }
        return n;
}

int localized_get(struct workspace *w, struct solver *s, const struct digest *key, struct localized **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t) ?: read_in(t, key, ret);

        t = store_end(t);
        if (r == 0 && (*ret)->failed > 0)
                (*ret)->is_unfinished |= count_failed(w, s, *ret) < (*ret)->failed;
        return r;
}

static int put_in(struct store_txn *t, const struct solver *s, const struct digest *key, const struct localized *l, json_int_t failed)
{
        cleanup_localized struct localized *there = NULL;
        cleanup_free char *text = NULL;
        json_t *j;
        int r = read_in(t, key, &there);

        if (r < 0 && r != -ENOENT)
                return r;
        if (there && localized_is_final(there) && !localized_is_final(l))
                return 0;
        if (there)
                replaced_note(t, s);
        j = localized_json(l);
        if (failed > 0)
                json_object_set_new(j, "failed", json_integer(failed));
        text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(j);
        return store_put(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), slice_string(text));
}

int localized_put(struct workspace *w, struct solver *s, const struct digest *key, const struct localized *l)
{
        const json_int_t failed = MAX(l->failed, count_failed(w, s, l) + l->has_lost); /* no build can be counted of lost sources */
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u))
                u.r = put_in(u.txn, s, key, l, failed);
        return u.r;
}
