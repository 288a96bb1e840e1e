/* Formulas for prove.py: steps of weakening and strengthening that a solver may refute.
 *
 *     prove COUNT SEED [RULE…]        COUNT instances of each rule, each below random connectives
 *     prove --wrong COUNT SEED        of rules that do not hold: a solver must refute each
 *     prove --formulas COUNT SEED     random steps in generated formulas
 *     prove --list                    the rules' names
 *
 * Each instance is a line with the rule, the direction and the assertion, whose negation is to be valid: stronger and not weaker. */
#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"
#include "core/weaken/weaken.h"
#include "tests/weaken/example.h"

static const struct rule_row wrong[] = {
        {"wrong-le-lt", "(<= ?a:Num ?b:Num)", RULE_IMPLIES, "(< ?a ?b)"},
        {"wrong-eq-shift", "(= ?a:Num ?b:Num)", RULE_IMPLIES, "(= ?a (+ ?b ?c:Num+))"},
        {"wrong-or-and", "(or ?x:Bool...)", RULE_IMPLIES, "(and ?x...)"},
        {"wrong-implies-swap", "(=> ?a:Bool ?b:Bool)", RULE_EQUIVALENT, "(=> ?b ?a)"},
        {"wrong-str-eq-distinct", "(= ?a:String ?b:String)", RULE_IMPLIES, "(distinct ?a (str.++ ?b ?c:String))"},
        {"wrong-str-contains-prefix", "(str.contains ?a:String ?b:String)", RULE_IMPLIES, "(str.prefixof ?b ?a)"},
        {"wrong-re-star-plus", "(re.* ?r:RegLan)", RULE_IMPLIES, "(re.+ ?r)"},
        {"wrong-exists-forall", "(exists @ ?p:Bool)", RULE_IMPLIES, "(forall @ ?p)"},
};

/* The term below random connectives, of both parities. */
static const struct term *in_context(struct bank *b, struct random *random, const struct term *t)
{
        const struct function *f =
                function_of(b, FUNCTION_DECLARED, symbol_of(b, slice_string("k")), NULL, 0, sort_simple(b, SORT_BOOL));
        const struct term *k = term_constant(b, f);

        for (size_t n = random_below(random, 4); n > 0 && t; n--)
                switch (random_below(random, 7)) {
                case 0:
                        t = term_op1(b, OP_NOT, t);
                        break;
                case 1:
                        t = term_op2(b, OP_IMPLIES, t, k);
                        break;
                case 2:
                        t = term_op2(b, OP_IMPLIES, k, t);
                        break;
                case 3:
                        t = term_op2(b, OP_AND, t, k);
                        break;
                case 4:
                        t = term_op2(b, OP_OR, k, t);
                        break;
                case 5:
                        t = term_op(b, OP_ITE, (const struct term *[]){k, t, term_op1(b, OP_NOT, t)}, 3);
                        break;
                default:
                        t = term_op2(b, OP_EQUAL, t, k);
                }
        return t;
}

/* A language is above another when its words are; s is any. Below random operations of regular expressions. */
static const struct term *as_membership(struct bank *b, struct random *random, const struct term *t)
{
        const struct function *f =
                function_of(b, FUNCTION_DECLARED, symbol_of(b, slice_string("s")), NULL, 0, sort_simple(b, SORT_STRING));
        const struct term *s = term_constant(b, f), *other = term_op1(b, OP_RE_FROM_STR, term_string(b, "ab"));

        switch (random_below(random, 5)) {
        case 0:
                t = term_op1(b, OP_RE_COMP, t);
                break;
        case 1:
                t = term_op2(b, OP_RE_DIFF, term_op1(b, OP_RE_STAR, other), t);
                break;
        case 2:
                t = term_op2(b, OP_RE_CONCAT, other, t);
                break;
        default:
                break;
        }
        return term_op2(b, OP_STR_IN_RE, s, t);
}

