/* compare/: two versions on the same cases, from finished results. <solver>/compare/<a>..<b> on all cases; compare/<solver>@<a>..<solver>@<b> across
 * solvers; the same in sets/<set>/compare on the set's cases.
 *
 * Any two revisions can be looked up, without leaving a trace; comparisons that `solverfs compare` has made are listed. The inode of a comparison has
 * the first commit in `commit` and the second in `item`. Outside a solver's folder `more` has the numbers of the two solvers; below a set `view`,
 * which nothing else there uses, has the number of the set's name plus 1. */
#include "fs/routes/routes.h"

#include "core/study/compare/comparison_report.h"

enum {
        KIND_COMPARE = 320, /* <solver>/compare */
        KIND_PAIR,
        KIND_ACROSS = 328, /* compare */
        KIND_ACROSS_PAIR,
        KIND_SET_COMPARE = 331, /* sets/<set>/compare */
        KIND_SET_PAIR,
};

#define SOLVER_BITS 16

/* -- the two versions of a node ----------------------------------------------------------------------------------- */

static void versions_done(struct comparing_version v[2])
{
        solver_unref(v[0].solver);
        solver_unref(v[1].solver);
}

static int get_versions(struct tree *t, const struct node *n, struct comparing_version ret[2])
{
        const uint32_t numbers[2] = {n->inode.more >> SOLVER_BITS, n->inode.more & ((1u << SOLVER_BITS) - 1)};
        int r = 0;

        ret[0] = (struct comparing_version){.commit = n->inode.commit};
        ret[1] = (struct comparing_version){.commit = n->inode.item};
        for (int side = 0; side < 2 && r == 0; side++)
                if (n->solver)
                        ret[side].solver = solver_ref(n->solver);
                else
                        r = workspace_solver_by_number(tree_workspace(t), numbers[side], &ret[side].solver);
        if (r < 0)
                versions_done(ret);
        return r == -ENOENT ? -ESTALE : r;
}

static int set_inode(const struct node *dir, const struct comparing_version v[2], struct inode *ret)
{
        if (v[0].commit > INODE_COMMIT_MAX || v[1].commit > INODE_ITEM_MAX)
                return errorf(-EOVERFLOW, "a commit's number is more than the mount can number (%u)", INODE_COMMIT_MAX);
        if (v[0].solver->number >> SOLVER_BITS || v[1].solver->number >> SOLVER_BITS)
                return errorf(-EOVERFLOW, "a solver's number is more than the mount can number (%u)", (1u << SOLVER_BITS) - 1);
        if (dir->route->kind == KIND_SET_COMPARE)
                ret->view = dir->inode.item + 1; /* the set */
        ret->commit = v[0].commit;
        ret->item = v[1].commit;
        if (!dir->solver)
                ret->more = v[0].solver->number << SOLVER_BITS | v[1].solver->number;
        return 0;
}

/* -- names: <a>..<b>, and <solver>@<a>..<solver>@<b> -------------------------------------------------------------- */

static int add_name(const struct comparing_version v[2], bool with_solvers, struct buffer *ret)
{
        int r = 0;

        for (int side = 0; side < 2 && r == 0; side++) {
                if (side)
                        buffer_adds(ret, "..");
                if (with_solvers)
                        buffer_addf(ret, "%s@", v[side].solver->recipe->name);
                r = commit_name(v[side].solver, v[side].commit, ret);
        }
        return r;
}

/* Parses one half of a name: a revision, outside a solver's folder behind "<solver>@". Modifies `revision`. */
static int parse_version(struct tree *t, const struct node *dir, char *revision, struct comparing_version *ret)
{
        char *at = strchr(revision, '@');
        int r = 0;

        if (dir->solver) {
                ret->solver = solver_ref(dir->solver);
        } else {
                if (!at)
                        return -ENOENT;
                *at = '\0';
                r = workspace_solver(tree_workspace(t), revision, &ret->solver);
                revision = at + 1;
        }
        if (r == 0)
                r = history_resolve(ret->solver->history, revision, &ret->commit);
        return r == -EINVAL ? -ENOENT : r; /* not a revision: no such file */
}

/* A comparison is a folder under its full name; every other spelling is a link to it. */
static int pair_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        cleanup_free char *copy = copy_string(name);
        cleanup_buffer struct buffer full = {0};
        struct comparing_version v[2] = {0};
        char *dots = strstr(copy, "..");
        int r;

        if (!dots || dots == copy || !dots[2])
                return -ENOENT;
        *dots = '\0';
        r = parse_version(t, dir, copy, &v[0])
            ?: parse_version(t, dir, dots + 2, &v[1])
            ?: set_inode(dir, v, &ret->inode)
            ?: add_name(v, !dir->solver, &full);
        if (r == 0 && (strcmp(full.data, name) == 0) != (route_of(ret->inode.kind)->type == NODE_FOLDER))
                r = -ENOENT;
        versions_done(v);
        return r;
}

