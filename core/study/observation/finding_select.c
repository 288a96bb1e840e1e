/* Findings of one cause as groups: the shapes of their formulas (skeleton, parts, pieces), what is read of each finding, the order, the groups. */
#include "core/study/observation/finding_select.h"

#include <inttypes.h>
#include <xxhash.h>

#include "core/fuzz/formula.h"
#include "core/smtlib/print.h"
#include "core/study/observation/finding.h"

#define PART_MOST  200       /* nodes of a part: reduced inputs are smaller */
#define PARTS_MOST (1 << 20) /* bytes of an input's parts: deeper ones explain nothing */
#define ALIKE_LEAST 20       /* pieces: with fewer, three quarters may agree by chance */

/* -- logics -- */

bool logic_is_decidable(const char *logic)
{
        static const char *const with_quantifiers[] = {"LIA", "LRA", "LIRA", "NRA", "BV", "IDL", "RDL"}; /* and without */
        static const char *const only_without[] = {"UF",   "UFLIA",  "UFLRA",   "UFLIRA", "UFNRA", "UFIDL", "AX",
                                                   "ALIA", "AUFLIA", "AUFLIRA", "ABV",    "AUFBV", "UFBV",  "FP",
                                                   "BVFP", "ABVFP",  "FPLRA",   "DT",     "UFDT"};
        bool is_without = strncmp(logic, "QF_", 3) == 0;
        const char *theory = is_without ? logic + 3 : logic;

        for (size_t i = 0; i < ARRAY_SIZE(with_quantifiers); i++)
                if (strcmp(theory, with_quantifiers[i]) == 0)
                        return true;
        for (size_t i = 0; is_without && i < ARRAY_SIZE(only_without); i++)
                if (strcmp(theory, only_without[i]) == 0)
                        return true;
        return false;
}

/* -- shapes -- */

/* The constant that represents all of its sort. */
static const struct term *anonymous(struct bank *b, const char *prefix, const struct sort *sort)
{
        cleanup_buffer struct buffer name = {0};

        buffer_adds(&name, prefix);
        sort_print(sort, &name);
        return term_constant(b, function_of(b, FUNCTION_DECLARED, symbol_of(b, SLICE(name.data, name.size)), NULL, 0, sort));
}

/* Bound variables get a number and the depth of their binder, so that nested binders never share a name. */
static const struct term *with_numbered_variables(struct bank *b, const struct term *quantifier)
{
        const struct term *body = term_body(quantifier);
        cleanup_term_list struct term_list variables = {0};
        char name[48];

        for (uint32_t i = 0; i < quantifier->n_bound; i++) {
                snprintf(name, sizeof(name), "bound %" PRIu32 ".%" PRIu32, body->depth, i);
                term_list_add(&variables, term_variable(b, symbol_of(b, slice_string(name)), quantifier->args[i]->sort));
        }
        return term_quantifier(b, quantifier->kind, variables.list, variables.n,
                               term_substitute(b, body, quantifier->args, variables.list, variables.n));
}

static bool has_only_values(struct bank *b, const struct term *t)
{
        for (size_t i = 0; i < t->n_args; i++)
                if (t->args[i] != anonymous(b, "value of ", t->args[i]->sort))
                        return false;
        return true;
}

/* The kind of a relation and the order of its sides seldom matter. */
static const struct term *as_equality(struct bank *b, const struct term *t)
{
        static const enum op relations[] = {OP_EQUAL, OP_DISTINCT, OP_LE, OP_LT, OP_GE, OP_GT};
        bool is_relation = false;

        for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
                is_relation |= t->op == relations[i];
        if (!is_relation || t->n_args != 2 || term_is_bool(t->args[0]))
                return t;
        return t->args[0]->tree_size < t->args[1]->tree_size ? term_op2(b, OP_EQUAL, t->args[1], t->args[0])
                                                             : term_op2(b, OP_EQUAL, t->args[0], t->args[1]);
}

/* The number of adjacent list arguments of one shape does not matter. */
static const struct term *without_repetition(struct bank *b, const struct term *t)
{
        cleanup_term_list struct term_list args = {0};
        const struct term *made = NULL;

        if (t->kind != TERM_OPERATOR || t->n_args <= 2 ||
            (operator_row(t->op)->shape != SHAPE_LEFT && operator_row(t->op)->shape != SHAPE_RIGHT))
                return t;
        for (size_t i = 0; i < t->n_args; i++)
                if (i == 0 || t->args[i] != t->args[i - 1])
                        term_list_add(&args, t->args[i]);
        if (args.n == 1)
                term_list_add(&args, t->args[0]);
        return term_apply(b, t->op, t->index, term_n_index(t), args.list, args.n, &made) < 0 ? NULL : made;
}

