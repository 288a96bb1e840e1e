/* What a search has come to, and the search as a git bisect log. */
#include "core/study/localize/localization_internal.h"

enum localize_state localization_state(const struct localization *l, size_t i)
{
        return localize_state(l->search, i);
}

static void program_name_at(const struct localization *l, size_t commit, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c;

        if (history_commit(l->options.solver->history, (uint32_t)commit, &c) < 0)
                snprintf(ret, GIT_OID_HEXSZ + 1, "?");
        else
                git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
}

static char *commit_text(const struct localization *l, size_t commit)
{
        char sha[GIT_OID_HEXSZ + 1];

        program_name_at(l, commit, sha);
        return strdup(sha);
}

static int take_culprit(const struct localization *l, const struct localize_culprit *c, struct localized_culprit *ret)
{
        cleanup_buffer struct buffer subject = {0};
        bool is_whole = true;

        history_subject(l->options.solver->history, (uint32_t)c->commits[c->n - 1], &subject);
        *ret = (struct localized_culprit){
                .before = commit_text(l, c->before),
                .subject = strdup(subject.data ? subject.data : ""),
                .measure = l->options.measure,
                .value_before = isfinite(c->value_before) ? c->value_before : INFINITY,
                .value_after = isfinite(c->value_after) ? c->value_after : INFINITY,
                .is_broken_before = c->broken_before,
                .is_broken_after = c->broken_after,
                .is_slowdown = c->is_slowdown,
                .is_verified = c->verified,
                .is_cut_off = c->is_cut_off,
                .pairs = c->pairs,
                .p = c->p,
                .ratio = c->ratio,
                .confidence = c->confidence,
        };
        ret->commits = calloc(c->n, sizeof(*ret->commits));
        for (; ret->commits && ret->n < c->n; ret->n++) {
                ret->commits[ret->n] = commit_text(l, c->commits[ret->n]);
                is_whole &= ret->commits[ret->n] != NULL;
        }
        if (!is_whole || !ret->commits || !ret->before || !ret->subject)
                return -ENOMEM;
        if (asprintf(&ret->commit, c->n > 1 ? "%s..%s" : "%.0s%s", ret->before, ret->commits[c->n - 1]) < 0)
                ret->commit = NULL;
        return ret->commit ? 0 : -ENOMEM;
}

static int set_text(char **at, char *text)
{
        free(*at);
        *at = text;
        return text ? 0 : -ENOMEM;
}

static int take_result(const struct localization *l, size_t i, struct localized *ret)
{
        const struct case_info *info = l->options.cases[i];
        const struct localize_culprit *culprits;
        size_t n = localize_culprits(l->search, i, &culprits);
        double ends[2];
        cleanup_buffer struct buffer name = {0};
        int r;

        buffer_add_printable(&name, info->name);
        r = set_text(&ret->name, strdup(name.data ? name.data : ""));
        if (r == 0)
                r = set_text(&ret->reference, commit_text(l, l->options.reference));
        if (r == 0)
                r = set_text(&ret->target, commit_text(l, l->options.target));
        if (r == 0 && l->start != l->options.reference)
                r = set_text(&ret->start, commit_text(l, l->start));
        localize_end_values(l->search, i, ends);
        ret->case_id = info->id;
        ret->state = localize_state(l->search, i);
        ret->measure = l->options.measure;
        ret->is_cpu_time = l->options.is_cpu_time;
        ret->has_seed = l->options.has_seed;
        ret->seed = l->options.seed;
        ret->by_verdict = l->options.by_verdict;
        ret->verdict_before = l->options.before;
        ret->verdict_after = l->options.after;
        if (!ret->by_verdict) {
                ret->value_reference = ends[0];
                ret->value_target = ends[1];
        }
        ret->is_unfinished = l->stopped && localize_is_cut_off(l->search, i);
        ret->is_disturbed = l->disturbed[i] && ret->state == LOCALIZE_NO_CULPRIT;
        ret->culprits = calloc(n + 1, sizeof(*ret->culprits));
        if (!ret->culprits)
                return -ENOMEM;
        for (; r == 0 && ret->n < n; ret->n++)
                r = take_culprit(l, &culprits[ret->n], &ret->culprits[ret->n]);
        return r;
}

struct localized *localization_result(const struct localization *l, size_t i)
{
        cleanup_localized struct localized *result = localized_new();

        return result && take_result(l, i, result) == 0 ? steal_pointer(result) : NULL;
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

        program_name_at(l, commit, sha);
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
        program_name_at(l, l->options.target, bad);
        program_name_at(l, l->start, good);
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
