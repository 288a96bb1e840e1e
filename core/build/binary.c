#include "core/build/binary.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include "core/run/host.h"

#define NAMES_SHOWN 8 /* of an archive, in a reason */

DEFINE_CLEANUP(struct archive *, archive_read_free)

struct taking {
        const struct build_request *request;
        const struct recipe *era;
        struct build_output *list;
        bool *found;    /* one for each output */
        char **members; /* one for each output: the name to look for in the archive; from the entry of a hard link on, the name that it links to */
        bool has_links; /* some output is a hard link: its bytes may have passed, so the archive is read twice */
        size_t n;
        struct buffer names; /* files of the archive that are no outputs, the first NAMES_SHOWN, for the reason */
        size_t n_names;
        char **ret_reason;
};

/* The reason why it is impossible. 0: the failure is the result, and is stored. */
static int give_reason(struct taking *t, const char *why, const char *detail)
{
        *t->ret_reason = format_string("the released binary %s %s%s", basename(t->era->file), why, detail);
        return 0;
}

/* Stores the bytes of output i, and of later outputs that are hard links to the same file. */
static int put_output(struct taking *t, size_t i, int fd)
{
        struct build_output *o = &t->list[i];
        int r;

        if (host_is_foreign(fd)) /* no reason of a failed build: that is kept for every machine */
                return errorf(-ENOEXEC, "the released binary %s is for another processor, and an emulator's times are not its own",
                              basename(t->era->file));
        r = programs_put(t->request->programs, fd, NULL, &o->id, &o->size);
        if (r == 0 && o->size == 0)
                return give_reason(t, "has an empty ", t->era->outputs[i]);
        if (r == -EFBIG)
                return give_reason(t, PROGRAM_TOO_LARGE ", in ", t->era->outputs[i]);
        for (size_t k = i; r == 0 && k < t->n; k++)
                if (k == i || strcmp(t->members[k], t->members[i]) == 0) {
                        t->found[k] = t->list[k].executable = true;
                        t->list[k].id = o->id;
                        t->list[k].size = o->size;
                }
        return r;
}

/* -- archives --------------------------------------------------------------------------------------------------- */

static int failed(struct taking *t, struct archive *a)
{
        const int e = archive_errno(a);

        if (e == ENOMEM || e == ENOSPC || e == EDQUOT || e == EIO) /* this machine's fault, not the archive's */
                return errorf(-e, "cannot unpack %s: %s", t->era->file, strerror(e));
        return give_reason(t, "cannot be unpacked: ", archive_error_string(a) ?: "damaged");
}

static const char *plain_name(const char *name)
{
        while (name && strncmp(name, "./", 2) == 0)
                name += 2;
        return name ?: "";
}

/* The output, not found yet, that looks for this name; n: none. */
static size_t output_of(struct taking *t, const char *name)
{
        size_t i = 0;

        while (i < t->n && (t->found[i] || strcmp(t->members[i], name) != 0))
                i++;
        return i;
}

static void note_name(struct taking *t, const char *name)
{
        if (t->n_names++ < NAMES_SHOWN)
                buffer_addf(&t->names, "%s%s", t->names.size > 0 ? ", " : "", name);
}

