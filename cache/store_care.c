#include "store_internal.h"

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
