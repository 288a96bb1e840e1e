/* What a cell says: limits, answers, seeds, time limits and the facts that answer them, measuring again (docs/tree.md, 3, 9, 10). */
#include "tests/support/faults.h"
#include "tests/support/mount.h"

#include <sys/mman.h>

#include <jansson.h>

static json_t *json_of(const char *path)
{
        cleanup_free char *text = content(path);
        json_error_t error;
        json_t *j = json_loads(text, 0, &error);

        ck_assert_msg(j, "%s: %s in %s", path, error.text, text);
        return j;
}

/* -- answers -- */

START_TEST(test_a_run)
{
        json_t *j;
        unsigned id;
        double time_taken, cpu;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do complain about it\n; do burn 120\n; do allocate 40\n; do sleep 50\n; do print sat\n");
        assert_content(at(CELL "result", id), "sat\n");
        assert_content(at(CELL "stdout", id), "sat\n");
        assert_content(at(CELL "stderr", id), "about it\n");
        time_taken = number(at(CELL "time", id));
        cpu = number(at(CELL "cputime", id));
        ck_assert_double_ge(cpu, 0.12);
        ck_assert_double_ge(time_taken, 0.17);
        ck_assert_double_ge(number(at(CELL "memory", id)), 40 << 20);
        ck_assert_double_lt(number(at(CELL "memory", id)), 400 << 20); /* and not the daemon's own */
        assert_shell("grep -qE '^[0-9]+\\.[0-9]{6}$' " CELL "time && grep -qE '^[0-9]+\\.[0-9]{6}$' " CELL "cputime", id, id);
        j = json_of(at(CELL "run.json", id));
        ck_assert_str_eq(json_string_value(json_object_get(j, "commit")), commit_sha("HEAD"));
        ck_assert_str_eq(json_string_value(json_object_get(j, "solver")), "tiny");
        json_decref(j);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 2);
        world_end();
}
END_TEST

/* A build's outputs lie beside each other under their own names when one of them runs, as in bin/. */
START_TEST(test_outputs_find_each_other)
{
        const struct world w = {.recipe = "build = \"mkdir -p out; echo sat >out/answer; echo 'cat ${0%/*}/answer' >out/ask\"\n"
                                          "output = out/ask\noutput = out/answer\nrun = /bin/sh {bin} {seed} {case}\n"};

        world_make(&w);
        mount_start("mnt", NULL);
        assert_content(at(CELL "result", case_add("a.smt2", "(check-sat)\n")), "sat\n");
        assert_shell("[ \"$(sh mnt/tiny/head/bin/ask)\" = sat ]");
        world_end();
}
END_TEST

/* A case's name is bytes, run.json is UTF-8: it is whole all the same, with the name as 'case list' writes it. */
START_TEST(test_a_name_that_is_no_text)
{
        json_t *j, *c;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("\xff\n\xc3\xa9.smt2", "(set-logic QF_BV)\n; do print sat\n");
        j = json_of(at(CELL "run.json", id));
        c = json_object_get(j, "case");
        ck_assert_str_eq(json_string_value(json_object_get(c, "name")), "\\xff\\n\xc3\xa9.smt2");
        ck_assert_str_eq(json_string_value(json_object_get(c, "logic")), "QF_BV");
        ck_assert_str_eq(json_string_value(json_object_get(j, "solver")), "tiny");
        ck_assert_str_eq(json_string_value(json_object_get(j, "commit")), commit_sha("HEAD"));
        ck_assert_ptr_nonnull(json_object_get(j, "build"));
        json_decref(j);
        world_end();
}
END_TEST

START_TEST(test_results)
{
        static const struct {
                const char *text, *result;
        } table[] = {
                {"; do print sat\n", "sat\n"},
                {"; do print unsat\n", "unsat\n"},
                {"; do print unknown\n", "unknown\n"},
                {"; do print success\n; do print ; a comment\n; do print\n; do print unsat\n", "unsat\n"},
                {"; do print what?\n", "unknown\n"},
                {"; do print (error \"no such sort\")\n", "error\n"},
                {"; do crash\n", "crash\n"},
                {"; do print sat\n; do crash\n", "crash\n"},
                {"(check-sat)\n(check-sat)\n(check-sat)\n; do print sat\n; do print unsat\n; do print unknown\n",
                 "sat\nunsat\nunknown\n"},
        };

        world_make(NULL);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                unsigned id = case_add(at("%zu.smt2", i), "%s", table[i].text);
                cleanup_free char *result = content(at(CELL "result", id));
                const char *end = result + strlen(result) - strlen(table[i].result);

                /* answers before a crash may be kept; the last line is the run's */
                ck_assert_msg(end >= result && strcmp(end, table[i].result) == 0, "case %u: %s", id, result);
        }
        world_end();
}
END_TEST

START_TEST(test_a_wrong_answer_is_flagged)
{
        json_t *j;
        unsigned wrong, partly, right;

        world_make(NULL);
        mount_start("mnt", NULL);
        right = case_add("right.smt2", "(set-info :status sat)\n(check-sat)\n; do print sat\n");
        wrong = case_add("wrong.smt2", "(set-info :status sat)\n(check-sat)\n; do print unsat\n");
        partly = case_add("partly.smt2", "(set-info :status sat)\n(check-sat)\n(set-info :status unsat)\n(check-sat)\n"
                                         "; do print unsat\n; do print unsat\n");
        assert_content(at(CELL "result", right), "sat\n");
        assert_shell("! grep -i wrong mnt/.solverfs/status");
        assert_content(at(CELL "result", wrong), "unsat\n"); /* what it said is what it said */
        assert_content(at(CELL "result", partly), "unsat\nunsat\n");
        for (unsigned id = right; id <= partly; id++) {
                j = json_of(at(CELL "run.json", id));
                ck_assert_msg(json_is_true(json_object_get(j, "wrong")) == (id != right), "case %u: %s", id, json_dumps(j, 0));
                json_decref(j);
        }
        assert_shell("grep WRONG mnt/.solverfs/status | grep 'case %u'", wrong);
        assert_shell("grep WRONG mnt/.solverfs/status | grep 'case %u'", partly);
        assert_shell("! grep 'case %u:' mnt/.solverfs/status", right);
        world_end();
}
END_TEST

