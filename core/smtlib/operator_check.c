/* Checks an application against its operator's signature, and finds its sort. */
#include "core/smtlib/smtlib_internal.h"

/* The sorts and widths found for the places of a signature. */
struct places {
        const struct sort *same, *array, *floats, *bits; /* bits: PLACE_BITVEC */
        bool has_real, has_unknown;
        uint32_t widths[3]; /* of PLACE_BITVEC and the two others; 0: not known */
        uint64_t width_sum; /* sum over all bit-vectors */
};

/* The sorts that a place can hold, by enum place_sort. */
static const struct place_row {
        uint8_t kind, result_kind; /* the kind for places of one sort; that of results of several sorts; SORT_UNKNOWN: neither */
        const char *name;          /* for messages */
} place_rows[PLACE_ASCRIBED + 1] = {
        [PLACE_BOOL] = {SORT_BOOL, 0, "Bool"},
        [PLACE_INT] = {SORT_INT, 0, "Int"},
        [PLACE_REAL] = {SORT_REAL, 0, "Real"},
        [PLACE_NUMBER] = {0, 0, "Int or Real"},
        [PLACE_STRING] = {SORT_STRING, 0, "String"},
        [PLACE_REGLAN] = {SORT_REGLAN, 0, "RegLan"},
        [PLACE_ROUNDING_MODE] = {SORT_ROUNDING_MODE, 0, "RoundingMode"},
        [PLACE_SAME] = {0, 0, "the sort of the arguments before it"},
        [PLACE_BITVEC] = {0, SORT_BITVEC, "a bit-vector as wide as the others"},
        [PLACE_BITVEC_2] = {0, 0, "a bit-vector"},
        [PLACE_BITVEC_3] = {0, 0, "a bit-vector"},
        [PLACE_FLOAT] = {0, SORT_FLOAT, "a floating-point number of the others' format"},
        [PLACE_ARRAY] = {0, SORT_ARRAY, "an array"},
        [PLACE_INDEX] = {0, 0, "the array's index sort"},
        [PLACE_ELEMENT] = {0, 0, "the array's element sort"},
        [PLACE_CONVERTED] = {0, 0, "a bit-vector or a number"},
        [PLACE_BIT] = {0, 0, "(_ BitVec 1)"},
        [PLACE_BITVEC_SUM ... PLACE_BITVEC_INDEX] = {0, SORT_BITVEC, NULL},
        [PLACE_FLOAT_INDEX ... PLACE_FLOAT_PARTS] = {0, SORT_FLOAT, NULL},
        [PLACE_FLOAT_BITS] = {0, SORT_BITVEC, NULL},
        [PLACE_ASCRIBED] = {0, SORT_ARRAY, NULL},
};

/* Equal sorts, or numbers: then the sort of all is Real if that of one is. A sort that is known replaces one that is not. */
static bool fits_same(struct places *p, const struct sort *s)
{
        bool is_first = !p->same || p->same->kind == SORT_UNKNOWN;

        if (s == p->same)
                return true;
        if (!is_first && !sort_agrees(p->same, s) && !(sort_is_number(p->same) && sort_is_number(s)))
                return false;
        if (is_first || s->kind == SORT_REAL || (p->same->has_unknown && s->kind != SORT_UNKNOWN && s->kind != SORT_INT))
                p->same = s;
        return true;
}

/* `which`: 0 for PLACE_BITVEC, all of whose places have one width; 1 and 2 for the two others, which take any. */
static bool fits_width(struct places *p, size_t which, const struct sort *s)
{
        uint32_t *width = &p->widths[which];

        if (s->kind != SORT_BITVEC || (*width != 0 && which == 0 && *width != s->index[0]))
                return false;
        *width = s->index[0];
        p->bits = s;
        p->width_sum += s->index[0];
        return true;
}

