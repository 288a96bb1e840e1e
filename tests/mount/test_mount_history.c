/* Revisions (docs/tree.md, 5), builds that commits share, updates and snapshots under a living mount. */
#include "tests/support/mount.h"

static void assert_revision(const char *name, const char *revision)
{
        const char *sha = commit_sha(revision);
        cleanup_free char *target = NULL;

        for (int i = 0; i < 2; i++) { /* and once more, from the kernel's cache */
                target = read_link(at("mnt/tiny/commits/%s", name));
                ck_assert_msg(strcmp(target, sha) == 0, "%s is %s, not %s", name, target, sha);
                freep(&target);
                target = NULL;
        }
}

START_TEST(test_revisions)
{
        static const char *const names[] = {"HEAD",      "HEAD~3",        "HEAD^",     "HEAD^^", "HEAD~0", "v1",
                                            "v2.0",      "v2.0^{commit}", "v2.0~1",    "main",   "main~2", "merge^2",
                                            "merge^2~1", "merge~1",       "docs-only", "broken", "HEAD^0", ":(not)"};
        const char *sha;
        struct stat st;

        world_make(NULL);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++)
                assert_revision(names[i], names[i]);
        sha = commit_sha("HEAD~2");
        ck_assert_int_eq(lstat(at("mnt/tiny/commits/%s", sha), &st), 0);
        ck_assert(S_ISDIR(st.st_mode)); /* a full sha is the folder itself */
        assert_revision(at("%.12s", sha), "HEAD~2");
        assert_revision(at("%.39s", sha), "HEAD~2");
        ck_assert_int_eq(open_error(at("mnt/tiny/commits/%.3s/message", sha)), ENOENT);
        assert_content(at("mnt/tiny/commits/%.7s/message", sha), "Mend it\n");
        world_end();
}
END_TEST

START_TEST(test_no_revisions)
{
        static const char *const names[] = {"nosuch",
                                            "--help",
                                            "-1",
                                            "HEAD^{",
                                            "HEAD^{x}",
                                            "HEAD~",
                                            "HEAD~99",
                                            "HEAD^9",
                                            "@{upstream}",
                                            "..",
                                            "v1..v2.0",
                                            "^v1",
                                            "HEAD:",
                                            ":1",
                                            "deadbeef",
                                            "0000",
                                            "HEAD^{tree}",
                                            "v1:src",
                                            "\xff\xfe",
                                            " ",
                                            "*",
                                            "HEAD@{1 year ago}",
                                            "HEAD^{:x}",
                                            "a\nb",
                                            "HEAD~999999999999999999999",
                                            "FETCH_HEAD",
                                            "config"};
        char name[256];

        world_make(NULL);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                int error;

                if (strcmp(names[i], "..") == 0 || strcmp(names[i], "HEAD~") == 0)
                        continue; /* the folder above; git takes HEAD~ for HEAD~1 */
                error = open_error(at("mnt/tiny/commits/%s", names[i]));
                ck_assert_msg(error == ENOENT, "%s: %s", names[i], strerrorname_np(error));
                error = open_error(at("mnt/tiny/cached/%s", names[i]));
                ck_assert_msg(error == ENOENT, "cached %s: %s", names[i], strerrorname_np(error));
        }
        memset(name, 'a', 255);
        name[255] = '\0';
        ck_assert_int_eq(open_error(at("mnt/tiny/commits/%s", name)), ENOENT);
        world_end();
}
END_TEST

