#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "core/recipe/recipe.h"

#define MINIMAL "[solver]\n    build = make\n    output = s\n    run = {bin} {case}\n"

static struct recipe **list;
static size_t n_list;

static void done(void)
{
        recipe_list_free(list, n_list);
        list = NULL;
        n_list = 0;
}

static void parse(const char *text)
{
        done();
        assert_ok(recipe_parse(text, "t.recipe", "s", &list, &n_list));
}

/* The text is refused, and the sentence begins with the place and holds `words`. */
static void refused(const char *text, const char *place, const char *words)
{
        const char *message;
        int r;

        done();
        r = recipe_parse(text, "t.recipe", "s", &list, &n_list);
        ck_assert_msg(r == -EINVAL, "gave %d for: %s", r, text);
        message = error_message(r);
        ck_assert_msg(strncmp(message, place, strlen(place)) == 0, "'%s' does not begin with '%s'", message, place);
        ck_assert_msg(strstr(message, words) != NULL, "'%s' does not say '%s'", message, words);
}

/* The same with a line put behind a sound recipe. */
static void refused_line(const char *line, const char *words)
{
        char text[1024];

        ck_assert(snprintf(text, sizeof(text), "%s    %s\n", MINIMAL, line) < (int)sizeof(text));
        refused(text, "t.recipe:5: ", words);
}

static void check_command(const struct recipe *r, bool has_seed, uint64_t seed, const char *expected)
{
        cleanup_buffer struct buffer b = {0};
        char **argv;

        assert_ok(recipe_command(r, "/solver/s", "/case/input.smt2", has_seed, seed, &r->limits, &argv));
        for (size_t i = 0; argv[i]; i++)
                buffer_addf(&b, "%s[%s]", i > 0 ? " " : "", argv[i]);
        ck_assert_str_eq(b.data, expected);
        strings_free(argv);
}

static int read_config(const char *path, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_blob struct blob text = {0};

        assert_ok(read_file(path, CONFIG_SIZE_MAX, &text));
        return recipe_parse_config(SLICE(text.data, text.size), path, ret_list, ret_n);
}

START_TEST(test_defaults)
{
        const struct recipe *r;

        parse(MINIMAL);
        ck_assert_uint_eq(n_list, 1);
        r = list[0];
        ck_assert_str_eq(r->name, "s");
        ck_assert_ptr_null(r->base);
        ck_assert_int_eq(r->format, FORMAT_SMT2);
        ck_assert_ptr_null(r->paths[0]);
        ck_assert_str_eq(r->build[0], "make");
        ck_assert_str_eq(r->outputs[0], "s");
        ck_assert_str_eq(r->dialect, "2.6");
        ck_assert_uint_eq(r->limits.wall_ns, 20 * NSEC_PER_SEC);
        ck_assert_uint_eq(r->limits.cpu_ns, 20 * NSEC_PER_SEC);
        ck_assert_uint_eq(r->limits.memory, UINT64_C(4) << 30);
        ck_assert_uint_eq(r->limits.output, 16 << 20);
        ck_assert_uint_eq(r->limits.processes, 64);
        ck_assert_uint_eq(r->limits.stack, 8 << 20);
        ck_assert_uint_eq(r->build_limits.wall_ns, 3600 * NSEC_PER_SEC);
        ck_assert_uint_eq(r->build_limits.memory, UINT64_C(16) << 30);
        ck_assert_uint_eq(r->build_limits.processes, 4096);
        ck_assert_uint_eq(r->samples, 5);
        done();
}
END_TEST

START_TEST(test_lost_quotes)
{
        static const char *const lost[] = {"make F=\"-O2 -g\"", "\"./con fig\" -x", "\"a\"\"b\"", "\"a\" b # c"};
        static const char *const kept[] = {"\"make F='-O2 -g'\"", "make 'F=-O2 -g'", "make F=\\\"-O2\\\"", "\"a\" # c", "\"./a \\\"b\\\"\""};
        static const char *const keys[] = {"run = {bin} \"-x y\" {case}", "arguments = -x \"a b\""};
        char text[256];

        for (size_t i = 0; i < ARRAY_SIZE(lost) + ARRAY_SIZE(kept); i++) {
                bool is_lost = i < ARRAY_SIZE(lost);

                snprintf(text, sizeof(text), "[solver]\noutput = s\nrun = {bin} {case}\nbuild = %s\n",
                         is_lost ? lost[i] : kept[i - ARRAY_SIZE(lost)]);
                if (is_lost)
                        refused(text, "t.recipe:4: ", "takes these double quotes away");
                else
                        parse(text);
        }
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                snprintf(text, sizeof(text), "[solver]\noutput = s\nbuild = make\n%s%s\n", i > 0 ? "run = {bin} {case}\n" : "", keys[i]);
                refused(text, i > 0 ? "t.recipe:5: " : "t.recipe:4: ", "write single quotes");
        }
        parse("[solver]\noutput = s\nbuild = make\nrun = {bin} {case}\nenvironment = F=\"-O2 -g\"\n");
        ck_assert_str_eq(list[0]->environment[0], "F=-O2 -g");
        done();
}
END_TEST

START_TEST(test_every_key)
{
        const struct recipe *r;

        parse("[solver]\n"
              "format = cnf  # which cases\n"
              "paths = src\npaths = \"a b\"\n"
              "build = \"./configure; make\"\n"
              "build = make \\\n  install\n"
              "incremental = true\nclean = Makefile\nclean = mk\n"
              "output = bin/s\noutput = bin/helper\n"
              "run = {bin} {seed} --limit={timeout} {case}\n"
              "arguments = -x\n"
              "seed = --seed={n}\n"
              "effort = \"a +([0-9]+)\"\neffort = \"b \\\\. ([0-9]+)\"\n"
              "timeout = 1.5m\nmemory = 512M\noutput-limit = 1k\nprocesses = 7\nstack = 64m\nsamples = 1\n"
              "build-timeout = 2h\nbuild-memory = 1g\nbuild-processes = 9\n"
              "environment = A=b c\n");
        r = list[0];
        ck_assert_int_eq(r->format, FORMAT_CNF);
        ck_assert_str_eq(r->paths[1], "a b");
        ck_assert_str_eq(r->build[0], "./configure; make");
        ck_assert_str_eq(r->build[1], "make   install");
        ck_assert_str_eq(r->sources[1], "a b");
        ck_assert_str_eq(r->sources[2], ".gitattributes");
        ck_assert_ptr_null(r->sources[3]);
        ck_assert_str_eq(r->outputs[1], "bin/helper");
        ck_assert_str_eq(r->effort[1], "b \\. ([0-9]+)");
        ck_assert_uint_eq(r->limits.wall_ns, 90 * NSEC_PER_SEC);
        ck_assert_uint_eq(r->limits.cpu_ns, 90 * NSEC_PER_SEC); /* follows the timeout */
        ck_assert_uint_eq(r->limits.memory, 512 << 20);
        ck_assert_uint_eq(r->limits.output, 1024);
        ck_assert_uint_eq(r->limits.processes, 7);
        ck_assert_uint_eq(r->limits.stack, 64 << 20);
        ck_assert_uint_eq(r->samples, 1);
        ck_assert_uint_eq(r->build_limits.wall_ns, 7200 * NSEC_PER_SEC);
        ck_assert_uint_eq(r->build_limits.memory, 1 << 30);
        ck_assert_uint_eq(r->build_limits.processes, 9);
        ck_assert_str_eq(r->environment[0], "A=b c");
        done();
}
END_TEST