/* For term_rewrite(), arguments first. */
static const struct term *without_names(void *user, struct bank *b, const struct term *t)
{
        const bool *folds_values = user; /* an operator on values is a value */

        if (t->kind == TERM_LITERAL || (*folds_values && t->kind == TERM_OPERATOR && has_only_values(b, t)))
                return anonymous(b, "value of ", t->sort);
        if (t->kind == TERM_FUNCTION && t->n_args == 0)
                return anonymous(b, "", t->sort);
        if (term_is_quantifier(t))
                return with_numbered_variables(b, t);
        t = without_repetition(b, t);
        return t ? as_equality(b, t) : NULL;
}

/* A whole term that folds into a value would say nothing: its operators are kept. */
static const struct term *term_shape(struct bank *b, const struct term *t)
{
        bool folds_values = true;
        const struct term *shape = term_rewrite(b, t, without_names, &folds_values);

        folds_values = false;
        return shape == anonymous(b, "value of ", t->sort) ? term_rewrite(b, t, without_names, &folds_values) : shape;
}

static int add_shape(struct bank *b, const struct term *t, struct buffer *ret)
{
        const struct term *shape = term_shape(b, t);
        int r = shape ? term_print(shape, &(struct print_options){.dialect = DIALECT_2_6}, ret) : bank_error(b);

        buffer_adds(ret, "\n");
        return r;
}

/* Parses a formula and lists its assertions; with `all`, all of their terms. */
static int read_terms(struct slice text, bool all, struct script **ret_script, struct term_list *ret)
{
        cleanup_term_list struct term_list asserted = {0};
        int r = script_read(text, NULL, ret_script);

        for (size_t i = 0; r == 0 && i < (*ret_script)->n_commands; i++)
                if ((*ret_script)->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(all ? &asserted : ret, (*ret_script)->commands[i].term);
        if (r == 0 && all)
                term_subterms(asserted.list, asserted.n, ret);
        return r;
}

/* The shapes of the assertions, a line each; with `all`, an empty line and the shapes of all their Boolean terms that are not very large. */
static int print_shapes(struct slice text, bool all, char **ret)
{
        cleanup_script struct script *s = NULL;
        cleanup_term_list struct term_list terms = {0};
        cleanup_buffer struct buffer b = {0};
        int r = read_terms(text, all, &s, &terms);

        buffer_adds(&b, all ? "\n" : "");
        for (size_t i = 0; r == 0 && i < terms.n; i++)
                if (!all || (term_is_bool(terms.list[i]) && terms.list[i]->tree_size <= PART_MOST && b.size < PARTS_MOST))
                        r = add_shape(s->bank, terms.list[i], &b);
        if (r == 0)
                r = buffer_error(&b);
        if (r == 0)
                *ret = steal_pointer(b.data);
        return r;
}

/* -ENOENT: not DIMACS. */
static int read_cnf_shape(struct slice text, struct shape *ret)
{
        cleanup_cnf struct cnf *c = NULL;
        int r = case_format("", text) == FORMAT_CNF ? cnf_parse(text, &c) : -ENOENT;

        if (r == 0)
                *ret = shape_of_cnf(c);
        return r;
}

int formula_skeleton(struct slice text, char **ret)
{
        cleanup_shape struct shape shape = {0};
        cleanup_buffer struct buffer b = {0};
        int r = read_cnf_shape(text, &shape);

        if (r < 0)
                return r == -ENOENT ? print_shapes(text, false, ret) : r;
        for (size_t i = 0; i < shape.n; i++)
                buffer_addf(&b, "%x ", shape.parts[i]);
        buffer_adds(&b, "\n");
        *ret = steal_pointer(b.data);
        return buffer_error(&b);
}

int formula_parts(struct slice text, char **ret)
{
        if (case_format("", text) != FORMAT_CNF)
                return print_shapes(text, true, ret);
        *ret = copy_string("\n");
        return 0;
}

bool shape_occurs(const char *skeleton, const char *parts)
{
        for (const char *line = skeleton, *end; *line; line = end + 1) {
                cleanup_free char *sought = NULL;

                end = strchrnul(line, '\n');
                sought = format_string("\n%.*s\n", (int)(end - line), line);
                if (!*end || !strstr(parts, sought))
                        return false;
        }
        return *skeleton != '\0';
}

/* -- pieces: each term with its arguments' operators -- */

static void add_node(const struct term *t, struct buffer *ret)
{
        buffer_addf(ret, "%d.%d.", (int)t->kind, t->kind == TERM_OPERATOR ? (int)t->op : 0);
        sort_print(t->sort, ret);
        buffer_adds(ret, " ");
}

static void add_piece(const struct term *t, struct pieces *ret)
{
        cleanup_buffer struct buffer b = {0};

        add_node(t, &b);
        for (size_t i = 0; i < t->n_args; i++)
                add_node(t->args[i], &b);
        list_add(ret->list, ret->n, XXH3_64bits(b.data, b.size));
}

int formula_pieces(struct slice text, struct pieces *ret)
{
        cleanup_script struct script *s = NULL;
        cleanup_term_list struct term_list all = {0};
        cleanup_shape struct shape shape = {0};
        int r = read_cnf_shape(text, &shape);

        *ret = (struct pieces){0};
        if (r != -ENOENT) {
                ret->list = allocate(shape.n, sizeof(*ret->list));
                for (; ret->n < shape.n; ret->n++)
                        ret->list[ret->n] = shape.parts[ret->n];
                return r;
        }
        r = read_terms(text, true, &s, &all);
        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (all.list[i]->n_args > 0)
                        add_piece(all.list[i], ret);
        sort_list(ret->list, ret->n, sizeof(*ret->list), compare_u64);
        return r;
}

bool pieces_are_alike(const struct pieces *a, const struct pieces *b)
{
        size_t common = 0;

        for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
                bool is_common = a->list[i] == b->list[k], is_first = a->list[i] < b->list[k];

                common += is_common;
                i += is_common || is_first;
                k += !is_first;
        }
        return MIN(a->n, b->n) >= ALIKE_LEAST && common * 4 >= 3 * MAX(a->n, b->n);
}

