#include "tests/support/test.h"

#include "cache/base/record.h"
#include "core/build/build.h"

/* A record of one output whose bytes are told by a letter. */
static struct build_record *record_of_output(char letter)
{
        struct build_record *b = calloc(1, sizeof(*b));

        ck_assert_ptr_nonnull(b);
        *b = (struct build_record){.refs = 1, .ok = true, .n_outputs = 1};
        b->outputs = calloc(1, sizeof(*b->outputs));
        b->outputs[0] = (struct build_output){.name = strdup("solver"), .size = 3, .executable = true};
        memset(b->outputs[0].id.bytes, letter, DIGEST_SIZE);
        build_record_note_program(b);
        return b;
}

static void build_again(struct build_record *b, char letter)
{
        memset(b->outputs[0].id.bytes, letter, DIGEST_SIZE);
        build_record_note_program(b);
}

START_TEST(test_builds_that_differ_are_one_program)
{
        struct build_record *b = record_of_output('a');
        struct digest first = *build_record_program(b);

        build_again(b, 'a');
        ck_assert_uint_eq(b->n_programs, 1);
        build_again(b, 'b');
        ck_assert_uint_eq(b->n_programs, 2);
        ck_assert(digest_equal(build_record_program(b), &first));
        ck_assert(build_record_has_program(b, &b->programs[1]));
        build_record_unref(b);
}
END_TEST

/* Versions before built on what another build left. */
START_TEST(test_incremental_builds_count_for_nothing)
{
        struct build_record *b = record_of_output('a'), *back;
        cleanup_buffer struct buffer bytes = {0};
        size_t flags; /* of the second program: made in a clean tree, struck */

        build_again(b, 'b');
        assert_ok(build_record_encode(b, &bytes));
        flags = bytes.size - 2 * sizeof(uint64_t) - 2; /* before two lengths of nothing */
        for (unsigned i = 0; i < 4; i++) {
                bytes.data[flags] = (char)(i & 1);
                bytes.data[flags + 1] = (char)(i >> 1);
                assert_ok(build_record_decode(SLICE(bytes.data, bytes.size), WITHOUT_LOG, &back));
                ck_assert_uint_eq(back->n_programs, i == 1 ? 2 : 1);
                ck_assert(digest_equal(&back->programs[0], &b->programs[0]));
                build_record_unref(back);
        }
        bytes.data[2] = 0; /* the last build was not made in a clean tree */
        assert_error(build_record_decode(SLICE(bytes.data, bytes.size), WITHOUT_LOG, &back), ENOENT);
        build_record_unref(b);
}
END_TEST

START_TEST(test_program_is_all_outputs)
{
        struct build_output list[2] = {{.name = (char *)"a"}, {.name = (char *)"b"}};
        struct digest one, both, renamed, other;

        build_outputs_digest(list, 1, &one);
        build_outputs_digest(list, 2, &both);
        list[1].name = (char *)"c";
        build_outputs_digest(list, 2, &renamed);
        list[1].id.bytes[5] = 1;
        build_outputs_digest(list, 2, &other);
        ck_assert(!digest_equal(&one, &both) && !digest_equal(&both, &renamed) && !digest_equal(&renamed, &other));
}
END_TEST

START_TEST(test_programs_come_back)
{
        struct build_record *b = record_of_output('a'), *back;
        cleanup_buffer struct buffer bytes = {0};

        build_again(b, 'b');
        b->differs = strdup("output solver differs");
        assert_ok(build_record_encode(b, &bytes));
        assert_ok(build_record_decode(SLICE(bytes.data, bytes.size), WITHOUT_LOG, &back));
        ck_assert_uint_eq(back->n_programs, 2);
        for (size_t i = 0; i < 2; i++) {
                ck_assert(digest_equal(&back->programs[i], &b->programs[i]));
        }
        ck_assert_str_eq(back->differs, b->differs);
        build_record_unref(back);
        build_record_unref(b);
}
END_TEST

SUITE("build_record", test_builds_that_differ_are_one_program, test_incremental_builds_count_for_nothing,
      test_program_is_all_outputs, test_programs_come_back)
