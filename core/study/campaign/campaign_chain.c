/* One chain of the hunt for unknowns: from a seed, step by step, each mutant run on every version and judged. */
#include "core/study/campaign/campaign_unknown.h"

#include <inttypes.h>

#include "cache/base/fault.h"
#include "core/smtlib/print.h"

#define SIZE_MOST   100000 /* nodes of an assertion that a step may make; a larger seed may grow by half */
#define REASON_MOST 160

struct chain {
        struct bench_seat *seat;
        struct campaign *campaign;
        struct unknown_hunt *hunt;
        struct chain_place place;
        uint64_t id;
        unsigned step, target;
        enum verdict implied;         /* of every formula of the chain */
        bool linear, quantifier_free; /* the stated logic */
        uint64_t size_most;
        struct script *now, *next; /* owned; the last formula that the target decided, and what a step makes of it */
        struct buffer now_text, text, lines;
        struct weaken_step applied;
        enum verdict *before; /* owned; of each compared version on `now` */
        struct strategy_input input;
        struct trial trial;
};

static void chain_done(struct chain *ch)
{
        script_free(ch->now);
        script_free(ch->next);
        buffer_done(&ch->now_text);
        buffer_done(&ch->text);
        buffer_done(&ch->lines);
        weaken_step_done(&ch->applied);
        free(ch->before);
        free(ch->trial.answers);
}

/* -- what a step may bring in -- */

static bool is_literal(const struct term *t)
{
        return t->kind == TERM_LITERAL || (t->op == OP_NEGATE && t->args[0]->kind == TERM_LITERAL);
}

static bool is_nonlinear(const struct term *t)
{
        size_t n = 0;

        if (t->op == OP_TIMES)
                for (size_t i = 0; i < t->n_args; i++)
                        n += !is_literal(t->args[i]);
        if (t->op == OP_DIVIDE || t->op == OP_INT_DIV || t->op == OP_MOD || t->op == OP_REM)
                return !is_literal(t->args[1]);
        return n > 1;
}

/* Only what the versions support, and the seed's logic allows. */
static bool keeps(void *user, const struct term *t)
{
        const struct chain *ch = user;
        cleanup_term_list struct term_list all = {0};

        if (t->has_quantifier && (ch->quantifier_free || ch->hunt->no_quantifier))
                return false;
        if (term_subterms(&t, 1, &all) < 0)
                return false;
        for (size_t i = 0; i < all.n; i++)
                if ((all.list[i]->kind == TERM_OPERATOR && ch->hunt->unsupported[all.list[i]->op]) ||
                    (ch->linear && is_nonlinear(all.list[i])))
                        return false;
        return true;
}

/* -- runs -- */

/* Reads a chain that was cut off from the journal. */
static const struct campaign_record *recall(const struct chain *ch, enum campaign_event event, unsigned version, unsigned kind)
{
        const struct unknown_hunt *h = ch->hunt;

        for (size_t i = 0; i < h->n_left; i++) {
                const struct campaign_record *r = &h->left[i];

                if (r->event == event && r->id == ch->id && r->step == ch->step && r->version == version &&
                    (event != EVENT_FOUND || r->kind == kind))
                        return r;
        }
        return NULL;
}

static int note(struct chain *ch, struct campaign_record *r)
{
        struct campaign *c = ch->campaign;
        int k;

        r->id = ch->id;
        r->step = ch->step;
        pthread_mutex_lock(&c->lock);
        k = campaign_note(c, r);
        if (k == 0)
                unknown_hunt_count(c, r);
        pthread_mutex_unlock(&c->lock);
        return k;
}

