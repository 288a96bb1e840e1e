/* solverfs portfolio features: what portfolios learn from, and which of it tells arms apart. */
#include "core/portfolio/feature_study.h"
#include "core/portfolio/portfolio.h"
#include "core/smtlib/feature.h"
#include "words.h"

#include <math.h>

struct options {
        bool list;
        const char *correlation, *select;
        unsigned seeds;
        double limit; /* of a table; 0: 60 */
        struct words words;
};

static void parse_limit(void *to, const char *text)
{
        double *limit = to;
        char *end;

        *limit = strtod(text, &end);
        if (end == text || *end || !(*limit > 0) || !isfinite(*limit))
                command_usage("--limit '%s' is no number of seconds greater than zero", text);
}

static void list_features(void)
{
        static const struct column columns[] = {{"FORMAT", 8, false}, {"FEATURE", 28, false}, {"MEANING", 0, false}};

        for (int cnf = 0; cnf < 2; cnf++) {
                size_t n;
                const struct feature *table = cnf ? cnf_features(&n) : smt_features(&n);

                for (size_t i = 0; i < n; i++)
                        output_row(columns, ARRAY_SIZE(columns),
                                   (const char *[]){cnf ? "cnf" : "smt2", table[i].name, table[i].meaning});
        }
}

static int print_cases(struct workspace *w, const struct options *o)
{
        cleanup_case_selection struct case_selection cases = {0};
        int r = command_cases(w, o->words.list, o->words.n, &cases), status = STATUS_OK;

        for (size_t i = 0; i < cases.n && r == STATUS_OK; i++) {
                cleanup_buffer struct buffer text = {0}, rows = {0};
                int k = case_features_print(w, cases.list[i], &text);

                if (k < 0) {
                        complain("case %u: %s", cases.list[i]->id, error_message(k));
                        status = MAX(status, k == -EINVAL ? STATUS_FAILED : STATUS_SYSTEM);
                        continue;
                }
                for (char *next = text.data, *line; next && (line = strsep(&next, "\n")) && *line;)
                        if (cases.n == 1)
                                buffer_addf(&rows, "%s\n", line);
                        else
                                buffer_addf(&rows, "%u\t%s\n", cases.list[i]->id, line);
                output_write(&rows);
        }
        return MAX(r, status);
}

/* A recorded table, or what the store knows of a portfolio's arms. */
static int get_table(const char *name, double *limit, struct run_table **ret)
{
        cleanup_workspace struct workspace *w = NULL;
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_case_selection struct case_selection cases = {0};
        char all[] = "all", *words[] = {all};
        size_t left_out;
        int r;

        if (strchr(name, '/') || access(name, F_OK) == 0) {
                *limit = *limit > 0 ? *limit : 60;
                r = run_table_read(name, ret);
                return r < 0 ? fail_as(r == -EINVAL ? STATUS_USAGE : status_of(r), r) : STATUS_OK;
        }
        r = command_open(STORE_READ_ONLY, &w);
        if (r != STATUS_OK)
                return r;
        r = portfolio_open(w, name, &p);
        if (r < 0)
                return fail(r);
        *limit = (double)p->wall_ns / NSEC_PER_SEC;
        r = command_cases(w, words, 1, &cases);
        if (r != STATUS_OK)
                return r;
        r = portfolio_table(w, p, cases.list, cases.n, ret, &left_out);
        if (r < 0)
                return fail(r);
        if (left_out > 0)
                note("%zu %s left out: not every arm has a run of its own there", left_out, left_out == 1 ? "case" : "cases");
        return STATUS_OK;
}

static int correlate(const struct options *o)
{
        static const struct column columns[] = {{"FEATURE", 28, false},
                                                {"ARM", 16, false},
                                                {"OTHER", 16, false},
                                                {"CORRELATION", 12, true},
                                                {"QUERIES", 8, true}};
        cleanup_run_table struct run_table *t = NULL;
        double limit = o->limit;
        int r = get_table(o->correlation, &limit, &t);

        if (r != STATUS_OK)
                return r;
        for (size_t j = 0; j < t->features; j++)
                for (size_t a = 0; a < t->arms; a++)
                        for (size_t b = a + 1; b < t->arms; b++) {
                                size_t n;
                                double c = feature_correlation(t, j, a, b, limit, &n);

                                if (isnan(c))
                                        continue;
                                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%s\t%.4f\t%zu", t->feature[j], t->arm[a], t->arm[b], c, n);
                        }
        return STATUS_OK;
}

static const struct column step_columns[] = {{"FEATURE", 28, false}, {"STATE", 8, false}, {"PAR-2", 12, true}};

static void show_step(void *user, const char *without, double par2)
{
        (void)user;
        output_rowf(step_columns, ARRAY_SIZE(step_columns), "%s\tdropped\t%.1f", without, par2);
}

static int select_features(const struct options *o)
{
        cleanup_run_table struct run_table *t = NULL;
        cleanup_free bool *kept = NULL;
        double limit = o->limit, par2;
        int r = get_table(o->select, &limit, &t);

        if (r != STATUS_OK)
                return r;
        kept = calloc(t->features + 1, sizeof(*kept));
        if (!kept)
                return fail(-ENOMEM);
        const struct run_table *tables[] = {t};
        r = feature_select(&(struct replay){.tables = tables, .n = 1, .seeds = o->seeds, .learner = {.limit = limit, .seed = 1}},
                           kept, &par2, show_step, NULL);
        if (r < 0)
                return fail_as(r == -EINVAL ? STATUS_USAGE : STATUS_SYSTEM, r);
        for (size_t j = 0; j < t->features; j++)
                if (kept[j])
                        output_rowf(step_columns, ARRAY_SIZE(step_columns), "%s\tkept\t%.1f", t->feature[j], par2);
        return STATUS_OK;
}

int cmd_portfolio_features(int argc, char **argv)
{
        static const char doc[] =
                "Print the features of cases: the numbers that portfolios learn from (features.tsv in the mount).\v"
                "A TABLE is as for 'solverfs portfolio replay'. A portfolio's facts are those 'solverfs portfolio run NAME CASE... --alone' left.\n\n"
                "Example: solverfs portfolio features --correlation BV.tsv | sort -t '\t' -k 4 -g";
        cleanup_workspace struct workspace *w = NULL;
        struct options o = {.seeds = 5};
        int r;
        const struct command_option options[] = {
                {"list", 'l', NULL, "Say what each feature means", .on = &o.list},
                {"correlation", 'c', "TABLE|NAME",
                 "Correlate each with the difference of each two arms' times, in a recorded table or a portfolio's facts", .text = &o.correlation},
                {"select", 's', "TABLE|NAME", "Drop features, one after the other, as long as a replay gets no worse", .text = &o.select},
                {"seeds", 'n', "N", "Replays for each step of --select; 5 unless told", .number = &o.seeds, .least = 1, .most = 1000},
                {"limit", 'L', "SECONDS", "Of a table; 60 unless told", .parse = parse_limit, .to = &o.limit},
                {0}};

        command_parse(argc, argv, "[CASE...]", doc, options, &o.words);
        if (o.words.n == 0 && !o.list && !o.correlation && !o.select)
                command_usage("no case given");
        if (o.list)
                list_features();
        if (o.correlation)
                return correlate(&o);
        if (o.select)
                return select_features(&o);
        if (o.words.n == 0)
                return STATUS_OK;
        r = command_open(STORE_READ_ONLY, &w);
        return r == STATUS_OK ? print_cases(w, &o) : r;
}
