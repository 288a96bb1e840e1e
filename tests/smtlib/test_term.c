#include "tests/support/test.h"

#include "core/smtlib/print.h"

static struct bank *b;

static void begin(void)
{
        b = bank_new();
        ck_assert_ptr_nonnull(b);
}

static void end(void)
{
        b = bank_unref(b);
}

static const struct sort *sort(enum sort_kind kind)
{
        return sort_simple(b, kind);
}

static const struct term *constant(const char *name, const struct sort *s)
{
        return term_constant(b, function_of(b, FUNCTION_DECLARED, symbol_of(b, slice_string(name)), NULL, 0, s));
}

static const struct term *variable(const char *name, enum sort_kind kind)
{
        return term_variable(b, symbol_of(b, slice_string(name)), sort(kind));
}

static const struct term *op3(enum op op, const struct term *x, const struct term *y, const struct term *z)
{
        return term_op(b, op, (const struct term *[]){x, y, z}, 3);
}

static void assert_prints_in(const struct term *t, enum dialect d, const char *text)
{
        cleanup_buffer struct buffer out = {0};

        ck_assert_msg(t != NULL, "%s", error_message(bank_error(b)));
        assert_ok(term_print(t, &(struct print_options){.dialect = d}, &out));
        ck_assert_str_eq(out.data, text);
}

static void assert_prints(const struct term *t, const char *text)
{
        assert_prints_in(t, DIALECT_2_6, text);
}

/* -- making -- */

START_TEST(test_unique)
{
        const struct term *x, *y;

        begin();
        x = constant("x", sort(SORT_INT));
        y = constant("y", sort(SORT_INT));
        ck_assert_ptr_eq(x, constant("x", sort(SORT_INT)));
        ck_assert_ptr_ne(x, constant("x", sort(SORT_REAL)));
        ck_assert_ptr_ne(x, variable("x", SORT_INT));
        ck_assert_ptr_eq(term_op2(b, OP_PLUS, x, y), term_op2(b, OP_PLUS, x, y));
        ck_assert_ptr_ne(term_op2(b, OP_PLUS, x, y), term_op2(b, OP_PLUS, y, x));
        ck_assert_ptr_ne(term_op2(b, OP_PLUS, x, y), term_op2(b, OP_MINUS, x, y));
        ck_assert_ptr_eq(sort_array(b, x->sort, x->sort), sort_array(b, x->sort, x->sort));
        ck_assert_ptr_eq(sort_bitvec(b, 8), sort_bitvec(b, 8));
        ck_assert_ptr_ne(sort_bitvec(b, 8), sort_bitvec(b, 9));
        end();
}
END_TEST

START_TEST(test_literals)
{
        char digits[700] = "0.";
        int64_t n;
        double real;
        uint64_t bits;

        begin();
        assert_prints(term_int(b, -5), "(- 5)");
        assert_prints(term_int(b, INT64_MIN), "(- 9223372036854775808)");
        assert_prints(term_real(b, 3), "3.0");
        assert_prints(term_int_digits(b, slice_string("0012")), "12");
        ck_assert_ptr_eq(term_real_digits(b, slice_string("1.50")), term_real_digits(b, slice_string("01.5")));
        ck_assert_ptr_eq(term_real_digits(b, slice_string("2")), term_real_digits(b, slice_string("2.000")));
        ck_assert_ptr_null(term_int_digits(b, slice_string("1x")));
        ck_assert_int_eq(bank_error(b), -EINVAL);
        ck_assert_ptr_null(term_real_digits(b, slice_string("1.")));
        ck_assert_ptr_null(term_real_digits(b, slice_string(".5")));
        assert_prints(term_string(b, "a\"\\\n"), "\"a\"\"\\\\u{a}\"");
        assert_prints(term_bitvec(b, 0x1ab, 8), "#xab");
        assert_prints(term_bitvec(b, 5, 3), "#b101");
        assert_prints(term_bitvec(b, UINT64_MAX, 64), "#xffffffffffffffff");
        assert_prints(term_bitvec(b, 5, 100), "(_ bv5 100)");
        ck_assert_ptr_eq(term_bitvec_digits(b, slice_string("256"), 8), term_bitvec(b, 0, 8));
        ck_assert_ptr_null(term_bitvec(b, 5, 0));
        ck_assert(term_to_int(term_int(b, -7), &n) && n == -7);
        ck_assert(term_to_int(term_real(b, 7), &n) && n == 7);
        ck_assert(!term_to_int(term_real_digits(b, slice_string("7.5")), &n));
        ck_assert(!term_to_int(term_int_digits(b, slice_string("99999999999999999999")), &n));
        ck_assert(term_to_real(term_real_digits(b, slice_string("7.25")), &real) && real == 7.25);
        memset(digits + 2, '3', sizeof(digits) - 3); /* more than a double has */
        ck_assert(term_to_real(term_real_digits(b, slice_string(digits)), &real) && real > 0.33 && real < 0.34);
        ck_assert(term_to_real(term_op2(b, OP_DIVIDE, term_real(b, -1), term_real(b, 4)), &real) && real == -0.25);
        ck_assert(term_to_bitvec(term_bitvec(b, 0xdeadbeef, 32), &bits) && bits == 0xdeadbeef);
        end();
}
END_TEST

