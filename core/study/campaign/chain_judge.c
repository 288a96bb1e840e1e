/* Judges the answers to a mutant: unknown though it should be decided, a crash, an answer that contradicts the chain's. Each is stored as a finding, or
 * counted if there is one of its signature. */
#include "core/study/campaign/campaign_unknown.h"

#include <inttypes.h>

#include "cache/base/fault.h"
#include "core/smtlib/print.h"
#include "core/study/campaign/unknown_reason.h"

struct chain_find {
        enum observation_kind kind;
        int reference; /* a version with the right answer; -1: none */
        unsigned version;
        const char *reason; /* why it is unknown, how it crashed, or its answer */
};

/* -- a find as an observation -- */

/* Marks the operators in a script's assertions; behind them forall and exists. */
static void add_operators(const struct script *s, bool has[N_OPS + 2])
{
        cleanup_term_list struct term_list roots = {0}, all = {0};

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(&roots, s->commands[i].term);
        term_subterms(roots.list, roots.n, &all);
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_OPERATOR)
                        has[all.list[i]->op] = true;
                else if (all.list[i]->kind == TERM_FORALL || all.list[i]->kind == TERM_EXISTS)
                        has[N_OPS + (all.list[i]->kind == TERM_EXISTS)] = true;
}

/* The operators and quantifiers that the last step added. */
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

static const struct rule_row *rule_of(const struct chain *ch)
{
        return weaken_rule(ch->unknowns->weaken, ch->applied.rule);
}

/* KIND VERSION LOGIC RULE OPERATORS REASON, between tabs; "-" for what there is not. */
static void print_signature(const struct chain *ch, const struct chain_find *find, struct buffer *ret)
{
        const char *version = ch->campaign->versions[find->version]->text, *stated = *ch->place.seed->logic ? ch->place.seed->logic : "-";

        buffer_addf(ret, "%s\t%s\t", observation_kind_name(find->kind), version);
        if (find->kind == FINDING_CRASH) { /* the place in the program tells more than the rule */
                buffer_adds(ret, "-\t-\t-");
        } else {
                buffer_addf(ret, "%s\t", ch->place.mode == LOGIC_ALL ? "ALL" : stated);
                if (ch->next)
                        buffer_addf(ret, "%s %s\t", rule_of(ch)->name, ch->applied.direction == WEAKEN ? "weaken" : "strengthen");
                else
                        buffer_adds(ret, "-\t");
                print_operators(ch, ret);
        }
        buffer_adds(ret, "\t");
        buffer_add_printable(ret, find->reason);
}

static int add_case(const struct chain *ch, const char *name, const struct buffer *text, uint32_t *ret)
{
        return cases_add_unlisted(workspace_cases(ch->campaign->workspace), name, SLICE(text->data, text->size), ret);
}

static int fill_observation(struct chain *ch, struct observation *f, const struct chain_find *find, const char *signature)
{
        struct campaign *c = ch->campaign;
        const struct seed_formula *seed = ch->place.seed;
        cleanup_buffer struct buffer chain = {0}, decided = {0};
        char name[200];
        int r;

        f->kind = find->kind;
        buffer_add(&chain, ch->lines.data, ch->lines.size);
        if (ch->next)
                weaken_step_print(ch->unknowns->weaken, &ch->applied, &chain);
        set_string(&f->chain, chain.data);
        set_string(&f->reason, find->reason);
        set_string(&f->signature, signature);
        trial_set_versions(f, find->reference < 0 ? NULL : c->versions[find->reference], c->versions[find->version]);
        trial_add_answers(&ch->trial, f);
        r = add_case(ch, seed->name, &seed->text[ch->place.mode], &f->seed_id);
        /* The formula that the target decided is reduced together with the one that follows from it. */
        snprintf(name, sizeof(name), "%s-%" PRIu64 "-%u-decided.smt2", c->settings->name, ch->id, ch->step);
        if (r < 0 || !ch->next || (find->kind != FINDING_IMPLICATION && find->kind != FINDING_SOUNDNESS))
                return r;
        return script_print(ch->now, &(struct print_options){.dialect = c->dialect}, &decided)
            ?: add_case(ch, name, &decided, &f->decided_id);
}

/* The line in the log: "unknown where 1.8 says sat: (reason)". */
static void describe(const struct chain *ch, const struct chain_find *find, struct buffer *ret)
{
        struct version *const *versions = ch->campaign->versions;
        const struct answer *a = ch->trial.answers;
        const char *name = versions[find->version]->name;

        buffer_addf(ret, "%s: ", observation_kind_name(find->kind));
        if (find->kind == FINDING_CRASH)
                buffer_addf(ret, "%s crashed (%s)", name, find->reason);
        else if (find->kind == FINDING_SOUNDNESS)
                buffer_addf(ret, "%s says %s, %s is implied", name, verdict_name(a[find->version].verdict), verdict_name(ch->implied));
        else if (find->kind == FINDING_REGRESSION)
                buffer_addf(ret, "%s says %s, %s unknown: %s", versions[find->reference]->name,
                            verdict_name(a[find->reference].verdict), name, find->reason);
        else
                buffer_addf(ret, "%s decided it before the last rule, and says unknown: %s", name, find->reason);
        buffer_addf(ret, "; %s from %s", ch->next ? rule_of(ch)->name : "as it is", ch->place.seed->name);
}

/* -- filing a find -- */

