/* After a re-measurement the kernel forgets the cells that show it, one by one; after a repeated build, another recipe, or more re-measurements than are
 * noted it forgets all solvers. */
#include "fs/kernel/notify.h"

#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "core/query/scrambled.h"
#include "fs/routes/routes.h"

/* A commit that has a program, and so shows the program's results. */
struct shown {
        struct digest program;
        uint32_t solver, commit; /* numbers */
};

struct notify {
        struct tree *tree;           /* borrowed */
        struct node_map *nodes;      /* borrowed */
        struct fuse_session *fuse;   /* borrowed */
        off_t pages;                 /* offset from which pages are dropped: 0, or -1 for none (the daemon sees opens) */
        char *index;                 /* path of its folder */
        int watch, asked;            /* inotify; an eventfd: a request settles, or the thread shall end */
        bool is_over;                /* atomic */
        uint64_t seen;               /* re-measurements and builds that the kernel knows */
        uint64_t recipes;            /* edited and removed recipes that it knows */
        struct solver_list *solvers; /* a ref; the solvers at that time */
        unsigned told;               /* invalidations of their names since */
        uint64_t due;                /* when to invalidate them again, now_ns(); 0: never */
        struct shown *shown;         /* owned; by program; kept from one look to the next */
        size_t n_shown;
        uint64_t shown_state;        /* programs_state() when they were found; 0: to be found anew */
        pthread_t thread;

        pthread_mutex_t lock;
        fuse_req_t *settling; /* owned list; requests to answer after the next look; under lock */
        size_t n_settling;
        bool ended; /* the thread will not look again; under lock */
};

/* -- cells -- */

/* Makes the kernel ask for attributes again, and drops pages if it is to. -ENOENT: the kernel does not know the inode. */
static int forget_inode(struct notify *n, const struct inode *inode)
{
        return fuse_lowlevel_notify_inval_inode(n->fuse, node_map_node(n->nodes, inode_pack(*inode)), n->pages, 0);
}

/* Where the daemon does not see opens, a reader may be in the middle of the file. So its pages stay, and the name gets another node. */
static void move_file(struct notify *n, uint64_t cell, const struct inode *inode, const char *name)
{
        node_map_move(n->nodes, node_map_node(n->nodes, inode_pack(*inode)));
        fuse_lowlevel_notify_inval_entry(n->fuse, cell, name, strlen(name));
}

/* Invalidates a cell's folder and every file in it. */
static void forget_cell(struct notify *n, struct inode inode)
{
        uint64_t cell;

        inode.kind = KIND_CELL;
        cell = inode_pack(inode);
        if (forget_inode(n, &inode) == -ENOENT)
                return;
        for (const struct route *const *row = routes_in(KIND_CELL); *row; row++) {
                inode.kind = (*row)->kind;
                if (n->pages == 0 && (*row)->type != NODE_FOLDER && (*row)->name)
                        move_file(n, cell, &inode, (*row)->name);
                else
                        forget_inode(n, &inode);
        }
        /* with the name the kernel drops everything below it */
        fuse_lowlevel_notify_inval_entry(n->fuse, cell, "queries", strlen("queries"));
}

/* A run under one time limit may be the answer under any other (core/run/fact.h). So the name of the folder of limits is invalidated, and with it the
 * kernel drops everything below. */
static void forget_timeouts(struct notify *n, const struct view *v, uint32_t commit)
{
        static const char name[] = "timeout";
        struct inode inode = {.kind = KIND_COMMIT, .commit = commit};

        if (tree_set_view(n->tree, &(struct view){.solver = v->solver, .cached = v->cached}, &inode) == 0)
                fuse_lowlevel_notify_inval_entry(n->fuse, inode_pack(inode), name, sizeof(name) - 1);
}

static void forget_view(struct notify *n, const struct view *v, struct inode inode)
{
        if (tree_set_view(n->tree, v, &inode) == 0)
                forget_cell(n, inode);
}

static void forget_commit(struct notify *n, const struct remeasured *r, uint32_t commit)
{
        for (int cached = 0; cached <= 1; cached++) {
                struct view v = {.solver = r->solver, .cached = cached, .setting = r->has_seed ? SETTING_SEED : SETTING_NONE, .n = r->seed};
                const struct inode inode = {.commit = commit, .item = r->case_id};

                forget_view(n, &v, inode);
                if (r->has_seed) /* the tree has no cells with a seed and a time limit */
                        continue;
                forget_timeouts(n, &v, commit);
                v.setting = SETTING_TIMEOUT;
                v.n = r->wall_ns;
                if (r->wall_ns > 0) /* even if the folder is in use */
                        forget_view(n, &v, inode);
        }
}

/* -- the cells that show a re-measurement -- */

/* One look at re-measurements. They usually come in numbers, so the two lists are read once. */
struct forgetting {
        struct notify *notify;
        bool is_read;                   /* notify->shown and the inputs */
        struct scrambled_input *inputs; /* owned */
        size_t n_inputs;
        bool is_all; /* everything is to be forgotten: a build was repeated, or may have been, or it is not known whose programs were run again */
};

