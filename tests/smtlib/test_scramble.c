#include "tests/support/test.h"

#include "cache/base/random.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/print.h"
#include "core/smtlib/scramble.h"

#define N_SEEDS 4

typedef int scrambler(struct slice bytes, uint64_t seed, struct buffer *ret);

static void assert_refused(scrambler *scramble, const char *text, int error, const char *message)
{
        cleanup_buffer struct buffer out = {0};
        int r = scramble(slice_string(text), 1, &out);

        ck_assert_msg(r == -error, "%s: %d, %s", text, r, out.data);
        ck_assert_str_eq(error_message(r), message);
}

static void scrambled(scrambler *scramble, const char *text, uint64_t seed, struct buffer *ret)
{
        int r = scramble(slice_string(text), seed, ret);

        ck_assert_msg(r == 0, "%s: %s", text, error_message(r));
}

/* The same bytes for a seed, others for other seeds, its own for 0. */
static void assert_seeded(scrambler *scramble, const char *text)
{
        cleanup_buffer struct buffer last = {0}, identity = {0};

        for (uint64_t seed = 1; seed < 20; seed++) {
                cleanup_buffer struct buffer one = {0}, two = {0};

                scrambled(scramble, text, seed, &one);
                scrambled(scramble, text, seed, &two);
                ck_assert_str_eq(one.data, two.data);
                ck_assert_str_ne(one.data, text);
                ck_assert(!last.data || strcmp(one.data, last.data) != 0);
                last.size = 0;
                buffer_adds(&last, one.data);
        }
        scrambled(scramble, text, 0, &identity);
        ck_assert_str_eq(identity.data, text);
}

/* -- DIMACS -- */

#define CNF_VARIABLES 8

static void random_cnf(struct random *r, struct buffer *ret)
{
        unsigned variables = 2 + (unsigned)random_below(r, CNF_VARIABLES - 1), clauses = 1 + (unsigned)random_below(r, 24);

        buffer_addf(ret, "c random\np cnf %u %u\n", variables, clauses);
        for (unsigned i = 0; i < clauses; i++) {
                for (uint64_t n = 1 + random_below(r, 4); n > 0; n--)
                        buffer_addf(ret, "%s%u ", random_below(r, 2) ? "-" : "", 1 + (unsigned)random_below(r, variables));
                buffer_adds(ret, "0\n");
        }
}

struct cnf_counts {
        size_t models, lengths[5];
        int64_t variables, clauses;
};

static struct cnf_counts count_cnf(const char *text)
{
        struct cnf_counts c = {0};
        struct cnf_reader reader;
        uint64_t holds[1 << CNF_VARIABLES] = {0}; /* by assignment: clauses that hold */
        unsigned n_clauses = 0, length = 0;
        int32_t literal;
        int r;

        cnf_reader_init(&reader, slice_string(text));
        while ((r = cnf_next(&reader, &literal)) > 0) {
                if (literal == 0) {
                        c.lengths[length]++;
                        n_clauses++;
                        length = 0;
                        continue;
                }
                length++;
                for (unsigned a = 0; a < ARRAY_SIZE(holds); a++)
                        if ((a >> (abs(literal) - 1) & 1) == (literal > 0))
                                holds[a] |= UINT64_C(1) << n_clauses;
        }
        assert_ok(r);
        c.variables = reader.variables;
        c.clauses = reader.clauses;
        for (unsigned a = 0; a < 1U << c.variables; a++)
                c.models += holds[a] == (UINT64_C(1) << n_clauses) - 1;
        return c;
}

START_TEST(test_cnf_models)
{
        struct random r;
        size_t n_satisfiable = 0, n_not = 0;

        random_seed(&r, 1);
        for (int i = 0; i < 500; i++) {
                cleanup_buffer struct buffer text = {0};
                struct cnf_counts is;

                random_cnf(&r, &text);
                is = count_cnf(text.data);
                n_satisfiable += is.models > 0;
                n_not += is.models == 0;
                for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
                        cleanup_buffer struct buffer out = {0};
                        struct cnf_counts now;

                        scrambled(scramble_cnf, text.data, seed, &out);
                        now = count_cnf(out.data);
                        ck_assert_msg(memcmp(&is, &now, sizeof(is)) == 0, "%s\n%s", text.data, out.data);
                }
        }
        ck_assert_uint_gt(n_satisfiable, 100);
        ck_assert_uint_gt(n_not, 100);
}
END_TEST

