#include "tree.h"

#include <inttypes.h>
#include <pthread.h>

#include "core/host.h"

/* A fact that was found before: good for as long as nothing is written to the store and compilers stay what they are. */
struct recent {
        struct solver *solver; /* a ref; NULL: none */
        uint16_t view;
        uint32_t commit, item;
        uint64_t generation; /* of the store, before it was looked for */
        unsigned toolchain;  /* how many there were before it: another one builds another program */
        struct fact *fact;   /* a ref */
};

/* Brief ones are small (some 500 bytes) and what `time`, sizes and times are answered from: enough for all that a table or a plot reads over
 * and over. Whole ones serve who reads all files of a cell in a row. */
#define RECENT_BRIEF 16384
#define RECENT_WHOLE 16          /* a few for each thread that answers */
#define RECENT_TOP   (64 * 1024) /* bytes; who printed more is read again */

struct tree {
        struct workspace *workspace; /* borrowed */
        struct engine *engine;       /* borrowed; may be NULL */
        int64_t started; /* seconds; mtime of what belongs to no commit and no case */
        uid_t uid;
        gid_t gid;

        pthread_mutex_t lock;
        /* under lock */
        struct view *views; /* owned; by number; read from the store once */
        size_t n_views;
        struct case_names *case_names; /* a ref */
        struct passing {               /* numbers of a read-only store: index 0 is PASSING_FIRST, and so on down */
                enum name_space space;
                char *name;
        } * passing; /* owned */
        size_t n_passing;

        pthread_mutex_t recent_lock;
        /* under recent_lock */
        char toolchain[DIGEST_HEX_SIZE];
        unsigned n_toolchains;
        struct recent brief[RECENT_BRIEF], whole[RECENT_WHOLE];
};

static void recent_done(struct recent *r)
{
        solver_unref(r->solver);
        fact_unref(r->fact);
}

int tree_open(struct workspace *w, struct engine *e, struct tree **ret)
{
        struct tree *t = calloc(1, sizeof(*t));
        struct stat st;

        if (!t)
                return -ENOMEM;
        t->workspace = w;
        t->engine = e;
        t->uid = geteuid();
        t->gid = getegid();
        t->started = stat(workspace_dir(w), &st) == 0 ? st.st_mtime : now_seconds();
        pthread_mutex_init(&t->lock, NULL);
        pthread_mutex_init(&t->recent_lock, NULL);
        *ret = t;
        return 0;
}

struct tree *tree_close(struct tree *t)
{
        if (!t)
                return NULL;
        for (size_t i = 0; i < RECENT_BRIEF; i++)
                recent_done(&t->brief[i]);
        for (size_t i = 0; i < RECENT_WHOLE; i++)
                recent_done(&t->whole[i]);
        free(t->views);
        for (size_t i = 0; i < t->n_passing; i++)
                free(t->passing[i].name);
        free(t->passing);
        case_names_unref(t->case_names);
        pthread_mutex_destroy(&t->recent_lock);
        pthread_mutex_destroy(&t->lock);
        free(t);
        return NULL;
}

struct workspace *tree_workspace(struct tree *t)
{
        return t->workspace;
}

struct engine *tree_engine(struct tree *t)
{
        return t->engine;
}

bool parse_name_number(const char *name, uint64_t most, uint64_t *ret)
{
        uint64_t n = 0;

        if (name[0] == '\0' || (name[0] == '0' && name[1] != '\0'))
                return false;
        for (const char *p = name; *p; p++) {
                if (*p < '0' || *p > '9' || n > (UINT64_MAX - 9) / 10)
                        return false;
                n = n * 10 + (uint64_t)(*p - '0');
        }
        *ret = n;
        return n <= most;
}

/* -- numbers of names -- */

#define PASSING_FIRST INODE_ITEM_MAX /* where no store that is read-only has come to */

