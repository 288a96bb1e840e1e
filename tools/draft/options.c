/* Options of the program, as its help has them: a seed, and statistics that have a counter. Each is tried. */
#include <ctype.h>

#include "tools/draft/draft.h"
#include "tools/formulas.h"

#define OPTION_SIZE 64
#define HELP_MAX    (1 << 20)

/* -- the help --------------------------------------------------------------------------------------------------- */

/* The longest answer to the usual ways of asking for it. */
static int get_help(struct draft_program *p, const struct draft_keys *keys, struct buffer *ret)
{
        static const char *const asked[] = {"{bin} --help {case}", "{bin} -h {case}", "{bin} -help {case}"};
        struct draft_keys k = *keys;
        int r = 0;

        k.seed = k.effort = NULL;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(asked); i++) {
                struct run_result x = {0};

                k.run = (char *)asked[i];
                r = draft_run(p, &k, p->pair->sat, false, 0, &x);
                if (r == 0 && x.run.out.size + x.run.err.size > ret->size) {
                        buffer_done(ret);
                        *ret = (struct buffer){0};
                        buffer_add(ret, x.run.out.data, MIN(x.run.out.size, (size_t)HELP_MAX));
                        buffer_adds(ret, "\n");
                        buffer_add(ret, x.run.err.data, MIN(x.run.err.size, (size_t)HELP_MAX));
                        buffer_adds(ret, "\n");
                }
                run_result_done(&x);
        }
        return r == 0 ? buffer_error(ret) : r;
}

/* The next option in a line from *at on: "--seed", "-st". What follows it is at *at. */
static bool next_option(const char **at, const char *end, char ret[OPTION_SIZE])
{
        for (const char *p = *at; p < end; p++) {
                const char *q = p;
                size_t n;

                if (*p != '-' || (p > *at && !strchr(" \t,[(|'\"`/", p[-1])))
                        continue;
                while (q < end && *q == '-')
                        q++;
                if (q - p > 2 || q == end || !isalpha((unsigned char)*q)) {
                        p = q - 1;
                        continue;
                }
                while (q < end && (isalnum((unsigned char)*q) || *q == '-' || *q == '_' || *q == '.' || *q == ':'))
                        q++;
                n = (size_t)(q - p);
                *at = q;
                if (n >= OPTION_SIZE || q[-1] == '.' || q[-1] == ':')
                        n = MIN(n, (size_t)OPTION_SIZE) - 1;
                memcpy(ret, p, n);
                ret[n] = '\0';
                return true;
        }
        return false;
}

static bool has_word(const char *line, const char *end, const char *word)
{
        for (size_t n = strlen(word); line + n <= end; line++)
                if (strncasecmp(line, word, n) == 0)
                        return true;
        return false;
}

/* Calls fn with each option of each line, with the line, until it returns other than 0. */
typedef int (*option_fn)(void *user, const char *option, const char *line, const char *end, const char *behind);
static int each_option(const struct buffer *help, option_fn fn, void *user)
{
        const char *at = help->data, *end = at + help->size;
        int r = 0;

        while (r == 0 && at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ?: end, *p = at;
                char option[OPTION_SIZE];

                while (r == 0 && next_option(&p, stop, option))
                        r = fn(user, option, at, stop, p);
                at = stop + 1;
        }
        return r;
}

/* "{bin} WORD {case}" */
static void with_word(const char *run, const char *word, struct buffer *ret)
{
        const char *at = strstr(run, " {case}") ?: strstr(run, " " RECIPE_INPUT);

        if (*word)
                buffer_addf(ret, "%.*s %s%s", (int)(at - run), run, word, at);
        else
                buffer_adds(ret, run);
}

/* -- the seed --------------------------------------------------------------------------------------------------- */

struct seeking {
        struct draft_program *program;
        struct draft_keys *keys;
        unsigned turn; /* 0: options called seed; 1: others of that name; 2: options whose line speaks of a seed; 3: not in the help */
};

static bool is_seed_option(const struct seeking *s, const char *option, const char *line, const char *end)
{
        const char *name = option + strspn(option, "-");
        bool called = has_word(name, name + strlen(name), "seed"), exactly = strcasecmp(name, "seed") == 0;

        if (strncmp(name, "no-", 3) == 0)
                return false;
        return s->turn == 0 ? exactly : s->turn == 1 ? called && !exactly : !called && has_word(line, end, "random seed");
}

/* 1: the program answers with seeds given so. */
static int try_seed(struct seeking *s, const char *option, const char *between)
{
        static const uint64_t numbers[] = {1, 30};
        struct draft_keys k = *s->keys;
        cleanup_buffer struct buffer seed = {0}, run = {0};
        int r;

        buffer_addf(&seed, "%s%s{n}", option, between);
        with_word(k.run, "{seed}", &run);
        if (buffer_error(&seed) < 0 || buffer_error(&run) < 0)
                return -ENOMEM;
        k.seed = seed.data;
        k.run = run.data;
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                r = draft_answers(s->program, &k, true, numbers[i]);
                if (r <= 0)
                        return r;
        }
        s->keys->seed = strdup(seed.data);
        free(s->keys->run);
        s->keys->run = strdup(run.data);
        buffer_addf(&s->keys->about_seed, "%s; with 1 and 30 for {n} sat and unsat are answered as without.\n",
                    s->turn < 3 ? "The program's help has it" : "The program's help does not have it, and options that it does not know are refused");
        return s->keys->seed && s->keys->run ? 1 : -ENOMEM;
}

