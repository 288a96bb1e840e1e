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

/* -- fields: each message is walked through once, to be written, read or freed ------------------------------------ */

struct fields {
        enum {
                FIELDS_WRITE,
                FIELDS_READ,
                FIELDS_FREE,
        } mode;
        struct buffer *to;
        struct record from;
};

/* In as many bytes as `most` takes; a larger one is not read. */
static uint64_t number(struct fields *f, uint64_t n, uint64_t most)
{
        const bool is_byte = most <= UINT8_MAX, is_long = most > UINT32_MAX;

        if (f->mode == FIELDS_WRITE && is_byte)
                record_put_u8(f->to, (uint8_t)n);
        else if (f->mode == FIELDS_WRITE && is_long)
                record_put_u64(f->to, n);
        else if (f->mode == FIELDS_WRITE)
                record_put_u32(f->to, (uint32_t)n);
        if (f->mode != FIELDS_READ)
                return n;
        n = is_byte ? record_u8(&f->from) : is_long ? record_u64(&f->from) : record_u32(&f->from);
        if (n > most)
                record_fail(&f->from);
        return n > most ? 0 : n;
}

static void long_number(struct fields *f, uint64_t *n)
{
        *n = number(f, *n, UINT64_MAX);
}

static void text(struct fields *f, char **t)
{
        if (f->mode == FIELDS_WRITE)
                put_text(f->to, *t);
        else if (f->mode == FIELDS_READ)
                *t = get_text(&f->from);
        else
                free(steal_pointer(*t));
}

static void digest(struct fields *f, struct digest *d)
{
        if (f->mode == FIELDS_WRITE)
                buffer_add(f->to, d->bytes, DIGEST_SIZE);
        else if (f->mode == FIELDS_READ)
                record_raw(&f->from, d->bytes, DIGEST_SIZE);
}

static void bytes_of_file(struct fields *f, void *message)
{
        struct remote_file *file = message;

        digest(f, &file->id);
        long_number(f, &file->size);
}

static void named_file(struct fields *f, struct remote_file *file)
{
        text(f, &file->name);
        bytes_of_file(f, file);
}

static void sandbox(struct fields *f, enum sandbox_kind *kind)
{
        *kind = number(f, *kind == SANDBOX_NONE, 1) ? SANDBOX_NONE : SANDBOX_BWRAP;
}

/* -- messages ------------------------------------------------------------------------------------------------------ */

/* The protocol and the version come first in every protocol, so that any two versions can say that they differ. */
static void hello_fields(struct fields *f, void *message)
{
        struct remote_hello *h = message;

        h->protocol = (uint32_t)number(f, h->protocol, UINT32_MAX);
        text(f, &h->version);
        if (f->mode == FIELDS_READ && h->protocol != REMOTE_PROTOCOL && !f->from.error) {
                record_slice(&f->from, record_left(&f->from));
                return;
        }
        text(f, &h->host);
        text(f, &h->cpu);
        text(f, &h->kernel);
        text(f, &h->libc);
        text(f, &h->toolchain);
        text(f, &h->facts);
        h->cores = (uint32_t)number(f, h->cores, UINT32_MAX);
        h->slots = (uint32_t)number(f, h->slots, UINT32_MAX);
        long_number(f, &h->probe_ns);
        long_number(f, &h->left_ns);
}

/* A name that leads out of no folder. */
static bool is_plain_name(const char *name)
{
        return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strlen(name) < 256;
}

static void run_fields(struct fields *f, void *message)
{
        struct remote_run *r = message;
        struct recipe_limits *l = &r->limits;

        text(f, &r->recipe_name);
        text(f, &r->recipe);
        r->n_programs = (size_t)number(f, r->n_programs, RECIPE_OUTPUTS_MAX);
        for (size_t i = 0; i < r->n_programs; i++) {
                named_file(f, &r->programs[i]);
                if (f->mode == FIELDS_READ && !is_plain_name(r->programs[i].name))
                        record_fail(&f->from);
        }
        named_file(f, &r->input);
        long_number(f, &l->wall_ns);
        long_number(f, &l->cpu_ns);
        long_number(f, &l->memory);
        long_number(f, &l->output);
        long_number(f, &l->processes);
        long_number(f, &l->stack);
        long_number(f, &r->scratch);
        r->has_seed = number(f, r->has_seed, 1);
        long_number(f, &r->seed);
        sandbox(f, &r->sandbox);
        if (r->n_programs == 0)
                record_fail(&f->from);
}

