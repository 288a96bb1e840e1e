/* Eras: where along the first parents the tree was built in another way. */
#include "tools/draft/draft.h"
#include "tools/words.h"

#define ERAS_MAX  12 /* that are written; the latest */
#define TRIES_MAX 8  /* commits in which a way is looked for, where one ends */

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
                progress_show("looking at the history", i, n, 0, 0);
                r = draft_commit_tree(d, line[i], &tree);
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

static void write_era(struct draft *d, uint32_t last, const struct draft_keys *keys, const char *about, struct buffer *ret)
{
        struct commit c;

        if (history_commit(common.solver->history, last, &c) < 0)
                return;
        buffer_addf(ret, "\n[era \"..%s\"]\n", git_oid_tostr_s(&c.oid));
        draft_comment(ret, "    ", about);
        if (keys->about_build.size > 0)
                draft_comment(ret, "    ", keys->about_build.data);
        for (char *const *p = keys->paths; p && *p; p++)
                draft_line(ret, "paths", *p);
        for (char *const *p = keys->build; *p; p++)
                draft_line(ret, "build", *p);
        for (char *const *p = keys->outputs; *p; p++)
                draft_line(ret, "output", *p);
}

/* By the usual commands. */
static int write_usual(struct draft *d, const struct era *e)
{
        const struct compiler_flags none = {0};
        cleanup(draft_keys_done) struct draft_keys keys = {0};
        cleanup(git_tree_freep) git_tree *tree = NULL;
        const struct way *way = NULL;
        struct way *ways = NULL;
        size_t n = 0, left;
        int r = draft_commit_tree(d, e->last, &tree);

        if (r == 0)
                r = ways_find(d->git, tree, &ways, &n, &left);
        way = way_named(ways, n, e->name.data);
        if (r == 0 && way)
                r = way_commands(way, &none, true, &keys.build);
        if (r == 0 && way) {
                cleanup_free char *about = format_string("Commits up to here are built by %s. That was not tried: these are the usual commands "
                                                         "('--eras' tries them).", e->name.data);
                cleanup_buffer struct buffer output = {0};

                way_usual_output(way, basename(d->keys.outputs[0]), &output);
                strings_add(&keys.outputs, output.data);
                write_era(d, e->last, &keys, about, &d->eras);
        }
        ways_free(ways, n);
        return r;
}

static int usual_eras(struct draft *d, const struct way *way)
{
        cleanup(era_list_done) struct era_list eras = {0};
        size_t begin;
        int r = find_eras(d, way, &eras);

        begin = eras.n > ERAS_MAX + 1 ? eras.n - ERAS_MAX - 1 : 0;
        if (begin > 0)
                buffer_addf(&d->eras, "\n# %zu older eras are not written here: the ways to build change too often.\n", begin);
        for (size_t i = begin; r == 0 && i + 1 < eras.n; i++)
                if (eras.list[i].name.size > 0)
                        r = write_usual(d, &eras.list[i]);
        return r;
}

/* -- trying them ------------------------------------------------------------------------------------------------ */

/* Is the commit built by these keys? 1, 0 or -errno. */
static int is_built(struct draft *d, uint32_t commit, const struct draft_keys *keys)
{
        note("building %s, to see how far back that works", full_sha(common.solver, commit).s);
        return draft_build_keys(d, commit, keys);
}

/* The oldest index of the line from which on, as far as a bisection tells, the keys build up to `last`, at which they do. */
static int find_begin(struct draft *d, const uint32_t *line, size_t last, const struct draft_keys *keys, size_t *ret)
{
        size_t good = last, bad = 0;
        int r = last == 0 ? 1 : is_built(d, line[0], keys);

        if (r == 1)
                good = 0;
        while (r >= 0 && good > bad + 1) {
                size_t middle = bad + (good - bad) / 2;

                r = is_built(d, line[middle], keys);
                if (r == 1)
                        good = middle;
                else
                        bad = middle;
        }
        *ret = good;
        return MIN(r, 0);
}