/* Lock held. */
static int passing_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret)
{
        struct passing *more;
        size_t i;

        for (i = 0; i < t->n_passing; i++)
                if (t->passing[i].space == space && strcmp(t->passing[i].name, name) == 0)
                        break;
        if (i == t->n_passing) {
                more = realloc(t->passing, (i + 1) * sizeof(*more));
                if (!more)
                        return -ENOMEM;
                t->passing = more;
                more[i] = (struct passing){space, strdup(name)};
                if (!more[i].name)
                        return -ENOMEM;
                t->n_passing++;
        }
        *ret = PASSING_FIRST - (uint32_t)i;
        return 0;
}

int tree_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret)
{
        struct store *s = workspace_store(t->workspace);
        int r;

        if (!store_read_only(s))
                return names_intern(s, space, name, ret);
        r = names_number(s, space, name, ret);
        if (r == -ENOENT) {
                pthread_mutex_lock(&t->lock);
                r = passing_number(t, space, name, ret);
                pthread_mutex_unlock(&t->lock);
        }
        return r;
}

int tree_name(struct tree *t, enum name_space space, uint32_t number, char **ret)
{
        bool passing;

        pthread_mutex_lock(&t->lock);
        passing = number <= PASSING_FIRST && PASSING_FIRST - number < t->n_passing &&
                  t->passing[PASSING_FIRST - number].space == space;
        if (passing)
                *ret = strdup(t->passing[PASSING_FIRST - number].name);
        pthread_mutex_unlock(&t->lock);
        return !passing ? names_name(workspace_store(t->workspace), space, number, ret) : *ret ? 0 : -ENOMEM;
}

int tree_number_all(struct tree *t, enum name_space space, char *const *names, size_t n)
{
        struct store *s = workspace_store(t->workspace);

        return store_read_only(s) ? 0 : names_intern_all(s, space, names, n);
}

/* -- views -- */

static void view_print(const struct view *v, char ret[96])
{
        snprintf(ret, 96, "%" PRIu32 "/%s%s%s", v->solver, v->cached ? "cached" : "commits", v->has_seed ? "/seed/" : "",
                 v->has_timeout ? "/timeout/" : "");
        if (v->has_seed || v->has_timeout) {
                size_t n = strlen(ret);

                snprintf(ret + n, 96 - n, "%" PRIu64, v->has_seed ? v->seed : v->timeout_ns);
        }
}

static bool view_parse(const char *name, struct view *ret)
{
        char root[16] = "", setting[16] = "";
        uint64_t n = 0;
        int fields = sscanf(name, "%" SCNu32 "/%15[^/]/%15[^/]/%" SCNu64, &ret->solver, root, setting, &n);

        if (fields != 2 && fields != 4)
                return false;
        ret->cached = strcmp(root, "cached") == 0;
        ret->has_seed = strcmp(setting, "seed") == 0;
        ret->has_timeout = strcmp(setting, "timeout") == 0;
        if (ret->has_seed)
                ret->seed = n;
        else
                ret->timeout_ns = n;
        return true;
}

static bool view_equal(const struct view *a, const struct view *b)
{
        return a->solver == b->solver && a->cached == b->cached && a->has_seed == b->has_seed &&
               a->has_timeout == b->has_timeout && a->seed == b->seed && a->timeout_ns == b->timeout_ns;
}

/* Lock held. */
static int view_add(struct tree *t, const struct view *v)
{
        struct view *more = realloc(t->views, (t->n_views + 1) * sizeof(*more));

        if (!more)
                return -ENOMEM;
        t->views = more;
        t->views[t->n_views++] = *v;
        return 0;
}

/* Reads views that the store has and we do not: other processes give numbers, too. Lock held. */
static int views_refresh(struct tree *t)
{
        for (;;) {
                cleanup_free char *name = NULL;
                struct view v = {0};
                int r = names_name(workspace_store(t->workspace), NAMES_VIEW, (uint32_t)t->n_views, &name);

                if (r == -ENOENT)
                        return 0;
                if (r < 0)
                        return r;
                if (!view_parse(name, &v))
                        return errorf(-EIO, "the store's view %zu is '%s', which is not one", t->n_views, name);
                r = view_add(t, &v);
                if (r < 0)
                        return r;
        }
}