static int print_pair(const struct weaken *w, const struct script *old, const struct script *new, const struct weaken_step *step)
{
        const struct script *weaker = step->direction == WEAKEN ? new : old, *stronger = step->direction == WEAKEN ? old : new;
        cleanup_script struct script *s = NULL;
        cleanup_buffer struct buffer text = {0};
        cleanup_term_list struct term_list all = {0};
        int r = 0;

        script_new(old->bank, DIALECT_2_6, &s);
        for (size_t i = 0; r == 0 && i < stronger->n_commands; i++)
                if (stronger->commands[i].kind == COMMAND_ASSERT)
                        r = script_add_assert(s, stronger->commands[i].term);
        for (size_t i = 0; r == 0 && i < weaker->n_commands; i++)
                if (weaker->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(&all, weaker->commands[i].term);
        if (r == 0)
                r = script_add_assert(s, term_op1(old->bank, OP_NOT, term_and(old->bank, all.list, all.n)));
        script_declare_missing(s);
        if (r == 0)
                r = script_print(s, NULL, &text);
        for (size_t i = 0; i < text.size; i++)
                if (text.data[i] == '\n')
                        text.data[i] = ' ';
        if (r == 0)
                printf("%s\t%s\t%s\n", weaken_rule(w, step->rule)->name, step->direction == WEAKEN ? "weaken" : "strengthen",
                       text.data);
        return r;
}

static int one_instance(const struct weaken *w, size_t rule, const bool *only, struct random *random)
{
        cleanup_bank struct bank *b = bank_new();
        enum weaken_direction side = random_below(random, 2) ? WEAKEN : STRENGTHEN;
        const struct term *t = NULL;
        int r = b ? weaken_example(w, rule, side, b, random, &t) : -ENOMEM;

        if (r == -ENOENT)
                r = weaken_example(w, rule, side == WEAKEN ? STRENGTHEN : WEAKEN, b, random, &t);
        if (r < 0)
                return r;
        if (t->sort->kind == SORT_REGLAN)
                t = as_membership(b, random, t);
        t = in_context(b, random, t);
        for (size_t i = 0; t && i < 2; i++) {
                cleanup_script struct script *s = NULL, *new = NULL;
                cleanup_weaken_step struct weaken_step step = {0};
                struct weaken_options options = {.rules = only};

                script_new(b, DIALECT_2_6, &s);
                r = script_add_assert(s, t);
                script_declare_missing(s);
                if (r == 0)
                        r = weaken_step(w, s, i == 0 ? WEAKEN : STRENGTHEN, random, &options, &new, &step);
                if (r == 0)
                        return print_pair(w, s, new, &step);
        }
        return r;
}

static int instances(const struct weaken *w, uint64_t count, uint64_t seed, char **names)
{
        for (size_t rule = 0; rule < weaken_n_rules(w); rule++) {
                cleanup_free bool *only = calloc(weaken_n_rules(w), sizeof(*only));
                struct random random;
                uint64_t made = 0;
                char **name = names;

                while (*name && strcmp(*name, weaken_rule(w, rule)->name) != 0)
                        name++;
                if (*names && !*name)
                        continue;
                if (!only)
                        return -ENOMEM;
                only[rule] = true;
                random_seed_part(&random, seed, rule);
                for (uint64_t tries = 0; made < count && tries < 20 * count + 100; tries++) {
                        int r = one_instance(w, rule, only, &random);

                        if (r == -ENOMEM)
                                return r;
                        made += r == 0;
                }
                if (made < count)
                        fprintf(stderr, "rule %s: %llu instances only\n", weaken_rule(w, rule)->name, (unsigned long long)made);
        }
        return 0;
}

static int formulas(const struct weaken *w, uint64_t count, uint64_t seed)
{
        cleanup_generator struct generator *g = NULL;
        struct generate_options o = generate_defaults;
        int r;

        o.depth = 3;
        o.assertions = 2;
        o.literal_length = 3;
        o.alphabet = 2;
        r = generator_new(&o, seed, &g);
        for (uint64_t i = 0; r == 0 && i < count; i++) {
                cleanup_script struct script *s = NULL, *new = NULL;
                cleanup_weaken_step struct weaken_step step = {0};

                s = generate_formula(g);
                r = weaken_step(w, s, i % 2 ? WEAKEN : STRENGTHEN, generator_random(g), NULL, &new, &step);
                if (r == 0)
                        r = print_pair(w, s, new, &step);
                if (r == -ENOENT)
                        r = 0;
        }
        return r;
}

int main(int argc, char **argv)
{
        cleanup_weaken struct weaken *w = NULL;
        bool is_wrong = argc > 1 && strcmp(argv[1], "--wrong") == 0, is_formulas = argc > 1 && strcmp(argv[1], "--formulas") == 0;
        int r = weaken_new(is_wrong ? wrong : NULL, ARRAY_SIZE(wrong), &w);

        argv += is_wrong || is_formulas;
        argc -= is_wrong || is_formulas;
        if (r == 0 && argc == 2 && strcmp(argv[1], "--list") == 0) {
                for (size_t i = 0; i < weaken_n_rules(w); i++)
                        puts(weaken_rule(w, i)->name);
                return 0;
        }
        if (r == 0 && argc < 3)
                r = errorf(-EINVAL, "usage: prove [--wrong | --formulas] COUNT SEED [RULE…], or prove --list");
        if (r == 0)
                r = is_formulas ? formulas(w, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10))
                                : instances(w, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), argv + 3);
        if (r < 0)
                fprintf(stderr, "prove: %s\n", error_message(r));
        return r < 0;
}
