/* csv, by RFC 4180: lines end with CRLF, and a field with a comma, a quote or a line break stands in quotes. jsonl: what `run --json`
 * prints; fifteen digits hold every nanosecond, and do not show what binary fractions make of it. */
#include "core/report/export_internal.h"

#include <inttypes.h>

#include "core/run/cell_file.h"

/* -- csv ---------------------------------------------------------------------------------------------------------- */

/* The columns of `run` first, with their words and in their order. */
static const char csv_columns[] = "case,result,time,cputime,memory,commit,check,name,effort,subject,disturbed,"
                                  "solver,date,sha256,logic,status,seed,timeout,measured,machine\r\n";

/* A field behind another one. "-", which says in tables that nothing is there, is empty. */
static void add_field(struct buffer *to, const char *text)
{
        buffer_adds(to, ",");
        if (strcmp(text, "-") == 0)
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

static void add_numbers(struct buffer *to, const struct fact *f)
{
        char wall[32], cpu[32];

        if (!f) {
                buffer_adds(to, ",,,");
                return;
        }
        format_seconds(f->wall_ns, wall);
        format_seconds(f->cpu_ns, cpu);
        buffer_addf(to, ",%s,%s,%" PRIu64, wall, cpu, f->memory);
}

static void add_circumstances(struct buffer *to, const struct export_row *row)
{
        const struct fact *f = row->fact;
        char seed[24] = "-", timeout[32] = "-", measured[32] = "-";

        if (row->version->has_seed)
                snprintf(seed, sizeof(seed), "%" PRIu64, row->version->seed);
        if (f) {
                format_exact(f->limits.wall_ns, timeout);
                format_date(f->measured, measured);
        }
        add_field(to, seed);
        add_field(to, timeout);
        add_field(to, measured);
        add_field(to, row->version->machine);
}

static int csv_head(struct exporter *e, const struct export_row *)
{
        buffer_adds(&e->file.pending, csv_columns);
        return 0;
}

static int csv_row(struct exporter *e, const struct export_row *row)
{
        struct buffer *to = &e->file.pending;
        char date[32];

        format_date(row->version->committed, date);
        buffer_addf(to, "%" PRIu32, row->id);
        add_field(to, row->result);
        add_numbers(to, row->fact);
        add_field(to, row->version->commit);
        add_field(to, row->check);
        add_field(to, row->name);
        add_field(to, row->effort);
        add_field(to, row->version->subject);
        add_field(to, row->fact && row->fact->disturbed ? "disturbed" : "-");
        add_field(to, row->version->solver);
        add_field(to, date);
        add_field(to, row->sha256);
        add_field(to, row->logic);
        add_field(to, row->status);
        add_circumstances(to, row);
        buffer_adds(to, "\r\n");
        return 0;
}

const struct export_kind export_csv = {.name = "csv", .head = csv_head, .row = csv_row};

/* -- jsonl -------------------------------------------------------------------------------------------------------- */

static int jsonl_row(struct exporter *e, const struct export_row *row)
{
        int r = export_json(e, json_incref(row->answer));

        buffer_adds(&e->file.pending, "\n");
        return r;
}

const struct export_kind export_jsonl = {.name = "jsonl", .row = jsonl_row};
