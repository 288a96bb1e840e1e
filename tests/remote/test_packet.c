#include "tests/support/test.h"

#include "core/remote/message.h"

static struct slice all_of(const struct buffer *b)
{
        return SLICE(b->data, b->size);
}

START_TEST(test_packet)
{
        cleanup_buffer struct buffer b = {0};
        struct packet p;
        size_t size;

        assert_ok(packet_write(PACKET_RUN, 77, 5, slice_string("body"), &b));
        assert_ok(packet_write(PACKET_PING, 0, 6, SLICE("", 0), &b));
        assert_ok(packet_read(all_of(&b), 5, &p, &size));
        ck_assert_int_eq(p.type, PACKET_RUN);
        ck_assert_uint_eq(p.id, 77);
        ck_assert_uint_eq(p.body.size, 4);
        ck_assert_int_eq(memcmp(p.body.data, "body", 4), 0);
        ck_assert_uint_eq(size, PACKET_HEAD + 4);
        assert_ok(packet_read(SLICE(b.data + size, b.size - size), 6, &p, &size));
        ck_assert_int_eq(p.type, PACKET_PING);
        ck_assert_uint_eq(p.body.size, 0);
}
END_TEST

/* One that is not whole is waited for, however much of it is there. */
START_TEST(test_packet_pieces)
{
        cleanup_buffer struct buffer b = {0};
        struct packet p;
        size_t size;

        assert_ok(packet_write(PACKET_RUN, 1, 0, slice_string("some body"), &b));
        for (size_t n = 0; n < b.size; n++)
                assert_error(packet_read(SLICE(b.data, n), 0, &p, &size), EAGAIN);
        assert_error(packet_read(all_of(&b), 1, &p, &size), EBADMSG); /* lost, or twice */
}
END_TEST

/* Every bit counts. */
START_TEST(test_packet_damaged)
{
        cleanup_buffer struct buffer b = {0};
        struct packet p;
        size_t size;

        assert_ok(packet_write(PACKET_RESULT, 3, 9, slice_string("a body of some bytes"), &b));
        for (size_t bit = 0; bit < 8 * b.size; bit++) {
                b.data[bit / 8] ^= (char)(1 << bit % 8);
                assert_error(packet_read(all_of(&b), 9, &p, &size), EBADMSG);
                b.data[bit / 8] ^= (char)(1 << bit % 8);
        }
        assert_ok(packet_read(all_of(&b), 9, &p, &size));
        assert_error(packet_read(slice_string("Welcome to the cluster!"), 0, &p, &size), EBADMSG);
        assert_error(packet_read(slice_string("W"), 0, &p, &size), EBADMSG);
}
END_TEST

START_TEST(test_part)
{
        cleanup_free char *bytes = calloc(1, REMOTE_PART);
        static const size_t sizes[] = {0, 1, 511, 4096, REMOTE_PART};
        struct digest id = {{7}};

        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                cleanup_buffer struct buffer b = {0};
                struct remote_part part;

                for (size_t k = 0; k < sizes[i]; k++)
                        bytes[k] = (char)(k * k % 251);
                assert_ok(remote_part_write(&id, UINT64_C(1) << 40, i, SLICE(bytes, sizes[i]), &b));
                ck_assert_uint_le(b.size, PACKET_MOST);
                assert_ok(remote_part_read(all_of(&b), &part));
                ck_assert_uint_eq(part.size, UINT64_C(1) << 40);
                ck_assert_uint_eq(part.offset, i);
                ck_assert(digest_equal(&part.id, &id));
                ck_assert_uint_eq(part.bytes.size, sizes[i]);
                ck_assert_int_eq(memcmp(part.bytes.data, bytes, sizes[i]), 0);
                blob_done(&part.bytes);
                for (size_t n = 0; n < b.size && i == 3; n++)
                        assert_error(remote_part_read(SLICE(b.data, n), &part), EBADMSG);
        }
}
END_TEST

START_TEST(test_run)
{
        struct remote_run run = {.recipe = (char *)"[solver]\n", .recipe_name = (char *)"toy", .n_programs = 1, .has_seed = true, .seed = 8};
        cleanup_buffer struct buffer b = {0}, bad = {0};
        struct remote_run got;

        run.programs[0] = (struct remote_file){.name = (char *)"toy", .size = 5};
        run.input = (struct remote_file){.name = (char *)"input", .size = 6};
        run.limits = (struct recipe_limits){1, 2, 3, 4, 5, 6};
        message_write(PACKET_RUN, &run, &b);
        assert_ok(message_read(PACKET_RUN, all_of(&b), &got));
        ck_assert_str_eq(got.recipe, "[solver]\n");
        ck_assert_str_eq(got.programs[0].name, "toy");
        ck_assert_uint_eq(got.input.size, 6);
        ck_assert_uint_eq(got.limits.stack, 6);
        ck_assert(got.has_seed && got.seed == 8);
        message_done(PACKET_RUN, &got);
        for (size_t n = 0; n < b.size; n++) {
                assert_error(message_read(PACKET_RUN, SLICE(b.data, n), &got), EBADMSG);
                message_done(PACKET_RUN, &got);
        }
        run.programs[0].name = (char *)"../../etc/passwd";
        message_write(PACKET_RUN, &run, &bad);
        assert_error(message_read(PACKET_RUN, all_of(&bad), &got), EBADMSG);
        message_done(PACKET_RUN, &got);
}
END_TEST

