/* <solver>/spr/campaigns and <solver>/incompleteness/campaigns: the campaigns. A campaign's inode has the number of its name in `item`. Files that a
 * running campaign writes are live: a mount of finished values has only the findings. */
#include "fs/routes/routes.h"

#include <limits.h>
#include <sys/stat.h>

#include "core/report/plot.h"
#include "core/study/observation/campaign_store.h"

enum {
        KIND_SPR_CAMPAIGNS = 115,
        KIND_INCOMPLETENESS_CAMPAIGNS,
        KIND_CAMPAIGN,
        KIND_CAMPAIGN_STATUS = 119,
        KIND_CAMPAIGN_RULES = 190,
};

/* -- campaigns -- */

static int campaign_name(struct tree *t, const struct node *n, char **ret)
{
        return tree_entry_name(t, route_of(KIND_CAMPAIGN), n->inode.item, ret);
}

static int campaign_kind(struct tree *t, const struct node *of, const char *name, enum campaign_kind *ret)
{
        cleanup_campaign_settings struct campaign_settings settings = {0};
        int r = campaign_get(tree_workspace(t), of->solver->number, name, &settings, NULL);

        *ret = settings.kind;
        return r;
}

/* The campaigns of the folder's kind: those for unknowns are in incompleteness/, the others in spr/. */
static int names(struct tree *t, const struct node *dir, char ***ret, size_t *ret_n)
{
        size_t n = 0, kept = 0;
        int r = campaign_names(tree_workspace(t), dir->solver->number, ret, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                enum campaign_kind kind;
                bool is_here = campaign_kind(t, dir, (*ret)[i], &kind) == 0 &&
                               (kind == CAMPAIGN_UNKNOWNS) == (dir->inode.kind == KIND_INCOMPLETENESS_CAMPAIGNS);
                char *name = steal_pointer((*ret)[i]);

                if (is_here)
                        (*ret)[kept++] = name;
                else
                        free(name);
        }
        *ret_n = kept;
        return r;
}

/* A row's `exists` for a campaign's weights: one for unknowns has rules.tsv, another operators.tsv. */
static int has_table(struct tree *t, const struct node *dir, const struct route *row)
{
        cleanup_free char *name = NULL;
        enum campaign_kind kind = CAMPAIGN_UNKNOWNS;
        int r = campaign_name(t, dir, &name) ?: campaign_kind(t, dir, name, &kind);

        return r < 0 ? node_existence(r) : (kind == CAMPAIGN_UNKNOWNS) == (row->kind == KIND_CAMPAIGN_RULES);
}

/* -- settings, status, and the files of a campaign's folder -- */

/* The settings or the status. */
static int campaign_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        const bool is_status = n->inode.kind == KIND_CAMPAIGN_STATUS;
        const char *solver = n->solver->recipe->name;
        cleanup_campaign_settings struct campaign_settings settings = {0};
        struct campaign_status status = {0};
        cleanup_free char *name = NULL;
        char machine[PATH_SIZE];
        int r = campaign_name(t, n, &name)
            ?: campaign_get(tree_workspace(t), n->solver->number, name, &settings, is_status ? &status : NULL);

        if (r < 0)
                return r;
        if (is_status) {
                if (status.state == CAMPAIGN_RUNNING && !campaign_is_running(tree_workspace(t), solver, name))
                        status.state = CAMPAIGN_STOPPED; /* it was killed */
                campaign_print_status(&settings, &status, ret);
                return 0;
        }
        campaign_print_settings(&settings, ret);
        if (campaign_is_elsewhere(tree_workspace(t), solver, name, machine))
                buffer_addf(ret, "machine = %s\n", machine);
        return 0;
}

/* Reads a file of the campaign's folder; empty while the campaign has not written it. */
static int campaign_file(struct tree *t, const struct node *n, const char *file, struct blob *ret)
{
        cleanup_free char *name = NULL;
        char folder[PATH_SIZE], path[PATH_SIZE];
        int r = campaign_name(t, n, &name)
            ?: campaign_folder(tree_workspace(t), n->solver->recipe->name, name, folder)
            ?: path_join(path, folder, file)
            ?: read_file(path, SIZE_MAX, ret);

        return r == -ENOENT ? 0 : r;
}

/* The status's time for settings and status, the printed file's for others; the tree's own while there is none. */
static int campaign_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        const bool is_picture = strcmp(n->route->name, "progress.svg") == 0;
        cleanup_campaign_settings struct campaign_settings settings = {0};
        struct campaign_status status = {0};
        cleanup_free char *name = NULL;
        char folder[PATH_SIZE], path[PATH_SIZE];
        struct stat st;
        int r = campaign_name(t, n, &name);

        if (r == 0 && n->route->content == campaign_content) {
                r = campaign_get(tree_workspace(t), n->solver->number, name, &settings, &status);
                *ret = MAX(*ret, status.changed);
                return r;
        }
        if (r == 0)
                r = campaign_folder(tree_workspace(t), n->solver->recipe->name, name, folder)
                    ?: path_join(path, folder, is_picture ? "progress.tsv" : n->route->name);
        if (r == 0 && stat(path, &st) == 0)
                *ret = st.st_mtime;
        return r;
}

static int campaign_file_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_blob struct blob b = {0};
        int r = campaign_file(t, n, n->route->name, &b);

        if (r == 0)
                buffer_add(ret, b.data, b.size);
        return r;
}

/* -- progress.svg -- */

/* The first columns of progress.tsv, of which its picture shows some. Older versions of solverfs wrote fewer: a line adds no points of those that it
 * lacks. */
