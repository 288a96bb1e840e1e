/* The differential fuzzer: strand against z3 and cvc5 on generated formulas,
 * until they disagree.
 *
 * Formulas go in batches, one process for each solver and batch, each formula
 * between push and pop; a solver that gives up or stops in the middle counts as
 * unknown from there on. A sat of strand is checked again: its model is put
 * into the formula as equalities, which z3 (or, if that cannot say, cvc5) must
 * not find unsatisfiable.
 *
 * An unsat of strand is confirmed by the unsat of another. Of the models and unsats that are not confirmed, every 200th
 * (-u) is asked of z3 and cvc5 alone, with ten seconds.
 *
 * The same formula is asked of strand twice more, between push and pop and
 * after it, with another seed and front end and without the local search: none
 * of these answers may contradict the first. With -o the other solvers are not
 * asked, so that this is all: the search's unsat against the local search's
 * models, which the referee confirms. The values of some terms (get-value) join the model.
 *
 * strand is linked in. Usage: differ [-n FORMULAS] [-s FIRST-SEED] [-t SECONDS]
 * [-f FLAVOUR] [-b BATCH] [-l LIMIT] [-u EVERY] [-v] [-o] [-p] Ends with status 1 at the first
 * disagreement, whose formula is written to disagreement.smt2. */
#include "../src/script.h"
#include "generate.h"
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_BATCH 500
#define MAX_TEXT  20000

static char text[MAX_BATCH][MAX_TEXT];
static char mine_only[MAX_BATCH][MAX_TEXT];   /* assertions in words that only
                                               strand has .. */
static char theirs_only[MAX_BATCH][MAX_TEXT]; /* .. and that only the others need */
static char terms[MAX_BATCH][MAX_TEXT];       /* whose values are asked, a line each */
static char model[MAX_BATCH][MAX_TEXT];       /* assertions from strand's model; empty: none */
static char dir[] = "/tmp/strand-differ-XXXXXX";
static bool agreed[MAX_BATCH];
static struct strand_options options;
static double limit = 0.1; /* seconds for strand and each formula; the others
                              get less, in batches */
static char path_in[64], path_out[64];

/* Runs a command line over path_in, output to path_out. */
static void run(const char *command, const char *arg, double seconds)
{
        char line[1024];
        int r;

        snprintf(line, sizeof(line), "timeout %.1f %s %s > %s 2>/dev/null", seconds, command, arg, path_out);
        r = system(line);
        (void)r;
}

/* Which verdicts follow the echoed marks "@k"; 0 unknown, 1 sat, 2 unsat, 3
 * error. */
static void read_verdicts(int n, int *verdict)
{
        FILE *f = fopen(path_out, "r");
        char line[MAX_TEXT];
        int at = -1;

        for (int i = 0; i < n; i++)
                verdict[i] = 0;
        while (f && fgets(line, sizeof(line), f)) {
                const char *p = line[0] == '"' ? line + 1 : line;

                if (*p == '@')
                        at = atoi(p + 1);
                else if (at < 0 || at >= n)
                        continue;
                else if (!strncmp(p, "sat", 3))
                        verdict[at] = 1;
                else if (!strncmp(p, "unsat", 5))
                        verdict[at] = 2;
                else if (!strncmp(p, "(error", 6))
                        verdict[at] = 3;
        }
        if (f)
                fclose(f);
}

static void generate(int i, uint64_t seed, int flavour)
{
        const struct fuzz_formula f = {text[i], mine_only[i], theirs_only[i], terms[i]};

        fuzz_generate(seed, flavour < 0 ? (int)(seed % FUZZ_FLAVOURS) : flavour, &f, MAX_TEXT);
}

static void write_batch(int n, bool with_model)
{
        FILE *f = fopen(path_in, "w");

        if (f)
                fprintf(f, "(set-logic ALL)\n");
        for (int i = 0; f && i < n; i++)
                if (!with_model || (model[i][0] && !agreed[i]))
                        fprintf(f, "(push 1)\n(echo \"@%d\")\n%s%s%s(check-sat)\n(pop 1)\n", i, text[i], theirs_only[i],
                                with_model ? model[i] : "");
        if (f)
                fclose(f);
}

/* One formula in this process: verdict, model and values into `progress`, then,
 * behind "=", more verdicts: of the same in a level of its own, and again after
 * levels that were contradictory are gone. */
