#include "tests/support/test.h"

#include "core/smtlib/feature.h"
#include "core/smtlib/logic.h"
#include "core/smtlib/print.h"

static struct script *read_with(const char *text, struct script_options o)
{
        struct script *s = NULL;
        int r = script_read(slice_string(text), &o, &s);

        ck_assert_msg(r == 0, "%s: %s", text, error_message(r));
        return s;
}

static struct script *read_text(const char *text)
{
        return read_with(text, (struct script_options){.dialect = DIALECT_2_6});
}

/* What is read prints so, and that reads as the same. */
static void assert_prints_in(const char *text, enum dialect d, const char *printed)
{
        cleanup_script struct script *s = read_text(text), *again = NULL;
        cleanup_buffer struct buffer out = {0};

        assert_ok(script_print(s, &(struct print_options){.dialect = d}, &out));
        ck_assert_str_eq(out.data, printed);
        again = read_with(out.data, (struct script_options){.dialect = d, .bank = s->bank});
        ck_assert_uint_eq(again->n_commands, s->n_commands);
        for (size_t i = 0; i < s->n_commands; i++)
                ck_assert_ptr_eq(again->commands[i].term, s->commands[i].term);
}

static void assert_prints(const char *text, const char *printed)
{
        assert_prints_in(text, DIALECT_2_6, printed);
}

static void assert_fails_with(struct script_options o, const char *text, int error, const char *message)
{
        struct script *s = NULL;
        int r = script_read(slice_string(text), &o, &s);

        ck_assert_msg(r == error, "%s: %d", text, r);
        ck_assert_str_eq(error_message(r), message);
}

static void assert_fails(const char *text, const char *message)
{
        assert_fails_with((struct script_options){.name = "f", .dialect = DIALECT_2_6}, text, -EINVAL, message);
}

#define L "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))))(declare-const l (L Int))\n"
#define X "(declare-const x Int)"
#define A "(declare-sort A 0)\n(declare-const a A)\n"

/* -- reading and printing -- */

START_TEST(test_commands)
{
        const char *text = "(set-info :smt-lib-version 2.6)\n"
                           "(set-option :produce-models true)\n"
                           "(set-logic ALL)\n"
                           "(declare-sort U 0)\n"
                           "(define-sort P (A) (Array A Bool))\n"
                           "(declare-const x Int)\n"
                           "(declare-fun f (Int U) (Array Int Bool))\n"
                           "(define-fun g ((y Int)) Int (+ x y))\n"
                           "(define-fun-rec h ((y Int)) Int (ite (> y 0) (h (- y 1)) 0))\n"
                           "(push 1)\n"
                           "(assert (! (> (g x) (h 3)) :named a))\n"
                           "(check-sat)\n"
                           "(check-sat-assuming (a (not a)))\n"
                           "(get-value ((g 2)))\n"
                           "(get-model)\n"
                           "(echo \"a\"\"b\")\n"
                           "(pop 1)\n"
                           "(reset-assertions)\n"
                           "(reset)\n"
                           "(exit)\n";

        assert_prints(text, text);
}
END_TEST

START_TEST(test_dialects)
{
        const char *text =
                "(set-info :smt-lib-version 2.6)(declare-const s String)"
                "(assert (str.in_re s (re.++ ((_ re.loop 1 3) re.none) ((_ re.^ 2) (str.to_re \"\\u{41}\"\"\\u{a}\\x\")))))";

        assert_prints(text,
                      "(set-info :smt-lib-version 2.6)\n(declare-const s String)\n"
                      "(assert (str.in_re s (re.++ ((_ re.loop 1 3) re.none) ((_ re.^ 2) (str.to_re \"A\"\"\\u{a}\\x\")))))\n");
        {
                cleanup_script struct script *s = read_text(text);
                cleanup_buffer struct buffer out = {0};

                assert_ok(script_print(s, &(struct print_options){.dialect = DIALECT_2_0}, &out));
                ck_assert_str_eq(out.data,
                                 "(set-info :smt-lib-version 2.0)\n(declare-fun s () String)\n(assert (str.in.re s (re.++ "
                                 "((_ re.loop 1 3) re.nostr) ((_ re.loop 2 2) (str.to.re \"A\\\"\\x0a\\\\x\")))))\n");
        }
        /* the input says what it is */
        {
                cleanup_script struct script *s = read_text("(set-info :smt-lib-version 2.0)(assert (= \"\\\"\" \"\\x22\"))");

                ck_assert_int_eq(s->dialect, DIALECT_2_0);
                ck_assert_ptr_eq(s->commands[1].term->args[0], s->commands[1].term->args[1]);
        }
        {
                cleanup_script struct script *s =
                        read_with("(set-info :smt-lib-version 2.0)(assert (= \"\\x22\" \"\"\"\"))",
                                  (struct script_options){.dialect = DIALECT_2_6, .is_dialect_fixed = true});

                ck_assert_int_eq(s->dialect, DIALECT_2_6);
                ck_assert_ptr_ne(s->commands[1].term->args[0], s->commands[1].term->args[1]);
        }
        /* strings in text that is kept are rewritten, too */
        assert_prints_in("(set-info :a \"x\"\"y\")(foo \"\\u{41}\")", DIALECT_2_0, "(set-info :a \"x\\\"y\")\n(foo \"A\")\n");
        /* ... and operators, unless the script has a function of that name */
        assert_prints_in("(define-funs-rec ((f ((x String)) Int)) ((str.to_int |str.to_int|)))", DIALECT_2_0,
                         "(define-funs-rec ((f ((x String)) Int)) ((str.to.int |str.to_int|)))\n");
        assert_prints("(define-funs-rec ((f ((x String)) Int)) ((str.to.int x)))", "(define-funs-rec ((f ((x String)) Int)) ((str.to_int x)))\n");
        assert_prints_in("(declare-fun str.to_int (Int) Int)(define-funs-rec ((f ((x Int)) Int)) ((str.to_int (f x))))", DIALECT_2_0,
                         "(declare-fun str.to_int (Int) Int)\n(define-funs-rec ((f ((x Int)) Int)) ((str.to_int (f x))))\n");
}
END_TEST

