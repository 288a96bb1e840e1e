/* One build on a slot of a worker: sends the sources, receives the programs. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/remote/cluster_internal.h"

#define ROUNDS       4                     /* in which a worker may ask for missing files, besides one for each REMOTE_WANTS files */
#define LOG_OF_EACH  (UINT64_C(128) << 10) /* of a command's output, however many commands share the recipe's limit */

struct building {
        struct call call;
        const struct build_request *request;
        struct sources *sources;
        struct buffer recipe, tree; /* tree: the list of sources */
        struct remote_build build;  /* the request */
        struct remote_file *downloads; /* owned; without names */
        int *fds;                      /* owned; of the downloads */
        size_t n_downloads;
};

static void building_done(struct building *x)
{
        buffer_done(&x->tree);
        buffer_done(&x->recipe);
        for (size_t i = 0; i < x->n_downloads; i++)
                closep(&x->fds[i]);
        free(x->downloads);
        free(x->fds);
}

/* -- the request -- */

static int open_downloads(struct building *x)
{
        const struct build_request *q = x->request;
        char *const *lines = q->recipe->downloads;

        x->downloads = allocate(strings_count(lines), sizeof(*x->downloads));
        x->fds = allocate(strings_count(lines), sizeof(*x->fds));
        for (size_t i = 0; lines[i]; i++) {
                char hex[DIGEST_HEX_SIZE], path[PATH_SIZE];
                struct slice name;
                struct stat st;

                recipe_download(lines[i], &x->downloads[i].id, &name);
                digest_hex(&x->downloads[i].id, hex);
                x->fds[i] = q->downloads_dir && path_join(path, q->downloads_dir, hex) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
                x->n_downloads++;
                if (x->fds[i] < 0 || fstat(x->fds[i], &st) < 0 || !S_ISREG(st.st_mode))
                        return errorf(-EIO, "a file that the recipe of %s downloads is not in the store: 'solverfs solver update' gets it",
                                      q->recipe->name);
                x->downloads[i].size = (uint64_t)st.st_size;
        }
        return 0;
}

static int make_request(struct building *x, const char *toolchain)
{
        const struct build_request *q = x->request;
        int r = recipe_print(q->recipe, &x->recipe) ?: open_downloads(x);

        if (r == 0)
                r = remote_tree_write(&(struct remote_tree){.files = x->sources->files, .downloads = x->downloads, .n_downloads = x->n_downloads},
                                      &x->tree);
        if (r < 0)
                return r;
        x->build = (struct remote_build){.recipe = x->recipe.data,
                                         .recipe_name = q->recipe->name,
                                         .toolchain = (char *)toolchain,
                                         .tree = {.name = (char *)"tree", .size = x->tree.size},
                                         .sandbox = q->sandbox};
        digest_of(x->tree.data, x->tree.size, &x->build.tree.id);
        return 0;
}

/* -- missing files -- */

static int send_sources(struct building *x)
{
        struct sources *s = x->sources;
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->files.n; i++) {
                const struct tracked *t = &s->files.list[i];
                cleanup_blob struct blob b = {0};

                if (i % 256 == 0)
                        r = progress_step(x->request->progress, "sending sources", i, s->files.n);
                if (r < 0 || t->mode == MODE_SUBMODULE || !call_wants(&x->call, &t->content))
                        continue;
                r = sources_content(s, t, &b)
                    ?: call_give_wanted(&x->call, &(struct remote_file){.id = t->content, .size = b.size}, -1, b.data ?: "");
        }
        return r;
}

static int send_wanted(void *user)
{
        struct building *x = user;
        int r = call_give_wanted(&x->call, &x->build.tree, -1, x->tree.data);

        for (size_t i = 0; r == 0 && i < x->n_downloads; i++)
                r = call_give_wanted(&x->call, &x->downloads[i], x->fds[i], NULL);
        return r == 0 ? send_sources(x) : r;
}

/* -- results -- */

