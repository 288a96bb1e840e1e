#include "options.h"

#include <sys/stat.h>

#include "core/report/outfile.h"
#include "command.h"

#define OPTIONS_MOST 40
#define KEY_ROW      0x100 /* + number: a row without a letter */

static const char *called; /* the command, as in "solverfs run" */

/* -- wrong usage -------------------------------------------------------------------------------------------------- */

void command_usage(const char *format, ...)
{
        va_list args;

        fprintf(stderr, "%s: ", called);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
        argp_state_help(&(struct argp_state){.root_argp = &(struct argp){0}, .name = (char *)called}, stderr, ARGP_HELP_STD_ERR);
        exit(STATUS_USAGE);
}

uint64_t command_number(const char *what, const char *text, uint64_t least, uint64_t most)
{
        char *end;
        unsigned long long n;

        errno = 0;
        n = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end || errno != 0 || n < least || n > most)
                command_usage("%s takes a number from %llu to %llu, not '%s'", what, (unsigned long long)least, (unsigned long long)most, text);
        return n;
}

static uint64_t duration_of(const char *what, const char *text)
{
        uint64_t ns = 0;
        int r = parse_duration(text, &ns);

        if (r < 0)
                command_usage("%s: %s", what, error_message(r));
        return ns;
}

uint64_t command_duration(const char *what, const char *text)
{
        uint64_t ns = duration_of(what, text);

        if (ns == 0)
                command_usage("%s must be greater than zero", what);
        return ns;
}

static double ratio_of(const char *what, const char *text)
{
        char *end;
        double ratio = strtod(text, &end);

        if (end == text || *end != '\0' || !(ratio >= 1 && ratio <= 1e6))
                command_usage("%s must be a ratio from 1 on, such as 1.5, not '%s'", what, text);
        return ratio;
}

/* Index of the word in "wall|cpu". */
static unsigned choice_of(const char *what, const char *text, const char *words)
{
        cleanup_buffer struct buffer all = {0};
        const char *word = words;

        for (unsigned i = 0;; i++) {
                size_t n = strcspn(word, "|");
                bool is_last = word[n] == '\0';

                if (strlen(text) == n && strncmp(text, word, n) == 0)
                        return i;
                buffer_addf(&all, "%s'%.*s'", i == 0 ? "" : is_last ? " or " : ", ", (int)n, word);
                if (is_last)
                        command_usage("%s is %s, not '%s'", what, all.data, text);
                word += n + 1;
        }
}

/* -- words, and rows of options ----------------------------------------------------------------------------------- */

void words_add(struct words *w, char *word)
{
        list_add(w->list, w->n, word);
        list_grow(w->list, w->n);
        w->list[w->n] = NULL;
}

/* Sets the variable of a row. `text`: the argument, if it takes one. */
static void set(const struct command_option *o, char *text)
{
        char what[40];

        if (o->name)
                snprintf(what, sizeof(what), "--%s", o->name);
        else
                snprintf(what, sizeof(what), "-%c", o->letter);
        if (o->on)
                *o->on = true;
        else if (o->off)
                *o->off = false;
        else if (o->text)
                *o->text = text;
        else if (o->file)
                *o->file = text;
        else if (o->each)
                words_add(o->each, text);
        else if (o->number)
                *o->number = (unsigned)command_number(what, text, o->least, o->most);
        else if (o->big_number)
                *o->big_number = command_number(what, text, o->least, o->most);
        else if (o->ns)
                *o->ns = command_duration(what, text);
        else if (o->seconds)
                *o->seconds = (double)command_duration(what, text) / NSEC_PER_SEC;
        else if (o->ratio)
                *o->ratio = ratio_of(what, text);
        else if (o->choice)
                *o->choice = choice_of(what, text, o->argument);
        else if (o->parse)
                o->parse(o->to, text);
        if (o->is_given)
                *o->is_given = true;
}

char *word_next(struct words *w)
{
        if (w->n == 0)
                return NULL;
        w->n--;
        return *w->list++;
}

/* -- options that all commands have ------------------------------------------------------------------------------- */

static void parse_store(void *, const char *text)
{
        if (*text == '\0')
                command_usage("--store needs the name of a folder");
        common.store = text;
}

static void parse_wait(void *, const char *text)
{
        common.wait_ns = duration_of("--wait", text);
}

static void parse_verbose(void *, const char *)
{
        common.verbose++;
}

static const struct command_option options_common[] = {
        {"store", 0, "DIR", "The store (default: $SOLVERFS_STORE, else ~/.local/share/solverfs)", .parse = parse_store},
        {"wait", 0, "TIME", "Give up (status 75) if no core gets free within TIME; 0: at once (default: wait)", .parse = parse_wait},
        {"quiet", 'q', NULL, "No notes and no progress, only results and errors", .on = &common.quiet},
        {"verbose", 'v', NULL, "Say more; twice: everything", .parse = parse_verbose},
        {0}};

/* -- the command line --------------------------------------------------------------------------------------------- */

