#include "core/remote/message.h"

#include <zstd.h>

#include "cache/base/record.h"

#define TEXT_MOST 65536

/* 0 when all was there and nothing is left. */
static int read_end(const struct record *r, const char *what)
{
        int e = record_left(r) > 0 ? -EBADMSG : r->error;

        return e == -EBADMSG ? errorf(e, "%s makes no sense", what) : e;
}

static void put_text(struct buffer *b, const char *text)
{
        size_t size = text ? strlen(text) : 0;

        record_put_u32(b, (uint32_t)size);
        buffer_add(b, text ? text : "", size);
}

/* Without a NUL inside. */
static char *get_text(struct record *r)
{
        uint32_t size = record_u32(r);
        char *text;

        if (size > TEXT_MOST) {
                record_fail(r);
                return NULL;
        }
        text = record_string(r, size);
        if (text && strlen(text) != size)
                record_fail(r);
        return text;
}

static void put_digest(struct buffer *b, const struct digest *d)
{
        buffer_add(b, d->bytes, DIGEST_SIZE);
}

static struct digest get_digest(struct record *r)
{
        struct digest d = {0};

        record_raw(r, d.bytes, DIGEST_SIZE);
        return d;
}

/* -- hello -- */

int remote_hello_write(const struct remote_hello *h, struct buffer *ret)
{
        record_put_u32(ret, h->protocol);
        put_text(ret, h->version);
        put_text(ret, h->host);
        put_text(ret, h->cpu);
        put_text(ret, h->kernel);
        put_text(ret, h->libc);
        put_text(ret, h->toolchain);
        put_text(ret, h->facts);
        record_put_u32(ret, h->cores);
        record_put_u32(ret, h->slots);
        record_put_u64(ret, h->probe_ns);
        record_put_u64(ret, h->left_ns);
        return buffer_error(ret);
}

/* The protocol and the version stand first for good, so that any two can say to each other that they differ. */
int remote_hello_read(struct slice body, struct remote_hello *ret)
{
        struct record r = record_of(body);

        *ret = (struct remote_hello){.protocol = record_u32(&r)};
        ret->version = get_text(&r);
        if (ret->protocol != REMOTE_PROTOCOL && !r.error)
                return 0;
        ret->host = get_text(&r);
        ret->cpu = get_text(&r);
        ret->kernel = get_text(&r);
        ret->libc = get_text(&r);
        ret->toolchain = get_text(&r);
        ret->facts = get_text(&r);
        ret->cores = record_u32(&r);
        ret->slots = record_u32(&r);
        ret->probe_ns = record_u64(&r);
        ret->left_ns = record_u64(&r);
        return read_end(&r, "a hello");
}

void remote_hello_done(struct remote_hello *h)
{
        free(h->version);
        free(h->host);
        free(h->cpu);
        free(h->kernel);
        free(h->libc);
        free(h->toolchain);
        free(h->facts);
        *h = (struct remote_hello){0};
}

/* -- run -- */

static void put_file(struct buffer *b, const struct remote_file *f)
{
        put_text(b, f->name);
        put_digest(b, &f->id);
        record_put_u64(b, f->size);
}

static void get_file(struct record *r, struct remote_file *ret)
{
        ret->name = get_text(r);
        ret->id = get_digest(r);
        ret->size = record_u64(r);
}

int remote_run_write(const struct remote_run *r, struct buffer *ret)
{
        const struct recipe_limits *l = &r->limits;

        put_text(ret, r->recipe_name);
        put_text(ret, r->recipe);
        record_put_u8(ret, (uint8_t)r->n_programs);
        for (size_t i = 0; i < r->n_programs; i++)
                put_file(ret, &r->programs[i]);
        put_file(ret, &r->input);
        record_put_u64(ret, l->wall_ns);
        record_put_u64(ret, l->cpu_ns);
        record_put_u64(ret, l->memory);
        record_put_u64(ret, l->output);
        record_put_u64(ret, l->processes);
        record_put_u64(ret, l->stack);
        record_put_u64(ret, r->scratch);
        record_put_u8(ret, r->has_seed);
        record_put_u64(ret, r->seed);
        record_put_u8(ret, r->sandbox == SANDBOX_NONE);
        return buffer_error(ret);
}

/* A name that stays in the folder it is put into. */
static bool is_plain_name(const char *name)
{
        return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strlen(name) < 256;
}