static int run_version(struct chain *ch, unsigned v)
{
        struct answer *a = &ch->trial.answers[v];
        struct campaign_record known = {0};
        const struct campaign_record *r;
        int k;

        pthread_mutex_lock(&ch->campaign->lock);
        r = recall(ch, EVENT_STEP, v, 0);
        if (r)
                known = *r;
        pthread_mutex_unlock(&ch->campaign->lock);
        if (r) {
                *a = (struct answer){.ran = true, .seconds = known.seconds, .verdict = known.verdict};
                return 0;
        }
        k = trial_run_text(&ch->trial, v, ch->input.text, ch->campaign->settings->timeout, a, NULL);
        return k < 0 ? k
                     : note(ch, &(struct campaign_record){.event = EVENT_STEP,
                                                          .version = v,
                                                          .seconds = a->seconds,
                                                          .verdict = a->verdict,
                                                          .rule = ch->step > 0 ? (unsigned)ch->applied.rule : JOURNAL_NO_RULE,
                                                          .direction = ch->applied.direction});
}

static int run_all(struct chain *ch)
{
        int r = 0;

        memset(ch->trial.answers, 0, ch->campaign->n_versions * sizeof(*ch->trial.answers));
        for (unsigned v = 0; r == 0 && v < ch->campaign->n_compared; v++)
                r = run_version(ch, v);
        return r;
}

/* -- signatures -- */

static void add_operators(const struct script *s, bool has[N_OPS + 2])
{
        cleanup_term_list struct term_list roots = {0}, all = {0};

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(&roots, s->commands[i].term);
        if (term_subterms(roots.list, roots.n, &all) < 0)
                return;
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_OPERATOR)
                        has[all.list[i]->op] = true;
                else if (all.list[i]->kind == TERM_FORALL || all.list[i]->kind == TERM_EXISTS)
                        has[N_OPS + (all.list[i]->kind == TERM_EXISTS)] = true;
}

/* Those that the last step brought in. */
static void print_operators(const struct chain *ch, struct buffer *ret)
{
        bool before[N_OPS + 2] = {0}, after[N_OPS + 2] = {0};
        size_t n = 0;

        if (ch->next) {
                add_operators(ch->now, before);
                add_operators(ch->next, after);
        }
        for (enum op op = OP_NONE + 1; op < N_OPS; op++)
                if (after[op] && !before[op])
                        buffer_addf(ret, "%s%s", n++ > 0 ? " " : "", operator_name(op, DIALECT_2_6));
        for (unsigned i = 0; i < 2; i++)
                if (after[N_OPS + i] && !before[N_OPS + i])
                        buffer_addf(ret, "%s%s", n++ > 0 ? " " : "", i ? "exists" : "forall");
        if (n == 0)
                buffer_adds(ret, "-");
}

static const char *logic_of(const struct chain *ch)
{
        return ch->place.mode == LOGIC_ALL ? "ALL" : *ch->place.seed->logic ? ch->place.seed->logic : "-";
}

static void print_signature(const struct chain *ch, enum finding_kind kind, unsigned version, const char *detail,
                            struct buffer *ret)
{
        const struct rule_row *rule = ch->next ? weaken_rule(ch->hunt->weaken, ch->applied.rule) : NULL;

        buffer_addf(ret, "%s\t%s\t%s\t", finding_kind_name(kind), ch->campaign->versions[version]->text,
                    kind == FINDING_CRASH ? "-" : logic_of(ch));
        if (kind == FINDING_CRASH) /* the place in the program tells more than the rule */
                buffer_adds(ret, "-\t-");
        else if (rule)
                buffer_addf(ret, "%s %s\t", rule->name, ch->applied.direction == WEAKEN ? "weaken" : "strengthen");
        else
                buffer_adds(ret, "-\t");
        if (kind != FINDING_CRASH)
                print_operators(ch, ret);
        buffer_adds(ret, "\t");
        buffer_add_printable(ret, detail);
}

/* -- keeping what was found -- */

static int add_case(struct chain *ch, const char *name, struct slice text, uint32_t *ret)
{
        return cases_add_unlisted(workspace_cases(ch->campaign->workspace), name, text, ret);
}

static int set_text(char **to, const char *text)
{
        free(*to);
        *to = strdup(text);
        return *to ? 0 : -ENOMEM;
}

