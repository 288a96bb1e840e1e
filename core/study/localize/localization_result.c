/* The results of a search as JSON, as rows, as a git bisect log. */
#include "cache/base/json.h"
#include "core/study/localize/localization_internal.h"

enum localize_state localization_state(const struct localization *l, size_t i)
{
        return localize_state(l->search, i);
}

const char *localize_state_name(enum localize_state s)
{
        static const char *const names[] = {
                [LOCALIZE_OPEN] = "open",
                [LOCALIZE_FOUND] = "found",
                [LOCALIZE_NO_CULPRIT] = "no culprit",
                [LOCALIZE_REVERSED] = "reversed",
                [LOCALIZE_UNBUILDABLE_END] = "unbuildable end",
                [LOCALIZE_UNDECIDED] = "undecided",
        };

        return names[s];
}

static void commit_name(const struct localization *l, size_t commit, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c;

        if (history_commit(l->options.solver->history, (uint32_t)commit, &c) < 0)
                snprintf(ret, GIT_OID_HEXSZ + 1, "?");
        else
                git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
}

static json_t *number_or_null(double x)
{
        return isfinite(x) ? json_real(x) : json_null();
}

/* "seconds_before", "memory_reference": a key of the result. */
static const char *value_key(enum judge_measure m, const char *of, char ret[32])
{
        snprintf(ret, 32, "%s_%s", m == JUDGE_TIME ? "seconds" : judge_measure_name(m), of);
        return ret;
}

static enum judge_measure measure_of(const json_t *result)
{
        const char *name = json_text(result, "measure", "");

        return strcmp(name, "memory") == 0 ? JUDGE_MEMORY : strcmp(name, "effort") == 0 ? JUDGE_EFFORT : JUDGE_TIME;
}

static json_t *culprit_json(const struct localization *l, const struct localize_culprit *c)
{
        char sha[GIT_OID_HEXSZ + 1], before[GIT_OID_HEXSZ + 1], range[2 * GIT_OID_HEXSZ + 3], key[32];
        cleanup_buffer struct buffer subject = {0};
        json_t *commits = json_array(), *j;

        commit_name(l, c->before, before);
        history_subject(l->options.solver->history, (uint32_t)c->commits[c->n - 1], &subject);
        for (size_t i = 0; i < c->n; i++) {
                commit_name(l, c->commits[i], sha);
                json_array_append_new(commits, json_string(sha));
        }
        snprintf(range, sizeof(range), c->n > 1 ? "%s..%s" : "%.0s%s", before, sha);
        j = json_pack("{ss so ss ss sb sb sI}", "commit", range, "commits", commits, "before", before, "subject", subject.data ? subject.data : "",
                      "slowdown", (int)c->is_slowdown, "verified", (int)c->verified, "pairs", (json_int_t)c->pairs);
        if (!j)
                return NULL;
        json_object_set_new(j, value_key(l->options.measure, "before", key), number_or_null(c->value_before));
        json_object_set_new(j, value_key(l->options.measure, "after", key), number_or_null(c->value_after));
        if (c->broken_before)
                json_object_set_new(j, "broken_before", json_true());
        if (c->broken_after)
                json_object_set_new(j, "broken_after", json_true());
        if (c->is_cut_off)
                json_object_set_new(j, "cut_off", json_true());
        if (isfinite(c->confidence))
                json_object_set_new(j, "confidence", json_real(c->confidence));
        if (isfinite(c->p))
                json_object_set_new(j, "p", json_real(c->p));
        if (isfinite(c->ratio))
                json_object_set_new(j, "ratio", json_real(c->ratio));
        return j;
}

json_t *localization_result(const struct localization *l, size_t i)
{
        static const char *const methods[] = {"default", "paper", "git-bisect"};
        const struct case_info *info = l->options.cases[i];
        char reference[GIT_OID_HEXSZ + 1], target[GIT_OID_HEXSZ + 1], start[GIT_OID_HEXSZ + 1], key[32];
        const struct localize_culprit *culprits;
        cleanup_buffer struct buffer name = {0};
        json_t *list = json_array(), *j;
        size_t n = localize_culprits(l->search, i, &culprits);
        double ends[2];

        localize_end_values(l->search, i, ends);
        buffer_add_printable(&name, info->name);
        commit_name(l, l->options.reference, reference);
        commit_name(l, l->options.target, target);
        commit_name(l, l->start, start);
        for (size_t k = 0; k < n; k++)
                json_array_append_new(list, culprit_json(l, &culprits[k]));
        j = json_pack("{sI ss ss ss ss ss so}", "case", (json_int_t)info->id, "name", name.data ? name.data : "", "state",
                      localize_state_name(localize_state(l->search, i)), "method", methods[l->options.method], "reference",
                      reference, "target", target, "culprits", list);
        if (j && !l->options.by_verdict) {
                json_object_set_new(j, value_key(l->options.measure, "reference", key), number_or_null(ends[0]));
                json_object_set_new(j, value_key(l->options.measure, "target", key), number_or_null(ends[1]));
        }
        if (j && l->options.measure != JUDGE_TIME)
                json_object_set_new(j, "measure", json_string(judge_measure_name(l->options.measure)));
        if (j && l->options.is_cpu_time)
                json_object_set_new(j, "clock", json_string("cpu"));
        if (j && l->start != l->options.reference)
                json_object_set_new(j, "start", json_string(start));
        if (j && l->options.by_verdict) {
                json_object_set_new(j, "verdict_before", json_string(verdict_name(l->options.before)));
                json_object_set_new(j, "verdict_after", json_string(verdict_name(l->options.after)));
        }
        if (j && l->stopped && localize_is_cut_off(l->search, i))
                json_object_set_new(j, "unfinished", json_true());
        if (j && l->disturbed[i] && localize_state(l->search, i) == LOCALIZE_NO_CULPRIT)
                json_object_set_new(j, "disturbed", json_true());
        if (j && l->options.has_seed)
                json_object_set_new(j, "seed", json_integer((json_int_t)l->options.seed));
        return j;
}