START_TEST(test_cnf_seeds)
{
        cleanup_buffer struct buffer identity = {0};

        assert_seeded(scramble_cnf, "p cnf 9 4\n1 -2 3 0\n4 5 0\n-6 7 8 9 0\n-1 -9 0\n");
        scrambled(scramble_cnf, "no formula", 0, &identity);
        ck_assert_str_eq(identity.data, "no formula");
}
END_TEST

/* A clause whose 0 is missing, clauses over lines, an end by %, variables that do not occur. */
START_TEST(test_cnf_shapes)
{
        cleanup_buffer struct buffer out = {0};

        scrambled(scramble_cnf, "c a\np cnf 3 2\n1\n2 0 3", 7, &out);
        ck_assert_uint_eq(count_cnf(out.data).models, 3);
        out.size = 0;
        scrambled(scramble_cnf, "p cnf 1 1\n1 0\n%\n0\n", 7, &out);
        ck_assert(strcmp(out.data, "p cnf 1 1\n1 0\n") == 0 || strcmp(out.data, "p cnf 1 1\n-1 0\n") == 0);
        out.size = 0;
        scrambled(scramble_cnf, "p cnf 2000000000 1\n1 -3 0\n", 7, &out);
        ck_assert(strncmp(out.data, "p cnf 2000000000 1\n", 19) == 0);
}
END_TEST

START_TEST(test_cnf_refused)
{
        assert_refused(scramble_cnf, "p cnf 2 1\n1 x 0\n", EINVAL, "line 2, column 3: a number is expected here");
        assert_refused(scramble_cnf, "p cnf 1 1\n1 2 0\n", EINVAL, "variable 2, and the header announces 1: write p cnf 2 1");
        assert_refused(scramble_cnf, "p wcnf 1 1\n1 2 0\n", EINVAL,
                       "line 1, column 3: the header is written p cnf VARIABLES CLAUSES");
        assert_refused(scramble_cnf, "c ind 1 0\np cnf 2 1\n1 2 0\n", ENOTSUP,
                       "cannot scramble this: a comment (c ind, c p) names variables by their numbers");
        assert_refused(scramble_cnf, "p cnf 0 1\n0\n", ENOTSUP, "cannot scramble this: no variable occurs");
        assert_refused(scramble_cnf, "", EINVAL, "line 1, column 1: the header, p cnf VARIABLES CLAUSES, is missing");
}
END_TEST

/* -- SMT-LIB: models counted -- */

#define N_BOOLS 4
#define N_INTS  2 /* each 0, 1 or 2 */

static void random_term(struct random *r, bool is_bool, unsigned depth, struct buffer *ret)
{
        static const char *const bools[] = {"and", "or", "xor", "=", "=>", "not", "distinct"};
        static const char *const atoms[] = {"<", "<=", ">", ">=", "=", "distinct"};
        static const char *const ints[] = {"+", "*", "-"};
        size_t n = 2 + random_below(r, 2);
        const char *head;
        bool is_atom = is_bool && random_below(r, 3) == 0;

        if (depth == 0 || random_below(r, 6) == 0) {
                buffer_addf(ret, is_bool ? "b%u" : "i%u", (unsigned)random_below(r, is_bool ? N_BOOLS : N_INTS));
                return;
        }
        if (is_bool && random_below(r, 5) == 0) {
                /* the same term twice, by a let that hides a constant */
                buffer_adds(ret, "(let ((b0 ");
                random_term(r, true, depth - 1, ret);
                buffer_adds(ret, ")) ");
                random_term(r, true, depth - 1, ret);
                buffer_adds(ret, ")");
                return;
        }
        head = is_atom   ? atoms[random_below(r, ARRAY_SIZE(atoms))]
               : is_bool ? bools[random_below(r, ARRAY_SIZE(bools))]
                         : ints[random_below(r, ARRAY_SIZE(ints))];
        n = strcmp(head, "not") == 0 ? 1 : n;
        buffer_addf(ret, "(%s", head);
        for (size_t i = 0; i < n; i++) {
                buffer_adds(ret, " ");
                random_term(r, is_bool && !is_atom, depth - 1, ret);
        }
        buffer_adds(ret, ")");
}

