#include "tests/support/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cache/base/lock.h"
#include "core/history/history.h"
#include "tests/support/git_shell.h"
#include "tests/support/git_tree.h"

enum {
        COMMITS,
        OIDS,
        REFS,
        SOURCES
};
static const char *const store_tables[] = {"commits", "oids", "refs", "sources"};
static const struct history_tables tables = {COMMITS, OIDS, REFS, SOURCES};
static struct store *store;
static struct history *history;

static void open_history(void)
{
        assert_ok(store_open("store", store_tables, ARRAY_SIZE(store_tables), STORE_CREATE, &store));
        assert_ok(history_open(store, &tables, "repos", "x", 7, &history));
}

static void close_history(void)
{
        history = history_unref(history);
        store = store_close(store);
}

static uint32_t update(void)
{
        uint32_t fresh;

        assert_ok(history_update(history, NULL, false, NULL, &fresh));
        return fresh;
}

static uint32_t begin(const char *url)
{
        uint32_t fresh;

        assert_ok(make_dirs("repos", 0700));
        assert_ok(history_clone("repos", "x", url, HISTORY_SILENCE_NS, NULL));
        open_history();
        assert_ok(history_update(history, NULL, true, NULL, &fresh));
        return fresh;
}

static uint32_t resolve(const char *revision)
{
        uint32_t number = COMMIT_NONE;

        assert_ok(history_resolve(history, revision, &number));
        return number;
}

/* The revision is, for us, the commit that it is for git in `repository`. */
static void check_revision(const char *repository, const char *revision)
{
        char script[512], sha[256];
        struct commit c;

        snprintf(script, sizeof(script), "git -C %s rev-list -n 1 '%s' --", repository, revision);
        ask(script, sha);
        assert_ok(history_commit(history, resolve(revision), &c));
        ck_assert_msg(strcmp(git_oid_tostr_s(&c.oid), sha) == 0, "%s is %s, not %s", revision, git_oid_tostr_s(&c.oid), sha);
}

static void refuse_revision(const char *revision, int error)
{
        uint32_t number;
        int r = history_resolve(history, revision, &number);

        ck_assert_msg(r == -error, "'%.60s' gave %d: %s", revision, r, r < 0 ? error_message(r) : "");
}

/* A history with a merge, branches, tags of both kinds, a nested branch, a tag on a blob. */
static void make_repository(void)
{
        shell("git init -q -b main r; cd r; who='C <c@example.org> 17000000'; command git fast-import --quiet <<EOF\n"
              "commit refs/heads/main\nmark :1\ncommitter ${who}01 +0200\ndata 4\none\nM 644 inline src/a\ndata 2\n1\nM 644 "
              "inline doc/d\ndata 2\n1\n"
              "commit refs/heads/main\nmark :2\ncommitter ${who}02 +0200\ndata 4\ntwo\nM 644 inline doc/d\ndata 2\n2\n"
              "commit refs/heads/main\nmark :3\ncommitter ${who}03 +0200\ndata 6\nthree\nM 644 inline src/a\ndata 2\n3\n"
              "commit refs/heads/feature/x\nmark :4\ncommitter ${who}04 +0200\ndata 5\nside\nfrom :2\nM 644 inline src/b\ndata "
              "2\nb\n"
              "commit refs/heads/main\nmark :5\ncommitter ${who}05 +0200\ndata 6\nmerge\nfrom :3\nmerge :4\nM 644 inline "
              "src/b\ndata 2\nb\n"
              "blob\nmark :9\ndata 2\n4\n"
              "commit refs/heads/main\nmark :6\ncommitter ${who}06 +0200\ndata 5\nlast\nM 644 :9 src/a\n"
              "reset refs/tags/v1\nfrom :1\n\n"
              "tag v2\nfrom :3\ntagger ${who}07 +0200\ndata 10\nannotated\n\nEOF\ngit reset -q --hard; git tag blob $(git "
              "rev-parse HEAD:src/a)");
}

START_TEST(test_index_and_lookups)
{
        struct commit c, p;
        uint32_t *list;
        git_oid oids[10];
        size_t n;

        make_repository();
        ck_assert_uint_eq(begin("r"), 6);
        ck_assert_uint_eq(history_count(history), 6);
        ck_assert_int_eq(history_oids(history, 0, 10, oids), 6);
        for (uint32_t i = 0; i < 6; i++) {
                uint32_t number;

                assert_ok(history_number(history, &oids[i], &number));
                ck_assert_uint_eq(number, i);
                assert_ok(history_parents(history, i, &list, &n));
                for (size_t k = 0; k < n; k++)
                        ck_assert_uint_lt(list[k], i);
                free(list);
        }
        ck_assert_int_eq(history_oids(history, 4, 1, oids + 9), 1);
        ck_assert(git_oid_equal(&oids[9], &oids[4]));
        ck_assert_int_eq(history_oids(history, 6, 10, oids), 0);
        assert_ok(history_commit(history, resolve("HEAD"), &c));
        assert_ok(history_commit(history, c.first_parent, &p));
        ck_assert_int_gt(c.committed, p.committed);
        ck_assert_int_le(commit_mtime(&c), c.indexed);
        assert_ok(history_parents(history, c.first_parent, &list, &n)); /* the merge */
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(list[1], resolve("feature/x"));
        free(list);
        assert_ok(history_line(history, COMMIT_NONE, &list, &n));
        ck_assert_uint_eq(n, 5); /* the side commit is not on it */
        ck_assert_uint_eq(list[0], resolve("v1"));
        ck_assert_uint_eq(list[4], resolve("HEAD"));
        free(list);
        assert_error(history_commit(history, 6, &c), ENOENT);
        close_history();
}
END_TEST

/* -- the order of histories -- */

/* A history with branches of branches, merged in all ways; what is on `aside` never is. */
static void make_branches(void)
{
        shell("git init -q -b main r; cd r; "
              "c() { git commit -q --allow-empty -m $1; }; m() { git merge -q --no-ff -m merge $1; }; "
              "c 1; c 2; git checkout -q -b a; c a1; c a2; git checkout -q -b b; c b1; git checkout -q main; c 3; m a; "
              "git checkout -q b; c b2; git merge -q -m from-main main; c b3; git checkout -q main; c 4; "
              "git checkout -q -b aside; c x1; c x2; git checkout -q main; c 5; m b; c 6; git checkout -q a; c a3; git checkout "
              "-q main; m a; c 7");
}

/* All of `shas` (a line each) are in the order from *at on, whichever comes first, but the last one last. */
static void assert_next(const struct commit_order *o, uint32_t *at, FILE *shas, const char *last)
{
        uint32_t begin = *at;
        char line[64];

        while (fgets(line, sizeof(line), shas))
                (*at)++;
        rewind(shas);
        while (fgets(line, sizeof(line), shas)) {
                uint32_t number, i = begin;
                git_oid oid;

                git_oid_fromstrn(&oid, line, GIT_OID_HEXSZ);
                assert_ok(history_number(history, &oid, &number));
                while (i < *at && o->list[i] != number)
                        i++;
                ck_assert_msg(i < *at, "%.12s is not where it should be", line);
                if (last && strncmp(line, last, GIT_OID_HEXSZ) == 0)
                        ck_assert_uint_eq(i, *at - 1);
        }
}

START_TEST(test_order_of_a_merge)
{
        static const char *const oldest_first[] = {"v1", "v2~1", "v2", "feature/x", "main~1", "main"};
        cleanup(commit_order_unrefp) struct commit_order *o = NULL;

        make_repository(); /* and a branch that was never merged, begun before the others */
        shell("cd r && git branch other v1 && git checkout -q other && git commit -q --allow-empty -m other && git checkout -q "
              "main");
        begin("r");
        assert_ok(history_order(history, &o));
        ck_assert_uint_eq(o->n, 7);
        for (uint32_t i = 0; i < ARRAY_SIZE(oldest_first); i++)
                ck_assert_uint_eq(o->place[resolve(oldest_first[i])], i);
        ck_assert_uint_eq(o->place[resolve("other")], 6);
        for (uint32_t i = 0; i < o->n; i++)
                ck_assert_uint_eq(o->place[o->list[i]], i);
        close_history();
}
END_TEST

/* As git has it, for each pair; and for commits that come later. */
START_TEST(test_descendants)
{
        git_oid oids[64];
        uint32_t n;

        make_branches();
        begin("r");
        for (unsigned round = 0; round < 2; round++) {
                n = history_oids(history, 0, ARRAY_SIZE(oids), oids);
                ck_assert_uint_gt(n, 5);
                for (uint32_t a = 0; a < n; a++) {
                        char command[256], sha[64];
                        bool after[ARRAY_SIZE(oids)] = {false}, got;
                        uint32_t number;
                        FILE *f;

                        after[a] = true;
                        snprintf(command, sizeof(command), "cd r && git rev-list --all --ancestry-path ^%s >../after", git_oid_tostr_s(&oids[a]));
                        shell(command);
                        f = fopen("after", "re");
                        while (fgets(sha, sizeof(sha), f)) {
                                sha[GIT_OID_HEXSZ] = '\0';
                                number = resolve(sha);
                                after[number] = true;
                        }
                        fclose(f);
                        for (uint32_t c = 0; c < n; c++) {
                                assert_ok(history_descends(history, c, a, &got));
                                ck_assert_msg(got == after[c], "%u after %u", c, a);
                        }
                }
                if (round == 0) {
                        shell("cd r && git checkout -q HEAD~1 && git commit -q --allow-empty -m side && git branch side && git checkout -q main && "
                              "git merge -q -m merged side");
                        update();
                }
        }
        assert_error(history_descends(history, n, 0, &(bool){false}), ENOENT);
        close_history();
}
END_TEST

START_TEST(test_order)
{
        cleanup(commit_order_unrefp) struct commit_order *o = NULL, *again = NULL;
        char sha[64], before[64] = "", command[256];
        uint32_t at = 0;
        FILE *line, *shas;

        make_branches();
        begin("r");
        assert_ok(history_order(history, &o));
        ck_assert_uint_eq(o->n, history_count(history));
        shell("cd r && git rev-list --first-parent --reverse main >../line");
        line = fopen("line", "re");
        while (fgets(sha, sizeof(sha), line)) { /* what git says each step of the line brought */
                sha[GIT_OID_HEXSZ] = '\0';
                snprintf(command, sizeof(command), "cd r && git rev-list %s %s%s >../brought", sha, *before ? "^" : "", before);
                shell(command);
                shas = fopen("brought", "re");
                assert_next(o, &at, shas, sha);
                fclose(shas);
                strcpy(before, sha);
        }
        fclose(line);
        ck_assert_uint_eq(at, o->n - 2);
        shell("cd r && git rev-list main..aside >../brought");
        shas = fopen("brought", "re");
        assert_next(o, &at, shas, NULL);
        fclose(shas);
        ck_assert_uint_eq(at, o->n);
        ck_assert_uint_lt(o->list[at - 2], o->list[at - 1]);
        assert_ok(history_order(history, &again));
        ck_assert_ptr_eq(again, o); /* made once */
        commit_order_unref(again);
        shell("cd r && git commit -q --allow-empty -m 8");
        update();
        assert_ok(history_order(history, &again));
        ck_assert_uint_eq(again->n, o->n + 1);
        ck_assert_uint_eq(again->list[o->n - 2], resolve("HEAD"));
        close_history();
}
END_TEST

