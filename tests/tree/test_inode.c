/* Rows and inode numbers: what a number once meant it means for good. */
#include "tests/support/test.h"

#include "cache/base/random.h"
#include "fs/routes/routes.h"

/* -- kinds -- */

static void print_rows(struct buffer *b)
{
        for (unsigned kind = 0; kind < INODE_KINDS; kind++) {
                const struct route *row = route_of(kind);

                if (!row)
                        continue;
                buffer_addf(b, "%u %u %s", kind, row->place, kind == KIND_ROOT ? "/" : row->name ? row->name : row->shown);
                for (const uint16_t *in = row->in; in && *in != ROWS_END; in++)
                        buffer_addf(b, " %u", *in);
                buffer_adds(b, "\n");
        }
        ck_assert_int_eq(buffer_error(b), 0);
}

/* tests/tree/kinds has a line for each row: its kind, its place, its name, the kinds of the folders it is in. A new row adds a line; none of those
 * that are there may change but in its name. */
START_TEST(test_kinds_stay)
{
        cleanup_free char *path = NULL;
        cleanup_buffer struct buffer now = {0};
        cleanup_file FILE *f = NULL;
        char kept[1 << 16];
        size_t n;

        print_rows(&now);
        ck_assert_int_ge(asprintf(&path, "%s/tests/tree/kinds", getenv("SOLVERFS_SOURCE")), 0);
        f = fopen(path, "re");
        ck_assert_ptr_nonnull(f);
        n = fread(kept, 1, sizeof(kept) - 1, f);
        kept[n] = '\0';
        ck_assert_msg(strcmp(kept, now.data) == 0, "tests/tree/kinds is not what the rows are:\n%s", now.data);
}
END_TEST

/* Every row is in a folder and can do what its type has to. */
START_TEST(test_rows_are_whole)
{
        for (unsigned kind = 0; kind < INODE_KINDS; kind++) {
                const struct route *row = route_of(kind);

                if (!row || kind == KIND_ROOT)
                        continue;
                ck_assert_msg(row->in && row->in[0] != ROWS_END, "row %u is nowhere", kind);
                ck_assert_msg(!row->name != !row->shown, "row %u has a name, or shows one", kind);
                ck_assert_msg(row->name || row->named || (row->match && row->list) || row->numbers || row->names, "row %u cannot be found and listed", kind);
                ck_assert_msg(!row->has || row->numbers, "row %u can be found and not listed", kind);
                for (const uint16_t *in = row->in; *in != ROWS_END; in++)
                        ck_assert_msg(route_of(*in) && route_of(*in)->type == NODE_FOLDER, "row %u is in no folder", kind);
                if (row->type == NODE_FOLDER)
                        ck_assert_msg(*routes_in(kind), "nothing is in folder %u", kind);
                else
                        ck_assert_msg(row->content || row->open || row->kept, "row %u has no content", kind);
                if (row->type == NODE_COMPUTED)
                        ck_assert_msg(row->query && (row->answer || row->answer_fd), "row %u cannot be worked out", kind);
        }
}
END_TEST

/* -- numbers -- */

static void assert_means(uint64_t ino, struct inode expected)
{
        struct inode i;

        ck_assert_uint_eq(inode_pack(expected), ino);
        ck_assert(inode_unpack(ino, &i));
        ck_assert(inode_equal(&i, &expected));
}