int remote_run_read(struct slice body, struct remote_run *ret)
{
        struct record r = record_of(body);
        struct recipe_limits *l = &ret->limits;
        size_t n;

        *ret = (struct remote_run){.recipe_name = get_text(&r)};
        ret->recipe = get_text(&r);
        n = record_u8(&r);
        if (n == 0 || n > RECIPE_OUTPUTS_MAX)
                record_fail(&r);
        for (size_t i = 0; !r.error && i < n; i++) {
                get_file(&r, &ret->programs[ret->n_programs++]);
                if (!is_plain_name(ret->programs[i].name))
                        record_fail(&r);
        }
        get_file(&r, &ret->input);
        l->wall_ns = record_u64(&r);
        l->cpu_ns = record_u64(&r);
        l->memory = record_u64(&r);
        l->output = record_u64(&r);
        l->processes = record_u64(&r);
        l->stack = record_u64(&r);
        ret->scratch = record_u64(&r);
        ret->has_seed = record_bool(&r);
        ret->seed = record_u64(&r);
        ret->sandbox = record_bool(&r) ? SANDBOX_NONE : SANDBOX_BWRAP;
        return read_end(&r, "a request for a run");
}

void remote_run_done(struct remote_run *r)
{
        free(r->recipe);
        free(r->recipe_name);
        for (size_t i = 0; i < r->n_programs; i++)
                free(r->programs[i].name);
        free(r->input.name);
        *r = (struct remote_run){0};
}

/* -- build -- */

int remote_build_write(const struct remote_build *b, struct buffer *ret)
{
        put_text(ret, b->recipe_name);
        put_text(ret, b->recipe);
        put_text(ret, b->toolchain);
        put_file(ret, &b->tree);
        record_put_u8(ret, b->sandbox == SANDBOX_NONE);
        return buffer_error(ret);
}

int remote_build_read(struct slice body, struct remote_build *ret)
{
        struct record r = record_of(body);

        *ret = (struct remote_build){.recipe_name = get_text(&r)};
        ret->recipe = get_text(&r);
        ret->toolchain = get_text(&r);
        get_file(&r, &ret->tree);
        ret->sandbox = record_bool(&r) ? SANDBOX_NONE : SANDBOX_BWRAP;
        return read_end(&r, "a request for a build");
}

void remote_build_done(struct remote_build *b)
{
        free(b->recipe);
        free(b->recipe_name);
        free(b->toolchain);
        free(b->tree.name);
        *b = (struct remote_build){0};
}

int remote_tree_write(const struct remote_tree *t, struct buffer *ret)
{
        record_put_u32(ret, (uint32_t)t->n_downloads);
        for (size_t i = 0; i < t->n_downloads; i++) {
                put_digest(ret, &t->downloads[i].id);
                record_put_u64(ret, t->downloads[i].size);
        }
        record_put_u32(ret, (uint32_t)t->files.n);
        for (size_t i = 0; i < t->files.n; i++)
                record_put_u64(ret, t->sizes[i]);
        manifest_encode(&t->files, ret);
        return buffer_error(ret);
}

static void get_downloads(struct record *r, struct remote_tree *t)
{
        size_t n = record_u32(r);

        if (n > record_left(r) / DIGEST_SIZE) { /* before it is believed */
                record_fail(r);
                return;
        }
        t->downloads = calloc(n + 1, sizeof(*t->downloads));
        if (!t->downloads)
                r->error = -ENOMEM;
        for (size_t i = 0; !r->error && i < n; i++) {
                t->downloads[i].id = get_digest(r);
                t->downloads[i].size = record_u64(r);
                t->n_downloads++;
        }
}

static void get_sizes(struct record *r, struct remote_tree *t, size_t *ret_n)
{
        *ret_n = record_u32(r);
        if (*ret_n > record_left(r) / sizeof(uint64_t)) {
                record_fail(r);
                return;
        }
        t->sizes = calloc(*ret_n + 1, sizeof(*t->sizes));
        if (!t->sizes)
                r->error = -ENOMEM;
        for (size_t i = 0; !r->error && i < *ret_n; i++)
                t->sizes[i] = record_u64(r);
}

static bool is_possible(const struct tracked *t, uint64_t size)
{
        switch (t->mode) {
        case 0100644:
        case 0100755:
                return true;
        case 0120000:
                return size > 0 && size < PATH_SIZE;
        case MODE_SUBMODULE:
                return size == 0;
        default:
                return false;
        }
}

