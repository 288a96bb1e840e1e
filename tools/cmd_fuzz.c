/* solverfs fuzz: a campaign for performance regressions between versions. */
#include "command.h"

#include <inttypes.h>

#include "core/study/campaign.h"

struct fuzzing {
        const char *solver_name;
        struct campaign_settings settings;
        struct buffer references, oracles; /* NUL-terminated words, one behind the other */
        bool json;
};

enum {
        OPTION_REFERENCE = 256,
        OPTION_TARGET,
        OPTION_FOR,
        OPTION_STRATEGY,
        OPTION_THRESHOLD,
        OPTION_TIMEOUT,
        OPTION_WINDOW,
        OPTION_CORPUS,
        OPTION_NAME,
        OPTION_SEED,
        OPTION_ORACLE,
        OPTION_PAIRS,
        OPTION_NO_LOCALIZE,
        OPTION_JSON,
        OPTION_MAX_FINDS,
        OPTION_CLOCK,
};

static double seconds_of(struct argp_state *state, const char *what, const char *text)
{
        uint64_t ns = 0;

        if (parse_duration(text, &ns) < 0 || ns == 0)
                argp_error(state, "%s must be a time greater than zero, such as 10s or 12h, not '%s'", what, text);
        return (double)ns / 1e9;
}

