/* solverfs generate, transform: formulas of one kind, or changed in one way; without a store. */
#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/formula.h"
#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"
#include "core/smtlib/scramble.h"
#include "tools/command.h"

#define INPUT_MOST (1u << 30)
#define TRIES      16 /* attempts of a random change before it reports that nothing can be changed */

struct request {
        struct generate_options options;
        struct generator *generator;
        const enum dialect *dialect; /* to print in; NULL: as the input */
        uint64_t seed;
        unsigned n;         /* formulas wanted */
        unsigned done;
        const char *folder; /* for files; NULL: one formula, to standard output */
        bool list;

        /* of `generate` */
        unsigned size;
        struct enumeration *enumeration; /* NULL: not begun */

        /* of `transform` */
        struct slice text;
        const char *path; /* for messages */
        struct script *script; /* owned; NULL: DIMACS, or the kind parses the text itself */
        struct cnf *cnf;       /* owned; of DIMACS */
        enum op op;            /* of --operator; OP_NONE: any */
};

/* A kind of formulas or of changes. `make` appends the next one; kinds that share it differ in `which`. -ENOENT: nothing to change. */
struct kind {
        const char *name, *what;
        int (*make)(struct request *q, unsigned which, struct buffer *ret);
        unsigned which;
        bool is_cnf;    /* of DIMACS */
        bool is_text;   /* a change that parses the text itself, in both formats */
        bool has_logic; /* takes --logic */
        unsigned most;  /* greatest --size, if less than usual: the formulas grow fast */
};

#define OUTPUT_OPTIONS(q)                                                                                                 \
        {NULL, 'n', "N", "How many; more than one need --output", .number = &(q).n, .least = 1, .most = 10000000},        \
        {"output", 'o', "DIR", "Write files into this folder, KIND-SEED-1.smt2 and so on", .text = &(q).folder}

static const struct kind *kind_named(const struct kind *kinds, const char *command, const char *name)
{
        for (const struct kind *k = kinds; k->name; k++)
                if (strcmp(k->name, name) == 0)
                        return k;
        command_usage("no kind '%s'; 'solverfs %s --list' names them", name, command);
}

static void list_kinds(const struct kind *kinds)
{
        static const struct column columns[] = {{"kind", 14}, {"what it is"}, {0}};

        for (const struct kind *k = kinds; k->name; k++)
                output_rowf(columns, "%s\t%s", k->name, k->what);
}

/* A text in an older dialect says so: every reader takes it for 2.6 otherwise. */
static int print(struct request *q, int r, struct script *s, struct buffer *ret)
{
        enum dialect dialect;
        bool says_so;

        if (r < 0)
                return r;
        dialect = q->dialect ? *q->dialect : s->dialect;
        says_so = dialect == DIALECT_2_6;
        for (size_t i = 0; i < s->n_commands; i++)
                says_so |= s->commands[i].kind == COMMAND_SET_INFO && s->commands[i].symbol && text_is(s->commands[i].symbol->name, ":smt-lib-version");
        if (!says_so)
                buffer_addf(ret, "(set-info :smt-lib-version %s)\n", dialect_name(dialect));
        return script_print(s, &(struct print_options){.dialect = dialect}, ret);
}

static void put(struct request *q, const struct kind *k, const char *ending, const struct buffer *text)
{
        cleanup_free char *path = NULL;

        q->done++;
        if (!q->folder) {
                output_write(text);
                return;
        }
        path = format_string("%s/%s-%" PRIu64 "-%u.%s", q->folder, k->name, q->seed, q->done, ending);
        command_write_file(path, text);
}

/* Makes and writes as many as wanted; frees the request. */
static void make_all(struct request *q, const struct kind *k, bool is_cnf)
{
        int r = 0;

        if (q->n > 1 && !q->folder)
                command_usage("-n %u needs a folder for the formulas: --output DIR", q->n);
        if (q->folder)
                command_must_usage(make_dirs(q->folder, 0777 & ~common.umask));
        while (r == 0 && q->done < q->n && !output_broken() && !command_stopped()) {
                cleanup_buffer struct buffer text = {0};

                r = -ENOENT;
                for (int tries = 0; r == -ENOENT && tries < TRIES; tries++)
                        r = k->make(q, k->which, &text);
                if (r == -ENOENT)
                        r = errorf(r, "'%s' finds nothing to change in it", k->name);
                else if (r == 0)
                        put(q, k, is_cnf ? "cnf" : "smt2", &text);
        }
        enumeration_free(q->enumeration);
        script_free(q->script);
        cnf_free(q->cnf);
        generator_free(q->generator);
        command_ok(command_stopped() ? STATUS_INTERRUPTED : STATUS_OK);
        command_must_as(r == -EINVAL && q->text.data ? STATUS_USAGE : STATUS_FAILED, r);
}