/* The keys by which the commit gives a program that answers. 1, 0 or -errno. */
static int find_keys(struct draft *d, uint32_t commit, struct draft_keys *ret, struct buffer *ret_way)
{
        cleanup(git_tree_freep) git_tree *tree = NULL;
        struct way *ways = NULL;
        size_t n = 0, left;
        int r = draft_commit_tree(d, commit, &tree);

        if (r == 0)
                r = ways_find(d->git, tree, &ways, &n, &left);
        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(made_list_done) struct made_list made = {0};
                struct draft_program p;

                draft_keys_done(ret);
                for (char *const *s = d->keys.submodules; s && *s; s++)
                        strings_add(&ret->submodules, *s);
                ret_way->size = 0;
                way_name(&ways[i], ret_way);
                r = draft_build(d, commit, &ways[i], ret, &made);
                if (r == 1)
                        r = draft_choose(d, &ways[i], ret, &made, &p);
        }
        ways_free(ways, n);
        return r;
}

/* The newest commit below index `end` that is built in some way, by steps that double. 1, and its index. */
static int find_end(struct draft *d, const uint32_t *line, size_t end, struct draft_keys *ret, struct buffer *ret_way, size_t *ret_last)
{
        size_t step = 1, tries = 0;
        int r = 0;

        for (size_t i = end; r == 0 && i > 0 && tries < TRIES_MAX; tries++, step *= 2) {
                i = i > step ? i - step : 0;
                r = command_interrupted() ? -ECANCELED : find_keys(d, line[i], ret, ret_way);
                *ret_last = i;
        }
        return r;
}

static void write_tried(struct draft *d, uint32_t last, const struct draft_keys *keys, const char *way)
{
        cleanup_buffer struct buffer about = {0};
        struct buffer section = {0};

        buffer_addf(&about, "Commits up to here are built by %s. The last of them was built: %s", way, keys->about_run.data ?: "");
        if (keys->format != d->keys.format || strcmp(keys->run, d->keys.run) != 0)
                buffer_addf(&about, "It wants run = %s with format = %s, which an era cannot say.", keys->run, keys->format == FORMAT_CNF ? "cnf" : "smt2");
        write_era(d, last, keys, about.data, &section);
        buffer_add(&section, d->eras.data ?: "", d->eras.size); /* the oldest comes first */
        buffer_done(&d->eras);
        d->eras = section;
}

/* Backwards: where one recipe builds no more, the next is looked for. */
static int tried_eras(struct draft *d)
{
        cleanup(draft_keys_done) struct draft_keys own = {0};
        cleanup_buffer struct buffer way = {0};
        cleanup_free uint32_t *line = NULL;
        const struct draft_keys *keys = &d->keys;
        size_t n = 0, begin, last;
        int r = history_line(common.solver->history, d->commit, &line, &n);

        last = n - 1;
        for (size_t i = 0; r == 0 && i < ERAS_MAX; i++) {
                r = find_begin(d, line, last, keys, &begin);
                if (r < 0 || begin == 0)
                        return r;
                r = find_end(d, line, begin, &own, &way, &last);
                if (r == 1 && (r = draft_paths(d, line[last], &own)) == 0) {
                        if (!own.paths) /* the eras' paths are the recipe's where they say none */
                                strings_free(steal_pointer(d->keys.paths));
                        write_tried(d, line[last], &own, way.data);
                        keys = &own;
                        continue;
                }
                if (r == 0)
                        buffer_addf(&d->eras, "\n# Older commits were not built: the last try was %s.\n", full_sha(common.solver, line[last]).s);
                return r;
        }
        return r;
}

int draft_eras(struct draft *d, const struct way *way)
{
        int r = d->try_eras ? tried_eras(d) : usual_eras(d, way);

        return r == 0 ? buffer_error(&d->eras) : r;
}
