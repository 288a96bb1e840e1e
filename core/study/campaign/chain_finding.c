/* A step's find: its signature, and the finding that is kept of it. */
#include "core/study/campaign/chain.h"

#include <inttypes.h>

#include "cache/base/fault.h"

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

/* The operators and quantifiers that the last step brought in. */
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
        return weaken_rule(ch->hunt->weaken, ch->applied.rule);
}

static const char *logic_of(const struct chain *ch)
{
        return ch->place.mode == LOGIC_ALL ? "ALL" : *ch->place.seed->logic ? ch->place.seed->logic : "-";
}

static void print_signature(const struct chain *ch, const struct chain_find *find, struct buffer *ret)
{
        const char *version = ch->campaign->versions[find->version]->text;

        buffer_addf(ret, "%s\t%s\t", observation_kind_name(find->kind), version);
        if (find->kind == FINDING_CRASH) { /* the place in the program tells more than the rule */
                buffer_adds(ret, "-\t-\t-");
        } else {
                buffer_addf(ret, "%s\t", logic_of(ch));
                if (ch->next)
                        buffer_addf(ret, "%s %s\t", rule_of(ch)->name, ch->applied.direction == WEAKEN ? "weaken" : "strengthen");
                else
                        buffer_adds(ret, "-\t");
                print_operators(ch, ret);
        }
        buffer_adds(ret, "\t");
        buffer_add_printable(ret, find->reason);
}

/* -- keeping it -- */

static int add_case(const struct chain *ch, const char *name, const struct buffer *text, uint32_t *ret)
{
        return cases_add_unlisted(workspace_cases(ch->campaign->workspace), name, SLICE(text->data, text->size), ret);
}

static int fill(struct chain *ch, struct observation *f, const struct chain_find *find, const char *signature)
{
        struct campaign *c = ch->campaign;
        const struct seed *seed = ch->place.seed;
        cleanup_buffer struct buffer chain = {0};
        char name[200];
        int r;

        f->kind = find->kind;
        buffer_add(&chain, ch->lines.data, ch->lines.size);
        if (ch->next)
                weaken_step_print(ch->hunt->weaken, &ch->applied, &chain);
        observation_set(&f->chain, chain.data);
        observation_set(&f->reason, find->reason);
        observation_set(&f->signature, signature);
        trial_set_versions(f, find->reference < 0 ? NULL : c->versions[find->reference], c->versions[find->version]);
        trial_add_answers(&ch->trial, f);
        r = add_case(ch, seed->name, &seed->text[ch->place.mode], &f->seed_id);
        /* The formula that the target decided is reduced together with the one that follows from it. */
        snprintf(name, sizeof(name), "%s-%" PRIu64 "-%u-decided.smt2", c->settings->name, ch->id, ch->step);
        if (r == 0 && ch->next && (find->kind == FINDING_IMPLICATION || find->kind == FINDING_SOUNDNESS))
                r = add_case(ch, name, &ch->now_text, &f->decided_id);
        return r;
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
                buffer_addf(ret, "%s says %s, %s is implied", name, verdict_name(a[find->version].verdict),
                            verdict_name(ch->implied));
        else if (find->kind == FINDING_REGRESSION)
                buffer_addf(ret, "%s says %s, %s unknown: %s", versions[find->reference]->name,
                            verdict_name(a[find->reference].verdict), name, find->reason);
        else
                buffer_addf(ret, "%s decided it before the last rule, and says unknown: %s", name, find->reason);
        buffer_addf(ret, "; %s from %s", ch->next ? rule_of(ch)->name : "as it is", ch->place.seed->name);
}

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

/* *ret_number stays 0 where the find did not show again. */
static int store(struct chain *ch, const struct chain_find *find, const char *signature, uint32_t *ret_number)
{
        cleanup_observation struct observation *f = observation_new();
        cleanup_buffer struct buffer what = {0};
        bool is_so;
        int r = is_repeated(ch, find, &is_so);

        if (r < 0 || !is_so)
                return r;
        r = fill(ch, f, find, signature);
        describe(ch, find, &what);
        if (r == 0)
                r = trial_keep(&ch->trial, f, what.data);
        if (r >= 0)
                *ret_number = f->number;
        return r < 0 ? r : fault_at("campaign.found");
}

int chain_file(struct chain *ch, const struct chain_find *find)
{
        struct campaign *c = ch->campaign;
        cleanup_buffer struct buffer signature = {0};
        struct campaign_record r = {.event = EVENT_FOUND, .version = find->version, .kind = find->kind};
        uint32_t number = 0;
        int k = 0;

        print_signature(ch, find, &signature);
        if (signature_claim(c, signature.data, ch->text.size, &number) == CLAIM_STORE) {
                k = store(ch, find, signature.data, &number);
                r.is_find = signature_stored(c, signature.data, k < 0 ? 0 : number, ch->text.size);
        }
        r.cause = number;
        return k < 0 ? k : chain_note(ch, &r);
}