START_TEST(test_variants_inherit)
{
        struct digest a, b;

        parse("[solver]\nbuild = make\noutput = s\nrun = {bin} {seed} {case}\nseed = -s {n}\neffort = (1)\ntimeout = 5s\ntrace = -v 'a b'\n"
              "[variant \"t\"]\narguments = -t 'x y'\ntimeout = 7s\neffort = (2)\n"
              "[variant \"u\"]\nrun = {bin} -u {case} {seed}\ncputime = 1s\n");
        ck_assert_uint_eq(n_list, 3);
        ck_assert_str_eq(list[1]->name, "t");
        ck_assert_str_eq(list[1]->base, "s");
        ck_assert_uint_eq(list[1]->limits.wall_ns, 7 * NSEC_PER_SEC);
        ck_assert_uint_eq(list[1]->limits.cpu_ns, 7 * NSEC_PER_SEC);
        ck_assert_uint_eq(list[2]->limits.wall_ns, 5 * NSEC_PER_SEC);
        ck_assert_uint_eq(list[2]->limits.cpu_ns, NSEC_PER_SEC);
        ck_assert_str_eq(list[1]->effort[0], "(2)"); /* a list takes the place of the solver's */
        ck_assert_ptr_null(list[1]->effort[1]);
        ck_assert_str_eq(list[2]->effort[0], "(1)");
        ck_assert_str_eq(list[1]->trace, "-v 'a b'"); /* and no run has it */
        recipe_build_digest(list[0], &a);
        recipe_build_digest(list[1], &b);
        ck_assert(digest_equal(&a, &b));
        check_command(list[0], true, 3, "[/solver/s] [-s] [3] [/case/input.smt2]");
        check_command(list[1], true, 3, "[/solver/s] [-s] [3] [-t] [x y] [/case/input.smt2]");
        check_command(list[2], false, 3, "[/solver/s] [-u] [/case/input.smt2]");
        done();
}
END_TEST

START_TEST(test_standard_input)
{
        parse("[solver]\nbuild = make\noutput = s\nrun = {bin} {seed} <{case} --in\nseed = -s {n}\narguments = -t\n");
        ck_assert(recipe_reads_input(list[0]));
        check_command(list[0], true, 3, "[/solver/s] [-s] [3] [-t] [--in]");
        done();
        parse("[solver]\nbuild = make\noutput = s\nrun = {bin} {case}\n");
        ck_assert(!recipe_reads_input(list[0]));
        done();
}
END_TEST

START_TEST(test_commands)
{
        parse("[solver]\nbuild = make\noutput = s\nrun = \"'{bin}' a\\\\ b 'c \\\"d' '' {seed} -T:{timeout} -m={memory} "
              "--in={case} {x y} end\"\n"
              "seed = \"a={n} 'b {n}'\"\narguments = \"-T {timeout}\"\ntimeout = 1500ms\nmemory = 5m\n");
        check_command(list[0], false, 0,
                      "[/solver/s] [a b] [c \"d] [] [-T:2] [-m=5] [-T] [2] [--in=/case/input.smt2] [{x] [y}] [end]");
        check_command(list[0], true, UINT64_MAX,
                      "[/solver/s] [a b] [c \"d] [] [a=18446744073709551615] [b 18446744073709551615] [-T:2] [-m=5] [-T] [2] "
                      "[--in=/case/input.smt2] [{x] [y}] [end]");
        done();
}
END_TEST

static void run_digest(const char *more, bool has_seed, uint64_t seed, uint64_t wall_ns, struct digest *ret)
{
        char text[1024];
        struct recipe_limits limits;

        snprintf(text, sizeof(text), "[solver]\nbuild = make\noutput = s\n%s\n", more);
        parse(text);
        limits = list[0]->limits;
        limits.wall_ns = wall_ns;
        recipe_run_digest(list[0], has_seed, seed, &limits, ret);
        done();
}

START_TEST(test_run_digest_holds_what_matters)
{
        const char *plain = "run = {bin} {case}", *seeded = "run = {bin} {seed} {case}\nseed = -s {n}",
                   *timed = "run = {bin} -T {timeout} {case}";
        struct digest a, b;

        run_digest(plain, false, 0, 1, &a);
        run_digest(plain, false, 0, 2, &b);
        ck_assert(digest_equal(&a, &b)); /* limits are not part of what a run is … */
        run_digest(timed, false, 0, 1, &a);
        run_digest(timed, false, 0, 2, &b);
        ck_assert(!digest_equal(&a, &b)); /* … unless the solver is told */
        run_digest(seeded, false, 0, 1, &a);
        run_digest(seeded, true, 0, 1, &b);
        ck_assert(!digest_equal(&a, &b));
        run_digest(seeded, true, 1, 1, &a);
        ck_assert(!digest_equal(&a, &b));
        run_digest(plain, false, 0, 1, &a);
        run_digest("run = {bin} {case}\narguments = -x", false, 0, 1, &b);
        ck_assert(!digest_equal(&a, &b));
        run_digest("run = {bin} {case}\nsamples = 2\neffort = (1)", false, 0, 1, &b);
        ck_assert(digest_equal(&a, &b));
}
END_TEST

START_TEST(test_build_digest_holds_what_matters)
{
        static const char *const changes[] = {"build = make all", "output = t", "environment = A=1", "paths = src"};
        struct digest plain, other;

        parse(MINIMAL);
        recipe_build_digest(list[0], &plain);
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
                char text[512];

                snprintf(text, sizeof(text), MINIMAL "%s\n", changes[i]);
                parse(text);
                recipe_build_digest(list[0], &other);
                ck_assert_msg(!digest_equal(&plain, &other), "%s", changes[i]);
        }
        parse(MINIMAL "timeout = 3s\nbuild-timeout = 1h\nincremental = true\n");
        recipe_build_digest(list[0], &other);
        ck_assert(digest_equal(&plain, &other));
        done();
}
END_TEST

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ERAS                                                                                                                       \
        MINIMAL "samples = 3\n[era \"..v1\"]\n# before CMake\nbuild = ./configure\nbuild = make old\noutput = bin/t\n"               \
                "[binary \"v0\"]\nfile = /opt/s\nsha256 = " SHA "\n[variant \"v\"]\narguments = -v\n[era \"v2..\"]\npaths = src\n" \
                "[binary \"v9\"]\nfile = https://example.org/s.zip\nsha256 = " SHA "\noutput = x/s\n"

START_TEST(test_eras_take_the_rest_from_the_solver)
{
        const struct recipe *r;

        parse(ERAS);
        ck_assert_uint_eq(n_list, 2);
        r = list[0];
        ck_assert_uint_eq(r->n_eras, 4); /* binaries first */
        ck_assert_str_eq(r->eras[0]->range, "v0");
        ck_assert_str_eq(r->eras[0]->outputs[0], "s");
        ck_assert(!r->eras[0]->is_archive && r->eras[1]->is_archive);
        ck_assert_str_eq(r->eras[1]->outputs[0], "x/s");
        ck_assert_str_eq(r->eras[2]->range, "..v1");
        ck_assert_uint_eq(strings_count(r->eras[2]->build), 2);
        ck_assert_str_eq(r->eras[2]->outputs[0], "bin/t");
        ck_assert_str_eq(r->eras[2]->run, "{bin} {case}");
        ck_assert_uint_eq(r->eras[2]->samples, 3);
        ck_assert_str_eq(r->eras[3]->build[0], "make");
        ck_assert_str_eq(r->eras[3]->sources[0], "src");
        ck_assert_uint_eq(r->eras[3]->n_eras, 0);
        for (size_t i = 0; i < 4; i++)
                ck_assert_ptr_eq(list[1]->eras[i], r->eras[i]); /* a variant shares the builds */
        done();
}
END_TEST

START_TEST(test_an_era_does_not_change_other_builds)
{
        struct digest plain, all, other;

        parse(MINIMAL);
        recipe_build_digest(list[0], &plain);
        recipe_eras_digest(list[0], &all);
        ck_assert(digest_equal(&plain, &all));
        parse(ERAS);
        recipe_build_digest(list[0], &other);
        ck_assert(digest_equal(&plain, &other));
        recipe_eras_digest(list[0], &other);
        ck_assert(!digest_equal(&plain, &other));
        for (size_t i = 0; i < 4; i++) {
                recipe_build_digest(list[0]->eras[i], &other);
                ck_assert(!digest_equal(&plain, &other));
        }
        parse(MINIMAL "[era \"..v1\"]\noutput = s\n"); /* says what the solver says */
        recipe_build_digest(list[0]->eras[0], &other);
        ck_assert(digest_equal(&plain, &other));
        parse(MINIMAL "build = make more\n[binary \"v0\"]\nfile = /elsewhere/s\nsha256 = " SHA "\n");
        recipe_build_digest(list[0]->eras[0], &other);
        parse(ERAS);
        recipe_build_digest(list[0]->eras[0], &plain);
        ck_assert(digest_equal(&plain, &other)); /* a program is its bytes */
        done();
}
END_TEST