/* A thousand commits more, with texts that depend on nothing: some begin with the same four digits. */
START_TEST(test_ambiguous_prefix)
{
        FILE *f;
        const char *prefix;

        world_make(NULL);
        mount_start("mnt", NULL);
        f = popen("git -C repo fast-import --quiet", "we");
        ck_assert_ptr_nonnull(f);
        for (int i = 1; i <= 1000; i++)
                fprintf(f, "commit refs/heads/many\nmark :%d\ncommitter C <c@example.org> %d +0000\ndata 5\n%04d\n\n", i,
                        1500000000 + i, i);
        ck_assert_int_eq(pclose(f), 0);
        assert_shell("solverfs solver update tiny && git -C repo log --format=%%h --abbrev=4 --all --no-walk >/dev/null && "
                     "git -C repo rev-list many | cut -c 1-4 | sort | uniq -d | grep '[0-9]' | head -n 1 | tr -d '\\n'");
        prefix = at("%s", shell_output + strlen(shell_output) - 4);
        ck_assert_uint_eq(strspn(prefix, "0123456789abcdef"), 4);
        await(open_error(at("mnt/tiny/commits/%s", prefix)) == ENOTUNIQ); /* names that were not there may be kept for a second */
        ck_assert_int_eq(open_error(at("mnt/tiny/commits/%s/message", prefix)), ENOTUNIQ);
        assert_content("mnt/tiny/commits/many~500/message", "0500\n");
        assert_shell("ls mnt/tiny/commits | grep -v CACHEDIR | wc -l");
        ck_assert_int_eq(atoi(shell_output), COMMITS + 1000);
        world_end();
}
END_TEST

/* -- <solver>/cases/<case>/history.tsv -- */

#define HISTORY "mnt/tiny/cases/1/history.tsv"
#define PICTURE "mnt/tiny/cases/1/history.svg"

/* The commits in it, in order, as git abbreviates them by tag or distance; into shell_output. */
static void assert_rows(const char *file, const char *const *revisions, size_t n)
{
        cleanup_free char *text = content(file);
        char *rest, *line = strtok_r(text, "\n", &rest);

        ck_assert_str_eq(line, "commit\tdate\tresult\ttime\tcputime\tmemory\tanswer");
        for (size_t i = 0; i < n; i++) {
                line = strtok_r(NULL, "\n", &rest);
                ck_assert_msg(line && strncmp(line, commit_sha(revisions[i]), 40) == 0, "row %zu is not %s: %s", i, revisions[i],
                              line ? line : "none");
        }
        ck_assert_ptr_null(strtok_r(NULL, "\n", &rest));
}

