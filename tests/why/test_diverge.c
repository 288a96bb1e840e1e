/* Streams, statistics, profiles and functions as tables. */
#include "tests/support/git_shell.h"

#include "core/history/history.h"
#include "core/why/diverge/divergence.h"
#include "core/why/diverge/functions.h"
#include "core/why/diverge/profile.h"
#include "core/why/diverge/statistics.h"
#include "core/why/diverge/trail.h"

/* -- streams -------------------------------------------------------------------------------------------------------- */

/* A text in pieces of a few bytes. */
struct text {
        const char *at;
        size_t left, piece;
};

static ssize_t read_text(void *user, void *to, size_t size)
{
        struct text *t = user;
        size_t n = MIN(MIN(size, t->piece), t->left);

        memcpy(to, t->at, n);
        t->at += n;
        t->left -= n;
        return (ssize_t)n;
}

static struct line_source source(struct text *t, const char *text, bool is_cut)
{
        *t = (struct text){text, strlen(text), 7};
        return (struct line_source){read_text, t, is_cut};
}

static void learn(struct unsteady *u, const char *a, const char *b)
{
        struct text t[2];

        assert_ok(unsteady_learn(u, (struct line_source[]){source(&t[0], a, false), source(&t[1], b, false)}));
}

static void find(struct unsteady *u, const char *a, const char *b, struct divergence *ret)
{
        struct text t[2];

        assert_ok(divergence_find(u, (struct line_source[]){source(&t[0], a, false), source(&t[1], b, false)}, ret));
}

#define SAME UINT64_MAX

/* Where the streams part in shape, and before that in value: numbers of lines on both sides, 0 at an end. */
static const struct {
        const char *a, *b;
        uint64_t shape[2], value[2];
} streams[] = {
        {"", "", {SAME}, {SAME}},
        {"x\ny\n", "x\ny\n", {SAME}, {SAME}},
        {"x\ny\nz\n", "x\nY\nz\n", {2, 2}, {SAME}},
        {"x\ny\n", "x\n", {2, 0}, {SAME}},
        {"", "x\n", {0, 1}, {SAME}},
        {"x\ny", "x\ny\n", {SAME}, {SAME}},                   /* no newline at the end */
        {"x\r\ny\r\n", "x\ny\n", {SAME}, {SAME}},             /* CRLF */
        {"a  b\tc \n", "a b c\n", {SAME}, {SAME}},            /* columns as wide as their numbers */
        {"\n\nx\n", "\nx\n", {2, 2}, {SAME}},                 /* empty lines are lines */
        {"c 12 x\nq\n", "c 13 x\nr\n", {2, 2}, {1, 1}},       /* first a number, then a word */
        {"n -1\n", "n 1\n", {SAME}, {1, 1}},                  /* a sign is the number's */
        {"n 1e-05\n", "n 0.5\n", {SAME}, {1, 1}},             /* and so are point and exponent */
        {"v1 k!17\n", "v1 k!18\n", {SAME}, {1, 1}},
        {"at 0x55d0c0ffee10\n", "at 0x7f31a2b3c4d5\n", {SAME}, {SAME}},
        {"id 71caafb4d182ced9\n", "id 0ed9cb2b2c6fa65\n", {SAME}, {SAME}},
        {"id 71caafb4d182ced9\n", "id none\n", {1, 1}, {SAME}},
        {"took 0.01 s, 12.5 MB\n", "took 3 s, 9 MB\n", {SAME}, {SAME}},
        {":total-time 0.01\n:memory   17.2\n", ":total-time 2.5\n:memory 18.0\n", {SAME}, {SAME}},
        {"conflicts: 12 (100 /sec)\n", "conflicts: 12 (7.5 per second)\n", {1, 1}, {SAME}},
        {"conflicts: 12 (100 /sec)\n", "conflicts: 12 (75 /sec)\n", {SAME}, {SAME}},
        {"pid 2, 3 items\n", "pid 17, 4 items\n", {SAME}, {1, 1}},
        {"reads /solver/z3 now\n", "reads /solver/z3-4.8 now\n", {SAME}, {SAME}},
        {"\x80\xff\x01 1\n", "\x80\xff\x01 2\n", {SAME}, {1, 1}}, /* any bytes */
};

