#include "tests/support/test.h"

#include "core/why/cut/cut.h"

/* Of a list such as "1,3". */
static void keep(const char *list, bool ret[16])
{
        memset(ret, 0, 16 * sizeof(*ret));
        for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
                ret[atoi(p) - 1] = true;
}

struct row {
        const char *what, *script;
        size_t query;
        enum cut_form form;
        const char *kept;
        const char *cut; /* as lines; of an error its sentence */
};

static const struct row rows[] = {
        {"the first of two", "(declare-fun x () Int)\n(assert (> x 0))\n(check-sat)\n(assert (< x 0))\n(check-sat)", 1, CUT_ALONE, NULL,
         "(declare-fun x () Int)\n(assert (> x 0))\n(check-sat)\n"},
        {"the second, without the first", "(assert a)(check-sat)(assert b)(check-sat)", 2, CUT_ALONE, NULL, "(assert a)\n(assert b)\n(check-sat)\n"},
        {"the second, with the first", "(assert a)(check-sat)(assert b)(check-sat)", 2, CUT_SCOPES, "1",
         "(assert a)\n(check-sat)\n(assert b)\n(check-sat)\n"},
        {"text between commands is left out, inside them it stays", "; head\n(assert ; why\n a) ; tail\n(check-sat)", 1, CUT_ALONE, NULL,
         "(assert ; why\n a)\n(check-sat)\n"},
        {"literals of an assumption", "(check-sat)(check-sat-assuming (p (not q)))", 2, CUT_ALONE, NULL, "(check-sat-assuming (p (not q)))\n"},
        /* scopes */
        {"what is popped is gone", "(assert a)(push 1)(declare-fun x () Int)(assert b)(check-sat)(pop 1)(assert c)(check-sat)", 2, CUT_ALONE, NULL,
         "(assert a)\n(assert c)\n(check-sat)\n"},
        {"what is open is in force, and later assertions are not",
         "(assert a)(push 1)(assert b)(push)(assert c)(check-sat)(assert d)(pop)(pop)(check-sat)", 1, CUT_ALONE, NULL,
         "(assert a)\n(assert b)\n(assert c)\n(check-sat)\n"},
        {"its scopes are there", "(assert a)(push 1)(assert b)(push)(assert c)(check-sat)(pop)(pop)", 1, CUT_SCOPES, NULL,
         "(assert a)\n(push 1)\n(assert b)\n(push)\n(assert c)\n(check-sat)\n"},
        {"levels at a time", "(push 3)(assert a)(pop 1)(assert b)(pop 1)(assert c)(check-sat)", 1, CUT_ALONE, NULL, "(assert c)\n(check-sat)\n"},
        {"of several levels those that are needed", "(push 3)(assert a)(pop 1)(assert b)(check-sat)(pop 2)(check-sat)", 1, CUT_SCOPES, NULL,
         "(push 2)\n(assert b)\n(check-sat)\n"},
        {"a pop of levels of which one is needed", "(push 1)(assert a)(check-sat)(push 1)(assert b)(pop 2)(check-sat)", 2, CUT_SCOPES, "1",
         "(push 1)\n(assert a)\n(check-sat)\n(pop 1)\n(check-sat)\n"},
        {"no levels", "(push 0)(assert a)(pop 0)(check-sat)", 1, CUT_SCOPES, NULL, "(assert a)\n(check-sat)\n"},
        {"a scope that encloses nothing kept goes, one that does stays",
         "(push 1)(assert a)(check-sat)(pop 1)(push 1)(assert b)(check-sat)(assert c)(pop 1)(push 1)(assert d)(check-sat)(pop 1)", 3, CUT_SCOPES, "2",
         "(push 1)\n(assert b)\n(check-sat)\n(pop 1)\n(push 1)\n(assert d)\n(check-sat)\n"},
        {"the whole script without a query", "(push 1)(assert a)(check-sat)(get-model)(pop 1)(assert b)(check-sat)(assert c)(check-sat)", 2, CUT_WHOLE,
         NULL, "(push 1)\n(assert a)\n(pop 1)\n(assert b)\n(check-sat)\n"},
        {"the whole script", "(set-info :status sat)(assert a)(check-sat)(reset)(reset-assertions)(push)(pop)(assert b)(check-sat)(exit)", 2, CUT_WHOLE,
         "1",
         "(set-info :status sat)\n(assert a)\n(check-sat)\n(reset)\n(reset-assertions)\n(push)\n(pop)\n(assert "
         "b)\n(check-sat)\n"},
        {"a scope that is never closed", "(push 1)(assert a)(check-sat)(push 1)(assert b)(check-sat)", 2, CUT_SCOPES, NULL,
         "(push 1)\n(assert a)\n(push 1)\n(assert b)\n(check-sat)\n"},
        {"a name that means something else in another scope", "(push)(declare-fun x () Int)(check-sat)(pop)(push)(declare-fun x () Real)(check-sat)", 2,
         CUT_ALONE, NULL, "(declare-fun x () Real)\n(check-sat)\n"},
        {"commands that nobody here knows belong to their scope", "(minimize x)(push)(assert-soft a)(pop)(assert-soft b)(check-sat)", 1, CUT_ALONE, NULL,
         "(minimize x)\n(assert-soft b)\n(check-sat)\n"},
        /* options, infos, what prints */
        {"options are of no scope", "(set-logic QF_LIA)(push 1)(set-option :timeout 5)(assert a)(pop 1)(check-sat)", 1, CUT_ALONE, NULL,
         "(set-logic QF_LIA)\n(set-option :timeout 5)\n(check-sat)\n"},
        {"a status goes with its query", "(set-info :source x)(set-info :status sat)(check-sat)(set-info :status unsat)(check-sat)", 2, CUT_ALONE, NULL,
         "(set-info :source x)\n(set-info :status unsat)\n(check-sat)\n"},
        {"a status is not the next query's", "(set-info :status sat)(check-sat)(check-sat)", 2, CUT_ALONE, NULL, "(check-sat)\n"},
        {"what prints goes with the query before it",
         "(echo \"a\")(check-sat)(get-model)(assert a)(echo \"b\")(check-sat)(set-option :x 1)(get-value (a))(echo \"c\")(assert "
         "b)(echo \"d\")",
         2, CUT_ALONE, NULL, "(assert a)\n(check-sat)\n(get-value (a))\n(echo \"c\")\n"},
        {"and with those that are kept", "(check-sat)(get-model)(check-sat)(get-model)(check-sat)", 3, CUT_SCOPES, "1",
         "(check-sat)\n(get-model)\n(check-sat)\n"},
        {"Z3's other commands", "(check-sat-using smt)(check-sat)(get-objectives)(check-sat-using smt)(get-model)", 2, CUT_ALONE, NULL,
         "(check-sat)\n(get-objectives)\n"},
        {"Z3's other questions", "(check-sat)(check-sat-using smt)(get-consequences (a) (b))(query p)(get-model)", 4, CUT_SCOPES, "2",
         "(check-sat-using smt)\n(query p)\n(get-model)\n"},
        {"a query by Z3's own command", "(check-sat)(get-consequences (a) (b))(get-model)", 2, CUT_ALONE, NULL,
         "(get-consequences (a) (b))\n(get-model)\n"},
        {"strings, quoted names and comments hold parentheses", "(set-info :a \")((\"\"(\")(declare-fun |(| () Int) ;(\n(check-sat)", 1, CUT_ALONE, NULL,
         "(set-info :a \")((\"\"(\")\n(declare-fun |(| () Int)\n(check-sat)\n"},
        {"strings of 2.0", "(set-info :smt-lib-version 2.0)(assert (= s \"\\\"(\"))(check-sat)", 1, CUT_ALONE, NULL,
         "(set-info :smt-lib-version 2.0)\n(assert (= s \"\\\"(\"))\n(check-sat)\n"},
        /* resets */
        {"reset", "(set-logic QF_LIA)(declare-fun x () Int)(assert a)(check-sat)(reset)(set-logic QF_BV)(assert b)(check-sat)", 2, CUT_ALONE, NULL,
         "(set-logic QF_BV)\n(assert b)\n(check-sat)\n"},
        {"reset behind what is kept", "(set-logic QF_LIA)(push)(assert a)(check-sat)(reset)(set-logic QF_BV)(assert b)(check-sat)", 2, CUT_SCOPES, "1",
         "(set-logic QF_LIA)\n(push)\n(assert a)\n(check-sat)\n(reset)\n(set-logic QF_BV)\n(assert b)\n(check-sat)\n"},
        {"reset-assertions", "(set-logic QF_LIA)(assert a)(push 1)(declare-fun y () Int)(assert b)(check-sat)(reset-assertions)(assert c)(check-sat)", 2,
         CUT_ALONE, NULL, "(set-logic QF_LIA)\n(assert c)\n(check-sat)\n"},
        {"what was declared before reset-assertions may be known", "(declare-fun x () Int)(assert a)(reset-assertions)(assert (< x 0))(check-sat)", 1,
         CUT_ALONE, NULL, "(declare-fun x () Int)\n(assert (< x 0))\n(check-sat)\n"},
        {"and is not where it is declared again", "(declare-fun x () Int)(declare-fun y () Int)(reset-assertions)(declare-fun x () Real)(check-sat)", 1,
         CUT_ALONE, NULL, "(declare-fun y () Int)\n(declare-fun x () Real)\n(check-sat)\n"},
        {"... not even before that",
         "(declare-fun x () Int)(assert a)(reset-assertions)(check-sat)(declare-fun x () "
         "Real)(check-sat)(reset-assertions)(check-sat)(declare-fun x () Bool)(check-sat)",
         4, CUT_SCOPES, "1,3", "(check-sat)\n(reset-assertions)\n(check-sat)\n(declare-fun x () Bool)\n(check-sat)\n"},
        {"datatypes that are declared again", "(declare-datatypes ((T 0)) (((a))))(reset-assertions)(push)(declare-datatypes ((T 0)) (((b))))(check-sat)",
         1, CUT_ALONE, NULL, "(declare-datatypes ((T 0)) (((b))))\n(check-sat)\n"},
        {"reset-assertions behind what is kept",
         "(declare-fun x () Int)(push)(assert a)(check-sat)(reset-assertions)(assert c)(reset-assertions)(check-sat)", 2, CUT_SCOPES, "1",
         "(declare-fun x () Int)\n(push)\n(assert a)\n(check-sat)\n(reset-assertions)\n(reset-assertions)\n(check-sat)\n"},
        {"a pop behind reset-assertions is of what was pushed since", "(push 2)(reset-assertions)(push 1)(assert a)(pop 1)(assert b)(check-sat)", 1,
         CUT_ALONE, NULL, "(assert b)\n(check-sat)\n"},
        /* :global-declarations */
        {"global declarations",
         "(set-option :global-declarations true)(push)(declare-fun x () Int)(assert a)(pop)(reset-assertions)(assert (> x "
         "0))(check-sat)",
         1, CUT_ALONE, NULL, "(set-option :global-declarations true)\n(declare-fun x () Int)\n(assert (> x 0))\n(check-sat)\n"},
        {"they end with reset", "(set-option :global-declarations true)(reset)(push)(declare-fun x () Int)(pop)(check-sat)", 1, CUT_ALONE, NULL,
         "(check-sat)\n"},
        {"a name in a scope that is gone", "(set-option :global-declarations true)(push)(assert (! a :named n))(assert b)(pop)(check-sat-assuming (n))", 1,
         CUT_ALONE, NULL, "(set-option :global-declarations true)\n(push 1)\n(assert (! a :named n))\n(pop 1)\n(check-sat-assuming (n))\n"},
        {"a name that is in force", "(set-option :global-declarations true)(push)(assert (! a :named n))(check-sat)", 1, CUT_ALONE, NULL,
         "(set-option :global-declarations true)\n(assert (! a :named n))\n(check-sat)\n"},
        {"without them a name goes with its scope", "(push)(assert (! a :named n))(pop)(check-sat)", 1, CUT_ALONE, NULL, "(check-sat)\n"},
        /* what is not there, or broken */
        {"no such query", "(check-sat)(check-sat)", 3, CUT_ALONE, NULL, "there is no query 3: the script asks 2"},
        {"no such query of one", "(check-sat)", 17, CUT_ALONE, NULL, "there is no query 17: the script asks 1"},
        {"no query at all", "", 1, CUT_ALONE, NULL, "there is no query 1: the script asks 0"},
        {"behind the end", "(check-sat)\n(exit)\n(check-sat)", 2, CUT_ALONE, NULL, "query 2 is never asked: the script ends by (exit) in line 2"},
        {"before the end", "(check-sat)(exit)(check-sat)", 1, CUT_ALONE, NULL, "(check-sat)\n"},
        {"pop of nothing", "(push)\n(pop 2)\n(check-sat)", 1, CUT_ALONE, NULL, "line 2: pop of 2 levels, and 1 open"},
        {"pop of nothing behind it", "(check-sat)\n(pop 2)\n", 1, CUT_ALONE, NULL, "(check-sat)\n"},
        {"pop of what reset has closed", "(push)\n(reset)\n(pop)(check-sat)", 1, CUT_ALONE, NULL, "line 3: pop of 1 level, and 0 open"},
        {"levels without number", "(push x)(check-sat)", 1, CUT_ALONE, NULL, "line 1: push takes a number of levels, or nothing"},
        {"more levels than there is memory", "(push 99999999999999999999999)(check-sat)", 1, CUT_ALONE, NULL,
         "line 1: more than 1000000 levels are open here"},
        {"levels without end", "(push 1000000)(pop 1000000)\n(push 1000000)(pop 1000000)\n(check-sat)", 1, CUT_ALONE, NULL,
         "line 2: too many levels are pushed up to here"},
        {"many levels", "(push 1000000)(pop 1000000)\n(push 9)(assert a)(check-sat)", 1, CUT_ALONE, NULL, "(assert a)\n(check-sat)\n"},
        {"no closing parenthesis", "(assert a)\n(assert (b)\n(check-sat)", 1, CUT_ALONE, NULL, "line 2: this command has no closing parenthesis"},
        {"no closing parenthesis behind it", "(check-sat)(assert (b)", 1, CUT_ALONE, NULL, "(check-sat)\n"},
        {"too many parentheses", "(assert a))\n(check-sat)", 1, CUT_ALONE, NULL, "line 1: a command is expected here, which begins with a parenthesis"},
        {"words", "\nassert a (check-sat)", 1, CUT_ALONE, NULL, "line 2: a command is expected here, which begins with a parenthesis"},
        {"a string without end", "(assert \"a)(check-sat)", 1, CUT_ALONE, NULL, "line 1: this command has no closing parenthesis"},
        {"nothing in parentheses", "()(check-sat)", 1, CUT_ALONE, NULL, "()\n(check-sat)\n"},
};

