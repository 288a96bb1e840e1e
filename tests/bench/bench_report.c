/* report.html: its size, and the CPU time that it takes, with the number of commits and cases. */
#include <math.h>
#include <sys/resource.h>

#include "bench.h"
#include "core/study/page/solver_report.h"
#include "fixture.h"

static const struct size {
        const char *name, *seconds, *bytes;
        uint32_t commits, known, cases, tags;
} sizes[] = {{"small", "report.html of 50 commits of 500, 20 cases", "the size of that", 500, 50, 20, 5},
             {"large", "report.html of 800 commits of 20,000, 1000 cases", "the size of that", 20000, 800, 1000, 60}};

/* Each case has a level of its own, and a commit at which it gets slower; and some noise. */
static uint64_t time_of(uint32_t commit, uint32_t case_id)
{
        uint64_t state = (uint64_t)commit * 7919 + case_id;
        double level = 0.01 * pow(1000, (case_id * 37 % 100) / 100.0), noise = 1 + 0.06 * (bench_random(&state) % 1000 / 1000.0 - 0.5);

        if (case_id % 3 == 0 && commit > case_id * 611 % 18000)
                level *= 1.7;
        return (uint64_t)(1e9 * level * noise);
}

static int make(const struct size *s, const char *dir, char store[PATH_SIZE])
{
        static const char recipe[] = "[solver]\n paths = src\n build = true\n output = solver\n run = {bin} {case}\n samples = 1\n";
        const uint32_t every = s->commits / s->known;
        char name[64], path[PATH_SIZE], done[PATH_SIZE];
        int r;

        snprintf(name, sizeof(name), "report-%s.store", s->name);
        r = path_join(store, dir, name);
        snprintf(name, sizeof(name), "report-%s.git", s->name);
        if (r == 0)
                r = path_join(path, dir, name);
        snprintf(name, sizeof(name), "report-%s.done", s->name);
        if (r == 0)
                r = path_join(done, dir, name);
        if (r < 0 || access(done, F_OK) == 0)
                return r;
        bench_say("making %u commits, %u of them measured on %u cases", s->commits, s->known, s->cases);
        r = remove_tree(store);
        if (r == 0 || r == -ENOENT)
                r = remove_tree(path);
        if (r == 0 || r == -ENOENT)
                r = fixture_history(path, s->commits);
        for (uint32_t i = 0; r == 0 && i < s->tags; i++)
                r = bench_shell(path, "git tag v%u main~%u", i, (s->tags - 1 - i) * every * (s->known / s->tags) + every - 1);
        if (r == 0)
                r = fixture_add_solver(store, "many", recipe, path);
        if (r == 0)
                r = fixture_add_cases(store, s->cases);
        if (r == 0)
                r = fixture_put_cells(store, "many", s->known, s->commits / s->known, s->cases, time_of);
        return r < 0 ? r : write_file_atomic(done, "", 0, 0600);
}

struct page {
        struct solver_report_options options;
        size_t size;
};

static int measure_page(void *user, double *ret)
{
        cleanup_buffer struct buffer b = {0};
        struct page *page = user;
        double began = bench_cpu(RUSAGE_SELF);
        int64_t mtime;
        int r = solver_report(&page->options, &b, &mtime);

        *ret = bench_cpu(RUSAGE_SELF) - began;
        page->size = b.size;
        return r;
}

static int measure(const struct size *s, const char *store)
{
        const struct row seconds = {.what = s->seconds, .judge = JUDGE_ALONE, .unit = UNIT_SECONDS, .most = 2, .rounds = 5};
        const struct row bytes = {.what = s->bytes, .judge = JUDGE_ALONE, .unit = UNIT_BYTES, .most = 5e6};
        struct page page = {.options = {.commits = "commits/"}};
        int r = workspace_open(store, STORE_READ_ONLY, &page.options.workspace);

        if (r == 0)
                r = workspace_solver(page.options.workspace, "many", &page.options.solver);
        if (r == 0)
                r = bench_compare(&seconds, measure_page, &page, NULL, NULL);
        if (r == 0)
                bench_print(&bytes, (double)page.size, NAN, NAN);
        page.options.solver = solver_unref(page.options.solver);
        workspace_close(page.options.workspace);
        return r;
}

int bench_report(void)
{
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(sizes) && r >= 0; i++) {
                char store[PATH_SIZE];

                r = make(&sizes[i], bench.dir, store);
                if (r == 0)
                        r = measure(&sizes[i], store);
        }
        return r;
}