START_TEST(test_a_binary_is_run_in_its_own_way)
{
        static const char text[] = MINIMAL "[binary \"v0\"]\nfile = /opt/a solver\nsha256 = " SHA "\nrun = {bin} {seed} -x {case}\nseed = -s {n}\n"
                                           "[variant \"v\"]\narguments = -v\n";
        cleanup_buffer struct buffer printed = {0};

        parse(text);
        ck_assert(list[0]->binary_has_own_run && !list[1]->binary_has_own_run); /* a variant has its solver's way, and its own */
        ck_assert_str_eq(list[0]->run, "{bin} {case}");
        ck_assert_str_eq(list[0]->eras[0]->run, "{bin} {seed} -x {case}");
        ck_assert_int_eq(recipe_print(list[0], &printed), 0);
        done();
        parse(printed.data);
        ck_assert_str_eq(list[0]->eras[0]->seed, "-s {n}");
        ck_assert_str_eq(list[0]->eras[0]->file, "/opt/a solver");
        done();
}
END_TEST

START_TEST(test_the_digest_for_all_commits_has_the_ways_of_binaries)
{
        static const char binary[] = MINIMAL "[binary \"v0\"]\nfile = /opt/s\nsha256 = " SHA "\n";
        static const char *const ways[] = {"", "run = {bin} -x {case}\n", "run = {bin} {seed} -x {case}\nseed = -s {n}\n"};
        struct digest builds[ARRAY_SIZE(ways)];

        for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
                cleanup_free char *text = format_string("%s%s", binary, ways[i]);

                parse(text);
                recipe_eras_digest(list[0], &builds[i]);
                done();
                for (size_t k = 0; k < i; k++)
                        ck_assert(!digest_equal(&builds[k], &builds[i])); /* a changed way would have the results of the earlier one */
        }
        ck_assert_str_eq(digest_text(&builds[0]).s, "9e229c7e9a0cb2c469869ff2806c3c549dd8ffaf9f53ad9ca00305916226a038"); /* as in stores of before */
}
END_TEST

START_TEST(test_any_format)
{
        cleanup(recipe_unrefp) struct recipe *cnf = NULL;

        parse(MINIMAL "format = any\n");
        ck_assert(recipe_takes(list[0], FORMAT_CNF) && recipe_takes(list[0], FORMAT_SMT2));
        cnf = recipe_for_format(list[0], FORMAT_CNF);
        ck_assert(recipe_takes(cnf, FORMAT_CNF) && !recipe_takes(cnf, FORMAT_SMT2));
        done();
}
END_TEST