static void forgetting_done(struct forgetting *f)
{
        free(f->inputs);
}

/* Changes with the programs of any commit of these solvers, except when lost sources are there again. 0: unknown, as where builds of a cluster depend on
 * the tools of its workers. */
static uint64_t programs_state(struct workspace *w, const struct solver_list *l)
{
        uint64_t state;

        if (build_programs_state(w, &state) < 0)
                return 0;
        for (size_t i = 0; i < l->n; i++) {
                const struct solver *s = l->list[i];
                const uint64_t parts[] = {state, s->number, s->version, history_generation(s->history)};

                if (s->builder)
                        return 0;
                state = hash_quick(parts, sizeof(parts));
        }
        return state;
}

/* Finds the commits of all solvers that have a program: equal programs have the same results in all of them. It takes a while for many commits. False:
 * some are missing. */
static bool find_shown(struct notify *n, const struct solver_list *l)
{
        struct workspace *w = tree_workspace(n->tree);
        uint64_t state = programs_state(w, l);
        bool is_whole = true, may_keep = true;

        if (state != 0 && state == n->shown_state)
                return true;
        free(steal_pointer(n->shown));
        n->n_shown = 0;
        for (size_t i = 0; i < l->n; i++) {
                cleanup_free struct digest *programs = NULL;
                uint32_t n_commits = 0;
                bool has_gaps = false;

                is_whole &= commit_programs(w, l->list[i], &programs, &n_commits, &has_gaps) == 0;
                may_keep &= !has_gaps; /* a commit whose sources cannot be read shows nothing now, but may do so at the next look */
                for (uint32_t k = 0; k < n_commits; k++)
                        if (!digest_is_zero(&programs[k]))
                                list_add(n->shown, n->n_shown, (struct shown){programs[k], l->list[i]->number, k});
        }
        sort_list(n->shown, n->n_shown, sizeof(*n->shown), digest_compare);
        n->shown_state = is_whole && may_keep ? state : 0;
        return is_whole;
}

static void read_lists(struct forgetting *f)
{
        struct workspace *w = tree_workspace(f->notify->tree);
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;

        if (!f->is_read)
                f->is_all |= workspace_solvers(w, &l) < 0 || !find_shown(f->notify, l) || scrambled_list(w, NULL, &f->inputs, &f->n_inputs) < 0;
        f->is_read = true;
}

/* Invalidates the scrambled cells whose input this case is. */
static void forget_scrambled(const struct forgetting *f, const struct remeasured *r, const struct case_info *info, uint32_t commit)
{
        for (size_t i = 0; info && i < f->n_inputs && !r->has_seed; i++) {
                cleanup(case_info_unrefp) struct case_info *of = NULL;

                if (!digest_equal(&f->inputs[i].sha256, &info->sha256) ||
                    cases_find_digest(workspace_cases(tree_workspace(f->notify->tree)), &f->inputs[i].of, &of) < 0)
                        continue;
                for (int cached = 0; cached <= 1; cached++)
                        forget_view(f->notify, &(struct view){r->solver, cached, SETTING_SCRAMBLED, f->inputs[i].seed},
                                    (struct inode){.commit = commit, .item = of->id});
        }
}

/* Forgets the cells that show a re-measurement. */
static void forget(void *user, const struct remeasured *r)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct forgetting *f = user;
        const struct notify *n = f->notify;
        struct remeasured its = *r; /* in the solver of each commit that has the program */

        f->is_all |= r->case_id == 0;
        if (r->case_id == 0)
                return;
        read_lists(f);
        if (f->n_inputs > 0)
                cases_get(workspace_cases(tree_workspace(n->tree)), r->case_id, &info);
        for (size_t i = lower_bound(&r->program, n->shown, n->n_shown, sizeof(*n->shown), digest_compare);
             i < n->n_shown && digest_equal(&n->shown[i].program, &r->program); i++) {
                its.solver = n->shown[i].solver;
                forget_commit(f->notify, &its, n->shown[i].commit);
                forget_scrambled(f, &its, info, n->shown[i].commit);
        }
}

/* -- solvers -- */

static void forget_names(struct notify *n, const struct solver_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                const char *name = l->list[i]->recipe->name;

                fuse_lowlevel_notify_inval_entry(n->fuse, FUSE_ROOT_ID, name, strlen(name));
        }
}

/* The kernel keeps a name that is in use at that moment, or held by O_PATH, with everything below it: the next lookup of a folder above
 * brings it back. So the name is invalidated again later, when it is probably no longer in use. */
static void forget_later(struct notify *n)
{
        static const uint64_t later[] = {100 * NSEC_PER_MSEC, NSEC_PER_SEC, 10 * NSEC_PER_SEC};

        n->due = n->told < ARRAY_SIZE(later) ? now_ns() + later[n->told] : 0;
        n->told++;
}

/* When a name is invalidated, the kernel drops everything below it that is not open. This invalidates all solvers: finding the one whose recipe or
 * build changed is not worth the work. */