/* -- generate ---------------------------------------------------------------------------------------------------- */

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

static int make_chain(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *s = NULL;
        int r = generate_chain(q->generator, q->size, &s);

        return print(q, r, s, ret);
}

static int make_enumerated(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *s = NULL;
        int r;

        if (!q->enumeration)
                q->enumeration = enumeration_new(&(struct enumerate_options){.dialect = *q->dialect});
        r = enumeration_next(q->enumeration, &s);
        return print(q, r, s, ret);
}

static int make_clauses(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_cnf struct cnf *c = cnf_generate(generator_random(q->generator), (enum cnf_family)which, q->size, NULL);

        return cnf_print(c, ret);
}

#define FAMILY(family, name, what) {"cnf-" name, what, make_clauses, family, .most = CNF_SIZE_MOST, .is_cnf = true}

#define SIZE_MOST 1000u /* of kinds without a limit of their own */

static const struct kind formulas[] = {
        {"formula", "random terms, of strings or of --logic", make_formula, 0, .has_logic = true},
        {"concats", "a tree of concatenations is equal to a word; --size levels", make_template, TEMPLATE_CONCATS},
        {"lengths", "--size strings whose lengths are given and related", make_template, TEMPLATE_LENGTHS},
        {"overlaps", "s.x = x.s: --size strings around one word", make_template, TEMPLATE_OVERLAPS},
        {"equality", "--size concatenations with shared parts are equal", make_template, TEMPLATE_EQUALITY},
        {"regex", "memberships in expressions of --size operators", make_template, TEMPLATE_REGEX},
        {"words", "--size equalities with long words of printable text", make_template, TEMPLATE_WORDS},
        {"chain", "--size constants, each defined by those before it; of strings or of --logic", make_chain, 0, .most = 100000, .has_logic = true},
        {"tree", "random terms of strings, --size levels deep", make_template, TEMPLATE_TREE, .most = 40},
        {"enumerated", "every small formula of strings, smallest first", make_enumerated, 0},
        FAMILY(CNF_RANDOM, "random", "DIMACS: k-SAT near the threshold"),
        FAMILY(CNF_COMMUNITIES, "communities", "DIMACS: k-SAT, most clauses within a community of variables"),
        FAMILY(CNF_PIGEONS, "pigeons", "DIMACS: pigeons in holes"), FAMILY(CNF_TSEITIN, "tseitin", "DIMACS: parities on the vertices of a graph"),
        FAMILY(CNF_PARITY, "parity", "DIMACS: the parity of the same variables in two orders"),
        FAMILY(CNF_XORS, "xors", "DIMACS: linear equations over two elements"),
        FAMILY(CNF_CARDINALITY, "cardinality", "DIMACS: bounds on groups of variables"),
        FAMILY(CNF_PEBBLING, "pebbling", "DIMACS: pebbles on pyramids and graphs"), FAMILY(CNF_ADDERS, "adders", "DIMACS: two adders are compared"),
        FAMILY(CNF_MULTIPLIERS, "multipliers", "DIMACS: two multipliers are compared, or a product is factored"),
        FAMILY(CNF_LATIN, "latin", "DIMACS: Latin squares with holes"), FAMILY(CNF_QUEENS, "queens", "DIMACS: queens on a board"),
        FAMILY(CNF_COLORS, "colors", "DIMACS: colours of the vertices of a graph"),
        FAMILY(CNF_ORDERING, "ordering", "DIMACS: an order without a least element"),
        FAMILY(CNF_NETLISTS, "netlists", "DIMACS: large circuits, two compared or one with given outputs"),
        FAMILY(CNF_MIXED, "mixed", "DIMACS: many clauses of two and three literals"),
        FAMILY(CNF_COMPONENTS, "components", "DIMACS: many small formulas, each over its own variables"),
        {0}};