/* -- limits -- */

START_TEST(test_time_limit)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = "timeout = 700ms\n"};
        unsigned slow, busy;

        world_make(&w);
        mount_start("mnt", NULL);
        slow = case_add("slow.smt2", "; do print sat\n; do daemon %s\n; do sleep 60000\n", absolute("daemon"));
        busy = case_add("busy.smt2", "; do fork 3\n; do burn 60000\n");
        assert_shell("tail -n 1 " CELL "result", slow);
        ck_assert_str_eq(shell_output, "timeout\n");
        assert_content(at(CELL "time", slow), "0.700000\n"); /* a timeout's time is the limit */
        assert_content(at(CELL "stdout", slow), "sat\n");
        ck_assert(!process_lives((pid_t)number("daemon"))); /* with all it started */
        assert_content(at(CELL "result", busy), "timeout\n");
        assert_content(at(CELL "time", busy), "0.700000\n");
        world_end();
}
END_TEST

START_TEST(test_cpu_limit)
{
        struct world w = {.recipe = "cputime = 400ms\n"};
        unsigned busy, idle;

        world_make(&w);
        mount_start("mnt", NULL);
        busy = case_add("busy.smt2", "; do burn 60000\n");
        idle = case_add("idle.smt2", "; do sleep 800\n; do print sat\n");
        assert_content(at(CELL "result", busy), "timeout\n");
        assert_content(at(CELL "result", idle), "sat\n");
        world_end();
}
END_TEST

START_TEST(test_memory_limit)
{
        unsigned greedy, modest;

        world_make(NULL);
        mount_start("mnt", NULL);
        greedy = case_add("greedy.smt2", "; do allocate 2000\n; do print sat\n");
        modest = case_add("modest.smt2", "; do allocate 200\n; do print sat\n");
        assert_content(at(CELL "result", greedy), "memout\n");
        assert_content(at(CELL "result", modest), "sat\n");
        world_end();
}
END_TEST

START_TEST(test_output_limit)
{
        cleanup_free char *out = NULL;
        unsigned id;
        ssize_t size;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("loud.smt2", "; do flood 200\n; do print sat\n");
        assert_content(at(CELL "result", id), "error\n");
        size = read_whole(at(CELL "stdout", id), &out);
        ck_assert_int_gt(size, 100000);
        ck_assert_int_lt(size, 2 << 20);
        ck_assert_ptr_nonnull(strstr(out, "cut"));
        world_end();
}
END_TEST

START_TEST(test_process_limit)
{
        unsigned many, few;

        world_make(NULL);
        mount_start("mnt", NULL);
        many = case_add("many.smt2", "; do fork 500\n; do print sat\n");
        few = case_add("few.smt2", "; do fork 5\n; do print sat\n");
        assert_content(at(CELL "result", many), "error\n");
        assert_content(at(CELL "result", few), "sat\n");
        world_end();
}
END_TEST

/* An error under one process limit says nothing of another. */
START_TEST(test_other_process_limits)
{
        struct world w = {.recipe = "processes = 4\n"};
        struct mount *m;
        unsigned id;

        world_make(&w);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do fork 20\n; do print sat\n");
        assert_content(at(CELL "result", id), "error\n");
        mount_stop(m);
        assert_shell("git config -f store/config solver.tiny.processes 100");
        m = mount_start("mnt", NULL);
        assert_content(at(CELL "result", id), "sat\n");
        mount_stop(m);
        assert_shell("git config -f store/config solver.tiny.processes 4");
        mount_start("mnt", NULL);
        assert_content(at(CELL "result", id), "error\n"); /* each is kept */
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        world_end();
}
END_TEST

START_TEST(test_build_limit)
{
        struct world w = {.recipe = "build-timeout = 1s\nbuild = \"sleep 600\"\n"};
        unsigned id;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at(CELL "result", id), "unbuildable\n");
        ck_assert_int_eq(open_error(at(CELL "time", id)), ENODATA);
        assert_content("mnt/tiny/head/build/status", "failed\n");
        world_end();
}
END_TEST

/* -- seeds -- */

START_TEST(test_seeds)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do seed\n; do print sat\n");
        assert_content(at(CELL "stdout", id), "seed: none\nsat\n");
        assert_content(at("mnt/tiny/head/seeds/7/cases/%u/stdout", id), "seed: 7\nsat\n");
        assert_content(at("mnt/tiny/head/seeds/0/cases/%u/stdout", id), "seed: 0\nsat\n");
        assert_content(at(CELL "stdout", id), "seed: none\nsat\n");
        assert_shell("ls mnt/tiny/head/seeds | sort -n && ls mnt/tiny/cached/HEAD/seeds/7/cases");
        ck_assert_str_eq(shell_output, at("0\n7\n%u\n", id));
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 4);
        world_end();
}
END_TEST

/* -- scrambled inputs -- */