START_TEST(test_mistakes_in_eras)
{
        static const struct {
                const char *text, *place, *words;
        } rows[] = {
                {"[era]\nbuild = x\n", "t.recipe:5", "[era] needs a range: [era \"v1..v2\"]"},
                {"[era \"v1\"]\nbuild = x\n", "t.recipe:5", "'v1' is not a range"},
                {"[era \"..\"]\nbuild = x\n", "t.recipe:5", "'..' is not a range"},
                {"[era \"a...b\"]\nbuild = x\n", "t.recipe:5", "'a...b' is not a range"},
                {"[era \"a..b..c\"]\nbuild = x\n", "t.recipe:5", "is not a range"},
                {"[era \"a ..b\"]\nbuild = x\n", "t.recipe:5", "is not a range"},
                {"[era \"a..b\"]\n", "t.recipe:5", "changes nothing"},
                {"[era \"a..b\"]\nrun = {bin}\n", "t.recipe:6", "key 'run' cannot stand in an era"},
                {"[era \"a..b\"]\nenvironment = A=1\n", "t.recipe:6", "write build = NAME=VALUE COMMAND"},
                {"[era \"a..b\"]\nfile = /x\n", "t.recipe:6", "key 'file' can stand only in a [binary"},
                {"[era \"a..b\"]\nbiuld = x\n", "t.recipe:6", "did you mean 'build'"},
                {"[era \"a..b\"]\nbuild = x {case}\n", "t.recipe:6", "{case} is not known here"},
                {"[era \"a..b\"]\noutput = ../x\n", "t.recipe:6", "leaves the repository"},
                {"[binary \"v1\"]\nfile = /x\n", "t.recipe:5", "has no key 'sha256'"},
                {"[binary \"v1\"]\nsha256 = " SHA "\n", "t.recipe:5", "has no key 'file'"},
                {"[binary \"v1\"]\nfile = x\nsha256 = " SHA "\n", "t.recipe:6", "neither an absolute path nor a URL"},
                {"[binary \"v1\"]\nfile = /x\nsha256 = 123\n", "t.recipe:7", "64 digits"},
                {"[binary \"v1\"]\nfile = /x.tar.gz\nsha256 = " SHA "\n", "t.recipe:6", "x.tar.gz is an archive; say which file"},
                {"[binary \"v1\"]\nfile = /x\nbuild = x\nsha256 = " SHA "\n", "t.recipe:7", "key 'build' cannot stand in a binary"},
                {"[binary \"v1\"]\nfile = /x\nsha256 = " SHA "\nrun = {bin}\n", "t.recipe:8", "{case} does not occur in it"},
                {"[binary \"v1\"]\nfile = /x\nsha256 = " SHA "\nseed = -s {n}\n", "t.recipe:8", "'run' has no {seed}"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                char text[1024];

                snprintf(text, sizeof(text), MINIMAL "%s", rows[i].text);
                refused(text, rows[i].place, rows[i].words);
        }
        parse(MINIMAL "[binary \"s\"]\nfile = /x\nsha256 = " SHA "\n[binary \"v\"]\nfile = /x\nsha256 = " SHA
                      "\n[variant \"v\"]\narguments = -v\n"); /* a tag may be called as the solver, or a variant */
        ck_assert_uint_eq(list[0]->n_eras, 2);
        done();
}
END_TEST

START_TEST(test_unknown_names)
{
        refused_line("biuld = make", "key 'solver.biuld' is not known; did you mean 'build'?");
        refused_line("frobnicate = 1", "key 'solver.frobnicate' is not known");
        refused_line("repository = /r", "is not known");
        refused_line("variant = z3", "is not known");
        refused_line("[sovler]", "section [sovler] is not known");
        refused_line("[solver \"x\"]", "without a name");
        refused_line("[variant]", "a variant needs a name");
        refused_line("[variant \"\"]", "a variant needs a name");
        refused_line("[variant \"v\"]", "changes nothing");
        refused_line("[variant \"s\"]\ntimeout = 1s", "the name of the solver itself");
        refused_line("[variant \"a/b\"]\ntimeout = 1s", "cannot be a solver's name");
        refused_line("[variant \"..\"]\ntimeout = 1s", "cannot be a solver's name");
        {
                char many[1024] = MINIMAL;

                for (unsigned i = 0; i < 16; i++)
                        snprintf(many + strlen(many), sizeof(many) - strlen(many), "    output = out%u\n", i);
                refused(many, "t.recipe:20: ", "at most 16");
        }
        refused_line("[variant \"ccache\"]\ntimeout = 1s", "cannot be a solver's name");
        refused_line("[variant \".solverfs\"]\ntimeout = 1s", "cannot be a solver's name");
        refused_line("[variant \"a..b\"]\ntimeout = 1s", "no '..'");
        refused_line("[variant \"cases\"]\ntimeout = 1s", "has a folder of that name");
        refused_line("[variant \".solverfs\"]\ntimeout = 1s", "letter or digit first");
        refused_line("[include]\npath = /etc/passwd", "[include] is not supported");
        refused(MINIMAL "[variant \"v\"]\nbuild = make x\n", "t.recipe:6: ", "cannot stand in a variant");
        refused("", "t.recipe: ", "no [solver] section");
        refused("# only a comment\n", "t.recipe: ", "no [solver] section");
        done();
}
END_TEST

START_TEST(test_missing_and_repeated_keys)
{
        refused("\n[solver]\noutput = s\nrun = {bin} {case}\n", "t.recipe:2: ", "no key 'build'");
        refused("[solver]\nbuild = make\nrun = {bin} {case}\n", "t.recipe:1: ", "no key 'output'");
        refused("[solver]\nbuild = make\noutput = s\n", "t.recipe:1: ", "no key 'run'");
        refused_line("run = {bin} {case}", "key 'run' is given twice (first on line 4)");
        refused_line("RUN = {bin} {case}", "key 'run' is given twice");
        refused(MINIMAL "[solver]\n\n  run = {bin} {case}\n", "t.recipe:7: ", "first on line 4");
        refused(MINIMAL "timeout = 1s\ntimeout = 1s\n", "t.recipe:6: ", "key 'timeout' is given twice (first on line 5)");
        done();
}
END_TEST

START_TEST(test_bad_values)
{
        refused_line("timeout", "has no value");
        refused_line("timeout =", "key 'timeout' is empty");
        refused_line("timeout = \"\"", "key 'timeout' is empty");
        refused_line("build = \"  \"", "key 'build' is empty");
        refused_line("timeout = 20 s", "'20 s' is not a duration");
        refused_line("timeout = s", "is not a duration");
        refused_line("timeout = -1s", "is not a duration");
        refused_line("timeout = 1e3s", "is not a duration");
        refused_line("timeout = 0s", "0s is not between 1ms and");
        refused_line("timeout = 99999999999999999999s", "longer than can be counted");
        refused_line("timeout = 999999h", "is not between");
        refused_line("memory = 4gb", "'4gb' is not a size");
        refused_line("memory = 4", "4 is not between 1m and");
        refused_line("memory = 99999999999t", "more than can be counted");
        refused_line("processes = many", "'many' is not a whole number");
        refused_line("processes = 99999999999999999999999", "is not a whole number");
        refused_line("processes = 0", "not between 1 and");
        refused_line("processes = 5000000", "5000000 is not between 1 and 4194304");
        refused_line("samples = 0", "not between 1 and");
        refused_line("format = smt", "'smt' is none of smt2, cnf and any");
        refused_line("dialect = 3.0", "'3.0' is none of");
        refused(MINIMAL "format = cnf\ndialect = 2.6\n", "t.recipe:6: ", "for format = smt2 only");
        refused_line("paths = /src", "'/src' is absolute");
        refused_line("paths = :!/src", "'/src' is absolute");
        refused_line("paths = :!", "empty component");
        refused_line("paths = a/../../b", "leaves the repository");
        refused_line("paths = ..", "leaves the repository");
        refused_line("paths = src/", "empty component");
        refused_line("paths = a//b", "empty component");
        refused_line("paths = .", "the whole tree is meant");
        refused_line("paths = .git/config", "has no .git");
        refused_line("output = /bin/sh", "'/bin/sh' is absolute");
        refused_line("output = ../s2", "leaves the repository");
        refused_line("output = x/s", "would both be bin/s");
        refused_line("output = s", "is given twice");
        refused_line("effort = [0-9]+", "has 0 groups");
        refused_line("effort = (a)(b)", "has 2 groups");
        refused_line("effort = (a", "not a regular expression");
        refused_line("dependency = /", "not a plain path");
        refused_line("dependency = /opt/", "not a plain path");
        refused_line("dependency = /opt//x", "not a plain path");
        refused_line("dependency = /opt/../x", "not a plain path");
        refused_line("dependency = /opt/..", "not a plain path");
        refused_line("dependency = /opt/.", "not a plain path");
        refused_line("environment = A", "is not NAME=VALUE");
        refused_line("environment = =b", "is not NAME=VALUE");
        refused_line("environment = A-B=c", "'A-B' is not a variable's name");
        refused(MINIMAL "environment = A=1\nenvironment = A=2\n", "t.recipe:6: ", "A is given twice");
        done();
}
END_TEST

#define BUILT "[solver]\nbuild = make\noutput = s\n"

START_TEST(test_bad_commands)
{
        refused(BUILT "run = {case}\n", "t.recipe:4: ", "{bin} does not occur");
        refused(BUILT "run = {bin}\n", "t.recipe:4: ", "{case} does not occur");
        refused(BUILT "run = {bin} < {case}\n", "t.recipe:4: ", "standard input is the case where a word is <{case}");
        refused(BUILT "run = {bin} <x {case}\n", "t.recipe:4: ", "a word is <{case}");
        refused(BUILT "run = {bin} {cas} {case}\n",
                "t.recipe:4: ", "{cas} is not known here; known are {bin} {case} {seed} {timeout} {memory}");
        refused(BUILT "run = {bin} {seed} {case}\n", "t.recipe:4: ", "no key 'seed'");
        refused(BUILT "run = {bin} {case}\nseed = -s {n}\n", "t.recipe:5: ", "'run' has no {seed}");
        refused(BUILT "run = {bin} {seed} {case}\nseed = -s\n", "t.recipe:5: ", "{n}, the number, does not occur");
        refused(BUILT "run = {bin} {seed} {case}\nseed = -s {m}\n", "t.recipe:5: ", "{m} is not known here");
        refused(BUILT "run = {bin} --seed={seed} {case}\nseed = {n}\n", "t.recipe:4: ", "a word of its own");
        refused(BUILT "run = {bin} {case} | grep sat\n", "t.recipe:4: ", "no shell runs it");
        refused(BUILT "run = {bin} {case} > out\n", "t.recipe:4: ", "no shell runs it");
        refused(BUILT "run = {bin} $X {case}\n", "t.recipe:4: ", "no shell runs it");
        refused(BUILT "run = {bin} 'a {case}\n", "t.recipe:4: ", "quote ' is not closed");
        refused(BUILT "run = {bin} {case} \\\\\n", "t.recipe:4: ", "ends in a backslash");
        refused(BUILT "run = {bin} {case}\narguments = {seed}\n", "t.recipe:5: ", "{seed} is not known here");
        refused(BUILT "run = {bin} {case}\ntrace = -v {case}\n", "t.recipe:5: ", "{case} is not known here");
        refused(BUILT "run = {bin} {case}\ntrace = -v 'x\n", "t.recipe:5: ", "quote ' is not closed");
        refused("[solver]\nbuild = make {bin}\noutput = s\nrun = {bin} {case}\n", "t.recipe:2: ", "{bin} is not known here");
        done();
}
END_TEST

START_TEST(test_syntax_is_explained)
{
        refused_line("build = ./configure; make", "takes ';' outside quotes for the start of a comment");
        refused_line("build = make ; make install", "takes ';' outside quotes");
        refused_line("build = make#1", "takes '#' outside quotes");
        refused_line("effort = \"a\\d\"", "a backslash before 'd' means nothing");
        refused_line("build = \"make", "the quotes are not closed");
        refused_line("build = \"make\nmore\"", "the quotes are not closed");
        refused_line("build = \"a\\\\\" # b",
                     "disagree on this value"); /* libgit2 1.5 takes the comment for a part of the value */
        refused_line("[variant \"x", "quotes of this section's name are not closed");
        refused_line("[variant x]", "not a section header");
        refused_line("[]", "not a section header");
        refused_line("[solver", "not a section header");
        refused_line("a b = c", "not a line of the form");
        refused_line("= c", "not a line of the form");
        refused_line("b_c = c", "not a line of the form");
        refused("build = make\n", "t.recipe:1: ", "this line precedes the first [section]");
        refused(MINIMAL "\n# caf\xe9\n", "t.recipe:6: ", "byte 0xe9 is not UTF-8");
        refused(MINIMAL "build = \xed\xa0\x80\n", "t.recipe:5: ", "not UTF-8"); /* a surrogate */
        refused(MINIMAL "build = a\x01\n", "t.recipe:5: ", "control character 0x01");
        refused(MINIMAL "effort = \"\f(1)\"\n", "t.recipe:5: ", "control character 0x0c");
        refused(MINIMAL "build = a\r \n", "t.recipe:5: ", "control character 0x0d");
        done();
}
END_TEST

START_TEST(test_lines_are_counted_through_continuations)
{
        refused("[solver]\r\nbuild = a \\\r\n b \\\r\n c\r\noutput = s\r\nrun = {bin} {case}\r\n\r\nbad = 1\r\n",
                "t.recipe:8: ", "solver.bad");
        refused("\xef\xbb\xbf[solver] build = a\noutput = s\nbad = 1\n", "t.recipe:3: ", "solver.bad");
        done();
}
END_TEST

START_TEST(test_read_files)
{
        cleanup_free char *big = malloc((1 << 20) + 2);

        assert_error(recipe_read("absent", "s", &list, &n_list), ENOENT);
        assert_ok(write_file_atomic("nul", MINIMAL "\0", sizeof(MINIMAL), 0600));
        assert_error(recipe_read("nul", "s", &list, &n_list), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "nul:5: control character 0x00"));
        memset(big, '#', (1 << 20) + 2);
        assert_ok(write_file_atomic("big", big, (1 << 20) + 2, 0600));
        assert_error(recipe_read("big", "s", &list, &n_list), EFBIG);
        assert_error(recipe_read(".", "s", &list, &n_list), EISDIR);
        assert_error(recipe_read("nul", "cases", &list, &n_list), EINVAL);
}
END_TEST

