/* Checks files given as cases, and unpacks compressed ones, as in benchmark libraries. */
#include "core/cases/cases_internal.h"

#include "core/cases/unpack.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/token.h"

/* -- unpacking -- */

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

struct unpacking {
        const char *name;
        int to;
        uint64_t total;
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

        if (head.size == 0 || case_unpacker(head) || (format == FORMAT_CNF ? cnf_begins(head) : begins_as_smt2(head)))
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
        cleanup_free char *bytes = allocate(1, HEAD_MOST);
        ssize_t n = pread(fd, bytes, HEAD_MOST, 0);

        if (n < 0)
                return errorf(-errno, "cannot read the case %s: %s", name, strerror(errno));
        return case_check_head(name, SLICE(bytes, (size_t)n));
}
