/* The lines that are searched: along first parents, and along what a merge brought. */
#include "core/study/localize/localize_internal.h"

/* The line of the commits on a chain, which is newest first. Consecutive equal programs are one place. Lines are cached. */
static struct line *line_make(struct localize *l, const size_t *chain, size_t n)
{
        struct line *line = l->lines;

        while (line && (line->from != chain[n - 1] || line->to != chain[0]))
                line = line->next;
        if (line)
                return line;
        line = allocate(1, sizeof(*line));
        *line = (struct line){.next = l->lines,
                              .from = chain[n - 1],
                              .to = chain[0],
                              .at = allocate(n, sizeof(*line->at)),
                              .first = allocate(n, sizeof(*line->first)),
                              .last = allocate(n, sizeof(*line->last)),
                              .place = allocate(l->n, sizeof(*line->place)),
                              .again = allocate(n, sizeof(*line->again))};
        l->lines = line; /* freed with it */
        for (size_t i = n; i-- > 0;) {
                size_t program = l->program[chain[i]];
                uint32_t *next = &line->place[program];

                if (line->n > 0)
                        line->last[line->n - 1] = chain[i + (line->at[line->n - 1] != program)];
                if (line->n > 0 && line->at[line->n - 1] == program)
                        continue;
                line->first[line->n] = line->last[line->n] = chain[i];
                line->at[line->n++] = program;
                while (*next > 0)
                        next = &line->again[*next - 1];
                *next = (uint32_t)line->n;
        }
        return line;
}

struct line *line_get(struct localize *l, size_t from, size_t to)
{
        cleanup_free size_t *chain = allocate(l->n, sizeof(*chain));
        size_t n = 0;

        for (size_t at = to;; at = l->commits[at].parents[0]) {
                chain[n++] = at;
                if (at == from)
                        return line_make(l, chain, n);
                if (at < from || l->commits[at].n_parents == 0)
                        return NULL;
        }
}

struct line *line_of_side(struct localize *l, size_t merge, size_t k)
{
        cleanup_free size_t *chain = allocate(l->n, sizeof(*chain));
        cleanup_free bool *reached = allocate(l->n, sizeof(*reached));
        size_t n = 0;

        reached[l->commits[merge].parents[0]] = true;
        for (size_t i = l->commits[merge].parents[0] + 1; i-- > 0;) /* children have the higher numbers */
                for (size_t p = 0; reached[i] && p < l->commits[i].n_parents; p++)
                        reached[l->commits[i].parents[p]] = true;
        for (size_t at = l->commits[merge].parents[k];; at = l->commits[at].parents[0]) {
                chain[n++] = at;
                if (reached[at])
                        return n > 1 ? line_make(l, chain, n) : NULL;
                if (l->commits[at].n_parents == 0)
                        return NULL; /* an unrelated history was merged: nothing to compare it with */
        }
}
