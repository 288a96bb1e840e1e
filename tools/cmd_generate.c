/* solverfs generate: formulas of one kind, without a store. */
#include "formula_words.h"

#include <sys/stat.h>

#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"

struct request {
        struct generator *generator;
        struct enumeration *enumeration; /* NULL: not begun */
        enum dialect dialect;
        unsigned size;
};

/* A kind of formulas. `make` appends the next one; `which` tells kinds that share it apart. */
struct kind {
        const char *name, *what;
        int (*make)(struct request *q, unsigned which, struct buffer *ret);
        unsigned which;
        bool has_logic; /* takes --logic */
        unsigned most;  /* of --size, where less than others take: it grows fast */
        const char *ending;
};

static int print(struct request *q, int r, struct script *s, struct buffer *ret)
{
        return r < 0 ? r : script_print(s, &(struct print_options){.dialect = q->dialect}, ret);
}

static int make_formula(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *s = generate_formula(q->generator);

        return print(q, 0, s, ret);
}

static int make_template(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *s = NULL;
        int r = template_formula(q->generator, (enum template)which, q->size, &s);

        return print(q, r, s, ret);
}

static int make_enumerated(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *s = NULL;
        int r;

        if (!q->enumeration)
                q->enumeration = enumeration_new(&(struct enumerate_options){.dialect = q->dialect});
        r = enumeration_next(q->enumeration, &s);
        return print(q, r, s, ret);
}

static int make_clauses(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_cnf struct cnf *c = cnf_generate(generator_random(q->generator), (enum cnf_family)which, q->size, NULL);

        return cnf_print(c, ret);
}

#define CNF(family, name, what) {"cnf-" name, what, make_clauses, family, .most = CNF_SIZE_MOST, .ending = "cnf"}

static const struct kind kinds[] = {
        {"formula", "random terms, of strings or of --logic", make_formula, 0, .has_logic = true, .ending = "smt2"},
        {"concats", "a tree of concatenations is equal to a word; --size levels", make_template, TEMPLATE_CONCATS, .ending = "smt2"},
        {"lengths", "--size strings whose lengths are given and related", make_template, TEMPLATE_LENGTHS, .ending = "smt2"},
        {"overlaps", "s.x = x.s: --size strings around one word", make_template, TEMPLATE_OVERLAPS, .ending = "smt2"},
        {"equality", "--size concatenations with shared parts are equal", make_template, TEMPLATE_EQUALITY, .ending = "smt2"},
        {"regex", "memberships in expressions of --size operators", make_template, TEMPLATE_REGEX, .ending = "smt2"},
        {"words", "--size equalities with long words of printable text", make_template, TEMPLATE_WORDS, .ending = "smt2"},
        {"tree", "random terms of strings, --size levels deep", make_template, TEMPLATE_TREE, .most = 40, .ending = "smt2"},
        {"enumerated", "every small formula of strings, smallest first", make_enumerated, 0, .ending = "smt2"},
        CNF(CNF_RANDOM, "random", "DIMACS: k-SAT near the threshold"),
        CNF(CNF_COMMUNITIES, "communities", "DIMACS: k-SAT, most clauses within a community of variables"),
        CNF(CNF_PIGEONS, "pigeons", "DIMACS: pigeons in holes"),
        CNF(CNF_TSEITIN, "tseitin", "DIMACS: parities on the vertices of a graph"),
        CNF(CNF_PARITY, "parity", "DIMACS: the parity of the same variables in two orders"),
        CNF(CNF_XORS, "xors", "DIMACS: linear equations over two elements"),
        CNF(CNF_CARDINALITY, "cardinality", "DIMACS: bounds on groups of variables"),
        CNF(CNF_PEBBLING, "pebbling", "DIMACS: pebbles on pyramids and graphs"),
        CNF(CNF_ADDERS, "adders", "DIMACS: two adders are compared"),
        CNF(CNF_MULTIPLIERS, "multipliers", "DIMACS: two multipliers are compared, or a product is factored"),
};

