#include "core/fuzz/formula.h"

#include "core/smtlib/print.h"

void formula_done(struct formula *f)
{
        script_free(f->script);
        cnf_free(f->cnf);
        *f = (struct formula){0};
}

int formula_copy(const struct formula *f, struct formula *ret)
{
        cleanup_bank struct bank *bank = bank_new();

        *ret = (struct formula){0};
        if (f->cnf)
                ret->cnf = cnf_copy(f->cnf);
        else
                script_copy(f->script, bank, &ret->script);
        return 0;
}

int formula_print(const struct formula *f, enum dialect d, struct buffer *ret)
{
        return f->cnf ? cnf_print(f->cnf, ret) : script_print(f->script, &(struct print_options){.dialect = d}, ret);
}

int formula_shape(const struct formula *f, struct shape *ret)
{
        return f->cnf ? shape_of_cnf(f->cnf, ret) : shape_of(f->script, ret);
}
