/* Files over the whole history: <solver>/report.html, and those of <solver>/cases/<case>. The case is in `item`. */
#include "fs/routes/routes.h"

#include "core/study/steps/case_history.h"
#include "core/study/page/solver_report.h"

enum {
        KIND_SOLVER_CASES = 72,
        KIND_SOLVER_CASE,
        KIND_HISTORY_TSV = 75,
        KIND_MEMORY_HISTORY_SVG = 354,
};

/* -- history.tsv and history.svg -- */

/* The commits with any stored result, in the order of the history. */
static int known_in_order(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_free uint32_t *known = NULL;
        size_t n_known = 0;
        int r = history_order(n->solver->history, &order) ?: known_commits(t, n, &known, &n_known);

        if (r < 0)
                return r;
        *ret = allocate(n_known + 1, sizeof(**ret));
        for (uint32_t i = 0; i < order->n && *ret_n < n_known; i++)
                if (find_in_list(&order->list[i], known, n_known, sizeof(*known), compare_u32))
                        (*ret)[(*ret_n)++] = order->list[i];
        return 0;
}

int read_case_history(struct tree *t, const struct node *n, const struct cell *cell, enum judge_measure m, struct case_history *ret,
                      struct commit_order **ret_order)
{
        cleanup_numbers struct numbers commits = {0};
        /* One node for all cases: their commits are found once. No listing has a file's kind, so it keeps numbers for nothing else. */
        struct node all = {.inode = {.kind = KIND_HISTORY_TSV, .view = n->inode.view}, .solver = n->solver};
        int r = history_order(n->solver->history, ret_order) ?: tree_numbers(t, &all, 0, known_in_order, &commits);

        if (r < 0)
                return r;
        return case_history_read(tree_workspace(t), cell, commits.list, commits.n, (*ret_order)->n_line > 0 ? (*ret_order)->line : NULL,
                                 (*ret_order)->n_line, m, ret);
}

/* The table, or a picture. */
static int print_history(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_case_history struct case_history h = {0};
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info)
            ?: read_case_history(t, n, &cell, n->inode.kind == KIND_MEMORY_HISTORY_SVG ? JUDGE_MEMORY : JUDGE_TIME, &h, &order);

        *ret_mtime = h.newest;
        if (r < 0 || n->inode.kind != KIND_HISTORY_TSV)
                return r < 0 ? r : case_history_plot(&h, order->place, ret);
        case_history_heading(ret);
        for (size_t i = 0; r == 0 && i < h.n; i++)
                r = case_history_row(&h, i, false, ret);
        return r;
}

/* -- report.html -- */

static int print_report(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        return solver_report(&(struct solver_report_options){.workspace = tree_workspace(t), .solver = n->solver, .commits = commits_folder(t)}, ret,
                             ret_mtime);
}

static const struct route rows[] = {
        {212, IN(KIND_SOLVER), .name = "report.html", DERIVED(print_report),
         .about = "a page of all that is known of the solver, for a browser; never starts work"},
        {KIND_SOLVER_CASES, IN(KIND_SOLVER), .name = "cases", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = cases_listing, .about = "what is known of each case along the history; never starts work"},
        {KIND_SOLVER_CASE, IN(KIND_SOLVER_CASES), .shown = "<case>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_FOREVER,
         .has = case_has, .numbers = case_ids, .mtime = case_mtime, .about = "a case, by its id"},
        {74, IN(KIND_SOLVER_CASES), .shown = "<name>", .type = NODE_LINK, .moves = true,
         .match = case_name_match, .list = no_entries, .content = case_name_target, .mtime = case_mtime},
        {KIND_HISTORY_TSV, IN(KIND_SOLVER_CASE), .name = "history.tsv", DERIVED(print_history),
         .about = "every finished measurement of it, in the order of the history"},
        {76, IN(KIND_SOLVER_CASE), .name = "history.svg", DERIVED(print_history),
         .about = "the same as a picture: answers, and where it got slower or faster"},
        {KIND_MEMORY_HISTORY_SVG, IN(KIND_SOLVER_CASE), .name = "memory-history.svg", DERIVED(print_history),
         .about = "a picture of the memory that it took, and where that became more or less"},
};

const struct subtree history_subtree = {rows, ARRAY_SIZE(rows)};
