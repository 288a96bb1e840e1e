/* Adding cases through the mount (docs/tree.md, 8); everything else is read-only. */
#include "tests/support/mount.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tests/support/faults.h"

START_TEST(test_cp)
{
        struct mount *m;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        write_whole("query.smt2", "(set-logic QF_S)\n(check-sat)\n; do print sat\n");
        assert_shell("cp query.smt2 mnt/cases/");
        id = case_id("query.smt2");
        ck_assert_uint_eq(id, 1);
        assert_shell("cmp query.smt2 mnt/cases/%u/input.smt2 && cmp query.smt2 mnt/cases/by-name/query.smt2/input.smt2", id);
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "1\nby-name\n");
        assert_shell("ls mnt/tiny/head/cases");
        ck_assert_str_eq(shell_output, "1\n");
        mount_kill(m); /* what cp returned 0 for is on disk */
        mount_start("mnt", NULL);
        assert_shell("cmp query.smt2 mnt/cases/%u/input.smt2 && solverfs case list | grep 'query.smt2$'", id);
        assert_content(at(CELL "result", id), "sat\n");
        world_end();
}
END_TEST

/* Many ways to write a file; each is a case that holds just those bytes. */
static void check_writer(const char *command)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("seq -f '; %%.0f' 1 30000 >given.smt2");
        assert_shell("set -e; given=given.smt2; new=mnt/cases/new.smt2; %s", command);
        assert_shell("ls mnt/cases"); /* one; and 1, unless it was closed by one writer and gone on with by another */
        ck_assert_str_eq(shell_output, at("%u\nby-name\n", case_id("new.smt2")));
        assert_shell("cmp given.smt2 mnt/cases/by-name/new.smt2/input.smt2");
        world_end();
}

#define WRITER(name, command)          \
        START_TEST(test_write_##name)  \
        {                              \
                check_writer(command); \
        }                              \
        END_TEST
WRITER(cp_p, "cp -p $given $new")
WRITER(cp_a, "cp -a $given $new")
WRITER(redirection, "cat $given >$new")
WRITER(redirection_of_many, "{ head -n 100 $given; tail -n +101 $given; } >$new")
WRITER(printf, "printf '%s\\n' \"$(cat $given)\" >$new")
WRITER(tee, "cat $given | tee $new | cmp - $given")
WRITER(dd, "dd if=$given of=$new bs=1000 2>/dev/null")
WRITER(dd_fsync, "dd if=$given of=$new bs=64k conv=fsync 2>/dev/null")
WRITER(mv, "cp $given other; mv other $new; test ! -e other")

WRITER(install, "install -m 600 $given $new")
WRITER(tar, "cp $given new.smt2; tar cf t.tar new.smt2; tar xf t.tar -C mnt/cases")

WRITER(rename, "cp $given mnt/cases/.new.smt2.tmp; mv mnt/cases/.new.smt2.tmp $new")
WRITER(rename_while_open,
       "{ head -n 100 $given; mv -n mnt/cases/tmp $new 2>/dev/null || :; tail -n +101 $given; } >mnt/cases/tmp; "
       "[ -e $new ] || mv mnt/cases/tmp $new")
WRITER(sponge, "cp $given mnt/cases/other~; ln mnt/cases/other~ $new 2>/dev/null || mv -T mnt/cases/other~ $new")

/* rsync sets times by name, too; without --inplace it writes a file of another name and renames it. */
START_TEST(test_rsync)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("seq -f '; %%.0f' 1 30000 >new.smt2 && rsync -a --inplace new.smt2 mnt/cases/");
        assert_shell("cmp new.smt2 mnt/cases/by-name/new.smt2/input.smt2 && test $(ls mnt/cases/by-name | wc -l) = 1");
        ck_assert_int_eq(open_error("mnt/cases/new.smt2"), ENOENT);
        ck_assert_int_ne(shell("echo other >mnt/cases/new.smt2"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "exists"));
        assert_shell("solverfs case remove new.smt2");
        ck_assert(!exists("mnt/cases/new.smt2"));
        world_end();
}
END_TEST

START_TEST(test_rsync_of_a_folder)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell(
                "mkdir bench && for i in $(seq 100); do echo \"; case $i\" >bench/$i.smt2; done && echo 'p cnf 1 1' >bench/a.cnf "
                "&& chmod 750 bench && touch -d 2001-01-01 bench bench/*");
        for (int i = 0; i < 2; i++) { /* and again: nothing new */
                assert_shell("rsync -a bench/ mnt/cases/");
                assert_shell("ls mnt/cases/by-name | wc -l");
                ck_assert_str_eq(shell_output, "101\n");
                assert_shell("cat bench/*.smt2 >all && cat mnt/cases/by-name/*.smt2/input.smt2 | cmp all - && " /* a line in each */
                             "cmp bench/a.cnf mnt/cases/by-name/a.cnf/input.cnf");
                ck_assert_uint_le(case_id("a.cnf"), 101);
        }
        assert_shell("cp bench/7.smt2 seven.smt2 && rsync -a seven.smt2 mnt/cases/"); /* the same bytes by another name */
        assert_shell("ls mnt/cases/by-name | wc -l");
        ck_assert_str_eq(shell_output, "101\n");
        assert_shell("echo \"; other\" >7.smt2");
        ck_assert_int_ne(shell("rsync -a 7.smt2 mnt/cases/"), 0); /* a name that other bytes have */
        ck_assert_ptr_nonnull(strstr(shell_output, "exists"));
        assert_shell("cmp bench/7.smt2 mnt/cases/by-name/7.smt2/input.smt2 && ls mnt/cases/by-name | wc -l");
        ck_assert_str_eq(shell_output, "101\n"); /* what could not be renamed is taken away again */
        world_end();
}
END_TEST

