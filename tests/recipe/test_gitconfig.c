#include "tests/support/test.h"

#include "core/git/git.h"
#include "core/git/gitconfig.h"

DEFINE_CLEANUP(git_config_iterator *, git_config_iterator_free)

static bool every(const char *section)
{
        return true;
}

static uint64_t state = 20240229;

static unsigned below(unsigned n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (unsigned)((state >> 33) % n);
}

/* Pieces that readers of git-config have opinions on. */
static void make_text(struct buffer *b)
{
        static const char *const heads[] = {"[a]", "[ a]", "[a ]", "[A-b]", "[a \"x y\"]", "[a  \"x\"]", "[a \"x\" ]", "[a \"\\\"\"]", "[a] ", "[a] k = 1", "[1]", "[a.b]", "[-a]"};
        static const char *const keys[] = {"k", "K", "k1", "k-", "1k", "-k", "k =", "k", "k\t"};
        static const char *const pieces[] = {"x", " ", "\t", "\"", "\\\\", "\\\"", "\\n", "#", " # c", "=", "[", "]", "\r", "\n", "\xc3\xa4", "'", "\"y\"", "\"z; #\"", "\\\n", ";"};

        for (unsigned s = 1 + below(2); s > 0; s--) {
                buffer_addf(b, "%s%s\n", below(8) == 0 ? " " : "", heads[below(4) ? 0 : below(ARRAY_SIZE(heads))]);
                for (unsigned k = below(3); k > 0; k--) {
                        buffer_addf(b, "%s%s%s", below(4) ? "\t" : "", keys[below(3) ? 0 : below(ARRAY_SIZE(keys))], below(12) ? " = " : "=");
                        for (unsigned p = below(6); p > 0; p--)
                                buffer_adds(b, pieces[below(3) ? 0 : below(ARRAY_SIZE(pieces))]);
                        buffer_adds(b, below(12) ? "\n" : "\r\n");
                }
        }
}

/* What is taken is what libgit2 reads. */
static bool agrees(const struct buffer *text)
{
        cleanup_gitconfig struct gitconfig g = {0};
        cleanup_git_config git_config *config = NULL;
        cleanup(git_config_iterator_freep) git_config_iterator *it = NULL;
        git_config_entry *theirs;
        FILE *f;

        if (gitconfig_parse("text", SLICE(text->data, text->size), every, &g) < 0)
                return false;
        f = fopen("text", "we");
        ck_assert_uint_eq(fwrite(text->data, 1, text->size, f), text->size);
        fclose(f);
        ck_assert_msg(git_config_open_ondisk(&config, "text") == 0 && git_config_iterator_new(&it, config) == 0, "libgit2 does not read:\n%s", text->data);
        for (size_t s = 0; s < g.n_sections; s++)
                for (size_t i = 0; i < g.sections[s].n_entries; i++) {
                        const struct gitconfig_entry *ours = &g.sections[s].entries[i];
                        const char *dot;

                        ck_assert_msg(git_config_next(&theirs, it) == 0, "libgit2 reads less:\n%s", text->data);
                        dot = strrchr(theirs->name, '.');
                        ck_assert_msg(dot && strcmp(dot + 1, ours->key) == 0 && !theirs->value == !ours->value &&
                                              (!ours->value || strcmp(theirs->value, ours->value) == 0),
                                      "libgit2 reads %s = '%s', and not '%s':\n%s", theirs->name, theirs->value ? theirs->value : "-",
                                      ours->value ? ours->value : "-", text->data);
                }
        ck_assert_msg(git_config_next(&theirs, it) == GIT_ITEROVER, "libgit2 reads more:\n%s", text->data);
        return true;
}

START_TEST(test_read_as_libgit2_does)
{
        unsigned taken = 0;

        git_begin();
        for (unsigned i = 0; i < 20000; i++) {
                cleanup_buffer struct buffer text = {0};

                make_text(&text);
                taken += agrees(&text);
        }
        ck_assert_uint_gt(taken, 5000);
}
END_TEST

SUITE("gitconfig", test_read_as_libgit2_does)
