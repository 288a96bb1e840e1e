#include "script.h"
#include <errno.h>
#include <getopt.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define VERSION "0.1"

static const char usage[] = "Usage: strand [OPTION]... FILE\n"
                            "Decide the SMT-LIB 2.6 string formula in FILE (- for standard input).\n"
                            "\n"
                            "  --stats            print the effort spent, in numbers that repeat\n"
                            "  --seed N           change the order of the search\n"
                            "  --no-overlap       do not detect overlapping variables\n"
                            "  --no-length        do not consult the integer solver while searching\n"
                            "  --labels           print generalized word equations and arrangements on standard error\n"
                            "  --loop             search in a loop around Z3, not as its user propagator\n"
                            "  --no-guess         no local search for a model\n"
                            "  --timeout SECONDS  answer unknown after that long\n"
                            "  --help, --version\n"
                            "\n"
                            "The verdict (sat, unsat or unknown) is the first line printed.\n"
                            "Exit status: 0 answered, 1 bad input, 2 bad usage.\n";

/* The alarm answers for a search that cannot look at the clock (inside Z3). */

static void on_alarm(int sig)
{
        (void)sig;
        if (script_answering && write(STDOUT_FILENO, "unknown\n", 8) == 8)
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

/* Deep terms make Z3 and some of strand's own passes recurse: they get a stack of their own, of which only
 * what is used costs memory. */
#define STACK_BYTES ((size_t)1 << 30)

static ucontext_t caller, callee;
static struct {
        const char *text;
        size_t len;
        const struct strand_options *opt;
        struct strand_stats *stats;
        int status;
} job;

static void job_run(void)
{
        job.status = script_run(job.text, job.len, job.opt, job.stats, stdout);
}

static void run_on_large_stack(void)
{
        void *stack =
                mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

        if (stack == MAP_FAILED || getcontext(&callee)) {
                job_run();
                return;
        }
        callee.uc_stack.ss_sp = stack;
        callee.uc_stack.ss_size = STACK_BYTES;
        callee.uc_link = &caller;
        makecontext(&callee, job_run, 0);
        swapcontext(&caller, &callee);
        munmap(stack, STACK_BYTES);
}

int main(int argc, char **argv)
{
        static const struct option options[] = {
                {"stats", no_argument, NULL, 's'},         {"seed", required_argument, NULL, 'r'},
                {"no-overlap", no_argument, NULL, 'o'},    {"no-length", no_argument, NULL, 'l'},
                {"labels", no_argument, NULL, 'b'},        {"loop", no_argument, NULL, 'p'},
                {"no-guess", no_argument, NULL, 'g'},
                {"timeout", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'v'},       {},
        };
        struct strand_options opt = {.ends = true};
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
                case 'g':
                        opt.no_guess = true;
                        break;
                case 'b':
                        opt.labels = true;
                        break;
                case 'p':
                        opt.loop = true;
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
                int64_t us = (int64_t)(timeout * 1e6) + 1;
                struct itimerval it = {.it_value = {us / 1000000, us % 1000000}};

                opt.deadline = strand_now() + timeout * 0.98;
                signal(SIGALRM, on_alarm);
                setitimer(ITIMER_REAL, &it, NULL);
        }
        job.text = text;
        job.len = len;
        job.opt = &opt;
        job.stats = &stats;
        run_on_large_stack();
        status = job.status;
        free(text);
        if (want_stats)
                strand_print_stats(stdout, &stats);
        fflush(NULL);
        _exit(ferror(stdout) ? 2 : status); /* libz3 would take itself apart */
}