static int fill(struct chain *ch, struct finding *f, enum finding_kind kind, int reference, unsigned version, const char *reason,
                const char *signature)
{
        struct campaign *c = ch->campaign;
        const struct seed *seed = ch->place.seed;
        cleanup_buffer struct buffer chain = {0};
        char name[200];
        int r;

        f->kind = kind;
        buffer_add(&chain, ch->lines.data, ch->lines.size);
        if (ch->next)
                weaken_step_print(ch->hunt->weaken, &ch->applied, &chain);
        r = buffer_error(&chain) < 0 ? -ENOMEM : set_text(&f->chain, chain.data ? chain.data : "");
        if (r == 0)
                r = set_text(&f->reason, reason);
        if (r == 0)
                r = set_text(&f->signature, signature);
        if (r == 0)
                r = trial_set_versions(f, reference < 0 ? NULL : c->versions[reference], c->versions[version]);
        if (r == 0)
                r = trial_add_answers(&ch->trial, f);
        if (r == 0)
                r = add_case(ch, seed->name, SLICE(seed->text[ch->place.mode].data, seed->text[ch->place.mode].size),
                             &f->seed_id);
        snprintf(name, sizeof(name), "%s-%" PRIu64 "-%u-decided.smt2", c->settings->name, ch->id, ch->step);
        if (r == 0 && ch->next && (kind == FINDING_IMPLICATION || kind == FINDING_SOUNDNESS)) /* is reduced with it */
                r = add_case(ch, name, SLICE(ch->now_text.data, ch->now_text.size), &f->decided_id);
        return r;
}

/* How it is told: "unknown where 1.8 says sat: (reason)". */
static void describe(const struct chain *ch, enum finding_kind kind, int reference, unsigned version, const char *reason,
                     struct buffer *ret)
{
        const struct campaign *c = ch->campaign;
        const struct answer *a = ch->trial.answers;

        buffer_addf(ret, "%s: ", finding_kind_name(kind));
        if (kind == FINDING_CRASH)
                buffer_addf(ret, "%s crashed (%s)", c->versions[version]->name, reason);
        else if (kind == FINDING_SOUNDNESS)
                buffer_addf(ret, "%s says %s, %s is implied", c->versions[version]->name, verdict_name(a[version].verdict),
                            verdict_name(ch->implied));
        else if (kind == FINDING_REGRESSION)
                buffer_addf(ret, "%s says %s, %s unknown: %s", c->versions[reference]->name, verdict_name(a[reference].verdict),
                            c->versions[version]->name, reason);
        else
                buffer_addf(ret, "%s decided it before the last rule, and says unknown: %s", c->versions[version]->name, reason);
        buffer_addf(ret, "; %s from %s", ch->next ? weaken_rule(ch->hunt->weaken, ch->applied.rule)->name : "as it is",
                    ch->place.seed->name);
}

/* Run again, before it is said of anybody: the reference, and the version unless its reason was asked for in another run. */
static int is_repeated(struct chain *ch, enum finding_kind kind, int reference, unsigned version, bool *ret)
{
        bool is_asked = kind == FINDING_REGRESSION || kind == FINDING_IMPLICATION;
        int r = 0;

        *ret = true;
        for (unsigned v = 0; r == 0 && *ret && v < ch->campaign->n_compared; v++) {
                struct answer again;

                if ((int)v != reference && (v != version || is_asked))
                        continue;
                r = trial_run_text(&ch->trial, v, ch->input.text, ch->campaign->settings->timeout, &again, NULL);
                *ret = r == 0 && again.verdict == ch->trial.answers[v].verdict;
        }
        return r;
}

