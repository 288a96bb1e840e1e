#include "core/workspace/settings.h"

#include <ctype.h>

#include <git2.h>

#include "core/git/gitconfig.h"
#include "core/history/history.h"
#include "core/recipe/recipe_keys.h"

static const char *const default_crawlers[] = {"updatedb",   "mlocate",    "plocate",      "tracker-extract",      "tracker-miner-fs",
                                               "baloo_file", "tumblerd",   "baloo_file_ext", "baloo_file_extractor", "tracker-miner-f",
                                               "thumbnailer", "recollindex", "gvfsd-thumbnai", NULL};

/* -- the keys; each parses its value into a field. -EINVAL: not a valid value; the row says what it must be -- */

struct key {
        const char *name;
        int (*take)(const struct key *k, const char *text, void *field);
        size_t offset;
        const char *must;     /* what it must be */
        uint64_t least, most; /* bounds of a number; `least` of a time, too */
};

static int take_with_unit(const struct key *k, const char *text, const char *unit, unsigned *field)
{
        char *end;
        long n = strtol(text, &end, 10);

        if (end == text || (*end && strcmp(end, unit) != 0) || n < (long)k->least || n > (long)k->most)
                return -EINVAL;
        *field = (unsigned)n;
        return 0;
}

static int take_number(const struct key *k, const char *text, void *field)
{
        return take_with_unit(k, text, "", field);
}

static int take_percent(const struct key *k, const char *text, void *field)
{
        return take_with_unit(k, text, "%", field);
}

static int take_sandbox(const struct key *, const char *text, void *field)
{
        bool none = strcmp(text, "none") == 0;

        if (!none && strcmp(text, "bwrap") != 0)
                return -EINVAL;
        *(enum sandbox_kind *)field = none ? SANDBOX_NONE : SANDBOX_BWRAP;
        return 0;
}

static int take_size(const struct key *, const char *text, void *field)
{
        return parse_size(text, field);
}

static int take_duration(const struct key *k, const char *text, void *field)
{
        int r = parse_duration(text, field);

        return r == 0 && *(uint64_t *)field < k->least ? -EINVAL : r;
}

static int take_flag(const struct key *, const char *text, void *field)
{
        int flag;

        if (git_config_parse_bool(&flag, text) < 0)
                return -EINVAL;
        *(bool *)field = flag;
        return 0;
}

static int take_crawler(const struct key *, const char *text, void *field)
{
        return *text ? strings_add(field, text) : -EINVAL;
}

static int take_text(const struct key *, const char *text, void *field)
{
        if (!*text)
                return -EINVAL;
        free(*(char **)field);
        *(char **)field = copy_string(text);
        return 0;
}

/* The version of the store's layout. It is read before anything else: a store with another version is left untouched. */
#define STORE_VERSION 1

static int take_version(const struct key *, const char *text, void *)
{
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (!isdigit((unsigned char)*text) || *end)
                return -EINVAL;
        if (n == STORE_VERSION)
                return 0;
        return errorf(-EPROTONOSUPPORT,
                      "the store has format %s and this solverfs knows format %d only; nothing was changed: use %s", text,
                      STORE_VERSION, n > STORE_VERSION ? "a newer one" : "the one that made it");
}

#define MANY     (1 << 24)
#define FIELD(f) offsetof(struct settings, f)
static const struct key keys[] = {
        {"version", take_version, 0 /* no field */, "a number"},
        {"cores", take_number, FIELD(cores), "a number from 1", 1, MANY},
        {"queue", take_number, FIELD(queue), "a number from 1", 1, MANY},
        {"sandbox", take_sandbox, FIELD(sandbox), "bwrap or none"},
        {"programs", take_size, FIELD(programs_bound), "a size, like 2g"},
        {"grace", take_duration, FIELD(grace_ns), "a time, like 3s"},
        {"reduce", take_duration, FIELD(reduce_ns), "a time, like 15m"},
        {"fetch-timeout", take_duration, FIELD(fetch_timeout_ns), "a time of at least a second, like 60s", NSEC_PER_SEC},
        {"ccache", take_flag, FIELD(ccache), "true or false"},
        {"remeasure", take_percent, FIELD(remeasure), "a number from 0 on, percent of the machine that others may use", 0, 100000},
        {"crawler", take_crawler, FIELD(crawlers), "the name of a process"},
        {"runs", take_text, FIELD(runs), "local, or the name of a [cluster]"},
        {"builds", take_text, FIELD(builds), "local, or the name of a [cluster]"},
};

#define OF_CLUSTER(f) offsetof(struct cluster_settings, f)
static const struct key cluster_keys[] = {
        {"launch", take_text, OF_CLUSTER(launch), "a command, with {worker} in it"},
        {"worker", take_text, OF_CLUSTER(worker), "the command of a worker, like /opt/solverfs/bin/solverfs worker"},
        {"workers", take_number, OF_CLUSTER(workers), "a number from 1", 1, MANY},
        {"idle", take_duration, OF_CLUSTER(idle_ns), "a time of at least a second, like 5m", NSEC_PER_SEC},
        {"patience", take_duration, OF_CLUSTER(patience_ns), "a time of at least a second, like 1m", NSEC_PER_SEC},
};

/* The keys of a section. */
struct keys {
        const char *section;
        const struct key *list;
        size_t n;
};
static const struct keys of_solverfs = {"solverfs", keys, ARRAY_SIZE(keys)}, of_cluster = {"cluster", cluster_keys, ARRAY_SIZE(cluster_keys)};

