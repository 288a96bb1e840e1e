#include "core/workspace/combination.h"

#include "core/build/era.h"
#include "core/recipe/recipe_keys.h"

void combination_done(struct combination *c)
{
        solver_unref(c->host);
        solver_unref(c->library);
        free(c->path);
}

/* -- a word ------------------------------------------------------------------------------------------------------- */

/* NAME or NAME@REV; 0: no solver of the store has this name. *ret_revision points into the text; NULL: it has none. */
static int find_part(struct workspace *w, const char *text, struct solver **ret, const char **ret_revision)
{
        const char *at = strchr(text, '@');
        cleanup_free char *name = copy_prefix(text, at ? (size_t)(at - text) : strlen(text));
        int r = workspace_solver(w, name, ret);

        *ret_revision = at ? at + 1 : NULL;
        return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int find_commit(struct solver *s, const char *revision, uint32_t *ret)
{
        *ret = COMMIT_NONE;
        if (s->recipe->base || s->recipe->is_programs)
                return errorf(-EINVAL, "%s cannot be one of two in one program, as it is %s%s", s->recipe->name,
                              s->recipe->base ? "a variant: name its solver, " : "no solver with a history", s->recipe->base ?: "");
        return revision ? history_resolve(s->history, revision, ret) : 0;
}

/* The word split at this plus. */
static int parse_at(struct workspace *w, const char *word, const char *plus, struct combination *ret)
{
        cleanup_free char *before = copy_prefix(word, (size_t)(plus - word));
        const char *behind = plus + 1, *equals = behind + strcspn(behind, "=@"), *host_revision, *library_revision;
        int r = find_part(w, before, &ret->host, &host_revision);

        if (r == 1)
                r = find_part(w, *equals == '=' ? equals + 1 : behind, &ret->library, &library_revision);
        if (r < 1)
                return r;
        ret->path = *equals == '=' ? copy_prefix(behind, (size_t)(equals - behind)) : NULL;
        r = find_commit(ret->host, host_revision, &ret->host_commit);
        if (r == 0)
                r = find_commit(ret->library, library_revision, &ret->library_commit);
        if (r == 0 && !host_revision && !library_revision)
                r = errorf(-EINVAL, "'%s' holds neither of the two: write %s@REV+%s or %s@REV", word, before, behind, word);
        return r < 0 ? r : 1;
}

int combination_parse(struct workspace *w, const char *word, struct combination *ret)
{
        int r = 0;

        for (const char *plus = strchr(word, '+'); r == 0 && plus; plus = strchr(plus + 1, '+')) {
                combination_done(ret);
                *ret = (struct combination){.host_commit = COMMIT_NONE, .library_commit = COMMIT_NONE};
                r = parse_at(w, word, plus, ret);
        }
        return r;
}

/* -- where the library stands ------------------------------------------------------------------------------------- */

/* A repository's last part: "cadical" of https://github.com/arminbiere/cadical.git. */
static struct slice last_part(struct slice address)
{
        const char *text = address.data;
        size_t n = address.size, from;

        while (n > 0 && text[n - 1] == '/')
                n--;
        if (n > 4 && memcmp(text + n - 4, ".git", 4) == 0)
                n -= text[n - 5] == '/' ? 5 : 4; /* …/cadical/.git */
        for (from = n; from > 0 && text[from - 1] != '/' && text[from - 1] != ':'; from--)
                ;
        return SLICE(text + from, n - from);
}

struct finding_path {
        struct slice library; /* last_part() of its repository */
        char *path;           /* owned */
        bool is_ambiguous;
};

static void look_at(struct finding_path *f, struct slice path, struct slice repository)
{
        const struct slice name = last_part(repository);

        if (name.size != f->library.size || memcmp(name.data, f->library.data, name.size) != 0)
                return;
        f->is_ambiguous |= f->path && (strlen(f->path) != path.size || memcmp(f->path, path.data, path.size) != 0);
        free(f->path);
        f->path = copy_prefix(path.data, path.size);
}

static int look_at_submodule(void *user, const char *path, const char *url)
{
        look_at(user, slice_string(path), slice_string(url));
        return 0;
}

static int find_path(const struct combination *c, const struct recipe *host, char **ret)
{
        struct finding_path f = {.library = last_part(slice_string(c->library->recipe->repository ?: ""))};
        int r = 0;

        for (char *const *p = host->submodules; *p && !c->path; p++)
                look_at(&f, recipe_submodule(*p).path, recipe_submodule(*p).repository);
        if (!c->path && !f.path)
                r = history_submodules(c->host->history, host->repository ?: "", look_at_submodule, &f);
        *ret = c->path ? copy_string(c->path) : f.path;
        if (r == 0 && (!*ret || f.is_ambiguous))
                r = errorf(-ENOENT, "%s has %s submodule that is %s: say where its files are to stand, as in %s@REV+PATH=%s", host->name,
                           f.is_ambiguous ? "more than one" : "no", c->library->recipe->name, host->name, c->library->recipe->name);
        return r;
}

/* -- the variant -------------------------------------------------------------------------------------------------- */

static char *with_label(const struct combination *c, enum combination_held held, const char *label, int most)
{
        const char *host = c->host->recipe->name, *library = c->library->recipe->name, *path = c->path ?: "", *plus = c->path ? "+" : "";
        char *name = held == HOST_HELD ? format_string("%s-%.*s+%s%s%s", host, most, label, path, plus, library)
                                       : format_string("%s+%s%s%s-%.*s", host, path, plus, library, most, label);

        for (char *p = name; *p; p++)
                *p = *p == '/' ? '.' : *p;
        return name;
}

/* By the commit's tag, or twelve digits. */
static char *name_of(const struct combination *c, enum combination_held held)
{
        const struct solver *s = held == HOST_HELD ? c->host : c->library;
        const uint32_t commit = held == HOST_HELD ? c->host_commit : c->library_commit;
        cleanup(ref_list_unrefp) struct ref_list *l = NULL;
        const struct commit_sha sha = full_sha(s, commit);
        char *name = with_label(c, held, sha.s, 12);
        int r = history_refs(s->history, &l);

        for (size_t i = 0; r == 0 && i < l->n; i++) {
                cleanup_free char *with = l->list[i].kind == REF_TAG && l->list[i].commit == commit ? with_label(c, held, l->list[i].name, 64) : NULL;

                if (with && recipe_check_name(with) == 0) {
                        free(name);
                        return steal_pointer(with);
                }
        }
        return name;
}

/* "PATH=REPO COMMIT" */
static char *line_of(const char *path, const struct solver *s, uint32_t commit)
{
        return format_string("%s=%s %s", path, s->recipe->repository ?: "", full_sha(s, commit).s);
}

static void set_text(char **at, const char *text)
{
        free(*at);
        *at = text ? copy_string(text) : NULL;
}

/* The recipe that the variant is made with. `one`: the line that names what is held, alone in a list. */
static int make_recipe(const struct combination *c, enum combination_held held, const char *name, char *one[2], struct recipe **ret)
{
        const struct recipe *host = c->host->recipe, *of = held == HOST_HELD ? c->library->recipe : host;
        cleanup_free char *path = NULL;
        char **lines = allocate(1, sizeof(*lines));
        int r = held == HOST_HELD ? era_of(c->host->history, host, c->host_commit, &host) : 0;

        if (r == 0 && (host->file || host->within || c->library->recipe->within))
                r = errorf(-EINVAL, host->file ? "%s at %.12s is a released program, in which nothing can be exchanged" : "%s or %s is within another one already",
                           host->name, host->file ? full_sha(c->host, c->host_commit).s : c->library->recipe->name);
        if (r == 0)
                r = find_path(c, host, &path);
        if (r == 0) {
                one[0] = held == HOST_HELD ? line_of(path, c->host, c->host_commit) : line_of(path, c->library, c->library_commit);
                *ret = recipe_copy(host);
                set_text(&(*ret)->name, name);
                set_text(&(*ret)->base, of->name);
                set_text(&(*ret)->repository, NULL);
                set_text(&(*ret)->within, held == HOST_HELD ? one[0] : NULL);
                for (char *const *p = host->submodules; *p && held == HOST_HELD; p++)
                        if (!recipe_find_submodule(one, recipe_submodule(*p).path))
                                strings_add(&lines, *p);
                if (held == LIBRARY_HELD)
                        strings_add(&lines, one[0]);
                strings_free((*ret)->submodules);
                (*ret)->submodules = steal_pointer(lines);
        }
        strings_free(lines);
        return r;
}

/* Is it a variant of that solver, with that one held? */
static bool is_same(const struct recipe *there, const struct recipe *made, const char *line)
{
        const char *held = there->within ?: recipe_find_submodule(there->submodules, recipe_submodule(line).path);

        return there->base && strcmp(there->base, made->base) == 0 && !there->within == !made->within && held && strcmp(held, line) == 0;
}

static bool is_alike(const struct recipe *there, struct recipe *made)
{
        cleanup_buffer struct buffer a = {0}, b = {0};

        set_text(&made->repository, there->repository);
        return !made->within || (recipe_print(there, &a) == 0 && recipe_print(made, &b) == 0 && a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
}

/* The commits first: a variant that cannot be built is no use. */
static int add(struct workspace *w, const struct solver *of, struct recipe *made, const char *line, const struct progress *p)
{
        const struct recipe_submodule held = recipe_submodule(line);
        const struct solver s = {.history = of->history, .recipe = made, .repository = of->repository};
        int r;

        if (store_read_only(workspace_store(w)))
                return errorf(-ENOENT, "there is no solver '%s' yet; a command that measures makes it", made->name);
        r = recipe_check_name(made->name);
        if (r == 0)
                r = workspace_fetch_elsewhere(w, &s, p);
        if (r == 0 && !history_holds(of->history, held.commit))
                r = errorf(-ENOENT, "commit %.12s cannot be had from %.*s: no branch or tag of it has that commit", held.commit, (int)held.repository.size,
                           (const char *)held.repository.data);
        if (r == 0)
                r = workspace_add_variant(w, made);
        return r == -EEXIST ? 0 : r; /* another process was faster */
}

int combination_solver(struct workspace *w, const struct combination *c, enum combination_held held, const char *name, const struct progress *p,
                       struct solver **ret, char **ret_text)
{
        const struct solver *of = held == HOST_HELD ? c->library : c->host;
        cleanup_free char *own_name = name ? copy_string(name) : name_of(c, held), *line = NULL;
        cleanup(recipe_unrefp) struct recipe *made = NULL;
        char *one[2] = {NULL, NULL};
        int r = make_recipe(c, held, own_name, one, &made);

        *ret_text = NULL;
        line = one[0];
        if (r == 0)
                r = workspace_solver(w, own_name, ret);
        if (r == -ENOENT && made) {
                r = add(w, of, made, line, p);
                if (r == 0)
                        r = workspace_solver(w, own_name, ret);
                if (r == 0)
                        *ret_text = format_string("added %s: %s, with %s (%s); 'solverfs solver remove %s' takes it out", own_name, of->recipe->name,
                                                  (held == HOST_HELD ? c->host : c->library)->recipe->name, line, own_name);
        }
        if (r == 0 && !is_same((*ret)->recipe, made, line))
                r = errorf(-EEXIST, "there is a solver '%s' already, which is another: give this one a name by 'solverfs solver add NAME WORD'", own_name);
        if (r == 0 && !is_alike((*ret)->recipe, made))
                *ret_text = format_string("%s keeps the recipe that it was made with; %s has another one now: 'solverfs solver remove %s' first, to take that",
                                          own_name, c->host->recipe->name, own_name);
        return r;
}
