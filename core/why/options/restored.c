/* What a search for options came to, as a line and as JSON; and the words of a commit. */
#include <math.h>

#include "core/git/git.h"
#include "core/why/options/option_list.h"
#include "core/why/options/restoring.h"

#define WORDS_MOST ((size_t)4 << 20) /* bytes of a commit's words; what follows is left out */

static void flips_free(struct restoring_flip *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                free(list[i].name);
                free(list[i].value);
                free(list[i].argument);
                free(list[i].was);
        }
        free(list);
}

void restoring_answer_done(struct restoring_answer *a)
{
        flips_free(a->flips, a->n);
        flips_free(a->dropped, a->n_dropped);
        free(a->mirror);
        *a = (struct restoring_answer){0};
}

void restoring_add_line(const struct restoring_answer *a, struct buffer *to)
{
        const char *what = a->has_seeds ? "seeds" : "runs";
        const size_t n = a->seeds[RESTORING_FLIPPED];
        const size_t hits = a->is_reverse ? n - a->fast[RESTORING_FLIPPED] : a->fast[RESTORING_FLIPPED];

        if (a->n == 0) {
                buffer_addf(to, "no options %s it: %zu values tried in %zu sets, %" PRIu64 " runs", a->is_reverse ? "cause" : "restore", a->tried, a->sets, a->runs);
                return;
        }
        for (size_t i = 0; i < a->n; i++)
                buffer_addf(to, "%s ", a->flips[i].argument);
        buffer_addf(to, "%s%s (%s; %zu of %zu %s", a->n > 1 ? "together " : "",
                    a->is_reverse ? (a->n > 1 ? "make the reference slow" : "makes the reference slow") : a->n > 1 ? "restore it" : "restores it",
                    judge_amount_text(JUDGE_TIME, a->seconds[RESTORING_FLIPPED]).s, hits, n, what);
        if (!judge_is_regression(a->change))
                buffer_addf(to, ", the reference %zu and the target %zu of %zu", a->fast[RESTORING_REFERENCE], a->fast[RESTORING_TARGET],
                            a->seeds[RESTORING_TARGET]);
        buffer_adds(to, ")");
}

static json_t *json_flips(const struct restoring_flip *list, size_t n)
{
        json_t *ret = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(ret, json_pack("{ss ss ss ss* ss*}", "argument", list[i].argument, "name", list[i].name, "value", list[i].value, "default",
                                                     list[i].was, "why", list[i].why));
        return ret;
}

json_t *restoring_json(const struct restoring_answer *a)
{
        static const char *const sides[] = {"reference", "target", "flipped"};
        cleanup_buffer struct buffer line = {0};
        json_t *j;

        restoring_add_line(a, &line);
        j = json_pack("{ss so sb sb sI sI sI sI sI sI sI so}", "line", line.data, "flips", json_flips(a->flips, a->n), "reverse", (int)a->is_reverse, "cut_off",
                      (int)a->is_cut_off, "runs", (json_int_t)a->runs, "listings", (json_int_t)a->listings, "tried", (json_int_t)a->tried, "sets",
                      (json_int_t)a->sets, "unconfirmed", (json_int_t)a->unconfirmed, "set_aside", (json_int_t)a->set_aside, "seeds_shown",
                      (json_int_t)a->shown, "dropped", json_flips(a->dropped, a->n_dropped));
        for (int side = 0; side < N_RESTORING_SIDES; side++) {
                json_t *o = json_pack("{sI sI}", "seeds", (json_int_t)a->seeds[side], "fast", (json_int_t)a->fast[side]);

                if (isfinite(a->seconds[side]))
                        json_object_set_new(o, "seconds", json_real(a->seconds[side]));
                if (side < 2)
                        json_object_update_new(o, json_pack("{sI sI sI}", "options", (json_int_t)a->listed[side], "passed_over",
                                                            (json_int_t)a->passed_over[side], "unread", (json_int_t)a->unread[side]));
                if (side < 2 || a->n > 0)
                        json_object_set_new(j, sides[side], o);
                else
                        json_decref(o);
        }
        json_object_set_new(j, "fast_seconds", json_real(a->cut));
        json_object_set_new(j, "change", json_string(judge_change_name(a->change, JUDGE_TIME)));
        if (a->n > 0)
                json_object_update_new(j, json_pack("{ss ss}", "effect", judge_change_name(a->effect, JUDGE_TIME), "against_other",
                                                    judge_change_name(a->rest, JUDGE_TIME)));
        if (a->mirror)
                json_object_set_new(j, "mirror", json_pack("{ss sI sI}", "arguments", a->mirror, "runs", (json_int_t)a->mirrored, "slow",
                                                           (json_int_t)a->mirrored_slow));
        return j;
}

/* -- a change ----------------------------------------------------------------------------------------------------- */

static int add_path(const git_diff_delta *d, float, void *user)
{
        option_add_words(d->new_file.path, true, user);
        return 0;
}

static int add_line(const git_diff_delta *, const git_diff_hunk *, const git_diff_line *l, void *user)
{
        struct buffer *words = user;
        cleanup_free char *line = copy_prefix(l->content, l->content_len);

        if ((l->origin == GIT_DIFF_LINE_ADDITION || l->origin == GIT_DIFF_LINE_DELETION) && words->size < WORDS_MOST)
                option_add_words(line, false, words);
        return 0;
}

int restoring_change_words(struct solver *s, uint32_t commit, struct buffer *ret)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_git_commit git_commit *new = NULL, *old = NULL;
        cleanup_git_tree git_tree *new_tree = NULL, *old_tree = NULL;
        cleanup_git_diff git_diff *diff = NULL;
        git_diff_options options = GIT_DIFF_OPTIONS_INIT;
        struct commit c;
        int r = history_repository(s->history, &git);

        if (r == 0)
                r = history_commit(s->history, commit, &c);
        if (r < 0)
                return r;
        options.context_lines = 0;
        r = git_commit_lookup(&new, git, &c.oid);
        if (r == 0)
                r = git_commit_tree(&new_tree, new);
        if (r == 0 && git_commit_parentcount(new) > 0)
                r = git_commit_parent(&old, new, 0);
        if (r == 0 && old)
                r = git_commit_tree(&old_tree, old);
        if (r == 0)
                r = git_diff_tree_to_tree(&diff, git, old_tree, new_tree, &options);
        if (r == 0)
                r = git_diff_foreach(diff, add_path, NULL, NULL, add_line, ret);
        return r < 0 ? errorf(git_errno(r), "cannot read what %.12s changed: %s", full_sha(s, commit).s, git_error_text()) : 0;
}
