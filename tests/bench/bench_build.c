/* Builds of neighbouring commits, and the programs they leave in the store. */
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"
#include "fixture.h"

#define NONE 0.5 /* the most of what is counted, as 0 says nothing */

/* -- a synthetic solver in C++: modules that each include a leaf header shared by five, three in four of them a core header, too: of Z3's 742
 * objects a change of a core header (25 of the 300 commits before 4.8.12) touches 572 in the middle, 77 % -- */

#define MODULES   200
#define FUNCTIONS 6
#define LEAVES    40

enum change {
        CHANGE_DOCS,
        CHANGE_CODE,
        CHANGE_LEAF,
        CHANGE_CORE,
        N_CHANGES
};
/* Of ten commits; Z3's first parents between 4.8.8 and 4.8.9 were 5 % documentation, 37 % code, 57 % headers and build files. */
static const enum change pattern[] = {CHANGE_CODE, CHANGE_CODE, CHANGE_LEAF, CHANGE_CODE, CHANGE_DOCS,
                                      CHANGE_LEAF, CHANGE_CODE, CHANGE_LEAF, CHANGE_CORE, CHANGE_CODE};

static void print_module(struct buffer *b, unsigned m, unsigned version)
{
        buffer_addf(b, "#include \"%s\"\n#include \"leaf%u.h\"\n", m % 4 == 3 ? "base.h" : "core.h", m % LEAVES);
        for (unsigned f = 0; f < FUNCTIONS; f++)
                buffer_addf(b,
                            "unsigned m%u_f%u(unsigned *a, unsigned n)\n{\n    unsigned s = CORE + LEAF + %u;\n"
                            "    for (unsigned i = 1; i < n; i++)\n        for (unsigned j = i; j < n; j += i)\n"
                            "            s ^= step(a[j] * %uu + a[i], s) >> (s & %u);\n    return s;\n}\n",
                            m, f, f == 0 ? version : f, 2654435761u + m * 1000 + f, f % 31);
        buffer_addf(b, "unsigned m%u(unsigned *a, unsigned n)\n{\n    unsigned s = 0;\n", m);
        for (unsigned f = 0; f < FUNCTIONS; f++)
                buffer_addf(b, "    s += m%u_f%u(a, n);\n", m, f);
        buffer_adds(b, "    return s;\n}\n");
}

static void print_main(struct buffer *b)
{
        buffer_adds(b, "#include <cstdio>\n");
        for (unsigned m = 0; m < MODULES; m++)
                buffer_addf(b, "unsigned m%u(unsigned *a, unsigned n);\n", m);
        buffer_adds(b, "int main(void)\n{\n    unsigned a[64] = {1}, s = 0;\n");
        for (unsigned m = 0; m < MODULES; m++)
                buffer_addf(b, "    s += m%u(a, 64);\n", m);
        buffer_adds(b, "    puts(s ? \"sat\" : \"unknown\");\n}\n");
}

static const char core_function[] =
        "static inline unsigned step(unsigned x, unsigned s)\n{\n    return x * 31 + (s << 5) - s;\n}\n";
static const char makefile[] = "CXXFLAGS = -O2 -MMD\nobjects = $(patsubst %.cpp,%.o,$(wildcard src/*.cpp))\nsolver: "
                               "$(objects)\n\t$(CXX) -o $@ $(objects)\n"
                               "-include $(objects:.o=.d)\n";
static const char synthetic_recipe[] =
        "[solver]\n paths = src\n paths = Makefile\n build = make -j{jobs}\n output = solver\n run = {bin} {case}\n";

static void import_file(FILE *to, const char *path, const struct buffer *content)
{
        fprintf(to, "M 100644 inline %s\ndata %zu\n%s\n", path, content->size, content->data);
}