void cmd_generate(int argc, char **argv)
{
        static const char doc[] =
                "Print generated formulas of a KIND; without one, random terms. No store is needed.\v"
                "A formula is of strings, integers and Booleans, or keeps to a --logic: bit-vectors, arrays, integers, reals, floating point, "
                "uninterpreted functions, quantifiers and their combinations. The other kinds are chains of definitions, the generators of StringFuzz, "
                "each of which scales one thing, the enumeration of small formulas, and families of DIMACS for SAT solvers. Equal seeds and options print "
                "equal formulas.\n\n"
                "Example:\n"
                "  solverfs generate --logic QF_AUFBV --seed 7\n"
                "  solverfs generate regex --size 20 | z3 -in\n"
                "  solverfs generate cnf-pigeons --size 40 >pigeons.cnf\n"
                "  solverfs generate --logic UFLIA -n 100 --output formulas";
        struct request q = {.options = generate_defaults, .size = 5, .n = 1, .dialect = &q.options.dialect};
        unsigned dialect = DIALECT_2_6;
        bool has_size = false, has_terms = false, has_variables = false, has_words = false;
        const struct command_option options[] = {
                {"list", 'l', NULL, "Print the kinds, a line each", .on = &q.list, .is_other_use = true},
                {"logic", 0, "LOGIC", "Keep to this logic: QF_BV, QF_AUFLIA, QF_NRA, QF_FP, UF ...", .text = &q.options.logic},
                {"seed", 0, "N", "Seed of all random choices; default 0", .big_number = &q.seed, .most = UINT64_MAX},
                {"size", 0, "N", "Size, for kinds that scale one thing; default 5", .number = &q.size, .least = 1, .most = 100000, .is_given = &has_size},
                {"assertions", 0, "N", "Default 6", .number = &q.options.assertions, .least = 1, .most = 100000, .is_given = &has_terms},
                {"variables", 0, "N", "Declared constants; default 6", .number = &q.options.variables, .least = 1, .most = 100000,
                 .is_given = &has_variables},
                {"depth", 0, "N", "Levels of operators in an assertion; default 3", .number = &q.options.depth, .least = 1, .most = 12,
                 .is_given = &has_terms},
                {"literal-length", 0, "N", "Most characters of a word; default 60", .number = &q.options.literal_length, .least = 1, .most = 1024,
                 .is_given = &has_words},
                {"alphabet", 0, "N", "Different characters in a formula, 0: all letters and digits; default 4", .number = &q.options.alphabet, .most = 62,
                 .is_given = &has_words},
                {"extensions", 0, NULL, "With --logic: also operators and formats that not every solver reads", .on = &q.options.extensions},
                {"dialect", 0, "2.0|2.5|2.6", "Of strings; default 2.6", .choice = &dialect, .is_given = &has_words},
                OUTPUT_OPTIONS(q),
                {0}};
        struct words words = command_parse(argc, argv, "[KIND]", doc, options);
        const struct kind *k;
        unsigned most;

        if (q.list) {
                list_kinds(formulas);
                return;
        }
        k = kind_named(formulas, "generate", words.n > 0 ? words.list[0] : "formula");
        if (q.options.logic && !k->has_logic)
                command_usage("'%s' has no logics: --logic takes the kinds 'formula' and 'chain'", k->name);
        if (has_terms && k->make != make_formula)
                command_usage("'%s' has no random terms: --assertions and --depth are for the kind 'formula'", k->name);
        if (has_variables && !k->has_logic)
                command_usage("'%s' declares its own constants: --variables takes the kinds 'formula' and 'chain'", k->name);
        if (has_words && k->is_cnf)
                command_usage("'%s' has no strings: --literal-length, --alphabet and --dialect are for SMT-LIB", k->name);
        if (has_size && (k->make == make_formula || k->make == make_enumerated))
                command_usage("'%s' scales nothing: --size is for the other kinds", k->name);
        most = k->most > 0 ? k->most : SIZE_MOST;
        if (q.size > most)
                command_usage("'%s' takes a --size up to %u", k->name, most);
        if (q.options.extensions && !q.options.logic)
                command_usage("--extensions needs --logic");
        q.options.dialect = (enum dialect)dialect;
        command_must_usage(generator_new(&q.options, q.seed, &q.generator));
        make_all(&q, k, k->is_cnf);
}

/* -- transform --------------------------------------------------------------------------------------------------- */

