/* One run on a slot of a worker. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/remote/cluster_internal.h"

#define ROUNDS    4                     /* in which a worker may ask for missing files */
#define NO_LIMIT  (UINT64_C(1) << 30)   /* of an output, if the recipe has none */

struct running {
        struct call call;
        const struct runner_options *options;
        const struct run_input *input;
        struct remote_run run;
        int fds[RECIPE_OUTPUTS_MAX + 1]; /* of the programs, then of the input; -1: it is the input's `bytes` */
        size_t n_fds;
        struct buffer recipe;
};

static void running_done(struct running *x)
{
        for (size_t i = 0; i < x->n_fds; i++)
                closep(&x->fds[i]);
        buffer_done(&x->recipe);
}

/* -- files -- */

/* Adds a file; without a path it is the input's `bytes`. */
static int add_file(struct running *x, struct remote_file *f, const char *name, const char *path, const struct digest *known)
{
        int *fd = &x->fds[x->n_fds++], r = 0;
        struct stat st;

        *fd = -1;
        *f = (struct remote_file){.name = (char *)name, .id = *known, .size = x->input->bytes.size};
        if (path) {
                *fd = open(path, O_RDONLY | O_CLOEXEC);
                if (*fd < 0 || fstat(*fd, &st) < 0)
                        return errorf(errno == ENOENT ? -ENOENT : -EIO, "cannot read %s: %s", path, strerror(errno));
                f->size = (uint64_t)st.st_size;
        }
        if (digest_is_zero(known) && path)
                r = digest_of_fd(*fd, &f->id, &f->size);
        else if (digest_is_zero(known))
                digest_of(x->input->bytes.data, f->size, &f->id);
        return r;
}

static int make_request(struct running *x)
{
        const struct runner_options *w = x->options;
        int r = recipe_print(w->recipe, &x->recipe);

        x->run = (struct remote_run){.recipe = x->recipe.data,
                                     .recipe_name = w->recipe->name,
                                     .n_programs = w->n_programs,
                                     .limits = w->limits,
                                     .scratch = w->scratch,
                                     .has_seed = w->has_seed,
                                     .seed = w->seed,
                                     .sandbox = w->sandbox};
        for (size_t i = 0; r == 0 && i < w->n_programs; i++)
                r = add_file(x, &x->run.programs[i], w->programs[i].name, w->programs[i].path, &w->programs[i].id);
        return r < 0 ? r : add_file(x, &x->run.input, "input", x->input->path, &x->input->id);
}

static int send_wanted(void *user)
{
        struct running *x = user;
        int r = 0;

        for (size_t i = 0; r == 0 && i < x->n_fds; i++)
                r = call_give_wanted(&x->call, i < x->run.n_programs ? &x->run.programs[i] : &x->run.input, x->fds[i], x->input->bytes.data);
        return r;
}

/* -- the request and its answer -- */

/* A missing library is the node's fault, not the program's answer; one that the memory limit leaves no room for is a memout. */
static int check_libraries(const struct running *x, const struct execute_result *r)
{
        const struct slice library = r->end == END_EXIT && r->code == 127 ? verdict_missing_library(r) : SLICE(NULL, 0);

        if (library.size == 0)
                return 0;
        return errorf(-EIO, "%s lacks a library that %s was built with: %.*s", x->call.slot->node->hello.host, x->options->programs[0].name,
                      (int)strnlen(library.data, MIN(library.size, (size_t)80)), (const char *)library.data);
}

int cluster_run(struct run_remote *a, const struct runner_options *options, const struct run_input *input, int cancel_fd, struct execute_result *ret)
{
        cleanup(running_done) struct running x = {.call = {.slot = (struct cluster_slot *)a, .cancel_fd = cancel_fd}, .options = options, .input = input};
        const uint64_t limit = options->limits.output;
        int r = make_request(&x);

        x.call.slot->run_ns = options->limits.wall_ns;
        if (r == 0)
                r = call_begin(&x.call, options->limits.wall_ns, limit ? limit + 4096 : NO_LIMIT); /* and the mark of a cut */
        if (r == 0 && x.run.input.size <= AHEAD_MOST)
                r = call_give_first(&x.call, &x.run.input, x.fds[options->n_programs], input->bytes.data);
        if (r == 0)
                r = call_converse(&x.call, PACKET_RUN, &x.run, PACKET_RESULT, ROUNDS, send_wanted, &x);
        if (r == 0) {
                *ret = x.call.slot->result;
                x.call.slot->result = (struct execute_result){0};
                r = check_libraries(&x, ret);
        }
        call_end(&x.call);
        return r;
}