static int take_member(struct taking *t, struct archive *a, struct archive_entry *e, size_t i)
{
        cleanup_close int fd = open(t->request->work_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        if (fd < 0)
                return errorf(-errno, "cannot make a file in %s: %s", t->request->work_dir, strerror(errno));
        if (!archive_entry_size_is_set(e) || archive_entry_size(e) > (int64_t)PROGRAM_MOST)
                return give_reason(t, PROGRAM_TOO_LARGE ", in ", t->era->outputs[i]);
        return archive_read_data_into_fd(a, fd) == ARCHIVE_OK ? put_output(t, i, fd) : failed(t, a);
}

/* Goes to the next file. A warning is no error: libarchive gives one for each name that the locale (C) cannot express, and still returns a tar's
 * name as it is, but none for a zip's. */
static int next_member(struct archive *a, struct archive_entry **ret)
{
        int k = archive_read_next_header(a, ret);

        return k == ARCHIVE_WARN ? ARCHIVE_OK : k;
}

static int each_member(struct taking *t, struct archive *a)
{
        struct archive_entry *e;
        int k = ARCHIVE_OK, r = 0;

        while (r == 0 && !*t->ret_reason && (k = next_member(a, &e)) == ARCHIVE_OK) {
                const char *name = plain_name(archive_entry_pathname(e)), *link = archive_entry_hardlink(e);
                size_t i = output_of(t, name);

                if (link && archive_entry_size(e) == 0) { /* the bytes are at the first of its names */
                        t->has_links |= i < t->n;
                        if (i < t->n)
                                set_string(&t->members[i], plain_name(link));
                } else if (i < t->n && archive_entry_filetype(e) == AE_IFREG)
                        r = take_member(t, a, e, i);
                else if (archive_entry_filetype(e) == AE_IFREG)
                        note_name(t, name);
        }
        return r == 0 && !*t->ret_reason && k != ARCHIVE_EOF ? failed(t, a) : r;
}

static int read_archive(struct taking *t, int fd)
{
        cleanup(archive_read_freep) struct archive *a = archive_read_new();

        if (!a)
                return -ENOMEM;
        archive_read_support_filter_all(a);
        archive_read_support_format_all(a);
        return archive_read_open_fd(a, fd, 1 << 16) == ARCHIVE_OK ? each_member(t, a) : failed(t, a);
}

static int take_members(struct taking *t, int fd)
{
        int r = read_archive(t, fd);

        if (r == 0 && !*t->ret_reason && t->has_links) {
                t->names.size = t->n_names = 0;
                r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : read_archive(t, fd);
        }
        for (size_t i = 0; r == 0 && !*t->ret_reason && i < t->n; i++) {
                cleanup_buffer struct buffer why = {0};

                if (t->found[i])
                        continue;
                buffer_addf(&why, "%s; files in it: %s%s", t->era->outputs[i], t->names.size > 0 ? t->names.data : "none",
                            t->n_names > NAMES_SHOWN ? " and more" : "");
                r = give_reason(t, "has no ", why.data);
        }
        return r;
}

/* -- the file --------------------------------------------------------------------------------------------------- */

static int open_file(const struct build_request *q, const struct recipe *era, int *ret)
{
        cleanup_free char *path = format_string("%s/%s", q->downloads_dir ?: "", era->sha256);
        cleanup_close int fd = q->downloads_dir ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
        struct digest d, expected;
        int r;

        digest_parse(era->sha256, &expected);
        if (fd < 0)
                return errorf(-EIO, "%s, the released binary of %s at %s, is not in the store: 'solverfs solver update' gets it", era->file,
                              era->name, era->range);
        r = digest_of_fd(fd, &d, NULL);
        if (r == 0 && !digest_equal(&d, &expected))
                return errorf(-EIO, DOWNLOAD_DAMAGED, path);
        if (r == 0)
                *ret = steal_fd(&fd);
        return r;
}

int binary_take(const struct build_request *q, const struct recipe *era, struct build_output **ret_list, size_t *ret_n, char **ret_reason)
{
        size_t n = strings_count(era->outputs);
        cleanup_free bool *found = allocate(n + 1, sizeof(*found));
        struct taking t = {.request = q, .era = era, .found = found, .n = n, .ret_reason = ret_reason};
        cleanup_close int fd = -1;
        int r = open_file(q, era, &fd);

        if (r < 0)
                return r;
        t.members = strings_copy(era->outputs);
        *ret_list = t.list = allocate(n + 1, sizeof(*t.list));
        for (*ret_n = 0; *ret_n < n; (*ret_n)++)
                t.list[*ret_n].name = copy_string(basename(era->outputs[*ret_n]));
        r = era->is_archive ? take_members(&t, fd) : put_output(&t, 0, fd);
        buffer_done(&t.names);
        strings_free(t.members);
        return r;
}
