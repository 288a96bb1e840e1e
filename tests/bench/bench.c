#include "bench.h"

#include <argp.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fixture.h"

struct bench_options bench = {.scale = 1, .rounds = 31, .builds = 20};

static const struct group {
        const char *name;
        int (*run)(void);
} groups[] = {{"tree", bench_tree}, {"wait", bench_wait}, {"run", bench_run}, {"build", bench_build}, {"store", bench_store}, {"report", bench_report},
            {"export", bench_export}, {"remote", bench_remote}, {"command", bench_command}};

/* -- small things -- */

double bench_now(void)
{
        return (double)now_ns() / 1e9;
}

double bench_cpu(int who)
{
        struct rusage u;

        getrusage(who, &u);
        return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t n, double q)
{
        qsort(values, n, sizeof(*values), compare);
        return n > 0 ? values[MIN((size_t)((double)n * q), n - 1)] : NAN;
}

double bench_median(double *values, size_t n)
{
        return bench_quantile(values, n, 0.5);
}

void bench_say(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        fputs("bench: ", stderr);
        vfprintf(stderr, format, ap);
        fputs("\n", stderr);
        va_end(ap);
}

bool bench_has(const char *program)
{
        return bench_shell(NULL, "command -v %s", program) == 0;
}

int bench_shell(const char *dir, const char *format, ...)
{
        cleanup_free char *command = NULL, *line = NULL;
        va_list ap;
        int n, status;

        va_start(ap, format);
        n = vasprintf(&command, format, ap);
        va_end(ap);
        if (n < 0 || asprintf(&line, "cd '%s' && { %s; } >/dev/null", dir ? dir : ".", command) < 0)
                return -ENOMEM;
        status = system(line);
        return status == 0 ? 0 : errorf(-EIO, "failed (%d): %s", WEXITSTATUS(status), command);
}

/* Marsaglia, "Xorshift RNGs", 2003. */
uint32_t bench_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return (uint32_t)(*state >> 32);
}

/* -- rows -- */

static void format_value(enum unit unit, double v, char ret[32])
{
        double a = fabs(v);

        if (isnan(v))
                snprintf(ret, 32, "-");
        else if (unit == UNIT_COUNT)
                snprintf(ret, 32, "%.0f", v);
        else if (unit == UNIT_BYTES)
                snprintf(ret, 32, a < 1e6 ? "%.1f kB" : "%.2f MB", a < 1e6 ? v / 1e3 : v / 1e6);
        else if (a < 1e-3)
                snprintf(ret, 32, "%.2f µs", v * 1e6);
        else if (a < 1)
                snprintf(ret, 32, "%.2f ms", v * 1e3);
        else
                snprintf(ret, 32, "%.2f s", v);
}

void bench_print(const struct row *row, double ours, double theirs, double result)
{
        char a[32], b[32], r[40], most[40] = "-";

        format_value(row->unit, ours, a);
        format_value(row->unit, theirs, b);
        if (isnan(result))
                result = row->judge == JUDGE_RATIO ? ours / theirs : row->judge == JUDGE_DIFFERENCE ? ours - theirs : ours;
        if (row->judge == JUDGE_RATIO) {
                snprintf(r, sizeof(r), "%.3g×", result);
                snprintf(most, sizeof(most), "%.3g×", row->most);
        } else {
                format_value(row->unit, result, r);
                format_value(row->unit, row->most, most);
        }
        if (row->most == 0)
                strcpy(most, "-");
        printf("%s\t%s\t%s\t%s\t%s%s\t%s\t%s\n", row->what, a, b, row->against ? row->against : "-",
               row->judge == JUDGE_DIFFERENCE && result >= 0 ? "+" : "", r, most,
               row->most == 0        ? "-"
               : result <= row->most ? "ok"
                                     : "OVER");
        fflush(stdout);
}

void bench_skip(const char *what, const char *why)
{
        printf("%s\t-\t-\t%s\t-\t-\tskipped\n", what, why);
        fflush(stdout);
}

