#include "core/query/settings.h"

#include <ctype.h>

#include <git2.h>

#include "core/git/gitconfig.h"
#include "core/recipe/recipe_keys.h"

static const char *const default_crawlers[] = {"updatedb",
                                               "mlocate",
                                               "plocate",
                                               "tracker-extract",
                                               "tracker-miner-fs",
                                               "tracker-miner-f",
                                               "baloo_file",
                                               "baloo_file_ext",
                                               "baloo_file_extractor",
                                               "tumblerd",
                                               "gvfsd-thumbnai",
                                               "thumbnailer",
                                               "recollindex",
                                               NULL};

/* -- the keys; each takes its value into a field. -EINVAL: it is not one, and the row says what it must be -- */

static int take_count(const char *text, void *field)
{
        char *end;
        long n = strtol(text, &end, 10);

        if (end == text || *end || n < 1 || n > 1 << 24)
                return -EINVAL;
        *(unsigned *)field = (unsigned)n;
        return 0;
}

static int take_percent(const char *text, void *field)
{
        char *end;
        long n = strtol(text, &end, 10);

        if (end == text || (*end && strcmp(end, "%") != 0) || n < 0 || n > 100000)
                return -EINVAL;
        *(unsigned *)field = (unsigned)n;
        return 0;
}

static int take_sandbox(const char *text, void *field)
{
        bool none = strcmp(text, "none") == 0;

        if (!none && strcmp(text, "bwrap") != 0)
                return -EINVAL;
        *(enum sandbox_kind *)field = none ? SANDBOX_NONE : SANDBOX_BWRAP;
        return 0;
}

static int take_size(const char *text, void *field)
{
        return parse_size(text, field);
}

static int take_duration(const char *text, void *field)
{
        return parse_duration(text, field);
}

static int take_flag(const char *text, void *field)
{
        int flag;

        if (git_config_parse_bool(&flag, text) < 0)
                return -EINVAL;
        *(bool *)field = flag;
        return 0;
}

static int take_crawler(const char *text, void *field)
{
        return *text ? strings_add(field, text) : -EINVAL;
}

/* The version of the store's layout. It is read before anything else: a store with another version is left untouched. */
#define STORE_VERSION 1

static int take_version(const char *text, void *)
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

#define FIELD(f) offsetof(struct settings, f)
static const struct key {
        const char *name;
        int (*take)(const char *text, void *field);
        size_t offset;
        const char *must; /* what it must be */
} keys[] = {
        {"version", take_version, 0, "a number"},
        {"cores", take_count, FIELD(cores), "a number from 1"},
        {"queue", take_count, FIELD(queue), "a number from 1"},
        {"sandbox", take_sandbox, FIELD(sandbox), "bwrap or none"},
        {"programs", take_size, FIELD(programs_bound), "a size, like 2g"},
        {"grace", take_duration, FIELD(grace_ns), "a time, like 3s"},
        {"reduce", take_duration, FIELD(reduce_ns), "a time, like 15m"},
        {"ccache", take_flag, FIELD(ccache), "true or false"},
        {"incremental-check", take_percent, FIELD(incremental_check), "a number from 0 on, percent of the time of incremental builds"},
        {"remeasure", take_percent, FIELD(remeasure), "a number from 0 on, percent of the machine that others may use"},
        {"crawler", take_crawler, FIELD(crawlers), "the name of a process"},
};

static const struct key *find_key(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (strcmp(keys[i].name, name) == 0)
                        return &keys[i];
        return NULL;
}

static int fail_unknown(const char *path, const struct gitconfig_entry *e)
{
        cleanup_buffer struct buffer known = {0};

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                buffer_addf(&known, "%s%s", i ? ", " : "", keys[i].name);
        return errorf(-EINVAL, "%s:%u: unknown key '%s' in [solverfs]; there are %s", path, e->line, e->key,
                      known.data ? known.data : "others");
}

static int take_entry(const char *path, const struct gitconfig_entry *e, struct settings *s)
{
        const struct key *k = find_key(e->key);
        int r;

        if (!k)
                return fail_unknown(path, e);
        if (!e->value && k->take != take_flag) /* as in git, a flag that stands alone is set */
                return errorf(-EINVAL, "%s:%u: key '%s' has no value; it must be %s", path, e->line, e->key, k->must);
        r = k->take(e->value ? e->value : "true", (char *)s + k->offset);
        if (r == -EPROTONOSUPPORT) {
                cleanup_free char *why = strdup(error_message(r));

                return errorf(r, "%s:%u: %s", path, e->line, why ? why : "another format");
        }
        return r == -EINVAL ? errorf(-EINVAL, "%s:%u: key '%s' is '%s', but must be %s", path, e->line, e->key,
                                     e->value ? e->value : "", k->must)
                            : r;
}

/* -- reading -- */

static bool is_wanted(const char *section)
{
        return strcmp(section, "solverfs") == 0;
}

static int take_section(const char *path, const struct gitconfig_section *section, struct settings *s)
{
        int r = 0;

        if (!is_wanted(section->name))
                return 0;
        if (section->subsection)
                return errorf(-EINVAL, "%s:%u: the section is called [solverfs], without a name", path, section->line);
        for (size_t i = 0; r == 0 && i < section->n_entries; i++)
                r = take_entry(path, &section->entries[i], s);
        return r;
}

int settings_parse(struct slice text, const char *path, struct settings *ret)
{
        static char *const none[] = {NULL};
        struct settings s = {.programs_bound = UINT64_C(2) << 30, .reduce_ns = 15 * 60 * NSEC_PER_SEC, .ccache = true, .incremental_check = 5, .remeasure = 10, .sandbox = SANDBOX_BWRAP};
        cleanup_gitconfig struct gitconfig g = {0};
        int r = gitconfig_parse(path, text, is_wanted, &g);

        if (r == 0 && !(s.crawlers = strings_copy(none)))
                r = -ENOMEM;
        for (size_t i = 0; r == 0 && i < g.n_sections; i++)
                r = take_section(path, &g.sections[i], &s);
        if (r == 0 && !s.crawlers[0]) {
                strings_free(s.crawlers);
                s.crawlers = strings_copy((char *const *)default_crawlers);
                r = s.crawlers ? 0 : -ENOMEM;
        }
        if (r < 0)
                settings_done(&s);
        else
                *ret = s;
        return r;
}

void settings_done(struct settings *s)
{
        if (s->crawlers)
                strings_free(s->crawlers);
        s->crawlers = NULL;
}
