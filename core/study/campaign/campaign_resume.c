/* A campaign taken up again. Its settings and inputs must be those of the one in the store; replaying the journal brings the hunt where it was. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

#include "cache/store/store.h"

/* -- the settings -- */

static int check_list(const char *what, char *const *a, char *const *b)
{
        for (; *a && *b && strcmp(*a, *b) == 0; a++, b++)
                ;
        return *a || *b ? errorf(-EEXIST, "a campaign of that name has other %s; give this one another --name", what) : 0;
}

/* Compares all settings that decide what the campaign does, but for the lists of versions. */
static bool has_same_decisions(const struct campaign_settings *a, const struct campaign_settings *b)
{
        return strcmp(a->target, b->target) == 0 && strcmp(a->strategy, b->strategy) == 0 && a->seed == b->seed &&
               a->timeout == b->timeout && a->threshold == b->threshold && a->any_pair == b->any_pair &&
               a->measure == b->measure && a->cpu_time == b->cpu_time && a->kind == b->kind && a->label == b->label &&
               a->iterations == b->iterations && a->chain == b->chain &&
               strcmp(a->corpus ? a->corpus : "", b->corpus ? b->corpus : "") == 0 &&
               strcmp(a->logic ? a->logic : "", b->logic ? b->logic : "") == 0;
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
        return errorf(-EEXIST, "the campaign '%s' is there with other settings; give this one another --name. It has:\n%s", s->name, has.data);
}

/* -- the fingerprint -- */

static const struct fingerprint_part {
        const char *name, *what, *otherwise;
} fingerprint_parts[] = {
        {"programs", "the programs of its versions, or the commands that run them, are others now", "restore them"},
        {"corpus", "the files below its corpus are others now", "restore them"},
        {"seeds", "it began with other seeds, or other rules", "restore the seeds"},
        {"inputs", "this solverfs generates other inputs", "use the one that began it"},
};

/* The part of the programs, then the hunt's parts. */
static char *whole_fingerprint(const struct campaign *c)
{
        struct hasher *h = hasher_new();
        struct digest programs;

        for (size_t i = 0; i < c->n_versions; i++) {
                const struct recipe *recipe = c->versions[i]->solver->recipe;
                struct digest run;

                for (size_t k = 0; k < c->programs[i].n; k++)
                        hasher_add(h, c->programs[i].list[k].id.bytes, DIGEST_SIZE);
                recipe_run_digest(recipe, false, 0, &recipe->limits, &run);
                hasher_add(h, run.bytes, DIGEST_SIZE);
        }
        hasher_finish(h, &programs);
        return format_string("programs:%016" PRIx64 " %s", key_get_u64(programs.bytes), c->fingerprint);
}

/* The hash of a part, as text; "" where the fingerprint has no such part. */
static struct slice part_of(const char *fingerprint, const char *part)
{
        size_t n = strlen(part);

        for (const char *p = fingerprint; *p; p += strcspn(p, " "), p += *p == ' ')
                if (strncmp(p, part, n) == 0 && p[n] == ':')
                        return SLICE(p + n + 1, strcspn(p + n + 1, " "));
        return strcmp(part, "seeds") == 0 && !strchr(fingerprint, ':') ? slice_string(fingerprint) : SLICE("", 0);
}

int campaign_check_fingerprint(struct campaign *c, struct campaign_settings *full)
{
        full->fingerprint = whole_fingerprint(c);
        for (size_t i = 0; i < ARRAY_SIZE(fingerprint_parts) && c->fingerprint_before; i++) {
                const struct fingerprint_part *p = &fingerprint_parts[i];
                struct slice before = part_of(c->fingerprint_before, p->name), now = part_of(full->fingerprint, p->name);

                if (before.size > 0 && now.size > 0 && (before.size != now.size || memcmp(before.data, now.data, now.size) != 0))
                        return errorf(-EKEYREJECTED, "the campaign '%s' cannot go on: %s; %s, or give this one another --name", full->name,
                                      p->what, p->otherwise);
        }
        return 0;
}

/* -- checkpoints -- */

/* The counts that replaying the journal makes, then the hunt's state. */
static void transfer_state(struct campaign *c, struct transfer *t)
{
        struct campaign_status *s = &c->status;
        uint64_t *const counts[] = {&s->inputs, &s->runs, &s->candidates, &s->passed_over, &s->finds, &s->rejected, &s->implications, &s->duplicates};

        transfer_same(t, ARRAY_SIZE(counts));
        for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
                transfer_u64(t, counts[i]);
        transfer_real(t, &s->solving);
        c->hunt->transfer(c, t);
}