START_TEST(test_let)
{
        assert_prints(X "(assert (let ((y x) (z 1)) (let ((y z) (z y)) (< y z))))", "(declare-const x Int)\n(assert (< 1 x))\n");
        assert_prints(X "(assert (let ((x 1)) (= x (let ((x 2)) x) x)))(assert (= x 0))",
                      "(declare-const x Int)\n(assert (= 1 2 1))\n(assert (= x 0))\n");
        /* what is shared is shared again */
        assert_prints(X "(assert (let ((a (+ x 1 2 3 4 5))) (let ((b (* a a a))) (= b a b))))",
                      "(declare-const x Int)\n(assert (let ((_let_1 (+ x 1 2 3 4 5))) (let ((_let_2 (* _let_1 _let_1 _let_1))) "
                      "(= _let_2 _let_1 _let_2))))\n");
        /* what does not depend on each other is one let */
        assert_prints(X "(assert (let ((a (+ x 1 2 3 4 5)) (b (+ x 1 2 3 4 6))) (= a b a b)))",
                      "(declare-const x Int)\n(assert (let ((_let_1 (+ x 1 2 3 4 5)) (_let_2 (+ x 1 2 3 4 6))) "
                      "(= _let_1 _let_2 _let_1 _let_2)))\n");
}
END_TEST

START_TEST(test_quantifiers)
{
        assert_prints("(assert (forall ((x Int)) (exists ((y Int) (z Real)) (< x y z))))",
                      "(assert (forall ((x Int)) (exists ((y Int) (z Real)) (< x y z))))\n");
        /* shadowing: of a constant, of a variable, of a let's */
        assert_prints(X "(assert (and (> x 0) (forall ((x Int)) (and (< x 1) (exists ((x Int)) (= x 2))))))",
                      "(declare-const x Int)\n"
                      "(assert (and (> x 0) (forall ((x!1 Int)) (and (< x!1 1) (exists ((x!2 Int)) (= x!2 2))))))\n");
        /* ... and of an operator */
        assert_prints("(assert (let ((a true)) (exists ((true Bool)) (and (not true) a))))",
                      "(assert (exists ((true!1 Bool)) (and (not true!1) true)))\n");
        assert_prints(X "(assert (let ((a (abs x))) (exists ((abs Int)) (< abs a))))",
                      "(declare-const x Int)\n(assert (exists ((abs!1 Int)) (< abs!1 (abs x))))\n");
        /* a let's value does not fall into a quantifier below */
        assert_prints(X "(assert (let ((y (+ x 1))) (forall ((x Int)) (< x y))))",
                      "(declare-const x Int)\n(assert (forall ((x!1 Int)) (< x!1 (+ x 1))))\n");
        assert_prints("(assert (forall ((x Int)) (let ((y (+ x 1)) (x 5)) (exists ((x Int)) (< x y)))))",
                      "(assert (forall ((x Int)) (exists ((x!2 Int)) (< x!2 (+ x 1)))))\n");
        /* shared below a quantifier: bound there; closed: at the top */
        assert_prints(X "(assert (forall ((y Int)) (let ((a (+ x 1 2 3 4 5)) (b (+ y 1 2 3 4 5))) (= a b a b))))",
                      "(declare-const x Int)\n(assert (let ((_let_1 (+ x 1 2 3 4 5))) (forall ((y Int)) "
                      "(let ((_let_2 (+ y 1 2 3 4 5))) (= _let_1 _let_2 _let_1 _let_2)))))\n");
        /* shared below other quantifiers: bound where its variables are */
        assert_prints("(declare-fun r (Int Int Bool) Bool)(assert (forall ((x Int)) (let ((a (r x 1 (r x 2 (r x 3 true))))) (or (exists ((y Int)) (r x y a)) (forall ((y Int)) (r y x a))))))",
                      "(declare-fun r (Int Int Bool) Bool)\n(assert (forall ((x Int)) (let ((_let_1 (r x 1 (r x 2 (r x 3 true))))) "
                      "(or (exists ((y Int)) (r x y _let_1)) (forall ((y Int)) (r y x _let_1))))))\n");
        /* ... and not where different quantifiers bind them */
        assert_prints("(declare-fun r (Int Int Bool) Bool)(assert (forall ((x Int)) (or (exists ((y Int)) (r x y (r x 1 (r y 2 true)))) (forall ((y Int)) (r y x (r x 1 (r y 2 true)))))))",
                      "(declare-fun r (Int Int Bool) Bool)\n(assert (forall ((x Int)) (or (exists ((y Int)) (r x y (r x 1 (r y 2 true)))) (forall ((y Int)) (r y x (r x 1 (r y 2 true)))))))\n");
        /* the let has another name than a variable, even one that does not occur below its quantifier */
        assert_prints(X "(assert (let ((a (< (+ x 1 2 3 4 5) 7))) (and a (forall ((_let_1 Bool)) a))))",
                      "(declare-const x Int)\n(assert (let ((__let_1 (< (+ x 1 2 3 4 5) 7))) (and __let_1 (forall ((_let_1 Bool)) __let_1))))\n");
        assert_prints(
                X "(define-fun f ((x Int)) Int (let ((a (+ x 1 2 3 4 5))) (* a a)))",
                "(declare-const x Int)\n(define-fun f ((x!1 Int)) Int (let ((_let_1 (+ x!1 1 2 3 4 5))) (* _let_1 _let_1)))\n");
}
END_TEST