static int fail_unknown(const struct keys *of, const char *path, const struct gitconfig_entry *e)
{
        cleanup_buffer struct buffer known = {0};

        for (size_t i = 0; i < of->n; i++)
                buffer_addf(&known, "%s%s", i ? ", " : "", of->list[i].name);
        return errorf(-EINVAL, "%s:%u: unknown key '%s' in [%s]; there are %s", path, e->line, e->key, of->section, known.data);
}

static int take_entry(const struct keys *of, const char *path, const struct gitconfig_entry *e, void *s)
{
        const struct key *k = of->list, *end = of->list + of->n;
        int r;

        while (k < end && strcmp(k->name, e->key) != 0)
                k++;
        if (k == end)
                return fail_unknown(of, path, e);
        if (!e->value && k->take != take_flag) /* as in git, a flag without a value is set */
                return errorf(-EINVAL, "%s:%u: key '%s' has no value; it must be %s", path, e->line, e->key, k->must);
        r = k->take(k, e->value ?: "true", (char *)s + k->offset);
        if (r == -EPROTONOSUPPORT) {
                cleanup_free char *why = copy_string(error_message(r));

                return errorf(r, "%s:%u: %s", path, e->line, why);
        }
        return r == -EINVAL ? errorf(-EINVAL, "%s:%u: key '%s' is '%s', but must be %s", path, e->line, e->key,
                                     e->value ? e->value : "", k->must)
                            : r;
}

/* -- reading -- */

static bool is_wanted(const char *section)
{
        return strcmp(section, "solverfs") == 0 || strcmp(section, "cluster") == 0;
}

static struct cluster_settings *find_cluster(struct settings *s, const char *name)
{
        for (size_t i = 0; i < s->n_clusters; i++)
                if (strcmp(s->clusters[i].name, name) == 0)
                        return &s->clusters[i];
        return NULL;
}

static int take_cluster(const char *path, const struct gitconfig_section *section, struct settings *s)
{
        struct cluster_settings *c = section->subsection ? find_cluster(s, section->subsection) : NULL;
        int r = 0;

        if (!section->subsection || strcmp(section->subsection, "local") == 0 || recipe_check_name(section->subsection) < 0)
                return errorf(-EINVAL, "%s:%u: a cluster needs a name, which is not 'local': [cluster \"lab\"]", path, section->line);
        if (!c)
                c = list_add(s->clusters, s->n_clusters, (struct cluster_settings){
                        .name = copy_string(section->subsection), .workers = 1, .idle_ns = 300 * NSEC_PER_SEC, .patience_ns = 60 * NSEC_PER_SEC});
        for (size_t i = 0; r == 0 && i < section->n_entries; i++)
                r = take_entry(&of_cluster, path, &section->entries[i], c);
        if (r == 0 && c->launch && !strstr(c->launch, "{worker}"))
                r = errorf(-EINVAL, "%s:%u: 'launch' of the cluster '%s' has no {worker}, where the worker's command goes", path, section->line, c->name);
        return r;
}

/* `name` NULL: not set. */
static int check_place(const char *path, struct settings *s, const char *key, const char *name)
{
        if (name && strcmp(name, "local") != 0 && !find_cluster(s, name))
                return errorf(-EINVAL, "%s: %s = %s, but there is no [cluster \"%s\"]", path, key, name, name);
        return 0;
}

static int check_clusters(const char *path, struct settings *s)
{
        for (size_t i = 0; i < s->n_clusters; i++)
                if (!s->clusters[i].launch)
                        return errorf(-EINVAL, "%s: the cluster '%s' has no 'launch', as in: launch = ssh node7 {worker}", path, s->clusters[i].name);
        return check_place(path, s, "runs", s->runs) ?: check_place(path, s, "builds", s->builds);
}

static int take_section(const char *path, const struct gitconfig_section *section, struct settings *s)
{
        int r = 0;

        if (strcmp(section->name, "cluster") == 0)
                return take_cluster(path, section, s);
        if (!is_wanted(section->name))
                return 0;
        if (section->subsection)
                return errorf(-EINVAL, "%s:%u: the section is called [solverfs], without a name", path, section->line);
        for (size_t i = 0; r == 0 && i < section->n_entries; i++)
                r = take_entry(&of_solverfs, path, &section->entries[i], s);
        return r;
}

int settings_parse(struct slice text, const char *path, struct settings *ret)
{
        static char *const none[] = {NULL};
        struct settings s = {.programs_bound = UINT64_C(2) << 30,
                             .grace_ns = 3 * NSEC_PER_SEC,
                             .reduce_ns = 15 * 60 * NSEC_PER_SEC,
                             .fetch_timeout_ns = HISTORY_SILENCE_NS,
                             .ccache = true,
                             .remeasure = 10,
                             .sandbox = SANDBOX_BWRAP};
        cleanup_gitconfig struct gitconfig g = {0};
        int r = gitconfig_parse(path, text, is_wanted, &g);

        s.crawlers = strings_copy(none);
        for (size_t i = 0; r == 0 && i < g.n_sections; i++)
                r = take_section(path, &g.sections[i], &s);
        if (r == 0)
                r = check_clusters(path, &s);
        if (r == 0 && !s.crawlers[0]) {
                strings_free(s.crawlers);
                s.crawlers = strings_copy((char *const *)default_crawlers);
        }
        if (r < 0)
                settings_done(&s);
        else
                *ret = s;
        return r;
}

void settings_done(struct settings *s)
{
        strings_free(s->crawlers);
        free(s->runs);
        free(s->builds);
        for (size_t i = 0; i < s->n_clusters; i++)
                cluster_settings_done(&s->clusters[i]);
        free(s->clusters);
        *s = (struct settings){0};
}
