/* Reads, checks, builds and holds the versions that a campaign compares, and records the conditions of their times. */
#include "core/run/host.h"
#include "core/study/campaign/campaign_internal.h"

static int add_version(struct campaign *c, const char *text)
{
        int r;

        list_grow(c->versions, c->n_versions);
        r = version_parse(c->workspace, c->solver, text, c->cancel_fd, &c->versions[c->n_versions]);
        c->n_versions += r == 0;
        return r;
}

/* True if `b` is on the line of first parents of `a`. */
static bool is_ancestor(struct history *h, uint32_t a, uint32_t b)
{
        cleanup_free uint32_t *line = NULL;
        size_t n;

        if (history_line(h, a, &line, &n) < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                if (line[i] == b)
                        return true;
        return false;
}

static int check_versions(const struct campaign *c)
{
        const struct version *target = c->versions[c->n_compared - 1];

        for (size_t i = 0; i + 1 < c->n_compared; i++) {
                const struct version *v = c->versions[i];

                if (c->settings->measure == JUDGE_EFFORT && !v->solver->recipe->effort[0])
                        return errorf(-EINVAL, "the recipe of %s has no 'effort': nobody counts it", v->solver->recipe->name);
                for (size_t k = i + 1; k < c->n_compared; k++)
                        if (version_is_same(v, c->versions[k]))
                                return errorf(-EINVAL, "%s and %s are the same version (%.*s): there is nothing to compare",
                                              v->name, c->versions[k]->name, version_begins_with_sha(v->text) ? 12 : INT_MAX, v->text);
                if (version_begins_with_sha(v->text) && version_begins_with_sha(target->text) && v->commit != target->commit &&
                    !v->has_arguments && !target->has_arguments && is_ancestor(c->solver->history, v->commit, target->commit))
                        return errorf(-EINVAL,
                                      "the reference %s comes after the target %s: a regression is looked for in the newer one; "
                                      "swap them",
                                      v->name, target->name);
        }
        return 0;
}

int campaign_hold_versions(struct campaign *c)
{
        const struct campaign_settings *s = c->settings;
        int r = 0;

        for (char *const *p = s->references; r == 0 && p && *p; p++)
                r = add_version(c, *p);
        if (r == 0)
                r = add_version(c, s->target);
        c->n_compared = c->n_versions;
        for (char *const *p = s->oracles; r == 0 && p && *p; p++)
                r = add_version(c, *p);
        if (r == 0)
                r = check_versions(c);
        c->programs = allocate(c->n_versions, sizeof(*c->programs));
        for (size_t i = 0; r == 0 && i < c->n_versions; i++)
                r = version_build(c->engine, c->workspace, c->versions[i], PRIORITY_BATCH, c->cancel_fd)
                    ?: version_hold(c->workspace, c->versions[i], &c->programs[i]);
        return r;
}

/* -- conditions: the machine, and what each version prints for --version. Kept beside the journal, once, for reports of the findings -- */

int campaign_note_conditions(struct campaign *c)
{
        struct campaign_worker worker = campaign_worker(c);
        struct run_remote *remote;
        json_t *conditions = campaign_get_conditions(c->workspace, c->solver->recipe->name, c->settings->name), *versions;
        int r;

        if (conditions) {
                json_decref(conditions);
                return 0;
        }
        versions = json_object();
        conditions = json_pack("{so}", "versions", versions);
        r = lease_take(&worker.lease);
        remote = r == 0 ? lease_remote(&worker.lease) : NULL;
        for (size_t i = 0; r == 0 && i < c->n_versions; i++) {
                char line[VERSION_LINE];
                int k = version_ask(c->workspace, c->versions[i], &c->programs[i], lease_cpus(&worker.lease), remote, c->cancel_fd, line);

                if (k == 0 && *line)
                        json_object_set_new(versions, c->versions[i]->text, json_string(line));
                r = k == -ECANCELED ? k : 0; /* a version that cannot be asked has no entry */
        }
        if (r == 0)
                json_object_set_new(conditions, "machine", remote && remote->facts ? json_deep_copy(remote->facts) : host_facts());
        lease_leave(&worker.lease);
        if (r == 0)
                r = campaign_put_conditions(c->workspace, c->solver->recipe->name, c->settings->name, conditions);
        json_decref(conditions);
        return r;
}