static const struct kind *kind_named(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        command_usage("no kind '%s'; 'solverfs generate --list' names them", name);
}

static void list_kinds(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                formula_list_row(kinds[i].name, kinds[i].what);
}

void cmd_generate(int argc, char **argv)
{
        static const char doc[] =
                "Print generated formulas of a KIND; without one, random terms. No store is needed.\v"
                "A formula is of strings, integers and Booleans, or keeps to a --logic: bit-vectors, arrays, integers, reals, floating point, "
                "uninterpreted functions, quantifiers and their combinations. The other kinds are the generators of StringFuzz, each of which scales "
                "one thing, the enumeration of small formulas, and families of DIMACS for SAT solvers. Equal seeds and options print equal formulas.\n\n"
                "Example:\n"
                "  solverfs generate --logic QF_AUFBV --seed 7\n"
                "  solverfs generate regex --size 20 | z3 -in\n"
                "  solverfs generate cnf-pigeons --size 40 >pigeons.cnf\n"
                "  solverfs generate --logic UFLIA -n 100 --output formulas";
        struct generate_options o = generate_defaults;
        struct request q = {.dialect = DIALECT_2_6, .size = 5};
        struct formula_output out = {.n = 1};
        uint64_t seed = 0;
        unsigned dialect = DIALECT_2_6;
        bool list = false;
        struct words words;
        const struct kind *kind;
        int r;
        const struct command_option options[] = {
                {"list", 'l', NULL, "Print the kinds, a line each", .on = &list, .is_other_use = true},
                {"logic", 0, "LOGIC", "Keep to this logic: QF_BV, QF_AUFLIA, QF_NRA, QF_FP, UF ...", .text = &o.logic},
                {"seed", 0, "N", "Of all choices; default 0", .big_number = &seed, .most = UINT64_MAX},
                {"size", 0, "N", "Of the kinds that scale one thing; default 5", .number = &q.size, .least = 1, .most = 1000},
                {"assertions", 0, "N", "Default 6", .number = &o.assertions, .least = 1, .most = 100000},
                {"variables", 0, "N", "Constants that are declared; default 6", .number = &o.variables, .least = 1, .most = 100000},
                {"depth", 0, "N", "Levels of operators of an assertion; default 3", .number = &o.depth, .least = 1, .most = 12},
                {"literal-length", 0, "N", "The most characters of a word; default 60", .number = &o.literal_length, .least = 1, .most = 1024},
                {"alphabet", 0, "N", "Different characters in a formula, 0: all letters and digits; default 4", .number = &o.alphabet, .most = 62},
                {"extensions", 0, NULL, "With --logic: also operators and formats that not every solver reads", .on = &o.extensions},
                {"dialect", 0, "2.0|2.5|2.6", "Of strings; default 2.6", .choice = &dialect},
                FORMULA_OUTPUT_OPTIONS(out),
                {0}};

        words = command_parse(argc, argv, "[KIND]", doc, options);
        if (list) {
                list_kinds();
                return;
        }
        kind = kind_named(words.n > 0 ? words.list[0] : "formula");
        if (o.logic && !kind->has_logic)
                command_usage("'%s' has no logics: --logic takes the kind 'formula'", kind->name);
        if (kind->most > 0 && q.size > kind->most)
                command_usage("'%s' takes a --size up to %u", kind->name, kind->most);
        if (o.extensions && !o.logic)
                command_usage("--extensions needs --logic");
        q.dialect = o.dialect = (enum dialect)dialect;
        command_must_usage(generator_new(&o, seed, &q.generator));
        formula_output_begin(&out, kind->name, seed, kind->ending);
        for (r = 0; formula_output_wants(&out);) {
                cleanup_buffer struct buffer text = {0};

                r = kind->make(&q, kind->which, &text);
                if (r < 0)
                        break;
                formula_output_add(&out, &text);
        }
        enumeration_free(q.enumeration);
        generator_free(q.generator);
        command_must_as(STATUS_FAILED, r);
}
