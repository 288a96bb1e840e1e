/* The current text as a script, and candidates made of it. */
#include "core/study/reduce/reduce_steps.h"

void script_state_done(struct script_state *s)
{
        buffer_done(&s->text);
        script_free(s->script);
        term_list_done(&s->constants);
        term_list_done(&s->fresh);
}

bool command_has_terms(const struct command *c)
{
        return c->term || (c->n_terms > 0 && c->kind != COMMAND_DEFINE_FUN && c->kind != COMMAND_DEFINE_FUN_REC);
}

bool command_declares(const struct command *c)
{
        return (c->kind == COMMAND_DECLARE_FUN || c->kind == COMMAND_DECLARE_CONST) && c->function;
}

int script_state_load(struct reduce_steps *steps, struct script_state *ret)
{
        struct script_options o = {.dialect = steps->dialect, .is_dialect_fixed = steps->has_dialect};
        bool is_early = true;
        int r;

        *ret = (struct script_state){0};
        reduce_require_names(steps->reducer, NULL); /* first: a large script is not held twice */
        r = reduce_set_text(&ret->text, reduce_text(steps->reducer))
            ?: script_read(SLICE(ret->text.data, ret->text.size), &o, &ret->script);
        if (r < 0)
                return r;
        reduce_require_names(steps->reducer, ret->script->bank);
        ret->first_term = ret->script->n_commands;
        for (size_t i = 0; i < ret->script->n_commands; i++) {
                const struct command *c = &ret->script->commands[i];

                if (command_has_terms(c))
                        ret->first_term = MIN(ret->first_term, i);
                is_early &= i < ret->first_term && c->kind != COMMAND_PUSH;
                if (is_early && command_declares(c) && c->function->n_args == 0)
                        term_list_add(&ret->constants, term_constant(ret->script->bank, c->function));
        }
        return 0;
}

void state_add_bytes(const struct script_state *s, size_t i, struct buffer *ret)
{
        const struct span *at = &s->script->commands[i].span;

        buffer_add(ret, s->text.data + at->begin, at->end - at->begin);
        buffer_adds(ret, "\n");
}

/* With lets or without, whichever is shorter. */
int state_add_printed(const struct script_state *s, struct command c, struct buffer *ret)
{
        cleanup_buffer struct buffer shared = {0}, tree = {0};
        struct print_options o = {.dialect = s->script->dialect, .decimal_bits = true};
        const struct buffer *shorter = &shared;
        int r = command_print(s->script, &c, &o, &shared);

        if (r < 0)
                return r;
        o.no_lets = true;
        o.term_bytes_most = shared.size;
        r = command_print(s->script, &c, &o, &tree);
        if (r < 0 && r != -EFBIG)
                return r;
        if (r == 0 && tree.size < shared.size)
                shorter = &tree;
        buffer_add(ret, shorter->data, shorter->size);
        buffer_adds(ret, "\n");
        return 0;
}

void script_changes_done(struct script_changes *c)
{
        free(c->list);
}

void script_changes_add(struct script_changes *c, const struct term *from, const struct term *to)
{
        if (!to || to == from)
                return;
        list_add(c->list, c->n, (struct replacement){from, to});
}

static int add_fresh_declarations(const struct script_changes *c, struct buffer *ret)
{
        const struct script_state *s = c->state;
        int r = 0;

        for (size_t k = 0; r == 0 && k < s->fresh.n; k++) {
                struct command declaration = {.kind = COMMAND_DECLARE_FUN, .function = s->fresh.list[k]->function};
                bool is_used = false;

                for (size_t i = 0; i < c->n; i++)
                        is_used |= c->list[i].to == s->fresh.list[k];
                if (is_used)
                        r = state_add_printed(s, declaration, ret);
        }
        return r;
}

/* The command with the changes in its terms. 1: it is another. -ENOENT: they do not fit. */
static int change_command(const struct script_changes *c, struct command *command, const struct term ***ret_terms)
{
        bool is_term = command->term, is_changed = false;
        size_t n = is_term ? 1 : command->n_terms;
        const struct term *const *terms = is_term ? &command->term : command->terms;
        const struct term **changed = *ret_terms = allocate(n, sizeof(*changed));

        for (size_t i = 0; i < n; i++) {
                changed[i] = term_replaced(c->state->script->bank, terms[i], c->list, c->n);
                if (!changed[i])
                        return -ENOENT;
                is_changed |= changed[i] != terms[i];
        }
        if (is_term)
                command->term = changed[0];
        else
                command->terms = changed;
        return is_changed;
}

static int compare_functions(const void *a, const void *b)
{
        const struct function *x = *(const struct function *const *)a, *y = *(const struct function *const *)b;

        return ORDER(x->id, y->id);
}

int text_with_all(const struct script_changes *c, struct buffer *ret)
{
        const struct script_state *s = c->state;
        cleanup_free const struct function **dropped = NULL;
        size_t n_dropped = 0;

        for (size_t i = 0; c->drops && i < c->n; i++)
                if (c->list[i].from->kind == TERM_FUNCTION)
                        list_add(dropped, n_dropped, c->list[i].from->function);
        sort_list(dropped, n_dropped, sizeof(*dropped), compare_functions);
        for (size_t i = 0; i < s->script->n_commands; i++) {
                struct command command = s->script->commands[i];
                cleanup_free const struct term **terms = NULL;
                int r = i == s->first_term ? add_fresh_declarations(c, ret) : 0;

                if ((command_declares(&command) || command.kind == COMMAND_DEFINE_FUN) && command.function &&
                    find_in_list(&command.function, dropped, n_dropped, sizeof(*dropped), compare_functions))
                        continue;
                if (r == 0 && command_has_terms(&command))
                        r = change_command(c, &command, &terms);
                if (r == 0)
                        state_add_bytes(s, i, ret);
                else if (r == 1)
                        r = state_add_printed(s, command, ret);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int text_with_changes(void *user, const bool *is_on, struct buffer *ret)
{
        struct script_changes c = *(const struct script_changes *)user;
        cleanup_free struct replacement *list = allocate(c.n, sizeof(*list));
        size_t n = 0;

        for (size_t i = 0; i < c.n; i++)
                if (is_on[i])
                        list[n++] = c.list[i];
        c.list = list;
        c.n = n;
        return text_with_all(&c, ret);
}

int steps_sweep_changes(struct reduce_steps *steps, struct script_changes *c, size_t chunk)
{
        return reduce_sweep(steps->reducer, c->n, chunk, text_with_changes, c);
}
