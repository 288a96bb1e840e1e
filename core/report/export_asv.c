/* A folder of airspeed velocity's results: benchmarks.json, <machine>/machine.json, and a document for each commit. A benchmark is a case; its version
 * is the digest of its bytes. Results without an answer are null, which asv calls failed. */
#include "core/report/export_internal.h"

#include <inttypes.h>

#include "cache/base/json.h"

#define VERSION_OF_RESULTS    2
#define VERSION_OF_MACHINES   1
#define VERSION_OF_BENCHMARKS 2

static void benchmark_name(uint32_t id, char ret[24])
{
        snprintf(ret, 24, "case_%06" PRIu32, id); /* sorts like numbers */
}

/* -- the machine --------------------------------------------------------------------------------------------------- */

/* The machine's parameters under asv's names, from a result's run.json. */
static json_t *machine_json(const struct exporter *e, const struct export_row *row)
{
        const json_t *host = json_object_get(row->run, "host");
        char name[81];

        file_word(e->version.machine, name); /* asv wants the folder's name here */
        return json_pack("{ss ss ss so so ss}", "machine", name, "os", json_text(host, "kernel", ""), "cpu", json_text(host, "cpu", ""), "num_cpu",
                         json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(host, "cores"))), "ram",
                         json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(host, "memory"))), "arch", "");
}

/* Writes machine.json beside a version's document, for each version with a run: the last one's stays. */
static int write_machine(const struct exporter *e, const struct export_row *row)
{
        cleanup_free char *path = NULL, *text = NULL;
        char name[81];
        json_t *j = machine_json(e, row);

        file_word(e->version.machine, name);
        path = format_string("%s/%s/machine.json", e->target.path, name);
        json_object_set_new(j, "version", json_integer(VERSION_OF_MACHINES));
        text = json_dumps(j, JSON_INDENT(4));
        json_decref(j);
        return outfile_write(path, &(struct buffer){.data = text, .size = strlen(text)}, e->target.mode);
}

/* -- a version ----------------------------------------------------------------------------------------------------- */

static int add_head(struct exporter *e, const struct export_row *first)
{
        const struct export_version *v = &e->version;
        json_t *params = machine_json(e, first);
        char env[128];

        snprintf(env, sizeof(env), "%.80s", v->solver);
        json_object_set_new(params, "python", json_string(""));
        json_object_set_new(params, "solver", json_string(v->solver));
        if (v->has_seed) {
                snprintf(env, sizeof(env), "%.80s-seed%" PRIu64, v->solver, v->seed);
                json_object_set_new(params, "seed", json_sprintf("%" PRIu64, v->seed));
        }
        export_json(e, json_pack("{ss ss sI so ss s{} s{} s[sssss] s{} si}", "commit_hash", v->commit, "env_name", env, "date",
                                 (json_int_t)v->committed * 1000, "params", params, "python", "", "requirements", "env_vars",
                                 "result_columns", "result", "params", "version", "started_at", "samples", "durations", "version",
                                 VERSION_OF_RESULTS));
        e->file.pending.size--; /* removes the brace: the results follow, and the foot closes it */
        buffer_adds(&e->file.pending, ",\"results\":{");
        return first->run ? write_machine(e, first) : 0; /* a commit without a run knows no machine */
}

static int compare_cases(const void *a, const void *b)
{
        const struct export_case *x = a, *y = b;

        return ORDER(x->id, y->id);
}

/* Notes a case with a result; names are looked up at the end. Rows come by id, so the list is nearly in order. */
static void note_case(struct exporter *e, const struct export_row *row)
{
        struct export_case c = {.id = row->id};
        size_t at = e->n_cases;

        if (find_in_list(&c, e->cases, e->n_cases, sizeof(c), compare_cases))
                return;
        c.name = copy_string(row->name);
        c.sha256 = copy_string(row->sha256);
        list_grow(e->cases, e->n_cases);
        while (at > 0 && e->cases[at - 1].id > c.id)
                at--;
        memmove(e->cases + at + 1, e->cases + at, (e->n_cases - at) * sizeof(c));
        e->cases[at] = c;
        e->n_cases++;
}

static void result(struct exporter *e, const struct export_row *row)
{
        const struct fact *f = row->fact;
        bool is_answered = f && !f->wrong && verdict_is_decided(f->verdict);
        cleanup_free double *times = NULL;
        size_t n = row_samples(row, "time", &times);
        char name[24];

        note_case(e, row);
        benchmark_name(row->id, name);
        buffer_addf(&e->file.pending, "%s\n\"%s\":", e->rows > 0 ? "," : "", name);
        export_json(e, json_pack("[o [] s o o]", is_answered ? json_pack("[f]", (double)f->wall_ns / 1e9) : json_null(), row->sha256,
                                 f ? json_integer((json_int_t)f->measured * 1000) : json_null(),
                                 is_answered ? json_pack("[o]", export_numbers(times, n, false)) : json_null()));
}

/* -- the benchmarks ------------------------------------------------------------------------------------------------ */

static int end(struct exporter *e)
{
        int r = export_file(e, "benchmarks.json");

        if (r < 0)
                return r;
        buffer_adds(&e->file.pending, "{");
        for (size_t i = 0; i < e->n_cases && r == 0; i++) {
                const struct export_case *c = &e->cases[i];
                char name[24];

                benchmark_name(c->id, name);
                buffer_addf(&e->file.pending, "\n\"%s\":", name);
                export_json(e, json_pack("{ss ss ss s[] s[] sf ss ss ss}", "name", name, "pretty_name", c->name, "code", c->name, "params",
                                         "param_names", "timeout", 0.0, "type", "time", "unit", "seconds", "version", c->sha256));
                buffer_adds(&e->file.pending, ",");
                r = outfile_flush(&e->file);
        }
        buffer_addf(&e->file.pending, "\n\"version\":%d}\n", VERSION_OF_BENCHMARKS);
        if (r == 0)
                r = outfile_commit(&e->file);
        outfile_done(&e->file);
        return r;
}

const struct export_kind export_asv = {
        .name = "asv", .one_solver = true, .one_version = true, .reads_run = true, .wants_folder = true,
        .suffix = ".json", .head = add_head, .row = result, .foot = "\n}}\n", .end = end};