static void copy_text(char **ret, const char *text)
{
        free(*ret);
        *ret = strdup(text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct fuzzing *f = state->input;
        struct campaign_settings *s = &f->settings;

        switch (key) {
        case OPTION_REFERENCE:
                buffer_add(&f->references, arg, strlen(arg) + 1);
                return 0;
        case OPTION_ORACLE:
                buffer_add(&f->oracles, arg, strlen(arg) + 1);
                return 0;
        case OPTION_TARGET:
                copy_text(&s->target, arg);
                return 0;
        case OPTION_FOR:
                s->seconds = seconds_of(state, "--for", arg);
                return 0;
        case OPTION_STRATEGY:
                if (strategy_parse(arg, &s->strategy) < 0)
                        argp_error(state, "%s", error_message(-EINVAL));
                return 0;
        case OPTION_THRESHOLD:
                s->threshold = seconds_of(state, "--threshold", arg);
                return 0;
        case OPTION_TIMEOUT:
                s->timeout = seconds_of(state, "--timeout", arg);
                return 0;
        case OPTION_WINDOW:
                s->window = seconds_of(state, "--window", arg);
                return 0;
        case OPTION_CORPUS:
                copy_text(&s->corpus, arg);
                return 0;
        case OPTION_NAME:
                copy_text(&s->name, arg);
                return 0;
        case OPTION_SEED:
                s->seed = command_number(state, "--seed", arg, 0, INT64_MAX);
                return 0;
        case 'j':
                s->jobs = (unsigned)command_number(state, "-j", arg, 1, 4096);
                return 0;
        case OPTION_PAIRS:
                if (strcmp(arg, "any") != 0 && strcmp(arg, "target") != 0)
                        argp_error(state, "--pairs is 'any' or 'target', not '%s'", arg);
                s->any_pair = strcmp(arg, "any") == 0;
                return 0;
        case OPTION_CLOCK:
                if (strcmp(arg, "cpu") != 0 && strcmp(arg, "wall") != 0)
                        argp_error(state, "--clock is 'wall' or 'cpu', not '%s'", arg);
                s->cpu_time = strcmp(arg, "cpu") == 0;
                return 0;
        case OPTION_NO_LOCALIZE:
                s->localize = false;
                return 0;
        case OPTION_MAX_FINDS:
                s->most_finds = command_number(state, "--max-finds", arg, 1, INT64_MAX);
                return 0;
        case OPTION_JSON:
                f->json = true;
                return 0;
        case ARGP_KEY_ARG:
                if (f->solver_name)
                        argp_error(state, "expected one SOLVER; versions follow --reference and --target");
                f->solver_name = arg;
                return 0;
        case ARGP_KEY_END:
                if (!f->solver_name)
                        argp_error(state, "expected SOLVER");
                if (f->references.size == 0 || !s->target)
                        argp_error(state, "a campaign compares versions: --reference REV --target REV");
                if (s->seconds <= 0)
                        argp_error(state, "how long? --for 10m, --for 12h");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* The words of a buffer as a list. */
static char **words_of(const struct buffer *b)
{
        char **list = NULL;
        size_t n = 0;

        for (size_t at = 0; at < b->size; at += strlen(b->data + at) + 1)
                n++;
        list = calloc(n + 1, sizeof(*list));
        for (size_t at = 0, i = 0; list && at < b->size; at += strlen(b->data + at) + 1)
                list[i++] = strdup(b->data + at);
        return list;
}

static void show_status(void *user, const struct campaign_status *s)
{
        const struct fuzzing *f = user;
        char what[200];

        snprintf(what, sizeof(what), "%" PRIu64 " inputs, %.1f a second, %" PRIu64 " finds", s->inputs,
                 s->worked > 0 ? (double)s->inputs / s->worked : 0, s->finds);
        progress_show(what, (uint64_t)s->worked, (uint64_t)f->settings.seconds,
                      (uint64_t)(s->worked < f->settings.seconds ? (f->settings.seconds - s->worked) * 1e9 : 0));
}

static void show_line(void *user, const char *line)
{
        progress_clear();
        note("%s", line);
}

static void show_end(const struct fuzzing *f, struct workspace *w, const struct solver *s)
{
        struct campaign_status status;
        cleanup_buffer struct buffer b = {0};

        if (!f->settings.name || campaign_get(w, s->number, f->settings.name, NULL, &status) < 0)
                return;
        if (f->json) {
                output_json(json_pack("{s:s, s:s, s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:I}", "campaign", f->settings.name, "state",
                                      campaign_state_name(status.state), "worked", status.worked, "inputs",
                                      (json_int_t)status.inputs, "runs", (json_int_t)status.runs, "solving", status.solving,
                                      "finds", (json_int_t)status.finds, "rejected", (json_int_t)status.rejected, "soundness",
                                      (json_int_t)status.soundness, "crashes", (json_int_t)status.crashes));
                return;
        }
        buffer_addf(&b, "campaign %s\n", f->settings.name);
        campaign_print_status(&status, &b);
        output_write(&b);
}

static int run(struct fuzzing *f)
{
        const struct campaign_watch watch = {.status = show_status, .line = show_line, .user = f};
        cleanup_workspace struct workspace *w = NULL;
        cleanup_engine struct engine *e = NULL;
        cleanup_solver struct solver *s = NULL;
        int signals = command_signals(), r, status = command_open(0, &w);

        if (status != STATUS_OK)
                return status;
        r = workspace_solver(w, f->solver_name, &s);
        if (r < 0)
                return fail(r);
        status = command_engine(w, &e);
        if (status != STATUS_OK)
                return status;
        if (!f->settings.name) { /* as campaign_run() would, so that what it was called can be told */
                if (asprintf(&f->settings.name, "%s-%" PRIu64, strategy_name(f->settings.strategy), f->settings.seed) < 0)
                        return fail(-ENOMEM);
        }
        r = campaign_run(w, e, s, &f->settings, &watch, signals);
        progress_clear();
        if (r < 0 && r != -ECANCELED)
                return fail_as(r == -EINVAL || r == -EEXIST ? STATUS_USAGE : r == -ENODATA ? STATUS_FAILED : status_of(r), r);
        show_end(f, w, s);
        if (r == -ECANCELED)
                note("interrupted; the same command goes on with it");
        return output_end(r < 0 ? STATUS_INTERRUPTED : STATUS_OK);
}

int cmd_fuzz(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"reference", OPTION_REFERENCE, "VERSION", 0, "a version that is fast; may be repeated, the oldest first", 0},
                {"target", OPTION_TARGET, "VERSION", 0, "the version that may be slower", 0},
                {"for", OPTION_FOR, "TIME", 0, "how long to work in all: 10m, 12h", 0},
                {"strategy", OPTION_STRATEGY, "NAME", 0,
                 "random, banditfuzz, sprfinder-no-dtw, sprfinder, enumerate, or solverfs (the default)", 0},
                {"threshold", OPTION_THRESHOLD, "TIME", 0, "how much slower is a regression; default 10s", 0},
                {"timeout", OPTION_TIMEOUT, "TIME", 0, "of a run; default 20s", 0},
                {"window", OPTION_WINDOW, "TIME", 0, "the window of the adaptive configuration (sprfinder); default 10m", 0},
                {"corpus", OPTION_CORPUS, "DIR", 0, "mutate the inputs below DIR and generate none", 0},
                {"name", OPTION_NAME, "NAME", 0, "what the campaign is called; one of that name goes on", 0},
                {"seed", OPTION_SEED, "N", 0, "what all choices follow from; default 1", 0},
                {"oracle", OPTION_ORACLE, "VERSION", 0, "a version to ask where two contradict each other; may be repeated", 0},
                {"pairs", OPTION_PAIRS, "any|target", 0, "whether a slowdown between two references counts, too; default target",
                 0},
                {"clock", OPTION_CLOCK, "wall|cpu", 0,
                 "what all times count, --for too: with cpu the CPU time of the solvers, on a machine that has other work; default "
                 "wall",
                 0},
                {"jobs", 'j', "N", 0, "inputs at the same time; default: one for each core", 0},
                {"max-finds", OPTION_MAX_FINDS, "N", 0, "stop after so many findings of this call, of any kind", 0},
                {"no-localize", OPTION_NO_LOCALIZE, NULL, 0, "do not look for the commits responsible", 0},
                {"json", OPTION_JSON, NULL, 0, "print the end as JSON", 0},
                {0}};
        static const struct argp argp = {
                .options = options,
                .parser = parse,
                .args_doc = "SOLVER --reference VERSION --target VERSION --for TIME",
                .doc = "Looks for inputs on which the target is slower than a reference by the threshold, and keeps them as "
                       "findings "
                       "(SOLVER/spr/ in the mount, 'solverfs findings').\v"
                       "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program "
                       "of this "
                       "machine). What two versions contradict each other on, and what crashes one, is kept, too.\n\n"
                       "A campaign that is interrupted goes on when the same command is given again.\n\n"
                       "Example:\n"
                       "  solverfs fuzz z3 --reference z3-4.8.7 --target z3-4.8.9 --for 12h --threshold 10s --timeout 20s"};
        struct fuzzing f = {0};
        int status;

        campaign_settings_new(&f.settings);
        command_parse(&argp, argc, argv, &f);
        f.settings.references = words_of(&f.references);
        f.settings.oracles = words_of(&f.oracles);
        status = f.settings.references && f.settings.oracles ? run(&f) : fail(-ENOMEM);
        campaign_settings_done(&f.settings);
        buffer_done(&f.references);
        buffer_done(&f.oracles);
        return status;
}