#define SCRAMBLED "mnt/tiny/head/scrambled/%u/cases/%u/"
/* Large enough for each seed to have an input of its own. */
#define FORMULA                                                                                                                              \
        "(set-logic QF_UF)\n(declare-const a Bool)\n(declare-const b Bool)\n(declare-const c Bool)\n(declare-const d Bool)\n"                \
        "(assert (or a b (and c d)))\n(assert (or b c d))\n(assert (or (not a) d))\n(assert (or a (not c)))\n(assert (or d a b))\n(check-sat)\n"

/* Each is a run of its own, on an input that can be read, with the answer of the case. */
START_TEST(test_scrambled)
{
        cleanup_free char *input = NULL;
        uint64_t started;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "(set-info :status unsat)\n(set-info :do \"print unsat\")\n" FORMULA);
        assert_shell("ls mnt/tiny/head/scrambled && ls -l mnt/tiny/head/scrambled/3/cases/%u && stat mnt/tiny/head/scrambled/4", id);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        assert_shell("ls mnt/tiny/head/scrambled");
        ck_assert_str_eq(shell_output, ""); /* a look leaves no trace */
        assert_shell("ls mnt/tiny/head/scrambled/4294967295/cases && ls mnt/tiny/head/scrambled/4294967295/cases/%u | tr '\\n' ' '", id);
        ck_assert_str_eq(shell_output, at("%u\ncputime input.smt2 memory result run.json stderr stdout time ", id));
        assert_state(at(SCRAMBLED "time", 3, id), "cold");
        assert_content(at(SCRAMBLED "result", 3, id), "unsat\n");
        assert_state(at(SCRAMBLED "time", 3, id), "ready");
        assert_state(at(CELL "time", id), "cold");
        input = content(at(SCRAMBLED "input.smt2", 3, id));
        ck_assert_ptr_nonnull(strstr(input, "(set-info :do \"print unsat\")"));
        ck_assert_ptr_null(strstr(input, "a.smt2")); /* comments go */
        assert_shell("stat -c %%s mnt/tiny/head/scrambled/3/cases/%u/input.smt2", id);
        ck_assert_str_eq(shell_output, at("%zu\n", strlen(input)));
        assert_content(at(CELL "result", id), "unsat\n");
        assert_shell("ls mnt/tiny/head/scrambled mnt/tiny/cached/HEAD/scrambled | sort -u && ls mnt/tiny/cached/HEAD/scrambled/3/cases && ls mnt/cases "
                     "mnt/cases/by-name");
        ck_assert_str_eq(shell_output, at("\n3\nmnt/tiny/cached/HEAD/scrambled:\nmnt/tiny/head/scrambled:\n%u\nmnt/cases:\n%u\nby-name\n\nmnt/cases/by-name:\na.smt2\n", id, id));
        ck_assert_int_eq(open_error(at("mnt/tiny/cached/HEAD/scrambled/4/cases/%u/time", id)), ENOENT);
        assert_shell("cmp mnt/tiny/head/scrambled/3/cases/%u/input.smt2 mnt/tiny/cached/HEAD/scrambled/3/cases/%u/input.smt2", id, id);
        started = counter("mnt", "jobs_started_total");
        free(content(at(SCRAMBLED "input.smt2", 9, id))); /* without a run */
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), started + 1);
        assert_state(at(SCRAMBLED "time", 9, id), "cold");
        assert_content(at("mnt/tiny/commits/broken/scrambled/3/cases/%u/result", id), "unbuildable\n");
        ck_assert_int_eq(open_error(at("mnt/tiny/commits/broken/scrambled/3/cases/%u/time", id)), ENODATA);
        world_end();
}
END_TEST

/* The numbers of these folders and files are the same in another life; a run of before is found, and shown where nothing starts work. */
START_TEST(test_scrambled_again)
{
        char before[4096];
        struct mount *m;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "(set-info :do \"print sat\")\n" FORMULA);
        assert_content(at(SCRAMBLED "result", 1, id), "sat\n");
        assert_shell("cd mnt/tiny && stat -c '%%i %%n' commits/HEAD/scrambled commits/HEAD/scrambled/1 commits/HEAD/scrambled/1/cases/%u/*", id);
        snprintf(before, sizeof(before), "%s", shell_output);
        assert_shell("cd mnt/tiny && stat -c %%i $(seq -f commits/HEAD/scrambled/%%g 1 20) $(seq -f commits/HEAD/seeds/%%g 1 20) | sort | uniq -d");
        ck_assert_str_eq(shell_output, "");
        mount_stop(m);
        mount_start("mnt", NULL);
        assert_shell("cd mnt/tiny && stat -c '%%i %%n' commits/HEAD/scrambled commits/HEAD/scrambled/1 commits/HEAD/scrambled/1/cases/%u/*", id);
        ck_assert_str_eq(shell_output, before);
        assert_content(at(SCRAMBLED "result", 1, id), "sat\n");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        mount_start("done", "cached");
        assert_shell("cd done/tiny/cached/HEAD/scrambled/1/cases/%u && cat result && wc -c <input.smt2 && ls", id);
        ck_assert_ptr_nonnull(strstr(shell_output, "sat\n"));
        ck_assert_ptr_nonnull(strstr(shell_output, "run.json\n"));
        world_end();
}
END_TEST

START_TEST(test_scrambled_damaged)
{
        cleanup_free char *before = NULL;
        unsigned id;

        world_make(NULL);
        world_expects("bytes of case");
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "(set-info :do \"print sat\")\n" FORMULA);
        before = content(at(SCRAMBLED "input.smt2", 2, id));
        mount_stop(mount_of("mnt"));
        write_whole("input", before);
        assert_shell("d=$(sha256sum <input | cut -c1-64) && f=store/cases/$(echo $d | cut -c1-2)/$d && chmod +w $f && sed -i s/assert/ASSERT/ $f");
        mount_start("mnt", NULL);
        assert_content(at(SCRAMBLED "result", 2, id), "sat\n"); /* it is made again */
        assert_content(at(SCRAMBLED "input.smt2", 2, id), before);
        world_end();
}
END_TEST

