/* BenchExec's results as XML, read by expat. The external DTD that a document names is not read. A document with declarations of its own is refused:
 * declared entities can make a short document endless. */
#include <expat.h>
#include <fcntl.h>
#include <math.h>
#include <time.h>

#include "core/care/import.h"
#include "core/cases/unpack.h"

#define TEXT_MOST  4096 /* bytes of a value */
#define TOKEN_MOST (1 << 20) /* bytes of what expat holds as a whole: a tag with its attributes, a comment */
#define DEPTH_MOST 64 /* BenchExec's documents have four */
#define PIECE      (64 << 10) /* large, as expat scans a whole token again when more of it arrives */
#define TOTAL_MOST (UINT64_C(1) << 30)

struct reading {
        const char *name; /* of the file */
        const struct progress *progress;
        uint64_t fed;
        XML_Parser parser;
        struct benchexec_results *to;
        int error;      /* its sentence is kept */
        unsigned depth; /* of elements */
        bool in_run, has_wall;
        struct benchexec_run run;
};

/* expat 2.9 renamed both and deprecates the old names. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#define XML_GetCurrentByteIndex64  XML_GetCurrentByteIndex
#endif

static unsigned long line_number(const struct reading *d)
{
        return XML_GetCurrentLineNumber64(d->parser);
}

/* -- errors -------------------------------------------------------------------------------------------------------- */

static printf_like(2, 3) void refuse(struct reading *d, const char *format, ...)
{
        cleanup_buffer struct buffer text = {0};
        char line[1024];

        if (d->error != 0)
                return;
        format_rest(line, format);
        buffer_add_printable(&text, line);
        d->error = errorf(-EINVAL, "%s:%lu: %s", d->name, line_number(d), text.data ?: "");
        XML_StopParser(d->parser, XML_FALSE);
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static const char *attribute(const char **attributes, const char *name)
{
        for (; *attributes; attributes += 2)
                if (strcmp(attributes[0], name) == 0)
                        return attributes[1];
        return NULL;
}

/* The first value counts. */
static void keep(struct reading *d, char **to, const char *value)
{
        if (!value || *to)
                return;
        if (strlen(value) > TEXT_MOST)
                refuse(d, "a value of more than %d bytes", TEXT_MOST);
        *to = copy_string(value);
}

struct unit {
        const char *name;
        double factor;
};

/* Parses a number with one of these units, or none, and multiplies it by the unit's factor. */
static bool parse_number(const char *text, const struct unit *units, double *ret)
{
        char *end;
        double value = strtod(text, &end);

        if (end == text || !isfinite(value) || value < 0)
                return false;
        while (*end == ' ')
                end++;
        for (; units->name; units++)
                if (strcmp(end, units->name) == 0) {
                        *ret = value * units->factor;
                        return *ret < 1e18; /* thirty years in ns; an exabyte */
                }
        return false;
}

static const struct unit times[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0}}; /* nanoseconds */
static const struct unit sizes[] = {{"", 1},     {"B", 1},      {"kB", 1e3},      {"KB", 1e3},      {"MB", 1e6},
                                    {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};

static bool read_amount(struct reading *d, const char *what, const char *text, const struct unit *units, uint64_t *ret)
{
        double amount;

        if (!parse_number(text, units, &amount)) {
                refuse(d, "%s is '%.60s', not a %s", what, text, units == times ? "time such as 1.5s" : "size such as 4000000B");
                return false;
        }
        *ret = (uint64_t)llround(amount);
        return true;
}

/* "2020-06-10T09:17:06.7+02:00", "2024-01-01T00:00:00Z", "2015-05-27 10:04:27 CEST"; ignores a zone's name. 0: none of these. */
static int64_t read_moment(const char *text)
{
        int hours = 0, minutes = 0;
        struct tm tm = {0};
        const char *rest;
        char sign;

        if (!text)
                return 0;
        rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        if (!rest)
                rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
        if (!rest)
                return 0;
        if (*rest == '.')
                rest += 1 + strspn(rest + 1, "0123456789");
        if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) != 3 || (sign != '+' && sign != '-'))
                return timegm(&tm);
        return timegm(&tm) - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/* -- verdicts ------------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
        return strncmp(text, with, strlen(with)) == 0;
}

/* "true" or "true(property)". */
static bool is_answer(const char *status, const char *word)
{
        size_t n = strlen(word);

        return begins(status, word) && (status[n] == '\0' || status[n] == '(');
}

