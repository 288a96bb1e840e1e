/* Statistics, compaction and checks. A check reads the whole journal first, and keeps of each key only a hash of its last word; then it compares each
 * value of the index with that. */
#include "cache/store/store_internal.h"

#include <xxhash.h>

#include "cache/base/fault.h"
#include "cache/store/pages.h"

/* -- statistics ------------------------------------------------------------------------------------------------- */

static int table_stats(struct environment *e, struct index *x, MDB_txn *txn, struct store_stats *ret, uint64_t *ret_page)
{
        for (; ret->n_tables < MIN(e->n_tables, ARRAY_SIZE(ret->tables)); ret->n_tables++) {
                size_t i = ret->n_tables;
                MDB_stat stat = {0};
                int r = x->tables[i].present ? db_stat(x->db, txn, x->tables[i].dbi, &stat) : 0;

                if (r < 0)
                        return r;
                *ret_page = MAX(*ret_page, stat.ms_psize);
                ret->tables[i].name = e->tables[i];
                ret->tables[i].entries = stat.ms_entries;
                ret->tables[i].bytes = stat.ms_psize * (uint64_t)(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages);
        }
        return 0;
}

int store_stats(struct store *s, struct store_stats *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint64_t page = 0;
        MDB_envinfo info;
        int r = store_read(s, &t);

        *ret = (struct store_stats){0};
        if (r == 0)
                r = table_stats(s->env, t->index, t->txn, ret, &page) ?: db_info(t->index->db, &info);
        if (r == 0 && s->env->journal)
                r = journal_size(s->env->journal, &ret->journal_bytes);
        if (r < 0)
                return r;
        ret->map_size = info.me_mapsize;
        ret->used_bytes = (info.me_last_pgno + 1) * page;
        return 0;
}

/* -- the index as a segment of the journal ------------------------------------------------------------------------------------------------- */

