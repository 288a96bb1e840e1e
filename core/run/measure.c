#include "core/run/measure.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "cache/base/fault.h"
#include "cache/base/json.h"
#include "core/run/cell_file.h"
#include "core/run/fact_query.h"
#include "core/sandbox/surroundings.h"

struct taken { /* one sample with all its data */
        struct run_result result;
        struct sample sample;
        bool short_of_cpu; /* a timeout with less CPU time than the limit, for an unknown reason */
};

struct measurement {
        const struct measure_request *request;
        struct runner *runner;
        struct taken *taken;
        size_t n, chosen;
        size_t retries; /* samples taken in place of a disturbed one */
        bool disturbed; /* all samples were */
};

static void measurement_done(struct measurement *m)
{
        if (!m->request->opened)
                runner_close(m->runner);
        for (size_t i = 0; i < m->n; i++)
                run_result_done(&m->taken[i].result);
        free(m->taken);
}

/* -- one run -- */

/* Runs the program; a second time if something outside may have ended the run (run_check_doubt()). */
static int run_without_doubt(const struct measurement *m, struct run_result *ret)
{
        const struct measure_request *q = m->request;
        int r = 1;

        for (bool again = false; r == 1; again = true)
                r = runner_run(m->runner, &(struct run_input){.path = q->case_path, .id = q->case_id, .questions = q->n_expected}, q->cancel_fd, ret)
                    ?: run_check_doubt(ret, q->runner.programs[0].name, again);
        return r;
}

static bool is_repeatable(enum verdict v)
{
        return v == VERDICT_SAT || v == VERDICT_UNSAT || v == VERDICT_UNKNOWN;
}

/* A negligible share of a time. */
static uint64_t small_share(uint64_t ns)
{
        return MAX(ns / MEASURE_WAITING_SHARE, MEASURE_WAITING_LEAST);
}

static bool is_disturbed(const struct execute_result *r)
{
        int as_if = fault_at("measure.sample"); /* a test's word: -EBUSY is disturbed, any other error is not */

        if (as_if < 0)
                return as_if == -EBUSY;
        return r->doubt == DOUBT_PAUSE || r->waited_ns + r->stolen_ns > small_share(r->wall_ns); /* the second one that stood still for a while */
}

/* It timed out by the clock with CPU time left: it slept, or something that no counter shows kept it from running. */
static bool is_short_of_cpu(const struct measurement *m, const struct sample *s)
{
        const uint64_t wall = m->request->runner.limits.wall_ns, cpu = m->request->runner.limits.cpu_ns,
                       limit = cpu != 0 ? MIN(wall, cpu) : wall;

        return s->verdict == VERDICT_TIMEOUT && wall != 0 && s->cpu_ns + small_share(limit) < limit;
}

static int take_sample(struct measurement *m)
{
        const struct measure_request *q = m->request;
        struct taken *t = &m->taken[m->n];
        int r = run_without_doubt(m, &t->result);

        if (r < 0)
                return r;
        m->n++; /* from here measurement_done() frees it */
        t->sample = (struct sample){
                .verdict = t->result.verdict,
                .wall_ns = t->result.run.wall_ns,
                .cpu_ns = t->result.run.user_ns + t->result.run.system_ns,
                .memory = t->result.run.memory,
                .waited_ns = t->result.run.waited_ns + t->result.run.stolen_ns,
                .wrong = verdict_is_wrong(&t->result.verdicts, q->expected, q->n_expected),
        };
        t->sample.disturbed =
                (is_repeatable(t->sample.verdict) || t->sample.verdict == VERDICT_TIMEOUT) && is_disturbed(&t->result.run);
        if (t->sample.verdict == VERDICT_TIMEOUT)
                t->sample.wall_ns = timeout_ns(t->sample.wall_ns, &q->runner.limits);
        t->short_of_cpu = !t->sample.disturbed && is_short_of_cpu(m, &t->sample);
        return 0;
}

/* -- repetition -- */

static int compare_times(const void *a, const void *b)
{
        const struct taken *const *x = a, *const *y = b;

        return timeout_order((*x)->sample.verdict, (*y)->sample.verdict) ?: ORDER((*x)->sample.wall_ns, (*y)->sample.wall_ns)
               ?: ORDER(*x, *y); /* the earlier, so that the choice is unique */
}

