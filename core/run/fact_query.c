#include "core/run/fact_query.h"

#include <inttypes.h>

#include "cache/base/record.h"
#include "core/run/cell_file.h"

#define ANSWER_SIZE 16 /* in fact.answers: when an answer came(8), the peak memory until then(8) */

void fact_take_answers(struct fact *f, const struct run_result *t)
{
        const struct verdicts *v = &t->verdicts;
        cleanup_buffer struct buffer b = {0};

        for (size_t i = 0; i < v->n && (v->n > 1 || !v->is_answer); i++) {
                uint64_t when = timeline_when(&t->run.printed, v->ends[i]);

                if (when == UINT64_MAX)
                        return; /* not known: then of none */
                record_put_u64(&b, when);
                record_put_u64(&b, i + 1 < v->n || !v->is_answer ? timeline_amount(&t->run.grown, when) : t->run.memory);
        }
        if (b.size > 0)
                buffer_steal(&b, &f->answers);
}

/* Reads the lines of `result`: one for each answer, then how the run ended if not with an answer. Returns their number. */
static size_t read_results(const struct fact *f, uint32_t query, enum verdict *ret)
{
        struct slice line, rest = SLICE(f->results.data, f->results.size);
        size_t n = 0;

        *ret = f->verdict;
        while (slice_next_line(&rest, &line))
                if (++n == query)
                        verdict_find(line, ret);
        return n;
}

static struct query_answer answer_at(const struct fact *f, size_t i)
{
        struct record r = record_of(SLICE((const char *)f->answers.data + i * ANSWER_SIZE, ANSWER_SIZE));
        uint64_t ns = record_u64(&r);

        return (struct query_answer){.ns = ns, .memory = record_u64(&r)};
}

int fact_query_answer(const struct fact *f, uint32_t query, struct query_answer *ret)
{
        const size_t known = f->answers.size / ANSWER_SIZE; /* answers with a time; a single answer has the run's */
        struct query_answer own = {.ns = f->wall_ns, .memory = f->memory}, before = {0};
        enum verdict verdict;
        size_t n = read_results(f, query, &verdict);

        assert(query > 0);
        if (known == 0 && n != 1)
                return -ENOENT;
        if (query <= known)
                own = answer_at(f, query - 1);
        if (query > 1 && query - 1 <= known)
                before = answer_at(f, query - 2);
        *ret = (struct query_answer){.verdict = verdict, .is_reached = query <= MAX(known, n)}; /* the query of how it ended, too */
        if (ret->is_reached) {
                ret->ns = own.ns > before.ns ? own.ns - before.ns : 0;
                ret->memory = own.memory;
        }
        return 0;
}

int fact_of_query(const struct fact *f, uint32_t query, struct fact **ret)
{
        struct query_answer a;
        struct fact *q;
        char *line;
        int r = fact_query_answer(f, query, &a);

        if (r < 0)
                return r;
        line = format_string("%s\n", verdict_name(a.verdict));
        q = allocate(1, sizeof(*q));
        *q = *f;
        q->refs = 1;
        q->wrong = false;
        q->verdict = a.verdict;
        q->results = (struct blob){.data = line, .size = strlen(line), .owned = line};
        q->uncertain_from = f->uncertain_from > 0 && query >= f->uncertain_from; /* its one answer is, or is not */
        q->answers = q->out = q->err = q->json = (struct blob){0};
        q->not_started = f->not_started ? copy_string(f->not_started) : NULL;
        q->memory = a.memory;
        if (a.verdict != VERDICT_TIMEOUT) { /* its time is the limit, as for every timeout */
                const double share = f->wall_ns == 0 ? 0 : (double)a.ns / (double)f->wall_ns;

                q->wall_ns = a.ns;
                q->cpu_ns = (uint64_t)((double)f->cpu_ns * share);
                q->waited_ns = (uint64_t)((double)f->waited_ns * share);
        }
        *ret = q;
        return 0;
}

void fact_print_queries(const struct fact *f, const uint32_t *lines, size_t n, struct buffer *ret)
{
        buffer_adds(ret, "query\tline\tresult\tseconds\tmemory\n");
        for (size_t i = 0; i < n; i++) {
                struct query_answer a = {0};
                bool is_known = fact_query_answer(f, (uint32_t)i + 1, &a) == 0 && a.is_reached;

                buffer_addf(ret, "%zu\t%" PRIu32 "\t%s\t%s\t%s\n", i + 1, lines[i], is_known ? verdict_name(a.verdict) : "-",
                            is_known ? format_seconds(a.ns).s : "-", format_memory(a.memory).s);
        }
}
