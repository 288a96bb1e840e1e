/* solverfs alarms: lists the alarms of watches, and marks them. The command of `watch --on-alarm`. */
#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>

#include "alarms.h"
#include "cache/base/spawn.h"
#include "core/study/steps/case_history.h"

#define PATIENCE_NS (5 * 60 * NSEC_PER_SEC) /* most time of a command */

/* An alarm's numbers as text, and those of its worst case, which is the first one; "-": none. */
struct alarm_words {
        char number[16], id[16], n_cases[24];
        struct buffer before, after, factor;
};

static void alarm_words(const struct observation *a, struct alarm_words *ret)
{
        static const struct observed_runs none[2] = {{.verdict = VERDICT_UNKNOWN}, {.verdict = VERDICT_UNKNOWN}};
        const struct observed_runs *c = alarm_case(a, 0) ?: none;

        snprintf(ret->number, sizeof(ret->number), "%" PRIu32, a->number);
        snprintf(ret->n_cases, sizeof(ret->n_cases), "%zu", a->n_runs / 2);
        snprintf(ret->id, sizeof(ret->id), "%" PRIu32, a->case_id);
        if (c == none)
                strcpy(ret->id, "-");
        alarm_print_side(a, &c[0], &ret->before);
        alarm_print_side(a, &c[1], &ret->after);
        alarm_print_factor(a, c, &ret->factor);
}

static void alarm_words_done(struct alarm_words *w)
{
        buffer_done(&w->before);
        buffer_done(&w->after);
        buffer_done(&w->factor);
}

static json_t *side_json(const struct observation *a, const struct observed_runs *side)
{
        bool is_known = side->verdict != VERDICT_UNKNOWN || side->n > 0;

        return json_pack("{ss? so}", "result", is_known ? verdict_name(side->verdict) : NULL, a->kind == ALARM_MEMORY ? "memory" : "seconds",
                         side->n > 0 ? json_real(side->amounts[0]) : json_null());
}

static json_t *cases_json(const struct observation *a)
{
        json_t *list = json_array();
        const struct observed_runs *c;

        for (size_t i = 0; (c = alarm_case(a, i)); i++) {
                double factor = alarm_is_growth(a->kind) ? alarm_factor(c) : NAN;

                json_array_append_new(list, json_pack("{sI so so so}", "case", (json_int_t)c->case_id, "before", side_json(a, &c[0]), "after",
                                                      side_json(a, &c[1]), "factor", json_number(factor)));
        }
        return list;
}

void alarm_show(const struct observation *a)
{
        static const struct column columns[] = {{"N", 4, true, .key = "number"}, {"KIND", 13},       {"COMMIT", 12},         {"CASE", 6, true},
                                                {"CASES", 6, true},              {"BEFORE", 10, true, 1}, {"AFTER", 10, true, 1}, {"FACTOR", 7, true},
                                                {"FOUND", 20, false, 3},         {"MARK", 9, false, 2}, {"SUBJECT"},          {0}};
        cleanup(alarm_words_done) struct alarm_words w = {0};
        cleanup_buffer struct buffer reproduce = {0};
        const char *mark = observation_mark_name(a->mark);

        alarm_words(a, &w);
        alarm_print_reproduce(common.solver, a, &reproduce);
        output_object(columns, json_pack("{si ss ss so ss ss ss so sI ss ss ss sb ss ss* so ss ss ss ss ss}", "number", (int)a->number, "kind",
                                         observation_kind_name(a->kind), "solver", common.solver->recipe->name, "branch", json_printable(a->origin),
                                         "commit", a->target, "parent", a->reference, "subject", a->subject, "cases", cases_json(a), "found",
                                         (json_int_t)a->found, ".found", format_date(a->found).s, "reproduce", reproduce.data, "detail",
                                         common.json ? a->reason : "", "told", (int)(a->told != 0), "mark", mark, ".mark", *mark ? NULL : "-", "url",
                                         json_printable(a->url), ".case", w.id, ".cases", w.n_cases, ".before", w.before.data, ".after", w.after.data,
                                         ".factor", w.factor.data));
}

/* -- the command of --on-alarm ----------------------------------------------------------------------------------- */

#define SUBJECT_MOST 1000 /* bytes */

/* Writes a line that exports the alarm's variables, and the command. */
static void make_script(const struct observation *a, const char *file, const char *command, struct buffer *ret)
{
        cleanup(alarm_words_done) struct alarm_words numbers = {0};
        cleanup_free char *subject = copy_prefix(a->subject, MIN(strlen(a->subject), SUBJECT_MOST)); /* a word of a command has a limit */

        alarm_words(a, &numbers);
        const char *const words[][2] = {
                {"SOLVERFS_ALARM", file},      {"SOLVERFS_STORE", workspace_dir(common.workspace)}, {"SOLVER", common.solver->recipe->name},
                {"BRANCH", a->origin},         {"KIND", observation_kind_name(a->kind)},            {"PARENT", *a->reference ? a->reference : "-"},
                {"COMMIT", a->target},         {"SUBJECT", subject},                                {"NUMBER", numbers.number},
                {"CASE", numbers.id},          {"CASES", numbers.n_cases},                          {"BEFORE", numbers.before.data},
                {"AFTER", numbers.after.data}, {"FACTOR", numbers.factor.data}};

        buffer_addf(ret, "umask %04o; export", common.umask);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                buffer_addf(ret, " %s=", words[i][0]);
                buffer_add_shell_word(ret, words[i][1]);
        }
        buffer_addf(ret, "\n%s", command);
}

