/* A store as it was before results stood under their program's digest: its rows are put by hand. */
#include "tests/support/toy_workspace.h"
#include "tests/support/old_fact.h"
#include "tests/support/old_table.h"

#include <fcntl.h>

#include "cache/store/delta.h"
#include "core/query/answers.h"
#include "core/run/host.h"

#define KEYED "runs/keyed-by"

static struct workspace *w;
static struct solver *solver;

static void world(const char *more)
{
        cleanup_free char *text = NULL;

        shell("git init -q -b main repo; cd repo; echo 1 >a; commit one; echo 2 >a; commit two; echo 3 >a; commit three");
        ck_assert_int_gt(asprintf(&text, "[solver]\nbuild = true\noutput = out/prog\nrun = {bin} {case}\n%s", more), 0);
        toy_workspace(text, &w, &solver);
}

static void reopen(void)
{
        solver = solver_unref(solver);
        workspace_close(w);
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_solver(w, "toy", &solver));
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

/* A build of version 1, which has no list of programs. */
static void put_build(uint32_t commit, const char *program, int64_t started)
{
        struct build_output output = {.name = (char *)"prog", .size = 1, .executable = true};
        struct build_record record = {
                .refs = 1, .ok = program != NULL, .clean = true, .started = started, .outputs = &output, .n_outputs = 1};
        cleanup_buffer struct buffer b = {0}, old = {0};
        const size_t tail = 8 + 8 + 8; /* no programs, no difference, no log */
        struct digest key;

        if (program)
                digest_of(program, strlen(program), &output.id);
        else
                record.reason = (char *)"no luck", record.n_outputs = 0;
        assert_ok(build_key(solver->history, commit, solver->recipe, &key));
        assert_ok(build_record_encode(&record, &b));
        buffer_add(&old, b.data, b.size - tail);
        buffer_add(&old, b.data + b.size - 8, 8);
        old.data[0] = 1;
        assert_ok(store_set(workspace_store(w), TABLE_BUILDS, SLICE(key.bytes, DIGEST_SIZE), SLICE(old.data, old.size)));
}

/* A fact of version 1 under the build's key, as it was written then: no stack, neither in it nor in its key. */
static void put_fact(const struct cell *cell, enum verdict v, uint64_t wall_ns, int64_t measured)
{
        struct fact f = {.refs = 1, .verdict = v, .wall_ns = wall_ns, .cpu_ns = wall_ns, .memory = 1 << 20, .measured = measured};
        cleanup_buffer struct buffer old = {0};
        cleanup_free char *json = NULL;
        uint8_t key[FACT_KEY_SIZE];
        struct commit c;
        struct digest build;

        cell_limits(cell, &f.limits);
        assert_ok(history_commit(solver->history, cell->commit, &c));
        ck_assert_int_gt(asprintf(&json, "{\"solver\": \"toy\", \"commit\": \"%s\", \"case\": {\"id\": %u}, \"seed\": null}",
                                  git_oid_tostr_s(&c.oid), cell->info->id),
                         0);
        f.results = (struct blob){.data = v == VERDICT_SAT     ? "sat\n"
                                          : v == VERDICT_UNSAT ? "unsat\n"
                                                               : "crash\n",
                                  .size = v == VERDICT_SAT ? 4 : 6};
        f.json = (struct blob){.data = json, .size = strlen(json)};
        assert_ok(fact_encode(&f, &old));
        make_old_fact(&old, 1);
        assert_ok(build_key(solver->history, cell->commit, solver->recipe, &build));
        run_key_before(&build, cell, key);
        fact_key(key, &f.limits, key);
        assert_ok(store_set(workspace_store(w), TABLE_FACTS, SLICE(key, sizeof(key) - 8), SLICE(old.data, old.size)));
}

static void as_before(void)
{
        assert_ok(store_set(workspace_store(w), TABLE_META, slice_string(KEYED), SLICE("\0\0\0\0\0\0\0\0", 8)));
}

static uint64_t time_of(uint32_t commit, struct case_info *info)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = run_find(w, &(struct cell){.solver = solver, .commit = commit, .info = info}, false, &f);

        ck_assert(r == 0 || r == -ENOENT);
        return r == 0 ? f->wall_ns : 0;
}

static uint64_t facts(void)
{
        struct store_stats s;

        assert_ok(store_stats(workspace_store(w), &s));
        return s.tables[TABLE_FACTS].entries;
}