static void import_module(FILE *to, unsigned m, unsigned version)
{
        cleanup_buffer struct buffer b = {0};
        char path[64];

        snprintf(path, sizeof(path), "src/m%u.cpp", m);
        print_module(&b, m, version);
        import_file(to, path, &b);
}

static void import_change(FILE *to, enum change change, unsigned i)
{
        cleanup_buffer struct buffer b = {0};
        char path[64] = "README";

        switch (change) {
        case CHANGE_CODE:
                import_module(to, i * 7 % MODULES, i);
                return;
        case CHANGE_LEAF:
                snprintf(path, sizeof(path), "src/leaf%u.h", i % LEAVES);
                buffer_addf(&b, "#define LEAF %u\n", i);
                break;
        case CHANGE_CORE:
                snprintf(path, sizeof(path), "src/core.h");
                buffer_addf(&b, "#define CORE %u\n%s", i, core_function);
                break;
        case CHANGE_DOCS:
        case N_CHANGES:
                buffer_addf(&b, "Version %u\n", i);
                break;
        }
        import_file(to, path, &b);
}

static void import_first(FILE *to)
{
        cleanup_buffer struct buffer b = {0}, make = {0}, base = {0};

        for (unsigned m = 0; m < MODULES; m++)
                import_module(to, m, 0);
        for (unsigned i = 0; i < LEAVES; i++)
                import_change(to, CHANGE_LEAF, i);
        import_change(to, CHANGE_CORE, 0);
        import_change(to, CHANGE_DOCS, 0);
        buffer_addf(&base, "#define CORE 0\n%s", core_function);
        import_file(to, "src/base.h", &base);
        print_main(&b);
        import_file(to, "src/main.cpp", &b);
        buffer_adds(&make, makefile);
        import_file(to, "Makefile", &make);
}

static int make_synthetic(const char *path, unsigned commits)
{
        char command[PATH_SIZE + 64];
        FILE *to;
        int r = bench_shell(NULL, "git init -q --bare -b main '%s'", path);

        snprintf(command, sizeof(command), "git -C '%s' fast-import --quiet", path);
        to = r == 0 ? popen(command, "we") : NULL;
        if (!to)
                return r < 0 ? r : -errno;
        for (unsigned i = 0; i < commits; i++) {
                fprintf(to, "commit refs/heads/main\ncommitter A <a@example.org> %u +0000\ndata <<END\n%u\nEND\n",
                        1500000000 + i * 60, i);
                if (i == 0)
                        import_first(to);
                else
                        import_change(to, pattern[i % ARRAY_SIZE(pattern)], 1000 + i); /* not what it was at first */
                fputs("\n", to);
        }
        return pclose(to) == 0 ? 0 : errorf(-EIO, "git fast-import failed");
}

/* -- commits -- */

struct commits {
        char store[PATH_SIZE], by_hand[PATH_SIZE], neighbour[PATH_SIZE];
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        uint32_t *list; /* along first parents, oldest first; the first is where we begin */
        size_t n;
        struct digest *programs; /* of each */
        double *ours, *hand;     /* seconds of each build; and by hand in a worktree of the one before */
        enum change *changes;
        unsigned different; /* programs that differ from the clean build's */
};

static void commits_done(struct commits *c)
{
        solver_unref(c->solver);
        engine_close(c->engine);
        workspace_close(c->workspace);
        free(c->list);
        free(c->programs);
        free(c->ours);
        free(c->hand);
        free(c->changes);
}

static bool ends_with(const char *text, size_t n, const char *end)
{
        return n >= strlen(end) && memcmp(text + n - strlen(end), end, strlen(end)) == 0;
}

