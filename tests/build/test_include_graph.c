/* Which units a change makes a build compile again. */
#include "tests/support/git_shell.h"

#include "core/build/checkout.h"
#include "core/build/include_graph.h"

static git_repository *git;
static struct include_graph *graph;

static void files_of(const char *revision, struct manifest *ret)
{
        static char *const none[] = {NULL};
        cleanup_buffer struct buffer notes = {0};
        cleanup_git_object git_object *object = NULL;

        ck_assert_int_eq(git_revparse_single(&object, git, revision), 0);
        assert_ok(checkout_list(git, git_object_id(object), none, none, ret, &notes));
}

static size_t changed(const char *from, const char *to)
{
        cleanup_manifest struct manifest a = {0}, b = {0};
        size_t n;

        files_of(from, &a);
        files_of(to, &b);
        assert_ok(include_graph_changed(graph, &a, &b, &n));
        return n;
}

/* The graph of a repository's tag `first`. */
static void begin(const char *script)
{
        cleanup_manifest struct manifest files = {0};

        shell(script);
        git_libgit2_init();
        ck_assert_int_eq(git_repository_open(&git, "repo"), 0);
        files_of("first", &files);
        assert_ok(include_graph_new(git, &files, &graph));
}

static void end(void)
{
        graph = include_graph_free(graph);
        git_repository_free(git);
        git_libgit2_shutdown();
}

#define SETUP "git init -q -b main repo; cd repo; step() { commit $1; git tag $1; }; mkdir -p a b; "

START_TEST(test_includes)
{
        begin(SETUP "echo '#include \"b.h\"' >a/a.h; printf '\t#\tinclude <a/a.h>' >one.c; printf 'int x;\n#include "
                    "\"../b/b.h\"\n' >a/two.cpp; "
                    "echo '#include \"a.h\"' >b/b.h; echo 'include \"b.h\"' >three.cc; echo '#include \"missing.h\"' >four.c; "
                    "echo '#include \"xb.h\"' >>four.c; echo >b/xb.h; echo doc >README; step first; "
                    "echo >>README; step readme; echo >>b/b.h; step b; echo >>b/xb.h; step xb; echo >>three.cc; step three; "
                    "git rm -q a/a.h; step less; echo >five.c; echo >five.h; step more; chmod +x four.c; step mode");
        ck_assert_uint_eq(include_graph_units(graph), 4);
        ck_assert_uint_eq(changed("first", "first"), 0);
        ck_assert_uint_eq(changed("first", "readme"), 0);
        ck_assert_uint_eq(changed("readme", "b"), 2); /* in a circle with a.h: one.c and two.cpp */
        ck_assert_uint_eq(changed("b", "readme"), 2);
        ck_assert_uint_eq(changed("b", "xb"), 1);
        ck_assert_uint_eq(changed("xb", "three"), 1);
        ck_assert_uint_eq(changed("three", "less"), 2);
        ck_assert_uint_eq(changed("less", "more"), 1); /* a new unit; who includes the new header has changed */
        ck_assert_uint_eq(changed("more", "mode"), 1);
        ck_assert_uint_eq(changed("first", "mode"), 5);
        end();
}
END_TEST

START_TEST(test_other_languages)
{
        begin(SETUP "echo >a/x.ml; echo >b/y.ml; echo >Makefile; step first; echo 1 >b/y.ml; echo 2 >Makefile; step second");
        ck_assert_uint_eq(include_graph_units(graph), 3);
        ck_assert_uint_eq(changed("first", "second"), 2);
        end();
}
END_TEST

START_TEST(test_names_that_are_none)
{
        begin(SETUP
              "printf '#include \"\"\n#include \"\n#include\n#include <\n# include \"../\"\n#include \"/\"\n#include \"./a/\"' "
              ">a/x.c; "
              "head -c 5000 /dev/zero | tr '\\0' y | sed 's/^/#include \"/; s/$/\"/' >>b/long.c; ln -s x.c a/link.c; step first");
        ck_assert_uint_eq(include_graph_units(graph), 3);
        ck_assert_uint_eq(changed("first", "first"), 0);
        end();
}
END_TEST

SUITE("include_graph", test_includes, test_other_languages, test_names_that_are_none)
