/* Each feature and its description; there is no other. */
#include "core/smtlib/feature_internal.h"

#include <pthread.h>

/* One for each enum smt_feature; the operators' follow. */
#define SMT_FEATURE(number, ...) [number] = {__VA_ARGS__},
static struct feature smt[N_SMT_FEATURES + N_OPS - 1] = {
#include "core/smtlib/feature_list.h"
};

#define CNF_FEATURE(number, ...) [number] = {__VA_ARGS__},
static const struct feature cnf[N_CNF_FEATURES] = {
#include "core/smtlib/feature_list.h"
};

/* Names and meanings of the operators' features: of all, once. */
static char operator_names[N_OPS][64], operator_meanings[N_OPS][96];

/* A name that several operators share says how many arguments it is about. */
static void name_operators(void)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const char *name = operator_row(op)->name;
                struct feature *f = &smt[N_SMT_FEATURES + op - 1];
                char *text = operator_names[op], *meaning = operator_meanings[op];
                size_t n = (size_t)snprintf(text, sizeof(operator_names[op]), "op:%s", name);

                if (operator_next(operator_find(slice_string(name))) != OP_NONE)
                        snprintf(text + n, sizeof(operator_names[op]) - n, "/%zu", operator_n_args(op));
                snprintf(meaning, sizeof(operator_meanings[op]), "distinct applications of %s", text + 3);
                f->name = text;
                f->meaning = meaning;
        }
}

const struct feature *smt_features(size_t *ret_n)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, name_operators);
        *ret_n = ARRAY_SIZE(smt);
        return smt;
}

const struct feature *cnf_features(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(cnf);
        return cnf;
}

void features_done(struct features *f)
{
        free(f->values);
        *f = (struct features){0};
}

void features_print(const struct feature *table, const struct features *f, struct buffer *ret)
{
        for (size_t i = 0; i < f->n; i++)
                buffer_addf(ret, "%s\t%.12g\n", table[i].name, f->values[i]);
}
