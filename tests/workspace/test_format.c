/* Stores with records of older formats: put by hand, refused, and rewritten by migrate-store. */
#include "tests/support/toy_workspace.h"
#include "tests/workspace/old_fact.h"

#include <fcntl.h>

#include "core/query/query_internal.h"

#define FORMAT "facts/format"

static struct workspace *w;
static struct solver *solver;

static void world(void)
{
        shell("git init -q -b main repo; cd repo; echo 1 >a; commit one; echo 2 >a; commit two; echo 3 >a; commit three");
        toy_workspace("[solver]\nbuild = true\noutput = out/prog\nrun = {bin} {case}\n", &w, &solver);
}

static void put_number(const char *key, uint8_t n)
{
        assert_ok(store_set(workspace_store(w), TABLE_META, slice_string(key), SLICE(((uint8_t[]){0, 0, 0, 0, 0, 0, 0, n}), 8)));
}

static void end(void)
{
        solver = solver_unref(solver);
        w = workspace_close(w);
}

/* As the solverfs of before left it. */
static void end_as_before(void)
{
        put_number(FORMAT, 0);
        put_number("runs/keyed-by", 1);
        end();
}

static void open_again(void)
{
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_solver(w, "toy", &solver));
}

static void migrate(void)
{
        shell("\"$SOLVERFS_MIGRATE\" store >out 2>&1 || { cat out; false; }");
}

static uint32_t commit_of(const char *revision)
{
        char command[256], sha[256];
        uint32_t number;
        git_oid oid;

        snprintf(command, sizeof(command), "cd repo; git rev-parse %s", revision);
        ask(command, sha);
        ck_assert_int_eq(git_oid_fromstr(&oid, sha), 0);
        assert_ok(history_number(solver->history, &oid, &number));
        return number;
}

static struct case_info *add_case(const char *text)
{
        static unsigned n;
        struct case_info *info;
        char name[32];
        uint32_t id;
        bool fresh;
        int fd;

        snprintf(name, sizeof(name), "case%u.smt2", n++);
        assert_ok(write_file_atomic(name, text, strlen(text), 0600));
        fd = open(name, O_RDONLY | O_CLOEXEC);
        assert_ok(cases_add(workspace_cases(w), name, fd, &id, &fresh));
        close(fd);
        assert_ok(cases_get(workspace_cases(w), id, &info));
        return info;
}

/* A build that made the program "bytes"; one of format 1 has no list of programs. */
static void put_build(uint32_t commit, char format)
{
        struct build_output output = {.name = (char *)"prog", .size = 1, .executable = true};
        struct build_record record = {
                .refs = 1, .ok = true, .started = 1000, .outputs = &output, .n_outputs = 1, .log = {.data = "made", .size = 4}};
        cleanup_buffer struct buffer b = {0}, old = {0};
        const size_t log = 8 + 4, lists = 8 + 8; /* no programs, no difference */
        struct digest key, program;

        digest_of("bytes", 5, &output.id);
        build_outputs_digest(&output, 1, &program);
        assert_ok(build_key(solver->history, commit, solver->recipe, &key));
        assert_ok(build_record_encode(&record, &b));
        buffer_add(&old, b.data, b.size - log - (format == 1 ? lists : 0));
        buffer_add(&old, b.data + b.size - log, log);
        old.data[0] = format;
        assert_ok(store_set(workspace_store(w), TABLE_BUILDS, SLICE(key.bytes, DIGEST_SIZE), SLICE(old.data, old.size)));
        assert_ok(store_set(workspace_store(w), TABLE_BUILD_PROGRAMS, SLICE(key.bytes, DIGEST_SIZE), SLICE(program.bytes, DIGEST_SIZE)));
}

/* What was printed and noted of a run on a case with two questions of which it answered one. */
static const struct said {
        const char *expected, *end, *out, *cut;
        enum verdict verdict; /* now */
} one_answer = {"\"sat\", \"unknown\"", "\"reason\": \"exit\", \"status\": 1", "sat\n", "false", VERDICT_ERROR};
static const struct said all_answered = {"\"sat\"", "\"reason\": \"exit\", \"status\": 0", "sat\n", "false", VERDICT_SAT};