/* Only what was just written can be renamed and taken away, and only in cases/. */
START_TEST(test_renaming_what_is_old)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("a", "; one\n");
        assert_shell(
                "cp a mnt/cases/x.smt2 && cp a y && solverfs case add --name z.smt2 y; echo '; two' >b && cp b mnt/cases/b.smt2");
        ck_assert_int_ne(shell("mv mnt/cases/x.smt2 mnt/tiny/x.smt2"), 0);
        ck_assert_int_ne(shell("mv mnt/cases/1 mnt/cases/2"), 0);
        ck_assert_int_ne(shell("mv -T mnt/cases/by-name/x.smt2 mnt/cases/y.smt2"), 0);
        ck_assert_int_ne(shell("mv -f mnt/cases/x.smt2 mnt/cases/b.smt2"), 0);
        ck_assert_int_ne(shell("rm -f mnt/cases/1/name"), 0);
        ck_assert_int_eq(rename("mnt/cases/x.smt2", at("mnt/cases/%0256d", 1)) < 0 ? errno : 0, ENAMETOOLONG);
        ck_assert_int_eq(rename("mnt/cases/x.smt2", "mnt/cases/x.cnf") < 0 ? errno : 0, EINVAL);
        assert_shell("mv mnt/cases/x.smt2 mnt/cases/x && cat mnt/cases/1/name");
        ck_assert_str_eq(shell_output, "x\n");
        assert_shell("rm mnt/cases/x && ls mnt/cases");
        ck_assert_str_eq(shell_output, "2\nby-name\n");
        assert_shell("cp a mnt/cases/x.smt2 && solverfs case list | grep -c .");
        ck_assert_str_eq(shell_output, "2\n"); /* it comes back */
        ck_assert_uint_ne(case_id("x") + case_id("x.smt2"), 0);
        mount_kill(mount_start("second", NULL));
        ck_assert_int_ne(shell("mv mnt/cases/b.smt2 mnt/cases/by-name/c.smt2"), 0);
        world_end();
}
END_TEST

/* A minute later it is one of those that were there. */
START_TEST(test_renaming_when_the_minute_is_over)
{
        faults_begin();
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("echo '; one' >mnt/cases/x.smt2 && mv mnt/cases/x.smt2 mnt/cases/y.smt2");
        await(fault_met("case.closed") > 0); /* until then it is open */
        fault_set("case.minute", "fail ETIME");
        ck_assert_int_eq(rename("mnt/cases/y.smt2", "mnt/cases/z.smt2") < 0 ? errno : 0, ENOENT);
        ck_assert_int_eq(unlink("mnt/cases/y.smt2") < 0 ? errno : 0, ENOENT);
        assert_content("mnt/cases/1/name", "y.smt2\n");
        assert_shell("echo '; two' >mnt/cases/new.smt2 && cmp mnt/cases/2/input.smt2 mnt/cases/by-name/new.smt2/input.smt2");
        fault_clear("case.minute");
        assert_shell("rm mnt/cases/y.smt2 && ls mnt/cases");
        ck_assert_str_eq(shell_output, "2\nby-name\n");
        world_end();
}
END_TEST

/* What is read of a case is the name that it has. */
START_TEST(test_renamed_under_readers)
{
        cleanup_close int fd = -1;
        struct stat st;
        char text[16];

        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("a", "; one\n");
        assert_shell("cp a mnt/cases/x.smt2");
        for (int i = 0; i < 2; i++) /* and the kernel has it */
                assert_content("mnt/cases/1/name", "x.smt2\n");
        assert_shell("mv mnt/cases/x.smt2 mnt/cases/longer.smt2");
        await(stat("mnt/cases/1/name", &st) == 0 && st.st_size == 12); /* nobody has opened it since */
        assert_content("mnt/cases/1/name", "longer.smt2\n");
        fd = open("mnt/cases/1/name", O_RDONLY | O_CLOEXEC);
        assert_shell("mv mnt/cases/longer.smt2 mnt/cases/shorter.sm");
        assert_content("mnt/cases/1/name", "shorter.sm\n");
        ck_assert_int_eq(read(fd, text, sizeof(text)), 12); /* who has it open reads what it opened */
        ck_assert_int_eq(memcmp(text, "longer.smt2\n", 12), 0);
        close(steal_fd(&fd));
        world_end();
}
END_TEST

/* A case that is written once more with the same bytes, before it is closed or when it had been taken away, is the writer's: to be renamed, and
 * to be taken away. */
START_TEST(test_the_same_bytes_written_again)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        for (int i = 0; i < 3; i++) {
                int fd = creat("mnt/cases/tmp", 0644);

                ck_assert_int_eq(write(fd, "; one\n", 6), 6);
                ck_assert_int_eq(fsync(fd), 0);
                ck_assert_int_eq(i == 0 ? ftruncate(fd, 6) : i == 1 ? pwrite(fd, "; one\n", 6, 0) - 6 : 0, 0);
                ck_assert_int_eq(close(fd), 0);
                assert_shell("mv mnt/cases/tmp mnt/cases/new%d.smt2 && cat mnt/cases/1/name && ls mnt/cases", i);
                ck_assert_str_eq(shell_output, at("new%d.smt2\n1\nby-name\n", i));
                assert_shell("rm mnt/cases/new%d.smt2 && ls mnt/cases", i);
                ck_assert_str_eq(shell_output, "by-name\n");
        }
        write_whole("a", "; one\n");
        assert_shell("solverfs case add a && cp a mnt/cases/b && rm mnt/cases/b && ls mnt/cases"); /* this is not the writer's */
        ck_assert_ptr_nonnull(strstr(shell_output, "\n1\nby-name\n"));
        world_end();
}
END_TEST

