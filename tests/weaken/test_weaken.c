/* core/weaken: parity, single steps, chains and their replay. Whether the rules hold is asked of solvers by prove.py. */
#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"
#include "core/weaken/parity.h"
#include "core/weaken/weaken.h"
#include "tests/support/test.h"

static struct script *read_text(const char *text)
{
        struct script_options o = {.dialect = DIALECT_2_6, .is_strict = true};
        struct script *s = NULL;

        ck_assert_msg(script_read(slice_string(text), &o, &s) == 0, "%s: %s", text, error_message(-EINVAL));
        return s;
}

static char *text_of(const struct script *s)
{
        struct buffer text = {0};
        struct print_options o = {.dialect = DIALECT_2_6, .no_lets = true};

        ck_assert_int_eq(script_print(s, &o, &text), 0);
        return text.data;
}

static struct weaken *rules(void)
{
        struct weaken *w = NULL;
        int r = weaken_new(NULL, 0, &w);

        ck_assert_msg(r == 0, "%s", error_message(r));
        return w;
}

static const struct term *assertion(const struct script *s)
{
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT)
                        return s->commands[i].term;
        ck_abort_msg("no assertion");
        return NULL;
}

#define DECLARED                                                                                                       \
        "(declare-const p Bool)(declare-const q Bool)(declare-const r Bool)(declare-const x Int)(declare-const y Int)" \
        "(declare-const s String)(declare-const t String)(declare-fun f (Bool) Bool)"

/* -- parity -- */

/* Of the constant p, or of the language (str.to_re "p"), in a formula; its places are listed in the order of the source. */
static void check_parity(const char *formula, int expected)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_term_places struct term_places places = {0};
        cleanup_free signed char *parity = NULL;
        bool seen = false;

        buffer_addf(&text, DECLARED "(assert %s)", formula);
        cleanup_script struct script *s = read_text(text.data);
        term_places(assertion(s), 1000, &places);
        parity = parity_of(&places, false);
        for (size_t i = 0; i < places.n && !seen; i++) {
                const struct term *t = places.list[i].term;

                seen = (t->kind == TERM_FUNCTION && strcmp(t->function->symbol->name.data, "p") == 0) ||
                       (t->op == OP_RE_FROM_STR && strcmp(t->args[0]->symbol->name.data, "p") == 0);
                if (seen)
                        ck_assert_msg(parity[i] == expected, "%s: %d, not %d", formula, parity[i], expected);
        }
        ck_assert_msg(seen, "%s", formula);
}

START_TEST(parity_of_every_connective)
{
        static const struct {
                const char *formula;
                int parity;
        } cases[] = {{"p", 1},
                     {"(not p)", -1},
                     {"(not (not p))", 1},
                     {"(and q p)", 1},
                     {"(or p q)", 1},
                     {"(=> p q)", -1},
                     {"(=> q p)", 1},
                     {"(=> q p r)", -1},
                     {"(=> (=> p q) r)", 1},
                     {"(not (=> p q))", 1},
                     {"(xor p q)", 0},
                     {"(= p q)", 0},
                     {"(distinct p q)", 0},
                     {"(not (= p q))", 0},
                     {"(ite p q r)", 0},
                     {"(ite q p r)", 1},
                     {"(ite q r (not p))", -1},
                     {"(= x (ite p 1 2))", 0},
                     {"(f p)", 0},
                     {"(forall ((z Int)) (or p (= z x)))", 1},
                     {"(not (exists ((z Int)) (or p (= z x))))", -1},
                     {"(let ((z (not p))) (or z q))", -1},
                     {"(! (not p) :named n)", -1},
                     {"(str.in_re s (str.to_re \"p\"))", 1},
                     {"(str.in_re s (re.comp (str.to_re \"p\")))", -1},
                     {"(str.in_re s (re.diff re.all (str.to_re \"p\")))", -1},
                     {"(str.in_re s (re.diff (str.to_re \"p\") re.all))", 1},
                     {"(str.in_re s (re.* (re.union re.none (re.++ re.all (str.to_re \"p\")))))", 1},
                     {"(str.in_re s ((_ re.loop 1 3) (re.opt (re.+ (re.inter re.all (str.to_re \"p\"))))))", 1},
                     {"(not (str.in_re s (re.comp (str.to_re \"p\"))))", 1},
                     {"(= s (str.replace_re s (str.to_re \"p\") t))", 0}};

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_parity(cases[i].formula, cases[i].parity);
}
END_TEST