static void encode(const struct cell *cell, char format, const struct said *s, uint64_t wall_ns, struct buffer *ret)
{
        struct fact f = {.refs = 1, .verdict = VERDICT_SAT, .wall_ns = wall_ns, .cpu_ns = wall_ns, .memory = 1 << 20, .measured = 2000, .waited_ns = 7};
        cleanup_buffer struct buffer json = {0};

        cell_limits(cell, &f.limits);
        buffer_addf(&json, "{\n  \"verdict\": \"sat\",\n  \"answers\": [\"sat\"],\n  \"expected\": [%s],\n  \"end\": {%s},\n", s->expected, s->end);
        buffer_addf(&json, "  \"samples\": [{\"verdict\": \"unknown\"}, {\"verdict\": \"sat\"}],\n  \"chosen\": 1,\n  \"stdout\": {\"cut\": %s}\n}", s->cut);
        f.results = (struct blob){.data = "sat\n", .size = 4};
        f.out = (struct blob){.data = s->out, .size = strlen(s->out)};
        f.json = (struct blob){.data = json.data, .size = json.size};
        assert_ok(fact_encode(&f, ret));
        if (format < FACT_VERSION)
                make_old_fact(ret, format);
}

static void put_fact(const struct cell *cell, char format, const struct said *s, uint64_t wall_ns)
{
        cleanup_buffer struct buffer b = {0};
        struct recipe_limits limits;
        uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];

        cell_limits(cell, &limits);
        encode(cell, format, s, wall_ns, &b);
        assert_ok(run_key(w, cell, run));
        fact_key(run, &limits, key);
        assert_ok(store_set(workspace_store(w), TABLE_FACTS, SLICE(key, sizeof(key)), SLICE(b.data, b.size)));
}

static struct fact *find(uint32_t commit, struct case_info *info)
{
        struct fact *f = NULL;
        int r = run_find(w, &(struct cell){.solver = solver, .commit = commit, .info = info}, FACT_WHOLE, &f);

        ck_assert(r == 0 || r == -ENOENT);
        return f;
}


/* -- */

START_TEST(test_refused)
{
        static const char *const marks[] = {FORMAT, "programs/kept-in"};
        struct case_info *a;

        for (int i = 0; i < 4; i++) {
                world();
                a = add_case("(check-sat)\n");
                put_build(commit_of("main"), i == 0 ? 1 : 2);
                put_fact(&(struct cell){.solver = solver, .commit = commit_of("main"), .info = a}, i == 1 ? 3 : 4, &all_answered, 111);
                case_info_unref(a);
                if (i == 2)
                        put_number(marks[1], 0); /* its programs are in the database */
                else if (i == 3)
                        put_number(marks[0], 5);
                if (i == 3)
                        end();
                else
                        end_as_before();
                assert_error(workspace_open("store", 0, &w), EPROTONOSUPPORT);
                ck_assert_ptr_nonnull(strstr(error_message(-EPROTONOSUPPORT), i == 3 ? "a newer one" : "migrate-store"));
                shell("s=0; \"$SOLVERFS_COMMAND\" --store store solver list >out 2>&1 || s=$?; [ $s = 5 ]; rm -rf store repo");
        }
}
END_TEST

/* All of its records are of today's format, and nothing says so. */
START_TEST(test_today)
{
        struct case_info *a;

        world();
        a = add_case("(check-sat)\n");
        put_build(commit_of("main"), 2);
        put_fact(&(struct cell){.solver = solver, .commit = commit_of("main"), .info = a}, 4, &one_answer, 111);
        end_as_before();
        for (int i = 0; i < 2; i++) {
                cleanup(fact_unrefp) struct fact *f = NULL;

                assert_ok(workspace_open("store", i == 0 ? STORE_READ_ONLY : 0, &w));
                assert_ok(workspace_solver(w, "toy", &solver));
                f = find(commit_of("main"), a);
                ck_assert(f && f->verdict == VERDICT_SAT); /* and is not judged anew */
                ck_assert_uint_eq(meta_number(w, FORMAT), i == 0 ? 0 : FACT_VERSION);
                end();
        }
        case_info_unref(a);
        open_again();
        put_number("runs/keyed-by", 0); /* as in a store made today */
        end();
        migrate();
        shell("[ \"$(cat out)\" = 'nothing to do' ]");
        open_again(); /* and not as an older or newer store */
        put_number(FORMAT, FACT_VERSION - 1);
        end();
        migrate();
        open_again();
        put_number(FORMAT, FACT_VERSION + 1);
        end();
        shell("! \"$SOLVERFS_MIGRATE\" store >out 2>&1 && grep -q 'use a newer one' out");
        assert_error(workspace_open("store", 0, &w), EPROTONOSUPPORT);
}
END_TEST

