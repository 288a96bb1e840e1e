/* Prints N generated formulas and mutants without their checks, separated by (reset): dump N [SEED]. For parsers.sh. */
#include "core/fuzz/generate.h"
#include "core/smtlib/print.h"

static int print(const struct script *s)
{
        cleanup_buffer struct buffer b = {0};
        int r = script_print(s, NULL, &b);

        if (r == 0)
                printf("; input\n%s\n(reset)\n", b.data);
        return r;
}

/* Every operator and transformer once over a formula, each on what the one before made. */
static int print_mutants(struct generator *g, const struct script *s, unsigned *n, unsigned most)
{
        enum op ops[N_OPS];
        size_t actions = mutate_actions(g, s, ops);
        int r = 0;

        for (size_t i = 0; r == 0 && i < N_TRANSFORMS + actions && *n < most; i++) {
                cleanup_script struct script *with = NULL;

                r = i < N_TRANSFORMS ? mutate_transform(g, s, (enum transform)i, &with)
                                     : mutate_operator(g, s, ops[i - N_TRANSFORMS], &with);
                if (r == 0) {
                        r = print(with);
                        ++*n;
                } else if (r == -ENOENT) {
                        r = 0;
                }
        }
        return r;
}

int main(int argc, char **argv)
{
        unsigned most = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, n = 0;
        struct generator *g = NULL;
        int r = generator_new(&generate_defaults, argc > 2 ? (uint64_t)atoi(argv[2]) : 1, &g);

        while (r == 0 && n < most) {
                cleanup_script struct script *s = NULL;

                s = generate_formula(g);
                if (r == 0)
                        r = print(s);
                n++;
                if (r == 0)
                        r = print_mutants(g, s, &n, most);
        }
        if (r < 0)
                fprintf(stderr, "dump: %s\n", error_message(r));
        generator_free(g);
        return r < 0;
}
