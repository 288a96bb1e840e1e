/* Imports results of BenchExec as facts of the machine that ran them. */
#include "core/care/import.h"

#include "cache/base/json.h"
#include "core/query/answers.h"
#include "core/query/machines.h"
#include "core/query/query_internal.h"
#include "core/run/cell_file.h"
#include "core/run/host.h"

/* -- cases by their names ------------------------------------------------------------------------------------------ */

struct named_case {
        char *name, *stem;      /* owned; printable; the last component without its extension */
        struct case_info *info; /* a ref */
};

struct names {
        struct named_case *list; /* by stem */
        size_t n;
        uint32_t last;        /* the largest id */
        unsigned long *lines; /* by the case's id: line of the case's run; 0: none seen */
};

static void names_done(struct names *n)
{
        for (size_t i = 0; i < n->n; i++) {
                free(n->list[i].name);
                free(n->list[i].stem);
                case_info_unref(n->list[i].info);
        }
        free(n->list);
        free(n->lines);
}

static size_t without_extension(const char *name)
{
        const char *last = basename(name), *dot = strrchr(last, '.');

        return dot && dot > last ? (size_t)(dot - name) : strlen(name);
}

static char *stem_of(const char *name)
{
        return copy_prefix(basename(name), without_extension(basename(name)));
}

static int compare_stems(const void *a, const void *b)
{
        return strcmp(((const struct named_case *)a)->stem, ((const struct named_case *)b)->stem);
}

static int names_read(struct workspace *w, struct names *ret)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n;
        int r = cases_list(workspace_cases(w), &ids, &n);

        if (r < 0)
                return r;
        ret->list = allocate(n + 1, sizeof(*ret->list));
        for (size_t i = 0; i < n; i++) {
                struct named_case *c = &ret->list[ret->n];

                r = cases_get(workspace_cases(w), ids[i], &c->info);
                if (r < 0)
                        return r;
                ret->n++;
                ret->last = MAX(ret->last, ids[i]);
                c->name = printable(c->info->name);
                c->stem = stem_of(c->name);
        }
        ret->lines = allocate((size_t)ret->last + 1, sizeof(*ret->lines));
        sort_list(ret->list, ret->n, sizeof(*ret->list), compare_stems);
        return 0;
}

/* True if `tail` is `path` or its last components. */
static bool is_tail(const char *path, size_t n, const char *tail, size_t m)
{
        return m <= n && memcmp(path + n - m, tail, m) == 0 && (m == n || path[n - m - 1] == '/');
}

/* Number of bytes the names share if one is the end of the other, else 0. A task definition, *.yml, stands for its case. */
static size_t common_tail(const char *run, const char *name)
{
        size_t n = strlen(run), m = strlen(name);

        if (n > 4 && strcmp(run + n - 4, ".yml") == 0) {
                n -= 4;
                m = without_extension(name);
        }
        return is_tail(run, n, name, m) ? m : is_tail(name, m, run, n) ? n : 0;
}

/* The case of a run, a new reference: of those with its stem, the one that shares the longest end. NULL: there is none. -ENOTUNIQ: two share as much. */
static int find_named(const char *file, const struct names *names, const struct benchexec_run *run, struct case_info **ret)
{
        cleanup_free char *stem = stem_of(run->name);
        struct named_case key = {.stem = stem}, *at = find_in_list(&key, names->list, names->n, sizeof(key), compare_stems);
        const struct named_case *found = NULL, *other = NULL;
        size_t best = 0;

        while (at && at > names->list && strcmp(at[-1].stem, stem) == 0)
                at--;
        for (; at && at < names->list + names->n && strcmp(at->stem, stem) == 0; at++) {
                size_t common = common_tail(run->name, at->name);

                if (common > 0 && common == best)
                        other = at;
                if (common > best) {
                        best = common;
                        found = at;
                        other = NULL;
                }
        }
        if (other)
                return errorf(-ENOTUNIQ, "%s:%lu: '%s' may be case %u (%s) or case %u (%s)", file, run->line, run->name, found->info->id,
                              found->name, other->info->id, other->name);
        *ret = found ? case_info_ref(found->info) : NULL;
        return 0;
}