bool localization_is_finished(const json_t *result)
{
        return !json_is_true(json_object_get(result, "unfinished"));
}

bool localization_is_final(const json_t *result)
{
        return localization_is_finished(result) && !json_is_true(json_object_get(result, "disturbed"));
}

static void add_value(struct buffer *to, enum judge_measure m, const json_t *of, const char *end)
{
        char key[32];
        const json_t *value = json_object_get(of, value_key(m, end, key));

        if (json_is_number(value))
                buffer_addf(to, m == JUDGE_TIME ? "%.6f" : "%.0f", json_number_value(value));
        else
                buffer_adds(to, "-");
}

/* A run without an answer has no time worth telling. */
static void add_end(struct buffer *to, enum judge_measure m, const json_t *culprit, const char *end, const char *verdict)
{
        char key[32];

        snprintf(key, sizeof(key), "broken_%s", end);
        if (json_is_true(json_object_get(culprit, key)))
                buffer_adds(to, "broken");
        else if (verdict)
                buffer_adds(to, verdict);
        else
                add_value(to, m, culprit, end);
}

static const char *why_not(const json_t *result)
{
        const char *state = json_string_value(json_object_get(result, "state"));
        bool elsewhere = json_object_get(result, "start");

        if (strcmp(state, "no culprit") == 0)
                return elsewhere ? "(no culprit: the target and the commit where the lines part do not differ)"
                                 : "(no culprit: reference and target do not differ)";
        if (strcmp(state, "reversed") == 0)
                return measure_of(result) != JUDGE_TIME ? "(the target is the lesser one)"
                       : elsewhere                      ? "(the target is faster than the commit where the lines part)"
                                                        : "(the target is the faster one)";
        if (strcmp(state, "unbuildable end") == 0)
                return elsewhere ? "(the target, or the commit where the lines part, cannot be built)"
                                 : "(reference or target cannot be built)";
        if (strcmp(state, "open") == 0 || !localization_is_finished(result))
                return "(not finished: the runs so far do not decide it)";
        return "(undecided: too noisy, or it changed little by little)";
}

static const char *why_many(const json_t *result, const json_t *culprit)
{
        if (!json_is_true(json_object_get(culprit, "cut_off")))
                return "those between cannot be built";
        return localization_is_finished(result) ? "too noisy to tell them apart" : "not finished";
}

int localization_rows(const json_t *result, struct buffer *to)
{
        long long number = json_integer_value(json_object_get(result, "case"));
        const char *before = json_string_value(json_object_get(result, "verdict_before"));
        const char *after = json_string_value(json_object_get(result, "verdict_after"));
        enum judge_measure m = measure_of(result);
        const json_t *culprit;
        size_t i, shown = 0;

        json_array_foreach (json_object_get(result, "culprits"), i, culprit) {
                size_t n = json_array_size(json_object_get(culprit, "commits"));

                if (!json_is_true(json_object_get(culprit, "slowdown")))
                        continue;
                buffer_addf(to, "%lld\t%s\t", number, json_string_value(json_object_get(culprit, "commit")));
                add_end(to, m, culprit, "before", before);
                buffer_adds(to, "\t");
                add_end(to, m, culprit, "after", after);
                buffer_adds(to, "\t");
                if (n > 1)
                        buffer_addf(to, "(one of %zu: %s) ", n, why_many(result, culprit));
                buffer_addf(to, "%s\n", json_string_value(json_object_get(culprit, "subject")));
                shown++;
        }
        if (shown == 0) {
                buffer_addf(to, "%lld\t-\t", number);
                add_value(to, m, result, "reference");
                buffer_adds(to, "\t");
                add_value(to, m, result, "target");
                buffer_addf(to, "\t%s\n", why_not(result));
        }
        return buffer_error(to);
}

