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
        struct call call;
        const struct run_words *words;
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
        const struct run_words *w = x->words;
        cleanup_buffer struct buffer recipe = {0};
        static const struct slice none;
        int r = recipe_print(w->recipe, &recipe);

        for (size_t i = 0; r == 0 && i < w->n_programs; i++)
                r = add_file(x, w->programs[i].name, w->programs[i].path, none, &w->programs[i].id);
        if (r == 0)
                r = add_file(x, "input", w->path, w->bytes, &w->id);
        if (r < 0)
                return r;
        x->run = (struct remote_run){.recipe = recipe.data,
                                     .recipe_name = w->recipe->name,
                                     .n_programs = w->n_programs,
                                     .input = x->files[w->n_programs].to,
                                     .limits = *w->limits,
                                     .scratch = w->scratch,
                                     .has_seed = w->has_seed,
                                     .seed = w->seed,
                                     .sandbox = w->sandbox};
        for (size_t i = 0; i < w->n_programs; i++)
                x->run.programs[i] = x->files[i].to;
        message_write(PACKET_RUN, &x->run, &x->body);
        return 0;
}

static int send_wanted(void *user)
{
        struct running *x = user;
        int r = 0;

        for (const struct file *f = x->files; r == 0 && f < x->files + x->n_files; f++)
                if (call_wants(&x->call, &f->to.id))
                        r = call_give(&x->call, &f->to, f->fd, f->bytes.data);
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
        return errorf(-EIO, "%s lacks a library that %s was built with: %.*s", x->call.slot->node->hello.host, x->words->programs[0].name,
                      (int)strnlen(at, MIN((size_t)((const char *)r->err.data + r->err.size - at), (size_t)80)), at);
}

int cluster_run(struct run_away *a, const struct run_words *words, int cancel_fd, struct execute_result *ret)
{
        cleanup(running_done) struct running x = {.call = {.slot = (struct cluster_slot *)a, .cancel_fd = cancel_fd}, .words = words};
        const uint64_t limit = words->limits->output;
        int r = make_request(&x);
        const struct file *input = &x.files[words->n_programs];

        if (r == 0)
                r = call_begin(&x.call, words->limits->wall_ns, limit ? limit + 4096 : NO_LIMIT);
        if (r == 0 && input->to.size <= AHEAD_MOST)
                r = call_give_first(&x.call, &input->to, input->fd, input->bytes.data);
        if (r == 0)
                r = call_converse(&x.call, PACKET_RUN, SLICE(x.body.data, x.body.size), PACKET_RESULT, ROUNDS, send_wanted, &x);
        if (r == 0) {
                *ret = x.call.slot->result;
                x.call.slot->result = (struct execute_result){0};
                r = check_libraries(&x, ret);
        }
        call_end(&x.call);
        return r;
}