static void strand_formula(int i, uint64_t seed, FILE *progress)
{
        static char script[3 * MAX_TEXT + 1000];
        struct strand_options opt = options;
        struct strand_stats stats = {};
        const char *assertions = strstr(text[i], "(assert"), *t = terms[i];
        int n = snprintf(script, sizeof(script), "(set-logic QF_SLIA)\n%s%s(check-sat)\n(get-model)\n", text[i], mine_only[i]);

        while (*t) {
                int len = (int)strcspn(t, "\n");

                n += snprintf(script + n, sizeof(script) - (size_t)n, "(get-value (%.*s))\n", len, t);
                t += len + 1;
        }
        opt.deadline = strand_now() + limit;
        script_run(script, (size_t)n, &opt, &stats, progress);
        opt.deadline = strand_now() + limit;
        opt.seed = (uint32_t)(seed * 2654435761u >> 7) | 1;
        opt.loop = seed % 2;
        opt.no_overlap = seed % 7 == 0;
        opt.no_length = seed % 11 == 0;
        opt.no_guess = true;
        fprintf(progress, "=\n");
        n = snprintf(script, sizeof(script),
                     "(set-logic QF_SLIA)\n%.*s(push 1)\n%s%s(check-sat)\n(push "
                     "1)\n(assert (str.< s0 s0))\n(pop 2)\n%s%s(check-sat)\n",
                     (int)(assertions - text[i]), text[i], assertions, mine_only[i], assertions, mine_only[i]);
        script_run(script, (size_t)n, &opt, &stats, progress);
}

static void strand_child(int n, uint64_t seed, FILE *progress)
{
        for (int i = 0; i < n; i++) {
                alarm((unsigned)(4 * limit) + 8); /* stuck for good: the parent sees the signal */
                fprintf(progress, "@%d\n", i);
                fflush(progress);
                strand_formula(i, seed + (unsigned)i, progress);
        }
        fprintf(progress, "@%d\n", n);
        fflush(progress);
}

/* An answer to (get-value (TERM)), "((TERM VALUE))", joins the model. */
static char *add_value(char *out, const char *end, const char *line, const char **term)
{
        size_t len = strcspn(*term, "\n"), n = strlen(line);
        const char *value = line + 3 + len;

        if (n < len + 6 || strncmp(line + 2, *term, len))
                return out;
        if (strncmp(value, "unknown", 7))
                out += snprintf(out, (size_t)(end - out), "(assert (= %.*s %.*s))\n", (int)len, *term, (int)(n - len - 6), value);
        *term += len + 1;
        return out;
}

/* strand runs in a child, a batch at a time; what a crash leaves unsaid is
 * tried again from the next formula.
 */
static void run_strand(int n, uint64_t seed, int *verdict)
{
        const char *term = "";
        bool again = false;
        char line[MAX_TEXT], *out = NULL;
        FILE *f = fopen(path_out, "w");
        int at = -1, w = 0;
        pid_t pid;

        if (!f)
                exit(2);
        pid = fork();
        if (!pid) {
                strand_child(n, seed, f);
                _exit(0);
        }
        fclose(f);
        while (waitpid(pid, &w, 0) != pid)
                ;
        for (int i = 0; i < n; i++) {
                verdict[i] = 4; /* not run */
                model[i][0] = 0;
        }
        f = fopen(path_out, "r");
        while (f && fgets(line, sizeof(line), f)) {
                char name[64], sort[16];
                int skip = 0;

                if (line[0] == '@') {
                        at = atoi(line + 1);
                        again = false;
                        if (at < n) {
                                verdict[at] = 3; /* silence is a crash */
                                out = model[at];
                                term = terms[at];
                        }
                } else if (line[0] == '=') {
                        again = true;
                } else if (again && at >= 0 && at < n) {
                        bool is_sat = !strncmp(line, "sat", 3), is_unsat = !strncmp(line, "unsat", 5);

                        if (!is_sat && !is_unsat && strncmp(line, "unknown", 7))
                                verdict[at] = 5;
                        else if ((is_sat && verdict[at] == 2) || (is_unsat && verdict[at] == 1))
                                verdict[at] = 6;
                        else if (verdict[at] == 0)
                                verdict[at] = is_sat ? 7 : is_unsat ? 2 : 0; /* without a model to check */
                } else if (at >= 0 && at < n && verdict[at] == 1 && !strncmp(line, "((", 2)) {
                        out = add_value(out, model[at] + MAX_TEXT, line, &term);
                } else if (at >= 0 && at < n && verdict[at] == 3) {
                        verdict[at] = !strncmp(line, "sat", 3)       ? 1
                                      : !strncmp(line, "unsat", 5)   ? 2
                                      : !strncmp(line, "unknown", 7) ? 0
                                                                     : 5;
                } else if (at >= 0 && at < n && verdict[at] == 1 &&
                           sscanf(line, " (define-fun %63s () %15s %n", name, sort, &skip) >= 2 && skip) {
                        line[strlen(line) - 2] = 0; /* ")\n" */
                        out += snprintf(out, (size_t)(model[at] + MAX_TEXT - out), "(assert (= %s %s))\n", name, line + skip);
                }
        }
        if (f)
                fclose(f);
        if (w && !(WIFSIGNALED(w) && WTERMSIG(w) == SIGALRM))
                printf("the batch ended with status %#x at its formula %d\n", (unsigned)w, at);
        if (WIFSIGNALED(w) && WTERMSIG(w) == SIGALRM && at >= 0 && at < n && verdict[at] == 3)
                verdict[at] = 0; /* too slow, not wrong */
}

