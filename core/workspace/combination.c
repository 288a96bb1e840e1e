#include "core/workspace/combination.h"

#include "core/build/era.h"
#include "core/recipe/recipe_keys.h"

void combination_done(struct combination *c)
{
        for (int i = 0; i < 2; i++) {
                solver_unref(c->part[i].solver);
                free(c->part[i].revision);
        }
        free(c->path);
}

/* -- a word ------------------------------------------------------------------------------------------------------- */

/* NAME or NAME@REV */
static int find_part(struct workspace *w, const char *text, struct combination *ret, enum combination_part which)
{
        const char *at = strchrnul(text, '@');
        cleanup_free char *name = copy_prefix(text, (size_t)(at - text));

        ret->part[which].revision = *at ? copy_string(at + 1) : NULL;
        return workspace_solver(w, name, &ret->part[which].solver);
}

static int resolve(struct combination *c, enum combination_part which)
{
        const struct solver *s = c->part[which].solver;
        const struct recipe *r = s->recipe;

        if (r->base || r->is_programs || r->within)
                return errorf(-EINVAL, "%s cannot be one of two in one program: it is %s%s", r->name,
                              r->base ? "a variant; name its solver, " : "no plain solver", r->base ?: "");
        return c->part[which].revision ? history_resolve(s->history, c->part[which].revision, &c->part[which].commit) : 0;
}

int combination_parse(struct workspace *w, const char *word, struct combination *ret)
{
        cleanup_free char *name = copy_prefix(word, strcspn(word, "@"));
        cleanup(solver_unrefp) struct solver *there = NULL;
        int r = -ENOENT;

        if (strchr(name, '+') && workspace_solver(w, name, &there) == 0)
                return 0; /* a solver may have this name */
        for (const char *plus = word; r == -ENOENT && (plus = strchr(plus, '+')); plus++) {
                cleanup_free char *before = copy_prefix(word, (size_t)(plus - word));
                size_t n = strcspn(plus + 1, "=@");
                bool has_path = plus[1 + n] == '=';

                combination_done(ret);
                *ret = (struct combination){.path = has_path ? copy_prefix(plus + 1, n) : NULL};
                r = find_part(w, before, ret, HOST) ?: find_part(w, plus + 1 + (has_path ? n + 1 : 0), ret, LIBRARY);
        }
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        r = resolve(ret, HOST) ?: resolve(ret, LIBRARY);
        if (r == 0 && !ret->part[HOST].revision && !ret->part[LIBRARY].revision)
                r = errorf(-EINVAL, "'%s' holds neither of the two: give a revision to the one whose history is not meant, as in %s@HEAD", word, word);
        return r < 0 ? r : 1;
}

/* -- the variant: one part is `fixed` at its revision, the other part's history is the variant's -- */

static enum combination_part other(enum combination_part p)
{
        return p == HOST ? LIBRARY : HOST;
}

struct library_folder {
        const struct recipe *library;
        char *path; /* owned; NULL: not found yet */
};

/* Takes a submodule that has the library's address or name; then nonzero, which ends history_submodules(). */
static int take_if_library(void *user, const char *path, const char *url)
{
        struct library_folder *f = user;

        if (strcmp(url, f->library->repository ?: "") == 0 || strcmp(basename(path), f->library->name) == 0)
                f->path = copy_string(path);
        return f->path != NULL;
}

/* The library's folder in the host: as typed, else of the recipe's submodules, else of .gitmodules. NULL: not known. */
static char *find_path(const struct combination *c, const struct recipe *host)
{
        struct library_folder f = {c->part[LIBRARY].solver->recipe, c->path ? copy_string(c->path) : NULL};

        for (char *const *l = host->submodules; *l && !f.path; l++) {
                const struct recipe_submodule s = recipe_submodule(*l);
                cleanup_free char *path = copy_prefix(s.path.data, s.path.size), *url = copy_prefix(s.repository.data, s.repository.size);

                take_if_library(&f, path, url);
        }
        if (!f.path)
                history_submodules(c->part[HOST].solver->history, host->repository ?: "", take_if_library, &f);
        return f.path;
}

static char *name_of(const struct combination *c, enum combination_part fixed)
{
        const struct solver *s = c->part[fixed].solver;
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        bool is_tag = history_refs(s->history, &l) == 0 && ref_list_find(l, REF_TAG, c->part[fixed].revision);
        const struct commit_sha sha = full_sha(s, c->part[fixed].commit);
        cleanup_free char *label = format_string("-%.*s", is_tag ? 64 : 12, is_tag ? c->part[fixed].revision : sha.s); /* a tag's first 64 bytes */
        char *name = format_string("%s%s+%s%s%s%s", c->part[HOST].solver->recipe->name, fixed == HOST ? label : "", c->path ?: "", c->path ? "+" : "",
                                   c->part[LIBRARY].solver->recipe->name, fixed == LIBRARY ? label : "");

        for (char *p = name; *p; p++)
                *p = *p == '/' ? '.' : *p;
        return name;
}