/* Writes the alarm to a temporary file, as in alarms/<n> of the mount. */
static int write_alarm(const struct observation *a, char path[PATH_SIZE])
{
        const char *folder = getenv("TMPDIR");
        cleanup_buffer struct buffer text = {0};
        cleanup_close int fd = -1;
        int r = alarm_print(common.workspace, common.solver, a, &text)
            ?: path_join(path, folder && *folder ? folder : "/tmp", "solverfs-alarm-XXXXXX");

        if (r < 0)
                return r;
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0) {
                r = -errno;
                *path = '\0';
                return errorf(r, "cannot make a file for the alarm in %s: %s", folder && *folder ? folder : "/tmp", strerror(-r));
        }
        r = write_all(fd, text.data, text.size);
        return r < 0 ? errorf(r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

/* 0, 1 or -EINTR, as in alarm_command(). */
static int wait_for(pid_t pid, uint32_t number)
{
        char why[256] = "it took longer than five minutes and was ended";
        int status = 0, r = spawn_wait(pid, PATIENCE_NS, false, common.signals, &status);

        if (r == -ECANCELED)
                return -EINTR;
        if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        if (r == 0 && WIFEXITED(status))
                snprintf(why, sizeof(why), "it ended with status %d", WEXITSTATUS(status));
        else if (r == 0)
                snprintf(why, sizeof(why), "it was ended by signal %d", WTERMSIG(status));
        else if (r != -ETIME)
                snprintf(why, sizeof(why), "%s", error_message(r));
        complain("the command of --on-alarm did not take alarm %" PRIu32 ": %s; the alarm is kept, and told again", number, why);
        return 1;
}

int alarm_command(const struct observation *a, const char *command)
{
        cleanup_buffer struct buffer script = {0};
        cleanup_close int in = -1;
        char path[PATH_SIZE] = "";
        pid_t pid;
        int r = write_alarm(a, path);

        if (r == 0 && (in = open(path, O_RDONLY | O_CLOEXEC)) < 0)
                r = errorf(-errno, "cannot read %s: %s", path, strerror(errno));
        if (r == 0) {
                make_script(a, path, command, &script);
                r = spawn_shell(script.data, (const int[]){in, STDERR_FILENO, STDERR_FILENO}, environ, &pid); /* standard output is for results */
                r = r < 0 ? errorf(r, "cannot start /bin/sh: %s", strerror(-r)) : wait_for(pid, a->number);
        }
        if (*path)
                unlink(path);
        if (r < 0 && r != -EINTR) {
                complain("alarm %" PRIu32 " was not handed to the command of --on-alarm: %s; it is kept, and told again", a->number, error_message(r));
                r = 1;
        }
        return r;
}

void cmd_alarms(int argc, char **argv)
{
        static const char doc[] =
                "List the alarms of 'solverfs watch': number, kind, commit, worst case, cases, before, after, factor, when found, mark, subject. With "
                "N print one alarm, as in alarms/<n> of the mount.\v"
                "The kinds are slower, memory (more of it), lost (a case that is not solved any more), wrong, contradiction and unbuildable. COMMIT is "
                "A..B where the commits between cannot be built or told apart.\n\n"
                "  solverfs alarms z3 3\n"
                "  solverfs alarms z3 --mark 3 reported https://github.com/Z3Prover/z3/issues/1";
        cleanup_observations struct observations all = {0};
        cleanup_observation struct observation *one = NULL;
        cleanup_buffer struct buffer text = {0};
        const char *solver;
        unsigned marked = 0, shown = 0;
        const struct command_option options[] = {
                {"mark", 0, "N", "Mark an alarm: reported, confirmed, fixed or rejected, and where",
                 .number = &marked, .least = 1, .most = UINT32_MAX, .excludes = "json", .why = "nothing is listed with --mark"},
                OPTION_JSON("Print a JSON object for each, a line each, with all of its cases"),
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER [N]\nSOLVER --mark N reported|confirmed|fixed|rejected [URL]", doc, options);

        solver = word_next(&words);
        if (!solver)
                command_usage("expected SOLVER");
        if (marked != 0) {
                command_mark(OF_WATCHES, solver, marked, &words);
                return;
        }
        if (words.n > 0)
                shown = (unsigned)command_number("the number of an alarm", word_next(&words), 1, UINT32_MAX);
        if (words.n > 0)
                command_usage("expected SOLVER [N]");
        command_open_solver(STORE_READ_ONLY, NULL, solver);
        if (shown != 0)
                command_must(observation_get(common.workspace, OF_WATCHES, common.solver->number, shown, &one));
        else
                command_must(observations_read(common.workspace, common.solver->number, "alarms", &all));
        if (one && common.json)
                alarm_show(one);
        else if (one)
                command_must(alarm_print(common.workspace, common.solver, one, &text));
        output_write(&text);
        for (size_t i = 0; i < all.n && !output_broken(); i++)
                alarm_show(all.list[i]);
}