static bool view_known(struct tree *t, const struct view *v, uint16_t *ret)
{
        for (size_t i = 0; i < t->n_views; i++)
                if (view_equal(&t->views[i], v)) {
                        *ret = (uint16_t)i;
                        return true;
                }
        return false;
}

int tree_view(struct tree *t, const struct view *v, uint16_t *ret)
{
        char name[96];
        uint32_t number;
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (!view_known(t, v, ret)) {
                r = views_refresh(t);
                if (r == 0 && !view_known(t, v, ret)) {
                        if (t->n_views > INODE_VIEW_MAX)
                                r = errorf(-ENOSPC, "the store has as many seeds and time limits as it can number (%u)",
                                           INODE_VIEW_MAX);
                        view_print(v, name);
                        if (r == 0 && store_read_only(workspace_store(t->workspace)))
                                r = view_add(t, v); /* its number is good for as long as the mount lives */
                        else if (r == 0)
                                r = names_intern(workspace_store(t->workspace), NAMES_VIEW, name, &number);
                        if (r == 0)
                                r = views_refresh(t);
                        if (r == 0 && !view_known(t, v, ret))
                                r = -EIO;
                }
        }
        pthread_mutex_unlock(&t->lock);
        return r;
}

int tree_view_at(struct tree *t, size_t number, struct view *ret)
{
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (number >= t->n_views)
                r = views_refresh(t);
        if (r == 0 && number >= t->n_views)
                r = -ENOENT;
        if (r == 0)
                *ret = t->views[number];
        pthread_mutex_unlock(&t->lock);
        return r;
}

/* -- nodes -- */

void node_done(struct node *n)
{
        n->solver = solver_unref(n->solver);
}

enum node_type node_type(const struct node *n)
{
        return n->route->type == NODE_LIVE && n->view.cached ? NODE_FILE : n->route->type;
}

/* Kinds outside of a solver's folder have no view. */
static bool kind_has_view(enum kind k)
{
        return (k >= KIND_SOLVER && k <= KIND_TIMEOUT) || k == KIND_TIMEOUT_ALIAS;
}

static int node_fill(struct tree *t, struct inode inode, struct node *ret)
{
        int r;

        *ret = (struct node){.inode = inode};
        if (inode.kind >= N_KINDS)
                return -ESTALE;
        ret->route = &routes[inode.kind];
        if (!kind_has_view(inode.kind))
                return 0;
        r = tree_view_at(t, inode.view, &ret->view);
        if (r == 0)
                r = workspace_solver_by_number(t->workspace, ret->view.solver, &ret->solver);
        return r == -ENOENT ? -ESTALE : r;
}

int tree_node(struct tree *t, uint64_t ino, struct node *ret)
{
        struct inode inode = ino == 1 ? (struct inode){.kind = KIND_ROOT} : inode_unpack(ino);

        return node_fill(t, inode, ret);
}

/* What a row's entry is when nothing but the row differs from its folder. */
static struct inode inode_below(const struct node *dir, const struct route *row)
{
        struct inode i = dir->inode;

        i.kind = (uint8_t)row->kind;
        return i;
}

static bool row_is_in(const struct route *row, const struct node *dir)
{
        return (row->parents & IN(dir->route->kind)) != 0;
}

int tree_lookup(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        int r = -ENOENT;

        for (size_t i = 0; i < N_KINDS && r == -ENOENT; i++) {
                const struct route *row = &routes[i];
                struct node found = {.inode = inode_below(dir, row)};

                if (!row_is_in(row, dir) || (row->name && strcmp(row->name, name) != 0))
                        continue;
                if (row->match)
                        r = row->match(t, dir, name, &found);
                else
                        r = row->exists && !row->exists(t, dir, row) ? -ENOENT : 0;
                if (r == 0)
                        r = node_fill(t, found.inode, ret);
                else if (row->name)
                        break;
        }
        return r;
}

/* -- listings -- */

#define ROW_SHIFT 48 /* an offset is row + 1 and the entry's index in it + 1 */

