#include "core/build/include_graph.h"

#include <sys/stat.h>

#define BLOB_MOST (16u << 20) /* of a file that is read */

struct edge {
        uint32_t included, includer;
};

struct include_graph {
        struct manifest files; /* by path */
        bool *is_unit;
        size_t n_units;
        struct edge *edges; /* by `included` */
        size_t n_edges;
};

static bool ends_in_one_of(const char *path, const char *const *endings)
{
        const char *dot = strrchr(path, '.');

        for (; dot && *endings; endings++)
                if (strcmp(dot, *endings) == 0)
                        return true;
        return false;
}

static bool is_unit_name(const char *path)
{
        static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".C", NULL};

        return ends_in_one_of(path, endings);
}

static bool has_includes(const char *path)
{
        static const char *const endings[] = {".h", ".hh", ".hpp", ".hxx", ".H", ".inc", ".ipp", ".tcc", ".def", NULL};

        return is_unit_name(path) || ends_in_one_of(path, endings);
}

/* -- names: the files by the part behind the last '/' -- */

struct names {
        const struct manifest *files;
        uint32_t *list; /* owned */
};

static int compare_names(const void *a, const void *b, void *user)
{
        const struct manifest *files = user;

        return strcmp(basename(files->list[*(const uint32_t *)a].path), basename(files->list[*(const uint32_t *)b].path));
}

static int names_init(struct names *n, const struct manifest *files)
{
        n->files = files;
        n->list = calloc(files->n + 1, sizeof(*n->list));
        if (!n->list)
                return -ENOMEM;
        for (uint32_t i = 0; i < files->n; i++)
                n->list[i] = i;
        qsort_r(n->list, files->n, sizeof(*n->list), compare_names, (void *)files);
        return 0;
}