/* Each change begins with a copy, as a bank keeps all terms that were made in it. */
static struct script *copy_script(const struct request *q)
{
        return formula_copy(&(struct formula){.script = q->script}).script;
}

static int make_transform(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *from = copy_script(q), *s = NULL;
        int r = mutate_transform(q->generator, from, (enum transform)which, &s);

        return print(q, r, s, ret);
}

static int make_operator(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_script struct script *from = copy_script(q), *s = NULL;
        enum op ops[N_OPS] = {q->op};
        size_t n = 1;
        int r = -ENOENT;

        if (q->op == OP_NONE) {
                n = mutate_actions(q->generator, from, ops);
                random_shuffle(generator_random(q->generator), ops, n);
        }
        for (size_t i = 0; r == -ENOENT && i < n; i++)
                r = mutate_operator(q->generator, from, ops[i], &s);
        return print(q, r, s, ret);
}

/* The sentence begins with the file. */
static int in_file(const struct request *q, int r)
{
        return r == -EINVAL ? errorf(r, "%s: %s", q->path, error_message(r)) : r;
}

static int make_scrambled(struct request *q, unsigned which, struct buffer *ret)
{
        return in_file(q, (q->cnf ? scramble_cnf : scramble_smt)(q->text, (q->seed + q->done + 1) ?: 1, ret)); /* 0 changes nothing */
}

static int make_same(struct request *q, unsigned which, struct buffer *ret)
{
        return q->cnf ? cnf_print(q->cnf, ret) : print(q, 0, q->script, ret);
}

static int make_other_clauses(struct request *q, unsigned which, struct buffer *ret)
{
        cleanup_cnf struct cnf *changed = NULL;
        int r = cnf_mutate(generator_random(q->generator), q->cnf, (enum cnf_change)which, q->cnf, &changed);

        return r < 0 ? r : cnf_print(changed, ret);
}

#define CHANGE(change, name, what) {"cnf-" name, what, make_other_clauses, change, .is_cnf = true}

static const struct kind changes[] = {
        {"fuzz", "some literals by a little, some operators by their likes", make_transform, TRANSFORM_FUZZ},
        {"graft", "a subterm and a literal of its sort change places", make_transform, TRANSFORM_GRAFT},
        {"multiply", "every word, number and bit-vector n-fold", make_transform, TRANSFORM_MULTIPLY},
        {"reverse", "every word, bit-vector and concatenation backwards", make_transform, TRANSFORM_REVERSE},
        {"rotate", "the arguments of one sort of an operator, moved by one", make_transform, TRANSFORM_ROTATE},
        {"translate", "another alphabet of words and ranges", make_transform, TRANSFORM_TRANSLATE},
        {"unprintable", "some characters by unprintable ones", make_transform, TRANSFORM_UNPRINTABLE},
        {"swap", "two subterms of one sort change places", make_transform, TRANSFORM_SWAP},
        {"operator", "an operator by another one of the same result", make_operator},
        {"scramble", "names, order and sides of operators; the answer stays", make_scrambled, .is_text = true},
        {"nop", "no change: the input is read and printed", make_same, .is_text = true},
        CHANGE(CNF_FLIP, "flip", "DIMACS: literals negated"), CHANGE(CNF_DROP, "drop", "DIMACS: literals left out"),
        CHANGE(CNF_EXTEND, "extend", "DIMACS: literals added"), CHANGE(CNF_DROP_CLAUSE, "drop-clause", "DIMACS: clauses left out"),
        CHANGE(CNF_ADD_CLAUSE, "add-clause", "DIMACS: random clauses added"),
        CHANGE(CNF_DUPLICATE, "duplicate", "DIMACS: clauses once more, one literal negated"), CHANGE(CNF_MERGE, "merge", "DIMACS: two clauses become one"),
        CHANGE(CNF_RESOLVE, "resolve", "DIMACS: resolvents added"),
        CHANGE(CNF_SIGNS, "signs", "DIMACS: a variable negated, everywhere or in half of its places"),
        CHANGE(CNF_IDENTIFY, "identify", "DIMACS: two variables become one"), CHANGE(CNF_GATE, "gate", "DIMACS: a gate becomes another one"),
        CHANGE(CNF_ADD_XOR, "add-xor", "DIMACS: a parity added"),
        CHANGE(CNF_GRAFT, "graft", "DIMACS: itself once more, over other variables or in part its own"),
        {0}};