START_TEST(a_used_name_admits_equivalences_only)
{
        cleanup_script struct script *s = read_text(DECLARED "(assert (! p :named n))");
        cleanup_term_places struct term_places places = {0};
        cleanup_free signed char *parity = NULL;

        term_places(assertion(s), 1000, &places);
        parity = parity_of(&places, true);
        ck_assert_int_eq(parity[1], PARITY_BOTH);
}
END_TEST

/* -- rules -- */

/* Counts the steps of the first assertion: those of others are taken off again. */
static int count_step(void *user, struct script *with, const struct weaken_step *step)
{
        for (size_t i = 0; i < step->command; i++)
                if (with->commands[i].kind == COMMAND_ASSERT)
                        --*(unsigned *)user;
        ++*(unsigned *)user;
        script_free(with);
        return 0;
}

/* Only the first 20,000 places of an assertion are changed, but a name counts wherever it is. */
START_TEST(a_name_far_behind_is_not_written_twice)
{
        cleanup_weaken struct weaken *w = rules();
        cleanup_buffer struct buffer text = {0};
        cleanup_script struct script *s = NULL;
        struct random random;
        unsigned done = 0;
        size_t twice;

        assert_ok(weaken_find(w, slice_string("and-twice"), &twice));
        cleanup_free bool *only = allocate(weaken_n_rules(w), sizeof(*only));
        only[twice] = true;
        buffer_adds(&text, DECLARED "(assert (and (= 1 (+ x");
        for (int i = 0; i < 20000; i++)
                buffer_adds(&text, " x");
        buffer_adds(&text, ")) (! q :named n)))(assert n)");
        s = read_text(text.data);
        for (unsigned i = 0; i < 20; i++) {
                cleanup_script struct script *with = NULL;
                cleanup_free char *printed = NULL;

                random_seed(&random, i);
                if (weaken_step(w, s, WEAKEN, &random, &(struct weaken_options){.rules = only}, &with, NULL) < 0)
                        continue; /* it was read from right to left everywhere */
                done++;
                printed = text_of(with);
                ck_assert_ptr_null(strstr(strstr(printed, ":named") + 1, ":named"));
        }
        ck_assert_uint_gt(done, 0);
}
END_TEST

/* The assertion alone would become weaker, and the formula would not. */
START_TEST(a_name_may_be_used_in_a_definition)
{
        static const char *const uses[] = {"(define-fun g () Bool (not n))", "(define-fun-rec g ((x Int)) Bool (and n (g x)))",
                                           "(define-funs-rec ((g ((x Int)) Bool)) ((and n (g x))))", "(assert (not n))",
                                           "(check-sat-assuming (n))", "(assert (match n ((z (not z)))))"};
        cleanup_weaken struct weaken *w = rules();
        struct random random;
        size_t rule;

        assert_ok(weaken_find(w, slice_string("and-second"), &rule));
        for (size_t i = 0; i <= ARRAY_SIZE(uses); i++) {
                const char *use = i < ARRAY_SIZE(uses) ? uses[i] : "(define-fun g () Bool p)";
                cleanup_free char *text = format_string("%s(assert (! (and p q) :named n))%s", DECLARED, use);
                cleanup_script struct script *s = NULL;
                unsigned n = 0;

                random_seed(&random, 1);
                assert_ok(script_read(slice_string(text), NULL, &s));
                assert_ok(weaken_each(w, s, rule, WEAKEN, &random, NULL, count_step, &n));
                ck_assert_msg((n == 0) == (i < ARRAY_SIZE(uses)), "%s: %u", use, n);
        }
}
END_TEST