START_TEST(test_streams)
{
        for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
                cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
                struct divergence d;

                find(u, streams[i].a, streams[i].b, &d);
                ck_assert_msg(d.shape.is_found == (streams[i].shape[0] != SAME), "row %zu: shape", i);
                ck_assert_msg(d.value.is_found == (streams[i].value[0] != SAME), "row %zu: value", i);
                for (int side = 0; side < 2; side++) {
                        ck_assert_msg(!d.shape.is_found || d.shape.number[side] == streams[i].shape[side], "row %zu: %lu", i, (unsigned long)d.shape.number[side]);
                        ck_assert_msg(!d.value.is_found || d.value.number[side] == streams[i].value[side], "row %zu: %lu", i, (unsigned long)d.value.number[side]);
                }
                divergence_done(&d);
        }
}
END_TEST

START_TEST(test_context)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;

        find(u, "1 a\n2 b\n3 c\n4 d\n5 e\n6 f\n7 g\nH\ti\n", "1 a\n2 b\n3 c\n4 d\n5 e\n6 f\nx\n", &d);
        ck_assert(d.shape.is_found && d.shape.number[0] == 7 && d.shape.number[1] == 7);
        ck_assert_uint_eq(d.shape.n[0], 7); /* five before, it, and the last */
        ck_assert_uint_eq(d.shape.lines[0][0].number, 2);
        ck_assert_str_eq(d.shape.lines[0][6].text, "H\\ti");
        ck_assert_uint_eq(d.shape.n[1], 6);
        ck_assert_str_eq(d.shape.lines[1][5].text, "x");
        divergence_done(&d);
}
END_TEST

/* What changes by itself is no difference of the versions; what does not, is. */
START_TEST(test_unsteady)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;

        learn(u, "c 0.01 5 restart\nmain\nrandom abc\nend\n", "c 0.02 5 restart\nmain\nrandom xyz\nend\n");
        find(u, "c 0.01 5 restart\nmain\nend\n", "c 0.07 5 restart\nrandom abc\nmain\nend\n", &d);
        ck_assert(!d.shape.is_found && !d.value.is_found);
        ck_assert_uint_eq(d.passed_over, 1);
        find(u, "c 0.01 5 restart\n", "c 0.07 6 restart\n", &d); /* the other number of the same shape counts */
        ck_assert(!d.shape.is_found && d.value.is_found && d.values_differ == 1);
        divergence_done(&d);
}
END_TEST

/* Lines that one side has more are passed over, and what follows is laid against each other again. */
START_TEST(test_unsteady_more_lines)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;

        learn(u, "one\nnoise: q\nnoise: r\ntwo\nthree\n", "one\ntwo\nthree\nnoise: s\n");
        find(u, "one\ntwo\nnoise: q\nthree\n", "noise: r\none\ntwo\nfour\n", &d);
        ck_assert(d.shape.is_found && d.shape.number[0] == 4 && d.shape.number[1] == 4);
        divergence_done(&d);
}
END_TEST

/* Behind a place where they part they are laid against each other again, and what differs then is counted. */
START_TEST(test_partings)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;

        find(u, "a 1\nmoved\nb 1\nc\nd\ne 7\nf\n", "a 1\nin place\nb 2\nc\nmore\nd\ne 7\nf\n", &d);
        ck_assert(d.shape.is_found && d.shape.number[0] == 2 && d.shape.number[1] == 2 && d.partings == 2);
        ck_assert(d.value.is_found && d.value.number[0] == 3 && d.value.number[1] == 3 && d.values_differ == 1);
        ck_assert(d.lines[0] == 7 && d.lines[1] == 8);
        divergence_done(&d);
}
END_TEST

/* Up to 64 lines later they are alike again, though a value differs. */
START_TEST(test_alike_later)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();

        for (int n = 60; n <= 64; n++) {
                cleanup_buffer struct buffer more = {0};
                struct divergence d;

                for (int i = 1; i <= n; i++)
                        buffer_addf(&more, "%0*d\n", i, 0);
                for (char *p = more.data; *p; p++)
                        *p = *p == '0' ? 'x' : *p;
                buffer_adds(&more, "end 2\np\nq\n");
                find(u, "end 1\np\nq\n", more.data, &d);
                ck_assert_msg(d.partings == 1 && d.values_differ == 1, "%d lines: %d partings, %d values", n, (int)d.partings, (int)d.values_differ);
                divergence_done(&d);
        }
}
END_TEST

