#include "core/why/diverge/diverge_internal.h"

#include <fcntl.h>
#include <zlib.h>

#include "core/build/era.h"
#include "core/git/paths.h"
#include "core/recipe/recipe_keys.h"

void diverge_say(const struct diverging *d, const char *doing, int side)
{
        cleanup_free char *text = format_string("diverge: %s, %s", d->options->version[side]->name, doing);

        if (d->options->tell)
                d->options->tell(d->options->user, text);
}

/* -- spools -------------------------------------------------------------------------------------------------------- */

static int spool_open(struct spool *s, const char *folder)
{
        cleanup_free char *path = format_string("%s/diverge.XXXXXX", folder); /* O_TMPFILE is not for every file system */

        s->left = DIVERGE_TRACE;
        s->fd = mkostemp(path, O_CLOEXEC);
        if (s->fd < 0)
                return errorf(-errno, "cannot make a file in %s: %s", folder, strerror(errno));
        unlink(path);
        s->file = gzdopen(dup(s->fd), "wb1");
        return s->file ? 0 : -errno;
}

/* A listener: writes what is printed, up to DIVERGE_TRACE. */
static void hear(void *user, struct slice text)
{
        struct spool *s = user;
        size_t n = MIN(text.size, s->left);

        s->is_cut |= n < text.size;
        s->left -= n;
        if (n > 0 && s->error == 0 && gzwrite(s->file, text.data, (unsigned)n) != (int)n)
                s->error = errno ? -errno : -EIO;
}

/* Ends writing, and begins reading from the start. */
static int spool_turn(struct spool *s)
{
        int r = s->error;

        errno = 0;
        if (s->file && gzclose(s->file) != Z_OK && r == 0) /* a short trace is written here */
                r = errno ? -errno : -EIO;
        s->file = NULL;
        if (r == 0 && (lseek(s->fd, 0, SEEK_SET) < 0 || !(s->file = gzdopen(dup(s->fd), "rb"))))
                r = -errno;
        return r < 0 ? errorf(r, "cannot keep a trace: %s", strerror(-r)) : 0;
}

static ssize_t spool_read(void *user, void *to, size_t size)
{
        struct spool *s = user;
        int n = gzread(s->file, to, (unsigned)size);

        return n < 0 ? errorf(-EIO, "cannot read a trace that was kept") : n;
}

static struct line_source source_of(struct spool *s)
{
        gzrewind(s->file);
        return (struct line_source){.read = spool_read, .user = s, .is_cut = s->is_cut};
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */

/* The version's recipe with further arguments. */
struct recipe *diverge_recipe(const struct diverging *d, int side, const char *more)
{
        const struct version *v = d->options->version[side];
        struct recipe *r = recipe_copy(v->solver->recipe);

        r->format = d->options->info->format;
        if (more)
                recipe_add_arguments(r, more);
        return r;
}

struct recipe_limits diverge_limits(const struct diverging *d, int side)
{
        const struct version *v = d->options->version[side];
        struct cell cell = {.solver = v->solver, .commit = v->commit};
        struct recipe_limits l;

        cell_set_timeout(&cell, d->options->is_cpu_time, d->options->timeout_ns);
        cell_limits(&cell, &l);
        return l;
}

int diverge_run(struct diverging *d, const struct recipe *recipe, const struct recipe_limits *limits, const struct held *programs,
                const struct listener *listeners, const struct run_input *input, struct run_result *ret)
{
        return lease_run(&d->lease, LEASE_ONCE,
                         &(struct runner_options){.recipe = recipe,
                                                  .programs = programs->list,
                                                  .n_programs = programs->n,
                                                  .limits = *limits,
                                                  .has_seed = d->options->has_seed,
                                                  .seed = d->options->seed,
                                                  .listeners = listeners},
                         input, ret);
}

static struct run_input empty_input(const struct case_info *info, char text[128])
{
        const bool has_logic = strcmp(info->logic, "none") != 0 && strlen(info->logic) < 64;

        if (info->format == FORMAT_CNF)
                snprintf(text, 128, "p cnf 0 0\n");
        else
                snprintf(text, 128, "%s%s%s(check-sat)\n", has_logic ? "(set-logic " : "", has_logic ? info->logic : "",
                         has_logic ? ")\n" : "");
        return (struct run_input){.bytes = slice_string(text), .questions = 1};
}

/* Lines of a trace may look like answers: if there are more than questions, the last one counts. */
static enum verdict answer_of(const struct case_info *info, const struct run_result *r)
{
        struct slice rest = SLICE(r->run.out.data, r->run.out.size), line;
        enum verdict answer = r->verdict, v;
        bool is_last = info->format != FORMAT_CNF && r->run.end == END_EXIT && r->verdicts.n > info->n_expected && info->n_expected > 0;

