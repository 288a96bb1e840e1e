/* Eras: where along the first parents the tree was built in another way. */
#include "tools/draft/draft.h"

#define ERAS_MAX 12 /* that are written; the latest */

struct era {
        struct buffer name; /* of its way; empty: there is nothing to build by */
        uint32_t last;      /* the newest commit of it */
};
struct era_list {
        struct era *list; /* the oldest first */
        size_t n;
};
static void era_list_done(struct era_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                buffer_done(&l->list[i].name);
        free(l->list);
}

/* -- finding them ----------------------------------------------------------------------------------------------- */

static int add_era(struct era_list *l, struct buffer *name, uint32_t last)
{
        int r = buffer_error(name);

        if (r == 0)
                r = list_grow(l->list, l->n);
        if (r == 0) {
                l->list[l->n++] = (struct era){.name = *name, .last = last};
                *name = (struct buffer){0};
        }
        return r;
}

static int find_eras(struct draft *d, const struct way *way, struct era_list *ret)
{
        cleanup_free uint32_t *line = NULL;
        git_oid before = {0};
        size_t n = 0;
        int r = history_line(common.solver->history, d->commit, &line, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(git_tree_freep) git_tree *tree = NULL;
                cleanup_buffer struct buffer name = {0};

                if (command_interrupted())
                        return -ECANCELED;
                progress_show("looking at the history", i, n, 0);
                r = draft_commit_tree(d, line[i], NULL, &tree);
                if (r < 0)
                        return r;
                buffer_add(&name, "", 0);
                if (ret->n == 0 || !git_oid_equal(git_tree_id(tree), &before)) /* else as the commit before */
                        r = way_kept(d->git, tree, way, &name);
                else
                        buffer_adds(&name, ret->list[ret->n - 1].name.data);
                git_oid_cpy(&before, git_tree_id(tree));
                if (r == 0 && ret->n > 0 && buffer_error(&name) == 0 && strcmp(ret->list[ret->n - 1].name.data, name.data) == 0)
                        ret->list[ret->n - 1].last = line[i];
                else if (r == 0)
                        r = add_era(ret, &name, line[i]);
        }
        progress_clear();
        return r;
}

/* -- writing them ----------------------------------------------------------------------------------------------- */

/* *ret_keys: of a build that answered; else of the usual commands. */
static int keys_of(struct draft *d, const struct era *e, const struct way *way, struct draft_keys *ret, bool *ret_tried)
{
        const struct compiler_flags none = {0};
        cleanup(made_list_done) struct made_list made = {0};
        cleanup_buffer struct buffer output = {0};
        int r = d->try_eras ? draft_build(d, e->last, way, ret, &made) : 0;

        if (r == 1) {
                struct draft_program p;

                r = draft_choose(d, way, ret, &made, &p);
        }
        *ret_tried = r == 1;
        if (r != 0)
                return MIN(r, 0);
        strings_free(steal_pointer(ret->build));
        strings_free(steal_pointer(ret->outputs));
        r = way_commands(way, &none, true, &ret->build);
        way_usual_output(way, basename(d->keys.outputs[0]), &output);
        if (r == 0)
                r = buffer_error(&output);
        return r == 0 ? strings_add(&ret->outputs, output.data) : r;
}

static void comment_era(struct draft *d, const struct era *e, const struct draft_keys *keys, bool tried)
{
        cleanup_buffer struct buffer text = {0};

        buffer_addf(&text, "Commits up to here are built by %s. ", e->name.data);
        if (tried)
                buffer_addf(&text, "The last of them was built: %s", keys->about_run.data ?: "");
        else
                buffer_adds(&text, d->try_eras ? "The last of them was tried with these commands, and did not come to a program that answers."
                                               : "That was not tried: these are the usual commands ('--eras' tries them).");
        if (tried && (keys->format != d->keys.format || strcmp(keys->run, d->keys.run) != 0))
                buffer_addf(&text, "It wants run = %s with format = %s, which an era cannot say.", keys->run, keys->format == FORMAT_CNF ? "cnf" : "smt2");
        draft_comment(&d->eras, "    ", text.data ?: "");
        if (tried && keys->about_build.size > 0)
                draft_comment(&d->eras, "    ", keys->about_build.data);
}

static int write_era(struct draft *d, const struct era *e)
{
        cleanup(draft_keys_done) struct draft_keys keys = {0};
        cleanup(git_tree_freep) git_tree *tree = NULL;
        const struct way *way = NULL;
        struct way *ways = NULL;
        size_t n = 0, left;
        git_oid oid;
        bool tried = false;
        int r = draft_commit_tree(d, e->last, &oid, &tree);

        if (r == 0)
                r = ways_find(d->git, tree, &ways, &n, &left);
        way = way_named(ways, n, e->name.data);
        if (r == 0 && way)
                r = keys_of(d, e, way, &keys, &tried);
        if (r == 0 && way) {
                buffer_addf(&d->eras, "\n[era \"..%s\"]\n", git_oid_tostr_s(&oid));
                comment_era(d, e, &keys, tried);
                for (char *const *p = keys.build; *p; p++)
                        draft_line(&d->eras, "build", *p);
                for (char *const *p = keys.outputs; *p; p++)
                        draft_line(&d->eras, "output", *p);
        }
        ways_free(ways, n);
        return r;
}

int draft_eras(struct draft *d, const struct way *way)
{
        cleanup(era_list_done) struct era_list eras = {0};
        size_t begin;
        int r = find_eras(d, way, &eras);

        begin = eras.n > ERAS_MAX + 1 ? eras.n - ERAS_MAX - 1 : 0;
        if (begin > 0)
                buffer_addf(&d->eras, "\n# %zu older eras are not written here: the ways to build change too often.\n", begin);
        for (size_t i = begin; r == 0 && i + 1 < eras.n; i++)
                if (eras.list[i].name.size > 0)
                        r = write_era(d, &eras.list[i]);
        return r == 0 ? buffer_error(&d->eras) : r;
}
