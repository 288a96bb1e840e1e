#include "core/git/object_reader.h"

#include <git2/sys/odb_backend.h>
#include <zlib.h>

#define PRIORITY       2    /* before libgit2's reader of such objects, which has 1; packs have 2 and were installed earlier */
#define HEADER_MOST    64   /* "commit 1234", and a NUL */
#define RATIO_MOST     1040 /* deflate's greatest ratio is 1032 */

struct loose {
        git_odb_backend parent;
        git_odb_backend *inner; /* owned; libgit2's, which finds abbreviated names */
        char objects[];
};

/* -- one object ------------------------------------------------------------------------------------------------- */

struct object {
        char name[GIT_OID_HEXSZ + 1];
        struct blob file;
        z_stream z;
        bool inflating;
        uint8_t header[HEADER_MOST];
        size_t header_size; /* with its NUL */
        size_t have;        /* bytes of the object behind the header in that buffer */
        git_object_t type;
        size_t size;
};

static void object_done(struct object *o)
{
        if (o->inflating)
                inflateEnd(&o->z);
        blob_done(&o->file);
}

static int damaged(const struct object *o, const char *what)
{
        return errorf(-EILSEQ, "object %s %s", o->name, what);
}

static int parse_header(struct object *o)
{
        char *end = NULL, *space;

        o->header_size = strnlen((char *)o->header, o->z.total_out) + 1;
        space = o->header_size > o->z.total_out ? NULL : memchr(o->header, ' ', o->header_size);
        if (!space)
                return damaged(o, o->z.total_out < HEADER_MOST ? "is cut off" : "has no header");
        *space = '\0';
        o->type = git_object_string2type((char *)o->header);
        o->size = strtoull(space + 1, &end, 10);
        if (o->type == GIT_OBJECT_INVALID || end == space + 1 || *end || o->size / RATIO_MOST > o->file.size)
                return damaged(o, "has a damaged header");
        o->have = o->z.total_out - o->header_size;
        return 0;
}

static int object_open(const char *objects, const git_oid *oid, struct object *o)
{
        cleanup_free char *path = NULL;
        int r, n;

        oid_print(o->name, sizeof(o->name), oid);
        path = format_string("%s/%.2s/%s", objects, o->name, o->name + 2);
        r = read_file(path, UINT32_MAX, &o->file); /* zlib counts its input in 32 bits */
        if (r < 0)
                return r;
        o->z.next_in = (Bytef *)o->file.data;
        o->z.avail_in = (uInt)o->file.size;
        o->z.next_out = o->header;
        o->z.avail_out = sizeof(o->header);
        if (inflateInit(&o->z) != Z_OK)
                return -ENOMEM;
        o->inflating = true;
        n = inflate(&o->z, Z_SYNC_FLUSH);
        if (n != Z_OK && n != Z_STREAM_END && n != Z_BUF_ERROR)
                return damaged(o, "is damaged");
        return parse_header(o);
}

/* `to` has room for o->size + 1 bytes, so that a longer object is detected. */
static int object_inflate(struct object *o, uint8_t *to)
{
        size_t done = MIN(o->have, o->size);
        int n = Z_OK;

        memcpy(to, o->header + o->header_size, done);
        while (n == Z_OK) {
                o->z.next_out = to + done;
                o->z.avail_out = (uInt)MIN(o->size + 1 - done, (size_t)UINT_MAX);
                n = inflate(&o->z, Z_NO_FLUSH);
                done = (size_t)(o->z.next_out - to);
        }
        if (n == Z_STREAM_END && done == o->size && o->z.total_out == o->header_size + o->size)
                return 0;
        return damaged(o, n == Z_BUF_ERROR ? "is cut off" : "is damaged");
}

/* -- libgit2's interface ---------------------------------------------------------------------------------------- */

/* libgit2's code for our error; it keeps the sentence. */
static int tell_git(int r)
{
        if (r == 0)
                return 0;
        if (r == -ENOENT)
                return GIT_ENOTFOUND;
        git_error_set_str(r == -ENOMEM ? GIT_ERROR_NOMEMORY : GIT_ERROR_ODB, error_message(r));
        return GIT_ERROR;
}

static struct loose *loose_of(git_odb_backend *b)
{
        struct loose *l = (struct loose *)b;

        l->inner->odb = b->odb; /* libgit2 sets only ours */
        return l;
}

static int loose_read(void **ret, size_t *ret_size, git_object_t *ret_type, git_odb_backend *b, const git_oid *oid)
{
        cleanup(object_done) struct object o = {0};
        uint8_t *data;
        int r = object_open(loose_of(b)->objects, oid, &o);

        if (r < 0)
                return tell_git(r);
        data = git_odb_backend_data_alloc(b, o.size + 1);
        if (!data)
                return tell_git(-ENOMEM);
        r = object_inflate(&o, data);
        if (r < 0) {
                git_odb_backend_data_free(b, data);
                return tell_git(r);
        }
        data[o.size] = '\0'; /* like libgit2's own reader: its parsers may read this byte */
        *ret = data;
        *ret_size = o.size;
        *ret_type = o.type;
        return 0;
}

static int loose_read_header(size_t *ret_size, git_object_t *ret_type, git_odb_backend *b, const git_oid *oid)
{
        cleanup(object_done) struct object o = {0};
        int r = object_open(loose_of(b)->objects, oid, &o);

        *ret_size = o.size;
        *ret_type = o.type;
        return tell_git(r);
}

static int loose_read_prefix(git_oid *ret_oid, void **ret, size_t *ret_size, git_object_t *ret_type, git_odb_backend *b,
                             const git_oid *prefix, size_t digits)
{
        struct loose *l = loose_of(b);
        int r = l->inner->exists_prefix(ret_oid, l->inner, prefix, digits);

        return r < 0 ? r : loose_read(ret, ret_size, ret_type, b, ret_oid);
}

/* libgit2 asks every reader for a list; its own gives one. */
static int loose_foreach(git_odb_backend *, git_odb_foreach_cb, void *)
{
        return 0;
}

static void loose_free(git_odb_backend *b)
{
        struct loose *l = (struct loose *)b;

        if (l->inner)
                l->inner->free(l->inner);
        free(l);
}

/* -- the repository --------------------------------------------------------------------------------------------- */

static int add_loose(git_odb *odb, const char *objects)
{
        struct loose *l = allocate(1, sizeof(*l) + strlen(objects) + 1);

        memcpy(l->objects, objects, strlen(objects) + 1);
        git_odb_init_backend(&l->parent, GIT_ODB_BACKEND_VERSION);
        l->parent.read = loose_read;
        l->parent.read_header = loose_read_header;
        l->parent.read_prefix = loose_read_prefix;
        l->parent.foreach = loose_foreach;
        l->parent.free = loose_free;
        if (git_odb_backend_loose(&l->inner, objects, -1, 0, 0, 0) < 0 || git_odb_add_backend(odb, &l->parent, PRIORITY) < 0) {
                loose_free(&l->parent);
                return errorf(-EIO, "cannot read objects in %s: %s", objects, git_error_text());
        }
        return 0;
}

int object_reader_install(git_repository *git)
{
        cleanup_git_odb git_odb *odb = NULL;
        cleanup_free char *objects = format_string("%s/objects", git_repository_commondir(git));
        cleanup_free char *alternates = format_string("%s/info/alternates", objects);

        if (access(alternates, F_OK) == 0)
                return 0;
        if (git_repository_odb(&odb, git) < 0)
                return errorf(-EIO, "cannot read objects in %s: %s", objects, git_error_text());
        return add_loose(odb, objects);
}