START_TEST(test_refs)
{
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        size_t i;

        make_repository();
        begin("r");
        assert_ok(history_refs(history, &l));
        ck_assert_uint_eq(l->n, 4); /* the tag on a blob is left out */
        i = ref_list_from(l, REF_BRANCH, "");
        ck_assert_str_eq(l->list[i].name, "feature/x");
        ck_assert_str_eq(l->list[i + 1].name, "main");
        ck_assert_uint_eq(l->list[i + 1].commit, resolve("HEAD"));
        ck_assert_uint_eq(l->head, resolve("HEAD"));
        i = ref_list_from(l, REF_TAG, "");
        ck_assert_str_eq(l->list[i].name, "v1");
        ck_assert_str_eq(l->list[i + 1].name, "v2");
        ck_assert_ptr_eq(ref_list_find(l, REF_TAG, "v2"), &l->list[i + 1]);
        ck_assert_uint_eq(l->list[i + 1].commit, resolve("main~2")); /* peeled */
        ck_assert_ptr_null(ref_list_find(l, REF_BRANCH, "v2"));
        ck_assert_ptr_null(ref_list_find(l, REF_TAG, "v"));
        ck_assert_ptr_null(ref_list_find(l, REF_TAG, "v3"));
        close_history();
}
END_TEST

START_TEST(test_revisions_are_git_s)
{
        static const char *const revisions[] = {
                "HEAD",       "@",       "main",   "v1",          "v2",     "feature/x", "refs/heads/main",
                "heads/main", "tags/v2", "HEAD~",  "HEAD~1^2",    "HEAD^0", "v2^{}",     "v2^{commit}",
                "HEAD~4",     "main^^",  ":/side", "HEAD^{/two}", "v2~1",   "main^{/m}",
        };
        char sha[256], script[64];

        make_repository();
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(revisions); i++)
                check_revision("r", revisions[i]);
        ask("git -C r rev-parse HEAD~2", sha);
        for (int n = 40; n >= 7; n--) {
                sha[n] = '\0';
                check_revision("r", sha);
        }
        for (char *p = sha; *p; p++)
                *p = (char)(*p >= 'a' ? *p - 32 : *p);
        check_revision("r", sha);
        ask("git -C r describe HEAD", sha); /* v2-3-g1234567 */
        check_revision("r", sha);
        ask("git -C r rev-parse v2", sha); /* the tag's own object */
        check_revision("r", sha);
        snprintf(script, sizeof(script), "%.12s", sha);
        check_revision("r", script);
        close_history();
}
END_TEST

/* HEAD is the newest branch when upstream's names none that is there, and HEAD~ is from there. */
START_TEST(test_head_of_no_branch)
{
        make_repository();
        shell("cd r; git symbolic-ref HEAD refs/heads/unborn; "
              "git tag hotfix $(GIT_COMMITTER_DATE='1900000000 +0000' command git commit-tree -p v1 -m hotfix 'v1^{tree}')");
        begin("r");
        ck_assert_uint_eq(resolve("HEAD"), resolve("main")); /* the newest tag is newer */
        ck_assert_uint_eq(resolve("HEAD~2"), resolve("main~2"));
        ck_assert_uint_eq(resolve("@^"), resolve("main^"));
        ck_assert_uint_eq(resolve("HEAD^{/two}"), resolve("main^{/two}"));
        close_history();
}
END_TEST

START_TEST(test_revisions_refused)
{
        cleanup_free char *longest = malloc(10001);
        char loose[256];

        memset(longest, 'a', 10000);
        longest[10000] = '\0';
        make_repository();
        ask("git -C r commit-tree -m loose 'HEAD^{tree}'", loose);
        begin("r");
        refuse_revision("", EINVAL);
        refuse_revision(longest, EINVAL);
        refuse_revision("nope", ENOENT);
        refuse_revision("--help", ENOENT);
        refuse_revision("HEAD~99", ENOENT);
        refuse_revision("HEAD^3", ENOENT);
        refuse_revision("HEAD^{/(}", EINVAL);
        refuse_revision("HEAD^{", EINVAL);
        refuse_revision("HEAD^{tree}", EINVAL);
        refuse_revision("HEAD:src/a", EINVAL);
        refuse_revision("HEAD~99999999999999999999", EINVAL);
        refuse_revision("blob", ENOENT); /* a tag, but on no commit */
        refuse_revision("v1..v2", ENOENT);
        refuse_revision("main@{1}", ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "keeps no reflog"));
        refuse_revision("main@{upstream}", ENOENT);
        refuse_revision("@{-1}", ENOENT);
        refuse_revision("abc", ENOENT); /* too short for a prefix */
        refuse_revision("0000000000000000000000000000000000000000", ENOENT);
        refuse_revision("00000000000000000000000000000000000000001", ENOENT);
        refuse_revision("\xff\xfe", ENOENT);
        refuse_revision("a\nb", ENOENT);
        refuse_revision("../../etc/passwd", EINVAL);
        refuse_revision(".", ENOENT);
        refuse_revision("^", EINVAL);
        refuse_revision(loose, ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "which no branch or tag led to"));
        close_history();
}
END_TEST

/* Whatever is written, it is an answer or an error. */
START_TEST(test_revisions_at_random)
{
        static const char *const pieces[] = {"HEAD", "main", "v1", "^",      "~",    "{",    "}", "@",     ":",  "/",
                                             "-",    "1",    "99", "commit", "^{",   "(",    "[", "*",     "\\", "..",
                                             "!",    "?",    " ",  "\x01",   "\xc3", "abcd", "g", "refs/", "-g"};

        make_repository();
        begin("r");
        srand(test_seed(1));
        for (int i = 0; i < 20000; i++) {
                char text[256] = "";
                uint32_t number;
                int r;

                for (int k = rand() % 8; k >= 0; k--)
                        strcat(text, pieces[(size_t)rand() % ARRAY_SIZE(pieces)]);
                r = history_resolve(history, text, &number);
                ck_assert_msg(r == 0 ? number < 6 : r == -ENOENT || r == -EINVAL || r == -ENOTUNIQ, "'%s' gave %d: %s", text, r,
                              error_message(r));
        }
        close_history();
}
END_TEST

START_TEST(test_names_like_hex)
{
        char sha[256], script[512];
        struct commit c;

        make_repository();
        ask("git -C r rev-parse v1", sha);
        sha[7] = '\0';
        snprintf(script, sizeof(script), "git -C r branch %s main 2>/dev/null; git -C r tag beef v1; git -C r branch beef main",
                 sha);
        shell(script);
        begin("r");
        ck_assert_uint_eq(resolve(sha), resolve("HEAD"));  /* a branch wins over a prefix */
        ck_assert_uint_eq(resolve("beef"), resolve("v1")); /* a tag over a branch */
        assert_ok(history_commit(history, resolve("v1"), &c));
        snprintf(script, sizeof(script), "git -C r update-ref refs/heads/%s main", git_oid_tostr_s(&c.oid));
        shell(script);
        update();
        ck_assert_uint_eq(resolve(git_oid_tostr_s(&c.oid)), resolve("v1")); /* but a full sha is a full sha */
        close_history();
}
END_TEST

/* 300 commits and four digits: some prefix has two. */
START_TEST(test_ambiguous_prefixes)
{
        git_oid oids[1000];
        unsigned ambiguous = 0;
        int n;

        shell("git init -q -b main r; cd r; (for i in $(seq 1000); do echo \"commit refs/heads/main\"; echo \"committer c <c> $i "
              "+0000\"; "
              "echo data 1; echo x; done) | command git fast-import --quiet");
        ck_assert_uint_eq(begin("r"), 1000);
        n = history_oids(history, 0, 1000, oids);
        ck_assert_int_eq(n, 1000);
        for (int i = 0; i < n; i++)
                for (size_t digits = 4; digits <= 5; digits++) {
                        char hex[GIT_OID_HEXSZ + 1];
                        uint32_t number, same = 0;
                        int r;

                        git_oid_tostr(hex, digits + 1, &oids[i]);
                        for (int k = 0; k < n; k++)
                                same += git_oid_ncmp(&oids[i], &oids[k], digits) == 0;
                        r = history_resolve(history, hex, &number);
                        ck_assert_int_eq(r, same > 1 ? -ENOTUNIQ : 0);
                        ck_assert(same > 1 || number == (uint32_t)i);
                        ambiguous += same > 1;
                }
        ck_assert_uint_gt(ambiguous, 0);
        close_history();
}
END_TEST

/* A blob's id begins as a commit's does: only commits count, as for git. */
START_TEST(test_prefix_that_a_blob_has_too)
{
        char text[32], script[128];
        struct commit c;
        git_oid blob;

        make_repository();
        begin("r");
        assert_ok(history_commit(history, resolve("HEAD"), &c));
        for (unsigned i = 0; i == 0 || git_oid_ncmp(&blob, &c.oid, 4) != 0; i++) {
                snprintf(text, sizeof(text), "%u", i);
                ck_assert_int_eq(git_odb_hash(&blob, text, strlen(text), GIT_OBJECT_BLOB), 0);
        }
        snprintf(script, sizeof(script), "for g in r repos/x.git; do printf %s | git -C $g hash-object -w --stdin; done >/dev/null", text);
        shell(script);
        snprintf(text, sizeof(text), "%.4s~1", git_oid_tostr_s(&c.oid));
        check_revision("r", text);
        snprintf(text, sizeof(text), "%.4s^1~99", git_oid_tostr_s(&c.oid));
        refuse_revision(text, ENOENT);
        close_history();
}
END_TEST

static void check_text(const char *revision, enum commit_text which, const char *expected)
{
        cleanup_buffer struct buffer b = {0};

        assert_ok(history_text(history, resolve(revision), which, &b));
        ck_assert_str_eq(b.data ?: "", expected);
}

