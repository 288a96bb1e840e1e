#include "core/study/base/version.h"

#include <fcntl.h>

#include "core/query/program_digest.h"

#define EXEC_PREFIX "exec:"

struct version *version_free(struct version *v)
{
        if (!v)
                return NULL;
        solver_unref(v->solver);
        free(v->text);
        free(v->name);
        free(v->path);
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
        struct solver *with = calloc(1, sizeof(*with));

        if (!with) {
                recipe_unref(recipe);
                return NULL;
        }
        *with = (struct solver){
                .refs = 1, .number = s->number, .version = s->version, .recipe = recipe, .history = history_ref(s->history), .place = s->place};
        with->repository = recipe->base ? recipe->base : recipe->name;
        return with;
}

static int add_arguments(struct version *v, const struct solver *s, const char *arguments)
{
        struct recipe *recipe = NULL;
        cleanup_buffer struct buffer b = {0};
        int r = copy_recipe(s->recipe, &recipe);

        if (r < 0)
                return r;
        if (recipe->arguments)
                buffer_addf(&b, "%s ", recipe->arguments);
        buffer_adds(&b, arguments);
        free(recipe->arguments);
        recipe->arguments = buffer_error(&b) == 0 ? steal_pointer(b.data) : NULL;
        if (!recipe->arguments) {
                recipe_unref(recipe);
                return -ENOMEM;
        }
        v->solver = with_recipe(s, recipe);
        v->has_arguments = true;
        return v->solver ? 0 : -ENOMEM;
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
        if (r == 0 && colon)
                r = add_arguments(v, s, colon);
        else if (r == 0)
                v->solver = solver_ref(s);
        if (r < 0)
                return r;
        git_oid_tostr(sha, sizeof(sha), &c.oid);
        if (asprintf(&v->text, "%s%s%s", sha, colon ? ":" : "", colon ? colon : "") < 0)
                v->text = NULL;
        return v->text ? 0 : -ENOMEM;
}

/* The path in front of a command, in single quotes where it has blanks; *ret_arguments: what follows. */
static int split_path(const char *command, char **ret, const char **ret_arguments)
{
        bool is_quoted = command[0] == '\'';
        size_t n = strcspn(command + is_quoted, is_quoted ? "'" : " ");

        if (is_quoted && command[1 + n] != '\'')
                return errorf(-EINVAL, "the quote in '%s' is not closed", command);
        *ret = strndup(command + is_quoted, n);
        *ret_arguments = command + n + (is_quoted ? 2 : 0);
        return *ret ? 0 : -ENOMEM;
}

static int parse_program(struct version *v, struct solver *s, const char *text)
{
        cleanup_free char *path = NULL;
        struct recipe *recipe = NULL;
        const char *arguments;
        char hex[DIGEST_HEX_SIZE];
        struct digest digest;
        int r = split_path(text + strlen(EXEC_PREFIX), &path, &arguments);

        if (r < 0)
                return r;
        if (path[0] != '/')
                return errorf(-EINVAL, "'%s' names a program without its whole path; write exec:/usr/bin/z3, say", text);
        v->path = realpath(path, NULL);
        if (!v->path)
                return errorf(-errno, "there is no program %s: %s", path, strerror(errno));
        r = program_digest(v->path, &digest);
        if (r == 0)
                r = copy_recipe(s->recipe, &recipe);
        if (r < 0)
                return r;
        free(recipe->run);
        free(recipe->arguments);
        free(recipe->seed);
        recipe->arguments = recipe->seed = NULL;
        if (asprintf(&recipe->run, "{bin}%s {case}", arguments) < 0)
                recipe->run = NULL;
        if (!recipe->run) {
                recipe_unref(recipe);
                return -ENOMEM;
        }
        v->commit = COMMIT_NONE;
        v->solver = with_recipe(s, recipe);
        digest_hex(&digest, hex);
        if (!v->solver || asprintf(&v->text, "%s@sha256:%s", text, hex) < 0)
                return -ENOMEM;
        return 0;
}