/* Taken from mounts of the version before kinds had ten bits. */
START_TEST(test_old_numbers)
{
        const uint64_t tenth = 9, half_a_minute = 30 * NSEC_PER_SEC;

        assert_means(1, (struct inode){.kind = KIND_ROOT});
        assert_means(UINT64_C(0x0300000000000007), (struct inode){.kind = KIND_CASE, .item = 7});
        assert_means(UINT64_C(0x0c00030000000000), (struct inode){.kind = KIND_SOLVER, .view = 3});
        assert_means(UINT64_C(0x1800010000900000), (struct inode){.kind = KIND_COMMIT, .view = 1, .commit = tenth});
        assert_means(UINT64_C(0x2600010000900002), (struct inode){.kind = KIND_CELL, .view = 1, .commit = tenth, .item = 2});
        assert_means(UINT64_C(0x26ffffffffffffff),
                     (struct inode){.kind = KIND_CELL, .view = 0xffff, .commit = INODE_COMMIT_MAX, .item = INODE_ITEM_MAX});
        /* cells below seeds/3 and timeout/30s of the base 1 */
        assert_means(UINT64_C(0xa040030000900002),
                     (struct inode){.kind = KIND_CELL, .view = 1, .setting = INODE_SETTING_SEED | 3, .commit = tenth, .item = 2});
        assert_means(UINT64_C(0xa0681e0000900002),
                     (struct inode){.kind = KIND_CELL, .view = 1, .setting = half_a_minute, .commit = tenth, .item = 2});
}
END_TEST

static uint32_t part(struct random *r, uint32_t most)
{
        const uint32_t parts[] = {0, 1, most, (uint32_t)random_below(r, most)};

        return parts[random_below(r, ARRAY_SIZE(parts))];
}

/* Of every row, with parts of all sizes: what fits is what the number says, and no two have one number. */
START_TEST(test_every_row_there_and_back)
{
        static const uint64_t settings[] = {0,
                                            INODE_SETTING_SEED,
                                            INODE_SETTING_SEED | 8191,
                                            INODE_SETTING_SEED | 8192,
                                            NSEC_PER_SEC / 10,
                                            2047 * NSEC_PER_SEC,
                                            3600 * UINT64_C(2047) * NSEC_PER_SEC,
                                            NSEC_PER_SEC / 10 + 1,
                                            INODE_SETTING_SCRAMBLED | 1,
                                            INODE_SETTING_SCRAMBLED | UINT32_MAX,
                                            INODE_TIMEOUT_MOST};
        struct random r;

        random_seed(&r, test_seed(1));
        for (unsigned kind = 1; kind < INODE_KINDS; kind++)
                for (unsigned n = 0; route_of(kind) && n < 2000; n++) {
                        struct inode i = {.kind = (uint16_t)kind,
                                          .view = part(&r, 0xfff),
                                          .setting = settings[random_below(&r, ARRAY_SIZE(settings))],
                                          .commit = part(&r, INODE_COMMIT_MAX),
                                          .item = part(&r, INODE_ITEM_MAX),
                                          .more = random_below(&r, 10) == 0};
                        uint64_t ino = inode_pack(i);
                        struct inode back;

                        ck_assert(!inode_is_other(ino, INODE_MOVED) && !inode_is_other(ino, INODE_NEW_CASE));
                        if (inode_is_hash(ino)) {
                                ck_assert(i.more || i.setting);
                                ck_assert(!inode_unpack(ino, &back));
                                i.commit ^= 1;
                                ck_assert_uint_ne(inode_pack(i), ino);
                        } else {
                                ck_assert(inode_unpack(ino, &back));
                                ck_assert(inode_equal(&i, &back));
                        }
                }
}
END_TEST

/* Whatever a number is taken for, it is a number of that. */
START_TEST(test_every_number_there_and_back)
{
        struct random r;

        random_seed(&r, test_seed(2));
        for (unsigned n = 0; n < 1000000; n++) {
                uint64_t ino = random_bits(&r);
                struct inode i;

                if (inode_unpack(ino, &i) && route_of(i.kind) && i.kind != KIND_ROOT &&
                    (i.setting == 0 || i.setting & INODE_SETTING_SEED)) /* 60s is 1m */
                        ck_assert_uint_eq(inode_pack(i), ino);
        }
}
END_TEST

SUITE("inode", test_kinds_stay, test_rows_are_whole, test_old_numbers, test_every_row_there_and_back,
      test_every_number_there_and_back)