/* What is too large for a case is refused where it becomes so, not when all of it, or of a file with holes, was copied. */
START_TEST(test_too_large)
{
        const off_t most = INT64_C(1) << 32;
        int fd, cut, written;

        world_make(NULL);
        mount_start("mnt", NULL);
        fd = creat("mnt/cases/x.smt2", 0644);
        ck_assert_int_eq(write(fd, "; one\n", 6), 6);
        cut = ftruncate(fd, most + 1) < 0 ? errno : 0;
        written = pwrite(fd, "x", 1, most) < 0 ? errno : 0;
        ck_assert_int_eq(ftruncate(fd, 6), 0);
        ck_assert_int_eq(cut, EFBIG);
        ck_assert_int_eq(written, EFBIG);
        ck_assert_int_eq(close(fd), 0);
        assert_content("mnt/cases/1/input.smt2", "; one\n");
        world_end();
}
END_TEST

/* Bytes that were refused are missing from the file: close() makes no case of the rest, and takes away what a sync made of the first part. Once the file
 * is cut back to where they belong, nothing is missing. */
START_TEST(test_a_refused_write)
{
        cleanup_close int fd = -1;

        world_make(NULL);
        mount_start("mnt", NULL);
        shell("{ echo hello; echo '(check-sat)'; } >mnt/cases/x.smt2");
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "by-name\n");
        await((fd = creat("mnt/cases/x.smt2", 0644)) >= 0); /* the first one's RELEASE may come a moment later */
        ck_assert_int_eq(write(fd, "(check-sat)\n", 12), 12);
        ck_assert_int_eq(fsync(fd), 0);
        ck_assert(exists("mnt/cases/1"));
        ck_assert(pwrite(fd, "x", 1, INT64_C(1) << 32) < 0 && errno == EFBIG);
        ck_assert(pwrite(fd, "hello\n", 6, 0) < 0 && errno == EINVAL);
        ck_assert_int_eq(pwrite(fd, "; more\n", 7, 12), 7);
        ck_assert_int_eq(ftruncate(fd, 12), 0); /* not enough: the first line is missing */
        ck_assert(fsync(fd) < 0 && errno == EINVAL);
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "by-name\n");
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert_int_eq(pwrite(fd, "; all\n", 6, 0), 6);
        ck_assert_int_eq(close(steal_fd(&fd)), 0);
        assert_content("mnt/cases/by-name/x.smt2/input.smt2", "; all\n");
        world_end();
}
END_TEST

START_TEST(test_same_bytes_are_one_case)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("a", "; do print sat\n");
        assert_shell("cp a mnt/cases/a.smt2 && cp a mnt/cases/b.smt2 && cp a mnt/cases/c.smt2");
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "1\nby-name\n");
        ck_assert_uint_eq(case_id("a.smt2"), 1);
        assert_content("mnt/cases/1/name", "a.smt2\n");
        assert_shell("echo \"; more\" >>a && cp a mnt/cases/d.smt2");
        ck_assert_uint_eq(case_id("d.smt2"), 2);
        world_end();
}
END_TEST

START_TEST(test_a_taken_name)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("a", "; one\n");
        write_whole("b", "; two\n");
        assert_shell("cp a mnt/cases/x.smt2");
        ck_assert_int_ne(shell("cp b mnt/cases/x.smt2"), 0);
        ck_assert_int_ne(shell("cat b >mnt/cases/x.smt2"), 0);
        ck_assert_int_ne(shell("solverfs case add --name x.smt2 b"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "1")); /* names the holder */
        assert_shell("cmp a mnt/cases/1/input.smt2 && ls mnt/cases | wc -l | grep -qx 2");
        assert_shell("solverfs case remove 1 && cp b mnt/cases/x.smt2 && cmp b mnt/cases/2/input.smt2");
        world_end();
}
END_TEST

/* Benchmark libraries come compressed. The case is what is in it, whatever it is called. */
START_TEST(test_compressed)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("mkdir dir && { echo 'p cnf 1000 1000' && seq 1 1000; } >dir/a.cnf && echo '; do print sat' >dir/b.smt2 && "
                     "echo '; 3' >dir/c.smt2 && echo '; 4' >dir/d.smt2 && cp -r dir plain && gzip dir/a.cnf && bzip2 dir/b.smt2 "
                     "&& xz dir/c.smt2 "
                     "&& zstd -q --rm dir/d.smt2");
        assert_shell(
                "cp dir/a.cnf.gz mnt/cases/ && cmp plain/a.cnf mnt/cases/1/input.cnf && cp dir/a.cnf.gz mnt/cases/again.cnf");
        assert_shell("cp dir/b.smt2.bz2 mnt/cases/b.smt2 && cat mnt/cases/2/name && cat mnt/tiny/head/cases/2/result");
        ck_assert_str_eq(shell_output, "b.smt2\nsat\n");
        assert_shell("solverfs case add dir plain 2>/dev/null >list && sort -n list"); /* progress may be reported */
        ck_assert_str_eq(shell_output, "1\tknown\ta.cnf\n1\tknown\ta.cnf\n2\tknown\tb.smt2\n2\tknown\tb.smt2\n3\tknown\tc.smt2\n"
                                       "3\tnew\tc.smt2\n4\tknown\td.smt2\n4\tnew\td.smt2\n");
        assert_shell("for f in mnt/cases/by-name/*; do cmp $f/input.* plain/${f##*/} || exit; done");
        ck_assert_int_ne(shell("solverfs case list a.cnf.gz"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "no case 'a.cnf.gz'; did you mean 'a.cnf'?"));
        ck_assert_int_ne(shell("solverfs case list dir/c.smt2.xz"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "no case 'dir/c.smt2.xz'; did you mean 'c.smt2'?"));
        assert_shell("head -c 60 dir/a.cnf.gz >cut.cnf.gz");
        ck_assert_int_ne(shell("cp cut.cnf.gz mnt/cases/"), 0);
        ck_assert_int_ne(shell("solverfs case add cut.cnf.gz"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "cut.cnf.gz' cannot be unpacked, as it is cut off or damaged"));
        assert_shell("cd dir && python3 -m zipfile -c z.zip ../plain/a.cnf");
        ck_assert_int_ne(shell("solverfs case add dir/z.zip"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "unpack it first (unzip)"));
        assert_shell("ls mnt/cases && find store/cases -type f | wc -l");
        ck_assert_str_eq(shell_output, "1\n2\n3\n4\nby-name\n4\n"); /* nothing is left of what was refused */
        world_end();
}
END_TEST