/* -- by-seed.tsv -- */

#define BY_SEED "kind\tseed\tresult\ttime\tcputime\tmemory\teffort\n"

START_TEST(test_by_seed)
{
        struct world w = {.recipe = "effort = \"conflicts: ([0-9]+)\"\n"};
        unsigned id, other;

        world_make(&w);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        id = case_add("a.smt2", "(set-info :do \"complain conflicts: 12\")\n(set-info :do \"print sat\")\n" FORMULA);
        other = case_add("b.smt2", "; do print sat\n");
        assert_content(at(CELL "by-seed.tsv", id), BY_SEED);
        assert_content("mnt/tiny/head/build/status", "none\n");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        assert_content(at(CELL "result", id), "sat\n");
        assert_content(at(CELL "by-seed.tsv", id), BY_SEED); /* a run without a seed is none of these */
        assert_content(at("mnt/tiny/head/seeds/7/cases/%u/result", id), "sat\n");
        assert_content(at("mnt/tiny/head/seeds/7/cases/%u/result", other), "sat\n");
        assert_content(at("mnt/tiny/head/seeds/0/cases/%u/result", id), "sat\n");
        assert_content(at(SCRAMBLED "result", 12, id), "sat\n");
        assert_content(at(SCRAMBLED "result", 2, id), "sat\n");
        free(content(at(SCRAMBLED "input.smt2", 5, id))); /* an input is no run */
        assert_shell("cut -f 1-3,7 mnt/tiny/head/cases/%u/by-seed.tsv", id);
        ck_assert_str_eq(shell_output, "kind\tseed\tresult\teffort\nseed\t0\tsat\t12\nseed\t7\tsat\t12\nscrambled\t2\tsat\t12\nscrambled\t12\tsat\t12\n");
        assert_shell("cd mnt/tiny/head && [ \"$(sed -n 5p cases/%u/by-seed.tsv | cut -f 4-6)\" = \"$(paste scrambled/12/cases/%u/time scrambled/12/cases/%u/cputime "
                     "scrambled/12/cases/%u/memory)\" ]",
                     id, id, id, id);
        assert_shell("cut -f 1-3 mnt/tiny/head/cases/%u/by-seed.tsv | tail -n +2", other);
        ck_assert_str_eq(shell_output, "seed\t7\tsat\n");
        assert_shell("cmp mnt/tiny/head/cases/%u/by-seed.tsv mnt/tiny/cached/HEAD/cases/%u/by-seed.tsv", id, id);
        await(shell("cmp mnt/tiny/head/cases/%u/by-seed.tsv done/tiny/cached/HEAD/cases/%u/by-seed.tsv", id, id) == 0);
        ck_assert(!exists(at("mnt/tiny/cached/HEAD/cases/%u", other))); /* its cell without a seed is not finished */
        ck_assert(!exists(at(SCRAMBLED "by-seed.tsv", 2, id)));
        ck_assert(!exists(at("mnt/tiny/head/seeds/7/cases/%u/by-seed.tsv", id)));
        ck_assert(!exists(at(CELL "input.smt2", id)));
        assert_content(at("mnt/tiny/commits/broken/cases/%u/by-seed.tsv", id), BY_SEED);
        world_end();
}
END_TEST

/* A seed that came since is seen by who reads the file again, and its time says so. */
START_TEST(test_by_seed_grows)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "(set-info :do \"print sat\")\n" FORMULA);
        for (unsigned seed = 1; seed <= 3; seed++) {
                assert_content(at(SCRAMBLED "result", seed, id), "sat\n");
                assert_shell("wc -l <mnt/tiny/head/cases/%u/by-seed.tsv", id);
                ck_assert_str_eq(shell_output, at("%u\n", seed + 1));
        }
        assert_shell("[ $(stat -c %%Y mnt/tiny/head/cases/%u/by-seed.tsv) -ge $(stat -c %%Y mnt/tiny/head/cases/%u/time) ]", id, id);
        world_end();
}
END_TEST

/* -- time limits, and the facts that answer them -- */

START_TEST(test_other_limits)
{
        struct world w = {.settings = "sandbox = none\n"};
        unsigned solved, slow;
        uint64_t started;

        world_make(&w);
        mount_start("mnt", NULL);
        solved = case_add("solved.smt2", "; do count %s\n; do sleep 800\n; do print sat\n", absolute("solved"));
        slow = case_add("slow.smt2", "; do count %s\n; do sleep 2500\n; do print unsat\n", absolute("slow"));
#define LIMIT "mnt/tiny/head/timeout/%s/cases/%u/%s"
        /* what was solved in time answers every limit that it kept to */
        assert_content(at(LIMIT, "5s", solved, "result"), "sat\n");
        started = counter("mnt", "jobs_started_total");
        assert_state(at(LIMIT, "20m", solved, "time"), "ready");
        assert_content(at(LIMIT, "20m", solved, "result"), "sat\n");
        assert_content(at(CELL "result", solved), "sat\n");
        assert_content("solved", ".");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), started);
        /* and no other; a program that waits for a core begins late */
        assert_state(at(LIMIT, "400ms", solved, "time"), "cold");
        assert_content(at(LIMIT, "400ms", solved, "result"), "timeout\n");
        assert_content(at(LIMIT, "400ms", solved, "time"), "0.400000\n");
        assert_content("solved", "..");
        assert_content(at(CELL "result", solved), "sat\n");
        /* a timeout answers each shorter limit, and no longer one */
        assert_content(at(LIMIT, "600ms", slow, "result"), "timeout\n");
        assert_state(at(LIMIT, "500ms", slow, "time"), "ready");
        assert_content(at(LIMIT, "500ms", slow, "result"), "timeout\n");
        assert_content(at(LIMIT, "500ms", slow, "time"), "0.500000\n");
        assert_content("slow", ".");
        assert_state(at(LIMIT, "30s", slow, "time"), "cold");
        assert_content(at(LIMIT, "30s", slow, "result"), "unsat\n");
        assert_content("slow", "..");
        assert_content(at(LIMIT, "600ms", slow, "result"), "timeout\n"); /* what was measured under a limit stays under it */
        world_end();
}
END_TEST

