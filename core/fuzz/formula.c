#include "core/fuzz/formula.h"

#include "core/smtlib/print.h"

void formula_done(struct formula *f)
{
        script_free(f->script);
        cnf_free(f->cnf);
        *f = (struct formula){0};
}

struct formula formula_copy(const struct formula *f)
{
        cleanup_bank struct bank *bank = f->cnf ? NULL : bank_new();
        struct formula copy = {.cnf = f->cnf ? cnf_copy(f->cnf) : NULL};

        if (bank)
                script_copy(f->script, bank, &copy.script);
        return copy;
}

int formula_print(const struct formula *f, enum dialect d, struct buffer *ret)
{
        return f->cnf ? cnf_print(f->cnf, ret) : script_print(f->script, &(struct print_options){.dialect = d}, ret);
}

struct shape formula_shape(const struct formula *f)
{
        return f->cnf ? shape_of_cnf(f->cnf) : shape_of(f->script);
}