/* Very much comes out of very little. */
START_TEST(test_a_bomb)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("pack.py", "import struct, subprocess, sys\n" /* 268500001 bytes in a file of this size, which is filled up behind all else */
                               "def pack(b): return subprocess.run(['zstd', '-qc'], input=b, stdout=subprocess.PIPE, check=True).stdout\n"
                               "packed = pack(b'; ' + b' ' * 499999) + pack(b' ' * 1000000) * 268\n"
                               "filler = bytes(int(sys.argv[1]) - len(packed) - 8)\n"
                               "sys.stdout.buffer.write(packed + struct.pack('<II', 0x184d2a50, len(filler)) + filler)\n");
        assert_shell("python3 pack.py 268500 >bomb.smt2.zst && ! cp bomb.smt2.zst mnt/cases/");
        ck_assert_ptr_nonnull(strstr(shell_output, strerror(EFBIG)));
        assert_shell("ls mnt/cases && find store/cases -type f | wc -l");
        ck_assert_str_eq(shell_output, "by-name\n0\n");
        assert_shell("python3 pack.py 1000000 >most.smt2.zst && solverfs -q case add most.smt2.zst && stat -c %%s mnt/cases/1/input.smt2");
        ck_assert_ptr_nonnull(strstr(shell_output, "\n268500001\n"));
        world_end();
}
END_TEST

START_TEST(test_what_is_no_case)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("echo hello >readme.txt && echo 'p dnf 1 1' >a.txt && echo '1 0' >b.cnf && printf '\\177ELF\\2\\1' >prog && echo 'c only' >c && "
                     "printf 'hello\\n' | gzip >hello.smt2.gz");
        ck_assert_int_ne(shell("cp readme.txt mnt/cases/"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "Invalid argument"));
        for (const char *const *f = (const char *const[]){"readme.txt", "a.txt", "b.cnf", "prog", "c", "hello.smt2.gz", NULL}; *f;
             f++) {
                ck_assert_msg(shell("solverfs case add %s", *f) == 1, "%s", *f);
                ck_assert_ptr_nonnull(strstr(shell_output, "is no case"));
                ck_assert_int_ne(shell("cp %s mnt/cases/", *f), 0);
        }
        ck_assert_int_ne(shell("echo hello >mnt/cases/typed.txt"), 0); /* a shell looks at write(), not at close() */
        assert_shell("echo hello >mnt/cases/x.smt2 2>error; ls mnt/cases");
        ck_assert_str_eq(shell_output, "by-name\n");
        assert_shell("cp readme.txt c.cnf && printf 'c hello\\n\\np cnf 1 1\\n1 0\\n' >d && printf '\\n ; hello\\n(check-sat)' "
                     ">e && cp d e mnt/cases && ls "
                     "mnt/cases");
        ck_assert_str_eq(shell_output, "1\n2\nby-name\n");
        world_end();
}
END_TEST

/* Two writers of one name at the same time: one has it, the other is told. */
START_TEST(test_two_writers_of_a_name)
{
        cleanup_close int a = -1, b = -1;

        world_make(NULL);
        mount_start("mnt", NULL);
        a = open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        ck_assert_int_ge(a, 0);
        b = open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        ck_assert_int_eq(write(a, "; one\n", 6), 6);
        if (b >= 0)
                ck_assert_int_eq(write(b, "; two\n", 6), 6);
        ck_assert_int_eq(close(steal_fd(&a)), 0);
        if (b >= 0)
                ck_assert(close(steal_fd(&b)) < 0 && errno == EEXIST);
        assert_content("mnt/cases/1/input.smt2", "; one\n");
        ck_assert(!exists("mnt/cases/2"));
        world_end();
}
END_TEST

START_TEST(test_empty)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("empty", "");
        ck_assert_int_ne(shell("cp empty mnt/cases/empty.smt2"), 0);
        ck_assert_uint_eq(case_id("empty.smt2"), 0);
        shell("touch mnt/cases/touched.smt2");
        ck_assert_uint_eq(case_id("touched.smt2"), 0);
        shell(": >mnt/cases/truncated.smt2");
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "by-name\n");
        world_end();
}
END_TEST

/* A writer that dies in the middle has closed its file: what it wrote so far is a case, or nothing; never a lasting half of anything else. */
START_TEST(test_a_writer_is_killed)
{
        pid_t writer;

        world_make(NULL);
        mount_start("mnt", NULL);
        fflush(NULL);
        writer = fork();
        if (writer == 0) {
                int fd = open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

                if (write(fd, "; half\n", 7) != 7)
                        _exit(1);
                write_whole("wrote", "");
                for (;;)
                        pause();
        }
        await(exists("wrote"));
        kill(writer, SIGKILL);
        ck_assert_int_eq(process_wait(writer), -SIGKILL);
        case_add("y.smt2", "; do print sat\n");
        assert_shell(
                "for i in mnt/cases/[0-9]*; do sha256sum <$i/input.smt2 | cut -d ' ' -f 1 | cmp - $i/sha256 || exit 1; done");
        assert_shell("test $(find store/cases -type f | wc -l) = $(ls -d mnt/cases/[0-9]* | wc -l)"); /* no staged file stays */
        world_end();
}
END_TEST

