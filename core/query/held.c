#include "core/query/held.h"

#include <fcntl.h>

void held_done(struct held *h)
{
        for (size_t i = 0; i < h->n; i++) {
                close(h->fds[i]);
                free(h->texts[2 * i]);
                free(h->texts[2 * i + 1]);
        }
        *h = (struct held){0};
}

/* Takes over the descriptor. */
static void add(struct held *h, int fd, const char *path, const char *name)
{
        char **texts = &h->texts[2 * h->n];

        h->fds[h->n] = fd;
        texts[0] = copy_string(path);
        texts[1] = copy_string(name);
        h->list[h->n++] = (struct run_program){.path = texts[0], .name = texts[1]};
}

int held_build(struct workspace *w, const struct build_record *record, struct held *ret)
{
        int r = 0;

        *ret = (struct held){0};
        if (!record->ok)
                return errorf(-ENODATA, "the build failed");
        if (record->n_outputs > RECIPE_OUTPUTS_MAX)
                return errorf(-E2BIG, "the build has %zu outputs; at most %d are supported", record->n_outputs,
                              RECIPE_OUTPUTS_MAX);
        for (size_t i = 0; r == 0 && i < record->n_outputs; i++) {
                char path[PATH_SIZE];
                int fd;

                r = programs_get(workspace_programs(w), &record->outputs[i].id, &fd, path);
                if (r < 0)
                        break;
                add(ret, fd, path, record->outputs[i].name);
                ret->list[ret->n - 1].id = record->outputs[i].id;
        }
        if (r < 0)
                held_done(ret);
        return r;
}

int held_program(const char *path, struct held *ret)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        *ret = (struct held){0};
        if (fd < 0)
                return errorf(-errno, "cannot open the program %s: %s", path, strerror(errno));
        add(ret, fd, path, basename(path));
        return 0;
}

static bool fits(void *runner, const void *options)
{
        return runner_reuse(runner, options);
}

static void close_runner(void *runner)
{
        runner_close(runner);
}

struct runner *job_runner(struct job *j, const struct runner_options *o)
{
        return job_take_left(j, fits, o) ?: runner_open(o);
}

void job_leave_runner(struct job *j, struct runner *r)
{
        if (!r)
                return;
        runner_abandon(r);
        job_leave(j, r, close_runner);
}