enum {
        PROGRESS_SECONDS,
        PROGRESS_INPUTS,
        PROGRESS_RUNS,
        PROGRESS_MEAN,
        PROGRESS_FINDS,
        PROGRESS_SOUNDNESS,
        PROGRESS_CRASHES,
        PROGRESS_CULPRITS,
        PROGRESS_IMPLICATIONS,
        PROGRESS_UNKNOWNS,
        N_PROGRESS
};

/* Returns how many numbers the line has. */
static int read_progress(const char *line, double ret[N_PROGRESS])
{
        char *end;
        int n = 0;

        for (; n < N_PROGRESS; n++, line = end) {
                ret[n] = strtod(line, &end);
                if (end == line)
                        break;
        }
        return n;
}

static void add_progress(struct plot_series *const series[3], bool is_unknowns, int n, const double *p)
{
        if (n <= PROGRESS_CRASHES)
                return;
        if (is_unknowns && n > PROGRESS_IMPLICATIONS) {
                plot_point(series[0], p[PROGRESS_SECONDS], p[PROGRESS_FINDS] - p[PROGRESS_IMPLICATIONS], NULL);
                plot_point(series[1], p[PROGRESS_SECONDS], p[PROGRESS_IMPLICATIONS], NULL);
        } else if (!is_unknowns) {
                plot_point(series[0], p[PROGRESS_SECONDS], p[PROGRESS_FINDS], NULL);
                if (n > PROGRESS_CULPRITS)
                        plot_point(series[1], p[PROGRESS_SECONDS], p[PROGRESS_CULPRITS], NULL);
        }
        plot_point(series[2], p[PROGRESS_SECONDS], p[PROGRESS_SOUNDNESS] + p[PROGRESS_CRASHES], NULL);
}

/* Findings over time, from progress.tsv. */
static int campaign_picture(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_plot struct plot *plot = NULL;
        cleanup_blob struct blob b = {0};
        cleanup_free char *name = NULL, *lines = NULL;
        char title[PATH_SIZE], *rest;
        struct plot_series *series[3];
        cleanup_campaign_settings struct campaign_settings settings = {0};
        int r = campaign_name(t, n, &name)
            ?: campaign_get(tree_workspace(t), n->solver->number, name, &settings, NULL)
            ?: campaign_file(t, n, "progress.tsv", &b);
        bool is_unknowns = settings.kind == CAMPAIGN_UNKNOWNS;

        if (r < 0)
                return r;
        snprintf(title, sizeof(title), "%s: findings of campaign %s", n->solver->recipe->name, name);
        plot = plot_new(title, 0, 0);
        plot_axis_x(plot, settings.cpu_time ? "CPU time of the solvers" : "time", PLOT_DURATION);
        plot_axis_y(plot, "found", PLOT_COUNT);
        series[0] = plot_series(plot, PLOT_STEP, "regressions");
        series[1] = plot_series(plot, PLOT_STEP, is_unknowns ? "implications" : "distinct culprits");
        series[2] = plot_series(plot, PLOT_STEP, "contradictions and crashes");
        rest = lines = copy_prefix(b.data ?: "", b.size);
        while (rest) {
                double numbers[N_PROGRESS];
                int k = read_progress(strsep(&rest, "\n"), numbers);

                add_progress(series, is_unknowns, k, numbers);
        }
        plot_write(plot, ret);
        return 0;
}

static const struct route rows[] = {
        {KIND_SPR_CAMPAIGNS, IN(KIND_SPR), .name = "campaigns", .starts = true, .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = any_listing, .about = "the campaigns, as they go"},
        {KIND_INCOMPLETENESS_CAMPAIGNS, IN(KIND_INCOMPLETENESS), .name = "campaigns", .starts = true, .type = NODE_FOLDER,
         .absent = ABSENT_NOT, .generation = any_listing},
        {KIND_CAMPAIGN, IN(KIND_SPR_CAMPAIGNS, KIND_INCOMPLETENESS_CAMPAIGNS), .shown = "<name>", .starts = true,
         .type = NODE_FOLDER, .moves = true, .absent = ABSENT_FOREVER, .names = names, .space = NAMES_CAMPAIGN,
         .of_solver = true},
        {118, IN(KIND_CAMPAIGN), .name = "settings", .starts = true, .type = NODE_LIVE,
         .content = campaign_content, .mtime = campaign_mtime},
        {KIND_CAMPAIGN_STATUS, IN(KIND_CAMPAIGN), .name = "status", .starts = true, .type = NODE_LIVE,
         .content = campaign_content, .mtime = campaign_mtime},
        {120, IN(KIND_CAMPAIGN), .name = "progress.tsv", .starts = true, .type = NODE_LIVE,
         .content = campaign_file_content, .mtime = campaign_mtime},
        {121, IN(KIND_CAMPAIGN), .name = "progress.svg", .starts = true, .type = NODE_LIVE,
         .content = campaign_picture, .mtime = campaign_mtime},
        {122, IN(KIND_CAMPAIGN), .name = "operators.tsv", .starts = true, .type = NODE_LIVE,
         .exists = has_table, .content = campaign_file_content, .mtime = campaign_mtime},
        {KIND_CAMPAIGN_RULES, IN(KIND_CAMPAIGN), .name = "rules.tsv", .starts = true, .type = NODE_LIVE, .exists = has_table,
         .content = campaign_file_content, .mtime = campaign_mtime},
        {123, IN(KIND_CAMPAIGN), .name = "log", .starts = true, .type = NODE_LIVE,
         .content = campaign_file_content, .mtime = campaign_mtime},
};

const struct subtree campaigns_subtree = {rows, ARRAY_SIZE(rows)};