static int store(struct chain *ch, enum finding_kind kind, int reference, unsigned version, const char *reason,
                 const char *signature, uint32_t *ret_number)
{
        cleanup_finding struct finding *f = NULL;
        cleanup_buffer struct buffer what = {0};
        bool is_so;
        int r = is_repeated(ch, kind, reference, version, &is_so);

        *ret_number = 0;
        if (r < 0 || !is_so)
                return r;
        f = finding_new();
        if (!f)
                return -ENOMEM;
        r = fill(ch, f, kind, reference, version, reason, signature);
        describe(ch, kind, reference, version, reason, &what);
        if (r == 0)
                r = buffer_error(&what) < 0 ? -ENOMEM : trial_keep(&ch->trial, f, what.data);
        if (r >= 0)
                *ret_number = f->number;
        return r < 0 ? r : fault_at("campaign.found");
}

/* Stores or counts what version `version` did with the mutant. */
static int file(struct chain *ch, enum finding_kind kind, int reference, unsigned version, const char *reason)
{
        struct campaign *c = ch->campaign;
        cleanup_buffer struct buffer signature = {0};
        struct campaign_record r = {.event = EVENT_FOUND, .version = version, .kind = kind};
        uint32_t number = 0;
        int k = 0;

        print_signature(ch, kind, version, reason, &signature);
        if (buffer_error(&signature) < 0)
                return -ENOMEM;
        if (signature_claim(c, signature.data, ch->text.size, &number) == CLAIM_STORE) {
                k = store(ch, kind, reference, version, reason, signature.data, &number);
                r.is_find = signature_stored(c, signature.data, k < 0 ? 0 : number, ch->text.size);
        }
        r.cause = number;
        return k < 0 ? k : note(ch, &r);
}

static bool is_filed(const struct chain *ch, enum finding_kind kind, unsigned version)
{
        bool is_there;

        pthread_mutex_lock(&ch->campaign->lock);
        is_there = recall(ch, EVENT_FOUND, version, kind) != NULL;
        pthread_mutex_unlock(&ch->campaign->lock);
        return is_there;
}

/* -- judging -- */

/* "(:reason-unknown …)" of what it printed, without quotes; "" when it says nothing. */
static void read_reason(const struct buffer *output, char ret[REASON_MOST])
{
        static const char key[] = "(:reason-unknown";
        const char *at = output->data ? strstr(output->data, key) : NULL, *end;
        size_t n;

        ret[0] = '\0';
        if (!at)
                return;
        at += strlen(key);
        at += strspn(at, " \"|");
        end = at + strcspn(at, "\n");
        while (end > at && strchr(" \"|)\r", end[-1]) && !(end[-1] == ')' && memchr(at, '(', (size_t)(end - at))))
                end--;
        /* "(incomplete (theory arithmetic))": the parenthesis that closes the attribute goes, its own stay */
        for (size_t open = 0, i = 0; at + i < end; i++) {
                open += at[i] == '(';
                if (at[i] == ')' && open-- == 0)
                        end = at + i;
        }
        while (end > at && strchr(" \"|\r", end[-1]))
                end--;
        n = MIN((size_t)(end - at), (size_t)REASON_MOST - 1);
        memcpy(ret, at, n);
        ret[n] = '\0';
}

/* A solver's own limits are none of its incompleteness. */
static bool is_limit(const char *reason)
{
        static const char *const limits[] = {"timeout", "timed out", "resource", "cancel", "memout", "memory", "interrupted"};

        for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
                if (strcasestr(reason, limits[i]))
                        return true;
        return false;
}

/* Asks again, and why. False: it does not say unknown twice, or names a limit of its own. */
static int ask_reason(struct chain *ch, unsigned version, char reason[REASON_MOST], bool *ret)
{
        cleanup_buffer struct buffer text = {0}, output = {0};
        struct answer again;
        int r;

        buffer_add(&text, ch->text.data, ch->text.size);
        buffer_adds(&text, "(get-info :reason-unknown)\n");
        if (buffer_error(&text) < 0)
                return -ENOMEM;
        r = trial_run_text(&ch->trial, version, SLICE(text.data, text.size), ch->campaign->settings->timeout, &again, &output);
        if (r < 0)
                return r;
        read_reason(&output, reason);
        *ret = again.verdict == VERDICT_UNKNOWN && !is_limit(reason);
        return 0;
}

