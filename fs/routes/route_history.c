/* <solver>/cases/: what is known of each case along the whole history. The case is in `item`. */
#include "fs/routes/routes.h"

#include <inttypes.h>
#include <time.h>

#include "core/run/cell_file.h"

enum {
        KIND_SOLVER_CASES = 72,
        KIND_SOLVER_CASE,
        KIND_SOLVER_CASE_NAME,
        KIND_HISTORY_TSV,
};

static MATCH(solver_case_match)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        uint64_t id;
        int r;

        if (!parse_name_number(name, INODE_ITEM_MAX, &id))
                return -ENOENT;
        r = cases_get(workspace_cases(tree_workspace(t)), (uint32_t)id, &info);
        if (r == 0 && info->format != dir->solver->recipe->format)
                r = -ENOENT;
        ret->inode.item = (uint32_t)id;
        return r;
}

static LIST(solver_case_entries)
{
        return tree_emit_cases(t, dir, row, from, solver_case_ids, fn, user);
}

/* -- history.tsv -- */

static void print_date(struct buffer *b, int64_t seconds)
{
        time_t time = (time_t)seconds;
        struct tm tm;
        char text[32];

        gmtime_r(&time, &tm);
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
        buffer_adds(b, text);
}

/* `f` NULL: the commit cannot be built. */
static void print_row(struct buffer *b, const struct commit *c, const struct case_info *info, const struct fact *f)
{
        char sha[GIT_OID_HEXSZ + 1], wall[32], cpu[32];

        buffer_addf(b, "%s\t", git_oid_tostr(sha, sizeof(sha), &c->oid));
        print_date(b, c->committed);
        buffer_adds(b, "\t");
        cell_results(f, b);
        if (!f) {
                buffer_adds(b, "\t-\t-\t-\t-\n");
                return;
        }
        format_seconds(f->wall_ns, wall);
        format_seconds(f->cpu_ns, cpu);
        buffer_addf(b, "\t%s\t%s\t%" PRIu64 "\t%s\n", wall, cpu, f->memory,
                    f->wrong                          ? "WRONG"
                    : info->status != VERDICT_UNKNOWN ? "correct"
                                                      : "-");
}

/* The row of a commit, if anything is known of it; *newest is raised to the time of what is known. */
static int add_row(struct tree *t, const struct cell *cell, struct buffer *b, int64_t *newest)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct commit c;
        int r = run_find(tree_workspace(t), cell, true, &f);

        if (r == -ENOENT) {
                if (build_find(tree_workspace(t), cell->solver, cell->commit, false, &record) < 0 || record->ok)
                        return 0;
                r = 0;
        }
        if (r == 0)
                r = history_commit(cell->solver->history, cell->commit, &c);
        if (r < 0)
                return r;
        *newest = MAX(*newest, f ? f->measured : record->started);
        print_row(b, &c, cell->info, f);
        return 0;
}

static int known_numbers(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n)
{
        return commits_known(tree_workspace(t), n->solver, ret, ret_n);
}

static bool is_known(const struct numbers *known, uint32_t commit)
{
        size_t i = numbers_from(known, commit);

        return i < known->n && known->list[i] == commit;
}

static int history_print(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup(numbers_unrefp) struct numbers *known = NULL;
        struct node of = {.inode = {.kind = KIND_SOLVER_CASES, .view = n->inode.view}, .solver = n->solver};
        struct cell cell;
        int r = tree_cell(t, n, &cell, &info);

        if (r == 0)
                r = tree_numbers(t, &of, 0, known_numbers, &known); /* the same for all cases */
        if (r == 0)
                r = history_order(n->solver->history, &order);
        if (r < 0)
                return r;
        *ret_mtime = info->added;
        buffer_adds(ret, "commit\tdate\tresult\ttime\tcputime\tmemory\tanswer\n");
        for (uint32_t i = 0; r == 0 && i < order->n; i++)
                if (is_known(known, order->list[i])) {
                        cell.commit = order->list[i];
                        r = add_row(t, &cell, ret, ret_mtime);
                }
        return r;
}

static CONTENT(history_content)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, history_print, &d);

        if (r == 0)
                buffer_add(ret, d->text.data, d->text.size);
        return r;
}

static int history_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, history_print, &d);

        if (r == 0)
                *ret = d->text.size;
        return r;
}

static int history_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, history_print, &d);

        if (r == 0)
                *ret = d->mtime;
        return r;
}

/* -- the rows -- */

static const struct route rows[] = {
        {KIND_SOLVER_CASES, IN(KIND_SOLVER), .name = "cases", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = cases_listing, .about = "what is known of each case along the history; never starts work"},
        {KIND_SOLVER_CASE, IN(KIND_SOLVER_CASES), .shown = "<case>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_FOREVER,
         .match = solver_case_match, .list = solver_case_entries, .mtime = case_mtime, .about = "a case, by its id"},
        {KIND_SOLVER_CASE_NAME, IN(KIND_SOLVER_CASES), .shown = "<name>", .type = NODE_LINK, .moves = true,
         .match = case_name_match, .list = no_entries, .content = case_name_target, .mtime = case_mtime},
        {KIND_HISTORY_TSV, IN(KIND_SOLVER_CASE), .name = "history.tsv", .type = NODE_FILE, .moves = true, .rewritten = true,
         .content = history_content, .size = history_size, .mtime = history_mtime,
         .about = "every finished measurement of it, in the order of the history"},
};

const struct subtree history_subtree = {rows, ARRAY_SIZE(rows)};