/* A limit has one folder, whatever way it is written. */
START_TEST(test_spellings_of_limits)
{
        cleanup_free char *target = NULL;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at(LIMIT, "120s", id, "result"), "sat\n");
        assert_content(at(LIMIT, "2m", id, "result"), "sat\n");
        assert_shell("ls mnt/tiny/head/timeout");
        ck_assert_str_eq(shell_output, "2m\n");
        target = read_link("mnt/tiny/head/timeout/120s");
        ck_assert_str_eq(target, "2m");
        assert_shell("ls mnt/tiny/cached/HEAD/timeout/2m/cases");
        ck_assert_str_eq(shell_output, at("%u\n", id));
        world_end();
}
END_TEST

/* A memory limit is part of it: what ran out under a small one says nothing of a larger one. */
START_TEST(test_a_larger_memory_limit)
{
        unsigned id;
        struct mount *m;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do allocate 700\n; do print sat\n");
        assert_content(at(CELL "result", id), "memout\n");
        mount_stop(m);
        assert_shell("git config -f store/config solver.tiny.memory 2g");
        mount_start("mnt", NULL);
        assert_content(at(CELL "result", id), "sat\n");
        world_end();
}
END_TEST

/* -- samples -- */

START_TEST(test_samples)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = "samples = 5\n"};
        json_t *j, *samples;
        unsigned id, longer;
        double median;
        size_t n, counted = 0, faster = 0, slower = 0;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("short.smt2", "; do count %s\n; do now\n; do print sat\n", absolute("count"));
        longer = case_add("fails.smt2", "; do print (error \"x\")\n");
        median = number(at(CELL "time", id));
        j = json_of(at(CELL "run.json", id));
        samples = json_object_get(j, "samples");
        n = json_array_size(samples);
        ck_assert_uint_ge(n, 2); /* a short run is measured more than once */
        ck_assert_int_eq(read_whole("count", NULL), (ssize_t)n);
        for (size_t i = 0; i < n; i++) {
                const json_t *wall = json_object_get(json_array_get(samples, i), "time");

                ck_assert(json_is_number(wall));
                if (json_is_true(json_object_get(json_array_get(samples, i), "disturbed")))
                        continue;
                counted++;
                faster += json_number_value(wall) < median - 1e-6;
                slower += json_number_value(wall) > median + 1e-6;
        }
        ck_assert(json_is_true(json_object_get(j, "disturbed")) == (counted == 0));
        ck_assert_uint_le(faster, counted == 0 ? 0 : (counted - 1) / 2); /* the lower median */
        ck_assert_uint_le(slower, counted / 2);
        json_decref(j);
        assert_content(at(CELL "result", longer), "error\n");
        assert_shell("test $(grep -c now: " CELL "stdout) = 1", id); /* of one sample, not of all */
        world_end();
}
END_TEST

/* -- one value of several measurements -- */