/* A trace that was cut off ends nowhere. */
START_TEST(test_cut)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;
        struct text t[2];

        assert_ok(divergence_find(u, (struct line_source[]){source(&t[0], "a\nb\nc\nd\n", false), source(&t[1], "a\nb\nc", true)}, &d));
        ck_assert(!d.shape.is_found && d.is_cut);
        assert_ok(divergence_find(u, (struct line_source[]){source(&t[0], "a\nB\nc\nd\n", false), source(&t[1], "a\nb\nc", true)}, &d));
        ck_assert(d.shape.is_found && d.partings == 1 && d.shape.number[0] == 2);
        divergence_done(&d);
}
END_TEST

/* A line of 100 MB, the last byte of which may be another, and zeros. */
struct long_line {
        uint64_t left;
        char last;
};

static ssize_t read_long(void *user, void *to, size_t size)
{
        struct long_line *l = user;
        size_t n = MIN(size, l->left);

        memset(to, l->last == '0' ? 0 : 'x', n);
        l->left -= n;
        if (n > 0 && l->left == 0)
                ((char *)to)[n - 1] = l->last;
        return (ssize_t)n;
}

START_TEST(test_long_line)
{
        static const struct {
                char last[2];
                bool is_same;
        } rows[] = {{"aa", true}, {"ab", false}, {"00", true}};
        const uint64_t size = 100 << 20;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct long_line l[2] = {{size, rows[i].last[0]}, {size, rows[i].last[1]}};
                cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
                struct divergence d;

                assert_ok(divergence_find(u, (struct line_source[]){{read_long, &l[0], false}, {read_long, &l[1], false}}, &d));
                ck_assert(!d.shape.is_found && d.value.is_found == !rows[i].is_same && d.lines[0] == 1);
                divergence_done(&d);
        }
}
END_TEST

/* More shapes than are remembered: memory stays, and so does the answer. */
struct many {
        uint64_t line, n;
        unsigned run;
};

static ssize_t read_many(void *user, void *to, size_t size)
{
        struct many *m = user;
        char word[17];
        int n = 0;

        if (m->line == m->n)
                return 0;
        for (uint64_t i = m->line++ * 2654435761u + m->run; n < 16; i /= 16)
                word[n++] = (char)('g' + i % 16);
        word[n] = '\0';
        return snprintf(to, size, "%s\n", word);
}

START_TEST(test_many_shapes)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct many m[2] = {{0, 100000, 1}, {0, 100000, 2}};
        struct divergence d;

        assert_ok(unsteady_learn(u, (struct line_source[]){{read_many, &m[0], false}, {read_many, &m[1], false}}));
        find(u, "steady\n", "other\n", &d);
        ck_assert(d.shape.is_found);
        divergence_done(&d);
}
END_TEST

static ssize_t read_broken(void *, void *, size_t)
{
        return -EIO;
}

START_TEST(test_broken_source)
{
        cleanup(unsteady_freep) struct unsteady *u = unsteady_new();
        struct divergence d;
        struct text t;

        assert_error(unsteady_learn(u, (struct line_source[]){source(&t, "a\n", false), {read_broken, NULL, false}}), EIO);
        assert_error(divergence_find(u, (struct line_source[]){{read_broken, NULL, false}, source(&t, "a\n", false)}, &d), EIO);
}
END_TEST

/* -- statistics ----------------------------------------------------------------------------------------------------- */

/* NULL: the line has none. */
static const struct {
        const char *line, *name;
        double value;
} lines[] = {
        {"(:added-eqs              3", "added-eqs", 3},
        {" :time                   0.01)", "time", 0.01},
        {" :memory 17.25)", "memory", 17.25},
        {"c conflicts:              5120        2312.33  per second", "conflicts", 5120},
        {"c  fixed:                   12           1.00 % all variables", "fixed", 12},
        {"c total process time since initialization:         0.02    seconds", "total process time since initialization", 0.02},
        {"sat::decisions = 7", "sat::decisions", 7},
        {"driver::totalTime = 5ms", "driver::totalTime", 5},
        {"conflicts             : 12             (1200 /sec)", "conflicts", 12},
        {"conflict literals     : 345            (12.5 % deleted)", "conflict literals", 345},
        {":nodes   123\r", "nodes", 123},
        {"restarts 3", "restarts", 3},
        {"value: -4", "value", -4},
        {"c reading 3 clauses", NULL, 0}, /* a sentence */
        {"c read in 3 passes", NULL, 0},
        {"s UNSATISFIABLE", NULL, 0},
        {"v 1 -2 3 0", NULL, 0},
        {"(smt.stats :restarts 1)", NULL, 0},
        {"12 apples", NULL, 0},
        {"name: 12abc", NULL, 0},
        {"conflicts : 1,234", NULL, 0}, /* not 1 */
        {"conflicts = 12, of all", "conflicts", 12},
        {"name:", NULL, 0},
        {"", NULL, 0},
        {"(", NULL, 0},
        {"c", NULL, 0},
};

