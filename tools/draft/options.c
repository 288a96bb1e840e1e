/* Finds options in the program's help and tries them: a seed, and statistics with a counter. Also tests whether the program buffers its answers. */
#include <ctype.h>

#include "core/recipe/pattern.h"
#include "draft.h"
#include "tools/recipe/formulas.h"

#define OPTION_SIZE 64        /* with the null byte; a longer option is cut off */
#define HELP_MAX    (1 << 20) /* bytes read of each stream */

/* -- the help --------------------------------------------------------------------------------------------------- */

/* The longest answer to the usual ways of asking for help. */
static void get_help(struct draft_program *p, const struct draft_keys *keys, struct buffer *ret)
{
        static const char *const asked[] = {"{bin} --help {case}", "{bin} -h {case}", "{bin} -help {case}"};
        struct draft_keys k = *keys;

        k.seed = k.effort = NULL;
        for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
                cleanup(run_result_done) struct run_result x = {0};

                k.run = (char *)asked[i];
                draft_run(p, &k, p->pair->sat, false, 0, &x);
                if (x.run.out.size + x.run.err.size <= ret->size)
                        continue;
                buffer_done(ret);
                *ret = (struct buffer){0};
                buffer_add(ret, x.run.out.data, MIN(x.run.out.size, (size_t)HELP_MAX));
                buffer_adds(ret, "\n");
                buffer_add(ret, x.run.err.data, MIN(x.run.err.size, (size_t)HELP_MAX));
        }
}

/* The next option in a line from *at on: "--seed", "-st". *at moves behind it. */
static bool next_option(const char **at, char ret[OPTION_SIZE])
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

        for (const char *p = *at; (p = strchr(p, '-'));) {
                size_t dashes = strspn(p, "-"), n = dashes + strspn(p + dashes, letters);

                if ((p > *at && !strchr(" \t,[(|'\"`/", p[-1])) || dashes > 2 || !isalpha((unsigned char)p[dashes])) {
                        p += dashes;
                        continue;
                }
                *at = p + n;
                if (n >= OPTION_SIZE || p[n - 1] == '.' || p[n - 1] == ':')
                        n = MIN(n, (size_t)OPTION_SIZE) - 1;
                snprintf(ret, OPTION_SIZE, "%.*s", (int)n, p);
                return true;
        }
        return false;
}

/* Calls fn with each option of each line, the line, and the text behind the option, until fn returns true. */
static bool each_option(const struct buffer *help, bool (*fn)(void *user, const char *option, const char *line, const char *behind), void *user)
{
        cleanup_free char *copy = copy_string(help->data ?: "");
        char *rest = copy, option[OPTION_SIZE];
        bool is_done = false;

        for (char *line; !is_done && (line = strsep(&rest, "\n"));)
                for (const char *p = line; !is_done && next_option(&p, option);)
                        is_done = fn(user, option, line, p);
        return is_done;
}

/* "{bin} WORD {case}" of "{bin} {case}"; the same for a program that reads standard input. free() */
static char *with_word(const char *run, const char *word)
{
        const char *at = strstr(run, " {case}") ?: strstr(run, " " RECIPE_INPUT);

        return *word ? format_string("%.*s %s%s", (int)(at - run), run, word, at) : copy_string(run);
}

/* -- the seed --------------------------------------------------------------------------------------------------- */

struct seeking {
        struct draft_program *program;
        struct draft_keys *keys;
        unsigned turn; /* 0: options called seed; 1: others with seed in the name; 2: options whose line mentions a seed; 3: not in the help */
};

static bool is_seed_option(const struct seeking *s, const char *option, const char *line)
{
        const char *name = option + strspn(option, "-");
        bool called = strcasestr(name, "seed"), exactly = strcasecmp(name, "seed") == 0;

        if (strncmp(name, "no-", 3) == 0)
                return false;
        return s->turn == 0 ? exactly : s->turn == 1 ? called && !exactly : !called && strcasestr(line, "random seed");
}