/* What a commit changes of what its build depends on. */
static int change_of(struct commits *c, uint32_t commit, uint32_t parent, enum change *ret)
{
        cleanup_buffer struct buffer b = {0};
        struct digest before, after;
        int r = build_key(c->solver->history, parent, c->solver->recipe, &before);

        if (r == 0)
                r = build_key(c->solver->history, commit, c->solver->recipe, &after);
        if (r == 0)
                r = history_text(c->solver->history, commit, COMMIT_CHANGES, &b);
        if (r < 0)
                return r;
        *ret = digest_equal(&before, &after) ? CHANGE_DOCS : CHANGE_CODE;
        for (char *line = b.data, *end; *ret != CHANGE_DOCS && line && (end = strchr(line, '\n')); line = end + 1) {
                size_t n = (size_t)(end - line);

                if (ends_with(line, n, "/core.h"))
                        *ret = CHANGE_CORE;
                else if (*ret == CHANGE_CODE && !ends_with(line, n, ".c") && !ends_with(line, n, ".cpp") &&
                         !ends_with(line, n, ".cc"))
                        *ret = CHANGE_LEAF;
        }
        return 0;
}

static int commits_open(struct commits *c, const char *repository, const char *recipe)
{
        cleanup_free uint32_t *line = NULL;
        size_t n;
        int r = fixture_add_solver(c->store, "synthetic", recipe, repository);

        if (r == 0)
                r = workspace_open(c->store, 0, &c->workspace);
        if (r == 0)
                r = workspace_engine(c->workspace, NULL, &c->engine);
        if (r == 0)
                r = workspace_solver(c->workspace, "synthetic", &c->solver);
        if (r == 0)
                r = history_line(c->solver->history, COMMIT_NONE, &line, &n);
        if (r < 0)
                return r;
        c->n = MIN((size_t)bench.builds + 1, n);
        c->list = calloc(c->n, sizeof(*c->list));
        c->programs = calloc(c->n, sizeof(*c->programs));
        c->ours = calloc(c->n, sizeof(*c->ours));
        c->hand = calloc(c->n, sizeof(*c->hand));
        c->changes = calloc(c->n, sizeof(*c->changes));
        if (!c->list || !c->programs || !c->ours || !c->hand || !c->changes)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < c->n; i++) {
                c->list[i] = line[n - c->n + i];
                if (i > 0)
                        r = change_of(c, c->list[i], c->list[i - 1], &c->changes[i]);
        }
        return r;
}

/* -- our builds -- */

static int get(struct commits *c, struct query *q, struct value **ret)
{
        return engine_get(c->engine, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, ret);
}

static int build_one(struct commits *c, size_t i)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        const struct build_record *b;
        double began = bench_now();
        int r = query_build(c->workspace, c->solver, c->list[i], &q);

        if (r == 0)
                r = get(c, q, &v);
        if (r < 0)
                return r;
        c->ours[i] = bench_now() - began;
        b = ((struct build_value *)v)->record;
        if (!b->ok)
                return errorf(-EIO, "a commit does not build: %s", b->reason);
        c->programs[i] = b->outputs[0].id;
        return 0;
}

/* -- the same by hand -- */

/* The recipe's commands as a shell line. */
static int build_line(const struct recipe *r, struct buffer *ret)
{
        for (char *const *p = r->build; *p; p++) {
                const char *jobs = strstr(*p, "{jobs}");

                if (jobs)
                        buffer_addf(ret, " && %.*s%ld%s", (int)(jobs - *p), *p, sysconf(_SC_NPROCESSORS_ONLN), jobs + 6);
                else
                        buffer_addf(ret, " && %s", *p);
        }
        buffer_adds(ret, " >log 2>&1");
        return buffer_error(ret);
}

static int compare_program(struct commits *c, size_t i)
{
        char path[2 * PATH_SIZE], ours[PATH_SIZE];
        cleanup_close int fd = -1, theirs = -1;
        struct digest d;
        int r = programs_get(workspace_programs(c->workspace), &c->programs[i], &fd, ours);

        snprintf(path, sizeof(path), "%s/%s", c->by_hand, c->solver->recipe->outputs[0]);
        theirs = open(path, O_RDONLY | O_CLOEXEC);
        if (r == 0 && theirs < 0)
                r = errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        if (r == 0)
                r = digest_of_fd(theirs, &d, NULL);
        if (r == 0 && !digest_equal(&d, &c->programs[i]))
                c->different++;
        return r;
}