static int compare_numbers(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Whoever measures a cell again, its value is the lower median, on every page, and its time moves with it. */
START_TEST(test_value_is_the_median)
{
        enum { RUNS = 8 };
        double seconds[1 + RUNS], first;
        const char *median;
        json_t *j, *samples;
        struct stat old, new;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        faults_begin();
        fault_set("measure.sample", "fail ENODATA"); /* nothing is disturbed */
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        seconds[0] = first = number(at(CELL "time", id));
        ck_assert_int_eq(stat(at(CELL "time", id), &old), 0);
        await(time(NULL) > old.st_mtime);
        assert_shell("solverfs -q noise tiny HEAD %u --runs 8 --json >noise", id);
        j = json_of("noise");
        samples = json_object_get(json_array_get(json_object_get(j, "samples"), 0), "seconds");
        ck_assert_uint_eq(json_array_size(samples), RUNS);
        for (size_t i = 0; i < RUNS; i++)
                seconds[1 + i] = json_number_value(json_array_get(samples, i));
        json_decref(j);
        qsort(seconds, 1 + RUNS, sizeof(*seconds), compare_numbers);
        median = at("%.6f", seconds[RUNS / 2]); /* as files have it */
        await(shell("[ \"$(cat " CELL "time)\" = %s ]", id, median) == 0);
        ck_assert_int_eq(stat(at(CELL "time", id), &new), 0);
        if (first == seconds[RUNS / 2])
                ck_assert_int_ge(new.st_mtime, old.st_mtime); /* it may have been another one for a while */
        else
                ck_assert_int_gt(new.st_mtime, old.st_mtime);
        assert_shell("cut -f 4 mnt/tiny/cases/%u/history.tsv | grep -qx %s", id, median);
        assert_shell("solverfs -q run tiny HEAD %u | cut -f 3 | grep -qx %s", id, median);
        world_end();
}
END_TEST

/* -- measuring again -- */

START_TEST(test_again)
{
        cleanup_free char *before = NULL, *after = NULL;
        struct stat old, other_old, new;
        unsigned id, other;

        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("second", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        other = case_add("b.smt2", "; do now\n; do print sat\n");
        before = content(at(CELL "stdout", id));
        free(content(at(CELL "stdout", other)));
        assert_shell("cmp " CELL "stdout second/tiny/head/cases/%u/stdout && cp " CELL "stdout other", id, id, other);
        ck_assert_int_eq(stat(at(CELL "stdout", id), &old), 0);
        ck_assert_int_eq(stat(at(CELL "stdout", other), &other_old), 0);
        await(time(NULL) > old.st_mtime);
        measure_until_it_moves(id);
        await(stat(at(CELL "stdout", id), &new) == 0 && new.st_mtime > old.st_mtime);
        after = content(at(CELL "stdout", id));
        ck_assert_str_ne(after, before);
        ck_assert_uint_eq(strlen(after), (size_t) new.st_size);
        await(shell("cmp " CELL "stdout second/tiny/head/cases/%u/stdout", id, id) == 0);
        assert_shell("cmp other " CELL "stdout", other); /* only what was asked for */
        ck_assert_int_eq(stat(at(CELL "stdout", other), &new), 0);
        ck_assert_int_eq(new.st_mtime, other_old.st_mtime);
        world_end();
}
END_TEST

/* All of one run: every line is the first. Returns it, in the ring of at(). */
static const char *assert_one_value(const char *what, const char *text, size_t size)
{
        size_t line = strcspn(text, "\n") + 1;

        ck_assert_msg(size > 0 && size % line == 0, "%s: %zu bytes, in lines of %zu", what, size, line);
        for (size_t i = 0; i < size; i += line)
                ck_assert_msg(memcmp(text, text + i, line) == 0, "%s: a mixture: at %zu of %zu '%.*s', not '%.*s'", what, i, size,
                              (int)line, text + i, (int)line, text);
        return at("%.*s", (int)line, text);
}

struct held { /* a file that is held open, half read, mapped, or only opened */
        int fd;
        char *text, *map;
        size_t have, size;
};

static void hold_path(struct held *h, const char *path)
{
        struct stat st;

        *h = (struct held){.fd = open(path, O_RDONLY | O_CLOEXEC)};
        ck_assert_int_ge(h->fd, 0);
        ck_assert_int_eq(fstat(h->fd, &st), 0);
        h->size = (size_t)st.st_size;
        h->text = malloc(h->size + (1 << 20));
}

static void read_up_to(struct held *h, size_t much)
{
        ssize_t n = 1;

        while (h->have < much && (n = read(h->fd, h->text + h->have, MIN(much - h->have, (size_t)1 << 16))) > 0)
                h->have += (size_t)n;
        ck_assert_int_ge(n, 0);
}

static void map(struct held *h)
{
        h->map = mmap(NULL, h->size, PROT_READ, MAP_SHARED, h->fd, 0);
        ck_assert_ptr_ne(h->map, MAP_FAILED);
        ck_assert_int_eq(h->map[0], 's'); /* the first page is there */
}

/* It is what it was when it was opened, to the end and with its size; gives it back. */
static void let_go(struct held *h, const char *what, const char *expected)
{
        struct stat st;

        ck_assert_int_eq(fstat(h->fd, &st), 0);
        ck_assert_msg((size_t)st.st_size == h->size, "%s: had %zu bytes, has %zu", what, h->size, (size_t)st.st_size);
        read_up_to(h, h->size + (1 << 20));
        ck_assert_msg(h->have == h->size, "%s: %zu bytes, not %zu", what, h->have, h->size);
        ck_assert_str_eq(assert_one_value(what, h->text, h->size), expected);
        if (h->map) {
                ck_assert_str_eq(assert_one_value(what, h->map, h->size), expected);
                ck_assert_int_eq(munmap(h->map, h->size), 0);
        }
        close(h->fd);
        free(h->text);
}

/* What somebody reads is of one value to the end, whatever is measured and read meanwhile; who opens it behind that has the new one. */
START_TEST(test_again_never_mixes)
{
        struct held half[3], mapped[3], opened[3];
        const char *was[4];
        struct stat st;
        ino_t ino = 0;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do stamp 30000\n");
        for (int i = 0; i < 4; i++) {
                cleanup_free char *text = NULL;

                if (i > 0)
                        measure_until_it_moves(id);
                for (int k = 0; k < 2; k++) { /* by a process of its own, the second time from what the kernel keeps */
                        assert_shell("cat " CELL "stdout > copy", id);
                        free(text);
                        text = content("copy");
                        was[i] = assert_one_value("anew", text, strlen(text));
                }
                assert_shell("tail -c 100 " CELL "stdout > tail && tail -c 100 copy | cmp - tail", id);
                ck_assert(i == 0 || strcmp(was[i], was[i - 1]) != 0);
                ck_assert_int_eq(stat(at(CELL "stdout", id), &st), 0);
                ck_assert_uint_eq((size_t)st.st_size, strlen(text));
                ck_assert(ino == 0 || ino == st.st_ino);
                ino = st.st_ino;
                if (i == 3)
                        break;
                hold_path(&half[i], at(CELL "stdout", id));
                read_up_to(&half[i], half[i].size / 2);
                hold_path(&mapped[i], at(CELL "stdout", id));
                map(&mapped[i]);
                hold_path(&opened[i], at(CELL "stdout", id));
        }
        for (int i = 0; i < 3; i++) {
                let_go(&half[i], "half read", was[i]);
                let_go(&mapped[i], "mapped", was[i]);
                let_go(&opened[i], "only opened", was[i]);
        }
        assert_shell("cat " CELL "stdout > again && cmp copy again && rm again", id);
        world_end();
}
END_TEST

/* Readers all the while: each of them is given one value. */
START_TEST(test_again_under_a_crowd)
{
        pid_t readers[4];
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do stamp 20000\n");
        free(content(at(CELL "stdout", id)));
        for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
                readers[i] = shell_start("n=0; while ! [ -e enough ]; do cat " CELL "stdout > crowd.%zu && "
                                         "[ \"$(sort -u crowd.%zu | wc -l)\" = 1 ] || exit 1; n=$((n + 1)); sleep .01; done; [ $n -gt 0 ]",
                                         id, i, i);
        for (int i = 0; i < 2; i++)
                measure_until_it_moves(id);
        write_whole("enough", "");
        for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        world_end();
}
END_TEST

/* A fact of one time limit answers under another; its time and size are seen to be others there, too, without an open. */
START_TEST(test_again_under_another_limit)
{
        static const char other[] = "mnt/tiny/commits/HEAD/timeout/1m/cases/%u/stdout";
        struct stat old, new;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        assert_shell("cmp " CELL "stdout mnt/tiny/commits/HEAD/timeout/1m/cases/%u/stdout", id, id);
        ck_assert_int_eq(stat(at(other, id), &old), 0);
        await(time(NULL) > old.st_mtime);
        assert_shell("solverfs run tiny HEAD %u --again", id);
        await(stat(at(other, id), &new) == 0 && new.st_mtime > old.st_mtime);
        assert_shell("cmp " CELL "stdout mnt/tiny/commits/HEAD/timeout/1m/cases/%u/stdout", id, id);
        world_end();
}
END_TEST

/* -- built again -- */

static void say(const char *line, bool broken)
{
        write_whole("say", line);
        ck_assert_int_eq(broken ? creat("broken", 0600) < 0 : unlink("broken"), 0);
}

/* What a build done anew has changed is seen by who opens it then: nothing of before, and no mixture of the two. Here the machine lacked
 * something; then the program is another one of the same size. */
START_TEST(test_built_again)
{
        struct world w = {.settings = "sandbox = none\n",
                          .recipe = at("samples = 1\nbuild = \"cat %s >>src/version; cat %s; test ! -e %s\"\n",
                                       recipe_word("say"), recipe_word("say"), recipe_word("broken"))};
        static const char log_is[] = "solverfs build --log tiny HEAD | cmp - %s/build/log";
        struct stat st;
        unsigned id;

        say("one\n", true);
        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        for (int i = 0; i < 2; i++) {
                assert_content(at(CELL "result", id), "unbuildable\n");
                ck_assert_int_eq(open_error(at(CELL "time", id)), ENODATA);
                assert_shell("grep -x one mnt/tiny/head/build/log");
        }
        mount_start("done", "cached");
        assert_shell("cd done/tiny/cached/HEAD && cat build/log && cat cases/%u/result && ls cases/%u", id, id);
        ck_assert_ptr_nonnull(strstr(shell_output, "\nunbuildable\nresult\n"));
        say("two\n", false);
        assert_shell("solverfs build tiny HEAD --again");
        assert_shell(log_is, "mnt/tiny/head");
        assert_content(at(CELL "result", id), "sat\n");
        ck_assert_int_eq(stat(at(CELL "result", id), &st), 0);
        ck_assert_int_eq(st.st_size, 4);
        await(shell("[ \"$(cat done/tiny/cached/HEAD/cases/%u/result)\" = sat ]", id) == 0);
        await(shell("ls done/tiny/cached/HEAD/cases/%u | grep -qx time", id) == 0);
        await(shell(log_is, "done/tiny/cached/HEAD") == 0);
        for (int i = 0; i < 2; i++) {
                assert_shell("cp -f mnt/tiny/head/bin/tiny two && tail -c 4 two | grep -x two && two=$(stat -c %%s two) && "
                             "test $two = $(stat -c %%s mnt/tiny/head/bin/tiny)");
                assert_shell("cmp two done/tiny/cached/HEAD/bin/tiny");
        }
        write_whole("say", "six\n");
        assert_shell("solverfs build tiny HEAD --again");
        assert_shell("cp mnt/tiny/head/bin/tiny six && tail -c 4 six | grep -x six && ! cmp -s two six");
        assert_shell(log_is, "mnt/tiny/head");
        await(shell("cmp six done/tiny/cached/HEAD/bin/tiny") == 0);
        world_end();
}
END_TEST

/* -- another recipe -- */

static void edit_recipe(const char *run)
{
        assert_shell("git config -f store/config solver.tiny.run '%s'", run);
        await(shell("grep -q -F '%s' mnt/tiny/config", run) == 0);
}

static off_t size_of(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? -errno : st.st_size;
}

/* What somebody holds when the kernel is told cannot be given up then. */
START_TEST(test_a_recipe_edited_under_a_hand)
{
        unsigned id;
        int hand;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_shell("cat " CELL "stdout " CELL "time > old && stat " CELL "*", id, id, id);
        hand = open(at(CELL "stdout", id), O_PATH | O_CLOEXEC);
        ck_assert_int_ge(hand, 0);
        edit_recipe("{bin} --variant=other {seed} {case}");
        await(size_of(at(CELL "time", id)) == 4096); /* it is cold: so the kernel was told */
        close(hand);
        await(size_of(at(CELL "stdout", id)) == 4096);
        world_end();
}
END_TEST

/* What was measured under the old recipe is not what there is under the new one, whatever the kernel has kept of it. */
START_TEST(test_an_edited_recipe)
{
        struct held held;
        struct stat st;
        off_t size = 0;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do stamp 5000\n; do variant\n; do print sat\n");
        assert_shell("cat " CELL "stdout > old && cat " CELL "* > /dev/null && grep -q 'variant: none' old", id, id);
        assert_shell("tail -n 2 " CELL "stdout && stat " CELL "stdout", id, id);
        for (int i = 0; i < 2; i++) {
                edit_recipe("{bin} --variant=other {seed} {case}");
                assert_state(at(CELL "stdout", id), i == 0 ? "cold" : "ready");
                await(stat(at(CELL "stdout", id), &st) == 0 && st.st_size == (i == 0 ? 4096 : size)); /* nobody has opened it */
                assert_shell("cat " CELL "stdout > new && grep -q 'variant: other' new", id);
                ck_assert_int_eq(stat("new", &st), 0);
                size = st.st_size;
                assert_shell("[ \"$(stat -c %%s " CELL
                             "stdout)\" = \"$(stat -c %%s new)\" ] && tail -n 3 new > x && tail -n 3 " CELL "stdout | cmp - x",
                             id, id);
                assert_shell("[ \"$(sort -u new | wc -l)\" = 3 ] && [ $(cat " CELL "time) != '' ]", id);
                edit_recipe("{bin} {seed} {case}");
                assert_shell("cat " CELL "stdout | cmp - old && [ \"$(stat -c %%s " CELL "stdout)\" = \"$(stat -c %%s old)\" ]",
                             id, id);
        }
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 3); /* a build and two runs */
        hold_path(&held, at(CELL "stdout", id));                         /* and who reads on reads what was */
        read_up_to(&held, 100);
        edit_recipe("{bin} --variant=other {seed} {case}");
        assert_shell("cat " CELL "stdout | cmp - new", id);
        read_up_to(&held, held.size + 1);
        held.text[held.have] = '\0';
        write_whole("read", held.text);
        assert_shell("cmp read old");
        close(held.fd);
        free(held.text);
        world_end();
}
END_TEST

/* What the recipe's patterns find in what the solver prints. */
START_TEST(test_effort)
{
        unsigned id, none;

        world_make(&(struct world){.recipe = "effort = \"conflicts: ([0-9]+)\"\neffort = \"load ([0-9.]+)\"\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print conflicts: 7\n; do print conflicts: 1234\n; do print load 0.5\n; do print sat\n");
        none = case_add("b.smt2", "; do print sat\n");
        assert_content(at("mnt/tiny/head/cases/%u/effort", id), "1234\tconflicts\n0.5\tload\n");
        assert_content(at("mnt/tiny/head/cases/%u/effort", none), "-\n");
        assert_content(at("mnt/tiny/cached/HEAD/cases/%u/effort", id), "1234\tconflicts\n0.5\tload\n");
        assert_content(at("mnt/tiny/head/timeout/30s/cases/%u/effort", id), "1234\tconflicts\n0.5\tload\n");
        assert_shell("solverfs run -q --print effort tiny HEAD %u | cmp - mnt/tiny/head/cases/%u/effort", id, id);
        world_end();
}
END_TEST

START_TEST(test_no_effort)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at("mnt/tiny/head/cases/%u/result", id), "sat\n");
        ck_assert_int_eq(open_error(at("mnt/tiny/head/cases/%u/effort", id)), ENOENT);
        assert_shell("ls mnt/tiny/head/cases/%u mnt/tiny/cached/HEAD/cases/%u | { ! grep effort; }", id, id);
        world_end();
}
END_TEST

