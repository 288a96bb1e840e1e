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
        size_t *first; /* [files.n + 1]: the edges of file i are first[i] … first[i + 1] - 1 */
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

struct name {
        const char *name; /* the manifest's */
        uint32_t file;
};

static int compare_names(const void *a, const void *b)
{
        return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

static struct name *list_names(const struct manifest *files)
{
        struct name *list = calloc(files->n + 1, sizeof(*list));

        for (uint32_t i = 0; list && i < files->n; i++)
                list[i] = (struct name){basename(files->list[i].path), i};
        if (list)
                sort_list(list, files->n, sizeof(*list), compare_names);
        return list;
}

static bool ends_in(const char *path, const char *end)
{
        size_t n = strlen(path), k = strlen(end);

        return n >= k && strcmp(path + n - k, end) == 0 && (n == k || path[n - k - 1] == '/');
}

/* -- reading -- */

static int add_edges(struct include_graph *g, const struct name *names, uint32_t includer, const char *name)
{
        const struct name *end = names + g->files.n, *at;
        struct name last;

        while (strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0)
                name = strchr(name, '/') + 1;
        last.name = basename(name);
        at = find_in_list(&last, names, g->files.n, sizeof(*names), compare_names);
        while (at && at > names && compare_names(at - 1, &last) == 0)
                at--;
        for (; at && at < end && compare_names(at, &last) == 0; at++) {
                if (!ends_in(g->files.list[at->file].path, name))
                        continue;
                if (list_grow(g->edges, g->n_edges) < 0)
                        return -ENOMEM;
                g->edges[g->n_edges++] = (struct edge){.included = at->file, .includer = includer};
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

static int read_includes(struct include_graph *g, const struct name *names, uint32_t file, const char *text, size_t size)
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

static void index_edges(struct include_graph *g)
{
        size_t e = 0;

        sort_list(g->edges, g->n_edges, sizeof(*g->edges), compare_edges);
        for (size_t i = 0; i <= g->files.n; i++) {
                while (e < g->n_edges && g->edges[e].included < i)
                        e++;
                g->first[i] = e;
        }
}

static int read_all(struct include_graph *g, git_repository *git)
{
        cleanup_free struct name *names = list_names(&g->files);
        int r = names ? 0 : -ENOMEM;

        for (uint32_t i = 0; r == 0 && i < g->files.n; i++) {
                const struct tracked *file = &g->files.list[i];
                cleanup_git_blob git_blob *blob = NULL;

                if (S_ISREG(file->mode) && has_includes(file->path) && git_blob_lookup(&blob, git, &file->oid) == 0 &&
                    git_blob_rawsize(blob) <= BLOB_MOST)
                        r = read_includes(g, names, i, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
        }
        if (r == 0)
                index_edges(g);
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
        g->first = calloc(g->files.n + 1, sizeof(*g->first));
        if (!g->is_unit || !g->first)
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
        free(g->first);
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

static bool see_path(void *user, const char *path)
{
        struct counting *c = user;
        const struct tracked *file = manifest_find(&c->graph->files, path);

        if (file)
                see(c, (uint32_t)(file - c->graph->files.list));
        else
                c->n_new += is_unit_name(path);
        return true;
}

int include_graph_changed(const struct include_graph *g, const struct manifest *from, const struct manifest *to, size_t *ret)
{
        cleanup_free bool *seen = calloc(g->files.n + 1, sizeof(*seen));
        cleanup_free uint32_t *queue = calloc(g->files.n + 1, sizeof(*queue));
        struct counting c = {.graph = g, .seen = seen, .queue = queue};
        size_t n = 0;

        if (!seen || !queue)
                return -ENOMEM;
        manifest_each_difference(from, to, see_path, &c);
        for (size_t i = 0; i < c.n_queued; i++) {
                n += g->is_unit[queue[i]];
                for (size_t e = g->first[queue[i]]; e < g->first[queue[i] + 1]; e++)
                        see(&c, g->edges[e].includer);
        }
        *ret = n + c.n_new;
        return 0;
}