static void build_fields(struct fields *f, void *message)
{
        struct remote_build *b = message;

        text(f, &b->recipe_name);
        text(f, &b->recipe);
        text(f, &b->toolchain);
        named_file(f, &b->tree);
        sandbox(f, &b->sandbox);
}

static void progress_fields(struct fields *f, void *message)
{
        struct remote_progress *p = message;

        text(f, &p->what);
        long_number(f, &p->done);
        long_number(f, &p->total);
}

static void result_fields(struct fields *f, void *message)
{
        struct execute_result *x = message;

        x->end = (enum execute_end)number(f, x->end, END_NOEXEC);
        x->code = (int)(uint32_t)number(f, (uint32_t)x->code, UINT32_MAX);
        x->doubt = (enum execute_doubt)number(f, x->doubt, DOUBT_PAUSE);
        long_number(f, &x->wall_ns);
        long_number(f, &x->user_ns);
        long_number(f, &x->system_ns);
        long_number(f, &x->memory);
        long_number(f, &x->voluntary);
        long_number(f, &x->involuntary);
        long_number(f, &x->waited_ns);
        long_number(f, &x->stolen_ns);
        x->killed = (uint32_t)number(f, x->killed, UINT32_MAX);
        long_number(f, &x->out_size);
        long_number(f, &x->err_size);
        x->out.size = number(f, x->out.size, UINT64_MAX);
        x->err.size = number(f, x->err.size, UINT64_MAX);
        long_number(f, &x->out_cut);
        long_number(f, &x->err_cut);
}

static const struct message {
        void (*fields)(struct fields *f, void *message);
        size_t size;
        const char *what;
} messages[PACKET_TYPES] = {
        [PACKET_HELLO] = {hello_fields, sizeof(struct remote_hello), "a hello"},
        [PACKET_RUN] = {run_fields, sizeof(struct remote_run), "a request for a run"},
        [PACKET_BUILD] = {build_fields, sizeof(struct remote_build), "a request for a build"},
        [PACKET_FETCH] = {bytes_of_file, sizeof(struct remote_file), "a request for bytes"},
        [PACKET_PROGRESS] = {progress_fields, sizeof(struct remote_progress), "a progress"},
        [PACKET_RESULT] = {result_fields, sizeof(struct execute_result), "a result"},
};

void message_write(enum packet_type type, void *message, struct buffer *ret)
{
        messages[type].fields(&(struct fields){.mode = FIELDS_WRITE, .to = ret}, message);
}

int message_read(enum packet_type type, struct slice body, void *ret)
{
        struct fields f = {.mode = FIELDS_READ, .from = record_of(body)};

        memset(ret, 0, messages[type].size);
        messages[type].fields(&f, ret);
        return read_end(&f.from, messages[type].what);
}

void message_done(enum packet_type type, void *message)
{
        messages[type].fields(&(struct fields){.mode = FIELDS_FREE}, message);
        memset(message, 0, messages[type].size);
}

/* -- sources ------------------------------------------------------------------------------------------------------- */

int remote_tree_write(const struct remote_tree *t, struct buffer *ret)
{
        record_put_u32(ret, (uint32_t)t->n_downloads);
        for (size_t i = 0; i < t->n_downloads; i++) {
                buffer_add(ret, t->downloads[i].id.bytes, DIGEST_SIZE);
                record_put_u64(ret, t->downloads[i].size);
        }
        manifest_encode(&t->files, ret);
        return buffer_error(ret);
}