/* -- a finding's data -- */

static void read_culprit(struct workspace *w, struct solver *s, struct finding_choice *c)
{
        cleanup_localized struct localized *localization = NULL;

        if (finding_localization(w, s, c->finding, &localization) < 0)
                return;
        if (localized_is_final(localization) && localization->n == 1 && version_is_commit(localization->culprits[0].commit))
                snprintf(c->culprit, sizeof(c->culprit), "%s", localization->culprits[0].commit);
}

static int read_reduced(struct workspace *w, struct solver *s, struct finding_choice *c)
{
        cleanup_reduction struct reduction r = {0};
        const struct buffer *shown;
        int k;

        if (finding_reduced(w, s, c->finding, &r) < 0)
                return 0;
        shown = r.implied.size > 0 ? &r.implied : &r.text;
        c->reduced = shown->size;
        c->is_cut_off = !r.is_minimal;
        k = formula_skeleton(SLICE(shown->data, shown->size), &c->skeleton);
        return k == -ENOMEM ? k : 0; /* a text that does not parse has no skeleton */
}

/* The signature's third field: "kind, version, logic, …". */
static void read_logic(struct finding_choice *c)
{
        const char *at = c->finding->signature;
        char logic[64];

        for (int i = 0; at && i < 2; i++)
                at = strchr(at, '\t') ? strchr(at, '\t') + 1 : NULL;
        if (!at)
                return;
        snprintf(logic, sizeof(logic), "%.*s", (int)MIN(strcspn(at, "\t"), sizeof(logic) - 1), at);
        c->is_decidable = logic_is_decidable(logic);
}

static int read_input(struct workspace *w, struct finding_choice *c)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_blob struct blob b = {0};
        int r = cases_get(workspace_cases(w), c->finding->case_id, &info);

        if (r < 0)
                return r == -ENOENT ? 0 : r; /* the input is lost: size 0, no parts */
        c->size = info->size;
        r = cases_read_bytes(workspace_cases(w), info, SIZE_MAX, &b);
        if (r < 0)
                return r == -EILSEQ ? 0 : r; /* likewise its bytes */
        c->has_quantifier = memmem(b.data, b.size, "(forall", 7) || memmem(b.data, b.size, "(exists", 7);
        r = c->finding->kind == FINDING_SLOWDOWN ? formula_parts(SLICE(b.data, b.size), &c->parts) : 0;
        if (r == 0 && c->parts)
                r = formula_pieces(SLICE(b.data, b.size), &c->pieces);
        return r == -ENOMEM ? r : 0;
}

static int read_choice(struct workspace *w, struct solver *s, struct finding_choice *c)
{
        int r = read_input(w, c)
            ?: read_reduced(w, s, c)
            ?: finding_get_count(w, s->number, c->finding->number, &c->count);

        read_culprit(w, s, c);
        read_logic(c);
        return r;
}

/* -- ranking -- */

static double robustness(const struct finding_choice *c)
{
        unsigned pairs, shown = observation_pairs_shown(c->finding, &pairs);

        return pairs > 0 ? (double)shown / pairs : 0;
}