START_TEST(test_statistic_lines)
{
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                cleanup_statistics struct statistics s = {0};

                statistics_read(slice_string(lines[i].line), &s);
                ck_assert_msg(s.n == (lines[i].name != NULL), "'%s': %s", lines[i].line, s.n > 0 ? s.list[0].name : "none");
                if (s.n == 0)
                        continue;
                ck_assert_str_eq(s.list[0].name, lines[i].name);
                ck_assert_double_eq_tol(s.list[0].value, lines[i].value, 1e-12);
        }
}
END_TEST

START_TEST(test_statistics_compared)
{
        static const char *const texts[2][2] = {
                {"conflicts: 100\nrestarts: 40\nsteps: 1000\nsmall: 2\nonly: 900\nnoisy: 100\nconflicts: 200\n", "conflicts: 200\nnoisy: 900\n"},
                {"conflicts: 100\nrestarts: 400\nsteps: 1000\nsmall: 14\nother: 900\nnoisy: 300\n", "conflicts: 100\nnoisy: 350\n"}};
        struct statistics run[2] = {0}, again[2] = {0};
        cleanup_free struct statistic_change *c = NULL;
        size_t n;

        for (int side = 0; side < 2; side++) {
                statistics_read(slice_string(texts[side][0]), &run[side]);
                statistics_read(slice_string(texts[side][1]), &again[side]);
        }
        c = statistics_compare(run, again, &n);
        ck_assert_uint_eq(n, 2); /* the last number counts; too small, of one side alone, or as different by itself: none */
        ck_assert_str_eq(c[0].name, "restarts");
        ck_assert_double_eq_tol(c[0].ratio, 401 / 41., 1e-9);
        ck_assert_str_eq(c[1].name, "conflicts");
        ck_assert_double_eq_tol(c[1].ratio, 101 / 201., 1e-9);
        for (int side = 0; side < 2; side++) {
                statistics_done(&run[side]);
                statistics_done(&again[side]);
        }
}
END_TEST

START_TEST(test_statistic_is_of)
{
        cleanup_statistics struct statistics all = {0};

        statistics_read(slice_string("clauses_reduced: 1\nclauses_added: 1\nrestarts: 1\nreductions: 2\nwalk_steps: 1\n"), &all);
        ck_assert_double_gt(statistic_file_fit("clauses_reduced", "src/reduce.c", &all),
                            statistic_file_fit("clauses_reduced", "src/clause.c", &all) - 1e-9);
        ck_assert_double_gt(statistic_file_fit("reductions", "src/reduce.c", &all), 0);
        ck_assert_double_gt(statistic_file_fit("restarts", "restart.h", &all), 0);
        ck_assert_double_eq(statistic_file_fit("restarts", "src/reduce.c", &all), 0);
        ck_assert_double_eq(statistic_file_fit("forewalks", "src/walk.c", &all), 0); /* words begin where they do */
        ck_assert_double_eq(statistic_file_fit("restarts", "", &all), 0);
        ck_assert_double_eq(statistic_file_fit("re", "r.c", &all), 0);
        ck_assert_double_eq(statistic_file_fit("conflicts", "conf.c", &all), 0); /* the larger part of the word */
}
END_TEST

/* -- profiles ------------------------------------------------------------------------------------------------------- */

/* At 0x100 is main, at 0x200 search, at 0x300 helper, at 0x400 work, in which `small` is expanded from 0x480 on; each is 0x100 long. */
static void name_code(struct profile *p)
{
        static const char *const names[] = {"main", "search", "helper", "work"};

        for (size_t i = 0; i < p->n_addresses; i++) {
                struct profile_address *a = &p->addresses[i];
                unsigned function = (unsigned)(a->offset / 0x100);

                if (a->file == 1)
                        profile_add_code(p, a, "lib", "");
                else if (function >= 1 && function <= 4) {
                        if (a->offset >= 0x480)
                                profile_add_code(p, a, "small", "small.h");
                        profile_add_code(p, a, names[function - 1], function == 1 ? "main.c" : "search.c");
                }
        }
}