START_TEST(test_history_of_a_case)
{
        static const char *const order[] = {"v1", "v2.0", "docs-only", "merge^2", "merge", "broken", "HEAD"};
        cleanup_free char *target = NULL, *before = NULL;
        struct mount *m;
        char held[4096];
        struct stat st, now;
        ssize_t n;
        int fd;

        world_make(NULL);
        assert_shell("printf '(set-info :status sat)\\n; do print sat\\n' >a.smt2 && solverfs case add a.smt2 && echo 'p cnf 1 "
                     "1' >b.cnf && "
                     "solverfs case add b.cnf");
        m = mount_start("mnt", NULL);
        before = content("mnt/.solverfs/stats");
        assert_shell("ls mnt/tiny/cases");
        ck_assert_str_eq(shell_output, "1\n"); /* it takes no DIMACS */
        target = read_link("mnt/tiny/cases/a.smt2");
        ck_assert_str_eq(target, "1");
        assert_rows(HISTORY, order, 0);
        assert_shell("for r in HEAD v1 merge^2 merge v2.0; do solverfs run -q tiny $r 1 || exit; done; solverfs run -q tiny "
                     "broken 1 || true");
        assert_rows(HISTORY, order, ARRAY_SIZE(order)); /* at once, and what another process did */
        assert_shell("cut -f 3,7 " HISTORY " | tail -n +2 | uniq -c | tr -s ' ' | tr '\\n\\t' ', '");
        ck_assert_str_eq(shell_output, " 5 sat correct, 1 unbuildable -, 1 sat correct,");
        assert_shell("tail -n 1 " HISTORY " | cut -f 4 | cmp - mnt/tiny/cached/HEAD/cases/1/time && "
                     "bash -c 'tail -n 1 " HISTORY " | cut -f 2 | sed s/T.*// | cmp - <(TZ=UTC git -C repo log -1 --format=%%cd "
                     "--date=format-local:%%Y-%%m-%%d)'");
        ck_assert_int_eq(stat(HISTORY, &st), 0);
        ck_assert_int_gt(st.st_mtime, time(NULL) - 600); /* of its newest fact, and none is of a commit's date */
        ck_assert_int_le(st.st_mtime, time(NULL));
        assert_shell("head -c 4 " PICTURE " && grep -c '<title>.*sat, ' " PICTURE " && stat -c %%Y " HISTORY " " PICTURE
                     " | uniq | wc -l");
        ck_assert_str_eq(shell_output, "<svg6\n1\n");
        assert_shell("cd mnt/tiny/cases/1 && grep -q '>seconds<' history.svg && grep -q '>megabytes<' memory-history.svg");
        fd = open(HISTORY, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        assert_shell("solverfs run -q tiny HEAD~1 1");
        assert_shell("grep -c sat " HISTORY);
        ck_assert_str_eq(shell_output, "7\n");
        n = read(fd, held, sizeof(held)); /* who has it open reads what it opened */
        ck_assert_int_eq(n, st.st_size);
        ck_assert_int_eq(fstat(fd, &now), 0);
        ck_assert_int_eq(now.st_size, st.st_size);
        close(fd);
        assert_shell("grep ^solverfs_asked_total mnt/.solverfs/stats");
        ck_assert_ptr_nonnull(strstr(before, shell_output)); /* nothing was asked for */
        mount_stop(m);
        mount_start("mnt", "cached");
        assert_shell("grep -c sat " HISTORY);
        ck_assert_str_eq(shell_output, "7\n");
        assert_shell("ls mnt/tiny/cases");
        ck_assert_str_eq(shell_output, "1\n"); /* a listing that nobody asked for before, behind a history that was worked out */
        assert_shell("solverfs run -q tiny HEAD~2 1");
        await(shell("test $(grep -c sat " HISTORY ") = 8") == 0);
        world_end();
}
END_TEST

/* -- a look at what is made of many facts -- */

static long prints(void)
{
        assert_shell("sed -n 's/^solverfs_prints_total //p' mnt/.solverfs/stats");
        return atol(shell_output);
}

/* The size and time of a file that nobody reads here. */
static struct stat looked_at(const char *file)
{
        struct stat st;

        ck_assert_msg(stat(file, &st) == 0, "%s: %s", file, strerror(errno));
        return st;
}

#define PAGES      "mnt/tiny/cases/1/* mnt/tiny/compare/*/* mnt/compare/*/* mnt/sets/one/compare/*/* mnt/tiny/report.html"
#define SUM        "awk '{ n += $1 } END { print n }'"
#define COMPARISON "mnt/tiny/compare/v1..v2.0/summary.tsv"
/* cached/ is there to be copied: a look prints what is below it. */
#define LOOK "find mnt -path 'mnt/*/cached' -prune -o -ls >looked"

START_TEST(test_a_look_prints_nothing)
{
        struct stat before, after;
        struct mount *m;
        long pages;

        world_make(NULL);
        assert_shell("printf '(set-info :status sat)\n; do print sat\n' >a.smt2 && solverfs case add -q a.smt2 && solverfs set add -q one all && "
                     "solverfs compare -q tiny@v1 tiny@v2.0 --one-seed && solverfs compare -q tiny@v1 tinier@v1 --one-seed && "
                     "solverfs compare -q tiny@v1 tiny@v2.0 --set one --one-seed && "
                     "solverfs history -q tiny 1 --known >known"); /* what tells commits of one build apart is kept: the first page has nothing to write */
        m = mount_start("mnt", NULL);
        assert_shell(LOOK " && du -a --exclude=cached mnt >>looked && stat " PAGES " | grep -c File:");
        pages = atol(shell_output);
        ck_assert_int_eq(pages, 3 + 3 * 8 + 1);
        ck_assert_int_eq(prints(), 0);
        ck_assert_int_eq(looked_at(HISTORY).st_size, 4096);
        before = looked_at(COMPARISON);
        assert_shell("cat " PAGES " >pages && cat " PAGES " | cmp - pages && wc -c <pages >size && stat -c %%s " PAGES " | " SUM " | cmp - size");
        ck_assert_int_eq(prints(), pages); /* each once, and from then on a look knows the size */
        after = looked_at(COMPARISON);
        ck_assert_int_le(after.st_mtime, before.st_mtime); /* never older than what it turns out to be */
        assert_shell("solverfs run -q tiny HEAD 1 && " LOOK);
        ck_assert_int_eq(prints(), pages);
        ck_assert_int_eq(looked_at(COMPARISON).st_size, after.st_size);
        before = looked_at(HISTORY);
        assert_shell("grep -c sat " HISTORY);
        ck_assert_str_eq(shell_output, "4\n"); /* two commits share a build */
        ck_assert_int_gt(looked_at(HISTORY).st_size, before.st_size);
        ck_assert_int_eq(prints(), pages + 1);
        mount_stop(m);
        mount_start("mnt", "cached"); /* nothing is opened there, as far as we are asked */
        ck_assert_int_ne(looked_at(HISTORY).st_size, 4096);
        assert_shell("stat -c %%s " PAGES " | " SUM " >size && cat " PAGES " | wc -c | cmp - size");
        world_end();
}
END_TEST

START_TEST(test_listings)
{
        cleanup_free char *target = NULL;

        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("git -C repo rev-list --all | sort >expected && ls mnt/tiny/commits | grep -v CACHEDIR.TAG | sort | cmp - "
                     "expected");
        assert_shell("cd mnt/tiny/tags && find . -type l | sort | tr '\\n' ' '");
        ck_assert_str_eq(shell_output, "./broken ./docs-only ./merge ./release/1.0 ./v1 ./v2.0 ");
        assert_shell("cd mnt/tiny/branches && find . -type l | sort | tr '\\n' ' '");
        ck_assert_str_eq(shell_output, "./feature/deep/x ./main ./topic/one ");
        assert_content("mnt/tiny/branches/feature/deep/x/message", "Tenth\n");
        assert_content("mnt/tiny/tags/release/1.0/message", "Mend it\n");
        assert_content("mnt/tiny/head/message", "Tenth\n");
        target = read_link("mnt/tiny/head");
        ck_assert_str_eq(target, at("commits/%s", commit_sha("HEAD")));
        freep(&target);
        target = read_link("mnt/tiny/tags/v2.0");
        ck_assert_str_eq(target, at("../commits/%s", commit_sha("v2.0")));
        freep(&target);
        target = read_link("mnt/tiny/branches/feature/deep/x");
        ck_assert_str_eq(target, at("../../../commits/%s", commit_sha("HEAD")));
        assert_shell("ls mnt");
        ck_assert_str_eq(shell_output, "README\ncases\ncompare\nportfolios\nsets\ntinier\ntiny\n");
        world_end();
}
END_TEST

/* -- builds that are shared -- */

START_TEST(test_a_documentation_commit_shares_the_build)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = at("environment = \"COUNT=%s\"\n", recipe_path("builds"))};
        unsigned id;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do count %s\n; do version\n; do print sat\n", absolute("runs"));
        assert_content(at("mnt/tiny/commits/v2.0/cases/%u/stdout", id), "version: 2\nsat\n");
        assert_content("mnt/tiny/commits/docs-only/build/status", "ok\n");
        assert_state("mnt/tiny/commits/docs-only/bin/tiny", "ready");
        assert_state(at("mnt/tiny/commits/docs-only/cases/%u/time", id), "ready");
        assert_shell("cmp mnt/tiny/commits/docs-only/cases/%u/time mnt/tiny/commits/v2.0/cases/%u/time", id, id);
        assert_shell("cmp mnt/tiny/commits/docs-only/bin/tiny mnt/tiny/commits/v2.0/bin/tiny");
        assert_content("builds", ".");
        assert_content("runs", ".");
        assert_content(at("mnt/tiny/commits/v1/cases/%u/stdout", id), "version: 1\nsat\n"); /* another is another */
        assert_content("builds", "..");
        world_end();
}
END_TEST