static void random_smt(struct random *r, struct buffer *ret)
{
        buffer_adds(ret, "(set-logic QF_NIA)\n");
        for (unsigned i = 0; i < N_BOOLS; i++)
                buffer_addf(ret, "(declare-const b%u Bool)\n", i);
        for (unsigned i = 0; i < N_INTS; i++)
                buffer_addf(ret, "(declare-fun i%u () Int) ; a comment\n", i);
        for (uint64_t n = 1 + random_below(r, 4); n > 0; n--) {
                buffer_adds(ret, "(assert ");
                random_term(r, true, 4, ret);
                buffer_adds(ret, ")\n");
        }
        buffer_adds(ret, "(check-sat)\n");
}

/* What the constants, in the order of their declarations, are. */
struct assignment {
        const struct function *functions[N_BOOLS + N_INTS];
        int64_t values[N_BOOLS + N_INTS];
        size_t n;
};

static bool compare_as(enum op op, int64_t x, int64_t y)
{
        return op == OP_LT ? x < y : op == OP_LE ? x <= y : op == OP_GT ? x > y : op == OP_GE ? x >= y : x == y;
}

static int64_t value_of(const struct term *t, const struct assignment *a)
{
        int64_t v[3] = {0}, result;

        for (size_t i = 0; t->kind == TERM_FUNCTION && i < a->n; i++)
                if (a->functions[i] == t->function)
                        return a->values[i];
        ck_assert_int_eq(t->kind, TERM_OPERATOR);
        ck_assert_uint_le(t->n_args, ARRAY_SIZE(v));
        for (size_t i = 0; i < t->n_args; i++)
                v[i] = value_of(t->args[i], a);
        switch ((int)t->op) {
        case OP_NOT:
                return !v[0];
        case OP_IMPLIES:
                return t->n_args == 2 ? !v[0] || v[1] : !v[0] || !v[1] || v[2];
        case OP_DISTINCT:
                return v[0] != v[1] && (t->n_args == 2 || (v[0] != v[2] && v[1] != v[2]));
        case OP_LT:
        case OP_LE:
        case OP_GT:
        case OP_GE:
        case OP_EQUAL:
                return compare_as(t->op, v[0], v[1]) && (t->n_args == 2 || compare_as(t->op, v[1], v[2]));
        default:
                break;
        }
        result = v[0];
        for (size_t i = 1; i < t->n_args; i++)
                result = t->op == OP_AND     ? result && v[i]
                         : t->op == OP_OR    ? result || v[i]
                         : t->op == OP_XOR   ? result != v[i]
                         : t->op == OP_PLUS  ? result + v[i]
                         : t->op == OP_TIMES ? result * v[i]
                                             : result - v[i];
        return result;
}

static struct script *read_strictly(const char *text)
{
        struct script *s = NULL;
        int r = script_read(slice_string(text), &(struct script_options){.dialect = DIALECT_2_6, .is_strict = true}, &s);

        ck_assert_msg(r == 0, "%s: %s", text, error_message(r));
        return s;
}

static bool holds(const struct script *s, const struct assignment *a)
{
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT && !value_of(s->commands[i].term, a))
                        return false;
        return true;
}

static size_t count_models(const char *text)
{
        cleanup_script struct script *s = read_strictly(text);
        struct assignment a = {0};
        size_t n = 0;

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].function)
                        a.functions[a.n++] = s->commands[i].function;
        ck_assert_uint_eq(a.n, N_BOOLS + N_INTS);
        for (unsigned code = 0; code < (1U << N_BOOLS) * 9; code++) {
                unsigned left = code;

                for (size_t i = 0; i < a.n; i++) {
                        unsigned values = a.functions[i]->result->kind == SORT_BOOL ? 2 : 3;

                        a.values[i] = left % values;
                        left /= values;
                }
                n += holds(s, &a);
        }
        return n;
}

START_TEST(test_smt_models)
{
        struct random r;
        size_t n_changed = 0;

        random_seed(&r, 2);
        for (int i = 0; i < 500; i++) {
                cleanup_buffer struct buffer text = {0};
                size_t is;

                random_smt(&r, &text);
                is = count_models(text.data);
                n_changed += is > 0 && is < (1U << N_BOOLS) * 9;
                for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
                        cleanup_buffer struct buffer out = {0};
                        size_t now;

                        scrambled(scramble_smt, text.data, seed, &out);
                        now = count_models(out.data);
                        ck_assert_msg(is == now, "%zu, %zu: %s\n%s", is, now, text.data, out.data);
                }
        }
        ck_assert_uint_gt(n_changed, 250);
}
END_TEST

