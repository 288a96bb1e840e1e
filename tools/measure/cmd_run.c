/* solverfs run: measures commits on cases, or prints stored results. */
#include "tools/ask.h"
#include "core/query/cell_answer.h"
#include "core/run/effort.h"
#include "core/run/cell_file.h"
#include "core/query/programs.h"
#include "tools/words.h"

#define COLUMNS_ALWAYS 8
#define COLUMNS_MOST   11

struct running {
        /* options */
        const char *machine_name;
        struct words words; /* REV... CASE... */
        bool again, print;
        const char *on; /* NULL: as the config says */
        enum cell_file file; /* to print */
        struct cell cell;    /* seed, limit, machine and solver of all */

        struct revisions revisions;
        struct case_selection cases;
        size_t n_wrong;
        bool *is_told;  /* [revisions.n] already reported as unbuildable, or not started */
        bool *disputed; /* [cases.n] already reported */
        struct column columns[COLUMNS_MOST + 1];
        struct buffer *subjects; /* [revisions.n] if there is such a column; filled when first shown */
};

static void parse_print(void *to, const char *text)
{
        if (!cell_file_find(text, to))
                command_usage("--print takes time, cputime, memory, result, effort, stdout, stderr, run.json or queries.tsv, not '%s'", text);
}

/* The recipe has a pattern for the solver's effort. */
static bool has_effort(void)
{
        return common.solver->recipe->effort[0];
}

/* The columns of this run: eight that each run has, then EFFORT and SUBJECT where they apply, and DISTURBED. The last number of a column is its rank: a
 * narrow terminal leaves out the highest first, and never a column without one. */
static void choose_columns(struct running *o)
{
        static const struct column always[COLUMNS_ALWAYS] = {{"CASE", 6, true},            {"RESULT", 8},               {"TIME (s)", 11, true},
                                                             {"CPUTIME (s)", 11, true, 5}, {"MEMORY (B)", 11, true, 6}, {"COMMIT", 12, false, 2},
                                                             {"CHECK", 8},                 {"NAME", 24, false, 1}};
        size_t n = COLUMNS_ALWAYS;

        memcpy(o->columns, always, sizeof(always));
        if (has_effort())
                o->columns[n++] = (struct column){"EFFORT", 12, true, 4};
        if (o->revisions.n > 1) {
                o->subjects = allocate(o->revisions.n, sizeof(*o->subjects));
                o->columns[n++] = (struct column){"SUBJECT", 50, false, 7};
        }
        o->columns[n] = (struct column){"DISTURBED", 9, false, 3};
}

static struct cell cell_of(const struct running *o, size_t i)
{
        struct cell cell = o->cell;

        cell.commit = o->revisions.list[i / o->cases.n];
        cell.info = o->cases.list[i % o->cases.n];
        return cell;
}

static int make(void *user, size_t i, struct query **ret)
{
        struct running *o = user;
        struct cell cell = cell_of(o, i);

        return query_run(common.workspace, &cell, ret);
}

/* -- showing an answer ------------------------------------------------------------------------------------------ */

/* The first line of a commit's message. NULL: there is no such column. */
static const char *subject_of(struct running *o, size_t revision)
{
        struct buffer *b = o->subjects ? &o->subjects[revision] : NULL;

        if (b && !b->data)
                history_subject(common.solver->history, o->revisions.list[revision], b);
        return b ? b->data ?: "" : NULL;
}

/* An answer as an object: a column shows the key that is its name in lower case, up to a blank. */
static json_t *row_of(struct running *o, size_t i, const struct cell *cell, const struct fact *f, bool disputed)
{
        cleanup_buffer struct buffer effort = {0}, results = {0};

        cell_results(f, &results);
        if (has_effort())
                effort_print_first(f, cell->solver->recipe, &effort);
        return json_pack("{si ss ss ss so ss ss so ss* ss* ss}", "case", (int)cell->info->id, "result", results.data, "time",
                         f ? format_seconds(f->wall_ns).s : "-", "cputime", f ? format_seconds(f->cpu_ns).s : "-",
                         "memory", json_memory(f ? f->memory : 0), "commit", commit_label(common.solver, cell->commit).s, "check",
                         cell_check(cell, f, disputed), "name", json_printable(cell->info->name), "effort", effort.data, "subject",
                         subject_of(o, i / o->cases.n), "disturbed", f && f->disturbed ? "disturbed" : "-");
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct running *o = user;
        const struct run_value *run = (const struct run_value *)v;
        struct cell cell = cell_of(o, i);
        bool *told = &o->is_told[i / o->cases.n], disputed; /* told: once for all cases of a revision, as all show the same */

        if (r < 0) {
                complain("%s %s on case %u: %s", common.solver->recipe->name, commit_label(common.solver, cell.commit).s, cell.info->id, reason);
                command_worse(status_of_value(r));
                return;
        }
        disputed = command_tell_disputed(cell.info, run->fact, &o->disputed[i % o->cases.n]);
        r = o->print ? cell_print(common.workspace, cell.solver->recipe, cell.info, run->fact, o->file, to) : 0;
        if (r < 0) {
                complain("case %u: %s", cell.info->id, error_message(r));
                command_worse(status_of_value(r));
        }
        if (!o->print)
                add_object(to, o->columns, common.json ? cell_answer_json(&cell, full_sha(common.solver, cell.commit).s, run->fact, disputed, run->build)
                                                       : row_of(o, i, &cell, run->fact, disputed));
        if (!run->fact) {
                command_worse(STATUS_FAILED);
                command_tell_unbuildable(complain, cell.solver, cell.commit, run->build, told);
        } else if (run->fact->wrong) {
                command_tell_wrong(&cell, run->fact);
                o->n_wrong++;
        } else
                command_tell_not_started(complain, cell.solver, cell.commit, run->fact, told);
}

