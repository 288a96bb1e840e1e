/* Writes recipes as git-config text: whole ones for reading, and sections of the store's config. */
#include "core/recipe/recipe.h"

#include "cache/base/lock.h"
#include "core/git/gitconfig.h"
#include "core/recipe/recipe_keys.h"

static void print_entry(struct buffer *b, const char *key, const char *value)
{
        gitconfig_line(b, "    ", key, value);
}

static void print_value(struct buffer *b, const struct recipe_key *k, const void *field)
{
        if (k->kind == KIND_RETIRED) /* without a value */
                return;
        if (recipe_key_repeats(k)) {
                for (char *const *p = *(char *const *const *)field; p && *p; p++)
                        print_entry(b, k->name, *p);
        } else if (recipe_key_is_string(k)) {
                if (*(char *const *)field)
                        print_entry(b, k->name, *(char *const *)field);
        } else if (k->kind == KIND_FORMAT) {
                print_entry(b, k->name, format_name(*(const enum format *)field));
        } else {
                print_entry(b, k->name, recipe_quantity(k, *(const uint64_t *)field).s);
        }
}

/* True if both print the same value. */
static bool same_value(const struct recipe_key *k, const struct recipe *a, const struct recipe *b)
{
        cleanup_buffer struct buffer x = {0}, y = {0};

        print_value(&x, k, recipe_field(a, k));
        print_value(&y, k, recipe_field(b, k));
        return same_bytes(x, y);
}

