#include "core/remote/message.h"

#include <zstd.h>

#include "cache/base/transfer.h"

/* 0 if all was there and nothing is left. */
static int read_end(const struct record *r, const char *what)
{
        int e = record_left(r) > 0 ? -EBADMSG : r->error;

        return e == -EBADMSG ? errorf(e, "%s makes no sense", what) : e;
}

/* -- fields: one walk over each message writes or reads it; reading nothing frees it ------------------------------- */

/* Writes `n`, or returns the number read: at most `most`, else the record fails. */
static uint64_t number(struct transfer *t, uint64_t n, uint64_t most)
{
        transfer_u64(t, &n);
        if (n > most)
                record_fail(&t->from);
        return n > most ? 0 : n;
}

/* A string without a NUL inside. */
static void text(struct transfer *t, char **s)
{
        uint32_t size = *s ? (uint32_t)strlen(*s) : 0;

        transfer_u32(t, &size);
        if (!transfer_reads(t)) {
                buffer_add(t->to, *s ?: "", size);
                return;
        }
        free(*s);
        *s = record_string(&t->from, size);
        if (!*s || strlen(*s) != size)
                record_fail(&t->from);
}

static void bytes_of_file(struct transfer *t, void *message)
{
        struct remote_file *file = message;

        transfer_raw(t, file->id.bytes, DIGEST_SIZE);
        transfer_u64(t, &file->size);
}

static void named_file(struct transfer *t, struct remote_file *file)
{
        text(t, &file->name);
        bytes_of_file(t, file);
}

static void sandbox(struct transfer *t, enum sandbox_kind *kind)
{
        *kind = number(t, *kind == SANDBOX_NONE, 1) ? SANDBOX_NONE : SANDBOX_BWRAP;
}

/* -- messages ------------------------------------------------------------------------------------------------------ */

