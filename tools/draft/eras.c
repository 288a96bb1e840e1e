/* Eras: where along the first parents the tree was built in another way. Without --eras the files of each commit tell (find_eras()), and nothing is
 * built; with it, commits are built backwards from the draft's (try_eras()). */
#include "core/git/paths.h"
#include "draft.h"

#define ERAS_MAX  12 /* most eras written: the latest */
#define TRIES_MAX 8  /* most commits tried for a way where an era ends */

struct era {
        char *name;    /* of its way; "": none */
        uint32_t last; /* its newest commit */
};
struct era_list {
        struct era *list; /* the oldest first */
        size_t n;
};
static void era_list_done(struct era_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->list[i].name);
        free(l->list);
}

/* -- finding them ----------------------------------------------------------------------------------------------- */

/* Neighbours that way_kept() names alike are one era. */
static void find_eras(struct draft *d, const struct way *way, struct era_list *ret)
{
        cleanup_free uint32_t *line = NULL;
        git_oid before = {0};
        size_t n = 0;

        command_must(history_line(common.solver->history, d->commit, &line, &n));
        for (size_t i = 0; i < n; i++) {
                cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, line[i]);
                cleanup_free char *name = NULL;

                progress_show("looking at the history", i, n, 0, 0);
                command_must(command_interrupted() ? -ECANCELED : 0);
                if (ret->n == 0 || !oid_equal(git_tree_id(tree), &before)) /* an equal tree has the same way */
                        name = way_kept(d->git, tree, way);
                before = *git_tree_id(tree);
                if (name && (ret->n == 0 || strcmp(ret->list[ret->n - 1].name, name) != 0))
                        list_add(ret->list, ret->n, (struct era){.name = steal_pointer(name)});
                ret->list[ret->n - 1].last = line[i];
        }
}

/* -- writing them ----------------------------------------------------------------------------------------------- */

static void write_era(uint32_t last, const struct draft_keys *keys, const char *about, struct buffer *ret)
{
        buffer_addf(ret, "\n[era \"..%s\"]\n", full_sha(common.solver, last).s);
        draft_comment(ret, "    ", about);
        draft_comment(ret, "    ", keys->about_build.data);
        draft_lines(ret, "submodule", keys->submodules);
        draft_lines(ret, "paths", keys->paths);
        draft_lines(ret, "build", keys->build);
        draft_lines(ret, "output", keys->outputs);
}

/* Writes an era with the usual commands. `now`: the way of the draft's commit, which the era's tree does not have. */
static void write_usual(struct draft *d, const struct era *e, const struct way *now)
{
        const struct build_remedies none = {0};
        cleanup(draft_keys_done) struct draft_keys keys = {0};
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, e->last);
        cleanup_ways struct way_list ways = ways_find(d->git, tree, false);
        const struct way *way = way_named(&ways, e->name);
        cleanup_free char *about = NULL, *output = NULL;

        if (!way)
                return;
        keys.build = way_commands(way, &none, true);
        output = way_usual_output(way, basename(d->keys.outputs[0]));
        strings_add(&keys.outputs, output);
        about = format_string("Commits up to here are built by %s. That was not tried: these are the usual commands ('--eras' tries them).", e->name);
        if (d->keys.paths && !paths_have(d->keys.paths, e->name)) { /* an era without paths would have the recipe's */
                cleanup_free char *absent = format_string(":!%s", now->name);

                strings_add(&keys.paths, absent);
                buffer_adds(&keys.about_build, "The 'paths' of [solver] leave that out; these leave out nothing that is there.");
        }
        write_era(e->last, &keys, about, &d->eras);
}

/* -- trying them ------------------------------------------------------------------------------------------------ */

static bool is_built(struct draft *d, uint32_t commit, const struct draft_keys *keys)
{
        note("building %s, to see how far back that works", full_sha(common.solver, commit).s);
        return draft_build_keys(d, commit, keys);
}

/* By bisection, the oldest index of the line from which the keys build up to `last`, where they do. */
static size_t find_begin(struct draft *d, const uint32_t *line, size_t last, const struct draft_keys *keys)
{
        size_t good = last, bad = 0;

        if (last == 0 || is_built(d, line[0], keys))
                return 0;
        while (good > bad + 1) {
                size_t middle = bad + (good - bad) / 2;

                *(is_built(d, line[middle], keys) ? &good : &bad) = middle;
        }
        return good;
}