/* BenchExec's own module for SMT-LIB reports sat as true; others report the solver's own word. */
static bool verdict_of_status(const char *status, enum verdict *ret)
{
        static const struct {
                const char *begin;
                enum verdict verdict;
        } kinds[] = {{"TIMEOUT", VERDICT_TIMEOUT},   {"OUT OF ", VERDICT_MEMOUT}, {"CRASH", VERDICT_CRASH},
                     {"SEGMENTATION", VERDICT_CRASH}, {"SEGFAULT", VERDICT_CRASH}, {"ABORTED", VERDICT_CRASH},
                     {"KILLED", VERDICT_CRASH},       {"ERROR", VERDICT_ERROR}};

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (begins(status, kinds[i].begin)) {
                        *ret = kinds[i].verdict;
                        return true;
                }
        *ret = is_answer(status, "true") || strcmp(status, "sat") == 0      ? VERDICT_SAT
               : is_answer(status, "false") || strcmp(status, "unsat") == 0 ? VERDICT_UNSAT
                                                                            : VERDICT_UNKNOWN;
        return *ret != VERDICT_UNKNOWN || strcmp(status, "unknown") == 0 || strcmp(status, "done") == 0;
}

/* If the category is a failure of the tool, the status may be any text. */
static bool read_verdict(struct reading *d)
{
        static const char *const categories[] = {"correct", "correct-unconfirmed", "wrong", "unknown", "error", "missing"};
        struct benchexec_run *run = &d->run;
        bool is_category = !run->category;

        for (size_t i = 0; i < ARRAY_SIZE(categories) && !is_category; i++)
                is_category = strcmp(run->category, categories[i]) == 0;
        if (!is_category) {
                refuse(d, "the category '%.60s' is none of BenchExec's: correct, correct-unconfirmed, wrong, unknown, error, missing",
                       run->category);
                return false;
        }
        if (verdict_of_status(run->status, &run->verdict))
                return true;
        if (run->category && (strcmp(run->category, "error") == 0 || strcmp(run->category, "unknown") == 0)) {
                run->verdict = *run->category == 'e' ? VERDICT_ERROR : VERDICT_UNKNOWN;
                return true;
        }
        refuse(d, "the status '%.60s' is no answer to a satisfiability problem: true, sat, false, unsat, unknown, or an error", run->status);
        return false;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

static void run_done(struct benchexec_run *run)
{
        free(run->name);
        free(run->status);
        free(run->category);
        free(run->answers);
        *run = (struct benchexec_run){0};
}

static void begin_result(struct reading *d, const char **a)
{
        const char *time_limit = attribute(a, "timelimit"), *memory_limit = attribute(a, "memlimit");
        const char *generator = attribute(a, "generator"), *options = attribute(a, "options");

        keep(d, &d->to->tool, attribute(a, "tool"));
        keep(d, &d->to->version, attribute(a, "version"));
        if (generator && options && begins(generator, "solverfs "))
                d->to->has_seed = sscanf(options, "seed %" SCNu64, &d->to->seed) == 1;
        d->to->started = read_moment(attribute(a, "starttime"));
        if (d->to->started == 0)
                d->to->started = read_moment(attribute(a, "date"));
        if (time_limit && *time_limit && strcmp(time_limit, "-") != 0)
                read_amount(d, "timelimit", time_limit, times, &d->to->cpu_limit_ns);
        if (memory_limit && *memory_limit && strcmp(memory_limit, "-") != 0)
                read_amount(d, "memlimit", memory_limit, sizes, &d->to->memory_limit);
}

/* Several machines count as one if they are of one kind. */
static void see_machine(struct reading *d, const char **a)
{
        const char *host = attribute(a, "hostname");

        if (host && d->to->host && strcmp(host, d->to->host) != 0)
                d->to->several_hosts = true;
        keep(d, &d->to->host, host);
}

static void see_cpu(struct reading *d, const char **a)
{
        const char *model = attribute(a, "model"), *cores = attribute(a, "cores");
        long n = cores ? strtol(cores, NULL, 10) : 0;

        if (d->to->cpu && ((model && strcmp(model, d->to->cpu) != 0) || n != d->to->cores)) {
                refuse(d, "its runs were done on machines of several kinds, '%.80s' with %ld cores and '%.80s' with %ld, and none says on which",
                       d->to->cpu, d->to->cores, model ? model : "", n);
                return;
        }
        keep(d, &d->to->cpu, model);
        d->to->cores = n;
}

static void begin_run(struct reading *d, const char **a)
{
        d->in_run = true;
        d->has_wall = false;
        d->run = (struct benchexec_run){.line = line_number(d)};
        if (!attribute(a, "name"))
                refuse(d, "a run without a name");
        keep(d, &d->run.name, attribute(a, "name"));
}

static void see_column(struct reading *d, const char *title, const char *value)
{
        struct benchexec_run *run = &d->run;

        if (strcmp(title, "status") == 0)
                keep(d, &run->status, value);
        else if (strcmp(title, "category") == 0)
                keep(d, &run->category, value);
        else if (strcmp(title, "result") == 0)
                keep(d, &run->answers, value);
        else if (!*value)
                return;
        else if (strcmp(title, "walltime") == 0 || strcmp(title, "wallTime") == 0)
                d->has_wall = read_amount(d, "walltime", value, times, &run->wall_ns);
        else if (strcmp(title, "cputime") == 0 || strcmp(title, "cpuTime") == 0)
                run->has_cpu_ns = read_amount(d, "cputime", value, times, &run->cpu_ns);
        else if (strcmp(title, "memory") == 0 || strcmp(title, "memUsage") == 0)
                read_amount(d, title, value, sizes, &run->memory);
        else if (strcmp(title, "walltimelimit") == 0)
                read_amount(d, title, value, times, &run->wall_limit_ns);
        else if (strcmp(title, "sha256") == 0)
                run->has_sha256 = digest_parse(value, &run->sha256) == 0;
        else if (strcmp(title, "measured") == 0)
                run->measured = read_moment(value);
        else if (strcmp(title, "disturbed") == 0)
                run->disturbed = strcmp(value, "true") == 0;
}

static void end_run(struct reading *d)
{
        struct benchexec_run *run = &d->run;

        d->in_run = false;
        if (!run->status || !*run->status || begins(run->status, "ERROR (unbuildable)") ||
            (run->category && strcmp(run->category, "aborted") == 0)) {
                d->to->unfinished++;
                run_done(run);
                return;
        }
        if (!read_verdict(d))
                return;
        if (!d->has_wall || !run->has_cpu_ns) {
                refuse(d, "the run of '%.200s' has no %s", run->name, d->has_wall ? "cputime" : "walltime");
                return;
        }
        list_add(d->to->runs, d->to->n_runs, *run);
        *run = (struct benchexec_run){0};
}

static void XMLCALL on_start(void *user, const char *name, const char **a)
{
        struct reading *d = user;
        const char *title = attribute(a, "title"), *value = attribute(a, "value");
        double ram;

        if (d->error != 0)
                return;
        if (d->depth++ == DEPTH_MOST)
                refuse(d, "elements in elements, %d deep: no document of BenchExec has that", DEPTH_MOST);
        else if (d->depth == 1) {
                if (strcmp(name, "result") != 0 && strcmp(name, "test") != 0)
                        refuse(d, "the document is a <%.40s>, not the <result> of BenchExec", name);
                else
                        begin_result(d, a);
        } else if (d->depth == 2 && (strcmp(name, "run") == 0 || strcmp(name, "sourcefile") == 0))
                begin_run(d, a);
        else if (d->in_run && strcmp(name, "column") == 0 && title && value)
                see_column(d, title, value);
        else if (strcmp(name, "systeminfo") == 0)
                see_machine(d, a);
        else if (strcmp(name, "cpu") == 0)
                see_cpu(d, a);
        else if (strcmp(name, "os") == 0)
                keep(d, &d->to->os, attribute(a, "name"));
        else if (strcmp(name, "ram") == 0 && attribute(a, "size") && parse_number(attribute(a, "size"), sizes, &ram))
                d->to->ram = (uint64_t)ram;
}

static void XMLCALL on_end(void *user, const char *)
{
        struct reading *d = user;

        d->depth--;
        if (d->error == 0 && d->in_run && d->depth == 1)
                end_run(d);
}

static void XMLCALL on_doctype(void *user, const char *, const char *, const char *, int has_internal_subset)
{
        if (has_internal_subset)
                refuse(user, "it declares entities or elements of its own, which no document of BenchExec does");
}

static void XMLCALL on_skipped(void *user, const char *name, int)
{
        refuse(user, "the entity '%.40s' is not declared", name);
}

/* -- the file ------------------------------------------------------------------------------------------------------ */

static void parser_freep(XML_Parser *p)
{
        if (*p)
                XML_ParserFree(*p);
}

/* expat may wait until it has twice the bytes that it last scanned. */
static int check_token(const struct reading *d)
{
        int64_t begin = XML_GetCurrentByteIndex64(d->parser); /* -1: unknown */

        if (begin < 0 || d->fed - (uint64_t)begin <= 2 * TOKEN_MOST + PIECE)
                return 0;
        return errorf(-EFBIG, "%s:%lu: what begins here is longer than %d MiB: no document of BenchExec has that", d->name,
                      line_number(d), TOKEN_MOST >> 20);
}

static int feed(struct reading *d, const void *data, size_t n, bool last)
{
        d->fed += n;
        if (XML_Parse(d->parser, data, (int)n, last) == XML_STATUS_OK)
                return d->error != 0 || last ? d->error : check_token(d);
        if (d->error != 0)
                return d->error;
        return errorf(-EINVAL, "%s:%lu: %s: no complete XML", d->name, line_number(d),
                      XML_ErrorString(XML_GetErrorCode(d->parser)));
}

static int feed_block(void *user, const void *block, size_t n)
{
        struct reading *d = user;
        int r = progress_step(d->progress, "read", d->fed, 0);

        for (size_t at = 0; r == 0 && at < n; at += PIECE)
                r = feed(d, (const char *)block + at, MIN(n - at, (size_t)PIECE), false);
        if (r == 0 && d->fed > TOTAL_MOST)
                return errorf(-EFBIG, "%s has more than %llu GiB of text: divide its runs among several files", d->name,
                              (unsigned long long)(TOTAL_MOST >> 30));
        return r;
}

int benchexec_read(int fd, const char *name, const struct progress *progress, struct benchexec_results *ret)
{
        cleanup(parser_freep) XML_Parser parser = XML_ParserCreate(NULL);
        struct reading d = {.name = name, .progress = progress, .parser = parser, .to = ret};
        int r;

        *ret = (struct benchexec_results){0};
        if (!parser)
                return -ENOMEM;
        XML_SetUserData(parser, &d);
        XML_SetElementHandler(parser, on_start, on_end);
        XML_SetStartDoctypeDeclHandler(parser, on_doctype);
        XML_SetSkippedEntityHandler(parser, on_skipped);
        r = unpack_each(name, fd, feed_block, &d);
        if (r == 0)
                r = d.fed == 0 ? errorf(-EINVAL, "%s is empty", name) : feed(&d, "", 0, true);
        run_done(&d.run);
        return r;
}

void benchexec_done(struct benchexec_results *r)
{
        for (size_t i = 0; i < r->n_runs; i++)
                run_done(&r->runs[i]);
        free(r->runs);
        free(r->tool);
        free(r->version);
        free(r->host);
        free(r->cpu);
        free(r->os);
        *r = (struct benchexec_results){0};
}