static int pair_link_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        struct comparing_version v[2];
        int r = get_versions(t, n, v);

        if (r < 0)
                return r;
        r = add_name(v, !n->solver, ret);
        versions_done(v);
        return r;
}

/* -- listings: comparisons that the command has made -------------------------------------------------------------- */

/* The versions of a noted comparison; -ENOENT: a solver or a commit of it is gone. Call versions_done() in either case. */
static int noted_versions(struct tree *t, const struct comparing_noted *noted, struct comparing_version ret[2])
{
        int r = 0;

        for (int side = 0; side < 2 && r == 0; side++)
                r = workspace_solver_by_number(tree_workspace(t), noted->solver[side], &ret[side].solver)
                    ?: history_number(ret[side].solver->history, &noted->commit[side], &ret[side].commit);
        return r;
}

/* True if the comparison belongs in this folder; `set`: that of the folder, or "". */
static bool belongs_in(const struct node *dir, const char *set, const struct comparing_noted *noted)
{
        if (dir->route->kind == KIND_COMPARE)
                return !*noted->set && noted->solver[0] == dir->solver->number && noted->solver[1] == dir->solver->number;
        if (dir->route->kind == KIND_ACROSS)
                return !*noted->set && noted->solver[0] != noted->solver[1];
        return strcmp(noted->set, set) == 0;
}

static int emit_noted(struct tree *t, const struct node *dir, const struct route *row, const struct comparing_noted *noted,
                      uint32_t number, entry_fn fn, void *user)
{
        struct comparing_version v[2] = {0};
        cleanup_buffer struct buffer name = {0};
        struct inode inode = inode_below(dir, row);
        int r = noted_versions(t, noted, v) ?: set_inode(dir, v, &inode) ?: add_name(v, !dir->solver, &name);

        if (r == 0)
                r = tree_emit(row, name.data, inode, number, fn, user);
        else if (r == -ENOENT || r == -EOVERFLOW)
                r = 0;
        versions_done(v);
        return r;
}

static int pair_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup_free char *set = NULL;
        int r = dir->route->kind == KIND_SET_COMPARE ? tree_name(t, NAMES_SET, dir->inode.item, &set) : 0;

        for (uint32_t i = (uint32_t)from; r == 0; i++) {
                cleanup_comparing_noted struct comparing_noted noted = {0};

                r = comparing_noted_at(tree_workspace(t), i, &noted);
                if (r == -ENOENT)
                        return 0;
                if (r == 0 && belongs_in(dir, set ? set : "", &noted))
                        r = emit_noted(t, dir, row, &noted, i, fn, user);
        }
        return r;
}

/* sets/<set>/compare exists for every set, but is listed only if there are comparisons, so that a loop over a set's cases finds only cases. */
static int set_compare_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        return strcmp(name, "compare") == 0 ? 0 : -ENOENT;
}

static int set_compare_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        cleanup_free char *set = NULL;
        int r = from > 0 ? -ENOENT : tree_name(t, NAMES_SET, dir->inode.item, &set);

        for (uint32_t i = 0; r == 0; i++) {
                cleanup_comparing_noted struct comparing_noted noted = {0};

                r = comparing_noted_at(tree_workspace(t), i, &noted);
                if (r == 0 && strcmp(noted.set, set) == 0)
                        return tree_emit(row, "compare", inode_below(dir, row), 0, fn, user);
        }
        return r == -ENOENT ? 0 : r;
}

/* -- files -------------------------------------------------------------------------------------------------------- */

static int compare(struct tree *t, const struct node *n, const char *set, struct comparing **ret)
{
        struct comparing_options options = {.workspace = tree_workspace(t), .set = set, .scramble = COMPARING_SCRAMBLE_KNOWN, .most_pairs = JUDGE_PAIRS};
        cleanup_case_selection struct case_selection cases = {0};
        int r = get_versions(t, n, options.version);

        if (r < 0)
                return r;
        r = comparing_cases(options.workspace, set, options.version, &cases);
        options.cases = cases.list;
        options.n = cases.n;
        if (r == 0)
                r = comparing_new(&options, ret) ?: comparing_read(*ret);
        versions_done(options.version);
        return r;
}

static void print_file(const char *name, const struct comparing_table *table, struct buffer *ret)
{
        if (strcmp(name, "summary.tsv") == 0)
                comparison_write_summary(table, ret);
        else if (strcmp(name, "regressions.tsv") == 0)
                comparison_write_changes(table, COMPARISON_REGRESSIONS, ret);
        else if (strcmp(name, "improvements.tsv") == 0)
                comparison_write_changes(table, COMPARISON_IMPROVEMENTS, ret);
        else if (strcmp(name, "set.tsv") == 0)
                comparison_write_set(table, ret);
        else if (strcmp(name, "families.tsv") == 0)
                comparison_write_families(table, ret);
        else if (strcmp(name, "cactus.svg") == 0)
                comparison_plot_cactus(table, ret);
        else
                comparison_plot_scatter(table, strcmp(name, "memory-scatter.svg") == 0, COMPARISON_SCATTER_WIDTH, ret);
}

