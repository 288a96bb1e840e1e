#include "tests/support/test.h"

#include "core/remote/walltime.h"

START_TEST(test_texts)
{
        static const struct {
                const char *text;
                uint64_t seconds;
        } times[] = {{"0:00", 0}, {"4:59", 299}, {"3:59:07", 14347}, {"23:00:00", 82800}, {"7-00:00:00", 604800}, {"1-02:03:04", 93784}};
        static const char *const refused[] = {"", "INVALID", "NOT_SET", "12", "1-", "1-2", "1:2:3:4", "-1:00", "1:00 ", "1:+2", ":30", "1::2"};
        uint64_t ns;

        for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
                assert_ok(walltime_parse(times[i].text, &ns));
                ck_assert_msg(ns == times[i].seconds * NSEC_PER_SEC, "%s", times[i].text);
        }
        assert_ok(walltime_parse("UNLIMITED", &ns));
        ck_assert_uint_eq(ns, UINT64_MAX);
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
                ck_assert_msg(walltime_parse(refused[i], &ns) == -EINVAL, "'%s'", refused[i]);
}
END_TEST

static void write_squeue(const char *script)
{
        mkdir("bin", 0700);
        assert_ok(write_file_atomic("bin/squeue", script, strlen(script), 0700));
}

START_TEST(test_job)
{
        char here[PATH_SIZE - 100], path[PATH_SIZE], end[32];
        bool unknown;

        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        snprintf(path, sizeof(path), "%s/bin:%s", here, getenv("PATH"));
        setenv("PATH", path, 1);
        unsetenv("SLURM_JOB_END_TIME");
        unsetenv("SLURM_JOB_ID");
        write_squeue("#!/bin/sh\necho 1:00:00\n");
        ck_assert_uint_eq(walltime_left(&unknown), UINT64_MAX); /* in no job, whatever squeue says */
        ck_assert(!unknown);
        setenv("SLURM_JOB_ID", "77", 1);
        write_squeue("#!/bin/sh\n[ \"$*\" = '--noheader --jobs=77 --format=%L' ] && echo 1:00:00\n");
        ck_assert_uint_eq(walltime_left(&unknown), 3600 * NSEC_PER_SEC);
        ck_assert(!unknown);
        write_squeue("#!/bin/sh\necho UNLIMITED\n");
        ck_assert_uint_eq(walltime_left(&unknown), UINT64_MAX);
        ck_assert(!unknown);
        write_squeue("#!/bin/sh\necho slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1\n");
        ck_assert_uint_eq(walltime_left(&unknown), UINT64_MAX);
        ck_assert(unknown);
        snprintf(end, sizeof(end), "%lld", (long long)now_seconds() - 5);
        setenv("SLURM_JOB_END_TIME", end, 1);
        ck_assert_uint_eq(walltime_left(&unknown), 0);
        ck_assert(!unknown);
}
END_TEST

SUITE("walltime", test_texts, test_job)
