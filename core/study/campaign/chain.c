/* One chain of the hunt for unknowns: from a seed, step by step, each mutant run on every version and judged. */
#include "core/study/campaign/chain.h"

#include "core/smtlib/print.h"

static void chain_done(struct chain *ch)
{
        script_free(ch->now);
        script_free(ch->next);
        buffer_done(&ch->now_text);
        buffer_done(&ch->text);
        buffer_done(&ch->lines);
        weaken_step_done(&ch->applied);
        free(ch->trial.answers);
}

/* Does the target decide the seed? 1: no chain can begin here. */
static int begin_at_seed(struct chain *ch)
{
        struct campaign *c = ch->campaign;
        struct seed *seed = ch->place.seed;
        enum logic_mode mode = ch->place.mode;
        bool is_known;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        is_known = seed->n_base[mode] == c->n_compared;
        ch->implied = seed->implied;
        pthread_mutex_unlock(&c->lock);
        if (is_known)
                return seed->is_out[mode];
        r = chain_run_all(ch);
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        seed_judge(c, ch->place);
        ch->implied = seed->implied;
        pthread_mutex_unlock(&c->lock);
        r = chain_judge(ch);
        return r < 0 ? r : seed->is_out[mode] || r;
}

/* 1: the chain ends here. */
static int step(struct chain *ch)
{
        const struct weaken_options options = {.size_most = ch->size_most, .keeps = chain_allows, .user = ch};
        enum weaken_direction direction = ch->implied == VERDICT_SAT ? WEAKEN : STRENGTHEN;
        struct buffer text;
        struct random random;
        int r;

        script_free(steal_pointer(ch->next));
        weaken_step_done(&ch->applied);
        ch->text.size = 0;
        random_seed_part(&random, ch->campaign->settings->seed + ch->id * UINT64_C(0x9E3779B97F4A7C15), ch->step);
        r = weaken_step(ch->hunt->weaken, ch->now, direction, &random, &options, &ch->next, &ch->applied);
        if (r == -ENOENT)
                return 1;
        if (r == 0)
                r = script_print(ch->next, &(struct print_options){.dialect = ch->campaign->dialect}, &ch->text);
        if (r < 0)
                return r;
        ch->input.text = SLICE(ch->text.data, ch->text.size);
        r = chain_run_all(ch);
        if (r == 0)
                r = chain_judge(ch);
        if (r != 0 || !verdict_is_decided(ch->trial.answers[ch->target].verdict))
                return r;
        /* the next step begins at the formula that the target has just decided */
        weaken_step_print(ch->hunt->weaken, &ch->applied, &ch->lines);
        script_free(ch->now);
        ch->now = steal_pointer(ch->next);
        text = ch->now_text;
        ch->now_text = ch->text;
        ch->text = text;
        return 0;
}

static int chain_open(struct bench_seat *seat, const struct strategy_input *input, struct chain *ch)
{
        struct campaign *c = seat->campaign;
        const struct buffer *text;
        int r;

        *ch = (struct chain){.campaign = c,
                             .hunt = unknown_hunt_of(c),
                             .place = chain_place_of(c, input->id),
                             .id = input->id,
                             .target = (unsigned)c->n_compared - 1};
        ch->trial = (struct trial){.seat = seat, .input = &ch->input, .answers = allocate(c->n_versions, sizeof(struct answer))};
        text = &ch->place.seed->text[ch->place.mode];
        r = script_read(SLICE(text->data, text->size),
                        &(struct script_options){.name = ch->place.seed->name, .dialect = c->dialect, .is_dialect_fixed = true},
                        &ch->now);
        if (r < 0)
                return r;
        chain_set_bounds(ch);
        buffer_add(&ch->now_text, text->data, text->size);
        buffer_add(&ch->text, text->data, text->size);
        ch->input = (struct strategy_input){.id = input->id, .text = SLICE(ch->text.data, ch->text.size), .source = "seed"};
        return buffer_error(&ch->text) < 0 ? -ENOMEM : buffer_error(&ch->now_text);
}

int chain_try(struct bench_seat *seat, const struct strategy_input *input)
{
        struct campaign *c = seat->campaign;
        cleanup(chain_done) struct chain ch;
        int r = chain_open(seat, input, &ch);

        if (r == 0)
                r = begin_at_seed(&ch);
        for (ch.step = 1; r == 0 && ch.step <= ch.place.steps; ch.step++) {
                if (campaign_is_over(c))
                        return 0; /* it goes on here when the campaign does */
                r = step(&ch);
        }
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &(struct campaign_record){.event = EVENT_FINISH, .id = ch.id});
        campaign_drop_open(c, ch.id);
        pthread_mutex_unlock(&c->lock);
        return r;
}