/* The time of the newest fact, or of the newer commit if there is no fact. */
static int newest_of(const struct comparing_table *table, int64_t *ret)
{
        *ret = table->newest;
        for (int side = 0; side < 2 && table->newest == 0; side++) {
                struct commit c;
                int r = history_commit(table->options->version[side].solver->history, table->options->version[side].commit, &c);

                if (r < 0)
                        return r;
                *ret = MAX(*ret, commit_mtime(&c));
        }
        return 0;
}

static int print_comparison(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup_comparing struct comparing *c = NULL;
        cleanup_free char *set = NULL;
        int r = n->inode.view != 0 && !n->solver ? tree_name(t, NAMES_SET, n->inode.view - 1, &set) : 0;

        if (r == 0)
                r = compare(t, n, set, &c);
        if (r < 0)
                return r;
        print_file(n->route->name, comparing_table(c), ret);
        return newest_of(comparing_table(c), ret_mtime);
}

#define PAIR_FILE   IN(KIND_PAIR), DERIVED(print_comparison)
#define ACROSS_FILE IN(KIND_ACROSS_PAIR, KIND_SET_PAIR), DERIVED(print_comparison)

static const struct route rows[] = {
        {KIND_COMPARE, IN(KIND_SOLVER), .name = "compare", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "any two revisions on all cases, from what is finished; never starts work"},
        {KIND_PAIR, IN(KIND_COMPARE), .shown = "<a>..<b>", .type = NODE_FOLDER, .absent = ABSENT_FOREVER, .match = pair_match,
         .list = pair_entries, .about = "those that 'solverfs compare' made are listed"},
        {322, IN(KIND_COMPARE), .shown = "<a>..<b>", .type = NODE_LINK, .moves = true, .match = pair_match,
         .list = no_entries, .content = pair_link_target},
        {323, PAIR_FILE, .name = "summary.tsv", .about = "answers, PAR-2, flips; how many changed"},
        {339, PAIR_FILE, .name = "set.tsv",
         .about = "time, CPU time, memory, effort and seconds per effort of all cases together, with intervals"},
        {340, PAIR_FILE, .name = "families.tsv", .about = "the same of each folder of cases"},
        {324, PAIR_FILE, .name = "regressions.tsv",
         .about = "what is worse in <b>, significantly; wrong answers first"},
        {325, PAIR_FILE, .name = "improvements.tsv", .about = "what is better"},
        {326, PAIR_FILE, .name = "scatter.svg", .about = "each case's seconds at <a> and at <b>"},
        {341, PAIR_FILE, .name = "memory-scatter.svg", .about = "each case's memory"},
        {327, PAIR_FILE, .name = "cactus.svg", .about = "how many cases are solved in how many seconds each"},
        {KIND_ACROSS, IN(KIND_ROOT), .name = "compare", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "the same across solvers"},
        {KIND_ACROSS_PAIR, IN(KIND_ACROSS), .shown = "<solver>@<a>..<solver>@<b>", .type = NODE_FOLDER, .absent = ABSENT_FOREVER,
         .match = pair_match, .list = pair_entries, .about = "the files of <solver>/compare/<a>..<b>"},
        {330, IN(KIND_ACROSS), .shown = "<solver>@<a>..<solver>@<b>", .type = NODE_LINK, .moves = true,
         .match = pair_match, .list = no_entries, .content = pair_link_target},
        {KIND_SET_COMPARE, IN(KIND_SET), .shown = "compare", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_NOT,
         .match = set_compare_match, .list = set_compare_entries, .generation = any_listing,
         .about = "two versions on its cases: <solver>@<a>..<solver>@<b>"},
        {KIND_SET_PAIR, IN(KIND_SET_COMPARE), .shown = "<solver>@<a>..<solver>@<b>", .type = NODE_FOLDER,
         .absent = ABSENT_FOREVER, .match = pair_match, .list = pair_entries},
        {333, IN(KIND_SET_COMPARE), .shown = "<solver>@<a>..<solver>@<b>", .type = NODE_LINK, .moves = true,
         .match = pair_match, .list = no_entries, .content = pair_link_target},
        {334, ACROSS_FILE, .name = "summary.tsv"},
        {335, ACROSS_FILE, .name = "regressions.tsv"},
        {336, ACROSS_FILE, .name = "improvements.tsv"},
        {337, ACROSS_FILE, .name = "scatter.svg"},
        {338, ACROSS_FILE, .name = "cactus.svg"},
        {342, ACROSS_FILE, .name = "set.tsv"},
        {343, ACROSS_FILE, .name = "families.tsv"},
        {344, ACROSS_FILE, .name = "memory-scatter.svg"},
};

const struct subtree compare_subtree = {rows, ARRAY_SIZE(rows)};