START_TEST(test_texts)
{
        shell("git init -q -b main r; cd r; mkdir -p d; echo 1 > a; echo long-enough-text > d/b; ln -s a link; commit one; "
              "git mv d/b d/c; echo 2 > a; printf x > 'sp ace'; printf x > \"$(printf 'tab\\there\"q\\\\ \\303\\251')\"; rm "
              "link; echo f > link; commit two; "
              "GIT_AUTHOR_NAME='Jörg Ü' command git -c user.name=x commit -q --allow-empty -m 'subject\n' -m body; "
              "printf '' | git commit -q --allow-empty --allow-empty-message -F -; git rm -q a; commit gone");
        begin("r");
        check_text("HEAD~4", COMMIT_CHANGES, "A\ta\nA\td/b\nA\tlink\n");
        check_text("HEAD~3", COMMIT_CHANGES, "M\ta\nR100\td/b\td/c\nT\tlink\nA\tsp ace\nA\t\"tab\\there\\\"q\\\\ \\303\\251\"\n");
        check_text("HEAD~2", COMMIT_CHANGES, "");
        check_text("HEAD", COMMIT_CHANGES, "D\ta\n");
        check_text("HEAD~4", COMMIT_MESSAGE, "one\n");
        check_text("HEAD~1", COMMIT_MESSAGE, "");
        check_text("HEAD~4", COMMIT_AUTHOR, "A U Thor <author@example.org>\n");
        check_text("HEAD~2", COMMIT_AUTHOR, "Jörg Ü <author@example.org>\n");
        close_history();
}
END_TEST

/* A few objects that name 10^10 files, 10^12 folders, 300 folders in each other, paths of 450 MB in all. */
START_TEST(test_too_many_changes)
{
        static const char *const bombs[] = {"files", "folders", "deep", "names"};
        cleanup_buffer struct buffer b = {0};
        char sha[256], script[256];
        git_oid tree, trees[4];
        git_odb *odb;

        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        ask("git -C r rev-parse HEAD^{tree}", sha);
        git_oid_fromstr(&tree, sha);
        odb = open_objects("r");
        trees[0] = nest(odb, 1, 10, 10, tree);
        trees[1] = nest(odb, 1, 10, 12, write_tree(odb, "", "", 0, 0, &tree));
        trees[2] = nest(odb, 1, 1, 300, tree);
        trees[3] = nest(odb, 240, 13, 5, tree);
        git_odb_free(odb);
        for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
                snprintf(script, sizeof(script), "cd r; git branch %s $(git commit-tree %s -m x %s)", bombs[i], i == 0 ? "-p main" : "",
                         git_oid_tostr_s(&trees[i]));
                shell(script);
        }
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
                assert_error(history_text(history, resolve(bombs[i]), COMMIT_CHANGES, &b), EFBIG);
                check_text(bombs[i], COMMIT_MESSAGE, "x\n");
        }
        check_text("main", COMMIT_CHANGES, "A\ta\n");
        close_history();
}
END_TEST

/* Folders in each other whose path is longer than any system call takes: all is fetched, as another commit may have it at a shorter path. */
START_TEST(test_paths_that_are_too_long)
{
        char blob[256], script[512];
        git_oid oid, tree;
        git_odb *odb;

        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("r");
        ask("echo new | git -C r hash-object -w --stdin", blob);
        git_oid_fromstr(&oid, blob);
        odb = open_objects("r");
        tree = nest(odb, 200, 1, 300, write_tree(odb, "100644", "file", 0, 1, &oid));
        git_odb_free(odb);
        snprintf(script, sizeof(script), "cd r; git update-ref refs/heads/main $(git commit-tree -p main -m x %s)", git_oid_tostr_s(&tree));
        shell(script);
        ck_assert_uint_eq(update(), 1);
        snprintf(script, sizeof(script), "test $(git -C repos/x.git cat-file blob %s) = new", blob);
        shell(script);
        close_history();
}
END_TEST

START_TEST(test_dates)
{
        shell("git init -q -b main r; cd r; for d in '@0 +0000' '1700000000 -0330' '253402300800 +0000' '1700000000 +1400'; do "
              "GIT_COMMITTER_DATE=\"$d\" command git commit -q --allow-empty -m x 2>/dev/null || "
              "git commit -q --allow-empty -m x; done");
        begin("r");
        check_text("HEAD~3", COMMIT_DATE, "1970-01-01T00:00:00+00:00\n");
        check_text("HEAD~2", COMMIT_DATE, "2023-11-14T18:43:20-03:30\n");
        check_text("HEAD", COMMIT_DATE, "2023-11-15T12:13:20+14:00\n");
        close_history();
}
END_TEST

START_TEST(test_odd_commits)
{
        cleanup_buffer struct buffer subject = {0};
        struct commit c;

        /* far in the future, before the epoch, with bytes that are no text */
        shell("git init -q -b main r; cd r; (echo commit refs/heads/main; echo 'committer c <c> 99999999999 +0000'; echo data 2; "
              "printf '\\377x\\n'; "
              "echo commit refs/heads/main; printf 'author \\377\\376 <e> 1 +0000\\ncommitter c <c> 1 +0000\\n'; echo data 0; ) "
              "| "
              "command git fast-import --quiet");
        begin("r");
        assert_ok(history_commit(history, resolve("HEAD~1"), &c));
        ck_assert_int_eq(c.committed, 99999999999);
        ck_assert_int_eq(commit_mtime(&c), c.indexed);
        check_text("HEAD~1", COMMIT_MESSAGE, "\377x");
        check_text("HEAD~1", COMMIT_DATE, "5138-11-16T09:46:39+00:00\n");
        check_text("HEAD", COMMIT_AUTHOR, "\377\376 <e>\n");
        shell("cd r; git update-ref refs/heads/main $(printf '\n\nsubject\nmore\n' | git commit-tree -p main 'main^{tree}')");
        update();
        history_subject(history, resolve("HEAD"), &subject);
        ck_assert_str_eq(subject.data, "subject");
        buffer_done(&subject);
        subject = (struct buffer){0};
        shell("cd r; git update-ref refs/heads/main $(printf '\r\n  \nof Windows \r\nmore\r\n' | git commit-tree -p main 'main^{tree}')");
        update();
        history_subject(history, resolve("HEAD"), &subject);
        ck_assert_str_eq(subject.data, "of Windows");
        close_history();
}
END_TEST

START_TEST(test_sources)
{
        char *const src[] = {(char[]){"src"}, (char[]){"absent"}, NULL}, *const all[] = {NULL},
                    *const file[] = {(char[]){"src/a"}, NULL};
        struct digest one, two, three, *list;
        uint32_t n;

        make_repository();
        begin("r");
        assert_ok(history_source(history, resolve("v1"), src, &one));
        assert_ok(history_source(history, resolve("v1~0"), src, &two));
        ck_assert(digest_equal(&one, &two));
        assert_ok(history_source(history, resolve("main~3"), src, &two)); /* changed doc only */
        ck_assert(digest_equal(&one, &two));
        assert_ok(history_source(history, resolve("v2"), src, &three));
        ck_assert(!digest_equal(&one, &three));
        assert_ok(history_source(history, resolve("main~3"), all, &two));
        assert_ok(history_source(history, resolve("v1"), all, &three));
        ck_assert(!digest_equal(&two, &three));
        assert_ok(history_source(history, resolve("v1"), file, &three));
        ck_assert(!digest_equal(&one, &three));
        for (int again = 0; again < 2; again++) { /* worked out, and then kept */
                assert_ok(history_sources(history, src, &list, &n));
                ck_assert_uint_eq(n, 6);
                for (uint32_t i = 0; i < n; i++) {
                        assert_ok(history_source(history, i, src, &two));
                        ck_assert(digest_equal(&list[i], &two));
                }
                ck_assert(digest_equal(&list[resolve("v1")], &one));
                free(list);
        }
        shell("cd r; chmod +x src/a; commit mode");
        ck_assert_uint_eq(update(), 1);
        assert_ok(history_source(history, resolve("HEAD"), src, &one));
        assert_ok(history_source(history, resolve("HEAD~"), src, &two));
        ck_assert(!digest_equal(&one, &two)); /* a mode is a change */
        assert_ok(history_sources(history, src, &list, &n));
        ck_assert_uint_eq(n, 7);
        ck_assert(digest_equal(&list[6], &one));
        free(list);
        close_history();
}
END_TEST

/* Listings ask for all sources: what the disk has no room for must not end them. */
/* What is left out changes nothing, in the root, in a folder, and in a folder that is taken in. */
START_TEST(test_sources_left_out)
{
        static const struct {
                const char *change, *list[3];
                bool same;
        } asked[] = {
                {"doc/x", {":!doc"}, true},     {"src/in/x", {":!doc"}, false},     {"src/in/x", {":!src/in"}, true}, {"src/a", {":!src/in"}, false},
                {"doc/x", {"src", ":!src/in"}, true}, {"src/in/x", {"src", ":!src/in"}, true}, {"src/a", {"src", ":!src/in"}, false}, {"doc/x", {":!src", ":!doc"}, true},
                {"src/a", {"src", ":!src"}, true}, {"src/a", {"src/a", ":!src"}, true}, {"src/in/x", {"src/in", ":!src/i"}, false},
        };

        shell("git init -q -b main r && cd r && mkdir -p doc src/in && touch doc/x src/a src/in/x && git add . && git commit -q -m first");
        for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
                cleanup_free char *script = format_string("cd r && echo %zu >>%s && git commit -q -a -m change && git tag c%zu", i, asked[i].change, i);

                shell(script);
        }
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
                cleanup_free char *revision = format_string("c%zu", i), *parent = format_string("c%zu~1", i);
                char *list[4] = {NULL};
                struct digest before, behind;

                for (size_t k = 0; k < ARRAY_SIZE(asked[i].list) && asked[i].list[k]; k++)
                        list[k] = (char *)asked[i].list[k];
                assert_ok(history_source(history, resolve(revision), list, &behind));
                assert_ok(history_source(history, resolve(parent), list, &before));
                ck_assert_msg(digest_equal(&before, &behind) == asked[i].same, "%s with %s", asked[i].change, list[0]);
        }
        close_history();
}
END_TEST