struct sought {
        const char *text;
        unsigned n, found;
};

static int compare_with(void *user, struct script *with, const struct weaken_step *step)
{
        struct sought *sought = user;
        cleanup_script struct script *owned = with;
        cleanup_buffer struct buffer text = {0};
        struct print_options o = {.dialect = DIALECT_2_6, .no_lets = true};

        (void)step;
        ck_assert_int_eq(term_print(assertion(owned), &o, &text), 0);
        sought->n++;
        sought->found += sought->text && strcmp(text.data, sought->text) == 0;
        return 0;
}

/* Is the second what the rule can make of the first? Parameters and splits are drawn: tried until it is seen. */
static bool leads_to(const char *from, const char *rule, enum weaken_direction direction, const char *to)
{
        cleanup_weaken struct weaken *w = rules();
        cleanup_buffer struct buffer text = {0};
        struct sought sought = {.text = to};
        struct random random;
        size_t at;

        buffer_addf(&text, DECLARED "(assert %s)", from);
        cleanup_script struct script *s = read_text(text.data);
        ck_assert_int_eq(weaken_find(w, slice_string(rule), &at), 0);
        random_seed(&random, test_seed(1));
        for (unsigned i = 0; i < 300 && sought.found == 0; i++)
                ck_assert_int_eq(weaken_each(w, s, at, direction, &random, NULL, compare_with, &sought), 0);
        return to ? sought.found > 0 : sought.n > 0;
}

START_TEST(rules_are_read_in_both_directions)
{
        ck_assert(leads_to("(< x y)", "lt-le", WEAKEN, "(<= x y)"));
        ck_assert(leads_to("(<= x y)", "lt-le", STRENGTHEN, "(< x y)"));
        ck_assert(leads_to("(not (<= x y))", "lt-le", WEAKEN, "(not (< x y))"));
        ck_assert(leads_to("(and p q r)", "and-drop", WEAKEN, "(and p r)"));
        ck_assert(leads_to("(or p q r)", "or-add", STRENGTHEN, "(or p r)"));
        ck_assert(leads_to("(= x y)", "eq-shift", WEAKEN, "(= (+ x y) (+ y y))"));
        ck_assert(leads_to("(= (+ x y) (+ y y))", "eq-shift", WEAKEN, "(= x y)"));
        ck_assert(leads_to("(= (f p) (f q))", "eq-congruence", STRENGTHEN, "(= p q)"));
        ck_assert(leads_to("(forall ((z Int)) (= z x))", "forall-instance", WEAKEN, "(= y x)"));
        ck_assert(leads_to("(str.in_re s (re.++ re.allchar re.all))", "re-concat-power", WEAKEN,
                           "(str.in_re s ((_ re.^ 2) (re.union re.allchar re.all)))"));
        ck_assert(leads_to("(str.in_re s (re.comp (re.* re.allchar)))", "re-plus-star", WEAKEN,
                           "(str.in_re s (re.comp (re.+ re.allchar)))"));
}
END_TEST

START_TEST(nothing_but_equivalences_under_both)
{
        ck_assert(!leads_to("(xor (< x y) p)", "lt-le", WEAKEN, NULL));
        ck_assert(!leads_to("(= (< x y) p)", "lt-le", STRENGTHEN, NULL));
        ck_assert(!leads_to("(f (< x y))", "lt-le", WEAKEN, NULL));
        ck_assert(leads_to("(xor (< x y) p)", "lt-gt", WEAKEN, "(xor (> y x) p)"));
        ck_assert(!leads_to("(= s (str.replace_re s (re.+ re.allchar) t))", "re-plus-star", WEAKEN, NULL));
}
END_TEST

