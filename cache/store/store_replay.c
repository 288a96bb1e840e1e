/* Applying the journal to the index. */
#include "cache/store/store_internal.h"

#define REPLAY_CHUNK (UINT64_C(32) << 20) /* bytes applied in one LMDB transaction when nobody watches */

struct replayer {
        struct environment *env;
        struct index *index;
        bool alone;
        MDB_txn **txn;
        struct journal_position *at;
        uint64_t bytes; /* since the last commit */
        /* a table that is none of ours, most likely of another version of solverfs */
        char other_name[JOURNAL_TABLE_MAX + 1];
        MDB_dbi other;
};

static int table_by_name(struct replayer *p, struct slice name, MDB_dbi *ret)
{
        char text[JOURNAL_TABLE_MAX + 1];
        int r;

        for (size_t i = 0; i < DB_TABLES && p->env->tables[i]; i++)
                if (strlen(p->env->tables[i]) == name.size && memcmp(p->env->tables[i], name.data, name.size) == 0) {
                        *ret = p->index->tables[i].dbi;
                        return 0;
                }
        memcpy(text, name.data, name.size);
        text[name.size] = '\0';
        if (strcmp(text, p->other_name) != 0) {
                r = db_table(p->index->db, *p->txn, text, true, &p->other);
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

        *p->at = end;
        if (!p->alone || p->bytes < REPLAY_CHUNK)
                return 0;
        p->bytes = 0;
        r = applied_put(db, *p->txn, p->index->meta, end);
        if (r < 0)
                return r;
        r = db_commit(db, *p->txn);
        *p->txn = NULL;
        return r < 0 ? r : db_begin(db, true, p->txn);
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

static int pass_over(void *user, const struct journal_record *record)
{
        struct journal_position *at = user;

        if (record->op == JOURNAL_COMMIT)
                *at = record->end;
        return 0;
}

/* A compacted segment lies ahead. When it was made from exactly what LMDB has, there is nothing to apply; else LMDB is older, and what was
 * deleted since would come back if its content were only added to. */
static int enter_compacted(struct replayer *p, struct journal_position base, struct journal_position first)
{
        struct journal_position end = first;
        struct journal_counts counts = {0};
        int r;

        if (!journal_position_equal(base, *p->at))
                return db_damaged(p->index->db, "it is older than its journal");
        r = journal_read(p->env->journal, &end, false, pass_over, &end, &counts);
        *p->at = end;
        return r;
}

int replay(struct environment *e, struct index *x, bool alone, MDB_txn **txn, struct journal_position *at,
           struct journal_counts *counts)
{
        struct replayer p = {
                .env = e,
                .index = x,
                .alone = alone,
                .txn = txn,
                .at = at,
        };
        struct journal_position next, base;
        bool lost = false;
        int r = 0;

        if (at->segment == 0)
                r = journal_first(e->journal, at, &lost);
        counts->damaged += lost;
        while (r == 0 && at->segment != 0) {
                r = journal_read(e->journal, at, alone, replay_record, &p, counts);
                if (r == 0)
                        r = journal_next_segment(e->journal, at->segment, &next, &base);
                if (r < 0 || next.segment == 0)
                        break;
                if (base.segment != 0) {
                        r = enter_compacted(&p, base, next);
                        continue;
                }
                counts->damaged += next.segment != at->segment + 1; /* those in between are lost */
                *at = next;
        }
        return r;
}
