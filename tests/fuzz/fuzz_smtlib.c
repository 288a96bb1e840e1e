/* SMT-LIB: what is read is printed in every dialect and read again as the same terms; and
 * rewriting what was read keeps the promises of core/smtlib/term.h. */
#include "core/smtlib/print.h"
#include "core/smtlib/smtlib_internal.h"
#include "fuzz.h"

#define TEXT_MOST   ((size_t)16 << 20)

static bool same_terms(const struct script *a, const struct script *b)
{
        if (a->n_commands != b->n_commands)
                return false;
        for (size_t i = 0; i < a->n_commands; i++) {
                const struct command *x = &a->commands[i], *y = &b->commands[i];

                if (x->term != y->term || x->function != y->function || x->n_terms != y->n_terms || x->levels != y->levels)
                        return false;
                for (size_t k = 0; k < x->n_terms; k++)
                        if (x->terms[k] != y->terms[k])
                                return false;
        }
        return true;
}

static void print_and_read(struct script *s, enum dialect d)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_script struct script *again = NULL;
        struct print_options print = {.dialect = d, .term_bytes_most = TEXT_MOST};
        struct script_options o = {.dialect = d, .bank = s->bank, .is_dialect_fixed = true};
        int r = script_print(s, &print, &text);

        if (r == -EFBIG)
                return;
        must(r == 0);
        r = script_read(SLICE(text.data, text.size), &o, &again);
        if (r < 0)
                fprintf(stderr, "%s\n%.*s\n", error_message(r), (int)text.size, text.data);
        must(r == 0);
        if (!same_terms(s, again))
                fprintf(stderr, "%.*s\n", (int)text.size, text.data);
        must(same_terms(s, again));
}

static const struct term *same(void *user, struct bank *b, const struct term *t)
{
        return t;
}

/* What must hold of any term. */
static void rewrite(struct bank *b, const struct term *t)
{
        cleanup_bank struct bank *other = bank_new();
        cleanup_term_places struct term_places places = {0};
        cleanup_term_list struct term_list subterms = {0}, variables = {0};
        const struct term *copy, *from, *to;

        if (t->tree_size > 100000)
                return;
        must(term_rewrite(b, t, same, NULL) == t);
        must(other && (copy = term_copy(other, t)));
        must(copy->tree_size == t->tree_size && copy->depth == t->depth && copy->is_open == t->is_open);
        must(term_copy(b, copy) == t);
        term_subterms(&t, 1, &subterms);
        must(subterms.list[subterms.n - 1] == t && subterms.n == term_dag_size(t));
        term_free_variables(t, &variables);
        must((variables.n > 0) == t->is_open);
        term_places(t, 1000, &places);
        for (size_t i = 0; i < places.n; i += 1 + places.n / 8)
                must(term_replace_at(b, &places, i, places.list[i].term) == t);
        from = subterms.list[subterms.n / 2];
        to = term_fresh_variable(b, "fuzz", from->sort);
        must(to);
        copy = term_substitute(b, t, &from, &to, 1);
        must(copy || bank_error(b) == -EINVAL);
        if (copy)
                must(copy != t || from->kind == TERM_VARIABLE || from->is_open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input in = {data, size};
        uint8_t flags = take_byte(&in);
        struct script_options o = {
                .dialect = (enum dialect)(flags % N_DIALECTS),
                .is_strict = flags & 4,
        };
        cleanup_script struct script *s = NULL;
        int r = script_read(SLICE(in.data, in.size), &o, &s);

        must(r == 0 || r == -EINVAL || r == -ENOMEM);
        if (r < 0)
                return 0;
        for (size_t i = 0; i < s->n_commands && i < 16; i++)
                if (s->commands[i].term && s->commands[i].kind == COMMAND_ASSERT)
                        rewrite(s->bank, s->commands[i].term);
        for (enum dialect d = DIALECT_2_0; d < N_DIALECTS; d++)
                print_and_read(s, d);
        return 0;
}