/* -- SMT-LIB: what changes and what does not -- */

/* Under some seed the text is this. */
static void assert_reaches(const char *text, const char *expected)
{
        for (uint64_t seed = 1; seed < 1000; seed++) {
                cleanup_buffer struct buffer out = {0};

                scrambled(scramble_smt, text, seed, &out);
                if (strcmp(out.data, expected) == 0)
                        return;
        }
        ck_abort_msg("%s is never %s", text, expected);
}

/* Under every seed the text has this in it. */
static void assert_keeps(const char *text, const char *part)
{
        for (uint64_t seed = 1; seed < 50; seed++) {
                cleanup_buffer struct buffer out = {0};

                scrambled(scramble_smt, text, seed, &out);
                ck_assert_msg(strstr(out.data, part), "%s: no %s", out.data, part);
        }
}

/* Under no seed does it. */
static void assert_loses(const char *text, const char *part)
{
        for (uint64_t seed = 1; seed < 50; seed++) {
                cleanup_buffer struct buffer out = {0};

                scrambled(scramble_smt, text, seed, &out);
                ck_assert_msg(!strstr(out.data, part), "%s: it has %s", out.data, part);
        }
}

START_TEST(test_operands)
{
        const char *xy = "(declare-const a Int)(declare-const b Int)";
        cleanup_buffer struct buffer text = {0};

        buffer_addf(&text, "%s(assert (<= a b))", xy);
        assert_reaches(text.data, "(declare-const x1 Int)\n(declare-const x2 Int)\n(assert (<= x1 x2))\n");
        assert_reaches(text.data, "(declare-const x2 Int)\n(declare-const x1 Int)\n(assert (>= x1 x2))\n");
        assert_reaches(text.data, "(declare-const x1 Int)\n(declare-const x2 Int)\n(assert (>= x2 x1))\n");
        assert_reaches("(declare-const a Int)(assert (< 0 a 9))", "(declare-const x1 Int)\n(assert (> 9 x1 0))\n");
        assert_reaches("(declare-const a (_ BitVec 8))(assert (bvult a (_ bv5 8)))",
                       "(declare-const x1 (_ BitVec 8))\n(assert (bvugt (_ bv5 8) x1))\n");
        assert_reaches("(assert (= 1 2))", "(assert (= 2 1))\n");
        assert_reaches("(declare-const m RoundingMode)(declare-const a Float32)(assert (fp.eq a (fp.add m a (fp.neg a))))",
                       "(declare-const x2 RoundingMode)\n(declare-const x1 Float32)\n"
                       "(assert (fp.eq (fp.add x2 (fp.neg x1) x1) x1))\n");
        assert_keeps("(declare-const a Int)(assert (=> (< 0 (- a 1)) true false))", "false))\n");
        assert_keeps("(declare-const a Int)(assert (< 0 (- a 1)))", "(- x1 1)");
        assert_keeps("(declare-const a String)(assert (str.< a \"b\"))", "(str.< x1 \"b\")");
        assert_keeps("(declare-const a Bool)(assert (and (! (not a) :named b) b))", "(and (! (not "); /* no use before its name is given */
}
END_TEST

/* Equal terms stay equal, so that a solver still shares them. */
START_TEST(test_sharing)
{
        const char *text = "(declare-fun f (Int) Int)(declare-const a Int)(declare-const b Int)(declare-const c Int)"
                           "(assert (= (f (+ a b c)) (f (* 2 (+ a b c)))))";

        for (uint64_t seed = 1; seed < 50; seed++) {
                cleanup_buffer struct buffer out = {0};
                cleanup_script struct script *s = NULL;

                scrambled(scramble_smt, text, seed, &out);
                s = read_strictly(out.data);
                for (size_t i = 0; i < s->n_commands; i++)
                        if (s->commands[i].kind == COMMAND_ASSERT)
                                ck_assert_uint_eq(term_dag_size(s->commands[i].term), 9);
        }
}
END_TEST