START_TEST(test_sources_that_cannot_be_kept)
{
        char *const src[] = {(char[]){"src"}, NULL};
        struct rlimit before, none;
        struct digest one, *list;
        uint32_t n;

        make_repository();
        begin("r");
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
        signal(SIGXFSZ, SIG_IGN);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
        ck_assert_int_eq(store_set(store, REFS, slice_string("x"), slice_string("y")), -EFBIG); /* so it is */
        assert_ok(history_sources(history, src, &list, &n));
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_uint_eq(n, 6);
        for (uint32_t i = 0; i < n; i++) {
                assert_ok(history_source(history, i, src, &one));
                ck_assert(digest_equal(&list[i], &one));
        }
        free(list);
        close_history();
}
END_TEST

START_TEST(test_update)
{
        uint64_t generation;
        uint32_t first;

        make_repository();
        begin("r");
        generation = history_generation(history);
        first = resolve("HEAD");
        ck_assert_uint_eq(update(), 0);
        ck_assert_uint_eq(history_generation(history), generation); /* nothing new is no change */
        shell("cd r; echo 5 > src/a; commit more; git branch other; git tag v3");
        ck_assert_uint_eq(update(), 1);
        ck_assert_uint_ne(history_generation(history), generation);
        ck_assert_uint_eq(resolve("HEAD~"), first);
        ck_assert_uint_eq(resolve("other"), 6);
        ck_assert_uint_eq(resolve("v3"), 6);
        shell("git -C r tag v4 v1");
        generation = history_generation(history);
        ck_assert_uint_eq(update(), 0);
        ck_assert_uint_ne(history_generation(history), generation);
        shell("cd r; git checkout -qb next; git branch -D main");
        update();
        ck_assert_uint_eq(resolve("HEAD"), 6);
        ck_assert_uint_eq(resolve("next"), 6);
        refuse_revision("main", ENOENT);
        close_history();
        open_history(); /* it is all in the store */
        ck_assert_uint_eq(history_count(history), 7);
        ck_assert_uint_eq(resolve("HEAD"), 6);
        close_history();
}
END_TEST

START_TEST(test_upstream_loses_its_commits)
{
        uint32_t fresh, head;

        make_repository();
        begin("r");
        head = resolve("HEAD");
        shell("mv r/.git git; git init -q r");
        assert_error(history_update(history, NULL, false, NULL, &fresh), ENODATA);
        ck_assert_ptr_nonnull(strstr(error_message(-ENODATA), "no commits any more"));
        ck_assert_uint_eq(resolve("HEAD"), head);
        check_revision("git", "v2");
        shell("rm -rf r/.git; mv git r/.git");
        ck_assert_uint_eq(update(), 0);
        close_history();
}
END_TEST

void __lsan_disable(void);

START_TEST(test_malformed_commit)
{
        static const char *const who[] = {"A", "A <a@b 1700000000 +0000", "A <a@b> 99999999999999999999999 +0000", "A <a@b> Tue Nov 1 2011"};

#if defined(__SANITIZE_ADDRESS__)
        __lsan_disable(); /* libgit2 1.5 loses the commits that its walk cannot parse */
#endif
        make_repository();
        for (size_t i = 0; i < ARRAY_SIZE(who); i++) {
                cleanup_free char *script = format_string(
                        "rm -rf q; cp -r r q; cd q; printf 'tree %%s\nparent %%s\nauthor %s\ncommitter %s\n\nodd\n' $(git rev-parse main^{tree} main) | "
                        "git hash-object -t commit --literally -w --stdin >../odd; "
                        "git branch -f odd $(git commit-tree -p $(cat ../odd) -m next main^{tree})",
                        who[i], who[i]);
                char odd[256];
                uint32_t fresh;
                int r;

                shell(script);
                ask("cat odd", odd);
                for (int is_new = 0; is_new < 2; is_new++) { /* it came with the clone, or with an update */
                        shell("rm -rf repos store");
                        assert_ok(make_dirs("repos", 0700));
                        assert_ok(history_clone("repos", "x", is_new ? "r" : "q", HISTORY_SILENCE_NS, NULL));
                        open_history();
                        r = history_update(history, is_new ? "q" : NULL, !is_new, NULL, &fresh);
                        ck_assert_int_eq(r, -EIO);
                        ck_assert_msg(strstr(error_message(r), odd) && !strstr(error_message(r), "shallow"), "%s: %s", who[i], error_message(r));
                        close_history();
                }
        }
}
END_TEST

/* What upstream rewrote or deleted stays readable, also after a `git gc` in the store. */
START_TEST(test_rewritten_upstream)
{
        char old[256];

        make_repository();
        begin("r");
        ask("git -C r rev-parse HEAD", old);
        shell("cd r; git reset -q --hard HEAD~2; echo other > src/a; commit other; git branch -D feature/x; git tag -d v1; git "
              "tag -f v2 HEAD >/dev/null; "
              "git reflog expire --expire=now --all; git gc -q --prune=now");
        ck_assert_uint_eq(update(), 1);
        shell("git --git-dir=repos/x.git -c gc.pruneExpire=now gc -q --prune=now");
        ck_assert_uint_eq(history_count(history), 7);
        check_revision("r", "main");
        check_text(old, COMMIT_MESSAGE, "last\n");
        check_text(old, COMMIT_CHANGES, "M\tsrc/a\n");
        ck_assert_uint_eq(update(), 0);
        refuse_revision("feature/x", ENOENT);
        close_history();
}
END_TEST

/* So does what only a HEAD on no branch held. */
START_TEST(test_detached_head_moves_on)
{
        char old[256];

        shell("git init -q -b main r; cd r; echo 1 > f; commit one; git checkout -q --detach; echo 2 > f; commit two");
        begin("r");
        ask("git -C r rev-parse HEAD", old);
        shell("cd r; git checkout -q main");
        ck_assert_uint_eq(update(), 0);
        shell("git --git-dir=repos/x.git -c gc.pruneExpire=now gc -q --prune=now");
        check_text(old, COMMIT_MESSAGE, "two\n");
        shell("cd r; git checkout -q --detach; echo 3 > f; commit three; git branch -f main");
        ck_assert_uint_eq(update(), 1);
        shell("cd r; git checkout -q main; [ $(git --git-dir=../repos/x.git for-each-ref refs/solverfs | wc -l) = 1 ]");
        ck_assert_uint_eq(update(), 0);
        shell("[ $(git --git-dir=repos/x.git for-each-ref refs/solverfs | wc -l) = 1 ]"); /* nothing else needs one */
        close_history();
}
END_TEST

/* A port of this machine for a server. */
static int bind_port(struct sockaddr_in *ret)
{
        socklen_t size = sizeof(*ret);
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        ck_assert_int_eq(bind(s, (struct sockaddr *)ret, size), 0);
        ck_assert_int_eq(getsockname(s, (struct sockaddr *)ret, &size), 0);
        return s;
}

/* git's own server for the folder that we are in; 0: there is none. It dies with the test. */
static pid_t serve(char ret_url[64])
{
        struct sockaddr_in address;
        char program[256], port[32], base[PATH_SIZE + 16];
        int s;
        pid_t pid;

        ask("echo $(git --exec-path)/git-daemon", program);
        if (access(program, X_OK) < 0)
                return 0;
        s = bind_port(&address);
        close(s);
        snprintf(port, sizeof(port), "--port=%u", ntohs(address.sin_port));
        snprintf(ret_url, 64, "git://127.0.0.1:%u/r", ntohs(address.sin_port));
        strcpy(base, "--base-path=");
        ck_assert_ptr_nonnull(getcwd(base + strlen(base), PATH_SIZE));
        pid = fork();
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                execl(program, program, "--listen=127.0.0.1", port, "--reuseaddr", "--export-all", base, NULL);
                _exit(127);
        }
        for (int i = 0, connected = -1; connected < 0; i++) {
                ck_assert_int_lt(i, 20000);
                usleep(1000);
                s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                connected = connect(s, (struct sockaddr *)&address, sizeof(address));
                close(s);
        }
        return pid;
}

static void check_clone_fails(const char *url, int error, const char *words)
{
        int r = history_clone("repos", "y", url, HISTORY_SILENCE_NS, NULL);

        ck_assert_msg(r == -error, "%s: %d: %s", url, r, r < 0 ? error_message(r) : "");
        ck_assert_msg(strstr(error_message(r), words) != NULL, "%s: %s", url, error_message(r));
        ck_assert_int_eq(access("repos/y.git", F_OK), -1);
        ck_assert_int_eq(access("repos/y.part", F_OK), -1);
}

START_TEST(test_over_the_network)
{
        char url[64];
        uint32_t tip;
        pid_t pid;

        make_repository();
        pid = serve(url);
        if (pid == 0)
                return;
        begin(url);
        ck_assert_uint_eq(history_count(history), 6);
        check_revision("r", "HEAD");
        check_revision("r", "v2");
        check_revision("r", "feature/x");
        ck_assert_uint_eq(update(), 0);
        shell("cd r; git reset -q --hard HEAD~; echo 5 > src/a; commit other; git branch -D feature/x; git branch feature");
        ck_assert_uint_eq(update(), 1);
        check_revision("r", "main");
        check_revision("r", "feature");
        refuse_revision("feature/x", ENOENT);
        tip = resolve("main");
        shell("cd r; git checkout -q --detach; echo 6 > src/a; commit alone"); /* no branch's, as in the middle of a rebase */
        ck_assert_uint_eq(update(), 0);
        ck_assert_uint_eq(resolve("HEAD"), tip);
        assert_ok(history_clone("repos", "y", url, HISTORY_SILENCE_NS, NULL));
        shell("cd r; git checkout -q --detach HEAD~2");
        update();
        ck_assert_uint_eq(resolve("HEAD"), resolve("main~1"));
        tip = resolve("HEAD");
        shell("rm -rf repos/y.git r/.git; git init -q r");
        assert_error(history_update(history, NULL, false, NULL, &(uint32_t){0}), ENODATA);
        ck_assert_uint_eq(resolve("HEAD"), tip);
        check_clone_fails(url, ENODATA, "has no commits");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close_history();
}
END_TEST

START_TEST(test_submodule_branch_becomes_a_folder)
{
        char url[64], was[256];
        pid_t pid;

        make_repository();
        pid = serve(url);
        if (pid == 0)
                return;
        begin(url);
        shell("cd r; git checkout -q -b release; echo 7 > src/a; commit released; git rev-parse HEAD > ../was; git tag once");
        assert_ok(history_fetch_submodule(history, "sub", url, NULL));
        shell("cd r; git checkout -q main; git branch -D release; git branch release/1.0; git tag -d once");
        assert_ok(history_fetch_submodule(history, "sub", url, NULL));
        shell("cd repos/x.git; git for-each-ref refs/submodules > ../../refs; ! grep -qE 'heads/release$|once' ../../refs; grep -q heads/release/1.0 ../../refs; "
              "git gc -q");
        assert_ok(history_fetch_submodule(history, "sub", url, NULL));
        ask("cat was", was);
        ck_assert(history_holds(history, was));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close_history();
}
END_TEST