START_TEST(test_annotations)
{
        assert_prints(
                "(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)) :pattern ((f (f x)) (f 0)) "
                ":qid |a b| :weight 0 :skolemid)))",
                "(declare-fun f (Int) Int)\n(assert (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)) :pattern ((f (f x)) (f 0)) "
                ":qid |a b| :weight 0 :skolemid)))\n");
        assert_prints("(assert (! true :a (b \"c\" (d)) :named |x y|))(assert |x y|)",
                      "(assert (! true :a (b \"c\" (d)) :named |x y|))\n(assert |x y|)\n");
        assert_prints("(declare-const p Bool)(assert (let ((n (! (not p) :named m))) (or n n)))(assert (not m))",
                      "(declare-const p Bool)\n(assert (let ((_let_1 (! (not p) :named m))) (or _let_1 _let_1)))\n(assert (not m))\n");
        /* one term, as z3 and cvc5 have it */
        assert_prints("(declare-fun f (Int) Bool)(assert (forall ((x Int)) (let ((y (+ x 1))) (! (f y) :no-pattern (f y) :no-pattern x :qid a))))",
                      "(declare-fun f (Int) Bool)\n(assert (forall ((x Int)) (! (f (+ x 1)) :no-pattern (f (+ x 1)) :no-pattern x :qid a)))\n");
        /* its own command may use a name, and is kept as text then */
        assert_prints("(declare-const p Bool)(assert (let ((q p)) (and (! q :named n) n)))(assert (not n))",
                      "(declare-const p Bool)\n(assert (let ((q p)) (and (! q :named n) n)))\n(assert (not n))\n");
        /* a let is inside a quantifier's attributes, and so is one inside a pattern */
        assert_prints("(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (< (f (+ x 1 (* 2 x))) (f (f (+ x 1 (* 2 x))))) :pattern ((f x)) :qid a)))",
                      "(declare-fun f (Int) Int)\n(assert (forall ((x Int)) (! (let ((_let_1 (f (+ x 1 (* 2 x))))) (< _let_1 (f _let_1))) :pattern ((f x)) :qid a)))\n");
        assert_prints("(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (< 0 x) :no-pattern (= (f (+ x 1 (* 2 x))) (f (+ x 1 (* 2 x)))) :qid a)))",
                      "(declare-fun f (Int) Int)\n(assert (forall ((x Int)) (! (< 0 x) :no-pattern (let ((_let_1 (f (+ x 1 (* 2 x))))) (= _let_1 _let_1)) :qid a)))\n");
        /* ... and inside a name */
        assert_prints(X "(assert (! (let ((y (+ x 1 2 3 4 5))) (= y (- y))) :named n))(assert (not n))",
                      "(declare-const x Int)\n(assert (! (let ((_let_1 (+ x 1 2 3 4 5))) (= _let_1 (- _let_1))) :named n))\n(assert (not n))\n");
        /* no let is around a name, except of a formula that would be too long without */
        assert_prints(X "(assert (let ((y (+ x 1 2 3 4 5))) (or (! (= y 9) :named n) (= y (- y)))))(assert (not n))",
                      "(declare-const x Int)\n(assert (or (! (= (+ x 1 2 3 4 5) 9) :named n) (= (+ x 1 2 3 4 5) (- (+ x 1 2 3 4 5)))))\n(assert (not n))\n");
        assert_fails("(declare-const p Bool)(assert (and n (! p :named n)))",
                     "f:1:36: unknown symbol n: it is neither declared nor an operator that is known here");
        /* named below a let that is over by then */
        assert_prints(X "(assert (let ((y x)) (! (> y 0) :named n)))(assert (not n))",
                      "(declare-const x Int)\n(assert (! (> x 0) :named n))\n(assert (not n))\n");
}
END_TEST

START_TEST(test_numbers)
{
        assert_prints("(set-logic QF_LRA)(declare-const r Real)(assert (< r 1 0.50 (/ 1 3)))",
                      "(set-logic QF_LRA)\n(declare-const r Real)\n(assert (< r 1.0 0.5 (/ 1.0 3.0)))\n");
        assert_prints("(set-logic QF_LIRA)(declare-const r Real)(assert (< r 1 0.50))",
                      "(set-logic QF_LIRA)\n(declare-const r Real)\n(assert (< r 1 0.5))\n");
        assert_prints("(assert (= #xAf (_ bv175 8) #b10101111))", "(assert (= #xaf #xaf #xaf))\n");
        assert_prints("(assert (= #b101 (_ bv13 3)))", "(assert (= #b101 #b101))\n");
}
END_TEST

