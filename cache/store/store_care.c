#include "cache/store/store_internal.h"

#include <xxhash.h>

#include "cache/base/fault.h"

/* -- statistics ------------------------------------------------------------------------------------------------- */

static int table_stats(struct store *s, MDB_txn *txn, struct store_stats *ret, uint64_t *ret_page)
{
        for (size_t i = 0; i < s->n_tables && ret->n_tables < ARRAY_SIZE(ret->tables); i++) {
                struct table *t = &s->tables[i];
                MDB_stat stat = {0};
                int r = t->present ? db_stat(s->env->db, txn, t->dbi, &stat) : 0;

                if (r < 0)
                        return r;
                *ret_page = MAX(*ret_page, stat.ms_psize);
                ret->tables[ret->n_tables].name = t->name;
                ret->tables[ret->n_tables].entries = stat.ms_entries;
                ret->tables[ret->n_tables].bytes =
                        stat.ms_psize * (uint64_t)(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages);
                ret->n_tables++;
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
                r = table_stats(s, t->txn, ret, &page);
        if (r == 0)
                r = db_info(s->env->db, &info);
        if (r == 0 && s->env->journal)
                r = journal_size(s->env->journal, &ret->journal_bytes);
        if (r < 0)
                return r;
        ret->map_size = info.me_mapsize;
        ret->used_bytes = (info.me_last_pgno + 1) * page;
        return 0;
}

/* -- compacting ------------------------------------------------------------------------------------------------- */

static bool is_journaled(struct store *s, const char *name)
{
        if (name[0] == '@')
                return false;
        for (size_t i = 0; i < s->n_tables; i++)
                if (strcmp(s->tables[i].name, name) == 0)
                        return s->tables[i].journaled;
        return true; /* it came out of the journal: another version's */
}

static int compact_table(struct store_txn *t, const char *name, struct journal_compaction *c)
{
        struct environment *e = t->env;
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi dbi;
        int r = db_table(e->db, t->txn, name, false, &dbi);

        if (r < 0)
                return r;
        for (r = walk_first(&w, e, t->txn, dbi, SLICE(NULL, 0), true); r == 0; r = walk_next(&w, true)) {
                struct table table = {.name = (char *)name, .journaled = true, .dbi = dbi};
                struct slice key = SLICE(w.key, w.key_size), frame = SLICE(w.frame, w.frame_size);
                cleanup_blob struct blob value = {0};
                cleanup_buffer struct buffer mended = {0};

                r = frame_decode(key, frame, &value);
                if (r == -EBADMSG) { /* only the old journal has it: the last chance to look there */
                        r = mend(t, &table, key, &value);
                        if (r == -ENOENT)
                                continue;
                        if (r == 0)
                                r = frame_encode(key, SLICE(value.data, value.size), &mended);
                        frame = SLICE(mended.data, mended.size);
                }
                if (r == 0)
                        r = journal_compact_add(c, slice_string(name), key, frame);
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* The names of all tables there are stand in the nameless one. */
static int compact_tables(struct store_txn *t, struct journal_compaction *c)
{
        struct environment *e = t->env;
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi names;
        int r = db_table(e->db, t->txn, NULL, false, &names);

        if (r < 0)
                return r;
        for (r = walk_first(&w, e, t->txn, names, SLICE(NULL, 0), false); r == 0; r = walk_next(&w, false)) {
                char name[sizeof(w.key) + 1];

                memcpy(name, w.key, w.key_size);
                name[w.key_size] = '\0';
                if (w.key_size > JOURNAL_TABLE_MAX || !is_journaled(t->store, name))
                        continue;
                r = compact_table(t, name, c);
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* The new segment is in force from when LMDB says that it is applied; a crash before that finds a segment made of exactly what LMDB
 * has, and takes it. */
static int compact_in(struct store_txn *t, uint64_t *ret_segment)
{
        struct environment *e = t->env;
        struct journal_compaction *c;
        struct journal_position end;
        int r = journal_compact_begin(e->journal, t->at, &c);

        if (r < 0)
                return r;
        r = compact_tables(t, c);
        if (r < 0) {
                journal_compact_abort(c);
                return r;
        }
        r = journal_compact_finish(c, &end);
        if (r < 0)
                return r;
        *ret_segment = end.segment;
        return applied_put(e, t->txn, end);
}

int store_compact(struct store *s)
{
        struct environment *e = s->env;
        struct store_txn *t;
        uint64_t segment = 0;
        bool in_force;
        int r = write_begin(s, true, &t);

        if (r < 0)
                return r;
        r = compact_in(t, &segment);
        /* Not by store_commit(): it would let go of the lock before a segment that did not come into force is gone. */
        if (r == 0)
                r = db_commit(e->db, t->txn);
        else
                db_abort(e->db, t->txn);
        t->txn = NULL;
        in_force = r == 0;
        if (r == 0)
                r = fault_at("store.compacted");
        if (r == 0)
                r = db_sync(e->db);
        if (r == 0)
                journal_remove_before(e->journal, segment);
        else if (segment != 0 && !in_force) /* else both stay: nobody knows which one the disk says is applied */
                journal_remove(e->journal, segment);
        store_end(t);
        return r;
}

/* -- checking --------------------------------------------------------------------------------------------------- */

/* The state of a key according to the journal, found by the key's hash: 128 bits, enough to tell millions of keys apart. */
struct kernel_cache {
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
        struct kernel_cache *known; /* malloc'd; sorted by key once the journal is read, the last word on each */
        size_t n;
        struct journal_counts counts;
        bool journal_lacks;   /* something that is in the index */
        struct buffer wanted; /* keys (XXH128_hash_t) to put back from the journal */
};

static void check_done(struct check *c)
{
        free(c->known);
        buffer_done(&c->wanted);
}

static void tell(struct check *c, const char *format, ...) printf_like(2, 3);

static void tell(struct check *c, const char *format, ...)
{
        char line[512];
        va_list args;

        if (!c->say)
                return;
        va_start(args, format);
        vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        c->say(c->user, line);
}

static XXH128_hash_t hash_key(struct slice table, struct slice key)
{
        return XXH3_128bits_withSeed(key.data, key.size, XXH3_64bits(table.data, table.size));
}

static struct table *own_table(struct store *s, struct slice name)
{
        for (size_t i = 0; i < s->n_tables; i++)
                if (strlen(s->tables[i].name) == name.size && memcmp(s->tables[i].name, name.data, name.size) == 0)
                        return &s->tables[i];
        return NULL;
}

/* Tables that are not ours, most likely another version's, are not looked at. */
static int know(void *user, const struct journal_record *record)
{
        struct check *c = user;
        struct table *table = own_table(c->txn->store, record->table);

        if (record->op == JOURNAL_COMMIT || !table || !table->journaled)
                return 0;
        if (list_grow(c->known, c->n) < 0)
                return -ENOMEM;
        c->known[c->n] = (struct kernel_cache){
                .key = hash_key(record->table, record->key),
                .frame = XXH3_64bits(record->frame.data, record->frame.size),
                .order = c->n,
                .damaged = c->counts.damaged,
                .deleted = record->op == JOURNAL_DELETE,
        };
        c->n++;
        return 0;
}

static int compare_known(const void *a, const void *b)
{
        const struct kernel_cache *x = a, *y = b;
        int c = XXH128_cmp(&x->key, &y->key);

        return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

static void keep_last_words(struct check *c)
{
        size_t kept = 0;

        if (c->n == 0)
                return;
        sort_list(c->known, c->n, sizeof(*c->known), compare_known);
        for (size_t i = 0; i < c->n; i++)
                if (i + 1 == c->n || XXH128_cmp(&c->known[i].key, &c->known[i + 1].key) != 0)
                        c->known[kept++] = c->known[i];
        c->n = kept;
}

static struct kernel_cache *find_known(struct check *c, XXH128_hash_t key)
{
        size_t low = 0, high = c->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = XXH128_cmp(&c->known[middle].key, &key);

                if (order == 0)
                        return &c->known[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* Is it really the journal's last word on its key? A damaged record behind it may have been a later one. */
static bool is_certain(const struct check *c, const struct kernel_cache *k)
{
        return k->damaged == c->counts.damaged;
}

static int want(struct check *c, const struct kernel_cache *k)
{
        buffer_add(&c->wanted, &k->key, sizeof(k->key));
        return buffer_error(&c->wanted);
}

/* A key that is in the index and should not be as it is. */
static int drop(struct check *c, const struct table *table, struct slice key)
{
        int r;

        if (c->look_only)
                return 0;
        r = db_delete(c->txn->env->db, c->txn->txn, table->dbi, key);
        c->report->dropped += r == 0;
        return r == -ENOENT ? 0 : r;
}

static int check_value(struct check *c, const struct table *table, struct slice key, struct slice frame)
{
        struct kernel_cache *k = table->journaled ? find_known(c, hash_key(slice_string(table->name), key)) : NULL;
        cleanup_blob struct blob value = {0};
        int r = frame_decode(key, frame, &value);

        c->report->values++;
        c->report->bytes += frame.size;
        if (r < 0 && r != -EBADMSG)
                return r;
        if (k)
                k->seen = true;
        if (r == -EBADMSG) {
                tell(c, "a value in the table %s does not check out", table->name);
        } else if (table->journaled && !k) {
                c->journal_lacks = true;
                tell(c, "the journal lacks a value of the table %s", table->name);
                return 0;
        } else if (k && is_certain(c, k) && (k->deleted || k->frame != XXH3_64bits(frame.data, frame.size))) {
                tell(c, "a value in the table %s is not the last one the journal has", table->name);
        } else {
                return 0;
        }
        c->report->damaged++;
        if (k && !k->deleted && is_certain(c, k))
                return want(c, k);
        return drop(c, table, key);
}

static int check_table(struct check *c, const struct table *table)
{
        struct environment *e = c->txn->env;
        cleanup(walk_done) struct walk w = {0};
        int r;

        if (!table->present)
                return 0;
        for (r = walk_first(&w, e, c->txn->txn, table->dbi, SLICE(NULL, 0), true); r == 0; r = walk_next(&w, true)) {
                r = check_value(c, table, SLICE(w.key, w.key_size), SLICE(w.frame, w.frame_size));
                if (r < 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}

/* Puts back what is wanted, once more through the journal. */
static int put_back(void *user, const struct journal_record *record)
{
        struct check *c = user;
        struct table *table = own_table(c->txn->store, record->table);
        XXH128_hash_t key = hash_key(record->table, record->key);
        struct kernel_cache *k = record->op == JOURNAL_PUT ? find_known(c, key) : NULL;

        if (!k || k->frame != XXH3_64bits(record->frame.data, record->frame.size) ||
            !find_in_list(&key, c->wanted.data, c->wanted.size / sizeof(key), sizeof(key), XXH128_cmp))
                return 0;
        if (!table)
                return 0;
        if (k->seen) { /* it may be there more than once */
                c->report->restored++;
                k->seen = false;
        }
        return db_put(c->txn->env->db, c->txn->txn, table->dbi, record->key, record->frame);
}

/* Keys the journal has and the index lost; but an index that is sound knows better than a journal that is not. */
static int check_missing(struct check *c)
{
        bool index_is_sound = c->report->damaged == 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < c->n; i++) {
                struct kernel_cache *k = &c->known[i];

                if (k->seen || k->deleted || (!is_certain(c, k) && index_is_sound))
                        continue;
                tell(c, "the index lacks a value that the journal has");
                c->report->damaged++;
                k->seen = true;
                r = want(c, k);
        }
        if (r == 0)
                sort_list(c->wanted.data, c->wanted.size / sizeof(XXH128_hash_t), sizeof(XXH128_hash_t), XXH128_cmp);
        return r;
}

static int check_journal(struct check *c, struct journal_position upto)
{
        int r = c->txn->env->journal ? journal_read_all(c->txn->env->journal, upto, know, c, &c->counts) : 0;

        c->report->journal_records = c->counts.records;
        c->report->journal_damaged = c->counts.damaged + c->counts.torn;
        if (c->report->journal_damaged > 0)
                tell(c, "the journal is damaged in %llu places", (unsigned long long)c->report->journal_damaged);
        keep_last_words(c);
        return r;
}

static int check_all(struct check *c)
{
        struct store *s = c->txn->store;
        struct journal_counts counts = {0};
        struct journal_position upto;
        int r = applied_get(s->env, c->txn->txn, &upto);

        if (r == 0)
                r = check_journal(c, upto);
        for (size_t i = 0; r == 0 && i < s->n_tables; i++)
                r = check_table(c, &s->tables[i]);
        if (r == 0)
                r = check_missing(c);
        if (r == 0 && !c->look_only && c->wanted.size > 0)
                r = journal_read_all(s->env->journal, upto, put_back, c, &counts);
        return r;
}

/* A transaction whose pages are sound. */
static int check_begin(struct check *c, struct store *s)
{
        int r;

        do {
                r = c->look_only ? store_read(s, &c->txn) : store_write(s, &c->txn);
                if (r < 0)
                        return r;
                r = check_pages(s->env, c->txn->txn, c->txn->write);
                if (r < 0)
                        c->txn = store_end(c->txn);
        } while (r == -EAGAIN); /* many were written since it began */
        if (r == -EIO)
                tell(c, "%s", error_message(r));
        return r;
}

/* Reports repairs made before this check: when the store was opened, or by a transaction that met the damage. Under the write lock. */
static void tell_mended(struct check *c, struct environment *e)
{
        if (e->index_anew)
                tell(c, "the index was damaged or gone, and made anew from the journal");
        if (e->journal_anew)
                tell(c, "a part of the journal was gone, and it was written anew from the index");
        c->report->rebuilt |= e->index_anew;
        e->index_anew = e->journal_anew = false;
}

int store_check(struct store *s, bool look_only, struct store_report *ret, void (*say)(void *user, const char *line), void *user)
{
        cleanup(check_done) struct check c = {.report = ret, .say = say, .user = user, .look_only = look_only || s->read_only};
        int r;

        *ret = (struct store_report){0};
        r = check_begin(&c, s);
        if (r == 0 && !c.look_only)
                tell_mended(&c, s->env);
        if (r == 0)
                r = check_all(&c);
        if (r < 0 || c.look_only) {
                store_end(c.txn);
                return r;
        }
        r = store_commit(c.txn);
        if (r == 0 && (c.journal_lacks || ret->journal_damaged > 0)) {
                tell(&c, "the journal is written anew from the index");
                r = store_compact(s);
        }
        return r;
}
