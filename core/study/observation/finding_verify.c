/* verify.sh of a finding: a script that needs git and the builds' tools, but not solverfs. It has, in this order: variables; the inputs; for each side
 * (before and after) functions that build and run it; then verify.sh of this room, which calls them. */
#include <inttypes.h>
#include <math.h>

#include "core/study/base/version.h"
#include "core/study/observation/finding.h"
#include "core/study/observation/observation_internal.h"

#define INPUT_MOST (1 << 20) /* bytes of an input included in the script */
#define PAIRS_LEAST 5
#define PAIRS_MOST  24 /* as many as a campaign's finding has */
#define END_OF_INPUT "END_OF_INPUT_OF_THE_FINDING"

extern const char verify_script[]; /* verify.sh of this room: functions that measure and compare, and the builds of both sides */

/* The compared sides: two versions, or two inputs of one version. */
struct sides {
        char version[2][PATH_SIZE];
        uint32_t input[2];
        bool is_culprit; /* the second one is the responsible commit, the first one its parent */
        double least;    /* of a slowdown: a pair with a larger difference (seconds) shows it */
};

bool finding_has_verification(const struct observation *f)
{
        return f->measure == JUDGE_TIME && (f->kind != FINDING_IMPLICATION || f->decided_id != 0);
}

/* Sets the sides to the responsible commit and its parent, if the localization ended with just one. Half of their difference suffices then. */
static void compare_culprit(struct workspace *w, struct solver *s, const struct observation *f, struct sides *sides)
{
        cleanup_localized struct localized *l = NULL;
        const struct localized_culprit *c;

        if (finding_localization(w, s, f, &l) < 0 || !localized_is_final(l) || l->n != 1)
                return;
        c = &l->culprits[0];
        if (!version_is_commit(c->commit) || !version_is_commit(c->before) || !c->is_slowdown)
                return;
        snprintf(sides->version[0], PATH_SIZE, "%s", c->before);
        snprintf(sides->version[1], PATH_SIZE, "%s", c->commit);
        sides->is_culprit = true;
        if (isfinite(c->value_before) && isfinite(c->value_after))
                sides->least = fmin(sides->least, (c->value_after - c->value_before) / 2);
}

static void choose_sides(struct workspace *w, struct solver *s, const struct observation *f, struct sides *ret)
{
        *ret = (struct sides){.input = {f->case_id, f->case_id}, .least = f->threshold};
        snprintf(ret->version[0], PATH_SIZE, "%s", *f->reference ? f->reference : f->target);
        snprintf(ret->version[1], PATH_SIZE, "%s", f->target);
        if (!*f->reference && f->decided_id != 0)
                ret->input[0] = f->decided_id;
        else
                compare_culprit(w, s, f, ret);
}

/* -- inputs, builds and runs -- */

static const char *const names[] = {"before", "after"};

/* A line NAME=VALUE. */
static void add_variable(const char *name, const char *value, struct buffer *ret)
{
        buffer_addf(ret, "%s=", name);
        buffer_add_shell_word(ret, value);
        buffer_adds(ret, "\n");
}

static int add_input(struct workspace *w, uint32_t id, const char *name, struct buffer *ret)
{
        cleanup_blob struct blob text = {0};
        uint64_t size;
        int r = steps_read_input(w, id, INPUT_MOST, &size, &text);

        if (r < 0)
                return r;
        if (!text.data || memchr(text.data, '\0', text.size) || memmem(text.data, text.size, END_OF_INPUT, strlen(END_OF_INPUT))) {
                buffer_addf(ret, "cp \"$here/%s\" %s # too large, or no text: it lies beside this file\n", name, name);
                return 0;
        }
        buffer_addf(ret, "cat >%s <<'" END_OF_INPUT "'\n", name);
        buffer_add(ret, text.data, text.size);
        buffer_addf(ret, "%s" END_OF_INPUT "\n", text.size > 0 && ((const char *)text.data)[text.size - 1] == '\n' ? "" : "\n");
        return 0;
}

static void add_archive(const struct recipe *recipe, struct buffer *ret)
{
        cleanup_buffer struct buffer file = {0}, name = {0};

        buffer_add_shell_word(&file, recipe->file);
        buffer_add_shell_word(&name, basename(recipe->file));
        if (*recipe->file == '/')
                buffer_addf(ret, "\tcp %s . &&\n", file.data);
        else
                buffer_addf(ret, "\tcurl -fsSLO %s &&\n", file.data);
        buffer_addf(ret, "\techo \"%s  \"%s | sha256sum -c - &&\n", recipe->sha256, name.data);
        buffer_addf(ret, recipe->is_archive ? "\t{ tar xf %s || unzip -qo %s; }\n" : "\tchmod +x %s\n", name.data, name.data);
}