static void make_profile(const char *before, const char *after, struct profile *ret)
{
        const struct slice text[2] = {slice_string(before), slice_string(after)};

        *ret = (struct profile){0};
        profile_read(ret, text);
        name_code(ret);
        profile_count(ret, text);
}

static const struct profile_function *function(const struct profile *p, const char *name)
{
        for (size_t i = 0; i < p->n_functions; i++)
                if (strcmp(p->functions[i].name, name) == 0)
                        return &p->functions[i];
        ck_abort_msg("no function %s", name);
}

START_TEST(test_profile)
{
        /* work, called by search, called by main; between them calls that are over: of helper by search, of main by nobody */
        static const char before[] = "M 0 /solver/s\nM 1 /lib/l.so\nS 1000000000 0:410 0:220:400 0:120:200\n",
                          after[] = "M 0 /solver/s\nM 1 /lib/l.so\n"
                                    "S 1000000000 0:410 0:230:300 0:220:400 0:110:100 0:120:200\n"
                                    "S 3000000000 0:490 0:220:400 0:120:200\n"
                                    "S 2000000000 0:410 0:220:4"; /* cut off */
        cleanup_profile struct profile p = {0};

        make_profile(before, after, &p);
        ck_assert_double_eq_tol(p.seconds[0], 1, 1e-9);
        ck_assert_double_eq_tol(p.seconds[1], 4, 1e-9);
        ck_assert_double_eq_tol(function(&p, "work")->self[1], 1, 1e-9);
        ck_assert_double_eq_tol(function(&p, "work")->total[1], 4, 1e-9);
        ck_assert_double_eq_tol(function(&p, "small")->self[1], 3, 1e-9);
        ck_assert_double_eq_tol(function(&p, "main")->total[1], 4, 1e-9);
        for (size_t i = 0; i < p.n_functions; i++)
                ck_assert(strcmp(p.functions[i].name, "helper") != 0 || p.functions[i].total[1] == 0);
        ck_assert_ptr_nonnull(p.path[0]);
        ck_assert_str_eq(p.path[0]->name, "small");
        ck_assert_str_eq(p.path[0]->file, "small.h");
        ck_assert_ptr_eq(p.functions, p.path[0]); /* it has grown most */
}
END_TEST

/* Time in a library is that of whoever calls it. */
START_TEST(test_profile_library)
{
        cleanup_profile struct profile p = {0};

        make_profile("M 0 /solver/s\nM 1 /lib/l.so\nS 500000000 0:150\n",
                     "M 0 /solver/s\nM 1 /lib/l.so\nS 500000000 0:150\nS 2000000000 1:77 0:320 0:220:300 0:120:200\nS 400000000 1:99 0:120\n", &p);
        ck_assert_ptr_nonnull(p.path[0]);
        ck_assert_str_eq(p.path[0]->name, "helper");
        ck_assert_ptr_null(p.path[1]); /* search is in the same file, and main has the other time, too */
        ck_assert_double_eq_tol(function(&p, "lib")->self[1], 2.4, 1e-9);
}
END_TEST

/* No place: more of the same; no more time; nothing at all. */
START_TEST(test_profile_without_place)
{
        static const struct {
                const char *before, *after;
                bool has_most;
        } rows[] = {{"S 1000000000 0:210\nS 1000000000 0:310\n", "S 3000000000 0:210\nS 3000000000 0:310\n", false},
                    {"S 1000000000 0:210\nS 1000000000 0:310\n", "S 3000000000 0:210\nS 3400000000 0:310\n", true},
                    {"S 1000000000 0:210\n", "S 1000000000 0:310\n", false},
                    {"S 1000000000 0:210\n", "", false},
                    {"", "", false},
                    {"S 12\nS x 0:1\njunk\nM\nS 5 9:1\n", "S 99999999999999999999 0:210\nS 1 0:zz\n", false}};

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                cleanup_profile struct profile p = {0};

                make_profile(rows[i].before, rows[i].after, &p);
                ck_assert_msg((i == 5 || !p.path[0]) && (p.most != NULL) == rows[i].has_most, "row %zu", i);
        }
}
END_TEST

/* -- functions ------------------------------------------------------------------------------------------------------ */