START_TEST(test_example)
{
        const char *source = getenv("SOLVERFS_SOURCE");
        char path[PATH_SIZE];

        ck_assert_ptr_nonnull(source);
        snprintf(path, sizeof(path), "%s/examples/recipes/strand.recipe", source);
        done();
        assert_ok(recipe_read(path, "strand", &list, &n_list));
        ck_assert_uint_eq(n_list, 1);
        done();
}
END_TEST

/* Values that git-config could mangle. */
#define ODD                                                                                                                    \
        "[solver]\nformat = cnf\npaths = \"a;b #c\"\nbuild = \"a; b # c \\\"d\\\" \\\\\"\nbuild = \"x\\ny\\tz \"\nbuild = \" " \
        "\\\\\\\"\"\n"                                                                                                         \
        "build = 'e'\noutput = s\nrun = \"{bin} 'a b' {case}\"\ntimeout = 1.5ms\ncputime = 3h\nmemory = 1048577\n"             \
        "environment = \"A= b\"\neffort = \"\\\\. ([0-9]+)\"\n"

static void digests(const struct recipe *r, struct digest ret[2])
{
        recipe_build_digest(r, &ret[0]);
        recipe_run_digest(r, false, 0, &r->limits, &ret[1]);
}

static void check_same(const struct recipe *a, const struct recipe *b)
{
        struct digest da[2], db[2];

        digests(a, da);
        digests(b, db);
        ck_assert(digest_equal(&da[0], &db[0]) && digest_equal(&da[1], &db[1]));
        ck_assert_mem_eq(&a->limits, &b->limits, sizeof(a->limits));
        ck_assert_mem_eq(&a->build_limits, &b->build_limits, sizeof(a->build_limits));
        ck_assert_uint_eq(a->samples, b->samples);
        ck_assert_str_eq(a->dialect, b->dialect);
        for (size_t i = 0; a->effort[i] || b->effort[i]; i++)
                ck_assert_pstr_eq(a->effort[i], b->effort[i]);
        ck_assert_pstr_eq(a->base, b->base);
        ck_assert_pstr_eq(a->repository, b->repository);
}

START_TEST(test_print_comes_back)
{
        static const char *const texts[] = {MINIMAL, ODD,
                                            MINIMAL "arguments = -a\ntimeout = 7h\ndialect = 2.5\nsamples = 9\nprocesses = 3\n"};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                cleanup_buffer struct buffer b = {0};
                struct recipe **again;
                size_t n;

                parse(texts[i]);
                assert_ok(recipe_print(list[0], &b));
                assert_ok(recipe_parse(b.data, "printed", "s", &again, &n));
                ck_assert_uint_eq(n, 1);
                check_same(list[0], again[0]);
                recipe_list_free(again, n);
        }
        parse(ODD);
        ck_assert_str_eq(list[0]->build[0], "a; b # c \"d\" \\");
        ck_assert_str_eq(list[0]->build[1], "x\ny\tz ");
        ck_assert_str_eq(list[0]->build[2], " \\\"");
        done();
}
END_TEST

START_TEST(test_print_of_a_repository_with_a_newline)
{
        cleanup_buffer struct buffer b = {0};
        struct recipe **again;
        size_t n;

        parse(MINIMAL);
        list[0]->repository = strdup("/tmp/two\nlines");
        assert_ok(recipe_print(list[0], &b));
        assert_ok(recipe_parse(b.data, "printed", "s", &again, &n));
        ck_assert_str_eq(again[0]->build[0], list[0]->build[0]);
        recipe_list_free(again, n);
        done();
}
END_TEST

/* A variant's printed recipe stands by itself: what it inherited is in it. */
START_TEST(test_print_of_a_variant)
{
        cleanup_buffer struct buffer b = {0};
        struct recipe **again;
        struct digest x[2], y[2];
        size_t n;

        parse(MINIMAL "timeout = 3s\n[variant \"v\"]\narguments = -v\n");
        assert_ok(recipe_print(list[1], &b));
        assert_ok(recipe_parse(b.data, "printed", "v", &again, &n));
        digests(list[1], x);
        digests(again[0], y);
        ck_assert(digest_equal(&x[0], &y[0]) && digest_equal(&x[1], &y[1]));
        ck_assert_mem_eq(&list[1]->limits, &again[0]->limits, sizeof(again[0]->limits));
        recipe_list_free(again, n);
        done();
}
END_TEST

/* The text is edited and given back: a CPU limit that nobody wrote must not keep the old timeout. */
START_TEST(test_print_leaves_out_a_cpu_limit_that_follows_the_timeout)
{
        static const char *const texts[] = {MINIMAL "timeout = 1s\n", MINIMAL "timeout = 60s\ncputime = 30s\n[variant \"v\"]\ntimeout = 30s\n",
                                            MINIMAL "timeout = 60s\ncputime = 30s\n"};
        static const bool is_said[] = {false, false, true};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                cleanup_buffer struct buffer b = {0};
                struct recipe **again;
                size_t n;

                parse(texts[i]);
                assert_ok(recipe_print(list[n_list - 1], &b));
                ck_assert_int_eq(strstr(b.data, "cputime") != NULL, is_said[i]);
                assert_ok(recipe_parse(b.data, "printed", "s", &again, &n));
                ck_assert_mem_eq(&again[0]->limits, &list[n_list - 1]->limits, sizeof(again[0]->limits));
                recipe_list_free(again, n);
                done();
        }
}
END_TEST

static void put_file(const char *name, const char *text)
{
        assert_ok(write_file_atomic(name, text, strlen(text), 0600));
}

static void check_file(const char *name, const char *text)
{
        cleanup_blob struct blob b = {0};

        assert_ok(read_file(name, 1 << 20, &b));
        ck_assert_uint_lt(b.size, 1 << 19);
        ck_assert_msg(b.size == strlen(text) && memcmp(b.data, text, b.size) == 0, "%.*s\nis not\n%s", (int)b.size,
                      (const char *)b.data, text);
}

static void write_config(const char *name, const char *text)
{
        done();
        assert_ok(recipe_parse(text, "t.recipe", name, &list, &n_list));
        free(list[0]->repository);
        list[0]->repository = strdup("https://example.org/a b;c.git");
        assert_ok(recipe_write_config("config", list, n_list));
}

