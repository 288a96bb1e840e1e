/* Facts, written durably. */
#include <lmdb.h>
#include <sys/stat.h>

#include "bench.h"
#include "core/query/query.h"

#define KEY_SIZE   (RUN_KEY_SIZE + 5 * 8)
#define VALUE_SIZE 600 /* a fact with its run.json */
#define FACTS      100000
#define SINGLES    1000

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

int bench_store(void)
{
        int r = row((size_t)FACTS * bench.scale, 100, 10);

        return r < 0 ? r : row((size_t)SINGLES * bench.scale, 1, 10);
}
