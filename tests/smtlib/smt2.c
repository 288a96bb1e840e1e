/* The reader and the printer from a shell.
 *
 *     smt2 print [DIALECT] FILE     what is printed of a file
 *     smt2 check FILE…              read, printed in each dialect, read again: are the terms the same? One line for each that is not
 *     smt2 bench FILE…              bytes a second of processor time, of tokenizing, reading, printing, features
 *     smt2 rate NAME FILE…          one line: bytes a second of reading these, again and again, and of giving their memory back
 *     smt2 features FILE            the lines of features.tsv
 *     smt2 scramble SEED FILE       the input scrambled; DIMACS where the name ends in .cnf */
#include <time.h>

#include "core/smtlib/feature.h"
#include "core/smtlib/print.h"
#include "core/smtlib/scramble.h"

/* Processor time: the machine may be busy otherwise. */
static uint64_t cpu_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static int load(const char *path, struct blob *ret)
{
        int r = read_file(path, SIZE_MAX / 2, ret);

        if (r < 0)
                fprintf(stderr, "%s: %s\n", path, error_message(r));
        return r;
}

static int read_script(const char *path, struct slice bytes, struct bank *b, enum dialect d, struct script **ret)
{
        struct script_options o = {.name = path, .dialect = d, .bank = b};
        int r = script_read(bytes, &o, ret);

        if (r < 0)
                fprintf(stderr, "%s\n", error_message(r));
        return r;
}

static int print(int argc, char **argv)
{
        enum dialect d = DIALECT_2_6;
        bool has_dialect = argc > 1 && dialect_parse(slice_string(argv[0]), &d) == 0;
        cleanup_script struct script *s = NULL;
        cleanup_buffer struct buffer text = {0};
        cleanup_blob struct blob bytes = {0};
        const char *path = argv[has_dialect];

        if (load(path, &bytes) < 0 || read_script(path, SLICE(bytes.data, bytes.size), NULL, DIALECT_2_6, &s) < 0)
                return 1;
        if (script_print(s, has_dialect ? &(struct print_options){.dialect = d} : NULL, &text) < 0)
                return 1;
        return fwrite(text.data, 1, text.size, stdout) == text.size ? 0 : 1;
}

static bool is_same(const struct script *a, const struct script *b)
{
        if (a->n_commands != b->n_commands)
                return false;
        for (size_t i = 0; i < a->n_commands; i++) {
                const struct command *x = &a->commands[i], *y = &b->commands[i];

                bool is_declaration =
                        x->kind == COMMAND_DECLARE_CONST && y->kind == COMMAND_DECLARE_FUN; /* 2.0 has one of them */

                if ((x->kind != y->kind && !is_declaration) || x->term != y->term || x->function != y->function ||
                    x->n_terms != y->n_terms)
                        return false;
                for (size_t k = 0; k < x->n_terms; k++)
                        if (x->terms[k] != y->terms[k])
                                return false;
        }
        return true;
}

static bool check(const char *path)
{
        cleanup_script struct script *s = NULL;
        cleanup_blob struct blob bytes = {0};
        bool ret = true;

        if (load(path, &bytes) < 0 || read_script(path, SLICE(bytes.data, bytes.size), NULL, DIALECT_2_6, &s) < 0)
                return false;
        for (enum dialect d = DIALECT_2_0; d < N_DIALECTS; d++) {
                cleanup_buffer struct buffer text = {0};
                cleanup_script struct script *again = NULL;

                if (script_print(s, &(struct print_options){.dialect = d}, &text) < 0 ||
                    read_script(path, SLICE(text.data, text.size), s->bank, d, &again) < 0 || !is_same(s, again)) {
                        printf("%s: not the same in %s\n", path, dialect_name(d));
                        ret = false;
                }
        }
        if (s->n_opaque_commands + s->n_opaque_terms > 0)
                printf("%s: %zu commands and %zu terms are opaque\n", path, s->n_opaque_commands, s->n_opaque_terms);
        return ret;
}

static void rate(const char *what, size_t bytes, uint64_t since)
{
        double seconds = (double)(cpu_ns() - since) / (double)NSEC_PER_SEC;

        printf("  %-10s %8.1f MB/s  (%.3f s)\n", what, (double)bytes / 1e6 / seconds, seconds);
}

static int bench(const char *path)
{
        cleanup_script struct script *s = NULL;
        cleanup_blob struct blob bytes = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup_features struct features f = {0};
        struct tokenizer t;
        struct token token;
        uint64_t since;
        size_t n = 0;

        if (load(path, &bytes) < 0)
                return 1;
        printf("%s: %.1f MB\n", path, (double)bytes.size / 1e6);
        since = cpu_ns();
        tokenizer_init(&t, SLICE(bytes.data, bytes.size), DIALECT_2_6);
        token_skip(&t, SIZE_MAX / 2);
        rate("skip", bytes.size, since);
        since = cpu_ns();
        tokenizer_init(&t, SLICE(bytes.data, bytes.size), DIALECT_2_6);
        while (token_next(&t, &token) != TOKEN_END)
                n++;
        rate("tokens", bytes.size, since);
        since = cpu_ns();
        if (read_script(path, SLICE(bytes.data, bytes.size), NULL, DIALECT_2_6, &s) < 0)
                return 1;
        rate("read", bytes.size, since);
        since = cpu_ns();
        if (script_print(s, NULL, &text) < 0)
                return 1;
        rate("print", text.size, since);
        since = cpu_ns();
        features_of_script(s, &f);
        rate("features", bytes.size, since);
        printf("  %zu tokens, %zu commands, %.1f MB of memory\n", n, s->n_commands, (double)bank_memory(s->bank) / 1e6);
        return 0;
}

