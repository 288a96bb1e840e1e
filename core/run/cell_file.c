#include "core/run/cell_file.h"

#include <inttypes.h>
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

struct short_text format_seconds(uint64_t ns)
{
        struct short_text ret;

        snprintf(ret.s, sizeof(ret.s), "%.6f", (double)ns / NSEC_PER_SEC);
        return ret;
}

struct short_text format_memory(uint64_t bytes)
{
        struct short_text ret = {"-"};

        if (bytes > 0)
                snprintf(ret.s, sizeof(ret.s), "%" PRIu64, bytes);
        return ret;
}

json_t *json_memory(uint64_t bytes)
{
        return bytes > 0 ? json_integer((json_int_t)bytes) : json_null();
}

void cell_file_print(const struct fact *f, enum cell_file file, struct buffer *ret)
{
        const struct blob *bytes;

        if (!f) {
                if (file == CELL_RESULT)
                        buffer_addf(ret, "%s\n", verdict_name(VERDICT_UNBUILDABLE));
                return;
        }
        if (file == CELL_TIME || file == CELL_CPUTIME) {
                buffer_addf(ret, "%s\n", format_seconds(file == CELL_TIME ? f->wall_ns : f->cpu_ns).s);
        } else if (file == CELL_MEMORY) {
                buffer_addf(ret, "%s\n", format_memory(f->memory).s);
        } else if (file == CELL_RESULT && f->results.size == 0) { /* imported, without the answers of the queries */
                buffer_addf(ret, "%s\n", verdict_name(f->verdict));
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
        json_object_set_new(object, "memory", json_memory(f->memory));
}