START_TEST(test_characters)
{
        const uint32_t list[] = {'a', '\\', 'u', '"', 0, 0x1f600, 0x2ffff};
        const struct term *t;
        uint32_t *back;
        size_t n;

        begin();
        t = term_string_of(b, list, ARRAY_SIZE(list));
        ck_assert_uint_eq(term_string_length(t), ARRAY_SIZE(list));
        assert_ok(term_to_string(t, &back, &n));
        ck_assert_uint_eq(n, ARRAY_SIZE(list));
        ck_assert_int_eq(memcmp(back, list, sizeof(list)), 0);
        free(back);
        ck_assert_ptr_null(term_string_of(b, (uint32_t[]){0x30000}, 1));
        ck_assert_int_eq(bank_error(b), -EINVAL);
        ck_assert_int_eq(term_to_string(term_true(b), &back, &n), -EINVAL);
        end();
}
END_TEST

START_TEST(test_ill_typed)
{
        const struct term *x, *s, *t;

        begin();
        x = constant("x", sort(SORT_INT));
        s = constant("s", sort(SORT_STRING));
        ck_assert_int_eq(term_apply(b, OP_STR_LEN, NULL, 0, &x, 1, &t), -EINVAL);
        ck_assert_str_eq(error_message(-EINVAL), "argument 1 of str.len is Int, and should be String");
        ck_assert_int_eq(term_apply(b, OP_STR_AT, NULL, 0, (const struct term *[]){s}, 1, &t), -EINVAL);
        ck_assert_str_eq(error_message(-EINVAL), "str.at takes 2 arguments; 1 given");
        ck_assert_int_eq(term_apply(b, OP_BV_EXTRACT, NULL, 0, &x, 1, &t), -EINVAL);
        ck_assert_str_eq(error_message(-EINVAL), "extract takes 2 indices; 0 given");
        ck_assert_ptr_null(term_op2(b, OP_EQUAL, x, s));
        ck_assert_ptr_null(term_op1(b, OP_NOT, term_op1(b, OP_STR_LEN, x))); /* the first error is passed on */
        ck_assert_int_eq(bank_error(b), -EINVAL);
        ck_assert_ptr_null(op3(OP_ITE, term_true(b), x, s));
        ck_assert_ptr_null(term_op1(b, OP_AND, x));
        ck_assert_ptr_null(term_call_as(b, x->function, NULL, &x, 1));
        ck_assert_ptr_null(term_quantifier(b, TERM_FORALL, (const struct term *[]){variable("v", SORT_INT)}, 1, x));
        ck_assert_ptr_null(term_array_constant(b, sort_array(b, sort(SORT_INT), sort(SORT_BOOL)), x));
        end();
}
END_TEST

START_TEST(test_numbers_mix)
{
        const struct term *i, *r;

        begin();
        i = constant("i", sort(SORT_INT));
        r = constant("r", sort(SORT_REAL));
        ck_assert_int_eq(term_op2(b, OP_PLUS, i, i)->sort->kind, SORT_INT);
        ck_assert_int_eq(term_op2(b, OP_PLUS, i, r)->sort->kind, SORT_REAL);
        ck_assert_int_eq(term_op2(b, OP_DIVIDE, i, i)->sort->kind, SORT_REAL);
        ck_assert_int_eq(op3(OP_ITE, term_true(b), i, r)->sort->kind, SORT_REAL);
        ck_assert_ptr_nonnull(term_op2(b, OP_EQUAL, r, i));
        ck_assert_ptr_null(term_op2(b, OP_MOD, r, i));
        end();
}
END_TEST