START_TEST(an_index_that_the_rule_would_not_draw_is_left)
{
        ck_assert(leads_to("(str.in_re s ((_ re.loop 1 3) re.allchar))", "re-loop", STRENGTHEN, "(str.in_re s re.allchar)"));
        ck_assert(!leads_to("(str.in_re s ((_ re.loop 1 0) re.allchar))", "re-loop", STRENGTHEN, NULL)); /* the empty language */
}
END_TEST

START_TEST(an_argument_bound_by_the_rule_stays_inside)
{
        /* b is free in one branch of what is matched: to take the quantifier away would let it out */
        ck_assert(!leads_to("(exists ((b Bool)) (ite b (and b p) q))", "or-exists-ite", WEAKEN, "(or (and b p) q)"));
        ck_assert(leads_to("(exists ((b Bool)) (ite b p q))", "or-exists-ite", WEAKEN, "(or p q)"));
}
END_TEST

START_TEST(a_rule_that_cannot_be_read_is_named)
{
        static const struct rule_row bad[] = {{"bad", "(no.such ?a:Int)", RULE_IMPLIES, "?a"}};
        struct weaken *w = NULL;

        ck_assert_int_eq(weaken_new(bad, 1, &w), -EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "rule bad"));
}
END_TEST

START_TEST(names_and_sides_of_the_table)
{
        cleanup_weaken struct weaken *w = rules();

        ck_assert_uint_eq(weaken_n_rules(w), rule_table_n);
        for (size_t i = 0; i < rule_table_n; i++) {
                size_t at;

                ck_assert_int_eq(weaken_find(w, slice_string(rule_table[i].name), &at), 0);
                ck_assert_msg(at == i, "%s is there twice", rule_table[i].name);
        }
}
END_TEST

/* -- steps -- */

/* It is another formula, it reads again, strictly, and nothing in it is free. */
static void check_made(const struct script *before, const struct script *after)
{
        cleanup_free char *old = text_of(before), *new = text_of(after);
        struct script_options o = {.dialect = DIALECT_2_6, .is_strict = true};
        cleanup_script struct script *again = NULL;
        int r;

        ck_assert_str_ne(old, new);
        r = script_read(slice_string(new), &o, &again);
        ck_assert_msg(r == 0, "%s\n%s", error_message(r), new);
        for (size_t i = 0; i < after->n_commands; i++)
                ck_assert(after->commands[i].kind != COMMAND_ASSERT || !after->commands[i].term->is_open);
}

/* All lines of a rules.tsv, one after the other. */
static int replay(const struct weaken *w, const struct script *s, struct slice lines, const struct weaken_options *options, struct script **ret)
{
        cleanup_script struct script *now = NULL;
        const char *at = lines.data, *end = at + lines.size;
        int r = 0;

        script_clone(s, &now);
        while (r == 0 && at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
                cleanup_weaken_step struct weaken_step step = {0};
                struct script *with = NULL;

                r = weaken_step_parse(w, SLICE(at, (size_t)(next - at)), &step);
                if (r == 0)
                        r = weaken_apply(w, now, &step, options, &with);
                if (r == 0) {
                        script_free(now);
                        now = with;
                }
                at = next;
        }
        if (r == 0)
                *ret = steal_pointer(now);
        return r;
}

/* A chain, and the same again from its record, in another bank. */
static void check_chain(const struct weaken *w, const char *text, unsigned steps, uint64_t seed)
{
        cleanup_script struct script *s = read_text(text), *again = read_text(text), *replayed = NULL;
        cleanup_buffer struct buffer lines = {0};
        struct weaken_options o = {.size_most = 400};
        struct random random;
        int r;

        random_seed(&random, test_seed((unsigned)seed));
        for (unsigned i = 0; i < steps; i++) {
                cleanup_weaken_step struct weaken_step step = {0};
                struct script *new = NULL;

                r = weaken_step(w, s, seed % 2 ? WEAKEN : STRENGTHEN, &random, &o, &new, &step);
                ck_assert_msg(r == 0, "%s", error_message(r));
                check_made(s, new);
                weaken_step_print(w, &step, &lines);
                script_free(s);
                s = new;
        }
        r = replay(w, again, SLICE(lines.data, lines.size), &o, &replayed);
        ck_assert_msg(r == 0, "%s\n%s\n%s", error_message(r), text, lines.data);
        cleanup_free char *a = text_of(s), *b = text_of(replayed);
        ck_assert_str_eq(a, b);
}