bool version_is_of_history(const char *text)
{
        return *text && strncmp(text, EXEC_PREFIX, strlen(EXEC_PREFIX)) != 0;
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

char *version_brief(const char *text)
{
        const char *digest = version_is_of_history(text) ? NULL : strstr(text, "@sha256:");
        char *brief;

        if (!version_is_of_history(text))
                return strndup(text, digest ? (size_t)(digest - text) : strlen(text));
        if (asprintf(&brief, "%.12s%s", text, text + MIN(strlen(text), (size_t)GIT_OID_HEXSZ)) < 0)
                return NULL;
        return brief;
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
        (*ret)->name = version_brief(text);
        if (!(*ret)->name)
                *ret = version_free(*ret);
        return *ret ? 0 : -ENOMEM;
}

int version_parse(struct workspace *w, struct solver *s, const char *text, struct version **ret)
{
        cleanup_version struct version *v = calloc(1, sizeof(*v));
        bool is_program = strncmp(text, EXEC_PREFIX, strlen(EXEC_PREFIX)) == 0;
        int r;

        if (!v)
                return -ENOMEM;
        v->kind = is_program ? VERSION_PROGRAM : VERSION_COMMIT;
        v->name = strdup(text);
        r = !v->name ? -ENOMEM : is_program ? parse_program(v, s, text) : parse_commit(v, s, text);
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

        if (v->kind == VERSION_PROGRAM)
                return 0;
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
        if (v->kind == VERSION_PROGRAM)
                return held_program(v->path, ret);
        r = build_find(w, v->solver, v->commit, false, &record);
        if (r == 0)
                r = held_build(w, record, ret);
        return r == -ENODATA ? errorf(r, "%s cannot be built at %s", v->solver->recipe->name, v->name) : r;
}

/* -- what it says of itself -- */

#define ASK_NS (10 * NSEC_PER_SEC)

static int run_to_ask(struct workspace *w, struct recipe *recipe, const struct held *programs, const cpu_set_t *cpus, struct run_away *away,
                      int cancel_fd, struct run_result *ret)
{
        cleanup(runner_closep) struct runner *runner = NULL;
        char scratch[PATH_SIZE];
        int r = path_join(scratch, workspace_dir(w), "scratch");

        recipe->limits.wall_ns = recipe->limits.cpu_ns = ASK_NS;
        if (r == 0)
                r = runner_open(&(struct runner_options){.recipe = recipe,
                                                         .programs = programs->list,
                                                         .n_programs = programs->n,
                                                         .limits = recipe->limits,
                                                         .scratch_parent = scratch,
                                                         .sandbox = workspace_settings(w)->sandbox,
                                                         .cpus = cpus,
                                                         .away = away},
                                &runner);
        return r < 0 ? r : runner_run(runner, &(struct run_input){.bytes = SLICE("", 0)}, cancel_fd, ret);
}

static void take_line(const struct blob *out, char ret[VERSION_LINE])
{
        const char *text = out->data;
        bool has_digit = false;
        size_t n = 0;

        for (; n < out->size && n < VERSION_LINE - 1 && text[n] >= ' ' && text[n] <= '~'; n++)
                has_digit |= text[n] >= '0' && text[n] <= '9';
        snprintf(ret, VERSION_LINE, "%.*s", has_digit ? (int)n : 0, has_digit ? text : "");
}

int version_ask(struct workspace *w, const struct version *v, const struct held *programs, const cpu_set_t *cpus, struct run_away *away,
                int cancel_fd, char ret[VERSION_LINE])
{
        cleanup(recipe_unrefp) struct recipe *recipe = NULL;
        struct run_result result = {0};
        int r = copy_recipe(v->solver->recipe, &recipe);

        *ret = '\0';
        if (r < 0)
                return r;
        free(recipe->run);
        free(recipe->arguments);
        recipe->run = strdup("{bin} --version");
        recipe->arguments = NULL;
        r = recipe->run ? run_to_ask(w, recipe, programs, cpus, away, cancel_fd, &result) : -ENOMEM;
        if (r == 0 && result.run.end == END_EXIT)
                take_line(&result.run.out, ret);
        run_result_done(&result);
        return r;
}
