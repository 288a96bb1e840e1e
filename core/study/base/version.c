#include "core/study/base/version.h"

#include "core/build/era.h"
#include "core/recipe/recipe_keys.h"

struct version *version_free(struct version *v)
{
        if (v) {
                solver_unref(v->solver);
                free(v->text);
                free(v->name);
                free(v);
        }
        return NULL;
}

bool version_is_same(const struct version *a, const struct version *b)
{
        return strcmp(a->text, b->text) == 0;
}

/* -- recipes with a change -- */

/* The solver as this version runs it. Its recipe is that of `s`; for a program, `like`: that of the solver among whose versions it is run (NULL: none).
 * `run` and `seed` are the commit's, as a released program may have its own; `arguments` (NULL: none) follow. With a changed recipe it is a new solver,
 * which only this version knows of. */
static struct solver *solver_at(struct solver *s, uint32_t commit, const struct recipe *like, const char *arguments)
{
        const struct recipe *at = solver_recipe_at(s, commit);
        struct recipe *recipe;

        if (at == s->recipe && !like && !arguments)
                return solver_ref(s);
        recipe = recipe_copy(like ?: s->recipe);
        if (at != s->recipe || like) {
                set_string(&recipe->name, s->recipe->name);
                set_string(&recipe->run, at->run);
                set_string(&recipe->seed, at->seed);
                set_string(&recipe->base, NULL);
                set_string(&recipe->arguments, NULL);
        }
        if (arguments)
                recipe_add_arguments(recipe, arguments);
        recipe->builder = s->recipe->builder;
        recipe->is_programs = s->recipe->is_programs;
        recipe_share_eras(recipe, s->recipe); /* what it is built by */
        return solver_with(s, recipe);
}

/* -- parsing: a commit, perhaps with arguments, or a program -- */

static int parse_commit(struct version *v, struct solver *s, const char *text)
{
        cleanup_free char *revision = copy_string(text);
        char *colon = strchr(revision, ':');
        char sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        int r;

        if (colon)
                *colon++ = '\0';
        r = history_resolve(s->history, revision, &v->commit) ?: history_commit(s->history, v->commit, &c);
        if (r == 0 && colon && *colon == '\0')
                r = errorf(-EINVAL, "no arguments follow the colon of '%s'", text);
        if (r < 0)
                return r;
        v->solver = solver_at(s, v->commit, NULL, colon);
        v->has_arguments = colon;
        oid_print(sha, sizeof(sha), &c.oid);
        v->text = format_string("%s%s%s", sha, colon ? ":" : "", colon ? colon : "");
        return 0;
}

static int parse_program(struct version *v, struct workspace *w, const struct solver *s, const char *text, int cancel_fd)
{
        cleanup(solver_unrefp) struct solver *programs = NULL;
        const struct recipe *binary;
        char sha[GIT_OID_HEXSZ + 1];
        struct commit c;
        int r = program_commit(w, text, cancel_fd, NULL, &programs, &v->commit)
            ?: history_commit(programs->history, v->commit, &c);

        if (r < 0)
                return r;
        v->solver = solver_at(programs, v->commit, s->number == programs->number ? NULL : s->recipe, NULL);
        free(v->name);
        v->name = copy_string(commit_label(programs, v->commit).s);
        if (s->number == programs->number) { /* a commit like all of its versions */
                v->text = copy_string(oid_print(sha, sizeof(sha), &c.oid));
                return 0;
        }
        r = era_of(programs->history, programs->recipe, v->commit, &binary);
        if (r == 0)
                v->text = format_string("%s@sha256:%s", text, binary->sha256);
        return r;
}

int version_parse(struct workspace *w, struct solver *s, const char *text, int cancel_fd, struct version **ret)
{
        cleanup_version struct version *v = allocate(1, sizeof(*v));
        int r;

        v->name = copy_string(text);
        r = program_is_text(text) ? parse_program(v, w, s, text, cancel_fd) : parse_commit(v, s, text);
        if (r == 0)
                *ret = steal_pointer(v);
        return r;
}

int version_parse_in_full(struct workspace *w, struct solver *s, const char *text, int cancel_fd, struct version **ret)
{
        const char *digest = version_begins_with_sha(text) ? NULL : version_digest(text);
        cleanup_free char *bare = copy_prefix(text, digest ? (size_t)(digest - text) : strlen(text));
        int r = version_parse(w, s, bare, cancel_fd, ret);

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

/* -- texts in full -- */

bool version_begins_with_sha(const char *text)
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

const char *version_digest(const char *text)
{
        size_t n = strlen(text), suffix = 8 + 2 * DIGEST_SIZE;
        const char *at = text + n - MIN(n, suffix);

        return strncmp(at, "@sha256:", 8) == 0 && strspn(at + 8, "0123456789abcdef") == 2 * DIGEST_SIZE ? at : NULL;
}

char *version_brief(const struct solver *s, const char *text)
{
        const char *digest = version_begins_with_sha(text) ? NULL : version_digest(text);
        struct commit_label name;
        uint32_t commit;

        if (!version_begins_with_sha(text))
                return copy_prefix(text, digest ? (size_t)(digest - text) : strlen(text));
        if (s->recipe->is_programs && version_commit(s, text, &commit) == 0)
                name = commit_label(s, commit);
        else
                snprintf(name.s, sizeof(name.s), "%.12s", text);
        return format_string("%s%s", name.s, text + MIN(strlen(text), (size_t)GIT_OID_HEXSZ));
}

bool version_has_history(const struct solver *s, const char *text)
{
        return version_begins_with_sha(text) && !s->recipe->is_programs;
}

/* -- its program -- */

int version_build(struct engine *e, struct workspace *w, const struct version *v, enum priority p, int cancel_fd)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *value = NULL;
        int r = query_build(w, v->solver, v->commit, &q) ?: engine_get(e, q, p, COMPUTE_IF_UNKNOWN, cancel_fd, &value);

        if (r == 0 && !((struct build_value *)value)->record->ok)
                r = errorf(-ENODATA, "%s cannot be built at %s; 'solverfs build %s %.12s' shows why", v->solver->recipe->name,
                           v->name, v->solver->recipe->name, v->text);
        return r;
}

int version_hold(struct workspace *w, const struct version *v, struct held *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_find(w, v->solver, v->commit, WITHOUT_LOG, &record);

        *ret = (struct held){0};
        if (r == 0)
                r = held_build(w, record, ret);
        return r == -ENODATA ? errorf(r, "%s cannot be built at %s", v->solver->recipe->name, v->name) : r;
}

int version_ask(struct workspace *w, const struct version *v, const struct held *programs, const cpu_set_t *cpus, struct run_remote *remote,
                int cancel_fd, char ret[VERSION_LINE])
{
        int code, r = program_ask_version(w, v->solver->recipe, programs->list, programs->n, cpus, remote, cancel_fd, &code, ret);

        if (!strpbrk(ret, "0123456789"))
                *ret = '\0';
        return r;
}
