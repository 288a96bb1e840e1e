/* The format of `hyperfine --export-json`: a list of commands, each with the times of its runs. It knows neither timeouts nor wrong answers; such
 * results are left out. In a folder, with a document for each version, a command is a case: the scripts compare documents by their commands. */
#include "core/report/export_internal.h"

#include <inttypes.h>
#include <math.h>

static double mean_of(const double *list, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += list[i];
        return sum / (double)n;
}

/* null for a single run, as in hyperfine. */
static json_t *deviation_of(const double *list, size_t n)
{
        double mean = mean_of(list, n), sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (list[i] - mean) * (list[i] - mean);
        return n < 2 ? json_null() : json_real(sqrt(sum / (double)(n - 1)));
}

static bool can_express(const struct export_row *row)
{
        return row->fact && !row->fact->wrong && verdict_is_decided(row->fact->verdict);
}

static json_t *command_of(const struct exporter *e, const struct export_row *row)
{
        const struct export_version *v = row->version;
        cleanup_buffer struct buffer b = {0};

        if (!e->target.is_folder)
                buffer_addf(&b, "%s@%.12s ", v->solver, v->commit);
        if (v->has_seed)
                buffer_addf(&b, "--seed %" PRIu64 " ", v->seed);
        buffer_adds(&b, row->name);
        return json_string(b.data);
}

/* NULL: not known, which leaves the key out. */
static json_t *memory_of(const struct export_row *row)
{
        cleanup_free double *list = NULL;
        size_t n = row_samples(row, "memory", &list);

        return n > 0 ? export_numbers(list, n, true) : NULL;
}

static void add_times(const struct export_row *row, json_t *j)
{
        const json_t *usage = json_object_get(row->run, "rusage");
        cleanup_free double *times = NULL;
        size_t n = row_samples(row, "time", &times);

        if (n == 0) {
                free(times);
                times = allocate(n = 1, sizeof(*times));
                *times = (double)row->fact->wall_ns / 1e9;
        }
        json_object_set_new(j, "times", export_numbers(times, n, false)); /* in the order they were taken */
        json_object_set_new(j, "mean", json_real(mean_of(times, n)));
        json_object_set_new(j, "stddev", deviation_of(times, n));
        sort_list(times, n, sizeof(*times), compare_doubles);
        json_object_set_new(j, "median", json_real((times[(n - 1) / 2] + times[n / 2]) / 2));
        json_object_set(j, "user", json_object_get(usage, "user"));
        json_object_set(j, "system", json_object_get(usage, "system"));
        if (!usage) { /* from another machine: only the sum is known */
                json_object_set_new(j, "user", json_real((double)row->fact->cpu_ns / 1e9));
                json_object_set_new(j, "system", json_real(0));
        }
        json_object_set_new(j, "min", json_real(times[0]));
        json_object_set_new(j, "max", json_real(times[n - 1]));
}

static void command(struct exporter *e, const struct export_row *row)
{
        json_t *j = json_pack("{s:o}", "command", command_of(e, row));

        add_times(row, j);
        json_object_set_new(j, "memory_usage_byte", memory_of(row));
        /* plot_parametrized needs a number */
        json_object_set_new(j, "parameters", json_pack("{s:o}", "commit", json_sprintf("%" PRIu32, row->version->place)));
        buffer_adds(&e->file.pending, e->rows > 0 ? ",\n" : "\n");
        export_json(e, j);
}

const struct export_kind export_hyperfine = {
        .name = "hyperfine", .reads_run = true, .suffix = ".json", .can_express = can_express,
        .begin = "{\"results\":[", .row = command, .foot = "\n]}\n"};