static int count_lines(void *user, enum answer_alarm a, const char *line)
{
        unsigned *n = user;

        (void)line;
        n[a]++;
        return 0;
}

static void end(void)
{
        solver = solver_unref(solver);
        w = workspace_close(w);
}

START_TEST(test_taken_over)
{
        uint32_t one, two, three;
        struct case_info *a, *b;
        unsigned alarms[2] = {0};

        world("");
        one = commit_of("main~2"), two = commit_of("main~1"), three = commit_of("main");
        a = add_case("(set-info :status unsat)\n(check-sat)\n");
        b = add_case("(check-sat)\n");
        put_build(one, "bytes", 1000);
        put_build(two, "bytes", 1000); /* the same program as of `one` */
        put_build(three, "others", 5000);
        put_fact(&(struct cell){.solver = solver, .commit = one, .info = a}, VERDICT_UNSAT, 111, 2000);
        put_fact(&(struct cell){.solver = solver, .commit = two, .info = a}, VERDICT_UNSAT, 222, 1500);
        put_fact(&(struct cell){.solver = solver, .commit = two, .info = b}, VERDICT_SAT, 333, 2000);
        put_fact(&(struct cell){.solver = solver, .commit = three, .info = a}, VERDICT_SAT, 444, 6000); /* wrong */
        put_fact(&(struct cell){.solver = solver, .commit = three, .info = b}, VERDICT_UNSAT, 555,
                 4000); /* with an older build */
        assert_ok(store_set(workspace_store(w), TABLE_META, slice_string("wrong/0123"),
                            SLICE("toy 1 case 1: sat, expected unsat", 34)));
        as_before();
        for (int i = 0; i < 3; i++) { /* once; nothing more; and gone on with when it was killed before its end */
                reopen();
                ck_assert_uint_eq(time_of(one, a), 222); /* what was measured first */
                ck_assert_uint_eq(time_of(two, a), 222);
                ck_assert_uint_eq(time_of(one, b), 333);
                ck_assert_uint_eq(time_of(three, a), 444);
                ck_assert_uint_eq(time_of(three, b), 0); /* nobody knows with which program */
                ck_assert_uint_eq(facts(), 3);
                memset(alarms, 0, sizeof(alarms));
                assert_ok(wrong_answers(w, count_lines, alarms));
                ck_assert_uint_eq(alarms[ANSWER_WRONG], 1);
                ck_assert_uint_eq(alarms[ANSWER_CONTRADICTION], 0);
                if (i == 1)
                        as_before();
        }
        assert_ok(cases_remove(workspace_cases(w), a->id)); /* and then nothing is told of it */
        memset(alarms, 0, sizeof(alarms));
        assert_ok(wrong_answers(w, count_lines, alarms));
        ck_assert_uint_eq(alarms[ANSWER_WRONG], 0);
        case_info_unref(a);
        case_info_unref(b);
        end();
}
END_TEST

/* A crash may have been the stack of whoever mounted it: it is not believed; and a failed build has no program. */
START_TEST(test_what_is_measured_anew)
{
        struct case_info *a;
        uint32_t one, two;
        struct digest none;

        world("");
        one = commit_of("main"), two = commit_of("main~1");
        a = add_case("(check-sat)\n");
        put_build(one, "bytes", 1000);
        put_build(two, NULL, 1000);
        put_fact(&(struct cell){.solver = solver, .commit = one, .info = a}, VERDICT_CRASH, 111, 2000);
        as_before();
        reopen();
        ck_assert_uint_eq(time_of(one, a), 0);
        ck_assert_uint_eq(facts(), 1);
        assert_ok(build_key(solver->history, two, solver->recipe, &none));
        assert_error(build_program_find(w, &none, &none), ENOENT);
        case_info_unref(a);
        end();
}
END_TEST

/* The environment was in the build's key alone. */
START_TEST(test_environment)
{
        struct case_info *a;
        uint32_t one;

        world("environment = HEAP=small\n");
        one = commit_of("main");
        a = add_case("(check-sat)\n");
        put_build(one, "bytes", 1000);
        put_fact(&(struct cell){.solver = solver, .commit = one, .info = a}, VERDICT_SAT, 111, 2000);
        as_before();
        reopen();
        ck_assert_uint_eq(time_of(one, a), 111);
        case_info_unref(a);
        end();
}
END_TEST

