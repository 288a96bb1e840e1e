/* solverfs case: add, list, remove. */
#include "tools/words.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

static void parse_status(void *to, const char *text)
{
        if (case_status_parse(slice_string(text), to) < 0)
                command_usage("--status is sat, unsat or unknown, not '%s'", text);
}

/* -- add -------------------------------------------------------------------------------------------------------- */

struct adding {
        struct cases *cases;
        enum verdict answer; /* --status */
        bool has_answer;
        struct file {
                char *path, *name; /* owned until the end of the process */
        } *files;
        size_t n;
        size_t passed_over, compressed; /* how many files of folders were left out: of other endings, or compressed in a way that is not read */
};

/* Complains; the other files are added all the same. */
static void add_failed(const char *path, int r)
{
        complain("%s: %s", path, error_message(r));
        command_worse(status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED);
}

static int cannot_read(int error)
{
        return errorf(-error, "cannot be read: %s", strerror(error));
}

/* Reads the status from the file beside a case, NAME.status, where NAME is the path without .gz and the like. VERDICT_UNKNOWN: there is none. */
static int status_beside(const char *path, enum verdict *ret)
{
        cleanup_blob struct blob text = {0};
        cleanup_free char *beside = format_string("%.*s.status", (int)case_unpacked_name(path), path);
        struct stat st;
        int r;

        *ret = VERDICT_UNKNOWN;
        if (stat(beside, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        r = read_file(beside, 4096, &text);
        if (r == 0 && case_status_parse(SLICE(text.data ?: "", text.size), ret) < 0)
                r = errorf(-EINVAL, "%s says neither sat, unsat nor unknown", beside);
        return r;
}

/* Sets the status given for a case, in place of one given before. Earlier answers may prove wrong by it. */
static int set_status(struct adding *a, uint32_t id, const char *path)
{
        cleanup(case_info_unrefp) struct case_info *before = NULL;
        enum verdict status = a->answer;
        int r = a->has_answer ? 0 : status_beside(path, &status);

        if (r < 0 || (!a->has_answer && status == VERDICT_UNKNOWN))
                return r;
        r = cases_get(a->cases, id, &before) ?: cases_set_status(a->cases, id, status);
        if (r == 1 && before->status != VERDICT_UNKNOWN)
                note("the status of case %u was %s, and is %s now", id, verdict_name(before->status), verdict_name(status));
        return r < 0 ? r : answers_look_again(common.workspace, id); /* also of a status that is there: the command that set it may have been killed */
}

static void add_file(struct adding *a, const char *path, const char *name)
{
        static const struct column columns[] = {{"CASE", 6, true, .key = "id"}, {"", 5, .key = "state"}, {"NAME"}, {0}};
        /* O_NONBLOCK: do not wait for the other end of a pipe given as a case. */
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct stat st;
        uint32_t id;
        bool is_new;
        int r = 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                r = cannot_read(errno);
        else if (!S_ISREG(st.st_mode))
                r = errorf(-EINVAL, "not a file: save it to one first");
        if (r == 0)
                r = cases_add_given(a->cases, name, fd, &id, &is_new);
        if (r < 0) {
                add_failed(path, r);
                return;
        }
        r = set_status(a, id, path);
        if (r < 0)
                add_failed(path, r);
        r = cases_get(a->cases, id, &info); /* for its name, which may differ from the given one */
        output_object(columns, json_pack("{si sb ss so}", "id", (int)id, "new", is_new, ".state", is_new ? "new" : "known", "name",
                                         json_printable(r == 0 ? info->name : name)));
}

static void list_file(struct adding *a, const char *path, const char *name)
{
        list_add(a->files, a->n, (struct file){copy_string(path), copy_string(name)});
}

/* "*.@(smt2|cnf)" */
static bool is_called(const char *name, const char *pattern)
{
        return fnmatch(pattern, name, FNM_EXTMATCH | FNM_CASEFOLD) == 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Lists the cases of a folder in the order of their names, so that ids are given in that order. Follows symlinks, as benchmark sets often consist of
 * them. */
static void walk(struct adding *a, char *dir)
{
        char *roots[] = {dir, NULL};
        FTS *fts = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
        char unpacked[NAME_MAX + 1];
        size_t below = strlen(dir); /* where names below it begin */
        FTSENT *e;

        if (!fts) {
                add_failed(dir, cannot_read(errno));
                return;
        }
        while (below > 1 && dir[below - 1] == '/')
                below--;
        while (errno = 0, (e = fts_read(fts)) && !command_stopped()) {
                const char *name = e->fts_path + MIN(below, (size_t)e->fts_pathlen);

                if (e->fts_level > 0 && e->fts_info == FTS_D && e->fts_name[0] == '.') /* .git and the like */
                        fts_set(fts, e, FTS_SKIP);
                else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS || e->fts_info == FTS_SLNONE)
                        add_failed(e->fts_path, cannot_read(e->fts_errno ?: ENOENT));
                else if (e->fts_info == FTS_DC)
                        add_failed(e->fts_path, errorf(-ELOOP, "a folder that holds itself by a symlink"));
                if (e->fts_info != FTS_F || is_called(e->fts_name, "*.status")) /* status_beside() reads that */
                        continue;
                snprintf(unpacked, sizeof(unpacked), "%.*s", (int)case_unpacked_name(e->fts_name), e->fts_name);
                if (is_called(unpacked, "*.@(smt2|smt|cnf|dimacs)"))
                        list_file(a, e->fts_path, name + strspn(name, "/"));
                else if (is_called(e->fts_name, "*.@(lzma|zip|7z|lz4)"))
                        a->compressed++;
                else
                        a->passed_over++;
        }
        if (!e && errno != 0)
                add_failed(dir, cannot_read(errno));
        fts_close(fts);
}

void cmd_case_add(int argc, char **argv)
{
        static const char doc[] =
                "Add benchmark instances. Prints a line for each: id, 'new' or 'known', name.\v"
                "Of a DIR, every file below it that ends in .smt2, .smt, .cnf or .dimacs, also compressed, is added, named by its path below DIR; "
                "folders whose names begin with a dot are passed over. The same bytes twice are one case, with the name they had first; a name that "
                "other bytes have is refused. Compressed files (.gz, .xz, .bz2, .zst) are kept unpacked, under their names without that.\n"
                "The answer to a case is known by its :status, in DIMACS by a comment 'c status sat' before the clauses, by a file FILE.status "
                "beside it that holds sat or unsat, or by --status.";
        static struct adding a = {.answer = VERDICT_UNKNOWN};
        const char *name = NULL;
        const struct command_option options[] = {
                {"name", 'n', "NAME", "The case's name (with one FILE; default: the file's name)", .text = &name},
                {"status", 's', "STATUS", "The correct answer, sat, unsat or unknown, if the file does not give it", .parse = parse_status,
                 .to = &a.answer, .is_given = &a.has_answer},
                OPTION_JSON("Print a JSON object for each, a line each"),
                {0}};
        struct words files = command_parse(argc, argv, "FILE|DIR...", doc, options);

        if (name && files.n > 1)
                command_usage("--name takes exactly one FILE; %zu given", files.n);
        if (name && is_folder(files.list[0]))
                command_usage("--name takes a FILE, and %s is a folder", files.list[0]);
        command_stoppable();
        command_open(0);
        a.cases = workspace_cases(common.workspace);
        for (size_t i = 0; i < files.n; i++)
                if (is_folder(files.list[i]))
                        walk(&a, files.list[i]);
                else
                        list_file(&a, files.list[i], name ? name : basename(files.list[i]));
        for (size_t i = 0; i < a.n && !command_stopped(); i++) {
                if (a.n > 1)
                        progress_show("adding cases", i, a.n, 0, 0);
                add_file(&a, a.files[i].path, a.files[i].name);
        }
        if (a.passed_over > 0)
                note("files passed over, as they do not end in .smt2, .smt, .cnf or .dimacs: %zu; name one to add it all the same", a.passed_over);
        if (a.compressed > 0)
                note("compressed files passed over: %zu; unpack them first: a case is what the solver reads", a.compressed);
        if (command_stopped())
                command_worse(STATUS_INTERRUPTED);
}

/* -- list ------------------------------------------------------------------------------------------------------- */

static void list_case(const struct case_info *c)
{
        static const struct column columns[] = {{"CASE", 6, true, .key = "id"}, {"STATUS", 7, false, 1},  {"LOGIC", 10, false, 2},
                                                {"SIZE (B)", 10, true, 3},      {"SHA256", 12, false, 4}, {"NAME"}, {0}};
        const struct digest_text hex = digest_text(&c->sha256);
        json_t *expected = json_array();

        for (size_t i = 0; i < c->n_expected; i++)
                json_array_append_new(expected, json_string(verdict_name(c->expected[i])));
        output_object(columns, json_pack("{si so ss so ss so sI ss# ss sI}", "id", (int)c->id, "name", json_printable(c->name), "format",
                                         format_name(c->format), "logic", json_printable(c->logic), "status", verdict_name(c->status), "expected",
                                         expected, "size", c->size, ".sha256", hex.s, 12, "sha256", hex.s, "added", (json_int_t)c->added));
}

void cmd_case_list(int argc, char **argv)
{
        static const char doc[] =
                "List the cases (default: all): id, status, logic, size in bytes, the start of its sha256, name.\v"
                "In names, control bytes, backslashes and bytes that are not valid UTF-8 are written as \\t, \\n, \\\\ and \\xNN.";
        cleanup_case_selection struct case_selection s = {0};
        struct words words = command_parse(argc, argv, "[CASE...]", doc, options_json);

        command_open(0);
        command_must(words.n > 0 ? cases_select(common.workspace, words.list, words.n, &s) : cases_select_set(common.workspace, NULL, &s));
        for (size_t i = 0; i < s.n && !output_broken(); i++)
                list_case(s.list[i]);
}

/* -- remove ----------------------------------------------------------------------------------------------------- */

void cmd_case_remove(int argc, char **argv)
{
        static const char doc[] =
                "Take cases out of listings. What was measured on them stays, their ids are not used again, and adding "
                "the same bytes brings them back.";
        cleanup_case_selection struct case_selection s = {0};
        struct words words = command_parse(argc, argv, "CASE...", doc, NULL);

        command_open(0);
        command_cases(words.list, words.n, &s);
        for (size_t i = 0; i < s.n; i++) {
                cleanup_free char *name = printable(s.list[i]->name);

                command_must(cases_remove(workspace_cases(common.workspace), s.list[i]->id));
                note("removed case %u (%s)", s.list[i]->id, name);
        }
}