static size_t count_short(const struct measurement *m)
{
        size_t n = 0;

        for (size_t i = 0; i < m->n; i++)
                n += m->taken[i].short_of_cpu;
        return n;
}

static size_t most_samples(const struct measurement *m)
{
        return MAX(m->request->runner.recipe->samples, 1u);
}

/* Noise in a measurement limited to one sample is only flagged. */
static size_t most_retries(const struct measurement *m)
{
        return most_samples(m) > 1 ? MEASURE_RETRIES : 0;
}

/* The samples that count, by wall time: those that were not disturbed. One timeout short of CPU does not count, two do. `ret` has room for m->n. */
static size_t sort_samples(const struct measurement *m, const struct taken **ret)
{
        bool believed = count_short(m) >= 2 || most_retries(m) == 0;
        size_t n = 0;

        for (size_t i = 0; i < m->n; i++)
                if (!m->taken[i].sample.disturbed && (believed || !m->taken[i].short_of_cpu))
                        ret[n++] = &m->taken[i];
        sort_list(ret, n, sizeof(*ret), compare_times);
        return n;
}

/* Chooses among disturbed samples: an answer before a timeout, then the smallest share of waiting. */
static size_t least_disturbed(const struct measurement *m)
{
        size_t best = 0;

        for (size_t i = 1; i < m->n; i++) {
                const struct sample *a = &m->taken[i].sample, *b = &m->taken[best].sample;
                double waited_a = (double)a->waited_ns * (double)b->wall_ns, waited_b = (double)b->waited_ns * (double)a->wall_ns; /* as shares */

                if ((timeout_order(a->verdict, b->verdict) ?: ORDER(waited_a, waited_b)) < 0)
                        best = i;
        }
        return best;
}

/* True if further samples could change the lower median. With `left` to come, the final median lies among the present ones between its place at the end
 * and `left` places before. */
static bool can_change(const struct measurement *m, const struct taken *const *sorted, size_t n)
{
        size_t most = most_samples(m), place = (most - 1) / 2, left = most - n;

        if (left == 0)
                return false;
        return place < left || place >= n || sorted[place - left]->sample.wall_ns != sorted[place]->sample.wall_ns;
}

static bool is_short_or_noisy(const struct taken *const *sorted, size_t n)
{
        uint64_t median = sorted[(n - 1) / 2]->sample.wall_ns;
        uint64_t spread = sorted[n - 1]->sample.wall_ns - sorted[0]->sample.wall_ns;

        return median < NSEC_PER_SEC || spread > median / 20;
}

/* True if another sample is to replace this one. */
static bool is_taken_again(const struct measurement *m, const struct taken *t)
{
        return m->retries < most_retries(m) && (t->sample.disturbed || (t->short_of_cpu && count_short(m) == 1));
}

/* Returns the number of samples that count. */
static size_t choose_sample(struct measurement *m, const struct taken **sorted)
{
        size_t n = sort_samples(m, sorted);

        m->disturbed = n == 0;
        m->chosen = n == 0 ? least_disturbed(m) : (size_t)(sorted[(n - 1) / 2] - m->taken);
        return n;
}

/* Takes samples until there are enough (measure.h), and chooses one. */
static int take_samples(struct measurement *m)
{
        cleanup_free const struct taken **sorted = allocate(most_samples(m) + MEASURE_RETRIES, sizeof(*sorted));
        uint64_t begin = 0, budget = 0;

        for (;;) {
                const struct taken *t = &m->taken[m->n];
                int r = take_sample(m);
                size_t n;

                if (r == -ERESTART && m->n > 0) { /* the worker has no time for another sample, and the next worker may have none either */
                        choose_sample(m, sorted);
                        return 0;
                }
                if (r < 0)
                        return r;
                if (begin == 0) {
                        begin = now_ns();
                        budget = MAX(3 * t->sample.wall_ns, NSEC_PER_SEC);
                }
                if (is_taken_again(m, t)) {
                        m->retries++;
                        continue;
                }
                n = choose_sample(m, sorted);
                if (n == 0 || t->sample.disturbed || !is_repeatable(t->sample.verdict) || !can_change(m, sorted, n) ||
                    !is_short_or_noisy(sorted, n) || now_ns() - begin >= budget)
                        return 0;
        }
}