/* -- servers that say nothing, or nothing more ---------------------------------------------------------------------- */

/* Passes on `most` bytes of the server and all of the client's, unless one of them goes before. */
static void relay(int client, int server, size_t most)
{
        struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
        char bytes[4096];

        while (most > 0 && poll(ends, 2, -1) > 0) {
                for (int i = 0; i < 2; i++) {
                        ssize_t n = ends[i].revents ? read(ends[i].fd, bytes, i == 0 ? sizeof(bytes) : MIN(sizeof(bytes), most)) : 0;

                        if (ends[i].revents && n <= 0)
                                return;
                        if (n > 0 && write_all(ends[1 - i].fd, bytes, (size_t)n) < 0)
                                return;
                        most -= i == 1 ? (size_t)n : 0;
                }
        }
}

static int connect_to(unsigned port)
{
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return connect(s, (struct sockaddr *)&address, sizeof(address)) == 0 ? s : -1;
}

/* A server that passes on the first `most` bytes of the one at port `behind`, then keeps the connection and says nothing. It dies with the test. */
static pid_t serve_little(unsigned behind, size_t most, unsigned *ret_port)
{
        struct sockaddr_in address;
        int s = bind_port(&address);
        pid_t pid;

        ck_assert_int_eq(listen(s, 8), 0);
        *ret_port = ntohs(address.sin_port);
        pid = fork();
        for (int client; pid == 0 && (client = accept(s, NULL, NULL)) >= 0;) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (most > 0)
                        relay(client, connect_to(behind), most); /* the client's end stays open */
        }
        if (pid == 0)
                _exit(1);
        close(s);
        return pid;
}

static void end_server(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

static const char *const schemes[] = {"git://", "http://", "https://", "ssh://git@"};

/* Of the server at that port. */
static void write_url(const char *scheme, unsigned port, char ret[64])
{
        snprintf(ret, 64, "%s127.0.0.1:%u/r", scheme, port);
}

static void check_nothing_is_left(void)
{
        shell("test -z \"$(ls repos | grep -v lock)\"");
}

START_TEST(test_silent_server)
{
        unsigned port;
        pid_t pid = serve_little(0, 0, &port);

        assert_ok(make_dirs("repos", 0700));
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
                char url[64];
                int r;

                write_url(schemes[i], port, url);
                r = history_clone("repos", "x", url, NSEC_PER_SEC, NULL);
                ck_assert_msg(r == -ETIMEDOUT, "%s: %d: %s", url, r, error_message(r));
                ck_assert_msg(strstr(error_message(r), url) && strstr(error_message(r), "nothing came from the server for 1 s"), "%s", error_message(r));
                check_nothing_is_left();
        }
        end_server(pid);
}
END_TEST

static bool stop_when_connecting(void *user)
{
        return (*(int *)user)++ > 2;
}

/* Well before the minute after which the server would be given up. */
START_TEST(test_interrupted_while_a_server_is_silent)
{
        unsigned port;
        pid_t pid = serve_little(0, 0, &port);

        assert_ok(make_dirs("repos", 0700));
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
                char url[64];
                int asked = 0;
                struct progress p = {.stop = stop_when_connecting, .user = &asked};

                write_url(schemes[i], port, url);
                assert_error(history_clone("repos", "x", url, HISTORY_SILENCE_NS, &p), ECANCELED);
                check_nothing_is_left();
        }
        end_server(pid);
}
END_TEST

/* The one who waits behind it can be interrupted, too, and has the lock when the other was killed. */
START_TEST(test_killed_while_a_server_is_silent)
{
        char url[64];
        unsigned port;
        pid_t pid = serve_little(0, 0, &port), clone;
        int asked = 0;
        struct progress p = {.stop = stop_when_connecting, .user = &asked};

        make_repository();
        write_url(schemes[0], port, url);
        assert_ok(make_dirs("repos", 0700));
        clone = fork();
        if (clone == 0)
                _exit(history_clone("repos", "x", url, HISTORY_SILENCE_NS, NULL) < 0);
        while (access("repos/x.part/config", F_OK) < 0)
                usleep(1000);
        assert_error(history_clone("repos", "x", "r", HISTORY_SILENCE_NS, &p), ECANCELED);
        end_server(clone);
        ck_assert_uint_eq(begin("r"), 6);
        close_history();
        end_server(pid);
}
END_TEST

static void set_origin(unsigned port)
{
        char script[128];

        snprintf(script, sizeof(script), "git --git-dir=repos/x.git config remote.origin.url git://127.0.0.1:%u/r", port);
        shell(script);
}

/* In the middle of a pack. What is there stays as it was, nothing is left of the rest, and the next update gets all. */
START_TEST(test_server_that_stops)
{
        char url[64];
        unsigned good, bad;
        uint32_t fresh;
        pid_t daemon, pid;
        int r;

        make_repository();
        daemon = serve(url);
        if (daemon == 0)
                return;
        good = (unsigned)atoi(strrchr(url, ':') + 1);
        pid = serve_little(good, 300000, &bad);
        begin(url);
        shell("cd r; head -c 1000000 /dev/urandom > big; commit big; git branch fresh; git branch -D feature/x");
        set_origin(bad);
        history_set_silence(history, NSEC_PER_SEC);
        shell("cd repos/x.git; { find . -type f | sort; cat HEAD; git for-each-ref; } > ../../before");
        r = history_update(history, NULL, false, NULL, &fresh);
        ck_assert_msg(r == -ETIMEDOUT, "%d: %s", r, error_message(r));
        ck_assert_uint_eq(history_count(history), 6);
        shell("cd repos/x.git; { find . -type f | sort; cat HEAD; git for-each-ref; } > ../../after; cmp ../../before ../../after; git fsck --strict");
        set_origin(good);
        ck_assert_uint_eq(update(), 1);
        check_revision("r", "fresh");
        refuse_revision("feature/x", ENOENT);
        close_history();
        end_server(pid);
        end_server(daemon);
}
END_TEST

START_TEST(test_branch_becomes_folder)
{
        shell("git init -q -b a r; cd r; echo 1 > f; commit one");
        begin("r");
        shell("cd r; git branch -m a a/b; git checkout -qb c; git branch a/d");
        update();
        check_revision("r", "a/b");
        shell("cd r; git branch -D a/b a/d; git branch a");
        update();
        check_revision("r", "a");
        close_history();
}
END_TEST

START_TEST(test_clone_sources_that_do_not_work)
{
        make_repository();
        assert_ok(make_dirs("plain", 0700));
        assert_ok(make_dirs("repos", 0700));
        assert_ok(write_file_atomic("file", "x", 1, 0600));
        shell("git init -q empty; git init -q --bare bare-empty; git clone -q --no-local --depth 1 r shallow; "
              "cp -r r nohead; rm nohead/.git/HEAD; true");
        check_clone_fails("absent", ENOENT, "there is no repository at absent");
        check_clone_fails("plain", EINVAL, "is not a git repository");
        check_clone_fails("file", ENOTDIR, "cannot read the repository");
        check_clone_fails("nohead", EINVAL, "is not a git repository");
        check_clone_fails("empty", ENODATA, "has no commits yet");
        check_clone_fails("bare-empty", ENODATA, "has no commits yet");
        check_clone_fails("shallow", EINVAL, "fetch --unshallow");
        check_clone_fails("http://127.0.0.1:1/x.git", EIO, "cannot fetch from http://127.0.0.1:1/x.git");
        check_clone_fails("nosuch://x/y", EINVAL, "cannot fetch by 'nosuch': use https");
}
END_TEST

/* Damage shows when it is read: as an error that says where, never as a crash. */
START_TEST(test_damaged_repository)
{
        cleanup_buffer struct buffer b = {0};
        uint32_t number;
        int r;

        make_repository();
        begin("r");
        number = resolve("HEAD");
        shell("git -C repos/x.git repack -qad 2>/dev/null || true; chmod -R u+w repos/x.git; "
              "for f in repos/x.git/objects/[0-9a-f]*/* repos/x.git/objects/pack/*.pack; do [ -f $f ] && "
              "dd if=/dev/zero of=$f bs=1 seek=12 count=200 conv=notrunc status=none; done; true");
        r = history_text(history, number, COMMIT_CHANGES, &b);
        ck_assert_msg(r == -EIO, "%d", r);
        ck_assert_ptr_nonnull(strstr(error_message(r), "damaged"));
        shell("rm -rf repos/x.git/objects/pack/* repos/x.git/objects/[0-9a-f][0-9a-f]");
        history_unref(history);
        assert_ok(history_open(store, &tables, "repos", "x", 7, &history));
        r = history_text(history, number, COMMIT_MESSAGE, &b);
        ck_assert_msg(r == -ESTALE, "%d", r);
        ck_assert_ptr_nonnull(strstr(error_message(r), "has lost commit"));
        close_history();
        shell("rm -rf repos/x.git");
        assert_ok(store_open("store", store_tables, ARRAY_SIZE(store_tables), 0, &store));
        assert_error(history_open(store, &tables, "repos", "x", 7, &history), ENOENT);
        store_close(store);
}
END_TEST

/* An update goes on beside it; a revision whose way leads through it says so, and how to get it back. */
START_TEST(test_lost_commit)
{
        make_repository();
        begin("r");
        shell("cd repos/x.git; mv objects/pack ../../pack; for p in ../../pack/*.pack; do [ ! -e $p ] || git unpack-objects -q < $p; done; "
              "rm objects/$(git rev-parse main~1 | sed 's,^..,&/,')");
        history_unref(history);
        assert_ok(history_open(store, &tables, "repos", "x", 7, &history));
        ck_assert_uint_eq(update(), 0);
        refuse_revision("main~2", ESTALE);
        ck_assert_ptr_nonnull(strstr(error_message(-ESTALE), "'git fetch --refetch' twice in repos/x.git"));
        refuse_revision("v1~1", ENOENT); /* there is none */
        shell("cd repos/x.git; git fetch -q --refetch; git fetch -q --refetch"); /* the first gets new refs only */
        check_revision("r", "main~2");
        close_history();
}
END_TEST