/* Before its first sync, too, a file has its name: a writer that is interrupted removes what it wrote. */
START_TEST(test_a_file_being_written_has_a_name)
{
        struct stat st;

        world_make(NULL);
        mount_start("mnt", NULL);
        for (int removed = 0; removed <= 1; removed++) {
                cleanup_close int fd = open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

                ck_assert_int_eq(write(fd, "; half\n", 7), 7);
                assert_ok(stat("mnt/cases/x.smt2", &st));
                ck_assert_int_eq(st.st_size, 7);
                ck_assert(open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) < 0 && errno == EEXIST);
                assert_ok(rename("mnt/cases/x.smt2", "mnt/cases/y.smt2"));
                ck_assert(!exists("mnt/cases/x.smt2"));
                assert_ok(stat("mnt/cases/y.smt2", &st));
                if (removed) {
                        assert_ok(unlink("mnt/cases/y.smt2"));
                        ck_assert(!exists("mnt/cases/y.smt2"));
                }
                ck_assert_int_eq(close(steal_fd(&fd)), 0);
                assert_shell("ls mnt/cases/by-name");
                ck_assert_str_eq(shell_output, removed ? "" : "y.smt2\n");
                if (!removed)
                        assert_shell("rm mnt/cases/y.smt2");
        }
        assert_shell("test $(find store/cases -type f | wc -l) = 1"); /* the first one's */
        world_end();
}
END_TEST

/* A case that a sync made of the first part, and that is removed while its writer goes on: by the command, then the whole is a case all the same; under
 * its name, then the rest goes where that of any removed file goes. */
START_TEST(test_removed_under_a_writer)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        for (int by_name = 0; by_name <= 1; by_name++) {
                cleanup_close int fd = open("mnt/cases/x.smt2", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

                ck_assert_int_eq(write(fd, "; half\n", 7), 7);
                ck_assert_int_eq(fsync(fd), 0);
                assert_shell("%s", by_name ? "rm mnt/cases/x.smt2" : "solverfs case remove x.smt2");
                ck_assert_int_eq(write(fd, "; more\n", 7), 7);
                ck_assert_int_eq(close(steal_fd(&fd)), 0);
                assert_shell("ls mnt/cases/by-name");
                ck_assert_str_eq(shell_output, by_name ? "" : "x.smt2\n");
                if (!by_name)
                        assert_shell("printf '; half\n; more\n' | cmp - mnt/cases/by-name/x.smt2/input.smt2 && solverfs case remove x.smt2");
        }
        ck_assert(!exists("mnt/cases/x.smt2"));
        world_end();
}
END_TEST

START_TEST(test_names)
{
        char name[256];
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        memset(name, 'n', 255);
        name[255] = '\0';
        ck_assert_uint_eq(case_add(name, "; long\n"), 1);
        ck_assert_uint_eq(case_add("with space and 'quotes\".smt2", "; a\n"), 2);
        ck_assert_uint_eq(case_add("new\nline.smt2", "; b\n"), 3);
        ck_assert_uint_eq(case_add("\xff\xfe.smt2", "; not UTF-8\n"), 4);
        ck_assert_uint_eq(case_add("-rf.smt2", "; c\n"), 5);
        ck_assert_uint_eq(case_add("7", "; a number is a name like any other\n"), 6);
        id = case_add(".hidden.smt2", "; d\n");
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "1\n2\n3\n4\n5\n6\n7\nby-name\n");
        assert_shell("ls -A mnt/cases/by-name | wc -l");
        ck_assert_uint_eq(id, 7);
        assert_content("mnt/cases/3/name", "new\nline.smt2\n");
        assert_shell("find -L mnt/cases/by-name -name input.smt2 | wc -l");
        memset(name, 'm', sizeof(name));
        ck_assert_int_eq(open(at("mnt/cases/%.256s", name), O_WRONLY | O_CREAT, 0644), -1); /* no folder can show it */
        ck_assert_int_eq(errno, ENAMETOOLONG);
        world_end();
}
END_TEST

START_TEST(test_folders_of_names)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("mkdir -p set/QF_S/deep set/QF_SLIA && echo '; 1' >set/QF_S/a.smt2 && echo '; 2' >set/QF_S/deep/b.smt2 && "
                     "echo '; 3' >set/QF_SLIA/a.smt2 && echo '; 4' >set/QF_S-a.smt2 && solverfs case add set");
        assert_shell("cd mnt/cases/by-name && find . | sort");
        ck_assert_str_eq(shell_output, ".\n./QF_S\n./QF_S-a.smt2\n./QF_S/a.smt2\n./QF_S/deep\n./QF_S/deep/b.smt2\n./QF_SLIA\n"
                                       "./QF_SLIA/a.smt2\n");
        assert_shell("cat mnt/cases/by-name/QF_S/deep/b.smt2/input.smt2");
        ck_assert_str_eq(shell_output, "; 2\n");
        world_end();
}
END_TEST

/* What the command and another mount change is seen here, listings included. */
START_TEST(test_changes_from_elsewhere)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("other", NULL);
        case_add("a.smt2", "; do print sat\n");
        assert_shell("ls mnt/cases other/cases mnt/cases mnt/tiny/head/cases >listing"); /* the kernel has them now */
        assert_shell("echo '; 2' >b.smt2 && solverfs case add b.smt2 && ls mnt/cases");
        ck_assert_ptr_nonnull(strstr(shell_output, "2\nby-name\n"));
        assert_shell("ls mnt/tiny/head/cases && ls other/cases/by-name && cat other/cases/by-name/b.smt2/input.smt2");
        ck_assert_str_eq(shell_output, "1\n2\na.smt2\nb.smt2\n; 2\n");
        assert_shell("echo '; 3' >other/cases/c.smt2 && ls mnt/cases/by-name");
        ck_assert_str_eq(shell_output, "a.smt2\nb.smt2\nc.smt2\n");
        world_end();
}
END_TEST

/* A status that a case gets later is what each mount shows, whole, to readers of the old one too. */
START_TEST(test_a_status_given_later)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        assert_shell("echo '; do print sat' >a.smt2 && solverfs case add a.smt2");
        assert_content("mnt/cases/1/status", "unknown\n");
        assert_content("done/cases/1/status", "unknown\n");
        assert_shell("solverfs case add --status sat a.smt2");
        await(shell("grep -qx sat mnt/cases/1/status") == 0);
        await(shell("grep -qx sat done/cases/1/status") == 0);
        assert_content("mnt/cases/1/status", "sat\n");
        assert_content("done/cases/1/status", "sat\n");
        world_end();
}
END_TEST