/* Builds a commit from nothing, outside of the store. */
static int build_clean(struct commits *c, const char *repository, size_t i, double *ret)
{
        cleanup_buffer struct buffer line = {0};
        struct commit commit;
        double began = bench_now();
        int r = history_commit(c->solver->history, c->list[i], &commit);

        if (r == 0)
                r = build_line(c->solver->recipe, &line);
        if (r == 0)
                r = bench_shell(NULL, "rm -rf '%s' && mkdir -p '%s' && git -C '%s' archive %s | tar -x -C '%s'", c->by_hand,
                                c->by_hand, repository, git_oid_tostr_s(&commit.oid), c->by_hand);
        if (r == 0)
                r = bench_shell(c->by_hand, "true%s", line.data);
        *ret = bench_now() - began;
        return r < 0 ? r : compare_program(c, i);
}

/* What people do: the next commit over the one before, and make. */
static int build_neighbour(struct commits *c, const char *repository, size_t i)
{
        cleanup_buffer struct buffer line = {0};
        struct commit commit;
        double began;
        int r = history_commit(c->solver->history, c->list[i], &commit);

        if (r == 0)
                r = build_line(c->solver->recipe, &line);
        began = bench_now();
        if (r == 0)
                r = bench_shell(NULL,
                                "mkdir -p '%s' && GIT_INDEX_FILE='%s.index' git -C '%s' --work-tree='%s' read-tree --reset -u %s",
                                c->neighbour, c->neighbour, repository, c->neighbour, git_oid_tostr_s(&commit.oid));
        if (r == 0)
                r = bench_shell(c->neighbour, "true%s", line.data);
        c->hand[i] = bench_now() - began;
        return r;
}

/* -- rows -- */

static double median_of(const struct commits *c, const double *list, enum change change, size_t *ret_n)
{
        cleanup_free double *some = calloc(c->n, sizeof(*some));

        *ret_n = 0;
        for (size_t i = 1; some && i < c->n; i++)
                if (c->changes[i] == change)
                        some[(*ret_n)++] = list[i];
        return *ret_n > 0 ? bench_median(some, *ret_n) : NAN;
}

static void rows_change(const struct commits *c, enum change change, const char *what, double clean, double most)
{
        size_t n;
        double ours = median_of(c, c->ours, change, &n), hand = median_of(c, c->hand, change, &n);

        if (n == 0)
                return;
        bench_print(&(struct row){.what = what, .against = "a clean build by hand", .most = most}, ours, clean, NAN);
        bench_print(&(struct row){.what = what, .against = "git and make in a warm worktree by hand"}, ours, hand, NAN);
}

static int row_docs(struct commits *c)
{
        struct store_stats before, after;
        size_t docs = 0;
        int r = store_stats(workspace_store(c->workspace), &before);

        for (size_t i = 1; r == 0 && i < c->n; i++)
                if (c->changes[i] == CHANGE_DOCS) {
                        docs++;
                        if (!digest_equal(&c->programs[i], &c->programs[i - 1]))
                                return errorf(-EIO, "a docs-only commit got a program of its own");
                }
        if (r == 0)
                r = store_stats(workspace_store(c->workspace), &after);
        if (r == 0 && docs > 0) {
                uint64_t builds = after.tables[TABLE_BUILDS].entries;

                bench_print(
                        &(struct row){
                                .what = "docs-only neighbours: builds", .judge = JUDGE_ALONE, .unit = UNIT_COUNT, .most = NONE},
                        (double)(builds + docs) - (double)c->n, NAN, NAN);
        }
        return r;
}