START_TEST(test_a_variant_shares_the_build)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = at("environment = \"COUNT=%s\"\n", recipe_path("builds"))};
        unsigned id;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do variant\n; do print sat\n");
        assert_content(at("mnt/tiny/head/cases/%u/stdout", id), "variant: none\nsat\n");
        assert_state("mnt/tinier/head/bin/tiny", "ready");
        assert_state(at("mnt/tinier/head/cases/%u/stdout", id), "cold"); /* a run of its own */
        assert_content(at("mnt/tinier/head/cases/%u/stdout", id), "variant: tinier\nsat\n");
        assert_shell("cmp mnt/tiny/head/bin/tiny mnt/tinier/head/bin/tiny");
        assert_content("builds", ".");
        world_end();
}
END_TEST

START_TEST(test_every_commit)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n; do version\n");
        assert_shell("for c in mnt/tiny/commits/*/; do cat $c/cases/%u/result; done | sort | uniq -c | tr -s ' '", id);
        ck_assert_str_eq(shell_output, " 9 sat\n 1 unbuildable\n");
        for (unsigned i = 1; i <= 10; i++) {
                static const char *const names[] = {"v1",    "v2.0",   "docs-only", "docs-only", "merge^2",
                                                    "merge", "broken", "broken",    "HEAD~1",    "HEAD"};

                if (i == 1 || i == 2 || i == 6 || i >= 9)
                        assert_content(at("mnt/tiny/commits/%s/cases/%u/stdout", names[i - 1], id), at("sat\nversion: %u\n", i));
        }
        assert_content(at("mnt/tiny/commits/merge^2/cases/%u/stdout", id), "sat\nversion: 5\n");
        assert_shell("ls mnt/tiny/cached | wc -l");
        ck_assert_int_eq(atoi(shell_output), COMMITS);
        world_end();
}
END_TEST