START_TEST(test_datatypes)
{
        static const char *const texts[] = {
                "(declare-datatypes ((L 1) (C 0)) ((par (T) ((nil) (cons (hd T) (tl (L T))))) ((red) (blue (n Int)))))\n"
                "(declare-const l (L Int))\n"
                "(assert (and ((_ is cons) l) (= l (cons 1 (as nil (L Int)))) (= (n (blue 3)) 3) ((_ is red) red)))\n",
                "(declare-datatype C ((red) (blue (n Int))))\n(declare-const c C)\n(assert (or (= c red) (> (n c) 0)))\n",
                "(declare-datatype P (par (X Y) ((pair (fst X) (snd Y)))))\n(declare-const p (P Int Bool))\n(assert (snd p))\n",
                "(declare-datatypes (T) ((L nil (cons (hd T) (tl L)))))\n(declare-const l (L Int))\n(assert (is-cons l))\n",
                "(declare-datatypes () ((C red (blue (n Int)))))\n(declare-const c C)\n(assert (is-blue c))\n",
                /* a parameter ends with its datatype: its name is the sort again that was declared before */
                A "(declare-datatypes ((P 2)) ((par (A A) ((pair (fst A) (snd A))))))\n(assert (forall ((x A)) (= x a)))\n",
                A "(declare-datatypes (A) ((L nil (cons (hd A) (tl L)))))\n(assert (forall ((x A)) (= x a)))\n",
                A "(push 1)\n(declare-datatype B (par (A) ((box (of A)))))\n(pop 1)\n(assert (forall ((x A)) (= x a)))\n",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                assert_prints(texts[i], texts[i]);
        assert_fails("(declare-datatype C ((red) (blue (n Int))))(assert (n 3))",
                     "f:1:52: argument 1 of n is Int, and should be C");
        assert_fails("(declare-datatype B (par (T) ((box (of T)))))(declare-const x T)", "f:1:63: unknown sort T");
}
END_TEST

START_TEST(test_opaque)
{
        cleanup_script struct script *s = NULL, *t = NULL;

        /* a function is an argument: higher order */
        assert_prints("(declare-fun g ((-> Int Int)) Int)(declare-fun h (Int) Int)(assert (= (g h) (h 1)))(assert (= (h 1) 2))",
                      "(declare-fun g ((-> Int Int)) Int)\n(declare-fun h (Int) Int)\n(assert (= (g h) (h 1)))\n(assert (= (h 1) 2))\n");
        s = read_text("(declare-const s (Set Int))(assert (set.member 1 (set.union s (as set.empty (Set Int)))))"
                      "(declare-heap (Int Int))(assert (and (foo 1) true))"
                      "(declare-datatype L ((nil) (cons (hd Int) (tl L))))(declare-const l L)"
                      "(assert (let ((a l)) (match a ((nil true) ((cons h t) (> h 0))))))(assert (not (> 1 0)))");
        ck_assert_uint_eq(s->n_opaque_commands, 2); /* declare-heap, and the match */
        ck_assert_int_eq(s->commands[1].term->kind, TERM_OPAQUE);
        ck_assert_uint_eq(s->commands[1].term->n_args, 2);
        ck_assert_int_eq(s->commands[3].term->args[0]->sort->kind, SORT_UNKNOWN);
        ck_assert_int_eq(s->commands[6].kind, COMMAND_OPAQUE);
        ck_assert_int_eq(s->commands[7].term->op, OP_NOT);
        assert_prints("(declare-const s (Set Int))(assert (set.member 1 (set.union s (as set.empty (Set Int)))))",
                      "(declare-const s (Set Int))\n(assert (set.member 1 (set.union s (as set.empty (Set Int)))))\n");
        assert_prints("(declare-fun f (Int) Int)(assert (= ((_ map f) 1) ((_ foo a 3) 2)))",
                      "(declare-fun f (Int) Int)\n(assert (= ((_ map f) 1) ((_ foo a 3) 2)))\n");
        /* A name that an opaque command may have declared is not captured by a variable of that name. */
        assert_prints("(declare-thing z Int)(assert (let ((y (> z 0))) (forall ((z Int)) (=> y (> z 1)))))",
                      "(declare-thing z Int)\n(assert (forall ((z!1 Int)) (=> (> z 0) (> z!1 1))))\n");
        assert_prints("(declare-thing |a b| Int)(assert (let ((y (exists ((w Int)) (> |a b| w)))) (forall ((|a b| Int)) (=> y (> |a b| 1)))))"
                      "(assert (forall ((|a b| Int)) (> |a b| 1)))",
                      "(declare-thing |a b| Int)\n(assert (forall ((|a b!1| Int)) (=> (exists ((w Int)) (> |a b| w)) (> |a b!1| 1))))\n"
                      "(assert (forall ((|a b| Int)) (> |a b| 1)))\n");
        /* ... nor is one that was given to a term of such a command unknown */
        assert_prints("(declare-datatype L ((nil) (cons (hd Int) (tl L))))(declare-const l L)(assert (! (match l ((nil true) ((cons h t) (> h 0)))) :named n))(assert (not n))",
                      "(declare-datatype L ((nil) (cons (hd Int) (tl L))))\n(declare-const l L)\n(assert (! (match l ((nil true) ((cons h t) (> h 0)))) :named n))\n(assert (not n))\n");
        assert_prints("(declare-const s String)(assert (< (seq.last_indexof s s) 0))", "(declare-const s String)\n(assert (< (seq.last_indexof s s) 0))\n");
        t = read_text("(assert (= (select (lambda ((i Int)) (+ i 1)) 1) 2))");
        ck_assert_uint_eq(t->n_opaque_terms, 0);
        assert_fails_with(
                (struct script_options){.dialect = DIALECT_2_6, .is_strict = true}, "(declare-heap (Int Int))", -EINVAL,
                "line 1, column 1: this command uses a feature that is not supported here; without strictness it would be kept as text");
        assert_fails_with(
                (struct script_options){.dialect = DIALECT_2_6, .is_strict = true}, "(assert (set.member 1 2))", -EINVAL,
                "line 1, column 10: unknown symbol set.member: it is neither declared nor an operator that is known here");
}
END_TEST

START_TEST(test_scopes)
{
        assert_prints("(push)" X "(assert (> x 0))(pop)(declare-const x Bool)(assert x)",
                      "(push 1)\n(declare-const x Int)\n(assert (> x 0))\n(pop 1)\n(declare-const x Bool)\n(assert x)\n");
        assert_fails("(push 1)" X "(pop 1)\n(assert (> x 0))",
                     "f:2:12: unknown symbol x: it is neither declared nor an operator that is known here");
        assert_fails("(pop 1)", "f:1:1: pop of 1 level, and 0 pushed");
        assert_fails("(push 2)(pop 3)", "f:1:9: pop of 3 levels, and 2 pushed");
        assert_fails(X "(reset)(assert (> x 0))",
                     "f:1:40: unknown symbol x: it is neither declared nor an operator that is known here");
        assert_prints("(push 4000000000)(push 0)(pop 3999999999)" X "(pop 1)(declare-const x Bool)(assert x)",
                      "(push 4000000000)\n(push 0)\n(pop 3999999999)\n(declare-const x Int)\n(pop 1)\n(declare-const x "
                      "Bool)\n(assert x)\n");
        assert_prints("(set-option :global-declarations true)(push 1)" X "(pop 1)(assert (> x 0))",
                      "(set-option :global-declarations true)\n(push 1)\n(declare-const x Int)\n(pop 1)\n(assert (> x 0))\n");
        assert_prints(X "(reset-assertions)(assert (> x 0))", "(declare-const x Int)\n(reset-assertions)\n(assert (> x 0))\n");
        /* a declared symbol goes before an operator of its name */
        assert_prints("(declare-fun abs (Bool) Bool)(assert (abs true))", "(declare-fun abs (Bool) Bool)\n(assert (abs true))\n");
}
END_TEST

START_TEST(test_reused_bank)
{
        cleanup_bank struct bank *b = bank_new();

        /* what one script declares the next does not know; also after an error */
        script_free(read_with(X "(assert (> x 0))", (struct script_options){.dialect = DIALECT_2_6, .bank = b}));
        assert_fails_with((struct script_options){.name = "f", .dialect = DIALECT_2_6, .bank = b},
                          "(declare-sort S 0)"
                          "(assert (forall ((y S)) (> x 0)))",
                          -EINVAL, "f:1:46: unknown symbol x: it is neither declared nor an operator that is known here");
        assert_fails_with((struct script_options){.name = "f", .dialect = DIALECT_2_6, .bank = b}, "(declare-const y S)", -EINVAL,
                          "f:1:18: unknown sort S");
}
END_TEST

/* -- errors -- */

START_TEST(test_errors)
{
        static const struct {
                const char *text, *message;
        } list[] = {
                {"\n  x", "f:2:3: a command, which begins with a parenthesis, is expected here"},
                {"(check-sat))", "f:1:12: a closing parenthesis without an open one"},
                {"(check-sat", "f:1:11: the input ends where a parenthesis that closes the command is expected"},
                {"(assert\n (and true\n", "f:2:2: the input ends within this term; 1 parentheses are open"},
                {"(assert \"abc", "f:1:9: this string has no closing quote"},
                {"(assert |abc", "f:1:9: this |symbol has no closing |"},
                {"(assert 12a)", "f:1:9: a symbol does not begin with a digit, and this is no number"},
                {X "\n(assert (and true\n   (str.len x)))", "f:3:4: argument 1 of str.len is Int, and should be String"},
                {X "(assert x)", "f:1:30: an assertion must be of sort Bool"},
                {"(declare-datatype C ((red)))(declare-const c C)(assert ((_ is blue) c))", "f:1:57: blue is no constructor: no datatype has it"},
                {"(declare-datatype C ((red (of C))))(declare-const c C)(assert (= c ((_ update fo) c c)))", "f:1:69: fo is no selector: no datatype has it"},
                {L "(assert (hd (tl l)))", "f:2:9: an assertion must be of sort Bool"},
                {L "(assert (= l (cons (hd l) (cons true nil))))", "f:2:14: argument 2 of cons is (L Bool), and should be (L T)"},
                {"(assert (foo 1))", "f:1:10: unknown symbol foo: it is neither declared nor an operator that is known here"},
                {"(declare-const x Foo)", "f:1:18: unknown sort Foo"},
                {"(declare-const x (Array Int))", "f:1:18: unknown sort Array with arguments"},
                {"(declare-const x (_ BitVec 0))", "f:1:18: a bit-vector has at least one bit"},
                {"(declare-const x (_ BitVec 99999999999))", "f:1:28: this index is larger than 4294967294"},
                {X "(assert (= x (let ((y 1) (y 2)) y)))", "f:1:48: this let binds y twice"},
                {"(assert (forall () true))", "f:1:9: this quantifier has no variables"},
                {"(assert (forall ((x Int)) x))", "f:1:9: the body of a quantifier is of sort Bool"},
                {"(assert (forall ((x Int)) true true))", "f:1:32: a quantifier has one body; close the parenthesis"},
                {"(assert (forall ((x Int))))", "f:1:26: this quantifier has no body"},
                {"(assert ())", "f:1:10: a term begins with the name of a function or operator"},
                {"(assert (true))", "f:1:14: a parenthesis around a constant: write it without, or give it arguments"},
                {"(assert let)", "f:1:9: let is a reserved word, and begins no term without a parenthesis"},
                {"(assert (! true :pattern))", NULL},
                {"(assert (! true x))", "f:1:17: an attribute (:keyword value) or a closing parenthesis is expected here"},
                {"(assert ((_ extract 7 0) #x0))", "f:1:9: no bits 7 to 0 in a bit-vector of 4"},
                {"(define-fun f () Int true)", "f:1:22: the body of f is not of the declared sort"},
                {"(declare-fun f (Int) Int)(assert (= (f 1 2) 1))", "f:1:37: f takes 1 argument; 2 given"},
                {"(declare-sort S 1)(declare-const x S)", "f:1:36: sort S takes 1 argument; 0 given"},
                {"(assert ((_ bv3 8) 1))", "f:1:10: a literal takes no arguments"}, /* found by fuzzing */
                {"(declare-const x (Int))",
                 "f:1:18: a sort without arguments has no parentheses around it"}, /* likewise */
        };

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                if (list[i].message)
                        assert_fails(list[i].text, list[i].message);
}
END_TEST

START_TEST(test_place)
{
        assert_fails_with((struct script_options){.dialect = DIALECT_2_6}, "(check-sat)\n (assert y)", -EINVAL,
                          "line 2, column 10: unknown symbol y: it is neither declared nor an operator that is known here");
}
END_TEST

/* Found by fuzzing: an index that is no number, and then numbers. */
START_TEST(test_odd_sorts)
{
        script_free(read_text("(declare-const a (_ Foo x 1 2 3))(assert (= a a))"));
        script_free(read_text("(define-fun r () RoundingMode RNE)(assert (= r RNE))"));
}
END_TEST

/* -- spans -- */

START_TEST(test_spans)
{
        const char *input = "(declare-fun f (Int String) Int)(declare-const x Int)\n(assert (let ((y (+ x 1)))\n  (< y (f |x| \"s\"))))";
        cleanup_script struct script *s = read_with(input, (struct script_options){.dialect = DIALECT_2_6});

        ck_assert_int_eq(input[s->commands[2].span.begin], '(');
        ck_assert_uint_eq(s->commands[2].span.end, strlen(input));
}
END_TEST

/* -- depth and size -- */

static void assert_nests(const char *before, const char *open, const char *core, const char *close, const char *behind,
                         size_t levels)
{
        cleanup_buffer struct buffer text = {0}, out = {0};
        cleanup_script struct script *s = NULL, *again = NULL;

        buffer_adds(&text, before);
        for (size_t i = 0; i < levels; i++)
                buffer_adds(&text, open);
        buffer_adds(&text, core);
        for (size_t i = 0; i < levels; i++)
                buffer_adds(&text, close);
        buffer_adds(&text, behind);
        s = read_text(text.data);
        assert_ok(script_print(s, NULL, &out));
        again = read_with(out.data, (struct script_options){.dialect = DIALECT_2_6, .bank = s->bank});
        ck_assert_ptr_eq(again->commands[again->n_commands - 1].term, s->commands[s->n_commands - 1].term);
}

START_TEST(test_nesting)
{
        assert_nests("(assert ", "(not ", "true", ")", ")", 100000);
        assert_nests("(declare-const p Bool)(assert ", "(let ((p (not p))) ", "p", ")", ")", 100000);
        assert_nests("(declare-const p Bool)(assert ", "(let ((q ", "p", ")) (not q))", ")", 100000);
        assert_nests("(assert ", "(forall ((x Int)) ", "true", ")", ")", 100000);
        assert_nests("(assert ", "(forall ((x Int)) (and (> x 0) ", "true", "))", ")", 20000);
        assert_nests("(assert ", "(! ", "true", " :a b)", ")", 100000);
        assert_nests("(assert (! true :a ", "(", "x", ")", "))", 100000);
        assert_nests("(foo ", "(", "x", ")", ")(assert true)", 100000);
}
END_TEST

/* Each of them is looked for wherever a symbol without a meaning of its own stands. */
START_TEST(test_many_names)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_script struct script *s = NULL;

        buffer_adds(&text, X "(assert (and");
        for (int i = 0; i < 300000; i++)
                buffer_addf(&text, " (! (> x 0) :named n%d)", i);
        buffer_adds(&text, "))(assert n299999)");
        s = read_text(text.data);
        ck_assert_uint_eq(s->commands[2].term->function->kind, FUNCTION_NAMED);
}
END_TEST

