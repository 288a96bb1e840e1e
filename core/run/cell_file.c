#include "core/run/cell_file.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

static const char *const names[] = {
        [CELL_TIME] = "time",     [CELL_CPUTIME] = "cputime", [CELL_MEMORY] = "memory",     [CELL_RESULT] = "result",
        [CELL_STDOUT] = "stdout", [CELL_STDERR] = "stderr",   [CELL_RUN_JSON] = "run.json", [CELL_EFFORT] = "effort",
        [CELL_QUERIES] = "queries.tsv",
};

bool cell_file_find(const char *name, enum cell_file *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(name, names[i]) == 0) {
                        *ret = (enum cell_file)i;
                        return true;
                }
        return false;
}

bool cell_file_is_brief(enum cell_file file)
{
        return file <= CELL_RESULT;
}

void format_seconds(uint64_t ns, char ret[32])
{
        snprintf(ret, 32, "%" PRIu64 ".%06" PRIu64, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000);
}

void format_date(int64_t seconds, char ret[32])
{
        time_t time = (time_t)seconds;
        struct tm tm;

        if (!gmtime_r(&time, &tm) || strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                snprintf(ret, 32, "@%" PRId64, seconds); /* outside the calendar */
}

/* label → number or null, as in run.json, where older facts have only the numbers. A new reference, or NULL. */
static json_t *effort_of(const struct fact *f)
{
        json_t *run = json_loadb(f->json.data ? f->json.data : "", f->json.size, 0, NULL), *effort = json_incref(json_object_get(run, "effort"));

        json_decref(run);
        return effort;
}

static void print_effort(const struct fact *f, struct buffer *ret)
{
        json_t *effort = effort_of(f), *number;
        const size_t before = ret->size;
        const char *label;

        json_object_foreach (effort, label, number)
                if (json_is_integer(number))
                        buffer_addf(ret, "%" JSON_INTEGER_FORMAT "\t%s\n", json_integer_value(number), label);
                else if (json_is_real(number))
                        buffer_addf(ret, "%.15g\t%s\n", json_real_value(number), label);
        if (ret->size == before)
                buffer_adds(ret, "-\n");
        json_decref(effort);
}

double fact_effort(const struct fact *f)
{
        json_t *effort = effort_of(f);
        const json_t *first = json_object_iter_value(json_object_iter(effort));
        double number = json_is_number(first) ? json_number_value(first) : NAN;

        json_decref(effort);
        return number;
}

void cell_file_print(const struct fact *f, enum cell_file file, struct buffer *ret)
{
        const struct blob *bytes;
        char seconds[32];

        if (!f) {
                if (file == CELL_RESULT)
                        buffer_addf(ret, "%s\n", verdict_name(VERDICT_UNBUILDABLE));
                return;
        }
        if (file == CELL_TIME || file == CELL_CPUTIME) {
                format_seconds(file == CELL_TIME ? f->wall_ns : f->cpu_ns, seconds);
                buffer_addf(ret, "%s\n", seconds);
        } else if (file == CELL_MEMORY) {
                buffer_addf(ret, "%" PRIu64 "\n", f->memory);
        } else if (file == CELL_RESULT && f->results.size == 0) { /* imported, without the answers of the queries */
                buffer_addf(ret, "%s\n", verdict_name(f->verdict));
        } else if (file == CELL_EFFORT) {
                print_effort(f, ret);
        } else {
                bytes = file == CELL_RESULT   ? &f->results
                        : file == CELL_STDOUT ? &f->out
                        : file == CELL_STDERR ? &f->err
                                              : &f->json;
                buffer_add(ret, bytes->data, bytes->size);
        }
}

void cell_results(const struct fact *f, struct buffer *ret)
{
        const char *p = f ? f->results.data : NULL;
        size_t n = f ? f->results.size : 0;

        while (n > 0 && p[n - 1] == '\n')
                n--;
        for (size_t i = 0; i < n; i++)
                buffer_add(ret, p[i] == '\n' ? "," : p + i, 1);
        if (n == 0)
                buffer_adds(ret, verdict_name(f ? f->verdict : VERDICT_UNBUILDABLE));
}

void cell_numbers(const struct fact *f, json_t *object)
{
        json_object_set_new(object, "wrong", json_boolean(f->wrong));
        json_object_set_new(object, "disturbed", json_boolean(f->disturbed));
        json_object_set_new(object, "time", json_real((double)f->wall_ns / 1e9));
        json_object_set_new(object, "cputime", json_real((double)f->cpu_ns / 1e9));
        json_object_set_new(object, "memory", json_integer((json_int_t)f->memory));
}
