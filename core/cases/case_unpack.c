/* Checks files given as cases, and unpacks compressed ones, as in benchmark libraries. A file is known as compressed by its first bytes; the ending of its
 * name is only taken off. */
#include "core/cases/cases_internal.h"

#include "core/cases/unpack.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/token.h"

/* -- unpacking -- */

/* The known compressed forms: first those that case_unpack() takes, with the suffix of their names. */
static const struct packing {
        const char *magic;
        size_t size; /* of magic */
        const char *command, *suffix; /* suffix: NULL for the others */
} packings[] = {
        {"\x1f\x8b\x08", 3, "gzip -d", ".gz"},      {"\xfd\x37zXZ\0", 6, "xz -d", ".xz"}, {"BZh", 3, "bzip2 -d", ".bz2"},
        {"\x28\xb5\x2f\xfd", 4, "zstd -d", ".zst"}, {"\x5d\0\0", 3, "xz -d"},            {"PK\x03\x04", 4, "unzip"},
        {"7z\xbc\xaf\x27\x1c", 6, "7z x"},         {"\x04\x22\x4d\x18", 4, "lz4 -d"},
};

static const struct packing *find_packing(struct slice head)
{
        for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
                if (head.size >= packings[i].size && memcmp(head.data, packings[i].magic, packings[i].size) == 0)
                        return &packings[i];
        return NULL;
}

const char *case_unpacker(struct slice head)
{
        const struct packing *p = find_packing(head);

        return p ? p->command : NULL;
}

bool case_is_packed(struct slice head)
{
        const struct packing *p = find_packing(head);

        return p && p->suffix;
}

size_t case_unpacked_name(const char *name)
{
        size_t n = strlen(name);

        for (size_t i = 0; i < ARRAY_SIZE(packings) && packings[i].suffix; i++) {
                size_t m = strlen(packings[i].suffix);

                if (n > m && name[n - m - 1] != '/' && strcasecmp(name + n - m, packings[i].suffix) == 0)
                        return n - m;
        }
        return n;
}

struct unpacking {
        const char *name;
        int to;
        uint64_t total; /* bytes written so far */
};

static int copy_block(void *user, const void *block, size_t n)
{
        struct unpacking *u = user;
        int r;

        u->total += n;
        if (u->total > CASE_SIZE_MAX)
                return errorf(-EFBIG, "the case %s has more than %llu bytes when it is unpacked", u->name, (unsigned long long)CASE_SIZE_MAX);
        r = write_all(u->to, block, n);
        return r < 0 ? errorf(r, "cannot save the case %s: %s", u->name, strerror(-r)) : 0;
}

int case_unpack(const char *name, int from, int to)
{
        return unpack_each(name, from, copy_block, &(struct unpacking){.name = name, .to = to});
}

/* -- the beginning of a case -- */

/* SMT-LIB is a list of commands, each in parentheses; comments alone are an empty list. */
static bool begins_as_smt2(struct slice head)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, head, DIALECT_2_6);
        return token_next(&t, &token) == TOKEN_OPEN || token.kind == TOKEN_END;
}

/* Z3_open_log() numbers the functions of Z3's interface, and each release numbers them anew; a replay prints no answers either. */
static bool begins_as_z3_log(struct slice head)
{
        return head.size > 3 && memcmp(head.data, "V \"", 3) == 0;
}

int case_check_head(const char *name, struct slice head)
{
        enum format format = case_format(name, head);

        if (head.size == 0 || case_unpacker(head) || (format == FORMAT_CNF ? cnf_begins(head, false) : begins_as_smt2(head)))
                return 0; /* an empty file, or another compression, is refused elsewhere with a message of its own */
        return errorf(-EINVAL, "'%s' is no case: %s", name,
                      begins_as_z3_log(head)
                              ? "it is a log of Z3's API, which only the release that wrote it can replay; let the program write SMT-LIB instead, by "
                                "Z3's parameter solver.smtlib2_log=FILE"
                      : format == FORMAT_CNF
                              ? "DIMACS has a line 'p cnf VARIABLES CLAUSES' behind its comments"
                              : "it is neither SMT-LIB, which begins with a parenthesis or a comment, nor DIMACS ('p cnf')");
}

int case_check_text(const char *name, int fd)
{
        cleanup_free char *bytes = allocate(1, CASE_HEAD_MOST);
        ssize_t n = pread(fd, bytes, CASE_HEAD_MOST, 0);

        if (n < 0)
                return errorf(-errno, "cannot read the case %s: %s", name, strerror(errno));
        return case_check_head(name, SLICE(bytes, (size_t)n));
}