static int compact_table(struct db *db, MDB_txn *txn, const char *name, struct journal_compaction *c)
{
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi dbi;
        int r = db_table(db, txn, name, DB_EXISTING, &dbi);

        if (r < 0)
                return r;
        for (r = walk_first(&w, db, txn, dbi, SLICE(NULL, 0), WALK_FRAMES); r == 0; r = walk_next(&w, WALK_FRAMES)) {
                struct slice key = SLICE(w.key, w.key_size), frame = SLICE(w.frame, w.frame_size);
                cleanup_blob struct blob value = {0};

                r = frame_decode(key, frame, &value);
                if (r == -EBADMSG)
                        return db_fail_damaged(db, "a value fails its checksum");
                if (r == 0)
                        r = journal_compact_add(c, slice_string(name), key, frame);
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* LMDB's unnamed table has the names of all tables. */
static int compact_tables(struct db *db, MDB_txn *txn, struct journal_compaction *c)
{
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi names;
        int r = db_table(db, txn, NULL, DB_EXISTING, &names);

        if (r < 0)
                return r;
        for (r = walk_first(&w, db, txn, names, SLICE(NULL, 0), WALK_KEYS); r == 0; r = walk_next(&w, WALK_KEYS)) {
                char name[sizeof(w.key) + 1];

                memcpy(name, w.key, w.key_size);
                name[w.key_size] = '\0';
                if (w.key_size > JOURNAL_TABLE_MAX || name[0] == '@')
                        continue;
                r = compact_table(db, txn, name, c);
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* The new segment is in force once LMDB records that it is applied. After an earlier crash the next opening finds a segment made of exactly
 * what LMDB has, and takes it. */
int compact_index(struct environment *e, struct index *x, MDB_txn *txn, struct journal_position at, uint64_t *ret_segment)
{
        struct journal_compaction *c;
        struct journal_position end;
        int r = journal_compact_begin(e->journal, at, &c);

        if (r < 0)
                return r;
        r = journal_compact_finish(c, compact_tables(x->db, txn, c), &end);
        if (r < 0)
                return r;
        *ret_segment = end.segment;
        return applied_put(x->db, txn, x->meta, end);
}

/* -- checking --------------------------------------------------------------------------------------------------- */

/* The state of a key according to the journal, found by the key's hash: 128 bits, enough for millions of keys. */
struct last_word {
        XXH128_hash_t key;
        uint64_t frame; /* hash of it */
        uint64_t order;
        uint64_t damaged; /* places of the journal before it */
        bool deleted, seen;
};

struct check {
        struct store_txn *txn;
        struct store_report *report;
        void (*say)(void *user, const char *line);
        void *user;
        bool look_only;
        struct last_word *words; /* malloc'd; sorted by key once the journal is read, the last word on each */
        size_t n;
        struct journal_position upto, outdated; /* the index has what the journal has up to here; the same of the try before */
        struct journal_walk walk;
        bool journal_lacks; /* the index has something that the journal lacks */
};

static void check_done(struct check *c)
{
        free(c->words);
}

static printf_like(2, 3) void tell(struct check *c, const char *format, ...)
{
        char line[512];

        if (!c->say)
                return;
        format_rest(line, format);
        c->say(c->user, line);
}

static XXH128_hash_t hash_key(struct slice table, struct slice key)
{
        return XXH3_128bits_withSeed(key.data, key.size, XXH3_64bits(table.data, table.size));
}

/* Notes what a record says of its key. Ignores tables that are not ours, probably another version's. */
static int note_word(void *user, const struct journal_record *record)
{
        struct check *c = user;
        const struct environment *e = c->txn->env;

        if (record->op == JOURNAL_COMMIT || table_named(e, record->table) == e->n_tables)
                return 0;
        if ((c->n & (c->n + 1)) == 0) { /* not list_grow(): these may be millions, and the process may serve a mount */
                struct last_word *grown = reallocarray(c->words, 2 * c->n + 2, sizeof(*grown));

                if (!grown)
                        return errorf(-ENOMEM, "no memory to check the journal's records, more than %zu", c->n);
                c->words = grown;
        }
        c->words[c->n] = (struct last_word){
                .key = hash_key(record->table, record->key),
                .frame = XXH3_64bits(record->frame.data, record->frame.size),
                .order = c->n,
                .damaged = c->walk.counts.damaged,
                .deleted = record->op == JOURNAL_DELETE,
        };
        c->n++;
        return 0;
}

static int compare_words(const void *a, const void *b)
{
        const struct last_word *x = a, *y = b;

        return XXH128_cmp(&x->key, &y->key) ?: ORDER(x->order, y->order);
}

static void keep_last_words(struct check *c)
{
        size_t kept = 0;

        if (c->n == 0)
                return;
        sort_list(c->words, c->n, sizeof(*c->words), compare_words);
        for (size_t i = 0; i < c->n; i++)
                if (i + 1 == c->n || XXH128_cmp(&c->words[i].key, &c->words[i + 1].key) != 0)
                        c->words[kept++] = c->words[i];
        c->n = kept;
}

static int compare_keys(const void *a, const void *b)
{
        return XXH128_cmp(&((const struct last_word *)a)->key, &((const struct last_word *)b)->key);
}

/* True if this is surely the journal's last word on its key: no damaged record follows, which may have been a later one. */
static bool is_certain(const struct check *c, const struct last_word *k)
{
        return k->damaged == c->walk.counts.damaged;
}

/* Counts a value that a rebuilt index will have or lack. */
static void count_damaged(struct check *c, const struct last_word *k)
{
        c->report->damaged++;
        if (c->look_only)
                return;
        if (k && !k->deleted && is_certain(c, k))
                c->report->restored++;
        else
                c->report->dropped++;
}

static int check_value(struct check *c, size_t table, struct slice key, struct slice frame)
{
        const char *name = c->txn->env->tables[table];
        const struct last_word sought = {.key = hash_key(slice_string(name), key)};
        struct last_word *k = find_in_list(&sought, c->words, c->n, sizeof(*k), compare_keys);
        cleanup_blob struct blob value = {0};
        int r = frame_decode(key, frame, &value);

        c->report->values++;
        c->report->bytes += frame.size;
        if (r < 0 && r != -EBADMSG)
                return r;
        if (k)
                k->seen = true;
        if (r == -EBADMSG) {
                tell(c, "a value in the table %s fails its checksum", name);
        } else if (!k) {
                c->journal_lacks = true;
                tell(c, "the journal lacks a value of the table %s", name);
                return 0;
        } else if (is_certain(c, k) && (k->deleted || k->frame != XXH3_64bits(frame.data, frame.size))) {
                tell(c, "a value in the table %s is not the last one the journal has", name);
        } else {
                return 0;
        }
        count_damaged(c, k);
        return 0;
}

static int check_table(struct check *c, size_t table)
{
        cleanup(walk_done) struct walk w = {0};
        int r;

        if (!txn_has(c->txn, table))
                return 0;
        r = walk_first(&w, c->txn->index->db, c->txn->txn, txn_dbi(c->txn, table), SLICE(NULL, 0), WALK_FRAMES);
        for (; r == 0; r = walk_next(&w, WALK_FRAMES)) {
                r = check_value(c, table, SLICE(w.key, w.key_size), SLICE(w.frame, w.frame_size));
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* Keys that the journal has and the index lost. If a damaged record may have deleted the key, a sound index is right. */
static void check_missing(struct check *c)
{
        bool index_is_sound = c->report->damaged == 0;

        for (size_t i = 0; i < c->n; i++) {
                struct last_word *k = &c->words[i];

                if (k->seen || k->deleted || (!is_certain(c, k) && index_is_sound))
                        continue;
                tell(c, "the index lacks a value that the journal has");
                count_damaged(c, k);
        }
}

/* -EAGAIN: the journal was compacted since the transaction began. An index that stays behind it is an old copy. */
static int check_journal(struct check *c)
{
        const struct environment *e = c->txn->env;
        int r;

        c->walk = (struct journal_walk){.upto = c->upto, .thorough = true, .fn = note_word, .user = c};
        r = e->journal ? journal_walk(e->journal, &c->walk) : 0;
        if (r == -EAGAIN && (c->txn->write || journal_position_equal(c->upto, c->outdated)))
                return errorf(-EIO, "the index in %s is older than its journal", e->dir);
        if (r == -EAGAIN)
                return r;
        c->report->journal_records = c->walk.counts.records;
        c->report->journal_damaged = c->walk.counts.damaged + c->walk.counts.torn;
        if (c->report->journal_damaged > 0)
                tell(c, "the journal is damaged in %llu places", (unsigned long long)c->report->journal_damaged);
        keep_last_words(c);
        return r;
}

static int check_all(struct check *c)
{
        int r = applied_get(c->txn->index->db, c->txn->txn, c->txn->index->meta, &c->upto) ?: check_journal(c);

        for (size_t i = 0; r == 0 && i < c->txn->env->n_tables; i++)
                r = check_table(c, i);
        if (r == 0)
                check_missing(c);
        return r;
}

/* Checks all pages of the index that this transaction sees; a writer sees the snapshot of the transaction before its own. */
static int check_pages(const struct store_txn *t)
{
        struct db *db = t->index->db;

        return pages_check(db->fd, db->data, mdb_txn_id(t->txn) - t->write);
}

/* -- compacting a store ----------------------------------------------------------------------------------------- */

/* Compacting an index that lost something would make the journal lose it, too. */
static int check_before_compacting(struct store_txn *t)
{
        struct store_report report = {0};
        cleanup(check_done) struct check c = {.txn = t, .report = &report, .look_only = true};
        int r = check_pages(t) ?: check_all(&c);

        if (r == 0 && report.damaged > 0)
                r = errorf(-EIO, "the index in %s is not what the journal says", t->store->dir);
        return r == -EIO ? db_fail_damaged(t->index->db, error_message(r)) : r;
}

static int compact_once(struct store *s)
{
        struct environment *e = s->env;
        struct store_txn *t;
        uint64_t segment = 0;
        bool in_force;
        int r = write_begin(s, WRITE_WAITS | WRITE_LACKING, &t);

        if (r < 0)
                return r;
        r = check_before_compacting(t) ?: compact_index(e, t->index, t->txn, t->at, &segment) ?: fault_at("store.compacting");
        /* Not store_commit(): it would release the lock before a segment that did not come into force is removed. */
        if (r == 0)
                r = db_commit(t->index->db, t->txn);
        else
                db_abort(t->index->db, t->txn);
        t->txn = NULL;
        in_force = r == 0;
        if (r == 0)
                r = fault_at("store.compacted") ?: db_sync(t->index->db);
        if (r == 0) {
                journal_remove_before(e->journal, segment);
                e->journal_lost = false;
        } else if (segment != 0 && !in_force) { /* else both stay: it is unknown which one the disk has as applied */
                journal_remove(e->journal, segment);
        }
        store_end(t);
        return r;
}

/* The second attempt is from a rebuilt index. */
int store_compact(struct store *s)
{
        int r = compact_once(s);

        return r == -EIO ? compact_once(s) : r;
}

/* -- checking a store ------------------------------------------------------------------------------------------- */

/* Reports repairs made before this check, by opening the store or by a transaction that met damage. Under the write lock. */
static void tell_made_anew(struct check *c, struct environment *e)
{
        if (e->index_anew && !e->index_absent)
                tell(c, "the index was damaged, and made anew from the journal");
        if (e->journal_anew && !e->index_absent)
                tell(c, "a part of the journal was gone, and it was written anew from the index");
        c->report->rebuilt |= e->index_anew;
        c->report->absent |= e->index_absent;
        c->report->lost |= e->journal_anew && e->index_absent;
        e->index_anew = e->index_absent = e->journal_anew = false;
}

/* A transaction whose pages are sound. -EAGAIN: writers replaced its snapshot. */
static int check_begin(struct check *c, struct store *s)
{
        int r = c->look_only ? store_read(s, &c->txn) : store_write(s, &c->txn);

        if (r < 0)
                return r;
        r = check_pages(c->txn);
        if (r == -EIO)
                tell(c, "%s", error_message(r));
        return r;
}

/* 1: the index is damaged, and will be rebuilt before the next transaction (not with look_only). -EAGAIN: writers were faster; check again. */
static int check_once(struct check *c, struct store *s)
{
        bool is_damaged;
        int r = check_begin(c, s);

        if (r == 0 && !c->look_only)
                tell_made_anew(c, s->env);
        if (r == 0)
                r = check_all(c);
        is_damaged = r == -EIO || (r == 0 && c->report->damaged > 0);
        if (is_damaged && c->txn && !c->look_only)
                db_condemn(c->txn->index->db, "'solverfs fsck' found it odd");
        c->txn = store_end(c->txn);
        return is_damaged && !c->look_only ? 1 : r;
}

int store_check(struct store *s, bool look_only, struct store_report *ret, void (*say)(void *user, const char *line), void *user)
{
        struct store_report first = {0};
        bool journal_lacks = false, repairs = !look_only && !s->read_only;
        int r = 1;

        *ret = (struct store_report){0};
        for (unsigned round = 0; r == 1 && round < 2; round++) {
                cleanup(check_done) struct check c = {0};

                first = *ret;
                do {
                        check_done(&c);
                        c = (struct check){.report = ret, .say = say, .user = user, .look_only = !repairs, .outdated = c.upto};
                        *ret = (struct store_report){0};
                        r = check_once(&c, s);
                } while (r == -EAGAIN);
                journal_lacks |= c.journal_lacks;
                if (r == 1 && round == 1)
                        r = errorf(-EIO, "the index in %s is damaged again and again: is the disk sound?", s->dir);
                if (round == 1) { /* damage found before the index was rebuilt */
                        ret->damaged = first.damaged;
                        ret->dropped = first.dropped;
                        ret->restored = first.restored;
                        ret->lost |= first.lost;
                }
        }
        if (r == 0 && repairs && (journal_lacks || ret->journal_damaged > 0)) {
                if (say)
                        say(user, "the journal is written anew from the index");
                r = store_compact(s);
        }
        return r;
}