/* What the script itself names by an operator's name is no operator, and keeps its name. */
START_TEST(test_own_operators)
{
        assert_keeps("(declare-fun bvadd (Int Int) Int)(declare-const a Int)(assert (distinct a (bvadd a 1) 1))", "(bvadd x1 1)");
        assert_keeps("(declare-fun > (Int Int) Bool)(declare-const a Int)(assert (and (> a 1) (< a 1)))", "(< x1 1)");
        assert_keeps("(declare-const f (Array Int Bool))(assert (= f ((_ map (and (Bool Bool) Bool)) f f)))",
                     "((_ map (and (Bool Bool) Bool)) x1 x1)");
        assert_keeps("(declare-const Int Int)(assert (< Int 3))", "(declare-const Int Int)");
        /* a variable with the name of a solver's operator that is not known here */
        assert_keeps("(declare-const a (Array Int Int))(assert (forall ((update Int)) (> update 1)))(assert (= a (update a 1 2)))", "(update x1 1 2)");
        assert_keeps("(declare-const a (Array Int Int))(assert (let ((update (update a 1 2))) (= a update)))", "(update x1 1 2)");
        assert_loses("(assert (forall ((update Int)) (> update 1)))(define-fun f ((update Int)) Int update)", "update");
        assert_loses("(declare-fun v_ (Int) Int)(assert (forall ((v_ Int)) (> v_ 1)))(assert (> (v_ 1) 1))", "v_");
        assert_keeps("(declare-const bv5 (_ BitVec 8))(assert (= bv5 (_ bv5 8)))", "(_ bv5 8)");
}
END_TEST

START_TEST(test_names)
{
        assert_reaches("(declare-const |a b| Bool)(assert |a b|)", "(declare-const x1 Bool)\n(assert x1)\n");
        assert_reaches("(declare-const |a| Bool)(assert a)", "(declare-const x1 Bool)\n(assert x1)\n");
        /* x1 is a name already, which nothing declares */
        assert_reaches("(declare-const a Bool)(maximize x1)(assert a)",
                       "(declare-const xx1 Bool)\n(maximize x1)\n(assert xx1)\n");
        /* what a command mentions that is not understood keeps its name */
        assert_keeps("(declare-const a Int)(declare-const b Int)(minimize (+ a 1))(assert (< a b))", "(declare-const a Int)");
        assert_loses("(declare-const a Int)(declare-const b Int)(minimize (+ a 1))(assert (< a b))", "b");
        assert_loses("(declare-fun p_ (Int) Bool)"
                     "(assert (forall ((q_ Int)) (! (exists ((r_ Int)) (let ((s_ (+ q_ r_))) (p_ s_))) :pattern ((p_ q_)))))"
                     "(define-fun t_ ((u_ Int)) Int (+ u_ 1))(define-sort v_ (w_) (Array Int w_))(declare-sort y_ 0)"
                     "(declare-const z_ (v_ y_))(define-const k_ (Array (Array Int Int) Int) ((as const (Array (Array Int Int) "
                     "Int)) 0))"
                     "(define-funs-rec ((m_ ((n_ Int)) Int)) ((+ n_ (m_ n_))))(assert (! (p_ (t_ 2)) :named l_))(get-value (l_))",
                     "_ ");
        assert_keeps("(declare-const a Bool)(set-info :a a)(echo \"a\")(assert a)", "(set-info :a a)\n(echo \"a\")\n");
        /* a name may be spelled like a keyword */
        assert_keeps("(declare-const |let| Int)(assert (let ((a |let|)) (= a 1)))", "(assert (let ((");
        assert_keeps("(declare-const |forall| Int)(assert (forall ((a Int)) (= a |forall|)))", "(forall ((");
        assert_keeps("(declare-const |as| Int)(assert (= ((as const (Array Int Int)) 0) ((as const (Array Int Int)) |as|)))",
                     "((as const (Array Int Int)) ");
        assert_keeps("(declare-const assert Bool)(assert (not assert))", "\n(assert (not assert))");
        assert_keeps("(declare-const define-fun Bool)(declare-const a Bool)(define-fun b () Bool a)(assert b)", "(define-fun x");
        assert_keeps("(declare-const lambda Int)(declare-const a (-> Int Int))(assert (= a (lambda ((b Int)) lambda)))", "(lambda ((");
}
END_TEST

