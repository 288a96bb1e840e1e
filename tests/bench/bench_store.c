/* Facts, written durably.
 *
 * A slow disk is had by SOLVERFS_FAULTS=DIR and a file DIR/journal.sync that says "delay 10" (cache/base/fault.h): each commit then takes ten
 * milliseconds longer. */
#include <fcntl.h>
#include <lmdb.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "bench.h"
#include "cache/store/pages.h"
#include "core/query/query.h"

#define KEY_SIZE   (RUN_KEY_SIZE + 5 * 8)
#define VALUE_SIZE 600 /* a fact with its run.json */
#define FACTS      100000
#define SINGLES    1000
#define ROWS       1000
#define LOOKED_AT  200000 /* facts of the store whose pages are looked at */
#define THREADS    64

struct writer {
        const char *dir;
        size_t facts, batch;
        uint64_t next; /* of the next fact: keys are never written twice */
};

/* Keys as run keys are: digests, in no order. Values as facts are: a head of numbers and JSON. */
static void make_fact(uint64_t number, uint8_t key[KEY_SIZE], char value[VALUE_SIZE])
{
        uint64_t state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
        struct digest d;

        digest_of(&number, sizeof(number), &d);
        for (size_t i = 0; i < KEY_SIZE; i++)
                key[i] = d.bytes[i % DIGEST_SIZE];
        memset(value, 0, VALUE_SIZE);
        for (size_t i = 0; i < 64; i += 4)
                memcpy(value + i, &(uint32_t){bench_random(&state)}, 4);
        for (size_t i = 64; i + 24 < VALUE_SIZE; i += 24)
                snprintf(value + i, 25, "\"field%03zu\": %10u,\n", i / 24, bench_random(&state));
}

static int write_ours(struct store *s, const struct writer *w, uint64_t first)
{
        struct store_txn *t;
        int r = store_write(s, &t);

        for (size_t i = 0; r == 0 && i < w->batch; i++) {
                uint8_t key[KEY_SIZE];
                char value[VALUE_SIZE];

                make_fact(first + i, key, value);
                r = store_put(t, TABLE_FACTS, SLICE(key, sizeof(key)), SLICE(value, sizeof(value)));
        }
        return r < 0 ? r : store_commit(t);
}

static int measure_ours(void *user, double *ret)
{
        struct writer *w = user;
        struct store *s;
        double began;
        int r = store_open(w->dir, workspace_tables, N_TABLES, STORE_CREATE, &s);

        if (r < 0)
                return r;
        began = bench_now();
        for (size_t done = 0; r == 0 && done < w->facts; done += w->batch, w->next += w->batch)
                r = write_ours(s, w, w->next);
        *ret = (bench_now() - began) / (double)w->facts;
        store_close(s);
        return r;
}

static int write_theirs(MDB_env *env, MDB_dbi dbi, const struct writer *w, uint64_t first)
{
        MDB_txn *txn;
        int rc = mdb_txn_begin(env, NULL, 0, &txn);

        for (size_t i = 0; rc == 0 && i < w->batch; i++) {
                uint8_t key[KEY_SIZE];
                char value[VALUE_SIZE];
                MDB_val k = {sizeof(key), key}, v = {sizeof(value), value};

                make_fact(first + i, key, value);
                rc = mdb_put(txn, dbi, &k, &v, 0);
        }
        return rc == 0 ? mdb_txn_commit(txn) : rc;
}

/* LMDB as it is by default: a commit syncs the pages, then its meta page. */
static int measure_theirs(void *user, double *ret)
{
        struct writer *w = user;
        MDB_env *env = NULL;
        MDB_txn *txn;
        MDB_dbi dbi = 0;
        double began;
        int rc = make_dirs(w->dir, 0700) == 0 ? mdb_env_create(&env) : EIO;

        if (rc == 0)
                rc = mdb_env_set_mapsize(env, (size_t)1 << 36);
        if (rc == 0)
                rc = mdb_env_set_maxdbs(env, 4);
        if (rc == 0)
                rc = mdb_env_open(env, w->dir, 0, 0600);
        if (rc == 0)
                rc = mdb_txn_begin(env, NULL, 0, &txn);
        if (rc == 0)
                rc = mdb_dbi_open(txn, "facts", MDB_CREATE, &dbi);
        if (rc == 0)
                rc = mdb_txn_commit(txn);
        began = bench_now();
        for (size_t done = 0; rc == 0 && done < w->facts; done += w->batch, w->next += w->batch)
                rc = write_theirs(env, dbi, w, w->next);
        *ret = (bench_now() - began) / (double)w->facts;
        if (env)
                mdb_env_close(env);
        return rc == 0 ? 0 : errorf(-EIO, "LMDB: %s", mdb_strerror(rc));
}