START_TEST(chains_on_a_formula_of_each_logic)
{
        static const char *const files[] = {
                "(declare-const x Int)(declare-const y Int)(assert (and (< x y) (= (mod x 3) 1)))(assert (or (= x 2) (not (>= y "
                "7))))",
                "(declare-const a Real)(declare-const b Real)(assert (=> (> (* a b) 1.5) (< a (/ b 2.0))))",
                "(declare-const p Bool)(declare-const q Bool)(assert (ite p (xor p q) (= p q true)))",
                "(declare-fun f (Int) Int)(assert (forall ((x Int) (y Int)) (=> (= x y) (exists ((z Int)) (> (f z) (f x))))))",
                "(declare-const s String)(declare-const t String)(assert (and (str.prefixof s t) (str.in_re s (re.* (re.range "
                "\"a\" \"f\")))))",
                "(declare-const s String)(assert (not (str.contains (str.replace_all s \"a\" \"bb\") (str.at s 1))))",
                "(declare-const u (_ BitVec 8))(declare-const v (_ BitVec 8))(assert (or (bvult u v) (= (bvadd u v) #x07)))",
                "(declare-const m (Array Int Int))(assert (= (select (store m 1 2) 3) (select m 3)))",
                "(declare-const g Float32)(assert (fp.lt g (fp.add RNE g g)))",
                "(declare-sort U 0)(declare-const c U)(declare-fun h (U) U)(assert (distinct (h c) c))",
                "(declare-const i Int)(declare-const r Real)(assert (<= (to_real i) r))(assert (= (to_int r) i))",
                "(declare-const p Bool)(assert (! (or p (not p)) :named one))(assert (! p :named two))",
                "(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (= (f x) x) :pattern ((f x)))))"};
        cleanup_weaken struct weaken *w = rules();

        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                for (uint64_t seed = 0; seed < 10; seed++)
                        check_chain(w, files[i], 20, seed);
}
END_TEST

START_TEST(an_attribute_of_a_quantifier_stays_at_its_body)
{
        cleanup_weaken struct weaken *w = rules();
        size_t n = 0;

        for (uint64_t seed = 0; seed < 100; seed++) {
                cleanup_script struct script *s = read_text(
                        "(declare-fun f (Int) Int)(assert (not (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)) :qid one))))");
                struct random random;

                random_seed(&random, test_seed(seed));
                for (size_t step = 0; step < 4; step++) {
                        cleanup_script struct script *new = NULL;
                        cleanup_free char *text = NULL;

                        ck_assert_int_eq(weaken_step(w, s, seed % 2 ? WEAKEN : STRENGTHEN, &random, NULL, &new, NULL), 0);
                        text = text_of(new);
                        for (const char *at = text; (at = strstr(at, "(! ")); at++, n++)
                                ck_assert_msg(at - text > 3 && strncmp(at - 3, ")) ", 3) == 0, "%s", text);
                        script_free(s);
                        s = steal_pointer(new);
                }
        }
        ck_assert(n > 0);
}
END_TEST

START_TEST(chains_on_generated_formulas)
{
        cleanup_weaken struct weaken *w = rules();
        cleanup_generator struct generator *g = NULL;

        ck_assert_int_eq(generator_new(&generate_defaults, 7, &g), 0);
        for (uint64_t i = 0; i < 200; i++) {
                cleanup_script struct script *s = NULL;

                s = generate_formula(g);
                cleanup_free char *text = text_of(s);
                check_chain(w, text, 10, i);
        }
}
END_TEST