START_TEST(test_more_than_a_chunk)
{
        enum {
                MANY = 1200
        };
        static struct case_info *infos[MANY];
        uint32_t one;

        world("");
        one = commit_of("main");
        put_build(one, "bytes", 1000);
        for (unsigned i = 0; i < MANY; i++) {
                char text[64];

                snprintf(text, sizeof(text), "(check-sat) ; %u\n", i);
                infos[i] = add_case(text);
                put_fact(&(struct cell){.solver = solver, .commit = one, .info = infos[i]}, VERDICT_SAT, i + 1, 2000);
        }
        as_before();
        reopen();
        for (unsigned i = 0; i < MANY; i++) {
                ck_assert_uint_eq(time_of(one, infos[i]), i + 1);
                case_info_unref(infos[i]);
        }
        ck_assert_uint_eq(facts(), MANY);
        end();
}
END_TEST

/* -- programs that are rows of a table -- */

#define N_OLD 12

/* Something like a program; version n + 1 differs from version n in a few places. */
static struct slice old_program(unsigned n)
{
        static char data[20000];
        unsigned seed = 1;

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
        for (unsigned i = 1; i <= n; i++)
                memset(data + i * 101, (int)i, 10);
        return SLICE(data, sizeof(data));
}

static void put_row(char kind, const struct digest *id, const void *data, size_t size)
{
        char key[1 + DIGEST_SIZE] = {kind};

        memcpy(key + 1, id->bytes, DIGEST_SIZE);
        put_old_row("store/lmdb", "programs", SLICE(key, sizeof(key)), SLICE(data, size));
}

static struct store *open_old_table(void)
{
        static const char *const table = "programs";
        struct store *s;

        assert_ok(store_open("store", &table, 1, 0, &s));
        return s;
}

/* As they were written: a keyframe, and three chains of deltas behind it. */
static void put_old_programs(struct digest ids[N_OLD])
{
        for (unsigned n = 0; n < N_OLD; n++) {
                cleanup_blob struct blob frame = {0}, base = {0};
                uint8_t meta[8 + 8 + DIGEST_SIZE] = {1};
                struct slice content;

                if (n > 0) {
                        content = old_program(n <= 3 ? 0 : n - 3);
                        base.data = base.owned = memcpy(malloc(content.size), content.data, base.size = content.size);
                        memcpy(meta + 16, ids[n <= 3 ? 0 : n - 3].bytes, DIGEST_SIZE);
                }
                content = old_program(n);
                digest_of(content.data, content.size, &ids[n]);
                key_u64(meta + 8, content.size);
                assert_ok(delta_encode(content, SLICE(base.data, base.size), delta_bound(content.size), &frame));
                put_row('d', &ids[n], frame.data, frame.size);
                put_row('m', &ids[n], meta, sizeof(meta));
        }
}

static uint64_t old_rows(void)
{
        struct store *s = open_old_table();
        struct store_stats stats;

        assert_ok(store_stats(s, &stats));
        store_close(s);
        return stats.tables[0].entries;
}

static void assert_old_program(const struct digest *id, unsigned n)
{
        struct slice content = old_program(n);
        cleanup_blob struct blob b = {0};
        int fd;

        assert_ok(programs_get(workspace_programs(w), id, &fd, NULL));
        assert_ok(read_fd(fd, content.size + 1, &b));
        close(fd);
        ck_assert(b.size == content.size && memcmp(b.data, content.data, b.size) == 0);
}

static void rows_as_before(void)
{
        assert_ok(store_set(workspace_store(w), TABLE_META, slice_string("programs/kept-in"), SLICE("\0\0\0\0\0\0\0\0", 8)));
}

/* The command opens the store, and does not come to its end. */
static void killed_at(const char *place, const char *order)
{
        assert_ok(mkdir("faults", 0700) < 0 && errno != EEXIST ? -errno : 0);
        shell("rm -f faults/*");
        ck_assert(chdir("faults") == 0);
        assert_ok(write_file_atomic(place, order, strlen(order), 0600));
        ck_assert(chdir("..") == 0);
        shell("! SOLVERFS_FAULTS=$PWD/faults $SOLVERFS_COMMAND --store store case list >out 2>&1");
        shell("rm -f faults/*");
}

START_TEST(test_programs_of_a_table)
{
        struct digest ids[N_OLD];

        world("");
        put_build(commit_of("main"), "bytes", 1000);
        put_old_programs(ids);
        rows_as_before();
        ck_assert_uint_eq(old_rows(), 2 * N_OLD);
        reopen();
        ck_assert_uint_eq(old_rows(), 0);
        for (unsigned n = 0; n < N_OLD; n++) {
                struct digest base;
                uint64_t stored;
                unsigned depth;

                assert_old_program(&ids[n], n);
                assert_ok(programs_info(workspace_programs(w), &ids[n], &stored, &depth, &base));
                ck_assert_uint_eq(depth, (n + 2) / 3); /* the frames are as they were */
        }
        reopen();
        shell("! $SOLVERFS_COMMAND --store store case list 2>&1 | grep 'older version'"); /* said once */
        end();
}
END_TEST

