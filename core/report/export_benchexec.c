/* BenchExec's results as XML (doc/result.dtd there). In its words sat is "true" and unsat is "false", as its own module for SMT-LIB says; our words
 * are in the column `result`. Control characters and bytes that are not UTF-8 cannot be in XML 1.0, not even as references: names have them as
 * \n and \xNN already; U+FFFE and U+FFFF become U+FFFD. The hidden column `sha256` says which case it was in any event. */
#include "core/report/export_internal.h"

#include <inttypes.h>

#include "cache/base/json.h"
#include "core/report/xml.h"
#include "core/run/cell_file.h"

static void add_column(struct buffer *to, const char *title, const char *value, bool hidden)
{
        xml_addf(to, "    <column title=\"%s\"", title);
        if (value)
                xml_addf(to, " value=\"%s\"", value);
        buffer_adds(to, hidden ? " hidden=\"true\"/>\n" : "/>\n");
}

static void add_seconds(struct buffer *to, const char *title, uint64_t ns)
{
        char text[40];

        format_exact(ns, text);
        strcat(text, "s");
        add_column(to, title, text, false);
}

/* -- the head ------------------------------------------------------------------------------------------------------ */

static size_t number_of(const json_t *facts, const char *key)
{
        return (size_t)json_integer_value(json_object_get(facts, key));
}

/* The host as run.json of the first result has it. */
static void add_system(struct exporter *e, const struct export_row *first)
{
        const char *machine = e->version.machine ? e->version.machine : "";
        const json_t *facts = first ? json_object_get(first->run, "host") : NULL;
        cleanup_free char *host = strndup(machine, strcspn(machine, "/"));

        xml_addf(&e->file.pending,
                 "  <systeminfo hostname=\"%s\">\n    <os name=\"%s\"/>\n    <cpu model=\"%s\" cores=\"%zu\"/>\n    <ram size=\"%zuB\"/>\n"
                 "    <environment/>\n  </systeminfo>\n",
                 json_text(facts, "host", host ? host : ""), json_text(facts, "kernel", ""), json_text(facts, "cpu", ""), number_of(facts, "cores"),
                 number_of(facts, "memory"));
}

static void add_limits(struct buffer *to, const struct recipe_limits *limits)
{
        char text[32];

        if (limits->cpu_ns > 0) {
                format_exact(limits->cpu_ns, text);
                xml_addf(to, " timelimit=\"%ss\"", text);
        }
        if (limits->memory > 0)
                xml_addf(to, " memlimit=\"%zuB\"", (size_t)limits->memory);
}

static int head(struct exporter *e, const struct export_row *first)
{
        const struct export_version *v = &e->version;
        const struct fact *f = first ? first->fact : NULL;
        struct buffer *to = &e->file.pending;
        char date[32], options[40] = "";

        format_date(f ? f->measured : v->committed, date); /* of the first result, so that the same export is the same bytes */
        if (v->has_seed)
                snprintf(options, sizeof(options), "seed %" PRIu64, v->seed);
        buffer_adds(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<!DOCTYPE result\n  PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN'\n"
                        "  'https://www.sosy-lab.org/benchexec/result-3.0.dtd'>\n");
        xml_addf(to, "<result benchmarkname=\"%s\" date=\"%s\" starttime=\"%s\" tool=\"%s\" toolmodule=\"\" version=\"%s\" options=\"%s\"",
                 v->solver ? v->solver : "", date, date, v->solver ? v->solver : "", v->commit ? v->commit : "", options);
        add_limits(to, f ? &f->limits : &v->limits);
        xml_addf(to, " cpuCores=\"1\" generator=\"%s\">\n", e->target.generator);
        if (v->subject && *v->subject)
                xml_addf(to, "  <description>%s</description>\n", v->subject);
        buffer_adds(to, "  <columns>\n");
        add_column(to, "status", NULL, false);
        add_column(to, "cputime", NULL, false);
        add_column(to, "walltime", NULL, false);
        add_column(to, "memory", NULL, false);
        buffer_adds(to, "  </columns>\n");
        add_system(e, first);
        return 0;
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */

static const char *status_of(const struct fact *f)
{
        static const char *const words[N_VERDICTS] = {
                [VERDICT_SAT] = "true",      [VERDICT_UNSAT] = "false", [VERDICT_UNKNOWN] = "unknown", [VERDICT_TIMEOUT] = "TIMEOUT",
                [VERDICT_MEMOUT] = "OUT OF MEMORY", [VERDICT_CRASH] = "CRASH", [VERDICT_ERROR] = "ERROR"};

        return (f ? words[f->verdict] : NULL) ?: "ERROR (unbuildable)";
}

static const char *category_of(const struct export_row *row)
{
        const struct fact *f = row->fact;

        if (!f)
                return "error";
        if (f->verdict == VERDICT_UNKNOWN)
                return "unknown";
        if (!verdict_is_decided(f->verdict))
                return "error";
        return f->wrong ? "wrong" : strcmp(row->check, "correct") == 0 ? "correct" : "missing";
}

static void add_numbers(struct buffer *to, const struct fact *f)
{
        char bytes[32], limit[32];

        add_seconds(to, "cputime", f->cpu_ns);
        add_seconds(to, "walltime", f->wall_ns);
        snprintf(bytes, sizeof(bytes), "%" PRIu64 "B", f->memory);
        add_column(to, "memory", bytes, false);
        if (f->disturbed)
                add_column(to, "disturbed", "true", false);
        format_exact(f->limits.wall_ns, limit);
        strcat(limit, "s");
        add_column(to, "walltimelimit", limit, true);
}

static int run(struct exporter *e, const struct export_row *row)
{
        struct buffer *to = &e->file.pending;
        char id[16], measured[32];

        snprintf(id, sizeof(id), "%" PRIu32, row->id);
        xml_addf(to, "  <run name=\"%s\">\n", row->name);
        add_column(to, "status", status_of(row->fact), false);
        if (row->fact)
                add_numbers(to, row->fact);
        if (strcmp(row->effort, "-") != 0)
                add_column(to, "effort", row->effort, false);
        add_column(to, "category", category_of(row), true);
        add_column(to, "result", row->result, true);
        add_column(to, "check", row->check, true);
        add_column(to, "case", id, true);
        add_column(to, "sha256", row->sha256, true);
        if (row->fact) {
                format_date(row->fact->measured, measured);
                add_column(to, "measured", measured, true);
        }
        buffer_adds(to, "  </run>\n");
        return 0;
}

const struct export_kind export_benchexec = {
        .name = "benchexec", .reads_first_run = true, .suffix = ".results.xml", .head = head, .row = run, .foot = "</result>\n"};