/* True if the program answers with the seeds 1 and 30, given as OPTION, `between`, N; the keys then have it. */
static bool try_seed(struct seeking *s, const char *option, const char *between)
{
        struct draft_keys k = *s->keys;
        cleanup_free char *seed = format_string("%s%s{n}", option, between), *run = with_word(k.run, "{seed}");

        k.seed = seed;
        k.run = run;
        if (!draft_answers(s->program, &k, true, 1) || !draft_answers(s->program, &k, true, 30))
                return false;
        set_string(&s->keys->seed, seed);
        set_string(&s->keys->run, run);
        buffer_addf(&s->keys->about_seed, "%s; with 1 and 30 for {n} sat and unsat are answered as without.\n",
                    s->turn < 3 ? "The program's help has it" : "The program's help does not have it, and options that it does not know are refused");
        return true;
}

static bool seek_seed(void *user, const char *option, const char *line, const char *behind)
{
        struct seeking *s = user;
        bool equals = behind[strspn(behind, " ")] == '=';

        return is_seed_option(s, option, line) && (try_seed(s, option, equals ? "=" : " ") || try_seed(s, option, equals ? " " : "="));
}

static void find_seed(struct draft_program *p, struct draft_keys *keys, const struct buffer *help)
{
        struct seeking s = {.program = p, .keys = keys};
        struct draft_keys k = *keys;
        cleanup_free char *run = with_word(keys->run, "--no-such-option=1");

        for (; s.turn < 3; s.turn++)
                if (each_option(help, seek_seed, &s))
                        return;
        k.run = run; /* a program that accepts an unknown option proves nothing by accepting another */
        if (!draft_answers(p, &k, false, 0) && !try_seed(&s, "--seed", "="))
                try_seed(&s, "--seed", " ");
}

/* -- effort ----------------------------------------------------------------------------------------------------- */

/* The best first: conflicts are few and describe the work best. */
static const char *const labels[] = {"conflicts", "conflict", "rlimit-count", "resource", "decisions", "propagations"};

/* "conflicts ..: 123" at `at`, the label's place: the pattern for that line. False: nothing of that kind follows. */
static bool make_pattern(const char *label, const char *at, struct buffer *ret)
{
        const char *begin = at + strlen(label), *p = begin;
        size_t n;

        buffer_done(ret);
        *ret = (struct buffer){0};
        buffer_adds(ret, label);
        for (; *p && strchr(" \t:=|", *p); p += MAX(n, 1)) {
                n = strspn(p, " \t");
                if (n > 0)
                        buffer_adds(ret, memchr(p, '\t', n) ? "[[:space:]]+" : " +");
                else
                        buffer_addf(ret, *p == '|' ? "[%c]" : "%c", *p);
        }
        n = strspn(p, "0123456789");
        buffer_adds(ret, "([0-9]+)");
        return p > begin && n > 0 && !isalnum((unsigned char)p[n]) && (p[n] == '\0' || !strchr(".,%", p[n]));
}

/* True if both have the same nonzero number at the last match, the one that runs use. */
static bool matches_alike(const char *text, struct slice a, struct slice b, struct slice *ret)
{
        cleanup_pattern struct pattern *p = NULL;
        struct slice other;

        return pattern_new(text, &p) == 0 && pattern_last(p, a, ret) && pattern_last(p, b, &other) && strspn(ret->data, "0") < ret->size &&
               same_bytes(*ret, other);
}

/* Finds a pattern for a counter with the same nonzero number in both outputs. *ret_number points into `a`. */
static bool counter_find(struct slice a, struct slice b, struct buffer *ret_pattern, struct slice *ret_number)
{
        cleanup_free char *text = a.size > 0 && b.size > 0 ? copy_prefix(a.data, a.size) : copy_string("");

        for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
                for (const char *at = text; (at = strstr(at, labels[i])); at += strlen(labels[i])) {
                        bool is_whole = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '-');

                        if (is_whole && make_pattern(labels[i], at, ret_pattern) && matches_alike(ret_pattern->data, a, b, ret_number))
                                return true;
                }
        return false;
}

struct counting {
        struct draft_program *program;
        struct draft_keys *keys;
        const char *formula;
        bool verbose; /* tries options for verbosity; first those for statistics */
};

