#include "core/study/base/version.h"

#include "core/build/era.h"
#include "core/recipe/recipe_keys.h"

struct version *version_free(struct version *v)
{
        if (!v)
                return NULL;
        solver_unref(v->solver);
        free(v->text);
        free(v->name);
        free(v);
        return NULL;
}

bool version_is_same(const struct version *a, const struct version *b)
{
        return strcmp(a->text, b->text) == 0;
}

/* -- recipes with a change -- */

/* A copy of the recipe, through its text. */
static int copy_recipe(const struct recipe *recipe, struct recipe **ret)
{
        cleanup_buffer struct buffer text = {0};
        struct recipe **list;
        size_t n;
        int r = recipe_print(recipe, &text);

        if (r < 0)
                return r;
        r = recipe_parse(text.data, recipe->name, recipe->name, &list, &n);
        if (r < 0)
                return r;
        *ret = recipe_ref(list[0]);
        recipe_list_free(list, n);
        free((*ret)->base);
        free((*ret)->repository);
        (*ret)->base = recipe->base ? strdup(recipe->base) : NULL;
        (*ret)->repository = recipe->repository ? strdup(recipe->repository) : NULL;
        return 0;
}

/* The solver with another recipe, which it takes over. Only this version knows of it. */
static struct solver *with_recipe(const struct solver *s, struct recipe *recipe)
{
        struct solver *with = allocate(1, sizeof(*with));

        *with = (struct solver){
                .refs = 1, .number = s->number, .version = s->version, .recipe = recipe, .history = history_ref(s->history), .place = s->place};
        with->repository = recipe->base ? recipe->base : recipe->name;
        return with;
}

/* As it is at a commit: of a released program that is run in its own way, with that one's `run` and `seed`. All else is as in `like`; NULL: as in the
 * solver's recipe. */
static struct solver *solver_at(struct solver *s, uint32_t commit, const struct recipe *like)
{
        const struct recipe *at = solver_recipe_at(s, commit);
        struct recipe *recipe;

        if (at == s->recipe && !like)
                return solver_ref(s);
        recipe = recipe_copy(like ?: s->recipe);
        free(recipe->name);
        free(recipe->base);
        free(recipe->run);
        free(recipe->seed);
        free(recipe->arguments);
        recipe->name = copy_string(s->recipe->name);
        recipe->run = copy_string(at->run);
        recipe->seed = at->seed ? copy_string(at->seed) : NULL;
        recipe->base = recipe->arguments = NULL;
        recipe->builder = s->recipe->builder;
        recipe->is_programs = s->recipe->is_programs;
        recipe_share_eras(recipe, s->recipe); /* what it is built by */
        return with_recipe(s, recipe);
}

static int add_arguments(struct version *v, const char *arguments)
{
        cleanup(solver_unrefp) struct solver *s = steal_pointer(v->solver);
        cleanup_buffer struct buffer b = {0};
        struct recipe *recipe = NULL;
        int r = copy_recipe(s->recipe, &recipe);

        if (r < 0)
                return r;
        recipe->is_programs = s->recipe->is_programs;
        recipe->has_calls = false;
        if (recipe->arguments)
                buffer_addf(&b, "%s ", recipe->arguments);
        buffer_adds(&b, arguments);
        free(recipe->arguments);
        recipe->arguments = steal_pointer(b.data);
        v->solver = with_recipe(s, recipe);
        v->has_arguments = true;
        return 0;
}

/* -- the three kinds -- */

static int parse_commit(struct version *v, struct solver *s, const char *text)
{
        cleanup_free char *revision = strdup(text);
        char *colon = revision ? strchr(revision, ':') : NULL;
        char sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        int r;

        if (!revision)
                return -ENOMEM;
        if (colon)
                *colon++ = '\0';
        r = history_resolve(s->history, revision, &v->commit);
        if (r == 0)
                r = history_commit(s->history, v->commit, &c);
        if (r == 0 && colon && *colon == '\0')
                r = errorf(-EINVAL, "no arguments follow the colon of '%s'", text);
        if (r == 0)
                v->solver = solver_at(s, v->commit, NULL);
        if (r == 0 && colon)
                r = add_arguments(v, colon);
        if (r < 0)
                return r;
        git_oid_tostr(sha, sizeof(sha), &c.oid);
        if (asprintf(&v->text, "%s%s%s", sha, colon ? ":" : "", colon ? colon : "") < 0)
                v->text = NULL;
        return v->text ? 0 : -ENOMEM;
}