/* Finds keys by which the commit gives a program that answers. */
static bool find_keys(struct draft *d, uint32_t commit, struct draft_keys *ret, char **ret_way)
{
        cleanup(git_tree_freep) git_tree *tree = draft_commit_tree(d, commit);
        cleanup_ways struct way_list ways = ways_find(d->git, tree, false);

        for (size_t i = 0; i < ways.n; i++) {
                cleanup(made_list_done) struct made_list made = {0};
                struct draft_program p;

                draft_keys_done(ret);
                for (char *const *s = d->keys.submodules; s && *s; s++)
                        strings_add(&ret->submodules, *s);
                free(*ret_way);
                *ret_way = copy_string(ways.list[i].name);
                if (draft_build(d, commit, &ways.list[i], ret, &made) && draft_choose(d, &ways.list[i], ret, &made, &p))
                        return true;
        }
        return false;
}

/* Finds the newest commit below index `end` that builds in some way, by doubling steps. *ret_last: that commit, else the last one tried. */
static bool find_end(struct draft *d, const uint32_t *line, size_t end, struct draft_keys *ret, char **ret_way, size_t *ret_last)
{
        size_t step = 1, tries = 0;
        bool is_found = false;

        for (size_t i = end; !is_found && i > 0 && tries < TRIES_MAX; tries++, step *= 2) {
                i = i > step ? i - step : 0;
                command_must(command_interrupted() ? -ECANCELED : 0);
                is_found = find_keys(d, line[i], ret, ret_way);
                *ret_last = i;
        }
        return is_found;
}

static void write_tried(struct draft *d, uint32_t last, const struct draft_keys *keys, const char *way)
{
        cleanup_buffer struct buffer about = {0};
        struct buffer section = {0};

        buffer_addf(&about, "Commits up to here are built by %s. The last of them was built: %s", way, keys->about_run.data ?: "");
        if (keys->format != d->keys.format || !strstr(keys->run, RECIPE_INPUT) != !strstr(d->keys.run, RECIPE_INPUT))
                buffer_addf(&about, "It wants run = %s with format = %s, which an era cannot say.", keys->run, format_name(keys->format));
        if (keys->environment && !d->keys.environment) {
                buffer_adds(&about, "\nAn era has no 'environment': that of [solver] is for the libraries of this one.");
                d->keys.environment = strings_copy(keys->environment);
        }
        write_era(last, keys, about.data, &section);
        buffer_adds(&section, d->eras.data ?: ""); /* the oldest comes first */
        buffer_done(&d->eras);
        d->eras = section;
}

/* Goes backwards: where a recipe no longer builds, looks for the next. */
static void try_eras(struct draft *d)
{
        cleanup(draft_keys_done) struct draft_keys own = {0};
        cleanup_free char *way = NULL;
        cleanup_free uint32_t *line = NULL;
        const struct draft_keys *keys = &d->keys;
        size_t n = 0, begin, last; /* the keys build the line's commits `begin` to `last` */

        command_must(history_line(common.solver->history, d->commit, &line, &n));
        last = n - 1;
        for (size_t i = 0; i < ERAS_MAX && (begin = find_begin(d, line, last, keys)) > 0; i++) {
                if (!find_end(d, line, begin, &own, &way, &last)) {
                        buffer_addf(&d->eras, "\n# Older commits were not built: the last try was %s.\n", full_sha(common.solver, line[last]).s);
                        return;
                }
                draft_paths(d, line[last], &own);
                if (!own.paths) { /* an era without paths would have the recipe's */
                        strings_free(steal_pointer(d->keys.paths));
                        buffer_done(&d->keys.about_paths);
                        buffer_adds(&d->keys.about_paths, own.about_paths.data);
                }
                write_tried(d, line[last], &own, way);
                keys = &own;
        }
}

void draft_eras(struct draft *d, const struct way *way)
{
        cleanup(era_list_done) struct era_list eras = {0};
        size_t begin;

        if (d->try_eras) {
                try_eras(d);
                return;
        }
        find_eras(d, way, &eras);
        begin = eras.n > ERAS_MAX + 1 ? eras.n - ERAS_MAX - 1 : 0;
        if (begin > 0)
                buffer_addf(&d->eras, "\n# %zu older eras are not written here: the ways to build change too often.\n", begin);
        for (size_t i = begin; i + 1 < eras.n; i++)
                if (*eras.list[i].name)
                        write_usual(d, &eras.list[i], way);
}
