#include "core/query/machines.h"
#include "core/query/query_internal.h"

#include "core/run/host.h"

#define NAME_KEY     "machine/name/"
#define CLUSTER_KEY  "cluster/" /* place.h */
#define PROGRAMS_KEY "machine/programs/"
#define KEY_SIZE     (sizeof(PROGRAMS_KEY) + 2 * DIGEST_HEX_SIZE)

static void digest_of_name(const char *machine, struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, machine);
        hasher_finish(h, ret);
}

/* `source` NULL: what the keys of all of the machine's begin with. */
static void programs_key(const char *machine, const struct digest *source, char ret[KEY_SIZE])
{
        char name[DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE] = "";
        struct digest d;

        digest_of_name(machine, &d);
        digest_hex(&d, name);
        if (source)
                digest_hex(source, hex);
        snprintf(ret, KEY_SIZE, PROGRAMS_KEY "%s/%s", name, hex);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

struct names {
        char **list; /* has room for one more */
        size_t n;
};

static void names_done(struct names *names)
{
        for (size_t i = 0; i < names->n; i++)
                free(names->list[i]);
        free(names->list);
}

static int add_name(struct names *names, const void *name, size_t size)
{
        for (size_t i = 0; i < names->n; i++)
                if (strlen(names->list[i]) == size && memcmp(names->list[i], name, size) == 0)
                        return 0;
        if (list_grow(names->list, names->n + 1) < 0)
                return -ENOMEM;
        names->list[names->n] = strndup(name, size);
        return names->list[names->n] ? (names->n++, 0) : -ENOMEM;
}

static int add_imported(void *user, struct slice key, struct slice)
{
        const size_t prefix = strlen(NAME_KEY);

        return add_name(user, (const char *)key.data + prefix, key.size - prefix);
}

/* The store has two rows of a cluster: its machine, and its toolchain, whose key goes on with a '/'. */
static int add_cluster(void *user, struct slice key, struct slice value)
{
        const size_t prefix = strlen(CLUSTER_KEY);

        return memchr((const char *)key.data + prefix, '/', key.size - prefix) ? 0 : add_name(user, value.data, value.size);
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Their names, sorted, this one's too: strings_free(). */
static int machines_list(struct workspace *w, char ***ret, size_t *ret_n)
{
        cleanup_txn struct store_txn *t = NULL;
        struct names names = {0};
        int r = store_read(workspace_store(w), &t);

        if (r == 0)
                r = add_name(&names, host_machine(), strlen(host_machine()));
        if (r == 0)
                r = store_each(t, TABLE_META, slice_string(NAME_KEY), SLICE("", 0), false, add_imported, &names);
        if (r == 0)
                r = store_each(t, TABLE_META, slice_string(CLUSTER_KEY), SLICE("", 0), true, add_cluster, &names);
        if (r < 0) {
                names_done(&names);
                return r;
        }
        sort_list(names.list, names.n, sizeof(*names.list), compare_names);
        names.list[names.n] = NULL;
        *ret = names.list;
        *ret_n = names.n;
        return 0;
}

/* Is it the name, or its host? */
static bool is_named(const char *name, const char *word)
{
        size_t n = strlen(word);

        return strcmp(name, word) == 0 || (strncmp(name, word, n) == 0 && name[n] == '/' && !strchr(word, '/'));
}

static int no_machine(const char *word, char *const *list, size_t n)
{
        cleanup_buffer struct buffer names = {0};

        for (size_t i = 0; i < n && i < 10; i++) {
                buffer_adds(&names, i > 0 ? ", '" : "'");
                buffer_add_printable(&names, list[i]);
                buffer_adds(&names, "'");
        }
        if (n > 10)
                buffer_addf(&names, " and %zu more", n - 10);
        if (buffer_error(&names) < 0)
                return -ENOMEM;
        return errorf(-ENOENT, "nothing is known of a machine '%s'; the store knows %s, and 'solverfs import' takes in what others measured", word,
                      names.data);
}

int machine_find(struct workspace *w, const char *word, char **ret)
{
        const char *found = NULL;
        char **list;
        size_t n, n_found = 0;
        int r = machines_list(w, &list, &n);

        *ret = NULL;
        if (r < 0)
                return r;
        for (size_t i = 0; i < n && !(found && strcmp(found, word) == 0); i++)
                if (is_named(list[i], word)) {
                        n_found = strcmp(list[i], word) == 0 ? 1 : n_found + 1;
                        found = list[i];
                }
        if (n_found > 1)
                r = errorf(-ENOTUNIQ, "several machines are called '%s': say the whole name, such as '%s'", word, found);
        else if (found)
                r = (*ret = strdup(found)) ? 0 : -ENOMEM;
        else
                r = no_machine(word, list, n);
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

int machine_source(struct solver *s, uint32_t commit, struct digest *ret)
{
        struct digest sources;
        int r = history_source(s->history, commit, s->recipe->sources, &sources);

        if (r == 0)
                source_digest(s->recipe, &sources, ret);
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
        if (buffer_error(&list) < 0 || buffer_error(&name) < 0)
                return -ENOMEM;
        r = store_put(t, TABLE_META, slice_string(key), SLICE(list.data, list.size));
        return r < 0 ? r : store_put(t, TABLE_META, SLICE(name.data, name.size), SLICE("", 0));
}

/* The program that the commit was built to here, which is also the one that a cluster runs. */
static int built_here(struct workspace *w, const struct cell *cell, struct digest *ret)
{
        struct digest build;
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);

        return r < 0 ? r : build_program_find(w, &build, ret);
}

int machine_programs(struct workspace *w, const struct cell *cell, struct digest **ret, size_t *ret_n)
{
        cleanup_blob struct blob b = {0};
        struct digest source;
        char key[KEY_SIZE];
        int r = machine_source(cell->solver, cell->commit, &source);

        *ret = NULL;
        *ret_n = 0;
        if (r < 0)
                return r;
        programs_key(cell->machine, &source, key);
        r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = calloc(b.size / DIGEST_SIZE + 1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        while ((*ret_n + 1) * DIGEST_SIZE <= b.size) {
                memcpy((*ret)[*ret_n].bytes, (const char *)b.data + b.size - (*ret_n + 1) * DIGEST_SIZE, DIGEST_SIZE);
                ++*ret_n;
        }
        r = built_here(w, cell, &(*ret)[*ret_n]);
        if (r == 0)
                ++*ret_n;
        return r == -ENOENT ? 0 : r;
}

/* -- commits ------------------------------------------------------------------------------------------------------- */

struct sources {
        char (*list)[DIGEST_HEX_SIZE]; /* in order, as the table is */
        size_t n;
};

static int add_source(void *user, struct slice key, struct slice)
{
        struct sources *s = user;

        if (key.size != KEY_SIZE - 2) /* two zeros: each DIGEST_HEX_SIZE has one, and so has the prefix; a slash is between */
                return 0;
        if (list_grow(s->list, s->n) < 0)
                return -ENOMEM;
        snprintf(s->list[s->n++], DIGEST_HEX_SIZE, "%.*s", DIGEST_HEX_SIZE - 1, (const char *)key.data + key.size - (DIGEST_HEX_SIZE - 1));
        return 0;
}

static int compare_sources(const void *a, const void *b)
{
        return strcmp(a, b);
}

static int sources_on(struct workspace *w, const char *machine, struct sources *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        char key[KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        programs_key(machine, NULL, key);
        return r < 0 ? r : store_each(t, TABLE_META, slice_string(key), SLICE("", 0), false, add_source, ret);
}

/* Those of the sources in the table. */
static int commits_imported(struct workspace *w, struct solver *s, const char *machine, uint32_t **ret, size_t *ret_n)
{
        cleanup_free struct digest *sources = NULL;
        struct sources known = {0};
        uint32_t count = 0;
        size_t n = 0;
        int r = sources_on(w, machine, &known);

        if (r == 0)
                r = history_sources(s->history, s->recipe->sources, &sources, &count);
        *ret = r == 0 ? calloc((size_t)count + 1, sizeof(**ret)) : NULL;
        if (r == 0 && !*ret)
                r = -ENOMEM;
        for (uint32_t i = 0; i < count && r == 0; i++) {
                char hex[DIGEST_HEX_SIZE];
                struct digest d;

                source_digest(s->recipe, &sources[i], &d);
                digest_hex(&d, hex);
                if (find_in_list(hex, known.list, known.n, sizeof(*known.list), compare_sources))
                        (*ret)[n++] = i;
        }
        free(known.list);
        *ret_n = n;
        return r;
}

/* Are results of the machine measured for this store? */
static int is_measured_for_us(struct workspace *w, const char *machine)
{
        cleanup_txn struct store_txn *t = NULL;
        struct names clusters = {0};
        bool found = strcmp(machine, host_machine()) == 0;
        int r = store_read(workspace_store(w), &t);

        if (r == 0)
                r = store_each(t, TABLE_META, slice_string(CLUSTER_KEY), SLICE("", 0), true, add_cluster, &clusters);
        for (size_t i = 0; i < clusters.n; i++)
                found |= strcmp(clusters.list[i], machine) == 0;
        names_done(&clusters);
        return r < 0 ? r : found;
}

/* Both are in order, as is *ret. */
static int merge(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, uint32_t **ret, size_t *ret_n)
{
        uint32_t *list = calloc(n_a + n_b + 1, sizeof(*list));
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0, j = 0; i < n_a || j < n_b; n++) {
                list[n] = j >= n_b || (i < n_a && a[i] < b[j]) ? a[i] : b[j];
                i += i < n_a && a[i] == list[n];
                j += j < n_b && b[j] == list[n];
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

int commits_known_on(struct workspace *w, struct solver *s, const char *machine, uint32_t **ret, size_t *ret_n)
{
        cleanup_free uint32_t *imported = NULL, *built = NULL;
        size_t n_imported = 0, n_built = 0;
        int r;

        if (!machine)
                return commits_known(w, s, ret, ret_n);
        r = commits_imported(w, s, machine, &imported, &n_imported);
        if (r == 0)
                r = is_measured_for_us(w, machine);
        if (r > 0)
                r = commits_known(w, s, &built, &n_built);
        return r < 0 ? r : merge(imported, n_imported, built, n_built, ret, ret_n);
}
