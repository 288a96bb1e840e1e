/* What a mutant costs beside the solvers: chains of a campaign for unknowns, without any run.
 *
 *     mutants FILE.smt2…
 *     mutants --write DIR STEPS FILE.smt2…    one chain of each file, in ALL, that brings in no quantifier: DIR/<file>.<step>.smt2, step 0 first
 *
 * A line: files, mutants, and of each mutant the microseconds of CPU time to read (of the chain's seed, spread over it), to mutate with its check
 * of sorts, and to print; then mutants a second. */
#include <stdio.h>
#include <time.h>

#include "core/smtlib/print.h"
#include "core/weaken/weaken.h"

#define CHAINS 4
#define STEPS  25

static double cpu_seconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct costs {
        double reading, mutating, printing;
        size_t mutants, bytes;
};

static int run_chain(const struct weaken *w, struct slice text, uint64_t seed, struct costs *c)
{
        const struct weaken_options options = {.size_most = 100000};
        cleanup_script struct script *now = NULL;
        struct random random;
        double t = cpu_seconds();
        int r = script_read(text, NULL, &now);

        c->reading += cpu_seconds() - t;
        random_seed(&random, seed);
        for (unsigned i = 0; r == 0 && i < STEPS; i++) {
                cleanup_buffer struct buffer out = {0};
                struct script *next = NULL;

                t = cpu_seconds();
                r = weaken_step(w, now, seed % 2 ? WEAKEN : STRENGTHEN, &random, &options, &next, NULL);
                c->mutating += cpu_seconds() - t;
                if (r < 0)
                        break;
                script_free(now);
                now = next;
                t = cpu_seconds();
                r = script_print(now, NULL, &out);
                c->printing += cpu_seconds() - t;
                c->mutants++;
                c->bytes += out.size;
        }
        return r == -ENOENT ? 0 : r;
}

/* -- chains as files -- */

static bool is_free_of_quantifiers(void *user, const struct term *t)
{
        (void)user;
        return !t->has_quantifier;
}

/* So that solvers read what rules bring in. */
static void set_logic_all(struct script *s)
{
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_SET_LOGIC)
                        s->commands[i].text = slice_string("(set-logic ALL)");
}

static int write_script(const struct script *s, const char *dir, const char *name, unsigned step)
{
        cleanup_buffer struct buffer out = {0};
        char path[PATH_SIZE];
        int r = script_print(s, NULL, &out);

        if (snprintf(path, sizeof(path), "%s/%s.%u.smt2", dir, name, step) >= (int)sizeof(path))
                return -ENAMETOOLONG;
        return r < 0 ? r : write_file_atomic(path, out.data, out.size, 0644);
}

static int write_chain(const struct weaken *w, const char *file, const char *dir, unsigned steps)
{
        const struct weaken_options options = {.size_most = 100000, .keeps = is_free_of_quantifiers};
        const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
        enum weaken_direction direction = strncmp(name, "unsat", 5) == 0 ? STRENGTHEN : WEAKEN;
        cleanup_blob struct blob text = {0};
        cleanup_script struct script *now = NULL;
        struct random random;
        int r = read_file(file, SIZE_MAX, &text);

        if (r == 0)
                r = script_read(SLICE(text.data, text.size), NULL, &now);
        if (r == 0)
                set_logic_all(now);
        if (r == 0)
                r = write_script(now, dir, name, 0);
        random_seed(&random, 1);
        for (unsigned i = 1; r == 0 && i <= steps; i++) {
                struct script *next = NULL;

                r = weaken_step(w, now, direction, &random, &options, &next, NULL);
                if (r < 0)
                        break;
                script_free(now);
                now = next;
                r = write_script(now, dir, name, i);
        }
        return r == -ENOENT ? 0 : r;
}

static int write_chains(const struct weaken *w, int argc, char **argv)
{
        unsigned steps = (unsigned)strtoul(argv[3], NULL, 10);
        int r = 0;

        for (int i = 4; r == 0 && i < argc; i++) {
                r = write_chain(w, argv[i], argv[2], steps);
                if (r < 0)
                        fprintf(stderr, "mutants: %s: %s\n", argv[i], error_message(r));
        }
        return r < 0;
}

int main(int argc, char **argv)
{
        cleanup_weaken struct weaken *w = NULL;
        struct costs c = {0};
        int r = weaken_new(NULL, 0, &w);

        if (r == 0 && argc > 4 && strcmp(argv[1], "--write") == 0)
                return write_chains(w, argc, argv);
        for (int i = 1; r == 0 && i < argc; i++) {
                cleanup_blob struct blob text = {0};

                r = read_file(argv[i], SIZE_MAX, &text);
                for (uint64_t k = 0; r == 0 && k < CHAINS; k++)
                        r = run_chain(w, SLICE(text.data, text.size), k, &c);
                if (r < 0)
                        fprintf(stderr, "mutants: %s: %s\n", argv[i], error_message(r));
        }
        if (r < 0 || c.mutants == 0) {
                fprintf(stderr, "usage: mutants FILE.smt2...\n");
                return 1;
        }
        printf("%d files, %zu mutants of %zu bytes: read %.0f us, mutate %.0f us, print %.0f us; %.0f a second\n", argc - 1,
               c.mutants, c.bytes / c.mutants, 1e6 * c.reading / (double)c.mutants, 1e6 * c.mutating / (double)c.mutants,
               1e6 * c.printing / (double)c.mutants, (double)c.mutants / (c.reading + c.mutating + c.printing));
        return 0;
}