/* A store that cannot be read for a moment is an error of that moment: the kernel does not keep that the file is absent, or a listing without it. */
START_TEST(test_an_error_of_a_moment)
{
        cleanup_close int folder = -1;
        struct stat st;

        faults_begin();
        world_make(NULL);
        world_expects("Input/output error|EIO|store.read|input.smt2|readdir");
        mount_start("mnt", NULL);
        case_add("a.smt2", "; do print sat\n");
        folder = open("mnt/cases/1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(folder, 0);
        fault_set("store.read", "fail EIO");
        ck_assert_int_eq(fstatat(folder, "input.smt2", &st, 0), -1);
        ck_assert_int_eq(errno, EIO);
        ck_assert_int_ne(shell("ls /proc/%d/fd/%d/", (int)getpid(), folder), 0);
        fault_clear("store.read");
        ck_assert_int_eq(fstatat(folder, "input.smt2", &st, 0), 0);
        close(steal_fd(&folder));
        assert_shell("ls mnt/cases/1");
        ck_assert_str_eq(shell_output, "features.tsv\ninput.smt2\nlogic\nname\nsha256\nstatus\n");
        world_end();
}
END_TEST

/* Out of listings; ids are not used again, facts stay, the same bytes bring it back. */
START_TEST(test_remove)
{
        cleanup_free char *before = NULL;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        before = content(at(CELL "stdout", id));
        assert_shell("cp mnt/cases/1/input.smt2 kept && solverfs case remove %u && ls mnt/cases mnt/cases/by-name", id);
        ck_assert_str_eq(shell_output, "removed case 1 (a.smt2)\nmnt/cases:\nby-name\n\nmnt/cases/by-name:\n");
        await(case_id("a.smt2") == 0);
        assert_shell("ls mnt/tiny/head/cases mnt/tiny/cached/HEAD");
        ck_assert_ptr_null(strstr(shell_output, "1\n"));
        assert_content(at(CELL "stdout", id), before);
        ck_assert_uint_eq(case_add("b.smt2", "; other\n"), 2);
        assert_shell("cp kept mnt/cases/again.smt2");
        ck_assert_uint_eq(case_id("a.smt2") + case_id("again.smt2"), 1);
        assert_content(at(CELL "stdout", id), before);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 2);
        world_end();
}
END_TEST

START_TEST(test_many_at_once)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("for i in $(seq 1 60); do { printf '; '; head -c 5000 /dev/zero | tr '\\0' x; echo $i; } >$i.smt2; done; "
                     "for i in $(seq 1 60); do cp $i.smt2 mnt/cases/ & done; wait");
        assert_shell("ls mnt/cases | grep -c '^[0-9]' | grep -x 60 && for i in $(seq 1 60); do "
                     "cmp $i.smt2 mnt/cases/by-name/$i.smt2/input.smt2 || exit 1; done");
        world_end();
}
END_TEST

START_TEST(test_large)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell(
                "{ printf '('; head -c 30000000 /dev/urandom; } >large.smt2 && cp large.smt2 mnt/cases/ && cmp large.smt2 mnt/cases/1/input.smt2");
        world_end();
}
END_TEST

START_TEST(test_dimacs)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("printf 'p cnf 1 1\\n1 0\\n' >mnt/cases/a.cnf && ls mnt/cases/1");
        ck_assert_str_eq(shell_output, "features.tsv\ninput.cnf\nlogic\nname\nsha256\nstatus\n");
        assert_content("mnt/cases/1/logic", "cnf\n");
        ck_assert(!exists("mnt/tiny/head/cases/1")); /* tiny reads SMT-LIB */
        world_end();
}
END_TEST

/* The header may come in a later write than the comments before it, or be cut. */
START_TEST(test_dimacs_in_pieces)
{
        static const char text[] = "c one\n\nc two\np cnf 1 1\n1 0\n", *const names[] = {"x", "x.cnf"};

        world_make(NULL);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                for (size_t n = 1; n < sizeof(text) - 1; n++) {
                        int fd = creat(at("mnt/cases/%s", names[i]), 0644);

                        ck_assert_msg(write(fd, text, n) == (ssize_t)n, "%s: the first %zu bytes: %s", names[i], n, strerror(errno));
                        ck_assert_int_eq(write(fd, text + n, sizeof(text) - 1 - n), (ssize_t)(sizeof(text) - 1 - n));
                        ck_assert_int_eq(close(fd), 0);
                        assert_content("mnt/cases/1/input.cnf", text);
                        ck_assert_int_eq(unlink(at("mnt/cases/%s", names[i])), 0);
                }
        world_end();
}
END_TEST

/* -- everything else is read-only -- */

static void assert_refused(int r, int expected, const char *what)
{
        bool by_mode = r < 0 && errno == EACCES && geteuid() != 0; /* the kernel looks at that first */

        ck_assert_msg(r < 0 && (errno == expected || by_mode), "%s: %s", what, r < 0 ? strerror(errno) : "succeeded");
}

static int write_open(const char *path, int flags)
{
        int fd = open(path, flags | O_CLOEXEC, 0644), saved = errno;

        if (fd >= 0)
                close(fd);
        errno = saved;
        return fd;
}

