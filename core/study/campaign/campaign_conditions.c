/* What a campaign's times are of: the machine, and the versions as their makers call them. Kept beside its journal, once, for the reports of what it finds. */
#include "core/run/host.h"
#include "core/study/campaign/campaign_internal.h"

static json_t *machine_facts(const struct bench_seat *seat)
{
        const json_t *away = seat->away ? cluster_slot_away(seat->away)->facts : NULL;

        return away ? json_deep_copy(away) : host_facts();
}

/* One that cannot be asked has no name of its own. */
static int ask_versions(struct bench_seat *seat, json_t *ret)
{
        struct campaign *c = seat->campaign;

        for (size_t i = 0; i < c->n_versions; i++) {
                char line[VERSION_LINE];
                int r = version_ask(c->workspace, c->versions[i], &c->programs[i], seat->away ? NULL : &seat->slot.cpus,
                                    seat->away ? cluster_slot_away(seat->away) : NULL, c->cancel_fd, line);

                if (r == -ECANCELED || r == -ENOMEM)
                        return r;
                if (r == 0 && *line)
                        json_object_set_new(ret, c->versions[i]->text, json_string(line));
        }
        return 0;
}

int campaign_note_conditions(struct campaign *c)
{
        struct bench_seat seat = BENCH_SEAT(c);
        json_t *versions = json_object(), *conditions = NULL;
        int r;

        if (campaign_has_conditions(c->workspace, c->solver->recipe->name, c->settings->name)) {
                json_decref(versions);
                return 0;
        }
        r = seat_take(&seat);
        if (r == 0)
                r = ask_versions(&seat, versions);
        if (r == 0)
                conditions = json_pack("{sO so}", "versions", versions, "machine", machine_facts(&seat));
        seat_leave(&seat);
        json_decref(versions);
        if (r == 0)
                r = campaign_put_conditions(c->workspace, c->solver->recipe->name, c->settings->name, conditions);
        json_decref(conditions);
        return r;
}