/* -- every operator -- */

static const struct term *argument(enum place_sort place, size_t at)
{
        char name[32];
        const struct sort *s = NULL;

        snprintf(name, sizeof(name), "a%d_%zu", (int)place, at);
        switch ((int)place) {
        case PLACE_BOOL:
                s = sort(SORT_BOOL);
                break;
        case PLACE_INT:
        case PLACE_NUMBER:
        case PLACE_INDEX:
        case PLACE_ELEMENT:
                s = sort(SORT_INT);
                break;
        case PLACE_REAL:
                s = sort(SORT_REAL);
                break;
        case PLACE_STRING:
        case PLACE_SAME:
        case PLACE_ANY:
                s = sort(SORT_STRING);
                break;
        case PLACE_REGLAN:
                s = sort(SORT_REGLAN);
                break;
        case PLACE_ROUNDING_MODE:
                s = sort(SORT_ROUNDING_MODE);
                break;
        case PLACE_BITVEC:
                s = sort_bitvec(b, 8);
                break;
        case PLACE_BITVEC_2:
                s = sort_bitvec(b, 5);
                break;
        case PLACE_BITVEC_3:
                s = sort_bitvec(b, 11);
                break;
        case PLACE_BIT:
                s = sort_bitvec(b, 1);
                break;
        case PLACE_FLOAT:
        case PLACE_CONVERTED:
                s = sort_float(b, 8, 24);
                break;
        case PLACE_ARRAY:
                s = sort_array(b, sort(SORT_INT), sort(SORT_INT));
                break;
        default:
                ck_abort_msg("no argument for place %d", (int)place);
        }
        return constant(name, s);
}

static const struct term *application(enum op op, size_t n)
{
        const struct operator_row *row = operator_row(op);
        const struct term *args[OPERATOR_ARGS_MOST + 2], *t;
        uint32_t index[] = {4, 2};
        size_t signature = operator_n_args(op);

        for (size_t i = 0; i < n; i++)
                args[i] = argument(row->args[MIN(i, signature - 1)], i);
        if (row->result == PLACE_ASCRIBED)
                return term_array_constant(b, sort_array(b, sort(SORT_INT), args[0]->sort), args[0]);
        if (row->result == PLACE_FLOAT_INDEX)
                index[0] = 8, index[1] = 24;
        assert_ok(term_apply(b, op, index, row->indices_most, args, n, &t));
        return t;
}

/* Declares all constants of a term, asserts something about it, reads that in the dialect. */
static const struct term *read_back(const struct term *t, enum dialect d)
{
        cleanup_script struct script *s = NULL, *again = NULL;
        cleanup_buffer struct buffer text = {0};
        const struct term *read;
        int r;

        script_new(b, d, &s);
        assert_ok(script_add_assert(s, term_op2(b, OP_EQUAL, t, t)));
        script_declare_missing(s);
        assert_ok(script_print(s, NULL, &text));
        r = script_read(SLICE(text.data, text.size),
                        &(struct script_options){.dialect = d, .is_dialect_fixed = true, .is_strict = true, .bank = b}, &again);
        ck_assert_msg(r == 0, "%s: %s", text.data, error_message(r));
        read = again->commands[again->n_commands - 1].term;
        ck_assert_int_eq(read->op, OP_EQUAL);
        return read->args[0];
}

START_TEST(test_every_operator)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const struct operator_row *row = operator_row(op);
                bool is_associative = row->shape != SHAPE_FIXED;

                begin();
                ck_assert_msg(row->name != NULL, "operator %d has no row", (int)op);
                for (size_t n = operator_n_args(op); n <= operator_n_args(op) + is_associative; n++) {
                        const struct term *t = application(op, n);

                        for (enum dialect d = DIALECT_2_0; d < N_DIALECTS; d++) {
                                const struct term *back = read_back(t, d);
                                bool is_loop = op == OP_RE_POWER && d != DIALECT_2_6; /* which 2.5 writes as re.loop */

                                ck_assert_msg(is_loop ? back->op == OP_RE_LOOP : back == t, "%s in %s", row->name,
                                              dialect_name(d));
                        }
                }
                end();
        }
}
END_TEST