/* -- run.json -- */

static json_t *verdict_list(const enum verdict *list, size_t n)
{
        json_t *array = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(array, json_string(verdict_name(list[i])));
        return array;
}

static json_t *limits_json(const struct recipe_limits *l)
{
        return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "timeout", json_seconds(l->wall_ns), "cputime", json_seconds(l->cpu_ns),
                         "memory", (json_int_t)l->memory, "output", (json_int_t)l->output, "processes", (json_int_t)l->processes,
                         "stack", (json_int_t)l->stack, "scratch", (json_int_t)RUN_SCRATCH);
}

static json_t *samples_json(const struct measurement *m)
{
        json_t *array = json_array();

        for (size_t i = 0; i < m->n; i++) {
                const struct sample *s = &m->taken[i].sample;

                json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:I, s:o, s:b, s:b}", "verdict", verdict_name(s->verdict),
                                                       "time", json_seconds(s->wall_ns), "cputime", json_seconds(s->cpu_ns), "memory",
                                                       (json_int_t)s->memory, "waited", json_seconds(s->waited_ns), "disturbed",
                                                       (int)s->disturbed, "wrong", (int)s->wrong));
        }
        return array;
}

static json_t *end_json(const struct run_result *result)
{
        static const char *const names[] = {
                [END_EXIT] = "exit",     [END_SIGNAL] = "signal",       [END_TIMEOUT] = "timeout",     [END_MEMORY] = "memory",
                [END_OUTPUT] = "output", [END_PROCESSES] = "processes", [END_CANCELLED] = "cancelled", [END_NOEXEC] = "noexec",
        };
        const struct execute_result *r = &result->run;
        json_t *end = json_pack("{s:s}", "reason", names[r->end]);

        if (r->end == END_EXIT)
                json_object_set_new(end, "status", json_integer(r->code));
        else if (r->end == END_SIGNAL)
                json_object_set_new(end, "signal", json_string(sigabbrev_np(r->code) ? sigabbrev_np(r->code) : "?"));
        if (result->not_started)
                json_object_set_new(end, "error", json_printable(result->not_started));
        return end;
}

static json_t *rusage_json(const struct execute_result *r)
{
        return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:I}", "user", json_seconds(r->user_ns), "system", json_seconds(r->system_ns),
                         "voluntary-switches", (json_int_t)r->voluntary, "involuntary-switches", (json_int_t)r->involuntary,
                         "waited", json_seconds(r->waited_ns), "stolen", json_seconds(r->stolen_ns), "killed-descendants",
                         (json_int_t)r->killed);
}

static json_t *stream_json(uint64_t size, const struct blob *kept, size_t cut)
{
        return json_pack("{s:I, s:I, s:b}", "bytes", (json_int_t)size, "kept", (json_int_t)kept->size, "cut", (int)(cut > 0));
}

#define MEMORY_MEANS                                                                                                             \
        "peak resident bytes of the largest process, or of all together as polled, whichever is more; limited as address space " \
        "of each and as resident bytes of all"

static json_t *date(int64_t when)
{
        return when ? json_string(format_date(when).s) : json_null();
}