static bool fits(struct places *p, enum place_sort place, const struct sort *s)
{
        if (s->kind == SORT_UNKNOWN) {
                p->has_unknown = true;
                return true;
        }
        p->has_real |= s->kind == SORT_REAL;
        if (place_rows[place].kind != SORT_UNKNOWN)
                return s->kind == place_rows[place].kind || (place == PLACE_REAL && s->kind == SORT_INT);
        switch ((int)place) {
        case PLACE_NUMBER:
                return sort_is_number(s);
        case PLACE_SAME:
                return fits_same(p, s);
        case PLACE_BITVEC:
        case PLACE_BITVEC_2:
        case PLACE_BITVEC_3:
                return fits_width(p, place - PLACE_BITVEC, s);
        case PLACE_BIT:
                return s->kind == SORT_BITVEC && s->index[0] == 1;
        case PLACE_FLOAT:
                if (s->kind != SORT_FLOAT || (p->floats && p->floats != s))
                        return false;
                p->floats = s;
                return true;
        case PLACE_ARRAY:
                p->array = s;
                return s->kind == SORT_ARRAY;
        case PLACE_INDEX:
        case PLACE_ELEMENT:
                return !p->array || sort_takes(p->array->args[place == PLACE_ELEMENT], s);
        case PLACE_CONVERTED:
                return s->kind == SORT_BITVEC || s->kind == SORT_FLOAT || sort_is_number(s);
        case PLACE_ANY:
                return true;
        default: /* only in results */
                return false;
        }
}

static const struct sort *width_or_unknown(struct bank *b, const struct places *p, uint64_t width)
{
        if (p->has_unknown)
                return sort_simple(b, SORT_UNKNOWN);
        if (width > UINT32_MAX) {
                bank_errorf(b, "a bit-vector of more than %u bits", UINT32_MAX);
                return NULL;
        }
        return sort_bitvec(b, (uint32_t)width);
}

static const struct sort *extracted(struct bank *b, const struct places *p, const uint32_t index[2])
{
        if (index[0] < index[1] || (!p->has_unknown && index[0] >= p->widths[1])) {
                bank_errorf(b, "no bits %u to %u in a bit-vector of %u", index[0], index[1], p->widths[1]);
                return NULL;
        }
        return sort_bitvec(b, index[0] - index[1] + 1); /* known, whatever the argument's width is */
}

static const struct sort *result_sort(struct bank *b, enum place_sort result, const struct places *p, const uint32_t index[2],
                                      const struct sort *ascribed)
{
        const struct sort *unknown = b->simple[SORT_UNKNOWN];

        if (place_rows[result].kind != SORT_UNKNOWN)
                return b->simple[place_rows[result].kind];
        switch ((int)result) {
        case PLACE_NUMBER:
                return b->simple[p->has_real ? SORT_REAL : p->has_unknown ? SORT_UNKNOWN : SORT_INT];
        case PLACE_SAME:
                return p->same ? p->same : unknown;
        case PLACE_BITVEC:
                return p->bits ? p->bits : unknown;
        case PLACE_FLOAT:
                return p->floats ? p->floats : unknown;
        case PLACE_ARRAY:
                return p->array ? p->array : unknown;
        case PLACE_ELEMENT:
                return p->array ? p->array->args[1] : unknown;
        case PLACE_BIT:
                return sort_bitvec(b, 1);
        case PLACE_BITVEC_SUM:
                return width_or_unknown(b, p, p->width_sum);
        case PLACE_BITVEC_EXTRACT:
                return extracted(b, p, index);
        case PLACE_BITVEC_REPEAT:
                return width_or_unknown(b, p, (uint64_t)p->widths[1] * index[0]);
        case PLACE_BITVEC_EXTEND:
                return width_or_unknown(b, p, (uint64_t)p->widths[1] + index[0]);
        case PLACE_BITVEC_INDEX:
                return sort_bitvec(b, index[0]);
        case PLACE_FLOAT_INDEX:
                return sort_float(b, index[0], index[1]);
        case PLACE_FLOAT_PARTS:
                return p->has_unknown || p->widths[2] == UINT32_MAX ? unknown : sort_float(b, p->widths[1], p->widths[2] + 1);
        case PLACE_FLOAT_BITS:
                return p->floats ? width_or_unknown(b, p, (uint64_t)p->floats->index[0] + p->floats->index[1]) : unknown;
        case PLACE_ASCRIBED:
                return ascribed;
        default: /* only in arguments */
                return unknown;
        }
}

static int wrong_argument(struct bank *b, enum op op, size_t at, enum place_sort place, const struct sort *is)
{
        cleanup_buffer struct buffer text = {0};

        sort_print(is, &text);
        return bank_errorf(b, "argument %zu of %s is %s, and should be %s", at + 1, operator_row(op)->name,
                           text.data, place_rows[place].name ?: "another sort");
}