/* Adds a function that builds one side's program in the present folder. */
static void add_build(const struct solver *s, const char *side, const char *version, struct buffer *ret)
{
        const struct recipe *recipe = steps_recipe(s, version);

        buffer_addf(ret, "build_%s() {\n", side);
        if (!version_has_history(s, version)) {
                buffer_adds(ret, "\t: # a program of the machine\n}\n");
                return;
        }
        for (char *const *d = recipe->downloads; *d; d++)
                buffer_addf(ret, "\t# the build reads this as a file in /downloads: %.*s\n", (int)strcspn(*d, "\n"), *d);
        if (recipe->file) {
                add_archive(recipe, ret);
        } else {
                steps_add_submodules(recipe, version, "\t", " &&\n", ret);
                for (char *const *p = recipe->build; *p; p++) {
                        cleanup_buffer struct buffer line = {0};

                        steps_add_build_line(*p, &line);
                        buffer_adds(ret, "\tsh -c ");
                        buffer_add_shell_word(ret, line.data ? line.data : "");
                        buffer_adds(ret, " &&\n");
                }
                buffer_adds(ret, "\t:\n");
        }
        buffer_adds(ret, "}\n");
}

/* Adds a function that runs the program: run_before SEED, 0 for that of the finding. */
static int add_run(struct workspace *w, struct solver *s, const struct observation *f, const char *side, const char *version, const char *file,
                   bool has_seeds, struct buffer *ret)
{
        char seed[STEPS_SEED_SIZE];
        int r;

        buffer_addf(ret, "run_%s() {\n\tif [ \"$1\" = 0 ]; then\n\t\t$within ", side);
        r = steps_add_run(w, s, version, file, steps_seed(f, seed), f->timeout, ret);
        buffer_adds(ret, "\n\telse\n\t\t$within ");
        if (r == 0)
                r = steps_add_run(w, s, version, file, has_seeds ? "\"$1\"" : NULL, f->timeout, ret);
        buffer_adds(ret, "\n\tfi\n}\n");
        return r;
}

/* -- variables -- */

/* The seeds of a slowdown's pairs, and how many pairs showed it when it was found. */
static void add_seeds(const struct observation *f, bool has_seeds, struct buffer *ret)
{
        unsigned pairs, shown = observation_pairs_shown(f, &pairs);

        buffer_addf(ret, "found='%u of %u' # pairs of both versions, under solverfs\n", shown, pairs);
        pairs = MIN(MAX(pairs, PAIRS_LEAST), PAIRS_MOST);
        buffer_adds(ret, "seeds='0");
        for (unsigned i = 1; i < pairs; i++)
                buffer_addf(ret, " %" PRIu64, has_seeds ? f->seed + i : 0);
        buffer_addf(ret, "' # %s\n", has_seeds ? "0: as it is; else a seed of the solver's" : "each a pair of runs, without a seed");
}

static const char *answer_of(const struct observation *f, const char *version, const char *unmeasured)
{
        const struct observed_runs *runs = observation_runs_of(f, version);

        return runs ? verdict_name(runs->verdict) : unmeasured;
}

/* The answers that confirm a finding that is no slowdown; "decided" is sat or unsat. A crash without a reference has the target on both sides. */
static void add_answers(const struct observation *f, struct buffer *ret)
{
        const char *before;

        if (*f->reference)
                before = answer_of(f, f->reference, "decided");
        else
                before = f->decided_id ? "decided" : answer_of(f, f->target, "crash");
        add_variable("wanted_before", before, ret);
        add_variable("wanted_after", answer_of(f, f->target, "crash"), ret);
}

/* A side's variable: a commit, or "exec:" and the program. */
static void add_side(const struct solver *s, const char *name, const char *version, struct buffer *ret)
{
        const struct recipe *recipe = version_has_history(s, version) ? NULL : steps_recipe(s, version);
        cleanup_buffer struct buffer program = {0};

        if (recipe)
                buffer_addf(&program, "exec:%s", recipe->file ?: "");
        add_variable(name, recipe ? program.data : version, ret);
}