/* What was cut asks its last query, and is itself what is cut of it. */
static void check_again(const struct row *row, const struct buffer *text, size_t n)
{
        cleanup_buffer struct buffer again = {0};
        cleanup_cut struct cut *c = NULL;
        bool all[16];

        memset(all, true, sizeof(all));
        assert_ok(cut_read(SLICE(text->data, text->size), n, &c));
        assert_ok(cut_write(c, CUT_WHOLE, all, &again));
        ck_assert_msg(strcmp(again.data, text->data) == 0, "%s: again it is\n%s", row->what, again.data);
}

static void check_row(const struct row *row)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_cut struct cut *c = NULL;
        bool is_kept[16];
        int r = cut_read(slice_string(row->script), row->query, &c);
        size_t n = 1;

        keep(row->kept, is_kept);
        if (r == 0)
                assert_ok(cut_write(c, row->form, row->kept ? is_kept : NULL, &text));
        ck_assert_msg(strcmp(r == 0 ? text.data : error_message(r), row->cut) == 0, "%s: it is\n%s", row->what, r == 0 ? text.data : error_message(r));
        for (size_t i = 0; row->kept && i + 1 < row->query; i++)
                n += is_kept[i];
        if (r == 0)
                check_again(row, &text, n);
}

START_TEST(test_tables)
{
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                check_row(&rows[i]);
}
END_TEST