static void forget_solvers(struct notify *n)
{
        struct solver_list *now;

        if (workspace_solvers(tree_workspace(n->tree), &now) < 0)
                return;
        forget_names(n, n->solvers);
        forget_names(n, now);
        solver_list_unref(n->solvers);
        n->solvers = now;
        n->told = 0;
        forget_later(n);
}

/* -- looks -- */

static void look(struct notify *n)
{
        struct workspace *w = tree_workspace(n->tree);
        cleanup(forgetting_done) struct forgetting f = {.notify = n};
        uint64_t now = runs_remeasured(w), recipes = workspace_recipes_changed(w);

        f.is_all = now - n->seen > REMEASURED_KEPT; /* some notes are gone: everything is forgotten */
        if (now != n->seen && runs_remeasured_since(w, n->seen, forget, &f) == 0)
                n->seen = now;
        if (recipes != n->recipes || f.is_all)
                forget_solvers(n);
        n->recipes = recipes;
}

/* Looks for changes, then answers the requests that came before. `at_end`: this is the last look. */
static void look_and_settle(struct notify *n, bool at_end)
{
        fuse_req_t *list;
        size_t count;

        pthread_mutex_lock(&n->lock);
        n->ended = at_end;
        count = n->n_settling;
        list = steal_pointer(n->settling);
        n->n_settling = 0;
        pthread_mutex_unlock(&n->lock);
        if (count > 0 && !at_end)
                workspace_look_again(tree_workspace(n->tree));
        if (!at_end)
                look(n);
        for (size_t i = 0; i < count; i++)
                fuse_reply_err(list[i], ENODATA);
        free(list);
}

void notify_settle(struct notify *n, fuse_req_t req)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);

        if (n->ended) {
                fuse_reply_err(req, ENODATA);
                return;
        }
        list_add(n->settling, n->n_settling, req);
        eventfd_write(n->asked, 1);
}

/* A rebuilt index is another folder. For one that is watched already this does nothing. */
static int watch_index(struct notify *n)
{
        return inotify_add_watch(n->watch, n->index, IN_MODIFY);
}

static void *notify_thread(void *user)
{
        struct notify *n = user;

        for (;;) {
                struct pollfd fds[] = {{.fd = n->watch, .events = POLLIN}, {.fd = n->asked, .events = POLLIN}};
                uint64_t now = now_ns();
                char events[4096];
                eventfd_t ignored;

                if (poll(fds, ARRAY_SIZE(fds), n->due == 0 ? -1 : n->due <= now ? 0 : (int)((n->due - now) / NSEC_PER_MSEC) + 1) < 0 && errno != EINTR)
                        break;
                if (__atomic_load_n(&n->is_over, __ATOMIC_ACQUIRE))
                        break;
                if (n->due > 0 && now_ns() >= n->due) {
                        forget_names(n, n->solvers);
                        forget_later(n);
                }
                if (!fds[0].revents && !fds[1].revents)
                        continue;
                if (fds[1].revents)
                        eventfd_read(n->asked, &ignored);
                else
                        usleep(20 * 1000); /* a commit is several writes: look once after all of them */
                while (read(n->watch, events, sizeof(events)) > 0)
                        ;
                watch_index(n);
                look_and_settle(n, false);
        }
        look_and_settle(n, true);
        return NULL;
}

/* -- life -- */

static void notify_free(struct notify *n)
{
        closep(&n->watch);
        closep(&n->asked);
        free(n->index);
        pthread_mutex_destroy(&n->lock);
        solver_list_unref(n->solvers);
        free(n->shown);
        free(n);
}

static int watch(struct notify *n, const char *store)
{
        int r = 0;

        n->index = format_string("%s/lmdb", store);
        n->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        n->asked = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (n->watch < 0 || n->asked < 0 || watch_index(n) < 0 ||
            inotify_add_watch(n->watch, store, IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
                r = -errno;
        if (r == 0)
                r = thread_start(&n->thread, notify_thread, n);
        return r < 0 ? errorf(r, "cannot watch %s: %s", store, strerror(-r)) : 0;
}

int notify_start(struct tree *t, struct node_map *nodes, struct fuse_session *fuse, bool sees_no_opens, struct notify **ret)
{
        struct notify *n = allocate(1, sizeof(*n));
        int r;

        *n = (struct notify){.tree = t, .nodes = nodes, .fuse = fuse, .pages = sees_no_opens ? 0 : -1, .watch = -1, .asked = -1};
        pthread_mutex_init(&n->lock, NULL);
        n->seen = runs_remeasured(tree_workspace(t));
        n->recipes = workspace_recipes_changed(tree_workspace(t));
        r = workspace_solvers(tree_workspace(t), &n->solvers) ?: watch(n, workspace_dir(tree_workspace(t)));
        if (r < 0) {
                notify_free(n);
                return r;
        }
        *ret = n;
        return 0;
}

void notify_stop(struct notify *n)
{
        if (!n)
                return;
        __atomic_store_n(&n->is_over, true, __ATOMIC_RELEASE);
        eventfd_write(n->asked, 1);
        pthread_join(n->thread, NULL);
        notify_free(n);
}
