/* BenchExec's results as XML (its doc/result.dtd). Its words for sat and unsat are "true" and "false", as in its own module for SMT-LIB; ours are in
 * the column `result`. XML 1.0 cannot express control characters and bytes that are not UTF-8: names have \n and \xNN instead; U+FFFE and U+FFFF
 * become U+FFFD. The hidden column `sha256` identifies the case. */
#include "core/report/export_internal.h"

#include <inttypes.h>

#include "cache/base/json.h"
#include "core/report/xml.h"

static void format_exact_seconds(uint64_t ns, char ret[40])
{
        format_exact(ns, ret);
        strcat(ret, "s");
}

/* -- the head ------------------------------------------------------------------------------------------------------ */

static size_t number_of(const json_t *facts, const char *key)
{
        return (size_t)json_integer_value(json_object_get(facts, key));
}

/* Adds the host from the first result's run.json. */
static void add_system(struct exporter *e, const struct export_row *first)
{
        const char *machine = e->version.machine ?: "";
        const json_t *facts = json_object_get(first->run, "host");
        cleanup_free char *host = copy_prefix(machine, strcspn(machine, "/"));

        xml_addf(&e->file.pending,
                 "  <systeminfo hostname=\"%s\">\n    <os name=\"%s\"/>\n    <cpu model=\"%s\" cores=\"%zu\"/>\n    <ram size=\"%zuB\"/>\n"
                 "    <environment/>\n  </systeminfo>\n",
                 json_text(facts, "host", host), json_text(facts, "kernel", ""), json_text(facts, "cpu", ""), number_of(facts, "cores"),
                 number_of(facts, "memory"));
}

static int add_head(struct exporter *e, const struct export_row *first)
{
        const struct export_version *v = &e->version;
        const struct fact *f = first->fact;
        const struct recipe_limits *limits = f ? &f->limits : &v->limits;
        struct buffer *to = &e->file.pending;
        const struct short_text date = format_date(f ? f->measured : v->committed); /* the first result's, so that equal exports have equal bytes */
        char options[40] = "", seconds[40];

        if (v->has_seed)
                snprintf(options, sizeof(options), "seed %" PRIu64, v->seed);
        xml_addf(to, "<result benchmarkname=\"%s\" date=\"%s\" starttime=\"%s\" tool=\"%s\" toolmodule=\"\" version=\"%s\" options=\"%s\"",
                 v->solver ?: "", date.s, date.s, v->solver ?: "", v->commit ?: "", options);
        format_exact_seconds(limits->cpu_ns, seconds);
        if (limits->cpu_ns > 0)
                xml_addf(to, " timelimit=\"%s\"", seconds);
        if (limits->memory > 0)
                xml_addf(to, " memlimit=\"%zuB\"", (size_t)limits->memory);
        xml_addf(to, " cpuCores=\"1\" generator=\"%s\">\n", e->target.generator);
        if (v->subject && *v->subject)
                xml_addf(to, "  <description>%s</description>\n", v->subject);
        buffer_adds(to, "  <columns>\n    <column title=\"status\"/>\n    <column title=\"cputime\"/>\n"
                        "    <column title=\"walltime\"/>\n    <column title=\"memory\"/>\n  </columns>\n");
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

/* "missing" is BenchExec's word for a decided answer where none is expected. */
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

static void add_run(struct exporter *e, const struct export_row *row)
{
        const struct fact *f = row->fact;
        struct short_text measured;
        char cpu[40], wall[40], memory[32], limit[40], id[16]; /* filled below */
        const struct {
                const char *title, *value; /* NULL: left out */
                bool hidden;
        } columns[] = {
                {"status", status_of(f), false},
                {"cputime", f ? cpu : NULL, false},
                {"walltime", f ? wall : NULL, false},
                {"memory", f && f->memory > 0 ? memory : NULL, false},
                {"disturbed", f && f->disturbed ? "true" : NULL, false},
                {"walltimelimit", f ? limit : NULL, true},
                {"effort", strcmp(row->effort, "-") != 0 ? row->effort : NULL, false},
                {"category", category_of(row), true},
                {"result", row->result, true},
                {"check", row->check, true},
                {"case", id, true},
                {"sha256", row->sha256, true},
                {"measured", f ? measured.s : NULL, true},
        };

        snprintf(id, sizeof(id), "%" PRIu32, row->id);
        if (f) {
                format_exact_seconds(f->cpu_ns, cpu);
                format_exact_seconds(f->wall_ns, wall);
                format_exact_seconds(f->limits.wall_ns, limit);
                snprintf(memory, sizeof(memory), "%" PRIu64 "B", f->memory);
                measured = format_date(f->measured);
        }
        xml_addf(&e->file.pending, "  <run name=\"%s\">\n", row->name);
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
                if (columns[i].value)
                        xml_addf(&e->file.pending, columns[i].hidden ? "    <column title=\"%s\" value=\"%s\" hidden=\"true\"/>\n"
                                                                     : "    <column title=\"%s\" value=\"%s\"/>\n",
                                 columns[i].title, columns[i].value);
        buffer_adds(&e->file.pending, "  </run>\n");
}

const struct export_kind export_benchexec = {
        .begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE result\n  PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN'\n"
                 "  'https://www.sosy-lab.org/benchexec/result-3.0.dtd'>\n",
        .name = "benchexec", .one_version = true, .reads_first_run = true, .suffix = ".results.xml",
        .head = add_head, .row = add_run, .foot = "</result>\n"};
