/* The string search: is a conjunction of literals satisfiable? */
#pragma once
#include "state.h"

/* One alternative of a case split, relative to the node's state. */
struct branch {
        struct {
                const struct word *l, *r;
        } eq[4];
        struct {
                const struct word *w;
                struct aut *a;
        } mem[4];
        struct {
                const struct word *l, *r;
        } neq[2], lack[1];
        const struct link *link[2]; /* more of these */
        tid fact[4];
        uint32_t neqs, eqs, mems, facts, lacks, links;
        int drop_eq, drop_mem, drop_neq, drop_lack, drop_link; /* index + 1; 0: none */
        bool overlap;                                          /* unfolds a variable over itself */
};

struct split {
        VEC(struct branch) way; /* exhaustive; tried in order */
        dep *why;               /* the reasons for its being exhaustive */
        bool incomplete;        /* it is not exhaustive after all */
};

static inline void branch_eq(struct branch *b, const struct word *l, const struct word *r)
{
        b->eq[b->eqs].l = l;
        b->eq[b->eqs++].r = r;
}
static inline void branch_fact(struct branch *b, tid f)
{
        b->fact[b->facts++] = f;
}
static inline void branch_mem(struct branch *b, const struct word *w, struct aut *a)
{
        b->mem[b->mems].w = w;
        b->mem[b->mems++].a = a;
}

/* arrange.c: splits on word equations */
bool arrange_refute(struct search *s, const struct state *st, dep **conflict);
bool arrange_split(struct search *s, struct state *st, struct split *out);
/* member.c: splits on memberships of words with several variables */
bool member_refute(struct search *s, struct state *st, dep **conflict);
bool member_split(struct search *s, struct state *st, struct split *out);
/* replace.c: a function that replaces what is in a regular language, by its leftmost match */
void replace_split(struct search *s, const struct link *l, size_t at, struct split *out);
/* leaf.c: all equations solved, each variable with its language */
enum outcome leaf_solve(struct search *s, struct state *st, struct split *out);

/* Searches below a state, which it consumes. OUT_UNSAT: *conflict says why (in s->scratch). */
enum outcome search_run(struct search *s, struct state *st, dep **conflict);
