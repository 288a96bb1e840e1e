/* A campaign taken up again: it must be the one that is there, and its journal told again leaves its hunt where it was. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

/* -- is it the same? -- */

static int check_list(const char *what, char *const *a, char *const *b)
{
        for (; *a && *b && strcmp(*a, *b) == 0; a++, b++)
                ;
        return *a || *b ? errorf(-EEXIST, "a campaign of that name has other %s; give this one another --name", what) : 0;
}

/* Everything that its decisions follow from, but the lists of versions. */
static bool has_same_decisions(const struct campaign_settings *a, const struct campaign_settings *b)
{
        return strcmp(a->target, b->target) == 0 && a->strategy == b->strategy && a->seed == b->seed &&
               a->timeout == b->timeout && a->threshold == b->threshold && a->window == b->window &&
               a->any_pair == b->any_pair && a->cpu_time == b->cpu_time && a->kind == b->kind && a->label == b->label &&
               a->iterations == b->iterations && a->chain == b->chain &&
               strcmp(a->corpus ? a->corpus : "", b->corpus ? b->corpus : "") == 0;
}

int campaign_check_settings(const struct campaign_settings *there, const struct campaign_settings *s)
{
        cleanup_buffer struct buffer has = {0};
        int r = check_list("references", there->references, s->references);

        if (r == 0)
                r = check_list("oracles", there->oracles, s->oracles);
        if (r < 0 || has_same_decisions(there, s))
                return r;
        campaign_print_settings(there, &has);
        return errorf(-EEXIST, "the campaign '%s' is there with other settings; give this one another --name. It has:\n%s",
                      s->name, has.data ? has.data : "");
}

int campaign_check_fingerprint(const struct campaign *c, struct campaign_settings *full)
{
        if (!c->fingerprint)
                return 0;
        if (c->fingerprint_before && strcmp(c->fingerprint_before, c->fingerprint) != 0)
                return errorf(-EEXIST,
                              "the campaign '%s' began with other seeds in %s, or other rules; give this one another --name",
                              full->name, full->corpus);
        full->fingerprint = strdup(c->fingerprint);
        return full->fingerprint ? 0 : -ENOMEM;
}

/* -- the journal told again -- */

/* An input that a session which was cut off had under way. */
static struct strategy_input *find_left(const struct campaign *c, uint64_t id)
{
        for (size_t i = 0; i < c->n_left; i++)
                if (c->left[i].id == id)
                        return &c->left[i];
        return NULL;
}

bool campaign_is_under_way(const struct campaign *c, uint64_t id)
{
        return find_left(c, id) != NULL;
}

static void drop_left(struct campaign *c, uint64_t id)
{
        struct strategy_input *i = find_left(c, id);

        if (i)
                *i = c->left[--c->n_left];
}

static int replay_next(struct campaign *c, const struct campaign_record *r)
{
        struct strategy_input input;
        int k = c->hunt->next_again(c, r, &input);

        if (k < 0)
                return k == -EAGAIN ? 0 : k;
        if (list_grow(c->left, c->n_left) < 0)
                return -ENOMEM;
        c->left[c->n_left++] = input;
        return 0;
}

static int replay(void *user, const struct campaign_record *r)
{
        struct campaign *c = user;

        c->worked_before = r->now;
        if (r->event == EVENT_SESSION)
                return 0;
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        if (r->event == EVENT_FINISH)
                drop_left(c, r->id);
        if (r->event == EVENT_CAUSE && c->hunt->learned) {
                campaign_learn(c, r->id, r->cause);
                return 0;
        }
        return c->hunt->replay(c, r);
}

int campaign_resume(struct campaign *c)
{
        char path[PATH_SIZE];
        int r = path_join(path, c->folder, "journal");

        if (r == 0)
                r = campaign_journal_open(path, replay, c, &c->journal);
        c->began_ns = now_ns();
        c->solved_before = c->status.solving;
        c->found_before = campaign_count_findings(&c->status);
        if (r == 0 && c->status.inputs > 0)
                campaign_say(c, "goes on behind %" PRIu64 " inputs and %.0f seconds", c->status.inputs, c->worked_before);
        return r < 0 ? r : campaign_note(c, &(struct campaign_record){.event = EVENT_SESSION});
}