START_TEST(test_clone_sources_that_work)
{
        cleanup_buffer struct buffer escaped = {0};
        char path[PATH_SIZE], url[3 * PATH_SIZE + 32];
        static const char *const paths[] = {"r", "r/.git", "bare", "shared", "worktree", "with space", "50%41", "linked"};
        static const char *const urls[] = {"r", "with%20space", "with space", "50%2541"};

        make_repository();
        shell("git clone -q --bare r bare; git -C bare repack -qad; git clone -q --shared r shared; git -C r worktree add -q "
              "../worktree v1; "
              "cp -r r 'with space'; cp -r r 50%41; ln -s r linked");
        ck_assert_ptr_nonnull(getcwd(path, sizeof(path)));
        buffer_add_url_path(&escaped, path);
        for (size_t i = 0; i < ARRAY_SIZE(paths) + ARRAY_SIZE(urls); i++) {
                uint32_t n;

                if (i < ARRAY_SIZE(paths))
                        snprintf(url, sizeof(url), "%s", paths[i]);
                else
                        snprintf(url, sizeof(url), "file://%s/%s", escaped.data, urls[i - ARRAY_SIZE(paths)]);
                n = begin(url);
                ck_assert_msg(n == 6, "%s: %u", url, n);
                shell("git --git-dir=repos/x.git fsck --strict 2>&1 | grep -v -E '^(dangling|notice)' || true; git "
                      "--git-dir=repos/x.git rev-list --objects --all >list");
                close_history();
                shell("rm -rf repos store");
        }
        assert_ok(make_dirs("repos", 0700));
        assert_ok(history_clone("repos", "x", "r", HISTORY_SILENCE_NS, NULL));
        assert_error(history_clone("repos", "x", "r", HISTORY_SILENCE_NS, NULL), EEXIST);
}
END_TEST

static bool stop_soon(void *user)
{
        return (*(int *)user)-- <= 0;
}

/* Stopped at any step, a clone leaves nothing, and an index that can be gone on from. */
START_TEST(test_stopped)
{
        int left, stopped = 0, r = -ECANCELED;
        struct progress p = {.stop = stop_soon, .user = &left};
        uint32_t n;

        make_repository();
        assert_ok(make_dirs("repos", 0700));
        for (int steps = 0; r < 0; steps++) {
                left = steps;
                r = history_clone("repos", "x", "r", HISTORY_SILENCE_NS, &p);
                ck_assert(r == 0 || r == -ECANCELED);
                shell(r < 0 ? "test ! -e repos/x.git -a ! -e repos/x.part" : "true");
        }
        open_history();
        for (int steps = 0; (left = steps, r = history_update(history, NULL, false, &p, &n)) < 0; steps++) {
                ck_assert_int_eq(r, -ECANCELED);
                stopped++;
        }
        ck_assert_int_gt(stopped, 0);
        ck_assert_uint_eq(history_count(history), 6);
        close_history();
}
END_TEST

/* A repository may be another's: nothing of it is run, neither hook nor filter, and links in it lead nowhere. */
START_TEST(test_foreign_repository)
{
        make_repository();
        assert_ok(write_file_atomic("secret", "x", 1, 0600));
        shell("cd r; printf '#!/bin/sh\\ntouch ../ran' > .git/hooks/post-checkout; chmod +x .git/hooks/*; "
              "for h in pre-upload-pack update post-update reference-transaction; do cp .git/hooks/post-checkout .git/hooks/$h; "
              "done; "
              "git config uploadpack.packObjectsHook 'touch ../ran; git'; git config core.fsmonitor 'touch ../ran'; "
              "ln -s ../../../secret .git/objects/00; mkdir -p .git/objects/01; ln -s ../../../../secret "
              ".git/objects/01/00000000000000000000000000000000000000; "
              "[ $(id -u) != 0 ] || chown -R 12345:12345 .");
        ck_assert_uint_eq(begin("r"), 6);
        ck_assert_int_eq(access("ran", F_OK), -1);
        ck_assert_int_eq(access("r/ran", F_OK), -1);
        ck_assert_int_eq(access("repos/x.git/objects/01/00000000000000000000000000000000000000", F_OK), -1);
        ck_assert_int_eq(access("repos/x.git/hooks/post-checkout", F_OK), -1);
        close_history();
}
END_TEST

START_TEST(test_odd_ref_names)
{
        make_repository();
        shell("cd r; git branch 'a;b' ; git branch \"$(printf 'caf\\303\\251')\"; git branch 'quote\"x'; git branch -- 'x=y'; "
              "s=$(git rev-parse HEAD); printf $s > \"$(printf '.git/refs/heads/new\\nline')\"; printf $s > "
              "'.git/refs/heads/x..y'; "
              "printf $s > '.git/refs/heads/bad~name'; printf garbage > .git/refs/heads/broken; "
              "printf 'ref: refs/heads/nowhere\\n' > .git/refs/heads/dangling; ln -s /etc/passwd .git/refs/heads/link");
        ck_assert_uint_eq(begin("r"), 6);
        check_revision("r", "a;b");
        check_revision("r", "caf\303\251");
        check_revision("r", "quote\"x");
        refuse_revision("x..y", ENOENT);
        close_history();
}
END_TEST

/* Indexing that is killed at any time goes on where it was. */
START_TEST(test_killed_index)
{
        uint32_t fresh;

        shell("git init -q -b main r; cd r; (for i in $(seq 9000); do echo \"commit refs/heads/main\"; echo \"committer c <c> $i "
              "+0000\"; "
              "echo data 1; echo x; done) | command git fast-import --quiet");
        assert_ok(make_dirs("repos", 0700));
        assert_ok(history_clone("repos", "x", "r", HISTORY_SILENCE_NS, NULL));
        for (int i = 0; i < 6; i++) {
                pid_t pid = fork();

                if (pid == 0) {
                        open_history();
                        history_update(history, NULL, true, NULL, &fresh);
                        _exit(0);
                }
                usleep(10000 * (useconds_t)i);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
        }
        open_history();
        assert_ok(history_update(history, NULL, true, NULL, &fresh));
        ck_assert_uint_eq(history_count(history), 9000);
        for (uint32_t i = 0; i < 9000; i += 100) {
                struct commit c;

                assert_ok(history_commit(history, i, &c));
                ck_assert_int_eq(c.committed, (int64_t)i + 1);
        }
        close_history();
}
END_TEST

START_TEST(test_killed_clone_leaves_nothing_in_the_way)
{
        make_repository();
        assert_ok(make_dirs("repos/x.part/objects", 0700));
        assert_ok(write_file_atomic("repos/x.part/HEAD", "junk", 4, 0600));
        ck_assert_uint_eq(begin("r"), 6);
        ck_assert_int_eq(access("repos/x.part", F_OK), -1);
        close_history();
}
END_TEST

/* A killed libgit2 leaves locks of refs, of HEAD and of the configuration, half packs and objects. */
START_TEST(test_killed_update_leaves_nothing_in_the_way)
{
        static const char *const left[] = {"repos/x.git/config.lock", "repos/x.git/HEAD.lock", "repos/x.git/refs/heads/main.lock",
                                           "repos/x.git/refs/tags/v3.lock", "repos/x.git/objects/pack/pack_git2_a1b2c3",
                                           "repos/x.git/objects/tmp_object_git2_a1b2c3"};

        make_repository();
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(left); i++)
                assert_ok(write_file_atomic(left[i], "", 0, 0600));
        shell("cd r; echo 5 > src/a; commit more; git tag v3");
        ck_assert_uint_eq(update(), 1);
        ck_assert_uint_eq(resolve("v3"), 6);
        for (size_t i = 0; i < ARRAY_SIZE(left); i++)
                ck_assert_int_eq(access(left[i], F_OK), -1);
        close_history();
}
END_TEST

static int take_snapshot(const char *dir, uint32_t *ret)
{
        return history_snapshot(history, &(struct snapshot_request){.dir = dir}, ret);
}

START_TEST(test_snapshot)
{
        char before[256], after[256];
        uint32_t number, again;
        struct commit c;

        make_repository();
        begin("r");
        shell("cd r; echo '*.o' > .gitignore; echo changed > src/a; echo new > src/new; chmod +x src/new; echo staged > "
              "src/staged; git add src/staged; "
              "rm doc/d; ln -s nowhere src/link; echo ignored > x.o; mkdir sub; git init -q sub; mkfifo pipe");
        ask("cd r; find . -printf '%p %T@ %i %s\\n' | sort | sha256sum", before);
        assert_ok(take_snapshot("r/src", &number));
        ask("cd r; find . -printf '%p %T@ %i %s\\n' | sort | sha256sum", after);
        ck_assert_str_eq(before, after); /* nothing of it was touched, its index neither */
        assert_ok(history_commit(history, number, &c));
        ck_assert_uint_eq(c.first_parent, resolve("HEAD"));
        check_text(git_oid_tostr_s(&c.oid), COMMIT_AUTHOR, "solverfs snapshot <snapshot@solverfs.invalid>\n");
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES,
                   "A\t.gitignore\nD\tdoc/d\nM\tsrc/a\nA\tsrc/link\nA\tsrc/new\nA\tsrc/staged\n");
        ask("git --git-dir=repos/x.git ls-tree $(git --git-dir=repos/x.git for-each-ref --format='%(objectname)' "
            "refs/solverfs/snapshots) "
            "src/ | cut -c1-6 | tr '\\n' ' '",
            after);
        ck_assert_str_eq(after, "100644 100644 120000 100755 100644 ");
        ask("git --git-dir=repos/x.git fsck 2>&1 | grep -c -v dangling || true", after);
        shell("cd r; rm -rf sub pipe; commit all");
        update();
        assert_ok(take_snapshot("r", &again));
        ck_assert_uint_eq(again, resolve("HEAD")); /* nothing uncommitted: the commit itself */
        ck_assert_uint_eq(resolve(git_oid_tostr_s(&c.oid)), number);
        close_history();
}
END_TEST

/* Taken out of the index, and ignored since. */
START_TEST(test_snapshot_of_what_is_ignored_now)
{
        struct commit c;
        uint32_t number;

        make_repository();
        shell("cd r; echo made > y.o; echo kept > z; commit made");
        begin("r");
        shell("cd r; echo '*.o' > .gitignore; git rm -q --cached y.o z");
        assert_ok(take_snapshot("r", &number));
        assert_ok(history_commit(history, number, &c));
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "A\t.gitignore\nD\ty.o\n");
        close_history();
}
END_TEST

