/* One run on a slot of a worker. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/remote/cluster_internal.h"

#define ROUNDS    4                     /* that a worker may say what it lacks */
#define NO_LIMIT  (UINT64_C(1) << 30)   /* of an output, where the recipe has none */

/* A file of a run, here. */
struct file {
        struct remote_file to;
        int fd; /* -1: `bytes` */
        struct slice bytes;
};

struct running {
        struct asking ask;
        const struct runner_options *options;
        const struct run_input *input;
        struct remote_run run;
        struct file files[RECIPE_OUTPUTS_MAX + 1]; /* the programs, then the input */
        size_t n_files;
        struct buffer body; /* the request */
};

/* -- files -- */

static int add_file(struct running *x, const char *name, const char *path, struct slice bytes, const struct digest *known)
{
        struct file *f = &x->files[x->n_files++];
        struct stat st;
        int r = 0;

        *f = (struct file){.to = {.name = (char *)name, .id = *known, .size = bytes.size}, .fd = -1, .bytes = bytes};
        if (path) {
                f->fd = open(path, O_RDONLY | O_CLOEXEC);
                if (f->fd < 0 || fstat(f->fd, &st) < 0)
                        return errorf(errno == ENOENT ? -ENOENT : -EIO, "cannot read %s: %s", path, strerror(errno));
                f->to.size = (uint64_t)st.st_size;
        }
        if (digest_is_zero(known) && path)
                r = digest_of_fd(f->fd, &f->to.id, &f->to.size);
        else if (digest_is_zero(known))
                digest_of(bytes.data, bytes.size, &f->to.id);
        return r;
}

static void running_done(struct running *x)
{
        for (size_t i = 0; i < x->n_files; i++)
                closep(&x->files[i].fd);
        buffer_done(&x->body);
}

static int make_request(struct running *x)
{
        const struct runner_options *w = x->options;
        cleanup_buffer struct buffer recipe = {0};
        static const struct slice none;
        int r = recipe_print(w->recipe, &recipe);

        for (size_t i = 0; r == 0 && i < w->n_programs; i++)
                r = add_file(x, w->programs[i].name, w->programs[i].path, none, &w->programs[i].id);
        if (r == 0)
                r = add_file(x, "input", x->input->path, x->input->bytes, &x->input->id);
        if (r < 0)
                return r;
        x->run = (struct remote_run){.recipe = recipe.data,
                                     .recipe_name = w->recipe->name,
                                     .n_programs = w->n_programs,
                                     .input = x->files[w->n_programs].to,
                                     .limits = w->limits,
                                     .scratch = w->scratch,
                                     .has_seed = w->has_seed,
                                     .seed = w->seed,
                                     .sandbox = w->sandbox};
        for (size_t i = 0; i < w->n_programs; i++)
                x->run.programs[i] = x->files[i].to;
        message_write(PACKET_RUN, &x->run, &x->body);
        return 0;
}

/* -- sending -- */

static int send_file(struct running *x, const struct file *f)
{
        struct node *n = x->ask.slot->node;
        int r = asking_give(&x->ask, &f->to, f->fd, f->bytes.data);

        pthread_mutex_lock(&n->cluster->lock);
        if (r == 0)
                digest_list_add(&n->sent, f->to.id.bytes);
        pthread_mutex_unlock(&n->cluster->lock);
        return r;
}

static bool is_wanted(const struct running *x, const struct file *f)
{
        for (size_t i = 0; i < x->ask.slot->wants.n; i++)
                if (digest_equal(&x->ask.slot->wants.list[i], &f->to.id))
                        return true;
        return false;
}

/* Has another slot of the worker sent it since we asked? */
static bool was_sent_since(const struct running *x, const struct file *f)
{
        struct node *n = x->ask.slot->node;
        bool found = false;

        pthread_mutex_lock(&n->cluster->lock);
        for (size_t i = x->ask.sent_before; i < n->sent.n && !found; i++)
                found = digest_equal(&n->sent.list[i], &f->to.id);
        pthread_mutex_unlock(&n->cluster->lock);
        return found;
}

static int send_wanted(void *user)
{
        struct running *x = user;
        struct node *n = x->ask.slot->node;
        int r = 0;

        pthread_mutex_lock(&n->upload);
        for (size_t i = 0; r == 0 && i < x->n_files; i++)
                if (is_wanted(x, &x->files[i]) && !was_sent_since(x, &x->files[i]))
                        r = send_file(x, &x->files[i]);
        pthread_mutex_unlock(&n->upload);
        return r;
}

/* The input, when it is small and the worker was not sent it yet: so it need not ask. */
static int send_ahead(struct running *x)
{
        struct node *n = x->ask.slot->node;
        const struct file *input = &x->files[x->n_files - 1];
        bool known;
        int r = 0;

        if (input->to.size > AHEAD_MOST)
                return 0;
        pthread_mutex_lock(&n->upload);
        pthread_mutex_lock(&n->cluster->lock);
        known = node_was_sent(n, &input->to.id);
        pthread_mutex_unlock(&n->cluster->lock);
        if (!known)
                r = send_file(x, input);
        pthread_mutex_unlock(&n->upload);
        return r;
}

/* -- the request and its answer -- */

/* A missing library is the node's fault, not an answer of the program. */
static int check_libraries(const struct running *x, const struct execute_result *r)
{
        static const char words[] = "error while loading shared libraries: ";
        const char *at = r->end == END_EXIT && r->code == 127 && r->err.size > 0 ? memmem(r->err.data, r->err.size, words, sizeof(words) - 1) : NULL;

        if (!at)
                return 0;
        at += sizeof(words) - 1;
        return errorf(-EIO, "%s lacks a library that %s was built with: %.*s", x->ask.slot->node->hello.host, x->options->programs[0].name,
                      (int)strnlen(at, MIN((size_t)((const char *)r->err.data + r->err.size - at), (size_t)80)), at);
}

int cluster_run(struct run_away *a, const struct runner_options *options, const struct run_input *input, int cancel_fd, struct execute_result *ret)
{
        cleanup(running_done) struct running x = {.ask = {.slot = (struct cluster_slot *)a, .cancel_fd = cancel_fd}, .options = options, .input = input};
        const uint64_t limit = options->limits.output;
        int r = make_request(&x);

        if (r == 0)
                r = asking_begin(&x.ask, options->limits.wall_ns, limit ? limit + 4096 : NO_LIMIT);
        if (r == 0)
                r = send_ahead(&x);
        if (r == 0)
                r = asking_converse(&x.ask, PACKET_RUN, SLICE(x.body.data, x.body.size), ANSWER_RESULT, ROUNDS, send_wanted, &x);
        if (r == 0) {
                *ret = x.ask.slot->result;
                x.ask.slot->result = (struct execute_result){0};
                r = check_libraries(&x, ret);
        }
        asking_end(&x.ask);
        return r;
}