static void try_to_change(int expected)
{
        static const char *const files[] = {"mnt/README",
                                            "mnt/cases/1/input.smt2",
                                            "mnt/tiny/config",
                                            "mnt/tiny/head/message",
                                            "mnt/tiny/head/cases/1/time",
                                            "mnt/tiny/head/bin/tiny",
                                            "mnt/.solverfs/status"};
        static const char *const folders[] = {
                "mnt",           "mnt/cases/1",         "mnt/cases/by-name",     "mnt/tiny",        "mnt/tiny/commits",
                "mnt/tiny/head", "mnt/tiny/head/cases", "mnt/tiny/head/cases/1", "mnt/tiny/cached", "mnt/.solverfs"};

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                const char *f = files[i];

                assert_refused(write_open(f, O_WRONLY), expected, f);
                assert_refused(write_open(f, O_RDWR), expected, f);
                assert_refused(write_open(f, O_WRONLY | O_TRUNC), expected, f);
                assert_refused(write_open(f, O_WRONLY | O_APPEND), expected, f);
                assert_refused(truncate(f, 0), expected, f);
                assert_refused(unlink(f), expected, f);
                assert_refused(rename(f, "mnt/cases/moved"), expected, f);
                assert_refused(link(f, "mnt/cases/linked"), expected, f);
        }
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                const char *f = folders[i];

                assert_refused(write_open(at("%s/new", f), O_WRONLY | O_CREAT), expected, f);
                assert_refused(mkdir(at("%s/new", f), 0755), expected, f);
                assert_refused(symlink("x", at("%s/new", f)), expected, f);
                assert_refused(mkfifo(at("%s/new", f), 0644), expected, f);
        }
        assert_refused(mkdir("mnt/cases/new", 0755), expected, "mkdir in cases");
        assert_refused(symlink("x", "mnt/cases/new"), expected, "symlink in cases");
        assert_refused(rmdir("mnt/cases/1"), expected, "rmdir in cases");
        assert_refused(unlink("mnt/tiny/head"), expected, "unlink of a link");
        assert_refused(unlink("mnt/cases/by-name/a.smt2"), expected, "unlink of a link in cases");
}

START_TEST(test_the_rest_is_read_only)
{
        uint64_t started;
        int fd;

        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "; do print sat\n");
        free(content("mnt/tiny/head/cases/1/time"));
        free(content("mnt/tiny/head/bin/tiny"));
        started = counter("mnt", "jobs_started_total");
        try_to_change(EROFS);
        fd = open("mnt/tiny/head/cases/1/time", O_RDONLY | O_APPEND | O_CLOEXEC); /* which writes nothing */
        ck_assert_int_ge(fd, 0);
        close(fd);
        assert_refused(chmod("mnt/README", 0600), EROFS, "chmod");
        assert_refused(setxattr("mnt/README", "user.x", "y", 1, 0), EROFS, "setxattr");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), started);
        assert_shell("ls mnt/cases");
        ck_assert_str_eq(shell_output, "1\nby-name\n");
        world_end();
}
END_TEST

static pid_t as_another_user(void)
{
        pid_t pid;

        fflush(NULL);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
                _exit(99);
        return pid;
}

/* A test's assertions in a process of another user: Check's own are for its process. */
#define OTHER_USER(...)                                       \
        do {                                                  \
                pid_t other_pid = as_another_user();          \
                if (other_pid == 0) {                         \
                        int failed = 0;                       \
                        __VA_ARGS__;                          \
                        _exit(failed);                        \
                }                                             \
                ck_assert_int_eq(process_wait(other_pid), 0); \
        } while (0)
#define OTHER(condition)           (failed = failed || !(condition))
#define OTHER_REFUSED(call, error) OTHER((call) < 0 && errno == (error))

/* Without allow_other, another user sees nothing of it. */
START_TEST(test_another_user_is_kept_out)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "; do print sat\n");
        assert_shell("chmod a+rx .. .");
        OTHER_USER({
                OTHER(open_error("mnt/README") == EACCES);
                OTHER_REFUSED(write_open("mnt/cases/x.smt2", O_WRONLY | O_CREAT), EACCES);
        });
        assert_shell("stat -c %%a store store/config store/lmdb");
        ck_assert_str_eq(shell_output, "700\n600\n700\n");
        world_end();
}
END_TEST

/* With it, he reads, and starts work, and changes nothing: EACCES where the owner gets EROFS. */
START_TEST(test_another_user_reads)
{
        world_make(NULL);
        mount_start("mnt", "allow_other");
        case_add("a.smt2", "; do print sat\n");
        assert_shell("chmod a+rx .. .");
        OTHER_USER({
                cleanup_free char *text = NULL;

                OTHER(read_whole("mnt/tiny/head/cases/1/result", &text) == 4 && strcmp(text, "sat\n") == 0);
                OTHER_REFUSED(write_open("mnt/cases/x.smt2", O_WRONLY | O_CREAT), EACCES);
                OTHER_REFUSED(write_open("mnt/README", O_WRONLY), EACCES);
                OTHER_REFUSED(write_open("mnt/tiny/new", O_WRONLY | O_CREAT), EACCES);
                OTHER_REFUSED(unlink("mnt/cases/1/name"), EACCES);
                OTHER_REFUSED(mkdir("mnt/cases/x", 0755), EACCES);
        });
        ck_assert_uint_eq(case_id("x.smt2"), 0);
        world_end();
}
END_TEST

START_TEST(test_statfs)
{
        struct statvfs fs, disk;

        world_make(NULL);
        mount_start("mnt", NULL);
        ck_assert_int_eq(statvfs("mnt", &fs), 0);
        ck_assert_int_eq(statvfs("store", &disk), 0);
        ck_assert_uint_gt(fs.f_bavail, 0); /* cp and file managers look whether there is room */
        ck_assert_uint_eq(fs.f_blocks * fs.f_frsize / (1 << 30), disk.f_blocks * disk.f_frsize / (1 << 30));
        world_end();
}
END_TEST

struct look {
        int fd; /* O_PATH: it keeps nothing open */
        int error;
        struct stat st;
};

static void *look_at(void *data)
{
        struct look *l = data;

        l->error = fstat(l->fd, &l->st) < 0 ? errno : 0;
        return NULL;
}

