/* The root, and README: the rows as text. */
#include "fs/routes/routes.h"

static const char readme_head[] =
        "solverfs: the history of solvers as files.\n"
        "\n"
        "    cat <solver>/commits/<sha>/cases/<case>/time\n"
        "\n"
        "builds that commit if need be, runs it on that case in a sandbox under limits, keeps the result for good, and answers.\n"
        "\n"
        "Opening a file marked * starts that work and waits for it; Ctrl-C gives up. Nothing else starts anything: ls -lR, find,\n"
        "du and stat are free. cached/ shows only what is finished and never starts work: point backup tools, indexers and\n"
        "recursive grep there. To see whether a file is ready: getfattr -n user.solverfs.state FILE;\n"
        "why opening it failed, or whose run it waits for: getfattr -n user.solverfs.reason FILE.\n"
        "\n"
        "Words in <angle brackets> are names that vary. A name under commits/ and cached/ may be a full sha, a prefix of at least\n"
        "four digits, a tag, a branch, HEAD~3, or anything git rev-parse takes that has no slash: <solver>/cached/v1.0 is what is\n"
        "finished of v1.0. A name under the cases/ of a solver may be the case's name.\n"
        "\n"
        "A loop over these files is one reader, which waits for one run at a time and so uses one core. For many at once:\n"
        "solverfs run <solver> A..B <case>..., make -j, or xargs -P:\n"
        "\n"
        "    ls -d <solver>/commits/<sha>/cases/* | xargs -P $(nproc) -I{} cat {}/time\n"
        "\n";

static void readme_rows(struct buffer *b, unsigned folder, unsigned depth, bool *shown)
{
        for (const struct route *const *p = routes_in(folder); *p; p++) {
                const struct route *row = *p;
                char name[64];

                if (!row->about)
                        continue;
                snprintf(name, sizeof(name), "%*s%s%s", (int)(2 * depth), "", row->name ? row->name : row->shown,
                         row->type == NODE_FOLDER     ? "/"
                         : row->type == NODE_COMPUTED ? " *"
                                                      : "");
                buffer_addf(b, "%-28s %s\n", name, row->about);
                if (row->type != NODE_FOLDER || shown[row->kind])
                        continue;
                shown[row->kind] = true; /* its content is described once */
                readme_rows(b, row->kind, depth + 1, shown);
        }
}

static int readme_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        bool shown[INODE_KINDS] = {false};

        buffer_adds(ret, readme_head);
        readme_rows(ret, KIND_ROOT, 0, shown);
        return 0;
}

static const struct route rows[] = {
        {KIND_ROOT, .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing},
        {1, IN(KIND_ROOT), .name = "README", .type = NODE_FILE, .content = readme_text, .about = "this text"},
};

const struct subtree root_subtree = {rows, ARRAY_SIZE(rows)};
