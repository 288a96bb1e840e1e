/* Builds of a worker: sources from its folder of files, a clean tree, programs into the folder. A function that asks the head for missing files returns 1,
 * which ends the request: the head sends them, and asks again. */

#include "core/build/live_log.h"
#include "core/remote/worker_internal.h"
#include "core/sandbox/exec_wire.h"
#include "core/run/slot.h"

#define LOOK_MS    10
#define TREE_MOST  (UINT64_C(1) << 28) /* bytes of a list of sources */

struct building {
        struct worker *worker;
        struct request *request;
        struct remote_tree tree; /* its files are moved into `given` */
        struct build_given given;
        int *downloads;          /* owned; opened so that they are not deleted during the build; as many as the tree has */
        size_t n_downloads;
        struct core_loan loans[EXEC_LOANS_MOST]; /* their locks are owned */
        size_t n_loans;
        cpu_set_t cpus;
        size_t said; /* part of REMOTE_SAID used */
};

static void building_done(struct building *b)
{
        for (size_t i = 0; i < b->n_downloads; i++)
                close(b->downloads[i]);
        free(b->downloads);
        for (size_t i = 0; i < b->n_loans; i++)
                close(b->loans[i].lock);
        if (b->n_loans > 0) {
                pthread_mutex_lock(&b->worker->lock);
                b->worker->n_building--;
                pthread_mutex_unlock(&b->worker->lock);
        }
        remote_tree_done(&b->tree);
        manifest_done(&b->given.files);
}

/* -- files -- */

static int read_tree(struct building *b)
{
        const struct remote_file *f = &b->request->build.tree;
        cleanup_digests struct digest_list wanted = {0};
        cleanup_blob struct blob bytes = {0};
        cleanup_close int fd = -1;

        return worker_look_for(b->worker, f, &wanted, &fd)
            ?: worker_ask(b->worker, b->request->id, &wanted)
            ?: read_fd(fd, TREE_MOST, &bytes)
            ?: remote_tree_read(SLICE(bytes.data, bytes.size), &b->tree);
}

static int look_for_downloads(struct building *b, struct digest_list *wanted)
{
        int r = 0;

        b->downloads = allocate(b->tree.n_downloads + 1, sizeof(*b->downloads));
        for (size_t i = 0; r == 0 && i < b->tree.n_downloads; i++) {
                int fd = -1;

                r = worker_look_for(b->worker, &b->tree.downloads[i], wanted, &fd);
                if (fd >= 0)
                        b->downloads[b->n_downloads++] = fd;
        }
        return r;
}

static int ask_for_missing(struct building *b)
{
        cleanup_digests struct digest_list wanted = {0};
        const struct manifest *files = &b->tree.files;
        int r = look_for_downloads(b, &wanted);

        for (size_t i = 0; r == 0 && i < files->n && wanted.n < REMOTE_WANTS; i++) {
                const struct remote_file f = {.id = files->list[i].content, .size = files->list[i].size};
                cleanup_close int fd = -1;

                if (files->list[i].mode != MODE_SUBMODULE)
                        r = worker_look_for(b->worker, &f, &wanted, &fd);
        }
        return r < 0 ? r : worker_ask(b->worker, b->request->id, &wanted);
}

static int content(void *user, const struct tracked *t, struct blob *ret)
{
        struct building *b = user;
        const struct remote_file f = {.id = t->content, .size = t->size};
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        int r = worker_hold(b->worker, &f, &fd, path);

        if (r == -ENOENT)
                return errorf(-EIO, "files were deleted as soon as they had arrived: raise --keep in 'worker'");
        return r < 0 ? r : read_fd(fd, f.size, ret);
}

/* -- programs -- */

static int program_bytes(void *user, const struct digest *, struct blob *ret)
{
        return read_fd(*(int *)user, UINT64_MAX, ret);
}

static int keep_output(void *user, int fd, struct digest *ret_id, uint64_t *ret_size)
{
        struct building *b = user;
        cleanup_close int kept = -1;
        char path[PATH_SIZE];
        int r = digest_of_fd(fd, ret_id, ret_size);

        if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
                r = -errno;
        return r < 0 ? r : program_folder_get(&b->worker->folder, ret_id, *ret_size, program_bytes, &fd, &kept, path);
}

/* -- the build -- */

static void tell(void *user, const char *what, uint64_t done, uint64_t total)
{
        struct building *b = user;

        worker_send_message(b->worker, PACKET_PROGRESS, b->request->id,
                            &(struct remote_progress){.what = (char *)what, .done = done, .total = total});
}

