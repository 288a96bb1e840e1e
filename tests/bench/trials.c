/* The cost of what a portfolio has learned: trials N [FEATURES-THAT-DIFFER]. A store in a temporary folder gets N trials made up; then a learner is told all
 * of them, as the first case of a process does, and one more of them, as each further case does. CPU time, so that a busy machine changes little. */
#include <math.h>
#include <time.h>

#include "cache/base/random.h"
#include "core/portfolio/learned.h"
#include "core/portfolio/portfolio_internal.h"
#include "core/study/base/stat.h"

#define ARMS 4

static double cpu_ms(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void check(int r, const char *what)
{
        if (r >= 0)
                return;
        fprintf(stderr, "trials: %s: %s\n", what, error_message(r));
        exit(1);
}

/* As features are: most are zero nearly always, and those that differ follow one size. */
static void make_features(struct random *random, size_t n, size_t differ, double *ret)
{
        double size = random_normal(random);

        memset(ret, 0, n * sizeof(*ret));
        for (size_t i = 0; i < differ && i < n; i++)
                ret[i] = random_below(random, 4) == 0 ? 0 : floor(exp(3 + size + random_normal(random)));
}

static void make_run(struct random *random, double hardness, double limit, struct trial_run *ret)
{
        double seconds = exp(hardness + .5 * random_normal(random));

        *ret = (struct trial_run){.attempt = {seconds < limit ? ENDING_SOLVED : ENDING_STOPPED, fmin(seconds, limit)},
                                  .verdict = seconds < limit ? VERDICT_SAT : VERDICT_TIMEOUT};
}

/* Of every trial: nothing is known of its answer. */
static const struct case_info question;

/* One arm, or two, are run; the learner says which in real life, and it costs the same. */
static int put_one(struct workspace *w, const struct portfolio *p, const struct case_info *info, struct learner *l, struct random *random,
                   uint32_t number, size_t differ)
{
        struct trial *t = trial_new(ARMS), *kept = NULL;
        double hardness = random_normal(random);
        int r;

        t->number = number;
        t->case_id = number + 1;
        t->n_features = portfolio_n_features();
        t->features = allocate(t->n_features, sizeof(*t->features));
        t->n_expected = learner_expected(l, NULL);
        t->expected = allocate(t->n_expected, sizeof(*t->expected));
        make_features(random, t->n_features, differ, t->features);
        for (int i = 0; i < 2; i++)
                make_run(random, hardness, (double)p->wall_ns / NSEC_PER_SEC, &t->runs[random_below(random, ARMS)]);
        r = trial_put(w, p, info, t, &kept);
        trial_free(kept);
        trial_free(t);
        return r;
}

static void measure(struct workspace *w, const struct portfolio *p, uint32_t n, size_t differ)
{
        const size_t features = portfolio_n_features();
        struct attempt attempts[ARMS] = {0};
        double *now = calloc(features, sizeof(*now)), begin, told, took[100], put;
        struct learned *l = NULL;
        struct random random;
        struct step step;

        random_seed(&random, n);
        if (!now)
                exit(1);
        begin = cpu_ms();
        check(learned_take(w, p, &l), "learning");
        told = cpu_ms() - begin;
        for (size_t i = 0; i < ARRAY_SIZE(took); i++) {
                make_features(&random, features, differ, now);
                begin = cpu_ms();
                learner_begin(l->learner, now);
                learner_next(l->learner, attempts, &step);
                took[i] = cpu_ms() - begin;
        }
        stat_sort(took, ARRAY_SIZE(took));
        begin = cpu_ms();
        for (uint32_t i = 0; i < 10; i++)
                check(put_one(w, p, &question, l->learner, &random, n + i, differ), "putting");
        put = (cpu_ms() - begin) / 10;
        learned_give(w, l);
        begin = cpu_ms();
        check(learned_take(w, p, &l), "learning");
        printf("trials\tfirst case [ms]\tdeciding [ms]\tputting [ms]\ttelling one more [ms]\n%u\t%.1f\t%.3f\t%.3f\t%.3f\n", n, told,
               stat_median(took, ARRAY_SIZE(took)), put, (cpu_ms() - begin) / 10);
        learned_give(w, l);
        free(now);
}

int main(int argc, char **argv)
{
        static char arm[ARMS][16] = {"a: true a", "b: true b", "c: true c", "d: true d"}, *arms[] = {arm[0], arm[1], arm[2], arm[3], NULL};
        const char *settings[] = {NULL};
        uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 10000;
        size_t differ = argc > 2 ? (size_t)atoi(argv[2]) : 80;
        char dir[] = "/tmp/trials-XXXXXX", remove[64];
        cleanup_portfolio struct portfolio *p = NULL;
        struct workspace *w = NULL;
        struct learned *l = NULL;
        struct random random;

        if (!mkdtemp(dir))
                return 1;
        random_seed(&random, 1);
        check(workspace_create(dir), "making a store");
        check(workspace_open(dir, 0, &w), "opening it");
        check(portfolio_add(w, "p", arms, settings), "adding a portfolio");
        check(portfolio_open(w, "p", &p), "opening it");
        check(learned_take(w, p, &l), "a learner");
        for (uint32_t i = 0; i < n; i++)
                check(put_one(w, p, &question, l->learner, &random, i, differ), "putting a trial");
        learned_give(w, l);
        workspace_close(w);
        check(workspace_open(dir, 0, &w), "opening it again");
        measure(w, p, n, differ);
        workspace_close(w);
        snprintf(remove, sizeof(remove), "rm -rf %s", dir);
        return system(remove) == 0 ? 0 : 1;
}