/* A file whose line ends are the tree's own: a commit has others. */
START_TEST(test_snapshot_of_other_line_ends)
{
        char text[256], script[256];
        struct commit c;
        uint32_t number;

        make_repository();
        shell("cd r; echo 'src/a eol=crlf' > .gitattributes; printf 'b\\r\\n' > src/b; commit ends; rm src/a; git checkout -q src/a; printf '4\\r\\n' | cmp - src/a");
        begin("r");
        assert_ok(take_snapshot("r", &number));
        ck_assert_uint_eq(number, resolve("HEAD"));
        shell("cd r; touch src/a src/b");
        assert_ok(take_snapshot("r", &number));
        ck_assert_uint_eq(number, resolve("HEAD"));
        shell("cd r; printf '5\\r\\n' > src/a");
        assert_ok(take_snapshot("r", &number));
        assert_ok(history_commit(history, number, &c));
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "M\tsrc/a\n");
        snprintf(script, sizeof(script), "git -C repos/x.git show %s:src/a | od -An -c | tr -d ' '", git_oid_tostr_s(&c.oid));
        ask(script, text);
        ck_assert_str_eq(text, "5\\n");
        close_history();
}
END_TEST

/* What is not checked out was not deleted; also when only the tree's own repository has it. */
/* The modes are the file system's, not the commit's, and a filter is configured: git finds the tree clean. */
START_TEST(test_snapshot_of_a_clean_tree)
{
        char text[256], script[256];
        struct commit c;
        uint32_t number;

        make_repository();
        shell("cd r; echo '*.up filter=up' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'; "
              "git config core.fileMode false; echo up > src/x.up; chmod 755 src/a src/x.up; touch -d yesterday src/x.up src/a; commit filtered; "
              "git status --porcelain | wc -l | grep -q '^0'; git show HEAD:src/x.up | grep -q UP");
        begin("r");
        assert_ok(take_snapshot("r", &number));
        ck_assert_uint_eq(number, resolve("HEAD"));
        shell("cd r; echo more >> src/a");
        assert_ok(take_snapshot("r", &number));
        assert_ok(history_commit(history, number, &c));
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "M\tsrc/a\n");
        snprintf(script, sizeof(script), "git -C repos/x.git ls-tree %s src/a | cut -c 1-6 | tr -d '\\n'", git_oid_tostr_s(&c.oid));
        ask(script, text);
        ck_assert_str_eq(text, "100644");
        close_history();
}
END_TEST

/* The address that git has for the submodule `sub` of a repository at `base`. */
static int take_url(void *user, const char *path, const char *url)
{
        ck_assert_str_eq(path, "sub");
        snprintf(user, PATH_SIZE, "%s", url);
        return 0;
}

START_TEST(test_submodules_beside_a_repository)
{
        static const char *const addresses[][3] = {
                {"user@host:repo", "../lib", "user@host:lib"},        {"user@host:/repo", "../lib", "user@host:/lib"},
                {"user@host:at/repo", "../lib", "user@host:at/lib"},  {"user@host:at/repo", "../../lib", "user@host:lib"},
                {"user@host:repo", "./lib", "user@host:repo/lib"},    {"https://host/at/repo/", "../lib", "https://host/at/lib"},
                {"/at/repo", "../lib", "/at/lib"},                    {"user@host:repo", "https://host/lib", "https://host/lib"},
        };

        make_repository();
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
                char script[256], url[PATH_SIZE] = "";

                snprintf(script, sizeof(script),
                         "cd r; printf '[submodule \"sub\"]\\npath = sub\\nurl = %s\\n# %zu\\n' > .gitmodules; commit module", addresses[i][1], i);
                shell(script);
                update();
                assert_ok(history_submodules(history, addresses[i][0], take_url, url));
                ck_assert_str_eq(url, addresses[i][2]);
        }
        close_history();
}
END_TEST

START_TEST(test_submodules_that_cannot_be_read)
{
        cleanup_blob struct blob b = {0};
        FILE *log = fopen("log", "w");
        char url[PATH_SIZE] = "";

        make_repository();
        shell("cd r; printf '# \351\n[submodule \"sub\"]\npath = sub\nurl = ../lib\n' > .gitmodules; commit module; git tag also");
        begin("r");
        log_set(LOG_LEVEL_WARNING, log);
        assert_ok(history_submodules(history, "/at/repo", take_url, url));
        log_set(LOG_LEVEL_WARNING, NULL);
        fclose(log);
        assert_ok(read_file("log", 4096, &b));
        ck_assert_ptr_nonnull(memmem(b.data, b.size, ".gitmodules:1: byte 0xe9 is not UTF-8 text", 42));
        ck_assert_ptr_null(memchr((const char *)b.data + 1, '\n', b.size - 2)); /* once, although two names have it */
        close_history();
}
END_TEST

START_TEST(test_passwords_stay_unsaid)
{
        assert_error(history_submodule_check("https://me:token@host.invalid/x", "sub", "/local/lib"), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "/local/lib"));
        ck_assert_ptr_null(strstr(error_message(-EINVAL), "token"));
}
END_TEST

START_TEST(test_snapshot_of_a_sparse_checkout)
{
        char script[256], files[256];
        struct commit c;
        uint32_t number;

        make_repository();
        begin("r");
        shell("cd r; echo newer > doc/d; commit newer; "
              "git update-index --skip-worktree doc/d; rm -r doc; echo more > src/more");
        assert_ok(take_snapshot("r", &number));
        assert_ok(history_commit(history, number, &c));
        snprintf(script, sizeof(script), "git -C repos/x.git ls-tree -r --name-only %s | tr '\n' ' '", git_oid_tostr_s(&c.oid));
        ask(script, files);
        ck_assert_str_eq(files, "doc/d src/a src/b src/more ");
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "M\tdoc/d\nA\tsrc/more\n");
        close_history();
}
END_TEST

START_TEST(test_snapshot_ahead_of_the_store)
{
        uint32_t number, head;
        struct commit c;

        make_repository();
        begin("r");
        head = resolve("HEAD");
        shell("cd r; echo later > src/later; commit 'not fetched yet'; echo now > src/now");
        assert_ok(take_snapshot("r", &number));
        assert_ok(history_commit(history, number, &c));
        ck_assert_uint_eq(c.first_parent, head); /* the nearest ancestor that the store has */
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "A\tsrc/later\nA\tsrc/now\n");
        close_history();
}
END_TEST

START_TEST(test_snapshot_with_a_name)
{
        struct snapshot_request wip = {.dir = "r", .name = "wip"};
        static const char *const bad[] = {"", "a/b", "a b", "x.lock", "-~1", "..", "a\nb"};
        uint32_t number, again;

        make_repository();
        begin("r");
        shell("cd r; echo 1 > src/new");
        assert_ok(history_snapshot(history, &wip, &number));
        ck_assert_uint_eq(resolve("wip"), number);
        ck_assert_uint_eq(resolve("wip~1"), resolve("HEAD"));
        assert_ok(history_snapshot(history, &wip, &again)); /* the same once more is the same */
        ck_assert_uint_eq(again, number);
        shell("cd r; echo 2 > src/new");
        assert_error(history_snapshot(history, &wip, &again), EEXIST);
        ck_assert_uint_eq(resolve("wip"), number);
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                wip.name = bad[i];
                assert_error(history_snapshot(history, &wip, &again), EINVAL);
        }
        shell("cd r; rm src/new");
        wip.name = "clean"; /* nothing uncommitted: a name for the commit itself */
        assert_ok(history_snapshot(history, &wip, &again));
        ck_assert_uint_eq(again, resolve("HEAD"));
        ck_assert_uint_eq(resolve("clean"), again);
        assert_ok(history_snapshot(history, &wip, &again)); /* the same once more */
        close_history();
}
END_TEST

/* Its commits are in the repository, but are not the solver's. */
START_TEST(test_snapshot_of_a_submodule_s_tree)
{
        uint32_t number;

        make_repository();
        begin("r");
        shell("git init -q -b main lib; cd lib; echo 1 > f; commit one; echo 2 > f; commit two");
        assert_ok(history_fetch_submodule(history, "sub", "lib", NULL));
        shell("echo 3 > lib/f");
        assert_error(take_snapshot("lib", &number), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "no commit in common"));
        ck_assert_uint_eq(history_count(history), 6);
        close_history();
}
END_TEST

/* The repository r, with lib as its submodule `sub`. */
static void make_with_submodule(void)
{
        shell("git init -q -b main lib; cd lib; echo 1 > f; commit one");
        make_repository();
        shell("cd r; git -c protocol.file.allow=always submodule add -q ../lib sub 2>/dev/null; commit 'with lib'");
}

/* The snapshot has the commit that is checked out in r/sub. */
static void check_submodule_of(uint32_t number)
{
        char script[256], was[256], is[256];
        struct commit c;

        assert_ok(history_commit(history, number, &c));
        snprintf(script, sizeof(script), "git -C repos/x.git rev-parse %s:sub", git_oid_tostr_s(&c.oid));
        ask(script, is);
        ask("git -C r/sub rev-parse HEAD", was);
        ck_assert_str_eq(is, was);
}

/* By what .gitmodules says git does not look: its changes count all the same. */
START_TEST(test_snapshot_with_a_submodule_that_is_ignored)
{
        static const char *const ignored[] = {"dirty", "all"};
        struct snapshot_request wip = {.dir = "r"};
        char script[256];
        uint32_t number;

        make_with_submodule();
        for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
                snprintf(script, sizeof(script), "cd r; git config -f .gitmodules submodule.sub.ignore %s; commit %s", ignored[i], ignored[i]);
                shell(script);
                if (i == 0)
                        begin("r");
                else
                        update();
                shell("echo 3 > r/sub/f");
                assert_error(history_snapshot(history, &wip, &number), EINVAL);
                shell("git -C r/sub checkout -q f");
                assert_ok(history_snapshot(history, &wip, &number));
                ck_assert_uint_eq(number, resolve("HEAD"));
        }
        shell("cd r/sub; echo 2 > f; commit two");
        assert_ok(history_snapshot(history, &wip, &number));
        check_submodule_of(number);
        close_history();
}
END_TEST

/* The commit that is checked out in it is taken, as `git add` would. Other changes cannot be. */
START_TEST(test_snapshot_with_a_changed_submodule)
{
        struct snapshot_request wip = {.dir = "r"};
        uint32_t number;

        make_with_submodule();
        begin("r");
        shell("touch r/sub/untracked");
        assert_ok(history_snapshot(history, &wip, &number));
        ck_assert_uint_eq(number, resolve("HEAD"));
        shell("cd r/sub; echo 2 > f; commit two");
        assert_ok(history_snapshot(history, &wip, &number));
        check_submodule_of(number);
        shell("echo 3 > r/sub/f");
        assert_error(history_snapshot(history, &wip, &number), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "the submodule sub has changes"));
        wip.force = true;
        assert_ok(history_snapshot(history, &wip, &number));
        check_submodule_of(number);
        close_history();
}
END_TEST

