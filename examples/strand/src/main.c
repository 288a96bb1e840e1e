#include "parser.h"
#include "strand.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#define VERSION "0.1"

static const char usage[] = "Usage: strand [OPTION]... FILE\n"
                            "Decide the SMT-LIB 2.6 string formula in FILE (- for standard input).\n"
                            "\n"
                            "  --stats            print the effort spent, in numbers that repeat\n"
                            "  --seed N           change the order of the search\n"
                            "  --no-overlap       do not detect overlapping variables\n"
                            "  --no-length        do not consult the integer solver while searching\n"
                            "  --timeout SECONDS  answer unknown after that long\n"
                            "  --help, --version\n"
                            "\n"
                            "The verdict (sat, unsat or unknown) is the first line printed.\n"
                            "Exit status: 0 answered, 1 bad input, 2 bad usage.\n";

/* The alarm answers for a search that cannot look at the clock (inside Z3). */
static volatile sig_atomic_t answering;

static void on_alarm(int sig)
{
        (void)sig;
        if (answering && write(STDOUT_FILENO, "unknown\n", 8) == 8)
                _exit(0);
        _exit(0);
}

static char *read_all(const char *path, size_t *len)
{
        FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
        VEC(char) text = {};
        size_t n;

        if (!f)
                return NULL;
        for (;;) {
                if (text.cap - text.n < 65536) {
                        text.cap = text.cap ? 2 * text.cap : 1 << 17;
                        text.d = util_realloc(text.d, text.cap);
                }
                n = fread(text.d + text.n, 1, text.cap - text.n, f);
                if (!n)
                        break;
                text.n += n;
        }
        if (ferror(f)) {
                int e = errno;

                free(text.d);
                if (f != stdin)
                        fclose(f);
                errno = e ? e : EIO;
                return NULL;
        }
        if (f != stdin)
                fclose(f);
        *len = text.n;
        return text.d;
}

static void print_value(const struct value *v)
{
        if (v->sort == SORT_BOOL)
                fputs(v->b ? "true" : "false", stdout);
        else if (v->sort == SORT_INT && v->i < 0)
                printf("(- %llu)", -(unsigned long long)v->i);
        else if (v->sort == SORT_INT)
                printf("%lld", (long long)v->i);
        else if (v->s)
                ustr_print(stdout, v->s);
        else
                fputs("\"\"", stdout);
}

