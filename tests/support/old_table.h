/* Rows of a table that is in no journal, as earlier versions kept programs. */
#pragma once

#include <lmdb.h>
#include <sys/wait.h>

#include "cache/store/codec.h"
#include "tests/support/test.h"

/* By LMDB alone, behind the store's back. */
static inline int put_unjournaled(const char *index, const char *table, struct slice key, struct slice value)
{
        cleanup_buffer struct buffer frame = {0};
        int r = frame_encode(key, value, &frame);
        MDB_val k = {key.size, (void *)key.data}, v = {frame.size, frame.data};
        MDB_env *env = NULL;
        MDB_txn *txn;
        MDB_dbi dbi;

        if (r == 0)
                r = mdb_env_create(&env);
        if (r == 0)
                r = mdb_env_set_maxdbs(env, 64) ?: mdb_env_set_mapsize(env, (size_t)1 << 30) ?: mdb_env_open(env, index, MDB_NOSYNC, 0600);
        if (r == 0)
                r = mdb_txn_begin(env, NULL, 0, &txn) ?: mdb_dbi_open(txn, table, MDB_CREATE, &dbi);
        if (r == 0)
                r = mdb_put(txn, dbi, &k, &v, 0) ?: mdb_txn_commit(txn);
        mdb_env_close(env);
        return r;
}

/* In a process of its own: this one may have the index open, and LMDB's locks are a process's. */
static inline void put_old_row(const char *index, const char *table, struct slice key, struct slice value)
{
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(put_unjournaled(index, table, key, value) != 0);
        ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
}
