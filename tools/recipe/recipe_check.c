#include "recipe_check.h"

#include <stdarg.h>
#include <sys/stat.h>

#include "tools/ask.h"
#include "build_failure.h"
#include "core/build/era.h"
#include "core/git/paths.h"
#include "core/run/cell_file.h"

void check_say(struct recipe_check *t, const char *check, enum check_outcome outcome, const char *format, ...)
{
        static const char *const outcomes[] = {"ok", "note", "problem", "skipped"};
        static const struct column columns[] = {{"CHECK", 13}, {"OUTCOME", 8}, {"WHAT"}, {0}};
        cleanup_free char *text = NULL;
        va_list args;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0)
                text = copy_string("out of memory");
        va_end(args);
        t->problems += outcome == CHECK_PROBLEM;
        progress_clear();
        output_object(columns, json_pack("{ss ss so}", "check", check, "outcome", outcomes[outcome], "what", json_printable(text)));
}

/* -- before the build ------------------------------------------------------------------------------------------- */

/* Paths of one era that no commit has. */
static void look_for_paths(struct recipe_check *t, const struct recipe *r)
{
        for (char *const *p = r->paths; *p; p++) {
                bool there = true;

                if (history_has_path(common.solver->history, COMMIT_NONE, paths_left_out(*p) ?: *p, &there) == 0 && !there)
                        check_say(t, "paths", CHECK_PROBLEM, "'%s' is in no commit: correct the path, or take it out%s%s", *p, r->range ? " of era " : "",
                                  r->range ?: "");
        }
}

static void check_paths(struct recipe_check *t)
{
        const struct recipe *r = common.solver->recipe;
        const unsigned before = t->problems;

        look_for_paths(t, r);
        for (size_t i = 0; i < r->n_eras; i++)
                if (!r->eras[i]->file && (!r->paths[0] || !r->eras[i]->paths[0] || strcmp(r->paths[0], r->eras[i]->paths[0]) != 0))
                        look_for_paths(t, r->eras[i]);
        if (t->problems == before)
                check_say(t, "paths", CHECK_OK, r->paths[0] ? "each is in some commit" : "the whole tree, so that every commit is another build");
}

static void check_dependencies(struct recipe_check *t, const struct recipe *era)
{
        struct stat st;

        for (char *const *p = era->dependencies; *p; p++)
                if (stat(*p, &st) < 0 || !S_ISDIR(st.st_mode))
                        check_say(t, "dependency", CHECK_PROBLEM, "there is no folder %s: install it, or change the recipe", *p);
}

/* -- the build -------------------------------------------------------------------------------------------------- */

/* A path of the commit that no build sees, as `paths` leaves it out. */
struct left_out {
        struct recipe_check *check;
        const struct recipe *era;
        char path[PATH_SIZE];
};

static bool is_left_out(void *user, const char *path)
{
        struct left_out *o = user;
        bool there = false;

        if (paths_have(o->era->paths, path) || history_has_path(common.solver->history, o->check->commit, path, &there) < 0 || !there)
                return false;
        snprintf(o->path, sizeof(o->path), "%s", path);
        return true;
}

/* What the log of a failed build points to. */
static void add_advice(struct recipe_check *t, const struct recipe *era, const struct build_record *record, struct buffer *ret)
{
        static const char *const reasons[][2] = {
                {"programs that it made", "say one of these as 'output'"},
                {"the build made no ", "is it the right target? the log says what was made"},
                {"timed out", "raise 'build-timeout'"},
                {"released binary", "correct 'output', which names files in the archive"}};
        static const char submodule[] = "(submodule ";
        const struct build_failure f = build_failure_of(SLICE(record->log.data, record->log.size));
        struct left_out o = {.check = t, .era = era};
        cleanup_buffer struct buffer log = {0};

        for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
                if (strstr(record->reason, reasons[i][0])) {
                        buffer_adds(ret, reasons[i][1]);
                        return;
                }
        build_failure_text(&f, &log);
        if (build_failure_absent(log.data, is_left_out, &o))
                buffer_addf(ret, paths_are_chosen(era->paths) ? "the commit has %s, and 'paths' leaves it out: add 'paths = %s'"
                                                              : "the commit has %s, and 'paths' leaves it out: take out the ':!' of %s", o.path, o.path);
        else if (record->log.size > strlen(submodule) && memcmp(record->log.data, submodule, strlen(submodule)) == 0)
                buffer_adds(ret, "the log begins with submodules that are empty folders: 'solver add --submodules' fetches them");
        else if (strstr(log.data, "not found") || strstr(log.data, "Could NOT find") || strstr(log.data, "No such file"))
                buffer_adds(ret, "what is not found is not installed here, or not in 'paths' (a build sees nothing else of the repository)");
        else
                buffer_adds(ret, "its log, on standard error, says why");
}

