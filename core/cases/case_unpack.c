/* Checks files given as cases, and unpacks those that are compressed, as benchmark libraries are. */
#include "core/cases/cases_internal.h"

#include <archive.h>

#include "core/smtlib/cnf.h"
#include "core/smtlib/token.h"

/* -- unpacking, by libarchive -- */

size_t case_unpacked_name(const char *name)
{
        static const char *const suffixes[] = {".gz", ".xz", ".bz2", ".zst"};
        size_t n = strlen(name);

        for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
                size_t m = strlen(suffixes[i]);

                if (n > m && name[n - m - 1] != '/' && strcasecmp(name + n - m, suffixes[i]) == 0)
                        return n - m;
        }
        return n;
}

static void archive_freep(struct archive **a)
{
        if (*a)
                archive_read_free(*a);
}

static int archive_failed(const char *name, struct archive *a)
{
        return errorf(-EINVAL, "'%s' cannot be unpacked, as it is cut off or damaged (%s)", name,
                      archive_error_string(a) ? archive_error_string(a) : "no reason is known");
}

/* Any file may unpack to SWELL_FREE bytes, and beyond that to SWELL_TIMES its size: text rarely compresses better than a hundredfold. */
#define SWELL_FREE  (UINT64_C(256) << 20)
#define SWELL_TIMES 1000

static int copy_out(const char *name, struct archive *a, int to)
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
                        return archive_failed(name, a);
                total += n;
                if (total > CASE_SIZE_MAX)
                        return errorf(-EFBIG, "the case %s has more than %llu bytes when it is unpacked", name,
                                      (unsigned long long)CASE_SIZE_MAX);
                if (total > SWELL_FREE && total / SWELL_TIMES > (uint64_t)archive_filter_bytes(a, -1))
                        return errorf(-EFBIG, "'%s' unpacks to more than %d times its size: unpack it first, if that is meant", name,
                                      SWELL_TIMES);
                r = write_all(to, block, n);
                if (r < 0)
                        return errorf(r, "cannot save the case %s: %s", name, strerror(-r));
        }
}

int case_unpack(const char *name, int from, int to)
{
        cleanup(archive_freep) struct archive *a = archive_read_new();
        struct archive_entry *entry;

        if (!a)
                return -ENOMEM;
        archive_read_support_filter_gzip(a);
        archive_read_support_filter_xz(a);
        archive_read_support_filter_bzip2(a);
        archive_read_support_filter_zstd(a);
        archive_read_support_format_raw(a);
        if (lseek(from, 0, SEEK_SET) < 0)
                return errorf(-errno, "cannot read the case %s: %s", name, strerror(errno));
        if (archive_read_open_fd(a, from, 1 << 16) != ARCHIVE_OK || archive_read_next_header(a, &entry) != ARCHIVE_OK)
                return archive_failed(name, a);
        return copy_out(name, a, to);
}

/* -- what a case begins with -- */

/* SMT-LIB is a list of commands, each in parentheses; comments alone are one without any. */
static bool begins_as_smt2(struct slice head)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, head, DIALECT_2_6);
        return token_next(&t, &token) == TOKEN_OPEN || token.kind == TOKEN_END;
}

#define HEAD_MOST (1 << 20)

int case_check_head(const char *name, struct slice head)
{
        enum format format = case_format(name, head);

        if (head.size == 0 || case_unpacker(head) || (format == FORMAT_CNF ? cnf_begins(head) : begins_as_smt2(head)))
                return 0; /* an empty file, or another compression, is refused elsewhere with its own message */
        return errorf(-EINVAL, "'%s' is no case: %s", name,
                      format == FORMAT_CNF
                              ? "DIMACS has a line 'p cnf VARIABLES CLAUSES' behind its comments"
                              : "it is neither SMT-LIB, which begins with a parenthesis or a comment, nor DIMACS ('p cnf')");
}

int case_check_text(const char *name, int fd)
{
        cleanup_free char *bytes = allocate(1, HEAD_MOST);
        ssize_t n = pread(fd, bytes, HEAD_MOST, 0);

        if (n < 0)
                return errorf(-errno, "cannot read the case %s: %s", name, strerror(errno));
        return case_check_head(name, SLICE(bytes, (size_t)n));
}
