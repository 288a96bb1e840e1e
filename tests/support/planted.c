#include "tests/support/planted.h"

#include <math.h>

#include "core/smtlib/print.h"

#define ANY UINT32_MAX

/* An operator that has another one for an argument, which has a third one. */
static const struct {
        const char *name;
        enum op ops[3];
        uint32_t at[2]; /* which argument, or ANY */
} causes[PLANTED_CAUSES] = {
        {"len of replace by concat", {OP_STR_LEN, OP_STR_REPLACE, OP_STR_CONCAT}, {0, 2}},
        {"index in substring of concat", {OP_STR_INDEXOF, OP_STR_SUBSTR, OP_STR_CONCAT}, {0, 0}},
        {"member of star of union", {OP_STR_IN_RE, OP_RE_STAR, OP_RE_UNION}, {1, 0}},
        {"intersection with complement of star", {OP_RE_INTER, OP_RE_COMP, OP_RE_STAR}, {ANY, 0}},
        {"contains concat of substring", {OP_STR_CONTAINS, OP_STR_CONCAT, OP_STR_SUBSTR}, {0, ANY}},
        {"prefix of replaced concat", {OP_STR_PREFIXOF, OP_STR_REPLACE, OP_STR_CONCAT}, {1, 0}},
        {"number of a character of a substring", {OP_STR_TO_INT, OP_STR_AT, OP_STR_SUBSTR}, {0, 0}},
        {"numeral of a difference of lengths", {OP_STR_FROM_INT, OP_MINUS, OP_STR_LEN}, {0, ANY}},
        {"concat with numeral of a length", {OP_STR_CONCAT, OP_STR_FROM_INT, OP_STR_LEN}, {ANY, 0}},
        {"replace in replaced character", {OP_STR_REPLACE, OP_STR_REPLACE, OP_STR_AT}, {0, 0}},
        {"suffix at an index", {OP_STR_SUFFIXOF, OP_STR_SUBSTR, OP_STR_INDEXOF}, {ANY, 1}},
        {"star of loop of union", {OP_RE_STAR, OP_RE_LOOP, OP_RE_UNION}, {0, 0}},
        {"optional range in sequence", {OP_RE_CONCAT, OP_RE_OPT, OP_RE_RANGE}, {ANY, 0}},
        {"length of conditional word", {OP_GE, OP_STR_LEN, OP_ITE}, {ANY, 0}},
        {"concat not containing", {OP_NOT, OP_STR_CONTAINS, OP_STR_CONCAT}, {0, 0}},
        {"not a prefix of substring", {OP_NOT, OP_STR_PREFIXOF, OP_STR_SUBSTR}, {0, ANY}},
        {"equal to concat of conditional", {OP_EQUAL, OP_STR_CONCAT, OP_ITE}, {ANY, ANY}},
        {"concat of characters in order", {OP_STR_LT, OP_STR_CONCAT, OP_STR_AT}, {ANY, ANY}},
        {"sum with length of replace_all", {OP_PLUS, OP_STR_LEN, OP_STR_REPLACE_ALL}, {ANY, 0}},
        {"union of repeated ranges", {OP_RE_UNION, OP_RE_PLUS, OP_RE_RANGE}, {ANY, 0}},
        {"length of concat modulo", {OP_MOD, OP_STR_LEN, OP_STR_CONCAT}, {0, 0}},
        {"multiple of an index in replaced", {OP_TIMES, OP_STR_INDEXOF, OP_STR_REPLACE}, {ANY, 0}},
        {"replace_all by numeral", {OP_EQUAL, OP_STR_REPLACE_ALL, OP_STR_FROM_INT}, {ANY, ANY}},
        {"sum of codes of characters", {OP_PLUS, OP_STR_TO_CODE, OP_STR_AT}, {ANY, 0}},
        {"character is no digit", {OP_NOT, OP_STR_IS_DIGIT, OP_STR_AT}, {0, 0}},
        {"member of difference with star", {OP_STR_IN_RE, OP_RE_DIFF, OP_RE_STAR}, {1, ANY}},
        {"replace_re of union of star", {OP_STR_REPLACE_RE, OP_RE_UNION, OP_RE_STAR}, {1, ANY}},
        {"power of union of ranges", {OP_RE_POWER, OP_RE_UNION, OP_RE_RANGE}, {0, ANY}},
        {"concat in one of languages", {OP_OR, OP_STR_IN_RE, OP_STR_CONCAT}, {ANY, 0}},
        {"negated equality under and", {OP_AND, OP_NOT, OP_EQUAL}, {ANY, 0}},
        {"exclusive membership in sequence", {OP_XOR, OP_STR_IN_RE, OP_RE_CONCAT}, {ANY, 1}},
        {"character of a sum with length", {OP_STR_FROM_CODE, OP_PLUS, OP_STR_LEN}, {0, ANY}},
        {"nested stars", {OP_RE_STAR, OP_RE_CONCAT, OP_RE_STAR}, {0, ANY}},
        {"substring of substring of substring", {OP_STR_SUBSTR, OP_STR_SUBSTR, OP_STR_SUBSTR}, {0, 0}},
        {"difference with length of substring", {OP_MINUS, OP_STR_LEN, OP_STR_SUBSTR}, {ANY, 0}},
        {"substring at index of concat", {OP_STR_SUBSTR, OP_STR_INDEXOF, OP_STR_CONCAT}, {1, 1}},
        {"sequence with union of everything", {OP_RE_CONCAT, OP_RE_UNION, OP_RE_ALL}, {ANY, ANY}},
        {"character contained implies", {OP_IMPLIES, OP_STR_CONTAINS, OP_STR_AT}, {ANY, ANY}},
        {"distinct nested concats", {OP_DISTINCT, OP_STR_CONCAT, OP_STR_CONCAT}, {ANY, ANY}},
        {"character at difference of lengths", {OP_STR_AT, OP_MINUS, OP_STR_LEN}, {1, ANY}},
};