/* The name would mean the other commit. */
START_TEST(test_snapshot_with_the_name_of_another_commit)
{
        static const char *const taken[] = {"main", "v1", "HEAD", "@", NULL};
        uint32_t number, head;
        char prefix[256];

        make_repository();
        begin("r");
        head = resolve("HEAD");
        ask("git -C r rev-parse --short=6 HEAD", prefix);
        shell("echo 1 > r/src/new");
        for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
                assert_error(history_snapshot(history, &(struct snapshot_request){.dir = "r", .name = taken[i] ?: prefix}, &number), EEXIST);
                ck_assert_ptr_nonnull(strstr(error_message(-EEXIST), taken[i] ?: prefix));
                ck_assert_uint_ne(resolve(taken[i] ?: prefix), 6);
        }
        ck_assert_uint_eq(history_count(history), 6);
        shell("rm r/src/new");
        assert_error(history_snapshot(history, &(struct snapshot_request){.dir = "r", .name = "main"}, &number), EEXIST); /* a branch moves */
        ck_assert_uint_eq(resolve("main"), head);
        close_history();
}
END_TEST

START_TEST(test_snapshot_before_a_branch_and_a_tag_of_its_name)
{
        uint32_t number, again;

        make_repository();
        begin("r");
        shell("echo 1 > r/src/new");
        assert_ok(history_snapshot(history, &(struct snapshot_request){.dir = "r", .name = "wip"}, &number));
        shell("git -C r branch wip v1; git -C r tag wip v1");
        update();
        ck_assert_uint_eq(resolve("wip"), number);
        ck_assert_uint_eq(resolve("wip~1"), resolve("main"));
        ck_assert_uint_eq(resolve("heads/wip"), resolve("v1"));
        ck_assert_uint_eq(resolve("tags/wip"), resolve("v1"));
        assert_ok(history_snapshot(history, &(struct snapshot_request){.dir = "r", .name = "wip"}, &again)); /* the same once more */
        ck_assert_uint_eq(again, number);
        close_history();
}
END_TEST

START_TEST(test_snapshot_of_others)
{
        uint32_t number;
        struct commit c;

        make_repository();
        begin("r");
        shell("git init -q -b other other; cd other; echo 1 > f; commit one; echo 2 > f; git init -q ../unborn; echo 1 > "
              "../unborn/f; git init -q --bare ../bare");
        assert_error(take_snapshot("other", &number), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "no commit in common"));
        assert_error(take_snapshot("unborn", &number), EINVAL);
        assert_ok(history_snapshot(history, &(struct snapshot_request){.dir = "other", .force = true}, &number));
        assert_ok(history_commit(history, number, &c));
        ck_assert_uint_eq(c.first_parent, COMMIT_NONE); /* a HEAD that is not known here */
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "A\tf\n");
        assert_ok(history_snapshot(history, &(struct snapshot_request){.dir = "unborn", .force = true}, &number));
        assert_error(take_snapshot("bare", &number), EINVAL);
        assert_error(take_snapshot("absent", &number), ENOENT);
        assert_error(take_snapshot("/", &number), EINVAL);
        ck_assert_uint_eq(update(), 0); /* an update prunes no snapshot */
        assert_ok(history_commit(history, number, &c));
        check_text(git_oid_tostr_s(&c.oid), COMMIT_CHANGES, "A\tf\n");
        close_history();
}
END_TEST

static void *read_much(void *user)
{
        for (uint32_t i = 0; i < 300; i++) {
                cleanup_buffer struct buffer b = {0};
                uint32_t number;

                if (history_text(history, i % 6, COMMIT_CHANGES, &b) < 0 || history_resolve(history, "v2~1", &number) < 0)
                        return user;
        }
        return NULL;
}

START_TEST(test_threads)
{
        pthread_t threads[8];

        make_repository();
        begin("r");
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, read_much, &threads), 0);
        for (int i = 0; i < 5; i++) {
                shell("cd r; date +%N >> f; commit more");
                update();
        }
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                void *failed;

                pthread_join(threads[i], &failed);
                ck_assert_ptr_null(failed);
        }
        close_history();
}
END_TEST

static void count_lost(void *user, bool, const char *line)
{
        *(unsigned *)user += strstr(line, "lost") != NULL;
}

static unsigned lost_refs(void)
{
        unsigned n = 0;

        assert_ok(history_check(history, "r", true, count_lost, &n));
        return n;
}

/* An update deletes refs before it lists them. */
START_TEST(test_a_look_beside_an_update_takes_no_ref_for_lost)
{
        int lock;

        make_repository();
        begin("r");
        ck_assert_uint_eq(lost_refs(), 0);
        assert_ok(lock_try("repos", "x.lock", LOCK_ALONE, &lock));
        shell("git -C repos/x.git update-ref -d refs/heads/feature/x");
        ck_assert_uint_eq(lost_refs(), 0);
        close(lock);
        ck_assert_uint_eq(lost_refs(), 1);
        close_history();
}
END_TEST

/* -- loose objects ---------------------------------------------------------------------------------------------- */

/* 1: it can be read, 0: it is refused. */
static int object_reads(git_odb *odb, const git_oid *oid)
{
        git_odb_object *o = NULL;
        size_t size;
        git_object_t type;
        int r = git_odb_read(&o, odb, oid);

        if (r == 0) {
                assert_ok(git_odb_read_header(&size, &type, odb, oid));
                ck_assert_uint_eq(size, git_odb_object_size(o));
                ck_assert_int_eq(type, git_odb_object_type(o));
        } else {
                git_odb_read_header(&size, &type, odb, oid); /* comes back */
        }
        git_odb_object_free(o);
        return r == 0;
}

struct one_object {
        char path[PATH_SIZE];
        git_oid oid;
        struct blob whole;
};

static void object_write(const struct one_object *o, size_t size, size_t flip)
{
        cleanup_close int fd = -1;

        ck_assert(unlink(o->path) == 0 || errno == ENOENT);
        fd = open(o->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_ok(write_all(fd, o->whole.data, size));
        if (flip < size * 8) {
                uint8_t byte = ((const uint8_t *)o->whole.data)[flip / 8] ^ (uint8_t)(1 << flip % 8);

                ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(flip / 8)), 1);
        }
}

static void damage_object(git_odb *odb, struct one_object *o)
{
        for (size_t size = 0; size < o->whole.size; size++) {
                object_write(o, size, SIZE_MAX);
                ck_assert_msg(!object_reads(odb, &o->oid), "%s cut to %zu", o->path, size);
        }
        for (size_t flip = 0; flip < o->whole.size * 8; flip += 3) {
                object_write(o, o->whole.size, flip);
                object_reads(odb, &o->oid); /* some bits mean nothing; libgit2 compares the content with its name */
        }
        object_write(o, o->whole.size, SIZE_MAX);
        ck_assert(object_reads(odb, &o->oid));
}

struct oid_list {
        git_oid list[64];
        size_t n;
};

static int add_oid(const git_oid *oid, void *user)
{
        struct oid_list *l = user;

        ck_assert_uint_lt(l->n, ARRAY_SIZE(l->list));
        l->list[l->n++] = *oid;
        return 0;
}

/* Cut at each byte, and with bits flipped, they are errors: nothing hangs. By its beginning an object is found as by its whole name. */
START_TEST(test_damaged_loose_objects)
{
        struct oid_list all = {0};
        git_repository *git;
        git_odb *odb;

        make_repository();
        shell("cd r; seq 20000 >src/a; git commit -qam large");
        begin("r");
        git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
        assert_ok(history_repository(history, &git));
        ck_assert_int_eq(git_repository_odb(&odb, git), 0);
        ck_assert_int_eq(git_odb_foreach(odb, add_oid, &all), 0);
        ck_assert_uint_gt(all.n, 15);
        for (size_t i = 0; i < all.n; i++) {
                struct one_object o = {.oid = all.list[i]};
                char hex[GIT_OID_HEXSZ + 1];
                git_oid found;

                git_oid_tostr(hex, sizeof(hex), &o.oid);
                snprintf(o.path, sizeof(o.path), "repos/x.git/objects/%.2s/%s", hex, hex + 2);
                assert_ok(read_file(o.path, SIZE_MAX >> 1, &o.whole));
                if (o.whole.size < 4096)
                        damage_object(odb, &o);
                ck_assert(object_reads(odb, &o.oid));
                ck_assert_int_eq(git_odb_exists_prefix(&found, odb, &o.oid, 12), 0);
                ck_assert(git_oid_equal(&found, &o.oid));
                blob_done(&o.whole);
        }
        git_odb_free(odb);
        git_repository_free(git);
        close_history();
}
END_TEST

SUITE("history", test_a_look_beside_an_update_takes_no_ref_for_lost, test_damaged_loose_objects,
      test_index_and_lookups, test_descendants, test_order, test_order_of_a_merge, test_refs,
      test_revisions_are_git_s, test_head_of_no_branch, test_revisions_refused, test_revisions_at_random, test_names_like_hex,
      test_ambiguous_prefixes, test_texts, test_too_many_changes, test_paths_that_are_too_long, test_dates,
      test_odd_commits, test_sources, test_sources_left_out,
      test_sources_that_cannot_be_kept, test_update, test_upstream_loses_its_commits, test_malformed_commit,
      test_rewritten_upstream, test_detached_head_moves_on, test_over_the_network,
      test_submodule_branch_becomes_a_folder,
      test_silent_server, test_interrupted_while_a_server_is_silent, test_killed_while_a_server_is_silent, test_server_that_stops,
      test_branch_becomes_folder, test_clone_sources_that_do_not_work, test_clone_sources_that_work, test_stopped,
      test_damaged_repository, test_foreign_repository, test_odd_ref_names, test_killed_index,
      test_killed_clone_leaves_nothing_in_the_way, test_killed_update_leaves_nothing_in_the_way, test_snapshot, test_snapshot_of_what_is_ignored_now,
      test_snapshot_of_other_line_ends, test_snapshot_of_a_clean_tree,
      test_submodules_beside_a_repository, test_submodules_that_cannot_be_read, test_passwords_stay_unsaid,
      test_snapshot_with_a_name, test_snapshot_with_the_name_of_another_commit, test_snapshot_before_a_branch_and_a_tag_of_its_name,
      test_snapshot_of_a_submodule_s_tree, test_snapshot_with_a_submodule_that_is_ignored, test_snapshot_with_a_changed_submodule,
      test_prefix_that_a_blob_has_too, test_lost_commit, test_snapshot_of_a_sparse_checkout,
      test_snapshot_ahead_of_the_store, test_snapshot_of_others, test_threads)
