/* The rows of all subtrees in tables by kind, folder and place, made at the first question. */
#include "fs/tree/route.h"

#include <assert.h>
#include <pthread.h>

static struct {
        const struct route *rows[INODE_KINDS];
        const struct route **in[INODE_KINDS]; /* NULL-terminated; NULL: none */
        size_t n_in[INODE_KINDS];
        bool has_view[INODE_KINDS]; /* the row's, or of a folder above */
        const struct route *at_place[INODE_PLACES + 1];
} table;

static const struct route *const none[] = {NULL};

static void add_to_folder(unsigned kind, const struct route *row)
{
        list_grow(table.in[kind], table.n_in[kind] + 1);
        table.in[kind][table.n_in[kind]++] = row;
        table.in[kind][table.n_in[kind]] = NULL;
}

static void add_row(const struct route *row)
{
        assert(row->kind < INODE_KINDS && !table.rows[row->kind]); /* a kind belongs to one row */
        table.rows[row->kind] = row;
        if (row->place > 0) {
                assert(row->place <= INODE_PLACES && !table.at_place[row->place] && row->kind < 64);
                table.at_place[row->place] = row;
        }
        for (const uint16_t *in = row->in; in && *in != ROWS_END; in++)
                add_to_folder(*in, row);
}

static void mark_view(unsigned kind)
{
        if (table.has_view[kind])
                return;
        table.has_view[kind] = true;
        for (size_t i = 0; i < table.n_in[kind]; i++)
                mark_view(table.in[kind][i]->kind);
}

static void make_table(void)
{
        for (const struct subtree *const *s = subtrees; *s; s++)
                for (size_t i = 0; i < (*s)->n; i++)
                        add_row(&(*s)->rows[i]);
        for (size_t i = 0; i < INODE_KINDS; i++) {
                assert(table.n_in[i] == 0 || table.rows[i]);
                if (table.rows[i] && table.rows[i]->has_view)
                        mark_view((unsigned)i);
        }
}

static void need_table(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, make_table);
}

const struct route *route_of(unsigned kind)
{
        need_table();
        return kind < INODE_KINDS ? table.rows[kind] : NULL;
}

const struct route *route_at_place(unsigned place)
{
        need_table();
        return place <= INODE_PLACES ? table.at_place[place] : NULL;
}

const struct route *const *routes_in(unsigned kind)
{
        need_table();
        return kind < INODE_KINDS && table.in[kind] ? table.in[kind] : none;
}

bool route_has_view(unsigned kind)
{
        need_table();
        return kind < INODE_KINDS && table.has_view[kind];
}