static int find_case(struct workspace *w, const char *file, struct names *names, const struct benchexec_run *run, struct case_info **ret)
{
        unsigned long *line;
        int r = run->has_sha256 ? cases_find_digest(workspace_cases(w), &run->sha256, ret) /* whatever its name */
                                : find_named(file, names, run, ret);

        if (r == 0 && *ret && ((*ret)->removed || (*ret)->id > names->last))
                *ret = case_info_unref(*ret);
        if (r < 0 || !*ret)
                return r == -ENOENT ? 0 : r;
        line = &names->lines[(*ret)->id];
        if (*line > 0)
                return errorf(-ENOTUNIQ, "%s:%lu: '%s' is case %u, which the run at line %lu is of, too", file, run->line, run->name,
                              (*ret)->id, *line);
        *line = run->line;
        return 0;
}

/* -- the machine --------------------------------------------------------------------------------------------------- */

/* host/CPU/cores, as in host_machine(). */
static int machine_of(const struct benchexec_results *results, const struct import_request *q, char **ret)
{
        const char *host = q->machine ? q->machine : results->host;
        cleanup_buffer struct buffer name = {0};

        if (!host || !*host)
                return errorf(-EINVAL, "%s does not say which machine it was; --machine NAME does", q->file);
        if (results->several_hosts && !q->machine)
                return errorf(-EINVAL, "%s is of several machines of one kind; --machine NAME says what to call them", q->file);
        buffer_add_printable(&name, host);
        for (size_t i = 0; i < name.size; i++)
                if (name.data[i] == '/')
                        name.data[i] = '_';
        buffer_adds(&name, "/");
        buffer_add_printable(&name, results->cpu && *results->cpu ? results->cpu : "unknown CPU");
        buffer_addf(&name, "/%ld", results->cores);
        if (name.size > MACHINE_NAME_MOST)
                return errorf(-EINVAL, "the machine's name has more than %d bytes; --machine NAME gives it a shorter one", MACHINE_NAME_MOST);
        if (strcmp(name.data, host_machine()) == 0)
                return errorf(-EEXIST, "%s is of this machine, %s, whose results are its own; --machine NAME keeps them apart", q->file, name.data);
        *ret = steal_pointer(name.data);
        return 0;
}

/* -- facts --------------------------------------------------------------------------------------------------------- */

struct importing {
        struct workspace *workspace;
        const struct benchexec_results *results;
        const struct import_request *request;
        struct import_report *report;
        struct case_info **cases; /* of each run, a ref; NULL: none */
        struct digest source, program;
        git_oid commit;
        int64_t now;
};

/* Limits that BenchExec does not record (output, processes, stack) are assumed to be the recipe's. A run that was stopped had at least the time that
 * it took. */
static void limits_of(const struct importing *i, const struct benchexec_run *run, struct recipe_limits *ret)
{
        *ret = i->request->solver->recipe->limits;
        if (i->results->cpu_limit_ns > 0)
                ret->cpu_ns = ret->wall_ns = i->results->cpu_limit_ns;
        if (run->wall_limit_ns > 0)
                ret->wall_ns = run->wall_limit_ns;
        else if (run->verdict == VERDICT_TIMEOUT || run->wall_ns > ret->wall_ns)
                ret->wall_ns = run->wall_ns;
        if (i->results->memory_limit > 0)
                ret->memory = i->results->memory_limit;
}

/* Our own exports have the answers of all check-sats; the last one is the status. Without them the status of a script belongs to no query. */
static bool are_answers(const struct benchexec_run *run)
{
        const char *last = run->answers ? strrchr(run->answers, ',') : NULL;

        if (!run->answers || strspn(run->answers, "satunkow,") != strlen(run->answers))
                return false;
        return strcmp(last ? last + 1 : run->answers, verdict_name(run->verdict)) == 0;
}

static char *answers_of(const struct benchexec_run *run, const struct case_info *info)
{
        char *lines = are_answers(run)       ? format_string("%s\n", run->answers)
                      : info->n_expected > 1 ? copy_string("")
                                             : format_string("%s\n", verdict_name(run->verdict));

        for (char *p = lines; *p; p++)
                if (*p == ',')
                        *p = '\n';
        return lines;
}