static const char code[] = "#include <stdio.h>\n"                   /* 1 */
                           "static int limit = f(3);\n"             /* 2 */
                           "int plain(int a)\n"                     /* 3 */
                           "{\n"                                    /* 4 */
                           "        if (a > 0) {\n"                 /* 5 */
                           "                return call(a,\n"       /* 6 */
                           "                            b);\n"      /* 7 */
                           "        }\n"                            /* 8 */
                           "#ifdef LATER\n"                         /* 9 */
                           "again:\n"                               /* 10 */
                           "        a++;\n"                         /* 11 */
                           "}\n"                                    /* 12 */
                           "\n"                                     /* 13 */
                           "int between;\n"                         /* 14 */
                           "namespace smt {\n"                      /* 15 */
                           "    void context::propagate(int first,\n"  /* 16 */
                           "                            int second) {\n" /* 17 */
                           "        for (auto x : all(first)) {\n"  /* 18 */
                           "            work(x);\n"                 /* 19 */
                           "        }\n"                            /* 20 */
                           "    }\n"                                /* 21 */
                           "}\n"                                    /* 22 */
                           "static void\n"                          /* 23 */
                           "gnu (int a)\n"                          /* 24 */
                           "{\n"                                    /* 25 */
                           "  return;\n"                            /* 26 */
                           "}\n"                                    /* 27 */
                           "static __attribute__((noinline)) int search (void)\n" /* 28 */
                           "{\n"                                    /* 29 */
                           "  return 1;\n"                          /* 30 */
                           "}\n"                                    /* 31 */
                           "int __attribute__ ((aligned (16)))*last (void) {\n" /* 32 */
                           "}";                                     /* 33 */

START_TEST(test_function_at)
{
        static const struct {
                unsigned line;
                const char *name;
        } rows[] = {{1, ""}, {2, ""}, {3, "plain"}, {5, "plain"}, {6, "plain"}, {7, "plain"}, {11, "plain"}, {12, "plain"}, {14, ""}, {16, "context::propagate"},
                    {17, "context::propagate"}, {19, "context::propagate"}, {26, "gnu"}, {27, "gnu"}, {30, "search"}, {33, "last"}, {99, "last"}, {0, ""}};

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                cleanup_free char *name = function_at(slice_string(code), rows[i].line);

                ck_assert_msg(strcmp(name, rows[i].name) == 0, "line %u: '%s', not '%s'", rows[i].line, name, rows[i].name);
        }
        free(function_at((struct slice){0}, 3));
}
END_TEST

#define LINES 1000
#define STEP  7 /* from one line that changes to the next */

static void commit_lines(bool is_changed, struct buffer *ret)
{
        static const char *const kinds[] = {"int one(int a)", "{", "}", "        a++;", "        if (a) {", "                b();", "        }", "",
                                            "again:", "#ifdef X", "static void two(void) {", "  three()", "  {", "  }", "\tc();",
                                            "                        return d(a,"};
        struct random random;

        random_seed(&random, test_seed(3));
        for (unsigned i = 0; i < LINES; i++) {
                const char *kind = kinds[random_below(&random, ARRAY_SIZE(kinds))];

                if (i % STEP == 0)
                        buffer_addf(ret, "%*s%s%u();\n", (int)(i % 5 * 4), "", is_changed ? "after" : "before", i);
                else
                        buffer_addf(ret, "%s\n", kind);
        }
        assert_ok(write_file_atomic("source/a.c", ret->data, ret->size, 0600));
        shell("cd source && commit next");
}

/* Each `step`-th line that is in the function. */
static unsigned count_lines(const struct buffer *text, unsigned step, const char *function)
{
        unsigned n = 0;

        for (unsigned i = 0; i < LINES; i += step) {
                cleanup_free char *name = function_at(SLICE(text->data, text->size), i + 1);

                n += strcmp(name, function) == 0;
        }
        return n;
}