START_TEST(test_datatypes)
{
        const char *text = "(declare-datatypes ((list 1)) ((par (e) ((empty) (cell (first e) (rest (list e)))))))"
                           "(declare-datatype pair ((both (left Int) (right Int))))"
                           "(declare-const l (list pair))"
                           "(assert ((_ is cell) l))"
                           "(assert (match l ((empty true) ((cell h t) (= (left h) 1)))))"
                           "(assert (is-both (first l)))"
                           "(assert (= (rest l) (as empty (list pair))))";

        for (uint64_t seed = 1; seed < 50; seed++) {
                cleanup_buffer struct buffer out = {0};

                scrambled(scramble_smt, text, seed, &out);
                ck_assert_ptr_null(strstr(out.data, "list"));
                ck_assert_ptr_null(strstr(out.data, "cell"));
                ck_assert_ptr_null(strstr(out.data, "both"));
                ck_assert_ptr_null(strstr(out.data, "left"));
                ck_assert_ptr_null(strstr(out.data, " h "));
        }
        /* _ is the pattern of any value here, and no head of an identifier with indices */
        assert_loses("(declare-datatype l_ ((nil_) (cons_ (hd_ Int) (tl_ l_))))(declare-const a_ l_)(declare-const q_ Bool)"
                     "(assert (match a_ ((nil_ true) (_ q_))))", "q_");
        assert_loses(
                "(declare-datatypes (T) ((tree_ leaf_ (node_ (value_ T) (sons_ trees_))) (trees_ none_ (more_ (one_ tree_)))))"
                "(declare-const a (tree_ Int))(assert (is-node_ a))",
                "_");
}
END_TEST

/* In difference logic an atom has one form. */
START_TEST(test_difference_logic)
{
        const char *text =
                "(set-logic QF_IDL)(declare-const a Int)(declare-const b Int)(assert (or (<= (- a b) 3) (= (- b a) 2)))";

        assert_keeps(text, " 3)");
        assert_keeps(text, " 2)");
        assert_keeps(text, "(<= (- ");
}
END_TEST

/* -- SMT-LIB: order -- */

static const char *const ordered =
        "(set-logic ALL)"
        "(declare-sort S 0)(declare-fun f (S) Int)(declare-const s S)(define-fun g () Int (f s))"
        "(assert (! (> g 0) :named n))(assert (or n (< g 5)))(assert (= g 1))"
        "(check-sat)(push 1)(declare-const s2 S)(assert (> (f s2) g))(assert (= s s2))(check-sat)(pop 1)"
        "(declare-const s2 S)(assert (= (f s2) (f s)))(check-sat-assuming (n))(exit)";

/* Reads strictly: everything is declared before it is mentioned. Between the commands that stay stands what stood there. */
START_TEST(test_order)
{
        cleanup_script struct script *is = read_strictly(ordered);
        size_t n_moved = 0;

        for (uint64_t seed = 1; seed < 200; seed++) {
                cleanup_buffer struct buffer out = {0};
                cleanup_script struct script *s = NULL;
                int balance[N_COMMAND_KINDS] = {0};

                scrambled(scramble_smt, ordered, seed, &out);
                s = read_strictly(out.data);
                ck_assert_uint_eq(s->n_commands, is->n_commands);
                for (size_t i = 0; i < s->n_commands; i++) {
                        bool stays = s->commands[i].kind >= COMMAND_CHECK_SAT || s->commands[i].kind <= COMMAND_SET_INFO;

                        balance[s->commands[i].kind]++;
                        balance[is->commands[i].kind]--;
                        n_moved += s->commands[i].kind != is->commands[i].kind;
                        for (size_t k = 0; stays && k < N_COMMAND_KINDS; k++)
                                ck_assert_int_eq(balance[k], 0);
                }
        }
        ck_assert_uint_gt(n_moved, 50);
}
END_TEST

