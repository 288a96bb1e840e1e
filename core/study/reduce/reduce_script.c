/* All steps of a script, in passes. */
#include "core/study/reduce/reduce_steps.h"

/* Without comments and what stands between the commands. 1: that is the text now. */
static int strip(struct steps *steps, bool *ret_is_opaque)
{
        cleanup_state struct script_state s = {0};
        cleanup_buffer struct buffer text = {0};
        int r = script_state_load(steps, &s);

        if (r < 0)
                return r;
        steps->dialect = s.script->dialect;
        steps->has_dialect = true;
        *ret_is_opaque = s.script->n_opaque_commands > 0 || s.script->n_opaque_terms > 0;
        for (size_t i = 0; i < s.script->n_commands; i++)
                state_add_bytes(&s, i, &text);
        if (buffer_error(&text) < 0)
                return -ENOMEM;
        return s.script->n_commands == 0 ? 0 : reduce_offer(steps->reducer, SLICE(text.data, text.size));
}

static int step_single(struct steps *steps, const struct step *step)
{
        size_t at = 0;
        int taken;

        do {
                cleanup_state struct script_state s = {0};
                cleanup_term_list struct term_list all = {0};
                cleanup(script_changes_done) struct script_changes c = {.state = &s};
                int r = script_state_load(steps, &s);

                if (r < 0)
                        return r;
                state_list_terms(&s, &all);
                step->list(&s, &all, &c);
                taken = reduce_first(steps->reducer, step->goes_on ? at : 0, step->count ? step->count(c.n) : c.n, step->make, &c, &at);
                steps->any |= taken > 0;
        } while (taken > 0);
        return taken;
}

static int run_step(struct steps *steps, const struct step *step)
{
        int r;

        reduce_stage(steps->reducer, step->stage);
        if (!step->choose)
                return step->list ? step_single(steps, step) : step->run(steps);
        do
                r = steps_sweep_commands(steps, step->choose);
        while (r > 0 && step->again);
        return r;
}

int reduce_script(struct reducer *r, bool *ret_is_script, bool *ret_is_opaque)
{
        static const struct step list[] = {
                {"commands", .choose = choose_commands},
                {"declarations", .choose = choose_unused,
                 .again = true}, /* one leads to another: a definition uses what others declare */
                {"tidying", .choose = choose_untidy},
                {"constants", .run = step_constants_to_zero},
                {"constants", .list = list_constant_values, .make = make_constant, .goes_on = true},
                {"definitions", .run = step_inline},
                {"equalities", .list = list_equalities, .make = make_equality, .count = equality_count},
                {"tidying", .choose = choose_untidy},
                {"terms", .run = step_terms},
                {"tidying", .choose = choose_untidy},
                {"operators", .list = list_rewrites, .make = make_single, .goes_on = true},
                {"quantifiers and definitions", .list = list_binders, .make = make_single},
                {"definitions", .choose = choose_bodies},
                {"layout", .choose = choose_all},
                {"names", .run = step_names},
                {"arguments and literals", .run = step_parts, .is_fine = true},
                {"places", .list = list_places, .make = make_single, .goes_on = true, .is_fine = true},
                {"terms from elsewhere", .list = list_elsewhere, .make = make_single, .goes_on = true, .is_fine = true},
                {"two at once", .list = list_zeros, .make = make_pair, .count = pair_count, .is_fine = true},
        };
        struct steps steps = {.reducer = r};
        bool any = false;
        int k = strip(&steps, ret_is_opaque);

        *ret_is_script = k == 1;
        if (k != 1)
                return k == -EINVAL ? 0 : k;
        do {
                steps.any = false;
                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        k = steps.any && list[i].is_fine ? 0 : run_step(&steps, &list[i]);
                        if (k < 0)
                                return k;
                }
                any |= steps.any;
                steps.pass++;
        } while (steps.any);
        return any;
}