static void check_eras(const struct recipe *a, const struct recipe *b)
{
        ck_assert_uint_eq(a->n_eras, b->n_eras);
        for (size_t i = 0; i < a->n_eras; i++) {
                struct digest x, y;

                ck_assert_str_eq(a->eras[i]->range, b->eras[i]->range);
                recipe_build_digest(a->eras[i], &x);
                recipe_build_digest(b->eras[i], &y);
                ck_assert(digest_equal(&x, &y));
        }
}

START_TEST(test_eras_come_back)
{
        cleanup_buffer struct buffer b = {0};
        struct recipe **again;
        const char *gone[] = {"s", "v"};
        size_t n;

        put_file("config", "[solverfs]\n\tversion = 1\n[solver \"t\"]\nbuild = t\noutput = t\nrun = {bin} {case}\n[era \"t a..b\"]\nbuild = u\n");
        write_config("s", ERAS);
        for (unsigned i = 0; i < 2; i++) { /* and once more in the place of itself */
                cleanup_blob struct blob text = {0};

                assert_ok(read_config("config", &again, &n));
                ck_assert_uint_eq(n, 3);
                check_eras(list[0], again[1]);
                check_eras(list[1], again[2]);
                ck_assert_uint_eq(again[0]->n_eras, 1);
                assert_ok(read_file("config", 1 << 20, &text));
                ck_assert_ptr_nonnull(memmem(text.data, text.size, "# before CMake", 14)); /* comments come along */
                assert_ok(recipe_write_config("config", i == 0 ? list : again + 1, 2));
                recipe_list_free(again, n);
        }
        assert_ok(recipe_print(list[0], &b));
        assert_ok(recipe_parse(b.data, "printed", "s", &again, &n));
        check_eras(list[0], again[0]);
        recipe_list_free(again, n);
        assert_ok(recipe_remove_config("config", "solver", gone, 2));
        check_file("config", "[solverfs]\n\tversion = 1\n[solver \"t\"]\nbuild = t\noutput = t\nrun = {bin} {case}\n[era \"t a..b\"]\nbuild = u\n");
        put_file("config", "[era \"u a..b\"]\nbuild = u\n");
        assert_error(read_config("config", &again, &n), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "config:1: 'a..b' is an era of 'u', which is not there"));
        put_file("config", "[era \"a..b\"]\nbuild = u\n");
        assert_error(read_config("config", &again, &n), EINVAL);
        done();
}
END_TEST

START_TEST(test_config_round_trip)
{
        struct recipe **again;
        size_t n;

        write_config("s", ODD "[variant \"v\"]\narguments = -v\ntimeout = 1h\n[variant \"w\"]\nformat = smt2\n");
        assert_ok(read_config("config", &again, &n));
        ck_assert_uint_eq(n, 3);
        for (size_t i = 0; i < n; i++) {
                ck_assert_str_eq(again[i]->name, list[i]->name);
                free(list[i]->repository); /* a variant's is its solver's */
                list[i]->repository = strdup("https://example.org/a b;c.git");
                check_same(list[i], again[i]);
        }
        recipe_list_free(again, n);
        done();
}
END_TEST

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

START_TEST(test_within)
{
        struct digest plain, digest, other;
        struct recipe *whole;

        parse(MINIMAL);
        recipe_build_digest(list[0], &plain);
        parse(MINIMAL "paths = src\nsubmodule = b=c\nwithin = deps/a=https://example.org/h " COMMIT "\n");
        ck_assert_ptr_null(list[0]->sources[0]); /* the paths are of the other repository */
        recipe_build_digest(list[0], &digest);
        parse(MINIMAL "paths = src\nsubmodule = b=c\nwithin = deps/a=elsewhere " COMMIT "\n");
        recipe_build_digest(list[0], &other);
        ck_assert(!digest_equal(&plain, &digest) && digest_equal(&digest, &other)); /* not by where it comes from */
        parse(MINIMAL "paths = src\nsubmodule = b=c\nwithin = deps/b=elsewhere " COMMIT "\n");
        recipe_build_digest(list[0], &other);
        ck_assert(!digest_equal(&digest, &other));
        list[0]->repository = strdup("/r");
        whole = recipe_within_host(list[0], "76543210fedcba9876543210fedcba9876543210");
        ck_assert_ptr_null(whole->within);
        ck_assert_str_eq(whole->submodules[0], "b=c");
        ck_assert_str_eq(whole->submodules[1], "deps/b=/r 76543210fedcba9876543210fedcba9876543210");
        ck_assert_str_eq(whole->paths[0], "src");
        recipe_unref(whole);
        parse(MINIMAL "submodule = a=elsewhere\nsubmodule = b=c\nwithin = a=h " COMMIT "\n");
        whole = recipe_within_host(list[0], "76543210fedcba9876543210fedcba9876543210"); /* there is one at a path */
        ck_assert_uint_eq(strings_count(whole->submodules), 2);
        ck_assert_str_eq(whole->submodules[1], "a=. 76543210fedcba9876543210fedcba9876543210");
        recipe_unref(whole);
        done();
}
END_TEST

/* It shares the repository and nothing else. */
START_TEST(test_a_variant_within_has_keys_of_its_own)
{
        static const char text[] = ERAS "[variant \"w\"]\nbuild = ninja\nwithin = a=/h " COMMIT "\noutput = t\nrun = {bin} -w {case}\ntimeout = 7s\n";
        struct recipe **again;
        size_t n;

        parse(text);
        ck_assert_uint_eq(n_list, 3);
        ck_assert_str_eq(list[2]->base, "s");
        ck_assert_uint_eq(list[2]->n_eras, 0);
        ck_assert_uint_eq(list[2]->samples, 5);
        ck_assert_uint_eq(list[2]->limits.cpu_ns, 7 * NSEC_PER_SEC);
        ck_assert_str_eq(list[2]->build[0], "ninja");
        write_config("s", text);
        free(list[2]->text); /* printed by its keys, then */
        list[2]->text = NULL;
        assert_ok(recipe_write_config("config", list, n_list));
        assert_ok(read_config("config", &again, &n));
        ck_assert_uint_eq(n, 3);
        list[2]->repository = strdup(again[0]->repository); /* its solver's */
        check_same(list[2], again[2]);
        ck_assert_str_eq(again[2]->repository, again[0]->repository);
        recipe_list_free(again, n);
        refused(MINIMAL "[variant \"w\"]\nwithin = a=/h " COMMIT "\nrun = {bin} {case}\noutput = x\n", "t.recipe:5: ", "has no key 'build'");
        refused(MINIMAL "[variant \"w\"]\nbuild = x\n", "t.recipe:6: ", "cannot stand in a variant without 'within'");
        refused(MINIMAL "[era \"a..b\"]\nwithin = a=/h " COMMIT "\n", "t.recipe:6: ", "cannot stand in an era");
        refused_line("within = a=/h", "is not PATH=REPO COMMIT");
        refused_line("within = ../a=/h " COMMIT, "leaves the repository");
        refused_line("within = =/h " COMMIT, "is not PATH=REPO");
        done();
}
END_TEST

START_TEST(test_attributes_are_never_left_out)
{
        parse(MINIMAL "paths = src/a\npaths = :!src/a/doc\npaths = :!.gitattributes\npaths = :!src/.gitattributes\n");
        ck_assert_str_eq(list[0]->sources[0], "src/a");
        ck_assert_str_eq(list[0]->sources[1], ":!src/a/doc");
        ck_assert_str_eq(list[0]->sources[2], ".gitattributes");
        ck_assert_str_eq(list[0]->sources[3], "src/.gitattributes");
        ck_assert_ptr_null(list[0]->sources[4]);
        done();
}
END_TEST