/* A foreign run as run.json. */
static json_t *run_json(const struct importing *i, const struct benchexec_run *run, const struct case_info *info, const struct fact *f)
{
        const struct import_request *q = i->request;
        const struct benchexec_results *b = i->results;
        struct commit c = {0};
        json_t *j;

        history_commit(q->solver->history, q->commit, &c);
        j = json_pack("{ss ss ss s{si so ss} ss sb}", "solver", q->solver->recipe->name, "repository", q->solver->repository, "commit",
                      oid_text(&c.oid), "case", "id", (int)info->id, "name", json_printable(info->name), "sha256", digest_text(&info->sha256).s, "verdict",
                      verdict_name(f->verdict), "disturbed", (int)f->disturbed);
        json_object_set_new(j, "time", json_seconds(f->wall_ns));
        json_object_set_new(j, "cputime", json_seconds(f->cpu_ns));
        json_object_set_new(j, "memory", json_memory(f->memory));
        json_object_set_new(j, "limits", json_pack("{so so sI}", "timeout", json_seconds(f->limits.wall_ns), "cputime", json_seconds(f->limits.cpu_ns),
                                                   "memory", (json_int_t)f->limits.memory));
        json_object_set_new(j, "samples", json_pack("[{ss so so so sb}]", "verdict", verdict_name(f->verdict), "time", json_seconds(f->wall_ns),
                                                    "cputime", json_seconds(f->cpu_ns), "memory", json_memory(f->memory), "disturbed", (int)f->disturbed));
        json_object_set_new(j, "seed", q->has_seed ? json_integer((json_int_t)q->seed) : json_null());
        json_object_set_new(j, "measured", json_string(format_date(f->measured).s));
        json_object_set_new(j, "machine", json_string(i->report->machine));
        json_object_set_new(j, "host", json_pack("{so so sI sI so}", "host", json_printable(q->machine ?: b->host ?: ""), "cpu",
                                                 json_printable(b->cpu ?: ""), "cores", (json_int_t)b->cores, "memory", (json_int_t)b->ram, "kernel",
                                                 json_printable(b->os ?: "")));
        json_object_set_new(j, "imported", json_pack("{ss so so so so so}", "format", "benchexec", "file", json_printable(q->file), "tool",
                                                     json_printable(b->tool ?: ""), "version", json_printable(b->version ?: ""), "status",
                                                     json_printable(run->status ?: ""), "category", json_printable(run->category ?: "")));
        return j;
}

/* 0: not known. */
static int64_t moment_of(const struct importing *i, const struct benchexec_run *run)
{
        return run->measured ? run->measured : i->results->started;
}

static struct fact *fact_of(const struct importing *i, const struct benchexec_run *run, const struct case_info *info)
{
        struct fact *f = allocate(1, sizeof(*f));
        char *answers = answers_of(run, info), *text;
        json_t *j;

        *f = (struct fact){.refs = 1,
                           .verdict = run->verdict,
                           .wall_ns = run->wall_ns,
                           .cpu_ns = run->cpu_ns,
                           .memory = run->memory,
                           .disturbed = run->disturbed,
                           .measured = moment_of(i, run) ?: i->now,
                           .results = {.data = answers, .size = strlen(answers), .owned = answers}};
        limits_of(i, run, &f->limits);
        j = run_json(i, run, info, f);
        text = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        json_decref(j);
        f->json = (struct blob){.data = text, .size = strlen(text), .owned = text};
        return f;
}

static bool is_same(const struct fact *a, const struct fact *b)
{
        return a->verdict == b->verdict && a->wall_ns == b->wall_ns && a->cpu_ns == b->cpu_ns && a->memory == b->memory;
}

/* True if the store has this result or a newer one of the same run. A result without a date is known if its numbers are the same, as in a
 * second import of a file. */
