/* Continues a campaign. Its settings and inputs must be those of the one in the store; replaying the journal restores its state. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

#include "cache/store/store.h"

/* -- the settings -- */

int campaign_check_settings(const struct campaign_settings *there, const struct campaign_settings *s)
{
        cleanup_free char *before = campaign_decisions(there), *now = campaign_decisions(s);
        cleanup_buffer struct buffer has = {0};

        if (strcmp(before, now) == 0)
                return 0;
        campaign_print_settings(there, &has);
        return errorf(-EEXIST, "the campaign '%s' is there with other settings; give this one another --name. It has:\n%s", s->name, has.data);
}

/* -- the fingerprint -- */

static const struct fingerprint_part {
        const char *name, *what, *remedy;
} fingerprint_parts[] = {
        {"programs", "the programs of its versions, or the commands that run them, are others now", "restore them"},
        {"seed-option", "the key 'seed' of a recipe is another now", "restore it"},
        {"corpus", "the files below its corpus are others now", "restore them"},
        {"seeds", "it began with other seeds, or other rules", "restore the seeds"},
        {"labels", "its seeds have other labels now", "restore them"},
        {"limit", "the memory limit of the target's recipe is another now", "restore it"},
        {"inputs", "this solverfs generates other inputs", "use the one that began it"},
};

/* The parts of the programs, of the seed's option and of the limit by which outcomes are weighed, then the type's parts. */
static char *whole_fingerprint(const struct campaign *c)
{
        struct hasher *h = hasher_new(), *options = hasher_new();
        struct digest programs, option;

        for (size_t i = 0; i < c->n_versions; i++) {
                const struct recipe *recipe = c->versions[i]->solver->recipe;
                struct digest run;

                for (size_t k = 0; k < c->programs[i].n; k++)
                        hasher_add(h, c->programs[i].list[k].id.bytes, DIGEST_SIZE);
                recipe_run_digest(recipe, false, 0, &recipe->limits, &run);
                hasher_add(h, run.bytes, DIGEST_SIZE);
                hasher_string(options, recipe->seed);
        }
        hasher_finish(h, &programs);
        hasher_finish(options, &option);
        return format_string("programs:%016" PRIx64 " seed-option:%016" PRIx64 " limit:%016" PRIx64 " %s", key_get_u64(programs.bytes),
                             key_get_u64(option.bytes), (uint64_t)trial_most(c), c->fingerprint);
}

/* The hash of a part, as text; "" if the fingerprint has no such part. */
static struct slice part_of(const char *fingerprint, const char *part)
{
        size_t n = strlen(part);

        for (const char *p = fingerprint; *p; p += strcspn(p, " "), p += *p == ' ')
                if (strncmp(p, part, n) == 0 && p[n] == ':')
                        return SLICE(p + n + 1, strcspn(p + n + 1, " "));
        return SLICE("", 0);
}

int campaign_check_fingerprint(struct campaign *c, struct campaign_settings *full)
{
        full->fingerprint = whole_fingerprint(c);
        for (size_t i = 0; i < ARRAY_SIZE(fingerprint_parts) && c->fingerprint_before; i++) {
                const struct fingerprint_part *p = &fingerprint_parts[i];
                struct slice before = part_of(c->fingerprint_before, p->name), now = part_of(full->fingerprint, p->name);

                if (before.size > 0 && now.size > 0 && !same_bytes(before, now))
                        return errorf(-EKEYREJECTED, "the campaign '%s' cannot go on: %s; %s, or give this one another --name", full->name,
                                      p->what, p->remedy);
        }
        return 0;
}

/* -- checkpoints -- */

/* The counts that replaying the journal makes, then the type's state. */
static void transfer_state(struct campaign *c, struct transfer *t)
{
        struct campaign_status *s = &c->status;
        uint64_t *const counts[] = {&s->inputs, &s->runs, &s->candidates, &s->passed_over, &s->finds, &s->rejected, &s->implications, &s->duplicates};

        transfer_same(t, ARRAY_SIZE(counts));
        for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
                transfer_u64(t, counts[i]);
        transfer_real(t, &s->solving);
        c->type->transfer(c, t);
}

static int restore(struct campaign *c, const struct campaign_record *r)
{
        struct transfer t = {.from = record_of(r->state)};

        c->worked_before = r->now;
        transfer_state(c, &t);
        return record_end(&t.from, "a campaign's checkpoint") == 0
                       ? 0
                       : errorf(-EKEYREJECTED, "the campaign's checkpoint is of another solverfs; use the one that wrote it, or give this "
                                                  "one another --name");
}

int campaign_checkpoint(struct campaign *c)
{
        cleanup_free struct campaign_record *known = NULL;
        cleanup_buffer struct buffer state = {0};
        size_t n = 0;

        transfer_state(c, &(struct transfer){.to = &state});
        if (c->type->add_counted)
                c->type->add_counted(c, &known, &n);
        return buffer_error(&state) < 0 ? -ENOMEM
                                        : campaign_journal_checkpoint(c->journal, campaign_now(c), SLICE(state.data, state.size), known, n);
}

/* -- replay of the journal -- */

/* NULL: the input is finished. */
static struct strategy_input *find_left(const struct campaign *c, uint64_t id)
{
        for (size_t i = 0; i < c->n_left; i++)
                if (c->left[i].id == id)
                        return &c->left[i];
        return NULL;
}

bool campaign_recall(struct campaign *c, struct campaign_record *r)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        return campaign_journal_find(c->journal, r);
}

static int replay_next(struct campaign *c, const struct campaign_record *r)
{
        struct strategy_input input;
        int k = c->type->next_again(c, r, &input);

        if (k == 0)
                list_add(c->left, c->n_left, input);
        return k == -EAGAIN ? 0 : k;
}

/* Replays a record of a checkpoint, which the type's state does not have. */
static int replay_known(struct campaign *c, const struct campaign_record *r)
{
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        return r->event == EVENT_COUNTED ? c->type->replay(c, r) : 0;
}

static int replay(void *user, const struct campaign_record *r)
{
        struct campaign *c = user;
        struct strategy_input *left = find_left(c, r->id);

        if (r->event == EVENT_CHECKPOINT)
                return restore(c, r);
        if (r->is_known)
                return replay_known(c, r);
        c->worked_before = r->now;
        if (r->event == EVENT_SESSION)
                return 0;
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        if (r->event == EVENT_FINISH && left)
                *left = c->left[--c->n_left];
        return c->type->replay(c, r);
}

int campaign_resume(struct campaign *c)
{
        int r = campaign_journal_replay(c->journal, replay, c);

        c->is_resumed = true;
        if (r == 0)
                r = campaign_read_found(c);
        c->began_ns = now_ns();
        c->solved_before = c->status.solving;
        c->found_before = campaign_count_findings(&c->status);
        if (r == 0 && c->status.inputs > 0) {
                campaign_say(c, "goes on behind %" PRIu64 " inputs and %.0f seconds", c->status.inputs, c->worked_before);
                r = campaign_checkpoint(c); /* the next session has less to replay */
        }
        return r < 0 ? r : campaign_note(c, &(struct campaign_record){.event = EVENT_SESSION});
}