START_TEST(test_a_variant_of_a_released_program_reads_back)
{
        cleanup_buffer struct buffer text = {0};
        struct recipe **again;
        size_t n;

        parse(MINIMAL "[binary \"v0\"]\nfile = /opt/s\nsha256 = " SHA "\n[variant \"v\"]\nrun = {bin} -x {case}\n");
        assert_ok(recipe_print(list[1], &text));
        assert_ok(recipe_parse(text.data, "printed", "v", &again, &n));
        ck_assert_str_eq(again[0]->run, "{bin} -x {case}");
        ck_assert_uint_eq(again[0]->n_eras, 1);
        ck_assert(!again[0]->binary_has_own_run);
        recipe_list_free(again, n);
        done();
}
END_TEST

START_TEST(test_a_variant_holds_a_submodule)
{
        const struct recipe *v;

        parse(MINIMAL "submodule = a=/a\nsubmodule = b=/b\n[era \"..v1\"]\nsubmodule = a/b=/old\nsubmodule = c=/c\n[binary \"v0\"]\nfile = /opt/s\nsha256 = " SHA
                      "\n[variant \"v\"]\nsubmodule = a=/a " COMMIT "\nsubmodule = d=/d " COMMIT "\n");
        v = list[1];
        ck_assert_uint_eq(strings_count(v->submodules), 3);
        ck_assert_str_eq(v->submodules[0], "b=/b");
        ck_assert_str_eq(v->submodules[1], "a=/a " COMMIT);
        ck_assert_uint_eq(v->n_eras, 1); /* what was released was built with another one */
        ck_assert_str_eq(v->eras[0]->range, "..v1");
        ck_assert_uint_eq(strings_count(v->eras[0]->submodules), 4);
        ck_assert_str_eq(v->eras[0]->submodules[0], "a/b=/old");
        ck_assert_str_eq(v->eras[0]->submodules[3], "d=/d " COMMIT);
        ck_assert_uint_eq(strings_count(list[0]->submodules), 2);
        ck_assert_uint_eq(list[0]->n_eras, 2);
        done();
}
END_TEST

/* A CPU limit follows the timeout when nothing is said of it: one that does not must be said, also when it is the default's. */
START_TEST(test_config_keeps_a_limit_that_is_the_default)
{
        static const char *const texts[] = {
                MINIMAL "timeout = 60s\ncputime = 20s\n",
                MINIMAL "[variant \"v\"]\ntimeout = 60s\ncputime = 20s\n",
                MINIMAL "timeout = 60s\ncputime = 30s\n[variant \"v\"]\ntimeout = 30s\n",
                MINIMAL "timeout = 60s\ncputime = 30s\n[variant \"v\"]\ncputime = 60s\n",
                MINIMAL "timeout = 60s\n[variant \"v\"]\ntimeout = 20s\n",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct recipe **again;
                size_t n;

                unlink("config");
                write_config("s", texts[i]);
                assert_ok(read_config("config", &again, &n));
                ck_assert_uint_eq(n, n_list);
                for (size_t k = 0; k < n; k++)
                        ck_assert_mem_eq(&again[k]->limits, &list[k]->limits, sizeof(again[k]->limits));
                recipe_list_free(again, n);
        }
        done();
}
END_TEST

START_TEST(test_a_variant_may_run_without_seed)
{
        struct recipe **again;
        size_t n;

        write_config("s", "[solver]\nbuild = make\noutput = s\nrun = {bin} {seed} {case}\nseed = -s {n}\n[variant \"w\"]\nrun = {bin} -w {case}\n");
        assert_ok(read_config("config", &again, &n));
        ck_assert(list[0]->seed && !list[1]->seed && again[0]->seed && !again[1]->seed);
        check_command(again[1], false, 3, "[/solver/s] [-w] [/case/input.smt2]");
        recipe_list_free(again, n);
        refused(MINIMAL "[variant \"v\"]\nrun = {bin} {case}\nseed = -s {n}\n", "t.recipe:7: ", "has no {seed}");
        refused("[solver]\nbuild = make\noutput = s\nrun = {bin} {seed} {case}\nseed = -s {n}\n[variant \"v\"]\nseed = -t\n", "t.recipe:7: ", "{n}");
        done();
}
END_TEST

START_TEST(test_config_keeps_the_rest)
{
        struct stat st;

        put_file("config", "# mine\n[solverfs]\n\tcores = 2 ; two\n[other \"s\"] x = \"a\n"
                           "\n[solverfs]\n cores = 2 ; two");
        assert_error(read_config("config", &list, &n_list), EINVAL); /* not sound: and so not written over */
        assert_ok(recipe_parse(MINIMAL, "t.recipe", "s", &list, &n_list));
        assert_error(recipe_write_config("config", list, n_list), EINVAL);
        put_file("config",
                 "# mine\n[solverfs]\n\tcores = 2 ; two\n# about s\n[solver \"s\"]\n  build = old\n  output = o # why\n"
                 "  run = {bin} {case}\n# about t\n[solver \"t\"]\nbuild = t\noutput = t\nrun = {bin} {case}\n\n[solver \"s\"]\n"
                 "timeout = 1s\n[tail]\nx = y");
        write_config("s", MINIMAL);
        check_file(
                "config",
                "# mine\n[solverfs]\n\tcores = 2 ; two\n# about s\n[solver \"s\"]\n"
                "    build = make\n    output = s\n    run = {bin} {case}\n    repository = \"https://example.org/a b;c.git\"\n"
                "# about t\n[solver \"t\"]\nbuild = t\noutput = t\nrun = {bin} {case}\n\n[tail]\nx = y");
        write_config("u", MINIMAL);
        check_file(
                "config",
                "# mine\n[solverfs]\n\tcores = 2 ; two\n# about s\n[solver \"s\"]\n"
                "    build = make\n    output = s\n    run = {bin} {case}\n    repository = \"https://example.org/a b;c.git\"\n"
                "# about t\n[solver \"t\"]\nbuild = t\noutput = t\nrun = {bin} {case}\n\n[tail]\nx = y\n"
                "[solver \"u\"]\n    build = make\n    output = s\n    run = {bin} {case}\n"
                "    repository = \"https://example.org/a b;c.git\"\n");
        assert_ok(stat("config", &st));
        ck_assert_int_eq(st.st_mode & 0777, 0600);
        done();
}
END_TEST

/* A recipe's comments come along, each to its section, and go with it when another recipe takes its place. */
START_TEST(test_config_keeps_comments)
{
        put_file("config", "[solverfs]\n\tversion = 1\n");
        write_config("s", "# about s\n\n[solver] # here\n  build = make # fast\n\n  # the program\n  output = s\n"
                          "  run = {bin} {case}\n  # all of s\n\n# about v\n[variant \"v\"]\narguments = -v\n# the end\n\n");
        check_file("config", "[solverfs]\n\tversion = 1\n"
                             "[solver \"s\"]\n# about s\n # here\n  build = make # fast\n\n  # the program\n  output = s\n"
                             "  run = {bin} {case}\n  # all of s\n    repository = \"https://example.org/a b;c.git\"\n"
                             "[solver \"v\"]\n# about v\narguments = -v\n# the end\n    variant = s\n");
        write_config("s", "[solver]\nbuild = make\n[variant \"v\"]\ntimeout = 1s\n[solver]\noutput = s # twice\nrun = {bin} {case}");
        check_file("config", "[solverfs]\n\tversion = 1\n"
                             "[solver \"s\"]\nbuild = make\noutput = s # twice\nrun = {bin} {case}\n"
                             "    repository = \"https://example.org/a b;c.git\"\n[solver \"v\"]\ntimeout = 1s\n    variant = s\n");
        done();
}
END_TEST