void cmd_run(int argc, char **argv)
{
        static const char doc[] =
                "Measure commits on cases, unless the result is stored. Prints for each: case, result, time, cputime (seconds), memory (bytes), "
                "commit, correct or WRONG (- where the case does not say) or DISPUTED (another solver or commit answers otherwise), name; the "
                "solver's own count of its effort where the recipe has a pattern for it; with several commits, the first line of the commit's "
                "message; and 'disturbed' where others kept the run from its core, however often it was taken again.\v"
                "REV is whatever git rev-parse takes; A..B: the commits on B's first-parent line that are not on A's, oldest first; or a pattern "
                "over tags, in the order of the history: 'z3-4.*'.\n"
                "'exec:PATH ARG...' is a program of this machine, which needs no solver: its arguments, with {case} where the input belongs (else "
                "last), and {n} in the word that sets a seed.\n"
                "CASE is an id, a name, a prefix of a sha256 (four digits or more), or a file with the same bytes; for several: 3-17 (ids), "
                "'QF_S/*.smt2' (a pattern over names), QF_S/ (what is below it), a set (see set add), all. 42#17 is a query of a script, its 17th "
                "check-sat; 42#3-9 and 42#all are several. The cases begin with the first word, "
                "behind the first REV, that names one.\n"
                "An answer that contradicts the case's own :status, or that of another cell, is reported on standard error, and the exit status is 1; so "
                "it is when a commit cannot be built. A timeout is an answer like any other: status 0.\n\n"
                "  solverfs run kissat HEAD all\n"
                "  solverfs run z3 z3-4.8.8 z3-4.8.17 7-12\n"
                "  solverfs run z3 'z3-4.*' QF_S/ --timeout 5s\n"
                "  solverfs run 'exec:/usr/bin/z3 -st' exec:/usr/bin/cvc5 all";
        static struct running o;
        size_t n_revisions; /* how many words are revisions */
        const struct command_option options[] = {
                OPTION_SEED(o.cell.seed, o.cell.has_seed, "Fix the solver's random seed to N"),
                OPTION_TIMEOUT(o.cell.wall_ns),
                {"again", 'a', NULL, "Measure again even if stored; a cell's value is the median of its runs", .on = &o.again,
                 .excludes = "machine", .why = "nothing can be measured anew on another machine"},
                {"machine", 0, "NAME", "Show the stored results of machine NAME; measure nothing", .text = &o.machine_name},
                {"on", 'o', "NAME", "Run there: 'local', or a cluster of the store's config", .text = &o.on, .excludes = "machine",
                 .why = "nothing is run with --machine"},
                OPTION_JSON("Print a JSON object for each, a line each, with everything known of the run"),
                {"print", 'p', "FILE",
                 "Print only what this file of the mount holds: time, cputime, memory, result, effort, stdout, stderr, run.json, queries.tsv",
                 .parse = parse_print, .to = &o.file, .is_given = &o.print, .excludes = "json"},
                {0}};

        o.words = command_parse(argc, argv, "SOLVER REV... CASE...\n'exec:PATH ARG...'... CASE...", doc, options);
        if (o.words.n < 2 || (o.words.n < 3 && !program_is_text(o.words.list[0])))
                command_usage("expected SOLVER REV... CASE..., or 'exec:PATH ARG...'... CASE...; CASE may be 'all'");
        command_signals();
        command_open_versions(o.on, &o.words);
        o.cell.machine = command_machine(o.machine_name);
        n_revisions = command_revisions_and_cases(o.words.list, o.words.n, &o.revisions, &o.cases);
        for (size_t i = 0; i < o.revisions.n; i++)
                command_seed(common.solver, o.revisions.list[i], o.cell.has_seed);
        o.cell.solver = common.solver;
        command_keep_format(common.solver, o.words.list + n_revisions, o.words.n - n_revisions, &o.cases);
        for (size_t i = 0; i < o.cases.n && o.again; i++)
                if (o.cases.list[i]->query > 0)
                        command_usage("--again is for whole scripts: leave out '#' and what follows it");
        o.is_told = allocate(o.revisions.n + 1, sizeof(*o.is_told));
        o.disputed = allocate(o.cases.n + 1, sizeof(*o.disputed));
        choose_columns(&o);
        command_worse(command_ask_all(&(struct command_batch){.n = o.revisions.n * o.cases.n, .again = o.again, .title = "run",
                                                               .columns = o.print ? NULL : o.columns, .make = make, .answered = answered, .user = &o}));
        if (o.n_wrong > 1)
                alarm_line("%zu WRONG ANSWERS in all", o.n_wrong);
}