/* Lines that are looked up together are of the functions that each is of alone. */
START_TEST(test_changed_functions)
{
        static const struct history_tables tables = {0, 1, 2, 3};
        cleanup_buffer struct buffer before = {0}, after = {0};
        char file[] = "a.c", *const paths[] = {file, NULL};
        struct changed_functions added = {0}, changed = {0};
        struct store *store = NULL;
        struct history *history = NULL;
        uint32_t first, second, n;
        unsigned sum = 0;

        shell("git init -q source");
        commit_lines(false, &before);
        commit_lines(true, &after);
        assert_ok(store_open("store", (const char *[]){"commits", "oids", "refs", "sources"}, 4, STORE_CREATE, &store));
        assert_ok(make_dirs("repos", 0700));
        assert_ok(history_clone("repos", "x", "source", HISTORY_SILENCE_NS, NULL));
        assert_ok(history_open(store, &tables, "repos", "x", 7, &history));
        assert_ok(history_update(history, NULL, true, NULL, &n));
        assert_ok(history_resolve(history, "HEAD~1", &first));
        assert_ok(history_resolve(history, "HEAD", &second));

        assert_ok(changed_functions(history, first, paths, &added));
        for (size_t i = 0; i < added.n; sum += added.list[i++].added)
                ck_assert_uint_eq(added.list[i].added, count_lines(&before, 1, added.list[i].name));
        ck_assert_uint_eq(sum, LINES);
        assert_ok(changed_functions(history, second, paths, &changed));
        ck_assert_uint_gt(changed.n, 2);
        for (size_t i = 0; i < changed.n; i++) {
                ck_assert_uint_eq(changed.list[i].removed, count_lines(&before, STEP, changed.list[i].name));
                ck_assert_uint_eq(changed.list[i].added, count_lines(&after, STEP, changed.list[i].name));
        }
        changed_functions_done(&added);
        changed_functions_done(&changed);
        history_unref(history);
        store_close(store);
}
END_TEST

/* -- trails --------------------------------------------------------------------------------------------------------- */

START_TEST(test_trail_skip)
{
        cleanup_buffer struct buffer skip = {0};

        trail_skip_list((struct slice[]){slice_string("N work\nN main\nN work\nN old\nN cut o"), slice_string("N main\nnoise\nN zoo\nN work\nN anew\n")}, &skip);
        ck_assert_str_eq(skip.data, "anew\nold\nzoo\n");
}
END_TEST

/* A chunk of ten steps for each letter; with a full stop the program has ended. */
static void make_trail(const char *letters, struct trail *ret)
{
        cleanup_buffer struct buffer text = {0};

        for (const char *p = letters; *p; p++)
                if (*p == '.')
                        buffer_adds(&text, "X\n");
                else
                        buffer_addf(&text, "K a %x\n", (unsigned char)*p);
        buffer_adds(&text, "K ffff"); /* cut off */
        trail_read(SLICE(text.data, text.size), ret);
}

/* The steps before the parting that counts, on both sides; whether they go on in different ways; how many others there are. */
static const struct {
        const char *a, *b;
        uint64_t from[2];
        bool is_found, is_last;
        uint64_t others;
} trails[] = {
        {".", ".", {0, 0}, false, false, 0},
        {"abc.", "abc.", {0, 0}, false, false, 0},
        {"abcdefgh.", "abPQRSTU.", {20, 20}, true, true, 0},
        {"abcdef.", "abXdef.", {20, 20}, true, false, 0},                                            /* a chunk of another kind */
        {"abcdefghij.", "abXYcdefghij.", {20, 20}, true, false, 0},                                  /* something put in */
        {"abXYcdefghij.", "abcdefghij.", {20, 20}, true, false, 0},                                  /* and left out */
        {"abcdefghijklmnop.", "aXbcdefghijQRSTUV.", {100, 110}, true, true, 1},                      /* behind that the real one */
        {"abcdefghijkLMNOPQRSTUVWXYZ.", "aXbcdefghijk0123456789+-*/=.", {110, 120}, true, true, 1}, /* though most is different */
        {"abcdefghij.", "aUVWXYZbcdefg123456789.", {10, 10}, true, true, 1},                        /* alike again by chance */
        {"abcdefghijklmnop.", "aXbcdefgYhijklmnop.", {10, 10}, true, false, 1},                      /* two that are not */
        {"abbbbbbbbbcdefghi.", "aXYZbbbbbbbbbjklmnopqr.", {10, 10}, true, true, 0},                  /* a loop is no proof */
        {"aBCBCBCBCBCBCdefghi.", "aXYZBCBCBCBCBCBCjklmnopqr.", {10, 10}, true, true, 0},             /* of two chunks, too */
        {"abc.", "abcdef.", {30, 30}, true, true, 0},                                                /* the end of one */
        {"abc", "abcdef.", {0, 0}, false, false, 0},                                                 /* which was cut off: nothing is known */
        {"abcdef.", "abX", {20, 20}, true, true, 0},
};

