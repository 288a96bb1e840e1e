/* What a worker, or somebody on the way to it, may send: packets, and each kind of body alone, as a checksum keeps most mutations out. What was
 * read can be written, and comes back the same. */
#include "core/remote/message.h"
#include "fuzz.h"

static void stream(struct input *in)
{
        struct slice left = SLICE(in->data, in->size);
        struct packet p;
        size_t size;

        for (uint32_t sequence = 0;; sequence++) {
                cleanup_buffer struct buffer again = {0};
                int r = packet_read(left, sequence, &p, &size);

                must(r == 0 || r == -EAGAIN || r == -EBADMSG);
                if (r < 0)
                        return;
                must(size <= left.size && p.body.size <= PACKET_MOST);
                must(packet_write(p.type, p.id, sequence, p.body, &again) == 0);
                must(again.size == size && memcmp(again.data, left.data, size) == 0);
                left = SLICE((const char *)left.data + size, left.size - size);
        }
}

/* Damaged in as many places as the input says: found out, or not damaged. */
static void damaged(struct input *in)
{
        cleanup_buffer struct buffer b = {0};
        struct input damage = {in->data, MIN(in->size, (size_t)24)};
        bool changed = false;
        struct packet p;
        size_t size;

        take(in, damage.size);
        must(packet_write(PACKET_RESULT, 7, 3, SLICE(in->data, MIN(in->size, (size_t)PACKET_MOST)), &b) == 0);
        while (damage.size >= 3) {
                size_t at = take_number(&damage, 2) % b.size;
                uint8_t bits = take_byte(&damage);

                b.data[at] = (char)((uint8_t)b.data[at] ^ bits);
                changed |= bits != 0;
        }
        must(packet_read(SLICE(b.data, b.size), 3, &p, &size) == 0 || changed);
}

static void hello(struct input *in)
{
        struct remote_hello h;

        if (message_read(PACKET_HELLO, SLICE(in->data, in->size), &h) == 0 && h.protocol == REMOTE_PROTOCOL) {
                cleanup_buffer struct buffer b = {0};

                message_write(PACKET_HELLO, &h, &b);
                must(b.size == in->size && memcmp(b.data, in->data, b.size) == 0);
        }
        message_done(PACKET_HELLO, &h);
}

static void run(struct input *in)
{
        struct remote_run r;

        if (message_read(PACKET_RUN, SLICE(in->data, in->size), &r) == 0) {
                cleanup_buffer struct buffer b = {0};

                must(r.n_programs > 0 && r.n_programs <= RECIPE_OUTPUTS_MAX);
                for (size_t i = 0; i < r.n_programs; i++)
                        must(!strchr(r.programs[i].name, '/'));
                message_write(PACKET_RUN, &r, &b);
                must(b.size == in->size && memcmp(b.data, in->data, b.size) == 0);
        }
        message_done(PACKET_RUN, &r);
}

static void build_request(struct input *in)
{
        struct remote_build r;

        if (message_read(PACKET_BUILD, SLICE(in->data, in->size), &r) == 0) {
                cleanup_buffer struct buffer b = {0};

                message_write(PACKET_BUILD, &r, &b);
                must(b.size <= in->size); /* but for the tree's name they are the same */
        }
        message_done(PACKET_BUILD, &r);
}

static void tree(struct input *in)
{
        struct remote_tree t;

        if (remote_tree_read(SLICE(in->data, in->size), &t) == 0) {
                cleanup_buffer struct buffer b = {0};

                for (size_t i = 0; i < t.files.n; i++) {
                        must(t.files.list[i].path[0] != '/' && strcmp(t.files.list[i].path, "..") != 0 && strncmp(t.files.list[i].path, "../", 3) != 0);
                        must(t.files.list[i].mode != 0120000 || t.files.list[i].size < PATH_SIZE);
                }
                must(remote_tree_write(&t, &b) == 0);
                must(b.size == in->size && memcmp(b.data, in->data, b.size) == 0);
        }
        remote_tree_done(&t);
}

static void built(struct input *in)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_buffer struct buffer log = {0};

        for (unsigned n = take_byte(in) % 8; n > 0; n--)
                buffer_adds(&log, "log");
        if (remote_built_read(SLICE(in->data, in->size), &log, &record) == 0)
                must(record->ok ? record->n_outputs > 0 : record->reason != NULL);
}

static void part(struct input *in)
{
        struct remote_part p;

        if (remote_part_read(SLICE(in->data, in->size), &p) == 0)
                must(p.bytes.size <= REMOTE_PART);
        blob_done(&p.bytes);
}

static void result(struct input *in)
{
        cleanup_buffer struct buffer out = {0}, err = {0}, b = {0};
        struct execute_result x;

        for (unsigned n = take_byte(in) % 8; n > 0; n--)
                buffer_adds(&out, "out");
        for (unsigned n = take_byte(in) % 8; n > 0; n--)
                buffer_adds(&err, "e");
        if (remote_result_read(SLICE(in->data, in->size), &out, &err, &x) < 0)
                return;
        must(x.end <= END_NOEXEC && x.doubt <= DOUBT_PAUSE && x.out_cut <= x.out.size && x.err_cut <= x.err.size);
        message_write(PACKET_RESULT, &x, &b);
        must(b.size == in->size && memcmp(b.data, in->data, b.size) == 0);
        execute_result_done(&x);
}

static void others(struct input *in)
{
        cleanup_digests struct digest_list list = {0};
        struct remote_progress progress = {0};
        struct remote_file file;
        unsigned kind = take_byte(in) % 4;

        if (kind == 0)
                must(remote_failure_read(SLICE(in->data, in->size), "a node") < 0);
        else if (kind == 1 && message_read(PACKET_WANT, SLICE(in->data, in->size), &list) == 0)
                must(list.n > 0 && list.n <= REMOTE_WANTS);
        else if (kind == 2)
                message_read(PACKET_PROGRESS, SLICE(in->data, in->size), &progress);
        else if (kind == 3)
                message_read(PACKET_FETCH, SLICE(in->data, in->size), &file);
        free(progress.what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const kinds[])(struct input * in) = {stream, damaged, hello, run, part, result, others, build_request, tree, built};
        struct input in = {data, size};

        kinds[take_byte(&in) % ARRAY_SIZE(kinds)](&in);
        return 0;
}
