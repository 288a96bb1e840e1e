/* How soon a strategy finds slowdowns of a real program against another one, with finds that hold over seeds.
 *
 *     search_real --reference CMD --target CMD [--cnf] [--strategy NAME] [--seconds 3600] [--timeout 20] [--threshold 10] [--number 1] [--core N]
 *                 [--reduce 60] [--finds DIR]
 *     search_real --reference CMD --target CMD [--cnf] [--timeout 20] [--threshold 10] [--core N] [--reduce 60] --finds DIR --again
 *
 * A command is words divided by blanks: {case} is the input's file, {seed} the solver's seed: 1 in the search, 1, 2, 3 … while a candidate is confirmed.
 * Without {seed} the pairs are of the same input again. All times are CPU time of the solvers, so other work on the machine changes little; --core binds
 * them to one core. The campaign ends after so many seconds of them, those of confirmations included. Confirming is as in a campaign: core/study/judge
 * over pairs.
 *
 * Behind the end, not counted, each find is reduced for so many CPU seconds at most while it is slow under two seeds. Finds whose reduced forms have the
 * same operators are one; of DIMACS, the same lengths of clauses. Only what is reduced to the end says something: large formulas that are not have a form
 * each. It prints a line: strategy, number, solver seconds, runs, inputs, candidates, finds, those reduced to the end, their distinct forms, distinct
 * forms of all, seconds until the first find and until half of the finds. --finds keeps each: as found and reduced. --again goes on reducing what an
 * earlier command has kept, and prints the numbers of finds and forms.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/smtlib/cnf.h"
#include "core/study/reduce/reduce.h"
#include "tests/bench/confirm.h"
#include "tests/support/strategies.h"

#define WORDS       64
#define MEMORY      (UINT64_C(4) << 30)

struct find {
        char *text, *reduced, *form; /* owned */
        bool is_minimal;             /* reduced to the end */
        double when;
        const char *source; /* strategy_next()'s */
};
struct campaign {
        const char *commands[2]; /* reference, target */
        bool is_cnf;
        double seconds, timeout, threshold, reduce;
        int core;
        const char *finds_folder;
        char file[64]; /* the input */
        struct strategy *strategy;
        double solving; /* CPU seconds of the solvers */
        uint64_t runs, inputs;
        unsigned candidates;
        struct find *finds; /* owned */
        size_t n_finds;
};

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "search_real: %s: %s\n", what, strerror(errno));
        exit(1);
}

/* -- a run -- */

static double cpu_of(clockid_t clock)
{
        struct timespec t;

        return clock_gettime(clock, &t) < 0 ? -1 : (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void become_solver(const struct campaign *c, const char *command, uint64_t seed, int out)
{
        char seed_text[24], *words[WORDS + 1], *rest = strdup(command);
        cpu_set_t cores;
        size_t n = 0;

        snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed + 1);
        for (char *w; n < WORDS && (w = strsep(&rest, " "));)
                if (*w) {
                        char *at = strstr(w, "{seed}"), *with = NULL;

                        if (at && asprintf(&with, "%.*s%s%s", (int)(at - w), w, seed_text, at + strlen("{seed}")) < 0)
                                _exit(127);
                        words[n++] = strcmp(w, "{case}") == 0 ? (char *)c->file : with ?: w;
                }
        words[n] = NULL;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* who ends the search ends its solver */
        CPU_ZERO(&cores);
        CPU_SET(c->core, &cores);
        if (c->core >= 0)
                sched_setaffinity(0, sizeof(cores), &cores);
        setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY, MEMORY});
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
        dup2(STDIN_FILENO, STDERR_FILENO);
        dup2(out, STDOUT_FILENO);
        execvp(words[0], words);
        _exit(127);
}

static enum verdict verdict_of(bool is_cnf, int status, int out)
{
        char text[256] = "";
        ssize_t n = pread(out, text, sizeof(text) - 1, 0);

        if (!WIFEXITED(status))
                return VERDICT_CRASH;
        if (is_cnf)
                return WEXITSTATUS(status) == 10 ? VERDICT_SAT : WEXITSTATUS(status) == 20 ? VERDICT_UNSAT : VERDICT_UNKNOWN;
        if (n > 0 && strncmp(text, "sat\n", 4) == 0)
                return VERDICT_SAT;
        if (n > 0 && strncmp(text, "unsat\n", 6) == 0)
                return VERDICT_UNSAT;
        return n > 0 && strncmp(text, "unknown\n", 8) == 0 ? VERDICT_UNKNOWN : VERDICT_ERROR;
}