START_TEST(a_formula_without_assertions_is_said_to_have_none)
{
        cleanup_weaken struct weaken *w = rules();
        cleanup_script struct script *s = read_text("(declare-const p Bool)(check-sat)"), *new = NULL;
        struct random random;

        random_seed(&random, test_seed(1));
        ck_assert_int_eq(weaken_step(w, s, WEAKEN, &random, NULL, &new, NULL), -ENOENT);
}
END_TEST

START_TEST(broken_lines_are_refused)
{
        static const char *const bad[] = {"",
                                          "lt-le",
                                          "lt-le\tweaken",
                                          "lt-le\tsideways\t1@00",
                                          "no-such\tweaken\t1@00",
                                          "lt-le\tweaken\t1/",
                                          "lt-le\tweaken\t1",
                                          "lt-le\tweaken\t@1",
                                          "lt-le\tweaken\t1/99999999999@0",
                                          "lt-le\tweaken\t1@0x"};
        cleanup_weaken struct weaken *w = rules();

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                cleanup_weaken_step struct weaken_step step = {0};

                ck_assert_msg(weaken_step_parse(w, slice_string(bad[i]), &step) < 0, "%s", bad[i]);
        }
}
END_TEST

/* -- the paper's examples: figures 1, 3b, and 10 b to d and f to h -- */

START_TEST(examples_of_the_paper)
{
        static const char *const files[] = {
                "(assert (forall ((v Int)) (= v (* x x))))",
                "(assert (= (* k l) 1.0))",
                "(assert (ite T T true))(assert (or T (and (str.prefixof v \"\") (exists ((x Int)) (= \"t\" (str.substr v 0 "
                "x))))))",
                "(assert (< l (ite (forall ((x Bool)) (ite x T u)) 0.0 1.0)))",
                "(assert (= (str.is_digit v) (str.is_digit w)))",
                "(assert (exists ((x Int)) (or (not (>= 0 (str.len (str.substr (str.replace_re \"\" (str.to_re v) v) x 1)))) "
                "u)))",
                "(assert (distinct (str.from_int x) (str.replace v (str.replace \"\" v \"\") (str.from_int (- x)))))",
                "(assert (or (or false (= 0.0 k)) (< (* k (+ 6.0 (* k 12.0))) (- 1.0))))"};
        cleanup_weaken struct weaken *w = rules();

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                cleanup_buffer struct buffer text = {0};

                buffer_addf(&text,
                            "(declare-const x Int)(declare-const k Real)(declare-const l Real)(declare-const T "
                            "Bool)(declare-const u Bool)"
                            "(declare-const v String)(declare-const w String)%s(check-sat)",
                            files[i]);
                for (uint64_t seed = 0; seed < 4; seed++)
                        check_chain(w, text.data, 25, seed);
        }
        ck_assert(leads_to("(= (* x y) 1)", "num-eq-ge", WEAKEN, "(>= (* x y) 1)")); /* figure 3b */
        ck_assert(leads_to("(and p q)", "and-second", WEAKEN, "q"));                 /* figure 5: the first conjunct dropped */
        ck_assert(leads_to("(= s t)", "str-eq-is-digit", WEAKEN, "(= (str.is_digit s) (str.is_digit t))")); /* the form of 10 d */
}
END_TEST

SUITE("weaken", parity_of_every_connective, a_used_name_admits_equivalences_only, a_name_far_behind_is_not_written_twice, a_name_may_be_used_in_a_definition,
      rules_are_read_in_both_directions,
      nothing_but_equivalences_under_both, an_index_that_the_rule_would_not_draw_is_left, an_argument_bound_by_the_rule_stays_inside, a_rule_that_cannot_be_read_is_named,
      names_and_sides_of_the_table, chains_on_a_formula_of_each_logic, chains_on_generated_formulas,
      an_attribute_of_a_quantifier_stays_at_its_body,
      a_formula_without_assertions_is_said_to_have_none, broken_lines_are_refused, examples_of_the_paper)