static int make_json(const struct measurement *m, const struct fact *f, struct blob *ret)
{
        const struct measure_request *q = m->request;
        const struct runner_options *o = &q->runner;
        const struct run_result *t = &m->taken[m->chosen].result;
        const struct execute_request *x = runner_request(m->runner);
        json_t *j = json_object();
        char *text;

        if (q->about)
                json_object_update(j, q->about);
        json_object_update_new(j, json_pack("{ss so so}", "verdict", verdict_name(f->verdict), "answers", verdict_list(t->verdicts.list, t->verdicts.n),
                                            "expected", verdict_list(q->expected, q->n_expected)));
        cell_numbers(f, j);
        json_object_update_new(j, json_pack("{so so so so so sI so ss ss so so}", "end", end_json(t), "effort", effort_json(&t->efforts), "limits",
                                            limits_json(&f->limits), "surroundings", surroundings_json(x), "samples", samples_json(m), "chosen",
                                            (json_int_t)m->chosen, "rusage", rusage_json(&t->run), "method", t->run.method, "memory-means", MEMORY_MEANS,
                                            "stdout", stream_json(t->run.out_size, &t->run.out, t->run.out_cut), "stderr",
                                            stream_json(t->run.err_size, &t->run.err, t->run.err_cut)));
        json_object_update_new(j, json_pack("{so so ss so so so* so}", "command", json_strings(x->argv), "seed",
                                            o->has_seed ? json_integer((json_int_t)o->seed) : json_null(), "sandbox",
                                            o->sandbox == SANDBOX_BWRAP ? "bubblewrap" : "none", "measured", date(f->measured), "remeasured",
                                            date(f->remeasured), "machine", json_legible(o->remote ? o->remote->machine : host_machine()), "host",
                                            o->remote ? json_deep_copy(o->remote->facts) : host_facts()));
        text = json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
        json_decref(j);
        if (!text)
                return -ENOMEM;
        *ret = (struct blob){.data = text, .size = strlen(text), .owned = text};
        return 0;
}

/* -- the fact -- */

static uint64_t at_most(uint64_t value, uint64_t limit)
{
        return limit == 0 ? value : MIN(value, limit);
}

/* One line for each answer, then how the run ended if not with an answer: "sat\ntimeout\n". */
static int make_results(const struct verdicts *v, struct blob *ret)
{
        cleanup_buffer struct buffer b = {0};

        for (size_t i = 0; i < v->n; i++)
                buffer_addf(&b, "%s\n", verdict_name(v->list[i]));
        if (!v->is_answer)
                buffer_addf(&b, "%s\n", verdict_name(v->last));
        return buffer_steal(&b, ret);
}

static int make_fact(struct measurement *m, struct fact **ret)
{
        const struct measure_request *q = m->request;
        struct taken *t = &m->taken[m->chosen];
        const struct verdicts *v = &t->result.verdicts;
        cleanup(fact_unrefp) struct fact *f = allocate(1, sizeof(*f));
        int64_t now = now_seconds();
        int r;

        /* A run ended by a limit was over a little after the limit; the fact must answer for the limit itself. */
        *f = (struct fact){
                .refs = 1,
                .verdict = t->sample.verdict,
                .wall_ns = at_most(t->sample.wall_ns, q->runner.limits.wall_ns),
                .cpu_ns = at_most(t->sample.cpu_ns, q->runner.limits.cpu_ns),
                .memory = at_most(t->sample.memory, q->runner.limits.memory),
                .limits = q->runner.limits,
                .address_space = strcmp(t->result.run.method, "rusage") == 0,
                .measured = now,
                .remeasured = q->again ? now : 0,
                .disturbed = m->disturbed,
                .uncertain_from = v->n_certain < v->n ? v->n_certain + 1 : 0,
                .waited_ns = t->result.run.waited_ns, /* without the hypervisor's time: that goes on while the program sleeps */
        };
        f->limits.stack = q->runner.limits.stack ? q->runner.limits.stack : RECIPE_STACK;
        for (size_t i = 0; i < m->n; i++)
                f->wrong |= m->taken[i].sample.wrong;
        fact_take_answers(f, &t->result);
        r = make_results(v, &f->results) ?: make_json(m, f, &f->json);
        if (r < 0)
                return r;
        f->out = t->result.run.out;
        f->err = t->result.run.err;
        f->not_started = steal_pointer(t->result.not_started);
        t->result.run.out = t->result.run.err = (struct blob){0};
        *ret = steal_pointer(f);
        return 0;
}

int measure(const struct measure_request *q, struct fact **ret)
{
        cleanup(measurement_done) struct measurement m = {.request = q};
        int r;

        assert(q->runner.recipe && q->runner.n_programs > 0 && q->case_path && q->runner.scratch_parent);
        m.runner = q->opened ?: runner_open(&q->runner);
        m.taken = allocate(most_samples(&m) + MEASURE_RETRIES, sizeof(*m.taken));
        r = take_samples(&m);
        return r < 0 ? r : make_fact(&m, ret);
}
