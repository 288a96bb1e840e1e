#include "core/why/options/restoring.h"

#define TOLD_MOST 20 /* options in one line; there are more only if the runs were used up early */

static void flips_free(struct restoring_flip *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(list[i].argument);
        free(list);
}

void restoring_answer_done(struct restoring_answer *a)
{
        flips_free(a->flips, a->n);
        flips_free(a->dropped, a->n_dropped);
        free(a->mirror);
        *a = (struct restoring_answer){0};
}

void restoring_add_line(const struct restoring_answer *a, struct buffer *to)
{
        if (a->n == 0 && a->is_cut_off)
                buffer_addf(to, "no options are known to restore it: %ju runs were used up after %zu sets of %zu options", (uintmax_t)a->runs, a->sets,
                            a->candidates);
        else if (a->n == 0)
                buffer_addf(to, "no options restore it: %zu tried in %zu sets, by %ju runs", a->candidates, a->sets, (uintmax_t)a->runs);
        if (a->n == 0)
                return;
        for (size_t i = 0; i < MIN(a->n, (size_t)TOLD_MOST); i++)
                buffer_addf(to, "%s ", a->flips[i].argument);
        if (a->n > TOLD_MOST)
                buffer_addf(to, "and %zu more ", a->n - TOLD_MOST);
        buffer_addf(to, "%s it (%s; %zu of %zu %s", a->n > 1 ? "together restore" : "restores",
                    judge_amount_text(JUDGE_TIME, a->seconds[RESTORING_FLIPPED]).s, a->fast[RESTORING_FLIPPED], a->seeds[RESTORING_FLIPPED],
                    a->has_seeds ? "seeds" : "runs");
        if (!judge_is_regression(a->change))
                buffer_addf(to, ", the reference %zu and the target %zu of %zu", a->fast[RESTORING_REFERENCE], a->fast[RESTORING_TARGET],
                            a->seeds[RESTORING_TARGET]);
        buffer_adds(to, ")");
}

static json_t *json_flips(const struct restoring_flip *list, size_t n)
{
        json_t *ret = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(ret, json_pack("{ss ss*}", "argument", list[i].argument, "why", list[i].why));
        return ret;
}

json_t *restoring_json(const struct restoring_answer *a)
{
        static const char *const sides[] = {"reference", "target", "flipped"};
        cleanup_buffer struct buffer line = {0};
        json_t *j;

        restoring_add_line(a, &line);
        j = json_pack("{ss so so sb sI sI sI sI sI ss}", "line", line.data, "flips", json_flips(a->flips, a->n), "dropped",
                      json_flips(a->dropped, a->n_dropped), "cut_off", (int)a->is_cut_off, "runs", (json_int_t)a->runs, "candidates",
                      (json_int_t)a->candidates, "set_aside", (json_int_t)a->set_aside, "sets", (json_int_t)a->sets, "seeds_shown",
                      (json_int_t)a->shown, "change", judge_change_name(a->change, JUDGE_TIME));
        for (int side = 0; side < (a->n > 0 ? N_RESTORING_SIDES : RESTORING_FLIPPED); side++) {
                json_t *o = json_pack("{sI sI sf}", "seeds", (json_int_t)a->seeds[side], "fast", (json_int_t)a->fast[side], "seconds", a->seconds[side]);

                if (side < RESTORING_FLIPPED)
                        json_object_update_new(o, json_pack("{sI sI sI}", "options", (json_int_t)a->listed[side], "passed_over",
                                                            (json_int_t)a->passed_over[side], "unread", (json_int_t)a->unread[side]));
                json_object_set_new(j, sides[side], o);
        }
        if (a->n > 0)
                json_object_update_new(j, json_pack("{ss ss}", "effect", judge_change_name(a->effect, JUDGE_TIME), "rest",
                                                    judge_change_name(a->remaining, JUDGE_TIME)));
        if (a->mirror)
                json_object_set_new(j, "mirror", json_pack("{ss sI sI}", "arguments", a->mirror, "runs", (json_int_t)a->mirrored, "slow",
                                                           (json_int_t)a->mirrored_slow));
        return j;
}