static mode_t route_mode(const struct route *row)
{
        return row->type == NODE_FOLDER ? S_IFDIR : row->type == NODE_LINK ? S_IFLNK : S_IFREG;
}

int tree_emit(const struct route *row, const char *name, struct inode inode, uint64_t index, entry_fn fn, void *user)
{
        return fn(user, &(struct entry){
                                .name = name,
                                .ino = inode_pack(inode),
                                .type = route_mode(row),
                                .next = ((uint64_t)row->kind + 1) << ROW_SHIFT | (index + 1),
                        });
}

static int list_fixed(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        struct node found = {.inode = inode_below(dir, row)};

        if (from > 0)
                return 0;
        if (row->match ? row->match(t, dir, row->name, &found) < 0 : row->exists && !row->exists(t, dir, row))
                return 0;
        return tree_emit(row, row->name, found.inode, 0, fn, user);
}

int tree_list(struct tree *t, const struct node *dir, uint64_t offset, entry_fn fn, void *user)
{
        size_t first = offset >> ROW_SHIFT;
        uint64_t from = offset & ((UINT64_C(1) << ROW_SHIFT) - 1);
        int r = 0;

        first = first > 0 ? first - 1 : 0;
        for (size_t i = first; i < N_KINDS && r == 0; i++) {
                const struct route *row = &routes[i];

                if (!row_is_in(row, dir))
                        continue;
                if (row->name)
                        r = list_fixed(t, dir, row, i == first ? from : 0, fn, user);
                else
                        r = row->list(t, dir, row, i == first ? from : 0, fn, user);
        }
        return MIN(r, 0);
}

uint64_t tree_list_generation(struct tree *t, const struct node *dir)
{
        if (dir->view.cached)
                return 0;
        return dir->route->generation ? dir->route->generation(t, dir) : 1;
}

/* -- attributes and content -- */

int node_commit(const struct node *n, struct commit *ret)
{
        return history_commit(n->solver->history, n->inode.commit, ret);
}

static int64_t node_mtime(struct tree *t, const struct node *n)
{
        struct commit c;
        int64_t mtime;

        if (n->route->mtime && n->route->mtime(t, n, &mtime) == 0)
                return mtime;
        if (n->inode.kind >= KIND_COMMIT && n->inode.kind <= KIND_TIMEOUT && node_commit(n, &c) == 0)
                return commit_mtime(&c);
        return t->started;
}

/* Nothing is written to but cases/. */
static mode_t node_mode(const struct node *n)
{
        enum node_type type = node_type(n);

        return type == NODE_LINK                             ? 0777
               : n->route->kind == KIND_CASES                ? 0755
               : type == NODE_FOLDER || n->route->executable ? 0555
                                                             : 0444;
}

static int node_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup_buffer struct buffer b = {0};
        int r;

        if (n->route->size)
                return n->route->size(t, n, ret);
        r = n->route->content(t, n, &b);
        if (r == 0)
                r = buffer_error(&b);
        *ret = b.size;
        return r;
}

int tree_stat(struct tree *t, const struct node *n, struct stat *ret, bool *ready)
{
        enum node_type type = node_type(n);
        uint64_t size = 0;
        int r = 0;

        *ready = true;
        *ret = (struct stat){.st_ino = n->route->kind == KIND_ROOT ? 1 : inode_pack(n->inode),
                             .st_mode = route_mode(n->route) | node_mode(n),
                             .st_nlink = 1,
                             .st_uid = t->uid,
                             .st_gid = t->gid,
                             .st_blksize = 4096};
        if (type != NODE_FOLDER)
                r = node_size(t, n, &size);
        if (type == NODE_COMPUTED && (r == -ENOENT || r == -ENODATA || r == -ESTALE)) {
                size = PLACEHOLDER_SIZE;
                *ready = false;
                r = 0;
        }
        if (type == NODE_LIVE)
                *ready = false;
        if (r < 0)
                return r;
        ret->st_size = (off_t)size;
        ret->st_blocks = (blkcnt_t)((size + 511) / 512);
        ret->st_mtime = ret->st_atime = ret->st_ctime = node_mtime(t, n);
        return 0;
}

