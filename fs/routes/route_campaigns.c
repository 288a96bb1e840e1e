/* <solver>/spr/campaigns: the campaigns. A campaign's inode has the number of its name in `item`. What a campaign writes as it goes is live: a mount of
 * what is finished has only the findings. */
#include "fs/routes/routes.h"

#include <limits.h>

#include "core/report/plot.h"
#include "core/study/campaign.h"

enum {
        KIND_SPR_CAMPAIGNS = 115,
        KIND_CAMPAIGN = 117,
        KIND_CAMPAIGN_SETTINGS,
        KIND_CAMPAIGN_STATUS,
        KIND_CAMPAIGN_PROGRESS,
        KIND_CAMPAIGN_PICTURE,
        KIND_CAMPAIGN_OPERATORS,
        KIND_CAMPAIGN_LOG,
};

/* By number: "<solver number>/<name>". */
static int campaign_name(struct tree *t, const struct node *n, char **ret)
{
        cleanup_free char *whole = NULL;
        int r = tree_name(t, NAMES_CAMPAIGN, n->inode.item, &whole);
        const char *slash = r == 0 ? strchr(whole, '/') : NULL;

        if (r < 0)
                return r;
        *ret = strdup(slash ? slash + 1 : whole);
        return *ret ? 0 : -ENOMEM;
}

static int campaign_number(struct tree *t, const struct node *dir, const char *name, uint32_t *ret)
{
        char whole[NAME_MAX + 32];
        int r;

        if (snprintf(whole, sizeof(whole), "%u/%s", dir->solver->number, name) >= (int)sizeof(whole))
                return -ENOENT;
        r = tree_number(t, NAMES_CAMPAIGN, whole, ret);
        return r == 0 && *ret > INODE_ITEM_MAX ? -EOVERFLOW : r;
}

static MATCH(campaign_match)
{
        struct campaign_settings settings = {0};
        int r = campaign_get(tree_workspace(t), dir->solver->number, name, &settings, NULL);

        campaign_settings_done(&settings);
        return r < 0 ? r : campaign_number(t, dir, name, &ret->inode.item);
}

static LIST(campaign_entries)
{
        struct inode inode = dir->inode;
        char **names = NULL;
        size_t n = 0;
        int r = campaign_names(tree_workspace(t), dir->solver->number, &names, &n);

        inode.kind = row->kind;
        for (size_t i = 0; i < n; i++) {
                if (r == 0 && i >= from)
                        r = campaign_number(t, dir, names[i], &inode.item);
                if (r == 0 && i >= from)
                        r = tree_emit(row, names[i], inode, i, fn, user);
                free(names[i]);
        }
        free(names);
        return r;
}

static CONTENT(campaign_settings_content)
{
        struct campaign_settings settings = {0};
        cleanup_free char *name = NULL;
        int r = campaign_name(t, n, &name);

        if (r == 0)
                r = campaign_get(tree_workspace(t), n->solver->number, name, &settings, NULL);
        if (r == 0)
                campaign_print_settings(&settings, ret);
        campaign_settings_done(&settings);
        return r;
}

static CONTENT(campaign_status_content)
{
        struct campaign_settings settings = {0};
        struct campaign_status status = {0};
        cleanup_free char *name = NULL;
        int r = campaign_name(t, n, &name);

        if (r == 0)
                r = campaign_get(tree_workspace(t), n->solver->number, name, &settings, &status);
        if (r == 0)
                campaign_print_status(settings.kind, &status, ret);
        campaign_settings_done(&settings);
        return r;
}

/* Reads a file of the campaign's folder; empty while the campaign has not written it. */
static int campaign_file(struct tree *t, const struct node *n, const char *file, struct blob *ret)
{
        cleanup_free char *name = NULL;
        char folder[PATH_SIZE], path[PATH_SIZE];
        int r = campaign_name(t, n, &name);

        if (r == 0)
                r = campaign_folder(tree_workspace(t), n->solver->recipe->name, name, folder);
        if (r == 0)
                r = path_join(path, folder, file);
        if (r == 0)
                r = read_file(path, SIZE_MAX, ret);
        return r == -ENOENT ? 0 : r;
}