static int restore(struct campaign *c, const struct campaign_record *r)
{
        struct transfer t = {.from = record_of(r->state)};

        c->worked_before = r->now;
        transfer_state(c, &t);
        return record_end(&t.from, "a campaign's checkpoint") == 0
                       ? 0
                       : errorf(-EPROTONOSUPPORT, "the campaign's checkpoint is of another solverfs; use the one that wrote it, or give this "
                                                  "one another --name");
}

int campaign_checkpoint(struct campaign *c)
{
        cleanup_free struct campaign_record *known = NULL;
        cleanup_buffer struct buffer state = {0};
        size_t n = 0;

        transfer_state(c, &(struct transfer){.to = &state});
        for (size_t i = 0; i < c->n_found; i++) {
                list_grow(known, n);
                known[n++] = (struct campaign_record){
                        .event = EVENT_FINDING, .id = c->found[i].id, .cause = c->found[i].cause, .finding = c->found[i].finding};
        }
        if (c->hunt->add_counted)
                c->hunt->add_counted(c, &known, &n);
        return buffer_error(&state) < 0 ? -ENOMEM
                                        : campaign_journal_checkpoint(c->journal, campaign_now(c), SLICE(state.data, state.size), known, n);
}

/* -- replay of the journal -- */

struct strategy_input *campaign_find_left(const struct campaign *c, uint64_t id)
{
        for (size_t i = 0; i < c->n_left; i++)
                if (c->left[i].id == id)
                        return &c->left[i];
        return NULL;
}

void campaign_drop_open(struct campaign *c, uint64_t id)
{
        size_t n = 0;

        for (size_t i = 0; i < c->n_open; i++)
                if (c->open[i].id != id)
                        c->open[n++] = c->open[i];
        c->n_open = n;
}

bool campaign_recall(struct campaign *c, struct campaign_record *r)
{
        bool is_known = false;

        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->n_open && !is_known; i++) {
                const struct campaign_record *o = &c->open[i];

                is_known = o->event == r->event && o->id == r->id && o->step == r->step && o->version == r->version && o->kind == r->kind;
                if (is_known)
                        *r = *o;
        }
        pthread_mutex_unlock(&c->lock);
        return is_known;
}

static void add_open(struct campaign *c, const struct campaign_record *r)
{
        list_grow(c->open, c->n_open);
        c->open[c->n_open++] = *r;
}

static int replay_next(struct campaign *c, const struct campaign_record *r)
{
        struct strategy_input input;
        int k = c->hunt->next_again(c, r, &input);

        if (k == 0) {
                list_grow(c->left, c->n_left);
                c->left[c->n_left++] = input;
        }
        return k == -EAGAIN ? 0 : k;
}

/* A record of a checkpoint: the hunt's state does not have it. */
static int replay_known(struct campaign *c, const struct campaign_record *r)
{
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        if (r->event == EVENT_COUNTED)
                return c->hunt->replay(c, r);
        if (r->event == EVENT_FINDING) {
                campaign_add_found(c, r->id, r->finding);
                c->found[c->n_found - 1].cause = r->cause;
        } else {
                add_open(c, r);
        }
        return 0;
}

static int replay(void *user, const struct campaign_record *r)
{
        struct campaign *c = user;
        struct strategy_input *left = campaign_find_left(c, r->id);
        int k;

        if (r->event == EVENT_CHECKPOINT)
                return restore(c, r);
        if (r->is_known)
                return replay_known(c, r);
        c->worked_before = r->now;
        if (r->event == EVENT_SESSION)
                return 0;
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        if (r->event == EVENT_CAUSE) {
                campaign_learn(c, r->id, r->cause);
                return 0;
        }
        if (r->event == EVENT_FINISH && left)
                *left = c->left[--c->n_left];
        k = c->hunt->replay(c, r);
        if (r->event == EVENT_FINISH) {
                campaign_drop_open(c, r->id);
        } else if (k == 0 && left) {
                add_open(c, r);
        }
        return k;
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
        if (r == 0 && c->status.inputs > 0 && !c->fingerprint_before) {
                campaign_say(c, "an earlier solverfs began it, and did not note what its inputs follow from; they are taken to be the same");
                c->n_open = 0; /* the inputs under way may be other ones now: judge them by runs of this session alone */
        }
        if (r == 0 && c->status.inputs > 0)
                campaign_say(c, "goes on behind %" PRIu64 " inputs and %.0f seconds", c->status.inputs, c->worked_before);
        if (r == 0 && c->status.inputs > 0 && c->fingerprint_before)
                r = campaign_checkpoint(c); /* the next session has less to replay */
        return r < 0 ? r : campaign_note(c, &(struct campaign_record){.event = EVENT_SESSION});
}
