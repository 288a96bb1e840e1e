#include "core/query/machines.h"
#include "core/query/query_internal.h"

#include "core/build/era.h"
#include "core/run/host.h"

#define NAME_KEY     "machine/name/"
#define CLUSTER_KEY  "cluster/" /* worker_pool.h */
#define PROGRAMS_KEY "machine/programs/"
#define KEY_SIZE     (sizeof(PROGRAMS_KEY) + 2 * DIGEST_HEX_SIZE)

/* `source` NULL: the prefix of all keys of the machine. */
static void programs_key(const char *machine, const struct digest *source, char ret[KEY_SIZE])
{
        struct hasher *h = hasher_new();
        struct digest d;

        hasher_string(h, machine);
        hasher_finish(h, &d);
        snprintf(ret, KEY_SIZE, PROGRAMS_KEY "%s/%s", digest_text(&d).s, source ? digest_text(source).s : "");
}

/* -- names --------------------------------------------------------------------------------------------------------- */

static int add_name(char ***names, const void *name, size_t size)
{
        cleanup_free char *copy = copy_prefix(name, size);

        return strings_have(*names, copy) ? 0 : strings_add(names, copy);
}

/* The keys of a cluster's other rows continue with a '/': its toolchain, and its nodes' probes. */
static bool is_machine_of_cluster(struct slice key)
{
        const size_t prefix = strlen(CLUSTER_KEY);

        return !memchr((const char *)key.data + prefix, '/', key.size - prefix);
}

/* The names of all known machines, this one included, sorted: strings_free(). */
static int machines_list(struct workspace *w, char ***ret)
{
        cleanup_walk struct store_walk imported = {.store = workspace_store(w), .table = TABLE_META, .prefix = slice_string(NAME_KEY), .keys_only = true};
        cleanup_walk struct store_walk clusters = {.store = workspace_store(w), .table = TABLE_META, .prefix = slice_string(CLUSTER_KEY)};
        int r;

        *ret = allocate(1, sizeof(**ret));
        add_name(ret, host_machine(), strlen(host_machine()));
        while ((r = store_walk(&imported)) > 0)
                add_name(ret, (const char *)imported.key.data + imported.prefix.size, imported.key.size - imported.prefix.size);
        while (r == 0 && (r = store_walk(&clusters)) > 0)
                r = is_machine_of_cluster(clusters.key) ? add_name(ret, clusters.value.data, clusters.value.size) : 0;
        sort_list(*ret, strings_count(*ret), sizeof(**ret), compare_strings);
        return r;
}

/* True if `word` is the name, or its part before the first '/'. */
static bool is_named(const char *name, const char *word)
{
        size_t n = strlen(word);

        return strcmp(name, word) == 0 || (strncmp(name, word, n) == 0 && name[n] == '/' && !strchr(word, '/'));
}

static int no_machine(const char *word, char *const *list)
{
        cleanup_buffer struct buffer names = {0};
        size_t n = strings_count(list);

        for (size_t i = 0; i < n && i < 10; i++) {
                buffer_adds(&names, i > 0 ? ", '" : "'");
                buffer_add_printable(&names, list[i]);
                buffer_adds(&names, "'");
        }
        if (n > 10)
                buffer_addf(&names, " and %zu more", n - 10);
        return errorf(-ENOENT, "nothing is known of a machine '%s'; the store knows %s, and 'solverfs import' takes in what others measured", word,
                      names.data);
}

int machine_find(struct workspace *w, const char *word, char **ret)
{
        const char *found = NULL;
        char **list = NULL;
        size_t n_found = 0;
        int r = machines_list(w, &list);

        *ret = NULL;
        for (size_t i = 0; r == 0 && list[i] && !(found && strcmp(found, word) == 0); i++)
                if (is_named(list[i], word)) {
                        n_found = strcmp(list[i], word) == 0 ? 1 : n_found + 1;
                        found = list[i];
                }
        if (n_found > 1)
                r = errorf(-ENOTUNIQ, "several machines are called '%s': say the whole name, such as '%s'", word, found);
        else if (found)
                *ret = copy_string(found);
        else if (r == 0)
                r = no_machine(word, list);
        strings_free(list);
        return r;
}

/* -- programs ------------------------------------------------------------------------------------------------------ */

static void source_digest(const struct recipe *recipe, const struct digest *sources, struct digest *ret)
{
        struct hasher *h = hasher_new();
        struct digest build;

        recipe_build_digest(recipe, &build);
        hasher_string(h, "source on another machine");
        hasher_add(h, build.bytes, DIGEST_SIZE);
        hasher_add(h, sources->bytes, DIGEST_SIZE);
        hasher_finish(h, ret);
}

int machine_source_digest(struct solver *s, uint32_t commit, struct digest *ret)
{
        const struct recipe *era = s->recipe;
        struct digest sources;
        int r = era->is_programs ? 0 : era_of(s->history, era, commit, &era); /* the sources of a program's commit name its bytes */

        if (r == 0)
                r = history_source(s->history, commit, era->sources, &sources);
        if (r == 0)
                source_digest(era, &sources, ret);
        return r;
}

void machine_unknown_program(const char *machine, const struct digest *source, struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, "unknown program");
        hasher_string(h, machine);
        hasher_add(h, source->bytes, DIGEST_SIZE);
        hasher_finish(h, ret);
}

