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

int reduce_script(struct reducer *r, bool *ret_is_script, bool *ret_is_opaque)
{
        static const struct {
                int (*run)(struct steps *steps);
                bool is_fine; /* many candidates for few bytes: only where the pass has taken nothing so far */
        } list[] = {{step_commands},     {step_unused},          {step_tidy},
                    {step_constants},    {step_inline},          {step_equalities},
                    {step_tidy},         {step_terms},           {step_tidy},
                    {step_rewrites},     {step_binders},         {step_bodies},
                    {step_print},        {step_names},           {step_parts, true},
                    {step_places, true}, {step_elsewhere, true}, {step_pairs, true}};
        struct steps steps = {.reducer = r};
        bool any = false;
        int k = strip(&steps, ret_is_opaque);

        *ret_is_script = k == 1;
        if (k != 1)
                return k == -EINVAL ? 0 : k;
        do {
                steps.any = false;
                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        k = steps.any && list[i].is_fine ? 0 : list[i].run(&steps);
                        if (k < 0)
                                return k;
                }
                any |= steps.any;
                steps.pass++;
        } while (steps.any);
        return any;
}