/* No operator takes an argument of a sort that has nothing to do with it. */
START_TEST(test_every_operator_refuses)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const struct operator_row *row = operator_row(op);
                const struct term *args[OPERATOR_ARGS_MOST], *t;
                uint32_t index[] = {8, 24};
                size_t n = operator_n_args(op);

                begin();
                for (size_t wrong = 0; wrong < n; wrong++) {
                        const struct sort *odd = sort_named(b, symbol_of(b, slice_string("Odd")), NULL, 0);

                        if (row->args[wrong] == PLACE_ANY || (row->args[wrong] == PLACE_SAME && wrong == 0))
                                continue;
                        for (size_t i = 0; i < n; i++)
                                args[i] = i == wrong ? constant("odd", odd) : argument(row->args[i], i);
                        ck_assert_msg(term_apply(b, op, index, row->indices_most, args, n, &t) == -EINVAL, "%s", row->name);
                }
                for (size_t i = 0; i < n; i++)
                        args[i] = argument(row->args[i], i);
                ck_assert_msg(n == 0 || term_apply(b, op, index, row->indices_most, args, 0, &t) == -EINVAL, "%s", row->name);
                end();
        }
}
END_TEST

START_TEST(test_names)
{
        static const struct {
                const char *name;
                enum op op;
        } list[] = {
                {"str.in.re", OP_STR_IN_RE},
                {"str.in_re", OP_STR_IN_RE},
                {"str.to.re", OP_RE_FROM_STR},
                {"str.to_re", OP_RE_FROM_STR},
                {"str.to.int", OP_STR_TO_INT},
                {"str.to_int", OP_STR_TO_INT},
                {"int.to.str", OP_STR_FROM_INT},
                {"str.from_int", OP_STR_FROM_INT},
                {"str.to-int", OP_STR_TO_INT},
                {"re.nostr", OP_RE_NONE},
                {"re.complement", OP_RE_COMP},
                {"str.replaceall", OP_STR_REPLACE_ALL},
                {"implies", OP_IMPLIES},
                {"roundTowardZero", OP_RTZ},
                {"-", OP_NEGATE},
                {"no such", OP_NONE},
        };

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                ck_assert_msg(operator_find(slice_string(list[i].name)) == list[i].op, "%s", list[i].name);
        ck_assert_int_eq(operator_next(OP_NEGATE), OP_MINUS);
        ck_assert_int_eq(operator_next(OP_MINUS), OP_NONE);
        ck_assert_str_eq(operator_name(OP_STR_IN_RE, DIALECT_2_5), "str.in.re");
        ck_assert_str_eq(operator_name(OP_STR_IN_RE, DIALECT_2_6), "str.in_re");
}
END_TEST

START_TEST(test_same_signature)
{
        enum op list[N_OPS];
        const struct term *strings[3], *ints[2];
        size_t n;

        begin();
        strings[0] = strings[1] = strings[2] = constant("s", sort(SORT_STRING));
        ints[0] = ints[1] = constant("i", sort(SORT_INT));
        n = operators_of(b, strings, 2, sort(SORT_BOOL), list);
        ck_assert_uint_eq(n, 7); /* = distinct str.< str.<= prefixof suffixof contains */
        for (size_t i = 0; i < n; i++)
                ck_assert_ptr_nonnull(term_op2(b, list[i], strings[0], strings[1]));
        n = operators_of(b, strings, 3, sort(SORT_BOOL), list);
        ck_assert_uint_eq(n, 2); /* = distinct; str.< and str.<= are read so, but not by solvers */
        n = operators_of(b, ints, 2, ints[0]->sort, list);
        ck_assert_uint_eq(n, 5); /* - + * div mod */
        ck_assert_uint_eq(operators_of(b, ints, 2, strings[0]->sort, list), 0);
        n = operators_to(sort(SORT_REGLAN), list);
        for (size_t i = 0; i < n; i++)
                ck_assert(operator_row(list[i])->result == PLACE_REGLAN || operator_row(list[i])->result == PLACE_SAME ||
                          operator_row(list[i])->result == PLACE_ELEMENT);
        ck_assert_uint_ge(n, 16);
        end();
}
END_TEST

/* -- walking and rewriting -- */

static const struct term *doubled(size_t levels)
{
        const struct term *t = constant("x", sort(SORT_INT));

        for (size_t i = 0; i < levels; i++)
                t = term_op2(b, OP_PLUS, t, t);
        return t;
}