/* Prints [era "A..B"] with the keys that differ; `owner` (may be NULL) precedes the range, as in a config. */
static void print_era(struct buffer *b, const struct recipe *era, const struct recipe *than, const char *owner)
{
        bool binary = era->file != NULL;

        buffer_addf(b, "[%s \"%s%s", binary ? "binary" : "era", owner ?: "", owner ? " " : "");
        for (const char *p = era->range; *p; p++)
                buffer_addf(b, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
        buffer_adds(b, "\"]\n");
        if (owner && era->text) {
                buffer_adds(b, era->text);
                return;
        }
        for (size_t i = 0; i < N_RECIPE_KEYS; i++) {
                const struct recipe_key *k = &recipe_keys[i];
                bool is_call = k->offset == offsetof(struct recipe, run) || k->offset == offsetof(struct recipe, seed);
                /* a binary without `output` is the program itself; a variant's binaries are run as the variant is */
                bool said = k->kind == KIND_OUTPUTS && binary ? era->is_archive : !(is_call && than->base) && !same_value(k, era, than);

                if (k->places & (binary ? PLACE_BINARY : PLACE_ERA) && said)
                        print_value(b, k, recipe_field(era, k));
        }
}

/* A CPU limit that equals the timeout is left out: whoever edits the text and changes the timeout means both. */
int recipe_print(const struct recipe *r, struct buffer *ret)
{
        const bool cpu_follows = r->limits.cpu_ns == r->limits.wall_ns;

        buffer_addf(ret, "# %s%s%s", r->name, r->base ? ", a variant of " : "", r->base ?: "");
        if (r->repository) {
                buffer_adds(ret, ", from ");
                gitconfig_quote(ret, r->repository); /* quoted: a path may have newlines, a comment must not */
        }
        buffer_adds(ret, "\n[solver]\n");
        for (size_t i = 0; i < N_RECIPE_KEYS; i++) {
                const struct recipe_key *k = &recipe_keys[i];

                if (k->places & PLACE_SOLVER && !(k->places & PLACE_CONFIG) && !(k->kind == KIND_DIALECT && r->format == FORMAT_CNF) &&
                    !(k->offset == offsetof(struct recipe, limits.cpu_ns) && cpu_follows))
                        print_value(ret, k, recipe_field(r, k));
        }
        for (size_t i = 0; i < r->n_eras; i++)
                print_era(ret, r->eras[i], r, NULL);
        return buffer_error(ret);
}

int recipe_add_submodule(struct recipe *r, const char *path, const char *repository)
{
        cleanup_free char *line = format_string("%s=%s", path, repository);
        struct buffer text = {0};

        strings_add(&r->submodules, line);
        if (!r->text)
                return 0;
        buffer_adds(&text, r->text);
        print_entry(&text, "submodule", line);
        free(r->text);
        r->text = text.data;
        return 0;
}

/* -- the store's config ----------------------------------------------------------------------------------------- */

/* Prints the keys that differ from `than` (the defaults, or a variant's solver), and a CPU limit that does not follow from the timeout. */
static void print_section(struct buffer *b, const struct recipe *r, const struct recipe *than)
{
        bool variant = r->base != NULL, cpu_follows = than->limits.cpu_ns == than->limits.wall_ns;
        uint64_t cpu_unsaid = cpu_follows ? r->limits.wall_ns : than->limits.cpu_ns;
        unsigned places = !variant ? PLACE_SOLVER : r->within ? PLACE_VARIANT | PLACE_SOLVER : PLACE_VARIANT;

        buffer_addf(b, "[solver \"%s\"]\n", r->name);
        if (r->text) { /* our own keys come last, so that a comment at the end stays with its section */
                buffer_adds(b, r->text);
                if (variant || r->repository)
                        print_entry(b, variant ? "variant" : "repository", variant ? r->base : r->repository);
                if (r->runs && !(variant && than->runs && strcmp(r->runs, than->runs) == 0))
                        print_entry(b, "runs", r->runs);
                if (r->builds && (!variant || r->within))
                        print_entry(b, "builds", r->builds);
                return;
        }
        for (size_t i = 0; i < N_RECIPE_KEYS; i++) {
                const struct recipe_key *k = &recipe_keys[i];
                bool base = k->offset == offsetof(struct recipe, base), cpu = k->offset == offsetof(struct recipe, limits.cpu_ns);
                bool differs = cpu ? r->limits.cpu_ns != cpu_unsaid : !same_value(k, r, than);

                if (base ? variant : k->places & places && differs)
                        print_value(b, k, recipe_field(r, k));
        }
}

struct edit {
        struct slice text;
        struct gitconfig config;
        struct recipe *const *list; /* to be written */
        size_t n;
        struct recipe *defaults, **old; /* `old`: the recipes of `text` */
        size_t n_old;
        const char *kind;        /* of the sections to be removed, such as "solver" */
        const char *const *gone; /* names of sections to be removed */
        size_t n_gone;
        const char *more; /* to be appended; NULL: nothing */
        struct buffer out;
};

/* Prints the recipe's section, and its eras' unless it is a variant, which has its solver's. */
static int print_new(struct edit *e, const struct recipe *r)
{
        const struct recipe *than = e->defaults;

        if (r->base && !r->within) {
                than = recipe_find(e->list, e->n, r->base) ?: recipe_find(e->old, e->n_old, r->base);
                if (!than)
                        return errorf(-EINVAL, "'%s' is a variant of '%s', which is not there", r->name, r->base);
        }
        print_section(&e->out, r, than);
        for (size_t i = 0; !r->base && i < r->n_eras; i++)
                print_era(&e->out, r->eras[i], r, r->name);
        return 0;
}

static bool is_gone(const struct edit *e, const char *name)
{
        for (size_t i = 0; i < e->n_gone; i++)
                if (strcmp(e->gone[i], name) == 0)
                        return true;
        return false;
}

static void end_line(struct buffer *b)
{
        if (b->size > 0 && b->data[b->size - 1] != '\n')
                buffer_adds(b, "\n");
}

/* Copies the text, with each recipe in the first place of its solver; new ones come last. */
static int rewrite(struct edit *e)
{
        cleanup_free bool *written = allocate(e->n + 1, sizeof(*written));
        const char *text = e->text.data;
        size_t at = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < e->config.n_sections; i++) {
                const struct gitconfig_section *s = &e->config.sections[i];
                cleanup_free char *owner = NULL; /* the section's solver: z3 for [era "z3 v1..v2"] */
                bool is_solver = strcmp(s->name, "solver") == 0;
                size_t k = 0;

                if (!s->subsection || !(strcmp(e->kind, "solver") == 0 ? recipe_has_section(s->name) : strcmp(s->name, e->kind) == 0))
                        continue;
                owner = copy_prefix(s->subsection, strcspn(s->subsection, is_solver ? "" : " "));
                while (k < e->n && strcmp(e->list[k]->name, owner) != 0)
                        k++;
                if (k == e->n && !is_gone(e, owner))
                        continue;
                buffer_add(&e->out, text + at, s->begin - at);
                at = s->end;
                if (at < e->text.size && text[at] == '\r')
                        at++;
                at += at < e->text.size && text[at] == '\n';
                if (k < e->n && !written[k] && is_solver) {
                        r = print_new(e, e->list[k]);
                        written[k] = true;
                }
        }
        if (r < 0)
                return r;
        buffer_add(&e->out, text + at, e->text.size - at);
        for (size_t k = 0; r == 0 && k < e->n; k++) {
                if (written[k])
                        continue;
                end_line(&e->out);
                r = print_new(e, e->list[k]);
        }
        if (e->more) {
                end_line(&e->out);
                buffer_adds(&e->out, e->more);
        }
        return r < 0 ? r : buffer_error(&e->out);
}

