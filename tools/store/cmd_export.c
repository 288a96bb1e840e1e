/* solverfs export: finished results in formats of other tools. */
#include "core/query/cell_answer.h"
#include "core/run/effort.h"
#include "core/query/resolved_cell.h"
#include "core/report/export.h"
#include "core/run/cell_file.h"
#include "version.h"
#include "tools/words.h"

struct exporting {
        /* options */
        const char *solver_name, *set, *output, *machine_name;
        struct words words; /* REV... CASE... */
        const struct export_kind *format;
        struct cell cell; /* seed, limit and machine of all */

        struct revisions revisions;  /* of SOLVER; none: all commits with results */
        bool has_revisions;
        struct case_selection cases; /* CASE...; none: all cases with results */
        bool has_cases;
        struct exporter *exporter;
        struct case_memo *memo;
        uint64_t rows, unbuildable;
        struct buffer missing; /* names of the first versions without finished results */
        size_t n_missing;
};
#define MISSING_NAMED 5

static void parse_format(void *to, const char *text)
{
        if (!(*(const struct export_kind **)to = export_kind_find(text)))
                command_usage("--format takes " EXPORT_FORMATS ", not '%s'", text);
}

/* command_must(), which also removes what was written so far. */
static void must(struct exporting *o, int r)
{
        int status = STATUS_OK;

        if (r >= 0)
                return;
        if (r != -EPIPE || !output_broken()) /* output_end() reports a broken output */
                status = fail_as(status_of(r) == STATUS_INTERRUPTED ? STATUS_INTERRUPTED : STATUS_SYSTEM, r);
        export_close(o->exporter);
        command_end(status);
}

/* -- a version ----------------------------------------------------------------------------------------------------- */

/* Writes the row of a cell if its result is stored. `failed` NULL: the commit is built, and `resolved` finds its results; else it cannot be built, as the
 * record says, and the row has no fact. */
static void write_cell(struct exporting *o, const struct export_version *v, const struct cell *cell, const struct resolved_cell *resolved,
                       const struct build_record *failed)
{
        const bool has_effort = cell->solver->recipe->effort[0] != NULL;
        const bool is_brief = !o->format->reads_run && !o->format->reads_first_run && !o->format->reads_answer && !has_effort;
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup_buffer struct buffer result = {0}, effort = {0}, dispute = {0};
        cleanup_free char *name = printable(cell->info->name), *logic = printable(cell->info->logic);
        const struct digest_text sha = digest_text(&cell->info->sha256);
        struct export_row row = {.version = v, .id = cell->info->id, .name = name, .logic = logic, .sha256 = sha.s};
        bool is_disputed;
        int r;

        if (!recipe_takes(cell->solver->recipe, cell->info->format))
                return;
        r = failed ? 0 : resolved_find(common.workspace, resolved, cell->info, is_brief, &f);
        if (r == -ENOENT)
                return;
        must(o, r);
        cell_results(f, &result);
        if (f && has_effort)
                effort_print_first(f, cell->solver->recipe, &effort);
        row.fact = f;
        row.result = result.data;
        row.effort = effort.data ?: "-";
        row.status = verdict_name(cell->info->status);
        is_disputed = dispute_find(common.workspace, cell->info, f, &dispute) == 1;
        row.check = cell_check(cell, f, is_disputed);
        if (o->format->reads_answer)
                row.answer = cell_answer_json(cell, v->commit, f, is_disputed, failed);
        else if (f && export_wants_run(o->exporter))
                row.run = json_loadb(f->json.data ? f->json.data : "", f->json.size, 0, NULL);
        must(o, export_row(o->exporter, &row));
        json_decref(row.answer);
        json_decref(row.run);
        o->rows++;
        must(o, output_broken() ? -EPIPE : 0);
}

/* A commit that cannot be built has a row for each named case or, if none was named, for each known case. */
static void write_cases(struct exporting *o, const struct export_version *v, struct cell *cell)
{
        cleanup(build_record_unrefp) struct build_record *build = NULL;
        cleanup_resolved struct resolved_cell resolved = {0};
        cleanup_case_selection struct case_selection known = {0};
        int r = cell->machine ? -ENOENT : build_find(common.workspace, cell->solver, cell->commit, WITHOUT_LOG, &build);
        const bool failed = r == 0 && !build->ok;
        const struct case_selection *cases = o->has_cases ? &o->cases : &known;

        must(o, r == -ENOENT ? 0 : r);
        o->unbuildable += failed;
        must(o, cell_resolve(common.workspace, cell, NULL, &resolved));
        if (!o->has_cases && !failed)
                must(o, resolved_cases(common.workspace, &resolved, true, o->memo, &known));
        for (size_t i = 0; i < cases->n; i++) {
                cell->info = cases->list[i];
                write_cell(o, v, cell, &resolved, failed ? build : NULL);
        }
}