/* The file's input on one of the commands, for `cap` CPU seconds at most. */
static struct outcome run(struct campaign *c, bool target, uint64_t seed, double cap)
{
        int out = memfd_create("out", MFD_CLOEXEC), status, pidfd;
        struct rusage usage;
        clockid_t clock;
        bool is_killed = false;
        double seconds;
        pid_t pid;

        if (out < 0 || (pid = fork()) < 0)
                die("starting a solver");
        if (pid == 0)
                become_solver(c, c->commands[target], seed, out);
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        clock_getcpuclockid(pid, &clock);
        for (double wait = 1; poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, (int)wait) == 0; wait = fmin(wait * 1.5, 20)) {
                double left = cap - cpu_of(clock);

                if (left <= 0 && !is_killed) {
                        kill(pid, SIGKILL);
                        is_killed = true;
                }
                wait = fmin(wait, fmax(1, left * 1000));
        }
        close(pidfd);
        if (wait4(pid, &status, 0, &usage) != pid)
                die("waiting for a solver");
        seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
        is_killed |= seconds >= cap;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                die(c->commands[target]);
        status = is_killed ? VERDICT_TIMEOUT : (int)verdict_of(c->is_cnf, status, out);
        close(out);
        seconds = is_killed ? cap : seconds;
        c->solving += seconds;
        c->runs++;
        return (struct outcome){.seconds = seconds, .verdict = (enum verdict)status};
}

static void set_input(struct campaign *c, struct slice text)
{
        if (write_file_atomic(c->file, text.data, text.size, 0644) < 0)
                die(c->file);
}

/* -- confirming -- */

static struct outcome run_whole(void *user, bool target, uint64_t seed)
{
        struct campaign *c = user;

        return run(c, target, seed, c->timeout);
}

static int step(struct campaign *c)
{
        struct strategy_input input;
        unsigned version;
        double cap, score;
        int r;

        strategies_now = c->solving;
        r = strategy_next(c->strategy, &input);
        if (r < 0)
                return r;
        c->inputs++;
        set_input(c, input.text);
        while (strategy_step(c->strategy, input.id, &version, &cap)) {
                struct outcome o = run(c, version == 1, 0, cap);

                strategy_ran(c->strategy, input.id, version, &o);
        }
        if (strategy_wants(c->strategy, input.id, NULL)) {
                char *text = copy_prefix(input.text.data, input.text.size);
                bool is_find;

                c->candidates++;
                strategy_finish(c->strategy, input.id, true, &score);
                is_find = confirm_holds(run_whole, c, c->timeout, c->threshold);
                strategy_confirmed(c->strategy, input.id, is_find);
                if (is_find) {
                        list_grow(c->finds, c->n_finds);
                        c->finds[c->n_finds++] = (struct find){.text = steal_pointer(text), .when = c->solving, .source = input.source};
                }
                free(text);
        } else {
                strategy_finish(c->strategy, input.id, false, &score);
        }
        return 0;
}

/* -- behind the end: reduced forms -- */

struct interest {
        struct campaign *campaign;
        double until; /* c->solving */
};