int bench_compare(const struct row *row, measure_fn ours, void *ours_user, measure_fn theirs, void *theirs_user)
{
        size_t n = row->rounds ? row->rounds : bench.rounds;
        cleanup_free double *a = calloc(n, sizeof(*a)), *b = calloc(n, sizeof(*b)), *c = calloc(n, sizeof(*c));

        if (!a || !b || !c)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                bool first = i % 2 == 0; /* who begins changes, too */
                int r = first ? ours(ours_user, &a[i]) : 0;

                if (r == 0 && theirs)
                        r = theirs(theirs_user, &b[i]);
                if (r == 0 && !first)
                        r = ours(ours_user, &a[i]);
                if (r < 0)
                        return r;
                c[i] = row->judge == JUDGE_RATIO ? a[i] / b[i] : row->judge == JUDGE_DIFFERENCE ? a[i] - b[i] : a[i];
        }
        bench_print(row, bench_median(a, n), theirs ? bench_median(b, n) : NAN, bench_median(c, n));
        return 0;
}

/* -- main -- */

static const struct argp_option options[] = {
        {"dir", 'd', "DIR", 0, "scratch folder, on the disk to measure (default: a new one in $TMPDIR)"},
        {"scale", 's', "N", 0, "N times as many commits, cells and facts"},
        {"rounds", 'r', "N", 0, "rounds of short measurements (31)"},
        {"repository", 'R', "DIR", 0, "a real repository for the group build (default: a synthetic one)"},
        {"recipe", 'C', "FILE", 0, "the recipe of that repository"},
        {"builds", 'b', "N", 0, "consecutive commits to build (20)"},
        {0}};

struct arguments {
        const char *groups[ARRAY_SIZE(groups)];
        size_t n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct arguments *a = state->input;

        switch (key) {
        case 'd':
                bench.dir = arg;
                return 0;
        case 's':
                bench.scale = (unsigned)MAX(atoi(arg), 1);
                return 0;
        case 'r':
                bench.rounds = (unsigned)MAX(atoi(arg), 1);
                return 0;
        case 'R':
                bench.repository = arg;
                return 0;
        case 'C':
                bench.recipe = arg;
                return 0;
        case 'b':
                bench.builds = (unsigned)MAX(atoi(arg), 1);
                return 0;
        case ARGP_KEY_ARG:
                if (a->n == ARRAY_SIZE(a->groups))
                        return ARGP_ERR_UNKNOWN;
                a->groups[a->n++] = arg;
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct group *find_group(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
                if (strcmp(groups[i].name, name) == 0)
                        return &groups[i];
        return NULL;
}

static int run_groups(const struct arguments *a)
{
        int failed = 0;

        for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
                bool wanted = a->n == 0;
                int r;

                for (size_t k = 0; k < a->n; k++)
                        wanted |= strcmp(a->groups[k], groups[i].name) == 0;
                r = wanted ? groups[i].run() : 0;
                if (r < 0) {
                        bench_say("%s: %s", groups[i].name, error_message(r));
                        failed = 1;
                }
        }
        return failed;
}

int main(int argc, char **argv)
{
        static const struct argp argp = {options, parse, "[tree|wait|run|build|store|report|export|remote|command]...",
                                         "Prints the rows of the table of benchmarks; see docs/evidence."};
        char made[PATH_SIZE] = "";
        struct arguments a = {0};
        int failed;

        if (argc == 5 && strcmp(argv[1], FIXTURE_SERVE) == 0)
                return fixture_serve(argv[2], argv[3], strcmp(argv[4], "finished") == 0);
        argp_parse(&argp, argc, argv, 0, NULL, &a);
        for (size_t k = 0; k < a.n; k++)
                if (!find_group(a.groups[k])) {
                        bench_say("there is no group '%s'", a.groups[k]);
                        return 2;
                }
        if (!bench.dir) {
                snprintf(made, sizeof(made), "%s/solverfs-bench-XXXXXX", getenv("TMPDIR") ?: "/tmp");
                bench.dir = mkdtemp(made);
        }
        if (!bench.dir || make_dirs(bench.dir, 0700) < 0 || !(bench.dir = realpath(bench.dir, NULL))) {
                bench_say("no scratch folder: %s", strerror(errno));
                return 2;
        }
        failed = run_groups(&a);
        if (*made)
                remove_tree(made);
        return failed;
}