START_TEST(test_migrated)
{
        struct case_info *infos[5];
        uint32_t commits[2];

        world();
        commits[0] = commit_of("main"), commits[1] = commit_of("main~1");
        put_build(commits[0], 1);
        put_build(commits[1], 2);
        for (char format = 1; format <= 4; format++) {
                char text[64];

                snprintf(text, sizeof(text), "(check-sat) ; %d\n", format);
                infos[(int)format] = add_case(text);
                put_fact(&(struct cell){.solver = solver, .commit = commits[0], .info = infos[(int)format]}, format, &all_answered, (uint64_t)format);
        }
        end_as_before();
        for (int i = 0; i < 2; i++) { /* and once more */
                migrate();
                shell(i == 0 ? "grep -q '^builds: 1 rewritten' out && grep -q '^facts: 3 rewritten' out" : "! grep ': [1-9]' out");
        }
        open_again();
        shell("! \"$SOLVERFS_MIGRATE\" store 2>out && grep -q 'store is in use' out"); /* an older process would not know what it reads */
        ck_assert_uint_eq(commit_of("main"), commits[0]);
        for (int format = 1; format <= 4; format++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;
                cleanup(fact_unrefp) struct fact *f = find(commits[1], infos[format]); /* the same program */
                struct recipe_limits limits;

                assert_ok(cases_get(workspace_cases(w), infos[format]->id, &info));
                ck_assert(digest_equal(&info->sha256, &infos[format]->sha256));
                ck_assert(f && f->wall_ns == (uint64_t)format && f->verdict == VERDICT_SAT && f->measured == 2000);
                ck_assert(f->out.size == 4 && memcmp(f->out.data, "sat\n", 4) == 0);
                ck_assert_uint_eq(f->waited_ns, format < 3 ? 0 : 7);
                cell_limits(&(struct cell){.solver = solver, .info = info}, &limits);
                ck_assert_uint_eq(f->limits.stack, format == 1 ? 0 : limits.stack);
                f->verdict = VERDICT_CRASH; /* which may have been the shell's stack */
                ck_assert(fact_covers(f, &limits) == (format > 1));
                case_info_unref(infos[format]);
        }
        {
                cleanup(build_record_unrefp) struct build_record *record = NULL;

                assert_ok(build_find(w, solver, commits[0], WITH_LOG, &record));
                ck_assert(record->ok && record->n_programs == 1 && record->log.size == 4 && memcmp(record->log.data, "made", 4) == 0);
        }
        end();
}
END_TEST