static int is_slow(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        struct interest *i = user;
        struct campaign *c = i->campaign;

        for (size_t k = 0; k < n; k++) {
                if (c->solving >= i->until)
                        return -ECANCELED;
                set_input(c, texts[k]);
                ret[k] = REDUCE_INTERESTING;
                for (uint64_t seed = 0; seed < 2 && ret[k] == REDUCE_INTERESTING; seed++) {
                        struct outcome a = run(c, false, seed, c->timeout - c->threshold), b = {0};

                        if (verdict_is_decided(a.verdict))
                                b = run(c, true, seed, a.seconds + c->threshold * 1.01);
                        if (!confirm_is_slow(&a, &b, c->threshold))
                                ret[k] = REDUCE_BORING;
                }
                if (ret[k] == REDUCE_INTERESTING)
                        return 0;
        }
        return 0;
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The set of words behind an opening parenthesis, or of lengths of clauses. */
static char *form_of(const struct campaign *c, const char *text)
{
        cleanup_buffer struct buffer out = {0};
        char *words[4096];
        size_t n = 0;

        if (c->is_cnf) {
                struct cnf_reader r;
                int32_t literal;
                unsigned length = 0;

                cnf_reader_init(&r, SLICE(text, strlen(text)));
                while (n < ARRAY_SIZE(words) && cnf_next(&r, &literal) > 0) {
                        if (literal == 0)
                                words[n++] = format_string("%u", length);
                        length = literal == 0 ? 0 : length + 1;
                }
        } else {
                bool is_quoted = false;

                for (const char *at = text; n < ARRAY_SIZE(words) && *at; at++) {
                        is_quoted ^= *at == '"';
                        if (!is_quoted && *at == '(' && at[1] != '(' && at[1] != ')')
                                words[n++] = copy_prefix(at + 1, strcspn(at + 1, " ()\n"));
                }
        }
        qsort(words, n, sizeof(*words), by_text);
        for (size_t i = 0; i < n; i++) {
                if (i == 0 || strcmp(words[i], words[i - 1]) != 0)
                        buffer_addf(&out, "%s ", words[i]);
        }
        for (size_t i = 0; i < n; i++)
                free(words[i]);
        return copy_prefix(out.data ?: "", out.size);
}

static void reduce_find(struct campaign *c, size_t at)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest interest = {.campaign = c, .until = c->solving + c->reduce};
        struct find *f = &c->finds[at];
        struct reduce_test test = {.try = is_slow, .user = &interest, .width = 1, .checks_late = true, .knows_input = true};

        reduce(SLICE(f->text, strlen(f->text)), &test, NULL, &result);
        f->reduced = result.text.size > 0 ? copy_prefix(result.text.data, result.text.size) : strdup(f->text);
        f->is_minimal = result.is_minimal;
        f->form = form_of(c, f->reduced);
}

static void find_path(const struct campaign *c, size_t at, const char *name, char ret[PATH_MAX])
{
        snprintf(ret, PATH_MAX, "%s/%03zu%s.%s", c->finds_folder, at + 1, name, c->is_cnf ? "cnf" : "smt2");
}

static void keep(const struct campaign *c, size_t at, const char *name, const char *text)
{
        char path[PATH_MAX];

        find_path(c, at, name, path);
        if (write_file_atomic(path, text, strlen(text), 0644) < 0)
                die(path);
}

/* Writes how often each source was used, and the time and source of each find. */
static void keep_arms(const struct campaign *c)
{
        cleanup_buffer struct buffer text = {0};
        struct strategy_arm arms[64];
        size_t n = strategy_arms(c->strategy, arms, ARRAY_SIZE(arms));
        char path[PATH_MAX];

        for (size_t i = 0; i < n; i++)
                buffer_addf(&text, "%s\t%" PRIu64 "\t%" PRIu64 "\t%.3f\n", arms[i].name, arms[i].used, arms[i].won, arms[i].mean);
        for (size_t i = 0; i < c->n_finds; i++)
                buffer_addf(&text, "%03zu\t%.0f\t%s\n", i + 1, c->finds[i].when, c->finds[i].source);
        snprintf(path, sizeof(path), "%s/sources.tsv", c->finds_folder);
        if (write_file_atomic(path, text.data ?: "", text.size, 0644) < 0)
                die(path);
}

static void reduce_finds(struct campaign *c)
{
        for (size_t i = 0; i < c->n_finds; i++) {
                reduce_find(c, i);
                if (c->finds_folder) {
                        keep(c, i, "", c->finds[i].text);
                        keep(c, i, "-reduced", c->finds[i].reduced);
                }
        }
}

static size_t count_forms(const struct campaign *c, bool minimal_only)
{
        size_t n = 0;

        for (size_t i = 0; i < c->n_finds; i++) {
                bool is_new = !minimal_only || c->finds[i].is_minimal;

                for (size_t k = 0; k < i; k++)
                        is_new &= (minimal_only && !c->finds[k].is_minimal) || strcmp(c->finds[i].form, c->finds[k].form) != 0;
                n += is_new;
        }
        return n;
}

static void print_forms(const struct campaign *c)
{
        size_t minimal = 0;

        for (size_t i = 0; i < c->n_finds; i++)
                minimal += c->finds[i].is_minimal;
        printf("\t%zu\t%zu\t%zu\t%zu", c->n_finds, minimal, count_forms(c, true), count_forms(c, false));
}

/* Reduces what an earlier campaign has kept, from where it was. */
static void reduce_again(struct campaign *c)
{
        static const char *const names[] = {"", "-reduced"};

        for (size_t i = 0;; i++) {
                struct find f = {0};

                for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
                        cleanup_blob struct blob text = {0};
                        char path[PATH_MAX];

                        find_path(c, i, names[k], path);
                        if (read_file(path, 64 << 20, &text) < 0)
                                break;
                        free(f.text);
                        f.text = copy_prefix(text.data, text.size);
                }
                if (!f.text)
                        return;
                list_add(c->finds, c->n_finds, f);
                reduce_find(c, i);
                keep(c, i, "-reduced", c->finds[i].reduced);
        }
}