static void get_downloads(struct fields *f, struct remote_tree *t)
{
        size_t n = record_u32(&f->from);

        if (n > record_left(&f->from) / DIGEST_SIZE) { /* before it is believed */
                record_fail(&f->from);
                return;
        }
        t->downloads = allocate(n + 1, sizeof(*t->downloads));
        while (!f->from.error && t->n_downloads < n)
                bytes_of_file(f, &t->downloads[t->n_downloads++]);
}

static bool is_possible(const struct tracked *t)
{
        switch (t->mode) {
        case 0100644:
        case 0100755:
                return true;
        case 0120000:
                return t->size > 0 && t->size < PATH_SIZE;
        case MODE_SUBMODULE:
                return t->size == 0;
        default:
                return false;
        }
}

int remote_tree_read(struct slice bytes, struct remote_tree *ret)
{
        struct fields f = {.mode = FIELDS_READ, .from = record_of(bytes)};
        struct record *r = &f.from;

        *ret = (struct remote_tree){0};
        get_downloads(&f, ret);
        if (!r->error)
                r->error = manifest_decode(record_slice(r, record_left(r)), &ret->files);
        for (size_t i = 0; !r->error && i < ret->files.n; i++)
                if (!is_possible(&ret->files.list[i]))
                        record_fail(r);
        return read_end(r, "a list of sources");
}

void remote_tree_done(struct remote_tree *t)
{
        manifest_done(&t->files);
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

/* -- parts -- */

int remote_part_write(const struct digest *id, uint64_t size, uint64_t offset, struct slice bytes, struct buffer *ret)
{
        static const struct digest none;
        cleanup_free char *packed = NULL;
        size_t most = ZSTD_compressBound(bytes.size), n = 0;

        assert(bytes.size <= REMOTE_PART);
        if (bytes.size >= 512) {
                packed = allocate(1, most);
                n = ZSTD_compress(packed, most, bytes.data, bytes.size, 1);
        }
        buffer_add(ret, (id ? id : &none)->bytes, DIGEST_SIZE);
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

        *ret = (struct remote_part){0};
        record_raw(&r, ret->id.bytes, DIGEST_SIZE);
        ret->size = record_u64(&r);
        ret->offset = record_u64(&r);
        size = record_u32(&r);
        rest = record_slice(&r, record_left(&r));
        if (size > REMOTE_PART || rest.size > size)
                record_fail(&r);
        if (!r.error) {
                bytes = allocate(1, (size_t)size + 1);
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

int remote_result_read(struct slice body, struct buffer *out, struct buffer *err, struct execute_result *ret)
{
        struct execute_result x;
        int r = message_read(PACKET_RESULT, body, &x);

        if (r == 0 && (x.out.size != out->size || x.err.size != err->size || x.out_cut > out->size || x.err_cut > err->size))
                r = errorf(-EBADMSG, "a result makes no sense");
        if (r == 0)
                r = buffer_steal(out, &x.out);
        if (r == 0)
                r = buffer_steal(err, &x.err);
        x.method = "rusage";
        if (r < 0)
                execute_result_done(&x);
        else
                *ret = x;
        return r;
}

/* -- other answers -- */

int remote_want_write(const struct digest_list *l, struct buffer *ret)
{
        size_t n = MIN(l->n, (size_t)REMOTE_WANTS);

        record_put_u32(ret, (uint32_t)n);
        buffer_add(ret, l->list, n * DIGEST_SIZE);
        return buffer_error(ret);
}

int remote_want_read(struct slice body, struct digest_list *ret)
{
        struct record r = record_of(body);
        size_t n = record_u32(&r);
        int e;

        *ret = (struct digest_list){0};
        if (n == 0 || n > REMOTE_WANTS || n * DIGEST_SIZE != record_left(&r))
                record_fail(&r);
        for (size_t i = 0; !r.error && i < n; i++)
                digest_list_add(ret, record_slice(&r, DIGEST_SIZE).data);
        e = read_end(&r, "a list of what is wanted");
        if (e < 0)
                digest_list_done(ret);
        return e;
}

void remote_failure_write(int e, const char *sentence, struct buffer *ret)
{
        record_put_u32(ret, (uint32_t)-e);
        put_text(ret, sentence);
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
