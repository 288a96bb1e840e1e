/* solverfs transform: a formula changed, without a store. */
#include "formula_words.h"

#include "core/fuzz/cnf_mutate.h"
#include "core/fuzz/mutate.h"
#include "core/smtlib/print.h"
#include "core/smtlib/scramble.h"

#define INPUT_MOST (1u << 30)
#define TRIES      16 /* of a kind that draws what it changes, before it says that there is nothing */

struct request {
        struct generator *generator;
        struct slice text;
        struct script *script; /* owned; NULL: DIMACS, or the kind reads the text itself */
        struct cnf *cnf;       /* owned; of DIMACS */
        enum op op;            /* of --operator; OP_NONE: any */
        uint64_t seed;
        unsigned n; /* from 1 on: which of the formulas that are wanted */
};

/* A kind of change. `make` sets *ret, or appends to *ret_text what is printed already; `which` tells kinds that share it apart. -ENOENT: there is nothing
 * to change. */
struct kind {
        const char *name, *what;
        int (*make)(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text);
        unsigned which;
        bool is_text; /* it reads the text itself */
        bool is_cnf;  /* of DIMACS; the others but for texts are of SMT-LIB */
};

static int make_transform(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text)
{
        return mutate_transform(q->generator, q->script, (enum transform)which, ret);
}

static int make_operator(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text)
{
        struct random *random = generator_random(q->generator);
        enum op ops[N_OPS];
        size_t n;
        int r = -ENOENT;

        if (q->op != OP_NONE)
                return mutate_operator(q->generator, q->script, q->op, ret);
        n = mutate_actions(q->generator, q->script, ops);
        random_shuffle(random, ops, n);
        for (size_t i = 0; r == -ENOENT && i < n; i++)
                r = mutate_operator(q->generator, q->script, ops[i], ret);
        return r;
}

static int make_scrambled(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text)
{
        return (q->cnf ? scramble_cnf : scramble_smt)(q->text, q->seed + q->n, ret_text);
}

static int make_same(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text)
{
        if (q->cnf)
                return cnf_print(q->cnf, ret_text);
        script_clone(q->script, ret);
        return 0;
}

static int make_clauses(struct request *q, unsigned which, struct script **ret, struct buffer *ret_text)
{
        cleanup_cnf struct cnf *changed = NULL;
        int r = cnf_mutate(generator_random(q->generator), q->cnf, (enum cnf_change)which, q->cnf, &changed);

        return r < 0 ? r : cnf_print(changed, ret_text);
}

#define CNF(change, name, what) {"cnf-" name, what, make_clauses, change, .is_cnf = true}

static const struct kind kinds[] = {
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
        {"nop", "nothing: the input is read and printed", make_same, .is_text = true},
        CNF(CNF_FLIP, "flip", "DIMACS: literals negated"),
        CNF(CNF_DROP, "drop", "DIMACS: literals left out"),
        CNF(CNF_EXTEND, "extend", "DIMACS: literals added"),
        CNF(CNF_DROP_CLAUSE, "drop-clause", "DIMACS: clauses left out"),
        CNF(CNF_ADD_CLAUSE, "add-clause", "DIMACS: random clauses added"),
        CNF(CNF_DUPLICATE, "duplicate", "DIMACS: clauses once more, one literal negated"),
        CNF(CNF_MERGE, "merge", "DIMACS: two clauses become one"),
        CNF(CNF_RESOLVE, "resolve", "DIMACS: resolvents added"),
        CNF(CNF_SIGNS, "signs", "DIMACS: a variable negated, everywhere or in half of its places"),
        CNF(CNF_IDENTIFY, "identify", "DIMACS: two variables become one"),
        CNF(CNF_GATE, "gate", "DIMACS: a gate becomes another one"),
        CNF(CNF_ADD_XOR, "add-xor", "DIMACS: a parity added"),
        CNF(CNF_GRAFT, "graft", "DIMACS: itself once more, over other variables or in part its own"),
};