int tree_content(struct tree *t, const struct node *n, struct blob *ret)
{
        cleanup_buffer struct buffer b = {0};
        int r = n->route->content(t, n, &b);

        return r < 0 ? r : buffer_steal(&b, ret);
}

int tree_query(struct tree *t, const struct node *n, struct query **ret)
{
        return n->route->query(t, n, ret);
}

int tree_cell(struct tree *t, const struct node *n, struct cell *ret, struct case_info **ret_info)
{
        int r = cases_get(workspace_cases(t->workspace), n->inode.item, ret_info);

        if (r < 0)
                return r;
        *ret = (struct cell){.solver = n->solver,
                             .commit = n->inode.commit,
                             .info = *ret_info,
                             .has_seed = n->view.has_seed,
                             .seed = n->view.seed,
                             .wall_ns = n->view.timeout_ns};
        return 0;
}

/* -- facts -- */

/* What makes the same query, now. */
static struct recent recent_key(const struct node *n, uint64_t generation, unsigned toolchain)
{
        return (struct recent){.solver = n->solver,
                               .view = n->inode.view,
                               .commit = n->inode.commit,
                               .item = n->inode.item,
                               .generation = generation,
                               .toolchain = toolchain};
}

static struct recent *recent_slot(struct tree *t, const struct recent *k, bool brief)
{
        uint64_t h = ((uint64_t)k->commit << 32 ^ (uint64_t)k->view << 20 ^ k->item) * UINT64_C(0x9e3779b97f4a7c15);

        return brief ? &t->brief[(h >> 40) % RECENT_BRIEF] : &t->whole[k->item % RECENT_WHOLE];
}

static bool recent_is(const struct recent *r, const struct recent *k)
{
        return r->solver == k->solver && r->view == k->view && r->commit == k->commit && r->item == k->item &&
               r->generation == k->generation && r->toolchain == k->toolchain;
}

static struct fact *recent_find(struct tree *t, const struct recent *k, bool brief)
{
        const struct recent *slot = recent_slot(t, k, brief), *whole = recent_slot(t, k, false);
        struct fact *found = NULL;

        pthread_mutex_lock(&t->recent_lock);
        if (recent_is(slot, k))
                found = fact_ref(slot->fact);
        else if (recent_is(whole, k)) /* it has what a brief one has, and more */
                found = fact_ref(whole->fact);
        pthread_mutex_unlock(&t->recent_lock);
        return found;
}

static void recent_keep(struct tree *t, const struct recent *k, bool brief, struct fact *f)
{
        struct recent *slot = recent_slot(t, k, brief), old;

        if (f->out.size + f->err.size + f->json.size + f->results.size > RECENT_TOP)
                return;
        pthread_mutex_lock(&t->recent_lock);
        old = *slot;
        *slot = *k;
        solver_ref(k->solver);
        slot->fact = fact_ref(f);
        pthread_mutex_unlock(&t->recent_lock);
        recent_done(&old); /* the last of a solver takes a while */
}

/* The number of the compilers there are now. */
static int toolchain_number(struct tree *t, unsigned *ret)
{
        char now[DIGEST_HEX_SIZE];
        int r = host_toolchain(now);

        if (r < 0)
                return r;
        pthread_mutex_lock(&t->recent_lock);
        if (strcmp(now, t->toolchain) != 0) {
                strcpy(t->toolchain, now);
                t->n_toolchains++;
        }
        *ret = t->n_toolchains;
        pthread_mutex_unlock(&t->recent_lock);
        return 0;
}

int tree_fact(struct tree *t, const struct node *n, const struct cell *cell, bool brief, struct fact **ret)
{
        uint64_t generation = store_generation(workspace_store(t->workspace));
        struct recent k;
        unsigned toolchain;
        int r = toolchain_number(t, &toolchain);

        *ret = NULL;
        if (r < 0)
                return r;
        k = recent_key(n, generation, toolchain);
        *ret = recent_find(t, &k, brief);
        if (*ret)
                return 0;
        r = run_find(t->workspace, cell, brief, ret);
        if (r == 0)
                recent_keep(t, &k, brief, *ret);
        return r;
}