/* One with hundreds of eras or released binaries. */
START_TEST(test_a_long_recipe)
{
        char recipe[300000];
        struct remote_run got, run = {.recipe = recipe, .recipe_name = (char *)"toy", .n_programs = 1, .input = {.name = (char *)"input"}};
        cleanup_buffer struct buffer b = {0};

        memset(recipe, '#', sizeof(recipe) - 1);
        recipe[sizeof(recipe) - 1] = '\0';
        run.programs[0].name = (char *)"toy";
        message_write(PACKET_RUN, &run, &b);
        assert_ok(message_read(PACKET_RUN, all_of(&b), &got));
        ck_assert_str_eq(got.recipe, recipe);
        message_done(PACKET_RUN, &got);
}
END_TEST

/* A result whose outputs are not the ones that came is none. */
START_TEST(test_result)
{
        struct execute_result x = {.end = END_SIGNAL, .code = 11, .guessed = true, .wall_ns = 5, .memory = 6, .out_size = 3, .out_cut = 2}, got;
        cleanup_buffer struct buffer b = {0}, out = {0}, err = {0};

        x.out = (struct blob){.data = "abc", .size = 3};
        message_write(PACKET_RESULT, &x, &b);
        assert_error(remote_result_read(all_of(&b), &out, &err, &got), EBADMSG);
        buffer_adds(&out, "abc");
        assert_ok(remote_result_read(all_of(&b), &out, &err, &got));
        ck_assert_int_eq(got.end, END_SIGNAL);
        ck_assert_int_eq(got.code, 11);
        ck_assert(got.guessed);
        ck_assert_uint_eq(got.memory, 6);
        ck_assert_uint_eq(got.out.size, 3);
        ck_assert_str_eq(got.method, "rusage");
        execute_result_done(&got);
        buffer_adds(&out, "abc");
        b.data[0] = END_NOEXEC + 1;
        assert_error(remote_result_read(all_of(&b), &out, &err, &got), EBADMSG);
}
END_TEST

START_TEST(test_failure)
{
        cleanup_buffer struct buffer b = {0}, none = {0};

        remote_failure_write(-ENOSPC, "the disk\nis \x1b[31m full", &b);
        assert_error(remote_failure_read(all_of(&b), "n3"), ENOSPC);
        ck_assert_str_eq(error_message(-ENOSPC), "n3: the disk\\nis \\x1b[31m full");
        remote_failure_write(0, "no reason", &none);
        assert_error(remote_failure_read(all_of(&none), "n3"), EBADMSG);
}
END_TEST

static int read_again(const char *path, uint32_t mode, uint64_t size)
{
        struct tracked file = {.path = (char *)path, .mode = mode, .content = {{1, 2, 3}}, .size = size};
        struct remote_file download = {.id = {{4}}, .size = 5};
        struct remote_tree t = {.files = {&file, 1}, .downloads = &download, .n_downloads = 1}, got;
        cleanup_buffer struct buffer b = {0};
        int r;

        assert_ok(remote_tree_write(&t, &b));
        r = remote_tree_read(all_of(&b), &got);
        if (r == 0) {
                ck_assert_uint_eq(got.files.n, 1);
                ck_assert_str_eq(got.files.list[0].path, path);
                ck_assert(digest_equal(&got.files.list[0].content, &file.content));
                ck_assert_uint_eq(got.files.list[0].size, size);
                ck_assert_uint_eq(got.n_downloads, 1);
                ck_assert_uint_eq(got.downloads[0].size, 5);
        }
        remote_tree_done(&got);
        return r;
}

/* Sources lead to no other folder, and are files. */
START_TEST(test_tree)
{
        assert_ok(read_again("src/main.c", 0100644, 17));
        assert_ok(read_again("link", 0120000, 7));
        assert_ok(read_again("module", MODE_SUBMODULE, 0));
        assert_error(read_again("../main.c", 0100644, 17), EBADMSG);
        assert_error(read_again("/etc/passwd", 0100644, 17), EBADMSG);
        assert_error(read_again("src/.git/config", 0100644, 17), EBADMSG);
        assert_error(read_again("link", 0120000, PATH_SIZE), EBADMSG);
        assert_error(read_again("main.c", 0104755, 17), EBADMSG);
}
END_TEST

START_TEST(test_built)
{
        struct build_output output = {.name = (char *)"toy", .size = 9, .executable = true};
        struct build_record record = {.ok = true, .duration_ns = 7, .outputs = &output, .n_outputs = 1, .log = {.data = "abc", .size = 3}};
        cleanup(build_record_unrefp) struct build_record *got = NULL;
        cleanup_buffer struct buffer b = {0}, log = {0};

        assert_ok(remote_built_write(&record, &b));
        assert_error(remote_built_read(all_of(&b), &log, &got), EBADMSG); /* its log did not come */
        buffer_adds(&log, "abc");
        assert_ok(remote_built_read(all_of(&b), &log, &got));
        ck_assert_uint_eq(got->log.size, 3);
        ck_assert_uint_eq(got->duration_ns, 7);
        ck_assert_str_eq(got->outputs[0].name, "toy");
}
END_TEST

SUITE("packet", test_packet, test_packet_pieces, test_packet_damaged, test_part, test_run, test_a_long_recipe, test_result, test_failure, test_tree, test_built)