START_TEST(test_sizes)
{
        const struct term *t;
        cleanup_buffer struct buffer text = {0};

        begin();
        t = doubled(3);
        ck_assert_uint_eq(t->tree_size, 15);
        ck_assert_uint_eq(t->depth, 4);
        ck_assert_uint_eq(term_dag_size(t), 4);
        t = doubled(100);
        ck_assert_uint_eq(t->tree_size, UINT64_MAX); /* and no more */
        ck_assert_uint_eq(term_dag_size(t), 101);
        assert_ok(term_print(t, NULL, &text)); /* lets keep it small */
        ck_assert_uint_lt(text.size, 10000);
        ck_assert_int_eq(term_print(t, &(struct print_options){.no_lets = true, .term_bytes_most = 100000}, &text), -EFBIG);
        end();
}
END_TEST

START_TEST(test_free_variables)
{
        const struct term *x, *y, *z, *t;
        cleanup_term_list struct term_list list = {0};

        begin();
        x = variable("x", SORT_INT);
        y = variable("y", SORT_INT);
        z = variable("z", SORT_INT);
        t = term_op2(b, OP_LT, x, term_op2(b, OP_PLUS, y, z));
        ck_assert(t->is_open);
        t = term_quantifier(b, TERM_FORALL, &x, 1, t);
        t = term_op2(b, OP_AND, t, term_quantifier(b, TERM_EXISTS, &y, 1, t));
        term_free_variables(t, &list);
        ck_assert_uint_eq(list.n, 2);
        ck_assert_ptr_eq(list.list[0], y);
        ck_assert_ptr_eq(list.list[1], z);
        t = term_quantifier(b, TERM_EXISTS, (const struct term *[]){y, z}, 2, t);
        ck_assert(!t->is_open);
        term_list_done(&list);
        term_free_variables(t, &list);
        ck_assert_uint_eq(list.n, 0);
        /* bound in one place, free in another */
        t = term_op2(b, OP_AND, term_op2(b, OP_LT, x, x), term_quantifier(b, TERM_EXISTS, &x, 1, term_op2(b, OP_LT, x, x)));
        ck_assert(t->is_open);
        end();
}
END_TEST

START_TEST(test_substitute)
{
        const struct term *x, *y, *c, *t, *q;

        begin();
        x = variable("x", SORT_INT);
        y = variable("y", SORT_INT);
        c = constant("c", sort(SORT_INT));
        t = term_op2(b, OP_LT, x, y);
        assert_prints(term_substitute(b, t, &x, &c, 1), "(< c y)");
        /* at once, not one after the other */
        assert_prints(term_substitute(b, t, (const struct term *[]){x, y}, (const struct term *[]){y, x}, 2), "(< y x)");
        /* bound ones stay */
        q = term_quantifier(b, TERM_EXISTS, &x, 1, t);
        ck_assert_ptr_eq(term_substitute(b, q, &x, &c, 1), q);
        assert_prints(term_substitute(b, q, &y, &c, 1), "(exists ((x Int)) (< x c))");
        /* capture: the x that comes in is another than the one that is bound */
        assert_prints(term_substitute(b, q, &y, &x, 1), "(exists ((x!1 Int)) (< x!1 x))");
        /* no renaming where nothing comes in */
        q = term_quantifier(b, TERM_EXISTS, &x, 1, term_op2(b, OP_LT, x, c));
        ck_assert_ptr_eq(term_substitute(b, q, &y, &x, 1), q);
        /* whole terms, outermost first */
        t = term_op2(b, OP_PLUS, c, c);
        assert_prints(
                term_substitute(b, term_op2(b, OP_LT, t, c), (const struct term *[]){t, c}, (const struct term *[]){y, x}, 2),
                "(< y x)");
        /* a term with a bound variable in it is not looked for below its quantifier */
        t = term_op2(b, OP_PLUS, x, c);
        q = term_op2(b, OP_AND, term_op2(b, OP_LT, t, c), term_quantifier(b, TERM_EXISTS, &x, 1, term_op2(b, OP_LT, t, c)));
        assert_prints(term_substitute(b, q, &t, &c, 1), "(and (< c c) (exists ((x Int)) (< (+ x c) c)))");
        ck_assert_ptr_null(term_substitute(b, t, &c, (const struct term *[]){term_true(b)}, 1));
        ck_assert_int_eq(bank_error(b), -EINVAL);
        end();
}
END_TEST