/* -- names of cases -- */

struct case_names *case_names_unref(struct case_names *c)
{
        if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                for (size_t i = 0; i < c->n; i++)
                        free(c->list[i].name);
                free(c);
        }
        return NULL;
}

static int case_name_compare(const void *a, const void *b)
{
        const struct case_name *x = a, *y = b;

        return strcmp(x->name, y->name);
}

static int case_names_read(struct tree *t, struct case_names **ret)
{
        cleanup(case_names_unrefp) struct case_names *c = NULL;
        struct cases *cases = workspace_cases(t->workspace);
        cleanup_free uint32_t *ids = NULL;
        uint64_t generation = cases_generation(cases); /* before the list: an older number only means a needless look later */
        size_t n;
        int r = cases_list(cases, &ids, &n);

        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c) + n * sizeof(*c->list));
        if (!c)
                return -ENOMEM;
        c->refs = 1;
        c->generation = generation;
        for (size_t i = 0; i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(cases, ids[i], &info) < 0 || info->removed)
                        continue;
                c->list[c->n] = (struct case_name){.name = strdup(info->name), .id = info->id};
                if (!c->list[c->n].name)
                        return -ENOMEM;
                c->n++;
        }
        qsort(c->list, c->n, sizeof(*c->list), case_name_compare);
        *ret = steal_pointer(c);
        return 0;
}

int tree_case_names(struct tree *t, struct case_names **ret)
{
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (!t->case_names || t->case_names->generation != cases_generation(workspace_cases(t->workspace))) {
                struct case_names *c;

                r = case_names_read(t, &c);
                if (r == 0) {
                        case_names_unref(t->case_names);
                        t->case_names = c;
                }
        }
        if (r == 0) {
                __atomic_add_fetch(&t->case_names->refs, 1, __ATOMIC_RELAXED);
                *ret = t->case_names;
        }
        pthread_mutex_unlock(&t->lock);
        return r;
}

/* -- the README -- */

static const char readme_head[] =
        "solverfs: the history of solvers as files.\n"
        "\n"
        "    cat <solver>/commits/<sha>/cases/<case>/time\n"
        "\n"
        "builds that commit if need be, runs it on that case in a sandbox under limits, keeps the result for good, and answers.\n"
        "\n"
        "Opening a file marked * starts that work and waits for it; Ctrl-C gives up. Nothing else starts anything: ls -lR, "
        "find,\n"
        "du and stat are free. cached/ shows only what is finished and never starts work: point backup tools, indexers and\n"
        "recursive grep there. To see whether a file is ready: getfattr -n user.solverfs.state FILE.\n"
        "\n"
        "Words in <angle brackets> are names that vary. A name under commits/ and cached/ may be a full sha, a prefix of at "
        "least\n"
        "four digits, a tag, a branch, HEAD~3, or anything git rev-parse takes that has no slash.\n"
        "\n";

static void readme_rows(struct buffer *b, enum kind folder, unsigned depth, bool *shown)
{
        for (size_t i = 0; i < N_KINDS; i++) {
                const struct route *row = &routes[i];
                char name[64];

                if (!(row->parents & IN(folder)) || !row->about)
                        continue;
                snprintf(name, sizeof(name), "%*s%s%s", (int)(2 * depth), "", row->name ? row->name : row->shown,
                         row->type == NODE_FOLDER     ? "/"
                         : row->type == NODE_COMPUTED ? " *"
                                                      : "");
                buffer_addf(b, "%-28s %s\n", name, row->about);
                if (row->type != NODE_FOLDER || shown[i])
                        continue;
                shown[i] = true; /* what is in it is said once */
                readme_rows(b, row->kind, depth + 1, shown);
        }
}

void tree_readme(struct buffer *ret)
{
        bool shown[N_KINDS] = {false};

        buffer_adds(ret, readme_head);
        readme_rows(ret, KIND_ROOT, 0, shown);
}
