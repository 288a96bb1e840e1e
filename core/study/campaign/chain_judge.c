/* The meaning of the answers to a mutant: unknown where it should be decided, a crash, an answer that contradicts the chain's. */
#include "core/study/campaign/chain.h"

#define REASON_MOST 160

/* -- unknown -- */

/* Reads "(:reason-unknown …)" from the output, without quotes; "" where there is none. */
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

/* Does the reason name a limit of the solver's own? Running into one is no incompleteness. */
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
        r = trial_run_text(&ch->trial, version, 0, SLICE(text.data, text.size), ch->campaign->settings->timeout, &again, &output);
        if (r < 0)
                return r;
        read_reason(&output, reason);
        *ret = again.verdict == VERDICT_UNKNOWN && !is_limit(reason);
        return 0;
}

static int judge_unknown(struct chain *ch)
{
        enum observation_kind kind = FINDING_IMPLICATION;
        char reason[REASON_MOST];
        int reference = -1, r;
        bool is_so;

        for (unsigned v = 0; v < ch->target && reference < 0; v++)
                if (verdict_is_decided(ch->trial.answers[v].verdict)) {
                        reference = (int)v;
                        kind = FINDING_REGRESSION;
                }
        if ((reference < 0 && ch->step == 0) || chain_has_filed(ch, kind, ch->target))
                return 0;
        r = ask_reason(ch, ch->target, reason, &is_so);
        if (r < 0)
                return r;
        return is_so ? chain_file(ch, &(struct chain_find){kind, reference, ch->target, reason})
                     : chain_note(ch, &(struct campaign_record){.event = EVENT_FOUND, .version = ch->target, .kind = kind});
}

/* -- crashes and contradictions -- */

static int who_says(const struct chain *ch, enum verdict answer)
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
        return chain_file(ch, &(struct chain_find){FINDING_CRASH, -1, version, a->ending});
}

/* 1: an answer contradicts what is implied. */
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
                        r = chain_file(ch, &(struct chain_find){FINDING_SOUNDNESS, who_says(ch, ch->implied), v, verdict_name(a->verdict)});
        }
        return r < 0 ? r : is_wrong;
}

int chain_judge(struct chain *ch)
{
        int r = judge_errors(ch);

        return r == 0 && ch->trial.answers[ch->target].verdict == VERDICT_UNKNOWN ? judge_unknown(ch) : r;
}
