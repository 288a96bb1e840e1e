#include "options.h"

#include "command.h"

#define OPTIONS_MOST 40
#define KEY_ROW      0x100 /* + number: of a row that has no letter */

static const char *called; /* the command, as in "solverfs run" */

/* -- wrong usage -------------------------------------------------------------------------------------------------- */

void command_usage(const char *format, ...)
{
        char name[96];
        va_list args;

        snprintf(name, sizeof(name), "%s", called);
        fprintf(stderr, "%s: ", name);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
        argp_state_help(&(struct argp_state){.root_argp = &(struct argp){0}, .name = name}, stderr, ARGP_HELP_STD_ERR);
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

uint64_t command_duration(const char *what, const char *text)
{
        uint64_t ns = 0;
        int r = parse_duration(text, &ns);

        if (r < 0)
                command_usage("%s: %s", what, error_message(r));
        if (ns == 0)
                command_usage("%s must be greater than zero", what);
        return ns;
}

/* Which one of "wall|cpu". */
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

/* -- rows --------------------------------------------------------------------------------------------------------- */

void words_add(struct words *w, char *word)
{
        list_grow(w->list, w->n);
        w->list[w->n++] = word;
        list_grow(w->list, w->n);
        w->list[w->n] = NULL;
}

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

enum {
        KEY_STORE = 0x1000,
        KEY_WAIT,
}; /* long only */

static const struct argp_option common_argp_options[] = {
        {"store", KEY_STORE, "DIR", 0, "The store (default: $SOLVERFS_STORE, else ~/.local/share/solverfs)", -2},
        {"wait", KEY_WAIT, "TIME", 0, "Give up (status 75) where no core has been free for TIME, 0: at once (default: wait)", -2},
        {"quiet", 'q', NULL, 0, "No notes and no progress, only results and errors", -2},
        {"verbose", 'v', NULL, 0, "Say more; twice: everything", -2},
        {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
        {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
        switch (key) {
        case KEY_STORE:
                if (*arg == '\0')
                        command_usage("--store needs the name of a folder");
                common.store = arg;
                return 0;
        case 'h': /* argp's own is -?, which nobody types */
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
                return 0;
        case KEY_WAIT:
                common.gives_up = true;
                common.wait_ns = strcmp(arg, "0") == 0 ? 0 : command_duration("--wait", arg);
                return 0;
        case 'q':
                common.quiet = true;
                return 0;
        case 'v':
                common.verbose++;
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct argp common_argp = {.options = common_argp_options, .parser = parse_common};
static const struct argp_child common_options[] = {{&common_argp, 0, NULL, 0}, {0}};

static void parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *input)
{
        struct argp with_common = *argp;
        int e;

        called = argv[0];
        with_common.children = common_options;
        e = argp_parse(&with_common, argc, argv, flags, NULL, input);
        if (e != 0) {
                complain("cannot read the command line: %s", strerror(e));
                exit(STATUS_SYSTEM);
        }
        output_quiet(common.quiet, common.verbose);
}

/* -- the command line --------------------------------------------------------------------------------------------- */

const struct command_option options_json[] = {{"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &common.json}, {0}};

struct parsing {
        const struct command_option *options;
        bool takes_words, is_other_use;
        struct words words;
};

static error_t parse_row(int key, char *arg, struct argp_state *state)
{
        struct parsing *p = state->input;

        if (key == ARGP_KEY_ARGS && p->takes_words) {
                p->words = (struct words){state->argv + state->next, (size_t)(state->argc - state->next)};
                return 0;
        }
        for (int i = 0; p->options[i].help || p->options[i].is_alias; i++)
                if (key == (p->options[i].letter ? p->options[i].letter : KEY_ROW + i)) {
                        set(&p->options[i], arg);
                        p->is_other_use |= p->options[i].is_other_use;
                        return 0;
                }
        return ARGP_ERR_UNKNOWN;
}

/* How many words "NAME [CASE...]" asks for: one at least. */
static void check_words(const char *arguments, const struct words *words)
{
        size_t least = 0, most = 0, depth = 0;

        for (const char *p = arguments; *p; p++) {
                depth += *p == '[';
                depth -= *p == ']';
                most += p == arguments || p[-1] == ' ';
                least += (p == arguments || p[-1] == ' ') && depth == 0;
        }
        if (words->n < least || (words->n > most && !strstr(arguments, "...")))
                command_usage("too %s arguments: expected %s", words->n < least ? "few" : "many", arguments);
}

struct words command_parse(int argc, char **argv, const char *arguments, const char *doc, const struct command_option *options)
{
        static const struct command_option none[] = {{0}};
        struct argp_option table[OPTIONS_MOST + 1] = {0};
        struct parsing p = {options ? options : none, .takes_words = arguments && *arguments};

        for (int i = 0; p.options[i].help || p.options[i].is_alias; i++) {
                const struct command_option *o = &p.options[i];

                assert(i < OPTIONS_MOST);
                table[i] = (struct argp_option){o->name, o->is_alias ? 0 : o->letter ? o->letter : KEY_ROW + i, o->argument,
                                                o->is_alias ? OPTION_ALIAS : 0, o->help, 0};
        }
        parse(&(struct argp){table, parse_row, arguments, doc}, 0, argc, argv, &p);
        if (p.takes_words && !p.is_other_use && !strchr(arguments, '\n') && !strstr(arguments, "--"))
                check_words(arguments, &p.words);
        return p.words;
}

void command_parse_level(const struct argp *argp, int argc, char **argv, void *input)
{
        parse(argp, ARGP_IN_ORDER, argc, argv, input);
}
