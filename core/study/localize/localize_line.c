#include "core/study/localize/localize_internal.h"

static bool is_whole(const struct line *line)
{
        return line->at && line->first && line->last && line->place && line->again;
}

/* Makes a line of the commits on the chain, newest first; programs that follow themselves are one place. */
static int line_make(struct localize *l, const size_t *chain, size_t n, size_t from, size_t to, struct line **ret)
{
        struct line *line = calloc(1, sizeof(*line));

        if (!line)
                return -ENOMEM;
        line->from = from;
        line->to = to;
        line->at = calloc(n, sizeof(*line->at));
        line->place = calloc(l->n, sizeof(*line->place));
        line->again = calloc(n, sizeof(*line->again));
        line->first = calloc(n, sizeof(*line->first));
        line->last = calloc(n, sizeof(*line->last));
        line->next = l->lines;
        l->lines = line; /* freed with it */
        if (!is_whole(line))
                return -ENOMEM;
        for (size_t i = n; i-- > 0;) {
                size_t program = l->program[chain[i]];

                if (line->n > 0)
                        line->last[line->n - 1] = chain[i + (line->at[line->n - 1] != program)];
                if (line->n > 0 && line->at[line->n - 1] == program)
                        continue;
                line->first[line->n] = line->last[line->n] = chain[i];
                line->at[line->n++] = program;
                if (line->place[program] == 0) {
                        line->place[program] = (uint32_t)line->n;
                } else {
                        uint32_t at = line->place[program];

                        while (line->again[at - 1] > 0)
                                at = line->again[at - 1];
                        line->again[at - 1] = (uint32_t)line->n;
                }
        }
        *ret = line;
        return 0;
}

static struct line *line_known(struct localize *l, size_t from, size_t to)
{
        for (struct line *line = l->lines; line; line = line->next)
                if (line->from == from && line->to == to && is_whole(line))
                        return line;
        return NULL;
}

int line_get(struct localize *l, size_t from, size_t to, struct line **ret)
{
        cleanup_free size_t *chain = NULL;
        size_t n = 0;

        *ret = line_known(l, from, to);
        if (*ret)
                return 0;
        chain = calloc(l->n, sizeof(*chain));
        if (!chain)
                return -ENOMEM;
        for (size_t at = to;; at = l->commits[at].parents[0]) {
                chain[n++] = at;
                if (at == from)
                        return line_make(l, chain, n, from, to, ret);
                if (at < from || l->commits[at].n_parents == 0)
                        return -EINVAL;
        }
}

int line_of_side(struct localize *l, size_t merge, size_t k, struct line **ret)
{
        cleanup_free size_t *chain = NULL;
        cleanup_free bool *reached = NULL;
        size_t n = 0, tip = l->commits[merge].parents[k];

        *ret = NULL;
        chain = calloc(l->n, sizeof(*chain));
        reached = calloc(l->n, sizeof(*reached));
        if (!chain || !reached)
                return -ENOMEM;
        reached[l->commits[merge].parents[0]] = true;
        for (size_t i = l->commits[merge].parents[0] + 1; i-- > 0;) /* children have the higher numbers */
                for (size_t p = 0; reached[i] && p < l->commits[i].n_parents; p++)
                        reached[l->commits[i].parents[p]] = true;
        for (size_t at = tip;; at = l->commits[at].parents[0]) {
                chain[n++] = at;
                if (reached[at])
                        break;
                if (l->commits[at].n_parents == 0)
                        return 0; /* a history of its own was merged: nothing to compare it with */
        }
        if (n == 1)
                return 0;
        *ret = line_known(l, chain[n - 1], tip);
        return *ret ? 0 : line_make(l, chain, n, chain[n - 1], tip, ret);
}
