#include "core/workspace/names.h"

#include "cache/store/name_key.h"
#include "core/workspace/tables.h"

/* TABLE_NAMES: "n" space name → number, "#" space number → name, "#" space → count of numbers given. */

static int get_number(struct store_txn *t, struct slice key, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, TABLE_NAMES, key, &b);

        if (r == 0 && b.size != 4)
                return errorf(-EIO, "a number in the table of names has %zu bytes; 'solverfs fsck' says more", b.size);
        if (r == 0)
                *ret = key_get_u32(b.data);
        return r;
}

static size_t number_key(uint8_t key[6], enum name_space space, uint32_t number)
{
        key[0] = '#';
        key[1] = (uint8_t)space;
        key_u32(key + 2, number);
        return 6;
}

int names_number(struct store *s, enum name_space space, const char *name, uint32_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        struct name_key key;
        int r = store_read(s, &t);

        if (r < 0)
                return r;
        name_key(&key, 'n', (uint8_t)space, name, strlen(name));
        return get_number(t, name_key_slice(&key), ret);
}

/* Gives a name the next number, in the caller's transaction. */
static int give(struct store_txn *t, enum name_space space, const char *name, struct slice key, uint32_t *ret)
{
        uint8_t by_number[6], bytes[4];
        uint32_t given = 0;
        int r;

        number_key(by_number, space, 0);
        r = get_number(t, SLICE(by_number, 2), &given);
        if (r < 0 && r != -ENOENT)
                return r;
        if (given == UINT32_MAX)
                return errorf(-ENOSPC, "there are no numbers left for names");
        key_u32(bytes, given);
        r = store_put(t, TABLE_NAMES, key, SLICE(bytes, sizeof(bytes)))
            ?: store_put(t, TABLE_NAMES, SLICE(by_number, number_key(by_number, space, given)), slice_string(name));
        key_u32(bytes, given + 1);
        if (r == 0)
                r = store_put(t, TABLE_NAMES, SLICE(by_number, 2), SLICE(bytes, sizeof(bytes)));
        if (r == 0)
                *ret = given;
        return r;
}

int names_intern_in(struct store_txn *t, enum name_space space, const char *name, uint32_t *ret)
{
        struct name_key key;
        int r;

        name_key(&key, 'n', (uint8_t)space, name, strlen(name));
        r = get_number(t, name_key_slice(&key), ret);
        return r == -ENOENT ? give(t, space, name, name_key_slice(&key), ret) : r;
}

int names_intern(struct store *s, enum name_space space, const char *name, uint32_t *ret)
{
        return names_intern_all(s, space, (char *const[]){(char *)name}, 1) ?: names_number(s, space, name, ret);
}

int names_intern_all(struct store *s, enum name_space space, char *const *names, size_t n)
{
        cleanup_txn struct store_txn *t = NULL;
        uint32_t number;
        size_t i;
        int r = 0;

        for (i = 0; i < n && r == 0; i++)
                r = names_number(s, space, names[i], &number);
        if (r != -ENOENT)
                return r;
        r = store_write(s, &t);
        for (i--; i < n && r == 0; i++) /* from the first name without a number */
                r = names_intern_in(t, space, names[i], &number); /* another process may have been first */
        return r < 0 ? r : store_commit(steal_pointer(t));
}

int names_name(struct store *s, enum name_space space, uint32_t number, char **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[6];
        int r = store_fetch(s, TABLE_NAMES, SLICE(key, number_key(key, space, number)), &b);

        if (r < 0)
                return r;
        *ret = copy_prefix(b.data, b.size);
        return 0;
}
