/* Applying the journal to the index. */
#include "cache/store/store_internal.h"

#define REPLAY_CHUNK (UINT64_C(32) << 20) /* bytes applied in one LMDB transaction while the index is not in force */

struct replayer {
        struct environment *env;
        struct index *index;
        bool alone; /* nobody else uses the index: long replays are committed in parts */
        MDB_txn **txn;
        uint64_t bytes; /* since the last commit */
        /* a table that is not ours, probably another version's */
        char other_name[JOURNAL_TABLE_MAX + 1];
        MDB_dbi other;
};

static int table_by_name(struct replayer *p, struct slice name, MDB_dbi *ret)
{
        size_t table = table_named(p->env, name);
        char text[JOURNAL_TABLE_MAX + 1];
        int r;

        if (table < p->env->n_tables) {
                *ret = p->index->tables[table].dbi;
                return 0;
        }
        memcpy(text, name.data, name.size);
        text[name.size] = '\0';
        if (strcmp(text, p->other_name) != 0) {
                r = db_table(p->index->db, *p->txn, text, DB_CREATE, &p->other);
                if (r < 0)
                        return r;
                memcpy(p->other_name, text, name.size + 1);
        }
        *ret = p->other;
        return 0;
}

static int replay_commit(struct replayer *p, struct journal_position end)
{
        struct db *db = p->index->db;
        int r;

        if (!p->alone || p->bytes < REPLAY_CHUNK)
                return 0;
        p->bytes = 0;
        r = applied_put(db, *p->txn, p->index->meta, end);
        if (r < 0)
                return r;
        r = db_commit(db, *p->txn);
        *p->txn = NULL;
        return r < 0 ? r : db_begin(db, DB_WRITE, p->txn);
}

static int replay_record(void *user, const struct journal_record *record)
{
        struct replayer *p = user;
        MDB_dbi dbi;
        int r;

        if (record->op == JOURNAL_COMMIT)
                return replay_commit(p, record->end);
        r = table_by_name(p, record->table, &dbi);
        if (r < 0)
                return r;
        p->bytes += record->key.size + record->frame.size;
        if (record->op == JOURNAL_PUT)
                return db_put(p->index->db, *p->txn, dbi, record->key, record->frame);
        r = db_delete(p->index->db, *p->txn, dbi, record->key);
        return r == -ENOENT ? 0 : r;
}

int replay(struct environment *e, struct index *x, bool alone, MDB_txn **txn, struct journal_position *at, uint64_t *damaged)
{
        struct replayer p = {
                .env = e,
                .index = x,
                .alone = alone,
                .txn = txn,
        };
        struct journal_walk w = {.at = *at, .upto = JOURNAL_END, .thorough = alone || x->db->fresh, .fn = replay_record, .user = &p};
        int r = journal_walk(e->journal, &w);

        *at = w.at;
        *damaged += w.counts.damaged;
        /* LMDB is older than a compacted segment, which has no deletes: values deleted since would come back. */
        return r == -ESTALE ? db_fail_damaged(x->db, "it is older than its journal") : r;
}