int remote_tree_read(struct slice bytes, struct remote_tree *ret)
{
        struct record r = record_of(bytes);
        size_t n = 0;

        *ret = (struct remote_tree){0};
        get_downloads(&r, ret);
        if (!r.error)
                get_sizes(&r, ret, &n);
        if (!r.error)
                r.error = manifest_decode(record_slice(&r, record_left(&r)), &ret->files);
        if (!r.error && ret->files.n != n)
                record_fail(&r);
        for (size_t i = 0; !r.error && i < n; i++)
                if (!is_possible(&ret->files.list[i], ret->sizes[i]))
                        record_fail(&r);
        return read_end(&r, "a list of sources");
}

void remote_tree_done(struct remote_tree *t)
{
        manifest_done(&t->files);
        free(t->sizes);
        free(t->downloads);
        *t = (struct remote_tree){0};
}

int remote_built_write(const struct build_record *b, struct buffer *ret)
{
        struct build_record without = *b;

        without.log = (struct blob){0};
        record_put_u64(ret, b->log.size);
        return build_record_encode(&without, ret);
}

int remote_built_read(struct slice body, struct buffer *log, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *b = NULL;
        struct record r = record_of(body);
        int e = record_u64(&r) == log->size ? 0 : -EBADMSG;

        if (e == 0)
                e = build_record_decode(record_slice(&r, record_left(&r)), true, &b);
        if (e == 0 && b->log.size > 0)
                e = -EBADMSG;
        if (e == 0)
                e = buffer_steal(log, &b->log);
        if (e < 0)
                return e == -EBADMSG ? errorf(e, "the answer to a build makes no sense") : e;
        *ret = steal_pointer(b);
        return 0;
}

int remote_progress_write(const struct remote_progress *p, struct buffer *ret)
{
        put_text(ret, p->what);
        record_put_u64(ret, p->done);
        record_put_u64(ret, p->total);
        return buffer_error(ret);
}

int remote_progress_read(struct slice body, struct remote_progress *ret)
{
        struct record r = record_of(body);

        *ret = (struct remote_progress){.what = get_text(&r)};
        ret->done = record_u64(&r);
        ret->total = record_u64(&r);
        return read_end(&r, "a progress");
}

int remote_fetch_write(const struct remote_file *f, struct buffer *ret)
{
        put_digest(ret, &f->id);
        record_put_u64(ret, f->size);
        return buffer_error(ret);
}

int remote_fetch_read(struct slice body, struct remote_file *ret)
{
        struct record r = record_of(body);

        *ret = (struct remote_file){.id = get_digest(&r)};
        ret->size = record_u64(&r);
        return read_end(&r, "a request for bytes");
}

/* -- parts -- */

int remote_part_write(const struct digest *id, uint64_t size, uint64_t offset, struct slice bytes, struct buffer *ret)
{
        static const struct digest none;
        cleanup_free char *packed = NULL;
        size_t most = ZSTD_compressBound(bytes.size), n = 0;

        assert(bytes.size <= REMOTE_PART);
        if (bytes.size >= 512) {
                packed = malloc(most);
                if (!packed)
                        return -ENOMEM;
                n = ZSTD_compress(packed, most, bytes.data, bytes.size, 1);
        }
        put_digest(ret, id ? id : &none);
        record_put_u64(ret, size);
        record_put_u64(ret, offset);
        record_put_u32(ret, (uint32_t)bytes.size);
        if (n > 0 && !ZSTD_isError(n) && n < bytes.size)
                buffer_add(ret, packed, n);
        else
                buffer_add(ret, bytes.data, bytes.size);
        return buffer_error(ret);
}

int remote_part_read(struct slice body, struct remote_part *ret)
{
        struct record r = record_of(body);
        cleanup_free char *bytes = NULL;
        uint32_t size;
        struct slice rest;

        *ret = (struct remote_part){.id = get_digest(&r)};
        ret->size = record_u64(&r);
        ret->offset = record_u64(&r);
        size = record_u32(&r);
        rest = record_slice(&r, record_left(&r));
        if (size > REMOTE_PART || rest.size > size)
                record_fail(&r);
        if (!r.error) {
                bytes = malloc((size_t)size + 1);
                if (!bytes)
                        return -ENOMEM;
                if (rest.size == size && size > 0)
                        memcpy(bytes, rest.data, size);
                else if (size > 0 && ZSTD_decompress(bytes, size, rest.data, rest.size) != size)
                        record_fail(&r);
                ret->bytes = (struct blob){.data = bytes, .size = size, .owned = bytes};
        }
        if (r.error)
                ret->bytes = (struct blob){0};
        else
                steal_pointer(bytes);
        return read_end(&r, "a part of some bytes");
}