/* One formula (under strand's model) by one other solver, with time. */
static int ask(int i, const char *command, bool with_model)
{
        FILE *f = fopen(path_in, "w");
        int v[1];

        if (!f)
                return 0;
        fprintf(f, "(set-logic ALL)\n(echo \"@0\")\n%s%s%s(check-sat)\n", text[i], theirs_only[i], with_model ? model[i] : "");
        fclose(f);
        run(command, path_in, 12);
        read_verdicts(1, v);
        return v[0];
}

/* Is it the others that are wrong? A confirmed model says so, and so does z3 on
 * strand's side against cvc5. Each is asked anew: interrupted in the middle of a
 * batch, as its limits do, either may answer unsat from then on.
 */
static bool others_wrong(int i, int mine, unsigned long long seed)
{
        bool with_model = mine == 1;

        if (ask(i, "z3 -T:10", with_model) != mine && ask(i, "cvc5 --strings-exp --tlimit=10000", with_model) != mine)
                return false;
        printf("seed %llu: not so, asked alone another sides with strand%s\n", seed, with_model ? "'s model" : "");
        return true;
}

static int disagree(int i, unsigned long long seed, const char *what)
{
        FILE *f = fopen("disagreement.smt2", "w");

        printf("disagreement at seed %llu: %s (see disagreement.smt2)\n", seed, what);
        if (f) {
                fprintf(f, "; %s\n(set-logic QF_SLIA)\n%s%s(check-sat)\n", what, text[i], mine_only[i]);
                if (model[i][0])
                        fprintf(f, "; strand's model\n; %s", model[i]);
                fclose(f);
        }
        return 1;
}

/* True if another solver bears strand's answer out, or strand gives none. */
static bool confirmed(int mine, int z3, int cvc5, int with_model)
{
        if (mine == 1)
                return with_model == 1 || (z3 == 1 && cvc5 == 1);
        return mine != 2 || z3 == 2 || cvc5 == 2;
}