static size_t names_from(const struct names *n, const char *name)
{
        size_t low = 0, high = n->files->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(basename(n->files->list[n->list[middle]].path), name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool ends_in(const char *path, const char *end)
{
        size_t n = strlen(path), k = strlen(end);

        return n >= k && strcmp(path + n - k, end) == 0 && (n == k || path[n - k - 1] == '/');
}

/* -- reading -- */

static int add_edges(struct include_graph *g, const struct names *names, uint32_t includer, const char *name)
{
        const char *last;

        while (strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0)
                name = strchr(name, '/') + 1;
        last = basename(name);
        for (size_t i = names_from(names, last); i < g->files.n; i++) {
                const char *path = g->files.list[names->list[i]].path;

                if (strcmp(basename(path), last) != 0)
                        return 0;
                if (!ends_in(path, name))
                        continue;
                if (list_grow(g->edges, g->n_edges) < 0)
                        return -ENOMEM;
                g->edges[g->n_edges++] = (struct edge){.included = names->list[i], .includer = includer};
        }
        return 0;
}

/* The name in a line `#include "name"`; `ret` has room for PATH_SIZE. */
static bool included_name(const char *line, const char *end, char *ret)
{
        const char *close;

        while (line < end && (*line == ' ' || *line == '\t'))
                line++;
        if (line == end || *line++ != '#')
                return false;
        while (line < end && (*line == ' ' || *line == '\t'))
                line++;
        if (end - line < 10 || memcmp(line, "include", 7) != 0)
                return false;
        for (line += 7; line < end && (*line == ' ' || *line == '\t'); line++)
                ;
        if (line == end || (*line != '"' && *line != '<'))
                return false;
        close = memchr(line + 1, *line == '"' ? '"' : '>', (size_t)(end - line - 1));
        if (!close || close - line - 1 >= PATH_SIZE || close == line + 1)
                return false;
        memcpy(ret, line + 1, (size_t)(close - line - 1));
        ret[close - line - 1] = '\0';
        return true;
}

static int read_includes(struct include_graph *g, const struct names *names, uint32_t file, const char *text, size_t size)
{
        const char *end = text + size;
        char name[PATH_SIZE];
        int r = 0;

        while (r == 0 && text < end) {
                const char *stop = memchr(text, '\n', (size_t)(end - text)) ?: end;

                if (included_name(text, stop, name))
                        r = add_edges(g, names, file, name);
                text = stop + 1;
        }
        return r;
}

static int compare_edges(const void *a, const void *b)
{
        const struct edge *x = a, *y = b;

        return x->included < y->included ? -1 : x->included > y->included;
}

static int read_all(struct include_graph *g, git_repository *git)
{
        cleanup_free uint32_t *list = NULL;
        struct names names;
        int r = names_init(&names, &g->files);

        list = names.list;
        for (uint32_t i = 0; r == 0 && i < g->files.n; i++) {
                cleanup_git_blob git_blob *blob = NULL;

                if (S_ISREG(g->files.list[i].mode) && has_includes(g->files.list[i].path) &&
                    git_blob_lookup(&blob, git, &g->files.list[i].oid) == 0 && git_blob_rawsize(blob) <= BLOB_MOST)
                        r = read_includes(g, &names, i, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
        }
        if (g->n_edges > 0)
                qsort(g->edges, g->n_edges, sizeof(*g->edges), compare_edges);
        return r;
}

static void find_units(struct include_graph *g)
{
        for (size_t i = 0; i < g->files.n; i++)
                g->n_units += g->is_unit[i] = is_unit_name(g->files.list[i].path);
        if (g->n_units > 0)
                return;
        memset(g->is_unit, true, g->files.n);
        g->n_units = g->files.n;
}

int include_graph_new(git_repository *git, const struct manifest *files, struct include_graph **ret)
{
        cleanup(include_graph_freep) struct include_graph *g = calloc(1, sizeof(*g));
        int r = g ? 0 : -ENOMEM;

        for (size_t i = 0; r == 0 && i < files->n; i++)
                r = manifest_add(&g->files, &files->list[i]);
        if (r < 0)
                return r;
        g->is_unit = calloc(g->files.n + 1, sizeof(*g->is_unit));
        if (!g->is_unit)
                return -ENOMEM;
        find_units(g);
        r = read_all(g, git);
        if (r == 0)
                *ret = steal_pointer(g);
        return r;
}

struct include_graph *include_graph_free(struct include_graph *g)
{
        if (!g)
                return NULL;
        manifest_done(&g->files);
        free(g->is_unit);
        free(g->edges);
        free(g);
        return NULL;
}

size_t include_graph_units(const struct include_graph *g)
{
        return g->n_units;
}

/* -- counting -- */

struct counting {
        const struct include_graph *graph;
        bool *seen;      /* owned */
        uint32_t *queue; /* owned */
        size_t n_queued, n_new;
};

static void see(struct counting *c, uint32_t file)
{
        if (!c->seen[file])
                c->queue[c->n_queued++] = file;
        c->seen[file] = true;
}

static void see_path(struct counting *c, const struct tracked *file)
{
        const struct tracked *list = c->graph->files.list;
        size_t low = 0, high = c->graph->files.n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(list[middle].path, file->path) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low < c->graph->files.n && strcmp(list[low].path, file->path) == 0)
                see(c, (uint32_t)low);
        else
                c->n_new += is_unit_name(file->path);
}

static void see_changes(struct counting *c, const struct manifest *from, const struct manifest *to)
{
        size_t i = 0, k = 0;

        while (i < from->n || k < to->n) {
                int order = i == from->n ? 1 : k == to->n ? -1 : strcmp(from->list[i].path, to->list[k].path);

                if (order != 0)
                        see_path(c, order < 0 ? &from->list[i] : &to->list[k]);
                else if (from->list[i].mode != to->list[k].mode || !git_oid_equal(&from->list[i].oid, &to->list[k].oid))
                        see_path(c, &to->list[k]);
                i += order <= 0;
                k += order >= 0;
        }
}

static size_t edges_from(const struct include_graph *g, uint32_t included)
{
        size_t low = 0, high = g->n_edges;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (g->edges[middle].included < included)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int include_graph_changed(const struct include_graph *g, const struct manifest *from, const struct manifest *to, size_t *ret)
{
        cleanup_free bool *seen = calloc(g->files.n + 1, sizeof(*seen));
        cleanup_free uint32_t *queue = calloc(g->files.n + 1, sizeof(*queue));
        struct counting c = {.graph = g, .seen = seen, .queue = queue};
        size_t n = 0;

        if (!seen || !queue)
                return -ENOMEM;
        see_changes(&c, from, to);
        for (size_t i = 0; i < c.n_queued; i++) {
                n += g->is_unit[queue[i]];
                for (size_t e = edges_from(g, queue[i]); e < g->n_edges && g->edges[e].included == queue[i]; e++)
                        see(&c, g->edges[e].includer);
        }
        *ret = n + c.n_new;
        return 0;
}