START_TEST(test_doubling)
{
        cleanup_buffer struct buffer text = {0}, out = {0};
        cleanup_script struct script *s = NULL;

        /* 2^1000 nodes as a tree */
        buffer_adds(&text, X "(assert (let ((y0 x)) ");
        for (int i = 0; i < 1000; i++)
                buffer_addf(&text, "(let ((y%d (+ y%d y%d))) ", i + 1, i, i);
        buffer_adds(&text, "(or (! (= y1000 x) :named n) (= y1000 0))");
        for (int i = 0; i < 1000; i++)
                buffer_adds(&text, ")");
        buffer_adds(&text, "))");
        s = read_text(text.data);
        assert_ok(script_print(s, NULL, &out));
        ck_assert_uint_lt(out.size, 100000);
        ck_assert_uint_eq(s->commands[1].term->tree_size, UINT64_MAX);
}
END_TEST

/* Sorts that double at each definition are refused before they fill the memory. */
START_TEST(test_doubling_sorts)
{
        cleanup_buffer struct buffer text = {0};
        struct script *s = NULL;

        buffer_adds(&text, "(define-sort S0 () Int)");
        for (int i = 0; i < 100; i++)
                buffer_addf(&text, "(define-sort S%d () (Array S%d S%d))", i + 1, i, i);
        assert_error(script_read(SLICE(text.data, text.size), NULL, &s), EINVAL);
}
END_TEST