        while (is_last && slice_next_line(&rest, &line))
                if (verdict_find(line, &v) && v <= VERDICT_UNKNOWN)
                        answer = v;
        return answer;
}

/* One of a side's runs; its streams are kept, and ready for reading. */
static int trace(struct diverging *d, int side, int number, struct diverge_result *ret)
{
        static const char *const doing[N_RUNS] = {"on the case", "on the case once more", "on an empty input"};
        const struct diverge_options *o = d->options;
        struct spool *s = d->spools[side][number];
        const struct listener listeners[] = {{hear, &s[DIVERGE_OUT]}, {hear, &s[DIVERGE_ERR]}};
        cleanup(recipe_unrefp) struct recipe *recipe =
                diverge_recipe(d, side, o->trace ?: o->version[side]->solver->recipe->trace);
        struct recipe_limits limits = diverge_limits(d, side);
        const bool is_here = !d->lease.pool;
        cleanup(run_result_done) struct run_result result = {0};
        char text[128];
        struct run_input input =
                number == RUN_EMPTY
                        ? empty_input(o->info, text)
                        : (struct run_input){.path = d->case_path, .id = o->info->sha256, .questions = o->info->n_expected};
        int k = 0;

        if (!is_here) /* its output comes back as a whole, and not through the listeners */
                limits.output = DIVERGE_TRACE;
        for (int i = 0; k == 0 && i < N_DIVERGE_STREAMS; i++)
                k = spool_open(&s[i], d->scratch);
        diverge_say(d, doing[number], side);
        if (k == 0)
                k = diverge_run(d, recipe, &limits, &d->programs[side], is_here ? listeners : NULL, &input, &result);
        if (k == 0 && !is_here) {
                hear(&s[DIVERGE_OUT], SLICE(result.run.out.data, result.run.out.size));
                hear(&s[DIVERGE_ERR], SLICE(result.run.err.data, result.run.err.size));
        }
        for (int i = 0; k == 0 && i < N_DIVERGE_STREAMS; i++) {
                s[i].is_cut |= result.run.end != END_EXIT && result.run.end != END_SIGNAL;
                k = spool_turn(&s[i]);
        }
        if (k == 0 && number != RUN_EMPTY) {
                statistics_read(SLICE(result.run.out.data, result.run.out.size), &ret->statistics[number][side]);
                statistics_read(SLICE(result.run.err.data, result.run.err.size), &ret->statistics[number][side]);
        }
        if (k == 0 && number == RUN_FIRST)
                ret->side[side] = (struct diverge_side){answer_of(o->info, &result),
                                                        (double)result.run.wall_ns / 1e9,
                                                        {result.run.out_size, result.run.err_size},
                                                        s[0].is_cut || s[1].is_cut};
        return k;
}

/* -- what differs -------------------------------------------------------------------------------------------------- */

static int compare_streams(struct diverging *d, int stream, struct divergence *ret)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct spool(*s)[N_RUNS][N_DIVERGE_STREAMS] = d->spools;
        int r = 0;

        for (int side = 0; r == 0 && side < 2; side++)
                r = unsteady_learn(u, (struct line_source[]){source_of(&s[side][RUN_FIRST][stream]),
                                                             source_of(&s[side][RUN_AGAIN][stream])});
        if (r == 0)
                r = unsteady_learn(
                        u, (struct line_source[]){source_of(&s[0][RUN_EMPTY][stream]), source_of(&s[1][RUN_EMPTY][stream])});
        if (r == 0)
                r = divergence_find(
                        u, (struct line_source[]){source_of(&s[0][RUN_FIRST][stream]), source_of(&s[1][RUN_FIRST][stream])}, ret);
        return r;
}

static int compare_traces(struct diverging *d, struct diverge_result *ret)
{
        int r = 0;

        for (int side = 0; side < 2; side++)
                for (int number = 0; r == 0 && number < N_RUNS; number++)
                        r = trace(d, side, number, ret);
        if (r < 0)
                return r;
        for (int i = 0; r == 0 && i < N_DIVERGE_STREAMS; i++)
                r = compare_streams(d, i, &ret->stream[i]);
        ret->changes = statistics_compare(ret->statistics[RUN_FIRST], ret->statistics[RUN_AGAIN], &ret->n_changes);
        return r;
}

/* -- the file ------------------------------------------------------------------------------------------------------ */

/* The lead is the first of the changed statistics that is named after a file, with the file that it is named after most clearly. Called for each file:
 * takes it if that makes the lead an earlier statistic, or the same one's name clearer. */