/* Formats up to 3 took the last answer for the verdict, however many were missing. */
START_TEST(test_verdicts)
{
        static const struct said rows[] = {
                {"\"sat\", \"unknown\", \"unknown\"", "\"reason\": \"exit\", \"status\": 1", "sat\n", "false", VERDICT_ERROR},
                {"\"sat\", \"unknown\", \"unknown\"", "\"reason\": \"exit\", \"status\": 0", "sat\n", "false", VERDICT_UNKNOWN},
                {"\"sat\", \"unknown\"", "\"reason\": \"exit\", \"status\": 1", "sat\n(error \"out of memory\")\n", "false", VERDICT_MEMOUT},
                {"\"sat\", \"unknown\"", "\"reason\": \"exit\", \"status\": 1", "sat\nsat\n", "false", VERDICT_SAT},
                {"\"sat\", \"unknown\"", "\"reason\": \"exit\", \"status\": 1", "sat\n", "true", VERDICT_SAT}, /* the other may be in the cut */
                {"\"sat\"", "\"reason\": \"exit\", \"status\": 1", "sat\n", "false", VERDICT_SAT},
                {"", "\"reason\": \"exit\", \"status\": 1", "sat\n", "false", VERDICT_SAT},
        };
        struct case_info *infos[3 * ARRAY_SIZE(rows)];
        uint32_t one;

        world();
        one = commit_of("main");
        put_build(one, 2);
        for (size_t i = 0; i < ARRAY_SIZE(infos); i++) {
                char text[64];

                snprintf(text, sizeof(text), "(check-sat) ; %zu\n", i);
                infos[i] = add_case(text);
                put_fact(&(struct cell){.solver = solver, .commit = one, .info = infos[i]}, (char)(1 + i / ARRAY_SIZE(rows)),
                         &rows[i % ARRAY_SIZE(rows)], 1);
        }
        end_as_before();
        migrate();
        open_again();
        for (size_t i = 0; i < ARRAY_SIZE(infos); i++) {
                const enum verdict v = rows[i % ARRAY_SIZE(rows)].verdict;
                cleanup(fact_unrefp) struct fact *f = find(one, infos[i]);
                cleanup_buffer struct buffer results = {0};

                if (v == VERDICT_MEMOUT || v == VERDICT_ERROR) /* whose stack is not known in format 1: they are measured anew */
                        ck_assert((f == NULL) == (i < ARRAY_SIZE(rows)));
                else
                        ck_assert(f);
                if (f) {
                        ck_assert_int_eq(f->verdict, v);
                        buffer_adds(&results, "sat\n");
                        if (v != VERDICT_SAT)
                                buffer_addf(&results, "%s\n", verdict_name(v));
                        ck_assert(f->results.size == results.size && memcmp(f->results.data, results.data, results.size) == 0);
                        ck_assert((strstr(f->json.data, "\"verdict\": \"sat\"") == NULL) == (v != VERDICT_SAT));
                }
                case_info_unref(infos[i]);
        }
        end();
}
END_TEST

START_TEST(test_more_than_a_chunk)
{
        enum {
                MANY = 260
        };
        static struct case_info *infos[MANY];
        uint32_t one;

        world();
        one = commit_of("main");
        put_build(one, 2);
        for (unsigned i = 0; i < MANY; i++) {
                char text[64];

                snprintf(text, sizeof(text), "(check-sat) ; %u\n", i);
                infos[i] = add_case(text);
                put_fact(&(struct cell){.solver = solver, .commit = one, .info = infos[i]}, 3, &all_answered, i + 1);
        }
        end_as_before();
        /* the commit of the first chunk fails once, and the chunk is done again */
        shell("mkdir faults && echo fail EIO after 1 times 1 >faults/store.commit && SOLVERFS_FAULTS=$PWD/faults \"$SOLVERFS_MIGRATE\" store >out && "
              "grep -q '^facts: 260 ' out");
        open_again();
        for (unsigned i = 0; i < MANY; i++) {
                cleanup(fact_unrefp) struct fact *f = find(one, infos[i]);

                ck_assert(f && f->wall_ns == i + 1);
                case_info_unref(infos[i]);
        }
        end();
}
END_TEST

START_TEST(test_new)
{
        shell("\"$SOLVERFS_COMMAND\" --store store init 2>out && \"$SOLVERFS_MIGRATE\" store >out 2>&1; [ \"$(cat out)\" = 'nothing to do' ]");
}
END_TEST

/* Those had their results by build, or their programs in the database. */
START_TEST(test_too_old)
{
        static const char *const marks[] = {"runs/keyed-by", "programs/kept-in"};

        for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
                world();
                put_build(commit_of("main"), 1);
                put_number("runs/keyed-by", 1);
                put_number(FORMAT, 0);
                put_number(marks[i], 0);
                end();
                shell("! \"$SOLVERFS_MIGRATE\" store >out 2>&1 && grep -q 38662ac out; rm -rf store repo");
        }
}
END_TEST

SUITE("format", test_refused, test_today, test_new, test_migrated, test_verdicts, test_more_than_a_chunk, test_too_old)