/* -- what changes under a mount -- */

#define GIT "git -c user.name=x -c user.email=x@example.org"

START_TEST(test_update)
{
        const char *old;

        world_make(NULL);
        mount_start("mnt", NULL);
        old = commit_sha("HEAD");
        assert_shell("ls mnt/tiny/commits mnt/tiny/tags; readlink mnt/tiny/head; cat mnt/tiny/commits/HEAD/message");
        assert_shell("cd repo && git reset -q --hard && echo 'version: 11' >src/version && " GIT
                     " commit -qam Eleventh && git tag v11");
        assert_content("mnt/tiny/commits/HEAD/message", "Tenth\n"); /* as of the last update */
        ck_assert(!exists("mnt/tiny/commits/v11"));
        assert_shell("solverfs solver update tiny");
        await(exists("mnt/tiny/commits/v11"));
        await(shell("grep -q Eleventh mnt/tiny/commits/HEAD/message mnt/tiny/head/message") == 0);
        assert_shell("ls mnt/tiny/commits | grep -v CACHE | wc -l && ls mnt/tiny/tags | grep v11");
        ck_assert_str_eq(shell_output, "11\nv11\n");
        assert_content(at("mnt/tiny/commits/%s/message", old), "Tenth\n");
        assert_content("mnt/tinier/head/message", "Eleventh\n");
        world_end();
}
END_TEST

/* Rewritten upstream: what was there once stays readable, and can still be built. */
START_TEST(test_rewritten_upstream)
{
        const char *old;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do version\n; do print sat\n");
        old = commit_sha("HEAD");
        assert_shell("cd repo && git reset -q --hard HEAD~5 && echo 'version: 77' >src/version && " GIT
                     " commit -qam Rewritten && "
                     "git branch -D feature/deep/x && git reflog expire --expire=now --all && git gc -q --prune=now");
        assert_shell("solverfs solver update tiny");
        await(shell("grep -q Rewritten mnt/tiny/commits/HEAD/message") == 0);
        assert_content(at("mnt/tiny/commits/%s/message", old), "Tenth\n");
        assert_content(at("mnt/tiny/commits/%s/cases/%u/stdout", old, id), "version: 10\nsat\n");
        assert_shell("ls mnt/tiny/commits | grep %s", old);
        await(!exists("mnt/tiny/branches/feature"));
        world_end();
}
END_TEST

START_TEST(test_snapshot)
{
        unsigned id;
        const char *sha;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do version\n; do print sat\n");
        assert_shell("cd repo && git reset -q --hard && echo 'version: mine' >src/version && git status --short >../before && cd "
                     ".. && "
                     "solverfs snapshot tiny repo | tee snapshot && git -C repo status --short | cmp - before");
        assert_shell("grep -oE '[0-9a-f]{40}' snapshot | head -n 1 | tr -d '\\n'");
        sha = at("%s", shell_output);
        ck_assert_uint_eq(strlen(sha), 40);
        await(exists(at("mnt/tiny/commits/%s", sha)));
        assert_content(at("mnt/tiny/commits/%s/cases/%u/stdout", sha, id), "version: mine\nsat\n");
        assert_shell("ls mnt/tiny/snapshots | wc -l && readlink mnt/tiny/snapshots/* && ls mnt/tiny/snapshots/*/cases");
        ck_assert_str_eq(shell_output, at("1\n../commits/%s\n%u\n", sha, id));
        assert_content(at("mnt/tiny/head/cases/%u/stdout", id), "version: 10\nsat\n");
        world_end();
}
END_TEST