/* The variant's recipe, as for the config: it leaves out what it shares with the solver whose variant it is, that is the address and, with a fixed
 * library, all lines `submodule` but one. *ret_line: the line in it that names the fixed part. */
static int make_recipe(const struct combination *c, enum combination_part fixed, const char *name, struct recipe **ret, char **ret_line)
{
        const struct solver *host = c->part[HOST].solver, *s = c->part[fixed].solver;
        const struct recipe *era = host->recipe;
        int r = fixed == HOST ? era_of(host->history, era, c->part[HOST].commit, &era) : 0;
        cleanup_free char *path = r == 0 ? find_path(c, era) : NULL;

        if (r == 0 && era->file)
                r = errorf(-EINVAL, "%s at %s is a released program, in which nothing can be exchanged", era->name, c->part[HOST].revision);
        if (r == 0 && !path)
                r = errorf(-ENOENT, "%s has no submodule that is %s: say the folder where its files are to stand, as in %s@REV+FOLDER=%s", era->name,
                           c->part[LIBRARY].solver->recipe->name, era->name, c->part[LIBRARY].solver->recipe->name);
        if (r < 0)
                return r;
        *ret_line = format_string("%s=%s %s", path, s->recipe->repository ?: "", full_sha(s, c->part[fixed].commit).s);
        *ret = recipe_copy(era);
        set_string(&(*ret)->name, name);
        set_string(&(*ret)->base, c->part[other(fixed)].solver->recipe->name);
        set_string(&(*ret)->repository, NULL);
        if (fixed == HOST) {
                set_string(&(*ret)->within, *ret_line);
        } else {
                strings_free(steal_pointer((*ret)->submodules));
                strings_add(&(*ret)->submodules, *ret_line);
        }
        return 0;
}

/* Adds the variant to the config. Fetches the commits first: a variant that cannot be built is useless. 0 also if another process has just added it. */
static int add(struct workspace *w, const struct solver *of, struct recipe *made, const char *line, const struct progress *p)
{
        const struct recipe_submodule fixed = recipe_submodule(line);
        const struct solver s = {.history = of->history, .recipe = made, .repository = of->repository};
        int r;

        if (store_read_only(workspace_store(w)))
                return errorf(-ENOENT, "there is no solver '%s' yet; a command that measures makes it", made->name);
        r = recipe_check_name(made->name) ?: workspace_fetch_sources(w, &s, p);
        if (r == 0 && !history_holds(of->history, fixed.commit))
                r = errorf(-ENOENT, "no branch or tag of %.*s has commit %.12s", (int)fixed.repository.size,
                           (const char *)fixed.repository.data, fixed.commit);
        if (r == 0)
                r = workspace_add_solver(w, &made, 1, NULL, p);
        workspace_look_again(w);
        return r == -EEXIST ? 0 : r;
}

/* True if `there` is a variant of the same solver with the same line for the fixed part. */
static bool is_same(const struct recipe *there, const struct recipe *made, const char *line)
{
        const char *its_line = there->within ?: recipe_find_submodule(there->submodules, recipe_submodule(line).path);

        return there->base && strcmp(there->base, made->base) == 0 && !there->within == !made->within && its_line && strcmp(its_line, line) == 0;
}

/* True if the variant's recipe is the one that would be made now, but for the address. With a fixed library there is nothing to compare: such a variant
 * follows the host's recipe. */
static bool is_alike(const struct recipe *there, struct recipe *made)
{
        cleanup_buffer struct buffer a = {0}, b = {0};

        set_string(&made->repository, there->repository);
        return !made->within || (recipe_print(there, &a) == 0 && recipe_print(made, &b) == 0 && same_bytes(a, b));
}

int combination_solver(struct workspace *w, const struct combination *c, enum combination_part fixed, const char *name, const struct progress *p,
                       struct solver **ret, char **ret_text)
{
        const struct solver *of = c->part[other(fixed)].solver;
        cleanup_free char *called = name ? copy_string(name) : name_of(c, fixed), *line = NULL;
        cleanup(recipe_unrefp) struct recipe *made = NULL;
        int r = make_recipe(c, fixed, called, &made, &line);

        *ret_text = NULL;
        if (r == 0)
                r = workspace_solver(w, called, ret);
        if (r == -ENOENT && made) {
                r = add(w, of, made, line, p) ?: workspace_solver(w, called, ret);
                if (r == 0)
                        *ret_text = format_string("added %s: %s, with %s (%s); 'solverfs solver remove %s' takes it out", called, of->recipe->name,
                                                  c->part[fixed].solver->recipe->name, line, called);
        }
        if (r == 0 && !is_same((*ret)->recipe, made, line))
                r = errorf(-EEXIST, "there is a solver '%s' already, which is another: give this one a name by 'solverfs solver add NAME WORD'", called);
        else if (r == 0 && !is_alike((*ret)->recipe, made))
                *ret_text = format_string("%s keeps the recipe that it was made with; %s has another one now: to take that, 'solverfs solver remove %s'",
                                          called, c->part[HOST].solver->recipe->name, called);
        return r;
}
