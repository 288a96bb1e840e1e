/* One chain of a campaign for unknowns: from a seed, step by step, each mutant run on every version and judged. */
#include "core/study/campaign/campaign_unknown.h"

#include "core/smtlib/print.h"

#define SIZE_MOST 100000 /* nodes of an assertion; a larger seed may grow by half */

/* -- the terms that a step may add -- */

/* True if the versions support the term, and the seed's logic allows it. The chain is the user. */
static bool chain_allows(void *user, const struct term *t)
{
        const struct chain *ch = user;
        cleanup_term_list struct term_list all = {0};

        if ((t->has_quantifier && (!ch->logic.has_quantifiers || ch->unknowns->unsupported[OP_NONE])) || !logic_allows(&ch->logic, t))
                return false;
        term_subterms(&t, 1, &all);
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_OPERATOR && ch->unknowns->unsupported[all.list[i]->op])
                        return false;
        return true;
}

/* -- runs, and the chain's part of the journal: runs and finds that a cut-off session noted are not repeated -- */

int chain_note(struct chain *ch, struct campaign_record *r)
{
        struct campaign *c = ch->campaign;
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        int k;

        r->id = ch->id;
        r->step = ch->step;
        k = campaign_note(c, r);
        if (k == 0)
                unknowns_count(c, r);
        return k;
}

/* Runs a version on the chain's text, and notes its answer. */
static int run_version(struct chain *ch, unsigned v)
{
        struct answer *a = &ch->trial.answers[v];
        struct campaign_record r = {.event = EVENT_STEP, .id = ch->id, .step = ch->step, .version = v};
        int k;

        if (campaign_recall(ch->campaign, &r)) {
                *a = recorded_answer(&r);
                return 0;
        }
        k = trial_run_text(&ch->trial, v, 0, ch->input.text, ch->campaign->settings->timeout, a, NULL);
        r.seconds = a->seconds;
        r.verdict = a->verdict;
        r.rule = ch->step > 0 ? (unsigned)ch->applied.rule : JOURNAL_NO_RULE;
        r.direction = ch->applied.direction;
        return k < 0 ? k : chain_note(ch, &r);
}

/* Runs every version on a seed. On a mutant the target runs first. If it gives the implied answer, the references cannot show a fault of it, so they run
 * only if their own findings are wanted, too. */
static int chain_run_all(struct chain *ch)
{
        const struct campaign *c = ch->campaign;
        struct answer *answers = ch->trial.answers;
        bool is_mutant = ch->step > 0, needs_others;
        int k;

        for (size_t v = 0; v < c->n_versions; v++)
                answers[v] = (struct answer){.verdict = VERDICT_UNKNOWN};
        k = is_mutant ? run_version(ch, ch->target) : 0;
        needs_others = !is_mutant || c->settings->any_pair || answers[ch->target].verdict == VERDICT_UNKNOWN ||
                       (verdict_is_decided(answers[ch->target].verdict) && answers[ch->target].verdict != ch->implied);
        for (unsigned v = 0; k == 0 && needs_others && v < c->n_compared; v++)
                if (!answers[v].ran)
                        k = run_version(ch, v);
        return k;
}

bool chain_has_filed(const struct chain *ch, enum observation_kind kind, unsigned version)
{
        struct campaign_record r = {.event = EVENT_FOUND, .id = ch->id, .step = ch->step, .version = version, .kind = kind};

        return campaign_recall(ch->campaign, &r);
}

static void chain_done(struct chain *ch)
{
        script_free(ch->now);
        script_free(ch->next);
        buffer_done(&ch->text);
        buffer_done(&ch->lines);
        weaken_step_done(&ch->applied);
        free(ch->trial.answers);
}

