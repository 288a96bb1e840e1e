/* Builds two versions once more, so that they report their trails, runs both, and finds where these part. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "core/build/build_tools.h"
#include "core/build/era.h"
#include "core/query/query.h"
#include "core/run/leftovers.h"
#include "core/recipe/recipe_keys.h"
#include "core/why/diverge/diverge_internal.h"

#define SKIP        "solverfs-trail.skip"
#define SLOWER      10 /* allowed slowdown of a run that reports */
#define NAMES_NS    (60 * NSEC_PER_SEC) /* to list functions, whatever a run's limit; a program that cannot do so would run on */
#define OUTPUT_MOST (UINT64_C(64) << 20)
#define BEHIND      64 /* steps shown after a chunk */

enum { /* runs that report chunks */
        FIRST_A,
        AGAIN_A,
        FIRST_B,
        N_TRAILS
};

struct trailing {
        struct diverging *d;
        struct held programs[2];
        char folder[PATH_SIZE], skip[PATH_SIZE]; /* our scratch folder, and the list in it; "": none yet */
        char **ret_why;
};

static bool cannot(const struct trailing *t, const char *format, ...) printf_like(2, 3);

/* Sets the reason, unless there is one, and returns false. */
static bool cannot(const struct trailing *t, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        if (!*t->ret_why && vasprintf(t->ret_why, format, args) < 0)
                *t->ret_why = NULL;
        va_end(args);
        return false;
}

/* -- builds -------------------------------------------------------------------------------------------------------- */

/* A recipe whose builds report trails. It differs in the environment, so its builds have another key. Built and run here. */
static struct recipe *trail_recipe(const struct recipe *r)
{
        struct recipe *copy = recipe_copy(r);

        strings_add(&copy->environment, BUILD_TRAIL);
        copy->range = r->range ? copy_string(r->range) : NULL;
        copy->builder = NULL;
        return copy;
}

static struct solver *trail_solver(const struct solver *s)
{
        struct solver *with = solver_with(s, trail_recipe(s->recipe));

        for (size_t i = 0; i < s->recipe->n_eras; i++) {
                struct recipe *era = s->recipe->eras[i];

                recipe_add_era(with->recipe, era->file ? recipe_ref(era) : trail_recipe(era));
        }
        return with;
}