/* -- making scripts -- */

START_TEST(test_make)
{
        cleanup_script struct script *s = NULL, *clone = NULL, *copy = NULL;
        cleanup_bank struct bank *other = bank_new();
        cleanup_buffer struct buffer out = {0}, out2 = {0}, out3 = {0};
        const struct function **functions, *f;
        const struct term *x;
        size_t n;

        script_new(NULL, DIALECT_2_6, &s);
        script_add_logic(s, "QF_LIA");
        script_add_text(s, COMMAND_SET_INFO, "(set-info :status sat)");
        x = term_fresh_constant(s->bank, "x", sort_simple(s->bank, SORT_INT));
        f = function_of(s->bank, FUNCTION_DECLARED, symbol_of(s->bank, slice_string("f g")), (const struct sort *[]){x->sort}, 1,
                        x->sort);
        assert_ok(script_add_assert(s, term_op2(s->bank, OP_GT, term_call_as(s->bank, f, NULL, &x, 1), x)));
        script_add_check(s);
        script_declare_missing(s);
        script_declare_missing(s); /* nothing is missing any more */
        assert_ok(script_print(s, NULL, &out));
        ck_assert_str_eq(out.data,
                         "(set-logic QF_LIA)\n(set-info :status sat)\n(declare-fun x!1 () Int)\n(declare-fun |f g| (Int) Int)\n"
                         "(assert (> (|f g| x!1) x!1))\n(check-sat)\n");
        assert_error(script_add_assert(s, term_op1(s->bank, OP_NOT, x)), EINVAL);
        script_functions_at(s, s->n_commands, &functions, &n);
        ck_assert_uint_eq(n, 2);
        free(functions);
        script_clone(s, &clone);
        script_remove(clone, 1);
        clone->commands[3].term = term_not(s->bank, clone->commands[3].term);
        assert_ok(script_print(clone, NULL, &out2));
        ck_assert_str_eq(out2.data, "(set-logic QF_LIA)\n(declare-fun x!1 () Int)\n(declare-fun |f g| (Int) Int)\n"
                                    "(assert (not (> (|f g| x!1) x!1)))\n(check-sat)\n");
        script_copy(s, other, &copy);
        assert_ok(script_print(copy, NULL, &out3));
        ck_assert_str_eq(out3.data, out.data);
}
END_TEST

/* -- features -- */

static double feature(const char *text, const char *name)
{
        cleanup_features struct features f = {0};
        size_t n;
        const struct feature *table = smt_features(&n);
        int r = features_of_smt(slice_string(text), &f);

        ck_assert_msg(r == 0, "%s", error_message(r));
        ck_assert_uint_eq(f.n, n);
        for (size_t i = 0; i < n; i++)
                if (strcmp(table[i].name, name) == 0)
                        return f.values[i];
        ck_abort_msg("no feature %s", name);
        return 0;
}

