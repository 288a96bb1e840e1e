/* csv, by RFC 4180: lines end with CRLF, and a field with a comma, a quote or a line break is quoted. jsonl: the output of `run --json`;
 * fifteen digits keep every nanosecond and hide the error of binary fractions. */
#include "core/report/export_internal.h"

#include <inttypes.h>

#include "core/run/cell_file.h"

/* -- csv ---------------------------------------------------------------------------------------------------------- */

/* The columns of `run` first, with the same names and order. */
static const char csv_columns[] = "case,result,time,cputime,memory,commit,check,name,effort,subject,disturbed,"
                                  "solver,date,sha256,logic,status,seed,timeout,measured,machine\r\n";

/* Adds a field behind another one. "-", which marks a missing value in tables, becomes empty, unless the text is somebody's words. */
static void add_field(struct buffer *to, const char *text, bool is_words)
{
        buffer_adds(to, ",");
        if (!is_words && strcmp(text, "-") == 0)
                return;
        if (!text[strcspn(text, ",\"\r\n")]) {
                buffer_adds(to, text);
                return;
        }
        buffer_adds(to, "\"");
        for (const char *p = text; *p; p++)
                buffer_add(to, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
        buffer_adds(to, "\"");
}

static void csv_row(struct exporter *e, const struct export_row *row)
{
        const struct export_version *v = row->version;
        const struct fact *f = row->fact;
        struct short_text wall = {"-"}, cpu = wall, memory = wall, measured = wall, date = format_date(v->committed);
        char seed[24] = "-", timeout[32] = "-";
        const char *const fields[] = {
                row->result, wall.s, cpu.s, memory.s, v->commit, row->check, row->name, row->effort, v->subject,
                f && f->disturbed ? "disturbed" : "-", v->solver, date.s, row->sha256, row->logic, row->status, seed, timeout, measured.s, v->machine};

        if (v->has_seed)
                snprintf(seed, sizeof(seed), "%" PRIu64, v->seed);
        if (f) {
                wall = format_seconds(f->wall_ns);
                cpu = format_seconds(f->cpu_ns);
                memory = format_memory(f->memory);
                format_exact(f->limits.wall_ns, timeout);
                measured = format_date(f->measured);
        }
        buffer_addf(&e->file.pending, "%" PRIu32, row->id);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                add_field(&e->file.pending, fields[i], fields[i] == row->name || fields[i] == v->subject);
        buffer_adds(&e->file.pending, "\r\n");
}

const struct export_kind export_csv = {.name = "csv", .begin = csv_columns, .row = csv_row};

/* -- jsonl -------------------------------------------------------------------------------------------------------- */

static void jsonl_row(struct exporter *e, const struct export_row *row)
{
        export_json(e, json_incref(row->answer));
        buffer_adds(&e->file.pending, "\n");
}

const struct export_kind export_jsonl = {.name = "jsonl", .reads_answer = true, .row = jsonl_row};