START_TEST(test_capture_below_two)
{
        const struct term *x, *y, *z, *t;

        begin();
        x = variable("x", SORT_INT);
        y = variable("y", SORT_INT);
        z = variable("z", SORT_INT);
        t = term_quantifier(b, TERM_FORALL, &y, 1, op3(OP_LT, x, y, z));
        t = term_quantifier(b, TERM_EXISTS, &x, 1, t);
        /* z := x + y passes both binders */
        t = term_substitute(b, t, &z, (const struct term *[]){term_op2(b, OP_PLUS, x, y)}, 1);
        assert_prints(t, "(exists ((x!1 Int)) (forall ((y!2 Int)) (< x!1 y!2 (+ x y))))");
        end();
}
END_TEST

START_TEST(test_instantiate)
{
        const struct term *x, *y, *c, *t;

        begin();
        x = variable("x", SORT_INT);
        y = variable("y", SORT_INT);
        c = constant("c", sort(SORT_INT));
        t = term_quantifier(b, TERM_FORALL, (const struct term *[]){x, y}, 2, term_op2(b, OP_LT, x, y));
        assert_prints(term_instantiate(b, t, &c, 1), "(forall ((y Int)) (< c y))");
        assert_prints(term_instantiate(b, t, (const struct term *[]){c, c}, 2), "(< c c)");
        assert_prints(term_instantiate(b, t, &y, 1), "(forall ((y!1 Int)) (< y y!1))");
        end();
}
END_TEST

static const struct term *plus_to_minus(void *user, struct bank *bank, const struct term *t)
{
        ++*(size_t *)user;
        return t->op == OP_PLUS ? term_op(bank, OP_MINUS, t->args, t->n_args) : t;
}

START_TEST(test_rewrite)
{
        const struct term *x, *c, *t;
        size_t calls = 0;

        begin();
        x = variable("x", SORT_INT);
        c = constant("c", sort(SORT_INT));
        t = term_op2(b, OP_PLUS, x, c);
        t = term_quantifier(b, TERM_FORALL, &x, 1, term_op2(b, OP_LT, t, term_op2(b, OP_PLUS, t, t)));
        assert_prints(term_rewrite(b, t, plus_to_minus, &calls), "(forall ((x Int)) (< (- x c) (- (- x c) (- x c))))");
        ck_assert_uint_eq(calls, term_dag_size(t));
        calls = 0;
        term_rewrite(b, doubled(60), plus_to_minus, &calls);
        ck_assert_uint_eq(calls, 61); /* linear in the graph */
        end();
}
END_TEST

START_TEST(test_places)
{
        cleanup_term_places struct term_places p = {0};
        cleanup_term_list struct term_list variables = {0};
        const struct term *x, *c, *t;

        begin();
        x = variable("x", SORT_INT);
        c = constant("c", sort(SORT_INT));
        t = term_op2(b, OP_PLUS, x, c);
        t = term_quantifier(b, TERM_FORALL, &x, 1, term_op2(b, OP_LT, t, t));
        term_places(t, 100, &p);
        ck_assert_uint_eq(p.n, 8); /* forall < + x c + x c */
        ck_assert_ptr_eq(p.list[5].term, p.list[2].term);
        /* one of two occurrences of a shared term */
        assert_prints(term_replace_at(b, &p, 5, c), "(forall ((x Int)) (< (+ x c) c))");
        assert_prints(term_replace_at(b, &p, 3, c), "(forall ((x Int)) (< (+ c c) (+ x c)))");
        assert_prints(term_replace_at(b, &p, 4, x), "(forall ((x Int)) (< (+ x x) (+ x c)))"); /* what is bound there is meant */
        ck_assert_ptr_null(term_replace_at(b, &p, 3, term_true(b)));
        term_variables_at(&p, 6, &variables);
        ck_assert_uint_eq(variables.n, 1);
        ck_assert_ptr_eq(variables.list[0], x);
        term_places_done(&p);
        term_places(doubled(50), 1000, &p);
        ck_assert_uint_eq(p.n, 1000);
        end();
}
END_TEST