static int seek_seed(void *user, const char *option, const char *line, const char *end, const char *behind)
{
        struct seeking *s = user;
        bool equals;
        int r;

        if (!is_seed_option(s, option, line, end))
                return 0;
        while (behind < end && *behind == ' ')
                behind++;
        equals = behind < end && *behind == '=';
        r = try_seed(s, option, equals ? "=" : " ");
        return r == 0 ? try_seed(s, option, equals ? " " : "=") : r;
}

/* 1: the program does not answer with an option that it cannot know. Then it says something that it answers with another one. */
static int refuses_unknown(struct draft_program *p, const struct draft_keys *keys)
{
        struct draft_keys k = *keys;
        cleanup_buffer struct buffer run = {0};
        int r;

        with_word(k.run, "--no-such-option=1", &run);
        r = buffer_error(&run);
        k.run = run.data;
        if (r == 0)
                r = draft_answers(p, &k, false, 0);
        return r < 0 ? r : !r;
}

static int find_seed(struct draft_program *p, struct draft_keys *keys, const struct buffer *help)
{
        struct seeking s = {.program = p, .keys = keys};
        int r = 0;

        for (; r == 0 && s.turn < 3 && help->size > 0; s.turn++)
                r = each_option(help, seek_seed, &s);
        if (r == 0 && (r = refuses_unknown(p, keys)) == 1) {
                r = try_seed(&s, "--seed", "=");
                if (r == 0)
                        r = try_seed(&s, "--seed", " ");
        }
        return r;
}

/* -- effort ----------------------------------------------------------------------------------------------------- */

struct counting {
        struct draft_program *program;
        struct draft_keys *keys;
        struct buffer formula;
        bool verbose; /* the turn of options that make it talk; before, those of statistics */
};

static struct slice words_of(const struct run_result *x, bool err)
{
        return err ? SLICE(x->run.err.data, x->run.err.size) : SLICE(x->run.out.data, x->run.out.size);
}

/* 1: in two runs a counter was seen, and the keys have it. */
static int compare_runs(struct counting *c, const char *run, const char *option, const struct run_result *a, const struct run_result *b)
{
        cleanup_buffer struct buffer pattern = {0};
        struct slice number;
        bool found = a->verdict == VERDICT_UNSAT && b->verdict == VERDICT_UNSAT;

        /* Runs look into standard output only where standard error has no match. */
        found = found && (counter_find(words_of(a, true), words_of(b, true), &pattern, &number) || counter_find(words_of(a, false), words_of(b, false), &pattern, &number));
        if (!found)
                return 0;
        c->keys->effort = strdup(pattern.data);
        buffer_addf(&c->keys->about_effort, "%.*s in two runs on a formula that takes some work.\n", (int)number.size, (const char *)number.data);
        if (*option) {
                free(c->keys->run);
                c->keys->run = strdup(run);
                buffer_addf(&c->keys->about_run, "%s makes it print what 'effort' reads.\n", option);
        }
        return c->keys->effort && c->keys->run ? 1 : -ENOMEM;
}

static int try_counting(struct counting *c, const char *option)
{
        struct run_result x[2] = {0};
        struct draft_keys k = *c->keys;
        cleanup_buffer struct buffer run = {0};
        int r;

        with_word(k.run, option, &run);
        r = buffer_error(&run);
        k.run = run.data;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(x); i++)
                r = draft_run(c->program, &k, c->formula.data, false, 0, &x[i]);
        if (r == 0)
                r = compare_runs(c, run.data, option, &x[0], &x[1]);
        for (size_t i = 0; i < ARRAY_SIZE(x); i++)
                run_result_done(&x[i]);
        return r;
}

static bool is_statistics(const char *option)
{
        const char *name = option + strspn(option, "-"), *at = strstr(name, "stat");

        return strncmp(name, "no-", 3) != 0 && (strcmp(name, "st") == 0 || (at && strncmp(at, "static", 6) != 0 && strncmp(at, "state", 5) != 0));
}

static bool is_verbose(const char *option)
{
        const char *name = option + strspn(option, "-");

        return strcmp(name, "v") == 0 || strcmp(name, "verbose") == 0;
}

static int seek_counter(void *user, const char *option, const char *, const char *, const char *)
{
        struct counting *c = user;

        return (c->verbose ? is_verbose(option) : is_statistics(option)) ? try_counting(c, option) : 0;
}

static int find_effort(struct draft_program *p, struct draft_keys *keys, const struct buffer *help)
{
        struct counting c = {.program = p, .keys = keys};
        int r;

        formula_pigeons(FORMULA_HOLES, p->pair->logic, &c.formula);
        r = buffer_error(&c.formula);
        if (r == 0)
                r = try_counting(&c, "");
        for (int turn = 0; r == 0 && turn < 2; turn++) {
                c.verbose = turn == 1;
                r = each_option(help, seek_counter, &c);
        }
        buffer_done(&c.formula);
        return r;
}

int draft_options(struct draft_program *p, struct draft_keys *keys)
{
        cleanup_buffer struct buffer help = {0};
        int r = get_help(p, keys, &help);

        if (r == 0)
                r = find_seed(p, keys, &help);
        if (r >= 0)
                r = find_effort(p, keys, &help);
        return r < 0 ? r : 0;
}