static int rows_builds(struct commits *c, const char *repository)
{
        cleanup_free double *clean = calloc(c->n, sizeof(*clean));
        double ours = 0, theirs = 0;
        char what[96];
        int r = clean ? build_one(c, 0) : -ENOMEM;

        if (r == 0)
                r = build_neighbour(c, repository, 0);
        bench_say("%zu builds, as many by hand, and as many from nothing", c->n - 1);
        for (size_t i = 1; r == 0 && i < c->n; i++) {
                r = build_one(c, i);
                if (r == 0)
                        r = build_neighbour(c, repository, i);
                if (r == 0)
                        r = build_clean(c, repository, i, &clean[i]);
                ours += c->ours[i];
                theirs += clean[i];
        }
        if (r < 0)
                return r;
        snprintf(what, sizeof(what), "%zu consecutive builds", c->n - 1);
        bench_print(&(struct row){.what = what, .against = "as many clean builds by hand", .most = 0.25}, ours, theirs, NAN);
        bench_print(&(struct row){.what = "of those, binaries that differ from the clean build's",
                                  .judge = JUDGE_ALONE,
                                  .unit = UNIT_COUNT,
                                  .most = NONE},
                    c->different, NAN, NAN);
        theirs = bench_median(clean + 1, c->n - 1);
        rows_change(c, CHANGE_CODE, "a neighbour: code only", theirs, 0.02);
        rows_change(c, CHANGE_LEAF, "a neighbour: a leaf header (of a real one: any header)", theirs, 0.1);
        rows_change(c, CHANGE_CORE, "a neighbour: a header that three in four include", theirs, 0.8);
        return row_docs(c);
}

static int zstd_size(const char *path, double *ret)
{
        char command[PATH_SIZE + 64];
        FILE *from;

        snprintf(command, sizeof(command), "zstd -q -19 -c '%s' | wc -c", path);
        from = popen(command, "re");
        *ret = 0;
        if (from && fscanf(from, "%lf", ret) != 1)
                *ret = 0;
        if (from)
                pclose(from);
        return *ret > 100 ? 0 : errorf(-EIO, "zstd failed on %s", path);
}

static int row_bytes(struct commits *c)
{
        double ours = 0, theirs = 0;
        char what[64];
        int r = 0;

        if (!bench_has("zstd")) {
                bench_skip("bytes of consecutive programs in the store", "zstd is not installed");
                return 0;
        }
        for (size_t i = 0; r == 0 && i < c->n; i++) { /* from the one on that is stored whole: the others are differences from it */
                cleanup_close int fd = -1;
                char path[PATH_SIZE];
                uint64_t stored = 0;
                unsigned depth;
                struct digest base;
                double packed = 0;

                r = programs_get(workspace_programs(c->workspace), &c->programs[i], &fd, path);
                if (r == 0)
                        r = programs_info(workspace_programs(c->workspace), &c->programs[i], &stored, &depth, &base);
                if (r == 0)
                        r = zstd_size(path, &packed);
                if (i == 0 || !digest_equal(&c->programs[i], &c->programs[i - 1])) /* one that is there already costs nothing */
                        ours += (double)stored;
                theirs += packed;
        }
        snprintf(what, sizeof(what), "bytes of %zu consecutive programs in the store", c->n);
        if (r == 0)
                bench_print(&(struct row){.what = what, .against = "each by zstd -19", .unit = UNIT_BYTES, .most = 0.35}, ours,
                            theirs, NAN);
        return r;
}

/* -- a large program -- */