START_TEST(test_features)
{
        const char *text =
                X "(declare-fun f (Int Int) Bool)(assert (and (< x 7 120) (< x 7 120) (f x (* x x))))"
                  "(assert (forall ((y Int)) (exists ((z Int)) (forall ((u Int) (v Int)) (=> (f u v) (f y z))))))(check-sat)";

        ck_assert_double_eq(feature(text, "asserts"), 2);
        ck_assert_double_eq(feature(text, "checks"), 1);
        ck_assert_double_eq(feature(text, "constants-declared"), 1);
        ck_assert_double_eq(feature(text, "functions-declared"), 1);
        ck_assert_double_eq(feature(text, "function-arity"), 2);
        ck_assert_double_eq(feature(text, "quantifier-nesting"), 3);
        ck_assert_double_eq(feature(text, "quantifier-alternation"), 2);
        ck_assert_double_eq(feature(text, "bound-variables"), 4);
        ck_assert_double_eq(feature(text, "int-literal-max"), 120);
        ck_assert_double_eq(feature(text, "int-literal-sum"), 127);
        ck_assert_double_eq(feature(text, "op:<"), 1); /* distinct */
        ck_assert_double_eq(feature(text, "op:and"), 1);
        ck_assert_double_eq(feature(text, "nonlinear"), 1);
        ck_assert_double_eq(feature(text, "constants"), 1);
        ck_assert_double_eq(feature(text, "applications"), 3);
        ck_assert_double_eq(feature(text, "depth"), 6);
        ck_assert_double_eq(feature(text, "atoms"), 4);
        ck_assert_double_eq(feature("(assert (= (- 1) (- 2 1)))", "op:-/1"), 1);
        ck_assert_double_eq(feature("(assert (= (- 1) (- 2 1)))", "op:-/2"), 1);
        ck_assert_double_eq(feature("", "dag-size"), 0);
        ck_assert_double_eq(feature("(check-sat)( ; how\n check-sat-using smt)(query p)(get-model)(check-sat-assuming (a))(check)", "checks"), 4);
        ck_assert_double_eq(feature("(assert (str.in_re \"abc\" ((_ re.loop 2 9) (re.* re.allchar))))", "regex-depth"), 3);
        ck_assert_double_eq(feature("(assert (str.in_re \"abc\" ((_ re.loop 2 9) (re.* re.allchar))))", "loop-max"), 9);
        ck_assert_double_eq(feature("(assert (= \"abc\" \"\\u{41}\"))", "string-literal-sum"), 4);
        ck_assert_double_eq(feature("(declare-const a (Array Int (Array Int Bool)))(declare-const e (Array Int Bool))"
                                    "(assert (= (store (store a 1 e) 2 e) a))",
                                    "store-chain"),
                            2);
        ck_assert_double_eq(feature("(declare-const a (Array Int (Array Int Bool)))(assert (= a a))", "array-nesting"), 2);
        ck_assert_double_eq(feature("(declare-const a (_ BitVec 12))(assert (bvult a #x00f))", "bitvec-width-max"), 12);
        ck_assert_double_eq(feature("(declare-const a (_ BitVec 12))(assert (bvult a #x00f))", "bitvec-literal-max"), 15);
}
END_TEST

/* Every feature has a name of its own and a meaning. */
START_TEST(test_feature_tables)
{
        for (int which = 0; which < 2; which++) {
                size_t n;
                const struct feature *table = which == 0 ? smt_features(&n) : cnf_features(&n);

                for (size_t i = 0; i < n; i++) {
                        ck_assert_msg(table[i].name && table[i].meaning && *table[i].meaning, "feature %zu", i);
                        ck_assert_msg(strpbrk(table[i].name, "\t\n ") == NULL, "%s", table[i].name);
                        for (size_t k = 0; k < i; k++)
                                ck_assert_str_ne(table[i].name, table[k].name);
                }
        }
}
END_TEST

START_TEST(test_cnf)
{
        cleanup_features struct features f = {0};
        cleanup_buffer struct buffer out = {0};
        size_t n;
        const struct feature *table = cnf_features(&n);

        assert_ok(features_of_cnf(slice_string("c hello\np cnf 5 4\n1 -2 0 3\n0\nc more\n-1 -2 -3 4 0\n0\n%\n0\n"), &f));
        features_print(table, &f, &out);
        ck_assert_str_eq(
                out.data,
                "variables\t5\nclauses\t4\nliterals\t7\nvariables-used\t4\nclause-length-min\t0\nclause-length-max\t4\n"
                "clause-length-mean\t1.75\nclauses-empty\t1\nclauses-unit\t1\nclauses-binary\t1\nclauses-ternary\t0\n"
                "clauses-4-to-8\t1\nclauses-9-up\t0\nclauses-horn\t4\nliterals-positive\t3\noccurrences-max\t2\nratio\t1\n");
        assert_error(features_of_cnf(slice_string(""), &f), EINVAL);
        assert_error(features_of_cnf(slice_string("1 0\n"), &f), EINVAL);
        ck_assert_str_eq(error_message(-EINVAL), "line 1, column 1: the header, p cnf VARIABLES CLAUSES, is missing");
        assert_error(features_of_cnf(slice_string("p cnf 1 1\n1 x 0\n"), &f), EINVAL);
        ck_assert_str_eq(error_message(-EINVAL), "line 2, column 3: a number is expected here");
        assert_error(features_of_cnf(slice_string("p cnf 1 1\n99999999999 0\n"), &f), EINVAL);
        assert_error(features_of_cnf(slice_string("p cnf 1 1\n2147483647 0\n"), &f), EINVAL); /* no room for a gap as large */
        assert_error(features_of_cnf(slice_string("p cnf 1 1\np cnf 1 1\n"), &f), EINVAL);
}
END_TEST

