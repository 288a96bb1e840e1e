/* For powercut.py: a process that writes to a store and says what it is about to write and what it has written, and one that opens what is
 * left behind a power cut and says what is in it.
 *
 *     powercut_store write DIR SEED N     N transactions; a line for each: "begin T KEY=T …", "done T"; it goes on when it is given a line
 *     powercut_store read DIR             "KEY=T" for each, then what the check finds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/store/store.h"

enum {
        FACTS,
        OTHERS,
        N_TABLES
};
static const char *const tables[N_TABLES] = {"facts", "others"};

#define KEYS       16
#define VALUE_MOST 6000

static _Noreturn void fail(int r, const char *what)
{
        fprintf(stderr, "%s: %s\n", what, error_message(r));
        exit(2);
}

/* Which transaction wrote it, and then filler that follows from that. */
static size_t value_of(unsigned key, unsigned txn, char ret[VALUE_MOST])
{
        unsigned seed = txn * 31 + key;
        size_t n = (size_t)snprintf(ret, VALUE_MOST, "%u ", txn),
               size = n + (size_t)(rand_r(&seed) % (rand_r(&seed) % 8 ? 300 : 5000));

        for (; n < size; n++)
                ret[n] = (char)('a' + rand_r(&seed) % 26);
        return n;
}

static void tell(const char *line)
{
        char answer[8];

        if (puts(line) < 0 || fflush(stdout) != 0 || !fgets(answer, sizeof(answer), stdin))
                exit(3);
}

static void write_one(struct store *s, unsigned txn, unsigned *seed)
{
        unsigned n = 1 + (unsigned)rand_r(seed) % 4, first = (unsigned)rand_r(seed) % KEYS;
        bool gone = rand_r(seed) % 8 == 0;
        char line[256], value[VALUE_MOST], key[16];
        int size = snprintf(line, sizeof(line), "begin %u", txn);
        struct store_txn *t;
        int r;

        for (unsigned i = 0; i < n; i++)
                size += snprintf(line + size, sizeof(line) - (size_t)size, " %u=%u", (first + i) % KEYS, gone ? 0 : txn);
        tell(line);
        r = store_write(s, &t);
        for (unsigned i = 0; r >= 0 && i < n; i++) {
                unsigned k = (first + i) % KEYS;

                snprintf(key, sizeof(key), "%u", k);
                r = gone ? store_delete(t, FACTS, slice_string(key))
                         : store_put(t, FACTS, slice_string(key), SLICE(value, value_of(k, txn, value)));
                if (r == -ENOENT)
                        r = 0;
                if (r == 0)
                        r = store_put(t, OTHERS, slice_string(key), SLICE(value, value_of(k, txn, value)));
        }
        if (r == 0)
                r = store_commit(t);
        if (r < 0)
                fail(r, "write");
        snprintf(line, sizeof(line), "done %u", txn);
        tell(line);
}

static void write_all_of(const char *dir, unsigned seed, unsigned n)
{
        struct store *s;
        int r = store_open(dir, tables, N_TABLES, STORE_CREATE, &s);

        for (unsigned txn = 1; r == 0 && txn <= n; txn++) {
                write_one(s, txn, &seed);
                if (rand_r(&seed) % 12 == 0)
                        r = store_compact(s);
                if (r == 0 && rand_r(&seed) % 20 == 0) {
                        s = store_close(s);
                        r = store_open(dir, tables, N_TABLES, 0, &s);
                }
        }
        if (r < 0)
                fail(r, "write");
        store_close(s);
}

/* 0: what is there is none of ours, which no cut may lead to. */
static unsigned txn_of(struct slice key, struct slice value)
{
        unsigned k = (unsigned)atoi(strndupa(key.data, key.size)),
                 txn = (unsigned)atoi(strndupa(value.data, MIN(value.size, (size_t)12)));
        char right[VALUE_MOST];

        return value_of(k, txn, right) == value.size && memcmp(right, value.data, value.size) == 0 ? txn : 0;
}

static int print_table(struct store *s, size_t table, const char *before)
{
        cleanup_walk struct store_walk w = {.store = s, .table = table};
        int r;

        while ((r = store_walk(&w)) > 0)
                printf("%s%.*s=%u\n", before, (int)w.key.size, (const char *)w.key.data, txn_of(w.key, w.value));
        return r;
}

static void print_finding(void *user, const char *line)
{
        (void)user;
        printf("check: %s\n", line);
}

static int print_all(const char *dir)
{
        struct store_report report;
        struct store *s;
        int r = store_open(dir, tables, N_TABLES, STORE_CREATE, &s);

        if (r == 0)
                r = store_check(s, false, &report, print_finding, NULL);
        if (r == 0)
                r = print_table(s, FACTS, "") ?: print_table(s, OTHERS, "other ");
        if (r < 0)
                fail(r, "read");
        r = store_check(s, false, &report, print_finding, NULL);
        printf("again: %d %llu\n", r, (unsigned long long)(report.damaged + report.journal_damaged));
        write_one(s, 1000000, &(unsigned){1}); /* it can be written to */
        store_close(s);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 5 && strcmp(argv[1], "write") == 0)
                return write_all_of(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4])), 0;
        if (argc == 3 && strcmp(argv[1], "read") == 0)
                return print_all(argv[2]);
        fprintf(stderr, "usage: powercut_store write DIR SEED N | read DIR\n");
        return 2;
}