/* A large real program, and neighbours of it: a few hundred small changes each, as a changed function makes them. */
static int put_neighbours(struct programs *p, const char *path, struct digest ids[PROGRAMS_CHAIN], double *ret_size)
{
        cleanup_close int original = open(path, O_RDONLY | O_CLOEXEC), fd = memfd_create("program", MFD_CLOEXEC);
        uint64_t size = 0, state = 7;
        int r = original < 0 || fd < 0 ? -errno : copy_fd(original, fd);

        for (unsigned i = 0; r == 0 && i < PROGRAMS_CHAIN; i++) {
                r = programs_put(p, fd, i > 0 ? &ids[i - 1] : NULL, &ids[i], &size);
                for (unsigned k = 0; r == 0 && k < 300; k++) {
                        uint32_t patch = bench_random(&state);
                        off_t at = (off_t)(size / 2 + bench_random(&state) % (size / 4)); /* not the headers: it shall run */

                        if (pwrite(fd, &patch, sizeof(patch), at) < 0)
                                r = -errno;
                }
        }
        *ret_size = (double)size;
        return r;
}

static int start(const char *path)
{
        char *const argv[] = {(char *)path, (char *)"--version", NULL};
        posix_spawn_file_actions_t actions;
        pid_t pid;
        int r;

        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        r = -posix_spawn(&pid, path, &actions, NULL, argv, environ); /* returns once it is executed */
        posix_spawn_file_actions_destroy(&actions);
        return r < 0 ? errorf(r, "cannot execute %s: %s", path, strerror(-r)) : pid;
}

static int row_large(struct commits *c)
{
        struct programs *p = workspace_programs(c->workspace);
        struct digest ids[PROGRAMS_CHAIN];
        double took[PROGRAMS_CHAIN], size = 0;
        char what[96];
        glob_t found;
        int r;

        if (glob("/usr/lib/gcc/*/*/cc1", 0, NULL, &found) != 0) {
                bench_skip("a stored large program, from open to execve", "there is no cc1 here");
                return 0;
        }
        r = put_neighbours(p, found.gl_pathv[0], ids, &size);
        globfree(&found);
        if (r == 0)
                r = bench_shell(c->store, "rm -f programs/*");
        for (unsigned i = 0; r == 0 && i < PROGRAMS_CHAIN; i++) {
                double began = bench_now();
                cleanup_close int fd = -1;
                char path[PATH_SIZE];

                r = programs_get(p, &ids[i], &fd, path);
                if (r == 0)
                        r = start(path);
                if (r < 0)
                        break;
                took[i] = bench_now() - began;
                waitpid(r, NULL, 0);
                r = 0;
        }
        if (r < 0)
                return r;
        snprintf(what, sizeof(what), "a stored program of %.0f MB, from open to execve: slowest of a chain", size / 1e6);
        bench_print(&(struct row){.what = what, .judge = JUDGE_ALONE, .most = 0.3}, bench_quantile(took, PROGRAMS_CHAIN, 1), NAN,
                    NAN);
        return 0;
}

int bench_build(void)
{
        cleanup(commits_done) struct commits c = {0};
        cleanup_blob struct blob text = {0};
        char repository[PATH_SIZE];
        const char *recipe = synthetic_recipe, *from = repository;
        int r = bench_shell(bench.dir, "rm -rf build");

        if (r == 0)
                r = path_join(c.store, bench.dir, "build/store");
        if (r == 0)
                r = path_join(c.by_hand, bench.dir, "build/by-hand");
        if (r == 0)
                r = path_join(c.neighbour, bench.dir, "build/neighbour");
        if (r == 0)
                r = path_join(repository, bench.dir, "build/repository.git");
        if (r == 0 && bench.repository) {
                from = bench.repository;
                r = bench.recipe ? read_file(bench.recipe, 1 << 20, &text) : errorf(-EINVAL, "--repository needs --recipe");
                recipe = text.data;
        } else if (r == 0)
                r = make_synthetic(repository, (bench.builds + 1) * bench.scale);
        if (r == 0)
                r = commits_open(&c, from, recipe);
        if (r == 0)
                r = rows_builds(&c, from);
        if (r == 0)
                r = row_bytes(&c);
        if (r == 0)
                r = row_large(&c);
        bench_shell(bench.dir, "rm -rf build");
        return r;
}
