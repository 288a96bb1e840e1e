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
        return copy_string(sha);
}

static void take_culprit(const struct localization *l, const struct localize_culprit *c, struct localized_culprit *ret)
{
        cleanup_buffer struct buffer subject = {0};

        history_subject(l->options.solver->history, (uint32_t)c->commits[c->n - 1], &subject);
        *ret = (struct localized_culprit){
                .before = commit_text(l, c->before),
                .commits = allocate(c->n, sizeof(*ret->commits)),
                .subject = copy_string(subject.data ?: ""),
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
        for (; ret->n < c->n; ret->n++)
                ret->commits[ret->n] = commit_text(l, c->commits[ret->n]);
        ret->commit = format_string(c->n > 1 ? "%s..%s" : "%.0s%s", ret->before, ret->commits[c->n - 1]);
}

static void set_text(char **at, char *text)
{
        free(*at);
        *at = text;
}

struct localized *localization_result(const struct localization *l, size_t i)
{
        const struct localization_options *o = &l->options;
        const struct localize_culprit *culprits;
        size_t n = localize_culprits(l->search, i, &culprits);
        struct localized *ret = localized_new();
        cleanup_buffer struct buffer name = {0};
        double ends[2];

        buffer_add_printable(&name, o->cases[i]->name);
        set_text(&ret->name, copy_string(name.data ?: ""));
        set_text(&ret->reference, commit_text(l, o->reference));
        set_text(&ret->target, commit_text(l, o->target));
        if (l->start != o->reference)
                set_text(&ret->start, commit_text(l, l->start));
        localize_end_values(l->search, i, ends);
        ret->case_id = o->cases[i]->id;
        ret->state = localize_state(l->search, i);
        ret->measure = o->measure;
        ret->is_cpu_time = o->is_cpu_time;
        ret->has_seed = o->has_seed;
        ret->seed = o->seed;
        ret->by_verdict = o->by_verdict;
        ret->verdict_before = o->before;
        ret->verdict_after = o->after;
        if (!ret->by_verdict) {
                ret->value_reference = ends[0];
                ret->value_target = ends[1];
        }
        ret->is_unfinished = l->stopped && localize_is_cut_off(l->search, i);
        ret->is_disturbed = l->disturbed[i] && ret->state == LOCALIZE_NO_CULPRIT;
        ret->culprits = allocate(n, sizeof(*ret->culprits));
        for (; ret->n < n; ret->n++)
                take_culprit(l, &culprits[ret->n], &ret->culprits[ret->n]);
        return ret;
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
        list_grow(log->entries, log->n);
        log->entries[log->n++] = (struct log_entry){commit, seen};
}

/* git knows one step. A commit that is fast after the culprit, or slow before it, stands as a comment. */
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
        return buffer_error(to);
}