/* All are told at once, and none that follows from another. */
START_TEST(test_every_mistake_is_told)
{
        static const char *const told[] = {"t.recipe:2: key 'build': git-config takes ';'", "t.recipe:4: not a line of the form"};
        const char *message;

        refused("[solver]\nbuild = a; b\noutput = s\nnonsense here\n", "t.recipe:2: ", "t.recipe:4: ");
        for (size_t i = 0; i < ARRAY_SIZE(told); i++)
                ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), told[i]));
        refused("[solver]\nbiuld = a\ntimeout = soon\nrun = {bin} {cas}\n[variant \"a b\"]\ntimeout = 1\n[variant "
                "\"v\"]\nbuild = x\n[other]\n",
                "t.recipe:5: ", "'a b' cannot be a solver's name");
        message = error_message(-EINVAL);
        for (size_t i = 0; i < 6; i++) {
                static const char *const words[] = {"t.recipe:2: key 'solver.biuld' is not known; did you mean 'build'?",
                                                    "t.recipe:3: key 'timeout': 'soon'",
                                                    "t.recipe:4: key 'run': placeholder {cas}",
                                                    "t.recipe:1: [solver] has no key 'output'",
                                                    "t.recipe:8: key 'build' cannot stand in a variant",
                                                    "t.recipe:9: section [other] is not known"};

                ck_assert_msg(strstr(message, words[i]) != NULL, "'%s' does not say '%s'", message, words[i]);
        }
        ck_assert_ptr_null(strstr(message, "no key 'build'"));
        done();
}
END_TEST

START_TEST(test_config_links_and_leftovers)
{
        ck_assert_int_eq(symlink("real", "config"), 0);
        put_file("real", "[solverfs]\n");
        write_config("s", MINIMAL);
        ck_assert_int_eq(access(".real.writing", F_OK), -1); /* the lock is taken away */
        ck_assert_int_eq(readlink("config", (char[8]){0}, 8), 4);
        done();
        assert_ok(read_config("real", &list, &n_list));
        done();
}
END_TEST

START_TEST(test_config_mistakes)
{
        static const struct {
                const char *text, *place, *words;
        } mistakes[] = {
                {"[solver]\nbuild = x\n", "config:1: ", "a solver needs a name here"},
                {"[variant \"x\"]\n", "config:1: ", "is for recipe files"},
                {"[solver \"v\"]\nvariant = z\n", "config:1: ", "which is not there"},
                {"[solver \"v\"]\nvariant\n", "config:1: ", "which is not there"},
                {"[solver \"v\"]\nvariant = v\n", "config:1: ", "which is a variant itself"},
                {"[solver \"a/b\"]\nx = 1\n", "config:1: ", "cannot be a solver's name"},
                {"[solver \"s\"]\nbuild = x; y\n", "config:2: ", "takes ';'"},
                {"[solver \"s\"]\nrepositry = /r\n", "config:2: ", "did you mean 'repository'?"},
                {"[solver \"s\"]\nbuild = x\noutput = s\nrun = {bin} {case}\n[solver \"v\"]\nvariant = s\nrepository = r\n",
                 "config:7: ", "cannot stand in a variant"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
                const char *message;

                put_file("config", mistakes[i].text);
                assert_error(read_config("config", &list, &n_list), EINVAL);
                message = error_message(-EINVAL);
                ck_assert_msg(strncmp(message, mistakes[i].place, strlen(mistakes[i].place)) == 0 &&
                                      strstr(message, mistakes[i].words),
                              "'%s' is not '%s… %s'", message, mistakes[i].place, mistakes[i].words);
        }
        put_file("config", "[core]\n x = a;b\n y = \\\n\n[solverfs]\n z = \"a\\\\\" # b\n");
        assert_ok(read_config("config", &list, &n_list)); /* others' sections are theirs */
        ck_assert_uint_eq(n_list, 0);
        done();
}
END_TEST

/* A new solver that its variant in the file would not fit is not written. */
START_TEST(test_config_stays_readable)
{
        const char *text = "[solver \"s\"]\nbuild = x\noutput = s\nrun = {bin} {seed} {case}\nseed = {n}\n"
                           "[solver \"v\"]\nvariant = s\nseed = -{n}\n";

        put_file("config", text);
        assert_ok(recipe_parse(MINIMAL, "t.recipe", "s", &list, &n_list));
        assert_error(recipe_write_config("config", list, n_list), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "'run' has no {seed}"));
        check_file("config", text);
        done();
}
END_TEST

START_TEST(test_config_written_by_many)
{
        for (int i = 0; i < 8; i++)
                if (fork() == 0) {
                        char name[8];

                        snprintf(name, sizeof(name), "s%d", i);
                        if (recipe_parse(MINIMAL, "t.recipe", name, &list, &n_list) < 0)
                                _exit(1);
                        _exit(recipe_write_config("config", list, n_list) < 0);
                }
        for (int i = 0, status; i < 8; i++) {
                ck_assert_int_gt(wait(&status), 0);
                ck_assert_int_eq(status, 0);
        }
        assert_ok(read_config("config", &list, &n_list));
        ck_assert_uint_eq(n_list, 8);
        done();
}
END_TEST

START_TEST(test_quantities)
{
        static const struct {
                const char *text;
                uint64_t ns;
                const char *printed;
        } durations[] = {
                {"20", 20 * NSEC_PER_SEC, "20s"},     {"20s", 20 * NSEC_PER_SEC, "20s"},
                {"1.5h", 5400 * NSEC_PER_SEC, "90m"}, {"500ms", 500000000, "500ms"},
                {"0.1ms", 100000, "0.1ms"},           {"0", 0, "0s"},
                {"60m", 3600 * NSEC_PER_SEC, "1h"},   {"1.000000001s", 1000000001, "1000.000001ms"},
                {"0.0000000001s", 0, "0s"},
        };
        static const struct {
                const char *text;
                uint64_t bytes;
                const char *printed;
        } sizes[] = {{"4g", UINT64_C(4) << 30, "4g"},
                     {"512M", 512 << 20, "512m"},
                     {"1.5k", 1536, "1536"},
                     {"0", 0, "0"},
                     {"2048g", UINT64_C(2) << 40, "2t"},
                     {"18446744073709551615", UINT64_MAX, "18446744073709551615"}};
        struct short_text text;
        uint64_t n;

        for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
                assert_ok(parse_duration(durations[i].text, &n));
                ck_assert_uint_eq(n, durations[i].ns);
                text = format_duration(n);
                ck_assert_str_eq(text.s, durations[i].printed);
                assert_ok(parse_duration(text.s, &n));
                ck_assert_uint_eq(n, durations[i].ns);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                assert_ok(parse_size(sizes[i].text, &n));
                ck_assert_uint_eq(n, sizes[i].bytes);
                text = format_size(n);
                ck_assert_str_eq(text.s, sizes[i].printed);
        }
        assert_error(parse_duration("", &n), EINVAL);
        assert_error(parse_duration("1.s", &n), EINVAL);
        assert_error(parse_duration("1..2s", &n), EINVAL);
        assert_error(parse_size("18446744073709551616", &n), EINVAL);
        assert_error(parse_size("20s", &n), EINVAL);
}
END_TEST

SUITE("recipe", test_defaults, test_every_key, test_lost_quotes, test_variants_inherit, test_standard_input, test_commands, test_run_digest_holds_what_matters,
      test_build_digest_holds_what_matters, test_eras_take_the_rest_from_the_solver, test_an_era_does_not_change_other_builds,
      test_a_binary_is_run_in_its_own_way, test_the_digest_for_all_commits_has_the_ways_of_binaries, test_within, test_a_variant_within_has_keys_of_its_own, test_attributes_are_never_left_out, test_a_variant_of_a_released_program_reads_back, test_a_variant_holds_a_submodule, test_any_format, test_mistakes_in_eras, test_eras_come_back, test_unknown_names, test_missing_and_repeated_keys, test_bad_values,
      test_bad_commands, test_syntax_is_explained, test_lines_are_counted_through_continuations, test_read_files, test_example,
      test_print_comes_back, test_print_of_a_variant, test_print_leaves_out_a_cpu_limit_that_follows_the_timeout, test_print_of_a_repository_with_a_newline, test_config_round_trip,
      test_config_keeps_a_limit_that_is_the_default, test_config_keeps_the_rest, test_a_variant_may_run_without_seed, test_config_keeps_comments,
      test_every_mistake_is_told, test_config_links_and_leftovers,
      test_config_mistakes, test_config_stays_readable, test_config_written_by_many, test_quantities)