/* Every order that the names allow, and no other. */
START_TEST(test_orders)
{
        const char *text = "(declare-const a Bool)(declare-const b Bool)(assert a)(assert b)";
        bool is_seen[16] = {0};
        size_t n = 0;

        for (uint64_t seed = 1; seed < 2000; seed++) {
                cleanup_buffer struct buffer out = {0};
                unsigned code = 0;

                scrambled(scramble_smt, text, seed, &out);
                for (const char *p = out.data; (p = strchr(p, '(')); p++)
                        code = code * 2 + (p[1] == 'a');
                is_seen[code] = true;
        }
        for (size_t i = 0; i < ARRAY_SIZE(is_seen); i++)
                n += is_seen[i];
        ck_assert_uint_eq(n, 2);
        ck_assert(is_seen[3] && is_seen[5]); /* declare declare assert assert, and declare assert declare assert */
        /* a name that means another thing from its declaration on */
        assert_reaches("(assert (forall ((a Int)) (= a a)))(declare-const a Int)",
                       "(assert (forall ((x1 Int)) (= x1 x1)))\n(declare-const x1 Int)\n");
        assert_keeps("(assert (forall ((a Int)) (= a a)))(declare-const a Int)", ")\n(declare");
}
END_TEST

START_TEST(test_smt_seeds)
{
        cleanup_buffer struct buffer identity = {0};

        assert_seeded(scramble_smt, ordered);
        scrambled(scramble_smt, "(no formula", 0, &identity);
        ck_assert_str_eq(identity.data, "(no formula");
}
END_TEST

START_TEST(test_smt_refused)
{
        assert_refused(scramble_smt, "(assert (and true", EINVAL,
                       "line 1, column 9: the input ends within this term; 1 parentheses are open");
        assert_refused(scramble_smt, "(assert true))", EINVAL, "line 1, column 14: a closing parenthesis without an open one");
        assert_refused(scramble_smt, "(include \"a.smt2\")(assert true)", ENOTSUP,
                       "cannot scramble this: it includes another file, whose names are not known");
        assert_refused(scramble_smt, "(assert true)(check-sat)", ENOTSUP,
                       "cannot scramble this: it has no names, no operands and no order that may change");
        assert_refused(scramble_smt, "", ENOTSUP,
                       "cannot scramble this: it has no names, no operands and no order that may change");
}
END_TEST

/* Deep terms and long chains of definitions take no stack. */
START_TEST(test_deep)
{
        cleanup_buffer struct buffer text = {0}, out = {0};

        buffer_adds(&text, "(declare-const a Bool)(assert ");
        for (int i = 0; i < 200000; i++)
                buffer_adds(&text, "(and true ");
        buffer_adds(&text, "a");
        for (int i = 0; i < 200000; i++)
                buffer_adds(&text, ")");
        buffer_adds(&text, ")(define-fun d0 () Bool a)");
        for (int i = 1; i < 50000; i++)
                buffer_addf(&text, "(define-fun d%d () Bool d%d)", i, i - 1);
        scrambled(scramble_smt, text.data, 1, &out);
        ck_assert_uint_gt(out.size, 200000 * 10);
}
END_TEST

/* -- the answers of a solver, where one is installed -- */

static void answers_of(const char *path, struct buffer *ret)
{
        cleanup_buffer struct buffer command = {0};
        char line[256];
        FILE *f;

        buffer_addf(&command, "z3 %s", path);
        f = popen(command.data, "r");
        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof(line), f))
                buffer_adds(ret, line);
        pclose(f);
}

START_TEST(test_answers)
{
        struct random r;

        SKIP_UNLESS(system("z3 --version >z3.out 2>&1") == 0, "z3");
        random_seed(&r, 3);
        for (int i = 0; i < 12; i++) {
                cleanup_buffer struct buffer text = {0}, is = {0}, out = {0}, now = {0};

                if (i == 0)
                        buffer_adds(&text, ordered);
                else
                        random_smt(&r, &text);
                assert_ok(write_file_atomic("a.smt2", text.data, text.size, 0600));
                scrambled(scramble_smt, text.data, (uint64_t)i + 1, &out);
                assert_ok(write_file_atomic("b.smt2", out.data, out.size, 0600));
                answers_of("a.smt2", &is);
                answers_of("b.smt2", &now);
                ck_assert_ptr_nonnull(strstr(is.data, "sat"));
                ck_assert_str_eq(is.data, now.data);
        }
}
END_TEST

SUITE("scramble", test_cnf_models, test_cnf_seeds, test_cnf_shapes, test_cnf_refused, test_smt_models, test_operands,
      test_sharing, test_own_operators, test_names, test_datatypes, test_difference_logic, test_order, test_orders,
      test_smt_seeds, test_smt_refused, test_deep, test_answers)