static void write_version(struct exporting *o, struct solver *s, uint32_t commit, uint32_t place)
{
        cleanup_buffer struct buffer subject = {0};
        const struct commit_sha sha = full_sha(s, commit);
        struct export_version v = {.solver = s->recipe->name, .commit = sha.s, .place = place, .has_seed = o->cell.has_seed, .seed = o->cell.seed};
        struct cell cell = o->cell;
        char machine[PATH_SIZE];
        struct commit c;

        must(o, history_commit(s->history, commit, &c));
        cell.solver = s;
        cell.commit = commit;
        history_subject(s->history, commit, &subject);
        v.committed = c.committed;
        v.subject = subject.data ? subject.data : "";
        cell_machine(&cell, machine);
        v.machine = machine;
        cell_limits(&cell, &v.limits);
        must(o, export_version(o->exporter, &v));
        write_cases(o, &v, &cell);
}

/* -- a solver ------------------------------------------------------------------------------------------------------ */

static void write_solver(struct exporting *o, struct solver *s)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_free uint32_t *known = NULL;
        const uint32_t *list = o->revisions.list;
        size_t n = o->revisions.n;
        char what[80];

        snprintf(what, sizeof(what), "exporting commits of %.40s", s->recipe->name);
        must(o, history_order(s->history, &order));
        if (!o->has_revisions) {
                must(o, commits_known(common.workspace, s, o->cell.machine, &known, &n));
                while (n > 0 && known[n - 1] >= order->n) /* added to the index since */
                        n--;
                if (n > 0)
                        qsort_r(known, n, sizeof(*known), commit_order_compare, order->place);
                list = known;
        }
        for (size_t i = 0; i < n; i++) {
                uint64_t before = o->rows;

                write_version(o, s, list[i], list[i] < order->n ? order->place[list[i]] : 0);
                if (o->has_revisions && o->rows == before && o->n_missing++ < MISSING_NAMED)
                        buffer_addf(&o->missing, "%s%s", o->missing.size > 0 ? ", " : "", commit_label(s, list[i]).s);
                must(o, progress_step(&command_progress, what, i + 1, n));
        }
}

static int write_piece(void *user, const struct buffer *piece)
{
        output_write(piece);
        return output_broken() ? -EPIPE : 0;
}

static void open_target(struct exporting *o)
{
        const bool is_one_version = o->has_revisions && o->revisions.n <= 1;
        struct export_target target = {.path = o->output, .mode = 0666 & ~common.umask, .write = write_piece, .generator = "solverfs " SOLVERFS_VERSION};
        int r;

        if (o->format->one_version && !is_one_version && !o->output)
                command_refuse(STATUS_USAGE, "%s has a document for each version: name one version, or a folder with -o DIR", o->format->name);
        target.is_folder = (o->format->one_version && !is_one_version) ||
                           (o->output && (o->format->wants_folder || o->output[strlen(o->output) - 1] == '/' || is_folder(o->output)));
        if (target.is_folder && !o->format->suffix)
                command_refuse(STATUS_USAGE, "%s is one file, and %s is a folder", o->format->name, o->output);
        r = export_open(o->format, &target, &o->exporter);
        command_must_as(r == -EINVAL ? STATUS_USAGE : STATUS_SYSTEM, r);
}

/* Reads [SOLVER [REV...] [CASE...]]. */
static void choose(struct exporting *o)
{
        size_t n_revisions = 0;

        if (o->solver_name)
                command_solver(o->solver_name, &common.solver);
        if (common.solver && o->cell.has_seed && !common.solver->recipe->seed && !common.solver->recipe->binary_has_own_run)
                command_refuse(STATUS_USAGE, "the recipe of %s has no 'seed': nothing is measured under one", o->solver_name);
        if (common.solver)
                n_revisions = command_known_words(o->words.list, o->words.n, &o->revisions);
        o->has_revisions = n_revisions > 0;
        o->has_cases = o->set || n_revisions < o->words.n;
        if (o->set && n_revisions < o->words.n)
                command_refuse(STATUS_USAGE, "--set and CASE... exclude each other");
        if (o->set)
                command_must(cases_select_set(common.workspace, o->set, &o->cases));
        else if (o->has_cases)
                command_cases(o->words.list + n_revisions, o->words.n - n_revisions, &o->cases);
}