/* RELEASE comes after close() has returned, so somebody may be looking. */
START_TEST(test_closed_while_looked_at)
{
        struct look look;
        unsigned met;
        pthread_t thread;
        int fd;

        faults_begin();
        world_make(NULL);
        mount_start("mnt", NULL);
        fd = creat("mnt/cases/a.smt2", 0644);
        ck_assert_int_eq(write(fd, "(check-sat)\n", 12), 12);
        look.fd = open(at("/proc/self/fd/%d", fd), O_PATH | O_CLOEXEC);
        ck_assert_int_ge(look.fd, 0);
        met = fault_met("case.looked");
        fault_set("case.looked", at("block after %u times 1\n", met)); /* not close(), which looks, too */
        ck_assert_int_eq(pthread_create(&thread, NULL, look_at, &look), 0);
        await(fault_met("case.looked") > met);
        close(fd);
        await(fault_met("case.closed") > 0);
        fault_clear("case.looked");
        pthread_join(thread, NULL);
        close(look.fd);
        ck_assert_int_eq(look.error, 0);
        ck_assert_int_eq(look.st.st_size, 12);
        world_end();
}
END_TEST

#define STUCK 4 /* as many as are written at a time: the next one's folder is there for all */

START_TEST(test_others_are_answered_while_cases_are_committed)
{
        unsigned id, met;

        faults_begin();
        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("known.smt2", "; do print sat\n");
        assert_content(at(CELL "result", id), "sat\n");
        met = fault_met("case.flush");
        fault_set("case.flush", at("block after %u", met));
        assert_shell("for i in $(seq %d); do seq -f \"; $i %%.0f\" 1 30000 >new$i.smt2; done", STUCK);
        assert_shell("for i in $(seq %d); do { cp new$i.smt2 mnt/cases/; echo $? >new$i.done; } & done", STUCK);
        await(fault_met("case.flush") >= met + STUCK);
        ck_assert_int_eq(mkfifo("go", 0600), 0);
        if (fork() == 0) { /* of its own: who has the file open waits for the others when it ends */
                int fd = creat("mnt/cases/late.smt2", 0644), go;
                char byte;

                close(creat("late.made", 0644));
                go = open("go", O_RDONLY);
                _exit(read(go, &byte, 1) != 1 || write(fd, "(check-sat)\n", 12) != 12);
        }
        await(access("late.made", F_OK) == 0);
        for (int i = 0; i < 20; i++) {
                struct stat st;

                ck_assert_int_eq(stat(at(CELL "time", id), &st), 0);
                ck_assert(stat(at("mnt/tiny/tags/nothing-%d", i), &st) < 0 && errno == ENOENT);
                assert_content(at(CELL "result", id), "sat\n");
        }
        assert_shell("ls mnt/cases; ls mnt/tiny/tags; ! ls new*.done");
        fault_clear("case.flush");
        assert_shell("echo go >go");
        for (int i = 1; i <= STUCK; i++)
                await(access(at("new%d.done", i), F_OK) == 0);
        assert_shell("for i in $(seq %d); do grep -qx 0 new$i.done && cmp new$i.smt2 mnt/cases/by-name/new$i.smt2/input.smt2 || exit 1; done", STUCK);
        await(access("mnt/cases/by-name/late.smt2", F_OK) == 0);
        world_end();
}
END_TEST

/* The case is made under the first name while rename() waits for that. */
START_TEST(test_renamed_while_it_is_committed)
{
        pid_t writer, renamer;
        unsigned met;

        faults_begin();
        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("given.smt2", "(check-sat)\n");
        met = fault_met("case.flush");
        fault_set("case.flush", at("block after %u", met));
        writer = shell_start("cp given.smt2 mnt/cases/.tmp");
        await(fault_met("case.flush") > met);
        renamer = shell_start("mv mnt/cases/.tmp mnt/cases/new.smt2");
        remains(process_runs(renamer));
        fault_clear("case.flush");
        ck_assert_int_eq(process_wait(writer), 0);
        ck_assert_int_eq(process_wait(renamer), 0);
        assert_shell("ls -A mnt/cases/by-name && test -f mnt/cases/new.smt2");
        ck_assert_str_eq(shell_output, "new.smt2\n");
        assert_shell("rm mnt/cases/new.smt2 && ls -A mnt/cases/by-name");
        ck_assert_str_eq(shell_output, "");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_cases", {test_cp}, {test_write_cp_p}, {test_write_cp_a}, {test_write_redirection},
            {test_write_redirection_of_many}, {test_write_printf}, {test_write_tee}, {test_write_dd},
            {test_write_dd_fsync}, {test_write_mv}, {test_write_install}, {test_write_tar}, {test_write_rename},
            {test_write_rename_while_open}, {test_write_sponge}, {test_rsync, NEEDS_RSYNC}, {test_rsync_of_a_folder, NEEDS_RSYNC},
            {test_renaming_what_is_old}, {test_renaming_when_the_minute_is_over}, {test_renamed_under_readers},
            {test_the_same_bytes_written_again}, {test_too_large}, {test_a_refused_write},
            {test_same_bytes_are_one_case}, {test_a_taken_name}, {test_compressed}, {test_a_bomb}, {test_what_is_no_case},
            {test_two_writers_of_a_name}, {test_empty}, {test_a_writer_is_killed}, {test_a_file_being_written_has_a_name},
            {test_removed_under_a_writer}, {test_names}, {test_folders_of_names},
            {test_changes_from_elsewhere}, {test_a_status_given_later},
            {test_an_error_of_a_moment}, {test_remove}, {test_many_at_once}, {test_large}, {test_dimacs},
            {test_dimacs_in_pieces},
            {test_the_rest_is_read_only}, {test_another_user_is_kept_out, NEEDS_ROOT}, {test_another_user_reads, NEEDS_ROOT},
            {test_statfs}, {test_closed_while_looked_at},
            {test_others_are_answered_while_cases_are_committed}, {test_renamed_while_it_is_committed})
