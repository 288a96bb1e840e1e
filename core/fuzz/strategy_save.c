/* A strategy's state as bytes, so that a campaign can go on without repeating all earlier calls. A formula is kept as text, in the dialect with a
 * name for every operator; printed text is read as the same terms (core/smtlib/print.h). */
#include "core/fuzz/strategy_internal.h"

#define VERSION 3 /* of these bytes; those of another one are refused */

static void transfer_random(struct transfer *t, struct random *r)
{
        for (size_t i = 0; i < ARRAY_SIZE(r->state); i++)
                transfer_u64(t, &r->state[i]);
}

static int read_formula(struct slice text, bool is_cnf, struct formula *ret)
{
        return is_cnf ? cnf_parse(text, &ret->cnf)
                      : script_read(text, &(struct script_options){.dialect = DIALECT_2_6, .is_dialect_fixed = true}, &ret->script);
}

void transfer_formula(struct transfer *t, struct formula *f)
{
        cleanup_buffer struct buffer text = {0};
        uint64_t dialect = f->script ? (uint64_t)f->script->dialect : 0;
        bool is_cnf = f->cnf != NULL;

        if (t->to && (formula_print(f, DIALECT_2_6, &text) < 0 || buffer_error(&text) < 0))
                t->to->failed = true;
        transfer_bool(t, &is_cnf);
        transfer_u64(t, &dialect);
        transfer_bytes(t, &text);
        if (t->to || t->from.error < 0)
                return;
        if (read_formula(SLICE(text.data, text.size), is_cnf, f) < 0)
                record_fail(&t->from);
        else if (f->script)
                f->script->dialect = (enum dialect)dialect;
}

void transfer_shape(struct transfer *t, struct shape *s)
{
        if (transfer_reads(t))
                *s = (struct shape){0};
        transfer_count(t, &s->n, sizeof(*s->parts));
        if (transfer_reads(t))
                s->parts = allocate(s->n, sizeof(*s->parts));
        for (size_t i = 0; i < s->n; i++)
                transfer_u16(t, &s->parts[i]);
}

void transfer_shapes(struct transfer *t, struct shape **list, size_t *n)
{
        transfer_count(t, n, sizeof(uint64_t));
        for (size_t i = 0; i < *n; i++) {
                if (transfer_reads(t))
                        list_grow(*list, i);
                transfer_shape(t, &(*list)[i]);
        }
}

/* Most parts were never seen, so only the others are written. */
void transfer_counts(struct transfer *t, struct shape_counts *c)
{
        size_t n = 0;

        for (uint32_t i = 0; i < SHAPE_BUCKETS; i++)
                n += c->seen[i] != 0;
        transfer_count(t, &n, sizeof(uint16_t) + sizeof(double));
        for (uint32_t i = 0; n > 0; n--) {
                uint16_t part;
                double seen;

                while (t->to && c->seen[i] == 0)
                        i++;
                part = (uint16_t)i++;
                seen = c->seen[part];
                transfer_u16(t, &part);
                transfer_real(t, &seen);
                c->seen[part] = (float)seen;
        }
}

void transfer_bandit(struct transfer *t, struct bandit *b)
{
        transfer_same(t, b->n);
        transfer_reals(t, b->successes, b->n);
        transfer_reals(t, b->failures, b->n);
}

/* An input under way. Its source is the name of its arm. */
static void transfer_input(struct strategy *s, struct transfer *t, struct input *i)
{
        struct strategy_arm arms[N_OPS];
        size_t n_arms = strategy_arms(s, arms, ARRAY_SIZE(arms));
        uint64_t arm = i->arm;

        if (transfer_reads(t)) {
                i->outcomes = allocate(s->options.versions, sizeof(*i->outcomes));
                i->ran = allocate(s->options.versions, sizeof(*i->ran));
                i->parent = SIZE_MAX;
                i->is_out = true;
        }
        transfer_u64(t, &i->id);
        transfer_u64(t, &arm);
        transfer_u64(t, &i->lineage);
        transfer_formula(t, &i->formula);
        transfer_bytes(t, &i->text);
        transfer_shape(t, &i->shape);
        for (unsigned v = 0; v < s->options.versions; v++) {
                transfer_bool(t, &i->ran[v]);
                transfer_real(t, &i->outcomes[v].seconds);
                i->outcomes[v].verdict = (enum verdict)transfer_choice(t, i->outcomes[v].verdict, N_VERDICTS);
        }
        if (arm >= n_arms)
                record_fail(&t->from);
        i->arm = arm;
        i->source = arm < n_arms ? arms[arm].name : "";
}

void strategy_transfer(struct strategy *s, struct transfer *t)
{
        size_t n = s->n_under_way;

        transfer_same(t, VERSION);
        transfer_same(t, s->options.versions);
        transfer_random(t, &s->random);
        transfer_random(t, generator_random(s->generator));
        generator_transfer(s->generator, t);
        transfer_u64(t, &s->last_id);
        transfer_count(t, &n, 1);
        for (size_t i = 0; i < n; i++) {
                if (transfer_reads(t))
                        list_add(s->under_way, s->n_under_way, allocate(1, sizeof(struct input)));
                transfer_input(s, t, s->under_way[i]);
        }
        s->type->transfer(s, t);
}