/* The index of the first argument that does not fit; `n` if all fit. */
static size_t first_wrong(const struct operator_row *row, const struct term *const *args, size_t n, struct places *ret)
{
        size_t last = row->shape == SHAPE_FIXED ? OPERATOR_ARGS_MOST - 1 : 1; /* the place of all arguments from there on */

        for (size_t i = 0; i < n; i++)
                if (!fits(ret, row->args[MIN(i, last)], args[i]->sort))
                        return i;
        return n;
}

static int check_ascribed(struct bank *b, enum op op, const struct sort *ascribed, const struct sort *arg)
{
        const char *name = operator_row(op)->name;

        if (!ascribed || (ascribed->kind != SORT_ARRAY && ascribed->kind != SORT_UNKNOWN))
                return bank_errorf(b, "%s needs its sort: ((as %s (Array …)) …)", name, name);
        if (ascribed->kind == SORT_ARRAY && !sort_takes(ascribed->args[1], arg))
                return wrong_argument(b, op, 0, PLACE_ELEMENT, arg);
        return 0;
}

int operator_check(struct bank *b, enum op op, const uint32_t index[2], size_t n_index, const struct term *const *args, size_t n,
                   const struct sort *ascribed, const struct sort **ret)
{
        const struct operator_row *row = operator_row(op);
        struct places p = {0};
        size_t wrong;
        int r;

        if (n_index < row->indices_least || n_index > row->indices_most)
                return bank_errorf(b, "%s takes %u ind%s; %zu given", row->name, row->indices_least,
                                   row->indices_least == 1 ? "ex" : "ices", n_index);
        if (!operator_takes(op, n) && row->shape != SHAPE_FIXED)
                return bank_errorf(b, "%s takes two arguments or more; %zu given", row->name, n);
        if (!operator_takes(op, n))
                return bank_errorf(b, "%s takes %zu argument%s; %zu given", row->name, operator_n_args(op),
                                   operator_n_args(op) == 1 ? "" : "s", n);
        wrong = first_wrong(row, args, n, &p);
        if (wrong < n)
                return wrong_argument(b, op, wrong, row->args[MIN(wrong, operator_n_args(op) - 1)], args[wrong]->sort);
        if (row->result == PLACE_ASCRIBED && (r = check_ascribed(b, op, ascribed, args[0]->sort)) < 0)
                return r;
        *ret = result_sort(b, row->result, &p, index, ascribed);
        return *ret ? 0 : -EINVAL;
}

size_t operators_of(struct bank *b, const struct term *const *args, size_t n, const struct sort *result, enum op *ret)
{
        size_t found = 0;

        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const struct operator_row *row = operator_row(op);
                struct places p = {0};

                if (row->indices_least > 0 || row->result == PLACE_ASCRIBED || (row->flags & (OPERATOR_EXTENSION | OPERATOR_RARE)))
                        continue;
                if (!operator_takes(op, n) || (row->shape != SHAPE_FIXED && n < 2) || (n > 2 && row->flags & OPERATOR_IN_PAIRS))
                        continue;
                if (first_wrong(row, args, n, &p) == n && result_sort(b, row->result, &p, NULL, NULL) == result)
                        ret[found++] = op;
        }
        return found;
}

bool place_can_hold(enum place_sort place, const struct sort *sort)
{
        return place == PLACE_SAME || place == PLACE_ELEMENT || (place == PLACE_NUMBER && sort_is_number(sort)) ||
               (place == PLACE_BIT && sort->kind == SORT_BITVEC && sort->index[0] == 1) ||
               (sort->kind != SORT_UNKNOWN && (place_rows[place].kind == sort->kind || place_rows[place].result_kind == sort->kind));
}

enum sort_kind place_kind(enum place_sort place)
{
        return place_rows[place].kind ?: place_rows[place].result_kind;
}

size_t operators_to(const struct sort *result, enum op *ret)
{
        size_t n = 0;

        for (enum op op = OP_NONE + 1; op < N_OPS; op++)
                if (place_can_hold(operator_row(op)->result, result))
                        ret[n++] = op;
        return n;
}