static CONTENT(campaign_file_content)
{
        cleanup_blob struct blob b = {0};
        int r = campaign_file(t, n, n->route->name, &b);

        if (r == 0)
                buffer_add(ret, b.data, b.size);
        return r;
}

/* Findings over time, from progress.tsv. */
static CONTENT(campaign_picture)
{
        cleanup_plot struct plot *plot = plot_new("Findings", 0, 0);
        cleanup_blob struct blob b = {0};
        struct plot_series *finds = NULL, *culprits = NULL, *others = NULL;
        const char *p, *end;
        int r = campaign_file(t, n, "progress.tsv", &b);

        if (r < 0)
                return r;
        plot_axis_x(plot, "time", PLOT_DURATION);
        plot_axis_y(plot, "found", PLOT_LINEAR);
        finds = plot_series(plot, PLOT_STEP, "regressions");
        culprits = plot_series(plot, PLOT_STEP, "distinct culprits");
        others = plot_series(plot, PLOT_STEP, "contradictions and crashes");
        end = (const char *)b.data + b.size;
        for (p = b.data; p && p < end;
             p = memchr(p, '\n', (size_t)(end - p)) ? (const char *)memchr(p, '\n', (size_t)(end - p)) + 1 : end) {
                double seconds, mean, found, soundness, crashes, inputs, runs, commits;
                int fields;
                char line[256];

                snprintf(line, sizeof(line), "%.*s", (int)MIN(end - p, 255), p);
                fields = sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf", &seconds, &inputs, &runs, &mean, &found, &soundness, &crashes,
                           &commits);
                if (fields < 7)
                        continue;
                plot_point(finds, seconds, found, NULL);
                if (fields == 8) /* an older solverfs counted none */
                        plot_point(culprits, seconds, commits, NULL);
                plot_point(others, seconds, soundness + crashes, NULL);
        }
        return plot_write(plot, ret);
}

/* -- the rows -- */

static const struct route rows[] = {
        {KIND_SPR_CAMPAIGNS, IN(KIND_SPR), .name = "campaigns", .starts = true, .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = any_listing, .about = "the campaigns, as they go"},
        {KIND_CAMPAIGN, IN(KIND_SPR_CAMPAIGNS), .shown = "<name>", .starts = true, .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_FOREVER, .match = campaign_match, .list = campaign_entries},
        {KIND_CAMPAIGN_SETTINGS, IN(KIND_CAMPAIGN), .name = "settings", .starts = true, .type = NODE_LIVE,
         .content = campaign_settings_content},
        {KIND_CAMPAIGN_STATUS, IN(KIND_CAMPAIGN), .name = "status", .starts = true, .type = NODE_LIVE,
         .content = campaign_status_content},
        {KIND_CAMPAIGN_PROGRESS, IN(KIND_CAMPAIGN), .name = "progress.tsv", .starts = true, .type = NODE_LIVE,
         .content = campaign_file_content},
        {KIND_CAMPAIGN_PICTURE, IN(KIND_CAMPAIGN), .name = "progress.svg", .starts = true, .type = NODE_LIVE,
         .content = campaign_picture},
        {KIND_CAMPAIGN_OPERATORS, IN(KIND_CAMPAIGN), .name = "operators.tsv", .starts = true, .type = NODE_LIVE,
         .content = campaign_file_content},
        {KIND_CAMPAIGN_LOG, IN(KIND_CAMPAIGN), .name = "log", .starts = true, .type = NODE_LIVE,
         .content = campaign_file_content},
};

const struct subtree campaigns_subtree = {rows, ARRAY_SIZE(rows)};