START_TEST(test_arithmetic_of_logics)
{
        static const struct {
                const char *logic, *assertion;
                int allowed;
        } rows[] = {
                {"QF_LIA", "(= (* 2 x (- 3)) y)", 1},
                {"QF_LIA", "(= (* x y) 0)", 0},
                {"QF_LIA", "(= (* x (* 2 y)) 0)", 0},
                {"QF_LIA", "(= (div x (+ 1 2)) (mod y 3))", 1},
                {"QF_LIA", "(= (div 7 x) 2)", 0},
                {"QF_LIA", "(< (to_real x) 2.5)", 0},
                {"QF_SLIA", "(> (* x y) 0)", 0},
                {"QF_NIA", "(= (* x y) (div 7 x))", 1},
                {"QF_NIA", "(= (/ 1.0 2.0) 0.5)", 0},
                {"LRA", "(exists ((z Real)) (= (* 2.0 z) (/ a 3.0)))", 1},
                {"LRA", "(exists ((z Real)) (= (* a z) 1.0))", 0},
                {"QF_LRA", "(= (to_int a) 1)", 0},
                {"QF_LRA", "(is_int a)", 0},
                {"QF_NIRA", "(= (* x (to_int a)) y)", 1},
                {"AUFLIRA", "(< (+ (to_real x) a) 2.0)", 1},
                {"AUFLIRA", "(< (* (to_real x) a) 2.0)", 0},
                {"ALL", "(= (* x y) (to_int a))", 1},
                {"QF_S", "(= (* x y) 0)", 1},
                {"HORN", "(= (* x y) 0)", 1},
                {"QF_IDL", "(and (< (- x y) (- 5)) (not (= x y)) (distinct 3 (- y x)) (>= x 2))", 1},
                {"QF_IDL", "(< (- x y) (- y x))", 0},
                {"QF_IDL", "(< (+ x y) 3)", 0},
                {"QF_IDL", "(< (- x 1) y)", 0},
                {"QF_IDL", "(< (ite (< x y) (- x y) x) 3)", 0},
                {"QF_IDL", "(< (* 2 x) y)", 0},
                {"QF_IDL", "(< (- x y) (abs 7))", 0},
                {"QF_IDL", "(< (- x) y)", 0},
                {"QF_RDL", "(< (- a (ite (< a 1.0) a 2.0)) (/ 1.0 3.0))", 1},
                {"QF_RDL", "(< (- a 1.0) (/ 1.0 3.0))", 0},
                {"QF_LIA", "(str.prefixof (str.from_int x) (str.from_int y))", 0},
                {"QF_SLIA", "(str.prefixof (str.from_int x) (str.from_int y))", 1},
                {"QF_UF", "(< x y)", 0},
                {"QF_BV", "(= (bvadd #x1 #x2) #x3)", 1},
                {"QF_BV", "(= (select ((as const (Array (_ BitVec 4) (_ BitVec 4))) #x1) #x2) #x3)", 0},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                cleanup_buffer struct buffer text = {0};
                cleanup_script struct script *s = NULL;
                const struct logic logic = logic_of(rows[i].logic);

                buffer_addf(&text, "(declare-fun x () Int)(declare-fun y () Int)(declare-fun a () Real)(assert %s)", rows[i].assertion);
                s = read_text(text.data);
                ck_assert_msg(logic_allows(&logic, s->commands[3].term) == rows[i].allowed, "%s: %s", rows[i].logic,
                              rows[i].assertion);
        }
        ck_assert(!logic_of(NULL).is_linear);
}
END_TEST

START_TEST(test_names_of_logics)
{
        static const struct {
                const char *name;
                bool is_known, quantifiers, functions;
                unsigned theories; /* beside Core */
        } rows[] = {
                {"QF_BV", true, false, false, 1 << THEORY_BITVECTORS},
                {"QF_AUFBV", true, false, true, 1 << THEORY_ARRAYS | 1 << THEORY_BITVECTORS},
                {"QF_AX", true, false, false, 1 << THEORY_ARRAYS},
                {"QF_UF", true, false, true, 0},
                {"UFLIA", true, true, true, 1 << THEORY_ARITHMETIC},
                {"ALIA", true, true, false, 1 << THEORY_ARRAYS | 1 << THEORY_ARITHMETIC},
                {"AUFLIRA", true, true, true, 1 << THEORY_ARRAYS | 1 << THEORY_ARITHMETIC},
                {"QF_ABVFPLRA", true, false, false, 1 << THEORY_ARRAYS | 1 << THEORY_BITVECTORS | 1 << THEORY_FLOATS | 1 << THEORY_ARITHMETIC},
                {"QF_SLIA", true, false, false, 1 << THEORY_STRINGS | 1 << THEORY_ARITHMETIC},
                {"QF_S", true, false, false, 1 << THEORY_STRINGS},
                {"QF_NIRA", true, false, false, 1 << THEORY_ARITHMETIC},
                {"ALL", true, true, true, (1 << N_THEORIES) - 2},
                {"QF_"}, {""}, {"HORN"}, {"QF_DT"}, {"QF_BVX"}, {"LIAQF_"}, {"qf_bv"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const struct logic l = logic_of(rows[i].name);

                ck_assert_msg(l.is_known == rows[i].is_known, "%s", rows[i].name);
                if (l.is_known)
                        ck_assert_msg(l.has_quantifiers == rows[i].quantifiers && l.has_functions == rows[i].functions &&
                                              l.theories == (rows[i].theories | 1u << THEORY_CORE), "%s", rows[i].name);
        }
        ck_assert(logic_of("QF_NIA").is_nonlinear && logic_of("NIRA").is_nonlinear && !logic_of("QF_LIA").is_nonlinear && logic_of("QF_UFIDL").is_difference);
        ck_assert(!logic_of(NULL).is_known);
}
END_TEST

SUITE("script", test_arithmetic_of_logics, test_names_of_logics, test_commands, test_dialects, test_let, test_quantifiers, test_annotations, test_numbers, test_datatypes,
      test_opaque, test_scopes, test_reused_bank, test_errors, test_place, test_odd_sorts, test_spans, test_nesting,
      test_many_names, test_doubling, test_doubling_sorts, test_make, test_features, test_feature_tables, test_cnf)