START_TEST(test_copy)
{
        cleanup_bank struct bank *other = bank_new();
        const struct term *x, *t, *copy;

        begin();
        x = variable("x", SORT_INT);
        t = term_op2(b, OP_AND, term_op2(b, OP_EQUAL, doubled(70), term_int(b, 3)),
                     term_quantifier(b, TERM_FORALL, &x, 1,
                                     term_annotate(b, term_op2(b, OP_LT, x, doubled(2)), slice_string(":qid"), slice_string("q"),
                                                   NULL, 0)));
        copy = term_copy(other, t);
        ck_assert_ptr_nonnull(copy);
        ck_assert_uint_eq(term_dag_size(copy), term_dag_size(t));
        ck_assert_ptr_eq(term_copy(b, copy), t);
        ck_assert_ptr_eq(term_copy(other, t), copy);
        end();
}
END_TEST

START_TEST(test_fresh)
{
        const struct term *x, *y;

        begin();
        x = term_fresh_constant(b, "x", sort(SORT_INT));
        symbol_of(b, slice_string("x!2"));
        y = term_fresh_constant(b, "x", sort(SORT_INT));
        ck_assert_ptr_ne(x, y);
        assert_prints(y, "x!3");
        assert_prints(term_fresh_variable(b, "x!3", sort(SORT_INT)), "x!4"); /* not x!3!1 */
        end();
}
END_TEST

/* -- printing what only a program can make -- */

START_TEST(test_clashes)
{
        const struct term *x, *c, *r, *t;

        begin();
        x = variable("x", SORT_INT);
        c = constant("x", sort(SORT_INT)); /* the same name */
        t = term_quantifier(b, TERM_FORALL, &x, 1, term_op2(b, OP_LT, x, c));
        assert_prints(t, "(forall ((x_let_1 Int)) (< x_let_1 x))");
        r = variable("x", SORT_REAL);
        t = term_quantifier(b, TERM_FORALL, &r, 1, term_op2(b, OP_LT, r, x));
        t = term_quantifier(b, TERM_EXISTS, &x, 1, t);
        assert_prints(t, "(exists ((x Int)) (forall ((x_let_1 Real)) (< x_let_1 x)))");
        /* a let's name is none that is used */
        c = constant("_let_1", sort(SORT_INT));
        t = term_op2(b, OP_PLUS, c, term_int(b, 1));
        t = op3(OP_PLUS, t, t, t);
        t = term_op2(b, OP_LT, t, t);
        assert_prints(t, "(let ((__let_1 (+ (+ _let_1 1) (+ _let_1 1) (+ _let_1 1)))) (< __let_1 __let_1))");
        end();
}
END_TEST

/* The same term below two binders of one name: the outer let must not reach below the inner binder. */
START_TEST(test_lets_and_binders)
{
        const struct term *x, *t, *q;

        begin();
        x = variable("x", SORT_INT);
        t = op3(OP_LT, x, term_op2(b, OP_PLUS, x, term_int(b, 1)), term_op2(b, OP_PLUS, x, term_int(b, 2)));
        q = term_quantifier(b, TERM_EXISTS, &x, 1, t);
        t = term_quantifier(b, TERM_FORALL, &x, 1, op3(OP_AND, t, t, q));
        assert_prints(t, "(forall ((x Int)) (let ((_let_1 (< x (+ x 1) (+ x 2)))) (and _let_1 _let_1 "
                         "(exists ((x Int)) (< x (+ x 1) (+ x 2))))))");
        end();
}
END_TEST

START_TEST(test_deep)
{
        const struct term *t, *x;
        cleanup_buffer struct buffer text = {0};
        cleanup_bank struct bank *other = bank_new();

        begin();
        t = constant("p", sort(SORT_BOOL));
        for (size_t i = 0; i < 300000; i++) /* not: deeper than any C stack */
                t = term_op1(b, OP_NOT, t);
        assert_ok(term_print(t, NULL, &text));
        ck_assert_uint_eq(text.size, 300000 * 6 + 1);
        ck_assert_ptr_nonnull(term_copy(other, t));
        x = constant("q", sort(SORT_BOOL));
        ck_assert_uint_eq(term_substitute(b, t, (const struct term *[]){constant("p", sort(SORT_BOOL))}, &x, 1)->depth, t->depth);
        end();
}
END_TEST

SUITE("term", test_unique, test_literals, test_characters, test_ill_typed, test_numbers_mix, test_every_operator,
      test_every_operator_refuses, test_names, test_same_signature, test_sizes, test_free_variables, test_substitute,
      test_capture_below_two, test_instantiate, test_rewrite, test_places, test_copy, test_fresh, test_clashes,
      test_lets_and_binders, test_deep)
