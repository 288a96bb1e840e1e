/* The queries of a finding's script, by the kept runs of both versions: which of them the target takes longer for. */
#include <math.h>

#include "core/query/seeds_known.h"
#include "core/run/fact_query.h"
#include "core/study/base/stat.h"
#include "core/study/base/version.h"
#include "core/study/observation/finding.h"
#include "core/study/observation/observation_internal.h"

#define ROWS 5 /* queries that the report has */

struct query_times {
        uint32_t number, line;
        double *seconds[2]; /* owned: of the reference's runs and the target's */
        size_t n[2];
        double median[2];
};

struct script_times {
        struct query_times *list; /* owned */
        size_t n;
        unsigned which; /* whose runs are being read */
};

static void script_times_done(struct script_times *t)
{
        for (size_t i = 0; i < t->n; i++)
                for (unsigned k = 0; k < 2; k++)
                        free(t->list[i].seconds[k]);
        free(t->list);
}

static int add_run(void *user, uint32_t, const struct fact *fact)
{
        struct script_times *t = user;

        for (size_t i = 0; i < t->n; i++) {
                struct query_times *q = &t->list[i];
                struct query_answer a;

                if (fact_query_answer(fact, q->number, &a) < 0 || !a.is_reached)
                        break; /* nor is any behind it */
                list_add(q->seconds[t->which], q->n[t->which], (double)a.ns / 1e9);
        }
        return 0;
}

static int add_version(struct workspace *w, struct solver *s, const struct observation *f, const struct case_info *info, struct script_times *t)
{
        cleanup_version struct version *v = NULL;
        struct digest build;
        int r = version_parse(w, s, t->which == 0 ? f->reference : f->target, -1, &v)
            ?: build_key(v->solver->history, v->commit, v->solver->recipe, &build);

        if (r == 0) {
                struct cell cell = {.solver = v->solver, .commit = v->commit, .info = (struct case_info *)info};

                finding_set_cell(f, &cell);
                r = draws_known(w, &cell, &build, UINT32_MAX, false, add_run, t);
        }
        return r;
}

static int compare_extra(const void *a, const void *b)
{
        const struct query_times *x = a, *y = b;
        double p = x->median[1] - x->median[0], q = y->median[1] - y->median[0];

        return isnan(q) ? -!isnan(p) : isnan(p) || p < q ? 1 : -(p > q); /* those that a version never came to: last */
}

/* The rows of those that take longer, the greatest difference first. */
static void print(struct script_times *t, const char *name, struct buffer *ret)
{
        for (size_t i = 0; i < t->n; i++)
                for (unsigned k = 0; k < 2; k++)
                        t->list[i].median[k] = stat_median(t->list[i].seconds[k], t->list[i].n[k]);
        sort_list(t->list, t->n, sizeof(*t->list), compare_extra);
        buffer_addf(ret, "## Queries\n\nThe input is a script of %zu queries. Seconds from one answer to the next, medians of the runs that are kept:\n\n"
                         "| query | line | reference | target |\n|---|---|---|---|\n", t->n);
        for (size_t i = 0; i < MIN(t->n, ROWS) && t->list[i].median[1] > t->list[i].median[0]; i++) {
                cleanup_free char *query = format_string("%s#%u", name, t->list[i].number);

                buffer_adds(ret, "| ");
                buffer_add_markdown_code(ret, query);
                buffer_addf(ret, " | %u | %.3g | %.3g |\n", t->list[i].line, t->list[i].median[0], t->list[i].median[1]);
        }
        buffer_adds(ret, "\n");
}

void finding_add_queries(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(script_times_done) struct script_times t = {0};
        cleanup_blob struct blob bytes = {0};
        cleanup_free uint32_t *lines = NULL;
        size_t n_lines;

        if (!version_begins_with_sha(f->reference) || !version_begins_with_sha(f->target) || cases_get(workspace_cases(w), f->case_id, &info) < 0 ||
            info->n_expected < 2)
                return;
        t.n = info->n_expected;
        t.list = allocate(t.n, sizeof(*t.list));
        for (size_t i = 0; i < t.n; i++)
                t.list[i].number = (uint32_t)i + 1;
        for (; t.which < 2; t.which++)
                if (add_version(w, s, f, info, &t) < 0 || t.list[0].n[t.which] == 0)
                        return;
        if (cases_read_bytes(workspace_cases(w), info, CASE_SIZE_MAX, &bytes) < 0)
                return;
        case_question_lines(info->format, SLICE(bytes.data, bytes.size), &lines, &n_lines);
        for (size_t i = 0; i < MIN(t.n, n_lines); i++)
                t.list[i].line = lines[i];
        print(&t, info->name, ret);
}
