/* The conditions of a campaign's times: the machine, and what each version prints for --version. Kept beside its journal, once, for reports of its findings. */
#include "core/run/host.h"
#include "core/study/campaign/campaign_internal.h"

static json_t *machine_facts(const struct bench_seat *seat)
{
        const json_t *away = seat->away ? cluster_slot_away(seat->away)->facts : NULL;

        return away ? json_deep_copy(away) : host_facts();
}

/* A version that cannot be asked has no entry. */
static int ask_versions(struct bench_seat *seat, json_t *ret)
{
        struct campaign *c = seat->campaign;

        for (size_t i = 0; i < c->n_versions; i++) {
                char line[VERSION_LINE];
                int r = version_ask(c->workspace, c->versions[i], &c->programs[i], seat->away ? NULL : &seat->slot.cpus,
                                    seat->away ? cluster_slot_away(seat->away) : NULL, c->cancel_fd, line);

                if (r == -ECANCELED)
                        return r;
                if (r == 0 && *line)
                        json_object_set_new(ret, c->versions[i]->text, json_string(line));
        }
        return 0;
}

int campaign_note_conditions(struct campaign *c)
{
        struct bench_seat seat = BENCH_SEAT(c);
        json_t *conditions, *versions;
        int r;

        if (campaign_has_conditions(c->workspace, c->solver->recipe->name, c->settings->name))
                return 0;
        versions = json_object();
        conditions = json_pack("{so}", "versions", versions);
        r = seat_take(&seat);
        if (r == 0)
                r = ask_versions(&seat, versions);
        if (r == 0)
                json_object_set_new(conditions, "machine", machine_facts(&seat));
        seat_leave(&seat);
        if (r == 0)
                r = campaign_put_conditions(c->workspace, c->solver->recipe->name, c->settings->name, conditions);
        json_decref(conditions);
        return r;
}