/* Runs the reference again, and the version too unless its reason was asked for in another run. Nothing is claimed on one run. */
static int is_repeated(struct chain *ch, const struct chain_find *find, bool *ret)
{
        bool is_asked = find->kind == FINDING_REGRESSION || find->kind == FINDING_IMPLICATION;
        int r = 0;

        *ret = true;
        for (unsigned v = 0; r == 0 && *ret && v < ch->campaign->n_compared; v++) {
                struct answer again;

                if ((int)v != find->reference && (v != find->version || is_asked))
                        continue;
                r = trial_run_text(&ch->trial, v, 0, ch->input.text, ch->campaign->settings->timeout, &again, NULL);
                *ret = r == 0 && again.verdict == ch->trial.answers[v].verdict;
        }
        return r;
}

/* Stores the find, or counts it if there is one of its signature. */
static int file_find(struct chain *ch, const struct chain_find *find)
{
        struct campaign *c = ch->campaign;
        cleanup_observation struct observation *f = observation_new();
        cleanup_buffer struct buffer signature = {0}, what = {0};
        struct campaign_record r = {.event = EVENT_FOUND, .version = find->version, .kind = find->kind};
        bool shows_again = false;
        uint32_t number = 0; /* stays 0 if the find does not show again */
        int k = 0;

        print_signature(ch, find, &signature);
        if (signature_claim(c, signature.data, ch->text.size, &number)) {
                k = is_repeated(ch, find, &shows_again);
                if (k == 0 && shows_again)
                        k = fill_observation(ch, f, find, signature.data);
                if (k == 0 && shows_again) {
                        describe(ch, find, &what);
                        k = trial_keep(&ch->trial, f, what.data);
                        number = k < 0 ? 0 : f->number;
                        k = k < 0 ? k : fault_at("campaign.found");
                }
                r.is_find = signature_stored(c, signature.data, k < 0 ? 0 : number, ch->text.size);
        }
        r.finding = number;
        return k < 0 ? k : chain_note(ch, &r);
}

/* -- judging the answers of a step -- */

/* Asks again, and for the reason. False: the second answer is not unknown, or the reason names a limit of the solver's own. */
static int ask_reason(struct chain *ch, unsigned version, char reason[REASON_MOST], bool *ret)
{
        cleanup_buffer struct buffer text = {0}, output = {0};
        struct answer again;
        int r;

        buffer_add(&text, ch->text.data, ch->text.size);
        buffer_adds(&text, "(get-info :reason-unknown)\n");
        if (buffer_error(&text) < 0)
                return -ENOMEM;
        r = trial_run_text(&ch->trial, version, 0, SLICE(text.data, text.size), ch->campaign->settings->timeout, &again, &output);
        if (r < 0)
                return r;
        unknown_reason(SLICE(output.data, output.size), reason);
        *ret = again.verdict == VERDICT_UNKNOWN && !reason_is_limit(reason);
        return 0;
}

/* A regression if a reference decides the formula, else an implication: the target decided what it follows from. A seed has nothing that implies it. */
static int judge_unknown(struct chain *ch)
{
        enum observation_kind kind = FINDING_IMPLICATION;
        char reason[REASON_MOST];
        int reference = -1, r;
        bool shows_again;

        for (unsigned v = 0; v < ch->target && reference < 0; v++)
                if (verdict_is_decided(ch->trial.answers[v].verdict)) {
                        reference = (int)v;
                        kind = FINDING_REGRESSION;
                }
        if ((reference < 0 && ch->step == 0) || chain_has_filed(ch, kind, ch->target))
                return 0;
        r = ask_reason(ch, ch->target, reason, &shows_again);
        if (r < 0)
                return r;
        return shows_again ? file_find(ch, &(struct chain_find){kind, reference, ch->target, reason})
                           : chain_note(ch, &(struct campaign_record){.event = EVENT_FOUND, .version = ch->target, .kind = kind});
}

/* The first version with this answer; -1: none. */
static int version_with(const struct chain *ch, enum verdict answer)
{
        for (unsigned v = 0; v < ch->campaign->n_compared; v++)
                if (ch->trial.answers[v].verdict == answer)
                        return (int)v;
        return -1;
}

static int judge_crash(struct chain *ch, unsigned version)
{
        struct answer *a = &ch->trial.answers[version];
        int r = 0;

        if (chain_has_filed(ch, FINDING_CRASH, version))
                return 0;
        if (!*a->ending) /* recalled from the journal, which has no endings */
                r = trial_run_text(&ch->trial, version, 0, ch->input.text, ch->campaign->settings->timeout, a, NULL);
        if (r < 0 || a->verdict != VERDICT_CRASH)
                return r;
        return file_find(ch, &(struct chain_find){FINDING_CRASH, -1, version, a->ending});
}

/* 1: an answer contradicts the implied one. */
static int judge_errors(struct chain *ch)
{
        bool is_wrong = false;
        int r = 0;

        for (unsigned v = 0; r == 0 && v < ch->campaign->n_compared; v++) {
                const struct answer *a = &ch->trial.answers[v];

                if (a->verdict == VERDICT_CRASH)
                        r = judge_crash(ch, v);
                if (r < 0 || !verdict_is_decided(a->verdict) || !verdict_is_decided(ch->implied) || a->verdict == ch->implied)
                        continue;
                is_wrong = true;
                if (!chain_has_filed(ch, FINDING_SOUNDNESS, v))
                        r = file_find(ch, &(struct chain_find){FINDING_SOUNDNESS, version_with(ch, ch->implied), v, verdict_name(a->verdict)});
        }
        return r < 0 ? r : is_wrong;
}

int chain_judge(struct chain *ch)
{
        int r = judge_errors(ch);

        return r == 0 && ch->trial.answers[ch->target].verdict == VERDICT_UNKNOWN ? judge_unknown(ch) : r;
}