static bool is_simple(const char *name)
{
        for (const char *c = name; *c; c++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~!@$%^&*_-+=<>.?/", *c))
                        return false;
        return *name && !(*name >= '0' && *name <= '9');
}

static void print_model(const struct parser *p, const struct value *val, size_t nval, const struct ustr *empty)
{
        puts("(");
        for (size_t i = 0; i < p->declared.n; i++) {
                tid t = p->declared.d[i];
                const struct term *x = term_get(p->bank, t);
                struct value v = {.sort = (enum sort)x->sort, .s = empty};

                if (t < nval && val[t].set)
                        v = val[t];
                printf(is_simple(x->name) ? "  (define-fun %s () %s " : "  (define-fun |%s| () %s ", x->name,
                       term_sort_name(v.sort));
                print_value(&v);
                puts(")");
        }
        puts(")");
}

static void print_values(struct parser *p, const struct value *model, size_t nval, const struct ustr *empty)
{
        size_t n = p->bank->terms.n;
        struct value *val = util_alloc(n * sizeof(*val));
        vec_u32 order = {};

        term_reach(p->bank, p->terms.d, p->terms.n, &order);
        for (size_t i = 0; i < order.n; i++) {
                const struct term *x = term_get(p->bank, order.d[i]);

                if (x->op != OP_VAR)
                        continue;
                val[order.d[i]] = (struct value){.sort = (enum sort)x->sort, .set = true, .s = empty};
                if (order.d[i] < nval && model[order.d[i]].set)
                        val[order.d[i]] = model[order.d[i]];
        }
        eval_terms(p->bank, order.d, order.n, val);
        putchar('(');
        for (size_t i = 0; i < p->terms.n; i++) {
                printf("%s(%.*s ", i ? "\n " : "", (int)(p->texts.d[2 * i + 1] - p->texts.d[2 * i]),
                       p->source + p->texts.d[2 * i]);
                if (val[p->terms.d[i]].set)
                        print_value(&val[p->terms.d[i]]);
                else
                        fputs("unknown", stdout);
                putchar(')');
        }
        puts(")");
        free(val);
        vec_free(&order);
}

/* Runs the script. Returns the exit status. */
static int run(const char *text, size_t len, const struct strand_options *opt, struct strand_stats *stats)
{
        static const char *const verdicts[] = {"unknown", "sat", "unsat"};
        enum verdict verdict = VERDICT_UNKNOWN;
        struct value *val = NULL;
        const struct ustr *empty;
        struct parser p;
        struct bank b;
        size_t nval = 0;
        int status = 0;

        term_bank_init(&b);
        empty = ustr_get(&b.strings, &b.arena, NULL, 0);
        parser_init(&p, &b, text, len);
        for (;;) {
                enum parser_event event = parser_next(&p);
                vec_u32 all = {};

                if (event == PARSER_EOF || event == PARSER_EXIT)
                        break;
                switch (event) {
                case PARSER_ERROR:
                        printf("(error \"");
                        for (const char *c = p.error; *c; c++)
                                printf(*c == '"' ? "\"\"" : (unsigned char)*c < 32 ? "?" : "%c", *c);
                        puts("\")");
                        status = 1;
                        goto out;
                case PARSER_CHECK_SAT:
                        if (p.unsupported) {
                                fprintf(stderr, "strand: unknown, because of %s\n", p.unsupported);
                                verdict = VERDICT_UNKNOWN;
                        } else {
                                for (size_t i = 0; i < p.asserts.n; i++)
                                        vec_push(&all, p.asserts.d[i]);
                                for (size_t i = 0; i < p.terms.n; i++)
                                        vec_push(&all, p.terms.d[i]);
                                free(val);
                                nval = b.terms.n;
                                val = util_alloc(nval * sizeof(*val));
                                answering = 1;
                                verdict = strand_solve(&b, all.d, all.n, opt, stats, val);
                                answering = 0;
                        }
                        puts(verdicts[verdict]);
                        fflush(stdout);
                        vec_free(&all);
                        break;
                case PARSER_GET_MODEL:
                case PARSER_GET_VALUE:
                        if (verdict != VERDICT_SAT)
                                puts("(error \"no model is available\")");
                        else if (event == PARSER_GET_MODEL)
                                print_model(&p, val, nval, empty);
                        else
                                print_values(&p, val, nval, empty);
                        break;
                case PARSER_ECHO:
                        puts(p.text);
                        break;
                default:
                        break;
                }
        }
out:
        free(val);
        parser_free(&p);
        term_bank_free(&b);
        return status;
}

int main(int argc, char **argv)
{
        static const struct option options[] = {
                {"stats", no_argument, NULL, 's'},      {"seed", required_argument, NULL, 'r'},
                {"no-overlap", no_argument, NULL, 'o'}, {"no-length", no_argument, NULL, 'l'},
                {"timeout", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'v'},    {},
        };
        struct strand_options opt = {};
        struct strand_stats stats = {};
        bool want_stats = false;
        double timeout = 0;
        char *text, *end;
        size_t len;
        int c, status;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
                switch (c) {
                case 's':
                        want_stats = true;
                        break;
                case 'r':
                        errno = 0;
                        opt.seed = (uint32_t)strtoul(optarg, &end, 10);
                        if (errno || *end || end == optarg) {
                                fprintf(stderr, "strand: --seed wants a number, not '%s'\n", optarg);
                                return 2;
                        }
                        break;
                case 'o':
                        opt.no_overlap = true;
                        break;
                case 'l':
                        opt.no_length = true;
                        break;
                case 't':
                        timeout = strtod(optarg, &end);
                        if (*end || end == optarg || !(timeout > 0) || timeout > 1e8) {
                                fprintf(stderr, "strand: --timeout wants seconds, not '%s'\n", optarg);
                                return 2;
                        }
                        break;
                case 'h':
                        fputs(usage, stdout);
                        return 0;
                case 'v':
                        puts("strand " VERSION);
                        return 0;
                default:
                        fputs("Try 'strand --help'.\n", stderr);
                        return 2;
                }
        }
        if (optind + 1 != argc) {
                fputs("strand: one FILE is wanted. Try 'strand --help'.\n", stderr);
                return 2;
        }
        text = read_all(argv[optind], &len);
        if (!text) {
                fprintf(stderr, "strand: cannot read %s: %s\n", argv[optind], strerror(errno));
                return 2;
        }
        if (timeout > 0) {
                struct itimerval it = {.it_value = {(time_t)timeout, (suseconds_t)((timeout - (double)(time_t)timeout) * 1e6) + 1}};

                opt.deadline = strand_now() + timeout * 0.98;
                signal(SIGALRM, on_alarm);
                setitimer(ITIMER_REAL, &it, NULL);
        }
        status = run(text, len, &opt, &stats);
        free(text);
        if (want_stats)
                strand_print_stats(stdout, &stats);
        return status;
}