static int parse_program(struct version *v, struct workspace *w, const struct solver *s, const char *text)
{
        cleanup(solver_unrefp) struct solver *programs = NULL;
        const struct recipe *binary;
        char name[COMMIT_NAME_SIZE], sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        int r = program_commit(w, text, &programs, &v->commit);

        if (r == 0)
                r = history_commit(programs->history, v->commit, &c);
        if (r < 0)
                return r;
        v->solver = solver_at(programs, v->commit, s->number == programs->number ? NULL : s->recipe);
        program_name_at(programs, v->commit, name);
        free(v->name);
        v->name = copy_string(name);
        if (s->number == programs->number) { /* a commit like all of its versions */
                v->text = copy_string(git_oid_tostr(sha, sizeof(sha), &c.oid));
                return 0;
        }
        r = era_of(programs->history, programs->recipe, v->commit, &binary);
        if (r == 0)
                v->text = format_string("%s@sha256:%s", text, binary->sha256);
        return r;
}

bool version_is_of_history(const char *text)
{
        return *text && !program_is_text(text);
}

bool version_is_commit(const char *text)
{
        return strlen(text) == GIT_OID_HEXSZ && strspn(text, "0123456789abcdefABCDEF") == GIT_OID_HEXSZ;
}

int version_commit(const struct solver *s, const char *text, uint32_t *ret)
{
        char sha[GIT_OID_HEXSZ + 1];

        snprintf(sha, sizeof(sha), "%.40s", text);
        return history_resolve(s->history, sha, ret);
}

char *version_brief(const struct solver *s, const char *text)
{
        const char *digest = version_is_of_history(text) ? NULL : strstr(text, "@sha256:");
        char name[COMMIT_NAME_SIZE];
        uint32_t commit;

        if (!version_is_of_history(text))
                return copy_prefix(text, digest ? (size_t)(digest - text) : strlen(text));
        if (s->recipe->is_programs && version_commit(s, text, &commit) == 0)
                program_name_at(s, commit, name);
        else
                snprintf(name, sizeof(name), "%.12s", text);
        return format_string("%s%s", name, text + MIN(strlen(text), (size_t)GIT_OID_HEXSZ));
}

bool version_has_history(const struct solver *s, const char *text)
{
        return version_is_of_history(text) && !s->recipe->is_programs;
}

int version_parse_in_full(struct workspace *w, struct solver *s, const char *text, struct version **ret)
{
        const char *digest = version_is_of_history(text) ? NULL : strstr(text, "@sha256:");
        cleanup_free char *bare = strndup(text, digest ? (size_t)(digest - text) : strlen(text));
        int r = bare ? version_parse(w, s, bare, ret) : -ENOMEM;

        if (r == 0 && strcmp((*ret)->text, text) != 0) {
                *ret = version_free(*ret);
                r = errorf(-ESTALE, "the program of '%s' is not the one that was meant: it has other bytes now", bare);
        }
        if (r < 0)
                return r;
        free((*ret)->name);
        (*ret)->name = version_brief(s, text);
        return 0;
}

int version_parse(struct workspace *w, struct solver *s, const char *text, struct version **ret)
{
        cleanup_version struct version *v = calloc(1, sizeof(*v));
        bool is_program = program_is_text(text);
        int r;

        if (!v)
                return -ENOMEM;
        v->name = copy_string(text);
        r = is_program ? parse_program(v, w, s, text) : parse_commit(v, s, text);
        if (r < 0)
                return r;
        *ret = steal_pointer(v);
        return 0;
}

/* -- building and holding -- */

int version_build(struct engine *e, struct workspace *w, const struct version *v, enum priority p, int cancel_fd)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *value = NULL;
        int r;

        r = query_build(w, v->solver, v->commit, &q);
        if (r == 0)
                r = engine_get(e, q, p, false, cancel_fd, &value);
        if (r == 0 && !((struct build_value *)value)->record->ok)
                r = errorf(-ENODATA, "%s cannot be built at %s; 'solverfs build %s %.12s' shows why", v->solver->recipe->name,
                           v->name, v->solver->repository, v->text);
        return r;
}

int version_hold(struct workspace *w, const struct version *v, struct held *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r;

        *ret = (struct held){0};
        r = build_find(w, v->solver, v->commit, false, &record);
        if (r == 0)
                r = held_build(w, record, ret);
        return r == -ENODATA ? errorf(r, "%s cannot be built at %s", v->solver->recipe->name, v->name) : r;
}

/* -- what it says of itself -- */

int version_ask(struct workspace *w, const struct version *v, const struct held *programs, const cpu_set_t *cpus, struct run_away *away,
                int cancel_fd, char ret[VERSION_LINE])
{
        cleanup(recipe_unrefp) struct recipe *recipe = NULL;
        int code, r = copy_recipe(v->solver->recipe, &recipe);

        *ret = '\0';
        if (r == 0)
                r = program_ask_version(w, recipe, programs->list, programs->n, cpus, away, cancel_fd, &code, ret);
        if (!strpbrk(ret, "0123456789"))
                *ret = '\0';
        return r;
}