/* The protocol and the version come first in every protocol, so that any two versions can report that they differ. */
static void hello_fields(struct transfer *t, void *message)
{
        struct remote_hello *h = message;
        char **const texts[] = {&h->host, &h->cpu, &h->kernel, &h->libc, &h->toolchain, &h->facts};

        transfer_u32(t, &h->protocol);
        text(t, &h->version);
        if (h->protocol != REMOTE_PROTOCOL && !t->from.error) {
                record_slice(&t->from, record_left(&t->from)); /* the rest has fields that we do not know */
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                text(t, texts[i]);
        transfer_u32(t, &h->cores);
        transfer_u32(t, &h->slots);
        transfer_u64(t, &h->probe_ns);
        transfer_u64(t, &h->left_ns);
        transfer_u64(t, &h->memory);
}

/* True for a name that does not leave its folder. */
static bool is_plain_name(const char *name)
{
        return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strlen(name) < 256;
}

static void run_fields(struct transfer *t, void *message)
{
        struct remote_run *r = message;
        const size_t before = r->n_programs; /* when it is freed */

        text(t, &r->recipe_name);
        text(t, &r->recipe);
        r->n_programs = (size_t)number(t, r->n_programs, RECIPE_OUTPUTS_MAX);
        for (size_t i = 0; i < MAX(before, r->n_programs); i++) {
                named_file(t, &r->programs[i]);
                if (!is_plain_name(r->programs[i].name))
                        record_fail(&t->from);
        }
        named_file(t, &r->input);
        for (size_t i = 0; i < N_LIMITS; i++)
                transfer_u64(t, (uint64_t *)limit_list(&r->limits) + i);
        transfer_u64(t, &r->scratch);
        transfer_bool(t, &r->has_seed);
        transfer_u64(t, &r->seed);
        sandbox(t, &r->sandbox);
        if (r->n_programs == 0)
                record_fail(&t->from);
}

static void build_fields(struct transfer *t, void *message)
{
        struct remote_build *b = message;

        text(t, &b->recipe_name);
        text(t, &b->recipe);
        text(t, &b->toolchain);
        named_file(t, &b->tree);
        sandbox(t, &b->sandbox);
}

static void progress_fields(struct transfer *t, void *message)
{
        struct remote_progress *p = message;

        text(t, &p->what);
        transfer_u64(t, &p->done);
        transfer_u64(t, &p->total);
}

static void timeline_fields(struct transfer *t, struct timeline *l)
{
        size_t n = l->n;

        transfer_count(t, &n, 2 * sizeof(uint64_t));
        if (transfer_reads(t)) {
                timeline_done(l);
                *l = (struct timeline){.list = n > 0 ? allocate(n, sizeof(*l->list)) : NULL, .n = n};
        }
        for (size_t i = 0; i < n; i++) {
                transfer_u64(t, &l->list[i].ns);
                transfer_u64(t, &l->list[i].amount);
        }
}

static void result_fields(struct transfer *t, void *message)
{
        struct execute_result *x = message;
        uint64_t *const numbers[] = {&x->wall_ns,   &x->user_ns,   &x->system_ns, &x->memory,   &x->voluntary, &x->involuntary,
                                     &x->waited_ns, &x->stolen_ns, &x->out_size,  &x->err_size, &x->out_cut,   &x->err_cut};

        x->end = (enum execute_end)number(t, x->end, END_NOEXEC);
        x->code = (int)(uint32_t)number(t, (uint32_t)x->code, UINT32_MAX);
        transfer_bool(t, &x->guessed);
        x->doubt = (enum execute_doubt)number(t, x->doubt, DOUBT_PAUSE);
        x->killed = (uint32_t)number(t, x->killed, UINT32_MAX);
        x->out.size = number(t, x->out.size, SIZE_MAX);
        x->err.size = number(t, x->err.size, SIZE_MAX);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                transfer_u64(t, numbers[i]);
        timeline_fields(t, &x->printed);
        timeline_fields(t, &x->grown);
}

/* At most as many as fit in one packet. */
static void want_fields(struct transfer *t, void *message)
{
        struct digest_list *l = message;
        size_t n = MIN(l->n, (size_t)REMOTE_WANTS);

        transfer_count(t, &n, DIGEST_SIZE);
        if (transfer_reads(t))
                *l = (struct digest_list){.list = allocate(n + 1, sizeof(*l->list)), .n = n};
        transfer_raw(t, l->list, n * DIGEST_SIZE);
        if (n == 0 || n > REMOTE_WANTS)
                record_fail(&t->from);
}

static const struct message {
        void (*fields)(struct transfer *t, void *message);
        size_t size;
        const char *what;
} messages[PACKET_TYPES] = {
        [PACKET_HELLO] = {hello_fields, sizeof(struct remote_hello), "a hello"},
        [PACKET_RUN] = {run_fields, sizeof(struct remote_run), "a request for a run"},
        [PACKET_BUILD] = {build_fields, sizeof(struct remote_build), "a request for a build"},
        [PACKET_FETCH] = {bytes_of_file, sizeof(struct remote_file), "a request for bytes"},
        [PACKET_WANT] = {want_fields, sizeof(struct digest_list), "a list of what is wanted"},
        [PACKET_PROGRESS] = {progress_fields, sizeof(struct remote_progress), "a progress"},
        [PACKET_RESULT] = {result_fields, sizeof(struct execute_result), "a result"},
};

void message_write(enum packet_type type, void *message, struct buffer *ret)
{
        messages[type].fields(&(struct transfer){.to = ret}, message);
}

int message_read(enum packet_type type, struct slice body, void *ret)
{
        struct transfer t = {.from = record_of(body)};

        memset(ret, 0, messages[type].size);
        messages[type].fields(&t, ret);
        return read_end(&t.from, messages[type].what);
}

void message_done(enum packet_type type, void *message)
{
        messages[type].fields(&(struct transfer){.from = {.error = -EBADMSG}}, message);
        memset(message, 0, messages[type].size);
}

/* -- sources ------------------------------------------------------------------------------------------------------- */

/* True for a path that sources_list() never makes: it leads out of the folder, or to it. */
static bool path_is_bad(const char *path)
{
        for (;; path++) {
                size_t n = strcspn(path, "/");
                cleanup_free char *component = copy_prefix(path, n);

                if (manifest_name_is_bad(component))
                        return true;
                path += n;
                if (!*path)
                        return false;
        }
}

static bool is_possible(const struct tracked *f)
{
        switch (f->mode) {
        case 0100644:
        case 0100755:
                return true;
        case 0120000:
                return f->size > 0 && f->size < PATH_SIZE;
        case MODE_SUBMODULE:
                return f->size == 0;
        default:
                return false;
        }
}

static void tracked_fields(struct transfer *t, struct tracked *f)
{
        transfer_u32(t, &f->mode);
        transfer_raw(t, f->content.bytes, DIGEST_SIZE);
        transfer_u64(t, &f->size);
        text(t, &f->path);
        if (transfer_reads(t) && (!f->path || strlen(f->path) >= PATH_SIZE || path_is_bad(f->path) || !is_possible(f)))
                record_fail(&t->from);
}

static void tree_fields(struct transfer *t, struct remote_tree *tree)
{
        transfer_count(t, &tree->n_downloads, DIGEST_SIZE + 8);
        transfer_count(t, &tree->files.n, DIGEST_SIZE + 16);
        if (transfer_reads(t)) {
                tree->downloads = allocate(tree->n_downloads + 1, sizeof(*tree->downloads));
                tree->files.list = allocate(tree->files.n + 1, sizeof(*tree->files.list));
        }
        for (size_t i = 0; i < tree->n_downloads; i++)
                bytes_of_file(t, &tree->downloads[i]);
        for (size_t i = 0; i < tree->files.n; i++)
                tracked_fields(t, &tree->files.list[i]);
}

int remote_tree_write(struct remote_tree *tree, struct buffer *ret)
{
        tree_fields(&(struct transfer){.to = ret}, tree);
        return buffer_error(ret);
}

int remote_tree_read(struct slice bytes, struct remote_tree *ret)
{
        struct transfer t = {.from = record_of(bytes)};

        *ret = (struct remote_tree){0};
        tree_fields(&t, ret);
        return read_end(&t.from, "a list of sources");
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
                e = build_record_decode(record_slice(&r, record_left(&r)), WITH_LOG, &b);
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
                r = buffer_steal(out, &x.out) ?: buffer_steal(err, &x.err);
        x.method = "rusage";
        if (r < 0)
                execute_result_done(&x);
        else
                *ret = x;
        return r;
}

/* -- other answers -- */

void remote_failure_write(int e, const char *sentence, struct buffer *ret)
{
        record_put_u64(ret, (uint64_t)-e);
        text(&(struct transfer){.to = ret}, (char **)&sentence);
}

int remote_failure_read(struct slice body, const char *who)
{
        cleanup_buffer struct buffer line = {0};
        struct transfer t = {.from = record_of(body)};
        cleanup_free char *sentence = NULL;
        int e, reason = (int)number(&t, 0, 4095);

        text(&t, &sentence);
        e = read_end(&t.from, "a failure");
        if (e < 0 || reason == 0)
                return e < 0 ? e : errorf(-EBADMSG, "a failure is damaged: it has no reason");
        buffer_add_printable(&line, sentence);
        return errorf(-reason, "%s: %s", who, line.data ?: "");
}