static void parse_operator(void *to, const char *text)
{
        enum op *op = to;

        *op = operator_find(slice_string(text));
        if (*op == OP_NONE)
                command_usage("no operator '%s'", text);
}

static void read_input(struct request *q, const struct kind *k, const char *path)
{
        bool is_cnf = cnf_begins(q->text, true);
        struct cnf_reader reader;

        if (k->is_cnf != is_cnf && !k->is_text)
                command_usage("'%s' takes %s, and %s is %s", k->name, k->is_cnf ? "DIMACS" : "SMT-LIB", path, is_cnf ? "DIMACS" : "not");
        if (is_cnf) {
                cnf_reader_init(&reader, q->text);
                command_must_usage(in_file(q, cnf_read(&reader, &q->cnf)));
                if (reader.names_variables)
                        command_must(errorf(-ENOTSUP, "cannot change this: a comment (c ind, c p) names variables by their numbers"));
                if (k->make == make_same)
                        q->cnf->variables = (uint32_t)reader.variables; /* some may occur in no clause */
        } else if (k->make != make_scrambled)
                command_must_usage(script_read(q->text, &(struct script_options){.name = path, .dialect = DIALECT_2_6}, &q->script));
}

void cmd_transform(int argc, char **argv)
{
        static const char doc[] =
                "Print a formula changed: the SMT-LIB or DIMACS text in FILE, or that of standard input. No store is needed.\v"
                "The kinds are the transformers of StringFuzz for every theory, and the changes that campaigns make. What comes out is well-sorted, and "
                "keeps to its logic's arithmetic; commands that are not known stay as they are. Its answer may be another, but for 'scramble' and "
                "'nop'. Exit status 1 where nothing in the input can be changed so, 2 where it cannot be read.\n\n"
                "Example:\n"
                "  solverfs generate | solverfs transform fuzz --seed 3\n"
                "  solverfs generate --logic QF_BV | solverfs transform swap | cvc5\n"
                "  solverfs generate cnf-adders | solverfs transform cnf-gate -n 9 -o out\n"
                "  solverfs generate | solverfs transform nop --dialect 2.0 >old.smt2";
        struct request q = {.options = generate_defaults, .n = 1};
        cleanup_blob struct blob input = {0};
        unsigned number = DIALECT_2_6;
        enum dialect dialect;
        bool has_dialect = false, is_file;
        const struct kind *k;
        const char *name, *path;
        int r;
        const struct command_option options[] = {
                {"list", 'l', NULL, "Print the kinds, a line each", .on = &q.list, .is_other_use = true},
                {"seed", 0, "N", "Seed of all random choices; default 0", .big_number = &q.seed, .most = UINT64_MAX},
                {"operator", 0, "OPERATOR", "With the kind 'operator': the one to bring in; default: any", .parse = parse_operator, .to = &q.op},
                {"dialect", 0, "2.0|2.5|2.6", "To print in; default: as the input", .choice = &number, .is_given = &has_dialect},
                OUTPUT_OPTIONS(q),
                {0}};
        struct words words = command_parse(argc, argv, "KIND [FILE]", doc, options);

        if (q.list) {
                list_kinds(changes);
                return;
        }
        name = word_next(&words);
        path = word_next(&words);
        k = kind_named(changes, "transform", name);
        is_file = path && strcmp(path, "-") != 0;
        path = is_file ? path : "standard input";
        if (k->make == make_scrambled && has_dialect)
                command_usage("'%s' prints in the input's own dialect", k->name);
        if (k->make != make_operator && q.op != OP_NONE)
                command_usage("--operator is for the kind 'operator'");
        dialect = (enum dialect)number;
        q.dialect = has_dialect ? &dialect : NULL;
        if (is_file)
                r = read_file(path, INPUT_MOST, &input);
        else if ((r = read_fd(STDIN_FILENO, INPUT_MOST, &input)) < 0) /* /dev/stdin does not open a socket */
                r = errorf(r, "cannot read %s: %s", path, strerror(-r));
        command_must(r);
        q.text = SLICE(input.data ?: "", input.size);
        q.path = path;
        read_input(&q, k, path);
        q.options.dialect = q.script && !has_dialect ? q.script->dialect : dialect;
        command_must(generator_new(&q.options, q.seed, &q.generator));
        make_all(&q, k, q.cnf != NULL);
}
