/* Reading through libarchive, which finds the compression by the first bytes; a file without one is read as it is. */
#include "core/cases/unpack.h"

#include <archive.h>

/* Any file may unpack to SWELL_FREE bytes, and beyond that to SWELL_TIMES its size: text rarely compresses better than a hundredfold. */
#define SWELL_FREE  (UINT64_C(256) << 20)
#define SWELL_TIMES 1000

DEFINE_CLEANUP(struct archive *, archive_read_free)

static int failed(const char *name, struct archive *a)
{
        int e = archive_errno(a);

        if (e > 0 && e != EILSEQ) /* of read(); libarchive's own are EILSEQ and -1 */
                return errorf(-e, "cannot read '%s': %s", name, strerror(e));
        return errorf(-EINVAL, "'%s' cannot be unpacked, as it is cut off or damaged (%s)", name,
                      archive_error_string(a) ? archive_error_string(a) : "no reason is known");
}

static int each_block(const char *name, uint64_t size, struct archive *a, unpack_fn fn, void *user)
{
        uint64_t total = 0;

        for (;;) {
                const void *block;
                la_int64_t offset;
                size_t n;
                int r = archive_read_data_block(a, &block, &n, &offset);

                if (r == ARCHIVE_EOF)
                        return 0;
                if (r != ARCHIVE_OK)
                        return failed(name, a);
                total += n;
                if (total > SWELL_FREE && total > SWELL_TIMES * size)
                        return errorf(-EFBIG, "'%s' unpacks to more than %d times its size: unpack it first, if that is meant", name,
                                      SWELL_TIMES);
                r = fn(user, block, n);
                if (r != 0)
                        return r;
        }
}

int unpack_each(const char *name, int fd, unpack_fn fn, void *user)
{
        cleanup(archive_read_freep) struct archive *a = archive_read_new();
        struct archive_entry *entry;
        struct stat st;
        int r;

        if (!a)
                return -ENOMEM;
        archive_read_support_filter_gzip(a);
        archive_read_support_filter_xz(a);
        archive_read_support_filter_bzip2(a);
        archive_read_support_filter_zstd(a);
        archive_read_support_format_raw(a);
        archive_read_support_format_empty(a);
        if (lseek(fd, 0, SEEK_SET) < 0 || fstat(fd, &st) < 0)
                return errorf(-errno, "cannot read %s: %s", name, strerror(errno));
        r = archive_read_open_fd(a, fd, 1 << 16);
        if (r == ARCHIVE_OK)
                r = archive_read_next_header(a, &entry);
        if (r == ARCHIVE_EOF) /* an empty file */
                return 0;
        return r == ARCHIVE_OK ? each_block(name, (uint64_t)st.st_size, a, fn, user) : failed(name, a);
}