START_TEST(test_trails)
{
        for (size_t i = 0; i < ARRAY_SIZE(trails); i++) {
                struct trail t[2];
                struct trail_parting p;

                make_trail(trails[i].a, &t[0]);
                make_trail(trails[i].b, &t[1]);
                trail_compare(t, &p);
                ck_assert_msg(p.is_found == trails[i].is_found && p.is_last == trails[i].is_last && p.further == trails[i].others &&
                                      p.from[0] == trails[i].from[0] && p.from[1] == trails[i].from[1],
                              "%s and %s: found %d, last %d, others %d, from %d and %d", trails[i].a, trails[i].b, p.is_found, p.is_last, (int)p.further,
                              (int)p.from[0], (int)p.from[1]);
                trail_done(&t[0]);
                trail_done(&t[1]);
        }
}
END_TEST

/* In the last hundredth of a run its times are printed. */
START_TEST(test_trail_end)
{
        struct trail_chunk chunks[2][2] = {{{1000, 1}, {5, 2}}, {{1000, 1}, {7, 3}}};
        const struct trail t[2] = {{chunks[0], 2, 1005, true, false}, {chunks[1], 2, 1007, true, false}};
        struct trail_parting p;

        trail_compare(t, &p);
        ck_assert(!p.is_found);
}
END_TEST

#define FUNCTIONS "M 0 /solver/a\nF 5 0 1000 main\nF 2 0 1100 decide\nF 7 0 1200 act\nF 9 0 1300 only_here\nS 5\n"

/* Where control goes another way: the innermost function that both are in, the steps before, and what either does next. */
static const struct {
        const char *a, *b, *place, *next;
        uint64_t steps;
        size_t entered;
} places[] = {
        {"C 2\nT 2 1 0 1110\nR 2\nC 7\n", "C 2\nT 2 0 0 1114\nR 2\n", "decide", "TT", 1, 1},     /* a comparison comes out otherwise */
        {"C 2\nT 2 1 0 1110\nR 2\n", "C 2\nR 2\n", "decide", "TR", 1},                            /* one is gone: still in the callee */
        {"C 2\nR 2\nC 7\n", "C 2\nR 2\nT 5 1 0 1010\n", "main", "CT", 2},                        /* behind the callee: in the caller */
        {"C 2\nR 2\nC 7\nR 7\n", "C 2\nc 9\nr 9\nR 2\nC 7\nR 7\nR 5\n", "main", "XR", 4},  /* what one side alone has is no step */
        {"C 2\n", "c 9\nC 2\nT 2 0 0 1110\n", "decide", "XT", 1},                                /* and not among what both have open */
        {"C 2\nC 7\nT 7 1 0 1210\n", "C 2\nC 7\nT 7 0 0 1214\n", "act", "TT", 2, 2},               /* both were just called */
        {"C 2\nT 2 1 0 1110\nC 7\nT 7 1 0 1210\n", "C 2\nT 2 1 0 1110\nC 7\nT 7 0 0 1214\n", "act", "TT", 3, 1},
        {"C 2\nR 2\n", "C 2\nR 2\n", NULL, "", 2, 0},
};

START_TEST(test_trail_places)
{
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                cleanup_free char *a = format_string(FUNCTIONS "%s", places[i].a), *b = format_string(FUNCTIONS "%sC 77\nrubbish\nC 2", places[i].b);
                struct trail_window w[2];
                struct trail_place p;

                trail_window_read(slice_string(a), &w[0]);
                trail_window_read(slice_string(b), &w[1]);
                trail_find_place(w, &p);
                ck_assert_msg(p.is_found == !!places[i].place && p.steps == places[i].steps && p.entered == places[i].entered, "row %zu: %d after %d, %d entered", i,
                              p.is_found, (int)p.steps, (int)p.entered);
                if (p.is_found)
                        ck_assert_str_eq(w[1].functions[p.stack[1][p.n - 1]].name, places[i].place);
                for (int side = 0; side < 2 && p.is_found; side++)
                        ck_assert_int_eq(p.next[side] < w[side].n_steps ? w[side].steps[p.next[side]].kind : 'X', places[i].next[side]);
                trail_place_done(&p);
                trail_window_done(&w[0]);
                trail_window_done(&w[1]);
        }
}
END_TEST

SUITE("diverge", test_trail_skip, test_trails, test_trail_end, test_trail_places, test_streams, test_context, test_unsteady, test_unsteady_more_lines, test_partings, test_alike_later, test_cut, test_long_line, test_many_shapes, test_broken_source, test_statistic_lines,
      test_statistics_compared, test_statistic_is_of, test_profile, test_profile_library, test_profile_without_place, test_function_at,
      test_changed_functions)