/* Small pieces count as REMOTE_SAID_LEAST, so that a flood of them is bounded, too. */
static void hear(void *user, struct slice text)
{
        struct building *b = user;
        size_t cost = MAX(text.size, (size_t)REMOTE_SAID_LEAST);

        if (b->said == REMOTE_SAID)
                return;
        if (cost > REMOTE_SAID - REMOTE_SAID_LEAST - b->said) {
                text = SLICE(LIVE_LOG_REST, strlen(LIVE_LOG_REST));
                cost = REMOTE_SAID - b->said;
        }
        b->said += cost;
        worker_send(b->worker, PACKET_SAID, b->request->id, text);
}

static bool stop(void *user)
{
        return fd_is_readable(((struct building *)user)->request->cancel_fd);
}

static int send_built(struct building *b, const struct build_record *record)
{
        cleanup_buffer struct buffer body = {0};

        return worker_send_output(b->worker, b->request->id, 0, &record->log)
            ?: remote_built_write(record, &body)
            ?: worker_send(b->worker, PACKET_BUILT, b->request->id, SLICE(body.data, body.size));
}

/* Only the first build is a guest: each has as many jobs as cores. -EAGAIN if others have all cores. */
static int try_borrow(struct building *b)
{
        struct worker *w = b->worker;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        int r = slot_borrow(w->options->folder, "a build for another machine", MIN(w->n_slots, (unsigned)ARRAY_SIZE(b->loans)),
                            w->n_building == 0 ? SLOT_GUEST : SLOT_BUILD, b->loans, &b->n_loans);

        w->n_building += r == 0;
        return r;
}

static int borrow(struct building *b)
{
        int r = try_borrow(b);

        while (r == -EAGAIN)
                r = pause_unless_cancelled(b->request->cancel_fd, LOOK_MS) ?: try_borrow(b);
        return r;
}

static int build_with(struct building *b, const struct recipe *recipe)
{
        const struct progress progress = {.tell = tell, .stop = stop, .user = b};
        const struct listener listener = {.hear = hear, .user = b};
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct remote_build *build = &b->request->build;
        cleanup_free char *work = format_string("%s/work", b->worker->options->folder);
        int r = borrow(b);

        for (size_t i = 0; i < b->n_loans; i++)
                CPU_SET((unsigned)b->loans[i].cpu, &b->cpus);
        if (r == 0)
                r = build_given(&(struct build_request){.recipe = recipe,
                                                        .work_dir = work,
                                                        .downloads_dir = b->worker->folder.dir,
                                                        .sandbox = build->sandbox,
                                                        .jobs = (unsigned)b->n_loans,
                                                        .cpus = &b->cpus,
                                                        .loans = b->loans,
                                                        .n_loans = b->n_loans,
                                                        .slot = (unsigned)b->loans[0].cpu,
                                                        .cancel_fd = b->request->cancel_fd,
                                                        .progress = &progress,
                                                        .listener = &listener},
                                &b->given, &record);
        return r < 0 ? r : send_built(b, record);
}

int worker_build(struct worker *w, struct request *q)
{
        cleanup(building_done) struct building b = {.worker = w, .request = q};
        struct recipe **list = NULL;
        size_t n = 0;
        int r = read_tree(&b)
            ?: ask_for_missing(&b)
            ?: recipe_parse(q->build.recipe, "the head's recipe", q->build.recipe_name, &list, &n);

        b.given = (struct build_given){
                .files = b.tree.files, .toolchain = q->build.toolchain, .content = content, .output = keep_output, .user = &b};
        b.tree.files = (struct manifest){0};
        if (r == 0)
                r = build_with(&b, list[0]);
        recipe_list_free(list, n);
        return MIN(r, 0);
}

/* -- fetched bytes -- */

int worker_fetch(struct worker *w, struct request *q)
{
        cleanup_blob struct blob bytes = {0};
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        int r = worker_hold(w, &q->fetch, &fd, path);

        if (r == -ENOENT)
                r = errorf(-ENOENT, "a program was deleted as soon as it was built: raise --keep in 'worker'");
        if (r == 0)
                r = read_fd(fd, q->fetch.size, &bytes) ?: worker_send_output(w, q->id, 0, &bytes);
        return r < 0 ? r : worker_send(w, PACKET_SENT, q->id, SLICE("", 0));
}