/* Both go on where the last round ended, so that both trees are as large. */
static int row(size_t facts, size_t batch, unsigned rounds)
{
        char ours_dir[PATH_SIZE], theirs_dir[PATH_SIZE], text[96];
        struct writer ours = {.dir = ours_dir, .facts = facts / rounds, .batch = batch}, theirs = ours;
        int r = path_join(ours_dir, bench.dir, "store-ours");

        theirs.dir = theirs_dir;
        if (r == 0)
                r = path_join(theirs_dir, bench.dir, "store-theirs");
        if (r == 0)
                r = remove_tree(ours_dir);
        if (r == 0)
                r = remove_tree(theirs_dir);
        snprintf(text, sizeof(text), "%zu durable facts, %zu at a time", facts, batch);
        if (r == 0)
                r = bench_compare(&(struct row){.what = text, .against = "bare LMDB", .most = 1.5, .rounds = rounds},
                                  measure_ours, &ours, measure_theirs, &theirs);
        remove_tree(ours_dir);
        remove_tree(theirs_dir);
        return r;
}

/* -- many threads, a fact each ------------------------------------------------------------------------------------ */

struct crowd {
        struct store *store;
        int (*update)(struct store *s, store_update_fn fn, void *user);
        uint64_t first, n; /* facts of this round; keys are never written twice */
        _Atomic uint64_t taken;
        _Atomic int error;
        double commits; /* of the last round */
};

static int put_fact(void *user, struct store_txn *t)
{
        uint8_t key[KEY_SIZE];
        char value[VALUE_SIZE];

        make_fact(*(const uint64_t *)user, key, value);
        return store_put(t, TABLE_FACTS, SLICE(key, sizeof(key)), SLICE(value, sizeof(value)));
}

static void *write_on(void *user)
{
        struct crowd *c = user;
        uint64_t i;

        while ((i = atomic_fetch_add(&c->taken, 1)) < c->n) {
                uint64_t number = c->first + i;
                int r = c->update(c->store, put_fact, &number);

                if (r < 0)
                        c->error = r;
        }
        return NULL;
}