/* -- results -- */

int remote_result_write(const struct execute_result *x, struct buffer *ret)
{
        record_put_u8(ret, (uint8_t)x->end);
        record_put_u32(ret, (uint32_t)x->code);
        record_put_u8(ret, (uint8_t)x->doubt);
        record_put_u64(ret, x->wall_ns);
        record_put_u64(ret, x->user_ns);
        record_put_u64(ret, x->system_ns);
        record_put_u64(ret, x->memory);
        record_put_u64(ret, x->voluntary);
        record_put_u64(ret, x->involuntary);
        record_put_u64(ret, x->waited_ns);
        record_put_u64(ret, x->stolen_ns);
        record_put_u32(ret, x->killed);
        record_put_u64(ret, x->out_size);
        record_put_u64(ret, x->err_size);
        record_put_u64(ret, x->out.size);
        record_put_u64(ret, x->err.size);
        record_put_u64(ret, x->out_cut);
        record_put_u64(ret, x->err_cut);
        return buffer_error(ret);
}

int remote_result_read(struct slice body, struct buffer *out, struct buffer *err, struct execute_result *ret)
{
        struct record r = record_of(body);
        uint8_t end = record_u8(&r), doubt;
        struct execute_result x = {.code = (int)record_u32(&r), .method = "rusage"};
        int e;

        doubt = record_u8(&r);
        x.wall_ns = record_u64(&r);
        x.user_ns = record_u64(&r);
        x.system_ns = record_u64(&r);
        x.memory = record_u64(&r);
        x.voluntary = record_u64(&r);
        x.involuntary = record_u64(&r);
        x.waited_ns = record_u64(&r);
        x.stolen_ns = record_u64(&r);
        x.killed = record_u32(&r);
        x.out_size = record_u64(&r);
        x.err_size = record_u64(&r);
        if (record_u64(&r) != out->size || record_u64(&r) != err->size)
                record_fail(&r);
        x.out_cut = record_u64(&r);
        x.err_cut = record_u64(&r);
        if (end > END_NOEXEC || doubt > DOUBT_PAUSE || x.out_cut > out->size || x.err_cut > err->size)
                record_fail(&r);
        x.end = (enum execute_end)end;
        x.doubt = (enum execute_doubt)doubt;
        e = read_end(&r, "a result");
        if (e == 0)
                e = buffer_steal(out, &x.out);
        if (e == 0)
                e = buffer_steal(err, &x.err);
        if (e < 0)
                execute_result_done(&x);
        else
                *ret = x;
        return e;
}

/* -- other answers -- */

int remote_want_write(const struct digest *list, size_t n, struct buffer *ret)
{
        record_put_u32(ret, (uint32_t)n);
        for (size_t i = 0; i < n; i++)
                put_digest(ret, &list[i]);
        return buffer_error(ret);
}

int remote_want_read(struct slice body, struct digest **ret, size_t *ret_n)
{
        cleanup_free struct digest *list = NULL;
        struct record r = record_of(body);
        size_t n = record_u32(&r);
        int e;

        if (n == 0 || n > REMOTE_WANTS || n > record_left(&r) / DIGEST_SIZE)
                record_fail(&r);
        else if (!(list = calloc(n, sizeof(*list))))
                r.error = -ENOMEM;
        for (size_t i = 0; !r.error && i < n; i++)
                list[i] = get_digest(&r);
        e = read_end(&r, "a list of what is wanted");
        if (e < 0)
                return e;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}

int remote_failure_write(int e, const char *sentence, struct buffer *ret)
{
        record_put_u32(ret, (uint32_t)-e);
        put_text(ret, sentence);
        return buffer_error(ret);
}

int remote_failure_read(struct slice body, const char *who)
{
        cleanup_buffer struct buffer line = {0};
        struct record r = record_of(body);
        uint32_t number = record_u32(&r);
        cleanup_free char *sentence = get_text(&r);
        int e = read_end(&r, "a failure");

        if (e < 0 || number == 0 || number >= 4096)
                return e < 0 ? e : errorf(-EBADMSG, "a failure is damaged: it has no reason");
        buffer_add_printable(&line, sentence);
        return errorf(-(int)number, "%s: %s", who, line.data ? line.data : "");
}