static void say(const struct exporting *o, uint64_t left_out)
{
        if (o->rows == 0 && o->n_missing == 0)
                note("nothing is finished of what was asked for; 'solverfs run' measures it");
        if (left_out > 0)
                note("%" PRIu64 " result%s left out: %s has no word for a run without a right answer", left_out, plural(left_out), o->format->name);
        if (o->unbuildable > 0 && !o->has_cases)
                note("%" PRIu64 " commit%s cannot be built; with CASE... or --set, they have a row for each", o->unbuildable, plural(o->unbuildable));
}

static void export_all(struct exporting *o)
{
        cleanup_solver_list struct solver_list *all = NULL;
        uint64_t left_out = 0;

        if (common.solver)
                write_solver(o, common.solver);
        else
                must(o, workspace_solvers(common.workspace, &all));
        for (size_t i = 0; all && i < all->n; i++)
                write_solver(o, all->list[i]);
        must(o, export_end(o->exporter, &left_out));
        export_close(o->exporter);
        say(o, left_out);
        if (o->n_missing > 0)
                command_refuse(STATUS_FAILED, "nothing is finished of %zu of the versions that were asked for: %s%s; 'solverfs run' measures it",
                               o->n_missing, o->missing.data, o->n_missing > MISSING_NAMED ? ", …" : "");
}

void cmd_export(int argc, char **argv)
{
        static const char doc[] =
                "Write finished results for other tools; starts no work. Without SOLVER: all solvers; without REV: all commits that anything is "
                "known of, in the order of the history; without CASE: all cases with a result.\v"
                "csv is RFC 4180, with the columns of 'run' first. jsonl is what 'run --json' prints. benchexec is a document of XML for each "
                "version, for table-generator. asv is a folder of results for 'asv publish', of one solver. hyperfine is what its --export-json "
                "writes: one document, or one for each version where -o is a folder (there already, or with a slash at its end).\n"
                "A file is written whole or not at all. A named version without finished results is left out: exit status 1.\n\n"
                "  solverfs export --format csv -o results.csv\n"
                "  solverfs export --format benchexec z3 'z3-4.8.*' --set mine -o tables/\n"
                "  solverfs export --format hyperfine z3 z3-4.8.8 z3-4.8.9 17 -o two.json";
        static struct exporting o;
        const struct command_option options[] = {
                {"format", 'f', "FORMAT", "One of " EXPORT_FORMATS, .parse = parse_format, .to = &o.format},
                {"set", 0, "SET", "The cases of this set", .text = &o.set},
                {"machine", 0, "NAME", "Results of this machine", .text = &o.machine_name},
                {"output", 'o', "FILE|DIR", "Write here; -: standard output, the default", .text = &o.output},
                OPTION_SEED(o.cell.seed, o.cell.has_seed, "Results under this seed"),
                {"timeout", 't', "T", "Results under this time limit; default: the recipe's", .ns = &o.cell.wall_ns},
                {0}};

        o.words = command_parse(argc, argv, "[SOLVER [REV...] [CASE...]]", doc, options);
        if (o.output && !*o.output)
                command_usage("--output takes a file or a folder, not ''");
        if (o.output && strcmp(o.output, "-") == 0)
                o.output = NULL;
        o.solver_name = word_next(&o.words);
        if (!o.format)
                command_usage("say which format: --format " EXPORT_FORMATS);
        if (o.format->one_solver && !o.solver_name)
                command_usage("%s knows one project: name a SOLVER", o.format->name);
        if (o.format->wants_folder && !o.output)
                command_usage("%s's results are a folder: name it with -o DIR", o.format->name);
        command_open(0);
        o.cell.machine = command_machine(o.machine_name);
        choose(&o);
        o.memo = case_memo_new(workspace_cases(common.workspace));
        open_target(&o); /* opening a pipe waits for its reader; a signal ends that */
        command_stoppable();
        export_all(&o);
}
