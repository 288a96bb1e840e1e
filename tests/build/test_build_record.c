#include "tests/support/test.h"

#include "cache/base/record.h"
#include "core/build/build.h"

/* A record of one output whose bytes are told by a letter. */
static struct build_record *record_of_output(char letter, bool clean)
{
        struct build_record *b = calloc(1, sizeof(*b));

        ck_assert_ptr_nonnull(b);
        *b = (struct build_record){.refs = 1, .ok = true, .clean = clean, .n_outputs = 1};
        b->outputs = calloc(1, sizeof(*b->outputs));
        b->outputs[0] = (struct build_output){.name = strdup("solver"), .size = 3, .executable = true};
        memset(b->outputs[0].id.bytes, letter, DIGEST_SIZE);
        assert_ok(build_record_note_program(b));
        return b;
}

static void build_again(struct build_record *b, char letter, bool clean)
{
        memset(b->outputs[0].id.bytes, letter, DIGEST_SIZE);
        b->clean = clean;
        assert_ok(build_record_note_program(b));
}

START_TEST(test_clean_builds_that_differ_are_one_program)
{
        struct build_record *b = record_of_output('a', true);
        struct digest first = *build_record_program(b);

        build_again(b, 'a', true);
        ck_assert_uint_eq(b->n_programs, 1);
        build_again(b, 'b', true);
        ck_assert_uint_eq(b->n_programs, 2);
        ck_assert(digest_equal(build_record_program(b), &first));
        ck_assert(build_record_has_program(b, &b->programs[1].id));
        build_record_unref(b);
}
END_TEST

START_TEST(test_incremental_build_is_struck_by_a_clean_one)
{
        struct build_record *b = record_of_output('a', false);
        struct digest wrong = *build_record_program(b);

        ck_assert(!build_record_is_answer(b)); /* it is built again */
        build_again(b, 'b', true);
        ck_assert(build_record_is_answer(b));
        ck_assert(!digest_equal(build_record_program(b), &wrong));
        ck_assert(!build_record_has_program(b, &wrong));
        ck_assert(b->programs[0].struck && !b->programs[1].struck);
        build_record_unref(b);

        b = record_of_output('a', false); /* the same bytes: confirmed, and then another clean build's differ */
        build_again(b, 'a', true);
        ck_assert_uint_eq(b->n_programs, 1);
        build_again(b, 'b', true);
        ck_assert(build_record_has_program(b, &wrong));
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
        struct build_record *b = record_of_output('a', false), *back;
        cleanup_buffer struct buffer bytes = {0};

        build_again(b, 'b', true);
        b->differs = strdup("output solver differs");
        assert_ok(build_record_encode(b, &bytes));
        assert_ok(build_record_decode(SLICE(bytes.data, bytes.size), false, &back));
        ck_assert_uint_eq(back->n_programs, 2);
        for (size_t i = 0; i < 2; i++) {
                ck_assert(digest_equal(&back->programs[i].id, &b->programs[i].id));
                ck_assert_int_eq(back->programs[i].clean, b->programs[i].clean);
                ck_assert_int_eq(back->programs[i].struck, b->programs[i].struck);
        }
        ck_assert_str_eq(back->differs, b->differs);
        build_record_unref(back);
        build_record_unref(b);
}
END_TEST

SUITE("build_record", test_clean_builds_that_differ_are_one_program, test_incremental_build_is_struck_by_a_clean_one,
      test_program_is_all_outputs, test_programs_come_back)