static int rewrite_file(const char *path, struct edit e)
{
        cleanup_blob struct blob text = {0};
        struct recipe **new = NULL;
        size_t n_new = 0;
        int r = 0;

        e.defaults = recipe_new();
        if (access(path, F_OK) == 0)
                r = read_file(path, CONFIG_SIZE_MAX, &text);
        e.text = SLICE(text.data ?: "", text.size);
        if (r == 0) /* a config that cannot be read is not overwritten */
                r = recipe_parse_config(e.text, path, &e.old, &e.n_old);
        if (r == 0)
                r = gitconfig_parse(path, e.text, recipe_has_section, &e.config) ?: rewrite(&e);
        if (r == 0) /* and the new one must be readable: a variant may not fit its new solver */
                r = recipe_parse_config(SLICE(e.out.data ?: "", e.out.size), path, &new, &n_new);
        if (r == 0)
                r = write_file_atomic(path, e.out.data ?: "", e.out.size, 0600);
        buffer_done(&e.out);
        gitconfig_done(&e.config);
        recipe_unref(e.defaults);
        recipe_list_free(e.old, e.n_old);
        recipe_list_free(new, n_new);
        return r;
}

/* Follows links in the path: replaces the file, not a link to it. */
static int edit_config(const char *path, const struct edit *e)
{
        cleanup_free char *file = realpath(path, NULL), *dir = NULL, *lock_name = NULL;
        int lock, r;

        if (!file && errno != ENOENT)
                return errorf(-errno, "cannot find %s: %s", path, strerror(errno));
        file = file ?: format_string("%s%s", strchr(path, '/') ? "" : "./", path);
        dir = copy_prefix(file, (size_t)(strrchr(file, '/') + 1 - file));
        lock_name = format_string(".%s.writing", basename(file));
        r = lock_wait(dir, lock_name, LOCK_ALONE, &lock);
        if (r < 0)
                return r;
        r = rewrite_file(file, *e);
        lock_release_unlink(dir, lock_name, lock);
        return r;
}

int recipe_write_config(const char *path, struct recipe *const *list, size_t n)
{
        return edit_config(path, &(struct edit){.kind = "solver", .list = list, .n = n});
}

int recipe_remove_config(const char *path, const char *kind, const char *const *names, size_t n)
{
        return edit_config(path, &(struct edit){.kind = kind, .gone = names, .n_gone = n});
}

int recipe_append_config(const char *path, const char *text)
{
        return edit_config(path, &(struct edit){.kind = "solver", .more = text});
}