static bool is_known(struct store_txn *t, const uint8_t key[FACT_KEY_SIZE], const struct fact *f, bool is_dated)
{
        cleanup(fact_unrefp) struct fact *there = NULL;
        cleanup_blob struct blob b = {0};

        return store_get(t, TABLE_FACTS, SLICE(key, FACT_KEY_SIZE), &b) == 0 && fact_decode(SLICE(b.data, b.size), FACT_BRIEF, &there) == 0 &&
               (there->measured >= f->measured || (!is_dated && is_same(there, f)));
}

static int put_run(const struct importing *i, struct store_txn *t, const struct benchexec_run *run, struct case_info *info)
{
        const struct import_request *q = i->request;
        struct cell cell = {.solver = q->solver,
                            .commit = q->commit,
                            .info = info,
                            .has_seed = q->has_seed,
                            .seed = q->seed,
                            .machine = i->report->machine};
        cleanup(fact_unrefp) struct fact *f = fact_of(i, run, info);
        cleanup_buffer struct buffer encoded = {0};
        uint8_t run_of[RUN_KEY_SIZE], key[FACT_KEY_SIZE];

        run_key_of(&i->program, &cell, run_of);
        fact_key(run_of, &f->limits, key);
        i->report->wrong += answers_contradict(f, info);
        if (is_known(t, key, f, moment_of(i, run) != 0)) {
                i->report->known++;
                return 0;
        }
        i->report->imported++;
        return fact_encode(f, &encoded)
            ?: store_put(t, TABLE_FACTS, SLICE(key, sizeof(key)), SLICE(encoded.data, encoded.size))
            ?: fact_note(t, &(struct noted_fact){.cell = &cell, .commit = i->commit, .key = SLICE(key, sizeof(key)), .fact = f});
}

static int put_all(void *user, struct store_txn *t)
{
        const struct importing *i = user;
        int r = 0;

        i->report->imported = i->report->known = i->report->wrong = 0; /* the transaction may run twice */
        for (size_t k = 0; k < i->results->n_runs && r == 0; k++) {
                r = progress_step(i->request->progress, "import", k, i->results->n_runs);
                if (r == 0 && i->cases[k])
                        r = put_run(i, t, &i->results->runs[k], i->cases[k]);
        }
        if (r == 0 && i->report->imported > 0)
                r = machine_note(t, i->report->machine, &i->source, &i->program);
        return r;
}

/* -- a document ---------------------------------------------------------------------------------------------------- */

static int match_cases(struct importing *i, struct names *names)
{
        int r = 0;

        for (size_t k = 0; k < i->results->n_runs && r == 0; k++) {
                const struct benchexec_run *run = &i->results->runs[k];
                struct case_info **found = &i->cases[k];

                r = find_case(i->workspace, i->request->file, names, run, found);
                if (*found && !recipe_takes(i->request->solver->recipe, (*found)->format))
                        *found = case_info_unref(*found);
                if (r < 0 || *found)
                        continue;
                i->report->absent++;
                i->report->first_absent = i->report->first_absent ?: copy_string(run->name);
        }
        return r;
}

int import_benchexec(struct workspace *w, const struct benchexec_results *results, const struct import_request *request,
                     struct import_report *ret)
{
        cleanup_free struct case_info **cases = allocate(results->n_runs + 1, sizeof(struct case_info *));
        cleanup(names_done) struct names names = {0};
        struct importing i = {.workspace = w, .results = results, .request = request, .report = ret, .cases = cases, .now = now_seconds()};
        struct commit commit = {0};
        int r = machine_of(results, request, &ret->machine)
            ?: names_read(w, &names)
            ?: match_cases(&i, &names)
            ?: history_commit(request->solver->history, request->commit, &commit)
            ?: machine_source_digest(request->solver, request->commit, &i.source);

        if (r == 0) {
                i.commit = commit.oid;
                machine_unknown_program(ret->machine, &i.source, &i.program);
                r = ret->absent < results->n_runs ? store_update(workspace_store(w), put_all, &i) : 0;
        }
        for (size_t k = 0; k < results->n_runs; k++)
                case_info_unref(cases[k]);
        return r;
}

void import_report_done(struct import_report *r)
{
        free(r->first_absent);
        free(r->machine);
        *r = (struct import_report){0};
}