/* True if two runs showed a counter; the keys then have it. */
static bool try_counting(struct counting *c, const char *option)
{
        cleanup(run_result_done) struct run_result a = {0}, b = {0};
        struct draft_keys k = *c->keys;
        cleanup_free char *run = with_word(k.run, option);
        cleanup_buffer struct buffer pattern = {0};
        struct slice number;

        k.run = run;
        draft_run(c->program, &k, c->formula, false, 0, &a);
        draft_run(c->program, &k, c->formula, false, 0, &b);
        if (a.verdict != VERDICT_UNSAT || b.verdict != VERDICT_UNSAT)
                return false;
        /* runs use standard output only if standard error has no match */
        if (!counter_find(SLICE(a.run.err.data, a.run.err.size), SLICE(b.run.err.data, b.run.err.size), &pattern, &number) &&
            !counter_find(SLICE(a.run.out.data, a.run.out.size), SLICE(b.run.out.data, b.run.out.size), &pattern, &number))
                return false;
        set_string(&c->keys->effort, pattern.data);
        set_string(&c->keys->run, run);
        buffer_addf(&c->keys->about_effort, "%.*s in two runs on a formula that takes some work.\n", (int)number.size, (const char *)number.data);
        if (*option)
                buffer_addf(&c->keys->about_run, "%s makes it print what 'effort' reads.\n", option);
        return true;
}

static bool is_statistics(const char *name)
{
        const char *at = strstr(name, "stat");

        return strncmp(name, "no-", 3) != 0 && (strcmp(name, "st") == 0 || (at && strncmp(at, "static", 6) != 0 && strncmp(at, "state", 5) != 0));
}

static bool is_verbose(const char *name)
{
        return strcmp(name, "v") == 0 || strcmp(name, "verbose") == 0;
}

static bool seek_counter(void *user, const char *option, const char *, const char *)
{
        struct counting *c = user;

        return (c->verbose ? is_verbose : is_statistics)(option + strspn(option, "-")) && try_counting(c, option);
}

static void find_effort(struct draft_program *p, struct draft_keys *keys, const struct buffer *help, const char *formula)
{
        struct counting c = {.program = p, .keys = keys, .formula = formula};

        if (try_counting(&c, "") || each_option(help, seek_counter, &c))
                return;
        c.verbose = true;
        each_option(help, seek_counter, &c);
}

/* -- answers as they come --------------------------------------------------------------------------------------- */

/* True if a script's first answer arrives before its second. */
static bool answers_arrive(struct draft_program *p, const struct draft_keys *keys, const char *script)
{
        cleanup(run_result_done) struct run_result x = {0};
        const struct verdicts *v = &x.verdicts;

        draft_run(p, keys, script, false, 0, &x);
        return v->n == 2 && timeline_when(&x.run.printed, v->ends[0]) < timeline_when(&x.run.printed, v->ends[1]);
}

/* C's standard output is buffered into a pipe: without a flush all answers of a script arrive at its end, and no query has a time. */
static void find_buffering(struct draft_program *p, struct draft_keys *keys, const char *formula)
{
        const char *at = strstr(formula, "(assert");
        cleanup_free char *script = format_string("%.*s(check-sat)\n%s", (int)(at - formula), formula, at);
        cleanup_free char *run = format_string("stdbuf -oL %s", keys->run);
        struct draft_keys k = *keys;

        k.run = run;
        if (answers_arrive(p, keys, script) || !answers_arrive(p, &k, script))
                return;
        set_string(&keys->run, run);
        buffer_adds(&keys->about_run, "It keeps its answers back until its end; behind stdbuf each arrives when it is given.\n");
}

/* -- all of it --------------------------------------------------------------------------------------------------- */

void draft_options(struct draft_program *p, struct draft_keys *keys)
{
        cleanup_buffer struct buffer help = {0}, formula = {0};

        get_help(p, keys, &help);
        find_seed(p, keys, &help);
        formula_pigeons(FORMULA_HOLES, p->pair->logic, &formula);
        find_effort(p, keys, &help, formula.data);
        if (keys->format == FORMAT_SMT2)
                find_buffering(p, keys, formula.data);
}