static uint64_t shown_size(const struct finding_choice *c)
{
        return c->reduced > 0 ? c->reduced : c->size;
}

static int by_rank(const void *a, const void *b)
{
        enum { WRONG, CRASHED, UNKNOWN, SLOW };
        static const int classes[N_FINDING_KINDS] = {[FINDING_SOUNDNESS] = WRONG,
                                                     [FINDING_CRASH] = CRASHED,
                                                     [FINDING_REGRESSION] = UNKNOWN,
                                                     [FINDING_IMPLICATION] = UNKNOWN,
                                                     [FINDING_SLOWDOWN] = SLOW};
        const struct finding_choice *x = a, *y = b;
        int class = classes[x->finding->kind];

        return ORDER(class, classes[y->finding->kind])
            ?: (class == UNKNOWN ? ORDER(x->has_quantifier, y->has_quantifier) : 0)
            ?: (class == UNKNOWN ? ORDER(y->is_decidable, x->is_decidable) : 0)
            ?: (class == SLOW ? ORDER(robustness(y), robustness(x)) : 0)
            ?: (class >= UNKNOWN ? ORDER(shown_size(x), shown_size(y)) : 0)
            ?: ORDER(x->finding->number, y->finding->number);
}

/* -- groups -- */

/* The same kind, versions and commit: one cause is possible. A finding that is not localized may have the other's commit. A contradiction or a crash
 * without a signature is one of its own. */
static bool may_be_one(const struct finding_choice *a, const struct finding_choice *b)
{
        const struct observation *f = a->finding, *g = b->finding;
        bool may_be_one_commit = !*a->culprit || !*b->culprit || strcmp(a->culprit, b->culprit) == 0;

        return f->kind == g->kind && f->measure == g->measure && (f->kind == FINDING_SLOWDOWN || (*f->signature && *g->signature)) &&
               may_be_one_commit && strcmp(f->reference, g->reference) == 0 && strcmp(f->target, g->target) == 0;
}

static bool is_reduced(const struct finding_choice *c)
{
        return c->skeleton && !c->is_cut_off;
}

/* True if the representative `a` stands for `b`. The skeleton of a fully reduced input is all that matters in it; without one, what is in the whole
 * input counts, too: a slow input made from a slow one needs no cause of its own. */
static bool represents(const struct finding_choice *a, const struct finding_choice *b)
{
        if (*a->finding->signature && strcmp(a->finding->signature, b->finding->signature) == 0)
                return true;
        if (!may_be_one(a, b))
                return false;
        if (a->skeleton && b->skeleton && strcmp(a->skeleton, b->skeleton) == 0)
                return true;
        return !is_reduced(b) && ((a->skeleton && b->parts && shape_occurs(a->skeleton, b->parts)) ||
                                  (!is_reduced(a) && pieces_are_alike(&a->pieces, &b->pieces)));
}

/* Moves the findings that each representative stands for right behind it. One that is not localized gets the commit of the first of them that is. */
static void gather(struct finding_choice *list, size_t n)
{
        for (size_t at = 0, end; at < n; at = end) { /* a group from `at` to `end` */
                struct finding_choice *representative = &list[at];

                representative->is_representative = true;
                end = at + 1;
                for (size_t i = end; i < n; i++) {
                        struct finding_choice member = list[i];

                        if (!represents(representative, &member))
                                continue;
                        memmove(&list[end + 1], &list[end], (i - end) * sizeof(*list));
                        list[end++] = member;
                        representative->count += member.count;
                        if (!*representative->culprit)
                                memcpy(representative->culprit, member.culprit, sizeof(member.culprit));
                }
        }
}

/* -- all of them -- */

void finding_choices_free(struct finding_choice *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                observation_unref(list[i].finding);
                free(list[i].skeleton);
                free(list[i].parts);
                free(list[i].pieces.list);
        }
        free(list);
}

int findings_select(struct workspace *w, struct solver *s, struct finding_choice **ret, size_t *ret_n)
{
        cleanup_observations struct observations all = {0};
        struct finding_choice *list;
        int r = observations_read(w, s->number, NULL, &all);

        if (r < 0)
                return r;
        list = allocate(all.n + 1, sizeof(*list));
        for (size_t i = 0; i < all.n; i++)
                list[i].finding = observation_ref(all.list[i]);
        for (size_t i = 0; r == 0 && i < all.n; i++)
                r = read_choice(w, s, &list[i]);
        if (r < 0) {
                finding_choices_free(list, all.n);
                return r;
        }
        sort_list(list, all.n, sizeof(*list), by_rank);
        gather(list, all.n);
        *ret = list;
        *ret_n = all.n;
        return 0;
}