const struct command_option options_json[] = {OPTION_JSON("Print a JSON object for each, a line each"), {0}};

struct parsing {
        const struct command_option *rows[OPTIONS_MOST]; /* the command's and the common ones */
        bool is_given[OPTIONS_MOST];
        int n;
        bool takes_words, is_level, is_other_use;
        int next; /* of a level: the word's index */
        struct words words;
};

static error_t parse_row(int key, char *arg, struct argp_state *state)
{
        struct parsing *p = state->input;

        if (key == ARGP_KEY_ARGS && p->takes_words) {
                p->words = (struct words){state->argv + state->next, (size_t)(state->argc - state->next)};
                return 0;
        }
        if (key == ARGP_KEY_ARG && p->is_level) {
                p->next = state->next - 1;
                state->next = state->argc; /* the rest belongs to the subcommand */
                return 0;
        }
        if (key == 'h') /* argp has only -? */
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        for (int i = 0; i < p->n; i++)
                if (key == (p->rows[i]->letter ? p->rows[i]->letter : KEY_ROW + i)) {
                        set(p->rows[i], arg);
                        p->is_given[i] = true;
                        p->is_other_use |= p->rows[i]->is_other_use;
                        return 0;
                }
        return key == 'h' ? 0 : ARGP_ERR_UNKNOWN;
}

static void add_rows(struct parsing *p, struct argp_option *table, const struct command_option *options, int group)
{
        for (const struct command_option *o = options; o && (o->help || o->is_alias); o++) {
                assert(p->n < OPTIONS_MOST);
                table[p->n] = (struct argp_option){o->name, o->is_alias ? 0 : o->letter ? o->letter : KEY_ROW + p->n, o->argument,
                                                   o->is_alias ? OPTION_ALIAS : 0, o->help, group};
                p->rows[p->n++] = o;
        }
}

static void parse(struct parsing *p, unsigned flags, int argc, char **argv, const char *arguments, const char *doc, const struct command_option *options)
{
        struct argp_option table[OPTIONS_MOST + 2] = {0};
        int e;

        called = argv[0];
        add_rows(p, table, options, 0);
        add_rows(p, table, options_common, -2);
        table[p->n] = (struct argp_option){NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1};
        e = argp_parse(&(struct argp){table, parse_row, arguments, doc}, argc, argv, flags, NULL, p);
        if (e != 0) {
                complain("cannot read the command line: %s", strerror(e));
                exit(STATUS_SYSTEM);
        }
        output_quiet(common.quiet, common.verbose);
}

/* Checks the number of words against a pattern: "NAME [CASE...]" needs at least one. */
static void check_words(const char *arguments, const struct words *words, bool may_lack)
{
        size_t least = 0, most = 0, depth = 0;

        for (const char *p = arguments; *p; p++) {
                depth += *p == '[';
                depth -= *p == ']';
                most += p == arguments || p[-1] == ' ';
                least += (p == arguments || p[-1] == ' ') && depth == 0 && !may_lack;
        }
        if (words->n < least || (words->n > most && !strstr(arguments, "...")))
                command_usage("too %s arguments: expected %s", words->n < least ? "few" : "many", arguments);
}

static void check_exclusions(const struct parsing *p)
{
        for (int i = 0; i < p->n; i++)
                for (int k = 0; k < p->n && p->is_given[i] && p->rows[i]->excludes; k++)
                        if (p->is_given[k] && p->rows[k]->name && strcmp(p->rows[k]->name, p->rows[i]->excludes) == 0)
                                command_usage("%s%s--%s and --%s exclude each other", p->rows[i]->why ?: "", p->rows[i]->why ? ": " : "",
                                              p->rows[i]->name, p->rows[k]->name);
}

/* Not opened yet if it is a device or a pipe, whose reader would see an end. */
static void check_file(const char *name, const char *path)
{
        struct outfile file;
        struct stat st;

        if (strcmp(path, "-") == 0 && common.json)
                command_usage("--%s - and --json would both write to standard output", name);
        if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
                return;
        command_must_as(STATUS_SYSTEM, outfile_open(path, 0600, &file));
        outfile_done(&file);
}

struct words command_parse(int argc, char **argv, const char *arguments, const char *doc, const struct command_option *options)
{
        struct parsing p = {.takes_words = arguments && *arguments};

        parse(&p, 0, argc, argv, arguments, doc, options);
        if (p.takes_words && !strchr(arguments, '\n') && !strstr(arguments, "--"))
                check_words(arguments, &p.words, p.is_other_use);
        check_exclusions(&p);
        for (int i = 0; i < p.n; i++)
                if (p.rows[i]->file && *p.rows[i]->file)
                        check_file(p.rows[i]->name, *p.rows[i]->file);
        return p.words;
}

int command_parse_level(int argc, char **argv, const char *doc)
{
        struct parsing p = {.is_level = true, .next = argc};

        parse(&p, ARGP_IN_ORDER, argc, argv, "COMMAND [ARGUMENT...]", doc, NULL);
        return p.next;
}
