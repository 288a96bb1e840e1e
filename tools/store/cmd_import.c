/* solverfs import: imports results of other machines and tools. */
#include <fcntl.h>

#include "core/study/import/import_study.h"
#include "tools/words.h"

struct importing {
        /* options */
        const char *solver, *revision, *machine;
        struct words files;
        const char *format; /* NULL: other stores */
        bool has_seed;
        uint64_t seed;
};

/* -- the solver and the commit ------------------------------------------------------------------------------------- */

/* Finds the solver and the commit from the options or, without them, from the document. A status, after a message unless STATUS_OK. */
static int choose(struct importing *o, const char *file, const struct benchexec_results *b, struct solver **ret, uint32_t *ret_commit)
{
        const char *name = o->solver ?: b->tool ?: "", *revision = b->version ?: "";
        int r;

        if (!*name)
                return fail_as(STATUS_USAGE, errorf(-EINVAL, "%s does not say of which solver it is; --solver NAME does", file));
        r = workspace_solver(common.workspace, name, ret);
        if (r == -ENOENT && !o->solver)
                return fail_as(STATUS_ABSENT, errorf(-EINVAL, "%s is of '%s', which is no solver of this store; --solver NAME says which one it is", file,
                                                     name));
        if (r < 0)
                return fail(r);
        if (o->revision)
                return find_commit(*ret, "--revision", o->revision, ret_commit);
        if (*revision && history_resolve((*ret)->history, revision, ret_commit) == 0)
                return STATUS_OK;
        complain("%s is of version '%s', which is no revision of %s; --revision REV says which one it is", file, revision, (*ret)->recipe->name);
        return STATUS_ABSENT;
}

/* -- a file of BenchExec ------------------------------------------------------------------------------------------- */

static void tell(const char *file, const struct import_report *r, uint64_t unfinished)
{
        if (r->absent > 0) {
                cleanup_free char *name = printable(r->first_absent ? r->first_absent : "");

                note("%s: %" PRIu64 " %s of cases that are not in this store, such as '%s': 'solverfs case add' and the same command take them in", file,
                     r->absent, r->absent == 1 ? "run is" : "runs are", name);
        }
        if (r->wrong > 0) {
                alarm_line("%" PRIu64 " WRONG %s in %s", r->wrong, r->wrong == 1 ? "ANSWER" : "ANSWERS", file);
                command_worse(STATUS_FAILED);
        }
        if (r->imported + r->known + r->absent == 0)
                complain("%s has no result: %s", file, unfinished > 0 ? "none of its runs ended" : "no run is in it");
        if (r->imported + r->known == 0)
                command_worse(STATUS_ABSENT);
}

static int import_file(struct importing *o, const char *file)
{
        static const struct column columns[] = {{"IMPORTED", 9, true}, {"KNOWN", 7, true}, {"NO-CASE", 8, true}, {"UNFINISHED", 10, true}, {"MACHINE", 40},
                                                {"FILE"}, {0}};
        cleanup_benchexec struct benchexec_results results = {0};
        cleanup_import_report struct import_report report = {0};
        cleanup_solver struct solver *s = NULL;
        cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC);
        struct import_request q = {.file = file, .machine = o->machine, .has_seed = o->has_seed, .seed = o->seed, .progress = &command_progress};
        int r;

        if (fd < 0)
                return fail_as(STATUS_ABSENT, errorf(-EINVAL, "cannot open %s: %s", file, strerror(errno)));
        if (is_folder(file))
                return fail_as(STATUS_USAGE, errorf(-EINVAL, "%s is a folder: name the files in it", file));
        r = benchexec_read(fd, file, &command_progress, &results);
        if (r < 0)
                return fail_as(r == -ENOMEM ? STATUS_SYSTEM : r == -ECANCELED ? STATUS_INTERRUPTED : STATUS_FAILED, r);
        r = choose(o, file, &results, &s, &q.commit);
        if (r != STATUS_OK)
                return r;
        if (results.has_seed) {
                if (o->has_seed && o->seed != results.seed)
                        return fail_as(STATUS_USAGE, errorf(-EINVAL, "%s is of seed %" PRIu64 ", and --seed says %" PRIu64, file, results.seed,
                                                            o->seed));
                q.has_seed = true;
                q.seed = results.seed;
        }
        r = seed_check(s, q.commit, q.has_seed);
        if (r < 0)
                return fail_as(STATUS_USAGE, errorf(r, "%s: %s", file, error_message(r)));
        q.solver = s;
        r = import_benchexec(common.workspace, &results, &q, &report);
        if (r < 0)
                return r == -ECANCELED ? fail_as(STATUS_INTERRUPTED, r) : r == -EINVAL || r == -EEXIST || r == -ENOTUNIQ ? fail_as(STATUS_FAILED, r)
                : fail(r);
        output_object(columns, json_pack("{so so sI sI sI sI sI}", "file", json_printable(file), "machine", json_legible(report.machine), "imported",
                                         report.imported, "known", report.known, "no-case", report.absent, "unfinished", results.unfinished, "wrong",
                                         report.wrong));
        tell(file, &report, results.unfinished);
        return STATUS_OK;
}

/* -- another store ------------------------------------------------------------------------------------------------- */

static void tell_line(void *, const char *line)
{
        note("%s", line);
}