START_TEST(test_a_solver_is_added)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("ls mnt && ! ls mnt/third");
        assert_shell("solverfs solver add third repo --recipe tiny.recipe || sed -i '/variant/,$d' tiny.recipe; "
                     "solverfs solver list | grep -q third || solverfs solver add third repo --recipe tiny.recipe");
        await(exists("mnt/third"));
        assert_shell("ls mnt | grep third && mnt/third/head/bin/tiny --version");
        ck_assert_int_eq(open_error("mnt/fourth/head/message"), ENOENT);
        assert_shell("sed -i '/variant/,$d' tiny.recipe && solverfs solver add fourth repo --recipe tiny.recipe && cat "
                     "mnt/fourth/head/message");
        assert_shell("solverfs solver remove fourth && ! cat mnt/fourth/head/message 2>&1 && ! ls -d mnt/fourth 2>&1");
        world_end();
}
END_TEST

/* It goes from the config, the mount and the lists; what it was doing ends. By the same recipe it finds what was measured. */
START_TEST(test_a_solver_is_removed)
{
        cleanup_free char *time = NULL;
        struct stat before, after;
        unsigned id, slow;
        pid_t reader, queued, command;

        world_make(&(struct world){.settings = "sandbox = none\ncores = 1\n", .recipe = "samples = 1\n"});
        world_expects("removed");
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        slow = case_add("slow.smt2", "; do pid %s\n; do wait %s\n; do print sat\n", absolute("pid"), absolute("go"));
        time = content(at(CELL "time", id));
        ck_assert_int_eq(stat(at(CELL "time", id), &before), 0);
        reader = reader_start(at(CELL "result", slow), "copy");
        await(exists("pid"));
        queued = reader_start(at("mnt/tiny/commits/v1/cases/%u/result", slow), "copy.2");
        command = shell_start("solverfs run tiny HEAD~1 %u", slow);
        await(counter("mnt", "jobs_queued") > 0 || shell("solverfs status | grep -q queued") == 0);
        ck_assert_int_eq(shell("solverfs solver remove tiny"), 1); /* it has a variant */
        ck_assert_ptr_nonnull(strstr(shell_output, "tinier is a variant of tiny"));
        ck_assert_int_eq(shell("solverfs solver remove nosuch tiny tinier"), 3);
        ck_assert(exists("mnt/tiny/config"));
        assert_shell("solverfs solver remove tiny tinier && ! grep -q tiny store/config");
        ck_assert_int_eq(process_wait(reader), ENOENT);
        ck_assert_int_eq(process_wait(queued), ENOENT);
        ck_assert_int_ne(process_wait(command), 0);
        await(!process_lives((pid_t)number("pid")));
        await(!exists("mnt/tiny") && shell("ls mnt | grep -q tini") == 1);
        ck_assert_int_eq(open_error(at(CELL "time", id)), ENOENT);
        assert_shell("solverfs solver list | { ! grep tiny; } && solverfs fsck");
        assert_shell("solverfs solver add tiny repo --recipe tiny.recipe");
        await(exists("mnt/tiny/head"));
        assert_content(at(CELL "time", id), time);
        ck_assert_int_eq(stat(at(CELL "time", id), &after), 0);
        ck_assert(after.st_ino == before.st_ino && after.st_mtime == before.st_mtime && after.st_size == before.st_size);
        assert_shell("solverfs solver remove tinier tiny && solverfs gc 2>&1 && [ ! -e store/repos/tiny.git ]");
        await(!exists("mnt/tiny"));
        world_end();
}
END_TEST

MOUNT_SUITE("mount_history", {test_revisions}, {test_no_revisions}, {test_ambiguous_prefix}, {test_listings},
            {test_a_documentation_commit_shares_the_build}, {test_a_variant_shares_the_build}, {test_every_commit}, {test_update},
            {test_history_of_a_case}, {test_a_look_prints_nothing}, {test_rewritten_upstream}, {test_snapshot}, {test_a_solver_is_added},
            {test_a_solver_is_removed})