START_TEST(test_programs_of_a_table_killed)
{
        static const struct {
                const char *place, *order;
                unsigned rows, files;
        } kills[] = {{"programs.place", "kill after 5\n", 2 * N_OLD, 5},
                     {"store.commit", "kill\n", 2 * N_OLD, N_OLD},
                     {"store.committed", "kill\n", 0, N_OLD}};
        struct digest ids[N_OLD];

        for (size_t k = 0; k < ARRAY_SIZE(kills); k++) {
                char check[128];

                world("");
                put_build(commit_of("main"), "bytes", 1000);
                put_old_programs(ids);
                rows_as_before();
                end();
                killed_at(kills[k].place, kills[k].order);
                snprintf(check, sizeof(check), "[ $(ls store/deltas | wc -l) = %u ]", kills[k].files);
                shell(check);
                ck_assert_uint_eq(old_rows(), kills[k].rows);
                assert_ok(workspace_open("store", 0, &w));
                ck_assert_uint_eq(old_rows(), 0);
                for (unsigned n = 0; n < N_OLD; n++)
                        assert_old_program(&ids[n], n);
                w = workspace_close(w);
                shell("rm -rf store repo");
        }
}
END_TEST

static bool is_file(const struct digest *id)
{
        char path[PATH_SIZE] = "store/deltas/";

        digest_hex(id, path + strlen(path));
        return access(path, F_OK) == 0;
}

/* A row that is damaged is one program less; a full disk leaves what it has no room for where it is. */
START_TEST(test_programs_of_a_table_not_all)
{
        struct digest ids[N_OLD];
        unsigned lost = N_OLD;

        world("");
        put_build(commit_of("main"), "bytes", 1000);
        put_old_programs(ids);
        rows_as_before();
        end();
        ck_assert(mkdir("faults", 0700) == 0);
        shell("echo fail ENOSPC after 5 >faults/programs.place; SOLVERFS_FAULTS=$PWD/faults $SOLVERFS_COMMAND --store store case list 2>said; "
              "grep -q 'not all of its programs' said; [ $(ls store/deltas | wc -l) = 5 ]");
        ck_assert_uint_eq(old_rows(), 2 * N_OLD);
        {
                char key[1 + DIGEST_SIZE] = "d";
                struct store *s = open_old_table();
                struct store_txn *t;

                do /* one on which nothing builds */
                        ck_assert_uint_gt(--lost, N_OLD - 4);
                while (is_file(&ids[lost]));
                memcpy(key + 1, ids[lost].bytes, DIGEST_SIZE);
                assert_ok(store_write(s, &t));
                assert_ok(store_delete(t, 0, SLICE(key, sizeof(key))));
                assert_ok(store_commit(t));
                store_close(s);
        }
        assert_ok(workspace_open("store", 0, &w));
        for (unsigned n = 0; n < N_OLD; n++)
                if (n != lost)
                        assert_old_program(&ids[n], n);
        ck_assert(!programs_has(workspace_programs(w), &ids[lost]));
        ck_assert_uint_eq(old_rows(), 0);
        w = workspace_close(w);
}
END_TEST

/* No journal has them: an index that is made anew before they are files takes them along. */
START_TEST(test_programs_of_an_index_made_anew)
{
        struct digest ids[N_OLD];

        world("");
        put_build(commit_of("main"), "bytes", 1000);
        put_old_programs(ids);
        rows_as_before();
        end();
        shell("touch store/lmdb/damaged");
        assert_ok(workspace_open("store", 0, &w));
        shell("ls -d store/lmdb.damaged-*");
        for (unsigned n = 0; n < N_OLD; n++)
                assert_old_program(&ids[n], n);
        ck_assert_uint_eq(old_rows(), 0);
        w = workspace_close(w);
}
END_TEST

SUITE("takeover", test_taken_over, test_what_is_measured_anew, test_environment, test_more_than_a_chunk, test_programs_of_a_table,
      test_programs_of_a_table_killed, test_programs_of_a_table_not_all, test_programs_of_an_index_made_anew)