static void say_failed(struct recipe_check *t, const struct recipe *era)
{
        cleanup(build_record_unrefp) struct build_record *whole = NULL;
        cleanup_buffer struct buffer advice = {0};

        if (build_find(common.workspace, common.solver, t->commit, true, &whole) < 0)
                return;
        add_advice(t, era, whole, &advice);
        check_say(t, "build", CHECK_PROBLEM, "%s: %s", whole->reason, advice.data);
        build_failure_show(t->commit);
}

/* 1: it was built. 0: it cannot be, which is said. */
static int check_build(struct recipe_check *t, const struct recipe *era, struct build_record **ret)
{
        char seconds[32];
        int r = command_build(t->commit, false, ret);

        if (r == -EIO || r == -EINVAL || r == -ENOENT) {
                cleanup_free char *why = copy_string(error_message(r));

                check_say(t, "build", CHECK_PROBLEM, "%s", why);
                return 0;
        }
        if (r < 0)
                return r;
        if (!(*ret)->ok) {
                say_failed(t, era);
                return 0;
        }
        format_seconds((*ret)->duration_ns, seconds);
        if (era->file)
                check_say(t, "build", CHECK_OK, "released binary %s, %" PRIu64 " bytes", basename(era->file), (*ret)->outputs[0].size);
        else
                check_say(t, "build", CHECK_OK, "%s s, %s of %" PRIu64 " bytes%s%s%s", seconds, (*ret)->outputs[0].name, (*ret)->outputs[0].size,
                          era->range ? ", by era \"" : "", era->range ?: "", era->range ? "\"" : "");
        return 1;
}

static int check_again(struct recipe_check *t, const struct recipe *era)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r;

        if (t->once || era->file)
                return 0;
        r = command_build(t->commit, true, &record);
        if (r < 0)
                return r;
        if (!record->ok)
                check_say(t, "reproducible", CHECK_PROBLEM, "the second build failed: %s", record->reason);
        else if (record->differs)
                check_say(t, "reproducible", CHECK_PROBLEM,
                          "two clean builds differ: %s; take the time, random number or order of files that got in out of the build", record->differs);
        else
                check_say(t, "reproducible", CHECK_OK, "two clean builds gave the same bytes");
        return 0;
}

/* -- all of it -------------------------------------------------------------------------------------------------- */

int recipe_check(struct recipe_check *t)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct recipe *era = common.solver->recipe;
        int r = era_of(common.solver->history, common.solver->recipe, t->commit, &era);

        if (r == -EIO) {
                cleanup_free char *why = copy_string(error_message(r));

                check_say(t, "era", CHECK_PROBLEM, "%s: correct the revision", why);
        } else if (r < 0)
                return r;
        check_paths(t);
        check_dependencies(t, era);
        r = check_build(t, era, &record);
        if (r == 0) {
                check_say(t, "answer", CHECK_SKIPPED, "there is no program to run");
                check_skip(t, era, "there is no program to run");
                if (!t->once)
                        check_say(t, "reproducible", CHECK_SKIPPED, "there is no program to compare");
        }
        if (r <= 0)
                return r;
        r = recipe_check_runs(t, record);
        return r < 0 ? r : check_again(t, era);
}