static void show_store(const char *dir, const struct store_import *r, const struct study_import *f)
{
        static const struct column columns[] = {{"CASES", 8, true},         {"RESULTS", 9, true},  {"BUILDS", 8, true}, {"KNOWN", 9, true},
                                                {"PASSED-OVER", 11, true},  {"FINDINGS", 8, true}, {"CAMPAIGNS", 9, true}, {"SETS", 4, true}, {"STORE"},
                                                {0}};
        uint64_t known = r->known_cases + r->known_sets + r->known_facts + r->known_builds + f->known_findings + f->known_campaigns + f->known_alarms;

        output_object(columns, json_pack("{so sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "store", json_printable(dir), ".known", known, "cases",
                                         r->cases, "known-cases", r->known_cases, "results", r->facts, "known-results", r->known_facts, "passed-over",
                                         r->absent + f->absent, "builds", r->builds, "known-builds", r->known_builds, "findings", f->findings,
                                         "known-findings", f->known_findings, "campaigns", f->campaigns, "known-campaigns", f->known_campaigns, "sets",
                                         r->sets, "known-sets", r->known_sets, "alarms", f->alarms, "known-alarms", f->known_alarms, "damaged",
                                         r->damaged + f->damaged));
        if (f->alarms > 0 && !common.json)
                note("%" PRIu64 " alarm%s imported: 'solverfs alarms' lists them", f->alarms, f->alarms == 1 ? " was" : "s were");
}

static int import_store(const char *dir)
{
        struct store_source source = {.here = common.workspace, .say = tell_line, .progress = &command_progress};
        struct store_import results = {0};
        struct study_import found = {0};
        int r;

        if (access(dir, F_OK) == 0 && !is_folder(dir))
                return fail_as(STATUS_USAGE, errorf(-EINVAL, "%s is a file, not a store; import results of BenchExec with '--format benchexec'",
                                                    dir));
        r = source_open(&source, dir)
            ?: import_cases(&source, &results)
            ?: import_study(&source, &found)
            ?: import_results(&source, &results);
        if (r == -ECANCELED) {
                note("what was taken in is kept; the same command goes on from there");
                r = STATUS_INTERRUPTED;
        } else if (r < 0) {
                r = r == -EINVAL ? fail_as(STATUS_USAGE, r) : fail(r);
        } else {
                show_store(dir, &results, &found);
                if (results.damaged + found.damaged > 0)
                        r = STATUS_FAILED;
        }
        source_done(&source);
        return r;
}

void cmd_import(int argc, char **argv)
{
        static const char doc[] =
                "Import other stores: cases and sets, results with their machines, records of builds, findings, campaigns and alarms. Prints for "
                "each: cases, "
                "results and builds imported, how many of all were known, results whose solver or commit is missing here, findings, campaigns, "
                "sets, the store. Or import results of "
                "another tool: files of BenchExec, *.xml, also compressed. Prints for each: results imported, "
                "results that were known, runs whose case the store lacks, unfinished runs, the machine, the file.\v"
                "Imported results belong to the machine that ran them, and are shown only if it is named: 'run --machine', 'history --machine', "
                "'compare --machine', 'export --machine'. A run belongs to the case of its name, or of its sha256 in a file that solverfs exported.\n"
                "Results and ids of this store do not change. Results of this machine become its own.\n"
                "A file is imported whole or not at all; repeat the command to continue an interrupted import of a store. Importing a file again "
                "adds only results whose cases were added since.\n"
                "\n"
                "  solverfs import /mnt/usb/store\n"
                "  solverfs import --format benchexec r.xml.bz2 --solver cvc5 --revision v1.1\n"
                "  solverfs run cvc5 cvc5-1.1.2 all --machine apollon001";
        struct importing o = {0};
        const struct command_option options[] = {
                {"format", 'f', "FORMAT", "benchexec: files of BenchExec; default: other stores", .text = &o.format},
                {"solver", 0, "NAME", "The solver of the results; default: as in the file", .text = &o.solver},
                {"revision", 0, "REV", "The commit of the results; default: as in the file", .text = &o.revision},
                {"machine", 0, "NAME", "A name for the machine that ran them; default: as in the file", .text = &o.machine},
                OPTION_SEED(o.seed, o.has_seed, "The solver's random seed in these runs; default: as in the file"),
                OPTION_JSON("Print a JSON object for each file, a line each"),
                {0}};

        o.files = command_parse(argc, argv, "STORE...\n--format benchexec FILE...", doc, options);
        if (o.format && strcmp(o.format, "benchexec") != 0)
                command_usage("--format takes benchexec, not '%s'", o.format);
        if (o.machine && !*o.machine)
                command_usage("--machine takes a name");
        if (o.files.n == 0)
                command_usage(o.format ? "expected FILE..." : "expected STORE..., or --format benchexec FILE...");
        if (!o.format && (o.solver || o.revision || o.machine || o.has_seed))
                command_usage("--solver, --revision, --machine and --seed go with --format: a store says all that itself");
        command_stoppable();
        command_open(0);
        for (size_t i = 0; i < o.files.n && !command_stopped(); i++)
                command_worse(o.format ? import_file(&o, o.files.list[i]) : import_store(o.files.list[i]));
        if (command_stopped())
                command_worse(STATUS_INTERRUPTED);
}