/* -- rate: many small files, each read until the clock can tell -- */

#define SAMPLES_MOST  25
#define SAMPLES_LEAST 3
#define SAMPLE_NS     NSEC_PER_MSEC         /* one sample: as many readings as take this long */
#define FILE_NS       (20 * NSEC_PER_MSEC)  /* no sample more once a file took this long */

static double median(double *list, size_t n)
{
        sort_list(list, n, sizeof(*list), compare_doubles);
        return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

/* Seconds of one reading, of at least SAMPLE_NS of them. Negative: it does not parse. */
static double sample(const char *path, struct slice bytes)
{
        uint64_t since = cpu_ns(), took = 0;
        size_t n = 0;

        for (; took < SAMPLE_NS; took = cpu_ns() - since, n++) {
                cleanup_script struct script *s = NULL;

                if (read_script(path, bytes, NULL, DIALECT_2_6, &s) < 0)
                        return -1;
        }
        return (double)took / (double)n / (double)NSEC_PER_SEC;
}

static double seconds_of(const char *path, struct slice bytes)
{
        double samples[SAMPLES_MOST];
        uint64_t since = cpu_ns();
        size_t n = 0;

        for (; n < SAMPLES_LEAST || (n < SAMPLES_MOST && cpu_ns() - since < FILE_NS); n++)
                if ((samples[n] = sample(path, bytes)) < 0)
                        return -1;
        return median(samples, n);
}

static int rates(const char *name, size_t n, char **paths)
{
        cleanup_free double *list = calloc(n, sizeof(*list));
        double seconds = 0, bytes = 0;

        for (size_t i = 0; i < n; i++) {
                cleanup_blob struct blob b = {0};
                double took;

                if (!list || load(paths[i], &b) < 0 || (took = seconds_of(paths[i], SLICE(b.data, b.size))) < 0)
                        return 1;
                list[i] = (double)b.size / 1e6 / took;
                seconds += took;
                bytes += (double)b.size;
        }
        printf("%-12s %4zu file%s %7.3f MB: %6.1f MB/s in all", name, n, n == 1 ? " " : "s", bytes / 1e6, bytes / 1e6 / seconds);
        printf(", %6.1f the median file, ", median(list, n));
        printf("%6.1f the slowest, %6.1f the fastest\n", list[0], list[n - 1]);
        return 0;
}

static int features(const char *path)
{
        cleanup_features struct features f = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup_blob struct blob bytes = {0};
        size_t n;

        if (load(path, &bytes) < 0 || features_of_smt(SLICE(bytes.data, bytes.size), &f) < 0)
                return 1;
        features_print(smt_features(&n), &f, &text);
        return fwrite(text.data, 1, text.size, stdout) == text.size ? 0 : 1;
}

static int scramble(const char *seed, const char *path)
{
        cleanup_blob struct blob bytes = {0};
        cleanup_buffer struct buffer text = {0};
        size_t n = strlen(path);
        bool is_cnf = n > 4 && strcmp(path + n - 4, ".cnf") == 0;
        int r;

        if (load(path, &bytes) < 0)
                return 1;
        r = (is_cnf ? scramble_cnf : scramble_smt)(SLICE(bytes.data, bytes.size), strtoull(seed, NULL, 10), &text);
        if (r < 0) {
                fprintf(stderr, "%s: %s\n", path, error_message(r));
                return 1;
        }
        return fwrite(text.data, 1, text.size, stdout) == text.size ? 0 : 1;
}

int main(int argc, char **argv)
{
        const char *command = argc > 1 ? argv[1] : "--help";
        int bad = 0;

        if (argc >= 3 && strcmp(command, "print") == 0)
                return print(argc - 2, argv + 2);
        if (argc == 3 && strcmp(command, "features") == 0)
                return features(argv[2]);
        if (argc == 4 && strcmp(command, "scramble") == 0)
                return scramble(argv[2], argv[3]);
        if (argc > 3 && strcmp(command, "rate") == 0)
                return rates(argv[2], (size_t)argc - 3, argv + 3);
        if (argc < 3 || (strcmp(command, "check") != 0 && strcmp(command, "bench") != 0)) {
                puts("usage: smt2 print [2.0|2.5|2.6] FILE | check FILE... | bench FILE... | rate NAME FILE... | features FILE | "
                     "scramble SEED FILE");
                return strcmp(command, "--help") == 0 ? 0 : 2;
        }
        for (int i = 2; i < argc; i++)
                bad += command[0] == 'c' ? !check(argv[i]) : bench(argv[i]) != 0;
        if (command[0] == 'c')
                printf("%d files, %d differ or do not parse\n", argc - 2, bad);
        return bad > 0;
}