int main(int argc, char **argv)
{
        unsigned long long formulas = 1000, seed = 1, done = 0, counts[8] = {}, checked = 0, wrong = 0, decided[4] = {},
                           refuted = 0, open = 0, every = 200, asked = 0;
        char z3_command[64], cvc5_command[96];
        double seconds = 1e9, start = strand_now();
        int flavour = -1, batch = 100, c, status = 0;
        bool verbose = false, alone = false;

        while ((c = getopt(argc, argv, "n:s:t:f:b:l:u:vop")) != -1) {
                switch (c) {
                case 'n':
                        formulas = strtoull(optarg, NULL, 10);
                        break;
                case 's':
                        seed = strtoull(optarg, NULL, 10);
                        break;
                case 't':
                        seconds = atof(optarg);
                        formulas = ~0ull;
                        break;
                case 'f':
                        flavour = atoi(optarg);
                        break;
                case 'l':
                        limit = atof(optarg);
                        break;
                case 'u':
                        every = strtoull(optarg, NULL, 10);
                        break;
                case 'v':
                        verbose = true;
                        break;
                case 'o':
                        alone = true;
                        break;
                case 'p': /* only print the formula */
                        generate(0, seed, flavour);
                        printf("(set-logic QF_SLIA)\n%s%s(check-sat)\n", text[0], mine_only[0]);
                        return 0;
                case 'b':
                        batch = atoi(optarg);
                        break;
                default:
                        return 2;
                }
        }
        if (batch < 1 || batch > MAX_BATCH || !mkdtemp(dir))
                return 2;
        snprintf(path_in, sizeof(path_in), "%s/in.smt2", dir);
        snprintf(path_out, sizeof(path_out), "%s/out", dir);
        snprintf(z3_command, sizeof(z3_command), "z3 -t:%d", (int)(limit * 400));
        snprintf(cvc5_command, sizeof(cvc5_command), "cvc5 --strings-exp --incremental --tlimit-per=%d", (int)(limit * 400));
        while (!status && done < formulas && strand_now() - start < seconds) {
                int mine[MAX_BATCH], z3[MAX_BATCH], cvc5[MAX_BATCH], again[MAX_BATCH], n = batch;

                if (formulas - done < (unsigned long long)n)
                        n = (int)(formulas - done);
                for (int i = 0; i < n; i++)
                        generate(i, seed + (unsigned)i, flavour);
                run_strand(n, seed, mine);
                memset(z3, 0, sizeof(z3));
                memset(cvc5, 0, sizeof(cvc5));
                memset(again, 0, sizeof(again));
                if (!alone) {
                        write_batch(n, false);
                        run(z3_command, path_in, 40);
                        read_verdicts(n, z3);
                        run(cvc5_command, path_in, 40);
                        read_verdicts(n, cvc5);
                        for (int i = 0; i < n; i++) /* then the model needs no other witness */
                                agreed[i] = z3[i] == 1 && cvc5[i] == 1;
                        write_batch(n, true);
                        run(z3_command, path_in, 30);
                        read_verdicts(n, again);
                }
                for (int i = 0; i < n && !status; i++) {
                        const char *what = NULL;

                        if (mine[i] == 7) /* said sat without a model */
                                mine[i] = z3[i] == 2 && cvc5[i] == 2 ? 6 : 0;
                        counts[mine[i]]++;
                        checked += model[i][0] && (again[i] == 1 || agreed[i]);
                        decided[0] += mine[i] == 1 || mine[i] == 2;
                        decided[1] += z3[i] == 1 || z3[i] == 2;
                        decided[2] += cvc5[i] == 1 || cvc5[i] == 2;
                        decided[3] += (mine[i] == 1 || mine[i] == 2) && (cvc5[i] == 1 || cvc5[i] == 2);
                        if (!alone && !confirmed(mine[i], z3[i], cvc5[i], again[i]) && every && open++ % every == 0) {
                                asked++;
                                again[i] = ask(i, "z3 -T:10", mine[i] == 1);
                                if (again[i] != mine[i])
                                        again[i] = ask(i, "cvc5 --strings-exp --tlimit=10000", mine[i] == 1);
                                if (mine[i] == 2)
                                        z3[i] = again[i];
                        }
                        refuted += mine[i] == 2 && confirmed(2, z3[i], cvc5[i], 0);
                        if (mine[i] == 3 || mine[i] == 5)
                                what = "strand crashed or complained";
                        else if (mine[i] == 6)
                                what = "strand contradicts itself";
                        else if (mine[i] == 1 && again[i] == 2)
                                what = "z3 refutes strand's model";
                        else if (mine[i] == 2 && (z3[i] == 1 || cvc5[i] == 1))
                                what = z3[i] == 1 ? "strand says unsat, z3 sat" : "strand says unsat, cvc5 sat";
                        else if (mine[i] == 1 && z3[i] == 2 && cvc5[i] == 2)
                                what = "strand says sat, z3 and cvc5 unsat";
                        else if (mine[i] == 1 && (z3[i] == 2 || cvc5[i] == 2) && again[i] != 1)
                                what = "strand says sat, another unsat, and the model is not confirmed";
                        if (verbose && mine[i] == 0 && (z3[i] == 1 || z3[i] == 2 || cvc5[i] == 1 || cvc5[i] == 2))
                                printf("undecided: seed %llu, z3 %d, cvc5 %d\n", seed + (unsigned)i, z3[i], cvc5[i]);
                        if (what && (mine[i] == 1 || mine[i] == 2) && others_wrong(i, mine[i], seed + (unsigned)i)) {
                                wrong++;
                                what = NULL;
                        }
                        if (what)
                                status = disagree(i, seed + (unsigned)i, what);
                }
                done += (unsigned)n - counts[4];
                counts[4] = 0;
                seed += (unsigned)n;
                printf("%llu formulas: strand sat %llu unsat %llu unknown %llu; models "
                       "confirmed %llu (by z3 "
                       "with the model, or by both), unsats by z3 or cvc5 %llu; %llu asked "
                       "alone; decided strand "
                       "%llu z3 %llu cvc5 %llu (both strand and cvc5 %llu); others wrong %llu\n",
                       done, counts[1], counts[2], counts[0], checked, refuted, asked, decided[0], decided[1], decided[2],
                       decided[3], wrong);
                fflush(stdout);
        }
        unlink(path_in);
        unlink(path_out);
        rmdir(dir);
        return status;
}
