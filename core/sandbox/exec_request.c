/* The request of a run as the helper reads it: struct exec_request and strings (exec_wire.h), in a file in memory. */
#include "core/sandbox/execution.h"

#include <sys/mman.h>

#include "core/sandbox/sandbox.h"

static bool is_path_character(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* The bind whose target is at `text`, as a whole path or as the beginning of one. */
static bool target_at(const char *text, const struct bind *b)
{
        size_t n = strlen(b->target);

        return strncmp(text, b->target, n) == 0 && !is_path_character(text[n]);
}

/* Adds a string as the program is to see it. Bare, a bind's target is replaced by its source wherever it is a path. */
static void add_string(struct buffer *b, const struct execution *x, const char *text)
{
        const struct execute_request *q = x->request;
        const struct bind scratch = {.source = q->scratch, .target = "/scratch"};
        const char *begin = text;

        for (const char *at = text; *at && !x->inside; at++) {
                if (*at != '/' || (at > begin && (at[-1] == '/' || is_path_character(at[-1]))))
                        continue;
                for (size_t i = 0; i <= q->n_binds; i++) {
                        const struct bind *bind = i < q->n_binds ? &q->binds[i] : &scratch;

                        if (!target_at(at, bind))
                                continue;
                        buffer_add(b, text, (size_t)(at - text));
                        buffer_adds(b, bind->source);
                        text = at + strlen(bind->target);
                        at = text - 1;
                        break;
                }
        }
        buffer_add(b, text, strlen(text) + 1);
}

int execution_write_request(const struct execution *x, int *ret_fd)
{
        const struct execute_request *q = x->request;
        cleanup_buffer struct buffer b = {0};
        const char *variable;
        cleanup_close int fd = -1;
        struct exec_request head = {
                .magic = exec_magic,
                .kept = x->kept,
                .namespace = x->inside,
                .drop = sandbox_has_users(),
                .keep_files = !x->inside,
                .has_cpus = q->cpus != NULL,
                .uid = x->uid,
                .gid = sandbox_has_users() ? SANDBOX_GID : getegid(),
                .wall_ns = q->wall_ns,
                .cpu_ns = q->cpu_ns,
                .memory = q->memory,
                .file_size = q->file_size,
                .processes = q->processes,
                .share_ns = x->share_ns,
                .watch = q->watch,
        };
        int r;

        surroundings_of(q, &head.surroundings);
        if (q->cpus)
                head.cpus = *q->cpus;
        head.n_loans = (uint32_t)q->n_loans;
        for (size_t i = 0; i < q->n_loans; i++)
                head.loans[i] = (uint16_t)q->loans[i].cpu;
        buffer_add(&b, &head, sizeof(head));
        add_string(&b, x, q->directory ? q->directory : "/scratch");
        add_string(&b, x, "/scratch");
        buffer_add(&b, x->runs_scratch, strlen(x->runs_scratch) + 1);
        add_string(&b, x, q->input ?: "");
        for (char *const *a = q->argv; *a; a++, head.n_arguments++)
                add_string(&b, x, *a);
        for (; (variable = surroundings_variable(q, head.n_environment)); head.n_environment++)
                add_string(&b, x, variable);
        if (!x->inside) {
                buffer_add(&b, x->mark, strlen(x->mark) + 1);
                head.n_environment++;
        }
        r = buffer_error(&b);
        if (r < 0)
                return r;
        memcpy(b.data, &head, sizeof(head));
        fd = memfd_create("solverfs-exec", MFD_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot hold a request in memory: %s", strerror(errno));
        r = write_all(fd, b.data, b.size);
        if (r < 0)
                return errorf(r, "cannot write a request: %s", strerror(-r));
        *ret_fd = steal_fd(&fd);
        return 0;
}