static int judge_unknown(struct chain *ch)
{
        enum finding_kind kind = FINDING_IMPLICATION;
        char reason[REASON_MOST];
        int reference = -1, r;
        bool is_so;

        for (unsigned v = 0; v < ch->target && reference < 0; v++)
                if (verdict_is_decided(ch->trial.answers[v].verdict)) {
                        reference = (int)v;
                        kind = FINDING_REGRESSION;
                }
        if ((reference < 0 && ch->step == 0) || is_filed(ch, kind, ch->target))
                return 0;
        r = ask_reason(ch, ch->target, reason, &is_so);
        if (r < 0)
                return r;
        return is_so ? file(ch, kind, reference, ch->target, reason)
                     : note(ch, &(struct campaign_record){.event = EVENT_FOUND, .version = ch->target, .kind = kind});
}

/* Crashes and answers that contradict what is implied. 1: one did, so that the chain cannot go on. */
static int who_says(const struct chain *ch, enum verdict answer)
{
        for (unsigned v = 0; v < ch->campaign->n_compared; v++)
                if (ch->trial.answers[v].verdict == answer)
                        return (int)v;
        return -1;
}

static int judge_errors(struct chain *ch)
{
        enum verdict implied = ch->implied;
        bool is_wrong = false;
        int r = 0;

        for (unsigned v = 0; r == 0 && v < ch->campaign->n_compared; v++) {
                struct answer *a = &ch->trial.answers[v];

                if (a->verdict == VERDICT_CRASH && !is_filed(ch, FINDING_CRASH, v)) {
                        if (!*a->ending) /* remembered from the journal, which has no endings */
                                r = trial_run_text(&ch->trial, v, ch->input.text, ch->campaign->settings->timeout, a, NULL);
                        if (r == 0 && a->verdict == VERDICT_CRASH)
                                r = file(ch, FINDING_CRASH, -1, v, a->ending);
                }
                if (r == 0 && verdict_is_decided(a->verdict) && verdict_is_decided(implied) && a->verdict != implied) {
                        is_wrong = true;
                        if (!is_filed(ch, FINDING_SOUNDNESS, v))
                                r = file(ch, FINDING_SOUNDNESS, who_says(ch, implied), v, verdict_name(a->verdict));
                }
        }
        return r < 0 ? r : is_wrong;
}

/* -- the chain -- */

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
        if (is_known)
                memcpy(ch->before, seed->base[mode], c->n_compared * sizeof(*ch->before));
        ch->implied = seed->implied;
        pthread_mutex_unlock(&c->lock);
        if (is_known)
                return seed->is_out[mode];
        r = run_all(ch);
        if (r < 0)
                return r;
        for (size_t v = 0; v < c->n_compared; v++)
                ch->before[v] = ch->trial.answers[v].verdict;
        pthread_mutex_lock(&c->lock);
        seed_judge(c, seed, mode);
        ch->implied = seed->implied;
        pthread_mutex_unlock(&c->lock);
        r = judge_errors(ch);
        if (r == 0 && ch->trial.answers[ch->target].verdict == VERDICT_UNKNOWN)
                r = judge_unknown(ch);
        return r < 0 ? r : seed->is_out[mode] || r;
}

static void advance(struct chain *ch)
{
        struct buffer text = ch->now_text;

        for (size_t v = 0; v < ch->campaign->n_compared; v++)
                ch->before[v] = ch->trial.answers[v].verdict;
        weaken_step_print(ch->hunt->weaken, &ch->applied, &ch->lines);
        script_free(ch->now);
        ch->now = steal_pointer(ch->next);
        ch->now_text = ch->text;
        ch->text = text;
}