static int measure_crowd(void *user, double *ret)
{
        struct crowd *c = user;
        uint64_t generation = store_generation(c->store);
        pthread_t threads[THREADS];
        double began = bench_now();

        c->taken = 0;
        for (size_t i = 0; i < THREADS; i++)
                if (pthread_create(&threads[i], NULL, write_on, c) != 0)
                        abort();
        for (size_t i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        *ret = (bench_now() - began) / (double)c->n;
        c->first += c->n;
        c->commits = (double)(store_generation(c->store) - generation);
        return c->error;
}

static int rows_of_crowds(uint64_t facts)
{
        char dir[PATH_SIZE], text[96];
        struct crowd together = {.update = store_update_together, .n = facts},
                     alone = {.update = store_update, .n = facts, .first = UINT64_MAX / 2};
        struct store *s = NULL;
        int r = path_join(dir, bench.dir, "store-crowd");

        if (r == 0)
                r = remove_tree(dir);
        if (r == 0)
                r = store_open(dir, workspace_tables, N_TABLES, STORE_CREATE, &s);
        together.store = alone.store = s;
        snprintf(text, sizeof(text), "%llu durable facts of %d threads", (unsigned long long)facts, THREADS);
        if (r == 0)
                r = bench_compare(&(struct row){.what = text, .against = "a commit each", .most = 0.5, .rounds = 5}, measure_crowd,
                                  &together, measure_crowd, &alone);
        if (r == 0)
                bench_print(&(struct row){.what = "commits of these", .against = "a commit each", .unit = UNIT_COUNT, .most = 0.1},
                            together.commits, alone.commits, NAN);
        store_close(s);
        remove_tree(dir);
        return r;
}

/* -- what it costs to look at each page before LMDB reads it ------------------------------------------------------ */

struct looker {
        struct writer writer;
        struct store *store;
        clockid_t clock;
        int fd; /* of data.mdb */
        const char *data;
};

static double seconds_of(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int measure_commit(void *user, double *ret)
{
        struct looker *l = user;
        struct writer *w = &l->writer;
        double began = seconds_of(l->clock);
        int r = 0;

        for (size_t done = 0; r == 0 && done < w->facts; done += w->batch, w->next += w->batch)
                r = write_ours(l->store, w, w->next);
        *ret = (seconds_of(l->clock) - began) / (double)(w->facts / w->batch);
        return r;
}

/* All that is looked at before facts are put and committed, and nothing else. */
static int look_at_commit(struct looker *l, uint64_t first)
{
        struct pages *p = NULL;
        int r = pages_begin(l->fd, l->data, &p);

        for (size_t i = 0; r == 0 && i < l->writer.batch; i++) {
                uint8_t key[KEY_SIZE];
                char value[VALUE_SIZE];

                make_fact(first + i, key, value);
                r = pages_path(p, workspace_tables[TABLE_FACTS], SLICE(key, sizeof(key)), false);
        }
        if (r == 0)
                r = pages_path(p, "@store", slice_string("journal"), false);
        if (r == 0)
                r = pages_check_free_list(p);
        pages_free(p);
        return r;
}

static int measure_look(void *user, double *ret)
{
        struct looker *l = user;
        const struct writer *w = &l->writer;
        double began = seconds_of(l->clock);
        int r = 0;

        for (size_t done = 0; r == 0 && done < w->facts; done += w->batch)
                r = look_at_commit(l, w->next + done);
        *ret = (seconds_of(l->clock) - began) / (double)(w->facts / w->batch);
        return r;
}

/* What is deleted stands in small tables; no fact ever is. */
static int put_rows(void *, struct store_txn *t)
{
        uint8_t key[KEY_SIZE];
        char value[VALUE_SIZE];
        int r = 0;

        for (uint64_t i = 0; r == 0 && i < ROWS; i++) {
                make_fact(i, key, value);
                r = store_put(t, TABLE_META, SLICE(key, sizeof(key)), SLICE(value, sizeof(value)));
        }
        return r;
}

static int delete_row(void *user, struct store_txn *t)
{
        uint64_t *number = user;
        uint8_t key[KEY_SIZE];
        char value[VALUE_SIZE];

        make_fact((*number)++, key, value);
        return store_delete(t, TABLE_META, SLICE(key, sizeof(key)));
}

static int measure_delete(void *user, double *ret)
{
        struct looker *l = user;
        double began = seconds_of(l->clock);
        int r = store_update(l->store, delete_row, &l->writer.next);

        *ret = seconds_of(l->clock) - began;
        return r;
}

static int row_of_looks(struct looker *l, size_t facts, size_t batch, clockid_t clock)
{
        char text[96];

        l->writer.facts = 10 * batch;
        l->writer.batch = batch;
        l->clock = clock;
        snprintf(text, sizeof(text), "pages looked at for a commit of %zu facts beside %zu%s", batch, facts,
                 clock == CLOCK_MONOTONIC ? "" : ", CPU time");
        return bench_compare(&(struct row){.what = text, .against = "the whole commit", .most = 0.05}, measure_look, l,
                             measure_commit, l);
}

static int rows_of_looks(size_t facts)
{
        char dir[PATH_SIZE], data[PATH_SIZE], text[96];
        struct looker l = {.writer = {.dir = dir, .facts = facts, .batch = 1000}, .data = data, .fd = -1}, first;
        double seconds;
        int r = path_join(dir, bench.dir, "store-looks");

        if (r == 0)
                r = path_join(data, dir, "lmdb/data.mdb");
        if (r == 0)
                r = remove_tree(dir);
        if (r == 0)
                r = store_open(dir, workspace_tables, N_TABLES, STORE_CREATE, &l.store);
        if (r == 0)
                r = measure_commit(&l, &seconds);
        if (r == 0)
                r = store_update(l.store, put_rows, NULL);
        if (r == 0 && (l.fd = open(l.data, O_RDONLY | O_CLOEXEC)) < 0)
                r = errorf(-errno, "cannot open %s: %s", l.data, strerror(errno));
        for (size_t batch = 1; r == 0 && batch <= 100; batch *= 100) {
                r = row_of_looks(&l, facts, batch, CLOCK_MONOTONIC);
                if (r == 0)
                        r = row_of_looks(&l, facts, batch, CLOCK_THREAD_CPUTIME_ID);
        }
        first = l;
        first.writer.next = 0;
        first.clock = CLOCK_THREAD_CPUTIME_ID;
        snprintf(text, sizeof(text), "a row of %d deleted beside %zu facts, CPU time", ROWS, facts);
        if (r == 0)
                r = bench_compare(&(struct row){.what = text, .judge = JUDGE_ALONE, .most = 0.005}, measure_delete, &first, NULL, NULL);
        if (l.fd >= 0)
                close(l.fd);
        store_close(l.store);
        remove_tree(dir);
        return r;
}

int bench_store(void)
{
        int r = row((size_t)FACTS * bench.scale, 100, 10);

        if (r == 0)
                r = row((size_t)SINGLES * bench.scale, 1, 10);
        if (r == 0)
                r = rows_of_crowds((uint64_t)SINGLES * bench.scale);
        return r < 0 ? r : rows_of_looks((size_t)LOOKED_AT * bench.scale);
}