static const struct kind *kind_named(const char *name)
{
        for (size_t i = 0; name && i < ARRAY_SIZE(kinds); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        if (name)
                command_usage("no kind '%s'; 'solverfs transform --list' names them", name);
        command_usage("expected KIND; 'solverfs transform --list' names them");
}

static void parse_operator(void *to, const char *text)
{
        enum op *op = to;

        *op = operator_find(slice_string(text));
        if (*op == OP_NONE)
                command_usage("no operator '%s'", text);
}

static int make(const struct kind *kind, struct request *q, const enum dialect *dialect, struct buffer *text)
{
        cleanup_script struct script *with = NULL;
        int r = -ENOENT;

        for (int tries = 0; r == -ENOENT && tries < TRIES; tries++)
                r = kind->make(q, kind->which, &with, text);
        if (r == -ENOENT)
                return errorf(r, "'%s' finds nothing to change in it", kind->name);
        return r < 0 || !with ? r : script_print(with, dialect ? &(struct print_options){.dialect = *dialect} : NULL, text);
}

void cmd_transform(int argc, char **argv)
{
        static const char doc[] =
                "Print a formula changed: the SMT-LIB or DIMACS text in FILE, or that of standard input. No store is needed.\v"
                "The kinds are the transformers of StringFuzz for every theory, and the changes that campaigns make. What comes out is well-sorted, and "
                "keeps to its logic's arithmetic; commands that are not known stay as they are. Its answer may be another, but for 'scramble' and 'nop'. Exit "
                "status 1 where nothing in the input can be changed so, 2 where it cannot be read.\n\n"
                "Example:\n"
                "  solverfs generate | solverfs transform fuzz --seed 3\n"
                "  solverfs generate --logic QF_BV | solverfs transform swap | cvc5\n"
                "  solverfs generate cnf-adders | solverfs transform cnf-gate -n 9 -o out\n"
                "  solverfs generate | solverfs transform nop --dialect 2.0 >old.smt2";
        struct generate_options o = generate_defaults;
        struct request q = {0};
        struct formula_output out = {.n = 1};
        cleanup_blob struct blob input = {0};
        unsigned dialect = DIALECT_2_6;
        bool list = false, has_dialect = false, is_cnf;
        struct words words;
        const struct kind *kind;
        const char *path;
        int r;
        const struct command_option options[] = {
                {"list", 'l', NULL, "Print the kinds, a line each", .on = &list, .is_other_use = true},
                {"seed", 0, "N", "Of all choices; default 0", .big_number = &q.seed, .most = UINT64_MAX},
                {"operator", 0, "OPERATOR", "With the kind 'operator': the one to bring in; default: any", .parse = parse_operator, .to = &q.op},
                {"dialect", 0, "2.0|2.5|2.6", "To print in; default: as the input", .choice = &dialect, .is_given = &has_dialect},
                FORMULA_OUTPUT_OPTIONS(out),
                {0}};

        words = command_parse(argc, argv, "KIND [FILE]", doc, options);
        if (list) {
                for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                        formula_list_row(kinds[i].name, kinds[i].what);
                return;
        }
        kind = kind_named(word_next(&words));
        path = word_next(&words);
        if (!path || strcmp(path, "-") == 0)
                path = "/dev/stdin";
        if (strcmp(kind->name, "scramble") == 0 && has_dialect)
                command_usage("'%s' prints in the input's own dialect", kind->name);
        command_must(read_file(path, INPUT_MOST, &input));
        q.text = SLICE(input.data, input.size);
        is_cnf = cnf_begins(q.text);
        if (kind->is_cnf != is_cnf && !kind->is_text)
                command_usage("'%s' takes %s, and %s is %s", kind->name, kind->is_cnf ? "DIMACS" : "SMT-LIB", path, is_cnf ? "DIMACS" : "not");
        if (is_cnf) {
                struct cnf_reader reader;

                cnf_reader_init(&reader, q.text);
                command_must_usage(cnf_read(&reader, &q.cnf));
        } else if (strcmp(kind->name, "scramble") != 0) {
                command_must_usage(script_read(q.text, &(struct script_options){.name = path, .dialect = DIALECT_2_6}, &q.script));
        }
        command_must(generator_new(&o, q.seed, &q.generator));
        formula_output_begin(&out, kind->name, q.seed, is_cnf ? "cnf" : "smt2");
        for (r = 0; r == 0 && formula_output_wants(&out);) {
                cleanup_buffer struct buffer text = {0};

                q.n = out.done + 1;
                r = make(kind, &q, has_dialect ? &(enum dialect){(enum dialect)dialect} : NULL, &text);
                if (r == 0)
                        formula_output_add(&out, &text);
        }
        script_free(q.script);
        cnf_free(q.cnf);
        generator_free(q.generator);
        command_must_as(r == -EINVAL ? STATUS_USAGE : STATUS_FAILED, r);
}