static void add_head(const struct solver *s, const struct observation *f, const struct sides *sides, struct buffer *ret)
{
        char repository[PATH_SIZE];
        const char *root;

        buffer_addf(ret, "#!/bin/sh\n# %s, finding %u: ", s->recipe->name, f->number);
        if (f->kind == FINDING_SLOWDOWN)
                buffer_addf(ret, "%.3gs becomes %s%.3gs. ", observation_amount(f, f->reference), observation_is_limited(f, f->target) ? "more than " : "",
                            observation_amount(f, f->target));
        buffer_adds(ret, sides->is_culprit ? "Builds the commit responsible and its parent" : "Builds both versions");
        buffer_adds(ret, " from a clean clone, runs them in turn, and says whether it is\n"
                         "# confirmed (status 0), or not (1); 2: it could not be tried. Needs git and what the builds need, and nothing of solverfs.\n"
                         "# Usage: sh verify.sh [FOLDER]. The folder (a new one, if none is given) stays, and what is built in it.\n"
                         "# REPOSITORY=ADDRESS takes another clone than the one below.\n"
                         "set -u\nexport LC_ALL=C.UTF-8\n");
        root = steps_root(s, "", repository);
        add_variable("repository", repository, ret);
        buffer_adds(ret, "repository=${REPOSITORY:-$repository}\n");
        for (char *const *e = s->recipe->environment; *e; e++) {
                buffer_adds(ret, "export ");
                buffer_add_shell_word(ret, *e);
                buffer_adds(ret, "\n");
        }
        for (int i = 0; i < 2; i++)
                add_side(s, names[i], sides->version[i], ret);
        if (*root)
                buffer_addf(ret, "root=%s # of that repository; both are built within it\n", root);
        buffer_addf(ret, "timeout_ms=%.0f%s\n", f->timeout * 1e3, f->is_cpu_time ? " # of CPU time" : "");
}

/* Adds the limits of a run, and the clock. */
static void add_limits(const struct observation *f, struct buffer *ret)
{
        unsigned patience = f->is_cpu_time ? 10 : 1; /* wall-clock time for each second of CPU time */

        buffer_addf(ret, "within='timeout -s KILL %g'\n", patience * f->timeout);
        if (f->is_cpu_time)
                buffer_addf(ret, "cpu=%.0f # whole seconds, as ulimit has them\n"
                                 "now() { times >times; ms=$(awk 'NR == 2 { gsub(/[ms]/, \" \"); print int(1000 * (60 * $1 + $2 + 60 * $3 + $4)) }' times); }\n",
                            ceil(f->timeout));
        else
                buffer_adds(ret, "cpu=unlimited\nnow() { ms=$(date +%s%3N); }\n");
}

/* -- the script -- */

int finding_verification(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        const char *input = observation_format(w, f) == FORMAT_CNF ? "../case.cnf" : "../case.smt2";
        bool has_seeds = finding_has_seeds(s, f);
        struct sides sides;
        int r;

        if (!finding_has_verification(f))
                return -ENOENT;
        choose_sides(w, s, f, &sides);
        add_head(s, f, &sides, ret);
        if (f->kind == FINDING_SLOWDOWN) {
                buffer_addf(ret, "least_ms=%.0f # more than this is slower\n", sides.least * 1e3);
                add_seeds(f, has_seeds, ret);
        } else {
                add_answers(f, ret);
        }
        add_limits(f, ret);
        buffer_adds(ret, "here=$(cd \"$(dirname \"$0\")\" && pwd)\nfolder=${1:-$(mktemp -d \"${TMPDIR:-/tmp}/verify-XXXXXX\")}\n"
                         "mkdir -p \"$folder\" && cd \"$folder\" || exit 2\necho \"in $folder\"\n\n");
        r = add_input(w, f->case_id, input + strlen("../"), ret);
        if (r == 0 && sides.input[0] != sides.input[1])
                r = add_input(w, sides.input[0], "decided.smt2", ret);
        for (int i = 0; r == 0 && i < 2; i++) {
                add_build(s, names[i], sides.version[i], ret);
                r = add_run(w, s, f, names[i], sides.version[i], sides.input[i] != f->case_id ? "../decided.smt2" : input, has_seeds, ret);
        }
        buffer_adds(ret, verify_script);
        buffer_adds(ret, f->kind == FINDING_SLOWDOWN ? "compare_times\n" : "compare_answers\n");
        return r < 0 ? r : buffer_error(ret);
}