/* 1: the chain ends here. */
static int step(struct chain *ch)
{
        const struct weaken_options options = {.size_most = ch->size_most, .keeps = keeps, .user = ch};
        enum weaken_direction direction = ch->implied == VERDICT_SAT ? WEAKEN : STRENGTHEN;
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
        r = run_all(ch);
        if (r == 0)
                r = judge_errors(ch);
        if (r == 0 && ch->trial.answers[ch->target].verdict == VERDICT_UNKNOWN)
                r = judge_unknown(ch);
        if (r == 0 && verdict_is_decided(ch->trial.answers[ch->target].verdict))
                advance(ch);
        return r;
}

static bool is_over(struct campaign *c)
{
        bool over;

        pthread_mutex_lock(&c->lock);
        over = c->is_over;
        pthread_mutex_unlock(&c->lock);
        return over;
}

static bool is_in_logic(const char *logic, char what)
{
        const char *theories = strncmp(logic, "QF_", 3) == 0 ? logic + 3 : logic;

        return strchr(theories, what) != NULL;
}

static int chain_open(struct bench_seat *seat, const struct strategy_input *input, struct chain *ch)
{
        struct campaign *c = seat->campaign;
        const struct buffer *text;
        uint64_t largest = 0;
        int r;

        *ch = (struct chain){.seat = seat,
                             .campaign = c,
                             .hunt = unknown_hunt_of(c),
                             .id = input->id,
                             .target = (unsigned)c->n_compared - 1,
                             .before = calloc(c->n_compared, sizeof(enum verdict))};
        ch->trial = (struct trial){.seat = seat, .input = &ch->input, .answers = calloc(c->n_versions, sizeof(struct answer))};
        if (!ch->before || !ch->trial.answers)
                return -ENOMEM;
        chain_place_of(c, input->id, &ch->place);
        text = &ch->place.seed->text[ch->place.mode];
        if (ch->place.mode == LOGIC_STATED && *ch->place.seed->logic && strcmp(ch->place.seed->logic, "ALL") != 0) {
                const char *logic = ch->place.seed->logic;

                ch->quantifier_free = strncmp(logic, "QF_", 3) == 0;
                ch->linear = is_in_logic(logic, 'L') && !is_in_logic(logic, 'N');
        }
        r = script_read(SLICE(text->data, text->size),
                        &(struct script_options){.name = ch->place.seed->name, .dialect = c->dialect, .is_dialect_fixed = true},
                        &ch->now);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ch->now->n_commands; i++)
                if (ch->now->commands[i].kind == COMMAND_ASSERT)
                        largest = MAX(largest, ch->now->commands[i].term->tree_size);
        ch->size_most = MAX((uint64_t)SIZE_MOST, largest + largest / 2);
        buffer_add(&ch->now_text, text->data, text->size);
        buffer_add(&ch->text, text->data, text->size);
        ch->input = (struct strategy_input){.id = input->id, .text = SLICE(ch->text.data, ch->text.size), .source = "seed"};
        return buffer_error(&ch->text) < 0 || buffer_error(&ch->now_text) < 0 ? -ENOMEM : 0;
}

static int finish(struct chain *ch)
{
        struct campaign *c = ch->campaign;
        struct unknown_hunt *h = ch->hunt;
        size_t n = 0;
        int r;

        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &(struct campaign_record){.event = EVENT_FINISH, .id = ch->id});
        for (size_t i = 0; i < h->n_left; i++)
                if (h->left[i].id != ch->id)
                        h->left[n++] = h->left[i];
        h->n_left = n;
        pthread_mutex_unlock(&c->lock);
        return r;
}

int chain_try(struct bench_seat *seat, const struct strategy_input *input)
{
        cleanup(chain_done) struct chain ch;
        int r = chain_open(seat, input, &ch);

        if (r == 0)
                r = begin_at_seed(&ch);
        for (ch.step = 1; r == 0 && ch.step <= ch.place.steps; ch.step++) {
                if (is_over(seat->campaign))
                        return 0; /* it goes on here when the campaign does */
                r = step(&ch);
        }
        return r < 0 ? r : finish(&ch);
}