int machine_note(struct store_txn *t, const char *machine, const struct digest *source, const struct digest *program)
{
        cleanup_buffer struct buffer name = {0}, list = {0};
        cleanup_blob struct blob before = {0};
        char key[KEY_SIZE];
        int r;

        programs_key(machine, source, key);
        r = store_get(t, TABLE_META, slice_string(key), &before);
        if (r < 0 && r != -ENOENT)
                return r;
        for (size_t at = 0; r == 0 && at + DIGEST_SIZE <= before.size; at += DIGEST_SIZE)
                if (memcmp((const char *)before.data + at, program->bytes, DIGEST_SIZE) != 0)
                        buffer_add(&list, (const char *)before.data + at, DIGEST_SIZE);
        buffer_add(&list, program->bytes, DIGEST_SIZE);
        buffer_addf(&name, NAME_KEY "%s", machine);
        if (buffer_error(&list) < 0)
                return -ENOMEM;
        return store_put(t, TABLE_META, slice_string(key), SLICE(list.data, list.size))
            ?: store_put(t, TABLE_META, SLICE(name.data, name.size), SLICE("", 0));
}

int machine_programs(struct workspace *w, const struct cell *cell, struct digest **ret, size_t *ret_n)
{
        cleanup_blob struct blob b = {0};
        struct digest source, build;
        char key[KEY_SIZE];
        int r = machine_source_digest(cell->solver, cell->commit, &source);

        *ret = NULL;
        *ret_n = 0;
        if (r < 0)
                return r;
        programs_key(cell->machine, &source, key);
        r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = allocate(b.size / DIGEST_SIZE + 1, sizeof(**ret));
        while ((*ret_n + 1) * DIGEST_SIZE <= b.size) {
                memcpy((*ret)[*ret_n].bytes, (const char *)b.data + b.size - (*ret_n + 1) * DIGEST_SIZE, DIGEST_SIZE);
                ++*ret_n;
        }
        r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);
        if (r == 0) /* the commit's program built here, which is also the one that a cluster runs */
                r = build_program_find(w, &build, &(*ret)[*ret_n]);
        if (r == 0)
                ++*ret_n;
        return r == -ENOENT ? 0 : r;
}

/* -- commits ------------------------------------------------------------------------------------------------------- */

static int sources_of_era(struct history *h, const struct recipe *era, struct digest **ret, uint32_t *ret_n)
{
        int r = history_sources(h, era->sources, ret, ret_n);

        for (uint32_t i = 0; r == 0 && i < *ret_n; i++)
                source_digest(era, &(*ret)[i], &(*ret)[i]);
        return r;
}

/* The sources for which results of the machine were imported, in table order, and every commit's source. */
static int imported_of(struct workspace *w, struct solver *s, const char *machine, struct digest_list *ret, struct digest **ret_sources, uint32_t *ret_n)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_META, .keys_only = true};
        char key[KEY_SIZE];
        int r;

        programs_key(machine, NULL, key);
        each.prefix = slice_string(key);
        while ((r = store_walk(&each)) > 0) {
                cleanup_free char *hex = copy_prefix((const char *)each.key.data + each.prefix.size, each.key.size - each.prefix.size);
                struct digest d;

                if (digest_parse(hex, &d) == 0)
                        digest_list_add(ret, d.bytes);
        }
        if (r == 0 && ret->n > 0)
                r = s->recipe->is_programs ? sources_of_era(s->history, s->recipe, ret_sources, ret_n)
                        : era_digests(s->history, s->recipe, sources_of_era, ret_sources, ret_n);
        return r;
}

/* 1 if the machine is this one or a cluster's: results for this store are measured there. */
static int is_measured_for_us(struct workspace *w, const char *machine)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_META, .prefix = slice_string(CLUSTER_KEY)};
        int r = strcmp(machine, host_machine()) == 0, k;

        while (r == 0 && (k = store_walk(&each)) != 0)
                r = k < 0 ? k : is_machine_of_cluster(each.key) && same_bytes(each.value, slice_string(machine));
        return r;
}

/* The kept builds, failed ones included, in table order, and every commit's build. */
static int built_of(struct workspace *w, struct solver *s, struct digest_list *ret, struct digest **ret_builds, uint32_t *ret_n)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_BUILDS, .keys_only = true};
        int r;

        while ((r = store_walk(&each)) > 0)
                if (each.key.size == DIGEST_SIZE)
                        digest_list_add(ret, each.key.data);
        return r == 0 && ret->n > 0 ? build_keys(s->history, s->recipe, ret_builds, ret_n) : r;
}

/* As every run has a build, the commits with anything measured for us are those whose build key is in the table of builds. For another machine, they
 * are those whose sources are among the imported ones. */
int commits_known(struct workspace *w, struct solver *s, const char *machine, uint32_t **ret, size_t *ret_n)
{
        cleanup_digests struct digest_list imported = {0}, kept = {0};
        cleanup_free struct digest *sources = NULL, *builds = NULL;
        uint32_t n_sources = 0, n_builds = 0;
        size_t n = 0;
        int r = machine ? imported_of(w, s, machine, &imported, &sources, &n_sources) : 0;

        if (r == 0)
                r = machine ? is_measured_for_us(w, machine) : 1;
        if (r > 0)
                r = built_of(w, s, &kept, &builds, &n_builds);
        *ret = r == 0 ? allocate((size_t)MAX(n_sources, n_builds) + 1, sizeof(**ret)) : NULL;
        for (uint32_t i = 0; r == 0 && i < MAX(n_sources, n_builds); i++)
                if ((i < n_sources && digest_list_find(&imported, &sources[i])) || (i < n_builds && digest_list_find(&kept, &builds[i])))
                        (*ret)[n++] = i;
        *ret_n = n;
        return r;
}