static double real_or(const json_t *j, const char *key, double otherwise)
{
        const json_t *x = json_object_get(j, key);

        return json_is_number(x) ? json_number_value(x) : otherwise;
}

int culprits_each(const json_t *result, culprit_fn fn, void *user)
{
        enum judge_measure m = measure_of(result);
        const json_t *j;
        size_t i;
        int r = 0;

        json_array_foreach (json_object_get(result, "culprits"), i, j) {
                char before[32], after[32];
                struct localized_culprit c = {.commit = json_text(j, "commit", NULL),
                                              .n = json_array_size(json_object_get(j, "commits")),
                                              .before = json_text(j, "before", ""),
                                              .subject = json_text(j, "subject", ""),
                                              .measure = m,
                                              .value_before = real_or(j, value_key(m, "before", before), INFINITY),
                                              .value_after = real_or(j, value_key(m, "after", after), INFINITY),
                                              .pairs = (unsigned)json_integer_value(json_object_get(j, "pairs")),
                                              .p = real_or(j, "p", NAN),
                                              .is_verified = json_is_true(json_object_get(j, "verified"))};

                if (r == 0 && c.commit && json_is_true(json_object_get(j, "slowdown")))
                        r = fn(user, &c);
        }
        return r;
}

int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret)
{
        git_oid oid;

        if (strlen(c->commit) != GIT_OID_HEXSZ || git_oid_fromstr(&oid, c->commit) < 0)
                return -ENOENT;
        return history_number(s->history, &oid, ret);
}

/* -- git bisect log ----------------------------------------------------------------------------------------------- */

struct log {
        const struct localization *l;
        size_t culprit; /* commits from here on are bad; SIZE_MAX: none */
        struct log_entry {
                size_t commit;
                enum localize_seen seen;
        } * entries; /* oldest first */
        size_t n;
        bool failed;
};

static void log_commit(const struct localization *l, struct buffer *to, bool command, size_t commit, const char *as)
{
        char sha[GIT_OID_HEXSZ + 1];

        commit_name(l, commit, sha);
        buffer_addf(to, "# %s: [%s] ", as, sha);
        history_subject(l->options.solver->history, (uint32_t)commit, to);
        buffer_adds(to, "\n");
        if (command)
                buffer_addf(to, "git bisect %s %s\n", as, sha);
}

static void log_sighting(void *user, size_t commit, enum localize_seen seen)
{
        struct log *log = user;

        if (commit == log->l->start || commit == log->l->options.target)
                return;
        if (list_grow(log->entries, log->n) < 0) {
                log->failed = true;
                return;
        }
        log->entries[log->n++] = (struct log_entry){commit, seen};
}

/* git knows one step: what is fast after the culprit, or slow before it, cannot be told to it. */
static void log_entry(const struct log *log, const struct log_entry *e, struct buffer *to)
{
        bool odd = (e->seen == LOCALIZE_SEEN_SLOW && e->commit < log->culprit) ||
                   (e->seen == LOCALIZE_SEEN_FAST && e->commit >= log->culprit);

        log_commit(log->l, to, !odd, e->commit,
                   e->seen == LOCALIZE_SEEN_FAST   ? "good"
                   : e->seen == LOCALIZE_SEEN_SLOW ? "bad"
                                                   : "skip");
}

int localization_log(const struct localization *l, size_t i, struct buffer *to)
{
        const struct localize_culprit *culprits;
        struct log log = {.l = l, .culprit = SIZE_MAX};
        size_t n = localize_culprits(l->search, i, &culprits);
        char bad[GIT_OID_HEXSZ + 1], good[GIT_OID_HEXSZ + 1];

        for (size_t k = 0; k < n && log.culprit == SIZE_MAX; k++)
                if (culprits[k].is_slowdown)
                        log.culprit = culprits[k].commits[culprits[k].n - 1];
        commit_name(l, l->options.target, bad);
        commit_name(l, l->start, good);
        buffer_addf(to, "# case %u\n", l->options.cases[i]->id);
        log_commit(l, to, false, l->options.target, "bad");
        log_commit(l, to, false, l->start, "good");
        buffer_addf(to, "git bisect start '%s' '%s'\n", bad, good);
        localize_each_sighting(l->search, i, log_sighting, &log);
        /* the last bad one is git's bad end: from the newest to the oldest */
        for (size_t k = 0; k < log.n; k++)
                if (log.entries[k].seen != LOCALIZE_SEEN_SLOW)
                        log_entry(&log, &log.entries[k], to);
        for (size_t k = log.n; k-- > 0;)
                if (log.entries[k].seen == LOCALIZE_SEEN_SLOW)
                        log_entry(&log, &log.entries[k], to);
        if (log.culprit != SIZE_MAX)
                log_commit(l, to, false, log.culprit, "first bad commit");
        free(log.entries);
        return log.failed ? -ENOMEM : buffer_error(to);
}