static int put_program(struct building *x, const struct build_output *o)
{
        const struct buffer *bytes = &x->call.slot->out;
        cleanup_close int fd = memfd_create(o->name, MFD_CLOEXEC);
        struct digest id;
        uint64_t size;
        int r = fd < 0 ? -errno : write_all(fd, bytes->data, bytes->size);

        if (r < 0)
                return errorf(r, "cannot keep a program in memory: %s", strerror(-r));
        digest_of(bytes->data, bytes->size, &id);
        if (!digest_equal(&id, &o->id))
                return call_lose(&x->call, "was cut off: it sent another program than it built");
        return programs_put(x->request->programs, fd, NULL, &id, &size);
}

static int fetch(struct building *x, const struct build_output *o)
{
        int r;

        progress_tell(x->request->progress, "storing programs", 0, 0);
        r = call_begin(&x->call, 0, o->size)
            ?: call_converse(&x->call, PACKET_FETCH, &(struct remote_file){.id = o->id, .size = o->size}, PACKET_SENT, 1, send_wanted, x);
        if (r == 0 && x->call.slot->out.size != o->size)
                r = call_lose(&x->call, "was cut off: it sent another program than it built");
        return r < 0 ? r : put_program(x, o);
}

/* True if it has the recipe's outputs. The worker is not trusted. */
static bool is_of_recipe(const struct build_record *b, const struct recipe *recipe)
{
        bool is = b->n_outputs == (b->ok ? strings_count(recipe->outputs) : 0);

        for (size_t i = 0; is && i < b->n_outputs; i++)
                is = strcmp(b->outputs[i].name, basename(recipe->outputs[i])) == 0 && b->outputs[i].size > 0 && b->outputs[i].size <= PROGRAM_MOST;
        return is;
}

/* The head, not the worker, computes the digest of a build's program. */
static int take_record(struct building *x, struct build_record **ret)
{
        struct cluster_slot *s = x->call.slot;
        cleanup(build_record_unrefp) struct build_record *b = NULL;
        int r = remote_built_read(SLICE(s->built.data, s->built.size), &s->out, &b);

        if (r == -EBADMSG || (r == 0 && !is_of_recipe(b, x->request->recipe)))
                return call_lose(&x->call, "was cut off: its answer to a build makes no sense");
        if (r < 0)
                return r;
        free(steal_pointer(b->programs));
        free(steal_pointer(b->differs));
        b->n_programs = 0;
        if (b->ok)
                build_record_note_program(b);
        for (size_t i = 0; r == 0 && i < b->n_outputs; i++)
                if (!programs_has(x->request->programs, &b->outputs[i].id))
                        r = fetch(x, &b->outputs[i]);
        if (r == 0)
                *ret = steal_pointer(b);
        return r;
}

int cluster_build(struct cluster_slot *s, const struct build_request *q, struct sources *sources,
                  struct build_record **ret)
{
        cleanup(building_done) struct building x = {
                .call = {.slot = s, .cancel_fd = q->cancel_fd, .progress = q->progress, .listener = q->listener},
                .request = q,
                .sources = sources};
        const struct recipe_limits *limits = &q->recipe->build_limits;
        const unsigned rounds = ROUNDS + (unsigned)(sources->files.n / REMOTE_WANTS);
        int r = make_request(&x, s->node->hello.toolchain)
            ?: call_begin(&x.call, limits->wall_ns, limits->output + (strings_count(q->recipe->build) + 2) * LOG_OF_EACH);

        if (r == 0) {
                r = call_converse(&x.call, PACKET_BUILD, &x.build, PACKET_BUILT, rounds, send_wanted, &x);
                if (r == 0) {
                        r = take_record(&x, ret);
                } else if (r == -EIO && s->answer == PACKET_FAILED && s->failure == -ESTALE) { /* the next worker reports its compilers */
                        call_lose(&x.call, "is let go: its compilers or build tools were replaced");
                        r = errorf(-ERESTART, "the compilers or build tools of the worker were replaced");
                }
        }
        call_end(&x.call);
        return r;
}

const char *cluster_slot_toolchain(const struct cluster_slot *s)
{
        return s->node->hello.toolchain;
}
