/* portfolios/: choices among solvers that learn. A portfolio's inode has the number of its name in `item`; a case in it, and the case's files, have
 * that number in `commit` and the case in `item`. */
#include "fs/routes/routes.h"

#include <sys/stat.h>

#include "core/portfolio/portfolio.h"

enum {
        KIND_PORTFOLIOS = 176,
        KIND_PORTFOLIO,
        KIND_PORTFOLIO_ARMS,
        KIND_PORTFOLIO_SCORE,
        KIND_PORTFOLIO_CASES = 181,
        KIND_PORTFOLIO_CASE,
        KIND_TRIAL_RESULT = 184,
};

static int portfolio_get(struct tree *t, uint32_t number, struct portfolio **ret)
{
        cleanup_free char *name = NULL;
        int r = tree_name(t, NAMES_PORTFOLIO, number, &name) ?: portfolio_open(tree_workspace(t), name, ret);

        return r == -EINVAL ? errorf(-EIO, "%s", error_message(r)) : r;
}

/* -- portfolios/<name> -- */

static int names(struct tree *t, const struct node *, char ***ret, size_t *ret_n)
{
        return portfolio_names(tree_workspace(t), ret, ret_n);
}

static int portfolio_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_portfolio struct portfolio *p = NULL;
        int r = portfolio_get(t, n->inode.item, &p);

        if (r < 0)
                return r;
        return n->inode.kind == KIND_PORTFOLIO_ARMS    ? portfolio_print_arms(tree_workspace(t), p, ret)
               : n->inode.kind == KIND_PORTFOLIO_SCORE ? portfolio_print_score(tree_workspace(t), p, ret)
                                                       : portfolio_plot_score(tree_workspace(t), p, ret);
}

static int note_newest(void *user, const char *folder, const char *name)
{
        char path[PATH_SIZE];
        struct stat st;

        if (path_join(path, folder, name) == 0 && stat(path, &st) == 0)
                *(int64_t *)user = MAX(*(int64_t *)user, st.st_mtime);
        return 0;
}

/* The store's last write: a trial, the run of an arm alone, a case's status, a reset and the definition all change these files. */
static int portfolio_mtime(struct tree *t, const struct node *, int64_t *ret)
{
        const char *store = store_dir(workspace_store(tree_workspace(t)));
        char journal[PATH_SIZE];
        int r = path_join(journal, store, "journal");

        note_newest(ret, store, "config");
        return r < 0 ? r : folder_each(journal, note_newest, ret);
}

/* -- portfolios/<name>/cases/<case> -- */

static int trial_has(struct tree *t, const struct node *, uint32_t id)
{
        return case_is_listed(t, id) ? 0 : -ENOENT;
}

static enum trial_file trial_file_of(const struct node *n)
{
        static const enum trial_file files[] = {TRIAL_RESULT, TRIAL_TIME, TRIAL_SOLVER, TRIAL_ORDER};

        return files[n->inode.kind - KIND_TRIAL_RESULT];
}

static int trial_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_trial struct trial *trial = NULL;
        int r = portfolio_get(t, n->inode.commit, &p) ?: trial_find(tree_workspace(t), p, n->inode.item, &trial);

        if (r == 0)
                trial_print(p, trial, trial_file_of(n), ret);
        return r;
}

static int trial_answer(struct tree *t, const struct node *n, struct value *v, struct buffer *ret)
{
        cleanup_portfolio struct portfolio *p = NULL;
        int r = portfolio_get(t, n->inode.commit, &p);

        if (r == 0)
                trial_print(p, ((struct trial_value *)v)->trial, trial_file_of(n), ret);
        return r;
}

static int trial_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return portfolio_get(t, n->inode.commit, &p)
            ?: cases_get(workspace_cases(tree_workspace(t)), n->inode.item, &info)
            ?: query_trial(tree_workspace(t), p, info, ret);
}

/* A reset or another definition changes a case's files: they are compared at each open. */
#define TRIAL_FILE                                                                                                               \
        IN(KIND_PORTFOLIO_CASE), .type = NODE_COMPUTED, .moves = true, .rewritten = true, .starts = true, .content = trial_text, \
                                 .query = trial_query, .answer = trial_answer, .mtime = case_mtime

#define LIVE_FILE .type = NODE_LIVE, .moves = true, .rewritten = true, .content = portfolio_text, .mtime = portfolio_mtime

static const struct route rows[] = {
        {KIND_PORTFOLIOS, IN(KIND_ROOT), .name = "portfolios", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = any_listing, .about = "choices among solvers that learn: solverfs portfolio add NAME ARM..."},
        {KIND_PORTFOLIO, IN(KIND_PORTFOLIOS), .shown = "<portfolio>", .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_FOREVER, .names = names, .space = NAMES_PORTFOLIO, .about = "one of them"},
        {KIND_PORTFOLIO_ARMS, IN(KIND_PORTFOLIO), .name = "arms.tsv", LIVE_FILE,
         .about = "what it chooses among"},
        {KIND_PORTFOLIO_SCORE, IN(KIND_PORTFOLIO), .name = "score.tsv", LIVE_FILE,
         .about = "PAR-2 and solved against each arm alone and the virtual best; never starts work"},
        {180, IN(KIND_PORTFOLIO), .name = "score.svg", LIVE_FILE,
         .about = "PAR-2 over the cases as they came; never starts work"},
        {KIND_PORTFOLIO_CASES, IN(KIND_PORTFOLIO), .name = "cases", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = cases_listing, .about = "what it answers"},
        {KIND_PORTFOLIO_CASE, IN(KIND_PORTFOLIO_CASES), .shown = "<case>", .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_FOREVER, .below_item = true, .has = trial_has, .numbers = case_ids, .mtime = case_mtime,
         .about = "by id"},
        {183, IN(KIND_PORTFOLIO_CASES), .shown = "<name>", .type = NODE_LINK, .moves = true,
         .below_item = true, .match = case_name_match, .list = no_entries, .content = case_name_target, .mtime = case_mtime,
         .about = "a case's name, found and not listed"},
        {KIND_TRIAL_RESULT, TRIAL_FILE, .name = "result", .about = "sat, unsat, unknown or timeout"},
        {185, TRIAL_FILE, .name = "time", .about = "seconds of all arms together"},
        {186, TRIAL_FILE, .name = "solver", .about = "the arm that answered; none"},
        {187, TRIAL_FILE, .name = "order.tsv",
         .about = "the arms' turns: until when each might run, how long it did, what came of it"},
};

const struct subtree portfolios_subtree = {rows, ARRAY_SIZE(rows)};