/* Builds a side for its trail. *ret_built false, with 0: it cannot be, and the reason is set. */
static int build_side(struct trailing *t, int side, bool *ret_built)
{
        const struct diverge_options *o = t->d->options;
        const struct version *v = o->version[side];
        cleanup(solver_unrefp) struct solver *solver = trail_solver(v->solver);
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *value = NULL;
        cleanup(build_record_unrefp) struct build_record *known = NULL;
        int r;

        *ret_built = false;
        if (v->solver->recipe->is_programs || era_or_solver(v->solver->history, v->solver->recipe, v->commit)->file)
                return cannot(t, "%s is a program without sources", v->name);
        if (o->announce && build_find(o->workspace, solver, v->commit, WITHOUT_LOG, &known) == -ENOENT)
                o->announce(o->user, v->name);
        diverge_say(t->d, "built once more, to report its calls", side);
        r = query_build(o->workspace, solver, v->commit, &q)
            ?: engine_get(o->engine, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, o->cancel_fd, &value);
        if (r < 0)
                return r;
        if (!((struct build_value *)value)->record->ok)
                return cannot(t, "%s cannot be built with -finstrument-functions: %s", v->name, ((struct build_value *)value)->record->reason);
        r = held_build(o->workspace, ((struct build_value *)value)->record, &t->programs[side]);
        *ret_built = r == 0;
        return r;
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */

/* Runs a side's program and reads its runtime's report from standard output; the program's own output is dropped. */
static int run(const struct trailing *t, int side, const char *mode, const char *doing, struct run_result *ret)
{
        struct diverging *d = t->d;
        const struct run_input input = {.path = d->case_path, .id = d->options->info->sha256};
        cleanup(recipe_unrefp) struct recipe *recipe = diverge_recipe(d, side, NULL);
        cleanup_free char *plain = recipe->run, *variable = format_string("SOLVERFS_TRAIL=%s", mode);
        struct recipe_limits limits = diverge_limits(d, side);
        struct held programs = t->programs[side]; /* and the list beside them */

        recipe->run = format_string("/bin/sh -c 'exec 9>&1 >/dev/null 2>&1; exec \"$@\"' sh %s", plain);
        strings_add(&recipe->environment, variable);
        if (*t->skip && programs.n < RECIPE_OUTPUTS_MAX) {
                programs.list[programs.n++] = (struct run_program){.path = t->skip, .name = SKIP};
                strings_add(&recipe->environment, "SOLVERFS_TRAIL_SKIP=/solver/" SKIP);
        }
        if (strcmp(mode, "names") == 0)
                limits.wall_ns = limits.cpu_ns = NAMES_NS;
        else {
                limits.wall_ns *= SLOWER;
                limits.cpu_ns *= SLOWER;
        }
        limits.output = OUTPUT_MOST;
        diverge_say(d, doing, side);
        return diverge_run(d, recipe, &limits, &programs, NULL, &input, ret);
}

static struct slice report_of(const struct run_result *r)
{
        return SLICE(r->run.out.data ?: "", r->run.out.size);
}

/* Lists the functions of only one side, which make no steps: a new or renamed function is no difference by itself. *ret_ok: both programs have a list. */
static int list_functions(struct trailing *t, bool *ret_ok)
{
        struct run_result names[2] = {0};
        cleanup_buffer struct buffer skip = {0};
        cleanup_close int fd = -1;
        int r = 0;

        *ret_ok = true;
        for (int side = 0; r == 0 && side < 2; side++) {
                r = run(t, side, "names", "its functions", &names[side]);
                if (r == 0 && *ret_ok && !memmem(report_of(&names[side]).data, report_of(&names[side]).size, "N main\n", 7))
                        *ret_ok = cannot(t, "%s: the build makes no use of the compilers on its PATH (or its program is stripped, or not of C or C++)",
                                         t->d->options->version[side]->name);
        }
        if (r == 0 && *ret_ok) {
                trail_skip_list((struct slice[]){report_of(&names[0]), report_of(&names[1])}, &skip);
                r = scratch_make(t->d->scratch, t->folder) ?: path_join(t->skip, t->folder, SKIP);
                fd = r == 0 ? open(t->skip, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
                if (r == 0 && (fd < 0 || fchmod(fd, 0644) < 0))
                        r = errorf(-errno, "cannot make %s: %s", t->skip, strerror(errno));
                if (r == 0)
                        r = write_all(fd, skip.data ?: "", skip.size);
        }
        run_result_done(&names[0]);
        run_result_done(&names[1]);
        return r;
}

/* Runs a side and reads its chunks. *ret_ok = false: there are none, and the reason is set. */
static int read_trail(const struct trailing *t, int side, const char *doing, struct trail *ret, bool *ret_ok)
{
        cleanup(run_result_done) struct run_result result = {0};
        int r = run(t, side, "chunks", doing, &result);

        if (r == 0)
                trail_read(report_of(&result), ret);
        if (r == 0 && ret->n == 0)
                *ret_ok = cannot(t, "%s, so built, reports nothing: it ends at once, or before its first steps are reported",
                                 t->d->options->version[side]->name);
        return r;
}

/* -- where they part ----------------------------------------------------------------------------------------------- */

/* Asks addr2line for "src/a.c:12" and the function there; NULL what it does not know. */
static int locate(const struct trailing *t, int side, const struct trail_window *w, unsigned file, uint64_t address, struct diverge_point *ret)
{
        struct code code;
        cleanup_blob struct blob text = {0};
        cleanup_free char *at = format_string("0x%" PRIx64 "\n", address);
        int r;

        if (file >= w->n_files || !code_find(&t->programs[side], w->files[file], &code))
                return 0;
        r = ask_addr2line(t->d, &code, slice_string(at), &text);
        if (r == 0)
                addr2line_first(&text, &ret->name, &ret->file);
        return MIN(r, 0);
}

/* The function where it begins; without addr2line's answer its name in the trail, and "" for the file. */
static int locate_function(const struct trailing *t, int side, const struct trail_window *w, unsigned function, struct diverge_point *ret)
{
        const struct trail_function *f = &w->functions[function];
        int r = locate(t, side, w, f->file, f->address, ret);

        ret->name = ret->name ?: printable(f->name);
        ret->file = ret->file ?: copy_string("");
        return r;
}

/* The window's step number `at`; past the last: the run has ended. A comparison has its own line, if known. */
static int locate_step(const struct trailing *t, int side, const struct trail_window *w, size_t at, struct diverge_step *ret)
{
        const struct trail_step *s = at < w->n_steps ? &w->steps[at] : NULL;
        int r = 0;

        *ret = (struct diverge_step){.kind = s ? s->kind : 'X', .outcome = s ? s->outcome : 0};
        if (s)
                r = locate_function(t, side, w, s->function, &ret->point);
        if (s && s->kind == 'T' && r == 0) {
                struct diverge_point line = {0};

                r = locate(t, side, w, s->file, s->address, &line);
                free(line.name);
                if (line.file) {
                        free(ret->point.file);
                        ret->point.file = line.file;
                }
        }
        return r;
}

static bool is_header(const char *file)
{
        const char *suffix = strrchr(file, '.');

        return suffix && strchr("hH", suffix[1]);
}

/* The file of the innermost function. If that is an accessor in a header, which was just called and only compares its arguments: the caller's file. */
static char *find_file(const struct diverge_calls *c, size_t entered)
{
        size_t i = 0;

        while (i < entered && i + 1 < c->n_open && is_header(c->open[i].file))
                i++;
        return *c->open[i].file ? copy_prefix(c->open[i].file, strcspn(c->open[i].file, ":")) : NULL;
}

/* Runs both (or A twice) up to the chunk, and finds the place. */
static int find_place(const struct trailing *t, const int sides[2], const struct trail_parting *p, struct diverge_calls *ret)
{
        struct trail_window w[2] = {0};
        cleanup(trail_place_done) struct trail_place place = {0};
        size_t n;
        int r = 0;

        for (int i = 0; r == 0 && i < 2; i++) {
                cleanup_free char *mode = format_string("window %" PRIu64 " %" PRIu64, p->from[i], p->size + BEHIND);
                cleanup(run_result_done) struct run_result result = {0};

                r = run(t, sides[i], mode, "its calls where they part", &result);
                if (r == 0)
                        trail_window_read(report_of(&result), &w[i]);
        }
        if (r == 0)
                trail_find_place(w, &place);
        n = place.is_found ? MIN(place.n, (size_t)DIVERGE_CALLERS) : 0;
        ret->steps = p->from[0] + place.steps;
        for (size_t i = 0; r == 0 && i < n; i++)
                r = locate_function(t, sides[1], &w[1], place.stack[1][place.n - 1 - i], &ret->open[ret->n_open++]);
        if (r == 0 && n > 0)
                ret->file = find_file(ret, place.entered);
        for (int i = 0; r == 0 && n > 0 && i < 2; i++)
                r = locate_step(t, sides[i], &w[i], place.next[i], &ret->next[i]);
        trail_window_done(&w[0]);
        trail_window_done(&w[1]);
        return r;
}

/* If A's two runs part for good, nothing is said of B. If they part and are alike again, only a parting for good counts between A and B. */
static int compare_trails(const struct trailing *t, struct trail trails[N_TRAILS], struct diverge_calls *ret)
{
        static const int both[2] = {0, 1}, itself[2] = {0, 0};
        struct trail_parting own, p;

        for (int i = 0; i < 2; i++)
                ret->total[i] = trails[i == 0 ? FIRST_A : FIRST_B].steps;
        ret->is_cut = !trails[FIRST_A].is_whole || !trails[FIRST_B].is_whole;
        ret->has_threads = trails[FIRST_A].has_threads || trails[FIRST_B].has_threads;
        trail_compare(trails, &own); /* FIRST_A and AGAIN_A */
        ret->is_unsteady = own.is_last;
        if (own.is_last)
                return find_place(t, itself, &own, ret);
        trail_compare((struct trail[]){trails[FIRST_A], trails[FIRST_B]}, &p);
        ret->is_parted = p.is_last || (p.is_found && !own.is_found);
        ret->is_alike_after = !p.is_last;
        ret->further = p.further;
        return ret->is_parted ? find_place(t, both, &p, ret) : 0;
}

int diverge_calls(struct diverging *d, struct diverge_result *ret)
{
        struct trailing t = {.d = d, .ret_why = &ret->no_calls};
        struct trail trails[N_TRAILS] = {0};
        bool ok = true;
        int r = 0;

        if (d->lease.pool)
                ok = cannot(&t, "they are reported on this machine, and runs are done at %s: add --on local", d->lease.pool->name);
        for (int side = 0; r == 0 && ok && side < 2; side++)
                r = build_side(&t, side, &ok);
        if (r == 0 && ok)
                r = list_functions(&t, &ok);
        if (r == 0 && ok)
                r = read_trail(&t, 0, "its calls", &trails[FIRST_A], &ok);
        if (r == 0 && ok)
                r = read_trail(&t, 0, "its calls once more", &trails[AGAIN_A], &ok);
        if (r == 0 && ok)
                r = read_trail(&t, 1, "its calls", &trails[FIRST_B], &ok);
        if (r == 0 && ok)
                r = compare_trails(&t, trails, &ret->calls);
        ret->has_calls = r == 0 && ok;
        for (size_t i = 0; i < N_TRAILS; i++)
                trail_done(&trails[i]);
        for (int side = 0; side < 2; side++)
                held_done(&t.programs[side]);
        if (*t.folder)
                remove_tree(t.folder);
        return r;
}