const char *planted_name(unsigned cause)
{
        return causes[cause].name;
}

static bool has(const struct term *t, unsigned cause, unsigned level)
{
        if (!term_is(t, causes[cause].ops[level]))
                return false;
        if (level == 2)
                return true;
        for (uint32_t i = 0; i < t->n_args; i++)
                if ((causes[cause].at[level] == ANY || causes[cause].at[level] == i) && has(t->args[i], cause, level + 1))
                        return true;
        return false;
}

static uint64_t walk(const struct script *s, double *ret_size)
{
        uint64_t found = 0;

        *ret_size = 0;
        for (size_t i = 0; i < s->n_commands; i++) {
                cleanup(term_list_done) struct term_list all = {0};

                if (s->commands[i].kind != COMMAND_ASSERT)
                        continue;
                term_subterms(&s->commands[i].term, 1, &all);
                *ret_size += (double)all.n;
                for (size_t k = 0; k < all.n; k++)
                        for (unsigned c = 0; c < PLANTED_CAUSES; c++)
                                if (has(all.list[k], c, 0))
                                        found |= UINT64_C(1) << c;
        }
        return found;
}

uint64_t planted_causes(const struct script *s)
{
        double size;

        return walk(s, &size);
}

double planted_seconds(const struct script *s, unsigned version, double timeout)
{
        double size, seconds, noise;
        uint64_t found = walk(s, &size);
        cleanup_buffer struct buffer text = {0};
        uint32_t hash = 2166136261u + version;

        script_print(s, NULL, &text);
        for (size_t i = 0; i < text.size; i++)
                hash = (hash ^ (uint8_t)text.data[i]) * 16777619u;
        noise = (double)(hash % 1000) / 1000;
        /* Large formulas are hard for every version, each in its own way. */
        seconds = 0.02 + 0.002 * size + (hash / 1000 % 100 < size / 20 ? timeout * (double)(hash / 100000 % 100) / 50 : 0);
        found &= (UINT64_C(1) << version) - 1;
        for (; found != 0; found &= found - 1)
                seconds += timeout * (0.6 + 0.1 * (double)(__builtin_ctzll(found) % 7));
        return fmin(timeout, seconds * (0.97 + 0.06 * noise));
}
