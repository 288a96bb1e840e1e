/* What other users of the machine see of a store and a mount: nothing, whatever the umask is; with allow_other the mount, to read. */
#include "tests/support/mount.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_reachable(void) /* the folders above us, which Check's are for us alone */
{
        assert_shell("d=\"$PWD\"; chmod a+x \"$d\" \"${d%%/*}\" \"${TMPDIR:-/tmp}\"");
}

/* Runs a shell command as a user who has nothing to do with us: its exit status, and shell_output. */
static int shell_as_nobody(const char *command)
{
        return shell(AS_NOBODY " sh -c '%s'", command);
}

/* Everything that a person does with a store, so that every kind of file is there. */
static void whole_story(void)
{
        unsigned id, slow;
        pid_t reader;

        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at(CELL "result", id), "sat\n");
        assert_content(at("mnt/tiny/head/seeds/7/cases/%u/result", id), "sat\n");
        assert_content(at("mnt/tiny/commits/broken/cases/%u/result", id), "unbuildable\n");
        assert_shell("solverfs run tiny HEAD %u --again && solverfs solver update tiny && echo '(check-sat)' >s.smt2 && solverfs "
                     "case add s.smt2",
                     id);
        assert_shell("sed '/variant/,$d' tiny.recipe >other.recipe && solverfs solver add other repo --recipe other.recipe");
        await(exists("mnt/other/head"));
        assert_content(at("mnt/other/head/cases/%u/result", id), "sat\n");
        slow = case_add("slow.smt2", "; do sleep 3000\n; do print sat\n"); /* and a scratch folder */
        reader = reader_start(at(CELL "result", slow), NULL);
        await(shell("find store/scratch -mindepth 1 | grep .") == 0);
        /* Nobody but us, and the users of runs who are in a group of their own, may do anything; nothing can be written but by us, and
         * what builds share with each other. */
        assert_shell("find store -mindepth 1 ! -type l -perm /007 ! -path 'store/work/*' ! -path 'store/scratch/*/*' "
                     "! -path 'store/programs/*' ! -path 'store/cases/*' -printf '%%m %%p\\n'");
        ck_assert_msg(shell_output[0] == '\0', "open to all: %s", shell_output);
        assert_shell("find store ! -type l -perm /022 ! -path 'store/work/*' ! -path 'store/scratch/*/*' -printf '%%m %%p\\n'");
        ck_assert_msg(shell_output[0] == '\0', "written by others: %s", shell_output);
        assert_shell(
                "find store -maxdepth 1 -perm /077 -printf '%%m %%p\\n'; find store -maxdepth 2 -type d ! -path 'store/cases/*' "
                "-perm /077 -printf '%%m %%p\\n'");
        ck_assert_msg(shell_output[0] == '\0', "folders that others may enter: %s", shell_output);
        if (geteuid() == 0) {
                /* Slots are everybody's, wherever they are. */
                assert_shell("find /run/solverfs -type f ! -path '*/slots/*' -perm /077 -printf '%%m %%p\\n'; find /run/solverfs -type d ! -name slots "
                             "-perm /022 -printf '%%m %%p\\n'");
                ck_assert_msg(shell_output[0] == '\0', "locks of others: %s", shell_output);
        }
        /* But what is taken out is as the umask has it. */
        assert_shell("(umask 027; solverfs build tiny HEAD --output taken) && [ \"$(stat -c %%a taken)\" = 750 ]");
        kill(reader, SIGKILL);
        process_wait(reader);
        assert_shell("solverfs -q fsck && solverfs -q gc && cat mnt/.solverfs/status");
}

START_TEST(test_umask_000)
{
        umask(0);
        world_make(NULL);
        whole_story();
        assert_shell("[ \"$(stat -c %%a store)\" = 700 ]");
        world_end();
}
END_TEST

START_TEST(test_umask_077)
{
        umask(077);
        world_make(NULL);
        whole_story();
        assert_shell("[ \"$(stat -c %%a store)\" = 700 ]");
        world_end();
}
END_TEST

START_TEST(test_umask_777)
{
        world_make(NULL);
        umask(0777); /* not even for us: only root can read what it has made so */
        whole_story();
        umask(022);
        world_end();
}
END_TEST

START_TEST(test_others_see_nothing)
{
        static const char *const commands[] = {
                "ls mnt",
                "cat mnt/README",
                "cat mnt/tiny/head/message",
                "cp /etc/hostname mnt/cases/x.smt2",
                "ls store",
                "cat store/config",
                "cat store/lmdb/data.mdb",
                "ls store/scratch",
                "solverfs --store store status",
        };
        unsigned id;

        make_reachable();
        world_make(NULL);
        command_for_others();
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at(CELL "result", id), "sat\n");
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                ck_assert_msg(shell_as_nobody(commands[i]) != 0, "%s: %s", commands[i], shell_output);
        ck_assert_int_eq(shell_as_nobody("cd /; \"$(command -v solverfs)\" doctor"), 1); /* it has no store, */
        ck_assert_msg(!strstr(shell_output, "stale"), "%s", shell_output);               /* and no word on ours */
        world_end();
}
END_TEST

START_TEST(test_allow_other)
{
        static const struct {
                const char *command, *says;
        } refused[] = {
                {"cp /etc/hostname mnt/cases/x.smt2", "Permission denied"},
                {"rm mnt/README", "Read-only|denied|not permitted"},
                {"echo x > mnt/tiny/config", "denied|Read-only"},
                {"mkdir mnt/x", "denied|Read-only"},
                {"cat store/config", "Permission denied"},
                {"solverfs unmount mnt", "was mounted by user 0"},
                {"solverfs unmount --lazy mnt", "was mounted by user 0"},
        };
        unsigned id;

        make_reachable();
        world_make(NULL);
        command_for_others();
        mount_start("mnt", "allow_other");
        id = case_add("a.smt2", "; do print sat\n");
        ck_assert_int_eq(shell_as_nobody(at("cat mnt/tiny/head/cases/%u/result", id)), 0); /* who may read may also start work */
        ck_assert_str_eq(shell_output, "sat\n");
        ck_assert_int_eq(shell_as_nobody("ls mnt/tiny/commits | wc -l && mnt/tiny/head/bin/tiny --version"), 0);
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
                ck_assert_msg(shell_as_nobody(refused[i].command) != 0, "%s", refused[i].command);
                write_whole("said", shell_output);
                assert_shell("grep -E '%s' said || { cat said; false; }", refused[i].says);
        }
        world_end();
}
END_TEST

MOUNT_SUITE("mount_private", {test_umask_000}, {test_umask_077}, {test_umask_777, NEEDS_ROOT}, {test_others_see_nothing, NEEDS_ROOT},
            {test_allow_other, NEEDS_ROOT})