/* Every command takes a case's name, and so does the mount. */
START_TEST(test_cases_by_name)
{
        static const char *const folders[] = {"commits/HEAD/cases",     "head/timeout/30s/cases", "head/seeds/4/cases",
                                              "head/seeds/99999/cases", "cached/HEAD/cases",      "cases"};

        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("first.smt2", "; do print unsat\n");
        case_add("a.smt2", "; do print sat\n");
        assert_shell("echo 'p cnf 1 0' >d.cnf && solverfs case add d.cnf");
        assert_content("mnt/tiny/commits/HEAD/cases/a.smt2/result", "sat\n");
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                cleanup_free char *target = read_link(at("mnt/tiny/%s/a.smt2", folders[i]));

                ck_assert_str_eq(target, "2");
                ck_assert_int_eq(open_error(at("mnt/tiny/%s/d.cnf", folders[i])), ENOENT); /* it takes no DIMACS */
                assert_shell("ls mnt/tiny/%s | { ! grep smt2; }", folders[i]);
        }
        ck_assert_int_eq(open_error("mnt/tiny/cached/HEAD/cases/first.smt2"), ENOENT); /* nothing is known of it */
        assert_shell("solverfs case remove 2");
        await(open_error("mnt/tiny/commits/HEAD/cases/a.smt2") == ENOENT);
        world_end();
}
END_TEST

MOUNT_SUITE("mount_runs", {test_a_run}, {test_effort}, {test_no_effort}, {test_cases_by_name},
            {test_outputs_find_each_other, NEEDS_SANDBOX}, {test_a_name_that_is_no_text}, {test_results},
            {test_a_wrong_answer_is_flagged}, {test_time_limit}, {test_cpu_limit}, {test_memory_limit}, {test_output_limit},
            {test_process_limit}, {test_other_process_limits}, {test_build_limit}, {test_seeds}, {test_scrambled}, {test_scrambled_again}, {test_scrambled_damaged}, {test_by_seed}, {test_by_seed_grows}, {test_other_limits},
            {test_spellings_of_limits}, {test_a_larger_memory_limit}, {test_samples}, {test_value_is_the_median}, {test_again},
            {test_again_never_mixes}, {test_again_under_a_crowd}, {test_again_under_another_limit}, {test_built_again},
            {test_an_edited_recipe}, {test_a_recipe_edited_under_a_hand})
