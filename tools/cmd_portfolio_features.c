/* solverfs portfolio features: what portfolios learn from. */
#include "core/portfolio/portfolio.h"
#include "core/smtlib/feature.h"
#include "words.h"

static void list_features(void)
{
        static const struct column columns[] = {{"FORMAT", 8, false}, {"FEATURE", 28, false}, {"MEANING", 0, false}};

        for (int cnf = 0; cnf < 2; cnf++) {
                size_t n;
                const struct feature *table = cnf ? cnf_features(&n) : smt_features(&n);

                for (size_t i = 0; i < n; i++)
                        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%s", cnf ? "cnf" : "smt2", table[i].name, table[i].meaning);
        }
}

static void print_cases(const struct words *words)
{
        cleanup_case_selection struct case_selection cases = {0};

        command_cases(words->list, words->n, &cases);
        for (size_t i = 0; i < cases.n; i++) {
                cleanup_buffer struct buffer text = {0}, rows = {0};
                int k = case_features_print(common.workspace, cases.list[i], &text);

                if (k < 0) {
                        complain("case %u: %s", cases.list[i]->id, error_message(k));
                        command_worse(k == -EINVAL ? STATUS_FAILED : STATUS_SYSTEM);
                        continue;
                }
                for (char *next = text.data, *line; next && (line = strsep(&next, "\n")) && *line;)
                        if (cases.n == 1)
                                buffer_addf(&rows, "%s\n", line);
                        else
                                buffer_addf(&rows, "%u\t%s\n", cases.list[i]->id, line);
                output_write(&rows);
        }
}

void cmd_portfolio_features(int argc, char **argv)
{
        static const char doc[] =
                "Print the features of cases: the numbers that portfolios learn from (features.tsv in the mount).\v"
                "Example: solverfs portfolio features QF_S/";
        bool list = false;
        const struct command_option options[] = {{"list", 'l', NULL, "Say what each feature means", .on = &list}, {0}};
        struct words words = command_parse(argc, argv, "[CASE...]", doc, options);

        if (words.n == 0 && !list)
                command_usage("no case given");
        if (list)
                list_features();
        if (words.n == 0)
                return;
        command_open(STORE_READ_ONLY);
        print_cases(&words);
}