/* Checks that the target decides the seed. 1: no chain can begin here. */
static int begin_at_seed(struct chain *ch)
{
        struct campaign *c = ch->campaign;
        struct seed_formula *seed = ch->place.seed;
        enum logic_mode mode = ch->place.mode;
        /* This chain ran the seed, and was interrupted: perhaps before it filed what it had found. */
        const bool is_again = campaign_recall(c, &(struct campaign_record){.event = EVENT_STEP, .id = ch->id});
        bool is_known, is_out;
        int r;

        pthread_mutex_lock(&c->lock);
        is_known = seed->is_judged[mode];
        is_out = seed->is_out[mode];
        ch->implied = seed->implied;
        pthread_mutex_unlock(&c->lock);
        if (is_known && !is_again)
                return is_out;
        r = chain_run_all(ch);
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        seed_judge(c, ch->place, ch->trial.answers);
        ch->implied = seed->implied;
        is_out = seed->is_out[mode];
        pthread_mutex_unlock(&c->lock);
        r = chain_judge(ch);
        return r < 0 ? r : is_out || r;
}

/* 1: the chain ends here. */
static int step(struct chain *ch)
{
        const struct weaken_options options = {.size_most = ch->size_most, .keeps = chain_allows, .user = ch};
        enum weaken_direction direction = ch->implied == VERDICT_SAT ? WEAKEN : STRENGTHEN;
        struct random random;
        int r;

        script_free(steal_pointer(ch->next));
        weaken_step_done(&ch->applied);
        ch->text.size = 0;
        random_seed_part(&random, ch->campaign->settings->seed + ch->id * UINT64_C(0x9E3779B97F4A7C15), ch->step);
        r = weaken_step(ch->unknowns->weaken, ch->now, direction, &random, &options, &ch->next, &ch->applied);
        if (r == -ENOENT)
                return 1;
        if (r == 0)
                r = script_print(ch->next, &(struct print_options){.dialect = ch->campaign->dialect}, &ch->text);
        if (r < 0)
                return r;
        ch->input.text = SLICE(ch->text.data, ch->text.size);
        r = chain_run_all(ch) ?: chain_judge(ch);
        if (r != 0 || !verdict_is_decided(ch->trial.answers[ch->target].verdict))
                return r;
        /* the next step begins at the formula that the target has just decided */
        weaken_step_print(ch->unknowns->weaken, &ch->applied, &ch->lines);
        script_free(ch->now);
        ch->now = steal_pointer(ch->next);
        return 0;
}

static int chain_open(struct campaign_worker *worker, const struct strategy_input *input, struct chain *ch)
{
        struct campaign *c = worker->campaign;
        const struct buffer *text;
        uint64_t largest = 0;
        int r;

        *ch = (struct chain){.campaign = c,
                             .unknowns = unknowns_of(c),
                             .place = chain_place_of(c, input->id),
                             .id = input->id,
                             .target = (unsigned)c->n_compared - 1};
        ch->trial = (struct trial){.worker = worker, .input = &ch->input, .answers = allocate(c->n_versions, sizeof(struct answer))};
        text = &ch->place.seed->text[ch->place.mode];
        r = script_read(SLICE(text->data, text->size),
                        &(struct script_options){.name = ch->place.seed->name, .dialect = c->dialect, .is_dialect_fixed = true},
                        &ch->now);
        if (r < 0)
                return r;
        ch->logic = logic_of(ch->place.mode == LOGIC_STATED ? ch->place.seed->logic : NULL);
        for (size_t i = 0; i < ch->now->n_commands; i++)
                if (ch->now->commands[i].kind == COMMAND_ASSERT)
                        largest = MAX(largest, ch->now->commands[i].term->tree_size);
        ch->size_most = MAX((uint64_t)SIZE_MOST, largest + largest / 2);
        buffer_add(&ch->text, text->data, text->size);
        ch->input = (struct strategy_input){.id = input->id, .text = SLICE(ch->text.data, ch->text.size), .source = "seed"};
        return buffer_error(&ch->text);
}

int chain_try(struct campaign_worker *worker, const struct strategy_input *input)
{
        struct campaign *c = worker->campaign;
        cleanup(chain_done) struct chain ch;
        int r = chain_open(worker, input, &ch) ?: begin_at_seed(&ch);

        for (ch.step = 1; r == 0 && ch.step <= ch.place.steps; ch.step++) {
                if (campaign_is_over(c))
                        return 0; /* the chain continues here when the campaign does */
                r = step(&ch);
        }
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &(struct campaign_record){.event = EVENT_FINISH, .id = ch.id});
        pthread_mutex_unlock(&c->lock);
        return r;
}