static void weigh_file(void *user, const char *path)
{
        struct diverge_result *r = user;
        const struct version *v = r->options->version[1];
        const char *suffix = strrchr(path, '.');

        if (!suffix || !strchr("cChH", suffix[1]) || !paths_have(era_or_solver(v->solver->history, v->solver->recipe, v->commit)->paths, path))
                return;
        for (size_t i = 0; i < r->n_changes; i++) {
                const struct statistic_change *c = &r->changes[i];
                const double here = statistic_file_fit(c->name, path, &r->statistics[RUN_FIRST][0]);

                if (MAX(c->ratio, 1 / c->ratio) < DIVERGE_LEAD || (r->lead && c > r->lead))
                        return;
                if (here <= (c == r->lead ? statistic_file_fit(c->name, r->lead_file, &r->statistics[RUN_FIRST][0]) : 0))
                        continue;
                r->lead = c;
                free(r->lead_file);
                r->lead_file = printable(path);
        }
}

const char *diverge_place(const struct diverge_result *r, const char **ret_by)
{
        const struct diverge_calls *c = &r->calls;
        const char *file = c->is_parted ? c->file : NULL;

        *ret_by = "calls";
        if (file && !c->is_alike_after)
                return file;
        *ret_by = "profile";
        if (r->profile.path[0])
                return r->profile.path[0]->file;
        *ret_by = file ? "calls" : "statistic";
        return file ?: r->lead_file;
}

/* -- all of it ------------------------------------------------------------------------------------------------------ */

static int begin(struct diverging *d)
{
        const struct diverge_options *o = d->options;
        cleanup_close int fd = -1;
        int r = lease_place(o->version[0]->solver, o->version[1]->solver, &d->lease.pool);

        for (int side = 0; r == 0 && side < 2; side++) {
                const struct version *v = o->version[side];

                diverge_say(d, "its build", side);
                r = version_build(o->engine, o->workspace, v, PRIORITY_PERSON, o->cancel_fd)
                    ?: version_hold(o->workspace, v, &d->programs[side]);
        }
        if (r == 0)
                r = path_join(d->scratch, workspace_dir(o->workspace), "scratch");
        return r ?: cases_open_bytes(workspace_cases(o->workspace), o->info, &fd, d->case_path);
}

static void end(struct diverging *d)
{
        struct spool *s = &d->spools[0][0][0];

        for (size_t i = 0; i < 2 * N_RUNS * N_DIVERGE_STREAMS; i++) {
                if (s[i].file)
                        gzclose(s[i].file);
                closep(&s[i].fd);
        }
        for (int side = 0; side < 2; side++)
                held_done(&d->programs[side]);
        lease_leave(&d->lease);
}

int diverge(const struct diverge_options *o, struct diverge_result *ret)
{
        struct diverging d = {.options = o, .lease = {o->workspace, NULL, "diverge", o->cancel_fd, .slot.lock = -1}};
        const struct solver *s = o->version[1]->solver;
        const char *by;
        int r;

        *ret = (struct diverge_result){.options = o};
        for (size_t i = 0; i < 2 * N_RUNS * N_DIVERGE_STREAMS; i++)
                (&d.spools[0][0][0])[i].fd = -1;
        r = begin(&d) ?: compare_traces(&d, ret);
        if (r == 0 && o->has_calls)
                r = diverge_calls(&d, ret);
        if (r == 0 && o->has_profile)
                r = diverge_profile(&d, ret);
        if (r == 0 && !diverge_place(ret, &by) && !s->recipe->is_programs)
                r = history_files(s->history, o->version[1]->commit, weigh_file, ret);
        if (r == 0 && o->has_culprit)
                r = changed_functions(s->history, o->culprit, era_or_solver(s->history, s->recipe, o->culprit)->paths, &ret->functions);
        end(&d);
        if (r < 0)
                diverge_result_done(ret);
        return r;
}

static void point_done(struct diverge_point *p)
{
        free(p->name);
        free(p->file);
}

void diverge_result_done(struct diverge_result *r)
{
        for (int i = 0; i < N_DIVERGE_STREAMS; i++)
                divergence_done(&r->stream[i]);
        for (int side = 0; side < 2; side++)
                for (int i = 0; i < 2; i++)
                        statistics_done(&r->statistics[side][i]);
        free(r->changes);
        free(r->lead_file);
        free(r->no_profile);
        free(r->no_calls);
        for (size_t i = 0; i < r->calls.n_open; i++)
                point_done(&r->calls.open[i]);
        for (int i = 0; i < 2; i++)
                point_done(&r->calls.next[i].point);
        free(r->calls.file);
        profile_done(&r->profile);
        changed_functions_done(&r->functions);
        *r = (struct diverge_result){0};
}