static void finds_done(struct campaign *c)
{
        for (size_t i = 0; i < c->n_finds; i++) {
                free(c->finds[i].text);
                free(c->finds[i].reduced);
                free(c->finds[i].form);
        }
        free(c->finds);
        unlink(c->file);
}

int main(int argc, char **argv)
{
        static const struct option long_options[] = {{"reference", required_argument, NULL, 'r'}, {"target", required_argument, NULL, 't'},
                                                     {"cnf", no_argument, NULL, 'c'},             {"strategy", required_argument, NULL, 's'},
                                                     {"seconds", required_argument, NULL, 'e'},   {"timeout", required_argument, NULL, 'l'},
                                                     {"threshold", required_argument, NULL, 'h'}, {"number", required_argument, NULL, 'n'},
                                                     {"core", required_argument, NULL, 'o'},      {"reduce", required_argument, NULL, 'd'},
                                                     {"finds", required_argument, NULL, 'f'},     {"again", no_argument, NULL, 'a'},
                                                     {0}};
        struct campaign c = {.seconds = 3600, .timeout = 20, .threshold = 10, .reduce = 60, .core = -1};
        struct strategy_options o = strategy_defaults;
        const char *name = "solverfs";
        uint64_t number = 1;
        double solving;
        bool is_again = false;
        int kind = 0, r = 0;

        for (int k; (k = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
                if (k == 'r' || k == 't')
                        c.commands[k == 't'] = optarg;
                else if (k == 'c')
                        c.is_cnf = true;
                else if (k == 's')
                        name = optarg;
                else if (k == 'e')
                        c.seconds = strtod(optarg, NULL);
                else if (k == 'l')
                        c.timeout = strtod(optarg, NULL);
                else if (k == 'h')
                        c.threshold = strtod(optarg, NULL);
                else if (k == 'n')
                        number = strtoull(optarg, NULL, 10);
                else if (k == 'o')
                        c.core = atoi(optarg);
                else if (k == 'd')
                        c.reduce = strtod(optarg, NULL);
                else if (k == 'f')
                        c.finds_folder = optarg;
                else if (k == 'a')
                        is_again = true;
                else
                        return 2;
        }
        while (kind < N_STRATEGIES && strcmp(name, strategy_name((enum strategy_kind)kind)) != 0)
                kind++;
        if (!c.commands[0] || !c.commands[1] || kind == N_STRATEGIES || !(c.threshold > 0) || !(c.timeout > c.threshold) || !(c.seconds > 0) ||
            (is_again && !c.finds_folder))
                return 2;
        snprintf(c.file, sizeof(c.file), "/dev/shm/search-real-%d.%s", (int)getpid(), c.is_cnf ? "cnf" : "smt2");
        if (c.finds_folder && mkdir(c.finds_folder, 0755) < 0 && errno != EEXIST)
                die(c.finds_folder);
        o.type = strategy_type_of((enum strategy_kind)kind);
        o.versions = 2;
        o.timeout = c.timeout;
        o.threshold = c.threshold;
        o.seed = number;
        o.is_cnf = c.is_cnf;
        strategies_window = 600;
        if (is_again) {
                reduce_again(&c);
                printf("again\t%s", c.finds_folder);
                print_forms(&c);
                printf("\n");
                finds_done(&c);
                return 0;
        }
        r = strategy_new(&o, &c.strategy);
        while (r == 0 && c.solving < c.seconds)
                r = step(&c);
        if (c.finds_folder)
                keep_arms(&c);
        strategy_free(c.strategy);
        if (r < 0 && r != -ENOSPC) {
                fprintf(stderr, "search_real: %s: %s\n", name, error_message(r));
                return 1;
        }
        solving = c.solving;
        printf("%s\t%" PRIu64 "\t%.0f\t%" PRIu64 "\t%" PRIu64 "\t%u", name, number, solving, c.runs, c.inputs, c.candidates);
        fflush(stdout);
        reduce_finds(&c);
        print_forms(&c);
        printf("\t%.0f\t%.0f\n", c.n_finds > 0 ? c.finds[0].when : NAN, c.n_finds > 0 ? c.finds[(c.n_finds - 1) / 2].when : NAN);
        finds_done(&c);
        return 0;
}
