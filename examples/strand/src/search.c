/* Depth-first search over the alternatives of each split, with the reasons of contradictions: an alternative
 * that did not take part in one makes its siblings superfluous. */
#include "search.h"
#include "label.h"

static struct state *apply(struct search *s, const struct state *st, const struct branch *b, dep *decision, dep *why)
{
        struct state *c = state_copy(st);
        dep *d = dep_union(s, decision, why);

        /* removals first, from the back of each list */
        if (b->drop_eq)
                c->eqs.d[b->drop_eq - 1] = vec_pop(&c->eqs);
        if (b->drop_mem)
                c->mems.d[b->drop_mem - 1] = vec_pop(&c->mems);
        if (b->drop_neq)
                c->neqs.d[b->drop_neq - 1] = vec_pop(&c->neqs);
        if (b->drop_lack)
                c->lacks.d[b->drop_lack - 1] = vec_pop(&c->lacks);
        if (b->drop_link)
                c->links.d[b->drop_link - 1].done = true;
        for (uint32_t i = 0; i < b->eqs; i++)
                state_eq(s, c, b->eq[i].l, b->eq[i].r, d);
        for (uint32_t i = 0; i < b->mems; i++)
                state_member(s, c, b->mem[i].w, b->mem[i].a, d);
        for (uint32_t i = 0; i < b->neqs; i++)
                vec_push(&c->neqs, (struct negation){b->neq[i].l, b->neq[i].r, d});
        for (uint32_t i = 0; i < b->lacks; i++)
                vec_push(&c->lacks, (struct negation){b->lack[i].l, b->lack[i].r, d});
        for (uint32_t i = 0; i < b->links; i++) {
                vec_push(&c->links, *b->link[i]);
                vec_last(&c->links).why = d;
        }
        c->overlaps += b->overlap;
        return c;
}

/* The arena as it was, but for the conflict that is handed up. */
static dep *release(struct search *s, struct arena_chunk *chunk, size_t used, dep *conflict)
{
        uint64_t *keep = util_alloc(8 * s->dep_words);
        uint64_t *r;

        if (conflict)
                memcpy(keep, conflict, 8 * s->dep_words);
        while (s->scratch.head != chunk) {
                struct arena_chunk *c = s->scratch.head;

                s->scratch.head = c->next;
                free(c);
        }
        if (chunk)
                chunk->used = used;
        r = conflict ? arena_dup(&s->scratch, keep, 8 * s->dep_words) : NULL;
        free(keep);
        return r;
}

static bool stop(const struct search *s)
{
        return s->nodes > s->node_limit || (s->zed->deadline > 0 && strand_now() > s->zed->deadline);
}

static enum outcome visit(struct search *s, struct state *st, uint32_t depth, dep **conflict)
{
        enum outcome result = OUT_UNSAT;
        struct split split = {};
        dep *acc = s->no_reason;
        uint32_t bit = s->nlits + depth, fresh = 0;

        s->nodes++;
        s->stats->nodes++;
        if (!state_simplify(s, st, conflict)) {
                result = OUT_UNSAT;
                goto out;
        }
        if (arrange_refute(s, st, conflict) || member_refute(s, st, conflict)) {
                result = OUT_UNSAT;
                goto out;
        }
        if (!s->opt->no_length) {
                result = state_check_lengths(s, st, conflict);
                if (result != OUT_SAT)
                        goto out;
        }
        if (depth + 1 >= s->max_depth || stop(s)) {
                s->limited = true;
                result = OUT_UNKNOWN;
                goto out;
        }
        split.why = s->no_reason;
        if (!arrange_split(s, st, &split) && !member_split(s, st, &split)) {
                if (s->opt->no_length) {
                        result = state_check_lengths(s, st, conflict);
                        if (result != OUT_SAT)
                                goto out;
                }
                for (size_t i = 0; s->opt->labels && i < s->asserted.n; i++) {
                        fputs("arrangement: ", stderr);
                        label_print_arrangement(stderr, s, st, &s->asserted.d[i], 0, NULL);
                }
                result = leaf_solve(s, st, &split);
                s->stats->arrangements++;
                if (result != OUT_UNSAT)
                        goto out;
        }
        s->stats->splits++;
        result = split.incomplete ? OUT_UNKNOWN : OUT_UNSAT;
        acc = split.why;
        fresh = s->nfresh; /* the split's own fresh variables stay below */
        for (size_t i = 0; i < split.way.n; i++) {
                struct arena_chunk *chunk = s->scratch.head;
                size_t used = chunk ? chunk->used : 0;
                dep *sub = NULL, *decision = split.way.n == 1 && !split.incomplete ? s->no_reason : dep_of(s, bit);
                const struct branch *b = &split.way.d[i];
                struct state *c = apply(s, st, b, decision, split.why);
                enum outcome r = OUT_UNSAT;
                bool ok = true;

                for (uint32_t k = 0; k < b->facts && ok; k++)
                        ok = state_fact(s, c, b->fact[k], dep_union(s, decision, split.why), &sub);
                if (ok)
                        r = visit(s, c, depth + 1, &sub);
                state_free(c);
                s->nfresh = fresh;
                sub = release(s, chunk, used, r == OUT_UNSAT ? sub : NULL);
                if (r == OUT_SAT) {
                        result = OUT_SAT;
                        break;
                }
                if (r == OUT_UNKNOWN) {
                        result = OUT_UNKNOWN;
                        if (stop(s))
                                break;
                        continue;
                }
                s->stats->dead_ends++;
                if (!dep_has(sub, bit)) { /* the contradiction is none of this split's */
                        acc = sub;
                        result = OUT_UNSAT;
                        break;
                }
                acc = dep_union(s, acc, dep_without(s, sub, bit));
        }
        *conflict = acc;
out:
        vec_free(&split.way);
        return result;
}

enum outcome search_run(struct search *s, struct state *st, dep **conflict)
{
        return visit(s, st, 0, conflict);
}