START_TEST(test_place)
{
        static const size_t lines[] = {1, 4, 5};

        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                cleanup_cut struct cut *c = NULL;

                assert_ok(cut_read(slice_string("(check-sat)\n; (check-sat)\n\n(check-sat)\n(check-sat-assuming (a))"), i + 1, &c));
                ck_assert_uint_eq(c->line, lines[i]);
        }
}
END_TEST

/* -- delta debugging -- */

struct needles {
        size_t list[4], n; /* all of them are needed */
        bool is_either;    /* any one of them suffices */
        size_t size, asked, fails_at;
        bool saw_all;
};

static int shows(void *user, const bool *is_in)
{
        struct needles *needles = user;
        size_t there = 0, all = 0;

        if (++needles->asked == needles->fails_at)
                return -EIO;
        for (size_t i = 0; i < needles->n; i++)
                there += is_in[needles->list[i]];
        for (size_t i = 0; i < needles->size; i++)
                all += is_in[i];
        needles->saw_all |= all == needles->size;
        return needles->is_either ? there > 0 : there == needles->n;
}

START_TEST(test_minimize)
{
        static const struct {
                struct needles needles;
                const char *left;
                size_t asked; /* at most */
        } table[] = {
                {{.size = 0}, "", 0},
                {{.size = 1}, "", 1},
                {{.size = 1, .list = {0}, .n = 1}, "0 ", 1},
                {{.size = 7, .list = {2, 6}, .n = 2}, "2 6 ", 14},
                {{.size = 1000, .list = {2, 6}, .n = 2}, "2 6 ", 40},
                {{.size = 1000, .list = {0, 333, 666, 999}, .n = 4}, "0 333 666 999 ", 80},
                {{.size = 1000}, "", 1},
                {{.size = 40, .list = {5, 17}, .n = 2, .is_either = true}, "17 ", 20},
                {{.size = 4, .list = {0, 1, 2, 3}, .n = 4}, "0 1 2 3 ", 7},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                struct needles needles = table[i].needles;
                cleanup_free bool *is_in = allocate(needles.size + 1, sizeof(*is_in));
                cleanup_buffer struct buffer left = {0};

                assert_ok(cut_minimize(needles.size, shows, &needles, is_in));
                buffer_adds(&left, "");
                for (size_t k = 0; k < needles.size; k++)
                        if (is_in[k])
                                buffer_addf(&left, "%zu ", k);
                ck_assert_str_eq(left.data, table[i].left);
                ck_assert_msg(needles.asked <= table[i].asked, "row %zu: asked %zu times", i, needles.asked);
                ck_assert(!needles.saw_all || needles.size == 0); /* that is known */
        }
}
END_TEST

START_TEST(test_minimize_fails)
{
        struct needles needles = {.size = 10, .list = {3}, .n = 1, .fails_at = 3};
        bool is_in[10];

        ck_assert_int_eq(cut_minimize(10, shows, &needles, is_in), -EIO);
        ck_assert_uint_eq(needles.asked, 3);
}
END_TEST

SUITE("cut", test_tables, test_place, test_minimize, test_minimize_fails)
